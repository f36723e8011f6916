"""What the laws of trees share.

Tolerances are relative to the largest entry of what is compared: 1e-11 where both sides are sums of the same terms,
1e-8 where one side is a difference quotient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems

from nexdyn.joints import Revolute
from nexdyn.model.system import System
from nexdyn.spatial.poses import spatial_inertia
from nexdyn.tree.tree import REFERENCES, Tree

on_all = pytest.mark.parametrize("name", systems.NAMES)
on_free = pytest.mark.parametrize("name", systems.FREE_NAMES)
in_references = pytest.mark.parametrize("reference", list(REFERENCES))


def agree(found: Any, expected: Any, tolerance: float = 1e-11) -> None:
    """Equal to `tolerance` times the largest entry."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale)


def along(f: Any, tree: Tree, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return systems.difference(f, tree, q, v)


def bodies_of(tree: Tree) -> dict[str, np.ndarray]:
    """Each body's 6 × 6 inertia about its own origin in its own axes."""
    return {name: spatial_inertia(*body.resolved(tree.system.values)[:3]) for name, body in tree.system.bodies.items()}


def arcs_and_links(tree: Tree) -> tuple[list[Any], np.ndarray]:
    """Bodies with their joints, and the link of each as the kernels see it; 0 is what is welded to ground."""
    return tree.compiled.forest.arcs, tree.compiled.link


def armatures(tree: Tree) -> np.ndarray:
    """Gᵀ diag(armature) G."""
    A = np.diag(tree.compiled.model.freedom.armature[: tree.compiled.nv])
    if tree.coupling is None:
        return A
    G = tree.coupling.matrix()
    return G.T @ A @ G


def world_poses(tree: Tree, q: np.ndarray) -> dict[str, systems.Frame]:
    R, p = tree.pose(q)
    return {name: (R[i], p[i]) for i, name in enumerate(tree.body_names)}


def pendulum_with_empty_tip(**tip: Any) -> Tree:
    """A pendulum with a second link that turns about the first one's tip; without `tip` it has no inertia."""
    system = System("tip")
    arm = system.add_body("arm", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.5, 0, 0))
    end = system.add_body("end", position=(1, 0, 0), **tip)
    system.add_joint(Revolute("shoulder", system.ground, arm, at=(0, 0, 0)))
    system.add_joint(Revolute("wrist", arm, end, at=(1, 0, 0), axis=(1, 2, 2)))
    return Tree(system)

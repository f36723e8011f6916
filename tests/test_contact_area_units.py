"""The force over an area of every two solids at a pose is the same in other units of length, whatever rounding makes of their facets."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.forces.contact import ContactForce, Seen

SOLIDS: dict[str, Callable[[float], Any]] = {
    "sphere": lambda s: nx.Sphere(0.11 * s),
    "box": lambda s: nx.Box((0.21 * s, 0.17 * s, 0.26 * s)),
    "capsule": lambda s: nx.Capsule(0.07 * s, 0.13 * s),
    "cylinder": lambda s: nx.Cylinder(0.09 * s, 0.19 * s),
    "cone": lambda s: nx.Cone(0.11 * s, 0.23 * s),
    "ellipsoid": lambda s: nx.Ellipsoid((0.11 * s, 0.07 * s, 0.09 * s)),
    "hull": lambda s: nx.Hull(
        [tuple(0.1 * s * np.array(x)) for x in itertools.product((-1.1, 0.7), (-0.9, 1.0), (-1.0, 0.8))]
    ),
}
"""Of each kind one, in units of which `s` are a metre."""


def told(a: str, b: str, scale: float, poses: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Force, and the point where it acts from the other body, of each pose (R, p), in metres."""
    system = nx.System("two")
    for name, solid in (("one", a), ("other", b)):
        system.add_body(name, mass=1.0, inertia=(1, 1, 1), shapes=SOLIDS[solid](scale))
        system.add_joint(nx.Free(f"free {name}", "ground", name))
    system.add_contact(nx.Contact("touch", "one", "other", foundation_a=3.0, foundation_b=7.0))
    (force,) = system.forces.values()
    assert isinstance(force, ContactForce)
    rows = []
    still = np.concatenate([np.eye(3).ravel(), np.zeros(9)])
    for R, p in poses:
        moved = np.concatenate([R.ravel(), scale * p, np.zeros(6)])
        first = force.frames(system)[0].body == "one"
        ends = [x[None] for x in ((moved, still) if first else (still, moved))]
        row = Seen(force.motion_table(force.numbers(system.values), *ends, np.zeros((1, 0)))[0, 0])
        rows.append(np.concatenate([np.array(row.force) / scale**3, np.array(row.point) / scale]))
    return np.array(rows)


@pytest.mark.parametrize(("a", "b"), itertools.combinations_with_replacement(SOLIDS, 2))
def test_the_force_of_every_two_solids_is_the_same_in_other_units(a: str, b: str) -> None:
    rng = np.random.default_rng(7)
    turns, ways = Rotation.random(6, random_state=7).as_matrix(), rng.normal(size=(6, 3))
    poses = [
        (R, depth * way / np.linalg.norm(way))
        for R, way, depth in zip(turns, ways, np.linspace(0.06, 0.14, 6), strict=True)
    ]
    metres = told(a, b, 1.0, poses)
    assert np.linalg.norm(metres[:, :3], axis=1).max() > 1e-4
    for scale in (1e3, 0.3):
        off = np.abs(told(a, b, scale, poses) - metres)
        assert off[:, :3].max() < 1e-10 * np.abs(metres[:, :3]).max() and off[:, 3:].max() < 1e-10

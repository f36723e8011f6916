"""The same mechanism in NexDyn and in its rivals: trees of revolute joints with random poses and inertias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import nexdyn as nx
from nexdyn.spatial.rotations import rotation_matrix

Array = np.ndarray


@dataclass(frozen=True)
class RandomTree:
    """Revolute joints about z: parent (n,), −1 the world; pose of the joint in its parent's joint frame R (n, 3, 3),
    p (n, 3); mass (n,), com (n, 3) and inertia about it (n, 3, 3) in the joint's frame."""

    parent: Array
    R: Array
    p: Array
    mass: Array
    com: Array
    inertia: Array

    @property
    def n(self) -> int:
        return len(self.parent)


def random_tree(n: int, rng: np.random.Generator, among: int | None = 4) -> RandomTree:
    """A tree whose parents are drawn among the last `among` bodies: 1 gives a chain, None draws among all."""
    index = np.arange(n)
    low = np.zeros(n, dtype=np.int64) if among is None else np.maximum(0, index - among)
    parent = depth_first(np.where(index == 0, -1, low + np.floor(rng.random(n) * (index - low)).astype(np.int64)))
    quaternion = rng.normal(size=(n, 4))
    B = 0.05 * rng.normal(size=(n, 3, 3))
    S = B @ np.swapaxes(B, 1, 2)  # second moments of a mass distribution: tr(S) 1 − S is a physical inertia
    inertia = np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S
    R = rotation_matrix(quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True))
    p, com = 0.3 * rng.normal(size=(n, 3)), 0.1 * rng.normal(size=(n, 3))
    return RandomTree(parent, R, p, rng.uniform(0.5, 2.0, n), com, inertia)


def depth_first(parent: Array) -> Array:
    """The same tree with its bodies numbered depth first, as NexDyn numbers coordinates: rivals then share one order."""
    children: list[list[int]] = [[] for _ in parent]
    for i, p in enumerate(parent.tolist()):
        if p >= 0:
            children[p].append(i)
    numbered, stack = [], [(0, -1)]
    while stack:
        i, p = stack.pop()
        stack += [(child, len(numbered)) for child in reversed(children[i])]
        numbered.append(p)
    return np.array(numbered, dtype=np.int64)


def nexdyn_system(tree: RandomTree) -> nx.System:
    system = nx.System("random tree", gravity=(0, 0, -9.81))
    bodies = [system.ground]
    for i in range(tree.n):
        body = system.add_body(f"b{i}", mass=tree.mass[i], inertia=tree.inertia[i], com=tree.com[i])
        x, _, z = tree.R[i].T
        joint = nx.Revolute(
            f"j{i}", bodies[tree.parent[i] + 1], body, anchor_a=tree.p[i], axis_a=z, reference_a=x,
            anchor_b=(0, 0, 0), axis_b=(0, 0, 1), reference_b=(1, 0, 0),
        )  # fmt: skip
        system.add_joint(joint)
        bodies.append(body)
    return system


def pinocchio_model(tree: RandomTree) -> Any:
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -9.81])
    for i in range(tree.n):
        joint = model.addJoint(int(tree.parent[i]) + 1, pin.JointModelRZ(), pin.SE3(tree.R[i], tree.p[i]), f"j{i}")
        model.appendBodyToJoint(joint, pin.Inertia(tree.mass[i], tree.com[i], tree.inertia[i]), pin.SE3.Identity())
    return model

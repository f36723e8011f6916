"""Dymola's own error by its own curves, where no load acts on a tree and all coordinates of its joints are recorded.

E = T(q, v) + V(q) + Σ c/2 (L − L₀)²,   P = Σ d w² + Σ d L̇²           springs and dampers between frames, dampers of joints
drift = max over t of |E(t) − E(0) + ∫₀ᵗ P dt| / max T
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.interpolate import CubicSpline

from nexdyn.problems.against.case import Curves
from nexdyn.problems.against.modelica_parts import GROUND, Frame, Parts
from nexdyn.tree.tree import Tree

COORDINATES = {
    "revolute": [("angle", "angular velocity")],
    "prismatic": [("slide position", "slide velocity")],
    "cylindrical": [("angle", "angular velocity"), ("slide position", "slide velocity")],
    "universal": [("first angle", "first angular velocity"), ("second angle", "second angular velocity")],
}  # fmt: skip
STILL = 1e-9
"""Kinetic energy [J] below which nothing moves."""


def energy_drift(parts: Parts, t: np.ndarray, curves: Curves) -> float:
    """The largest change of the energy of curves at t (N,) [s], less what dampers take, over the largest kinetic energy; or NaN."""
    if parts.closed or parts.loaded:
        return np.nan
    system = parts.system()
    tree = Tree(system)
    names = [
        (f"{j} {q}", f"{j} {v}") for j in tree.joint_names for q, v in COORDINATES.get(system.joint(j).kind, [("", "")])
    ]
    if not all(q in curves and v in curves for q, v in names):
        return np.nan
    q, v = (np.column_stack([curves[name[k]] for name in names]) for k in (0, 1))
    kinetic = tree.kinetic_energy(q, v)
    energy = kinetic + tree.potential_energy(q)
    power = np.zeros(len(t))
    for joint, d in parts.dampers.items():
        power += d * curves[f"{joint} angular velocity"][:, 0] ** 2
    for L, c, length, d in stretched(parts, tree, q):
        energy = energy + 0.5 * c * (L - length) ** 2
        power += d * CubicSpline(t, L)(t, 1) ** 2
    largest = float(np.max(kinetic))
    if largest < STILL:
        return np.nan
    taken = CubicSpline(t, power).antiderivative()(t)
    return float(np.max(np.abs(energy - energy[0] + taken))) / largest


def stretched(parts: Parts, tree: Tree, q: np.ndarray) -> Iterator[tuple[np.ndarray, float, float, float]]:
    """Length (N,), stiffness, length at rest and damping of each spring."""

    def point(frame: Frame) -> np.ndarray:
        if frame.link == GROUND:
            return frame.p
        R, p = tree.pose(q, frame.link)
        return np.asarray(p + R @ frame.p)

    for a, b, c, length, d in parts.springs:
        yield np.linalg.norm(point(b) - point(a), axis=1), c, length, d

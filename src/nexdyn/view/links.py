"""What is drawn between two points that move apart: springs, dampers, ropes, massless rods, and the rods of motors that slide.

A surface stands along z from A, made for the length L₀ of the reference configuration; at another length L it is stretched:

    vertex in the world:  p_A + R (x, y, z L/L₀),   R z = (p_B − p_A)/L

Marks of drivers (driver_marks.py) have no point B: z goes along what they say, and L is L₀.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nexdyn.model.system import System
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.driver_marks import Along, direction, driver_marks
from nexdyn.view.geometry import BETWEEN_POINTS, unit_of
from nexdyn.view.motion import Frame
from nexdyn.view.parts import MOTOR, STEEL, driven, rod, stroke
from nexdyn.view.surfaces import Color, Surface, coil, revolved

WIDTH = 0.05
"""Radius of a drawn spring, of its length."""
TURNS = 9
DARK: Color = (0.20, 0.22, 0.26, 1.0)
HEMP: Color = (0.62, 0.47, 0.28, 1.0)


class Link(NamedTuple):
    """A surface from the point p_A (3,) [m] of body `a` to p_B of body `b`; `length` is L₀ [m]. along: in place of p_B."""

    name: str
    a: str
    p_A: np.ndarray
    b: str
    p_B: np.ndarray
    surface: Surface
    color: Color
    length: float
    along: Along = ()


def links(system: System) -> list[Link]:
    """The links of a system: of point springs, of force tables between points, and of joints that keep a distance."""
    found = []
    for force in system.forces.values():
        if force.kind not in BETWEEN_POINTS or len(ends := force.frames(system)) != 2:
            continue
        A, B = ends
        L = _length(system, A.body, A.p_BF, B.body, B.p_BF)
        if L > 0.0:
            found += [
                Link(f"{force.name}, {what}", A.body, A.p_BF, B.body, B.p_BF, _surface(what, L), color, L)
                for what, color in _parts(force, system)
            ]
    for joint in system.joints.values():
        if joint.kind in ("rod", "revolute_spherical"):
            frames = joint.frames(system.values)
            a, b = joint.parent.name, joint.child.name
            L = _length(system, a, frames.p_AJ, b, frames.p_BJ)
            if L > 0.0:
                found.append(Link(joint.name, a, frames.p_AJ, b, frames.p_BJ, _surface("rod", L), STEEL, L))
    for one in driven(system):
        if not one.turns:
            unit = unit_of(system)
            start = one.p - stroke(unit) * one.R[:, 2]
            L = _length(system, one.parent, start, one.child, one.p_B)
            if L > 0.0:
                found.append(Link(one.name, one.parent, start, one.child, one.p_B, rod(0.5 * unit, L), STEEL, L))
    for mark in driver_marks(system):
        at = mark.body, mark.p_B
        found.append(Link(mark.name, *at, *at, mark.surface, MOTOR, mark.length, mark.along))
    return found


@dataclass(frozen=True)
class Placing:
    """Where links stand: rows of their bodies in a frame, the points in them (n, 3) [m], and L₀ (n,) [m].

    along: of those that have no point B by their number, rows of bodies and vectors (3,) in them."""

    row_a: np.ndarray
    p_A: np.ndarray
    row_b: np.ndarray
    p_B: np.ndarray
    length: np.ndarray
    along: dict[int, list[tuple[int, np.ndarray]]]

    @classmethod
    def of(cls, drawn: list[Link], row: dict[str, int]) -> Placing:
        """`row`: of each body in a frame."""
        return cls(
            np.array([row[link.a] for link in drawn], dtype=int),
            np.array([link.p_A for link in drawn]).reshape(-1, 3),
            np.array([row[link.b] for link in drawn], dtype=int),
            np.array([link.p_B for link in drawn]).reshape(-1, 3),
            np.array([link.length for link in drawn]),
            {k: [(row[name], v) for name, v in link.along] for k, link in enumerate(drawn) if link.along},
        )

    def ends(self, f: Frame) -> tuple[np.ndarray, np.ndarray]:
        """Both ends (n, 3) in the world [m]."""
        R, p = rotation_matrix(f.quaternion.astype(float)), f.position.astype(float)
        a = p[self.row_a] + np.einsum("nij,nj->ni", R[self.row_a], self.p_A)
        b = p[self.row_b] + np.einsum("nij,nj->ni", R[self.row_b], self.p_B)
        for k, vectors in self.along.items():
            b[k] = a[k] + self.length[k] * direction(R, vectors)
        return a, b

    def at(self, f: Frame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position (n, 3) [m], quaternion (n, 4) and stretch L/L₀ (n,)."""
        a, b = self.ends(f)
        L = np.linalg.norm(b - a, axis=1)
        z = np.where(L[:, None] > 1e-12, (b - a) / np.maximum(L, 1e-12)[:, None], (0.0, 0.0, 1.0))
        # the shortest turn from z, about x where it is half a turn
        q = np.column_stack([1.0 + z[:, 2], -z[:, 1], z[:, 0], np.zeros(len(z))])
        q[q[:, 0] < 1e-9] = (0.0, 1.0, 0.0, 0.0)
        return a, q / np.linalg.norm(q, axis=1, keepdims=True), np.maximum(L, 1e-9) / self.length


def _parts(force: object, system: System) -> list[tuple[str, Color]]:
    """What a force between two points looks like."""
    given = force.__dict__
    values = system.values
    if getattr(force, "kind", "") == "force_table":
        slack = [F for x, F in zip(given["deflections"], given["forces"], strict=True) if _number(x, values) < 0.0]
        return [("rope", HEMP)] if not any(_number(F, values) for F in slack) else [("spring", STEEL)]
    spring, damper = (_number(given[name], values) != 0.0 for name in ("stiffness", "damping"))
    parts = [("spring", STEEL)] * spring + [("damper", DARK)] * damper
    return parts or [("rope", HEMP)]


def _number(x: object, values: object) -> float:
    from nexdyn.model.parameters import number

    return number(x, values, "number")  # type: ignore[arg-type]


def _length(system: System, a: str, p_A: np.ndarray, b: str, p_B: np.ndarray) -> float:
    ends = []
    for name, p in ((a, p_A), (b, p_B)):
        R_WB, p_WB = system.body(name).pose(system.values)
        ends.append(p_WB + R_WB @ p)
    return float(np.linalg.norm(ends[1] - ends[0]))


def _surface(what: str, L: float) -> Surface:
    w = WIDTH * L
    match what:
        case "spring":
            return coil(w, 0.16 * w, L, TURNS)
        case "damper":
            line = [(0.0, 0.0), (0.5 * w, 0.0), (0.5 * w, 0.6 * L), (0.2 * w, 0.6 * L), (0.2 * w, L), (0.0, L)]
            return revolved(np.array(line))
    r = {"rope": 0.15, "rod": 0.3}[what] * w
    return revolved(np.array([(0.0, 0.0), (r, 0.0), (r, L), (0.0, L)]))

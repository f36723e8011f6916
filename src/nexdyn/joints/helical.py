"""Helical joint: a turn q about z that advances along z by the pitch h [m/rad].

R = Rz(q),  p = h q e_z;   H = (e_z, h e_z),  Ḣ = 0
W = four unit forces across z and (−h e_z, e_z)/√(1 + h²).  H is not normalised: its pseudo-inverse is Hᵀ/(1 + h²).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nexdyn.joints import kinds
from nexdyn.kernel import formula
from nexdyn.model.joint import TURNS, Joint, Step
from nexdyn.spatial.algebra import Force, Motion, Pose, Vec3, turned_about_z, z_column
from nexdyn.spatial.lanes import atan2, sqrt


class Helical(Joint):
    """A screw: q [rad] turns the child about z and moves it along z by `pitch` [m/rad]."""

    kind, code, nq, nv = "helical", kinds.HELICAL, 1, 1
    about_z = True
    rows = (("DX", 1), ("DY", 1), ("DotZX", 0), ("DotZY", 0), ("Screw", 1))
    coordinates = ("Angle",)
    directions = (("turn", "B", 2),)
    coordinate_labels = (("", "rad"),)
    steps = (Step("turn", 2, 0), Step("slide", 2, 0))
    advances = True
    ways = (TURNS[2],)

    def __init__(self, name: str, parent: Any, child: Any, *, pitch: Any, **options: Any) -> None:
        self.pitch = pitch
        super().__init__(name, parent, child, **options)

    def own_number(self, values: Mapping[str, float]) -> float:
        return self.number_of("pitch", values)


@formula
def pose(X, q, k, pitch):
    return Pose(turned_about_z(X.R, q[k]), X.p + (pitch * q[k]) * z_column(X.R))


@formula
def coordinates_of(R, p, q, k):
    """q of the pose (R, p) of B in A, but for whole turns, which its advance tells."""
    q[k] = atan2(R.yx - R.xy, R.xx + R.yy)


@formula
def motion_subspace(H, j, pitch):
    H[j] = Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, pitch))


@formula
def constraint_subspace(W, pitch):
    s = 1.0 / sqrt(1.0 + pitch * pitch)
    W[0] = Force(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[1] = Force(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 0.0))
    W[2] = Force(Vec3(0.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))
    W[3] = Force(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
    W[4] = Force(Vec3(0.0, 0.0, -(s * pitch)), Vec3(0.0, 0.0, s))

"""Joints of one's own for tests: two that the package has, too, so that both must move alike, and two that it has not."""

from __future__ import annotations

import math
from typing import Any

import nexdyn as nx
from nexdyn.pages import Force, Mat3, Motion, Pose, Vec3


class Screw(nx.JointPage):
    """As nx.Helical: turns by q about z and advances by pitch q."""

    kind = "own_screw"
    turning = (True,)
    pitch: float

    @staticmethod
    def pose(q: Any, pitch: Any) -> Any:
        c, s = math.cos(q), math.sin(q)
        return Pose(Mat3(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, pitch * q))

    @staticmethod
    def motion_subspace(pitch: Any) -> Any:
        return Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, pitch))

    @staticmethod
    def coordinates_of(R: Any, p: Any, pitch: Any) -> Any:
        q = math.atan2(R.yx - R.xy, R.xx + R.yy)
        return q + 2.0 * math.pi * math.floor(0.5 + (p.z / pitch - q) / (2.0 * math.pi))


class Cardan(nx.JointPage):
    """As nx.Universal: turns by q1 about z of A, then by q2 about x of B."""

    kind = "own_cardan"
    turning = (True, True)
    labels = ("angle", "tilt")

    @staticmethod
    def pose(q: Any) -> Any:
        c, s, d, e = math.cos(q[0]), math.sin(q[0]), math.cos(q[1]), math.sin(q[1])
        return Pose(Mat3(c, -s * d, s * e, s, c * d, -c * e, 0.0, e, d), Vec3(0.0, 0.0, 0.0))

    @staticmethod
    def motion_subspace(q: Any) -> Any:
        o = Vec3(0.0, 0.0, 0.0)
        return Motion(Vec3(0.0, math.sin(q[1]), math.cos(q[1])), o), Motion(Vec3(1.0, 0.0, 0.0), o)

    @staticmethod
    def coordinates_of(R: Any) -> Any:
        return math.atan2(R.yx, R.xx), math.atan2(R.zy, R.zz)

    @staticmethod
    def constraint_subspace(q: Any) -> Any:
        o = Vec3(0.0, 0.0, 0.0)
        return (
            Force(Vec3(0.0, math.cos(q[1]), -math.sin(q[1])), o),
            Force(o, Vec3(1.0, 0.0, 0.0)),
            Force(o, Vec3(0.0, 1.0, 0.0)),
            Force(o, Vec3(0.0, 0.0, 1.0)),
        )


class Cam(nx.JointPage):
    """Turns by q about z and rises by lift (1 − cos 2q)."""

    kind = "cam"
    turning = (True,)
    lift: float = 0.2

    @staticmethod
    def pose(q: Any, lift: Any) -> Any:
        c, s = math.cos(q), math.sin(q)
        return Pose(Mat3(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, lift * (1.0 - math.cos(2.0 * q))))

    @staticmethod
    def motion_subspace(q: Any, lift: Any) -> Any:
        return Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 2.0 * lift * math.sin(2.0 * q)))

    @staticmethod
    def coordinates_of(R: Any) -> Any:
        return math.atan2(R.yx - R.xy, R.xx + R.yy)


class Crank(nx.JointPage):
    """A slide q2 along an arm that turns by q1: oblique columns. Origin of B at (r + q2)(cos, sin, 0), B turned by q1 + twist q2."""

    kind = "crank_slide"
    turning = (True, False)
    labels = ("angle", "out")
    ranges = ((-3.0, 3.0), (-0.2, 0.5))
    arm: float = 0.3
    twist: float = 0.7

    @staticmethod
    def pose(q: Any, arm: Any, twist: Any) -> Any:
        a = q[0] + twist * q[1]
        c, s = math.cos(a), math.sin(a)
        r = arm + q[1]
        return Pose(Mat3(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0), Vec3(r * math.cos(q[0]), r * math.sin(q[0]), 0.0))

    @staticmethod
    def motion_subspace(q: Any, arm: Any, twist: Any) -> Any:
        b = twist * q[1]
        c, s = math.cos(b), math.sin(b)
        r = arm + q[1]
        return Motion(Vec3(0.0, 0.0, 1.0), Vec3(r * s, r * c, 0.0)), Motion(Vec3(0.0, 0.0, twist), Vec3(c, -s, 0.0))

    @staticmethod
    def coordinates_of(R: Any, p: Any, arm: Any) -> Any:
        return math.atan2(p.y, p.x), math.sqrt(p.x * p.x + p.y * p.y) - arm


def two_links(own: bool, loop: bool = False, **acts: Any) -> nx.System:
    """Two bodies on a universal joint and a screw, of one's own or of the package; a rod closes a loop. `acts`: in the screw."""
    cardan, screw = (Cardan, Screw) if own else (nx.Universal, nx.Helical)
    first: dict[str, Any] = {} if loop else {"q0": (0.2, -0.1), "v0": (0.5, 0.3)}
    second: dict[str, Any] = {} if loop else {"q0": 0.3, "v0": 1.0}
    system = nx.System("two links", gravity=(0.3, 0.2, -9.81))
    system.add_body("a", mass=1.2, inertia=(0.1, 0.09, 0.02), com=(0.1, 0.05, 0.0))
    system.add_body("b", mass=0.7, inertia=(0.05, 0.06, 0.02), com=(0.3, 0.0, -0.1), position=(0.5, 0, 0))
    system.add_joint(cardan("u", "ground", "a", at=(0, 0, 0), axis=(0.1, 0.2, 1.0), **first))
    system.add_joint(screw("h", "a", "b", at=(0.5, 0, 0), axis=(0, 1, 0.2), pitch=0.1, **second, **acts))
    if loop:
        system.add_joint(nx.Rod("rod", "ground", "b", anchor_a=(0.8, 0.1, -0.4), anchor_b=(0.2, 0.1, 0.1)))
    return system


def slider_crank(own: bool) -> nx.System:
    """A crank, a rod on a ball and on a universal joint, and a slider."""
    system = nx.System("slider crank", gravity=(0, 0, -9.81))
    system.add_body("crank", mass=0.4, inertia=(0.002, 0.002, 0.003), position=(0.0, 0.1, 0.0))
    system.add_body("rod", mass=0.6, inertia=(0.004, 0.03, 0.03), position=(0.35, 0.1, 0.05))
    system.add_body("slider", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.7, 0.0, 0.1))
    system.add_joint(nx.Revolute("pin", "ground", "crank", at=(0, 0, 0), axis=(0, 0, 1), v0=3.0))
    system.add_joint(nx.Spherical("ball", "crank", "rod", at=(0, 0.2, 0)))
    system.add_joint((Cardan if own else nx.Universal)("u", "rod", "slider", at=(0.7, 0, 0.1), axis=(0, 0, 1)))
    system.add_joint(nx.Prismatic("guide", "ground", "slider", at=(0.7, 0, 0.1), axis=(1, 0, 0)))
    return system

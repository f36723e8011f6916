"""Every joint, and every constraint, in a motion that it allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from stages import AXIS, CHILD, STAND, add_child, ball, dots, plate, stage

import nexdyn as nx

FREEDOMS: dict[str, tuple[type[nx.Joint], Any, dict[str, Any]]] = {
    "fixed": (nx.Fixed, (), {}),
    "revolute": (nx.Revolute, (1.6,), {}),
    "prismatic": (nx.Prismatic, (0.4,), {}),
    "helical": (nx.Helical, (3.0,), {"pitch": 0.12}),
    "cylindrical": (nx.Cylindrical, (1.6, 0.3), {}),
    "universal": (nx.Universal, (0.9, 0.7), {}),
    "planar": (nx.Planar, (0.3, 0.3, 1.2), {}),
    "cartesian": (nx.Cartesian, (0.3, 0.25, 0.35), {}),
    "spherical": (nx.Spherical, (0.7, 0.6, 1.0), {}),
    "free": (nx.Free, (0.8, 0.5, 0.9, 0.3, 0.2, 0.3), {}),
}  # fmt: skip


def with_freedoms(kind: str) -> nx.Result:
    """A joint with coordinates, moving in all its freedoms at once."""
    cls, v0, options = FREEDOMS[kind]
    system, stand = stage(kind)
    child = add_child(system)
    parent = system.ground if kind == "free" else stand
    start = {"v0": v0} if v0 else {}
    system.add_joint(cls("joint", parent, child, **({} if kind == "free" else {"at": (0, 0, 0)}), **options, **start))
    return nx.simulate(system, 1.0, nx.RungeKutta4(1e-2))


def point_on_line() -> nx.System:
    system, stand = stage("point_on_line")
    child = ball(system, (0, 0, 0.4))
    system.add_joint(nx.PointOnLine("joint", stand, child, at=(0, 0, 0.4), axis=(0, 0, 1)))
    system.add_force(nx.AppliedForce("push", child, force=(0, 0, -0.9), torque=(0.01, 0.02, 0.02)))
    return system


def point_on_plane() -> nx.System:
    system, stand = stage("point_on_plane")
    child = ball(system, (-0.2, -0.1, -0.14))
    system.add_joint(nx.PointOnPlane("joint", stand, child, at=(-0.2, -0.1, -0.14), axis=(0, 0, 1)))
    system.add_force(nx.AppliedForce("push", child, force=(0.8, 0.4, -1.0), torque=(0.0, 0.01, 0.03)))
    return system


def parallel() -> nx.System:
    system, stand = stage("parallel")
    child = add_child(system, at=(-0.2, -0.2, 0.1))
    system.add_joint(nx.Parallel("joint", stand, child, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_force(nx.AppliedForce("push", child, force=(0.6, 0.5, 0.4), torque=(0, 0, 0.08)))
    return system


def perpendicular() -> nx.System:
    system, stand = stage("perpendicular")
    child = add_child(system, at=(-0.1, -0.2, 0.15))
    system.add_joint(nx.Perpendicular("joint", stand, child, axis_a=(0, 0, 1), axis_b=(1, 0, 0)))
    system.add_force(nx.AppliedForce("push", child, force=(0.5, 0.4, 0.3), torque=(0.06, 0, 0.08)))
    return system


def rod() -> nx.System:
    system, stand = stage("rod", gravity=True, shown=dots([(0, 0, 0.5)], 0.04))
    child = ball(system, (0.35, 0.0, 0.5))
    system.add_joint(nx.Rod("joint", stand, child, anchor_a=(0, 0, 0.5), anchor_b=(0, 0, 0)))
    return system


def revolute_spherical() -> nx.System:
    system, stand = stage("revolute_spherical", gravity=True, shown=dots([(0, 0, 0.45)], 0.04))
    child = ball(system, (0.35, 0.0, 0.45))
    system.add_joint(nx.RevoluteSpherical("joint", stand, child, anchor_a=(0, 0, 0.45), axis_a=(0, 1, 0)))
    return system


def revolute_prismatic() -> nx.System:
    system, stand = stage("revolute_prismatic", gravity=True, shown=dots([(0, -0.09, 0.3)], 0.03))
    child = add_child(system, at=(-0.3, 0, 0.3))
    system.add_joint(nx.RevolutePrismatic("joint", stand, child, at=(0, 0, 0.3), axis=(0, 1, 0), slide=(1, 0, 0)))
    return system


def general() -> nx.System:
    system, stand = stage("general", gravity=True)
    child = add_child(system, at=(0.15, 0, 0.4))
    system.add_joint(nx.GeneralJoint("joint", stand, child, free=("x", "ry"), at=(0, 0, 0.4)))
    return system


def clamp() -> nx.System:
    system, stand = stage("clamp", gravity=True)
    child = add_child(system, at=(0.15, 0, 0.4))
    system.add_joint(nx.Revolute("hinge", stand, child, at=(0, 0, 0.4), axis=(0, 1, 0)))
    system.add_joint(nx.Clamp("joint", stand, child, at=(0, 0, 0.4), on=False))
    system.add_event(nx.Event("hold", time=0.25, on="joint"))
    return system


def point_on_curve() -> nx.System:
    s = np.linspace(0, 4 * np.pi, 120)
    system, stand = stage(
        "point_on_curve", True, dots(np.stack([0.3 * np.cos(s), 0.3 * np.sin(s), 0.4 - 0.05 * s], axis=1))
    )
    child = ball(system, (0.3, 0, 0.4))
    helix = nx.ExpressionCurve("=0.3*cos(s)", "=0.3*sin(s)", "=0.4-0.05*s", start=0, end="=4*pi")
    system.add_joint(nx.PointOnCurve("joint", stand, child, curve=helix))
    return system


def point_on_surface() -> nx.System:
    system, stand = stage("point_on_surface", True, [nx.Sphere(0.3, color=(0.8, 0.86, 0.8, 1.0))])
    child = ball(system, (0.3, 0.0, 0.2))
    system.add_joint(nx.PointOnSurface("joint", stand, child, surface=nx.SphereSurface(0.36)))
    return system


def user_constraint() -> nx.System:
    def wave(t: float, x: np.ndarray, R: np.ndarray) -> float:
        return float(x[2] - 0.1 * np.cos(6.0 * x[0]))

    wavy = [(x, y, 0.1 * np.cos(6.0 * x) - 0.06) for x in np.linspace(-0.2, 0.6, 33) for y in (-0.2, -0.1, 0.0)]
    system, stand = stage("user_constraint", True, dots(wavy))
    child = ball(system, (0.1, -0.1, 0.1 * np.cos(0.6)))
    system.add_joint(nx.UserConstraint("joint", stand, child, wave))
    return system


def rolling_disk() -> nx.System:
    system, stand = plate("rolling_disk")
    lying = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)  # the axle is y
    child = system.add_body(
        "child", mass=1.0, inertia=(0.006, 0.011, 0.006), position=(-0.35, -0.2, -0.02),
        shapes=[nx.Cylinder(radius=0.18, length=0.04, orientation=lying, color=CHILD),
                nx.Box((0.3, 0.045, 0.05), color=(0.95, 0.95, 0.95, 1.0))],
    )  # fmt: skip
    system.add_joint(nx.Free("ride", system.ground, child, v0=(0, 4.0, 0.9, 0.72, 0, 0)))
    system.add_joint(nx.RollingDisk("joint", stand, child, radius=0.18, anchor_a=(0, 0, -0.2), axis_b=(0, 1, 0)))
    return system


def rolling_sphere() -> nx.System:
    system, stand = plate("rolling_sphere")
    child = system.add_body(
        "child", mass=1.0, inertia=(0.006, 0.006, 0.006), position=(-0.35, -0.2, -0.05),
        shapes=[nx.Sphere(0.15, color=CHILD), nx.Cylinder(radius=0.03, length=0.32, color=(0.95, 0.95, 0.95, 1.0))],
    )  # fmt: skip
    system.add_joint(nx.Free("ride", system.ground, child, v0=(-2.0, 4.0, 0, 0.6, 0.3, 0)))
    system.add_joint(nx.RollingSphere("joint", stand, child, radius=0.15, anchor_a=(0, 0, -0.2)))
    return system


def knife_edge() -> nx.System:
    system, stand = plate("knife_edge")
    child = system.add_body(
        "child", mass=1.0, inertia=(0.02, 0.02, 0.02), position=(-0.35, -0.25, -0.12),
        shapes=[nx.Box((0.4, 0.03, 0.16), color=CHILD), nx.Box((0.06, 0.04, 0.16), position=(0.18, 0, 0), color=AXIS)],
    )  # fmt: skip
    system.add_joint(nx.Planar("ice", stand, child, at=(-0.35, -0.25, -0.12), v0=(0.8, 0, 1.6)))
    system.add_joint(nx.KnifeEdge("joint", stand, child, axis_b=(0, 1, 0)))
    return system


@numba.njit
def towards(t: float, x: np.ndarray, R: np.ndarray, out: np.ndarray) -> None:
    """The point of the child goes straight away from the z of the stand or towards it, never round it: y ẋ = x ẏ."""
    out[:] = 0.0
    out[0], out[1] = -x[1], x[0]


def velocity_constraint() -> nx.System:
    spokes = [
        (r * np.cos(a), r * np.sin(a), -0.19) for a in np.arange(8) * np.pi / 4 for r in np.linspace(0.1, 0.55, 8)
    ]
    system, stand = stage(
        "velocity_constraint", True, [nx.Box((1.2, 1.2, 0.06), position=(0, 0, -0.23), color=STAND), *dots(spokes)]
    )
    start = 0.12 * np.array([np.cos(np.pi / 4), np.sin(np.pi / 4)])
    child = ball(system, (*start, -0.14))
    system.add_joint(nx.Planar("plane", stand, child, at=(*start, -0.14), v0=(0.18, 0.18, 3.0)))
    system.add_force(nx.AppliedForce("wind", child, force=(0, 0.4, 0)))
    system.add_joint(nx.VelocityConstraint("joint", stand, child, towards))
    return system


CONSTRAINTS: dict[str, Callable[[], nx.System]] = {
    make.__name__: make
    for make in (
        point_on_line, point_on_plane, parallel, perpendicular, rod, revolute_spherical, revolute_prismatic, general, clamp,
        point_on_curve, point_on_surface, user_constraint,
        rolling_disk, rolling_sphere, knife_edge, velocity_constraint,
    )
}  # fmt: skip

SLIDING = {"rolling_disk", "rolling_sphere", "knife_edge", "velocity_constraint"}
"""Those that hold velocities."""

"""Mechanisms whose results are looked at, and differences in time to look with."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import nexdyn as nx

Array = np.ndarray
DT = 1e-3


def menagerie(damping: float = 0.0, pushed: bool = False) -> nx.System:
    """Every kind of joint, welds between moving bodies, a floating base, a mimic joint, springs, markers, measures.

    damping: of joints and springs. pushed: whether forces that are functions of time act.
    """
    rng = np.random.default_rng(11)
    system = nx.System("menagerie", gravity=(0.4, -1.0, -9.0))

    def body(name: str) -> nx.Body:
        mass, com, q = rng.uniform(0.5, 2.0), rng.normal(0.0, 0.1, 3), rng.normal(size=4)
        inertia = mass * (0.1 + 0.05 * rng.uniform(size=3))
        position = rng.normal(0.0, 0.7, 3)
        return system.add_body(
            name, mass=mass, inertia=inertia, com=com, position=position, orientation=q / np.linalg.norm(q)
        )

    def join(kind: type[nx.Joint], name: str, parent: str, child: str, **more: Any) -> None:
        given = {"at": rng.normal(0.0, 0.7, 3), "axis": rng.normal(size=3), "damping": damping, "stiffness": 2.0} | more
        system.add_joint(kind(name, parent, child, **given))

    for name in ("a", "a2", "b", "c", "d", "e", "f", "g", "h", "base", "box", "limb", "finger", "thumb"):
        body(name)
    join(nx.Revolute, "revolute", "ground", "a", v0=1.0, armature=0.05)
    join(nx.Fixed, "weld", "a", "a2")
    join(nx.Prismatic, "prismatic", "a2", "b", v0=-0.5)
    join(nx.Helical, "helical", "b", "c", pitch=0.2, v0=0.7)
    join(nx.Cylindrical, "cylindrical", "a2", "d", v0=(0.5, 0.3))
    join(nx.Universal, "universal", "d", "e", v0=(0.4, -1.0))
    join(nx.Spherical, "spherical", "e", "f", v0=(0.5, -0.5, 2.0))
    join(nx.Planar, "planar", "ground", "g", v0=(0.3, 0.1, -1.0))
    join(nx.Cartesian, "cartesian", "g", "h", v0=(0.2, 0.1, 0.3))
    join(nx.Fixed, "plate", "base", "box")
    join(nx.Revolute, "knee", "box", "limb", v0=2.0)
    join(nx.Free, "loose", "h", "finger", stiffness=0.0, v0=(1.0, 0.5, -0.5, 0.1, 0.2, 0.3))
    join(nx.Revolute, "thumb", "box", "thumb", stiffness=0.0, mimic=nx.Mimic("knee", 0.5, 0.1))
    system.add_force(
        nx.PointSpring("spring", "f", "h", anchor_a=(0.1, 0, 0), stiffness=5.0, length=0.5, damping=damping)
    )
    system.add_force(nx.TorsionSpring("twist", "c", "limb", stiffness=0.5, damping=damping))
    if pushed:
        system.add_force(nx.AppliedForce("push", "e", ("=3*sin(5*t)", 1, 0), (0, 0.2, 0), expressed_in="body"))
        system.add_force(nx.JointForce("motor", "knee", "=0.5*cos(3*t)"))
    system.add_marker("tip", "c", position=(0.3, 0.1, -0.2), orientation=(0.5, 0.5, 0.5, 0.5))
    system.add_marker("hook", "ground", position=(1.0, 2.0, 3.0))
    system.add_measure(nx.PointPosition("where", "tip", "limb"))
    system.add_measure(nx.PointVelocity("how fast", "tip", "limb"))
    system.add_measure(nx.Distance("reach", "hook", "tip"))
    system.add_measure(nx.Angle("tilt", "ground", "tip"))
    return system


@cache
def menagerie_result(damping: float = 0.0, pushed: bool = False) -> nx.Result:
    return nx.simulate(menagerie(damping, pushed), t_end=0.3, method=nx.RungeKutta4(DT))


def pendulum(name: str = "pendulum", q0: float = 1.0, **joint: Any) -> nx.System:
    """A bob of 2 kg on a massless rod of 0.5 m, about the world's y."""
    system = nx.System(name, gravity=(0, 0, -10))
    system.add_body("bob", mass=2.0, position=(0, 0, -0.5))
    system.add_joint(nx.Revolute("hinge", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0), q0=q0, **joint))
    return system


def rate(x: Array, dt: float = DT) -> Array:
    """dx/dt by differences of order 4, of the samples that have two neighbours on both sides."""
    return (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) / (12 * dt)


def inside(x: Array) -> Array:
    """The samples of which `rate` tells."""
    return x[2:-2]


def resting_ball() -> nx.System:
    """A ball let go above the ground, which comes to rest on it."""
    system = nx.System("ball", gravity=(0, 0, -9.81))
    system.add_body("ball", mass=2.0, inertia=(0.00072,) * 3, position=(0, 0, 0.3), shapes=nx.Sphere(0.03))
    system.add_joint(nx.Free("base", system.ground, "ball"))
    system.add_force(nx.PlaneContact("touch", "ball", radius=0.03, stiffness=1e5, damping=20.0))
    return system

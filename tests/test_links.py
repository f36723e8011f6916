"""Joints in a row, as one joint or one link without mass: they move as their chains of joints and bodies without mass do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx

G = (0.4, -0.7, -9.5)
T = 0.4
LEAN = (0.3, 0.1, 0.9)
"""The axis of the hinge between a and b."""
SLIDE = (1.0, 0.2, 0.5)
"""A direction that is not at right angles to it."""
BALL = (0.9, 0.4, -0.1)


def bodies(massless: bool) -> nx.System:
    """Three bodies with springs; `massless`: carriers between them, too."""
    system = nx.System("machine", gravity=G)
    for name, mass, at in (("a", 2.0, (0.1, 0.2, 0.0)), ("b", 1.0, (0.5, 0.3, 0.2)), ("c", 0.5, (1.0, 0.5, -0.2))):
        system.add_body(
            name, mass=mass, inertia=(0.02 * mass, 0.03 * mass, 0.04 * mass), com=(0.05, 0.02, -0.03), position=at
        )
    for name, at in (("slider", (0, 0, 0)), ("pin", (0.4, 0.2, 0.1)), ("bar", (0.7, 0.35, 0.0))) if massless else ():
        system.add_body(name, mass=0.0, inertia=(0, 0, 0), position=at)
    return system


def sprung(system: nx.System) -> nx.System:
    system.add_force(
        nx.PointSpring("s1", "ground", "a", at_a=(0.5, 0, 0), at_b=(0.2, 0.2, 0.1), stiffness=300.0, damping=3.0)
    )
    system.add_force(
        nx.PointSpring("s2", "ground", "b", at_a=(0.6, 0.5, 0.8), at_b=(0.6, 0.3, 0.2), stiffness=200.0, damping=2.0)
    )
    system.add_force(
        nx.PointSpring("s3", "ground", "c", at_a=(1.2, 0.6, 0.6), at_b=(1.1, 0.5, -0.2), stiffness=80.0, damping=1.0)
    )
    return system


def machine() -> nx.System:
    system = bodies(False)
    at = {"at": (0, 0, 0), "axis": (0, 0.6, 0.8), "reference": (1, 0.2, 0)}
    system.add_joint(nx.GeneralJoint("general", system.ground, "a", free=("x", "ry"), **at))
    system.add_joint(nx.RevolutePrismatic("slot", "a", "b", at=(0.4, 0.2, 0.1), axis=LEAN, slide=SLIDE))
    link: dict[str, Any] = {
        "anchor_a": (0.1, 0.0, 0.0),
        "axis_a": (0.1, 0.2, 1.0),
        "anchor_b": np.subtract(BALL, (1.0, 0.5, -0.2)),
    }
    system.add_joint(nx.RevoluteSpherical("link", "b", "c", **link))
    return sprung(system)


def chain() -> nx.System:
    """The same of hinges, slides and balls, with bodies without mass between them."""
    system = bodies(True)
    z = np.array([0, 0.6, 0.8])
    x = np.array([1, 0.2, 0]) - (0.2 * 0.6) * z
    x /= np.linalg.norm(x)
    system.add_joint(nx.Prismatic("general", system.ground, "slider", at=(0, 0, 0), axis=x, reference=z))
    system.add_joint(nx.Revolute("ry", "slider", "a", at=(0, 0, 0), axis=np.cross(z, x)))
    system.add_joint(nx.Revolute("slot", "a", "pin", at=(0.4, 0.2, 0.1), axis=LEAN))
    system.add_joint(nx.Prismatic("slide", "pin", "b", at=(0.4, 0.2, 0.1), axis=SLIDE))
    system.add_joint(nx.Revolute("link", "b", "bar", at=(0.6, 0.3, 0.2), axis=(0.1, 0.2, 1.0)))
    system.add_joint(nx.Spherical("ball", "bar", "c", at=BALL))
    return sprung(system)


@pytest.fixture(scope="module")
def exact() -> nx.Result:
    return nx.simulate(chain(), T, nx.RungeKutta4(2.5e-4), output_every=1600)


METHODS = [
    (nx.Projection(rtol=1e-10, atol=1e-12), 1e-8), (nx.Baumgarte(rtol=1e-10), 1e-8), (nx.RungeKutta4(5e-4), 1e-8),
    (nx.HHT(rtol=1e-8), 1e-7), (nx.ImplicitEuler(2e-4, bdf2=True), 2e-5),
]  # fmt: skip


@pytest.mark.parametrize(("method", "within"), METHODS, ids=lambda x: repr(x).split("(")[0])
def test_they_move_and_bear_what_the_chain_does(exact: nx.Result, method: Any, within: float) -> None:
    """The offset of the link along its axis and its length are as described; the slide leans."""
    loops = {"loops": nx.Loops()} if isinstance(method, nx.RungeKutta4) else {}
    result = nx.simulate(machine(), T, method, **loops)
    for body in "abc":
        np.testing.assert_allclose(result.position(body).values[-1], exact.position(body).values[-1], atol=within)
        np.testing.assert_allclose(
            result.angular_velocity(body).values[-1], exact.angular_velocity(body).values[-1], atol=100 * within
        )
    for joint in ("slot", "link"):
        found = result.reaction(joint).values[-1]
        np.testing.assert_allclose(found, exact.reaction(joint).values[-1], atol=2e3 * within)

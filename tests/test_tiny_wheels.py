"""A wheel that is tiny beside the mechanism turns under every method: inertia that a method borrows for its iteration holds it nowhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.forces.tables import FEW

METHODS = [
    nx.HHT(dt=1e-3), nx.Projection(dt=1e-3), nx.Baumgarte(dt=1e-3), nx.Partitioning(dt=1e-3), nx.Projection(rtol=1e-9),
    nx.ImplicitEuler(1e-3), nx.ImplicitEuler(1e-3, bdf2=True),
]  # fmt: skip
RADII = [1e-4, 1e-5, 3e-6, 1e-6, 1e-7]
"""Radii of inertia of the wheel [m], on an arm of 1 m."""


def arm(radius: float, thin: bool = False) -> nx.System:
    """A wheel at the end of an arm that turns, and a torque that gives it 1 rad/s²; a thin one has no inertia about the arm."""
    inertia = 1e-3 * radius**2
    system = nx.System("arm", gravity=(0, 0, 0))
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_body("wheel", mass=1e-3, inertia=(0.0 if thin else inertia, inertia, inertia), position=(1.0, 0, 0))
    system.add_joint(nx.Revolute("root", "ground", "arm", at=(0, 0, 0), axis=(0, 0, 1), v0=0.3))
    system.add_joint(nx.Revolute("axle", "arm", "wheel", at=(1.0, 0, 0), axis=(0, 0, 1)))
    system.add_force(nx.JointForce("motor", "axle", inertia))
    return system


@pytest.mark.parametrize("thin", [False, True], ids=["round", "thin"])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: repr(method))
def test_it_turns_as_its_inertia_says(method: Any, thin: bool) -> None:
    order = 2e-3 if isinstance(method, nx.ImplicitEuler) and not method.bdf2 else 1e-5
    for radius in RADII:
        run = nx.simulate(arm(radius, thin), 1.0, method, output_times=[0.0, 1.0])
        assert float(run.joint_position("axle")[-1]) == pytest.approx(0.5, rel=order)
        assert float(run.joint_velocity("axle")[-1]) == pytest.approx(1.0, rel=order)
    np.testing.assert_allclose(run.joint_velocity("root"), 0.3, rtol=order)


def test_it_turns_where_bodies_may_touch() -> None:
    """Tables that are made anew, here for contacts, lend what the first ones did."""
    system = arm(1e-6)
    for k in range(FEW):
        system.add_force(nx.PlaneContact(f"floor {k}", "arm", radius=0.1, stiffness=1e3, at_b=(0, 0, -1 - k)))
    run = nx.simulate(system, 0.1, nx.Projection(dt=1e-3), output_times=[0.0, 0.1])
    assert float(run.joint_velocity("axle")[-1]) == pytest.approx(0.1, rel=1e-5)

"""Statics counts turns: τ = k q holds beyond half a turn, as it does in runs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx

WOUND = {
    "hinge": lambda tau: hinge_with(nx.JointForce("acting", "hinge", tau), stiffness=1.0),
    "torsion spring": lambda tau: hinge_with(
        nx.JointForce("acting", "hinge", tau), nx.TorsionSpring("spring", "ground", "wheel", stiffness=1.0)
    ),
    "table": lambda tau: hinge_with(
        nx.JointForce("acting", "hinge", tau),
        nx.ForceTable("table", joint="hinge", deflections=(-20.0, 0.0, 20.0), forces=(-20.0, 0.0, 20.0)),
    ),
}


def hinge_with(*forces: nx.Force, **options: float) -> nx.System:
    """A wheel on a hinge, without gravity."""
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("hinge", "ground", "wheel", axis=(0, 0, 1), **options))
    for force in forces:
        system.add_force(force)
    return system


@pytest.mark.parametrize("spring", WOUND)
@pytest.mark.parametrize("tau", [2.0, 5.0, -14.0])
def test_a_spring_of_1_newton_metre_a_radian_is_wound_up_by_whole_turns(spring: str, tau: float) -> None:
    """q = τ/k, and a run from there stays."""
    system = WOUND[spring](tau)
    rest = nx.equilibrium(system)
    assert_allclose(rest.joint("hinge"), tau, rtol=1e-9)
    assert rest.stability == "stable"
    run = nx.simulate(system, 0.01, nx.RungeKutta4(1e-3), initial=rest.report)
    assert_allclose(run.joint_position("hinge").values, tau, rtol=1e-9)


@pytest.mark.parametrize("spring", WOUND)
@pytest.mark.parametrize("tau", [5.0, -14.0])
def test_a_system_described_with_turns_is_assembled_and_linearized_with_them(spring: str, tau: float) -> None:
    """I q̈ = τ − k q."""
    system = WOUND[spring](1.0)
    described = nx.assemble(system, q0={"hinge": tau})
    assert_allclose(described.angular_acceleration("wheel")[2], (1.0 - tau) / 0.1, rtol=1e-9)
    rest = nx.equilibrium(system, q0={"hinge": 1.0 - 4.0 * np.pi}, nearest=True)
    assert_allclose(rest.joint("hinge"), 1.0, rtol=1e-9)
    wound = WOUND[spring](tau)
    linear = nx.linearize(wound, nx.equilibrium(wound))
    assert_allclose(linear.A, [[0.0, 1.0], [-10.0, 0.0]], atol=1e-6)

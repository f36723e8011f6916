"""LuGre friction in a joint: against an integration by SciPy, and its creep, which the elasto-plastic law has not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import nexdyn as nx

LAW = {"sliding": 1.0, "static": 1.5, "stribeck_speed": 0.05, "stiffness": 400.0, "damping": 8.0, "viscous": 0.4}


def slider(effort: str, **options: Any) -> nx.System:
    system = nx.System("slider", gravity=(0, 0, 0))
    system.add_body("block", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("way", system.ground, "block", axis=(1, 0, 0)))
    system.add_force(nx.JointForce("push", "way", effort))
    system.add_force(nx.JointFriction("dry", "way", **LAW | options))
    return system


@pytest.mark.parametrize(
    ("method", "most"),
    [
        (nx.RungeKutta4(1e-3), 1e-6),
        (nx.HHT(dt=2e-4), 1e-6),
        (nx.Projection(dt=1e-3), 1e-6),
        (nx.ImplicitEuler(2e-4), 3e-3),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_lugre_friction_is_that_of_an_integration_by_scipy(method: Any, most: float) -> None:
    """Stick, break-away, slip and turn under a force that sways."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        _, v, z = y
        g = LAW["sliding"] + (LAW["static"] - LAW["sliding"]) * np.exp(-((v / LAW["stribeck_speed"]) ** 2))
        dz = v - LAW["stiffness"] * abs(v) * z / g
        return [v, 2.0 * np.sin(3.0 * t) - LAW["stiffness"] * z - LAW["damping"] * dz - LAW["viscous"] * v, dz]

    exact = solve_ivp(rates, (0.0, 2.0), [0.0, 0.0, 0.0], rtol=1e-11, atol=1e-13, dense_output=True, max_step=5e-3)
    result = nx.simulate(slider("=2*sin(3*t)", law="lugre"), 2.0, method, output_every=50)
    x, v, z = exact.sol(result.t)
    assert np.ptp(x) > 0.1
    assert_allclose(result.joint_position("way").values.ravel(), x, atol=most)
    assert_allclose(result.force_state("dry.deflection").values.ravel(), z, atol=most)
    assert_allclose(result.joint_velocity("way").values.ravel(), v, atol=30 * most)


def test_lugre_creeps_under_a_load_that_sways_below_break_away_and_the_elasto_plastic_law_does_not() -> None:
    """A load of 0.1 to 0.5 of Coulomb's friction (and a third more by resonance), 40 periods."""
    method, effort = nx.RungeKutta4(1e-3), "=0.3+0.2*sin(2*pi*2*t)"
    creep = {}
    for law in ("lugre", "elasto_plastic"):
        x = nx.simulate(slider(effort, law=law), 20.0, method, output_every=500).joint_position("way").values.ravel()
        assert x.max() < 0.2
        creep[law] = x[-1] - x[len(x) // 2]  # whole periods apart
    assert creep["lugre"] > 1e-3
    assert abs(creep["elasto_plastic"]) < 1e-9


def test_a_law_that_is_none_and_an_elastic_part_of_lugre_are_refused() -> None:
    with pytest.raises(nx.InputError, match="law of force 'dry'"):
        slider("=t", law="luger")
    with pytest.raises(nx.InputError, match="force 'dry' has elastic and law='lugre'"):
        slider("=t", law="lugre", elastic=0.5)

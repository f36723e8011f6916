"""nx.ImplicitEuler on bodies thin about an axis: the order of the method at any inertia about it, none included."""

from __future__ import annotations

import numpy as np
import pytest
from step_problems import thin_rod

import nexdyn as nx
from nexdyn.potential.compile import THIN

DT = (2e-3, 1e-3)


def last(result: nx.Result) -> np.ndarray:
    return np.concatenate([result.position("rod").values[-1], result.velocity("rod").values[-1]])


@pytest.mark.parametrize("axial", [1.0, 0.5 * THIN, 1e-4, 1e-6, 0.0])
def test_a_thin_rod_on_a_universal_joint_moves_in_the_order_of_the_method(axial: float) -> None:
    exact = last(nx.simulate(thin_rod(axial), 1.0, nx.DormandPrince(rtol=1e-11, atol=1e-13)))
    for bdf2, order, most in ((False, 0.95, 0.012), (True, 1.9, 2e-5)):
        e = [
            np.abs(last(nx.simulate(thin_rod(axial), 1.0, nx.ImplicitEuler(dt, bdf2=bdf2))) - exact).max() for dt in DT
        ]
        assert e[1] < most
        assert np.log2(e[0] / e[1]) > order, (bdf2, e)


def test_bodies_on_either_side_of_thin_move_alike() -> None:
    moved = [
        last(nx.simulate(thin_rod(axial), 1.0, nx.ImplicitEuler(1e-3, bdf2=True)))
        for axial in (0.9999 * THIN, 1.0001 * THIN)
    ]
    assert np.abs(moved[1] - moved[0]).max() < 1e-5


@pytest.mark.parametrize("axial", [1.0, 0.0])
def test_a_rod_on_a_hinge_is_the_same_pendulum_whatever_its_inertia_about_itself(axial: float) -> None:
    system = nx.System("pendulum", gravity=(0, 0, -9.81))
    rod = system.add_body("rod", mass=1.0, inertia=(axial / 12, 1 / 12, 1 / 12), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), v0=2.0))
    exact = last(nx.simulate(system, 1.0, nx.DormandPrince(rtol=1e-11, atol=1e-13)))
    for bdf2, order, most in ((False, 0.95, 0.04), (True, 1.9, 1.2e-4)):
        e = [np.abs(last(nx.simulate(system, 1.0, nx.ImplicitEuler(dt, bdf2=bdf2))) - exact).max() for dt in DT]
        assert e[1] < most
        assert np.log2(e[0] / e[1]) > order, (bdf2, e)


@pytest.mark.parametrize("dt", [0.01, 0.1, 1.0])
def test_a_free_rod_keeps_its_momentum_and_gains_no_energy_at_any_step(dt: float) -> None:
    system = nx.System("free", gravity=(0, 0, 0))
    rod = system.add_body("rod", mass=1.0, inertia=(1e-4, 1.0, 1.0))
    system.add_joint(nx.Free("free", system.ground, rod, v0=(0.5, 1.0, 0.3, 0, 0, 0)))
    run = nx.simulate(system, 50 * dt, nx.ImplicitEuler(dt))
    R, w = run.rotation("rod").values, run.angular_velocity("rod").values
    rates, I = np.einsum("nji,nj->ni", R, w), np.array([1e-4, 1.0, 1.0])
    momentum = np.einsum("nij,nj->ni", R, rates * I)
    assert np.abs(momentum - momentum[0]).max() < 1e-4 * np.linalg.norm(momentum[0])  # that of a rod to rounding
    assert (np.diff((I * rates**2).sum(axis=1)) < 1e-12).all()

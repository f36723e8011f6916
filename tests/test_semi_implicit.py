"""Semi-implicit Euler keeps the energy where the mass matrix is constant, for a million steps; elsewhere it is a method of order 1."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import nexdyn as nx


def chain(links: int) -> nx.System:
    """Rods of 1 m and 1 kg that hang from each other on hinges."""
    system = nx.System("chain", gravity=(0.0, 0.0, -9.81))
    parent: nx.Body | str = system.ground
    for i in range(links):
        rod = system.add_body(f"rod{i}", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3), position=(0, 0, -0.5 - i))
        start = 1.5 if i == 0 else 0.5
        system.add_joint(nx.Revolute(f"hinge{i}", parent, rod, at=(0, 0, -float(i)), axis=(0, 1, 0), q0=start))
        parent = rod
    return system


def band(links: int, dt: float, t_end: float, every: int) -> np.ndarray:
    """What the energy has parted from that of the start by (time,) [J]."""
    result = nx.simulate(chain(links), t_end, nx.SemiImplicitEuler(dt), output_every=every)
    energy = result.energy()["total"].values
    return np.abs(energy - energy[0])


@pytest.mark.parametrize("dt", [1e-3, 5e-4])
def test_of_a_pendulum_energy_stays_in_one_band_for_a_million_steps(dt: float) -> None:
    """Of 0.08 % of what swings at 1 ms, proportional to dt."""
    parted = band(1, dt, 1e6 * dt, 10)
    early = parted[: len(parted) // 100].max()
    assert early == pytest.approx(7.75 * dt, rel=2e-3)
    assert parted.max() == pytest.approx(early, rel=1e-3)


def test_of_a_double_pendulum_it_drifts_and_less_so_with_shorter_steps() -> None:
    """Its mass matrix depends on the pose, and the method is not symplectic there: at first in proportion to dt."""
    at_first = [band(2, dt, 1.0, 1).max() for dt in (1e-3, 5e-4, 2.5e-4)]
    for coarse, fine in itertools.pairwise(at_first):
        assert coarse / fine == pytest.approx(2.0, rel=0.1)
    long = band(2, 1e-3, 40.0, 10)
    assert long.max() > 10.0 * at_first[0]


def test_of_a_chain_of_four_it_drifts_likewise_and_nothing_blows_up() -> None:
    """Of 103 J above hanging at rest half is lost in 40 s at 1 ms; a step of 5 ms loses nearly all."""
    at_first = [band(4, dt, 1.0, 1).max() for dt in (1e-3, 5e-4, 2.5e-4)]
    for coarse, fine in itertools.pairwise(at_first):
        assert coarse / fine == pytest.approx(2.0, rel=0.03)
    assert at_first[0] == pytest.approx(1.52, rel=0.01)
    for dt in (5e-3, 1e-3):
        result = nx.simulate(chain(4), 40.0, nx.SemiImplicitEuler(dt), output_every=10)
        energy = result.energy()["total"].values
        assert result.status == "finished"
        assert energy.max() - energy[0] < 5.0 * dt / 1e-3
        assert 25.0 < energy[0] - energy[-1] < 103.0


def test_a_chain_of_four_moves_with_order_1() -> None:
    times = [0.25, 0.5, 1.0]
    exact = nx.simulate(chain(4), 1.0, nx.DormandPrince(rtol=1e-11, atol=1e-12), output_times=times)
    off = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        found = nx.simulate(chain(4), 1.0, nx.SemiImplicitEuler(dt), output_times=times)
        off.append(np.abs(found.joint_position().values - exact.joint_position().values).max())
    assert np.log2(off[0] / off[1]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(off[1] / off[2]) == pytest.approx(1.0, abs=0.1)
    assert off[-1] < 0.01

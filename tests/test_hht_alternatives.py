"""The alternatives to HHT in absolute coordinates, and `nx.compare`."""

from __future__ import annotations

import numpy as np
import published
import pytest

import nexdyn as nx
from nexdyn.simulation.choice import simulation_of
from nexdyn.simulation.marches.index1 import IndexOneSimulation


def carriage() -> nx.System:
    """A body that slides along x, whose other five motions are constrained; nothing acts."""
    system = nx.System("carriage", gravity=(0, 0, 0))
    body = system.add_body("body", mass=2.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("slide", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    return system


@pytest.mark.filterwarnings("ignore:(velocities miss|the constraints are violated):nexdyn.NexDynWarning")
@pytest.mark.parametrize(("alpha", "beta"), [(5.0, 20.0), (10.0, 10.0), (25.0, 10.0)])
def test_baumgarte_damps_a_violation_as_its_oscillator_says(alpha: float, beta: float) -> None:
    """Under-, critically and over-damped: C̈ + 2 α Ċ + β² C = 0 from C = 1e-3, Ċ = 0, in closed form."""
    simulation = simulation_of(carriage(), nx.Baumgarte(dt=1e-4, alpha=alpha, beta=beta))
    assert isinstance(simulation, IndexOneSimulation)
    simulation.state.q0[1, 6] = 1e-3  # off the line, along z
    simulation.may_leave = True  # all that moves is the violation itself
    result = simulation.run(0.3)
    t, found = result.t.values[1:], result.position("body").values[1:, 2]
    roots = np.roots([1.0, 2.0 * alpha, beta**2]).astype(complex)
    if alpha == beta:
        expected = (1.0 + alpha * t) * np.exp(-alpha * t)
    else:
        r, s = roots
        expected = ((s * np.exp(r * t) - r * np.exp(s * t)) / (s - r)).real
    np.testing.assert_allclose(found, 1e-3 * expected, rtol=0, atol=1e-9)
    assert (found.min() < -1e-6) == (alpha < beta)  # only the under-damped one overshoots


METHODS = [
    nx.Baumgarte(dt=1e-3), nx.Baumgarte(rtol=1e-9), nx.Projection(dt=1e-3), nx.Projection(rtol=1e-9),
    nx.Partitioning(dt=1e-3), nx.Partitioning(rtol=1e-9),
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_bricard_under_every_alternative(method: nx.IndexOne) -> None:
    result = nx.simulate(published.bricard(), 1.0, method)
    np.testing.assert_allclose(result.position("P3")[-1], published.A04[1], rtol=0, atol=2e-7)
    closed = {nx.Baumgarte: 1e-6, nx.Projection: 1e-11, nx.Partitioning: 1e-11}[type(method)]
    assert result.recording.violation.max() < closed
    assert result.energy_drift < 1e-6


def test_without_stabilisation_the_constraints_drift() -> None:
    loose = nx.simulate(published.bricard(), 2.0, nx.Baumgarte(dt=5e-3, alpha=0.0, beta=0.0))
    held = nx.simulate(published.bricard(), 2.0, nx.Projection(dt=5e-3))
    assert held.recording.violation[-1] < 1e-11 < 1e-10 < loose.recording.violation[-1]


def test_independent_coordinates_are_chosen_anew_on_the_way() -> None:
    simulation = simulation_of(published.pendulum(), nx.Partitioning(dt=1e-3))
    result = simulation.run(1.0)
    assert simulation.partitions > 1  # x, then y, … must serve as a pendulum swings round
    np.testing.assert_allclose(result.position("mass")[-1, :2], published.A01[1], rtol=0, atol=1e-8)


def test_compare_finds_methods_that_agree_and_one_that_does_not() -> None:
    system = published.double_pendulum("rods")
    methods = [
        nx.DormandPrince(rtol=1e-11, atol=1e-12),
        nx.HHT(dt=1e-3),
        nx.Projection(rtol=1e-10),
        nx.ExplicitEuler(1e-3),
    ]
    found = nx.compare(system, methods, t_end=0.5)
    assert found.methods[1].startswith("HHT")
    for name, least, most in (
        ("position", 1e-5, 1e-3), ("orientation", 1e-5, 1e-3), ("velocity", 1e-4, 1e-3), ("force", 1e-2, 1e-2),
        ("energy", 1e-3, 1e-2),
    ):  # fmt: skip
        values = found.differences[name]
        assert values[0] == 0.0
        assert (values[1:3] < least).all(), (name, values)
        assert values[3] > most * 0.1, (name, values)
    assert (found.differences["violation"] < 1e-9).all()
    assert (found.differences["steps"] > 10).all() and (found.differences["wall_time"] > 0).all()
    parted = sum(where is not None for where in found.parted())
    assert "HHT" in str(found) and parted >= 1 and len(str(found).splitlines()) == 6 + parted
    assert found.to_dict()["methods"] == found.methods


def test_compare_on_a_loop_with_redundant_rows() -> None:
    found = nx.compare(published.four_bars(), [nx.HHT(rtol=5e-6), nx.Partitioning(rtol=1e-10)], t_end=0.3)
    assert found.differences["position"][1] < 1e-5
    assert found.differences["force"][1] < 1e-1
    assert (found.differences["violation"] < 1e-9).all()


def test_compare_refuses_what_it_cannot_run() -> None:
    with pytest.raises(nx.InputError, match="methods is"):
        nx.compare(carriage(), [])
    with pytest.raises(nx.InputError, match="times"):
        nx.compare(carriage(), [nx.HHT()], output_times=[0.2, 0.1])

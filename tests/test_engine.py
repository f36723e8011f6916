"""An engine of six cylinders in V: six redundant loops at every speed, under every formulation, without a stop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx

T = 0.15
THROW, ROD = 0.05, 0.2  # m


def engine(cylinders: int = 6) -> nx.System:
    """20 N m on a crankshaft that starts at 10 rad/s; three throws 120° apart, two cylinders at each, their banks 60° apart."""
    system = nx.System("engine", gravity=(0, -9.80665, 0))
    crank = system.add_body("crank", mass=5.0, inertia=(0.04, 0.04, 0.05))
    system.add_joint(nx.Revolute("bearing", system.ground, crank, at=(0, 0, 0), axis=(0, 0, 1), v0=10.0))
    for k in range(cylinders):
        bank, throw = np.pi / 2 + (-1.0) ** (k + 1) * np.pi / 6, 2 * np.pi * (k // 2) / 3
        pin = np.array([THROW * np.cos(throw), THROW * np.sin(throw), 0.1 * k])
        bore = np.array([np.cos(bank), np.sin(bank), 0.0])
        along = pin @ bore
        aside = pin[:2] - along * bore[:2]
        head = (along + np.sqrt(ROD**2 - aside @ aside)) * bore + np.array([0.0, 0.0, 0.1 * k])
        angle = np.arctan2(*(head - pin)[1::-1])
        rod = system.add_body(
            f"rod{k}", mass=0.5, inertia=(1e-4, 2e-3, 2e-3), position=tuple((pin + head) / 2),
            orientation=(np.cos(angle / 2), 0, 0, np.sin(angle / 2)),
        )  # fmt: skip
        piston = system.add_body(f"piston{k}", mass=0.6, inertia=(1e-3, 1e-3, 1e-3), position=tuple(head))
        system.add_joint(nx.Revolute(f"big end {k}", crank, rod, at=tuple(pin), axis=(0, 0, 1)))
        system.add_joint(nx.Revolute(f"small end {k}", rod, piston, at=tuple(head), axis=(0, 0, 1)))
        system.add_joint(nx.Prismatic(f"bore {k}", system.ground, piston, at=tuple(head), axis=tuple(bore)))
    system.add_force(nx.JointForce("gas", "bearing", 20.0))
    return system


def end(method: Any, t_end: float = T, cylinders: int = 6) -> tuple[float, float]:
    """Angle and speed of the crankshaft at the end; constraints hold in what is recorded on the way."""
    result = nx.simulate(engine(cylinders), t_end, method, output_every=100)
    assert result.status == "finished"
    assert result.recording.violation.max() < 1e-8
    return float(result.joint_position("bearing")[-1]), float(result.joint_velocity("bearing")[-1])


@pytest.fixture(scope="module")
def exact() -> tuple[float, float]:
    return end(nx.RungeKutta4(dt=5e-5))


@pytest.mark.parametrize(
    "method",
    [nx.Projection(dt=1e-4), nx.Partitioning(dt=1e-4), nx.Partitioning(rtol=1e-10), nx.Baumgarte(dt=5e-5), nx.DormandPrince(rtol=1e-10)],
    ids=lambda m: repr(m).split(", atol")[0],
)  # fmt: skip
def test_explicit_methods_agree_on_a_six_cylinder_engine(method: Any, exact: tuple[float, float]) -> None:
    np.testing.assert_allclose(end(method), exact, rtol=1e-8)


@pytest.mark.parametrize(
    "method", [lambda dt: nx.HHT(dt=dt), lambda dt: nx.ImplicitEuler(dt, bdf2=True)], ids=["hht", "bdf2"]
)
def test_implicit_methods_have_order_two_there_and_none_stops_where_its_step_is_smaller(
    method: Any, exact: tuple[float, float]
) -> None:
    errors = [abs(end(method(dt))[0] - exact[0]) for dt in (4e-4, 2e-4, 1e-4, 2e-5)]
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.15)
    assert errors[3] < 0.1 * errors[2]


@pytest.mark.slow
def test_stabilised_equations_run_to_high_speeds_with_the_engine() -> None:
    """28 turns, to 345 rad/s."""
    found = end(nx.Baumgarte(rtol=1e-10), 1.0)
    np.testing.assert_allclose(found, end(nx.DormandPrince(rtol=1e-10), 1.0), rtol=1e-7)
    assert found[1] > 300.0


@pytest.mark.parametrize(
    "method", [nx.Partitioning(dt=1e-4), nx.Partitioning(rtol=1e-10)], ids=lambda m: repr(m).split(", atol")[0]
)
def test_partitioned_coordinates_run_with_one_cylinder_alone(method: Any) -> None:
    """Past 0.152 s."""
    np.testing.assert_allclose(end(method, 0.4, cylinders=1), end(nx.RungeKutta4(dt=5e-5), 0.4, cylinders=1), rtol=1e-7)


@pytest.mark.parametrize("dt", [1e-4, 5e-5, 2e-5])
def test_bdf2_runs_past_where_it_would_stop_for_short_steps(dt: float) -> None:
    """Past 0.406 s, at its order."""
    exact = end(nx.RungeKutta4(dt=1e-4), 0.45)
    np.testing.assert_allclose(end(nx.ImplicitEuler(dt, bdf2=True), 0.45), exact, rtol=7e-5 * (dt / 1e-4) ** 2 + 1e-8)

"""Mechanisms whose rows repeat each other, others in other poses: the same motion by every method of absolute coordinates."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx

METHODS = (
    nx.HHT(dt=2e-4), nx.HHT(rtol=1e-8), nx.Projection(rtol=1e-9), nx.Projection(dt=1e-3), nx.Baumgarte(dt=1e-3),
    nx.Partitioning(rtol=1e-9), nx.Partitioning(dt=1e-3), nx.Baumgarte(rtol=1e-9),
)  # fmt: skip
ACCURACY = {"hht": 2e-5, "projection": 1e-8, "baumgarte": 1e-5, "partitioning": 1e-8}


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_bennetts_linkage_ends_where_minimal_coordinates_end(method: Any) -> None:
    system = nx.load("bennett")
    expected = nx.simulate(system, 5.0, nx.RungeKutta4(1e-3), output_every=5000)
    result = nx.simulate(system, 5.0, method)
    for joint in system.joints:
        end = result.joint_position(joint).values[-1]
        assert end == pytest.approx(expected.joint_position(joint).values[-1], abs=5 * ACCURACY[method.name]), joint
    assert result.recording.violation.max() < (1e-6 if method.name == "baumgarte" else 1e-10)
    assert result.energy_drift < 10 * ACCURACY[method.name]
    assert result.recording.settings["choices"] > 0


@pytest.mark.parametrize("solver", ["lu", "iterative"])
def test_bennetts_linkage_ends_there_with_other_solvers_or_they_stop(solver: Any) -> None:
    system = nx.load("bennett")
    expected = nx.simulate(system, 5.0, nx.RungeKutta4(1e-3), output_every=5000)
    try:
        result = nx.simulate(system, 5.0, nx.HHT(dt=1e-3, solver=solver), output_every=500)
    except nx.SolveError as error:
        assert solver == "iterative" and "does not converge at t = " in str(error)
        return
    for joint in system.joints:
        end = result.joint_position(joint).values[-1]
        assert end == pytest.approx(expected.joint_position(joint).values[-1], abs=1e-4), joint


@pytest.mark.parametrize(
    ("bdf2", "order", "within"), [(False, 0.9, 0.04), (True, 1.9, 1e-5)], ids=["order 1", "order 2"]
)
def test_bennetts_linkage_ends_there_under_implicit_euler_as_dt_shrinks(
    bdf2: bool, order: float, within: float
) -> None:
    system = nx.load("bennett")
    expected = nx.simulate(system, 5.0, nx.RungeKutta4(1e-3), output_every=5000)
    apart = []
    for dt in (5e-4, 2.5e-4):
        result = nx.simulate(system, 5.0, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=100)
        assert result.recording.violation.max() < 1e-10
        apart.append(
            max(
                abs(float(result.joint_position(joint)[-1]) - float(expected.joint_position(joint)[-1]))
                for joint in system.joints
            )
        )
    assert apart[1] < within
    assert np.log2(apart[0] / apart[1]) > order


@pytest.mark.parametrize("method", [METHODS[0], METHODS[3], METHODS[5]], ids=repr)
def test_events_and_a_second_run_go_on_with_rows_chosen_anew(method: Any) -> None:
    system = nx.load("bennett")
    expected = nx.simulate(system, 4.0, method).position("link2").values[-1]
    first = nx.simulate(system, 2.0, method)
    assert first.recording.settings["choices"] > 0
    second = nx.simulate(system, 4.0, method, initial=first)
    assert_allclose(second.position("link2").values[-1], expected, rtol=0, atol=2e-5 if method.name == "hht" else 1e-8)
    # reactions are another choice among many there, what they do is the same
    assert_allclose(
        second.acceleration("link2").values[0], first.acceleration("link2").values[-1], rtol=1e-3, atol=1e-3
    )
    system.add_event(nx.Event("turn", joint="J1", of="velocity"))
    watched = nx.simulate(system, 4.0, method)
    assert len(watched.recording.settings["events"]) > 1
    assert_allclose(watched.position("link2").values[-1], expected, rtol=0, atol=2e-5 if method.name == "hht" else 1e-7)


def bennett(rng: np.random.Generator) -> nx.System:
    """Links of lengths a, b and twists α, β with sin α / a = sin β / b; tan ½θ₁ tan ½θ₂ = sin ½(β + α) / sin ½(β − α)."""
    alpha, beta = np.sort(rng.uniform(0.3, 1.4, 2))
    a = rng.uniform(0.5, 1.5)
    b = a * np.sin(beta) / np.sin(alpha)
    theta1 = rng.uniform(0.8, 2.4)
    theta2 = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(theta1 / 2))
    system = nx.System("Bennett", gravity=tuple(rng.uniform(-7.0, 7.0, 3)))
    R, p = np.eye(3), np.zeros(3)
    axes, points = [], []
    for theta, length, twist in ((theta1, a, alpha), (theta2, b, beta), (-theta1, a, alpha), (-theta2, b, beta)):
        axes.append(R[:, 2])
        points.append(p)
        c, s = np.cos(theta), np.sin(theta)
        R = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        p = p + length * R[:, 0]
        c, s = np.cos(twist), np.sin(twist)
        R = R @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    assert_allclose(p, 0.0, atol=1e-12)
    for k in range(3):
        system.add_body(
            f"link{k}", mass=rng.uniform(0.5, 2.0), inertia=rng.uniform(0.1, 0.15, 3),
            position=(points[k] + points[k + 1]) / 2,
        )  # fmt: skip
    ends = ["ground", "link0", "link1", "link2"]
    for k in range(4):
        parent, child = (ends[k], ends[k + 1]) if k < 3 else ("ground", "link2")
        start = {"v0": 1.0} if k == 0 else {}
        system.add_joint(nx.Revolute(f"J{k}", parent, child, at=points[k], axis=axes[k], **start))
    return system


@pytest.mark.parametrize("seed", range(4))
def test_random_bennett_linkages_move_alike(seed: int) -> None:
    system = bennett(np.random.default_rng(seed))
    times = np.linspace(0.5, 3.0, 6)
    results = [nx.simulate(system, 3.0, m, output_times=times) for m in (METHODS[0], METHODS[2], METHODS[5])]
    expected = results[1]
    assert expected.energy_drift < 1e-7
    for result, within in zip(results, (1e-4, 1e-9, 1e-6), strict=True):
        for joint in system.joints:
            assert_allclose(
                result.joint_position(joint).values, expected.joint_position(joint).values, rtol=0, atol=within
            )
        assert result.recording.violation.max() < 1e-10


@pytest.mark.parametrize("seed", range(4))
def test_so_do_they_under_baumgarte_and_bdf2(seed: int) -> None:
    system = bennett(np.random.default_rng(seed))
    times = np.linspace(0.5, 3.0, 6)
    expected = nx.simulate(system, 3.0, nx.Projection(rtol=1e-10, atol=1e-12), output_times=times)

    def miss(method: Any) -> tuple[float, float]:
        """Of the angles, and the largest violation."""
        result = nx.simulate(system, 3.0, method, output_times=times)
        off = [result.joint_position(joint).values - expected.joint_position(joint).values for joint in system.joints]
        return float(np.abs(off).max()), float(result.recording.violation.max())

    for method, within in ((nx.Baumgarte(rtol=1e-9), 1e-9), (nx.Baumgarte(dt=1e-3), 1e-8)):
        off, violation = miss(method)
        assert off < within
        assert violation < 1e-9
    (coarse, _), (fine, violation) = (miss(nx.ImplicitEuler(dt, bdf2=True)) for dt in (5e-4, 2.5e-4))
    assert fine < 4e-5
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)
    assert violation < 1e-14


@pytest.mark.parametrize("method", [nx.Partitioning(rtol=1e-9), nx.Partitioning(dt=1e-3), nx.HHT(dt=1e-3)], ids=repr)
def test_shafts_turn_round_in_a_hooke_joint(method: Any) -> None:
    """tan θ₂ = tan θ₁ cos β at an angle β; two of them together pass the turn on as it is."""
    one = nx.simulate(mechanisms.hooke(np.radians(40.0), 2), 4.0, method, output_every=10)
    turned, out = (one.joint_position(name).values for name in ("in", "out"))
    assert np.ptp(turned) > 2 * np.pi
    assert_allclose(np.sin(out) * np.cos(turned), np.cos(out) * np.sin(turned) * np.cos(np.radians(40.0)), atol=1e-9)
    assert one.energy_drift < (1e-4 if method.name == "hht" else 1e-7)
    two = nx.simulate(mechanisms.hooke(np.radians(80.0), 3), 4.0, method, output_every=10)
    assert_allclose(two.joint_position("out").values, two.joint_position("in").values, atol=1e-8)
    assert np.ptp(two.joint_position("out").values) > 2 * np.pi


def vibrating() -> nx.System:
    system = nx.System("pendulum on a vibrating pivot", gravity=(0, 0, -9.81))
    system.add_body("pivot", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0))
    system.add_body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.6, 0, -0.8))
    system.add_joint(nx.Prismatic("slide", "ground", "pivot", at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("hinge", "pivot", "bob", at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_driver(nx.Driver("shaker", "slide", "=0.1*sin(20*t)"))
    return system


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-9, 1e-10, 1e-11])
def test_projection_keeps_to_drivers_between_the_times_that_are_asked_for(rtol: float) -> None:
    """To the tolerance, which is 1e-9 from the third on, and the end is where a run ends that is not asked."""
    system, times = vibrating(), np.linspace(0.0, 2.0, 401)
    exact = nx.simulate(system, 2.0, nx.DOP853(rtol=1e-13, atol=1e-15), output_times=times)
    within = max(rtol, 1e-9 if rtol < 1e-8 else 0.0)
    asked, every = (nx.simulate(system, 2.0, nx.Projection(rtol=rtol), **how) for how in ({"output_times": times}, {}))
    assert_allclose(asked.joint_position("slide").values, 0.1 * np.sin(20 * times), rtol=0, atol=within)
    assert_allclose(asked.joint_position("hinge").values, exact.joint_position("hinge").values, rtol=0, atol=within)
    end = every.joint_position("hinge").values[-1]
    assert_allclose(asked.joint_position("hinge").values[-1], end, rtol=0, atol=1e-3 * rtol)


def light_cart(at: tuple[float, float, float], v0: float) -> nx.System:
    """A cart of 1 mg with a pole that has no inertia about its centre of mass, so that the matrix lends it some."""
    system = nx.System("cart-pole", gravity=(0, 0, -9.81))
    system.add_body("cart", mass=1e-6, inertia=(1e-6, 1e-6, 1e-6))
    system.add_body("tip", mass=1.0, inertia=(0, 0, 0), position=at)
    system.add_joint(nx.Prismatic("slide", "ground", "cart", axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("hinge", "cart", "tip", at=(0, 0, 0), axis=(0, 1, 0), v0=v0))
    return system


@pytest.mark.parametrize("family", [nx.Baumgarte, nx.Projection, nx.Partitioning], ids=lambda f: f.name)
def test_a_light_cart_with_a_pole_keeps_its_energy(family: Any) -> None:
    falling = nx.simulate(light_cart((1.0, 0.0, 0.0), 0.0), 1.0, family(rtol=1e-12, atol=1e-14))
    assert falling.energy_drift < 1e-10  # as a tree's
    hanging = light_cart((0.0, 0.0, -1.0), 1.0)
    fine = nx.simulate(hanging, 0.1, nx.RungeKutta4(2.5e-6), output_every=40).joint_position("hinge").values
    miss = []
    for dt in (1e-5, 5e-6):  # 50 swings of 2 ms
        found = nx.simulate(hanging, 0.1, family(dt), output_every=round(1e-4 / dt)).joint_position("hinge").values
        miss.append(np.abs(found - fine).max() / np.abs(fine).max())
    assert miss[0] < 1e-5
    assert np.log2(miss[0] / miss[1]) > 3.8
    adaptive = nx.simulate(hanging, 0.1, family(rtol=1e-10))  # whose first step is far too long
    assert_allclose(adaptive.joint_position("hinge").values[-1], fine[-1], rtol=1e-5)


def test_partitioned_coordinates_follow_a_rotor_on_an_axis_askew() -> None:
    """Free of errors, adaptive steps grow to many turns, in which the dependent coordinates of an axis askew were not found."""
    system = nx.System("askew", gravity=(0.0, 0.0, 0.0))
    system.add_body("rotor", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("hinge", "ground", "rotor", axis=(1.0, 2.0, -0.7), v0=200.0))
    result = nx.simulate(system, 5.0, nx.Partitioning(), output_every=10**9)
    assert float(result.joint_position("hinge")[-1]) == pytest.approx(1000.0, rel=1e-9)


def test_partitioned_coordinates_follow_what_slides_far() -> None:
    """A hundred kilometres beside a body of a metre: rows are rounded as numbers of that size."""
    system = nx.System("slid", gravity=(0.0, 0.0, 0.0))
    system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Prismatic("slide", "ground", "b", axis=(1.0, 2.0, -0.7), q0=1e5, v0=200.0))
    result = nx.simulate(system, 1.0, nx.Partitioning(dt=1e-3), output_every=10**9)
    assert float(result.joint_position("slide")[-1]) == pytest.approx(1e5 + 200.0, rel=1e-12)

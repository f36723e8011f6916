"""How loops on a tree are kept closed: the three regimes of Baumgarte's stabilisation, projection, and the drift without either."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
import regular_problems
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.integrate.stabilised import Damping, growth, rate
from nexdyn.problems.andrews import andrews


def closed_form(t: np.ndarray, C0: float, alpha: float, beta: float) -> np.ndarray:
    """C of C̈ + 2 α Ċ + β² C = 0 from C₀ at rest."""
    if alpha < beta:
        w = np.sqrt(beta**2 - alpha**2)
        return C0 * np.exp(-alpha * t) * (np.cos(w * t) + alpha / w * np.sin(w * t))
    if alpha == beta:
        return C0 * np.exp(-alpha * t) * (1 + alpha * t)
    r = np.sqrt(alpha**2 - beta**2)
    fast, slow = alpha + r, alpha - r
    return C0 * (fast * np.exp(-slow * t) - slow * np.exp(-fast * t)) / (fast - slow)


def violation(alpha: float, beta: float, t_end: float = 1.0, dt: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """(t, C) of a four-bar that starts with its loop open by 1 cm, at rest."""
    closed = nx.ClosedTree(mechanisms.four_bar())
    q, v = closed.tree.described(), np.zeros(3)
    q[closed.tree.coordinates["A"].q] += 0.01
    tau = np.zeros(3)

    def f(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return closed.dynamics(q, v, tau, alpha=alpha, beta=beta).a

    seen = []
    for _ in range(round(t_end / dt)):
        seen.append(closed.residual(q)[:2])
        # revolute joints alone: RK4 on (q, v)
        a1 = f(q, v)
        a2 = f(q + 0.5 * dt * v, v + 0.5 * dt * a1)
        a3 = f(q + 0.5 * dt * (v + 0.5 * dt * a1), v + 0.5 * dt * a2)
        a4 = f(q + dt * (v + 0.5 * dt * a2), v + dt * a3)
        q, v = q + dt * v + dt * dt / 6 * (a1 + a2 + a3), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return dt * np.arange(len(seen)), np.array(seen)


@pytest.mark.parametrize(
    ("alpha", "beta"), [(2.0, 10.0), (10.0, 10.0), (25.0, 10.0)], ids=["under", "critical", "over"]
)
def test_a_violation_dies_as_the_damped_oscillator_that_was_asked_for(alpha: float, beta: float) -> None:
    t, C = violation(alpha, beta)
    for k in range(2):
        assert_allclose(C[:, k], closed_form(t, C[0, k], alpha, beta), atol=1e-7)
    turns = int((np.diff(np.sign(C[:, 0])) != 0).sum())
    assert turns >= 2 if alpha < beta else turns == 0


def test_critical_damping_is_the_fastest_without_oscillation() -> None:
    ends = {alpha: float(np.abs(violation(alpha, 10.0, 0.8)[1][-1]).max()) for alpha in (10.0, 25.0)}
    assert ends[10.0] < 0.2 * ends[25.0]


G = np.array([0.0, 0.0, -9.81])


def test_alpha_and_beta_are_given_or_follow_the_motion() -> None:
    """−1 stands for the default, which is 1/dt at most."""

    def of(loops: nx.Loops, method: Any) -> list[float]:
        return loops.damping(method, G, 2.0, False).tolist()

    motion = [9.81 / 2.0, 2.0]
    assert of(nx.Loops("baumgarte"), nx.RungeKutta4(0.01)) == [-1.0, -1.0, *motion, 100.0]
    assert of(nx.Loops("baumgarte"), nx.ExplicitEuler(0.01)) == [50.0, 50.0, *motion, 50.0]
    assert of(nx.Loops("baumgarte"), nx.DormandPrince()) == [-1.0, -1.0, *motion, np.inf]
    assert of(nx.Loops("baumgarte", alpha=3.0), nx.RungeKutta4(0.01)) == [3.0, 3.0, *motion, 100.0]
    assert of(nx.Loops("baumgarte", alpha=3.0, beta=5.0), nx.RungeKutta4(0.01)) == [3.0, 5.0, *motion, 100.0]
    assert of(nx.Loops(), nx.RungeKutta4(0.01))[:2] == [0.0, 0.0]
    assert nx.Baumgarte(0.01, beta=5.0).damping(G, 2.0, False).tolist() == [-1.0, 5.0, *motion, 100.0]
    assert nx.Baumgarte().damping(G, 2.0, False).tolist() == [-1.0, -1.0, *motion, np.inf]


def rate_of(numbers: np.ndarray, squared: float) -> float:
    """The rate by default, of the numbers of a method's damping."""
    return float(getattr(rate, "py_func", rate)(Damping(numbers), squared))


@pytest.mark.parametrize("squared", [0.0, 0.3, 1e3, 1e9])
def test_by_default_violations_die_six_times_as_fast_as_the_motion_or_as_fast_as_the_step_allows(
    squared: float,
) -> None:
    pace = 6.0 * np.sqrt(9.81 / 2.0 + squared)
    free, held = (rate_of(m.damping(G, 2.0, False), squared) for m in (nx.Baumgarte(), nx.Baumgarte(dt=0.01)))
    assert_allclose(free, pace, rtol=1e-14)
    assert_allclose(held, pace / np.hypot(1.0, pace / 100.0), rtol=1e-14)


def test_with_time_in_other_units_the_default_follows() -> None:
    slow, fast = (m.damping(G * s * s, 2.0, False) for s, m in ((1.0, nx.Baumgarte(0.01)), (1e3, nx.Baumgarte(1e-5))))
    assert_allclose(rate_of(fast, 7.0e6), 1e3 * rate_of(slow, 7.0), rtol=1e-14)


LIMITS = {
    nx.SemiImplicitEuler: (0.5, 2 * np.sqrt(2) - 2, 1.0),
    nx.ExplicitEuler: (0.5, 2.0, 1.0),
    nx.RungeKutta4: (1.0, 2.785293563, 1.392646782),
}
"""Of α dt = β dt: the most by default, and from where violations of positions and of velocities grow."""


@pytest.mark.parametrize("method", LIMITS)
def test_violations_die_by_default_and_from_where_they_grow_is_known(method: type[nx.RungeKutta4]) -> None:
    default, *limits = LIMITS[method]
    one, tableau = method(0.01), getattr(method, "tableau", None)
    assert nx.Loops("baumgarte").damping(one, G, 1.0, True)[-1] == 100.0 * default
    for of_velocities, limit in zip((False, True), limits, strict=True):
        assert growth(tableau, 0.01, 100.0 * default, 100.0 * default, of_velocities) < 0.7501
        below, above = (
            growth(tableau, 0.01, 100.0 * limit * x, 100.0 * limit * x, of_velocities) for x in (1.0 - 1e-6, 1.0 + 1e-6)
        )
        assert below < 1.0 < above < 1.0001
    # β alone neither damps nor, weak as it is, does harm; α alone leaves what is there
    nx.Loops("baumgarte", alpha=0.0, beta=5.0).damping(method(1e-4), G, 1.0, True)
    assert growth(tableau, 0.01, 20.0, 0.0) == pytest.approx(1.0, abs=1e-12)
    nx.Loops("baumgarte", alpha=20.0, beta=0.0).damping(one, G, 1.0, True)
    nx.Loops("baumgarte", alpha=0.0, beta=0.0).damping(one, G, 1.0, True)


def test_values_under_which_violations_grow_are_refused() -> None:
    four_bar, coin = mechanisms.four_bar(), nx.load("rolling-coin")
    with pytest.raises(
        nx.InputError,
        match=r"alpha = 300 1/s and beta = 300 1/s of Loops violations of positions grow \d.* in ten steps of 0.01 s",
    ):
        nx.simulate(four_bar, 0.1, nx.RungeKutta4(0.01), loops=nx.Loops("baumgarte", alpha=300.0))
    with pytest.raises(
        nx.InputError,
        match=r"alpha = 50 1/s \(the most by default\) and beta = 300 1/s of Loops .* which takes 50 1/s at most",
    ):
        nx.simulate(four_bar, 0.1, nx.SemiImplicitEuler(0.01), loops=nx.Loops("baumgarte", beta=300.0))
    with pytest.raises(nx.InputError, match=r"alpha = 500 1/s and beta = 100 1/s \(the most by default\) of Baumgarte"):
        nx.simulate(four_bar, 0.1, nx.Baumgarte(dt=0.01, alpha=500.0))
    for method, loops in (
        (nx.RungeKutta4(1e-3), nx.Loops("baumgarte", alpha=2e3)),
        (nx.Baumgarte(1e-3, alpha=2e3, beta=2e3), None),
    ):
        with pytest.raises(nx.InputError, match="violations of velocities grow"):
            nx.simulate(coin, 0.01, method, loops=loops)
    for huge in (1e100, 1e200):
        for method in (nx.SemiImplicitEuler(0.01), nx.ExplicitEuler(0.01), nx.RungeKutta4(0.01)):
            with pytest.raises(nx.InputError, match="grow inf times"):
                nx.Loops("baumgarte", alpha=huge).damping(method, G, 1.0, False)


@pytest.mark.parametrize("method", [nx.SemiImplicitEuler, nx.ExplicitEuler, nx.RungeKutta4])
def test_violations_stay_small_over_a_long_run_under_the_default(method: type[nx.SemiImplicitEuler]) -> None:
    result = nx.simulate(mechanisms.four_bar(), 2.0, method(1e-3), loops=nx.Loops("baumgarte"), output_every=10)
    C = result.recording.violation
    assert C[100:].max() < 2 * C[:100].max() < 1e-3


@pytest.mark.filterwarnings("ignore:the constraints are violated:nexdyn.NexDynWarning")
def test_without_stabilisation_loops_drift_and_either_way_holds_them() -> None:
    method = nx.RungeKutta4(0.01)
    found = {
        how: nx.simulate(mechanisms.four_bar(), 10.0, method, loops=nx.Loops(how), output_every=10).recording.violation
        for how in (None, "baumgarte", "projection")
    }
    drift, half = found[None], len(found[None]) // 2
    assert drift[-1] > 2 * drift[half] > 1e-4  # it grows
    assert found["baumgarte"].max() < 0.1 * drift[-1]
    assert found["baumgarte"][half:].max() < 2 * found["baumgarte"][:half].max()  # that does not
    assert found["projection"].max() < 1e-11


def test_adaptive_steps_keep_loops_closed() -> None:
    exact = nx.simulate(mechanisms.four_bar(), 2.0, nx.DormandPrince(rtol=1e-11, atol=1e-13), output_every=10**6)
    for how, most in (("projection", 1e-11), ("baumgarte", 1e-7)):
        result = nx.simulate(mechanisms.four_bar(), 2.0, nx.DormandPrince(), loops=nx.Loops(how))
        assert result.recording.violation.max() < most
        assert_allclose(result.position("coupler")[-1], exact.position("coupler")[-1], atol=1e-6)


@pytest.mark.parametrize("how", ["projection", "baumgarte"])
def test_runge_kutta_keeps_its_order_beside_the_stabilisation(how: str) -> None:
    exact = nx.simulate(mechanisms.four_bar(), 0.5, nx.DormandPrince(rtol=1e-12, atol=1e-14), output_every=10**6)
    errors = []
    for dt in (0.02, 0.01, 0.005):
        result = nx.simulate(mechanisms.four_bar(), 0.5, nx.RungeKutta4(dt), loops=nx.Loops(how), output_every=10**6)
        errors.append(float(np.abs((result.position("coupler")[-1] - exact.position("coupler")[-1]).values).max()))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.5).all(), (errors, orders)


def test_first_order_methods_go_with_loops_too() -> None:
    exact = nx.simulate(mechanisms.four_bar(), 0.2, nx.RungeKutta4(1e-3), output_every=10**6)
    for method in (nx.SemiImplicitEuler, nx.ExplicitEuler):
        errors = []
        for dt in (2e-3, 1e-3):
            result = nx.simulate(mechanisms.four_bar(), 0.2, method(dt), output_every=10**6)
            assert result.recording.violation.max() < 1e-11
            errors.append(float(np.abs((result.position("coupler")[-1] - exact.position("coupler")[-1]).values).max()))
        assert 1.7 < errors[0] / errors[1] < 2.3


WAYS = {
    "bodies": lambda dt: {"method": nx.Baumgarte(dt)},
    "loops": lambda dt: {"method": nx.RungeKutta4(dt), "loops": nx.Loops("baumgarte")},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("problem", ["hooke", "andrews"])
def test_the_default_takes_no_order_away(problem: str, way: str) -> None:
    """Down to 1e-9 or less."""
    make, t_end, coordinate, steps, method = {
        "hooke": (
            lambda: mechanisms.hooke(np.radians(40.0), 2),
            2.0,
            "in",
            (5e-3, 2.5e-3, 1.25e-3),
            nx.Projection(1e-4),
        ),
        "andrews": (andrews, 0.005, "A7", (2e-5, 1e-5, 5e-6), nx.RungeKutta4(1e-6)),
    }[problem]

    def end(**how: Any) -> float:
        return float(nx.simulate(make(), t_end, output_every=10**6, **how).joint_position(coordinate).values[-1])

    exact = end(method=method)
    errors = np.array([abs(end(**WAYS[way](dt)) - exact) for dt in steps])
    assert (np.log2(errors[:-1] / errors[1:]) > 3.8).all(), errors
    assert errors[-1] < 1e-9


@pytest.mark.parametrize("way", WAYS)
def test_reactions_converge_as_positions_do(way: str) -> None:
    """A pendulum from the horizontal, 1 kg on 2 m, bears 25.9035 N after a second; a Hooke joint's shaft, whose moments are not
    unique, what minimal coordinates make of them."""
    make, joint, exact = {
        "bodies": (regular_problems.pendulum, "hinge", {"method": nx.Projection(rtol=1e-12, atol=1e-14)}),
        "loops": (lambda: mechanisms.hooke(0.7, 2), "out", {"method": nx.RungeKutta4(2.5e-4)}),
    }[way]
    first = 0 if way == "bodies" else 3

    def load(**how: Any) -> float:
        reaction = nx.simulate(make(), 1.0, output_every=10**6, **how).reaction(joint).values[-1]
        return float(np.linalg.norm(reaction[first : first + 3]))

    expected = load(**exact)
    if way == "bodies":
        assert_allclose(expected, 25.9035, atol=1e-4)
    errors = np.array([abs(load(**WAYS[way](dt)) - expected) for dt in (0.01, 0.005, 0.0025)])
    assert (np.log2(errors[:-1] / errors[1:]) > 3.7).all(), errors

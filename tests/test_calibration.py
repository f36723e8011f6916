"""Sensitivities of runs and calibration: closed forms, the variational equation, planted parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import systems
from scipy.integrate import solve_ivp

import nexdyn as nx

RK4 = nx.RungeKutta4(1e-2)


def oscillator() -> nx.System:
    """m ẍ + c ẋ + k x = 0 along z, x(0) = 0.3, v(0) = 0.1."""
    system = nx.System("oscillator", gravity=(0, 0, 0))
    m, c, k = system.parameter("m", 2.0), system.parameter("c", 0.4), system.parameter("k", 9.0)
    block = system.add_body("block", mass=m)
    system.add_joint(
        nx.Prismatic(
            "slide", system.ground, block, at=(0, 0, 0), axis=(0, 0, 1), stiffness=k, damping=c, q0=0.3, v0=0.1
        )
    )
    return system


def solution(t: np.ndarray, m: Any, c: Any, k: Any, x0: Any, v0: Any) -> Any:
    """x(t) of the oscillator, in closed form, also for complex numbers."""
    a, w = c / (2 * m), np.sqrt(k / m - (c / (2 * m)) ** 2)
    return np.exp(-a * t) * (x0 * np.cos(w * t) + (v0 + a * x0) / w * np.sin(w * t))


def test_sensitivities_of_an_oscillator_are_those_of_its_closed_form() -> None:
    found = nx.sensitivity(
        oscillator(), 2.0, ["m", "c", "k", "slide.q0", "slide.v0"], initial_state=True, method=nx.RungeKutta4(1e-3)
    )
    x = found.of("joint_position.slide")
    t, p = x["time"].to_numpy(), np.array([2.0, 0.4, 9.0, 0.3, 0.1])
    step = 1e-30
    exact = [np.imag(solution(t, *(p + step * 1j * e))) / step for e in np.eye(5)]  # by complex step
    for name, expected in zip(["m", "c", "k", "slide.q0", "slide.v0"], exact, strict=True):
        np.testing.assert_allclose(x.sel(parameter=name), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(x.sel(parameter="q0.slide"), exact[3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(x.sel(parameter="v0.slide"), exact[4], rtol=0, atol=1e-9)
    assert max(x.attrs["error"]) < 1e-5
    assert x.attrs["units"] == "m per unit"


def test_sensitivities_to_the_initial_state_obey_the_variational_equation() -> None:
    # δq̇ = δv,  δv̇ = ∂a/∂q δq + ∂a/∂v δv, with the analytic derivatives of forward dynamics
    system = systems.random_system(3, ["revolute", "helical", "universal", "prismatic"], reach=1)
    tree = nx.Tree(system)
    n = tree.nv
    q, v = 0.3 * np.ones(n), 0.2 * np.ones(n)

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        q, v, D = y[:n], y[n : 2 * n], y[2 * n :].reshape(2 * n, 2 * n)
        by = tree.aba_derivatives(q, v, np.zeros(n))
        D_dot = np.concatenate([D[n:], by.q @ D[:n] + by.v @ D[n:]])
        return np.concatenate([v, tree.aba(q, v, np.zeros(n)), D_dot.ravel()])

    y = np.concatenate([q, v, np.eye(2 * n).ravel()])
    exact = solve_ivp(rate, (0.0, 0.5), y, method="DOP853", rtol=1e-12, atol=1e-12).y[2 * n :, -1].reshape(2 * n, 2 * n)
    found = nx.sensitivity(system, 0.5, initial_state=True, method=nx.RungeKutta4(5e-4), q0=q, v0=v)
    for j, name in enumerate(found.result.observed.labels.dims["freedom"]):
        for row, quantity in ((j, "joint_position"), (n + j, "joint_velocity")):
            column = found.of(f"{quantity}.{name}")[-1].to_numpy()
            np.testing.assert_allclose(column, exact[row], rtol=0, atol=1e-8 * max(1.0, np.abs(exact).max()))


def test_sensitivities_move_quaternions_on_the_manifold() -> None:
    # ω of a body turning freely about its symmetric inertia stays; its place moves with the initial velocity
    system = nx.System("free", gravity=(0, 0, 0))
    system.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    found = nx.sensitivity(system, 1.0, initial_state=True, method=RK4, v0={"ball": [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]})
    assert found.names[0] == "q0.ball.wx" and found.names[-1] == "v0.ball.vz"
    x = found.of("position.ball.x")[-1]
    assert x.sel(parameter="q0.ball.vx") == pytest.approx(1.0, abs=1e-9)
    speed = found.of("velocity.ball.y")
    assert float(np.abs(speed.sel(parameter="v0.ball.vy")[0] - 1.0)) < 1e-9


def test_a_parameter_that_cannot_go_below_its_value_is_differentiated_from_above() -> None:
    system = oscillator().with_parameters({"c": 0.0})
    with pytest.raises(nx.InputError):
        system.with_parameters({"slide.damping": -1e-3})
    x = nx.sensitivity(system, 1.0, ["slide.damping"], method=nx.RungeKutta4(1e-3)).of("joint_position.slide")
    t = x["time"].to_numpy()
    exact = np.imag(solution(t, 2.0, 1e-30j, 9.0, 0.3, 0.1)) / 1e-30
    np.testing.assert_allclose(x[:, 0], exact, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"parameters": ["blok.mass"]}, "did you mean 'block"),
        ({"parameters": ["block.com"]}, "has 3 components; name one, like block.com[0]"),
        ({"parameters": ["block.com[7]"]}, "has 3 components"),
        ({"parameters": []}, "nothing to differentiate by"),
        ({"parameters": ["m", "m"]}, "each may be named once"),
        ({"parameters": ["m"], "scale": {"m": -1.0}}, "scale of 'm' is -1"),
    ],
)
def test_what_cannot_be_differentiated_is_refused_with_reason(given: Any, said: str) -> None:
    with pytest.raises(nx.InputError) as caught:
        nx.sensitivity(oscillator(), 0.1, method=RK4, **given)
    assert said in str(caught.value)


# --- calibration ------------------------------------------------------------------------------------------------------

TRUTH = {"c": 0.55, "k": 11.0}


def measured(seed: int, sigma: float = 0.01, count: int = 60) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    t = np.linspace(0.05, 3.0, count)
    return {
        "time": t,
        "joint_position.slide": solution(t, 2.0, TRUTH["c"], TRUTH["k"], 0.3, 0.1) + sigma * rng.normal(size=count),
    }


def test_planted_parameters_are_recovered_from_noisy_data() -> None:
    found = nx.calibrate(oscillator(), measured(1), {"c": (0.0, 5.0), "k": None}, method=RK4)
    for name, value in TRUTH.items():
        low, high = found.intervals[name]
        assert low < value < high and found.standard_errors[name] < 0.1 * value
    assert found.determined and not found.combinations and not found.at_bounds
    assert found.sigma["joint_position.slide"] == pytest.approx(0.01, rel=0.3)
    assert found.system.values["k"] == found.values["k"]
    assert "95% confidence" in str(found) and "k" in str(found)


def test_without_noise_planted_parameters_are_found_exactly() -> None:
    found = nx.calibrate(oscillator(), measured(1, 0.0), ["c", "k", "slide.q0"], method=RK4)
    for name, value in {**TRUTH, "slide.q0": 0.3}.items():
        assert found.values[name] == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("known", [True, False])
def test_intervals_hold_the_truth_as_often_as_they_say(known: bool) -> None:
    # 68 % intervals over 60 draws: the count is binomial, 40.8 ± 3.6; four standard deviations either way are allowed
    system, coarse = oscillator(), nx.RungeKutta4(0.05)
    hits = dict.fromkeys(TRUTH, 0)
    for seed in range(60):
        data = measured(100 + seed, count=25)
        found = nx.calibrate(
            system, data, list(TRUTH), method=coarse, guess=TRUTH, confidence=0.68, sigma=0.01 if known else None
        )
        for name, value in TRUTH.items():
            low, high = found.intervals[name]
            hits[name] += low < value < high
    for name in TRUTH:
        assert 27 <= hits[name] <= 55


def test_what_data_do_not_determine_is_named_with_its_combination() -> None:
    # mass, damping and stiffness of an oscillator scale together
    found = nx.calibrate(oscillator(), measured(2), ["m", "c", "k", "slide.q0"], method=RK4)
    assert not found.determined
    (combination,) = [c for c in found.combinations if not c.determined]
    assert set(combination.parts) == {"m", "c", "k"}
    np.testing.assert_allclose(list(combination.parts.values()), 1.0, rtol=1e-3)
    assert "the data do not determine +1·Δm/m +1·Δc/c +1·Δk/k: what they see stays the same along it" in str(found)
    assert all(np.isinf(found.standard_errors[name]) for name in ("m", "c", "k"))
    assert 0.0 < found.standard_errors["slide.q0"] < 0.02
    # what is determined, the ratio, is right all the same
    assert found.values["k"] / found.values["m"] == pytest.approx(TRUTH["k"] / 2.0, rel=0.02)


def test_what_data_determine_poorly_is_named() -> None:
    data = measured(3, sigma=0.01)
    short = {name: x[:6] for name, x in data.items()}  # 0.3 s: the damping hardly shows
    found = nx.calibrate(oscillator(), short, ["c"], method=RK4, sigma=0.01)
    (combination,) = found.combinations
    assert combination.determined and combination.relative_error > 0.5
    assert "poorly" in str(found)


def test_several_quantities_weigh_by_their_own_scatter() -> None:
    data, rng = measured(4, 0.001), np.random.default_rng(5)
    data["joint_velocity.slide"] = np.gradient(data["joint_position.slide"], data["time"]) + 0.5 * rng.normal(size=60)
    found = nx.calibrate(oscillator(), data, list(TRUTH), method=RK4)
    assert found.sigma["joint_position.slide"] == pytest.approx(0.001, rel=0.5)
    assert found.sigma["joint_velocity.slide"] == pytest.approx(0.5, rel=0.5)
    assert abs(found.values["k"] - TRUTH["k"]) < 4 * found.standard_errors["k"] + 1e-3


def test_a_parameter_at_its_bound_is_told() -> None:
    found = nx.calibrate(oscillator(), measured(6), {"c": None, "k": (1.0, 10.0)}, method=RK4)
    assert found.at_bounds == ["k"] and found.values["k"] == pytest.approx(10.0, rel=1e-6)
    assert "at its bound" in str(found)


def test_data_come_from_a_file_of_a_result_and_from_datasets(tmp_path: Path) -> None:
    result = nx.simulate(oscillator().with_parameters(TRUTH), 1.0, RK4)
    path = tmp_path / "run.csv"
    result.to_csv(path, ["joint_position"])
    from_file = nx.calibrate(oscillator(), path, list(TRUTH), method=RK4)
    dataset = result.joint_position("slide").drop_vars("coordinate").to_dataset(name="joint_position.slide")
    from_dataset = nx.calibrate(oscillator(), dataset, list(TRUTH), method=RK4)
    for name, value in TRUTH.items():
        assert from_file.values[name] == pytest.approx(value, rel=1e-6)
        assert from_dataset.values[name] == pytest.approx(value, rel=1e-6)


GOOD = {"time": [0.1, 0.2, 0.3], "joint_position.slide": [0.3, 0.2, 0.1]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parameters": ["stiffnes"]}, "no parameter or attribute 'stiffnes'"),
        ({"parameters": ["slide.dampin"]}, "did you mean 'damping'"),
        ({"parameters": []}, "parameters are empty"),
        ({"parameters": {"k": (3.0, 1.0)}}, "the first must be below the second"),
        ({"parameters": {"k": 3.0}}, "(low, high) is needed"),
        ({"guess": {"kk": 3.0}}, "guess names kk"),
        ({"parameters": {"k": (8.0, 10.0)}, "guess": {"k": 1.0}}, "outside its bounds"),
        ({"sigma": {"joint_position.slid": 1.0}}, "sigma is of joint_position.slid; data are of joint_position.slide"),
        ({"sigma": 0.0}, "a number above 0 is needed"),
        ({"confidence": 95}, "a number between 0 and 1"),
        ({"data": {**GOOD, "joint_position.slide": [1.0, 2.0]}}, "have shape (2,); (3,) is needed"),
        ({"data": {**GOOD, "time": [0.1, 0.1, 0.2]}}, "increasing strictly"),
        ({"data": {"time": [0.1, 0.2]}}, "no quantity"),
        ({"data": {"x": [1.0]}}, "no 'time'"),
        ({"data": {"time": GOOD["time"], "joint_position.slid": [1.0, 2.0, 3.0]}}, "did you mean 'slide'"),
        ({"data": {"time": GOOD["time"], "positon.block.x": [1.0, 2.0, 3.0]}}, "did you mean 'position'"),
        (
            {"data": {"time": GOOD["time"], "position.block": [1.0, 2.0, 3.0]}},
            "needs a component: one of position.block.x",
        ),
        ({"data": {"time": [0.1, 0.2], "joint_position.slide": [1.0, np.nan]}}, "1 number for 1 parameter"),
        ({"data": 3.0}, "data is float"),
        ({"data": "nowhere.csv"}, "nowhere.csv: cannot be read"),
    ],
)
def test_data_and_parameters_that_do_not_fit_are_refused_with_reason(changes: Any, said: str) -> None:
    given = {"data": GOOD, "parameters": ["k"], "method": RK4} | changes
    with pytest.raises(nx.InputError) as caught:
        nx.calibrate(oscillator(), **given)
    assert said in str(caught.value)


def test_a_file_of_data_that_is_wrong_is_refused_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("time [s],joint_position.slide [m]\n0.1,0.3\n0.2,high\n")
    with pytest.raises(nx.FileError, match=r"data\.csv:3: joint_position\.slide is 'high'; a number is needed"):
        nx.calibrate(oscillator(), path, ["k"], method=RK4)


def test_runs_are_bounded() -> None:
    with pytest.raises(nx.SolveError, match="3 runs were not enough"):
        nx.calibrate(oscillator(), measured(7), ["k"], method=RK4, max_runs=3)

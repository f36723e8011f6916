"""Users' forces with states of their own, under every formulation: a damper and a spring in series, a motor's current."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import nexdyn as nx

K, C, L, R, K_E, U = 200.0, 15.0, 0.02, 0.5, 0.3, 6.0
METHODS = [nx.RungeKutta4(1e-3), nx.Projection(dt=1e-3), nx.HHT(dt=2e-4, alpha=0.0)]


@numba.njit
def maxwell(t: float, A: np.ndarray, B: np.ndarray, z: np.ndarray, out: np.ndarray, rate: np.ndarray) -> None:
    """A spring K between A and a point z beyond B along x, a damper C between that point and B."""
    x = A[0] - B[0]
    out[3] = -K * (x - z[0])
    rate[0] = K * (x - z[0]) / C


@numba.njit
def motor(t: float, q: float, v: float, z: np.ndarray, rate: np.ndarray) -> float:
    rate[0] = (U - R * z[0] - K_E * v) / L
    return K_E * z[0]


def slider(function: Any = maxwell, initial: Any = (0.0,), **options: Any) -> nx.System:
    system = nx.System("slider", gravity=(0, 0, 0))
    system.add_body("block", mass=2.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("way", system.ground, "block", axis=(1, 0, 0), stiffness=50.0, q0=0.1))
    system.add_force(nx.UserForce("series", "block", function=function, initial_states=initial, **options))
    return system


def wheel(function: Any = motor, initial: Any = (0.0,), names: Any = ("current",)) -> nx.System:
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(0.05, 0.05, 0.05))
    system.add_joint(nx.Revolute("axle", system.ground, "wheel", axis=(0, 0, 1), damping=0.02))
    system.add_force(nx.UserJointForce("motor", "axle", function, initial_states=initial, state_names=names))
    return system


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_a_spring_and_a_damper_in_series_and_a_motor_move_as_their_equations_say(method: Any) -> None:
    most = 5e-5 if isinstance(method, nx.HHT) else 1e-8
    result = nx.simulate(slider(), 1.0, method, output_every=50)
    A = np.array([[0, 1, 0], [-(50.0 + K) / 2.0, 0, K / 2.0], [K / C, 0, -K / C]])
    w, V = np.linalg.eig(A)
    exact = np.real(V @ (np.linalg.solve(V, [0.1, 0, 0])[:, None] * np.exp(np.outer(w, result.t))))
    assert_allclose(result.joint_position("way").values.ravel(), exact[0], atol=most)
    assert_allclose(result.force_state("series.state0").values.ravel(), exact[2], atol=most)
    told = result.force("series").force.sel(end="block", axis="x").values
    assert_allclose(told, -K * (exact[0] - exact[2]), atol=400 * most)

    result = nx.simulate(wheel(), 0.5, method, output_every=50)

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [(K_E * y[1] - 0.02 * y[0]) / 0.05, (U - R * y[1] - K_E * y[0]) / L]

    y = solve_ivp(rates, (0, 0.5), [0, 0], rtol=1e-11, atol=1e-12, t_eval=result.t).y
    assert_allclose(result.joint_velocity("axle").values.ravel(), y[0], atol=20 * most)
    assert_allclose(result.force_state("motor.current").values.ravel(), y[1], atol=20 * most)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_a_run_goes_on_with_the_states_of_the_run_before(method: Any) -> None:
    system = wheel()
    whole = nx.simulate(system, 0.2, method)
    half = nx.simulate(system, 0.1, method)
    rest = nx.simulate(system, 0.2, method, initial=half)
    most = 1e-6 if isinstance(method, nx.HHT) and method.dt is None else 1e-12
    assert_allclose(
        rest.force_state("motor.current").values[-1], whole.force_state("motor.current").values[-1], rtol=most
    )
    assert_allclose(rest.joint_velocity("axle").values[-1], whole.joint_velocity("axle").values[-1], rtol=most)


def test_adaptive_steps_judge_the_states_and_constant_ones_carry_a_stiff_damper() -> None:
    expected = (
        nx.simulate(wheel(), 0.5, nx.DormandPrince(rtol=1e-9, atol=1e-12)).force_state("motor.current").values[-1]
    )
    found = nx.simulate(wheel(), 0.5, nx.HHT(rtol=1e-5)).force_state("motor.current").values[-1]
    assert_allclose(found, expected, rtol=1e-3)

    @numba.njit
    def stiff(t: float, A: np.ndarray, B: np.ndarray, z: np.ndarray, out: np.ndarray, rate: np.ndarray) -> None:
        out[3] = -K * (A[0] - z[0])
        rate[0] = 1e7 * (A[0] - z[0])
        rate[1] = 1e5 * (z[0] - z[1])

    result = nx.simulate(slider(stiff, (0.1, 0.1)), 1.0, nx.HHT(dt=1e-3, alpha=0.0), output_every=10)
    assert_allclose(result.joint_position("way").values.ravel(), 0.1 * np.cos(5.0 * result.t), atol=5e-4)
    assert_allclose(result.force_state("series.state1").values, result.force_state("series.state0").values, atol=1e-5)


def test_rest_has_rates_of_zero_and_vibration_the_eigenvalues_of_the_whole() -> None:
    system = slider()
    system.add_force(nx.JointForce("push", "way", 3.0))
    rest = nx.equilibrium(system)
    assert rest.states == pytest.approx({"series.state0": 3.0 / 50.0}, rel=1e-9)
    A = np.array([[0, 1, 0], [-(50.0 + K) / 2.0, 0, K / 2.0], [K / C, 0, -K / C]])
    modes = nx.linearize(system, rest)
    found, expected = (np.sort_complex(np.linalg.eigvals(x)) for x in (modes.A, A))
    assert_allclose(found, expected, rtol=1e-6)
    spun = wheel(initial=(U / R,))
    rates = np.linalg.eigvals(nx.linearize(spun, frozen=True).A)
    own = np.linalg.eigvals(np.array([[-0.4, K_E / 0.05], [-K_E / L, -R / L]]))
    assert_allclose(np.sort_complex(rates[np.abs(rates) > 1e-6]), np.sort_complex(own), rtol=1e-6)


def test_what_a_formulation_cannot_do_with_states_is_refused_by_name() -> None:
    for system, name in ((slider(), "series"), (wheel(), "motor")):
        with pytest.raises(nx.InputError, match=f"force '{name}' has states of its own, which ImplicitEuler"):
            nx.simulate(system, 0.1, nx.ImplicitEuler(1e-3))
    with pytest.raises(nx.InputError, match="force 'series' has states of its own, which are not followed"):
        nx.inverse_dynamics(slider(), {"way": 0.1 + 0.01 * np.arange(9.0)}, 0.1 * np.arange(9.0))


def test_wrong_descriptions_are_refused_and_failing_functions_are_named() -> None:
    with pytest.raises(
        nx.InputError, match="initial_states of force 'motor' has 13 entries; a force has 12 states at most"
    ):
        wheel(initial=(0.0,) * 13, names=None)
    with pytest.raises(nx.InputError, match=r"state_names of force 'motor' is .*as many different names"):
        wheel(names=("current", "voltage"))
    with pytest.raises(nx.InputError, match="state_sizes of force 'series'"):
        slider(state_sizes=(0.0,))

    def broken(t: float, q: float, v: float, z: np.ndarray, rate: np.ndarray) -> float:
        rate[0] = np.nan if t > 0.05 else 0.0
        return 0.0

    with pytest.raises(nx.SolveError, match="force 'motor' gives a value that is not finite"):
        nx.simulate(wheel(broken), 0.1, nx.RungeKutta4(1e-3))
    with pytest.raises(nx.InputError, match="force 'motor' has no states of rest"):
        nx.equilibrium(wheel(lambda t, q, v, z, rate: rate.fill(1.0) or 0.0))


def test_twelve_states_of_plain_python_are_given_and_taken_in_order() -> None:
    def all_of_them(t: float, q: float, v: float, z: np.ndarray, rate: np.ndarray) -> float:
        rate[:] = np.arange(12.0)
        return 0.0

    result = nx.simulate(wheel(all_of_them, tuple(range(12)), None), 0.1, nx.RungeKutta4(1e-2))
    assert_allclose(result.recording.z[-1], 1.1 * np.arange(12.0), rtol=1e-12)


@numba.njit
def gauge(t: float, q: float, v: float, z: np.ndarray, rate: np.ndarray) -> float:
    """The pressure above that of the air, whose difference rounding leaves 1e-11 of."""
    rate[0] = 2e4 * (101325.0 - (101325.0 + z[0]))
    return 1e-4 * z[0]


@numba.njit
def counter(t: float, q: float, v: float, z: np.ndarray, rate: np.ndarray) -> float:
    rate[0] = v
    return 0.1


def valve(function: Any, **states: Any) -> nx.System:
    system = nx.System("valve", gravity=(0, 0, 0))
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("hinge", "ground", "arm", stiffness=1.0, damping=0.02))
    system.add_force(nx.UserJointForce("m", "hinge", function, **states))
    return system


def test_a_stiff_state_that_dies_away_in_a_difference_of_large_numbers_is_carried() -> None:
    system = valve(gauge, initial_states=(5e4,), state_sizes=(1e5,))
    ends = [
        nx.simulate(system, 0.1, m).joint_position("hinge").values[-1] for m in (nx.HHT(dt=1e-4), nx.RungeKutta4(5e-5))
    ]
    assert_allclose(ends[0], ends[1], rtol=1e-3)  # HHT's steps are twice as long as what dies away
    assert abs(float(nx.equilibrium(system).states["m.state0"])) < 1e-6


def test_states_whose_rates_are_0_already_rest_as_described() -> None:
    found = nx.equilibrium(valve(counter, initial_states=(0.3,)))
    assert float(found.states["m.state0"]) == 0.3


@numba.njit
def quick(t: float, q: float, v: float, z: np.ndarray, rate: np.ndarray) -> float:
    rate[0] = 1e5 * (np.sin(20.0 * t) - 0.3 * v - z[0])
    return 0.1 * z[0]


@numba.njit
def at_once(t: float, q: float, v: float) -> float:
    """What `quick` comes to."""
    return 0.1 * (np.sin(20.0 * t) - 0.3 * v)


def test_adaptive_steps_of_hht_pass_by_what_dies_away_within_them() -> None:
    """A state of rate 1e5/s takes as many steps as its limit, once its start has died away."""
    runs = [nx.simulate(wheel(*force), 0.2, nx.HHT(rtol=1e-5)) for force in ((quick, (0.5,)), (at_once, (), None))]
    steps = [int((run.t.values > 0.01).sum()) for run in runs]
    assert steps[0] < 1.2 * steps[1]
    assert_allclose(*(run.joint_position("axle").values[-1] for run in runs), rtol=1e-4)


def test_states_have_units_in_results() -> None:
    system = slider(initial=(0.2,), state_units=("m",))
    assert nx.simulate(system, 1e-3, METHODS[0]).force_state("series.state0").attrs["units"] == "m"
    with pytest.raises(nx.InputError, match=r"state_units of force 'series' is .*a text for each of 1 initial_states"):
        slider(state_units=("m", "A"))

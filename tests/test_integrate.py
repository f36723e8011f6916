"""Time integration: the tableaus by Butcher's theory, the orders as they are measured on every kind of joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import systems as S  # noqa: N812
from butcher import holds_up_to, rooted_trees

import nexdyn as nx
from nexdyn.integrate.methods import METHODS, FixedStep
from nexdyn.integrate.tableaus import CLASSICAL_4, EULER, Tableau

# --- tableaus ---------------------------------------------------------------------------------------------------------


def test_rooted_trees_are_as_many_as_cayley_counted() -> None:
    assert [len(rooted_trees(n)) for n in range(1, 8)] == [1, 1, 2, 4, 9, 20, 48]


@pytest.mark.parametrize(("method", "order"), [(EULER, 1), (CLASSICAL_4, 4)])
def test_tableau_meets_all_conditions_of_its_order_and_not_of_the_next(method: Tableau, order: int) -> None:
    assert method.order == order
    assert holds_up_to(order, method.A, method.b)
    assert not holds_up_to(order + 1, method.A, method.b)
    assert np.array_equal(np.triu(method.A), np.zeros_like(method.A))
    np.testing.assert_allclose(method.A.sum(axis=1), method.c, atol=1e-15)


# --- measured orders ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FixedDormandPrince(FixedStep):
    """The pair's method of order 5 with steps of constant length."""

    name: ClassVar[str] = "fixed dopri5"
    tableau: ClassVar[Tableau] = nx.DormandPrince.pair.tableau


KINDS = {
    "revolute": ["revolute"] * 3,
    "universal": ["universal"] * 2,
    "planar": ["planar", "revolute"],
    "spherical": ["spherical"] * 2,
    "free": ["free", "spherical"],
    "every joint": S.MOVING,
}
SPAN = {"planar": 0.8}  # the others 0.4 s


def motion(name: str, method: Any, steps: int, outputs: int = 1) -> np.ndarray:
    """q and v at the outputs, (outputs + 1, nq + nv); the largest component of a quaternion has the positive sign."""
    system, t_end, rng = S.random_system(3, KINDS[name]), SPAN.get(name, 0.4), np.random.default_rng(3)
    tree = nx.Tree(system)
    start = {"q0": tree.random(rng), "v0": rng.normal(size=tree.nv)}
    if isinstance(method, type):
        method = method(t_end / steps)
    r = nx.simulate(system, t_end, method, output_every=steps // outputs, **start).recording
    for place in tree.coordinates.values():
        if place.q.stop - place.q.start > place.v.stop - place.v.start:
            four = r.q[:, place.q.start : place.q.start + 4]
            four *= np.sign(np.take_along_axis(four, np.abs(four).argmax(axis=1)[:, None], axis=1))
    return np.hstack([r.q, r.v])


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [
        (nx.ExplicitEuler, 1, 6400),
        (nx.SemiImplicitEuler, 1, 6400),
        (nx.RungeKutta4, 4, 160),
        (FixedDormandPrince, 5, 32),
    ],
)
@pytest.mark.parametrize("name", list(KINDS))
def test_measured_order_is_that_of_the_method(name: str, method: Any, order: int, steps: int) -> None:
    exact = motion(name, FixedDormandPrince, 800, 16)
    errors = [np.linalg.norm(motion(name, method, k * steps, 16) - exact) for k in (1, 2, 4)]
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(order, abs=0.08 * order)


# --- adaptive steps and dense output, on an oscillator whose motion is known -----------------------------------------

OMEGA = 3.0


def oscillator(**options: Any) -> nx.System:
    """A mass on a slide with a spring: x = sin(ωt) from rest length with v0 = ω."""
    system = nx.System("oscillator", gravity=(0, 0, 0))
    mass = system.add_body("mass", mass=2.0)
    system.add_joint(nx.Prismatic("slide", system.ground, mass, stiffness=2.0 * OMEGA**2, v0=OMEGA, **options))
    return system


def constant_steps(dt: float) -> nx.DormandPrince:
    """Tolerances so loose that every step has the largest length."""
    return nx.DormandPrince(rtol=1e3, atol=1e9, dt_max=dt)


def largest_error(result: Any) -> float:
    """Of position, velocity and acceleration, in units of their amplitudes."""
    r = result.recording
    wave, quarter = np.sin(OMEGA * r.t), np.cos(OMEGA * r.t)
    x, v, a = r.q[:, 0] - wave, r.v[:, 0] / OMEGA - quarter, r.a[:, 0] / OMEGA**2 + wave
    return float(np.abs([x, v, a]).max())


def test_dense_output_is_as_exact_as_its_order_says() -> None:
    times = np.linspace(0.0, 4.0, 397)
    errors = []
    for dt in (0.1, 0.05, 0.025):
        result = nx.simulate(oscillator(), 4.0, constant_steps(dt), output_times=times)
        assert result.recording.steps == pytest.approx(4.0 / dt, abs=2)
        errors.append(largest_error(result))
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (slopes > 4.7).all()  # order 4 in each step is order 5 over them all
    assert errors[-1] < 1e-7


def test_dense_output_keeps_quaternions_unit_and_agrees_with_steps_that_end_there() -> None:
    system = S.random_system(3, ["free", "spherical"])
    start = {"q0": nx.Tree(system).neutral(), "v0": np.random.default_rng(1).normal(size=9)}
    times = np.linspace(0.0, 1.0, 301)
    method = nx.DormandPrince(rtol=1e-9, atol=1e-11)
    dense = nx.simulate(system, 1.0, method, output_times=times, **start).recording
    assert dense.steps < 100
    stepped = nx.simulate(system, 1.0, FixedDormandPrince(1.0 / 300), **start).recording
    np.testing.assert_array_equal(dense.t, times)
    for four in (slice(0, 4), slice(7, 11)):
        np.testing.assert_allclose(np.linalg.norm(dense.q[:, four], axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(dense.q, stepped.q, atol=1e-7)
    np.testing.assert_allclose(dense.v, stepped.v, atol=1e-6)
    np.testing.assert_allclose(dense.a, stepped.a, atol=1e-5)


@pytest.mark.parametrize("name", ["planar", "free", "every joint"])
def test_error_is_proportional_to_the_tolerance(name: str) -> None:
    exact = motion(name, FixedDormandPrince, 800)[-1]
    tolerances = np.array([1e-5, 1e-7, 1e-9])
    errors = [np.linalg.norm(motion(name, nx.DormandPrince(tol, tol), 10**6)[-1] - exact) for tol in tolerances]
    assert np.log10(errors[0] / errors[-1]) == pytest.approx(4.0, abs=0.8)
    assert (errors < 50 * tolerances).all()


def test_no_step_is_longer_than_dt_max() -> None:
    t = nx.simulate(oscillator(), 1.003, nx.DormandPrince(1e-3, 1e-3, dt_max=0.1)).recording.t
    assert t[-1] == 1.003
    assert np.diff(t).max() <= 0.1 + 1e-15


def test_steps_are_rejected_at_a_jump_of_the_force_and_the_motion_stays_exact() -> None:
    """x = ½ (F/m) (t − t₁)² after a force that sets in at t₁."""
    system = nx.System("jump", gravity=(0, 0, 0))
    mass = system.add_body("mass", mass=2.0)
    system.add_joint(nx.Prismatic("slide", system.ground, mass))
    system.add_force(nx.JointForce("push", "slide", nx.StepChange(0.5, 0.0, 10.0)))
    r = nx.simulate(system, 1.0, nx.DormandPrince(rtol=1e-9, atol=1e-11)).recording
    exact = np.where(r.t > 0.5, 2.5 * (r.t - 0.5) ** 2, 0.0)
    np.testing.assert_allclose(r.q[:, 0], exact, atol=1e-9)
    # the steps close in on the jump, and grow again behind it
    steps = np.diff(r.t)
    assert steps.min() < 1e-5
    assert steps[-3:].max() > 0.05


# --- the length of quaternions ----------------------------------------------------------------------------------------


def spinning_body() -> nx.System:
    system = nx.System("asymmetric body", gravity=(0, 0, 0))
    system.add_body("body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    return system


@pytest.mark.slow
def test_free_body_keeps_quaternion_energy_and_momentum_over_a_million_steps() -> None:
    system = spinning_body()
    r = nx.simulate(system, 1e3, nx.RungeKutta4(1e-3), v0=[0.1, 2.0, 0.3, 1, 0, 0], output_every=1000).recording
    assert r.steps == 10**6
    np.testing.assert_allclose(np.linalg.norm(r.q[:, :4], axis=1), 1.0, atol=1e-12)
    tree = nx.Tree(system)
    energy, momentum = tree.kinetic_energy(r.q, r.v), tree.centroidal_momentum(r.q, r.v)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-8)
    np.testing.assert_allclose(r.q[-1, 4:], [1e3, 0, 0], rtol=1e-9, atol=1e-5)  # its origin moves along x at 1 m/s


# --- methods as data --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [0, -1e-3, np.nan, np.inf, "fast", None])
@pytest.mark.parametrize("method", [nx.RungeKutta4, nx.ExplicitEuler, nx.SemiImplicitEuler])
def test_step_that_is_no_positive_number_is_refused(method: Any, dt: Any) -> None:
    with pytest.raises(nx.InputError, match=f"dt of {method.__name__} is"):
        method(dt)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rtol": 0.0}, "rtol of DormandPrince is 0"),
        ({"rtol": 1e-15}, "below 1e-14 rounding decides"),
        ({"atol": -1.0}, "atol of DormandPrince"),
        ({"atol": "x"}, "atol of DormandPrince is .*'x'"),
        ({"dt_min": 0.0}, "dt_min of DormandPrince"),
        ({"dt_max": 1e-15}, "dt_max of DormandPrince"),
        ({"dt_max": np.nan}, "dt_max of DormandPrince"),
        ({"dt_max": "long"}, "dt_max of DormandPrince"),
    ],
)
def test_tolerances_that_cannot_be_met_are_refused(options: Any, message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        nx.DormandPrince(**options)


def test_methods_are_values_that_print_how_they_are_made() -> None:
    assert nx.RungeKutta4(1e-3) == nx.RungeKutta4(dt=0.001)
    assert eval(repr(nx.DormandPrince(dt_max=0.1)), vars(nx)) == nx.DormandPrince(dt_max=0.1)
    assert list(METHODS)[:5] == ["rk4", "euler", "semi-implicit", "dopri5", "bs32"]

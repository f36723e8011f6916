"""No run ends in silence far from its constraints: it warns where they are violated too much, and stops where they are lost."""

from __future__ import annotations

import warnings
from typing import Any

import mechanisms
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.absolute.motion import index1
from nexdyn.absolute.motion.elements import stiff_pairs
from nexdyn.absolute.motion.tables import motion_tables
from nexdyn.problems.four_bars import four_bars
from nexdyn.simulation import independence, steps
from nexdyn.simulation import march as march_module
from nexdyn.simulation.choice import march_of
from nexdyn.simulation.kept import Keeper, bound_of
from nexdyn.simulation.marches.tree import Simulation
from nexdyn.simulation.steps import Leg
from nexdyn.tree.loops.motion import OPEN


def test_a_weak_stabilisation_is_said_as_a_warning_and_in_the_result() -> None:
    weak = nx.Baumgarte(dt=0.02, alpha=0.0, beta=0.0)
    with pytest.warns(nx.NexDynWarning, match=r"violated by .* of the mechanism's size by t = .*, more than 0.001"):
        result = nx.simulate(mechanisms.four_bar(), 4.0, weak, output_every=10)
    (notice,) = (n for n in result.warnings if n["kind"] == "violation")
    assert result.status == "finished"
    assert 1e-3 < notice["value"] < 1e-2


def test_a_motion_that_has_left_its_constraints_stops() -> None:
    coarse = nx.Baumgarte(dt=0.1, alpha=0.0, beta=0.0)
    with (
        pytest.warns(nx.NexDynWarning, match="violated by"),
        pytest.raises(nx.SolveError, match=r"the motion has left its constraints") as caught,
    ):
        nx.simulate(mechanisms.four_bar(), 20.0, coarse)
    assert caught.value.result.status == "failed"
    assert 0.0 < caught.value.time < 20.0


@pytest.mark.parametrize(
    ("method", "stabilise"),
    [(nx.RungeKutta4(0.02), None), (nx.SemiImplicitEuler(5e-3), "baumgarte"), (nx.ExplicitEuler(5e-3), "baumgarte")],
    ids=lambda x: str(x),
)
def test_loops_in_minimal_coordinates_that_drift_say_so(method: Any, stabilise: str | None) -> None:
    with pytest.warns(
        nx.NexDynWarning, match=r"violated by .* more than 0.001; nx.Loops\(stabilise='projection'\) keeps"
    ):
        result = nx.simulate(mechanisms.four_bar(), 10.0, method, loops=nx.Loops(stabilise=stabilise))
    (notice,) = (n for n in result.warnings if n["kind"] == "violation")
    assert 1e-3 < notice["value"] <= result.recording.violation.max()


def test_loops_in_minimal_coordinates_that_are_lost_under_a_stabilisation_stop() -> None:
    loops = nx.Loops(stabilise="baumgarte", alpha=1e-3, beta=1e-3)
    with (
        warnings.catch_warnings(),
        pytest.raises(nx.SolveError, match=r"the motion has left its constraints: .* at C\.\w+; nx.Loops") as caught,
    ):
        warnings.simplefilter("ignore", nx.NexDynWarning)
        nx.simulate(mechanisms.four_bar(), 10.0, nx.RungeKutta4(0.02), loops=loops)
    assert caught.value.result.status == "failed"
    assert caught.value.where == "C"


def test_penalties_that_are_given_and_too_weak_say_so() -> None:
    with pytest.warns(
        nx.NexDynWarning, match=r"(violated|miss the constraints) by .*; mu = 3 and 1 updates are too little"
    ):
        result = nx.simulate(mechanisms.four_bar(), 1.0, nx.ImplicitEuler(1e-2, mu=3.0, updates=1))
    assert [notice["kind"] for notice in result.warnings] == ["violation"]


METHODS = [
    nx.Projection(dt=1e-3), nx.Projection(rtol=1e-8), nx.Baumgarte(dt=1e-3), nx.Baumgarte(rtol=1e-8), nx.Partitioning(dt=1e-3),
    nx.Partitioning(rtol=1e-8), nx.HHT(dt=1e-3), nx.HHT(), nx.RungeKutta4(1e-3), nx.DormandPrince(rtol=1e-8),
    nx.SemiImplicitEuler(1e-3), nx.ExplicitEuler(1e-3), nx.ImplicitEuler(1e-3), nx.ImplicitEuler(1e-3, bdf2=True),
]  # fmt: skip


def short(method: Any) -> str:
    return repr(method).split(", atol")[0].split(", mu")[0]


@pytest.mark.parametrize("method", METHODS, ids=short)
def test_every_method_keeps_constraints_and_their_rates_within_its_bound(method: Any) -> None:
    """By the equations of the description, at all recorded states."""
    simulation = march_of(method)(mechanisms.four_bar(), method, v0={"A": 20.0})
    result = simulation.run(0.5)
    keeper = simulation.keeper()
    assert keeper is not None
    apart = keeper.look(simulation.poses(np.concatenate(simulation.recorded_rows())))
    assert apart.position < bound_of(method)
    assert apart.rate < bound_of(method) + apart.explained
    assert keeper.speed > 15.0
    assert not result.warnings


@pytest.mark.parametrize("method", METHODS, ids=short)
def test_whatever_leaves_the_constraints_is_seen_under_every_method(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded velocities of one body are falsified by a tenth: the look at the end goes by them, not by what the method knows."""
    simulation = march_of(method)(mechanisms.four_bar(), method, v0={"A": 5.0})
    poses = type(simulation).poses

    def falsified(self: Any, rows: np.ndarray) -> Any:
        seen = poses(self, rows)
        seen.v[:, 1] *= 1.1
        return seen

    monkeypatch.setattr(type(simulation), "poses", falsified)
    with pytest.raises(
        nx.SolveError, match=r"left its constraints: velocities miss the constraints by .* of the largest speed"
    ):
        simulation.run(0.1)


@pytest.mark.parametrize(("alpha", "beta"), [(20.0, 20.0), (5.0, 60.0)], ids=["critical", "under"])
def test_a_gap_that_the_stabilisation_closes_at_rest_is_no_motion_that_is_lost(alpha: float, beta: float) -> None:
    """The gap is a ten thousandth of the mechanism, and all that moves moves to close it."""
    method = nx.Baumgarte(dt=1e-3, alpha=alpha, beta=beta)
    march = march_of(method)(mechanisms.four_bar(gravity=(0.0, 0.0, 0.0)), method)
    for q in (march.state.q0, march.state.q1):
        q[2, 4] += 1e-4
    result = march.run(1.0)
    assert result.status == "finished"
    assert not result.warnings
    assert result.recording.violation[100:].max() > 1e-9
    assert result.recording.violation[-1] < 1e-6


def test_a_step_that_ends_too_far_from_the_constraints_is_taken_again_in_parts() -> None:
    """And the grid of times goes on as before."""
    coarse = nx.Baumgarte(dt=0.1)
    with pytest.warns(nx.NexDynWarning, match="violated by"):
        result = nx.simulate(mechanisms.four_bar(), 4.0, coarse, v0={"A": 8.0})
    assert result.status == "finished"
    np.testing.assert_allclose(np.diff(result.t.values), coarse.dt, rtol=1e-9)
    assert result.recording.violation.max() < 1e-2


EXPLICIT = [
    nx.Projection(1e-2),
    nx.Baumgarte(1e-2),
    nx.Partitioning(1e-2),
    nx.RungeKutta4(1e-2),
    nx.SemiImplicitEuler(1e-2),
]


@pytest.mark.parametrize("method", EXPLICIT, ids=short)
def test_the_step_that_is_taken_again_starts_where_it_started(method: Any) -> None:
    """The status of the step from 0.3 s says once that it is open: that step is as four of a quarter, all others as they were."""
    march = march_of(method)(mechanisms.four_bar(), method, v0={"A": 5.0})
    steps, said, status = march.leg, [], OPEN if isinstance(march, Simulation) else index1.OPEN

    def opens_once(t0: float, dt: float, done: int, until: int, every: int, room: np.ndarray) -> Leg:
        if not said and t0 + until * dt > 0.3 + 1e-9:
            leg = steps(t0, dt, done, round((0.3 - t0) / dt), every, room)
            steps(t0, dt, leg.done, leg.done + 1, 0, march.room(2))  # which leaves the state behind it
            said.append(leg.done)
            return leg._replace(status=status, t=0.31)
        return steps(t0, dt, done, until, every, room)

    march.leg = opens_once  # type: ignore[method-assign]
    end = march.run(0.5)
    parts = march_of(method)(mechanisms.four_bar(), method, v0={"A": 5.0})
    parts.run(0.3)
    parts.march_from(0.3, method.dt / 4, 0, 4, 0, lambda: None)
    exact = parts.run(0.5)
    assert said
    assert end.recording.steps == 50
    np.testing.assert_allclose(end.position("rocker").values[-1], exact.position("rocker").values[-1], atol=1e-12)


# --- singular poses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        nx.Projection(rtol=1e-10),
        nx.Projection(dt=1e-3),
        nx.Baumgarte(dt=1e-3),
        nx.HHT(dt=1e-3),
        nx.HHT(),
        nx.RungeKutta4(1e-3),
        nx.DormandPrince(rtol=1e-10),
        nx.SemiImplicitEuler(1e-3),
        nx.ImplicitEuler(1e-3),
        nx.ImplicitEuler(1e-3, bdf2=True),
    ],
    ids=short,
)
def test_a_run_that_passes_near_a_singular_pose_says_so(method: Any) -> None:
    """The two four-bars of A02 lie flat at 0.714 s and at 1.228 s, where one freedom becomes three."""
    with pytest.warns(nx.NexDynWarning, match=r"passes near a singular pose at t = (0\.71|1\.2[23])\d* s"):
        result = nx.simulate(four_bars(), 1.3, method, output_every=1 if method.name == "implicit-euler" else 100)
    assert [notice["kind"] for notice in result.warnings] == ["singular"]


@pytest.mark.parametrize("at", [0.3, 1.0])
@pytest.mark.parametrize("method", [nx.ImplicitEuler(1e-3), nx.HHT(dt=1e-3)], ids=short)
def test_so_does_a_run_with_events(method: Any, at: float) -> None:
    """An event that changes nothing, before the pose or after it, and one that changes the system."""
    for change in ({}, {"parameters": {"k": 1.0}}):
        system = four_bars()
        system.parameter("k", 0.0)
        system.add_event(nx.Event("e", time=at, **change))
        with pytest.warns(nx.NexDynWarning, match=r"passes near a singular pose at t = (0\.71|1\.2[23])\d* s"):
            result = nx.simulate(system, 1.3, method)
        assert [notice["kind"] for notice in result.warnings] == ["singular"]


def parallelogram() -> nx.System:
    """A loop none of whose equations is redundant, which lies flat at 0.708 s."""
    system, turns = nx.System("parallelogram", gravity=(0, -9.81, 0)), (0, 0, 1)
    a, b, c = (
        system.add_body(name, mass=1.0, inertia=(1 / 12, 1 / 12, 1 / 12), position=at)
        for name, at in (("a", (0, 0.5, 0)), ("b", (0.5, 1, 0)), ("c", (1, 0.5, 0)))
    )
    system.add_joint(nx.Revolute("A", system.ground, a, at=(0, 0, 0), axis=turns, v0=-1.0))
    system.add_joint(nx.Revolute("B", a, b, at=(0, 1, 0), axis=turns))
    system.add_joint(nx.Spherical("C", b, c, at=(1, 1, 0)))
    system.add_joint(nx.Universal("D", system.ground, c, at=(1, 0, 0), axis=turns, reference=(1, 0, 0)))
    return system


@pytest.mark.parametrize("method", [m for m in METHODS if m.name not in ("partitioning", "explicit-euler")], ids=short)
def test_singular_poses_are_said_where_no_equation_is_redundant(method: Any) -> None:
    """Projection(rtol) leaves the branch there."""
    with pytest.warns(nx.NexDynWarning, match=r"passes near a singular pose at t = 0\.7[01]\d* s"):
        result = nx.simulate(parallelogram(), 0.9, method)
    assert [notice["kind"] for notice in result.warnings] == ["singular"]


@pytest.mark.parametrize("method", [nx.Partitioning(dt=1e-3), nx.Partitioning(rtol=1e-8)], ids=short)
def test_partitioned_coordinates_stop_at_singular_poses(method: Any) -> None:
    with pytest.raises(nx.SolveError, match="a singular pose; use HHT"):
        nx.simulate(parallelogram(), 0.9, method)


def slider_crank(shoe: float, start: float, function: str | None) -> nx.System:
    """A crank of 1 m and a rod as long, whose end slides along x on a shoe: at 90° the crank may turn on with the rod along it, and the
    shoe at rest, or without."""
    system, turns, (c, s) = nx.System("slider2", gravity=(0, -9.81, 0)), (0, 0, 1), (np.cos(start), np.sin(start))
    system.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5 * c, 0.5 * s, 0))
    system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5 * c, 0.5 * s, 0))
    system.add_body("shoe", mass=shoe, inertia=(shoe,) * 3, position=(2 * c, 0, 0))
    system.add_joint(nx.Revolute("pin", "ground", "crank", at=(0, 0, 0), axis=turns))
    system.add_joint(nx.Revolute("elbow", "crank", "rod", at=(c, s, 0), axis=turns))
    system.add_joint(nx.Revolute("wrist", "rod", "shoe", at=(2 * c, 0, 0), axis=turns))
    system.add_joint(nx.Prismatic("guide", "ground", "shoe", at=(2 * c, 0, 0), axis=(1, 0, 0)))
    if function:
        system.add_driver(nx.Driver("motor", "pin", function))
    return system


DRIVERS_TO = [
    nx.RungeKutta4(1e-3), nx.DormandPrince(), nx.SemiImplicitEuler(1e-3), nx.HHT(), nx.HHT(dt=1e-3), nx.Projection(),
    nx.Projection(dt=1e-3), nx.Baumgarte(), nx.Baumgarte(dt=1e-3), nx.ImplicitEuler(1e-3),
]  # fmt: skip


@pytest.mark.parametrize("shoe", [0.0, 0.5])
@pytest.mark.parametrize("method", DRIVERS_TO, ids=short)
def test_a_crank_that_is_driven_to_the_pose_where_its_slider_may_branch_off_arrives_and_says_so(
    method: Any, shoe: float
) -> None:
    """A shoe without mass, too: there the step in minimal coordinates was no longer finite, 11° before."""
    start, error = 0.3, None
    with pytest.warns(nx.NexDynWarning, match=r"passes near a singular pose at t = 1\.2[5-7]\d* s"):
        try:
            result = nx.simulate(slider_crank(shoe, start, "=t"), 0.5 * np.pi - start, method)
        except nx.SolveError as stopped:  # in the pose itself
            error, result = stopped, stopped.result
    assert [notice["kind"] for notice in result.warnings] == ["singular"]
    assert result.recording.violation.max() < 1e-8
    before = 0.5 * np.pi - start - result.t.values > 2e-3
    np.testing.assert_allclose(
        result.position("shoe").values[before, 0], 2.0 * np.cos(start + result.t.values[before]), atol=1e-6
    )
    if error is None:
        assert abs(result.position("shoe").values[-1, 0]) < 1e-5
        assert shoe or result.velocity("shoe").values[-1, 0] == pytest.approx(-2.0, abs=5e-3)
    else:
        assert shoe and method.coordinates == "bodies"
        assert "singular pose" in str(error) and error.where in ("pin", "elbow", "wrist", "guide")


@pytest.mark.parametrize("method", [*DRIVERS_TO, nx.Partitioning(1e-3)], ids=short)
def test_a_start_in_a_singular_pose_is_said_and_so_is_what_fails_for_it(method: Any) -> None:
    """Velocities that fulfil Cq v = ν there need not lie on a branch."""
    system = slider_crank(0.0, 0.5 * np.pi, "=t")
    with pytest.warns(nx.NexDynWarning, match="starts in a singular pose at t = 0 s"):
        try:
            result = nx.simulate(system, 0.2, method)
        except nx.SolveError as error:
            assert "singular pose" in str(error)
            assert error.where in ("crank", "rod", "shoe", "pin", "elbow", "wrist", "guide")
            assert error.result is None or error.result.message == str(error)
        else:
            assert result.recording.violation.max() < 1e-6
            # the rod turns with the crank, or goes on as the other branch has it
            x, t = result.position("shoe").values[-1, 0], 0.2
            assert min(abs(x), abs(x + 2.0 * np.sin(t))) < 1e-4


@pytest.mark.parametrize("demo", ["bennett", "bricard", "sarrus", "stewart"])
@pytest.mark.parametrize(
    "method",
    [nx.Projection(dt=1e-3), nx.HHT(dt=1e-3), nx.RungeKutta4(1e-3), nx.ImplicitEuler(1e-3)],
    ids=short,
)
def test_redundant_mechanisms_at_regular_poses_are_not_told_singular(demo: str, method: Any) -> None:
    assert nx.simulate(nx.load(demo), 1.0, method).status == "finished"  # a warning would be an error here


def test_steps_of_many_turns_are_not_taken_for_a_singular_pose() -> None:
    """A rotor in two bearings, whose adaptive steps grow until the matrix of one, Cq T(θ), has next to nothing of its rows left."""
    system = nx.System("bearings", gravity=(0.0, 0.0, 0.0))
    system.add_body("rotor", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("front", "ground", "rotor", at=(0, 0, 0), axis=(0, 0, 1), v0=200.0))
    system.add_joint(nx.Cylindrical("back", "ground", "rotor", at=(0, 0, 0.3), axis=(0, 0, 1)))
    result = nx.simulate(system, 2000.0, nx.HHT())
    assert np.diff(result.t.values).max() > 100.0
    assert not result.warnings


DRIVEN = {
    "from rest": ("=-500*t**2", 0.05),
    "slowly": ("=-10*t**2", 0.3),
    "with a jump of its rate": ("=-10*max(0, t - 0.1)", 0.3),
}


@pytest.mark.parametrize("name", DRIVEN)
@pytest.mark.parametrize(
    "method",
    [nx.ImplicitEuler(1e-2), nx.ImplicitEuler(1e-3), nx.ImplicitEuler(1e-2, bdf2=True), nx.HHT(dt=1e-3)],
    ids=short,
)
def test_what_a_step_makes_of_a_driver_is_no_violation(method: Any, name: str) -> None:
    """Velocities of implicit Euler are differences of positions: a driver that speeds up, or whose rate jumps, is no fault of theirs."""
    function, end = DRIVEN[name]
    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("motor", "A", function))
    assert not nx.simulate(system, end, method).warnings


def test_slow_motions_without_gravity_are_judged_beside_what_is_solved() -> None:
    still = mechanisms.four_bar(gravity=(0, 0, 0))
    assert not nx.simulate(still, 0.1, nx.ImplicitEuler(1e-3), v0={"A": 1e-12}).warnings


@pytest.mark.parametrize("method", [nx.ImplicitEuler(1e-3), nx.ImplicitEuler(1e-3, bdf2=True)], ids=short)
def test_large_loops_that_pass_a_singular_pose_say_so(method: Any) -> None:
    """Forty four-bars, 605 equations in one loop, 120 of them redundant."""
    with pytest.warns(nx.NexDynWarning, match=r"passes near a singular pose at t = 0\.7[12]\d* s"):
        result = nx.simulate(four_bars(40), 0.9, method, output_every=10)
    assert [notice["kind"] for notice in result.warnings] == ["singular"]


def test_large_loops_at_regular_poses_are_not_told_singular() -> None:
    assert nx.simulate(four_bars(40), 0.5, nx.ImplicitEuler(1e-3), output_every=10).status == "finished"


def test_sparse_factors_of_kept_rows_show_the_least_singular_value_of_all() -> None:
    method = nx.ImplicitEuler(1e-3)
    march = march_of(method)(four_bars(8), method, output_every=80)
    with pytest.warns(nx.NexDynWarning, match="singular pose"):
        march.run(0.8)
    keeper, kept = march.keeper(), march.independent_rows()
    assert keeper is not None and not kept.all()
    tables = motion_tables(march.model, kept, keeper.length, stiff_pairs(march.model))
    states = march.poses(np.concatenate(march.recorded_rows()))
    for q, t in zip(states.q, states.t.tolist(), strict=True):
        state = march.model, tables, kept, q, t, march.model.near(q, t)
        assert independence.margin_of_kept(*state) == pytest.approx(independence.margin_here(*state), rel=1e-6)


def test_rows_that_make_up_for_kept_ones_are_no_singular_pose(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large loop is judged by all rows of the pose in which the kept ones are dependent: a kept row is put in place of another."""
    monkeypatch.setattr(independence, "LARGEST", 0)
    method = nx.ImplicitEuler(1e-3)
    march = march_of(method)(four_bars(2), method, output_every=20)
    march.run(0.4)
    keeper, kept = march.keeper(), march.independent_rows()
    assert keeper is not None
    states = march.poses(np.concatenate(march.recorded_rows()))
    of_kept = independence.margin_of_kept
    monkeypatch.setattr(
        independence,
        "margin_of_kept",
        lambda *state: 1e-9 if 0.15 < state[4] < 0.25 else of_kept(*state),
    )
    assert independence.singular_in(march.model, kept, keeper.length, states) is None


# --- when it is looked ------------------------------------------------------------------------------------------------

MANY = [
    nx.HHT(dt=1e-3), nx.HHT(rtol=1e-7), nx.Projection(dt=1e-3), nx.Projection(rtol=1e-8), nx.RungeKutta4(1e-3),
    nx.DormandPrince(rtol=1e-10), nx.ImplicitEuler(1e-3),
]  # fmt: skip


@pytest.mark.parametrize("method", MANY, ids=short)
def test_what_is_looked_at_does_not_depend_on_how_fast_the_machine_is(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of a run are one step long, or as long as they may be: the same states are looked at on the way."""
    monkeypatch.setattr(march_module, "LOOK_EVERY", 10)
    monkeypatch.setattr(march_module, "OF_BODIES", 60)
    seen: dict[float, list[float]] = {}
    look = Keeper.look
    for seconds in (0.0, 1e9):
        times = seen[seconds] = []

        def noted(self: Keeper, states: Any, times: list[float] = times) -> Any:
            times.append(float(states.t[-1]))
            return look(self, states)

        monkeypatch.setattr(steps, "SLICE", seconds)
        monkeypatch.setattr(Keeper, "look", noted)
        nx.simulate(mechanisms.four_bar(), 0.2, method, v0={"A": 5.0}, output_every=10**6)
    assert seen[0.0] == seen[1e9]
    assert len(seen[0.0]) > 4

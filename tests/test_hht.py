"""HHT-α in absolute coordinates: published problems, order, agreement with minimal coordinates, what is refused."""

from __future__ import annotations

import re
import warnings

import numpy as np
import published
import pytest

import nexdyn as nx
from nexdyn.simulation.choice import simulation_of
from nexdyn.spatial.rotations import rotation_matrix

CLOSED = 1e-9
"""|C| at every recorded step."""


def end(system: nx.System, t_end: float, method: nx.HHT, **options) -> nx.Result:
    return nx.simulate(system, t_end, method, output_times=[t_end], **options)


# --- published problems ---------------------------------------------------------------------------------------------


def test_a01_the_pendulum_with_a_massless_bar() -> None:
    times = list(published.A01)
    errors = []
    for dt in (2e-3, 1e-3):
        result = nx.simulate(published.pendulum(), 10.0, nx.HHT(dt=dt), output_times=times)
        found = result.position("mass").values[:, :2]
        errors.append(np.abs(found - list(published.A01.values())).max())
        assert result.recording.violation.max() < CLOSED
    assert errors[1] < 2e-4
    assert 3.6 < errors[0] / errors[1] < 4.4  # order 2


def test_a02_four_bars_stay_on_their_branch_through_the_singular_pose() -> None:
    times = list(published.A02)
    with pytest.warns(nx.NexDynWarning, match="passes near a singular pose at t = "):
        result = nx.simulate(published.four_bars(), 10.0, nx.HHT(dt=1e-3), output_times=times)
    expected = np.array(list(published.A02.values()))
    np.testing.assert_allclose(result.position("B0").values[:, :2], expected[:, :2], rtol=0, atol=2e-4)
    np.testing.assert_allclose(result.velocity("B0").values[:, :2], expected[:, 2:], rtol=0, atol=2e-3)
    assert result.recording.violation.max() < CLOSED
    assert abs(float(result.energy()["total"][-1]) - 35.835) < 2e-3
    # it moved through the flat pose, and every step is closed
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # by rounding it passes the singular pose at 0.714 s near enough to say so, or not
        every = nx.simulate(published.four_bars(), 1.0, nx.HHT(dt=1e-3))
    assert (every.position("B0").values[:, 1] < 0.0).any()
    assert every.recording.violation.max() < CLOSED


def andrews_error(result: nx.Result) -> tuple[float, float]:
    angles, rates = published.andrews_angles(result), published.andrews_angles(result, rates=True)
    return (
        max(abs(angles[key] - value) for key, value in published.ANDREWS_END.items()),
        max(abs(rates[key] - value) for key, value in published.ANDREWS_RATES.items()),
    )


def test_a03_andrews_mechanism_with_order_2() -> None:
    errors = [andrews_error(end(published.andrews(), 0.03, nx.HHT(dt=dt)))[0] for dt in (2e-6, 1e-6)]
    assert errors[1] < 2e-6
    assert 3.6 < errors[0] / errors[1] < 4.4


@pytest.mark.slow
def test_a03_andrews_mechanism_to_eight_digits() -> None:
    """Two steps of Richardson's extrapolation would be cheaper; here the step is just small."""
    angle, rate = andrews_error(end(published.andrews(), 0.03, nx.HHT(dt=7e-8, alpha=-0.05)))
    assert angle < 1e-8
    assert rate < 1e-5


def test_a04_bricard_with_its_redundant_row() -> None:
    times = list(published.A04)
    result = nx.simulate(published.bricard(), 10.0, nx.HHT(dt=1e-3), output_times=times)
    np.testing.assert_allclose(result.position("P3").values, list(published.A04.values()), rtol=0, atol=3e-6)
    assert result.recording.violation.max() < CLOSED
    assert result.energy_drift < 1e-5


def test_a05_the_stiff_governor() -> None:
    times = list(published.A05)
    result = nx.simulate(published.governor(), 2.0, nx.HHT(dt=1e-3), output_times=times)
    expected = np.array(list(published.A05.values()))
    np.testing.assert_allclose(result.position("slider").values[:, 2], expected[:, 0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(result.velocity("slider").values[:, 2], expected[:, 1], rtol=0, atol=2e-4)
    np.testing.assert_allclose(result.angular_velocity("shaft").values[:, 2], expected[:, 2], rtol=0, atol=1e-4)
    assert result.recording.violation.max() < CLOSED


def test_heavy_top() -> None:
    times = list(published.TOP)
    errors = []
    for dt in (2e-4, 1e-4):
        result = nx.simulate(published.heavy_top(), 1.0, nx.HHT(dt=dt), output_times=times)
        errors.append(np.abs(result.position("top").values - list(published.TOP.values())).max())
    assert errors[1] < 1e-4
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert abs(float(result.energy()["total"][-1]) - 5435.696790866) < 1e-3


def test_a_body_free_of_torque_tumbles_as_the_closed_form_says() -> None:
    result = end(published.tumbling(), 10.0, nx.HHT(dt=2e-3))
    R = result.rotation("body")[-1].values
    omega = R.T @ result.angular_velocity("body")[-1].values
    np.testing.assert_allclose(omega, published.TUMBLING_10, rtol=0, atol=3e-5)


@pytest.mark.parametrize("kind", published.DOUBLE)
def test_double_pendulums(kind: str) -> None:
    times = [0.5, 1.0]
    result = nx.simulate(published.double_pendulum(kind), 1.0, nx.HHT(dt=5e-4), output_times=times)
    for row, t in enumerate(times):
        for j, expected in enumerate(published.DOUBLE[kind][t]):
            R = result.rotation(f"link{j + 1}")[row].values
            angle = np.arctan2(R[1, 0], R[0, 0]) + np.pi / 2  # from straight down
            assert abs(angle - expected) < 2e-5


@pytest.mark.slow
def test_without_damping_rounding_grows_in_the_multipliers_and_with_a_little_it_does_not() -> None:
    """The trapezoidal rule on equations of index 3 (Cardona & Géradin 1989)."""
    system = published.double_pendulum(next(iter(published.DOUBLE)))
    with pytest.raises(nx.SolveError, match=r"give alpha = -0.01, since with alpha = 0 nothing damps"):
        nx.simulate(system, 10.0, nx.HHT(dt=1e-4, alpha=0.0), output_every=1000)
    energy = nx.simulate(system, 10.0, nx.HHT(dt=1e-4, alpha=-1e-3), output_every=1000).energy().total.values
    assert np.abs(energy - energy[0]).max() < 1e-4


def chain(n: int) -> nx.System:
    """Links with hinges about two axes in turn, from horizontal."""
    system = nx.System(f"chain of {n}", gravity=(0, 0, -9.81))
    parent = system.ground
    for i in range(n):
        link = system.add_body(f"link{i}", mass=1.0, inertia=(1, 1, 1), position=(i + 0.5, 0, 0))
        axis = (0, 1, 0) if i % 2 == 0 else (0, 0.6, 0.8)
        system.add_joint(nx.Revolute(f"hinge{i}", parent, link, at=(i, 0, 0), axis=axis))
        parent = link
    return system


# --- order ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [-0.05, -0.3])
def test_order_2_in_position_velocity_and_after_the_start_in_multipliers(alpha: float) -> None:
    system = chain(4)
    exact = nx.simulate(system, 0.4, nx.DormandPrince(rtol=1e-12, atol=1e-13))
    last, joint = list(system.bodies)[-1], next(iter(system.joints))
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        result = end(system, 0.4, nx.HHT(alpha=alpha, dt=dt))
        errors.append(
            [
                np.abs((result.position(last)[-1] - exact.position(last)[-1]).values).max(),
                np.abs((result.velocity(last)[-1] - exact.velocity(last)[-1]).values).max(),
                np.abs((result.reaction(joint)[-1] - exact.reaction(joint)[-1]).values).max(),
            ]
        )
    order = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (np.abs(order[-1] - 2.0) < 0.25).all(), order


def test_multipliers_keep_order_2_where_the_step_changes() -> None:
    """The last step is 0.3 of the others, as before an output time: without what moves a and v there, the order is 1."""
    system = chain(4)
    exact = nx.simulate(system, 0.4, nx.DormandPrince(rtol=1e-12, atol=1e-13))
    errors = []
    for steps in (100, 200, 400):
        result = end(system, 0.4, nx.HHT(dt=0.4 / (steps + 0.3)))
        errors.append(np.abs((result.reaction("hinge0")[-1] - exact.reaction("hinge0")[-1]).values).max())
    assert errors[0] > 3.3 * errors[1] > 10.9 * errors[2], errors
    assert errors[2] < 2e-4


def test_multipliers_of_adaptive_steps_follow_the_tolerance() -> None:
    system = chain(4)
    exact = nx.simulate(system, 0.4, nx.DormandPrince(rtol=1e-12, atol=1e-13))
    errors = []
    for rtol in (5e-4, 5e-6):
        result = end(system, 0.4, nx.HHT(rtol=rtol))
        errors.append(np.abs((result.reaction("hinge0")[-1] - exact.reaction("hinge0")[-1]).values).max())
    assert errors[0] > 25.0 * errors[1], errors


def test_adaptive_steps_follow_the_tolerance() -> None:
    errors, steps = [], []
    for rtol in (2e-3, 1e-4, 5e-6):
        result = end(published.double_pendulum("rods"), 1.0, nx.HHT(rtol=rtol))
        R = result.rotation("link2")[-1].values
        errors.append(abs(np.arctan2(R[1, 0], R[0, 0]) + np.pi / 2 - published.DOUBLE["rods"][1][1]))
        steps.append(result.recording.steps)
    assert errors[0] > 5.0 * errors[1] > 25.0 * errors[2]
    assert 3.0 < steps[2] / steps[1] < 6.0  # rtol^(-1/2) = 4.5


def test_alpha_damps_what_is_fast_and_keeps_what_is_slow() -> None:
    """A stiff spring beside a slow pendulum: with α = 0 its ring goes on, with α = −0.3 it dies."""

    def ring(alpha: float) -> float:
        system = nx.System("stiff", gravity=(0, 0, 0))
        body = system.add_body("body", mass=1.0, inertia=(1, 1, 1), position=(1.01, 0, 0))
        system.add_joint(nx.Prismatic("slide", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
        system.add_force(nx.PointSpring("spring", "ground", body, stiffness=1e8, length=1.0))
        return float(np.ptp(nx.simulate(system, 0.2, nx.HHT(alpha=alpha, dt=1e-3)).position("body").values[-20:, 0]))

    assert ring(-0.3) < 1e-6 < ring(0.0)


# --- the same motion under another formulation ----------------------------------------------------------------------


def test_trees_agree_with_minimal_coordinates() -> None:
    """Springs, dampers, friction and forces of every kind included."""
    system = everything()
    reference = nx.simulate(system, 0.3, nx.DormandPrince(rtol=1e-11, atol=1e-12))
    result = end(system, 0.3, nx.HHT(rtol=1e-6))
    for body in system.bodies:
        np.testing.assert_allclose(result.position(body)[-1], reference.position(body)[-1], rtol=0, atol=1e-6)
        np.testing.assert_allclose(result.velocity(body)[-1], reference.velocity(body)[-1], rtol=0, atol=1e-5)
    for joint in system.joints:
        for what in ("reaction", "transmitted"):
            found, expected = getattr(result, what)(joint)[-1], getattr(reference, what)(joint)[-1]
            np.testing.assert_allclose(found, expected, rtol=0, atol=2e-3 * max(1.0, float(np.abs(expected).max())))
    np.testing.assert_allclose(result.joint_position()[-1], reference.joint_position()[-1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(result.joint_velocity()[-1], reference.joint_velocity()[-1], rtol=0, atol=1e-5)
    np.testing.assert_allclose(
        result.joint_acceleration()[-1], reference.joint_acceleration()[-1], rtol=1e-3, atol=1e-2
    )
    for name in ("kinetic", "gravitational", "elastic", "total"):
        assert abs(float(result.energy()[name][-1] - reference.energy()[name][-1])) < 1e-4


def everything() -> nx.System:
    """A tree with every kind of joint that moves, centres of mass beside origins, and forces of every kind."""
    system = nx.System("everything", gravity=(0.3, -9.0, 1.0))
    rng = np.random.default_rng(3)
    parent = system.ground
    joints = [
        nx.Revolute, nx.Prismatic, nx.Cylindrical, nx.Universal, nx.Spherical, nx.Planar, nx.Cartesian, nx.Fixed,
    ]  # fmt: skip
    for i, kind in enumerate(joints):
        body = system.add_body(
            f"b{i}",
            mass=1.0 + 0.1 * i,
            inertia=(0.3, 0.4, 0.5),
            com=0.1 * rng.normal(size=3),
            position=(0.5 * i, 0.1 * i, 0),
        )
        options = {} if kind is nx.Fixed else {"stiffness": 20.0, "damping": 0.5}
        system.add_joint(kind(f"j{i}", parent, body, at=(0.5 * i - 0.25, 0, 0), axis=rng.normal(size=3), **options))
        parent = body
    screw = system.add_body("screw", mass=1.0, inertia=(0.3, 0.4, 0.5), position=(0, 1, 0))
    system.add_joint(nx.Helical("helix", system.ground, screw, pitch=0.1, at=(0, 1, 0), axis=(0, 1, 0), friction=0.1))
    system.add_force(
        nx.PointSpring("spring", "b1", "b3", anchor_a=(0, 0.1, 0), stiffness=50.0, damping=1.0, length=0.5)
    )
    system.add_force(nx.TorsionSpring("torsion", "ground", "b0", stiffness=5.0, damping=0.1))
    system.add_force(nx.Bushing("bushing", "ground", "b5", stiffness=10.0 * np.ones(6), damping=0.1 * np.ones(6)))
    system.add_force(nx.AppliedForce("push", "b7", force=(1, "=sin(10*t)", 0), torque=(0, 0.1, 0), expressed_in="body"))
    system.add_force(nx.JointForce("motor", "j0", "=cos(5*t)"))
    return system


def test_results_are_saved_opened_and_gone_on_from(tmp_path) -> None:
    system = published.four_bars()
    first = nx.simulate(system, 0.2, nx.HHT(dt=1e-3))
    first.save(tmp_path / "run.nc")
    first.to_csv(tmp_path / "run.csv", ["position", "reaction", "multiplier"])
    back = nx.open_result(tmp_path / "run.nc")
    for name in ("position", "velocity", "acceleration", "angular_velocity", "reaction", "joint_position"):
        np.testing.assert_allclose(getattr(back, name)(), getattr(first, name)(), rtol=0, atol=1e-9)
    np.testing.assert_allclose(back.multiplier(), first.multiplier(), rtol=0, atol=0)
    further = nx.simulate(back.system, 0.3, nx.HHT(dt=1e-3), initial=back)
    whole = nx.simulate(system, 0.3, nx.HHT(dt=1e-3))
    np.testing.assert_allclose(further.position("B0")[-1], whole.position("B0")[-1], rtol=0, atol=1e-6)
    assert "HHT" in repr(first)
    assert "drift" in first.summary_text()


def test_a_driver_is_followed_and_bears_what_it_must() -> None:
    system = nx.System("crank", gravity=(0, -9.81, 0))
    crank = system.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, crank, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_driver(nx.Driver("turn", "hinge", "=2*pi*t"))
    result = nx.simulate(system, 1.5, nx.HHT(dt=1e-3))
    np.testing.assert_allclose(result.joint_position("hinge"), 2 * np.pi * result.t, rtol=0, atol=1e-8)
    np.testing.assert_allclose(result.joint_velocity("hinge"), 2 * np.pi, rtol=0, atol=1e-6)


def test_dependent_rows_of_one_pose_are_kept_and_structural_ones_left_out() -> None:
    from nexdyn.assembly.redundant import kept_rows

    report = nx.assemble(published.bricard())
    assert (~kept_rows(report)).sum() == 1
    flat = published.four_bars()
    dropped = {row.structural for row in nx.assemble(flat).redundancy.redundant}
    assert dropped == {True}


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"alpha": 0.1}, "alpha of HHT is 0.1; it must lie from -1/3 to 0"),
        ({"alpha": -0.5}, "alpha of HHT is -0.5"),
        ({"alpha": "x"}, "alpha of HHT is the text 'x'"),
        ({"dt": 0.0}, "dt of HHT is 0"),
        ({"dt": -1e-3}, "dt of HHT is -0.001"),
        ({"rtol": 0.0}, "rtol of HHT is 0"),
        ({"rtol": 1e-15}, "below 1e-10 rounding decides"),
        ({"dt_max": 1e-13}, "dt_max of HHT"),
        ({"solver": "cholesky"}, "solver of HHT is 'cholesky'; it is none of blocks, lu, iterative"),
    ],
)
def test_bad_methods_are_refused(options, says: str) -> None:
    with pytest.raises(nx.InputError, match=says.replace("(", r"\(")):
        nx.HHT(**options)


@pytest.mark.filterwarnings("ignore:passes near a singular pose")  # where it locks
def test_a_mechanism_that_locks_stops_with_time_joint_and_what_was_reached() -> None:
    """The driven crank is longer than the rest lets it turn."""
    system = nx.System("locks", gravity=(0, 0, 0))
    lengths = {"crank": ((0, 0, 0), (0, 1, 0)), "coupler": ((0, 1, 0), (1, 1, 0)), "rocker": ((1, 1, 0), (1.5, 0, 0))}
    bodies = {}
    for name, (p, q) in lengths.items():
        bodies[name] = system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(np.array(p) + q) / 2)
    for name, a, b, at in (
        ("A", system.ground, bodies["crank"], (0, 0, 0)), ("B", bodies["crank"], bodies["coupler"], (0, 1, 0)),
        ("C", bodies["coupler"], bodies["rocker"], (1, 1, 0)), ("D", system.ground, bodies["rocker"], (1.5, 0, 0)),
    ):  # fmt: skip
        system.add_joint(nx.Revolute(name, a, b, at=at, axis=(0, 0, 1)))
    system.add_driver(nx.Driver("motor", "A", "=t"))
    for method in (nx.HHT(dt=1e-3), nx.HHT()):
        with pytest.raises(nx.SolveError, match="driver 'motor' may ask for more than the joints allow") as caught:
            nx.simulate(system, 6.0, method)
        error = caught.value
        assert error.time is not None and 0.1 < error.time < 6.0
        assert error.where in ("A", "B", "C", "D") and told_gap(error) < 3.0
        assert error.result is not None
        assert error.result.status == "failed"
        assert 0.0 < float(error.result.t[-1]) <= error.time


def test_a_tolerance_that_cannot_be_met_stops_with_advice() -> None:
    system = published.pendulum()
    system.add_force(nx.AppliedForce("jump", "mass", force=("=1e3*atan(1e12*(t-0.1))", 0, 0)))
    with pytest.raises(nx.SolveError, match=r"the step fell to .* rtol = 1e-06") as caught:
        nx.simulate(system, 1.0, nx.HHT(rtol=1e-6, dt_min=1e-5))
    assert caught.value.result is not None and len(caught.value.result.t) > 10
    assert abs(caught.value.time - 0.1) < 0.01
    assert caught.value.where == "hinge"
    for part in ("joint 'hinge'", "loosen rtol"):
        assert part in str(caught.value)
    assert told_gap(caught.value) < 1e-12  # the joint is closed: it is the error that is too large


def told_gap(error: nx.SolveError) -> float:
    """|C| as a message tells it [m, rad]."""
    found = re.search(r"\|C\| = ([-+.e0-9]+) at ", str(error))
    assert found is not None, str(error)
    return float(found[1])


@pytest.mark.filterwarnings("ignore:passes near a singular pose")
@pytest.mark.parametrize("method", [nx.HHT(rtol=1e-9), nx.Partitioning(dt=1e-3)], ids=lambda m: m.name)
def test_gaps_that_a_failure_tells_are_those_of_the_joints(method: nx.Method) -> None:
    """Two four-bars that stop where they lie flat, all joints closed."""
    with pytest.raises(nx.SolveError, match=r"\|C\| = ") as caught:
        nx.simulate(published.four_bars(), 1.0, method)
    assert told_gap(caught.value) < 1e-9


def test_a_force_that_fails_stops_with_what_was_reached() -> None:
    system = published.pendulum()
    system.add_force(nx.AppliedForce("bad", "mass", force=("=log(0.05-t)", 0, 0)))
    with pytest.raises(nx.SolveError, match="bad") as caught:
        nx.simulate(system, 1.0, nx.HHT(dt=1e-3))
    assert len(caught.value.result.t) > 40


def test_closed_loops_choose_hht_by_themselves() -> None:
    result = nx.simulate(published.four_bars(), 0.01)
    assert "HHT" in result.recording.method
    assert "RungeKutta4" in nx.simulate(published.double_pendulum("rods"), 0.01).recording.method


@pytest.mark.parametrize("demo", ["andrews", "bricard", "door", "four-bar", "slider-crank"])
def test_demos_of_closed_loops_run_from_the_command_line(demo: str, tmp_path, capsys) -> None:
    from nexdyn.cli import main

    out = tmp_path / "run.nc"
    assert main(["run", demo, "--t-end", "0.01", "--out", str(out), "--json"]) == 0
    assert '"status": "finished"' in capsys.readouterr().out
    assert nx.open_result(out).recording.steps > 1


@pytest.mark.parametrize("every", [1.01, 3.01, 5.1, 10.101])
def test_times_asked_for_between_steps_leave_the_steps_as_they_are(every: float) -> None:
    """A short step before each of them would be fed back by what moves velocities and accelerations where steps change."""
    system, method = nx.load("double-pendulum"), nx.HHT(dt=2e-3)
    whole = nx.simulate(system, 0.2, method)
    asked = nx.simulate(system, 0.2, method, output_times=[*np.arange(every, 99, every) * method.dt, 0.2])
    by_parts = simulation_of(system, method)
    for t in np.arange(every, 99, every) * method.dt:
        by_parts.run(float(t))
    for result in (asked, by_parts.run(0.2)):
        np.testing.assert_array_equal(result.position("rod2")[-1], whole.position("rod2")[-1])
        # reactions are refined from those of the step, to rounding
        np.testing.assert_allclose(result.reaction("hinge2")[-1], whole.reaction("hinge2")[-1], rtol=0, atol=1e-13)
        assert (np.diff(result.t) > 0.0).all()
    precise = nx.simulate(system, 0.2, nx.DormandPrince(rtol=1e-10, atol=1e-12), output_times=asked.t.values)
    assert np.abs(asked.position("rod2").values - precise.position("rod2").values).max() < 1e-5


def test_velocities_that_are_told_keep_the_constraints_and_the_march_does_not_see_it() -> None:
    system, method = nx.load("four-bar"), nx.HHT(dt=1e-2)
    simulation = simulation_of(system, method)
    result, model = simulation.run(2.0), simulation.model
    ground = model.q[:1], np.zeros((1, 6))
    for q, v in zip(result.recording.q, result.recording.v, strict=True):
        rates = model.jacobian(np.concatenate([ground[0], q]), 0.0) @ v.reshape(-1)
        assert np.abs(rates).max() < 1e-9  # of 10 m/s
    # the march's own velocities are off by what the step is
    assert np.abs(simulation.state.v0[1:, 3:6] - model_velocities(simulation, v)).max() > 1e-9
    seldom = nx.simulate(system, 2.0, method, output_every=50)
    np.testing.assert_array_equal(seldom.recording.q[-1], result.recording.q[-1])
    np.testing.assert_array_equal(seldom.recording.multipliers[-1], result.recording.multipliers[-1])


def model_velocities(simulation, v: np.ndarray) -> np.ndarray:
    """Velocities of the centres of mass (nb, 3) of what was told (nb, 6)."""
    s, c = simulation.state, simulation._centres[1:]
    R = rotation_matrix(s.q0[1:, :4])
    return v[:, 3:] + np.einsum("nij,nj->ni", R, np.cross(v[:, :3], c))

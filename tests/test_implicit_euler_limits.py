"""nx.ImplicitEuler and index-1 methods where they end: what is refused, what fails on the way, rows of curves and users."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

import nexdyn as nx

METHODS = {
    "implicit Euler": nx.ImplicitEuler(1e-2),
    "published": nx.ImplicitEuler(1e-2, mu=1e5, updates=10),
    "Baumgarte": nx.Baumgarte(1e-2),
    "projection": nx.Projection(1e-2),
}


def arm(pull: float) -> nx.System:
    """Two rods of 1 m, whose hand is pulled along x from 1 m on with speed `pull`."""
    system = nx.System("reach", gravity=(0, 0, 0))
    a = system.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    b = system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.0, 0.5, 0))
    system.add_joint(nx.Revolute("shoulder", system.ground, a, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("elbow", a, b, at=(1, 0, 0), axis=(0, 0, 1)))
    system.add_marker("hand", b, position=(0, 0.5, 0))
    system.add_driver(nx.PointDriver("pull", "hand", "x", nx.Linear(1.0, pull)))
    return system


# --- inconsistent joints --------------------------------------------------------------------------------------------


def test_joints_that_no_penalty_closes_are_named_with_their_gaps() -> None:
    # 0.9993 m/s: stretched out between two steps
    for fixed, speed in (({}, 0.9993), ({}, 1.0), ({}, 30.0), ({"mu": 1e5, "updates": 10}, 0.9993)):
        with pytest.raises(nx.SolveError, match=r"no penalty closes the joints at t = ") as caught:
            nx.simulate(arm(speed), 3.0, nx.ImplicitEuler(0.01, **fixed))
        said = str(caught.value)
        assert any(name in said for name in ("joint 'shoulder'", "joint 'elbow'", "driver 'pull'"))
        assert " by " in said and caught.value.where in ("shoulder", "elbow", "pull")
        reached = 1.0 / speed
        assert 0.9 * reached < caught.value.time < 2.0 * reached + 0.05 and caught.value.result.status == "failed"


def test_joints_that_contradict_each_other_are_refused_before_the_first_step() -> None:
    system = nx.System("torn")
    a = system.add_body("a", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Fixed("here", system.ground, a, anchor_a=(0, 0, 0), anchor_b=(0, 0, 0)))
    system.add_joint(nx.Fixed("there", system.ground, a, anchor_a=(0.3, 0, 0), anchor_b=(0, 0, 0)))
    with pytest.raises(nx.AssemblyError, match=r"'(here|there)' stays open by 0.15 m") as caught:
        nx.simulate(system, 1.0, nx.ImplicitEuler(0.01))
    assert {gap.joint for gap in caught.value.report.gaps} == {"here", "there"}


# --- bad input ------------------------------------------------------------------------------------------------------


def test_armature_of_ball_and_free_joints_acts_as_in_minimal_coordinates_in_the_order_of_the_method() -> None:
    system = nx.System("rotors", gravity=(0, 0, -9.81))
    base = system.add_body("base", mass=2.0, inertia=(0.2, 0.3, 0.25), com=(0.1, 0, 0))
    rotors = (0.3, 0.1, 0.2, 1.0, 2.0, 0.5)
    system.add_joint(nx.Free("way", system.ground, base, v0=(1, -2, 0.5, 0.3, 0.2, 0), armature=rotors))
    link = system.add_body("link", mass=1.0, inertia=(0.05, 0.1, 0.08), position=(0.5, 0, 0), com=(0.2, 0.1, 0))
    system.add_joint(nx.Spherical("ball", base, link, at=(0.4, 0, 0), v0=(0.5, 1, -1), armature=(0.1, 0.3, 0.2)))
    exact = nx.simulate(system, 0.4, nx.RungeKutta4(2e-4), output_every=10**9).position().values[-1]
    for bdf2, order in ((False, 1), (True, 2)):
        e = []
        for dt in (2e-3, 1e-3):
            run = nx.simulate(system, 0.4, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=10**9)
            e.append(np.abs(run.position().values[-1] - exact).max())
        assert np.log2(e[0] / e[1]) == pytest.approx(order, abs=0.1)
        assert e[1] < (1e-5 if bdf2 else 2e-3)
    assert abs(nx.simulate(system, 0.4, nx.ImplicitEuler(1e-3, bdf2=True)).energy_drift) < 2e-5


def test_a_free_body_on_bushings_with_dampers_and_friction_of_its_joint_moves_as_in_minimal_coordinates() -> None:
    system = nx.System("mounted", gravity=(0, 0, -9.81))
    frame = system.add_body("frame", mass=5.0, inertia=(0.4, 0.5, 0.6), com=(0.05, 0, 0))
    own = {"damping": (0.2, 0.3, 0.1, 5.0, 4.0, 6.0), "friction": (0.1, 0.1, 0.1, 1.0, 1.0, 1.0), "friction_speed": 0.1}
    system.add_joint(nx.Free("base", system.ground, frame, v0=(2, -1, 1, 0.3, 0.2, 0), **own))
    engine = system.add_body("engine", mass=2.0, inertia=(0.1, 0.2, 0.15), position=(0.3, 0.1, 0.2))
    system.add_joint(nx.Free("mount", frame, engine, v0=(0, 0.1, 0, 0.1, 0, 0), **own))
    stiff, soft = (np.diag([20.0, 30.0, 25.0, 2e3, 3e3, 4e3]) * s for s in (1.0, 0.4))
    for name, a, b, K in (("soft", "ground", "frame", soft), ("stiff", "frame", "engine", stiff)):
        system.add_force(
            nx.Bushing(
                name, a, b, stiffness=K.tolist(), damping=(0.02 * K).tolist(), at_a=(0.2, 0, 0.1), at_b=(0.2, 0, 0.1)
            )
        )
    exact = nx.simulate(system, 0.3, nx.RungeKutta4(2e-4), output_every=10**9).position().values[-1]
    e = []
    for dt in (2e-3, 1e-3):
        run = nx.simulate(system, 0.3, nx.ImplicitEuler(dt, bdf2=True), output_every=10**9)
        e.append(np.abs(run.position().values[-1] - exact).max())
    assert e[1] < 1e-4 and 3.5 < e[0] / e[1] < 4.5


@pytest.mark.filterwarnings("ignore:user function")
@pytest.mark.parametrize("name", ["implicit Euler", "published"])
def test_a_force_that_is_not_a_number_stops_the_run_by_name(name: str) -> None:
    system = nx.System("lost")
    rod = system.add_body("rod", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))

    def lost(t, q, v):
        return math.nan if t > 0.5 else 0.0

    system.add_force(nx.UserJointForce("motor", "hinge", lost))
    with pytest.raises(nx.SolveError) as caught:
        nx.simulate(system, 1.0, METHODS[name])
    assert 0.4 < caught.value.time < 0.6 and caught.value.result.status == "failed"
    assert np.isfinite(caught.value.result.position("rod").values).all()


# --- curves, surfaces, rows of the user -----------------------------------------------------------------------------

pytest_slow = pytest.mark.slow  # kernels with these rows are compiled apart


def bead_on(joint: nx.Joint, **body) -> nx.System:
    system = nx.System("bead", gravity=(0, 0, -9.81))
    system.add_body("bead", mass=2.0, inertia=(0.01, 0.01, 0.01), **body)
    system.add_joint(joint)
    return system


@pytest_slow
@pytest.mark.parametrize("name", METHODS)
def test_a_bead_on_a_circle_a_ball_and_a_users_row_stay_where_they_belong(name: str) -> None:
    circle = nx.ExpressionCurve("=0.5*sin(s)", 0.0, "=-0.5*cos(s)", "=-pi", "=pi", closed=True)
    at = (0.5 * np.sin(2.0), 0, -0.5 * np.cos(2.0))
    joints = {
        "curve": nx.PointOnCurve("track", "ground", "bead", curve=circle),
        "surface": nx.PointOnSurface("track", "ground", "bead", surface=nx.SphereSurface(0.5)),
        "user": nx.UserConstraint("track", "ground", "bead", numba.njit(lambda t, x, R: x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 0.25)),
    }  # fmt: skip
    ends = {}
    for what, joint in joints.items():
        run = nx.simulate(bead_on(joint, position=at), 0.3, METHODS[name])
        p = run.position("bead").values
        loose = {"Baumgarte": 1e-3}.get(name, 1e-8)
        np.testing.assert_allclose(np.linalg.norm(p, axis=1), 0.5, atol=loose, err_msg=what)
        ends[what] = p[-1]
    # the same motion, in the plane of the circle by itself
    np.testing.assert_allclose(ends["surface"], ends["curve"], atol=1e-3)
    np.testing.assert_allclose(ends["user"], ends["surface"], atol=1e-3)


@pytest_slow
@pytest.mark.filterwarnings("ignore:joint 'track' stays open")  # it is described beside its track
@pytest.mark.parametrize("name", METHODS)
def test_a_bead_that_leaves_its_track_is_stopped_by_name(name: str) -> None:
    track = nx.SplineCurve([(0, 0, 0), (1, 0, -0.3), (2, 0, -0.2)])
    system = bead_on(nx.PointOnCurve("track", "ground", "bead", curve=track), position=(0.05, 0, 0))
    with pytest.raises(nx.SolveError, match="joint 'track' has left its curve: s = ") as caught:
        nx.simulate(system, 3.0, METHODS[name])  # in which it would have come back
    failed = caught.value
    assert (
        failed.where == "track" and failed.result.status == "failed" and failed.result.recording.message == str(failed)
    )
    # at the very step, of 2 m/s; Baumgarte's joint is open by millimetres
    x = failed.result.position("bead").values[:, 0]
    assert x[-2] < 2.01 and 1.99 < x[-1] < x[-2] + 0.03 and failed.result.t[-1] == pytest.approx(failed.time)


@pytest_slow
@pytest.mark.parametrize("name", ["implicit Euler", "published"])
def test_a_users_row_that_fails_is_named(name: str) -> None:
    @numba.njit
    def slide(t: float, x: np.ndarray, R: np.ndarray) -> float:
        if t > 0.5:
            raise ValueError("too late")
        return x[0] - 0.2 - 0.3 * np.sin(2 * t)

    system = bead_on(nx.UserConstraint("motor", "ground", "bead", slide), position=(0.2, 0, 0))
    with pytest.raises(nx.SolveError, match="joint 'motor' raised ValueError: too late") as caught:
        nx.simulate(system, 1.0, METHODS[name])
    assert 0.45 < caught.value.time < 0.56 and caught.value.result is not None

"""Drivers: joints and points that move as functions of time say, and what cannot be driven."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable
from typing import Any

import mechanisms
import numpy as np
import pytest
from systems import joint_pose, placed, solid, somewhere

import nexdyn as nx
from nexdyn.absolute.model.model import absolute_model
from nexdyn.joints import JOINTS
from nexdyn.model.callbacks import _MADE
from nexdyn.spatial.rotations import log_rotation, rotation_about, rotation_matrix

DRIVABLE = [kind for kind, cls in JOINTS.items() if cls.tree and cls.coordinates]
every = pytest.mark.parametrize("kind", DRIVABLE)
PITCH = 0.3


def alone(rng: np.random.Generator, kind: str) -> nx.System:
    """One joint between ground and a body, described where its frames meet."""
    system = nx.System(kind, gravity=rng.normal(size=3) * 5)
    body = system.add_body("body", **solid(rng), **somewhere(rng))
    where = {key: x for key, x in placed(rng).items() if "_" not in key} or {"at": rng.normal(size=3)}
    pitch = {"pitch": PITCH} if kind == "helical" else {}
    system.add_joint(JOINTS[kind]("joint", system.ground, body, **where, **pitch))
    return system


def driven(system: nx.System, motion: np.ndarray) -> nx.System:
    """All coordinates of its joint driven: q + v t + ½ a t² for rows (q, v, a) of `motion` (3, n)."""
    for i, (q, v, a) in enumerate(motion.T):
        system.add_driver(nx.Driver(f"d{i}", "joint", nx.Polynomial((q, v, a / 2)), freedom=i))
    return system


# --- what drivers do --------------------------------------------------------------------------------------------------


@every
def test_a_driven_joint_is_where_its_drivers_say(kind: str, rng: np.random.Generator) -> None:
    motion = rng.normal(size=(3, JOINTS[kind].nv))
    system = driven(alone(rng, kind), motion)
    report = nx.assemble(system)
    frames = system.joint("joint").frames({})
    R_J, p_J = joint_pose(kind, motion[0], PITCH)
    R = frames.R_AJ @ R_J @ frames.R_BJ.T
    np.testing.assert_allclose(rotation_matrix(report.orientation("body")), R, atol=1e-9)
    np.testing.assert_allclose(report.position("body"), frames.p_AJ + frames.R_AJ @ p_J - R @ frames.p_BJ, atol=1e-9)
    assert report.redundancy.dof == 0 and not any("LOCKED" in warning for warning in report.warnings)


@every
def test_a_driver_bears_the_effort_of_inverse_dynamics(kind: str, rng: np.random.Generator) -> None:
    motion = rng.normal(size=(3, JOINTS[kind].nv))
    tree = nx.Tree(alone(np.random.default_rng(1), kind))
    report = nx.assemble(driven(alone(np.random.default_rng(1), kind), motion))
    model = report.model
    efforts = -report.multipliers[[driver.row for driver in model.drivers]]
    np.testing.assert_allclose(efforts, tree.rnea(*motion), atol=1e-8)
    # the joint's own reaction is without them
    free = nx.assemble(alone(np.random.default_rng(1), kind))
    assert report.reaction("joint").force.shape == free.reaction("joint").force.shape
    R_J, _ = joint_pose(kind, motion[0], PITCH)
    wrench = np.concatenate([report.reaction("joint").moment, report.reaction("joint").force])
    if kind == "prismatic":
        assert abs(wrench[5]) < 1e-9
    if kind in ("revolute", "cylindrical", "planar"):
        assert abs(wrench[2]) < 1e-9
    if kind == "universal":
        assert abs(wrench[:3] @ R_J[:, 0]) < 1e-9 and abs(wrench[2]) < 1e-9


@pytest.mark.parametrize("turn", [100.0, -20.5, 3.2])
@pytest.mark.parametrize("kind", ["revolute", "helical", "cylindrical"])
def test_a_driven_angle_may_turn_many_times(kind: str, turn: float, rng: np.random.Generator) -> None:
    system = alone(rng, kind)
    system.add_driver(nx.Driver("motor", "joint", turn))
    report = nx.assemble(system)
    frames = system.joint("joint").frames({})
    R = frames.R_AJ.T @ rotation_matrix(report.orientation("body")) @ frames.R_BJ
    np.testing.assert_allclose(R, rotation_about((0, 0, 1), turn), atol=1e-9)
    if kind == "helical":
        point = report.position("body") + rotation_matrix(report.orientation("body")) @ frames.p_BJ
        assert frames.R_AJ[:, 2] @ (point - frames.p_AJ) == pytest.approx(PITCH * turn, abs=1e-8)


def test_a_point_follows_its_driver(rng: np.random.Generator) -> None:
    system = nx.System("load")
    body = system.add_body("load", **solid(rng), **somewhere(rng))
    system.add_marker("hook", body, position=(0.3, -0.1, 0.2))
    functions = {"x": nx.Harmonic(0.3, 0.5, phase=0.4), "y": "=2*t", "z": nx.Polynomial((0.5, -1.0, 3.0))}
    for component, function in functions.items():
        system.add_driver(nx.PointDriver(component, "hook", component, function))
    system.add_joint(nx.Parallel("level", system.ground, body))
    report = nx.assemble(system)
    w, R = report.angular_velocity("load"), rotation_matrix(report.orientation("load"))
    s = R @ (0.3, -0.1, 0.2)
    np.testing.assert_allclose(report.position("load") + s, (0.3 * np.sin(0.4), 0.0, 0.5), atol=1e-9)
    velocity = report.velocity("load") + np.cross(w, s)
    np.testing.assert_allclose(velocity, (0.3 * np.pi * np.cos(0.4), 2.0, -1.0), atol=1e-9)
    along = np.cross(report.angular_acceleration("load"), s) + np.cross(w, np.cross(w, s))
    expected = (-0.3 * np.pi**2 * np.sin(0.4), 0.0, 6.0)
    np.testing.assert_allclose(report.acceleration("load") + along, expected, atol=1e-8)


def test_a_body_is_driven_at_its_origin() -> None:
    system = nx.System("load")
    system.add_body("load", mass=1.0, inertia=(1, 1, 1), com=(0.3, 0, 0), position=(5.0, 6.0, 7.0))
    system.add_driver(nx.PointDriver("lift", "load", "z", 8.0))
    np.testing.assert_allclose(nx.assemble(system).position("load"), (5.0, 6.0, 8.0), atol=1e-10)


def test_rows_follow_the_function_in_time(rng: np.random.Generator) -> None:
    system = alone(rng, "revolute")
    system.add_driver(nx.Driver("motor", "joint", nx.Harmonic(0.4, 0.7, phase=0.2)))
    model, h, t = absolute_model(system), 1e-4, 0.3
    C = [model.residual(model.q, t + k * h)[-1] for k in (-1, 0, 1)]
    assert (C[2] - C[0]) / (2 * h) == pytest.approx(-model.nu(t)[-1], abs=1e-7)
    rest = np.zeros((2, 6))
    assert (C[2] - 2 * C[1] + C[0]) / h**2 == pytest.approx(-model.gamma(model.q, rest, t)[-1], abs=1e-6)
    assert not model.nu(t)[:-1].any()


# --- mechanisms -------------------------------------------------------------------------------------------------------

CRANK, ROD, SPEED = 0.2, 0.7, 9.0


def slider_crank(angle: float) -> nx.System:
    """A crank, driven at constant speed from `angle`, that pushes a slider along x by a rod; described at angle 0."""
    system = nx.System("slider-crank", gravity=(0, -9.81, 0))
    system.parameter("phase", angle)
    crank = system.add_body("crank", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(CRANK / 2, 0, 0))
    rod = system.add_body("rod", mass=1.0, inertia=(0.02, 0.02, 0.02), position=(CRANK + ROD / 2, 0, 0))
    slider = system.add_body("slider", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(CRANK + ROD, 0, 0))
    system.add_joint(nx.Revolute("main", system.ground, crank, at=(0, 0, 0)))
    system.add_joint(nx.Revolute("crank pin", crank, rod, at=(CRANK, 0, 0)))
    system.add_joint(nx.Revolute("piston pin", slider, rod, at=(CRANK + ROD, 0, 0)))
    system.add_joint(nx.Prismatic("guide", system.ground, slider, at=(CRANK + ROD, 0, 0), axis=(1, 0, 0)))
    system.add_driver(nx.Driver("motor", "main", f"=phase + {SPEED}*t"))
    return system


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.2, -1.7, 3.0])
def test_a_slider_crank_moves_as_its_formula_says(angle: float) -> None:
    report = nx.assemble(slider_crank(angle))
    # x = r cos θ + √(l² − r² sin² θ)
    s, c = np.sin(angle), np.cos(angle)
    root = np.sqrt(ROD**2 - CRANK**2 * s**2)
    first = -CRANK * s - CRANK**2 * s * c / root
    second = -CRANK * c - CRANK**2 * (c * c - s * s) / root - CRANK**4 * s * s * c * c / root**3
    np.testing.assert_allclose(report.position("slider"), (CRANK * c + root, 0, 0), atol=1e-9)
    np.testing.assert_allclose(report.velocity("slider"), (SPEED * first, 0, 0), atol=1e-8)
    np.testing.assert_allclose(report.acceleration("slider"), (SPEED**2 * second, 0, 0), atol=1e-7)
    assert report.redundancy.dof == 0


def driven_four_bar(phase: float = 0.0) -> nx.System:
    system = mechanisms.four_bar()
    system.parameter("phase", phase)
    system.add_driver(nx.Driver("motor", "A", "=phase + 2*t"))
    return system


def test_a_driven_four_bar_moves_as_its_poses_do() -> None:
    system, h = driven_four_bar(), 1e-3
    at = {k: nx.assemble(system.with_parameters({"phase": 0.2 + 2 * k * h})) for k in (-2, -1, 0, 1, 2)}
    for body in system.bodies:
        p = {k: report.position(body) for k, report in at.items()}
        velocity = (p[-2] - 8 * p[-1] + 8 * p[1] - p[2]) / (12 * h)
        acceleration = (-p[-2] + 16 * p[-1] - 30 * p[0] + 16 * p[1] - p[2]) / (12 * h**2)
        np.testing.assert_allclose(at[0].velocity(body), velocity, atol=1e-8)
        np.testing.assert_allclose(at[0].acceleration(body), acceleration, atol=1e-4)
        R = {k: rotation_matrix(report.orientation(body)) for k, report in at.items()}
        turn = {k: log_rotation(R[k] @ R[0].T) for k in R}
        spin = (turn[-2] - 8 * turn[-1] + 8 * turn[1] - turn[2]) / (12 * h)
        np.testing.assert_allclose(at[0].angular_velocity(body), spin, atol=1e-8)


def test_a_driver_leaves_what_is_redundant_as_it_is() -> None:
    free, moved = nx.assemble(mechanisms.four_bar()), nx.assemble(driven_four_bar())
    named = [[(str(row), row.structural) for row in report.redundancy.redundant] for report in (free, moved)]
    assert named[0] == named[1] and all(row.consistent for row in moved.redundancy.redundant)
    assert moved.redundancy.dof == free.redundancy.dof - 1 == 0


def five_bar() -> nx.System:
    """Two degrees of freedom: cranks A and E on the ground, their rods meet at C."""
    system = nx.System("five-bar", gravity=(0, -9.81, 0))
    points = [np.array(p, float) for p in ((0, 0, 0), (-0.3, 1, 0), (1, 1.8, 0), (2.3, 1, 0), (2, 0, 0))]
    bars = [mechanisms.rod(system, f"bar{i}", points[i], points[i + 1]) for i in range(4)]
    for name, parent, child, at in zip(
        "ABCDE",
        (system.ground, bars[0], bars[1], bars[2], system.ground),
        (*bars, bars[3]),
        points,
        strict=True,
    ):
        system.add_joint(nx.Revolute(name, parent, child, at=at))
    return system


def test_two_drivers_move_two_degrees_of_freedom() -> None:
    system = five_bar()
    system.add_driver(nx.Driver("left", "A", "=0.1 + t"))
    system.add_driver(nx.Driver("right", "E", "=-0.2 - 2*t"))
    report = nx.assemble(system)
    assert report.redundancy.dof == 0
    np.testing.assert_allclose(report.angular_velocity("bar0"), (0, 0, 1), atol=1e-9)
    np.testing.assert_allclose(report.angular_velocity("bar3"), (0, 0, -2), atol=1e-9)


# --- drivers that fight -----------------------------------------------------------------------------------------------


def twice(second: Any) -> nx.System:
    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("one", "A", 0.0))
    system.add_driver(nx.Driver("two", second[0], second[1]))
    return system


def three_in_a_five_bar() -> nx.System:
    system = five_bar()
    for joint in "ACE":
        system.add_driver(nx.Driver(f"at {joint}", joint, 0.0))
    return system


def point_and_hinge() -> nx.System:
    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("one", "A", 0.0))
    system.add_driver(nx.PointDriver("two", "coupler", "x", 0.75))
    return system


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: twice(("D", 0.0)), "'one' and 'two'"),
        (lambda: twice(("D", 0.4)), "'one' and 'two'"),
        (lambda: twice(("A", 0.0)), "'one' and 'two'"),
        (lambda: twice(("A", "=0.3 + t")), "'one' and 'two'"),
        (three_in_a_five_bar, "'at A' and 'at C' and 'at E'"),
        (point_and_hinge, "'one' and 'two'"),
    ],
)
def test_drivers_of_the_same_motion_are_refused_by_name(make: Callable[[], nx.System], names: str) -> None:
    with pytest.raises(nx.InputError, match=f"over-driven: drivers {names} drive the same motion"):
        nx.assemble(make())


def test_two_drivers_of_one_joint_of_a_tree_are_over_driven(rng: np.random.Generator) -> None:
    system = alone(rng, "cylindrical")
    system.add_driver(nx.Driver("turn", "joint", 0.3))
    system.add_driver(nx.Driver("slide", "joint", 0.1, freedom=1))
    assert nx.assemble(system).redundancy.dof == 0
    system.add_driver(nx.Driver("more", "joint", 0.3))
    with pytest.raises(nx.InputError, match="drivers 'turn' and 'more'"):
        nx.assemble(system)


def test_a_driver_of_what_cannot_move_is_refused() -> None:
    system = mechanisms.door(askew=0.1)
    system.add_driver(nx.Driver("opener", "lower", 0.0))
    with pytest.raises(nx.InputError, match="driver 'opener' drives what the joints lower, upper do not let move"):
        nx.assemble(system)


def test_a_driver_beyond_reach_is_refused_by_name() -> None:
    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("pusher", "D", -1.5))
    with pytest.raises(nx.AssemblyError, match=r"cannot be assembled: .*check what driver 'pusher' asks for") as caught:
        nx.assemble(system)
    assert any(gap.kind == "driver" and gap.joint == "pusher" for gap in caught.value.report.gaps)
    assert "driver 'pusher' is missed by" in str(caught.value.report)


def test_minimal_coordinates_follow_a_driver_and_tell_its_effort() -> None:
    system = nx.System("motor")
    wheel = system.add_body("wheel", mass=2.0, inertia=(2.0, 2.0, 3.0))
    system.add_joint(nx.Revolute("joint", system.ground, wheel))
    system.add_driver(nx.Driver("motor", "joint", "=t**2"))
    result = nx.simulate(system, 0.1, method=nx.RungeKutta4(1e-2))
    np.testing.assert_allclose(result.joint_position("joint").values.ravel(), result.t.values**2, atol=1e-12)
    np.testing.assert_allclose(result.effort("motor").values, 6.0, atol=1e-9)  # J q̈ = 3 · 2


# --- bad input --------------------------------------------------------------------------------------------------------


def shop() -> nx.System:
    system = nx.System("shop")
    system.add_body("arm", mass=1.0, inertia=(1, 1, 1))
    system.add_body("hand", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    system.add_joint(nx.Cylindrical("shoulder", system.ground, "arm"))
    system.add_joint(nx.Spherical("wrist", "arm", "hand"))
    system.add_driver(nx.Driver("motor", "shoulder", 0.0))
    return system


@pytest.mark.parametrize(
    ("driver", "message"),
    [
        (lambda: nx.Driver("d", "sholder", 0.0), r"driver 'd': no joint 'sholder'; did you mean 'shoulder'"),
        (
            lambda: nx.Driver("d", "shoulder", 0.0, freedom=2),
            r"freedom of driver 'd' is 2; .* \(cylindrical\) has 0 to 1",
        ),
        (lambda: nx.Driver("d", "shoulder", 0.0, freedom=1.0), r"freedom of driver 'd' is 1.0"),
        (lambda: nx.Driver("d", "wrist", 0.0), r"joint 'wrist' \(spherical\) has no coordinate that can be driven"),
        (lambda: nx.Driver("motor", "shoulder", 0.0), r"a driver 'motor' exists already"),
        (lambda: nx.Driver("d", "shoulder", np.nan), r"driver 'd': .*nan"),
        (lambda: nx.Driver("d", "shoulder", "=w*t"), r"function of driver 'd': no parameter 'w'|driver 'd': .*'w'"),
        (lambda: nx.Driver("d", "shoulder", 0.0, priority=-1), r"priority of driver 'd' is -1"),
        (lambda: nx.PointDriver("d", "hnd", "x", 0.0), r"driver 'd': no marker or body 'hnd'; did you mean 'hand'"),
        (lambda: nx.PointDriver("d", "hand", "w", 0.0), r"component of driver 'd' is 'w'; x, y, z are valid"),
        (lambda: nx.PointDriver("d", "ground", "x", 0.0), r"driver 'd' drives a point of the ground"),
        (lambda: nx.Revolute("d", "arm", "hand"), r"is no driver; add_driver takes one"),
    ],
)
def test_a_driver_that_means_nothing_is_refused(driver: Callable[[], Any], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        shop().add_driver(driver())


def test_the_drivers_of_a_system_are_found_by_name() -> None:
    system = shop()
    assert list(system.drivers) == ["motor"] and system.driver("motor").joint == "shoulder"
    with pytest.raises(nx.UnknownNameError, match="no driver 'moter'; did you mean 'motor'"):
        system.driver("moter")


def test_a_function_may_change_with_the_parameters() -> None:
    system = shop()
    system.parameter("w", 2.0)
    system.add_driver(nx.Driver("lift", "shoulder", nx.Linear(0.0, "=w"), freedom=1))
    for w in (2.0, 5.0):
        changed = system.with_parameters({"w": w})
        np.testing.assert_allclose(nx.assemble(changed).velocity("arm"), (0, 0, w), atol=1e-10)
    other = system.with_parameters({"lift.function": nx.Constant(0.7)})
    np.testing.assert_allclose(nx.assemble(other).position("arm"), (0, 0, 0.7), atol=1e-9)


class Ramp:
    """A function and its derivatives as methods of an object, which nothing keeps but the driver."""

    def f(self, t: float) -> float:
        return 0.5 * t * t

    def df(self, t: float) -> float:
        return t

    def ddf(self, t: float) -> float:
        return 1.0


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize(
    ("method", "module"),
    [
        (nx.RungeKutta4(1e-2), "tree.loops.tables"),
        (nx.HHT(dt=1e-2), "absolute.motion.tables"),
        (nx.Projection(dt=1e-2), "absolute.motion.tables"),
        (nx.ImplicitEuler(1e-2), "potential.compile"),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_what_kernels_call_by_address_lives_as_long_as_the_run(
    method: nx.Method, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A callback and its C function refer to each other, so that only the collection of garbage frees them: it ran between two lines."""
    compiled = importlib.import_module(f"nexdyn.{module}")
    ramp, rows = Ramp(), []
    row_of = compiled.time_row

    def collected(function: Any) -> list[float]:
        rows.append(row_of(function))
        gc.collect()
        alive = {
            callback.address for callback in list(_MADE.values()) if callback.function in (ramp.f, ramp.df, ramp.ddf)
        }
        assert set(rows[-1][2:]) == alive and len(alive) == 3, "addresses of what is no more"
        return rows[-1]

    monkeypatch.setattr(compiled, "time_row", collected)
    system = nx.System("cart", gravity=(0, 0, 0))
    system.add_body("cart", mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.add_joint(nx.Prismatic("rail", "ground", "cart", axis=(1, 0, 0)))
    system.add_driver(nx.Driver("ramp", "rail", nx.UserFunction(ramp.f, ramp.df, ramp.ddf)))
    result = nx.simulate(system, 0.1, method)
    assert rows
    assert float(result.joint_position("rail")[-1]) == pytest.approx(0.5 * 0.1**2, abs=1e-9)

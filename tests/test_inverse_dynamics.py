"""nx.inverse_dynamics: round trips with runs, pinocchio's RNEA, rates of tables, loops, and what it refuses."""

from __future__ import annotations

import math

import mechanisms
import numpy as np
import pytest
import systems
from pin_oracle import PinOracle
from test_equilibrium import arm

import nexdyn as nx
from nexdyn.joints import JOINTS

TORQUES = {"first": nx.Harmonic(4.0, 3.0), "second": nx.Polynomial((0.5, 1.0, -2.0))}


def two_links(motors: bool = False, friction: float = 0.0) -> nx.System:
    """Two rods that hang on springs and dampers."""
    system = nx.System("arm", gravity=(0, -9.81, 0))
    a = system.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    b = system.add_body("b", mass=1.5, inertia=(0.1, 0.2, 0.1), position=(1.5, 0, 0))
    system.add_joint(nx.Revolute("first", system.ground, a, at=(0, 0, 0), axis=(0, 0.3, 1), stiffness=5.0, damping=0.2))
    system.add_joint(nx.Revolute("second", a, b, at=(1, 0, 0), axis=(0.2, 0, 1), friction=friction))
    system.add_force(nx.PointSpring("spring", system.ground, b, stiffness=20.0, damping=0.5, at_a=(2, 1, 0)))
    if motors:
        for joint, function in TORQUES.items():
            system.add_force(nx.JointForce(f"motor {joint}", joint, function))
    return system


def asked(t: np.ndarray) -> np.ndarray:
    return np.column_stack([[function.value(x) for x in t] for function in TORQUES.values()])


def test_a_run_gives_back_the_torques_that_drove_it() -> None:
    run = nx.simulate(two_links(True, 0.1), 1.0, nx.RungeKutta4(1e-3), output_every=20)
    found = nx.inverse_dynamics(two_links(friction=0.1), run)
    np.testing.assert_allclose(found.tau, asked(found.t), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.effort("second"), found.tau[:, 1])
    for joint in TORQUES:
        np.testing.assert_allclose(found.reaction(joint).values, run.reaction(joint).values, rtol=0, atol=1e-10)


@pytest.mark.parametrize("by_name", [False, True])
def test_a_table_gives_them_back_with_order_4_of_its_steps(by_name: bool) -> None:
    run = nx.simulate(two_links(motors=True), 1.0, nx.RungeKutta4(1e-3), output_every=5)
    t, q = run.recording.t, run.recording.q
    e = []
    for every in (4, 2):
        table = {name: q[::every, i] for i, name in enumerate(("first", "second"))} if by_name else q[::every]
        found = nx.inverse_dynamics(two_links(), table, t[::every])
        inside = slice(3, -3)
        e.append(np.abs(found.tau - asked(found.t))[inside].max())
    assert e[1] < 2e-4 and math.log2(e[0] / e[1]) > 3.0


def test_a_wide_window_smooths_the_noise_of_a_recording(rng: np.random.Generator) -> None:
    run = nx.simulate(two_links(motors=True), 1.0, nx.RungeKutta4(1e-3))
    noisy = run.recording.q + 1e-5 * rng.normal(size=run.recording.q.shape)
    off = {
        w: np.abs(nx.inverse_dynamics(two_links(), noisy, run.recording.t, window=w).tau - asked(run.recording.t))[80:-80].max()
        for w in (5, 61)
    }  # fmt: skip
    assert off[61] < 0.5 < 20.0 < off[5]


def test_every_joint_gives_back_its_efforts_from_a_table(rng: np.random.Generator) -> None:
    for kind in systems.MOVING:
        system = nx.System(kind, gravity=(1.0, -9.81, 2.0))
        body = system.add_body("body", position=(0.5, 0.1, 0), **systems.solid(rng))
        options = {"pitch": 0.2} if kind == "helical" else {}
        place = {"at": (0.3, 0, 0), "axis": systems.unit(rng, 3), "reference": systems.unit(rng, 3)}
        system.add_joint(JOINTS[kind]("joint", system.ground, body, **place, **options))
        run = nx.simulate(system, 0.2, nx.RungeKutta4(1e-3), v0={"joint": rng.normal(size=JOINTS[kind].nv)})
        found = nx.inverse_dynamics(system, run.recording.q, run.recording.t)
        np.testing.assert_allclose(found.v, run.recording.v, rtol=0, atol=1e-6, err_msg=kind)
        # it moved by itself: no efforts
        assert np.abs(found.tau[3:-3]).max() < 1e-4 * np.abs(system.gravity).max(), kind


def test_a_floating_base_needs_no_force_in_free_fall() -> None:
    system = nx.System("free", gravity=(0, 0, -9.81))
    system.add_body("stone", mass=2.0, inertia=(1, 2, 3))
    run = nx.simulate(system, 0.5, nx.RungeKutta4(1e-3), v0=[0.3, 1.0, 0.2, 1.0, 0.0, 2.0])
    found = nx.inverse_dynamics(system, run)
    assert np.abs(found.effort("stone")).max() < 1e-9 and found.effort("stone").shape == (501, 6)


def test_against_pinocchios_rnea(tmp_path, rng: np.random.Generator) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(arm(rng, 6))
    system = nx.load(path)
    tree = nx.Tree(system)
    t = np.linspace(0.0, 1.0, 401)
    phase, speed = rng.uniform(0, 6, size=6), rng.uniform(1, 3, size=6)
    q = np.sin(np.outer(t, speed) + phase)
    v, a = speed * np.cos(np.outer(t, speed) + phase), -(speed**2) * q
    found = nx.inverse_dynamics(system, q, t)
    oracle = PinOracle(path, system, tree.joint_names)
    for k in range(0, 401, 50):
        expected = oracle.rnea(q[k], v[k], a[k])
        np.testing.assert_allclose(found.tau[k], expected, rtol=0, atol=1e-4 * np.abs(expected).max())


# --- loops ----------------------------------------------------------------------------------------------------------


CRANK = nx.Harmonic(0.4, 0.5)


def driven_four_bar() -> tuple[nx.System, nx.System]:
    """With its crank driven, and without."""
    free, driven = mechanisms.four_bar(), mechanisms.four_bar()
    driven.add_driver(nx.Driver("motor", "A", CRANK))
    return free, driven


def test_a_loop_gives_back_the_effort_of_its_driver() -> None:
    free, driven = driven_four_bar()
    run = nx.simulate(driven, 1.0, nx.HHT(dt=1e-3), output_every=50)
    found = nx.inverse_dynamics(free, run, actuators=["A"])
    for k in range(0, len(found.t), 5):
        report = nx.assemble(driven, t=float(found.t[k]))
        assert found.tau[k, 0] == pytest.approx(report.effort("motor"), rel=1e-3, abs=1e-3)


def test_a_loop_follows_a_table_of_its_crank() -> None:
    free, driven = driven_four_bar()
    t = np.linspace(0.0, 1.0, 101)
    found = nx.inverse_dynamics(free, {"A": [CRANK.value(x) for x in t]}, t)
    assert found.dof_names == ["A"]
    for k in (10, 35, 60, 90):
        report = nx.assemble(driven, t=float(t[k]))
        assert found.effort("A")[k] == pytest.approx(report.effort("motor"), abs=1e-4)
        np.testing.assert_allclose(found.q[k, 2, 4:], report.position("rocker"), rtol=0, atol=1e-8)
        for joint in ("A", "C"):  # in the plane, where reactions are unique
            reaction = report.reaction(joint).force
            np.testing.assert_allclose(found.reaction(joint).values[k, :2], reaction[:2], rtol=0, atol=1e-3)


@pytest.mark.parametrize("looped", [False, True], ids=["tree", "loop"])
def test_what_events_switched_and_changed_acts_no_more_in_the_efforts(looped: bool) -> None:
    system = nx.System("switched", gravity=(0.3, 0.0, -9.81))
    system.parameter("k", 2.0)
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0), stiffness="=k"))
    if looped:
        system.add_joint(nx.Cylindrical("bearing", "ground", "arm", at=(0, 0.2, 0), axis=(0, 1, 0)))
    system.add_force(nx.JointForce("motor", "hinge", 2.0))
    system.add_event(nx.Event("switch", time=0.05, off="motor"))
    system.add_event(nx.Event("stiffen", time=0.07, parameters={"k": 9.0}))
    method = nx.HHT(dt=1e-3) if looped else nx.RungeKutta4(1e-3)
    result = nx.simulate(system, 0.1, method)
    found = nx.inverse_dynamics(system, result, actuators=["hinge"] if looped else ())
    np.testing.assert_allclose(found.effort("hinge"), 0.0, atol=1e-6)


def test_what_the_actuators_cannot_do_is_refused() -> None:
    free, driven = driven_four_bar()
    t = np.linspace(0.0, 1.0, 21)
    with pytest.raises(nx.InputError, match="2 actuated coordinates move 1 degrees of freedom"):
        nx.inverse_dynamics(free, {"A": 0.1 * t}, t, actuators=["A", "B"])
    with pytest.raises(nx.InputError, match="actuators are needed"):
        nx.inverse_dynamics(free, nx.simulate(driven, 0.1, nx.HHT(dt=1e-2)))
    with pytest.raises(nx.InputError, match="driver 'motor'"):
        nx.inverse_dynamics(driven, {"A": t}, t)
    with pytest.raises(nx.SolveError, match="cannot follow the motion at t = "):
        nx.inverse_dynamics(free, {"D": 4.0 * t}, t)


def test_a_motion_that_joints_cannot_make_is_not_balanced() -> None:
    system = nx.System("two", gravity=(0, -9.81, 0))
    for name in ("a", "b"):
        body = system.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
        system.add_joint(nx.Revolute(f"hinge {name}", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    run = nx.simulate(system, 0.1, nx.HHT(dt=1e-2))
    pushed = nx.System("two", gravity=(0, 9.81, 0))
    for name in ("a", "b"):
        body = pushed.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
        pushed.add_joint(nx.Revolute(f"hinge {name}", pushed.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(nx.SolveError, match=r"do not balance the motion at t = 0 s: .* on body 'b'") as caught:
        nx.inverse_dynamics(pushed, run, actuators=["hinge a"])
    assert caught.value.where == "b"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"motion": np.zeros((9, 2)), "t": None}, "t must be"), ({"motion": np.zeros((9, 2)), "t": np.zeros(9)}, "increase"),
        ({"motion": np.zeros((9, 3)), "t": np.arange(9.0)}, r"\(…, 2\) is needed"),
        ({"motion": np.full((9, 2), np.nan), "t": np.arange(9.0)}, "must be finite"),
        ({"motion": np.zeros((8, 2)), "t": np.arange(9.0)}, "8 samples"),
        ({"motion": {"third": np.zeros(9)}, "t": np.arange(9.0)}, "no joint 'third'"),
        ({"motion": {"first": np.zeros(8)}, "t": np.arange(9.0)}, "motion of joint 'first'"),
        ({"motion": np.zeros((9, 2)), "t": np.arange(9.0), "window": 6}, "window is 6"),
    ],
)  # fmt: skip
def test_bad_motions_are_refused(options, says: str) -> None:
    motion, t = options.pop("motion"), options.pop("t")
    with pytest.raises(nx.InputError, match=says):
        nx.inverse_dynamics(two_links(), motion, t, **options)

"""Clamps: joints that events switch on and off in a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mechanisms
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.errors import InputError

METHODS: dict[str, tuple[Any, float]] = {
    # method, and what its steps of 1 ms are off by in angles and lengths
    "rk4": (nx.RungeKutta4(1e-3), 1e-9),
    "hht": (nx.HHT(dt=1e-3), 2e-5),
    "projection": (nx.Projection(1e-3), 1e-9),
    "baumgarte": (nx.Baumgarte(1e-3), 1e-7),
    "partitioning": (nx.Partitioning(1e-3), 1e-9),
    "bdf2": (nx.ImplicitEuler(1e-3, bdf2=True), 5e-5),
}
every = pytest.mark.parametrize("method", METHODS)
ANGLE_ALONE = ("x", "y", "z", "rx", "ry")
ARM, G, J = 0.5, 9.81, 0.2 + 2.0 * 0.5**2


def pendulum(
    free: tuple[str, ...] = ANGLE_ALONE,
    on: bool = False,
    hold: float | None = 0.3,
    gravity: float = G,
    speed: float = 0.0,
) -> nx.System:
    """An arm on a hinge about −y, from horizontal, with a brake that holds it from 0.3 to 0.5 s."""
    system = nx.System("pendulum", gravity=(0, 0, -gravity))
    arm = system.add_body("arm", mass=2.0, com=(ARM, 0, 0), inertia=(0.01, 0.2, 0.2))
    system.add_joint(nx.Revolute("hinge", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), v0=speed))
    system.add_joint(nx.Clamp("brake", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), free=free, on=on))
    if hold is not None:
        system.add_event(nx.Event("hold", time=hold, on="brake"))
    system.add_event(nx.Event("let go", time=0.5, off="brake"))
    return system


def loose() -> nx.System:
    """Two bodies that turn and drift, far from all else; the hand takes the part at 0.2 s and leaves it at 0.4 s."""
    system = nx.System("gripper", gravity=(0, 0, 0))
    hand = system.add_body("hand", mass=3.0, inertia=(0.1, 0.15, 0.2))
    part = system.add_body("part", mass=1.0, position=(0.5, 0.1, 0), inertia=(0.02, 0.03, 0.04))
    system.add_joint(nx.Free("of hand", system.ground, hand, v0=(0, 0, 0.5, 1.0, 0, 0.2)))
    system.add_joint(nx.Free("of part", system.ground, part, at=(0.5, 0.1, 0), v0=(0.1, 0.2, 0.3, 0, 0.4, 0)))
    system.add_joint(nx.Clamp("grip", hand, part, at=(0.3, 0, 0), on=False))
    system.add_event(nx.Event("take", time=0.2, on="grip"))
    system.add_event(nx.Event("leave", time=0.4, off="grip"))
    return system


def momentum(result: nx.Result, body: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Momentum of a body, and moment of momentum about the origin, at sample k."""
    of = result.system.body(body)
    R, w, p, v = (
        np.asarray(x.sel(body=body))[k]
        for x in (result.rotation(), result.angular_velocity(), result.position(), result.velocity())
    )
    I = R @ np.diag(np.asarray(of.inertia, dtype=float)) @ R.T
    return float(of.mass) * v, I @ w + float(of.mass) * np.cross(p, v)


@pytest.mark.parametrize("free", [ANGLE_ALONE, ()], ids=["angle alone", "all directions"])
@every
def test_a_brake_stops_a_pendulum_holds_it_and_lets_it_go(method: str, free: tuple[str, ...]) -> None:
    chosen, error = METHODS[method]
    result = nx.simulate(pendulum(free), 0.7, method=chosen, output_times=[0.3, 0.4, 0.7])
    hold, let_go = result.events
    t, q, w = (np.asarray(x) for x in (result.t, result.joint_position("hinge"), result.joint_velocity("hinge")))
    before, after, held, end = (
        int(np.flatnonzero(t <= x)[-1]) for x in (0.3, np.nextafter(hold["time"], 1.0), 0.4, 0.7)
    )
    # the brake takes all the momentum, and the arm has fallen as far as its energy says
    assert abs(0.5 * J * w[before] ** 2 - 2.0 * G * ARM * np.sin(q[before])) < 40 * error * J
    assert abs(q[after] - q[before]) < 1e-12 and abs(w[after]) < 1e-12
    np.testing.assert_allclose(hold["impulses"]["brake"]["moment"], [0, -J * w[before], 0], atol=1e-9 + 10 * error)
    assert abs(q[held] - q[after]) < 1e-9
    weight = 2.0 * G * ARM * np.cos(q[held])
    across = np.asarray(result.reaction("brake"))[:, 3:]
    assert np.abs(np.linalg.norm(across[held]) - weight) < 1e-6 * weight
    assert np.abs(across[before]).max() == 0.0 and np.abs(across[end]).max() == 0.0
    # from rest again: the energy says how fast it is
    assert let_go["change"] == {"off": ["brake"]}
    assert abs(0.5 * J * w[end] ** 2 - 2.0 * G * ARM * (np.sin(q[end]) - np.sin(q[held]))) < 40 * error * J
    assert q[end] > q[held] + 0.05


@every
def test_what_a_gripper_takes_goes_on_with_the_momentum_of_both(method: str) -> None:
    chosen, error = METHODS[method]
    result = nx.simulate(loose(), 0.6, method=chosen, output_times=[0.2, 0.4, 0.6])
    take, _ = result.events
    t = np.asarray(result.t)
    before = int(np.flatnonzero(t <= 0.2)[-1])
    whole = [
        sum((np.concatenate(momentum(result, body, k)) for body in ("hand", "part")), np.zeros(6))
        for k in range(len(t))
    ]
    for one in whole:
        np.testing.assert_allclose(one, whole[0], atol=1e-8 + 100 * error)
    # the impulse is what the part has gained, at the clamp's point
    gained = [
        a - b for a, b in zip(momentum(result, "part", before + 1), momentum(result, "part", before), strict=True)
    ]
    at = np.asarray(result.position().sel(body="hand"))[before] + np.asarray(result.rotation().sel(body="hand"))[
        before
    ] @ [0.3, 0, 0]
    force, moment = (np.array(take["impulses"]["grip"][what]) for what in ("force", "moment"))
    np.testing.assert_allclose(force, gained[0], atol=1e-12)
    np.testing.assert_allclose(moment + np.cross(at, force), gained[1], atol=1e-12)
    # as one body: the same turn, and the hand's point of the part
    w = [np.asarray(result.angular_velocity().sel(body=body)) for body in ("hand", "part")]
    np.testing.assert_allclose(w[0][before + 1], w[1][before + 1], atol=1e-12)
    energy = np.asarray(result.energy()["kinetic"])
    assert energy[before + 1] < energy[before] - 1e-3


@pytest.mark.parametrize("on", [True, False], ids=["from the start", "by an event"])
@every
def test_a_clamp_of_all_directions_beside_a_hinge_that_lies_anyhow_holds(method: str, on: bool) -> None:
    system = nx.System("askew")
    body = system.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.2, 0.2), position=(0.13, 0.27, 0.31))
    place: Any = {"at": (0.1, 0.2, 0.3), "axis": (0.3, 0.9, -0.2)}
    system.add_joint(nx.Revolute("hinge", system.ground, body, **place, v0=0.0 if on else 1.0))
    system.add_joint(nx.Clamp("brake", system.ground, body, **place, on=on))
    system.add_event(nx.Event("hold", time=0.02, on="brake"))
    result = nx.simulate(system, 0.1, method=METHODS[method][0])
    q = np.asarray(result.joint_position("hinge"))
    after = int(np.flatnonzero(np.asarray(result.t) > 0.02)[0])
    assert np.ptp(q[0 if on else after :]) < 1e-9 and (on or q[-1] > 0.015)


def latched(velocity: bool) -> nx.System:
    """Two links without gravity; the second is latched to the first where the angle between them passes 0.1 rad, or stops there."""
    system = nx.System("latch", gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 1.0)):
        system.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1), position=(x, 0, 0))
    system.add_joint(nx.Revolute("first", system.ground, "a", at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("second", "a", "b", at=(1, 0, 0), axis=(0, 1, 0), v0=4.0))
    system.add_joint(nx.Clamp("latch", "a", "b", at=(1, 0, 0), axis=(0, 1, 0), free=ANGLE_ALONE, on=False))
    system.add_event(nx.Event("latches", joint="second", value=0.1, on="latch"))
    if velocity:
        system.add_event(nx.Event("rests", joint="second", of="velocity", stop=True))
    system.add_event(nx.Event("opens", time=0.2, off="latch"))
    return system


@pytest.mark.parametrize("velocity", [False, True], ids=["angle", "its rate too"])
@every
def test_a_latch_holds_at_the_value_that_closes_it_without_further_events(method: str, velocity: bool) -> None:
    result = nx.simulate(latched(velocity), 0.3, method=METHODS[method][0])
    assert [event["name"] for event in result.events] == ["latches", "opens"]
    assert abs(result.events[1]["time"] - 0.2) < 1e-12
    t, angle = np.asarray(result.t), np.asarray(result.joint_position("second"))
    held = angle[(t > result.events[0]["time"]) & (t <= 0.2)]
    assert len(held) > 100 and np.abs(held - 0.1).max() < 1e-8


@every
def test_what_a_clamp_has_stopped_stays_at_rest_without_gravity(method: str) -> None:
    system = pendulum(gravity=0.0, speed=200.0 if method in ("rk4", "hht") else 2.0)
    result = nx.simulate(system, 0.6, method=METHODS[method][0])
    assert [event["name"] for event in result.events] == ["hold", "let go"] and result.status == "finished"
    held = np.asarray(result.joint_position("hinge"))[np.asarray(result.t) > 0.3]
    # BDF2 closes constraints to 1e-10: of its speed, (3, -4, 1)/(2 dt) of three steps, up to 4e-7 rad/s may be left. It acts for 0.1 s.
    near = 4e-8 if method == "bdf2" else 1e-9
    assert np.ptp(held) < near
    rest = nx.simulate(system, 0.7, method=METHODS[method][0], initial=result)
    assert abs(float(rest.joint_position("hinge")[-1]) - held[-1]) < near


def test_a_run_cut_in_two_while_a_clamp_holds_is_one_run(tmp_path: Path) -> None:
    method = nx.RungeKutta4(1e-3)
    whole = nx.simulate(pendulum(), 0.7, method=method)
    half = nx.simulate(pendulum(), 0.4, method=method)
    file = tmp_path / "half.nc"
    half.save(file)
    for first in (half, nx.Result.load(file)):
        rest = nx.simulate(first.system, 0.7, method=method, initial=first)
        assert np.asarray(rest.joint_position("hinge"))[-1] == np.asarray(whole.joint_position("hinge"))[-1]


def test_a_clamp_that_is_on_holds_from_the_start_and_counts_as_a_constraint() -> None:
    shut, loosened = pendulum(on=True, hold=None), pendulum(hold=None)
    assert (nx.assemble(shut).redundancy.dof, nx.assemble(loosened).redundancy.dof) == (0, 1)
    assert [nx.assemble(system).redundancy.constraints for system in (shut, loosened)] == [6, 5]
    assert [str(motion) for motion in nx.assemble(loosened).redundancy.motions] == ["hinge turns about z"]
    every_way = nx.assemble(pendulum((), on=True, hold=None)).redundancy
    assert (every_way.dof, len(every_way.redundant)) == (0, 5)
    rest = nx.equilibrium(shut)
    assert abs(np.linalg.norm(rest.reaction("brake").moment) - 2.0 * G * ARM) < 1e-9
    result = nx.simulate(shut, 0.6, method=nx.RungeKutta4(1e-3), output_times=[0.5, 0.6])
    q = np.asarray(result.joint_position("hinge"))
    assert q[0] == 0.0 and abs(q[-1] - 0.5 * 2.0 * G * ARM / J * 0.1**2) < 1e-3


def test_an_action_switches_a_clamp_and_may_move_what_it_takes() -> None:
    system = nx.System("press", gravity=(0, 0, 0))
    for name, x in (("hand", 0.0), ("part", 0.3)):
        system.add_body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=(x, 0, 0))
        system.add_joint(
            nx.Prismatic(
                f"{name} slides", "ground", name, axis=(1, 0, 0), at=(x, 0, 0), v0=0.5 - 0.5 * (name == "part")
            )
        )
    system.add_joint(nx.Clamp("grip", "hand", "part", at=(0.2, 0, 0), on=False, free=("y", "z", "rx", "ry", "rz")))

    def take(state: Any) -> None:
        state.position["part slides"] = state.position["part slides"] + 0.05
        state.on.add("grip")

    system.add_event(nx.Event("take", joint="hand slides", value=0.1, action=take))
    result = nx.simulate(system, 1.0, method=nx.RungeKutta4(1e-3))
    hand, part = (np.asarray(result.joint_position(f"{name} slides")) for name in ("hand", "part"))
    v = np.asarray(result.joint_velocity("part slides"))
    after = int(np.flatnonzero(np.asarray(result.t) > result.events[0]["time"])[0])
    np.testing.assert_allclose((part - hand)[after:], -0.05, atol=1e-10)
    np.testing.assert_allclose(v[after:], 0.25, atol=1e-10)
    np.testing.assert_allclose(result.events[0]["impulses"]["grip"]["force"], [0.25, 0, 0], atol=1e-10)


def test_a_clamp_cannot_hold_what_a_driver_moves() -> None:
    system = pendulum(speed=1.0)
    system.add_driver(nx.Driver("motor", "hinge", "=t"))
    with pytest.raises(
        InputError, match=r"event 'hold', at t = 0\.3 s: driver 'motor' drives what the joints brake do not let move"
    ):
        nx.simulate(system, 0.7, method=nx.RungeKutta4(1e-3))


def shim(on: bool = True) -> nx.System:
    """A shim without mass that two clamps hold to an arm; events open one after the other."""
    system = nx.System("shim", gravity=(0, 0, -G))
    arm = system.add_body("arm", mass=2.0, com=(ARM, 0, 0), inertia=(0.01, 0.2, 0.2))
    plate = system.add_body("plate", mass=0.0, inertia=(0, 0, 0), position=(1, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("pin", arm, plate, at=(1, 0, 0), axis=(0, 1, 0)))
    for name in ("a", "b"):
        system.add_joint(nx.Clamp(name, arm, plate, at=(1, 0, 0), on=on))
    system.add_event(nx.Event("open a", time=0.1, off="a"))
    system.add_event(nx.Event("open b", time=0.2, off="b"))
    return system


@every
def test_a_body_without_mass_is_named_where_the_last_clamp_that_holds_it_opens(method: str) -> None:
    chosen, _ = METHODS[method]
    with pytest.raises(
        nx.SolveError, match=r"event 'open b', at t = 0\.2 s: the accelerations .* neither mass nor joints hold plate"
    ) as stopped:
        nx.simulate(shim(), 0.4, method=chosen)
    assert stopped.value.where == "plate"
    assert stopped.value.time == pytest.approx(0.2)
    assert stopped.value.result.t.values[-1] == pytest.approx(0.2)


@pytest.mark.parametrize("method", ["rk4", "hht"])
def test_it_is_named_where_a_run_goes_on_without_clamps(method: str) -> None:
    chosen, _ = METHODS[method]
    held = nx.simulate(shim(), 0.05, method=chosen)
    with pytest.raises(nx.SolveError, match="neither mass nor joints hold plate") as stopped:
        nx.simulate(shim(on=False), 0.4, method=chosen, initial=held)
    assert stopped.value.where == "plate"


def test_wrong_clamps_and_switches_are_refused_by_name() -> None:
    system = pendulum()
    with pytest.raises(
        InputError, match=r"event 'x' switches 'hinge': .*'hinge' \(revolute\) cannot be switched; a Clamp can"
    ):
        system.add_event(nx.Event("x", time=1.0, off="hinge"))
    with pytest.raises(InputError, match=r"event 'x' switches 'brak': .*brake"):
        system.add_event(nx.Event("x", time=1.0, off="brak"))
    with pytest.raises(InputError, match=r"on of joint 'c' is 'yes'; True or False"):
        system.add_joint(nx.Clamp("c", "ground", "arm", on="yes"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"takes no damping"):
        system.add_joint(nx.Clamp("c", "ground", "arm", damping=1.0))
    system.add_force(nx.AppliedForce("brake", "arm", force=(0, 0, 1)))
    with pytest.raises(InputError, match=r"a force or a contact, and a clamp; give one of them another name"):
        system.add_event(nx.Event("x", time=1.0, off="brake"))


@pytest.mark.parametrize("clamps", [1, 2])
@pytest.mark.parametrize(
    "method",
    [nx.ImplicitEuler(2e-3), nx.ImplicitEuler(2e-3, bdf2=True), nx.HHT(dt=1e-3), nx.RungeKutta4(1e-3)],
    ids=lambda method: repr(method).split(", mu")[0],
)
def test_clamps_that_lock_a_loop_stop_it_and_two_that_are_equal_do_as_one(method: Any, clamps: int) -> None:
    """What is left of velocities is rounding, and the two are redundant in every pose: no singular pose is told."""
    system = mechanisms.four_bar()
    for k in range(clamps):
        system.add_joint(nx.Clamp(f"lock {k}", "crank", "rocker", on=False))
        system.add_event(nx.Event(f"hold {k}", time=0.3, on=f"lock {k}"))
        system.add_event(nx.Event(f"let go {k}", time=0.5, off=f"lock {k}"))
    result = nx.simulate(system, 0.8, method, v0={"A": 3.0})
    assert not result.warnings
    t, x = result.t.values, result.position("coupler").values
    held, later = x[(t > 0.31) & (t < 0.5)], x[t > 0.6]
    assert np.abs(held - held[0]).max() < 1e-6
    assert np.abs(later - held[0]).max() > 1e-3


@pytest.mark.parametrize("joint", [nx.Fixed, nx.Clamp, nx.Revolute])
@pytest.mark.parametrize("bdf2", [False, True])
def test_a_doubled_joint_is_no_singular_pose(joint: Any, bdf2: bool) -> None:
    """It is redundant in every pose. The warning would be an error here."""
    system = nx.System("twice", gravity=(0, -9.81, 0))
    system.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, "a", at=(0, 0, 0), axis=(0, 0, 1)))
    for k in range(2):
        system.add_joint(joint(f"again {k}", "a", "b", at=(1, 0, 0), axis=(0, 0, 1)))
    result = nx.simulate(system, 2.0, nx.ImplicitEuler(2e-3, bdf2=bdf2))
    assert not result.warnings
    assert result.recording.violation.max() < 1e-9


def gripped(joint: str, when: float) -> nx.System:
    """An arm on a hinge and a link on it that swings; a clamp takes hold of the two bodies that the second joint holds already."""
    system = nx.System("grip", gravity=(0, 0, -G))
    for name, x in (("a", 0.2), ("b", 0.6)):
        system.add_body(name, mass=1.0, inertia=(0.02, 0.03, 0.025), position=(x, 0, 0))
    system.add_joint(nx.Revolute("root", "ground", "a", at=(0, 0, 0), axis=(0, 1, 0)))
    if joint == "ball":
        system.add_joint(nx.Spherical("own", "a", "b", at=(0.4, 0, 0), v0=(0.5, 1.0, 0.2)))
    else:
        system.add_joint(nx.Revolute("own", "a", "b", at=(0.4, 0, 0), axis=(0, 1, 0), v0=1.0))
    system.add_joint(nx.Clamp("grip", "a", "b", on=False))
    system.add_event(nx.Event("grips", time=when, on="grip"))
    return system


@pytest.mark.parametrize("when", [0.04, 0.04003], ids=["between steps", "within a step"])
@pytest.mark.parametrize("joint", ["ball", "hinge"])
def test_a_clamp_and_the_joint_beside_it_share_a_load_in_one_way_whatever_the_step(joint: str, when: float) -> None:
    """Their forces are not unique; those that balance each other stay what they are, and the sum is what the bodies need."""
    true = nx.simulate(gripped(joint, when), 0.06, method=nx.HHT(dt=1e-4))

    def both(result: nx.Result, k: int = -1) -> np.ndarray:
        """The moments and forces of joint and clamp on the link, about its origin, in the world."""
        R, p = (np.asarray(x.sel(body="a"))[k] for x in (result.rotation(), result.position()))
        at = np.asarray(result.position().sel(body="b"))[k]
        out = np.zeros(6)
        for name in ("own", "grip"):
            frames = result.system.joint(name).frames(result.system.values)
            force, moment = (R @ frames.R_AJ @ x for x in np.split(np.asarray(result.reaction(name))[k], 2))
            out += [*(moment + np.cross(p + R @ frames.p_AJ - at, force)), *force]
        return out

    seen = []
    for method, error in (
        (nx.ImplicitEuler(1e-3, bdf2=True), 1e-3), (nx.ImplicitEuler(1e-5, bdf2=True), 1e-4), (nx.ImplicitEuler(1e-4), 2e-3),
    ):  # fmt: skip
        result = nx.simulate(gripped(joint, when), 0.06, method=method)
        np.testing.assert_allclose(both(result), both(true), rtol=0, atol=error * np.abs(both(true)).max())
        largest = float(result.peaks()["force"].max())
        assert largest == pytest.approx(float(true.peaks()["force"].max()), rel=1e-3)
        after = np.asarray(result.t) > result.events[0]["time"]
        each = np.concatenate([np.asarray(result.reaction(name))[after] for name in ("own", "grip")], axis=1)
        assert np.abs(np.diff(each, axis=0)).max() < 0.06  # of 20 ms, in which they change by 0.5
        seen.append(each[-1])
    np.testing.assert_allclose(seen[1:], [seen[0]] * 2, rtol=0, atol=2e-3)

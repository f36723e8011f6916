"""Angles are counted over whole turns, whatever integrates the motion, between samples and across restarts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.integrate.methods import METHODS as REGISTRY
from nexdyn.integrate.methods import PAIRS

RATE, CRANK = 20.0, 30.0
PITCH = 0.01
ROTORS = ("revolute", "helical", "cylindrical", "universal", "planar")
WOUND_UP = ("spring", "torsion", "table")
"""Rotors of 0.1 kg m² on 2 N m/rad: a spring of the joint, a torsion spring, a table of its force."""
METHODS = {
    "hht": nx.HHT(dt=5e-3),
    "hht adaptive": nx.HHT(rtol=1e-4),
    "baumgarte": nx.Baumgarte(dt=5e-3),
    "projection": nx.Projection(dt=5e-3),
    "partitioning": nx.Partitioning(dt=5e-3),
    "implicit euler": nx.ImplicitEuler(dt=5e-3),
    "bdf2": nx.ImplicitEuler(dt=5e-3, bdf2=True),
}
EXPLICIT = {
    "rk4": nx.RungeKutta4(5e-3),
    "euler": nx.ExplicitEuler(5e-3),
    "semi-implicit": nx.SemiImplicitEuler(5e-3),
    "dormand-prince": nx.DormandPrince(),
    "bogacki-shampine": nx.BogackiShampine32(),
    "dop853": nx.DOP853(),
    "baumgarte adaptive": nx.Baumgarte(),
    "projection adaptive": nx.Projection(),
    "partitioning adaptive": nx.Partitioning(),
}
"""What else an event is looked for under."""
every = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def rotor(system: nx.System, name: str, joint: Any, x: float, **numbers: Any) -> None:
    """A body that turns about z at (x, 0, 0)."""
    system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0.0, 0.0))
    system.add_joint(joint(name, system.ground, name, at=(x, 0.0, 0.0), axis=(0.0, 0.0, 1.0), **numbers))


def turning() -> nx.System:
    """Rotors of every kind of joint with an angle, a geared pair, a driven slider-crank, and springs that wind up."""
    system = nx.System("turning", gravity=(0.0, 0.0, 0.0))
    rotor(system, "revolute", nx.Revolute, 0.0, v0=RATE)
    rotor(system, "helical", nx.Helical, 1.0, v0=RATE, pitch=PITCH)
    rotor(system, "cylindrical", nx.Cylindrical, 2.0, v0=(RATE, 0.1))
    rotor(system, "universal", nx.Universal, 3.0, v0=(RATE, 0.0))
    rotor(system, "planar", nx.Planar, 4.0, v0=(0.1, 0.0, RATE))
    rotor(system, "wheel", nx.Revolute, 5.0, v0=RATE)
    rotor(system, "pinion", nx.Revolute, 6.0, v0=-2.5 * RATE)
    system.add_coupling(nx.Gear("gear", "pinion", "wheel", ratio=-2.5))
    rotor(system, "spring", nx.Revolute, 7.0, v0=25.0, stiffness=2.0)
    rotor(system, "torsion", nx.Revolute, 8.0, v0=25.0)
    system.add_force(nx.TorsionSpring("torsion spring", "ground", "torsion", stiffness=2.0))
    rotor(system, "table", nx.Revolute, 8.5, v0=25.0)
    system.add_force(
        nx.ForceTable("stiff as the springs", joint="table", deflections=(-50.0, 50.0), forces=(-100.0, 100.0))
    )
    rotor(system, "crank", nx.Revolute, 9.0)
    system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(9.8, 0.0, 0.0))
    system.add_body("slider", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(10.3, 0.0, 0.0))
    system.add_joint(nx.Revolute("crank pin", "crank", "rod", at=(9.3, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add_joint(nx.Revolute("slider pin", "rod", "slider", at=(10.3, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add_joint(nx.Prismatic("guide", system.ground, "slider", at=(10.3, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    system.add_driver(nx.Driver("motor", "crank", f"={CRANK}*t"))
    return system


def angle(result: nx.Result, joint: str) -> float:
    """The angle of a joint at the last sample."""
    x = result.observed.of_joint("joint_position", joint)[-1]
    return float(x[2] if joint == "planar" else x[0])


def check_turns(result: nx.Result, t: float) -> None:
    """All that turns at a constant rate is where it must be at t, and all springs are where one law puts them."""
    for name in ROTORS:
        assert angle(result, name) == pytest.approx(RATE * t, rel=1e-9), name
    assert angle(result, "crank") == pytest.approx(CRANK * t, rel=1e-9)
    assert angle(result, "wheel") == pytest.approx(RATE * t, rel=1e-9)
    assert angle(result, "pinion") == pytest.approx(-2.5 * RATE * t, rel=1e-9)
    for name in WOUND_UP:
        assert angle(result, name) == pytest.approx(angle(result, "spring"), rel=1e-6), name
    # a rod of 1 m on a crank of 0.3 m turns to and fro: by the crank's angle against the crank
    swing = math.asin(-0.3 * math.sin(CRANK * t))
    assert angle(result, "crank pin") == pytest.approx(swing - CRANK * t, abs=1e-3)


def wound(t: float) -> float:
    """The angle of a hinge with a spring: I q̈ + k q = 0, q̇(0) = 25 rad/s; at 0.35 s nearly a turn."""
    w = math.sqrt(20.0)
    return 25.0 / w * math.sin(w * t)


@every
def test_angles_count_their_turns_between_samples(method: nx.Method) -> None:
    result = nx.simulate(turning(), 1.4, method=method, output_every=10_000)
    assert len(result.recording.t) == 2
    check_turns(result, 1.4)
    order = 1 if getattr(method, "bdf2", None) is False else 2
    assert angle(result, "spring") == pytest.approx(wound(1.4), abs=1.0 if order == 1 else 0.02)
    wound_up = sum(angle(result, name) ** 2 for name in WOUND_UP)
    assert result.observed.take("elastic_energy")[-1] == pytest.approx(0.5 * 2.0 * wound_up, rel=1e-9)


@every
def test_a_run_goes_on_with_its_turns(method: nx.Method, tmp_path: Path) -> None:
    half = nx.simulate(turning(), 0.7, method=method, output_every=10_000)
    half.save(tmp_path / "half.nc")
    stored = nx.Result.load(tmp_path / "half.nc")
    check_turns(stored, 0.7)
    check_turns(nx.simulate(stored.system, 1.4, method=method, initial=stored, output_every=10_000), 1.4)


def hinge(stiffness: float = 0.0, torsion: float = 0.0, table: float = 0.0, **numbers: Any) -> nx.System:
    """A rotor of 0.1 kg m² on a hinge, with a spring of the joint, a torsion spring beside it, or a table of its force."""
    system = nx.System("hinge", gravity=(0.0, 0.0, 0.0))
    rest = numbers.pop("rest", 0.0)
    given = {"stiffness": stiffness, "rest": rest} if stiffness else {}
    rotor(system, "hinge", nx.Revolute, 0.0, **given, **numbers)
    if torsion:
        system.add_force(nx.TorsionSpring("spring", "ground", "hinge", stiffness=torsion, rest=rest))
    if table:
        deflections = (-100.0, -1.0, 0.0, 1.0, 100.0)
        system.add_force(
            nx.ForceTable(
                "table", joint="hinge", deflections=deflections, forces=[table * x for x in deflections], rest=rest
            )
        )
    return system


STARTS: list[dict[str, float]] = [{"v0": 25.0}, {"q0": 19.0}, {"rest": 10.0}, {"rest": 10.0, "q0": 9.0}]


@pytest.mark.parametrize("method", [nx.RungeKutta4(5e-3), nx.HHT(dt=5e-3), nx.ImplicitEuler(5e-3)], ids=repr)
@pytest.mark.parametrize("start", STARTS, ids=str)
def test_a_torsion_spring_and_a_table_beside_a_hinge_are_the_spring_of_the_hinge(
    method: nx.Method, start: dict[str, float]
) -> None:
    of_joint, *others = (
        nx.simulate(hinge(**{kind: 2.0}, **start), 0.9, method=method, output_every=50)
        for kind in ("stiffness", "torsion", "table")
    )
    q, energy = (of_joint.observed.take(what) for what in ("joint_position", "elastic_energy"))
    assert np.abs(q).max() > math.pi
    for other in others:
        np.testing.assert_allclose(other.observed.take("joint_position"), q, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(other.observed.take("elastic_energy"), energy, rtol=1e-8, atol=1e-9)


KEEPS_ENERGY = {
    "rk4": (nx.RungeKutta4(1e-3), 1e-8),
    "dormand-prince": (nx.DormandPrince(), 1e-6),
    "dop853": (nx.DOP853(), 1e-6),
    "hht": (nx.HHT(dt=1e-3, alpha=0.0), 1e-3),
    "hht adaptive": (nx.HHT(rtol=1e-6), 1e-3),
    "baumgarte": (nx.Baumgarte(dt=1e-3), 1e-8),
    "projection": (nx.Projection(dt=1e-3), 1e-8),
    "partitioning": (nx.Partitioning(dt=1e-3), 1e-8),
    "bdf2": (nx.ImplicitEuler(1e-4, bdf2=True), 1e-3),
}
"""Methods with the drift of a spring that winds up to 5.6 rad and back."""


@pytest.mark.parametrize("kind", ["stiffness", "torsion", "table"])
@pytest.mark.parametrize(("method", "drift"), KEEPS_ENERGY.values(), ids=KEEPS_ENERGY)
def test_energies_of_what_winds_up_beyond_half_a_turn_do_not_drift(method: nx.Method, drift: float, kind: str) -> None:
    """A spring that lost a turn would lose (2 π)² of some 31 rad²."""
    result = nx.simulate(hinge(**{kind: 2.0}, v0=25.0), 0.7, method=method, output_times=[0.35, 0.5, 0.7])
    assert np.abs(result.observed.take("joint_position")).max() > 5.0
    assert result.energy_drift < drift


@pytest.mark.parametrize("method", [nx.HHT(dt=0.25), nx.Projection(dt=0.25), nx.ImplicitEuler(0.25)], ids=repr)
def test_a_step_may_turn_by_more_than_half_a_turn(method: nx.Method) -> None:
    result = nx.simulate(hinge(v0=RATE, torsion=1e-12), 5.0, method=method, output_every=100)
    assert angle(result, "hinge") == pytest.approx(5.0 * RATE, rel=1e-9)


@pytest.mark.parametrize("method", [*EXPLICIT.values(), *METHODS.values()], ids=[*EXPLICIT, *METHODS])
def test_an_event_after_two_turns_happens_and_a_changed_state_keeps_them(method: nx.Method) -> None:
    def back(state: Any) -> None:
        state.velocity["hinge"] = -state.velocity["hinge"]

    system = hinge(v0=RATE, torsion=1e-12)
    system.add_event(nx.Event("two turns", joint="hinge", value=4.0 * math.pi, action=back, once=True))
    result = nx.simulate(system, 1.0, method=method)
    (event,) = result.recording.settings["events"]
    assert event["time"] == pytest.approx(4.0 * math.pi / RATE, abs=1e-6)
    assert angle(result, "hinge") == pytest.approx(8.0 * math.pi - RATE, abs=1e-6)


def test_a_crank_is_driven_over_turns_by_the_default_method() -> None:
    """Under any method the angle of the driven joint counts, and the loop of the slider does not lock at half a turn."""
    result = nx.simulate(turning(), 0.7)
    assert angle(result, "crank") == pytest.approx(CRANK * 0.7, rel=1e-9)
    assert CRANK * 0.7 > 6.0 * math.pi
    system = hinge()
    system.add_driver(nx.Driver("motor", "hinge", f"={CRANK}*t"))
    assert angle(nx.simulate(system, 1.4), "hinge") == pytest.approx(CRANK * 1.4, rel=1e-9)


def test_members_of_a_batch_count_their_turns() -> None:
    rates = np.array([5.0, 20.0, -20.0, 40.0, 21.0])
    for kind in ("stiffness", "torsion"):
        batch = {"parameters": {"hinge.v0": rates}}
        result = nx.simulate(hinge(**{kind: 2.0}, v0=1.0), 0.3, method=nx.HHT(dt=5e-3), batch=batch, output_every=60)
        w = math.sqrt(20.0)
        q = result.joint_position("hinge").values[:, -1]
        np.testing.assert_allclose(q, rates / w * math.sin(0.3 * w), rtol=1e-3)


# --- steps in which turns are not known ------------------------------------------------------------------------------

OBLIQUE, LONG_STEP = 1.3, 0.1
"""Between the axis that a body turns about and that of its angle [rad]; a step [s]."""
BY_BODIES: dict[str, Callable[[float], nx.Method]] = {
    "hht": lambda dt: nx.HHT(dt=dt),
    "baumgarte": lambda dt: nx.Baumgarte(dt=dt),
    "projection": lambda dt: nx.Projection(dt=dt),
    "partitioning": lambda dt: nx.Partitioning(dt=dt),
    "implicit-euler": nx.ImplicitEuler,
    "bdf2": lambda dt: nx.ImplicitEuler(dt, bdf2=True),
}


def tumbling(joint: str, turn: float) -> nx.System:
    """A ball that turns by `turn` [rad] in a long step, about an axis that is not that of a weak spring across it."""
    w = turn / LONG_STEP
    v0 = (0.0, w * math.sin(OBLIQUE), w * math.cos(OBLIQUE))
    system = nx.System("tumbling", gravity=(0.0, 0.0, 0.0))
    system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    if joint == "spherical":
        system.add_joint(nx.Spherical("ball", "ground", "b", v0=v0))
    else:
        system.add_joint(nx.Free("ball", "ground", "b", v0=(*v0, 0.0, 0.0, 0.0)))
    system.add_force(nx.TorsionSpring("spring", "ground", "b", stiffness=1e-9))
    return system


def test_every_method_in_absolute_coordinates_may_take_steps_that_are_too_long() -> None:
    assert {make(0.1).name for make in BY_BODIES.values()} == {
        name for name, cls in REGISTRY.items() if cls.coordinates == "bodies"
    }


@pytest.mark.parametrize("joint", ["spherical", "free"])
@pytest.mark.parametrize("make", BY_BODIES.values(), ids=BY_BODIES)
def test_only_a_step_whose_increment_is_not_known_is_refused(make: Callable[[float], nx.Method], joint: str) -> None:
    """Half a turn about an oblique axis in one step could be a turn more or less about the other; in ten steps it is counted."""
    with pytest.raises(nx.SolveError, match=r"turns of the joints cannot be counted at t = 0.1 s.*reduce dt = 0.1 s"):
        nx.simulate(tumbling(joint, 3.2), 3 * LONG_STEP, make(LONG_STEP))
    t = 10 * LONG_STEP
    found = nx.simulate(tumbling(joint, 3.2), t, make(LONG_STEP / 10), output_every=10**6)
    true = nx.simulate(tumbling(joint, 3.2), t, nx.RungeKutta4(LONG_STEP / 100), output_every=10**6)
    wound = [math.sqrt(2e9 * float(result.force("spring").energy[-1])) for result in (found, true)]
    assert wound[1] > 2.0 * math.pi
    assert wound[0] == pytest.approx(wound[1], rel=1e-4)


# --- many turns -----------------------------------------------------------------------------------------------------

FAST = 200.0
"""Of rotors that turn for long [rad/s]."""


def free_rotor() -> nx.System:
    return hinge(v0=FAST, torsion=1e-30)


def driven_crank() -> nx.System:
    system = nx.System("crank", gravity=(0.0, 0.0, 0.0))
    rotor(system, "hinge", nx.Revolute, 0.0)
    system.add_driver(nx.Driver("motor", "hinge", f"={FAST}*t"))
    return system


def geared_pair() -> nx.System:
    system = nx.System("gears", gravity=(0.0, 0.0, 0.0))
    rotor(system, "hinge", nx.Revolute, 0.0, v0=FAST)
    rotor(system, "pinion", nx.Revolute, 1.0, v0=-2.5 * FAST)
    system.add_coupling(nx.Gear("gear", "pinion", "hinge", ratio=-2.5))
    return system


def rotor_in_a_loop() -> nx.System:
    """A rotor in two bearings, the second of which is cut in minimal coordinates."""
    system = nx.System("bearings", gravity=(0.0, 0.0, 0.0))
    rotor(system, "hinge", nx.Revolute, 0.0, v0=FAST)
    system.add_joint(nx.Cylindrical("bearing", system.ground, "hinge", at=(0.0, 0.0, 0.3), axis=(0.0, 0.0, 1.0)))
    return system


LONG: dict[str, tuple[Any, dict[str, float]]] = {
    "free rotor": (free_rotor, {"hinge": 1.0}),
    "driven crank": (driven_crank, {"hinge": 1.0}),
    "geared pair": (geared_pair, {"hinge": 1.0, "pinion": -2.5}),
    "rotor in a loop": (rotor_in_a_loop, {"hinge": 1.0, "bearing": 1.0}),
}
DT_LONG = 0.05
"""10 rad a step; the pinion turns by 25."""
Run = Callable[..., nx.Result]


def run(method: nx.Method, **options: Any) -> Run:
    """A simulation by a method."""
    return lambda system, t, **how: nx.simulate(system, t, method, output_every=10**9, **options, **how)


ALL: dict[str, tuple[nx.Method, Run]] = {
    name: (method, run(method, **options))
    for name, method, options in (
        ("rk4", nx.RungeKutta4(DT_LONG), {}),
        ("rk4, loops stabilised", nx.RungeKutta4(DT_LONG), {"loops": nx.Loops("baumgarte")}),
        ("euler", nx.ExplicitEuler(DT_LONG), {}),
        ("semi-implicit", nx.SemiImplicitEuler(DT_LONG), {}),
        ("dormand-prince", nx.DormandPrince(), {}),
        ("bogacki-shampine", nx.BogackiShampine32(), {}),
        ("dop853", nx.DOP853(), {}),
        ("hht", nx.HHT(dt=DT_LONG), {}),
        ("hht adaptive", nx.HHT(), {}),  # free of errors, its steps grow to thousands of turns
        ("baumgarte", nx.Baumgarte(dt=DT_LONG), {}),
        ("baumgarte adaptive", nx.Baumgarte(), {}),
        ("baumgarte adaptive, soft", nx.Baumgarte(alpha=5.0, beta=5.0), {}),  # which does not shorten the steps
        ("projection", nx.Projection(dt=DT_LONG), {}),
        ("projection adaptive", nx.Projection(), {}),
        ("partitioning", nx.Partitioning(dt=DT_LONG), {}),
        ("partitioning adaptive", nx.Partitioning(), {}),
        ("implicit euler", nx.ImplicitEuler(DT_LONG), {}),
        ("bdf2", nx.ImplicitEuler(DT_LONG, bdf2=True), {}),
    )
}


def test_every_method_keeps_angles_over_many_turns_with_a_given_step_and_with_chosen_ones() -> None:
    fixed = {method.name for method, _ in ALL.values() if getattr(method, "dt", None) is not None}
    chosen = {method.name for method, _ in ALL.values() if getattr(method, "dt", None) is None}
    assert fixed == set(REGISTRY) - set(PAIRS)
    assert chosen == {name for name, cls in REGISTRY.items() if "rtol" in cls.__dataclass_fields__}
    assert {method.bdf2 for method, _ in ALL.values() if isinstance(method, nx.ImplicitEuler)} == {False, True}


SHORTER = {("driven crank", "baumgarte adaptive"): 0.1, ("geared pair", "baumgarte adaptive"): 0.1}
"""A part of the turns, where stabilisation by default, as fast as the motion, shortens the steps to 2.7 ms and 1.4 ms, whatever the
tolerance: 1.15 and 2.2 million take up to a minute each. All of them with --long; with α of 5/s in each run."""


@pytest.mark.parametrize("way", ALL)
@pytest.mark.parametrize("name", LONG)
def test_angles_are_kept_over_a_hundred_thousand_turns(
    name: str, way: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (build, ratios), (_, simulate) = LONG[name], ALL[way]
    part = 1.0 if request.config.getoption("--long") else SHORTER.get((name, way), 1.0)
    t = 2.0 * math.pi * 1e5 / FAST * part
    half = simulate(build(), t / 2)
    half.save(tmp_path / "half.nc")
    result = simulate(half.system, t, initial=nx.Result.load(tmp_path / "half.nc"))
    for joint, ratio in ratios.items():
        assert angle(result, joint) == pytest.approx(ratio * FAST * t, rel=1e-9), joint


def test_a_cut_joint_counts_its_turns_whatever_acts() -> None:
    """Its angle is counted where no force needs it, too, and in steps of many turns."""
    for method in (nx.RungeKutta4(1e-3), nx.DormandPrince(), nx.SemiImplicitEuler(0.01)):
        for forced in (False, True):
            system = rotor_in_a_loop()
            if forced:
                system.add_force(nx.AppliedForce("nothing", "hinge"))
            system.add_event(nx.Event("passed", joint="bearing", value=12.0))
            result = nx.simulate(system, 0.9, method, loops=nx.Loops(cut="bearing"))
            assert angle(result, "bearing") == pytest.approx(0.9 * FAST, rel=1e-12)
            assert [event["time"] for event in result.events] == [pytest.approx(12.0 / FAST, abs=1e-9)]


@pytest.mark.parametrize(
    "method", [nx.SemiImplicitEuler, nx.ExplicitEuler, nx.RungeKutta4], ids=lambda m: str(m.__name__)
)
def test_a_crank_of_a_loop_is_driven_in_steps_of_half_a_radian(method: Any) -> None:
    """Loops close in more iterations then, which is no reason to say that the mechanism locks."""
    system = nx.System("four-bar")
    ends = {
        "hinge": ((0, 0, 0), (0, 0, 0.3)),
        "coupler": ((0, 0, 0.3), (1, 0, 0.8)),
        "rocker": ((1, 0, 0), (1, 0, 0.8)),
    }
    for name, (a, b) in ends.items():
        system.add_body(name, mass=1.0, inertia=(0.02, 0.03, 0.02), position=tuple((np.array(a) + b) / 2))
    for name, (a, b), at in (
        ("A", ("ground", "hinge"), (0, 0, 0)), ("B", ("hinge", "coupler"), (0, 0, 0.3)),
        ("C", ("coupler", "rocker"), (1, 0, 0.8)), ("D", ("ground", "rocker"), (1, 0, 0)),
    ):  # fmt: skip
        system.add_joint(nx.Revolute(name, a, b, at=at, axis=(0, 1, 0)))
    system.add_driver(nx.Driver("motor", "A", f"={FAST}*t"))
    result = nx.simulate(system, 6.0, method(3e-3), output_every=10**9)
    assert angle(result, "A") == pytest.approx(6.0 * FAST, rel=1e-9)


WOUND = 4.0
"""Frequency of the spring across a ball [rad/s]: it turns by FAST/WOUND rad, some turns, to either side."""
BALLS = ("spherical", "free", "no joint", "in a loop")


def ball(kind: str, stiffness: float = 0.1 * WOUND**2) -> nx.System:
    """I θ̈ + k θ = 0 about z of a body that hangs in a ball, or floats; in a loop: of a system that has one, too."""
    system = nx.System("ball", gravity=(0.0, 0.0, 0.0))
    system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    if kind == "free":
        system.add_joint(nx.Free("ball", system.ground, "b", v0=(0.0, 0.0, FAST, 0.0, 0.0, 0.0)))
    elif kind != "no joint":
        system.add_joint(nx.Spherical("ball", system.ground, "b", v0=(0.0, 0.0, FAST)))
    if kind == "in a loop":
        for k in range(2):
            system.add_body(f"c{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(2.0 + k, 0.0, 0.0))
        system.add_joint(nx.Revolute("one", "ground", "c0", at=(1.5, 0, 0), axis=(0, 0, 1)))
        system.add_joint(nx.Revolute("two", "c0", "c1", at=(2.5, 0, 0), axis=(0, 0, 1)))
        system.add_joint(nx.Revolute("three", "ground", "c1", at=(2.5, 1.0, 0), axis=(0, 0, 1)))
    system.add_force(nx.TorsionSpring("spring", "ground", "b", stiffness=stiffness))
    return system


def thrown(kind: str) -> dict[str, Any]:
    """How a body without a joint turns at first."""
    return {"v0": {"b": (0.0, 0.0, FAST, 0.0, 0.0, 0.0)}} if kind == "no joint" else {}


def spun(result: nx.Result, stiffness: float = 0.1 * WOUND**2) -> float:
    """The worst error of the angular velocity, in parts of the largest."""
    exact = FAST * np.cos(math.sqrt(stiffness / 0.1) * result.t.values)
    return float(np.abs(result.angular_velocity("b").values[:, 2] - exact).max() / FAST)


@pytest.mark.parametrize("kind", BALLS)
def test_a_spring_across_a_ball_counts_its_turns_under_every_method(kind: str) -> None:
    of_tree = [nx.RungeKutta4(1e-3), nx.DormandPrince(rtol=1e-9), nx.SemiImplicitEuler(1e-4)]
    of_bodies = [nx.HHT(dt=5e-4), nx.Projection(dt=1e-3), nx.ImplicitEuler(1e-3, bdf2=True)]
    if kind == "in a loop":
        of_tree, of_bodies = of_tree[:2], of_bodies[:1]
    for method in (*of_tree, *of_bodies):
        result = nx.simulate(ball(kind), 1.0, method, output_every=10, **thrown(kind))
        assert spun(result) < 3e-3, method
        assert not result.warnings
        energy = result.energy()
        total = (energy["kinetic"] + energy["elastic"]).values
        np.testing.assert_allclose(total, total[0], rtol=2e-3, err_msg=repr(method))
        followed = result.recording.followed[:, -1]
        assert np.abs(followed).max() > 0.99 * FAST / WOUND
        assert result.force("spring").energy.values == pytest.approx(energy["elastic"].values, abs=1e-9 * total[0])


def test_a_spring_across_a_ball_counts_turns_within_long_steps() -> None:
    """A weak spring: steps of many turns."""
    stiffness = 1e-4
    result = nx.simulate(ball("spherical", stiffness), 40.0, nx.DormandPrince(rtol=1e-6))
    assert result.recording.steps < 40.0 * FAST / (2.0 * math.pi) / 2.0
    assert spun(result, stiffness) < 1e-3


@pytest.mark.parametrize("kind", BALLS)
def test_a_run_that_goes_on_keeps_the_turns_of_a_spring_across_a_ball(kind: str, tmp_path: Any) -> None:
    one, other = nx.RungeKutta4(1e-3), nx.HHT(dt=5e-4)
    whole = nx.simulate(ball(kind), 0.6, one, **thrown(kind))
    for first, second in ((one, one), (one, other), (other, one), (nx.DormandPrince(rtol=1e-9), one)):
        half = nx.simulate(ball(kind), 0.3, first, **thrown(kind))
        half.save(tmp_path / "half.nc")
        for initial in (half, nx.open_result(tmp_path / "half.nc")):
            result = nx.simulate(initial.system, 0.6, second, initial=initial)
            assert spun(result) < 1e-4
            if first is second:
                np.testing.assert_array_equal(
                    result.angular_velocity("b").values[-1], whole.angular_velocity("b").values[-1]
                )


def test_events_and_batches_keep_the_turns_of_a_spring_across_a_ball() -> None:
    system = ball("spherical")
    system.parameter("nothing", 1.0)
    system.add_event(nx.Event("look", time=0.3, parameters={"nothing": 2.0}))
    assert spun(nx.simulate(system, 0.6, nx.RungeKutta4(1e-3))) < 1e-6
    batch = nx.simulate(
        ball("spherical"), 0.6, nx.RungeKutta4(1e-3), batch={"v0": {"ball": np.full((2, 3), (0, 0, FAST))}}
    )
    assert all(spun(batch.member(k)) < 1e-6 for k in range(2))


def test_inverse_dynamics_counts_the_turns_of_a_spring_across_a_ball() -> None:
    result = nx.simulate(ball("spherical"), 0.6, nx.RungeKutta4(1e-3))
    effort = nx.inverse_dynamics(result.system, result).effort("ball")
    assert np.abs(effort).max() < 1e-6 * 0.1 * WOUND**2 * FAST / WOUND


def wound_beside_a_wheel(kind: str) -> nx.System:
    """A ball with its spring, and a wheel that goes to and fro as fast, on half of the stiffness in its axle and half beside it; in a
    loop: in two bearings."""
    system = ball("free" if kind == "free" else "spherical")
    rotor(system, "wheel", nx.Revolute, 3.0, v0=FAST, stiffness=0.8)
    system.add_force(nx.TorsionSpring("beside", "ground", "wheel", stiffness=0.8))
    if kind == "in a loop":
        system.add_joint(nx.Cylindrical("bearing", "ground", "wheel", at=(3.0, 0.0, 0.3), axis=(0.0, 0.0, 1.0)))
    return system


@pytest.mark.parametrize("kind", ["spherical", "free", "in a loop"])
def test_inverse_dynamics_has_the_turns_that_a_run_has_counted(kind: str) -> None:
    """Of a run that goes on from turns, and of one whose samples are many turns apart: nothing drives it."""
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3)):
        half = nx.simulate(wound_beside_a_wheel(kind), 0.3, method)
        for result in (
            nx.simulate(half.system, 0.6, method, initial=half, output_every=10),
            nx.simulate(wound_beside_a_wheel(kind), 0.6, method, output_every=200),
        ):
            found = nx.inverse_dynamics(result.system, result, actuators=["wheel"])
            assert np.abs(found.tau).max() < 1e-9 * 0.1 * WOUND**2 * FAST / WOUND
            for name in ("spring", "beside"):
                energy = result.force(name).energy.values
                assert found.motion.force(name).energy.values == pytest.approx(energy, rel=1e-9, abs=1e-6)
                assert energy.max() > 500.0
            elastic = result.energy()["elastic"].values
            assert found.motion.energy()["elastic"].values == pytest.approx(elastic, rel=1e-9, abs=1e-6)


def test_turns_of_a_table_are_told_by_its_rates_or_refused_by_name() -> None:
    """Where nothing has counted them: a table of the same motion, and a result without counters."""
    result = nx.simulate(wound_beside_a_wheel("spherical"), 0.6, nx.RungeKutta4(1e-3), output_every=2)
    found = nx.inverse_dynamics(result.system, result.recording.q, result.t.values)
    assert np.abs(found.tau).max() < 2e-2 * 0.1 * WOUND**2 * FAST / WOUND
    for kind, method in (("spherical", nx.RungeKutta4(1e-3)), ("in a loop", nx.HHT(dt=1e-3))):
        for every in (4, 200):
            result = nx.simulate(wound_beside_a_wheel(kind), 0.6, method, output_every=every)
            bare = nx.Result(result.system, replace(result.recording, followed=np.zeros((0, 0))))
            if every == 4:
                found = nx.inverse_dynamics(bare.system, bare, actuators=["wheel"])
                assert np.abs(found.tau).max() < 1e-9 * 0.1 * WOUND**2 * FAST / WOUND
                energy = result.force("spring").energy.values
                assert bare.force("spring").energy.values == pytest.approx(energy, rel=1e-9, abs=1e-6)
                continue
            with pytest.raises(nx.SolveError, match=r"turns of torsion spring 'spring' cannot be counted from t = 0 s"):
                nx.inverse_dynamics(bare.system, bare, actuators=["wheel"])


def test_inverse_dynamics_of_a_member_of_a_batch_has_its_turns() -> None:
    batch = nx.simulate(
        ball("spherical"),
        0.6,
        nx.RungeKutta4(1e-3),
        output_every=200,
        batch={"v0": {"ball": np.full((2, 3), (0, 0, FAST))}},
    )
    for k in range(2):
        member = batch.member(k)
        assert np.abs(nx.inverse_dynamics(member.system, member).tau).max() < 1e-9 * 0.1 * WOUND**2 * FAST / WOUND


def gimbal(bent: float, spun: float = 0.0) -> nx.System:
    """Hinges about z, x and z, the middle one held at an angle, the last one spinning, and a torsion spring from the ground across them."""
    system = nx.System("gimbal", gravity=(0.0, 0.0, 0.0))
    for name in "abc":
        system.add_body(name, mass=1.0, inertia=(0.1, 0.12, 0.14))
    hinge = {"at": (0, 0, 0), "axis": (0, 0, 1)}
    system.add_joint(nx.Revolute("first", "ground", "a", **hinge, damping=0.5))
    system.add_joint(
        nx.Revolute("middle", "a", "b", at=(0, 0, 0), axis=(1, 0, 0), q0=bent, rest=bent, stiffness=200.0, damping=2.0)
    )
    system.add_joint(nx.Revolute("last", "b", "c", **hinge, q0=spun, v0=20.0))
    system.add_force(nx.TorsionSpring("spring", "ground", "c", stiffness=0.05))
    return system


SPINNING: dict[str, nx.Method] = {
    "rk4": nx.RungeKutta4(1e-3), "dormand-prince": nx.DormandPrince(1e-9, 1e-11), "semi-implicit": nx.SemiImplicitEuler(1e-4),
    "hht": nx.HHT(dt=5e-4), "projection": nx.Projection(dt=1e-3), "baumgarte": nx.Baumgarte(dt=1e-3),
    "partitioning": nx.Partitioning(dt=1e-3), "bdf2": nx.ImplicitEuler(2e-4, bdf2=True),
}  # fmt: skip


@pytest.mark.parametrize("method", SPINNING.values(), ids=SPINNING)
@pytest.mark.parametrize("bent", [0.3, 1.3, 2.8])
def test_a_spring_across_hinges_that_turn_each_other_winds_up_as_the_bodies_turn(
    bent: float, method: nx.Method
) -> None:
    """Where the middle hinge has turned the last one round, that winds the spring up the other way."""
    dense = nx.simulate(gimbal(bent), 1.0, nx.RungeKutta4(1e-3))
    R = np.asarray(dense.rotation().sel(body="c"))
    angle = np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    true = 0.5 * 0.05 * angle**2
    np.testing.assert_allclose(np.asarray(dense.force("spring").energy).ravel(), true, rtol=1e-9, atol=1e-12)
    assert np.abs(angle).max() > 2.0 * math.pi or bent == 1.3
    end = nx.simulate(gimbal(bent), 1.0, method, output_times=[0.0, 1.0])
    assert float(end.force("spring").energy[-1]) == pytest.approx(true[-1], rel=2e-3)
    half = nx.simulate(gimbal(bent), 0.4, method, output_times=[0.0, 0.4])
    rest = nx.simulate(gimbal(bent), 1.0, method, initial=half, output_times=[0.4, 1.0])
    assert float(rest.force("spring").energy[-1]) == pytest.approx(true[-1], rel=2e-3)


def test_a_spring_across_such_hinges_begins_with_their_turns_as_described() -> None:
    energies = [
        float(nx.simulate(gimbal(0.3, 14.0), 0.01, method, output_times=[0.0, 0.01]).force("spring").energy[0])
        for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.Projection(dt=1e-3), nx.ImplicitEuler(1e-3))
    ]
    assert 0.5 * 0.05 * (13.0 - math.pi) ** 2 < energies[0] < 0.5 * 0.05 * (13.0 + math.pi) ** 2
    np.testing.assert_allclose(energies, energies[0], rtol=1e-9)


def test_inverse_dynamics_winds_it_up_as_the_run_does() -> None:
    result = nx.simulate(gimbal(2.8), 1.0, nx.RungeKutta4(1e-3), output_every=100)
    assert np.abs(nx.inverse_dynamics(result.system, result).tau).max() < 1e-9 * 0.14 * 20.0
    # ten samples a second, between which the last hinge turns by a third of a turn: coordinates alone tell it
    bare = result.recording
    table = nx.inverse_dynamics(result.system, bare.q, result.t.values)
    own = nx.inverse_dynamics(replace_spring(result.system), bare.q, result.t.values)
    efforts = np.abs(table.tau - own.tau)[-1].max()
    assert efforts == pytest.approx(math.sqrt(2.0 * 0.05 * float(result.force("spring").energy[-1])), rel=0.1)


def replace_spring(system: nx.System) -> nx.System:
    """The same without the stiffness of the spring."""
    return system.with_parameters({"spring.stiffness": 0.0})


def test_an_action_that_turns_a_hinge_by_turns_winds_the_spring_up_by_them() -> None:
    def wind(state: Any) -> None:
        state.position["last"] = [float(state.position["last"][0]) + 4.0 * math.pi]

    system = gimbal(0.3)
    system.add_event(nx.Event("wind", time=0.1, action=wind))
    found = [
        float(nx.simulate(system, 0.2, method, output_times=[0.0, 0.2]).force("spring").energy[-1])
        for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3))
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-3) and found[0] > 0.5 * 0.05 * 14.0**2

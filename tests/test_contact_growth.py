"""Explicit steps that are too long for a contact end in an error that says so, and those that are short enough do not."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.assembly.contact_steps import fastest
from nexdyn.assembly.notices import long_steps
from nexdyn.cli import main
from nexdyn.simulation.growth import is_watched

EXPLICIT = {
    "rk4": nx.RungeKutta4, "semi-implicit": nx.SemiImplicitEuler, "baumgarte": nx.Baumgarte, "projection": nx.Projection,
}  # fmt: skip


def falling(shape: nx.Shape, height: float = 0.2, **law: Any) -> nx.System:
    """A body that falls on the ground."""
    system = nx.System("falling")
    system.add_body("stone", mass=0.1, inertia=(1e-4,) * 3, shapes=[shape], position=(0, 0, height))
    system.add_joint(nx.Free("free", "ground", "stone"))
    system.add_contact(nx.Contact("floor", "stone", **{"damping": 1.0, **law}))
    return system


LAWS: dict[str, tuple[nx.Shape, dict[str, Any]]] = {
    "sphere": (nx.Sphere(0.05), {"stiffness": 1e9}),
    "linear": (nx.Sphere(0.05), {"stiffness": 1e8, "exponent": 1.0, "friction": 0.3}),
    "area": (nx.Box((0.1, 0.1, 0.1)), {"foundation_b": 1e10}),
}


@pytest.mark.parametrize("method", EXPLICIT)
@pytest.mark.parametrize("law", LAWS)
def test_a_step_too_long_is_refused_before_the_run(law: str, method: str) -> None:
    shape, given = LAWS[law]
    system, steps = falling(shape, **given), EXPLICIT[method]
    with pytest.raises(nx.InputError, match=r"steps of dt = 0\.001 s are too long for contact 'floor'") as told:
        nx.simulate(system, 0.5, steps(dt=1e-3))
    found = re.search(
        r"it takes (\S+) s at most once it presses; .*on_gap='accept' runs it all the same", str(told.value)
    )
    assert found is not None
    most = float(found[1])
    assert nx.simulate(system, 0.02, steps(dt=0.95 * most), output_every=1000).warnings == []
    with pytest.raises(nx.InputError, match="too long for contact 'floor'"):
        nx.Simulation(system, nx.RungeKutta4(1e-3)).run(0.5)
    with pytest.raises(nx.InputError, match="too long for contact 'floor'"):
        nx.Simulation(system, nx.RungeKutta4(1e-3)).step(1e-3)


@pytest.mark.parametrize("method", EXPLICIT)
@pytest.mark.parametrize("law", LAWS)
def test_who_insists_runs_it_and_is_told_what_became_of_it(law: str, method: str) -> None:
    shape, given = LAWS[law]
    with (
        pytest.warns(nx.NexDynWarning, match="too long for contact 'floor'"),
        pytest.raises(
            nx.SolveError, match=r"the energy has grown by .*too long for a contact.*floor stone ground"
        ) as told,
    ):
        nx.simulate(falling(shape, **given), 0.5, EXPLICIT[method](dt=1e-3), on_gap="accept")
    assert "s at most, pressed in by" in str(told.value)
    assert told.value.result is not None
    assert told.value.result.status == "failed"
    assert [one["kind"] for one in told.value.result.warnings] == ["unstable"]


@pytest.mark.parametrize("method", EXPLICIT)
@pytest.mark.parametrize("law", LAWS)
def test_steps_that_are_short_enough_run(law: str, method: str) -> None:
    shape, given = LAWS[law]
    soft = {key: 1e-3 * value if "stiffness" in key or "foundation" in key else value for key, value in given.items()}
    result = nx.simulate(falling(shape, **soft), 0.5, EXPLICIT[method](dt=2e-5), output_every=100)
    assert result.status == "finished"
    assert result.contacts("floor").normal.values.max() > 0.0


def test_rounding_of_what_rests_is_no_energy_that_grows() -> None:
    """Nothing moves, so that every part of what moves is nothing."""
    system = nx.System("slope", gravity=(3.0, 0.0, -9.0))
    system.add_body(
        "block", mass=1.0, inertia=(0.01,) * 3, position=(0.0, 0.0, 0.05), collision=[nx.Box((0.3, 0.3, 0.1))]
    )
    system.add_joint(nx.Free("free", "ground", "block"))
    system.add_contact(nx.Contact("on", "block", stiffness=1e6, exponent=1.0, damping=20.0, friction=0.5))
    method = nx.RungeKutta4(2e-4)
    rests = nx.simulate(system, 0.3, method)
    for t_end in (0.32, 0.35):
        assert nx.simulate(rests.system, t_end, method, initial=rests).status == "finished"


def test_what_gives_energy_is_not_watched() -> None:
    short = nx.RungeKutta4(dt=1e-3)
    system = falling(nx.Sphere(0.05), stiffness=1e5)
    assert is_watched(system, short)
    assert is_watched(system, nx.HHT(dt=1e-3))
    assert not is_watched(system, nx.HHT())
    assert not is_watched(system, nx.ImplicitEuler(1e-3))
    assert not is_watched(system, nx.DormandPrince())
    system.add_force(nx.PointSpring("spring", "stone", "ground", stiffness=1.0, anchor_b=(0, 0, 1.0)))
    assert is_watched(system, short)
    belt = falling(nx.Sphere(0.05), stiffness=1e5, friction=0.3, surface_velocity_b=(1.0, 0.0, 0.0))
    assert not is_watched(belt, short)
    system.add_force(nx.AppliedForce("push", "stone", force=(1.0, 0.0, 0.0)))
    assert not is_watched(system, short)


def rebounds(stiffness: float = 1e7, height: float = 0.102) -> nx.System:
    """A ball of 1 kg without damping, which presses for π √(m/k) = 1 ms."""
    system = nx.System("rebounds")
    J = 0.4 * 0.05**2
    position = (0, 0, 0.05 + height)
    system.add_body("ball", mass=1.0, inertia=(J, J, J), position=position, collision=[nx.Sphere(0.05)])
    system.add_joint(nx.Free("free", "ground", "ball"))
    system.add_contact(nx.Contact("floor", "ball", stiffness=stiffness, exponent=1.0, friction=0.0))
    return system


@pytest.mark.parametrize("watching", [False, True])
def test_steps_of_hht_that_gain_energy_in_a_strike_are_told(watching: bool) -> None:
    """It is stable, and leaves the ground with more than it had; with the step that is told it does not."""
    system = rebounds()
    if watching:  # an event that changes nothing
        system.add_event(nx.Event("late", time=0.2))
    with pytest.warns(
        nx.NexDynWarning, match=r"the energy has grown by .* force 'floor ball ground' takes 0\.0002 s"
    ) as told:
        result = nx.simulate(system, 0.28, nx.HHT(dt=1e-3))
    energy = result.energy().total.values
    assert result.status == "finished" and energy.max() > 1.1 * energy[0]
    (notice,) = result.warnings
    assert (notice["kind"], notice["units"]) == ("energy", "J")
    assert notice["value"] == pytest.approx(float(energy.max() - energy[0]), rel=1e-6)
    assert len(told) == 1
    for method in (nx.HHT(dt=2e-4), nx.HHT()):
        assert nx.simulate(system, 0.28, method).warnings == []


def test_an_event_that_changes_something_leaves_energy_alone() -> None:
    system = rebounds()
    assert is_watched(system, nx.RungeKutta4(1e-3))
    system.add_event(nx.Event("gone", time=0.1, off="floor"))
    assert not is_watched(system, nx.RungeKutta4(1e-3))


def test_explicit_steps_are_judged_by_energy_where_events_watch_as_well() -> None:
    shape, given = LAWS["sphere"]
    system = falling(shape, **given)
    system.add_event(nx.Event("late", time=0.4))
    with (
        pytest.warns(nx.NexDynWarning, match="too long for contact 'floor'"),
        pytest.raises(nx.SolveError, match="the energy has grown by") as told,
    ):
        nx.simulate(system, 0.5, nx.RungeKutta4(1e-3), on_gap="accept")
    assert told.value.result is not None and told.value.result.status == "failed"


@pytest.mark.parametrize(("method", "limit"), [(nx.RungeKutta4, 2.78), (nx.SemiImplicitEuler, 2.0)])
def test_the_longest_step_is_told_before_a_run(method: Any, limit: float) -> None:
    """c √(m/k) of a ball on a linear law without friction; with friction that sticks it is that along the surface, where the ball turns,
    too: 1/m + r²/I is what yields."""
    k, m, I, r = 1e5, 0.1, 1e-4, 0.05
    for friction, square in ((0.0, k / m), (0.5, 0.82 * k * (1.0 / m + r * r / I))):
        most = limit / np.sqrt(square)
        long = falling(nx.Sphere(r), stiffness=k, exponent=1.0, friction=friction), 0.01, method(1.02 * most)
        with pytest.warns(nx.NexDynWarning, match="too long for contact 'floor': by its stiffness and the masses"):
            (told,) = nx.simulate(*long, on_gap="accept").warnings
        # friction yields, which keeps its oscillations in bounds: such a step is told, not refused
        assert (told["kind"], told["where"], told["units"]) == ("step" if friction else "unstable", "floor", "s")
        assert told["value"] == pytest.approx(most, rel=1e-3)
        short = falling(nx.Sphere(r), stiffness=k, exponent=1.0, friction=friction)
        assert not nx.simulate(short, 0.01, method(0.98 * most)).warnings


def test_by_hertz_it_is_that_of_the_weight_at_rest() -> None:
    """k δ^1.5 = m g, of what does not fall."""
    k, m = 1e7, 0.1
    depth = (m * 9.81 / k) ** (2.0 / 3.0)
    most = 2.0 / np.sqrt(1.5 * k * np.sqrt(depth) / m)
    with pytest.warns(nx.NexDynWarning):
        result = nx.simulate(
            falling(nx.Sphere(0.05), 0.05, stiffness=k), 1e-3, nx.SemiImplicitEuler(1.5 * most), on_gap="accept"
        )
    assert result.warnings[0]["kind"] == "unstable"
    assert result.warnings[0]["value"] == pytest.approx(most, rel=0.01)
    # what hangs on a ball joint below the centre of a stone takes part as far as it yields itself
    held = falling(nx.Sphere(0.05), 0.05, stiffness=k)
    held.add_body("other", mass=1.0, inertia=(1, 1, 1))
    held.add_joint(nx.Spherical("ball", "stone", "other"))
    with pytest.warns(nx.NexDynWarning):
        joined = nx.simulate(held, 1e-3, nx.SemiImplicitEuler(4.0 * most), on_gap="accept").warnings[0]
    assert most < joined["value"] < 4.0 * most
    # and of steps that the method chooses
    assert not nx.simulate(falling(nx.Sphere(0.05), stiffness=k), 1e-3, nx.DormandPrince()).warnings


def on_a_slide(armature: float = 0.0) -> nx.System:
    """A foot of 0.3 kg under a leg of 2 kg that slides up and down, over a floor of 1e5 N/m; both are one by a joint that does not give."""
    system = nx.System("leg")
    leg = system.add_body("leg", mass=2.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, 1.0))
    foot = system.add_body(
        "foot", mass=0.3, inertia=(1.0, 1.0, 1.0), position=(0, 0, 0.06), collision=[nx.Sphere(0.05)]
    )
    system.add_joint(nx.Prismatic("slide", "ground", leg, axis=(0, 0, 1), armature=armature))
    system.add_joint(nx.Fixed("ankle", leg, foot))
    system.add_contact(nx.Contact("floor", foot, "ground", stiffness=1e5, exponent=1.0))
    return system


@pytest.mark.parametrize("armature", [0.0, 1.7])
def test_bodies_in_joints_yield_as_their_joints_let_them(armature: float) -> None:
    most = 2.0 / np.sqrt(1e5 / (2.3 + armature))
    with pytest.warns(nx.NexDynWarning, match="too long for contact 'floor'"):
        (told,) = nx.simulate(on_a_slide(armature), 0.01, nx.SemiImplicitEuler(1.01 * most), on_gap="accept").warnings
    assert told["value"] == pytest.approx(most, rel=1e-9)
    assert not nx.simulate(on_a_slide(armature), 0.01, nx.SemiImplicitEuler(0.99 * most)).warnings


def test_it_is_the_longest_that_keeps_what_rocks_on_a_hinge_in_bounds() -> None:
    """A bar of 1 m whose end rests on the floor yields with l²/I; loops, and equations that repeat others, count as they are."""
    system = nx.System("bar")
    bar = system.add_body("bar", mass=3.0, inertia=(0.1, 0.25, 0.25), position=(0.5, 0, 0.05))
    tip = system.add_body(
        "tip", mass=1e-3, inertia=(1e-6, 1e-6, 1e-6), position=(1.0, 0, 0.05), collision=[nx.Sphere(0.05)]
    )
    for name, y in (("left", 0.1), ("right", -0.1)):  # one hinge, twice: five equations repeat others
        system.add_joint(nx.Revolute(name, "ground", bar, at=(0, y, 0.05), axis=(0, 1, 0)))
    system.add_joint(nx.Fixed("weld", bar, tip))
    system.add_contact(nx.Contact("floor", tip, "ground", stiffness=1e5, exponent=1.0))
    inertia = 0.25 + 3.0 * 0.25 + 1e-3 + 1e-6
    most = 2.78 / np.sqrt(1e5 / inertia)
    places = {"ground": np.zeros(3), "bar": np.array([0.5, 0, 0.05]), "tip": np.array([1.0, 0, 0.05])}
    told, sure = fastest(system, lambda body: (np.eye(3), places[body]))
    assert told.contact == sure.contact == "floor"
    assert 2.78 / told.omega == pytest.approx(most, rel=1e-9)
    assert sure.omega == pytest.approx(told.omega, rel=1e-9)


def over_an_area(shape: nx.Shape, height: float) -> nx.System:
    """A body of 1 kg on or over a foundation of 1e8 N/m³."""
    system = nx.System("over an area")
    system.add_body("stone", mass=1.0, inertia=(1e-3,) * 3, position=(0, 0, height), collision=[shape])
    system.add_joint(nx.Free("free", "ground", "stone"))
    system.add_contact(nx.Contact("floor", "stone", foundation_b=1e8))
    return system


BOX, BALL = nx.Box((0.1, 0.2, 0.1)), nx.Sphere(0.05)
SUNK = 9.81 / (1e8 * 0.02)
AREAS = [
    (BOX, 0.05 - SUNK, 0.02),
    (BOX, 0.05, 0.02),
    (BOX, 0.8, 0.02),
    (BALL, 0.05, 2.0 * np.pi * 0.05 * np.sqrt(9.81 / (np.pi * 0.05 * 1e8))),  # F = π k R δ², A = 2 π R δ for small δ
    (BALL, 0.3, 2.0 * np.pi * 0.05 * np.sqrt(9.81 / (np.pi * 0.05 * 1e8))),
]


@pytest.mark.parametrize(("shape", "height", "area"), AREAS)
def test_of_areas_it_is_that_which_bears_the_weight(shape: nx.Shape, height: float, area: float) -> None:
    """dt = 2 √(m/(k A)), that of what is apart an estimate, from twice which on steps are refused."""
    most = 2.0 / np.sqrt(1e8 * area)
    for part, kind in ((0.97, None), (1.03, "step"), (2.1, "unstable")):
        system = over_an_area(shape, height)
        poses = {"ground": (np.eye(3), np.zeros(3)), "stone": (np.eye(3), np.array([0.0, 0.0, height]))}
        found = long_steps(system, nx.SemiImplicitEuler(part * most), poses.__getitem__)
        assert [notice.kind for notice in found] == ([] if kind is None else [kind])
        assert [notice.value for notice in found] == [pytest.approx(most, rel=0.01)] * len(found)
    with pytest.raises(nx.InputError, match="too long for contact 'floor'"):
        nx.simulate(over_an_area(shape, height), 0.1, nx.SemiImplicitEuler(2.1 * most))


def test_members_of_a_batch_are_refused_by_themselves() -> None:
    """Where they differ in parameters; else all are refused, before anything runs."""
    system = nx.System("falling")
    system.parameter("k", 1e4)
    system.add_body("stone", mass=0.1, inertia=(1e-4,) * 3, shapes=[nx.Sphere(0.05)], position=(0, 0, 0.2))
    system.add_joint(nx.Free("free", "ground", "stone"))
    system.add_contact(nx.Contact("floor", "stone", stiffness="=k", exponent=1.0))
    method, batch = nx.RungeKutta4(1e-3), nx.Batch(parameters={"k": [1e4, 1e8, 2e4]})
    found = nx.simulate(system, 0.01, method, batch=batch)
    assert list(found.failures) == [1]
    assert "steps of dt = 0.001 s are too long for contact 'floor'" in found.failures[1]
    with pytest.warns(nx.NexDynWarning, match="member 1: steps of dt = 0.001 s are too long for contact 'floor'"):
        assert not nx.simulate(system, 0.01, method, batch=batch, on_gap="accept").failures
    stiff = system.with_parameters({"k": 1e8})
    with pytest.raises(nx.InputError, match="too long for contact 'floor'"):
        nx.simulate(stiff, 0.01, method, batch=nx.Batch(v0={"free": np.zeros((2, 6))}))


def test_the_command_line_refuses_it_and_takes_on_gap_accept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene, out = tmp_path / "stiff.yaml", tmp_path / "a.nc"
    nx.save_scene(falling(nx.Sphere(0.05), stiffness=1e9), scene)
    command = ["run", str(scene), "--method", "rk4", "--dt", "1e-3", "--t-end", "0.01", "--out", str(out)]
    assert main(command) != 0
    assert "on_gap='accept' runs it all the same" in capsys.readouterr().err
    assert not out.exists()
    assert main([*command, "--on-gap", "accept"]) == 0
    assert "too long for contact 'floor'" in capsys.readouterr().err
    assert out.exists()


def shot(exponent: float = 1.5, speed: float = 1.0) -> nx.System:
    """Two balls that come towards each other, without gravity."""
    system = nx.System("shot", gravity=(0, 0, 0))
    for i in (0, 1):
        name = f"ball{i}"
        system.add_body(name, mass=1.0, inertia=(4e-3,) * 3, position=(0.3 * i, 0, 0), shapes=[nx.Sphere(0.1)])
        system.add_joint(nx.Free(f"free{i}", "ground", name, v0=(0, 0, 0, speed * (1 - 2 * i), 0, 0)))
    system.add_contact(nx.Contact("c", "ball*", "ball*", stiffness=1e10, exponent=exponent))
    return system


def dropped(height: float) -> nx.System:
    """A ball that falls on the floor."""
    system = nx.System("dropped")
    system.add_body("ball", mass=1.0, inertia=(4e-3,) * 3, position=(0, 0, 0.1 + height), shapes=[nx.Sphere(0.1)])
    system.add_contact(nx.Contact("c", "ball", stiffness=1e9))
    return system


@pytest.mark.parametrize(
    ("make", "half_mass", "speed", "stiffness"),
    [
        (shot, 0.25, 2.0, 1e10),
        (lambda: dropped(5.0), 0.5, math.sqrt(2 * 9.81 * 5.0), 1e9),
    ],
    ids=["shot", "dropped"],
)
def test_the_step_that_a_strike_takes_is_told_before_the_run(
    make: Callable[[], nx.System], half_mass: float, speed: float, stiffness: float
) -> None:
    """As deep as k δᵉ⁺¹/(e + 1) = ½ m s², m of both bodies: 2.78 √(m/(e k δᵉ⁻¹)) of Runge–Kutta 4."""
    depth = (2.5 * half_mass * speed**2 / stiffness) ** 0.4
    most = 2.78 * math.sqrt(2.0 * half_mass / (1.5 * stiffness * depth**0.5))
    with pytest.warns(nx.NexDynWarning, match=rf"it takes {most:.2g} s at most once it presses".replace("+", r"\+")):
        nx.Simulation(make(), nx.RungeKutta4(1.1 * most)).run(2.2 * most)
    nx.Simulation(make(), nx.RungeKutta4(0.9 * most)).run(1.8 * most)  # and says nothing


def test_balls_that_part_are_told_of_no_strike() -> None:
    nx.Simulation(shot(speed=-1.0), nx.RungeKutta4(1e-3)).run(2e-3)

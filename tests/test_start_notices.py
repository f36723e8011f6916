"""What a run says of its start: gaps that were closed, coordinates outside limits, contacts that start pressed in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.assembly.notices import PRESSED
from nexdyn.problems import recast

LOOPED = (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.Projection(dt=1e-3), nx.ImplicitEuler(1e-3))
Y = (0.0, 1.0, 0.0)


def four_bar(gap: float = 0.0) -> nx.System:
    """A parallelogram of 1 m; its last joint stays open by `gap` along x as described."""
    system = nx.System("four-bar")
    for name, p in (("crank", (0.0, 0.0, 0.5)), ("coupler", (0.5, 0.0, 1.0)), ("rocker", (1.0 + gap, 0.0, 0.5))):
        system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=p)
    for name, a, b, at_a, at_b in (
        ("A", "ground", "crank", (0.0, 0.0, 0.0), (0.0, 0.0, -0.5)),
        ("B", "crank", "coupler", (0.0, 0.0, 0.5), (-0.5, 0.0, 0.0)),
        ("C", "coupler", "rocker", (0.5 + gap, 0.0, 0.0), (0.0, 0.0, 0.5)),
        ("D", "ground", "rocker", (1.0, 0.0, 0.0), (0.0, 0.0, -0.5)),
    ):
        system.add_joint(nx.Revolute(name, a, b, anchor_a=at_a, anchor_b=at_b, axis_a=Y, axis_b=Y))
    return system


def arm(limits: Any = None, q0: Any = None) -> nx.System:
    system = nx.System("arm")
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", "ground", "arm", at=(0.0, 0.0, 0.0), axis=Y, limits=limits, q0=q0))
    return system


def ball(depth: float) -> nx.System:
    """A ball of 1 kg and 0.1 m that starts `depth` inside the floor."""
    system = nx.System("ball")
    system.add_body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), position=(0.0, 0.0, 0.1 - depth))
    system.add_joint(nx.Prismatic("guide", "ground", "ball", axis=(0.0, 0.0, 1.0)))
    system.add_force(nx.PlaneContact("foot", "ball", radius=0.1, stiffness=1e6))
    return system


def said(system: nx.System, *arguments: Any, t_end: float = 0.002, **options: Any) -> tuple[nx.Result, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = nx.simulate(system, t_end, *arguments, **options)
    return result, [str(one.message) for one in caught if issubclass(one.category, nx.NexDynWarning)]


@pytest.mark.parametrize("method", LOOPED, ids=lambda method: method.name)
def test_a_gap_that_was_closed_is_told_with_joint_size_and_what_was_moved(method: Any, tmp_path: Path) -> None:
    result, texts = said(four_bar(0.05), method)
    assert len(texts) == 1
    (gap,) = result.warnings
    assert (gap["kind"], gap["where"], gap["units"]) == ("gap", "D", "m")
    assert gap["value"] == pytest.approx(0.05)
    assert "joint 'D' stays open by 0.05 m" in texts[0]
    report = nx.assemble(four_bar(0.05))
    moved = max(
        float(abs(report.position(name) - four_bar(0.05).body(name).position).max()) for name in report.model.bodies[1:]
    )
    assert 0.01 < moved < 0.05
    assert f"by {moved:.1g}" in texts[0] or f"by {moved:.3g}" in texts[0]
    result.save(tmp_path / "run.nc")
    assert nx.open_result(tmp_path / "run.nc").warnings == result.warnings


def test_what_closes_as_described_and_what_goes_on_says_nothing() -> None:
    result, texts = said(four_bar(), nx.HHT(dt=1e-3))
    assert texts == [] == result.warnings
    open_ = four_bar(0.05)
    first, _ = said(open_, nx.HHT(dt=1e-3))
    assert said(open_, nx.HHT(dt=1e-3), t_end=0.004, initial=first)[1] == []
    assert nx.assemble(four_bar()).warnings == []


def test_a_gap_below_a_millionth_of_the_size_is_closed_without_a_word() -> None:
    assert said(four_bar(3e-7), nx.HHT(dt=1e-3))[1] == []
    assert said(four_bar(3e-6), nx.HHT(dt=1e-3))[1] != []


@pytest.mark.parametrize("method", LOOPED, ids=lambda method: method.name)
def test_on_gap_error_refuses_it(method: Any) -> None:
    with pytest.raises(nx.AssemblyError, match=r"joint 'D' stays open by 0\.05 m"):
        nx.simulate(four_bar(0.05), 0.002, method, on_gap="error")
    nx.simulate(four_bar(), 0.002, method, on_gap="error")
    with pytest.raises(nx.InputError, match="on_gap is 'no'; 'warn' or 'error' or 'accept' is needed"):
        nx.simulate(four_bar(), 0.002, method, on_gap="no")  # type: ignore[call-overload]


def test_a_tree_tells_its_gaps_alike() -> None:
    system = nx.System("arm")
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.7, 0.0, 0.0))
    system.add_joint(
        nx.Revolute("hinge", "ground", "arm", anchor_a=(0, 0, 0), anchor_b=(-0.5, 0, 0), axis_a=Y, axis_b=Y)
    )
    result, texts = said(system)
    assert [(one["kind"], one["where"]) for one in result.warnings] == [("gap", "hinge")]
    assert result.warnings[0]["value"] == pytest.approx(0.2)
    assert len(texts) == 1
    for options in ({}, {"batch": {"v0": {"hinge": [0.0, 1.0]}}}):
        with pytest.raises(nx.AssemblyError, match=r"joint 'hinge' stays open by 0\.2 m"):
            nx.simulate(system, 0.002, on_gap="error", **options)  # type: ignore[call-overload]


def test_arrays_that_do_not_close_the_loops_are_told() -> None:
    """q0 and v0 as arrays are starts to close from; by joint they are kept, or refused."""
    tree = nx.Simulation(four_bar(), nx.RungeKutta4(1e-3)).tree
    assert list(tree.joint_names)[:2] == ["A", "B"]
    result, texts = said(four_bar(), nx.RungeKutta4(1e-3), v0=[1.0, 0.0, 0.0])
    (notice,) = result.warnings
    v = result.recording.v[0]
    assert (notice["kind"], notice["where"], notice["units"]) == (
        "start",
        tree.joint_names[np.abs(v - [1, 0, 0]).argmax()],
        "rad/s",
    )
    assert notice["value"] == pytest.approx(np.abs(v - [1, 0, 0]).max(), abs=1e-12)
    assert "; the loops allow " in texts[0]
    closed = said(four_bar(), nx.RungeKutta4(1e-3), q0=[0.3, -0.3, 0.3])[0].recording.q[0]
    for q0 in (closed, [0.3, 0.1, -0.2]):
        result, texts = said(four_bar(), nx.RungeKutta4(1e-3), q0=q0)
        moved = np.abs(result.recording.q[0] - q0).max()
        assert [one["value"] for one in result.warnings] == ([pytest.approx(moved)] if moved > 1e-6 else [])
    assert moved > 0.01
    assert said(four_bar(), nx.RungeKutta4(1e-3), v0=v)[1] == []


@pytest.mark.parametrize("method", [None, nx.HHT(dt=1e-3)], ids=["tree", "bodies"])
def test_a_start_outside_limits_is_told(method: Any) -> None:
    result, texts = said(arm((-0.5, 0.5), 0.7), method)
    (notice,) = result.warnings
    assert (notice["kind"], notice["where"], notice["units"]) == ("limit", "hinge", "rad")
    assert notice["value"] == pytest.approx(0.2)
    assert texts == ["joint 'hinge' starts at 0.7 rad, outside its limits -0.5 to 0.5 rad"]
    for inside in (arm((-0.5, 0.5), 0.4), arm((None, 0.5)), arm((6.0, 7.0), 6.5)):
        assert said(inside, method)[1] == []


@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3)], ids=["tree", "bodies"])
@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: arm((-0.5, 0.5), 0.7), r"joint 'hinge' starts at 0\.7 rad, outside its limits"),
        (lambda: ball(0.05), r"contact 'foot' starts 0\.05 m deep"),
    ],
    ids=["limits", "contact"],
)
def test_on_gap_error_refuses_such_a_start_too(build: Any, message: str, method: Any) -> None:
    with pytest.raises(nx.AssemblyError, match=message):
        nx.simulate(build(), 0.002, method, on_gap="error")


def askew(angle: float) -> nx.System:
    """An arm whose axis is askew by `angle` as described."""
    system = arm()
    other = nx.System("askew")
    other.add_body(system.body("arm").copied())
    axes = {"axis_a": Y, "axis_b": (0.0, np.cos(angle), np.sin(angle))}
    other.add_joint(nx.Revolute("hinge", "ground", "arm", anchor_a=(0, 0, 0), anchor_b=(-0.5, 0, 0), **axes))
    return other


@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3)], ids=["tree", "bodies"])
@pytest.mark.parametrize(("angle", "told"), [(3e-7, False), (3e-6, True)])
def test_a_misalignment_is_told_from_a_millionth_of_a_radian_on(angle: float, told: bool, method: Any) -> None:
    result, _ = said(askew(angle), method)
    assert [notice["kind"] for notice in result.warnings] == ["gap"] * told
    if told:
        assert result.warnings[0]["angle"] == pytest.approx(angle, rel=1e-3)


def test_an_angle_that_looks_like_degrees_is_asked_about() -> None:
    texts = said(arm(q0=90.0))[1]
    assert texts == ["q0 of joint 'hinge' is 90 rad, 14.3 turns; if degrees are meant, it is 1.5708"]
    result, texts = said(arm(), q0={"hinge": -45.0})
    assert [notice["kind"] for notice in result.warnings] == ["degrees"]
    for fine in (arm(q0=5.0), arm(q0=6.5), arm(q0=4.0 * np.pi), arm(q0=12.3)):
        assert said(fine)[1] == []
    assert said(arm(q0=90.0), t_end=0.004, initial=result)[1] == []


def test_limits_that_look_like_degrees_are_asked_about() -> None:
    (text,) = said(arm(limits=(-90, 90)))[1]
    assert text == "a limit of joint 'hinge' is -90 rad, 14.3 turns; if degrees are meant, it is -1.5708"
    for fine in ((-np.pi, 2.0 * np.pi), (-10.0, 20.0), (None, 1500.0), (-0.5, 14.0)):
        assert said(arm(limits=fine))[1] == []


@pytest.mark.parametrize("method", [None, nx.HHT(dt=1e-4)], ids=["tree", "bodies"])
def test_a_contact_that_starts_pressed_in_is_told_with_force_and_energy(method: Any) -> None:
    result, texts = said(ball(0.05), method)
    (notice,) = result.warnings
    force = 1e6 * 0.05**1.5
    assert (notice["kind"], notice["where"]) == ("contact", "foot")
    assert notice["value"] == pytest.approx(force)
    assert f"{force:.3g} N and {force * 0.05 / 2.5:.3g} J" in texts[0]
    resting = (9.81 / 1e6) ** (1 / 1.5)
    for depth in (-0.01, resting, resting * (0.9 * PRESSED) ** (1 / 1.5)):
        assert said(ball(depth), method)[1] == []


def test_the_command_line_takes_on_gap(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "nexdyn",
        "run",
        "slider-crank",
        "--t-end",
        "0.002",
        "--out",
        str(tmp_path / "a.nc"),
    ]
    done = subprocess.run([*command, "--on-gap", "error"], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "joint 'guide' stays open by 0.02 m" in done.stderr
    assert not (tmp_path / "a.nc").exists()
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert [one["where"] for one in json.loads(done.stdout)["warnings"]] == ["guide", "crank_pin", "wrist_pin"]


def test_a_tree_starts_alike_under_every_formulation() -> None:
    """A gap is closed by moving the child, and a coupling with an offset by its second joint, whatever then computes."""
    open_ = nx.System("arm")
    open_.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.1), position=(0.7, 0.0, 0.0))
    open_.add_body("hand", mass=0.5, inertia=(0.1, 0.2, 0.1), position=(1.3, 0.1, 0.0))
    open_.add_joint(
        nx.Revolute("hinge", "ground", "arm", anchor_a=(0, 0, 0), anchor_b=(-0.5, 0, 0), axis_a=Y, axis_b=Y)
    )
    open_.add_joint(
        nx.Revolute("wrist", "arm", "hand", anchor_a=(0.5, 0, 0), anchor_b=(-0.5, 0, 0), axis_a=Y, axis_b=Y)
    )
    geared = nx.System("gears")
    for name, z in (("p", 0.0), ("w", 1.0)):
        geared.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.3, 0.0, z))
        geared.add_joint(nx.Revolute(f"j{name}", "ground", name, at=(0.0, 0.0, z), axis=Y))
    geared.add_coupling(nx.Gear("gear", "jp", "jw", ratio=-2.0, offset=0.4))
    for system in (open_, geared):
        starts = [said(system, method)[0].position()[0] for method in (nx.RungeKutta4(1e-3), *LOOPED[1:])]
        for start in starts[1:]:
            np.testing.assert_allclose(start, starts[0], rtol=0.0, atol=1e-9)


def test_a_contact_that_starts_pressed_in_says_what_to_move_and_where() -> None:
    """Moved so, it starts without a word."""
    system = nx.System("sunk")
    system.add_body("ball", mass=1.0, inertia=(0.004,) * 3, shapes=[nx.Sphere(0.1)])
    system.add_contact(nx.Contact("touch", "ball", stiffness=1e6, friction=0.3))
    told = r"0\.03 m deep.*; moved by 0\.03 m along \(0, 0, 1\), body 'ball' just touches"
    with pytest.warns(nx.NexDynWarning, match=told):
        nx.simulate(system, 1e-3, nx.RungeKutta4(1e-4), q0={"ball": (1, 0, 0, 0, 0, 0, 0.07)})
    with warnings.catch_warnings():
        warnings.simplefilter("error", nx.NexDynWarning)
        nx.simulate(system, 1e-3, nx.RungeKutta4(1e-4), q0={"ball": (1, 0, 0, 0, 0, 0, 0.1)})


CUBE = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
SOLIDS: dict[str, Any] = {
    "boxes": (nx.Box((0.2, 0.2, 0.2)), nx.Box((0.3, 0.3, 0.2))),
    "a mesh and a box": (recast.mesh_of(CUBE, recast.triangles_about(CUBE)), nx.Box((0.3, 0.3, 0.2))),
    "spheres": (nx.Sphere(0.1), nx.Sphere(0.1)),
}


@pytest.mark.parametrize("kind", SOLIDS)
def test_two_bodies_that_start_in_each_other_are_both_named_and_which_of_them_to_move(kind: str) -> None:
    upper, lower = SOLIDS[kind]
    law: dict[str, Any] = {"stiffness": 1e6} if kind == "spheres" else {"foundation_a": 1e9, "foundation_b": 1e9}

    def start(height: float) -> None:
        system = nx.System("stack", gravity=(0, 0, -9.81))
        system.add_body("lower", mass=1.0, inertia=(0.004,) * 3, collision=[lower])
        system.add_body("upper", mass=1.0, inertia=(0.004,) * 3, position=(0.0, 0.0, height), collision=[upper])
        for body in ("lower", "upper"):
            system.add_joint(nx.Free(f"free {body}", "ground", body))
        system.add_contact(nx.Contact("touch", "upper", "lower", friction=0.3, **law))
        nx.simulate(system, 1e-5, nx.RungeKutta4(1e-6))

    told = r"contact 'touch .*' starts 0\.03 m deep, '(upper' in 'lower|lower' in 'upper)', .*; moved by (about )?0\.03 m along "
    with pytest.warns(nx.NexDynWarning, match=told) as given:
        start(0.17)
    moved = re.search(r"along \((.*?)\), body '(\w+)' just touches", str(given[0].message))
    assert moved is not None
    up = float(moved[1].split(", ")[2])
    assert up == pytest.approx(1.0 if moved[2] == "upper" else -1.0, abs=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error", nx.NexDynWarning)
        start(0.2)


# --- members of batches -------------------------------------------------------------------------------------------------

BATCHED: dict[str, Any] = {
    "lanes of trees": nx.RungeKutta4(1e-4),
    "lanes of bodies": nx.HHT(dt=1e-4),
    "one by one": nx.DormandPrince(),
    "one by one, bodies": nx.HHT(rtol=1e-4),
}


def told_alone(system: nx.System, method: Any, **options: Any) -> list[dict[str, Any]]:
    return said(system, method, t_end=2e-4, **options)[0].warnings


def same(found: list[dict[str, Any]], alone: list[dict[str, Any]]) -> None:
    assert [(w["kind"], w["where"], w["units"]) for w in found] == [(w["kind"], w["where"], w["units"]) for w in alone]
    assert [w["value"] for w in found] == pytest.approx([w["value"] for w in alone], rel=1e-9)


@pytest.mark.parametrize("way", BATCHED)
@pytest.mark.parametrize("case", ["limit", "contact", "degrees", "gap"])
def test_members_of_a_batch_say_of_their_starts_what_each_says_alone(way: str, case: str) -> None:
    method = BATCHED[way]
    system, joint, starts = {
        "limit": (arm(limits=(-1.0, 1.0)), "hinge", [0.5, 1.4, -3.0, 0.0]),
        "contact": (ball(0.0), "guide", [0.2, -0.01, -0.02, 0.3]),
        "degrees": (arm(), "hinge", [0.1, 90.0, 0.2, -45.0]),
        "gap": (arm(limits=(-1.0, 1.0)), "hinge", [0.5, 1.4, 0.7, 0.6]),
    }[case]
    if case == "gap":
        system = nx.System("arm")
        system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.7, 0.0, 0.0))
        system.add_joint(
            nx.Revolute("hinge", "ground", "arm", anchor_a=(0, 0, 0), anchor_b=(-0.5, 0, 0), axis_a=Y, axis_b=Y)
        )
        v0 = [0.0, 1.0, 2.0, 3.0]
        batch, alone = {"v0": {joint: v0}}, [{"v0": {joint: x}} for x in v0]
    else:
        batch, alone = {"q0": {joint: starts}}, [{"q0": {joint: x}} for x in starts]
    times = [1e-4, 2e-4] if "one by one" in way else None
    result, texts = said(system, method, t_end=2e-4, batch=batch, output_times=times)
    assert result.failures == {}
    assert texts != []
    odd = {0, 1, 2, 3} if case == "gap" else {1, 3} if case == "degrees" else {1, 2}
    assert {w["member"] for w in result.warnings} == odd
    for m, options in enumerate(alone):
        expected = told_alone(system, method, **options)
        assert bool(expected) == (m in odd)
        same(result.member(m).warnings, expected)
        same([w for w in result.warnings if w["member"] == m], expected)


@pytest.mark.parametrize("way", BATCHED)
def test_members_that_differ_in_parameters_say_it_too_and_on_gap_refuses_them_alone(way: str) -> None:
    soft = nx.System("ball")
    soft.parameter("k", 1e3)
    soft.add_body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), position=(0.0, 0.0, 0.09))
    soft.add_joint(nx.Prismatic("guide", "ground", "ball", axis=(0.0, 0.0, 1.0)))
    soft.add_force(nx.PlaneContact("foot", "ball", radius=0.1, stiffness="=k"))
    times = [1e-4, 2e-4] if "one by one" in way else None
    batch = {"parameters": {"k": [1e3, 1e6, 2e3]}}
    result, _ = said(soft, BATCHED[way], t_end=2e-4, batch=batch, output_times=times)
    assert [(w["member"], w["kind"]) for w in result.warnings] == [(1, "contact")]
    refused, _ = said(soft, BATCHED[way], t_end=2e-4, batch=batch, output_times=times, on_gap="error")
    assert list(refused.failures) == [1]
    assert "contact 'foot' starts 0.01 m deep" in refused.failures[1]
    assert refused.member(0).status == refused.member(2).status == "finished"


def test_a_step_too_long_for_a_contact_is_told_of_members_in_lanes() -> None:
    heavy = {"q0": {"guide": [0.0, 0.5]}}
    with pytest.raises(nx.InputError, match="too long for contact 'foot'"):
        nx.simulate(ball(0.0), 0.02, nx.RungeKutta4(0.02), batch=heavy)
    result, texts = said(ball(0.0), nx.RungeKutta4(0.02), t_end=0.02, batch=heavy, on_gap="accept")
    alone = told_alone(ball(0.0), nx.RungeKutta4(0.02), on_gap="accept")
    assert [w["kind"] for w in alone] == ["unstable"]
    same(result.member(0).warnings, alone)
    assert any("too long for contact 'foot'" in text for text in texts)


def test_a_batch_in_lanes_says_each_thing_once_with_its_members() -> None:
    starts = np.linspace(-2.0, 2.0, 101)
    result, texts = said(arm(limits=(-1.0, 1.0)), nx.RungeKutta4(1e-4), t_end=2e-4, batch={"q0": {"hinge": starts}})
    outside = np.flatnonzero(np.abs(starts) > 1.0 + 1e-9)
    assert sorted({w["member"] for w in result.warnings}) == outside.tolist()
    assert len(texts) == 1
    assert texts[0].startswith(f"member 0 and {len(outside) - 1} more of 101: joint 'hinge' starts at -2 rad")

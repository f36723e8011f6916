"""Closed loops in minimal coordinates under `nx.simulate`: against absolute coordinates, kept closed, and what is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mechanisms
import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_closed_tree import five_bar, slider_crank

import nexdyn as nx
from nexdyn.errors import InputError
from nexdyn.problems.bricard import A04, bricard

RK4 = nx.RungeKutta4(1e-3)


def both(make: Any, t_end: float = 0.3, dt: float = 1e-3) -> tuple[nx.Result, nx.Result]:
    """The same motion on the tree and in absolute coordinates, by the same Runge–Kutta method."""
    on_tree = nx.simulate(make(), t_end, nx.RungeKutta4(dt), output_every=100)
    return on_tree, nx.simulate(make(), t_end, nx.Projection(dt=dt), output_every=100)


def agree(found: nx.Result, expected: nx.Result, tolerance: float = 1e-6) -> None:
    system = found.system
    for body in system.bodies:
        assert_allclose(found.position(body).values, expected.position(body).values, atol=tolerance)
        assert_allclose(found.velocity(body).values, expected.velocity(body).values, atol=tolerance)
    report = nx.assemble(system)
    size = max(1.0, float(np.abs(expected.reaction().values).max()))
    for joint in system.joints:
        unique = report.reaction(joint).unique
        assert_allclose(
            found.reaction(joint).values[:, unique], expected.reaction(joint).values[:, unique], atol=tolerance * size
        )
        assert_allclose(
            found.transmitted(joint).values[:, unique],
            expected.transmitted(joint).values[:, unique],
            atol=tolerance * size,
        )
    assert_allclose(found.energy()["total"].values, expected.energy()["total"].values, atol=tolerance * size)


@pytest.mark.parametrize(
    "make", [mechanisms.four_bar, slider_crank, five_bar, mechanisms.bricard, mechanisms.n_four_bar]
)
def test_both_coordinates_agree(make: Any) -> None:
    found, expected = both(make)
    agree(found, expected)
    for joint in found.system.joints:  # the joint that was cut included
        assert_allclose(found.joint_position(joint).values, expected.joint_position(joint).values, atol=1e-6)
        assert_allclose(found.joint_velocity(joint).values, expected.joint_velocity(joint).values, atol=1e-5)


def test_what_was_cut_and_what_is_redundant_is_said(tmp_path: Path) -> None:
    result = nx.simulate(mechanisms.four_bar(), 0.05, RK4)
    summary = result.summary()
    assert summary["loops"]["cut"] == ["C"]
    assert summary["loops"]["redundant"] == ["C.DZ", "C.DotZX", "C.DotZY"]
    assert summary["loops"]["stabilise"] == "projection"
    assert summary["loops"]["violation"] < 1e-11
    assert "cut open at C" in result.summary_text()
    assert list(result.multiplier()["row"].values) == ["C.DX", "C.DY"]
    result.save(tmp_path / "a.nc")
    again = nx.open_result(tmp_path / "a.nc")
    assert_allclose(again.reaction("C").values, result.reaction("C").values, atol=1e-12)
    assert again.tree.joint_names == result.tree.joint_names
    further = nx.simulate(again.system, 0.1, RK4, initial=again)
    whole = nx.simulate(mechanisms.four_bar(), 0.1, RK4)
    assert_allclose(further.position("coupler")[-1], whole.position("coupler")[-1], atol=1e-10)


def test_springs_and_dampers_act_in_a_joint_that_was_cut_too() -> None:
    def make() -> nx.System:
        system = nx.System("four-bar", gravity=(0, -9.81, 0))
        points = [np.array(p, float) for p in ((0, 0, 0), (0, 1, 0), (1.5, 1.4, 0), (2, 0, 0))]
        names = ("crank", "coupler", "rocker")
        bodies = [mechanisms.rod(system, n, p, q) for n, p, q in zip(names, points[:-1], points[1:], strict=True)]
        ends = [(system.ground, bodies[0]), (bodies[0], bodies[1]), (bodies[1], bodies[2]), (system.ground, bodies[2])]
        for name, (a, b), at in zip("ABCD", ends, points, strict=True):
            own = {"stiffness": 4.0, "damping": 0.7, "rest": 0.1, "friction": 0.2, "friction_speed": 0.1}
            system.add_joint(nx.Revolute(name, a, b, at=at, axis=(0, 0, 1), **own))
        system.add_force(nx.JointForce("motor", "C", "=3*sin(5*t)"))
        return system

    found, expected = both(make)
    assert found.recording.settings["cut"] == ["C"]
    agree(found, expected)


@pytest.mark.parametrize("cut", ["B", "C", "D"])
def test_what_acts_in_ball_joints_acts_in_those_that_are_cut_too(cut: str) -> None:
    """Crank and rocker turn about different axes; the bar between has ball joints with springs, dampers, friction and
    motors of their own."""

    def make() -> nx.System:
        system = nx.System("RSSR", gravity=(0, 0, -9.81))
        points = [np.array(p, float) for p in ((0, 0, 0), (0, 0.4, 0), (1, 0.6, 0.5), (1, 0, 0.3))]
        crank, bar, rocker = (
            mechanisms.rod(system, name, p, q)
            for name, p, q in zip(("crank", "bar", "rocker"), points[:-1], points[1:], strict=True)
        )
        own = {
            "stiffness": (3.0, 4.0, 5.0),
            "rest": (0.1, -0.2, 0.3),
            "damping": (0.2, 0.1, 0.3),
            "friction": (0.1, 0.2, 0.1),
        }
        turned = {"axis": (1, 2, 3), "reference": (0, 1, 1), "friction_speed": 0.1}
        system.add_joint(nx.Revolute("A", system.ground, crank, at=points[0], axis=(0, 0, 1)))
        system.add_joint(nx.Spherical("B", crank, bar, at=points[1], **own, **turned))
        ends = (rocker, bar) if cut == "B" else (bar, rocker)  # a body hangs on one joint
        system.add_joint(nx.Spherical("C", *ends, at=points[2], **own, **turned))
        system.add_joint(nx.Revolute("D", system.ground, rocker, at=points[3], axis=(1, 0, 0)))
        for name, joint, freedom in (("twist", "B", 2), ("bend", "C", 0)):
            system.add_force(nx.JointForce(name, joint, "=2*sin(4*t)", freedom=freedom))
        return system

    found = nx.simulate(make(), 0.3, RK4, output_every=100, loops=nx.Loops(cut=[cut]))
    expected = nx.simulate(make(), 0.3, nx.Projection(dt=1e-3), output_every=100)
    assert found.recording.settings["cut"] == [cut]
    agree(found, expected)
    for joint in "BC":
        assert_allclose(found.joint_velocity(joint).values, expected.joint_velocity(joint).values, atol=1e-6)
        assert np.abs(found.transmitted(joint) - found.reaction(joint)).max() > 0.5
    assert_allclose(found.effort("bend").values, expected.effort("bend").values, atol=1e-9)


@pytest.mark.parametrize("cut", [("drag", "C"), ("B", "C")])
def test_a_free_joint_that_drags_and_pushes_may_be_cut(cut: tuple[str, ...]) -> None:
    """It closes nothing, and its two bodies hang together all the same."""

    def make() -> nx.System:
        system = mechanisms.four_bar()
        drag = {"damping": (0.5, 0.4, 0.3, 2.0, 3.0, 4.0), "friction": (0.1,) * 3 + (1.0,) * 3, "friction_speed": 0.1}
        system.add_joint(nx.Free("drag", "ground", "coupler", at=(0.3, 1.2, 0.4), axis=(1, 1, 0), **drag))
        system.add_force(nx.JointForce("push", "drag", "=5*cos(3*t)", freedom=3))
        return system

    found = nx.simulate(make(), 0.1, RK4, output_every=50, loops=nx.Loops(cut=cut))
    expected = nx.simulate(make(), 0.1, nx.Projection(dt=1e-3), output_every=50)
    assert set(found.recording.settings["cut"]) == set(cut)
    agree(found, expected)
    for what in ("joint_position", "joint_velocity", "joint_acceleration", "transmitted"):
        assert_allclose(getattr(found, what)("drag").values, getattr(expected, what)("drag").values, atol=1e-9)


def test_a_driven_four_bar_takes_the_same_effort_in_both_coordinates() -> None:
    def make() -> nx.System:
        system = mechanisms.four_bar()
        system.add_driver(nx.Driver("motor", "A", "=0.4*sin(3*t)"))
        return system

    found, expected = both(make)
    agree(found, expected)
    assert_allclose(found.effort("motor").values, expected.effort("motor").values, atol=1e-5)
    for result in (found, expected):
        assert_allclose(result.transmitted("A").values[:, 5], result.effort("motor").values, atol=1e-9)
    assert_allclose(found.joint_position("A").values, 0.4 * np.sin(3 * found.t.values), atol=1e-10)


def test_gears_in_a_loop_and_of_three_joints_are_rows() -> None:
    def make() -> nx.System:
        system = nx.System("three flywheels", gravity=(0, -9.81, 0))
        for i in range(3):
            wheel = system.add_body(f"wheel{i}", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(i, 0, 0), com=(0.1, 0, 0))
            system.add_joint(nx.Revolute(f"axle{i}", system.ground, wheel, at=(i, 0, 0), axis=(0, 0, 1)))
        system.add_coupling(nx.Coupling("differential", {"axle0": 1.0, "axle1": 1.0, "axle2": -2.0}))
        return system

    found, expected = both(make)
    agree(found, expected)
    assert found.recording.settings["cut"] == []
    assert_allclose(found.effort("differential").values, expected.effort("differential").values, atol=1e-6)


@pytest.mark.parametrize("kind", ["gear", "coupling of three", "mimic"])
def test_couplings_in_a_loop_are_transmitted_alike(kind: str) -> None:
    """A five-bar whose cranks are geared: what each of its joints transmits, and the effort of the coupling."""

    def make() -> nx.System:
        system = five_bar() if kind != "mimic" else mimicking_five_bar()
        if kind == "gear":
            system.add_coupling(nx.Gear("gear", "pin0", "pin4", ratio=-1.5))
        elif kind == "coupling of three":
            system.add_coupling(nx.Coupling("gear", {"pin0": 1.0, "pin1": 0.4, "pin4": 0.8}))
        return system

    found, expected = both(make)
    agree(found, expected)
    carried = [[(r.transmitted(j) - r.reaction(j)).values[:, 5] for j in ("pin0", "pin4")] for r in (found, expected)]
    assert_allclose(carried[0], carried[1], atol=1e-6)
    # Σ c_i q_i = offset: joint i feels c_i times the effort
    first, last = {"gear": (1.0, 1.5), "coupling of three": (1.0, 0.8), "mimic": (0.7, 1.0)}[kind]
    assert_allclose(last * carried[0][0], first * carried[0][1], atol=1e-9)
    if kind == "mimic":
        assert_allclose(found.joint_position("pin4").values, -0.7 * found.joint_position("pin0").values, atol=1e-10)
        assert np.abs(carried).min() > 0.5
    else:
        assert_allclose(found.effort("gear").values, expected.effort("gear").values, atol=1e-6)
        assert np.abs(found.effort("gear").values).max() > 1.0
        assert_allclose(np.abs(carried[0][0]), np.abs(found.effort("gear").values), atol=1e-9)


def mimicking_five_bar() -> nx.System:
    """The five-bar, its last crank turning by −0.7 of the first."""
    plain, system = five_bar(), nx.System("five-bar", gravity=(0, -9.81, 0))
    for body in plain.bodies.values():
        system.add_body(
            body.name, mass=body.mass, inertia=body.inertia, position=body.position, orientation=body.orientation
        )
    for joint in plain.joints.values():
        mimic = {"mimic": nx.Mimic("pin0", multiplier=-0.7)} if joint.name == "pin4" else {}
        system.add_joint(
            nx.Revolute(joint.name, joint.parent.name, joint.child.name, at=joint.at, axis=joint.axis, **mimic)
        )
    return system


def test_a_step_at_a_time_with_efforts_of_a_controller() -> None:
    sim = nx.Simulation(mechanisms.four_bar(), RK4, loops=nx.Loops())
    for _ in range(20):
        sim.step(0.01, {"A": -5.0 * sim.q[sim.tree.coordinates["A"].q] - 2.0 * sim.v[sim.tree.coordinates["A"].v]})
    result = sim.result()
    assert result.recording.violation.max() < 1e-11
    assert "efforts given to Simulation.step" in result.not_conservative


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: nx.simulate(mechanisms.four_bar(), 1.0, nx.HHT(), loops=nx.Loops()), "is for minimal coordinates"),
        (lambda: nx.simulate(mechanisms.four_bar(), 1.0, RK4, dynamics="crba"), "go with 'aba' alone"),
        (lambda: nx.simulate(mechanisms.four_bar(), 1.0, RK4, loops=nx.Loops(cut=["A"])), "'A' leaves body 'crank' hanging on nothing"),
        (lambda: nx.simulate(mechanisms.four_bar(), 1.0, RK4, loops=nx.Loops(cut=["E"])), "no joint 'E'"),
        (lambda: nx.simulate(nx.load("double-pendulum"), 1.0, RK4, loops=nx.Loops(cut="hinge1")), "nothing to cut"),
        (lambda: nx.Loops("glue"), "stabilise of Loops is 'glue'"),
        (lambda: nx.Loops(alpha=3.0), "alpha of Loops belongs to stabilise='baumgarte'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(build: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


def test_two_drivers_of_one_motion_are_refused_by_name() -> None:
    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("motor", "A", 0.1))
    system.add_driver(nx.Driver("brake", "D", 0.1))
    with pytest.raises(InputError, match="over-driven: drivers 'motor' and 'brake'"):
        nx.simulate(system, 0.1, RK4)


def test_rows_that_share_a_redundancy_are_left_out_by_turns() -> None:
    """Bricard's mechanism, cut at P5: the four rows that are independent where it starts are not so at t = 1.2479 s."""
    result = nx.simulate(bricard(), 2.0, nx.DormandPrince(rtol=1e-9, atol=1e-11))
    assert result.recording.settings["redundant"] == ["P5.DotZY"]
    assert_allclose(result.position("P3").values[-1], A04.reference[2.0], atol=1e-8)
    used = np.abs(result.multiplier().values) > 1e-100
    assert (used.sum(axis=1) == 4).all()  # of five
    assert len({tuple(row) for row in used.tolist()}) > 1


def test_bricards_mechanism_follows_the_published_motion_for_ten_seconds() -> None:
    result = nx.simulate(bricard(), 10.0, RK4, output_every=500)
    place = result.position("P3").sel(time=list(A04.reference), method="nearest").values
    assert_allclose(place, list(A04.reference.values()), atol=2e-10)
    assert result.recording.violation.max() < 1e-11 and result.energy_drift < 1e-10


def test_a_run_goes_on_in_the_other_coordinates() -> None:
    system = mechanisms.four_bar()
    whole = nx.simulate(system, 0.2, RK4, output_every=100)
    on_tree = nx.simulate(system, 0.1, RK4, output_every=100)
    in_bodies = nx.simulate(system, 0.2, nx.Projection(dt=1e-3), initial=on_tree, output_every=100)
    assert_allclose(in_bodies.position("coupler")[-1], whole.position("coupler")[-1], atol=1e-8)
    first = nx.simulate(system, 0.1, nx.Projection(dt=1e-3), output_every=100)
    back = nx.simulate(system, 0.2, RK4, initial=first, output_every=100)
    assert_allclose(back.position("coupler")[-1], whole.position("coupler")[-1], atol=1e-8)
    assert back.recording.t[0] == pytest.approx(0.1)


def test_a_start_in_the_order_of_the_tree_is_closed_first() -> None:
    sim = nx.Simulation(mechanisms.four_bar(), RK4, q0=[0.3, 0.1, -0.2], v0=[1.0, 0.0, 0.0])
    closed = nx.ClosedTree(mechanisms.four_bar())
    assert np.abs(closed.residual(sim.q)).max() < 1e-9
    assert np.abs(closed.jacobian(sim.q) @ sim.v).max() < 1e-9
    assert_allclose(sim.q, closed.close([0.3, 0.1, -0.2]), atol=1e-9)


def test_a_body_that_two_joints_carry_without_a_loop_moves_too() -> None:
    """The outer link is the parent of the joint between the two: it floats, and that joint is cut."""

    def make() -> nx.System:
        system = nx.System("double pendulum, outer first", gravity=(0, -9.81, 0))
        inner = mechanisms.rod(system, "inner", (0, 0, 0), (1, 0, 0))
        outer = mechanisms.rod(system, "outer", (1, 0, 0), (2, 0, 0))
        system.add_joint(nx.Revolute("hinge", system.ground, inner, at=(0, 0, 0), axis=(0, 0, 1)))
        system.add_joint(nx.Revolute("elbow", outer, inner, at=(1, 0, 0), axis=(0, 0, 1)))
        return system

    found, expected = both(make)
    assert found.recording.settings["cut"] == ["elbow"]
    assert found.tree.joint_names == ["outer", "hinge"]
    agree(found, expected)

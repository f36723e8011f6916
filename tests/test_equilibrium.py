"""nx.equilibrium: closed forms, laws, oracles, and what has no equilibrium."""

from __future__ import annotations

import json
import math

import mechanisms
import numpy as np
import pytest
from pin_oracle import PinOracle

import nexdyn as nx
from nexdyn.absolute.model.initial import accelerations
from nexdyn.assembly.loads import generalized_forces
from nexdyn.cli import main

G = 9.81


def pendulum(q0: float | None = None, stiffness: float = 0.0, up: bool = False) -> nx.System:
    """A rod of 2 kg, its centre 0.5 m from the hinge; q = 0 hangs, or stands."""
    system = nx.System("pendulum", gravity=(0, -G, 0))
    rod = system.add_body("rod", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0.5 if up else -0.5, 0))
    place = {"at": (0, 0, 0), "axis": (0, 0, 1)}
    system.add_joint(nx.Revolute("hinge", system.ground, rod, **place, q0=q0, stiffness=stiffness))
    return system


def at_rest(found: nx.Equilibrium) -> float:
    """The largest acceleration at the pose that was found, of the equations of motion, and whether λ agrees."""
    report = found.report
    model, still = report.model, np.zeros((report.model.nb + 1, 6))
    kept = np.ones(model.nc, dtype=bool)
    for row in report.redundancy.redundant:
        kept[[str(r) for r in model.rows].index(f"{row.joint}.{row.equation}")] = False
    force = generalized_forces(model, report.q, still, report.t)
    a, lam, _ = accelerations(model, report.q, force, kept, model.gamma(report.q, still, report.t), t=report.t)
    np.testing.assert_allclose(lam, report.multipliers, rtol=0, atol=1e-7 * max(1.0, np.abs(lam).max()))
    assert np.abs(model.residual(report.q, report.t)).max(initial=0.0) < 1e-11
    return float(np.abs(a).max())


# --- closed forms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guess", [0.0, 1.0, -2.5, 3.1])
def test_a_pendulum_hangs_wherever_it_is_let_go(guess: float) -> None:
    found = nx.equilibrium(pendulum(guess))
    assert found.stability == "stable" and found.joint("hinge")[0] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(found.reaction("hinge").force, (0, 2 * G, 0), atol=1e-8)
    assert found.frequencies[0] == pytest.approx(math.sqrt(2 * G * 0.5 / 0.6) / (2 * math.pi), rel=1e-7)
    assert at_rest(found) < 1e-7


def test_upright_it_rests_too_and_is_unstable() -> None:
    for options, guess in (({}, math.pi), ({"nearest": True}, 2.9)):
        found = nx.equilibrium(pendulum(guess), **options)
        assert found.stability == "unstable" and abs(found.joint("hinge")[0]) == pytest.approx(math.pi, abs=1e-9)
        assert found.squares[0] == pytest.approx(-2 * G * 0.5 / 0.6, rel=1e-6)
        assert found.first_to_move == "rod" and not len(found.frequencies)


@pytest.mark.parametrize("k", [8.0, 11.0])
def test_an_inverted_pendulum_on_a_spring_buckles_below_the_critical_stiffness(k: float) -> None:
    critical = 2 * G * 0.5
    upright = nx.equilibrium(pendulum(0.0, k, up=True))
    assert upright.stability == ("stable" if k > critical else "unstable")
    buckled = nx.equilibrium(pendulum(0.3, k, up=True))
    lean = buckled.joint("hinge")[0]
    assert buckled.stability == "stable" and at_rest(buckled) < 1e-7
    assert k * lean == pytest.approx(critical * math.sin(lean), abs=1e-8)
    assert (lean > 0.5) == (k < critical)


def test_a_mass_sinks_into_its_spring() -> None:
    system = nx.System("scale", gravity=(0, 0, -G))
    system.add_body("pan", mass=3.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Prismatic("guide", system.ground, "pan", at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_force(nx.PointSpring("spring", system.ground, "pan", stiffness=2.0, length=1.0, at_a=(0, 0, 1.0)))
    found = nx.equilibrium(system)  # it sinks 15 times its length
    assert found.joint("guide")[0] == pytest.approx(-3.0 * G / 2.0, rel=1e-9)
    assert found.frequencies[0] == pytest.approx(math.sqrt(2.0 / 3.0) / (2 * math.pi), rel=1e-6)


def chain(n: int, span: float) -> nx.System:
    """n rods of 1 m and 1 kg between two pivots at one height, described as a pile of chevrons; the last joint is open."""
    system = nx.System("chain", gravity=(0, -G, 0))
    parent, end = system.ground, np.zeros(3)
    for i in range(n):
        angle = -1.2 if i < n // 2 else 1.1
        along = np.array([math.cos(angle), math.sin(angle), 0.0])
        turned = (math.cos(angle / 2), 0, 0, math.sin(angle / 2))
        link = system.add_body(
            f"link{i}", mass=1.0, inertia=(1e-3, 1 / 12, 1 / 12), position=end + along / 2, orientation=turned
        )
        where = {"anchor_b": (-0.5, 0, 0), "axis_b": (0, 0, 1), "axis_a": (0, 0, 1)}
        anchor_a = (0, 0, 0) if i == 0 else (0.5, 0, 0)
        system.add_joint(nx.Revolute(f"pin{i}", parent, link, anchor_a=anchor_a, **where))
        parent, end = link, end + along
    z = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    system.add_joint(nx.Revolute("last", system.ground, parent, anchor_a=(span, 0, 0), anchor_b=(0.5, 0, 0), **z))
    return system


def test_a_hanging_chain_takes_the_shape_of_its_catenary() -> None:
    n, span = 8, 6.0
    found = nx.equilibrium(chain(n, span))
    # moments about the middle of each rod: tan θ_i = V_i/H, V_i the mean of the vertical forces at its ends
    V = (0.5 * n - np.arange(n) - 0.5) * G

    def width(H: float) -> float:
        return float(np.cos(np.arctan2(V, H)).sum()) - span

    low, high = 1e-3, 1e3
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if width(middle) < 0.0 else (low, middle)
    slopes = np.arctan2(V, low)
    ends = np.cumsum(np.column_stack([np.cos(slopes), -np.sin(slopes)]), axis=0)
    for i in range(n):
        middle_of = ends[i] - 0.5 * np.array([math.cos(slopes[i]), -math.sin(slopes[i])])
        np.testing.assert_allclose(found.position(f"link{i}")[:2], middle_of, atol=1e-8)
    force = found.reaction("pin0").force
    np.testing.assert_allclose(force[:2], (-low, 0.5 * n * G), rtol=1e-7)
    assert found.stability == "stable" and found.dof == n - 2 and at_rest(found) < 1e-7


def ziegler(load: float) -> nx.System:
    """Two massless rods of 1 m with springs of 1 N m/rad, 2 kg and 1 kg at their ends, pushed along the last (a follower)."""
    system = nx.System("Ziegler", gravity=(0, 0, 0))
    elbow = system.add_body("elbow", mass=2.0, inertia=(1e-12, 1e-12, 1e-12), position=(1, 0, 0))
    tip = system.add_body("tip", mass=1.0, inertia=(1e-12, 1e-12, 1e-12), position=(2, 0, 0))
    system.add_joint(nx.Revolute("first", system.ground, elbow, at=(0, 0, 0), axis=(0, 0, 1), stiffness=1.0))
    system.add_joint(nx.Revolute("second", elbow, tip, at=(1, 0, 0), axis=(0, 0, 1), stiffness=1.0))
    system.add_force(nx.AppliedForce("push", tip, force=(-load, 0, 0), expressed_in="body"))
    return system


def test_a_column_under_a_follower_load_flutters_beyond_zieglers_load() -> None:
    critical = 3.5 - math.sqrt(2.0)
    for load, stability in ((critical - 1e-3, "stable"), (critical + 1e-3, "unstable")):
        found = nx.equilibrium(ziegler(load))
        assert found.stability == stability
        assert (np.abs(found.squares.imag).max() > 1e-3) == (stability == "unstable")


# --- laws and oracles -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "stability"),
    [(mechanisms.four_bar, "stable"), (mechanisms.bricard, "stable"), (mechanisms.n_four_bar, "unstable")],
)  # the last is described upright, which is an equilibrium
def test_closed_loops_settle_where_nothing_accelerates(build, stability: str) -> None:
    found = nx.equilibrium(build())
    assert found.stability == stability and at_rest(found) < 1e-7
    assert found.out_of_balance < 1e-6


def test_a_wheel_that_rolls_rests_where_its_spring_holds_it() -> None:
    """On a slope, by a spring from its centre: k x = m g sin φ, and the ground takes m g cos φ and no friction."""
    m, k, phi = 2.0, 300.0, 0.3
    system = nx.System("wheel", gravity=(9.81 * math.sin(phi), 0, -9.81 * math.cos(phi)))
    wheel = system.add_body("wheel", mass=m, inertia=(0.01, 0.02, 0.01), position=(0, 0, 0.2))
    system.add_joint(nx.RollingSphere("roll", system.ground, wheel, radius=0.2))
    system.add_force(nx.PointSpring("spring", system.ground, wheel, at_a=(-1, 0, 0.2), stiffness=k, length=1.0))
    found = nx.equilibrium(system)
    x = m * 9.81 * math.sin(phi) / k
    assert found.position("wheel") == pytest.approx([x, 0, 0.2], abs=1e-9)
    assert found.reaction("roll").force == pytest.approx([0, 0, m * 9.81 * math.cos(phi)], abs=1e-8)


def test_it_agrees_with_a_damped_run() -> None:
    system = mechanisms.four_bar()
    system.add_force(
        nx.PointSpring("spring", system.ground, "coupler", stiffness=20.0, damping=10.0, length=0.5, at_a=(3.0, 1.0, 0))
    )
    found = nx.equilibrium(system)
    run = nx.simulate(system, 40.0, nx.ImplicitEuler(0.02), output_every=10**9)
    for name in ("crank", "coupler", "rocker"):
        np.testing.assert_allclose(run.position(name).values[-1], found.position(name), atol=1e-5)
    assert found.stability == "stable" and at_rest(found) < 1e-7


def test_a_run_that_starts_there_stays() -> None:
    found = nx.equilibrium(mechanisms.four_bar())
    run = nx.simulate(found.report.model.system, 0.5, nx.HHT(dt=0.01), initial=found.report)
    np.testing.assert_allclose(run.position("coupler").values[-1], found.position("coupler"), atol=1e-9)


URDF_HEAD = '<robot name="arm"><link name="base"/>'


def arm(rng: np.random.Generator, n: int = 5) -> str:
    parts, parent = [URDF_HEAD], "base"
    for i in range(n):
        x, y, z = rng.normal(size=3)
        r = rng.uniform(-1, 1, size=3)
        parts.append(
            f'<link name="l{i}"><inertial><origin xyz="{0.2 * x} {0.2 * y} {0.3}"/><mass value="{1 + i * 0.3}"/>'
            '<inertia ixx="0.1" iyy="0.11" izz="0.12" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{0.1 * y} {0.1 * z} 0.4" rpy="{r[0]} {r[1]} {r[2]}"/><axis xyz="0 0 1"/>'
            '<limit lower="-2.5" upper="2.5" effort="100" velocity="10"/></joint>'
        )
        parent = f"l{i}"
    return "".join([*parts, "</robot>"])


def test_drivers_hold_a_robot_with_pinocchios_torques_of_gravity(tmp_path, rng: np.random.Generator) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(arm(rng))
    system = nx.load(path)
    tree = nx.Tree(system)
    q = rng.uniform(-1, 1, size=tree.nq)
    for name, x in zip(tree.joint_names, q, strict=True):
        system.add_driver(nx.Driver(f"hold {name}", name, float(x)))
    found = nx.equilibrium(system)
    oracle = PinOracle(path, nx.load(path), tree.joint_names)
    torques = oracle.rnea(q, np.zeros(tree.nv), np.zeros(tree.nv))
    assert found.stability == "fixed"
    np.testing.assert_allclose([found.effort(f"hold {n}") for n in tree.joint_names], torques, rtol=0, atol=1e-9)


def test_a_driver_is_held_at_its_time() -> None:
    system = pendulum()
    system.add_driver(nx.Driver("motor", "hinge", nx.Linear(0.0, 0.5)))
    found = nx.equilibrium(system, t=2.0)
    assert found.joint("hinge")[0] == pytest.approx(1.0, abs=1e-12)
    assert found.effort("motor") == pytest.approx(2 * G * 0.5 * math.sin(1.0), rel=1e-9)


def test_what_rests_anywhere_is_neutral() -> None:
    system = nx.System("slider", gravity=(0, 0, -G))
    system.add_body("cart", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("rail", system.ground, "cart", at=(0, 0, 0), axis=(1, 0, 0)))
    found = nx.equilibrium(system)
    assert found.stability == "neutral" and found.first_to_move == "cart"


# --- what has none --------------------------------------------------------------------------------------------------


def test_a_free_body_in_gravity_has_none_and_is_named() -> None:
    system = nx.System("falls")
    system.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(nx.SolveError, match="nothing stops body 'stone'") as caught:
        nx.equilibrium(system)
    assert caught.value.where == "stone"


def test_a_motor_without_a_load_turns_its_body_for_ever() -> None:
    system = pendulum()
    system.add_force(nx.JointForce("motor", "hinge", 2 * G * 0.5 + 1.0))
    with pytest.raises(nx.SolveError, match="'rod' keeps turning") as caught:
        nx.equilibrium(system)
    assert caught.value.where == "rod"


def test_bad_input_is_refused() -> None:
    with pytest.raises(nx.InputError, match="max_iterations"):
        nx.equilibrium(pendulum(), max_iterations=0)
    with pytest.raises(nx.InputError, match="no bodies"):
        nx.equilibrium(nx.System("empty"))
    with pytest.raises(nx.SolveError, match="in 1 iterations"):
        nx.equilibrium(pendulum(2.0), max_iterations=1)
    with pytest.raises(nx.UnknownNameError, match="no joint 'hing'"):
        nx.equilibrium(pendulum()).joint("hing")
    with pytest.raises(nx.AssemblyError):
        nx.equilibrium(nx.load("broken-four-bar"))


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command_says_it_in_words_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equilibrium", "four-bar", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["stability"] == "stable" and data["dof"] == 1 and set(data["reactions"]) == {"A", "B", "C", "D"}
    assert main(["equilibrium", "four-bar"]) == 0
    assert "in equilibrium: stable" in capsys.readouterr().out


def test_the_command_ends_with_3_where_there_is_none(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "falls.yaml"
    system = nx.System("falls")
    system.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    nx.save_scene(system, scene)
    assert main(["equilibrium", str(scene), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "SolveError"

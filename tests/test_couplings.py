"""Couplings of joints: gears, racks, sums and mimic joints, in absolute and in minimal coordinates."""

from __future__ import annotations

import importlib.metadata
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from systems import joint_pose, solid, somewhere, unit

import nexdyn as nx
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.assembly.report import AssemblyReport
from nexdyn.describe import from_dict, to_dict
from nexdyn.io.scene import dump_scene, read_scene_text
from nexdyn.joints import JOINTS
from nexdyn.spatial.poses import compose, inverse
from nexdyn.spatial.rotations import quaternion, rotation_matrix

KINDS = ("revolute", "prismatic", "cylindrical", "helical", "universal", "planar", "cartesian")


def joined(seed: int, *kinds: str) -> nx.System:
    """Bodies anywhere, each on a joint of its own: joint 0 to ground, joint 1 to body 0 and so on."""
    rng = np.random.default_rng(seed)
    system = nx.System("joined", gravity=rng.normal(size=3) * 5)
    for i, kind in enumerate(kinds):
        body = system.add_body(f"b{i}", **solid(rng), **somewhere(rng))
        parent = system.ground if i == 0 or i == 2 else system.body(f"b{i - 1}")
        pitch = {"pitch": 0.3} if kind == "helical" else {}
        where = {"at": rng.normal(size=3), "axis": unit(rng, 3)}
        system.add_joint(JOINTS[kind](f"j{i}", parent, body, **where, **pitch))
    return system


def at(system: nx.System, q: dict[str, Any]) -> np.ndarray:
    """The pose (nb + 1, 7) of bodies whose joints, described at q = 0, have the coordinates `q`."""
    model = absolute_model(system)
    poses = {"ground": (np.eye(3), np.zeros(3))}
    out = model.q.copy()
    for joint in system.joints.values():
        frames = joint.frames({})
        X = compose(*poses[joint.parent.name], frames.R_AJ, frames.p_AJ)
        X = compose(*X, *joint_pose(joint.kind, np.atleast_1d(np.asarray(q[joint.name], float)), 0.3))
        R, p = poses[joint.child.name] = compose(*X, *inverse(frames.R_BJ, frames.p_BJ))
        i = model.body_index[joint.child.name]
        out[i, :4], out[i, 4:] = quaternion(R), p
    return out


def coordinates(rng: np.random.Generator, system: nx.System) -> dict[str, np.ndarray]:
    return {name: rng.uniform(-1.2, 1.2, size=joint.nv) for name, joint in system.joints.items()}


def row_of(model: AbsoluteModel, coupling: str) -> int:
    return next(row.index for row in model.rows if row.coupling == coupling)


# --- rows -------------------------------------------------------------------------------------------------------------


def coupled(seed: int) -> nx.System:
    """Couplings of every coordinate there is, some of them of three joints."""
    system = joined(seed, *KINDS)
    rng = np.random.default_rng(seed)
    every = [(name, f) for name, joint in system.joints.items() for f in range(len(joint.coordinates))]
    for n, picked in enumerate(rng.permutation(len(every))[:12].reshape(-1, 2)):
        terms = {("j0", 0): -1.5} | {every[k]: rng.uniform(0.5, 2.0) for k in picked}
        system.add_coupling(nx.Coupling(f"c{n}", terms, offset=rng.normal()))
    return system


@pytest.mark.parametrize("seed", range(3))
def test_a_coupling_is_the_sum_of_the_coordinates_of_its_joints(seed: int) -> None:
    system = coupled(seed)
    q = coordinates(np.random.default_rng(seed), system)
    model = absolute_model(system)
    near = np.zeros(len(model.near_start))
    C = model.residual(at(system, q), 0.0, near)
    for name, coupling in system.couplings.items():
        terms, offset = coupling.law({})
        assert C[row_of(model, name)] == pytest.approx(sum(c * q[j][f] for j, f, c in terms) - offset, abs=1e-12)


def test_rows_of_couplings_have_the_derivatives_that_differences_say(rng: np.random.Generator) -> None:
    system = coupled(3)
    model = absolute_model(system)
    q = at(system, coordinates(rng, system))
    rows = [row_of(model, name) for name in system.couplings]
    v = np.zeros((model.nb + 1, 6))
    v[1:] = rng.normal(size=(model.nb, 6))

    def C(h: float, step: np.ndarray) -> np.ndarray:
        return model.residual(model.moved(q, h * step), 0.0, np.zeros(len(model.near_start)))[rows]

    h = 1e-5
    J = np.stack([(C(h, e) - C(-h, e)) / (2 * h) for e in np.eye(model.nv)], axis=1)
    assert_allclose(model.jacobian(q)[rows], J, atol=1e-8)
    h, step = 1e-3, v[1:].reshape(-1)
    twice = (-C(2 * h, step) + 16 * C(h, step) - 30 * C(0, step) + 16 * C(-h, step) - C(-2 * h, step)) / (12 * h**2)
    assert_allclose(model.gamma(q, v)[rows], -twice, atol=1e-6, rtol=1e-6)
    for r in rows:
        weight = np.eye(model.nc)[r]
        assert step @ model.curvature(q, weight) @ step == pytest.approx(-model.gamma(q, v)[r], rel=1e-9, abs=1e-9)


def train(n: int = 3, **options: Any) -> nx.System:
    """Wheels on ground, each in gear with the next, listed from the last to the first."""
    system = nx.System("train", gravity=(0, 0, 0))
    for i in range(n):
        wheel = system.add_body(f"wheel{i}", mass=1.0 + i, inertia=(1 + i, 1 + i, 0.5 + i), position=(2.0 * i, 0, 0))
        system.add_joint(nx.Revolute(f"axle{i}", system.ground, wheel, **(options if i == 0 else {})))
    for i in reversed(range(n - 1)):
        system.add_coupling(nx.Gear(f"gear{i}", f"axle{i}", f"axle{i + 1}", ratio=-(2.0 + i), offset=0.1 * i))
    return system


@pytest.mark.parametrize("turn", [0.3, 100.0, -1e4])
def test_driven_gears_are_counted_through_full_turns(turn: float) -> None:
    system = train()
    system.add_driver(nx.Driver("motor", "axle0", turn))
    model = absolute_model(system)
    second = -turn / 2.0
    q = at(system, {"axle0": turn, "axle1": second, "axle2": (second - 0.1) / -3.0})
    assert_allclose(model.residual(q), 0.0, atol=1e-11 * max(1.0, abs(turn)))


def test_gears_are_followed_along_a_motion() -> None:
    model = absolute_model(train(2))
    near = np.zeros(len(model.near_start))
    for angle in np.linspace(0.0, 40.0, 200):
        C = model.residual(at(model.system, {"axle0": angle, "axle1": -angle / 2.0}), 0.0, near)
        assert_allclose(C, 0.0, atol=1e-12)
    assert_allclose(near, (40.0, -20.0))


def test_the_pinion_is_counted_from_where_its_rack_is() -> None:
    system = joined(0, "revolute", "prismatic")
    system.add_coupling(nx.RackAndPinion("rack", "j0", "j1", radius=0.05, offset=0.2))
    model = absolute_model(system)
    assert_allclose(model.residual(at(system, {"j0": 50.0, "j1": 0.05 * 50.0 + 0.2})), 0.0, atol=1e-12)


def test_rows_say_whose_they_are_and_what_they_forbid() -> None:
    system = train(2)
    system.add_coupling(nx.Coupling("sum", {"axle0": 1.0, "axle1": 2.0}, priority=5))
    model = absolute_model(system)
    rows = model.rows[10:]
    assert [str(row) for row in rows] == ["coupling 'gear0'", "coupling 'sum'"]
    assert [row.priority for row in rows] == [1, 5]
    assert rows[0].direction == "deviation from the gear's ratio"
    assert {len(own) for own in model.rows_of_joint.values()} == {5}
    # both terms of a gear are about the bodies of their own joints
    assert {*model.tables.terms[10:12, 0]} == {0, 1}


# --- against minimal coordinates ---------------------------------------------------------------------------------------


def accelerations(system: nx.System, q: dict[str, Any], v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a (nb, 6) of the bodies by [M Cqᵀ; Cq 0] at joint coordinates q and consistent velocities v (6 nb,), and |C|."""
    model = absolute_model(system)
    pose = at(system, q)
    J, M = model.jacobian(pose), model.mass_matrix(pose)
    full = np.zeros((model.nb + 1, 6))
    full[1:] = v.reshape(-1, 6)
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.concatenate([model.applied(pose, full), model.gamma(pose, full)])
    solution = np.linalg.lstsq(K, right, rcond=None)[0]
    assert_allclose(K @ solution, right, atol=1e-8)
    return solution[: model.nv].reshape(-1, 6), model.residual(pose, 0.0, np.zeros(len(model.near_start)))


def compare(system: nx.System, seed: int) -> None:
    """Accelerations of every body agree with those of the tree at a random state."""
    rng = np.random.default_rng(seed)
    tree = nx.Tree(system)
    q, v = rng.uniform(-0.5, 0.5, tree.nq), rng.normal(size=tree.nv)
    a = tree.aba(q, v, np.zeros(tree.nv))
    full = tree.coupling.full_q(q)
    columns = {arc.name: int(k) for arc, k in zip(tree.compiled.forest.arcs, tree.compiled.first_q, strict=True)}
    at_joints = {name: full[columns[name]] for name in system.joints}
    model = absolute_model(system)
    pose = at(system, at_joints)
    velocity = []
    for name in model.bodies[1:]:
        w, u = tree.velocity(q, v, name)
        R, p = tree.pose(q, name)
        assert_allclose(p, pose[model.body_index[name], 4:], atol=1e-12)
        velocity.append(np.concatenate([R.T @ w, u]))
    found, C = accelerations(system, at_joints, np.concatenate(velocity))
    assert_allclose(C, 0.0, atol=1e-11)
    h = 1e-3

    def velocities(x: float, name: str) -> np.ndarray:
        return np.concatenate(tree.velocity(q + x * v + 0.5 * x**2 * a, v + x * a, name))

    for i, name in enumerate(model.bodies[1:]):
        x = {k: velocities(k * h, name) for k in (-2, -1, 1, 2)}
        expected = (x[-2] - 8 * x[-1] + 8 * x[1] - x[2]) / (12 * h)
        R, _ = tree.pose(q, name)
        assert_allclose(np.concatenate([R @ found[i, :3], found[i, 3:]]), expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_gears_and_racks_accelerate_as_the_tree_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system = joined(seed, "revolute", "revolute", "prismatic", "helical", "revolute", "prismatic")
    system.add_coupling(nx.Gear("g", "j0", "j1", ratio=rng.uniform(-4, -1), offset=0.2))
    system.add_coupling(nx.RackAndPinion("r", "j1", "j2", radius=rng.uniform(0.1, 0.5)))
    system.add_coupling(nx.Coupling("c", {"j4": 2.0, "j2": -0.7}, offset=0.1))
    compare(system, seed)
    assert nx.Tree(system).joint_names == ["j0", "j3", "j5"]


@pytest.mark.parametrize("seed", range(2))
def test_mimic_joints_accelerate_as_the_tree_says(seed: int) -> None:
    compare(mimic_hand(seed), seed)


def mimic_hand(seed: int) -> nx.System:
    """Fingers that mimic a knuckle, one of them a finger that mimics already."""
    rng = np.random.default_rng(seed)
    system = nx.System("hand", gravity=rng.normal(size=3) * 5)
    mimics = {"f1": nx.Mimic("f0", 0.5, 0.1), "f2": nx.Mimic("f1", -1.2), "slide": nx.Mimic("f0", 0.1)}
    parent = system.ground
    for name in ("f0", "f1", "f2", "slide"):
        body = system.add_body(name, **solid(rng), **somewhere(rng))
        kind = nx.Prismatic if name == "slide" else nx.Revolute
        system.add_joint(kind(name, parent, body, axis=unit(rng, 3), mimic=mimics.get(name)))
        parent = body
    return system


def test_a_gear_is_carried_as_a_mimic_is(rng: np.random.Generator) -> None:
    def pair(coupled: bool) -> nx.Tree:
        system = nx.System("pair")
        for i, mimic in enumerate((None, None if coupled else nx.Mimic("j0", -0.4, 0.3))):
            body = system.add_body(f"b{i}", mass=1.0, com=(0.1, 0.2, 0), inertia=(1, 1, 1 + i), position=(i, 0, 0))
            system.add_joint(nx.Revolute(f"j{i}", "ground", body, axis=(1, 0, 0), damping=0.2 + i, mimic=mimic))
        if coupled:
            system.add_coupling(nx.Gear("gear", "j1", "j0", ratio=-0.4, offset=0.3))
        return nx.Tree(system)

    geared, mimicking = pair(True), pair(False)
    assert geared.joint_names == mimicking.joint_names == ["j0"]
    q, v, tau = rng.normal(size=(3, 1))
    assert_allclose(geared.aba(q, v, tau), mimicking.aba(q, v, tau), rtol=1e-14)
    moved = [nx.simulate(tree.system, 0.5, method=nx.RungeKutta4(dt=0.01)) for tree in (geared, mimicking)]
    assert_allclose(moved[0].joint_position("j1"), moved[1].joint_position("j1"), rtol=1e-13)
    assert np.ptp(moved[0].joint_position("j1").values) > 0.01


def test_couplings_tie_mimic_joints_and_their_leaders_together() -> None:
    system = mimic_hand(0)
    extra = system.add_body("extra", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("extra", system.ground, extra))
    system.add_coupling(nx.Gear("gear", "f2", "extra", ratio=3.0, offset=0.5))
    tree = nx.Tree(system)
    assert tree.joint_names == ["f0"]
    # f2 = −1.2 (0.5 f0 + 0.1) = 3 extra + 0.5
    full = dict(
        zip((arc.name for arc in tree.compiled.forest.arcs), tree.coupling.full_q(np.array([0.7])), strict=True)
    )
    assert full["f2"] == pytest.approx(-1.2 * (0.35 + 0.1))
    assert full["extra"] == pytest.approx((full["f2"] - 0.5) / 3.0)


def test_a_long_gear_train_reduces_to_one_coordinate() -> None:
    tree = nx.Tree(train(400))
    assert tree.nv == 1 and tree.coupling.matrix().shape == (400, 1)


# --- assembled --------------------------------------------------------------------------------------------------------


def assembled_as_simulated(system: nx.System, seed: int, scale: float = 0.5) -> AssemblyReport:
    """`nx.assemble` at random coordinates and velocities of the leaders agrees with minimal coordinates."""
    rng = np.random.default_rng(seed)
    tree = nx.Tree(system)
    q, v = tree.random(rng), rng.normal(size=tree.nv)
    q = q * (scale if tree.nq == tree.nv else 1.0)
    q0, v0 = ({name: x[at[i]] for name, at in tree.coordinates.items()} for i, x in enumerate((q, v)))
    report, simulation = nx.assemble(system, q0=q0, v0=v0), nx.Simulation(system, q0=q0, v0=v0)
    for name in tree.body_names:
        assert_allclose(report.position(name), tree.pose(q, name)[1], atol=1e-9 * max(1.0, scale))
        expected = tree.jacobian(q, name) @ simulation.a + tree.jacobian_rate(q, v, name) @ v
        found = np.concatenate([report.angular_acceleration(name), report.acceleration(name)])
        assert_allclose(found, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))
    result = simulation.result()
    for name in system.joints:
        reaction, expected = report.reaction(name), result.reaction(name).values[-1]
        found = np.concatenate([reaction.force, reaction.moment])
        assert_allclose(found, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))
    assert (report.redundancy.dof, report.redundancy.redundant) == (tree.nv, [])
    return report


@pytest.mark.parametrize("scale", [0.3, 20.0])
@pytest.mark.parametrize("seed", range(2))
def test_assembled_gears_and_racks_agree_with_minimal_coordinates(seed: int, scale: float) -> None:
    system = joined(seed, "revolute", "revolute", "prismatic", "helical", "revolute", "prismatic")
    system.add_coupling(nx.Gear("g", "j0", "j1", ratio=-2.3, offset=0.2))
    system.add_coupling(nx.RackAndPinion("r", "j1", "j2", radius=0.3))
    system.add_coupling(nx.Coupling("c", {"j4": 2.0, "j2": -0.7}, offset=0.1))
    assembled_as_simulated(system, seed, scale)


def test_assembled_mimic_joints_agree_with_minimal_coordinates() -> None:
    assembled_as_simulated(mimic_hand(5), 5)


@pytest.mark.parametrize("robot", ["panda.urdf", "pr2.urdf"])
def test_robots_with_mimic_joints_agree_with_minimal_coordinates(robot: str) -> None:
    files = importlib.metadata.files("example-robot-data") or []
    path = next(Path(str(f.locate())) for f in files if f.name == robot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nx.NexDynWarning)
        system = nx.load(path)
    assert any(joint.mimic is not None for joint in system.joints.values())
    assembled_as_simulated(system, 1, 1.0)


def test_a_ring_of_gears_is_redundant_where_it_says_the_same_twice_and_refused_where_not() -> None:
    # a0 = −2 a1, a1 = −3 a2 + 0.1: a2 = a0/6 + 0.1/3
    ring, crooked = train(), train()
    ring.add_coupling(nx.Gear("ring", "axle2", "axle0", ratio=1 / 6, offset=0.1 / 3))
    report = nx.assemble(ring)
    (row,) = report.redundancy.redundant
    assert report.redundancy.dof == 1 and row.consistent and row.structural and row.equation == "Gear"
    assert {row.joint, *row.depends_on} == {"ring", "coupling 'gear0'", "coupling 'gear1'"}
    crooked.add_coupling(nx.Gear("ring", "axle2", "axle0", ratio=1 / 6, offset=-0.1 / 3))
    with pytest.raises(nx.AssemblyError, match=r"cannot be assembled: .*coupling 'ring' is missed by"):
        nx.assemble(crooked)


def test_drivers_at_both_ends_of_a_gear_are_over_driven() -> None:
    system = train(2)
    for i in range(2):
        system.add_driver(nx.Driver(f"motor{i}", f"axle{i}", 0.0))
    with pytest.raises(nx.InputError, match="motor"):
        nx.assemble(system)


def test_a_gear_passes_the_effort_of_its_ratio() -> None:
    # the wheel's inertia as the pinion's motor feels it: I_b/ratio²
    system = train(2)
    system.add_driver(nx.Driver("motor", "axle0", "=3*t**2"))
    report = nx.assemble(system)
    assert report.angular_acceleration("wheel1")[2] == pytest.approx(-3.0, abs=1e-9)
    torque = -report.multipliers[report.model.drivers[0].row]
    assert torque == pytest.approx(6.0 * (0.5 + 1.5 / 4.0), abs=1e-9)
    assert_allclose(report.reaction("axle1").moment, 0.0, atol=1e-9)


# --- description ------------------------------------------------------------------------------------------------------


def described() -> nx.System:
    system = joined(1, "revolute", "prismatic", "cylindrical")
    system.parameter("n", 3.0)
    system.add_coupling(nx.Gear("gear", "j0", "j2", ratio="=-n", freedom_b=0, offset=0.1))
    system.add_coupling(nx.RackAndPinion("rack", "j0", "j1", radius="=0.1*n"))
    system.add_coupling(nx.Coupling("sum", {"j0": 1.0, ("j2", 1): "=2*n"}, offset=0.2, priority=2))
    return system


def test_couplings_go_through_data_and_scenes() -> None:
    system = described()
    again = from_dict(to_dict(system))
    from_scene = read_scene_text(dump_scene(system)).system
    for other in (again, from_scene):
        assert to_dict(other) == to_dict(system)
        for name, coupling in system.couplings.items():
            assert other.coupling(name).law(other.values) == coupling.law(system.values)
    assert system.coupling("sum").law(system.values).terms == (("j0", 0, 1.0), ("j2", 1, 6.0))


def test_terms_may_name_joints_by_themselves() -> None:
    system = joined(1, "revolute", "cylindrical")
    a, b = system.joints.values()
    given = nx.Coupling("sum", {a: 2.0, (b, 1): -1.0})
    assert system.add_coupling(given).law({}).terms == (("j0", 0, 2.0), ("j1", 1, -1.0))


def test_a_scene_may_give_the_terms_by_joint() -> None:
    text = dump_scene(joined(1, "revolute", "prismatic"))
    scene = read_scene_text(text + "couplings:\n  feed: {type: sum, terms: {j0: 1.0, j1: -2}, offset: 0.5}\n")
    assert scene.system.coupling("feed").law({}) == ((("j0", 0, 1.0), ("j1", 0, -2.0)), 0.5)


def test_couplings_follow_parameters() -> None:
    changed = described().with_parameters({"n": 5.0, "gear.offset": 0.7})
    assert changed.coupling("gear").law(changed.values) == ((("j0", 0, 1.0), ("j2", 0, 5.0)), 0.7)
    with pytest.raises(nx.InputError, match="ratio of coupling 'gear' is 0"):
        described().with_parameters({"gear.ratio": 0.0})
    with pytest.raises(nx.UnknownNameError, match="has no attribute 'joint_a'"):
        described().with_parameters({"gear.joint_a": "j1"})


@pytest.mark.parametrize(
    ("coupling", "message"),
    [
        (lambda: nx.Gear("g", "j0", "j1", ratio=0.0), "ratio of coupling 'g' is 0"),
        (lambda: nx.Gear("g", "j0", "j1", ratio=np.nan), "ratio of coupling 'g' is nan"),
        (lambda: nx.Gear("g", "j0", "j0", ratio=2.0), "names freedom 0 of joint 'j0' twice"),
        (lambda: nx.Gear("g", "j0", "j7", ratio=2.0), "coupling 'g': no joint 'j7'; did you mean"),
        (lambda: nx.Gear("g", "j0", "j2", ratio=2.0), r"joint 'j2' \(prismatic\) is a length, not an angle"),
        (lambda: nx.Gear("g", "j0", "ball", ratio=2.0), r"joint 'ball' \(spherical\) has no coordinate"),
        (lambda: nx.Gear("g", "j0", "j3", ratio=2.0, freedom_b=2), r"freedom 2 in .* joint 'j3' \(universal\) has 0 to 1"),
        (lambda: nx.Gear("g", "j0", "j1", ratio=2.0, priority=-1), "priority of coupling 'g' is -1"),
        (lambda: nx.Gear("g", "j0", "j1", ratio="=m"), "no parameter 'm'"),
        (lambda: nx.RackAndPinion("g", "j2", "j0", radius=0.1), r"pinion of coupling 'g': joint 'j2' \(prismatic\) slides"),
        (lambda: nx.RackAndPinion("g", "j0", "j1", radius=0.1), r"rack of coupling 'g': joint 'j1' \(revolute\) turns"),
        (lambda: nx.RackAndPinion("g", "j0", "j2", radius=0), "radius of coupling 'g' is 0"),
        (lambda: nx.Coupling("g", {}), "has 0 coordinates; two or more"),
        (lambda: nx.Coupling("g", {"j0": 1.0}), "has 1 coordinate; two or more are needed; a Driver holds a single one"),
        (lambda: nx.Coupling("g", {"j0": 1.0, "j1": 0.0}), "coefficient of 'j1' in coupling 'g' is 0"),
        (lambda: nx.Coupling("g", {"j0": 1.0, "j1": np.inf}), "coefficient of 'j1' in coupling 'g' is inf"),
        (lambda: nx.Coupling("g", {("j3", 1): 1.0, ("j3", 1.5): 2.0}), "freedom 1.5 in coupling 'g'"),
        (lambda: nx.Coupling("g", [("j0",), ("j1",)]), "is no term"),
        (lambda: nx.Coupling("g", 3.0), "terms of coupling 'g'"),
        (lambda: nx.Coupling("g", {1: 2.0, "j1": 1.0}), "1 is neither an element"),
        (lambda: nx.Coupling("g", {"j0": 1.0, "j1": 1.0}, offset=np.nan), "offset of coupling 'g' is nan"),
    ],
)  # fmt: skip
def test_a_coupling_that_means_nothing_is_refused(coupling: Any, message: str) -> None:
    system = joined(0, "revolute", "revolute", "prismatic", "universal")
    ball = system.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Spherical("ball", system.ground, ball))
    with pytest.raises(nx.InputError, match=message):
        system.add_coupling(coupling())


def test_errors_in_a_scene_come_with_their_place() -> None:
    text = dump_scene(joined(1, "revolute", "revolute"))
    line = text.count("\n") + 3
    with pytest.raises(nx.FileError, match="no joint 'j9'") as caught:
        read_scene_text(text + "couplings:\n  g:\n    {type: gear, joint_a: j0, joint_b: j9, ratio: 2}\n")
    assert caught.value.line == line and caught.value.element == "coupling 'g'"


def test_two_couplings_need_two_names() -> None:
    system = train()
    with pytest.raises(nx.InputError, match="a coupling 'gear0' exists already"):
        system.add_coupling(nx.Gear("gear0", "axle0", "axle2", ratio=1.0))
    with pytest.raises(nx.UnknownNameError, match="no coupling 'gear9'"):
        system.coupling("gear9")


@pytest.mark.parametrize(
    ("coupling", "message"),
    [
        (
            nx.Gear("ring", "axle2", "axle0", ratio=1.0),
            "coupling 'ring' joins 'axle2' and 'axle0', which other couplings",
        ),
        (nx.Coupling("three", {"axle0": 1.0, "axle1": 1.0, "axle2": 1.0}), "coupling 'three' has 3 terms"),
        (
            nx.Gear("two", "axle0", "shaft", ratio=2.0),
            r"coupling 'two': joint 'shaft' \(universal\) has 2 degrees of freedom",
        ),
    ],
)
def test_what_a_tree_cannot_carry_is_refused_by_name(coupling: nx.Coupling, message: str) -> None:
    system = train()
    system.add_joint(nx.Universal("shaft", "ground", system.add_body("shaft", mass=1.0, inertia=(1, 1, 1))))
    system.add_coupling(coupling.copied())
    with pytest.raises(nx.InputError, match=message):
        nx.Tree(system)
    absolute_model(system)


@pytest.mark.parametrize("joint", ["axle1", "axle2"])
def test_couplings_of_a_vehicle_move_its_wheels_and_leave_its_free_joint_where_it_is_put(joint: str) -> None:
    """A free joint has no angles that could be held; nothing but the coupling closes a loop."""
    system = nx.System("vehicle")
    for name, x in (("car", 0.0), ("front", 1.0), ("rear", -1.0)):
        system.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.3), position=(x, 0.0, 1.0))
    system.add_joint(nx.Free("base", "ground", "car"))
    system.add_joint(nx.Revolute("axle1", "car", "front", at=(1.0, 0.0, 1.0), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("axle2", "car", "rear", at=(-1.0, 0.0, 1.0), axis=(0, 1, 0)))
    system.add_coupling(nx.Coupling("belt", {"axle1": 1.0, "axle2": -2.0}))
    half = np.sqrt(0.5)
    pose = np.array([half, 0.0, half, 0.0, 3.0, 2.0, 1.0])
    q0 = {"base": pose, joint: 0.4}
    report = nx.assemble(system, q0=q0)
    described = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])  # from which the coordinates of the joint are counted
    assert_allclose(report.q[report.model.body_index["car"]], pose + described, atol=1e-7)
    R = {name: rotation_matrix(report.q[i, :4]) for name, i in report.model.body_index.items()}
    turned = [R["car"].T @ R[name] for name in ("front", "rear")]
    angles = [float(np.arctan2(x[0, 2], x[0, 0])) for x in turned]
    assert angles[0] == pytest.approx(2.0 * angles[1], abs=1e-9)
    assert angles[joint == "axle2"] == pytest.approx(0.4, abs=1e-9)
    start = nx.simulate(system, 1e-3, nx.HHT(dt=1e-3))
    assert_allclose(start.position("car").values[0], (0.0, 0.0, 1.0), atol=1e-12)

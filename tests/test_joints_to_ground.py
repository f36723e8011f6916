"""A joint may be described from a body to the ground: its coordinates, its reactions and its description keep that sense."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import systems
import test_derivatives
import test_tree_kinematics
import test_tree_laws
from scipy.spatial.transform import Rotation
from test_interpreted import run

import nexdyn as nx
from nexdyn.joints import JOINTS
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.posing import _joints

BOX = {"mass": 1.3, "inertia": (0.05, 0.08, 0.11), "com": (0.3, 0.05, -0.1)}
AXIS = (0.3, 1.0, 0.2)
AT = (0.1, -0.2, 0.4)
KINDS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "revolute": (nx.Revolute, {"q0": 0.4, "v0": -1.0, "stiffness": 2.0, "rest": 0.3, "damping": 0.1, "armature": 0.02}),
    "prismatic": (nx.Prismatic, {"q0": 0.1, "v0": 0.5, "stiffness": 50.0, "limits": (-2.0, 3.0)}),
    "helical": (nx.Helical, {"pitch": 0.3, "q0": 0.2, "v0": 1.0, "stiffness": 3.0}),
    "cylindrical": (nx.Cylindrical, {"q0": (0.3, 0.1), "v0": (1.0, -0.4), "stiffness": (2.0, 40.0)}),
}
METHODS = [nx.RungeKutta4(dt=1e-3), nx.HHT(rtol=1e-8)]


def mechanism(joint: str, parent: str, child: str, **changes: Any) -> nx.System:
    """A body on a joint, and a pendulum on it, so that its reaction is no symmetric one."""
    cls, given = KINDS[joint]
    system = nx.System("to-ground")
    system.add_body("link", position=(0.2, 0.1, 0.3), orientation=(0.5, 0.5, 0.5, -0.5), **BOX)
    system.add_body("bob", position=(0.7, 0.1, 0.3), mass=0.4, inertia=(0.01, 0.02, 0.02), com=(0.2, 0.0, 0.0))
    if "earth" in (parent, child):
        system.add_body("earth", mass=1.0, inertia=(1.0, 1.0, 1.0))
        system.add_joint(nx.Fixed("bed", "ground", "earth", at=(0.0, 0.0, 0.0)))
    system.add_joint(
        cls("j", parent, child, **({"at": AT, "axis": AXIS, "reference": (1.0, 0.0, 0.0)} | given | changes))
    )
    system.add_joint(nx.Revolute("swing", "link", "bob", at=(0.7, 0.1, 0.3), axis=(0.0, 1.0, 0.3)))
    return system


@pytest.mark.parametrize("method", METHODS, ids=["rk4", "hht"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_moves_as_the_joint_about_the_opposite_axis(kind: str, method: Any) -> None:
    turned = nx.simulate(mechanism(kind, "link", "ground"), 0.3, method, output_times=[0.1, 0.3])
    plain = mechanism(kind, "ground", "link", axis=tuple(-x for x in AXIS), reference=(1.0, 0.0, 0.0))
    wanted = nx.simulate(plain, 0.3, method, output_times=[0.1, 0.3])
    for told in ("joint_position", "joint_velocity", "joint_acceleration"):
        np.testing.assert_allclose(getattr(turned, told)("j"), getattr(wanted, told)("j"), rtol=1e-6, atol=1e-8)
    for on in ("link", "ground"):
        for found in ("reaction", "transmitted"):
            here, there = (getattr(r, found)("j", on=on, at="link", frame="world") for r in (turned, wanted))
            np.testing.assert_allclose(here, there, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_its_reaction_is_that_on_the_ground_in_the_frame_on_the_body(kind: str) -> None:
    """As of a joint to a body that the ground holds: absolute coordinates have no need to turn that one."""
    method = nx.HHT(rtol=1e-8)
    turned, wanted = (
        nx.simulate(mechanism(kind, "link", end, q0=None, v0=None), 0.3, method, output_times=[0.1, 0.3], peaks=True)
        for end in ("ground", "earth")
    )
    np.testing.assert_allclose(turned.joint_position("j"), wanted.joint_position("j"), rtol=1e-6, atol=1e-8)
    for told in ("reaction", "transmitted"):
        np.testing.assert_allclose(getattr(turned, told)("j"), getattr(wanted, told)("j"), rtol=1e-5, atol=1e-6)
    here, there = (r.peaks().sel(joint="j") for r in (turned, wanted))
    np.testing.assert_allclose(here["moment"], there["moment"], rtol=1e-3)
    q0, v0 = KINDS[kind][1]["q0"], KINDS[kind][1]["v0"]
    start = nx.simulate(mechanism(kind, "link", "ground"), 1e-3, method)
    np.testing.assert_allclose(np.squeeze(start.joint_position("j")[0]), q0, atol=1e-12)
    np.testing.assert_allclose(np.squeeze(start.joint_velocity("j")[0]), v0, atol=1e-12)
    tree = nx.simulate(
        mechanism(kind, "link", "ground", q0=None, v0=None), 0.3, nx.RungeKutta4(dt=1e-3), output_times=[0.1, 0.3]
    )
    np.testing.assert_allclose(tree.reaction("j"), wanted.reaction("j"), rtol=1e-4, atol=1e-5)


def test_a_report_tells_it_in_the_same_sense() -> None:
    turned, wanted = (
        nx.assemble(mechanism("revolute", "link", other, q0=None, v0=None)) for other in ("ground", "earth")
    )
    here, there = (report.reaction("j") for report in (turned, wanted))
    np.testing.assert_allclose(here.force, there.force, atol=1e-8)
    np.testing.assert_allclose(here.moment, there.moment, atol=1e-8)
    assert here.unique.tolist() == there.unique.tolist()
    for one, other in zip(turned.transmitted("j"), wanted.transmitted("j"), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)


def test_a_fixed_joint_and_anchors_in_the_bodies() -> None:
    system = nx.System("held")
    system.add_body("plate", position=(0.0, 0.0, 1.0), **BOX)
    system.add_joint(nx.Fixed("bolt", "plate", "ground", anchor_a=(0.1, 0.0, 0.0), anchor_b=(0.1, 0.0, 1.0)))
    report = nx.assemble(system)
    np.testing.assert_allclose(report.position("plate"), (0.0, 0.0, 1.0), atol=1e-12)
    weight = BOX["mass"] * 9.81  # type: ignore[operator]
    np.testing.assert_allclose(report.reaction("bolt").force, (0.0, 0.0, -weight), rtol=2e-3, atol=1e-9)


def test_the_description_names_the_bodies_as_they_were_written(tmp_path: Path) -> None:
    system = mechanism("revolute", "link", "ground")
    assert repr(system.joint("j")) == "Revolute('j', 'link' → 'ground')"
    nx.save_scene(system, tmp_path / "a.yaml")
    text = (tmp_path / "a.yaml").read_text(encoding="utf-8")
    assert "parent: link" in text and "child: ground" in text
    again = nx.load(tmp_path / "a.yaml")
    changed = again.with_parameters({"j.damping": 0.2})
    assert repr(changed.joint("j")) == repr(system.joint("j"))
    one, other = (nx.simulate(s, 0.1, METHODS[0]).joint_position("j") for s in (system, again))
    np.testing.assert_array_equal(one, other)
    result = nx.simulate(system, 0.1, METHODS[0])
    result.save(tmp_path / "run.nc")
    np.testing.assert_allclose(
        nx.open_result(tmp_path / "run.nc").reaction("j"), result.reaction("j"), rtol=1e-12, atol=1e-12
    )


OTHERS: dict[str, dict[str, Any]] = {
    "universal": {"q0": (0.4, -0.3), "v0": (1.0, -0.7), "stiffness": (2.0, 3.0), "rest": (0.1, 0.2), "friction": (0.1, 0.2),
                  "armature": (0.1, 0.2)},
    "spherical": {"q0": (0.8, 0.0, -0.6, 0.0), "v0": (0.5, -1.0, 0.7), "stiffness": (2.0, 3.0, 4.0), "damping": (0.1, 0.2, 0.3)},
    "planar": {"q0": (0.1, 0.2, 0.5), "v0": (0.3, -0.4, 1.5), "stiffness": (20.0, 30.0, 4.0), "armature": (0.2, 0.3, 0.1)},
    "cartesian": {"q0": (0.1, 0.2, -0.1), "v0": (0.3, -0.4, 1.5), "stiffness": (20.0, 30.0, 40.0), "friction": (0.1, 0.2, 0.3)},
    "free": {"q0": (0.8, 0.0, -0.6, 0.0, 0.1, 0.2, 0.3), "v0": (0.5, -1.0, 0.7, 0.3, 0.4, -0.2), "damping": (0.1, 0.2, 0.3, 1.0, 2.0, 3.0)},
}  # fmt: skip
"""Joints whose coordinates are no turns about z and slides along z: a tree moves their bodies along X_J(q)⁻¹."""


def test_each_kind_of_a_tree_is_tried_here() -> None:
    tree = {kind for kind, cls in JOINTS.items() if cls.tree}
    assert KINDS.keys() == {kind for kind in tree if JOINTS[kind].about_z and JOINTS[kind].nv}
    assert OTHERS.keys() == {kind for kind in tree if not JOINTS[kind].about_z}


def to_the(end: str) -> nx.System:
    """Of each kind a joint from a body to the ground, or to a body that is fixed there, with a bob on it and a motor in it."""
    system = nx.System("to-ground")
    if end == "earth":
        system.add_body("earth", mass=1.0, inertia=(1.0, 1.0, 1.0))
        system.add_joint(nx.Fixed("bed", "ground", "earth", at=(0.0, 0.0, 0.0)))
    for k, (kind, given) in enumerate(OTHERS.items()):
        y = 3.0 * k
        link, bob = f"link {kind}", f"bob {kind}"
        system.add_body(link, position=(0.2, 0.1 + y, 0.3), orientation=(0.5, 0.5, 0.5, -0.5), **BOX)
        system.add_body(bob, position=(0.7, 0.1 + y, 0.3), mass=0.4, inertia=(0.01, 0.02, 0.02), com=(0.2, 0.0, 0.0))
        at = (0.1, -0.2 + y, 0.4)
        system.add_joint(JOINTS[kind](kind, link, end, at=at, axis=AXIS, reference=(1.0, 0.0, 0.0), **given))
        system.add_joint(nx.Revolute(f"swing {kind}", link, bob, at=(0.7, 0.1 + y, 0.3), axis=(0.0, 1.0, 0.3)))
        system.add_force(nx.JointForce(f"motor {kind}", kind, 0.7 + 0.1 * k, freedom=1))
    return system


def tells_the_same_as_of_a_body_that_the_ground_holds() -> None:
    """Minimal coordinates to the ground, constraint equations to the ground, and those to a body there."""
    system = to_the("ground")
    result = nx.simulate(system, 2e-3, nx.RungeKutta4(dt=1e-3))
    wanted, same = nx.assemble(to_the("earth")), nx.assemble(system)
    for kind, given in OTHERS.items():
        for told, x in ((result.joint_position, given["q0"]), (result.joint_velocity, given["v0"])):
            np.testing.assert_allclose(told(kind)[0], x, atol=1e-12)
        for body in (f"link {kind}", f"bob {kind}"):
            for name in ("position", "velocity", "acceleration", "angular_acceleration"):
                expected = getattr(wanted, name)(body)
                np.testing.assert_allclose(getattr(result, name)(body)[0], expected, atol=1e-10)
                np.testing.assert_allclose(getattr(same, name)(body), expected, atol=1e-10)
        expected = np.concatenate([wanted.reaction(kind).force, wanted.reaction(kind).moment])
        np.testing.assert_allclose(result.reaction(kind)[0], expected, atol=1e-10)
        np.testing.assert_allclose([*same.reaction(kind).force, *same.reaction(kind).moment], expected, atol=1e-10)
        expected = np.concatenate(wanted.transmitted(kind))
        np.testing.assert_allclose(np.concatenate(same.transmitted(kind)), expected, atol=1e-10)
        np.testing.assert_allclose(result.transmitted(kind)[0], expected, atol=1e-10)


def obeys_the_laws_of_trees() -> None:
    name, tree = "to the ground", systems.trees()["to the ground"]
    test_tree_kinematics.test_pose_of_each_body_is_the_product_of_transforms_along_its_branch(name)
    test_tree_kinematics.test_described_coordinates_put_every_body_where_it_was_described(name)
    test_tree_kinematics.test_velocity_is_the_derivative_of_the_pose(name)
    for law in ("inverse_dynamics_undoes_forward_dynamics", "rate_of_mass_less_twice_coriolis_is_skew",
                "mass_matrix_is_the_sum_over_bodies_of_the_inertia_seen_by_their_jacobians",
                "coriolis_matrix_times_v_plus_gravity_is_the_bias",
                "power_of_the_efforts_without_gravity_is_the_rate_of_kinetic_energy"):  # fmt: skip
        getattr(test_tree_laws, f"test_{law}")(name)
    test_derivatives.test_derivatives_of_inverse_dynamics_are_differences(name)
    q = systems.state(tree, 3)[0]
    for joint in (joint for joint in tree.system.joints.values() if joint.is_turned):
        H, W = tree.motion_subspace(joint.name, q), tree.constraint_subspace(joint.name, q)
        assert abs(W.T @ H).max(initial=0.0) < 1e-12 and np.linalg.matrix_rank(np.hstack([H, W])) == 6


def closes_loops(cut: list[str] | None) -> None:
    """A rod from a crank to the ground, both on joints that are described to the ground."""

    def rig(end: str) -> nx.System:
        system = nx.System("loop")
        if end == "earth":
            system.add_body("earth", mass=1.0, inertia=(1.0, 1.0, 1.0))
            system.add_joint(nx.Fixed("bed", "ground", "earth", at=(0.0, 0.0, 0.0)))
        system.add_body("crank", mass=1.0, inertia=(0.02, 0.1, 0.1), position=(0.5, 0.0, 0.0))
        system.add_body("rod", mass=0.7, inertia=(0.01, 0.2, 0.2), position=(1.0, 1.0, 0.2))
        system.add_joint(nx.Universal("hang", "crank", end, at=(0.0, 0.0, 0.0), axis=(0.0, 0.3, 1.0), reference=(1.0, 0.0, 0.0),
                                      damping=0.2))  # fmt: skip
        system.add_joint(nx.Spherical("ball", "crank", "rod", at=(1.0, 0.0, 0.0)))
        system.add_joint(nx.Spherical("foot", "rod", end, at=(1.0, 2.0, 0.4), damping=(0.1, 0.2, 0.3), stiffness=1.0))
        return system

    wanted = nx.assemble(rig("earth"))
    loops = None if cut is None else nx.Loops(cut=cut)
    result = nx.simulate(rig("ground"), 2e-3, nx.RungeKutta4(dt=1e-3), loops=loops)
    for body in ("crank", "rod"):
        for name in ("position", "acceleration", "angular_acceleration"):
            np.testing.assert_allclose(getattr(result, name)(body)[0], getattr(wanted, name)(body), atol=1e-12)
    for joint in ("hang", "ball", "foot"):
        np.testing.assert_allclose(result.transmitted(joint)[0], np.concatenate(wanted.transmitted(joint)), atol=1e-12)


def is_posed_on_a_page_as_it_moves() -> None:
    """X_WB = X_WA X_AJ T(q) X_BJ⁻¹ by the steps that the page of a recorded pose is given."""
    tree = nx.Tree(to_the("ground"))
    q = tree.normalized(np.random.default_rng(0).normal(size=tree.nq))
    wanted: dict[str, Any] = dict(zip(tree.body_names, zip(*tree.pose(q), strict=True), strict=True))
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for body, parent, (p_A, q_A), steps, (p_B, q_B) in _joints(tree):
        R, p = found[parent] if parent >= 0 else (np.eye(3), np.zeros(3))
        p, R = p + R @ p_A, R @ rotation_matrix(np.array(q_A))
        for what, axis, k, factor, offset in steps:
            x = (factor * q[k] + offset) * np.eye(3)[axis]
            if what == "quaternion":
                turn = rotation_matrix(q[k : k + 4])
                R = R @ (turn.T if factor < 0 else turn)
            else:
                R, p = (R @ Rotation.from_rotvec(x).as_matrix(), p) if what == "turn" else (R, p + R @ x)
        R = R @ rotation_matrix(np.array(q_B)).T
        found.append((R, p - R @ p_B))
        for x, y in zip(found[-1], wanted[body], strict=True):
            np.testing.assert_allclose(x, y, atol=1e-12)


def is_written_to_urdf_as_it_moves() -> None:
    """As its steps back from the other end, each with its coordinate."""
    system = to_the("ground")
    given = {"universal", "planar", "cartesian"}
    part = nx.System("row")
    for name, body in system.bodies.items():
        if name.rpartition(" ")[2] in given:
            part.add_body(body.copied())
    for name, joint in system.joints.items():
        if name.rpartition(" ")[2] in given:
            part.add_joint(joint.copied(parent=joint.parent.name, child=joint.child.name))
    tree = nx.Tree(part)
    q = np.random.default_rng(1).normal(size=tree.nq)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what URDF lacks
        nx.save_urdf(part, Path(folder) / "row.urdf")
        again = nx.Tree(nx.load(Path(folder) / "row.urdf"))
    x = np.zeros(again.nq)
    for name, place in tree.coordinates.items():
        labels = [f"{name}_{label}" if label else name for label, _ in type(part.joint(name)).coordinate_labels]
        for label, value in zip(labels, q[place.q], strict=True):
            x[again.coordinates[label].q] = value
    for body in tree.body_names:
        np.testing.assert_allclose(tree.center_of_mass(q, body), again.center_of_mass(x, body), atol=1e-12)


CLAIMS = """
from test_joints_to_ground import *
tells_the_same_as_of_a_body_that_the_ground_holds()
obeys_the_laws_of_trees()
closes_loops(None)
closes_loops(["foot"])
is_posed_on_a_page_as_it_moves()
is_written_to_urdf_as_it_moves()
"""


def test_a_tree_moves_bodies_backwards_along_joints_to_the_ground() -> None:
    """Interpreted: kernels of such mechanisms are compiled apart from those of others, which would take a minute."""
    done = run(CLAIMS, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr[-3000:]


def test_the_constraint_force_algorithm_refuses_those_that_turn_and_slide() -> None:
    with pytest.raises(nx.InputError, match=r"'planar' is planar and described to the ground"):
        nx.Tree(to_the("ground")).cfa(*(np.zeros(1),) * 3)


HELD: dict[str, Any] = {
    "point on line": lambda parent, child: nx.PointOnLine("c", parent, child, anchor_a=(0.0, 0.0, 0.0), axis_a=(1.0, 0.0, 0.0),
                                                          anchor_b=(0.5, 0.0, 0.0)),
    "point on plane": lambda parent, child: nx.PointOnPlane("c", parent, child, anchor_a=(0.5, 0.0, 0.0), axis_a=(0.0, 0.1, 1.0),
                                                            anchor_b=(0.5, 0.0, 0.0)),
    "rod": lambda parent, child: nx.Rod("c", parent, child, anchor_a=(0.5, 0.0, 0.0), anchor_b=(0.6, 0.3, 0.4)),
}  # fmt: skip
BY = [
    nx.RungeKutta4(dt=1e-3),
    nx.HHT(rtol=1e-7),
    nx.Projection(dt=1e-3),
    nx.ImplicitEuler(dt=1e-3, bdf2=True),
]


@pytest.mark.parametrize("method", BY, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("what", HELD)
def test_a_constraint_may_end_at_the_ground(what: str, method: Any) -> None:
    """As at a body that the ground holds."""

    def run(end: str) -> nx.Result:
        system = nx.System("slot")
        system.add_body("arm", mass=1.0, inertia=(0.02, 0.1, 0.1), com=(0.4, 0.0, 0.0))
        system.add_joint(nx.Spherical("hang", "ground", "arm", at=(0.0, 0.0, 0.0)) if what != "point on line"
                         else nx.Cartesian("hang", "ground", "arm", v0=(0.3, 0.0, 0.0)))  # fmt: skip
        if end != "ground":
            system.add_body(end, mass=1.0, inertia=(1.0, 1.0, 1.0))
            system.add_joint(nx.Fixed("bed", "ground", end, at=(0.0, 0.0, 0.0)))
        system.add_joint(HELD[what]("arm", end))
        return nx.simulate(system, 0.2, method, output_times=[0.1, 0.2])

    found, wanted = run("ground"), run("earth")
    np.testing.assert_allclose(found.position("arm"), wanted.position("arm"), atol=1e-6)
    np.testing.assert_allclose(found.orientation("arm"), wanted.orientation("arm"), atol=1e-6)
    np.testing.assert_allclose(found.reaction("c"), wanted.reaction("c"), rtol=1e-4, atol=2e-4)


def test_copies_are_written_as_their_bodies_say() -> None:
    system = mechanism("revolute", "link", "ground")
    joint = system.joint("j")
    for parent, child in (("link", "ground"), ("bob", "link"), ("ground", "link")):
        assert repr(joint.copied(parent=parent, child=child)) == f"Revolute('j', '{parent}' → '{child}')"
    other = nx.System("other")
    other.add_body("link", **BOX)
    other.add_body("bob", **BOX)
    other.add_joint(joint.copied(parent="link", child="bob", at=None, axis=None, reference=None))
    assert not other.joint("j").is_turned and other.joint("j").child.name == "bob"
    again = system.with_parameters({"j.damping": 0.3}).joint("j")
    assert again.is_turned and repr(again) == repr(joint)


@pytest.mark.parametrize("method", [nx.RungeKutta4(dt=1e-3), nx.HHT(rtol=1e-7)], ids=["rk4", "hht"])
def test_a_slot_about_a_pin_of_the_ground_is_told_and_drawn(method: Any, tmp_path: Path) -> None:
    system = nx.System("slot", gravity=(0.0, -9.81, 0.0))
    system.add_body("arm", mass=1.0, inertia=(0.02, 0.1, 0.1), com=(0.4, 0.0, 0.0))
    system.add_body("base", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Prismatic("slide", "base", "ground", axis=(0.0, 1.0, 0.0), at=(0.0, 0.0, 0.0)))
    system.add_joint(nx.Revolute("hinge", "base", "arm", at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add_joint(HELD["point on line"]("arm", "ground"))
    result = nx.simulate(system, 0.05, method)
    with pytest.raises(nx.NexDynError, match="'c'"):
        result.joint_position("c")
    nx.record(result, tmp_path / "slot.html")
    assert (tmp_path / "slot.html").stat().st_size > 0
    nx.save_still(system, tmp_path / "slot.png", shot=nx.Shot(frames=True, joint_frames=True, names=True))
    assert (tmp_path / "slot.png").stat().st_size > 0


def test_the_axis_that_is_drawn_is_the_one_that_was_described() -> None:
    from nexdyn.view.marks import frame_on_carried

    system = mechanism("revolute", "link", "ground", q0=None)
    joint = system.joint("j")
    R, p = frame_on_carried(joint, system.values)
    R_W, p_W = system.body("link").pose(system.values)
    np.testing.assert_allclose(R_W @ R[:, 2], np.array(AXIS) / np.linalg.norm(AXIS), atol=1e-12)
    np.testing.assert_allclose(p_W + R_W @ p, AT, atol=1e-12)

"""A joint's page says all of it: what its coordinates are undoes its pose, and which of them turn follows from its directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.by_kind import Page, by_kind
from nexdyn.joints import JOINTS, check_page
from nexdyn.joints.verbs import turns
from nexdyn.model.joint import Joint, Step
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.tree.described import coordinates_between, in_python

OF_TREES = [kind for kind, cls in JOINTS.items() if cls.tree]


def hung(kind: str) -> tuple[nx.System, Any]:
    system = nx.System("one joint")
    body = system.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.3, -0.1, 0.2))
    pitch = {"pitch": 0.3} if kind == "helical" else {}
    joint = JOINTS[kind]("joint", system.ground, body, at=(0.1, 0.2, 0.3), axis=(0.2, 0.3, 1.0), **pitch)  # type: ignore[call-arg]
    return system, system.add_joint(joint)


@pytest.mark.parametrize("kind", OF_TREES)
def test_coordinates_of_a_pose_are_those_that_it_was_made_of(kind: str, rng: np.random.Generator) -> None:
    system, joint = hung(kind)
    tree = nx.Tree(system)
    for _ in range(20):
        q = rng.uniform(-3.0, 3.0, tree.nq)
        if joint.nq > joint.nv:
            q[:4] /= np.copysign(np.linalg.norm(q[:4]), q[0])
        if kind == "helical":
            q *= 5.0  # whole turns, which the advance tells
        if kind == "universal":
            q[1] = np.arcsin(np.sin(q[1]))
        run = nx.simulate(system, 1e-3, nx.RungeKutta4(1e-3), q0=q)
        child = rotation_matrix(run.orientation("body").values[0]), run.position("body").values[0]
        found, gap, turned = coordinates_between(joint, system.values, (np.eye(3), np.zeros(3)), child)
        assert found == pytest.approx(q, abs=1e-13) and gap < 1e-14 and turned < 1e-14


@pytest.mark.parametrize("kind", OF_TREES)
def test_what_a_joint_cannot_reach_is_its_gap(kind: str) -> None:
    if kind == "free":
        return
    system, joint = hung(kind)
    at = system.bodies["body"].pose(system.values)
    moved = (rotation_matrix(np.array([0.8, 0.0, 0.6, 0.0])) @ at[0], at[1] + [0.05, 0.02, -0.04])
    _, gap, turned = coordinates_between(joint, system.values, (np.eye(3), np.zeros(3)), moved)
    assert (gap > 0.01) or kind == "cartesian"
    assert (turned > 0.1) or kind == "spherical"


@pytest.mark.parametrize("kind", OF_TREES)
def test_which_freedoms_turn_follows_from_the_directions(kind: str) -> None:
    cls = JOINTS[kind]
    assert [in_python(turns)(cls.code, m) for m in range(cls.nv)] == [way == "turn" for way, *_ in cls.directions]


def motion_of(steps: tuple[Step, ...], q: np.ndarray, advance: float) -> tuple[np.ndarray, np.ndarray]:
    """R (3, 3) and p (3,) of frame B in frame A, by turns and slides one after the other."""
    R, p = np.eye(3), np.zeros(3)
    for what, axis, k in steps:
        e = np.eye(3)[axis]
        if what == "slide":
            p = p + R @ (q[k] * advance * e)
        else:
            turn = np.array([np.cos(q[k] / 2), *(np.sin(q[k] / 2) * e)]) if what == "turn" else q[k : k + 4]
            R = R @ rotation_matrix(turn)
    return R, p


@pytest.mark.parametrize("kind", OF_TREES)
def test_the_steps_of_a_page_are_its_pose(kind: str, rng: np.random.Generator) -> None:
    """By them URDF has rows of joints, and the page of a recorded pose moves."""
    system, joint = hung(kind)
    for _ in range(5):
        q = rng.uniform(-2.0, 2.0, joint.nq)
        if joint.nq > joint.nv:
            q[:4] /= np.linalg.norm(q[:4])
        R, p = motion_of(joint.steps, q, joint.own_number(system.values) if joint.advances else 1.0)
        run = nx.simulate(system, 1e-3, nx.RungeKutta4(1e-3), q0=q if joint.nq else None)
        R_WC, p_WC = rotation_matrix(run.orientation("body").values[0]), run.position("body").values[0]
        frames = joint.frames(system.values)
        R_WB, p_WB = R_WC @ frames.R_BJ, p_WC + R_WC @ frames.p_BJ
        assert frames.R_AJ @ R == pytest.approx(R_WB, abs=1e-14)
        assert frames.p_AJ + frames.R_AJ @ p == pytest.approx(p_WB, abs=1e-14)


@pytest.mark.parametrize(
    ("leaves_out", "said"),
    [
        ({"coordinate_labels": (), "velocity_labels": (("", "rad"),)}, "has 0 coordinate_labels; 1 are needed"),
        ({"coordinate_labels": (("a", "rad"), ("b", "m"))}, "has 2 coordinate_labels; 1 are needed"),
        ({"directions": ()}, "has 0 directions; 1 are needed"),
        ({"rows": (("DX", 1),)}, "has 1 rows; 5 are needed"),
        ({"steps": ()}, "steps of Odd move coordinates"),
        ({"steps": (Step("turn", 2, 1),)}, "steps of Odd move coordinates"),
        ({"__module__": __name__}, "has no pose"),
    ],
)
def test_a_page_that_leaves_something_out_is_refused_by_name(leaves_out: dict[str, Any], said: str) -> None:
    page = {"__module__": nx.Revolute.__module__}
    assert check_page(type("Whole", (nx.Revolute,), page)) is None  # type: ignore[func-returns-value]
    with pytest.raises(TypeError, match=said):
        check_page(type("Odd", (nx.Revolute,), page | leaves_out))


def test_joints_of_trees_are_all_checked() -> None:
    assert all(issubclass(cls, Joint) for cls in JOINTS.values())
    for cls in JOINTS.values():
        check_page(cls)


def test_a_joint_whose_formula_asks_for_what_is_not_given_is_named() -> None:
    def pose(X: Any, q: Any, radius: Any) -> Any:
        return X

    with pytest.raises(TypeError, match="pose of the page of Ramp takes radius; there are X, q"):
        by_kind("of_any", "pose", ("X", "q"), [Page(99, "Ramp", {"pose": pose})], ("return X",))

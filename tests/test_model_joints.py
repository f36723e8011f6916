"""Joints and markers as described: where their frames are, and which data is refused."""

import math

import numpy as np
import pytest

from nexdyn.errors import InputError
from nexdyn.model.joint import Joint, Mimic
from nexdyn.model.marker import Marker
from nexdyn.model.system import System
from nexdyn.spatial import rotations


class Hinge(Joint):
    kind, nq, nv = "revolute", 1, 1


class Tube(Joint):
    kind, nq, nv = "cylindrical", 2, 2


class Ball(Joint):
    kind, nq, nv = "spherical", 4, 3


class Weld(Joint):
    kind = "fixed"


class Float(Joint):
    kind, nq, nv = "free", 7, 6


class Screw(Joint):
    kind, nq, nv = "helical", 1, 1

    def __init__(self, name, parent, child, *, pitch, **options):
        self.pitch = pitch
        super().__init__(name, parent, child, **options)


def pair(rng=None):
    """A system of two bodies, placed at random."""
    system = System()
    for name in ("a", "b"):
        pose = {}
        if rng is not None:
            pose = {"position": rng.normal(size=3), "orientation": rotations.normalized(rng.normal(size=4))}
        system.add_body(name, mass=1, inertia=(1, 1, 1), **pose)
    return system


def joined(system, cls=Hinge, parent="a", child="b", **options):
    return system.add_joint(cls(f"joint {len(system.joints)}", parent, child, **options))


def in_world(joint):
    """R and p of the frame on the parent and of the frame on the child, both in the world."""
    R_WP, p_WP = joint.parent.pose({})
    R_WC, p_WC = joint.child.pose({})
    R_AJ, p_AJ, R_BJ, p_BJ = joint.frames({})
    return R_WP @ R_AJ, p_WP + R_WP @ p_AJ, R_WC @ R_BJ, p_WC + R_WC @ p_BJ


def assert_meet(joint):
    R_A, p_A, R_B, p_B = in_world(joint)
    assert np.allclose(R_A, R_B, atol=1e-14)
    assert np.allclose(p_A, p_B, atol=1e-14)
    assert np.allclose(R_A.T @ R_A, np.eye(3), atol=1e-14)
    assert np.linalg.det(R_A) == pytest.approx(1.0)
    return R_A, p_A


# --- where ----------------------------------------------------------------------------------------------------------


def test_with_at_and_axis_both_frames_are_one_in_the_world(rng):
    for _ in range(20):
        system, at, axis, reference = pair(rng), *rng.normal(size=(3, 3))
        R, p = assert_meet(joined(system, at=at, axis=axis))
        assert np.allclose(p, at)
        assert np.allclose(R[:, 2], axis / np.linalg.norm(axis))
        R, _ = assert_meet(joined(system, at=at, axis=axis, reference=reference))
        assert np.allclose(R, rotations.frame_from_z(axis, reference))


def test_without_a_place_the_joint_is_at_the_origin_of_the_child(rng):
    system = pair(rng)
    R_WC, p_WC = system.body("b").pose({})
    R, p = assert_meet(joined(system, Hinge))
    assert np.allclose(p, p_WC)
    assert np.allclose(R, np.eye(3))
    for cls in (Weld, Ball, Float):
        R, p = assert_meet(joined(system, cls))
        assert np.allclose(p, p_WC)
        assert np.allclose(R, R_WC)
        R, p = assert_meet(joined(system, cls, at=(1, 2, 3)))
        assert np.allclose(p, (1, 2, 3))
        assert np.allclose(R, R_WC)
        R, p = assert_meet(joined(system, cls, axis=(0, 1, 0)))
        assert np.allclose(R, rotations.frame_from_z((0, 1, 0)))


@pytest.mark.parametrize("cls", [Hinge, Weld])
@pytest.mark.parametrize("side", ["a", "b"])
def test_a_side_alone_places_both_frames(cls, side, rng):
    for _ in range(10):
        system, anchor, axis, reference = pair(rng), *rng.normal(size=(3, 3))
        R_WX, p_WX = system.body(side).pose({})
        R, p = assert_meet(joined(system, cls, **{f"anchor_{side}": anchor, f"axis_{side}": axis}))
        assert np.allclose(p, p_WX + R_WX @ anchor)
        assert np.allclose(R[:, 2], R_WX @ axis / np.linalg.norm(axis))
        R, p = assert_meet(joined(system, cls, **{f"axis_{side}": axis, f"reference_{side}": reference}))
        assert np.allclose(R, R_WX @ rotations.frame_from_z(axis, reference))
        R, p = assert_meet(joined(system, cls, **{f"anchor_{side}": anchor}))
        assert np.allclose(p, p_WX + R_WX @ anchor)
        assert np.allclose(R, R_WX if cls is Hinge else system.body("b").pose({})[0])


def test_sides_that_meet_leave_the_described_pose_at_zero(rng):
    for _ in range(20):
        system, at, axis = pair(rng), *rng.normal(size=(2, 3))
        sides = {}
        for side in "ab":
            R, p = system.body(side).pose({})
            sides |= {f"anchor_{side}": R.T @ (at - p), f"axis_{side}": R.T @ axis}
        R, p = assert_meet(joined(system, **sides))
        assert np.allclose(p, at)
        assert np.allclose(R[:, 2], axis / np.linalg.norm(axis))


def test_sides_that_do_not_meet_keep_the_gap(rng):
    for references in ((), ("a",), ("b",), ("a", "b")):
        system = pair(rng)
        anchor, axis, x = (dict(zip("ab", rng.normal(size=(2, 3)), strict=True)) for _ in range(3))
        options = {f"anchor_{s}": anchor[s] for s in "ab"} | {f"axis_{s}": axis[s] for s in "ab"}
        joint = joined(system, **options, **{f"reference_{s}": x[s] for s in references})
        for s, R_WJ, p_WJ in zip("ab", in_world(joint)[::2], in_world(joint)[1::2], strict=True):
            R, p = system.body(s).pose({})
            assert np.allclose(p_WJ, p + R @ anchor[s])
            assert np.allclose(R_WJ[:, 2], R @ axis[s] / np.linalg.norm(axis[s]))
            if s in references:
                assert np.allclose(R_WJ, R @ rotations.frame_from_z(axis[s], x[s]))
        if len(references) < 2:
            R_A, _, R_B, _ = in_world(joint)
            known, other = (R_B, R_A) if references == ("b",) else (R_A, R_B)
            assert np.allclose(other, rotations.frame_from_z(other[:, 2], known[:, 0]), atol=1e-12)


def test_axes_at_a_right_angle_still_have_a_frame():
    joint = joined(pair(), axis_a=(0, 0, 1), axis_b=(1, 0, 0))
    _, _, R_B, _ = in_world(joint)
    assert np.allclose(R_B.T @ R_B, np.eye(3))
    assert np.allclose(R_B[:, 2], (1, 0, 0))


def test_a_joint_outside_a_system_has_no_frames_yet():
    with pytest.raises(InputError, match="joint 'h' is in no system yet, its bodies are names; add it first"):
        Hinge("h", "a", "b").frames({})


def test_a_marker_lies_in_its_body_or_in_the_world(rng):
    system = pair(rng)
    q, position = rotations.normalized(rng.normal(size=4)), rng.normal(size=3)
    R_WB, p_WB = system.body("a").pose({})
    R, p = system.add_marker("tip", "a", position=position, orientation=q).frame({})
    assert np.allclose(R, rotations.rotation_matrix(q))
    assert np.allclose(p, position)
    R, p = system.add_marker("tool", system.body("a"), at=position, orientation=q).frame({})
    assert np.allclose(R_WB @ R, rotations.rotation_matrix(q))
    assert np.allclose(p_WB + R_WB @ p, position)
    R, p = system.add_marker(Marker("origin", "ground")).frame({})
    assert (R == np.eye(3)).all()
    assert (p == 0.0).all()


# --- what -----------------------------------------------------------------------------------------------------------


def test_a_joint_resolves_to_one_number_a_freedom():
    system = pair()
    system.parameter("d", 0.5)
    joint = joined(
        system,
        Tube,
        damping="=d",
        stiffness=(1, "=2*d"),
        limits=((-1, 1), (None, math.inf)),
        effort_limit=(3, 4),
    )
    numbers = joint.resolved(system.values)
    assert numbers.damping.tolist() == [0.5, 0.5]
    assert numbers.stiffness.tolist() == [1.0, 1.0]
    assert numbers.rest.tolist() == numbers.friction.tolist() == numbers.armature.tolist() == [0.0, 0.0]
    assert numbers.lower.tolist() == [-1.0, -math.inf]
    assert numbers.upper.tolist() == [1.0, math.inf]
    assert numbers.effort_limit.tolist() == [3.0, 4.0]
    assert numbers.velocity_limit.tolist() == [math.inf, math.inf]
    assert numbers.friction_speed.tolist() == [1e-3, 1e-3]
    assert numbers.q0 is numbers.v0 is numbers.mimic is None
    assert joined(system, Tube, limits=(-1, 1)).resolved({}).upper.tolist() == [1.0, 1.0]
    assert joined(system, Weld, damping=1.0).resolved({}).damping.shape == (0,)


def test_initial_coordinates_have_their_shape_and_unit_quaternions():
    system = pair()
    assert joined(system, Hinge, q0=0.5, v0=2).resolved({}).q0.tolist() == [0.5]
    assert joined(system, Hinge, q0=(0.5,)).resolved({}).q0.tolist() == [0.5]
    assert joined(system, Float, q0=(0, 1 + 1e-7, 0, 0, 1, 2, 3)).resolved({}).q0.tolist() == [0, 1, 0, 0, 1, 2, 3]
    assert joined(system, Ball, v0=(1, 2, 3)).resolved({}).v0.tolist() == [1.0, 2.0, 3.0]


def test_a_mimic_resolves_to_numbers():
    system = pair()
    system.parameter("ratio", 2.0)
    first = joined(system)
    joint = system.add_joint(Hinge("finger", "a", "b", mimic=Mimic(first, "=ratio", 0.1)))
    assert joint.resolved(system.values).mimic == Mimic("joint 0", 2.0, 0.1)
    system.check()


def test_a_parameter_changes_an_axis():
    system = pair()
    system.parameter("tilt", 0.0)
    joined(system, axis=("=sin(tilt)", 0, "=cos(tilt)"))
    tilted = system.with_parameters({"tilt": 0.3})
    R, *_ = tilted.joint("joint 0").frames(tilted.values)
    assert np.allclose(R[:, 2], (math.sin(0.3), 0, math.cos(0.3)))


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (
            Hinge,
            {"axis": (0, 0, 0)},
            "axis of joint 'joint 0' is (0, 0, 0), of length 0; give a direction, like (0, 0, 1)",
        ),
        (Hinge, {"axis_a": (0, 0, 0)}, "axis_a of joint 'joint 0' is (0, 0, 0)"),
        (Hinge, {"axis": (0, 1)}, "axis of joint 'joint 0' has 2 components"),
        (Hinge, {"axis": (0, math.nan, 1)}, "axis of joint 'joint 0'[1] is nan"),
        (Hinge, {"axis": "z"}, "axis of joint 'joint 0' is 'z'; 3 numbers are needed"),
        (Hinge, {"at": (0, 0, math.inf)}, "at of joint 'joint 0'[2] is inf"),
        (Hinge, {"anchor_b": (0, 0)}, "anchor_b of joint 'joint 0' has 2 components"),
        (Hinge, {"reference": (0, 0, 2)}, "reference of joint 'joint 0' is parallel to its axis"),
        (Hinge, {"axis_b": (1, 1, 0), "reference_b": (-2, -2, 0)}, "reference_b of joint 'joint 0' is parallel"),
        (
            Hinge,
            {"at": (0, 0, 0), "axis_b": (0, 0, 1)},
            "mixes at, axis, reference (in the world) with axis_b (in a body)",
        ),
        (Hinge, {"damping": math.nan}, "damping of joint 'joint 0' is nan"),
        (Hinge, {"damping": -1.0}, "damping of joint 'joint 0' is -1.0; it must be 0 or more"),
        (Hinge, {"armature": (-1,)}, "armature of joint 'joint 0' is (-1,); it must be 0 or more"),
        (Hinge, {"friction": None}, "friction of joint 'joint 0' is None"),
        (Hinge, {"stiffness": (1, 2)}, "has 2 components; a revolute joint takes one number for all or 1"),
        (Hinge, {"rest": "right"}, "rest of joint 'joint 0' is the text 'right'"),
        (Hinge, {"friction_speed": 0.0}, "friction_speed of joint 'joint 0' is 0.0; it must be greater than 0"),
        (Hinge, {"effort_limit": -1.0}, "effort_limit of joint 'joint 0' is -1.0"),
        (Hinge, {"velocity_limit": math.nan}, "velocity_limit of joint 'joint 0' is nan"),
        (Hinge, {"limits": (2, 1)}, "limits of joint 'joint 0' are reversed: lower 2, upper 1; give (lower, upper)"),
        (Hinge, {"limits": (math.nan, 1)}, "lower limit of joint 'joint 0' is nan"),
        (Hinge, {"limits": (math.inf, math.inf)}, "reversed"),
        (
            Hinge,
            {"limits": 3.0},
            "limits of joint 'joint 0' is 3.0; (lower, upper), or one such pair a degree of freedom",
        ),
        (Hinge, {"limits": (1, 2, 3)}, "(1, 2, 3) is no pair (lower, upper)"),
        (Tube, {"limits": ((0, 1),)}, "has 1 pairs; a cylindrical joint takes (lower, upper) for all or 2 pairs"),
        (Tube, {"limits": ((0, 1), (1, 0))}, "reversed: lower 1, upper 0"),
        (Tube, {"limits": ((0, 1), 2)}, "2 is no pair"),
        (Hinge, {"q0": (1, 2)}, "q0 of joint 'joint 0' has 2 components; 1 are needed"),
        (Hinge, {"q0": math.nan}, "q0 of joint 'joint 0' is nan"),
        (Ball, {"q0": (1, 0, 0)}, "q0 of joint 'joint 0' has 3 components; 4 are needed"),
        (Ball, {"q0": (1, 1, 0, 0)}, "q0 of joint 'joint 0' is (1, 1, 0, 0) with norm 1.41421; a unit quaternion"),
        (Float, {"v0": 3.0}, "v0 of joint 'joint 0' is 3.0; 6 numbers are needed"),
        (Hinge, {"priority": 1.5}, "priority of joint 'joint 0' is 1.5; a whole number"),
        (Hinge, {"mimic": "other"}, "mimic of joint 'joint 0' is 'other'; write Mimic("),
        (Hinge, {"mimic": Mimic("joint 0")}, "joint 'joint 0' mimics itself"),
        (Hinge, {"mimic": Mimic("other", math.nan)}, "mimic multiplier of joint 'joint 0' is nan"),
        (Tube, {"mimic": Mimic("other")}, "joint 'joint 0' has 2 degrees of freedom; only a joint of one can mimic"),
        (Screw, {"pitch": math.nan}, "pitch of joint 'joint 0' is nan"),
        (Screw, {"pitch": "steep"}, "pitch of joint 'joint 0' is the text 'steep'"),
    ],
)
def test_bad_data_is_refused_by_name(cls, options, message):
    system = pair()
    with pytest.raises(InputError) as error:
        joined(system, cls, **options)
    assert message in str(error.value)
    assert not system.joints


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": (0, 0, 0), "at": (0, 0, 0)}, "marker 'tip' has position (in the body) and at (in the world)"),
        ({"position": (0, math.nan, 0)}, "position of marker 'tip'[1] is nan"),
        ({"at": (0, 0)}, "at of marker 'tip' has 2 components"),
        ({"orientation": (0, 0, 0, 2)}, "orientation of marker 'tip' is (0, 0, 0, 2) with norm 2"),
    ],
)
def test_bad_markers_are_refused_by_name(options, message):
    with pytest.raises(InputError) as error:
        pair().add_marker("tip", "a", **options)
    assert message in str(error.value)

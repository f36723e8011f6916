"""Joints from outside the package: their rows hold on their motions, to the second derivative; what does not fit is refused by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.errors import InputError
from nexdyn.pages import Mat3, Motion, Pose, Vec3
from nexdyn.spatial.rotations import exp_rotation


class Cam(nx.JointPage):
    """Turns by q about z and rises by lift (1 − cos 2q)."""

    kind = "cam"
    turning = (True,)
    lift: float = 0.2

    @staticmethod
    def pose(q, lift):
        c, s = math.cos(q), math.sin(q)
        return Pose(Mat3(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0), Vec3(0.0, 0.0, lift * (1.0 - math.cos(2.0 * q))))

    @staticmethod
    def motion_subspace(q, lift):
        return Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 2.0 * lift * math.sin(2.0 * q)))

    @staticmethod
    def coordinates_of(R, p):
        return math.atan2(R.yx - R.xy, R.xx + R.yy)


class Crank(nx.JointPage):
    """A slide q2 along an arm that turns by q1: oblique columns. Origin of B at (r+q2)(cos, sin, 0), B turned by q1 + twist q2"""

    kind = "crank_slide"
    turning = (True, False)
    labels = ("angle", "out")
    arm: float = 0.3
    twist: float = 0.7

    @staticmethod
    def pose(q, arm, twist):
        a = q[0] + twist * q[1]
        c, s = math.cos(a), math.sin(a)
        r = arm + q[1]
        return Pose(Mat3(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0), Vec3(r * math.cos(q[0]), r * math.sin(q[0]), 0.0))

    @staticmethod
    def motion_subspace(q, arm, twist):
        b = twist * q[1]
        c, s = math.cos(b), math.sin(b)
        r = arm + q[1]
        return Motion(Vec3(0.0, 0.0, 1.0), Vec3(r * s, r * c, 0.0)), Motion(Vec3(0.0, 0.0, twist), Vec3(c, -s, 0.0))

    @staticmethod
    def coordinates_of(R, p, arm, twist):
        r = math.sqrt(p.x * p.x + p.y * p.y)
        return math.atan2(p.y, p.x), r - arm

    ranges = ((-3.0, 3.0), (-0.2, 0.5))


@pytest.mark.parametrize("cls", [Cam, Crank])
def test_rows_of_a_joint_are_zero_on_its_motions_with_their_derivatives(cls: Any, rng: np.random.Generator) -> None:
    made, n = cls.functions(), cls.nv
    block = np.array([made.motion.address, float(n), *(float(x) for x in cls._numbers.values())])
    b = float(block.ctypes.data)

    def pose(q: Any) -> Any:
        x = made.motion(0.0, [b, *q])[:12]
        return x[:9].reshape(3, 3), x[9:]

    for _ in range(4):
        q, v = np.array([rng.uniform(*ends) for ends in cls.ranges]), rng.normal(size=n)
        R, x = pose(q)
        for i in range(6 - n):

            def value(R: Any, x: Any, i: int = i) -> float:
                return float(made.value(0.0, [*x, *R.ravel(), i, b])[0])

            def gradient(R: Any, x: Any, i: int = i) -> Any:
                return made.gradient(0.0, [*x, *R.ravel(), i, b])[:6]

            def moving(t: float, q: Any = q, v: Any = v) -> Any:
                (R, _), V = pose(q + t * v), made.motion(1.0, [b, *(q + t * v)])[: 6 * n].reshape(n, 6).T @ v
                return np.array([*(R @ V[3:]), *V[:3]])

            h = 1e-5
            along_x = [(value(R, x + h * e) - value(R, x - h * e)) / (2 * h) for e in np.eye(3)]
            turned = [
                (value(R @ exp_rotation(h * e), x) - value(R @ exp_rotation(-h * e), x)) / (2 * h) for e in np.eye(3)
            ]
            assert abs(value(R, x)) < 1e-14
            assert gradient(R, x) == pytest.approx([*along_x, *turned], abs=1e-8)
            z = moving(0.0)  # C_zz(z, z) + C_z z' = 0 along the motion
            ahead, behind = (gradient(R @ exp_rotation(s * z[3:]), x + s * z[:3]) for s in (h, -h))
            assert gradient(R, x) @ z == pytest.approx(0.0, abs=1e-12)
            assert (ahead - behind) / (2 * h) @ z + gradient(R, x) @ (moving(h) - moving(-h)) / (
                2 * h
            ) == pytest.approx(0.0, abs=1e-7)


def test_a_joint_that_fits_is_taken_and_hangs_on_a_tree() -> None:
    for page in (Cam, Crank):
        assert nx.register(page) is page
    system = nx.System("cam", gravity=(0.3, 0.2, -9.81))
    system.add_body("a", mass=1.2, inertia=(0.1, 0.09, 0.02), com=(0.1, 0.05, 0.0))
    system.add_body("b", mass=0.7, inertia=(0.05, 0.06, 0.02), com=(0.3, 0.0, -0.1), position=(0.5, 0, 0))
    system.add_joint(Cam("cam", "ground", "a", at=(0, 0, 0), axis=(0.1, 0.2, 1.0)))
    system.add_joint(Crank("crank", "a", "b", at=(0.5, 0, 0), axis=(0, 1, 0.2)))
    tree = nx.Tree(system)
    q, v, a = np.array([0.4, 0.3, 0.1]), np.array([1.5, -1.0, 0.4]), np.array([0.3, -0.2, 0.7])
    tau = tree.rnea(q, v, a)
    assert tree.aba(q, v, tau) == pytest.approx(a, abs=1e-12)
    assert tree.crba(q) @ a + tree.rnea(q, v, 0 * a) == pytest.approx(tau, abs=1e-12)
    with pytest.raises(InputError, match="a registered joint whose columns of H are not at right angles"):
        tree.cfa(q, v, tau)


def flat(q: Any) -> Any:
    return Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0))


def elsewhere(R: Any) -> Any:
    return 2.0 * math.atan2(R.yx - R.xy, R.xx + R.yy)


def resting(q: Any, v: Any) -> Any:
    return Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "H": ({"motion_subspace": flat}, r"motion_subspace of Wrong: column 0 is not the derivative of pose by q\[0\]"),
    "inverse": ({"coordinates_of": elsewhere}, r"coordinates_of of Wrong: it does not undo pose"),
    "bias": ({"bias": resting}, r"bias of Wrong: it is not Ḣ q̇ by differences"),
    "missing": ({"pose": None}, r"the page Wrong has no pose; it needs pose, motion_subspace, coordinates_of"),
    "turning": (
        {"turning": ()},
        r"turning of Wrong is \(\); True or False of each of its coordinates is needed, of 1 to 5",
    ),
    "taken": ({"kind": "revolute"}, r"kind of Wrong is 'revolute', which Revolute has"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_joint_that_is_wrong_is_refused_by_name(what: str) -> None:
    given, message = REFUSED[what]
    with pytest.raises(InputError, match=message):
        nx.register(type("Wrong", (Cam,), {"kind": "wrong", **given}))

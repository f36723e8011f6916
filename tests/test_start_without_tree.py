"""Mechanisms without loops in which a body is the child of several joints: q0 and v0 as in the one whose joints point outward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.joints import JOINTS

BODY: dict[str, Any] = {"mass": 1.3, "inertia": (0.05, 0.08, 0.11), "com": (0.1, 0.05, -0.1)}
Q0: dict[str, Any] = {
    "revolute": 2.5, "prismatic": 0.3, "helical": -1.5, "cylindrical": (2.0, 0.3), "universal": (1.5, -0.7),
    "planar": (0.2, -0.3, 2.0), "cartesian": (0.3, 0.2, -0.1), "spherical": (0.8, 0.0, 0.6, 0.0),
    "free": (0.6, 0.0, 0.8, 0.0, 0.3, 0.2, 0.1),
}  # fmt: skip
assert set(Q0) == {kind for kind, cls in JOINTS.items() if cls.tree and cls.nv}, "a kind of joint that is not here"


def chain(kind: str, inward: bool, second: str = "fixed", **own: Any) -> nx.System:
    """Arm and plate in a row; inward: the arm is the child of both joints."""
    system = nx.System("row", gravity=(1.0, -3.0, -9.0))
    system.add_body("arm", position=(0.2, 0.1, 0.0), **BODY)
    system.add_body("plate", position=(0.5, 0.1, 0.2), orientation=(0.5, 0.5, 0.5, -0.5), **BODY)
    pitch = {"pitch": 0.2} if kind == "helical" else {}
    axes = {"axis": (0.3, 1.0, 0.2), "reference": (1.0, 0.0, 0.0)}
    system.add_joint(JOINTS[kind]("j", "ground", "arm", at=(0.1, 0.0, 0.0), **axes, **pitch, **own))
    ends = ("plate", "arm") if inward else ("arm", "plate")
    system.add_joint(JOINTS[second]("weld", *ends, at=(0.4, 0.0, 0.1)))
    return system


def same(found: nx.Result, wanted: nx.Result, tolerance: float) -> None:
    for told in ("position", "orientation", "velocity", "angular_velocity"):
        for body in ("arm", "plate"):
            here, there = (getattr(result, told)(body).values for result in (found, wanted))
            if told == "orientation":
                there = there * np.sign((here * there).sum(axis=1, keepdims=True))
            assert_allclose(here, there, atol=tolerance)
    assert_allclose(found.joint_position("j").values[0], wanted.joint_position("j").values[0], atol=1e-9)


@pytest.mark.parametrize("second", ["fixed", "revolute"])
@pytest.mark.parametrize("kind", Q0)
def test_a_joint_has_its_q0_whichever_way_the_others_point(kind: str, second: str) -> None:
    v0 = 0.4 * np.ones(JOINTS[kind].nv)
    start = {"q0": {"j": Q0[kind]}, "v0": {"j": v0}}
    plain = nx.assemble(chain(kind, False, second), **start)
    for report in (
        nx.assemble(chain(kind, True, second), **start),
        nx.assemble(chain(kind, True, second, q0=Q0[kind], v0=v0)),
    ):
        for body in ("arm", "plate"):
            assert_allclose(report.position(body), plain.position(body), atol=1e-9)
            assert_allclose(report.velocity(body), plain.velocity(body), atol=1e-9)
            assert_allclose(report.angular_velocity(body), plain.angular_velocity(body), atol=1e-9)
    wanted = nx.simulate(chain(kind, False, second), 0.05, nx.RungeKutta4(1e-3), **start)
    for method, tolerance in ((nx.RungeKutta4(1e-3), 1e-7), (nx.HHT(dt=1e-3), 1e-4)):
        same(nx.simulate(chain(kind, True, second), 0.05, method, **start), wanted, tolerance)


def test_two_joints_between_a_body_and_the_ground_have_their_q0() -> None:
    """A door on two hinges is a loop that nobody said is one."""
    system = nx.System("door", gravity=(0, 0, -9.81))
    system.add_body("leaf", position=(0.4, 0.0, 0.0), **BODY)
    for name, height in (("lower", 0.0), ("upper", 1.5)):
        system.add_joint(nx.Revolute(name, "ground", "leaf", at=(0, 0, height), axis=(0, 0, 1)))
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3)):
        result = nx.simulate(system, 0.01, method, q0={"upper": 2.5})
        assert_allclose(result.position("leaf").values[0], (0.4 * np.cos(2.5), 0.4 * np.sin(2.5), 0.0), atol=1e-9)
        assert_allclose(result.joint_position("lower").values[0], 2.5, atol=1e-9)


def test_a_body_that_floats_but_for_a_joint_that_points_away_has_its_q0_too() -> None:
    """Its pose is kept, and the joints between it and the ground are closed; where they cannot be, it is said."""
    system = chain("free", True)
    pose = np.array([0.6, 0.0, 0.8, 0.0, 0.3, 0.2, 0.1])
    report = nx.assemble(system, q0={"plate": pose})
    assert_allclose(report.position("plate"), pose[4:], atol=1e-9)
    with pytest.raises(nx.AssemblyError, match="'plate' cannot have its q0"):
        nx.assemble(chain("revolute", True), q0={"plate": pose, "j": 0.3})


def test_a_start_goes_on_from_a_report_where_a_joint_is_given_another_coordinate() -> None:
    first = nx.assemble(chain("revolute", True, "revolute"), q0={"weld": 0.7, "j": 0.2})
    again = nx.assemble(first.model.system, initial=first, q0={"j": 1.1})
    wanted = nx.assemble(chain("revolute", True, "revolute"), q0={"weld": 0.7, "j": 1.1})
    for body in ("arm", "plate"):
        assert_allclose(again.position(body), wanted.position(body), atol=1e-9)

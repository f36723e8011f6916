"""nx.inverse_kinematics: closed forms, pinocchio's forward kinematics, loops, limits, and what is out of reach."""

from __future__ import annotations

import math

import mechanisms
import numpy as np
import pinocchio as pin
import pytest
import scipy.optimize
from test_equilibrium import arm

import nexdyn as nx
from nexdyn.spatial.rotations import log_rotation, quaternion, rotation_matrix
from nexdyn.statics.inverse_kinematics import bounded


def two_links(**elbow) -> nx.System:
    """Two rods of 1 m in the plane z = 0, along x as described; `tip` at the end of the second."""
    system = nx.System("arm")
    upper = system.add_body("upper", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    lower = system.add_body("lower", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0))
    system.add_joint(nx.Revolute("shoulder", system.ground, upper, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("elbow", upper, lower, at=(1, 0, 0), axis=(0, 0, 1), **elbow))
    system.add_marker("tip", lower, position=(0.5, 0, 0))
    return system


def test_two_links_by_the_law_of_cosines() -> None:
    found = nx.inverse_kinematics(two_links(), {"tip": (0.9, 0.7, 0)}, q0={"elbow": 0.3})
    assert found.reached and found.gaps["tip"].distance < 1e-9
    elbow = math.acos((0.9**2 + 0.7**2 - 2) / 2)
    assert found.joints["elbow"][0] == pytest.approx(elbow, abs=1e-9)
    assert found.joints["shoulder"][0] == pytest.approx(math.atan2(0.7, 0.9) - elbow / 2, abs=1e-9)
    np.testing.assert_allclose(found.q, [found.joints["shoulder"][0], found.joints["elbow"][0]], atol=1e-12)


def test_what_is_out_of_reach_is_pointed_at_and_the_gap_is_told() -> None:
    found = nx.inverse_kinematics(two_links(), {"tip": (1.5, 2.0, 0)}, q0={"elbow": 0.5})
    assert not found.reached and found.gaps["tip"].distance == pytest.approx(0.5, abs=1e-9)
    assert found.joints["shoulder"][0] == pytest.approx(math.atan2(2.0, 1.5), abs=1e-5)
    assert found.joints["elbow"][0] == pytest.approx(0.0, abs=1e-4)
    assert "out of reach" in str(found) and np.isfinite(found.pose).all()
    above = nx.inverse_kinematics(two_links(), {"tip": (1.0, 0.5, 0.25)}, q0={"elbow": 0.5})
    assert above.gaps["tip"].distance == pytest.approx(0.25, abs=1e-9)


def test_limits_hold_and_the_rest_is_done_by_others() -> None:
    system = two_links(limits=(-0.4, 0.4))
    target = np.array([0.3, 0.9, 0.0])
    found = nx.inverse_kinematics(system, {"tip": target})
    assert not found.reached and found.at_limit == ["elbow"]
    assert abs(found.joints["elbow"][0]) == pytest.approx(0.4, abs=1e-8)

    def off(x):
        tip = [math.cos(x[0]) + math.cos(x[0] + x[1]), math.sin(x[0]) + math.sin(x[0] + x[1])]
        return math.dist(tip, target[:2]) ** 2

    box = [(-math.pi, math.pi), (-0.4, 0.4)]
    best = min(scipy.optimize.minimize(off, x0, bounds=box).fun for x0 in ([0.5, 0.1], [1.0, -0.1], [1.4, 0.3]))
    assert found.gaps["tip"].distance == pytest.approx(math.sqrt(best), abs=1e-6)
    free = nx.inverse_kinematics(system, {"tip": target}, q0={"elbow": 0.2}, limits=False)
    assert free.reached and not free.at_limit


def test_limits_of_more_than_half_a_turn_are_counted_along_the_way() -> None:
    system = two_links(limits=(2.0, 5.5))
    elbow = math.acos((0.9**2 - 2) / 2)  # the other way round it is 2π − elbow, within the limits too
    for q0 in ({"elbow": 2.5}, {"elbow": 4.5, "shoulder": 0.5}, {"elbow": 5.4}):
        found = nx.inverse_kinematics(system, {"tip": (0.0, -0.9, 0)}, q0=q0)
        assert found.reached and 2.0 <= found.joints["elbow"][0] <= 5.5
        assert min(abs(found.joints["elbow"][0] - x) for x in (elbow, 2 * math.pi - elbow)) < 1e-8


def test_a_locked_joint_keeps_its_coordinate() -> None:
    found = nx.inverse_kinematics(two_links(), {"tip": (0.0, 1.2, 0)}, q0={"elbow": 0.7}, locks=["elbow"])
    assert found.joints["elbow"][0] == pytest.approx(0.7, abs=1e-9)
    assert found.joints["shoulder"][0] + 0.35 == pytest.approx(math.pi / 2, abs=1e-6)


def test_pinocchio_finds_the_hand_where_it_was_asked_to_be(tmp_path, rng: np.random.Generator) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(arm(rng, 7))
    system = nx.load(path)
    model = pin.buildModelFromUrdf(str(path))
    data, frame = model.createData(), model.getFrameId("l6")
    tree = nx.Tree(system)
    for _ in range(5):
        q = rng.uniform(-1.5, 1.5, size=7)
        R, p = tree.pose(q, "l6")
        start = dict(zip(tree.joint_names, np.clip(q + 0.4 * rng.normal(size=7), -2.4, 2.4), strict=True))
        found = nx.inverse_kinematics(system, {"l6": {"position": p, "orientation": quaternion(R)}}, q0=start)
        assert found.reached and (np.abs(found.q) <= 2.5 + 1e-8).all()
        pin.framesForwardKinematics(model, data, found.q)
        np.testing.assert_allclose(data.oMf[frame].translation, p, atol=1e-8)
        np.testing.assert_allclose(data.oMf[frame].rotation, R, atol=1e-8)


def test_orientation_alone_and_two_targets_at_once(rng: np.random.Generator) -> None:
    system = nx.System("ball and arm")
    ball = system.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(0.3, 0, 0))
    hand = system.add_body("hand", mass=1.0, inertia=(1, 1, 1), position=(1.0, 0, 0))
    system.add_joint(nx.Spherical("socket", system.ground, ball, at=(0, 0, 0)))
    system.add_joint(nx.Universal("wrist", ball, hand, at=(0.6, 0, 0), axis=(0, 0, 1)))
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    found = nx.inverse_kinematics(system, {"hand": {"orientation": q}})
    assert found.reached
    assert np.linalg.norm(log_rotation(rotation_matrix(found.orientation("hand")).T @ rotation_matrix(q))) < 1e-8
    apart = nx.inverse_kinematics(
        system, {"ball": (0.0, 0.3, 0.0), "hand": {"position": (5.0, 0, 0), "weight": 1e-3}}, q0={"wrist": (0.2, 0.1)}
    )
    assert not apart.reached and apart.gaps["ball"].distance < 0.01 < apart.gaps["hand"].distance


def test_a_point_of_a_coupler_is_brought_to_its_place_through_the_loop() -> None:
    system = mechanisms.four_bar()
    system.add_marker("pen", "coupler", position=(0.2, 0.5, 0.0))
    body, _, p = system.frame("pen")
    there = nx.assemble(system, q0={"A": -0.6})
    target = there.position(body.name) + rotation_matrix(there.orientation(body.name)) @ p
    found = nx.inverse_kinematics(system, {"pen": target})
    assert found.reached and found.joints["A"][0] == pytest.approx(-0.6, abs=1e-7)
    assert np.abs(there.model.residual(found.pose)).max() < 1e-11
    with pytest.raises(nx.InputError):
        _ = found.q  # a loop has no coordinates of a tree


def test_a_limit_in_a_loop_stops_the_whole_loop() -> None:
    system = mechanisms.four_bar().with_parameters({"A.limits": (-0.3, 0.3)})
    there = nx.assemble(mechanisms.four_bar(), q0={"A": -0.6})
    found = nx.inverse_kinematics(system, {"rocker": there.position("rocker")})
    assert not found.reached and found.at_limit == ["A"]
    assert found.joints["A"][0] == pytest.approx(-0.3, abs=1e-8)
    at_limit = nx.assemble(mechanisms.four_bar(), q0={"A": -0.3})
    np.testing.assert_allclose(found.position("rocker"), at_limit.position("rocker"), atol=1e-7)


@pytest.mark.parametrize(
    ("targets", "says"),
    [
        ({}, "targets are"), ({"tip": (1, 2)}, "position of target 'tip'"), ({"tip": (1, 2, math.nan)}, "three finite"),
        ({"ground": (0, 0, 0)}, "on the ground"), ({"tip": {}}, "asks for nothing"), ({"top": (0, 0, 0)}, "top"),
        ({"tip": {"orientation": (0, 0, 0, 0)}}, "no rotation"), ({"tip": {"place": (0, 0, 0)}}, "no entry 'place'"),
        ({"tip": {"position": (0, 0, 0), "weight": -1.0}}, "weight of target"), ({"tip": "there"}, "numbers are needed"),
    ],
)  # fmt: skip
def test_bad_targets_are_refused(targets, says: str) -> None:
    with pytest.raises(nx.InputError, match=says):
        nx.inverse_kinematics(two_links(), targets)


@pytest.mark.parametrize(
    ("links", "target", "reached"),
    [
        (2, 1.0, True),
        (2, 0.1, True),
        (2, -1.5, True),
        (3, 1.0, True),
        (7, -3.0, True),
        (12, 0.0, True),
        (2, 3.0, False),
    ],
)
def test_a_straight_arm_folds_when_it_is_asked_to(links: int, target: float, reached: bool) -> None:
    """All gradients vanish there: no hinge moves the tip along the arm. Only beyond its reach it is at a minimum."""
    system, parent = nx.System("arm"), "ground"
    for k in range(links):
        system.add_body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(float(k), 0.0, 0.0))
        system.add_joint(nx.Revolute(f"j{k}", parent, f"b{k}", at=(float(k), 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
        parent = f"b{k}"
    system.add_marker("tip", parent, position=(1.0, 0.0, 0.0))
    posture = nx.inverse_kinematics(system, {"tip": (target, 0.0, 0.0)})
    assert posture.reached is reached
    assert posture.gaps["tip"].distance == pytest.approx(0.0 if reached else target - links, abs=1e-8)


def closed_arm() -> nx.System:
    """A hand on a parallelogram: a loop."""
    system = nx.System("closed arm", gravity=(0.0, 0.0, -9.81))
    for name, at in (("crank", (0.0, 0.0, 0.5)), ("coupler", (1.0, 0.0, 1.0)), ("rocker", (2.0, 0.0, 0.5))):
        system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=at)
    ends = (
        ("ground", "crank", (0, 0, 0)),
        ("crank", "coupler", (0, 0, 1)),
        ("coupler", "rocker", (2, 0, 1)),
        ("ground", "rocker", (2, 0, 0)),
    )
    for k, (a, b, at) in enumerate(ends):
        system.add_joint(nx.Revolute(f"hinge{k}", a, b, at=at, axis=(0, 1, 0)))
    return system


METHODS = [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.HHT(), nx.Projection(1e-3), nx.ImplicitEuler(1e-3)]


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("loop", [False, True], ids=["tree", "loop"])
def test_a_run_starts_from_a_posture_at_rest(method: nx.Method, loop: bool) -> None:
    system = closed_arm() if loop else two_links()
    frame, target = ("coupler", {"position": (1.3, 0.0, 0.95)}) if loop else ("tip", {"position": (0.3, 0.4, 0.0)})
    posture = nx.inverse_kinematics(system, {frame: target})
    result = nx.simulate(system, 0.01, method, initial=posture)
    for body in system.bodies:
        np.testing.assert_allclose(result.position(body).values[0], posture.position(body), atol=1e-9)
        np.testing.assert_allclose(result.velocity(body).values[0], 0.0, atol=1e-9)


def test_velocities_are_given_beside_a_posture_and_another_systems_is_refused() -> None:
    system = two_links()
    posture = nx.inverse_kinematics(system, {"tip": (0.3, 0.4, 0.0)})
    joint = next(iter(system.joints))
    result = nx.simulate(system, 0.01, nx.RungeKutta4(1e-3), initial=posture, v0={joint: 0.5})
    assert result.joint_velocity(joint).values[0] == pytest.approx(0.5)
    with pytest.raises(nx.InputError, match="the posture of another system"):
        nx.simulate(two_links(), 0.01, initial=posture)


@pytest.mark.parametrize(("n", "limited"), [(7, 7), (3, 8), (12, 12)], ids=["arm", "loop", "chain"])
def test_a_step_keeps_all_limits_and_is_the_best_that_does(n: int, limited: int) -> None:
    """Also where more coordinates are limited than can move, and one of them is locked: on no side do any small moves do better."""
    rng = np.random.default_rng(n + limited)
    for _ in range(30):
        A, e, mu = rng.normal(size=(6, n)), 2.0 * rng.normal(size=6), 10.0 ** rng.uniform(-8, -1)
        G, low, high = rng.normal(size=(limited, n)), -rng.uniform(size=limited), rng.uniform(size=limited)
        low[0] = high[0] = 0.0
        y = bounded(A, e, mu, G, low, high)
        assert np.maximum(low - G @ y, G @ y - high).max() < 1e-12
        # |A y − e|² + μ² |y|² is convex: its slope along a move that the limits leave is not negative
        slope = A.T @ (A @ y - e) + mu**2 * y
        others = np.vstack([G, -G])
        room = np.concatenate([high - G @ y, G @ y - low])
        least = scipy.optimize.linprog(slope, A_ub=others, b_ub=np.maximum(room, 0.0), bounds=(-1.0, 1.0))
        assert least.status == 0 and least.fun > -1e-7 * (1.0 + np.abs(slope).max())

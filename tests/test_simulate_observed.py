"""What is told of a motion afterwards: rates are derivatives, wrenches are Newton's and Euler's, reactions do no work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems as S  # noqa: N812

import nexdyn as nx
from nexdyn.spatial.rotations import left_jacobian_inverse, log_rotation, rotation_matrix
from nexdyn.tree.observe import Observation, observe_motion

METHOD = nx.DormandPrince(1e-12, 1e-12)


def seen_of(system: nx.System, r: Any) -> Observation:
    return observe_motion(nx.Tree(system), r.t, r.q, r.v, r.a)


def moving(seed: int) -> tuple[nx.System, Any]:
    """A random tree with welds under a few forces, in motion for a while."""
    kinds = ["revolute", "fixed", "universal", "planar", "fixed", "spherical", "helical", "cylindrical", "prismatic"]
    system = S.random_system(seed, [*kinds, "cartesian"], roots=2, floating=1)
    # an armature turns with its freedom alone and belongs to no body: Newton and Euler would miss it
    system = system.with_parameters({f"{joint.name}.armature": 0.0 for joint in system.joints.values()})
    first, *_, last = system.bodies
    system.add_force(
        nx.AppliedForce("push", last, force=(1.0, "=sin(3*t)", 0.5), torque=(0.2, 0, 0), anchor=(0.1, 0, 0.2))
    )
    system.add_force(nx.PointSpring("spring", first, last, stiffness=2.0, damping=0.1, length=1.0))
    system.add_force(nx.JointForce("motor", "j0", "=2*cos(t)"))
    tree, rng = nx.Tree(system), np.random.default_rng(seed)
    start = {"q0": tree.normalized(tree.neutral() + 0.3 * rng.normal(size=tree.nq)), "v0": rng.normal(size=tree.nv)}
    return system, nx.simulate(system, 0.4, METHOD, output_times=np.linspace(0, 0.4, 401), **start).recording


def slope(x: np.ndarray, dt: float) -> np.ndarray:
    """dx/dt over the first axis, of fourth order; two samples are lost at each end."""
    return (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) / (12 * dt)


@pytest.mark.parametrize("seed", [1, 2])
def test_velocities_and_accelerations_are_derivatives_of_the_poses(seed: int) -> None:
    system, r = moving(seed)
    seen, dt, inner = seen_of(system, r), r.t[1] - r.t[0], slice(2, -2)
    tree = nx.Tree(system)
    R, p = tree.pose(r.q)
    np.testing.assert_allclose(seen.R, R, atol=1e-12)
    np.testing.assert_allclose(seen.position, p, atol=1e-11)
    w, v = tree.velocity(r.q, r.v)
    np.testing.assert_allclose(seen.angular_velocity, w, atol=1e-10)
    np.testing.assert_allclose(seen.velocity, v, atol=1e-10)
    # the truncation of the difference quotients
    scale = 3e-6 * max(1.0, np.abs(seen.acceleration).max(), np.abs(seen.angular_acceleration).max())
    np.testing.assert_allclose(slope(seen.position, dt), seen.velocity[inner], atol=scale)
    np.testing.assert_allclose(slope(seen.velocity, dt), seen.acceleration[inner], atol=scale)
    np.testing.assert_allclose(slope(seen.angular_velocity, dt), seen.angular_acceleration[inner], atol=scale)
    # ω from rotations: φ̇ = J_l⁻¹(φ) ω about the attitude in the middle
    phi = log_rotation(seen.R[198:203] @ np.swapaxes(seen.R[200], -1, -2))
    turned = left_jacobian_inverse(phi[2]) @ seen.angular_velocity[200][..., None]
    np.testing.assert_allclose(slope(phi, dt)[0], turned[..., 0], atol=scale)


def joint_frame(joint: Any, seen: Observation, place: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and origin in the world of a joint's parent-side frame."""
    R_PJ, p_PJ, _, _ = joint.frames({})
    if joint.parent.name == "ground":
        n = len(seen.position)
        return np.broadcast_to(R_PJ, (n, 3, 3)), np.broadcast_to(p_PJ, (n, 3))
    R, p = seen.R[:, place[joint.parent.name]], seen.position[:, place[joint.parent.name]]
    return R @ R_PJ, p + R @ p_PJ


@pytest.mark.parametrize("seed", [1, 2])
def test_wrenches_of_the_joints_and_the_forces_are_what_newton_and_euler_ask_for(seed: int) -> None:
    system, r = moving(seed)
    tree, seen = nx.Tree(system), seen_of(system, r)
    place = {name: i for i, name in enumerate(tree.body_names)}
    carried = {joint.child.name: joint for joint in system.joints.values()}
    N, F = np.zeros((2, len(place), len(r.t), 3))  # about the world's origin

    def add(body: str, n: np.ndarray, f: np.ndarray, at: np.ndarray, sign: float = 1.0) -> None:
        if body != "ground":
            N[place[body]] += sign * (n + np.cross(at, f))
            F[place[body]] += sign * f

    for name, i in place.items():
        if name not in carried:  # nothing carries a floating body
            np.testing.assert_allclose(seen.reaction[:, i], 0.0, atol=1e-9)
            continue
        joint = carried[name]
        R, p = joint_frame(joint, seen, place)
        n, f = (np.einsum("nij,nj->ni", R, seen.wrench[:, i, part]) for part in (slice(0, 3), slice(3, 6)))
        add(name, n, f, p)
        add(joint.parent.name, n, f, p, -1.0)
    first, *_, last = system.bodies
    R, p = seen.R[:, place[last]], seen.position[:, place[last]]
    ones = np.ones_like(r.t)
    push = np.stack([ones, np.sin(3 * r.t), 0.5 * ones], axis=1)
    add(last, np.stack([0.2 * ones, 0 * ones, 0 * ones], axis=1), push, p + R @ np.array([0.1, 0, 0.2]))
    d = p - seen.position[:, place[first]]
    L = np.linalg.norm(d, axis=1, keepdims=True)
    L_dot = (d * (seen.velocity[:, place[last]] - seen.velocity[:, place[first]])).sum(axis=1, keepdims=True) / L
    tension = (2.0 * (L - 1.0) + 0.1 * L_dot) * d / L
    add(last, 0 * tension, -tension, p)
    add(first, 0 * tension, tension, seen.position[:, place[first]])

    for name, i in place.items():
        m, com, I, _, _ = system.body(name).resolved({})
        R, w, w_dot = seen.R[:, i], seen.angular_velocity[:, i], seen.angular_acceleration[:, i]
        arm = np.einsum("nij,j->ni", R, com)
        c = seen.position[:, i] + arm
        a = seen.acceleration[:, i] + np.cross(w_dot, arm) + np.cross(w, np.cross(w, arm))
        I_W = R @ I @ np.swapaxes(R, 1, 2)
        euler = np.einsum("nij,nj->ni", I_W, w_dot) + np.cross(w, np.einsum("nij,nj->ni", I_W, w))
        f = m * (a - system.gravity)
        scale = 1e-9 * max(1.0, np.abs(N).max(), np.abs(F).max())
        np.testing.assert_allclose(F[i], f, atol=scale, err_msg=name)
        np.testing.assert_allclose(N[i], euler + np.cross(c, f), atol=scale, err_msg=name)


@pytest.mark.parametrize("seed", [1, 2])
def test_reactions_do_no_work_and_what_is_missing_acts_along_the_freedoms(seed: int) -> None:
    system, r = moving(seed)
    tree, seen = nx.Tree(system), seen_of(system, r)
    for i, name in enumerate(tree.body_names):
        joint = next((j for j in system.joints.values() if j.child.name == name), None)
        if joint is None or not joint.nv:
            np.testing.assert_allclose(
                seen.reaction[:, i] - (0 if joint is None else seen.wrench[:, i]), 0.0, atol=1e-9
            )
            continue
        place = tree.coordinates[joint.name]
        for k in (0, 200, 400):
            q = r.q[k, place.q]
            R, p = S.joint_pose(joint.kind, q, getattr(joint, "pitch", 0.0))
            H = tree.motion_subspace(joint.name, r.q[k])
            # the twist of the child in the parent-side frame, at that frame's origin, for unit velocities
            angular = R @ H[:3]
            linear = R @ H[3:] + np.cross(p, angular, axis=0)
            power = seen.reaction[k, i, :3] @ angular + seen.reaction[k, i, 3:] @ linear
            np.testing.assert_allclose(power, 0.0, atol=1e-8 * max(1.0, np.abs(seen.wrench).max()))


def test_pull_in_the_pin_of_a_pendulum_is_weight_and_centripetal_force() -> None:
    m, L, g = 2.0, 0.7, 9.81
    system = nx.System("pendulum", gravity=(0, -g, 0))
    system.add_body("bob", mass=m, position=(0, -L, 0))
    system.add_joint(nx.Revolute("pin", system.ground, system.body("bob"), at=(0, 0, 0), axis=(0, 0, 1), q0=1.0))
    r = nx.simulate(system, 2.0, METHOD, output_times=np.linspace(0, 2, 101)).recording
    seen = seen_of(system, r)
    theta, w = r.q[:, 0], r.v[:, 0]
    pull = m * (g * np.cos(theta) + L * w**2)
    # towards the pin, from (sin θ, −cos θ)
    expected = pull[:, None] * np.stack([-np.sin(theta), np.cos(theta), 0 * theta], axis=1)
    R_PJ = system.joint("pin").frames({}).R_AJ
    np.testing.assert_allclose(seen.reaction[:, 0, 3:] @ R_PJ.T, expected, atol=1e-7)
    np.testing.assert_allclose(seen.reaction[:, 0, :3], 0.0, atol=1e-8)
    np.testing.assert_allclose(seen.gravitational + seen.kinetic, -m * g * L * np.cos(1.0), atol=1e-9)


def test_weld_carries_weight_with_its_lever() -> None:
    """1.5 kg at the end of an arm that is welded, 0.8 m beside the weld."""
    system = nx.System("cantilever", gravity=(0, 0, -10))
    arm = system.add_body("arm", mass=0.5, inertia=(0.1, 0.1, 0.1))
    load = system.add_body("load", mass=1.5, position=(0.8, 0, 0))
    system.add_joint(nx.Fixed("wall", system.ground, arm))
    system.add_joint(nx.Fixed("glue", arm, load, at=(0.5, 0, 0)))
    seen = seen_of(system, nx.simulate(system, 0.0).recording)
    place = nx.Tree(system).body_names
    np.testing.assert_allclose(seen.wrench[0, place.index("load")], [0, -15 * 0.3, 0, 0, 0, 15], atol=1e-12)
    np.testing.assert_allclose(seen.wrench[0, place.index("arm")], [0, -15 * 0.8, 0, 0, 0, 20], atol=1e-12)


def test_mimic_joints_are_observed_with_their_followers() -> None:
    system = S.mimicking(8)
    tree, rng = nx.Tree(system), np.random.default_rng(1)
    r = nx.simulate(
        system, 0.2, METHOD, q0=tree.random(rng), v0=rng.normal(size=tree.nv), output_times=np.linspace(0, 0.2, 201)
    ).recording
    seen = seen_of(system, r)
    scale = 1e-6 * max(1.0, np.abs(seen.acceleration).max())
    np.testing.assert_allclose(slope(seen.velocity, 1e-3), seen.acceleration[2:-2], atol=scale)


def test_free_body_spins_as_its_quaternion_says() -> None:
    system = nx.System("stone", gravity=(0, 0, 0))
    system.add_body("stone", mass=1.0, inertia=(1, 2, 3))
    r = nx.simulate(system, 1.0, METHOD, v0=(0.1, 1.0, 0.2, 1.0, 2.0, 3.0)).recording
    seen = seen_of(system, r)
    np.testing.assert_allclose(seen.R[:, 0], rotation_matrix(r.q[:, :4]), atol=1e-14)
    np.testing.assert_allclose(
        seen.angular_velocity[:, 0], np.einsum("nij,nj->ni", seen.R[:, 0], r.v[:, :3]), atol=1e-13
    )
    np.testing.assert_allclose(seen.acceleration, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    "method",
    [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.HHT(), nx.Projection(1e-3)],
    ids=lambda m: f"{m.name} {m.dt if hasattr(m, 'dt') else ''}",
)
def test_a_spring_that_starts_wound_by_more_than_half_a_turn_pulls_so_from_the_first_instant(method: Any) -> None:
    """q = 4 cos t. The report of an assembly counts within half a turn of q = 0; a run must not start from its acceleration."""
    system = nx.System("balance", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("staff", "ground", "wheel", axis=(0, 0, 1), stiffness=1.0, q0=4.0))
    result = nx.simulate(system, 0.1, method)
    assert result.joint_acceleration("staff").values == pytest.approx(-4.0 * np.cos(result.t.values), abs=2e-3)
    assert float(result.joint_velocity("staff")[-1]) == pytest.approx(-4.0 * np.sin(0.1), abs=3e-5)

"""What acts on bodies in absolute coordinates: gravity and gyroscopic terms, force elements, and efforts in joints.

Q of a body = (torque about its origin in its axes, force in the world)
an effort τ in a joint is the wrench Σ τ_j ĥ_j on the child in its joint frame, and its opposite on the parent;
ĥ_j is the column of H taken as a wrench (a helical joint's effort is a couple about its axis)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.absolute.model import AbsoluteModel
from nexdyn.forces.tables import (
    BODY_A,
    BODY_B,
    COORDINATE,
    FREEDOM,
    NO_FREEDOM,
    ForceTables,
    force_tables,
    frames_a,
    frames_b,
)
from nexdyn.forces.verbs import force_element, freedom_element
from nexdyn.joints.helical import Helical
from nexdyn.kernel import kernel
from nexdyn.model.callbacks import failure
from nexdyn.model.joint import Joint
from nexdyn.model.parameters import number
from nexdyn.spatial.algebra import Force, Motion, cross
from nexdyn.spatial.rotations import log_quaternion, right_jacobian_inverse, rotation_matrix
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows
from nexdyn.tree.described import coordinates_between
from nexdyn.tree.entries import joint_columns


@kernel
def element_loads(tables, t, poses, twists, q, v, loads, efforts):  # type: ignore[no-untyped-def]
    """Add wrenches (moment about the body's origin, force; world axes) to loads (nb + 1, 6) and efforts (freedoms,).

    poses (nb + 1, 12), twists (nb + 1, 6) of the bodies in world axes; returns the element that failed, or −1."""
    X_W, V, F = PoseRows(poses, 0), MotionRows(twists, 0), ForceRows(loads, 0)
    X_LA, X_LB = frames_a(tables), frames_b(tables)
    index = tables.index
    for e in range(len(index)):
        if index[e, FREEDOM] != NO_FREEDOM:
            j = index[e, FREEDOM]
            status, effort = freedom_element(tables, e, t, q[index[e, COORDINATE]], v[j])
            efforts[j] += effort
        else:
            a, b = index[e, BODY_A], index[e, BODY_B]
            s_A, s_B = X_W[a].R @ X_LA[e].p, X_W[b].R @ X_LB[e].p
            V_A = Motion(V[a].w, V[a].v + cross(V[a].w, s_A))
            V_B = Motion(V[b].w, V[b].v + cross(V[b].w, s_B))
            status, F_A, F_B = force_element(tables, e, t, X_W[a] @ X_LA[e], V_A, X_W[b] @ X_LB[e], V_B)
            F[a] = F[a] + Force(F_A.n + cross(s_A, F_A.f), F_A.f)
            F[b] = F[b] + Force(F_B.n + cross(s_B, F_B.f), F_B.f)
        if status != 0:
            return e
    return -1


def generalized_forces(model: AbsoluteModel, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> np.ndarray:
    """τ − h (6 nb,) of all that acts at the state. SolveError where a force fails."""
    Q = model.applied(q, v)
    acting = _acting(model, q, v, t)
    if acting is None:
        return Q
    loads, of_joints = acting
    for a, b, wrench_a, wrench_b in of_joints.values():
        loads[a] += wrench_a
        loads[b] += wrench_b
    R = rotation_matrix(q[1:, :4])
    return Q + np.concatenate([np.einsum("nji,nj->ni", R, loads[1:, :3]), loads[1:, 3:]], axis=1).reshape(-1)


def effort_on_child(model: AbsoluteModel, q: np.ndarray, v: np.ndarray, joint: str, t: float = 0.0) -> np.ndarray:
    """(torque in its axes, force in the world) (6,) of a joint's springs, dampers, friction and motors on its child."""
    acting = _acting(model, q, v, t)
    if acting is None or joint not in acting[1]:
        return np.zeros(6)
    _, b, _, wrench = acting[1][joint]
    return np.concatenate([rotation_matrix(q[b, :4]).T @ wrench[:3], wrench[3:]])


_OnJoint = tuple[int, int, np.ndarray, np.ndarray]


def _acting(
    model: AbsoluteModel, q: np.ndarray, v: np.ndarray, t: float
) -> tuple[np.ndarray, dict[str, _OnJoint]] | None:
    """Wrenches (nb + 1, 6) of force elements on bodies (moment about the origin, force; world axes), and those of efforts
    in joints by joint: (body a, body b, wrench on a, wrench on b)."""
    system = model.system
    joints = [joint for joint in system.joints.values() if joint.nv]
    acting = any(
        resolved.damping.any() or resolved.stiffness.any() or resolved.friction.any()
        for resolved in (joint.resolved(system.values) for joint in joints)
    )
    if not system.forces and not acting:
        return None
    R = rotation_matrix(q[:, :4])
    first_q = np.cumsum([0, *(joint.nq for joint in joints)])
    first_v = np.cumsum([0, *(joint.nv for joint in joints)])
    joint_q, joint_v = np.zeros(first_q[-1]), np.zeros(first_v[-1])
    columns: list[np.ndarray] = []
    for i, joint in enumerate(joints):
        own_q, own_v, H = joint_state(model, joint, q, v)
        joint_q[first_q[i] : first_q[i + 1]], joint_v[first_v[i] : first_v[i + 1]] = own_q, own_v
        columns.append(H)

    loads, efforts = np.zeros((len(q), 6)), np.zeros(first_v[-1])
    for i, joint in enumerate(joints):
        part = slice(first_v[i], first_v[i + 1])
        efforts[part] = own_efforts(joint, system.values, joint_q[first_q[i] : first_q[i + 1]], joint_v[part])
    if system.forces:
        _add_elements(model, R, q, v, t, joints, first_q, first_v, joint_q, joint_v, loads, efforts)
    of_joints = {}
    for i, joint in enumerate(joints):
        effort = efforts[first_v[i] : first_v[i + 1]]
        if effort.any():
            of_joints[joint.name] = _effort(model, joint, R, q, columns[i], effort)
    return loads, of_joints


def joint_state(
    model: AbsoluteModel, joint: Joint, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, velocities and H (6, nv) of a joint from the poses and velocities of its bodies."""
    a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
    values = model.system.values
    frames = joint.frames(values)
    R_a, R_b = rotation_matrix(q[a, :4]), rotation_matrix(q[b, :4])
    own, _, _ = coordinates_between(joint, values, (R_a, q[a, 4:]), (R_b, q[b, 4:]))
    H, W = np.zeros((joint.nv, 6)), np.zeros((6 - joint.nv, 6))
    pitch = number(joint.pitch, values, f"pitch of {joint}") if isinstance(joint, Helical) else 0.0
    joint_columns(type(joint).code, pitch, own, H, W)
    # velocity of the child's joint frame against the parent, in the child's joint frame
    R_J, p_J = R_b @ frames.R_BJ, q[b, 4:] + R_b @ frames.p_BJ
    w_a, w_b = R_a @ v[a, :3], R_b @ v[b, :3]
    u_b = v[b, 3:] + np.cross(w_b, p_J - q[b, 4:])
    u_a = v[a, 3:] + np.cross(w_a, p_J - q[a, 4:])
    relative = np.concatenate([R_J.T @ (w_b - w_a), R_J.T @ (u_b - u_a)])
    return own, np.linalg.lstsq(H.T, relative, rcond=None)[0], H.T


def velocity_rows(model: AbsoluteModel, joint: Joint, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The velocities (nv,) of a joint for those of its parent and of its child, each (nv, 6): H⁺ of the child's joint frame
    against the parent, v_J = v + (R ω) × r."""
    _, _, H = joint_state(model, joint, q, np.zeros((len(q), 6)))
    a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
    frames, R_b = joint.frames(model.system.values), rotation_matrix(q[b, :4])
    R_J, p_J = R_b @ frames.R_BJ, q[b, 4:] + R_b @ frames.p_BJ
    inverse = np.linalg.pinv(H)
    rows = []
    for body, sign in ((a, -1.0), (b, 1.0)):
        R, (x, y, z) = rotation_matrix(q[body, :4]), p_J - q[body, 4:]
        across = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # ω × r = −r × ω
        J = np.block([[R_J.T @ R, np.zeros((3, 3))], [R_J.T @ across @ R, R_J.T]])
        rows.append(sign * inverse @ J)
    return rows[0], rows[1]


def own_efforts(joint: Joint, values: dict[str, float], q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Spring, damper and friction of a joint, (nv,); see ``forces.joint``."""
    n = joint.resolved(values)
    effort = -n.damping * v - n.friction * np.tanh(v / n.friction_speed)
    if joint.kind == "spherical":
        phi = log_quaternion(q)
        return effort - right_jacobian_inverse(-phi) @ (n.stiffness * (phi - n.rest))
    return effort if joint.kind == "free" else effort - n.stiffness * (q - n.rest)


def _add_elements(
    model: AbsoluteModel, R: np.ndarray, q: np.ndarray, v: np.ndarray, t: float, joints: list[Joint],
    first_q: np.ndarray, first_v: np.ndarray, joint_q: np.ndarray, joint_v: np.ndarray, loads: np.ndarray,
    efforts: np.ndarray,
) -> None:  # fmt: skip
    place = {joint.name: i for i, joint in enumerate(joints)}
    tables: ForceTables = force_tables(
        model.system,
        lambda body: (model.body_index[body], np.eye(3), np.zeros(3)),
        lambda joint: (int(first_q[place[joint]]), int(first_v[place[joint]])),
    )
    poses = np.concatenate([R.reshape(-1, 9), q[:, 4:]], axis=1)
    twists = np.concatenate([np.einsum("nij,nj->ni", R, v[:, :3]), v[:, 3:]], axis=1)
    failed = element_loads(tables, t, poses, twists, joint_q, joint_v, loads, efforts)
    if failed >= 0:
        element: Any = list(model.system.forces.values())[failed]
        raise failure(element, t, element.callbacks())


def _effort(
    model: AbsoluteModel, joint: Joint, R: np.ndarray, q: np.ndarray, H: np.ndarray, effort: np.ndarray
) -> _OnJoint:
    along = H.copy()
    if joint.kind == "helical":
        along[3:] = 0.0
    a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
    frames = joint.frames(model.system.values)
    R_J, p_J = R[b] @ frames.R_BJ, q[b, 4:] + R[b] @ frames.p_BJ
    wrench = along @ effort
    n, f = R_J @ wrench[:3], R_J @ wrench[3:]
    on_a = -np.concatenate([n + np.cross(p_J - q[a, 4:], f), f])
    return a, b, on_a, np.concatenate([n + np.cross(p_J - q[b, 4:], f), f])

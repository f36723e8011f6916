"""What acts on bodies in absolute coordinates: efforts in joints and force elements, with their stiffness and damping.

An effort τ in a joint is the wrench Σ τ_j ĥ_j on the child in its joint frame, and its opposite on the parent; ĥ_j is
the column of H taken as a wrench (a helical joint's effort is a couple about its axis). Its coordinate moves as

    q̇_j = g_j · (V_b − V_a),   g_j = h_j/(h_j · h_j)

An element between two frames is a wrench on each. For the iteration matrix its derivative is that of the wrench on B by
the motion of B against A at the point of B, K (6 × 6) symmetrised, with G (6 × 12) that motion for those of the bodies:

    β h² K + γ h D  →  Gᵀ (β h² K + γ h D) G

in closed form for springs, dampers, bushings and contacts, by differences for tables and users' functions.

States of forces go with HHT's steps by the BDF of order 2, ω = h/h₋ beside the step before (implicit Euler's
where there is none, or ω > 2),

    z⁺ = z + (ω² (z − z₋) + h (1 + ω) ż⁺)/(1 + 2ω),   ż⁺ = f(t⁺, q⁺, v⁺, z⁺)

which each force solves for itself wherever its effort is asked for, so that its stiffness knows of it. A lag or bristle far
stiffer than the step is at once where it tends to.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.model import AbsoluteModel
from nexdyn.absolute.motion_tables import MotionTables, centres
from nexdyn.forces import kinds as force_kinds
from nexdyn.forces import plane_contact, states
from nexdyn.forces.joint import friction_effort, spherical_spring, spring_damper
from nexdyn.forces.point_spring import length_and_direction
from nexdyn.forces.tables import (
    BODY_A,
    BODY_B,
    COORDINATE,
    FIRST,
    FREEDOM,
    KIND,
    NO_FREEDOM,
    STATE,
    STATES,
    force_tables,
    frames_a,
    frames_b,
)
from nexdyn.forces.verbs import force_element, freedom_element
from nexdyn.integrate.problem import FORCE_FAILED, OK
from nexdyn.joints import kinds
from nexdyn.joints.helical import Helical
from nexdyn.joints.verbs import motion_columns
from nexdyn.kernel import formula, kernel
from nexdyn.linalg.plan import locate, lower_places
from nexdyn.model.joint import Joint
from nexdyn.model.parameters import number
from nexdyn.model.system import System
from nexdyn.spatial.algebra import (
    Force,
    Motion,
    Pose,
    Quat,
    T,
    Vec3,
    cross,
    exp_quaternion,
    normalized,
    rotation,
)
from nexdyn.spatial.table import MotionRows, PoseRows

POINT_SPRING, TORSION_SPRING, BUSHING, APPLIED = (
    force_kinds.POINT_SPRING, force_kinds.TORSION_SPRING, force_kinds.BUSHING, force_kinds.APPLIED,
)  # fmt: skip
PLANE_CONTACT = force_kinds.PLANE_CONTACT
REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL = (
    kinds.REVOLUTE, kinds.PRISMATIC, kinds.HELICAL, kinds.CYLINDRICAL,
)  # fmt: skip
UNIVERSAL, SPHERICAL, PLANAR, CARTESIAN, FREE = (
    kinds.UNIVERSAL, kinds.SPHERICAL, kinds.PLANAR, kinds.CARTESIAN, kinds.FREE,
)  # fmt: skip
JOINT_KIND, PAIR, FIRST_Q, FIRST_V, COUNT_V, CHILD, PARENT = range(7)
STIFFNESS, REST, DAMPING, FRICTION, FRICTION_SPEED = range(5)
TURN = 2.0 * math.pi
STATE_ITERATIONS, ROUNDED = 60, 1e-15
GROWTH = 2.0
"""Longest step, beside the one before, that the BDF of order 2 takes; it is stable below 1 + √2."""


class Acting(NamedTuple):
    """Forces and joints with efforts, and where their derivatives lie; with scratch.

    joints int64 (nj, 7): kind, pair, first coordinate, first freedom, freedoms, child, parent
    freedoms float64 (nv, 5): stiffness, rest, damping, friction, friction speed
    of_joint, of_force int64 (n, 6): places of the blocks (a, a), (b, b), (a, b) or −1, steps of the last (a, b), its
    place in the lower blocks
    """

    forces: Any
    joints: Any
    pitch: Any
    freedoms: Any
    of_joint: Any
    of_force: Any
    q: Any
    v: Any
    effort: Any
    slope: Any
    """(nv, 2): −∂effort/∂q, −∂effort/∂v."""
    H: Any
    G: Any
    K: Any
    KG: Any
    step: Any
    """(2,) h, h₋: the step at whose end states of forces are, and that before (0: none); h = 0: they are as they stand."""
    began: Any
    """(nz, 2) z and z₋: the states at the start of the step, and of that before."""


def moving_joints(model: AbsoluteModel) -> list[Joint]:
    """Joints that have coordinates."""
    return [joint for joint in model.system.joints.values() if joint.nv and joint.tree]


def acting_joints(model: AbsoluteModel) -> list[Joint]:
    """Joints in which something acts along their freedoms."""
    system = model.system
    forced = {force.joint_name for force in system.forces.values()}
    found = []
    for joint in moving_joints(model):
        own = joint.resolved(system.values)
        if joint.name in forced or own.stiffness.any() or own.damping.any() or own.friction.any():
            found.append(joint)
    return found


def stiff_pairs(model: AbsoluteModel) -> np.ndarray:
    """Pairs of bodies (n, 2) between which something acts."""
    pairs = [(model.body_index[j.parent.name], model.body_index[j.child.name]) for j in acting_joints(model)]
    for force in model.system.forces.values():
        bodies = [model.body_index[frame.body] for frame in force.frames(model.system)]
        if len(bodies) == 2:
            pairs.append((bodies[0], bodies[1]))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def acting(
    model: AbsoluteModel, tables: MotionTables, joints: list[Joint] | None = None, with_forces: bool = True
) -> Acting:
    """What acts on the bodies of `model`, whose system must outlive it.

    joints: those whose coordinates are looked at, in place of those in which something acts.
    """
    system = model.system
    joints = acting_joints(model) if joints is None else joints
    values, com = system.values, centres(model)
    first_q = np.cumsum([0, *(joint.nq for joint in joints)])
    first_v = np.cumsum([0, *(joint.nv for joint in joints)])
    place = {joint.name: i for i, joint in enumerate(joints)}
    forces = force_tables(
        system if with_forces else System(),
        lambda body: (model.body_index[body], np.eye(3), -com[model.body_index[body]]),
        lambda joint: (int(first_q[place[joint]]), int(first_v[place[joint]])),
    )
    pair_of_joint = {name: k for k, name in enumerate(system.joints)}
    table = np.zeros((len(joints), 7), dtype=np.int64)
    pitch, freedoms = np.zeros(len(joints)), np.zeros((first_v[-1], 5))
    freedoms[:, FRICTION_SPEED] = 1.0
    for i, joint in enumerate(joints):
        a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
        table[i] = type(joint).code, pair_of_joint[joint.name], first_q[i], first_v[i], joint.nv, b, a
        if isinstance(joint, Helical):
            pitch[i] = number(joint.pitch, values, f"pitch of {joint}")
        own, part = joint.resolved(values), slice(first_v[i], first_v[i + 1])
        freedoms[part, STIFFNESS], freedoms[part, DAMPING] = own.stiffness, own.damping
        freedoms[part, REST] = own.rest if np.size(own.rest) == joint.nv else 0.0
        freedoms[part, FRICTION], freedoms[part, FRICTION_SPEED] = own.friction, own.friction_speed
    return Acting(
        forces, table, pitch, freedoms,
        _places(tables, table[:, [PARENT, CHILD]]), _places(tables, forces.index[:, [BODY_A, BODY_B]]),
        np.zeros(max(1, first_q[-1])), np.zeros(max(1, first_v[-1])), np.zeros(max(1, first_v[-1])),
        np.zeros((max(1, first_v[-1]), 2)), np.zeros((6, 6)), np.zeros((6, 12)), np.zeros((6, 6)), np.zeros((6, 12)),
        np.zeros(2), np.zeros((len(forces.z), 2)),
    )  # fmt: skip


def start_coordinates(joints: list[Joint], acts: Acting, values: dict[str, float]) -> None:
    """The coordinates near which turns are counted at the start: those that the joints are given."""
    for i, joint in enumerate(joints):
        at = acts.joints[i, FIRST_Q]
        acts.q[at : at + joint.nq] = joint.resolved(values).q0 if joint.q0 is not None else 0.0


def _places(tables: MotionTables, pairs: np.ndarray) -> np.ndarray:
    out = np.full((len(pairs), 6), -1, dtype=np.int64)
    for k, (a, b) in enumerate(pairs.tolist()):
        out[k, 0] = tables.diagonal[a - 1] if a > 0 else -1
        out[k, 1] = tables.diagonal[b - 1] if b > 0 and b != a else -1
        if a > 0 and b > 0 and a != b:
            found = np.empty((1, 3), dtype=np.int64)
            locate(tables.plan, np.array([a - 1]), np.array([b - 1]), found)
            out[k, 2:5] = found[0]
            out[k, 5:] = lower_places(tables.plan, np.array([a - 1]), np.array([b - 1]), found[:, 0])
    return out


@kernel
def act(tables, s, t, gh, bh2, assemble, acts):  # type: ignore[no-untyped-def]
    """Add what acts to x, and its stiffness and damping to the blocks; returns a status."""
    for j in range(len(acts.joints)):
        joint_motion(tables, s, acts, j)
        own_efforts(acts, j)
    status = element_loads(s, t, gh, bh2, assemble, acts)
    for j in range(len(acts.joints)):
        apply_efforts(tables, s, acts, j, gh, bh2, assemble)
    return status


# --- joints -------------------------------------------------------------------------------------------------------


@formula
def near(angle, reference):  # type: ignore[no-untyped-def]
    return angle + TURN * round((reference - angle) / TURN)


@formula
def joint_frames(tables, s, acts, j):  # type: ignore[no-untyped-def]
    """Frames A and B of joint j in the world."""
    X = PoseRows(s.poses, 0)
    k, a, b = acts.joints[j, PAIR], acts.joints[j, PARENT], acts.joints[j, CHILD]
    X_aA, X_bB = PoseRows(tables.constraints.frames, 0)[k], PoseRows(tables.constraints.frames, 12)[k]
    return X[a] @ X_aA, X[b] @ X_bB


@kernel
def joint_motion(tables, s, acts, j):  # type: ignore[no-untyped-def]
    """q and v of joint j."""
    X_A, X_B = joint_frames(tables, s, acts, j)
    R, p = T(X_A.R) @ X_B.R, T(X_A.R) @ (X_B.p - X_A.p)
    kind, k, q = acts.joints[j, JOINT_KIND], acts.joints[j, FIRST_Q], acts.q
    if kind == REVOLUTE or kind == HELICAL:
        q[k] = near(math.atan2(R.yx - R.xy, R.xx + R.yy), q[k])
    elif kind == PRISMATIC:
        q[k] = p.z
    elif kind == CYLINDRICAL:
        q[k] = near(math.atan2(R.yx - R.xy, R.xx + R.yy), q[k])
        q[k + 1] = p.z
    elif kind == UNIVERSAL:
        q[k] = near(math.atan2(R.yx, R.xx), q[k])
        q[k + 1] = near(math.atan2(R.zy, R.zz), q[k + 1])
    elif kind == PLANAR:
        q[k], q[k + 1] = p.x, p.y
        q[k + 2] = near(math.atan2(R.yx - R.xy, R.xx + R.yy), q[k + 2])
    elif kind == CARTESIAN:
        q[k], q[k + 1], q[k + 2] = p.x, p.y, p.z
    elif kind == SPHERICAL or kind == FREE:
        x = quaternion_near(R, q, k)
        q[k], q[k + 1], q[k + 2], q[k + 3] = x.w, x.x, x.y, x.z
        if kind == FREE:
            q[k + 4], q[k + 5], q[k + 6] = p.x, p.y, p.z
    relative_velocity(s, acts, j, X_B)
    H = MotionRows(acts.H, 0)
    motion_columns(kind, acts.pitch[j], q, k, H, 0)
    first = acts.joints[j, FIRST_V]
    X_B_V = Motion(
        T(X_B.R) @ Vec3(acts.KG[0, 0], acts.KG[0, 1], acts.KG[0, 2]),
        T(X_B.R) @ Vec3(acts.KG[0, 3], acts.KG[0, 4], acts.KG[0, 5]),
    )
    for m in range(acts.joints[j, COUNT_V]):
        h = H[m]
        acts.v[first + m] = (h.w @ X_B_V.w + h.v @ X_B_V.v) / (h.w @ h.w + h.v @ h.v)


@formula
def quaternion_near(R, q, k):  # type: ignore[no-untyped-def]
    """The unit quaternion of R, of its two signs that nearer to q."""
    trace = R.xx + R.yy + R.zz
    if trace >= R.xx and trace >= R.yy and trace >= R.zz:
        x = Quat(1.0 + trace, R.zy - R.yz, R.xz - R.zx, R.yx - R.xy)
    elif R.xx >= R.yy and R.xx >= R.zz:
        x = Quat(R.zy - R.yz, 1.0 + 2.0 * R.xx - trace, R.xy + R.yx, R.xz + R.zx)
    elif R.yy >= R.zz:
        x = Quat(R.xz - R.zx, R.xy + R.yx, 1.0 + 2.0 * R.yy - trace, R.yz + R.zy)
    else:
        x = Quat(R.yx - R.xy, R.xz + R.zx, R.yz + R.zy, 1.0 + 2.0 * R.zz - trace)
    x = normalized(x)
    sign = -1.0 if x.w * q[k] + x.x * q[k + 1] + x.y * q[k + 2] + x.z * q[k + 3] < 0.0 else 1.0
    return sign * x


@formula
def relative_velocity(s, acts, j, X_B):  # type: ignore[no-untyped-def]
    """(ω_b − ω_a, velocity of the child's point against the parent) in world axes, into the scratch KG[0]."""
    V, X = MotionRows(s.twists, 0), PoseRows(s.poses, 0)
    a, b = acts.joints[j, PARENT], acts.joints[j, CHILD]
    w = V[b].w - V[a].w
    v = V[b].v + cross(V[b].w, X_B.p - X[b].p) - V[a].v - cross(V[a].w, X_B.p - X[a].p)
    acts.KG[0, 0], acts.KG[0, 1], acts.KG[0, 2] = w.x, w.y, w.z
    acts.KG[0, 3], acts.KG[0, 4], acts.KG[0, 5] = v.x, v.y, v.z


@kernel
def own_efforts(acts, j):  # type: ignore[no-untyped-def]
    """Spring, damper and friction of joint j, and their slopes."""
    f, q, v = acts.freedoms, acts.q, acts.v
    kind, k, first = acts.joints[j, JOINT_KIND], acts.joints[j, FIRST_Q], acts.joints[j, FIRST_V]
    for m in range(acts.joints[j, COUNT_V]):
        i = first + m
        acts.slope[i, 0], acts.slope[i, 1] = f[i, STIFFNESS], f[i, DAMPING]
        if kind == SPHERICAL or kind == FREE:
            acts.effort[i] = -(f[i, DAMPING] * v[i])
            acts.slope[i, 0] = f[i, STIFFNESS] if kind == SPHERICAL else 0.0
        else:
            acts.effort[i] = spring_damper(q[k + m], v[i], f[i, STIFFNESS], f[i, REST], f[i, DAMPING])
        if f[i, FRICTION] != 0.0:
            y = friction_effort(v[i], f[i, FRICTION], f[i, FRICTION_SPEED])
            acts.effort[i] += y
            # f/v_f (1 − tanh²)
            acts.slope[i, 1] += (f[i, FRICTION] - y * y / f[i, FRICTION]) / f[i, FRICTION_SPEED]
    if kind == SPHERICAL:
        K = Vec3(f[first, STIFFNESS], f[first + 1, STIFFNESS], f[first + 2, STIFFNESS])
        rest = Vec3(f[first, REST], f[first + 1, REST], f[first + 2, REST])
        torque = spherical_spring(Quat(q[k], q[k + 1], q[k + 2], q[k + 3]), K, rest)
        acts.effort[first] += torque.x
        acts.effort[first + 1] += torque.y
        acts.effort[first + 2] += torque.z


@kernel
def apply_efforts(tables, s, acts, j, gh, bh2, assemble):  # type: ignore[no-untyped-def]
    """The wrenches of the efforts of joint j, and their derivatives."""
    _, X_B = joint_frames(tables, s, acts, j)
    kind, first = acts.joints[j, JOINT_KIND], acts.joints[j, FIRST_V]
    a, b = acts.joints[j, PARENT], acts.joints[j, CHILD]
    H = MotionRows(acts.H, 0)
    motion_columns(kind, acts.pitch[j], acts.q, acts.joints[j, FIRST_Q], H, 0)
    n, f = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    count = acts.joints[j, COUNT_V]
    for m in range(count):
        y, h = acts.effort[first + m], H[m]
        n = n + y * h.w
        if kind != HELICAL:
            f = f + y * h.v
    add_wrench(s, a, b, X_B.p, Force(X_B.R @ n, X_B.R @ f))
    if not assemble:
        return
    relative_motion(s, acts.G, a, b, X_B.p)
    acts.K[:] = 0.0
    for m in range(count):
        h = H[m]
        c = (bh2 * acts.slope[first + m, 0] + gh * acts.slope[first + m, 1]) / (h.w @ h.w + h.v @ h.v)
        if c != 0.0:
            add_outer(acts.K, c, X_B.R @ h.w, X_B.R @ h.v)
    add_stiffness(s, acts, acts.of_joint[j])


# --- elements -----------------------------------------------------------------------------------------------------


@formula
def freedom_at_end(acts, e, t, q, v):  # type: ignore[no-untyped-def]
    """(status, effort) of force e in a joint, with its states at the end of the step."""
    tables, h, before = acts.forces, acts.step[0], acts.step[1]
    first, count = tables.index[e, STATE], tables.index[e, STATES]
    if count > 0 and h > 0.0:
        r = h / before if before > 0.0 and h < GROWTH * before else 0.0
        for m in range(first, first + count):
            # z⁺ = c + g ż⁺; what is held stays to the last digit
            c = acts.began[m, 0] + r * r / (1.0 + 2.0 * r) * (acts.began[m, 0] - acts.began[m, 1])
            solve_state(tables, e, m, t, q, v, c, h * (1.0 + r) / (1.0 + 2.0 * r))
    return freedom_element(tables, e, t, q, v)


@formula
def state_residual(tables, e, m, t, q, v, c, g, x):  # type: ignore[no-untyped-def]
    """r(x) = x − c − g ż(x); z_m ← x."""
    tables.z[m] = x
    freedom_element(tables, e, t, q, v)
    return x - c - g * tables.rate[m]


@formula
def solve_state(tables, e, m, t, q, v, c, g):  # type: ignore[no-untyped-def]
    """z_m = c + g ż(z_m). No state makes itself grow, ∂ż/∂z ≤ 0: r rises by 1 or more, so that its zero lies between x and x − r."""
    a = tables.z[m]
    r_a = state_residual(tables, e, m, t, q, v, c, g, a)
    b = a - r_a
    r_b = state_residual(tables, e, m, t, q, v, c, g, b)
    for _ in range(STATE_ITERATIONS):
        if not (abs(r_b) > ROUNDED * (abs(b) + abs(c))):
            return
        x = b - r_b * (b - a) / (r_b - r_a)
        r = state_residual(tables, e, m, t, q, v, c, g, x)
        if r * r_b < 0.0:
            a, r_a = b, r_b
        else:
            r_a *= 0.5  # Illinois: neither end stays for ever
        b, r_b = x, r


@kernel
def states_begin(acts):  # type: ignore[no-untyped-def]
    """The states as they stand start a march."""
    acts.step[:] = 0.0
    for m in range(len(acts.began)):
        acts.began[m, 0] = acts.forces.z[m]


@kernel
def states_accepted(acts):  # type: ignore[no-untyped-def]
    """The end of a step becomes the start of the next."""
    acts.step[1] = acts.step[0]
    acts.step[0] = 0.0
    for m in range(len(acts.began)):
        acts.began[m, 1] = acts.began[m, 0]
        acts.began[m, 0] = acts.forces.z[m]


@formula
def states_recorded(acts, out, row):  # type: ignore[no-untyped-def]
    """The last numbers of a row of `out` ← z."""
    first = out.shape[1] - len(acts.began)
    for m in range(len(acts.began)):
        out[row, first + m] = acts.forces.z[m]


@kernel
def sample_here(tables, s, acts, t):  # type: ignore[no-untyped-def]
    """Take the samples that are due at t, the bodies where they are; how many there were."""
    for j in range(len(acts.joints)):
        joint_motion(tables, s, acts, j)
    return states.sample_forces(acts.forces, t, acts.q, acts.v, acts.forces.z, 0)


@kernel
def element_loads(s, t, gh, bh2, assemble, acts):  # type: ignore[no-untyped-def]
    """Wrenches of the force elements, efforts of those in joints; returns a status."""
    tables = acts.forces
    X_W, V = PoseRows(s.poses, 0), MotionRows(s.twists, 0)
    X_LA, X_LB = frames_a(tables), frames_b(tables)
    index = tables.index
    for e in range(len(index)):
        if index[e, FREEDOM] != NO_FREEDOM:
            i, k = index[e, FREEDOM], index[e, COORDINATE]
            status, effort = freedom_at_end(acts, e, t, acts.q[k], acts.v[i])
            acts.effort[i] += effort
            if assemble and status == OK:
                dq = 1e-7 * max(1.0, abs(acts.q[k]))
                _, more = freedom_at_end(acts, e, t, acts.q[k] + dq, acts.v[i])
                acts.slope[i, 0] -= (more - effort) / dq
                dv = 1e-7 * max(1.0, abs(acts.v[i]))
                _, more = freedom_at_end(acts, e, t, acts.q[k], acts.v[i] + dv)
                acts.slope[i, 1] -= (more - effort) / dv
                if index[e, STATES] > 0:
                    freedom_at_end(acts, e, t, acts.q[k], acts.v[i])  # z and ż as they are here
        else:
            a, b = index[e, BODY_A], index[e, BODY_B]
            X_A, X_B = X_W[a] @ X_LA[e], X_W[b] @ X_LB[e]
            V_A = Motion(V[a].w, V[a].v + cross(V[a].w, X_A.p - X_W[a].p))
            V_B = Motion(V[b].w, V[b].v + cross(V[b].w, X_B.p - X_W[b].p))
            status, F_A, F_B = force_element(tables, e, t, X_A, V_A, X_B, V_B)
            add_on_body(s, a, X_A.p, F_A)
            add_on_body(s, b, X_B.p, F_B)
            if assemble and status == OK:
                element_stiffness(s, acts, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B)
        if status != OK:
            return FORCE_FAILED + e
    return OK


@formula
def element_stiffness(s, acts, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B):  # type: ignore[no-untyped-def]
    """Derivative of element e into the blocks."""
    tables, K = acts.forces, acts.K
    kind, k, data = tables.index[e, KIND], tables.index[e, FIRST], tables.data
    if kind == APPLIED:
        return
    a, b = tables.index[e, BODY_A], tables.index[e, BODY_B]
    K[:] = 0.0
    o = Vec3(0.0, 0.0, 0.0)
    if kind == POINT_SPRING:
        # k u uᵀ + T/L (1 − u uᵀ), d u uᵀ; the second part where it does not make the matrix indefinite
        L, u = length_and_direction(X_B.p - X_A.p)
        tension = data[k] * (L - data[k + 2]) + data[k + 1] * (u @ (V_B.v - V_A.v)) + data[k + 3]
        across = bh2 * max(0.0, tension) / L if L > 0.0 else bh2 * data[k]
        for c in range(3):
            K[3 + c, 3 + c] = across
        add_outer(K, bh2 * data[k] + gh * data[k + 1] - across, o, u)
    elif kind == TORSION_SPRING:
        R = X_A.R
        add_outer(K, bh2 * data[k] + gh * data[k + 1], Vec3(R.xz, R.yz, R.zz), o)
    elif kind == BUSHING:
        for i in range(6):
            for j in range(6):
                for m in range(6):
                    for n in range(6):
                        c = bh2 * data[k + 6 * m + n] + gh * data[k + 36 + 6 * m + n]
                        if c != 0.0:
                            K[i, j] += c * axis_entry(X_A.R, i, m) * axis_entry(X_A.R, j, n)
    elif kind == PLANE_CONTACT:
        contact_stiffness(data, k, K, gh, bh2, X_A, V_A, X_B, V_B, 1.0)
        if data[k + 6] != 0.0:
            contact_stiffness(data, k, K, gh, bh2, X_A, V_A, X_B, V_B, -1.0)
    else:
        numerical_stiffness(tables, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B)
    relative_motion(s, acts.G, a, b, X_B.p)
    add_stiffness(s, acts, acts.of_force[e])


@formula
def contact_stiffness(data, k, K, gh, bh2, X_A, V_A, X_B, V_B, side):  # type: ignore[no-untyped-def]
    """K += β h² ∂f_n/∂δ + γ h ∂f_n/∂δ̇ along the normal, and friction by its secant: the tangent, small where it slips,
    would throw Newton's iteration from one direction of slip to the other."""
    c = plane_contact.end(data, k, X_A, side)
    t = plane_contact.touch(data, k, c, X_A, V_A, X_B, V_B)
    if t.f_n <= 0.0:
        return
    R, r = X_B.R, t.p - X_B.p
    n = Vec3(R.xz, R.yz, R.zz)
    pressed = data[k] * t.depth ** data[k + 1]
    normal = bh2 * data[k + 1] * t.f_n / t.depth + gh * data[k + 2] * pressed
    f_t = t.f - t.f_n * n
    # s = μ f_n / √(v² + v_f²), and |f_t| = s v:  s = √((μ f_n)² − |f_t|²) / v_f
    most = data[k + 3] * t.f_n
    across = gh * math.sqrt(max(0.0, most * most - f_t @ f_t)) / data[k + 4]
    add_outer(K, normal, cross(r, n), n)
    for i in range(2):
        u = Vec3(R.xx, R.yx, R.zx) if i == 0 else Vec3(R.xy, R.yy, R.zy)
        add_outer(K, across, cross(r, u), u)


@formula
def axis_entry(R, i, m):  # type: ignore[no-untyped-def]
    """Entry (i, m) of diag(R, R)."""
    if (i < 3) != (m < 3):
        return 0.0
    r, c = i % 3, m % 3
    if r == 0:
        return R.xx if c == 0 else (R.xy if c == 1 else R.xz)
    if r == 1:
        return R.yx if c == 0 else (R.yy if c == 1 else R.yz)
    return R.zx if c == 0 else (R.zy if c == 1 else R.zz)


@formula
def axis(c):  # type: ignore[no-untyped-def]
    return Vec3(1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)


@kernel
def numerical_stiffness(tables, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B):  # type: ignore[no-untyped-def]
    """K ← β h² K + γ h D of element e by differences, symmetrised."""
    step = 1e-7
    for c in range(6):
        x = axis(c % 3)
        if c < 3:
            moved = Pose(rotation(exp_quaternion(step * x)) @ X_B.R, X_B.p)
            faster = Motion(V_B.w + step * x, V_B.v)
        else:
            moved = Pose(X_B.R, X_B.p + step * x)
            faster = Motion(V_B.w, V_B.v + step * x)
        _, _, F = force_element(tables, e, t, X_A, V_A, moved, V_B)
        _, _, F_ = force_element(tables, e, t, X_A, V_A, X_B, faster)
        n = (-bh2 / step) * (F.n - F_B.n) + (-gh / step) * (F_.n - F_B.n)
        f = (-bh2 / step) * (F.f - F_B.f) + (-gh / step) * (F_.f - F_B.f)
        K[0, c], K[1, c], K[2, c] = n.x, n.y, n.z
        K[3, c], K[4, c], K[5, c] = f.x, f.y, f.z
    for i in range(6):
        for j in range(i):
            K[i, j] = K[j, i] = 0.5 * (K[i, j] + K[j, i])


# --- places -------------------------------------------------------------------------------------------------------


@formula
def add_on_body(s, i, p, F):  # type: ignore[no-untyped-def]
    """The wrench F at the world point p on body i: moment about its centre of mass in its axes, force in the world."""
    if i == 0:
        return
    X = PoseRows(s.poses, 0)[i]
    n = T(X.R) @ (F.n + cross(p - X.p, F.f))
    x = s.x
    x[i - 1, 0] += n.x
    x[i - 1, 1] += n.y
    x[i - 1, 2] += n.z
    x[i - 1, 3] += F.f.x
    x[i - 1, 4] += F.f.y
    x[i - 1, 5] += F.f.z


@formula
def add_wrench(s, a, b, p, F):  # type: ignore[no-untyped-def]
    """F at the world point p on body b and −F on body a."""
    add_on_body(s, b, p, F)
    add_on_body(s, a, p, -F)


@formula
def add_outer(K, c, w, v):  # type: ignore[no-untyped-def]
    """K ← K + c g gᵀ, g = (w, v)."""
    g = (w.x, w.y, w.z, v.x, v.y, v.z)
    for i in range(6):
        for j in range(6):
            K[i, j] += c * g[i] * g[j]


@formula
def relative_motion(s, G, a, b, p):  # type: ignore[no-untyped-def]
    """G (6, 12): motion (ω, v), world axes, of b against a at the point p, for those of a and b in their coordinates."""
    X = PoseRows(s.poses, 0)
    G[:] = 0.0
    for side in range(2):
        i = a if side == 0 else b
        if i == 0:
            continue
        sign, o = (-1.0, 0) if side == 0 else (1.0, 6)
        R, r = X[i].R, p - X[i].p
        for c in range(3):
            w = Vec3(R.xx, R.yx, R.zx) if c == 0 else (Vec3(R.xy, R.yy, R.zy) if c == 1 else Vec3(R.xz, R.yz, R.zz))
            v = cross(w, r)
            G[0, o + c], G[1, o + c], G[2, o + c] = sign * w.x, sign * w.y, sign * w.z
            G[3, o + c], G[4, o + c], G[5, o + c] = sign * v.x, sign * v.y, sign * v.z
            G[3 + c, o + 3 + c] = sign


@kernel
def add_stiffness(s, acts, places):  # type: ignore[no-untyped-def]
    """Gᵀ K G into the blocks at `places`."""
    G, K, KG = acts.G, acts.K, acts.KG
    for i in range(6):
        for j in range(12):
            total = 0.0
            for m in range(6):
                total += K[i, m] * G[m, j]
            KG[i, j] = total
    for part in range(3):
        o = places[part]
        if o < 0:
            continue
        first, second = (6, 6) if part == 1 else (0, 0 if part == 0 else 6)
        step_i, step_j = (places[3], places[4]) if part == 2 else (8, 1)
        for i in range(6):
            for j in range(6):
                total = 0.0
                for m in range(6):
                    total += G[m, first + i] * KG[m, second + j]
                s.upper[o + i * step_i + j * step_j] += total
                if part == 2:  # K is symmetric
                    s.lower[places[5] + i * step_i + j * step_j] += total

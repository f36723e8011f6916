"""What acts on bodies in absolute coordinates: gravity and gyroscopic terms, force elements, and efforts in joints.

Q of a body = (torque about its origin in its axes, force in the world)
an effort τ in a joint is the wrench Σ τ_j ĥ_j on the child in its joint frame, and its opposite on the parent;
ĥ_j is the column of H taken as a wrench (a helical joint's effort is a couple about its axis)

Angles of joints and of torsion springs are counted, whole turns too: at first near those of the model's start, then near the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nexdyn.absolute.model.armature import RotorsOfJoints, rotor_rows
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.forces.tables import NO_DOF, ForceEntries, ForceTables, force_tables, frames_a, frames_b
from nexdyn.forces.torsion_spring import TURNS, Twist
from nexdyn.forces.verbs import force_element, freedom_element
from nexdyn.joints.kinds import REGISTERED
from nexdyn.kernel import kernel
from nexdyn.model.callbacks import failure
from nexdyn.model.joint import Joint
from nexdyn.spatial.algebra import Force, Motion, cross
from nexdyn.spatial.rotations import cross_product, log_quaternion, right_jacobian_inverse, rotation_matrix
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows
from nexdyn.spatial.turns import TURN
from nexdyn.tree.core.entries import joint_columns
from nexdyn.tree.described import coordinates_between


@kernel
def element_loads(tables, t, poses, twists, q, v, loads, efforts):
    """Add wrenches (moment about the body's origin, force; world axes) to loads (nb + 1, 6) and efforts (degrees of freedom,).

    poses (nb + 1, 12), twists (nb + 1, 6) of the bodies in world axes; returns the element that failed, or −1."""
    X_W, V, F = PoseRows(poses, 0), MotionRows(twists, 0), ForceRows(loads, 0)
    X_LA, X_LB = frames_a(tables), frames_b(tables)
    entries = ForceEntries(tables.index)
    for e in range(len(entries)):
        force = entries[e]
        if force.dof != NO_DOF:
            j = force.dof
            status, effort = freedom_element(tables, e, t, q[force.coordinate], v[j])
            efforts[j] += effort
        else:
            a, b = force.body_a, force.body_b
            s_A, s_B = X_W[a].R @ X_LA[e].p, X_W[b].R @ X_LB[e].p
            V_A = Motion(V[a].w, V[a].v + cross(V[a].w, s_A))
            V_B = Motion(V[b].w, V[b].v + cross(V[b].w, s_B))
            status, F_A, F_B = force_element(tables, e, t, X_W[a] @ X_LA[e], V_A, X_W[b] @ X_LB[e], V_B)
            F[a] = F[a] + Force(F_A.n + cross(s_A, F_A.f), F_A.f)
            F[b] = F[b] + Force(F_B.n + cross(s_B, F_B.f), F_B.f)
        if status != 0:
            return e
    return -1


class Loads:
    """What acts on the bodies of a model, looked up once: calls give τ − h (6 nb,) at a state.

    states (nz,): of the forces, by default as described; `rate` (nz,) are theirs of the last call. near: the angles (nk,) of the
    last call, see `AbsoluteModel.near`; those of the next are less than half a turn away."""

    def __init__(self, model: AbsoluteModel) -> None:
        self.model, system = model, model.system
        forced = {force.joint_name for force in system.forces.values()}
        found = []
        for joint in system.joints.values():
            if joint.nv:
                own = joint.resolved(system.values)
                if joint.name in forced or own.damping.any() or own.stiffness.any() or own.friction.any():
                    found.append(joint)
        joints = self.joints = found
        self.first_q = np.cumsum([0, *(joint.nq for joint in joints)])
        self.first_v = np.cumsum([0, *(joint.nv for joint in joints)])
        self.near: np.ndarray | None = None
        place_of = {of: k for k, of in enumerate(model.followed)}
        angles = [
            (i, place_of[joint.name, equation])
            for joint, first in zip(joints, self.first_q.tolist(), strict=False)
            for i, equation in enumerate(joint.coordinates, start=first)
            if equation in ("Angle", "Tilt") and not joint.advances and joint.nq == joint.nv
        ]
        self._angles = np.array(angles, dtype=int).reshape(-1, 2)
        """Coordinates that are angles, and their places in `near`."""
        self._hinges = _Alike(model, joints, "revolute", self.first_q, self.first_v)
        self._slides = _Alike(model, joints, "prismatic", self.first_q, self.first_v)
        self._others = [i for i, joint in enumerate(joints) if joint.kind not in ("revolute", "prismatic")]
        self.tables: ForceTables | None = None
        if system.forces:
            place = {joint.name: i for i, joint in enumerate(joints)}
            self.tables = force_tables(
                system,
                lambda body: (model.body_index[body], np.eye(3), np.zeros(3)),
                lambda joint: (int(self.first_q[place[joint]]), int(self.first_v[place[joint]])),
            )
        self.described = np.zeros(0) if self.tables is None else self.tables.z.copy()
        first = [] if self.tables is None else ForceEntries(self.tables.index).first.tolist()
        wound = [
            (k + Twist.fields["reference"].first, place_of[force.name, TURNS])
            for k, force in zip(first, system.forces.values(), strict=False)
            if (force.name, TURNS) in place_of
        ]
        self._wound = np.array(wound, dtype=int).reshape(-1, 2)
        """Data of torsion springs, and their places in `near`."""

    @property
    def rate(self) -> np.ndarray:
        """ż (nz,) at the last call."""
        return np.zeros(0) if self.tables is None else self.tables.rate

    def bound(self, q: np.ndarray, v: np.ndarray, t: float, states: np.ndarray) -> np.ndarray:
        """What the states (nz,) of friction that sticks in contacts may be at a state (``forces.sticking``)."""
        if self.tables is None:
            return np.zeros(0)
        self(q, v, t, states)
        return self.tables.bound.copy()

    def __call__(self, q: np.ndarray, v: np.ndarray, t: float = 0.0, states: np.ndarray | None = None) -> np.ndarray:
        Q = self.model.applied(q, v)
        if not self.joints and self.tables is None:
            return Q
        loads, of_joints = self.wrenches(q, v, t, states)
        for a, b, wrench_a, wrench_b in of_joints.values():
            loads[a] += wrench_a
            loads[b] += wrench_b
        R = rotation_matrix(q[1:, :4])
        return Q + np.concatenate([np.einsum("nji,nj->ni", R, loads[1:, :3]), loads[1:, 3:]], axis=1).reshape(-1)

    def wrenches(
        self, q: np.ndarray, v: np.ndarray, t: float, states: np.ndarray | None = None, apart: str | None = None
    ) -> tuple[np.ndarray, dict[str, _OnJoint]]:
        """Wrenches (nb + 1, 6) of all that acts on bodies (moment about the origin, force; world axes), without those by joint:
        (body a, body b, wrench on a, wrench on b) of joints of several degrees of freedom, and of the joint `apart`."""
        model, joints, first_q, first_v = self.model, self.joints, self.first_q, self.first_v
        R = rotation_matrix(q[:, :4])
        joint_q, joint_v = np.zeros(first_q[-1]), np.zeros(first_v[-1])
        efforts, loads = np.zeros(first_v[-1]), np.zeros((len(q), 6))
        alike = [same.at(R, q, v) for same in (self._hinges, self._slides)]
        for same, (own_q, own_v, _, _) in zip((self._hinges, self._slides), alike, strict=True):
            joint_q[same.q], joint_v[same.v] = own_q, own_v
        columns = {}
        for i in self._others:
            part = slice(first_v[i], first_v[i + 1])
            joint_q[first_q[i] : first_q[i + 1]], joint_v[part], columns[i] = joint_state(model, joints[i], q, v)
        self._count(joint_q, q, t)
        for same in (self._hinges, self._slides):
            efforts[same.v] = same.own_efforts(joint_q[same.q], joint_v[same.v])
        for i in self._others:
            part = slice(first_v[i], first_v[i + 1])
            efforts[part] = own_efforts(
                joints[i], model.system.values, joint_q[first_q[i] : first_q[i + 1]], joint_v[part]
            )
        if self.tables is not None:
            self.tables.z[:] = self.described if states is None else states
            poses = np.concatenate([R.reshape(-1, 9), q[:, 4:]], axis=1)
            self.settle(joint_q, poses)
            twists = np.concatenate([np.einsum("nij,nj->ni", R, v[:, :3]), v[:, 3:]], axis=1)
            failed = element_loads(self.tables, t, poses, twists, joint_q, joint_v, loads, efforts)
            if failed >= 0:
                element: Any = list(model.system.forces.values())[failed]
                raise failure(element, t, element.callbacks())
        for same, (_, _, axis, point) in zip((self._hinges, self._slides), alike, strict=True):
            effort = efforts[same.v]
            for k, i in enumerate(same.number):
                if joints[i].name == apart:
                    columns[i], effort[k] = same.column, 0.0
            same.act(loads, q, axis, point, effort)
        return loads, {
            joints[i].name: _effort(model, joints[i], R, q, H, efforts[first_v[i] : first_v[i + 1]])
            for i, H in columns.items()
        }

    def _count(self, joint_q: np.ndarray, q: np.ndarray, t: float) -> None:
        """Add whole turns to the angles among the coordinates `joint_q` of `joints` at the pose q, and tell them to torsion springs."""
        if not len(self._angles) and not len(self._wound):
            return
        counted = self.model.counted(q, self.model.near(q, t) if self.near is None else self.near)
        if np.isfinite(counted).all():
            self.near = counted
        i, k = self._angles.T
        joint_q[i] += TURN * np.round((counted[k] - joint_q[i]) / TURN)
        if self.tables is not None:
            self.tables.data[self._wound[:, 0]] = counted[self._wound[:, 1]]

    def coordinates(self, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities of `joints`, in which something acts."""
        R = rotation_matrix(q[:, :4])
        joint_q, joint_v = np.zeros(self.first_q[-1]), np.zeros(self.first_v[-1])
        for same in (self._hinges, self._slides):
            joint_q[same.q], joint_v[same.v], _, _ = same.at(R, q, v)
        for i in self._others:
            own_q, own_v = slice(*self.first_q[i : i + 2]), slice(*self.first_v[i : i + 2])
            joint_q[own_q], joint_v[own_v], _ = joint_state(self.model, self.joints[i], q, v)
        self._count(joint_q, q, t)
        return joint_q, joint_v

    def along(self, q: np.ndarray, v: np.ndarray, turns: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities (N, …) of `joints` along a motion q (N, nb + 1, 7), v (N, nb + 1, 6); angles are near `turns`
        (N, nk), by default they go on."""
        before, found = self.near, []
        for k in range(len(q)):
            if turns is not None:
                self.near = turns[k].copy()
            found.append(self.coordinates(q[k], v[k]))
        self.near = before
        return np.array([each[0] for each in found]), np.array([each[1] for each in found])

    def settle(self, joint_q: np.ndarray, poses: np.ndarray) -> None:
        """States that follow from where the joints and the bodies (nb + 1, 12) are; none here."""


class SlippingLoads(Loads):
    """Loads of which some contacts slide. Their springs are at their bounds, whatever these are, and turn to the sliding velocity:

        f_t = −μ(|v|) f_n F/|F|,   F = √σ b y/|y| + d v,   ẏ = κ (b₀ v/|v| − y),   κ = s √σ |v|/b      (``forces.sticking``)

    b: the bound, b₀ that at the reference; v: the sliding velocity, of areas with turning about the normal. So y lies along v after a way
    of b/√σ, and then f_t = −μ f_n v/|v|. Its length says nothing, and settles as its direction does.

    slips: where in z the springs are. q, v, t, states: the reference; `settled` are these states with springs along v.
    """

    def __init__(
        self, model: AbsoluteModel, slips: Sequence[slice], q: np.ndarray, v: np.ndarray, t: float, states: np.ndarray
    ) -> None:
        super().__init__(model)
        self.slips = tuple(slips)
        self.settled = states.copy()
        if self.slips:
            along, bound = self._along(q, v, t, states)
            self.bounds = [float(bound[part.start]) for part in self.slips]
            for part, most in zip(self.slips, self.bounds, strict=True):
                self.settled[part] = most * along[part]

    def _along(self, q: np.ndarray, v: np.ndarray, t: float, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The directions of the sliding velocities, in the places of the springs, and the bounds (nz,)."""
        assert self.tables is not None
        states = states.copy()
        for part in self.slips:
            states[part] = 0.0
        super().__call__(q, v, t, states)
        along = self.rate.copy()  # of a spring that holds nothing that of the sliding velocity
        for part in self.slips:
            along[part] /= max(float(np.linalg.norm(along[part])), LEAST)
        return along, self.tables.bound.copy()

    def __call__(self, q: np.ndarray, v: np.ndarray, t: float = 0.0, states: np.ndarray | None = None) -> np.ndarray:
        if not self.slips:
            return super().__call__(q, v, t, states)
        given = self.settled if states is None else states
        along, bound = self._along(q, v, t, given)
        held = given.copy()
        for part in self.slips:
            held[part] *= PAST_BOUND * bound[part.start] / max(float(np.linalg.norm(given[part])), LEAST)
        Q = super().__call__(q, v, t, held)
        for part, most in zip(self.slips, self.bounds, strict=True):
            turning = float(np.linalg.norm(self.rate[part])) / max(float(bound[part.start]), LEAST)
            self.rate[part] = turning * (most * along[part] - given[part])
        return Q


PAST_BOUND, LEAST = 1.0 + 1e-9, 1e-300
"""How far springs that slide are stretched, in parts of their bounds; the least number that is divided by."""


class _Alike:
    """Hinges, or slides, all at once."""

    def __init__(
        self, model: AbsoluteModel, joints: list[Joint], kind: str, first_q: np.ndarray, first_v: np.ndarray
    ) -> None:
        values = model.system.values
        self.turns = kind == "revolute"
        self.column = np.eye(6)[:, [2 if self.turns else 5]]
        self.number = [i for i, joint in enumerate(joints) if joint.kind == kind]
        chosen = [joints[i] for i in self.number]
        self.q, self.v = first_q[self.number].astype(int), first_v[self.number].astype(int)
        self.a = np.array([model.body_index[joint.parent.name] for joint in chosen], dtype=int)
        self.b = np.array([model.body_index[joint.child.name] for joint in chosen], dtype=int)
        frames = [joint.frames(values) for joint in chosen]
        self.R_A = np.array([frame.R_AJ for frame in frames]).reshape(-1, 3, 3)
        self.p_A = np.array([frame.p_AJ for frame in frames]).reshape(-1, 3)
        self.R_B = np.array([frame.R_BJ for frame in frames]).reshape(-1, 3, 3)
        self.p_B = np.array([frame.p_BJ for frame in frames]).reshape(-1, 3)
        own = [joint.resolved(values) for joint in chosen]
        self.numbers = np.array(
            [[n.stiffness[0], n.rest[0], n.damping[0], n.friction[0], n.friction_speed[0]] for n in own], dtype=float
        ).reshape(-1, 5)

    def at(self, R: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, velocities, axes (n, 3) and points (n, 3) in the world."""
        a, b = self.a, self.b
        R_A, R_B = R[a] @ self.R_A, R[b] @ self.R_B
        point = q[b, 4:] + np.einsum("nij,nj->ni", R[b], self.p_B)
        axis = R_B[..., 2]
        w_a, w_b = np.einsum("nij,nj->ni", R[a], v[a, :3]), np.einsum("nij,nj->ni", R[b], v[b, :3])
        if self.turns:
            turn = np.einsum("nji,njk->nik", R_A, R_B)
            return (
                np.arctan2(turn[:, 1, 0] - turn[:, 0, 1], turn[:, 0, 0] + turn[:, 1, 1]),
                np.einsum("ni,ni->n", axis, w_b - w_a), axis, point,
            )  # fmt: skip
        along = point - q[a, 4:] - np.einsum("nij,nj->ni", R[a], self.p_A)
        u_b = v[b, 3:] + cross_product(w_b, point - q[b, 4:])
        u_a = v[a, 3:] + cross_product(w_a, point - q[a, 4:])
        return np.einsum("ni,ni->n", R_A[..., 2], along), np.einsum("ni,ni->n", axis, u_b - u_a), axis, point

    def own_efforts(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Springs, dampers and friction; see ``forces.joint``."""
        k, rest, d, f, speed = self.numbers.T
        return -k * (q - rest) - d * v - f * np.tanh(v / speed)

    def act(self, loads: np.ndarray, q: np.ndarray, axis: np.ndarray, point: np.ndarray, effort: np.ndarray) -> None:
        """Add the efforts to loads (nb + 1, 6) of the bodies."""
        along = effort[:, None] * axis
        for body, sign in ((self.b, 1.0), (self.a, -1.0)):
            moment = along if self.turns else cross_product(point - q[body, 4:], along)
            np.add.at(
                loads, body, sign * np.concatenate([moment, np.zeros_like(along) if self.turns else along], axis=1)
            )


def generalized_forces(
    model: AbsoluteModel, q: np.ndarray, v: np.ndarray, t: float = 0.0, states: np.ndarray | None = None
) -> np.ndarray:
    """τ − h (6 nb,) of all that acts at the state, under states (nz,) of forces. SolveError where a force fails."""
    return Loads(model)(q, v, t, states)


def effort_on_child(
    model: AbsoluteModel, q: np.ndarray, v: np.ndarray, joint: str, t: float = 0.0, states: np.ndarray | None = None
) -> np.ndarray:
    """(torque in its axes, force in the world) (6,) of a joint's springs, dampers, friction and motors on its child."""
    loads = Loads(model)
    if joint not in {acting.name for acting in loads.joints}:
        return np.zeros(6)
    _, b, _, wrench = loads.wrenches(q, v, t, states, apart=joint)[1][joint]
    return np.concatenate([rotation_matrix(q[b, :4]).T @ wrench[:3], wrench[3:]])


def rotors_on_child(model: AbsoluteModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, joint: str) -> np.ndarray:
    """−I_a q̈ Bᵀ: (torque in its axes, force in the world) (6,) of a joint's armature on its child; B as in ``absolute.model.armature``."""
    rotors, index = model.rotors, RotorsOfJoints(model.rotors.joints)
    own = index.pair == list(model.system.joints).index(joint)
    if not own.any():
        return np.zeros(6)
    B, drift = rotor_rows(rotors, model.tables.frames, q, v)
    rate = np.einsum("nsi,nsi->n", B, a[np.stack([index.parent, index.child], axis=1)]) + drift
    return np.asarray(-(rotors.inertia[own, 0] * rate[own]) @ B[own, 1])


_OnJoint = tuple[int, int, np.ndarray, np.ndarray]


def with_turns(joint: Joint, own: np.ndarray, turned: Mapping[tuple[str, str], float]) -> np.ndarray:
    """Coordinates (nq,) of a joint, its angles with the whole turns of those that are counted, by joint and coordinate."""
    out = own.copy()
    if not joint.advances and joint.nq == joint.nv:
        for m, equation in enumerate(joint.coordinates):
            if equation in ("Angle", "Tilt"):
                out[m] += TURN * np.round((turned[joint.name, equation] - out[m]) / TURN)
    return out


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
    joint_columns(type(joint).code, joint.own_number(values), own, H, W)
    # velocity of the child's joint frame against the parent, in the child's joint frame
    R_J, p_J = R_b @ frames.R_BJ, q[b, 4:] + R_b @ frames.p_BJ
    w_a, w_b = R_a @ v[a, :3], R_b @ v[b, :3]
    u_b = v[b, 3:] + cross_product(w_b, p_J - q[b, 4:])
    u_a = v[a, 3:] + cross_product(w_a, p_J - q[a, 4:])
    relative = np.concatenate([R_J.T @ (w_b - w_a), R_J.T @ (u_b - u_a)])
    return own, rates_of(H.T, type(joint).code) @ relative, H.T


def rates_of(H: np.ndarray, code: int) -> np.ndarray:
    """H⁺ (nv, 6) of the columns (6, nv) of a joint, at right angles but of registered ones: of one that turns its turn
    alone, also of a screw."""
    if code == REGISTERED:
        return np.asarray(np.linalg.pinv(H))
    along = np.array(H, dtype=float)
    along[3:, np.any(along[:3], axis=0)] = 0.0
    return np.asarray((along / (along * along).sum(axis=0)).T)


def velocity_rows(model: AbsoluteModel, joint: Joint, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The velocities (nv,) of a joint for those of its parent and of its child, each (nv, 6): H⁺ of the child's joint frame
    against the parent, v_J = v + (R ω) × r."""
    _, _, H = joint_state(model, joint, q, np.zeros((len(q), 6)))
    a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
    frames, R_b = joint.frames(model.system.values), rotation_matrix(q[b, :4])
    R_J, p_J = R_b @ frames.R_BJ, q[b, 4:] + R_b @ frames.p_BJ
    inverse = rates_of(H, type(joint).code)
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


def _effort(
    model: AbsoluteModel, joint: Joint, R: np.ndarray, q: np.ndarray, H: np.ndarray, effort: np.ndarray
) -> _OnJoint:
    along = H.copy() if joint.code != REGISTERED else np.linalg.pinv(H).T
    if joint.advances:
        along[3:] = 0.0
    a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
    frames = joint.frames(model.system.values)
    R_J, p_J = R[b] @ frames.R_BJ, q[b, 4:] + R[b] @ frames.p_BJ
    wrench = along @ effort
    n, f = R_J @ wrench[:3], R_J @ wrench[3:]
    on_a = -np.concatenate([n + cross_product(p_J - q[a, 4:], f), f])
    return a, b, on_a, np.concatenate([n + cross_product(p_J - q[b, 4:], f), f])

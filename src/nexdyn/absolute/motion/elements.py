"""What acts on bodies in absolute coordinates: efforts in joints and force elements, with their stiffness and damping.

An effort τ in a joint is the wrench Σ τ_j ĥ_j on the child in its joint frame, and its opposite on the parent; ĥ_j is
the column of H taken as a wrench (a helical joint's effort is a couple about its axis). Its coordinate moves as

    q̇_j = g_j · (V_b − V_a),   g_j = h_j/(h_j · h_j)

An element between two frames is a wrench on each; its derivative: ``force_stiffness``. What states a force has:
``force_states``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.absolute.motion.force_states import element_at_end, error_of_states, freedom_at_end
from nexdyn.absolute.motion.force_stiffness import (
    DIFFERENCE,
    add_stiffness,
    clear,
    difference_rate,
    element_stiffness,
    relative_motion,
)
from nexdyn.absolute.motion.tables import MotionTables, PlacesOfBlocks, block_places, centres
from nexdyn.constraints.tables import FramesOfPairs
from nexdyn.constraints.turns import turned
from nexdyn.errors import InputError
from nexdyn.forces import kinds as force_kinds
from nexdyn.forces import states
from nexdyn.forces.apart import apart, let_go
from nexdyn.forces.joint import friction_effort, spherical_spring, spring_damper
from nexdyn.forces.nearby import choose
from nexdyn.forces.nearby import count as count_near
from nexdyn.forces.page import add_outer
from nexdyn.forces.pages import effort_in_all_lanes, wrenches_in_all_lanes
from nexdyn.forces.tables import MOST_STATES, NO_DOF, ForceEntries, bodies_of, force_tables, frames_a, frames_b
from nexdyn.forces.torsion_spring import TURNS, Twist
from nexdyn.generic import defines, generic, is_instance
from nexdyn.integrate.problem import FORCE_FAILED, OK
from nexdyn.joints import kinds
from nexdyn.joints.registered import is_registered
from nexdyn.joints.verbs import coordinates_of, effort_columns
from nexdyn.kernel import formula, kernel, outlined, overloaded
from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Force, Motion, Quat, T, Vec3, column, cross, z_column
from nexdyn.spatial.lanes import LaneVector, all_less, zero
from nexdyn.spatial.table import MotionRows, PoseRows
from nexdyn.spatial.turns import near
from nexdyn.variants import leaves_out

TORSION_SPRING = force_kinds.TORSION_SPRING
REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL = (
    kinds.REVOLUTE, kinds.PRISMATIC, kinds.HELICAL, kinds.CYLINDRICAL,
)  # fmt: skip
UNIVERSAL, SPHERICAL, PLANAR, CARTESIAN, FREE, REGISTERED = (
    kinds.UNIVERSAL, kinds.SPHERICAL, kinds.PLANAR, kinds.CARTESIAN, kinds.FREE, kinds.REGISTERED,
)  # fmt: skip


class ActingJoint(Record):
    """A joint in which something acts, or whose coordinates are looked at: its kind and pair, its first coordinate, first degree of freedom
    and their number, its bodies."""

    kind: int
    pair: int
    iq: int
    iv: int
    nv: int
    child: int
    parent: int


class JointDof(Record):
    """What acts along a degree of freedom of a joint; unit: 1 of an angle, of a length that of the mechanism."""

    stiffness: float
    rest: float
    damping: float
    friction: float
    friction_speed: float
    unit: float


class Slope(Record):
    """−∂effort/∂q, −∂effort/∂v."""

    q: float
    v: float


ActingJoints, JointDofs, Slopes = rows_of(ActingJoint), rows_of(JointDof), rows_of(Slope)

OF_NO_COORDINATE = ("joint_force", "joint_friction")
"""Forces in joints that do not depend on the coordinate."""
NOTHING = 1e-300
"""What is smaller than this is nothing."""


class Acting(NamedTuple):
    """Forces and joints with efforts, and where their derivatives lie; with scratch.

    joints int64 (nj, 7): `ActingJoint`
    places int64 (nq,): place in `near` of each coordinate that is an angle, or −1; turns int64 (nf,): of each torsion spring
    degrees of freedom float64 (nv, 6): `JointDof`
    of_joint, of_force int64 (n, 6): `Places` of the blocks of the bodies
    """

    forces: Any
    joints: Any
    places: Any
    turns: Any
    pitch: Any
    freedoms: Any
    of_joint: Any
    of_force: Any
    q: Any
    v: Any
    effort: Any
    slope: Any
    """(nv, 2): `Slope`."""
    H: Any
    G: Any
    K: Any
    KG: Any
    step: Any
    """(3,) `Steps`."""
    began: Any
    """(nz, 2) `Began`."""
    judged: Any
    """(nz, 5) `Judged`, of friction in contacts `Stuck`."""
    slopes: Any
    """(nz, 12) ∂ż/∂z of users' forces, each state beside those of its force."""
    kept: Any
    """(…, 8) a, λ and a correction of a damped step, of systems with contacts over areas."""
    length: float
    """Of the mechanism [m]."""


class InJoints(Acting):
    """Springs, dampers and friction of joints alone: a type of its own, for which no force element is compiled."""


class Idle(Acting):
    """Nothing acts: a type of its own, for which nothing is compiled."""


def moving_joints(model: AbsoluteModel) -> list[Joint]:
    """Joints that have coordinates."""
    return [joint for joint in model.system.joints.values() if joint.nv and joint.tree]


def acting_joints(model: AbsoluteModel) -> list[Joint]:
    """Joints in which something acts along their degrees of freedom."""
    system = model.system
    forced = {force.joint_name for force in system.forces.values()}
    found = []
    for joint in moving_joints(model):
        own = joint.resolved(system.values)
        if joint.name in forced or own.stiffness.any() or own.damping.any() or own.friction.any():
            _refuse_uncounted(system, joint, own.stiffness)
            found.append(joint)
    return found


def _refuse_uncounted(system: System, joint: Joint, stiffness: np.ndarray) -> None:
    """InputError for what depends on an angle of a registered joint, whose turns are not counted here."""
    if joint.code != REGISTERED:
        return
    for m, (way, _, _) in enumerate(joint.directions):
        forces = [f for f in system.forces.values() if f.joint_name == joint.name and f.__dict__["freedom"] == m]
        depends = [str(f) for f in forces if f.kind not in OF_NO_COORDINATE]
        if way == "turn" and (stiffness[m] or depends):
            what = depends[0] if depends else f"the stiffness of {joint}"
            raise InputError(
                f"{what} depends on an angle of {joint}, {joint.kind}, a registered joint, whose turns absolute coordinates do not "
                f"count; take RungeKutta4 or DormandPrince"
            )


def stiff_pairs(model: AbsoluteModel, but: np.ndarray | None = None) -> np.ndarray:
    """Pairs of bodies (n, 2) between which something acts, `but` (nf,) bool some forces."""
    pairs = [(model.body_index[j.parent.name], model.body_index[j.child.name]) for j in acting_joints(model)]
    for e, force in enumerate(model.system.forces.values()):
        if but is not None and but[e]:
            continue
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
    number = kinds.OF_ANY if any(joint.code == REGISTERED for joint in joints) else kinds.OF_PACKAGE
    table = np.zeros((len(joints), ActingJoint.columns), dtype=number)
    pitch, freedoms = np.zeros(len(joints)), np.zeros((first_v[-1], JointDof.columns))
    dofs = JointDofs(freedoms)
    dofs.friction_speed[:] = 1.0
    for i, joint in enumerate(joints):
        a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
        table[i] = type(joint).code, pair_of_joint[joint.name], first_q[i], first_v[i], joint.nv, b, a
        pitch[i] = joint.own_number(values)
        own, part = joint.resolved(values), slice(first_v[i], first_v[i + 1])
        dofs.stiffness[part], dofs.damping[part] = own.stiffness, own.damping
        dofs.rest[part] = own.rest if np.size(own.rest) == joint.nv else 0.0
        dofs.friction[part], dofs.friction_speed[part] = own.friction, own.friction_speed
        dofs.unit[part] = [1.0 if way == "turn" else tables.length for way, _, _ in joint.directions]
    kind = (InJoints if joints else Idle) if leaves_out(not len(forces.index)) else Acting
    place_of = {name: k for k, name in enumerate(model.followed)}
    places = [place_of.get((joint.name, equation), -1) for joint in joints for equation in equations(joint)]
    turns = [place_of.get((name, TURNS), -1) for name in (system.forces if with_forces else ())]
    return kind(
        forces, table, np.array(places or [-1], dtype=np.int64), np.array(turns, dtype=np.int64), pitch, freedoms,
        block_places(tables.diagonal, tables.plan, joined(table)),
        block_places(tables.diagonal, tables.plan, bodies_of(forces)),
        np.zeros(max(1, first_q[-1])), np.zeros(max(1, first_v[-1])), np.zeros(max(1, first_v[-1])),
        np.zeros((max(1, first_v[-1]), 2)), np.zeros((6, 6)), np.zeros((6, 12)), np.zeros((6, 6)), np.zeros((6, 12)),
        np.zeros(3), np.zeros((len(forces.z), 2)), _judged(system, tables.length) if len(forces.z) else np.zeros((0, 5)),
        np.zeros((len(forces.z), MOST_STATES)),
        np.zeros((0 if forces.room is None else 2 * (len(tables.body) + len(tables.offset)) - 1, 8)), float(tables.length),
    )  # fmt: skip


def joined(joints: np.ndarray) -> np.ndarray:
    """Parent and child of acting joints, (nj, 2)."""
    table = ActingJoints(joints)
    return np.stack([table.parent, table.child], axis=1).astype(np.int64)


def _judged(system: System, length: float) -> np.ndarray:
    """(nz, 5) what adaptive steps judge the states of forces by (``force_states``), before a march."""
    rows = []
    for force in system.forces.values():
        if force.states(system.values):
            joint = system.joints.get(force.joint_name or "")
            unit = length if joint is None or _slides(joint, force.__dict__["freedom"]) else 1.0
            rows += [[0.0, weight, lag, size, size] for weight, lag, size in force.state_efforts(system.values, unit)]
    return np.array(rows)


def _slides(joint: Joint, freedom: int) -> bool:
    """Whether a degree of freedom is a displacement, not a turn."""
    return joint.directions[freedom][0] == "slide"


def equations(joint: Joint) -> list[str]:
    """The equation of each coordinate of a joint, "" where it has none."""
    return [*joint.coordinates, *("",) * (joint.nq - len(joint.coordinates))]


def start_coordinates(joints: list[Joint], acts: Acting, values: dict[str, float], near: np.ndarray) -> None:
    """The coordinates at the start: angles as they are counted, quaternions near those that the joints are given."""
    for i, joint in enumerate(joints):
        at = ActingJoints(acts.joints)[i].iq
        acts.q[at : at + joint.nq] = joint.resolved(values).q0 if joint.q0 is not None else 0.0
    angles = np.flatnonzero(acts.places >= 0)
    acts.q[angles] = near[acts.places[angles]]


@formula
def lacks_blocks(acts):
    """Whether the matrix has no block of two bodies that may touch."""
    forces, places = acts.forces, PlacesOfBlocks(acts.of_force)
    if len(forces.watched) > 0:
        for n in range(count_near(forces)):
            e = forces.acting[n]
            of = places[e].places
            if of.aa >= 0 and of.bb >= 0 and of.ab < 0:
                return True
    return False


states_error = generic(
    "states_error", "Largest error of a state of a force in the step to t, as a part of the largest effort."
)


@defines(states_error)
def _(acts: Acting, t: Any) -> Any:
    return error_of_states(acts, t) if len(acts.began) > 0 else 0.0


@defines(states_error)
def _(acts: Any, t: Any) -> Any:
    return 0.0


matrices = generic(
    "matrices", "How many matrices a recorded pose needs: M, and M + h D before it where something acts."
)


@defines(matrices)
def _(acts: Idle) -> Any:
    return 1


@defines(matrices)
def _(acts: Any) -> Any:
    return 2


act = generic("act", "Add what acts to x, and its stiffness and damping to the blocks; returns a status.")


@defines(act)
def _(tables: Any, s: Any, t: Any, gh: Any, bh2: Any, assemble: Any, acts: Idle) -> Any:
    return 0


@defines(act)
def _(tables: Any, s: Any, t: Any, gh: Any, bh2: Any, assemble: Any, acts: Any) -> Any:
    return act_on_bodies(tables, s, t, gh, bh2, assemble, acts)


@defines(act)
def _(tables: Any, s: Any, t: Any, gh: Any, bh2: Any, assemble: Any, acts: Acting) -> Any:
    return act_apart(tables, s, t, gh, bh2, assemble, acts)


@outlined
def act_apart(tables, s, t, gh, bh2, assemble, acts):
    """`act_on_bodies`, once for all its callers: of elements it is half a march."""
    return act_on_bodies(tables, s, t, gh, bh2, assemble, acts)


@kernel
def act_on_bodies(tables, s, t, gh, bh2, assemble, acts):
    for j in range(len(acts.joints)):
        joint_motion(tables, s, acts, j)
        own_efforts(acts, j)
    status = loads(s, t, gh, bh2, assemble, acts)
    for j in range(len(acts.joints)):
        apply_efforts(tables, s, acts, j, gh, bh2, assemble)
    return status


# --- joints -------------------------------------------------------------------------------------------------------


@formula
def counted_angle(s, acts, j, k, angle, z):
    """Coordinate k of joint j, an angle about z (world axes), counted from the start of the step."""
    joint = ActingJoints(acts.joints)[j]
    delta = turned(s.poses, s.moved, joint.parent, joint.child, z)
    return near(angle, s.counted[acts.places[k]] + delta)


@formula
def joint_frames(tables, s, acts, j):
    """Frames A and B of joint j in the world."""
    X, joint = PoseRows(s.poses, 0), ActingJoints(acts.joints)[j]
    k, a, b = joint.pair, joint.parent, joint.child
    frames = FramesOfPairs(tables.constraints.frames)[k]
    return X[a] @ frames.X_aA, X[b] @ frames.X_bB


@kernel
def joint_motion(tables, s, acts, j):
    """q and v of joint j."""
    X_A, X_B = joint_frames(tables, s, acts, j)
    R, p = T(X_A.R) @ X_B.R, T(X_A.R) @ (X_B.p - X_A.p)
    joint = ActingJoints(acts.joints)[j]
    kind, k, q = joint.kind, joint.iq, acts.q
    coordinates_of(kind, acts.pitch[j], R, p, q, k)
    for m in range(joint.nv):
        if acts.places[k + m] >= 0:  # an angle: about z of A, or as the second of a universal joint about x of B
            axis = column(X_B.R, 0) if m == 1 else z_column(X_A.R)
            q[k + m] = counted_angle(s, acts, j, k + m, q[k + m], axis)
    relative_velocity(s, acts, j, X_B)
    H = MotionRows(acts.H, 0)
    effort_columns(kind, acts.pitch[j], q, k, H, 0)
    first = joint.iv
    X_B_V = Motion(
        T(X_B.R) @ Vec3(acts.KG[0, 0], acts.KG[0, 1], acts.KG[0, 2]),
        T(X_B.R) @ Vec3(acts.KG[0, 3], acts.KG[0, 4], acts.KG[0, 5]),
    )
    for m in range(joint.nv):
        h = H[m]
        if kind == HELICAL:
            acts.v[first + m] = h.w @ X_B_V.w  # q is the angle
        elif is_registered(kind):
            acts.v[first + m] = h.w @ X_B_V.w + h.v @ X_B_V.v  # v = G V
        else:
            acts.v[first + m] = (h.w @ X_B_V.w + h.v @ X_B_V.v) / (h.w @ h.w + h.v @ h.v)


@formula
def relative_velocity(s, acts, j, X_B):
    """(ω_b − ω_a, velocity of the child's point against the parent) in world axes, into the scratch KG[0]."""
    V, X, joint = MotionRows(s.twists, 0), PoseRows(s.poses, 0), ActingJoints(acts.joints)[j]
    a, b = joint.parent, joint.child
    w = V[b].w - V[a].w
    v = V[b].v + cross(V[b].w, X_B.p - X[b].p) - V[a].v - cross(V[a].w, X_B.p - X[a].p)
    acts.KG[0, 0], acts.KG[0, 1], acts.KG[0, 2] = w.x, w.y, w.z
    acts.KG[0, 3], acts.KG[0, 4], acts.KG[0, 5] = v.x, v.y, v.z


@kernel
def own_efforts(acts, j):
    """Spring, damper and friction of joint j, and their slopes."""
    dofs, slopes, q, v = JointDofs(acts.freedoms), Slopes(acts.slope), acts.q, acts.v
    joint = ActingJoints(acts.joints)[j]
    kind, k, first = joint.kind, joint.iq, joint.iv
    for m in range(joint.nv):
        i = first + m
        dof, slope = dofs[i], slopes[i]
        slope.q, slope.v = dof.stiffness, dof.damping
        if kind == SPHERICAL or kind == FREE:
            acts.effort[i] = -(dof.damping * v[i])
            slope.q = dof.stiffness if kind == SPHERICAL else zero(v[i])
        else:
            acts.effort[i] = spring_damper(q[k + m], v[i], dof.stiffness, dof.rest, dof.damping)
        if not all_less(abs(dof.friction), NOTHING):
            y = friction_effort(v[i], dof.friction, dof.friction_speed)
            acts.effort[i] += y
            # f/v_f (1 − tanh²)
            slope.v += (dof.friction - y * y / dof.friction) / dof.friction_speed
    if kind == SPHERICAL:
        K = Vec3(dofs[first].stiffness, dofs[first + 1].stiffness, dofs[first + 2].stiffness)
        rest = Vec3(dofs[first].rest, dofs[first + 1].rest, dofs[first + 2].rest)
        torque = spherical_spring(Quat(q[k], q[k + 1], q[k + 2], q[k + 3]), K, rest)
        acts.effort[first] += torque.x
        acts.effort[first + 1] += torque.y
        acts.effort[first + 2] += torque.z


@kernel
def apply_efforts(tables, s, acts, j, gh, bh2, assemble):
    """The wrenches of the efforts of joint j, and their derivatives."""
    _, X_B = joint_frames(tables, s, acts, j)
    joint = ActingJoints(acts.joints)[j]
    kind, first = joint.kind, joint.iv
    a, b = joint.parent, joint.child
    H = MotionRows(acts.H, 0)
    effort_columns(kind, acts.pitch[j], acts.q, joint.iq, H, 0)
    o, nv = zero(X_B.p.x), joint.nv
    n, f = Vec3(o, o, o), Vec3(o, o, o)
    for m in range(nv):
        y, h = acts.effort[first + m], H[m]
        n = n + y * h.w
        if kind != HELICAL:
            f = f + y * h.v
    add_wrench(s, a, b, X_B.p, Force(X_B.R @ n, X_B.R @ f))
    if not assemble:
        return
    relative_motion(s, acts.G, a, b, X_B.p)
    clear(acts.K, 6, 6)
    slopes = Slopes(acts.slope)
    for m in range(nv):
        h = H[m]
        along = X_B.R @ h.v
        if kind == HELICAL:
            along = Vec3(o, o, o)
        c = bh2 * slopes[first + m].q + gh * slopes[first + m].v
        if not is_registered(kind):
            c = c / (h.w @ h.w + along @ along)
        if not all_less(abs(c), NOTHING):
            add_outer(acts.K, c, X_B.R @ h.w, along)
    add_stiffness(s, acts, PlacesOfBlocks(acts.of_joint).places[j])


# --- elements -----------------------------------------------------------------------------------------------------


@kernel
def sample_here(tables, s, acts, t):
    """Take the samples that are due at t, the bodies where they are; how many there were."""
    for j in range(len(acts.joints)):
        joint_motion(tables, s, acts, j)
    return states.sample_forces(acts.forces, t, acts.q, acts.v, acts.forces.z, 0)


loads = generic("loads", "Wrenches of the force elements, efforts of those in joints; returns a status.")


@defines(loads)
def _(s: Any, t: Any, gh: Any, bh2: Any, assemble: Any, acts: Acting) -> Any:
    return element_loads(s, t, gh, bh2, assemble, acts)


@defines(loads)
def _(s: Any, t: Any, gh: Any, bh2: Any, assemble: Any, acts: Any) -> Any:
    return OK


@kernel
def element_loads(s, t, gh, bh2, assemble, acts):
    tables = acts.forces
    X_W, V = PoseRows(s.poses, 0), MotionRows(s.twists, 0)
    X_LA, X_LB = frames_a(tables), frames_b(tables)
    entries = ForceEntries(tables.index)
    choose(tables, X_W, s.poses[0, 0])
    for n in range(count_near(tables)):
        e = tables.acting[n]
        force = entries[e]
        if force.dof != NO_DOF:
            status = freedom_load(acts, e, t, gh, assemble, tables.data)
        else:
            a, b = force.body_a, force.body_b
            if apart(tables, e, X_W[a], X_W[b], X_W[a].p.x):
                let_go(tables, e, X_W[a].p.x)
                continue
            X_A, X_B = X_W[a] @ X_LA[e], X_W[b] @ X_LB[e]
            V_A = Motion(V[a].w, V[a].v + cross(V[a].w, X_A.p - X_W[a].p))
            V_B = Motion(V[b].w, V[b].v + cross(V[b].w, X_B.p - X_W[b].p))
            if force.kind == TORSION_SPRING:
                delta = turned(s.poses, s.moved, a, b, z_column(X_A.R))
                Twist(tables.data, force.first).reference = s.counted[acts.turns[e]] + delta
            status, F_A, F_B = element_load(acts, e, t, X_A, V_A, X_B, V_B, tables.data)
            add_on_body(s, a, X_A.p, F_A)
            add_on_body(s, b, X_B.p, F_B)
            if assemble and status == OK:
                element_stiffness(s, acts, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B)
        if status != OK:
            return FORCE_FAILED + e
    return OK


HERE, MOVED, FASTER, HERE_AGAIN = range(4)


@formula
def effort_and_slope(acts, e, t, gh, assemble):
    force = ForceEntries(acts.forces.index)[e]
    i, k = force.dof, force.coordinate
    unit, slope, here, failed = JointDofs(acts.freedoms)[i].unit, Slopes(acts.slope)[i], 0.0, OK
    dq = DIFFERENCE * max(unit, abs(acts.q[k]))
    dv = DIFFERENCE * max(unit * difference_rate(gh), abs(acts.v[i]))
    for place in (HERE, MOVED, FASTER, HERE_AGAIN):
        q, v = acts.q[k] + (dq if place == MOVED else 0.0), acts.v[i] + (dv if place == FASTER else 0.0)
        status, effort = freedom_at_end(acts, e, t, q, v)
        if place == HERE:
            here, failed = effort, status
            acts.effort[i] += effort
            if not assemble or status != OK:
                break
        elif place == MOVED:
            slope.q -= (effort - here) / dq
        elif place == FASTER:
            slope.v -= (effort - here) / dv
            if force.states == 0:
                break  # else once more: z and ż as they are here
    return failed


# --- of one system, or of lanes -----------------------------------------------------------------------------------
#
# Lanes support the forces whose pages say ALL_LANES, and no states.


def freedom_load(acts: Any, e: Any, t: Any, gh: Any, assemble: Any, data: Any) -> Any:
    """The effort of force e in a joint, and its slopes; returns a status."""
    lanes = isinstance(data, LaneVector)
    return effort_in_lanes(acts, e, t) if lanes else effort_and_slope(acts, e, t, gh, assemble)


@overloaded(freedom_load)
def _(acts, e, t, gh, assemble, data):
    if is_instance(data, LaneVector):
        return lambda acts, e, t, gh, assemble, data: effort_in_lanes(acts, e, t)
    return lambda acts, e, t, gh, assemble, data: effort_and_slope(acts, e, t, gh, assemble)


@formula
def effort_in_lanes(acts, e, t):
    force = ForceEntries(acts.forces.index)[e]
    if force.off == 0:
        tables, q, i = acts.forces, acts.q[force.coordinate], force.dof
        acts.effort[i] += effort_in_all_lanes(force.kind, tables, e, t, tables.data, force.first, q, acts.v[i], q)
    return OK


def element_load(acts: Any, e: Any, t: Any, X_A: Any, V_A: Any, X_B: Any, V_B: Any, data: Any) -> Any:
    """(status, F_A, F_B) of force e between frames."""
    if isinstance(data, LaneVector):
        return load_in_lanes(acts.forces, e, t, X_A, V_A, X_B, V_B)
    return element_at_end(acts, e, t, X_A, V_A, X_B, V_B)


@overloaded(element_load)
def _(acts, e, t, X_A, V_A, X_B, V_B, data):
    if is_instance(data, LaneVector):
        return lambda acts, e, t, X_A, V_A, X_B, V_B, data: load_in_lanes(acts.forces, e, t, X_A, V_A, X_B, V_B)
    return lambda acts, e, t, X_A, V_A, X_B, V_B, data: element_at_end(acts, e, t, X_A, V_A, X_B, V_B)


@formula
def load_in_lanes(tables, e, t, X_A, V_A, X_B, V_B):
    force = ForceEntries(tables.index)[e]
    kind, k, data, o = force.kind, force.first, tables.data, zero(X_A.p.x)
    nothing = Force(Vec3(o, o, o), Vec3(o, o, o))
    if force.off != 0:
        return OK, nothing, nothing
    F_A, F_B = wrenches_in_all_lanes(kind, tables, e, t, data, k, X_A, V_A, X_B, V_B, o)
    return OK, F_A, F_B


# --- places -------------------------------------------------------------------------------------------------------


@formula
def add_on_body(s, i, p, F):
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
def add_wrench(s, a, b, p, F):
    """F at the world point p on body b and −F on body a."""
    add_on_body(s, b, p, F)
    add_on_body(s, a, p, -F)

"""What one force does along a motion, computed from the recorded states by the force's own law.

A force between frames A and B puts (n_A, f_A) on the body of A at A, (n_B, f_B) on that of B at B; one in a joint an effort τ along a
freedom, whose column of H is taken as the wrench on the child at the joint's point, its opposite on the parent:

    P = f_A · v_A + n_A · ω_A + f_B · v_B + n_B · ω_B     or     P = τ q̇
    U   the energy that the law stores, 0 where it stores none
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError, counted, unknown
from nexdyn.forces.kinds import TORSION_SPRING
from nexdyn.forces.states import set_states
from nexdyn.forces.tables import ForceEntries, force_tables, frames_a, frames_b
from nexdyn.forces.torsion_spring import TURNS, TorsionSpring, Twist, windings
from nexdyn.forces.verbs import element_energy, force_element, freedom_element, freedom_energy
from nexdyn.joints.kinds import REGISTERED
from nexdyn.kernel import kernel
from nexdyn.model.callbacks import failure
from nexdyn.results.segments import segments
from nexdyn.results.wrenches import axes_of
from nexdyn.spatial.algebra import Motion, cross
from nexdyn.spatial.table import MotionRows, PoseRows
from nexdyn.tree.core.compile import joint_class
from nexdyn.tree.core.entries import joint_columns

if TYPE_CHECKING:
    import xarray as xr

    from nexdyn.model.force import Force
    from nexdyn.model.joint import Joint
    from nexdyn.model.system import System
    from nexdyn.results.observed import Observed

Array = np.ndarray


@kernel
def observe_element(tables, e, t, X_A, V_A, X_B, V_B, z, near, out):
    """Fill out (N, 14) with n_A, f_A, n_B, f_B, P, U of element e; poses (N, 12) and velocities (N, 6) of the bodies in the world,
    z (N, nz), near (N,): of a torsion spring. Returns the sample at which it fails, or −1."""
    force = ForceEntries(tables.index)[e]
    X_LA, X_LB = frames_a(tables), frames_b(tables)
    for s in range(len(t)):
        set_states(tables, z, s)
        if force.kind == TORSION_SPRING:
            Twist(tables.data, force.first).reference = near[s]
        X, Y, V, W = PoseRows(X_A, 0)[s], PoseRows(X_B, 0)[s], MotionRows(V_A, 0)[s], MotionRows(V_B, 0)[s]
        X_WA, X_WB = X @ X_LA[e], Y @ X_LB[e]
        V_WA = Motion(V.w, V.v + cross(V.w, X_WA.p - X.p))
        V_WB = Motion(W.w, W.v + cross(W.w, X_WB.p - Y.p))
        status, F_A, F_B = force_element(tables, e, t[s], X_WA, V_WA, X_WB, V_WB)
        if status != 0:
            return s
        o = out[s]
        o[0], o[1], o[2], o[3], o[4], o[5] = F_A.n.x, F_A.n.y, F_A.n.z, F_A.f.x, F_A.f.y, F_A.f.z
        o[6], o[7], o[8], o[9], o[10], o[11] = F_B.n.x, F_B.n.y, F_B.n.z, F_B.f.x, F_B.f.y, F_B.f.z
        o[12] = F_A.f @ V_WA.v + F_A.n @ V_WA.w + F_B.f @ V_WB.v + F_B.n @ V_WB.w
        o[13] = element_energy(tables, e, X_WA, X_WB)
    return -1


@kernel
def observe_freedom(tables, e, t, q, v, z, out):
    """Fill out (N, 2) with τ, U of the element e in a joint; q (N, nq), v (N, nv) of the joint."""
    force = ForceEntries(tables.index)[e]
    for s in range(len(t)):
        set_states(tables, z, s)
        status, out[s, 0] = freedom_element(tables, e, t[s], q[s, force.coordinate], v[s, force.dof])
        if status != 0:
            return s
        out[s, 1] = freedom_energy(tables, e, q[s, force.coordinate])
    return -1


def force_along(observed: Observed, system: System, name: Any, frame: Any) -> xr.Dataset:
    """As `Result.force`."""
    import xarray as xr

    given = getattr(name, "name", name)
    if given in system.contacts or given in system.gravities:
        parts = [force.name for force in system.forces.values() if force.part_of == given]
        told = ", ".join(map(repr, parts[:3])) + (", …" if len(parts) > 3 else "")
        if given in system.gravities:
            raise InputError(
                f"gravity {given!r} is {counted(len(parts), 'force')}, one for each body that it pulls: name one of them, {told}"
            )
        raise InputError(
            f"contact {given!r} is {counted(len(parts), 'force')}, one for each place where shapes may touch: name one of them, {told}; "
            f"result.contacts({given!r}) tells of all"
        )
    if given not in system.forces:
        raise unknown("force", str(given), system.forces)
    if given in observed.lost:
        raise InputError(
            f"what {system.forces[given]} does cannot be told: the file does not hold it; simulate again, or load the system"
        )
    recording = observed.recording
    ends, (points, wrenches, power, energy) = along(observed, system, given)
    R_WF, axes = axes_of(observed, system, frame, len(recording.t))
    told = np.einsum("tji,tekj->teki", R_WF, wrenches)
    t = recording.t.copy()
    coords = {"time": t, "end": ends, "axis": ["x", "y", "z"]}
    dims = ["time", "end", "axis"]

    def array(values: Array, dims: list[str], units: str, text: str) -> xr.DataArray:
        attributes = {"units": units, "long_name": text}
        return xr.DataArray(values, {d: coords[d] for d in dims}, dims, attrs=attributes)

    return xr.Dataset(
        {
            "force": array(told[:, :, 1], dims, "N", f"force of {given}, in {axes}"),
            "moment": array(told[:, :, 0], dims, "N m", f"moment of {given} about its points, in {axes}"),
            "point": array(points, dims, "m", f"points of {given}, in the world"),
            "power": array(power, ["time"], "W", f"power of {given}"),
            "energy": array(energy, ["time"], "J", f"energy stored in {given}"),
        }
    )


Part = tuple[list[str], tuple[Array, Array, Array, Array]]
"""Bodies at the ends; points (N, ends, 3), wrenches (N, ends, (n, f), 3), power, energy (N,)."""


def along(observed: Observed, system: System, name: str) -> Part:
    """Of all samples, without labels; moments in the world."""
    parts = [part_of(observed, name, *held) for held in segments(system, observed.recording)]
    points, wrenches, power, energy = (np.concatenate([part[1][k] for part in parts]) for k in range(4))
    return parts[0][0], (points, wrenches, power, energy)


def part_of(observed: Observed, name: str, first: int, last: int, system: System) -> Part:
    """Of the samples `first` … `last` − 1, in which `system` held."""
    force, rows = system.forces[name], slice(first, last)
    t = np.ascontiguousarray(observed.recording.t[rows])
    if force.joint_name is not None:
        return _in_joint(observed, system, force, system.joints[force.joint_name], t, rows)
    place = {body: i for i, body in enumerate(system.bodies)}
    frames = [(frame.body, frame.R_BF, frame.p_BF) for frame in force.frames(system)]
    tables = force_tables(system, lambda body: (place.get(body, -1), np.eye(3), np.zeros(3)), _no_joint(system))
    motions = [body_motion(observed, body, rows) for body, _, _ in frames]
    if len(motions) == 1:
        motions.append(body_motion(observed, "ground", rows))
    e = list(system.forces).index(name)
    near = _turns(observed, system, force)[rows] if isinstance(force, TorsionSpring) else np.zeros(len(t))
    out = np.empty((len(t), 14))
    (X_A, V_A), (X_B, V_B) = motions
    _raise(force, t, observe_element(tables, e, t, X_A, V_A, X_B, V_B, _states(observed, rows, tables), near, out))
    n = len(frames)
    points = [
        motion[0][:, 9:] + np.einsum("tij,j->ti", motion[0][:, :9].reshape(-1, 3, 3), p)
        for motion, (_, _, p) in zip(motions, frames, strict=False)
    ]
    wrenches = out[:, :12].reshape(-1, 2, 2, 3)[:, :n]
    return [body for body, _, _ in frames], (np.stack(points, axis=1), wrenches, out[:, 12], out[:, 13])


def _in_joint(observed: Observed, system: System, force: Force, joint: Joint, t: Array, rows: slice) -> Part:
    place: dict[str, tuple[int, int]] = dict.fromkeys(system.joints, (0, 0))
    tables = force_tables(system, lambda body: (0, np.eye(3), np.zeros(3)), place.__getitem__)
    e, m = list(system.forces).index(force.name), force.__dict__["freedom"]
    q, v = (
        np.ascontiguousarray(observed.of_joint(what, joint.name)[rows]) for what in ("joint_position", "joint_velocity")
    )
    out = np.empty((len(t), 2))
    _raise(force, t, observe_freedom(tables, e, t, q, v, _states(observed, rows, tables), out))
    values = system.values
    kind = joint_class(joint)
    H, W, columns = np.zeros((joint.nv, 6)), np.zeros((6 - joint.nv, 6)), np.empty((len(t), 2, 3))
    for s, at in enumerate(q):
        joint_columns(kind.code, joint.own_number(values), at, H, W)
        columns[s] = (H if joint.code != REGISTERED else np.linalg.pinv(H.T))[m].reshape(2, 3)
    if joint.advances:
        columns[:, 1] = 0.0
    frames, (X_C, _) = joint.frames(values), body_motion(observed, joint.child.name, rows)
    R_J = X_C[:, :9].reshape(-1, 3, 3) @ frames.R_BJ
    p_J = X_C[:, 9:] + np.einsum("tij,j->ti", X_C[:, :9].reshape(-1, 3, 3), frames.p_BJ)
    on_child = np.einsum("tij,tkj->tki", R_J, columns) * out[:, :1, None]
    wrenches = np.stack([-on_child, on_child], axis=1)
    ends = [joint.parent.name, joint.child.name]
    return ends, (np.stack([p_J, p_J], axis=1), wrenches, out[:, 0] * v[:, m], out[:, 1])


def body_motion(observed: Observed, body: str, rows: slice) -> tuple[Array, Array]:
    """Poses (N, 12) and velocities (N, 6) of a body in the world."""
    n = len(observed.recording.t[rows])
    if body == "ground":
        return np.tile([*np.eye(3).ravel(), 0.0, 0.0, 0.0], (n, 1)), np.zeros((n, 6))
    i = observed.labels.dims["body"].index(body)
    seen = observed.collect(["rotation", "position", "angular_velocity", "velocity"], i)
    R, p, w, v = (seen[name][rows] for name in ("rotation", "position", "angular_velocity", "velocity"))
    return np.concatenate([R.reshape(n, 9), p], axis=1), np.concatenate([w, v], axis=1)


def _turns(observed: Observed, system: System, spring: TorsionSpring) -> Array:
    """Angles (N,) near which the spring's are: counted in the run, or those of the joints between its ends, followers among them."""
    label, counters = f"{spring.name} {TURNS}", list(observed.labels.dims.get("counter", ()))
    if label in counters and observed.recording.followed.size:
        return observed.recording.followed[:, counters.index(label)]
    going_on = observed.angle_of(spring.name)
    if going_on is not None:
        return going_on
    joints = [arc.name for arc in observed.tree.compiled.forest.arcs if arc.joint is not None]
    near = np.full(len(observed.recording.t), spring.first_angle(system.values))
    for x in windings(system, joints).get(spring.name, ()):
        near += x.sign * observed.of_joint("joint_position", x.joint)[:, x.freedom]
    return near


def _states(observed: Observed, rows: slice, tables: Any) -> Array:
    z = observed.recording.z
    return np.ascontiguousarray(z[rows]) if z.size else np.zeros((len(observed.recording.t[rows]), len(tables.z)))


def _no_joint(system: System) -> Any:
    return dict.fromkeys(system.joints, (0, 0)).__getitem__


def _raise(force: Force, t: Array, sample: int) -> None:
    """SolveError of a force whose function has failed at a sample."""
    if sample >= 0:
        raise failure(force, float(t[sample]), force.callbacks())

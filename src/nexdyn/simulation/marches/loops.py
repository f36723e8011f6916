"""What a simulation in minimal coordinates needs beyond its tree where rows close it: loops, drivers, couplings.

The start comes from `nx.assemble`: a consistent pose and velocity, and the redundant rows. Of these, rows of joints that
were cut are left out; which ones is asked with the rows of the tree's own joints kept before all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nexdyn.absolute.model.configuration import Configuration
from nexdyn.absolute.model.driving import refuse_overdriven
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.absolute.model.redundancy import find_redundancy
from nexdyn.assembly.assemble import Start, assemble, mechanism_length
from nexdyn.assembly.closing import Closing
from nexdyn.assembly.followers import asked_angles
from nexdyn.assembly.loads import joint_state
from nexdyn.assembly.notices import Notice, moved_starts
from nexdyn.assembly.redundant import structural_rows
from nexdyn.assembly.report import AssemblyReport
from nexdyn.assembly.undetermined import undetermined_bodies
from nexdyn.constraint_rows import beyond_ends
from nexdyn.errors import InputError, SingularError
from nexdyn.integrate.methods import Loops, Method
from nexdyn.model.callbacks import failure
from nexdyn.model.driver import OrientationDriver
from nexdyn.model.joint import is_angle
from nexdyn.model.system import System
from nexdyn.model.time_kernels import time_callbacks
from nexdyn.results.recording import BodyRecording, LoopRecording
from nexdyn.results.result import Result
from nexdyn.results.signs import body_quaternions, has_quaternion, joint_quaternions
from nexdyn.simulation.continuing import bodies_at_end, is_opened, joints_at_end, quaternions_at_start
from nexdyn.simulation.marches.tree_start import State
from nexdyn.simulation.orientations import impossible_orientation
from nexdyn.simulation.problem import build_problem
from nexdyn.spatial.rotations import quaternion, rotation_matrix
from nexdyn.tree.loops.closed import ClosedTree
from nexdyn.tree.loops.loops import POSITIONS
from nexdyn.tree.loops.motion import LoopProblem
from nexdyn.tree.loops.observe import forces_of
from nexdyn.tree.states import unit_quaternions, vector
from nexdyn.variants import leaves_out

OF_TREE = 1_000_000
"""What rows of joints in the tree gain in priority."""


@dataclass
class ClosedSystem:
    """A system whose spanning tree is closed by rows, for a simulation.

    closed: the tree and its rows, without those that the tree fulfils by itself; always: these and the others that are
    redundant in every pose.
    report: of the assembly, where there was one. moved: what arrays q0, v0 were moved by to close the loops.
    opened: whether sizes have changed since the run before, so that its end was closed anew.
    turned_over: cut joints whose quaternions have the other sign than ``results.signs`` gives them.
    """

    system: System
    model: AbsoluteModel
    options: Loops
    closed: ClosedTree
    always: list[str]
    report: AssemblyReport | None
    moved: list[Notice]
    start: State
    opened: bool = False
    turned_over: Sequence[str] = ()

    def problem(self, stages: int, method: Method | None = None, counting: bool = False) -> LoopProblem:
        """Tables and scratch for the motion from the start, with so many rows of the integrator's K. counting: with the angles of torsion
        springs that are states."""
        _, q, _ = self.start
        closed = self.closed
        c, rows = closed.tree.compiled, closed.compiled_rows
        beyond = rows.beyond
        # all but the speed of friction
        acting = bool(self.system.forces) or bool(rows.tables.efforts.table[:, :-1].any())
        tree = build_problem(closed.tree, q, "aba", with_forces=False)._replace(
            model=closed.model, q=np.zeros(c.nq + beyond), v=np.zeros(c.nv + beyond), tau=np.zeros(c.nv + beyond),
            forces=None if leaves_out(not acting) else forces_of(self.system, c, rows, counting),
        )  # fmt: skip
        loops = rows.tables
        has_velocity_rows = bool(np.any(loops.velocity_level))
        length = mechanism_length(self.model) if self.options.stabilise == "baumgarte" else 1.0
        loops.damping[:] = self.options.damping(method, self.system.gravity, length, has_velocity_rows)
        project = int(self.options.stabilise == "projection")
        return LoopProblem(tree, loops, project, np.zeros((stages, len(rows.rows) + 2)), np.zeros(1 + stages))

    @property
    def extra(self) -> int:
        """Numbers recorded behind those of a tree: what is followed, |C|, λ."""
        return len(self.closed.compiled_rows.near) + 1 + len(self.closed.rows)

    def recording(
        self,
        t: np.ndarray,
        q: np.ndarray,
        v: np.ndarray,
        a: np.ndarray,
        extra: np.ndarray,
        winding: int = 0,
        **run: Any,
    ) -> LoopRecording:
        """What was recorded; extra (N, nz + winding + nk + 1 + m): states of forces, angles among them, what is followed, |C|, λ."""
        run["settings"] = run.get("settings", {}) | self.settings
        at = extra.shape[1] - self.extra
        C_at = at + len(self.closed.compiled_rows.near)
        z, angles, followed, C, lam = np.split(extra, [at - winding, at, C_at, C_at + 1], axis=1)
        return LoopRecording(
            t,
            q,
            v,
            a,
            **run,
            z=z.copy(),
            followed=np.hstack([followed, angles]),
            multipliers=lam.copy(),
            violation=C[:, 0].copy(),
        )

    @property
    def settings(self) -> dict[str, Any]:
        """How it was run, as JSON has it."""
        return {
            "coordinates": "loops",
            "cut": list(self.closed.cut_joints),
            "redundant": list(self.always),
            "dropped": list(self.closed.dropped),
            "stabilise": self.options.stabilise,
            **({"turned over": list(self.turned_over)} if self.turned_over else {}),
        }

    def raise_failure(self, t: float, result: Result | None) -> None:
        """The SolveError of a user's function in a joint or driver that has failed, if one has."""
        users: list[tuple[Any, Any]] = [(joint, joint.callbacks()) for joint in self.system.joints.values()]
        for name, function, followed in self.closed.compiled_rows.driven:
            users += [(self.system.driver(name), time_callbacks(f)) for f in (function, *followed)]
        for user, callbacks in users:
            if any(callback.failed for callback in callbacks):
                error = failure(user, t, callbacks)
                error.result = result
                raise error

    def left_end(self) -> tuple[str, str]:
        """(joint, what is wrong) of the point that has left the ends of its curve or surface."""
        tables = self.closed.compiled_rows.tables
        return beyond_ends(tables.tables, self.closed.rows, tables.near)[0]

    def open_row(self, t: float, dt: float) -> tuple[str, str]:
        """(what went wrong, joint) where the rows did not close after a step."""
        loops = self.closed.compiled_rows.tables
        C = np.abs(
            np.nan_to_num(loops.of_rows[loops.row_of.group, POSITIONS, loops.row_of.lane] * loops.units, nan=np.inf)
        )
        row = self.closed.rows[int(C.argmax())]
        at = str(row)
        drivers = list(self.system.drivers)
        if wrong := impossible_orientation(self.system, t, dt):
            return wrong, row.joint
        locked = (
            f"; driver {drivers[0]!r} may ask for more than the joints allow: the mechanism locks there"
            if drivers
            else ""
        )
        step = f"reduce dt = {dt:g} s" if dt else "loosen rtol, or limit dt_max"
        return f"the loops do not close at t = {t:g} s: |C| = {C.max():.2g} at {at}{locked}; {step}", row.joint


def closed_system(system: System, options: Loops, initial: Any, q0: Any, v0: Any) -> ClosedSystem:
    """The system on its spanning tree, at a start that closes."""
    plain = ClosedTree(system, options.cut)
    report: AssemblyReport | None = None
    moved: list[Notice] = []
    opened = isinstance(initial, Result) and is_opened(initial, system)
    arrays = isinstance(q0, np.ndarray | list | tuple) or isinstance(v0, np.ndarray | list | tuple)
    if isinstance(initial, AssemblyReport) and initial.model.system is not system:
        raise InputError("initial is the report of another system")
    if initial is None and not arrays:
        report = assemble(system, q0=q0, v0=v0)
        start = 0.0, *closed_state(plain, report.model, report.t, report.q, report.v)
    elif initial is None:
        start, moved = _of_arrays(plain, 0.0, plain.tree.described(), plain.tree.initial_velocity(), q0, v0)
    else:
        if isinstance(initial, AssemblyReport):
            report = initial
            start = report.t, *closed_state(plain, report.model, report.t, report.q, report.v)
        elif opened:
            t = float(initial.recording.t[-1])
            begin = Start(*bodies_at_end(initial, absolute_model(system)), joints_at_end(initial, system))
            report = assemble(system, t=t, initial=begin)
            q, v = closed_state(plain, report.model, t, report.q, report.v)
            start = t, q, v
        else:
            start = _continued(plain, initial)
        if arrays:
            start, moved = _of_arrays(plain, *start, q0, v0)
        elif q0 is not None or v0 is not None:
            near, at_start = _counted(plain, start[1]), _bodies_of(plain, absolute_model(system), start)
            report = assemble(system, t=start[0], initial=Start(*at_start, near), q0=q0, v0=v0)
            start = start[0], *closed_state(plain, report.model, report.t, report.q, report.v)
    model = absolute_model(system) if report is None or report is initial else report.model
    signs = quaternions_at_start(system, initial, q0)
    if q0 is not None and arrays:  # which has signs of its own
        signs = {joint: x for joint, x in signs.items() if joint in plain.cut_joints}
    turned_over = _sign(plain, model, start[1], signs)
    everywhere = report is not None and not arrays and all(row.structural for row in report.redundancy.redundant)
    # those that are redundant in this pose only are kept: there they carry nothing
    always = [name for name, holds in _redundant(plain, model, start, everywhere).items() if holds is not False]
    # of these, rows that the tree fulfils by itself are dropped; which of the others carry nothing, each pose says
    moving = set(plain.moving_rows(start[1], start[0]))
    # Events that switch clamps change no number of rows: such rows of theirs stay, but are zero, as those of clamps that are off are.
    own = {str(row): system.joint(row.joint) for row in plain.rows if row.owner[0] == "joint" and row.coupling is None}
    clamped = {name: joint.is_off for name, joint in own.items() if joint.switchable}
    dropped = [name for name in always if name not in moving and name not in clamped]
    silent = [name for name in always if name not in moving and name in clamped]
    spare, zero = len(always) - len(dropped) - len(silent), len(silent) + sum(clamped.values())
    closed = plain
    if dropped or silent or spare:
        closed = plain.without(dropped, silent, spare and spare + zero)
    if closed.borrowing:
        _refuse_undetermined(closed, model, start)
    follow_angles(closed, start)
    if report is not None and not arrays:
        counted = counted_angles(report.model, report.t, report.q)
        near, at = closed.compiled_rows.tables.near, closed.compiled_rows.near
        for of, place in at.items():
            near[place] = counted.get(of, near[place])
    if isinstance(initial, Result) and initial.recording.followed.size:
        near, at = closed.compiled_rows.tables.near, closed.compiled_rows.near
        known = dict(zip(initial.observed.labels.dims["counter"], initial.recording.followed[-1], strict=True))
        asked = asked_angles(system, q0) if isinstance(q0, Mapping) else set()
        for of, place in at.items():
            if of not in asked:
                near[place] = known.get(" ".join(of), near[place])
    return ClosedSystem(system, model, options, closed, always, report, moved, start, opened, turned_over)


def _sign(plain: ClosedTree, model: AbsoluteModel, q: np.ndarray, asked: Mapping[str, np.ndarray]) -> list[str]:
    """Give quaternions of joints in q the signs that are `asked` for, changed in place; of cut joints, those that must be turned over."""
    turned_over, bodies = [], None
    for name, place in plain.tree.coordinates.items():
        if name in asked and q[place.q][:4] @ asked[name][:4] < 0.0:
            q[place.q.start : place.q.start + 4] *= -1.0
    for name in plain.cut_joints:
        if name in asked:
            bodies = body_quaternions(plain.tree, model, q[None]) if bodies is None else bodies
            if joint_quaternions(plain.system.joint(name), model, bodies)[0] @ asked[name][:4] < 0.0:
                turned_over.append(name)
    return turned_over


def _refuse_undetermined(closed: ClosedTree, model: AbsoluteModel, start: State) -> None:
    """SingularError for bodies that neither mass nor constraints hold, whatever is cut."""
    free = undetermined_bodies(model, _bodies_of(closed, model, start)[0], start[0], mechanism_length(model))
    if free:
        raise SingularError(
            f"the accelerations of {closed.system.name!r} are not determined; neither mass nor joints hold {', '.join(free[:5])}",
            where=free[0],
        )


def _of_arrays(
    plain: ClosedTree, t: float, q: np.ndarray, v: np.ndarray, q0: Any, v0: Any
) -> tuple[State, list[Notice]]:
    """A start with arrays in the order of the tree in place of q, v, closed; and what is to be said of what closing moved."""
    tree, system = plain.tree, plain.system
    length, moved = mechanism_length(absolute_model(system)), []
    q = unit_quaternions(tree, vector(tree, q0, "q0", q))
    closed = plain.close(q)
    v = vector(tree, v0, "v0", v)
    consistent = plain.consistent_velocity(closed, v)
    for name, given, now in (("q0", q, closed), ("v0", v, consistent)):
        if (q0 if name == "q0" else v0) is not None:
            places = {joint: place.q if name == "q0" else place.v for joint, place in tree.coordinates.items()}
            asked, reached = ({joint: x[place] for joint, place in places.items()} for x in (given, now))
            moved += moved_starts(system, name, asked, reached, length)
    return (t, closed, consistent), moved


def _counted(closed: ClosedTree, q: np.ndarray) -> dict[str, np.ndarray]:
    """Coordinates of the tree's joints that are angles and lengths."""
    return {
        name: q[place.q].copy()
        for name, place in closed.tree.coordinates.items()
        if name in closed.system.joints and place.q.stop - place.q.start == place.v.stop - place.v.start
    }


def _bodies_of(closed: ClosedTree, model: AbsoluteModel, start: State) -> tuple[np.ndarray, np.ndarray]:
    """Poses (nb + 1, 7) and velocities (nb + 1, 6) of the bodies at a start."""
    _, q, v = start
    X, V = bodies_along(closed, model, q[None], v[None])
    return X[0], V[0]


def bodies_along(
    closed: ClosedTree, model: AbsoluteModel, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Poses (N, nb + 1, 7) and velocities (N, nb + 1, 6) of the bodies at states (N, …) of the tree."""
    place = [model.body_index[name] for name in closed.tree.body_names]
    R, p = closed.tree.pose(q)
    w, u = closed.tree.velocity(q, v)
    X, V = (np.repeat(x[None], len(q), axis=0) for x in (model.q, np.zeros_like(model.v)))
    X[:, place, :4], X[:, place, 4:] = quaternion(R), p
    V[:, place, :3], V[:, place, 3:] = np.einsum("knji,knj->kni", R, w), u
    return X, V


def closed_state(
    closed: ClosedTree, model: AbsoluteModel, t: float, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """q (nq,), v (nv,) of the tree where its bodies stand at q (nb + 1, 7) and move with v (nb + 1, 6)."""
    system, tree = closed.system, closed.tree
    out_q, out_v = np.zeros(tree.nq), np.zeros(tree.nv)
    known = counted_angles(model, t, q)
    for name, place in tree.coordinates.items():
        if name not in system.joints:
            i = model.body_index[tree.carried_body(name).name]
            R = rotation_matrix(q[i, :4])
            out_q[place.q], out_v[place.v] = q[i], [*v[i, :3], *(R.T @ v[i, 3:])]
            continue
        joint = system.joints[name]
        own, rates, _ = joint_state(model, joint, q, v)
        if has_quaternion(joint):
            own[:4] *= np.copysign(1.0, own[:4] @ joint_quaternions(joint, model, q[:, :4]))
        for m, equation in enumerate(joint.coordinates):
            if (name, equation) in known:
                own[m] += 2 * np.pi * np.round((known[name, equation] - own[m]) / (2 * np.pi))
        out_q[place.q], out_v[place.v] = own, rates
    return out_q, out_v


def counted_angles(model: AbsoluteModel, t: float, q: np.ndarray) -> dict[tuple[str, str], float]:
    """The angles of joints at a pose, by joint and coordinate, with the turns that the model's start has."""
    joints = model.system.joints
    angles = zip(model.followed, model.counted(q, model.near(q, t)), strict=True)
    return {
        (name, equation): float(x)
        for (name, equation), x in angles
        if name in joints and equation in joints[name].coordinates and is_angle(equation)
    }


def _continued(closed: ClosedTree, initial: Result) -> State:
    """The last state of a result, closed on this tree."""
    recorded, system = initial.recording, closed.system
    t = float(recorded.t[-1])
    if isinstance(recorded, BodyRecording) or (
        isinstance(recorded, LoopRecording) and recorded.settings["cut"] != list(closed.cut_joints)
    ):
        model = absolute_model(system)
        q, v = closed_state(closed, model.started(joints_at_end(initial, system)), t, *bodies_at_end(initial, model))
        return t, q, v
    if recorded.q.shape[1] != closed.nq or initial.tree.joint_names != closed.tree.joint_names:
        raise InputError(
            f"initial was recorded on another tree, with the joints {', '.join(initial.tree.joint_names[:8])}; here they "
            f"are {', '.join(closed.tree.joint_names[:8])}: cut the same joints"
        )
    return t, recorded.q[-1].copy(), recorded.v[-1].copy()


def _redundant(closed: ClosedTree, model: AbsoluteModel, start: State, everywhere: bool) -> dict[str, bool | None]:
    """By name, each row that is redundant when the rows of the tree's own joints are kept: whether it is redundant in every pose.

    everywhere: the assembly has found that all redundant rows are redundant in every pose. Their number does not depend on which
    rows are kept, so this is not computed again.
    """
    t, _, _ = start
    X, _ = _bodies_of(closed, model, start)
    cut = set(closed.cut_joints)
    rows = [
        row._replace(priority=row.priority + OF_TREE)
        if row.owner[0] == "joint" and row.coupling is None and row.joint not in cut
        else row
        for row in model.rows
    ]
    model = replace(model, rows=rows)
    length = mechanism_length(model)
    W = np.tile([1.0] * 3 + [1.0 / length**2] * 3, model.nb)
    redundancy = find_redundancy(model, X, t)
    refuse_overdriven(model, redundancy, Configuration(X, 0, 0.0, True), W, length, t)
    if everywhere:
        return {str(model.rows[d.row]): True for d in redundancy.dropped}
    holds = structural_rows(model, redundancy, X, Closing(W, length, t))
    return {str(model.rows[d.row]): holds.get(d.row) for d in redundancy.dropped}


def follow_angles(closed: ClosedTree, start: State) -> None:
    """What angles are looked for near at the start: those of tree joints where they stand, those of cut joints where
    drivers and couplings ask for them."""
    t, q, _ = start
    system, near, at = closed.system, closed.compiled_rows.tables.near, closed.compiled_rows.near
    known: dict[tuple[str, int], float] = {}
    for name, place in closed.tree.coordinates.items():
        if place.q.stop - place.q.start == place.v.stop - place.v.start:
            known |= {(name, m): float(x) for m, x in enumerate(q[place.q])}
    for driver in system.drivers.values():
        if driver.kind == "joint" and (driver.joint, driver.freedom) not in known:
            known[driver.joint, driver.freedom] = float(driver.resolved(system.values).value(t))
        elif isinstance(driver, OrientationDriver) and driver.angle and (driver.name, driver.angle.capitalize()) in at:
            near[at[driver.name, driver.angle.capitalize()]] = float(driver.resolved(system.values).value(t))
    for coupling in system.couplings.values():
        terms, offset = coupling.law(system.values)
        open_ = [term for term in terms if (term.joint, term.freedom) not in known]
        if len(open_) == 1:
            rest = sum(term.coefficient * known[term.joint, term.freedom] for term in terms if term is not open_[0])
            known[open_[0].joint, open_[0].freedom] = (offset - rest) / open_[0].coefficient
    for (name, freedom), x in known.items():
        if name in system.joints and freedom < len(system.joints[name].coordinates):
            equation = system.joints[name].coordinates[freedom]
            if (name, equation) in at:
                near[at[name, equation]] = x

"""`nx.ClosedTree`: a mechanism with loops in minimal coordinates, its spanning tree closed by the joints that were cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nexdyn.constraint_rows import Row, RowBuilder
from nexdyn.constraints.kinds import LENGTHS
from nexdyn.constraints.tables import ConstraintTables
from nexdyn.errors import InputError, SolveError, unknown
from nexdyn.kernel import kernel
from nexdyn.model.system import System
from nexdyn.model.topology import open_forest
from nexdyn.spatial.rotations import quaternion
from nexdyn.tree import tables
from nexdyn.tree.aba import articulated_bodies
from nexdyn.tree.compile import Compiled
from nexdyn.tree.loops import (
    C_ROW,
    MU_ROW,
    RATE_ROW,
    SECOND_ROW,
    LoopTables,
    evaluate_rows,
    factor_rows,
    response,
    solve_rows,
)
from nexdyn.tree.tree import Tree

Array = np.ndarray
CLOSED = 1e-10
"""A pose with residuals below this, in units of the mechanism's size, is closed."""
MAX_ITERATIONS = 50
LARGEST_STEP = 0.5
"""Most that a coordinate changes in one iteration, in rad and in parts of the mechanism's size."""
RIGID = 1e12
"""Armature of a joint that is locked, over the largest inertia of the mechanism."""


@kernel
def closed_dynamics(model, work, loops, t, q, v, tau, a):  # type: ignore[no-untyped-def]
    """a (nv,) of the closed mechanism; λ into the last row of loops.rows."""
    articulated_bodies(model, q, v, tau, None, work, a)
    evaluate_rows(model, work, loops, t, True)
    factor_rows(work, loops)
    mu = loops.rows[MU_ROW]
    alpha, beta = loops.damping[0], loops.damping[1]
    for r in range(len(mu)):
        # (Cq M⁻¹Cqᵀ) λ = C̈₀ + 2 α Ċ + β² C
        mu[r] = loops.rows[SECOND_ROW, r] + 2.0 * alpha * loops.rows[RATE_ROW, r] + beta * beta * loops.rows[C_ROW, r]
    solve_rows(loops, mu)
    response(model, work, loops, mu)
    for j in range(len(a)):
        a[j] -= loops.change[j]


@kernel
def correction(model, work, loops, t, q, v, tau, a, row):  # type: ignore[no-untyped-def]
    """loops.change ← M⁻¹Cqᵀ (Cq M⁻¹Cqᵀ)⁻¹ x, what to take from q for x = C, from v for x = Cq v − ν; `row` says which."""
    articulated_bodies(model, q, v, tau, None, work, a)
    evaluate_rows(model, work, loops, t, False)
    factor_rows(work, loops)
    mu = loops.rows[MU_ROW]
    for r in range(len(mu)):
        mu[r] = loops.rows[row, r]
    solve_rows(loops, mu)
    response(model, work, loops, mu)


class Closure(NamedTuple):
    """Acceleration a (nv,), and the multipliers λ (m,) of the rows of the joints that were cut."""

    a: Array
    lam: Array


class ClosedTree:
    """A system with loops in minimal coordinates: M a + h + Cqᵀλ = τ, Cq a = γ on a spanning tree.

    cut: names of the joints to cut open; by default a spanning tree is chosen breadth first from the ground, and joints
    that are constraints only are always cut. `cut_joints` says which they are; `tree` is the open tree, whose order of
    coordinates holds here too.

    Rows that depend on earlier ones (higher priority first) carry nothing. Raises InputError for a choice of cuts that
    leaves a loop closed or opens none, for mimic and coupled joints, and for drivers, which the tree does not carry.
    """

    def __init__(self, system: System, cut: Sequence[str] | None = None) -> None:
        self.system = system
        forest = open_forest(system, cut)
        self.tree = Tree(system, forest)
        if self.tree.coupling is not None:
            raise InputError(
                f"system {system.name!r} has loops and joints that follow others; absolute coordinates carry both: nx.HHT"
            )
        if system.drivers:
            raise InputError(
                f"driver {next(iter(system.drivers))!r} is not carried by loops in minimal coordinates yet"
            )
        self.cut_joints = [joint.name for joint in forest.cuts]
        self.rows, self._loops = _loop_tables(system, self.tree.compiled, self.cut_joints)
        c = self.tree.compiled
        self._model, self._work = c.model, tables.new_work(len(c.model.topology) - 1, c.nv)
        self._scratch = np.zeros(c.nv)
        self._units = self._row_units()

    def __repr__(self) -> str:
        cut = ", ".join(self.cut_joints) or "none"
        return f"ClosedTree({self.system.name!r}: nv = {self.nv}, {len(self.rows)} rows, cut: {cut})"

    @property
    def nq(self) -> int:
        """Number of coordinates of the open tree."""
        return self.tree.nq

    @property
    def nv(self) -> int:
        """Number of velocities of the open tree."""
        return self.tree.nv

    def residual(self, q: Any, t: float = 0.0) -> Array:
        """C(q, t) (m,) of the rows of the cut joints, in m and rad."""
        q = self._one("q", q, self.nq)
        self._correct(self._model, t, q, np.zeros(self.nv), C_ROW)
        return self._loops.rows[C_ROW].copy()

    def jacobian(self, q: Any, t: float = 0.0) -> Array:
        """Cq (m, nv)."""
        q = self._one("q", q, self.nq)
        columns = []
        for j in range(self.nv):
            v = np.zeros(self.nv)
            v[j] = 1.0
            self._correct(self._model, t, q, v, RATE_ROW)
            columns.append(self._loops.rows[RATE_ROW].copy())
        self._correct(self._model, t, q, np.zeros(self.nv), RATE_ROW)
        return (
            np.stack(columns, axis=1) - self._loops.rows[RATE_ROW][:, None]
            if columns
            else np.zeros((len(self.rows), 0))
        )

    def dynamics(
        self, q: Any, v: Any, tau: Any, t: float = 0.0, alpha: float = 0.0, beta: float | None = None
    ) -> Closure:
        """a and λ at q, v under the efforts tau, gravity and nothing else.

        alpha, beta [1/s]: of Baumgarte's stabilisation C̈ + 2 α Ċ + β² C = 0, β = α where it is not given.
        """
        q, v, tau = self._one("q", q, self.nq), self._one("v", v, self.nv), self._one("tau", tau, self.nv)
        self._loops.damping[:] = alpha, alpha if beta is None else beta
        a = np.zeros(self.nv)
        closed_dynamics(self._model, self._work, self._loops, t, q, v, tau, a)
        if not np.isfinite(a).all():
            raise InputError(f"the accelerations of {self.system.name!r} are not finite; check masses and inertias")
        return Closure(a, self._loops.rows[MU_ROW].copy())

    def close(self, q: Any, lock: Sequence[str] = (), t: float = 0.0) -> Array:
        """The closed pose nearest to q (nq,) on its branch: nearest as the kinetic energy of the move measures it.

        lock: joints that keep their coordinates. SolveError where no step closes it, with the row that stays open.
        """
        q = self._one("q", q, self.nq)
        model = self._model if not lock else self._locked(lock)
        still = np.zeros(self.nv)
        for _ in range(MAX_ITERATIONS):
            self._correct(model, t, q, still, C_ROW)
            C = np.abs(self._loops.rows[C_ROW] * self._units)
            if C.max(initial=0.0) < CLOSED:
                return q
            step = -self._loops.change
            largest = float(np.abs(step).max(initial=0.0))
            if not np.isfinite(largest) or largest < 1e-14:
                break
            q = self.tree.integrate(q, step * min(1.0, LARGEST_STEP / largest))
        C = np.abs(self.residual(q, t) * self._units)
        worst = self.rows[int(C.argmax())]
        locked = f" with {', '.join(map(repr, lock))} locked" if lock else ""
        raise SolveError(
            f"joint {worst.joint!r} stays open by {C.max():.3g} in {worst.equation}{locked}; lock fewer joints, start nearer to "
            f"the closed pose, or check lengths with nx.assemble",
            where=worst.joint,
        )

    def consistent_velocity(self, q: Any, v: Any, lock: Sequence[str] = (), t: float = 0.0) -> Array:
        """The velocity (nv,) nearest to v that the loops allow; joints that are locked keep theirs."""
        q, v = self._one("q", q, self.nq), self._one("v", v, self.nv)
        model = self._model if not lock else self._locked(lock)
        self._correct(model, t, q, v, RATE_ROW)
        return v - self._loops.change

    def joint_wrench(self, joint: str, q: Any, lam: Any) -> Array:
        """(moment, force) (6,) of a cut joint on its child, at its point in the parent-side frame, for multipliers lam (m,)."""
        if joint not in self.cut_joints:
            raise InputError(f"joint {joint!r} is not cut; cut are {', '.join(self.cut_joints) or 'none'}")
        q, lam = self._one("q", q, self.nq), self._one("lam", lam, len(self.rows))
        self.residual(q)  # which leaves poses and wrenches behind
        c, of_joint = self.tree.compiled, self.system.joints[joint]
        arcs = {arc.child.name: a for a, arc in enumerate(c.forest.arcs)}
        place = self._work.spare[:, tables.XW_ : tables.XW_ + 12]
        child = int(c.link[arcs[of_joint.child.name]])
        R_L, p_L = place[child, :9].reshape(3, 3), place[child, 9:]
        mine = [row.index for row in self.rows if row.joint == joint]
        F = -lam[mine] @ self._loops.wrench[mine, 6:]
        R_AJ, p_AJ, _, _ = of_joint.frames(self.system.values)
        R_P, p_P = np.eye(3), np.zeros(3)
        if of_joint.parent.name in arcs:
            a = arcs[of_joint.parent.name]
            R, p = place[c.link[a], :9].reshape(3, 3), place[c.link[a], 9:]
            R_P, p_P = R @ c.R_LB[a], p + R @ c.p_LB[a]
        R_A, p_A = R_P @ R_AJ, p_P + R_P @ p_AJ
        n, f = R_L @ F[:3], R_L @ F[3:]
        return np.concatenate([R_A.T @ (n + np.cross(p_L - p_A, f)), R_A.T @ f])

    # --- inside -----------------------------------------------------------------------------------------------------

    def _correct(self, model: Any, t: float, q: Array, v: Array, row: int) -> None:
        correction(model, self._work, self._loops, t, q, v, np.zeros(self.nv), self._scratch, row)

    def _one(self, what: str, x: Any, n: int) -> Array:
        out = np.ascontiguousarray(x, dtype=float)
        if out.shape != (n,):
            raise InputError(f"{what} has shape {out.shape}; ({n},) is needed")
        if not np.isfinite(out).all():
            raise InputError(f"{what} is {out}; it must be finite")
        return out

    def _locked(self, lock: Sequence[str]) -> Any:
        """The tables with the freedoms of some joints as good as rigid."""
        model = self._model
        freedom = model.freedom.copy()
        inertia = np.abs(model.body[1:, tables.INERTIA : tables.INERTIA + 10]).max(initial=1e-300)
        for name in (lock,) if isinstance(lock, str) else lock:
            if name not in self.tree.coordinates:
                raise unknown("moving joint of the tree", name, self.tree.joint_names)
            freedom[self.tree.coordinates[name].v, tables.ARMATURE] = RIGID * inertia
        return model._replace(freedom=freedom)

    def _row_units(self) -> Array:
        """1/L for rows in m, 1 for others, (m,)."""
        points = self._model.body[1:, tables.POSE + 9 : tables.POSE + 12]
        size = float(np.linalg.norm(points, axis=1).max(initial=0.0))
        t = self._loops.tables
        length = np.array([np.isin(t.terms[r[0], 1], LENGTHS) for r in t.rows], dtype=bool)
        return np.where(length, 1.0 / (size or 1.0), 1.0)


def _loop_tables(system: System, c: Compiled, cut: list[str]) -> tuple[list[Row], LoopTables]:
    """The rows of the cut joints, higher priorities first, on the links of the tree."""
    bodies = ["ground", *system.bodies]
    number_of = {name: i for i, name in enumerate(bodies)}
    q = np.zeros((len(bodies), 7))
    q[:, 0] = 1.0
    for i, body in enumerate(system.bodies.values(), start=1):
        R, p = body.pose(system.values)
        q[i] = [*quaternion(R), *p]
    builder = RowBuilder(system, number_of, q)
    for name in cut:
        builder.add_joint(system.joints[name])
    given = builder.tables()
    order = sorted(range(len(builder.rows)), key=lambda r: (-builder.rows[r].priority, r))
    rows = [builder.rows[r]._replace(index=i) for i, r in enumerate(order)]

    link, R_LB, p_LB = [0], [np.eye(3)], [np.zeros(3)]
    arcs = {arc.child.name: a for a, arc in enumerate(c.forest.arcs)}
    for name in system.bodies:
        a = arcs[name]
        link.append(int(c.link[a]))
        R_LB.append(c.R_LB[a])
        p_LB.append(c.p_LB[a])
    frames = given.frames.reshape(-1, 2, 12).copy()
    for k, pair in enumerate(given.pairs.tolist()):
        for side, body_number in enumerate(pair):
            R, p = R_LB[body_number], p_LB[body_number]
            frames[k, side, 9:] = p + R @ frames[k, side, 9:]
            frames[k, side, :9] = (R @ frames[k, side, :9].reshape(3, 3)).ravel()
    pairs = np.array(link, dtype=np.int64)[given.pairs].reshape(-1, 2)
    on_links = ConstraintTables(
        pairs, frames.reshape(-1, 24), given.terms, given.scale, given.rows[order].reshape(-1, 3), given.offset[order],
        given.data,
    )  # fmt: skip
    paths = [_path(c, *pairs[given.terms[given.rows[r, 0], 0]].tolist()) for r in order]
    first = np.cumsum([0, *(len(path) for path in paths)])
    m = len(rows)
    return rows, LoopTables(
        on_links, first.astype(np.int64), np.array([j for path in paths for j in path], dtype=np.int64),
        builder.near_start(), np.zeros((m, max(c.nv, 1))), np.zeros((m, m)), np.zeros((4, m)), np.zeros((m, 12)),
        np.zeros(c.nv), np.zeros(2),
    )  # fmt: skip


def _path(c: Compiled, a: int, b: int) -> list[int]:
    """The freedoms between two links and the root."""
    topology = c.model.topology
    links = set()
    for i in (a, b):
        while i > 0:
            links.add(i)
            i = int(topology[i, tables.PARENT])
    return [
        j for i in sorted(links) for j in range(topology[i, tables.IV], topology[i, tables.IV] + topology[i, tables.NV])
    ]

"""From a system to absolute coordinates: tables of rows, masses, the described state, and the names behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from nexdyn.absolute.model.armature import Rotors, efforts_of_rotors, inertia_of_rotors, rotors_of
from nexdyn.absolute.model.blocks import Incidence, LoopBlock, incidence, loop_blocks
from nexdyn.absolute.model.kkt import SMALL
from nexdyn.constraint_rows import Row, RowBuilder, beyond_ends, coordinate, driven_rows
from nexdyn.constraints import rows as kernels
from nexdyn.constraints.kinds import ANGLE, FORWARD, LENGTHS, OF_TIME, USERS
from nexdyn.constraints.tables import ConstraintTables, RowsOfTerms, Terms
from nexdyn.forces.torsion_spring import TURNS, TorsionSpring, windings
from nexdyn.linalg.matrices import Matrix
from nexdyn.model.callbacks import failure
from nexdyn.model.coupling import MEDIUM, Coupled, Law
from nexdyn.model.driver import Driver
from nexdyn.model.functions import Function
from nexdyn.model.joint import Joint, is_angle
from nexdyn.model.system import System
from nexdyn.spatial.rotations import (
    cross_product,
    exp_quaternion,
    quaternion,
    quaternion_multiply,
    rotation_matrix,
    skew,
)


class DriverRow(NamedTuple):
    """A row of a driver, its function of time, the place in `near` of the angle that it drives, or −1, and the functions that it follows
    besides."""

    name: str
    row: int
    function: Function
    near: int
    followed: tuple[Function, ...] = ()

    @property
    def functions(self) -> tuple[Function, ...]:
        """All functions of it."""
        return (self.function, *self.followed)


class Angles(NamedTuple):
    """The angles that are counted over whole turns: index int64 (n, 3), place in `near`, bodies a and b; frames (n, 24), as of
    pairs: the angle is that about z of A from x of A to x of B."""

    index: np.ndarray  # type: ignore[assignment]
    frames: np.ndarray


@dataclass(frozen=True)
class AbsoluteModel:
    """A system in absolute coordinates. Arrays as in ``constraints.tables``; body 0 is the ground."""

    system: System
    bodies: list[str]
    rows: list[Row]
    tables: ConstraintTables
    mass: np.ndarray
    q: np.ndarray
    v: np.ndarray
    drivers: tuple[DriverRow, ...] = ()
    near_start: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """What angles are looked for near where nothing else is known: the coordinates that joints are given; and the parameters
    of points on curves and surfaces as described (nk,)."""
    asked: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    """Row and term of the angles that follow from others by couplings, in order, (n, 2)."""
    followed: tuple[tuple[str, str], ...] = ()
    """What each place in `near` is of: a joint, or a torsion spring, and its coordinate."""
    wound: tuple[tuple[int, tuple[tuple[int, float], ...]], ...] = ()
    """Of each torsion spring its place in `near`, and place and sign of each angle of a joint that winds it up."""
    angles: Angles = field(default_factory=lambda: Angles(np.zeros((0, 3), dtype=np.int64), np.zeros((0, 24))))

    @property
    def nb(self) -> int:
        """Bodies besides the ground."""
        return len(self.bodies) - 1

    @property
    def nv(self) -> int:
        """Velocities: six a body."""
        return 6 * self.nb

    @property
    def nc(self) -> int:
        """Constraint rows."""
        return len(self.rows)

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Number of each body."""
        return {name: i for i, name in enumerate(self.bodies)}

    @cached_property
    def rows_of_joint(self) -> dict[str, list[int]]:
        """Indices of the rows of each joint: those of drivers and couplings are no part of its reaction."""
        found: dict[str, list[int]] = {}
        for row in self.rows:
            if row.driver is None and row.coupling is None:
                found.setdefault(row.joint, []).append(row.index)
        return found

    @cached_property
    def acting(self) -> np.ndarray:
        """Whether a row (nc,) acts; those of a clamp that is off are zero."""
        off = [r for name, own in self.rows_of_joint.items() if name and self.system.joints[name].is_off for r in own]
        acting = np.ones(self.nc, dtype=bool)
        acting[off] = False
        return acting

    @cached_property
    def arm(self) -> float:
        """The largest length described [m]: of places, arms of joints, and bodies' centres and radii of inertia. What is tiny beside it is
        rounding, also where all points of a mechanism coincide."""
        m, h, I = self.mass[1:, 0], self.mass[1:, 1:4], self.mass[1:, [4, 7, 9]]
        heavy = m > 0.0
        of_bodies = np.hstack([h[heavy], np.sqrt(np.maximum(I[heavy], 0.0) * m[heavy, None])]) / m[heavy, None]
        lengths = (of_bodies, self.q[1:, 4:], self.tables.frames[:, [9, 10, 11, 21, 22, 23]])
        return max(float(np.abs(x).max(initial=0.0)) for x in lengths)

    @cached_property
    def pair_of_joint(self) -> dict[str, int]:
        """The pair of each joint."""
        return {name: k for k, name in enumerate(self.system.joints)}

    @cached_property
    def joints_with_directions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Joints that keep an axis of both sides parallel, by number, that axis, and whether they leave the turn about it free."""
        found = []
        for k, joint in enumerate(self.system.joints.values()):
            equations = {equation for equation, _ in joint.rows}
            for axis, pair in ((2, {"DotZX", "DotZY"}), (0, {"DotXY", "DotXZ"}), (1, {"DotYZ", "DotYX"})):
                if pair <= equations:
                    found.append((k, axis, len([row for row in equations if row.startswith("Dot")]) == 2))
                    break
        numbers, axes, turns = zip(*found, strict=True) if found else ((), (), ())
        return np.array(numbers, dtype=int), np.array(axes, dtype=int), np.array(turns, dtype=bool)

    @cached_property
    def incidence(self) -> Incidence:
        """The bodies of every row."""
        return incidence(self.tables.pairs, self.tables.terms, self.tables.rows)

    @cached_property
    def loop_blocks(self) -> list[LoopBlock]:
        """The blocks of the constraint graph that have loops, or a joint whose rows may depend by themselves: with
        a coupling's beside its own, or of the user's making."""
        on_joint = [
            self.incidence.element[row.index] for row in self.rows if row.coupling is not None and row.driver is None
        ]
        terms = Terms(self.tables.terms)
        on_joint += terms.pair[np.isin(terms.primitive, USERS)].tolist()
        suspects = np.unique([k for k in on_joint if k < len(self.tables.pairs)]).astype(int)
        return loop_blocks(self.tables.pairs, self.incidence, len(self.bodies), suspects)

    @cached_property
    def row_is_length(self) -> np.ndarray:
        """Whether a row is a length [m], (nc,); else it is an angle or a product of directions."""
        of_term = np.isin(Terms(self.tables.terms).primitive, LENGTHS)
        return (
            np.logical_or.reduceat(of_term, RowsOfTerms(self.tables.rows).first) if self.nc else np.zeros(0, dtype=bool)
        )

    @cached_property
    def positional(self) -> np.ndarray:
        """Whether a row holds positions, (nc,); else it is a velocity row, A v + b = 0, whose C is 0."""
        first = RowsOfTerms(self.tables.rows).first
        return Terms(self.tables.terms).primitive[first] < FORWARD if self.nc else np.ones(0, dtype=bool)

    @cached_property
    def row_priority(self) -> np.ndarray:
        """The priority of every row, (nc,); velocity rows come after all others, whose dependence they do not change."""
        given = np.array([row.priority for row in self.rows], dtype=int)
        return np.where(self.positional, given, given - 1 - given.max(initial=0))

    def row_gradients(self, q: np.ndarray, t: float = 0.0, near: np.ndarray | None = None) -> np.ndarray:
        """Cq row by row, (nc, w, 6), for the bodies that `incidence.nodes` names."""
        J = self.term_jacobian(q, t, near).reshape(-1, 2, 6)
        out = np.zeros((self.nc, self.incidence.nodes.shape[1], 6))
        row = np.repeat(np.arange(self.nc), RowsOfTerms(self.tables.rows).count)
        for side in (0, 1):
            np.add.at(out, (row, self.incidence.slot[:, side]), J[:, side])
        return out

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(row, column, kept) of the entries (nt, 12) of the term Jacobian."""
        term_row = np.repeat(np.arange(self.nc), RowsOfTerms(self.tables.rows).count)
        bodies = self.tables.pairs[Terms(self.tables.terms).pair]
        column = 6 * (bodies[:, :, None] - 1) + np.arange(6)
        kept = np.broadcast_to((bodies > 0)[:, :, None], column.shape)
        return np.repeat(term_row, 12), column.reshape(-1), kept.reshape(-1).copy()

    # --- constraints ------------------------------------------------------------------------------------------------

    def near(self, q: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Where angles are looked for at a pose that no motion leads to (nk,): those that are driven near what their
        drivers say, those coupled with them where the couplings then ask for, others near the coordinates that their joints are
        given, else within half a turn. Of points on curves and surfaces, the nearest places that a descent from the described
        ones comes to."""
        near = np.zeros(len(self.near_start))
        near[:] = self.near_start
        for driver in self.drivers:
            if driver.near >= 0:
                near[driver.near] = driver.function.value(t)
        if len(self.asked):
            kernels.follow(self.tables, t, q, self.asked, near)
        if self.on_curves:
            kernels.values(self.tables, t, q, near, np.empty(self.nc))
        for k, path in self.wound:
            near[k] = self.near_start[k] + sum(sign * near[place] for place, sign in path)
        return near

    def counted(self, q: np.ndarray, near: np.ndarray) -> np.ndarray:
        """`near` (nk,) with the angles at the pose q in place of what they are near."""
        (k, a, b), out = self.angles.index.T, near.copy()
        R = rotation_matrix(q[:, :4])
        R_A = R[a] @ self.angles.frames[:, :9].reshape(-1, 3, 3)
        x = np.einsum("nij,nj->ni", R[b], self.angles.frames[:, [12, 15, 18]])
        angle = np.arctan2(np.einsum("ni,ni->n", R_A[..., 1], x), np.einsum("ni,ni->n", R_A[..., 0], x))
        out[k] = angle + 2.0 * np.pi * np.round((near[k] - angle) / (2.0 * np.pi))
        return out

    def started(self, given: Mapping[str, np.ndarray]) -> AbsoluteModel:
        """The same, its angles near the coordinates that joints are `given`."""
        start = self.near_start.copy()
        for k, (joint, equation) in enumerate(self.followed):
            if joint in given and equation in (coordinates := self.system.joints[joint].coordinates):
                start[k] = given[joint][coordinates.index(equation)]
        return self if np.array_equal(start, self.near_start) else replace(self, near_start=start)

    def residual(self, q: np.ndarray, t: float = 0.0, near: np.ndarray | None = None) -> np.ndarray:
        """C(q, t) (nc,). Along a motion `near` is the one of the last pose, and takes what is found here: angles may
        turn many times."""
        C = np.empty(self.nc)
        kernels.values(self.tables, t, q, self.near(q, t) if near is None else near, C)
        for driver in self.drivers:
            C[driver.row] -= driver.function.value(t)
        return self._finite(C, t)

    def nu(self, t: float = 0.0, q: np.ndarray | None = None) -> np.ndarray:
        """ν = −C_t (nc,): Cq v = ν. Of drivers it is ḟ; rows of the user's own need the pose."""
        nu = np.zeros(self.nc)
        if self.explicit:
            if q is None:
                raise ValueError("the rows of user functions of the time depend on q; give it")
            kernels.rates(self.tables, t, q, nu)
            self._finite(nu, t)
        for driver in self.drivers:
            nu[driver.row] += driver.function.derivative(t)
        return nu

    def term_jacobian(self, q: np.ndarray, t: float = 0.0, near: np.ndarray | None = None) -> np.ndarray:
        """Gradients of the terms (nt, 12)."""
        J = np.empty((len(self.tables.terms), 12))
        kernels.jacobian(self.tables, t, q, self._given(near), J)
        return self._finite(J, t)

    @property
    def small(self) -> bool:
        """Whether its matrices are arrays; those of larger models are sparse."""
        return self.nv + self.nc <= SMALL

    def jacobian(self, q: np.ndarray, t: float = 0.0, near: np.ndarray | None = None) -> Matrix:
        """Cq (nc, 6 nb) for the velocities (ω in the body, v in the world) of each body."""
        if self.small:
            Cq = np.zeros((self.nc, len(self.bodies), 6))
            gradients = self.row_gradients(q, t, near)
            for k, body in enumerate(self.incidence.nodes.T):
                rows = np.flatnonzero(body >= 0)
                Cq[rows, body[rows]] = gradients[rows, k]
            return Cq.reshape(self.nc, 6 * len(self.bodies))[:, 6:]
        row, column, kept = self._pattern
        J = self.term_jacobian(q, t, near).reshape(-1)
        return sp.csr_matrix((J[kept], (row[kept], column[kept])), shape=(self.nc, self.nv))

    def gamma(self, q: np.ndarray, v: np.ndarray, t: float = 0.0, near: np.ndarray | None = None) -> np.ndarray:
        """γ (nc,) = −Γ(v, v) − 2 C_qt v − C_tt + f̈: Cq a = γ."""
        gamma = np.empty(self.nc)
        kernels.quadratic(self.tables, t, q, v, self._given(near), gamma)
        for driver in self.drivers:
            gamma[driver.row] += driver.function.second_derivative(t)
        return self._finite(gamma, t)

    @cached_property
    def explicit(self) -> bool:
        """Whether there are rows that may depend on the time by themselves: of user functions, and of orientations that follow one."""
        return bool(np.isin(Terms(self.tables.terms).primitive, OF_TIME).any())

    @cached_property
    def on_curves(self) -> bool:
        """Whether parameters of points on curves or surfaces are followed."""
        terms = Terms(self.tables.terms)
        return bool((terms.primitive[terms.near >= 0] != ANGLE).any())

    @cached_property
    def _users(self) -> tuple[Joint, ...]:
        """The joints with functions of the user's."""
        return tuple(joint for joint in self.system.joints.values() if joint.callbacks())

    def _finite(self, x: np.ndarray, t: float) -> np.ndarray:
        """`x`; SolveError naming the joint whose function of the user's has failed."""
        if self._users and not np.isfinite(x).all():
            self.raise_failure(x, t)
        return x

    def raise_failure(self, x: np.ndarray, t: float) -> None:
        """SolveError for the joint whose function has raised, or has made `x`, an array (nc, …) or (nt, …), not finite."""
        rows = (
            np.repeat(np.arange(self.nc), RowsOfTerms(self.tables.rows).count)
            if len(x) != self.nc
            else np.arange(self.nc)
        )
        bad = {self.rows[rows[int(i)]].joint for i in np.argwhere(~np.isfinite(x))[:, 0]}
        for joint in self._users:
            if joint.name in bad:
                raise failure(joint, t, joint.callbacks())

    def beyond_ends(self, q: np.ndarray, t: float = 0.0, near: np.ndarray | None = None) -> list[tuple[str, str]]:
        """(joint, what is wrong) of every point that has left the ends of its open curve or surface."""
        if not self.on_curves:
            return []
        return beyond_ends(self.tables, self.rows, self.near(q, t) if near is None else near)

    def _given(self, near: np.ndarray | None) -> np.ndarray:
        return self.near_start.copy() if near is None else near

    def curvature(self, q: np.ndarray, weight: np.ndarray, t: float = 0.0, near: np.ndarray | None = None) -> Matrix:
        """Σ weight_r C_qq (6 nb, 6 nb) for increments R exp(θ), p + δ."""
        n = len(self.tables.pairs)
        H = np.zeros((n, 12, 12))
        kernels.curvature(self.tables, t, q, self._given(near), weight, H)
        if self._users and not np.isfinite(H).all():
            self.raise_failure(self.gamma(q, np.zeros((len(self.bodies), 6)), t, near), t)
        column = (6 * (self.tables.pairs[:, :, None] - 1) + np.arange(6)).reshape(n, 12)
        i, j = np.broadcast_to(column[:, :, None], H.shape), np.broadcast_to(column[:, None, :], H.shape)
        kept = ((i >= 0) & (j >= 0)).reshape(-1)
        entries = (H.reshape(-1)[kept], (i.reshape(-1)[kept], j.reshape(-1)[kept]))
        if self.small:
            dense = np.zeros((self.nv, self.nv))
            np.add.at(dense, entries[1], entries[0])
            return dense
        return sp.csr_matrix(entries, shape=(self.nv, self.nv))

    def block_diagonal(self, blocks: np.ndarray) -> Matrix:
        """The matrix (6 nb, 6 nb) of a block (6, 6) for each body."""
        n = self.nb
        if self.small:
            dense = np.zeros((n, 6, n, 6))
            dense[np.arange(n), :, np.arange(n)] = blocks
            return dense.reshape(6 * n, 6 * n)
        return sp.csr_matrix(sp.bsr_matrix((blocks, np.arange(n), np.arange(n + 1)), shape=(self.nv,) * 2))

    def as_matrix(self, dense: np.ndarray) -> Matrix:
        """An array as this model's matrices are."""
        return dense if self.small else sp.csr_matrix(dense)

    def diagonal(self, W: np.ndarray) -> Matrix:
        """The diagonal matrix of W (6 nb,)."""
        return np.diag(W) if self.small else sp.csr_matrix(sp.diags(W))

    # --- bodies -----------------------------------------------------------------------------------------------------

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """q after increments (θ in the body, δ in the world) of every body, `step` (6 nb,)."""
        step = step.reshape(-1, 6)
        out = q.copy()
        out[1:, :4] = quaternion_multiply(q[1:, :4], exp_quaternion(step[:, :3]))
        out[1:, :4] /= np.linalg.norm(out[1:, :4], axis=1, keepdims=True)
        out[1:, 4:] += step[:, 3:]
        return out

    def mass_matrix(self, q: np.ndarray) -> Matrix:
        """M (6 nb, 6 nb): [[I, m ĉ Rᵀ], [−m R ĉ, m 1]] a body, about its origin, and Bᵀ I_a B of armatures."""
        R = rotation_matrix(q[1:, :4])
        m, h, I = self.mass[1:, 0], self.mass[1:, 1:4], _full(self.mass[1:, 4:])
        blocks = np.zeros((self.nb, 6, 6))
        blocks[:, :3, :3] = I
        blocks[:, :3, 3:] = skew(h) @ np.swapaxes(R, 1, 2)
        blocks[:, 3:, :3] = np.swapaxes(blocks[:, :3, 3:], 1, 2)
        blocks[:, 3:, 3:] = m[:, None, None] * np.eye(3)
        M = self.block_diagonal(blocks)
        if not len(self.rotors.joints):
            return M
        values, i, j = inertia_of_rotors(self.rotors, self.tables.frames, q)
        if self.small:
            np.add.at(M, (i, j), values)
            return M
        return M + sp.csr_matrix((values, (i, j)), shape=M.shape)

    @cached_property
    def rotors(self) -> Rotors:
        """The armatures of its joints."""
        return rotors_of(self.system, self.body_index)

    def applied(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """τ − h (6 nb,) of gravity and the gyroscopic terms, once: torque −ω × Iω + h × Rᵀg, force m g − R ω × (ω × h);
        and −Bᵀ I_a Ḃ V of armatures."""
        R = rotation_matrix(q[1:, :4])
        m, h, I, w = self.mass[1:, 0], self.mass[1:, 1:4], _full(self.mass[1:, 4:]), v[1:, :3]
        g = self.system.gravity
        out = np.empty((self.nb, 6))
        out[:, :3] = cross_product(h, np.einsum("nji,j->ni", R, g)) - cross_product(w, np.einsum("nij,nj->ni", I, w))
        out[:, 3:] = m[:, None] * g - np.einsum("nij,nj->ni", R, cross_product(w, cross_product(w, h)))
        if len(self.rotors.joints):
            out += efforts_of_rotors(self.rotors, self.tables.frames, q, v)[1:]
        return out.reshape(-1)


def part_of(model: AbsoluteModel, shape: LoopBlock, near: np.ndarray) -> tuple[AbsoluteModel, np.ndarray]:
    """The block alone, without drivers, and its rows in `model`; its first body stands for the ground.

    Angles are looked for near `near`."""
    t = model.tables
    undriven = np.array([model.rows[r].driver is None for r in shape.rows.tolist()], dtype=bool)
    chosen = np.sort(shape.rows[undriven])
    number_of = {int(body): i for i, body in enumerate(shape.bodies)}
    rows, all_rows = t.rows[chosen].copy(), RowsOfTerms(t.rows)
    terms = [e for r in (all_rows[k] for k in chosen.tolist()) for e in range(r.first, r.first + r.count)]
    pairs = np.unique(Terms(t.terms).pair[terms])
    own = RowsOfTerms(rows)
    own.first[:] = np.cumsum(own.count) - own.count
    moved = t.terms[terms].copy()
    Terms(moved).pair[:] = np.searchsorted(pairs, Terms(moved).pair)
    tables = t._replace(
        pairs=np.array([[number_of[int(i)] for i in pair] for pair in t.pairs[pairs]]), frames=t.frames[pairs],
        terms=moved, scale=t.scale[terms], rows=rows, offset=t.offset[chosen],
    )  # fmt: skip
    bodies = [model.bodies[i] for i in shape.bodies.tolist()]
    named = [model.rows[r]._replace(index=i) for i, r in enumerate(chosen.tolist())]
    row_of, term_of = ({old: new for new, old in enumerate(x)} for x in (chosen.tolist(), terms))
    asked = [(row_of[r], term_of[e]) for r, e in model.asked.tolist() if r in row_of]
    return AbsoluteModel(
        model.system, bodies, named, tables, model.mass[shape.bodies], model.q, model.v, (), near,
        np.array(asked, dtype=np.int64).reshape(-1, 2), model.followed, model.wound,
    ), chosen  # fmt: skip


def scaled_rows(J: Matrix, units: np.ndarray) -> Matrix:
    """J with each row times its unit."""
    return units[:, None] * J if isinstance(J, np.ndarray) else sp.csr_matrix(sp.diags(units) @ J)


def _full(I: np.ndarray) -> np.ndarray:
    """3×3 of (xx, xy, xz, yy, yz, zz)."""
    return I[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)


def absolute_model(system: System, drivers: bool = True, held: Sequence[Driver] = ()) -> AbsoluteModel:
    """The absolute coordinates of `system`, as described.

    drivers: whether its drivers act. held: more of them, that do not belong to it."""
    bodies = ["ground", *system.bodies]
    number_of = {name: i for i, name in enumerate(bodies)}
    values = system.values
    q, v, mass = np.zeros((len(bodies), 7)), np.zeros((len(bodies), 6)), np.zeros((len(bodies), 10))
    q[:, 0] = 1.0
    R = np.empty((len(bodies), 3, 3))
    for i, body in enumerate(system.bodies.values(), start=1):
        resolved = body.resolved(values)
        R[i], q[i, 4:] = resolved.R, resolved.p
        c, m = resolved.com, resolved.mass
        I = resolved.inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
        mass[i, 0], mass[i, 1:4], mass[i, 4:] = m, m * c, I[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    if system.bodies:
        q[1:, :4] = quaternion(R[1:])

    table = RowBuilder(system, number_of, q)
    for joint in system.joints.values():
        table.add_joint(joint)
    acting = {**(system.drivers if drivers else {}), **{driver.name: driver for driver in held}}
    driven_by = {name: driven_rows(table, driver) for name, driver in acting.items()}
    # a pair of its own beside that of its joint, so that the joint's reaction is without what drives it
    driven_pair = {
        name: table.add_pair(rows[0].what.a, rows[0].what.b, rows[0].what.frame) for name, rows in driven_by.items()
    }
    for coupling in system.couplings.values():
        law = coupling.law(values)
        table.add_coupling(Row("", coupling.equation, coupling.priority, 0, None, coupling.name), law)
    for joint in system.joints.values():
        mimic = joint.resolved(values).mimic if joint.mimic is not None else None
        if mimic is not None:
            law = Law((Coupled(joint.name, 0, 1.0), Coupled(mimic.joint, 0, -mimic.multiplier)), mimic.offset)
            table.add_coupling(Row(joint.name, "Mimic", MEDIUM, 0, None, joint.name), law)
    driven: list[DriverRow] = []
    for name, rows in driven_by.items():
        for what, function, followed, data in rows:
            near = table.near_of((what.joint or name, what.equation)) if what.primitive == ANGLE else -1
            driven.append(DriverRow(name, len(table.rows), function, near, followed))
            row = Row(what.joint, what.equation, acting[name].priority, 0, name)
            terms = [(driven_pair[name], what.primitive, near, 1.0)]
            table.add_row(row, terms, what.offset, len(driven) - 1, data)
    asked = table.asked({driver.near for driver in driven})
    angles = _angles(system, number_of, table)
    model = AbsoluteModel(
        system, bodies, table.rows, table.tables(), mass, q, v, tuple(driven), table.near_start(), asked,
        tuple(table.near), _wound(system, table), angles,
    )  # fmt: skip
    return model.started(
        {
            joint.name: np.asarray(joint.resolved(values).q0, dtype=float)
            for joint in system.joints.values()
            if joint.q0 is not None
        }
    )


def _wound(system: System, table: RowBuilder) -> tuple[tuple[int, tuple[tuple[int, float], ...]], ...]:
    """Which angles of joints wind up which torsion springs."""
    paths = windings(system, [joint.name for joint in system.joints.values() if joint.tree])
    return tuple(
        (
            table.near[spring, TURNS],
            tuple((table.near[x.joint, system.joints[x.joint].coordinates[x.freedom]], x.sign) for x in path),
        )
        for spring, path in paths.items()
    )


def _angles(system: System, number_of: Mapping[str, int], table: RowBuilder) -> Angles:
    """The angles of joints and torsion springs, each with a place in `near`."""
    index, frames = [], []
    for joint in system.joints.values():
        for m, equation in enumerate(joint.coordinates):
            place = (joint.name, equation)
            if is_angle(equation) and (place in table.near or (joint.nv and joint.tree)):
                what = coordinate(joint, m, system.values)
                index.append((table.near_of(place), number_of[what.a], number_of[what.b]))
                frames.append(what.frame)
    for force in system.forces.values():
        if isinstance(force, TorsionSpring):
            k, (A, B) = table.near_of((force.name, TURNS)), force.frames(system)
            table.followed[k] = force.first_angle(system.values)
            index.append((k, number_of[A.body], number_of[B.body]))
            frames.append(np.concatenate([A.R_BF.ravel(), A.p_BF, B.R_BF.ravel(), B.p_BF]))
    return Angles(np.array(index, dtype=np.int64).reshape(-1, 3), np.array(frames).reshape(-1, 24))

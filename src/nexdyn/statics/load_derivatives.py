"""How what acts on the bodies changes with their motion: sparse derivatives, by differences of many bodies at once.

    ∂Q/∂x, ∂Q/∂v (6 nb, 6 nb),   ∂Q/∂s,   ∂ṡ/∂x, ∂ṡ/∂v, ∂ṡ/∂s          x: increments (θ, δ) of poses, s: states of forces

Rows of velocities (rolling, knife edges) have no potential λ C: what they exert, −Jᵀλ with λ held, turns with the bodies as any
force does, and counts as one.

A force feels the two bodies that it joins, so that bodies with no neighbour in common are moved at the same time (Curtis, Powell
& Reid 1974): a chain of any length takes three colours. States of forces are nodes of the same graph.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from nexdyn.assembly.loads import Loads
from nexdyn.errors import SolveError
from nexdyn.forces.tables import NO_DOF, ForceEntries, ForceEntry
from nexdyn.kernel import allocating, kernel
from nexdyn.statics.differences import GOOD

STEPS = (1e-2, 2.5e-3, 6e-4, 1.5e-4, 4e-5, 1e-5)
"""Steps of careful differences, in rad and lengths of the mechanism, and of velocities in those at the rate of its own."""
STEP = 1e-6
"""The step of quick ones."""


NO_ROWS = np.zeros(0, dtype=int)


class Derivatives(NamedTuple):
    """∂Q/∂x, ∂Q/∂v, ∂Q/∂s; ∂ṡ/∂x, ∂ṡ/∂v, ∂ṡ/∂s, sparse; their error, relative to the largest entry, in the mechanism's units."""

    Q_x: sp.csr_matrix
    Q_v: sp.csr_matrix
    Q_s: sp.csr_matrix
    s_x: sp.csr_matrix
    s_v: sp.csr_matrix
    s_s: sp.csr_matrix
    error: float


class LoadGraph:
    """Which bodies and states feel one another by forces, and colours under which they do not.

    step, reach [rad, lengths of the mechanism]: the step of quick differences, and how far careful ones may go. own: places in z of the
    states that move by themselves, and what of each is little. slips, pressed: rows of velocities that exert forces, and their
    multipliers."""

    def __init__(
        self, acting: Loads, own: list[int], little: list[float], length: float,
        slips: np.ndarray = NO_ROWS, pressed: np.ndarray = NO_ROWS,
    ) -> None:  # fmt: skip
        self.acting, self.length = acting, length
        self.step, self.reach = STEP, math.inf
        self.slips, self.pressed = slips, pressed
        self.own, self.little = np.array(own, dtype=int), np.array(little, dtype=float)
        model = acting.model
        self.nb, n = model.nb, model.nb + len(own)
        groups = [
            [model.body_index[joint.parent.name] - 1, model.body_index[joint.child.name] - 1] for joint in acting.joints
        ]
        for row in (row for row in model.rows if row.index in slips):
            joint = model.system.joints[row.joint]
            groups.append([model.body_index[body.name] - 1 for body in (joint.parent, joint.child)])
        tables = acting.tables
        if tables is not None:
            of_freedom = np.searchsorted(acting.first_v, ForceEntries(tables.index).dof, side="right") - 1
            state = {place: self.nb + k for k, place in enumerate(own)}
            for e, force in enumerate(map(ForceEntry, tables.index)):
                if force.off:
                    continue
                bodies = [force.body_a - 1, force.body_b - 1]
                if force.dof != NO_DOF:
                    bodies = list(groups[of_freedom[e]])
                groups.append(bodies + [state[z] for z in range(force.state, force.state + force.states) if z in state])
        pairs = [(i, j) for group in groups for i in group for j in group if i >= 0 and j >= 0]
        i, j = np.array([*pairs, *((k, k) for k in range(n))]).T.reshape(2, -1)
        self.felt = sp.csr_matrix((np.ones(len(i), dtype=bool), (i, j)), shape=(n, n))
        self.felt.sum_duplicates()
        self.felt.sort_indices()
        self.colour = coloured(self.felt.indptr, self.felt.indices)
        self.row, self.column = np.repeat(np.arange(n), np.diff(self.felt.indptr)), self.felt.indices

    def derivatives(self, q: np.ndarray, v: np.ndarray, t: float, states: np.ndarray, rate: float) -> Derivatives:
        """All of them at a state of a mechanism that moves by itself at `rate` [1/s]."""
        self._at = (q, v, t, states)
        x, v_, s = (
            self._columns(which, width, True, unit) for which, width, unit in ((0, 6, 1.0), (1, 6, rate), (2, 1, 1.0))
        )
        return Derivatives(
            self._block(x, 0, 0), self._block(v_, 0, 0), self._block(s, 0, 1),
            self._block(x, 1, 0), self._block(v_, 1, 0), self._block(s, 1, 1), max(part[1] for part in (x, v_, s)),
        )  # fmt: skip

    def by_poses(self, q: np.ndarray, v: np.ndarray, t: float, states: np.ndarray, careful: bool) -> sp.csr_matrix:
        """∂Q/∂x alone; where not careful by central differences of one step."""
        self._at = (q, v, t, states)
        return self._block(self._columns(0, 6, careful), 0, 0)

    def _value(self, which: int, step: np.ndarray) -> np.ndarray:
        """(Q, ṡ) as rows (n, 6) of the nodes, at the state moved by `step` (n, 6) of poses, velocities or states."""
        q, v, t, states = self._at
        model, nb = self.acting.model, self.nb
        if which == 0:
            q = model.moved(q, step[:nb])
        elif which == 1:
            v = v.copy()
            v[1:] += step[:nb]
        else:
            states = states.copy()
            states[self.own] += step[nb:, 0]
        out = np.zeros((nb + len(self.own), 6))
        out[:nb] = self.acting(q, v, t, states).reshape(-1, 6)
        if len(self.slips):
            out[:nb] -= (model.jacobian(q, t)[self.slips].T @ self.pressed).reshape(-1, 6)
        out[nb:, 0] = self.acting.rate[self.own]
        if not np.isfinite(out).all():
            k = int(np.flatnonzero(~np.isfinite(out).all(axis=1))[0])
            name = model.bodies[1 + k] if k < nb else ""
            raise SolveError(f"the load on body {name!r} is not finite; check its forces", time=t, where=name)
        return out

    def _columns(self, which: int, width: int, careful: bool, per: float = 1.0) -> tuple[np.ndarray, float]:
        """Entries (edges, 6, width) and the error. per: by how much more than rad, lengths and what is little the numbers change."""
        n, nb = len(self.colour), self.nb
        entries = np.zeros((len(self.row), 6, width))
        moving = np.arange(n) < nb if which < 2 else np.arange(n) >= nb
        units = np.ones((n, 6))
        units[:nb, 3:] = self.length
        units[nb:, 0] = self.little
        rows = units.copy()
        rows[nb:, 0] = 1.0 / self.little
        units = units * per
        largest, worst = np.zeros(2), np.zeros(2)
        for colour in range(int(self.colour.max(initial=-1)) + 1):
            mine = moving & (self.colour == colour)
            if not mine.any():
                continue
            edges = np.flatnonzero(mine[self.column])
            for c in range(width):
                e = np.zeros((n, 6))
                e[mine, c] = units[mine, c]
                row = self.row[edges]
                found, error = self._difference(which, e, row, rows[row], careful)
                entries[edges, :, c] = found / units[self.column[edges], c][:, None]
                size = np.abs(found * rows[row]).max(axis=1, initial=0.0)
                for kind, those in enumerate((row < nb, row >= nb)):
                    largest[kind] = max(largest[kind], size[those].max(initial=0.0))
                    worst[kind] = max(worst[kind], error[those].max(initial=0.0))
        return entries, float((worst / np.where(largest > 0.0, largest, 1.0)).max())

    def _difference(
        self, which: int, e: np.ndarray, rows: np.ndarray, units: np.ndarray, careful: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """The derivative along e of some rows, by the step that is best for each, and its error times `units`; see ``differences``."""
        if not careful:
            ahead, behind = self._value(which, self.step * e)[rows], self._value(which, -self.step * e)[rows]
            return (ahead - behind) / (2.0 * self.step), np.zeros(len(rows))
        best, error = np.zeros((len(rows), 6)), np.full(len(rows), np.inf)
        bodies = rows < self.nb
        still = np.abs(self._value(which, 0.0 * e)[rows] * units).max(axis=1, initial=0.0)
        for h in [h for h in STEPS if 3.0 * h <= self.reach] or [self.reach / 3.0]:
            d = {
                k: (self._value(which, k * h * e) - self._value(which, -k * h * e))[rows]
                for k in (0.5, 1.0, 1.5, 2.0, 3.0)
            }
            wide = (45.0 * d[1.0] - 9.0 * d[2.0] + d[3.0]) / (60.0 * h)
            narrow = (45.0 * d[0.5] - 9.0 * d[1.0] + d[1.5]) / (30.0 * h)
            off = np.abs((wide - narrow) * units).max(axis=1) / 63.0
            better = off < error
            best[better], error[better] = ((64.0 * narrow - wide) / 63.0)[better], off[better]
            size = np.maximum(still, np.abs(best * units).max(axis=1))
            least = np.where(bodies, size[bodies].max(initial=0.0), size[~bodies].max(initial=0.0))
            if (error <= GOOD * least).all():
                break
        return best, error

    def _block(self, part: tuple[np.ndarray, float], rows: int, columns: int) -> sp.csr_matrix:
        """Bodies (0) or states (1) by bodies or states."""
        entries, nb, ns = part[0], self.nb, len(self.own)
        kept = ((self.row >= nb) == bool(rows)) & ((self.column >= nb) == bool(columns))
        r, c, x = self.row[kept], self.column[kept], entries[kept]
        shape = (ns if rows else 6 * nb, ns if columns else 6 * nb)
        if rows:
            x, r = x[:, :1], (r - nb)[:, None, None]
        else:
            r = 6 * r[:, None, None] + np.arange(6)[:, None]
        c = (c - nb)[:, None, None] if columns else 6 * c[:, None, None] + np.arange(x.shape[2])
        r, c = np.broadcast_to(r, x.shape), np.broadcast_to(c, x.shape)
        full = x != 0.0
        return sp.csr_matrix((x[full], (r[full], c[full])), shape=shape)


@kernel
@allocating
def coloured(start, felt):
    """Colours (n,), so that no two nodes that a third one feels have the same, greedily."""
    n = len(start) - 1
    colour, taken = np.full(n, -1, dtype=np.int64), np.full(n + 1, -1, dtype=np.int64)
    for i in range(n):
        for e in range(start[i], start[i + 1]):
            k = felt[e]
            for f in range(start[k], start[k + 1]):
                c = colour[felt[f]]
                if c >= 0:
                    taken[c] = i
        c = 0
        while taken[c] == i:
            c += 1
        colour[i] = c
    return colour


def turned_stiffness(Q: np.ndarray) -> sp.csr_matrix:
    """½ [n]× (6 nb, 6 nb) of the bodies' torques n: what −∂Q/∂x lacks to be the derivative for increments exp θ,
    whose axes turn with the body: J_rᵀ(θ) n = n + ½ θ × n + …"""
    n = 0.5 * Q.reshape(-1, 6)[:, :3]
    blocks = np.zeros((len(n), 6, 6))
    blocks[:, 0, 1], blocks[:, 0, 2], blocks[:, 1, 2] = -n[:, 2], n[:, 1], -n[:, 0]
    blocks -= np.swapaxes(blocks, 1, 2)
    return sp.csr_matrix(sp.bsr_matrix((blocks, np.arange(len(n)), np.arange(len(n) + 1)), shape=(6 * len(n),) * 2))

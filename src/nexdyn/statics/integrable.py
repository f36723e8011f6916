"""`nx.integrable`: whether velocity rows are holonomic in disguise (Frobenius), and which combinations of them.

The rows are one-forms α_i = A_i dq + b_i dt on poses and time, those of position rows their differentials dC_i. On the
motions D that all of them allow, a combination Σ c_i α_i is closed up to the others if

    Σ c_i dα_i(X, Y) = 0   for all X, Y in D,       dα(X, Y) = X(α · Y) − Y(α · X)

The combinations that pass are asked again among themselves, I⁰ ⊃ I¹ ⊃ I² …, which are fewer forms on more motions, until
all pass: by Frobenius' theorem those, and no others, are combinations of differentials of functions of pose and time (the
derived flag: Bryant et al., Exterior Differential Systems, 1991, chapter II). Position rows always pass; what else does is
holonomic in disguise.

Poses are q₀ ∘ ξ, ξ = (θ, δ) of every body; derivatives of the forms are central differences of fourth order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.configuration import feasible_pose
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.absolute.model.redundancy import find_redundancy
from nexdyn.assembly.assemble import assemble, mechanism_length
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.closing import Closing
from nexdyn.assembly.report import AssemblyReport
from nexdyn.checked_calls import CheckedCalls
from nexdyn.linalg.matrices import dense
from nexdyn.model.system import System
from nexdyn.spatial.rotations import right_jacobian_inverse

STEP = 2e-3
"""Of the differences, in rad, lengths of the mechanism, and the time in which rows that are driven move by as much."""
ZERO = 1e-6
"""Singular values below this part of the largest form are zeros."""
SMALL = 1e-7
AWAY = 0.1
"""How far the second pose is, in rad and lengths of the mechanism: what holds at one pose only is no law."""


@dataclass(frozen=True)
class Integrability(metaclass=CheckedCalls):
    """What `nx.integrable` finds.

    rows: the independent velocity rows ("wheel.Sideways"). combinations: {row: coefficient} of those that are holonomic in
    disguise, beside combinations of position rows; as many as are independent. flag: how many combinations of velocity rows
    were left after each round.
    """

    rows: list[str]
    combinations: list[dict[str, float]]
    flag: list[int]

    @property
    def holonomic(self) -> bool:
        """Whether all velocity rows are position rows in disguise."""
        return len(self.combinations) == len(self.rows)

    def __str__(self) -> str:
        n, m = len(self.combinations), len(self.rows)
        if not m:
            return "no velocity rows"
        says = f"{n} of {m} velocity rows {'is' if n == 1 else 'are'} holonomic in disguise"
        lines = [
            "  " + " ".join(f"{c:+.4g} {name}" for name, c in combination.items()) for combination in self.combinations
        ]
        return "\n".join([says, *lines])


@small_on_one_thread
def integrable(system: System, at: AssemblyReport | None = None, t: float = 0.0) -> Integrability:
    """Whether velocity rows of `system` (rolling, knife edges, rows of your own) could be written as equations of positions.

    at: the report of `nx.assemble` whose pose is looked at, by default that of the system as described at time t; and
    another pose nearby, so that what holds at one pose only does not count.
    """
    report = assemble(system, t=t) if at is None else at
    model = report.model
    if model.positional.all():
        return Integrability([], [], [])
    length = mechanism_length(model)
    here = _Forms(model, report.q, report.t, length)
    found = here.flag()
    elsewhere = _nearby(here)
    if elsewhere is not None:
        there = elsewhere.flag()
        if len(there[0]) < len(found[0]):
            found, here = there, elsewhere
    coefficients, counts = found
    velocity = ~model.positional[here.kept]
    rows = [str(model.rows[r]) for r, moves in zip(here.kept.tolist(), velocity.tolist(), strict=True) if moves]
    passed = _reduced_rows(coefficients[:, velocity])
    combinations = [
        {name: float(c) for name, c in zip(rows, row, strict=True) if abs(c) > SMALL} for row in passed.tolist()
    ]
    return Integrability(rows, combinations, counts)


class _Forms:
    """The forms of all independent rows about a pose, (m, 6 nb + 1)."""

    def __init__(self, model: AbsoluteModel, q: np.ndarray, t: float, length: float) -> None:
        self.model, self.q, self.t, self.length = model, q, t, length
        self.kept = np.flatnonzero(find_redundancy(model, q, t).kept)
        self.n = model.nv + 1
        self.unit = np.append(np.tile([1.0, 1.0, 1.0, length, length, length], model.nb), 1.0)
        self.pivots: list[np.ndarray] = []
        self.near = model.near(q, t)
        W = np.abs(self._raw(np.zeros(self.n)))
        self.scale = 1.0 / np.maximum(W[:, :-1].max(axis=1), 1e-300)
        self.unit[-1] = 1.0 / (float((W[:, -1] * self.scale).max(initial=0.0)) or 1.0)

    def _raw(self, xi: np.ndarray) -> np.ndarray:
        model = self.model
        step, t = (xi * self.unit)[:-1], self.t + xi[-1]
        q = model.moved(self.q, step)
        J = model.jacobian(q, t, self.near.copy())
        W = np.empty((len(self.kept), self.n))
        W[:, :-1] = dense(J)[self.kept]
        W[:, -1] = -model.nu(t, q)[self.kept]
        for i in range(model.nb):
            turn = slice(6 * i, 6 * i + 3)
            W[:, turn] = W[:, turn] @ np.linalg.inv(right_jacobian_inverse(step[turn]))
        return W * self.unit

    def at(self, level: int, xi: np.ndarray) -> np.ndarray:
        """The forms of Iˡᵉᵛᵉˡ at ξ."""
        if level == 0:
            return self._raw(xi) * self.scale[:, None]
        W = self.at(level - 1, xi)
        return self._passing(level - 1, xi, W) @ W

    def _passing(self, level: int, xi: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Coefficients (k, m) of the combinations of the forms of a level that pass."""
        X = scipy.linalg.null_space(W, rcond=1e-9)
        rates = [self._along(level, xi, x) for x in X.T]
        pairs = [rates[a] @ X[:, b] - rates[b] @ X[:, a] for a in range(X.shape[1]) for b in range(a + 1, X.shape[1])]
        P = np.array(pairs).reshape(-1, len(W))
        _, s, Vt = scipy.linalg.svd(np.concatenate([P, np.zeros((len(W), len(W)))]))
        if level < len(self.pivots):
            c = Vt[len(W) - len(self.pivots[level]) :]
            return _normed(c, self.pivots[level])
        c = Vt[int((s > ZERO).sum()) :]
        order = scipy.linalg.qr(c, mode="r", pivoting=True)[-1][: len(c)] if len(c) else np.zeros(0, dtype=int)
        self.pivots.append(np.sort(order))
        return _normed(c, self.pivots[level])

    def _along(self, level: int, xi: np.ndarray, x: np.ndarray) -> np.ndarray:
        one, two = (self.at(level, xi + k * STEP * x) - self.at(level, xi - k * STEP * x) for k in (1.0, 2.0))
        return (8.0 * one - two) / (12.0 * STEP)

    def flag(self) -> tuple[np.ndarray, list[int]]:
        """Coefficients (k, m) of what passes in the end, and how many passed after each round beside position rows."""
        o = np.zeros(self.n)
        positions = int(self.model.positional[self.kept].sum())
        C = np.eye(len(self.kept))
        counts: list[int] = []
        level = 0
        while True:
            W = self.at(level, o)
            c = self._passing(level, o, W)
            counts.append(len(c) - positions)
            if len(c) == len(W) or len(c) <= positions:
                break
            C = c @ C
            level += 1
        return (c @ C if len(c) < len(W) else C) * self.scale, counts


def _normed(c: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    """The same space, with the identity in the columns `pivots`."""
    return np.linalg.solve(c[:, pivots], c) if len(c) else c


def _reduced_rows(c: np.ndarray) -> np.ndarray:
    """A basis of the rows of c, with the identity in some columns."""
    if not c.size:
        return np.zeros((0, c.shape[1]))
    _, R, order = scipy.linalg.qr(c, mode="economic", pivoting=True)
    rank = int((np.abs(np.diagonal(R)) > ZERO * max(1.0, float(np.abs(c).max()))).sum())
    _, _, Vt = scipy.linalg.svd(c, full_matrices=False)
    return _normed(Vt[:rank], np.sort(order[:rank]))


def _nearby(here: _Forms) -> _Forms | None:
    """The same at a pose reached along the motions that are allowed; None where it does not close."""
    W = here.at(0, np.zeros(here.n))[:, :-1]
    X = scipy.linalg.null_space(W, rcond=1e-9)
    if not X.shape[1]:
        return None
    step = X @ np.random.default_rng(0).normal(size=X.shape[1])
    model, length = here.model, here.length
    weight: Any = np.tile(1.0 / here.unit[:6] ** 2, model.nb)
    how = Closing(weight, length, here.t)
    moved = model.moved(here.q, (AWAY / np.abs(step).max() * step) * here.unit[:-1])
    pose = feasible_pose(model, moved, how.W, length, **how.options)
    return _Forms(model, pose.q, here.t, length) if pose.converged else None

"""Forward sensitivities of runs of constant step in minimal coordinates: the variational equation, marched along the run.

    R(q, v, a, t; p) = RNEA(q, v, a) − Q(q, v, t) = 0                                   Q: all that acts
    M δa = −(R_q δq + R_v δv + R_p δp),     δq̇ = δv − ad(v) δq,     δv̇ = δa

in increments δq of `Tree.integrate`, where ad(v) is that of the joints with quaternions and 0 for others. At every stage of
every step, so that what comes is the derivative of the march itself (with quaternions to the order of the method):

    k_i = G_i (δy + h Σ a_ij k_j) + g_i,     δy⁺ = δy + h Σ b_i k_i = Φ δy + β       a step;  Φ, β of many steps at once

R_q, R_v are the analytic derivatives of RNEA with what springs, dampers and friction of the joints add. Where force elements act
or springs bend a ball joint, they are differences of fourth order of R at (q, v, a), no run between: errors of some 1e-12. So is
R_p, and there exact but for rounding where R is a polynomial of degree four at most in p: in masses, inertias, centres of
mass, places, gravity, stiffness, damping. M⁻¹ is that of the analytic derivatives of ABA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from nexdyn.batch.lane_tables import pattern, stack
from nexdyn.errors import SolveError
from nexdyn.front import simulate
from nexdyn.integrate.methods import FixedStep, SemiImplicitEuler
from nexdyn.integrate.problem import OK
from nexdyn.integrate.tableaus import EULER
from nexdyn.joints.kinds import FREE, REVERSED, SPHERICAL
from nexdyn.results.result import Result
from nexdyn.simulation.problem import build_problem
from nexdyn.spatial.lanes import LANES
from nexdyn.spatial.rotations import cross_product
from nexdyn.tree.core import tables
from nexdyn.tree.core.tables import Dofs
from nexdyn.tree.derivatives.variation import stages, unbalanced
from nexdyn.tree.tree import Tree

Array = np.ndarray
Weights = Mapping[int, float]
STEP = 1e-4
"""Step of differences of R by states [rad, m, 1/s of these]."""
CENTRAL = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}
ROOM = 2**22
"""Numbers of the matrices of the steps that are done together."""


class Parameter(NamedTuple):
    """A parameter: trees at value + k h, weights of what they give (the rest is 0), and ∂(q₀, v₀) by it (2 nv,)."""

    trees: Mapping[int, Tree]
    weights: Weights
    h: float
    start: Array


class Tangents(NamedTuple):
    """δq, δv, δa (samples, nv, columns) along a run."""

    q: Array
    v: Array
    a: Array


class VariationalEquation:
    """The variational equation along `result`, a finished run of `method` with states of joints alone."""

    def __init__(self, result: Result, method: FixedStep, dynamics: Any, every: int) -> None:
        self.result, self.method, self.dynamics = result, method, dynamics
        self.tree, self.every = result.tree, every
        self.n = self.tree.nv
        compiled, model = self.tree.compiled, self.tree.compiled.model
        bodies = model.topology
        kinds = bodies.kind % REVERSED
        balls = (kinds == SPHERICAL) & (bodies.efforts != tables.NO_EFFORT)
        self._bent = bool(balls.any() and model.freedom.stiffness[: compiled.nv].any())
        self._differences = bool(self.tree.system.forces) or self._bent
        found = zip(kinds[1:].tolist(), bodies.iv[1:].tolist(), strict=True)
        self._turning = [(kind, first) for kind, first in found if kind in (SPHERICAL, FREE)]

    def tangents(self, parameters: list[Parameter], initial: bool) -> Tangents:
        """By the initial state, all of q and of v, where `initial`; then by the parameters."""
        n, count = self.n, len(parameters)
        t, q, v = self._states()
        h = np.diff(t)
        S = np.concatenate(
            [np.eye(2 * n) if initial else np.zeros((2 * n, 0)), *(p.start[:, None] for p in parameters)], 1
        )
        found = []
        step_size = max(1, ROOM // (len(self._tableau.b) * 2 * n * (2 * n + count) * 6))
        pairs = _lanes_of(parameters, self)
        for first in range(0, len(h), step_size):
            part = slice(first, first + step_size)
            at = self._stages(t[:-1][part], h[part], q[:-1][part], v[:-1][part])
            G, g = self._rates(*at, parameters, pairs)
            Phi, beta = self._steps(h[part], at[2], G, g)
            for k in range(len(Phi)):
                if (first + k) % self.every == 0:
                    found.append((S, self._of_a(G[k, 0], g[k, 0], S)))
                S = Phi[k] @ S
                S[:, S.shape[1] - count :] += beta[k]
        a = self.result.recording.a[-1]
        q_end, v_end, a_end = (x[None, None] for x in (q[-1], v[-1], a))
        G, g = self._rates(t[-1:, None], q_end, v_end, a_end, parameters, pairs)
        found.append((S, self._of_a(G[0, 0], g[0, 0], S)))
        assert len(found) == len(self.result.recording.t)
        states, rates = (np.array([pair[k] for pair in found]) for k in (0, 1))
        return Tangents(states[:, :n], states[:, n:], rates)

    # --- along the run ------------------------------------------------------------------------------------------------

    @property
    def _tableau(self) -> Any:
        return getattr(self.method, "tableau", EULER)

    def _states(self) -> tuple[Array, Array, Array]:
        """t, q, v at the ends of all steps."""
        r = self.result.recording
        if self.every > 1:
            start = {"q0": r.q[0], "v0": r.v[0]}
            whole = simulate(self.tree.system, float(r.t[-1]), self.method, dynamics=self.dynamics, **start)
            r = whole.recording
        return r.t, r.q, r.v

    def _stages(self, t: Array, h: Array, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """t (steps, stages), and q, v, a of the stages."""
        tableau, n = self._tableau, self.n
        problem = build_problem(self.tree, q[0], self.dynamics)
        count = len(tableau.b)
        Q, V, a = (np.empty((len(t), count, size)) for size in (self.tree.nq, n, n))
        y, K = np.zeros(2 * n), np.zeros((count, 2 * n))
        q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
        status = stages(problem, tableau.A, tableau.c, t, h, q, v, y, K, Q, V, a)
        assert status == OK  # the run itself came through
        return t[:, None] + h[:, None] * tableau.c, Q, V, a

    def _rates(
        self, t: Array, q: Array, v: Array, a: Array, parameters: list[Parameter], pairs: Any
    ) -> tuple[Array, Array]:
        """G (…, 2 nv, 2 nv) and g (…, 2 nv, parameters): (δv − ad(v) δq, δa) = G (δq, δv) + g δp."""
        n, shape = self.n, t.shape
        t, q, v, a = t.ravel(), *(x.reshape(t.size, -1) for x in (q, v, a))
        tau = self.tree.rnea(q, v, a)
        by = self.tree.aba_derivatives(q, v, tau)
        G = np.zeros((len(t), 2 * n, 2 * n))
        G[:, :n, n:] = np.eye(n)
        self._turn(G, v)
        if self._differences:
            R_q, R_v = self._differenced(t, q, v, a)
            G[:, n:, :n], G[:, n:, n:] = -by.tau @ R_q, -by.tau @ R_v
        else:
            G[:, n:, :n], G[:, n:, n:] = by.q, by.v
        stiff, damp = self._own(v)
        G[:, n:, :n] -= by.tau * stiff
        G[:, n:, n:] -= by.tau * damp[:, None, :]
        g = np.zeros((len(t), 2 * n, len(parameters)))
        if parameters:
            g[:, n:] = -by.tau @ self._by_parameters(t, q, v, a, parameters, pairs)
        return G.reshape(*shape, 2 * n, 2 * n), g.reshape(*shape, 2 * n, len(parameters))

    def _turn(self, G: Array, v: Array) -> None:
        """−ad(v) of the joints with quaternions into G."""
        for kind, j in self._turning:
            for first, (row, column) in ((j, (j, j)),) + (
                ((j, (j + 3, j + 3)), (j + 3, (j + 3, j))) if kind == FREE else ()
            ):
                x, y, z = v[:, first], v[:, first + 1], v[:, first + 2]
                for (r, c), value in {(0, 1): z, (0, 2): -y, (1, 0): -z, (1, 2): x, (2, 0): y, (2, 1): -x}.items():
                    G[:, row + r, column + c] = value

    def _own(self, v: Array) -> tuple[Array, Array]:
        """−∂τ/∂q (nv,) and −∂τ/∂v (states, nv) of springs, dampers and friction in the joints."""
        dofs = Dofs(self.tree.compiled.model.freedom.table[: self.n])
        if self._bent:
            return np.zeros(self.n), np.zeros(v.shape)
        f, speed = dofs.friction, dofs.friction_speed
        rubs = f != 0.0
        damp = np.broadcast_to(dofs.damping, v.shape).copy()
        damp[:, rubs] += f[rubs] / speed[rubs] * (1.0 - np.tanh(v[:, rubs] / speed[rubs]) ** 2)
        stiff = dofs.stiffness.copy()
        for kind, j in self._turning:
            stiff[j : j + (6 if kind == FREE else 3)] = 0.0
        return stiff, damp

    def _differenced(self, t: Array, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """∂R/∂q and ∂R/∂v (states, nv, nv)."""
        n = self.n
        problem = stack([build_problem(self.tree, q[0], "aba")] * LANES)
        out = np.zeros((2, len(t), n, n))
        unit = STEP * np.eye(n)
        for which in (0, 1):
            for some in _chunks([(j, k) for j in range(n) for k in CENTRAL]):
                steps = np.array([k * unit[j] for j, k in some])
                if which == 0:
                    moved, held = self.tree.integrate(q[:, None], steps), v[:, None]
                    found = self._unbalanced(problem, self._bent, t, moved, held, a)
                else:
                    found = self._unbalanced(problem, self._bent, t, q[:, None], v[:, None] + steps, a)
                for s, (j, k) in enumerate(some):
                    out[which, :, :, j] += CENTRAL[k] / STEP * found[:, s]
        return out[0], out[1]

    def _by_parameters(
        self, t: Array, q: Array, v: Array, a: Array, parameters: list[Parameter], pairs: Any
    ) -> Array:  # fmt: skip
        """∂R/∂p (states, nv, parameters)."""
        out = np.zeros((len(t), self.n, len(parameters)))
        for problem, some in pairs:
            found = self._unbalanced(problem, True, t, q[:, None], v[:, None], a)
            for s, (m, k) in enumerate(some):
                out[:, :, m] += parameters[m].weights[k] / parameters[m].h * found[:, s]
        return out

    @staticmethod
    def _unbalanced(problem: Any, own: bool, t: Array, q: Array, v: Array, a: Array) -> Array:
        out = np.empty((len(t), LANES, a.shape[1]))
        q, v, a = (np.ascontiguousarray(x) for x in (q, v, a))
        status = unbalanced(problem, own, np.ascontiguousarray(t), q, v, a, out)
        if status != OK:
            raise SolveError("a force fails near the motion, where it is differentiated")
        return out

    def _steps(self, h: Array, v: Array, G: Array, g: Array) -> tuple[Array, Array]:
        """Φ (steps, 2 nv, 2 nv) and β (steps, 2 nv, parameters)."""
        n, tableau = self.n, self._tableau
        Gg = np.concatenate([G, g], axis=-1)
        if isinstance(self.method, SemiImplicitEuler):
            # v⁺ = v + h a,  q⁺ = q ∘ h v⁺
            step = h[:, None, None] * Gg[:, 0]
            step[:, n:, n : 2 * n] += np.eye(n)
            step[:, :n] = h[:, None, None] * step[:, n:]
            step[:, :n, :n] += np.eye(n)
        else:
            begin = np.broadcast_to(np.eye(2 * n, Gg.shape[-1]), Gg[:, 0].shape)
            K: list[Array] = []
            for i in range(len(tableau.b)):
                at = begin + h[:, None, None] * sum(tableau.A[i, j] * K[j] for j in range(i)) if i else begin
                k = G[:, i] @ at
                k[..., 2 * n :] += g[:, i]
                K.append(k)
            step = begin + h[:, None, None] * sum(b * k for b, k in zip(tableau.b, K, strict=True))
        return step[..., : 2 * n], step[..., 2 * n :]

    def _of_a(self, G: Array, g: Array, S: Array) -> Array:
        """δa (nv, columns)."""
        n = self.n
        a: Array = G[n:] @ S
        a[:, S.shape[1] - g.shape[1] :] += g[n:]
        return a


def _chunks(pairs: list[Any]) -> Iterator[list[Any]]:
    """LANES at a time."""
    for first in range(0, len(pairs), LANES):
        yield pairs[first : first + LANES]


def _lanes_of(parameters: list[Parameter], equation: VariationalEquation) -> list[tuple[Any, list[tuple[int, int]]]]:
    """Stacked problems with a tree of a parameter in each lane, and which: (parameter, k)."""
    q = equation.result.recording.q[0]
    groups: dict[bytes, list[tuple[tuple[int, int], Any]]] = {}
    for m, parameter in enumerate(parameters):
        for k, tree in parameter.trees.items():
            if parameter.weights.get(k) and k != 0:
                problem = build_problem(tree, q, "aba")
                groups.setdefault(pattern(problem), []).append(((m, k), problem))
    found = []
    for group in groups.values():
        for some in _chunks(group):
            filled = [problem for _, problem in some] + [some[-1][1]] * (LANES - len(some))
            found.append((stack(filled), [pair for pair, _ in some]))
    return found


def starts(tree: Tree, trees: Mapping[int, Tree], weights: Weights, h: float, start: Callable[[Tree], Any]) -> Array:
    """∂(q₀, v₀)/∂p (2 nv,) from the states in which runs of the trees start."""
    q_0, v_0 = start(tree)
    out = np.zeros((2, tree.nv))
    for k, weight in weights.items():
        q, v = (q_0, v_0) if k == 0 else start(trees[k])
        out += weight / h * np.array([_increment(tree, q_0, q), v - v_0])
    return out.ravel()


def _increment(tree: Tree, q_0: Array, q: Array) -> Array:
    """From q_0 to a near q, to second order."""
    from nexdyn.spatial.rotations import rotation_matrix

    out = np.zeros(tree.nv)
    for place in tree.coordinates.values():
        a, b, j = q_0[place.q], q[place.q], place.v.start
        if len(a) == place.v.stop - j:
            out[place.v] = b - a
            continue
        w, u = a[0], a[1:4]
        out[j : j + 3] = 2.0 * (w * b[1:4] - b[0] * u - cross_product(u, b[1:4]))
        if len(a) == 7:
            out[j + 3 : j + 6] = rotation_matrix(a[:4]).T @ (b[4:] - a[4:])
    return out

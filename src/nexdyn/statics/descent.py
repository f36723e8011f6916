"""The way to an equilibrium, with dense matrices; see ``equilibrium`` for what is sought.

T has orthonormal columns that span the motions that C = 0 leaves, of increments (θ, δ/L) of every body:

    Cq T = 0,   r = T Tᵀ Q,   K = Tᵀ (−∂Q/∂x + Σ λ C_xx) T,   λ = least squares of Cqᵀ λ = Q

From a bad guess it goes down: K y = Tᵀ r where the symmetric part of K is positive definite, otherwise its eigenvalues count
by their size, so that no saddle attracts. A step d = T y is closed to C = 0 again, and halved until its work by the trapezoidal rule,
½ (Q₀ + Q₁) · x, is at least a small part of what r · d promises. Near the end these are Newton's steps. Friction of surfaces that run has
no potential, and grows with what presses: the symmetric part of K then tells neither the way nor the stability, and after a few steps
down, by which bodies come to touch, all are Newton's.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.configuration import difference, feasible_pose
from nexdyn.absolute.model.initial import self_stresses
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.absolute.model.redundancy import Redundancy, find_redundancy
from nexdyn.assembly.assemble import mechanism_length
from nexdyn.assembly.closing import Closing
from nexdyn.assembly.redundant import redundancy_report
from nexdyn.assembly.report import AssemblyReport
from nexdyn.errors import SolveError
from nexdyn.linalg.matrices import dense
from nexdyn.spatial.rotations import cross_product
from nexdyn.statics.resting import RestingLoads

Array = np.ndarray
TOLERANCE = 1e-10
"""|r| at rest, beside the largest load there, or `LEAST_LOAD` of the largest that was met on the way; beside that one where |r| falls no
more."""
LEAST_LOAD = 1e-3
SMALLEST = 1e-12
"""A step of Newton's method below this [rad, L] ends the search, where r is what rounding leaves."""
LAST = 1e-5
"""The longest step [rad, L] where |r| is small enough already."""
SUFFICIENT = 1e-4
DOWN = 20
"""How many steps lead down where surfaces run."""
SHORT = 0.1
"""Moves below this [rad, L] are judged by r, too."""
DIFFERENCE, FINEST = 1e-6, 1e-10
"""Step of differences [rad, L], and the least where what sticks gives by less than that before it slips."""
FLAT = 1e-7
"""Eigenvalues of K below this part of the largest entry, or of the loads, count as 0."""
TURN, MOST_TURN = 0.5, 1.5
"""Longest turn of a body in a step at first, and at most [rad]: two bodies turn by less than half a turn against each other, so that
angles are counted."""
AROUND = 60.0
"""Turns of a body that add up to more [rad] have no end."""
FAR = 1e4
"""A body that is farther than this from where it was, in sizes of the mechanism, never comes to rest."""
HALVINGS = 25
STABILITY = {-1.0: "unstable", 0.0: "neutral", 1.0: "stable"}


class Rest(NamedTuple):
    """A pose, and what acts there."""

    q: Array
    Q: Array
    """Loads (6 nb,) for increments (θ, L δ/L)."""
    lam: Array
    r: Array
    """What of them the constraints do not bear (6 nb,)."""
    T: Any
    """What `Search` knows of the motions there: T."""


class Found(NamedTuple):
    """A resting place: the report there, "stable" …, degrees of freedom, eigenvalues of K, ω², and the body that moves first."""

    report: AssemblyReport
    stability: str
    dof: int
    stiffness: Array
    squares: Array | None
    out_of_balance: float
    iterations: int
    first_to_move: str


class Search:
    """The way to an equilibrium."""

    def __init__(self, model: AbsoluteModel, q: Array, t: float, acting: RestingLoads, nearest: bool) -> None:
        self.model, self.t, self.acting, self.nearest = model, t, acting, nearest
        self.start = q
        self.length = mechanism_length(self.model)
        self.units = np.tile([1.0, 1.0, 1.0, self.length, self.length, self.length], self.model.nb)
        self.W = self.units**-2.0
        self.turned = np.zeros(self.model.nb)
        self.longest, self.farthest, self.shortened = TURN, 1.0, False
        self.size = 0.0
        self.motionless = np.zeros((self.model.nb + 1, 6))

    def loads(self, q: Array) -> Array:
        """Q for increments in units of `units`; SolveError where a force fails."""
        Q = self.units * self.acting(q, self.motionless, self.t)
        if not np.isfinite(Q).all():
            body = self.model.bodies[1 + int(np.flatnonzero(~np.isfinite(Q))[0]) // 6]
            raise SolveError(f"the load on body {body!r} is not finite; check its forces", time=self.t, where=body)
        self.size = max(self.size, float(np.abs(Q).max(initial=0.0)))
        return Q

    def small(self, q: Array) -> tuple[float, float]:
        """The step of differences at q, and how far they may go, half of what contacts give."""
        far = self.acting.travel(q, self.length)
        return max(min(DIFFERENCE, far), FINEST), max(5.0 * far, FINEST)

    # --- what matrices are for; those of ``sparse_descent`` are others ------------------------------------------------

    def at(self, q: Array) -> Rest:
        """What acts at q."""
        Q = self.loads(q)
        Cq = dense(self.model.jacobian(q, self.t)) * self.units
        T, lam = tangent(Cq, Q)
        return Rest(q, Q, lam, T @ (T.T @ Q), T)

    def dof(self, here: Rest) -> int:
        """Degrees of freedom."""
        return int(here.T.shape[1])

    def stiffness(self, here: Rest) -> Any:
        """K (dof, dof)."""
        n = here.T.shape[1]
        KT = dense(self.model.curvature(here.q, here.lam, self.t)) @ (self.units[:, None] * here.T)
        KT *= self.units[:, None]
        torque, (small, _) = here.Q.reshape(-1, 6)[:, :3], self.small(here.q)
        for j in range(n):
            x = here.T[:, j]
            step = small / max(float(np.abs(x).max()), 1e-3)
            ahead, behind = (self.loads(self.model.moved(here.q, s * step * self.units * x)) for s in (1.0, -1.0))
            change = ((ahead - behind) / (2.0 * step)).reshape(-1, 6)
            # torques are in the body's axes, which turn with it: J_rᵀ(θ) n = n + ½ θ × n + …
            change[:, :3] += 0.5 * cross_product(x.reshape(-1, 6)[:, :3], torque)
            KT[:, j] -= change.reshape(-1)
        return here.T.T @ KT

    def newton(self, here: Rest, K: Any) -> Array:
        """d of K y = Tᵀ r, of least norm where K is singular."""
        U, sizes, V = np.linalg.svd(K)
        along = U.T @ (here.T.T @ here.r)
        moves = self.moves(along, sizes, K) & (sizes > 1e-12 * sizes[0])
        return np.asarray(here.T @ (V[moves].T @ (along[moves] / sizes[moves])))

    def moves(self, along: Array, sizes: Array, K: Any) -> Array:
        """Along which motions a step goes. A motion that nothing holds, of flat K, is left out where the load `along` it is rounding."""
        return (sizes > self.flat(K)) | (np.abs(along) > 0.1 * TOLERANCE * self.size)

    def downhill(self, here: Rest, K: Any) -> Array:
        """A step that leads down: Newton's, or with the eigenvalues of K by their size. Along an eigenvector it is no longer than a step
        may be: what is flat must not leave the others without one."""
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        flat = self.flat(K)
        if values[0] > flat:
            d = self.newton(here, K)
            if d @ here.r > 0.0:
                return d
        along = vectors.T @ (here.T.T @ here.r)
        along = np.where(self.moves(along, np.abs(values), K), along, 0.0)
        steps, moves = along / np.maximum(np.abs(values), flat), here.T @ vectors
        parts = np.abs(steps) * np.linalg.norm(moves.reshape(-1, 2, 3, len(steps)), axis=2).max(axis=0)
        over = np.maximum(parts[0] / self.longest, parts[1] / self.farthest)
        self.shortened = bool((over > 1.0).any())
        return np.asarray(moves @ (steps / np.maximum(over, 1.0)))

    def saddle(self, here: Rest, K: Any) -> Array | None:
        """A small step off a resting place that is not stable; None where it is."""
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        return 1e-2 * here.T @ vectors[:, 0] if values[0] < -self.flat(K) else None

    def spectrum(self, here: Rest, K: Any) -> tuple[str, Array, Array | None, Array]:
        """Stability, eigenvalues of K, ω² of small undamped motions, and the motion (6 nb,) of the softest."""
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        flat, squares = self.flat(K), self.squares(here, K)
        if not np.abs(K - K.T).max() <= 10.0 * flat and squares is not None:
            low = sign_of(squares, self.roots(here, K))
        else:
            low = -1.0 if values[0] < -flat else 0.0 if values[0] <= flat else 1.0
        return STABILITY[low], values, squares, here.T @ vectors[:, 0]

    def squares(self, here: Rest, K: Array) -> Array | None:
        """ω² of K y = ω² Tᵀ M T y; None where that is singular."""
        M = self.mass(here)
        spread = np.linalg.eigvalsh(M)
        if not spread[0] > 1e-12 * spread[-1]:
            return None
        if np.abs(K - K.T).max() <= 10.0 * self.flat(K):
            return np.asarray(scipy.linalg.eigh(0.5 * (K + K.T), M, eigvals_only=True))
        return np.sort_complex(scipy.linalg.eigvals(K, M))

    def mass(self, here: Rest) -> Array:
        """Tᵀ M T."""
        M = dense(self.model.mass_matrix(here.q)) * self.units * self.units[:, None]
        return np.asarray(here.T.T @ M @ here.T)

    def roots(self, here: Rest, K: Array) -> Array | None:
        """s of (s² Tᵀ M T + s D + K) y = 0, D the damping; None where nothing damps."""
        n, D = self.dof(here), np.zeros((len(self.units), self.dof(here)))
        for j in range(n):
            V = self.motionless.copy()
            V[1:] = (DIFFERENCE * self.units * here.T[:, j]).reshape(-1, 6)
            ahead, behind = (self.units * self.acting(here.q, sign * V, self.t) for sign in (1.0, -1.0))
            D[:, j] = (behind - ahead) / (2.0 * DIFFERENCE)
        D = here.T.T @ D
        if not D.any():
            return None
        M = self.mass(here)
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        return np.asarray(np.linalg.eigvals(A))

    def bearing(self, here: Rest, kept: np.ndarray) -> Array:
        """λ of the rows that are kept."""
        Cq = dense(self.model.jacobian(here.q, self.t))[kept]
        return np.asarray(scipy.linalg.lstsq((Cq * self.units).T, here.Q)[0]) if len(Cq) else np.zeros(0)

    # --- the way ----------------------------------------------------------------------------------------------------

    def run(self, most: int, before: int = 0) -> Found:
        """The answer, after at most so many steps, and so many before."""
        here, K, left, count = self.search(most)
        return self.found(here, K, left, before + count)

    def search(self, most: int) -> tuple[Rest, Any, float, int]:
        """Where it rests, K there, what is left out of balance, and how many steps led there."""
        here, before = self.at(self.start), math.inf
        for iteration in range(most + 1):
            n, direct = self.dof(here), self.nearest or (self.acting.runs and iteration >= DOWN)
            K = self.stiffness(here) if n else np.zeros((0, 0))
            left = float(np.abs(here.r).max(initial=0.0))
            at_rest = left <= TOLERANCE * max(float(np.abs(here.Q).max(initial=0.0)), LEAST_LOAD * self.size)
            at_rest = at_rest or (left <= TOLERANCE * self.size and left > 0.5 * before)
            before = left
            close = left <= 1e3 * TOLERANCE * self.size
            if not at_rest and n and (close or direct):
                d = self.newton(here, K)
                at_rest = close and float(np.abs(d).max()) <= SMALLEST
            if at_rest or not n:
                left_alone = self.nearest or self.acting.runs or not iteration or not n
                leaving = None if left_alone else self.saddle(here, K)
                if leaving is None:
                    here = self.settled(here, K) if n else here
                    return here, K, float(np.abs(here.r).max(initial=0.0)), iteration
                d = leaving
            elif not direct:
                d = self.downhill(here, K)
            if iteration == most:
                break
            here = self.step(here, d, at_rest or direct)
            self.acting.follow(here.q)
            self.check_bounds(here.q)
        name = self.restless()
        raise SolveError(
            f"no equilibrium of system {self.model.system.name!r} is found in {most} iterations: {left:.3g} N m are out of "
            f"balance, body {name!r} still moves; give q0 nearer to it, or check forces",
            time=self.t, where=name,
        )  # fmt: skip

    def settled(self, here: Rest, K: Any) -> Rest:
        """One step of Newton's method more: |r| may be small while what is soft is still off by |r| / κ."""
        d = self.newton(here, K)
        if not SMALLEST < float(np.abs(d).max()) <= LAST:
            return here
        q = self.closed(self.model.moved(here.q, self.units * d))
        there = here if q is None else self.at(q)
        return there if np.abs(there.r).max() < np.abs(here.r).max() else here

    def flat(self, K: Any) -> float:
        """The size below which an eigenvalue of K counts as 0."""
        return FLAT * max(float(abs(K).max()) if K.shape[0] else 0.0, 1e-3 * self.size, 1e-300)

    def step(self, here: Rest, d: Array, as_it_is: bool) -> Rest:
        """Go along d, as far as it leads down, or as it is."""
        parts = d.reshape(-1, 6)
        turn = float(np.linalg.norm(parts[:, :3], axis=1).max())
        shift = float(np.linalg.norm(parts[:, 3:], axis=1).max())
        short = 1.0 / max(1.0, turn / self.longest, shift / self.farthest)
        short *= self.acting.unpassed(here.q, short * (self.units * d).reshape(-1, 6))
        alpha, promised = short, float(here.r @ d)
        for _ in range(HALVINGS):
            q = self.closed(self.model.moved(here.q, alpha * self.units * d))
            if q is not None:
                there = self.at(q)
                moved = difference(q, here.q).reshape(-1) / self.units
                work = float(0.5 * (here.Q + there.Q) @ moved)
                noise = 1e-13 * self.size * float(np.abs(moved).sum())
                if (
                    float(np.abs(moved).max()) < SHORT
                ):  # of which gaps of the joints, under their reactions, are no part
                    work = max(work, float(0.5 * (here.r + there.r) @ moved))
                if as_it_is or work >= SUFFICIENT * alpha * promised - noise:
                    self.turned += np.linalg.norm(moved.reshape(-1, 6)[:, :3], axis=1)
                    if (short < 1.0 or self.shortened) and alpha == short:
                        self.longest, self.farthest = min(2.0 * self.longest, MOST_TURN), 2.0 * self.farthest
                    return there
            alpha *= 0.5
        name = self.model.bodies[1 + int(np.abs(parts).max(axis=1).argmax())]
        raise SolveError(
            f"no step leads nearer to an equilibrium: body {name!r} is not at rest, {np.abs(here.r).max():.3g} N m are out "
            f"of balance; give q0 nearer to it, or check for forces that jump",
            time=self.t, where=name,
        )  # fmt: skip

    def closed(self, q: Array) -> Array | None:
        """The pose near q with C = 0; None where there is none."""
        pose = feasible_pose(self.model, q, self.W, self.length, t=self.t, tolerance=1e-12)
        return pose.q if pose.converged else None

    def check_bounds(self, q: Array) -> None:
        """SolveError for a body that never comes to rest."""
        name = self.restless()
        away = np.linalg.norm(q[1:, 4:] - self.start[1:, 4:], axis=1)
        if float(away.max()) > FAR * self.length:
            name = self.model.bodies[1 + int(away.argmax())]
            raise SolveError(
                f"no equilibrium: nothing stops body {name!r}, which is {away.max():.3g} m from where it was and goes on; "
                f"hold it with a joint or a spring",
                time=self.t, where=name,
            )  # fmt: skip
        if float(self.turned.max()) > AROUND:
            raise SolveError(
                f"no equilibrium: body {name!r} keeps turning, {self.turned.max() / (2 * math.pi):.3g} turns so far; hold it "
                f"with a spring or a driver",
                time=self.t, where=name,
            )  # fmt: skip

    def restless(self) -> str:
        """The body that has turned most."""
        return self.model.bodies[1 + int(self.turned.argmax())]

    def found(self, here: Rest, K: Any, left: float, iterations: int) -> Found:
        """The answer."""
        model = self.model
        redundancy = find_redundancy(model, here.q, self.t)
        report = self.report(here.q, redundancy)
        lam = np.zeros(model.nc)
        lam[redundancy.kept] = self.bearing(here, redundancy.kept)
        report.multipliers = lam
        n = self.dof(here)
        if not n:
            return Found(report, "fixed", 0, np.zeros(0), np.zeros(0), left, iterations, "")
        stability, values, squares, softest = self.spectrum(here, K)
        first = model.bodies[1 + int(np.abs(softest).reshape(-1, 6).max(axis=1).argmax())]
        return Found(report, stability, n, values, squares, left, iterations, first)

    def report(self, q: Array, redundancy: Redundancy) -> AssemblyReport:
        """The report of an assembly at q, at rest."""
        model, still = self.turned_model(q), self.motionless.copy()
        how = Closing(self.W, self.length, self.t)
        found = redundancy_report(model, redundancy, q, still, model.gamma(q, still, self.t), how)
        report = AssemblyReport(model, found, q, length=self.length, t=self.t, v=still, a=still.copy())
        report.stresses = self_stresses(model, redundancy)
        report.states = self.acting.states(q)
        return report

    def turned_model(self, q: Array) -> AbsoluteModel:
        """The model with the turns that the way to q has counted."""
        model, acting = self.model, self.acting
        acting(q, self.motionless, self.t)
        if acting.near is None:
            return model
        return model.started(
            {
                name: np.array([acting.near[model.followed.index((name, equation))] for equation in joint.coordinates])
                for name, joint in model.system.joints.items()
                if joint.coordinates and all((name, equation) in model.followed for equation in joint.coordinates)
            }
        )


def sign_of(squares: Array, roots: Array | None = None) -> float:
    """−1 where a motion leaves or flutters, 0 where one is neutral, 1 where all swing, or with the `roots` of damped motions die out; ω² of
    loads without a potential."""
    scale = FLAT * float(np.abs(squares).max())
    if roots is not None:
        wrong = np.array([roots.real.max() > FLAT * float(np.abs(roots).max())])
    else:
        wrong = (squares.real < -scale) | (np.abs(squares.imag) > scale)
    if wrong.any():
        return -1.0
    return 0.0 if (np.abs(squares) <= scale).any() else 1.0


def tangent(Cq: Array, Q: Array) -> tuple[Array, Array]:
    """T with orthonormal columns, Cq T = 0, and the λ of least norm with least |Cqᵀ λ − Q|."""
    n, m = Cq.shape[1], Cq.shape[0]
    if not m:
        return np.eye(n), np.zeros(0)
    scale = np.linalg.norm(Cq, axis=1)
    scale = np.where(scale > 0.0, scale, 1.0)
    U, R, order = scipy.linalg.qr((Cq / scale[:, None]).T, pivoting=True)
    pivots = np.abs(np.diagonal(R))
    rank = int((pivots > 1e-9).sum())
    lam = np.zeros(m)
    lam[order] = scipy.linalg.lstsq(R[:rank], U[:, :rank].T @ Q)[0] if rank else 0.0
    return U[:, rank:], lam / scale

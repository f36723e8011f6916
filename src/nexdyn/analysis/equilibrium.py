"""`nx.equilibrium`: where a mechanism rests under its loads, the reactions there, and whether it stays.

    C(q, t) = 0,   Q(q) = Cqᵀ λ                       at rest, drivers held at t; Q of gravity, springs and all other forces

T has orthonormal columns that span the motions that C = 0 leaves, of increments (θ, δ/L) of every body:

    Cq T = 0,   r = Tᵀ Q,   K = Tᵀ (−∂Q/∂x + Σ λ C_xx) T,   λ = least squares of Cqᵀ λ = Q

r = 0 in equilibrium; K is the stiffness there, which for loads with a potential is its second derivative on C = 0.

From a bad guess it goes down: K y = r where the symmetric part of K is positive definite, otherwise its eigenvalues count
by their size, so that no saddle attracts. A step is closed to C = 0 again, and halved until its work by the trapezoidal rule,
½ (Q₀ + Q₁) · x, is at least a small part of what r · y promises. Near the end these are Newton's steps.

Forces with states of their own have them at rest (``resting``). A position actuator with an integral holds its joint at its
target, with what that takes: first it is a driver, whose effort, where the actuator can give it, is what the integral holds; K then
takes the integrals as they stand.

Stable: all eigenvalues of K are above 0. Loads without a potential make K unsymmetric; then those of (Tᵀ M T)⁻¹ K must be
real and above 0, or it leaves without (divergence) or with oscillation (flutter).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from nexdyn.absolute.configuration import difference, feasible_pose
from nexdyn.absolute.model import AbsoluteModel, absolute_model
from nexdyn.absolute.motion import self_stresses
from nexdyn.absolute.redundancy import Redundancy, find_redundancy
from nexdyn.analysis.absolute_loads import joint_state
from nexdyn.analysis.assemble import assemble, mechanism_length
from nexdyn.analysis.closing import Closing
from nexdyn.analysis.redundant import redundancy_report
from nexdyn.analysis.report import AssemblyReport, Reaction
from nexdyn.analysis.resting import PRESSED, Integral, RestingLoads, integrals
from nexdyn.errors import InputError, SolveError, unknown
from nexdyn.forces.states import state_labels
from nexdyn.model.driver import Driver
from nexdyn.model.system import System

Array = np.ndarray
TOLERANCE = 1e-10
"""|r| at rest, beside the largest load that was met."""
SMALLEST = 1e-12
"""A step of Newton's method below this [rad, L] ends the search, where r is what rounding leaves."""
SUFFICIENT = 1e-4
DIFFERENCE = 1e-6
FLAT = 1e-7
"""Eigenvalues of K below this part of the largest entry, or of the loads, count as 0."""
TURN, MOST_TURN = 0.5, 2.0
"""Longest turn of a body in a step at first, and at most [rad]."""
AROUND = 60.0
"""Turns of a body that add up to more [rad] have no end."""
FAR = 1e4
"""A body that is farther than this from where it was, in sizes of the mechanism, goes for ever."""
HALVINGS = 25
LARGEST = 4000
"""Most unknowns, six a body: the matrices are dense."""


@dataclass(frozen=True)
class Equilibrium:
    """The outcome of `nx.equilibrium`; `print` shows it in words.

    report: of the assembly in equilibrium (poses, reactions, efforts of drivers), to start a run from. stability: "stable",
    "unstable", "neutral" (it rests anywhere along some motion) or "fixed" (nothing can move). stiffness: eigenvalues (dof,)
    of K [N m], the softest first. squares: ω² (dof,) [1/s²] of small undamped motions, complex where loads have no
    potential; None where bodies without mass leave it open. out_of_balance: what is left of r [N m]. first_to_move: the
    body that moves most along the softest motion, "" where nothing can.
    """

    report: AssemblyReport
    stability: str
    stiffness: Array
    squares: Array | None
    out_of_balance: float
    iterations: int
    first_to_move: str

    @property
    def frequencies(self) -> Array:
        """Of the small undamped motions that swing [Hz], the slowest first."""
        if self.squares is None:
            raise InputError("bodies without mass leave the frequencies open; give them mass")
        return np.sort(np.sqrt(self.squares[(self.squares.real > 0.0) & (self.squares.imag == 0.0)].real)) / (
            2 * math.pi
        )

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return len(self.stiffness)

    def position(self, body: str) -> Array:
        """Origin of a body in the world (3,) [m]."""
        return self.report.position(body)

    def orientation(self, body: str) -> Array:
        """Unit quaternion (w, x, y, z) of a body."""
        return self.report.orientation(body)

    def reaction(self, joint: str) -> Reaction:
        """The reaction of a joint, as of the report of `nx.assemble`."""
        return self.report.reaction(joint)

    def effort(self, driver: str) -> float:
        """What a driver takes to hold its joint [N, N m]."""
        return self.report.effort(driver)

    @property
    def states(self) -> dict[str, float]:
        """States of forces at rest: {"servo.integral": …}."""
        labels = [label for label, _ in state_labels(self.report.model.system)]
        return dict(
            zip(labels, np.zeros(0) if self.report.states is None else self.report.states.tolist(), strict=False)
        )

    def joint(self, name: str) -> Array:
        """The coordinates of a joint [rad, m]."""
        model = self.report.model
        if name not in model.system.joints:
            raise unknown("joint", name, model.system.joints)
        joint = model.system.joints[name]
        if not joint.tree:
            raise InputError(f"{joint} ({joint.kind}) is a constraint and has no coordinates")
        return joint_state(model, joint, self.report.q, np.zeros((model.nb + 1, 6)))[0] if joint.nv else np.zeros(0)

    def to_dict(self) -> dict[str, Any]:
        """As plain data (for JSON)."""
        model = self.report.model
        joints = [name for name, joint in model.system.joints.items() if joint.tree and joint.nv]
        squares = None if self.squares is None else [[float(x.real), float(x.imag)] for x in self.squares]
        return {
            "system": model.system.name,
            "t": self.report.t,
            "stability": self.stability,
            "dof": self.dof,
            "iterations": self.iterations,
            "out_of_balance": self.out_of_balance,
            "stiffness": self.stiffness.tolist(),
            "squares": squares,
            "first_to_move": self.first_to_move,
            "joints": {name: self.joint(name).tolist() for name in joints},
            "bodies": {
                name: {"position": self.position(name).tolist(), "orientation": self.orientation(name).tolist()}
                for name in model.bodies[1:]
            },
            "reactions": {
                name: {key: np.asarray(value).tolist() for key, value in self.reaction(name)._asdict().items()}
                for name in model.system.joints
            },
            "efforts": self.report.efforts(),
            "states": self.states,
        }

    def __str__(self) -> str:
        model = self.report.model
        lines = [
            f"System {model.system.name!r} in equilibrium: {self.stability}, {self.dof} degrees of freedom, "
            f"{self.iterations} iterations, {self.out_of_balance:.2g} N m out of balance"
        ]
        if self.stability in ("unstable", "neutral"):
            how = "leaves" if self.stability == "unstable" else "is free to move"
            lines.append(f"   body {self.first_to_move!r} {how} first")
        if self.squares is not None and len(self.frequencies):
            lines.append("   frequencies " + ", ".join(f"{f:.5g}" for f in self.frequencies[:12]) + " Hz")
        for name in model.bodies[1:31]:
            p, q = self.position(name), self.orientation(name)
            lines.append(f"   {name:<14} at {_words(p)} m, turned {_words(q)}")
        lines.append("   Reactions on the child, in the parent-side joint frame")
        for name in list(model.system.joints)[:30]:
            r = self.reaction(name)
            lines.append(f"   {name:<14} force {_words(r.force)} N   moment {_words(r.moment)} N m")
        lines += [f"   {name:<14} holds with {effort:.5g}" for name, effort in self.report.efforts().items()]
        return "\n".join(lines)


def equilibrium(
    system: System,
    *,
    t: float = 0.0,
    q0: Mapping[str, Any] | None = None,
    nearest: bool = False,
    max_iterations: int = 200,
) -> Equilibrium:
    """Where `system` rests, from the described pose or from a guess; trees and closed loops, with all forces.

    t: time [s] at which drivers are held and forces are taken.
    q0: {joint: coordinate(s) [rad, m]} of the guess; by default those of the joints.
    nearest: take Newton's steps as they are, to the equilibrium nearest to the guess, stable or not. Otherwise it goes
        down, to one that is stable; a guess that is in equilibrium itself is returned as it is.
    max_iterations: most steps.

    States of forces are those at rest (``resting``): integrals of position hold joints at their targets as far as they can, friction
    that sticks (JointFriction) holds from the guess on; other friction is regularised, and gives nothing at rest.

    Raises AssemblyError where the system cannot be assembled; SolveError where nothing is found, its `where` the body that goes
    farthest; InputError.
    """
    if type(max_iterations) is not int or max_iterations < 1:
        raise InputError(f"max_iterations is {max_iterations!r}; a whole number, 1 or more, is needed")
    if not system.bodies:
        raise InputError(f"system {system.name!r} has no bodies that move; add one")
    if 6 * len(system.bodies) > LARGEST:
        raise InputError(f"equilibrium is dense: {6 * len(system.bodies)} unknowns are more than its {LARGEST}")
    holding = integrals(system, t)
    start = assemble(system, t=t, q0=q0)
    q, done = start.q, 0
    loads = RestingLoads(start.model, start.q, t)
    if holding:
        q, done = _held(start, q0, holding, loads, nearest, max_iterations)
    return _Search(start.model, q, t, loads, nearest or bool(holding)).run(max_iterations, done)


def _held(
    start: AssemblyReport, q0: Mapping[str, Any] | None, holding: list[Integral], loads: RestingLoads, nearest: bool,
    most: int,
) -> tuple[Array, int]:  # fmt: skip
    """The pose where joints with integrals rest at their targets, or give way at their limits; the integrals into `loads`."""
    system, t = start.model.system, start.t
    q, done = start.q, 0
    guess = {**(q0 or {}), **_targets(start, holding)}
    for _ in range(len(holding) + 1):
        drivers = [
            Driver(each.force.name, str(each.force.joint_name), each.target, freedom=each.force.freedom)
            for each in holding
            if not each.sign
        ]
        model = absolute_model(system, held=drivers)
        acting = RestingLoads(model, start.q, t)
        for each in holding:
            x = (each.sign * PRESSED * each.most - each.without) / each.k_i if each.sign else 0.0
            acting.described[each.place] = loads.described[each.place] = x
        if drivers and not done:
            q = assemble(system, t=t, q0=guess).q
        search = _Search(model, q, t, acting, nearest)
        here, _, _, count = search.search(most)
        q, done = here.q, done + count
        rows = {driver.name: driver.row for driver in model.drivers}
        beyond = False
        for each in holding:
            if each.sign:
                continue
            effort = float(np.clip(each.without, -each.most, each.most) - here.lam[rows[each.force.name]])
            if abs(effort) > each.most * (1.0 + 1e-9):
                each.sign, beyond = math.copysign(1.0, effort), True
            loads.described[each.place] = (effort - each.without) / each.k_i
        if not beyond:
            break
    for each in holding:
        if each.sign:
            _check_pressed(each, acting.coordinate(each), t)
            loads.described[each.place] = (each.sign * each.most - each.without) / each.k_i
    return q, done


def _targets(start: AssemblyReport, holding: list[Integral]) -> dict[str, Array]:
    """The coordinates of joints with integrals, at their targets."""
    found: dict[str, Array] = {}
    still = np.zeros((start.model.nb + 1, 6))
    for each in holding:
        joint = start.model.system.joint(str(each.force.joint_name))
        found.setdefault(joint.name, joint_state(start.model, joint, start.q, still)[0])[each.force.freedom] = (
            each.target
        )
    return found


def _check_pressed(each: Integral, at: float, t: float) -> None:
    """SolveError for an actuator at its limit whose integral does not come to rest."""
    off = each.target - at
    if not each.k_p:
        raise SolveError(
            f"no equilibrium: {each.force} is at its limit of {each.most:g}, and its integral winds up for ever; give it a "
            f"larger effort_limit, or kp",
            time=t, where=each.force.name,
        )  # fmt: skip
    if off * each.sign < 0.0:
        raise SolveError(
            f"no equilibrium: at its limit of {each.most:g} {each.force} is driven past its target, below it falls short; "
            f"give it a larger effort_limit",
            time=t, where=each.force.name,
        )  # fmt: skip


class _Rest(NamedTuple):
    """A pose, and what acts there."""

    q: Array
    Q: Array
    """Loads (6 nb,) for increments (θ, L δ/L)."""
    T: Array
    lam: Array
    r: Array


class _Search:
    """The way to an equilibrium."""

    def __init__(self, model: AbsoluteModel, q: Array, t: float, acting: RestingLoads, nearest: bool) -> None:
        self.model, self.t, self.acting, self.nearest = model, t, acting, nearest
        self.start = q
        self.length = mechanism_length(self.model)
        self.units = np.tile([1.0, 1.0, 1.0, self.length, self.length, self.length], self.model.nb)
        self.W = self.units**-2.0
        self.turned = np.zeros(self.model.nb)
        self.longest, self.farthest = TURN, 1.0
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

    def at(self, q: Array) -> _Rest:
        """What acts at q."""
        Q = self.loads(q)
        Cq = dense(self.model.jacobian(q, self.t)) * self.units
        T, lam = tangent(Cq, Q)
        return _Rest(q, Q, T, lam, T.T @ Q)

    def stiffness(self, here: _Rest) -> Array:
        """K (dof, dof)."""
        n = here.T.shape[1]
        KT = dense(self.model.curvature(here.q, here.lam, self.t)) @ (self.units[:, None] * here.T)
        KT *= self.units[:, None]
        torque = here.Q.reshape(-1, 6)[:, :3]
        for j in range(n):
            x = here.T[:, j]
            step = DIFFERENCE / max(float(np.abs(x).max()), 1e-3)
            ahead, behind = (self.loads(self.model.moved(here.q, s * step * self.units * x)) for s in (1.0, -1.0))
            change = ((ahead - behind) / (2.0 * step)).reshape(-1, 6)
            # torques are in the body's axes, which turn with it: J_rᵀ(θ) n = n + ½ θ × n + …
            change[:, :3] += 0.5 * np.cross(x.reshape(-1, 6)[:, :3], torque)
            KT[:, j] -= change.reshape(-1)
        return here.T.T @ KT

    def run(self, most: int, before: int = 0) -> Equilibrium:
        """The answer, after at most so many steps, and so many before."""
        here, K, left, count = self.search(most)
        return self.found(here, K, left, before + count)

    def search(self, most: int) -> tuple[_Rest, Array, float, int]:
        """Where it rests, K there, what is left out of balance, and how many steps led there."""
        here = self.at(self.start)
        for iteration in range(most + 1):
            n = here.T.shape[1]
            K = self.stiffness(here) if n else np.zeros((0, 0))
            left = float(np.abs(here.r).max(initial=0.0))
            at_rest = left <= TOLERANCE * self.size
            if not at_rest and n:
                y = self.newton(K, here.r)
                at_rest = left <= 1e3 * TOLERANCE * self.size and float(np.abs(y).max()) <= SMALLEST
            if at_rest or not n:
                leaving = None if self.nearest or not iteration or not n else self.saddle(K)
                if leaving is None:
                    return here, K, left, iteration
                y = leaving
            elif not self.nearest:
                y = self.downhill(K, here.r)
            if iteration == most:
                break
            here = self.step(here, y, at_rest)
            self.check_bounds(here.q)
        name = self.restless()
        raise SolveError(
            f"no equilibrium of system {self.model.system.name!r} is found in {most} iterations: {left:.3g} N m are out of "
            f"balance, body {name!r} still moves; give q0 nearer to it, or check forces",
            time=self.t, where=name,
        )  # fmt: skip

    def newton(self, K: Array, r: Array) -> Array:
        """y of K y = r, of least norm where K is singular."""
        return np.asarray(scipy.linalg.lstsq(K, r, cond=1e-12)[0])

    def flat(self, K: Array) -> float:
        """The size below which an eigenvalue of K counts as 0."""
        return FLAT * max(float(np.abs(K).max(initial=0.0)), 1e-3 * self.size, 1e-300)

    def downhill(self, K: Array, r: Array) -> Array:
        """A step that leads down: Newton's, or with the eigenvalues of K by their size."""
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        flat = self.flat(K)
        if values[0] > flat:
            y = self.newton(K, r)
            if y @ r > 0.0:
                return y
        along = vectors.T @ r
        return np.asarray(vectors @ (along / np.maximum(np.abs(values), flat)))

    def saddle(self, K: Array) -> Array | None:
        """A small step off a resting place that is not stable; None where it is."""
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        return 1e-2 * vectors[:, 0] if values[0] < -self.flat(K) else None

    def step(self, here: _Rest, y: Array, off_saddle: bool) -> _Rest:
        """Go along T y, as far as it leads down."""
        d = here.T @ y
        parts = d.reshape(-1, 6)
        turn = float(np.linalg.norm(parts[:, :3], axis=1).max())
        shift = float(np.linalg.norm(parts[:, 3:], axis=1).max())
        short = 1.0 / max(1.0, turn / self.longest, shift / self.farthest)
        alpha, promised = short, float(here.r @ y)
        for _ in range(HALVINGS):
            q = self.closed(self.model.moved(here.q, alpha * self.units * d))
            if q is not None:
                there = self.at(q)
                moved = difference(q, here.q).reshape(-1) / self.units
                work = float(0.5 * (here.Q + there.Q) @ moved)
                noise = 1e-13 * self.size * float(np.abs(moved).sum())
                if self.nearest or off_saddle or work >= SUFFICIENT * alpha * promised - noise:
                    self.turned += np.linalg.norm(moved.reshape(-1, 6)[:, :3], axis=1)
                    if short < 1.0 and alpha == short:
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
        """SolveError for a body that goes for ever."""
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
                f"no equilibrium: body {name!r} turns for ever, {self.turned.max() / (2 * math.pi):.3g} turns so far; hold it "
                f"with a spring or a driver",
                time=self.t, where=name,
            )  # fmt: skip

    def restless(self) -> str:
        """The body that has turned most."""
        return self.model.bodies[1 + int(self.turned.argmax())]

    def found(self, here: _Rest, K: Array, left: float, iterations: int) -> Equilibrium:
        """The answer."""
        model = self.model
        redundancy = find_redundancy(model, here.q, self.t)
        report = self.report(here.q, redundancy)
        Cq = dense(model.jacobian(here.q, self.t))[redundancy.kept]
        lam = np.zeros(model.nc)
        lam[redundancy.kept] = scipy.linalg.lstsq((Cq * self.units).T, here.Q)[0] if len(Cq) else 0.0
        report.multipliers = lam
        n = here.T.shape[1]
        if not n:
            return Equilibrium(report, "fixed", np.zeros(0), np.zeros(0), left, iterations, "")
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        flat, squares = self.flat(K), self.squares(here, K)
        if not np.abs(K - K.T).max() <= 10.0 * flat and squares is not None:
            scale = FLAT * float(np.abs(squares).max())
            wrong = (squares.real < -scale) | (np.abs(squares.imag) > scale)
            low = float(np.where(wrong, -1.0, np.where(np.abs(squares) <= scale, 0.0, 1.0)).min())
        else:
            low = -1.0 if values[0] < -flat else 0.0 if values[0] <= flat else 1.0
        stability = {-1.0: "unstable", 0.0: "neutral", 1.0: "stable"}[low]
        first = np.abs(here.T @ vectors[:, 0]).reshape(-1, 6).max(axis=1)
        return Equilibrium(report, stability, values, squares, left, iterations, model.bodies[1 + int(first.argmax())])

    def squares(self, here: _Rest, K: Array) -> Array | None:
        """ω² of K y = ω² Tᵀ M T y; None where that is singular."""
        M = dense(self.model.mass_matrix(here.q)) * self.units * self.units[:, None]
        M = here.T.T @ M @ here.T
        spread = np.linalg.eigvalsh(M)
        if not spread[0] > 1e-12 * spread[-1]:
            return None
        if np.abs(K - K.T).max() <= 10.0 * self.flat(K):
            return np.asarray(scipy.linalg.eigh(0.5 * (K + K.T), M, eigvals_only=True))
        return np.sort_complex(scipy.linalg.eigvals(K, M))

    def report(self, q: Array, redundancy: Redundancy) -> AssemblyReport:
        """The report of an assembly at q, at rest."""
        model, still = self.model, self.motionless.copy()
        how = Closing(self.W, self.length, self.t)
        found = redundancy_report(model, redundancy, q, still, model.gamma(q, still, self.t), how)
        report = AssemblyReport(model, found, q, length=self.length, t=self.t, v=still, a=still.copy())
        report.stresses = self_stresses(model, redundancy)
        report.states = self.acting.states(q)
        return report


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


def dense(A: Any) -> Array:
    return A if isinstance(A, np.ndarray) else np.asarray(A.toarray())


def _words(x: Array) -> str:
    return "(" + ", ".join(f"{v:.5g}" for v in np.where(np.abs(x) < 1e-12, 0.0, x)) + ")"

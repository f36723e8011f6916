"""`nx.inverse_kinematics`: the pose in which frames are where they are asked to be, as near as joints and limits allow.

    min ½ |e(q)|²   subject to   C(q) = 0,   l ≤ c(q) ≤ u          e of the targets, c coordinates of joints

    position     e = w (p* − p_F)/L            orientation   e = w log(R_Fᵀ R*)          w = 1 by default

Damped least squares (Levenberg, Marquardt): with T that spans the motions Cq T = 0, G the gradients of the coordinates
and A that of what the frames do, each step solves

    min |A T y − e|² + μ² |y|²   subject to   l − c ≤ G T y ≤ u − c

with the limits that are in its way held as equations, one after the other. It is closed to C = 0, its coordinates are held
within their limits, and taken where Σ e² falls; then μ falls too, otherwise it grows. Where Σ e² is stationary and a second
derivative is negative, as for a straight arm that is asked to fold, it goes on beside. It ends where e is 0, or where nothing
that the limits leave makes it smaller: the targets are out of reach from here, and what remains is told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.configuration import limited, row_units
from nexdyn.absolute.model.kkt import factor_kkt
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.assembly.assemble import Start, assemble, mechanism_length, mechanism_size
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.loads import joint_state
from nexdyn.assembly.report import AssemblyReport, WithPose
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, counted, unknown
from nexdyn.joints.kinds import REGISTERED
from nexdyn.linalg.matrices import dense
from nexdyn.model.driver import Driver
from nexdyn.model.system import System
from nexdyn.spatial.rotations import (
    log_quaternion,
    quaternion,
    quaternion_conjugate,
    quaternion_multiply,
    rotation_matrix,
)
from nexdyn.statics.descent import tangent

Array = np.ndarray
REACHED = 1e-9
"""|e| of a target that counts as reached, in rad and parts of the mechanism's size."""
STILL = 1e-18
"""Part of Σ e² that a step must promise to be worth its while."""
CLOSED = 1e-12
MARGIN = 1e-9
"""What a coordinate may be beyond its limit by rounding."""
SOFTEST, STIFFEST = 1e-12, 1e8
BESIDE = 1e-4
"""How far to each side second derivatives look, in rad and parts of the mechanism's size."""
SADDLE = 1e-5
"""A second derivative is negative below this part of the largest."""
LARGEST = 4000


class Gap(NamedTuple):
    """What is left between a frame and its target: distance [m], angle [rad]; 0 for what was not asked."""

    distance: float
    angle: float


@dataclass(frozen=True, repr=False)
class Posture(WithPose, metaclass=CheckedCalls):
    """The outcome of `nx.inverse_kinematics`.

    reached: whether every target is met. gaps: of each frame what remains. joints: coordinates by joint, as q0 takes them.
    at_limit: joints that their limits hold. pose: (nb + 1, 7) of all bodies, row 0 the ground. t: the time of drivers [s]. A run starts
    from it: `nx.simulate(system, 1.0, initial=posture)`.
    """

    system: System
    reached: bool
    gaps: dict[str, Gap]
    joints: dict[str, Array]
    at_limit: list[str]
    iterations: int
    pose: Array
    _bodies: dict[str, int] = field(repr=False)
    t: float = 0.0

    def __repr__(self) -> str:
        return f"Posture({self.system.name!r}: {'reached' if self.reached else 'not reached'}, {counted(self.iterations, 'iteration')})"

    @property
    def q(self) -> Array:
        """The coordinates (nq,) in the order of `nx.Tree(system)`; InputError for a system with loops."""
        from nexdyn.tree.tree import Tree

        tree = Tree(self.system)
        q = tree.neutral()
        for name, place in tree.coordinates.items():
            own = self.joints.get(name)
            q[place.q] = self.pose[self._bodies[name]] if own is None else own  # a body that floats by itself
        return q

    def at_rest(self, system: System) -> AssemblyReport:
        """The report of `system` assembled there, at rest but for what drivers move. InputError if the posture is another's."""
        if system is not self.system:
            raise InputError("initial is the posture of another system")
        return assemble(system, t=self.t, initial=Start(self.pose, np.zeros((len(self.pose), 6)), self.joints))

    def position(self, body: str) -> Array:
        """Origin of a body in the world (3,) [m]."""
        return self.pose[self._body(body), 4:].copy()

    def orientation(self, body: str) -> Array:
        """Unit quaternion (w, x, y, z) of a body."""
        return self.pose[self._body(body), :4].copy()

    def _body(self, name: str) -> int:
        if name not in self._bodies:
            raise unknown("body", name, self._bodies, plural="bodies")
        return self._bodies[name]

    def __str__(self) -> str:
        gaps = [f"   {name}: {g.distance:.4g} m, {math.degrees(g.angle):.4g}° off" for name, g in self.gaps.items()]
        head = "reached" if self.reached else "out of reach from here"
        held = [f"   held by limits: {', '.join(self.at_limit)}"] if self.at_limit else []
        return "\n".join([f"Targets {head}, {counted(self.iterations, 'iteration')}", *gaps, *held])


class _Target(NamedTuple):
    frame: str
    body: int
    R_BF: Array
    p_BF: Array
    position: Array | None
    orientation: Array | None
    """A unit quaternion."""
    weight: float


@small_on_one_thread
def inverse_kinematics(
    system: System,
    targets: Mapping[str, Any],
    *,
    q0: Any = None,
    t: float = 0.0,
    limits: bool = True,
    locks: Sequence[str] = (),
    max_iterations: int = 200,
) -> Posture:
    """Where joints must stand for frames to be where `targets` say; trees and closed loops.

    targets: {body or marker: target}. A target is a position (3,) [m] in the world, or a mapping with `position`,
        `orientation` (unit quaternion w, x, y, z, or 3×3) and `weight` (1), one of the first two or both.
    q0: {joint: coordinate(s)} to start from, or an array of all of a tree; by default those of the joints, or the described pose.
    t: time [s] at which drivers are held. limits: whether the joints' limits hold. locks: joints that keep their coordinates.
    max_iterations: most steps.

    What cannot be reached is no error: `reached` is False, and `gaps` say what remains at the nearest pose found. Raises
    InputError; AssemblyError where the system cannot be assembled.
    """
    if type(max_iterations) is not int or max_iterations < 1:
        raise InputError(f"max_iterations is {max_iterations!r}; a whole number, 1 or more, is needed")
    if not isinstance(targets, Mapping) or not targets:
        raise InputError(f"targets are {targets!r}; {{body or marker: position}} is needed, one or more")
    if 6 * len(system.bodies) > LARGEST:
        raise InputError(f"inverse kinematics is dense: {len(system.bodies)} bodies are more than its {LARGEST // 6}")
    report = assemble(system, t=t, q0=q0)
    wanted = [_target(report.model, frame, asked) for frame, asked in targets.items()]
    return _Reach(report.model, wanted, report.t, limits, list(locks)).run(report.q, max_iterations)


def _target(model: AbsoluteModel, frame: str, asked: Any) -> _Target:
    """A target as read."""
    body, R_BF, p_BF = model.system.frame(frame)
    if body.is_ground:
        raise InputError(f"target {frame!r} is on the ground, which does not move; name a body or its marker")
    given = dict(asked) if isinstance(asked, Mapping) else {"position": asked}
    for key in given:
        if key not in ("position", "orientation", "weight"):
            raise unknown("entry", key, ("position", "orientation", "weight"), plural="entries")
    position = orientation = None
    try:
        if given.get("position") is not None:
            position = np.asarray(given["position"], dtype=float)
        if given.get("orientation") is not None:
            orientation = np.asarray(given["orientation"], dtype=float)
        weight = float(given.get("weight", 1.0))
    except (TypeError, ValueError):
        raise InputError(f"target of {frame!r} is {asked!r}; numbers are needed") from None
    if position is None and orientation is None:
        raise InputError(f"target of {frame!r} asks for nothing; give position, orientation or both")
    if position is not None and (position.shape != (3,) or not np.isfinite(position).all()):
        raise InputError(f"position of target {frame!r} is {given['position']!r}; three finite numbers are needed")
    if not (math.isfinite(weight) and weight > 0.0):
        raise InputError(f"weight of target {frame!r} is {weight!r}; a number above 0 is needed")
    if orientation is not None:
        orientation = _quaternion(orientation, frame)
    return _Target(frame, model.body_index[body.name], R_BF, p_BF, position, orientation, weight)


def _quaternion(given: Array, frame: str) -> Array:
    if given.shape == (3, 3) and np.isfinite(given).all() and np.abs(given @ given.T - np.eye(3)).max() < 1e-6:
        if np.linalg.det(given) > 0.0:
            return np.asarray(quaternion(given))
    elif given.shape == (4,) and np.isfinite(given).all() and np.linalg.norm(given) > 1e-6:
        return np.asarray(given / np.linalg.norm(given))
    raise InputError(f"orientation of target {frame!r} is no rotation; a quaternion (w, x, y, z) or 3×3 is needed")


class _Reach:
    """The way to the targets."""

    def __init__(self, model: AbsoluteModel, targets: list[_Target], t: float, limits: bool, locks: list[str]) -> None:
        self.system, self.t, self.targets = model.system, t, targets
        places = [float(np.linalg.norm(x.position)) for x in targets if x.position is not None]
        self.length = mechanism_size(model) or max([mechanism_length(model), *places])
        self.lower, self.upper, self.named = self._bounds(limits, locks)
        held = [Driver(f"{name}.{m}", name, 0.0, freedom=m) for name, m in self.named]
        # rows of the coordinates stand after all others, and are measured, not kept
        self.model = absolute_model(self.system, held=held)
        self.rows = self.model.nc - len(held)
        self.units = np.tile([1.0, 1.0, 1.0, self.length, self.length, self.length], self.model.nb)

    def _bounds(self, limits: bool, locks: list[str]) -> tuple[Array, Array, list[tuple[str, int]]]:
        """Lower and upper limits, and the joint and degree of freedom of each; locked ones are found at the start (NaN)."""
        lower, upper, named = [], [], []
        for name in locks:
            if not len(self.system.joint(name).coordinates):
                raise InputError(f"{self.system.joint(name)} has no coordinate that can be locked")
        for name, joint in self.system.joints.items():
            resolved = joint.resolved(self.system.values) if joint.tree and joint.nv else None
            if limits and joint.code == REGISTERED and joint.limits is not None:
                raise InputError(
                    f"limits of {joint} ({joint.kind}), a registered joint, cannot be kept by inverse kinematics; give limits=False"
                )
            for m in range(len(joint.coordinates)):
                low, high = (resolved.lower[m], resolved.upper[m]) if limits and resolved else (-np.inf, np.inf)
                if name in locks:
                    low = high = np.nan
                if not (low == -np.inf and high == np.inf):
                    lower.append(low)
                    upper.append(high)
                    named.append((name, m))
        return np.array(lower), np.array(upper), named

    def run(self, q: Array, most: int) -> Posture:
        near = self._within_turns(q)
        c = self.model.residual(q, self.t, near)[self.rows :]
        locked = np.isnan(self.lower)
        self.lower[locked] = self.upper[locked] = c[locked]
        start = self.closed(q, near, np.clip(c, self.lower, self.upper))
        if start is not None:
            q, near = start
        iterations = 0
        while True:
            q, near, iterations = self.descend(q, near, iterations, most)
            e = self.errors(q)
            off = None
            if iterations < most and np.abs(e).max() > REACHED * 1e-3:
                off = self.off_the_saddle(q, near, e)
            if off is None:
                return self.posture(q, near, iterations)
            q, near = off

    def descend(self, q: Array, near: Array, iterations: int, most: int) -> tuple[Array, Array, int]:
        """From q to where ½ |e|² is stationary, and how many steps were taken by then."""
        e, mu, growth = self.errors(q), 1e-3, 2.0
        while iterations < most and np.abs(e).max() > REACHED * 1e-3:
            iterations += 1
            Cq = dense(self.model.jacobian(q, self.t, near)) * self.units
            T, _ = tangent(Cq[: self.rows], np.zeros(self.model.nv))
            if not T.shape[1]:
                break  # nothing can move
            A, G = self.gradient(q) @ T, Cq[self.rows :] @ T
            c = self.model.residual(q, self.t, near)[self.rows :]
            low, high = np.minimum(self.lower - c, 0.0), np.maximum(self.upper - c, 0.0)
            better, gain = None, 0.0
            while mu < STIFFEST:
                y = bounded(A, e, mu, G, low, high)
                if (np.abs(limited(T @ y, 1.0)) < 0.999 * np.abs(T @ y)).any():
                    mu = max(4.0 * mu, 1e-6)  # shortens what brings little first
                    continue
                gain = float(e @ e - np.sum((A @ y - e) ** 2))
                if gain <= STILL * float(e @ e):
                    break
                moved = self.model.moved(q, self.units * (T @ y))
                better = self.closed(moved, near, np.clip(c + G @ y, self.lower, self.upper))
                if better is not None:
                    e_there = self.errors(better[0])
                    if e_there @ e_there < (1.0 - 1e-12) * (e @ e):
                        break
                better, mu, growth = None, max(growth * mu, 1e-6), 2.0 * growth
            if better is None:
                break
            # after Nielsen 1999: μ falls with the part of what was promised that came
            came = float(e @ e - e_there @ e_there) / gain
            (q, near), e = better, e_there
            mu, growth = max(mu * max(0.1, 1.0 - (2.0 * came - 1.0) ** 3), SOFTEST), 2.0
        return q, near, iterations

    def off_the_saddle(self, q: Array, near: Array, e: Array) -> tuple[Array, Array] | None:
        """A lower pose near one where ½ |e|² is stationary but no minimum, like a straight arm that is asked to fold.

        H y = d/dε Tᵀ P(ε) ∇½|e|², by differences along the columns of T; P projects on what the constraints leave there. Where
        H has a negative eigenvalue, its vector leads down, at least a quarter of what H promises."""
        Cq = dense(self.model.jacobian(q, self.t, near))[: self.rows] * self.units
        T, _ = tangent(Cq, np.zeros(self.model.nv))
        c = self.model.residual(q, self.t, near)[self.rows :]

        def moved(y: Array) -> tuple[Array, Array] | None:
            there = self.model.moved(q, self.units * (T @ y))
            return self.closed(there, near, np.clip(c, self.lower, self.upper))

        def slope(y: Array) -> Array | None:
            place = moved(y)
            if place is None:
                return None
            there = dense(self.model.jacobian(place[0], self.t, place[1]))[: self.rows] * self.units
            P, _ = tangent(there, np.zeros(self.model.nv))
            return np.asarray(T.T @ (P @ (P.T @ (-self.gradient(place[0]).T @ self.errors(place[0])))))

        H = np.zeros((T.shape[1],) * 2)
        for i, direction in enumerate(np.eye(len(H))):
            ends = slope(BESIDE * direction), slope(-BESIDE * direction)
            if ends[0] is None or ends[1] is None:
                return None
            H[i] = (ends[0] - ends[1]) / (2.0 * BESIDE)
        values, vectors = np.linalg.eigh(0.5 * (H + H.T)) if len(H) else (np.zeros(1), np.zeros((1, 1)))
        if not values[0] < -SADDLE * float(np.abs(values).max()):
            return None
        for step in 0.5 ** np.arange(1.0, 8.0):
            for sign in (1.0, -1.0):
                place = moved(sign * step * vectors[:, 0])
                if place is not None:
                    there = self.errors(place[0])
                    if there @ there < e @ e + 0.25 * float(values[0]) * step**2:
                        return place
        return None

    def _within_turns(self, q: Array) -> Array:
        """Where angles are looked for: by whole turns within their limits, where there are such."""
        near = self.model.near(q, self.t)
        c = self.model.residual(q, self.t, near.copy())[self.rows :]
        own = self.model.drivers[len(self.model.drivers) - len(c) :]
        for driver, value, low, high in zip(own, c, self.lower, self.upper, strict=True):
            turns = math.ceil((low - value) / (2 * math.pi)) if value < low else 0
            turns = math.floor((high - value) / (2 * math.pi)) if value > high else turns
            if driver.near >= 0 and low <= value + 2 * math.pi * turns <= high:
                near[driver.near] = value + 2 * math.pi * turns
        return near

    def errors(self, q: Array) -> Array:
        """e of all targets."""
        parts = []
        for target in self.targets:
            place, turn = self._off(q, target)
            if target.position is not None:
                parts.append(target.weight * place / self.length)
            if target.orientation is not None:
                parts.append(target.weight * turn)
        return np.concatenate(parts)

    def _off(self, q: Array, target: _Target) -> tuple[Array, Array]:
        """p* − p_F in the world, and log(R_Fᵀ R*); zeros for what is not asked."""
        q_B, p_B = q[target.body, :4], q[target.body, 4:]
        place, turn = np.zeros(3), np.zeros(3)
        if target.position is not None:
            place = target.position - p_B - rotation_matrix(q_B) @ target.p_BF
        if target.orientation is not None:
            q_F = quaternion_multiply(q_B, quaternion(target.R_BF))
            turn = log_quaternion(quaternion_multiply(quaternion_conjugate(q_F), target.orientation))
        return place, turn

    def gradient(self, q: Array) -> Array:
        """A: −∂e for increments in units of `units`; the turn by its leading term, exact where it vanishes."""
        rows = []
        for target in self.targets:
            k = 6 * (target.body - 1)
            if target.position is not None:
                R, (x, y, z) = rotation_matrix(q[target.body, :4]), target.p_BF
                A = np.zeros((3, self.model.nv))
                A[:, k : k + 3] = -R @ np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
                A[:, k + 3 : k + 6] = np.eye(3)
                rows.append(target.weight / self.length * A * self.units)
            if target.orientation is not None:
                A = np.zeros((3, self.model.nv))
                A[:, k : k + 3] = target.R_BF.T
                rows.append(target.weight * A)
        return np.concatenate(rows)

    def closed(self, q: Array, near: Array, wanted: Array) -> tuple[Array, Array] | None:
        """The pose near q with C = 0 and coordinates within their limits, those beyond them held at `wanted`."""
        near = near.copy()
        scale = row_units(self.model, self.length)
        W = self.model.diagonal(self.units**-2.0)
        beyond = np.zeros(len(self.lower), dtype=bool)
        for _ in range(25):
            C = self.model.residual(q, self.t, near)
            c = C[self.rows :]
            beyond |= (c < self.lower - MARGIN) | (c > self.upper + MARGIN)
            kept = np.concatenate([np.ones(self.rows, dtype=bool), beyond])
            C[self.rows :] = c - np.clip(np.where(beyond, wanted, c), self.lower, self.upper)
            off = (scale * C)[kept]
            if not np.abs(off).max(initial=0.0) > CLOSED:
                return q, near
            Cq = dense(self.model.jacobian(q, self.t, near))[kept] * scale[kept, None]
            step, _ = factor_kkt(W, self.model.as_matrix(Cq), 1e-12).solve(np.zeros(self.model.nv), -off, refine=0)
            q = self.model.moved(q, limited(step, self.length))
        return (q, near) if np.abs(off).max(initial=0.0) < 1e3 * CLOSED else None

    def posture(self, q: Array, near: Array, iterations: int) -> Posture:
        """The answer."""
        gaps, reached = {}, True
        for target in self.targets:
            place, turn = self._off(q, target)
            gaps[target.frame] = Gap(float(np.linalg.norm(place)), float(np.linalg.norm(turn)))
            reached &= gaps[target.frame].distance <= REACHED * self.length and gaps[target.frame].angle <= REACHED
        still = np.zeros((self.model.nb + 1, 6))
        joints = {
            name: joint_state(self.model, joint, q, still)[0]
            for name, joint in self.system.joints.items() if joint.tree and joint.nv
        }  # fmt: skip
        c = self.model.residual(q, self.t, near.copy())[self.rows :]
        for (name, m), value in zip(self.named, c, strict=True):
            joints[name][m] = value  # angles that may have turned more than half round
        held = (np.abs(c - self.lower) <= 1e3 * MARGIN) | (np.abs(c - self.upper) <= 1e3 * MARGIN)
        at_limit = list(dict.fromkeys(name for (name, _), here in zip(self.named, held, strict=True) if here))
        return Posture(
            self.system, bool(reached), gaps, joints, at_limit, iterations, q, dict(self.model.body_index), self.t
        )


def bounded(A: Array, e: Array, mu: float, G: Array, low: Array, high: Array) -> Array:
    """y of min |A y − e|² + μ² |y|² with low ≤ G y ≤ high, which y = 0 keeps.

    Primal active set (Nocedal & Wright, Numerical Optimization, section 16.5): from y = 0 to the least of what the limits that are held
    leave, or to the first limit in the way, which is held from there on; where nothing is in the way, the limit that pulls most is let go.
    So y keeps all limits after every step, and limits that are held are independent.

    scipy.optimize.lsq_linear bounds y itself, which is this where as many coordinates are limited as can move, but not on loops, whose
    limited coordinates depend on each other. SLSQP takes any limits: on a hundred random problems each of an arm of 7 joints, a loop of 3
    motions with 8 limited coordinates, and 30 joints it ends without success in 28, 8 and 17.
    """
    n = A.shape[1]
    whole, right = np.concatenate([A, mu * np.eye(n)]), np.concatenate([e, np.zeros(n)])
    fixed, y = low == high, np.zeros(n)
    active = fixed.copy()
    for _ in range(10 * (len(G) + 1)):
        B = G[active]
        free = scipy.linalg.null_space(B, rcond=1e-12) if len(B) else np.eye(n)
        step = np.zeros(n)
        if free.shape[1]:
            step = free @ scipy.linalg.lstsq(whole @ free, right - whole @ y, cond=1e-15)[0]
        c, change = G @ y, G @ step
        moves = ~active & (np.abs(change) > 1e-14 * (1.0 + np.abs(change).max(initial=0.0)))
        room = np.full(len(G), np.inf)
        room[moves] = np.maximum(np.where(change > 0.0, high - c, low - c)[moves] / change[moves], 0.0)
        share = float(room.min(initial=1.0))
        y = y + min(share, 1.0) * step
        if share < 1.0:
            active[int(room.argmin())] = True
            continue
        if not len(B):
            return y
        # a limit that pulls instead of pushing is let go
        pull = scipy.linalg.lstsq(B.T, whole.T @ (right - whole @ y), cond=1e-12)[0]
        held, c = np.flatnonzero(active), G @ y
        inward = np.where(high[held] - c[held] < c[held] - low[held], -pull, pull)
        inward[fixed[held]] = 0.0
        if not inward.size or inward.max() <= 1e-12:
            return y
        active[held[int(inward.argmax())]] = False
    return y


def follow(model: AbsoluteModel, q: Array, near: Array, wanted: Array, own: int) -> tuple[Array, Array] | None:
    """The pose near q with C = 0, whose rows from `own` on measure `wanted`, and what its angles are near; None if none is."""
    length = mechanism_length(model)
    near, scale = near.copy(), row_units(model, length)
    units = np.tile([1.0, 1.0, 1.0, length, length, length], model.nb)
    W, off = model.diagonal(units**-2.0), np.full(1, np.inf)
    for _ in range(25):
        C = model.residual(q, 0.0, near)
        C[own:] -= wanted
        off = scale * C
        if not np.abs(off).max(initial=0.0) > CLOSED:
            break
        Cq = dense(model.jacobian(q, 0.0, near)) * scale[:, None]
        step, _ = factor_kkt(W, model.as_matrix(Cq), 1e-12).solve(np.zeros(model.nv), -off, refine=0)
        q = model.moved(q, limited(step, length))
    return (q, near) if np.abs(off).max(initial=0.0) < 1e3 * CLOSED else None

"""How long explicit steps may be for contacts, told before a run.

    v = Z u                              velocities of all bodies, u those that joints, drivers and couplings leave free
    W = Z (Zᵀ M Z)⁻¹ Zᵀ                  how they yield to forces, armatures in M; of free bodies M⁻¹
    Y = J W Jᵀ                           how the points of contact yield to a force against each other, v_A − v_B = J v
    N = g/(n · Y n)                      what presses there at rest, δ the depth where k δᵉ = N, or that of the start if it is more
    k δᵉ⁺¹/(e + 1) = ½ s²/(n · Y n)      the depth of a strike at a point at the speed s with which it begins, or free fall leads to
    K = k' (n nᵀ + ρ (1 − n nᵀ)),        k' = d(k δᵉ)/dδ, ρ of friction that sticks;  of an area that presses, k' = k A
    dt ≤ c/ω,   ω² the largest eigenvalue of K Y        c = 2.78 of Runge–Kutta 4, 2 of Euler's methods

Bodies that are apart over areas are laid on each other along gravity, as they are oriented, until N presses: A is that area.

A step may be longer than that and not diverge: friction that yields keeps its oscillations in bounds, and N is less where several contacts
share a weight or something else bears it. Sure is what holds along the normal, ω² = k' n · Y n, with k' of a law that is linear, or of the
depth at the start, or where the normal is within 60° of gravity of N/s, s the number of contact points that may share it. Of areas s^−1/3
of that ω is sure, for they grow with N by N^2/3 at most, and half of that where bodies do not press at the start: they may turn.

This is computed in the first pose. Poses that come later show in the energy after the run (``simulation.growth``). Nothing is told for
bodies in joints where there are more than `MOST_JOINED` bodies, nor where a degree of freedom moves no inertia.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.forces.contact import ContactForce, Seen, fixed_to, seen_in
from nexdyn.forces.contact_data import Far, PointData
from nexdyn.forces.overlap import UNBOUNDED
from nexdyn.forces.sphere_contact import SphereContact
from nexdyn.integrate.methods import HHT, ImplicitEuler, RungeKutta4
from nexdyn.linalg.matrices import dense
from nexdyn.spatial.rotations import cross_product, quaternion

if TYPE_CHECKING:
    from nexdyn.integrate.methods import Method
    from nexdyn.model.force import Frame
    from nexdyn.model.system import System

Pose = Callable[[str], tuple[np.ndarray, np.ndarray]]
STABLE = {RungeKutta4.name: 2.78}
"""How far methods are stable; 2 of those not here."""
MOST_JOINED, INDEPENDENT = 60, 1e-10
"""Bodies, dense matrices of which are made; from where on a row, or an inertia, is rounding."""
MOST_APART = 500
"""Contacts that do not touch, of which each is looked at: 0.2 s."""
STEEP = 0.5
"""The least part of gravity along a normal with which a weight counts as pressing there."""
MOST_LAID, MOST_STEPS, HALVED = 50, 60, 8
"""Areas that are apart, which are laid down: how many; the steps to where they touch; those to where they bear."""
NEAR, TURNED = 1e-9, 0.5
"""From where on surfaces touch, as a part of the smaller reach; the part of ω that is sure of a body that may turn before it presses."""


def constant_step(method: Method) -> float | None:
    """The constant step [s] of an explicit method; None of others."""
    return None if isinstance(method, HHT | ImplicitEuler) else getattr(method, "dt", None)


def limit_of(method: Method) -> float:
    """c."""
    return STABLE.get(getattr(method, "integrator", method).name, 2.0)


class Fast(NamedTuple):
    """An ω [rad/s], or what of it is sure, the name of the contact it is of, and ω; 0 and "" without any."""

    omega: float = 0.0
    contact: str = ""
    told: float = 0.0


class Squares(NamedTuple):
    """ω² of a contact, and what of it is sure; 0 where it is not known."""

    told: float = 0.0
    sure: float = 0.0


Speeds = Callable[[str], tuple[np.ndarray, np.ndarray]]


def fastest(system: System, pose: Pose, speeds: Speeds | None = None) -> tuple[Fast, Fast]:
    """The largest ω of contacts where they are, and the largest that is sure. speeds: of bodies ω and v of their origins, in the world; by
    default they are at rest. Of more than `MOST_APART` those that touch, and the
    nearest of the others, are looked at."""
    told, sure, yields = Fast(), Fast(), Yielding(system, pose, speeds)
    contacts = [force for force in system.forces.values() if isinstance(force, ContactForce) and not force.is_off]
    if len(contacts) > MOST_APART:
        gaps = surface_gaps(contacts, system, pose)
        nearest = np.argsort(gaps, kind="stable").tolist()
        contacts = [contacts[k] for place, k in enumerate(nearest) if place < MOST_APART or gaps[k] <= 0.0]
    for force in contacts:
        squares, name = square_of(force, system, yields), force.part_of or force.name
        omega = math.sqrt(squares.told)
        told = max(told, Fast(omega, name, omega))
        sure = max(sure, Fast(math.sqrt(squares.sure), name, omega))
    return told, sure


def surface_gaps(contacts: Sequence[ContactForce], system: System, pose: Pose) -> np.ndarray:
    """How much farther from each other the surfaces of contacts are than they reach [m]: `beyond_reach` of each. Contacts have frames, and
    data, in common: each of them is looked at once."""
    if not contacts:
        return np.zeros(0)
    values, frames, fars = system.values, _Distinct(), _Distinct()
    which = np.array([[*map(frames.place, x.frames(system)), fars.place(x.numbers(values))] for x in contacts])
    placed = np.array([_placed(frame, pose) for frame in frames.found])
    told: list[Far] = [PointData(numbers).far for numbers in fars.found]
    reach, side, offset = (
        np.array(x)[which[:, 2]] for x in zip(*((far.reach, far.side, far.offset) for far in told), strict=True)
    )
    A, B = placed[which[:, 0]], placed[which[:, 1]]
    d, n = A[:, 9:] - B[:, 9:], np.array([tuple(far.n) for far in told])[which[:, 2]]
    R = np.where(side[:, None] > 0.0, B, A)[:, :9].reshape(-1, 3, 3)
    beyond = side * np.einsum("nij,nj,ni->n", R, n, d) - offset - reach
    return np.where(side == 0.0, np.linalg.norm(d, axis=1) - reach, beyond)


class _Distinct:
    """Objects that are not the same, in the order in which they come; they stay alive with it."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self._places: dict[int, int] = {}

    def place(self, x: Any) -> int:
        """Where it is among those found."""
        if id(x) not in self._places:
            self._places[id(x)] = len(self.found)
            self.found.append(x)
        return self._places[id(x)]


def _placed(frame: Frame, pose: Pose) -> np.ndarray:
    R, p = pose(frame.body)
    return np.concatenate([(R @ frame.R_BF).ravel(), p + R @ frame.p_BF])


def poses_of(force: ContactForce, system: System, pose: Pose) -> list[np.ndarray]:
    """The poses (12,) of its frames A and B in the world."""
    return [_placed(frame, pose) for frame in force.frames(system)]


class Yielding:
    """How bodies yield in a pose. W is computed when a body in a joint first needs it."""

    def __init__(self, system: System, pose: Pose, speeds: Speeds | None = None) -> None:
        self.system, self.pose, self.speeds = system, pose, speeds
        self.joined: dict[str, list[Any]] = {}
        self.laid = 0
        for joint in system.joints.values():
            for body in (joint.parent.name, joint.child.name):
                self.joined.setdefault(body, []).append(joint)

    def is_free(self, body: str) -> bool:
        """Whether no joint holds it."""
        joints = self.joined.get(body, [])
        return all(joint.kind == "free" for joint in joints) and len(joints) <= 1

    @cached_property
    def points(self) -> Counter[str]:
        """Contact points of each body that are not switched off."""
        found: Counter[str] = Counter()
        for force in self.system.forces.values():
            if isinstance(force, ContactForce) and not force.is_off:
                for body in {frame.body for frame in force.frames(self.system)}:
                    found[body] += force.points
        return found

    def sharing(self, bodies: Sequence[str]) -> int:
        """How many contact points may share what presses two bodies: of a free one its own, of what joints hold those of all."""
        moving = [body for body in bodies if "ground" not in fixed_to(self.system, body)]
        if any(not self.is_free(body) for body in moving):
            return self.all_points
        return max((self.points[body] for body in moving), default=1)

    @cached_property
    def all_points(self) -> int:
        """Contact points of all bodies."""
        return sum(force.points for force in self.system.forces.values() if isinstance(force, ContactForce))

    @cached_property
    def coupled(self) -> tuple[dict[str, int], np.ndarray] | None:
        """The first column of each body, and W; None where that is not known."""
        if len(self.system.bodies) > MOST_JOINED:
            return None
        from scipy.linalg import null_space  # 0.1 s: only where a contact has a body in a joint

        from nexdyn.absolute.model.model import absolute_model

        model = absolute_model(self.system)
        q = model.q.copy()
        for k, name in enumerate(model.bodies):
            R, p = self.pose(name)
            q[k, :4], q[k, 4:] = quaternion(R), p
        units = np.tile([1.0, 1.0, 1.0, *3 * [float(np.ptp(q[:, 4:], axis=0).max()) or 1.0]], model.nb)
        rows = dense(model.jacobian(q, 0.0)) * units
        sizes = np.linalg.norm(rows, axis=1)
        Z = (
            null_space(rows[sizes > 0.0] / sizes[sizes > 0.0, None], rcond=INDEPENDENT)
            if sizes.any()
            else np.eye(len(units))
        )
        Z = units[:, None] * Z
        inertia, directions = np.linalg.eigh(Z.T @ dense(model.mass_matrix(q)) @ Z)
        if not len(inertia) or not inertia[0] > INDEPENDENT * inertia[-1]:
            return None
        half = Z @ directions / np.sqrt(inertia)
        return {name: 6 * (k - 1) for k, name in enumerate(model.bodies)}, half @ half.T

    def of(self, sides: list[tuple[str, np.ndarray]]) -> np.ndarray | None:
        """Y of a contact of two bodies at a point (3,) of each in the world; None where it is not known."""
        moving = [
            (body, point, sign)
            for (body, point), sign in zip(sides, (1.0, -1.0), strict=True)
            if "ground" not in fixed_to(self.system, body)
        ]
        if all(self.is_free(body) for body, _, _ in moving):
            Y = np.zeros((3, 3))
            for body, point, _ in moving:
                alone = self._alone(body, point)
                if alone is None:
                    return None
                Y += alone
            return Y
        if self.coupled is None:
            return None
        first, W = self.coupled
        J = np.zeros((3, len(W)))
        for body, point, sign in moving:
            (R, p), k = self.pose(body), first[body]
            J[:, k : k + 3] += sign * cross_product(np.eye(3), point - p).T @ R
            J[:, k + 3 : k + 6] += sign * np.eye(3)
        return np.asarray(J @ W @ J.T)

    def _alone(self, body: str, point: np.ndarray) -> np.ndarray | None:
        """1/m 1 + [r]ₓ I⁻¹ [r]ₓᵀ of a free body, r from its centre of mass."""
        given, (R, p) = self.system.bodies[body].resolved(self.system.values), self.pose(body)
        if not given.mass > 0.0 or np.linalg.matrix_rank(given.inertia) < 3:
            return None
        r = cross_product(np.eye(3), point - p - R @ given.com)
        return np.asarray(np.eye(3) / given.mass + r.T @ R @ np.linalg.inv(given.inertia) @ R.T @ r)


def square_of(force: ContactForce, system: System, yields: Yielding) -> Squares:
    """ω² of a contact."""
    values, data, poses = system.values, force.data_in(system), poses_of(force, system, yields.pose)
    sharing = yields.sharing([frame.body for frame in force.frames(system)])
    if over_area := force.stiffness_unit(values) == "N/m^3":
        if (laid := _laid(force, data, system, yields, poses)) is None:
            return Squares()
        row, part = laid.row, 1.0 if laid.at_start else TURNED * sharing ** (-1.0 / 3.0)
    else:
        row = _row(force, data, *poses)
    n = np.array(row.normal)
    Y = _yield_at(force, system, yields, row)
    if Y is None or not (along := float(n @ Y @ n)) > 0.0:
        return Squares()
    law, gravity = force.law(values), float(np.linalg.norm(system.gravity))
    if over_area:
        slope = law.stiffness * float(row.area)
        certain = part * part * slope
    else:
        depth, load = float(row.depth), gravity / along
        bears = abs(float(n @ system.gravity)) >= STEEP * gravity
        slope = force.slope_in(values, poses, max(depth, _depth_struck(force, system, yields, row, along)), load)
        certain = force.slope_in(values, poses, depth, load / sharing if bears else 0.0)
    across = law.friction_stiffness if force.sticks else 0.0
    K = slope * (across * np.eye(3) + (1.0 - across) * np.outer(n, n))
    return Squares(float(np.abs(np.linalg.eigvals(K @ Y)).max()), certain * along)


def _row(force: ContactForce, data: list[float], A: np.ndarray, B: np.ndarray) -> Seen:
    """What is recorded of the deepest point of a contact whose frames rest at the poses (12,)."""
    a, b = (np.concatenate([pose, np.zeros(6)])[None] for pose in (A, B))
    seen = force.motion_table(data, a, b, np.zeros((1, 0)))[0]
    return Seen(seen[int(seen_in(seen).depth.argmax())])


def _yield_at(force: ContactForce, system: System, yields: Yielding, row: Seen) -> np.ndarray | None:
    """Y of a contact of which `row` is recorded; None where it is not known."""
    n, p, depth = np.array(row.normal), np.array(row.point), float(row.depth)
    if not n.any():
        return None
    # where both are apart the point lies on B, of two spheres midway: the nearest points of A and B
    gap, on_b = max(-depth, 0.0) * n, 0.5 if isinstance(force, SphereContact) else 0.0
    points = (p + (1.0 - on_b) * gap, p - on_b * gap)
    return yields.of([(frame.body, point) for frame, point in zip(force.frames(system), points, strict=True)])


def _depth_struck(force: ContactForce, system: System, yields: Yielding, row: Seen, along: float) -> float:
    """How deep [m] a contact at a point goes in at the speed with which its bodies come towards each other, or with which one that is free
    falls on what is fixed; 0 where they do not, and of a law that is linear, whose slope depends on no depth, or a user's own."""
    law = force.law(system.values)
    if force.normal_force is not None or law.exponent == 1.0:
        return 0.0
    n, p = np.array(row.normal), np.array(row.point)
    fixed = ["ground" in fixed_to(system, frame.body) for frame in force.frames(system)]
    towards, falls = 0.0, 0.0
    for frame, sign, is_fixed in zip(force.frames(system), (-1.0, 1.0), fixed, strict=True):
        if is_fixed:
            continue
        if yields.speeds is not None:
            w, v = yields.speeds(frame.body)
            towards += sign * float(n @ (v + np.cross(w, p - yields.pose(frame.body)[1])))
        falls += sign * float(n @ system.gravity) if any(fixed) and yields.is_free(frame.body) else 0.0
    squared = max(towards, 0.0) * towards + 2.0 * falls * max(-float(row.depth), 0.0)
    if squared <= 0.0:
        return 0.0
    return float((0.5 * (law.exponent + 1.0) * squared / (along * law.stiffness)) ** (1.0 / (law.exponent + 1.0)))


class Laid(NamedTuple):
    """What is recorded of an area that presses, whether it does so where it starts, and whether bodies may turn before."""

    row: Seen
    at_start: bool = True


def _laid(
    force: ContactForce, data: list[float], system: System, yields: Yielding, poses: list[np.ndarray]
) -> Laid | None:
    """An area that presses at the start, or where the upper body is let down along gravity, as it is oriented, until its weight is borne.
    None where it passes by, or nothing presses, and of those apart that come after the first `MOST_LAID`."""
    row, gravity = _row(force, data, *poses), float(np.linalg.norm(system.gravity))
    touching = bool(row.area > 0.0)
    start = Laid(row) if touching else None
    if gravity == 0.0 or (not touching and yields.laid >= MOST_LAID):
        return start
    yields.laid += not touching
    down = np.asarray(system.gravity, dtype=float) / gravity
    reach, between = force.extent(system.values), poses[1][9:] - poses[0][9:]
    ends = [x for x in (reach.a, reach.b) if 0.0 < x < UNBOUNDED]  # a plane has none
    size, most = min(ends), math.inf if len(ends) < 2 else float(np.linalg.norm(between)) + sum(ends)
    held = ["ground" in fixed_to(system, frame.body) for frame in force.frames(system)]
    upper = int(held[0]) if held[0] != held[1] else int(float(down @ between) < 0.0)

    def at(lowered: float) -> Seen:
        moved = [pose.copy() for pose in poses]
        moved[upper][9:] += lowered * down
        return _row(force, data, *moved)

    def bears(row: Seen) -> bool:
        """Whether it bears the weight."""
        Y = _yield_at(force, system, yields, row)
        n = np.array(row.normal)
        return Y is not None and float(row.normal_force * (n @ Y @ n)) >= gravity and abs(float(n @ down)) >= STEEP

    if touching and (bears(row) or abs(float(np.array(row.normal) @ down)) < STEEP):
        return start
    lowered = 0.0
    for _ in range(MOST_STEPS):  # −δ is not more than the way that is left
        if row.area > 0.0 or lowered > most or not row.depth < -NEAR * size:
            break
        lowered -= float(row.depth)
        row = at(lowered)
    low, deeper = lowered, NEAR * size
    while not bears(row := at(lowered + deeper)):
        low, deeper = lowered + deeper, 2.0 * deeper
        if not deeper < size or lowered > most:
            return start
    high = lowered + deeper
    for _ in range(HALVED):
        middle = 0.5 * (low + high)
        if bears(there := at(middle)):
            high, row = middle, there
        else:
            low = middle
    return Laid(row, at_start=False)

"""How long explicit steps may be for contacts, told before a run.

    v = Z u                              velocities of all bodies, u those that joints, drivers and couplings leave free
    W = Z (Zᵀ M Z)⁻¹ Zᵀ                  how they yield to forces, armatures in M; of free bodies M⁻¹
    Y = J W Jᵀ                           how the points of contact yield to a force against each other, v_A − v_B = J v
    N = g/(n · Y n)                      what presses there at rest, δ the depth where k δᵉ = N, or that of the start if it is more
    K = k' (n nᵀ + ρ (1 − n nᵀ)),        k' = d(k δᵉ)/dδ, ρ of friction that sticks;  of an area that presses, k' = k A
    dt ≤ c/ω,   ω² the largest eigenvalue of K Y        c = 2.78 of Runge–Kutta 4, 2 of Euler's methods

This is computed in the first pose. Poses that come later show in the energy after the run (``simulation.growth``). Nothing is told for
bodies in joints where there are more than `MOST_JOINED` bodies, nor where a freedom moves no inertia.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.absolute.model import absolute_model
from nexdyn.forces.contact import AREA, DEPTH, ContactForce, beyond_reach, fixed_to
from nexdyn.forces.sphere_contact import SphereContact
from nexdyn.integrate.methods import HHT, ImplicitEuler, RungeKutta4
from nexdyn.spatial.rotations import quaternion

if TYPE_CHECKING:
    from nexdyn.integrate.methods import Method
    from nexdyn.model.system import System

Pose = Callable[[str], tuple[np.ndarray, np.ndarray]]
STABLE = {RungeKutta4.name: 2.78}
"""How far methods are stable; 2 of those not here."""
MOST_JOINED, INDEPENDENT = 60, 1e-10
"""Bodies, dense matrices of which are made; from where on a row, or an inertia, is rounding."""
MOST_APART = 500
"""Contacts that do not touch, of which each is looked at: 0.2 s."""


def constant_step(method: Method) -> float | None:
    """The constant step [s] of an explicit method; None of others."""
    return None if isinstance(method, HHT | ImplicitEuler) else getattr(method, "dt", None)


def limit_of(method: Method) -> float:
    """c."""
    return STABLE.get(getattr(method, "integrator", method).name, 2.0)


def fastest(system: System, pose: Pose) -> tuple[float, str]:
    """The largest ω [rad/s] of contacts where they are, and the name of the contact; 0 and "" without any. Of more than
    `MOST_APART` those that touch, and the nearest of the others, are looked at."""
    found, yields = (0.0, ""), Yielding(system, pose)
    contacts = [force for force in system.forces.values() if isinstance(force, ContactForce) and not force.is_off]
    if len(contacts) > MOST_APART:
        gaps = [beyond_reach(x.numbers(system.values), *poses_of(x, system, pose)) for x in contacts]
        nearest = sorted(range(len(contacts)), key=gaps.__getitem__)
        contacts = [contacts[k] for place, k in enumerate(nearest) if place < MOST_APART or gaps[k] <= 0.0]
    for force in contacts:
        found = max(found, (math.sqrt(square_of(force, system, yields)), force.part_of or force.name))
    return found


def poses_of(force: ContactForce, system: System, pose: Pose) -> list[np.ndarray]:
    """The poses (12,) of its frames A and B in the world."""
    return [
        np.concatenate([(R @ frame.R_BF).ravel(), p + R @ frame.p_BF])
        for frame in force.frames(system)
        for R, p in (pose(frame.body),)
    ]


class Yielding:
    """How bodies yield in a pose. W is computed when a body in a joint first needs it."""

    def __init__(self, system: System, pose: Pose) -> None:
        self.system, self.pose = system, pose
        self.joined: dict[str, list[Any]] = {}
        for joint in system.joints.values():
            for body in (joint.parent.name, joint.child.name):
                self.joined.setdefault(body, []).append(joint)

    def is_free(self, body: str) -> bool:
        """Whether no joint holds it."""
        joints = self.joined.get(body, [])
        return all(joint.kind == "free" for joint in joints) and len(joints) <= 1

    @cached_property
    def coupled(self) -> tuple[dict[str, int], np.ndarray] | None:
        """The first column of each body, and W; None where that is not known."""
        if len(self.system.bodies) > MOST_JOINED:
            return None
        from scipy.linalg import null_space  # 0.1 s: only where a contact has a body in a joint

        model = absolute_model(self.system)
        q = model.q.copy()
        for k, name in enumerate(model.bodies):
            R, p = self.pose(name)
            q[k, :4], q[k, 4:] = quaternion(R), p
        units = np.tile([1.0, 1.0, 1.0, *3 * [float(np.ptp(q[:, 4:], axis=0).max()) or 1.0]], model.nb)
        rows = _dense(model.jacobian(q, 0.0)) * units
        sizes = np.linalg.norm(rows, axis=1)
        Z = (
            null_space(rows[sizes > 0.0] / sizes[sizes > 0.0, None], rcond=INDEPENDENT)
            if sizes.any()
            else np.eye(len(units))
        )
        Z = units[:, None] * Z
        inertia, directions = np.linalg.eigh(Z.T @ _dense(model.mass_matrix(q)) @ Z)
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
            J[:, k : k + 3] += sign * np.cross(np.eye(3), point - p).T @ R
            J[:, k + 3 : k + 6] += sign * np.eye(3)
        return np.asarray(J @ W @ J.T)

    def _alone(self, body: str, point: np.ndarray) -> np.ndarray | None:
        """1/m 1 + [r]ₓ I⁻¹ [r]ₓᵀ of a free body, r from its centre of mass."""
        given, (R, p) = self.system.bodies[body].resolved(self.system.values), self.pose(body)
        if not given.mass > 0.0 or np.linalg.matrix_rank(given.inertia) < 3:
            return None
        r = np.cross(np.eye(3), point - p - R @ given.com)
        return np.asarray(np.eye(3) / given.mass + r.T @ R @ np.linalg.inv(given.inertia) @ R.T @ r)


def square_of(force: ContactForce, system: System, yields: Yielding) -> float:
    """ω² of a contact; 0 where it is not known."""
    values = system.values
    rows = [np.concatenate([row, np.zeros(6)])[None] for row in poses_of(force, system, yields.pose)]
    seen = force.motion_table(force.data_in(system), rows[0], rows[1], np.zeros((1, 0)))[0]
    row = seen[int(seen[:, DEPTH].argmax())]
    n, depth, area = row[9:12], float(row[DEPTH]), float(row[AREA])
    if not n.any():
        return 0.0
    # where both are apart the point lies on B, of two spheres midway: the nearest points of A and B
    gap, on_b = max(-depth, 0.0) * n, 0.5 if isinstance(force, SphereContact) else 0.0
    points = (row[3:6] + (1.0 - on_b) * gap, row[3:6] - on_b * gap)
    Y = yields.of([(frame.body, point) for frame, point in zip(force.frames(system), points, strict=True)])
    if Y is None:
        return 0.0
    law, along = force.law(values), float(n @ Y @ n)
    if not along > 0.0:
        return 0.0
    if area > 0.0:
        slope = law.stiffness * area
    elif force.stiffness_unit(values) == "N/m^3":
        return 0.0
    else:
        slope = force.slope_at(values, depth, float(np.linalg.norm(system.gravity)) / along)
    across = law.friction_stiffness if force.sticks else 0.0
    K = slope * (across * np.eye(3) + (1.0 - across) * np.outer(n, n))
    return float(np.abs(np.linalg.eigvals(K @ Y)).max())


def _dense(A: Any) -> np.ndarray:
    return A if isinstance(A, np.ndarray) else np.asarray(A.toarray())

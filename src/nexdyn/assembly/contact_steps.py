"""How long explicit steps may be for the contacts of free bodies, told before a run.

    Y = Σ 1/m 1 + [r]ₓ I⁻¹ [r]ₓᵀ        how the point of contact yields to a force, of both bodies; r from the centre of mass
    N = g/(n · Y n)                      what presses there at rest, δ the depth where k δᵉ = N, or that of the start if it is more
    K = k' (n nᵀ + ρ (1 − n nᵀ)),        k' = d(k δᵉ)/dδ, ρ of friction that sticks;  of an area that presses, k' = k A
    dt ≤ c/ω,   ω² the largest eigenvalue of K Y        c = 2.78 of Runge–Kutta 4, 2 of Euler's methods

Bodies in joints yield less than that. This page tells no step for them; ``simulation.growth`` looks at the energy after the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.forces.contact import AREA, DEPTH, ContactForce, fixed_to
from nexdyn.forces.sphere_contact import SphereContact
from nexdyn.integrate.methods import HHT, ImplicitEuler, RungeKutta4

if TYPE_CHECKING:
    from nexdyn.integrate.methods import Method
    from nexdyn.model.system import System

Pose = Callable[[str], tuple[np.ndarray, np.ndarray]]
STABLE = {RungeKutta4.name: 2.78}
"""How far methods are stable; 2 of those not here."""


def constant_step(method: Method) -> float | None:
    """The constant step [s] of an explicit method; None of others."""
    return None if isinstance(method, HHT | ImplicitEuler) else getattr(method, "dt", None)


def limit_of(method: Method) -> float:
    """c."""
    return STABLE.get(getattr(method, "integrator", method).name, 2.0)


def fastest(system: System, pose: Pose) -> tuple[float, str]:
    """The largest ω [rad/s] of contacts of free bodies where they stand, and the name of the contact; 0 and "" without any."""
    found = (0.0, "")
    joined: dict[str, list[Any]] = {}
    for joint in system.joints.values():
        for body in (joint.parent.name, joint.child.name):
            joined.setdefault(body, []).append(joint)
    for name, force in system.forces.items():
        if isinstance(force, ContactForce) and not force.is_off:
            found = max(found, (math.sqrt(_square(force, system, pose, joined)), force.part_of or name))
    return found


def _square(force: ContactForce, system: System, pose: Pose, joined: dict[str, list[Any]]) -> float:
    """ω² of a contact; 0 where it is not known."""
    values, rows = system.values, []
    for frame in force.frames(system):
        R, p = pose(frame.body)
        rows.append(np.concatenate([(R @ frame.R_BF).ravel(), p + R @ frame.p_BF, np.zeros(6)])[None])
    seen = force.motion_table(force.data_in(system), rows[0], rows[1], np.zeros((1, 0)))[0]
    row = seen[int(seen[:, DEPTH].argmax())]
    n, depth, area = row[9:12], float(row[DEPTH]), float(row[AREA])
    if not n.any():
        return 0.0
    # where both are apart the point lies on B, of two spheres midway: the nearest points of A and B
    gap, on_b = max(-depth, 0.0) * n, 0.5 if isinstance(force, SphereContact) else 0.0
    points = (row[3:6] + (1.0 - on_b) * gap, row[3:6] - on_b * gap)
    Y = np.zeros((3, 3))
    for frame, point in zip(force.frames(system), points, strict=True):
        if "ground" in fixed_to(system, frame.body):
            continue
        if any(joint.kind != "free" for joint in joined.get(frame.body, [])) or len(joined.get(frame.body, [])) > 1:
            return 0.0
        given, (R, p) = system.bodies[frame.body].resolved(values), pose(frame.body)
        if not given.mass > 0.0 or np.linalg.matrix_rank(given.inertia) < 3:
            return 0.0
        r = np.cross(np.eye(3), point - p - R @ given.com)
        Y += np.eye(3) / given.mass + r.T @ R @ np.linalg.inv(given.inertia) @ R.T @ r
    law, along = force.law(values), float(n @ Y @ n)
    if not along > 0.0:
        return 0.0
    if area > 0.0:
        slope = law.stiffness * area
    elif force.stiffness_unit(values) == "N/m^3":
        return 0.0
    else:
        depth = max(depth, (float(np.linalg.norm(system.gravity)) / along / law.stiffness) ** (1.0 / law.exponent))
        slope = (
            law.stiffness * law.exponent * depth ** (law.exponent - 1.0) if depth > 0.0 or law.exponent == 1.0 else 0.0
        )
    across = law.friction_stiffness if force.sticks else 0.0
    K = slope * (across * np.eye(3) + (1.0 - across) * np.outer(n, n))
    return float(np.abs(np.linalg.eigvals(K @ Y)).max())

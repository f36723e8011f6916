"""What is recorded of a step that differs from the one before: velocities, accelerations and multipliers that belong to its state.

A step of h finds positions on the constraints, and velocities and accelerations as differences of them. Along what constraints hold,
v of implicit Euler is then ẋ(t − h/2), and two steps h₀, h give

    a = (v − v₀)/h  =  ẍ (h₀ + h)/(2 h)

which is ẍ where h = h₀, half of it in a first step, and many times as much in a short step behind a long one; BDF2, whose first step is
one of implicit Euler, gives 1/2, 2 and 3/4 of it in its first three. From rest there is none of it. The forces know nothing of it. So
v is the nearest that obeys the constraints, and with it a; M a + Cqᵀ λ, which is the sum of all other forces, stands:

    [ M   Cqᵀ ] [δv]   [   0      ]      [ M   Cqᵀ ] [δa]   [   (f − 1) Bᵀ I_a b   ]
    [ Cq  0   ] [μ ] = [ ν − Cq v ]      [ Cq  0   ] [δλ] = [      γ − Cq a      ]

A rotor's q̈ = B V̇ + Ḃ V (``absolute.model.armature``) is a difference of angles or lengths. Of it, b is what the velocities make, with the
centres of mass not accelerated; in the difference it stands f times, f being what the method tells of ẍ = 1. In ball and free joints
rotors have velocities of their own (``potential.loads``), and f is 1. Of a thin body ω across its axis e is a difference of directions
(``potential.rod``), off by e × (ω × (ω × e)) as those differences are, and b is less by what this makes of q̈.

Where this has no solution, in a singular pose, what the step found stands. So does v where the nearest is farther than what the step
can have missed, |δv| > 2 |h a| in the metric of M: next to a singular pose it would be rounding, enlarged.
"""

from __future__ import annotations

import numpy as np

from nexdyn.absolute.model.armature import Rotors, RotorsOfJoints, efforts_of_rotors
from nexdyn.absolute.model.choice import Stresses
from nexdyn.absolute.model.kkt import factor_kkt
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.errors import SingularError
from nexdyn.spatial.rotations import cross_product, rotation_matrix

FARTHEST = 2.0
"""By how many times h a the nearest v may be farther: the step misses half of it, and a tells half of ẍ in a first step."""


def settled(
    model: AbsoluteModel,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    lam: np.ndarray,
    t: float,
    near: np.ndarray,
    kept: np.ndarray,
    h: float,
    told: float,
    centres: np.ndarray,
    axes: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """v and a (nb + 1, 6) and λ (nc,) of origins q, v at t, behind a step of h [s], under the forces that a and λ tell of.

    kept (nc,) bool: rows that do not repeat others; told: f; centres (nb + 1, 3) of mass, in the bodies; axes (nb + 1, 3) of thin
    bodies, 0 of others.
    """
    M, J, none = model.mass_matrix(q), model.jacobian(q, t, near.copy())[kept], np.zeros(model.nv)
    rates, change = v[1:].reshape(-1), a[1:].reshape(-1)
    try:
        kkt = factor_kkt(M, J)
        dv, _ = kkt.solve_surely(none, model.nu(t, q)[kept] - J @ rates)
        new_v, new_a = v.copy(), a.copy()
        if dv @ (M @ dv) <= (FARTHEST * h) ** 2 * (change @ (M @ change)):
            new_v[1:] += dv.reshape(-1, 6)
        bent = (1.0 - told) * bends(model, q, v, centres, axes)
        da, dlam = kkt.solve_surely(bent, model.gamma(q, new_v, t, near.copy())[kept] - J @ change)
    except SingularError:
        return v, a, lam
    new_a[1:] += da.reshape(-1, 6)
    new_lam = lam.copy()
    new_lam[kept] += dlam
    return new_v, new_a, new_lam


def without_stress(stresses: Stresses | None, mu: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """Of the multipliers (nc,) that put the same forces on the bodies as λ those of least Σ λ²/μ, mu (nc,), as the method takes them;
    λ itself where the pose has other self-stresses, None."""
    lam = lam.copy()
    for shape, N in stresses or []:
        P = N / mu[shape.rows, None]
        lam[shape.rows] -= N @ np.linalg.lstsq(P.T @ N, P.T @ lam[shape.rows])[0]
    return lam


def bends(model: AbsoluteModel, q: np.ndarray, v: np.ndarray, centres: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """−Bᵀ I_a b (6 nb,) of the rotors whose q̈ is a difference of angles or lengths."""
    joints, rotors = list(model.system.joints.values()), model.rotors
    kept = [joints[pair].kind not in ("spherical", "free") for pair in RotorsOfJoints(rotors.joints).pair]
    R, w, turning = rotation_matrix(q[:, :4]), v[:, :3], np.zeros_like(v)
    turning[:, :3] = -cross_product(axes, cross_product(w, cross_product(w, axes)))
    along = cross_product(turning[:, :3], centres) + cross_product(w, cross_product(w, centres))
    turning[:, 3:] = -np.einsum("nij,nj->ni", R, along)
    of = Rotors(rotors.joints[kept], rotors.inertia[kept])
    return efforts_of_rotors(of, model.tables.frames, q, v, turning)[1:].reshape(-1)

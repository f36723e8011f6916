"""What is recorded of a step that differs from the one before: velocities, accelerations and multipliers that belong to its state.

A step of h finds positions on the constraints, and velocities and accelerations as differences of them. Along what constraints hold,
v of implicit Euler is then ẋ(t − h/2), and two steps h₀, h give

    a = (v − v₀)/h  =  ẍ (h₀ + h)/(2 h)

which is ẍ where h = h₀, half of it in a first step, and many times as much in a short step behind a long one; BDF2, whose first step is
one of implicit Euler, gives 1/2, 2 and 3/4 of it in its first three. From rest there is none of it. The forces know nothing of it. So
v is the nearest that obeys the constraints, and with it a; M a + Cqᵀ λ, which is the sum of all other forces, stands:

    [ M   Cqᵀ ] [δv]   [   0      ]      [ M   Cqᵀ ] [δa]   [   0      ]
    [ Cq  0   ] [μ ] = [ ν − Cq v ]      [ Cq  0   ] [δλ] = [ γ − Cq a ]

Where this has no solution, in a singular pose, what the step found stands. So does v where the nearest is farther than what the step
can have missed, |δv| > 2 |h a| in the metric of M: next to a singular pose it would be rounding, enlarged.
"""

from __future__ import annotations

import numpy as np

from nexdyn.absolute.model.kkt import factor_kkt
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.errors import SingularError

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
    h: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """v and a (nb + 1, 6) and λ (nc,) of origins q, v at t, behind a step of h [s], under the forces that a and λ tell of."""
    M, J, none = model.mass_matrix(q), model.jacobian(q, t, near.copy()), np.zeros(model.nv)
    rates, change = v[1:].reshape(-1), a[1:].reshape(-1)
    try:
        kkt = factor_kkt(M, J)
        dv, _ = kkt.solve_surely(none, model.nu(t, q) - J @ rates)
        new_v, new_a = v.copy(), a.copy()
        if dv @ (M @ dv) <= (FARTHEST * h) ** 2 * (change @ (M @ change)):
            new_v[1:] += dv.reshape(-1, 6)
        da, dlam = kkt.solve_surely(none, model.gamma(q, new_v, t, near.copy()) - J @ change)
    except SingularError:
        return v, a, lam
    new_a[1:] += da.reshape(-1, 6)
    return new_v, new_a, lam + dlam

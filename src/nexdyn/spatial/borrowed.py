"""Mass and inertia that a matrix of iteration takes where a body has next to none; what is solved for does not change.

    M̂ = M + S,   x ← x + K̂⁻¹ (b − K x)

S is small beside what the constraints move together with the body, so that each iteration leaves about S of the error. A body that
they leave free to move alone without inertia has no accelerations: then the iteration ends nowhere, as it must.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

THIN, LENT, AS_MUCH = 1e-6, 1e-3, 1e-4
"""Part of its inertia below which a body is thin about an axis, part that it borrows, and the inertia (of m L²) that it has at least."""
MASS, INERTIA = 1e-5, 1e-8
"""Parts of m, and of m L², of the lightest body with inertia (or with mass, where none has), that one without borrows: little beside
what moves with it in a long chain, and much beside what rounding leaves of the others."""


def borrowed(m: np.ndarray, J: np.ndarray, length: float, held: Iterable[int] = ()) -> np.ndarray:
    """(n, 2): the inertia and the mass that bodies m (n,), J (n, 3, 3) about their centres borrow; the first is the ground.

    A body thin about an axis borrows of its own inertia; one without any, or without mass, of the others, unless it is `held`."""
    trace = np.trace(J, axis1=1, axis2=2)
    reference = np.maximum(trace, AS_MUCH * m * length**2)
    out = np.zeros((len(m), 2))
    out[:, 0] = np.where(np.linalg.eigvalsh(J)[:, 0] < THIN * reference, LENT * reference, 0.0)
    moving = np.ones(len(m), dtype=bool)
    moving[[0, *held]] = False
    turning = (m > 0.0) & (trace > 0.0)
    lightest = m[turning if turning.any() else m > 0.0].min(initial=np.inf)
    if np.isfinite(lightest):
        bare = moving & ((trace == 0.0) | (m == 0.0))
        out[bare, 0] = np.maximum(out[bare, 0], INERTIA * lightest * length**2)
    lightest = min(lightest, m[m > 0.0].min(initial=np.inf))
    if np.isfinite(lightest):
        out[moving & (m == 0.0), 1] = MASS * lightest
    return out

"""Which bodies neither masses nor constraints hold, where accelerations are not determined.

    M x = 0,   Cq x = 0,   x ≠ 0        the motions that cost nothing; bodies that move in one of them are named

Columns of turns are divided by the size of the mechanism and rows by their own.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space
from scipy.sparse import csr_array, vstack

from nexdyn.absolute.model.model import AbsoluteModel

MOST_BODIES = 300
"""More are not looked at: the matrix is dense."""
NOTHING = 1e-9
"""Part of a motion, relative to all of it, that is rounding."""


def undetermined_bodies(model: AbsoluteModel, q: np.ndarray, t: float, length: float) -> list[str]:
    """Their names; none where rounding hides them, or the mechanism is too large to look."""
    if model.nb > MOST_BODIES:
        return []
    A = vstack([csr_array(model.mass_matrix(q)), csr_array(model.jacobian(q, t))]).toarray()
    A /= np.tile([length] * 3 + [1.0] * 3, model.nb)
    sizes = np.linalg.norm(A, axis=1)
    free = null_space(A[sizes > 0.0] / sizes[sizes > 0.0, None], rcond=NOTHING)
    moved = np.linalg.norm(free.reshape(model.nb, -1), axis=1)
    return [name for name, moves in zip(model.bodies[1:], moved, strict=True) if moves > NOTHING]

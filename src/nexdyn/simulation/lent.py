"""What bodies borrow of inertia where an iteration must end close to the solution.

    S = 1e-3 tr J  of a body that is thin about an axis,  0 of another that has inertia         (``spatial.borrowed`` has the others)

An iteration leaves the part S/(J + S) of the error. For a wheel that is tiny compared with the mechanism, S as a part of m L² would
leave all of it.
"""

from __future__ import annotations

import numpy as np

from nexdyn.spatial.borrowed import LENT, THIN

PLACES = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
"""Where the components of an inertia are among its six."""


def lend_of_own(spare: np.ndarray, masses: np.ndarray) -> None:
    """Put what bodies borrow into the first column of `spare` (n, 2): of those with mass and inertia, by `masses` (n, 7), m and J."""
    m, J = masses[:, 0], masses[:, 1 + PLACES]
    trace = np.trace(J, axis1=1, axis2=2)
    lent = np.where(np.linalg.eigvalsh(J)[:, 0] < THIN * trace, LENT * trace, 0.0)
    spare[:, 0] = np.where((m > 0.0) & (trace > 0.0), lent, spare[:, 0])

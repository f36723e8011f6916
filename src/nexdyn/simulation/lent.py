"""What bodies borrow of inertia where an iteration must end close to the solution.

    S = 1e-3 tr J  of a body that is thin about an axis,  0 of another that has inertia         (``spatial.borrowed`` has the others)
        where tr J > 1e-13 tr (J + m (c² 1 − c cᵀ)): the rest of a difference is rounding, and the body a point mass

An iteration leaves the part S/(J + S) of the error. For a wheel that is tiny compared with the mechanism, S as a part of m L² would
leave all of it.
"""

from __future__ import annotations

import numpy as np

from nexdyn.spatial.borrowed import LENT, THIN

PLACES = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
"""Where the components of an inertia are among its six."""


ROUNDED = 1e-13
"""Part of the inertia about its origin that rounding leaves of a point mass's about its centre."""


def lend_of_own(spare: np.ndarray, central: np.ndarray, mass: np.ndarray) -> None:
    """Put what bodies borrow into the first column of `spare` (n, 2), of those with mass and inertia.

    central (n, 7): m, and J about the centre of mass; mass (n, 10): m, m c, and the inertia about the body's origin."""
    m, J = central[:, 0], central[:, 1 + PLACES]
    trace, about_origin = np.trace(J, axis1=1, axis2=2), mass[:, [4, 7, 9]].sum(axis=1)
    lent = np.where(np.linalg.eigvalsh(J)[:, 0] < THIN * trace, LENT * trace, 0.0)
    spare[:, 0] = np.where((m > 0.0) & (trace > ROUNDED * about_origin), lent, spare[:, 0])

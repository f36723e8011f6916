"""Mass and inertia that a matrix of iteration takes where a body has next to none; what is solved for does not change.

    M̂ = M + S,   x ← x + K̂⁻¹ (b − K x)

S is small beside what the constraints move together with the body, so that each iteration leaves about S of the error. A body that
they leave free to move alone without inertia has no accelerations: then the iteration ends nowhere, as it must.

    S = 1e-3 r  of a body thin about an axis, with a principal moment below 1e-6 r,  else 0;    r = tr J,  at least 1e-4 m L²

For a wheel that is tiny compared with the mechanism, J ≪ m L², that leaves the part S/(J + S) ≈ 1 of the error. Where an iteration must
end close to the solution, r = tr J; but a point mass's J about its centre is what a difference leaves by rounding, at most 1e-13 of the
inertia about its origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

THIN, LENT, AS_MUCH = 1e-6, 1e-3, 1e-4
"""Part of its inertia below which a body is thin about an axis, part that it borrows, and the inertia (of m L²) that it has at least."""
ROUNDED = 1e-13
"""Part of the inertia about its origin that rounding leaves of a point mass's about its centre."""
MASS, INERTIA = 1e-5, 1e-8
"""Parts of m, and of m L², of the lightest body with inertia (or with mass, where none has) next to it that one without borrows, bodies
without between them or not: little beside what moves with it in a long chain, and much beside what rounding leaves of its neighbours."""


def borrowed(
    mass: np.ndarray, J: np.ndarray, length: float, pairs: np.ndarray, held: Iterable[int] = (), *, close: bool
) -> np.ndarray:  # fmt: skip
    """(n, 2): the inertia and the mass that bodies borrow; the first is the ground. mass (n, 10): m, m c, inertia about the origin;
    J (n, 3, 3) about the centre; close: whether the iteration must end close to the solution.

    A body thin about an axis borrows of its own inertia; one without any, or without mass, of those that `pairs` (k, 2) join it to, or of
    all where there are none, unless it is `held`."""
    m, trace = mass[:, 0], np.trace(J, axis1=1, axis2=2)
    r = np.maximum(trace, AS_MUCH * m * length**2)
    if close:
        r = np.where(trace > ROUNDED * mass[:, [4, 7, 9]].sum(axis=1), trace, r)
    out = np.zeros((len(m), 2))
    out[:, 0] = np.where(np.linalg.eigvalsh(J)[:, 0] < THIN * r, LENT * r, 0.0)
    bare = (trace == 0.0) | (m == 0.0)
    moving = np.ones(len(m), dtype=bool)
    moving[[0, *held]] = False
    if not (bare & moving).any():
        return out
    joined: dict[int, set[int]] = {}
    for a, b in pairs[(pairs[:, :2] > 0).all(axis=1), :2].tolist():
        joined.setdefault(a, set()).add(b)
        joined.setdefault(b, set()).add(a)
    for i in np.flatnonzero(bare & moving).tolist():
        near = [b for b in _around(i, joined, bare) if m[b] > 0.0] or [*range(1, len(m))]
        found, of = m[near], trace[near]
        with_mass = found[found > 0.0].min(initial=np.inf)
        turning = found[(found > 0.0) & (of > 0.0)].min(initial=np.inf)
        lightest = turning if np.isfinite(turning) else with_mass
        if np.isfinite(lightest):
            out[i, 0] = max(out[i, 0], INERTIA * lightest * length**2)
        if np.isfinite(with_mass) and m[i] == 0.0:
            out[i, 1] = MASS * with_mass
    return out


def _around(i: int, joined: Mapping[int, set[int]], bare: np.ndarray) -> Iterator[int]:
    """The bodies with inertia next to body i, or beyond bodies without; point masses on the way, too."""
    seen, left = {i}, [i]
    while left:
        for b in joined.get(left.pop(), ()):
            if b not in seen:
                seen.add(b)
                yield b
                if bare[b]:
                    left.append(b)

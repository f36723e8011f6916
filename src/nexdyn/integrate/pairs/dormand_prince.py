"""Dormand–Prince 5(4): order 5, its error by an embedded method of order 4, dense output of order 4.

Dormand & Prince, J. Comput. Appl. Math. 6 (1980); Hairer, Nørsett & Wanner, Solving ODEs I, table II.5.2, and section II.6 for the
dense weights (Shampine 1986), as in their program DOPRI5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nexdyn.integrate.pairs.pair import EmbeddedPair, Pair

PAIR = Pair(
    "Dormand–Prince 5(4)",
    source="Hairer, Nørsett & Wanner, Solving ODEs I, table II.5.2 and section II.6",
    order=5,
    error_order=4,
    dense_order=4,
    rows=[
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ],
    b=[35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0],
    c=[0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0],
    errors=[[71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]],
    dense=[
        [
            -12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072,
            701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
        ],
    ],
    last_is_next_first=True,
)  # fmt: skip


@dataclass(frozen=True)
class DormandPrince(EmbeddedPair):
    """Dormand–Prince 5(4) with adaptive step and dense output: six evaluations a step.

    The local error of every component stays, in the root mean square, below atol + rtol · |component| (angles and
    rotations count as 1 rad). `dt_max` [s] bounds the step, `dt_min` [s] is where it gives up.
    Hairer, Nørsett & Wanner, Solving ODEs I, sections II.4 to II.6.
    """

    name: ClassVar[str] = "dopri5"
    pair: ClassVar[Pair] = PAIR

"""Bogacki–Shampine 3(2): order 3, its error by an embedded method of order 2, Hermite's cubic as dense output of order 3.

Bogacki & Shampine, Appl. Math. Lett. 2 (1989) 321–325. The embedded weights are (7/24, 1/4, 1/3, 1/8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nexdyn.integrate.pairs.pair import EmbeddedPair, Pair

PAIR = Pair(
    "Bogacki–Shampine 3(2)",
    source="Bogacki & Shampine, Appl. Math. Lett. 2 (1989)",
    order=3,
    error_order=2,
    dense_order=3,
    rows=[[1 / 2], [0.0, 3 / 4], [2 / 9, 1 / 3, 4 / 9]],
    b=[2 / 9, 1 / 3, 4 / 9, 0.0],
    c=[0.0, 1 / 2, 3 / 4, 1.0],
    errors=[[-5 / 72, 1 / 12, 1 / 9, -1 / 8]],
    dense=[],
    last_is_next_first=True,
)


@dataclass(frozen=True)
class BogackiShampine32(EmbeddedPair):
    """Bogacki–Shampine 3(2) with adaptive step and dense output: three evaluations a step.

    The local error of every component stays, in the root mean square, below atol + rtol · |component| (angles and
    rotations count as 1 rad). `dt_max` [s] bounds the step, `dt_min` [s] is where it gives up.
    Bogacki & Shampine, Appl. Math. Lett. 2 (1989).
    """

    name: ClassVar[str] = "bs32"
    pair: ClassVar[Pair] = PAIR

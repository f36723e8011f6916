"""Which carriers of an element are tried with a way to compute: each way meets each element in one, and each carrier in turn.

Who comes first changes from run to run, with the seed that pytest prints and PYTHONHASHSEED repeats: what one carrier in three shows of
one element under one way alone is found by one run in three. With --long all are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from matrix_elements import ELEMENTS
from turns import AMONG

OPEN_ONLY = ("crba", "cfa")
"""Ways that loops refuse."""


def in_turn(name: str, ways: Iterable[str], whole: bool) -> Iterator[tuple[str, str]]:
    """Pairs of a way and a carrier for the element `name`; `whole`: all of them."""
    carriers, place = ELEMENTS[name].carriers, list(ELEMENTS).index(name)
    for k, way in enumerate(ways):
        possible = [carrier for carrier in carriers if carrier == "open" or way not in OPEN_ONLY]
        chosen = possible if whole or not possible else [possible[(place + k + AMONG) % len(possible)]]
        yield from ((way, carrier) for carrier in chosen)

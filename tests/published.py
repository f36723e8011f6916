"""The published problems of `nexdyn.problems` under the names that tests use."""

from __future__ import annotations

import numpy as np

import nexdyn as nx
from nexdyn.problems import andrews as page
from nexdyn.problems.andrews import ANGLES as ANDREWS_END
from nexdyn.problems.andrews import RATES as ANDREWS_RATES
from nexdyn.problems.andrews import andrews
from nexdyn.problems.bricard import bricard
from nexdyn.problems.double_pendulum import POINTS, RODS, double_pendulum
from nexdyn.problems.four_bars import four_bars
from nexdyn.problems.governor import governor
from nexdyn.problems.heavy_top import HEAVY_TOP, heavy_top
from nexdyn.problems.pendulum import pendulum
from nexdyn.problems.tumbling import TUMBLING, tumbling
from nexdyn.problems.verify import PROBLEMS

__all__ = [
    "A01", "A02", "A04", "A05", "ANDREWS_END", "ANDREWS_RATES", "DOUBLE", "TOP", "TUMBLING_10", "andrews",
    "andrews_angles", "bricard", "double_pendulum", "four_bars", "governor", "heavy_top", "pendulum", "tumbling",
]  # fmt: skip

A01 = {t: PROBLEMS["A01"].reference[t] for t in (1.0, 5.0, 10.0)}
A02, A04, A05 = (dict(PROBLEMS[name].reference) for name in ("A02", "A04", "A05"))
TOP = dict(HEAVY_TOP.reference)
TUMBLING_10 = TUMBLING.reference[10.0]
DOUBLE = {"points": dict(POINTS.reference), "rods": dict(RODS.reference)}


def andrews_angles(result: nx.Result, rates: bool = False) -> dict[str, float]:
    """The seven angles, or their rates, at the end; full turns as the reference counts them."""
    found = dict(
        zip([*ANDREWS_END, *(f"{name}'" for name in ANDREWS_RATES)], page.angles_and_rates(result)[-1], strict=True)
    )
    if rates:
        return {name: float(found[f"{name}'"]) for name in ANDREWS_RATES}
    return {
        name: float(found[name] + 2.0 * np.pi * round((value - found[name]) / (2.0 * np.pi)))
        for name, value in ANDREWS_END.items()
    }

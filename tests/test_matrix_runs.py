"""A run is one run: watched, taken back from between its steps, or cut in two, it ends at the same bits.

With every element of the matrix, under every method of a given step: half of them in one run of the tests, the others in the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrix_elements import ELEMENTS
from matrix_turns import in_turn
from turns import is_in_turn

import nexdyn as nx

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning"),  # gaps that carriers leave, and what methods say of dt
]

DT, STEPS = 2.0**-10, 100
METHODS = {
    "rk4": nx.RungeKutta4(DT),
    "euler": nx.ExplicitEuler(DT),
    "semi-implicit": nx.SemiImplicitEuler(DT),
    "hht": nx.HHT(dt=DT),
    "baumgarte": nx.Baumgarte(DT),
    "projection": nx.Projection(DT),
    "partitioning": nx.Partitioning(DT),
    "implicit-euler": nx.ImplicitEuler(DT),
    "bdf2": nx.ImplicitEuler(DT, bdf2=True),
}


def ended(result: nx.Result) -> list[np.ndarray]:
    """q, v, a and the states of forces at the end."""
    return [getattr(result.recording, x)[-1] for x in ("q", "v", "a", "z") if getattr(result.recording, x).size]


@pytest.mark.parametrize("name", ELEMENTS)
def test_a_watched_run_and_one_cut_in_two_end_at_the_same_bits(name: str, request: pytest.FixtureRequest) -> None:
    wrong = []
    whole_table, place = request.config.getoption("--long"), list(ELEMENTS).index(name)
    ways = [way for k, way in enumerate(METHODS) if whole_table or is_in_turn(place + k)]
    for way, carrier in in_turn(name, ways, whole_table):

        def run(t: float, system: nx.System, method: Any = METHODS[way], **options: Any) -> nx.Result | None:
            try:
                return nx.simulate(system, t * DT, method, **options)
            except nx.NexDynError:  # refused: tests/matrix_ledger.json says why
                return None

        whole = run(STEPS, ELEMENTS[name].system(carrier))
        if whole is None:
            continue
        watched = ELEMENTS[name].system(carrier)
        watched.add_event(nx.Event("never", time=1e3))
        cut = ELEMENTS[name].system(carrier)
        half = run(37, cut)
        assert half is not None, f"{carrier} by {way} stops in the first half"
        others = {
            "watched, told between steps": run(STEPS, watched, output_times=[20.3 * DT, 70.6 * DT, STEPS * DT]),
            "cut in two": run(STEPS, cut, initial=half),
        }
        if name.startswith("event"):  # steps count from it on, so that a cut divides one: test_continuing.py
            del others["cut in two"]
        for how, other in others.items():
            apart = (
                [np.abs(x - y).max() for x, y in zip(ended(whole), ended(other), strict=True)] if other else [np.inf]
            )
            if max(apart) > 0.0:
                wrong.append(f"{carrier} by {way}, {how}: {apart}")
    assert not wrong, "\n".join(wrong)

"""Statics holds drivers where they are at the time that is given: poses of rest, reactions, efforts and stability are those of the same
mechanism with drivers that stand there for good. A run from there stays, and its linearization predicts how it answers a push. To linearize
about drivers that move is refused.

The drivers, their attributes and the mechanisms are those of the matrix (`matrix_elements.py`), in which they have no cells of statics:
a run that goes on from there would move.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from matrix_elements import ELEMENTS
from matrix_laws import Probe, apart, lowest_are_eigenvalues, push_answers, rest_stays
from matrix_observed import reported
from turns import in_turns

import nexdyn as nx
from nexdyn.errors import InputError

DRIVERS = [name for name in ELEMENTS if name.startswith("driver")]
CASES = [
    (name, carrier, attribute)
    for name in DRIVERS
    for carrier in ELEMENTS[name].carriers
    for attribute in (None, *ELEMENTS[name].changes)
]
TIME = 0.07
"""At which drivers are held [s]: there all of them move."""


def standing(x: Any) -> Any:
    """What is described, with the value at TIME in place of each function of it."""
    if isinstance(x, dict):
        return {name: standing(value) for name, value in x.items()}
    if isinstance(x, tuple | list):
        return tuple(map(standing, x))
    if isinstance(x, str) and x.startswith("="):
        return float(eval(x[1:], {"t": TIME, "sin": math.sin}))
    return x.value(TIME) if isinstance(x, nx.Harmonic | nx.Linear) else x


def probes(name: str, carrier: str, attribute: str | None) -> tuple[Probe, Probe]:
    """The mechanism, and the same with drivers that stand."""
    element = ELEMENTS[name]
    given = {**element.base, **(element.change(attribute) if attribute else {})}
    return Probe(lambda: element.system(carrier, given)), Probe(lambda: element.system(carrier, standing(given)))


@pytest.mark.parametrize(("name", "carrier", "attribute"), in_turns(CASES, 6))
def test_it_rests_and_answers_as_with_drivers_that_stand(name: str, carrier: str, attribute: str | None) -> None:
    moving, stands = probes(name, carrier, attribute)
    assert rest_stays(stands) < 1e-6
    assert push_answers(stands) < 1e-3
    assert lowest_are_eigenvalues(stands) < 1e-5
    rest, other = (nx.equilibrium(probe.held, t=TIME) for probe in (moving, stands))
    assert apart(reported(rest.report), reported(other.report)) < 1e-7
    assert rest.stability == other.stability
    moves = r"'drive' moves at t = 0\.07 s, and nx\.equilibrium holds it where it is then"
    with pytest.raises(InputError, match=moves):
        nx.linearize(moving.held, rest)
    try:
        few = nx.linearize(moving.held, rest, modes=4).eigenvalues
    except InputError as error:
        assert re.search(moves, str(error))
    else:  # at a steady rate nothing accelerates at rest: modes are those of the driver held
        off = np.abs(few[:, None] - nx.linearize(stands.held, other).eigenvalues).min(axis=1).max()
        assert attribute == "function" and off < 1e-5 * np.abs(few).max()

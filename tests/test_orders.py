"""Orders and tolerances are promises: every method of constant step has its order, and the error of every adaptive one follows its
tolerance, on problems that are smooth, spin, lock, slide, are thin, stiff, redundant, driven, and have states."""

from __future__ import annotations

import pytest
from order_problems import ADAPTIVE, BAND, FIXED, PAGE, PROBLEMS, STEEPER, order, printed, slopes, unlike

from nexdyn.integrate.methods import METHODS


@pytest.mark.parametrize("name", PROBLEMS)
def test_methods_of_constant_step_have_their_order(name: str) -> None:
    found = {method: order(name, method) for method in FIXED}
    missed = {method: found[method] for method, (promised, _) in FIXED.items() if found[method][0] < promised - 0.15}
    assert not missed
    assert all(1e-13 < error < 0.01 for _, error in found.values()), found
    assert not unlike(name, printed()[0], found), f"{PAGE.name} says otherwise: scripts/orders --write"


@pytest.mark.parametrize("name", PROBLEMS)
def test_errors_follow_the_tolerance(name: str) -> None:
    """Of places, over four decades; on ten of the problems within the band under every method."""
    found = {method: slopes(name, method) for method in ADAPTIVE}
    most = {method: STEEPER.get((name, method), BAND[1]) for method in ADAPTIVE}
    assert not {method: told for method, told in found.items() if not BAND[0] < told.place < most[method]}
    assert all(told.error < (1e-7 if method == "HHT" else 1e-8) for method, told in found.items()), found
    places, reactions = ({method: one[k : k + 2] for method, one in found.items()} for k in (0, 2))
    for told, one in zip(printed()[1:], (places, reactions), strict=True):
        assert not unlike(name, told, one), f"{PAGE.name} says otherwise: scripts/orders --write"


@pytest.mark.parametrize("name", PROBLEMS)
def test_errors_of_reactions_follow_the_tolerance(name: str) -> None:
    """They are recorded as accurately as places: neither do they spike as the tolerance falls, nor stay."""
    found = {method: slopes(name, method) for method in ADAPTIVE}
    told = {method: one for method, one in found.items() if one.reaction == one.reaction}
    most = {method: STEEPER.get((name, method), BAND[1]) for method in ADAPTIVE}
    assert not {method: one for method, one in told.items() if not BAND[0] < one.reaction < most[method]}
    assert all(one.reaction_error < (1e-7 if method == "HHT" else 2e-8) for method, one in told.items()), told


def test_ten_problems_hold_the_band_under_every_method_and_eight_tell_reactions() -> None:
    assert len(set(PROBLEMS) - {name for name, _ in STEEPER}) == 10
    without = {name for name in PROBLEMS if slopes(name, "HHT").reaction != slopes(name, "HHT").reaction}
    assert without == {"plate", "stiff stay", "Hooke joint"}


def test_every_method_is_here_and_on_the_page_of_the_docs() -> None:
    """A new method does not come without its order."""
    assert {method.partition(",")[0] for method in [*FIXED, *ADAPTIVE]} == {cls.__name__ for cls in METHODS.values()}
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"| {name} |" in text for name in PROBLEMS)
    assert f"| | {' | '.join(FIXED)} |" in text and f"| | {' | '.join(ADAPTIVE)} |" in text

"""Orders and tolerances are promises: every method of constant step has its order, and the error of every adaptive one follows its
tolerance, on problems that are smooth, spin, lock, slide, are thin, stiff, redundant, driven, and have states."""

from __future__ import annotations

import pytest
from order_problems import ADAPTIVE, FIXED, PAGE, PROBLEMS, order, slope

from nexdyn.integrate.methods import METHODS


@pytest.mark.parametrize("name", PROBLEMS)
def test_methods_of_constant_step_have_their_order(name: str) -> None:
    found = {method: order(name, method) for method in FIXED}
    missed = {method: found[method] for method, (promised, _) in FIXED.items() if found[method][0] < promised - 0.15}
    assert not missed
    assert all(1e-13 < error < 0.01 for _, error in found.values()), found


@pytest.mark.parametrize("name", PROBLEMS)
def test_errors_follow_the_tolerance(name: str) -> None:
    found = {method: slope(name, method) for method in ADAPTIVE}
    assert not {method: told for method, told in found.items() if not 0.8 < told[0] < 1.6}
    assert all(error < (1e-6 if method == "HHT" else 1e-8) for method, (_, error) in found.items()), found


def test_every_method_is_here_and_on_the_page_of_the_docs() -> None:
    """A new method does not come without its order."""
    assert {method.partition(",")[0] for method in [*FIXED, *ADAPTIVE]} == {cls.__name__ for cls in METHODS.values()}
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"| {name} |" in text for name in PROBLEMS)
    assert f"| | {' | '.join(FIXED)} |" in text and f"| | {' | '.join(ADAPTIVE)} |" in text

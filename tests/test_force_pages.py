"""What a force does stands on its page; one that leaves something out, or asks for what there is not, is named."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

import nexdyn.forces
from nexdyn.by_kind import by_kind, names_of
from nexdyn.forces import FORCES, pages
from nexdyn.forces.kinds import REGISTERED, REGISTERED_JOINT, SURFACE
from nexdyn.forces.page import (
    ALL_LANES,
    BETWEEN,
    BY_DIFFERENCES,
    CONSTANT,
    IN_FREEDOM,
    NO_LANES,
    STORES_NOTHING,
    TREE_LANES,
    Between,
    InFreedom,
    check_lanes,
)
from nexdyn.model.force import Force


def pull(data: Any, k: Any, X_WA: Any) -> Any:
    return data[k]


def lean(data: Any, k: Any, wind: Any) -> Any:
    return wind


def test_every_force_has_a_page_of_each_of_its_numbers() -> None:
    numbers = [page.kind for page in pages.ALL]
    assert len(set(numbers)) == len(numbers)
    of_classes = {code for cls in FORCES.values() for code in cls.codes or (cls.code,)}
    apart = {SURFACE, REGISTERED, REGISTERED_JOINT}  # what nx.Contact makes over areas; pages from outside
    assert of_classes <= set(numbers) and set(numbers) - of_classes == apart
    assert {page.lanes for page in pages.ALL} == {NO_LANES, TREE_LANES, ALL_LANES}
    assert pages.IN_ALL_LANES < pages.IN_LANES


def test_functions_of_pages_take_what_formulations_give() -> None:
    for page in pages.PAGES:
        assert set(names_of(page.wrenches)) <= set(BETWEEN), page.name
        assert page.energy is STORES_NOTHING or not {"t", "V_A", "V_B"} & set(names_of(page.energy)), page.name
    for page in pages.FREEDOM_PAGES:
        assert set(names_of(page.effort)) <= set(IN_FREEDOM), page.name


@pytest.mark.parametrize("kind", [Between, InFreedom])
def test_a_page_that_leaves_out_whether_it_stores_energy_or_goes_in_lanes_cannot_be_made(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"'energy'(, 'slopes',)? and 'lanes'"):
        kind(99, "Wind", pull)


def test_a_page_for_all_lanes_has_slopes_in_closed_form() -> None:
    """HHT's lanes do not branch: what has no slopes of its own is for other lanes."""
    assert all(callable(page.slopes) for page in pages.PAGES if page.kind in pages.IN_ALL_LANES - {*pages.OF_NO_MOTION})
    with pytest.raises(TypeError, match="the page of Wind is for all lanes, and its slopes are by differences"):
        check_lanes([Between(99, "Wind", pull, None, BY_DIFFERENCES, ALL_LANES)])


def test_a_page_that_asks_for_what_is_not_given_is_named() -> None:
    with pytest.raises(TypeError, match="wrenches of the page of Wind takes wind; there are tables, e, t, data"):
        by_kind("verb", "wrenches", BETWEEN, [*pages.PAGES, Between(99, "Wind", lean, None, CONSTANT, NO_LANES)])


def test_two_pages_of_one_number_and_a_page_without_a_function_are_named() -> None:
    with pytest.raises(TypeError, match="the page of Wind has the number of another: 1"):
        by_kind("verb", "wrenches", BETWEEN, [*pages.PAGES, Between(1, "Wind", pull, None, CONSTANT, NO_LANES)])
    with pytest.raises(TypeError, match="wrenches of the page of Wind is 3; a function is needed"):
        by_kind("verb", "wrenches", BETWEEN, [Between(99, "Wind", 3, None, CONSTANT, NO_LANES)])  # type: ignore[arg-type]


def test_a_force_without_a_page_is_named_when_the_package_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wind(Force):
        kind: ClassVar[str] = "wind"
        code: ClassVar[int] = 99

    monkeypatch.setitem(FORCES, "wind", Wind)
    with pytest.raises(TypeError, match="Wind has the number 99, of which nexdyn"):
        nexdyn.forces._check_pages()

"""The errors themselves."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

import nexdyn as nx
from nexdyn.errors import unknown


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("bdoy7777", "'body7777'"), ("body10000", "'body1000'"), ("bodi77", "'body77'"), ("ody123", "'body123'")],
)
def test_the_nearest_of_ten_thousand_names_is_found_by_comparing_few_in_full(
    name: str, nearest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare, compared = difflib.get_close_matches, []

    def counted(word: str, names: Any, **kws: Any) -> Any:
        compared.append(len(names))
        return compare(word, names, **kws)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    message = str(unknown("body", name, [f"body{i}" for i in range(10_000)]))
    assert compared == [100]
    assert f"no body {name!r}; did you mean {nearest}? bodies: body0, body1, " in message
    assert message.endswith("… (10000 in all)")


def test_a_name_like_no_other_gets_the_list_alone() -> None:
    assert str(unknown("body", "crank", [f"link{i}" for i in range(200)])).startswith("no body 'crank'; bodies: link0")


def test_a_misspelt_public_name_says_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"module 'nexdyn' has no attribute 'Revolut'; did you mean 'Revolute'\?"):
        nx.Revolut  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'simulator'; did you mean 'simulate'\?"):
        nx.simulator  # noqa: B018
    assert not hasattr(nx, "__wrapped__")

"""Who draws systems, reports and results: floors above theirs, which `nexdyn/__init__` names here.

drawn_by(system=…)         says who
drawn("system", system)    draws
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_DRAWN_BY: dict[str, Callable[..., Any]] = {}


def drawn_by(**functions: Callable[..., Any]) -> None:
    """Say who draws what."""
    _DRAWN_BY.update(functions)


def drawn(what: str, *arguments: Any, **options: Any) -> Any:
    """What the function that draws `what` returns."""
    return _DRAWN_BY[what](*arguments, **options)

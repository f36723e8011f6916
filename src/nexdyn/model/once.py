"""What is asked for again and again while a system does not change is found once: forces of many pairs ask for the same.

    with unchanged():                    tables are built, a start is looked at
        once(("mass", body), compute)    computed here, or known already

Outside of `unchanged` everything is computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

Found = TypeVar("Found")

_known: ContextVar[dict[Hashable, tuple[Any, object]] | None] = ContextVar("known", default=None)


@contextmanager
def unchanged() -> Iterator[None]:
    """Within it no system changes."""
    if _known.get() is not None:
        yield
        return
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def once(key: Hashable, compute: Callable[[], Found], *of: object) -> Found:
    """What `compute` gives, kept under `key` and the identities of the objects `of`, which are kept alive."""
    known = _known.get()
    if known is None:
        return compute()
    whole = (key, *map(id, of))
    try:
        found = known.get(whole)
    except TypeError:  # a key without a hash
        return compute()
    if found is None:
        known[whole] = found = (compute(), of)
    return cast(Found, found[0])

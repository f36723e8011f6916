"""Without warnings on one thread alone.

``warnings.catch_warnings`` is of the whole process: of two threads within it, that which leaves last may put back what the other had
ignored, and what a third thread says meanwhile is lost. Here one filter, which stays, asks whether its own thread wants to hear.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from nexdyn.errors import NexDynWarning

_here = threading.local()


class _OfThisThread(type):
    """Has for its subclasses what its thread does not want to hear."""

    def __subclasscheck__(cls, category: type) -> bool:
        return any(issubclass(category, unheard) for unheard in _here.__dict__.get("unheard", ()))


class _Unheard(Warning, metaclass=_OfThisThread):
    pass


@contextmanager
def quiet(category: type[Warning] = NexDynWarning) -> Iterator[None]:
    """Warnings of a category that this thread gives within are not heard; those of other threads are."""
    if not warnings.filters or warnings.filters[0][2] is not _Unheard:
        warnings.simplefilter("ignore", _Unheard)
    before = _here.__dict__.get("unheard", ())
    _here.unheard = (*before, category)
    try:
        yield
    finally:
        _here.unheard = before

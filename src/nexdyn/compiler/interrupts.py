"""Ctrl-C while LLVM calls back: it waits until LLVM is done.

LLVM asks for machine code, and hands it over, by callbacks. A signal that came while it worked is seen at a callback's first line, and
what is raised there is lost: Python cannot pass it through C, so it prints "Exception ignored" and goes on as if no key were pressed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WAIT: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def signals_wait() -> Iterator[None]:
    """Within, signals that Python handles are only noted; they are handled at the end of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []

    def note(number: int, _: Any) -> None:
        noted.append(number)

    before = {number: signal.signal(number, note) for number in WAIT if callable(signal.getsignal(number))}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for came in noted:
            signal.raise_signal(came)

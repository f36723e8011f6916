"""Ctrl-C during compiled work: it waits until time, state and what was recorded agree.

A signal arrives while the compiled loop runs, and Python would act on it before what the loop gave is taken over. So
it is only noted, and KeyboardInterrupt is raised where `check` is called. A second Ctrl-C does not wait.
"""

from __future__ import annotations

# the functions of `signal` without its enums, which cost 15 µs at every step of a controller
import _signal as signal  # type: ignore[import-not-found]
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_wait() -> Iterator[Callable[[], None]]:
    """Within, Ctrl-C waits for `check()`, which is what is given, or for the end of the block.

    In other threads than the main one, and where the program handles Ctrl-C itself, nothing changes.
    """
    noted = False

    def note(*_: Any) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True

    def check() -> None:
        if noted:
            raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield check
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    check()

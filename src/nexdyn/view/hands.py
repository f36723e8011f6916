"""Controls that pages and the program both set: what a hand sets counts, and stands for a while.

viser gives a control the value of a page in the loop of its server and calls back later, in another thread: what the program writes
in between would be read as the page's. So a hand's value is taken in that loop, and there the program's values are written, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

HANDS_OFF = 0.6
"""Seconds after a control was set by hand during which it stays as the hand has set it."""


class Shared:
    """A control [viser's handle of a slider, a box] that both set.

    `act` is called, in a thread of the server's, with what a hand has set last, as often as a hand sets it.
    """

    def __init__(self, server: Any, control: Any, act: Callable[[Any], None]) -> None:
        self.control, self._act = control, act
        self._loop = server.get_event_loop()
        self._touched, self._by_hand = -float("inf"), control.value
        control.on_update(self._set)

    async def _set(self, event: Any) -> None:
        if event.client is not None:
            self._touched, self._by_hand = time.monotonic(), self.control.value
            self._loop.run_in_executor(None, self._call)

    def _call(self) -> None:
        self._act(self._by_hand)

    def tell(self, value: Any) -> None:
        """Show what is, unless a hand is on the control."""
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(self._write, value)

    def _write(self, value: Any) -> None:
        if time.monotonic() - self._touched > HANDS_OFF and self.control.value != value:
            self.control.value = value

    def let_go(self) -> None:
        """What was asked for was refused: the next `tell` counts."""
        self._touched = -float("inf")

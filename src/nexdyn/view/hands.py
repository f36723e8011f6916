"""Controls that pages and the program both set: what a hand sets counts, and stands for a while.

viser gives a control the value of a page in the loop of its server and calls back later, in another thread: what the program writes
in between would be read as the page's. So a hand's value is taken in that loop, and there the program's values are written, too.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

HANDS_OFF = 0.6
"""Seconds after a control was set by hand during which it stays as the hand has set it."""


class Shared:
    """A control [viser's handle of a slider, a box] that both set.

    `act` is called, in a thread of the server's, with what a hand has set. One call ends before the next begins: of the values that are
    set meanwhile the last one follows. What the program tells while a hand is on the control is shown once it is off.
    """

    def __init__(self, server: Any, control: Any, act: Callable[[Any], None]) -> None:
        self.control, self.act = control, act
        self._loop = server.get_event_loop()
        self._touched, self._by_hand = -float("inf"), control.value
        self._set_anew, self._acting = False, False
        self.by: Any = None
        """The browser whose hand has set it last."""
        self._later: asyncio.TimerHandle | None = None
        """Will write what was told while a hand was on the control."""
        control.on_update(self._set)

    # --- a hand: all but `_call` in the loop of the server -------------------------------------------------------------

    async def _set(self, event: Any) -> None:
        if event.client is not None:
            self._touched, self._by_hand, self.by = time.monotonic(), self.control.value, event.client
            self._forget()
            self._set_anew = True
            self._go_on()

    def _go_on(self) -> None:
        """Act on the value that was set last, unless one before it is still acted on."""
        if self._set_anew and not self._acting:
            self._set_anew, self._acting = False, True
            self._loop.run_in_executor(None, self._call, self._by_hand).add_done_callback(self._acted)

    def _call(self, value: Any) -> None:
        try:
            self.act(value)
        except Exception:  # as viser does with its callbacks
            traceback.print_exc()

    def _acted(self, _: Any) -> None:
        self._acting = False
        self._go_on()

    # --- the program ---------------------------------------------------------------------------------------------------

    def tell(self, value: Any) -> None:
        """Show what is; while a hand is on the control, once it is off, unless it sets another value before."""
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(self._write, value)

    def _write(self, value: Any) -> None:
        self._forget()
        rest = self._touched + HANDS_OFF - time.monotonic()
        if rest > 0.0:
            self._later = self._loop.call_later(rest, self._write, value)
        elif self.control.value != value:
            with suppress(RuntimeError):  # the control was removed
                self.control.value = value

    def _forget(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None

    def let_go(self) -> None:
        """What was asked for was refused: the next `tell` counts."""
        self._touched = -float("inf")

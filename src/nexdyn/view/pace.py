"""How many moments a second browsers are sent: LEAST, and up to MOST where one of them tells that it draws more pictures than that.

A browser that draws on the processor tells LEAST (page.js); what it cannot draw would cost it and the server time for nothing. Putting a
moment on the page takes SHARE of the time at most, beyond LEAST.
"""

from __future__ import annotations

import time

LEAST, MOST = 30.0, 60.0
FAST = 45.0
"""Pictures a second of a browser beyond which it is sent more moments."""
SHARE = 0.4
FORGOTTEN = 10.0
"""Seconds after which what a browser has told no longer counts; pages tell anew every four."""


class Pace:
    """What browsers tell of themselves, and what a moment costs."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[float, float]] = {}
        self._cost = 0.0

    def tell(self, page: str, pictures: float) -> None:
        """A page draws so many pictures a second when it need not wait for moments."""
        now = time.monotonic()
        self._told = {name: told for name, told in self._told.items() if now - told[1] < FORGOTTEN}
        self._told[page] = (pictures, now)

    def took(self, seconds: float) -> None:
        """To put a moment on the page took so long [s]."""
        self._cost += 0.1 * (seconds - self._cost)

    @property
    def rate(self) -> float:
        """Moments a second."""
        now = time.monotonic()
        if not any(pictures > FAST and now - at < FORGOTTEN for pictures, at in tuple(self._told.values())):
            return LEAST
        return min(MOST, max(LEAST, SHARE / max(self._cost, 1e-9)))

"""How many moments a second browsers are sent: LEAST, and up to MOST where one of them tells that it draws more pictures than that.

A browser that draws on the processor tells LEAST (page.js); what it cannot draw would cost it and the server time for nothing. Putting a
moment on the page takes SHARE of the time at most, beyond LEAST.

Plots are laid out once a page is built, and again later; while that is near their cursors rest.
"""

from __future__ import annotations

import time

LEAST, MOST = 30.0, 60.0
FAST = 45.0
"""Pictures a second of a browser beyond which it is sent more moments."""
SHARE = 0.4
QUIET = 1.0
"""Seconds without a cursor's move before and after a layout of the plots."""
BUILT = 5.0
"""Seconds until the slowest page is built."""
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


class Calm:
    """When plots are laid out, in peace. Its methods are called within the desk's lock."""

    def __init__(self) -> None:
        self._due: list[float] = []
        self._still_until = 0.0

    def lay_out_soon(self) -> None:
        """A page or a plot is being built."""
        now = time.monotonic()
        self._due = sorted([*self._due, now + QUIET, now + BUILT])

    def take(self) -> bool:
        """Whether a layout is due, which is then done."""
        now = time.monotonic()
        if not self._due or now <= self._due[0]:
            return False
        self._still_until = now + QUIET
        self._due.pop(0)
        return True

    def lets_cursors_move(self) -> bool:
        """Whether cursors may move: not while a layout is near."""
        now = time.monotonic()
        return now > self._still_until and not (self._due and self._due[0] - now < QUIET)

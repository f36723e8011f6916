"""A headless Chromium that draws WebGL in software, for tests of pages; they skip, saying so, where none is installed.

A page is waited for by what it says of itself: the marks that it has received, the frames that it has drawn. However slow
the machine, a picture is of what was sent before it. Seconds occur only as limits beyond which a test fails.
"""

from __future__ import annotations

import io
import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

CANDIDATES = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next((found for name in CANDIDATES if name and (found := shutil.which(name))), None)
FLAGS = ["--enable-unsafe-swiftshader", "--no-sandbox", "--disable-dev-shm-usage"]
"""`--use-gl=swiftshader` would turn WebGL off; a sandbox needs rights that containers lack."""

SHARP = "fixedDpr=1"
"""viser's page draws coarser where frames are slow, and two pictures of the same moment then differ; with this it does not."""
LIMIT = 240.0
"""Seconds after which what should come true has not."""
STILL = 12
"""Largest difference of a colour between two pictures that are the same."""

needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed: apt-get install chromium")


class Watched:
    """A page and what it complained of."""

    def __init__(self, page: Any) -> None:
        self.page, self.faults, self.requests = page, [], []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def _said(self, message: Any) -> None:
        # viser's client says this where an update was under way when a panel was replaced; nothing is missing on the page
        if message.type == "error" and not message.text.startswith("Tried to update non-existent component"):
            self.faults.append(message.text)

    def pixels(self) -> np.ndarray:
        """The scene's canvas (height, width, 3), 0 … 255."""
        from PIL import Image

        box = self.canvas_box()
        shot = self.page.screenshot(clip=box)
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)

    def canvas_box(self) -> dict[str, float]:
        """Where the canvas lies in the window, without what covers it."""
        largest = """() => { const all = [...document.querySelectorAll("canvas")].map(c => c.getBoundingClientRect());
            const b = all.reduce((a, c) => a.width * a.height > c.width * c.height ? a : c);
            return { x: b.x, y: b.y, width: b.width, height: b.height }; }"""
        return dict(self.page.evaluate(largest))

    def until(self, what: str, argument: Any = None) -> None:
        """Wait for a JavaScript expression, or a function of `argument`, to be true."""
        self.page.wait_for_function(what, arg=argument, timeout=LIMIT * 1e3)

    def comes_true(self, what: Callable[[], bool]) -> None:
        """Wait for something of this program to be true, while the page goes on."""
        end = time.monotonic() + LIMIT
        while not what():
            assert time.monotonic() < end, "it did not come true in time"
            self.page.wait_for_timeout(50)

    def frames(self, count: int = 3) -> None:
        """Let the page draw this many frames more."""
        drawn = "() => window.__viserTestpoints.rendererInfo.render.frame"
        self.until(
            f"last => {{ window.__viserMutable.requestRender(); return ({drawn})() >= last; }}",
            self.page.evaluate(drawn) + count,
        )

    def caught_up(self, server: Any) -> None:
        """Wait until the page shows all that `server` was asked to show before this call.

        Messages are handled in the order in which they were sent, those to all browsers and those to one: a node that is
        added now in both ways arrives after them.
        """
        senders = [server, *server.get_clients().values()]
        marks = [sender.scene.add_frame(f"/mark{next(_marks)}", show_axes=False) for sender in senders]
        for sender in senders:
            sender.flush()
        names = [mark.name for mark in (marks if len(senders) == 2 else marks[:1])]  # another browser's are not here
        self.until(
            "names => { const all = window.__viserSceneTree.getState(); return names.every(n => n in all); }", names
        )
        for mark in marks:
            mark.remove()
        self.frames()

    def settled(self, server: Any = None) -> np.ndarray:
        """The picture at rest: of all that `server` was asked to show, and the same again some frames later."""
        if server is not None:
            self.caught_up(server)
        before, end = self.pixels(), time.monotonic() + LIMIT
        while time.monotonic() < end:
            self.frames()
            now = self.pixels()
            if now.shape == before.shape and np.abs(now - before).max() < STILL:
                return now
            before = now
        raise AssertionError("the picture did not come to rest")


_marks = itertools.count()


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser of a module."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Any, address: str, offline: bool = False, size: tuple[int, int] = (1400, 640)) -> Iterator[Watched]:
    """A window at `address`."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, offline=offline)
    try:
        context.set_default_timeout(LIMIT * 1e3)
        watched = Watched(context.new_page())
        watched.page.goto(f"{address}?{SHARP}")
        watched.until("document.querySelectorAll('canvas').length > 0 && window.__viserTestpoints?.rendererInfo")
        yield watched
    finally:
        context.close()

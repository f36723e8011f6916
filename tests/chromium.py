"""A headless Chromium that draws WebGL in software, for tests of pages; they skip, saying so, where none is installed."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

CANDIDATES = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next((found for name in CANDIDATES if name and (found := shutil.which(name))), None)
FLAGS = ["--enable-unsafe-swiftshader", "--no-sandbox", "--disable-dev-shm-usage"]
"""`--use-gl=swiftshader` would turn WebGL off; a sandbox needs rights that containers lack."""

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

    def until(self, what: str, seconds: float = 20.0) -> None:
        """Wait for a JavaScript expression to be true."""
        self.page.wait_for_function(what, timeout=seconds * 1e3)

    def wait(self, seconds: float) -> None:
        """Let the page go on."""
        self.page.wait_for_timeout(seconds * 1e3)


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
        watched = Watched(context.new_page())
        watched.page.goto(address)
        watched.until("document.querySelectorAll('canvas').length > 0")
        yield watched
    finally:
        context.close()

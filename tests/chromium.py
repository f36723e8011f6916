"""A headless Chromium that draws WebGL in software, and the viewer's page in it; tests skip, saying so, where none is installed.

A page is waited for by what it says of itself: the marks that it has received, the frames that it has drawn. However slow
the machine, a picture is of what was sent before it. Seconds occur only as limits beyond which a test fails.
"""

from __future__ import annotations

import io
import itertools
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.stage import Look
from nexdyn.view.viewer import Viewer

CANDIDATES = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next((found for name in CANDIDATES if name and (found := shutil.which(name))), None)
FLAGS = ["--enable-unsafe-swiftshader", "--no-sandbox", "--disable-dev-shm-usage"]
"""`--use-gl=swiftshader` would turn WebGL off; a sandbox needs rights that containers lack."""

PICTURES = "NEXDYN_PICTURES"
"""Names a folder in which pictures at rest are kept, to be looked at."""
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
        """The scene's canvas (height, width, 3), 0 … 255, without the notices over it, which go by themselves."""
        from PIL import Image

        box = self.canvas_box()
        shot = self.page.screenshot(clip=box, style=".mantine-Notification-root { visibility: hidden; }")
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
        from playwright.sync_api import TimeoutError as NotInTime

        end = time.monotonic() + LIMIT
        while True:
            senders = [server, *server.get_clients().values()]
            marks = [sender.scene.add_frame(f"/mark{next(_marks)}", show_axes=False) for sender in senders]
            for sender in senders:
                sender.flush()
            names = [
                mark.name for mark in (marks if len(senders) == 2 else marks[:1])
            ]  # another browser's are not here
            try:
                self.page.wait_for_function(
                    "names => { const all = window.__viserSceneTree.getState(); return names.every(n => n in all); }",
                    arg=names, timeout=LIMIT / 8 * 1e3,
                )  # fmt: skip
                break
            except (
                NotInTime
            ):  # a page that lost its connection comes back as another client, which never gets the mark of the first
                if time.monotonic() > end:
                    raise
            finally:
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
                keep(now)
                return now
            before = now
        raise AssertionError("the picture did not come to rest")


_marks = itertools.count()
_kept: Counter[str] = Counter()


def keep(picture: np.ndarray) -> Path | None:
    """Write a picture, as PNG, into the folder that NEXDYN_PICTURES names, called after the test and how many it had before; nowhere
    without one."""
    folder = os.environ.get(PICTURES, "")
    if not folder:
        return None
    from PIL import Image

    test = os.environ.get("PYTEST_CURRENT_TEST", "picture").rpartition(" ")[0] or "picture"
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", test.replace("::", "-").removeprefix("tests/").replace(".py", "")).strip(
        "-"
    )[:120]
    _kept[name] += 1
    path = Path(folder) / f"{name}-{_kept[name]:02d}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture.astype(np.uint8)).save(path)
    return path


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


# --- the page of a chain: fixtures, which a file of tests imports by name -----------------------------------------------

PLAIN = frozenset({"shapes", "grid"})  # shadows take seconds a picture in software
COLORED = 45
"""Spread of red, green and blue of a pixel that shows a body, not background, grid or shadow."""


def on_a_free_port(what: Any) -> Viewer:
    return Viewer(what, port=free_port(LOOPBACK, 18650))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def chain() -> nx.Result:
    return nx.simulate(nx.load("hinge-chain"), t_end=4.0, method=nx.RungeKutta4(1e-3), output_every=10)


@pytest.fixture(scope="module")
def viewer(chain: nx.Result) -> Iterator[Viewer]:
    """A viewer of the chain, paused, without shadows."""
    with on_a_free_port(chain) as found:
        found.pause()
        found.look(Look(PLAIN))
        yield found


@pytest.fixture(scope="module")
def tab(browser: Any, viewer: Viewer) -> Iterator[Watched]:
    """Its page, which complains of nothing."""
    with opened(browser, viewer.address) as found:
        comes_true(lambda: viewer.watched)
        found.until("Object.keys(window.__viserTestpoints?.uplots ?? {}).length >= 2")
        found.settled(viewer.server)
        yield found
        assert found.faults == []


@pytest.fixture(autouse=True)
def at_rest(request: pytest.FixtureRequest) -> None:
    """Tests that share the viewer start from the same state."""
    if "viewer" in request.fixturenames:
        viewer: Viewer = request.getfixturevalue("viewer")
        viewer.reset()
        viewer.look(Look(PLAIN))
        viewer.select("")


# --- what is seen and done there --------------------------------------------------------------------------------------


def comes_true(what: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not what():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.05)


def at(tab: Watched, viewer: Viewer, t: float) -> np.ndarray:
    """The picture at the time t [s]."""
    viewer.seek(t)
    return tab.settled(viewer.server)


def seen_at(viewer: Viewer, shape: tuple[int, ...], p: np.ndarray, client: Any = None) -> tuple[int, int]:
    """Row and column of the pixel that shows the point p (3,) [m] through the camera of a browser, or of the only one."""
    if client is None:
        (client,) = viewer.server.get_clients().values()
    camera = client.camera
    R = rotation_matrix(np.array(camera.wxyz, dtype=float))  # x right, y down, z ahead
    x, y, z = R.T @ (p - np.array(camera.position))
    height, width = shape[:2]
    f = height / 2 / np.tan(camera.fov / 2)
    return round(height / 2 + f * y / z), round(width / 2 + f * x / z)


def is_body(picture: np.ndarray, at: tuple[int, int]) -> bool:
    row, column = at
    patch = picture[row - 1 : row + 2, column - 1 : column + 2].reshape(-1, 3).mean(axis=0)
    return bool(np.ptp(patch) > COLORED)


def shows(tab: Watched, viewer: Viewer, p: np.ndarray) -> bool:
    """Whether a body is seen at the point p (3,) [m]."""
    picture = tab.pixels()
    return is_body(picture, seen_at(viewer, picture.shape, p))


def centers(result: nx.Result, t: float) -> np.ndarray:
    """Centres of the links (nb, 3) at a sample."""
    return result.position().sel(time=t, method="nearest").values


def shown_times(tab: Watched) -> list[float]:
    """Where the cursor of each plot stands: the last time of its shaded past."""
    script = """() => Object.values(window.__viserTestpoints.uplots).map(({chart}) => {
        const past = chart.data[chart.data.length - 1]; return chart.data[0][past.lastIndexOf(1)]; })"""
    return list(tab.page.evaluate(script))


def middle(tab: Watched) -> tuple[float, float]:
    box = tab.canvas_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def eye(viewer: Viewer) -> tuple[np.ndarray, np.ndarray]:
    (client,) = viewer.server.get_clients().values()
    return np.array(client.camera.position), np.array(client.camera.look_at)


def line_of_sight(viewer: Viewer) -> np.ndarray:
    position, target = eye(viewer)
    return np.asarray((target - position) / np.linalg.norm(target - position))


def place_of(tab: Watched, viewer: Viewer, p: np.ndarray) -> tuple[float, float]:
    """Where in the window the point p (3,) [m] is seen."""
    tab.settled(viewer.server)
    box = tab.canvas_box()
    row, column = seen_at(viewer, (int(box["height"]), int(box["width"])), p)
    return box["x"] + column, box["y"] + row


def pointed(tab: Watched, at: tuple[float, float]) -> None:
    tab.page.mouse.move(at[0] + 3, at[1])
    tab.page.mouse.move(*at)


def card(tab: Watched) -> dict[str, list[str]]:
    """The numbers of the selected body or joint, as they are read on the page, by label; the last is the unit. Another selection takes
    the card away for a moment."""
    rows: list[list[str]] = []

    def read() -> bool:
        rows[:] = tab.page.evaluate(
            "[...document.querySelectorAll('.nexdyn-card tr')].map(r => [...r.children].flatMap(c =>"
            " c.querySelector('span') ? [...c.children].map(s => s.innerText) : [c.innerText]))"
        )
        return bool(rows)

    tab.comes_true(read)
    found: dict[str, list[str]] = {}
    of = ""
    for label, *values in rows:
        of = label if not values else of
        found[f"{of}: {label}" if of and values else label] = values
    return found


def numbers(values: list[str]) -> np.ndarray:
    return np.array([float(x.replace("−", "-")) for x in values[:-1]])


def saved(tab: Watched, kind: str) -> tuple[str, bytes]:
    """What a button gives to download: its name and its bytes."""
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name=kind, exact=True).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()

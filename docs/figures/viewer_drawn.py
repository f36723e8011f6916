"""The viewer's page in pictures: `python docs/figures/viewer_drawn.py` writes viewer-*.png next to this file.

It needs Chromium and the extra `test`; a browser without a GPU takes a minute.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import nexdyn as nx
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.stage import Look
from nexdyn.view.viewer import Viewer

HERE = Path(__file__).parent
SIZE = {"width": 1280, "height": 720}
COLORS = 256
"""Of the palette: pictures stay small."""
LIMIT = 120.0
SHOWN = frozenset({"shapes", "grid", "contact forces", "contact pressure"})


def until(what: Callable[[], bool], page: Any) -> None:
    end = time.monotonic() + LIMIT
    while not what():
        if time.monotonic() > end:
            raise TimeoutError("the page does not come to what is to be seen")
        page.wait_for_timeout(50)


@contextmanager
def opened(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.goto(f"{address}?fixedDpr=1")
    page.wait_for_function("window.__viserTestpoints?.rendererInfo?.render.frame > 10", timeout=LIMIT * 1e3)
    page.wait_for_timeout(3000)  # panels and plots are laid out
    page.evaluate("document.querySelectorAll('.mantine-Notification-root').forEach(x => x.remove())")
    try:
        yield page
    finally:
        context.close()


def keep(page: Any, name: str) -> None:
    from PIL import Image

    page.wait_for_timeout(1500)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = HERE / f"viewer-{name}.png"
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB")


def viewer_of(what: Any, **options: Any) -> Viewer:
    return Viewer(what, port=free_port(LOOPBACK, 18850), **options)


def seen(viewer: Viewer, box: dict[str, float], p: np.ndarray) -> tuple[float, float]:
    """Where on the page a point p (3,) [m] is seen, through the camera of the only browser."""
    (client,) = viewer.server.get_clients().values()
    camera = client.camera
    x, y, z = rotation_matrix(np.array(camera.wxyz, dtype=float)).T @ (p - np.array(camera.position))
    f = box["height"] / 2 / np.tan(camera.fov / 2)
    return box["x"] + box["width"] / 2 + f * x / z, box["y"] + box["height"] / 2 + f * y / z


def a_page(browser: Any) -> None:
    """A result: a selected link with its numbers, plots, reactions and trails."""
    result = nx.simulate(nx.load("hinge-chain"), t_end=4.0, method=nx.RungeKutta4(1e-3), output_every=10)
    with viewer_of(result) as viewer, opened(browser, viewer.address) as page:
        viewer.look(Look(SHOWN | {"reaction forces", "trails"}))
        viewer.select("link3")
        viewer.seek(1.4)
        keep(page, "page")


def a_hand(browser: Any) -> None:
    """A pendulum that runs and is dragged by the mouse."""
    system = nx.System("pendulum")
    system.parameter("m", 2.0)
    rod = system.add_body(
        "rod", mass="=m", inertia=("=m/12", "=m/12", "=m*1e-3"), position=(0, 0, -0.5), shapes=[nx.Box((0.1, 0.1, 1.0))]
    )
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), damping=0.5))
    with viewer_of(nx.Session(system, nx.RungeKutta4(1e-3))) as viewer, opened(browser, viewer.address) as page:
        viewer.look(Look(SHOWN))
        boxes = page.evaluate("[...document.querySelectorAll('canvas')].map(c => c.getBoundingClientRect().toJSON())")
        box = max(boxes, key=lambda box: box["width"] * box["height"])
        x, y = seen(viewer, box, np.array([0.0, 0.0, -0.6]))
        page.mouse.move(x, y)
        tip = page.locator("#nexdyn-hover")
        until(lambda: tip.is_visible() and tip.inner_text().startswith("rod"), page)
        page.mouse.down()
        page.mouse.move(x + 60, y, steps=10)
        until(lambda: viewer.session is not None and viewer.session.hand is not None, page)
        page.mouse.move(x + 110, y - 20, steps=20)
        keep(page, "live")
        page.mouse.up()


def contacts(browser: Any) -> None:
    """Crates that press on each other, seen through, in the dark."""
    store = nx.System("store")
    for i in range(3):
        store.add_body(f"crate{i}", mass=2.0, shapes=[nx.Box((0.3, 0.3, 0.2))], position=(0.04 * i, 0.0, 0.1 + 0.2 * i))
        store.add_joint(nx.Free(f"crate{i} is free", "ground", f"crate{i}"))
    law = {"damping": 50.0, "friction": 0.5}
    store.add_contact(nx.Contact("floor", "crate0", "ground", foundation_b=1e7, **law))
    store.add_contact(nx.Contact("stacked", "crate*", "crate*", foundation_a=2e7, foundation_b=2e7, **law))
    result = nx.simulate(store, 0.3, nx.HHT(), output_times=np.linspace(0.0, 0.3, 31))
    with viewer_of(result) as viewer, opened(browser, viewer.address) as page:
        viewer.dark(True)
        viewer.look(Look(SHOWN, opacity=0.4))
        viewer.seek(0.3)
        keep(page, "contacts")


def a_recording(browser: Any) -> None:
    """One HTML file: a mechanism with a selected joint."""
    result = nx.simulate(nx.load("four-bar"), t_end=2.0, output_every=5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "four-bar.html"
        nx.record(result, path, layers=SHOWN | {"joint axes"})
        with opened(browser, path.as_uri()) as page:
            page.wait_for_function(
                "window.Plotly && document.querySelectorAll('.nexdyn-plot').length", timeout=LIMIT * 1e3
            )
            page.get_by_role("tab", name="Model").click()
            page.get_by_role("treeitem").nth(2).click()
            page.get_by_role("tab", name="Plots").click()
            keep(page, "recording")


def main() -> None:
    """Draw all of them."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        flags = ["--enable-unsafe-swiftshader", "--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        for draw in (a_page, a_hand, contacts, a_recording):
            if not sys.argv[1:] or draw.__name__ in sys.argv[1:]:
                draw(browser)
        browser.close()


if __name__ == "__main__":
    main()

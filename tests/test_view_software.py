"""Browsers without a GPU draw without smoothing by the context and without shadows, finely at rest; those with one as ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from chromium import LIMIT, Watched, browser, chain, needs_chromium, on_a_free_port

import nexdyn as nx
from nexdyn.view.viewer import Viewer

__all__ = ["browser", "chain"]
pytest.importorskip("viser")
pytest.importorskip("playwright")
pytestmark = needs_chromium

SMOOTHED = "window.__viserMutable.canvas.getContext('webgl2').getContextAttributes().antialias"
FINENESS = "(c => c.width / c.clientWidth / devicePixelRatio)(window.__viserMutable.canvas)"
SHADES = """(() => { let n = 0; window.__viserMutable.scene.traverse(x => { if (x.isLight && x.castShadow) n += 1; }); return n; })()"""
DRAWN = "window.__viserTestpoints?.rendererInfo.render.triangles > 100"
WITH_GPU = """const ask = WebGL2RenderingContext.prototype.getParameter;
WebGL2RenderingContext.prototype.getParameter = function (what) {
  return what === 0x9246 ? "ANGLE (some GPU)" : ask.call(this, what);  // the name of the renderer
};"""


@contextmanager
def page_of(browser: Any, viewer: Viewer, before: str = "", more: str = "") -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 900, "height": 500})
    try:
        context.set_default_timeout(LIMIT * 1e3)
        context.add_init_script(before)
        page = context.new_page()
        page.goto(viewer.address + more)
        watched = Watched(page)
        watched.until(DRAWN)
        yield watched
    finally:
        context.close()


@pytest.fixture
def playing(chain: nx.Result) -> Iterator[Viewer]:
    with on_a_free_port(chain) as found:
        yield found


def test_without_a_gpu_pictures_are_coarse_in_motion_and_fine_at_rest(browser: Any, playing: Viewer) -> None:
    with page_of(browser, playing) as page:
        assert page.page.evaluate("window.__nexdynSoftware") is True
        assert page.page.evaluate(SMOOTHED) is False
        assert page.page.evaluate(f"{FINENESS} <= 1.01")
        playing.pause()
        page.until(f"{FINENESS} > 1.95")
        drawn = page.page.evaluate("window.__viserTestpoints.rendererInfo.render.frame")
        page.until(f"window.__viserTestpoints.rendererInfo.render.frame > {drawn}")  # it is drawn, not only planned
        playing.play()
        page.until(f"{FINENESS} <= 1.01")


def test_without_a_gpu_no_light_casts_shadows_unless_they_are_asked_for(browser: Any, playing: Viewer) -> None:
    with page_of(browser, playing) as page:
        page.frames(2)
        assert page.page.evaluate(SHADES) == 0
    with page_of(browser, playing, more="?shadows") as page:
        page.until(f"{SHADES} > 0")


def test_a_browser_with_a_gpu_smooths_and_shades_and_keeps_its_pixels(browser: Any, playing: Viewer) -> None:
    with page_of(browser, playing, before=WITH_GPU) as page:
        assert page.page.evaluate("window.__nexdynSoftware") is False
        assert page.page.evaluate(SMOOTHED) is True
        page.until(f"{SHADES} > 0")
        playing.pause()
        page.page.wait_for_timeout(1500)  # longer than it takes to become fine where there is no GPU
        assert page.page.evaluate(f"{FINENESS} <= 1.01")

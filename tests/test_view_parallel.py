"""Without perspective: what is parallel looks so, and what is equally large; picking, zooming, recordings and pictures do as before."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (  # noqa: F401 (fixtures)
    COLORED,
    PLAIN,
    Watched,
    browser,
    eye,
    needs_chromium,
    on_a_free_port,
    opened,
    pointed,
    saved,
)
from PIL import Image

import nexdyn as nx
from nexdyn.view.stage import Look
from nexdyn.view.viewer import Viewer

pytestmark = [needs_chromium, pytest.mark.timeout(900)]

SIZE = np.array((0.4, 0.8, 0.6))
BOXES = {f"box{k}": np.array((0.6 * k, y, 0.5)) for k, y in enumerate((-3.0, 0.0, 3.0))}
"""Boxes of one size, far behind each other for who looks from the front."""


def boxes() -> nx.System:
    system = nx.System("boxes", gravity=(0, 0, 0))
    for name, p in BOXES.items():
        system.add_body(
            name, mass=1.0, inertia=(1, 1, 1), position=p, shapes=[nx.Box(tuple(SIZE), color=(0.1, 0.7, 0.1))]
        )
    return system


@pytest.fixture(scope="module")
def shown() -> Iterator[Viewer]:
    with on_a_free_port(nx.simulate(boxes(), 0.2, nx.RungeKutta4(1e-2))) as found:
        found.pause()
        found.look(Look(PLAIN))
        yield found


@pytest.fixture(scope="module")
def page(browser: Any, shown: Viewer) -> Iterator[Watched]:  # noqa: F811
    with opened(browser, shown.address) as found:
        found.comes_true(lambda: shown.watched)
        found.settled(shown.server)
        yield found
        assert found.faults == []


def on_page(tab: Watched, points: np.ndarray) -> np.ndarray:
    """Where in the window points (n, 3) [m] are seen (n, 2)."""
    script = """all => { const m = window.__viserMutable, b = m.canvas.getBoundingClientRect();
        const to = m.nodeRefFromName["/motion"].matrixWorld;
        return all.map(p => { const v = m.camera.position.clone().set(...p).applyMatrix4(to).project(m.camera);
            return [b.x + (v.x + 1) / 2 * b.width, b.y + (1 - v.y) / 2 * b.height]; }); }"""
    return np.array(tab.page.evaluate(script, points.tolist()))


def apart(tab: Watched) -> float:
    """By how many pixels edges that are parallel, and as long, differ on the screen."""
    most = 0.0
    for axis in range(3):
        others = [k for k in range(3) if k != axis]
        edges = []
        for p, signs in itertools.product(BOXES.values(), itertools.product((-0.5, 0.5), repeat=2)):
            ends = np.tile(p, (2, 1))
            ends[:, others] += np.array(signs) * SIZE[others]
            ends[:, axis] += np.array((-0.5, 0.5)) * SIZE[axis]
            edges.append(np.subtract(*on_page(tab, ends)))
        most = max(most, float(np.ptp(edges, axis=0).max()))
    return most


def is_parallel(tab: Watched) -> bool:
    return bool(tab.page.evaluate("window.__viserMutable.camera.projectionMatrix.elements[15] === 1"))


def widths(picture: np.ndarray) -> list[int]:
    """Of what stands side by side in a picture how wide each is [pixels]."""
    green = ((picture[..., 1] - picture[..., 0] > COLORED) & (picture[..., 1] - picture[..., 2] > COLORED)).any(axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], green, [False]]).astype(int)))
    return (edges[1::2] - edges[::2]).tolist()


def pressed(tab: Watched, key: str) -> None:
    tab.page.evaluate("document.activeElement?.blur()")
    tab.page.keyboard.press(key)


def test_the_key_p_takes_the_perspective_away_and_brings_it_back(page: Watched, shown: Viewer) -> None:
    pressed(page, "4")
    page.settled(shown.server)
    stood, target = eye(shown)
    assert apart(page) > 20.0
    across = np.array([target, target + np.cross(target - stood, (0, 0, 1)) / np.linalg.norm(target - stood)])
    before = on_page(page, across)
    pressed(page, "p")
    page.comes_true(lambda: is_parallel(page) and page.page.get_by_label("parallel", exact=True).is_checked())
    page.settled(shown.server)
    assert apart(page) < 1e-6
    np.testing.assert_allclose(eye(shown)[0], stood, atol=1e-4)
    np.testing.assert_allclose(on_page(page, across), before, atol=0.01)  # as large as before, where one looks at
    pressed(page, "p")
    page.comes_true(lambda: not is_parallel(page) and not page.page.get_by_label("parallel", exact=True).is_checked())
    page.settled(shown.server)
    assert apart(page) > 20.0
    np.testing.assert_allclose(on_page(page, across), before, atol=0.01)


def test_equal_boxes_are_seen_equally_wide_and_are_clicked_where_they_are_seen(page: Watched, shown: Viewer) -> None:
    try:
        pressed(page, "p")
        page.comes_true(lambda: is_parallel(page))
        pressed(page, "1")
        page.comes_true(lambda: abs(np.diff(eye(shown), axis=0)[0] @ (1, 0, 0)) < 1e-3)
        first = widths(page.settled(shown.server))
        assert len(first) == 3 and np.ptp(first) <= 1 and first[0] > 30
        for name, p in BOXES.items():
            page.page.mouse.click(*on_page(page, p[None])[0])
            page.comes_true(lambda name=name: shown.selected == f"body:{name}")
        shown.select("")
        page.page.mouse.move(*on_page(page, BOXES["box1"][None])[0])
        page.page.mouse.wheel(0, -200)
        page.comes_true(lambda: (np.array(widths(page.pixels())) > 1.1 * first[0]).any())
        wide = widths(page.settled(shown.server))
        scale = np.linalg.norm(np.subtract(*on_page(page, np.array([BOXES["box1"], BOXES["box1"] + (1, 0, 0)]))))
        assert wide[len(wide) // 2] == pytest.approx(SIZE[0] * scale, abs=1.5)
        assert apart(page) < 1e-6
        place = on_page(page, (BOXES["box1"] + (0.45 * SIZE[0], 0, 0.45 * SIZE[2]))[None])[0]
        pointed(page, tuple(place))
        page.comes_true(lambda: page.page.locator("#nexdyn-hover").inner_text().startswith("box1"))
        pointed(page, tuple(place + np.array((0.1 * SIZE[0] * scale, 0.0))))
        page.comes_true(lambda: page.page.locator("#nexdyn-hover").is_hidden())
    finally:
        shown.lens(False)
        shown.aim()
        page.comes_true(lambda: not is_parallel(page))


def test_pictures_and_recordings_of_a_page_without_perspective_have_none(
    page: Watched, shown: Viewer, browser: Any, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    try:
        pressed(page, "p")
        page.comes_true(lambda: is_parallel(page))
        pressed(page, "1")
        page.comes_true(lambda: abs(np.diff(eye(shown), axis=0)[0] @ (1, 0, 0)) < 1e-3)
        seen = widths(page.settled(shown.server))
        picture = np.asarray(Image.open(io.BytesIO(saved(page, "Picture")[1])).convert("RGB")).astype(int)
        np.testing.assert_allclose(widths(picture), seen, atol=2)
        path = tmp_path / "boxes.html"
        path.write_bytes(saved(page, "HTML")[1])
    finally:
        shown.lens(False)
        shown.aim()
    with opened(browser, path.as_uri(), offline=True) as tab:
        tab.until("document.querySelector('#root #nexdyn-slider')")
        tab.page.keyboard.press("Space")
        tab.comes_true(lambda: is_parallel(tab) and apart(tab) < 1e-6)
        found = widths(tab.settled())
        assert len(found) == 3 and np.ptp(found) <= 1
        tab.page.mouse.click(*on_page(tab, BOXES["box2"][None])[0])
        tab.comes_true(lambda: tab.page.locator(".nexdyn-card caption").all_inner_texts() == ["box2"])
        pressed(tab, "p")
        tab.comes_true(lambda: not is_parallel(tab) and apart(tab) > 20.0)
        pressed(tab, "4")
        pressed(tab, "p")
        tab.comes_true(lambda: is_parallel(tab) and apart(tab) < 1e-6)
        assert tab.faults == []

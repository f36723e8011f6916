"""What mouse and keys do on the page beyond what other files try: each gesture by itself, with its effect on numbers."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (  # noqa: F401 (fixtures)
    PLAIN,
    Watched,
    at_rest,
    browser,
    card,
    centers,
    chain,
    comes_true,
    eye,
    line_of_sight,
    middle,
    needs_chromium,
    numbers,
    on_a_free_port,
    opened,
    place_of,
    tab,
    viewer,
)
from test_view_sizes import four_bar, gaps, session, slide

import nexdyn as nx
from nexdyn.cli.edit import write_numbers
from nexdyn.io.scene import read_scene_text
from nexdyn.view.editing import Editing
from nexdyn.view.pace import LEAST, MOST, Pace
from nexdyn.view.recording import record
from nexdyn.view.stage import SKIES, Look
from nexdyn.view.viewer import Viewer

pytestmark = [needs_chromium, pytest.mark.timeout(900)]

POINTS = "name => [...(window.__viserSceneTree.getState()[name]?.message?.props?.points ?? [])]"


def segments(tab: Watched, viewer: Viewer, name: str) -> np.ndarray:
    """The segments (n, 2, 3) [m] of lines or arrows that the page has, without those that stand far away because they are not seen."""
    tab.caught_up(viewer.server)
    found = np.array(tab.page.evaluate(POINTS, name), dtype=float).reshape(-1, 2, 3)
    return found[np.abs(found).max(axis=(1, 2)) < 100.0 * viewer._desk.stage.size]


def test_it_repeats_as_long_as_its_box_says(tab: Watched, viewer: Viewer) -> None:
    box = tab.page.get_by_role("checkbox", name="repeat", exact=True)
    box.uncheck()
    try:
        comes_true(lambda: not viewer._desk.time.repeats)
        viewer.seek(3.7)
        tab.page.get_by_role("button", name="Play", exact=True).click()
        comes_true(lambda: not viewer.playing and viewer.t == 4.0)
    finally:
        box.check()
    comes_true(lambda: viewer._desk.time.repeats)
    viewer.seek(3.7)
    tab.page.get_by_role("button", name="Play", exact=True).click()
    comes_true(lambda: viewer.playing and viewer.t < 3.0)


def test_arrows_are_as_long_as_their_slider_says(tab: Watched, viewer: Viewer) -> None:
    viewer.look(Look(PLAIN | {"reaction forces"}))
    viewer.seek(1.0)

    def longest() -> float:
        return float(np.linalg.norm(np.diff(segments(tab, viewer, "/motion/forces"), axis=1), axis=-1).max())

    before, slider = longest(), tab.page.get_by_role("slider", name="arrow length", exact=True)
    slider.press("End")
    comes_true(lambda: viewer.looks.arrows == 10.0)
    assert longest() == pytest.approx(10.0 * before, rel=1e-4)
    slider.press("ArrowLeft")
    comes_true(lambda: viewer.looks.arrows == pytest.approx(9.9))
    assert longest() == pytest.approx(9.9 * before, rel=1e-4)


def test_trails_are_as_long_as_their_slider_says(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    viewer.look(Look(PLAIN | {"trails"}))
    viewer.seek(3.0)
    slider = tab.page.get_by_role("slider", name="trail [s]", exact=True)
    for key, seconds in (("Home", 0.1), ("End", 10.0)):
        slider.press(key)
        comes_true(lambda seconds=seconds: viewer.looks.trail == seconds)
        path = segments(tab, viewer, "/motion/trails")
        tip = chain.position("link6").sel(time=slice(max(0.0, 3.0 - seconds), 3.0)).values
        length = float(np.linalg.norm(np.diff(tip, axis=0), axis=1).sum())
        own = np.linalg.norm(np.diff(path, axis=1), axis=-1).sum()
        assert len(path) > 5 and own > 0.5 * length
        assert seconds > 1.0 or own < 4.0 * length  # the paths of the marker and of the last link


CASTS = """() => { let found = false;
  window.__viserMutable.scene.traverse(x => { if (x.isLight && x.castShadow) found = true; }); return found; }"""


def test_shadows_are_drawn_as_their_box_says(tab: Watched, viewer: Viewer) -> None:
    box = tab.page.get_by_role("checkbox", name="shadows", exact=True)
    try:
        box.check()
        comes_true(lambda: "shadows" in viewer.looks.layers)
        tab.comes_true(lambda: bool(tab.page.evaluate(CASTS)))
        box.uncheck()
        comes_true(lambda: "shadows" not in viewer.looks.layers)
        tab.comes_true(lambda: not tab.page.evaluate(CASTS))
    finally:
        tab.page.evaluate("window.__nexdynShadows = false")


def test_a_drag_with_the_right_button_shifts_the_view(tab: Watched, viewer: Viewer) -> None:
    comes_true(lambda: np.allclose(eye(viewer)[0], viewer._desk.stage.eye, atol=1e-3))
    (position, target), ahead = eye(viewer), line_of_sight(viewer)
    x, y = middle(tab)
    tab.page.mouse.move(x, y)
    tab.page.mouse.down(button="right")
    tab.page.mouse.move(x + 80, y + 30, steps=8)
    tab.page.mouse.up(button="right")
    comes_true(lambda: bool(np.linalg.norm(eye(viewer)[1] - target) > 0.05 * viewer._desk.stage.size))
    tab.settled(viewer.server)
    now, target_now = eye(viewer)
    np.testing.assert_allclose(now - position, target_now - target, atol=1e-3 * viewer._desk.stage.size)
    moved = target_now - target
    assert abs(moved @ ahead) < 0.02 * np.linalg.norm(moved)  # across the view
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    assert moved @ right < 0.0 < moved[2]  # the scene goes with the mouse, to the right and down


def test_the_button_measures_from_what_is_selected(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    viewer.seek(1.0)
    try:
        for k in (1, 4):
            tab.page.mouse.click(*place_of(tab, viewer, centers(chain, 1.0)[k]))
            comes_true(lambda k=k: viewer.selected == f"body:link{k + 1}")
            tab.page.get_by_role("button", name="Measure from it", exact=True).click()
            comes_true(lambda k=k: [p.body for p in viewer._desk.inquiry._points][-1:] == [f"link{k + 1}"])
        apart = np.linalg.norm(centers(chain, 1.0)[4] - centers(chain, 1.0)[1])
        viewer.select("")  # the points are told alone
        tab.comes_true(lambda: "|AB|" in card(tab))
        np.testing.assert_allclose(numbers(card(tab)["|AB|"]), apart, rtol=1e-3)
    finally:
        viewer._desk.inquiry.clear()


# --- a system that runs ----------------------------------------------------------------------------------------------


def test_a_joint_of_a_running_loop_is_put_by_its_slider_and_the_loop_stays_closed(browser: Any) -> None:
    with on_a_free_port(nx.Session(four_bar())) as viewer:
        viewer.look(Look(PLAIN))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched and session(viewer).t > 0.02)
            viewer.pause()
            tab.page.get_by_text("Joints", exact=True).first.click()
            slider = tab.page.get_by_role("slider", name="A [rad]", exact=True)
            slider.focus()

            def angle() -> float:
                return float(session(viewer).latest().joint_position("A").values[0])

            before = angle()
            for _ in range(4):
                slider.press("ArrowRight")

            def shown() -> float:
                return float(slider.get_attribute("aria-valuenow") or "nan")

            assert shown() > before
            tab.comes_true(lambda: angle() == pytest.approx(shown(), abs=1e-6) and angle() > before)
            found, _ = gaps(tab, viewer)
            assert max(found) < 2e-4
            t = session(viewer).t
            viewer.play()
            tab.comes_true(lambda: session(viewer).t > t + 0.1)
            assert tab.faults == []


SCENE = """\
name: pendulum
parameters: {L: 0.5}
bodies:
  bob: {mass: 2.0, inertia: [0.1, 0.1, 0.1], position: [=L, 0, 0], shapes: [{type: sphere, radius: 0.05}]}
joints:
  hinge: {type: revolute, parent: ground, child: bob, at: [0, 0, 0], axis: [0, 1, 0]}
"""


def test_a_changed_parameter_is_written_by_the_button(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "pendulum.yaml"
    file.write_text(SCENE)
    system = read_scene_text(SCENE).system
    with on_a_free_port(system) as viewer, opened(browser, viewer.address) as tab:
        editing = Editing(viewer, functools.partial(write_numbers, file))
        editing.show(system, nx.assemble(system))
        tab.caught_up(viewer.server)  # its keys are known to the page
        tab.page.keyboard.press("l")
        tab.comes_true(lambda: viewer.session is not None and viewer.session.t > 0.05)
        slide(tab, "L", "End")
        tab.comes_true(lambda: session(viewer).system.values["L"] == 1.0)
        viewer.pause()
        tab.page.get_by_role("button", name="Write this state into the file").click()
        tab.comes_true(lambda: "v0:" in file.read_text())
        written = read_scene_text(file.read_text()).system
        assert written.values["L"] == 1.0
        start = nx.simulate(written, 1e-3, nx.RungeKutta4(1e-3))
        np.testing.assert_allclose(
            start.position("bob").values[0], session(viewer).latest().position("bob").values[0], atol=1e-9
        )
        assert tab.faults == []


# --- the sky, and how many moments a second ------------------------------------------------------------------------------


def sky_of(picture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Its colours above and below, at the left edge."""
    return picture[1, 4], picture[-2, 4]


def check_sky(picture: np.ndarray, kind: str) -> None:
    for seen, expected in zip(sky_of(picture), SKIES[kind], strict=True):
        np.testing.assert_allclose(seen, expected, atol=4)


def test_a_sky_stands_behind_the_scene_light_and_dark_on_the_page_and_in_recordings(
    browser: Any,
    chain: nx.Result,
    tmp_path: Path,
) -> None:
    layers = frozenset({"shapes"})
    with on_a_free_port(chain) as viewer:
        viewer.pause()
        viewer.look(Look(layers))
        kinds = viewer._desk.stage.backdrops
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            check_sky(tab.settled(viewer.server), kinds[False])
            tab.page.mouse.click(*middle(tab))
            tab.page.keyboard.press("d")
            tab.until("document.documentElement.dataset.mantineColorScheme === 'dark'")
            check_sky(tab.settled(viewer.server), kinds[True])
    record(chain, tmp_path / "chain.html", layers=layers)
    with opened(browser, (tmp_path / "chain.html").as_uri(), offline=True) as tab:
        tab.until("document.querySelector('#root #nexdyn-slider')")
        tab.page.keyboard.press("Space")
        check_sky(tab.settled(), kinds[False])
        tab.page.keyboard.press("d")
        tab.until("document.documentElement.dataset.mantineColorScheme === 'dark'")
        tab.comes_true(lambda: tab.pixels()[1, 4].max() < 100)
        check_sky(tab.settled(), kinds[True])


def test_a_browser_that_draws_faster_is_sent_more_moments_as_long_as_they_are_cheap() -> None:
    pace = Pace()
    assert pace.rate == LEAST
    pace.tell("one", 30.0)
    assert pace.rate == LEAST
    pace.tell("other", 60.0)
    assert pace.rate == MOST
    for _ in range(100):
        pace.took(0.010)
    assert pace.rate == pytest.approx(40.0, rel=0.01)
    for _ in range(100):
        pace.took(0.1)
    assert pace.rate == LEAST


def test_a_page_tells_how_many_pictures_it_draws_and_one_without_a_gpu_no_more_than_thirty(
    tab: Watched, viewer: Viewer
) -> None:
    comes_true(lambda: bool(viewer._desk.pace._told))
    assert max(pictures for pictures, _ in viewer._desk.pace._told.values()) <= LEAST
    sent: list[float] = []
    show = viewer._desk.stage.show

    def counted(t: float, *rest: Any) -> None:
        show(t, *rest)
        sent.append(time.monotonic())

    viewer._desk.stage.show = counted  # type: ignore[method-assign]
    try:
        viewer._desk.pace.tell("a fast one", 60.0)
        viewer.play()
        comes_true(lambda: len(sent) > 60)
        viewer.pause()
    finally:
        viewer._desk.stage.show = show  # type: ignore[method-assign]
    assert np.diff(sent).min() < 1.0 / 45.0

"""A robot that nobody here wrote, with its meshes, on the page: it is seen, named, told, dragged and plotted."""

from __future__ import annotations

import importlib.metadata
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import PLAIN, Watched, browser, eye, needs_chromium, on_a_free_port, opened, seen_at  # noqa: F401 (fixture)

import nexdyn as nx
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view import touch
from nexdyn.view.raster import linear
from nexdyn.view.stage import Look
from nexdyn.view.viewer import Viewer

try:
    FILES = importlib.metadata.files("example-robot-data") or []
except importlib.metadata.PackageNotFoundError:
    FILES = []
PANDA = next((Path(str(file.locate())).resolve() for file in FILES if file.name == "panda.urdf"), None)
pytestmark = [
    needs_chromium,
    pytest.mark.timeout(900),
    pytest.mark.skipif(PANDA is None, reason="example-robot-data is not installed"),
]


def robot() -> nx.System:
    """Panda, floating where it is put."""
    assert PANDA is not None
    return nx.load(PANDA).with_parameters({"gravity": (0.0, 0.0, 0.0)})


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    with on_a_free_port(nx.Session(robot(), nx.RungeKutta4(1e-3))) as found:
        found.look(Look(PLAIN))
        yield found


@pytest.fixture(scope="module")
def tab(browser: Any, viewer: Viewer) -> Iterator[Watched]:  # noqa: F811
    with opened(browser, viewer.address) as found:
        found.comes_true(lambda: viewer.watched and viewer.session is not None and viewer.session.t > 0.0)
        yield found
        assert found.faults == []


def seen(viewer: Viewer, tab: Watched, wanted: str) -> tuple[str, tuple[float, float]]:
    """A body that is seen where the centre of mass of another one is, and where in the window that is."""
    tab.settled(viewer.server)
    f, system = viewer._desk.motion.at(viewer.t), viewer.system
    i = viewer._desk.stage.row[wanted]
    com = system.bodies[wanted].resolved(system.values).com
    at = f.position[i] + rotation_matrix(f.quaternion[i].astype(float)) @ com
    hit = viewer._desk.inquiry.pick(eye(viewer)[0], at - eye(viewer)[0], viewer.t)
    assert hit is not None
    box = tab.canvas_box()
    row, column = seen_at(viewer, (round(box["height"]), round(box["width"])), at)
    return hit.body, (box["x"] + column, box["y"] + row)


def test_a_white_robot_has_contrast_on_light_and_dark_pages(tab: Watched, viewer: Viewer) -> None:
    viewer.pause()
    viewer.look(Look(frozenset({"shapes"})))
    try:
        tab.page.evaluate(
            "document.querySelectorAll('.mantine-Notification-root, #nexdyn-cube').forEach(x => x.style.visibility = 'hidden')"
        )
        for dark in (False, True):
            viewer.dark(dark)
            tab.until("dark => (document.documentElement.dataset.mantineColorScheme === 'dark') === dark", dark)
            picture = tab.settled(viewer.server)
            background = np.median(picture.reshape(-1, 3), axis=0)
            subject = np.abs(picture - background).max(axis=-1) > 25
            assert 0.01 < subject.mean() < 0.5
            lights = [linear(color / 255.0) @ (0.2126, 0.7152, 0.0722) for color in (picture[subject], background)]
            one, other = (float(np.median(light)) for light in lights)
            assert (max(one, other) + 0.05) / (min(one, other) + 0.05) >= 3.0
    finally:
        viewer.dark(False)
        viewer.look(Look(PLAIN))
        viewer.play()


def test_its_links_are_named_by_the_mouse_and_by_their_layer(tab: Watched, viewer: Viewer) -> None:
    tip = tab.page.locator("#nexdyn-hover")
    for wanted in ("panda_link2", "panda_link5"):
        name, (x, y) = seen(viewer, tab, wanted)
        away = itertools.cycle((0.0, 1.0))

        def told(name: str = name, x: float = x, y: float = y, away: Any = away) -> bool:
            tab.page.mouse.move(x + next(away), y)
            tab.page.wait_for_timeout(300)
            return tip.is_visible() and tip.inner_text().split()[0] == name

        tab.comes_true(told)
    viewer.look(Look(PLAIN | {"names"}))
    tab.caught_up(viewer.server)
    script = """() => Object.entries(window.__viserSceneTree.getState()).filter(([name]) => /^\\/motion\\/name\\d+$/.test(name))
        .map(([, node]) => node.message.props.text)"""
    names = [name for text in tab.page.evaluate(script) for name in text.split("\n")]  # in one place below each other
    move = {name for name, joint in viewer.system.joints.items() if joint.kind != "fixed"}
    assert set(names) >= move | {*viewer._desk.motion.bodies} and len(names) == len(set(names))
    viewer.look(Look(PLAIN))


def test_it_is_dragged_recorded_and_plotted(
    tab: Watched, viewer: Viewer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(touch, "LOST", np.inf)
    session = viewer.session
    assert session is not None
    name, (x, y) = seen(viewer, tab, "panda_link5")
    tip, away = tab.page.locator("#nexdyn-hover"), itertools.cycle((0.0, 1.0))

    def over() -> bool:
        tab.page.mouse.move(x + next(away), y)
        tab.page.wait_for_timeout(300)
        return tip.is_visible() and tip.inner_text().split()[0] == name

    tab.comes_true(over)
    before = float(session.latest().energy().kinetic.values[0])
    tab.page.mouse.down()
    tab.page.mouse.move(x + 60, y + 20, steps=8)
    tab.comes_true(lambda: session.hand is not None and session.hand.body == name)
    tab.comes_true(lambda: float(session.latest().energy().kinetic.values[0]) > before + 1e-3)
    tab.page.mouse.up()
    tab.comes_true(lambda: session.hand is None)
    viewer.pause()
    log = json.loads(json.dumps(session.log))
    again = nx.Session.replay(robot(), log, nx.RungeKutta4(1e-3))
    np.testing.assert_array_equal(again.result().recording.q, session.result().recording.q)
    figure = session.result().plot("phase", path=tmp_path / "phase.png")
    figure.canvas.draw()
    page = figure.bbox
    titles = [axes.title.get_window_extent() for axes in figure.axes] + [
        axes._left_title.get_window_extent() for axes in figure.axes
    ]
    titles = [box for box in titles if box.width > 0]
    assert len(titles) == len(figure.axes) >= 7
    for box in titles:
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
    assert not any(one.overlaps(other) for one, other in itertools.combinations(titles, 2))

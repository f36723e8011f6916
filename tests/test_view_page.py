"""The viewer's page and recordings in headless Chromium: what moves, what buttons do, what survives."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (  # noqa: F401 (fixtures)
    COLORED,
    LIMIT,
    PLAIN,
    PROGRAM,
    STILL,
    Watched,
    at,
    at_rest,
    browser,
    centers,
    chain,
    comes_true,
    eye,
    is_body,
    line_of_sight,
    middle,
    needs_chromium,
    on_a_free_port,
    opened,
    seen_at,
    shown_times,
    shows,
    tab,
    viewer,
)
from results_lab import resting_ball

import nexdyn as nx
from nexdyn.view.raster import linear
from nexdyn.view.recording import record
from nexdyn.view.server import LOOPBACK
from nexdyn.view.stage import Look
from nexdyn.view.viewer import Viewer

pytestmark = [needs_chromium, pytest.mark.timeout(900)]


# --- the motion -----------------------------------------------------------------------------------------------------


def test_pictures_at_two_times_differ_where_the_bodies_were_and_are(
    tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    early, late = 0.0, 1.0
    first, second = at(tab, viewer, early), at(tab, viewer, late)
    for then, now in zip(centers(chain, early)[1:], centers(chain, late)[1:], strict=True):
        then_at, now_at = (seen_at(viewer, first.shape, p) for p in (then, now))
        assert is_body(first, then_at) and not is_body(second, then_at)
        assert is_body(second, now_at) and not is_body(first, now_at)


def test_the_same_time_gives_the_same_picture(tab: Watched, viewer: Viewer) -> None:
    first = at(tab, viewer, 0.5)
    assert np.abs(at(tab, viewer, 1.5) - first).max() > 60
    assert np.abs(at(tab, viewer, 0.5) - first).max() < STILL


def test_played_it_moves_and_paused_it_stands(tab: Watched, viewer: Viewer) -> None:
    first = tab.settled(viewer.server)
    tab.page.get_by_role("button", name="Play", exact=True).click()
    comes_true(lambda: viewer.playing and viewer.t > 0.0)
    tab.comes_true(lambda: np.abs(tab.pixels() - first).max() > 60)
    tab.page.get_by_role("button", name="Pause", exact=True).click()
    comes_true(lambda: not viewer.playing)
    t = viewer.t
    first = tab.settled(viewer.server)
    tab.frames(20)
    assert viewer.t == t and np.abs(tab.pixels() - first).max() < STILL


def test_the_space_bar_plays_and_pauses(tab: Watched, viewer: Viewer) -> None:
    tab.page.mouse.click(*middle(tab))
    tab.page.keyboard.press("Space")
    comes_true(lambda: viewer.playing)
    tab.page.keyboard.press("Space")
    comes_true(lambda: not viewer.playing)


def test_the_speed_is_chosen_on_the_page(tab: Watched, viewer: Viewer) -> None:
    try:
        for label, speed in (("0.1×", 0.1), ("5×", 5.0)):
            tab.page.get_by_label("speed", exact=True).click()
            tab.page.get_by_role("option", name=label, exact=True).click()
            comes_true(lambda speed=speed: viewer._desk.time.speed == speed)
    finally:
        viewer._desk.controls._speed.value = "1×"


# --- slider, drag, wheel --------------------------------------------------------------------------------------------


def test_the_slider_sets_the_time_and_stops(tab: Watched, viewer: Viewer) -> None:
    viewer.play()
    handle = tab.page.get_by_role("slider").first
    box = handle.bounding_box()
    track = handle.locator("xpath=ancestor::*[contains(@class, 'Slider-track')]").last.bounding_box()
    y = box["y"] + box["height"] / 2
    tab.page.mouse.move(box["x"] + box["width"] / 2, y)
    tab.page.mouse.down()
    tab.page.mouse.move(track["x"] + 0.5 * track["width"], y, steps=5)
    tab.page.mouse.move(track["x"] + 0.75 * track["width"], y, steps=5)
    tab.page.mouse.up()
    comes_true(lambda: abs(viewer.t - 3.0) < 0.15 and not viewer.playing)


def test_a_drag_with_the_left_button_turns_the_view_about_its_centre(tab: Watched, viewer: Viewer) -> None:
    comes_true(lambda: np.allclose(eye(viewer)[0], viewer._desk.stage.eye, atol=1e-3))
    first = tab.settled(viewer.server)
    position, target = eye(viewer)
    x, y = middle(tab)
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 120, y + 40, steps=8)
    tab.page.mouse.up()
    comes_true(lambda: bool(np.linalg.norm(eye(viewer)[0] - position) > 0.3 * viewer._desk.stage.size))
    picture = tab.settled()
    after, target_after = eye(viewer)
    np.testing.assert_allclose(target_after, target, atol=1e-3 * viewer._desk.stage.size)
    assert np.linalg.norm(after - target) == pytest.approx(np.linalg.norm(position - target), rel=0.02)
    assert np.abs(picture - first).max() > 60


def test_the_wheel_comes_nearer_and_goes_away(tab: Watched, viewer: Viewer) -> None:
    def distance() -> float:
        return float(np.linalg.norm(np.subtract(*eye(viewer))))

    comes_true(lambda: np.allclose(eye(viewer)[0], viewer._desk.stage.eye, atol=1e-3))
    start = distance()
    tab.page.mouse.move(*middle(tab))
    tab.comes_true(lambda: tab.page.mouse.wheel(0, -200) or distance() < 0.9 * start)
    tab.settled()
    near = distance()
    tab.comes_true(lambda: tab.page.mouse.wheel(0, 200) or distance() > 1.1 * near)


def test_reset_brings_time_and_camera_back(tab: Watched, viewer: Viewer) -> None:
    viewer.seek(2.0)
    tab.page.mouse.move(*middle(tab))
    tab.page.mouse.wheel(0, -400)
    comes_true(lambda: not np.allclose(eye(viewer)[0], viewer._desk.stage.eye, atol=1e-2))
    tab.settled()
    tab.page.get_by_role("button", name="Reset", exact=True).click()
    comes_true(lambda: viewer.t == 0.0 and np.allclose(eye(viewer)[0], viewer._desk.stage.eye, atol=1e-2))


@pytest.mark.parametrize(
    ("key", "side", "ahead"), [("1", "front", (0, 1, 0)), ("2", "right", (-1, 0, 0)), ("3", "top", (0, 0, -1))]
)
def test_standard_views_look_along_the_axes(
    tab: Watched, viewer: Viewer, key: str, side: str, ahead: tuple[int, ...]
) -> None:
    for press in (
        lambda: tab.page.get_by_role("button", name=side, exact=True).click(),
        lambda: tab.page.keyboard.press(key),
    ):
        viewer.aim()
        comes_true(lambda: float(line_of_sight(viewer) @ ahead) < 0.98)
        tab.page.mouse.move(*middle(tab))
        press()
        comes_true(lambda: float(line_of_sight(viewer) @ ahead) > 0.9999)
        picture = tab.settled(viewer.server)
        assert int((np.ptp(picture, axis=-1) > COLORED).sum()) > 300  # it is in sight


def test_a_followed_body_stays_where_it_is_seen(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    tab.page.get_by_label("follow", exact=True).click()
    tab.page.get_by_role("option", name="link6", exact=True).click()
    comes_true(lambda: viewer._desk.look.follow == "link6")
    place = centers(chain, 0.0)[5]
    for t in (0.0, 0.6, 1.2):
        picture = at(tab, viewer, t)
        assert is_body(picture, seen_at(viewer, picture.shape, place))


@pytest.mark.parametrize(
    ("name", "t_end"), [("bicycle", 1.5), ("four-bar", 1.0), ("white arm", 1.0), ("black arm", 1.0)]
)
def test_the_page_frames_its_subject_with_contrast(browser: Any, name: str, t_end: float) -> None:
    """The box of where it goes takes 20 to 70 % of the scene, about the middle, also of what travels; light 3 : 1 as WCAG has it, on light
    pages and on dark ones."""
    shades = {"white arm": (0.95, 0.95, 0.95), "black arm": (0.05, 0.05, 0.05)}
    system = arm(shades[name]) if name in shades else nx.load(name)
    result = nx.simulate(system, t_end=t_end, output_every=5)
    with on_a_free_port(result) as viewer:
        viewer.pause()
        viewer.look(Look(frozenset({"shapes"}), follow=viewer._desk.look.follow))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(
                lambda: viewer.watched and not viewer._desk.cameras.new
            )  # the camera has stepped back where it must
            tab.page.evaluate(
                "document.querySelectorAll('.mantine-Notification-root, #nexdyn-cube').forEach(x => x.style.visibility = 'hidden')"
            )
            boxes = []
            for dark, t in [(False, 0.0), (False, t_end / 2), (False, t_end), (True, 0.0), (True, t_end)]:
                if dark != viewer._desk.dark:
                    viewer.dark(dark)
                    tab.until("document.documentElement.dataset.mantineColorScheme === 'dark'")
                picture = at(tab, viewer, t)
                background = np.median(picture.reshape(-1, 3), axis=0)
                subject = np.abs(picture - background).max(axis=-1) > 25
                places, size = np.argwhere(subject), np.array(subject.shape)
                boxes += [places.min(axis=0) / size, places.max(axis=0) / size]
                lights = [linear(color / 255.0) @ (0.2126, 0.7152, 0.0722) for color in (picture[subject], background)]
                one, other = (float(np.median(light)) for light in lights)
                assert (max(one, other) + 0.05) / (min(one, other) + 0.05) >= 3.0
            low, high = np.min(boxes, axis=0), np.max(boxes, axis=0)
            assert 0.2 < (high - low).prod() < 0.7 and np.abs((low + high) / 2 - 0.5).max() < 0.2
            assert tab.faults == []


def arm(color: tuple[float, float, float]) -> nx.System:
    """A heavy foot on the ground and an arm, as white as robots are, or as black."""
    system = nx.System("arm", gravity=(0, 0, -9.81))
    foot = system.add_body(
        "foot", mass=9.0, inertia=(1, 1, 1), position=(0, 0, 0.2), shapes=nx.Cylinder(0.2, 0.4, color=color)
    )
    arm = system.add_body(
        "arm", mass=1.0, inertia=(1, 1, 1), position=(0.4, 0, 0.45), shapes=nx.Box((0.8, 0.1, 0.1), color=color)
    )
    system.add_joint(nx.Fixed("mount", system.ground, foot))
    system.add_joint(nx.Revolute("elbow", foot, arm, at=(0, 0, 0.45), axis=(0, 1, 0), damping=5.0))
    return system


# --- layers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "color"),
    [
        ("reaction forces", (214, 39, 40)),
        ("joint axes", (30, 150, 70)),
        ("trails", (240, 140, 20)),
        ("body frames", None),
        ("inertia", (40, 90, 200)),
    ],
)
def test_a_layer_appears_when_its_box_is_ticked(
    tab: Watched, viewer: Viewer, layer: str, color: tuple[int, int, int] | None
) -> None:
    without = at(tab, viewer, 1.0)

    def new_pixels() -> int:
        """Pixels that changed, of the layer's hue if it has one."""
        picture = tab.pixels()
        changed = np.abs(picture - without).max(axis=-1) > 40
        if color is not None:
            changed &= (np.ptp(picture, axis=-1) > COLORED) & (picture.argmax(axis=-1) == np.argmax(color))
        return int(changed.sum())

    tab.page.get_by_label(layer, exact=True).click()
    tab.comes_true(lambda: layer in viewer._desk.look.layers and new_pixels() > 30)
    shown = new_pixels()
    tab.page.get_by_label(layer, exact=True).click()
    tab.comes_true(lambda: layer not in viewer._desk.look.layers and new_pixels() < 0.2 * shown)


def test_contact_forces_are_arrows_on_the_page(browser: Any) -> None:
    result = nx.simulate(resting_ball(), 1.0, nx.RungeKutta4(1e-4), output_every=100)
    with on_a_free_port(result) as viewer:
        viewer.pause()
        viewer.look(Look(PLAIN))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            without = at(tab, viewer, 1.0)
            viewer.look(Look(PLAIN | {"contact forces"}))

            def magenta(picture: np.ndarray) -> int:
                red, green, blue = np.moveaxis(picture, -1, 0)
                return int(((red > 120) & (red - green > 70) & (blue - green > 20)).sum())

            shown = tab.settled(viewer.server)
            assert magenta(without) == 0 and magenta(shown) > 40
            assert magenta(at(tab, viewer, 0.0)) == 0  # it has not come down yet
            assert tab.faults == []


@pytest.mark.parametrize("large", [False, True], ids=["weave of the bicycle", "second mode of 120 rods"])
def test_a_mode_is_seen_to_move_and_to_come_back(browser: Any, large: bool) -> None:
    """Swung without its decay, it stands after a period where it stood."""
    if large:
        modes = nx.linearize(rope(120), modes=2)
        mode, body, far = 1, "rod119", 0.5
    else:
        modes = nx.linearize(nx.load("bicycle"))
        mode = next(k for k, mode in enumerate(modes.modes) if mode.eigenvalue.imag > 1.0)
        body, far = "frame", 0.05
    played = modes.motion(mode, amplitude=0.3, periods=2.0, samples=40)
    period = float(played.t.values[-1]) / 2.0
    away = played.position(body).values - played.position(body).values[0]
    with on_a_free_port(played) as viewer:
        viewer.pause()
        viewer.look(Look(PLAIN))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            first, quarter, half = (at(tab, viewer, part * period) for part in (0.0, 0.25, 0.5))
            for one, other in ((first, quarter), (quarter, half), (first, half)):
                assert int((np.abs(one.astype(int) - other).max(axis=-1) > 60).sum()) > 50
            assert np.linalg.norm(away, axis=1).max() > far * 0.1
            if large:
                again = at(tab, viewer, period)
                assert int((np.abs(first.astype(int) - again).max(axis=-1) > 60).sum()) < 10
            tab.page.get_by_role("button", name="Play", exact=True).click()
            comes_true(lambda: viewer.playing and viewer.t > period)
            assert tab.faults == []


def rope(n: int) -> nx.System:
    """10 m of n thin rods, 1 kg/m, hung on one end."""
    system = nx.System("rope", gravity=(0, -9.81, 0))
    parent, l = system.ground, 10.0 / n
    for i in range(n):
        rod = system.add_body(f"rod{i}", mass=l, inertia=(l**3 / 12,) * 3, position=(0, -(i + 0.5) * l, 0))
        system.add_joint(nx.Revolute(f"pin{i}", parent, rod, at=(0, -i * l, 0), axis=(0, 0, 1)))
        parent = rod
    return system


# --- plots ----------------------------------------------------------------------------------------------------------


def test_plots_are_drawn_with_axes_and_a_cursor_at_the_shown_time(tab: Watched, viewer: Viewer) -> None:
    for t in (0.5, 2.5):
        viewer.seek(t)
        tab.comes_true(lambda t=t: np.allclose(shown_times(tab), t, atol=1e-9))
    axes = """() => Object.values(window.__viserTestpoints.uplots).every(({chart}) =>
        chart.axes.every(a => (a._splits ?? []).length > 2) && chart.bbox.width > 100)"""
    tab.comes_true(lambda: tab.page.evaluate(axes))
    labels = "Object.values(window.__viserTestpoints.uplots).map(u => u.chart.axes[0].label)"
    assert set(tab.page.evaluate(labels)) == {"time [s]"}
    inked = """() => [...document.querySelectorAll(".uplot canvas")].map(c => { const d = c.getContext("2d")
        .getImageData(0, 0, c.width, c.height).data; const colors = new Set();
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) colors.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return colors.size; })"""
    tab.comes_true(lambda: min(tab.page.evaluate(inked)) > 3)  # curves in several colours


def test_another_plot_can_be_chosen(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    last = """() => { const all = Object.values(window.__viserTestpoints.uplots).map(u => u.chart);
        return all.map(c => [Math.max(...c.data[1]), c.series.length]); }"""
    tab.page.get_by_label("plot", exact=True).click()
    tab.page.get_by_role("option", name="joint_velocity", exact=True).click()
    tab.page.get_by_label("of", exact=True).click()
    tab.page.get_by_role("option", name="hinge3", exact=True).click()
    expected = float(chain.joint_velocity("hinge3").max())
    tab.comes_true(lambda: any(np.isclose(y, expected, rtol=1e-6) for y, n in tab.page.evaluate(last) if n == 3))


# --- the window -----------------------------------------------------------------------------------------------------


PANELS = "m => m === document.querySelectorAll('[data-dock-minimize-all][aria-label=\"Expand column\"]').length"
"""So many of the page's two panels have come and are minimised."""


@pytest.mark.parametrize(("width", "minimised"), [(1280, 0), (1000, 1), (600, 2)])
def test_a_small_window_leaves_the_scene_most_of_its_room(
    browser: Any, viewer: Viewer, width: int, minimised: int
) -> None:
    open_ = "m => m === document.querySelectorAll('[data-dock-region-collapse]').length"
    with opened(browser, viewer.address, size=(width, 700)) as tab:
        tab.until(PANELS, minimised)
        tab.until(open_, 2 - minimised)  # before the panels have come, the scene has all of the window
        tab.comes_true(lambda: 0.45 * width < tab.canvas_box()["width"] < width)
        tab.page.wait_for_timeout(500)
        tab.until(PANELS, minimised)
        assert 0.45 * width < tab.canvas_box()["width"] < width and tab.faults == []
        assert tab.page.title() == "hinge chain · NexDyn"


def test_the_camera_steps_back_where_the_canvas_becomes_narrow_and_comes_back(browser: Any, chain: nx.Result) -> None:
    """Both panels stay open in a window that becomes small; a camera that was moved stays."""
    with on_a_free_port(chain) as viewer, opened(browser, viewer.address, size=(1400, 640)) as tab:
        viewer.pause()
        viewer.look(Look(PLAIN))
        tab.comes_true(lambda: viewer.watched and not viewer._desk.cameras.new)
        (client,) = viewer.server.get_clients().values()
        stage = viewer._desk.stage

        def framed() -> bool:
            seen = stage.camera(max(0.2, client.camera.aspect))
            return bool(np.allclose(client.camera.position, seen.eye, atol=0.02 * stage.size))

        for width, narrow in ((900, True), (1400, False)):
            tab.page.set_viewport_size({"width": width, "height": 640})
            tab.comes_true(lambda narrow=narrow: (client.camera.aspect < 0.5) == narrow and framed())
        assert np.allclose(client.camera.position, stage.eye, atol=0.02 * stage.size)
        tab.page.mouse.move(*middle(tab))
        tab.comes_true(lambda: tab.page.mouse.wheel(0, -200) or not framed())
        tab.settled(viewer.server)
        moved = np.array(client.camera.position)
        tab.page.set_viewport_size({"width": 900, "height": 640})
        tab.comes_true(lambda: client.camera.aspect < 0.5)
        tab.settled(viewer.server)
        assert np.allclose(client.camera.position, moved, atol=0.02 * stage.size)
        assert tab.faults == []


def test_a_phone_has_the_scene_as_wide_as_its_window(browser: Any, viewer: Viewer) -> None:
    with opened(browser, viewer.address, size=(400, 700)) as tab:  # the panels lie in a sheet over it, which folds
        tab.comes_true(lambda: tab.canvas_box()["width"] == 400)
        sheet = """[...document.querySelectorAll(".mantine-Paper-root")]
            .find(x => x.style.position === "fixed" && x.style.bottom === "0px")?.getBoundingClientRect().height"""
        tab.until(f"({sheet}) < 100")  # folded at first, so that the scene is seen
        tab.page.get_by_text("hinge chain", exact=True).first.click()
        tab.until(f"({sheet}) > 300")
        tab.page.get_by_role("button", name="Play", exact=True).wait_for()
        assert tab.faults == []


# --- what survives --------------------------------------------------------------------------------------------------


def test_two_tabs_show_the_same_and_one_may_close(browser: Any, chain: nx.Result) -> None:
    with on_a_free_port(chain) as viewer:
        viewer.look(Look(PLAIN))
        viewer.pause()
        with opened(browser, viewer.address) as first:
            with opened(browser, viewer.address) as second:
                second.comes_true(lambda: len(viewer.server.get_clients()) == 2)
                second.page.get_by_role("button", name="Play", exact=True).click()
                first.page.get_by_role("button", name="Pause", exact=True).wait_for()
                assert viewer.playing and second.faults == []
            first.comes_true(lambda: len(viewer.server.get_clients()) == 1)
            t = viewer.t
            first.comes_true(lambda: viewer.t != t)
            assert first.faults == []
        comes_true(lambda: not viewer.watched)
        viewer.seek(1.0)
        with opened(browser, viewer.address) as again:  # a tab that comes later sees the present state
            again.comes_true(lambda: viewer.watched)
            again.comes_true(lambda: shows(again, viewer, centers(chain, 1.0)[3]))


def test_a_lost_connection_comes_back(browser: Any, chain: nx.Result) -> None:
    with on_a_free_port(chain) as viewer:
        viewer.look(Look(PLAIN))
        viewer.pause()
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            before = set(viewer.server.get_clients())
            viewer.server._websock_server.disconnect_all_clients()
            tab.comes_true(lambda: bool(viewer.server.get_clients().keys() - before))
            viewer.seek(1.0)
            tab.comes_true(lambda: shows(tab, viewer, centers(chain, 1.0)[3]))


@contextmanager
def forwarded(port: int) -> Iterator[int]:
    """Another port that leads to `port`, as `ssh -L` makes one."""
    ends: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                ends.append(listener.accept()[0])
                ends.append(socket.create_connection((LOOPBACK, port)))
                near, far = ends[-2:]
                for pair in ((near, far), (far, near)):
                    threads.append(threading.Thread(target=pump, args=pair))
                    threads[-1].start()

    listener = socket.create_server((LOOPBACK, 0))
    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # ends accept
        listener.close()
        accepting.join()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for end in ends:
            end.close()


def test_the_page_works_through_a_forwarded_port(browser: Any, chain: nx.Result) -> None:
    with on_a_free_port(chain) as viewer, forwarded(viewer.server.get_port()) as port:
        viewer.look(Look(PLAIN))
        viewer.seek(1.0)
        with opened(browser, viewer.address.replace(str(viewer.server.get_port()), str(port))) as tab:
            tab.comes_true(lambda: viewer.watched)
            tab.comes_true(lambda: shows(tab, viewer, centers(chain, 1.0)[3]))
            assert all(f":{port}" in url for url in tab.requests if url.startswith(("http", "ws"))) and tab.faults == []


@pytest.mark.parametrize("how", ["escape", "button"])
def test_escape_and_the_button_end_the_viewer(browser: Any, how: str) -> None:
    with on_a_free_port(nx.load("double-pendulum")) as viewer:
        viewer.look(Look(PLAIN))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            tab.page.get_by_role("button", name="End", exact=True).wait_for()
            tab.caught_up(viewer.server)
            if how == "escape":
                tab.page.mouse.click(*middle(tab))
                tab.page.keyboard.press("Escape")
            else:
                tab.page.get_by_role("button", name="End", exact=True).click()
            tab.comes_true(lambda: viewer.ended)
            viewer.wait()  # returns at once
            assert tab.faults == [] or all("WebSocket" in fault for fault in tab.faults)


# --- a run that goes on, a pose -------------------------------------------------------------------------------------


def test_a_run_is_followed_and_then_played(browser: Any) -> None:
    simulation = nx.Simulation(nx.load("hinge-chain"), nx.RungeKutta4(1e-6), output_every=1000)
    with on_a_free_port(simulation) as viewer:
        viewer.look(Look(PLAIN))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            first = tab.settled(viewer.server)
            done: list[nx.Result] = []
            follow = viewer.follow(simulation)
            stop = threading.Event()

            def progress(t: float, t_end: float) -> None:
                follow(t, t_end)
                if stop.is_set():
                    raise KeyboardInterrupt

            def run() -> None:
                with pytest.warns(nx.NexDynWarning, match="interrupted"):
                    done.append(simulation.run(1000.0, progress=progress))

            thread = threading.Thread(target=run)
            thread.start()
            try:
                tab.page.get_by_text("running", exact=True).first.wait_for()
                tab.comes_true(lambda: viewer.t > 0.3)
                tab.comes_true(lambda: np.abs(tab.pixels() - first).max() > 60)
            finally:
                stop.set()
                thread.join()
            viewer.show(done[0])
            tab.page.get_by_text("running", exact=True).first.wait_for(state="hidden")
            tab.comes_true(lambda: viewer.playing)
            assert tab.faults == []


def test_a_pose_has_a_slider_for_every_joint(browser: Any) -> None:
    system = nx.load("hinge-chain")
    with on_a_free_port(system) as viewer:
        viewer.look(Look(PLAIN))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            first = tab.settled(viewer.server)
            tab.page.locator('[role=slider][aria-valuenow^="1.57"]').first.press(
                "Home"
            )  # hinge1, to its least angle, −π
            tab.comes_true(lambda: viewer._desk.frame is not None)
            assert viewer._desk.frame is not None
            np.testing.assert_allclose(viewer._desk.frame.position[0], (0, 0, 0.2), atol=1e-3)
            assert np.abs(tab.settled(viewer.server) - first).max() > 60
            assert tab.faults == []


# --- recordings -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(chain: nx.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "chain of six.html"
    record(chain, path, layers=PLAIN)
    return path


@pytest.fixture(scope="module")
def player(browser: Any, recorded: Path) -> Iterator[Watched]:
    with opened(browser, recorded.as_uri(), offline=True) as found:
        found.until(
            "document.querySelector('#root #nexdyn-slider') && document.querySelectorAll('.nexdyn-plot').length > 2"
        )
        yield found
        assert found.faults == []
        assert [url for url in found.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def player_time(player: Watched) -> float:
    return float(player.page.evaluate("document.querySelector('#nexdyn-slider').value"))


def cursors(player: Watched) -> list[float]:
    return list(player.page.evaluate("[...document.querySelectorAll('.nexdyn-plot')].map(p => p.layout.shapes[0].x0)"))


def stopped_at(player: Watched, t: float) -> np.ndarray:
    """Jump to the sample at t by a click into the first plot, which stops."""
    box = player.page.evaluate(
        """t => { const p = document.querySelector(".nexdyn-plot"), b = p.getBoundingClientRect(), l = p._fullLayout;
            return [b.x + l._size.l + l.xaxis.l2p(t), b.y + l._size.t + l._size.h / 2]; }""",
        t,
    )
    pointed_at = "() => document.querySelector('.nexdyn-plot')._hoverdata?.[0]?.x ?? NaN"
    player.page.mouse.move(*box)
    player.comes_true(lambda: abs(player.page.evaluate(pointed_at) - t) < 0.05)
    reached = float(player.page.evaluate(pointed_at))
    stands = ("t => Math.abs(document.querySelector('#nexdyn-slider').value - t) < 0.034 "
              "&& window.__viserMutable.messageQueue.length === 0")  # fmt: skip

    def clicked() -> bool:  # where the plot is drawn anew between press and release, it takes the click for none
        player.page.mouse.click(*box)
        player.page.wait_for_timeout(1000)
        return bool(player.page.evaluate(stands, reached))

    player.comes_true(clicked)
    picture = player.settled()
    assert player_time(player) == pytest.approx(reached, abs=0.034)  # it stands at the recorded moment before it
    return picture


def test_a_recording_plays_from_a_file_without_network(player: Watched) -> None:
    t, first = player_time(player), player.pixels()
    player.comes_true(lambda: player_time(player) != t and np.abs(player.pixels() - first).max() > 60)


def test_the_plots_of_a_recording_are_drawn_and_their_cursors_follow(player: Watched) -> None:
    drawn = "[...document.querySelectorAll('.nexdyn-plot')].map(p => p.querySelectorAll('.scatterlayer path.js-line').length)"
    player.comes_true(lambda: player.page.evaluate(drawn)[:2] == [3, 6])  # energies without the elastic one, and hinges
    for t in (1.0, 3.0):
        stopped_at(player, t)
        player.comes_true(lambda: np.allclose(cursors(player), player_time(player), atol=1e-3))


def test_the_bodies_of_a_recording_move(player: Watched) -> None:
    first, second = stopped_at(player, 0.5), stopped_at(player, 1.5)
    for picture, other in ((first, second), (second, first)):
        colored = np.ptp(picture, axis=-1) > COLORED
        assert colored.sum() > 300
        assert (np.ptp(other[colored], axis=-1) > COLORED).mean() < 0.5  # most of it is elsewhere then


def test_slider_drag_and_wheel_of_a_recording_act(player: Watched) -> None:
    first = stopped_at(player, 1.0)
    box = player.page.locator("#nexdyn-slider").bounding_box()
    player.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2)
    player.comes_true(lambda: abs(player_time(player) - 2.0) < 0.1)
    second = player.settled()
    assert np.abs(second - first).max() > 60
    x, y = middle(player)
    player.page.mouse.move(x, y)
    player.page.mouse.down()
    player.page.mouse.move(x + 100, y + 30, steps=6)
    player.page.mouse.up()
    player.comes_true(lambda: np.abs(player.pixels() - second).max() > 60)
    turned = player.settled()
    player.page.mouse.wheel(0, -400)
    player.comes_true(lambda: np.abs(player.pixels() - turned).max() > 60)


def test_a_recording_in_a_notebook_is_the_page_itself(browser: Any, chain: nx.Result, tmp_path: Path) -> None:
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><meta charset=utf-8>{record(chain, layers=PLAIN)._repr_html_()}", encoding="utf-8")
    context = browser.new_context(offline=True)
    context.set_default_timeout(LIMIT * 1e3)
    try:
        page = context.new_page()
        page.goto(cell.as_uri())
        frame = page.frame_locator("iframe")
        frame.locator("#nexdyn-slider").wait_for(state="attached")
        frame.locator(".nexdyn-plot").first.wait_for()
    finally:
        context.close()


def test_the_browser_of_these_tests_is_the_installed_one() -> None:
    assert PROGRAM is not None and Path(PROGRAM).exists()

"""What is shared of a motion: files that the page makes, the page of a recording, two browsers, a notebook's cell."""

from __future__ import annotations

import io
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (  # noqa: F401 (fixtures)
    LIMIT,
    PLAIN,
    Watched,
    at_rest,
    browser,
    card,
    centers,
    chain,
    comes_true,
    needs_chromium,
    numbers,
    opened,
    place_of,
    saved,
    tab,
    viewer,
)
from PIL import Image

import nexdyn as nx
from nexdyn.errors import InputError
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.stage import Look
from nexdyn.view.viewer import Viewer

pytestmark = [needs_chromium, pytest.mark.timeout(900)]


def seen_by(camera: Any, shape: tuple[int, ...], p: np.ndarray) -> tuple[int, int]:
    """Row and column of a picture of this shape that a browser's camera has of the point p (3,) [m]."""
    x, y, z = rotation_matrix(np.array(camera.wxyz, dtype=float)).T @ (p - np.array(camera.position))
    f = shape[0] / 2 / np.tan(camera.fov / 2)
    return round(shape[0] / 2 + f * y / z), round(shape[1] / 2 + f * x / z)


# --- files from the page --------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # imageio_ffmpeg's reader leaves pipes open
def test_films_and_pictures_are_seen_through_the_camera_of_the_browser_that_asks(
    tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    (client,) = viewer.server.get_clients().values()
    tab.page.keyboard.press("2")
    comes_true(lambda: client.camera.position[0] > 3.0)
    tab.page.mouse.move(*place_of(tab, viewer, centers(chain, 0.0)[2]))
    tab.page.mouse.wheel(0, -150)
    tab.settled(viewer.server)
    camera = client.camera
    viewer._desk.time.speed = 8.0
    try:
        viewer.seek(1.0)
        name, content = saved(tab, "Picture")
        picture = np.asarray(Image.open(io.BytesIO(content))).astype(int)
        box = tab.canvas_box()
        assert (
            name == "hinge-chain.png" and np.abs(np.array(picture.shape[:2]) - (box["height"], box["width"])).max() <= 2
        )
        films = {"GIF": gif_frames, "MP4": mp4_frames}
        frames = {kind: films[kind](*saved(tab, kind)) for kind in films}
        assert (
            len(frames["GIF"]) == 1 + 10 and len(frames["MP4"]) == 1 + 15
        )  # 4 s, eight times as fast, at 20 and 30 a second
        for shown, t in ((picture, 1.0), (frames["GIF"][0], 0.0), (frames["GIF"][10], 4.0), (frames["MP4"][15], 4.0)):
            for p in centers(chain, t)[1:]:
                assert shown[seen_by(camera, shown.shape, p)].min() < 200, (t, shown.shape)  # the floor is lighter
    finally:
        viewer._desk.time.speed = 1.0
    tab.comes_true(lambda: notes(tab).count() == 0)


def notes(tab: Watched) -> Any:
    """What a page is told of its files."""
    return tab.page.locator(".mantine-Notification-root").filter(has_text="hinge-chain")


def gif_frames(name: str, content: bytes) -> list[np.ndarray]:
    assert name == "hinge-chain.gif"
    film = Image.open(io.BytesIO(content))
    found = []
    for k in range(getattr(film, "n_frames", 1)):
        film.seek(k)
        found.append(np.asarray(film.convert("RGB")).astype(int))
    return found


def mp4_frames(name: str, content: bytes) -> list[np.ndarray]:
    import imageio_ffmpeg

    assert name == "hinge-chain.mp4"
    path = Path.cwd() / name
    path.write_bytes(content)
    stream = imageio_ffmpeg.read_frames(str(path))
    width, height = next(stream)["size"]
    return [np.frombuffer(frame, dtype=np.uint8).reshape(height, width, 3).astype(int) for frame in stream]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_ffmpeg_the_page_names_the_extra_and_goes_on(
    tab: Watched, viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    tab.page.get_by_role("button", name="MP4", exact=True).click()
    note = notes(tab).filter(has_text="pip install 'nexdyn[video]'")
    note.wait_for()
    note.get_by_role("button").click()
    note.wait_for(state="hidden")
    assert saved(tab, "Picture")[1].startswith(b"\x89PNG") and viewer._desk.controls.sharing.making == set()


def test_a_tab_that_is_closed_ends_its_film_and_disturbs_nobody(browser: Any, tab: Watched, viewer: Viewer) -> None:
    viewer._desk.time.speed = 0.05  # 2,400 pictures
    tab.comes_true(lambda: notes(tab).count() == 0)  # those of before have gone
    try:
        with opened(browser, viewer.address) as other:
            comes_true(lambda: len(viewer.server.get_clients()) == 2)
            other.page.get_by_role("button", name="MP4", exact=True).click()
            note = notes(other)
            note.filter(has_text="is being made: ").wait_for()
            assert notes(tab).count() == 0
            other.page.get_by_role("button", name="GIF", exact=True).click()
            note.filter(has_text="another file is being made").wait_for()
            viewer.seek(0.7)
            assert viewer._desk.controls.sharing.making != set()
        comes_true(lambda: viewer._desk.controls.sharing.making == set())
    finally:
        viewer._desk.time.speed = 1.0
    assert saved(tab, "Picture")[0] == "hinge-chain.png" and not viewer.ended


def test_two_browsers_see_the_same_time_and_selection(
    browser: Any, tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    with opened(browser, viewer.address) as other:
        comes_true(lambda: len(viewer.server.get_clients()) == 2)
        handle = other.page.get_by_role("slider").first
        handle.focus()
        other.page.keyboard.press("End")
        comes_true(lambda: viewer.t == pytest.approx(4.0))
        other.page.get_by_role("tab", name="Model").click()
        other.page.get_by_role("treeitem", name="link3", exact=True).click()
        comes_true(lambda: viewer.selected == "body:link3")
        clock = "window.__viserMutable.nodePoseData['/clock'].position[0]"
        for one in (tab, other):
            one.comes_true(lambda one=one: one.page.evaluate(clock) == pytest.approx(4.0) and "position" in card(one))
            np.testing.assert_allclose(numbers(card(one)["position"]), centers(chain, 4.0)[2], rtol=6e-4, atol=1e-9)
        assert other.faults == []


def test_the_page_gives_its_recording_as_it_is_seen(
    browser: Any, tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    viewer.dark(True)
    viewer.look(Look(PLAIN | {"joint axes"}, opacity=0.5))
    viewer.aim("top")
    tab.settled(viewer.server)
    try:
        name, content = saved(tab, "HTML")
    finally:
        viewer.dark(False)
    assert name == "hinge-chain.html"
    Path(name).write_bytes(content)
    with opened(browser, Path(name).absolute().as_uri(), offline=True) as shared:
        shared.until(
            "document.querySelector('#root #nexdyn-slider') && document.documentElement.dataset.mantineColorScheme === 'dark'"
        )
        shared.page.get_by_role("tab", name="Show").click()
        boxes = [
            shared.page.get_by_label(layer, exact=True).is_checked()
            for layer in ("shapes", "joint axes", "trails", "dark")
        ]
        assert boxes == [True, True, False, True] and float(shared.page.get_by_label("opacity").input_value()) == 0.5
        ahead = """() => { const m = window.__viserMutable, t = m.camera.position.clone(), p = t.clone(); m.cameraControl.getTarget(t);
            return t.sub(p).normalize().dot(m.camera.up); }"""
        assert shared.page.evaluate(ahead) < -0.999  # from above
        place = "window.__viserMutable.camera.position.toArray()"
        first = np.array(shared.page.evaluate(place))
        shared.page.evaluate("document.activeElement?.blur()")
        shared.page.keyboard.press("1")
        shared.comes_true(lambda: shared.page.evaluate(ahead) > -0.1)
        shared.page.get_by_role("button", name="Reset", exact=True).click()
        shared.comes_true(lambda: bool(np.allclose(shared.page.evaluate(place), first, rtol=1e-3, atol=1e-3)))
        assert shared.page.evaluate(ahead) < -0.999
        assert shared.faults == []


# --- in a notebook --------------------------------------------------------------------------------------------------


def test_a_cell_of_a_notebook_shows_the_page_and_is_left_at_once(
    browser: Any, chain: nx.Result, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setenv("SSH_CONNECTION", "1.2.3.4 1 5.6.7.8 22")
    with nx.view(chain, port=free_port(LOOPBACK, 18750)) as viewer:  # it does not wait
        assert capsys.readouterr().out == "" and not viewer.ended
        cell = viewer._repr_html_()
        assert f"ssh -L {viewer.server.get_port()}:127.0.0.1:" in cell and viewer.address in cell

        class Notebook(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(f"<!doctype html><title>notebook</title>{cell}".encode() if self.path == "/" else b"")

            def log_message(self, *_: Any) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Notebook)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context()
        try:
            notebook = context.new_page()
            notebook.set_default_timeout(LIMIT * 1e3)
            notebook.goto(f"http://localhost:{server.server_port}/")
            notebook.frame_locator("iframe").get_by_role("button", name="Pause", exact=True).click()
            comes_true(lambda: viewer.watched and not viewer.playing)
        finally:
            context.close()
            server.shutdown()
            server.server_close()


def test_a_camera_that_looks_nowhere_is_refused() -> None:
    with pytest.raises(InputError, match="eye and target are given together"):
        nx.Shot(eye=(1.0, 0.0, 0.0))
    with pytest.raises(InputError, match="the camera looks from one point at another"):
        nx.Shot(eye=(1.0, 0.0, 0.0), target=(1.0, 0.0, 0.0))
    with pytest.raises(InputError, match="an angle above 0"):
        nx.Shot(field=4.0)

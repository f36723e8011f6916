"""How many moments a second the viewer can put on the page, and what they cost, with a browser's end that takes all of it.

The mechanism is a chain of capsules in a batch, moved by hand: what is measured is showing, not simulating. The other
end is a process of its own that speaks viser's protocol and counts what arrives.

Pictures are counted in a headless Chromium, which draws without a GPU: those animation frames whose picture is of another moment than
that of the frame before, in a window of 1,280 × 720 of which the scene has what the panels leave. How long a command takes until the first
picture of its bodies is there is measured from its start, with its kernels on the disk and the browser open.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, quartiles
from nexdyn.view.motion import Motion
from nexdyn.view.stage import LAYERS, Look
from nexdyn.view.viewer import RATE, Viewer

CLIENT = """
import sys, time, msgspec, viser, websockets.sync.client
from urllib.parse import urlsplit
from websockets.typing import Subprotocol
address, seconds = sys.argv[1], float(sys.argv[2])
place = urlsplit(address)
with websockets.sync.client.connect(
    f"ws://{place.netloc}{place.path}", origin=f"http://{place.netloc}", max_size=None, compression=None,
    subprotocols=[Subprotocol("viser-v" + viser.__version__)],
) as link:
    camera = {"type": "ViewerCameraMessage", "wxyz": [1,0,0,0], "position": [1,1,1], "fov": 0.8, "near": 0.01,
              "far": 100.0, "image_height": 600, "image_width": 800, "look_at": [0,0,0], "up_direction": [0,0,1]}
    link.send(msgspec.msgpack.encode(camera))
    link.recv(timeout=60.0)
    print("connected", flush=True)
    size, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            size += len(link.recv(timeout=0.5))
        except TimeoutError:
            pass
print(size, flush=True)
"""
"""The other end: passes the gate as a browser does (gate.py), says so after the first message, and counts the bytes of the rest."""


def moving(bodies: int, samples: int = 200, shape: Any = None) -> Motion:
    """A chain of capsules, or of another shape, that winds."""
    system = nx.System("chain of capsules")
    for i in range(bodies):
        system.add_body(f"b{i}", mass=1.0, inertia=(1, 1, 1), shapes=[shape or nx.Capsule(0.05, 0.4)])
    t = np.linspace(0.0, 10.0, samples)
    phase = t[:, None] + 0.05 * np.arange(bodies)
    p = np.stack([0.3 * np.arange(bodies) + 0 * phase, np.sin(phase), np.cos(phase)], axis=-1)
    q = np.stack([np.cos(phase / 2), np.sin(phase / 2), 0 * phase, 0 * phase], axis=-1)
    return Motion(system, t, list(system.bodies), p.astype(np.float32), q.astype(np.float32))


WINDOW = (1280, 720)
TRIANGLES = 100
"""Of a body, at most, of what is drawn in the browser."""
BROWSER = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DRAWN = """seconds => new Promise(done => {
  const moments = [], began = performance.now(), last = { frame: -1, t: NaN };
  const frame = now => {
    const drawn = window.__viserTestpoints.rendererInfo.render.frame, t = window.__viserMutable.nodePoseData["/clock"].position[0];
    if (drawn !== last.frame && t !== last.t) { moments.push(now); last.frame = drawn; last.t = t; }
    if (now - began < 1000 * seconds) requestAnimationFrame(frame); else done(moments.length / (now - began) * 1000);
  };
  requestAnimationFrame(frame);
})"""
THERE = """() => window.__viserTestpoints?.rendererInfo.render.frame > 0 && window.__viserTestpoints.rendererInfo.render.triangles > 0
  && ["/motion/batch0", "/motion/body0"].some(name => window.__viserMutable?.nodeRefFromName?.[name])"""


def run(effort: Effort) -> Report:
    report = Report("viewer", f"moments on the page; played at {RATE:g} a second to one browser's end")
    for bodies in (10,) if effort.smoke else (100, 1000, 5000):
        measure(report, bodies, effort)
    report.notes.append("CPU: of the whole process, so with what viser's thread packs and sends.")
    browse(report, effort)
    return report


def browse(report: Report, effort: Effort) -> None:
    """What a browser draws, where there is one."""
    program = next((found for name in BROWSER if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        program = None
    if program is None:
        report.notes.append("Pictures in a browser: not measured, no Chromium or no playwright is installed.")
        return
    with sync_playwright() as playwright:
        flags = ["--enable-unsafe-swiftshader", "--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        try:
            for bodies in (10,) if effort.smoke else (100, 1000):
                drawn(report, browser, bodies, effort)
            first_picture(report, browser)
        finally:
            browser.close()


def drawn(report: Report, browser: Any, bodies: int, effort: Effort) -> None:
    with Viewer(moving(bodies, shape=lens())) as viewer:
        most = max(len(piece.surface.faces) for piece in viewer._stage.drawn)
        assert most <= TRIANGLES
        viewer.play()
        page = browser.new_page(viewport={"width": WINDOW[0], "height": WINDOW[1]})
        page.set_default_timeout(120e3)
        page.goto(viewer.address)
        page.wait_for_function(THERE)
        page.wait_for_timeout(1e3 if effort.smoke else 8e3)  # the panels are laid out
        rate = page.evaluate(DRAWN, 1.0 if effort.smoke else 10.0)
        page.close()
    what = f"{bodies:,} bodies of {most} triangles: pictures a second, without a GPU"
    report.rows.append(Row(what, "1/s", rate, target="≥ 10", met=None if effort.smoke else rate >= 10.0))


def lens(around: int = 24) -> nx.Hull:
    """A hull of 96 triangles: two rings and two tips."""
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    ring = np.stack([0.06 * np.cos(angle), 0.06 * np.sin(angle), 0.0 * angle], axis=1)
    tips = np.array([(0.0, 0.0, -0.25), (0.0, 0.0, 0.25)])
    rise = np.array((0.0, 0.0, 0.2))
    return nx.Hull(np.concatenate([ring - rise, ring + rise, tips]))


def first_picture(report: Report, browser: Any) -> None:
    took = []
    for _ in range(3):  # the first of them may compile
        began = time.perf_counter()
        command = [sys.executable, "-m", "nexdyn", "view", "hinge-chain", "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert process.stdout is not None
            address = next(word for word in process.stdout.readline().split() if word.startswith("http"))
            page = browser.new_page(viewport={"width": WINDOW[0], "height": WINDOW[1]})
            page.set_default_timeout(120e3)
            page.goto(address)
            page.wait_for_function(THERE)
            took.append(time.perf_counter() - began)
            page.close()
        finally:
            process.kill()
            process.wait()
    best = min(took[1:])
    report.rows.append(
        Row("nexdyn view hinge-chain: until the first picture", "s", best, target="≤ 3", met=best <= 3.0)
    )


def measure(report: Report, bodies: int, effort: Effort) -> None:
    seconds = 1.0 if effort.smoke else 8.0
    with Viewer(moving(bodies)) as viewer:
        client = subprocess.Popen(
            [sys.executable, "-c", CLIENT, viewer.address, str(seconds + 2.0)], stdout=subprocess.PIPE, text=True
        )
        assert client.stdout is not None
        if client.stdout.readline() != "connected\n":
            raise RuntimeError("the page's other end was refused; what it says is above")
        time.sleep(1.0)
        shown = count_shown(viewer)
        cpu, began = time.process_time(), time.perf_counter()
        before = len(shown)
        time.sleep(seconds)
        rate = (len(shown) - before) / (time.perf_counter() - began)
        cost = (time.process_time() - cpu) / max(1, len(shown) - before) * 1e3
        viewer.pause()
        times = show_times(viewer, 20 if effort.smoke else 200)
        everything = Look(frozenset(LAYERS))
        viewer.look(everything)
        all_layers = show_times(viewer, 20 if effort.smoke else 100)
        size = int(client.communicate()[0] or 0)
    if rate == 0.0 or size == 0:
        raise RuntimeError(f"{bodies:,} bodies: {rate:g} moments a second were sent, and {size} bytes arrived")
    goal = 0.95 * RATE
    report.rows.append(
        Row(f"{bodies:,} bodies: moments a second", "1/s", rate, target=f"≥ {goal:.1f}", met=rate >= goal)
    )
    report.rows.append(Row(f"{bodies:,} bodies: CPU a moment, sending included", "ms", cost))
    report.rows.append(
        Row(f"{bodies:,} bodies: one moment put", "ms", statistics.median(times), spread=quartiles(times))
    )
    report.rows.append(
        Row(
            f"{bodies:,} bodies: the same with every layer",
            "ms",
            statistics.median(all_layers),
            spread=quartiles(all_layers),
        )
    )
    report.notes.append(f"{bodies:,} bodies: the other end took {size / 2**20:.1f} MiB.")


def count_shown(viewer: Viewer) -> list[float]:
    """The times that are shown from now on, as they are."""
    shown: list[float] = []
    show = viewer._stage.show

    def counted(t: float, *rest: object) -> None:
        show(t, *rest)
        shown.append(t)

    viewer._stage.show = counted  # type: ignore[method-assign]
    return shown


def show_times(viewer: Viewer, count: int) -> list[float]:
    """Milliseconds that it takes to put a moment."""
    times = []
    for t in np.linspace(0.0, 9.0, count):
        began = time.perf_counter()
        viewer._stage.show(float(t))
        times.append((time.perf_counter() - began) * 1e3)
        time.sleep(0.01)
    return times

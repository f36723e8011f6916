"""How many moments a second the viewer can put on the page, and what they cost, with a browser's end that takes all of it.

The mechanism is a chain of capsules in a batch, moved by hand: what is measured is showing, not simulating. The other
end is a process of its own that speaks viser's protocol and counts what arrives.

Pictures are counted in a headless Chromium, which draws without a GPU where it finds none: those animation frames whose picture is of
another moment than that of the frame before, in a window of 1,280 × 720, with the panels open, which leave the scene about half of it,
and minimised; without a GPU, they are counted once more with calls that draw left out, which is what stays for the processor where a GPU
draws. The server sends up to 60 moments a second to a browser with a GPU, and 30 to others (pace.py). How long a command takes
until the first picture of its bodies is there is measured from its start, with its kernels on the disk and the browser open; and how
long it takes from a save of a file to the page that shows it.
"""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, quartiles
from nexdyn.view.motion import Motion
from nexdyn.view.pace import LEAST as RATE
from nexdyn.view.stage import LAYERS, Look
from nexdyn.view.viewer import Viewer

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
FREE = """
  for (const kind of [WebGLRenderingContext, WebGL2RenderingContext]) {
    for (const name of Object.getOwnPropertyNames(kind.prototype))
      if (/^draw(Arrays|Elements|RangeElements)/.test(name)) kind.prototype[name] = () => {};
    const ask = kind.prototype.getParameter;
    kind.prototype.getParameter = function (what) {
      const found = ask.call(this, what);
      if (what !== 0x9246) return found;  // UNMASKED_RENDERER_WEBGL
      window.__nexdynGPU = !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(found);
      return "a GPU that draws in no time";
    };
  }
"""
"""Calls that draw do nothing, and the page takes the browser for one with a GPU: what is left is what a GPU does not do."""
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
                drawn(report, browser, bodies, effort, free=True)
            first_picture(report, browser, effort)
            saves(report, browser, effort)
        finally:
            browser.close()


def drawn(report: Report, browser: Any, bodies: int, effort: Effort, *, free: bool = False) -> None:
    """Pictures a second of so many bodies; `free`: of all but drawing, where a browser draws on the processor."""
    with Viewer(moving(bodies, shape=lens())) as viewer:
        most = max(len(piece.surface.faces) for piece in viewer._desk.stage.drawn)
        assert most <= TRIANGLES
        viewer.play()
        page = browser.new_page(viewport={"width": WINDOW[0], "height": WINDOW[1]})
        page.set_default_timeout(120e3)
        if free:
            page.add_init_script(FREE)
        page.goto(viewer.address)
        page.wait_for_function(THERE)
        page.wait_for_timeout(1e3 if effort.smoke else 8e3)  # the panels are laid out
        least, gpu = (10.0, "without a GPU") if page.evaluate("window.__nexdynSoftware") else (30.0, "with a GPU")
        if free:
            if page.evaluate("window.__nexdynGPU"):  # the rows above are of it
                return page.close()
            gpu = "all but drawing"
        for minimised in (False, True):
            if minimised:
                minimise(page)
                page.wait_for_timeout(1e3 if effort.smoke else 5e3)
            box = page.evaluate(CANVAS)
            scripts, rate = scripts_while(page, 1.0 if effort.smoke else 10.0)
            what = f"{bodies:,} bodies of {most} triangles, {box[0]} × {box[1]} pixels: pictures a second, {gpu}"
            report.rows.append(
                Row(what, "1/s", rate, target=f"≥ {least:g}", met=None if effort.smoke else rate >= least)
            )
            report.rows.append(Row("… of a picture, what the page's scripts take of the processor", "ms", scripts))
        page.close()


def scripts_while(page: Any, seconds: float) -> tuple[float, float]:
    """How long the page's scripts run for a picture [ms], without what draws it, and pictures a second."""
    asked = page.context.new_cdp_session(page)
    asked.send("Performance.enable")

    def ran() -> float:
        told = asked.send("Performance.getMetrics")["metrics"]
        return next(float(one["value"]) for one in told if one["name"] == "ScriptDuration")

    before = ran()
    rate = float(page.evaluate(DRAWN, seconds))
    scripts = (ran() - before) / (rate * seconds) * 1e3
    asked.detach()
    return scripts, rate


CANVAS = """() => { const b = window.__viserMutable.canvas.getBoundingClientRect(); return [Math.round(b.width), Math.round(b.height)]; }"""


def minimise(page: Any) -> None:
    """Fold the panels, so that the scene has the window."""
    while (panels := page.locator("[data-dock-region-collapse]")).count():
        before = panels.count()
        panels.first.click()
        page.wait_for_function(
            "n => document.querySelectorAll('[data-dock-region-collapse]').length < n", arg=before
        )  # fmt: skip


def lens(around: int = 24) -> nx.Hull:
    """A hull of 96 triangles: two rings and two tips."""
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    ring = np.stack([0.06 * np.cos(angle), 0.06 * np.sin(angle), 0.0 * angle], axis=1)
    tips = np.array([(0.0, 0.0, -0.25), (0.0, 0.0, 0.25)])
    rise = np.array((0.0, 0.0, 0.2))
    return nx.Hull(np.concatenate([ring - rise, ring + rise, tips]))


def first_picture(report: Report, browser: Any, effort: Effort) -> None:
    """From a command to the first picture of its bodies: the median of those after the first, which may compile, and its stages."""
    runs: list[dict[str, float]] = []
    for _ in range(2 if effort.smoke else 6):
        context = browser.new_context(viewport={"width": WINDOW[0], "height": WINDOW[1]})
        began = time.time()
        command = [sys.executable, "-c", STAGED, "view", "hinge-chain", "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stderr is not None
        try:
            said = process.stdout.readline()
            if "http" not in said:
                raise RuntimeError(f"the command has told no address: {said}{process.stderr.read()}")
            page = context.new_page()
            page.set_default_timeout(120e3)
            page.goto(next(word for word in said.split() if word.startswith("http")))
            page.wait_for_function("() => window.__viserTestpoints?.rendererInfo.render.frame > 0")
            loaded = time.time()
            page.wait_for_function(THERE)
            drawn = time.time()
        finally:
            process.terminate()
            told = process.stderr.read().splitlines()
            process.wait()
            context.close()
        marks = {word[1]: (float(word[2]), float(word[3])) for line in told if (word := line.split())[:1] == ["STAGE"]}
        runs.append({name: at - began for name, (at, _) in marks.items()})
        runs[-1] |= {"loaded": loaded - began, "drawn": drawn - began, "processor": marks["shown"][1]}
    later = {name: statistics.median(run[name] for run in runs[1:]) for name in runs[0]}
    spread = quartiles([run["drawn"] for run in runs[1:]])
    met = None if effort.smoke else later["drawn"] <= 3.0
    whole = "nexdyn view hinge-chain: until the first picture"
    report.rows.append(Row(whole, "s", later["drawn"], target="≤ 3", met=met, spread=spread))
    for name, what in STAGES.items():
        report.rows.append(Row(f"… {what}", "s", later[name]))
    report.rows.append(Row("… processor time of the command until the page has everything", "s", later["processor"]))


STAGES = {
    "imported": "the command is imported after", "read": "the model is read after", "served": "the page is served after",
    "prepared": "the run is prepared after", "shown": "the page has everything after", "loaded": "the page has loaded after",
}  # fmt: skip
STAGED = """
import sys, time
def say(what):
    print("STAGE", what, time.time(), time.process_time(), file=sys.stderr, flush=True)
import nexdyn.cli.view as view
say("imported")
for function, what in (("read", "read"), ("serve", "served"), ("prepared", "prepared"), ("open_page", "shown")):
    def told(*given, inner=getattr(view, function), what=what, **named):
        found = inner(*given, **named)
        say(what)
        return found
    setattr(view, function, told)
from nexdyn.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""`nexdyn`, which tells on stderr when its stages end, and the processor time until then."""


def saves(report: Report, browser: Any, effort: Effort) -> None:
    """From a save of a file that `nexdyn edit` shows to what its page says of it, and to the end of the run that follows."""
    for what, write in (("hinge-chain", edited_chain), ("Panda, a robot of 11 bodies with meshes", edited_panda)):
        with tempfile.TemporaryDirectory() as folder:
            file = write(Path(folder))
            if file is None:
                report.notes.append(f"nexdyn edit, {what}: not measured, example-robot-data is not installed.")
                continue
            took = saved(browser, file, 3 if effort.smoke else 9)
        middle = statistics.median(took[1:])  # the first may compile
        met = None if effort.smoke else middle <= 1.0
        whole = f"nexdyn edit, {what}: from a save to what the page says of it"
        report.rows.append(Row(whole, "s", middle, target="≤ 1", met=met, spread=quartiles(took[1:])))


def saved(browser: Any, file: Path, times: int) -> list[float]:
    """How long it took [s], for so many saves, nine at most, with other numbers: 9.81 becomes 9.8001, 9.8002, …"""
    text = file.read_text(encoding="utf-8")
    command = [sys.executable, "-m", "nexdyn", "edit", str(file), "--no-browser", "--t-end", "0.1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    context = browser.new_context(viewport={"width": WINDOW[0], "height": WINDOW[1]})
    took = []
    try:
        assert process.stderr is not None
        said = next((line for line in process.stderr if "http" in line), "http is missing")
        page = context.new_page()
        page.set_default_timeout(120e3)
        page.goto(next(word for word in said.split() if word.startswith("http")))
        page.wait_for_function(THERE)
        for k in range(times):
            if not any("simulated until" in line for line in process.stderr):  # the run of the last save
                raise RuntimeError(f"{file.name}: the run has not reached its end")
            now = f"9.{8001 + k}"
            file.write_text(text.replace("9.81", now), encoding="utf-8")
            began = time.perf_counter()
            says = "now => [...document.querySelectorAll('.nexdyn-said p')].some(p => p.innerText.includes(now))"
            page.wait_for_function(says, arg=now, polling=10)
            took.append(time.perf_counter() - began)
    finally:
        process.kill()
        process.wait()
        context.close()
    return took


def edited_chain(folder: Path) -> Path:
    """A small scene, whose gravity is edited."""
    file = folder / "chain.yaml"
    file.write_text(
        (resources.files("nexdyn") / "demos" / "hinge-chain.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    return file


def edited_panda(folder: Path) -> Path | None:
    """A robot with its meshes, of whose first link the mass is edited."""
    try:
        listed = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = next((Path(str(f.locate())).resolve() for f in listed if f.name == "panda.urdf"), None)
    if found is None:
        return None
    whole = folder / "example-robot-data" / "robots" / "panda_description"
    shutil.copytree(found.parents[1], whole)
    file = whole / "urdf" / "panda.urdf"
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r'<mass value="[^"]*"', '<mass value="9.81"', text, count=1), encoding="utf-8")
    return file


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
    show = viewer._desk.stage.show

    def counted(t: float, *rest: object) -> None:
        show(t, *rest)
        shown.append(t)

    viewer._desk.stage.show = counted  # type: ignore[method-assign]
    return shown


def show_times(viewer: Viewer, count: int) -> list[float]:
    """Milliseconds that it takes to put a moment."""
    times = []
    for t in np.linspace(0.0, 9.0, count):
        began = time.perf_counter()
        viewer._desk.stage.show(float(t))
        times.append((time.perf_counter() - began) * 1e3)
        time.sleep(0.01)
    return times

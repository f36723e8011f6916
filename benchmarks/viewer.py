"""How many moments a second the viewer can put on the page, and what they cost, with a browser's end that takes all of it.

The mechanism is a chain of capsules in a batch, moved by hand: what is measured is showing, not simulating. The other
end is a process of its own that speaks viser's protocol and counts what arrives.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, quartiles
from nexdyn.view.motion import Motion
from nexdyn.view.stage import LAYERS, Look
from nexdyn.view.viewer import RATE, Viewer

CLIENT = """
import sys, websockets.sync.client, viser
from websockets.typing import Subprotocol
url, seconds = sys.argv[1], float(sys.argv[2])
import time, msgspec
with websockets.sync.client.connect(url, subprotocols=[Subprotocol("viser-v" + viser.__version__)], max_size=None) as link:
    camera = {"type": "ViewerCameraMessage", "wxyz": [1,0,0,0], "position": [1,1,1], "fov": 0.8, "near": 0.01,
              "far": 100.0, "image_height": 600, "image_width": 800, "look_at": [0,0,0], "up_direction": [0,0,1]}
    link.send(msgspec.msgpack.encode(camera))
    print("connected", flush=True)
    size, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            size += len(link.recv(timeout=0.5))
        except TimeoutError:
            pass
print(size, flush=True)
"""


def moving(bodies: int, samples: int = 200) -> Motion:
    """A chain of capsules that winds."""
    system = nx.System("chain of capsules")
    for i in range(bodies):
        system.add_body(f"b{i}", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Capsule(0.05, 0.4)])
    t = np.linspace(0.0, 10.0, samples)
    phase = t[:, None] + 0.05 * np.arange(bodies)
    p = np.stack([0.3 * np.arange(bodies) + 0 * phase, np.sin(phase), np.cos(phase)], axis=-1)
    q = np.stack([np.cos(phase / 2), np.sin(phase / 2), 0 * phase, 0 * phase], axis=-1)
    return Motion(system, t, list(system.bodies), p.astype(np.float32), q.astype(np.float32))


def run(effort: Effort) -> Report:
    report = Report("viewer", f"moments on the page; played at {RATE:g} a second to one browser's end")
    for bodies in (10,) if effort.smoke else (100, 1000, 5000):
        measure(report, bodies, effort)
    report.notes.append("CPU: of the whole process, so with what viser's thread packs and sends.")
    return report


def measure(report: Report, bodies: int, effort: Effort) -> None:
    seconds = 1.0 if effort.smoke else 8.0
    with Viewer(moving(bodies)) as viewer:
        client = subprocess.Popen(
            [sys.executable, "-c", CLIENT, viewer.address.replace("http", "ws"), str(seconds + 2.0)],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert client.stdout is not None
        client.stdout.readline()
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

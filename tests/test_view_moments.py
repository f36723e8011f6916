"""One moment is one picture: all that the page and a recording draw is of one time, while two processes keep the machine busy.

Six bodies slide at 1 m/s, three with a common surface and three with their own, so what is drawn of each tells the time; so do a spring
between two of them and a ghost that does the same.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (
    Watched,
    browser,  # noqa: F401 (fixtures)
    needs_chromium,
    opened,
)

import nexdyn as nx
from nexdyn.view.recording import record
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.stage import Look
from nexdyn.view.viewer import Viewer

pytestmark = [needs_chromium, pytest.mark.timeout(900)]

LAYERS = frozenset({"shapes", "grid", "joint axes", "body frames", "reaction moments", "trails"})
EVERY = 0.01
"""Seconds between samples of the motion."""

WATCH = """() => {
  const viser = window.__viserMutable, seen = window.__seen = [];
  let drawn = null;
  viser.scene.onBeforeRender = () => {
    drawn = { clock: viser.nodePoseData["/clock"].position[0], root: viser.nodeRefFromName["/motion"].position.x };
    for (const [name, node] of Object.entries(viser.nodeRefFromName)) {
      if (!node || !name.startsWith("/motion/") || name.includes("piece")) continue;
      const parts = [];
      node.traverse(o => {
        if (o.instancesCount !== undefined && o.matricesTexture)
          parts.push([...(o.matricesTexture._data ?? o.matricesTexture.image.data).slice(0, 16 * o.instancesCount)]);
        const ends = o.geometry?.attributes?.instanceEnd;
        if (ends) parts.push([Math.max(...Array.from({ length: ends.count }, (_, i) => ends.getX(i)))]);
      });
      drawn[name] = parts.length ? parts : [[node.position.x]];
    }
  };
  const after = () => {
    if (window.__seen !== seen) return;  // another one watches now
    requestAnimationFrame(after);
    setTimeout(() => {  // once the frame is painted, and before the next one
      const own = document.querySelector("#nexdyn-slider"), told = document.querySelector("#nexdyn-t");
      const slider = own ? own.value : document.querySelector("[role=slider]").getAttribute("aria-valuenow");
      const live = document.querySelector("[data-nexdyn-live]")?.textContent.match(/t = ([\\d.]+) s/);
      if (drawn) seen.push({ ...drawn, slider: parseFloat(slider), live: live && parseFloat(live[1]),
                             told: told ? parseFloat(told.value) : null });
    }, 0);
  };
  requestAnimationFrame(after);
}"""


@pytest.fixture(scope="module")
def rank() -> nx.Result:
    system = nx.System("rank", gravity=(0, 0, -9.81))
    for i in range(6):
        height = 0.1 if i < 3 else 0.1 + 0.02 * i
        body = system.add_body(
            f"b{i}", mass=1.0, inertia=(1, 1, 1), position=(0, i, 0), shapes=[nx.Box((0.1, 0.1, height))]
        )
        system.add_joint(nx.Prismatic(f"j{i}", system.ground, body, at=(0, i, 0), axis=(1, 0, 0)))
    system.add_force(nx.PointSpring("spring", "b4", "b5", stiffness=10.0, length=1.0))
    return nx.simulate(system, t_end=20.0, method=nx.RungeKutta4(EVERY), v0=np.ones(6))


@contextmanager
def busy(count: int = 2) -> Iterator[None]:
    """Beside processes that keep the processors busy."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def watched(tab: Watched, seconds: float) -> list[dict[str, Any]]:
    """What was on the page after each frame, for so long, and until four times have been shown where pictures are slow to come."""
    tab.page.evaluate(WATCH)
    tab.page.wait_for_timeout(1e3 * seconds)
    tab.until("new Set(window.__seen.map(drawn => drawn.clock.toFixed(6))).size > 3")
    return list(tab.page.evaluate("window.__seen"))


def times_of_bodies(drawn: dict[str, Any]) -> list[float]:
    """The time that each body's place tells, each joint axis and frame on them, the spring, and the ghost of each body."""
    ghosts = [parts for name, parts in drawn.items() if name.startswith("/motion/ghost")]
    assert sum(len(part) for parts in ghosts for part in parts) == 6 * 16
    instances = [
        drawn["/motion/batch0"],
        drawn["/motion/axes"],
        drawn["/motion/frames"],
        drawn["/motion/link0"],
        *ghosts,
    ]
    turned = [part for parts in instances for part in parts]
    alone = [drawn[f"/motion/body{i}"][0][0] for i in (3, 4, 5)]
    return [*(x for part in turned for x in part[12::16]), *alone]


def gap_of_heads(drawn: dict[str, Any]) -> float:
    """Largest distance between the end of an arrow's shaft and its head [m]."""
    shafts, heads = (np.array(part).reshape(-1, 4, 4) for part in drawn["/motion/moments"])
    ends = shafts[:, 3, :3] + shafts[:, 1, :3] / 2 - (heads[:, 3, :3] - heads[:, 1, :3] / 2)
    with_shaft = np.linalg.norm(shafts[:, 1, :3], axis=1) > 1e-9
    return float(np.abs(ends[with_shaft & (np.abs(shafts[:, 3, 2]) < 100)]).max(initial=0.0))


def check(seen: list[dict[str, Any]], follow: bool) -> None:
    assert len({round(drawn["clock"], 6) for drawn in seen}) > 3  # it plays
    for drawn in seen:
        t = drawn["clock"]
        np.testing.assert_allclose(times_of_bodies(drawn), t, atol=1e-4)
        assert drawn["root"] == pytest.approx(-t if follow else 0.0, abs=1e-4)
        assert gap_of_heads(drawn) < 1e-4
        ((trail,),) = drawn["/motion/trails"]
        assert trail == pytest.approx(t, abs=EVERY + 1e-4) or t < 2 * EVERY


def check_slider(seen: list[dict[str, Any]]) -> None:
    """It tells the time of the frame. Its component writes a value in a task of its own, which on a busy machine may come after the next
    frame: then it tells that of the one before, or of one between them that was never drawn."""
    behind, before = 0, None
    for last, drawn in itertools.pairwise(seen):
        if last["clock"] != drawn["clock"]:
            before = last["clock"]
        if drawn["slider"] != pytest.approx(drawn["clock"], abs=1e-5):
            behind += 1
            assert before is None or before - 1e-5 < drawn["slider"] < drawn["clock"]
    assert behind < 0.5 * len(seen)


def test_every_frame_of_the_page_is_of_one_time_and_the_slider_tells_it(browser: Any, rank: nx.Result) -> None:
    """Ten seconds of it, for the last two with a camera that follows a body."""
    with Viewer(rank, port=free_port(LOOPBACK, 18650), ghost=rank) as viewer:
        viewer.pause()
        viewer.look(Look(LAYERS))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            tab.settled(viewer.server)
            viewer.play()
            for follow, seconds in (("", 8.0), ("b4", 2.0)):
                viewer.look(Look(LAYERS, follow=follow))
                tab.caught_up(viewer.server)
                with busy():
                    seen = watched(tab, seconds)
                check(seen, bool(follow))
                check_slider(seen)
            assert tab.faults == []


def test_every_frame_of_a_system_that_runs_is_of_one_time(browser: Any, rank: nx.Result) -> None:
    session = nx.Session(rank.system, nx.RungeKutta4(EVERY), v0=np.ones(6))
    with Viewer(session, port=free_port(LOOPBACK, 18650), ghost=rank) as viewer:
        viewer.pause()  # its clock is not to run past the ghost's end while the page is being drawn
        viewer.look(Look(LAYERS))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            tab.caught_up(viewer.server)
            viewer.play()
            tab.comes_true(lambda: session.t > 0.1)
            with busy():
                seen = watched(tab, 10.0)
            check(seen, False)
            changed = [
                (before["clock"], drawn["live"], drawn["clock"])
                for before, drawn in itertools.pairwise(seen)
                if drawn["live"] != before["live"]
            ]
            assert len(changed) > 3  # the time in the panel, with two decimals, a few times a second
            # of a moment after the one that was drawn before, and not after the one that is drawn
            assert [x for x in changed if not x[0] - 0.006 < x[1] < x[2] + 0.006] == []
            assert tab.faults == []


def test_every_frame_of_a_recording_is_of_one_time_and_its_one_clock_tells_it(
    browser: Any, rank: nx.Result, tmp_path: Path
) -> None:
    record(rank, tmp_path / "rank.html", layers=LAYERS, ghost=rank)
    with opened(browser, (tmp_path / "rank.html").as_uri(), offline=True) as tab:
        tab.until("document.querySelector('#root #nexdyn-slider') && window.__viserMutable.nodePoseData['/clock']")
        with busy():
            seen = watched(tab, 10.0)
        check(seen, True)  # what travels so far is followed
        for shown in ("slider", "told"):
            assert [drawn[shown] for drawn in seen] == pytest.approx([drawn["clock"] for drawn in seen], abs=6e-3)
        fields = "[...document.querySelectorAll('#root input:not([type=range])')].filter(x => x.offsetParent)"
        assert tab.page.evaluate(f"{fields}.map(x => x.value)") == ["1x"]  # the speed; no second clock
        assert tab.page.title() == "rank"
        assert tab.faults == []

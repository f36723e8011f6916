"""Parameters that change sizes: the page, its recordings, stills and films draw the bodies as they then are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import PLAIN, Watched, browser, eye, needs_chromium, on_a_free_port, opened  # noqa: F401 (fixture)

import nexdyn as nx
from nexdyn.view.motion import Motion
from nexdyn.view.recording import record
from nexdyn.view.shot import Shot
from nexdyn.view.stage import Look
from nexdyn.view.studio import Studio
from nexdyn.view.viewer import Viewer

pytestmark = [needs_chromium, pytest.mark.timeout(900)]

VERTICES = """name => {
  const m = window.__viserMutable, node = m.nodeRefFromName[name], props = window.__viserSceneTree.getState()[name]?.message?.props;
  if (!node || !props?.vertices) return null;
  const back = m.nodeRefFromName["/motion"].matrixWorld.clone().invert(), v = m.camera.position.clone(), found = [];
  for (let k = 0; k < props.vertices.length; k += 3)
    found.push(v.set(...props.vertices.subarray(k, k + 3)).applyMatrix4(node.matrixWorld).applyMatrix4(back).toArray());
  return found;
}"""
"""Where the vertices of a mesh are drawn, in the axes of the model."""
INSTANCES = """name => {
  const found = [];
  window.__viserMutable.nodeRefFromName[name]?.traverse(o => {
    if (o.instancesCount !== undefined && o.matricesTexture)
      found.push(...(o.matricesTexture._data ?? o.matricesTexture.image.data).slice(0, 16 * o.instancesCount));
  });
  return found;
}"""


def double_pendulum() -> nx.System:
    """A rod of length L, and a ball on its end."""
    system = nx.System("double pendulum")
    system.parameter("L", 1.0)
    rod = system.add_body(
        "rod",
        mass=1.0,
        inertia=("=L*L/12", "=L*L/12", 0.01),
        position=(0, 0, "=-L/2"),
        shapes=[nx.Box((0.1, 0.1, "=L"))],
    )
    ball = system.add_body("ball", mass=0.1, inertia=(1e-3,) * 3, position=(0, 0, "=-L"), shapes=[nx.Sphere(0.1)])
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), damping=0.2))
    system.add_joint(nx.Revolute("wrist", rod, ball, at=(0, 0, "=-L"), axis=(0, 1, 0), damping=0.2))
    return system


def four_bar() -> nx.System:
    """A loop of rods, whose crank is r long."""
    system = nx.System("four-bar", gravity=(0, 0, -9.81))
    system.parameter("r", 0.6)
    for name, place in (("crank", (0, 0, "=r/2")), ("coupler", (0.5, 0, "=(r+1)/2")), ("rocker", (1, 0, 0.5))):
        system.add_body(name, mass=1.0, inertia=(0.05, 0.05, 0.05), position=place)
    for name, a, b, at in (
        ("A", "ground", "crank", (0, 0, 0)),
        ("B", "crank", "coupler", (0, 0, "=r")),
        ("C", "coupler", "rocker", (1, 0, 1)),
        ("D", "ground", "rocker", (1, 0, 0)),
    ):
        system.add_joint(nx.Revolute(name, a, b, at=at, axis=(0, 1, 0), damping=2.0))
    return system


def drawn(tab: Watched, viewer: Viewer, body: int, piece: int = 0) -> np.ndarray:
    """The vertices (n, 3) [m] of a piece of a body, as they are drawn."""
    tab.caught_up(viewer.server)
    found: list[Any] = []

    def read() -> bool:
        found[:] = [tab.page.evaluate(VERTICES, f"/motion/body{body}/piece{piece}")]
        return found[0] is not None

    tab.comes_true(read)
    return np.array(found[0])


def slide(tab: Watched, name: str, key: str) -> None:
    tab.page.get_by_text("Parameters", exact=True).click()
    slider = tab.page.get_by_role("slider", name=name, exact=True)
    slider.focus()
    slider.press(key)


def length(vertices: np.ndarray) -> float:
    """Of a box that is 0.1 m thick, from its diagonal."""
    apart = np.linalg.norm(vertices[:, None] - vertices[None], axis=-1).max()
    return float(np.sqrt(apart**2 - 2 * 0.1**2))


def session(viewer: Viewer) -> nx.Session:
    assert viewer.session is not None
    return viewer.session


def test_a_length_that_is_changed_by_its_slider_is_drawn_picked_and_told(browser: Any) -> None:  # noqa: F811
    with on_a_free_port(nx.Session(double_pendulum(), nx.RungeKutta4(1e-3), q0={"hinge": 0.3})) as viewer:
        viewer.look(Look(PLAIN | {"centres of mass"}, arrows=2.0))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched and session(viewer).t > 0.05)
            viewer.select("rod")
            viewer._desk.inquiry.measure("ball", np.zeros(3))
            viewer._desk.inquiry.measure("ground", np.zeros(3))
            viewer.pause()
            tab.caught_up(viewer.server)
            tab.comes_true(lambda: not viewer._desk.cameras.new)  # it stands where it was put
            camera = eye(viewer)[0]
            assert length(drawn(tab, viewer, 0)) == pytest.approx(1.0, abs=1e-4)
            slide(tab, "L", "End")
            tab.comes_true(lambda: session(viewer).system.values["L"] == 2.0)
            tab.comes_true(lambda: length(drawn(tab, viewer, 0)) == pytest.approx(2.0, abs=1e-4))
            rod, now = drawn(tab, viewer, 0), viewer._desk.motion.at(viewer.t)
            ends = np.sort(np.linalg.norm(rod, axis=1))
            assert ends[0] == pytest.approx(np.hypot(0.05, 0.05), abs=1e-4)  # it hangs where it hung
            np.testing.assert_allclose(rod.mean(axis=0), now.position[0], atol=1e-4)
            ball = drawn(tab, viewer, 1).mean(axis=0)
            np.testing.assert_allclose(ball, 2.0 * now.position[0], atol=1e-3)  # on its end
            masses = np.array(tab.page.evaluate(INSTANCES, "/motion/centers")).reshape(-1, 16)
            np.testing.assert_allclose(masses[:, 12:15], now.position[:2], atol=1e-4)
            outline = np.array(tab.page.evaluate(VERTICES, "/motion/selected/piece0"))
            assert np.linalg.norm(outline, axis=1).max() > 1.95
            ahead = np.array([0.0, 1.0, 0.0])
            lower = now.position[0] * 1.9  # where nothing was before
            hit = viewer._desk.inquiry.pick(lower - 5.0 * ahead, ahead, viewer.t)
            assert hit is not None and hit.body == "rod"
            tab.comes_true(lambda: "2.000" in tab.page.locator(".nexdyn-ruler").inner_text())
            np.testing.assert_allclose(eye(viewer)[0], camera, atol=1e-6)
            assert viewer.selected == "body:rod" and viewer.looks.arrows == 2.0
            assert len(viewer._desk.inquiry._points) == 2
            tab.page.get_by_role("button", name="Undo: change L").click()
            tab.comes_true(lambda: length(drawn(tab, viewer, 0)) == pytest.approx(1.0, abs=1e-4))
            assert tab.faults == []


def test_its_recording_is_drawn_in_the_sizes_of_each_moment(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    run = nx.Session(double_pendulum(), nx.RungeKutta4(1e-3), q0={"hinge": 0.3})
    run.advance(0.2)
    run.advance(0.2)
    run.change({"L": 2.0})
    run.advance(0.4)
    result = run.result()
    with on_a_free_port(result) as viewer:
        viewer.pause()
        viewer.look(Look(PLAIN))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            for t, long in ((0.2, 1.0), (0.6, 2.0), (0.39, 1.0), (0.41, 2.0), (0.0, 1.0)):
                viewer.seek(t)
                tab.comes_true(lambda long=long: length(drawn(tab, viewer, 0)) == pytest.approx(long, abs=1e-4))
                np.testing.assert_allclose(
                    drawn(tab, viewer, 0).mean(axis=0), viewer._desk.motion.at(t).position[0], atol=1e-4
                )
            assert tab.faults == []
    studio = Studio(Motion.of(result), Shot(size=(64, 48)))
    for t, long in ((0.0, 1.0), (0.6, 2.0), (0.2, 1.0)):
        studio.picture(t)
        assert length(studio._mesh.position[studio._mesh.first[0] : studio._mesh.first[1]]) == pytest.approx(
            long, abs=1e-4
        )
    still = Studio(Motion.of(result), Shot(size=(64, 48)), 0.8)
    still.picture(0.8)
    assert length(still._mesh.position[still._mesh.first[0] : still._mesh.first[1]]) == pytest.approx(2.0, abs=1e-4)


SEEN = """what => {
  const all = window.__viserMutable?.nodeRefFromName ?? {};
  const seen = node => { for (let x = node; x; x = x.parent) if (!x.visible) return false; return true; };
  return [0, 1, 2].map(k => `/motion/sizes${k}/${what}`).find(name => all[name] && seen(all[name]));
}"""
"""The name of a node that is seen, of those that a recording has for each of its sizes."""


def test_a_recording_draws_picks_and_tells_the_sizes_of_each_moment(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    """Forwards, backwards within one of the sizes, and past a change of them; sizes that come again are kept once."""
    run = nx.Session(double_pendulum(), nx.RungeKutta4(1e-3), q0={"hinge": 0.3})
    for long, seconds in ((2.0, 0.4), (1.0, 0.4), (None, 1.6)):
        run.advance(seconds)
        if long is not None:
            run.change({"L": long})
    result = run.result()
    ghost = nx.simulate(double_pendulum(), 2.4, nx.RungeKutta4(1e-3), q0={"hinge": -0.3}, output_every=10)
    record(result, tmp_path / "out.html", ghost=ghost, layers={"shapes", "grid"})
    with opened(browser, (tmp_path / "out.html").as_uri(), offline=True) as tab:
        tab.until("document.querySelector('#nexdyn-slider') && document.querySelectorAll('.nexdyn-plot').length > 1")
        told = tab.page.evaluate("JSON.parse(document.getElementById('nexdyn-data').textContent)")
        assert told["sizes"] == [[0.0, 0], [pytest.approx(0.4), 1], [pytest.approx(0.8), 0]]
        assert len(told["drawn"]) == 2
        tab.page.get_by_role("tab", name="Model", exact=True).click()
        tab.page.get_by_role("treeitem", name="rod", exact=True).click()
        for t, long in ((0.2, 1.0), (0.6, 2.0), (0.5, 2.0), (0.7, 2.0), (0.3, 1.0), (1.2, 1.0), (0.6, 2.0)):
            tab.page.locator("#nexdyn-slider").evaluate(
                "(x, t) => { x.value = t; x.dispatchEvent(new Event('input', { bubbles: true })); }", t
            )
            tab.until("t => Math.abs(Number(document.getElementById('nexdyn-t').value) - t) < 0.02", t)
            found: list[Any] = []

            def read(found: list[Any] = found, long: float = long) -> bool:
                name = tab.page.evaluate(SEEN, "body0/piece0")
                found[:] = [name and tab.page.evaluate(VERTICES, name)]
                return found[0] is not None and length(np.array(found[0])) == pytest.approx(long, abs=1e-4)

            tab.comes_true(read)
            at = Motion.of(result).at(float(tab.page.evaluate("document.getElementById('nexdyn-t').value")))
            np.testing.assert_allclose(np.array(found[0]).mean(axis=0), at.position[0], atol=2e-3)
            kg = f"{long**2 / 12:.4g}"  # its moment of inertia, as it is told
            tab.until("kg => document.querySelector('.nexdyn-card')?.innerText.includes(kg)", kg)
            assert tab.page.evaluate(SEEN, "ghost0") is not None
            near_end = at.position[0] * 1.9
            ray = ",".join(map(str, [*(near_end - (0, 5, 0)).tolist(), 0.0, 1.0, 0.0]))
            hit = tab.page.evaluate("ray => window.__nexdynAsk('hover', { ray })", ray)
            assert hit.get("name") == ("rod" if long == 2.0 else "ball"), (t, hit)
        tab.page.get_by_role("tab", name="Show", exact=True).click()
        tab.page.get_by_label("shapes", exact=True).click()  # a layer that is off stays off in other sizes
        tab.comes_true(lambda: tab.page.evaluate(SEEN, "body0/piece0") is None)
        tab.page.locator("#nexdyn-slider").evaluate(
            "x => { x.value = 0.2; x.dispatchEvent(new Event('input', { bubbles: true })); }"
        )
        tab.until("Math.abs(Number(document.getElementById('nexdyn-t').value) - 0.2) < 0.02")
        tab.frames(10)
        assert tab.page.evaluate(SEEN, "body0/piece0") is None and tab.faults == []


def pins(tab: Watched, viewer: Viewer, body: int) -> np.ndarray:
    """Both ends (2, 3) [m] of the rod that is drawn for a body: a capsule along z."""
    name = f"/motion/body{body}/piece0"
    tab.caught_up(viewer.server)
    script = f"""name => {{ const props = window.__viserSceneTree.getState()[name].message.props;
        return {{ local: [...props.vertices], world: ({VERTICES})(name) }}; }}"""
    told = tab.page.evaluate(script, name)
    local, world = np.array(told["local"]).reshape(-1, 3), np.array(told["world"])
    radius = np.abs(local[:, 0]).max()
    half = local[:, 2].max() - radius
    onto = np.linalg.lstsq(np.column_stack([local, np.ones(len(local))]), world, rcond=None)[0]
    return np.array([(0.0, 0.0, side * half, 1.0) for side in (-1, 1)]) @ onto


def gaps(tab: Watched, viewer: Viewer) -> tuple[list[float], float]:
    """How far the ends of the rods of a four-bar are apart where they meet [m], and the length of the crank."""
    crank, coupler, rocker = (pins(tab, viewer, k) for k in range(3))

    def apart(one: np.ndarray, other: np.ndarray) -> float:
        return float(np.linalg.norm(one[:, None] - other[None], axis=-1).min())

    ground = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    found = [apart(ground[:1], crank), apart(crank, coupler), apart(coupler, rocker), apart(rocker, ground[1:])]
    return found, float(np.linalg.norm(crank[1] - crank[0]))


def test_a_loop_whose_crank_is_made_longer_stays_closed_where_it_is_drawn(browser: Any) -> None:  # noqa: F811
    with on_a_free_port(nx.Session(four_bar())) as viewer:
        viewer.look(Look(PLAIN))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched and session(viewer).t > 0.05)
            viewer.pause()
            tab.caught_up(viewer.server)
            before, long = gaps(tab, viewer)
            assert max(before) < 2e-4 and long == pytest.approx(0.6, abs=1e-4)
            tab.page.get_by_text("Parameters", exact=True).click()
            slider = tab.page.get_by_role("slider", name="r", exact=True)
            slider.focus()
            for _ in range(5):
                slider.press("ArrowRight")
            tab.comes_true(lambda: session(viewer).system.values["r"] > 0.62)
            tab.comes_true(lambda: gaps(tab, viewer)[1] == pytest.approx(session(viewer).system.values["r"], abs=1e-4))
            assert max(gaps(tab, viewer)[0]) < 2e-4
            t = session(viewer).t
            viewer.play()
            tab.comes_true(lambda: session(viewer).t > t + 0.2)
            viewer.pause()
            assert max(gaps(tab, viewer)[0]) < 2e-4
            assert tab.faults == []

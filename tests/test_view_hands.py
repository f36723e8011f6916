"""What mouse and keys do on the page beyond the drag: speeds, switches, strength, refusals, buttons that write, two servers."""

from __future__ import annotations

import functools
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (
    PLAIN,
    Watched,
    browser,  # noqa: F401 (fixture)
    card,
    eye,
    needs_chromium,
    numbers,
    on_a_free_port,
    opened,
    place_of,
    pointed,
)
from test_view_cli import started

import nexdyn as nx
from nexdyn.cli.edit import write_numbers
from nexdyn.io.scene import read_scene_text
from nexdyn.view.cards import number
from nexdyn.view.editing import Editing
from nexdyn.view.stage import Look
from nexdyn.view.viewer import Viewer

pytestmark = [needs_chromium, pytest.mark.timeout(900)]


def pendulum() -> nx.System:
    """A rod with a spring, a motor and an event that would stop it."""
    system = nx.System("pendulum")
    rod = system.add_body(
        "rod", mass=2.0, inertia=(0.2, 0.2, 0.002), position=(0, 0, -0.5), shapes=[nx.Box((0.2, 0.2, 1.0))]
    )
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), damping=0.5))
    system.add_force(nx.TorqueActuator("motor", "hinge", target=1.0))
    system.add_event(nx.Event("far", joint="hinge", value=3.0, stop=True))
    return system


def session_of(viewer: Viewer) -> nx.Session:
    assert viewer.session is not None
    return viewer.session


def live(**options: Any) -> Viewer:
    viewer = on_a_free_port(nx.Session(pendulum(), nx.RungeKutta4(1e-3), **options))
    viewer.look(Look(PLAIN))
    return viewer


def rate(viewer: Viewer, tab: Watched, seconds: float = 1.0) -> tuple[float, float]:
    """How far the system's time went, and how far the machine's."""
    began, t = time.perf_counter(), session_of(viewer).t
    tab.page.wait_for_timeout(1e3 * seconds)
    return session_of(viewer).t - t, time.perf_counter() - began


def chosen(tab: Watched, label: str, option: str) -> None:
    tab.page.get_by_label(label, exact=True).click()
    tab.page.get_by_role("option", name=option, exact=True).click()


def test_slow_motion_and_double_speed_are_of_the_system_that_runs(browser: Any) -> None:  # noqa: F811
    """Never faster than is asked for; where the machine can, as fast."""
    with live() as viewer, opened(browser, viewer.address) as tab:
        tab.comes_true(lambda: session_of(viewer).t > 0.1)
        for option, speed in (("0.25×", 0.25), ("2×", 2.0)):
            chosen(tab, "speed", option)
            tab.comes_true(lambda speed=speed: viewer._desk.time.speed == speed)
            tab.page.wait_for_timeout(200)  # what was behind at the other speed

            def as_fast(speed: float = speed) -> bool:
                went, passed = rate(viewer, tab)
                assert went <= speed * (passed + 0.2) + 1e-3
                return went > 0.6 * speed * passed

            tab.comes_true(as_fast)
        assert tab.faults == []


def test_the_factor_is_told_where_the_machine_is_slower(browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    advance = nx.Session.advance

    def slowly(self: nx.Session, seconds: float) -> float:
        time.sleep(4.0 * seconds)
        return advance(self, seconds)

    with live() as viewer, opened(browser, viewer.address) as tab:
        tab.comes_true(lambda: session_of(viewer).t > 0.1)
        monkeypatch.setattr(nx.Session, "advance", slowly)
        said = tab.page.get_by_text(re.compile(r"0\.[0-2]\d × real time"))
        tab.comes_true(lambda: said.count() == 1)
        held = viewer._desk.touch
        assert held is not None and held.factor < 0.3
        assert float(said.inner_text().split(",")[1].split()[0]) == pytest.approx(held.factor, abs=0.1)


def test_a_force_and_an_event_are_switched_by_clicks_and_the_pull_is_made_stronger(browser: Any) -> None:  # noqa: F811
    with live() as viewer, opened(browser, viewer.address) as tab:
        tab.comes_true(lambda: session_of(viewer).t > 0.1)
        tab.page.get_by_text("Switches", exact=True).click()
        motor, event = (tab.page.get_by_role("checkbox", name=name, exact=True) for name in ("motor", "event far"))
        for box, off in (
            (motor, lambda s: s.forces["motor"].is_off),
            (event, lambda s: s.events["far"].__dict__.get("_off")),
        ):
            assert box.is_checked()
            box.uncheck()
            tab.comes_true(lambda off=off: bool(off(session_of(viewer).system)))
        torque = session_of(viewer).result().effort("motor").values
        assert torque[0] == pytest.approx(1.0) and torque[-1] == 0.0
        motor.check()
        tab.comes_true(lambda: not session_of(viewer).system.forces["motor"].is_off)
        tab.page.get_by_role("button", name="Undo: switch motor").click()
        tab.comes_true(lambda: session_of(viewer).system.forces["motor"].is_off and not motor.is_checked())
        strength = tab.page.get_by_role("slider", name="strength of the pull", exact=True)
        strength.press("End")
        held = viewer._desk.touch
        assert held is not None
        tab.comes_true(lambda: held.strength == 50.0)
        assert tab.faults == []


def test_the_force_that_is_told_at_the_hand_is_that_of_the_hand(browser: Any) -> None:  # noqa: F811
    """While it stands, pulled to where the mouse is: the number at the hand, its arrow, and the number in the panel."""
    with live() as viewer, opened(browser, viewer.address) as tab:
        tab.comes_true(lambda: session_of(viewer).t > 0.1)
        held = viewer._desk.touch
        assert held is not None
        held.toggle()
        at = place_of(tab, viewer, viewer._desk.motion.at(viewer.t).position[0].astype(float))
        pointed(tab, at)
        tip = tab.page.locator("#nexdyn-hover")
        tab.comes_true(lambda: tip.is_visible() and tip.inner_text().startswith("rod"))
        tab.page.mouse.down()
        tab.page.mouse.move(at[0] + 25, at[1], steps=5)
        tab.comes_true(lambda: held.hand is not None and float(np.linalg.norm(held.hand.force)) > 1.0)
        tab.page.wait_for_timeout(500)
        hand = held.hand
        assert hand is not None
        force = float(np.linalg.norm(hand.force))
        mark: Any = viewer._desk.stage.carried["hand"]  # whose label is drawn in the scene
        tab.comes_true(lambda: mark._label.text == f"{number(force)} N")
        tab.comes_true(lambda: f"pull {force:.3g} N" in tab.page.get_by_text("live: t =").first.inner_text())
        (start, end), most = mark._arrow.points[0], hand.most
        np.testing.assert_allclose(
            np.linalg.norm(end - start), 0.25 * viewer._desk.stage.size * force / most, rtol=1e-4
        )
        np.testing.assert_allclose(np.cross(end - start, hand.force), 0.0, atol=1e-4 * force * viewer._desk.stage.size)
        tab.page.mouse.up()
        held.toggle()  # the force fades as time goes on
        tab.comes_true(lambda: session_of(viewer).hand is None)


def test_the_page_says_what_a_slider_of_a_loop_cannot_reach_and_puts_it_back(browser: Any) -> None:  # noqa: F811
    system = nx.load("slider-crank")
    name = next(joint.name for joint in system.joints.values() if joint.kind == "prismatic")
    with on_a_free_port(system) as viewer, opened(browser, viewer.address) as tab:
        tab.comes_true(lambda: viewer.watched)
        dial = next(k for k, dial in enumerate(viewer._desk.controls._dials) if dial.joint == name)
        slider = tab.page.get_by_role("slider", name=f"{name} [m]", exact=True)
        before = viewer._desk.controls._sliders[dial].value
        slider.press("End")
        note = tab.page.locator(".mantine-Notification-root").filter(has_text=name)
        note.first.wait_for()
        tab.comes_true(lambda: viewer._desk.controls._sliders[dial].value == before)
        tab.comes_true(lambda: float(slider.get_attribute("aria-valuenow") or "nan") == pytest.approx(before, abs=1e-2))


SCENE = """\
name: pendulum
bodies:
  bob: {mass: 2.0, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0], shapes: [{type: sphere, radius: 0.05}]}
joints:
  hinge: {type: revolute, parent: ground, child: bob, at: [0, 0, 0], axis: [0, 1, 0]}
"""


def test_pose_state_and_camera_are_written_by_their_buttons(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "pendulum.yaml"
    file.write_text(SCENE)
    with on_a_free_port(read_scene_text(SCENE).system) as viewer, opened(browser, viewer.address) as tab:
        editing = Editing(viewer, functools.partial(write_numbers, file))
        system = read_scene_text(SCENE).system
        editing.show(system, nx.assemble(system))
        slider = tab.page.get_by_role("slider", name="hinge [rad]", exact=True)
        slider.press("End")
        tab.comes_true(lambda: viewer._desk.controls.moved.get("hinge", 0.0) > 3.0)
        tab.page.get_by_role("button", name="Write this pose into the file").click()
        tab.comes_true(lambda: "q0:" in file.read_text())
        assert float(file.read_text().partition("q0: ")[2].partition("}")[0]) == pytest.approx(np.pi, abs=1e-3)
        tab.page.get_by_role("button", name="Write this camera into the file").click()
        tab.comes_true(lambda: "view:" in file.read_text())
        view = read_scene_text(file.read_text()).view
        assert view is not None
        np.testing.assert_allclose(view["eye"], eye(viewer)[0], atol=1e-2 * viewer._desk.stage.size)
        tab.page.keyboard.press("l")
        tab.comes_true(lambda: viewer.session is not None and viewer.session.t > 0.1)
        viewer.pause()
        tab.page.get_by_role("button", name="Write this state into the file").click()
        tab.comes_true(lambda: "v0:" in file.read_text())
        written = read_scene_text(file.read_text()).system
        start = nx.simulate(written, 1e-3, nx.RungeKutta4(1e-3))
        now = session_of(viewer).latest()
        assert start.joint_position("hinge").values[0] == pytest.approx(now.joint_position("hinge").values[0], rel=1e-9)
        assert tab.faults == []


def test_all_freedoms_of_a_joint_are_plotted_by_plot_it(browser: Any) -> None:  # noqa: F811
    system = nx.System("top")
    system.add_body("top", mass=1.0, inertia=(0.1, 0.1, 0.05), position=(0.1, 0, 0.5), shapes=[nx.Sphere(0.1)])
    system.add_joint(nx.Cylindrical("shaft", system.ground, "top", at=(0, 0, 0), axis=(0, 0, 1)))
    result = nx.simulate(system, 0.5, nx.RungeKutta4(1e-3), v0=[3.0, 0.5], output_every=10)
    titles = "Object.values(window.__viserTestpoints.uplots).map(({chart}) => chart.root.querySelector('.u-title').innerText)"
    with on_a_free_port(result) as viewer, opened(browser, viewer.address) as tab:
        tab.comes_true(lambda: viewer.watched)
        viewer._desk.controls.plots._kind.value = "position"
        viewer.select("joint:shaft")
        tab.page.get_by_role("button", name="Plot it").click()
        tab.comes_true(
            lambda: sum("joint coordinates q" in x for x in tab.page.evaluate(titles)) == 2
        )  # an angle and a length
        drawn = [panel for panel in viewer._desk.controls.plots.shown if panel.title.startswith("joint coordinates q")]
        told = np.column_stack([line.y for panel in drawn for line in panel.lines])
        np.testing.assert_array_equal(np.sort(told[-1]), np.sort(result.joint_position("shaft").values[-1]))


def test_two_servers_beside_each_other_keep_to_themselves(browser: Any) -> None:  # noqa: F811
    with live() as first, on_a_free_port(nx.load("double-pendulum")) as second:
        assert first.address != second.address
        with opened(browser, first.address) as one, opened(browser, second.address) as other:
            one.comes_true(lambda: session_of(first).t > 0.1 and second.watched)
            second.select(next(iter(second.system.bodies)))
            other.caught_up(second.server)  # its keys are known to the page
            other.page.keyboard.press("u")
            other.comes_true(lambda: second._desk.controls._units.value)
            assert first.selected == "" and not first._desk.controls._units.value
            second.close()
            t = session_of(first).t
            one.comes_true(lambda: session_of(first).t > t + 0.2)
            assert one.faults == []


# its crank turns without a pose in which another joint determines the rest: the run may be stopped at any time
LOOP = """\
name: four-bar
gravity: [0, 0, -9.81]
bodies:
  crank: {mass: 1.0, inertia: [0.01, 0.01, 0.01], position: [0, 0, 0.25]}
  coupler: {mass: 2.0, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0.7]}
  rocker: {mass: 1.0, inertia: [0.02, 0.02, 0.02], position: [1.2, 0, 0.5]}
joints:
  A: {type: revolute, parent: ground, child: crank, at: [0, 0, 0], axis: [0, 1, 0], v0: 1.0}
  B: {type: revolute, parent: crank, child: coupler, at: [0, 0, 0.5], axis: [0, 1, 0]}
  C: {type: revolute, parent: coupler, child: rocker, at: [1.1, 0, 0.98], axis: [0, 1, 0]}
  D: {type: revolute, parent: ground, child: rocker, at: [1.3, 0, 0], axis: [0, 1, 0]}
"""


def test_a_live_page_writes_the_state_of_a_loop_into_its_scene(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "loop.yaml"
    file.write_text(LOOP)
    with (
        started("view", "loop.yaml", "--live", cwd=tmp_path) as (_, said),
        opened(browser, str(said["address"])) as tab,
    ):
        button = tab.page.get_by_role("button", name="Write this state into the file")
        button.wait_for()
        tab.page.get_by_text("live: t = ").wait_for()
        tab.comes_true(lambda: float(tab.page.get_by_text("live: t = ").inner_text().split()[3]) > 0.1)
        tab.page.evaluate("document.activeElement?.blur()")
        tab.page.keyboard.press("Space")
        tab.page.get_by_role("button", name="Go on").wait_for()
        button.click()
        tab.comes_true(lambda: "q0:" in file.read_text())
        tab.page.get_by_role("tab", name="Model").click()
        tab.page.get_by_role("treeitem", name="coupler", exact=True).click()
        tab.comes_true(lambda: tab.page.locator(".nexdyn-card caption").all_inner_texts() == ["coupler"])
        told = card(tab)
        assert tab.faults == []
    text = file.read_text()
    assert text.count("q0:") == text.count("v0:") == 1
    start, first = (nx.simulate(read_scene_text(x).system, 1e-3) for x in (text, LOOP))
    for label, is_now in (("position", start.position("coupler")), ("velocity", start.velocity("coupler"))):
        np.testing.assert_allclose(numbers(told[label]), is_now.values[0], rtol=2e-3, atol=2e-3)
    assert start.energy().total.values[0] == pytest.approx(first.energy().total.values[0], rel=1e-3)

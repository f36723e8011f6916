"""A system that runs on the page: what mouse and keys do to it is seen in its numbers."""

from __future__ import annotations

import itertools
import json
import math
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from chromium import PLAIN, Watched, browser, eye, needs_chromium, on_a_free_port, opened, seen_at  # noqa: F401 (fixture)

import nexdyn as nx
from nexdyn.view import touch
from nexdyn.view.stage import Look
from nexdyn.view.viewer import Viewer

pytestmark = [needs_chromium, pytest.mark.timeout(900)]


def pendulum() -> nx.System:
    """A rod that hangs at rest, and comes to rest again."""
    system = nx.System("pendulum")
    system.parameter("m", 2.0)
    rod = system.add_body(
        "rod", mass="=m", inertia=("=m/12", "=m/12", "=m*1e-3"), position=(0, 0, -0.5), shapes=[nx.Box((0.2, 0.2, 1.0))]
    )
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), damping=0.5))
    system.add_force(nx.TorqueActuator("motor", "hinge", target=0.0, effort_limit=20.0))
    return system


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    with on_a_free_port(nx.Session(pendulum(), nx.RungeKutta4(1e-3))) as found:
        found.look(Look(PLAIN))
        yield found


@pytest.fixture(scope="module")
def tab(browser: Any, viewer: Viewer) -> Iterator[Watched]:  # noqa: F811
    with opened(browser, viewer.address) as found:
        found.comes_true(lambda: viewer.watched and session(viewer).t > 0.0)
        yield found
        assert found.faults == []


def session(viewer: Viewer) -> nx.Session:
    assert viewer.session is not None
    return viewer.session


def angle(viewer: Viewer) -> float:
    return float(session(viewer).latest().joint_position("hinge").values[0])


def energy(viewer: Viewer) -> float:
    return float(session(viewer).latest().energy().total.values[0])


def on_the_rod(tab: Watched, viewer: Viewer, client: Any = None) -> tuple[float, float]:
    """A pixel of the page that shows the rod's middle, over which the page tells its name.

    The mouse goes there until it does: the page may yet be looking from elsewhere.
    """
    tip, away, at = tab.page.locator("#nexdyn-hover"), itertools.cycle((0.0, 1.0)), (0.0, 0.0)

    def found() -> bool:
        nonlocal at
        if tip.is_visible() and tip.inner_text().startswith("rod"):
            return True
        box = tab.canvas_box()
        shape = (round(box["height"]), round(box["width"]))
        row, column = seen_at(viewer, shape, viewer._desk.motion.at(viewer.t).position[0], client)
        at = (box["x"] + column + next(away), box["y"] + row)
        tab.page.mouse.move(*at)
        tab.page.wait_for_timeout(500)
        return False

    tab.comes_true(found)
    return at


@pytest.fixture(autouse=True)
def at_rest(viewer: Viewer, tab: Watched) -> None:
    """Each test begins with a rod that hangs and a time that runs."""
    if viewer._desk.touch is None:
        viewer.live(nx.Session(pendulum(), nx.RungeKutta4(1e-3)))
    held = viewer._desk.touch
    assert held is not None
    session(viewer).release()
    while session(viewer).can_undo:
        held.undo()
        before = len(session(viewer).log)
        tab.comes_true(lambda before=before: len(session(viewer).log) > before)
    held.restart()
    held.running = True
    viewer.look(Look(PLAIN))
    viewer.aim()
    tab.comes_true(lambda: session(viewer).can_undo == "restart" and session(viewer).t > 0.02)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A hand does not let go of itself, however late a page under load asks next."""
    monkeypatch.setattr(touch, "LOST", math.inf)
    return monkeypatch


HELD = "document.querySelector('#nexdyn-held')?.innerText.startsWith('arrow keys')"
"""Whether the page says that its keys hold something."""


@pytest.mark.usefixtures("patient")
def test_a_drag_pulls_the_rod_by_the_work_that_it_tells_and_lets_go(tab: Watched, viewer: Viewer) -> None:
    tab.settled(viewer.server)
    x, y = on_the_rod(tab, viewer)
    before, camera = energy(viewer), eye(viewer)[0]
    tab.page.mouse.down()
    tab.page.mouse.move(x + 12, y, steps=3)
    tab.comes_true(lambda: session(viewer).hand is not None)
    tab.page.mouse.move(x + 60, y - 10, steps=6)
    tab.comes_true(lambda: abs(angle(viewer)) > 0.1)
    hand = session(viewer).hand
    assert hand is not None
    assert hand.body == "rod"
    tab.page.mouse.up()
    tab.comes_true(lambda: session(viewer).hand is None)
    np.testing.assert_array_equal(eye(viewer)[0], camera)  # the camera stays
    viewer.pause()
    result, log = session(viewer).result(), json.loads(json.dumps(session(viewer).log))
    (name,) = [name for name in result.system.forces if name.startswith("hand")]
    pull = result.system.forces[name]
    told = np.linalg.norm([f.values for f in pull.force], axis=0)
    assert 0.0 < told.max() <= hand.most * (1.0 + 1e-12)
    assert result.energy().total.values.max() - before > 0.01
    gained, worked, lost = balance(result, pull)
    assert abs(worked) > 0.05
    assert gained == pytest.approx(worked - lost, rel=1e-3, abs=1e-4 * (abs(worked) + lost))
    again = nx.Session.replay(pendulum(), log, nx.RungeKutta4(1e-3))
    np.testing.assert_array_equal(again.result().recording.q, result.recording.q)


def balance(result: nx.Result, pull: Any) -> tuple[float, float, float]:
    """What the energy of the pendulum gained, the work ∫ F·v dt of the hand and what the damper took [J], of each step of the motion."""
    dt = 1e-3
    fine = nx.simulate(result.system, float(result.t[-1]), nx.RungeKutta4(dt))
    rows = np.round(result.recording.t / dt).astype(int)
    np.testing.assert_allclose(fine.recording.q[rows, 0], result.recording.q[:, 0], rtol=0.0, atol=1e-9)
    t = fine.recording.t
    arm = fine.rotation("rod").values @ np.array(pull.anchor)
    v = fine.velocity("rod").values + np.cross(fine.angular_velocity("rod").values, arm)
    F = np.column_stack([np.interp(t, component.times, component.values) for component in pull.force])
    rate = fine.joint_velocity("hinge").values
    total = fine.energy().total.values
    worked, lost = (float(np.trapezoid(power, t)) for power in (np.sum(F * v, axis=1), 0.5 * rate**2))
    return float(total[-1] - total[0]), worked, lost


def test_a_click_selects_and_pulls_nothing(tab: Watched, viewer: Viewer) -> None:
    tab.settled(viewer.server)
    grabs = sum("grab" in entry for entry in session(viewer).log)
    tab.page.mouse.click(*on_the_rod(tab, viewer))
    tab.comes_true(lambda: viewer.selected == "body:rod")
    assert sum("grab" in entry for entry in session(viewer).log) == grabs
    viewer.select("")


ROOT = "window.__viserMutable.nodeRefFromName['/motion'].position.toArray()"


def where(tab: Watched, viewer: Viewer) -> np.ndarray:
    """Where the rod is seen (3,) [m]: its place, and how far the scene is shifted, of one picture."""
    script = """() => { const p = window.__viserMutable.nodePoseData; return [p["/motion"].position, p["/motion/body0"].position]; }"""
    return np.sum(np.array(tab.page.evaluate(script), dtype=float), axis=0)


@pytest.mark.usefixtures("patient")
def test_what_runs_is_followed_from_where_it_was_clicked_but_not_while_a_hand_moves_it(
    tab: Watched, viewer: Viewer
) -> None:
    held = viewer._desk.touch
    assert held is not None
    tab.settled(viewer.server)
    tab.page.mouse.click(*on_the_rod(tab, viewer))
    tab.comes_true(lambda: viewer.looks.follow == "rod")
    first = where(tab, viewer)
    held.later(lambda: session(viewer).put({"hinge": 1.0}))
    tab.comes_true(lambda: abs(angle(viewer)) > 0.5)
    for _ in range(3):
        t = session(viewer).t
        tab.comes_true(lambda t=t: session(viewer).t > t + 0.05)
        np.testing.assert_allclose(where(tab, viewer), first, atol=1e-4)
    tab.comes_true(lambda: bool(np.linalg.norm(tab.page.evaluate(ROOT)) > 0.02))
    np.testing.assert_allclose(where(tab, viewer), first, atol=1e-4)
    held.later(lambda: session(viewer).put({"hinge": 0.3}))
    tab.comes_true(lambda: abs(angle(viewer)) < 0.35)
    viewer.pause()
    tab.caught_up(viewer.server)
    shape = (round(tab.canvas_box()["height"]), round(tab.canvas_box()["width"]))
    row, column = seen_at(viewer, shape, first)
    x, y = tab.canvas_box()["x"] + column, tab.canvas_box()["y"] + row
    tip = tab.page.locator("#nexdyn-hover")
    tab.page.mouse.move(x + 2, y)
    tab.page.mouse.move(x, y)
    tab.comes_true(lambda: tip.is_visible() and tip.inner_text().startswith("rod"))
    viewer.play()
    tab.page.mouse.down()
    tab.page.mouse.move(x + 40, y, steps=6)
    tab.comes_true(lambda: held.hand is not None and session(viewer).hand is not None)
    tab.caught_up(viewer.server)
    root, t = tab.page.evaluate(ROOT), session(viewer).t
    tab.comes_true(lambda: session(viewer).t > t + 0.5)
    np.testing.assert_allclose(tab.page.evaluate(ROOT), root, atol=1e-6)  # else it would run away from the mouse
    tab.page.mouse.up()
    tab.comes_true(lambda: session(viewer).hand is None and held.hand is None)
    tab.caught_up(viewer.server)
    now, t = where(tab, viewer), session(viewer).t
    tab.comes_true(lambda: session(viewer).t > t + 0.3)
    np.testing.assert_allclose(where(tab, viewer), now, atol=1e-4)
    viewer.select("")


def test_a_drag_beside_it_turns_the_camera(tab: Watched, viewer: Viewer) -> None:
    tab.settled(viewer.server)
    box, camera = tab.canvas_box(), eye(viewer)[0]
    x, y = box["x"] + 40, box["y"] + box["height"] - 40
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 100, y - 30, steps=6)
    tab.page.mouse.up()
    tab.comes_true(lambda: bool(np.linalg.norm(eye(viewer)[0] - camera) > 0.1 * viewer._desk.stage.size))
    assert session(viewer).hand is None


def test_keys_pause_step_take_back_and_restart(tab: Watched, viewer: Viewer) -> None:
    held = viewer._desk.touch
    assert held is not None
    tab.page.mouse.click(*(tab.canvas_box()[k] + 20 for k in ("x", "y")))
    tab.page.keyboard.press("Space")
    tab.comes_true(lambda: not held.running)
    t = session(viewer).t
    tab.page.keyboard.press(".")
    tab.comes_true(lambda: session(viewer).t > t)
    assert session(viewer).t == pytest.approx(t + 1e-3)
    tab.page.keyboard.press("r")
    tab.comes_true(lambda: session(viewer).t == 0.0)
    tab.page.keyboard.press("Control+z")
    tab.comes_true(lambda: session(viewer).t == pytest.approx(t + 1e-3))
    tab.page.keyboard.press("Space")
    tab.comes_true(lambda: held.running and session(viewer).t > t + 0.01)


@pytest.mark.parametrize("dt", [1e-3, 0.05])
def test_it_never_runs_faster_than_it_is_asked_to(dt: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long step is taken once so much time has passed, within half of it."""
    monkeypatch.setattr(Viewer, "watched", True)
    with on_a_free_port(nx.Session(pendulum(), nx.RungeKutta4(dt))) as other:
        while session(other).t == 0.0:
            time.sleep(0.01)
        began, t = time.perf_counter(), session(other).t
        time.sleep(1.5)
        went, passed = session(other).t - t, time.perf_counter() - began
    assert 0.0 < went < passed + touch.BEHIND + dt


def test_sliders_and_boxes_reach_the_system(tab: Watched, viewer: Viewer) -> None:
    page = tab.page
    page.get_by_text("Parameters", exact=True).click()
    slider = page.get_by_role("slider", name="m", exact=True)
    slider.focus()
    slider.press("End")
    tab.comes_true(lambda: session(viewer).system.values["m"] == 4.0)
    motor = page.get_by_role("slider", name="motor [N·m]", exact=True)
    motor.focus()
    motor.press("Home")
    tab.comes_true(lambda: session(viewer).system.forces["motor"].target == -20.0)
    page.get_by_role("checkbox", name="gravity", exact=True).uncheck()
    tab.comes_true(lambda: not session(viewer).system.gravity.any())
    page.get_by_role("button", name="Undo: change gravity").click()
    tab.comes_true(lambda: bool(session(viewer).system.gravity.any()))
    tab.comes_true(lambda: page.get_by_role("checkbox", name="gravity", exact=True).is_checked())


def test_a_joint_is_put_by_its_slider(tab: Watched, viewer: Viewer) -> None:
    held = viewer._desk.touch
    assert held is not None
    held.toggle()
    tab.page.get_by_text("Joints", exact=True).first.click()
    slider = tab.page.get_by_role("slider", name="hinge [rad]", exact=True)
    slider.focus()
    slider.press("End")
    tab.comes_true(lambda: angle(viewer) == pytest.approx(math.pi))


def test_a_page_that_is_closed_during_a_drag_lets_go(
    browser: Any,  # noqa: F811
    viewer: Viewer,
    tab: Watched,
    patient: pytest.MonkeyPatch,
) -> None:
    with opened(browser, viewer.address) as other:
        other.comes_true(lambda: len(viewer.server.get_clients()) == 2)
        other.page.wait_for_timeout(500)
        hit = viewer._desk.inquiry.pick(np.array([0.0, -5.0, -0.5]), np.array([0.0, 1.0, 0.0]), viewer.t)
        assert hit is not None
        answer = ask(viewer, f"grab?ray=0,-5,-0.5,0,10,0&t={viewer.t}")
        assert answer["name"] == "rod"
        assert ask(viewer, f"pull?ray=1,-5,-0.5,0,10,0&hand={answer['hand']}")["target"][0] == pytest.approx(
            1.0, abs=1e-5
        )
    patient.undo()
    tab.comes_true(lambda: session(viewer).hand is None)
    assert ask(viewer, f"pull?ray=1,-5,-0.5,0,10,0&hand={answer['hand']}") == {"over": True}


def test_a_tab_that_is_closed_while_its_mouse_drags_lets_go(
    browser: Any,  # noqa: F811
    viewer: Viewer,
    tab: Watched,
    patient: pytest.MonkeyPatch,
) -> None:
    with opened(browser, viewer.address) as other:
        other.comes_true(lambda: len(viewer.server.get_clients()) == 2)
        other.page.bring_to_front()
        x, y = on_the_rod(other, viewer, list(viewer.server.get_clients().values())[-1])
        other.page.mouse.down()
        other.page.mouse.move(x + 40, y, steps=6)
        other.comes_true(lambda: session(viewer).hand is not None and abs(angle(viewer)) > 0.02)
        other.page.mouse.move(x + 60, y, steps=3)  # the button stays down
        assert session(viewer).hand is not None
    patient.undo()
    tab.comes_true(lambda: len(viewer.server.get_clients()) == 1)
    tab.comes_true(lambda: session(viewer).hand is None)
    t = session(viewer).t
    tab.comes_true(lambda: session(viewer).t > t + 0.1)  # and it goes on
    assert session(viewer).failure == ""


def ask(viewer: Viewer, question: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{viewer.address}ask/{question}", timeout=60) as reply:
        return dict(json.loads(reply.read()))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("grab?ray=1,2&t=0", "six numbers"),
        ("pull?ray=0,0,0,0,0,1", "hand is the number"),
        ("pull?ray=0,0,nan,0,0,1&hand=1", "six numbers"),
        ("release?hand=x", "hand is the number"),
    ],
)
def test_questions_that_are_wrong_are_answered_so(viewer: Viewer, question: str, said: str) -> None:
    assert said in ask(viewer, question)["error"]


def curves(tab: Watched) -> dict[str, list[list[float]]]:
    """What the page plots: by title the times, and the values of the curves; an own cursor is the last."""
    script = """() => Object.fromEntries(Object.values(window.__viserTestpoints.uplots).map(({chart}) =>
        [chart.root.querySelector(".u-title").innerText, chart.data.map(column => [...column])]))"""
    return dict(tab.page.evaluate(script))


def test_what_runs_is_plotted_and_leaves_trails(tab: Watched, viewer: Viewer) -> None:
    """The menus and 'Plot it' show the last states, while it goes on."""
    held = viewer._desk.touch
    assert held is not None
    viewer.look(Look(PLAIN | {"trails"}))
    held.later(lambda: session(viewer).put({"hinge": 1.0}))
    tab.comes_true(lambda: session(viewer).can_undo == "put hinge")
    viewer.select("rod")
    tab.page.get_by_role("button", name="Plot it").click()
    try:
        wanted = ("energy", "joint coordinates q: hinge", "position of the origin of rod")

        def drawn() -> bool:
            found = curves(tab)
            return all(
                any(title.startswith(one) and len(data[0]) > 30 for title, data in found.items()) for one in wanted
            )

        tab.comes_true(drawn)
        held.toggle()
        t = session(viewer).t
        tab.comes_true(lambda: all(data[0][-1] <= t + 1e-9 for data in curves(tab).values()))
        whole = session(viewer).result()
        for title, data in curves(tab).items():
            if not title.startswith(wanted[2]):
                continue
            times, told = np.array(data[0][:-3]), np.array([x[:-3] for x in data[1:4]]).T
            at = np.searchsorted(whole.recording.t, times - 1e-9)
            once = np.diff(times, append=np.inf) > 1e-9  # where it was put elsewhere there are two states at one time
            once[1:] &= once[:-1]
            assert once.sum() > 8
            np.testing.assert_allclose(told[once], whole.position("rod").values[at[once]], atol=1e-5)
        trail, place = viewer._desk.stage._trails.points, viewer._desk.motion.at(t).position[0]
        assert len(trail) > 10 and np.ptp(trail[:, 0, 0]) > 1e-3  # it swings, the less the longer the page took
        np.testing.assert_allclose(trail[-1, -1], place, atol=1e-5)  # the centre of mass of the rod is its origin
        orange = tab.settled(viewer.server) - np.array((240, 140, 20))
        assert (np.abs(orange).max(axis=-1) < 40).sum() > 20
    finally:
        viewer._desk.controls.plots.drop()
        viewer.look(Look(PLAIN))
        viewer.select("")


def test_a_run_that_fails_stops_says_so_and_starts_anew(tab: Watched, viewer: Viewer) -> None:
    held = viewer._desk.touch
    assert held is not None
    held.later(lambda: session(viewer).change({"motor.target": 1e308, "motor.effort_limit": None}))
    tab.comes_true(lambda: session(viewer).failure != "")
    tab.page.get_by_text("stopped").first.wait_for()
    held.later(lambda: session(viewer).change({"motor.target": 0.0, "motor.effort_limit": 20.0}))
    tab.page.get_by_role("button", name="Restart").click()
    tab.comes_true(lambda: session(viewer).failure == "" and session(viewer).t < 5.0)
    held.running = True
    tab.comes_true(lambda: session(viewer).t > 0.1)


def test_its_recording_is_shown_and_goes_on(tab: Watched, viewer: Viewer) -> None:
    tab.comes_true(lambda: session(viewer).t > 0.3)
    tab.page.get_by_role("button", name="Show the recording").click()
    tab.comes_true(lambda: viewer._desk.touch is None and viewer._desk.motion.moves)
    t = session(viewer).t
    assert viewer._desk.motion.end == pytest.approx(t)
    tab.page.get_by_role("button", name="Live", exact=True).click()
    tab.comes_true(lambda: viewer._desk.touch is not None and session(viewer).t > t + 0.1)


def test_a_result_runs_on_from_the_shown_moment(browser: Any) -> None:  # noqa: F811
    result = nx.simulate(pendulum(), t_end=1.0, method=nx.RungeKutta4(1e-3), q0={"hinge": 1.0}, output_every=50)
    with on_a_free_port(result) as viewer, opened(browser, viewer.address) as tab:
        tab.comes_true(lambda: viewer.watched)
        viewer.seek(0.5)
        tab.caught_up(viewer.server)  # its keys are known to the page
        tab.page.keyboard.press("l")
        tab.comes_true(lambda: viewer._desk.touch is not None and session(viewer).t > 0.55)
        first = session(viewer).result()
        assert first.recording.t[0] == pytest.approx(0.5)
        assert first.recording.q[0] == pytest.approx(result.recording.q[10])
        assert first.recording.v[0] == pytest.approx(result.recording.v[10])


@pytest.mark.usefixtures("patient")
def test_keys_alone_pull_what_is_selected_along_the_view_and_let_go(tab: Watched, viewer: Viewer) -> None:
    tab.settled(viewer.server)
    viewer.select("")
    tab.page.evaluate("document.activeElement?.blur()")
    tab.page.keyboard.press("g")
    tab.page.get_by_text("select a body or joint first").wait_for()
    assert session(viewer).hand is None
    tab.page.get_by_role("tab", name="Model").focus()
    tab.page.keyboard.press("Enter")
    tab.page.get_by_role("treeitem", name="rod", exact=True).focus()
    tab.page.keyboard.press("Enter")
    tab.comes_true(lambda: viewer.selected == "body:rod")
    before, (camera, target) = energy(viewer), eye(viewer)
    tab.page.keyboard.press("g")
    tab.comes_true(lambda: session(viewer).hand is not None and tab.page.evaluate(HELD))
    first = session(viewer).hand
    assert first is not None and first.body == "rod"
    ahead = (target - camera) / np.linalg.norm(target - camera)
    right = np.cross(ahead, (0, 0, 1)) / np.linalg.norm(np.cross(ahead, (0, 0, 1)))
    step = 0.02 * 2.0 * np.linalg.norm(target - camera) * np.tan(0.4)
    start = target_of(viewer)
    for keys, way in (
        (["ArrowRight"] * 4, 4.0 * right),
        (["Shift+ArrowUp", "ArrowDown"], 4.0 * np.cross(right, ahead)),
        (["PageUp", "PageUp", "PageDown"], ahead),
    ):
        for key in keys:
            tab.page.keyboard.press(key)
        start = start + step * way
        tab.comes_true(lambda x=start: np.allclose(target_of(viewer), x, atol=0.02 * step))
    tab.page.keyboard.press("Shift+ArrowRight")
    sign = float(np.sign(right @ (1, 0, 0)))  # where a turn about y takes what hangs: to −x
    tab.comes_true(lambda: -sign * angle(viewer) > 0.05)
    tab.page.keyboard.press("Escape")
    tab.comes_true(lambda: session(viewer).hand is None)
    assert not viewer.ended
    np.testing.assert_array_equal(eye(viewer)[0], camera)
    viewer.pause()
    result, log = session(viewer).result(), json.loads(json.dumps(session(viewer).log))
    (name,) = [name for name in result.system.forces if name.startswith("hand")]
    gained, worked, lost = balance(result, result.system.forces[name])
    assert result.energy().total.values.max() - before > 0.01 and abs(worked) > 0.01
    assert gained == pytest.approx(worked - lost, rel=1e-3, abs=1e-4 * (abs(worked) + lost))
    again = nx.Session.replay(pendulum(), log, nx.RungeKutta4(1e-3))
    np.testing.assert_array_equal(again.result().recording.q, result.recording.q)
    viewer.select("")


@pytest.mark.usefixtures("patient")
def test_arrow_keys_turn_the_view_again_once_the_hand_has_let_go(tab: Watched, viewer: Viewer) -> None:
    tab.settled(viewer.server)
    viewer.select("joint:hinge")
    tab.page.evaluate("document.activeElement?.blur()")
    tab.page.keyboard.press("g")
    tab.comes_true(lambda: session(viewer).hand is not None and tab.page.evaluate(HELD))
    camera = eye(viewer)[0]
    tab.page.keyboard.press("ArrowLeft")
    tab.page.keyboard.press("Enter")
    tab.comes_true(lambda: session(viewer).hand is None)
    np.testing.assert_array_equal(eye(viewer)[0], camera)
    tab.page.keyboard.down("ArrowLeft")
    tab.comes_true(lambda: np.linalg.norm(eye(viewer)[0] - camera) > 1e-3)
    tab.page.keyboard.up("ArrowLeft")
    viewer.select("")


@pytest.mark.usefixtures("patient")
def test_keys_pull_what_runs_anew_on_the_same_page_as_well(tab: Watched, viewer: Viewer) -> None:
    numbers = []
    for _ in range(2):
        tab.settled(viewer.server)
        viewer.select("body:rod")
        tab.page.evaluate("document.activeElement?.blur()")
        tab.page.keyboard.press("g")
        tab.comes_true(lambda: session(viewer).hand is not None and tab.page.evaluate(HELD))
        held = viewer._desk.touch
        assert held is not None and held._drag is not None
        numbers.append(held._drag.number)
        ask(viewer, f"release?hand={numbers[0] if len(numbers) > 1 else 0}")  # a late one, of a drag that is over
        hand = session(viewer).hand
        assert hand is not None
        tab.page.keyboard.press("ArrowRight")
        tab.comes_true(lambda start=hand.target: bool(np.linalg.norm(target_of(viewer) - start) > 0.01))
        tab.page.keyboard.press("Enter")
        tab.comes_true(lambda: session(viewer).hand is None)
        viewer.select("")
        viewer.keep()
        viewer.live(nx.Session(pendulum(), nx.RungeKutta4(1e-3)))
    assert numbers[1] > numbers[0]


def target_of(viewer: Viewer) -> np.ndarray:
    """Where the hand is (3,) [m]."""
    hand = session(viewer).hand
    assert hand is not None
    return hand.target

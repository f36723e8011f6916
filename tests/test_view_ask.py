"""What is asked of the page by mouse and keys: the body under the mouse, what is selected, the tree of the model."""

from __future__ import annotations

import csv
import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (  # noqa: F401 (fixtures)
    Watched,
    at_rest,
    browser,
    card,
    centers,
    chain,
    comes_true,
    eye,
    is_body,
    needs_chromium,
    numbers,
    on_a_free_port,
    opened,
    place_of,
    pointed,
    seen_at,
    shown_times,
    tab,
    viewer,
)

import nexdyn as nx
from nexdyn.errors import UnknownNameError
from nexdyn.forces import FORCES
from nexdyn.joints import JOINTS
from nexdyn.model.coupling import COUPLINGS
from nexdyn.model.driver import DRIVERS
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.cards import tree
from nexdyn.view.viewer import Viewer
from nexdyn.view.words import Words

pytestmark = [needs_chromium, pytest.mark.timeout(900)]


# --- hover and click ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", [0.0, 1.0, 2.5])
def test_the_mouse_over_a_body_names_it(tab: Watched, viewer: Viewer, chain: nx.Result, t: float) -> None:
    viewer.seek(t)
    tip = tab.page.locator("#nexdyn-hover")
    for k, name in ((0, "link1"), (3, "link4"), (5, "link6")):
        pointed(tab, place_of(tab, viewer, centers(chain, t)[k]))
        tab.comes_true(lambda name=name: tip.is_visible() and tip.inner_text().split()[0] == name)
    box = tab.canvas_box()
    pointed(tab, (box["x"] + 20, box["y"] + box["height"] - 20))  # the floor has no name
    tab.comes_true(lambda: not tip.is_visible())


def test_a_click_selects_a_body_and_tells_its_numbers_at_the_shown_time(
    tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    viewer.seek(1.0)
    tab.page.mouse.click(*place_of(tab, viewer, centers(chain, 1.0)[2]))
    comes_true(lambda: viewer.selected == "body:link3")
    tab.comes_true(lambda: "mass" in card(tab))
    body = chain.system.bodies["link3"].resolved(chain.system.values)
    for t in (1.0, 2.345):
        viewer.seek(t)
        tab.settled(viewer.server)
        told, now = card(tab), chain.t.values
        k = int(np.searchsorted(now, t, side="right")) - 1
        s = min((t - now[k]) / (now[min(k + 1, len(now) - 1)] - now[k]), 1.0)

        def of(values: np.ndarray, k: int = k, s: float = s) -> np.ndarray:
            return np.asarray((1.0 - s) * values[k] + s * values[k + 1])

        wrench = of(chain.reaction("hinge3").values)
        for label, expected, unit in (
            ("mass", [body.mass], "kg"),
            ("Ixx Iyy Izz", np.diag(body.inertia), "kg·m²"),
            ("position", of(chain.position("link3").values), "m"),
            ("velocity", of(chain.velocity("link3").values), "m/s"),
            ("angular velocity", of(chain.angular_velocity("link3").values), "rad/s"),
            ("reaction of hinge3: force", wrench[:3], "N"),
            ("reaction of hinge3: moment", wrench[3:], "N·m"),
            ("reaction of hinge3: |force|", [np.linalg.norm(wrench[:3])], "N"),
        ):
            assert told[label][-1] == unit
            np.testing.assert_allclose(numbers(told[label]), expected, rtol=6e-4, atol=1e-9, err_msg=label)
        assert "reaction of hinge4: force" in told and "reaction of hinge2: force" not in told


def test_the_numbers_go_on_while_it_plays(tab: Watched, viewer: Viewer) -> None:
    viewer.select("link6")
    tab.comes_true(lambda: "position" in card(tab))
    first = numbers(card(tab)["position"])
    tab.page.get_by_role("button", name="Play", exact=True).click()
    tab.comes_true(lambda: bool(np.abs(numbers(card(tab)["position"]) - first).max() > 0.1))
    tab.page.get_by_role("button", name="Pause", exact=True).click()
    comes_true(lambda: not viewer.playing)
    tab.settled(viewer.server)
    expected = viewer._desk.motion.at(viewer.t).position[5]
    np.testing.assert_allclose(numbers(card(tab)["position"]), expected, rtol=2e-3, atol=2e-3)


def test_what_is_selected_has_an_outline_that_moves_with_it(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    orange = np.array((250, 140, 10))

    def marked(picture: np.ndarray) -> np.ndarray:
        return np.argwhere(np.abs(picture - orange).max(axis=-1) < 60)

    viewer.seek(0.5)
    for name, k in (("link4", 3), ("link6", 5)):
        viewer.select(name)
        for t in (0.5, 1.5):
            viewer.seek(t)
            picture = tab.settled(viewer.server)
            viewer.select("")
            plain = tab.settled(viewer.server)
            viewer.select(name)
            places = np.argwhere(np.abs(picture - plain).max(axis=-1) > 40)
            assert len(places) > 30 and len(marked(picture)) > len(marked(plain))
            at = np.array(seen_at(viewer, picture.shape, centers(chain, t)[k]))
            assert np.abs(places.mean(axis=0) - at).max() < 12  # about the body's middle


def test_a_drag_selects_nothing_and_a_click_beside_the_bodies_deselects(
    tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    x, y = place_of(tab, viewer, centers(chain, 0.0)[2])
    before = eye(viewer)[0]
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 60, y + 20, steps=5)
    tab.page.mouse.up()
    comes_true(lambda: not np.allclose(eye(viewer)[0], before, atol=1e-2))
    assert viewer.selected == ""
    viewer.aim()
    tab.page.mouse.click(*place_of(tab, viewer, centers(chain, 0.0)[2]))
    comes_true(lambda: viewer.selected == "body:link3")
    box = tab.canvas_box()
    tab.page.mouse.click(box["x"] + 20, box["y"] + box["height"] - 20)
    comes_true(lambda: viewer.selected == "")


ROOT = "window.__viserMutable.nodeRefFromName['/motion'].position.toArray()"


def test_a_click_follows_the_body_which_stays_where_it_is_seen(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    """Also the child of a joint that is clicked in the tree; beside all bodies a click ends it, and nothing jumps."""
    viewer.seek(1.0)
    place = centers(chain, 1.0)[4]
    tab.page.mouse.click(*place_of(tab, viewer, place))
    comes_true(lambda: viewer.selected == "body:link5" and viewer.looks.follow == "link5")
    for t in (1.0, 1.7, 2.4):
        viewer.seek(t)
        tab.caught_up(viewer.server)
        np.testing.assert_allclose(tab.page.evaluate(ROOT), place - centers(chain, t)[4], atol=1e-5)
        pointed(tab, place_of(tab, viewer, place))
        tab.comes_true(lambda: tab.page.locator("#nexdyn-hover").inner_text().startswith("link5"))
    shift = place - centers(chain, 2.4)[4]
    tab.page.get_by_role("tab", name="Model").click()
    tab.page.get_by_role("treeitem").filter(has_text=re.compile("^hinge2")).click()
    comes_true(lambda: viewer.looks.follow == "link2")
    tab.page.get_by_role("tab", name="Plots").click()
    tab.caught_up(viewer.server)
    np.testing.assert_allclose(tab.page.evaluate(ROOT), shift, atol=1e-5)
    viewer.seek(0.6)
    tab.caught_up(viewer.server)
    shift = shift + centers(chain, 2.4)[1] - centers(chain, 0.6)[1]
    np.testing.assert_allclose(tab.page.evaluate(ROOT), shift, atol=1e-5)
    box = tab.canvas_box()
    tab.page.mouse.click(box["x"] + 20, box["y"] + box["height"] - 20)
    comes_true(lambda: viewer.selected == "" and viewer.looks.follow == "")
    tab.caught_up(viewer.server)
    np.testing.assert_allclose(tab.page.evaluate(ROOT), shift, atol=1e-5)
    tab.page.keyboard.press("r")
    comes_true(lambda: viewer.t == 0.0)
    tab.caught_up(viewer.server)
    np.testing.assert_allclose(tab.page.evaluate(ROOT), 0.0, atol=1e-6)


def test_a_click_follows_nothing_where_the_box_is_off_and_the_button_does(
    tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    along = tab.page.get_by_label("follow what is selected", exact=True)
    along.uncheck()
    try:
        tab.page.mouse.click(*place_of(tab, viewer, centers(chain, 0.0)[3]))
        comes_true(lambda: viewer.selected == "body:link4")
        tab.page.get_by_role("button", name="Follow", exact=True).click()
        comes_true(lambda: viewer.looks.follow == "link4")
        tab.page.get_by_role("button", name="Follow", exact=True).click()
        comes_true(lambda: viewer.looks.follow == "")
    finally:
        along.check()
        comes_true(lambda: viewer._desk.inquiry._along.value)


def test_the_selected_body_is_followed_by_a_key(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    place = centers(chain, 0.0)[5]
    tab.page.mouse.click(*place_of(tab, viewer, place))
    comes_true(lambda: viewer.selected == "body:link6" and viewer.looks.follow == "link6")
    tab.page.keyboard.press("f")
    comes_true(lambda: viewer._desk.look.follow == "")
    tab.page.keyboard.press("f")
    comes_true(lambda: viewer._desk.look.follow == "link6")
    for t in (0.6, 1.2):
        viewer.seek(t)
        picture = tab.settled(viewer.server)
        assert is_body(picture, seen_at(viewer, picture.shape, place))
        pointed(tab, place_of(tab, viewer, place))  # the line of sight is that of the shifted scene
        tab.comes_true(lambda: tab.page.locator("#nexdyn-hover").inner_text().startswith("link6"))
    tab.page.keyboard.press("f")
    comes_true(lambda: viewer._desk.look.follow == "")


# --- distances and angles -------------------------------------------------------------------------------------------


def test_points_that_are_picked_tell_distances_and_the_angle_between_them_as_they_move(
    tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    viewer.seek(1.0)
    picked = (1, 3, 5)
    for k in picked:
        x, y = place_of(tab, viewer, centers(chain, 1.0)[k])
        tab.page.keyboard.down("Shift")
        tab.page.mouse.click(x, y)
        tab.page.keyboard.up("Shift")
        comes_true(lambda k=k: [point.body for point in viewer._desk.inquiry._points][-1:] == [f"link{k + 1}"])
    assert viewer.selected == ""
    points = viewer._desk.inquiry._points
    radius = 0.06
    for t in (1.0, 2.2):
        viewer.seek(t)
        tab.settled(viewer.server)
        told, p = card(tab), []
        for k, point in zip(picked, points, strict=True):
            R = chain.rotation(f"link{k + 1}").sel(time=t, method="nearest").values
            p.append(chain.position(f"link{k + 1}").sel(time=t, method="nearest").values + R @ point.p_B)
            assert np.linalg.norm(point.p_B) < 3 * radius  # on the surface, where its middle is seen
        for name, expected in (("A (link2)", p[0]), ("|AB|", [np.linalg.norm(p[1] - p[0])]), ("Δ BC", p[2] - p[1])):
            np.testing.assert_allclose(numbers(told[name]), expected, rtol=1e-3, atol=1e-3)
        u, v = p[0] - p[1], p[2] - p[1]
        expected = np.arccos(u @ v / np.linalg.norm(u) / np.linalg.norm(v))
        np.testing.assert_allclose(numbers(told["angle at B"]), expected, rtol=2e-3)
        assert told["|AB|"][-1] == "m" and told["angle at B"][-1] == "rad"
    viewer.select("joint:hinge4")
    tab.page.keyboard.press("m")  # a fourth point begins anew, at the selected joint
    comes_true(lambda: [point.body for point in viewer._desk.inquiry._points] == ["link4"])
    tab.page.get_by_role("button", name="Clear points").click()
    comes_true(lambda: viewer._desk.inquiry._points == [])
    tab.comes_true(lambda: tab.page.locator(".nexdyn-ruler").count() == 0)


# --- plots ----------------------------------------------------------------------------------------------------------


def ranges(tab: Watched) -> list[list[float]]:
    """The times between which each plot is drawn."""
    return list(
        tab.page.evaluate(
            "Object.values(window.__viserTestpoints.uplots).map(u => [u.chart.scales.x.min, u.chart.scales.x.max])"
        )
    )


def saved(tab: Watched, kind: str) -> tuple[str, bytes]:
    """What the button gives to download: its name and its bytes."""
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name=kind, exact=True).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_click_in_a_plot_goes_to_its_time(tab: Watched, viewer: Viewer) -> None:
    viewer.pause()
    plot = tab.page.locator(".u-over").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    for share in (0.25, 0.6):
        tab.page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        comes_true(lambda share=share: viewer.t == pytest.approx(4.0 * share, abs=0.05))
    tab.page.mouse.dblclick(box["x"] + 0.1 * box["width"], box["y"] + box["height"] / 2)  # shows all again
    tab.page.wait_for_timeout(600)
    assert viewer.t == pytest.approx(2.4, abs=0.05)


def test_several_plots_are_kept_zoomed_together_and_saved(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    plots = viewer._desk.controls.plots
    try:
        viewer.select("hinge2")
        tab.page.get_by_role("button", name="Plot it").click()
        comes_true(lambda: plots.chosen == [("joint_position", "hinge2"), ("reaction", "hinge2")])
        tab.page.get_by_label("plot", exact=True).click()
        tab.page.get_by_role("option", name="velocity", exact=True).click()
        tab.page.get_by_label("of", exact=True).click()
        tab.page.get_by_role("option", name="link6", exact=True).click()
        tab.page.get_by_role("button", name="Keep this plot").click()
        comes_true(lambda: plots.chosen[-1] == ("velocity", "link6"))
        tab.comes_true(lambda: len(ranges(tab)) == 5)  # energy, coordinate, force, moment, velocity
        tab.comes_true(lambda: all(np.allclose(x, (0.0, 4.0)) for x in ranges(tab)))
        over = tab.page.locator(".uplot .u-over").first
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        tab.page.wait_for_timeout(2500)  # the plots are laid out anew for a while after one is added
        tab.page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + box["height"] / 2)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2, steps=6)
        tab.page.mouse.up()
        tab.comes_true(lambda: all(np.allclose(x, (1.0, 2.0), atol=0.05) for x in ranges(tab)))
        viewer.seek(1.5)  # the cursor moves, the zoom stays
        tab.comes_true(lambda: np.allclose(shown_times(tab), 1.5))
        assert all(np.allclose(x, (1.0, 2.0), atol=0.05) for x in ranges(tab))
        tab.page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        tab.comes_true(lambda: all(np.allclose(x, (0.0, 4.0)) for x in ranges(tab)))

        name, text = saved(tab, "CSV")
        head, *rows = list(csv.reader(text.decode().splitlines()))
        assert name == "hinge-chain.csv" and head[0] == "time [s]" and len(rows) == len(chain.t)
        table = np.array(rows, dtype=float)
        np.testing.assert_array_equal(table[:, 0], chain.t)
        (column,) = [k for k, label in enumerate(head) if label.startswith("reaction force") and ": fy [N]" in label]
        np.testing.assert_array_equal(table[:, column], chain.reaction("hinge2").sel(component="fy"))
        (column,) = [k for k, label in enumerate(head) if "link6" in label and ": z [m/s]" in label]
        np.testing.assert_array_equal(table[:, column], chain.velocity("link6").sel(axis="z"))
        assert saved(tab, "PNG")[1].startswith(b"\x89PNG") and b"<svg" in saved(tab, "SVG")[1][:1000]
        tab.page.get_by_role("button", name="Drop kept plots").click()
        tab.comes_true(lambda: len(ranges(tab)) == 2)
    finally:
        plots.drop()


# --- the tree -------------------------------------------------------------------------------------------------------


def test_plots_are_zoomed_together_by_keys(tab: Watched, viewer: Viewer) -> None:
    viewer.seek(1.0)
    tab.comes_true(lambda: len(ranges(tab)) >= 2 and all(np.allclose(x, (0.0, 4.0)) for x in ranges(tab)))
    plot, camera = tab.page.locator(".uplot").first, eye(viewer)[0]
    tab.comes_true(lambda: plot.get_attribute("tabindex") == "0")
    tab.page.wait_for_timeout(2500)  # the plots are laid out anew for a while
    plot.focus()
    for key, seen in (
        ("+", (0.0, 2.0)),
        ("+", (0.5, 1.5)),
        ("ArrowRight", (0.75, 1.75)),
        ("ArrowLeft", (0.5, 1.5)),
        ("-", (0.0, 2.0)),
        ("+", (0.5, 1.5)),
        ("0", (0.0, 4.0)),
    ):
        tab.page.keyboard.press(key)
        tab.comes_true(lambda seen=seen: all(np.allclose(x, seen, atol=1e-6) for x in ranges(tab)))
    np.testing.assert_array_equal(eye(viewer)[0], camera)
    assert viewer.t == 1.0 and not viewer.playing
    tab.page.evaluate("document.activeElement?.blur()")


SEEN = """title => { const plot = [...document.querySelectorAll(".u-title")].find(x => x.innerText === title)?.closest(".uplot");
  if (!plot) return false;
  const b = plot.getBoundingClientRect(), x = b.x + b.width / 2, top = document.elementFromPoint(x, b.y + b.height / 2);
  return b.height > 0 && b.y > -1 && b.bottom < innerHeight + 1 && plot.contains(top); }"""
"""Whether a plot is in sight, to a pixel."""


def test_plot_it_goes_to_the_plots_of_what_is_selected_and_a_click_finds_them_again(
    tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    plots = viewer._desk.controls.plots
    try:
        tab.page.get_by_role("tab", name="Model").click()
        for name, title in (
            ("link2", "position of the origin of link2 in the world [m]"),
            ("hinge5", "joint coordinates q: hinge5 [rad]"),
        ):
            tab.page.get_by_role("treeitem").filter(has_text=re.compile(f"^{name}( |$)")).click()
            comes_true(lambda name=name: viewer.selected.endswith(f":{name}"))
            tab.page.get_by_role("button", name="Plot it").click()
            tab.comes_true(lambda: tab.page.get_by_role("tab", name="Plots").get_attribute("aria-selected") == "true")
            tab.comes_true(lambda title=title: tab.page.evaluate(SEEN, title))
            tab.page.get_by_role("tab", name="Model").click()
        tab.page.get_by_role("tab", name="Plots").click()
        tab.page.evaluate("document.querySelector('.u-title').scrollIntoView()")
        tab.comes_true(lambda: not tab.page.evaluate(SEEN, "joint coordinates q: hinge5 [rad]"))
        viewer._desk.inquiry._along.value = False
        tab.page.mouse.click(*place_of(tab, viewer, centers(chain, viewer.t)[1]))
        comes_true(lambda: viewer.selected == "body:link2")
        tab.comes_true(lambda: tab.page.evaluate(SEEN, "position of the origin of link2 in the world [m]"))
    finally:
        viewer._desk.inquiry._along.value = True
        plots.drop()


def test_the_tree_of_the_model_selects_by_mouse_and_keys(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    tab.page.get_by_role("tab", name="Model").click()
    try:
        items = tab.page.get_by_role("treeitem")
        assert items.all_inner_texts()[:4] == ["ground", "hinge1 (revolute)", "link1", "hinge2 (revolute)"]
        assert items.count() == 1 + 2 * len(chain.system.bodies) + 2
        items.filter(has_text=re.compile("^tip")).click()  # the marker, after the group's name
        comes_true(lambda: viewer.selected == "body:link6")
        items.filter(has_text=re.compile("^hinge2")).click()
        comes_true(lambda: viewer.selected == "joint:hinge2")
        viewer.seek(1.0)
        tab.settled(viewer.server)
        told = card(tab)
        np.testing.assert_allclose(numbers(told["q"]), chain.joint_position("hinge2").sel(time=1.0), rtol=6e-4)
        np.testing.assert_allclose(numbers(told["v"]), chain.joint_velocity("hinge2").sel(time=1.0), rtol=6e-4)
        assert (told["q"][-1], told["v"][-1]) == ("rad", "rad/s")
        tab.page.keyboard.press("Tab")
        items.nth(3).focus()
        for key in ("ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
            tab.page.keyboard.press(key)
        comes_true(lambda: viewer.selected == "body:link2")
        tab.comes_true(lambda: items.nth(4).get_attribute("aria-selected") == "true")
        assert not viewer.playing  # a key in the tree is not the space bar of the scene
        tab.page.keyboard.press("Space")
        tab.frames()
        assert not viewer.playing and viewer.selected == "body:link2"
    finally:
        tab.page.get_by_role("tab", name="Plots").click()


# --- bad input ------------------------------------------------------------------------------------------------------


def test_a_name_that_nobody_has_is_refused_with_the_nearest(viewer: Viewer) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'link3'"):
        viewer.select("lnik3")
    with pytest.raises(UnknownNameError, match="no joint 'link3'"):
        viewer.select("joint:link3")
    assert viewer.selected == ""


@pytest.mark.parametrize(
    "asked", ["hover", "hover?ray=1,2,3&t=0", "hover?ray=a,b,c,d,e,f&t=0", "hover?ray=0,0,0,nan,0,1&t=0", "select?of=x", "?"]
)  # fmt: skip
def test_a_question_that_is_not_understood_is_answered_so(viewer: Viewer, asked: str) -> None:
    with urllib.request.urlopen(f"{viewer.address}ask/{asked}") as reply:
        assert "error" in json.load(reply)
    assert viewer.selected == "" and not viewer.ended


def test_a_tab_closed_with_the_button_down_leaves_the_rest_as_it_is(
    browser: Any, tab: Watched, viewer: Viewer, chain: nx.Result
) -> None:
    with opened(browser, viewer.address) as other:
        comes_true(lambda: len(viewer.server.get_clients()) == 2)
        box = other.canvas_box()
        other.page.mouse.move(box["x"] + 200, box["y"] + 200)
        other.page.mouse.down()
        other.page.mouse.move(box["x"] + 240, box["y"] + 220, steps=3)
    comes_true(lambda: len(viewer.server.get_clients()) == 1)
    tab.page.mouse.click(*place_of(tab, viewer, centers(chain, 0.0)[1]))
    comes_true(lambda: viewer.selected == "body:link2")


def test_a_page_that_lacks_what_the_script_needs_says_so(browser: Any, viewer: Viewer) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        page.add_init_script(
            "window.__nexdynPatience = 0; Object.defineProperty(window, '__viserMutable', { get: () => ({ canvas: null }), set() {} });"
        )
        page.goto(viewer.address)
        alert = page.get_by_role("alert").filter(has_text="viser")
        alert.wait_for()
        for part in ("drainMessageQueue", "camera", "viser 1.1"):
            assert part in alert.inner_text()
    finally:
        context.close()


# --- what a line of sight meets -------------------------------------------------------------------------------------


def test_the_point_that_is_met_is_the_first_on_the_line_and_on_the_body() -> None:
    system = nx.System("balls", gravity=(0, 0, 0))
    rng = np.random.default_rng(2)
    at, radius = rng.uniform(-1, 1, (12, 3)), rng.uniform(0.1, 0.4, 12)
    for k in range(12):
        system.add_body(f"b{k}", mass=1.0, position=at[k], shapes=[nx.Sphere(float(radius[k]))])
    with on_a_free_port(system) as viewer:
        pick, frame = viewer._desk.inquiry.pick, viewer._desk.motion.at(0.0)
        met = 0
        for _ in range(200):
            o, d = rng.normal(size=3) * 3.0, rng.normal(size=3)
            d = (rng.uniform(-1, 1, 3) - o) / 2.0 + 0.01 * d
            u = d / np.linalg.norm(d)
            b = (o - at) @ u
            root = b**2 - ((o - at) ** 2).sum(axis=1) + radius**2
            s = np.where(root > 0.0, -b - np.sqrt(np.maximum(root, 0.0)), np.inf)
            s[s < 0.0] = np.inf
            clear = np.abs(root) > 0.02  # a sphere is drawn with flat triangles: at its edge they miss
            hit = pick(o, d, 0.0)
            inside = bool((((o - at) ** 2).sum(axis=1) < radius**2).any())
            if inside or not clear.all():
                continue
            k = int(np.argmin(s))
            assert (hit is None) == (not np.isfinite(s[k]))
            if hit is None:
                continue
            met += 1
            assert hit.body == f"b{k}" or abs(np.sort(s)[1] - s[k]) < 0.02
            i = viewer._desk.motion.body(hit.body)
            assert np.linalg.norm(hit.p_B) == pytest.approx(radius[i], rel=0.02)
            R = rotation_matrix(frame.quaternion[i].astype(float))
            np.testing.assert_allclose(frame.position[i] + R @ hit.p_B, hit.p_W, atol=1e-6)
        assert met > 40


# --- the tree -------------------------------------------------------------------------------------------------------


def test_the_tree_names_forces_contacts_drivers_couplings_and_markers() -> None:
    """With what each acts on; an item selects the first of it."""
    system = nx.System("all of it")
    for k in range(3):
        system.add_body(f"rod{k}", mass=1.0, inertia=(1, 1, 1), position=(0, k, -0.5), shapes=[nx.Sphere(0.1)])
        system.add_joint(nx.Revolute(f"hinge{k}", system.ground, f"rod{k}", at=(0, k, 0), axis=(0, 1, 0)))
    system.add_marker("tip", "rod2", position=(0, 0, -0.5))
    system.add_force(nx.TorqueActuator("motor", "hinge0", target=0.0))
    system.add_force(nx.PointSpring("spring", "tip", "rod1", stiffness=1.0, length=1.0))
    system.add_contact(nx.Contact("floor", "rod*", "ground", stiffness=1e4))
    system.add_driver(nx.Driver("crank", "hinge1", "=t"))
    system.add_coupling(nx.Gear("gear", "hinge0", "hinge2", ratio=2.0))
    for language, kinds in (
        ("en", ("torque actuator", "point spring", "joint", "gear")),
        ("zh", ("力矩驱动器", "点间弹簧", "关节", "齿轮")),
    ):
        words = Words(language)
        told = re.findall(r'class="nexdyn-part"(?: data-nexdyn="([^"]*)")?>([^<]*)<', tree(system, words))
        items = {label: key for key, label in told}
        assert words.missing == set() and len(told) == len(items) == 5 + 6
        motor, spring, driver, gear = kinds
        assert items[f"motor ({motor}) → hinge0"] == "joint:hinge0"
        assert items[f"spring ({spring}) → rod2, rod1"] == "body:rod2"
        assert items["floor"] == "" and items["tip → rod2"] == "body:rod2"
        assert items[f"crank ({driver}) → hinge1"] == "joint:hinge1"
        assert items[f"gear ({gear}) → hinge0, hinge2"] == "joint:hinge0"


def test_all_kinds_have_a_chinese_name() -> None:
    words = Words("zh")
    for kind in [*FORCES, *DRIVERS, *COUPLINGS, *JOINTS]:
        words(kind if kind in JOINTS else kind.replace("_", " "))
    assert words.missing == set()

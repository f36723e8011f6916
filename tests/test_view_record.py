"""The page of a recording does without a server what the viewer does with one: it tells, measures, shows and plots."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (  # noqa: F401 (fixtures)
    PLAIN,
    Watched,
    browser,
    card,
    chain,
    is_body,
    needs_chromium,
    numbers,
    on_a_free_port,
    opened,
    pointed,
    saved,
)
from PIL import Image

import nexdyn as nx
from nexdyn.errors import InputError
from nexdyn.view import members as lists
from nexdyn.view import recording
from nexdyn.view.motion import Motion
from nexdyn.view.plotting import PLOTTED
from nexdyn.view.poses import Poser
from nexdyn.view.recording import page_of
from nexdyn.view.stage import LAYERS, Look
from nexdyn.view.words import Words

pytestmark = [needs_chromium, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def ghost(chain: nx.Result) -> nx.Result:
    return nx.simulate(
        nx.load("hinge-chain"), t_end=4.0, method=nx.RungeKutta4(1e-3), output_every=10, v0=np.full(6, 0.3)
    )


@pytest.fixture(scope="module")
def page(
    browser: Any, chain: nx.Result, ghost: nx.Result, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    path = tmp_path_factory.mktemp("recording") / "chain.html"
    nx.record(chain, path, layers=PLAIN, ghost=ghost)
    with opened(browser, path.as_uri(), offline=True, size=(1400, 800)) as found:
        found.until(
            "document.querySelector('#root #nexdyn-slider') && document.querySelectorAll('.nexdyn-plot').length > 3"
        )
        found.page.keyboard.press("Space")
        yield found
        assert found.faults == []
        assert [url for url in found.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def stands_at(page: Watched, t: float) -> float:
    """Put the slider at a time by a click and the keys of steps; the time that is reached."""
    box = page.page.locator("#nexdyn-slider").bounding_box()
    page.page.mouse.click(box["x"] + 8 + t / 4.0 * (box["width"] - 16), box["y"] + box["height"] / 2)
    now = "parseFloat(document.querySelector('#nexdyn-slider').value)"
    page.until(f"t => Math.abs({now} - t) < 0.1 && window.__viserMutable.messageQueue.length === 0", t)
    page.settled()
    # the numbers follow sixteen times a second, by frames
    page.page.evaluate(
        "() => new Promise(d => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(d)), 150))"
    )
    return float(page.page.evaluate("window.__viserMutable.nodePoseData['/clock'].position[0]"))


def on_page(page: Watched, p: np.ndarray) -> tuple[float, float]:
    """Where in the window the point p (3,) [m] of a recording is seen."""
    script = """p => { const m = window.__viserMutable, b = m.canvas.getBoundingClientRect(), v = m.camera.position.clone().set(...p)
        .applyMatrix4(m.nodeRefFromName["/motion"].matrixWorld).project(m.camera);
        return [b.x + (v.x + 1) / 2 * b.width, b.y + (1 - v.y) / 2 * b.height]; }"""
    x, y = page.page.evaluate(script, [float(x) for x in p])
    return x, y


def at_time(array: Any, t: float) -> np.ndarray:
    """Values of a result between its samples."""
    values, times = array.values, array.coords["time"].values
    return np.array([np.interp(t, times, column) for column in values.T])


def test_a_recording_tells_of_the_body_that_is_clicked_at_every_time(page: Watched, chain: nx.Result) -> None:
    t = stands_at(page, 1.0)
    pointed(page, on_page(page, at_time(chain.position("link3"), t)))
    page.comes_true(lambda: page.page.locator("#nexdyn-hover").inner_text().startswith("link3  "))
    page.page.mouse.click(*on_page(page, at_time(chain.position("link3"), t)))
    page.comes_true(lambda: "mass" in card(page))
    body = chain.system.bodies["link3"].resolved(chain.system.values)
    for wanted in (1.0, 2.3):
        t = stands_at(page, wanted)
        told, wrench = card(page), at_time(chain.reaction("hinge3"), t)
        for label, expected, unit in (
            ("mass", [body.mass], "kg"),
            ("Ixx Iyy Izz", np.diag(body.inertia), "kg·m²"),
            ("position", at_time(chain.position("link3"), t), "m"),
            ("velocity", at_time(chain.velocity("link3"), t), "m/s"),
            ("angular velocity", at_time(chain.angular_velocity("link3"), t), "rad/s"),
            ("reaction of hinge3: force", wrench[:3], "N"),
            ("reaction of hinge3: |force|", [np.linalg.norm(wrench[:3])], "N"),
        ):
            assert told[label][-1] == unit
            np.testing.assert_allclose(numbers(told[label]), expected, rtol=2e-3, atol=2e-5, err_msg=label)
    page.page.keyboard.press("u")
    page.comes_true(lambda: card(page)["position"][-1] == "mm")
    np.testing.assert_allclose(
        numbers(card(page)["position"]), 1e3 * at_time(chain.position("link3"), t), rtol=2e-3, atol=0.02
    )
    page.page.keyboard.press("u")
    page.page.get_by_role("tab", name="Model").click()
    page.page.get_by_role("treeitem", name="hinge2 (revolute)", exact=True).click()
    page.comes_true(lambda: "q" in card(page))
    np.testing.assert_allclose(
        numbers(card(page)["q"]), np.interp(t, chain.t, chain.joint_position("hinge2")), rtol=2e-3
    )
    page.page.get_by_role("button", name="Deselect").click()
    page.comes_true(
        lambda: page.page.locator(".nexdyn-card caption").all_inner_texts() == ["Difference from the ghost"]
    )
    page.page.get_by_role("tab", name="Plots").click()


def test_plots_of_a_recording_are_zoomed_together_by_keys(page: Watched) -> None:
    ranges = "[...document.querySelectorAll('.nexdyn-plot')].map(p => [...p.layout.xaxis.range, p.layout.xaxis.autorange === true])"
    page.page.keyboard.press("r")
    stands_at(page, 1.0)
    page.page.locator(".nexdyn-plot").first.focus()
    t = float(page.page.evaluate("window.__viserMutable.nodePoseData['/clock'].position[0]"))

    def seen(low: float, high: float) -> bool:
        return all(np.allclose(x[:2], (low, high), atol=1e-3) for x in page.page.evaluate(ranges))

    page.page.keyboard.press("+")
    page.comes_true(lambda: seen(max(t - 1.0, 0.0), max(t + 1.0, 2.0)))
    page.page.keyboard.press("+")
    page.comes_true(lambda: seen(t - 0.5, t + 0.5))
    page.page.keyboard.press("ArrowRight")
    page.comes_true(lambda: seen(t - 0.25, t + 0.75))
    page.page.keyboard.press("0")
    page.comes_true(lambda: seen(0.0, 4.0))
    page.page.evaluate("document.activeElement?.blur()")


def test_a_click_on_a_recording_follows_the_body_from_where_it_is_seen(page: Watched, chain: nx.Result) -> None:
    page.page.keyboard.press("r")
    t = stands_at(page, 1.0)
    first = on_page(page, at_time(chain.position("link5"), t))
    page.page.mouse.click(*first)
    page.until("document.querySelector('[data-nexdyn-of]')?.dataset.nexdynOf === 'body:link5'")
    follows = page.page.locator("select[aria-label=follow]")
    page.comes_true(lambda: follows.input_value() == "link5")
    for wanted in (1.0, 2.2, 0.4):
        t = stands_at(page, wanted)
        np.testing.assert_allclose(on_page(page, at_time(chain.position("link5"), t)), first, atol=1.5)
    box = page.canvas_box()
    page.page.mouse.click(box["x"] + 15, box["y"] + box["height"] - 120)
    page.comes_true(lambda: follows.input_value() == "" and page.page.locator("[data-nexdyn-of]").count() == 0)
    page.settled()
    np.testing.assert_allclose(on_page(page, at_time(chain.position("link5"), t)), first, atol=1.5)  # nothing jumps
    t = stands_at(page, 2.0)
    assert np.linalg.norm(np.subtract(on_page(page, at_time(chain.position("link5"), t)), first)) > 20
    along = page.page.get_by_label("follow what is selected", exact=True)
    along.uncheck()
    page.page.mouse.click(*on_page(page, at_time(chain.position("link4"), t)))
    page.until("document.querySelector('[data-nexdyn-of]')?.dataset.nexdynOf === 'body:link4'")
    assert follows.input_value() == ""
    page.page.evaluate("document.activeElement?.blur()")
    page.page.keyboard.press("f")
    page.comes_true(lambda: follows.input_value() == "link4")
    along.check()
    page.page.evaluate("document.activeElement?.blur()")
    page.page.get_by_role("button", name="Deselect").click()
    page.page.keyboard.press("r")
    page.comes_true(lambda: follows.input_value() == "")
    root = "window.__viserMutable.nodeRefFromName['/motion'].position.toArray()"
    page.comes_true(lambda: np.allclose(page.page.evaluate(root), 0.0, atol=1e-6))


def test_a_recording_measures_and_tells_how_far_the_ghost_is(page: Watched, chain: nx.Result, ghost: nx.Result) -> None:
    t = stands_at(page, 1.5)
    for name in ("link2", "link5"):
        page.page.keyboard.down("Shift")
        page.page.mouse.click(*on_page(page, at_time(chain.position(name), t)))
        page.page.keyboard.up("Shift")
        page.comes_true(lambda name=name: page.page.get_by_text(f"({name})", exact=False).count() > 0)
    distance = {
        name: np.linalg.norm(at_time(chain.position(name), t) - at_time(ghost.position(name), t))
        for name in chain.system.bodies
    }
    farthest = max(distance, key=lambda name: distance[name])
    told = {label.removeprefix(f"{farthest} (farthest): "): values for label, values in card(page).items()}
    assert numbers(told["distance"]) == pytest.approx(distance[farthest], rel=2e-3)
    apart = np.linalg.norm(at_time(chain.position("link2"), t) - at_time(chain.position("link5"), t))
    assert numbers(told["|AB|"]) == pytest.approx(apart, abs=0.13)  # on the surfaces
    np.testing.assert_allclose(np.linalg.norm(numbers(told["Δ AB"])), numbers(told["|AB|"]), rtol=2e-3)
    page.page.get_by_role("button", name="Clear points").click()
    page.comes_true(lambda: page.page.locator(".nexdyn-ruler").count() == 0)


def test_a_recording_shows_what_is_chosen_also_when_it_begins_anew(page: Watched, chain: nx.Result) -> None:
    page.page.get_by_role("tab", name="Show").click()
    page.page.get_by_role("button", name="right", exact=True).click()
    t = stands_at(page, 1.0)
    place = [at_time(chain.position("link4"), t), at_time(chain.position("link2"), t)]

    def bodies() -> list[bool]:
        box, picture = page.canvas_box(), page.settled()
        seen = [on_page(page, p) for p in place]
        return [is_body(picture, (round(y - box["y"]), round(x - box["x"]))) for x, y in seen]

    page.page.get_by_label("ghost", exact=True).click()
    assert bodies() == [True, True]
    page.page.get_by_label("shapes", exact=True).click()
    page.comes_true(lambda: bodies() == [False, False])
    assert stands_at(page, 0.5) < 0.6 and stands_at(page, 1.0) == t  # back, so all is put on the page again
    assert bodies() == [False, False]
    page.page.get_by_label("shapes", exact=True).click()
    page.comes_true(lambda: bodies() == [True, True])
    page.page.get_by_label("cut away", exact=True).select_option("y")
    page.page.get_by_label("plane at [m]", exact=True).press("Home")  # all lies beyond it
    page.comes_true(lambda: bodies() == [False, False])
    level = page.page.get_by_label("plane at [m]", exact=True)
    low, high = (float(level.get_attribute(end) or "nan") for end in ("min", "max"))
    page.page.evaluate("document.activeElement?.blur()")
    page.page.keyboard.press("u")
    level = page.page.get_by_label("plane at [mm]", exact=True)
    assert float(level.get_attribute("max") or "nan") == pytest.approx(1e3 * high) and float(
        level.input_value()
    ) == pytest.approx(1e3 * low, abs=2.0)
    level.press("End")
    page.comes_true(lambda: bodies() == [True, True])
    page.page.evaluate("document.activeElement?.blur()")
    page.page.keyboard.press("u")
    page.page.get_by_label("plane at [m]", exact=True).wait_for()
    page.page.get_by_label("cut away", exact=True).select_option("")
    page.comes_true(lambda: bodies() == [True, True])
    page.page.get_by_label("follow", exact=True).select_option("link6")
    page.until("window.__viserMutable.messageQueue.length === 0")
    page.settled()
    first = on_page(page, at_time(chain.position("link6"), t))
    for wanted in (1.6, 0.8):
        t = stands_at(page, wanted)
        np.testing.assert_allclose(on_page(page, at_time(chain.position("link6"), t)), first, atol=1.5)
    page.page.get_by_label("follow", exact=True).select_option("")
    page.page.keyboard.press("d")
    page.until("document.documentElement.dataset.mantineColorScheme === 'dark'")
    page.comes_true(lambda: float(np.median(page.pixels())) < 120)
    page.page.keyboard.press("d")
    page.comes_true(lambda: float(np.median(page.pixels())) > 230)
    page.page.get_by_role("tab", name="Plots").click()


def test_plots_of_a_recording_are_added_zoomed_together_and_saved(page: Watched, chain: nx.Result) -> None:
    count = page.page.locator(".nexdyn-plot").count()
    page.page.get_by_role("tab", name="Model").click()
    page.page.get_by_role("treeitem", name="link6", exact=True).click()
    page.page.get_by_role("button", name="Plot it").click()
    page.comes_true(lambda: page.page.locator(".nexdyn-plot").count() == count + 2)
    plot = page.page.locator(".nexdyn-plot .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + box["height"] / 2)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2, steps=6)
    page.page.mouse.up()
    ranges = "[...document.querySelectorAll('.nexdyn-plot')].map(p => p._fullLayout.xaxis.range)"
    page.comes_true(lambda: np.allclose(page.page.evaluate(ranges), (1.0, 2.0), atol=0.15))
    name, text = saved(page, "CSV")
    columns, *rows = list(csv.reader(text.decode().splitlines()))
    assert name == "hinge-chain.csv" and columns[0] == "time [s]" and len(rows) >= len(chain.t)
    table = {float(row[0]): row for row in rows}
    (column,) = [k for k, label in enumerate(columns) if label == "position of the origin of link6 in the world: z [m]"]
    assert float(table[1.0][column]) == pytest.approx(float(chain.position("link6").sel(time=1.0, axis="z")), rel=1e-6)
    assert saved(page, "SVG")[1].startswith(b"<svg") and saved(page, "PNG")[1].startswith(b"\x89PNG")


def chosen_plots(page: Watched) -> list[str]:
    return list(page.page.evaluate("[...document.querySelectorAll('.nexdyn-plot')].map(p => p.layout.title.text)"))


def table_of(page: Watched) -> dict[str, np.ndarray]:
    """What the CSV of the plots holds, by column."""
    head, *rows = list(csv.reader(saved(page, "CSV")[1].decode().splitlines()))
    return {label: np.array([float(row[k] or "nan") for row in rows]) for k, label in enumerate(head)}


def test_menus_of_a_recording_choose_all_that_the_page_plots(page: Watched, chain: nx.Result) -> None:
    page.page.get_by_role("tab", name="Plots").click()
    page.page.get_by_role("button", name="Drop kept plots").click()
    kinds = page.page.get_by_label("plot", exact=True)
    offered = kinds.locator("option").all_inner_texts()
    assert offered == [kind for kind in PLOTTED if kind != "measures" or chain.system.measures]
    before = chosen_plots(page)
    for kind, name, label, expected in (
        ("transmitted", "hinge3", "transmitted force of joint 'hinge3' on its child, axes of the joint: fy [N]",
         chain.transmitted("hinge3").values[:, 1]),
        ("acceleration", "link2", "acceleration of the origin of link2, world axes: z [m/s²]", chain.acceleration("link2").values[:, 2]),
        ("joint_acceleration", "hinge5", "joint accelerations, dv/dt: hinge5: hinge5 [rad/s²]", chain.joint_acceleration("hinge5").values),
        ("angular_velocity", "link4", "angular velocity of link4, world axes: x [rad/s]", chain.angular_velocity("link4").values[:, 0]),
        ("transmitted", "", "transmitted moment, magnitude: hinge2 [N·m]",
         np.linalg.norm(chain.transmitted("hinge2").values[:, 3:], axis=1)),
    ):  # fmt: skip
        kinds.select_option(kind)
        page.page.get_by_label("of", exact=True).select_option(name)
        page.comes_true(lambda label=label: any(label.startswith(title) for title in chosen_plots(page)))
        table = table_of(page)
        assert len(table["time [s]"]) == len(chain.t)
        np.testing.assert_allclose(table[label], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max(), err_msg=label)
    page.page.get_by_role("button", name="Keep this plot").click()
    kinds.select_option("velocity")
    page.comes_true(lambda: sum(title.startswith("velocity of") for title in chosen_plots(page)) == 3)
    assert sum(title.startswith("transmitted") for title in chosen_plots(page)) == 2
    name, picture = saved(page, "PNG")
    shown = Image.open(io.BytesIO(picture)).convert("RGB")
    count = len(chosen_plots(page))
    assert name == "hinge-chain.png" and shown.size == (1400, 520 * count)
    spread = [np.ptp(np.asarray(shown)[520 * k : 520 * (k + 1)].astype(int)) for k in range(count)]
    assert min(spread) > 150  # something is drawn in each
    page.page.get_by_role("button", name="Drop kept plots").click()
    kinds.select_option("joint_position")
    page.comes_true(lambda: chosen_plots(page) == before)


# --- members of a batch ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def batch() -> nx.BatchResult:
    q0 = np.array([[0.1, 0.0], [0.5, 0.0], [1.0, 0.2], [1.4, 0.1]])
    system = nx.load("double-pendulum")
    return nx.simulate(system, t_end=4.0, method=nx.RungeKutta4(1e-3), batch=nx.Batch(q0=q0), output_every=20)


def test_a_recording_of_a_batch_shows_the_member_that_is_chosen(
    browser: Any, batch: nx.BatchResult, tmp_path: Path
) -> None:
    path = tmp_path / "batch.html"
    nx.record(batch, path, layers=PLAIN, members=[2, 0, 1])
    last = batch.system.bodies[next(reversed(batch.system.bodies))].name
    joint = next(iter(batch.system.joints))
    with opened(browser, path.as_uri(), offline=True, size=(1400, 800)) as page:
        drawn = "document.querySelector('#root #nexdyn-slider') && document.querySelectorAll('.nexdyn-plot').length > 3"
        page.until(drawn)
        page.page.keyboard.press("Space")
        members = page.page.get_by_label("member", exact=True)
        assert members.input_value() == "2"
        assert members.locator("option:enabled").all_inner_texts() == ["2", "0", "1"]
        assert members.locator("option:disabled").all_inner_texts() == ["and 1 more (not recorded)"]
        page.page.get_by_role("tab", name="Model").click()
        page.page.get_by_role("treeitem", name=last, exact=True).click()
        page.page.get_by_role("tab", name="Plots").click()
        page.page.get_by_role("button", name="Drop kept plots").click()
        page.page.get_by_label("plot", exact=True).select_option("transmitted")
        page.page.get_by_label("of", exact=True).select_option(joint)
        page.page.keyboard.press("1")
        page.page.keyboard.press("u")
        t = stands_at(page, 1.3)
        looks = "[...window.__viserMutable.camera.position.toArray()]"
        eye = page.page.evaluate(looks)
        pictures = {}
        for m in (2, 0, 1, 2):
            if members.input_value() != str(m):
                members.select_option(str(m))
                page.until(f"window.__nexdynMember?.member === {m} && {drawn.replace('> 3', '> 2')}")
            page.until(f"Math.abs(parseFloat(document.querySelector('#nexdyn-slider')?.value) - {t}) < 1e-3")
            page.comes_true(lambda: "position" in card(page) and card(page)["position"][-1] == "mm")
            expected = 1e3 * at_time(batch.member(m).position(last), t)
            page.comes_true(lambda x=expected: np.allclose(numbers(card(page)["position"]), x, rtol=2e-3, atol=0.05))
            page.comes_true(lambda: np.allclose(page.page.evaluate(looks), eye, atol=1e-4))
            label = f"transmitted force of joint '{joint}' on its child, axes of the joint: fx [N]"
            page.comes_true(lambda: any(x.startswith("transmitted force") for x in chosen_plots(page)))
            np.testing.assert_allclose(
                table_of(page)[label], batch.member(m).transmitted(joint).values[:, 0], rtol=1e-5, atol=1e-4
            )
            pictures.setdefault(m, []).append(page.settled())
        assert np.abs(pictures[2][0] - pictures[2][1]).max() < 60
        assert min(np.abs(pictures[2][0] - pictures[m][0]).max() for m in (0, 1)) > 60
        assert page.faults == []


def test_members_of_a_recording_are_those_of_a_batch(
    batch: nx.BatchResult, chain: nx.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for members, of, match in (
        ([7], batch, "members 0 to 3"),
        ([], batch, "members is empty"),
        ([0], chain, "of a batch"),
    ):
        with pytest.raises(InputError, match=match):
            nx.record(of, members=members)
    monkeypatch.setattr(recording, "MOST_MEMBERS", 2)
    words = Words()
    assert list(recording.members_of(batch, None, words).motions) == [0, 1]
    shown = recording.shown_among(batch, Motion.of(batch.member(3)), 3, words)
    assert (list(shown.motions), shown.labels, shown.first, shown.others) == ([0, 3], ["0", "3"], 3, 2)


def test_members_beyond_those_that_a_page_lists_can_be_chosen_in_a_recording(
    batch: nx.BatchResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MOST", 2)
    text = nx.record(batch, members=[3, 2]).text
    told = json.loads(text.partition('id="nexdyn-members">')[2].partition("</script>")[0])
    assert told == {"members": [[3, "3"], [2, "2"]], "others": 2, "first": 3}


# --- a pose whose joints are moved in the file ------------------------------------------------------------------------


def every_kind() -> nx.System:
    """A tree of every kind of joint, one of which follows another, with a floating body, a spring and collision shapes."""
    system = nx.System("all joints")
    system.parameter("h", 0.02)
    kinds: list[tuple[Any, dict[str, Any]]] = [
        (nx.Free, {}), (nx.Revolute, {"axis": (0, 1, 0)}), (nx.Prismatic, {"axis": (1, 0, 1)}),
        (nx.Helical, {"axis": (0, 1, 1), "pitch": "=h"}), (nx.Cylindrical, {"axis": (1, 1, 0)}), (nx.Universal, {"axis": (0, 0, 1)}),
        (nx.Spherical, {}), (nx.Planar, {"axis": (0, 1, 0)}), (nx.Cartesian, {}), (nx.Fixed, {}),
    ]  # fmt: skip
    parent: Any = system.ground
    for k, (kind, options) in enumerate(kinds):
        shapes = [nx.Box((0.3, 0.1, 0.05)) if k % 2 else nx.Hull(np.random.default_rng(k).normal(size=(12, 3)) * 0.1)]
        turn = np.array((1.0, 0.2 * k, -0.1, 0.3)) / np.linalg.norm((1.0, 0.2 * k, -0.1, 0.3))
        body = system.add_body(
            f"b{k}",
            mass=1.0,
            inertia=(0.1, 0.1, 0.1),
            position=(0.4 * k, 0.1 * k, 0.0),
            orientation=turn,
            shapes=shapes,
        )
        system.add_joint(kind(f"j{k}", parent, body, at=(0.4 * k - 0.2, 0.05, 0.1), **options))
        parent = body
    follower = system.add_body("follower", mass=1.0, inertia=(0.1,) * 3, position=(0, 1, 0), shapes=[nx.Sphere(0.1)])
    follows = {"joint": "j1", "multiplier": -2.0, "offset": 0.3}
    system.add_joint(
        nx.Revolute("jf", system.ground, follower, at=(0, 0.7, 0), axis=(1, 0, 0), mimic=nx.Mimic(**follows))
    )
    system.add_force(nx.PointSpring("spring", "b1", "follower", stiffness=10.0, length=1.0))
    return system


NODES = """() => { const all = window.__viserSceneTree.getState(), of = window.__viserMutable.nodePoseData, found = {};
    for (const name in all) {
        const props = all[name].message?.props ?? {}, stands = of[name];
        found[name] = props.batched_positions ? [[...props.batched_positions], [...props.batched_wxyzs], [...props.batched_scales ?? []]]
            : stands ? [[...stands.position], [...stands.wxyz]] : null;
    }
    return found; }"""


def stands_as(a: list[list[float]], b: list[list[float]]) -> bool:
    """Whether a node stands where it stood: positions, and quaternions but for their signs."""
    same = np.abs(np.sum(np.reshape(a[1], (-1, 4)) * np.reshape(b[1], (-1, 4)), axis=1))
    return np.allclose(a[0], b[0], atol=2e-5) and np.allclose(same, 1.0, atol=1e-5)


def test_sliders_of_a_recorded_pose_move_all_that_a_stage_moves(browser: Any, tmp_path: Path) -> None:
    """After all sliders have been put somewhere, each node stands where a page with a server puts it."""
    system, path = every_kind(), tmp_path / "pose.html"
    nx.record(system, path)
    poser = Poser(system)
    with opened(browser, path.as_uri(), offline=True, size=(1400, 800)) as page:
        page.page.get_by_role("tab", name="Joints").wait_for()
        page.until("window.__viserMutable.nodeRefFromName?.['/motion']")
        assert page.page.get_by_role("tab", name="Joints").get_attribute("aria-selected") == "true"
        sliders = page.page.locator("[role=tabpanel]:not([hidden]) input[type=range]")
        assert [x.get_attribute("aria-label") for x in sliders.all()] == [dial.label for dial in poser.dials]
        first, begun = page.settled(), page.page.evaluate(NODES)
        put = "(x, value) => { x.value = value; x.dispatchEvent(new Event('input')); }"
        for k, dial in enumerate(poser.dials):
            share = 0.15 + 0.7 * ((0.37 * k) % 1.0)
            sliders.nth(k).evaluate(put, dial.lower + share * (dial.upper - dial.lower))
            poser.move(dial.label, float(sliders.nth(k).input_value()))
        q = poser._q
        assert q is not None
        page.until("window.__viserMutable.messageQueue.length === 0")
        assert np.abs(page.settled() - first).max() > 60
        p = poser.poses(q)[1]
        page.page.get_by_role("tab", name="Model").click()
        for name in ("b9", "follower"):
            page.page.get_by_role("treeitem", name=name, exact=True).click()
            page.comes_true(lambda name=name: page.page.locator(f"[data-nexdyn-of='body:{name}']").count() == 1)
            k = list(system.bodies).index(name)
            np.testing.assert_allclose(numbers(card(page)["position"]), p[k], rtol=2e-3, atol=1e-3)
        with on_a_free_port(system) as viewer:
            viewer.look(Look(frozenset(LAYERS)))
            viewer.pose(q)
            stage, found = viewer._desk.stage, page.page.evaluate(NODES)
            moved = [(handle, handle.batched_positions, handle.batched_wxyzs) for handle, _ in stage.batches]
            moved += [(x, x.batched_positions, x.batched_wxyzs) for x in stage.links]
            moved += [
                (x.handle, *x.at(stage.frame))
                for name, x in stage.marks.items()
                if getattr(x, "handle", None) is not None
            ]
            assert len(moved) >= 7
            for handle, at, turn in moved:
                np.testing.assert_allclose(found[handle.name][0], np.ravel(at), atol=2e-5, err_msg=handle.name)
                same = np.sum(np.reshape(found[handle.name][1], (-1, 4)) * np.asarray(turn), axis=1)
                np.testing.assert_allclose(np.abs(same), 1.0, atol=1e-5, err_msg=handle.name)
            for link in stage.links:
                np.testing.assert_allclose(found[link.name][2], np.ravel(link.batched_scales), rtol=1e-4)
            for i, handle, _ in stage.singles:
                np.testing.assert_allclose(found[handle.name][0], stage.frame.position[i], atol=2e-5)
                assert abs(np.dot(found[handle.name][1], stage.frame.quaternion[i])) == pytest.approx(1.0, abs=1e-5)
            names = stage.marks["names"]
            for handle, at in zip(names.handles, names.at(stage.frame)[0], strict=True):
                np.testing.assert_allclose(found[handle.name][0], at, atol=2e-5)
        page.page.keyboard.press("r")
        at_first = [x for x in found if begun[x] is not None and x.startswith("/motion/") and begun[x] != found[x]]
        assert len(at_first) > 7
        page.comes_true(
            lambda: all(stands_as(begun[x], y) for x, y in page.page.evaluate(NODES).items() if x in at_first)
        )
        assert page.faults == []


def test_a_recorded_pose_of_a_loop_has_no_sliders() -> None:
    """In loops the other joints follow by a solver, which the file has not."""
    page = page_of(Motion.still(nx.load("four-bar")), Look(PLAIN), recording.Setting())
    assert '"posing":null' in page and '"posing":{' in page_of(
        Motion.still(nx.load("double-pendulum")), Look(PLAIN), recording.Setting()
    )


# --- lengths of arrows and trails ---------------------------------------------------------------------------------------

POINTS = "name => [...window.__viserSceneTree.getState()[name].message.props.points]"


def test_arrows_and_trails_of_a_recording_are_as_long_as_their_sliders_say(page: Watched, chain: nx.Result) -> None:
    page.page.get_by_role("tab", name="Show").click()
    for layer in ("reaction forces", "trails"):
        page.page.get_by_label(layer, exact=True).check()
    arrows, trail = (page.page.get_by_label(name, exact=True) for name in ("arrow length", "trail [s]"))
    assert float(arrows.input_value()) == 1.0 and float(trail.input_value()) == 2.0
    t = stands_at(page, 1.5)

    def lengths() -> np.ndarray:
        ends = np.reshape(page.page.evaluate(POINTS, "/motion/forces"), (-1, 2, 3))
        return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)

    def path() -> np.ndarray:  # after that of the marker at the tip, that of the last body
        return np.reshape(page.page.evaluate(POINTS, "/motion/trails"), (2, -1, 2, 3))[1]

    before = lengths()
    force = np.linalg.norm([at_time(chain.reaction(f"hinge{k}"), t)[:3] for k in range(1, 7)], axis=1)
    np.testing.assert_allclose(before / before.max(), force / force.max(), atol=0.02)
    put = "(x, value) => { x.value = value; x.dispatchEvent(new Event('input')); }"
    try:
        arrows.evaluate(put, 2.5)
        page.comes_true(lambda: np.allclose(lengths(), 2.5 * before, rtol=1e-3))
        trail.evaluate(put, 0.5)
        for wanted in (1.5, 3.0, 1.0):
            t = stands_at(page, wanted)
            ends = [at_time(chain.position("link6"), x) for x in (t - 0.5, t)]
            page.comes_true(lambda e=ends: np.allclose([path()[0, 0], path()[-1, 1]], e, atol=0.02))
        t = stands_at(page, 1.5)
        page.comes_true(lambda: np.allclose(lengths(), 2.5 * before, rtol=0.05))
        trail.evaluate(put, 2.0)
        arrows.evaluate(put, 1.0)
        page.comes_true(lambda: np.allclose(lengths(), before, rtol=0.05) and len(path()) > 10)
        start = at_time(chain.position("link6"), 0.0)
        np.testing.assert_allclose(path()[0, 0], start, atol=0.03)
    finally:
        for layer in ("reaction forces", "trails"):
            page.page.get_by_label(layer, exact=True).uncheck()
        page.page.get_by_role("tab", name="Plots").click()

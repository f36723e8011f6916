"""How a motion looks on the page: layers, transparency, dark mode, units, keys, languages, names for screen readers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (  # noqa: F401 (fixtures)
    COLORED,
    PICTURES,
    PLAIN,
    Watched,
    at_rest,
    browser,
    card,
    centers,
    chain,
    comes_true,
    eye,
    is_body,
    keep,
    line_of_sight,
    middle,
    needs_chromium,
    numbers,
    opened,
    seen_at,
    tab,
    viewer,
)

import nexdyn as nx
from nexdyn.errors import UnknownNameError
from nexdyn.view.charts import KINDS, panels
from nexdyn.view.editing import Editing
from nexdyn.view.motion import Motion
from nexdyn.view.plot_words import in_words
from nexdyn.view.poses import Poser
from nexdyn.view.raster import linear
from nexdyn.view.recording import Setting, page_of
from nexdyn.view.stage import Look
from nexdyn.view.units import SI
from nexdyn.view.viewer import Viewer
from nexdyn.view.words import Words

pytestmark = [needs_chromium, pytest.mark.timeout(900)]


def pressed(tab: Watched, key: str) -> None:
    """A key of the scene: what has the focus is not a field."""
    tab.page.evaluate("document.activeElement?.blur()")
    tab.page.keyboard.press(key)


# --- layers ---------------------------------------------------------------------------------------------------------


def color_at(picture: np.ndarray, at: tuple[int, int]) -> np.ndarray:
    return np.asarray(picture[at[0] - 1 : at[0] + 2, at[1] - 1 : at[1] + 2].reshape(-1, 3).mean(axis=0))


def test_centres_of_mass_are_where_they_are(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    for layer in ("shapes", "centres of mass"):
        tab.page.get_by_label(layer, exact=True).click()
    comes_true(lambda: viewer._desk.look.layers == frozenset({"grid", "centres of mass"}))
    for t in (0.5, 1.5):
        viewer.seek(t)
        picture = tab.settled(viewer.server)
        for p in centers(chain, t):
            r, g, b = color_at(picture, seen_at(viewer, picture.shape, p))
            assert r > b + 60 and g > b + 40  # yellow


def test_frames_and_names_of_joints_go_with_their_bodies(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    viewer.seek(1.0)
    without = tab.settled(viewer.server)
    for layer in ("joint frames", "names"):
        tab.page.get_by_label(layer, exact=True).click()
    comes_true(lambda: {"joint frames", "names"} <= viewer._desk.look.layers)
    assert (np.abs(tab.settled(viewer.server) - without).max(axis=-1) > 60).sum() > 200
    names = viewer._desk.stage.marks["names"]
    for t in (1.0, 2.0):
        places = names.at(viewer._desk.motion.at(t))[0]
        for k, name in enumerate(chain.system.joints):
            joint = chain.system.joints[name]
            body = joint.child.name
            R = chain.rotation(body).sel(time=t, method="nearest").values
            end = chain.position(body).sel(time=t, method="nearest").values + R @ joint.frames(chain.system.values).p_BJ
            np.testing.assert_allclose(places[k], end, atol=1e-4)


# --- dark, units, keys ----------------------------------------------------------------------------------------------


def contrast(picture: np.ndarray, at: tuple[int, int]) -> float:
    """WCAG's, of what is seen at a place and of the background."""
    background = np.median(picture.reshape(-1, 3), axis=0)
    lights = [float(linear(c / 255.0) @ (0.2126, 0.7152, 0.0722)) for c in (color_at(picture, at), background)]
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_the_page_is_dark_at_a_key_and_light_again(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    viewer.look(Look(frozenset({"shapes"})))
    light = tab.settled(viewer.server)
    assert np.median(light) > 240
    at = seen_at(viewer, light.shape, centers(chain, 0.0)[2])
    scheme = "document.documentElement.dataset.mantineColorScheme"
    pressed(tab, "d")
    tab.comes_true(lambda: tab.page.evaluate(scheme) == "dark")
    tab.comes_true(lambda: is_body(tab.pixels(), at))  # it fades
    dark = tab.settled(viewer.server)
    assert np.median(dark) < 120 and is_body(dark, at) and contrast(dark, at) >= 3.0
    pressed(tab, "d")
    tab.comes_true(lambda: tab.page.evaluate(scheme) == "light")
    tab.comes_true(lambda: is_body(tab.pixels(), at))
    again = tab.settled(viewer.server)
    assert np.median(again) > 240 and is_body(again, at)


def test_a_key_that_is_held_acts_once_and_does_not_move_the_camera(tab: Watched, viewer: Viewer) -> None:
    """D is a key of viser's camera, too; W, which is its alone, moves the camera on."""
    tab.settled(viewer.server)
    before = eye(viewer)[0]
    tab.page.evaluate("document.activeElement?.blur()")
    scheme = "document.documentElement.dataset.mantineColorScheme"
    for expected in ("dark", "light"):
        tab.page.keyboard.down("d")
        for _ in range(3):  # what a browser says of a key that is held
            tab.page.wait_for_timeout(100)
            tab.page.keyboard.down("d")
        tab.page.keyboard.up("d")
        tab.comes_true(lambda expected=expected: tab.page.evaluate(scheme) == expected)
        tab.settled(viewer.server)
        np.testing.assert_allclose(eye(viewer)[0], before, atol=1e-9)
    tab.page.keyboard.down("w")
    tab.comes_true(lambda: bool(np.linalg.norm(eye(viewer)[0] - before) > 0.05))
    tab.page.keyboard.up("w")


def test_panels_and_plots_tell_millimetres_and_degrees(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    viewer.seek(1.0)
    viewer.select("link3")
    tab.settled(viewer.server)
    curves = """() => Object.values(window.__viserTestpoints.uplots).map(({chart}) =>
        [chart.root.querySelector(".u-title").innerText, Math.max(...chart.data[1])])"""
    for expected, unit, angle, factor in (("mm", "°/s", "[°]", 180.0 / np.pi), ("m", "rad/s", "[rad]", 1.0)):
        pressed(tab, "u")
        tab.comes_true(lambda unit=expected: card(tab)["position"][-1] == unit)
        told, scale = card(tab), 1000.0 if expected == "mm" else 1.0
        np.testing.assert_allclose(
            numbers(told["position"]), scale * centers(chain, 1.0)[2], rtol=6e-4, atol=1e-9 * scale
        )
        w = chain.angular_velocity("link3").sel(time=1.0).values
        assert told["angular velocity"][-1] == unit
        np.testing.assert_allclose(numbers(told["angular velocity"]), factor * w, rtol=6e-4, atol=1e-9 * factor)
        largest = factor * float(chain.joint_position("hinge1").max())
        tab.comes_true(
            lambda a=angle, y=largest: any(a in t and np.isclose(m, y, rtol=1e-3) for t, m in tab.page.evaluate(curves))
        )


def test_keys_step_through_the_samples(tab: Watched, viewer: Viewer, chain: nx.Result) -> None:
    viewer.seek(1.0)
    for key, t in ((".", 1.01), (".", 1.02), (",", 1.01), (",", 1.0), (",", 0.99)):
        pressed(tab, key)
        comes_true(lambda t=t: abs(viewer.t - t) < 1e-9)
    viewer.seek(0.0)
    viewer.step(-1)
    assert viewer.t == 0.0
    viewer.seek(4.0)
    viewer.step(1)
    assert viewer.t == 4.0


@pytest.mark.parametrize(("key", "ahead"), [("5", (0, -1, 0)), ("6", (1, 0, 0)), ("7", (0, 0, 1))])
def test_the_other_sides_are_seen_too(tab: Watched, viewer: Viewer, key: str, ahead: tuple[int, ...]) -> None:
    comes_true(lambda: float(line_of_sight(viewer) @ ahead) < 0.98)
    pressed(tab, key)
    comes_true(lambda: float(line_of_sight(viewer) @ ahead) > 0.9999)


def test_full_screen_is_a_key_and_a_button(tab: Watched, viewer: Viewer) -> None:
    full = "document.fullscreenElement !== null"
    act: list[Callable[[], None]] = [
        lambda: tab.page.get_by_role("button", name="Full screen").click(), lambda: pressed(tab, "z")
    ]  # fmt: skip
    for begin in act:
        begin()
        tab.until(full)
        pressed(tab, "z")
        tab.until(f"!({full})")
    tab.page.mouse.move(*middle(tab))


# --- languages and screen readers -----------------------------------------------------------------------------------

NAMELESS = """() => [...document.querySelectorAll("button, input, select, textarea, canvas, .uplot, .nexdyn-plot, " +
    "[role=button], [role=img], [role=slider], [role=treeitem], [role=tab], [role=combobox]")].filter(x => {
    if (!x.checkVisibility() || x.closest("[aria-hidden=true]")) return false;
    if (x.tagName === "CANVAS" && x.getAttribute("role") !== "img") return true;
    const by = x.getAttribute("aria-labelledby");
    return !(x.getAttribute("aria-label") || (by && by.split(" ").some(i => document.getElementById(i)?.innerText.trim()))
      || (x.labels && [...x.labels].some(l => l.innerText.trim())) || x.innerText?.trim() || x.title || x.placeholder);
}).map(x => x.outerHTML.slice(0, 300))"""


def test_every_control_has_a_name(tab: Watched, viewer: Viewer) -> None:
    viewer.select("link2")
    tab.settled(viewer.server)
    tab.comes_true(lambda: tab.page.evaluate(NAMELESS) == [])
    for name in ("time [s]", "trail [s]", "arrow length"):
        assert tab.page.get_by_role("slider", name=name, exact=True).count() == 1
    assert tab.page.get_by_role("img", name="3D scene: hinge chain", exact=True).count() == 1
    assert tab.page.get_by_role("img", name="energy [J]", exact=True).count() == 1
    assert tab.page.get_by_role("group", name=re.compile("^energy .*plus and minus zoom")).count() == 1


def test_controls_of_live_edit_and_recordings_have_names_and_say_what_is_wrong(
    browser: Any,
    tmp_path: Path,
) -> None:
    system = many(1)
    with Viewer(system, port=viewer_port()) as viewer, opened(browser, viewer.address) as tab:
        editing = Editing(viewer, lambda numbers: None)
        editing.show(system, nx.assemble(system))
        editing.refuse(nx.InputError("no body 'crnk'"))
        tab.page.get_by_role("alert").filter(has_text="no body 'crnk'").wait_for()
        tab.comes_true(lambda: tab.page.evaluate(NAMELESS) == [])
        viewer.live(nx.Session(system, nx.RungeKutta4(1e-3)))
        for folder in ("Switches", "Parameters", "Joints"):
            tab.page.get_by_text(folder, exact=True).first.click()
        tab.comes_true(lambda: tab.page.evaluate(NAMELESS) == [])
        touch = viewer._desk.touch
        assert touch is not None
        touch.later(lambda: touch.session.change({"m0": -1.0}))
        tab.page.get_by_role("alert").filter(has_text="refused").wait_for()
        touch.later(lambda: touch.session.change({"m0": 2.0}))
        tab.comes_true(lambda: tab.page.get_by_role("alert").filter(has_text="refused").count() == 0)
        viewer.keep()
        viewer._desk.controls.running(True)
        tab.page.get_by_role("status").filter(has_text="running").wait_for()
    path = tmp_path / "chain.html"
    nx.record(nx.simulate(nx.load("hinge-chain"), 0.2, nx.RungeKutta4(1e-3), output_every=10), path)
    with opened(browser, path.as_uri(), offline=True) as tab:
        tab.until("document.querySelectorAll('.nexdyn-plot').length > 0")
        tab.page.get_by_role("tab", name="Show").click()
        tab.comes_true(lambda: tab.page.evaluate(NAMELESS) == [])


def test_keys_act_where_a_box_was_clicked_last(tab: Watched, viewer: Viewer) -> None:
    """Space is the box's, all other keys are the page's."""
    box = tab.page.get_by_label("joint axes", exact=True)
    box.click()
    comes_true(lambda: "joint axes" in viewer._desk.look.layers)
    try:
        tab.page.keyboard.press("u")
        comes_true(lambda: viewer._desk.units != SI)
        tab.page.keyboard.press("t")
        comes_true(lambda: viewer._desk.look.opacity < 1.0)
        tab.page.keyboard.press(" ")
        comes_true(lambda: "joint axes" not in viewer._desk.look.layers)
        assert not viewer.playing
    finally:
        viewer.units(False)
        viewer.look(Look(PLAIN))


def test_the_notice_that_there_is_no_gpu_is_short_and_goes(browser: Any, viewer: Viewer) -> None:
    with opened(browser, viewer.address) as page:
        notices = page.page.locator(".mantine-Notification-root")
        page.comes_true(lambda: any("No GPU" in text for text in notices.all_inner_texts()))
        assert not any("hardware acceleration" in text for text in notices.all_inner_texts())
        page.comes_true(lambda: notices.count() == 0)
        assert page.faults == []


def test_every_plot_has_its_times(tab: Watched, viewer: Viewer) -> None:
    """uPlot leaves the axes of a plot out that is built before it has a width."""
    axes = "Object.values(window.__viserTestpoints.uplots).map(x => x.chart.axes[0]._splits?.length ?? 0)"
    tab.comes_true(lambda: (found := tab.page.evaluate(axes)) and min(found) > 1)
    tab.page.evaluate(
        "Object.values(window.__viserTestpoints.uplots).forEach(x => { x.chart.axes[0]._splits = null; })"
    )
    tab.comes_true(lambda: min(tab.page.evaluate(axes)) > 1)


def test_a_page_without_a_motion_says_where_plots_come_from(browser: Any) -> None:
    with Viewer(many(1), port=viewer_port()) as viewer, opened(browser, viewer.address) as page:
        told = page.page.get_by_text("Plots are of a motion")
        told.wait_for()
        slider = page.page.get_by_role("slider", name="hinge0 [rad]", exact=True)
        assert (
            slider.bounding_box()["y"] < page.page.get_by_text("opacity", exact=True).bounding_box()["y"]
        )  # before all layers
        viewer.show(nx.simulate(many(1), 0.1, nx.RungeKutta4(1e-2)))
        page.comes_true(lambda: told.count() == 0)


def test_the_page_says_why_a_run_was_broken_off(browser: Any) -> None:
    system = many(1)
    whole = nx.simulate(system, 0.1, nx.RungeKutta4(1e-2))
    system.add_event(nx.Event("enough", time=0.05, stop=True))
    result = nx.simulate(system, 0.1, nx.RungeKutta4(1e-2))
    assert "event 'enough' ended the run" in result.message
    with Viewer(result, port=viewer_port()) as viewer, opened(browser, viewer.address) as page:
        said = page.page.get_by_role("status").filter(has_text="stopped")
        said.wait_for()
        assert said.inner_text() == f"stopped: {result.message}"
        viewer.show(whole)
        page.comes_true(lambda: said.count() == 0)
    with Viewer(result, port=viewer_port(), language="zh") as viewer:
        assert viewer._desk.controls._status.content.count("已停止") == 1


def test_labels_are_chinese_where_that_is_asked(chain: nx.Result) -> None:
    """Every label of the page has a translation; names of the model stay as they are."""
    with Viewer(chain, port=viewer_port(), ghost=chain, language="zh") as viewer:
        viewer.select("link3")
        text = viewer._desk.inquiry._text.content
        assert "质量" in text and "约束反力： hinge3" in text
        viewer.select("hinge2")
        viewer._desk.inquiry.measure("link1", np.zeros(3))
        viewer.play()
        assert viewer._desk.controls._play.label == "暂停"
        viewer.pause()
        assert viewer._desk.controls._play.label == "播放"
        assert viewer._desk.words.missing == set()


def test_live_edit_and_recordings_are_chinese_too(tmp_path: Path) -> None:
    system = nx.System("摆")
    system.parameter("m", 1.0)
    rod = system.add_body("rod", mass="=m", inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.5))
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_force(nx.TorqueActuator("motor", "hinge", target=0.0))
    with Viewer(system, port=viewer_port(), language="zh") as viewer:
        editing = Editing(viewer, lambda numbers: None)
        editing.show(system, nx.assemble(system))
        other = system.with_parameters({"m": 2.0})
        other.add_body("new one", mass=1.0, inertia=(1.0, 1.0, 1.0))
        other.add_joint(nx.Fixed("again", other.ground, "rod"))
        new = editing.show(other, nx.assemble(other))
        told = viewer._desk.controls._told.content
        assert "新增物体 new one" in new and "参数 m 1.0 → 2.0" in new
        assert "个物体" in told and "个自由度" in told and "冗余" in told
        viewer.live(nx.Session(system, nx.RungeKutta4(1e-3)))
        touch = viewer._desk.touch
        assert touch is not None
        touch.session.change({"m": 3.0})
        touch.said = "…"
        touch.controls.tell(viewer._desk.motion)
        assert touch.controls._undo.label == "撤销: 修改 m" and "被拒绝" in touch.controls._wrong.content
        assert viewer._desk.words.missing == set()
    words = Words("zh")
    result = nx.simulate(nx.load("hinge-chain"), 0.1, nx.RungeKutta4(1e-3), output_every=10)
    text = page_of(Motion.of(result), Look(), Setting(0.5, words))
    assert words.missing == set() and "以 0.5 倍实时速度播放" in text and f'"x":{json.dumps("时间 [s]")}' in text


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("no body 'crnk'; did you mean 'crank'? bodies: crank, rod", "没有物体 'crnk'；是否指 'crank'？现有：crank, rod"),
        ("scene.yaml:12: no joint 'x'; joints: a, b", "scene.yaml:12: 没有关节 'x'；现有：a, b"),
        ("scene.yaml:3:7: joints.hinge: no body 'x'; bodies: none", "scene.yaml:3:7: joints.hinge: 没有物体 'x'；一个也没有"),
        ("joint 'A' cannot be put to 9.5 rad: its loop does not reach so far", "关节 'A' 无法置于 9.5 rad：其闭环够不到那么远"),
        ("an MP4 needs imageio_ffmpeg: pip install 'nexdyn[video]'", "an MP4 需要 imageio_ffmpeg：pip install 'nexdyn[video]'"),
        ("nothing runs here that could be pulled: press L", "此处没有正在运行的系统可拉动：请按 L"),
        ("mass of 'a' is -1; it must be above 0", "错误（英文）：mass of 'a' is -1; it must be above 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_chinese_as_far_as_it_is_known(message: str, told: str) -> None:
    assert Words("zh").error(message) == told and Words("en").error(message) == message


def test_real_errors_are_told_in_chinese(tmp_path: Path) -> None:
    """Those that a page shows: of a file, of a loop, of a run that fails, of a name."""
    words = Words("zh")
    text = "bodies: {a: {mass: 1.0}}\njoints: {j: {type: revolute, parent: ground, child: b, axis: [0, 0, 1]}}\n"
    (tmp_path / "scene.yaml").write_text(text)
    with pytest.raises(nx.NexDynError) as wrong:
        nx.load(tmp_path / "scene.yaml")
    assert "scene.yaml:2" in (told := words.error(wrong.value)) and told.endswith("关节 'j': 没有物体 'b'；现有：a")
    system = nx.load("four-bar")
    poser = Poser(system)
    with pytest.raises(nx.NexDynError) as far:
        poser.move(next(dial.label for dial in poser.dials if dial.joint == "D"), 3.0)
    assert words.error(far.value).startswith("锁定 'D' 时关节 'C' 不能闭合：")
    with pytest.raises(nx.NexDynError) as none:
        nx.Session(system).undo()
    assert words.error(none.value) == "没有可以撤销的操作"


def test_all_plots_have_chinese_titles_and_axes(chain: nx.Result) -> None:
    """What is English in them is a name of the model, a symbol or a unit."""
    words, names = Words("zh"), r"link\d|hinge\d|tip|\b(q|v|dv/dt|rad|m|s|N|J|x|y|z|fx|fy|fz|mx|my|mz|kinetic)\b|[²·₀−]"
    found = panels(chain, [kind for kind in KINDS if kind not in ("phase", "measures")])
    for kind, name in (
        ("velocity", "link2"),
        ("angular_acceleration", "link3"),
        ("reaction", "hinge2"),
        ("joint_velocity", "hinge1"),
    ):
        found += panels(chain, [kind], [name])
    for panel in found:
        told = in_words(panel, words)
        assert in_words(panel, Words()) is panel
        for text in (told.title, told.x, told.y, *(line.label for line in told.lines)):
            assert not re.search("[A-Za-z]{2,}", re.sub(names, "", text)), text
        assert re.search("[\u4e00-\u9fff]", told.title) and told.x == "时间 [s]"


def viewer_port() -> int:
    from nexdyn.view.server import LOOPBACK, free_port

    return free_port(LOOPBACK, 18650)


def test_a_language_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="languages: en, zh"):
        Viewer(nx.load("double-pendulum"), language="de")


# --- pictures -------------------------------------------------------------------------------------------------------


def test_pictures_at_rest_are_kept_where_that_is_asked(
    tab: Watched, viewer: Viewer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import Image

    monkeypatch.delenv(PICTURES, raising=False)
    assert keep(np.zeros((2, 2, 3))) is None
    monkeypatch.setenv(PICTURES, str(tmp_path / "seen"))
    seen = tab.settled(viewer.server)
    (path,) = (tmp_path / "seen").iterdir()
    assert path.name == "test_view_look-test_pictures_at_rest_are_kept_where_that_is_asked-01.png"
    np.testing.assert_array_equal(np.asarray(Image.open(path)), seen)
    assert (np.ptp(seen, axis=-1) > COLORED).sum() > 300  # the chain


# --- what is not shown ----------------------------------------------------------------------------------------------


def many(count: int) -> nx.System:
    """So many pendulums side by side, each with a motor and a parameter."""
    system = nx.System("many")
    for k in range(count):
        system.parameter(f"m{k}", 1.0)
        rod = system.add_body(f"rod{k}", mass=f"=m{k}", inertia=(0.1, 0.1, 0.1), position=(0, k, -0.5))
        system.add_joint(nx.Revolute(f"hinge{k}", system.ground, rod, at=(0, k, 0), axis=(0, 1, 0)))
        system.add_force(nx.TorqueActuator(f"motor{k}", f"hinge{k}", target=0.0))
    return system


def left_out(viewer: Viewer) -> list[str]:
    """What the page says of what it leaves out."""
    parts = [
        part
        for container in list(viewer.server.gui._container_handle_from_uuid.values())
        for part in list(getattr(container, "_children", {}).values())
    ]
    return sorted(part.content for part in parts if " more*" in str(getattr(part, "content", "")) and part.visible)


def test_what_is_left_out_is_counted() -> None:
    with Viewer(many(62), port=viewer_port()) as viewer:
        assert len(viewer._desk.controls._sliders) == 60 and left_out(viewer) == ["*and 2 more*"]
        viewer.units(True)
        assert left_out(viewer) == ["*and 2 more*"]
        viewer.look(Look(PLAIN | {"trails"}))
        assert left_out(viewer) == ["*and 2 more*", "trails: *and 50 more*"]
        viewer.look(Look(PLAIN))
        viewer.live(nx.Session(many(62), nx.RungeKutta4(1e-3)))
        assert left_out(viewer).count("*and 22 more*") == 4  # switches, parameters, actuators, joints
    result = nx.simulate(many(3), 0.01, nx.RungeKutta4(1e-3))
    with Viewer(result, port=viewer_port()) as viewer:
        assert left_out(viewer) == []
        kinds = ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration")
        viewer._desk.controls.plots.add([(kind, f"rod{k}") for kind in kinds for k in range(3)])
        assert left_out(viewer) == ["*and 4 more*"] and len(viewer._desk.controls.plots.shown) == 13
        viewer._desk.controls.plots.drop()
        assert left_out(viewer) == []

"""Contacts over areas, collision shapes, transparency, sections and the cube of views: on the page, in recordings and in pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (
    PLAIN,
    Watched,
    chromium,
    comes_true,
    line_of_sight,
    needs_chromium,
    on_a_free_port,
    opened,
    place_of,
    pointed,
    seen_at,
)

import nexdyn as nx
from nexdyn.errors import InputError, NexDynError, UnknownNameError
from nexdyn.simulation.choice import simulation_of
from nexdyn.view import live
from nexdyn.view.motion import Motion
from nexdyn.view.pressure import color, discs, scale_of, ticks
from nexdyn.view.recording import record
from nexdyn.view.section import Section, cut, section_of
from nexdyn.view.shot import Shot
from nexdyn.view.stage import Look
from nexdyn.view.stills import picture
from nexdyn.view.surfaces import sphere
from nexdyn.view.viewer import Viewer

pytestmark = pytest.mark.timeout(900)

TEAL = np.array((0.0, 150.0, 170.0))
SHAPES = frozenset({"shapes"})


@pytest.fixture(scope="module")
def stack() -> nx.Result:
    """Three crates on each other and a ball on top, which has a larger collision shape than is drawn."""
    store = nx.System("store")
    for i in range(3):
        at = (0.03 * i, 0.0, 0.1 + 0.2 * i)
        store.add_body(f"crate{i}", mass=2.0, shapes=[nx.Box((0.3, 0.3, 0.2))], position=at)
    ball = {"shapes": [nx.Sphere(0.05)], "collision": [nx.Sphere(0.08)]}
    store.add_body("ball", mass=1.0, position=(0.05, 0.0, 0.68), **ball)
    for name in list(store.bodies):
        store.add_joint(nx.Free(f"{name} is free", "ground", name))
    law = {"damping": 50.0, "friction": 0.5}
    store.add_contact(nx.Contact("floor", "crate0", "ground", foundation_b=1e7, **law))
    store.add_contact(nx.Contact("stacked", "crate*", "crate*", foundation_a=2e7, foundation_b=2e7, **law))
    store.add_contact(nx.Contact("lies", "ball", "crate2", foundation_b=1e7, **law))
    return nx.simulate(store, 0.2, nx.HHT(), output_times=np.linspace(0.0, 0.2, 21))


# --- numbers --------------------------------------------------------------------------------------------------------


def test_discs_have_the_area_the_place_and_the_pressure_of_the_contacts(stack: nx.Result) -> None:
    motion, told = Motion.of(stack), stack.contacts()
    for k, t in enumerate(stack.t.values):
        center, radius, normal, pressure = discs(motion.at(float(t)))
        bears = told.pressure.values[k] > 0.0
        assert bears.any() or t == 0.0
        np.testing.assert_allclose(np.pi * radius[bears] ** 2, told.area.values[k, bears], rtol=1e-5)
        np.testing.assert_allclose(center[bears], told.point.values[k, bears], atol=1e-6)
        np.testing.assert_allclose(normal[bears], told.direction.values[k, bears], atol=1e-6)
        np.testing.assert_allclose(pressure, told.pressure.values[k], rtol=1e-5)
        assert (radius[~bears] == 0.0).all()


def test_the_scale_of_pressures_ends_in_a_round_number_that_most_do_not_exceed(stack: nx.Result) -> None:
    most, largest = scale_of(Motion.of(stack))
    pressing = stack.contacts().pressure.values
    pressing = pressing[pressing > 0.0]
    assert largest == pytest.approx(pressing.max(), rel=1e-5)
    assert (pressing <= most).mean() > 0.89 and float(f"{most:.1e}") == pytest.approx(most)
    assert ticks(2000.0, 1500.0) == ["0", "1", "2 kPa"] and ticks(2e6, 3e6)[2] == "> 2 MPa"
    lightness = color(np.linspace(0.0, 1.0, 21)) @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(lightness) > 0.0).all()


def test_a_motion_without_areas_has_no_scale() -> None:
    system = nx.load("double-pendulum")
    assert Motion.still(system).press is None and scale_of(Motion.still(system)) == (0.0, 0.0)


@pytest.mark.parametrize("d", [-0.6, 0.0, 0.3, 2.0, -2.0])
def test_a_section_leaves_of_a_surface_what_is_on_its_side(d: float) -> None:
    """The area of a sphere's cap of height h is 2 π R h."""
    ball = sphere(1.0)
    v = ball.vertices.astype(float)
    section = Section(np.array((0.0, 0.6, 0.8)), d)
    p, n, faces, of = cut(v, v, ball.faces, section)
    assert (p[faces] @ section.normal <= d + 1e-9).all() and len(of) == len(faces)
    assert len(n) == len(p)
    area = 0.5 * np.linalg.norm(np.cross(p[faces[:, 1]] - p[faces[:, 0]], p[faces[:, 2]] - p[faces[:, 0]]), axis=1)
    assert area.sum() == pytest.approx(2.0 * np.pi * np.clip(d + 1.0, 0.0, 2.0), rel=0.02, abs=1e-12)
    a, b, c = (v[ball.faces[of][:, k]] for k in range(3))
    own, new = np.cross(b - a, c - a), np.cross(p[faces[:, 1]] - p[faces[:, 0]], p[faces[:, 2]] - p[faces[:, 0]])
    assert (np.einsum("ni,ni->n", own, new) >= -1e-15).all()  # none is turned round


@pytest.mark.parametrize("given", ["y", ("y",), ("y", float("nan")), ("y", "high"), 3.0])
def test_what_is_no_section_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="section"):
        Look(section=given)
    with pytest.raises(InputError, match="section"):
        Shot(section=given)


@pytest.mark.parametrize("opacity", [0.0, 1.5, -1.0, True, "half"])
def test_what_is_no_opacity_is_refused(stack: nx.Result, opacity: Any) -> None:
    for make in (lambda: Look(opacity=opacity), lambda: Shot(opacity=opacity), lambda: record(stack, opacity=opacity)):
        with pytest.raises(NexDynError, match="opacity"):
            make()


def test_a_side_that_there_is_not_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="-x"):
        section_of(("w", 0.0))


# --- the page -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Any:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def viewer(stack: nx.Result) -> Any:
    with on_a_free_port(stack) as found:
        found.pause()
        found.look(Look(SHAPES))
        yield found


@pytest.fixture(scope="module")
def tab(browser: Any, viewer: Viewer) -> Any:
    with opened(browser, viewer.address) as found:
        comes_true(lambda: viewer.watched)
        found.settled(viewer.server)
        found.page.evaluate(
            "document.querySelectorAll('.mantine-Notification-root').forEach(x => { x.style.display = 'none'; })"
        )
        yield found
        assert found.faults == []


@pytest.fixture(autouse=True)
def as_it_was(request: pytest.FixtureRequest) -> None:
    if "viewer" in request.fixturenames:
        viewer: Viewer = request.getfixturevalue("viewer")
        viewer.reset()
        viewer.seek(0.2)
        viewer.look(Look(SHAPES))
        viewer.select("")


def color_at(picture: np.ndarray, at: tuple[int, int]) -> np.ndarray:
    return np.asarray(picture[at[0] - 1 : at[0] + 2, at[1] - 1 : at[1] + 2].reshape(-1, 3).mean(axis=0))


def of(tab: Watched, viewer: Viewer, p: np.ndarray) -> np.ndarray:
    """The colour that is seen at the point p (3,) [m]."""
    shown = tab.settled(viewer.server)
    return color_at(shown, seen_at(viewer, shown.shape, p))


@needs_chromium
def test_areas_of_contact_are_discs_in_the_colour_of_their_pressure(
    tab: Watched, viewer: Viewer, stack: nx.Result
) -> None:
    tab.page.get_by_label("contact pressure", exact=True).click()
    comes_true(lambda: "contact pressure" in viewer._desk.look.layers)
    motion = viewer._desk.motion
    most, largest = scale_of(motion)
    tab.until("() => !document.querySelector('#nexdyn-scale').hidden")
    unit = tab.page.locator("#nexdyn-scale").inner_text().split()[2]
    low, half, high = tab.page.locator("#nexdyn-scale span").all_inner_texts()
    factor = {"[Pa]": 1.0, "[kPa]": 1e3, "[MPa]": 1e6}[unit]
    assert float(high.removeprefix("≥ ")) * factor == pytest.approx(most) and ("≥" in high) == (largest > most)
    assert low == "0" and float(half) * factor == pytest.approx(most / 2)
    center, radius, normal, pressure = discs(motion.at(0.2))
    assert (pressure > 0.0).sum() == 4
    for k in np.flatnonzero(radius > 0.05):  # that of the ball is small
        across = np.cross(normal[k], (1.0, 0.0, 0.0))
        expected = color(pressure[k] / most)
        for part in (-0.6, 0.6):
            tab.settled(viewer.server)
            seen = of(tab, viewer, center[k] + part * radius[k] * across)
            # behind it, where it is seen through, a body or the floor
            assert np.abs(seen - expected).max() < 50, (seen, expected)
    tab.page.get_by_label("contact pressure", exact=True).click()
    tab.until("() => document.querySelector('#nexdyn-scale').hidden")


@needs_chromium
def test_collision_shapes_are_a_layer(tab: Watched, viewer: Viewer, stack: nx.Result) -> None:
    at = stack.position("ball").values[-1]
    beside = at + 0.066 * np.array(
        (np.cos(0.66), np.sin(0.66), 0.0)
    )  # out of the drawn ball, in the other, across the line of sight
    plain, drawn = of(tab, viewer, beside), of(tab, viewer, at)
    assert np.ptp(plain) < 25
    tab.page.get_by_label("collision shapes", exact=True).click()
    comes_true(lambda: "collision shapes" in viewer._desk.look.layers)
    for p, before in ((beside, plain), (at, drawn)):
        now = of(tab, viewer, p)
        assert now[0] < before[0] - 20 and now[2] - now[0] > before[2] - before[0] + 20  # towards its colour
    tab.page.get_by_label("collision shapes", exact=True).click()
    comes_true(lambda: "collision shapes" not in viewer._desk.look.layers)
    assert np.abs(of(tab, viewer, beside) - plain).max() < 12


@needs_chromium
def test_bodies_become_transparent_by_a_key_and_a_slider(tab: Watched, viewer: Viewer, stack: nx.Result) -> None:
    at = stack.position("crate1").values[-1]
    solid = of(tab, viewer, at)
    tab.page.evaluate("document.activeElement?.blur()")
    tab.page.keyboard.press("t")
    comes_true(lambda: viewer._desk.look.opacity == 0.3)
    through = of(tab, viewer, at)
    assert through.min() > solid.min() + 50  # the white behind it
    tab.page.get_by_role("slider", name="opacity", exact=True).press("End")
    comes_true(lambda: viewer._desk.look.opacity == 1.0)
    assert np.abs(of(tab, viewer, at) - solid).max() < 12


@needs_chromium
def test_a_section_takes_away_what_lies_beyond_it_and_what_is_picked_there(
    tab: Watched, viewer: Viewer, stack: nx.Result
) -> None:
    """Seen from the front, the front half of the crates is taken away, then all above the lowest crate."""
    viewer.aim("front")
    comes_true(lambda: float(line_of_sight(viewer) @ (0, 1, 0)) > 0.9999)
    at = stack.position("crate1").values[-1]
    front, tip = of(tab, viewer, at), tab.page.locator("#nexdyn-hover")
    tab.page.get_by_label("cut away", exact=True).click()
    tab.page.get_by_role("option", name="y <", exact=True).click()
    comes_true(lambda: viewer._desk.look.section is not None and viewer._desk.look.section[0] == "-y")
    assert viewer._desk.look.section[1] == pytest.approx(viewer._desk.stage.center[1])
    tab.page.get_by_role("slider", name="plane at [m]", exact=True).wait_for()
    inside = of(tab, viewer, at)
    assert np.abs(inside - front).max() > 20 and np.ptp(inside) > 45  # its inside, in a colour of its own
    hit = viewer._desk.inquiry.pick(at - np.array((0.0, 3.0, 0.0)), np.array((0.0, 1.0, 0.0)), 0.2)
    assert (
        hit is not None and hit.body == "crate1" and hit.p_W[1] == pytest.approx(viewer._desk.look.section[1], abs=1e-6)
    )
    viewer.look(Look(SHAPES, section=("z", 0.15)))
    assert np.ptp(of(tab, viewer, at)) < 25
    low = stack.position("crate0").values[-1]
    assert np.ptp(of(tab, viewer, low)) > 45
    for p, name in ((low, "crate0"), (at, "")):
        pointed(tab, place_of(tab, viewer, p))
        tab.comes_true(lambda name=name: (tip.inner_text().split()[0] if tip.is_visible() else "") == name)
    tab.page.get_by_label("cut away", exact=True).click()
    tab.page.get_by_role("option", name="(nothing)", exact=True).click()
    comes_true(lambda: viewer._desk.look.section is None)
    assert np.abs(of(tab, viewer, at) - front).max() < 12


@needs_chromium
def test_the_plane_of_a_section_is_moved_by_its_slider(tab: Watched, viewer: Viewer) -> None:
    viewer.look(Look(SHAPES, section=("z", 0.3)))
    handle = tab.page.get_by_role("slider", name="plane at [m]", exact=True)
    handle.wait_for()
    handle.press("Home")
    comes_true(lambda: viewer._desk.look.section is not None and viewer._desk.look.section[1] < 0.0)
    assert np.ptp(tab.settled(viewer.server), axis=-1).max() < 45  # nothing is left
    handle.press("End")
    comes_true(lambda: viewer._desk.look.section is not None and viewer._desk.look.section[1] > 0.6)
    assert (np.ptp(tab.settled(viewer.server), axis=-1) > 45).sum() > 1000
    at = viewer._desk.look.section
    assert at is not None
    viewer.units(True)
    try:
        handle = tab.page.get_by_role("slider", name="plane at [mm]", exact=True)
        handle.wait_for()
        tab.comes_true(
            lambda: float(handle.get_attribute("aria-valuenow") or "nan") == pytest.approx(1e3 * at[1], rel=1e-3)
        )
        handle.press("Home")
        comes_true(
            lambda: viewer._desk.look.section is not None and -1.0 < viewer._desk.look.section[1] < 0.0
        )  # in metres
    finally:
        viewer.units(False)
    tab.page.get_by_role("slider", name="plane at [m]", exact=True).wait_for()


@needs_chromium
def test_a_section_follows_what_is_followed(tab: Watched, viewer: Viewer, stack: nx.Result) -> None:
    """The plane stays where it is in the world as the camera goes along with a body."""
    viewer.look(Look(SHAPES, section=("z", 0.15), follow="crate2"))
    for t in (0.0, 0.2):
        viewer.seek(t)
        shift = stack.position("crate2").values[0] - stack.position("crate2").sel(time=t, method="nearest").values
        tab.settled(viewer.server)
        assert np.ptp(of(tab, viewer, stack.position("crate1").sel(time=t, method="nearest").values + shift)) < 25
        assert np.ptp(of(tab, viewer, stack.position("crate0").sel(time=t, method="nearest").values + shift)) > 45


@needs_chromium
@pytest.mark.parametrize(
    ("side", "ahead"), [("front", (0, 1, 0)), ("right", (-1, 0, 0)), ("top", (0, 0, -1))]
)  # fmt: skip
def test_a_face_of_the_cube_is_looked_at_from_its_side(
    tab: Watched, viewer: Viewer, side: str, ahead: tuple[int, ...]
) -> None:
    """About the same point and from as far."""
    viewer.aim("corner")
    comes_true(lambda: 0.3 < float(line_of_sight(viewer) @ ahead) < 0.9)
    (client,) = viewer.server.get_clients().values()
    target, away = np.array(client.camera.look_at), np.subtract(client.camera.position, client.camera.look_at)
    tab.page.locator(f"#nexdyn-cube [data-side={side}]").click()
    comes_true(lambda: float(line_of_sight(viewer) @ ahead) > 0.9999)
    tab.settled(viewer.server)
    np.testing.assert_allclose(client.camera.look_at, target, atol=1e-3 * viewer._desk.stage.size)
    np.testing.assert_allclose(
        np.linalg.norm(np.subtract(client.camera.position, client.camera.look_at)), np.linalg.norm(away), rtol=0.01
    )
    faces = "[...document.querySelectorAll('#nexdyn-cube div')].filter(x => !x.hidden).map(x => x.dataset.side)"
    tab.comes_true(lambda: tab.page.evaluate(faces) == [side])


@needs_chromium
def test_in_a_small_dark_window_scale_and_cube_are_in_the_scene(browser: Any, stack: nx.Result) -> None:
    with on_a_free_port(stack) as viewer:
        viewer.pause()
        viewer.dark(True)
        with opened(browser, viewer.address, size=(800, 500)) as tab:
            tab.comes_true(lambda: viewer.watched)
            tab.page.locator("#nexdyn-scale").wait_for()
            tab.page.locator("#nexdyn-cube").wait_for()

            def within() -> bool:
                canvas = tab.canvas_box()
                found = [tab.page.locator(name).bounding_box() for name in ("#nexdyn-scale", "#nexdyn-cube")]
                return all(
                    box is not None
                    and canvas["x"] <= box["x"]
                    and canvas["y"] <= box["y"]
                    and box["x"] + box["width"] <= canvas["x"] + canvas["width"]
                    and box["y"] + box["height"] <= canvas["y"] + canvas["height"]
                    for box in found
                )

            tab.comes_true(within)
            assert tab.faults == []


# --- a system that runs ---------------------------------------------------------------------------------------------


def dropped() -> nx.System:
    """A crate above the ground, which nothing touches at first."""
    yard = nx.System("yard")
    yard.add_body("crate", mass=2.0, shapes=[nx.Box((0.3, 0.3, 0.2))], position=(0.0, 0.0, 0.25))
    yard.add_joint(nx.Free("crate is free", "ground", "crate"))
    yard.add_contact(nx.Contact("lands", "crate", "ground", foundation_b=1e6, damping=20.0, friction=0.5))
    return yard


CONTACT_PIXELS = 12


def contact_pixels(tab: Watched) -> int:
    """Pixels in the colour of arrows of contacts."""
    red, green, blue = np.moveaxis(tab.pixels(), -1, 0)
    return int(((red - green > 90) & (blue - green > 40)).sum())


@needs_chromium
def test_what_is_dropped_while_it_runs_shows_its_contact_and_pressure(browser: Any) -> None:
    with on_a_free_port(nx.Session(dropped())) as viewer, opened(browser, viewer.address) as tab:
        viewer.look(Look(frozenset({"shapes", "contact forces", "contact pressure"})))
        assert viewer.session is not None
        held = viewer._desk.touch
        assert held is not None
        tab.comes_true(lambda: viewer.watched and viewer.session is not None and viewer.session.t > 0.6)
        held.toggle()
        tab.settled(viewer.server)
        assert contact_pixels(tab) > CONTACT_PIXELS
        tab.until("() => document.querySelector('#nexdyn-scale')?.hidden === false")
        frame, stage = viewer._desk.motion.at(viewer.t), viewer._desk.stage
        assert frame.contact is not None and frame.press is not None
        force = np.linalg.norm(frame.contact[:, 3:], axis=1).sum()
        assert force == pytest.approx(2.0 * 9.80665, rel=0.2)  # it rests
        (acting,) = [ends for ends in stage.contacts.ends(frame, 1.0) if np.linalg.norm(ends[0]) < 10.0 * stage.size]
        assert 0.1 * stage.size < np.linalg.norm(acting[1] - acting[0]) <= stage.size
        assert 0.0 < frame.press[:, 4].max() <= stage.pressures.largest * (1.0 + 1e-6)
        viewer.keep()
        assert tab.faults == []


def test_the_page_that_follows_a_run_shows_contacts_that_come_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Viewer, "watched", True)
    monkeypatch.setattr(live, "RATE", np.inf)
    run = simulation_of(dropped(), method=nx.HHT())
    with on_a_free_port(run) as viewer:
        assert viewer._desk.stage.contacts.scale == viewer._desk.stage.pressures.scale == 0.0
        follow = viewer.follow(run)
        for t in np.arange(0.02, 0.6, 0.02):
            run.run(float(t))
            follow(float(t), 0.6)
        stage, frame = viewer._desk.stage, viewer._desk.frame
        assert frame is not None and frame.contact is not None
        ends = stage.contacts.ends(frame, 1.0)
        assert np.linalg.norm(ends[:, 0], axis=1).min() < stage.size
        assert stage.pressures.scale > 0.0 and stage.pressures.handle.batched_scales.max() > 0.05


# --- recordings and pictures ----------------------------------------------------------------------------------------


@needs_chromium
def test_a_recording_has_the_scale_the_cube_and_the_section(browser: Any, stack: nx.Result, tmp_path: Path) -> None:
    path = tmp_path / "stack.html"
    record(stack, path, layers=PLAIN | {"contact pressure"}, section=("z", 0.15))
    with opened(browser, path.as_uri(), offline=True) as tab:
        tab.until("() => document.querySelector('#nexdyn-scale')?.hidden === false")
        assert "largest pressure" in tab.page.locator("#nexdyn-scale").inner_text()
        tab.page.evaluate(
            "document.querySelectorAll('.mantine-Notification-root').forEach(x => { x.style.display = 'none'; })"
        )
        colored = "() => window.__viserMutable.camera.getWorldDirection(window.__viserMutable.camera.position.clone()).toArray()"
        before = np.array(tab.page.evaluate(colored))
        tab.page.locator("#nexdyn-cube [data-side=front]").click()
        tab.comes_true(lambda: bool(np.abs(np.array(tab.page.evaluate(colored)) - before).max() > 0.3))
        shown = "[...document.querySelectorAll('#nexdyn-cube div')].filter(x => !x.hidden).map(x => x.dataset.side)"
        tab.comes_true(lambda: tab.page.evaluate(shown) == ["front"])
        red, green, blue = np.moveaxis(tab.pixels(), -1, 0)
        assert not ((red - green > 60) & (red - blue > 60)).any()  # neither the ball nor the second crate
        assert ((blue - red > 40) & (green - red > 10)).sum() > 300  # the first crate
        assert tab.faults == []


def test_pictures_have_the_pressures_and_their_scale(stack: nx.Result) -> None:
    size = (480, 320)
    plain = picture(stack, 0.2, Shot(size, pressure=False)).astype(int)
    shown = picture(stack, 0.2, Shot(size)).astype(int)
    changed = np.abs(shown - plain).max(axis=-1) > 40
    corner = changed[int(0.75 * size[1]) :, int(0.55 * size[0]) :]
    assert corner.sum() > 300 and changed.sum() > corner.sum() + 1000
    yellow = (shown[..., 0] > 200) & (shown[..., 1] > 180) & (shown[..., 2] < 90)
    assert yellow[int(0.75 * size[1]) :, int(0.8 * size[0]) :].sum() > 5  # the upper end of the scale


def test_pictures_have_collision_shapes_transparency_and_sections(stack: nx.Result) -> None:
    def shot(**how: Any) -> np.ndarray:
        return picture(stack, 0.2, Shot((480, 320), pressure=False, contacts=False, **how)).astype(int)

    def colored(image: np.ndarray) -> int:
        return int((np.ptp(image, axis=-1) > 45).sum())

    plain = shot()
    assert (np.abs(shot(collision=True) - plain).max(axis=-1) > 20).sum() > 1000
    pale = shot(opacity=0.3)
    assert np.ptp(pale, axis=-1).max() < 0.6 * np.ptp(plain, axis=-1).max()
    assert colored(shot(section=("z", -1.0))) == 0 and colored(shot(section=("z", 5.0))) == colored(plain)
    assert 0.1 * colored(plain) < colored(shot(section=("z", 0.15))) < 0.6 * colored(plain)

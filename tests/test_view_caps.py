"""Where a section cuts closed surfaces it leaves faces, on the page, in recordings and in pictures, and they are what is clicked."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import (  # noqa: F401 (fixtures)
    PLAIN,
    Watched,
    browser,
    needs_chromium,
    on_a_free_port,
    opened,
)
from test_view_parallel import on_page

import nexdyn as nx
from nexdyn.view.caps import FINE, MOST, area, cap, covers, filled
from nexdyn.view.motion import Frame, Motion
from nexdyn.view.picking import Hit, Picker
from nexdyn.view.raster import linear, srgb
from nexdyn.view.section import Section, cut, section_of
from nexdyn.view.shot import Shot
from nexdyn.view.stage import Look
from nexdyn.view.studio import FACE, Studio
from nexdyn.view.surfaces import Color, Piece, Surface, box, capsule, cylinder, ring, sphere
from nexdyn.view.viewer import Viewer

NORMAL = np.array((0.0, 0.6, 0.8))


def areas(triangles: np.ndarray) -> np.ndarray:
    """Of triangles (n, 3, 3) their area vectors (n, 3) [m²]."""
    a, b, c = triangles.transpose(1, 0, 2)
    return np.asarray(np.cross(b - a, c - a) / 2)


@pytest.mark.parametrize(
    "surface", [box((1.0, 2.0, 3.0)), sphere(1.0), cylinder(0.5, 2.0), ring(1.0, 0.2, 0.3), capsule(0.3, 1.0)]
)
@pytest.mark.parametrize("d", [-0.31, 0.0, 0.1, 0.27])
def test_a_face_closes_what_a_section_leaves(surface: Surface, d: float) -> None:
    """Of a closed surface the area vectors add up to nothing: ∮ n dA = 0."""
    v = surface.vertices.astype(float)
    closing = cap(v, surface.faces, NORMAL, d)
    assert closing is not None
    p, _, faces, _ = cut(v, v, surface.faces, Section(NORMAL, d))
    own = np.linalg.norm(areas(closing), axis=1).sum()
    np.testing.assert_allclose(areas(p[faces]).sum(axis=0), -own * NORMAL, atol=1e-6)
    np.testing.assert_allclose(closing @ NORMAL, d, atol=1e-9)


def test_a_face_has_the_area_of_what_is_cut() -> None:
    (wide, long, _), wheel = (1.0, 2.0, 3.0), ring(1.0, 0.2, 0.3)
    for surface, normal, expected in (
        (box((wide, long, 3.0)), NORMAL, wide * long / NORMAL[2]),
        (cylinder(0.5, 4.0), NORMAL, np.pi * 0.25 / NORMAL[2]),
        (wheel, np.array((1.0, 0.0, 0.0)), 2 * 0.2 * 0.3),
    ):
        triangles = cap(surface.vertices.astype(float), surface.faces, normal, 0.0)
        assert triangles is not None
        assert np.linalg.norm(areas(triangles), axis=1).sum() == pytest.approx(expected, rel=2e-2)


def test_what_is_not_closed_gets_no_face() -> None:
    whole = box((1.0, 1.0, 1.0))
    assert cap(whole.vertices.astype(float), whole.faces[1:], np.array((0.6, 0.64, 0.48)), 0.05) is None
    assert cap(whole.vertices.astype(float), whole.faces, NORMAL, 5.0) is None  # nor what is not cut
    assert filled(np.zeros((0, 2, 2))) is None


def dense(ways: np.ndarray) -> np.ndarray | None:
    """The same faces by a table of all slabs and all ways."""
    step = FINE * float(np.ptp(ways.reshape(-1, 2), axis=0).max())
    ways = ways.copy()
    ways[..., 1] = np.round(ways[..., 1] / step) * step
    heights = np.unique(ways[..., 1])
    low, high = heights[:-1], heights[1:]
    (x0, y0), (x1, y1) = ways[:, 0].T, ways[:, 1].T
    least, most = np.minimum(y0, y1), np.maximum(y0, y1)
    act = (least <= low[:, None]) & (most >= high[:, None]) & (most > least)
    slope = (x1 - x0) / np.where(most > least, y1 - y0, 1.0)
    at_low, at_high = (x0 + slope * (y[:, None] - y0) for y in (low, high))
    order = np.argsort(np.where(act, at_low + at_high, np.inf), axis=1, kind="stable")
    row = np.arange(len(low))[:, None]
    count = np.cumsum(np.where(act, np.sign(y1 - y0), 0.0)[row, order], axis=1)
    if count[:, -1].any():
        return None
    i, j = np.nonzero((count[:, :-1] != 0.0) & act[row, order][:, 1:])
    left, right = order[i, j], order[i, j + 1]
    a, b = np.stack([at_low[i, left], low[i]], 1), np.stack([at_low[i, right], low[i]], 1)
    c, e = np.stack([at_high[i, right], high[i]], 1), np.stack([at_high[i, left], high[i]], 1)
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, e], axis=1)])


def test_the_faces_of_an_outline_are_those_of_a_table_of_all_slabs_and_all_ways(rng: np.random.Generator) -> None:
    """To the bit, of rings that cross each other and themselves, have corners at one height or are open."""
    closed = 0
    for k in range(200):
        rings = []
        for _ in range(rng.integers(1, 5)):
            corners = rng.normal(size=(int(rng.integers(3, 40)), 2)).round(1 if k % 2 else 9)
            rings.append(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
        ways = rng.permutation(np.concatenate(rings))[k % 5 == 0 :]
        expected, found = dense(ways), filled(ways)
        assert (expected is None) == (found is None)
        if expected is not None and found is not None:
            np.testing.assert_array_equal(found, expected)
            closed += 1
    assert closed > 100
    flat = np.array([[[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]])
    np.testing.assert_array_equal(filled(flat), dense(flat))


def test_a_long_outline_needs_memory_for_the_slabs_that_its_ways_cross() -> None:
    """A table of all slabs and all ways took 350 MB."""
    angle = np.linspace(0.0, 2.0 * np.pi, MOST, endpoint=False)
    corners = np.column_stack([np.cos(angle), np.sin(angle + 1e-4)])
    tracemalloc.start()
    try:
        triangles = filled(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert triangles is not None and most < 20e6
    (x0, y0), (x1, y1), (x2, y2) = triangles.transpose(1, 2, 0)
    area = np.abs((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)).sum() / 2.0
    assert area == pytest.approx(np.pi, rel=1e-5)


def test_pictures_cut_anew_what_has_moved(lifted: nx.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block moves; the faces of the ball and the pin, which stand, are those of the picture before."""
    made: list[int] = []

    def counted(*given: Any) -> np.ndarray | None:
        made.append(1)
        return cap(*given)

    monkeypatch.setattr("nexdyn.view.studio.cap", counted)
    shot = Shot((64, 64), eye=(0, -4, 0.6), target=(0, 0, 0.6), section=("-y", 0.0), clock=False)
    studio, counts = Studio(Motion.of(lifted), shot), []
    pictures = []
    for t in (0.0, 0.0, 0.5, 1.0, 0.0):
        made.clear()
        pictures.append(studio.picture(t))
        counts.append(len(made))
    whole = counts[0]
    assert counts[1] == 0 and 0 < counts[2] == counts[3] == counts[4] < whole
    np.testing.assert_array_equal(pictures[4], pictures[0])
    for t, seen in ((0.5, pictures[2]), (1.0, pictures[3])):
        np.testing.assert_array_equal(Studio(Motion.of(lifted), shot).picture(t), seen)


# --- what a line of sight meets of them ---------------------------------------------------------------------------------

RED, CLEAR = (0.9, 0.1, 0.1, 1.0), (0.9, 0.1, 0.1, 0.5)
FRONT = ("-y", 0.0)


def picked(
    pieces: list[tuple[str, Surface, Color]], origin: tuple[float, ...], direction: tuple[float, ...], section: Any
) -> Hit | None:
    """What a line of sight meets of surfaces, each of a body of its own about the origin."""
    drawn = [Piece(name, name, surface, np.eye(3), np.zeros(3), color) for name, surface, color in pieces]
    frame = Frame(np.zeros((len(drawn), 3)), np.tile((1.0, 0.0, 0.0, 0.0), (len(drawn), 1)), None)
    picker = Picker(drawn, {name: k for k, (name, _, _) in enumerate(pieces)})
    return picker.pick(frame, np.array(origin), np.array(direction), section_of(section))


def upright(surface: Surface) -> Surface:
    """With z along y."""
    return Surface(surface.vertices[:, [1, 2, 0]], surface.faces)


def test_a_line_of_sight_along_the_plane_meets_nothing_of_what_is_taken_away() -> None:
    cube = [("cube", box((1.0, 1.0, 1.0)), RED)]
    assert picked(cube, (-5.0, 0.0, 0.3), (1.0, 0.0, 0.0), ("z", 0.1)) is None
    hit = picked(cube, (-5.0, 0.0, 0.05), (1.0, 0.0, 0.0), ("z", 0.1))
    assert hit is not None
    np.testing.assert_allclose(hit.p_W, (-0.5, 0.0, 0.05))
    assert picked(cube, (-5.0, 0.0, 5.0), (1.0, 0.0, 1.0), ("z", 0.1)) is None  # it goes away from what is left
    hit = picked(cube, (0.2, 0.1, 5.0), (0.0, 0.0, -1.0), ("z", 0.1))
    assert hit is not None
    np.testing.assert_allclose(hit.p_W, (0.2, 0.1, 0.1))


def test_of_the_faces_of_a_section_the_one_is_met_that_is_drawn_before_the_others() -> None:
    """The smallest, also where it is of what reaches farther; of what is closed and not seen through."""
    block, rod = box((1.0, 1.0, 1.0)), upright(cylinder(0.1, 2.4))
    gap = Surface(rod.vertices, rod.faces[1:])
    in_rod, beside = (0.05, -5.0, 0.02), (0.3, -5.0, 0.02)
    ahead = (0.0, 1.0, 0.0)
    for pieces, expected in (
        ([("block", block, RED), ("rod", rod, RED)], "rod"),
        ([("rod", rod, RED), ("block", block, RED)], "rod"),
        ([("block", block, RED), ("rod", rod, CLEAR)], "block"),
        ([("block", block, RED), ("rod", rod, RED), ("other rod", rod, CLEAR)], "block"),  # they are drawn together
    ):
        hit = picked(pieces, in_rod, ahead, FRONT)
        assert hit is not None and hit.body == expected
        np.testing.assert_allclose(hit.p_W, (0.05, 0.0, 0.02))
        hit = picked(pieces, beside, ahead, FRONT)
        assert hit is not None and hit.body == "block"
    assert cap(gap.vertices.astype(float), gap.faces, np.array((0.0, -1.0, 0.0)), 0.0) is None
    hit = picked([("block", block, RED), ("rod", gap, RED)], in_rod, ahead, FRONT)
    assert hit is not None and hit.body == "block"
    hit = picked([("rod", rod, CLEAR)], in_rod, ahead, FRONT)  # it has no face: what is behind it is met
    assert hit is not None
    assert hit.p_W[1] == pytest.approx(1.2)


def test_the_face_that_is_met_is_of_where_its_body_is_now() -> None:
    block = Piece("block", "block", box((1.0, 1.0, 1.0)), np.eye(3), np.zeros(3), RED)
    picker, section = Picker([block], {"block": 0}), section_of(FRONT)
    turned = np.array((np.cos(np.pi / 8), 0.0, np.sin(np.pi / 8), 0.0))  # a corner goes up, to 0.707
    for shift, q, up, met in (
        (0.0, (1.0, 0.0, 0.0, 0.0), 0.6, False), (0.0, turned, 0.6, True), (2.0, turned, 0.6, False), (0.0, turned, 0.6, True),
    ):  # fmt: skip
        frame = Frame(np.array([(shift, 0.0, 0.0)]), np.array([q]), None)
        for _ in range(2):
            hit = picker.pick(frame, np.array((0.0, -5.0, up)), np.array((0.0, 1.0, 0.0)), section)
            assert (hit is not None) == met
            if hit is not None:
                np.testing.assert_allclose(hit.p_W, (0.0, 0.0, up), atol=1e-12)


def test_a_long_outline_is_filled_as_a_short_one() -> None:
    """A square with a round hole: as many slabs as corners, of which each has a few ways."""
    angles = np.linspace(0.0, 2.0 * np.pi, 2900, endpoint=False)
    inner = np.stack([np.cos(angles), -np.sin(angles)], axis=1)
    outer = 2.0 * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    ways = np.concatenate([np.stack([x, np.roll(x, -1, axis=0)], axis=1) for x in (outer, inner)])
    triangles = filled(ways)
    assert triangles is not None
    assert area(triangles) == pytest.approx(16.0 - np.pi, rel=1e-5)
    assert covers(triangles, np.array((1.5, 0.3))) and not covers(triangles, np.array((0.5, 0.3)))
    assert not covers(triangles, np.array((2.5, 0.3)))


# --- on the page ------------------------------------------------------------------------------------------------------

BLOCK, BALL, PIN = (0.2, 0.3, 0.9), (0.9, 0.1, 0.1), (0.1, 0.8, 0.2)


def filled_block() -> nx.System:
    """A block that slides up, with a ball inside behind the plane y = 0 and a pin that the plane cuts."""
    system = nx.System("block", gravity=(0, 0, 0))
    inertia: Any = {"mass": 1.0, "inertia": (1, 1, 1)}
    system.add_body("block", position=(0, 0, 0.6), shapes=[nx.Box((1, 1, 1), color=BLOCK)], **inertia)
    system.add_body("ball", position=(0.25, 0.25, 0.6), shapes=[nx.Sphere(0.15, color=BALL)], **inertia)
    system.add_body("pin", position=(-0.25, 0, 0.6), shapes=[nx.Cylinder(0.1, 0.4, color=PIN)], **inertia)
    system.add_joint(nx.Prismatic("guide", "ground", "block", at=(0, 0, 0.6), axis=(0, 0, 1), v0=0.5))
    return system


@pytest.fixture(scope="module")
def lifted() -> nx.Result:
    return nx.simulate(filled_block(), 1.0, nx.RungeKutta4(1e-2))


@pytest.fixture(scope="module")
def shown(lifted: nx.Result) -> Iterator[Viewer]:
    with on_a_free_port(lifted) as found:
        found.pause()
        yield found


@pytest.fixture(scope="module")
def page(browser: Any, shown: Viewer) -> Iterator[Watched]:  # noqa: F811
    with opened(browser, shown.address) as found:
        found.comes_true(lambda: shown.watched)
        yield found
        assert found.faults == []


def color_at(tab: Watched, p: tuple[float, float, float]) -> np.ndarray:
    """The colour, 0 … 255, where a point is seen."""
    x, y = on_page(tab, np.array([p]))[0]
    left = tab.canvas_box()
    picture = tab.pixels()
    return np.asarray(picture[round(y - left["y"]), round(x - left["x"])])


def looks(tab: Watched, p: tuple[float, float, float], color: tuple[float, float, float]) -> bool:
    """Whether it is the colour of a face there: the hue of the body's, and darker."""
    seen, own = linear(color_at(tab, p) / 255.0), FACE * linear(np.array(color))
    return bool(seen @ own > 0.97 * np.linalg.norm(seen) * np.linalg.norm(own)) and bool(seen.sum() < 2.0 * own.sum())


@needs_chromium
@pytest.mark.timeout(900)
def test_a_section_fills_what_it_cuts_and_what_is_filled_is_clicked(page: Watched, shown: Viewer) -> None:
    shown.seek(0.0)
    shown.look(Look(PLAIN, section=("-y", 0.0)))
    page.page.keyboard.press("1")
    page.settled(shown.server)
    for t in (0.0, 0.6):
        shown.seek(t)
        page.settled(shown.server)
        assert looks(page, (0.25, 0.0, 0.6), BLOCK) and looks(page, (-0.25, 0.0, 0.6), PIN)
        assert looks(page, (0.0, 0.0, 1.05 + 0.5 * t), BLOCK)
        assert looks(page, (0.0, 0.0, 0.2), BLOCK) == (t == 0.0)  # the face goes along
    shown.seek(0.0)
    page.settled(shown.server)
    for p, name in (((0.25, 0.0, 0.6), "block"), ((-0.25, 0.0, 0.6), "pin")):
        page.page.mouse.click(*on_page(page, np.array([p]))[0])
        page.comes_true(lambda name=name: shown.selected == f"body:{name}")
    shown.select("")
    shown.look(
        Look(PLAIN, section=("-y", 0.0), opacity=0.5)
    )  # what is seen through has no faces, and the ball is clicked
    page.settled(shown.server)
    page.page.mouse.click(*on_page(page, np.array([(0.25, 0.0, 0.6)]))[0])
    page.comes_true(lambda: shown.selected == "body:ball")
    shown.select("")
    shown.look(Look(PLAIN))
    plain = page.settled(shown.server)
    shown.look(Look(PLAIN, section=("-y", 5.0)))  # all is taken away, and no face is left
    page.comes_true(lambda: np.abs(page.pixels() - plain).max() > 60)
    page.settled(shown.server)
    assert not looks(page, (0.25, 0.0, 0.6), BLOCK)
    shown.look(Look(PLAIN))
    assert np.abs(page.settled(shown.server) - plain).max() < 25


@needs_chromium
@pytest.mark.timeout(900)
def test_recordings_and_pictures_fill_what_a_section_cuts(browser: Any, lifted: nx.Result, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "block.html"
    nx.record(lifted, path, layers=PLAIN, section=("-y", 0.0))
    with opened(browser, path.as_uri(), offline=True) as tab:
        tab.until("document.querySelector('#root #nexdyn-slider')")
        tab.page.keyboard.press("Space")
        tab.page.keyboard.press("1")
        tab.page.keyboard.press("r")
        tab.settled()
        assert looks(tab, (0.25, 0.0, 0.6), BLOCK) and looks(tab, (-0.25, 0.0, 0.6), PIN)
        tab.page.mouse.click(*on_page(tab, np.array([(0.25, 0.0, 0.6)]))[0])
        tab.comes_true(lambda: tab.page.locator(".nexdyn-card caption").all_inner_texts() == ["block"])
        assert tab.faults == []
    shot: Any = {"eye": (0.0, -4.0, 0.6), "target": (0.0, 0.0, 0.6), "size": (320, 320)}
    for section, color in ((("-y", 0.0), BLOCK), (("-y", 0.25), BALL)):
        studio = Studio(Motion.of(lifted), Shot(section=section, **shot))
        f = 160 / np.tan(studio.shot.field / 2)
        at = round(160 + f * 0.25 / (4.0 + section[1]))
        np.testing.assert_allclose(studio.picture(0.0)[160, at], srgb(FACE * linear(np.array(color))), atol=2)


@needs_chromium
@pytest.mark.timeout(900)
def test_the_face_that_is_seen_is_the_one_that_is_clicked(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    """On the page, in a recording, in a picture: a rod through a block, which it is longer than and thinner."""
    system = nx.System("pierced", gravity=(0, 0, 0))
    inertia: Any = {"mass": 1.0, "inertia": (1, 1, 1), "position": (0, 0, 0.6)}
    system.add_body("rod", shapes=[nx.Box((0.3, 2.4, 0.3), color=PIN)], **inertia)
    system.add_body("block", shapes=[nx.Box((1, 1, 1), color=BLOCK)], **inertia)
    result = nx.simulate(system, 0.1, nx.RungeKutta4(1e-2))
    inside, beside = (0.05, 0.0, 0.6), (0.3, 0.0, 0.6)
    with on_a_free_port(result) as viewer:
        viewer.pause()
        viewer.look(Look(PLAIN, section=FRONT))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            tab.caught_up(viewer.server)  # its keys are known to the page
            tab.page.keyboard.press("1")
            tab.settled(viewer.server)
            assert looks(tab, inside, PIN) and looks(tab, beside, BLOCK)
            for p, name in ((inside, "rod"), (beside, "block")):
                tab.page.mouse.click(*on_page(tab, np.array([p]))[0])
                tab.comes_true(lambda name=name: viewer.selected == f"body:{name}")
            assert tab.faults == []
    path = tmp_path / "pierced.html"
    nx.record(result, path, layers=PLAIN, section=FRONT)
    with opened(browser, path.as_uri(), offline=True) as tab:
        tab.until("document.querySelector('#root #nexdyn-slider')")
        tab.page.keyboard.press("Space")
        tab.page.keyboard.press("1")
        tab.page.keyboard.press("r")
        tab.settled()
        assert looks(tab, inside, PIN) and looks(tab, beside, BLOCK)
        for p, name in ((inside, "rod"), (beside, "block")):
            tab.page.mouse.click(*on_page(tab, np.array([p]))[0])
            tab.comes_true(lambda name=name: tab.page.locator(".nexdyn-card caption").all_inner_texts() == [name])
        assert tab.faults == []
    studio = Studio(Motion.of(result), Shot((320, 320), eye=(0, -4, 0.6), target=(0, 0, 0.6), section=FRONT))
    np.testing.assert_allclose(studio.picture(0.0)[160, 160], srgb(FACE * linear(np.array(PIN))), atol=2)


@needs_chromium
@pytest.mark.timeout(900)
def test_reactions_are_seen_through_the_faces_of_a_section(browser: Any) -> None:  # noqa: F811
    """Sections are made to see what acts inside: the joint lies behind the face."""
    system = nx.System("held", gravity=(0, 0, -9.81))
    shape = nx.Box((1, 1, 1), color=BLOCK)
    system.add_body("block", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0.6), shapes=[shape])
    system.add_joint(nx.Revolute("pin", "ground", "block", at=(0, 0.2, 0.5), axis=(0, 0, 1)))
    result = nx.simulate(system, 0.1, nx.RungeKutta4(1e-2))

    def is_red(color: np.ndarray) -> bool:
        return bool(color[0] > 2.0 * color[1:].max())

    point = (0.0, 0.2, 0.52)
    with on_a_free_port(result) as viewer:
        viewer.pause()
        viewer.look(Look(PLAIN | {"reaction forces"}, section=("-y", 0.0)))
        with opened(browser, viewer.address) as tab:
            tab.comes_true(lambda: viewer.watched)
            tab.caught_up(viewer.server)  # its keys are known to the page
            tab.page.keyboard.press("1")
            tab.settled(viewer.server)
            assert is_red(color_at(tab, point)) and looks(tab, (0.3, 0.0, 0.6), BLOCK)
            viewer.look(Look(PLAIN | {"reaction forces"}))
            tab.settled(viewer.server)
            assert not is_red(color_at(tab, point))  # in the body that is whole
            assert tab.faults == []
    shot = Shot((320, 320), eye=(0, -4, 0.52), target=(0, 0, 0.52), section=("-y", 0.0), reactions=True)
    assert is_red(Studio(Motion.of(result), shot).picture(0.0)[160, 160].astype(int))

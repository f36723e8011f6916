"""Pictures without a display: triangles cover what they should, light falls as it should, bodies are where they are."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from results_lab import pendulum, resting_ball

import nexdyn as nx
from nexdyn.errors import NexDynError
from nexdyn.view import raster, stills
from nexdyn.view.camera import FIELD, MARGIN, look, up_of
from nexdyn.view.geometry import pieces
from nexdyn.view.marks import named
from nexdyn.view.motion import Motion
from nexdyn.view.overlays import Transmitted
from nexdyn.view.sharing import _Moment, shot_of
from nexdyn.view.shot import PICTURED, Shot
from nexdyn.view.stage import LAYERS, Look
from nexdyn.view.stills import picture
from nexdyn.view.studio import TRAIL, Studio, _matrix, _vector

RED, BLUE = (0.9, 0.1, 0.1), (0.1, 0.2, 0.9)
SMALL = Shot(size=(160, 120), clock=False, samples=2)


def ball_on_a_rail(color: Any = RED, radius: float = 0.2) -> nx.System:
    """A ball that slides along x."""
    system = nx.System("ball", gravity=(0, 0, -9.81))
    system.add_body("ball", mass=1.0, shapes=nx.Sphere(radius, color=color))
    system.add_joint(nx.Prismatic("rail", "ground", "ball", axis=(1, 0, 0), v0=1.0))
    return system


def rolled(**more: Any) -> nx.Result:
    return nx.simulate(ball_on_a_rail(**more), t_end=2.0, method=nx.RungeKutta4(0.05))


def on_picture(studio: Studio, p: np.ndarray) -> np.ndarray:
    """Column and row [pixels] of a point of the world."""
    width, height = studio.shot.size
    d = studio.camera.R_CW @ (p - studio.camera.eye)
    f = height / (2.0 * np.tan(FIELD / 2))
    return np.array([width / 2 + f * d[0] / -d[2], height / 2 - f * d[1] / -d[2]])


def hued(image: np.ndarray, color: tuple[float, float, float]) -> np.ndarray:
    """Where a picture has the hue of a colour, (height, width)."""
    x = raster.linear(image / 255.0)
    c = raster.linear(np.array(color))
    along = (x @ c) / (np.linalg.norm(x, axis=-1) * np.linalg.norm(c) + 1e-9)
    return np.asarray(along > 0.95)


# --- triangles ------------------------------------------------------------------------------------------------------


def drawn(screen: np.ndarray, faces: np.ndarray, shape: tuple[int, int] = (48, 64), opacity: float = 1.0) -> np.ndarray:
    """The number of the face that every sample shows."""
    nearness, shown = np.zeros(shape, dtype=np.float32), np.full(shape, -1, dtype=np.int32)
    raster.draw(screen, faces.astype(np.int32), np.full(len(faces), opacity), raster.THRESHOLDS, nearness, shown)
    return shown


def test_a_triangle_covers_the_samples_inside_it_and_no_other(rng: np.random.Generator) -> None:
    i, j = np.mgrid[0:48, 0:64]
    x, y = j + 0.5, i + 0.5
    for _ in range(50):
        corners = rng.uniform(-20.0, 80.0, (3, 2))
        shown = drawn(np.column_stack([corners, [1.0, 2.0, 3.0]]), np.array([[0, 1, 2]]))
        sides = []
        for a, b in ((0, 1), (1, 2), (2, 0)):
            (ax, ay), (bx, by) = corners[a], corners[b]
            sides.append((bx - ax) * (y - ay) - (by - ay) * (x - ax))
        inside = (np.min(sides, axis=0) > 1e-9) | (np.max(sides, axis=0) < -1e-9)
        outside = (np.min(sides, axis=0) < -1e-9) & (np.max(sides, axis=0) > 1e-9)
        assert (shown[inside] == 0).all() and (shown[outside] == -1).all()


def test_triangles_that_share_edges_leave_no_gap(rng: np.random.Generator) -> None:
    angle = np.sort(rng.uniform(0.0, 2 * np.pi, 17))
    rim = np.column_stack([32 + 21.0 * np.cos(angle), 24 + 21.0 * np.sin(angle), np.ones(17)])
    fan = np.array([[0, 1 + k, 1 + (k + 1) % 17] for k in range(17)])
    shown = drawn(np.concatenate([[[32.0, 24.0, 1.0]], rim]), fan)
    filled = shown >= 0
    for row in filled:  # a convex hull has no hole in any row
        columns = np.flatnonzero(row)
        assert len(columns) == 0 or columns[-1] - columns[0] + 1 == len(columns)


def test_the_nearest_face_is_seen_in_whatever_order_they_come(rng: np.random.Generator) -> None:
    screen = np.column_stack([rng.uniform(0, 64, 60), rng.uniform(0, 48, 60), rng.uniform(0.1, 1.0, 60)])
    faces = rng.permutation(60).reshape(20, 3)
    order = rng.permutation(20)
    first, second = drawn(screen, faces), drawn(screen, faces[order])
    seen = first >= 0
    assert seen.any() and (second >= 0)[seen].all()
    np.testing.assert_array_equal(order[second[seen]], first[seen])


def test_what_is_behind_the_camera_is_not_drawn() -> None:
    screen = np.array([[0.0, 0.0, 1.0], [64.0, 0.0, 1.0], [0.0, 48.0, 0.0]])
    assert (drawn(screen, np.array([[0, 1, 2]])) == -1).all()


@pytest.mark.parametrize("opacity", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_a_face_covers_its_opacity_of_the_samples(opacity: float) -> None:
    screen = np.array([[-100.0, -100.0, 1.0], [300.0, -100.0, 1.0], [-100.0, 300.0, 1.0]])
    assert (drawn(screen, np.array([[0, 1, 2]]), opacity=opacity) == 0).mean() == opacity


def test_srgb_is_undone_by_linear() -> None:
    codes = np.arange(256)
    np.testing.assert_array_equal(raster.srgb(raster.linear(codes / 255.0)), codes)


# --- contacts -------------------------------------------------------------------------------------------------------


def test_a_picture_shows_the_force_of_a_contact_unless_told_otherwise() -> None:
    result = nx.simulate(resting_ball(), 1.0, nx.RungeKutta4(1e-4), output_every=100)
    motion = Motion.of(result)

    def magenta(t: float, **options: Any) -> int:
        shot = Shot(size=(320, 240), clock=False, **options)
        red, green, blue = np.moveaxis(Studio(motion, shot).picture(t).astype(int), -1, 0)
        return int(((red - green > 60) & (blue - green > 20)).sum())

    assert magenta(1.0) > 20
    assert magenta(1.0, contacts=False) == 0 and magenta(0.0) == 0


# --- the camera -----------------------------------------------------------------------------------------------------


def test_points_are_seen_where_a_pinhole_has_them(rng: np.random.Generator) -> None:
    points = rng.normal(size=(30, 3)) * (3.0, 1.0, 0.5)
    camera = look(ball_on_a_rail(), points, 4 / 3, azimuth=30.0)
    view = raster.View(_matrix(camera.R_CW), _vector(camera.eye), 500.0, 320.0, 240.0, 0.0)
    screen = np.empty((30, 3))
    raster.project(points, view, screen)
    d = (points - camera.eye) @ camera.R_CW.T
    np.testing.assert_allclose(screen[:, 0], 320.0 - 500.0 * d[:, 0] / d[:, 2], rtol=1e-12)
    np.testing.assert_allclose(screen[:, 1], 240.0 + 500.0 * d[:, 1] / d[:, 2], rtol=1e-12)
    np.testing.assert_allclose(screen[:, 2], -1.0 / d[:, 2], rtol=1e-12)


@pytest.mark.parametrize("azimuth", [None, 0.0, 73.0, -120.0])
@pytest.mark.parametrize("aspect", [0.5, 1.0, 16 / 9])
def test_the_camera_sees_all_points_and_comes_near(
    azimuth: float | None, aspect: float, rng: np.random.Generator
) -> None:
    points = rng.normal(size=(50, 3)) * rng.uniform(0.1, 5.0, 3)
    camera = look(ball_on_a_rail(), points, aspect, azimuth)
    d = (points - camera.eye) @ camera.R_CW.T
    high = np.tan(FIELD / 2)
    reach = np.maximum(np.abs(d[:, 0] / d[:, 2]) / (aspect * high), np.abs(d[:, 1] / d[:, 2]) / high)
    assert (d[:, 2] < 0.0).all() and 0.75 < reach.max() <= 1 / MARGIN + 1e-6
    np.testing.assert_allclose(camera.R_CW @ camera.R_CW.T, np.eye(3), atol=1e-12)
    assert camera.R_CW[1] @ camera.up > 0.9 and abs(camera.R_CW[0] @ camera.up) < 1e-12  # the horizon is level


def test_up_is_against_gravity() -> None:
    for gravity, up in (((0, -9.81, 0), (0, 1, 0)), ((0, 0, 0), (0, 0, 1)), ((3, 0, 0), (-1, 0, 0))):
        np.testing.assert_allclose(up_of(nx.System("s", gravity=gravity)), up)


def test_a_plane_mechanism_is_seen_from_the_side_that_shows_it() -> None:
    camera = Studio(Motion.of(nx.simulate(pendulum(), 0.5, method=nx.RungeKutta4(1e-2))), SMALL).camera
    assert abs(camera.R_CW[2] @ (0.0, 1.0, 0.0)) > 0.8  # its hinge is along y


# --- pictures -------------------------------------------------------------------------------------------------------


def test_a_sphere_is_as_large_as_its_distance_makes_it() -> None:
    studio = Studio(Motion.still(ball_on_a_rail(radius=0.5)), Shot(size=(400, 400), samples=2, elevation=0.0))
    image = studio.picture(0.0)
    d = float(np.linalg.norm(studio.camera.eye))
    f = 200.0 / np.tan(FIELD / 2)
    radius = f * np.tan(np.arcsin(0.5 / d))  # on the axis of the camera
    assert hued(image, RED).sum() == pytest.approx(np.pi * radius**2, rel=0.02)


def test_bodies_are_where_the_motion_has_them() -> None:
    result = rolled()
    studio = Studio(Motion.of(result), SMALL)
    places = [on_picture(studio, result.position("ball").sel(time=t, method="nearest").values) for t in (0.0, 2.0)]
    assert np.linalg.norm(places[1] - places[0]) > 30.0
    for k, t in enumerate((0.0, 2.0)):
        red = hued(studio.picture(t), RED)
        found = np.argwhere(red).mean(axis=0)[::-1]
        np.testing.assert_allclose(found, places[k], atol=2.0)
        column, row = places[1 - k].astype(int)
        assert not red[row, column]


def test_between_samples_bodies_are_between() -> None:
    studio = Studio(Motion.of(nx.simulate(ball_on_a_rail(), 2.0, method=nx.RungeKutta4(1.0))), SMALL)
    found = [np.argwhere(hued(studio.picture(t), RED)).mean(axis=0)[1] for t in (0.0, 0.5, 1.0)]
    assert found[0] + 5.0 < found[1] < found[2] - 5.0 or found[0] - 5.0 > found[1] > found[2] + 5.0


def test_the_sun_lights_one_side_and_throws_a_shadow_on_the_floor() -> None:
    system = nx.System("lamp", gravity=(0, 0, -9.81))
    system.add_body("ball", mass=1.0, shapes=nx.Sphere(0.3, color=(0.5, 0.5, 0.5)), position=(0, 0, 1.0))
    system.add_body("foot", mass=1.0, shapes=nx.Sphere(0.02, color=RED), position=(0, 0, 0))
    studio = Studio(Motion.still(system), Shot(size=(320, 240), samples=2, azimuth=-90.0, elevation=25.0))
    grey = studio.picture(0.0).astype(float).mean(axis=2)
    ball = np.array([0.0, 0.0, 1.0])
    towards = studio.camera.R_CW[2]
    across = studio._sun - (studio._sun @ towards) * towards
    bright, dark = on_picture(studio, ball + 0.2 * across), on_picture(studio, ball - 0.2 * across)
    assert grey[int(bright[1]), int(bright[0])] > grey[int(dark[1]), int(dark[0])] + 40.0
    # the shadow's middle: along the sun's ray from the ball to the floor
    s = (ball[2] - float(studio.floor.point @ studio.floor.normal)) / studio._sun[2]
    middle = on_picture(studio, ball - s * studio._sun)
    beside = on_picture(studio, ball - s * studio._sun + [0.9, 0.0, 0.0])
    at = [grey[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2].mean() for x, y in (middle, beside)]
    assert at[0] < at[1] - 20.0


def test_a_surface_that_is_turned_inside_out_looks_the_same() -> None:
    studio = Studio(Motion.still(ball_on_a_rail()), SMALL)
    image = studio.picture(0.0)
    mesh = studio._mesh
    mesh.faces[:], mesh.normals[:] = mesh.faces[:, ::-1].copy(), -mesh.normals
    difference = np.abs(studio.picture(0.0).astype(int) - image.astype(int))
    assert (difference > 2).mean() < 0.002  # samples on edges may change sides


def test_flat_and_smooth_faces_agree_on_a_box() -> None:
    system = nx.System("box")
    system.add_body("box", mass=1.0, shapes=nx.Box((1, 2, 0.5), color=BLUE))
    studio = Studio(Motion.still(system), SMALL)
    smooth = studio.picture(0.0)
    studio._mesh.lighting[:] = raster.FLAT
    assert np.abs(studio.picture(0.0).astype(int) - smooth.astype(int)).max() <= 1


def coverage(studio: Studio, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Of each pixel the share that shows a body, and its intensity, both (height, width)."""
    studio.picture(t)
    width, height = studio.shot.size
    n = studio.shot.samples
    shown = studio._shown.reshape(height, n, width, n) >= 0
    return shown.mean(axis=(1, 3)), studio._image @ (0.2126, 0.7152, 0.0722)


@pytest.mark.parametrize("grey", np.linspace(0.0, 1.0, 11))
def test_a_subject_of_any_grey_has_three_times_the_light_of_its_background_or_a_third(grey: float) -> None:
    system = nx.System("statue", gravity=(0, 0, -9.81))
    for name, shape, z in (
        ("foot", nx.Box((1.0, 0.6, 0.4), color=(grey,) * 3), 0.5),
        ("head", nx.Sphere(0.3, color=(grey,) * 3), 1.0),
    ):
        system.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(0, 0, z), shapes=[shape])
    shown, light = coverage(Studio(Motion.still(system), Shot(size=(160, 120), clock=False)), 0.0)
    subject, background = float(np.median(light[shown == 1.0])), float(np.median(light[shown == 0.0]))
    assert (max(subject, background) + 0.05) / (min(subject, background) + 0.05) >= 3.0  # WCAG's measure


def test_what_is_half_white_and_half_black_stands_before_grey() -> None:
    system = nx.System("magpie")
    for name, grey, z in (("belly", 0.95, 0.0), ("back", 0.05, 1.0)):
        system.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(0, 0, z), shapes=nx.Sphere(0.4, color=(grey,) * 3))
    studio = Studio(Motion.still(system), Shot(size=(160, 240), clock=False))
    shown, light = coverage(studio, 0.0)
    background = float(np.median(light[shown == 0.0]))
    subject = light[shown == 1.0]
    for part in (subject[subject > background], subject[subject < background]):
        one = float(np.median(part))
        assert (max(one, background) + 0.05) / (min(one, background) + 0.05) >= 3.0 and part.size > 0.2 * subject.size


def framed(studio: Studio, t: float) -> tuple[float, float, np.ndarray]:
    """Of the frame, the larger side and the area of the box about the bodies, and where its middle is from the frame's."""
    shown, _ = coverage(studio, t)
    size = np.array(shown.shape)
    at = np.argwhere(shown > 0.5)
    low, high = at.min(axis=0), at.max(axis=0) + 1
    side = (high - low) / size
    return float(side.max()), float(side.prod()), np.abs((low + high) / 2 / size - 0.5)


DEMOS = [
    "four-bar",
    "bicycle",
    "rolling-coin",
    "stewart",
    "cart",
    "door",
    "andrews",
    "double-pendulum",
    "bouncing-ball",
]


@pytest.mark.parametrize("name", DEMOS)
def test_a_still_shows_its_moment_large_and_in_the_middle(name: str) -> None:
    motion = Motion.still(nx.load(name))
    side, area, off = framed(Studio(motion, Shot(size=(320, 180), samples=1), 0.0), 0.0)
    assert 0.5 < side < 0.9 and area < 0.7 and off.max() < 0.1


def test_a_still_of_a_journey_and_its_video_show_the_traveller_large_at_every_time() -> None:
    result = nx.simulate(nx.load("bicycle"), t_end=3.0, output_every=10)
    assert np.ptp(result.position("frame").values[:, 0]) > 10.0
    motion, shot = Motion.of(result), Shot(size=(320, 180), samples=1)
    video = Studio(motion, shot)
    for t in (0.0, 1.5, 3.0):
        for studio in (Studio(motion, shot, t), video):
            side, area, off = framed(studio, t)
            assert side > 0.4 and 0.1 < area < 0.75 and off.max() < 0.15


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "andrews", "stewart", "bricard"])
def test_rods_that_meet_in_a_joint_have_different_radii(name: str) -> None:
    system = nx.load(name)
    drawn: dict[str, set[float]] = {}
    for piece in pieces(system):
        if piece.name.startswith("rod"):
            drawn.setdefault(piece.body, set()).add(round(float(piece.surface.vertices[:, 0].max()), 9))
    for joint in system.joints.values():
        if {joint.parent.name, joint.child.name} <= drawn.keys():
            assert drawn[joint.parent.name].isdisjoint(drawn[joint.child.name]), joint.name


def test_the_parts_of_a_bicycle_reach_each_other() -> None:
    system = nx.load("bicycle")
    for name, other in (("frame", "rear"), ("frame", "fork"), ("fork", "front")):
        ends = []
        for piece in pieces(system):
            if piece.body in (name, other):
                R, p = system.body(piece.body).pose(system.values)
                v = (piece.surface.vertices @ piece.R_BS.T + piece.p_BS) @ R.T + p
                ends.append((piece.body, v.min(axis=0), v.max(axis=0)))
        one, two = ([e for e in ends if e[0] == body] for body in (name, other))
        assert any(((a[1] <= b[2]) & (b[1] <= a[2])).all() for a in one for b in two), (name, other)


def test_a_wheel_is_round_to_a_thousandth() -> None:
    (piece,) = (p for p in pieces(nx.load("rolling-coin")))
    v = piece.surface.vertices.astype(float)
    f = v[piece.surface.faces]
    middles = (f[:, [0, 1, 2]] + f[:, [1, 2, 0]]) / 2
    rim = np.linalg.norm(middles[..., :2], axis=-1)
    assert rim[rim > 0.9 * rim.max()].min() > 0.999 * rim.max()


def test_a_followed_body_stays_in_its_place_and_the_rest_moves() -> None:
    system = ball_on_a_rail()
    system.add_body("post", mass=1.0, position=(0.5, 0.5, 0.0), shapes=nx.Box((0.1, 0.1, 0.4), color=BLUE))
    system.add_joint(nx.Fixed("held", "ground", "post"))
    result = nx.simulate(system, t_end=0.5, method=nx.RungeKutta4(0.05))
    studio = Studio(Motion.of(result), Shot(size=(160, 120), clock=False, samples=2, follow="ball", azimuth=-90.0))
    middles = [[np.argwhere(hued(studio.picture(t), color)).mean(axis=0) for t in (0.0, 0.5)] for color in (RED, BLUE)]
    np.testing.assert_allclose(middles[0][0], middles[0][1], atol=0.2)
    assert middles[1][1][1] < middles[1][0][1] - 10.0


def test_a_body_that_flies_away_does_not_make_the_rest_a_dot() -> None:
    system = ball_on_a_rail()
    system.add_body("stone", mass=1.0, position=(0, 0.5, 0), shapes=nx.Sphere(0.1, color=BLUE))
    system.add_joint(nx.Free("loose", "ground", "stone", v0=(0, 0, 0, 0, 0, 100.0)))
    result = nx.simulate(system, t_end=1.0, method=nx.RungeKutta4(0.05))
    assert hued(Studio(Motion.of(result), SMALL).picture(0.0), RED).sum() > 20


def test_trails_and_the_clock_are_drawn_where_they_are_wanted() -> None:
    motion = Motion.of(rolled(color=BLUE))
    plain, trails, clock = (
        Studio(motion, Shot(size=(320, 240), samples=2, azimuth=-90.0, trails=trails, clock=clock)).picture(2.0)
        for trails, clock in ((0.0, False), (1.0, False), (0.0, True))
    )
    orange = hued(trails, TRAIL)
    assert orange.sum() > 50 and not hued(plain, TRAIL).any()
    columns = np.flatnonzero(orange.any(axis=0))
    studio = Studio(motion, Shot(size=(320, 240), azimuth=-90.0))
    ends = sorted(on_picture(studio, np.array([x, 0.0, 0.0]))[0] for x in (1.0, 1.8))  # the ball hides its own end
    assert columns[0] == pytest.approx(ends[0], abs=4.0) and columns[-1] > ends[1] - 6.0
    changed = np.argwhere((clock != plain).any(axis=2))
    assert len(changed) > 30 and changed[:, 0].min() > 200 and changed[:, 1].max() < 120


def test_a_system_without_a_shape_and_one_without_a_body_are_pictured() -> None:
    bare = stills.picture(pendulum(), shot=SMALL)
    assert len(np.unique(bare.reshape(-1, 3), axis=0)) > 100
    assert stills.picture(nx.System("empty"), shot=SMALL).shape == (120, 160, 3)


@pytest.mark.parametrize("name", ["hinge-chain", "double-pendulum"])
def test_demos_are_pictured_in_their_colours(name: str) -> None:
    image = stills.picture(nx.load(name), shot=SMALL)
    x = image.astype(int)
    colourful = (x.max(axis=2) - x.min(axis=2) > 40).sum()
    assert 100 < colourful < 0.5 * image[..., 0].size


def test_a_missing_mesh_is_warned_of_and_the_rest_is_drawn() -> None:
    system = ball_on_a_rail()
    system.add_body("hull", mass=1.0, shapes=nx.Mesh("/nowhere/hull.stl"))
    system.add_joint(nx.Fixed("held", "ground", "hull"))
    with pytest.warns(nx.NexDynWarning, match=r"meshes that are not on this machine.*hull: /nowhere/hull\.stl"):
        image = stills.picture(system, shot=SMALL)
    assert hued(image, RED).sum() > 100


# --- files ----------------------------------------------------------------------------------------------------------


def test_a_still_is_the_picture_and_the_same_every_time(tmp_path: Path) -> None:
    result = rolled()
    for name in ("a.png", "b.png"):
        nx.save_still(result, tmp_path / name, time=1.0, shot=SMALL)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), stills.picture(result, 1.0, SMALL))
    nx.save_still(result, tmp_path / "end.png", shot=SMALL)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "end.png")), stills.picture(result, 2.0, SMALL))


def test_a_gif_shows_the_motion_in_its_own_time(tmp_path: Path) -> None:
    result, times = rolled(), []
    nx.save_video(result, tmp_path / "a.gif", speed=2.0, fps=10, shot=SMALL, progress=times.append)
    np.testing.assert_allclose(times, np.arange(0.0, 2.01, 0.2), atol=1e-12)
    studio = Studio(Motion.of(result), SMALL)
    with Image.open(tmp_path / "a.gif") as gif:
        assert (gif.n_frames, gif.info["duration"], gif.size) == (11, 100, (160, 120))
        for k, t in enumerate(times):
            gif.seek(k)
            shown, expected = np.asarray(gif.convert("RGB")), studio.picture(t)
            np.testing.assert_allclose(
                np.argwhere(hued(shown, RED)).mean(axis=0), np.argwhere(hued(expected, RED)).mean(axis=0), atol=1.0
            )
            assert np.abs(shown.astype(int) - expected.astype(int)).mean() < 4.0  # 255 colours


def test_the_few_colours_of_a_gif_leave_no_bands(tmp_path: Path) -> None:
    """Blocks of 4 by 4 pixels are in the mean as bright as in the picture, where the picture is smooth."""
    result, shot = rolled(), Shot(size=(320, 240), samples=2)
    nx.save_video(result, tmp_path / "a.gif", fps=2, shot=shot)
    whole = Studio(Motion.of(result), shot).picture(0.0).astype(float)
    with Image.open(tmp_path / "a.gif") as gif:
        shown = np.asarray(gif.convert("RGB")).astype(float)

    def blocks(image: np.ndarray) -> np.ndarray:
        return image.reshape(60, 4, 80, 4, 3)

    smooth = np.ptp(blocks(whole), axis=(1, 3)).max(axis=-1) < 3
    error = np.abs(blocks(shown).mean(axis=(1, 3)) - blocks(whole).mean(axis=(1, 3))).max(axis=-1)
    assert smooth.mean() > 0.3 and error[smooth].mean() < 1.0 and np.quantile(error[smooth], 0.95) < 2.5


def test_a_part_of_the_motion_is_shown(tmp_path: Path) -> None:
    times: list[float] = []
    nx.save_video(rolled(), tmp_path / "a.gif", start=0.5, end=1.0, fps=20, shot=SMALL, progress=times.append)
    np.testing.assert_allclose(times, np.linspace(0.5, 1.0, 11), atol=1e-12)


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # imageio_ffmpeg's reader leaves pipes open
def test_an_mp4_is_read_back_as_the_motion(tmp_path: Path) -> None:
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="MP4 needs nexdyn[video]")
    result, shot = rolled(), Shot(size=(161, 121), clock=False, samples=2)
    nx.save_video(result, tmp_path / "a.mp4", fps=10, shot=shot)
    frames = imageio_ffmpeg.read_frames(str(tmp_path / "a.mp4"))
    about = next(frames)
    assert about["size"] == (160, 120) and about["fps"] == 10.0 and about["codec"] == "h264"
    assert "yuv420p" in about["pix_fmt"]
    shown = [np.frombuffer(frame, dtype=np.uint8).reshape(120, 160, 3) for frame in frames]
    assert len(shown) == 21
    del frames
    gc.collect()
    studio = Studio(Motion.of(result), shot)
    for k in (0, 10, 20):
        expected = studio.picture(0.1 * k)[:120, :160]
        assert np.abs(shown[k].astype(int) - expected.astype(int)).mean() < 4.0


@pytest.mark.parametrize("name", ["a.gif", "a.mp4"])
def test_a_video_that_is_broken_off_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"old")

    def stop(t: float) -> None:
        if t > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nx.save_video(rolled(), tmp_path / name, shot=SMALL, progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == [name] and (tmp_path / name).read_bytes() == b"old"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r, d: nx.save_still(r, d / "a.jpg"), "'.jpg'; a still ends in .png"),
        (lambda r, d: nx.save_video(r, d / "a.avi"), "'.avi'; a video ends in .gif or .mp4"),
        (lambda r, d: nx.save_still(r, d / "a.png", time=3.0), "time is 3 s; the motion is from 0 to 2 s"),
        (lambda r, d: nx.save_video(r, d / "a.gif", start=1.0, end=0.5), "the end comes after the start"),
        (lambda r, d: nx.save_video(r, d / "a.gif", speed=0.0), "speed is 0; it must be greater than 0"),
        (lambda r, d: nx.save_video(r, d / "a.gif", fps=float("nan")), "fps is nan; it must be greater than 0"),
        (lambda r, d: nx.save_video(r, d / "a.gif", speed=1e-6), "20000 at most are; show a part"),
        (lambda r, d: nx.save_still(r, d / "a.png", shot=Shot(follow="bal")), "no body 'bal'; did you mean 'ball'?"),
        (lambda r, d: Shot(size=(10, 10)), "size is (10, 10); width and height in pixels, 16 to 8192"),
        (lambda r, d: Shot(size=(100000, 100)), "16 to 8192"),
        (lambda r, d: Shot(elevation=90.0), "elevation is 90; an angle above the horizon"),
    ],
)  # fmt: skip
def test_what_cannot_be_pictured_is_said(tmp_path: Path, call: Any, message: str) -> None:
    with pytest.raises(nx.InputError, match=re.escape(message)):
        call(rolled(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_packages_that_are_missing_are_named_with_their_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(nx.InputError, match=r"an MP4 \(a GIF does without\) needs imageio_ffmpeg: .*nexdyn\[video\]"):
        nx.save_video(rolled(), tmp_path / "a.mp4")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(nx.InputError, match=r"a still needs PIL: pip install 'nexdyn\[view\]'"):
        nx.save_still(rolled(), tmp_path / "a.png")


# --- interpreted ----------------------------------------------------------------------------------------------------

INTERPRETED = """
import json, sys
import numpy as np
from test_stills import Motion, Shot, Studio, ball_on_a_rail
print(json.dumps(Studio(Motion.still(ball_on_a_rail()), Shot(size=(24, 16), samples=1)).picture(0.0).tolist()))
"""


def test_the_kernels_draw_the_same_interpreted() -> None:
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here), str(Path(nx.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", INTERPRETED], env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    compiled = Studio(Motion.still(ball_on_a_rail()), Shot(size=(24, 16), samples=1)).picture(0.0)
    difference = np.abs(np.array(json.loads(done.stdout)) - compiled.astype(int))
    assert (difference > 1).mean() < 0.02


# --- what the page shows beside bodies ---------------------------------------------------------------------------------


def like(image: np.ndarray, color: tuple[int, int, int]) -> int:
    """Pixels whose colour is about this one."""
    return int((np.abs(image.astype(int) - color).max(axis=-1) < 60).sum())


@pytest.fixture(scope="module")
def swing() -> nx.Result:
    return nx.simulate(nx.load("double-pendulum"), t_end=0.5, method=nx.RungeKutta4(1e-3), output_every=10)


@pytest.mark.parametrize(
    ("option", "color"),
    [("reactions", (214, 39, 40)), ("axes", (30, 150, 70))],
)
def test_pictures_have_the_arrows_of_joints_where_they_are_asked_for(
    swing: nx.Result, option: str, color: tuple[int, int, int]
) -> None:
    plain = Shot(size=(320, 240), clock=False)
    shown = picture(swing, 0.4, replace(plain, **{option: True}))
    assert like(picture(swing, 0.4, plain), color) == 0 and like(shown, color) > 20


def test_arrows_of_reactions_begin_at_their_joints_and_are_as_long_as_their_forces(swing: nx.Result) -> None:
    motion = Motion.of(swing)
    row = {name: i for i, name in enumerate([*motion.bodies, "ground"])}
    found, frame = Transmitted(motion, row, 2.0), motion.at(0.4)
    shafts = [path for path, _, _ in found.wrenches(frame, 0, 1.0, np.array((0.0, 1.0, 0.0))) if len(path) == 2]
    forces = np.linalg.norm(swing.reaction().values[..., :3], axis=-1)
    now = np.linalg.norm(frame.wrench[:, :3], axis=1)
    lengths = [np.linalg.norm(end - start) for start, end in shafts]
    assert lengths == pytest.approx(0.2 * 2.0 * now / forces.max(), rel=1e-4)
    joint = swing.system.joints[motion.joints[0]]
    assert shafts[0][0] == pytest.approx(joint.frames(swing.system.values).p_AJ, abs=1e-6)
    longer = found.wrenches(frame, 0, 2.0, np.array((0.0, 1.0, 0.0)))[0][0]
    assert np.linalg.norm(longer[1] - longer[0]) == pytest.approx(2.0 * lengths[0], rel=1e-5)


def test_a_dark_picture_has_a_dark_background_and_bright_ink(swing: nx.Result) -> None:
    light, dark = (picture(swing, 0.0, Shot(size=(160, 120), dark=dark)) for dark in (False, True))
    corner = (slice(0, 10), slice(0, 10))
    assert light[corner].mean() > 180 and dark[corner].mean() < 120


def test_a_ghost_is_laid_over_where_it_stands(swing: nx.Result) -> None:
    shot = Shot(size=(320, 240), clock=False)
    alone = picture(swing, 0.0, shot)
    late = Motion.of(swing)
    frozen = replace(
        late,
        position=np.repeat(late.position[-1:], len(late.times), 0),
        quaternion=np.repeat(late.quaternion[-1:], len(late.times), 0),
    )
    over = picture(swing, 0.0, shot, ghost=frozen)
    changed = np.abs(over.astype(int) - alone).max(axis=-1) > 25
    assert changed.sum() > 100
    red, green, blue = over[changed].astype(int).mean(axis=0)
    assert blue > red + 10 and blue > green  # the ghost's colour
    with pytest.raises(NexDynError, match="ghost"):
        picture(swing, 0.0, shot, ghost=nx.simulate(nx.load("hinge-chain"), t_end=0.01, method=nx.RungeKutta4(1e-3)))


@pytest.mark.parametrize("arrows", [0.0, -1.0, float("nan")])
def test_a_length_of_arrows_that_is_none_is_refused(arrows: float) -> None:
    with pytest.raises(nx.InputError, match="arrows"):
        Shot(arrows=arrows)


def test_films_of_the_page_show_what_it_shows(swing: nx.Result) -> None:
    motion, layers = Motion.of(swing), frozenset({"shapes", "reaction forces", "joint axes"})
    seen = {"eye": np.array((3.0, -3.0, 1.0)), "target": np.zeros(3), "field": 0.8, "size": (320, 240)}
    moment = _Moment(
        motion, None, Look(layers, arrows=2.0), 0.2, 1.0, **seen, dark=True, si=True, parallel=False, member=None,
        selected="body:rod2", points=(("rod1", (0.0, 0.0, 0.0)),),
    )  # fmt: skip
    for film in (False, True):
        shot = shot_of(moment, film)
        assert (shot.reactions, shot.moments, shot.axes, shot.arrows, shot.dark) == (True, False, True, 2.0, True)
        assert (shot.shapes, shot.grid, shot.shadows, shot.names) == (True, False, False, False)
        assert shot.selected == "body:rod2" and len(shot.points) == 1
    assert set(PICTURED) | {"trails"} == set(LAYERS)
    for layer, flag in PICTURED.items():
        only = shot_of(replace(moment, look=Look(frozenset({layer}))), film=False)
        assert {name for name in PICTURED.values() if getattr(only, name)} == {flag}


def seen_in(studio: Studio, t: float, body: str, p: tuple[float, float, float]) -> tuple[int, int]:
    """Row and column of the pixel of a point of a body."""
    i, many = studio.motion.body(body), studio.shot.samples
    ((x, y, _),) = studio._seen_at(studio.motion.at(t), [(i, np.array(p))], studio._view(studio._followed(t)))
    return round(y / many), round(x / many)


@pytest.mark.parametrize("option", ["frames", "joint_frames"])
def test_frames_have_their_axes_where_they_are(swing: nx.Result, option: str) -> None:
    shot = Shot(size=(640, 480), clock=False, shapes=False, grid=False, shadows=False)
    studio = Studio(Motion.of(swing), replace(shot, **{option: True}), 0.4)
    shown, system = studio.picture(0.4), swing.system
    length = studio._axes[0].length
    fixed = {name: (name, np.eye(3), np.zeros(3)) for name in system.bodies}
    if option == "joint_frames":
        frames = {name: joint.frames(system.values) for name, joint in system.joints.items()}
        fixed = {name: (system.joints[name].child.name, f.R_BJ, f.p_BJ) for name, f in frames.items()}
    for body, R, p in fixed.values():
        for k, color in enumerate(((214, 38, 41), (43, 161, 43), (31, 89, 217))):
            row, column = seen_in(studio, 0.4, body, tuple(p + 0.8 * length * R[:, k]))
            patch = shown[row - 2 : row + 3, column - 2 : column + 3].reshape(-1, 3).astype(int)
            assert np.abs(patch - color).max(axis=-1).min() < 60, (body, k)


@pytest.mark.parametrize("option", ["inertia", "centers"])
def test_ellipsoids_and_centres_of_mass_are_drawn_where_they_are(swing: nx.Result, option: str) -> None:
    """Of the rods alone, without their shapes: blue along each rod, yellow at its middle."""
    shot = Shot(size=(320, 240), clock=False, shapes=False, grid=False, shadows=False)
    nothing = picture(swing, 0.4, shot)
    studio = Studio(Motion.of(swing), replace(shot, **{option: True}), 0.4)
    shown = studio.picture(0.4)
    system = swing.system
    for name, body in system.bodies.items():
        row, column = seen_in(studio, 0.4, name, tuple(body.resolved(system.values).com))
        r, g, b = shown[row, column].astype(int)
        assert (b > r + 20 and b > g) if option == "inertia" else (r > b + 60 and g > b + 40)
    assert np.ptp(nothing.astype(int), axis=-1).max() < 12  # neither bodies nor lines of the floor


def test_names_are_written_where_joints_and_bodies_are(swing: nx.Result) -> None:
    shot = Shot(size=(640, 480), clock=False)
    studio = Studio(Motion.of(swing), replace(shot, names=True), 0.4)
    changed = np.abs(studio.picture(0.4).astype(int) - picture(swing, 0.4, shot)).max(axis=-1) > 60
    for name, i, p in named(swing.system, studio._rows):
        body = [*studio.motion.bodies, "ground"][i]
        row, column = seen_in(studio, 0.4, body, tuple(p))
        assert changed[row - 14 : row + 2, column : column + 7 * len(name)].sum() > 15, name
        changed[row - 18 : row + 6, column - 2 : column + 14 * len(name)] = False
    assert not changed.any()


def test_what_is_selected_has_an_outline_or_axes(swing: nx.Result) -> None:
    shot = Shot(size=(320, 240), clock=False)
    first = next(iter(swing.system.bodies))
    plain, outlined = picture(swing, 0.4, shot), picture(swing, 0.4, replace(shot, selected=first))
    changed = np.abs(outlined.astype(int) - plain).max(axis=-1) > 10
    assert changed.sum() > 60 and (np.abs(outlined[changed].astype(int) - (250, 140, 10)).max(axis=-1) == 0).all()
    alone = picture(swing, 0.4, replace(shot, grid=False, shadows=False))
    body = np.ptp(alone.astype(int), axis=-1) > 40
    assert not (changed & ~_near(body)).any()  # about the body and nowhere else
    joint = next(iter(swing.system.joints))
    axes = picture(swing, 0.4, replace(shot, selected=f"joint:{joint}"))
    for color in ((214, 38, 41), (43, 161, 43), (31, 89, 217)):
        assert like(axes, color) > like(plain, color) + 10
    for wrong, said in (("rod9", "no body or joint 'rod9'"), ("joint:rod1", "no joint 'rod1'")):
        with pytest.raises(nx.UnknownNameError, match=said):
            picture(swing, 0.4, replace(shot, selected=wrong))


def _near(inside: np.ndarray) -> np.ndarray:
    grown = inside.copy()
    for _ in range(4):
        grown[1:] |= grown[:-1].copy()
        grown[:-1] |= grown[1:].copy()
        grown[:, 1:] |= grown[:, :-1].copy()
        grown[:, :-1] |= grown[:, 1:].copy()
    return grown


def test_measured_points_are_joined_by_a_line(swing: nx.Result) -> None:
    shot = Shot(
        size=(640, 480), clock=False, shapes=False, points=(("ground", (0.0, 0.0, 0.0)), ("rod2", (0.0, 0.0, 0.0)))
    )
    studio = Studio(Motion.of(swing), shot, 0.4)
    shown = studio.picture(0.4)
    ends = [np.array(seen_in(studio, 0.4, body, p)) for body, p in shot.points]
    for s in (0.0, 0.3, 0.5, 0.8, 1.0):
        row, column = np.round((1.0 - s) * ends[0] + s * ends[1]).astype(int)
        assert np.abs(shown[row, column].astype(int) - (0, 150, 200)).max() == 0
    with pytest.raises(nx.UnknownNameError, match="no body 'rod9'"):
        picture(swing, 0.4, replace(shot, points=(("rod9", (0.0, 0.0, 0.0)),)))


@pytest.mark.parametrize("graze", [0.03, 0.1, 0.3])
def test_a_face_that_the_sun_grazes_does_not_shade_itself(graze: float) -> None:
    """A wall whose normal has this part along the direction to the sun is as bright everywhere."""
    shot = Shot((400, 400), eye=(0.0, -5.0, 0.0), target=(0.0, 0.0, 0.0), grid=False)
    sun = Studio(Motion.still(wall(0.0)), shot, 0.0)._sun
    turns = [np.arctan2(sun[1], sun[0]) + side * np.arccos(graze / np.hypot(sun[0], sun[1])) for side in (-1.0, 1.0)]
    angle = float(min(turns, key=np.sin))  # the face that is seen more
    assert np.sin(angle) < -0.3
    picture = Studio(Motion.still(wall(angle)), shot, 0.0).picture(0.0).astype(int)
    x, y = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
    column = round(200 + 200 / np.tan(shot.field / 2) * x / (y + 5.0))
    half = max(3, round(-25 * np.sin(angle)))
    face = picture[160:240, column - half : column + half]
    assert np.ptp(face.reshape(-1, 3), axis=0).max() <= 4  # what shines is not even


def wall(angle: float) -> nx.System:
    """A cube that is turned about the vertical, and another one far behind it."""
    system = nx.System("wall", gravity=(0, 0, -9.81))
    turn = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
    system.add_body(
        "cube", mass=1.0, inertia=(1, 1, 1), orientation=turn, shapes=[nx.Box((1, 1, 1), color=(0.6, 0.6, 0.65))]
    )
    system.add_body(
        "far", mass=1.0, inertia=(1, 1, 1), position=(0, 20, 0), shapes=[nx.Box((1, 1, 1))]
    )  # coarse shadows
    return system

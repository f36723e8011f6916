"""Friction over areas whose surfaces are not parallel: by how much it holds more than on a plane, against sums over the faces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contact_lab import motion
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.forces.contact import seen_in
from nexdyn.problems.recast import ball, grooved, mesh_of, triangles_about, tube, wheel

K, MU = 1e8, 0.3
HALF_EDGE = Rotation.from_euler("x", 45.0, degrees=True).as_quat(scalar_first=True)
LONG, SIDE, DEEP = 0.4, 0.1, 0.3
FAST = 1e6
"""So fast [m/s] that it slides, whatever dampers do."""
X, Y = np.eye(3)[:2]


def touch(a: Any, b: Any, soft: str = "b", **law: Any) -> Any:
    """The contact of two shapes of one body each, its data, and its frames in the bodies."""
    system = nx.System("two")
    for name, shape in (("a", a), ("b", b)):
        system.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[shape])
        system.add_joint(nx.Free(f"{name} free", "ground", name))
    given = {"friction": MU, "friction_damping": 0.0, **{f"foundation_{side}": K for side in soft}, **law}
    system.add_contact(nx.Contact("c", "a", "b", **given))
    (contact,) = system.forces.values()
    return contact, contact.data_in(system), contact.frames(system)


def seen(contact: Any, data: list[float], frames: Any, p: Any, v: Any, states: int = 4, R: Any = None) -> Any:
    """What is recorded where body a is at p, turned by R, and slides with v over b."""
    R = np.eye(3) if R is None else R
    of_a, of_b = frames
    A, B = motion(p + R @ of_a.p_BF, R @ of_a.R_BF, v=v), motion(of_b.p_BF, of_b.R_BF)
    z = np.zeros((1, states))
    if states:  # far beyond what friction can bear, against v
        z[0, :3] = FAST * np.asarray(v)
    return seen_in(contact.motion_table(data, A[None], B[None], z)[0])


def held(contact: Any, data: list[float], frames: Any, p: Any, along: np.ndarray, R: Any = None) -> tuple[float, float]:
    """Friction along a unit vector, and the normal force."""
    row = seen(contact, data, frames, p, 1e-3 * along, R=R)
    f, n = np.ravel(row.force), np.ravel(row.normal)
    f_n = float(row.normal_force[0])
    return float(-along @ (f - f_n * n)), f_n


def turned(shape: Any) -> Any:
    return shape.__class__(**{**shape.__dict__, "orientation": tuple(HALF_EDGE)})


@pytest.mark.parametrize("soft", ["a", "b", "ab"])
@pytest.mark.parametrize("as_mesh", [False, True])
def test_a_bar_in_a_groove_is_held_by_both_walls(soft: str, as_mesh: bool) -> None:
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.5 * (LONG, SIDE, SIDE)
    bar = mesh_of(corners, triangles_about(corners)) if as_mesh else nx.Box((LONG, SIDE, SIDE))
    contact = touch(turned(bar), grooved(DEEP, 1.0), soft)
    low = SIDE / math.sqrt(2.0) - DEEP - 1e-5
    f, f_n = held(*contact, (0.0, 0.0, low), X)
    assert f == pytest.approx(math.sqrt(2.0) * MU * f_n, rel=1e-3)  # edges of its ends press, too
    assert held(*contact, (0.0, 0.0, low), Y)[0] == pytest.approx(MU * f_n, rel=1e-3)
    # against what is summed up over the faces
    row = seen(*touch(turned(bar), grooved(DEEP, 1.0), soft, friction_speed=1e-9), (0.0, 0.0, low), X, states=0)
    assert -np.ravel(row.force)[0] == pytest.approx(f, rel=1e-3)


@pytest.mark.parametrize("along", [X, Y, (X + Y) / math.sqrt(2.0)])
@pytest.mark.parametrize("soft", ["a", "b", "ab"])
def test_an_edge_on_a_plane_slides_as_on_a_plane(soft: str, along: np.ndarray) -> None:
    contact = touch(turned(nx.Box((LONG, SIDE, SIDE))), nx.HalfSpace(), soft)
    f, f_n = held(*contact, (0.0, 0.0, SIDE / math.sqrt(2.0) - 1e-5), along)
    assert f_n > 0.0
    assert f == pytest.approx(MU * f_n, rel=1e-9)


@pytest.mark.parametrize("along", [X, Y])
def test_an_edge_across_an_edge_slides_as_on_a_plane(along: np.ndarray) -> None:
    lower = Rotation.from_euler("y", 45.0, degrees=True).as_quat(scalar_first=True)
    below = nx.Box((SIDE, LONG, SIDE), orientation=tuple(lower))
    contact = touch(turned(nx.Box((LONG, SIDE, SIDE))), below, "ab")
    f, f_n = held(*contact, (0.0, 0.0, 2.0 * SIDE / math.sqrt(2.0) - 1e-5), along)
    assert f_n > 0.0
    assert f == pytest.approx(MU * f_n, rel=1e-6)


@pytest.mark.parametrize("shape", [nx.Box((LONG, SIDE, SIDE)), "ball"])
def test_what_lies_on_a_plane_is_held_as_by_a_plane(shape: Any) -> None:
    """To the last digit, and a ball of facets too, whose facets are not parallel."""
    rng, radius = np.random.default_rng(3), 0.5 * SIDE
    if shape == "ball":
        corners = radius * ball(3)
        shape = mesh_of(corners, triangles_about(corners))
    contact = touch(shape, nx.Box((1.0, 1.0, 1.0), position=(0.0, 0.0, -0.5)))
    for R in (None, Rotation.from_euler("z", 0.4).as_matrix()):
        for angle in rng.uniform(0.0, 2.0 * math.pi, 3):
            f, f_n = held(*contact, (0.0, 0.0, radius - 1e-3), np.array([math.cos(angle), math.sin(angle), 0.0]), R)
            assert f == pytest.approx(MU * f_n, rel=1e-14)


def test_a_pin_in_a_bore_is_held_along_it_by_the_sum_of_its_pressure() -> None:
    """Along the bore as by all faces; around it by no less, and by 5 % more at most."""
    pin, bore = wheel(0.02, 0.1, 180), tube(0.0201, 0.04, 0.06, 360)
    sticks, summed = touch(pin, bore), touch(pin, bore, friction_speed=1e-12)
    for depth in (1e-5, 1e-4, 1e-3):
        place = (0.0, -1e-4 - depth, 0.0)
        by_face = {}
        for name, along in (("along", np.eye(3)[2]), ("around", X)):
            row = seen(*summed, place, along, states=0)
            by_face[name] = -float(along @ np.ravel(row.force))
        f, f_n = held(*sticks, place, np.eye(3)[2])
        apart = 5e-3 if depth < 1e-3 else 0.025  # facets that lie on each other are up to 2° and 5° apart
        assert f == pytest.approx(by_face["along"], rel=apart)
        assert f > MU * f_n * (1.0 + 1e-4)
        around = held(*sticks, place, X)[0]
        assert by_face["around"] * (1.0 - apart) <= around < 1.05 * by_face["around"]


def test_what_walls_hold_lies_between_the_sum_over_faces_and_that_of_a_plane() -> None:
    """Σ μ f |e − (m · e) m| is never more than what a groove holds, in directions at random."""
    rng = np.random.default_rng(5)
    bar = turned(nx.Box((LONG, SIDE, SIDE)))
    sticks, summed = touch(bar, grooved(DEEP, 1.0)), touch(bar, grooved(DEEP, 1.0), friction_speed=1e-12)
    for _ in range(6):
        # more on one wall than on the other
        place = (0.0, rng.uniform(-1e-5, 1e-5), SIDE / math.sqrt(2.0) - DEEP - 3e-5)
        n = np.ravel(seen(*sticks, place, X).normal)
        for along in (X, np.cross(n, X)):
            f, f_n = held(*sticks, place, along)
            row = seen(*summed, place, along, states=0)
            by_face = -float(along @ (np.ravel(row.force) - f_n * n))
            assert max(by_face, MU * f_n) * (1.0 - 1e-3) <= f <= 1.05 * max(by_face, MU * f_n)

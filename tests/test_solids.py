"""Inertia of solids: against integration over the solid, against each other in their limits, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from numpy.testing import assert_allclose

from nexdyn.errors import InputError
from nexdyn.spatial import solids

pytestmark = pytest.mark.filterwarnings("error")


def interval(a, b, n=40):
    x, w = leggauss(n)
    return 0.5 * (b - a) * x + 0.5 * (a + b), 0.5 * (b - a) * w


def of_points(mass, x, y, z, w):
    """Inertia of weighted points about their centre, scaled to `mass`."""
    points, w = np.stack([np.broadcast_to(a, w.shape).ravel() for a in (x, y, z)]), w.ravel() * mass / w.sum()
    points = points - (points @ w / mass)[:, None]
    second = (points * w) @ points.T
    return np.trace(second) * np.eye(3) - second


def of_revolution(mass, z_range, inner, outer):
    """Integral over r in [inner(z), outer(z)] around z, piece by piece where the profile has corners."""
    around = 2 * np.pi * np.arange(8) / 8  # exact for second moments
    pieces = []
    for a, b in pairwise(z_range):
        (z, wz), (s, ws) = interval(a, b), interval(0.0, 1.0)
        width = (outer(z) - inner(z))[:, None]
        r = inner(z)[:, None] + width * s
        piece = (r[..., None] * np.cos(around), r[..., None] * np.sin(around), z[:, None, None])
        weight = np.broadcast_to((wz[:, None] * ws * width * r)[..., None], (*r.shape, 8))
        pieces.append([np.broadcast_to(q, weight.shape) for q in (*piece, weight)])
    return of_points(mass, *(np.concatenate(part) for part in zip(*pieces, strict=True)))


def ball(radius, centre=0.0):
    return lambda z: np.sqrt(np.maximum(radius**2 - (z - centre) ** 2, 0.0))


def constant(value):
    return lambda z: np.full_like(z, value)


def test_box_agrees_with_integration():
    (x, wx), (y, wy), (z, wz) = (interval(-s / 2, s / 2, 4) for s in (1.0, 2.0, 3.0))
    w = wx[:, None, None] * wy[:, None] * wz
    assert_allclose(solids.box(5.0, (1, 2, 3)), of_points(5.0, x[:, None, None], y[:, None], z, w), atol=1e-12)


@pytest.mark.parametrize(
    ("solid", "integral"),
    [
        (solids.sphere(5.0, 0.7), of_revolution(5.0, [-0.7, 0.7], constant(0.0), ball(0.7))),
        (solids.cylinder(5.0, 0.7, 3.0), of_revolution(5.0, [-1.5, 1.5], constant(0.0), constant(0.7))),
        (solids.hollow_cylinder(5.0, 0.7, 0.4, 3.0), of_revolution(5.0, [-1.5, 1.5], constant(0.4), constant(0.7))),
        (
            solids.hollow_sphere(5.0, 0.7, 0.4),
            of_revolution(5.0, [-0.7, -0.4, 0.4, 0.7], ball(0.4), ball(0.7)),
        ),
        (
            solids.capsule(5.0, 0.7, 3.0),
            of_revolution(5.0, [-2.2, -1.5, 1.5, 2.2], constant(0.0),
                          lambda z: ball(0.7)(np.maximum(np.abs(z) - 1.5, 0.0))),
        ),
    ],
    ids=["sphere", "cylinder", "hollow_cylinder", "hollow_sphere", "capsule"],
)  # fmt: skip
def test_solids_of_revolution_agree_with_integration(solid, integral):
    assert_allclose(solid, integral, rtol=1e-4, atol=1e-12)


def test_a_capsule_without_cylinder_is_a_sphere():
    assert_allclose(solids.capsule(2.0, 0.3, 0.0), solids.sphere(2.0, 0.3), rtol=1e-15)


def test_thin_solids_are_rods():
    rod = solids.rod(2.0, 3.0)
    assert_allclose(np.diag(rod), (1.5, 1.5, 0.0))
    for thin in (
        solids.cylinder(2.0, 1e-9, 3.0),
        solids.capsule(2.0, 1e-9, 3.0),
        solids.hollow_cylinder(2.0, 1e-9, 0.0, 3.0),
        solids.box(2.0, (1e-9, 1e-9, 3.0)),
        solids.cylinder(2.0, 0.0, 3.0),
        solids.capsule(2.0, 0.0, 3.0),
    ):
        assert_allclose(thin, rod, atol=1e-8)


def test_hollow_solids_without_a_hole_are_full_and_without_a_wall_are_shells():
    assert_allclose(solids.hollow_sphere(2.0, 0.3, 0.0), solids.sphere(2.0, 0.3), rtol=1e-15)
    assert_allclose(solids.hollow_cylinder(2.0, 0.3, 0.0, 1.0), solids.cylinder(2.0, 0.3, 1.0), rtol=1e-15)
    assert_allclose(solids.hollow_sphere(2.0, 0.3, 0.3), 2 / 3 * 2.0 * 0.09 * np.eye(3))
    assert_allclose(solids.hollow_cylinder(2.0, 0.3, 0.3, 1.0)[2, 2], 2.0 * 0.09)


def test_a_solid_less_its_core_is_the_hollow_solid():
    # densities alike: masses as volumes
    hollow = solids.hollow_cylinder(0.49 - 0.16, 0.7, 0.4, 2.0)
    assert_allclose(solids.cylinder(0.49, 0.7, 2.0) - solids.cylinder(0.16, 0.4, 2.0), hollow)
    hollow = solids.hollow_sphere(0.7**3 - 0.4**3, 0.7, 0.4)
    assert_allclose(solids.sphere(0.7**3, 0.7) - solids.sphere(0.4**3, 0.4), hollow)


SOLIDS = {
    solids.box: (3.0, (1.0, 2.0, 3.0)),
    solids.sphere: (3.0, 1.0),
    solids.hollow_sphere: (3.0, 1.0, 0.5),
    solids.cylinder: (3.0, 1.0, 2.0),
    solids.hollow_cylinder: (3.0, 1.0, 0.5, 2.0),
    solids.rod: (3.0, 2.0),
    solids.capsule: (3.0, 1.0, 2.0),
}


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda f: f.__name__)
def test_every_inertia_is_physical_and_grows_with_mass_and_the_square_of_size(solid):
    mass, *sizes = (np.array(a) for a in SOLIDS[solid])
    inertia = solid(mass, *sizes)
    x, y, z = np.diag(inertia)
    assert min(x, y, z) >= 0.0
    assert 2 * max(x, y, z) <= (x + y + z) * (1 + 1e-15)
    assert_allclose(solid(2 * mass, *(3 * s for s in sizes)), 18 * inertia, rtol=1e-14)
    assert np.array_equal(solid(0.0, *sizes), np.zeros((3, 3)))


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda f: f.__name__)
def test_leading_dimensions_are_a_batch(solid):
    _, *sizes = SOLIDS[solid]
    scale = np.linspace(0.5, 2, 6).reshape(2, 3)
    batch = solid(scale[:1], *(np.multiply.outer(scale, s) for s in sizes))
    assert batch.shape == (2, 3, 3, 3)
    assert_allclose(batch[1, 2], solid(scale[0, 2], *(scale[1, 2] * np.array(s) for s in sizes)), rtol=1e-14)


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda f: f.__name__)
def test_bad_dimensions_are_refused_by_name(solid):
    name, good = solid.__name__, SOLIDS[solid]
    for k, value in enumerate(good):
        for bad, message in (
            (-1.0, "expected 0 or more, received -1"),
            (np.nan, "must be finite"),
            (np.inf, "must be finite"),
            ("1", "expected real numbers"),
            (None, "expected real numbers"),
        ):
            wrong = [bad] * 3 if np.ndim(value) and bad is not None else bad
            with pytest.raises(InputError, match=rf"{name} \w+: .*{message}"):
                solid(*good[:k], wrong, *good[k + 1 :])
    with pytest.raises(InputError, match=f"{name}: mass and dimensions are too large"):
        solid(*(np.multiply(1e200, value) for value in good))
    with pytest.raises(InputError, match=rf"{name}: .*broadcast together, received \(2,\)"):
        solid(np.ones(2), *(np.multiply.outer(np.ones(3), value) for value in good[1:]))


def test_a_hole_wider_than_the_solid_is_refused():
    with pytest.raises(InputError, match=r"inner_radius: expected at most the radius, received 2\.0 in 1\.0"):
        solids.hollow_sphere(1.0, 1.0, 2.0)
    with pytest.raises(InputError, match="box size: expected shape"):
        solids.box(1.0, (1.0, 2.0))


def test_a_solid_of_no_size_is_a_point():
    for solid, (mass, *sizes) in SOLIDS.items():
        assert np.array_equal(solid(mass, *(np.zeros_like(s) for s in sizes)), np.zeros((3, 3)))

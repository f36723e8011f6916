"""Contact of solids of triangles over areas: the law beside that of convex solids, what no convex solid has, and systems that touch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_lab import Bench, at_random, motion
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
from test_contact_overlap import PAIRS, floor_low, solids, volume_and_centroid

import nexdyn as nx
from nexdyn.forces.mesh_contact import MeshContact
from nexdyn.forces.mesh_solid import triangles_of
from nexdyn.geometry.mesh_distance import signed_distances
from nexdyn.spatial.rotations import rotation_matrix

K = 3e6
"""Stiffness of a foundation [N/m³]."""
FLOOR = nx.HalfSpace()
SHALLOW = 0.004
"""Part of the sizes of the solids to which they reach into each other [m]."""


def saved(place: Path, vertices: Any, triangles: Any) -> nx.Mesh:
    """A mesh of a file in the OBJ format, which keeps all digits."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, dtype=float).tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(triangles).tolist()]
    place.write_text("\n".join(lines) + "\n")
    return nx.Mesh(str(place))


def prism(place: Path, outline: Any, parts: Any, width: float) -> nx.Mesh:
    """What an outline (n, 2), counter-clockwise and cut into triangles `parts`, sweeps from −½ width to ½ width along z."""
    n, flat = len(outline), np.asarray(outline, dtype=float)
    ends = [np.column_stack([flat, np.full(n, z)]) for z in (-0.5 * width, 0.5 * width)]
    triangles = [(c, b, a) for a, b, c in parts] + [(n + a, n + b, n + c) for a, b, c in parts]
    for i in range(n):
        j = (i + 1) % n
        triangles += [(i, j, n + j), (i, n + j, n + i)]
    return saved(place, np.vstack(ends), triangles)


def angle_iron(place: Path) -> nx.Mesh:
    """An L of 0.2 m: not convex."""
    outline = [(-0.1, -0.1), (0.1, -0.1), (0.1, -0.04), (-0.04, -0.04), (-0.04, 0.1), (-0.1, 0.1)]
    return prism(place, outline, [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)], 0.15)


def meshes(a: nx.Shape, b: nx.Shape, ka: float | None, kb: float | None, **law: Any) -> Bench:
    """Two solids of triangles with foundations."""
    return Bench(MeshContact("c", "a", "b", solid_a=a, solid_b=b, foundation_a=ka, foundation_b=kb, **law))


def of_shape(rows: np.ndarray, shape: nx.Shape) -> np.ndarray:
    """Motions of the frame of a shape, of those of its body."""
    R, p = rotation_matrix(np.array(shape.orientation)), np.array(shape.position)
    found = rows.copy()
    for row in found:
        X, d = row[:9].reshape(3, 3), row[:9].reshape(3, 3) @ p
        row[:9], row[9:12], row[15:] = (X @ R).ravel(), row[9:12] + d, row[15:] + np.cross(row[12:15], d)
    return found


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("pair", PAIRS)
def test_convex_solids_are_what_they_are_with_faces(pair: str, rng: np.random.Generator) -> None:
    a, b, ka, kb = PAIRS[pair]
    law = {"damping": 3.0}
    faces, triangles = solids(a, b, ka, kb, **law), meshes(a, b, ka, kb, **law)
    A, B = at_random(rng, 6000, 0.12, 0.05, 0.3), at_random(rng, 6000, 0.02, 0.05, 0.3)
    floor_low(pair, A, B)
    seen = faces.seen(A, B)
    # not of those that one swallows whole: of these a surface tells nothing
    few = (seen[:, 8] > 0.0) & (seen[:, 8] < SHALLOW) & (seen[:, 16] < 0.03)
    assert few.sum() > 10
    A, B, seen = A[few], B[few], seen[few]
    A2, B2 = of_shape(A, a), of_shape(B, b)
    found = triangles.seen(A2, B2)
    size = abs(seen[:, :3]).max()
    assert_allclose(found[:, :9], seen[:, :9], atol=1e-9 * size, rtol=1e-6)
    assert_allclose(found[:, 16:18], seen[:, 16:18], atol=1e-12, rtol=1e-9)
    rubbing = {**law, "friction": 0.5, "friction_speed": 0.01}
    f_t = [solids(a, b, ka, kb, **rubbing).seen(A, B)[:, :3], meshes(a, b, ka, kb, **rubbing).seen(A2, B2)[:, :3]]
    # integrated over other triangles, not exactly
    assert_allclose(f_t[1], f_t[0], atol=2e-3 * size)
    if not isinstance(a, nx.HalfSpace):
        # a cell ends where those of its own corners begin, not all others
        assert_allclose(triangles.energies(A2, B2), faces.energies(A, B), atol=1e-12, rtol=1e-3)


def shallow(bench: Bench, rng: np.random.Generator, n: int, floor: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Motions of two solids that reach little into each other."""
    A, B = at_random(rng, n, 0.1), at_random(rng, n, 0.02)
    if floor:
        B = np.repeat(motion((0, 0, 0))[None], n, axis=0)
        A[:, 11] = abs(A[:, 11])
    seen = bench.seen(A, B)
    few = (seen[:, 8] > 1e-4) & (seen[:, 8] < SHALLOW) & (seen[:, 6] > 0.0)
    assert few.sum() >= 5
    return A[few], B[few]


@pytest.mark.parametrize("other", ["box", "floor", "iron"])
@pytest.mark.parametrize("soft", [(None, K), (K, None), (K, 2.0 * K)])
def test_forces_of_solids_that_are_not_convex_are_those_of_a_potential(
    other: str, soft: tuple[float | None, float | None], rng: np.random.Generator, tmp_path: Path
) -> None:
    iron = angle_iron(tmp_path / "iron.obj")
    b: nx.Shape = {"box": nx.Box((0.3, 0.2, 0.1)), "floor": FLOOR, "iron": iron}[other]
    bench = meshes(iron, b, *soft)
    A, B = shallow(bench, rng, 1500, other == "floor")
    far = np.ones(len(A), dtype=bool)
    if other == "iron":
        # where the edge inside ends, edges stand out and in, and cells meet with gaps
        ends = np.array([(-0.04, -0.04, z) for z in (-0.075, 0.075)])
        for i, rows in enumerate(zip(A, B, strict=True)):
            for one, two in (rows, rows[::-1]):
                seen = (ends @ one[:9].reshape(3, 3).T + one[9:12] - two[9:12]) @ two[:9].reshape(3, 3)
                far[i] &= signed_distances(triangles_of(iron).surface, seen)[:, 0].min() > 1.5 * SHALLOW
    A, B = A[far], B[far]
    assert len(A) >= 5
    size, step = abs(bench.wrenches(A, B)[:, 3:6]).max(), 1e-7
    for axis in range(6):
        moved = []
        for sign in (1.0, -1.0):
            rows = A.copy()
            if axis >= 3:
                rows[:, 9 + axis - 3] += sign * step
            else:
                turn = Rotation.from_rotvec(sign * step * np.eye(3)[axis]).as_matrix()
                rows[:, :9] = (turn @ A[:, :9].reshape(-1, 3, 3)).reshape(-1, 9)
            moved.append(bench.energies(rows, B))
        slope = -(moved[0] - moved[1]) / (2.0 * step)
        assert_allclose(bench.wrenches(A, B)[:, axis], slope, atol=2e-5 * size)


def test_swapped_bodies_feel_the_same(rng: np.random.Generator, tmp_path: Path) -> None:
    iron = angle_iron(tmp_path / "iron.obj")
    law = {"damping": 20.0, "friction": 0.4, "friction_speed": 0.02}
    one, other = meshes(iron, iron, K, 2.0 * K, **law), meshes(iron, iron, 2.0 * K, K, **law)
    A, B = shallow(one, rng, 1500)
    A[:, 12:], B[:, 12:] = 0.05 * rng.normal(size=(len(A), 6)), 0.05 * rng.normal(size=(len(A), 6))
    found, turned = one.wrenches(A, B), other.wrenches(B, A)
    assert_allclose(found, np.hstack([turned[:, 6:], turned[:, :6]]), atol=1e-9 * abs(found).max())
    # no force and no moment on both together
    about = found[:, :3] + np.cross(A[:, 9:12], found[:, 3:6]) + found[:, 6:9] + np.cross(B[:, 9:12], found[:, 9:])
    assert_allclose(about, 0.0, atol=1e-9 * abs(found).max())
    assert_allclose(found[:, 3:6] + found[:, 9:], 0.0, atol=1e-9 * abs(found).max())


@pytest.mark.parametrize("order", ["mesh first", "floor first"])
def test_a_rigid_solid_floats_in_a_soft_floor_by_the_volume_under_its_plane(order: str, tmp_path: Path) -> None:
    iron = angle_iron(tmp_path / "iron.obj")
    low = motion((0.3, -0.2, 0.06), Rotation.from_euler("x", 90, degrees=True).as_matrix())[None]
    floor = motion((0, 0, 0))[None]
    if order == "mesh first":
        f = meshes(iron, FLOOR, None, K).seen(low, floor)[0]
    else:
        f = meshes(FLOOR, iron, K, None).seen(floor, low)[0]
        f[:3] *= -1.0
    # the y axis of the L is up: its foot of 0.2 × 0.06 × 0.15 m is 0.04 m under the plane
    assert_allclose(f[:3], [0.0, 0.0, K * 0.2 * 0.04 * 0.15], atol=1e-9 * K)
    # it acts along the line through the centre of the volume
    assert_allclose(f[3:5], [0.3, -0.2], atol=1e-12)


def test_a_block_rests_in_the_corner_of_an_angle_iron(tmp_path: Path) -> None:
    """Two surfaces of one body press on it at once, each by its own depth, k in series of both."""
    iron, block = angle_iron(tmp_path / "iron.obj"), nx.Box((0.06, 0.06, 0.1))
    a, b = 2e-5, 5e-5
    A, B = motion((-0.04 + 0.03 - a, -0.04 + 0.03 - b, 0.0))[None], motion((0, 0, 0))[None]
    F = meshes(block, iron, K, K).wrenches(A, B)[0]
    assert_allclose(F[3:6], [0.5 * K * a * 0.06 * 0.1, 0.5 * K * b * 0.06 * 0.1, 0.0], rtol=2e-3, atol=1e-9)


def ball(place: Path) -> nx.Mesh:
    """A sphere of 1 m of 2,000 triangles with their corners on it, as even as a spiral has them."""
    i = np.arange(1002) + 0.5
    z, turn = 1.0 - 2.0 * i / len(i), np.pi * (1.0 + np.sqrt(5.0)) * i
    r = np.sqrt(1.0 - z * z)
    return hull_of(place, np.column_stack([r * np.cos(turn), r * np.sin(turn), z]))


def hull_of(place: Path, points: np.ndarray) -> nx.Mesh:
    """The triangles of the hull of points about the origin."""
    t = ConvexHull(points).simplices
    a, b, c = (points[t[:, k]] for k in range(3))
    return saved(
        place, points, np.where(np.einsum("ti,ti->t", np.cross(b - a, c - a), a)[:, None] < 0.0, t[:, ::-1], t)
    )


FACETS = {
    0.005: (0.17, 0.5, None),
    0.01: (0.043, 0.08, 0.35),
    0.02: (0.011, 0.023, None),
    0.03: (0.01, 0.012, None),
    0.05: (0.003, 0.0055, 0.08),
}
"""By the depth [R] of a sphere of 2,000 flat facets: how uneven its force is, peak to peak, as it rolls on its even facets, and whichever
way it lies; and by how much it is too low as a mean, as computed apart from this package; at 0.03 R what is required."""


@pytest.mark.parametrize("depth", FACETS)
def test_a_sphere_of_flat_facets_presses_as_flat_facets_can(
    depth: float, rng: np.random.Generator, tmp_path: Path
) -> None:
    """Its force is that of the volume of its polyhedron under the plane: what unevenness there is, is that of the facets. They lie inside
    the sphere, by s as a mean: the mean force is that of the depth less s; and it is even to 1 % from 0.03 R on."""
    mesh = ball(tmp_path / "ball.obj")
    bench = meshes(mesh, FLOOR, None, K)
    A = at_random(rng, 1000)
    A[:, 9:12] = (0.0, 0.0, 1.0 - depth)
    f = bench.seen(A, np.repeat(motion((0, 0, 0))[None], len(A), axis=0))[:, 6]
    ripple, of_all, low = FACETS[depth]
    assert np.ptp(f) / f.mean() < of_all
    # nearer to the poles of the spiral facets are less even
    A, f = A[abs(A[:, 8]) < 0.6], f[abs(A[:, 8]) < 0.6]
    assert np.ptp(f) / f.mean() < (ripple if depth == 0.03 else 1.1 * ripple)
    if low is not None:
        assert 1.0 - f.mean() / (K * np.pi * depth**2 * (1.0 - depth / 3.0)) == pytest.approx(low, abs=0.01)
    volume = nx.mass_properties(mesh, 1.0).mass
    h = depth - (1.0 - (volume / (4.0 / 3.0 * np.pi)) ** (1.0 / 3.0))
    assert_allclose(f.mean(), K * np.pi * h**2 * (1.0 - h / 3.0), rtol=0.05)
    faces = ConvexHull(triangles_of(mesh).vertices).equations
    for row, force in zip(A[:4], f[:4], strict=True):
        normals = faces[:, :3] @ row[:9].reshape(3, 3).T
        offsets = normals @ row[9:12] - faces[:, 3]
        under, _ = volume_and_centroid(np.vstack([normals, (0, 0, 1)]), np.append(offsets, 0.0))
        assert_allclose(force, K * under, rtol=1e-9)


def gear(place: Path, teeth: int, module: float, turned: float, flank: int = 12) -> tuple[nx.Mesh, float]:
    """An involute gear of 20° with a bore, and the radius of its base circle."""
    pressure, r = np.radians(20.0), 0.5 * teeth * module
    base, tip, root = r * np.cos(pressure), r + module, r - 1.25 * module
    half = 0.49 * np.pi / teeth + np.tan(pressure) - pressure  # 2 % of backlash
    t = np.linspace(0.0, np.sqrt((tip / base) ** 2 - 1.0), flank)
    radii, angles = np.r_[root, base * np.sqrt(1.0 + t**2)], np.r_[half, half - (t - np.arctan(t))]
    outline: list[tuple[float, float]] = []
    parts: list[tuple[int, int, int]] = []
    k = len(radii)
    for tooth in range(teeth):
        middle, first, after = 2.0 * np.pi * tooth / teeth + turned, 2 * k * tooth, 2 * k * ((tooth + 1) % teeth)
        sides = [(a, middle - b) for a, b in zip(radii, angles, strict=True)]
        sides += [(a, middle + b) for a, b in zip(radii[::-1], angles[::-1], strict=True)]
        outline += [(a * np.cos(b), a * np.sin(b)) for a, b in sides]
        for i in range(k - 1):
            low, high = (first + i, first + i + 1), (first + 2 * k - 1 - i, first + 2 * k - 2 - i)
            parts += [(low[0], low[1], high[1]), (low[0], high[1], high[0])]
        hub = 2 * k * teeth
        parts += [(hub, first, first + 2 * k - 1), (hub, first + 2 * k - 1, after)]
    n, flat = len(outline), np.array([*outline, (0.0, 0.0)])
    ends = [np.column_stack([flat, np.full(n + 1, z)]) for z in (-0.004, 0.004)]
    triangles = [(c, b, a) for a, b, c in parts] + [(n + 1 + a, n + 1 + b, n + 1 + c) for a, b, c in parts]
    for i in range(n):
        j = (i + 1) % n
        triangles += [(i, j, n + 1 + j), (i, n + 1 + j, n + 1 + i)]
    return saved(place, np.vstack(ends), triangles), float(base)


def test_gears_carry_a_torque_along_the_line_of_action(tmp_path: Path) -> None:
    """Without friction the force times the radius of the base circle is the torque, and one tooth after the other turns by −1 as a mean."""
    teeth, module, torque = 20, 2e-3, 1.0
    one, base = gear(tmp_path / "one.obj", teeth, module, 0.0)
    other, _ = gear(tmp_path / "other.obj", teeth, module, np.pi + np.pi / teeth)
    bench, apart = meshes(one, other, 1e13, 1e13), teeth * module
    still = motion((0, 0, 0))[None]

    def moment(driving: float, back: float) -> np.ndarray:
        A, B = still.copy(), motion((apart, 0, 0))[None]
        A[0, :9] = Rotation.from_rotvec((0, 0, driving)).as_matrix().ravel()
        B[0, :9] = Rotation.from_rotvec((0, 0, back - driving)).as_matrix().ravel()
        return bench.wrenches(A, B)[0]

    angles, follows = np.linspace(0.0, 2.0 * np.pi / teeth, 13), []
    for angle in angles:
        back = brentq(lambda x, angle=angle: moment(angle, x)[8] - torque, -5e-3, 0.0, xtol=1e-12)
        F = moment(angle, back)
        assert_allclose(np.hypot(F[9], F[10]) * base, torque, rtol=0.01)
        assert abs(np.degrees(np.arctan2(abs(F[9]), abs(F[10]))) - 20.0) < 3.0
        follows.append(back)
    # one pitch later all is as before, and between it the facets and the springs of the teeth move it little
    assert_allclose(follows[-1], follows[0], atol=1e-7)
    assert np.ptp(follows) < 1e-3
    assert np.ptp(follows) > 1e-6


def landing(shape: nx.Shape, ground: nx.Shape | None) -> nx.System:
    """A crate that falls, slides and comes to rest on the ground, or on a body that is fixed."""
    yard = nx.System("yard")
    yard.add_body("crate", mass=2.0, inertia=(0.02, 0.02, 0.03), position=(0, 0, 0.1003), collision=[shape])
    yard.add_joint(nx.Free("base", yard.ground, "crate", v0=(0.0, 0.1, 0.3, 0.3, 0.0, -0.2)))
    below = "ground"
    if ground is not None:
        below = "plate"
        yard.add_body("plate", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[ground])
        yard.add_joint(nx.Fixed("held", yard.ground, "plate"))
    yard.add_contact(nx.Contact("floor", "crate", below, foundation_b=2e6, damping=10.0, friction=0.4))
    return yard


@pytest.mark.parametrize("method", [nx.HHT(rtol=1e-7), nx.RungeKutta4(dt=1e-4), nx.ImplicitEuler(dt=5e-4)], ids=str)
def test_a_crate_lands_as_a_box_does_on_the_ground_and_on_a_height_field(method: Any, tmp_path: Path) -> None:
    size = (0.3, 0.2, 0.2)
    corners = [(x, y, z) for x in (-0.15, 0.15) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    mesh = hull_of(tmp_path / "crate.obj", np.array(corners))
    times = [0.0, 0.05, 0.2]
    for ground in (None, nx.HeightField(((0.0,) * 4,) * 4, (2.0, 2.0), bottom=-1.0)):
        flat = None if ground is None else FLOOR
        box = nx.simulate(landing(nx.Box(size), flat), 0.2, method, output_times=times)
        found = nx.simulate(landing(mesh, ground), 0.2, method, output_times=times)
        tolerance = 2e-6 if isinstance(method, nx.HHT) else 1e-8
        assert_allclose(found.position("crate"), box.position("crate"), atol=tolerance)
        assert_allclose(found.contacts("floor").normal[-1], box.contacts("floor").normal[-1], rtol=1e-3)


def test_a_run_that_goes_on_is_one_run(tmp_path: Path) -> None:
    method = nx.RungeKutta4(dt=1e-4)
    yard = landing(angle_iron(tmp_path / "iron.obj"), None)
    whole = nx.simulate(yard, 0.04, method)
    half = nx.simulate(yard, 0.02, method)
    rest = nx.simulate(yard, 0.04, method, initial=half)
    assert (rest.position("crate")[-1].values == whole.position("crate")[-1].values).all()


def test_what_has_no_depth_is_refused_by_name(tmp_path: Path) -> None:
    open_ = saved(tmp_path / "sheet.obj", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    with pytest.raises(nx.InputError, match="is open, and has no depth"):
        nx.simulate(landing(open_, None), 0.01)


@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_triangles_without_area_change_nothing(turned: float, rng: np.random.Generator, tmp_path: Path) -> None:
    """A corner in the middle of an edge, of which one side knows nothing: a sliver closes the gap, as files have it."""
    corners = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    R = Rotation.from_rotvec(turned * np.array([1.0, 2.0, 3.0])).as_matrix()
    cube = hull_of(tmp_path / "cube.obj", corners @ R.T)
    made = triangles_of(cube)
    (a, b, c), rest = made.triangles[0].tolist(), made.triangles[1:].tolist()
    middle, n = 0.3 * made.vertices[a] + 0.7 * made.vertices[b], len(made.vertices)
    split = saved(tmp_path / "split.obj", np.vstack([made.vertices, middle]), [*rest, (a, n, c), (n, b, c), (a, b, n)])
    A, B = at_random(rng, 1500, 0.12), np.repeat(motion((0, 0, 0))[None], 1500, axis=0)
    for soft in ((K, None), (None, K), (K, K)):
        whole, cut = meshes(cube, FLOOR, *soft), meshes(split, FLOOR, *soft)
        seen = whole.seen(A, B)
        few = (seen[:, 8] > 1e-4) & (seen[:, 8] < SHALLOW)
        assert few.sum() > 3
        assert_allclose(cut.wrenches(A[few], B[few]), whole.wrenches(A[few], B[few]), atol=1e-6 * abs(seen[:, 6]).max())


def test_a_thin_plate_is_as_thick_as_it_is(tmp_path: Path) -> None:
    """The rays that measure it go through the diagonals of its faces."""
    size = np.array((0.309, 0.316, 0.01))
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    plate, peg = hull_of(tmp_path / "plate.obj", size * corners), nx.Box((0.1, 0.1, 0.2))
    mesh, box = meshes(peg, plate, None, K), solids(peg, nx.Box(tuple(size)), None, K)
    B = motion((0, 0, 0))[None]
    assert_allclose(mesh.contact.extent({})[0], 2.0 * box.contact.extent({})[0], rtol=1e-6)
    for depth in (0.002, 0.004):
        A = motion((0.01, 0.02, 0.105 - depth))[None]
        assert_allclose(mesh.seen(A, B)[0, [6, 8]], [K * depth * 0.01, depth], rtol=1e-6)
        assert_allclose(mesh.wrenches(A, B), box.wrenches(A, B), atol=1e-6 * K * 1e-4)


def test_a_mesh_that_crosses_itself_is_told(tmp_path: Path) -> None:
    corners = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    cube = triangles_of(hull_of(tmp_path / "cube.obj", corners))
    x, t = np.vstack([cube.vertices, cube.vertices + 0.05]), np.vstack([cube.triangles, cube.triangles + 8])
    with pytest.warns(nx.NexDynWarning, match="crosses itself.*counts twice"):
        list(landing(saved(tmp_path / "two.obj", x, t), None).forces)


def test_a_mesh_that_is_far_tells_no_more_than_its_distance(rng: np.random.Generator, tmp_path: Path) -> None:
    iron = angle_iron(tmp_path / "iron.obj")
    bench = meshes(iron, iron, K, K)
    A, B = at_random(rng, 300, 0.3), at_random(rng, 300, 0.02)
    seen = bench.seen(A, B)
    away = seen[:, 8] <= 0.0
    assert away.sum() > 50
    for row_a, row_b, told in zip(A[away][:40], B[away][:40], seen[away][:40], strict=True):
        placed = [
            nx.Mesh(
                iron.path,
                position=tuple(row[9:12]),
                orientation=tuple(np.roll(Rotation.from_matrix(row[:9].reshape(3, 3)).as_quat(), 1)),
            )
            for row in (row_a, row_b)
        ]
        assert 0.0 <= -told[8] <= nx.distance(*placed).distance + 1e-9
        assert (told[:3] == 0.0).all()

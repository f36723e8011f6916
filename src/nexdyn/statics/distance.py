"""`nx.distance`, `nx.clearance`: how far shapes and bodies are from each other, where, and how fast that changes.

Pairs of convex shapes are compared by `geometry.narrow`, pairs with a mesh or height field by `geometry.mesh_distance`, or
`geometry.mesh_half_space`. Of a body its `collision` shapes count, or what is drawn of it where it has none.
Apart, the distance changes at the rate n·(v_b − v_a), v_a and v_b the velocities of the bodies' material at the witness points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.assembly.report import AssemblyReport
from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError, unknown, warn
from nexdyn.forces.mesh_solid import drawn_meshes, is_meshed
from nexdyn.geometry import narrow, patch
from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.mesh import Surface
from nexdyn.geometry.mesh_distance import surface_distances
from nexdyn.geometry.mesh_half_space import space_distances, turned_round
from nexdyn.geometry.mesh_kept import MovingMeshes
from nexdyn.geometry.mesh_patch import patch_of
from nexdyn.model.body import Body
from nexdyn.model.placement import rotation
from nexdyn.model.shapes import HalfSpace, Shape
from nexdyn.results.forces import body_motion
from nexdyn.results.result import Result
from nexdyn.spatial.rotations import cross_product
from nexdyn.statics.shape_queries import added, surface

if TYPE_CHECKING:
    import xarray as xr

PARALLEL = 1e-6
"""Angle [rad] within which features share a patch."""
MOST_PAIRS = 65536
"""Pairs of shapes whose distances are computed at once."""


@dataclass(frozen=True)
class Separation(metaclass=CheckedCalls):
    """The nearest points of two shapes, or where they overlap, the least way out. All in the world.

    distance [m]: negative is the depth. normal (3,): unit vector from a to b. point_a, point_b (3,) [m]: on the surfaces, with
    point_b − point_a = distance · normal. polygon (k, 3) [m], area [m²], centre (3,) [m]: the patch that parallel features
    share, halfway between the surfaces; two points for edges, one for all else. velocity_a, velocity_b (3,) [m/s]: of the material
    at the points; rate [m/s]: of the distance. error [m]: what the proof of the distance leaves open. shapes: those
    of a and b that are nearest. curvatures_a, curvatures_b [1/m]: principal curvatures of both surfaces at the points, the smaller
    first, inf across an edge and at a corner; None of a mesh.
    """

    distance: float
    normal: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    polygon: np.ndarray
    area: float
    centre: np.ndarray
    velocity_a: np.ndarray
    velocity_b: np.ndarray
    rate: float
    error: float
    shapes: tuple[Shape, Shape]
    curvatures_a: tuple[float, float] | None
    curvatures_b: tuple[float, float] | None


@dataclass(frozen=True)
class Placed:
    """Shapes with their places R (k, 3, 3), p (k, 3) on what carries them."""

    shapes: list[Shape]
    R: np.ndarray
    p: np.ndarray

    def poses(self, X: np.ndarray) -> np.ndarray:
        """(N, k, 12) of the shapes where X (N, 12) are the carrier's."""
        R = X[:, :9].reshape(-1, 1, 3, 3)
        p = X[:, None, 9:] + np.einsum("tkij,kj->tki", R, self.p)
        return np.concatenate([(R @ self.R).reshape(len(X), len(self.shapes), 9), p], axis=2)


@dataclass(frozen=True)
class _Nearest:
    """Of the nearest shapes at each of N moments: their numbers, their rows of `narrow.distances`, and the poses of both."""

    which: np.ndarray
    answers: np.ndarray
    X: np.ndarray
    Y: np.ndarray


STILL = np.array([[*np.eye(3).ravel(), 0.0, 0.0, 0.0]]), np.zeros((1, 6))
"""Pose (1, 12) and velocity (1, 6) of what stands."""


@checked_call
def distance(a: Shape | Body, b: Shape | Body, *, at: AssemblyReport | None = None) -> Separation:
    """The signed distance of two shapes or bodies; of a body by its `collision` shapes, or its `shapes` where that is None. Meshes
    that so stand in are told with the number of their triangles, in a warning.

    Of an overlap with a mesh or height field, `distance` is the greatest depth of a point on an edge (docs/geometry.md). A mesh
    that is open or crosses itself is warned of; an open one counts as solid behind it.

    A shape alone stands where its position and orientation say, in the world; a body in the reference configuration. at: what `nx.assemble`
    returns; bodies are taken from its pose, with its velocities, and expressions with its parameters' values.

    Raises InputError for what is no shape or body, a body without shapes, half-spaces that meet without bound, and expressions
    without `at`.
    """
    if at is not None and not isinstance(at, AssemblyReport):
        raise InputError(f"at is {at!r:.80}; what nx.assemble returns is needed")
    values = {} if at is None else at.model.system.values
    A, B = _placed(a, "a", values), _placed(b, "b", values)
    return separation(A, B, carrier(a, "a", at), carrier(b, "b", at))


@checked_call
def clearance(result: Result, a: Shape | Body | str, b: Shape | Body | str) -> xr.Dataset:
    """The signed distance of two bodies along a motion, and their nearest approach.

    a, b: bodies of the result's system or their names, or shapes that stand in the world. A dataset over the recorded times:
    `distance` (time) [m], negative where they overlap; `rate` (time) [m/s], its derivative; `point_a`, `point_b`, `normal`
    (time, axis), as `nx.distance` has them. Its attributes `nearest` [m] and `nearest_time` [s] are the least distance, between
    samples by the cubic through distances and rates, and when that is.

    Raises InputError as `nx.distance`, UnknownNameError for a name that is no body.
    """
    import xarray as xr

    if not isinstance(result, Result):
        raise InputError(f"result is {result!r:.80}; what nx.simulate returns is needed")
    (A, first), (B, second) = (_of_result(result, x, name) for x, name in ((a, "a"), (b, "b")))
    (X, V), (Y, W) = first, second
    found = _nearest(A, B, X, Y)
    d, n, p, q = (found.answers[:, part] for part in (0, slice(1, 4), slice(4, 7), slice(7, 10)))
    u, v = (at[:, 3:] + cross_product(at[:, :3], x - of[:, 9:]) for at, x, of in ((V, p, X), (W, q, Y)))
    rate = np.einsum("ti,ti->t", n, v - u)
    t = result.recording.t.copy()
    nearest, when = _least(t, d, rate)
    coords = {"time": t, "axis": ["x", "y", "z"]}

    def array(values: np.ndarray, units: str, text: str) -> xr.DataArray:
        dims = ["time", "axis"][: values.ndim]
        return xr.DataArray(values, {c: coords[c] for c in dims}, dims, attrs={"units": units, "long_name": text})

    of, to = (x if isinstance(x, str) else str(x) if isinstance(x, Shape) else x.name for x in (a, b))
    return xr.Dataset(
        {
            "distance": array(d, "m", f"distance of {of} and {to}"),
            "rate": array(rate, "m/s", f"rate of the distance of {of} and {to}"),
            "point_a": array(p, "m", f"nearest point of {of}, in the world"),
            "point_b": array(q, "m", f"nearest point of {to}, in the world"),
            "normal": array(n, "1", f"unit vector from {of} to {to}, in the world"),
        },
        attrs={"nearest": nearest, "nearest_time": when},
    )


def separation(
    A: Placed, B: Placed, a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> Separation:  # fmt: skip
    """Of shapes whose carriers have poses (1, 12) and velocities (1, 6)."""
    found = _nearest(A, B, a[0], b[0])
    i, j = found.which[0]
    answer = found.answers[0]
    polygon, area, centre = _patch(A.shapes[i], B.shapes[j], found)
    d, n, p, q, error = answer[0], answer[1:4], answer[4:7], answer[7:10], answer[10]
    u, v = (V[0, 3:] + cross_product(V[0, :3], x - X[0, 9:]) for (X, V), x in ((a, p), (b, q)))
    one, two = A.shapes[i], B.shapes[j]
    curved = _curvatures(one, found.X[0], p, n), _curvatures(two, found.Y[0], q, -n)
    return Separation(
        float(d), n, p, q, polygon, area, centre, u, v, float(n @ (v - u)), float(error), (one, two), *curved
    )  # fmt: skip


def _curvatures(shape: Shape, pose: np.ndarray, x: np.ndarray, n: np.ndarray) -> tuple[float, float] | None:
    """Of a shape in a pose (12,) at a point of the world with outward normal n."""
    if is_meshed(shape):
        return None
    catalogue, R = Catalogue(), pose[:9].reshape(3, 3)
    return catalogue.curvatures(added(catalogue, shape), R.T @ (x - pose[9:]), R.T @ n)


def _patch(a: Shape, b: Shape, found: _Nearest) -> tuple[np.ndarray, float, np.ndarray]:
    """Polygon, area and centre of the patch of the first answer."""
    if is_meshed(a) or is_meshed(b):
        X, Y, answer = found.X[:1], found.Y[:1], found.answers[:1]
        if isinstance(a, HalfSpace):
            X, Y, answer, a, b = Y, X, turned_round(answer), b, a
        of = patch_of(surface(a), None if isinstance(b, HalfSpace) else surface(b), X, Y, answer, PARALLEL)
        return of.polygon, of.area, of.centre
    catalogue = Catalogue()
    pair = np.array([[added(catalogue, a), added(catalogue, b)]])
    polygons, counts = np.zeros((1, patch.MOST_OF_PATCH, 3)), np.zeros(1, dtype=np.int64)
    areas, centres = np.zeros(1), np.zeros((1, 3))
    patch.patches(
        catalogue.tables(), pair, found.X, found.Y, found.answers, PARALLEL, patch.patch_work(), polygons, counts, areas,
        centres, np.zeros(1, dtype=np.int64),
    )  # fmt: skip
    return polygons[0, : counts[0]], float(areas[0]), centres[0]


def _nearest(A: Placed, B: Placed, X: np.ndarray, Y: np.ndarray) -> _Nearest:
    """The nearest of their shapes where the carriers have poses X, Y (N, 12)."""
    which = np.array(list(product(range(len(A.shapes)), range(len(B.shapes)))))
    meshed = np.array([is_meshed(A.shapes[i]) or is_meshed(B.shapes[j]) for i, j in which])
    known = [{i: None if isinstance(x, HalfSpace) else surface(x) for i, x in enumerate(of.shapes) if i in which[meshed, side]}
             for side, of in enumerate((A, B))]  # fmt: skip
    surfaces = {k: (known[0][which[k, 0]], known[1][which[k, 1]]) for k in np.flatnonzero(meshed)}
    moving = {k: MovingMeshes(one, two) for k, (one, two) in surfaces.items() if one and two and len(X) > 1}
    catalogue, convex = Catalogue(), ~meshed
    pairs = np.array([[added(catalogue, A.shapes[i]), added(catalogue, B.shapes[j])] for i, j in which[convex]])
    tables, work, K, N = catalogue.tables(), narrow.work(), len(which), len(X)
    of, answers = np.zeros(N, dtype=np.int64), np.zeros((N, narrow.ANSWER))
    P, Q = np.zeros((N, 12)), np.zeros((N, 12))
    most = max(1, MOST_PAIRS // K)
    for begin in range(0, N, most):
        some = slice(begin, min(N, begin + most))
        count = some.stop - begin
        x, y = A.poses(X[some])[:, which[:, 0]], B.poses(Y[some])[:, which[:, 1]]
        all_of = np.zeros((count, K, narrow.ANSWER))
        for k, (one, two) in surfaces.items():
            all_of[:, k] = _of_surfaces(one, two, moving.get(k), x[:, k].copy(), y[:, k].copy())
        if len(pairs):
            told, status = np.zeros((count * len(pairs), narrow.ANSWER)), np.zeros(count * len(pairs), dtype=np.int64)
            places = x[:, convex].reshape(-1, 12), y[:, convex].reshape(-1, 12)
            narrow.distances(tables, np.tile(pairs, (count, 1)), *places, work, told, status)
            if (status == narrow.NOT_FINITE).any():
                raise InputError("a pose is not finite")
            told[status == narrow.NO_DISTANCE, 0] = np.inf  # half-spaces: other shapes count
            all_of[:, convex] = told.reshape(count, len(pairs), narrow.ANSWER)
        least, rows = all_of[:, :, 0].argmin(axis=1), np.arange(count)
        if not np.isfinite(all_of[rows, least, 0]).all():
            raise InputError("two half-spaces have no distance unless they face each other: they meet without bound")
        of[some], answers[some], P[some], Q[some] = least, all_of[rows, least], x[rows, least], y[rows, least]
    return _Nearest(which[of], answers, P, Q)


def _of_surfaces(
    one: Surface | None, two: Surface | None, moving: MovingMeshes | None, X: np.ndarray, Y: np.ndarray
) -> np.ndarray:
    """Answers of two surfaces in poses (n, 12), along a motion by what `moving` keeps; None is a half-space."""
    if moving is not None:
        return moving.distances(X, Y)
    if one is not None and two is not None:
        return surface_distances(one, two, X, Y)
    if two is not None:
        return space_distances(two, X, Y)
    assert one is not None
    return turned_round(space_distances(one, Y, X))


def _least(t: np.ndarray, d: np.ndarray, rate: np.ndarray) -> tuple[float, float]:
    """The least value [m] of the cubics through d and its rate between samples, and when [s]."""
    at = int(d.argmin())
    best, when = float(d[at]), float(t[at])
    for i in range(max(at - 1, 0), min(at + 1, len(t) - 1)):
        h = t[i + 1] - t[i]
        if not h > 0.0:
            continue
        # d₀ + m₀ x + (3Δ − 2m₀ − m₁) x² + (m₀ + m₁ − 2Δ) x³ over x = 0 … 1, m = h ḋ
        m0, m1, rise = h * rate[i], h * rate[i + 1], d[i + 1] - d[i]
        cubic = np.polynomial.Polynomial([d[i], m0, 3 * rise - 2 * m0 - m1, m0 + m1 - 2 * rise])
        for x in map(complex, cubic.deriv().roots()):
            if x.imag == 0.0 and 0.0 < x.real < 1.0 and float(cubic(x.real)) < best:
                best, when = float(cubic(x.real)), float(t[i] + h * x.real)
    return best, when


def _of_result(result: Result, x: Any, argument: str) -> tuple[Placed, tuple[np.ndarray, np.ndarray]]:
    """The shapes of `x`, and poses (N, 12) and velocities (N, 6) of what carries them."""
    system, ground = result.system, result.system.ground
    if isinstance(x, str):
        if x != ground.name and x not in system.bodies:
            raise unknown("body", x, system.bodies)
        x = ground if x == ground.name else system.bodies[x]
    placed = _placed(x, argument, system.values)
    carrier = ground.name if isinstance(x, Shape) or x.is_ground else x.name
    if carrier != ground.name and carrier not in system.bodies:
        raise InputError(f"{argument} is {x}, which is no body of {system}, from which the result is")
    return placed, body_motion(result.observed, carrier, slice(None))


def _placed(x: Any, argument: str, values: Mapping[str, float]) -> Placed:
    """The shapes of `x`."""
    if isinstance(x, Shape):
        return of_shapes([x], values)
    if not isinstance(x, Body):
        raise InputError(f"{argument} is {x!r:.80}; a shape, like nx.Box(…), or a Body is needed")
    if not x.colliding:
        raise InputError(f"{argument} is {x}, which has no shapes; give it some: add_body(…, shapes=[nx.Box(…)])")
    for shape, count in drawn_meshes(x, values):
        warn(f"body {x.name!r} has no collision shapes; {shape}, as drawn, stands in with {count} triangles")
    return of_shapes(x.colliding, values)


def of_shapes(given: Any, values: Mapping[str, float]) -> Placed:
    shapes = [shape.resolved(values) for shape in given]
    R = np.array([rotation(shape.orientation) for shape in shapes]).reshape(-1, 3, 3)
    return Placed(shapes, R, np.array([shape.position for shape in shapes], dtype=float).reshape(-1, 3))


def carrier(x: Shape | Body, argument: str, at: AssemblyReport | None) -> tuple[np.ndarray, np.ndarray]:
    """Pose (1, 12) and velocity (1, 6) of what carries the shapes of `x`, at the assembled pose or as described."""
    if isinstance(x, Shape):
        return STILL
    if at is None:
        turn, origin = x.pose({})
        return np.array([[*np.ravel(turn), *origin]]), STILL[1]
    if x.is_ground:
        return STILL
    if at.model.system.bodies.get(x.name) is not x:
        raise InputError(f"{argument} is {x}, which is no body of {at.model.system}, from which `at` is")
    w, x0, y0, z0 = at.orientation(x.name).tolist()
    X = np.array([[*rotation((w, x0, y0, z0)).ravel(), *at.position(x.name)]])
    if not len(at.v):
        return X, STILL[1]
    return X, np.array([[*at.angular_velocity(x.name), *at.velocity(x.name)]])

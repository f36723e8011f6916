"""`nx.distance`, `nx.clearance`, `nx.interferences`: how far shapes and bodies are from each other, where, and how fast that changes.

Pairs of convex shapes are compared by `geometry.narrow`, pairs with a mesh by `geometry.mesh_distance`.
Apart, the distance changes at the rate n·(v_b − v_a), v_a and v_b the velocities of the bodies' material at the witness points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.assembly.report import AssemblyReport
from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError, unknown
from nexdyn.geometry import narrow, patch
from nexdyn.geometry.broad import Crowd
from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.mesh_distance import surface_distances
from nexdyn.joints.fixed import Fixed
from nexdyn.model.body import Body
from nexdyn.model.placement import rotation
from nexdyn.model.shapes import Mesh, Shape
from nexdyn.model.system import System
from nexdyn.results.forces import body_motion
from nexdyn.results.result import Result
from nexdyn.statics.shape_queries import added, fault, in_box, surface

if TYPE_CHECKING:
    import xarray as xr

PARALLEL = 1e-6
"""Angle [rad] within which features share a patch."""
TOUCHING = 1e-6
"""Part of the smaller body's size by which bodies that touch may overlap."""
MOST_PAIRS = 65536
"""Pairs of shapes whose distances are computed at once."""


@dataclass(frozen=True)
class Separation(metaclass=CheckedCalls):
    """The nearest points of two shapes, or where they overlap, the least way out. All in the world.

    distance [m]: negative is the depth. normal (3,): unit vector from a to b. point_a, point_b (3,) [m]: on the surfaces, with
    point_b − point_a = distance · normal. polygon (k, 3) [m], area [m²], centre (3,) [m]: the patch that parallel features
    share, halfway between the surfaces; two points for edges, one for all else. velocity_a, velocity_b (3,) [m/s]: of the material
    at the points; rate [m/s]: of the distance. error [m]: what the proof of the distance leaves open. shapes: those
    of a and b that are nearest.
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


@dataclass(frozen=True)
class Interference(metaclass=CheckedCalls):
    """Two bodies that overlap: their names, and how deep, where and along what (`Separation`)."""

    a: str
    b: str
    separation: Separation

    def __str__(self) -> str:
        found = self.separation
        along = ", ".join(f"{x:.3g}" for x in np.round(found.normal, 6) + 0.0)
        return f"'{self.a}' and '{self.b}' overlap by {-found.distance:.3g} m: move '{self.b}' by that along ({along})"


@dataclass(frozen=True)
class Interferences(metaclass=CheckedCalls):
    """The `pairs` of bodies that overlap in a pose, deepest first, and what shapes were `left_out` and why, in words."""

    pairs: tuple[Interference, ...]
    left_out: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Interference]:
        return iter(self.pairs)

    def __str__(self) -> str:
        told = [str(pair) for pair in self.pairs] or ["no bodies overlap"]
        return "\n".join([*told, *(f"left out: {what}" for what in self.left_out)])

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "pairs": [
                {
                    "a": pair.a,
                    "b": pair.b,
                    "depth": -pair.separation.distance,
                    "normal": pair.separation.normal.tolist(),
                    "point": pair.separation.centre.tolist(),
                }
                for pair in self.pairs
            ],
            "left_out": list(self.left_out),
        }


@dataclass(frozen=True)
class _Placed:
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
    """The signed distance of two shapes or bodies: Box, Capsule, Cylinder, Mesh, Sphere, or bodies with such `shapes`.

    Of an overlap with a mesh, `distance` is the greatest depth of a point on an edge, and there is no patch (docs/geometry.md). A
    mesh that is open or crosses itself is warned of; an open one counts as solid behind it.

    A shape alone stands where its position and orientation say, in the world; a body as described. at: what `nx.assemble`
    returns; bodies are taken from its pose, with its velocities, and expressions with its parameters' values.

    Raises InputError for what is no shape or body, a body without shapes, shapes of other kinds, and expressions without `at`.
    """
    if at is not None and not isinstance(at, AssemblyReport):
        raise InputError(f"at is {at!r:.80}; what nx.assemble returns is needed")
    values = {} if at is None else at.model.system.values
    A, B = _placed(a, "a", values), _placed(b, "b", values)
    return _separation(A, B, _carrier(a, "a", at), _carrier(b, "b", at))


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
    u, v = (at[:, 3:] + np.cross(at[:, :3], x - of[:, 9:]) for at, x, of in ((V, p, X), (W, q, Y)))
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


@checked_call
def interferences(at: AssemblyReport) -> Interferences:
    """The bodies that overlap in the pose of `nx.assemble`, by their shapes: pair, depth, and what to move which way.

    Bodies that a joint joins are left out; the ground counts as joined only where the joint is Fixed. Meshes that cannot be read
    are left out, and named. What only touches does not overlap.

    Raises InputError for what `nx.assemble` did not return.
    """
    if not isinstance(at, AssemblyReport):
        raise InputError(f"at is {at!r:.80}; what nx.assemble returns is needed")
    system = at.model.system
    bodies = [system.ground, *system.bodies.values()]
    placed, left_out = [], []
    for body in bodies:
        known = _of_shapes(body.shapes, system.values)
        wrong = [fault(shape) for shape in known.shapes]
        left_out += [f"{shape} of {body.name!r}: {why}" for shape, why in zip(known.shapes, wrong, strict=True) if why]
        kept = [k for k, why in enumerate(wrong) if not why]
        placed.append(_Placed([known.shapes[k] for k in kept], known.R[kept], known.p[kept]))
    carriers = [_carrier(body, "at", at) for body in bodies]
    catalogue, numbers, poses, owner = Catalogue(), [], [], []
    for i, (shapes, (X, _)) in enumerate(zip(placed, carriers, strict=True)):
        numbers += [in_box(catalogue, shape) for shape in shapes.shapes]
        poses.append(shapes.poses(X)[0])
        owner += [i] * len(shapes.shapes)
    if len(set(owner)) < 2:
        return Interferences((), tuple(left_out))
    crowd = Crowd(catalogue.tables(), numbers, body=owner, apart=_joined(system, [body.name for body in bodies]))
    near = crowd.near(np.concatenate(poses))
    sizes = _sizes(crowd.boxes, np.array(owner), len(bodies))
    found = []
    for i, j in sorted({(owner[k], owner[m]) for k, m in near.tolist()}):
        i, j = min(i, j), max(i, j)
        told = _separation(placed[i], placed[j], carriers[i], carriers[j])
        if told.distance < -TOUCHING * min(sizes[i], sizes[j]):
            found.append(Interference(bodies[i].name, bodies[j].name, told))
    found.sort(key=lambda pair: pair.separation.distance)
    return Interferences(tuple(found), tuple(left_out))


def _separation(
    A: _Placed, B: _Placed, a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> Separation:  # fmt: skip
    """Of shapes whose carriers have poses (1, 12) and velocities (1, 6)."""
    found = _nearest(A, B, a[0], b[0])
    i, j = found.which[0]
    answer = found.answers[0]
    polygon, area, centre = _patch(A.shapes[i], B.shapes[j], found)
    d, n, p, q, error = answer[0], answer[1:4], answer[4:7], answer[7:10], answer[10]
    u, v = (V[0, 3:] + np.cross(V[0, :3], x - X[0, 9:]) for (X, V), x in ((a, p), (b, q)))
    return Separation(
        float(d), n, p, q, polygon, area, centre, u, v, float(n @ (v - u)), float(error), (A.shapes[i], B.shapes[j]),
    )  # fmt: skip


def _patch(a: Shape, b: Shape, found: _Nearest) -> tuple[np.ndarray, float, np.ndarray]:
    """Polygon, area and centre of the patch of the first answer; the point between the witness points where one is a mesh."""
    if isinstance(a, Mesh) or isinstance(b, Mesh):
        middle = 0.5 * (found.answers[0, 4:7] + found.answers[0, 7:10])
        return middle[None], 0.0, middle
    catalogue = Catalogue()
    pair = np.array([[added(catalogue, a), added(catalogue, b)]])
    polygons, counts = np.zeros((1, patch.MOST_OF_PATCH, 3)), np.zeros(1, dtype=np.int64)
    areas, centres = np.zeros(1), np.zeros((1, 3))
    patch.patches(
        catalogue.tables(), pair, found.X, found.Y, found.answers, PARALLEL, patch.patch_work(), polygons, counts, areas,
        centres, np.zeros(1, dtype=np.int64),
    )  # fmt: skip
    return polygons[0, : counts[0]], float(areas[0]), centres[0]


def _nearest(A: _Placed, B: _Placed, X: np.ndarray, Y: np.ndarray) -> _Nearest:
    """The nearest of their shapes where the carriers have poses X, Y (N, 12)."""
    which = np.array(list(product(range(len(A.shapes)), range(len(B.shapes)))))
    meshed = np.array([isinstance(A.shapes[i], Mesh) or isinstance(B.shapes[j], Mesh) for i, j in which])
    surfaces = {k: (surface(A.shapes[which[k, 0]]), surface(B.shapes[which[k, 1]])) for k in np.flatnonzero(meshed)}
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
            all_of[:, k] = surface_distances(one, two, x[:, k].copy(), y[:, k].copy())
        if len(pairs):
            told, status = np.zeros((count * len(pairs), narrow.ANSWER)), np.zeros(count * len(pairs), dtype=np.int64)
            places = x[:, convex].reshape(-1, 12), y[:, convex].reshape(-1, 12)
            narrow.distances(tables, np.tile(pairs, (count, 1)), *places, work, told, status)
            if (status != narrow.FOUND).any():
                raise InputError("a pose is not finite")
            all_of[:, convex] = told.reshape(count, len(pairs), narrow.ANSWER)
        least, rows = all_of[:, :, 0].argmin(axis=1), np.arange(count)
        of[some], answers[some], P[some], Q[some] = least, all_of[rows, least], x[rows, least], y[rows, least]
    return _Nearest(which[of], answers, P, Q)


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


def _of_result(result: Result, x: Any, argument: str) -> tuple[_Placed, tuple[np.ndarray, np.ndarray]]:
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


def _placed(x: Any, argument: str, values: Mapping[str, float]) -> _Placed:
    """The shapes of `x`."""
    if isinstance(x, Shape):
        return _of_shapes([x], values)
    if not isinstance(x, Body):
        raise InputError(f"{argument} is {x!r:.80}; a shape (Box, Capsule, Cylinder, Mesh, Sphere) or a Body is needed")
    if not x.shapes:
        raise InputError(f"{argument} is {x}, which has no shapes; give it some: add_body(…, shapes=[nx.Box(…)])")
    return _of_shapes(x.shapes, values)


def _of_shapes(given: Any, values: Mapping[str, float]) -> _Placed:
    shapes = [shape.resolved(values) for shape in given]
    R = np.array([rotation(shape.orientation) for shape in shapes]).reshape(-1, 3, 3)
    return _Placed(shapes, R, np.array([shape.position for shape in shapes], dtype=float).reshape(-1, 3))


def _carrier(x: Shape | Body, argument: str, at: AssemblyReport | None) -> tuple[np.ndarray, np.ndarray]:
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


def _joined(system: System, names: list[str]) -> list[tuple[int, int]]:
    """Pairs of bodies, by their places in `names`, that a joint joins; one with the ground must be Fixed."""
    place = {name: i for i, name in enumerate(names)}
    pairs = []
    for joint in system.joints.values():
        ends = joint.parent, joint.child
        if isinstance(joint, Fixed) or not any(body.is_ground for body in ends):
            pairs.append((place[ends[0].name], place[ends[1].name]))
    return pairs


def _sizes(boxes: np.ndarray, owner: np.ndarray, bodies: int) -> np.ndarray:
    """The largest width [m] of each body's boxes (n, 6): the least x, y, z, then the greatest."""
    width = np.full(bodies, np.inf)
    low, high = boxes[:, :3], boxes[:, 3:]
    for i in np.unique(owner):
        mine = owner == i
        width[i] = float((high[mine].max(axis=0) - low[mine].min(axis=0)).max())
    return width

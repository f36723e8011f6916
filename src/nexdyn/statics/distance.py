"""`nx.distance`: how far two shapes or bodies are from each other, where, and how fast their nearest points move.

Apart, the distance changes at the rate n·(v_b − v_a), v_a and v_b the velocities of the bodies' material at the witness points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from nexdyn.assembly.report import AssemblyReport
from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError
from nexdyn.geometry import narrow, patch
from nexdyn.geometry.kinds import Catalogue
from nexdyn.model.body import Body
from nexdyn.model.placement import rotation
from nexdyn.model.shapes import Box, Capsule, Cylinder, Shape, Sphere

_NAMES: dict[type[Shape], str] = {Box: "box", Capsule: "capsule", Cylinder: "cylinder", Sphere: "sphere"}
PARALLEL = 1e-6
"""Angle [rad] within which features share a patch."""


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
class _Placed:
    """Shapes with their poses (n, 12) in the world, and the motion of what carries them: origin, w, v (3,)."""

    shapes: list[Shape]
    poses: np.ndarray
    origin: np.ndarray
    w: np.ndarray
    v: np.ndarray


@checked_call
def distance(a: Shape | Body, b: Shape | Body, *, at: AssemblyReport | None = None) -> Separation:
    """The signed distance of two shapes or bodies: Box, Capsule, Cylinder, Sphere, or bodies with such `shapes`.

    A shape alone stands where its position and orientation say, in the world; a body as described. at: what `nx.assemble`
    returns; bodies are taken from its pose, with its velocities, and expressions with its parameters' values.

    Raises InputError for what is no shape or body, a body without shapes, shapes of other kinds, and expressions without `at`.
    """
    if at is not None and not isinstance(at, AssemblyReport):
        raise InputError(f"at is {at!r:.80}; what nx.assemble returns is needed")
    A, B = _placed(a, "a", at), _placed(b, "b", at)
    catalogue = Catalogue()
    first, second = ([_added(catalogue, shape) for shape in placed.shapes] for placed in (A, B))
    which = np.array(list(product(range(len(first)), range(len(second)))))
    pairs = np.column_stack([np.array(first)[which[:, 0]], np.array(second)[which[:, 1]]])
    X, Y = A.poses[which[:, 0]], B.poses[which[:, 1]]
    tables = catalogue.tables()
    answers, status = np.zeros((len(pairs), narrow.ANSWER)), np.zeros(len(pairs), dtype=np.int64)
    narrow.distances(tables, pairs, X, Y, narrow.work(), answers, status)
    if (status != narrow.FOUND).any():
        raise InputError("a pose is not finite")
    k = slice(i := int(answers[:, 0].argmin()), i + 1)
    polygons, counts = np.zeros((1, patch.MOST_OF_PATCH, 3)), np.zeros(1, dtype=np.int64)
    areas, centres = np.zeros(1), np.zeros((1, 3))
    patch.patches(
        tables, pairs[k], X[k], Y[k], answers[k], PARALLEL, patch.patch_work(), polygons, counts, areas, centres, status[k]
    )  # fmt: skip
    d, n, p, q, error = answers[i, 0], answers[i, 1:4], answers[i, 4:7], answers[i, 7:10], answers[i, 10]
    u, v = (m.v + np.cross(m.w, x - m.origin) for m, x in ((A, p), (B, q)))
    return Separation(
        float(d), n, p, q, polygons[0, : counts[0]], float(areas[0]), centres[0], u, v, float(n @ (v - u)), float(error),
        (A.shapes[which[i, 0]], B.shapes[which[i, 1]]),
    )  # fmt: skip


def _placed(x: Any, argument: str, at: AssemblyReport | None) -> _Placed:
    """Where the shapes of `x` are."""
    values: Mapping[str, float] = {} if at is None else at.model.system.values
    origin, turn, w, v = np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)
    if isinstance(x, Shape):
        shapes = [x.resolved(values)]
    elif isinstance(x, Body):
        if not x.shapes:
            raise InputError(f"{argument} is {x}, which has no shapes; give it some: add_body(…, shapes=[nx.Box(…)])")
        shapes = [shape.resolved(values) for shape in x.shapes]
        if at is None:
            turn, origin = x.pose(values)
        elif at.model.system.bodies.get(x.name) is not x and not x.is_ground:
            raise InputError(f"{argument} is {x}, which is no body of {at.model.system}, from which `at` is")
        elif not x.is_ground:
            w0, x0, y0, z0 = at.orientation(x.name).tolist()
            turn, origin = rotation((w0, x0, y0, z0)), at.position(x.name)
            if len(at.v):
                w, v = at.angular_velocity(x.name), at.velocity(x.name)
    else:
        raise InputError(f"{argument} is {x!r:.80}; a shape (Box, Capsule, Cylinder, Sphere) or a Body is needed")
    poses = [
        np.hstack([(turn @ rotation(shape.orientation)).ravel(), origin + turn @ np.array(shape.position)])
        for shape in shapes
    ]
    return _Placed(shapes, np.array(poses), origin, w, v)


def _added(catalogue: Catalogue, shape: Shape) -> int:
    name = _NAMES.get(type(shape))
    if name is None:
        raise InputError(f"{shape} has no distance; Box, Capsule, Cylinder and Sphere are valid")
    sizes = ("size",) if name == "box" else ("radius",) if name == "sphere" else ("radius", "length")
    return catalogue.add(name, **{size: getattr(shape, size) for size in sizes})

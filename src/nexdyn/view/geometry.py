"""What is drawn of a system: surfaces (vertices, faces, colour) that are fixed to bodies.

    vertex in the world:  p_WB + R_WB (p_BS + R_BS v)        S the frame of the surface, B its body

Shapes come from formulas, meshes from their files (STL, OBJ, DAE and what else trimesh reads); the unit that a file
states is followed, its `up_axis` is not, as robots' files expect. A body without a shape is drawn from what is known of
it: rods from its joints to each other or to its centre of mass, which is a sphere; except a frame without mass among
bodies that have shapes. Equal shapes share one surface.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nexdyn.errors import warn
from nexdyn.geometry.height_field import height_field
from nexdyn.geometry.mesh_file import defines_entities, unpacked_size
from nexdyn.model.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Hull,
    Mesh,
    Shape,
    Sphere,
)
from nexdyn.model.system import System
from nexdyn.spatial.lengths import UNITS
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.extras import need
from nexdyn.view.parts import fittings, is_hinge, rolling
from nexdyn.view.surfaces import (
    Color,
    Piece,
    Surface,
    box,
    capsule,
    cone,
    cylinder,
    hull,
    joined,
    made,
    sphere,
    square,
    with_z,
)

PALETTE: tuple[Color, ...] = (
    (0.30, 0.47, 0.66, 1.0), (0.95, 0.56, 0.17, 1.0), (0.35, 0.63, 0.31, 1.0), (0.88, 0.34, 0.35, 1.0),
    (0.46, 0.72, 0.70, 1.0), (0.69, 0.48, 0.63, 1.0), (0.93, 0.79, 0.28, 1.0), (0.61, 0.46, 0.37, 1.0),
)  # fmt: skip
"""Colours of bodies that have none of their own, in turn."""
GREY: Color = (0.72, 0.74, 0.77, 1.0)
"""Colour of a mesh that has none, neither in the model nor in its file."""
THIN = 0.05
"""Radius of a drawn rod, of the median distance that rods bridge."""
_SHOWN = 6
BETWEEN_POINTS = frozenset({"point_spring", "force_table"})
"""Forces that are drawn between two points (links.py)."""


def pieces(system: System) -> list[Piece]:
    """All that is drawn of `system`, body by body.

    Says with a NexDynWarning which meshes are missing or cannot be read, and draws those bodies without them. Raises
    InputError naming the extra where the package that reads meshes is missing.
    """
    drawing = _Drawing(system)
    shown = {name: drawing.shapes(i, body) for i, (name, body) in enumerate(system.bodies.items())}
    some = any(shown.values())
    for i, (name, body) in enumerate(system.bodies.items()):
        if shown[name]:
            shown[name] += drawing.struts(name, body, shown[name])
        elif not (some and (body.resolved(system.values).mass == 0.0 or _is_floor(body))):
            shown[name] = drawing.skeleton(name, PALETTE[i % len(PALETTE)])
    drawing.say()
    beside = fittings(
        system, {name: found for name, found in shown.items() if system.bodies[name].shapes}, drawing.radius
    )
    return [*(piece for found in shown.values() for piece in found), *drawing.ground(), *beside]


def unit_of(system: System) -> float:
    """Radius of a drawn rod [m], of which marks of joints are multiples."""
    return _Drawing(system).radius


def vertices_of(system: System, name: str) -> np.ndarray:
    """The vertices (n, 3) [m] of what is drawn of a body, in its frame."""
    drawing = _Drawing(system)
    body = system.body(name)
    found = [] if body.is_ground else drawing.shapes(0, body) or drawing.skeleton(name, GREY)
    parts = [piece.surface.vertices @ piece.R_BS.T + piece.p_BS for piece in found]
    return np.concatenate([*parts, np.zeros((0, 3))])


def colliding_pieces(system: System, size: float) -> list[Piece]:
    """The shapes that distances and contacts are computed of; of a half-space a square of twice `size` [m]. What is said of meshes: see
    `pieces`. The ground's own is where the floor is drawn."""
    drawing = _Drawing(system)
    found = []
    for i, body in enumerate(system.bodies.values()):
        for k, shape in enumerate(body.colliding):
            if isinstance(shape, HalfSpace):
                R, p = rotation_matrix(np.array(shape.orientation)), np.array(shape.position)
                found.append(Piece(body.name, f"halfspace{k}", square(2.0 * size), R, p, PALETTE[i % len(PALETTE)]))
            else:
                found += drawing.pieces_of(body.name, k, shape, PALETTE[i % len(PALETTE)])
    drawing.say()
    return found


def _is_floor(body: Any) -> bool:
    """Whether a body is a half-space to all that touches it: the floor is drawn there."""
    return bool(body.collision) and not any(shape.bounded for shape in body.collision)


def bounds(of: Iterable[Piece], poses: dict[str, tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest corner (3,) [m] in the world of pieces whose bodies stand at `poses`: R_WB, p_WB by name."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for piece in of:
        R_WB, p_WB = poses.get(piece.body, (np.eye(3), np.zeros(3)))
        corners = np.array(np.meshgrid(*zip(*piece.surface.box, strict=True))).reshape(3, -1).T
        corners = (corners @ piece.R_BS.T + piece.p_BS) @ R_WB.T + p_WB
        low, high = np.minimum(low, corners.min(axis=0)), np.maximum(high, corners.max(axis=0))
    return (low, high) if np.isfinite(low).all() else (np.full(3, -1.0), np.full(3, 1.0))


BACKDROPS = {"light": 0.95, "dark": 0.055, "grey": 0.13}
"""Intensity of the backgrounds that there are."""
LIT = 0.6
"""Of the intensity of a colour what is seen of it, lit from one side."""
NIGHTLY = {"night": 0.005, "dusk": 0.305}
"""The same of a dark page: of what is itself dark nothing would be seen by night."""
LIT_NIGHTLY = 0.9


def backdrop(of: Iterable[Any], dark: bool = False) -> str:
    """The background with the most contrast (WCAG 2) in the mean of the pieces' surface, where what is beyond 3 : 1 counts as 3; of a dark
    page, whose lights are brighter, "night" or "dusk".

    intensity Y = 0.2126 r + 0.7152 g + 0.0722 b (IEC 61966-2-1),  contrast (Y_1 + 0.05) / (Y_2 + 0.05)
    """
    from nexdyn.view.raster import linear

    backdrops, lit = (NIGHTLY, LIT_NIGHTLY) if dark else (BACKDROPS, LIT)
    area = dict.fromkeys(backdrops, 0.0)
    for piece in of:
        a, b, c = (piece.surface.vertices[piece.surface.faces[:, k]] for k in range(3))
        own = float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) * piece.color[3]
        light = lit * float(linear(np.array(piece.color[:3])) @ (0.2126, 0.7152, 0.0722))
        for name, behind in backdrops.items():
            area[name] += own * min(3.0, (max(light, behind) + 0.05) / (min(light, behind) + 0.05))
    return max(area, key=lambda name: area[name])


# --- bodies ---------------------------------------------------------------------------------------------------------


@dataclass
class _Drawing:
    system: System
    faults: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        values = self.system.values
        self.points: dict[str, list[np.ndarray]] = defaultdict(list)
        for joint in self.system.joints.values():
            frames = joint.frames(values)
            self.points[joint.parent.name].append(frames.p_AJ)
            self.points[joint.child.name].append(frames.p_BJ)
        for force in self.system.forces.values():
            if force.kind in BETWEEN_POINTS:
                for end in force.frames(self.system):
                    self.points[end.body].append(end.p_BF)
        self.coms = {name: body.resolved(values).com for name, body in self.system.bodies.items()}
        lengths = [length for name in self.coms for _, _, length in self._rods(name)]
        self.radius = THIN * float(np.median(lengths)) if lengths else 0.05
        self.level = _levels(self.system)

    def shapes(self, i: int, body: Any) -> list[Piece]:
        own = PALETTE[i % len(PALETTE)]
        return [piece for k, shape in enumerate(body.shapes) for piece in self.pieces_of(body.name, k, shape, own)]

    def ground(self) -> list[Piece]:
        """A small block where a joint holds a body that is drawn without shapes of its own."""
        found, size = [], 3.0 * self.radius
        for joint in self.system.joints.values():
            if (
                joint.carrier.is_ground
                and not joint.carried.shapes
                and joint.kind not in ("free", "fixed", "rolling_disk", "rolling_sphere")
            ):
                frames = joint.tree_frames(self.system.values)
                block = Piece("ground", joint.name, box((size, size, size)), frames.R_AJ, frames.p_AJ, GREY)
                found.append(block)
        return found

    def say(self) -> None:
        for kind, found in self.faults.items():
            more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            warn(f"{kind}: {'; '.join(found[:_SHOWN])}{more}")

    def pieces_of(self, body: str, k: int, given: Shape, own: Color) -> list[Piece]:
        shape = given.resolved(self.system.values)
        name = shape.name or f"{type(shape).__name__.lower()}{k}"
        R, p = rotation_matrix(np.array(shape.orientation)), np.array(shape.position)
        color = None if shape.color is None else _color(shape.color)
        if not isinstance(shape, Mesh):
            return [Piece(body, name, _surface(shape), R, p, color or own)]
        if not Path(shape.path).is_file():
            self.faults["meshes that are not on this machine, drawn without"].append(f"{body}: {shape.path}")
            return []
        try:
            parts = read_mesh(shape.path, tuple(shape.scale), shape.unit)
        except Exception as error:
            if isinstance(error, ImportError) or type(error).__module__ == "nexdyn.errors":
                raise
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            self.faults["meshes that cannot be read, drawn without"].append(f"{body}: {shape.path}: {first}")
            return []
        return [Piece(body, name, surface, R, p, color or drawn or GREY) for surface, drawn in parts]

    def struts(self, body: str, shaped: Any, shown: list[Piece]) -> list[Piece]:
        """Rods from shapes to the hinges of their body that they do not reach; a mesh is taken to be whole."""
        if any(isinstance(shape, Mesh) for shape in shaped.shapes):
            return []
        low, high = bounds(shown, {body: (np.eye(3), np.zeros(3))})
        r, found = 0.5 * THIN * float(np.linalg.norm(high - low)), []
        for k, p in enumerate(self._hinges(body)):
            foot = np.clip(p, low, high)
            length = float(np.linalg.norm(p - foot))
            if length > 0.05 * np.linalg.norm(high - low):
                # from inside the shapes, so that both join
                start = foot + min(1.0, r / length) * ((low + high) / 2 - foot)
                along = p - start
                rod = capsule(r, float(np.linalg.norm(along)))
                found.append(Piece(body, f"strut{k}", rod, with_z(along), (p + start) / 2, shown[0].color))
        return found

    def _hinges(self, body: str) -> list[np.ndarray]:
        """A point (3,) [m] of each hinge of a body; of an axis the point that is nearest to both centres of mass."""
        values, found = self.system.values, []
        for joint in self.system.joints.values():
            if not is_hinge(joint) or body not in (joint.parent.name, joint.child.name):
                continue
            frames = joint.frames(values)
            on_parent = joint.parent.name == body
            R, p = (frames.R_AJ, frames.p_AJ) if on_parent else (frames.R_BJ, frames.p_BJ)
            if joint.about_z:
                sides = ((joint.parent.name, frames.R_AJ, frames.p_AJ), (joint.child.name, frames.R_BJ, frames.p_BJ))
                z = [R_XJ[:, 2] @ (self.coms[name] - p_XJ) for name, R_XJ, p_XJ in sides if name in self.coms]
                p = p + float(np.mean(z)) * R[:, 2]
            found.append(p)
        return found

    def skeleton(self, body: str, own: Color) -> list[Piece]:
        r = self.radius * (1.0 - 0.08 * min(self.level[body], 6))
        found = [
            Piece(body, f"rod{k}", capsule(r, length), with_z(b - a), (a + b) / 2, own)
            for k, (a, b, length) in enumerate(self._rods(body))
        ]
        if wheels := rolling(self.system, body, own):
            return [*wheels, *found]
        return [*found, Piece(body, "com", sphere(1.7 * r if found else 3.0 * r), np.eye(3), self.coms[body], own)]

    def _rods(self, body: str) -> list[tuple[np.ndarray, np.ndarray, float]]:
        """Ends and length of the rods of a body: joint to joint, and on to a centre of mass that is off that line."""
        com, ends = self.coms[body], _distinct(self.points[body])
        if len(ends) == 2:
            (a, b), d = ends, ends[1] - ends[0]
            off = com - a - d * np.clip(d @ (com - a) / (d @ d), 0.0, 1.0)
            pairs = [(a, b)] if off @ off < 0.01 * (d @ d) else [(a, com), (com, b)]
        else:
            pairs = [(a, com) for a in ends]
        rods = [(a, b, float(np.linalg.norm(b - a))) for a, b in pairs]
        return [rod for rod in rods if rod[2] > 1e-9]


def _levels(system: System) -> dict[str, int]:
    """A number for each body, other than those of the bodies that it meets in a joint: rods that end in one point have
    other radii, or it would be left to rounding which of their round ends is seen."""
    meeting: dict[str, set[str]] = defaultdict(set)
    at_point: dict[tuple[str, bytes], list[str]] = defaultdict(list)
    for joint in system.joints.values():
        frames = joint.frames(system.values)
        names = [joint.parent.name, joint.child.name]
        for own, p, other in zip(names, (frames.p_AJ, frames.p_BJ), reversed(names), strict=True):
            place = at_point[own, (np.round(p, 6) + 0.0).tobytes()]
            place.append(own) if not place else None
            for met in place:
                meeting[met].add(other)
                meeting[other].add(met)
            place.append(other)
    level: dict[str, int] = {}
    for name in system.bodies:
        taken = {level[other] for other in meeting[name] if other in level and other != name}
        level[name] = next(k for k in itertools.count() if k not in taken)
    return level


def _distinct(points: list[np.ndarray]) -> list[np.ndarray]:
    kept: list[np.ndarray] = []
    for p in points:
        if all(np.linalg.norm(p - other) > 1e-9 for other in kept):
            kept.append(p)
    return kept


def _color(color: Any) -> Color:
    r, g, b, *opacity = color
    return float(r), float(g), float(b), float(opacity[0]) if opacity else 1.0


MOST_UNPACKED = 30
"""How many times its size an archive with a mesh may unpack to; text of numbers shrinks to a tenth at most."""


# --- surfaces of shapes ---------------------------------------------------------------------------------------------


def _surface(shape: Shape) -> Surface:
    match shape:
        case Box():
            return box(tuple(shape.size))
        case Sphere():
            return sphere(shape.radius)
        case Cylinder():
            return cylinder(shape.radius, shape.length)
        case Capsule():
            return capsule(shape.radius, shape.length)
        case Cone():
            return cone(shape.radius, shape.length)
        case Ellipsoid():
            return sphere(1.0).scaled(shape.semi_axes)
        case Hull():
            return hull(tuple(map(tuple, shape.points)))
        case HeightField():
            ground = height_field(shape.heights, shape.size, shape.bottom)
            return made(ground.vertices, ground.triangles, smooth=False)
    raise TypeError(f"{shape!r} has no surface")


# --- mesh files -----------------------------------------------------------------------------------------------------


def read_mesh(
    path: str, scale: tuple[float, ...] = (1.0, 1.0, 1.0), unit: str | None = None
) -> list[tuple[Surface, Color | None]]:
    """The surfaces of a mesh file, one a colour; None for what has no colour of its own. unit: of the file, as of `nx.Mesh`.

    Raises what trimesh raises on a damaged file, ValueError where it holds no triangle.
    """
    stamp = Path(path).stat()
    return _read_mesh(path, scale, unit, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=256)
def _read_mesh(
    path: str, scale: tuple[float, ...], unit: str | None, *_stamp: int
) -> list[tuple[Surface, Color | None]]:
    trimesh = need("trimesh", f"drawing the mesh {path}")
    if path.lower().endswith(".dae"):
        need("collada", f"drawing the mesh {path}")
    stl = path.lower().endswith(".stl")
    _refuse_bomb(path)
    scene = trimesh.load_scene(path, process=False)
    parts: dict[Color | None, list[Surface]] = defaultdict(list)
    for node in scene.graph.nodes_geometry:
        X, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
            continue
        v = mesh.vertices @ X[:3, :3].T + X[:3, 3]
        f = mesh.faces if np.linalg.det(X[:3, :3]) > 0.0 else mesh.faces[:, ::-1]
        if stl:
            v, f = _merged(v, f)
        v = v * (_unit(mesh.metadata.get("units")) if unit is None else UNITS[unit])
        if not np.isfinite(v).all() or f.min() < 0 or f.max() >= len(v):
            raise ValueError("its vertices are not finite, or its faces lead beyond them")
        parts[_main_color(mesh.visual)].append(made(v, f, smooth=not stl))
    if not parts:
        raise ValueError("it holds no triangle")
    return [(joined(found).scaled(scale), color) for color, found in parts.items()]


def _refuse_bomb(path: str) -> None:
    """ValueError for an archive that becomes far larger than meshes do, and for XML that may."""
    if path.lower().endswith(".dae") and defines_entities(path):
        raise ValueError("XML that defines entities is not read")
    unpacked = unpacked_size(path)
    if unpacked is not None and unpacked > MOST_UNPACKED * Path(path).stat().st_size:
        raise ValueError(
            f"it is an archive that unpacks to {unpacked / 1e6:.3g} MB, more than {MOST_UNPACKED} times its size"
        )


def _merged(v: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of an STL's triangles, equal ones once."""
    unique, index = np.unique(v.astype(np.float32), axis=0, return_inverse=True)
    return unique, index.reshape(-1)[f]


def _unit(said: Any) -> float:
    """Metres of the unit that a COLLADA file states, "0.01 * meters"."""
    text = str(said or "")
    try:
        return float(text.partition("*")[0]) if text.endswith("* meters") else 1.0
    except ValueError:
        return 1.0


def _main_color(visual: Any) -> Color | None:
    """The one colour that stands for a mesh's colours or its texture."""
    if not visual.defined:
        return None
    if visual.kind == "texture":
        image = getattr(visual.material, "image", None)
        if image is not None:
            r, g, b = np.asarray(image.convert("RGB").resize((8, 8))).reshape(-1, 3).mean(axis=0) / 255.0
            return float(r), float(g), float(b), 1.0
        rgba = visual.material.main_color
    else:
        rgba = np.asarray(visual.vertex_colors).mean(axis=0)
    r, g, b, a = (np.asarray(rgba, dtype=float) / 255.0).round(3).tolist()
    return r, g, b, a if a > 0.05 else 1.0  # exporters write 0 for opaque

"""A system of contacts in other forms that move in the same way, so that no special case of a pair of shapes carries a problem alone.

    swapped     the sides `a` and `b` of its contacts exchanged, its bodies and joints the other way round
    over areas  contacts at points with an elastic foundation in place of their stiffness
    meshed      all that touches as closed meshes of triangles: boxes and hulls as they are, half-spaces as plates, what is round with the
                volume (cylinders: the area across) that it had; contacts must be over areas

A system is copied one kind of element after another; a kind that is not known here is refused.

Meshes are files: those made here lie in a folder of the process, which is removed when it ends.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import itertools
import math
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from nexdyn.errors import InputError, NexDynError
from nexdyn.forces.contact_group import Contact
from nexdyn.forces.contact_law import OF_SIDES
from nexdyn.forces.sphere_contact import SphereContact
from nexdyn.joints import Fixed
from nexdyn.model.body import Body
from nexdyn.model.element import Element
from nexdyn.model.shapes import Box, Cylinder, HalfSpace, Hull, Mesh, Shape, Sphere
from nexdyn.model.system import System

SIDES = (("a", "b"), ("foundation_a", "foundation_b"), ("material_a", "material_b"), *OF_SIDES)
"""Attributes of a contact that belong to one side each."""
FLOOR = "floor"
"""The body that stands for the ground where that is a mesh."""
AS_THEY_ARE = ("coupling", "gravity", "measure", "driver", "event")
"""Kinds of elements that are copied as they are."""
KINDS = frozenset({"body", "joint", "marker", "force", "contact", *AS_THEY_ARE})


def swapped(system: System) -> System:
    """The same system the other way round. A plane and a hollow have a side of their own: forces with these keep it."""
    return _made_again(system, swap=_other_way_round, order=lambda elements: elements[::-1])


def meshed(system: System, across: float = 4.0, around: int = 720, subdivisions: int = 4) -> System:
    """The same system with meshes. across [m]: size of the plate in place of a half-space; around: facets of a cylinder;
    subdivisions: of the icosahedron that becomes a sphere, of 20·4ⁿ triangles. Raises InputError for a contact at points."""

    def collision(body: Body) -> Body:
        shapes = [_mesh(s.resolved(system.values), across, around, subdivisions) for s in body.colliding]
        return body.copied(collision=shapes) if shapes else body.copied()

    def off_ground(contact: Element) -> Element:
        if isinstance(contact, Contact):
            if not contact.over_areas:
                raise InputError(f"{contact} is at points; meshes touch over areas")
            sides = {side: FLOOR for side in "ab" if contact.__dict__[side] == "ground"}
            return contact.copied(**sides)
        return contact.copied()

    return _made_again(system, body=collision, swap=off_ground, floor=across)


def over_areas(
    system: System, foundations: Mapping[str, float], bodies: Mapping[str, Mapping[str, Any]] | None = None,
    side: str = "b", **law: Any,
) -> System:  # fmt: skip
    """The same system with contacts over areas. foundations [N/m³]: by the names of contacts, each of its side `side`; bodies: attributes
    of those that have other ones, as the place of what stands less deep; law: what else these contacts have."""
    bare = {"stiffness": None, "exponent": 1.5, "material_a": None, "material_b": None, **law}

    def soft(contact: Element) -> Element:
        k = foundations.get(contact.name)
        return contact.copied() if k is None else contact.copied(**bare, **{f"foundation_{side}": k})

    def other(body: Body) -> Body:
        return body.copied(**(bodies or {}).get(body.name, {}))

    return _made_again(system, body=other, swap=soft)


# --- the pieces -----------------------------------------------------------------------------------------------------


def _made_again(
    system: System, body: Callable[[Body], Body] = Element.copied, swap: Callable[[Any], Any] = Element.copied,
    order: Callable[[list[Any]], list[Any]] = list, floor: float | None = None,
) -> System:  # fmt: skip
    """A system of copies; the ground is a plate `floor` wide where something touches it. NexDynError for elements that would be lost."""
    if lost := [f"{kind} {name!r}" for kind, found in system.elements.items() if kind not in KINDS for name in found]:
        raise NexDynError(f"system {system.name!r} cannot be made again: nothing here copies {', '.join(lost)}")
    made = System(system.name, system.given_gravity)
    for name, parameter in system.parameters.items():
        made.parameter(name, parameter.value)
    for one in order(list(system.bodies.values())):
        made.add_body(body(one))
    touched = [c for c in system.contacts.values() if "ground" in (c.a, c.b)]
    if floor is not None and touched:
        made.add_body(FLOOR, mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[_mesh(HalfSpace(), floor, 0, 0)])
        made.add_joint(Fixed(FLOOR, "ground", FLOOR))
    for joint in order(list(system.joints.values())):
        made.add_joint(joint.copied(parent=joint.parent.name, child=joint.child.name))
    for marker in system.markers.values():
        made.add_marker(marker.copied(body=marker.body.name))
    for force in system.forces.values():
        if force.part_of is None:
            made.add_force(swap(force))
    for contact in system.contacts.values():
        made.add_contact(swap(contact))
    for kind in AS_THEY_ARE:
        for element in system.elements[kind].values():
            getattr(made, f"add_{kind}")(element.copied())
    return made


def _other_way_round(force: Any) -> Any:
    if isinstance(force, Contact):
        return force.copied(**_exchanged(force, SIDES))
    if isinstance(force, SphereContact) and not force.hollow and force.radius_a > 0.0:
        pairs = (("a", "b"), ("radius_a", "radius_b"), ("anchor_a", "anchor_b"), ("at_a", "at_b"), *OF_SIDES)
        return force.copied(**_exchanged(force, pairs))
    return force.copied()


def _exchanged(force: Any, pairs: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return {to: force.__dict__[of] for pair in pairs for to, of in (pair, pair[::-1]) if of in force.__dict__}


def _mesh(shape: Shape, across: float, around: int, subdivisions: int) -> Shape:
    """The mesh of a resolved shape, where and how that lies."""
    placed = {"position": shape.position, "orientation": shape.orientation, "name": shape.name}
    match shape:
        case Mesh():
            return shape
        case HalfSpace():
            half = 0.5 * across
            corners = np.array(list(itertools.product((-half, half), (-half, half), (-half, 0.0))))
        case Box():
            corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * shape.size
        case Hull():
            corners = np.array(shape.points)
        case Sphere():
            corners = shape.radius * ball(subdivisions)
        case Cylinder():
            return replace(wheel(shape.radius, shape.length, around), **placed)
        case _:
            raise InputError(f"{shape} has no mesh here")
    return replace(mesh_of(corners, triangles_about(corners)), **placed)


def circle(radius: float, around: int) -> np.ndarray:
    """A polygon of `around` corners (around, 2) with the area of a circle."""
    angle = 2.0 * np.pi / around * np.arange(around)
    out = radius / math.sqrt(0.5 * around / math.pi * math.sin(2.0 * math.pi / around))
    return out * np.column_stack([np.cos(angle), np.sin(angle)])


def between_rings(lower: int, upper: int, n: int) -> list[tuple[int, int, int]]:
    """Triangles between two rings of n corners that begin at `lower` and `upper`; seen from outside a cylinder `upper` is above."""
    found = []
    for i in range(n):
        j = (i + 1) % n
        found += [(lower + i, lower + j, upper + j), (lower + i, upper + j, upper + i)]
    return found


def wheel(radius: float, length: float, around: int) -> Mesh:
    """A cylinder about z of flat facets; small triangles at its rims, so that what is near them is found at once."""
    rim, half = circle(radius, around), 0.5 * length
    rings = [(0.9 * rim, -half), (rim, -half), (rim, half), (0.9 * rim, half)]
    corners = np.vstack(
        [np.column_stack([xy, np.full(around, z)]) for xy, z in rings] + [[(0.0, 0.0, -half), (0.0, 0.0, half)]]
    )
    triangles = [t for k in range(3) for t in between_rings(k * around, (k + 1) * around, around)]
    for i in range(around):
        j = (i + 1) % around
        triangles += [(j, i, 4 * around), (3 * around + i, 3 * around + j, 4 * around + 1)]
    return mesh_of(corners, np.array(triangles))


def tube(inner: float, outer: float, length: float, around: int) -> Mesh:
    """A ring about z, whose hollow of flat facets has the area across of a round one; it is not convex."""
    hollow, rim, half = circle(inner, around), circle(outer, around), 0.5 * length
    rings = [(rim, -half), (rim, half), (hollow, half), (hollow, -half)]
    corners = np.vstack([np.column_stack([xy, np.full(around, z)]) for xy, z in rings])
    triangles = [t for k in range(4) for t in between_rings(k * around, (k + 1) % 4 * around, around)]
    return mesh_of(corners, np.array(triangles))


def grooved(depth: float, length: float) -> Mesh:
    """A bar along x with a groove of 90° along its upper face, z = 0; it is not convex."""
    outline = [(-depth, 0.0), (-depth, -2.0 * depth), (depth, -2.0 * depth), (depth, 0.0), (0.0, -depth)]
    corners = np.array([(x, y, z) for x in (-0.5 * length, 0.5 * length) for y, z in outline])
    ends = [(0, 1, 4), (1, 2, 4), (2, 3, 4)]  # seen from +x
    triangles = [(a, c, b) for a, b, c in ends] + [(a + 5, b + 5, c + 5) for a, b, c in ends]
    return mesh_of(corners, np.array([*triangles, *between_rings(0, 5, 5)]))


@functools.lru_cache(maxsize=8)
def ball(subdivisions: int) -> np.ndarray:
    """Points of a sphere (n, 3) whose hull, of 20·4ˢ facets, has the volume of a ball of radius 1."""
    golden = 0.5 * (1.0 + math.sqrt(5.0))
    points = np.array([(0.0, i, j * golden) for i in (-1.0, 1.0) for j in (-1.0, 1.0)])
    points = np.vstack([np.roll(points, k, axis=1) for k in range(3)])
    points /= np.linalg.norm(points[0])
    for _ in range(subdivisions):
        faces = ConvexHull(points).simplices
        edges = np.unique(np.sort(np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
        middles = points[edges].sum(axis=1)
        points = np.vstack([points, middles / np.linalg.norm(middles, axis=1)[:, None]])
    return np.asarray(points * (4.0 / 3.0 * math.pi / ConvexHull(points).volume) ** (1.0 / 3.0))


def triangles_about(corners: np.ndarray) -> np.ndarray:
    """The triangles of a convex hull (n, 3), their corners counter-clockwise from outside."""
    hull = ConvexHull(corners)
    found = hull.simplices.copy()
    p = corners[found]
    inward = np.einsum("ni,ni->n", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), hull.equations[:, :3]) < 0.0
    found[inward] = found[inward][:, ::-1]
    return np.asarray(found)


def mesh_of(corners: np.ndarray, triangles: np.ndarray) -> Mesh:
    """A mesh of corners (n, 3) [m] and triangles (m, 3), as a file with all their digits."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(corners, dtype=float).tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(triangles).tolist()]
    text = "\n".join(lines) + "\n"
    path = _folder() / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.obj"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return Mesh(str(path))


@functools.cache
def _folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix="nexdyn-meshes-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made

"""Contact between bodies that names and patterns choose, by their collision shapes: a force for each place where two may touch.

    sphere on a half-space          one point                    capsule on a half-space     one point at each end
    box, hull on a half-space       one point at each corner     sphere and sphere           one point

The shapes are a body's `collision`, or its `shapes` where that is None. Those of the ground are the half-space z ≤ 0 of the world.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.contact import ContactForce
from nexdyn.forces.contact_law import LAW, ContactLaw
from nexdyn.forces.plane_contact import PlaneContact
from nexdyn.forces.sphere_contact import SphereContact
from nexdyn.model.between_bodies import BetweenBodies
from nexdyn.model.body import Body
from nexdyn.model.force import Force
from nexdyn.model.shapes import Box, Capsule, HalfSpace, Hull, Shape, Sphere
from nexdyn.spatial.rotations import rotation_matrix

if TYPE_CHECKING:
    from nexdyn.model.system import System

Places = list[tuple[str, dict[str, Any]]]
"""Of each place where two shapes may touch: what is added to the name, and where and how large the force is."""


class Contact(ContactLaw, BetweenBodies):
    """Contact between every pair of a body of `a` and a body of `b`, by their collision shapes.

    a, b: a body or its name, 'ground' among them, or a pattern of names ("*_foot"), or several of these (b: the ground by default).
    Pairs that a joint joins are left out, with the ground only where it is Fixed, and those that `no_collision` of one of them names;
    not so where both bodies are named in full. stiffness [N/mᵉ], of each point of contact, exponent, damping or restitution and
    impact_speed, friction and what belongs to it: :class:`ContactLaw`.

    Spheres, capsules, boxes (each corner is a point) and hulls may touch a half-space, and spheres each other. The ground is the
    half-space z ≤ 0 of the world. `system.forces` has a force for each place where two shapes may touch, named "feet left_foot ground";
    `result.contacts("feet")` tells of all of them.

    Raises InputError for a pattern that matches nothing, bodies without shapes, and shapes that know no contact with each other.
    """

    kind = "contact"

    def __init__(self, name: str, a: Any, b: Any = "ground", **law: Any) -> None:
        super().__init__(name, a=a, b=b, **law)

    def check(self, values: Mapping[str, float]) -> None:
        self.law(values)

    def members(self, system: System) -> list[Force]:
        law = {attribute: self.__dict__[attribute] for attribute in LAW}
        found: list[Force] = []
        for a, b in self.pairs(system):
            sides = self._shapes(system, a), self._shapes(system, b)
            for (i, A), (j, B) in itertools.product(*map(enumerate, sides)):
                label_a, label_b = _label(a, A, i, len(sides[0])), _label(b, B, j, len(sides[1]))
                places = meeting(A, B)
                if places is None:
                    raise InputError(
                        f"{self}: {_told(A, a)} and {_told(B, b)} know no contact with each other; spheres, capsules, boxes and hulls "
                        "touch half-spaces, and spheres each other: give one of the bodies a collision=[…] of these"
                    )
                kind, turned, more = places
                make: Any = kind
                ends = (b.name, a.name) if turned else (a.name, b.name)
                for suffix, place in more:
                    found.append(make(f"{self.name} {label_a} {label_b}{suffix}", *ends, **place, **law))
        return found

    def _shapes(self, system: System, body: Body) -> list[Shape]:
        if body.is_ground:
            return [HalfSpace()]
        if not body.colliding:
            raise InputError(f"{self}: {body} has no shapes that could touch; give it a collision=[nx.Sphere(…)]")
        return [shape.resolved(system.values) for shape in body.colliding]


def meeting(A: Shape, B: Shape) -> tuple[type[ContactForce], bool, Places] | None:
    """What acts between two shapes: the force, whether B comes first, and its places; None where none is known."""
    if isinstance(A, Sphere) and isinstance(B, Sphere):
        place = {"radius_a": A.radius, "radius_b": B.radius, "anchor_a": A.position, "anchor_b": B.position}
        return SphereContact, False, [("", place)]
    for turned, solid, other in ((False, A, B), (True, B, A)):
        if isinstance(other, HalfSpace) and (places := _on_plane(solid)) is not None:
            plane = {"anchor_b": other.position, "normal": tuple(_axes(other)[:, 2].tolist())}
            return PlaneContact, turned, [(suffix, place | plane) for suffix, place in places]
    return None


def _on_plane(shape: Shape) -> Places | None:
    """Places where a shape may touch a plane."""
    match shape:
        case Sphere():
            return [("", {"radius": shape.radius, "anchor_a": shape.position})]
        case Capsule():
            axis = tuple(_axes(shape)[:, 2].tolist())
            return [("", {"radius": shape.radius, "length": shape.length, "axis": axis, "anchor_a": shape.position})]
        case Box():
            corners = [np.multiply(signs, shape.size) for signs in itertools.product((-0.5, 0.5), repeat=3)]
        case Hull():
            from scipy.spatial import ConvexHull

            points = np.array(shape.points)
            corners = list(points[np.sort(ConvexHull(points).vertices)])
        case _:
            return None
    R, p = _axes(shape), np.array(shape.position)
    return [(f" corner {k}", {"anchor_a": tuple((p + R @ x).tolist())}) for k, x in enumerate(corners, start=1)]


def _axes(shape: Shape) -> np.ndarray:
    return rotation_matrix(np.array(shape.orientation))


def _label(body: Body, shape: Shape, i: int, count: int) -> str:
    return body.name if count == 1 else f"{body.name}.{shape.name or i + 1}"


def _told(shape: Shape, body: Body) -> str:
    return f"the ground's {shape}" if body.is_ground else f"{shape} of {body}"

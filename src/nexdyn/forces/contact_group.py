"""Contact between bodies that names and patterns choose, by their collision shapes: a force for each place where two may touch.

    sphere on a half-space          one point                    capsule on a half-space     one point at each end
    box on a half-space             one point at each corner     sphere and sphere           one point
    hull on a half-space            one point at each of its points
    ellipsoid on a half-space       one point                    cylinder on a half-space    one line, or one end    (``touched``)
    sphere and box, hull, capsule, cylinder, cone or ellipsoid   one point (``ball``)
    capsule and capsule, box, hull, cylinder, cone or ellipsoid  two points that share a force, one where they cross (``capsule_press``)

With a foundation instead of a stiffness all shapes touch each other over areas, one force for each pair:

    boxes, hulls, half-spaces, each other        ``surface_contact``
    spheres, each other and those                ``ball``
    other round ones on half-spaces              ``sunk``
    closed meshes and height fields, and all else, by triangles: round shapes have facets then       ``mesh_overlap``

The shapes are a body's `collision`, or its `shapes` where that is None. Those of the ground are the half-space z ≤ 0 of the world.

Where the materials of both are given instead of a stiffness, it is that of Hertz for the spheres that meet there,

    f_n = 4/3 E* √R δ^1.5,   1/R = 1/r_a + 1/r_b         (E*: ``model.materials``; a plane has no curvature)

with that of its curvatures at the place where an ellipsoid touches, and along its line of a cylinder (``touched``); with R =
`hertz_radius` where a sphere touches the side of a cylinder or a capsule, so also where it touches their ends; with that of crossed
cylinders, by the angle of their axes, of a capsule with one of these (``capsule_press``), and that of its ends with flat faces; and
Mindlin's part of it along the surfaces, 4 G*/E*, and where no friction is given that of the two materials: what one has against the other,
else √(μ_a μ_b). Each end of a capsule is a sphere, also where the capsule lies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.checked_calls import signature_of
from nexdyn.errors import InputError, warn
from nexdyn.forces.ball_contact import BallContact
from nexdyn.forces.between import non_negative, positive
from nexdyn.forces.capsule_contact import CapsuleContact
from nexdyn.forces.contact import ContactForce
from nexdyn.forces.contact_law import LAW, OF_SIDES, VELOCITIES, ContactLaw, check_along, is_nothing
from nexdyn.forces.foundations import RESISTANCES
from nexdyn.forces.mesh_contact import MeshContact
from nexdyn.forces.mesh_solid import is_meshed, triangles_of
from nexdyn.forces.plane_contact import PlaneContact
from nexdyn.forces.round_contact import RoundContact, reach_of
from nexdyn.forces.sphere_contact import SphereContact
from nexdyn.forces.surface_contact import SurfaceContact
from nexdyn.model.between_bodies import BetweenBodies
from nexdyn.model.body import Body
from nexdyn.model.force import Force
from nexdyn.model.materials import Material, contact_modulus, friction_between, material_of, shear_part
from nexdyn.model.once import once
from nexdyn.model.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Hull,
    Shape,
    Sphere,
)
from nexdyn.spatial.rotations import rotation_matrix

if TYPE_CHECKING:
    from nexdyn.model.system import System

SIDED = tuple(x for pair in OF_SIDES for x in pair)
DEFAULTS = {name: parameter.default for name, parameter in signature_of(ContactLaw).parameters.items()}
"""What an attribute of the law is that is not given."""

Places = list[tuple[str, dict[str, Any]]]
"""Of each place where two shapes may touch: what is added to the name, and where and how large the force is."""


class Contact(ContactLaw, BetweenBodies):
    """Contact between every pair of a body of `a` and a body of `b`, by their collision shapes.

    a, b: a body or its name, 'ground' among them, or a pattern of names ("*_foot"), which the ground matches never, or several of these
    (b: the ground by default). Bodies, joints and markers that are added later count as well.
    Pairs that a joint joins are left out, with the ground only where it is Fixed, and those that `no_collision` of one of them names;
    not so where both bodies are named in full. stiffness [N/mᵉ], of each point of contact, exponent, damping or restitution and
    impact_speed, friction and what belongs to it, surface_velocity_a and surface_velocity_b: :class:`ContactLaw`; these are in the axes of
    each body of `a` and of `b`, of the ground in those of the world; so are friction_direction_a and friction_direction_b.

    rolling_resistance, turning_resistance [m]: what resists the rolling of one body on the other, and its turning about the normal, sticks
    as friction does, up to a torque of so much times the normal force, at points of spheres and of the ends of capsules, and over all
    areas. A ball of radius r stays on a slope up to tan φ = rolling_resistance/r. Friction over an area resists turning by itself, too.

    foundation_a, foundation_b [N/m³]: instead of stiffness, of an elastic layer on the bodies of `a` and of `b`, either or both: pressure
    grows with the depth. All shapes then touch each other over areas; meshes must be closed. Spheres with spheres, boxes, hulls and
    half-spaces, and all round shapes on half-spaces are exact; in all other pairs a round shape has flat facets, 96 around cylinders and
    cones, 64 around others.

    material_a, material_b: the materials of the bodies of `a` and of `b`, each by name ("steel", one of `nx.materials()`) or as
    nx.Material. They set what is not given: by Hertz and Mindlin the stiffness, where there is no foundation and no normal_force either,
    and its friction_stiffness; and the friction, which must be given where one of them has none.

    Spheres, capsules, boxes (each corner is a point), hulls, ellipsoids and cylinders (a line, or an end) may touch a half-space, and
    spheres and capsules each other and boxes, hulls, cylinders, cones and ellipsoids. stiffness of a cylinder is that of its whole line,
    and of a whole end; of a capsule that of each end where it lies, and of the place where it crosses another
    body. The ground is the half-space z ≤ 0 of the world.
    `system.forces` has a force for each place where two shapes may touch, named "feet left_foot ground";
    `result.contacts("feet")` tells of all of them.

    Raises InputError for a pattern that matches nothing, bodies without shapes, and shapes that know no contact with each other.
    """

    kind = "contact"
    structural = BetweenBodies.structural | {"material_a", "material_b", "normal_force"}
    foundation_a: Any
    foundation_b: Any
    material_a: Any
    material_b: Any
    rolling_resistance: Any
    turning_resistance: Any

    def __init__(
        self,
        name: str,
        a: Any,
        b: Any = "ground",
        *,
        stiffness: Any = None,
        foundation_a: Any = None,
        foundation_b: Any = None,
        material_a: str | Material | None = None,
        material_b: str | Material | None = None,
        friction: Any = None,
        friction_stiffness: Any = None,
        rolling_resistance: Any = 0.0,
        turning_resistance: Any = 0.0,
        **law: Any,
    ) -> None:
        super().__init__(
            name, a=a, b=b, stiffness=stiffness, friction=friction, friction_stiffness=friction_stiffness, **law
        )
        self._store(
            foundation_a=foundation_a, foundation_b=foundation_b, material_a=material_a, material_b=material_b,
            rolling_resistance=rolling_resistance, turning_resistance=turning_resistance,
        )  # fmt: skip

    @property
    def over_areas(self) -> bool:
        """Whether its bodies touch over areas, by foundations."""
        return self.foundation_a is not None or self.foundation_b is not None

    @property
    def resists(self) -> bool:
        """Whether it resists rolling or turning."""
        return not all(is_nothing(self.__dict__[x]) for x in RESISTANCES)

    def check(self, values: Mapping[str, float]) -> None:
        for name in RESISTANCES:
            non_negative(self, name, values)
        if self.stiffness is not None and (self.material_a is not None or self.material_b is not None):
            raise InputError(f"{self} has a stiffness, and a material, from which one follows; give one of them")
        if (self.material_a is None) != (self.material_b is None):
            side = "b" if self.material_b is None else "a"
            raise InputError(f"{self} has a material of one side; give material_{side} as well")
        if self.over_areas:
            for name in ("stiffness", "normal_force"):
                if self.__dict__[name] is not None:
                    raise InputError(f"{self} has a foundation, over areas, and {name}, of points; give one of them")
            if self.number_of("exponent", values) != DEFAULTS["exponent"]:
                raise InputError(
                    f"exponent of {self} is {self.exponent}; the pressure of a foundation is linear: leave it out"
                )
            for name in ("foundation_a", "foundation_b"):
                if self.__dict__[name] is not None:
                    positive(self, name, values)
        self.law_between(values, 1.0).law(values)

    def law_between(self, values: Mapping[str, float], radius: float) -> ContactLaw:
        """The law between surfaces of the relative radius [m], all of its attributes given."""
        given = {attribute: self.__dict__[attribute] for attribute in LAW}
        if self.over_areas:
            given |= {"stiffness": 1.0, "exponent": 1.0}
        elif self.stiffness is None and self.normal_force is None and self.material_a is None:
            raise InputError(
                f"{self} has no stiffness; give one, or material_a and material_b, or foundation_a or foundation_b for areas, or a "
                "normal_force, a function (depth, rate)"
            )
        if self.material_a is not None:
            a, b = (
                material_of(self.__dict__[x], f"{x} of {self}").numbers(values) for x in ("material_a", "material_b")
            )
            if not self.over_areas and self.normal_force is None:
                if self.number_of("exponent", values) != 1.5:
                    raise InputError(f"exponent of {self} is {self.exponent}; between materials it is 1.5, by Hertz")
                given["stiffness"] = 4.0 / 3.0 * contact_modulus(a, b) * math.sqrt(radius)
                if given["friction_stiffness"] is None:
                    given["friction_stiffness"] = shear_part(a, b)
            if given["friction"] is None:
                mu = friction_between(a, b)
                if mu is None:
                    raise InputError(f"{self} has no friction, nor have its materials; give it friction, 0.0 for none")
                given["friction"] = mu
                if given["static_friction"] is None and given["friction_speed"] is None:
                    given["static_friction"] = mu  # a value of 0 has states too: a parameter may change it
        given |= {attribute: self.__dict__[attribute] for attribute in SIDED}
        return _Law(self.name, **{x: DEFAULTS[x] if value is None else value for x, value in given.items()})

    def _sided(self, turned: bool, values: Mapping[str, float], *shapes: Shape) -> dict[str, Any]:
        """What belongs to one side each, for a force whose sides are `turned`. InputError for a surface that leaves its plane."""
        for attribute, shape in zip(VELOCITIES, shapes, strict=True):
            if isinstance(shape, HalfSpace):
                check_along(self, attribute, _axes(shape)[:, 2], values)
        return {
            to: self.__dict__[attribute]
            for pair in OF_SIDES
            for to, attribute in zip(pair, pair[::-1] if turned else pair, strict=True)
        }

    def members(self, system: System) -> list[Force]:
        found: list[Force] = []
        laws: dict[float, dict[str, Any]] = {}
        for a, b in self.pairs(system):
            sides = self._shapes(system, a), self._shapes(system, b)
            for (label_a, A), (label_b, B) in itertools.product(_labelled(a, sides[0]), _labelled(b, sides[1])):
                if self.over_areas:
                    found.append(self._over_area(f"{self.name} {label_a} {label_b}", system, (a, A), (b, B)))
                    continue
                swapped = label_b < label_a
                places = meeting(A, B, self.resists, swapped)
                if places is None and self.resists and meeting(A, B, False, swapped) is not None:
                    raise InputError(
                        f"{self} resists rolling or turning, which {_told(A, a)} and {_told(B, b)} do not on corners; leave that out, or "
                        "give foundation_a or foundation_b, by which they touch over areas"
                    )
                if places is None:
                    raise InputError(
                        f"{self}: contact between {_told(A, a)} and {_told(B, b)} is not supported; spheres, capsules, boxes, hulls, "
                        "ellipsoids and cylinders touch half-spaces, and spheres and capsules all but meshes and height fields: give "
                        "foundation_a or foundation_b, by which all shapes touch each other over areas, or give one of the bodies a "
                        "collision=[…] of these"
                    )
                kind, turned, more = places
                make: Any = kind
                ends = [_end(system, x) for x in (a, b)]
                ends = ends[::-1] if turned else ends
                given = self._sided(turned, system.values, A, B)
                if self.resists:
                    given |= {x: self.__dict__[x] for x in RESISTANCES}
                if kind is RoundContact:
                    law = self._round_law(system.values, B if turned else A, turned)
                    found.append(make(f"{self.name} {label_a} {label_b}", *ends, **more[0][1], **law, **given))
                    continue
                if kind is CapsuleContact:
                    law = self._capsule_law(system.values, (a, A), (b, B), turned)
                    found.append(make(f"{self.name} {label_a} {label_b}", *ends, **more[0][1], **law, **given))
                    continue
                for suffix, place in more:
                    radius = relative_radius(place)
                    if self.stiffness is None and self.normal_force is None and radius == 0.0:
                        raise InputError(
                            f"{self}: {_told(A, a)} and {_told(B, b)} have no radius for the law of Hertz, for corners have none, and "
                            "those of cones and ellipsoids differ from place to place; give a stiffness"
                        )
                    if radius not in laws:
                        one = self.law_between(system.values, radius)
                        laws[radius] = {attribute: one.__dict__[attribute] for attribute in LAW}
                    found.append(
                        make(f"{self.name} {label_a} {label_b}{suffix}", *ends, **place, **laws[radius], **given)
                    )
        return found

    def _round_law(self, values: Mapping[str, float], solid: Shape, turned: bool) -> dict[str, Any]:
        """The law at a point of an ellipsoid, or along a line of a cylinder, which is of `b` where `turned`, on a half-space."""
        one = self.law_between(values, 1.0)
        law: dict[str, Any] = {attribute: one.__dict__[attribute] for attribute in LAW}
        if isinstance(solid, Cylinder) and self.normal_force is not None:
            raise InputError(
                f"{self}: a cylinder touches a half-space along a line, and normal_force is of points; give a stiffness, materials, or "
                "foundation_a or foundation_b"
            )
        if self.stiffness is None and self.normal_force is None:
            law["hertz"] = 1.0
            if isinstance(solid, Cylinder):
                own, below = (
                    material_of(self.__dict__[f"material_{x}"], f"material_{x} of {self}").numbers(values)
                    for x in ("ba" if turned else "ab")
                )
                law |= {
                    "stiffness": contact_modulus(own, below),
                    "exponent": 1.0,
                    "hertz": reach_of(solid, own, below),
                }
        return law

    def _capsule_law(
        self, values: Mapping[str, float], one: tuple[Body, Shape], two: tuple[Body, Shape], turned: bool
    ) -> dict[str, Any]:
        """The law between a capsule, which is of `two` where `turned`, and the other of them."""
        (a, A), (b, B) = one, two
        if self.normal_force is not None:
            raise InputError(
                f"{self}: {_told(A, a)} and {_told(B, b)} touch at two points that share their force, and normal_force is of one; give a "
                "stiffness, materials, or foundation_a or foundation_b"
            )
        capsule, other = (B, A) if turned else (A, B)
        assert isinstance(capsule, Capsule)
        law = self.law_between(values, capsule.radius if isinstance(other, Box | Hull) else 1.0)
        given = {attribute: law.__dict__[attribute] for attribute in LAW}
        if self.stiffness is None:
            if isinstance(other, Capsule | Cylinder):
                given["hertz"] = hertz_radius(1.0 / capsule.radius, 1.0 / capsule.radius + 1.0 / other.radius)
            elif isinstance(other, Cone | Ellipsoid):
                raise InputError(
                    f"{self}: {_told(A, a)} and {_told(B, b)} have no radius for the law of Hertz, for those of cones and ellipsoids "
                    "differ from place to place; give a stiffness"
                )
        return given

    def _over_area(self, name: str, system: System, *sides: tuple[Body, Shape]) -> Force:
        """The force between two bodies and their shapes by foundations."""
        if all(isinstance(shape, HalfSpace) for _, shape in sides):
            one, other = (_told(shape, body) for body, shape in sides)
            raise InputError(f"{self}: {one} and {other} have no end, and touch always; one must have another shape")
        law = self.law_between(system.values, 1.0)
        given = {attribute: law.__dict__[attribute] for attribute in LAW if attribute not in ("stiffness", "exponent")}
        foundations = [self.foundation_a, self.foundation_b]
        turned = _turned(*(shape for _, shape in sides))
        given |= self._sided(turned, system.values, *(shape for _, shape in sides))
        given |= {x: self.__dict__[x] for x in RESISTANCES}
        if turned:
            sides, foundations = sides[::-1], foundations[::-1]
        (a, A), (b, B) = sides
        given |= {"foundation_a": foundations[0], "foundation_b": foundations[1]}
        ends = _end(system, a), _end(system, b)
        if isinstance(A, Sphere) and isinstance(B, Sphere | Box | Hull | HalfSpace):
            # as a force over an area of a sphere begins
            return BallContact(name, *ends, radius=A.radius, anchor_a=A.position, solid=B, exponent=2.0, **given)
        if all(isinstance(shape, Box | Hull | HalfSpace) for _, shape in sides):
            return SurfaceContact(name, *ends, solid_a=A, solid_b=B, **given)
        if isinstance(A, ROUND) and isinstance(B, HalfSpace):
            return RoundContact(name, *ends, solid_a=A, solid_b=B, **given)
        for body, shape in sides:
            if is_meshed(shape):
                if not triangles_of(shape).closed:
                    raise InputError(
                        f"{self}: {_told(shape, body)} is open, and has no depth; close it, or give the body hulls"
                    )
                for note in triangles_of(shape).notes:
                    warn(f"{self}: {_told(shape, body)}: {note}; what lies in two of its parts counts twice")
        return MeshContact(name, *ends, solid_a=A, solid_b=B, **given)

    def _shapes(self, system: System, body: Body) -> list[Shape]:
        if body.is_ground:
            return [HalfSpace()]
        if not body.colliding:
            raise InputError(f"{self}: {body} has no shapes that could touch; give it a collision=[nx.Sphere(…)]")
        values = system.values
        return once("shapes", lambda: [shape.resolved(values) for shape in body.colliding], body, values)


ROUND = Cylinder | Cone | Capsule | Ellipsoid
"""Round shapes other than spheres."""


def _turned(A: Shape, B: Shape) -> bool:
    """Whether a force over an area begins with the second of two shapes: with a sphere, or with what is round on a half-space."""
    if isinstance(A, Sphere):
        return False
    return isinstance(B, Sphere) or (isinstance(B, ROUND) and isinstance(A, HalfSpace))


class _Law(ContactLaw):
    """The law of a contact between two surfaces."""

    kind_of_element = "contact"


def meeting(A: Shape, B: Shape, resists: bool, swapped: bool) -> tuple[type[ContactForce], bool, Places] | None:
    """The class of the contact force between two shapes, which may resist rolling, whether B is its body a, and its places; None if there
    is none. Of two capsules the shorter, then the thinner one is of body a; of two that are alike that of B where `swapped`."""
    if isinstance(A, Capsule) and isinstance(B, Capsule):
        sizes_a, sizes_b = (A.length, A.radius), (B.length, B.radius)
        turned = sizes_b < sizes_a or (sizes_b == sizes_a and swapped)
        return CapsuleContact, turned, [("", {"solid_a": B if turned else A, "solid_b": A if turned else B})]
    for turned, solid, other in ((False, A, B), (True, B, A)):
        if isinstance(solid, Capsule) and isinstance(other, Box | Hull | Cylinder | Cone | Ellipsoid):
            return CapsuleContact, turned, [("", {"solid_a": solid, "solid_b": other})]
    if resists:
        return _rolling(A, B)
    if isinstance(A, Sphere) and isinstance(B, Sphere):
        place = {"radius_a": A.radius, "radius_b": B.radius, "anchor_a": A.position, "anchor_b": B.position}
        return SphereContact, False, [("", place)]
    for turned, solid, other in ((False, A, B), (True, B, A)):
        if isinstance(solid, Sphere) and isinstance(other, Box | Hull | Capsule | Cylinder | Cone | Ellipsoid):
            return BallContact, turned, [("", {"radius": solid.radius, "anchor_a": solid.position, "solid": other})]
        if isinstance(other, HalfSpace) and isinstance(solid, Ellipsoid | Cylinder):
            return RoundContact, turned, [("", {"solid_a": solid, "solid_b": other})]
        if isinstance(other, HalfSpace) and (places := _on_plane(solid)) is not None:
            plane = {"anchor_b": other.position, "normal": tuple(_axes(other)[:, 2].tolist())}
            return PlaneContact, turned, [(suffix, place | plane) for suffix, place in places]
    return None


def _rolling(A: Shape, B: Shape) -> tuple[type[ContactForce], bool, Places] | None:
    """The same of two shapes that may roll on each other: all by spheres."""
    for turned, solid, other in ((False, A, B), (True, B, A)):
        if isinstance(solid, Sphere) and isinstance(
            other, HalfSpace | Sphere | Box | Hull | Capsule | Cylinder | Cone | Ellipsoid
        ):
            return BallContact, turned, [("", {"radius": solid.radius, "anchor_a": solid.position, "solid": other})]
        if isinstance(other, HalfSpace) and isinstance(solid, Ellipsoid | Cylinder):
            return RoundContact, turned, [("", {"solid_a": solid, "solid_b": other})]
        if isinstance(solid, Capsule) and isinstance(other, HalfSpace):
            p, half = np.array(solid.position), 0.5 * solid.length * _axes(solid)[:, 2]
            ends = [tuple((p + sign * half).tolist()) for sign in (1.0, -1.0)]
            return (
                BallContact,
                turned,
                [
                    (f" end {i}", {"radius": solid.radius, "anchor_a": x, "solid": other})
                    for i, x in enumerate(ends, start=1)
                ],
            )
    return None


def relative_radius(place: Mapping[str, Any]) -> float:
    """R of the spheres, or the sphere and the plane, that meet; 0 of a point, and where it differs from place to place."""
    match place.get("solid"):
        case Capsule() | Cylinder() as round_:
            return hertz_radius(1.0 / place["radius"], 1.0 / place["radius"] + 1.0 / round_.radius)
        case Cone() | Ellipsoid():
            return 0.0
        case Sphere() as other:
            return float(1.0 / (1.0 / place["radius"] + 1.0 / other.radius))
    if "radius_b" in place:
        return float(1.0 / (1.0 / place["radius_a"] + 1.0 / place["radius_b"]))
    return float(place.get("radius", 0.0))


ALIKE = 1e-4
"""Part by which two curvatures may differ and count as one."""


def hertz_factors(least: float, most: float) -> tuple[float, float]:
    """F₁, F₂ of Hertz's ellipse for relative curvatures in two directions across each other, least < most (Johnson, section 4.2)."""
    from scipy.optimize import brentq
    from scipy.special import ellipe, ellipkm1

    def parts(log: float) -> tuple[float, float, float, float]:  # of ln(b/a): (b/a)², K, (a/b)² E − K, K − E
        m1 = math.exp(2.0 * log)
        K, E = float(ellipkm1(m1)), float(ellipe(1.0 - m1))
        return m1, K, E / m1 - K, K - E

    def off(log: float) -> float:
        _, _, p, q = parts(log)
        return math.log(p / q) - math.log(most / least)

    m1, K, p, q = parts(float(brentq(off, -100.0, -1e-5, xtol=1e-14, rtol=1e-14)))
    first = (4.0 / (math.pi * (1.0 - m1)) * m1**0.75 * math.sqrt(p * q)) ** (1.0 / 3.0)
    return first, 2.0 / math.pi * m1**0.25 * K / first


def hertz_radius(one: float, other: float) -> float:
    """R of f = 4/3 E* √R δ^1.5 between surfaces with the relative curvatures [1/m] in two directions across each other.

    With the semi-axes a ≥ b of the ellipse of contact, e² = 1 − b²/a², and K and E the complete elliptic integrals of e,

        ((a/b)² E − K)/(K − E) = B/A,   A ≤ B: half the curvatures                       (Johnson, Contact Mechanics, 1985, 4.2)
        √R = √R_e F₂^−1.5,   R_e = 1/(2 √(A B)),   F₂ = 2/π √(b/a) K/F₁,   F₁³ = 4/(π e²) (b/a)^1.5 √(((a/b)² E − K)(K − E))
    """
    least, most = sorted((one, other))
    mean = 1.0 / math.sqrt(least * most)
    if most - least < ALIKE * most:  # the error is of second order
        return mean
    return mean / hertz_factors(least, most)[1] ** 3


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
            corners = list(np.array(shape.points))
        case _:
            return None
    R, p = _axes(shape), np.array(shape.position)
    return [(f" corner {k}", {"anchor_a": tuple((p + R @ x).tolist())}) for k, x in enumerate(corners, start=1)]


def _end(system: System, body: Body) -> str:
    """How a force names a body, where a marker may have its name."""
    return f"body:{body.name}" if body.name in system.markers else body.name


def _axes(shape: Shape) -> np.ndarray:
    return rotation_matrix(np.array(shape.orientation))


def _labelled(body: Body, shapes: list[Shape]) -> list[tuple[str, Shape]]:
    """The shapes of a body with what they are called: by the body where it has one, else by their names or numbers."""
    if len(shapes) == 1:
        return [(body.name, shapes[0])]
    names = [shape.name for shape in shapes]
    alone = all(name and not name.isdecimal() and names.count(name) == 1 for name in names)
    return [
        (f"{body.name}.{name if alone else i}", shape)
        for i, (name, shape) in enumerate(zip(names, shapes, strict=True), 1)
    ]


def _told(shape: Shape, body: Body) -> str:
    return f"the ground's {shape}" if body.is_ground else f"{shape} of {body}"

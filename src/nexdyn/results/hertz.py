"""The area and the largest pressure at a contact point whose law is that of Hertz, from the depth and the normal force.

    A = π a b = π R_e F₁²/F₂ δ,   p₀ = 3/2 f_n/A        a, b: the semi-axes of the ellipse (Johnson, Contact Mechanics, 1985, 4.2)
    of spheres, and a sphere on a plane, R_e = R, F₁ = F₂ = 1:  a² = R δ

R_e, F₁ and F₂ are those of ``forces.contact_group.hertz_radius``. A is that of the depth at rest; a normal force that damping changes
makes p₀ larger and smaller in proportion. The mean pressure is f_n/A = 2/3 p₀.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from nexdyn.forces import ContactForce
from nexdyn.forces.ball_contact import BallContact
from nexdyn.forces.capsule_contact import CapsuleContact
from nexdyn.forces.contact import seen_in
from nexdyn.forces.contact_group import ALIKE, hertz_factors
from nexdyn.forces.foundations import Foundations
from nexdyn.model.shapes import Capsule, Cone, Cylinder, Ellipsoid, Sphere

EXPONENT = 1.5


def put_hertz(contact: ContactForce, values: Mapping[str, float], table: np.ndarray) -> None:
    """Fill area and pressure of points by Hertz's law into what is recorded of them (n, points, columns)."""
    per_depth = area_per_depth(contact, values)
    if not per_depth > 0.0:
        return
    seen = seen_in(table)
    pressed = (seen.depth > 0.0) & (seen.normal_force > 0.0)
    area = np.where(pressed, per_depth * seen.depth, 0.0)
    seen.area = area
    seen.pressure = np.divide(1.5 * seen.normal_force, area, out=np.zeros_like(area), where=pressed)


def area_per_depth(contact: ContactForce, values: Mapping[str, float]) -> float:
    """A/δ [m]; 0 over areas, of laws of another exponent, corners, and where curvatures differ from place to place; of capsules
    the contact itself has it."""
    if (isinstance(contact, Foundations) and contact.over_area) or isinstance(contact, CapsuleContact):
        return 0.0
    if contact.normal_force is not None or contact.law(values).exponent != EXPONENT:
        return 0.0
    radius, _, side, other = contact.shape(values)
    if not radius > 0.0:
        return 0.0
    one = two = 1.0 / radius
    if side != 0.0:
        one = two = one + side / other
    if isinstance(contact, BallContact):
        match contact.solid:
            case Capsule() | Cylinder() as along:
                two += 1.0 / along.radius
            case Sphere() as ball:
                one = two = one + 1.0 / ball.radius
            case Cone() | Ellipsoid():
                return 0.0
    return of_curvatures(one, two)


def of_curvatures(one: float, other: float) -> float:
    """π R_e F₁²/F₂ of the relative curvatures [1/m] in two directions across each other."""
    least, most = sorted((one, other))
    R_e = 1.0 / math.sqrt(least * most)
    if most - least < ALIKE * most:
        return math.pi * R_e
    F1, F2 = hertz_factors(least, most)
    return math.pi * R_e * F1 * F1 / F2

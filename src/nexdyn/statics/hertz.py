"""Hertz's law between two surfaces of elastic materials, from their radii of curvature: stiffness, depth, area and pressure.

At a point, 1/R the curvatures of a (b) in its two principal directions, those of a at the angle α to those of b,

    A + B = ½ Σ 1/R,   B − A = ½ √(D_a² + D_b² + 2 D_a D_b cos 2α),   D = 1/R′ − 1/R″,   R_e = ½/√(A B)
    f = 4/3 E* √R_e F₂^−1.5 δ^1.5,   √(a b) = F₁ (3 f R_e/(4 E*))^⅓,   p₀ = 3 f/(2 π a b)
                                                       (Johnson, Contact Mechanics, 1985, 4.1, 4.2; F₁, F₂: ``contact_group.hertz_factors``)

Along a line, parallel cylinders of the length L, 1/R = 1/R_a + 1/R_b,

    b = √(4 f R/(π L E*)),   p₀ = √(f E*/(π L R))      (there, 4.2(c))
    δ = Σ f (1 − ν²)/(π L E) Λ,   Λ = 2 ln(4 |R|/b) − 1 of a cylinder, down to its axis, 2 ln(2 d/b) − ν/(1 − ν) of a plane, down to the
        depth d                                        (there, 5.6, equations 5.58 and 5.57: an approximation, of a strip that is narrow)

for how far two bodies give along a line depends on all of them, not on their contact alone. A contact takes f = k δᵉ, which at a nominal
load has the depth and the slope of it: e = ΣΛ'/(ΣΛ' − Σ(1 − ν²)/(π L E)), ΣΛ' = δ/f, about 1.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError
from nexdyn.forces.contact_group import ALIKE, hertz_factors
from nexdyn.model.materials import Material, Numbers, contact_modulus, material_of, shear_part


@dataclass(frozen=True)
class HertzPoint(metaclass=CheckedCalls):
    """What two surfaces do that touch at a point. modulus [Pa]: E*. radius [m]: R_e; factors: F₁, F₂; ratio: a/b, 1 or more.

    stiffness [N/m^1.5], exponent and friction_stiffness are those of a contact: ``nx.PlaneContact(…, **touch.law)``.
    """

    modulus: float
    radius: float
    factors: tuple[float, float]
    ratio: float
    friction_stiffness: float
    exponent: float = 1.5

    @property
    def stiffness(self) -> float:
        """k of f = k δ^1.5 [N/m^1.5]."""
        return 4.0 / 3.0 * self.modulus * math.sqrt(self.radius) * self.factors[1] ** -1.5

    @property
    def law(self) -> dict[str, float]:
        """stiffness, exponent and friction_stiffness."""
        return {name: getattr(self, name) for name in ("stiffness", "exponent", "friction_stiffness")}

    def depth(self, force: float) -> float:
        """δ [m] under a force [N]."""
        return float((_pressed(force) / self.stiffness) ** (1.0 / self.exponent))

    def semi_axes(self, force: float) -> tuple[float, float]:
        """a and b [m] of the ellipse of contact, a ≥ b, under a force [N]."""
        mean = self.factors[0] * (0.75 * _pressed(force) * self.radius / self.modulus) ** (1.0 / 3.0)
        return mean * math.sqrt(self.ratio), mean / math.sqrt(self.ratio)

    def pressure(self, force: float) -> float:
        """The largest pressure p₀ [Pa], in the middle, under a force [N]."""
        a, b = self.semi_axes(force)
        return 1.5 * force / (math.pi * a * b) if force > 0.0 else 0.0


@dataclass(frozen=True)
class HertzLine(metaclass=CheckedCalls):
    """What two parallel cylinders do that touch along a line. modulus [Pa]: E*. radius [m]: R. length [m]: L. nominal [N]: the load at
    which the law has the depth and the slope of Johnson's formula.

    stiffness [N/mᵉ], exponent e and friction_stiffness are those of a contact: ``nx.SphereContact(…, **touch.law)`` in a mechanism that
    keeps the axes parallel.
    """

    modulus: float
    radius: float
    length: float
    nominal: float
    friction_stiffness: float
    sides: tuple[Side, Side]

    @property
    def exponent(self) -> float:
        """e of f = k δᵉ."""
        each = self.depth(self.nominal) / self.nominal
        return each / (each - sum(side.compliance for side in self.sides))

    @property
    def stiffness(self) -> float:
        """k of f = k δᵉ [N/mᵉ]."""
        return float(self.nominal / self.depth(self.nominal) ** self.exponent)

    @property
    def law(self) -> dict[str, float]:
        """stiffness, exponent and friction_stiffness."""
        return {name: getattr(self, name) for name in ("stiffness", "exponent", "friction_stiffness")}

    def depth(self, force: float) -> float:
        """δ [m] under a force [N], by Johnson's formula."""
        half = self.half_width(force)
        if half == 0.0:
            return 0.0
        return force * sum(side.compliance * (2.0 * math.log(side.reach / half) - side.less) for side in self.sides)

    def half_width(self, force: float) -> float:
        """b [m] of the strip of contact under a force [N]."""
        return math.sqrt(4.0 * _pressed(force) * self.radius / (math.pi * self.length * self.modulus))

    def pressure(self, force: float) -> float:
        """The largest pressure p₀ [Pa], in the middle, under a force [N]."""
        return math.sqrt(_pressed(force) * self.modulus / (math.pi * self.length * self.radius))


class Side(NamedTuple):
    """Of one of two bodies (1 − ν²)/(π L E) [m/N], and Λ = 2 ln(reach/b) − less, reach [m]."""

    compliance: float
    reach: float
    less: float


@checked_call
def hertz(
    material_a: str | Material, material_b: str | Material, *, radii_a: float | tuple[float, float],
    radii_b: float | tuple[float, float] = math.inf, angle: float = 0.0,
) -> HertzPoint:  # fmt: skip
    """Hertz's law at a point where two surfaces touch.

    material_a, material_b: by name ("steel") or as nx.Material. radii_a, radii_b [m]: the radii of curvature of each surface in its two
    principal directions, or one for both; inf where it is straight, negative where it is hollow: of a cylinder (R, inf), of a ball R, of a
    groove (−r, inf). angle [rad]: from the first direction of a to the first of b; of crossed cylinders that between their axes.

    Returns a :class:`HertzPoint`. Raises InputError for radii that are 0 or no numbers, and for surfaces that touch along a line or
    around: there `nx.hertz_line`, or a foundation.
    """
    a, b = _numbers(material_a, material_b)
    E, shear = contact_modulus(a, b), shear_part(a, b)
    one, other = _curvatures(radii_a, "radii_a"), _curvatures(radii_b, "radii_b")
    if not math.isfinite(angle):
        raise InputError(f"angle is {angle!r}; a number [rad] is needed")
    D_a, D_b = one[0] - one[1], other[0] - other[1]
    total = sum(one) + sum(other)
    apart = math.sqrt(max(0.0, D_a * D_a + D_b * D_b + 2.0 * D_a * D_b * math.cos(2.0 * angle)))
    least, most = 0.5 * (total - apart), 0.5 * (total + apart)
    if not least > LINE * most:
        raise InputError(
            f"radii {radii_a!r} and {radii_b!r} have the relative curvatures {least:.4g} and {most:.4g} 1/m; both must be greater than 0: "
            "surfaces that touch along a line are for nx.hertz_line, those that lie in each other for a foundation"
        )
    R_e = 1.0 / math.sqrt(least * most)
    if most - least < ALIKE * most:
        return HertzPoint(E, R_e, (1.0, 1.0), 1.0, shear)
    F1, F2 = hertz_factors(least, most)
    return HertzPoint(E, R_e, (F1, F2), semi_ratio(F1, F2), shear)


@checked_call
def hertz_line(
    material_a: str | Material, material_b: str | Material, *, length: float, force: float, radius_a: float, radius_b: float = math.inf,
    thickness: float | None = None,
) -> HertzLine:  # fmt: skip
    """Hertz's law along the line on which two parallel cylinders touch, how far they give by Johnson's formula.

    material_a, material_b: by name ("steel") or as nx.Material. length [m]: of the line. force [N]: the load that the law f = k δᵉ is made
    for. radius_a, radius_b [m]: inf of a plane, negative of a hole. thickness [m]: of the body whose surface is a plane, down to where it
    is held.

    Returns a :class:`HertzLine`. Raises InputError where a number is not valid, the surfaces lie in each other, or the strip on which they
    touch is as wide as the bodies.
    """
    a, b = _numbers(material_a, material_b)
    for name, given in (
        ("length", length),
        ("force", force),
        *((("thickness", thickness),) if thickness is not None else ()),
    ):
        if not 0.0 < given < math.inf:
            raise InputError(f"{name} is {given!r}; it must be greater than 0")
    curvatures = [_curvature(r, name) for r, name in ((radius_a, "radius_a"), (radius_b, "radius_b"))]
    if not sum(curvatures) > 0.0:
        raise InputError(
            f"radii {radius_a!r} and {radius_b!r} have the relative curvature {sum(curvatures):.4g} 1/m; it must be greater than 0: give a "
            "foundation where surfaces lie in each other"
        )
    sides = []
    for material, curvature in zip((a, b), curvatures, strict=True):
        compliance = (1.0 - material.poisson**2) / (math.pi * length * material.young)
        if curvature != 0.0:
            sides.append(Side(compliance, 4.0 / abs(curvature), 1.0))
        elif thickness is None:
            raise InputError(
                "the indentation of a plane depends on the thickness of its body; give thickness, down to where it is held"
            )
        else:
            sides.append(Side(compliance, 2.0 * thickness, material.poisson / (1.0 - material.poisson)))
    touch = HertzLine(
        contact_modulus(a, b), 1.0 / sum(curvatures), length, force, shear_part(a, b), (sides[0], sides[1])
    )
    half = touch.half_width(force)
    if any(2.0 * math.log(side.reach / half) - side.less < NARROW for side in sides):
        raise InputError(
            f"under {force:g} N the strip of contact is {2.0 * half:.3g} m wide, as wide as the bodies; the formula is of one that is "
            "narrow: give a foundation"
        )
    return touch


LINE = 1e-9
"""The part of the largest relative curvature up to which the least is none."""
NARROW = 2.0
"""The least Λ of a strip that is narrow: a cylinder of the radius R has it at b = 0.9 R."""


def _pressed(force: float) -> float:
    if not 0.0 <= force < math.inf:
        raise InputError(f"force is {force!r} N; it must be 0 or more")
    return force


def _numbers(a: str | Material, b: str | Material) -> tuple[Numbers, Numbers]:
    """E, ν of both materials."""
    return material_of(a, "material_a").numbers({}), material_of(b, "material_b").numbers({})


def _curvature(radius: float, what: str) -> float:
    if math.isnan(radius) or radius == 0.0:
        raise InputError(
            f"{what} is {radius!r} m; a radius other than 0, inf where straight, negative where hollow, is needed"
        )
    return 1.0 / radius


def _curvatures(radii: float | tuple[float, float], what: str) -> tuple[float, float]:
    given = radii if isinstance(radii, tuple | list) else (radii, radii)
    if len(given) != 2:
        raise InputError(f"{what} is {radii!r}; one radius or two [m] are needed")
    return _curvature(given[0], what), _curvature(given[1], what)


def semi_ratio(F1: float, F2: float) -> float:
    """a/b, the root of F₁ F₂ = 2/π √(b/a) K(e), e² = 1 − (b/a)²."""
    from scipy.optimize import brentq
    from scipy.special import ellipkm1

    def off(log: float) -> float:  # of ln(b/a)
        return 2.0 / math.pi * math.exp(0.5 * log) * float(ellipkm1(math.exp(2.0 * log))) - F1 * F2

    return math.exp(-float(brentq(off, -50.0, 0.0, xtol=1e-14, rtol=1e-14)))

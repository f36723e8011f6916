"""Materials by name, for contacts: what two surfaces are made of.

    E*  = 1/((1 − ν_a²)/E_a + (1 − ν_b²)/E_b)                    (Johnson, Contact Mechanics, 1985, eq. 4.6)
    G*  = 1/((2 − ν_a)/G_a + (2 − ν_b)/G_b),   G = E/(2 (1 + ν))  (there, eq. 7.43)

Sources of the numbers: steel EN 1993-1-1:2005, 3.2.6; stainless steel EN 1993-1-4:2006, 2.1.3 (austenitic); aluminium EN 1999-1-1:2007,
3.2.5; concrete EN 1992-1-1:2004, table 3.1 (C30/37) and 3.1.3; glass EN 572-1:2012, table 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, NamedTuple

from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError, unknown
from nexdyn.model.element import checked_name
from nexdyn.model.parameters import frozen, names_in, number


@dataclass(frozen=True)
class Material(metaclass=CheckedCalls):
    """What a surface is made of: `young` [Pa], Young's modulus; `poisson`, above −1 up to 0.5; `friction`, Coulomb's coefficient against
    the same material, or {name: coefficient} against materials by name, or None where it is not known. Numbers may be expressions.
    InputError where they are not valid.

    Between two materials the coefficient that one has for the name of the other counts, else √(μ_a μ_b) of what each has against itself.
    """

    name: str
    young: Any
    poisson: Any
    friction: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", checked_name(self.name, "material"))
        if isinstance(self.friction, Mapping):
            object.__setattr__(self, "friction", tuple(self.friction.items()))
        for item in fields(self):
            object.__setattr__(self, item.name, frozen(getattr(self, item.name)))
        if not names_in(self):
            self.numbers({})

    def __str__(self) -> str:
        return f"material {self.name!r}"

    def numbers(self, values: Mapping[str, float]) -> Numbers:
        """E, ν and μ under the parameter `values`."""
        young, poisson = (number(getattr(self, x), values, f"{x} of {self}") for x in ("young", "poisson"))
        if not young > 0.0:
            raise InputError(f"young of {self} is {young:g} Pa; it must be greater than 0")
        if not -1.0 < poisson <= 0.5:
            raise InputError(f"poisson of {self} is {poisson:g}; it must be greater than −1 and at most 0.5")
        friction: dict[str, float] = {}
        for other, x in self._frictions():
            against = "" if other == self.name else f" against {other!r}"
            friction[other] = number(x, values, f"friction of {self}{against}")
            if friction[other] < 0.0:
                raise InputError(f"friction of {self}{against} is {friction[other]:g}; it must be 0 or more")
        return Numbers(self.name, young, poisson, friction)

    def _frictions(self) -> list[tuple[str, Any]]:
        """Coefficients as given, by the name of the other material."""
        given = self.friction
        if not isinstance(given, tuple):
            return [] if given is None else [(self.name, given)]
        for pair in given:
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
                raise InputError(
                    f"friction of {self} has {pair!r}; a number, or {{name of a material: number}}, is needed"
                )
        return list(given)


class Numbers(NamedTuple):
    """Of a material its name, E [Pa], ν, and μ by the names of materials."""

    name: str
    young: float
    poisson: float
    friction: Mapping[str, float]


MATERIALS: Mapping[str, Material] = MappingProxyType({
    material.name: material
    for material in (
        Material("steel", 210e9, 0.3), Material("stainless steel", 200e9, 0.3), Material("aluminium", 70e9, 0.3),
        Material("concrete", 33e9, 0.2), Material("glass", 70e9, 0.2),
    )
})  # fmt: skip


@checked_call
def materials() -> dict[str, Material]:
    """Materials that contacts know by name: steel, stainless steel, aluminium, concrete, glass; without friction, which is of the
    surfaces. Sources: EN 1993-1-1, EN 1993-1-4, EN 1999-1-1, EN 1992-1-1 (C30/37), EN 572-1."""
    return dict(MATERIALS)


def material_of(given: Any, what: str) -> Material:
    """A material given by itself or by its name; InputError names `what` it was given for."""
    if isinstance(given, Material):
        return given
    if isinstance(given, str) and given in MATERIALS:
        return MATERIALS[given]
    if isinstance(given, str):
        error = unknown("material", given, MATERIALS)
        raise type(error)(f"{what}: {error}; or describe one with nx.Material(name, young, poisson)")
    raise InputError(f"{what} is {given!r}; the name of a material, or nx.Material(name, young, poisson), is needed")


def contact_modulus(a: Numbers, b: Numbers) -> float:
    """E* [Pa]."""
    return 1.0 / sum((1.0 - x.poisson**2) / x.young for x in (a, b))


def friction_between(a: Numbers, b: Numbers) -> float | None:
    """μ; None where it is not known."""
    known = [x.friction[y.name] for x, y in ((a, b), (b, a)) if y.name in x.friction]
    if known and a.name != b.name:
        if len(known) == 2 and known[0] != known[1]:
            told = f"{known[0]:g} and {known[1]:g}"
            raise InputError(
                f"materials {a.name!r} and {b.name!r} have the frictions {told} against each other; they must be equal"
            )
        return known[0]
    own = [x.friction.get(x.name) for x in (a, b)]
    return None if own[0] is None or own[1] is None else math.sqrt(own[0] * own[1])


def shear_part(a: Numbers, b: Numbers) -> float:
    """Stiffness along the surfaces as a part of that along the normal, 4 G*/E* (Mindlin, J. Appl. Mech. 16, 1949)."""
    compliance = sum((2.0 - x.poisson) * 2.0 * (1.0 + x.poisson) / x.young for x in (a, b))
    return 4.0 / compliance / contact_modulus(a, b)

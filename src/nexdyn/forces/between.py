"""Where forces act: frames A and B from bodies and markers, and the degree of freedom of a joint.

A side is a body or a marker (the axes of the force are its axes), and a point: its origin, or `anchor` [m] in its own
axes, or `at` [m] in the world as described.

    R_BF = R_BM,   p_BF = p_BM + R_BM anchor   or   R_WBᵀ (at − p_WB)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nexdyn.errors import InputError
from nexdyn.kernel import formula
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.model.force import Frame
from nexdyn.model.once import once
from nexdyn.spatial.algebra import Force, cross

if TYPE_CHECKING:
    from nexdyn.model.system import System


class PairForce(ForceElement):
    """A force between two frames, `a` and `b`: bodies, markers, or their names; 'ground' is a body.

    anchor_a, anchor_b: the points [m] it acts at, in the axes of `a` and `b` (default: their origins); or at_a, at_b:
    the same points in the world as described. The reaction on `b` balances force and moment.
    """

    a: str
    b: str
    anchor_a: Any
    anchor_b: Any
    at_a: Any
    at_b: Any

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        anchor_a: Any = None,
        anchor_b: Any = None,
        at_a: Any = None,
        at_b: Any = None,
    ) -> None:
        super().__init__(name)
        self._store(a=name_of(a), b=name_of(b), anchor_a=anchor_a, anchor_b=anchor_b, at_a=at_a, at_b=at_b)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.a!r}, {self.b!r})"

    def frames(self, system: System) -> tuple[Frame, ...]:
        A, B = (frame_of(self, system, getattr(self, side), side) for side in "ab")
        if A.body == B.body:
            raise InputError(f"{self} acts from body {A.body!r} on itself; a and b must lie on different bodies")
        return A, B

    def check(self, values: Mapping[str, float]) -> None:
        check_points(self, ("_a", "_b"), values)
        self.data(values)


def check_points(force: Element, sides: tuple[str, ...], values: Mapping[str, float]) -> None:
    """InputError where a point is given twice or is no point."""
    given = force.__dict__
    for side in sides:
        if given[f"anchor{side}"] is not None and given[f"at{side}"] is not None:
            raise InputError(f"{force} has anchor{side} (in the body) and at{side} (in the world); give one of them")
        for attribute in (f"anchor{side}", f"at{side}"):
            if given[attribute] is not None:
                force.floats_of(attribute, 3, values)


def frame_of(force: Element, system: System, reference: str, side: str = "") -> Frame:
    """The frame of one side: that of a body or a marker, at its point."""
    suffix = f"_{side}" if side else ""
    anchor, at = force.__dict__[f"anchor{suffix}"], force.__dict__[f"at{suffix}"]
    try:
        if anchor is None and at is None:  # all that act there have it in common
            return once(("frame", reference), lambda: _frame(system, reference), system)
        body, R, p = system.frame(reference)
    except InputError as error:
        raise type(error)(f"{force}: {error}") from None
    values = system.values
    check_points(force, (suffix,), values)
    if anchor is not None:
        p = p + R @ np.array(force.floats_of(f"anchor{suffix}", 3, values))
    if at is not None:
        R_WB, p_WB = body.pose(values)
        p = R_WB.T @ (np.array(force.floats_of(f"at{suffix}", 3, values)) - p_WB)
    return Frame(body.name, R, p)


def _frame(system: System, reference: str) -> Frame:
    body, R, p = system.frame(reference)
    return Frame(body.name, R, p)


class FreedomForce(ForceElement):
    """Base of forces in one degree of freedom of a joint: by name."""

    needs_coordinate: ClassVar[bool] = True
    """Whether the degree of freedom must have a coordinate of its own."""
    joint: str
    freedom: int

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, in {self.joint!r})"

    def joints(self) -> tuple[str, ...]:
        return (self.joint,)

    def check_in(self, system: System) -> None:
        check_freedom(self, system, self.needs_coordinate)


def check_freedom(force: ForceElement, system: System, needs_coordinate: bool) -> None:
    """InputError where the joint lacks the degree of freedom `force.freedom`, or a coordinate of its own for it."""
    joint, freedom = system.joint(force.joint_name or ""), force.__dict__["freedom"]
    if type(freedom) is not int or not 0 <= freedom < joint.nv:
        valid = (
            f"degrees of freedom 0 to {joint.nv - 1}"
            if joint.nv > 1
            else "degree of freedom 0 only"
            if joint.nv
            else "no degree of freedom"
        )
        raise InputError(f"freedom of {force} is {freedom!r}; {joint}, {joint.kind}, has {valid}")
    if needs_coordinate and joint.nq != joint.nv:
        raise InputError(
            f"{force} depends on the coordinate of a degree of freedom, which {joint}, {joint.kind}, has not (it turns by a "
            "quaternion); use a force between frames, like Bushing or UserForce"
        )


def non_negative(force: Element, attribute: str, values: Mapping[str, float]) -> float:
    """An attribute as a float that is 0 or more."""
    x = force.number_of(attribute, values)
    if x < 0.0:
        raise InputError(f"{attribute} of {force} is {x:g}; it must be 0 or more")
    return x


def positive(force: Element, attribute: str, values: Mapping[str, float]) -> float:
    """An attribute as a float that is greater than 0."""
    x = force.number_of(attribute, values)
    if not x > 0.0:
        raise InputError(f"{attribute} of {force} is {x:g}; it must be greater than 0")
    return x


@formula
def opposite(F):
    """F on A and −F on B."""
    return F, -F


@formula
def reaction(F, p):
    """What balances the force F at the point 0 by a force at the point p: (−n + p × f, −f)."""
    return Force(cross(p, F.f) - F.n, -F.f)

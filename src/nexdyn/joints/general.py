"""General joint: of the six directions between two frames those in `free` are free, all others are locked.

With d from the origin of frame A on the parent to that of frame B on the child, u_i the axes of A and w_i those of B:

    x, y, z locked                       u_i · d = 0, one row each
    no rotation free                     u_z · w_x = u_z · w_y = u_x · w_y = 0:  frames parallel
    one rotation free, about i           u_i · w_j = u_i · w_k = 0:  axis i of both frames parallel
    two rotations free, i and then j     u_i · w_j = 0, as in a Hooke joint:  R = R_i(α) R_j(β)
    three rotations free                 nothing

Where these are the rows of a joint with a name of its own, the two move alike: free = ("rz",) is Revolute, ("z",) Prismatic, ("z", "rz")
Cylindrical, ("x", "y", "rz") Planar, ("x", "y", "z") Cartesian, ("rz", "rx") Universal, ("rx", "ry", "rz") Spherical.

Its coordinates, for drivers and couplings: x, y, z are u_i · d; a single angle is that about i; of two, α is the angle about u_i from
u_j to w_j, β that about w_j from u_i to w_i. Three rotations have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from nexdyn.errors import InputError, is_one_of, unknown
from nexdyn.model.joint import Joint

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
NEXT = {"X": "Y", "Y": "Z", "Z": "X"}


class _OfFree:
    """What the directions that are free say: of the joint as it is now, and of the class as if none were."""

    def __init__(self, of: Callable[[tuple[str, ...]], tuple[Any, ...]], none: tuple[Any, ...]) -> None:
        self.of, self.none = of, none

    def __get__(self, joint: Any, cls: type) -> tuple[Any, ...]:
        return self.none if joint is None else self.of(joint.given)


def _rows(free: tuple[str, ...]) -> tuple[Any, ...]:
    """The equations: name and whether it is a length."""
    locked = (f"D{i.upper()}" for i in "xyz" if i not in free)
    return (*((e, 1) for e in locked), *((e, 0) for e in _locked(_turns(free))))


def _coordinates(free: tuple[str, ...]) -> tuple[str, ...]:
    return (*(f"D{i.upper()}" for i in free if i in "xyz"), *_angles(_turns(free)))


def _turns(free: tuple[str, ...]) -> list[str]:
    """The axes of the rotations."""
    return [direction[1].upper() for direction in free if direction not in "xyz"]


class GeneralJoint(Joint):
    """Leaves the directions `free` between the two frames free and locks all others. A constraint only.

    free: any of "x", "y", "z" (translations along the axes of the frame on the parent) and "rx", "ry", "rz" (rotations); () locks all.
        Of two rotations the first is about an axis of the frame on the parent, the second about one of the frame on the child:
        ("rz", "rx") turns as a Universal does. Drivers and couplings count the coordinates from 0: translations, then rotations, each
        in the order of `free`; three rotations have none.
    at, axis, reference and those of the two sides are as of all joints: axis is z of the frame, reference x.
    """

    kind, tree = "general", False
    rows: ClassVar[Any] = _OfFree(_rows, (("DX", 1), ("DY", 1), ("DZ", 1), ("DotZX", 0), ("DotZY", 0), ("DotXY", 0)))
    coordinates: ClassVar[Any] = _OfFree(_coordinates, ())
    structural = Joint.structural | {"free"}
    free: tuple[str, ...]

    def __init__(self, name: str, parent: Any, child: Any, *, free: Sequence[str] | str, **options: Any) -> None:
        super().__init__(name, parent, child, **options)
        self._store(free=(free,) if isinstance(free, str) else free)
        self.check_own({})

    @property
    def given(self) -> tuple[str, ...]:
        """`free` as directions."""
        return self.free if isinstance(self.free, tuple) else (self.free,)

    def check_own(self, values: Mapping[str, float]) -> None:
        for direction in self.given:
            if not is_one_of(direction, DIRECTIONS):
                raise InputError(f"free of {self}: {unknown('direction', direction, DIRECTIONS, plural='valid')}")
            if self.given.count(direction) > 1:
                raise InputError(f"free of {self} names {direction!r} twice; name each direction once")
        if len(self.given) == len(DIRECTIONS):
            raise InputError(
                f"free of {self} names all six directions, so that it locks none; leave it out, or use Free"
            )


def _locked(turns: list[str]) -> tuple[str, ...]:
    """The rows of the rotations that are locked."""
    match turns:
        case []:
            return ("DotZX", "DotZY", "DotXY")
        case [i]:
            return (f"Dot{i}{NEXT[i]}", f"Dot{i}{NEXT[NEXT[i]]}")
        case [i, j]:
            return (f"Dot{i}{j}",)
        case _:
            return ()


def _angles(turns: list[str]) -> tuple[str, ...]:
    """The coordinates of the rotations that are free."""
    match turns:
        case [i]:
            return (_named(f"Angle{i}{NEXT[i]}"),)
        case [i, j]:
            return (_named(f"Angle{i}{j}"), _named(f"Tilt{j}{i}"))
        case _:
            return ()


def _named(coordinate: str) -> str:
    """Those of Revolute and Universal have short names."""
    return {"AngleZX": "Angle", "TiltXZ": "Tilt"}.get(coordinate, coordinate)

"""The base of registered joints: a page says its pose, its columns of H and its inverse map, and is registered.

class Cam(nx.JointPage):
    kind = "cam"
    turning = (True,)
    lift: float

    def pose(q, lift): ...
    def motion_subspace(q, lift): ...
    def coordinates_of(R, p, lift): ...
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from nexdyn.constraints.kinds import OWN_ROWS
from nexdyn.errors import InputError
from nexdyn.joints import kinds
from nexdyn.joints.registered import HEAD, MOST, PLACE, POSE
from nexdyn.model.joint import Joint
from nexdyn.pages.motion import Functions, joint_functions
from nexdyn.pages.numbers import check_numbers, give_constructor, numbers_of

MOST_NUMBERS = 32
_MADE: WeakKeyDictionary[type, Functions] = WeakKeyDictionary()
_BLOCKS: WeakKeyDictionary[Joint, dict[tuple[float, ...], np.ndarray]] = WeakKeyDictionary()
_OF_JOINTS = frozenset(Joint("known", "a", "b").__dict__)


class _OfPage:
    """Rows: of an instance or its class, once the functions are there."""

    def __get__(self, joint: Any, cls: Any) -> tuple[tuple[str, int], ...]:
        if not cls.nv:
            return ()
        return tuple((OWN_ROWS[0 if length else 1][i], 1) for i, length in enumerate(cls.functions().lengths))


class _Unmeasured(tuple[str, ...]):
    """No coordinates: to take one raises an error that names the page."""

    joint: Any

    def __getitem__(self, i: Any) -> Any:
        kind = f" ({self.joint.kind})" if isinstance(self.joint, Joint) else ""
        raise InputError(
            f"{self.joint}{kind} is a registered joint, whose coordinates constraint equations do not measure; on a tree it mimics in "
            f"minimal coordinates: take RungeKutta4 or DormandPrince"
        )


class _NoCoordinates:
    """Coordinates that drivers and couplings take: none."""

    def __get__(self, joint: Any, cls: Any) -> tuple[str, ...]:
        found = _Unmeasured()
        found.joint = cls.__name__ if joint is None else joint
        return found


class JointPage(Joint):
    """Base of registered joints of one to five coordinates, q̇ = v; all arguments of :class:`Joint`, and the page's numbers by name.

    turning: of each coordinate whether it is an angle [rad], or else a length [m]. labels: their names in results, of several.
    ranges: of each coordinate (lower, upper) between which the page is looked at when it is registered; ±3π and ±1 m by default.
    Its functions, of what they take by name, with the page's numbers; q is a number, or of several coordinates a tuple, as v:

    pose(q) → Pose of B in A: the frame on the child in that on the parent. Needed.
    motion_subspace(q) → a Motion, or a tuple of them: the columns of H, in axes of B, at its origin: V_AB = H q̇. Needed.
    coordinates_of(R, p) → q of the pose (R, p) of B in A, or of one near it where the joint cannot be there; with whole turns where these
        move B, as a screw tells by p. Needed.
    bias(q, v) → Motion: Ḣ q̇. Left out: by differences of H of sixth order.
    constraint_subspace(q) → a tuple of Force: 6 − nv that do no work on H. Left out: unit forces without their part in H.
    """

    kind = "joint_page"
    code: ClassVar[Any] = kinds.OF_ANY(kinds.REGISTERED)
    stride = 7
    turning: ClassVar[tuple[bool, ...]] = ()
    labels: ClassVar[tuple[str, ...]] = ()
    ranges: ClassVar[tuple[tuple[float, float], ...]] = ()
    sample: ClassVar[Mapping[str, float]] = {}
    rows: ClassVar[Any] = _OfPage()
    coordinates: ClassVar[Any] = _NoCoordinates()
    _numbers: ClassVar[dict[str, Any]] = {}
    _paged: ClassVar[Any] = Joint

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._numbers = numbers_of(cls, JointPage)
        check_numbers(cls, cls._numbers, MOST_NUMBERS, _OF_JOINTS | {"t", "q", "v", "R", "p", "kind", "code"})
        n = len(cls.turning)
        if not (isinstance(cls.turning, tuple) and 1 <= n <= MOST and all(isinstance(x, bool) for x in cls.turning)):
            raise InputError(
                f"turning of {cls.__name__} is {cls.turning!r}; True or False of each of its coordinates is needed, of 1 to {MOST}"
            )
        cls.nq = cls.nv = n
        cls.directions = tuple(("turn" if x else "slide", "B", 2) for x in cls.turning)
        names = cls.labels or (("",) if n == 1 else tuple(f"q{i}" for i in range(1, n + 1)))
        if "ranges" not in cls.__dict__:
            cls.ranges = tuple((-3.0 * math.pi, 3.0 * math.pi) if x else (-1.0, 1.0) for x in cls.turning)
        for name, given in (("ranges", cls.ranges), ("labels", cls.labels)):
            if given and len(given) != n:
                raise InputError(f"{name} of {cls.__name__} has {len(given)} entries; its coordinates are {n}")
        cls.coordinate_labels = cls.velocity_labels = tuple(
            (name, "rad" if turns else "m") for name, turns in zip(names, cls.turning, strict=True)
        )
        for name in ("pose", "motion_subspace", "coordinates_of", "bias", "constraint_subspace"):
            f = cls.__dict__.get(name)
            if callable(f) and not isinstance(f, staticmethod):
                setattr(cls, name, staticmethod(f))
        give_constructor(
            cls,
            "self, name, parent, child",
            "**options",
            cls._numbers,
            "_base.__init__(self, name, parent, child, **options)",
        )

    @classmethod
    def functions(cls) -> Functions:
        """The page's functions, compiled. InputError, naming it, where one cannot be."""
        found = _MADE.get(cls)
        if found is None:
            found = _MADE[cls] = joint_functions(cls)
        return found

    def own_number(self, values: Mapping[str, float]) -> float:
        """The address of its block (``joints.registered``), which the joint keeps."""
        numbers = tuple(self.number_of(name, values) for name in self._numbers)
        blocks = _BLOCKS.setdefault(self, {})
        if numbers not in blocks:
            blocks[numbers] = np.array([type(self).functions().motion.address, float(self.nv), *numbers])
            assert len(blocks[numbers]) == HEAD + len(numbers)
        return float(blocks[numbers].ctypes.data)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Of each row what ``constraints.user`` reads."""
        made, block = type(self).functions(), self.own_number(values)
        each = [made.value.address, made.gradient.address, 0.0, 1.0, 1.0]
        return [x for i in range(6 - self.nv) for x in (*each, float(i), block)]

    def callbacks(self) -> tuple[Any, ...]:
        made = _MADE.get(type(self))
        return () if made is None else made.known

    def between(
        self, R: np.ndarray, p: np.ndarray, values: Mapping[str, float]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q of the pose (R, p) of B in A, and the pose of the joint there."""
        f, block = type(self).functions().motion, self.own_number(values)
        q = f(PLACE, [block, *np.ravel(R), *p])[: self.nv]
        X = f(POSE, [block, *q])[:12]
        return q, X[:9].reshape(3, 3), X[9:]

"""Bases of registered forces. A page derives from one, says its numbers and its functions, and is registered.

class Magnet(nx.ForcePage):
    kind = "magnet"
    strength: float
    core: float = 0.01

    def wrenches(X_WA, X_WB, strength, core): ...
    def energy(X_WA, X_WB, strength, core): ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from nexdyn.by_kind import names_of
from nexdyn.errors import InputError
from nexdyn.forces.between import FreedomForce, PairForce, check_points
from nexdyn.forces.kinds import REGISTERED, REGISTERED_JOINT
from nexdyn.forces.registered import MOST_NUMBERS
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.pages.functions import Offer, PageFunction, motion, page_function, pose, put_vector
from nexdyn.pages.numbers import check_numbers, give_constructor, numbers_of

_MADE: WeakKeyDictionary[type, tuple[PageFunction | None, ...]] = WeakKeyDictionary()


def _put(*lines: str) -> str:
    return "\n".join(f"    {line}" for line in lines)


_FRAMES = {"X_WA": pose(0), "X_WB": pose(18), "V_A": motion(12), "V_B": motion(30)}
WRENCHES = Offer(
    {"t": "t", **_FRAMES}, 36, 12,
    _put(
        "F_A, F_B = CALL(wrenches)", put_vector("F_A.n", "0"), put_vector("F_A.f", "3"), put_vector("F_B.n", "6"),
        put_vector("F_B.f", "9"),
    ),
)  # fmt: skip
ENERGY = Offer({"X_WA": pose(0), "X_WB": pose(12)}, 24, 1, _put("out[0] = CALL(energy)"))
EFFORT = Offer({"t": "t", "q": "s[0]", "v": "s[1]"}, 2, 1, _put("out[0] = CALL(effort)"))
EFFORT_ENERGY = Offer({"q": "s[0]"}, 1, 1, _put("out[0] = CALL(energy)"))
SLOPES = Offer(
    {**_FRAMES, "K": "out.reshape(6, 6)", "gh": "s[52]", "bh2": "s[53]"}, 36, 36, _put("out[:] = 0.0", "CALL(slopes)")
)  # fmt: skip


class _Page(ForceElement):
    """What both kinds of force pages share."""

    _paged: ClassVar[Any]
    _numbers: ClassVar[dict[str, Any]] = {}
    offers: ClassVar[Mapping[str, Offer]]
    """What each function of the page is offered, those that it must have first."""
    needed: ClassVar[str]
    drives: ClassVar[bool] = False
    """Whether it does work at rest or with motion that it has not stored; only then may its power differ from −U̇ to that side."""
    sample: ClassVar[Mapping[str, float]] = {}
    """Numbers to look at it with when it is registered, where 0.5 to 1.5 are not valid."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_paged" in cls.__dict__:
            return
        base = cls._paged
        cls._numbers = numbers_of(cls, base)
        check_numbers(cls, cls._numbers, MOST_NUMBERS)
        for name in cls.offers:
            f = cls.__dict__.get(name)
            if callable(f) and not isinstance(f, staticmethod):
                setattr(cls, name, staticmethod(f))
        base._give(cls)

    @classmethod
    def functions(cls) -> tuple[PageFunction | None, ...]:
        """The page's functions, compiled; None for one that it has not. InputError, naming it, where one cannot be."""
        found = _MADE.get(cls)
        if found is None:
            found = _MADE[cls] = tuple(cls._function(name) for name in cls.offers)
        return found

    @classmethod
    def _function(cls, name: str) -> PageFunction | None:
        f: Callable[..., Any] | None = getattr(cls, name, None)
        if f is None and name == cls.needed:
            raise InputError(f"the page {cls.__name__} has no {name}; it needs {cls.needed}")
        if f is None:
            return None
        room = MOST_NUMBERS + 2 * (name == "slopes")
        return page_function(cls.__name__, {name: f}, cls.offers[name], list(cls._numbers), room)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Addresses of its functions, and its numbers."""
        made = type(self).functions()
        addresses = [0.0 if f is None else f.address for f in made] + [0.0] * (3 - len(made))
        numbers = [self.number_of(name, values) for name in self._numbers]
        return [*addresses, float(len(numbers)), *numbers]

    def callbacks(self) -> tuple[Any, ...]:
        return tuple(f for f in _MADE.get(type(self), ()) if f is not None)

    def gives(self, values: Mapping[str, float]) -> bool:
        return self.drives or not hasattr(self, "energy")

    def working(self, values: Mapping[str, float]) -> str:
        given = names_of(getattr(self, self.needed))
        return str(self) if self.gives(values) or {"t", "v", "V_A", "V_B"} & set(given) else ""

    def check(self, values: Mapping[str, float]) -> None:
        for name in self._numbers:
            self.number_of(name, values)


class ForcePage(_Page, PairForce):
    """Base of registered forces between frames A and B: bodies, markers or their names; the numbers of the page are arguments by name.

    A page has the functions below, of what they take by name: t [s], X_WA, X_WB (`Pose`), V_A, V_B (`Motion`, of the frames' origins, world
    axes) and the page's numbers.

    wrenches(…) → F_A, F_B (`Force`, at each frame's origin, world axes), which balance in force and moment. Needed.
    energy(…) → U [J], which does not depend on t and velocities. Left out: it stores nothing.
    slopes(…, gh, bh2, K): K (6, 6) += bh2 · stiffness + gh · damping of the force on B at its origin by the motion of B against A. Left
        out: by differences.
    kind: the `type` in scene files. drives, sample: see ``docs/own_pages``.
    """

    kind, code = "force_page", REGISTERED
    offers: ClassVar[Mapping[str, Offer]] = {"wrenches": WRENCHES, "energy": ENERGY, "slopes": SLOPES}
    needed: ClassVar[str] = "wrenches"
    _paged: ClassVar[Any] = None

    @staticmethod
    def _give(cls: Any) -> None:
        points = "anchor_a=None, anchor_b=None, at_a=None, at_b=None"
        given = "anchor_a=anchor_a, anchor_b=anchor_b, at_a=at_a, at_b=at_b"
        begin = f"_base._begin(self, name, a, b, {given})"
        give_constructor(cls, 'self, name, a, b="ground"', points, cls._numbers, begin)

    def _begin(self, name: str, a: Any, b: Any, **points: Any) -> None:
        PairForce.__init__(self, name, a, b, **points)

    def check(self, values: Mapping[str, float]) -> None:
        check_points(self, ("_a", "_b"), values)
        super().check(values)


class EffortPage(_Page, FreedomForce):
    """Base of registered efforts in a degree of freedom of a joint; the numbers of the page are arguments by name.

    effort(…) → τ [N, N m] of t [s], the freedom's coordinate q [m, rad], its velocity v, and the page's numbers. Needed.
    energy(…) → U [J] of q and the numbers. Left out: it stores nothing.
    joint, freedom: the joint, or its name, and which of its degrees of freedom, from 0.
    kind: the `type` in scene files. drives, sample: see ``docs/own_pages``.
    """

    kind, code = "effort_page", REGISTERED_JOINT
    offers: ClassVar[Mapping[str, Offer]] = {"effort": EFFORT, "energy": EFFORT_ENERGY}
    needed: ClassVar[str] = "effort"
    _paged: ClassVar[Any] = None

    @staticmethod
    def _give(cls: Any) -> None:
        give_constructor(
            cls, "self, name, joint", "freedom=0", cls._numbers, "_base._begin(self, name, joint, freedom)"
        )

    def _begin(self, name: str, joint: Element | str, freedom: int) -> None:
        Element.__init__(self, name)
        self._store(joint=name_of(joint), freedom=freedom)


ForcePage._paged, EffortPage._paged = ForcePage, EffortPage

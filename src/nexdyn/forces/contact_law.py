"""The law of a contact, in numbers that a user gives: what presses, what damps, what rubs (``contact``, ``sticking``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError, NexDynError
from nexdyn.forces.applied import function_of_time
from nexdyn.forces.between import non_negative, positive
from nexdyn.model.callbacks import PENETRATION, Callback, callback_of
from nexdyn.model.element import Element
from nexdyn.model.expressions import Expression, as_expression
from nexdyn.model.functions import Function
from nexdyn.model.parameters import floats, sequence
from nexdyn.model.placement import Triple


class LawNumbers(NamedTuple):
    """k, e, a (0 of a law of the user's); v_f of friction that is regularised (0 where it sticks, 1 where there is none); μ, μ_s, v_s,
    ρ, 2 ζ."""

    stiffness: float
    exponent: float
    damping: float
    friction_speed: float
    friction: float
    static_friction: float
    stribeck_speed: float
    friction_stiffness: float
    friction_damping: float


class ContactLaw(Element):
    """What all contacts have in common.

    stiffness [N/mᵉ] with `exponent` e (1.5 for spheres by Hertz, 1 to 3). damping [s/m]: a of Hunt and Crossley; or
        restitution, above 0 up to 1, at impact_speed [m/s].
    normal_force: instead of these a law of your own (:mod:`nexdyn.forces.own_law`): a function(depth, rate) of the penetration [m], greater
        than 0, and its rate [m/s], which returns the normal force [N]; where that is negative, 0 counts. Made by ``numba.njit``, or plain
        Python. It is of points: contacts over areas have a foundation.
    friction: Coulomb's coefficient of what slides. It sticks until it slides (:mod:`nexdyn.forces.sticking`), with
        static_friction: the coefficient at which it breaks away, no less (default: as friction); stribeck_speed [m/s]: over which
            one goes over into the other.
        friction_stiffness: of what gives along the surfaces before it slides, as a part of the stiffness along the normal at hand
            (0.82: Mindlin's for ν = 0.3). friction_damping: of that, as a part of what is critical for the masses of both bodies.
    friction_speed [m/s]: where given, friction does not stick: it is regularised below this speed, without states.
    friction_across: the coefficient across a direction along the surfaces; `friction`, and static_friction, are along it. The direction,
        friction_direction_a or friction_direction_b (3,), goes with `a`, as the tread of a tyre, or with `b`, as the grain of a floor, in
        its axes. It counts as far as it lies along the surfaces. Where there is one, Stribeck's speed is that of S v_t (``contact``).
    surface_velocity_a, surface_velocity_b [m/s]: velocity (3,) of the surface of `a` (of `b`) relative to its own body, in the axes of `a`
        (of `b`): a conveyor belt stands, and its surface runs. Friction alone sees it, as a part of the sliding velocity; on each face
        only its component along the face counts.

    The coefficients, friction, static_friction, friction_across, rolling_resistance and turning_resistance, and each component of a
    surface velocity may be functions of time (``nexdyn.model.functions``, "=0.2+0.1*t", a callable f(t)), valid from t = 0 on. A run in
    which one is not valid, while the surfaces are near enough to touch, stops with an error that names it.
    """

    stiffness: Any
    normal_force: Any
    exponent: Any
    damping: Any
    restitution: Any
    impact_speed: Any
    friction: Any
    static_friction: Any
    stribeck_speed: Any
    friction_stiffness: Any
    friction_damping: Any
    friction_speed: Any
    friction_across: Any
    friction_direction_a: Any
    friction_direction_b: Any
    surface_velocity_a: Any
    surface_velocity_b: Any

    def __init__(
        self,
        name: str,
        *,
        stiffness: Any = None,
        normal_force: Callable[[float, float], float] | None = None,
        exponent: Any = 1.5,
        damping: Any = 0.0,
        restitution: Any = None,
        impact_speed: Any = None,
        friction: Any = 0.0,
        static_friction: Any = None,
        stribeck_speed: Any = 0.01,
        friction_stiffness: Any = 0.82,
        friction_damping: Any = 0.3,
        friction_speed: Any = None,
        friction_across: Any = None,
        friction_direction_a: Any = None,
        friction_direction_b: Any = None,
        surface_velocity_a: Any = (0.0, 0.0, 0.0),
        surface_velocity_b: Any = (0.0, 0.0, 0.0),
        **sides: Any,
    ) -> None:
        super().__init__(name, **sides)
        self._store(
            stiffness=stiffness, normal_force=normal_force, exponent=exponent, damping=damping, restitution=restitution,
            impact_speed=impact_speed,
            friction=friction, static_friction=static_friction, stribeck_speed=stribeck_speed,
            friction_stiffness=friction_stiffness, friction_damping=friction_damping, friction_speed=friction_speed,
            friction_across=friction_across, friction_direction_a=friction_direction_a, friction_direction_b=friction_direction_b,
            surface_velocity_a=surface_velocity_a, surface_velocity_b=surface_velocity_b,
        )  # fmt: skip

    @property
    def sticks(self) -> bool:
        """Whether its friction sticks, with states of its own."""
        return self.friction_speed is None and not (is_nothing(self.friction) and self.static_friction is None)

    @property
    def varies(self) -> bool:
        """Whether a coefficient or a surface velocity is a function of time."""
        mine = self.__dict__
        return any(is_of_time(mine.get(name)) for name in OF_TIME) or any(
            is_of_time(x) for name in VELOCITIES for x in _items(mine[name])
        )

    def functions(self, values: Mapping[str, float]) -> list[Function]:
        """The coefficients and the components of surface velocities, in the order of ``contact_functions``; 0 of what it has not."""
        given = [(name, self.__dict__.get(name)) for name in OF_TIME]
        given += [
            (f"{name}[{i}]", x)
            for name in VELOCITIES
            for i, x in enumerate(sequence(self.__dict__[name], f"{name} of {self}", "3 components"))
        ]
        return [function_of_time(0.0 if x is None else x, values, f"{name} of {self}") for name, x in given]

    def number_of(self, attribute: str, values: Mapping[str, float]) -> float:
        """At t = 0, of a function of time."""
        x = self.__dict__[attribute]
        if attribute in OF_TIME and is_of_time(x):
            return at_first(x, values, f"{attribute} of {self}")
        return super().number_of(attribute, values)

    def floats_of(self, attribute: str, n: int, values: Mapping[str, float]) -> tuple[float, ...]:
        """At t = 0, of functions of time."""
        x = self.__dict__[attribute]
        if attribute in VELOCITIES and any(map(is_of_time, _items(x))):
            found = [
                at_first(one, values, f"{attribute}[{i}] of {self}") if is_of_time(one) else one
                for i, one in enumerate(sequence(x, f"{attribute} of {self}", "3 components"))
            ]
            return floats(found, n, values, f"{attribute} of {self}")
        return super().floats_of(attribute, n, values)

    def law(self, values: Mapping[str, float]) -> LawNumbers:
        """Its numbers, at t = 0 of functions of time; InputError, naming the contact, where not valid."""
        stiffness, exponent, damping = self._pressing(values)
        stribeck, part = (positive(self, x, values) for x in ("stribeck_speed", "friction_stiffness"))
        friction, share = (non_negative(self, x, values) for x in ("friction", "friction_damping"))
        static = friction if self.static_friction is None else self.number_of("static_friction", values)
        if self.friction_speed is None:
            speed = 0.0 if self.sticks else 1.0
        else:
            speed = positive(self, "friction_speed", values)
            if self.static_friction is not None:
                raise InputError(
                    f"{self} has a static_friction, and a friction_speed, with which it does not stick; give one"
                )
        if static < friction:
            raise InputError(
                f"static_friction of {self} is {static:g}, less than friction, {friction:g}; it must be as much or more"
            )
        self._check_runs(values)
        self.ratio_across(values)
        return LawNumbers(stiffness, exponent, damping, speed, friction, static, stribeck, part, 2.0 * share)

    def _pressing(self, values: Mapping[str, float]) -> tuple[float, float, float]:
        """k, e, a; 0 of a law of the user's."""
        if self.normal_force is not None:
            if not callable(self.normal_force):
                raise InputError(
                    f"normal_force of {self} is {self.normal_force!r}; a function (depth, rate) that returns the normal force is needed"
                )
            for name, default in PRESSING.items():
                if self.__dict__[name] != default:
                    raise InputError(
                        f"{self} has a normal_force, and {name}, which is of another law; give one of them"
                    )
            return 0.0, 0.0, 0.0
        if self.stiffness is None:
            raise InputError(f"{self} has no stiffness; give one, or a normal_force, a function (depth, rate)")
        stiffness, exponent = positive(self, "stiffness", values), self.number_of("exponent", values)
        if not 1.0 <= exponent <= 3.0:
            raise InputError(f"exponent of {self} is {exponent:g}; 1 (linear) to 3 is valid, 1.5 for spheres (Hertz)")
        return stiffness, exponent, self._law_damping(values)

    def own_callback(self) -> Callback | None:
        """The callback of a law of the user's; None where it has none."""
        if self.normal_force is None:
            return None
        try:
            return callback_of(self.normal_force, PENETRATION)
        except InputError as error:
            raise InputError(f"normal_force of {self}: {error}") from error

    def _check_runs(self, values: Mapping[str, float]) -> None:
        """InputError for a surface velocity that is no vector, or that nothing rubs on."""
        for attribute in VELOCITIES:
            self.floats_of(attribute, 3, values)
            runs = not all(is_nothing(x) for x in self.__dict__[attribute])
            if (
                runs
                and is_nothing(self.friction)
                and (self.static_friction is None or is_nothing(self.static_friction))
            ):
                raise InputError(
                    f"{self} has a {attribute}, which acts by friction alone, and no friction; give it one, or leave it out"
                )

    def ratio_across(self, values: Mapping[str, float]) -> tuple[float, tuple[Triple, Triple]]:
        """ρ, what friction is across its direction as a part of what it is along, and the unit directions (3,) in the axes of `a` and of
        `b`, 0 in those it does not lie in. InputError where not valid."""
        none: Triple = (0.0, 0.0, 0.0)
        given = [x for x in DIRECTIONS if self.__dict__[x] is not None]
        if self.friction_across is None:
            if given:
                raise InputError(f"{self} has a {given[0]}, and no friction_across; give both, or none")
            return 1.0, (none, none)
        if len(given) != 1:
            raise InputError(
                f"{self} has friction_across, and {' and '.join(given) or 'no direction'}; give it friction_direction_a or "
                "friction_direction_b, one of them"
            )
        across, friction = non_negative(self, "friction_across", values), self.number_of("friction", values)
        if not friction > 0.0:
            raise InputError(f"{self} has friction_across, and no friction along its direction; give it friction")
        e = self.floats_of(given[0], 3, values)
        length = math.hypot(*e)
        if not length > 0.0:
            raise InputError(
                f"{given[0]} of {self} is {tuple(e)}, which has no direction; give it 3 numbers, not all 0"
            )
        unit: Triple = (e[0] / length, e[1] / length, e[2] / length)
        return across / friction, (unit, none) if given[0] == DIRECTIONS[0] else (none, unit)

    def _law_damping(self, values: Mapping[str, float]) -> float:
        a = non_negative(self, "damping", values)
        if self.restitution is None and self.impact_speed is None:
            return a
        if self.restitution is None or self.impact_speed is None or a != 0.0:
            raise InputError(f"{self} takes damping, or restitution together with impact_speed")
        e = self.number_of("restitution", values)
        if not 0.0 < e <= 1.0:
            raise InputError(f"restitution of {self} is {e:g}; it must be greater than 0 and at most 1")
        return damping_number(e) / positive(self, "impact_speed", values)


PRESSING = {"stiffness": None, "exponent": 1.5, "damping": 0.0, "restitution": None, "impact_speed": None}
"""What presses, in numbers, and what each is that is not given."""
LAW = (*LawNumbers._fields, "normal_force", "restitution", "impact_speed", "friction_across")
"""The attributes of a law."""
VELOCITIES = ("surface_velocity_a", "surface_velocity_b")
OF_TIME = ("friction", "static_friction", "friction_across", "rolling_resistance", "turning_resistance")
"""The coefficients that may be functions of time, as the surface velocities may."""
DIRECTIONS = ("friction_direction_a", "friction_direction_b")
"""The attributes that belong to one side each: they change places with the sides."""
OF_SIDES = (VELOCITIES, DIRECTIONS)
ALONG, ROUNDING = 1e-9, 1e-12
"""The part of a surface velocity by which it may miss the plane that it runs in; and by which a static friction that is a function of
time may be less than the friction."""


def check_along(contact: ContactLaw, attribute: str, normal: Any, values: Mapping[str, float]) -> None:
    """InputError where a surface velocity leaves the plane with the unit normal (3,) that it runs in."""
    u = contact.floats_of(attribute, 3, values)
    off = sum(float(x) * y for x, y in zip(normal, u, strict=True))
    if abs(off) > ALONG * math.hypot(*u):
        raise InputError(
            f"{attribute} of {contact} has {off:.4g} m/s along the normal of its plane; a surface runs along itself: make it 0"
        )


def is_of_time(x: Any) -> bool:
    """Whether x is a function of time, no number and no expression of parameters alone."""
    if x is None or type(x) is float:
        return False
    if isinstance(x, str):
        return x.startswith("=") and as_expression(x).has_time
    return x.has_time if isinstance(x, Expression) else isinstance(x, Function) or callable(x)


def _items(x: Any) -> Sequence[Any]:
    """The components of a vector; of what is none, nothing: its error is another's."""
    return x if isinstance(x, tuple) else ()


def at_first(x: Any, values: Mapping[str, float], what: str) -> float:
    """A function of time at t = 0; InputError names `what`."""
    try:
        return float(function_of_time(x, values, what).value(0.0))
    except NexDynError as error:
        if str(error).startswith(what):
            raise
        raise InputError(f"{what}: {error}") from error


def wrong_at(functions: Sequence[Function], static: bool, across: bool, normals: np.ndarray, t: float) -> str:
    """What coefficients at t are not valid, in words; "" where all are. functions: as in the table; normals (2, 3)."""
    found: list[float] = []
    names = [*OF_TIME, *(f"{one}, component {axis}," for one in VELOCITIES for axis in range(3))]
    for name, function in zip(names, functions, strict=True):
        try:
            found.append(float(function.value(t)))
        except NexDynError as error:
            return f"has a {name} without a value: {error}"
    for name, x in zip(OF_TIME, found, strict=False):
        if x < 0.0:
            return f"has {name} {x:g} at t = {t:g} s; it must be 0 or more"
    if static and found[1] < (1.0 - ROUNDING) * found[0]:
        return f"has static_friction {found[1]:g}, less than friction, {found[0]:g}, at t = {t:g} s; it must be as much or more"
    if across and not found[0] > 0.0:
        return f"has friction_across, and no friction along its direction at t = {t:g} s; it must be more than 0"
    for side, name in enumerate(VELOCITIES):
        u = np.array(found[5 + 3 * side : 8 + 3 * side])
        off = float(normals[side] @ u)
        if abs(off) > ALONG * float(np.linalg.norm(u)):
            return f"has {name} with {off:.4g} m/s along the normal of its plane at t = {t:g} s; a surface runs along itself: make it 0"
    return ""


def is_nothing(x: Any) -> bool:
    """Whether x is the number 0; an expression is not."""
    return isinstance(x, int | float) and x == 0.0


def damping_number(restitution: float) -> float:
    """d = a v_i of a coefficient of restitution ε in (0, 1]: (1 + d) exp(−d) = (1 − ε d) exp(ε d)."""
    if restitution == 1.0:
        return 0.0
    if restitution < 0.03:
        return 1.0 / restitution  # 1 − ε d = (1 + d) exp(−d − ε d) is below 1e-13
    from scipy.optimize import brentq

    def off(d: float) -> float:  # the logarithm of both sides, for ε d < 1
        return math.log1p(d) - d - math.log1p(-restitution * d) - restitution * d

    tiny = 1e-6 * (1.0 - restitution)
    return float(brentq(off, tiny, (1.0 - 1e-15) / restitution, xtol=1e-300, rtol=1e-14))

"""Gravity that differs from place to place: of a point mass, or as a function of the place.

    point   r = p_A − p_B,   f on A = −μ m r/|r|³ at the centre of mass of A,   f on B = μ m r/|r|³;   U = −μ m/|r|
    field   f on A = m g(t, p_A) at the centre of mass of A;   U = 0: that of a function is not known

A is the body that falls, m its mass. B is the centre: a point of the world, or of another body, on which the reaction acts. Between two
bodies, with μ = G m_B, momentum and energy are conserved. One force acts on one body, a ``Gravity`` is one for each of many. Gravity takes
that body for a point mass: the torque of the gravity gradient is left out. It is about (size/|r|)² times the force times |r|.

m and the centre of mass are those of the body.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.between import check_points, frame_of, opposite
from nexdyn.forces.kinds import GRAVITY_FIELD, POINT_GRAVITY
from nexdyn.forces.page import BY_DIFFERENCES, NO_LANES, STORES_NOTHING, TREE_LANES, Between, alone, nowhere
from nexdyn.forces.point_spring import length_and_direction
from nexdyn.kernel import formula
from nexdyn.model.body import Body
from nexdyn.model.callbacks import FIELD, call, callback_of
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.model.force import Frame
from nexdyn.model.group import Group
from nexdyn.records import Record
from nexdyn.spatial.algebra import Force, Vec3
from nexdyn.spatial.lanes import zero

if TYPE_CHECKING:
    from nexdyn.model.system import System

ALL = "*"
"""The pattern that chooses all bodies."""


class _Gravity(ForceElement):
    """Base of gravity at the centre of mass of `body`."""

    body: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, on {self.body!r})"

    def _falling(self, system: System) -> Body:
        """The body. InputError for the ground and for markers."""
        if self.body in system.bodies:
            return system.body(self.body)
        if self.body == "ground" or self.body in system.markers:
            raise InputError(
                f"body of {self} is {self.body!r}; a body that moves is needed, at whose centre of mass it acts"
            )
        try:
            return system.body(self.body)
        except InputError as error:
            raise type(error)(f"{self}: {error}") from None

    def _centre_of_mass(self, system: System) -> Frame:
        body = self._falling(system)
        return Frame(body.name, np.eye(3), body.resolved(system.values).com)

    def _mass(self, system: System) -> float:
        return self._falling(system).resolved(system.values).mass


class PointGravity(_Gravity):
    """Gravity of a point mass on a body, at its centre of mass: a = −μ r/|r|³.

    The gravity of the system is added; in space, set that to 0.
    body: what falls, a body or its name. centre: a body, a marker or 'ground' (or its name); the reaction acts on it.
    mu [m³/s²]: G times the mass of the centre, 3.986004418e14 of the earth.
    anchor: where the centre is, in the axes of the body or marker [m], or at: in the world as described (default: the centre of mass of
        a body, the origin of the ground and of a marker).
    """

    kind, code = "point_gravity", POINT_GRAVITY
    centre: str
    mu: Any
    anchor: Any
    at: Any
    structural = ForceElement.structural | {"centre"}

    def __init__(
        self,
        name: str,
        body: Element | str,
        centre: Element | str = "ground",
        *,
        mu: Any,
        anchor: Any = None,
        at: Any = None,
    ) -> None:
        super().__init__(name)
        self._store(body=name_of(body), centre=name_of(centre), mu=mu, anchor=anchor, at=at)

    @property
    def not_finite(self) -> str:  # type: ignore[override]
        return "has its body where its centre is, and so no finite force"

    def frames(self, system: System) -> tuple[Frame, ...]:
        A, B = self._centre_of_mass(system), frame_of(self, system, self.centre)
        if A.body == B.body:
            raise InputError(f"{self} acts from body {A.body!r} on itself; body and centre must be different bodies")
        reference = self.centre.removeprefix("body:")
        if self.anchor is None and self.at is None and reference in system.bodies and self.centre not in system.markers:
            B = Frame(B.body, B.R_BF, system.body(B.body).resolved(system.values).com)
        return A, B

    def check(self, values: Mapping[str, float]) -> None:
        check_points(self, ("",), values)
        if not self.number_of("mu", values) >= 0.0:
            raise InputError(f"mu of {self} is {self.number_of('mu', values):g} m³/s²; it must be 0 or more")

    def data_in(self, system: System) -> list[float]:
        """μ m."""
        return [self.number_of("mu", system.values) * self._mass(system)]

    def working(self, values: Mapping[str, float]) -> str:
        return ""

    def gives(self, values: Mapping[str, float]) -> bool:
        return False


class GravityField(_Gravity):
    """Gravity that is a function of the place, on a body, at its centre of mass.

    The gravity of the system is added; in space, set that to 0. body: what falls, a body or its name.
    function(t, x, out): of the time [s] and the place x (3,) [m] of the centre of mass in the world. It fills out (3,) with the
        acceleration [m/s²] in world axes, and returns nothing. Made by ``numba.njit``, or plain Python.
    """

    kind, code = "gravity_field", GRAVITY_FIELD
    function: Callable[..., Any]
    structural = ForceElement.structural | {"function"}

    def __init__(self, name: str, body: Element | str, *, function: Callable[..., Any]) -> None:
        super().__init__(name)
        self._store(body=name_of(body), function=function)
        if not callable(function):
            raise InputError(f"function of {self} is {function!r}; a function {FIELD.arguments} is needed")

    def frames(self, system: System) -> tuple[Frame, ...]:
        return (self._centre_of_mass(system),)

    def check(self, values: Mapping[str, float]) -> None:
        """Nothing depends on parameters; the function is compiled with the model."""

    def data_in(self, system: System) -> list[float]:
        """m, and the address."""
        try:
            callback = callback_of(self.function, FIELD)
        except InputError as error:
            raise InputError(f"{self}: {error}") from error
        self._callbacks = (callback,)
        return [self._mass(system), callback.address]


class Gravity(Group):
    """Gravity of a point mass, or gravity that is a function of the place, on all bodies or on those that names and patterns choose.

    The gravity of the system is added; in space, set that to 0.
    bodies: a body or its name, a pattern of names ("probe*"), or several of these; all by default. Bodies that are added later count as
        well. What patterns choose leaves out the body that has the centre, and bodies without mass.
    mu [m³/s²], centre, anchor, at: of a point mass, as of :class:`PointGravity`; or
    function(t, x, out): an acceleration, as of :class:`GravityField`.

    `system.forces` has a force for each body, named "earth probe1".
    Raises InputError for a pattern that matches no body; "*" may choose none yet.
    """

    kind_of_element = "gravity"
    kind = "gravity"
    structural: ClassVar[frozenset[str]] = frozenset({"name", "bodies", "centre", "function"})
    choosers = ("bodies", "centre")
    bodies: Any
    mu: Any
    centre: str
    anchor: Any
    at: Any
    function: Callable[..., Any] | None

    def __init__(
        self,
        name: str,
        bodies: Any = ALL,
        *,
        mu: Any = None,
        centre: Element | str = "ground",
        anchor: Any = None,
        at: Any = None,
        function: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(name)
        self._store(
            bodies=self._names_and_patterns("bodies", bodies), mu=mu, centre=name_of(centre), anchor=anchor, at=at, function=function
        )  # fmt: skip
        self._check_kind()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.bodies!r})"

    def _check_kind(self) -> None:
        """InputError for what is neither of a point mass nor a function of the place, or both."""
        mu, function = self.mu, self.function
        if (mu is None) == (function is None):
            what = "neither mu" if mu is None else "both mu"
            raise InputError(f"{self} has {what} {'nor' if mu is None else 'and'} function; give one of them")
        if function is not None and not callable(function):
            raise InputError(
                f"function of {self} is {function!r}; a function {FIELD.arguments} is needed, which is written in Python"
            )
        if function is not None and (self.centre, self.anchor, self.at) != ("ground", None, None):
            raise InputError(f"{self} has a function, and so no centre, anchor or at: they are of a point mass")

    def check(self, values: Mapping[str, float]) -> None:
        self._check_kind()
        if self.mu is not None:
            check_points(self, ("",), values)
            if not self.number_of("mu", values) >= 0.0:
                raise InputError(f"mu of {self} is {self.number_of('mu', values):g} m³/s²; it must be 0 or more")

    def members(self, system: System) -> list[ForceElement]:
        named, chosen = (
            (set(), [*system.bodies]) if self.bodies == ALL else self._matched(system, "bodies", [*system.bodies])
        )
        centre = None if self.mu is None else frame_of(self, system, self.centre).body
        pulled = [body for body in chosen if body in named or (body != centre and not _is_massless(system.body(body)))]
        if not pulled and self.bodies != ALL:
            raise InputError(
                f"{self} chooses no body: those that its patterns match are without mass, or have its centre"
            )
        return [self._on(body) for body in pulled]

    def _on(self, body: str) -> ForceElement:
        name = f"{self.name} {body}"
        if self.function is not None:
            return GravityField(name, body, function=self.function)
        return PointGravity(name, body, self.centre, mu=self.mu, anchor=self.anchor, at=self.at)


def _is_massless(body: Body) -> bool:
    """Whether its mass is the number 0; that of an expression an event may change."""
    return isinstance(body.mass, int | float) and body.mass == 0.0


# --- in kernels -----------------------------------------------------------------------------------------------------


class PointMass(Record):
    """The data of a point mass: μ m."""

    pull: float


class Field(Record):
    """Those of a field: m, and the address of its function."""

    mass: float
    address: float


@formula
def wrench(data, k, X_WA, X_WB):
    """Forces of a point mass on A and on B, each at its origin, in the world; NaN where these are one."""
    L, u = length_and_direction(X_WA.p, X_WB.p)
    o = zero(L)
    return opposite(Force(Vec3(o, o, o), (PointMass(data, k).pull / (L * L)) * u))


@formula
def energy(data, k, X_WA, X_WB):
    """U = −μ m/|r|."""
    L, _ = length_and_direction(X_WA.p, X_WB.p)
    return -PointMass(data, k).pull / L


POINT_PAGE = Between(POINT_GRAVITY, "PointGravity", wrench, energy, BY_DIFFERENCES, TREE_LANES)


@formula
def field_wrenches(t, data, k, X_WA):
    """m g(t, p_A) on A, in the world, and nothing on B; NaN where the function fails."""
    nan, field = math.nan, Field(data, k)
    status, g = call(field.address, t, (X_WA.p,), (nan, nan, nan))
    m = field.mass if status == 0 else nan
    o = Vec3(0.0, 0.0, 0.0)
    return Force(o, Vec3(m * g[0], m * g[1], m * g[2])), Force(o, o)


FIELD_PAGE = Between(
    GRAVITY_FIELD, "GravityField", alone(field_wrenches, nowhere), STORES_NOTHING, BY_DIFFERENCES, NO_LANES
)

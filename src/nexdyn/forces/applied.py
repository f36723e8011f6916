"""Applied force: a force f(t) and a torque n(t) at a frame A of a body, as functions of time.

    F_A = (n, f)              components in the world
    F_A = (R_WA n, R_WA f)    components in the axes of A, which turn with the body

Applied forces are an input, not stored energy: U = 0. Data: 1 for the world or 0, then the six rows of f and n.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nexdyn.errors import InputError, is_one_of, unknown
from nexdyn.forces.between import check_points, frame_of
from nexdyn.forces.kinds import APPLIED
from nexdyn.forces.page import ALL_LANES, CONSTANT, STORES_NOTHING, Between
from nexdyn.kernel import formula
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.model.force import Frame
from nexdyn.model.functions import Function, as_function
from nexdyn.model.parameters import sequence
from nexdyn.model.time_kernels import next_row, time_callbacks, time_row, time_value
from nexdyn.spatial.algebra import Force, Vec3
from nexdyn.spatial.lanes import common, zero

if TYPE_CHECKING:
    from nexdyn.model.system import System


class AppliedForce(ForceElement):
    """A force [N] and a torque [N m] on `body`, a body or a marker (or its name).

    force, torque: three components; each a number, an expression, or a function of time (``nexdyn.model.functions``,
        "=10*sin(t)", or a callable f(t)).
    expressed_in: "world", or "body" for components in the axes of the body (of the marker), which turn with it.
    at: the point it acts at, in the world as described [m], fixed in the body from then on; or anchor: that point in
        the axes of the body (of the marker). Default: the origin.
    """

    kind, code = "applied", APPLIED
    body: str
    force: Any
    torque: Any
    expressed_in: str
    at: Any
    anchor: Any
    structural = ForceElement.structural | {"expressed_in"}

    def __init__(
        self,
        name: str,
        body: Element | str,
        force: Any = (0.0, 0.0, 0.0),
        torque: Any = (0.0, 0.0, 0.0),
        *,
        expressed_in: str = "world",
        at: Any = None,
        anchor: Any = None,
    ) -> None:
        super().__init__(name)
        self._store(body=name_of(body), force=force, torque=torque, expressed_in=expressed_in, at=at, anchor=anchor)

    def __repr__(self) -> str:
        return f"AppliedForce({self.name!r}, on {self.body!r})"

    def frames(self, system: System) -> tuple[Frame, ...]:
        return (frame_of(self, system, self.body),)

    def check(self, values: Mapping[str, float]) -> None:
        if not is_one_of(self.expressed_in, ("world", "body")):
            raise unknown(f"axes of {self}", self.expressed_in, ("world", "body"), plural="valid")
        check_points(self, ("",), values)
        self._functions(values)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """1 for the world or 0, then the rows of the components of force and torque."""
        self.check(values)
        functions = self._functions(values)
        self._callbacks = tuple(callback for function in functions for callback in time_callbacks(function))
        rows = [time_row(function) for function in functions]
        return [1.0 if self.expressed_in == "world" else 0.0, *(x for row in rows for x in row)]

    def _functions(self, values: Mapping[str, float]) -> list[Function]:
        """The six components as functions of time."""
        functions = []
        for attribute in ("force", "torque"):
            what = f"{attribute} of {self}"
            components = sequence(self.__dict__[attribute], what, "three components")
            if len(components) != 3:
                raise InputError(f"{what} has {len(components)} components; 3 are needed")
            for axis, x in enumerate(components):
                functions.append(function_of_time(x, values, f"{what}, component {axis}"))
        return functions


def function_of_time(x: Any, values: Mapping[str, float], what: str) -> Function:
    """What was given as a function of time, with numbers in place of parameters; InputError names `what`."""
    try:
        return as_function(x, "it").resolved(values)
    except InputError as error:
        raise type(error)(f"{what}: {error}") from None


@formula
def wrench(t, data, k, X_WA):
    """Force on A at its origin, in the world."""
    fx = k + 1
    fy = next_row(data, fx)
    fz = next_row(data, fy)
    nx = next_row(data, fz)
    ny = next_row(data, nx)
    nz = next_row(data, ny)
    o = zero(X_WA.p.x)
    f = Vec3(o + time_value(data, fx, t), o + time_value(data, fy, t), o + time_value(data, fz, t))
    n = Vec3(o + time_value(data, nx, t), o + time_value(data, ny, t), o + time_value(data, nz, t))
    if common(data, k) != 0.0:
        return Force(n, f)
    return Force(X_WA.R @ n, X_WA.R @ f)


@formula
def wrenches(t, data, k, X_WA):
    """Forces on A and on B, which it does not act on."""
    o = zero(X_WA.p.x)
    return wrench(t, data, k, X_WA), Force(Vec3(o, o, o), Vec3(o, o, o))


PAGE = Between(APPLIED, "AppliedForce", wrenches, STORES_NOTHING, CONSTANT, ALL_LANES)

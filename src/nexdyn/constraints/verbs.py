"""Value, gradient and second derivative of every primitive, by its number.

Points on curves and surfaces, rolling and rows of the user's read their numbers in `tables.data`. Where that is `Rolls`, kernels
are compiled without the other pages; where it is None, as in SIMD lanes, without rolling's, too. A velocity
row A v + b has the value 0, the gradient A, the rate b, and second derivatives as if it were the rate of a position row.
"""

from __future__ import annotations

from typing import Any

from nexdyn.constraints import (
    angle,
    curve,
    direction,
    displacement,
    distance,
    kinds,
    orientation,
    pitch,
    rolling,
    surface,
    user,
    user_velocity,
)
from nexdyn.constraints.pair import PairVelocity
from nexdyn.constraints.tables import Rolls, Terms
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import zero

DOT, DISTANCE, ANGLE, PITCH = kinds.DOT, kinds.DISTANCE, kinds.ANGLE, kinds.PITCH
BINORMAL, SURFACE, USER, USER_ANGLE, EDGE = kinds.BINORMAL, kinds.SURFACE, kinds.USER, kinds.USER_ANGLE, kinds.EDGE
ORIENT_X, ORIENT_Z, FIRST_VELOCITY = kinds.ORIENT_X, kinds.ORIENT_Z, kinds.FORWARD

numbered_value = generic(
    "numbered_value", "C of a row with numbers in `data`: its (primitive, first number, place in `near`)."
)
numbered_gradient = generic("numbered_gradient", "g of the same.")
numbered_second = generic("numbered_second", "Γ(V, V') of the same.")
numbered_rate = generic("numbered_rate", "C_t of the same.")
numbered_drift = generic("numbered_drift", "2 C_qt v + C_tt of the same.")


@formula
def value(tables, e, t, pair, near):
    """C of term e, which takes its new place in `near`."""
    term = Terms(tables.terms)[e]
    kind = term.primitive
    if kind < DOT:
        return displacement.value(pair, kind)
    if kind < DISTANCE:
        return direction.value(pair, (kind - DOT) // 3, (kind - DOT) % 3)
    if kind == DISTANCE:
        return distance.value(pair)
    at = term.near
    if kind == ANGLE:
        near[at] = angle.value(pair, near[at])
        return near[at]
    if kind == PITCH:
        return pitch.value(pair)
    return numbered_value(tables.data, (kind, term.data, at), t, pair, near)


@formula
def gradient(tables, e, t, pair, near):
    """g: Ċ = g · velocity + C_t."""
    term = Terms(tables.terms)[e]
    kind = term.primitive
    if kind < DOT:
        return displacement.gradient(pair, kind)
    if kind < DISTANCE:
        return direction.gradient(pair, (kind - DOT) // 3, (kind - DOT) % 3)
    if kind == DISTANCE:
        return distance.gradient(pair)
    if kind == ANGLE:
        return angle.gradient(pair)
    if kind == PITCH:
        return pitch.gradient(pair)
    return numbered_gradient(tables.data, (kind, term.data, term.near), t, pair, near)


@formula
def second(tables, e, t, pair, near, V, V_):
    """Γ(V, V')."""
    term = Terms(tables.terms)[e]
    kind = term.primitive
    if kind < DOT:
        return displacement.second(pair, kind, V, V_)
    if kind < DISTANCE:
        return direction.second(pair, (kind - DOT) // 3, (kind - DOT) % 3, V, V_)
    if kind == DISTANCE:
        return distance.second(pair, V, V_)
    if kind == ANGLE:
        return angle.second(pair, V, V_)
    if kind == PITCH:
        return pitch.second(pair, V, V_)
    return numbered_second(tables.data, (kind, term.data, term.near), t, pair, near, V, V_)


@formula
def explicit_rate(tables, e, t, pair):
    """C_t."""
    term = Terms(tables.terms)[e]
    if term.primitive < USER:
        return 0.0
    return numbered_rate(tables.data, (term.primitive, term.data), t, pair)


@formula
def explicit_second(tables, e, t, pair, V):
    """2 C_qt v + C_tt."""
    term = Terms(tables.terms)[e]
    if term.primitive < USER:
        return 0.0
    return numbered_drift(tables.data, (term.primitive, term.data), t, pair, V)


# --- rows with numbers ------------------------------------------------------------------------------------------------


@defines(numbered_value)
def _(data: None, row: Any, t: Any, pair: Any, near: Any) -> Any:
    return 0.0


@defines(numbered_value)
def _(data: Rolls, row: Any, t: Any, pair: Any, near: Any) -> Any:
    kind, k, _ = row
    return rolling.value(data.numbers, k, kind, pair)


@defines(numbered_value)
def _(data: Any, row: Any, t: Any, pair: Any, near: Any) -> Any:
    kind, k, at = row
    if kind <= BINORMAL:
        return curve.value(data, k, kind == BINORMAL, pair, near, at)
    if kind == SURFACE:
        return surface.value(data, k, pair, near, at)
    if kind <= USER_ANGLE:
        return user.value(data, k, pair, t)
    if kind <= ORIENT_Z:
        return orientation.value(data, k, kind - ORIENT_X, pair, t)
    return rolling.value(data, k, kind, pair) if kind < FIRST_VELOCITY else 0.0


@defines(numbered_gradient)
def _(data: None, row: Any, t: Any, pair: Any, near: Any) -> Any:
    z = zero(pair.d.x)
    o = Vec3(z, z, z)
    return PairVelocity(o, o, o, o)


@defines(numbered_gradient)
def _(data: Rolls, row: Any, t: Any, pair: Any, near: Any) -> Any:
    kind, k, _ = row
    return rolling.gradient(data.numbers, k, kind, pair)


@defines(numbered_gradient)
def _(data: Any, row: Any, t: Any, pair: Any, near: Any) -> Any:
    kind, k, at = row
    if kind <= BINORMAL:
        return curve.gradient(data, k, kind == BINORMAL, pair, near[at])
    if kind == SURFACE:
        return surface.gradient(data, k, pair, near, at)
    if kind <= USER_ANGLE:
        return user.gradient(data, k, pair, t)
    if kind <= ORIENT_Z:
        return orientation.gradient(data, k, kind - ORIENT_X, pair, t)
    if kind <= EDGE:
        return rolling.gradient(data, k, kind, pair)
    return user_velocity.gradient(data, k, pair, t)


@defines(numbered_second)
def _(data: None, row: Any, t: Any, pair: Any, near: Any, V: Any, V_: Any) -> Any:
    return 0.0


@defines(numbered_second)
def _(data: Rolls, row: Any, t: Any, pair: Any, near: Any, V: Any, V_: Any) -> Any:
    kind, k, _ = row
    return rolling.second(data.numbers, k, kind, pair, V, V_)


@defines(numbered_second)
def _(data: Any, row: Any, t: Any, pair: Any, near: Any, V: Any, V_: Any) -> Any:
    kind, k, at = row
    if kind <= BINORMAL:
        return curve.second(data, k, kind == BINORMAL, pair, near[at], V, V_)
    if kind == SURFACE:
        return surface.second(data, k, pair, near, at, V, V_)
    if kind <= USER_ANGLE:
        return user.second(data, k, pair, t, V, V_)
    if kind <= ORIENT_Z:
        return orientation.second(data, k, kind - ORIENT_X, pair, t, V, V_)
    if kind <= EDGE:
        return rolling.second(data, k, kind, pair, V, V_)
    return user_velocity.second(data, k, pair, t, V, V_)


@defines(numbered_rate)
def _(data: None, row: Any, t: Any, pair: Any) -> Any:
    return 0.0


@defines(numbered_rate)
def _(data: Rolls, row: Any, t: Any, pair: Any) -> Any:
    return 0.0


@defines(numbered_rate)
def _(data: Any, row: Any, t: Any, pair: Any) -> Any:
    kind, k = row
    if kind <= USER_ANGLE:
        return user.explicit_rate(data, k, pair, t)
    if kind <= ORIENT_Z:
        return orientation.explicit_rate(data, k, kind - ORIENT_X, pair, t)
    return user_velocity.explicit_rate(data, k, pair, t) if kind > EDGE else 0.0


@defines(numbered_drift)
def _(data: None, row: Any, t: Any, pair: Any, V: Any) -> Any:
    return 0.0


@defines(numbered_drift)
def _(data: Rolls, row: Any, t: Any, pair: Any, V: Any) -> Any:
    return 0.0


@defines(numbered_drift)
def _(data: Any, row: Any, t: Any, pair: Any, V: Any) -> Any:
    kind, k = row
    if kind <= USER_ANGLE:
        return user.explicit_second(data, k, pair, t, V)
    if kind <= ORIENT_Z:
        return orientation.explicit_second(data, k, kind - ORIENT_X, pair, t, V)
    return user_velocity.explicit_second(data, k, pair, t, V) if kind > EDGE else 0.0

"""Value, gradient and second derivative of every primitive, by its number."""

from __future__ import annotations

from nexdyn.constraints import angle, curve, direction, displacement, distance, kinds, surface, user
from nexdyn.constraints.tables import DATA, NEAR, PRIMITIVE
from nexdyn.kernel import formula

DOT, DISTANCE, ANGLE = kinds.DOT, kinds.DISTANCE, kinds.ANGLE
BINORMAL, SURFACE, USER = kinds.BINORMAL, kinds.SURFACE, kinds.USER


@formula
def value(tables, e, t, pair, near):  # type: ignore[no-untyped-def]
    """C of term e, which takes its new place in `near`."""
    kind = tables.terms[e, PRIMITIVE]
    if kind < DOT:
        return displacement.value(pair, kind)
    if kind < DISTANCE:
        return direction.value(pair, (kind - DOT) // 3, (kind - DOT) % 3)
    if kind == DISTANCE:
        return distance.value(pair)
    k, at = tables.terms[e, DATA], tables.terms[e, NEAR]
    if kind == ANGLE:
        near[at] = angle.value(pair, near[at])
        return near[at]
    if kind <= BINORMAL:
        return curve.value(tables.data, k, kind == BINORMAL, pair, near, at)
    if kind == SURFACE:
        return surface.value(tables.data, k, pair, near, at)
    return user.value(tables.data, k, pair, t)


@formula
def gradient(tables, e, t, pair, near):  # type: ignore[no-untyped-def]
    """g: Ċ = g · velocity + C_t."""
    kind = tables.terms[e, PRIMITIVE]
    if kind < DOT:
        return displacement.gradient(pair, kind)
    if kind < DISTANCE:
        return direction.gradient(pair, (kind - DOT) // 3, (kind - DOT) % 3)
    if kind == DISTANCE:
        return distance.gradient(pair)
    if kind == ANGLE:
        return angle.gradient(pair)
    k, at = tables.terms[e, DATA], tables.terms[e, NEAR]
    if kind <= BINORMAL:
        return curve.gradient(tables.data, k, kind == BINORMAL, pair, near[at])
    if kind == SURFACE:
        return surface.gradient(tables.data, k, pair, near, at)
    return user.gradient(tables.data, k, pair, t)


@formula
def second(tables, e, t, pair, near, V, V_):  # type: ignore[no-untyped-def]
    """Γ(V, V')."""
    kind = tables.terms[e, PRIMITIVE]
    if kind < DOT:
        return displacement.second(pair, kind, V, V_)
    if kind < DISTANCE:
        return direction.second(pair, (kind - DOT) // 3, (kind - DOT) % 3, V, V_)
    if kind == DISTANCE:
        return distance.second(pair, V, V_)
    if kind == ANGLE:
        return angle.second(pair, V, V_)
    k, at = tables.terms[e, DATA], tables.terms[e, NEAR]
    if kind <= BINORMAL:
        return curve.second(tables.data, k, kind == BINORMAL, pair, near[at], V, V_)
    if kind == SURFACE:
        return surface.second(tables.data, k, pair, near, at, V, V_)
    return user.second(tables.data, k, pair, t, V, V_)


@formula
def explicit_rate(tables, e, t, pair):  # type: ignore[no-untyped-def]
    """C_t."""
    if tables.terms[e, PRIMITIVE] < USER:
        return 0.0
    return user.explicit_rate(tables.data, tables.terms[e, DATA], pair, t)


@formula
def explicit_second(tables, e, t, pair, V):  # type: ignore[no-untyped-def]
    """2 C_qt v + C_tt."""
    if tables.terms[e, PRIMITIVE] < USER:
        return 0.0
    return user.explicit_second(tables.data, tables.terms[e, DATA], pair, t, V)

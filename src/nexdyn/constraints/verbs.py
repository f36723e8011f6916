"""Value, gradient and second derivative of every primitive, by its number."""

from __future__ import annotations

from nexdyn.constraints import angle, direction, displacement, distance, kinds
from nexdyn.constraints.tables import NEAR, PRIMITIVE
from nexdyn.kernel import formula

DOT, DISTANCE, ANGLE = kinds.DOT, kinds.DISTANCE, kinds.ANGLE


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
    k = tables.terms[e, NEAR]
    near[k] = angle.value(pair, near[k])
    return near[k]


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
    return angle.gradient(pair)


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
    return angle.second(pair, V, V_)

"""Value, gradient and second derivative of every primitive, by its number."""

from __future__ import annotations

from nexdyn.constraints import angle, direction, displacement, distance, kinds
from nexdyn.kernel import formula

DOT, DISTANCE, ANGLE = kinds.DOT, kinds.DISTANCE, kinds.ANGLE


@formula
def value(kind, pair, reference):  # type: ignore[no-untyped-def]
    """C; `reference` is the angle near which an angle is counted."""
    if kind < DOT:
        return displacement.value(pair, kind)
    if kind < DISTANCE:
        return direction.value(pair, (kind - DOT) // 3, (kind - DOT) % 3)
    if kind == DISTANCE:
        return distance.value(pair)
    return angle.value(pair, reference)


@formula
def gradient(kind, pair):  # type: ignore[no-untyped-def]
    """g: Ċ = g · velocity."""
    if kind < DOT:
        return displacement.gradient(pair, kind)
    if kind < DISTANCE:
        return direction.gradient(pair, (kind - DOT) // 3, (kind - DOT) % 3)
    if kind == DISTANCE:
        return distance.gradient(pair)
    return angle.gradient(pair)


@formula
def second(kind, pair, V, V_):  # type: ignore[no-untyped-def]
    """Γ(V, V')."""
    if kind < DOT:
        return displacement.second(pair, kind, V, V_)
    if kind < DISTANCE:
        return direction.second(pair, (kind - DOT) // 3, (kind - DOT) % 3, V, V_)
    if kind == DISTANCE:
        return distance.second(pair, V, V_)
    return angle.second(pair, V, V_)

"""Contacts as a motion has them: force, point, penetration of every contact point, computed from the recorded states.

A capsule has two contact points, "foot.1" and "foot.2"; a sphere or a point has one, "foot". Forces are those on body `a`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import unknown
from nexdyn.forces.contact import ContactForce, Seen
from nexdyn.forces.contact_functions import renew_one
from nexdyn.model.system import System
from nexdyn.results.hertz import put_hertz

COLUMNS: dict[str, Any] = {
    name: field.first if field.kind is None else slice(field.first, field.first + field.columns)
    for name, field in zip(
        ("contact_force", "contact_point", "contact_normal", "contact_tangential", "penetration", "contact_direction",
         "contact_sliding", "contact_sticks", "contact_area", "contact_pressure", "contact_moment"),
        Seen.fields.values(), strict=True,
    )
}  # fmt: skip
"""Quantities of contacts, and where ``forces.contact`` puts them: one for each field of `Seen`."""

OF_FRICTION = ("contact_force", "contact_tangential", "contact_sticks", "contact_moment")
"""Quantities that the states of friction that sticks have a part in."""

Frame = tuple[np.ndarray, np.ndarray, np.ndarray]
"""R (n, 3, 3), p (n, 3) and V (n, 6) of a frame at n samples; or one for all."""


def contacts_of(system: System) -> list[ContactForce]:
    """The contacts of a system, in order."""
    return [force for force in system.forces.values() if isinstance(force, ContactForce)]


def contact_labels(system: System) -> list[str]:
    """A label of each contact point."""
    return [
        contact.name if contact.points == 1 else f"{contact.name}.{i + 1}"
        for contact in contacts_of(system)
        for i in range(contact.points)
    ]


class Point(NamedTuple):
    """A contact point: its label, the contact or force that it belongs to, the force, and the bodies a and b."""

    label: str
    of: str
    force: str
    a: str
    b: str


def contact_points(system: System) -> list[Point]:
    """All contact points, in the order of their labels."""
    owners = [force for force in contacts_of(system) for _ in range(force.points)]
    return [
        Point(label, force.part_of or force.name, force.name, *(frame.body for frame in force.frames(system)))
        for label, force in zip(contact_labels(system), owners, strict=True)
    ]


def columns_of(system: System, name: str) -> list[int]:
    """Which of all contact points are of the contact, force or point called `name`; UnknownNameError where none is."""
    points = contact_points(system)
    own = [k for k, point in enumerate(points) if name in (point.label, point.of, point.force)]
    if not own:
        raise unknown("contact", name, list(dict.fromkeys(point.of for point in points)))
    return own


def touches_of(points: list[Point], t: np.ndarray, normal: np.ndarray) -> list[dict[str, Any]]:
    """From when to when each pair of bodies touched, from the normal forces (n, points) at the samples t (n,), in order of time."""
    pairs: dict[tuple[str, str, str], list[int]] = {}
    for k, point in enumerate(points):
        pairs.setdefault((point.of, point.a, point.b), []).append(k)
    found = []
    for (of, a, b), columns in pairs.items():
        pressed = normal[:, columns].sum(axis=1)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], pressed > 0.0, [False]]).astype(int)))
        for begin, end in edges.reshape(-1, 2):
            found.append({
                "contact": of, "a": a, "b": b, "begin": float(t[begin]), "end": float(t[end - 1]),
                "peak": float(pressed[begin:end].max()),
            })  # fmt: skip
    return sorted(found, key=lambda one: (one["begin"], one["end"]))


def contact_table(
    system: System, t: np.ndarray, z: np.ndarray, frame_at: Callable[[str, np.ndarray, np.ndarray], Frame]
) -> np.ndarray:  # fmt: skip
    """(n, contact points, 21) at the times t (n,) from the states z (n, nz) of forces and the motion of the bodies, which
    `frame_at(body, R_BF, p_BF)` tells."""
    found, first, n = [], 0, len(t)
    for contact in system.forces.values():
        place, first = first, first + len(contact.states(system.values))
        if not isinstance(contact, ContactForce):
            continue
        motions = []
        for frame in contact.frames(system):
            R, p, V = frame_at(frame.body, frame.R_BF, frame.p_BF)
            parts = (np.broadcast_to(R.reshape(-1, 9), (n, 9)), np.broadcast_to(p, (n, 3)), np.broadcast_to(V, (n, 6)))
            motions.append(np.concatenate(parts, axis=1))
        table = along_time(contact, system, t, motions[0], motions[1], z[:, place:first])
        put_hertz(contact, system.values, table)
        if contact.is_off:
            for name in (
                "contact_force",
                "contact_normal",
                "contact_tangential",
                "contact_sticks",
                "contact_pressure",
                "contact_moment",
            ):
                table[..., COLUMNS[name]] = 0.0
        found.append(table)
    return np.concatenate(found, axis=1) if found else np.empty((n, 0, Seen.columns))


def along_time(
    contact: ContactForce, system: System, t: np.ndarray, A: np.ndarray, B: np.ndarray, z: np.ndarray
) -> np.ndarray:
    """The table of a contact (n, points, 21) at the times t (n,) from the motion (n, 18) of its frames and its states z."""
    numbers, functions = contact.data_in(system), contact.varying(system)
    if not functions:
        return contact.motion_table(numbers, A, B, z)
    data, out = np.array([*numbers, *functions]), np.empty((len(t), contact.points, Seen.columns))
    for s in range(len(t)):
        renew_one(data, 0, len(numbers), float(t[s]))
        own = data[: len(numbers)].tolist()
        out[s] = contact.motion_table(own, A[s : s + 1], B[s : s + 1], z[s : s + 1])[0]
    return out

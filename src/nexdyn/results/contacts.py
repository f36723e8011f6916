"""Contacts as a motion has them: force, point, penetration of every contact point, computed from the recorded states.

A capsule has two contact points, "foot.1" and "foot.2"; a sphere or a point has one, "foot". Forces are those on body `a`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nexdyn.forces.contact import CONTACT_COLUMNS, ContactForce, contact_motion
from nexdyn.model.system import System

COLUMNS: dict[str, Any] = {
    "contact_force": slice(0, 3), "contact_point": slice(3, 6), "contact_normal": 6, "contact_tangential": 7,
    "penetration": 8,
}  # fmt: skip
"""Quantities of contacts, and where ``forces.contact`` puts them."""

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


def contact_table(
    system: System, n: int, z: np.ndarray, frame_at: Callable[[str, np.ndarray, np.ndarray], Frame]
) -> np.ndarray:  # fmt: skip
    """(n, contact points, 9) from the states z (n, nz) of forces and the motion of the bodies, which `frame_at(body, R_BF, p_BF)`
    tells."""
    found, first = [], 0
    for contact in system.forces.values():
        place, first = first, first + len(contact.states(system.values))
        if not isinstance(contact, ContactForce):
            continue
        motions = []
        for frame in contact.frames(system):
            R, p, V = frame_at(frame.body, frame.R_BF, frame.p_BF)
            parts = (np.broadcast_to(R.reshape(-1, 9), (n, 9)), np.broadcast_to(p, (n, 3)), np.broadcast_to(V, (n, 6)))
            motions.append(np.concatenate(parts, axis=1))
        table = contact_motion(contact.data_in(system), motions[0], motions[1], contact.points, z[:, place:first])
        if contact.is_off:
            for name in ("contact_force", "contact_normal", "contact_tangential"):
                table[..., COLUMNS[name]] = 0.0
        found.append(table)
    return np.concatenate(found, axis=1) if found else np.empty((n, 0, CONTACT_COLUMNS))

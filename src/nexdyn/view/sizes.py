"""Sizes that change on the way: which system a motion has at a time, and whether two systems are drawn alike.

A change of parameters, by an event or by hand, may move joints and shapes in their bodies. What is drawn is then drawn anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nexdyn.model.system import System
from nexdyn.results.segments import segments
from nexdyn.simulation.quiet import quiet
from nexdyn.view.floor import contact_plane
from nexdyn.view.geometry import colliding_pieces, pieces
from nexdyn.view.links import links

if TYPE_CHECKING:
    from nexdyn.view.motion import Motion


def systems_of(motion: Motion) -> list[tuple[float, System]]:
    """From which time [s] on a motion is of which system, in order; one where nothing was changed."""
    if motion.result is None or not motion.moves:
        return [(motion.start, motion.system)]
    t = motion.result.recording.t
    return [(float(t[first]), system) for first, _, system in segments(motion.system, motion.result.recording)]


def system_at(systems: Sequence[tuple[float, object]], t: float) -> int:
    """Which of them holds at the time `t` [s]."""
    return max(0, sum(since <= t for since, _ in systems) - 1)


def look_of(system: System, up: np.ndarray) -> bytes:
    """Equal for systems that are drawn alike but for where their bodies are: shapes, links, frames, masses, collision shapes and floor."""
    digest = hashlib.blake2b(digest_size=16)

    def add(*parts: object) -> None:
        for part in parts:
            digest.update(part.encode() if isinstance(part, str) else np.asarray(part, dtype=float).tobytes())

    with quiet():  # of meshes that are missing it was said before
        drawn, collide = pieces(system), colliding_pieces(system, 1.0)
    for piece in (*drawn, *collide):
        add(piece.body, piece.surface.vertices, piece.R_BS, piece.p_BS, piece.color)
    for link in links(system):
        add(link.name, link.surface.vertices, link.p_A, link.p_B, link.length, *(v for _, v in link.along))
    for joint in system.joints.values():
        add(*joint.frames(system.values))
    for body in system.bodies.values():
        matter = body.resolved(system.values)
        add(matter.mass, matter.com, matter.inertia)
    for name in system.markers:
        add(*system.frame(f"marker:{name}")[1:])
    add(*(contact_plane(system, up) or ()))
    return digest.digest()


def sizes_of(motion: Motion, up: np.ndarray) -> tuple[list[System], list[tuple[float, int]]]:
    """The systems as which a motion is drawn, no two of which look alike, and from which time [s] on it is drawn as which of them."""
    systems = systems_of(motion)
    result = motion.result
    events = result.recording.settings.get("events", []) if len(systems) > 1 and result is not None else []
    if not any((event.get("change") or {}).get("parameters") for event in events):  # what is switched alone has no size
        return [systems[0][1]], [(systems[0][0], 0)]
    known: dict[bytes, int] = {}
    found: list[System] = []
    since: list[tuple[float, int]] = []
    for t, system in systems:
        k = known.setdefault(look_of(system, up), len(found))
        if k == len(found):
            found.append(system)
        if not since or since[-1][1] != k:
            since.append((t, k))
    return found, since

"""Where the floor of a scene lies: in the plane that bodies touch or roll on, else at the height 0 of the world.

Only what hangs or falls below 0 has its floor below the whole motion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nexdyn.forces.ball_contact import BallContact
from nexdyn.forces.mesh_contact import MeshContact
from nexdyn.forces.round_contact import RoundContact
from nexdyn.forces.surface_contact import SurfaceContact
from nexdyn.model.force import Force, Frame
from nexdyn.model.shapes import HalfSpace
from nexdyn.model.system import System
from nexdyn.spatial.rotations import rotation_matrix

ROLLING = frozenset({"rolling_disk", "rolling_sphere"})
"""Joints whose parent's frame has the plane as x, y and its normal as z."""
STEEPEST = 0.5
"""Least cosine between the normal of a floor and the vertical; steeper planes are walls."""


class Floor(NamedTuple):
    """A plane through `point` (3,) [m] with the unit vector `normal` (3,) in the world."""

    point: np.ndarray
    normal: np.ndarray


def contact_plane(system: System, up: np.ndarray) -> Floor | None:
    """The plane of the ground, or of a body fixed to it, that bodies touch or roll on; of several the most level one; None where there
    is none."""
    found = []
    fixed = {joint.child.name for joint in system.joints.values() if joint.kind == "fixed" and joint.parent.is_ground}
    for joint in system.joints.values():
        if joint.kind in ROLLING and joint.parent.is_ground:
            frames = joint.frames(system.values)
            found.append(Floor(frames.p_AJ, frames.R_AJ[:, 2]))
    for force in system.forces.values():
        for plane in _planes(force, system):
            if plane.body == "ground":
                found.append(Floor(plane.p_BF, plane.R_BF[:, 2]))
            elif plane.body in fixed:
                R, p = system.bodies[plane.body].pose(system.values)
                found.append(Floor(p + R @ plane.p_BF, R @ plane.R_BF[:, 2]))
    level = [floor for floor in found if floor.normal @ up > STEEPEST]
    return max(level, key=lambda floor: round(float(floor.normal @ up), 6)) if level else None


def _planes(force: Force, system: System) -> list[Frame]:
    """Frames, z outward, of the planes that a contact has."""
    if force.kind == "plane_contact" and len(frames := force.frames(system)) == 2:
        return [frames[1]]
    if isinstance(force, BallContact):
        return [force.frames(system)[1]] if isinstance(force.solid, HalfSpace) else []
    if isinstance(force, MeshContact | RoundContact):
        sides = zip(force.frames(system), (force.solid_a, force.solid_b), strict=True)
        return [frame for frame, solid in sides if isinstance(solid, HalfSpace)]
    if not isinstance(force, SurfaceContact):
        return []
    sides = zip(force.frames(system), (force.solid_a, force.solid_b), strict=True)
    return [
        frame._replace(
            p_BF=frame.p_BF + frame.R_BF @ np.array(solid.position),
            R_BF=frame.R_BF @ rotation_matrix(np.array(solid.orientation)),
        )
        for frame, solid in sides
        if isinstance(solid, HalfSpace)
    ]


def floor_of(system: System, up: np.ndarray, at_start: float, lowest: float, size: float) -> Floor:
    """The floor of a scene of extent `size` [m], whose lowest point along `up` is `at_start` at first and `lowest` in all.

    Without a plane of contact it is the world's ground, height 0, where all of it stands on or above that and either
    something is fixed to it or nothing ever goes below; otherwise it is just below the whole motion.
    """
    touched = contact_plane(system, up)
    if touched is not None:
        return touched
    little = 0.03 * size
    stands = any(
        joint.kind == "fixed" and joint.parent.is_ground and joint.child.shapes for joint in system.joints.values()
    )
    at_ground = -little < at_start < size and (stands or lowest > -little)
    return Floor((0.0 if at_ground else lowest - 1e-3 * size) * up, up)

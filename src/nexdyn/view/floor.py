"""Where the floor of a scene lies: in the plane that bodies touch or roll on, else at the height 0 of the world.

Of boxes, hulls and meshes that are fixed to the ground and touched, a face that is half as wide as the scene carries the floor, just below
it, for the face is drawn itself; of smaller ones, and of terrain without such a face, the floor lies under them. Only what hangs or falls
below 0 has its floor below the whole motion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.forces.ball_contact import BallContact
from nexdyn.forces.capsule_contact import CapsuleContact
from nexdyn.forces.mesh_contact import MeshContact
from nexdyn.forces.round_contact import RoundContact
from nexdyn.forces.surface_contact import SurfaceContact
from nexdyn.model.force import Force, Frame
from nexdyn.model.shapes import Box, HalfSpace, HeightField, Hull, Mesh
from nexdyn.model.system import System
from nexdyn.spatial.rotations import rotation_matrix

ROLLING = frozenset({"rolling_disk", "rolling_sphere"})
"""Joints whose parent's frame has the plane as x, y and its normal as z."""
STEEPEST = 0.5
"""Least cosine between the normal of a floor and the vertical; steeper planes are walls."""


WIDE = 0.5
"""Width, of the size of the scene, from which on a face carries the floor."""
LITTLE = 0.03
"""By what, of the size of the scene, something may go below and is not seen to."""
BELOW = 1e-3
"""How far a floor lies below what stands on it and is drawn itself, of the size of the scene."""


class Floor(NamedTuple):
    """A plane through `point` (3,) [m] with the unit vector `normal` (3,) in the world."""

    point: np.ndarray
    normal: np.ndarray


def standing(system: System) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The bodies that fixed joints hold on the ground, also through each other, and where: R_WB (3, 3) and p_WB (3,) [m].

    R_WB = R_WA R_AJ R_BJᵀ,  p_WB = p_WA + R_WA p_AJ − R_WB p_BJ,  as it is assembled, wherever the body is described
    """
    meeting: dict[str, list[tuple[str, Any, Any]]] = {}
    for joint in system.joints.values():
        if joint.kind == "fixed":
            f, parent, child = joint.frames(system.values), joint.parent.name, joint.child.name
            meeting.setdefault(parent, []).append((child, (f.R_AJ, f.p_AJ), (f.R_BJ, f.p_BJ)))
            meeting.setdefault(child, []).append((parent, (f.R_BJ, f.p_BJ), (f.R_AJ, f.p_AJ)))
    found = {"ground": (np.eye(3), np.zeros(3))}
    left = ["ground"]
    while left:
        name = left.pop()
        R_WA, p_WA = found[name]
        for other, (R_AJ, p_AJ), (R_BJ, p_BJ) in meeting.get(name, []):
            if other not in found:
                R_WB = R_WA @ R_AJ @ R_BJ.T
                found[other] = R_WB, p_WA + R_WA @ p_AJ - R_WB @ p_BJ
                left.append(other)
    del found["ground"]
    return found


def contact_plane(system: System, up: np.ndarray) -> Floor | None:
    """The plane of the ground, or of a body fixed to it, that bodies touch or roll on; of several the most level one; None where there
    is none."""
    found, fixed = [], standing(system)
    for joint in system.joints.values():
        if joint.kind in ROLLING and joint.parent.is_ground:
            frames = joint.frames(system.values)
            found.append(Floor(frames.p_AJ, frames.R_AJ[:, 2]))
    for force in system.forces.values():
        for plane in _planes(force, system):
            if plane.body == "ground":
                found.append(Floor(plane.p_BF, plane.R_BF[:, 2]))
            elif plane.body in fixed:
                R, p = fixed[plane.body]
                found.append(Floor(p + R @ plane.p_BF, R @ plane.R_BF[:, 2]))
    level = [floor for floor in found if floor.normal @ up > STEEPEST]
    return max(level, key=lambda floor: round(float(floor.normal @ up), 6)) if level else None


class _Face(NamedTuple):
    """A flat part of a surface in the world: its plane and its area [m²]."""

    floor: Floor
    area: float


def _faces(vertices: np.ndarray, triangles: np.ndarray, up: np.ndarray) -> list[_Face]:
    """The flat parts of a surface (n, 3), (m, 3) that are no steeper than a floor, parts in one plane together."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    size = np.linalg.norm(cross, axis=1)
    n = cross / np.maximum(size, 1e-300)[:, None]
    level = (size > 0.0) & (n @ up > STEEPEST)
    width = max(float(np.ptp(vertices, axis=0).max()), 1e-300)
    planes = np.round(np.column_stack([n, np.sum(n * a, axis=1) / width]), 4)[level]
    _, first, part = np.unique(planes, axis=0, return_index=True, return_inverse=True)
    areas = np.bincount(part.ravel(), size[level], minlength=len(first)) / 2
    of = np.flatnonzero(level)[first]
    return [_Face(Floor(a[i], n[i]), float(area)) for i, area in zip(of, areas, strict=True)]


def _grounded(system: System) -> list[tuple[np.ndarray, np.ndarray]]:
    """Vertices (n, 3) [m] in the world and triangles of the solids with faces that are fixed to the ground and that contacts name."""
    from nexdyn.view.geometry import GREY, _Drawing

    drawing, found, known, fixed = _Drawing(system), [], set(), standing(system)
    for force in system.forces.values():
        for frame, solid in _solids(force, system):
            if frame.body not in fixed or not isinstance(solid, Box | Hull | Mesh | HeightField):
                continue
            if (frame.body, solid) in known:
                continue
            known.add((frame.body, solid))
            R, p = fixed[frame.body]
            for piece in drawing.pieces_of(frame.body, 0, solid, GREY):
                at = piece.surface.vertices.astype(float) @ piece.R_BS.T + piece.p_BS
                found.append((at @ R.T + p, piece.surface.faces))
    return found


def _solids(force: Force, system: System) -> list[tuple[Frame, Any]]:
    """The solids of a contact between shapes, and the frames of their bodies."""
    if isinstance(force, BallContact):
        return [(force.frames(system)[1], force.solid)]
    if isinstance(force, CapsuleContact | MeshContact | RoundContact | SurfaceContact):
        return list(zip(force.frames(system), (force.solid_a, force.solid_b), strict=True))
    return []


def solid_floor(system: System, up: np.ndarray, size: float, lowest: float) -> Floor | None:
    """The floor at what is fixed to the ground and touched, in a scene of extent `size` [m] whose lowest point is `lowest`: the widest
    face, or else what such solids stand on; None where there are none, or where something goes below them."""
    grounded = _grounded(system)
    if not grounded:
        return None
    faces = [face for vertices, triangles in grounded for face in _faces(vertices, triangles, up)]
    foot = min(float((vertices @ up).min()) for vertices, _ in grounded)
    if lowest < foot - LITTLE * size:  # something goes below: they hang
        return None
    wide = [face for face in faces if face.area > (WIDE * size) ** 2]
    if wide:
        widest = max(wide, key=lambda face: face.area).floor
        return widest._replace(point=widest.point - BELOW * size * widest.normal)
    return Floor(foot * up, up)


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
    touched = contact_plane(system, up) or solid_floor(system, up, size, lowest)
    if touched is not None:
        return touched
    little = LITTLE * size
    stands = any(system.bodies[name].shapes for name in standing(system))
    at_ground = -little < at_start < size and (stands or lowest > -little)
    return Floor((0.0 if at_ground else lowest - BELOW * size) * up, up)

"""Marks that are fixed to bodies: axes and frames of joints, frames of bodies, centres of mass, ellipsoids of inertia, names.

semi-axes of an ellipsoid of even density:  a² = 5 (I_b + I_c − I_a) / 2m
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.spatial.rotations import quaternion
from nexdyn.view.motion import Frame
from nexdyn.view.placing import arrow, linear, placed
from nexdyn.view.surfaces import sphere

if TYPE_CHECKING:
    from nexdyn.model.body import Body
    from nexdyn.model.joint import Joint

AXES, INERTIA, CENTER = (30, 150, 70), (40, 90, 200), (235, 190, 20)
NO_AXIS = frozenset({"fixed", "free", "spherical", "cartesian", "rod"})
MANY = 40
"""Marks beyond which they are smaller."""
CLOSE = 0.01
"""Of the extent of all names, how near to each other they are written as one."""
AUXILIARY, SMALL = 1e-3, 0.1
"""Part of the mass of all below which a body, often a frame of a robot's file, has no ellipsoid beyond this part of the scene."""
MOST_NAMES = 100
"""Names that are written; more hide the scene."""


class Marks:
    """Instances of one node, at R_BM (n, 3, 3), p_BM (n, 3) [m] of the bodies in `rows` of a frame."""

    def __init__(self, rows: list[int], R: list[np.ndarray], p: list[np.ndarray]) -> None:
        self.rows = np.array(rows, dtype=int)
        self.q = quaternion(np.array(R).reshape(-1, 3, 3)).astype(np.float32) if rows else np.zeros((0, 4), np.float32)
        self.p = np.array(p, dtype=np.float32).reshape(-1, 3)
        self.handle: Any = None

    @property
    def nodes(self) -> list[Any]:
        """What is seen or not."""
        return [self.handle]

    def at(self, f: Frame) -> tuple[np.ndarray, np.ndarray]:
        """Position and quaternion of each in the world."""
        return placed(f, self.rows, self.q, self.p)

    def show(self, f: Frame) -> None:
        """Put them where their bodies are."""
        self.handle.batched_positions, self.handle.batched_wxyzs = self.at(f)


def frame_on_carried(joint: Joint, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """The frame of a joint on the body that moves, R (3, 3) and p (3,) [m] in that body."""
    f = joint.frames(values)
    return (f.R_AJ, f.p_AJ) if joint.is_turned else (f.R_BJ, f.p_BJ)


def on_children(system: System, joints: Sequence[Joint], row: Mapping[str, int]) -> Marks:
    """Marks of the frames of joints on their children."""
    frames = [frame_on_carried(joint, system.values) for joint in joints]
    return Marks([row[joint.carried.name] for joint in joints], [R for R, _ in frames], [p for _, p in frames])


def joint_axes(scene: Any, system: System, row: dict[str, int], f: Frame, size: float) -> Marks | None:
    """An arrow along z of the frame of each joint that has an axis, on its child."""
    joints = [joint for joint in system.joints.values() if joint.kind not in NO_AXIS]
    if not joints:
        return None
    marks = on_children(system, joints, row)
    at, q = marks.at(f)
    vertices, faces = arrow((0.12 if len(joints) < MANY else 0.04) * size)
    marks.handle = scene.add_batched_meshes_simple(
        "/motion/axes", vertices, faces, q, at, batched_colors=linear(np.array(AXES) / 255.0), lod="off"
    )
    return marks


def joint_frames(scene: Any, system: System, row: dict[str, int], f: Frame, size: float) -> Marks | None:
    """The axes x, y, z of the frame of each joint, on its child."""
    joints = list(system.joints.values())
    if not joints:
        return None
    marks = on_children(system, joints, row)
    at, q = marks.at(f)
    length = (0.05 if len(joints) < MANY else 0.018) * size
    marks.handle = scene.add_batched_axes("/motion/joints", q, at, axes_length=length, axes_radius=0.05 * length)
    return marks


def named(system: System, row: dict[str, int]) -> list[tuple[str, int, np.ndarray]]:
    """The names of joints and bodies that are written, the row of the body and the place (3,) [m] in it: the joint's point, or the centre
    of mass. Names that stay in one place are written there below each other, without those of fixed joints where there are others."""
    joints = list(system.joints.values())[:MOST_NAMES]
    bodies = [name for name in row if name in system.bodies][: MOST_NAMES - len(joints)]
    rigid = _rigid(system)
    found = [
        _Name(j.name, j.carried.name, frame_on_carried(j, system.values)[1], {rigid[x.name] for x in _fixed_at(j)})
        for j in joints
    ]
    found += [_Name(name, name, system.bodies[name].resolved(system.values).com, {rigid[name]}) for name in bodies]
    place = []
    for one in found:
        body = system.bodies[one.body].resolved(system.values) if one.body in system.bodies else None
        place.append(one.p_B if body is None else body.p + body.R @ one.p_B)
    near = CLOSE * float(np.linalg.norm(np.ptp(place, axis=0))) if place else 0.0
    fixed = {joint.name for joint in joints if joint.kind == "fixed"}
    written: list[tuple[list[str], _Name, np.ndarray]] = []
    for one, p in sorted(zip(found, place, strict=True), key=lambda x: x[0].name in fixed):
        same = (x for x in written if x[1].of & one.of and np.linalg.norm(x[2] - p) <= near)
        if (others := next(same, None)) is None:
            written.append(([one.name], one, p))
        else:
            others[1].of.intersection_update(one.of)
            if one.name not in fixed:
                others[0].append(one.name)
    return [("\n".join(names), row[first.body], first.p_B) for names, first, _ in written]


class _Name(NamedTuple):
    """A name, the body in which its place p_B (3,) [m] is told, and the sets of bodies fixed to each other in which it stays."""

    name: str
    body: str
    p_B: np.ndarray
    of: set[str]


def _fixed_at(joint: Joint) -> tuple[Body, ...]:
    """The bodies in which the point of a joint stays."""
    return (
        (joint.child, joint.parent)
        if joint.kind in ("fixed", "revolute", "universal", "spherical")
        else (joint.carried,)
    )


def _rigid(system: System) -> dict[str, str]:
    """Of each body, and of the ground, the first one of those that are fixed to each other."""
    first = {name: name for name in (system.ground.name, *system.bodies)}

    def of(name: str) -> str:
        while first[name] != name:
            name = first[name]
        return name

    for joint in system.joints.values():
        if joint.kind == "fixed":
            first[of(joint.child.name)] = of(joint.parent.name)
    return {name: of(name) for name in first}


class Names(Marks):
    """The names of joints and bodies, written where a joint's frame and a body's centre of mass are."""

    def __init__(self, scene: Any, system: System, row: dict[str, int], f: Frame) -> None:
        written = named(system, row)
        super().__init__([i for _, i, _ in written], [np.eye(3)] * len(written), [p for _, _, p in written])
        self.handles = [
            scene.add_label(f"/motion/name{k}", name, position=at, font_screen_scale=0.8, anchor="bottom-left")
            for k, ((name, _, _), at) in enumerate(zip(written, self.at(f)[0], strict=True))
        ]

    @property
    def nodes(self) -> list[Any]:
        """What is seen or not."""
        return self.handles

    def show(self, f: Frame) -> None:
        """Put them where they belong."""
        for handle, at in zip(self.handles, self.at(f)[0], strict=True):
            handle.position = at


def centers(scene: Any, system: System, row: dict[str, int], f: Frame, size: float) -> Marks | None:
    """A ball at the centre of mass of each body with mass."""
    bodies = {name: system.bodies[name].resolved(system.values) for name in row if name in system.bodies}
    bodies = {name: body for name, body in bodies.items() if body.mass > 0.0}
    if not bodies:
        return None
    marks = Marks([row[name] for name in bodies], [np.eye(3)] * len(bodies), [body.com for body in bodies.values()])
    at, q = marks.at(f)
    ball = sphere((0.012 if len(bodies) < MANY else 0.005) * size)
    marks.handle = scene.add_batched_meshes_simple(
        "/motion/centers", ball.vertices, ball.faces, q, at, batched_colors=linear(np.array(CENTER) / 255.0), lod="off",
        cast_shadow=False,
    )  # fmt: skip
    return marks


def body_frames(scene: Any, f: Frame, size: float) -> Marks:
    """Axes x, y, z of each body."""
    count = len(f.position) - 1
    marks = Marks(list(range(count)), [np.eye(3)] * count, [np.zeros(3)] * count)
    at, q = marks.at(f)
    length = (0.06 if count < MANY else 0.02) * size
    marks.handle = scene.add_batched_axes("/motion/frames", q, at, axes_length=length, axes_radius=0.05 * length)
    return marks


def ellipsoids(
    system: System, row: dict[str, int], size: float
) -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Body, attitude (3, 3), centre (3,) [m] in it and semi-axes (3,) [m] of the ellipsoid of even density of each body with mass; of
    next to no mass none that would cover the rest."""
    found = []
    least = AUXILIARY * sum(body.resolved(system.values).mass for body in system.bodies.values())
    for name in row:
        body = system.bodies[name].resolved(system.values) if name in system.bodies else None
        if body is not None and body.mass > 0.0:
            moments, turned = np.linalg.eigh(body.inertia)
            turned[:, 2] *= np.linalg.det(turned)
            squared = 2.5 * (moments.sum() - 2.0 * moments) / body.mass
            axes = np.sqrt(np.maximum(squared, (0.005 * size) ** 2))
            if body.mass > least or axes.max() <= SMALL * size:
                found.append((name, turned, body.com, axes))
    return found


def inertias(scene: Any, system: System, row: dict[str, int], f: Frame, size: float) -> Marks | None:
    """The ellipsoid of even density of each body with mass, about its centre of mass; of a point mass a small ball."""
    found = ellipsoids(system, row, size)
    if not found:
        return None
    marks, ball = Marks([row[x[0]] for x in found], [x[1] for x in found], [x[2] for x in found]), sphere(1.0)
    at, q = marks.at(f)
    marks.handle = scene.add_batched_meshes_simple(
        "/motion/inertia", ball.vertices, ball.faces, q, at, batched_scales=np.array([x[3] for x in found], dtype=np.float32),
        batched_colors=linear(np.array(INERTIA) / 255.0), opacity=0.45, lod="off", cast_shadow=False,
    )  # fmt: skip
    return marks

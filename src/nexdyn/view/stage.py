"""The scene on the page: what is drawn of a system, and how a moment is put on it.

    /motion                    shifted so that a followed body stays where it is
    /motion/link…              springs, dampers, ropes and rods between two points, stretched
    /motion/batch…             surfaces that several pieces share, all instances in one message
    /motion/body…              frames of bodies with surfaces of their own
    /clock                     not seen: its x is the time [s] that all the rest is of
    /motion/inertia            of each body with mass: the ellipsoid of even density that has its mass and inertia
    /motion/axes, frames, forces, moments, trails, grid

A moment crosses to the browsers as one atomic group of messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nexdyn.model.system import System
from nexdyn.spatial.rotations import quaternion, rotation_matrix
from nexdyn.view.camera import ELEVATION, Camera, corners, look, up_of
from nexdyn.view.floor import floor_of
from nexdyn.view.geometry import Piece, backdrop, bounds, pieces, sphere
from nexdyn.view.links import Placing, links
from nexdyn.view.motion import Frame, Motion

AXES, FORCE, MOMENT, TRAIL = (30, 150, 70), (214, 39, 40), (128, 62, 190), (240, 140, 20)
INERTIA = (40, 90, 200)
CONTACT = (220, 30, 140)
LAYERS = (
    "shapes", "grid", "shadows", "joint axes", "body frames", "reaction forces", "reaction moments", "contact forces",
    "trails", "inertia",
)  # fmt: skip
SHOWN_AT_FIRST = frozenset({"shapes", "grid", "shadows", "contact forces"})
MOST_TRAILS = 12
TRAIL_POINTS = 120
_PARTS = (slice(0, 3), slice(3, 6))
FIELD = 0.8
"""Height of what is seen of the page, as an angle [rad]: wider than in pictures, for one goes nearer."""
CLOCK = "/clock"
LONG = 0.03
"""The same angle of a lens so long that what is parallel looks so, within the thirtieth part."""
SIDES = {"front": (-90.0, 0.0), "right": (0.0, 0.0), "top": (-90.0, 89.9), "corner": (-52.5, 30.0)}
"""Standard views: azimuth and elevation of the camera [deg], as in camera.look."""
TRAVEL = 3.0
"""The heaviest body of what travels so many times its own size is followed at first."""
BEHIND = {"grey": 101, "dark": 58}
"""Backgrounds that are not white, of 255."""
LINES = {"light": (200, 150), "grey": (84, 70), "dark": (75, 95)}
"""Fine and bold lines of the grid, of 255."""
NO_AXIS = frozenset({"fixed", "free", "spherical", "cartesian", "rod"})


@dataclass(frozen=True)
class Look:
    """What of the scene is seen, and how large arrows are: forces and moments [m/N], [m/(N m)]; trails [s]."""

    layers: frozenset[str] = SHOWN_AT_FIRST
    arrows: float = 1.0
    trail: float = 2.0
    follow: str = ""


class Stage:
    """The nodes of one scene on a viser server. The first frame of `motion` is shown when it is made."""

    def __init__(self, server: Any, motion: Motion, look: Look | None = None) -> None:
        self.server, self.motion = server, motion
        self.system: System = motion.system
        self.row = {name: i for i, name in enumerate([*motion.bodies, "ground"])}
        self.joining = [link for link in links(self.system) if link.a in self.row and link.b in self.row]
        self._placing = Placing.of(self.joining, self.row)
        self.drawn = [piece for piece in pieces(self.system) if piece.body in self.row]
        self.look = look or Look()
        self.look = replace(self.look, follow=self.look.follow or self._traveller())
        low, high = self._bounds(self.look.follow)
        self.center, self.size = (low + high) / 2, max(float(np.linalg.norm(high - low)), 1e-6)
        self.travel = max(self.size, float(np.linalg.norm(np.subtract(*self._bounds()))))
        self._corners = corners(low, high)
        self.up = up_of(self.system)
        self._frame = motion.at(motion.start)
        self._lay_out(low)
        self.show(motion.start)

    # --- a moment -------------------------------------------------------------------------------------------------

    def show(self, t: float, frame: Frame | None = None) -> None:
        """Put the moment `t` [s] on the page; `frame` where it does not come from the motion."""
        self._frame = f = frame or self.motion.at(t)
        layers = self.look.layers
        with self.server.atomic():
            self._clock.position = (t, 0.0, 0.0)
            self._follow(f)
            if "shapes" in layers:
                self._place_bodies(f)
            if "joint axes" in layers and len(self._axes_row):
                self._axes.batched_positions, self._axes.batched_wxyzs = _placed(
                    f, self._axes_row, self._axes_q, self._axes_p
                )
            if "inertia" in layers and len(self._inertia_row):
                self._inertia.batched_positions, self._inertia.batched_wxyzs = _placed(
                    f, self._inertia_row, self._inertia_q, self._inertia_p
                )
            if "body frames" in layers:
                self._frames.batched_positions, self._frames.batched_wxyzs = f.position[:-1], f.quaternion[:-1]
            if f.wrench is not None and len(self._joint_row):
                for layer, handle, columns, scale in self._arrows:
                    if layer in layers:
                        handle.points = self._wrench_arrows(f, columns, scale)
            if f.contact is not None and self._contacts is not None and "contact forces" in layers:
                self._contacts.points = self._contact_arrows(f)
            if "trails" in layers and frame is None:
                self._trails.points = self._trail_segments(t)

    def set_look(self, look: Look, t: float, frame: Frame | None = None) -> None:
        """Show or hide layers, follow another body."""
        self.look = look
        with self.server.atomic():
            for layer, nodes in self._nodes.items():
                for node in nodes:
                    node.visible = layer in look.layers
            self._light()
        self.show(t, frame)

    def _light(self) -> None:
        self.server.scene.configure_default_lights(cast_shadow="shadows" in self.look.layers)

    def _follow(self, f: Frame) -> None:
        shift = np.zeros(3, dtype=np.float32)
        if self.look.follow in self.row:
            i = self.row[self.look.follow]
            shift = self.motion.at(self.motion.start).position[i] - f.position[i]
        self._root.position = shift

    def _place_bodies(self, f: Frame) -> None:
        p, q = _placed(f, self._batch_row, self._batch_q, self._batch_p)
        for handle, part in self._batches:
            handle.batched_positions, handle.batched_wxyzs = p[part], q[part]
        for i, handle, last in self._singles:
            now = np.concatenate([f.position[i], f.quaternion[i]])
            if np.abs(now - last).max() > 1e-6:
                handle.position, handle.wxyz = now[:3], now[3:]
                last[:] = now
        if self._links:
            self._place_links(f)

    def _place_links(self, f: Frame) -> None:
        p, q, stretch = (x.astype(np.float32) for x in self._placing.at(f))
        for k, handle in enumerate(self._links):
            handle.batched_positions, handle.batched_wxyzs = p[k : k + 1], q[k : k + 1]
            handle.batched_scales = np.array([[1.0, 1.0, stretch[k]]], dtype=np.float32)

    def _wrench_arrows(self, f: Frame, columns: slice, scale: float) -> np.ndarray:
        """Ends (nj, 2, 3) of arrows at the joints' points, in the world; the wrench acts on the child."""
        assert f.wrench is not None
        p, q = _placed(f, self._joint_row, self._joint_q, self._joint_p)
        arrows = _turned(q, f.wrench[:, columns].astype(np.float32)) * np.float32(scale * self.look.arrows)
        ends = np.stack([p, p + arrows], axis=1)
        ends[np.linalg.norm(arrows, axis=1) < 1e-3 * self.size] += np.float32(
            1e4 * self.size
        )  # a head would still show
        return ends

    def _contact_arrows(self, f: Frame) -> np.ndarray:
        """Ends (nc, 2, 3) of the arrows of all contacts, those that do not bear far away: a head would still show."""
        assert f.contact is not None
        found = np.full((len(f.contact), 2, 3), 1e4 * self.size, dtype=np.float32)
        acting = self.motion.contact_arrows(f, self._contact_scale * self.look.arrows, self.size)
        found[: len(acting)] = acting
        return found

    def _trail_segments(self, t: float) -> np.ndarray:
        m, found = self.motion, []
        for point in self._trailed:
            path = m.path(point, t - self.look.trail, t, TRAIL_POINTS)
            found.append(np.stack([path[:-1], path[1:]], axis=1))
        segments = np.concatenate(found) if found else np.zeros((0, 2, 3), dtype=np.float32)
        return segments if len(segments) else np.zeros((1, 2, 3), dtype=np.float32)

    # --- the nodes ------------------------------------------------------------------------------------------------

    def _lay_out(self, low: np.ndarray) -> None:
        scene = self.server.scene
        scene.set_up_direction(tuple(self.up.tolist()))
        scene.configure_environment_map(None)
        self.backdrop = backdrop([*self.drawn, *self.joining])
        if self.backdrop != "light":
            scene.set_background_image(np.full((1, 1, 3), BEHIND[self.backdrop], dtype=np.uint8))
        scene.add_light_ambient("/light", intensity=0.8)
        self._root = scene.add_frame("/motion", show_axes=False)
        self._clock = scene.add_frame(CLOCK, show_axes=False)
        self._nodes: dict[str, list[Any]] = defaultdict(list)
        with self.server.atomic():
            self._add_bodies()
            self._add_links()
            self._add_grid(low)
            self._add_axes()
            self._add_frames()
            self._add_inertia()
            self._add_arrows()
            self._add_contacts()
            self._add_trails()
        for layer, nodes in self._nodes.items():
            for node in nodes:
                node.visible = layer in self.look.layers
        self._light()
        self._aim()

    def _add_bodies(self) -> None:
        scene, by_surface = self.server.scene, defaultdict(list)
        for piece in self.drawn:
            by_surface[id(piece.surface)].append(piece)
        shared = [group for group in by_surface.values() if len(group) > 1]
        ordered = [piece for group in shared for piece in group]
        self._batch_row, self._batch_q, self._batch_p = self._fixed(ordered)
        p, q = _placed(self._frame, self._batch_row, self._batch_q, self._batch_p)
        self._batches: list[tuple[Any, slice]] = []
        first = 0
        for k, group in enumerate(shared):
            part, surface = slice(first, first + len(group)), group[0].surface
            first = part.stop
            opacity = np.array([piece.color[3] for piece in group], dtype=np.float32)
            handle = scene.add_batched_meshes_simple(
                f"/motion/batch{k}", surface.vertices, surface.faces, q[part], p[part],
                batched_colors=np.array([_linear(piece.color) for piece in group], dtype=np.uint8),
                batched_opacities=opacity if (opacity < 1.0).any() else None, lod="off",
                flat_shading=not surface.smooth,
            )  # fmt: skip
            self._batches.append((handle, part))
            self._nodes["shapes"].append(handle)
        self._singles: list[tuple[int, Any, np.ndarray]] = []
        for name, own in _by_body(group[0] for group in by_surface.values() if len(group) == 1).items():
            i = self.row[name]
            now = np.concatenate([self._frame.position[i], self._frame.quaternion[i]])
            frame = scene.add_frame(f"/motion/body{i}", show_axes=False, position=now[:3], wxyz=now[3:])
            self._nodes["shapes"].append(frame)
            self._singles.append((i, frame, now))
            for k, piece in enumerate(own):
                scene.add_mesh_simple(
                    f"/motion/body{i}/piece{k}", piece.surface.vertices, piece.surface.faces,
                    color=_rgb(piece.color), opacity=piece.color[3] if piece.color[3] < 1.0 else None,
                    flat_shading=not piece.surface.smooth, wxyz=quaternion(piece.R_BS), position=piece.p_BS,
                )  # fmt: skip

    def _add_links(self) -> None:
        p, q, stretch = (x.astype(np.float32) for x in self._placing.at(self._frame))
        self._links = [
            self.server.scene.add_batched_meshes_simple(
                f"/motion/link{k}", link.surface.vertices, link.surface.faces, q[k : k + 1], p[k : k + 1],
                batched_scales=np.array([[1.0, 1.0, stretch[k]]], dtype=np.float32),
                batched_colors=_linear(link.color), lod="off",
            )
            for k, link in enumerate(self.joining)
        ]  # fmt: skip
        self._nodes["shapes"] += self._links

    def _fixed(self, of: list[Piece]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row of the body, quaternion and position in it, of pieces."""
        rows = np.array([self.row[piece.body] for piece in of], dtype=int)
        R = np.array([piece.R_BS for piece in of]).reshape(-1, 3, 3)
        q = quaternion(R) if len(R) else np.zeros((0, 4))
        p = np.array([piece.p_BS for piece in of]).reshape(-1, 3)
        return rows, q.astype(np.float32), p.astype(np.float32)

    def _add_grid(self, low: np.ndarray) -> None:
        """The floor (floor.py), about the middle of the scene."""
        f = self._frame
        R = rotation_matrix(f.quaternion.astype(float))
        poses = {name: (R[i], f.position[i].astype(float)) for name, i in self.row.items()}
        at_start = float(bounds(self.drawn, poses)[0] @ self.up)
        self.floor = floor_of(self.system, self.up, at_start, float(low @ self.up), self.size)
        point, n = self.floor
        cell = 10.0 ** np.floor(np.log10(self.size / 2.0))
        q = _turn_z_to(n)
        R_WF = rotation_matrix(q)
        across = R_WF.T @ (self.center - point)
        foot = point + R_WF @ (np.round(across / cell) * cell * (1.0, 1.0, 0.0))
        width = float(np.ceil((0.5 * self.size + 2.0 * self.travel) / cell)) * cell
        node = self.server.scene.add_grid(
            "/motion/grid", width, width, cell_size=float(cell) / 2, section_size=float(cell),
            position=foot, wxyz=q, fade_distance=20.0 * self.size, shadow_opacity=0.3,
            cell_color=(LINES[self.backdrop][0],) * 3, section_color=(LINES[self.backdrop][1],) * 3,
        )  # fmt: skip
        self._nodes["grid"].append(node)

    def _add_axes(self) -> None:
        """An arrow along z of the frame of each joint that has an axis, on its child."""
        rows, R, p = [], [], []
        for joint in self.system.joints.values():
            if joint.kind in NO_AXIS:
                continue
            frames = joint.frames(self.system.values)
            rows.append(self.row[joint.child.name])
            R.append(frames.R_BJ)
            p.append(frames.p_BJ)
        self._axes_row = np.array(rows, dtype=int)
        if not rows:
            return
        self._axes_q = quaternion(np.array(R)).astype(np.float32)
        self._axes_p = np.array(p, dtype=np.float32)
        at, q = _placed(self._frame, self._axes_row, self._axes_q, self._axes_p)
        length = 0.12 * self.size if len(rows) < 40 else 0.04 * self.size
        vertices, faces = _arrow(length)
        self._axes = self.server.scene.add_batched_meshes_simple(
            "/motion/axes", vertices, faces, q, at, batched_colors=_linear(np.array(AXES) / 255.0), lod="off"
        )
        self._nodes["joint axes"].append(self._axes)

    def _add_frames(self) -> None:
        length = (0.06 if len(self.row) < 40 else 0.02) * self.size
        f = self._frame
        self._frames = self.server.scene.add_batched_axes(
            "/motion/frames", f.quaternion[:-1], f.position[:-1], axes_length=length, axes_radius=0.05 * length
        )
        self._nodes["body frames"].append(self._frames)

    def _add_inertia(self) -> None:
        """Half axes a² = 5 (I_b + I_c − I_a) / 2m about the centre of mass; of a point mass a small ball."""
        rows, R, p, axes = [], [], [], []
        for name in self.motion.bodies:
            body = self.system.bodies[name].resolved(self.system.values)
            if body.mass > 0.0:
                moments, turned = np.linalg.eigh(body.inertia)
                turned[:, 2] *= np.linalg.det(turned)
                squared = 2.5 * (moments.sum() - 2.0 * moments) / body.mass
                rows.append(self.row[name])
                R.append(turned)
                p.append(body.com)
                axes.append(np.sqrt(np.maximum(squared, (0.005 * self.size) ** 2)))
        self._inertia_row = np.array(rows, dtype=int)
        if not rows:
            return
        self._inertia_q, self._inertia_p = quaternion(np.array(R)).astype(np.float32), np.array(p, dtype=np.float32)
        ball = sphere(1.0)
        at, q = _placed(self._frame, self._inertia_row, self._inertia_q, self._inertia_p)
        self._inertia = self.server.scene.add_batched_meshes_simple(
            "/motion/inertia", ball.vertices, ball.faces, q, at, batched_scales=np.array(axes, dtype=np.float32),
            batched_colors=_linear(np.array(INERTIA) / 255.0), opacity=0.45, lod="off", cast_shadow=False,
        )  # fmt: skip
        self._nodes["inertia"].append(self._inertia)

    def _add_arrows(self) -> None:
        """Forces and moments at the joints' points on their parents, scaled so that the largest is a fifth of all."""
        rows, R, p = [], [], []
        for name in self.motion.joints:
            joint = self.system.joints[name]
            frames = joint.frames(self.system.values)
            rows.append(self.row[joint.parent.name])
            R.append(frames.R_AJ)
            p.append(frames.p_AJ)
        self._joint_row = np.array(rows, dtype=int)
        self._arrows: list[tuple[str, Any, slice, float]] = []
        if not rows or self.motion.wrench is None:
            return
        self._joint_q, self._joint_p = quaternion(np.array(R)).astype(np.float32), np.array(p, dtype=np.float32)
        thick = 0.004 * self.size
        sizes = [float(np.sqrt(np.max(np.sum(self.motion.wrench[..., c] ** 2, axis=-1), initial=0.0))) for c in _PARTS]
        nothing = 1e-6 * max(sizes[0], sizes[1] / self.size)  # what rounding leaves of a moment that is zero
        for layer, columns, color, largest, least in (
            ("reaction forces", _PARTS[0], FORCE, sizes[0], nothing),
            ("reaction moments", _PARTS[1], MOMENT, sizes[1], nothing * self.size),
        ):
            scale = 0.2 * self.size / largest if largest > least else 0.0
            handle = self.server.scene.add_arrows(
                f"/motion/{layer.split()[1]}", self._wrench_arrows(self._frame, columns, scale), color,
                shaft_radius=thick, head_radius=2.5 * thick, head_length=6.0 * thick,
            )  # fmt: skip
            self._nodes[layer].append(handle)
            self._arrows.append((layer, handle, columns, scale))

    def _add_contacts(self) -> None:
        """Forces of contacts on bodies, where they act."""
        self._contacts: Any = None
        self._contact_scale = self.motion.contact_scale(self.size)
        if self._frame.contact is None:
            return
        thick = 0.005 * self.size
        self._contacts = self.server.scene.add_arrows(
            "/motion/contacts", self._contact_arrows(self._frame), CONTACT, shaft_radius=thick, head_radius=2.5 * thick,
            head_length=6.0 * thick,
        )  # fmt: skip
        self._nodes["contact forces"].append(self._contacts)

    def _add_trails(self) -> None:
        """Paths of the markers, and of the centres of mass of bodies that carry no other."""
        values, points = self.system.values, []
        for name in self.system.markers:
            body, _, p = self.system.frame(f"marker:{name}")
            if not body.is_ground and body.name in self.row:
                points.append((self.row[body.name], p))
        parents = {joint.parent.name for joint in self.system.joints.values()}
        last = [name for name in self.system.bodies if name not in parents and name in self.row] or self.motion.bodies
        points += [(self.row[name], self.system.bodies[name].resolved(values).com) for name in last]
        self._trailed = points[:MOST_TRAILS]
        self._trails = self.server.scene.add_line_segments(
            "/motion/trails", self._trail_segments(self.motion.start), TRAIL, thickness=2.5, thickness_units="screen"
        )
        self._nodes["trails"].append(self._trails)

    # --- camera ---------------------------------------------------------------------------------------------------

    def _traveller(self) -> str:
        """The heaviest body of what travels far across gravity, beyond its own size, "" of all else."""
        m, up = self.motion, up_of(self.system)
        (low, high), (least, most) = self._bounds(moment=True), self._bounds()
        if not m.moves or np.linalg.norm(np.cross(up, most - least)) < TRAVEL * np.linalg.norm(high - low):
            return ""
        gone = np.linalg.norm(np.ptp(np.cross(up, m.position), axis=0), axis=1)
        heavy = [self.system.bodies[name].resolved(self.system.values).mass for name in m.bodies]
        heaviest = int(np.argmax(heavy))
        return m.bodies[heaviest] if gone[heaviest] > np.linalg.norm(high - low) else ""

    def _bounds(self, follow: str = "", moment: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """A box (3,), (3,) [m] around all that is drawn during the motion as a body is followed, or at its start alone."""
        f = self.motion.at(self.motion.start)
        R = rotation_matrix(f.quaternion.astype(float))
        poses = {name: (R[i], f.position[i].astype(float)) for name, i in self.row.items()}
        low, high = bounds(self.drawn, poses)
        for end in self._placing.ends(f):
            low, high = np.min([low, *end], axis=0), np.max([high, *end], axis=0)
        p = self.motion.position[:: max(1, len(self.motion.times) // 200)]
        if follow in self.motion.bodies:
            i = self.row[follow]
            p = p - (p[:, i] - p[0, i])[:, None]
        p = p.reshape(-1, 3)
        if self.motion.moves and len(p) and not moment:
            margin = (high - low).max() * 0.1
            far = 4.0 * np.linalg.norm(high - low)  # a body that flies away does not make the rest a dot
            low = np.minimum(low, np.maximum(p.min(axis=0) - margin, low - far))
            high = np.maximum(high, np.minimum(p.max(axis=0) + margin, high + far))
        return low, high

    def camera(self, aspect: float = 1.0, side: str = "", field: float = FIELD) -> Camera:
        """What has all of the motion in sight in a window `aspect` times as wide as high; the first is for a square one.

        side: one of `SIDES`, or "" for the one that shows most; field: height of what is seen, as an angle [rad].
        """
        azimuth, elevation = SIDES[side] if side else (None, ELEVATION)
        return look(self.system, self._corners, min(aspect, 1.0), azimuth, elevation, field)

    def _aim(self) -> None:
        """Where browsers look from at first."""
        first, camera = self.camera(), self.server.initial_camera
        self.eye = first.eye
        camera.up = tuple(self.up.tolist())
        camera.near, camera.far = 1e-3 * self.size, 200.0 * self.size
        camera.fov = FIELD
        camera.position, camera.look_at = tuple(first.eye.tolist()), tuple(first.target.tolist())


# --- poses ----------------------------------------------------------------------------------------------------------


def _placed(f: Frame, rows: np.ndarray, q: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion in the world of what is fixed at q, p to the bodies `rows`."""
    a = f.quaternion[rows]
    w, x, y, z = a.T
    W, X, Y, Z = q.T
    out = np.empty_like(q)
    out[:, 0] = w * W - x * X - y * Y - z * Z
    out[:, 1] = w * X + x * W + y * Z - z * Y
    out[:, 2] = w * Y - x * Z + y * W + z * X
    out[:, 3] = w * Z + x * Y - y * X + z * W
    return f.position[rows] + _turned(a, p), out


def _turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """R(q) v = v + 2 (w u × v + u × (u × v)),  q = (w, u)."""
    w, u = q[:, :1], q[:, 1:]
    uv = np.cross(u, v)
    return np.asarray(v + 2.0 * (w * uv + np.cross(u, uv)))


def _by_body(of: Iterable[Piece]) -> dict[str, list[Piece]]:
    found: dict[str, list[Piece]] = defaultdict(list)
    for piece in of:
        found[piece.body].append(piece)
    return found


def _rgb(color: Any) -> tuple[int, int, int]:
    r, g, b = (round(255 * part) for part in color[:3])
    return r, g, b


def _linear(color: Any) -> tuple[int, int, int]:
    """The colour of an instance in a batch, which viser takes as linear light: c ↦ ((c + 0.055)/1.055)^2.4."""
    c = np.asarray(color[:3], dtype=float)
    return _rgb(np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4).tolist())


def _turn_z_to(up: np.ndarray) -> np.ndarray:
    """The quaternion of the shortest turn from z to `up`."""
    if up[2] < -0.999999:
        return np.array((0.0, 1.0, 0.0, 0.0))
    q = np.array((1.0 + up[2], -up[1], up[0], 0.0))
    return np.asarray(q / np.linalg.norm(q))


def _arrow(length: float) -> tuple[np.ndarray, np.ndarray]:
    """An arrow along z about its middle: vertices and faces."""
    from nexdyn.view.geometry import revolved

    r = 0.018 * length
    line = [(0.0, -0.5), (r / length, -0.5), (r / length, 0.38), (3.2 * r / length, 0.38), (0.0, 0.5)]
    surface = revolved(np.array(line) * length)
    return surface.vertices, surface.faces

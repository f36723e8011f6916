"""The scene on the page: what is drawn of a system, and how a moment is put on it.

    /motion                    shifted so that a followed body stays where it is
    /motion/link…              springs, dampers, ropes and rods between two points, stretched
    /motion/batch…             surfaces that several pieces share, all instances in one message
    /motion/body…              frames of bodies with surfaces of their own
    /clock                     not seen: its x is the time [s] that all the rest is of
    /motion/axes, frames, inertia    marks fixed to bodies (marks.py)
    /motion/forces, moments, contacts    arrows (arrows.py)
    /motion/pressure    discs of contacts over areas, /scale their colours (pressure.py)
    /motion/collision…    collision shapes (collision.py)
    /motion/section    the plane beyond which bodies are not drawn (section.py)
    /motion/trails, grid

A moment crosses to the browsers as one atomic group of messages.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from nexdyn.model.system import System
from nexdyn.spatial.rotations import quaternion, rotation_matrix
from nexdyn.view.arrows import ContactArrows, WrenchArrows
from nexdyn.view.camera import ELEVATION, Camera, corners, look, up_of
from nexdyn.view.collision import CollisionShapes, collision_pieces
from nexdyn.view.floor import floor_of
from nexdyn.view.geometry import backdrop, bounds, pieces
from nexdyn.view.links import Placing, links
from nexdyn.view.marks import Marks, Names, body_frames, centers, inertias, joint_axes, joint_frames
from nexdyn.view.motion import Frame, Motion
from nexdyn.view.placing import linear, placed, rgb, turn_z_to
from nexdyn.view.pressure import Pressures
from nexdyn.view.section import NODE as SECTION
from nexdyn.view.section import opacity_of, pose_of, section_of
from nexdyn.view.server import together
from nexdyn.view.sizes import look_of
from nexdyn.view.surfaces import Piece

TRAIL = (240, 140, 20)
LAYERS = (
    "shapes", "grid", "shadows", "joint axes", "body frames", "reaction forces", "reaction moments", "contact forces",
    "contact pressure", "trails", "inertia", "centres of mass", "joint frames", "names", "collision shapes",
)  # fmt: skip
SHOWN_AT_FIRST = frozenset({"shapes", "grid", "shadows", "contact forces", "contact pressure"})
MOST_TRAILS = 12
TRAIL_POINTS = 120
MOST_PAST = 3000
"""Moments of a motion that goes on which trails remember."""
FIELD = 0.8
"""Height of what is seen of the page, as an angle [rad]: wider than in pictures, for one goes nearer."""
CLOCK = "/clock"
LENS = "/lens"
"""A node that is not seen: its x tells pages whether they draw without perspective, its y the size of the scene [m] (scene.js)."""
LONG = 1e-3
"""The same angle of a lens so long that what is parallel looks so in pictures, to a thousandth."""
SIDES = {
    "front": (-90.0, 0.0), "right": (0.0, 0.0), "top": (-90.0, 89.9), "corner": (-52.5, 30.0), "back": (90.0, 0.0),
    "left": (180.0, 0.0), "bottom": (-90.0, -89.9),
}  # fmt: skip
"""Standard views: azimuth and elevation of the camera [deg], as in camera.look."""
TRAVEL = 3.0
"""The heaviest body of what travels so many times its own size is followed at first."""
ROOM = 0.75
"""Part of the reach about where a running system hangs that its picture has room for: a box, whose corners lie farther out."""
SKIES = {
    "light": ((233, 240, 250), (255, 255, 255)), "grey": ((72, 82, 96), (93, 88, 83)), "dark": ((46, 57, 72), (70, 63, 58)),
    "night": ((9, 14, 25), (23, 20, 19)), "dusk": ((136, 148, 164), (162, 154, 146)),
}  # fmt: skip
"""Red, green and blue of each background above and below, of 255. In the middle they are nearly white, and as light as the greys 84, 58, 16
and 150."""
AMBIENT = {False: 0.8, True: 2.0}
"""Light from everywhere, of a page that is dark or not: before a dark background sides in the shade are to be seen."""
LINES = {"light": (200, 150), "grey": (70, 58), "dark": (75, 95), "night": (42, 64), "dusk": (128, 112)}
"""Fine and bold lines of the grid, of 255."""


@dataclass(frozen=True)
class Look:
    """What of the scene is seen, and how large arrows are: forces and moments [m/N], [m/(N m)]; trails [s].

    opacity: of the bodies, above 0 and at most 1. section: ("y", 0.1) takes away what of the bodies has y > 0.1 m, ("-y", 0.1) y < 0.1 m.
    """

    layers: frozenset[str] = SHOWN_AT_FIRST
    arrows: float = 1.0
    trail: float = 2.0
    follow: str = ""
    opacity: float = 1.0
    section: tuple[str, float] | None = None

    def __post_init__(self) -> None:
        opacity_of(self.opacity)
        section_of(self.section)


class Carried(Protocol):
    """What a stage puts on each moment next to its own: a mark of what is selected, measured points, a ghost."""

    def show(self, t: float, f: Frame, /) -> None: ...

    def remove(self) -> None: ...


class Stage:
    """The nodes of one scene on a viser server. The first frame of `motion` is shown when it is made. home: from where it is seen at first,
    instead of where all of it is in sight. parallel: drawn without perspective. like: a stage of the same bodies in other sizes, in whose
    place this one comes: the vertical, a followed body and trails go on. scene: what makes the nodes, instead of the server's own."""

    def __init__(
        self, server: Any, motion: Motion, look: Look | None = None, dark: bool = False, home: Camera | None = None,
        parallel: bool = False, like: Stage | None = None, scene: Any = None,
    ) -> None:  # fmt: skip
        self.scene: Any = server.scene if scene is None else scene
        self.server, self.motion, self.dark, self.home, self.parallel = server, motion, dark, home, parallel
        self.system: System = motion.system
        self.row = {name: i for i, name in enumerate([*motion.bodies, "ground"])}
        self.joining = [link for link in links(self.system) if link.a in self.row and link.b in self.row]
        self.placing = Placing.of(self.joining, self.row)
        self.drawn = [piece for piece in pieces(self.system) if piece.body in self.row]
        self.look = look or Look()
        if like is None:
            self.look = replace(self.look, follow=self.look.follow or self._traveller())
        low, high = self._bounds(self.look.follow)
        if motion.goes_on:
            low, high = self._room(low, high)
        self.center, self.size = (low + high) / 2, max(float(np.linalg.norm(high - low)), 1e-6)
        self.travel = max(self.size, float(np.linalg.norm(np.subtract(*self._bounds()))))
        self._corners = corners(low, high)
        self.up: np.ndarray = up_of(self.system) if like is None else like.up
        self.frame = self._first = motion.at(motion.start)
        self.shift, self._kept_at = np.zeros(3, dtype=np.float32), np.zeros(3, dtype=np.float32)
        self.still = False
        """Whether the scene stays where it is although a body is followed: a hand moves it."""
        self._past: deque[tuple[float, np.ndarray]] = deque(maxlen=MOST_PAST)
        self.carried: dict[str, Carried] = {}
        self.makers: dict[str, Callable[[Any, Frame], Carried]] = {}
        """What makes what is carried, by name."""
        self._lay_out(low)
        self.keep_place()
        self.outgrown = like is not None
        """Whether browsers look from where they would with other sizes."""
        if like is not None:
            self._go_on_from(like)
        else:
            self.aim()
        self._see_through()
        self._cut()
        self.show(motion.start)

    @cached_property
    def drawn_like(self) -> bytes:
        """What `look_of` tells of what is drawn."""
        return look_of(self.system, self.up)

    def _go_on_from(self, like: Stage) -> None:
        self._first, self.shift, self._kept_at = like._first, like.shift, like._kept_at
        self.eye: np.ndarray = like.eye
        if len(like.trailed) == len(self.trailed):
            self._past = like._past

    # --- a moment -------------------------------------------------------------------------------------------------

    def show(self, t: float, frame: Frame | None = None) -> None:
        """Put the moment `t` [s] on the page; `frame` where it does not come from the motion."""
        self.frame = f = frame or self.motion.at(t)
        layers = self.look.layers
        with together(self.server):
            put(self._clock, np.array([t, 0.0, 0.0]))
            self._follow(f)
            if "shapes" in layers:
                self._place_bodies(f)
            for layer, marks in self.marks.items():
                if layer in layers:
                    marks.show(f)
            self.wrenches.show(f, layers, self.look.arrows)
            if "contact forces" in layers:
                self.contacts.show(f, self.look.arrows)
            if "contact pressure" in layers:
                self.pressures.show(f)
            for carried in self.carried.values():
                carried.show(t, f)
            if "trails" in layers and (frame is None or self._past):
                self._trails.points = self._trail_segments(t)

    def grow(self, t: float, f: Frame) -> None:
        """Of a motion that goes on there is another moment: scales of arrows and pressures are of it, too, and trails go on to it."""
        for part in (self.wrenches, self.contacts, self.pressures):
            part.grow(f)
        while self._past and self._past[-1][0] >= t:  # it was restarted, or taken back
            self._past.pop()
        R = rotation_matrix(f.quaternion.astype(float))
        at = np.array([f.position[i] + R[i] @ p for i, p in self.trailed]).reshape(-1, 3)
        self._past.append((t, at.astype(np.float32)))

    def set_look(self, look: Look, t: float, frame: Frame | None = None, steady: bool = False) -> None:
        """Show or hide layers, follow another body. steady: one that is followed from now on stays where it is seen, else it comes to where
        it was at the start; and what was followed leaves the scene where it is."""
        before, self.look = self.look, look
        if look.follow != before.follow:
            self.keep_place(steady)
        with together(self.server):
            if look.opacity != before.opacity:
                self._see_through()
            if look.section != before.section:
                self._cut()
            for layer, nodes in self.nodes.items():
                for node in nodes:
                    node.visible = layer in look.layers
            self._light()
        self.show(t, frame)

    def _see_through(self) -> None:
        """Let the bodies be as transparent as is asked."""
        share = self.look.opacity
        for handle, own in self.opaque:
            now = None if share * own >= 1.0 else share * own
            if handle.opacity != now:
                handle.opacity = now

    def _cut(self) -> None:
        """Tell the page where bodies end (scene.js)."""
        self._section.position, self._section.wxyz = pose_of(section_of(self.look.section))

    def carry(self, name: str, make: Callable[[Any, Frame], Carried] | None) -> None:
        """Have what `make` makes of the scene and the shown moment put on every moment, instead of what had the name."""
        with together(self.server):
            if (before := self.carried.pop(name, None)) is not None:
                before.remove()
            self.makers.pop(name, None)
            if make is not None:
                self.makers[name] = make
                self.carried[name] = make(self.scene, self.frame)

    def darken(self, dark: bool) -> None:
        """Put a dark sky behind the scene, or the one with the most contrast; what is dark stands out from grey."""
        self.behind = self.backdrops[dark]
        self.scene.set_background_image(sky(self.behind), format="png")
        self._ambient.intensity = AMBIENT[dark]
        if self._floor is not None:
            self._floor.cell_color, self._floor.section_color = ((grey,) * 3 for grey in LINES[self.behind])

    def lens(self, parallel: bool) -> None:
        """Draw without perspective, or with it."""
        self.parallel = parallel
        put(self._lens, np.array([float(parallel), self.size, 0.0]))

    def _light(self) -> None:
        self.scene.configure_default_lights(cast_shadow="shadows" in self.look.layers)

    def keep_place(self, steady: bool = False) -> None:
        """Keep the followed body where it was at the start, or where it is seen now; with none, the scene where it was, or is."""
        followed = self.row.get(self.look.follow)
        if followed is not None:
            self._kept_at = self.frame.position[followed] + self.shift if steady else self._first.position[followed]
        elif not steady:
            self.shift = np.zeros(3, dtype=np.float32)

    @property
    def drift(self) -> np.ndarray:
        """How far (3,) [m] the scene stands from where it stood, had the followed body stayed where it was at the start."""
        followed = self.row.get(self.look.follow)
        return self.shift if followed is None else self._kept_at - self._first.position[followed]

    def _follow(self, f: Frame) -> None:
        if self.look.follow in self.row:
            at = f.position[self.row[self.look.follow]]
            if self.still:
                self._kept_at = at + self.shift
            else:
                self.shift = self._kept_at - at
        put(self._root, self.shift)

    def _place_bodies(self, f: Frame) -> None:
        p, q = placed(f, self.batch_row, self.batch_q, self.batch_p)
        for handle, part in self.batches:
            handle.batched_positions, handle.batched_wxyzs = p[part], q[part]
        for i, handle, last in self.singles:
            now = np.concatenate([f.position[i], f.quaternion[i]])
            if np.abs(now - last).max() > 1e-6:
                put(handle, now[:3], now[3:])
                last[:] = now
        if self.links:
            self._place_links(f)

    def _place_links(self, f: Frame) -> None:
        p, q, stretch = (x.astype(np.float32) for x in self.placing.at(f))
        for k, handle in enumerate(self.links):
            handle.batched_positions, handle.batched_wxyzs = p[k : k + 1], q[k : k + 1]
            handle.batched_scales = np.array([[1.0, 1.0, stretch[k]]], dtype=np.float32)

    def _trail_segments(self, t: float) -> np.ndarray:
        if self._past:
            path = np.array([at for time, at in self._past if t - self.look.trail <= time <= t]).reshape(
                -1, len(self.trailed), 3
            )
            path = path[:: -max(1, len(path) // TRAIL_POINTS)][::-1]  # to the last one
            segments = np.stack([path[:-1], path[1:]], axis=2).reshape(-1, 2, 3)
            return segments if len(segments) else np.zeros((1, 2, 3), dtype=np.float32)
        m, found = self.motion, []
        for point in self.trailed:
            path = m.path(point, t - self.look.trail, t, TRAIL_POINTS)
            found.append(np.stack([path[:-1], path[1:]], axis=1))
        segments = np.concatenate(found) if found else np.zeros((0, 2, 3), dtype=np.float32)
        return segments if len(segments) else np.zeros((1, 2, 3), dtype=np.float32)

    # --- the nodes ------------------------------------------------------------------------------------------------

    def _lay_out(self, low: np.ndarray) -> None:
        scene = self.scene
        scene.set_up_direction(tuple(self.up.tolist()))
        scene.configure_environment_map(None)
        self._ambient: Any = scene.add_light_ambient("/light", intensity=AMBIENT[self.dark])
        self.backdrops: dict[bool, str] = {dark: backdrop([*self.drawn, *self.joining], dark) for dark in (False, True)}
        self._floor: Any = None
        self.darken(self.dark)
        self._root = scene.add_frame("/motion", show_axes=False)
        self._clock = scene.add_frame(CLOCK, show_axes=False)
        self._section = scene.add_frame(SECTION, show_axes=False)
        self._lens = scene.add_frame(LENS, show_axes=False)
        self.lens(self.parallel)
        self.nodes: dict[str, list[Any]] = defaultdict(list)
        with together(self.server):
            self._add_bodies()
            self._add_links()
            self._add_grid(low)
            self._add_marks()
            self._add_arrows()
            self._add_trails()
        for layer, nodes in self.nodes.items():
            for node in nodes:
                node.visible = layer in self.look.layers
        self._light()

    def _add_bodies(self) -> None:
        scene, by_surface = self.scene, defaultdict(list)
        for piece in self.drawn:
            by_surface[id(piece.surface)].append(piece)
        shared = [group for group in by_surface.values() if len(group) > 1]
        ordered = [piece for group in shared for piece in group]
        self.batch_row, self.batch_q, self.batch_p = self._fixed(ordered)
        p, q = placed(self.frame, self.batch_row, self.batch_q, self.batch_p)
        self.batches: list[tuple[Any, slice]] = []
        self.opaque: list[tuple[Any, float]] = []  # meshes of bodies, and how opaque the model has them
        self.held: list[tuple[str, Piece]] = []
        """What can be picked, and the node that has its surface."""
        first = 0
        for k, group in enumerate(shared):
            part, surface = slice(first, first + len(group)), group[0].surface
            first = part.stop
            opacity = np.array([piece.color[3] for piece in group], dtype=np.float32)
            handle = scene.add_batched_meshes_simple(
                f"/motion/batch{k}", surface.vertices, surface.faces, q[part], p[part],
                batched_colors=np.array([linear(piece.color) for piece in group], dtype=np.uint8),
                batched_opacities=opacity if (opacity < 1.0).any() else None, lod="off",
                flat_shading=not surface.smooth,
            )  # fmt: skip
            self.batches.append((handle, part))
            self.held += [(handle.name, piece) for piece in group]
            self.opaque.append((handle, 1.0))
            self.nodes["shapes"].append(handle)
        self.singles: list[tuple[int, Any, np.ndarray]] = []
        for name, own in by_body(group[0] for group in by_surface.values() if len(group) == 1).items():
            i = self.row[name]
            now = np.concatenate([self.frame.position[i], self.frame.quaternion[i]])
            frame = scene.add_frame(f"/motion/body{i}", show_axes=False, position=now[:3], wxyz=now[3:])
            self.nodes["shapes"].append(frame)
            self.singles.append((i, frame, now))
            for k, piece in enumerate(own):
                mesh = scene.add_mesh_simple(
                    f"/motion/body{i}/piece{k}", piece.surface.vertices, piece.surface.faces,
                    color=rgb(piece.color), opacity=piece.color[3] if piece.color[3] < 1.0 else None,
                    flat_shading=not piece.surface.smooth, wxyz=quaternion(piece.R_BS), position=piece.p_BS,
                )  # fmt: skip
                self.opaque.append((mesh, piece.color[3]))
                self.held.append((mesh.name, piece))

    def _add_links(self) -> None:
        p, q, stretch = (x.astype(np.float32) for x in self.placing.at(self.frame))
        self.links = [
            self.scene.add_batched_meshes_simple(
                f"/motion/link{k}", link.surface.vertices, link.surface.faces, q[k : k + 1], p[k : k + 1],
                batched_scales=np.array([[1.0, 1.0, stretch[k]]], dtype=np.float32),
                batched_colors=linear(link.color), lod="off",
            )
            for k, link in enumerate(self.joining)
        ]  # fmt: skip
        self.nodes["shapes"] += self.links
        self.opaque += [(handle, 1.0) for handle in self.links]

    def _fixed(self, of: list[Piece]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row of the body, quaternion and position in it, of pieces."""
        rows = np.array([self.row[piece.body] for piece in of], dtype=int)
        R = np.array([piece.R_BS for piece in of]).reshape(-1, 3, 3)
        q = quaternion(R) if len(R) else np.zeros((0, 4))
        p = np.array([piece.p_BS for piece in of]).reshape(-1, 3)
        return rows, q.astype(np.float32), p.astype(np.float32)

    def _add_grid(self, low: np.ndarray) -> None:
        """The floor (floor.py), about the middle of the scene."""
        f = self.frame
        R = rotation_matrix(f.quaternion.astype(float))
        poses = {name: (R[i], f.position[i].astype(float)) for name, i in self.row.items()}
        at_start = float(bounds(self.drawn, poses)[0] @ self.up)
        self.floor = floor_of(self.system, self.up, at_start, float(low @ self.up), self.size)
        point, n = self.floor
        cell = 10.0 ** np.floor(np.log10(self.size / 2.0))
        q = turn_z_to(n)
        R_WF = rotation_matrix(q)
        across = R_WF.T @ (self.center - point)
        foot = point + R_WF @ (np.round(across / cell) * cell * (1.0, 1.0, 0.0))
        width = float(np.ceil((0.5 * self.size + 2.0 * self.travel) / cell)) * cell
        node = self.scene.add_grid(
            "/motion/grid", width, width, cell_size=float(cell) / 2, section_size=float(cell),
            position=foot, wxyz=q, fade_distance=20.0 * self.size, shadow_opacity=0.3,
            cell_color=(LINES[self.behind][0],) * 3, section_color=(LINES[self.behind][1],) * 3,
        )  # fmt: skip
        self._floor = node
        self.nodes["grid"].append(node)

    def _add_marks(self) -> None:
        scene, f = self.scene, self.frame
        found: dict[str, Marks | CollisionShapes | None] = {
            "joint axes": joint_axes(scene, self.system, self.row, f, self.size),
            "body frames": body_frames(scene, f, self.size),
            "inertia": inertias(scene, self.system, self.row, f, self.size),
            "centres of mass": centers(scene, self.system, self.row, f, self.size),
            "joint frames": joint_frames(scene, self.system, self.row, f, self.size),
            "names": Names(scene, self.system, self.row, f),
        }
        if shapes := collision_pieces(self.system, self.row, self.size):
            found["collision shapes"] = CollisionShapes(scene, shapes, self.row, f)
        self.marks = {layer: marks for layer, marks in found.items() if marks is not None}
        for layer, marks in self.marks.items():
            self.nodes[layer] += marks.nodes

    def _add_arrows(self) -> None:
        scene, f = self.scene, self.frame
        self.wrenches = WrenchArrows(scene, self.motion, self.row, f, self.size)
        self.contacts = ContactArrows(scene, self.motion, f, self.size)
        for layer, (handle, _, _) in self.wrenches.handles.items():
            self.nodes[layer].append(handle)
        if self.contacts.handle is not None:
            self.nodes["contact forces"].append(self.contacts.handle)
        self.pressures = Pressures(scene, self.motion, f, self.size)
        if self.pressures.handle is not None:
            self.nodes["contact pressure"].append(self.pressures.handle)

    def _add_trails(self) -> None:
        """Paths of the markers, and of the centres of mass of bodies that carry no other."""
        values, points = self.system.values, []
        for name in self.system.markers:
            body, _, p = self.system.frame(f"marker:{name}")
            if not body.is_ground and body.name in self.row:
                points.append((self.row[body.name], p))
        parents = {joint.carrier.name for joint in self.system.joints.values()}
        last = [name for name in self.system.bodies if name not in parents and name in self.row] or self.motion.bodies
        points += [(self.row[name], self.system.bodies[name].resolved(values).com) for name in last]
        self.trailed, self.without_trail = points[:MOST_TRAILS], max(0, len(points) - MOST_TRAILS)
        self._trails = self.scene.add_line_segments(
            "/motion/trails", self._trail_segments(self.motion.start), TRAIL, thickness=2.5, thickness_units="screen"
        )
        self.nodes["trails"].append(self._trails)

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
        for end in self.placing.ends(f):
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

    def _room(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a system that goes on may fill: what hangs on the ground, a ball about where it hangs."""
        system = self.system
        far = float(np.linalg.norm(high - low))
        least, most = low - 0.2 * far, high + 0.2 * far
        for joint in system.joints.values():
            if joint.carrier.is_ground and joint.tree and joint.nv < 6:
                at = joint.tree_frames(system.values).p_AJ
                reach = float(np.linalg.norm(np.maximum(np.abs(low - at), np.abs(high - at))))
                least, most = np.minimum(least, at - ROOM * reach), np.maximum(most, at + ROOM * reach)
        return least, most

    def camera(self, aspect: float = 1.0, side: str = "", parallel: bool | None = None) -> Camera:
        """What has all of the motion in sight in a window `aspect` times as wide as high; the first is for a square one.

        side: one of `SIDES`, or "" for the one that shows most. parallel: without perspective, None: as it is drawn now; what is at the
        target is as large as with it.
        """
        if self.home is not None and not side:
            return self.home
        azimuth, elevation = SIDES[side] if side else (None, ELEVATION)
        if not (self.parallel if parallel is None else parallel):
            return look(self.system, self._corners, min(aspect, 1.0), azimuth, elevation, FIELD)
        far = look(self.system, self._corners, min(aspect, 1.0), azimuth, elevation, LONG)
        distance = far.distance * float(np.tan(LONG / 2) / np.tan(FIELD / 2))
        return far._replace(eye=far.target + distance * far.R_CW[2], distance=distance)

    def aim(self) -> None:
        """Where browsers look from at first."""
        first, camera = self.camera(), self.server.initial_camera
        self.eye = first.eye
        camera.up = tuple(self.up.tolist())
        camera.near, camera.far = 1e-3 * self.size, 200.0 * self.size
        camera.fov = FIELD
        camera.position, camera.look_at = tuple(first.eye.tolist()), tuple(first.target.tolist())


def sky(kind: str) -> np.ndarray:
    """A background as bytes of sRGB (256, 1, 3), from above to below."""
    above, below = (np.array(color, dtype=float) for color in SKIES[kind])
    down = np.linspace(0.0, 1.0, 256)[:, None, None]
    return np.asarray((above + down * (below - above)).round().astype(np.uint8))


def put(handle: Any, position: np.ndarray, quaternion: np.ndarray | None = None) -> None:
    """Put a node there. viser leaves out what is close to the last value by 1e-5 of its size, as a time after an hour is; not here."""
    for name, value in (("position", position), ("wxyz", quaternion)):
        if value is not None and not np.array_equal(getattr(handle, name), value):
            getattr(handle._impl, name).fill(np.nan)
            setattr(handle, name, value)


def by_body(of: Iterable[Piece]) -> dict[str, list[Piece]]:
    found: dict[str, list[Piece]] = defaultdict(list)
    for piece in of:
        found[piece.body].append(piece)
    return found

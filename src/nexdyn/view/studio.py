"""Pictures of a motion, drawn without a display (raster.py).

A picture holds the bodies, their shadow on the floor (floor.py), the paths of some points, and the time. The
camera stands still, or goes along with a body, and sees the whole motion.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import unknown
from nexdyn.simulation.quiet import quiet
from nexdyn.spatial.algebra import Mat3, Vec3
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view import raster
from nexdyn.view.camera import FIELD, Camera, camera_at, look
from nexdyn.view.caps import cap
from nexdyn.view.collision import collision_pieces
from nexdyn.view.extras import need
from nexdyn.view.floor import floor_of
from nexdyn.view.geometry import backdrop, pieces
from nexdyn.view.ghost import COLOR, OPACITY
from nexdyn.view.links import Link, Placing, links
from nexdyn.view.motion import Frame, Motion
from nexdyn.view.overlays import CONTACT, Lines, Transmitted, arrow
from nexdyn.view.pictured import body_frames, joint_frames, outlined, rule, selected_of, solids, words_at, write
from nexdyn.view.pressure import color as color_of
from nexdyn.view.pressure import discs, rims, scale_of, ticks
from nexdyn.view.section import Section, cut, section_of
from nexdyn.view.shot import Shot
from nexdyn.view.sizes import system_at, systems_of
from nexdyn.view.surfaces import Piece, Surface

SHADOW_SAMPLES = 1024
SKIES = {"light": (0.90, 1.0, -0.16), "grey": (0.115, 0.145, -0.3), "dark": (0.045, 0.065, 1.2)}
"""Intensity of each background above and below, and by which share of it the lines of the floor are brighter."""
SUN = np.array([0.35, 0.45, 0.82])
"""Where the sun stands: right of, behind and above the camera."""
TRAIL_POINTS = 400
TRAIL = (0.94, 0.55, 0.08)
POSES_SEEN = 120
"""Moments of a motion that the camera must have in sight."""
BEFORE = 1e3
"""So many times nearer than they are, arrows of contacts are seen through the bodies that they act on."""
BEFORE_DISCS = 0.9e3
"""The discs of their pressures are behind those arrows."""
INSIDE, FACE = 0.35, 0.5
"""Of their colour what is seen of bodies from inside, where a section has opened them, and of the faces that it leaves."""
APART = 5e-5
"""How far the faces of a section that overlap lie before each other, of the size of all."""
TRAVEL = 6.0
"""What travels so many times its own size is followed by the camera of a video."""
FAR = 4.0
"""A body that flies further than so many times the size of all at the start leaves the picture."""


class Studio:
    """Pictures of one motion: `picture(t)` is the moment t [s] as sRGB bytes (height, width, 3).

    The camera has the whole motion in sight, or what is there at the time `moment` [s] alone. ghost: another motion of the same bodies,
    laid over it.
    """

    def __init__(self, motion: Motion, shot: Shot, moment: float | None = None, ghost: Motion | None = None) -> None:
        self.motion, self.shot, self._moment = motion, shot, moment
        self._systems = systems_of(motion)
        self._worn = 0 if moment is None else system_at(self._systems, moment)  # the one whose sizes are drawn
        if self._worn:
            motion = self.motion = replace(motion, system=self._systems[self._worn][1])
        self._ghost: tuple[Motion, np.ndarray, np.ndarray, np.ndarray] | None = None
        self._rows = row = {name: i for i, name in enumerate([*motion.bodies, "ground"])}
        drawn = [piece for piece in pieces(motion.system) if piece.body in row]
        if shot.follow is not None and shot.follow not in row:
            raise unknown("body", shot.follow, motion.bodies)
        self._section = section_of(shot.section)
        self._path: tuple[np.ndarray, np.ndarray] | None = None
        self._follow = None if shot.follow is None else row[shot.follow]
        joining = [link for link in links(motion.system) if link.a in row and link.b in row]
        self._links = Placing.of(joining, row)
        self.backdrop = backdrop([*drawn, *joining])
        if shot.dark and self.backdrop == "light":
            self.backdrop = "grey"
        self._fix(drawn, row)
        self._closed: dict[int, _Closed] = {}
        self._trailed = _ends(motion) if shot.trails > 0.0 else []
        points = self._points([*drawn, *joining])
        width, height = shot.size
        if shot.eye is None or shot.target is None:
            self.camera = look(motion.system, points, width / height, shot.azimuth, shot.elevation, shot.field)
        else:
            self.camera = camera_at(motion.system, shot.eye, shot.target)
        up, low, high = self.camera.up, points.min(axis=0), points.max(axis=0)
        self._middle, self._extent = (low + high) / 2, max(float(np.linalg.norm(high - low)), 1e-6)
        heights = points @ up
        first = 8 * max(1, len(drawn) + len(joining))
        self.floor = floor_of(motion.system, up, float(heights[:first].min()), float(heights.min()), self._extent)
        self._over = ghost
        self._kind, self._selected = selected_of(motion.system, motion.bodies, shot.selected)
        for body, _ in shot.points:
            if body not in row:
                raise unknown("body", body, motion.bodies)
        self._wear(drawn, joining)
        self._contact_scale = motion.contact_scale(self._extent)
        self._pressure, self._largest = scale_of(motion) if shot.pressure else (0.0, 0.0)
        self._sun, self._R_SW = _sun(self.camera)
        self._buffers()

    def _wear(self, drawn: list[Piece], joining: list[Link]) -> None:
        """Draw these pieces and links of the motion's system."""
        shot, row, system = self.shot, self._rows, self.motion.system
        colliding = collision_pieces(system, row, self._extent) if shot.collision else []
        marked = solids(system, row, self._extent, shot.inertia, shot.centers)
        drawn, joining = (drawn, joining) if shot.shapes else ([], [])
        self._links = Placing.of(joining, row)
        self._fix([*drawn, *colliding, *marked], row)
        self._bodies = len(drawn)
        self._chosen = np.array([self._kind == "body" and piece.body == self._selected for piece in drawn], dtype=bool)
        over = [] if self._over is None else self._lay_over(self._over)
        self._mesh = _Mesh.of(
            [*_thinned(drawn, shot.opacity), *colliding, *marked, *_thinned(joining, shot.opacity), *over]
        )
        self._transmitted = Transmitted(self.motion, row, self._extent)
        self._axes = [body_frames(self.motion.bodies, self._extent)] if shot.frames else []
        self._axes += [joint_frames(system, row, self._extent)] if shot.joint_frames else []
        self._axes += [joint_frames(system, row, self._extent, self._selected)] if self._kind == "joint" else []
        self._words = words_at(system, row) if shot.names else []

    def _fit_sizes(self, t: float) -> None:
        """Draw the bodies in the sizes that they have at the time `t` [s], where a change of parameters has given them others."""
        if len(self._systems) < 2 or (now := system_at(self._systems, t)) == self._worn:
            return
        self._worn, system = now, self._systems[now][1]
        self.motion = replace(self.motion, system=system)
        with quiet():  # of meshes that are missing it was said before
            drawn = [piece for piece in pieces(system) if piece.body in self._rows]
            joining = [link for link in links(system) if link.a in self._rows and link.b in self._rows]
            self._closed = {}
            self._wear(drawn, joining)

    def _fix(self, drawn: Sequence[Piece], row: dict[str, int]) -> None:
        """What is placed with the bodies: rows, attitudes and positions in them."""
        self._row = np.array([row[piece.body] for piece in drawn], dtype=int)
        self._R_BS = np.array([piece.R_BS for piece in drawn]).reshape(-1, 3, 3)
        self._p_BS = np.array([piece.p_BS for piece in drawn]).reshape(-1, 3)

    def _lay_over(self, ghost: Motion) -> list[Piece]:
        """The pieces of another motion, in one colour that one sees through."""
        row = {name: i for i, name in enumerate(ghost.bodies)}
        drawn = [piece for piece in pieces(ghost.system) if piece.body in row]
        own = self._row, self._R_BS, self._p_BS
        self._fix(drawn, row)
        self._ghost = ghost, self._row, self._R_BS, self._p_BS
        self._row, self._R_BS, self._p_BS = own
        r, g, b = (part / 255.0 for part in COLOR)
        return [piece._replace(color=(r, g, b, OPACITY)) for piece in drawn]

    # --- what is in sight -----------------------------------------------------------------------------------------

    def _placed(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """R_WS (n, 3, 3), p_WS (n, 3) of all pieces, of the links, stretched, and of what is laid over."""
        frame = self.motion.at(t)
        R_own, p_own = _standing(frame, self._row, self._R_BS, self._p_BS)
        p, q, stretch = self._links.at(frame)
        R = rotation_matrix(q)
        R[:, :, 2] *= stretch[:, None]
        if self._ghost is None:
            return np.concatenate([R_own, R]), np.concatenate([p_own, p])
        ghost, *fixed = self._ghost
        R_over, p_over = _standing(ghost.at(t), *fixed)
        return np.concatenate([R_own, R, R_over]), np.concatenate([p_own, p, p_over])

    def _followed(self, t: float) -> np.ndarray:
        """Displacement of the followed body since the start; without one, that of the middle of all that travels far."""
        if self._follow is None:
            if self._path is None:
                return np.zeros(3)
            times, middles = self._path
            return np.array([np.interp(t, times, middles[:, k]) for k in range(3)]) - middles[0]
        m = self.motion
        return np.asarray(m.at(t).position[self._follow] - m.at(m.start).position[self._follow], dtype=float)

    def _points(self, drawn: Sequence[Piece | Link]) -> np.ndarray:
        """Corners of boxes about all pieces, at the moments that are seen, as the camera goes along."""
        if not drawn:
            return np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
        boxes = np.array([(p.surface.vertices.min(axis=0), p.surface.vertices.max(axis=0)) for p in drawn])
        corners = np.stack(
            [boxes[:, [i, j, k], [0, 1, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)], axis=1
        ).astype(float)
        m = self.motion
        times = [self._moment] if self._moment is not None else m.times[:: max(1, len(m.times) // POSES_SEEN)]
        found = []
        for t in times:
            R, p = self._placed(float(t))
            found.append(((corners @ np.swapaxes(R, 1, 2)) + p[:, None]).reshape(-1, 3))
        if self._follow is None and self.shot.eye is None and len(found) > 1:
            low, high = (np.array([of(points, axis=0) for points in found]) for of in (np.min, np.max))
            sizes = np.linalg.norm(high - low, axis=1)
            if np.linalg.norm(high.max(axis=0) - low.min(axis=0)) > TRAVEL * sizes.max():
                self._path = (np.asarray(times), (low + high) / 2)
        found = [points - self._followed(float(t)) for points, t in zip(found, times, strict=True)]
        start = found[0]
        low, high = start.min(axis=0), start.max(axis=0)
        far = FAR * np.linalg.norm(high - low)
        return np.clip(np.concatenate(found), low - far, high + far)

    # --- drawing --------------------------------------------------------------------------------------------------

    def _buffers(self) -> None:
        (width, height), many = self.shot.size, self.shot.samples
        self._nearness = np.empty((height * many, width * many), dtype=np.float32)
        self._shown = np.empty((height * many, width * many), dtype=np.int32)
        self._shadows = np.empty((SHADOW_SAMPLES, SHADOW_SAMPLES), dtype=np.float32)
        self._shadowed = np.empty((SHADOW_SAMPLES, SHADOW_SAMPLES), dtype=np.int32)
        self._image = np.empty((height, width, 3), dtype=np.float32)

    def picture(self, t: float) -> np.ndarray:
        """The moment `t` [s] as bytes of sRGB (height, width, 3)."""
        self._fit_sizes(t)
        shift = self._followed(t)
        mesh = self._drawn(t)
        view, sun_view, stage = self._view(shift), self._sun_view(shift), self._stage(shift)
        screen = np.empty((len(mesh.position), 3))
        self._shadows.fill(0.0)
        raster.project(mesh.position, sun_view, screen)
        if self.shot.shadows:
            raster.draw(screen, mesh.faces, mesh.opacity, raster.THRESHOLDS, self._shadows, self._shadowed)
        raster.project(mesh.position, view, screen)
        screen, faces, opacity, colors, lighting = self._with_lines(t, mesh, screen, view)
        self._nearness.fill(0.0)
        self._shown.fill(-1)
        raster.draw(screen, faces, opacity, raster.THRESHOLDS, self._nearness, self._shown)
        raster.light(
            self._shown, screen, faces, mesh.position, mesh.normal, colors, lighting, view, sun_view, stage,
            self._shadows, self._image,
        )  # fmt: skip
        image = self._marked(raster.srgb(self._image), t, mesh, view)
        if self._pressure:
            image = self._with_scale(image)
        return self._with_clock(image, t) if self.shot.clock and self.motion.moves else image

    def _marked(self, image: np.ndarray, t: float, mesh: _Mesh, view: raster.View) -> np.ndarray:
        """The picture with the outline of what is selected, names, and measured points."""
        many, shot = self.shot.samples, self.shot
        if self._chosen.any():
            chosen = np.append(
                np.append(self._chosen, np.zeros(len(mesh.first) - len(self._chosen), dtype=bool))[mesh.owner], False
            )
            shown = np.where(self._shown < len(mesh.owner), self._shown, -1)  # what is beyond are lines
            rows, columns = (n // many for n in shown.shape)
            image = outlined(image, np.asarray(chosen[shown].reshape(rows, many, columns, many).any(axis=(1, 3))))
        if not self._words and not shot.points:
            return image
        need("PIL", "a picture")
        from PIL import Image

        frame, drawn, height = self.motion.at(t), Image.fromarray(image), max(11, shot.size[1] // 45)
        ink, behind = ((40, 44, 50), (245, 247, 250)) if self.backdrop == "light" else ((225, 228, 232), (40, 44, 50))
        places = [(self._rows[body], np.array(p, dtype=float)) for body, p in shot.points]
        points, names = (
            [(x / many, y / many) if near > 0.0 else None for x, y, near in self._seen_at(frame, of, view)]
            for of in (places, [(i, p) for _, i, p in self._words])
        )
        if None not in points and points:
            rule(drawn, [x for x in points if x is not None], height, behind)
        told = [(at, name) for at, (name, _, _) in zip(names, self._words, strict=True) if at is not None]
        write(drawn, [at for at, _ in told], [name for _, name in told], height, ink, behind)
        return np.asarray(drawn)

    @staticmethod
    def _seen_at(frame: Frame, of: list[tuple[int, np.ndarray]], view: raster.View) -> np.ndarray:
        """Column, row and nearness (n, 3) on the screen of points of bodies: row and place in it [m]."""
        R = rotation_matrix(frame.quaternion.astype(float))
        seen = np.empty((len(of), 3))
        raster.project(np.array([frame.position[i] + R[i] @ p for i, p in of]).reshape(-1, 3).astype(float), view, seen)
        return seen

    def _drawn(self, t: float) -> _Mesh:
        """All bodies at the time `t` [s], as far as a section leaves them."""
        mesh = self._mesh
        R, p = self._placed(t)
        raster.place(mesh.vertices, mesh.normals, mesh.first, R, p, mesh.position, mesh.normal)
        if self._section is None:
            return mesh
        position, normal, faces, of = cut(mesh.position, mesh.normal, mesh.faces, self._section)
        closing, own = self._caps(mesh, self._section, R, p)
        count = np.arange(len(closing) * 3, dtype=np.int32).reshape(-1, 3) + len(position)
        return _Mesh(
            np.concatenate([position, closing.reshape(-1, 3)]),
            np.concatenate([normal, np.zeros((closing.size // 3, 3))]),
            mesh.first,
            np.concatenate([faces, count]).astype(np.int32),
            np.concatenate([mesh.colors[of], FACE * mesh.colors[own]]),
            np.concatenate([mesh.opacity[of], mesh.opacity[own]]),
            np.concatenate([mesh.lighting[of], np.full(len(own), raster.UNLIT, dtype=np.int32)]),
            np.concatenate([mesh.owner[of], mesh.owner[own]]),
        ).at_rest()

    def _cap(
        self, k: int, R: np.ndarray, p: np.ndarray, mesh: _Mesh, faces: slice, section: Section
    ) -> np.ndarray | None:
        """The face where a section cuts the k-th piece, at the pose R, p; that of the picture before where both are the same."""
        last = self._closed.get(k)
        if last is None or last.section is not section or not (np.array_equal(last.R, R) and np.array_equal(last.p, p)):
            triangles = cap(mesh.position, mesh.faces[faces], section.normal, section.d)
            last = self._closed[k] = _Closed(R.copy(), p.copy(), section, triangles)
        return last.triangles

    def _caps(self, mesh: _Mesh, section: Section, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Triangles (m, 3, 3) of the faces where a section cuts bodies, at poses R, p, that are closed and not seen through, and which
        face of the mesh each has its colour of. Smaller ones lie before larger ones."""
        begins = np.searchsorted(mesh.owner, np.arange(self._bodies + 1))
        found = [
            (triangles, begin)
            for k, (begin, end) in enumerate(itertools.pairwise(begins.tolist()))
            if end > begin and mesh.opacity[begin] >= 1.0
            and (triangles := self._cap(k, R[k], p[k], mesh, slice(begin, end), section)) is not None
        ]  # fmt: skip
        edges = [np.diff(triangles, axis=1) for triangles, _ in found]
        area = [float(np.linalg.norm(np.cross(e[:, 0], e[:, 1]), axis=1).sum()) for e in edges]
        parts, own = [np.zeros((0, 3, 3))], [np.zeros(0, dtype=int)]
        for rank, k in enumerate(np.argsort(-np.array(area), kind="stable")):
            triangles, begin = found[k]
            parts.append(triangles + (rank + 1) * APART * self._extent * section.normal)
            own.append(np.full(len(triangles), begin))
        return np.concatenate(parts), np.concatenate(own)

    def _view(self, shift: np.ndarray) -> raster.View:
        rows, columns = self._nearness.shape
        f = rows / (2.0 * np.tan(self.shot.field / 2))
        eye = self.camera.eye + shift
        return raster.View(_matrix(self.camera.R_CW), _vector(eye), float(f), columns / 2, rows / 2, 0.0)

    def _sun_view(self, shift: np.ndarray) -> raster.View:
        f, half = SHADOW_SAMPLES / (1.15 * self._extent), SHADOW_SAMPLES / 2
        return raster.View(_matrix(self._R_SW), _vector(self._middle + shift), f, half, half, 2.0 * self._extent)

    def _stage(self, shift: np.ndarray) -> raster.Stage:
        point, up = self.floor
        size = self._extent
        across = np.eye(3)[int(np.argmin(np.abs(up)))]
        across = across - (across @ up) * up
        across /= np.linalg.norm(across)
        cell = float(10.0 ** np.floor(np.log10(size / 2.0))) / 2.0
        level = float(point @ up)
        middle = _vector(self._middle + shift)
        above, below, brighter = SKIES[self.backdrop]
        return raster.Stage(
            _vector(up), _vector(across), middle, level, cell, size, _vector(self._sun), 1.5e-3, above, below,
            brighter if self.shot.grid else 0.0, 0.0 if self._section is None else INSIDE,
        )  # fmt: skip

    def _with_lines(self, t: float, mesh: _Mesh, screen: np.ndarray, view: raster.View) -> tuple[np.ndarray, ...]:
        """Corners on the screen, faces, opacity, colours and lighting of all that is drawn, ribbons of lines and discs too."""
        ribbons, paint = ([part] for part in self._discs(t, view))
        # as far before what they lie on, through any lens
        nearer = 1.0 + 1e-3 * float(np.tan(self.shot.field / 2) / np.tan(FIELD / 2))
        lines = [(*line, nearer) for line in self._trails(t)]
        inside = nearer if self._section is None else BEFORE  # faces of a section do not hide what is in bodies
        lines += [(*line, inside) for line in self._joint_lines(t)]
        lines += [(*line, BEFORE) for line in self._contact_lines(t)]
        for path, half, color, nearer in lines:
            seen = np.empty((len(path), 3))
            raster.project(path.astype(float), view, seen)
            ribbons.append(_ribbon(seen, half * self.shot.samples, nearer))
            paint.append(np.tile(raster.linear(np.array(color)), (2 * len(ribbons[-1]), 1)))
        quads = np.concatenate(ribbons)
        m = len(quads)
        corners = len(screen) + 4 * np.arange(m)[:, None, None] + np.array([[0, 1, 2], [1, 3, 2]])
        return (
            np.concatenate([screen, quads.reshape(-1, 3)]),
            np.concatenate([mesh.faces, corners.reshape(-1, 3).astype(np.int32)]),
            np.concatenate([mesh.opacity, np.ones(2 * m)]),
            np.concatenate([mesh.colors, *paint]),
            np.concatenate([mesh.lighting, np.full(2 * m, raster.UNLIT, dtype=np.int32)]),
        )

    def _trails(self, t: float) -> list[tuple[np.ndarray, float, Any]]:
        """Paths behind the ends of the mechanism: points, half width [pixels], colour."""
        since = t - self.shot.trails
        return [(self.motion.path(point, since, t, TRAIL_POINTS), 1.0, TRAIL) for point in self._trailed]

    def _contact_lines(self, t: float) -> Lines:
        """Arrows of the contact forces."""
        frame = self.motion.at(t)
        if frame.contact is None or not self.shot.contacts:
            return []
        scale, sight = self._contact_scale * self.shot.arrows, self.camera.R_CW[2]
        ends = self.motion.contact_arrows(frame, scale, self._extent).astype(float)
        return [line for start, end in ends for line in arrow(start, end, sight, 0.035 * self._extent, CONTACT)]

    def _joint_lines(self, t: float) -> Lines:
        """Arrows of what joints transmit, and of their axes."""
        shot, frame, sight = self.shot, self.motion.at(t), self.camera.R_CW[2]
        found: Lines = []
        for part, shown in enumerate((shot.reactions, shot.moments)):
            found += self._transmitted.wrenches(frame, part, shot.arrows, sight) if shown else []
        found += [line for frames in self._axes for line in frames.lines(frame)]
        return found + (self._transmitted.axes(frame, sight) if shot.axes else [])

    def _discs(self, t: float, view: raster.View) -> tuple[np.ndarray, np.ndarray]:
        """Quads (m, 4, 3) on the screen of the discs of contacts over areas, and the colours (2 m, 3) of their halves."""
        frame = self.motion.at(t)
        if not self._pressure or frame.press is None:
            return np.zeros((0, 4, 3)), np.zeros((0, 3))
        center, radius, normal, pressure = (x[discs(frame)[1] > 0.0] for x in discs(frame))
        rim = rims(center, radius, normal)
        count = rim.shape[1]
        seen = np.empty((rim.size // 3 + len(center), 3))
        raster.project(np.concatenate([rim.reshape(-1, 3), center]), view, seen)
        around, middle = seen[: rim.size // 3].reshape(-1, count, 3), seen[rim.size // 3 :]
        k = np.arange(0, count, 2)
        middles = np.broadcast_to(middle[:, None], (len(center), len(k), 3))
        quads = np.stack([around[:, k], around[:, k + 1], middles, around[:, (k + 2) % count]], axis=2).reshape(
            -1, 4, 3
        )
        quads = np.array(quads)
        quads[..., 2] *= BEFORE_DISCS
        colors = raster.linear(color_of(pressure / self._pressure) / 255.0)
        return quads, np.repeat(colors, 2 * len(k), axis=0)

    def _with_scale(self, image: np.ndarray) -> np.ndarray:
        """The colours of pressures with their numbers, in the lower right corner."""
        need("PIL", "a picture")
        from PIL import Image, ImageDraw, ImageFont

        height = max(11, self.shot.size[1] // 45)
        picture = Image.fromarray(image)
        drawing, font = ImageDraw.Draw(picture), ImageFont.load_default(height)
        ink = (60, 64, 70) if self.backdrop == "light" else (225, 228, 232)
        long = 14 * height
        left, top = self.shot.size[0] - long - 2 * height, self.shot.size[1] - 4 * height
        bar = np.broadcast_to(color_of(np.linspace(0.0, 1.0, long)).round().astype(np.uint8), (height, long, 3))
        picture.paste(Image.fromarray(np.ascontiguousarray(bar)), (left, top))
        drawing.text((left, top - height // 2), "largest pressure", ink, font, anchor="ls")
        for k, (text, anchor) in enumerate(zip(ticks(self._pressure, self._largest), ("la", "ma", "ra"), strict=True)):
            drawing.text((left + k * long // 2, top + 1.3 * height), text, ink, font, anchor=anchor)
        return np.asarray(picture)

    def _with_clock(self, image: np.ndarray, t: float) -> np.ndarray:
        """The time, in the lower left corner."""
        need("PIL", "a picture")
        from PIL import Image, ImageDraw, ImageFont

        height = max(11, self.shot.size[1] // 36)
        picture = Image.fromarray(image)
        font = ImageFont.load_default(height)
        decimals = 3 if self.motion.end - self.motion.start < 100.0 else 1
        at = (height, self.shot.size[1] - height)
        ImageDraw.Draw(picture).text(
            at,
            f"t = {t:.{decimals}f} s",
            (60, 64, 70) if self.backdrop == "light" else (225, 228, 232),
            font,
            anchor="ls",
        )
        return np.asarray(picture)


def _standing(frame: Frame, row: np.ndarray, R_BS: np.ndarray, p_BS: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R_WS (n, 3, 3), p_WS (n, 3) of what is fixed to the bodies `row` of a moment."""
    R_WB = rotation_matrix(frame.quaternion.astype(float))[row]
    return R_WB @ R_BS, frame.position.astype(float)[row] + np.einsum("nij,nj->ni", R_WB, p_BS)


@dataclass
class _Mesh:
    """All pieces as one mesh: vertices and normals in their own frames, faces with colour, opacity, lighting and the piece they are of."""

    vertices: np.ndarray
    normals: np.ndarray
    first: np.ndarray
    faces: np.ndarray
    colors: np.ndarray
    opacity: np.ndarray
    lighting: np.ndarray
    owner: np.ndarray
    position: np.ndarray = field(init=False)
    normal: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.position, self.normal = np.empty(self.vertices.shape), np.empty(self.vertices.shape)

    def at_rest(self) -> _Mesh:
        """The same, whose vertices are in the world as they are."""
        self.position, self.normal = self.vertices, self.normals
        return self

    @classmethod
    def of(cls, drawn: Sequence[Piece | Link]) -> _Mesh:
        surfaces = [piece.surface for piece in drawn]
        normals = {id(surface): _normals(surface) for surface in surfaces}
        first = np.cumsum([0, *(len(s.vertices) for s in surfaces)])
        count = [len(s.faces) for s in surfaces]
        faces = [s.faces + n for s, n in zip(surfaces, first, strict=False)]
        colors = np.array([piece.color for piece in drawn]).reshape(-1, 4)
        lighting = np.array([raster.SMOOTH if s.smooth else raster.FLAT for s in surfaces], dtype=np.int32)
        return cls(
            np.concatenate([np.zeros((0, 3)), *(s.vertices for s in surfaces)]),
            np.concatenate([np.zeros((0, 3)), *(normals[id(s)] for s in surfaces)]),
            first,
            np.concatenate([np.zeros((0, 3), dtype=np.int32), *faces]).astype(np.int32),
            raster.linear(np.repeat(colors[:, :3], count, axis=0)),
            np.repeat(colors[:, 3], count),
            np.repeat(lighting, count),
            np.repeat(np.arange(len(surfaces)), count),
        )


class _Closed(NamedTuple):
    """The face that a section leaves of a piece at the pose R, p."""

    R: np.ndarray
    p: np.ndarray
    section: Section
    triangles: np.ndarray | None


def _thinned(drawn: Sequence[Any], share: float) -> list[Any]:
    """The same as transparent as is asked."""
    return [piece._replace(color=(*piece.color[:3], piece.color[3] * share)) for piece in drawn]


def _normals(surface: Surface) -> np.ndarray:
    """Normals of the vertices: the mean of their faces', by area."""
    v, f = surface.vertices.astype(float), surface.faces
    n = np.cross(v[f[:, 1]] - v[f[:, 0]], v[f[:, 2]] - v[f[:, 0]])
    sums = np.stack([np.bincount(f.reshape(-1), np.repeat(n[:, j], 3), len(v)) for j in range(3)], axis=1)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.where(length > 0.0, length, 1.0))


def _ribbon(seen: np.ndarray, half: float, nearer: float) -> np.ndarray:
    """Quads (m, 4, 3) about the segments of a line on the screen, so many times nearer than the line."""
    a, b = seen[:-1], seen[1:]
    along = b[:, :2] - a[:, :2]
    length = np.linalg.norm(along, axis=1)
    keep = (a[:, 2] > 0.0) & (b[:, 2] > 0.0) & (length > 1e-9)
    a, b, along, length = a[keep], b[keep], along[keep], length[keep]
    along = half * along / length[:, None]
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    quads = np.stack([a, a, b, b], axis=1)
    quads[:, 0, :2] += across - along
    quads[:, 1, :2] -= across + along
    quads[:, 2, :2] += across + along
    quads[:, 3, :2] -= across - along
    quads[..., 2] *= nearer
    return quads


def _ends(motion: Motion) -> list[tuple[int, np.ndarray]]:
    """Row and point of what leaves a trail: markers, and the centres of mass of the last bodies of each branch."""
    system, row = motion.system, {name: i for i, name in enumerate(motion.bodies)}
    found = []
    for name in system.markers:
        body, _, p = system.frame(f"marker:{name}")
        if body.name in row:
            found.append((row[body.name], p))
    parents = {joint.carrier.name for joint in system.joints.values()}
    last = [name for name in motion.bodies if name not in parents] or motion.bodies
    return [*found, *((row[name], system.bodies[name].resolved(system.values).com) for name in last)][:12]


def _sun(camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    """The direction to the sun, and the axes of its picture (3, 3)."""
    right, up = camera.R_CW[0], camera.up
    back = np.cross(right, up)
    s = SUN[0] * right + SUN[1] * back + SUN[2] * up
    s /= np.linalg.norm(s)
    x = np.cross(up, s)
    x /= np.linalg.norm(x)
    return s, np.stack([x, np.cross(s, x), s])


def _vector(x: np.ndarray) -> Vec3:
    return Vec3(*(float(part) for part in x))


def _matrix(R: np.ndarray) -> Mat3:
    return Mat3(*(float(part) for part in R.reshape(-1)))

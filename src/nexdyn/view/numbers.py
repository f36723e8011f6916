"""What a recording knows beside its pictures: the numbers of all bodies and joints over time, and what its page picks and shows.

The page (record.js) computes from them what the viewer's server answers otherwise. Numbers lie one after another as 32-bit floats, a
quantity of n samples and k components as (n, k); between two samples they are told by weight, as in cards.py:

    x(t) = (1 − s) x_j + s x_{j+1},   s = (t − t_j)/(t_{j+1} − t_j)
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.spatial.rotations import quaternion
from nexdyn.view.cards import OF_BODY, joints_of, of_coordinates, of_matter, of_reactions, touching, tree
from nexdyn.view.ghost import Ghost
from nexdyn.view.marks import frame_on_carried
from nexdyn.view.motion import Motion
from nexdyn.view.section import SIDES as SECTIONS
from nexdyn.view.section import Section, pose_of, section_of
from nexdyn.view.stage import AMBIENT, LAYERS, LENS, LINES, SIDES, SKIES, Stage

if TYPE_CHECKING:
    from nexdyn.view.words import Words

MOST_NUMBERS = 8_000_000
"""Numbers that a recording holds; of more, as many samples as fit."""
MANY = 200
"""Bodies beyond which a recording holds their poses alone."""
LABELS = (
    "mass", "Ixx Iyy Izz", "Ixy Ixz Iyz", "centre of mass", "position", "quaternion", "velocity", "angular velocity", "q", "v",
    "force", "moment", "reaction of", "contact force", "contact with",
    "Click a body, or choose one in the model's tree.", "Selected", "Follow", "Plot it",
    "Measure from it", "Deselect", "Clear points", "Measured", "angle at B", "Plots", "Model", "Show", "view", "front", "right", "top",
    "corner", "back", "left", "bottom", "parallel", "dark", "mm, degrees", "Full screen", "Reset", "opacity", "cut away",
    "plane at", "(nothing)", "save", "ghost", "Difference from the ghost", "distance", "angle", "farthest", "time [s]", "follow",
    "follow what is selected", "plus and minus zoom, 0 shows all, left and right arrows move",
    "ground", "not recorded", "plot", "of", "(all)", "Keep this plot", "Drop kept plots", "and {} more", "member",
    "arrow length", "trail [s]", "Joints",
)  # fmt: skip
"""What the page of a recording says, the layers too."""


class Numbers:
    """The numbers of a motion that a recording holds; `packed()` is what the page unpacks, `about` what it is told of them."""

    def __init__(self, motion: Motion, ghost: Motion | None) -> None:
        self._parts: list[np.ndarray] = []
        self._size = 0
        self._rows = np.zeros(1, dtype=int)
        self._where: dict[bytes, list[int]] = {}
        system, result = motion.system, motion.result if motion.moves else None
        told = result is not None and len(motion.bodies) <= MANY
        width = len(motion.bodies) * ((19 if told else 7) + (7 if ghost else 0)) + (
            18 * len(system.joints) if told else 0
        )
        touched = touching(result) if told and result is not None else {}
        width += 3 * sum(map(len, touched.values()))
        every = max(1, -(-len(motion.times) * width // MOST_NUMBERS))
        self._rows = np.unique([*range(0, len(motion.times), every), len(motion.times) - 1])
        self.times = motion.times[self._rows]
        self._of_result = np.searchsorted(result.recording.t, self.times) if result is not None else self._rows
        p, q = motion.position[self._rows], motion.quaternion[self._rows]
        self.bodies = {name: self._pose(p[:, i], q[:, i]) for i, name in enumerate(motion.bodies)}
        self.joints: dict[str, list[Any]] = {name: [] for name in system.joints}
        self.touched: dict[str, list[Any]] = {}
        self.ghost = {} if ghost is None else self._of_ghost(motion, ghost)
        if told and result is not None:
            self._add_rates(result)
            self._add_joints(result)
            self.touched = {
                name: [self._keep(what, x[self._of_result], unit) for what, x, unit in forces]
                for name, forces in touched.items()
            }

    def _keep(self, name: str, values: np.ndarray, unit: str) -> list[Any]:
        """Name, place among the numbers, components and unit."""
        flat = np.ascontiguousarray(np.reshape(values, (len(self._rows), -1)), dtype=np.float32)
        at, self._size = self._size, self._size + flat.size
        self._parts.append(flat.reshape(-1))
        for k, column in enumerate(flat.T):
            self._where.setdefault(_digest(column), [at + k, flat.shape[1]])
        return [name, at, flat.shape[1], unit]

    def curve(self, y: np.ndarray) -> list[int]:
        """Where a curve y (N,) of the result lies: its first number, and how far from sample to sample. It is kept once."""
        kept = np.asarray(y[self._of_result], dtype=np.float32)
        if (known := _digest(kept)) not in self._where:
            self._keep("", kept, "")
        return self._where[known]

    def _pose(self, p: np.ndarray, q: np.ndarray) -> list[Any]:
        return [self._keep("position", p, "m"), self._keep("quaternion", q, "1")]

    def _of_ghost(self, motion: Motion, ghost: Motion) -> dict[str, list[Any]]:
        frames = [ghost.at(float(t)) for t in self.times]
        found = {}
        for name in motion.bodies:
            i = ghost.body(name)
            found[name] = self._pose(
                np.array([f.position[i] for f in frames]), np.array([f.quaternion[i] for f in frames])
            )
        return found

    def _add_rates(self, result: Any) -> None:
        observed = result.observed
        for what, quantity, unit in OF_BODY[2:]:
            values = observed.take(quantity)[self._of_result]
            for k, body in enumerate(observed.labels.dims["body"]):
                self.bodies[body].append(self._keep(what, values[:, k], unit))

    def _add_joints(self, result: Any) -> None:
        reactions = of_reactions(result, list(self.joints))
        for name, found in self.joints.items():
            curves = [*of_coordinates(result, name), *reactions.get(name, ())]
            found += [self._keep(what, values[self._of_result], unit) for what, values, unit in curves]

    def packed(self) -> str:
        """All numbers, compressed, as text."""
        whole = np.concatenate([*self._parts, np.zeros(0, dtype=np.float32)]).astype("<f4")
        return base64.b64encode(gzip.compress(whole.tobytes(), 6, mtime=0)).decode()


def _digest(x: np.ndarray) -> bytes:
    return hashlib.blake2b(x.tobytes(), digest_size=16).digest()


def knowledge(
    stage: Stage, numbers: Numbers, words: Words, seen: frozenset[str], recorded: frozenset[str]
) -> dict[str, Any]:
    """What the page is told of all moments: cards, views, layers: those `seen` at first, and those that are `recorded`."""
    motion, system = stage.motion, stage.system
    cards: dict[str, Any] = {}
    for name, curves in numbers.bodies.items():
        reactions = [curve for joint in joints_of(system, name) for curve in numbers.joints[joint] if "|" in curve[0]]
        cards[f"body:{name}"] = {"curves": curves + reactions + numbers.touched.get(name, [])}
    for name, curves in numbers.joints.items():
        cards[f"joint:{name}"] = {"curves": curves, "child": system.joints[name].carried.name}
    return {
        "parallel": stage.parallel, "lens": LENS, "moves": motion.moves,
        "times": numbers.times.tolist(), "bodies": motion.bodies, "cards": cards, "ghost": numbers.ghost, "tree": tree(system, words),
        "up": stage.up.tolist(), "size": stage.size, "center": stage.center.tolist(),
        "follow": stage.look.follow, "arrows": stage.look.arrows, "trail": stage.look.trail,
        "trailed": [[[*motion.bodies, "ground"][i], np.asarray(p, dtype=float).tolist()] for i, p in stage.trailed],
        "opacity": stage.look.opacity, "section": stage.look.section,
        "sections": {side: _section(side) for side in SECTIONS},
        "views": {parallel: _views(stage, parallel) for parallel in (False, True)},
        "behind": {dark: _behind(stage, dark) for dark in (False, True)},
        "layers": {
            layer: [words(layer), layer in seen, layer in recorded]
            for layer in LAYERS
            if stage.nodes.get(layer) or layer == "shadows"
        },
        "words": {label: words(label) for label in LABELS},
    }  # fmt: skip


def sized(stage: Stage) -> dict[str, Any]:
    """What depends on the sizes of the bodies: the nodes of the scene, and what is fixed to bodies."""
    system = stage.system
    fixed: dict[str, Any] = {
        f"body:{name}": {"fixed": [[row.name, row.values.tolist(), row.unit] for row in of_matter(system, name)]}
        for name in stage.motion.bodies
    }
    for name, joint in system.joints.items():
        R, p = frame_on_carried(joint, system.values)
        fixed[f"joint:{name}"] = {"fixed": [], "p": p.tolist(), "q": quaternion(R).tolist()}
    ghost = stage.carried.get("ghost")
    ghosts = ghost.groups if isinstance(ghost, Ghost) else []
    return {
        "pieces": _pieces(stage), "ghosts": [marks.handle.name for marks in ghosts], "cards": fixed,
        "opaque": [[handle.name, own] for handle, own in stage.opaque],
        "nodes": {layer: [node.name for node in nodes] for layer, nodes in stage.nodes.items()},
    }  # fmt: skip


def _pieces(stage: Stage) -> list[list[Any]]:
    """The node whose surface it has, its body, and the quaternion and position in it, of all that can be picked."""
    return [
        [node, piece.body, np.round(quaternion(piece.R_BS), 9).tolist(), np.asarray(piece.p_BS, dtype=float).tolist()]
        for node, piece in stage.held
    ]


def _views(stage: Stage, parallel: bool) -> dict[str, list[list[float]]]:
    """Where the camera stands and looks, for a square window, with perspective or without."""
    seen = {side: stage.camera(1.0, side, parallel) for side in ("", *SIDES)}
    return {side: [camera.eye.tolist(), camera.target.tolist()] for side, camera in seen.items()}


def _section(side: str) -> list[list[float]]:
    """Normal of what is kept, and the quaternion of the node that tells of it."""
    section = section_of((side, 0.0))
    assert isinstance(section, Section)
    return [section.normal.tolist(), np.asarray(pose_of(section)[1]).tolist()]


def _behind(stage: Stage, dark: bool) -> dict[str, Any]:
    """The colours of the sky above and below, and the greys of the floor, as in Stage.darken."""
    kind = stage.backdrops[dark]
    return {"sky": SKIES[kind], "lines": LINES[kind], "light": AMBIENT[dark]}

"""Arrows of the forces and moments that joints transmit, and of contact forces.

arrow of a wrench w at a joint on its parent:  p = p_WJ … p_WJ + s R_WJ w,  s such that the largest is 0.2 of the scene
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.view.marks import Marks
from nexdyn.view.motion import CONTACT_LENGTH, Frame, Motion
from nexdyn.view.placing import turned
from nexdyn.view.scales import Seen

FORCE, MOMENT, CONTACT = (214, 39, 40), (128, 62, 190), (220, 30, 140)
PARTS = (slice(0, 3), slice(3, 6))
_LAYERS = ("reaction forces", "reaction moments")


class WrenchArrows:
    """Forces and moments at the joints' points on their parents; a wrench acts on the child."""

    def __init__(self, scene: Any, motion: Motion, row: dict[str, int], f: Frame, size: float) -> None:
        joints = [motion.system.joints[name] for name in motion.joints]
        frames = [joint.frames(motion.system.values) for joint in joints]
        self._marks = Marks([row[j.parent.name] for j in joints], [x.R_AJ for x in frames], [x.p_AJ for x in frames])
        self._size = size
        self.handles: dict[str, tuple[Any, slice, float]] = {}
        if not joints or motion.wrench is None:
            return
        thick = 0.004 * size
        self._seen = (Seen(), Seen())
        sizes = [float(np.sqrt(np.max(np.sum(motion.wrench[..., c] ** 2, axis=-1), initial=0.0))) for c in PARTS]
        for layer, columns, color, scale in zip(_LAYERS, PARTS, (FORCE, MOMENT), self._scales(sizes), strict=True):
            handle = scene.add_arrows(
                f"/motion/{layer.split()[1]}", self.ends(f, columns, scale), color,
                shaft_radius=thick, head_radius=2.5 * thick, head_length=6.0 * thick,
            )  # fmt: skip
            self.handles[layer] = (handle, columns, scale)

    def _scales(self, largest: list[float]) -> list[float]:
        """Lengths of arrows a newton and a newton metre, of the largest force and moment."""
        nothing = 1e-6 * max(largest[0], largest[1] / self._size)  # what rounding leaves of a moment that is zero
        return [
            0.2 * self._size / most if most > least else 0.0
            for most, least in zip(largest, (nothing, nothing * self._size), strict=True)
        ]

    def grow(self, f: Frame) -> None:
        """Let the scale be that of another moment, too."""
        if f.wrench is None or not self.handles:
            return
        for seen, columns in zip(self._seen, PARTS, strict=True):
            seen.add(np.linalg.norm(f.wrench[:, columns].astype(float), axis=1))
        scales = self._scales([seen.exceeded_by(0.0) for seen in self._seen])
        for layer, scale in zip(_LAYERS, scales, strict=True):
            self.handles[layer] = (*self.handles[layer][:2], scale)

    def show(self, f: Frame, layers: frozenset[str], length: float) -> None:
        """Put the arrows of the seen layers where they act, `length` times as long."""
        if f.wrench is not None:
            for layer, (handle, columns, scale) in self.handles.items():
                if layer in layers:
                    handle.points = self.ends(f, columns, scale * length)

    def ends(self, f: Frame, columns: slice, scale: float) -> np.ndarray:
        """Ends (nj, 2, 3) of the arrows, in the world."""
        assert f.wrench is not None
        p, q = self._marks.at(f)
        arrows = turned(q, f.wrench[:, columns].astype(np.float32)) * np.float32(scale)
        ends = np.stack([p, p + arrows], axis=1)
        ends[np.linalg.norm(arrows, axis=1) < 1e-3 * self._size] += np.float32(
            1e4 * self._size
        )  # a head would still show
        return ends


class ContactArrows:
    """Forces of contacts on bodies, where they act."""

    def __init__(self, scene: Any, motion: Motion, f: Frame, size: float) -> None:
        self._size, self.scale, self._seen = size, motion.contact_scale(size), Seen()
        self.handle: Any = None
        if f.contact is None:
            return
        thick = 0.005 * size
        self.handle = scene.add_arrows(
            "/motion/contacts", self.ends(f, 1.0), CONTACT, shaft_radius=thick, head_radius=2.5 * thick,
            head_length=6.0 * thick,
        )  # fmt: skip

    def grow(self, f: Frame) -> None:
        """Let the scale be that of another moment, too."""
        if f.contact is not None:
            self._seen.add(np.linalg.norm(f.contact[:, 3:].astype(float), axis=1))
            most = self._seen.exceeded_by(0.1)
            self.scale = CONTACT_LENGTH * self._size / most if most else self.scale

    def show(self, f: Frame, length: float) -> None:
        """Put the arrows where they act, `length` times as long."""
        if f.contact is not None and self.handle is not None:
            self.handle.points = self.ends(f, length)

    def ends(self, f: Frame, length: float) -> np.ndarray:
        """Ends (nc, 2, 3) of the arrows of all contacts, those that do not bear far away: a head would still show."""
        assert f.contact is not None
        found = np.full((len(f.contact), 2, 3), 1e4 * self._size, dtype=np.float32)
        acting = Motion.contact_arrows(f, self.scale * length, self._size)
        found[: len(acting)] = acting
        return found

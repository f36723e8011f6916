"""Arrows of the forces and moments that joints transmit, and of contact forces.

arrow of a wrench w at a joint on its parent:  p = p_WJ … p_WJ + s R_WJ w,  s such that the largest is 0.2 of the scene
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.view.marks import Marks
from nexdyn.view.motion import Frame, Motion
from nexdyn.view.placing import turned

FORCE, MOMENT, CONTACT = (214, 39, 40), (128, 62, 190), (220, 30, 140)
_PARTS = (slice(0, 3), slice(3, 6))


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
        sizes = [float(np.sqrt(np.max(np.sum(motion.wrench[..., c] ** 2, axis=-1), initial=0.0))) for c in _PARTS]
        nothing = 1e-6 * max(sizes[0], sizes[1] / size)  # what rounding leaves of a moment that is zero
        for layer, columns, color, largest, least in (
            ("reaction forces", _PARTS[0], FORCE, sizes[0], nothing),
            ("reaction moments", _PARTS[1], MOMENT, sizes[1], nothing * size),
        ):
            scale = 0.2 * size / largest if largest > least else 0.0
            handle = scene.add_arrows(
                f"/motion/{layer.split()[1]}", self.ends(f, columns, scale), color,
                shaft_radius=thick, head_radius=2.5 * thick, head_length=6.0 * thick,
            )  # fmt: skip
            self.handles[layer] = (handle, columns, scale)

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
        self._size, self.scale = size, motion.contact_scale(size)
        self.handle: Any = None
        if f.contact is None:
            return
        thick = 0.005 * size
        self.handle = scene.add_arrows(
            "/motion/contacts", self.ends(f, 1.0), CONTACT, shaft_radius=thick, head_radius=2.5 * thick,
            head_length=6.0 * thick,
        )  # fmt: skip

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

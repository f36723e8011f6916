"""Contacts over areas: at the centre of pressure a disc of the same area, across the normal, in the colour of its largest pressure.

    r = √(A/π),   colour c(p/p₁),   p₁ a round number that nine in ten pressures of the motion do not exceed

The colours are those of viridis, whose lightness rises evenly. The numbers of the scale stand beside the scene: the script of the page
(scene.js) reads p₁ from the node /scale, pictures draw the scale themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.view.motion import Frame, Motion
from nexdyn.view.scales import Seen

LAYER = "contact pressure"
NODE = "/motion/pressure"
SCALE = "/scale"
"""Not seen; its x is p₁ [Pa], its y the largest pressure of the motion."""
VIRIDIS = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)])
"""Colours of 0, a quarter, … of the scale, between which there are straight lines; scene.js has them too."""
OPACITY = 0.85
ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
AROUND = 48
_PREFIXES = ((1e9, "GPa"), (1e6, "MPa"), (1e3, "kPa"), (1.0, "Pa"))


def scale_of(motion: Motion) -> tuple[float, float]:
    """p₁ and the largest pressure of a motion [Pa]; 0, 0 where nothing presses over an area."""
    if motion.press is None:
        return 0.0, 0.0
    pressing = motion.press[..., 4][motion.press[..., 3] > 0.0]
    pressing = pressing[pressing > 0.0]
    if not pressing.size:
        return 0.0, 0.0
    return rounded(float(np.quantile(pressing, 0.9))), float(pressing.max())


def rounded(most: float) -> float:
    """The next round number from a pressure on; 0 of 0."""
    if not most > 0.0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(most))
    return float(next(m * power for m in ROUND if m * power >= most * (1.0 - 1e-6)))


def color(share: np.ndarray) -> np.ndarray:
    """sRGB (…, 3), 0 … 255, of p/p₁; beyond 1 that of 1."""
    at = np.linspace(0.0, 1.0, len(VIRIDIS))
    return np.stack([np.interp(share, at, VIRIDIS[:, k]) for k in range(3)], axis=-1)


def ticks(most: float, largest: float) -> list[str]:
    """The numbers of the scale: 0, half, p₁, with > where the motion has more; the last with the unit."""
    factor, unit = next((one for one in _PREFIXES if most >= one[0]), _PREFIXES[-1])
    beyond = "> " if largest > most * (1.0 + 1e-6) else ""
    return ["0", f"{most / 2 / factor:g}", f"{beyond}{most / factor:g} {unit}"]


def discs(f: Frame) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of all contacts the centre (nc, 3) and the radius (nc,) [m], 0 of those that do not press over an area; the unit normal (nc, 3),
    z of those that have none, and the largest pressure (nc,) [Pa]."""
    assert f.contact is not None and f.press is not None
    normal, area, pressure = f.press[:, :3].astype(float), f.press[:, 3], f.press[:, 4]
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.where(length > 0.5, normal / np.maximum(length, 1e-30), (0.0, 0.0, 1.0))
    radius = np.sqrt(np.maximum(area, 0.0) / np.pi) * (pressure > 0.0)
    return f.contact[:, :3].astype(float), radius.astype(float), normal, pressure.astype(float)


def rims(center: np.ndarray, radius: np.ndarray, normal: np.ndarray, count: int = AROUND) -> np.ndarray:
    """Points (n, count, 3) about discs."""
    x = np.cross(np.where(np.abs(normal[:, 1:2]) < 0.9, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), normal)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.cross(normal, x)
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)[:, None]
    around = np.cos(angle) * x[:, None] + np.sin(angle) * y[:, None]
    return np.asarray(center[:, None] + radius[:, None, None] * around)


class Pressures:
    """The discs of all contacts on the page."""

    def __init__(self, scene: Any, motion: Motion, f: Frame, size: float) -> None:
        self.scale, self.largest = scale_of(motion)
        self._tiny, self._seen = 1e-6 * size, Seen()
        self._told = scene.add_frame(SCALE, show_axes=False, position=(self.scale, self.largest, 0.0))
        self.handle: Any = None
        if f.press is None:
            return
        rim = rims(np.zeros((1, 3)), np.ones(1), np.array([[0.0, 0.0, 1.0]]))[0]
        k = np.arange(1, AROUND + 1)
        faces = np.stack([np.zeros(AROUND, dtype=int), k, k % AROUND + 1], axis=1)
        p, q, scales, colors = self._at(f)
        self.handle = scene.add_batched_meshes_simple(
            NODE, np.concatenate([np.zeros((1, 3)), rim]), faces, q, p, batched_scales=scales, batched_colors=colors,
            opacity=OPACITY, side="double", lod="off", cast_shadow=False, receive_shadow=False,
        )  # fmt: skip

    def grow(self, f: Frame) -> None:
        """Let the scale be that of another moment, too."""
        if self.handle is None or f.press is None:
            return
        self._seen.add(discs(f)[3])
        if most := self._seen.exceeded_by(0.1):
            self.scale, self.largest = rounded(most), self._seen.exceeded_by(0.0)
            self._told.position = (self.scale, self.largest, 0.0)

    def show(self, f: Frame) -> None:
        """Put the discs where contacts press."""
        if self.handle is None or f.press is None:
            return
        p, q, scales, colors = self._at(f)
        self.handle.batched_positions, self.handle.batched_wxyzs = p, q
        self.handle.batched_scales, self.handle.batched_colors = scales, colors

    def _at(self, f: Frame) -> tuple[np.ndarray, ...]:
        from nexdyn.view.placing import linear, turn_z_to

        p, radius, normal, pressure = discs(f)
        q = np.array([turn_z_to(n) for n in normal])
        scales = np.maximum(np.stack([radius, radius, radius], axis=1), self._tiny)
        colors = np.array([linear(c / 255.0) for c in color(pressure / (self.scale or 1.0))], dtype=np.uint8)
        return p.astype(np.float32), q.astype(np.float32), scales.astype(np.float32), colors

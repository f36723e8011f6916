"""Units in which the page tells lengths and angles: those of SI, or millimetres and degrees.

1 m = 1000 mm,  1 rad = 180/π °;   rates follow: m/s², rad/s
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from nexdyn.view.charts import Panel, pretty

_FACTORS = {("m", "mm"): 1000.0, ("rad", "°"): 180.0 / math.pi}


class Units(NamedTuple):
    """The unit of lengths, "m" or "mm", and that of angles, "rad" or "°"."""

    length: str = "m"
    angle: str = "rad"

    def of(self, values: np.ndarray, unit: str) -> tuple[np.ndarray, str]:
        """Values and unit as they are told; "" for what has no unit."""
        base, slash, per = unit.partition("/")
        chosen = {"m": self.length, "rad": self.angle}.get(base, base)
        told = "" if unit == "1" else pretty(f"{chosen}{slash}{per}")
        return values * _FACTORS.get((base, chosen), 1.0), told

    def panel(self, panel: Panel) -> Panel:
        """A panel whose y is told in these units."""
        before, _, unit = panel.y.rpartition("[")
        (factor,), told = self.of(np.ones(1), unit.removesuffix("]"))
        if factor == 1.0:
            return panel
        title = panel.title.replace(f" in {unit.removesuffix(']')}", f" in {told}")
        lines = [line._replace(y=line.y * factor) for line in panel.lines]
        return panel._replace(title=title, y=f"{before}[{told}]", lines=lines)


SI, MM_DEG = Units(), Units("mm", "°")

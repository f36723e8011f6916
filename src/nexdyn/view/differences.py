"""`Comparison.plot`: how far methods are apart over time, on logarithmic axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nexdyn.results.atomic import PathLike, file_path
from nexdyn.view.charts import Line, Panel
from nexdyn.view.extras import need
from nexdyn.view.plots import SUFFIXES, draw, save, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nexdyn.studies.compare import Comparison

UNITS = {"position": "m", "orientation": "rad", "velocity": "m/s", "force": "N", "energy": "J"}
"""What is drawn, and its unit."""


def plot(comparison: Comparison, path: PathLike | None = None) -> Figure:
    """The figure that `Comparison.plot` describes."""
    need("matplotlib", "a plot")
    target = None if path is None else file_path(path, SUFFIXES, "a plot")
    c = comparison
    shown = []
    for name, unit in UNITS.items():
        values = np.where(c.series[name] > 0.0, c.series[name], np.nan)
        if np.isfinite(values[1:]).any():
            lines = [Line(c.methods[k], c.times, values[k]) for k in range(1, len(c.methods))]
            shown.append(Panel(name, "time [s]", f"difference [{unit}]", lines))
    with styled():
        figure = draw(shown, f"{c.results[0].system.name}: differences from {c.methods[0]}")
        for axes in figure.axes:
            axes.set_yscale("log")
        if target is not None:
            save(figure, target)
    return figure

"""The curves beside the scene, each with a cursor at the shown time: the shaded past ends where the time is.

The cursor is a curve of its own between 0 and 1 on a hidden scale, with the shown time as two more samples of the plot:

    x = (t_0 … t_k, t, t, t_{k+1} …),   past = (1 … 1, 1, 0, 0 …)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.view.charts import Panel
from nexdyn.view.plot_words import in_words
from nexdyn.view.words import Words

COLORS = (
    "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22",
)  # fmt: skip
MOST = 1e100
"""What is beyond it is not drawn."""
MOST_SAMPLES = 300
"""Samples of a curve on the page, of which the extremes of each stretch are some more."""


class Plot:
    """A plot in `tab`; it stays where it is when its curves change."""

    def __init__(self, gui: Any, tab: Any, order: float, words: Words, height: int = 250) -> None:
        self._gui, self._tab, self._order, self._height, self._words = gui, tab, order, height, words
        self._handle: Any = None
        self._x, self._y = np.zeros(0), np.zeros((0, 0))
        self._t = 0.0
        self._drawn: tuple[str, ...] = ()
        self.panel: Panel | None = None
        self.title = ""

    def show(self, panel: Panel | None, now: float) -> None:
        """Draw this panel instead of what was drawn, or nothing."""
        if panel is None or not panel.lines or len(panel.lines[0].x) < 2:
            before, self._handle, self.panel, self.title = self._handle, None, None, ""
            if before is not None:
                before.remove()
            return
        t, values = panel.lines[0].x, np.column_stack([line.y for line in panel.lines])
        rows, self.panel = telling(values), panel
        self._x, self._y, self._t = t[rows], values[rows], now
        if self._handle is not None and self._drawn == _identity(panel):
            self._handle.data, self._handle.scales = self._data(), self._scales()
        else:
            self._draw(panel)

    def _draw(self, panel: Panel) -> None:
        before = self._handle
        self._drawn, panel = _identity(panel), in_words(panel, self._words)
        self.title = _title(panel)
        series: list[dict[str, Any]] = [{"label": panel.x}]
        for line, color in zip(panel.lines, COLORS, strict=False):
            series.append(
                {
                    "label": line.label,
                    "stroke": color,
                    "width": 1.5,
                    "scale": "y",
                    "points": {"show": False},
                    "pxAlign": 0,
                }
            )
        series.append(
            {"label": self._words("shown time"), "stroke": "rgba(128,128,128,0.95)", "fill": "rgba(128,128,128,0.14)", "width": 1,
             "scale": "past", "points": {"show": False}}
        )  # fmt: skip
        axes: tuple[dict[str, Any], ...] = (
            {"label": panel.x, "labelSize": 18, "labelGap": -2, "size": 36},
            {"scale": "y", "size": 60},
        )
        with self._tab:
            self._handle = self._gui.add_uplot(
                self._data(), tuple(series), title=self.title, height=self._height, scales=self._scales(), axes=axes,
                padding=(4, 18, 0, 0), legend={"live": False}, order=self._order,
                cursor={"sync": {"key": "nexdyn", "scales": ("x", None)}},
            )  # fmt: skip
        if before is not None:
            before.remove()

    def _scales(self) -> dict[str, dict[str, Any]]:
        finite = self._y[np.abs(self._y) < MOST]  # a run that blows up leaves others
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        margin = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
        return {
            "x": {"time": False, "range": (float(self._x[0]), float(self._x[-1]))},
            "y": {"range": (low - margin, high + margin)},
            "past": {"range": (0.02, 0.98)},
        }

    def at(self, now: float) -> None:
        """Move the cursor to the time `now` [s]."""
        if self._handle is not None and now != self._t:
            self._t = now
            self._handle.data = self._data()

    def lay_out_again(self) -> None:
        """Make the browsers measure the axes again.

        uPlot skips them where its data and its size change at once, as happens while a page is built during playback.
        """
        if self._handle is not None:
            self._height += 1 if self._height % 2 == 0 else -1
            self._handle.height = self._height

    def _data(self) -> tuple[np.ndarray, ...]:
        x, k = self._x, int(np.searchsorted(self._x, self._t, side="right"))
        now = min(max(self._t, x[0]), x[-1])
        parts = [np.concatenate([x[:k], (now, now), x[k:]])]
        for y in self._y.T:
            at = np.interp(now, x, y)
            parts.append(np.concatenate([y[:k], (at, at), y[k:]]))
        past = np.zeros(len(x) + 2)
        past[: k + 1] = 1.0
        return (*parts, past)


def _identity(panel: Panel) -> tuple[str, ...]:
    """What a plot cannot change without being made anew."""
    return (panel.title, panel.y, *(line.label for line in panel.lines))


def _title(panel: Panel) -> str:
    """The panel's title with the unit: "joint coordinates q [rad]", "moment at crank, my [N·m]"."""
    quantity, _, unit = panel.y.partition(" [")
    if panel.y.startswith(panel.title):
        return panel.y
    colons = any(f" {quantity}{colon}" in panel.title for colon in ":：")
    told = panel.title.startswith(quantity) or colons or panel.title.endswith(f" {quantity}")
    return f"{panel.title} [{unit}" if told else f"{panel.title}, {panel.y}"


def telling(values: np.ndarray) -> np.ndarray:
    """Rows that show the course of the curves (N, k): evenly spaced ones, and where a curve is least or largest."""
    n, k = values.shape
    if n <= 2 * MOST_SAMPLES:
        return np.arange(n)
    stretches = np.array_split(np.arange(n), max(1, MOST_SAMPLES // max(k, 1)))
    extremes = [s[part.argmin(axis=0)] for s in stretches for part in (values[s], -values[s])]
    return np.unique(np.concatenate([np.linspace(0, n - 1, MOST_SAMPLES).astype(int), *extremes]))

"""Plots of a result on paper and screen: PNG, SVG and PDF, by matplotlib.

170 mm wide, which fills the text of an A4 page; letters of 9 points; lines that differ in dashes too, so that they are
told apart in grey and by those who do not see all colours (the colours are those of Okabe and Ito). Legends stand beside
the axes and hide nothing. No display is needed, and no state of matplotlib's is changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from nexdyn.errors import InputError
from nexdyn.results.atomic import PathLike, file_path, written
from nexdyn.view.charts import DEFAULT, Panel, panels
from nexdyn.view.extras import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nexdyn.results.result import Result

SUFFIXES = (".png", ".svg", ".pdf")
WIDTH, HEIGHT, PHASE_HEIGHT = 6.7, 1.75, 2.1
"""Of the page, of a panel over time, of a row of phase portraits [inch]."""
ACROSS = 3
"""Phase portraits in a row."""
DOTS_PER_INCH = 200
LETTER = 0.085
"""Width of a letter of a title, a large one [inch]."""

_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (10, 2)))
_STYLE: Any = {
    "font.size": 9, "axes.titlesize": 9, "axes.labelsize": 9, "legend.fontsize": 8, "xtick.labelsize": 8,
    "ytick.labelsize": 8, "axes.linewidth": 0.6, "lines.linewidth": 1.2, "grid.linewidth": 0.4, "grid.alpha": 0.5,
    "axes.grid": True, "axes.axisbelow": True, "axes.titlelocation": "left", "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4), "axes.formatter.use_mathtext": True, "figure.dpi": 100,
    "savefig.dpi": DOTS_PER_INCH, "svg.hashsalt": "nexdyn", "svg.fonttype": "path", "agg.path.chunksize": 20000,
    "path.simplify": True, "font.family": "DejaVu Sans", "axes.xmargin": 0.0,
}  # fmt: skip


def styled() -> Any:
    """Within, matplotlib draws as these pages do."""
    from matplotlib import rc_context

    return rc_context(_STYLE)


def plot(
    result: Result, *what: str, of: Sequence[str] | str = (), path: PathLike | None = None, title: str | None = None
) -> Figure:
    """The figure that `Result.plot` describes."""
    need("matplotlib", "a plot")
    target = None if path is None else file_path(path, SUFFIXES, "a plot")
    names = [of] if isinstance(of, str) else list(of)
    shown = panels(result, _kinds(what), names)
    with styled():
        figure = draw(shown, _title(result) if title is None else title)
        if target is not None:
            save(figure, target)
    return figure


def _kinds(what: Sequence[str]) -> list[str]:
    if not all(isinstance(name, str) for name in what):
        raise InputError(f"what to plot is {what!r}; names like 'energy', 'reaction' are needed")
    return list(what) or list(DEFAULT)


def _title(result: Result) -> str:
    r = result.recording
    ended = "" if r.status == "finished" else f" ({r.status} at t = {r.t[-1]:g} s)"
    return f"{result.system.name}{ended}"


def save(figure: Figure, path: PathLike) -> None:
    """Write a figure, whole or not at all: PNG, SVG or PDF, the same bytes for the same figure."""
    target = file_path(path, SUFFIXES, "a plot")
    kind = target.suffix.lower().removeprefix(".")
    with styled(), written(target) as temporary:
        figure.savefig(temporary, format=kind, metadata=undated(kind))


def undated(kind: str) -> Any:
    """What is said of a file so that it holds no date: the same bytes for the same figure."""
    return {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]


# --- drawing --------------------------------------------------------------------------------------------------------


def draw(shown: Sequence[Panel], title: str) -> Figure:
    """A figure of panels: those over time below each other, phase portraits side by side."""
    rows = _rows(shown)
    heights = [HEIGHT if row[0].over_time else PHASE_HEIGHT for row in rows]
    figure = _new_figure(WIDTH, sum(heights) + 0.5)
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    grid = figure.add_gridspec(len(rows), ACROSS, height_ratios=heights)
    above: Axes | None = None
    for r, row in enumerate(rows):
        for c, panel in enumerate(row):
            place = grid[r, :] if panel.over_time else grid[r, c]
            axes = figure.add_subplot(place, sharex=above if panel.over_time else None)
            _draw_panel(axes, panel)
            last = r + 1 == len(rows) or not rows[r + 1][0].over_time
            if panel.over_time:
                above = axes
                axes.tick_params(labelbottom=last)
            if last or not panel.over_time:
                axes.set_xlabel(panel.x)
    figure.align_ylabels()
    return figure


def _rows(shown: Sequence[Panel]) -> list[list[Panel]]:
    rows: list[list[Panel]] = []
    for panel in shown:
        beside = rows and not panel.over_time and not rows[-1][0].over_time and len(rows[-1]) < ACROSS
        if beside:
            rows[-1].append(panel)
        else:
            rows.append([panel])
    return rows


def _draw_panel(axes: Axes, panel: Panel) -> None:
    for k, line in zip(count(), panel.lines):
        style = {"color": _COLORS[k % len(_COLORS)], "linestyle": _DASHES[k % len(_DASHES)]}
        axes.plot(line.x, line.y, label=line.label, marker="." if len(line.x) == 1 else None, **style)
        if not panel.over_time:
            axes.plot(line.x[:1], line.y[:1], "o", color=style["color"], markersize=4)
            axes.margins(0.05)
    inches = WIDTH - 1.0 if panel.over_time else WIDTH / ACROSS - 0.7
    axes.set_title(_wrapped(panel.title, int(inches / LETTER)))
    axes.set_ylabel(panel.y)
    if len(panel.lines) > 1:
        axes.legend(
            loc="upper left", bbox_to_anchor=(1.005, 1.02), borderaxespad=0.0, frameon=False, handlelength=2.6,
            labelspacing=0.25,
        )  # fmt: skip


def _wrapped(text: str, most: int) -> str:
    """Lines of at most `most` letters, broken after spaces and, as names of robots' joints are long, after _ - . /"""
    lines = [""]
    for part in re.findall(r"[^ _\-./]*[ _\-./]?", text):
        pieces = [part[k : k + most] for k in range(0, len(part), most)]
        for piece in pieces:
            lines = [*lines[:-1], lines[-1] + piece] if len(lines[-1] + piece.rstrip()) <= most else [*lines, piece]
    return "\n".join(line.rstrip() for line in lines)


def _new_figure(width: float, height: float) -> Figure:
    """A figure that knows no display and shows itself in a notebook."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        def _repr_svg_(self) -> str:
            import io

            stream = io.StringIO()
            with styled():
                self.savefig(stream, format="svg", metadata={"Date": None})
            return stream.getvalue()

    figure = NotebookFigure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure

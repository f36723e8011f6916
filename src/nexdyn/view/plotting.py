"""The plots next to the scene: several at once, one zoom and one cursor for all, and their files (CSV, PNG, SVG)."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import NexDynError
from nexdyn.results.quantities import OF_JOINTS
from nexdyn.view.charts import KINDS, OF_BODIES, Panel, panels
from nexdyn.view.ghost import differences
from nexdyn.view.motion import Motion
from nexdyn.view.panels import Plot

if TYPE_CHECKING:
    from nexdyn.results.result import Result
    from nexdyn.view.desk import Desk

PLOTTED = tuple(kind for kind in KINDS if kind not in ("energy", "phase"))
MOST_PLOTS, MOST_NAMES = 12, 500
ALL = "(all)"
NO_PLOTS = "Plots are of a motion: press *Live* (L), and the model runs."
OF_SELECTED = {"body": ("position", "velocity"), "joint": ("joint_position", "reaction")}
"""What is plotted of what is selected."""


class Plots:
    """The tab of the plots. `chosen` are those that stay: pairs of a kind and a name ("" for all); the menus show one more."""

    def __init__(self, desk: Desk, gui: Any, panel: Any) -> None:
        self.desk = desk
        self.chosen: list[tuple[str, str]] = []
        self._begins: dict[tuple[str, str], int] = {}
        """Which plot is the first one of a kind and a name."""
        w = desk.words
        tab = panel.add_tab(w("Plots"))
        self._kinds = {w(kind): kind for kind in PLOTTED}
        with tab:
            self._none = gui.add_markdown(w(NO_PLOTS), visible=False, order=-1.0)
            self._energy = Plot(gui, tab, 0.0, w)
            self._apart = Plot(gui, tab, 0.5, w)
            self._kind = gui.add_dropdown(
                w("plot"), tuple(self._kinds), initial_value=next(iter(self._kinds)), order=1.0
            )
            self._of = gui.add_dropdown(w("of"), (w(ALL),), initial_value=w(ALL), order=2.0)
            self._keep = gui.add_button(w("Keep this plot"), hint=w("and choose another next to it"), order=2.1)
            self._drop = gui.add_button(w("Drop kept plots"), color="gray", order=2.2, visible=False)
            self._save = gui.add_button_group(
                w("save"), ("CSV", "PNG", "SVG"), hint=w("all plots that are shown, as a file"), order=2.3
            )
            self._rest = gui.add_markdown("", visible=False, order=2.4)
            self._more = [Plot(gui, tab, 3.0 + k, w) for k in range(MOST_PLOTS)]
        self._kind.on_update(lambda _: self._kind_changed())
        self._of.on_update(lambda _: self.draw())
        self._keep.on_click(lambda _: self.keep())
        self._drop.on_click(lambda _: self.drop())
        self._save.on_click(self._saved)

    @property
    def everything(self) -> list[Plot]:
        """Every plot, drawn or not."""
        return [self._energy, self._apart, *self._more]

    @property
    def shown(self) -> list[Panel]:
        """The panels that are drawn."""
        return [plot.panel for plot in self.everything if plot.panel is not None]

    # --- what happens ---------------------------------------------------------------------------------------------

    def new_motion(self, moves: bool, live: bool = False) -> None:
        """Plot another motion; of a system that runs the last states."""
        for part in (self._kind, self._of, self._keep, self._save):
            part.visible = moves or live
        motion = self.desk.motion
        self._energy.show(_energy(motion.result) if moves else None, self.desk.t)
        self._none.visible = not (moves or live)
        self._kind_changed()

    def lay_over(self, ghost: Motion | None) -> None:
        """Plot how far the bodies are from where a ghost has them."""
        panel = None if ghost is None else differences(self.desk.motion, ghost)
        self._apart.show(None if panel is None else self.desk.units.panel(panel), self.desk.t)

    def title_of(self, any_of: list[tuple[str, str]]) -> str:
        """The title of the first plot that is drawn of one of these kinds and names; "" for none."""
        at = [self._begins[one] for one in any_of if one in self._begins]
        titles = [self._more[k].title for k in at if k < MOST_PLOTS]
        return next((title for title in titles if title), "")

    def keep(self) -> None:
        """Keep what the menus show."""
        self.add([self._now()])

    def add(self, more: list[tuple[str, str]]) -> None:
        """Keep plots of these kinds and names too."""
        self.chosen += [one for one in more if one not in self.chosen]
        self.draw()

    def drop(self) -> None:
        """Plot what the menus show alone."""
        self.chosen = []
        self.draw()

    def live(self, energy: Panel, t: float) -> None:
        """Draw the energies of a run that goes on, or is under way."""
        self._energy.show(energy, t)

    @property
    def _result(self) -> Result | None:
        """What the plots are of: what is shown, or the last states of a system that runs."""
        touch = self.desk.touch
        return self.desk.motion.result if touch is None else touch.recent

    def draw(self, anew: bool = True) -> None:
        """Draw what is kept, and what the menus show; anew: others than before, which are laid out."""
        result = self._result
        if result is None:
            return
        found: list[Panel] = []
        begins: dict[tuple[str, str], int] = {}
        units = self.desk.units
        for kind, name in dict.fromkeys([*self.chosen, self._now()]):
            try:
                drawn = panels(result, [kind], [name] if name else [])
            except NexDynError:  # nothing of this kind
                continue
            if drawn:
                begins[kind, name] = len(found)
                found += drawn
        with self.desk.lock:
            if self.desk.touch is not None:
                self._energy.show(_energy(result), self.desk.t)
            self._begins = begins
            for k, plot in enumerate(self._more):
                plot.show(units.panel(found[k]) if k < len(found) else None, self.desk.t)
            left = self.desk.words.more(len(found) - MOST_PLOTS)
            if self._rest.content != left:
                self._rest.content, self._rest.visible = left, bool(left)
            if anew:
                self._drop.visible = bool(self.chosen)
                self.desk.calm.lay_out_soon()

    def _now(self) -> tuple[str, str]:
        of = self._of.value
        return self._kinds[self._kind.value], "" if of == self.desk.words(ALL) else of

    def _kind_changed(self) -> None:
        """Offer what the chosen kind of plot can be of, and plot it."""
        m, kind = self.desk.motion, self._kinds[self._kind.value]
        if m.result is None:
            return
        names = m.bodies if kind in OF_BODIES else list(m.system.measures) if kind == "measures" else _joints(m, kind)
        offered = (self.desk.words(ALL), *names[:MOST_NAMES])
        if self._of.options != offered:
            self._of.options = offered
            self._of.value = offered[0]
        self.draw()

    def _saved(self, event: Any) -> None:
        if event.client is None or not self.shown:
            return
        kind = self._save.value.lower()
        name = f"{self.desk.system.name}.{kind}".replace(" ", "-").replace("/", "-")
        content = as_file(self.shown, self.desk.system.name, kind)
        event.client.send_file_download(name, content, save_immediately=True)


def as_file(shown: list[Panel], title: str, kind: str) -> bytes:
    """Panels over one time as a file: "csv", a column a curve, "png" or "svg"."""
    if kind == "csv":
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        t = max((panel.lines[0].x for panel in shown), key=len)
        curves = [(panel, line) for panel in shown for line in panel.lines]
        head = [f"{panel.title}: {line.label} [{panel.y.rpartition('[')[2]}" for panel, line in curves]
        writer.writerow([shown[0].x, *head])
        # what is plotted at fewer times, the difference from a ghost, is told at those alone
        columns = [np.where(np.isin(t, line.x), np.interp(t, line.x, line.y), np.nan) for _, line in curves]
        writer.writerows(["" if x != x else x for x in row] for row in np.column_stack([t, *columns]).tolist())
        return stream.getvalue().encode()
    from nexdyn.view.plots import draw, styled, undated

    picture = io.BytesIO()
    with styled():
        draw(shown, title).savefig(picture, format=kind, metadata=undated(kind))
    return picture.getvalue()


def _energy(result: Result | None) -> Panel | None:
    """The panel of the energies, or None where there is nothing to plot."""
    try:
        return None if result is None else panels(result, ["energy"])[0]
    except NexDynError:
        return None


def _joints(motion: Motion, kind: str) -> list[str]:
    return motion.joints if kind in OF_JOINTS else list(dict.fromkeys(motion.moving))

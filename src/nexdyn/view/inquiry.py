"""What is asked of a motion on the page: the selected body or joint with its numbers, and the tree of the model."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import unknown
from nexdyn.view.cards import Card, number, tree
from nexdyn.view.ghost import text as apart_text
from nexdyn.view.highlight import Highlight
from nexdyn.view.marks import frame_on_carried
from nexdyn.view.motion import Frame
from nexdyn.view.picking import Hit, Picker
from nexdyn.view.plotting import OF_SELECTED
from nexdyn.view.ruler import MOST, Point, Ruler
from nexdyn.view.section import section_of
from nexdyn.view.words import Words

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.view.desk import Desk


class Inquiry:
    """The selection of a viewer, and the parts of the page that tell of it."""

    def __init__(self, desk: Desk, words: Words) -> None:
        self.desk, self.words = desk, words
        self.key = ""
        self._card: Card | None = None
        self._picker: Picker | None = None
        self._points: list[Point] = []
        self._ruler: Ruler | None = None
        self._led, self._before = "", ""
        """The body that is followed because it was selected, and what was followed before."""

    # --- the parts of the page ------------------------------------------------------------------------------------

    def add_selected(self, gui: Any) -> None:
        """The folder of what is selected."""
        w = self.words
        with gui.add_folder(w("Selected")):
            self._text = gui.add_html("")
            self._along = gui.add_checkbox(
                w("follow what is selected"), True, hint=w("a click on a body lets the camera go along with it")
            )
            self._follow = gui.add_button(
                w("Follow"), hint=w("the camera goes along with the selected body (F)"), visible=False
            )
            self._plot = gui.add_button(w("Plot it"), hint=w("plots of what is selected"), visible=False)
            self._measure = gui.add_button(
                w("Measure from it"),
                hint=w("its centre of mass, or the joint's point (M); shift-click: any point"),
                visible=False,
            )
            self._none = gui.add_button(w("Deselect"), color="gray", visible=False)
            self._apart = gui.add_html("", visible=False)
            self._measured = gui.add_html("", visible=False)
            self._clear = gui.add_button(w("Clear points"), color="gray", visible=False)
        self._follow.on_click(lambda _: self.follow())
        self._none.on_click(lambda _: self.choose(""))
        self._plot.on_click(lambda _: self.plot())
        self._measure.on_click(lambda _: self.measure_selected())
        self._clear.on_click(lambda _: self.clear())
        gui.add_command(w("Measure from it"), hotkey="M").on_trigger(lambda _: self.measure_selected())
        gui.add_command(w("Follow"), hotkey="F").on_trigger(lambda _: self.follow())
        self.tell()

    def add_tree(self, gui: Any, panel: Any) -> None:
        """The tab with the model's bodies and joints."""
        with panel.add_tab(self.words("Model")):
            self._tree = gui.add_html(tree(self.desk.system, self.words))

    # --- what happens ---------------------------------------------------------------------------------------------

    def pick(self, origin: np.ndarray, direction: np.ndarray, t: float) -> Hit | None:
        """What a line of sight meets at the time `t` [s]; in a pose or a run that goes on, what is shown now."""
        desk = self.desk
        stage = desk.stage
        if "shapes" not in stage.look.layers:
            return None
        picker = self._picker
        if picker is None:
            picker = self._picker = Picker(stage.drawn, stage.row)
        section = section_of(stage.look.section)
        return picker.pick(desk.frame or desk.motion.at(t), origin, direction, section, stage.look.opacity == 1.0)

    def said_of(self, body: str) -> str:
        """What stands beside the mouse."""
        if body == "ground":
            return self.words("ground")
        system = self._system
        return f"{body}  {number(system.bodies[body].resolved(system.values).mass)} kg"

    @property
    def _system(self) -> System:
        """The system as it is at the shown moment."""
        return self.desk.stage.motion.system

    def select(self, key: str) -> None:
        """Select "body:NAME", "joint:NAME", or a name of either; "" selects nothing."""
        desk = self.desk
        found = _key(desk, key)
        kind, _, name = found.partition(":")
        card = Card(desk.stage.motion, kind, name, self.words) if found else None
        with desk.lock:
            self.key, self._card = ("", None) if card is None else (found, card)
            desk.stage.carry("selected", self._highlight if card else None)
            self.tell()

    def choose(self, key: str) -> None:
        """Select by hand: the camera goes along with it too, a joint's child, where the box says so; it stays where it is seen."""
        self.select(key)
        desk = self.desk
        with desk.lock:
            if not self._along.value:
                return
            body, now = self._body(), desk.look.follow
            if body:
                self._before = self._before if now and now == self._led else now
                self._led = body
            elif now and now == self._led:
                body = self._before if self._before in desk.motion.bodies else ""
                self._led = ""
            else:
                return
            if body != now:
                desk.viewer.look(replace(desk.look, follow=body), steady=True)

    def _body(self) -> str:
        """The selected body, or the selected joint's child; "" for none."""
        kind, _, name = self.key.partition(":")
        if kind == "joint":
            name = self.desk.system.joints[name].carried.name
        return name if name in self.desk.motion.bodies else ""

    def plotted(self) -> str:
        """The title of the first plot of what is selected; "" where none is drawn."""
        kind, _, name = self.key.partition(":")
        return self.desk.controls.plots.title_of([(what, name) for what in OF_SELECTED.get(kind, ())])

    def _highlight(self, scene: Any, f: Frame) -> Highlight:
        stage = self.desk.stage
        return Highlight(scene, stage.system, stage.drawn, stage.row, self.key, f, stage.size)

    def measure(self, body: str, p_B: np.ndarray) -> None:
        """Add a point, fixed to a body, to those between which distances are told; a fourth begins anew."""
        with self.desk.lock:
            self._points = [*(self._points if len(self._points) < MOST else []), Point(body, np.array(p_B))]
            self.desk.stage.carry("measured", self._ruled)
            self.tell()

    def measure_selected(self) -> None:
        """Add the selected body's centre of mass, or the selected joint's point on its child."""
        if (found := self.point_of_selected()) is not None:
            self.measure(*found)

    def point_of_selected(self) -> tuple[str, np.ndarray] | None:
        """A body and a point (3,) [m] in it: the selected body's centre of mass, or the selected joint's point on its child."""
        system, (kind, _, name) = self._system, self.key.partition(":")
        if kind == "body":
            return name, system.bodies[name].resolved(system.values).com
        if kind == "joint":
            joint = system.joints[name]
            return joint.carried.name, frame_on_carried(joint, system.values)[1]
        return None

    @property
    def points(self) -> tuple[tuple[str, tuple[float, float, float]], ...]:
        """The measured points: body, and x, y, z [m] in it."""
        return tuple((point.body, tuple(float(x) for x in point.p_B)) for point in self._points)  # type: ignore[misc]

    def clear(self) -> None:
        """Measure no longer."""
        with self.desk.lock:
            self._points = []
            self.desk.stage.carry("measured", None)
            self.tell()

    def _ruled(self, scene: Any, f: Frame) -> Ruler:
        stage = self.desk.stage
        self._ruler = Ruler(scene, self._points, stage.row, f, stage.size)
        return self._ruler

    def follow(self) -> None:
        """The camera goes along with the selected body, or no longer."""
        desk, name = self.desk, self._body()
        if name:
            desk.viewer.look(replace(desk.look, follow="" if desk.look.follow == name else name))

    def plot(self) -> None:
        """Keep the plots of what is selected."""
        kind, _, name = self.key.partition(":")
        if name:
            self.desk.controls.plots.add([(what, name) for what in OF_SELECTED[kind]])

    def new_motion(self) -> None:
        """Ask the same of another motion."""
        self._picker = None
        desk, (kind, _, name) = self.desk, self.key.partition(":")
        known = name in (desk.system.joints if kind == "joint" else desk.motion.bodies)
        self.select(self.key if known else "")
        self._points = [point for point in self._points if point.body in desk.stage.row]
        if not self._points:
            desk.stage.carry("measured", None)
        if self._points:
            self.desk.stage.carry("measured", self._ruled)

    def new_moment(self) -> None:
        """Tell of the moment that a running system has come to."""
        desk, (kind, _, name) = self.desk, self.key.partition(":")
        if name:
            self._card = Card(desk.stage.motion, kind, name, self.words)
        self.tell()

    def new_sizes(self) -> None:
        """The bodies are drawn anew."""
        self._picker = None
        self.new_moment()

    def new_system(self) -> None:
        """Let the tree be that of another system; `new_motion` follows."""
        self._tree.content = tree(self.desk.system, self.words)

    def tell(self) -> None:
        """Let the page tell the numbers at the shown time."""
        desk, card = self.desk, self._card
        if card is None:
            text = self.words("Click a body, or choose one in the model's tree.")
            text = f'<p class="nexdyn-said">{html.escape(text)}</p>'
        else:
            text = card.text(desk.t, desk.frame, desk.units)
        if self._text.content != text:
            self._text.content = text
        if self._points and self._ruler is not None:
            ruled = self._ruler.text(desk.stage.frame, desk.units, self.words)
            if self._measured.content != ruled:
                self._measured.content = ruled
        ghost = desk.ghost
        if ghost is not None and desk.frame is None:
            body = self.key.removeprefix("body:")
            told = apart_text(desk.motion, ghost, desk.t, body, desk.units, self.words)
            if self._apart.content != told:
                self._apart.content = told
        for shown, parts in (
            (ghost is not None, (self._apart,)),
            (card is not None, (self._follow, self._plot, self._measure, self._none)),
            (bool(self._points), (self._measured, self._clear)),
        ):
            for part in parts:
                if part.visible != shown:
                    part.visible = shown


def _key(desk: Desk, given: str) -> str:
    """ "body:NAME" or "joint:NAME" of what is meant; UnknownNameError where nothing has the name."""
    kind, colon, name = given.partition(":")
    bodies, joints = desk.motion.bodies, desk.system.joints
    if not given or given in ("ground", "body:ground"):
        return ""
    if colon and kind in ("body", "joint"):
        valid = bodies if kind == "body" else list(joints)
        if name not in valid:
            raise unknown(kind, name, valid)
        return given
    if given in bodies:
        return f"body:{given}"
    if given in joints:
        return f"joint:{given}"
    raise unknown("body or joint", given, [*bodies, *joints], plural="bodies and joints")

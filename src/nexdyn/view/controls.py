"""Buttons, sliders and plots beside the scene of a viewer, the same in every browser."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError, NexDynError
from nexdyn.view.charts import Panel
from nexdyn.view.dials import Dial
from nexdyn.view.hands import Shared
from nexdyn.view.members import labels
from nexdyn.view.plotting import Plots
from nexdyn.view.section import SIDES as SECTIONS
from nexdyn.view.sharing import Sharing
from nexdyn.view.stage import LAYERS, SIDES, Look
from nexdyn.view.units import SI

if TYPE_CHECKING:
    from nexdyn.view.desk import Desk

SPEEDS = {"0.05×": 0.05, "0.1×": 0.1, "0.25×": 0.25, "0.5×": 0.5, "1×": 1.0, "2×": 2.0, "5×": 5.0, "20×": 20.0}
NOBODY = NOTHING = "(nothing)"
TRANSPARENT = 0.3
"""Opacity of the bodies at the key T."""
MOST_SLIDERS, MOST_NAMES = 60, 500


class Controls:
    """Buttons, sliders and plots of a viewer, the same in every browser."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.gui, self.w = desk, desk.server.gui, desk.words
        self._sliders: list[Any] = []
        self._posing: list[Shared] = []
        """The same, as a hand and the program set them."""
        self._at: dict[str, float] = {}
        self._by_hand: set[str] = set()
        self._dials: list[Dial] = []
        self._more: Any = None
        self._factors: list[float] = []
        self._q = np.zeros(0)
        gui = self.gui
        gui.set_panel_label(desk.system.name)
        self._status = gui.add_html("", visible=False)
        self._told = gui.add_html("", visible=False)
        self._add_playback()
        desk.inquiry.add_selected(gui)
        self._add_show()
        # of a pose they are what is wanted first
        self._joints = gui.add_folder(self.w("Joints"), visible=False, order=self._live.order + 0.1)
        self._add_coordinates()
        self.sharing = Sharing(desk, gui)
        self._add_end()
        self._add_plots()
        gui.main_panel.dock_right()
        gui.main_panel.set_width(330)
        self.new_motion()
        self.tell(desk.look)

    # --- the parts ------------------------------------------------------------------------------------------------

    def _add_playback(self) -> None:
        gui, desk, w = self.gui, self.desk, self.w
        self._member: Any = None
        if desk.batch is not None:
            self._members = labels(desk.batch, w)
            self._member = gui.add_dropdown(w("member"), tuple(self._members))
            self._member.on_update(self._member_chosen)
        self._play = gui.add_button(w("Pause"))
        self._time = gui.add_slider(w("time [s]"), 0.0, 1.0, 1e-3, 0.0)
        self._clock = Shared(desk.server, self._time, desk.viewer.seek)
        self._speed = gui.add_dropdown(w("speed"), tuple(SPEEDS), initial_value="1×")
        self._loop = gui.add_checkbox(w("repeat"), True)
        self._follow = gui.add_dropdown(w("follow"), self._bodies(), initial_value=w(NOBODY))
        self._reset = gui.add_button(w("Reset"), hint=w("back to the start, the camera too (R)"))
        self._live = gui.add_button(w("Live"), hint=w("let it run from here, drag it with the mouse, change it (L)"))
        self._live.on_click(lambda _: self._live_pressed())

        @self._play.on_click
        def _(_: Any) -> None:
            self._toggle()

        @self._speed.on_update
        def _(_: Any) -> None:
            desk.time.speed = SPEEDS[self._speed.value]

        @self._loop.on_update
        def _(_: Any) -> None:
            desk.time.repeats = self._loop.value

        @self._reset.on_click
        def _(_: Any) -> None:
            desk.viewer.reset()

        self._add_views()
        for label, key, act in (
            ("Play or pause", "space", self._toggle),
            ("Reset", "R", desk.viewer.reset),
            ("Next sample", ".", lambda: desk.viewer.step(1)),
            ("Sample before", ",", lambda: desk.viewer.step(-1)),
            ("Live, or its recording", "L", self._live_pressed),
        ):
            gui.add_command(w(label), hotkey=key).on_trigger(lambda _, act=act: act())
        hold = gui.add_command(w("Grab what is selected: arrow keys pull it, Enter lets go"), hotkey="G")
        hold.on_trigger(lambda event: self._hold(event.client))
        undo = gui.add_command(w("Undo"), hotkey="Z", modifier="cmd/ctrl")
        undo.on_trigger(lambda _: desk.touch.undo() if desk.touch is not None else None)

    def _add_views(self) -> None:
        """From where one looks, and how light it is."""
        gui, desk, w = self.gui, self.desk, self.w
        sides = {w(side): side for side in SIDES}
        self._side = gui.add_button_group(w("view"), tuple(sides), hint=w("standard views (keys 1 to 7)"))
        self._parallel = gui.add_checkbox(w("parallel"), False, hint=w("no perspective: what is parallel looks so (P)"))
        self._dark = gui.add_checkbox(w("dark"), False, hint=w("a dark page (D)"))
        self._units = gui.add_checkbox(w("mm, degrees"), False, hint=w("units of panels and plots (U)"))
        full = html.escape(w("Full screen"))
        gui.add_html(f'<p class="nexdyn-said"><button data-nexdyn-do="fullscreen">{full} (Z)</button></p>')

        @self._side.on_click
        def _(event: Any) -> None:
            if event.client is not None:
                desk.cameras.aim(event.client, sides[self._side.value])

        for k, side in enumerate(SIDES):
            command = gui.add_command(f"{w('View from the')} {w(side)}", hotkey=str(k + 1))
            command.on_trigger(lambda event, side=side: desk.cameras.aim(event.client, side))
        self._modes: list[tuple[Shared, Callable[[], bool]]] = []
        for box, now, act, label, key in (
            (self._parallel, lambda: desk.cameras.parallel, desk.viewer.lens, "Parallel or perspective", "P"),
            (self._dark, lambda: desk.dark, desk.viewer.dark, "Dark or light", "D"),
            (self._units, lambda: desk.units != SI, desk.viewer.units, "Millimetres and degrees, or metres and radians", "U"),
        ):  # fmt: skip
            shared = Shared(desk.server, box, act)
            self._modes.append((shared, now))
            gui.add_command(w(label), hotkey=key).on_trigger(lambda _, mode=(shared, now, act): self._switch(*mode))

    def _bodies(self) -> tuple[str, ...]:
        return (self.w(NOBODY), *list(self.desk.system.bodies)[:MOST_NAMES])

    @staticmethod
    def _switch(box: Shared, now: Callable[[], bool], act: Callable[[bool], None]) -> None:
        """What a key does: the other of both."""
        box.let_go()
        act(not now())

    def _add_show(self) -> None:
        gui, w = self.gui, self.w
        with gui.add_folder(w("Show")):
            self._layers = {layer: gui.add_checkbox(w(layer), layer in self.desk.look.layers) for layer in LAYERS}
            self._arrows = gui.add_slider(w("arrow length"), 0.1, 10.0, 0.1, 1.0)
            self._trail = gui.add_slider(w("trail [s]"), 0.1, 10.0, 0.1, 2.0)
            self._more_trails = gui.add_markdown("", visible=False)
            self._opacity = gui.add_slider(
                w("opacity"), 0.1, 1.0, 0.05, 1.0, hint=w("of the bodies; T: transparent, and back")
            )
            sides = {w(NOTHING): "", **{f"{side[-1]} {'<' if side[0] == '-' else '>'}": side for side in SECTIONS}}
            self._sides = sides
            self._section = gui.add_dropdown(
                w("cut away"), tuple(sides), hint=w("what of the bodies lies on one side of a plane")
            )
            self._cut_at = gui.add_slider(f"{w('plane at')} [m]", 0.0, 1.0, 1e-3, 0.0, visible=False)
        shown = self._shown
        self._looks: dict[str, Shared] = {
            layer: shown(box, partial(_with_layer, layer)) for layer, box in self._layers.items()
        }
        self._looks |= {
            "arrows": shown(self._arrows, lambda look, x: replace(look, arrows=float(x))),
            "trail": shown(self._trail, lambda look, x: replace(look, trail=float(x))),
            "opacity": shown(self._opacity, lambda look, x: replace(look, opacity=float(x))),
            "follow": shown(self._follow, lambda look, x: replace(look, follow="" if x == w(NOBODY) else x)),
            "section": shown(self._section, self._other_section),
            "plane": shown(self._cut_at, self._other_plane),
        }
        transparent = gui.add_command(w("Transparent or not"), hotkey="T")
        transparent.on_trigger(lambda _: self._see_through())

    def _see_through(self) -> None:
        desk = self.desk
        desk.viewer.look(replace(desk.look, opacity=TRANSPARENT if desk.look.opacity == 1.0 else 1.0))

    def _shown(self, control: Any, change: Callable[[Look, Any], Look]) -> Shared:
        """A control of what is seen, which changes its own part of it alone."""

        def act(value: Any) -> None:
            with self.desk.lock:
                self.desk.viewer.look(change(self.desk.look, value))

        return Shared(self.desk.server, control, act)

    def _other_section(self, look: Look, chosen: str) -> Look:
        """Another side: at first through the middle of the scene."""
        side, before = self._sides[chosen], look.section
        if not side:
            return replace(look, section=None)
        along = before is not None and before[0][-1] == side[-1]
        at = before[1] if along and before is not None else float(self.desk.stage.center["xyz".index(side[-1])])
        return replace(look, section=(side, at))

    def _other_plane(self, look: Look, shown: float) -> Look:
        metres = float(shown) / float(self.desk.units.of(np.ones(1), "m")[0][0])
        return look if look.section is None else replace(look, section=(look.section[0], metres))

    def _tell_section(self, section: tuple[str, float] | None) -> None:
        names = {side: name for name, side in self._sides.items()}
        name = names["" if section is None else section[0]]
        self._looks["section"].tell(name)
        if section is not None:
            (factor,), unit = self.desk.units.of(np.ones(1), "m")
            size, middle = (
                factor * self.desk.stage.size,
                factor * self.desk.stage.center["xyz".index(section[0][-1])],
            )
            at, digits = float(factor * section[1]), 2 - int(np.floor(np.log10(size)))
            low, high = (round(float(middle + side * 0.6 * size), digits) for side in (-1.0, 1.0))
            low, high = min(low, at), max(high, at)
            slider, label = self._cut_at, f"{self.w('plane at')} [{unit}]"
            if slider.label != label:
                slider.label = label
            if abs(slider.min - low) + abs(slider.max - high) > 1e-9 * size:
                slider.min, slider.max = min(low, slider.min), max(high, slider.max)
                slider.step, slider.value = (high - low) / 1000.0, at
                slider.min, slider.max = low, high
            self._looks["plane"].tell(at)
        if self._cut_at.visible != (section is not None):
            self._cut_at.visible = section is not None

    def _add_coordinates(self) -> None:
        """Sliders that pose a system that does not move; in loops the others follow."""
        poser = None if self.desk.motion.moves else self.desk.viewer.poser
        dials = [] if poser is None else poser.dials
        self._dials, self._left_out = dials[:MOST_SLIDERS], len(dials) - MOST_SLIDERS
        self._posed = {dial.label: dial.value for dial in self._dials}
        self.show_dials()

    def show_dials(self) -> None:
        """The sliders anew, in the page's units, where the joints stand."""
        for slider in self._sliders:
            slider.remove()
        self._sliders, self._posing, self._factors = [], [], []
        if self._more is not None:
            self._more.remove()
            self._more = None
        with self._joints:
            for dial in self._dials:
                (factor,), unit = self.desk.units.of(np.ones(1), dial.unit)
                low, high = float(factor * dial.lower), float(factor * dial.upper)
                value = min(max(float(factor * self._at.get(dial.label, dial.value)), low), high)
                slider = self.gui.add_slider(f"{dial.label} [{unit}]", low, high, (high - low) / 1000.0, value)
                self._sliders.append(slider)
                shared = Shared(self.desk.server, slider, lambda _: None)
                shared.act = partial(self._set_by_hand, dial, shared)
                self._posing.append(shared)
                self._factors.append(float(factor))
            if told := self.w.more(self._left_out):
                self._more = self.gui.add_markdown(told)

    def _set_by_hand(self, dial: Dial, slider: Shared, shown: float) -> None:
        self.put(dial, float(shown), slider.by)

    def put(self, dial: Dial, shown: float, by: Any = None) -> None:
        """Put a joint where its slider is, in the page's units; where that cannot be, the slider goes back and the browser `by` is told."""
        poser, k = self.desk.viewer.poser, self._dials.index(dial)
        value = shown / self._factors[k]
        if poser is None or value == self._at.get(dial.label, self._posed[dial.label]):
            return
        with self.desk.lock:
            try:
                q = poser.move(dial.label, value)
            except NexDynError as error:
                self._posing[k].let_go()
                self._posing[k].tell(self._factors[k] * self._at.get(dial.label, self._posed[dial.label]))
                self._complain(by, error)
                return
            self._by_hand.add(dial.joint)
            self._q = q
            for other, moved, scale in zip(self._dials, self._posing, self._factors, strict=True):
                self._at[other.label] = value if other is dial else other.of(poser.of_joint(other.joint, q))
                moved.tell(scale * self._at[other.label])
            self.desk.viewer.pose(q)

    def _complain(self, client: Any, error: NexDynError) -> None:
        for one in self.desk.server.get_clients().values() if client is None else [client]:
            one.add_notification("NexDyn", self.w.error(error), color="red", auto_close_seconds=20.0)

    @property
    def moved(self) -> dict[str, Any]:
        """The coordinates [rad, m] of joints that were put elsewhere by hand: a number, or a list where a joint has several."""
        found: dict[str, Any] = {}
        poser = self.desk.viewer.poser
        for dial in self._dials:
            stands = self._at.get(dial.label, dial.value)
            if poser is not None and dial.joint in self._by_hand and stands != self._posed[dial.label]:
                q = poser.of_joint(dial.joint, self._q)
                found[dial.joint] = [float(x) for x in q] if len(q) > 1 else stands
        return found

    def offer(self, label: str, hint: str, act: Callable[[Any], None], of_joints: bool = True) -> None:
        """A button among the sliders of the joints, or below all; it is told which browser has pressed it."""
        with self._joints if of_joints else nullcontext():
            button = self.gui.add_button(self.w(label), hint=self.w(hint))
        button.on_click(lambda event: act(event.client))

    def _add_end(self) -> None:
        desk = self.desk
        end = self.gui.add_button(self.w("End"), hint=self.w("ends the viewer, not only this page (Esc)"), color="gray")
        end.on_click(lambda _: threading.Thread(target=desk.viewer.close).start())
        escape = self.gui.add_command(self.w("End"), hotkey="escape")
        escape.on_trigger(lambda _: threading.Thread(target=desk.viewer.close).start())

    def _add_plots(self) -> None:
        panel = self.gui.add_panel()
        self.plots = Plots(self.desk, self.gui, panel)
        self.desk.inquiry.add_tree(self.gui, panel)
        panel.dock_left()
        panel.set_width(360)

    # --- what happens ---------------------------------------------------------------------------------------------

    def sync(self, t: float, playing: bool) -> None:
        """Let slider, button and cursors tell the state."""
        self.tell_time(t)
        label = self.w("Pause" if playing else "Play")
        if self._play.label != label:
            self._play.label = label
        self.move_cursors(t)
        self.desk.inquiry.tell()

    def tell_time(self, t: float) -> None:
        """Put the slider where the time is, unless a hand is on it."""
        self._clock.tell(min(max(t, self._time.min), self._time.max))

    def move_cursors(self, t: float) -> None:
        """Move the plots' cursors, unless the plots are being laid out."""
        if self.desk.calm.lets_cursors_move():
            for plot in self.plots.everything:
                plot.at(t)

    def _say(self, what: str, more: str, ticking: bool = False) -> None:
        """What the page is about, which screen readers read out, unless it ticks; "" nothing."""
        live = "off" if ticking else "polite"
        self._status.content = (
            f'<p class="nexdyn-said" role="status" aria-live="{live}"><b>{html.escape(what)}</b>{html.escape(more)}</p>'
            if what
            else ""
        )
        self._status.visible = bool(what)

    def running(self, runs: bool) -> None:
        """Say that a run is going on, or no longer."""
        self._say(self.w("running") if runs else "", " …")
        self._play.disabled = self._time.disabled = runs

    def follow(self, t: float, t_end: float, energy: Panel) -> None:
        """Tell how far a run is."""
        self._say(self.w("running"), f": t = {t:.3f} {self.w('of')} {t_end:g} s", ticking=True)
        self.plots.live(energy, t)

    def new_motion(self) -> None:
        """Fit the controls to another motion."""
        desk, m = self.desk, self.desk.motion
        span = max(m.end - m.start, 1e-9)
        self._time.min, self._time.max, self._time.step = m.start, m.start + span, span / 1000.0
        moving, live = m.moves, desk.touch is not None
        for control in (self._play, self._time, self._loop):
            control.visible = moving and not live
        self._speed.visible, self._reset.visible = moving or live, not live
        self._joints.visible = bool(self._sliders) and not moving and not live
        self._live.label = self.w("Show the recording" if live else "Live")
        self._tell_trails()
        if not live and m.result is not None and m.result.message:  # it was broken off
            self._say(self.w("stopped"), f": {self.w.error(m.result.message)}")
        self.plots.new_motion(moving, live)
        self.sync(desk.t, desk.viewer.playing)

    def _tell_trails(self) -> None:
        """Tell how many bodies and markers leave none, where they are seen."""
        stage = self.desk.stage
        told = f"{self.w('trails')}: {more}" if (more := self.w.more(stage.without_trail)) else ""
        shown = bool(told) and "trails" in stage.look.layers
        if (self._more_trails.content, self._more_trails.visible) != (told, shown):
            self._more_trails.content, self._more_trails.visible = told, shown

    def new_system(self) -> None:
        """Fit names and sliders to another system; `new_motion` follows."""
        self.gui.set_panel_label(self.desk.system.name)
        if self._follow.options != self._bodies():
            self._follow.options = self._bodies()
        self._at, self._by_hand = {}, set()
        self._add_coordinates()

    def tell_of_file(self, text: str) -> None:
        """What is said of the file that the page shows, as HTML; "" nothing."""
        self._told.content, self._told.visible = text, bool(text)

    def lay_out_again(self) -> None:
        """Have the plots measured again."""
        for plot in self.plots.everything:
            plot.lay_out_again()

    def tell(self, look: Look) -> None:
        """Let boxes and sliders tell what is seen."""
        for layer in self._layers:
            self._looks[layer].tell(layer in look.layers)
        for what, value in (
            ("arrows", look.arrows),
            ("trail", look.trail),
            ("opacity", look.opacity),
            ("follow", look.follow if look.follow in self._follow.options else self.w(NOBODY)),
        ):
            self._looks[what].tell(value)
        self._tell_section(look.section)
        self._tell_trails()

    def tell_mode(self) -> None:
        """Let boxes tell whether there is perspective, whether the page is dark and which units it has."""
        for box, now in self._modes:
            box.tell(now())
        self._tell_section(self.desk.look.section)

    def tell_member(self, index: int) -> None:
        """Let the list tell which member is shown."""
        if self._member is not None and index < len(self._members):
            self._member.value = self._members[index]

    def _member_chosen(self, event: Any) -> None:
        if event.client is not None:
            try:
                self.desk.viewer.show_member(self._members.index(self._member.value))
            except NexDynError as error:  # it could not start
                self._complain(event.client, error)

    def say_goodbye(self) -> None:
        """Tell the browsers that this was all."""
        self._say(self.w("ended"), f": {self.w('this page can be closed')}")

    def live_folder(self) -> Any:
        """A folder for what a running system has, above all else."""
        return self.gui.add_folder(self.w("Live"), order=self._play.order - 0.5)

    def _hold(self, client: Any) -> None:
        """Let the keys of a page pull what is selected, where it runs."""
        touch = self.desk.touch
        try:
            if touch is None:
                raise InputError("nothing runs here that could be pulled: press L")
            touch.hold(client)
        except NexDynError as error:
            self._complain(client, error)

    def _live_pressed(self) -> None:
        """Let the system run, or show what it has done; what stands against it is told."""
        desk = self.desk

        def change() -> None:
            try:
                if desk.touch is None:
                    desk.viewer.live()
                else:
                    desk.viewer.keep()
            except NexDynError as error:
                self.running(False)
                self._complain(None, error)
            finally:
                self._live.disabled = False

        if not self._live.disabled:
            self._live.disabled = True
            self._say(self.w("one moment"), " …")
            threading.Thread(target=change, name="nexdyn live start", daemon=True).start()

    def _toggle(self) -> None:
        if self.desk.touch is not None:
            self.desk.touch.toggle()
        elif self.desk.viewer.playing:
            self.desk.viewer.pause()
        else:
            self.desk.viewer.play()


def _with_layer(layer: str, look: Look, on: bool) -> Look:
    return replace(look, layers=look.layers | {layer} if on else look.layers - {layer})

"""Buttons, sliders and plots beside the scene of a viewer, the same in every browser."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from nexdyn.errors import NexDynError
from nexdyn.view.charts import Panel
from nexdyn.view.members import labels
from nexdyn.view.plotting import Plots
from nexdyn.view.stage import LAYERS, SIDES, Look

if TYPE_CHECKING:
    from nexdyn.view.viewer import Viewer

SPEEDS = {"0.05×": 0.05, "0.1×": 0.1, "0.25×": 0.25, "0.5×": 0.5, "1×": 1.0, "2×": 2.0, "5×": 5.0, "20×": 20.0}
NOBODY = "(nothing)"
MOST_SLIDERS, MOST_NAMES = 60, 500


class Controls:
    """Buttons, sliders and plots of a viewer, the same in every browser."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer, self.gui = viewer, viewer.server.gui
        self._sliders: list[Any] = []
        self._joints: Any = None
        self._touched = 0.0
        gui = self.gui
        gui.set_panel_label(viewer.system.name)
        self._status = gui.add_markdown("", visible=False)
        self._add_playback()
        viewer._inquiry.add_selected(gui)
        self._add_show()
        self._add_coordinates()
        self._add_end()
        self._add_plots()
        gui.main_panel.dock_right()
        gui.main_panel.set_width(330)
        self.new_motion()
        self.tell(viewer._look)

    # --- the parts ------------------------------------------------------------------------------------------------

    def _add_playback(self) -> None:
        gui, viewer = self.gui, self.viewer
        self._member: Any = None
        if viewer._batch is not None:
            self._members = labels(viewer._batch, viewer._words)
            self._member = gui.add_dropdown(viewer._words("member"), tuple(self._members))
            self._member.on_update(self._member_chosen)
        self._play = gui.add_button("Pause")
        self._time = gui.add_slider("time [s]", 0.0, 1.0, 1e-3, 0.0)
        self._speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1×")
        self._loop = gui.add_checkbox("repeat", True)
        bodies = (NOBODY, *list(viewer.system.bodies)[:MOST_NAMES])
        self._follow = gui.add_dropdown("follow", bodies, initial_value=NOBODY)
        self._reset = gui.add_button("Reset", hint="back to the start, the camera too (R)")

        @self._play.on_click
        def _(_: Any) -> None:
            self._toggle()

        @self._time.on_update
        def _(event: Any) -> None:
            if event.client is not None:
                self._touched = time.monotonic()
                viewer.seek(self._time.value)

        @self._speed.on_update
        def _(_: Any) -> None:
            viewer._time.speed = SPEEDS[self._speed.value]

        @self._loop.on_update
        def _(_: Any) -> None:
            viewer._time.repeats = self._loop.value

        self._follow.on_update(self._look_changed)

        @self._reset.on_click
        def _(_: Any) -> None:
            viewer.reset()

        self._side = gui.add_button_group("view", tuple(SIDES), hint="standard views (keys 1 to 4)")
        self._parallel = gui.add_checkbox("parallel", False, hint="no perspective: through a very long lens (P)")

        @self._side.on_click
        def _(event: Any) -> None:
            if event.client is not None:
                viewer._aim(event.client, self._side.value)

        @self._parallel.on_update
        def _(_: Any) -> None:
            viewer.lens(self._parallel.value)

        for k, side in enumerate(SIDES):
            command = gui.add_command(f"View from the {side}", hotkey=str(k + 1))
            command.on_trigger(lambda event, side=side: viewer._aim(event.client, side))

        @gui.add_command("Parallel or perspective", hotkey="P").on_trigger
        def _(_: Any) -> None:
            self._parallel.value = not self._parallel.value

        toggle = gui.add_command("Play or pause", hotkey="space")
        toggle.on_trigger(lambda _: self._toggle())
        reset = gui.add_command("Reset", hotkey="R")
        reset.on_trigger(lambda _: viewer.reset())

    def _add_show(self) -> None:
        gui = self.gui
        with gui.add_folder("Show"):
            self._layers = {layer: gui.add_checkbox(layer, layer in self.viewer._look.layers) for layer in LAYERS}
            self._arrows = gui.add_slider("arrow length", 0.1, 10.0, 0.1, 1.0)
            self._trail = gui.add_slider("trail [s]", 0.1, 10.0, 0.1, 2.0)
        for control in (*self._layers.values(), self._arrows, self._trail):
            control.on_update(self._look_changed)

    def _add_coordinates(self) -> None:
        """Sliders that pose a system that does not move."""
        from nexdyn.view.poses import coordinates

        viewer = self.viewer
        found = [] if viewer._motion.moves else coordinates(viewer.system)
        if not found:
            return
        self._joints = self.gui.add_folder("Joints")
        with self._joints:
            for c in found[:MOST_SLIDERS]:
                slider = self.gui.add_slider(c.label, c.lower, c.upper, (c.upper - c.lower) / 1000.0, c.value)
                self._sliders.append(slider)
        q0 = found[0].start
        columns = [c.column for c in found[:MOST_SLIDERS]]

        def moved(_: Any) -> None:
            q = q0.copy()
            q[columns] = [slider.value for slider in self._sliders]
            viewer.pose(q)

        for slider in self._sliders:
            slider.on_update(moved)

    def _add_end(self) -> None:
        viewer = self.viewer
        end = self.gui.add_button("End", hint="ends the viewer, not only this page (Esc)", color="gray")
        end.on_click(lambda _: threading.Thread(target=viewer.close).start())
        escape = self.gui.add_command("End", hotkey="escape")
        escape.on_trigger(lambda _: threading.Thread(target=viewer.close).start())

    def _add_plots(self) -> None:
        panel = self.gui.add_panel()
        self.plots = Plots(self.viewer, self.gui, panel)
        self.viewer._inquiry.add_tree(self.gui, panel)
        panel.dock_left()
        panel.set_width(360)

    # --- what happens ---------------------------------------------------------------------------------------------

    def sync(self, t: float, playing: bool) -> None:
        """Let slider, button and cursors tell the state."""
        self.tell_time(t)
        label = "Pause" if playing else "Play"
        if self._play.label != label:
            self._play.label = label
        self.move_cursors(t)
        self.viewer._inquiry.tell()

    def tell_time(self, t: float) -> None:
        """Put the slider where the time is, unless a hand is on it."""
        if time.monotonic() - self._touched > 0.5:
            self._time.value = min(max(t, self._time.min), self._time.max)

    def move_cursors(self, t: float) -> None:
        """Move the plots' cursors, unless the plots are being laid out."""
        if self.viewer._plots_move(time.monotonic()):
            for plot in self.plots.everything:
                plot.at(t)

    def running(self, runs: bool) -> None:
        """Say that a run is going on, or no longer."""
        self._status.content = "**running** …" if runs else ""
        self._status.visible = runs
        self._play.disabled = self._time.disabled = runs

    def follow(self, t: float, t_end: float, energy: Panel) -> None:
        """Tell how far a run is."""
        self._status.content = f"**running**: t = {t:.3f} of {t_end:g} s"
        self.plots.live(energy, t)

    def new_motion(self) -> None:
        """Fit the controls to another motion."""
        viewer, m = self.viewer, self.viewer._motion
        span = max(m.end - m.start, 1e-9)
        self._time.min, self._time.max, self._time.step = m.start, m.start + span, span / 1000.0
        moving = m.moves
        for control in (self._play, self._time, self._speed, self._loop):
            control.visible = moving
        if self._joints is not None:
            self._joints.visible = not moving
        self.plots.new_motion(moving)
        self.sync(viewer.t, viewer.playing)

    def lay_out_again(self) -> None:
        """Have the plots measured again."""
        for plot in self.plots.everything:
            plot.lay_out_again()

    def tell(self, look: Look) -> None:
        """Let boxes and sliders tell what is seen."""
        for layer, box in self._layers.items():
            if box.value != (layer in look.layers):
                box.value = layer in look.layers
        for control, value in (
            (self._arrows, look.arrows),
            (self._trail, look.trail),
            (self._follow, look.follow if look.follow in self._follow.options else NOBODY),
        ):
            if control.value != value:
                control.value = value

    def tell_member(self, index: int) -> None:
        """Let the list tell which member is shown."""
        if self._member is not None and index < len(self._members):
            self._member.value = self._members[index]

    def _member_chosen(self, event: Any) -> None:
        if event.client is not None:
            try:
                self.viewer.show_member(self._members.index(self._member.value))
            except NexDynError as error:  # it could not start
                event.client.add_notification("NexDyn", str(error), color="red", auto_close_seconds=20.0)

    def say_goodbye(self) -> None:
        """Tell the browsers that this was all."""
        self._status.content, self._status.visible = "**ended**: this page can be closed", True

    def _toggle(self) -> None:
        if self.viewer.playing:
            self.viewer.pause()
        else:
            self.viewer.play()

    def _look_changed(self, event: Any) -> None:
        if event.client is None:
            return
        self.viewer.look(
            Look(
                frozenset(layer for layer, control in self._layers.items() if control.value),
                float(self._arrows.value),
                float(self._trail.value),
                "" if self._follow.value == NOBODY else self._follow.value,
            )
        )

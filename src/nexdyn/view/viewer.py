"""`nx.view`: a motion in the browser.

    viewer = nx.view(result)          the page is at viewer.address; Esc or "End" on it, or viewer.close(), ends it
    viewer = nx.view(system)          a pose, with a slider for every coordinate
    nx.view(simulation)               follows a run: give `viewer.follow` as the `progress` of Simulation.run

A thread of its own moves the time on and sends each moment to all browsers that look; they share one state. A browser
may come, go and come back at any time: it gets the present state. Without anyone looking nothing is sent.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError, NexDynError
from nexdyn.model.system import System
from nexdyn.view import server as page
from nexdyn.view.charts import KINDS, OF_BODIES, Line, Panel, panels
from nexdyn.view.motion import Frame, Motion
from nexdyn.view.panels import Plot
from nexdyn.view.stage import LAYERS, Look, Stage

if TYPE_CHECKING:
    from nexdyn.analysis.absolute_simulation import BodySimulation
    from nexdyn.analysis.simulate import Simulation
    from nexdyn.results.result import Result

RATE = 30.0
"""Moments a second."""
CURSOR_RATE = 8.0
"""Moves a second of the slider and the cursors."""
QUIET = 1.0
"""Seconds without a cursor's move before and after a layout of the plots."""
SPEEDS = {"0.05×": 0.05, "0.1×": 0.1, "0.25×": 0.25, "0.5×": 0.5, "1×": 1.0, "2×": 2.0, "5×": 5.0, "20×": 20.0}
NOBODY = "(nothing)"
ALL = "(all)"
PLOTTED = tuple(kind for kind in KINDS if kind not in ("energy", "phase"))
MOST_PLOTS, MOST_SLIDERS, MOST_NAMES = 3, 60, 500


def view(
    what: Result | System | Simulation,
    *,
    host: str = page.LOOPBACK,
    port: int = page.PORT,
    browser: bool | None = None,
    wait: bool | None = None,
) -> Viewer:
    """Show a result, a system or a simulation in the browser.

    host, port: where the page is served; the next free port where `port` is in use, which a NexDynWarning says.
    browser: open one; by default where there is a display. The address is printed in any case.
    wait: return only when the viewer has ended; by default in a script, not in a notebook or an interactive session.

    Raises InputError for something else, a bad host or port, or where the extra `view` is not installed.
    """
    interactive = hasattr(sys, "ps1") or "ipykernel" in sys.modules
    viewer = Viewer(what, host=host, port=port)
    if not _in_notebook():
        print(f"{viewer.system.name}: {viewer.address}   (Esc or End on the page ends)")
        if hint := page.hint(viewer.server):
            print(hint)
        if browser is not False:
            page.open_browser(viewer.address)
    if (not interactive) if wait is None else wait:
        viewer.wait()
    return viewer


class Viewer:
    """The page of one motion. `address` is where it is; `server` is viser's, for what else a program wants to draw."""

    def __init__(
        self, what: Result | System | Simulation | Motion, *, host: str = page.LOOPBACK, port: int = page.PORT
    ) -> None:
        self._lock = threading.RLock()
        self._ended, self._gone = threading.Event(), threading.Event()
        self._motion = motion_of(what)
        self._t = self._motion.start
        self._playing, self._speed, self._loop = self._motion.moves, 1.0, True
        self._frame: Frame | None = None
        self._look = Look()
        self._pushed = self._said = 0.0
        self._due: list[float] = []
        self._new: list[Any] = []
        self._still_until = 0.0
        self._live: list[tuple[float, list[float]]] = []
        self.server = page.start_server(host, port)
        self.address = page.address_of(self.server)
        try:
            self._stage = Stage(self.server, self._motion, self._look)
            self._controls = _Controls(self)
        except BaseException:
            page.stop_server(self.server)
            raise
        self.server.on_client_connect(self._joined)
        self._thread = threading.Thread(target=self._run, name="nexdyn viewer", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"Viewer({self.system.name!r}, {self.address}{', ended' if self.ended else ''})"

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{self.address}" width="100%" height="520" style="border:1px solid #ddd"></iframe>'
            f'<div><a href="{self.address}" target="_blank">{self.address}</a></div>'
        )

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- state ----------------------------------------------------------------------------------------------------

    @property
    def system(self) -> System:
        """The system that is shown."""
        return self._motion.system

    @property
    def t(self) -> float:
        """The shown time [s]."""
        return self._t

    @property
    def playing(self) -> bool:
        """Whether the time runs."""
        return self._playing

    @property
    def ended(self) -> bool:
        """Whether the page is gone."""
        return self._ended.is_set()

    @property
    def watched(self) -> bool:
        """Whether a browser looks."""
        return bool(self.server.get_clients())

    # --- what a program does with it ------------------------------------------------------------------------------

    def show(self, what: Result | System | Simulation) -> None:
        """Show another motion of the same system in the same page, from its start."""
        motion = motion_of(what)
        with self._lock:
            self._replace(motion)

    def seek(self, t: float) -> None:
        """Stop and show the time `t` [s]."""
        with self._lock:
            self._playing, self._frame = False, None
            self._to(t)
            self._controls.sync(self._t, self._playing)

    def play(self, speed: float | None = None) -> None:
        """Let the time run, at `speed` times real time."""
        with self._lock:
            self._speed = self._speed if speed is None else float(speed)
            self._playing, self._frame = self._motion.moves, None
            if self._t >= self._motion.end:
                self._t = self._motion.start
            self._controls.sync(self._t, self._playing)

    def pause(self) -> None:
        """Stop where it is."""
        with self._lock:
            self._playing = False
            self._controls.sync(self._t, self._playing)

    def reset(self) -> None:
        """Back to the start, with the first camera."""
        with self._lock:
            self.seek(self._motion.start)
            self.look(replace(self._look, follow=""))
            self.aim()

    def aim(self) -> None:
        """Put the camera of every browser where it was at first."""
        for client in self.server.get_clients().values():
            self._aim(client)

    def look(self, look: Look) -> None:
        """Show other layers, other arrows, or follow another body."""
        unknown = look.layers - set(LAYERS)
        if unknown:
            raise InputError(f"no layer {', '.join(sorted(unknown))}; layers: {', '.join(LAYERS)}")
        if look.follow and look.follow not in self._motion.bodies:
            self.system.body(look.follow)  # raises the error that names the nearest
        with self._lock:
            self._look = look
            self._stage.set_look(look, self._t, self._frame)
            self._controls.tell(look)

    def pose(self, q: Any) -> None:
        """Show the pose at the coordinates q (nq,) in the order of `nx.Tree`."""
        from nexdyn.spatial.rotations import quaternion
        from nexdyn.tree.tree import Tree

        tree = Tree(self.system)
        R, p = tree.pose(tree.normalized(q))
        order = [tree.body_names.index(name) for name in self._motion.bodies]
        position = np.concatenate([p[order], np.zeros((1, 3))]).astype(np.float32)
        attitude = np.concatenate([quaternion(R[order]), [[1.0, 0.0, 0.0, 0.0]]]).astype(np.float32)
        with self._lock:
            self._playing, self._frame = False, Frame(position, attitude, None)
            self._stage.show(self._t, self._frame)

    def follow(self, simulation: Simulation | BodySimulation) -> Callable[[float, float], None]:
        """What to give as `progress` to a run of `simulation`, so that the page follows it."""

        def progress(t: float, t_end: float) -> None:
            now = time.monotonic()
            if self.ended or now - self._pushed < 1.0 / RATE or not self.watched:
                return
            self._pushed = now
            latest = Motion.of(latest_of(simulation))
            with self._lock, contextlib.suppress(NexDynError):
                self._playing, self._t = False, latest.start
                self._frame = latest.at(latest.start)
                self._stage.show(self._t, self._frame)
                self._follow_curves(latest, t_end)

        with self._lock:
            self._live = []
            self._controls.running(True)
        return progress

    def wait(self) -> None:
        """Until the viewer ends: Esc or "End" on the page, `close`, or Ctrl-C."""
        try:
            while not self._ended.wait(0.2):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """End: the page says so and its address becomes free."""
        with self._lock:
            first = not self._ended.is_set()
            self._ended.set()
        if not first:
            self._gone.wait(5.0)
            return
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)
        with contextlib.suppress(Exception):
            self._controls.say_goodbye()
            self.server.flush()
            time.sleep(0.2)  # so that the pages get it
        page.stop_server(self.server)
        self._gone.set()

    # --- inside ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        """The thread that moves the time on."""
        before = due = time.perf_counter()
        while not self._ended.wait(max(0.0, due - time.perf_counter())):
            now = time.perf_counter()
            passed, before, due = now - before, now, max(due + 1.0 / RATE, now)
            with self._lock:
                self._settle(time.monotonic())
                if not self._playing and self._frame is None:
                    self._controls.move_cursors(self._t)
                if self._playing and not self._ended.is_set():
                    self._advance(min(passed, 0.5))

    def _joined(self, client: Any) -> None:
        with self._lock:
            self._new.append(client)
            self._stage.show(self._t, self._frame)  # nothing was sent while nobody looked
            self._controls.sync(self._t, self._playing)
        self._lay_out_soon()

    def _aim(self, client: Any) -> None:
        """All of the motion in sight of a browser, whose canvas may be narrow."""
        stage, aspect = self._stage, max(0.2, client.camera.aspect)
        with client.atomic():
            client.camera.position = stage.center + (stage.eye - stage.center) * max(1.0, 1.0 / aspect)
            client.camera.look_at, client.camera.up_direction = stage.center, stage.up

    def _aim_new(self) -> None:
        """Step back in browsers that have come, where their canvas is narrow and nobody has moved the camera."""
        for client in self._new:
            with contextlib.suppress(Exception):  # it may be gone again
                away = np.linalg.norm(np.array(client.camera.position) - self._stage.eye)
                if client.camera.aspect < 1.0 and away < 1e-2 * self._stage.size:
                    self._aim(client)
        self._new.clear()

    def _lay_out_soon(self) -> None:
        """A page or a plot is being built: once that is done, the plots are laid out in peace."""
        now = time.monotonic()
        with self._lock:
            self._due = sorted([*self._due, now + QUIET, now + 5.0])

    def _settle(self, now: float) -> None:
        """Lay the plots out when that is due."""
        if self._due and now > self._due[0]:
            self._controls.lay_out_again()
            self._aim_new()
            self._still_until = now + QUIET
            self._due.pop(0)

    def _plots_move(self, now: float) -> bool:
        """Whether the cursors may move: not while a layout is near."""
        return now > self._still_until and not (self._due and self._due[0] - now < QUIET)

    def _advance(self, passed: float) -> None:
        m = self._motion
        t = self._t + passed * self._speed
        if t > m.end:
            over = self._t >= m.end
            t = m.start if self._loop and over else m.end
            self._playing = self._loop
        self._to(t)

    def _to(self, t: float) -> None:
        self._t = float(min(max(t, self._motion.start), self._motion.end))
        if self.watched:
            self._stage.show(self._t)
            now = time.monotonic()
            if now - self._said > 1.0 / CURSOR_RATE or not self._playing:
                self._said = now
                self._controls.sync(self._t, self._playing)

    def _replace(self, motion: Motion) -> None:
        camera_stays = motion.bodies == self._motion.bodies
        self._motion, self._t, self._frame = motion, motion.start, None
        self._playing = motion.moves
        self.server.scene.remove_by_name("/motion")
        self._stage = Stage(self.server, motion, self._look)
        self._controls.running(False)
        self._controls.new_motion()
        if not camera_stays:
            self.aim()

    def _follow_curves(self, latest: Motion, t_end: float) -> None:
        """The energies of a run so far."""
        energy = latest.result.observed.energies if latest.result else {}
        self._live.append((latest.start, [float(values[-1]) for values in energy.values()]))
        now = time.monotonic()
        if now - self._said < 0.5:
            return
        self._said = now
        t, values = np.array([t for t, _ in self._live]), np.array([row for _, row in self._live])
        lines = [Line(name.removesuffix("_energy"), t, values[:, k]) for k, name in enumerate(energy)]
        self._controls.follow(float(t[-1]), t_end, Panel("energy", "time [s]", "energy [J]", lines))


def motion_of(what: Any) -> Motion:
    """What is to be seen as a motion. InputError for something else."""
    from nexdyn.results.result import Result
    from nexdyn.view.poses import start_pose

    if isinstance(what, Motion):
        return what
    if isinstance(what, Result):
        return Motion.of(what)
    if isinstance(what, System):
        return Motion.still(what, start_pose(what))
    if isinstance(getattr(what, "system", None), System) and callable(getattr(what, "result", None)):
        return Motion.of(latest_of(what))
    raise InputError(f"{what!r} cannot be viewed; a Result, a System or a Simulation can")


def latest_of(simulation: Any) -> Result:
    """The last recorded state of a simulation alone."""
    from nexdyn.results.result import Result

    if hasattr(simulation, "latest"):
        found: Result = simulation.latest()
        return found
    whole: Result = simulation.result()
    r, n = whole.recording, len(whole.recording.t)
    arrays: dict[str, Any] = {field.name: getattr(r, field.name) for field in fields(r)}
    last: dict[str, Any] = {name: x[-1:] for name, x in arrays.items() if isinstance(x, np.ndarray) and len(x) == n}
    return Result(whole.system, replace(r, **last), whole._tree)


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


# --- what is beside the scene ---------------------------------------------------------------------------------------


class _Controls:
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
        self._add_show()
        self._add_coordinates()
        self._add_end()
        self._add_plots()
        gui.main_panel.dock_right()
        gui.main_panel.set_width(310)
        self.new_motion()

    # --- the parts ------------------------------------------------------------------------------------------------

    def _add_playback(self) -> None:
        gui, viewer = self.gui, self.viewer
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
            viewer._speed = SPEEDS[self._speed.value]

        @self._loop.on_update
        def _(_: Any) -> None:
            viewer._loop = self._loop.value

        self._follow.on_update(self._look_changed)

        @self._reset.on_click
        def _(_: Any) -> None:
            viewer.reset()

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
        gui = self.gui
        self._panel = gui.add_panel()
        self._tab = self._panel.add_tab("Plots")
        with self._tab:
            self._energy = Plot(gui, self._tab, 0.0)
            self._kind = gui.add_dropdown("plot", PLOTTED, initial_value=PLOTTED[0], order=1.0)
            self._of = gui.add_dropdown("of", (ALL,), initial_value=ALL, order=2.0)
            self._more = [Plot(gui, self._tab, 3.0 + k) for k in range(MOST_PLOTS)]
        self._panel.dock_left()
        self._panel.set_width(360)
        self._kind.on_update(lambda _: self._kind_changed())
        self._of.on_update(lambda _: self._plot())

    @property
    def _plots(self) -> list[Plot]:
        return [self._energy, *self._more]

    # --- what happens ---------------------------------------------------------------------------------------------

    def sync(self, t: float, playing: bool) -> None:
        """Let slider, button and cursors tell the state."""
        if time.monotonic() - self._touched > 0.5:
            self._time.value = min(max(t, self._time.min), self._time.max)
        label = "Pause" if playing else "Play"
        if self._play.label != label:
            self._play.label = label
        self.move_cursors(t)

    def move_cursors(self, t: float) -> None:
        """Move the plots' cursors, unless the plots are being laid out."""
        if self.viewer._plots_move(time.monotonic()):
            for plot in self._plots:
                plot.at(t)

    def running(self, runs: bool) -> None:
        """Say that a run is going on, or no longer."""
        self._status.content = "**running** …" if runs else ""
        self._status.visible = runs
        self._play.disabled = self._time.disabled = runs

    def follow(self, t: float, t_end: float, energy: Panel) -> None:
        """Tell how far a run is."""
        self._status.content = f"**running**: t = {t:.3f} of {t_end:g} s"
        self._energy.show(energy, t)

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
        self._panel.visible = moving
        self._energy.show(_first(m, "energy"), viewer.t)
        self._kind_changed()
        self.sync(viewer.t, viewer.playing)

    def lay_out_again(self) -> None:
        """Have the plots measured again."""
        for plot in self._plots:
            plot.lay_out_again()

    def tell(self, look: Look) -> None:
        """Let boxes and sliders tell what is seen."""
        for layer, box in self._layers.items():
            if box.value != (layer in look.layers):
                box.value = layer in look.layers
        for control, value in (
            (self._arrows, look.arrows),
            (self._trail, look.trail),
            (self._follow, look.follow or NOBODY),
        ):
            if control.value != value:
                control.value = value

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

    def _kind_changed(self) -> None:
        """Offer what the chosen kind of plot can be of, and plot it."""
        m, kind = self.viewer._motion, self._kind.value
        if m.result is None:
            return
        names = m.bodies if kind in OF_BODIES else list(m.system.measures) if kind == "measures" else _joints(m, kind)
        offered = (ALL, *names[:MOST_NAMES])
        if self._of.options != offered:
            self._of.options = offered
            self._of.value = ALL
        self._plot()

    def _plot(self) -> None:
        m = self.viewer._motion
        if m.result is None:
            return
        of = [] if self._of.value == ALL else [self._of.value]
        try:
            found = panels(m.result, [self._kind.value], of)
        except NexDynError:
            found = []
        with self.viewer._lock:
            for k, plot in enumerate(self._more):
                plot.show(found[k] if k < len(found) else None, self.viewer.t)
            self.viewer._lay_out_soon()


def _first(motion: Motion, kind: str) -> Panel | None:
    """The first panel of a kind, or None where there is nothing to plot."""
    try:
        return panels(motion.result, [kind])[0] if motion.result is not None and motion.moves else None
    except NexDynError:
        return None


def _joints(motion: Motion, kind: str) -> list[str]:
    return motion.joints if kind in ("reaction", "transmitted") else list(dict.fromkeys(motion.moving))

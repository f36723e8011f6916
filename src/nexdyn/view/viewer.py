"""`nx.view`: a motion in the browser.

    viewer = nx.view(result)          the page is at viewer.address; Esc or "End" on it, or viewer.close(), ends it
    viewer = nx.view(system)          a pose, with a slider for every coordinate
    nx.view(simulation)               follows a run: give `viewer.follow` as the `progress` of Simulation.run
    nx.view(session)                  lets a system run on the page, where it is dragged and changed

A thread of its own moves the time on and sends each moment to all browsers that look; they share one state. A browser
may come, go and come back at any time: it gets the present state. Without anyone looking nothing is sent.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError, unknown
from nexdyn.model.system import System
from nexdyn.results.batch import BatchResult
from nexdyn.view import server as page
from nexdyn.view.asking import answer
from nexdyn.view.camera import Camera, camera_at
from nexdyn.view.cameras import Cameras
from nexdyn.view.controls import Controls
from nexdyn.view.ghost import Ghost, check_same, same
from nexdyn.view.inquiry import Inquiry
from nexdyn.view.live import Live
from nexdyn.view.members import first_of
from nexdyn.view.motion import Frame, Motion, motion_of
from nexdyn.view.pace import Pace
from nexdyn.view.playback import Playback
from nexdyn.view.poses import Poser, poser_of
from nexdyn.view.renewing import Renewing
from nexdyn.view.sizes import look_of, system_at, systems_of
from nexdyn.view.stage import LAYERS, SIDES, Look, Stage
from nexdyn.view.units import MM_DEG, SI
from nexdyn.view.words import Words

if TYPE_CHECKING:
    from nexdyn.results.result import Result
    from nexdyn.simulation.marches.tree import Simulation
    from nexdyn.simulation.run import Runs
    from nexdyn.simulation.session import Session
    from nexdyn.view.touch import Touch

CURSOR_RATE = 8.0
"""Moves a second of the cursors of plots."""
QUIET = 1.0
"""Seconds without a cursor's move before and after a layout of the plots."""


@checked_call
def view(
    what: Result | System | Simulation | BatchResult | Session,
    *,
    host: str = page.LOOPBACK,
    port: int = page.PORT,
    browser: bool | None = None,
    wait: bool | None = None,
    ghost: Result | None = None,
    language: str = "en",
) -> Viewer:
    """Show a result, a batch of results, a system or a simulation in the browser, or let a session run there.

    host, port: where the page is served; the next free port where `port` is in use, which a NexDynWarning says.
    browser: open one; by default where there is a display. The address is printed in any case.
    ghost: another result of the same bodies and joints, laid over the shown one, with their difference.
    language: of the labels, "en" or "zh".
    wait: return only when the viewer has ended; by default in a script, not in a notebook or an interactive session.

    Raises InputError for something else, a bad host or port, or where the extra `view` is not installed.
    """
    interactive = hasattr(sys, "ps1") or "ipykernel" in sys.modules
    viewer = Viewer(what, host=host, port=port, ghost=ghost, language=language)
    if not _in_notebook():
        print(f"{viewer.system.name}: {viewer.address}   (Esc or End on the page ends)")
        if hint := page.hint(viewer.server, viewer.address):
            print(hint)
        if browser is not False:
            page.open_browser(viewer.address)
    if (not interactive) if wait is None else wait:
        viewer.wait()
    return viewer


class Viewer(metaclass=CheckedCalls):
    """The page of one motion. `address` is where it is; `server` is viser's, for what else a program wants to draw."""

    def __init__(
        self, what: Result | System | Simulation | BatchResult | Session | Motion, *, host: str = page.LOOPBACK, port: int = page.PORT,
        ghost: Result | None = None, language: str = "en", served: page.Served | None = None,
    ) -> None:  # fmt: skip
        """Arguments as for `view`; served: a server that is up already, instead of one at `host` and `port`."""
        self._lock = threading.RLock()
        self._ended, self._gone = threading.Event(), threading.Event()
        self._batch = what if isinstance(what, BatchResult) else None
        self._member: int | None = None
        """Which member of the batch is shown; None: what is shown is none."""
        if self._batch is not None:
            self._member, what = first_of(self._batch)
        self._motion = motion_of(what)
        self._ghost = _ghost_of(self._motion, ghost)
        self._time = Playback(self._motion.start, self._motion.end)
        self._systems, self._drawn_of = systems_of(self._motion), 0
        """From when on what moves is of which system, and which of them is drawn."""
        self._frame: Frame | None = None
        self._pace = Pace()
        self._look, self._cameras = Look(), Cameras(self)
        self._said = 0.0
        self._due: list[float] = []
        self._still_until = 0.0
        self._words, self._units, self._dark = Words(language), SI, False
        self._inquiry = Inquiry(self, self._words)
        self._touch: Touch | None = None
        self._writes_state: Callable[[Session], None] | None = None
        self._posers: tuple[System, Poser | None] | None = None
        self._session: Session | None = None
        served = served or page.start_server(host, port, page.title_of(self.system.name), None, language)
        self.server, self.address, gate = served
        gate.hold()
        gate.ask = lambda path: answer(self._inquiry, path)
        try:
            self._home: Camera | None = None
            self._scene = Renewing(self.server.scene)
            self._stage = Stage(self.server, self._motion, self._look, scene=self._scene)
            self._look = self._first_look = self._stage.look
            self._controls = Controls(self)
            self._lay_ghost()
        except BaseException:
            served.stop()
            raise
        self.server.on_client_connect(self._joined)
        self._thread = threading.Thread(target=self._run, name="nexdyn viewer", daemon=True)
        self._thread.start()
        if (session := _session(what)) is not None:
            try:
                self.live(session)
            except BaseException:
                gate.shut()
                self.close()
                raise
        gate.open()

    def __repr__(self) -> str:
        return f"Viewer({self.system.name!r}, {self.address}{', ended' if self.ended else ''})"

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{self.address}" width="100%" height="520" style="border:1px solid #ddd"></iframe>'
            f'<div><a href="{self.address}" target="_blank">{self.address}</a> {page.hint(self.server, self.address)}</div>'
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
        return self._time.t

    @property
    def looks(self) -> Look:
        """What of the scene is seen."""
        return self._look

    @property
    def playing(self) -> bool:
        """Whether the time runs."""
        return self._time.playing

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
        """Show another motion in the same page, from its start: of the same system, or of another one, as after a change of its file."""
        motion = motion_of(what)
        self.end_live()
        self._session = self._member = None
        with self._lock:
            self._replace(motion)

    @property
    def session(self) -> Session | None:
        """What runs on the page, or has run there and is shown. A program that reads or moves it while it runs pauses the viewer first."""
        return self._session

    def live(self, session: Session | None = None) -> None:
        """Let a system run on the page, to be dragged and changed: a session, or one that goes on from what is shown."""
        if self._touch is not None:
            raise InputError("a system runs on this page already; viewer.keep() ends that and shows its recording")
        from nexdyn.view.touch import Touch, session_of

        session = session or self._session or session_of(self)
        latest, posed = replace(Motion.of(session.latest()), goes_on=True), not self._motion.moves
        touch = Touch(self, session)
        try:
            with self._lock:
                self._session, self._touch, self._member = session, touch, None
                self._replace(latest)
                touch.begin()
        except BaseException:
            self._touch = self._session = None
            raise
        with self._lock:
            if posed:
                self.aim()

    def keep(self) -> None:
        """End the run on the page, and show its recording; `live` goes on from its end."""
        session = self._session
        if self._touch is None or session is None:
            raise InputError("nothing runs on this page; viewer.live() lets the system run")
        self.end_live()
        result = session.result()
        with self._lock:
            self._replace(Motion.of(result))

    def end_live(self) -> None:
        """End what runs on the page, if anything does. Its thread may be about to show a moment: not to be called within the lock."""
        touch, self._touch = self._touch, None
        if touch is not None:
            touch.close()

    def seek(self, t: float) -> None:
        """Stop and show the time `t` [s]."""
        with self._lock:
            self._frame = None
            self._time.seek(t)
            self._show_time()
            self._sync()

    def step(self, samples: int) -> None:
        """Stop and show the sample so many after the shown time, or before it."""
        if self._touch is not None:
            self._touch.step()
            return
        t = self._motion.times
        k = np.searchsorted(t, self.t + 1e-9 * (t[-1] - t[0]), side="right") - 1
        if samples < 0 and t[k] < self.t - 1e-9 * (t[-1] - t[0]):
            k += 1
        self.seek(float(t[int(np.clip(k + samples, 0, len(t) - 1))]))

    def show_controls(self) -> None:
        """Show what is changed by hand anew, where a system runs on the page."""
        if self._touch is not None:
            self._touch.show_controls()

    def play(self, speed: float | None = None) -> None:
        """Let the time run, at `speed` times real time."""
        if self._touch is not None:
            self._time.speed = self._time.speed if speed is None else float(speed)
            self._touch.run(True)
            return
        with self._lock:
            self._frame = None
            self._time.play(speed)
            self._sync()

    def pause(self) -> None:
        """Stop where it is."""
        if self._touch is not None:
            self._touch.run(False)
            return
        with self._lock:
            self._time.playing = False
            self._sync()

    def reset(self) -> None:
        """Back to the start, with the first camera; of a system that runs, from the start."""
        if self._touch is not None:
            self._touch.restart()
            return
        with self._lock:
            self.seek(self._motion.start)
            self._stage.keep_place()
            self.look(replace(self._look, follow=self._first_look.follow))
            self.aim()

    def aim(self, side: str = "") -> None:
        """Put the camera of every browser where it was at first, or to the "front", "right", "top" or "corner"."""
        if side and side not in SIDES:
            raise unknown("view", side, SIDES)
        for client in self.server.get_clients().values():
            self._cameras.aim(client, side)

    def look_from(self, eye: Any, target: Any) -> None:
        """Look from a point at another, (3,) [m] in the world, also after a reset and in browsers that come later."""
        p, at = np.asarray(eye, dtype=float), np.asarray(target, dtype=float)
        if any(x.shape != (3,) or not np.isfinite(x).all() for x in (p, at)) or np.array_equal(p, at):
            raise InputError(
                f"eye is {eye!r} and target {target!r}; two different points of three finite numbers [m] are needed"
            )
        with self._lock:
            self._home = self._stage.home = camera_at(self.system, p.tolist(), at.tolist())
            self._stage.aim()
            self.aim()

    def lens(self, parallel: bool) -> None:
        """Draw in perspective, or without: then lines which are parallel look so, and what is equally large."""
        with self._lock:
            self._cameras.lens(parallel)
            self._controls.tell_mode()

    def dark(self, dark: bool) -> None:
        """A dark page behind the scene, the controls and the plots; or a light one."""
        with self._lock:
            self._dark = dark
            page.set_theme(self.server, dark)
            self._stage.darken(dark)
            self._controls.tell_mode()

    def units(self, millimetres_and_degrees: bool) -> None:
        """Tell lengths and angles in mm and degrees, in panels and plots; or in m and rad."""
        with self._lock:
            self._units = MM_DEG if millimetres_and_degrees else SI
            self._controls.plots.draw()
            self._controls.plots.lay_over(self._ghost)
            self._controls.show_dials()
            if self._touch is not None:
                self._touch.show_controls()
            self._controls.tell_mode()
            self._inquiry.tell()

    def look(self, look: Look, steady: bool = False) -> None:
        """Show other layers, other arrows, or follow another body. steady: that one stays where it is seen, instead of where it was at the
        start."""
        unknown = look.layers - set(LAYERS)
        if unknown:
            raise InputError(f"no layer {', '.join(sorted(unknown))}; layers: {', '.join(LAYERS)}")
        if look.follow and look.follow not in self._motion.bodies:
            self.system.body(look.follow)  # raises the error that names the nearest
        with self._lock:
            self._look = look
            self._stage.set_look(look, self.t, self._frame, steady)
            self._controls.tell(look)

    def lay_over(self, ghost: Result | None) -> None:
        """Lay another result of the same bodies and joints over the shown one; None takes it away."""
        found = _ghost_of(self._motion, ghost)
        with self._lock:
            self._ghost = found
            self._lay_ghost()

    def show_member(self, index: int) -> None:
        """Show a member of the batch that this is the viewer of."""
        if self._batch is None:
            raise InputError("this viewer shows no batch; nx.view(nx.simulate(system, batch=…)) does")
        self.show(self._batch.member(index))
        self._member = index
        self._controls.tell_member(index)

    @property
    def selected(self) -> str:
        """What is selected: "body:NAME", "joint:NAME" or ""."""
        return self._inquiry.key

    def select(self, name: str) -> None:
        """Select a body or joint; "" nothing. "joint:NAME" means the joint where a body has the same name."""
        self._inquiry.select(name)

    def pose(self, q: Any) -> None:
        """Show the pose at the coordinates q (nq,) in the order of `nx.Tree`; with loops, of `nx.ClosedTree`, which closes them."""
        from nexdyn.spatial.rotations import quaternion

        poser = self.poser
        if poser is None:
            raise InputError(f"{self.system.name!r} has no minimal coordinates; it cannot be posed by them")
        R, p = poser.poses(poser.to(q))
        position = np.concatenate([p, np.zeros((1, 3))]).astype(np.float32)
        attitude = np.concatenate([quaternion(R), [[1.0, 0.0, 0.0, 0.0]]]).astype(np.float32)
        with self._lock:
            self._time.playing, self._frame = False, Frame(position, attitude, None)
            self._stage.show(self.t, self._frame)
            self._inquiry.tell()

    @property
    def poser(self) -> Poser | None:
        """What poses the shown system; None where nothing can."""
        if self._posers is None or self._posers[0] is not self.system:
            self._posers = self.system, poser_of(self.system)
        return self._posers[1]

    def follow(self, simulation: Runs) -> Callable[[float, float], None]:
        """What to give as `progress` to a run of `simulation`, so that the page follows it."""

        with self._lock:
            self._controls.running(True)
        return Live(self, simulation).progress

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
        with contextlib.suppress(Exception):
            self.end_live()
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
            passed, before, due = now - before, now, max(due + 1.0 / self._pace.rate, now)
            with self._lock:
                self._settle(time.monotonic())
                if not self.playing and self._frame is None:
                    self._controls.move_cursors(self.t)
                if self.playing and not self._ended.is_set():
                    self._time.advance(passed)
                    self._show_time()
                    self._pace.took(time.perf_counter() - now)

    def _joined(self, client: Any) -> None:
        with self._lock:
            self._cameras.new.append(client)
            client.camera.on_update(lambda _: self._reframe(client))
            self._fit_sizes()
            self._stage.show(self.t, self._frame)  # nothing was sent while nobody looked
            self._sync()
        self._lay_out_soon()

    def _reframe(self, client: Any) -> None:
        with self._lock:
            if not self._ended.is_set():
                self._cameras.reframe(client)

    def _lay_out_soon(self) -> None:
        """A page or a plot is being built: once that is done, the plots are laid out in peace."""
        now = time.monotonic()
        with self._lock:
            self._due = sorted([*self._due, now + QUIET, now + 5.0])

    def _settle(self, now: float) -> None:
        """Lay the plots out when that is due."""
        if self._due and now > self._due[0]:
            self._controls.lay_out_again()
            self._cameras.aim_new()
            self._still_until = now + QUIET
            self._due.pop(0)

    def _plots_move(self, now: float) -> bool:
        """Whether the cursors may move: not while a layout is near."""
        return now > self._still_until and not (self._due and self._due[0] - now < QUIET)

    def _show_time(self) -> None:
        """The scene and the slider at this moment, as one group of messages; what tells and plots it follows a few times a second."""
        if not self.watched:
            return
        with page.together(self.server):
            self._fit_sizes()
            self._stage.show(self.t)
            self._controls.tell_time(self.t)
            now = time.monotonic()
            if now - self._said > 1.0 / CURSOR_RATE or not self.playing:
                self._said = now
                self._sync()

    def _fit_sizes(self) -> None:
        """Draw the bodies in the sizes that they have at the shown time, where a change of parameters has given them others."""
        if len(self._systems) > 1 and (now := system_at(self._systems, self.t)) != self._drawn_of:
            self._drawn_of, system = now, self._systems[now][1]
            if look_of(system, self._stage.up) != self._stage.drawn_like:
                self.draw_anew(replace(self._motion, system=system))
            else:
                self._stage.motion = replace(self._motion, system=system)
            self._inquiry.new_sizes()

    def draw_anew(self, motion: Motion) -> None:
        """Draw the same bodies in the sizes of this motion's system; camera, look, selection, measured points and all that is laid over
        stay. For what runs on the page."""
        before = self._stage
        with page.together(self.server), self._scene.anew():
            self._stage = Stage(
                self.server, motion, self._look, self._dark, self._home, self._cameras.parallel, before, self._scene
            )  # fmt: skip
            self._inquiry.new_sizes()
            for name, make in before.makers.items():
                self._stage.carry(name, make)

    def _sync(self) -> None:
        self._controls.sync(self.t, self.playing)

    def _lay_ghost(self) -> None:
        ghost = self._ghost
        self._stage.carry("ghost", None if ghost is None else lambda scene, _: Ghost(scene, ghost, self.t))
        self._controls.plots.lay_over(ghost)
        self._inquiry.tell()

    def _replace(self, motion: Motion) -> None:
        camera_stays = motion.bodies == self._motion.bodies or bool({*motion.bodies} & {*self._motion.bodies})
        another = motion.system is not self._motion.system
        self._motion, self._frame = motion, None
        if self._look.follow not in motion.bodies:
            self._look = replace(self._look, follow="")
        if self._ghost is not None and another and not same(motion.system, self._ghost.system):
            self._ghost = None
        self._time.cover(motion.start, motion.end)
        self._systems, self._drawn_of = systems_of(motion), 0
        with page.together(self.server), self._scene.anew():
            self._stage = Stage(
                self.server, motion, self._look, self._dark, self._home, self._cameras.parallel, scene=self._scene
            )  # fmt: skip
        self._look = self._first_look = self._stage.look
        self._controls.running(False)
        if another:
            self._controls.new_system()
            self._inquiry.new_system()
        self._controls.new_motion()
        self._inquiry.new_motion()
        self._lay_ghost()
        self._controls.tell(self._look)
        if not camera_stays:
            self.aim()


def _ghost_of(motion: Motion, ghost: Any) -> Motion | None:
    if ghost is None:
        return None
    found = motion_of(ghost)
    check_same(motion.system, found.system)
    return found


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


def _session(what: Any) -> Session | None:
    """A session that was given, else None; its module is not imported for those who have none."""
    module = sys.modules.get("nexdyn.simulation.session")
    return what if module is not None and isinstance(what, module.Session) else None

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
from nexdyn.view.camera import camera_at
from nexdyn.view.cameras import Cameras
from nexdyn.view.controls import Controls
from nexdyn.view.desk import Desk
from nexdyn.view.ghost import Ghost, check_same, same
from nexdyn.view.inquiry import Inquiry
from nexdyn.view.live import Live
from nexdyn.view.members import first_of
from nexdyn.view.motion import Frame, Motion, motion_of
from nexdyn.view.pace import Calm, Pace
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

CURSOR_RATE = 8.0
"""Moves a second of the cursors of plots."""


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
        desk = self._desk = Desk(self)
        self._ended, self._gone = threading.Event(), threading.Event()
        if isinstance(what, BatchResult):
            desk.batch = what
            desk.member, what = first_of(what)
        motion = desk.motion = motion_of(what)
        desk.ghost = _ghost_of(motion, ghost)
        desk.time = Playback(motion.start, motion.end)
        self._systems, self._drawn_of = systems_of(motion), 0
        """From when on what moves is of which system, and which of them is drawn."""
        desk.pace, desk.calm = Pace(), Calm()
        self._said = 0.0
        desk.words = Words(language)
        desk.cameras, desk.inquiry = Cameras(desk), Inquiry(desk, desk.words)
        self._posers: tuple[System, Poser | None] | None = None
        served = served or page.start_server(host, port, page.title_of(self.system.name), None, language)
        self.server, self.address, gate = served
        desk.server = self.server
        gate.hold()
        gate.ask = lambda path: answer(desk.inquiry, path)
        try:
            self._scene = Renewing(self.server.scene)
            desk.stage = Stage(self.server, motion, desk.look, scene=self._scene)
            desk.look = desk.first_look = desk.stage.look
            desk.controls = Controls(desk)
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
        return self._desk.motion.system

    @property
    def t(self) -> float:
        """The shown time [s]."""
        return self._desk.time.t

    @property
    def looks(self) -> Look:
        """What of the scene is seen."""
        return self._desk.look

    @property
    def playing(self) -> bool:
        """Whether the time runs."""
        return self._desk.time.playing

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
        self._desk.session = self._desk.member = None
        with self._desk.lock:
            self._replace(motion)

    @property
    def session(self) -> Session | None:
        """What runs on the page, or has run there and is shown. A program that reads or moves it while it runs pauses the viewer first."""
        return self._desk.session

    def live(self, session: Session | None = None) -> None:
        """Let a system run on the page, to be dragged and changed: a session, or one that goes on from what is shown."""
        if self._desk.touch is not None:
            raise InputError("a system runs on this page already; viewer.keep() ends that and shows its recording")
        from nexdyn.view.touch import Touch, session_of

        session = session or self._desk.session or session_of(self._desk)
        latest, posed = replace(Motion.of(session.latest()), goes_on=True), not self._desk.motion.moves
        touch = Touch(self._desk, session)
        try:
            with self._desk.lock:
                self._desk.session, self._desk.touch, self._desk.member = session, touch, None
                self._replace(latest)
                touch.begin()
        except BaseException:
            self._desk.touch = self._desk.session = None
            raise
        with self._desk.lock:
            if posed:
                self.aim()

    def keep(self) -> None:
        """End the run on the page, and show its recording; `live` goes on from its end."""
        session = self._desk.session
        if self._desk.touch is None or session is None:
            raise InputError("nothing runs on this page; viewer.live() lets the system run")
        self.end_live()
        result = session.result()
        with self._desk.lock:
            self._replace(Motion.of(result))

    def end_live(self) -> None:
        """End what runs on the page, if anything does. Its thread may be about to show a moment: not to be called within the lock."""
        touch, self._desk.touch = self._desk.touch, None
        if touch is not None:
            touch.close()

    def seek(self, t: float) -> None:
        """Stop and show the time `t` [s]."""
        with self._desk.lock:
            self._desk.frame = None
            self._desk.time.seek(t)
            self._show_time()
            self._sync()

    def step(self, samples: int) -> None:
        """Stop and show the sample so many after the shown time, or before it."""
        if self._desk.touch is not None:
            self._desk.touch.step()
            return
        t = self._desk.motion.times
        k = np.searchsorted(t, self.t + 1e-9 * (t[-1] - t[0]), side="right") - 1
        if samples < 0 and t[k] < self.t - 1e-9 * (t[-1] - t[0]):
            k += 1
        self.seek(float(t[int(np.clip(k + samples, 0, len(t) - 1))]))

    def show_controls(self) -> None:
        """Show what is changed by hand anew, where a system runs on the page."""
        if self._desk.touch is not None:
            self._desk.touch.show_controls()

    def play(self, speed: float | None = None) -> None:
        """Let the time run, at `speed` times real time."""
        if self._desk.touch is not None:
            self._desk.time.speed = self._desk.time.speed if speed is None else float(speed)
            self._desk.touch.run(True)
            return
        with self._desk.lock:
            self._desk.frame = None
            self._desk.time.play(speed)
            self._sync()

    def pause(self) -> None:
        """Stop where it is."""
        if self._desk.touch is not None:
            self._desk.touch.run(False)
            return
        with self._desk.lock:
            self._desk.time.playing = False
            self._sync()

    def reset(self) -> None:
        """Back to the start, with the first camera; of a system that runs, from the start."""
        if self._desk.touch is not None:
            self._desk.touch.restart()
            return
        with self._desk.lock:
            self.seek(self._desk.motion.start)
            self._desk.stage.keep_place()
            self.look(replace(self._desk.look, follow=self._desk.first_look.follow))
            self.aim()

    def aim(self, side: str = "") -> None:
        """Put the camera of every browser where it was at first, or to the "front", "right", "top" or "corner"."""
        if side and side not in SIDES:
            raise unknown("view", side, SIDES)
        for client in self.server.get_clients().values():
            self._desk.cameras.aim(client, side)

    def look_from(self, eye: Any, target: Any) -> None:
        """Look from a point at another, (3,) [m] in the world, also after a reset and in browsers that come later."""
        p, at = np.asarray(eye, dtype=float), np.asarray(target, dtype=float)
        if any(x.shape != (3,) or not np.isfinite(x).all() for x in (p, at)) or np.array_equal(p, at):
            raise InputError(
                f"eye is {eye!r} and target {target!r}; two different points of three finite numbers [m] are needed"
            )
        with self._desk.lock:
            self._desk.home = self._desk.stage.home = camera_at(self.system, p.tolist(), at.tolist())
            self._desk.stage.aim()
            self.aim()

    def lens(self, parallel: bool) -> None:
        """Draw in perspective, or without: then lines which are parallel look so, and what is equally large."""
        with self._desk.lock:
            self._desk.cameras.lens(parallel)
            self._desk.controls.tell_mode()

    def dark(self, dark: bool) -> None:
        """A dark page behind the scene, the controls and the plots; or a light one."""
        with self._desk.lock:
            self._desk.dark = dark
            page.set_theme(self.server, dark)
            self._desk.stage.darken(dark)
            self._desk.controls.tell_mode()

    def units(self, millimetres_and_degrees: bool) -> None:
        """Tell lengths and angles in mm and degrees, in panels and plots; or in m and rad."""
        with self._desk.lock:
            self._desk.units = MM_DEG if millimetres_and_degrees else SI
            self._desk.controls.plots.draw()
            self._desk.controls.plots.lay_over(self._desk.ghost)
            self._desk.controls.show_dials()
            if self._desk.touch is not None:
                self._desk.touch.show_controls()
            self._desk.controls.tell_mode()
            self._desk.inquiry.tell()

    def look(self, look: Look, steady: bool = False) -> None:
        """Show other layers, other arrows, or follow another body. steady: that one stays where it is seen, instead of where it was at the
        start."""
        unknown = look.layers - set(LAYERS)
        if unknown:
            raise InputError(f"no layer {', '.join(sorted(unknown))}; layers: {', '.join(LAYERS)}")
        if look.follow and look.follow not in self._desk.motion.bodies:
            self.system.body(look.follow)  # raises the error that names the nearest
        with self._desk.lock:
            self._desk.look = look
            self._desk.stage.set_look(look, self.t, self._desk.frame, steady)
            self._desk.controls.tell(look)

    def lay_over(self, ghost: Result | None) -> None:
        """Lay another result of the same bodies and joints over the shown one; None takes it away."""
        found = _ghost_of(self._desk.motion, ghost)
        with self._desk.lock:
            self._desk.ghost = found
            self._lay_ghost()

    def show_member(self, index: int) -> None:
        """Show a member of the batch that this is the viewer of."""
        if self._desk.batch is None:
            raise InputError("this viewer shows no batch; nx.view(nx.simulate(system, batch=…)) does")
        self.show(self._desk.batch.member(index))
        self._desk.member = index
        self._desk.controls.tell_member(index)

    @property
    def selected(self) -> str:
        """What is selected: "body:NAME", "joint:NAME" or ""."""
        return self._desk.inquiry.key

    def select(self, name: str) -> None:
        """Select a body or joint; "" nothing. "joint:NAME" means the joint where a body has the same name."""
        self._desk.inquiry.select(name)

    def pose(self, q: Any) -> None:
        """Show the pose at the coordinates q (nq,) in the order of `nx.Tree`; with loops, of `nx.ClosedTree`, which closes them."""
        from nexdyn.spatial.rotations import quaternion

        poser = self.poser
        if poser is None:
            raise InputError(f"{self.system.name!r} has no minimal coordinates; it cannot be posed by them")
        R, p = poser.poses(poser.to(q))
        position = np.concatenate([p, np.zeros((1, 3))]).astype(np.float32)
        attitude = np.concatenate([quaternion(R), [[1.0, 0.0, 0.0, 0.0]]]).astype(np.float32)
        with self._desk.lock:
            self._desk.time.playing, self._desk.frame = False, Frame(position, attitude, None)
            self._desk.stage.show(self.t, self._desk.frame)
            self._desk.inquiry.tell()

    @property
    def poser(self) -> Poser | None:
        """What poses the shown system; None where nothing can."""
        if self._posers is None or self._posers[0] is not self.system:
            self._posers = self.system, poser_of(self.system)
        return self._posers[1]

    def follow(self, simulation: Runs) -> Callable[[float, float], None]:
        """What to give as `progress` to a run of `simulation`, so that the page follows it."""

        with self._desk.lock:
            self._desk.controls.running(True)
        return Live(self._desk, simulation).progress

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
        with self._desk.lock:
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
            self._desk.controls.say_goodbye()
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
            passed, before, due = now - before, now, max(due + 1.0 / self._desk.pace.rate, now)
            with self._desk.lock:
                if self._desk.calm.take():
                    self._desk.controls.lay_out_again()
                    self._desk.cameras.aim_new()
                if not self.playing and self._desk.frame is None:
                    self._desk.controls.move_cursors(self.t)
                if self.playing and not self._ended.is_set():
                    self._desk.time.advance(passed)
                    self._show_time()
                    self._desk.pace.took(time.perf_counter() - now)

    def _joined(self, client: Any) -> None:
        with self._desk.lock:
            self._desk.cameras.new.append(client)
            client.camera.on_update(lambda _: self._reframe(client))
            self._fit_sizes()
            self._desk.stage.show(self.t, self._desk.frame)  # nothing was sent while nobody looked
            self._sync()
            self._desk.calm.lay_out_soon()

    def _reframe(self, client: Any) -> None:
        with self._desk.lock:
            if not self._ended.is_set():
                self._desk.cameras.reframe(client)

    def _show_time(self) -> None:
        """The scene and the slider at this moment, as one group of messages; what tells and plots it follows a few times a second."""
        if not self.watched:
            return
        with page.together(self.server):
            self._fit_sizes()
            self._desk.stage.show(self.t)
            self._desk.controls.tell_time(self.t)
            now = time.monotonic()
            if now - self._said > 1.0 / CURSOR_RATE or not self.playing:
                self._said = now
                self._sync()

    def _fit_sizes(self) -> None:
        """Draw the bodies in the sizes that they have at the shown time, where a change of parameters has given them others."""
        if len(self._systems) > 1 and (now := system_at(self._systems, self.t)) != self._drawn_of:
            self._drawn_of, system = now, self._systems[now][1]
            if look_of(system, self._desk.stage.up) != self._desk.stage.drawn_like:
                self.draw_anew(replace(self._desk.motion, system=system))
            else:
                self._desk.stage.motion = replace(self._desk.motion, system=system)
            self._desk.inquiry.new_sizes()

    def draw_anew(self, motion: Motion) -> None:
        """Draw the same bodies in the sizes of this motion's system; camera, look, selection, measured points and all that is laid over
        stay. For what runs on the page."""
        before = self._desk.stage
        with page.together(self.server), self._scene.anew():
            self._desk.stage = Stage(
                self.server, motion, self._desk.look, self._desk.dark, self._desk.home, self._desk.cameras.parallel, before, self._scene
            )  # fmt: skip
            self._desk.inquiry.new_sizes()
            for name, make in before.makers.items():
                self._desk.stage.carry(name, make)

    def _sync(self) -> None:
        self._desk.controls.sync(self.t, self.playing)

    def _lay_ghost(self) -> None:
        ghost = self._desk.ghost
        self._desk.stage.carry("ghost", None if ghost is None else lambda scene, _: Ghost(scene, ghost, self.t))
        self._desk.controls.plots.lay_over(ghost)
        self._desk.inquiry.tell()

    def _replace(self, motion: Motion) -> None:
        camera_stays = motion.bodies == self._desk.motion.bodies or bool({*motion.bodies} & {*self._desk.motion.bodies})
        another = motion.system is not self._desk.motion.system
        self._desk.motion, self._desk.frame = motion, None
        if self._desk.look.follow not in motion.bodies:
            self._desk.look = replace(self._desk.look, follow="")
        if self._desk.ghost is not None and another and not same(motion.system, self._desk.ghost.system):
            self._desk.ghost = None
        self._desk.time.cover(motion.start, motion.end)
        self._systems, self._drawn_of = systems_of(motion), 0
        with page.together(self.server), self._scene.anew():
            self._desk.stage = Stage(
                self.server, motion, self._desk.look, self._desk.dark, self._desk.home, self._desk.cameras.parallel, scene=self._scene
            )  # fmt: skip
        self._desk.look = self._desk.first_look = self._desk.stage.look
        self._desk.controls.running(False)
        if another:
            self._desk.controls.new_system()
            self._desk.inquiry.new_system()
        self._desk.controls.new_motion()
        self._desk.inquiry.new_motion()
        self._lay_ghost()
        self._desk.controls.tell(self._desk.look)
        if not camera_stays:
            self.aim()


def desk_of(viewer: Viewer) -> Desk:
    """What the parts of its page share."""
    return viewer._desk


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

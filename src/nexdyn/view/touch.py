"""A running system on the page: it goes on in real time, and is pulled, changed, put elsewhere, taken back (``simulation.session``).

A thread of its own lets the session advance by what has passed of real time, times the speed that is chosen, and shows each moment.
What takes longer than real time goes slower, which the page tells; it never hurries to make up for it. While nobody looks, nothing moves.

A body is dragged in the plane through the point that was grabbed, across the line of sight: of a later line of sight o + s d the hand is at

    x = o + s d,   s = n·(p₀ − o)/(n·d)                       p₀ the point as it was grabbed, n the line of sight then
"""

from __future__ import annotations

import itertools
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.errors import NexDynError
from nexdyn.simulation.continuing import arguments, sample, states_of
from nexdyn.simulation.session import Handling, Session
from nexdyn.view.cameras import told
from nexdyn.view.hand import HandMark
from nexdyn.view.motion import Motion
from nexdyn.view.picking import Hit
from nexdyn.view.server import together
from nexdyn.view.sizes import look_of
from nexdyn.view.touch_controls import TouchControls

if TYPE_CHECKING:
    from nexdyn.results.result import Result
    from nexdyn.view.desk import Desk

TELL = 0.25
"""Seconds between two looks at numbers: time, factor, coordinates."""
MOST_WORK = 0.05
"""Seconds that the machine computes between two moments, at most."""
BEHIND = 0.1
"""Seconds of real time that are made up for; what is later is left out."""
PLOTTED = 1200
"""States that the plots show, the last ones: 20 s at the highest rate of moments (pace.py)."""
PLOT = 0.5
"""Seconds between two drawings of the plots, and PLOT_SHARE of the time at most for them."""
PLOT_SHARE = 0.1
SIZE_SHARE = 0.25
"""Of the time what drawing in other sizes takes at most."""
FARTHEST = 100.0
"""How far the hand goes, in sizes of the scene: where one looks along the plane of a drag, it would go to infinity."""
LOST = 2.0
"""Seconds without a word of a dragging page after which its hand lets go."""
SELECT_FIRST = "select a body or joint first: click it, or choose it in the model's tree"
NODE = "/live"
"""A node that is not seen: its x tells pages whether bodies can be dragged."""


HOLD = "/hold"
"""A node of one page that is not seen: its x is the number of the hand that the page's keys move, 0 for none."""
_NUMBERS = itertools.count(1)
"""Of drags: a page outlives the system that runs on it, and takes a smaller number for a drag that has ended."""


class Drag(NamedTuple):
    """Who drags: a number, the point that was grabbed, and the line of sight then in the world; of keys no line of sight."""

    number: int
    point: np.ndarray
    sight: np.ndarray | None


class Touch:
    """Lets a session run on the page of a viewer."""

    def __init__(self, desk: Desk, session: Session) -> None:
        self._desk, self.session = desk, session
        self.running, self.factor = True, 1.0
        """Whether time goes on; how many times real time it went lately."""
        self.strength = 1.0
        self._lock, self._asking = threading.RLock(), threading.Lock()
        self._wanted: dict[str, tuple[Callable[[Any], None], Any]] = {}
        self._once: list[Callable[[], object]] = []
        self._drag: Drag | None = None
        self._now: Handling | None = None
        self._heard = 0.0
        self._told, self.said = -np.inf, ""
        self._news = False
        self.recent: Result | None = None
        """The last states, which the plots show."""
        self._plotted, self._plot_apart = -np.inf, PLOT
        self._of, self._changed, self._sized, self._size_apart = session.system, False, -np.inf, 0.0
        """Of which system what is drawn was last compared; whether anything was changed since the start; when, and when again."""
        self._debt, self._pace = 0.0, 1.0
        """Seconds of the system still to go; seconds of it that the machine computes in one of its own."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nexdyn live", daemon=True)

    def begin(self) -> None:
        """Now that the viewer shows the session's moment."""
        desk = self._desk
        self.controls = TouchControls(desk, self)
        self._flag = desk.server.scene.add_frame(NODE, show_axes=False, position=(1.0, 0.0, 0.0))
        desk.stage.carry("hand", lambda scene, _: HandMark(scene, lambda: self.hand, desk.stage.size, desk.words))
        self._thread.start()

    def close(self) -> None:
        """Stop, and take what is of it from the page."""
        self._over.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=30.0)
        desk = self._desk
        with desk.lock:
            self._flag.remove()
            self.controls.remove()
            desk.stage.carry("hand", None)

    def show_controls(self) -> None:
        """The controls anew, in the page's units."""
        with self._desk.lock:
            self.controls.remove()
            self.controls = TouchControls(self._desk, self)

    # --- what pages and programs ask --------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Pause, or go on."""
        self.run(not self.running)

    def run(self, running: bool) -> None:
        """Go on, or pause: then the session stands between two moments."""
        with self._lock:
            self.running = running
            self.said, self._told, self._news = "", -np.inf, True

    def step(self) -> None:
        """Pause, and go on by one step of the method, or a 60th of a second."""
        self.running = False
        self.later(lambda: self._advance(self.session.shortest or 1.0 / 60.0))

    def restart(self) -> None:
        """Back to the start, with what was changed."""
        self.later(self.session.restart)

    def undo(self) -> None:
        """Take the last change, grab or restart back."""
        self.later(self._take_back)

    def _take_back(self) -> None:
        """Undo, and let go of what the session then holds, for no mouse does."""
        self.session.undo()
        self._drag = None
        self.session.release()

    def later(self, act: Callable[[], object]) -> None:
        """Do something before the next moment."""
        with self._asking:
            self._once.append(act)

    def want(self, of: str, act: Callable[[Any], None], value: Any) -> None:
        """Give something a value before the next moment; of several values of the same the last counts."""
        with self._asking:
            self._wanted[of] = (act, value)

    def grab(self, hit: Hit, sight: np.ndarray) -> int:
        """Hold what a line of sight has met; returns the number that `pull` and `release` need."""
        with self._lock:
            self.session.grab(hit.body, hit.p_B, strength=self.strength)
            self._drag = Drag(next(_NUMBERS), hit.p_W, sight / np.linalg.norm(sight))
            self._heard = time.monotonic()
            return self._drag.number

    def pull(self, number: int, origin: np.ndarray, sight: np.ndarray) -> np.ndarray | None:
        """Pull to where a line of sight meets the plane of the drag; None where that drag is over."""
        with self._lock:
            drag = self._drag
            if drag is None or drag.sight is None or drag.number != number or self.session.hand is None:
                return None
            self._heard = time.monotonic()
            along = float(drag.sight @ sight)
            if abs(along) < 1e-9 * float(np.linalg.norm(sight)):
                return None
            target: np.ndarray = origin + float(drag.sight @ (drag.point - origin)) / along * sight
            return self._pull_to(drag, target)

    def _pull_to(self, drag: Drag, target: np.ndarray) -> np.ndarray:
        away, most = target - drag.point, FARTHEST * self._desk.stage.size
        target = drag.point + away * min(1.0, most / max(float(np.linalg.norm(away)), 1e-300))
        self.session.pull(target)
        return target

    def hold(self, client: Any) -> None:
        """Hold what is selected, to be moved by the keys of a page; that it cannot be is told there."""
        found = self._desk.inquiry.point_of_selected()
        if found is None:
            with told(client):
                client.add_notification("NexDyn", self._desk.words(SELECT_FIRST), auto_close_seconds=8.0)
            return
        with self._lock:
            body, p_B = found
            self.session.grab(body, p_B, strength=self.strength)
            hand = self.session.hand
            assert hand is not None
            self._drag = Drag(next(_NUMBERS), hand.point, None)
            self._heard = time.monotonic()
            number = self._drag.number
        with told(client):
            client.scene.add_frame(HOLD, show_axes=False, position=(float(number), 0.0, 0.0))

    def shift(self, number: int, by: np.ndarray) -> np.ndarray | None:
        """Move a hand that keys move by so much (3,) [m] in the world; None where it holds nothing any longer."""
        with self._lock:
            drag, hand = self._drag, self.session.hand
            if drag is None or drag.sight is not None or drag.number != number or hand is None:
                return None
            self._heard = time.monotonic()
            return self._pull_to(drag, hand.target + by) if by.any() else hand.target

    def release(self, number: int) -> None:
        """Let go, unless another one has grabbed since."""
        with self._lock:
            if self._drag is not None and self._drag.number == number:
                self._drag = None
                self.session.release()

    @property
    def hand(self) -> Handling | None:
        """What the hand did at the shown moment."""
        return self._now

    # --- time -------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        before = due = time.perf_counter()
        while not self._over.wait(max(0.0, due - time.perf_counter())) and not self._desk.viewer.ended:
            now = time.perf_counter()
            passed, before, due = now - before, now, max(due + 1.0 / self._desk.pace.rate, now)
            try:
                self._moment(passed)
            except Exception as error:  # the page goes on: it can restart, or show what was done
                traceback.print_exc()
                self.running, self.said = False, f"{type(error).__name__}: {error}"

    def _moment(self, passed: float) -> None:
        """Do what was asked for, go on by what has passed of real time [s], and show it."""
        desk, session = self._desk, self.session
        with self._lock:
            acted, moved = self._act(time.monotonic()), 0.0
            if not desk.viewer.watched and not acted:
                return
            if self.running and not session.failure:
                speed, began = desk.time.speed, time.perf_counter()
                self._debt = min(self._debt + speed * passed, max(speed * BEHIND, session.shortest))
                moved = self._advance(max(0.0, min(self._debt, max(self._pace * MOST_WORK, session.shortest))))
                self._debt -= moved
                if moved > 0.0:
                    self._pace = 0.5 * self._pace + 0.5 * moved / max(time.perf_counter() - began, 1e-6)
                self.factor += min(1.0, passed) * (moved / max(passed, 1e-3) - self.factor)
            if not (moved or acted or self._drag or self._news) and desk.t == session.t:
                return
            self._news = False
            latest = Motion.of(session.latest())
            self._now = session.hand
            began = time.monotonic()
            plots = began - self._plotted > self._plot_apart
            if plots:
                self.recent = session.result(PLOTTED)
        self._show(latest)
        if plots:
            self._plot(began)

    def _advance(self, seconds: float) -> float:
        try:
            return self.session.advance(seconds)
        except NexDynError as error:
            self.running, self.said = False, str(error)
            self._told, self._news = -np.inf, True
            return 0.0

    def _act(self, now: float) -> bool:
        """Do what was asked for since the last moment; whether anything was. What is refused is told, and changes nothing."""
        if self._drag is not None and now - self._heard > LOST:
            self.release(self._drag.number)
        with self._asking:
            once, self._once = self._once, []
            wanted, self._wanted = self._wanted, {}
        acts = [*once, *(lambda act=act, value=value: act(value) for act, value in wanted.values())]
        for act in acts:
            self.said = ""
            try:
                act()
            except NexDynError as error:
                self.said = str(error)
                self.controls.take_back()
        if acts:
            self._told = -np.inf
        return bool(acts)

    # --- the page ---------------------------------------------------------------------------------------------------

    def _show(self, latest: Motion) -> None:
        desk, now = self._desk, time.monotonic()
        with desk.lock:
            if desk.viewer.ended or self._over.is_set():
                return
            began = time.perf_counter()
            desk.motion = desk.stage.motion = latest
            desk.frame = None
            desk.time.playing, desk.time.t = False, latest.start
            with together(desk.server):
                self._fit_sizes(latest)
                desk.stage.still = self._now is not None  # else what is pulled would run away from the mouse
                desk.stage.grow(latest.start, latest.at(latest.start))
                desk.stage.show(latest.start)
                if now - self._told > TELL:
                    self._told = now
                    self._tell(latest)
            desk.pace.took(time.perf_counter() - began)

    def _fit_sizes(self, latest: Motion) -> None:
        """Draw the bodies in other sizes where a change of parameters has given them others, as often as that takes little of the time."""
        if latest.system is self._of:
            return
        changed, began = bool(self.session.changed), time.monotonic()
        if (changed or self._changed) and began - self._sized < self._size_apart:
            self._news = True  # later
            return
        if changed or self._changed:  # else it is the force of the hand
            desk = self._desk
            if look_of(latest.system, desk.stage.up) != desk.stage.drawn_like:
                desk.viewer.draw_anew(replace(latest, goes_on=True))
                desk.stage.motion = latest
            self._sized = time.monotonic()
            self._size_apart = (self._sized - began) / SIZE_SHARE
        self._of, self._changed = latest.system, changed

    def _plot(self, began: float) -> None:
        """Draw the chosen plots of the last states, as often as that takes little of the time."""
        with self._desk.lock, np.errstate(over="ignore", invalid="ignore"):  # of a run that blows up
            if not self._over.is_set():
                self._desk.controls.plots.draw(anew=False)
        self._plotted = time.monotonic()
        self._plot_apart = max(PLOT, (self._plotted - began) / PLOT_SHARE)

    def _tell(self, latest: Motion) -> None:
        """Numbers: time and speed, coordinates, what is selected."""
        desk = self._desk
        self.controls.tell(latest)
        desk.inquiry.new_moment()

    def coordinates(self, latest: Motion) -> dict[str, np.ndarray]:
        """Coordinates of the joints now, by name."""
        return {} if latest.result is None else states_of(latest.result.observed)[0]


def session_of(desk: Desk) -> Session:
    """A session that goes on from what a viewer shows: the shown moment of a result, or a pose with what its sliders say."""
    result = desk.motion.result
    if result is None:
        return Session(desk.system, q0=desk.controls.moved or None)
    k = int(np.argmin(np.abs(result.recording.t - desk.t)))
    restart = result.recording.restart
    options = arguments(restart) if restart is not None else {}
    options.pop("output_every", None)
    start = sample(result, k)  # of the system as events have left it
    return Session(start.system, **options, initial=start)

"""The contract of a march, and what every run makes of it.

A formulation gives                                         every run has, written once
    start_rows, go_to       steps, and the rows they leave      result, latest, and run the user's face (``run``)
    present, _sample        the row of the present state        advance                 rows of all states, for events
    _result                 what rows mean, as a Result         memory, recall          a run is one run
    live, numbers_kept, …   all that steps change               restart, go_on          the same through a result
    closed_at_start         what was closed to start            tell_start              notices
    put_force_states, let_stop_act, anew, after_impact          what events change

Row: numbers (width,), the time first. Rows are kept in order of time; the row of the present state may be the last of them.
"""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.assembly.notices import Notice, file_notices, start_notices, tell
from nexdyn.checked_calls import CheckedCalls
from nexdyn.compiler.tiers import served
from nexdyn.errors import InputError, SolveError, warn
from nexdyn.forces.states import state_labels
from nexdyn.model.system import System
from nexdyn.results.mesh_files import changed_files, files_of, kept_files
from nexdyn.results.restart import LIST, Restart
from nexdyn.results.result import Result
from nexdyn.simulation.continuing import acts_otherwise, begun, inherited
from nexdyn.simulation.kept import Apart, Keeper, Poses, bound_of, verdict
from nexdyn.simulation.peaks import PeakKeeper
from nexdyn.simulation.users import UserStates, keep_drivers_alive

if TYPE_CHECKING:
    from nexdyn.assembly.report import AssemblyReport

Memory = dict[str, np.ndarray]
"""Named copies of arrays."""
Progress = Callable[[float, float], None]
Look = Callable[[], None]
"""Called between two slices of compiled work: it tells of progress, and raises KeyboardInterrupt."""
NONE = np.zeros(0)
OF_POSE = ("limit", "contact")
"""What is said of a pose that a run starts from, and not of one that a run has come to and goes on from."""
ROUNDED = 1e-9
"""Part of a step that is rounding of the time."""
COUNTED = ("_from", "_behind", "_apart")
"""Where constant steps are counted from, which a restart of an older file lacks: they begin anew."""
NEAR, STEPS_NEAR = 0.1, 20
"""How far the fastest part of a mechanism moves [rad, lengths], and as many steps, between a singular pose and what fails for it."""
FIRST_LOOK, LOOK_EVERY, OF_BODIES = 16, 2048, 65536
"""Steps, or evaluations where steps are adaptive, after which constraints are looked at first, and how many of them lie between two looks:
LOOK_EVERY + OF_BODIES / bodies. A look lasts as long as some 50 steps of HHT of a large mechanism and 400 of a small one: about 2 %."""


class WatchedState(NamedTuple):
    """Of an event, or an end of a joint stop (0, 1): the side of zero it was on, whether it is done, whether the stop presses."""

    name: str
    end: int
    side: float
    done: bool
    acting: bool


class Snapshot(NamedTuple):
    """The present state of a march, and its rows, to go back to."""

    memory: Memory
    users: dict[str, Any]
    rows: list[np.ndarray]

    @property
    def t(self) -> float:
        """When it was taken [s]."""
        return float(self.memory["t"][0])


class CheckedContract(CheckedCalls, ABCMeta):
    """Wrong arguments of what a formulation gives are told by name, and one that leaves something out cannot be made."""


class March(metaclass=CheckedContract):
    """A system in motion by one method."""

    system: System
    method: Any
    t: float
    output_every: int
    warnings: list[Notice] | None = None
    """What was said of the start; None before it was."""
    goes_on = False
    """Whether it goes on from all of the state of a run's end."""
    happened: list[dict[str, Any]]
    """The events so far."""
    watched: list[WatchedState] | None = None
    """How events stood at the end of the last leg."""
    _rows: list[np.ndarray]
    _steps: int
    _wall: float
    _first: System
    """The system at the start; events may have changed it."""
    _inherited: dict[str, Any]
    """What events of runs before this one have changed."""
    _users: UserStates
    _files: dict[str, str]
    """What was in the files that the motion depends on."""
    _changed_files: list[str]
    """Those that held something else in the run to go on from."""
    _begun = False
    """Whether it has run: then all that is recorded is kept."""
    _thinned, _unseen = False, False
    """Whether states were left out of the rows, and whether their peaks were, too."""
    _grid: tuple[Memory, dict[str, Any]] | None = None
    """Where constant steps go on, and the states of users' objects there, while the state is a shorter step aside of them."""
    _for_events = False
    """Whether the states are for events, which lie on no grid."""
    _from, _behind, _apart = 0.0, 0, 0.0
    """Where constant steps are counted from [s], how many of them lie behind, and how far they lie apart [s]."""
    _marching = False
    """Whether a run without events is between two slices of compiled work."""
    _going: Callable[[str, str], Result] | None = None
    """What tells of a run with events or peaks while it goes on."""
    _keeper: Keeper | None = None
    """What looks at the constraints; it is of one model."""
    _fastest = 0.0
    """The largest speed [1/s] of the marches in place of which this one has been made."""
    _to_look, _look_is_due = FIRST_LOOK, False
    """How much is left until constraints are looked at next, in steps or evaluations, and whether the last of it has just been done."""
    comes_close = False
    """Whether a pose may have been close to a singular one, by what steps have shown."""
    may_leave = False
    """Whether what is asked for may lose its constraints by itself: then it is said, but the run goes on."""
    _peaks: PeakKeeper | None = None
    """What looks at the states of all steps, where that was asked for."""

    def begin_march(self, system: System, initial: Any, output_every: int) -> tuple[System, Any]:
        """Before all else: the system as events of the runs before have left it, and what to start from, of a posture its report."""
        if not isinstance(output_every, int) or isinstance(output_every, bool) or output_every < 1:
            raise InputError(f"output_every is {output_every!r}; a whole number of steps, 1 or more, is needed")
        self._first, initial = begun(system, initial)
        self._inherited = inherited(initial)
        self.happened, self._rows = [], []
        self._steps, self._wall = 0, 0.0
        self._users = UserStates(self._first)
        self._files = files_of(self._first)
        self._changed_files = (
            changed_files(initial.recording.settings, self._files) if isinstance(initial, Result) else []
        )
        keep_drivers_alive(self._first)
        self.output_every = output_every
        return self._first, initial

    # --- what a formulation gives: motion ---------------------------------------------------------------------------

    @property
    @abstractmethod
    def numbers(self) -> int:
        """Numbers of a row."""

    @property
    def constant_step(self) -> float | None:
        """The step [s] of a method that has one; None where steps are chosen."""
        return getattr(self.method, "dt", None)

    @property
    def next_sample(self) -> float:
        """When a controller takes its next sample [s], where that cannot be taken back; else inf."""
        return math.inf

    keeps_before = False
    """Whether constant steps keep the state before them, or that after."""

    @abstractmethod
    def march_by(self, dt: float, steps: int, every: int, look: Look) -> None:
        """So many steps of dt [s]; every `every`-th state (0: none) is kept."""

    @abstractmethod
    def start_rows(self, keep_start: bool) -> None:
        """Before the steps of a run without events: whether the present state is among the rows asked for."""

    @abstractmethod
    def go_to(self, t_end: float, times: np.ndarray, look: Look) -> None:
        """March to t_end; keep rows at `times`, or of every `output_every`-th state where there are none."""

    @abstractmethod
    def present(self) -> np.ndarray:
        """The row (1, width) of the present state, as `_sample` left it."""

    @abstractmethod
    def _sample(self) -> None:
        """Evaluate the present state."""

    @abstractmethod
    def _result(self, rows: np.ndarray, status: str = "finished", message: str = "") -> Result:
        """What rows (N, width) mean."""

    # --- what a formulation gives: the start ------------------------------------------------------------------------

    @abstractmethod
    def closed_at_start(self) -> tuple[list[Notice], AssemblyReport | None]:
        """What was moved to close joints that are described open, and the report of the assembly."""

    # --- what a formulation gives: its state ------------------------------------------------------------------------

    @property
    @abstractmethod
    def kind(self) -> str:
        """What a memory must be of to be recalled here."""

    @abstractmethod
    def live(self) -> Mapping[str, np.ndarray]:
        """The arrays that steps change, themselves."""

    def lists(self) -> Mapping[str, np.ndarray]:
        """Arrays that steps change, and whose lengths they change."""
        return {}

    def put_lists(self, lists: Mapping[str, np.ndarray]) -> None:
        """Go on with such arrays, those of another moment or march."""

    def numbers_kept(self) -> tuple[str, ...]:
        """Attributes that are numbers and that steps change."""
        return ("t", "_steps", *COUNTED)

    def constants(self) -> np.ndarray:
        """Numbers that do not change, but that a memory depends on."""
        return NONE

    def notes(self) -> dict[str, Any]:
        """What the memory needs that is no number of it, as JSON has it."""
        return {}

    def scratch(self) -> list[np.ndarray]:
        """Arrays that steps go on from and no memory holds, since each leg makes them anew."""
        return []

    def put_present(self, row: np.ndarray) -> None:
        """Take a row (1, width) for that of the present state."""

    def history(self) -> str:
        """What the method remembers beside the state that is recorded, in words; "" for nothing."""
        return ""

    def forget_counters(self) -> None:
        """Count effort from here on, where any is counted."""

    # --- what a formulation gives: to events ------------------------------------------------------------------------

    @abstractmethod
    def let_stop_act(self, name: str, acts: bool) -> None:
        """Whether the compliant part of a joint's stop acts."""

    @abstractmethod
    def anew(
        self, system: System, t: float, observed: Any, position: Mapping[str, Any] | None,
        velocity: Mapping[str, Any] | None,
    ) -> March:  # fmt: skip
        """A march by the same method from the state `observed`, with other coordinates and velocities by joint."""

    @abstractmethod
    def after_impact(self, observed: Any, joint: str, freedom: int, restitution: float) -> dict[str, np.ndarray]:
        """Velocities by joint after one degree of freedom of a joint has bounced, the others free to follow."""

    def go_on_from(self, old: March) -> None:
        """As the march in place of which this one has been made within a run, with the states of its forces."""
        self._steps, self._wall = old._steps, old._wall
        self._first, self._inherited, self._users, self.warnings = old._first, old._inherited, old._users, old.warnings
        self._files = old._files
        self._peaks, self._thinned, self._unseen = old._peaks, old._thinned, old._unseen
        self._fastest = old._fastest if old._keeper is None else old._keeper.speed

    # --- the user's face --------------------------------------------------------------------------------------------

    def result(self, status: str = "finished", message: str = "") -> Result:
        """What was recorded so far; the present state is the last, but while a run with events or peaks goes on."""
        if self._going is not None:
            return self._going(status, message)
        if self._marching and status != "failed":
            return self.midway(lambda now: self._recorded(status, message, now))
        return self._recorded(status, message)

    def midway(self, told: Callable[[np.ndarray], Result]) -> Result:
        """`told(row of the present state)` between two slices of compiled work, which afterwards goes on as if nobody had looked."""
        rows, memory, users = self._rows, self.memory(), self._users.told()
        scratch = [x.copy() for x in self.scratch()]

        def back() -> None:
            self.recall(memory)
            self._users.load(users)
            for x, kept in zip(self.scratch(), scratch, strict=True):
                x[...] = kept
            self._rows = list(rows)

        self._rows = list(rows)
        try:
            self._sample()
            now = self.present()
        except SolveError:
            back()
            now = self.present()
        else:
            back()
            self.put_present(now)
        dt, there = self._apart, self._behind
        if dt > 0.0 and abs(self._from + (k := round((self.t - self._from) / dt)) * dt - self.t) <= ROUNDED * dt:
            self._behind = k
        try:
            return told(now)
        finally:
            self._behind = there
            back()

    def _recorded(self, status: str, message: str, row: np.ndarray | None = None) -> Result:
        rows, now = [*self._rows], self.present() if row is None else row
        if not rows or rows[-1][-1, 0] < now[0, 0]:
            rows.append(now)
        return self._of_all_legs(self._result(np.concatenate(rows), status, message))

    def ended(self, error: SolveError, recorded: bool = True) -> SolveError:
        """The error that ends a run, with what was recorded if anything was."""
        error.result = self.result("failed", str(error)) if recorded else None
        return error

    def latest(self) -> Result:
        """The last recorded state alone, also while `run` goes on: for what looks at it from `progress`."""
        now = self.present()
        return self._result(self._rows[-1][-1:] if self._rows and self._rows[-1][-1, 0] > now[0, 0] else now)

    def tell_start(self, on_gap: str = "warn") -> None:
        """Warn, once, of gaps that were closed, of coordinates outside limits, and of contacts that start pressed in; InputError for
        explicit steps with which a contact would diverge. `on_gap` as for `nx.simulate`."""
        if self.warnings is None:
            gaps, report = self.closed_at_start()
            found = [n for n in start_notices(self, gaps) if not (self.goes_on and n.kind in OF_POSE)]
            found += file_notices(self._changed_files)
            self.warnings = tell(found, on_gap, report)
            if report is not None and any(row.structural is False for row in report.redundancy.redundant):
                self.tell_singular(self.t, "starts in")

    def tell_singular(self, t: float, how: str = "passes near") -> None:
        """Warn, once, that the run has passed near a singular pose at t, or starts in one."""
        if any(notice.kind == "singular" for notice in self.warnings or ()):
            return
        text = (
            f"{how} a singular pose at t = {t:g} s, where other motions branch off: rounding and errors decide which one "
            f"it follows; compare smaller steps, tolerances and other methods"
        )
        self.note(Notice("singular", "", t, "s", 0.0, text))

    def note(self, notice: Notice) -> None:
        """Warn, and keep it with the result."""
        self.warnings = [*(self.warnings or []), notice]
        warn(notice.text)

    def note_left_out(self) -> None:
        """States are left out of the rows."""
        self._thinned, self._unseen = True, self._unseen or self._peaks is None

    def _users_back(self, users: dict[str, Any]) -> None:
        """The states of the user's functions as they were; a warning, once, of what they keep to themselves and steps taken again meet
        changed."""
        for whose, what in self._users.go_back(users).items():
            text = (
                f"{whose} keeps a state to itself ({', '.join(what)} changed), and steps are taken again, to where an event or a time "
                f"asked for lies: it is called for them again. Give what changes save_state() and load_state(state)"
            )
            self.note(Notice("state", whose, self.t, "s", 0.0, text))

    # --- steps ------------------------------------------------------------------------------------------------------

    def count_steps(self, dt: float, every: int) -> tuple[float, int]:
        """(t0, k): steps of dt [s] go on at t0 + k dt. A leg goes on counting where the last one has ended, so that the times of steps,
        to the last bit, do not depend on where legs end; but where only every `every`-th state is kept, which is counted, too."""
        there = self._from + self._behind * dt
        if self._apart != dt or abs(there - self.t) > ROUNDED * dt or (every > 1 and self._behind % every):
            self._from, self._behind, self._apart = self.t, 0, dt
        return self._from, self._behind

    # --- constraints ------------------------------------------------------------------------------------------------

    def keeper(self) -> Keeper | None:
        """What looks at the constraints of the system as it is; None where there are none."""
        return None

    def violation(self, rows: np.ndarray) -> np.ndarray:
        """The largest |C| (N,) that is recorded in rows."""
        raise NotImplementedError

    def poses(self, rows: np.ndarray) -> Poses:
        """The bodies' states in rows."""
        raise NotImplementedError

    def look_at_constraints(self, rows: np.ndarray | None = None) -> None:
        """Of the present state, every so many steps, or of some of the `rows` of a run that has ended: SolveError where the motion has left
        its constraints; a warning, once, where it is farther from them than the method explains."""
        if rows is None:
            if not self._look_is_due:
                return
            self._look_is_due = False
            rows = self.present()
        keeper = self._keeper = self.keeper()
        if keeper is not None:
            keeper.speed = max(keeper.speed, self._fastest)
            apart = keeper.look(self.poses(rows[keeper.some(self.violation(rows))]))
            word = verdict(apart, self.method)
            if word == "lost" and not self.may_leave:
                self._lost(f"the motion has left its constraints: {apart}, at {apart.where}", apart)
            if word:
                self.tell_violation(f"{apart}, more than {bound_of(self.method):.2g}", apart.beyond)

    def until_look(self, size: int) -> int:
        """As much of `size` steps or evaluations as may be done before constraints are looked at: which states are looked at depends on
        steps alone, not on how fast the machine is."""
        return min(size, self._to_look)

    def note_done(self, done: float) -> None:
        """So many steps or evaluations have been done."""
        self._to_look -= int(done)
        if self._to_look <= 0:
            self._look_is_due = True
            self._to_look = LOOK_EVERY + OF_BODIES // max(len(self.system.bodies), 1)

    def _lost(self, message: str, apart: Apart) -> None:
        """The SolveError of a motion that has left its constraints."""
        raise self.ended(SolveError(f"{message}; {self.closer()}", time=apart.t, where=apart.joint))

    def closer(self) -> str:
        """What keeps constraints better than the method does as it is."""
        return f"take {'a shorter dt' if self.constant_step is not None else 'a smaller rtol'}; Projection and HHT keep them closed"

    def tell_violation(self, what: str, value: float) -> None:
        """Warn, once, that constraints are violated."""
        if any(notice.kind == "violation" for notice in self.warnings or ()):
            return
        text = f"{what}; {self.closer()}"
        self.note(Notice("violation", "", value, "1", 0.0, text))

    def independent_rows(self) -> np.ndarray:
        """As many of the description's constraint equations (nc,) bool as are independent."""
        raise NotImplementedError

    def look_for_singular(self, rows: np.ndarray) -> None:
        """Of the rows of a run that has ended, where it may have come close to a singular pose: warn where it has passed one."""
        told = any(notice.kind == "singular" for notice in self.warnings or ())
        t = None if told or not self.comes_close or self._keeper is None else self._singular_among(self._keeper, rows)
        if t is not None:
            self.tell_singular(t)

    def _singular_among(self, keeper: Keeper, rows: np.ndarray) -> float | None:
        """When a run passes a singular pose, by its rows; None where it passes none, or is too large to be looked at."""
        from nexdyn.simulation.independence import may_be_looked_at, singular_in

        if not may_be_looked_at(keeper.model):
            return None
        return singular_in(keeper.model, self.independent_rows(), keeper.length, self.poses(rows))

    def with_singular_pose(self, error: SolveError) -> SolveError:
        """An error that has ended the run, which tells, too, that it has come to a singular pose."""
        if error.time is None or error.__cause__ is not None or "singular pose" in str(error):
            return error
        keeper = self._keeper = self._keeper or self.keeper()
        if keeper is None:
            return error
        t = next((notice.value for notice in self.warnings or () if notice.kind == "singular"), None)
        if t is None:
            with suppress(ArithmeticError, np.linalg.LinAlgError, ValueError, RuntimeError):
                rows = np.concatenate([*self._rows, self.present()])
                t = self._singular_among(keeper, rows[np.isfinite(rows).all(axis=1)])
        near = NEAR / max(keeper.speed, self._fastest) + STEPS_NEAR * (self.constant_step or 0.0)
        if t is not None and abs(t - error.time) < near:
            message = f"{error}; at t = {t:g} s it is in a singular pose, where other motions branch off"
            error.args = (message,)
            if error.result is not None:
                error.result.recording.message = message
        return error

    # --- for events and peaks ---------------------------------------------------------------------------------------

    def keep_peaks(self) -> None:
        """Keep the peaks of all steps from here on."""
        self._peaks = self._peaks or PeakKeeper()

    def look_at(self, rows: np.ndarray) -> None:
        """At the states of steps, whether their rows are kept or not."""
        if self._peaks is not None:
            self._peaks.look(self.observed(rows))

    def observed(self, rows: np.ndarray) -> Any:
        """What is observed of rows."""
        return self._result(rows).observed

    def body_state(self, row: np.ndarray, body: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of a body in a row (1, width), in the world: R (3, 3), p [m], ω [rad/s] and v of its origin [m/s]."""
        observed = self.observed(row)
        i = list(observed.labels.dims["body"]).index(body)
        found = observed.collect(["rotation", "position", "angular_velocity", "velocity"], slice(i, i + 1))
        R, p, w, v = (x[0, 0] for x in found.values())
        return R, p, w, v

    def advance(self, t: float, look: Look) -> np.ndarray:
        """March to t; the rows of all states on the way, that at t included, those before left out. Of the rows the last is kept."""
        before, began = self.present(), self.t
        self._rows, every, self.output_every = [before], self.output_every, 1
        self._grid, self._for_events = None, True
        try:
            self.go_to(t, NONE, look)
        finally:
            self.output_every, self._for_events = every, False
        self.t = t
        self._sample()
        rows = np.concatenate([*self._rows, self.present()])
        # what two marches meet in stands once, at the time asked for
        rows = rows[(rows[:, 0] > began) & (np.append(np.diff(rows[:, 0]) > 0.0, True))]
        rows[-1, 0] = t
        self._rows = [rows[-1:].copy()]
        return rows

    def rows_after(self, t: float) -> np.ndarray:
        """The rows later than t, of an `advance` that has failed."""
        rows = np.concatenate(self._rows)
        return rows[rows[:, 0] > t]

    def keep_only(self, row: np.ndarray) -> None:
        """Of the rows this one (1, width)."""
        self._rows = [row.copy()]

    def recorded_rows(self) -> list[np.ndarray]:
        """The rows of the legs before this one."""
        return list(self._rows) if self._begun else []

    def sampled(self) -> np.ndarray:
        """The row (1, width) of the present state, evaluated anew."""
        self._sample()
        return self.present()

    def snapshot(self) -> Snapshot:
        """The present state, to go back to."""
        return Snapshot(self.memory(), self._users.told(), list(self._rows))

    def go_back(self, snapshot: Snapshot) -> None:
        """Back to it; what was measured of the machine's time stays."""
        self.recall(snapshot.memory)
        self._users_back(snapshot.users)
        self._rows = list(snapshot.rows)

    def at(self, snapshot: Snapshot, told: Callable[[np.ndarray], Result]) -> Result:
        """`told(row of the state)` of a snapshot's state, to which the march goes for as long."""
        self.recall(snapshot.memory)
        self._users.load(snapshot.users)
        self._rows = list(snapshot.rows)
        return told(self.present())

    def finish(
        self, first: System, rows: np.ndarray, happened: list[dict[str, Any]], watched: list[WatchedState], status: str,
        message: str,
    ) -> Result:  # fmt: skip
        """The result of a leg with events."""
        self._rows, self._first, self._begun = [rows], first, True
        self.happened, self.watched = happened, watched
        return self._recorded(status, message)

    def so_far(
        self, first: System, rows: np.ndarray, happened: list[dict[str, Any]], status: str, message: str,
        watched: list[WatchedState] | None = None,
    ) -> Result:  # fmt: skip
        """The result of a leg with events that goes on, up to the last of `rows`; events stand as `watched` says, if that is given."""
        now = self._first, self.happened, self.watched
        self._first, self.happened, self.watched = first, happened, self.watched if watched is None else watched
        try:
            return self._of_all_legs(self._result(rows, status, message))
        finally:
            self._first, self.happened, self.watched = now

    def told_by(self, told: Callable[[str, str], Result] | None) -> None:
        """What `result` is while a run with events or peaks goes on; None afterwards."""
        self._going = told

    def spent(self, seconds: float) -> None:
        """So much time of the machine's was spent."""
        self._wall += seconds

    @property
    def first(self) -> System:
        """The system at the start; events may have changed it."""
        return self._first

    def become(self, other: March) -> None:
        """Go on as another march of the same class, with which events have replaced this one."""
        if other is not self:
            self.__dict__ = dict(other.__dict__)

    # --- between two legs -------------------------------------------------------------------------------------------

    def memory(self) -> Memory:
        """All that steps change."""
        found = {name: x.copy() for name, x in self.live().items()}
        found |= {name: np.array([float(getattr(self, name))]) for name in self.numbers_kept()}
        found |= {LIST + name: x.copy() for name, x in self.lists().items()}
        return found | {f"grid.{name}": x.copy() for name, x in (self._grid[0] if self._grid else {}).items()}

    def recall(self, memory: Memory) -> None:
        """Back to a memory of this march, or of one alike."""
        for name, x in self.live().items():
            x[...] = memory[name]
        self.put_lists({name.removeprefix(LIST): x for name, x in memory.items() if name.startswith(LIST)})
        for name in self.numbers_kept():
            value = float(memory[name][0]) if name in memory else 0.0
            setattr(self, name, int(value) if isinstance(getattr(self, name), int) else value)
        grid = {name.removeprefix("grid."): x for name, x in memory.items() if name.startswith("grid.")}
        self._grid = (grid, self._users.told()) if grid else None

    def _of_all_legs(self, result: Result) -> Result:
        """The result of all legs, with what the next one goes on from."""
        recording = result.recording
        recording.settings["kernels"] = served()
        if self._inherited:
            recording.settings["changed"] = self._inherited
        recording.settings |= kept_files(self._files)
        if self.happened:
            recording.settings["events"] = [dict(one) for one in self.happened]
        if self._thinned:
            recording.settings["thinned"] = True
        if self._unseen:
            recording.settings["unseen"] = True
        if self._peaks is not None:
            recording.settings["peaks"] = self._peaks.told()
        if self.system is not self._first:
            result = Result(self._first, recording)
        if recording.status != "failed" and recording.t[-1] == self.t:
            recording.restart = self.restart()
        return result

    def restart(self) -> Restart:
        """The state at the end of what was recorded."""
        notes = self.notes() | {"states": [label for label, _ in state_labels(self.system)], "run": self.how()}
        if self.watched is not None:
            notes["events"] = [list(one) for one in self.watched]
        saved, before = self._users.saved(), self._grid[1] if self._grid else {}
        if users := {whose: saved.get(whose, {}) | before.get(whose, {}) for whose in {**saved, **before}}:
            notes["users"] = users
        return Restart(self.kind, self.t, self.memory(), self.constants(), notes)

    def go_on(self, initial: Any, changed: bool, opened: bool = False) -> bool:
        """From the restart of a result, where it fits and the state is not `changed` otherwise; whether it was. opened: where sizes
        have changed, so that the end of that run was closed anew."""
        if not isinstance(initial, Result):
            return False
        restart = initial.recording.restart
        if restart is None or restart.t != initial.recording.t[-1]:
            self._say_unknown(initial)
            return False
        if not changed and "events" in restart.notes:
            self.watched = [WatchedState(*one) for one in restart.notes["events"]]
        self._users.load(restart.notes.get("users", {}))
        steps = self._steps
        needed = {name: x for name, x in self.memory().items() if name not in COUNTED}
        if changed or opened or not restart.fits(self.kind, needed, self.constants()):
            return False
        self.recall(restart.arrays)
        if self._grid is not None and acts_otherwise(initial, self.system):
            self._grid = None  # what has been changed acts from the end of that run on, not from the step before it
        self._steps, self._apart, self.goes_on = steps, 0.0, True
        self.forget_counters()
        return True

    def how(self) -> dict[str, Any]:
        """The arguments of the run, as JSON has them; see ``continuing.arguments``."""
        return {"method": {"name": self.method.name, **asdict(self.method)}, "output_every": self.output_every}

    def _say_unknown(self, initial: Result) -> None:
        """NexDynWarning for what a file without a restart does not tell."""
        unknown = self.history() if initial.recording.method == repr(self.method) else ""
        if len(state_labels(self.system)) and not initial.recording.z.size:
            unknown = f"{unknown} and " * bool(unknown) + "the states of its forces, which start as described"
        if unknown:
            warn(
                f"the result to go on from does not hold {unknown}: it was written by an older NexDyn or while a run with "
                "events went on, or is one of a batch"
            )

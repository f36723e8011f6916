"""A system in motion under a hand: it goes on by moments, is pulled, changed, put elsewhere, taken back and begun anew.

    session = nx.Session(system)
    session.grab("link2", (0.5, 0, 0))        a point of a body, in its axes
    session.pull((1, 0, 2))                   where the hand is, in the world
    session.advance(0.5)                      so many seconds of the system's time
    session.release()
    session.change({"gravity": (0, 0, 0)})       parameters, attributes, gravity: as `System.with_parameters`
    session.undo()
    nx.Session.replay(system, session.log)    the same again, to the last bit

What acts is part of the description: `result()` is of a system that has each pull as an applied force, a table over time, and
whose changes are events. `log` is what was done, as plain data: two sessions of one system with one log are equal bit for bit, for the
motion goes on by the same steps, and the hand (``hand``) acts by times of the system, not of the machine.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from nexdyn.absolute.model import absolute_model
from nexdyn.assembly.assemble import mechanism_length
from nexdyn.assembly.report import AssemblyReport
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import AssemblyError, InputError, NexDynError, NexDynWarning, SolveError, unknown
from nexdyn.forces.applied import AppliedForce
from nexdyn.integrate.methods import HHT, Loops, Method
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.results.samples import alone
from nexdyn.results.segments import changed_by, switched
from nexdyn.simulation.choice import default_method, simulation_of
from nexdyn.simulation.events import Run
from nexdyn.simulation.hand import Pull, force_of, grip
from nexdyn.simulation.march import Snapshot
from nexdyn.statics.inverse_kinematics import Posture

RTOL = 1e-4
"""Of HHT, where no method is given: it runs five times as fast as at its own default."""
MOST_UNDONE = 64
"""Actions that can be taken back."""
TOGETHER = 0.5
"""Changes of the same within this time [s] are taken back as one: those of a slider."""
MOST_NUMBERS = 2**25
"""Numbers that are recorded: beyond, every second state is left out."""
ACTIONS = ("go", "grab", "pull", "release", "change", "switch", "put", "restart", "undo")


class Handling(NamedTuple):
    """What a hand does now: the point it holds and where it pulls it, in the world [m]; the force [N], and whether it is at its limit."""

    body: str
    point: np.ndarray
    target: np.ndarray
    force: np.ndarray
    limited: bool
    most: float
    """The largest force [N]."""


class _Saved(NamedTuple):
    """A session before an action, to go back to."""

    what: str
    t: float
    run: Run
    snapshot: Snapshot
    first: System
    pulls: list[tuple[Pull, int]]
    held: Pull | None
    target: np.ndarray | None
    failure: str


class Session(metaclass=CheckedCalls):
    """A system in motion under a hand. Arguments as for `nx.simulate`, but that by default HHT has a tolerance of 1e-4, which a hand does
    not feel. `t` [s] is the present time, `log` what was done so far.

    What the method cannot do ends in SolveError, and is kept in `failure`: the state is that before, and `undo` and `restart` go on.
    """

    def __init__(
        self,
        system: System,
        method: Method | str | None = None,
        *,
        initial: Result | AssemblyReport | Posture | None = None,
        q0: Any = None,
        v0: Any = None,
        dynamics: Literal["aba", "crba", "cfa"] = "aba",
        loops: Loops | None = None,
    ) -> None:
        if not isinstance(system, System):
            raise InputError(f"system is {system!r}; a System is needed, like the one that nx.load returns")
        if not system.bodies:
            raise InputError(f"system {system.name!r} has no bodies; there is nothing to move")
        if method is None and isinstance(chosen := default_method(system, loops, dynamics), HHT):
            method = replace(chosen, rtol=RTOL)
        self._options: dict[str, Any] = {
            "method": method, "initial": initial, "q0": q0, "v0": v0, "dynamics": dynamics, "loops": loops,
        }  # fmt: skip
        self.log: list[dict[str, Any]] = []
        """What was done, as JSON has it."""
        self._undone: list[_Saved] = []
        self._begin(system)

    def __repr__(self) -> str:
        return f"Session({self.system.name!r}, t = {self.t:g} s)"

    def _begin(self, first: System) -> None:
        """From the start of a system."""
        self._first = first
        self._pulls: list[Pull] = []
        self._held: Pull | None = None
        self._target: np.ndarray | None = None
        self.failure = ""
        """Why it cannot go on; "" where it can."""
        with Quiet():
            march = simulation_of(self._with_hands(first), **self._options)
            self._run = Run(march, math.inf, np.zeros(0), True, None)
        self._run.every = 0  # states are kept where a moment ends
        self._length = mechanism_length(absolute_model(first))

    # --- state ------------------------------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        """The present time [s]."""
        return float(self._run.march.t)

    @property
    def system(self) -> System:
        """The system as it is now, the forces of the hand left out."""
        return self._changed(self._first)

    @property
    def method(self) -> Method:
        """The method by which it moves."""
        found: Method = self._run.march.method
        return found

    @property
    def shortest(self) -> float:
        """The shortest time that it can advance by [s]: the step of a method that has one, else 0."""
        return self._run.march.constant_step or 0.0

    @property
    def changed(self) -> list[str]:
        """The parameters and attributes that have been changed since the start, as `change` takes them."""
        changes = (event.get("change", {}).get("parameters", {}) for event in self._run.happened)
        return list(dict.fromkeys(path for change in changes for path in change))

    @property
    def can_undo(self) -> str:
        """What `undo` would take back, in a word; "" where there is nothing."""
        return self._undone[-1].what if self._undone else ""

    def latest(self) -> Result:
        """The present state alone."""
        return self._run.march.latest()

    def result(self) -> Result:
        """The motion since the start, of a system that has all pulls as applied forces."""
        run = self._run
        rows, now = list(run.kept), run.march.present()
        if not rows or rows[-1][-1, 0] < now[0, 0]:
            rows.append(now)
        status = "failed" if self.failure else "finished"
        with Quiet():
            found = run.march.so_far(
                self._with_hands(self._first), np.concatenate(rows), run.happened, status, self.failure
            )
            return Result(_plus(self._first, [pull.recorded() for pull in self._pulls]), found.recording)

    @property
    def hand(self) -> Handling | None:
        """What the hand does now; None where it holds nothing."""
        if self._held is None:
            return None
        p, v = self._point(self._held)
        target = p if self._target is None else self._target
        held = self._held.grip
        return Handling(held.body, p, target, *force_of(held, target, p, v), held.most)

    # --- motion -----------------------------------------------------------------------------------------------------

    def advance(self, seconds: float) -> float:
        """Go on for about so long [s], by whole steps of the method; returns how long it was, 0 where it is less than half a step.

        SolveError where the method fails, or an event has ended the run: the state is then that before the failing steps.
        """
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0.0 <= seconds < math.inf:
            raise InputError(f"seconds is {seconds!r}; a time of 0 s or more is needed")
        dt = self._run.march.constant_step
        amount = float(seconds) if dt is None else float(math.floor(seconds / dt + 0.5))
        return self._advance(amount) if amount > 0.0 else 0.0

    def _advance(self, amount: float) -> float:
        """By so many seconds, or by so many steps where those are constant."""
        if self.failure:
            raise SolveError(self.failure, time=self.t)
        began, dt = self.t, self._run.march.constant_step
        apart = math.inf if self._held is None else self._held.grip.apart
        self._note_go(amount)
        try:
            if dt is None:
                parts = math.ceil(amount / apart) if apart < math.inf else 1
                for _ in range(parts):
                    self._go_to(self.t + amount / parts)
            else:
                left, most = int(amount), max(1, int(min(apart / dt, amount)))
                while left > 0:
                    march, steps = self._run.march, min(left, most)
                    t0, behind = march.count_steps(dt, 0)
                    self._go_to(t0 + (behind + steps) * dt)
                    left -= steps
        finally:
            self._keep()
        return self.t - began

    def _go_to(self, t: float) -> None:
        """Through one part of the way, over which the force of the hand is known."""
        run, pull = self._run, self._held
        before, told = run.march.snapshot(), 0 if pull is None else len(pull.times)
        if pull is not None and self._target is None:  # let go: the force fades
            pull.tell(t, np.zeros(3))
        elif pull is not None and self._target is not None:
            pull.tell(t, force_of(pull.grip, self._target, *self._point(pull))[0])
        run.t_end = t
        if run.march.constant_step is None:
            run.chunk = t - run.march.t
        try:
            with Quiet():
                run.go()
        except SolveError as error:
            run.march.go_back(before)
            if pull is not None:
                pull.forget(told)
            self.failure = str(error)
            raise
        if pull is not None and self._target is None:
            self._held = None
        if run.message:
            self.failure = run.message
            raise SolveError(run.message, time=self.t)

    def _keep(self) -> None:
        """Record the present state, and no more than fits."""
        run = self._run
        now = run.march.present()
        if not run.kept or run.kept[-1][-1, 0] < now[0, 0]:
            run.kept.append(now.copy())
        if sum(rows.size for rows in run.kept[-1:]) * len(run.kept) > MOST_NUMBERS:
            rows = np.concatenate(run.kept)
            left_out = alone(rows[:, 0]) & (np.arange(len(rows)) % 2 == 1)
            left_out[[0, -1]] = False
            run.kept, run.since = [row[None] for row in rows[~left_out]], 0

    def _point(self, pull: Pull) -> tuple[np.ndarray, np.ndarray]:
        """Place [m] and velocity [m/s] of the point that is held, in the world."""
        march = self._run.march
        R, p, w, v = march.body_state(march.present(), pull.grip.body)
        arm = R @ pull.grip.p_B
        return p + arm, v + np.cross(w, arm)

    # --- the hand ---------------------------------------------------------------------------------------------------

    def grab(self, body: str, point: Any = (0.0, 0.0, 0.0), *, strength: float = 1.0) -> None:
        """Hold a point [m] of a body, in its axes. strength: 1 pulls as hard as it takes to move the body alone; more moves what hangs
        on it. InputError for the ground and an unknown body."""
        held = grip(self.system, body, point, strength, self._length)
        saved = self._save(f"grab {held.body}")
        self._let_go_at_once()
        pull = Pull(self._free_name(), held, math.nextafter(self.t, math.inf))
        self._pulls.append(pull)
        self._held = pull
        self._target = self._point(pull)[0]
        try:
            self._go_on_with_hands()
        except NexDynError:
            self._restore(saved)
            raise
        self._undone.append(saved)
        self._note({"grab": held.body, "point": held.p_B.tolist(), "strength": float(strength)})

    def pull(self, target: Any) -> None:
        """The hand is now there, (3,) [m] in the world."""
        x = np.asarray(target, dtype=float)
        if x.shape != (3,) or not np.isfinite(x).all():
            raise InputError(f"target is {target!r}; three finite numbers [m] in the world are needed")
        if self._held is None or self._target is None:
            raise InputError("the hand holds nothing; grab a body first")
        self._target = x
        self._note({"pull": x.tolist()})

    def release(self) -> None:
        """Let go."""
        if self._held is not None and self._target is not None:
            self._target = None
            self._note({"release": True})

    def _let_go_at_once(self) -> None:
        """Before the system changes, a pull that still fades is over."""
        if self._held is not None:
            self._held.tell(math.nextafter(max(self.t, self._held.times[-1]), math.inf), np.zeros(3))
        self._held = self._target = None

    def _free_name(self) -> str:
        taken = {*self._first.forces, *self._first.contacts, *(pull.name for pull in self._pulls)}
        return next(name for k in range(1, len(taken) + 2) if (name := f"hand {k}") not in taken)

    def _with_hands(self, system: System) -> System:
        """A system with the forces of the hand; a force of nothing where it has none, so that one kernel serves both."""
        idle = AppliedForce(self._free_name(), next(iter(system.bodies)))
        return _plus(system, [pull.acting() for pull in self._pulls] or [idle])

    def _changed(self, system: System) -> System:
        for event in self._run.happened:
            if change := event.get("change"):
                system = changed_by(system, change)
        return system

    def _go_on_with_hands(self) -> None:
        """Go on from the present state with the forces of the hand as they are now."""
        run = self._run
        old = run.march
        with Quiet():
            observed, first = old.observed(old.present()), self._with_hands(self._first)
            march = old.anew(self._changed(first), math.nextafter(self.t, math.inf), observed, None, None)
            march.go_on_from(old)
        run.march = march
        run.let_stops_act()
        run.g, run.at = run.signals(march.present()), float(march.t)

    # --- changes ----------------------------------------------------------------------------------------------------

    def change(self, changes: Mapping[str, Any]) -> None:
        """Go on with other parameters, attributes or gravity, as `System.with_parameters` takes them. Loops are closed anew; what cannot be
        closed is refused, and nothing is changed."""
        self._replace("change", changes, {"change": dict(changes)}, parameters=changes)

    def switch(self, name: str, on: bool) -> None:
        """Switch a force, a contact, a clamp, or an event ("event:NAME") off or on."""
        switched(self.system, name)
        names = {name}
        self._replace(
            f"switch {name}",
            {},
            {"switch": name, "on": bool(on)},
            off=set() if on else names,
            on=names if on else set(),
        )

    def put(self, position: Mapping[str, Any], velocity: Mapping[str, Any] | None = None) -> None:
        """Put joints elsewhere: coordinates [rad, m] by name, and velocities; where none are given, they are at rest if the constraints
        let them. In loops the other joints follow; what cannot be closed is refused, and nothing is moved."""
        at = {name: np.atleast_1d(np.asarray(x, dtype=float)) for name, x in position.items()}
        v = {name: np.atleast_1d(np.asarray(x, dtype=float)) for name, x in (velocity or {}).items()}
        for name in (*at, *v):
            self.system.joint(name)
            if not all(np.isfinite(x[name]).all() for x in (at, v) if name in x):
                raise InputError(f"a coordinate or velocity of joint {name!r} is not finite")
        told = {
            "put": {n: x.tolist() for n, x in at.items()},
            "velocity": velocity and {n: x.tolist() for n, x in v.items()},
        }
        if velocity is None:
            rest = {name: np.zeros(self.system.joint(name).nv) for name in at}
            with suppress(AssemblyError):  # a driver, or a loop, may ask for another velocity
                self._replace("put", at, told, position=at, velocity=rest)
                return
        self._replace("put", at, told, position=at, velocity=v)

    def _replace(
        self, what: str, of: Mapping[str, Any], told: dict[str, Any], *, parameters: Mapping[str, Any] | None = None,
        off: Set[str] = frozenset(), on: Set[str] = frozenset(), position: Any = None, velocity: Any = None,
    ) -> None:  # fmt: skip
        name = " ".join([what, *of])
        saved = self._save(name)
        run = self._run
        try:
            with Quiet():
                run.happened.append({"time": self.t, "name": name})
                run.message = ""
                run.replace(position, velocity, parameters or {}, off, on)
        except NexDynError:
            self._restore(saved)
            raise
        self.failure = ""
        together = bool(self._undone) and self._undone[-1].what == name and self.t - self._last < TOGETHER
        if not together:
            self._undone.append(saved)
        self._last = self.t
        self._note(told)

    _last = -math.inf
    """When something was changed last [s]."""

    def restart(self) -> None:
        """Back to the start, with parameters and switches as they are now."""
        saved = self._save("restart")
        try:
            self._begin(self._changed(self._first))
        except NexDynError:
            self._restore(saved)
            raise
        self._undone.append(saved)
        self._note({"restart": True})

    def undo(self) -> str:
        """Take back the last grab, change or restart: the state is that before it. Returns what it was. InputError where there is none."""
        if not self._undone:
            raise InputError("nothing has been done that could be taken back")
        saved = self._undone.pop()
        self._restore(saved)
        self._note({"undo": saved.what})
        return saved.what

    def _save(self, what: str) -> _Saved:
        del self._undone[: len(self._undone) - MOST_UNDONE]
        run = copy.copy(self._run)
        run.kept, run.happened = list(run.kept), [dict(one) for one in run.happened]
        run.watched = [copy.copy(one) for one in run.watched]
        pulls = [(pull, len(pull.times)) for pull in self._pulls]
        return _Saved(
            what, self.t, run, run.march.snapshot(), self._first, pulls, self._held, self._target, self.failure
        )

    def _restore(self, saved: _Saved) -> None:
        self._run, self._first = saved.run, saved.first
        saved.run.march.go_back(saved.snapshot)
        self._pulls = [pull for pull, _ in saved.pulls]
        for pull, count in saved.pulls:
            pull.forget(count)
        self._held, self._target, self.failure = saved.held, saved.target, saved.failure

    # --- again ------------------------------------------------------------------------------------------------------

    def _note(self, action: dict[str, Any]) -> None:
        self.log.append(action)

    def _note_go(self, amount: float) -> None:
        if self.log and "go" in self.log[-1]:
            self.log[-1]["go"].append(amount)
        else:
            self.log.append({"go": [amount]})

    def _do(self, action: Mapping[str, Any]) -> None:
        """One action of a log. What has failed then fails again, and is passed over."""
        what = next(iter(action), "")
        if what == "go":
            for amount in action["go"]:
                try:
                    self._advance(float(amount))
                except SolveError:
                    continue
        elif what == "grab":
            self.grab(action["grab"], action["point"], strength=action["strength"])
        elif what == "pull":
            self.pull(action["pull"])
        elif what == "release":
            self.release()
        elif what == "change":
            self.change(action["change"])
        elif what == "switch":
            self.switch(action["switch"], action["on"])
        elif what == "put":
            self.put(action["put"], action["velocity"])
        elif what == "restart":
            self.restart()
        elif what == "undo":
            self.undo()
        else:
            raise unknown("action", what, ACTIONS)

    @classmethod
    def replay(
        cls, system: System, log: Sequence[Mapping[str, Any]], method: Method | str | None = None, **options: Any
    ) -> Session:
        """A session in which the same is done again. method, options: as the first session had them."""
        session = cls(system, method, **options)
        for k, action in enumerate(log):
            try:
                session._do(action)
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(
                    f"entry {k} of the log, {dict(action)!r}, is not what a session wrote: {error}"
                ) from error
        return session


def _plus(system: System, forces: Sequence[AppliedForce]) -> System:
    """A system with further forces."""
    found = system.with_parameters({})
    for force in forces:
        found.add_force(force)
    return found


class Quiet(warnings.catch_warnings):
    """Without warnings: what is said of a run was said of the system before."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore", NexDynWarning)

"""A system in motion under a hand: it goes on by moments, is pulled, changed, put elsewhere, taken back and begun anew.

    session = nx.Session(system)
    session.grab("link2", (0.5, 0, 0))        a point of a body, in its axes
    session.pull((1, 0, 2))                   where the hand is, in the world
    session.advance(0.5)                      so many seconds of the system's time
    session.release()
    session.change({"gravity": (0, 0, 0)})    parameters, attributes, gravity: as `System.with_parameters`
    session.undo()
    nx.Session.replay(system, session.log)    the same again, to the last bit

Forces of the hand are part of the description: `result()` is of a system that has each pull as an applied force, a table over time, and
whose changes are events. `log` is what was done, as plain data: two sessions of one system with one log are equal bit for bit, for the
motion goes on by the same steps, and the hand (``hand``) acts by times of the system, not of the machine.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from nexdyn.absolute.model.model import absolute_model
from nexdyn.assembly.assemble import mechanism_length
from nexdyn.assembly.report import AssemblyReport, WithReport
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import AssemblyError, InputError, NexDynError, SolveError, unknown
from nexdyn.forces.applied import AppliedForce
from nexdyn.integrate.methods import HHT, Loops, Method
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.results.samples import alone
from nexdyn.results.segments import changed_by, last_system, merged, switched
from nexdyn.simulation.choice import default_method, simulation_of
from nexdyn.simulation.continuing import last_sample
from nexdyn.simulation.events import Run
from nexdyn.simulation.hand import Pull, force_of, grip, vector
from nexdyn.simulation.march import Snapshot
from nexdyn.simulation.quiet import quiet
from nexdyn.simulation.users import UserStates
from nexdyn.spatial.rotations import cross_product
from nexdyn.statics.inverse_kinematics import Posture

RTOL = 1e-4
"""Of HHT, where no method is given: it runs five times as fast as at its own default."""
MOST_UNDONE = 64
"""Actions that can be taken back."""
TOGETHER = 0.5
"""Changes of the same within this time [s] are taken back as one: those of a slider."""
MOST_NUMBERS = 2**25
"""Numbers that are recorded: beyond, every second state is left out."""
MOST_AT_ONCE = 1e9
"""Steps, or seconds, that one `advance` may ask for."""
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
    """A session at some time, to go back to."""

    what: str
    run: Run
    snapshot: Snapshot
    first: System
    pulls: list[tuple[Pull, int]]
    held: Pull | None
    target: np.ndarray | None
    failure: str
    before: list[str]


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
        initial: Result | AssemblyReport | WithReport | Posture | None = None,
        q0: Any = None,
        v0: Any = None,
        dynamics: Literal["aba", "crba", "cfa"] = "aba",
        loops: Loops | None = None,
        on_gap: Literal["warn", "error", "accept"] = "warn",
    ) -> None:
        if not system.bodies:
            raise InputError(f"system {system.name!r} has no bodies; there is nothing to move")
        if method is None and isinstance(chosen := default_method(system, loops, dynamics), HHT):
            method = replace(chosen, rtol=RTOL)
        self._options: dict[str, Any] = {
            "method": method, "initial": initial, "q0": q0, "v0": v0, "dynamics": dynamics, "loops": loops,
            "on_gap": on_gap,
        }  # fmt: skip
        if isinstance(initial, AssemblyReport | WithReport | Posture):  # of this system, which has no hand
            with quiet():
                self._options["initial"] = simulation_of(system, **self._options).latest()
        elif isinstance(initial, Result):
            system = last_system(system, initial.recording)
        self.log: list[dict[str, Any]] = []
        """What was done, as JSON has it."""
        self._undone: list[_Saved] = []
        self._changed_at = -math.inf
        self._users = UserStates(system).told()
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
        self._before: list[str] = []
        with quiet():
            march = simulation_of(self._with_hand(first), **self._options)
            self._run = Run(march, math.inf, np.zeros(0), True, None)
        self._prepare(self._run)
        self._length = mechanism_length(absolute_model(first))

    @staticmethod
    def _prepare(run: Run) -> None:
        run.every, run.by_clock = 0, False  # states are kept, and constraints looked at, where a moment ends

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
    def first(self) -> System:
        """The system at the start, the forces of the hand left out."""
        return self._first

    @property
    def method(self) -> Method:
        """The method by which it moves."""
        found: Method = self._run.march.method
        return found

    @property
    def how(self) -> dict[str, Any]:
        """Its method and other arguments, as JSON has them."""
        return self._run.march.how()

    @property
    def shortest(self) -> float:
        """The shortest time that it can advance by [s]: the step of a method that has one, else 0."""
        return self._run.march.constant_step or 0.0

    @property
    def can_undo(self) -> str:
        """What `undo` would take back, in a word; "" where there is nothing."""
        return self._undone[-1].what if self._undone else ""

    @property
    def changed(self) -> list[str]:
        """The parameters and attributes that have been changed, as `change` takes them."""
        changes = (event.get("change", {}).get("parameters", {}) for event in self._run.happened)
        return list(dict.fromkeys([*self._before, *(path for change in changes for path in change)]))

    def latest(self) -> Result:
        """The present state alone."""
        return self._run.march.latest()

    def result(self, last: int | None = None) -> Result:
        """The motion since the start, of a system that has all pulls as applied forces. last: the last states alone, 1 or more."""
        if last is not None and (isinstance(last, bool) or not isinstance(last, int) or last < 1):
            raise InputError(f"last is {last!r}; a number of states, 1 or more, is needed")
        run = self._run
        rows, now = run.kept[-last:] if last else list(run.kept), run.march.present()
        if not rows or rows[-1][-1, 0] < now[0, 0]:
            rows.append(now)
        status = "failed" if self.failure else "finished"
        run.march.watched = run.stand()
        first = self._with_hand(self._first)
        found = run.march.so_far(first, np.concatenate(rows), run.happened, status, self.failure)
        return Result(_plus(self._first, [pull.recorded() for pull in self._pulls]), found.recording)

    @property
    def hand(self) -> Handling | None:
        """What the hand does now; None where it holds nothing."""
        pull, target = self._held, self._target
        if pull is None:
            return None
        p, v = self._point(pull)
        target = p if target is None else target
        return Handling(pull.grip.body, p, target, *force_of(pull.grip, target, p, v), pull.grip.most)

    # --- motion -----------------------------------------------------------------------------------------------------

    def advance(self, seconds: float) -> float:
        """Go on for about so long [s], by whole steps of the method; returns how long it was, 0 where it is less than half a step.

        SolveError where the method fails, or an event has ended the run: the state is then that before the failing steps.
        """
        dt = self._run.march.constant_step
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0.0 <= seconds < math.inf:
            raise InputError(f"seconds is {seconds!r}; a time of 0 s or more is needed")
        return self._advance(float(seconds) if dt is None else float(math.floor(seconds / dt + 0.5)))

    def _advance(self, amount: float) -> float:
        """By so many seconds, or by so many steps where those are constant."""
        if not 0.0 <= amount <= MOST_AT_ONCE:
            raise InputError(
                f"{amount:g} is too much at once; advance by less than {MOST_AT_ONCE:.0e} steps or seconds"
            )
        if self.failure:
            raise SolveError(self.failure, time=self.t)
        began, dt = self.t, self._run.march.constant_step
        apart = math.inf if self._held is None else self._held.grip.apart
        if amount == 0.0:
            return 0.0
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
        """Through one part of the way, over which the force of the hand is known; what fails leaves the state before it."""
        if not t > self.t:
            return
        saved = self._saved("")
        try:
            self._go_on_to(t)
        except BaseException as error:
            self._restore(saved)
            if not isinstance(error, NexDynError):
                raise
            self.failure = str(error)
            raise (error if isinstance(error, SolveError) else SolveError(str(error), time=self.t)) from error
        if self._run.message:
            self.failure = self._run.message
            raise SolveError(self.failure, time=self.t)

    def _go_on_to(self, t: float) -> None:
        run, pull, fades = self._run, self._held, self._target is None
        told = 0 if pull is None else len(pull.times)
        if pull is not None:
            target = self._target
            pull.tell(t, np.zeros(3) if target is None else force_of(pull.grip, target, *self._point(pull))[0])
        run.t_end = t
        if run.march.constant_step is None:
            run.chunk = t - run.march.t
        run.go()
        run.march.look_at_constraints(run.march.present())
        if pull is not None and run.march.t < t:  # an event has ended the run on the way
            force = pull.at(run.march.t)
            pull.forget(told)
            pull.tell(run.march.t, force)
        elif fades:
            self._held = None

    def _keep(self) -> None:
        """Record the present state, and no more than fits."""
        run = self._run
        now = run.march.present()
        if not run.kept or run.kept[-1][-1, 0] < now[0, 0]:
            run.kept.append(now.copy())
        if now.size * len(run.kept) > MOST_NUMBERS:
            rows = np.concatenate(run.kept)
            left_out = alone(rows[:, 0]) & (np.arange(len(rows)) % 2 == 1)
            left_out[[0, -1]] = False
            run.kept, run.since = [row[None] for row in rows[~left_out]], 0

    def _point(self, pull: Pull) -> tuple[np.ndarray, np.ndarray]:
        """Place [m] and velocity [m/s] of the point that is held, in the world."""
        march = self._run.march
        R, p, w, v = march.body_state(march.present(), pull.grip.body)
        arm = R @ pull.grip.p_B
        return p + arm, v + cross_product(w, arm)

    # --- the hand ---------------------------------------------------------------------------------------------------

    def grab(self, body: str, point: Any = (0.0, 0.0, 0.0), *, strength: float = 1.0) -> None:
        """Hold a point [m] of a body, in its axes. strength: 1 pulls as hard as it takes to move the body alone; more moves what hangs
        on it. InputError for the ground and an unknown body."""
        held = grip(self.system, body, point, strength, self._length, self.shortest)
        saved = self._saved(f"grab {held.body}")
        try:
            if self._held is not None:  # what still fades is over
                self._held.tell(math.nextafter(max(self.t, self._held.times[-1]), math.inf), np.zeros(3))
            pull = Pull(self._free_name(), held, math.nextafter(self.t, math.inf))
            self._pulls.append(pull)
            self._held, self._target = pull, self._point(pull)[0]
            self._go_on_with_hand()
        except BaseException:
            self._restore(saved)
            raise
        self._remember(saved)
        self._note({"grab": held.body, "point": held.p_B.tolist(), "strength": float(strength)})

    def pull(self, target: Any) -> None:
        """The hand is now there, (3,) [m] in the world."""
        x = vector(target, "target, in the world,")
        if self._held is None or self._target is None:
            raise InputError("the hand holds nothing; grab a body first")
        self._target = x
        self._note({"pull": x.tolist()})

    def release(self) -> None:
        """Let go: the force fades within the next moment."""
        if self._held is not None and self._target is not None:
            self._target = None
            self._note({"release": True})

    def _free_name(self) -> str:
        taken = {
            *self._first.forces,
            *self._first.contacts,
            *self._first.gravities,
            *(pull.name for pull in self._pulls),
        }
        return next(name for k in range(1, len(taken) + 2) if (name := f"hand {k}") not in taken)

    def _with_hand(self, system: System) -> System:
        """A system with the force of the hand; a force of nothing where it holds nothing, so that one kernel serves both."""
        held = self._held
        idle = AppliedForce(self._free_name(), next(iter(system.bodies)))
        return _plus(system, [idle if held is None else held.acting()])

    def _changed(self, system: System) -> System:
        change = merged(event.get("change") or {} for event in self._run.happened)
        return changed_by(system, change) if change else system

    def _go_on_with_hand(self) -> None:
        """Go on from the present state with the force of the hand as it is now."""
        run = self._run
        old = run.march
        with quiet():
            observed, first = old.observed(old.present()), self._with_hand(self._first)
            march = old.anew(self._changed(first), math.nextafter(self.t, math.inf), observed, None, None)
            march.go_on_from(old)
        run.march = march
        run.set_active_stops()
        run.g, run.at = run.signals(march.present()), float(march.t)

    # --- changes ----------------------------------------------------------------------------------------------------

    def change(self, changes: Mapping[str, Any]) -> None:
        """Go on with other parameters, attributes or gravity, as `System.with_parameters` takes them. Loops are closed anew; what cannot be
        closed is refused, and nothing is changed."""
        self.system.with_parameters(changes)  # which has no force of the hand
        self._replace("change", changes, {"change": dict(changes)}, parameters=changes)

    def switch(self, name: str, on: bool) -> None:
        """Switch a force, a contact, a clamp, or an event ("event:NAME") off or on."""
        switched(self.system, name)
        names = {name}
        told = {"switch": name, "on": bool(on)}
        self._replace(f"switch {name}", {}, told, off=set() if on else names, on=names if on else set())

    def put(self, position: Mapping[str, Any], velocity: Mapping[str, Any] | None = None) -> None:
        """Put joints elsewhere: coordinates [rad, m] by name, and velocities; where none are given, they are at rest if the constraints
        let them. In loops the other joints follow; what cannot be closed is refused, and nothing is moved."""
        system = self.system
        at, v = self._coordinates(position, system), self._coordinates(velocity or {}, system)
        told = {
            "put": {n: x.tolist() for n, x in at.items()},
            "velocity": velocity and {n: x.tolist() for n, x in v.items()},
        }
        if velocity is None:
            rest = {name: np.zeros(system.joint(name).nv) for name in at}
            with suppress(AssemblyError):  # a driver, or a loop, may ask for another velocity
                self._replace("put", at, told, position=at, velocity=rest)
                return
        self._replace("put", at, told, position=at, velocity=v)

    @staticmethod
    def _coordinates(given: Mapping[str, Any], system: System) -> dict[str, np.ndarray]:
        found = {}
        for name, x in given.items():
            system.joint(name)
            try:
                found[name] = np.atleast_1d(np.asarray(x, dtype=float))
            except (TypeError, ValueError):
                raise InputError(f"joint {name!r} is to be at {x!r}; numbers [rad, m] are needed") from None
            if not np.isfinite(found[name]).all():
                raise InputError(f"a coordinate or velocity of joint {name!r} is not finite")
        return found

    def _replace(
        self, what: str, of: Mapping[str, Any], told: dict[str, Any], *, parameters: Mapping[str, Any] | None = None,
        off: Set[str] = frozenset(), on: Set[str] = frozenset(), position: Any = None, velocity: Any = None,
    ) -> None:  # fmt: skip
        name = " ".join([what, *of])
        saved = self._saved(name)
        run = self._run
        try:
            with quiet():
                run.happened.append({"time": self.t, "name": name})
                run.message = ""
                run.replace(position, velocity, parameters or {}, off, on)
        except BaseException:
            self._restore(saved)
            raise
        self.failure = ""
        together = bool(self._undone) and self._undone[-1].what == name and self.t - self._changed_at < TOGETHER
        if not together:
            self._remember(saved)
        self._changed_at = self.t
        self._note(told)

    def restart(self) -> None:
        """Back to the start, with parameters and switches as they are now."""
        saved, options = self._saved("restart"), self._options
        changed = self.changed
        try:
            if isinstance(options["initial"], Result):  # what its events had changed is in the system, as changed since
                self._options = options | {"initial": last_sample(options["initial"])}
            UserStates(self._first).load(self._users)
            self._begin(self._changed(self._first))
        except BaseException:
            self._options = options
            self._restore(saved)
            raise
        self._before = changed
        self._remember(saved)
        self._note({"restart": True})

    def undo(self) -> str:
        """Take back the last grab, change or restart: the state is that before it. Returns what it was. InputError where there is none."""
        if not self._undone:
            raise InputError("nothing has been done that could be taken back")
        saved = self._undone.pop()
        self._restore(saved)
        self._changed_at = -math.inf
        self._note({"undo": saved.what})
        return saved.what

    def _saved(self, what: str) -> _Saved:
        run = copy.copy(self._run)
        run.kept, run.happened = list(run.kept), [dict(one) for one in run.happened]
        run.watched = [copy.copy(one) for one in run.watched]
        pulls = [(pull, len(pull.times)) for pull in self._pulls]
        return _Saved(
            what, run, run.march.snapshot(), self._first, pulls, self._held, self._target, self.failure, self._before
        )

    def _remember(self, saved: _Saved) -> None:
        self._undone = [*self._undone, saved][-MOST_UNDONE:]

    def _restore(self, saved: _Saved) -> None:
        self._run, self._first = saved.run, saved.first
        saved.run.march.go_back(saved.snapshot)
        self._pulls = [pull for pull, _ in saved.pulls]
        for pull, count in saved.pulls:
            pull.forget(count)
        self._held, self._target = saved.held, saved.target
        self.failure, self._before = saved.failure, saved.before
        self._run.set_active_stops()

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
                with suppress(SolveError):
                    self._advance(float(amount))
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
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
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

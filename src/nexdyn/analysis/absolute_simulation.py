"""A mechanism in motion in absolute coordinates: starts from `assemble`, marches compiled, records bodies.

The march moves the centres of mass; what is recorded are the bodies' origins:

    p = p_C − R c,   v = v_C − R (ω × c),   a = a_C − R (α × c + ω × (ω × c))
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nexdyn.absolute import hht, index1
from nexdyn.absolute.elements import acting, acting_joints, sample_here, start_coordinates, stiff_pairs
from nexdyn.absolute.force_states import states_begin
from nexdyn.absolute.model import AbsoluteModel
from nexdyn.absolute.motion import accelerations
from nexdyn.absolute.motion_tables import centres, motion_tables, new_state
from nexdyn.absolute.observe import BodyMotion
from nexdyn.absolute.outside import Outside
from nexdyn.absolute.redundancy import find_redundancy
from nexdyn.absolute.turns import UNCOUNTED
from nexdyn.analysis.absolute_loads import generalized_forces
from nexdyn.analysis.assemble import assemble, mechanism_length
from nexdyn.analysis.bristles import sticking_advice
from nexdyn.analysis.events import Snapshot, has_events, run_with_events
from nexdyn.analysis.force_states import described_states, start_states
from nexdyn.analysis.interrupt import interrupts_wait
from nexdyn.analysis.report import AssemblyReport
from nexdyn.analysis.span import checked_end, checked_times
from nexdyn.constraints.tables import LEFT
from nexdyn.errors import InputError, NexDynWarning, SolveError
from nexdyn.forces.states import next_sample
from nexdyn.integrate.methods import HHT
from nexdyn.integrate.problem import FORCE_FAILED
from nexdyn.model.callbacks import failure
from nexdyn.model.system import System
from nexdyn.model.time_kernels import time_callbacks
from nexdyn.results.bodies import BodyRecording
from nexdyn.results.loops import LoopRecording
from nexdyn.results.result import Result
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.tree.tree import Tree

Progress = Callable[[float, float], None]
SLICE = 0.05
"""Seconds that the compiled loop runs between two looks of Python."""
ROWS = 1024
"""Most output rows that one crossing fills."""
MOST_STEPS = 1e15
SHORT = 1e-3
"""Part of the step below which accelerations of HHT are rounding, divided by h²: they are found anew from the state."""


class BodySimulation:
    """A mechanism in motion in absolute coordinates. Arguments as for `nx.simulate`; `report` is that of its assembly."""

    _grid: Snapshot | None = None
    """Where the steps of dt go on, while the state is a shorter step aside of them."""

    def __init__(
        self,
        system: System,
        method: HHT,
        *,
        initial: Result | AssemblyReport | None = None,
        q0: Any = None,
        v0: Any = None,
        output_every: int = 1,
    ) -> None:
        if not isinstance(output_every, int) or isinstance(output_every, bool) or output_every < 1:
            raise InputError(f"output_every is {output_every!r}; a whole number of steps, 1 or more, is needed")
        self.system, self.method, self.output_every = system, method, output_every
        self.t = 0.0
        self.report, state = self._start(initial, q0, v0)
        model = self.model = self.report.model
        self.kept = kept_rows(self.report)
        self.tables = motion_tables(model, self.kept, mechanism_length(model), stiff_pairs(model))
        self.state = new_state(self.tables, self._start_near(state[0], initial))
        self.acts = acting(model, self.tables)
        self._outside: Outside | None = None
        if isinstance(method, HHT) and method.solver != "blocks":
            self._outside = Outside(method.solver, self.tables, self.state)
            self.tables = self.tables._replace(outside=self._outside.address)
        self._callbacks = [c for driver in model.drivers for c in time_callbacks(driver.function)]
        start_coordinates(acting_joints(model), self.acts, system.values, self.state.counted)
        self._centres = centres(model)
        self._set(*state)
        self._z0 = start_states(described_states(system), initial)
        self.acts.forces.z[:] = self._z0
        self._nz = len(self._z0)
        self._width = 2 + 19 * model.nb + len(self.tables.rows) + len(self.state.counted) + len(self._z0)
        self._rows: list[np.ndarray] = []
        self._memory = hht.new_memory(self.tables, self.state)
        self._control = np.zeros(6)
        self._steps, self._wall = 0, 0.0
        # assemble counts springs within half a turn of their q = 0, or of their rest angle
        counted, first = self.state.counted, model.near_start
        wound = [abs(counted[k] - first[k]) for k, _ in model.wound]
        self._beyond = max(np.abs(self.acts.q).max(initial=0.0), *wound, 0.0) > math.pi
        if (len(self._z0) or self._beyond) and isinstance(method, HHT):
            s = self.state
            s.q1[:], s.v1[:] = s.q0, s.v0
            index1.place_bodies(s, 1)
            sample_here(self.tables, s, self.acts, self.t)
            self._restart(first=True)
        self._start_march()

    def _start_march(self) -> None:
        """Start the march from the state, and record it."""
        room = np.zeros((1, self._width))
        status = hht.start(self.tables, self.state, self.t, room)
        states_begin(self.acts)
        room[0, self._width - len(self._z0) :] = self.acts.forces.z
        if status != hht.OK:
            self._fail(status, self.t, first=True)
        self._rows.append(room)
        self._relax()

    def set_force_states(self, z: np.ndarray) -> None:
        """Start again with states (nz,) of the forces."""
        self._grid = None
        self.acts.forces.z[:] = z
        self._restart()
        self._rows.clear()
        self._start_march()

    # --- states of forces -------------------------------------------------------------------------------------------

    def _restart(self, first: bool = False) -> None:
        """Accelerations and multipliers of the present state, in which efforts have jumped, for those to go on from."""
        s = self.state
        self._accelerate(0.0, first)
        s.d0[:], s.a0[:], s.a1[:], s.lam0[:] = s.d1, s.d1, s.d1, s.lam1
        hht.forget(self._memory)
        states_begin(self.acts)

    def _accelerate(self, step: float, first: bool = False) -> None:
        """d1, λ1 of the present motion, under forces whose states are `step` [s] on."""
        s, none = self.state, np.zeros((1, 1))
        self.acts.step[0] = step
        problem = index1.BodyProblem(
            self.tables, self.acts, s, index1.BAUMGARTE, np.zeros(2), np.zeros(0, dtype=np.int64), none, np.zeros((0, 0)),
            np.zeros((1, 2)), np.zeros(2), np.zeros(2), self.tables.length,
        )  # fmt: skip
        s.moved[:, :3] = 0.0
        status = index1.accelerate(problem, self.t)
        self.acts.step[0] = 0.0
        if status != hht.OK:
            self._fail(status if status >= FORCE_FAILED else hht.SINGULAR, self.t, first=first)

    def _relax(self) -> None:
        """The march starts from accelerations under states that are a step on. Newmark's formula holds those of the first instant for
        half a step, and a bristle or lag that is far faster would drive the motion off; what slow ones change is of order h²."""
        s, z, method, control = self.state, self.acts.forces.z, self.method, self._control
        if not isinstance(method, HHT) or not self.acts.forces.rate.any():
            return
        if method.dt is None and control[1] == 0.0:
            # the displacement ½ a h² of the first step is a part of what the tolerance allows
            a = max(np.abs(s.d0[1:, :3]).max(), np.abs(s.d0[1:, 3:6]).max() / self.tables.length, 1e-3)
            control[1] = min(method.dt_max, 0.1 * (method.rtol / a) ** 0.5)
        kept = [(x, x.copy()) for x in (z, s.d1, s.lam1)]
        self._accelerate(method.dt or float(control[1]))
        s.d0[:], s.a0[:], s.a1[:], s.lam0[:] = s.d1, s.d1, s.d1, s.lam1
        for x, was in kept:
            x[:] = was

    def _take_samples(self) -> None:
        """Take the samples that are due; the state stands for what holds after them."""
        if sample_here(self.tables, self.state, self.acts, self.t) > 0:
            self._restart()
            self._relax()
            if self._rows and self._rows[-1][-1, 0] >= self.t:
                self._rows[-1] = self._rows[-1][:-1]
                if not len(self._rows[-1]):
                    self._rows.pop()
                self._sample()

    # --- the start --------------------------------------------------------------------------------------------------

    def _start(
        self, initial: Any, q0: Any, v0: Any
    ) -> tuple[AssemblyReport, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """The report of the assembly, and q, v, a (nb + 1, …), λ (nc,) to start from."""
        if isinstance(initial, AssemblyReport):
            if initial.model.system is not self.system:
                raise InputError("initial is the report of another system")
            report = initial
            self.t = report.t
        elif isinstance(initial, Result):
            recorded = initial.recording
            if isinstance(recorded, BodyRecording):
                return self._continued(recorded)
            self.t = float(recorded.t[-1])
            if isinstance(recorded, LoopRecording):
                return self._from_spanning_tree(initial)
            places = initial.tree.coordinates
            q_given = {n: recorded.q[-1, p.q] for n, p in places.items() if n in self.system.joints}
            v_given = {n: recorded.v[-1, p.v] for n, p in places.items() if n in self.system.joints}
            report = assemble(self.system, t=self.t, q0=q_given, v0=v_given)
        elif initial is None:
            report = assemble(self.system, q0=self._named(q0, "q0"), v0=self._named(v0, "v0"))
        else:
            raise InputError(f"initial is {initial!r}; a Result, or the report of nx.assemble, is needed")
        return report, (report.q, report.v, report.a, report.multipliers)

    def _start_near(self, q: np.ndarray, initial: Any) -> np.ndarray:
        """The angles at the start (nk,), counted as in the run that is gone on from."""
        model = self.report.model
        if isinstance(initial, Result):
            recorded = initial.recording
            if isinstance(recorded, BodyRecording) and recorded.followed.shape[1:] == model.near_start.shape:
                return model.counted(q, recorded.followed[-1])
            known = set(initial.system.joints)
            turning = {name for name, equation in model.followed if equation in ("Angle", "Tilt") and name in known}
            model = model.started({name: initial.observed.of_joint("joint_position", name)[-1] for name in turning})
        return model.counted(q, model.near(q, self.t))

    def _continued(self, recorded: BodyRecording) -> Any:
        self.t = float(recorded.t[-1])
        report = assemble(self.system)
        if recorded.q.shape[1] != report.model.nb or recorded.multipliers.shape[1] != report.model.nc:
            raise InputError(
                f"initial has {recorded.q.shape[1]} bodies and {recorded.multipliers.shape[1]} constraint rows; "
                f"{self.system.name!r} has {report.model.nb} and {report.model.nc}"
            )
        q, v, a = report.q.copy(), report.v.copy(), report.a.copy()
        q[1:], v[1:], a[1:] = recorded.q[-1], recorded.v[-1], recorded.a[-1]
        return report, (q, v, a, recorded.multipliers[-1])

    def _from_spanning_tree(self, initial: Result) -> Any:
        """The last state of a run on a spanning tree, with accelerations and multipliers of its own."""
        report = assemble(self.system, t=self.t)
        model, seen = report.model, initial.observed
        place = [model.body_index[name] for name in seen.labels.dims["body"]]
        names = ("orientation", "position", "angular_velocity", "velocity")
        found = {name: x[-1] for name, x in seen.collect(names).items()}
        q, v = report.q.copy(), np.zeros_like(report.v)
        q[place, :4], q[place, 4:] = found["orientation"], found["position"]
        R = rotation_matrix(q[place, :4])
        v[place, :3], v[place, 3:] = np.einsum("nji,nj->ni", R, found["angular_velocity"]), found["velocity"]
        kept = find_redundancy(model, q, self.t).kept
        Q = generalized_forces(model, q, v, self.t)
        a, lam, _ = accelerations(model, q, Q, kept, model.gamma(q, v, self.t), t=self.t)
        return report, (q, v, a, lam)

    def _named(self, given: Any, what: str) -> Mapping[str, Any] | None:
        """Coordinates or velocities by joint: a mapping as it is, an array in the order of the tree."""
        if given is None or isinstance(given, Mapping):
            return given
        tree = Tree(self.system)
        x = np.asarray(given, dtype=float)
        n = tree.nq if what == "q0" else tree.nv
        if x.shape != (n,):
            raise InputError(f"{what} has shape {x.shape}; ({n},) is needed, in the order of Tree.joint_names")
        return {
            name: x[place.q if what == "q0" else place.v]
            for name, place in tree.coordinates.items()
            if name in self.system.joints
        }

    def _set(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, lam: np.ndarray) -> None:
        """The state from origins q (nb + 1, 7), v, a (nb + 1, 6) and multipliers of all rows."""
        s, c, R = self.state, self._centres, rotation_matrix(q[:, :4])
        w, w_dot = v[:, :3], a[:, :3]
        s.q0[:, :7] = q
        s.q0[:, 4:7] += np.einsum("nij,nj->ni", R, c)
        s.v0[:, :6], s.d0[:, :6] = v, a
        s.v0[:, 3:6] += np.einsum("nij,nj->ni", R, np.cross(w, c))
        s.d0[:, 3:6] += np.einsum("nij,nj->ni", R, np.cross(w_dot, c) + np.cross(w, np.cross(w, c)))
        s.lam0[self.tables.rows[:, 0], self.tables.rows[:, 1]] = lam[self.kept]

    # --- motion -----------------------------------------------------------------------------------------------------

    def run(self, t_end: float, *, output_times: Any = None, progress: Progress | None = None) -> Result:
        """Go on until `t_end` [s] and return all that was recorded. Arguments and errors as for `nx.simulate`."""
        t_end = checked_end(t_end, self.t)
        rows = list(self._rows)
        times = checked_times(output_times, self.t, t_end)
        if len(times) and times[0] > self.t:
            self._rows.clear()  # the start is not among them
        times = times[times > self.t]
        if has_events(self.system):
            keep_start, self._rows = bool(self._rows), rows
            return run_with_events(self, t_end, times, keep_start, progress)
        started = time.perf_counter()
        try:
            with interrupts_wait() as check:

                def look() -> None:
                    if progress is not None:
                        progress(self.t, t_end)
                    check()

                if self.method.dt is not None:
                    self._back_to_grid()
                    self._run_fixed(self.method.dt, t_end, times, look)
                else:
                    self._run_adaptive(t_end, times, look)
                self.t = t_end
                look()
        except KeyboardInterrupt:
            self._wall += time.perf_counter() - started
            self._sample()
            message = f"interrupted at t = {self.t:g} s of {t_end:g} s"
            warnings.warn(f"{message}; the result holds what was reached", NexDynWarning, stacklevel=3)
            return self.result("interrupted", message)
        self._sample()
        self._wall += time.perf_counter() - started
        return self.result()

    def result(self, status: str = "finished", message: str = "") -> Result:
        """What was recorded so far."""
        return self._result(np.concatenate(self._rows), status, message)

    def latest(self) -> Result:
        """The last recorded state alone, also while `run` goes on: for what looks at it from `progress`."""
        return self._result(self._rows[-1][-1:], "finished", "")

    def _result(self, out: np.ndarray, status: str, message: str) -> Result:
        nb = self.model.nb
        states = out[:, 2 : 2 + 19 * nb].reshape(len(out), nb, 19)
        q, v, a = states[..., :7].copy(), states[..., 7:13].copy(), states[..., 13:].copy()
        c, R, w, w_dot = self._centres[1:], rotation_matrix(q[..., :4]), v[..., :3], a[..., :3]
        q[..., 4:] -= np.einsum("snij,nj->sni", R, c)
        v[..., 3:] -= np.einsum("snij,snj->sni", R, np.cross(w, c))
        a[..., 3:] -= np.einsum("snij,snj->sni", R, np.cross(w_dot, c) + np.cross(w, np.cross(w, c)))
        multipliers = np.zeros((len(out), self.model.nc))
        rows, places = int(self.kept.sum()), len(self.model.near_start)
        lam, followed, z = np.split(out[:, 2 + 19 * nb :], [rows, out.shape[1] - 2 - 19 * nb - self._nz], axis=1)
        multipliers[:, self.kept] = lam
        recording = BodyRecording(
            out[:, 0].copy(), q, v, a, method=repr(self.method), steps=self._steps, status=status, message=message,
            wall_time=self._wall, settings={"coordinates": "bodies", **self.effort},
            multipliers=multipliers, violation=out[:, 1].copy(), z=z.copy(), followed=followed[:, :places].copy(),
        )  # fmt: skip
        return Result(self.system, recording, tree=BodyMotion(self.system, self.model))  # type: ignore[arg-type]

    @property
    def numbers(self) -> int:
        """Numbers of a recorded state."""
        return self._width

    @property
    def effort(self) -> dict[str, int]:
        """Newton iterations, matrices factored and steps rejected so far."""
        memory = self._memory
        return {
            "iterations": int(memory[hht.ITERATIONS]),
            "factorisations": int(memory[hht.FACTORISATIONS]),
            "rejected": int(self._control[4]),
        }

    # --- inside -----------------------------------------------------------------------------------------------------

    def _run_fixed(self, dt: float, t_end: float, times: np.ndarray, look: Callable[[], None]) -> None:
        """Steps of dt to each of `times`, or to the end; the last before each is shorter where dt does not divide it.

        Under HHT that shorter step is for the time asked for alone, and the steps of dt go on from before it, unless a controller
        has taken a sample within, or events watch.
        """
        aside = isinstance(self.method, HHT) and not has_events(self.system)
        if not (t_end - self.t) / dt < MOST_STEPS:
            raise InputError(
                f"t_end = {t_end:g} s takes more than {MOST_STEPS:.0e} steps of dt = {dt:g} s; choose a longer dt"
            )
        for target in [*times, t_end] if len(times) else [t_end]:
            whole = math.floor((target - self.t) / dt + 1e-9)
            rest = target - self.t - whole * dt
            self._march(dt, whole, 0 if len(times) else self.output_every, look)
            if rest > 1e-9 * dt:
                self._grid = Snapshot(self) if aside and self._next_sample > target + 1e-9 * dt else None
                self._march(rest, 1, 0, look)
            self.t = float(target)
            if len(times) and target in times:
                self._sample()
            if target < t_end:
                self._back_to_grid()

    def _back_to_grid(self) -> None:
        """To the steps of dt, from the shorter one that left them for a time asked for."""
        grid, rows = self._grid, self._rows
        if grid is not None:
            grid.restore()
            self._grid, self._rows = None, rows
            if self._outside is not None:
                self._memory[hht.MATRIX] = 0.0  # its factors are those of the shorter step

    def _march(self, dt: float, steps: int, every: int, look: Callable[[], None]) -> None:
        t0, k = self.t, 0
        while k < steps:
            due = self._next_sample
            whole = steps if due == math.inf else min(steps, math.floor((due - t0) / dt + 1e-9))
            if whole > k:
                self._march_grid(t0, dt, k, whole, every, look)
                k = whole
                if due <= self.t + 1e-9 * dt:
                    self._take_samples()
                continue
            # a sample within the step divides it
            end = t0 + (k + 1) * dt
            while self.t < end - 1e-9 * dt:
                due = self._next_sample
                h = (end if due > end - 1e-9 * dt else due) - self.t
                self._march_grid(self.t, h, 0, 1, 0, look)
                if due <= self.t + 1e-9 * dt:
                    self._take_samples()
            k += 1
            self._steps -= 1
            self.t = end
            if every and k % every == 0:
                self._sample()

    def went_on(self, rows: np.ndarray, memory: np.ndarray, steps: int, t: float) -> None:
        """Take over what another march has done with a copy of the state: its rows and memory, after `steps` at t."""
        self._memory[:] = memory
        self._steps += steps
        self.t = t
        if len(rows):
            self._rows.append(rows)

    @property
    def _next_sample(self) -> float:
        return float(next_sample(self.acts.forces)) if len(self._z0) else math.inf

    def _march_grid(self, t0: float, dt: float, done: int, steps: int, every: int, look: Callable[[], None]) -> None:
        """Steps `done` … `steps` − 1 from t0."""
        room = np.empty((max(1, min(ROWS, (steps - done) // every + 2) if every else 1), self._width))
        count = 16
        while done < steps:
            count = min(count, steps - done)
            began = time.perf_counter()
            status, reached, rows = hht.march_fixed(
                self.tables,
                self.acts,
                self.state,
                t0,
                dt,
                done,
                done + count,
                every,
                self.method.alpha,
                self._memory,
                room,
            )
            took = time.perf_counter() - began
            self._steps += reached - done
            done = reached
            self.t = t0 + done * dt
            if rows:
                self._rows.append(room[:rows].copy())
            if status != hht.OK:
                self._fail(status, self.t + dt, dt)
            look()
            count = max(1, int(count * min(8.0, SLICE / max(took, 1e-6))))
        if dt < SHORT * self.method.dt:  # type: ignore[operator]
            self._restart()
            self._relax()

    def _run_adaptive(self, t_end: float, times: np.ndarray, look: Callable[[], None]) -> None:
        m, control = self.method, self._control
        room = np.empty((len(times) + 1 if len(times) else ROWS, self._width))
        control[0], control[3] = self.t, 0.0
        every = 0 if len(times) else self.output_every
        short = t_end - self.t < SHORT * control[1]
        work = 50
        while control[0] < t_end:
            began, spent, steps = time.perf_counter(), self._memory[hht.ITERATIONS], control[2]
            status, rows = hht.march_adaptive(
                self.tables, self.acts, self.state, control, m.rtol, m.dt_min, min(m.dt_max, 1e300),
                min(t_end, self._next_sample), work, every, times, m.alpha, self._memory, room,
            )  # fmt: skip
            took = time.perf_counter() - began
            self.t = float(control[0])
            self._steps += int(control[2] - steps)
            if rows:
                self._rows.append(room[:rows].copy())
            if status != hht.OK:
                self._fail(status, self.t, float(control[1]))
            if self.t >= self._next_sample and self.t < t_end:
                self._take_samples()
            look()
            work = max(10, int((self._memory[hht.ITERATIONS] - spent) * min(8.0, SLICE / max(took, 1e-6))))
        if short:
            self._restart()
            self._relax()

    @property
    def _near(self) -> np.ndarray:
        """Where angles and points on curves are (nk,)."""
        return self.state.near

    def _leave(self) -> None:
        """SolveError for a point that has left the ends of its curve or surface; the state there is recorded."""
        joint, what = self.model.beyond_ends(self.model.q, self.t, self._near)[0]
        if self._rows and abs(self._rows[-1][-1, 0] - self.t) <= 8.0 * math.ulp(
            self.t
        ):  # recorded, but for rounding of the time
            self.t = float(self._rows[-1][-1, 0])
        self._sample()
        message = f"joint {joint!r} {what}, at t = {self.t:g} s"
        raise SolveError(message, time=self.t, where=joint, result=self.result("failed", message))

    def _sample(self) -> None:
        """The present state, where it is not recorded."""
        if self._rows and not self._rows[-1][-1, 0] < self.t:
            return
        room = np.empty((1, self._width))
        hht.record(self.tables, self.state, self.t, room, 0)
        room[0, self._width - len(self._z0) :] = self.acts.forces.z
        self._rows.append(room)

    def _fail(self, status: int, t: float, dt: float = 0.0, first: bool = False) -> None:
        """Raise the error of a status at time t, with what was recorded."""
        if status == LEFT:
            self._leave()
        if self._outside is not None and self._outside.failure is not None:
            raise self._outside.failure
        kept = None if first or not self._rows else self.result("failed", "")
        if status >= FORCE_FAILED:
            force = list(self.system.forces.values())[status - FORCE_FAILED]
            error = failure(force, t, force.callbacks())
            error.result = kept
            if kept is not None:
                kept.recording.message = str(error)
            raise error
        for user in self.system.joints.values():
            if any(callback.failed for callback in user.callbacks()):
                error = failure(user, t, user.callbacks())
                error.result = kept
                if kept is not None:
                    kept.recording.message = str(error)
                raise error
        where, size = self._worst()
        at = f", |C| = {size:.2g} at {where}" if where else ""
        locked = (
            f"; driver {self.model.drivers[0].name!r} may ask for more than the joints allow: the mechanism locks there"
            if self.model.drivers
            else ""
        )
        if status == UNCOUNTED:
            message = (
                f"the turns of the joints cannot be counted at t = {t:g} s: bodies turn too far in a step, about several axes; "
                f"{f'reduce dt = {dt:g} s' if self.method.dt is not None else 'limit dt_max'}"
            )
        elif status == hht.SINGULAR:
            message = f"the equations of motion are singular at t = {t:g} s{at}; check masses and redundant joints"
        elif status == hht.STEP_TOO_SMALL:
            message = (
                f"the step fell to {dt:.3g} s at t = {t:g} s and the error still exceeds rtol = {self.method.rtol:g}{at}"
                f"{locked}; loosen rtol, or look for a stiff, jumping or unbounded force"
            )
        else:
            advice = f"reduce dt = {dt:g} s" if self.method.dt is not None else "loosen rtol, or limit dt_max"
            if self.method.alpha == 0.0 and self._steps > 1000:
                advice = "give alpha = -0.01, since with alpha = 0 nothing damps what rounding does to multipliers"
            message = (
                f"Newton's iteration does not converge at t = {t:g} s{at}{locked}; {advice}, or run nx.assemble near it"
                f"{sticking_advice(self.system) if self.method.dt is not None else ''}"
            )
        if kept is not None:
            kept.recording.message = message
        joint = self.model.rows[self._worst_row()].joint if where else None
        raise SolveError(message, time=t, where=joint, result=kept)

    def _worst_row(self) -> int:
        C = np.abs(np.nan_to_num(self.state.C, nan=np.inf))
        values = C[self.tables.rows[:, 0], self.tables.rows[:, 1]]
        return int(np.flatnonzero(self.kept)[int(values.argmax())])

    def _worst(self) -> tuple[str, float]:
        """The row whose residual is largest, and the residual."""
        if not len(self.tables.rows):
            return "", 0.0
        r = self._worst_row()
        place = self.tables.rows[int(self.kept[: r + 1].sum()) - 1]
        row = self.model.rows[r]
        name = f"joint {row.joint!r} ({row.equation})" if row.driver is None and row.joint else str(row)
        return name, float(abs(self.state.C[place[0], place[1]]))


def kept_rows(report: AssemblyReport) -> np.ndarray:
    """Rows (nc,) of the run: redundant ones are left out, but those that are so in this pose only."""
    index = {(row.joint, row.equation): row.index for row in report.model.rows if row.driver is None}
    kept = np.ones(report.model.nc, dtype=bool)
    for row in report.redundancy.redundant:
        if row.structural is not False and (row.joint, row.equation) in index:
            kept[index[row.joint, row.equation]] = False
    return kept


def refuse_velocity_rows(model: AbsoluteModel, method: str) -> None:
    """InputError naming a joint that holds velocities only, where a method does not carry such rows."""
    for row in model.rows:
        if not model.positional[row.index]:
            raise InputError(
                f"joint {row.joint!r} is nonholonomic, which {method} does not carry; nx.HHT(), nx.Baumgarte() and "
                f"nx.Projection() do"
            )


def needs_bodies(system: System, couplings: bool = True) -> bool:
    """Whether a system has what a tree alone does not carry: closed loops, drivers, joints that only constrain, couplings."""
    if system.drivers or (couplings and system.couplings):
        return True
    leader = {name: name for name in ["ground", *system.bodies]}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for joint in system.joints.values():
        a, b = find(joint.parent.name), find(joint.child.name)
        if not joint.tree or a == b:
            return True
        leader[a] = b
    children = [joint.child.name for joint in system.joints.values()]
    return len(set(children)) < len(children)

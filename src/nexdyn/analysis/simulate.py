"""`nx.simulate` and `nx.Simulation`: a mechanism in motion.

The time loop is compiled; Python takes part a few times a second, to report progress, to be interrupted, and to take
what was recorded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from nexdyn.absolute.model import absolute_model
from nexdyn.analysis.absolute_simulation import BodySimulation, needs_bodies
from nexdyn.analysis.blas import small_on_one_thread
from nexdyn.analysis.bristles import bounds, bristle_advice, refuse_bent, with_advice
from nexdyn.analysis.continuing import March, bodies_at_end, joints_at_end
from nexdyn.analysis.events import has_events, run_with_events
from nexdyn.analysis.force_states import described_states, start_states
from nexdyn.analysis.index1_simulation import IndexOneSimulation
from nexdyn.analysis.interrupt import interrupts_wait
from nexdyn.analysis.inverse_kinematics import Posture
from nexdyn.analysis.loop_simulation import ClosedSystem, closed_system, needs_rows
from nexdyn.analysis.notices import degrees_notices, gaps_of_tree, kept_notices, start_notices, tell
from nexdyn.analysis.potential_simulation import PotentialSimulation
from nexdyn.analysis.problem import build_problem, freedom_name, weak_freedom
from nexdyn.analysis.report import AssemblyReport
from nexdyn.analysis.span import checked_end, checked_times
from nexdyn.analysis.start_velocity import tree_state
from nexdyn.checked_calls import checked_call
from nexdyn.constraints.tables import LEFT
from nexdyn.errors import InputError, SolveError, unknown, warn
from nexdyn.integrate.adaptive import march_adaptive
from nexdyn.integrate.fixed import march, sample
from nexdyn.integrate.methods import (
    HHT,
    METHODS,
    DormandPrince,
    FixedStep,
    ImplicitEuler,
    IndexOne,
    Loops,
    Method,
    RungeKutta4,
    SemiImplicitEuler,
    method_of,
    positive,
)
from nexdyn.integrate.problem import FORCE_FAILED, NOT_FINITE, OK, STEP_TOO_SMALL
from nexdyn.integrate.tableaus import DORMAND_PRINCE_DENSE, EULER
from nexdyn.model.callbacks import failure
from nexdyn.model.system import System
from nexdyn.results.bodies import BodyRecording
from nexdyn.results.recording import Recording
from nexdyn.results.result import Result
from nexdyn.tree.cfa_solve import refuse
from nexdyn.tree.cfa_tables import ConstraintTables
from nexdyn.tree.described import described_coordinates
from nexdyn.tree.loop_motion import OPEN
from nexdyn.tree.states import unit_quaternions, vector
from nexdyn.tree.tree import Tree

if TYPE_CHECKING:
    from nexdyn.analysis.batch import Batch
    from nexdyn.results.batch import BatchResult

Progress = Callable[[float, float], None]
SLICE = 0.05
"""Seconds that the compiled loop runs between two looks of Python."""
MOST_STEPS = 1e15
ROWS = 4096
"""Most output rows that one crossing fills."""


@overload
def simulate(
    system: System,
    t_end: float,
    method: Method | str | None = None,
    *,
    initial: Result | AssemblyReport | Posture | None = None,
    q0: Any = None,
    v0: Any = None,
    output_every: int = 1,
    output_times: Any = None,
    dynamics: Literal["aba", "crba", "cfa"] = "aba",
    loops: Loops | None = None,
    on_gap: Literal["warn", "error"] = "warn",
    progress: Progress | None = None,
    batch: None = None,
    threads: None = None,
    store: None = None,
    error_estimate: bool = False,
) -> Result: ...


@overload
def simulate(
    system: System,
    t_end: float,
    method: Method | str | None = None,
    *,
    initial: Result | AssemblyReport | Posture | None = None,
    q0: Any = None,
    v0: Any = None,
    output_every: int = 1,
    output_times: Any = None,
    dynamics: Literal["aba", "crba", "cfa"] = "aba",
    loops: Loops | None = None,
    on_gap: Literal["warn", "error"] = "warn",
    progress: Progress | None = None,
    batch: Batch | Mapping[str, Any],
    threads: int | None = None,
    store: Any = None,
    error_estimate: bool = False,
) -> BatchResult: ...


@checked_call
def simulate(
    system: System,
    t_end: float,
    method: Method | str | None = None,
    *,
    initial: Result | AssemblyReport | Posture | None = None,
    q0: Any = None,
    v0: Any = None,
    output_every: int = 1,
    output_times: Any = None,
    dynamics: Literal["aba", "crba", "cfa"] = "aba",
    loops: Loops | None = None,
    on_gap: Literal["warn", "error"] = "warn",
    progress: Progress | None = None,
    batch: Batch | Mapping[str, Any] | None = None,
    threads: int | None = None,
    store: Any = None,
    error_estimate: bool = False,
) -> Result | BatchResult:
    """Run `system` until `t_end` [s] and return what was recorded.

    method: a method, or its name, like "rk4", with a step of 1 ms where it needs one. RungeKutta4(1e-3) by default, ExplicitEuler,
        SemiImplicitEuler, DormandPrince in minimal coordinates; HHT in absolute coordinates, by default where a system has
        closed loops, drivers or couplings.
    loops: how minimal coordinates keep loops and drivers; Loops(), projection, by default.
    initial: a Result to go on from its last state, the report of `nx.assemble` or `nx.equilibrium`, or the
        posture of `nx.inverse_kinematics`, at rest.
    q0, v0: arrays in the order of `Tree(system).joint_names`, or {joint: numbers}; default as described, at rest.
    output_every: steps between outputs. output_times [s]: outputs there instead.
    dynamics: "aba"; "crba" with the branch-sparse factorisation; or "cfa", the constraint force algorithm.
    on_gap: whether joints that stay open as described, by more than 1e-6 of the mechanism's size or 1e-6 rad, are closed with
        a warning, kept in `Result.warnings`, or refused: "error".
    progress: called a few times a second with (t, t_end).
    batch: many systems in one run, an `nx.Batch` of what they differ in; then a `BatchResult` is returned. threads: on how
        many cores, all by default. store: a folder, "runs.zarr", to which the states stream as members are done.
    error_estimate: measure the error of every coordinate by a second run, with half the step or a tenth of the tolerance, into
        `error_estimate` of the result (an `ErrorEstimate`): it says, too, from when on none is known.

    Raises InputError for bad input; AssemblyError where the mechanism cannot be closed; SolveError, whose `result` keeps what
    was reached, when the motion is not finite, a force fails, or the step becomes too small. An interrupt (Ctrl-C) returns
    what was reached, with a NexDynWarning.
    """
    method = method_of(method)
    if error_estimate and batch is not None:
        raise InputError("error_estimate is for single runs; leave it out, or simulate a member alone")
    if batch is not None:
        from nexdyn.analysis.batch_simulation import simulate_batch

        return simulate_batch(
            system, t_end, method, batch, simulate, threads=threads, store=store, progress=progress, initial=initial, q0=q0,
            v0=v0, output_every=output_every, output_times=output_times, dynamics=dynamics, loops=loops, on_gap=on_gap,
        )  # fmt: skip
    if threads is not None or store is not None:
        raise InputError("threads and store belong to a batch; give batch, or leave them out")
    options: dict[str, Any] = {
        "initial": initial, "q0": q0, "v0": v0, "output_every": output_every, "dynamics": dynamics, "loops": loops,
        "on_gap": on_gap,
    }  # fmt: skip
    run = {"t_end": t_end, "output_times": output_times, "progress": progress}
    if error_estimate:
        from nexdyn.analysis.error_estimate import with_error_estimate

        return with_error_estimate(simulation_of, system, method, run, options)
    return simulation_of(system, method, **options).run(**run)


def simulation_of(
    system: System,
    method: Method | str | None = None,
    *,
    dynamics: Literal["aba", "crba", "cfa"] = "aba",
    loops: Loops | None = None,
    on_gap: str = "warn",
    **options: Any,
) -> Simulation | BodySimulation:
    """The simulation for a method, or for a system; arguments as for `nx.simulate`."""
    simulation = _simulation_of(system, method, dynamics, loops, options)
    simulation.tell_start(on_gap)
    if options.get("initial") is None and simulation.warnings is not None:
        simulation.warnings += tell(degrees_notices(system, options.get("q0")), on_gap, None)
    return simulation


def _simulation_of(
    system: System, method: Method | str | None, dynamics: Any, loops: Loops | None, options: Mapping[str, Any]
) -> Simulation | BodySimulation:
    if not isinstance(system, System):
        raise InputError(f"system is {system!r}; a System is needed, like the one that nx.load returns")
    method = method_of(method)
    if method is None and loops is None and dynamics == "aba" and needs_bodies(system):
        method = HHT()
    if method is not None and method.coordinates != "tree":
        for name, given in (("loops", loops), ("dynamics", None if dynamics == "aba" else dynamics)):
            if given is not None:
                raise InputError(
                    f"{name}={given!r} is for minimal coordinates; {method!r} moves bodies: leave {name} out"
                )
    if isinstance(method, ImplicitEuler):
        return PotentialSimulation(system, method, **options)
    if isinstance(method, HHT):
        return BodySimulation(system, method, **options)
    if isinstance(method, IndexOne):
        return IndexOneSimulation(system, method, **options)
    return Simulation(system, method, dynamics=dynamics, loops=loops, **options)


def _closed(system: System, loops: Loops | None, dynamics: str, initial: Any, q0: Any, v0: Any) -> ClosedSystem | None:
    """What closes the tree of `system`; None where the tree alone is the system."""
    if loops is not None and not isinstance(loops, Loops):
        raise InputError(f"loops is {loops!r}; a Loops is needed, like nx.Loops(stabilise='baumgarte')")
    if not needs_rows(system):
        if loops is not None and loops.cut:
            raise InputError(f"system {system.name!r} has no loops; there is nothing to cut")
        return None
    if dynamics != "aba":
        raise InputError(f"dynamics is {dynamics!r}; loops and drivers in minimal coordinates go with 'aba' alone")
    return closed_system(system, loops or Loops(), initial, q0, v0)


class Simulation(March):
    """A mechanism in motion that a program can step: `sim.step(dt, u)` lets a controller close the loop.

    Arguments as for `nx.simulate`. `t` [s], `q` (nq,), `v`, `a` (nv,) are the present state, `result()` is what was
    recorded.
    """

    @small_on_one_thread
    def __init__(
        self,
        system: System,
        method: Method | str | None = None,
        *,
        initial: Result | AssemblyReport | Posture | None = None,
        q0: Any = None,
        v0: Any = None,
        output_every: int = 1,
        dynamics: Literal["aba", "crba", "cfa"] = "aba",
        loops: Loops | None = None,
    ) -> None:
        if not isinstance(system, System):
            raise InputError(f"system is {system!r}; a System is needed, like the one that nx.load returns")
        self.method = method_of(method) or RungeKutta4(1e-3)
        if not isinstance(self.method, FixedStep | DormandPrince):
            valid = ", ".join(cls.__name__ for cls in METHODS.values() if cls.coordinates == "tree")
            raise InputError(f"method is {self.method!r}; one of {valid} is needed, like RungeKutta4(dt=1e-3)")
        if not isinstance(output_every, int) or isinstance(output_every, bool) or output_every < 1:
            raise InputError(f"output_every is {output_every!r}; a whole number of steps, 1 or more, is needed")
        if dynamics not in ("aba", "crba", "cfa"):
            raise unknown("dynamics", dynamics, ("aba", "crba", "cfa"), plural="valid")
        system, initial = self.begin_march(system, initial)
        self.system, self.output_every, self.dynamics = system, output_every, dynamics
        self._gaps: dict[str, tuple[float, float]] = {}
        self.closed = _closed(system, loops, dynamics, initial, q0, v0)
        """How rows close the tree, and which of them are redundant; None where the tree alone is the system."""
        if self.closed is not None:
            self.tree = self.closed.closed.tree
            self.t, q_start, v_start = self.closed.start
        else:
            self.tree, self.t = Tree(system), 0.0
            q_start, v_start = self._start(initial, q0)
            q_start = unit_quaternions(self.tree, vector(self.tree, q0, "q0", q_start))
            v_start = vector(self.tree, v0, "v0", v_start)

        tableau = getattr(self.method, "tableau", EULER)
        n = self.tree.nv
        self._n = n
        self._A, self._b, self._c, self._e = tableau.A, tableau.b, tableau.c, tableau.e
        self._problem: Any  # of the integrator; that of the tree alone is self._motion
        if self.closed is not None:
            self._problem = self.closed.problem(len(self._b), self.method)
            self._motion = self._problem.tree
        else:
            self._problem = self._motion = build_problem(self.tree, q_start, dynamics)
        z_start = start_states(described_states(system), initial)
        self._y, self._stage = np.zeros((2, 2 * n + len(z_start)))
        self._y[n : 2 * n], self._y[2 * n :] = v_start, z_start
        self._K = np.zeros((len(self._b), len(self._y)))
        self._most = bounds(system, len(self._y), len(z_start))
        self._width = 1 + self.tree.nq + len(self._y) + (self.closed.extra if self.closed is not None else 0)
        self._dt = 0.0  # the adaptive step with which to go on; 0: choose one
        self._driven = False  # whether efforts u have acted
        self._now = np.zeros((1, self._width))
        self._now[0, : self.tree.nq + n + 1] = np.concatenate([[self.t], q_start, v_start])
        self._sample(first=True)
        if self.go_on(initial, q0 is not None or v0 is not None):
            self._sample()

    # --- state ------------------------------------------------------------------------------------------------------

    @property
    def numbers(self) -> int:
        """Numbers of a recorded state."""
        return self._width

    @property
    def q(self) -> np.ndarray:
        """Coordinates (nq,)."""
        return self._now[0, 1 : 1 + self.tree.nq].copy()

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,)."""
        return self._now[0, 1 + self.tree.nq : 1 + self.tree.nq + self._n].copy()

    @property
    def a(self) -> np.ndarray:
        """Accelerations (nv,)."""
        first = 1 + self.tree.nq + self._n
        return self._now[0, first : first + self._n].copy()

    def tell_start(self, on_gap: str = "warn") -> None:
        """Warn, once, of gaps that were closed, of coordinates outside limits, and of contacts that start pressed in."""
        report = self.closed.report if self.closed is not None else None
        if self.warnings is None:
            gaps = gaps_of_tree(self._gaps) if report is None else report.notices
            self.warnings = tell(start_notices(self, gaps), on_gap, report)

    def result(self, status: str = "finished", message: str = "") -> Result:
        """What was recorded so far; the present state is the last."""
        rows = [*self._rows]
        if not rows or rows[-1][-1, 0] < self._now[0, 0]:
            rows.append(self._now.copy())
        settings: dict[str, Any] = {"driven": True} if self._driven else {}
        return self.told(
            self._result(
                np.concatenate(rows),
                steps=self._steps,
                status=status,
                message=message,
                wall_time=self._wall,
                settings=settings,
            )
        )

    def latest(self) -> Result:
        """The last recorded state alone, also while `run` goes on: for what looks at it from `progress`."""
        row = self._rows[-1][-1:] if self._rows and self._rows[-1][-1, 0] > self._now[0, 0] else self._now
        return self._result(row)

    def _result(self, out: np.ndarray, **run: Any) -> Result:
        t, q, v, a, extra = np.split(out, np.cumsum([1, self.tree.nq, self._n, self._n]), axis=1)
        states = t[:, 0].copy(), q.copy(), v.copy(), a.copy()
        run["settings"] = run.get("settings", {}) | kept_notices(self.warnings)
        if self.closed is not None:
            recording: Recording = self.closed.recording(*states, extra, method=repr(self.method), **run)
        else:
            recording = Recording(*states, z=extra.copy(), method=repr(self.method), **run)
        return Result(self.system, recording, tree=self.tree)

    # --- between two legs of a run ----------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return "tree" if self.closed is None else f"tree cut at {', '.join(self.closed.closed.cut_joints)}"

    def live(self) -> Mapping[str, np.ndarray]:
        found = {"position": self._motion.base, "motion": self._y, "now": self._now}
        if self.closed is not None:
            loops = self._problem.loops
            found |= {"near": loops.near, "spare": loops.spare, "left_out": loops.left_out, "chosen": loops.chosen}
        return found

    def numbers_kept(self) -> tuple[str, ...]:
        return ("t", "_steps", "_dt")

    def how(self) -> dict[str, Any]:
        loops = {"loops": asdict(self.closed.options)} if self.closed is not None else {}
        return super().how() | {"dynamics": self.dynamics} | loops

    # --- motion -----------------------------------------------------------------------------------------------------

    @small_on_one_thread
    def step(self, dt: float, u: Any = None) -> None:
        """Go on by `dt` [s] while the joints are driven by the constant efforts `u` (nv,) or {joint: numbers} [N, N m].

        A method of constant step takes as many equal steps, none longer than its own, as fit. The states at the start
        and at the end are recorded. Errors as for `nx.simulate`; an interrupt (Ctrl-C) is raised once the state is whole.
        """
        dt = positive(dt, "dt of step")
        self.tell_start()
        self._motion.u[:] = vector(self.tree, u, "u", np.zeros(self._n))
        self._driven = self._driven or bool(self._motion.u.any())
        if not self._rows or self._rows[-1][-1, 0] < self.t:
            self._sample()
            self._rows.append(self._now.copy())
        started, t_end = time.perf_counter(), self.t + dt
        interrupt, self._begun = None, True
        try:
            with interrupts_wait() as check:
                if isinstance(self.method, FixedStep):
                    count = max(1, math.ceil(dt / self.method.dt - 1e-9))
                    self._march_fixed(dt / count, count, 0, check)
                else:
                    self._march_adaptive(t_end, np.empty(0), 0, check)
                self.t = t_end
        except KeyboardInterrupt as error:
            interrupt = error
        finally:
            self._wall += time.perf_counter() - started
        self._sample()
        self._rows.append(self._now.copy())
        if interrupt is not None:
            raise interrupt

    @small_on_one_thread
    def run(self, t_end: float, *, output_times: Any = None, progress: Progress | None = None) -> Result:
        """Go on until `t_end` [s] and return all that was recorded. Arguments and errors as for `nx.simulate`."""
        t_end = checked_end(t_end, self.t)
        self.tell_start()
        times = checked_times(output_times, self.t, t_end)
        if has_events(self.system):
            self._motion.u[:] = 0.0
            return run_with_events(self, t_end, times, not times.size or times[0] == self.t, progress)
        started, self._begun = time.perf_counter(), True
        self._motion.u[:] = 0.0
        try:
            with interrupts_wait() as check:

                def look() -> None:
                    if progress is not None:
                        progress(self.t, t_end)
                    check()

                if isinstance(self.method, FixedStep):
                    self._run_fixed(t_end, look, None if output_times is None else times)
                else:
                    every = self.output_every if output_times is None else 0
                    self._march_adaptive(t_end, times[times < t_end], every, look)  # the end comes by itself
                self.t = t_end
                look()
        except KeyboardInterrupt:
            self._wall += time.perf_counter() - started
            with suppress(SolveError, KeyboardInterrupt):
                self._sample()
            message = f"interrupted at t = {self.t:g} s of {t_end:g} s"
            warn(f"{message}; the result holds what was reached")
            return self.result("interrupted", message)
        self._sample()
        self._wall += time.perf_counter() - started
        return self.result()

    # --- inside -----------------------------------------------------------------------------------------------------

    def _start(self, initial: Result | AssemblyReport | Posture | None, q0: Any) -> tuple[np.ndarray, np.ndarray]:
        """The state to start from where q0 and v0 say nothing."""
        if initial is None:
            given = () if q0 is None else q0 if isinstance(q0, Mapping) else self.tree.coordinates
            return described_coordinates(self.tree, given, self._gaps), self.tree.initial_velocity()
        if isinstance(initial, AssemblyReport):
            if initial.model.system is not self.system:
                raise InputError("initial is the report of another system")
            self.t = initial.t
            return tree_state(self.tree, initial.model, initial.q, initial.v)
        if not isinstance(initial, Result):
            raise InputError(
                f"initial is a {type(initial).__name__}; a Result, like the one that simulate returns, the report of "
                f"nx.assemble or nx.equilibrium, or the posture of nx.inverse_kinematics is needed"
            )
        recorded = initial.recording
        self.t = float(recorded.t[-1])
        if isinstance(recorded, BodyRecording):
            return self._from_bodies(initial)
        if recorded.q.shape[1] != self.tree.nq or recorded.v.shape[1] != self.tree.nv:
            raise InputError(
                f"initial has {recorded.q.shape[1]} coordinates and {recorded.v.shape[1]} velocities; "
                f"{self.system.name!r} has {self.tree.nq} and {self.tree.nv}"
            )
        if initial.tree is not None and initial.tree.joint_names != self.tree.joint_names:
            raise InputError(
                f"initial is a result of another mechanism, with the joints {', '.join(initial.tree.joint_names[:8])}; "
                f"the model has {', '.join(self.tree.joint_names[:8])}"
            )
        return recorded.q[-1].copy(), recorded.v[-1].copy()

    def _from_bodies(self, initial: Result) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities at the end of a run in absolute coordinates, angles counted as they were."""
        model = absolute_model(self.system)
        q, v = tree_state(self.tree, model, *bodies_at_end(initial, model))
        for name, counted in joints_at_end(initial, self.system).items():
            if name in self.tree.coordinates:
                q[self.tree.coordinates[name].q] = counted
        return q, v

    def _run_fixed(self, t_end: float, look: Callable[[], None], times: np.ndarray | None = None) -> None:
        """Steps of the constant dt until `t_end`; every `output_every`-th state is kept, or those at `times`."""
        assert isinstance(self.method, FixedStep)
        dt = self.method.dt
        if not (t_end - self.t) / dt < MOST_STEPS:
            raise InputError(
                f"t_end = {t_end:g} s takes more than {MOST_STEPS:.0e} steps of dt = {dt:g} s; choose a longer dt"
            )
        whole = math.floor((t_end - self.t) / dt + 1e-9)
        rest = t_end - self.t - whole * dt
        if times is not None:
            self._march_to(times, dt, look)
            whole = math.floor((t_end - self.t) / dt + 1e-9)
            self._march_fixed(dt, whole, 0, look)
            if rest > 1e-9 * dt:
                self._march_fixed(rest, 1, 0, look)
            return
        self._march_fixed(dt, whole, self.output_every, look)
        if rest > 1e-9 * dt:
            self._march_fixed(rest, 1, 1 if whole % self.output_every == 0 else 0, look)

    def _march_to(self, times: np.ndarray, dt: float, look: Callable[[], None]) -> None:
        """Steps of dt to the last before each time; from there a shorter one tells the state at it, of the method's own order, and is
        taken back: the steps do not depend on what is asked for."""
        for t in times.tolist():
            steps = math.floor((t - self.t) / dt + 1e-9)
            self._march_fixed(dt, steps, 0, look)
            rest = t - self.t
            before = self.snapshot() if rest > 1e-9 * dt else None
            if before is not None:
                self._march_fixed(rest, 1, 0, look)
            self.t = t if before is not None else self.t
            self._sample()
            row = self._now.copy()
            row[0, 0] = t
            if before is not None:
                before.restore()
            self._keep(row)

    def _march_fixed(self, dt: float, steps: int, every: int, look: Callable[[], None]) -> None:
        """`steps` steps; every `every`-th state (0: none), the first included, is kept before its step is taken."""
        semi_implicit = isinstance(self.method, SemiImplicitEuler)
        room = np.empty((min(ROWS, steps // every + 2) if every else 0, self._width))
        t0, done, count = self.t, 0, 16
        while done < steps:
            count = min(count, steps - done, (len(room) - 1) * every if every else steps)
            began = time.perf_counter()
            status, reached, rows, bad, failed = march(
                self._problem, self._A, self._b, self._c, semi_implicit, t0, dt, done, done + count, every, self._y,
                self._most, self._stage, self._K, self._n, room,
            )  # fmt: skip
            took = time.perf_counter() - began
            self._steps += reached - done
            done = reached
            self.t = t0 + done * dt
            if rows:
                self._keep(room[:rows].copy())
            if status != OK:
                self._fail(status, bad, failed)
            look()
            count = max(1, int(count * min(8.0, SLICE / max(took, 1e-6))))

    def _march_adaptive(self, t_end: float, times: np.ndarray, every: int, look: Callable[[], None]) -> None:
        """Steps until `t_end`; states at `times`, or every `every`-th (0: none), the first included, are kept."""
        method = self.method
        assert isinstance(method, DormandPrince)
        control = np.zeros(15)
        control[:3] = self.t, self._dt, 1e-4
        control[7:11] = method.rtol, method.atol, method.dt_min, min(method.dt_max, 1e300)
        room = np.empty((len(times) + 2 if len(times) else ROWS, self._width))
        y_old, scale = np.zeros((2, len(self._y)))
        if times.size and times[0] == self.t:
            self._keep(self._now.copy())
            control[4] = 1.0
        work = 200
        while control[0] < t_end:
            began, spent, steps = time.perf_counter(), control[5], control[3]
            status, rows, bad = march_adaptive(
                self._problem, self._A, self._b, self._c, self._e, DORMAND_PRINCE_DENSE, control, t_end, work, every,
                times, self._y, y_old, self._stage, scale, self._K, self._n, room,
            )  # fmt: skip
            took = time.perf_counter() - began
            self.t, self._dt = float(control[0]), float(control[1])
            self._steps += int(control[3] - steps)
            if rows:
                self._keep(room[:rows].copy())
            if status != OK:
                self._fail(status, bad, float(control[14]), dt=float(control[1]))
            look()
            work = max(50, int((control[5] - spent) * min(8.0, SLICE / max(took, 1e-6))))

    def _keep(self, rows: np.ndarray) -> None:
        """Rows not recorded before: a state that ends one run begins the next."""
        if self._rows and rows[0, 0] <= self._rows[-1][-1, 0]:
            rows = rows[1:]
        if len(rows):
            self._rows.append(rows)

    def _sample(self, first: bool = False) -> None:
        """Evaluate the present state."""
        status, bad = sample(self._problem, self.t, self._y, self._K, self._n, self._now)
        if first and status in (OK, NOT_FINITE):
            weak = weak_freedom(self._motion)
            if weak is not None:
                self.tree.refuse_singular(*weak, cut=self.closed.closed.cut_joints if self.closed is not None else ())
        if status == OK:
            return
        self._fail(status, bad, self.t, first=first)

    def _leave(self, t: float, closed: ClosedSystem) -> None:
        """SolveError for a point that has left the ends of its curve or surface by t; the state there is recorded."""
        joint, what = closed.left_end()
        self.t = t
        self._sample()
        self._keep(self._now.copy())
        message = f"joint {joint!r} {what}, at t = {t:g} s"
        raise SolveError(message, time=t, where=joint, result=self.result("failed", message))

    def _fail(self, status: int, bad: int, t: float, dt: float = 0.0, first: bool = False) -> None:
        """Raise the error of a status at time t, with what was recorded unless it is the first state that fails."""
        if status == LEFT and self.closed is not None:
            self._leave(t, self.closed)
        if status == NOT_FINITE and bad >= 2 * self._n and isinstance(self.method, FixedStep):
            z = self._y[2 * self._n :]
            try:
                refuse_bent(self.system, bad - 2 * self._n, z, t, self.method.dt, self.method.name)
            except SolveError as bent:
                bent.result = self.result("failed", str(bent))
                raise
        where, joint, body = freedom_name(self.tree, bad) if bad >= 0 else ("", None, None)
        if self.closed is not None and status == NOT_FINITE:
            self.closed.raise_failure(t, None if first else self.result("failed", "a function of the user's failed"))
        tables = self._motion.factorisation
        if status == NOT_FINITE and isinstance(tables, ConstraintTables) and tables.lost[0] > 0:
            kept = None if first else self.result("failed", "A is not positive definite")
            refuse(self.tree, self.q, int(tables.lost[0]), time=t, result=kept)
        if status == NOT_FINITE:
            message = (
                f"the motion is no longer finite at t = {t:g} s{where}; "
                + (f"reduce dt = {self.method.dt:g} s, " if isinstance(self.method, FixedStep) else "")
                + "check masses, stiffness and damping"
                + bristle_advice(self.system, getattr(self.method, "dt", None), self.method.name)
            )
        elif status == STEP_TOO_SMALL:
            message = (
                f"the step fell to {dt:g} s at t = {t:g} s and the error still exceeds rtol = "
                f"{getattr(self.method, 'rtol', 0):g}{where}; loosen rtol and atol, or look for a stiff, jumping or "
                "unbounded force"
            )
        elif self.closed is not None and status == OPEN:
            message, joint = self.closed.open_row(t, getattr(self.method, "dt", 0.0))
        else:
            force = list(self.system.forces.values())[status - FORCE_FAILED]
            error = failure(force, t, force.callbacks())
            error = with_advice(error, self.system, getattr(self.method, "dt", None), self.method.name)
            error.result = None if first else self.result("failed", str(error))
            raise error
        kept = None if first else self.result("failed", message)
        raise SolveError(message, time=t, where=body or joint, result=kept)

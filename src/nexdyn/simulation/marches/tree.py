"""`nx.Simulation`: a tree in motion in minimal coordinates, with rows that close its loops or without.

The state is y = (ξ, v, z), ξ an increment of the coordinates `base`, z the states of forces; a row of what is recorded holds
t, q, v, a, z and, with rows, what is followed, |C| and λ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.notices import Notice, gaps_of_tree, kept_notices
from nexdyn.assembly.report import AssemblyReport, WithPose, WithReport
from nexdyn.assembly.start_states import described_states, start_states
from nexdyn.assembly.stopwatch import Stopwatch
from nexdyn.constraints.tables import LEFT
from nexdyn.errors import InputError, SolveError, is_one_of, unknown
from nexdyn.forces.tables import ForceEntries
from nexdyn.integrate import adaptive
from nexdyn.integrate.adaptive import march_adaptive
from nexdyn.integrate.fixed import march, sample
from nexdyn.integrate.methods import (
    METHODS,
    OF_TREES,
    EmbeddedPair,
    FixedStep,
    Loops,
    Method,
    SemiImplicitEuler,
    method_of,
    positive,
)
from nexdyn.integrate.problem import FORCE_FAILED, NOT_FINITE, OK, STEP_TOO_SMALL
from nexdyn.integrate.tableaus import EULER
from nexdyn.joints.kinds import REGISTERED
from nexdyn.model.callbacks import failure
from nexdyn.model.system import System
from nexdyn.results.recording import LoopRecording, Recording
from nexdyn.results.result import Result
from nexdyn.simulation.bristles import bounds, bristle_advice, refuse_bent, with_advice
from nexdyn.simulation.continuing import reassembled, states_of
from nexdyn.simulation.interrupt import interrupts_wait
from nexdyn.simulation.kept import Keeper, Poses
from nexdyn.simulation.march import NONE, Look, March
from nexdyn.simulation.marches.tree_start import tree_start
from nexdyn.simulation.needs import needs_rows
from nexdyn.simulation.orientations import impossible_orientation
from nexdyn.simulation.problem import build_problem, freedom_name, weak_freedom
from nexdyn.simulation.run import Runs
from nexdyn.simulation.steps import Leg, Pace, unseen
from nexdyn.simulation.wound import start_angles
from nexdyn.tree.cfa.solve import refuse
from nexdyn.tree.cfa.tables import ConstraintTables
from nexdyn.tree.loops.closed import cut_advice
from nexdyn.tree.loops.motion import OPEN
from nexdyn.tree.states import vector
from nexdyn.tree.tree import Tree
from nexdyn.tree.wound import angles_along, described_angles

if TYPE_CHECKING:
    from nexdyn.simulation.marches.loops import ClosedSystem


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
    for joint in system.joints.values():
        if joint.code == REGISTERED and joint.resolved(system.values).armature.any():
            raise InputError(
                f"{joint}, {joint.kind}, is a registered joint with armature, which mechanisms with loops and drivers do not support; "
                f"give the inertia to a body"
            )
    from nexdyn.simulation.marches.loops import closed_system

    return closed_system(system, loops or Loops(), initial, q0, v0)


class Simulation(Runs):
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
        initial: Result | AssemblyReport | WithReport | WithPose | None = None,
        q0: Any = None,
        v0: Any = None,
        output_every: int = 1,
        dynamics: Literal["aba", "crba", "cfa"] = "aba",
        loops: Loops | None = None,
    ) -> None:
        self.method = method_of(method) or OF_TREES
        if not isinstance(self.method, FixedStep | EmbeddedPair):
            valid = ", ".join(cls.__name__ for cls in METHODS.values() if cls.coordinates == "tree")
            raise InputError(f"method is {self.method!r}; one of {valid} is needed, like RungeKutta4(dt=1e-3)")
        if not is_one_of(dynamics, ("aba", "crba", "cfa")):
            raise unknown("dynamics", dynamics, ("aba", "crba", "cfa"), plural="valid")
        system, initial = self.begin_march(system, initial, output_every)
        self.system, self.dynamics = system, dynamics
        self._gaps: dict[str, tuple[float, float]] = {}
        self.closed = _closed(system, loops, dynamics, initial, q0, v0)
        """How rows close the tree, and which of them are redundant; None where the tree alone is the system."""
        if self.closed is not None:
            self.tree = self.closed.closed.tree
            self.t, q_start, v_start = self.closed.start
        else:
            self.tree = Tree(system)
            self.t, q_start, v_start = tree_start(self.tree, initial, q0, v0, self._gaps)

        n = self.tree.nv
        self._n = n
        self._tableau = getattr(self.method, "tableau", EULER)
        rows = self.method.pair.size if isinstance(self.method, EmbeddedPair) else len(self._tableau.b)
        self._problem: Any  # of the integrator; that of the tree alone is self._motion
        if self.closed is not None:
            self._problem = self.closed.problem(rows, self.method, counting=True)
            self._motion = self._problem.tree
        else:
            self._problem = self._motion = build_problem(self.tree, q_start, dynamics, counting=True)
        z_start = start_states(described_states(system), initial)
        forces = self._motion.forces
        self._winding = [] if forces is None else [list(system.forces)[e] for e in forces.winding]
        """Torsion springs whose angles are states, behind those of the forces."""
        self._nz = len(z_start)
        self._y, self._stage = np.zeros((2, 2 * n + self._nz + len(self._winding)))
        self._y[n : 2 * n], self._y[2 * n : 2 * n + self._nz] = v_start, z_start
        self._y[2 * n + self._nz :] = start_angles(self.tree, q_start, initial)
        self._K = np.zeros((rows, len(self._y)))
        self._most = bounds(system, len(self._y), len(self._y) - 2 * n)
        self._width = 1 + self.tree.nq + len(self._y) + (self.closed.extra if self.closed is not None else 0)
        self._dt = 0.0  # the adaptive step with which to go on; 0: choose one
        self._driven = False  # whether efforts u have acted
        self._now = np.zeros((1, self._width))
        self._now[0, : self.tree.nq + n + 1] = np.concatenate([[self.t], q_start, v_start])
        self._sample(first=True)
        opened = self.closed is not None and self.closed.opened
        if self.go_on(initial, q0 is not None or v0 is not None, opened):
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

    def closed_at_start(self) -> tuple[list[Notice], AssemblyReport | None]:
        report = self.closed.report if self.closed is not None else None
        moved = self.closed.moved if self.closed is not None else []
        return [*(gaps_of_tree(self._gaps) if report is None else report.notices), *moved], report

    def _result(self, rows: np.ndarray, status: str = "finished", message: str = "") -> Result:
        t, q, v, a, extra = np.split(rows, np.cumsum([1, self.tree.nq, self._n, self._n]), axis=1)
        states = t[:, 0].copy(), q.copy(), v.copy(), a.copy()
        settings: dict[str, Any] = {"driven": True} if self._driven else {}
        run: dict[str, Any] = {
            "method": repr(self.method), "steps": self._steps, "status": status, "message": message, "wall_time": self._wall,
            "settings": settings | kept_notices(self.warnings),
        }  # fmt: skip
        if self.closed is not None:
            recording: Recording = self.closed.recording(*states, extra, len(self._winding), **run)
        else:
            z, angles = np.split(extra, [self._nz], axis=1)
            recording = Recording(*states, z=z.copy(), followed=angles.copy(), **run)
        return Result(self.system, recording, tree=self.tree)

    # --- constraints ------------------------------------------------------------------------------------------------

    def keeper(self) -> Keeper | None:
        if self.closed is None or self._keeper is not None:
            return self._keeper
        return Keeper(self.closed.model, self.method, self.closed.closed.compiled_rows.tables.damping)

    def violation(self, rows: np.ndarray) -> np.ndarray:
        assert self.closed is not None
        return rows[:, -1 - len(self.closed.closed.rows)]

    def independent_rows(self) -> np.ndarray:
        assert self.closed is not None and self._keeper is not None
        return np.array([str(row) not in self.closed.always for row in self._keeper.model.rows])

    def poses(self, rows: np.ndarray) -> Poses:
        from nexdyn.simulation.marches.loops import bodies_along

        assert self.closed is not None and self._keeper is not None
        seen = self._result(rows).recording
        assert isinstance(seen, LoopRecording)
        q, v = bodies_along(self.closed.closed, self._keeper.model, seen.q, seen.v)
        return Poses(seen.t, q, v, None, seen.violation)

    @property
    def may_leave(self) -> bool:  # type: ignore[override]
        return self.closed is not None and self.closed.options.stabilise is None

    def closer(self) -> str:
        if self.closed is None or self.closed.options.stabilise == "projection":
            return super().closer()
        return f"nx.Loops(stabilise='projection') keeps them closed, or take a {'shorter dt' if self.constant_step else 'smaller rtol'}"

    # --- between two legs of a run ----------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return "tree" if self.closed is None else f"tree cut at {', '.join(self.closed.closed.cut_joints)}"

    def live(self) -> Mapping[str, np.ndarray]:
        found = {"position": self._motion.base, "motion": self._y, "now": self._now}
        if self.closed is not None:
            loops = self._problem.loops
            found |= {
                "near": loops.near,
                "spun": loops.spun,
                "spare": loops.spare,
                "left_out": loops.left_out,
                "chosen": loops.chosen,
                "dependence": loops.dependence,
                "largest": loops.largest,
            }
        return found

    def numbers_kept(self) -> tuple[str, ...]:
        return (*super().numbers_kept(), "_dt")

    def scratch(self) -> list[np.ndarray]:
        return [self._K, self._stage]

    def put_present(self, row: np.ndarray) -> None:
        self._now[:] = row

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
        watch, t_end = Stopwatch(), self.t + dt
        interrupt, self._begun, self._grid = None, True, None
        try:
            with interrupts_wait() as check:
                if isinstance(self.method, FixedStep):
                    count = max(1, math.ceil(dt / self.method.dt - 1e-9))
                    self.march_by(dt / count, count, 0, check)
                else:
                    self._march_adaptive(t_end, NONE, 0, check)
                self.t = t_end
        except KeyboardInterrupt as error:
            interrupt = error
        finally:
            self._wall += watch.seconds
        self._sample()
        self._rows.append(self._now.copy())
        if interrupt is not None:
            raise interrupt

    def start_rows(self, keep_start: bool) -> None:
        self._motion.u[:] = 0.0
        if keep_start:
            self._keep(self._now)

    def go_to(self, t_end: float, times: np.ndarray, look: Look) -> None:
        if isinstance(self.method, FixedStep):
            self.go_by(self.method.dt, t_end, times, look)
        else:
            every = 0 if len(times) else self.output_every
            self._march_adaptive(t_end, times[times < t_end], every, look)  # the end comes by itself

    def present(self) -> np.ndarray:
        return self._now.copy()

    # --- events -----------------------------------------------------------------------------------------------------

    def let_stop_act(self, name: str, acts: bool) -> None:
        ForceEntries(self._motion.forces.index)[list(self.system.forces).index(name)].off = not acts

    def anew(
        self, system: System, t: float, observed: Any, position: Mapping[str, Any] | None,
        velocity: Mapping[str, Any] | None,
    ) -> Simulation:  # fmt: skip
        if self.closed is not None:
            report = reassembled(system, t, observed, position, velocity)
            new = type(self)(
                system, self.method, initial=report, output_every=self.output_every, loops=self.closed.options
            )
            assert new.closed is not None
            new.closed.turned_over = self.closed.turned_over
            return new
        q, v = (
            vector(self.tree, change, what, vector(self.tree, now, what, start))
            for now, change, what, start in zip(
                states_of(observed), (position, velocity), ("q0", "v0"), (self.q, self.v), strict=True
            )
        )
        new = type(self)(system, self.method, q0=q, v0=v, dynamics=self.dynamics, output_every=self.output_every)
        new.t = t
        return new

    def go_on_from(self, old: March) -> None:
        super().go_on_from(old)
        assert isinstance(old, Simulation)
        z = old._y[2 * old._n :]
        if len(z) == len(self._y) - 2 * self._n:
            self._y[2 * self._n :] = z
            angles = self._y[2 * self._n + self._nz :]
            moved = described_angles(self.tree, self.q) - described_angles(old.tree, old.q)
            angles[:] = angles_along(self.tree, self.q[None], angles + moved)[0]
        self._rows.clear()
        self._sample()

    def body_state(self, row: np.ndarray, body: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        nq, frame = self.tree.nq, f"body:{body}"
        q, v = row[0, 1 : 1 + nq], row[0, 1 + nq : 1 + nq + self._n]
        return (*self.tree.pose(q, frame), *self.tree.velocity(q, v, frame))

    def after_impact(self, observed: Any, joint: str, freedom: int, restitution: float) -> dict[str, np.ndarray]:
        from nexdyn.simulation.impulses import on_tree, with_rows

        if self.closed is None and self.tree.coupling is None:
            return on_tree(self.tree, self.q, self.v, joint, freedom, restitution)
        return with_rows(self.system, self.t, observed, joint, freedom, restitution)

    # --- inside -----------------------------------------------------------------------------------------------------

    keeps_before = True

    def march_by(self, dt: float, steps: int, every: int, look: Look) -> None:
        self.march_steps(dt, steps, every, look)

    def leg(self, t0: float, dt: float, done: int, until: int, every: int, room: np.ndarray) -> Leg:
        if self.closed is not None and not self._repeating:
            self.note_leg(done)
        A, b, c, _ = self._tableau
        return Leg(
            *march(
                self._problem, A, b, c, isinstance(self.method, SemiImplicitEuler), t0, dt, done, until,
                every, self._y, self._most, self._stage, self._K, self._n, room,
            )
        )  # fmt: skip

    def after_leg(self, leg: Leg, t0: float, dt: float, taken: int) -> int:
        repeated = leg.status == OPEN and self.repeat_step(leg, t0, dt, unseen)
        if leg.status != OK and not repeated:
            self._fail(leg.status, leg.bad, leg.t)
        self._watch_singular()
        return int(repeated)

    def _watch_singular(self) -> None:
        """Warn, once, where rows have become all but dependent. With inertia that is lent one row may move ten thousand times more easily
        than another and be independent of it: then poses tell, when the run has ended."""
        if self.closed is not None:
            from nexdyn.simulation.independence import CLOSE, NEARLY

            least, most, t = self._problem.loops.dependence.tolist()
            self.comes_close = self.comes_close or least < CLOSE * most
            if least < NEARLY * most and not len(self._problem.loops.lent):
                self.tell_singular(t)

    def _march_adaptive(self, t_end: float, times: np.ndarray, every: int, look: Look) -> None:
        """Steps until `t_end`; states at `times`, or every `every`-th (0: none), the first included, are kept."""
        method = self.method
        assert isinstance(method, EmbeddedPair)
        control, numbers = adaptive.begin(method, self.t, self._dt)
        room = self.room(len(times) + 2 if len(times) else 0)
        y_old, scale = np.zeros((2, len(self._y)))
        pace = Pace(200, least=50)
        while control.t < t_end:
            spent, steps = control.evaluations, control.steps
            pace.begin()
            status, rows, bad = march_adaptive(
                self._problem, method.pair.tables, numbers, t_end, self.until_look(pace.size), every, times, self._y, y_old, self._stage,
                scale, self._K, self._n, room,
            )  # fmt: skip
            pace.end()
            self.note_done(control.evaluations - spent)
            self.t, self._dt = float(control.t), float(control.dt)
            self._steps += int(control.steps - steps)
            self._keep(room[:rows])
            shorter = adaptive.SHRINK * min(self._dt, t_end - self.t)
            if self.may_be_shorter(status, shorter):
                control.dt = shorter
                continue
            if status != OK:
                self._fail(status, bad, float(control.failed_at), dt=self._dt)
            self._watch_singular()
            look()
            pace.adapt(control.evaluations - spent)

    def _sample(self, first: bool = False) -> None:
        """Evaluate the present state."""
        status, bad = sample(self._problem, self.t, self._y, self._K, self._n, self._now)
        if first and status in (OK, NOT_FINITE):
            weak = weak_freedom(self._motion)
            if weak is not None:
                cut = self.closed.closed.cut_joints if self.closed is not None else ()
                self.tree.refuse_singular(*weak, self._without_inertia(weak[0], cut) + cut_advice(self.system, cut))
        if status == OK:
            return
        self._fail(status, bad, self.t, first=first)

    def _without_inertia(self, j: int, cut: Sequence[str]) -> str:
        """The bodies beyond degree of freedom j without mass or without inertia, as a clause; "" where there are none."""
        places, joints = self.tree.coordinates, self.system.joints
        name = next(name for name, place in places.items() if place.v.start <= j < place.v.stop)
        beyond = [joints[name].child.name] if name in joints else []
        for body in beyond:
            beyond += [
                x.child.name
                for x in joints.values()
                if x.parent.name == body and x.name not in cut and x.child.name not in beyond
            ]
        given = {body: self.system.bodies[body].resolved(self.system.values) for body in beyond}
        bare = [repr(body) for body, x in given.items() if not x.mass > 0.0 or not np.any(x.inertia)]
        return f"; without mass or inertia: {', '.join(bare[:5])}{', …' if len(bare) > 5 else ''}" if bare else ""

    def _leave(self, t: float, closed: ClosedSystem) -> None:
        """SolveError for a point that has left the ends of its curve or surface by t; the state there is recorded."""
        joint, what = closed.left_end()
        self.t = t
        self._sample()
        self._keep(self._now)
        raise self.ended(SolveError(f"joint {joint!r} {what}, at t = {t:g} s", time=t, where=joint))

    def _fail(self, status: int, bad: int, t: float, dt: float = 0.0, first: bool = False) -> None:
        """Raise the error of a status at time t, with what was recorded unless it is the first state that fails."""
        if status == LEFT and self.closed is not None:
            self._leave(t, self.closed)
        if status == NOT_FINITE and 2 * self._n <= bad < 2 * self._n + self._nz and isinstance(self.method, FixedStep):
            z = self._y[2 * self._n : 2 * self._n + self._nz]
            try:
                refuse_bent(self.system, bad - 2 * self._n, z, t, self.method.dt, self.method.name)
            except SolveError as bent:
                self.ended(bent)
                raise
        where, joint, body = freedom_name(self.tree, bad) if bad >= 0 else ("", None, None)
        if self.closed is not None and status == NOT_FINITE:
            self.closed.raise_failure(t, None if first else self.result("failed", "a function of the user's failed"))
        tables = self._motion.factorisation
        if status == NOT_FINITE and isinstance(tables, ConstraintTables) and tables.lost[0] > 0:
            kept = None if first else self.result("failed", "A is not positive definite")
            refuse(self.tree, self.q, int(tables.lost[0]), time=t, result=kept)
        step = dt or float(getattr(self.method, "dt", None) or 0.0)
        wrong = impossible_orientation(self.system, t, step)
        if wrong and status < FORCE_FAILED:
            message = wrong
        elif status == NOT_FINITE:
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
            raise self.ended(error, not first)
        raise self.ended(SolveError(message, time=t, where=body or joint), not first)

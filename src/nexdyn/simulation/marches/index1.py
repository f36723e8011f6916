"""Index-1 simulations in absolute coordinates: the explicit methods of ``integrate`` on `BodyProblem`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.configuration import position_units
from nexdyn.absolute.motion import hht, index1
from nexdyn.absolute.motion.turns import UNCOUNTED
from nexdyn.constraints.tables import LEFT
from nexdyn.errors import InputError, SolveError
from nexdyn.integrate import adaptive
from nexdyn.integrate.adaptive import march_adaptive
from nexdyn.integrate.fixed import march, sample
from nexdyn.integrate.methods import Baumgarte, EmbeddedPair, IndexOne, Partitioning, Projection
from nexdyn.integrate.problem import FORCE_FAILED, NOT_FINITE, OK, STEP_TOO_SMALL
from nexdyn.integrate.tableaus import EULER
from nexdyn.model.system import System
from nexdyn.simulation.bristles import bounds, bristle_advice, refuse_bent, with_advice
from nexdyn.simulation.kept import LOST, bound_of
from nexdyn.simulation.march import NONE, Look, March
from nexdyn.simulation.marches.bodies import BodySimulation, refuse_velocity_rows
from nexdyn.simulation.orientations import impossible_orientation
from nexdyn.simulation.steps import Leg, Pace, unseen

CHUNK = 200
"""Most steps between two looks at a partition."""
TURN = 1.0
"""What a body may turn in a step of chosen length where coordinates are partitioned [rad]."""
SHORTER, SINGULAR, FIRM = 0.25, 0.1, 0.5
"""By how much adaptive steps are shortened where no choice serves them; and parts of the greatest smallest pivot that a choice
began with: below which a pose that none serves is singular, and above which steps may be long again."""
LARGEST_PARTITION = 600
"""Rows up to which coordinates are partitioned: its matrices are dense."""
UNRETURNED = 1e-6
"""|C| in parts of the mechanism's size that projection may leave."""
OPEN_SAYS = {
    index1.BAUMGARTE: "the motion has left its constraints; reduce dt or rtol, or use Projection or HHT",
    index1.PROJECTION: "projection does not return to the constraints; reduce dt or rtol, or use HHT",
    index1.PARTITION: "the dependent coordinates do not close; reduce dt, or use HHT",
}
BLOWN_UP = 1e12
"""|C| beyond which a motion that stops has blown up, whatever it stopped with."""


class IndexOneSimulation(BodySimulation):
    """As `BodySimulation`, under Baumgarte's stabilisation, projection or partitioned coordinates."""

    method: IndexOne
    _close = True

    def __init__(self, system: System, method: IndexOne, **options: Any) -> None:
        super().__init__(system, method, **options)  # type: ignore[arg-type]
        self.state = self.state._replace(
            moved=np.zeros_like(self.state.moved)
        )  # at index 1 Cq is for turns at their end
        n = 6 * self.model.nb
        kind = {Baumgarte: index1.BAUMGARTE, Projection: index1.PROJECTION, Partitioning: index1.PARTITION}[
            type(method)
        ]
        if kind == index1.PARTITION:
            refuse_velocity_rows(self.model, "nx.Partitioning()")
        m = len(self.tables.rows) if kind == index1.PARTITION else 0
        if m > LARGEST_PARTITION:
            raise InputError(
                f"{system.name!r} has {m} constraint rows; coordinates are partitioned up to {LARGEST_PARTITION}, with dense "
                f"matrices. HHT, Baumgarte and Projection take any number"
            )
        damping = np.zeros(5)
        if isinstance(method, Baumgarte):
            damping[:] = method.damping(system.gravity, self.tables.length, not self.model.positional.all())
        self._kind, self._damping, self._m = kind, damping, m
        integrator = self._integrator = method.integrator
        self._tableau = getattr(integrator, "tableau", EULER)
        rows = integrator.pair.size if isinstance(integrator, EmbeddedPair) else len(self._tableau.b)
        self.problem = self._new_problem()
        self.partitions = 0
        """How often the independent coordinates have been chosen."""
        self._n = n
        self._y, self._stage = np.zeros((2, 2 * n + len(self.z_start)))
        self._y[n : 2 * n], self._y[2 * n :] = self.state.v0[1:, :6].reshape(-1), self.z_start
        self._K = np.zeros((rows, len(self._y)))
        self._most = bounds(system, len(self._y), len(self.z_start))
        if m:
            self._choose()
        self._dt = 0.0
        if len(self.z_start) or self._beyond:  # samples are taken before anything moves
            self._rows.clear()
            self._sample()
        self._go_on(*(options.get(name) for name in ("initial", "q0", "v0")))

    @property
    def kind(self) -> str:
        return type(self.method).__name__

    def live(self) -> Mapping[str, np.ndarray]:
        own = {f"problem.{name}": getattr(self.problem, name) for name in ("dependent", "quality", "missed")}
        return {**super().live(), "y": self._y, **own}

    def numbers_kept(self) -> tuple[str, ...]:
        return (*super().numbers_kept(), "_dt", "partitions")

    def constants(self) -> np.ndarray:
        return NONE

    def forget_counters(self) -> None:
        self.partitions, self.choices = min(self.partitions, 1), 0

    def history(self) -> str:
        return ""

    def _new_problem(self) -> index1.BodyProblem:
        """The problem of the rows at hand."""
        n, m, steps = 6 * self.model.nb, self._m, self._integrator
        end, between = (steps.pair.tables.end, steps.pair.size - 1) if isinstance(steps, EmbeddedPair) else (0, 0)
        return index1.BodyProblem(
            self.tables, self.acts, self.state, self._kind, self._damping, np.zeros(m, dtype=np.int64),
            np.zeros((max(m, 1), n)), np.zeros((m, m)), np.zeros((max(m, 1), 2)), np.zeros(2), np.zeros(1), self.tables.length,
            self._units(), np.array([0.0, LOST if self._kind == index1.BAUMGARTE else UNRETURNED]), end, between,
        )  # fmt: skip

    def _units(self) -> np.ndarray:
        """What makes C of the kept rows a part of the mechanism's size."""
        units = np.zeros_like(self.state.C)
        units[tuple(self.tables.rows[:, :2].T)] = position_units(self.model, self.tables.length)[self.kept]
        return units

    def _tell_violation(self) -> None:
        """Warn, once, where violations since the last look are larger than the method's errors explain."""
        apart, bound = self.problem.apart, bound_of(self.method)
        most = float(apart[0])
        apart[0] = 0.0
        if self._kind == index1.BAUMGARTE and bound < most <= apart[1]:
            what = f"the constraints are violated by {most:.2g} of the mechanism's size by t = {self.t:g} s"
            self.tell_violation(f"{what}, more than {bound:.2g}", most)

    def _choose(self) -> None:
        """The independent coordinates, by pivoting: the columns of Cq that pivoting takes first are the dependent ones."""
        index1.dense_jacobian(self.tables, self.state, self.t, self.problem.J)
        rows = self.problem.units[tuple(self.tables.rows[:, :2].T)]
        columns = np.tile([1.0, 1.0, 1.0, *(self.tables.length,) * 3], self.model.nb)
        _, _, order = scipy.linalg.qr(rows[:, None] * self.problem.J * columns, mode="economic", pivoting=True)
        self.problem.dependent[:] = np.sort(order[: len(self.problem.dependent)])
        self.problem.quality[:] = 0.0
        self.partitions += 1

    keeps_before = True

    def scratch(self) -> list[np.ndarray]:
        return [self._K, self._stage]

    def go_on_from(self, old: March) -> None:
        assert isinstance(old, IndexOneSimulation)
        super().go_on_from(old)
        self._rows.clear()
        self._sample()

    def set_force_states(self, z: np.ndarray) -> None:
        self._y[2 * self._n :] = z

    def march_by(self, dt: float, steps: int, every: int, look: Look) -> None:
        self._chosen = -1
        self.march_steps(dt, steps, every, look)

    def leg(self, t0: float, dt: float, done: int, until: int, every: int, room: np.ndarray) -> Leg:
        if not self._repeating:
            self.note_leg(done)
        A, b, c, _ = self._tableau
        return Leg(
            *march(
                self.problem, A, b, c, False, t0, dt, done, min(until, done + CHUNK), every, self._y,
                self._most, self._stage, self._K, self._n, room,
            )
        )  # fmt: skip

    def after_leg(self, leg: Leg, t0: float, dt: float, taken: int) -> int:
        self._tell_violation()
        if leg.status == OK:
            return 0
        # a choice made for this very step does not serve it, either
        made_here = self.problem.quality[1] == 0.0 or self._chosen == leg.done
        if leg.status == index1.DEGRADED and not (self._m > 0 and taken == 0 and made_here):
            if not self._m and leg.t > self.t + 1e-9 * dt:  # a sample has divided the step, and the state is there
                self.t = leg.t
                self._rechoose()
                self.march_from(leg.t, t0 + (leg.done + 1) * dt - leg.t, 0, 1, 0, unseen)
                return 1
            self._rechoose()
            self._chosen = leg.done
            return 0
        if leg.status == index1.OPEN and self.repeat_step(leg, t0, dt, unseen):
            return 1
        self._refuse_bent(leg.bad, leg.t)
        self._fail(leg.status, leg.t, dt)
        return 0

    def _keep_rows(self, kept: np.ndarray) -> None:
        super()._keep_rows(kept)
        self.problem = self._new_problem()

    def _rechoose(self) -> None:
        """Rows and independent coordinates for the present state, in which those at hand no longer serve."""
        now, best = self.problem.quality.tolist()
        chosen = self._choose_rows()
        if not self._m and best > 0.0:
            self._tell_singular(best if chosen else now, best)
        s = self.state
        s.q1[:], s.v1[:] = s.q0, s.v0
        index1.place_bodies(s, 1)
        if self._m:
            self._choose()
        else:
            self.problem.quality[1] = index1.NOT_NOW

    def _run_adaptive(self, t_end: float, times: np.ndarray, look: Look) -> None:
        method = self._integrator
        assert isinstance(method, EmbeddedPair)
        control, numbers = adaptive.begin(method, self.t, self._dt)
        longest = limit = float(control.dt_max)
        room = self.room(len(times) + 2 if len(times) else 0)
        y_old, scale = np.zeros((2, len(self._y)))
        every = 0 if len(times) else self.output_every
        pace, chosen, most, turned = Pace(200, least=50), -1.0, 0.0, False
        while control.t < t_end:
            spent, steps = control.evaluations, control.steps
            control.dt_max = min(limit, self._longest() if turned else math.inf)
            control.dt = min(control.dt, control.dt_max)
            pace.begin()
            status, rows, _ = march_adaptive(
                self.problem, method.pair.tables, numbers, t_end, self.until_look(pace.size), every, times, self._y, y_old, self._stage,
                scale, self._K, self._n, room,
            )  # fmt: skip
            pace.end()
            self.note_done(control.evaluations - spent)
            self.t, self._dt = float(control.t), float(control.dt)
            self._steps += int(control.steps - steps)
            self._keep(room[:rows])
            self._tell_violation()
            if status == index1.DEGRADED:
                control.first_stage_known, first = 0.0, abs(float(self.problem.quality[1]))
                most = max(most, first)
                if first > FIRM * most:
                    limit = longest
                if chosen != self.t:
                    self._rechoose()
                    chosen = self.t
                    continue
                # what was chosen for this state does not reach the next: the step is too long, unless the pose is singular
                if first > SINGULAR * most and self._dt > method.dt_min:
                    control.dt = limit = SHORTER * min(self._dt, t_end - self.t)
                    continue
            if status == index1.OPEN and self._dt > self._longest():
                control.first_stage_known, turned = 0.0, True
                continue
            shorter = adaptive.SHRINK * min(self._dt, t_end - self.t)
            if self.may_be_shorter(status, shorter):
                control.dt = shorter
                continue
            if status != OK:
                self._fail(status, float(control.failed_at), self._dt)
            look()
            pace.adapt(control.evaluations - spent)

    def _longest(self) -> float:
        """The longest step [s] in which dependent coordinates are surely found: their increments change what a body has turned far
        otherwise than the velocities tell."""
        if not self._m:
            return math.inf
        fastest = np.linalg.norm(self._y[self._n : 2 * self._n].reshape(-1, 6)[:, :3], axis=1).max(initial=0.0)
        return TURN / float(fastest) if fastest > 0.0 else math.inf

    def _refuse_bent(self, bad: int, t: float) -> None:
        """SolveError where component `bad` of y is a bristle's, bent by too long steps."""
        first = 2 * self._n
        if bad >= first and self.method.dt is not None:
            try:
                refuse_bent(self.system, bad - first, self._y[first:], t, self.method.dt, self.method.integrator.name)
            except SolveError as error:
                self.ended(error, bool(self._rows))
                raise

    def _row(self) -> np.ndarray:
        room = np.empty((1, self._width))
        n, before = 2 * self._n, self._y.copy()
        status, _ = sample(self.problem, self.t, self._y, self._K, self._n, room)
        # to look at dependent coordinates closes them once more, which no step of a whole run does
        self._y[:n] = before[:n]
        if status != OK:
            self._fail(status, self.t)
        return room

    def _fail(self, status: int, t: float, dt: float = 0.0, first: bool = False) -> None:
        if status == LEFT:
            self.t = t
            self._leave()
        step, explicit = self.method.dt, self.method.integrator.name
        if first or status >= FORCE_FAILED or status == UNCOUNTED:
            try:
                known = status >= FORCE_FAILED or status == UNCOUNTED
                return super()._fail(status if known else hht.SINGULAR, t, dt, first)
            except SolveError as error:
                raise with_advice(error, self.system, step, explicit) from error.__cause__
        where, size, joint = self._worst(t)
        at = f", |C| = {size:.2g} at {where}" if where else ""
        says = {
            NOT_FINITE: "the motion is no longer finite; reduce dt, check masses, stiffness and damping",
            STEP_TOO_SMALL: f"the step fell to {dt:.3g} s and the error still exceeds the tolerance; loosen rtol",
            index1.SINGULAR: "the equations of motion are singular; check masses and redundant joints",
            index1.OPEN: OPEN_SAYS[self._kind],
            index1.DEGRADED: "no choice of independent coordinates serves here: a singular pose; use HHT",
        }[NOT_FINITE if size > BLOWN_UP else status]  # fmt: skip
        wrong = impossible_orientation(self.system, t, dt)
        message = wrong or f"{says} (t = {t:g} s{at}){bristle_advice(self.system, step, explicit)}"
        raise self.ended(SolveError(message, time=t, where=joint), bool(self._rows))

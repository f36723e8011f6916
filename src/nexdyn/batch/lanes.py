"""A batch in lanes: LANES members march together, packs of them on all cores.

A member is computed by the same instructions on the same numbers whoever its neighbours are, so that its bits depend
neither on the size of the batch nor on the number of threads. Members whose tables have one pattern share a pack.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from nexdyn.batch.lane_tables import pattern, stack, system_of, with_shared_model
from nexdyn.errors import SingularError
from nexdyn.integrate.methods import FixedStep, SemiImplicitEuler
from nexdyn.integrate.tableaus import EULER
from nexdyn.model.callbacks import failure
from nexdyn.simulation.problem import build_problem, freedom_name, weak_freedom
from nexdyn.simulation.steps import SLICE
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector
from nexdyn.tree.lanes.march import EXPLICIT, NEVER, SEMI_IMPLICIT, Failures, march_packs
from nexdyn.tree.lanes.memory import aligned, lane_zeros
from nexdyn.tree.motion import TreeProblem
from nexdyn.tree.threads import pool
from nexdyn.tree.tree import Tree

ROOM = 2**13
"""Numbers of a lane that one slice records at most."""
TURN = 0.2
"""Seconds after which a thread of the pool, a pack done, goes behind what else waits for it."""
SURE = 1e-10
"""A pivot above this part of the largest inertia is one."""

Array = np.ndarray

ADVICE = "check masses, stiffness and damping"
"""How the cause ends of a member whose motion is not finite, where no function of the user is known to have raised."""


class Members(NamedTuple):
    """Members that can start: their numbers (N,), which rise, their trees, states (N, nq) and (N, nv), and efforts
    (N or 1 for all, rows, nv)."""

    numbers: Array
    trees: Sequence[Tree]
    q: Array
    v: Array
    inputs: Array

    def part(self, which: slice) -> Members:
        inputs = self.inputs if len(self.inputs) == 1 else self.inputs[which]
        return Members(self.numbers[which], self.trees[which], self.q[which], self.v[which], inputs)

    @property
    def packs(self) -> int:
        return -(-len(self.numbers) // LANES)


class Grid(NamedTuple):
    """When a run of constant step records: `whole` steps of dt, every `every`-th kept, a `rest`, and the end."""

    t0: float
    t_end: float
    dt: float
    whole: int
    rest: float
    every: int

    @property
    def steps(self) -> int:
        return self.whole + (1 if self.rest else 0)

    @property
    def kept(self) -> int:
        """Rows of the whole steps."""
        return -(-self.whole // self.every)

    @property
    def keeps_rest(self) -> bool:
        return self.rest > 0.0 and self.whole % self.every == 0

    @property
    def times(self) -> Array:
        """Of the rows [s]."""
        last = [self.t0 + self.whole * self.dt] if self.keeps_rest else []
        return np.concatenate([self.t0 + self.dt * np.arange(0, self.whole, self.every), last, [self.t_end]])


class Piece(NamedTuple):
    """Steps k … k_stop − 1 from t0 on, every `every`-th recorded, under the inputs of row k + shift; t_end is told where it
    is a number."""

    t0: float
    dt: float
    k: int
    k_stop: int
    every: int
    shift: int
    t_end: float


class Done(NamedTuple):
    """Packs that were marched: rows (members, rows, nq + 2 nv), NaN where there are none, and why members failed."""

    numbers: Array
    rows: Array
    failures: dict[int, tuple[str, float]]
    steps: int
    """Steps that were taken; fewer than all where it was stopped."""
    between: Array | None = None
    """q, v and the states of forces (members, nq + nv + nz) at the last whole step, where a shorter one has followed it."""


# --- packs ------------------------------------------------------------------------------------------------------------


def groups_of(members: Members, dynamics: Any) -> list[Members]:
    """Members by their pattern."""
    if len({id(tree) for tree in members.trees}) <= 1:
        return [members]
    by_pattern: dict[bytes, list[int]] = {}
    for m, tree in enumerate(members.trees):
        key = pattern(build_problem(tree, members.q[m], dynamics))
        by_pattern.setdefault(key, []).append(m)
    numbers, trees, q, v, inputs = members
    return [
        Members(numbers[of], [trees[m] for m in of], q[of], v[of], inputs if len(inputs) == 1 else inputs[of])
        for of in by_pattern.values()
    ]


class Queue:
    """Members that wait, handed out a few packs at a time: fewer the fewer are left, so that threads end together."""

    def __init__(self, groups: list[Members], threads: int, own_trees: bool) -> None:
        self._groups, self._threads, self._own_trees = groups, threads, own_trees
        self.packs = sum(group.packs for group in groups)
        """How many there are in all."""
        self._group, self._first, self._given = 0, 0, 0
        self._lock = threading.Lock()

    def next(self, most: int) -> tuple[int, Members] | None:
        """Up to `most` packs of one tree and one row of inputs, and how many were given before; None at the end."""
        with self._lock:
            if self._group == len(self._groups):
                return None
            group, first, given = self._groups[self._group], self._first, self._given
            left = group.packs - first // LANES
            apart = self._own_trees or len(group.inputs) > 1
            count = 1 if apart else max(1, min(most, -(-left // (2 * self._threads))))
            self._first, self._given = first + count * LANES, given + count
            if count == left:
                self._group, self._first = self._group + 1, 0
            return given, group.part(slice(first, first + count * LANES))


# --- the march --------------------------------------------------------------------------------------------------------


class Workplace:
    """What one thread marches its packs in, one after another: tables of lanes, kept while packs are of one tree."""

    def __init__(self, tree: Tree, run: LaneRun) -> None:
        nz, n = len(run.z), tree.nv
        size, width = 2 * n + nz, 1 + tree.nq + 2 * n + nz
        self.run = run
        self.y, self.stage = (LaneVector(lane_zeros((size, 1, LANES)), 0) for _ in range(2))
        self.K = LaneTable(lane_zeros((len(run.scheme[1]), size, LANES)), 0)
        self.room = LaneTable(lane_zeros((max(1, min(run.grid.kept + 1, ROOM // width)), width, LANES)), 0)
        self._tree: Tree | None = None
        self._inputs: Array | None = None

    @property
    def tables(self) -> tuple[Any, ...]:
        """y, stage, K, n, inputs and room, as `march_packs` takes them."""
        return self.y, self.stage, self.K, self.problem.n, self.inputs, self.room

    def take(self, members: Members) -> None:
        """Make ready for packs of one tree, or of one pack; lanes that are left over do as the last member."""
        filled = [*range(len(members.trees)), *[-1] * (LANES - len(members.trees))][:LANES]
        first = members.trees[0]
        alike = all(tree is first for tree in members.trees)
        if not alike or first is not self._tree:
            dynamics = self.run.dynamics
            if alike:
                self.problem = stack([build_problem(first, members.q[0], dynamics)] * LANES)
            else:
                self.problem = stack([build_problem(members.trees[m], members.q[m], dynamics) for m in filled])
            self.run.calls = any(force.callbacks() for force in first.system.forces.values())
            if not self.run.own_tables:
                self.problem = with_shared_model(self.problem, first)
            self.sure = np.broadcast_to(sure_pivot(self.problem), LANES).copy()
            self._tree = first if alike else None
        if self._inputs is not members.inputs:
            each = np.broadcast_to(members.inputs, (len(members.trees), *members.inputs.shape[1:]))
            self.inputs, self._inputs = aligned(LaneTable.of(each[filled])), members.inputs


class LaneRun:
    """Marches packs of members by a method of constant step over one grid of times."""

    def __init__(
        self, method: FixedStep, dynamics: Any, grid: Grid, own_tables: bool, z: Array, into: Array | None
    ) -> None:
        """own_tables: members have trees of their own. Which code runs hangs on that alone, not on how many there are.

        z (nz,): states of forces at the start. into (all members, rows, nq + 2 nv + nz): packs of neighbours record there, others into
        rows of their own.
        """
        self.method, self.dynamics, self.grid, self.own_tables, self.z = method, dynamics, grid, own_tables, z
        self.into, self.times = into, grid.times
        tableau = getattr(method, "tableau", EULER)
        self.scheme = (
            tableau.A,
            tableau.b,
            tableau.c,
            SEMI_IMPLICIT if isinstance(method, SemiImplicitEuler) else EXPLICIT,
        )
        self._stop, self._heard = threading.Event(), threading.Event()
        self._ended: deque[Done | Workplace | BaseException | None] = deque()
        self._took: dict[int, int] = {}
        self._count = 16  # steps of a slice
        self.calls = True
        """Whether functions of the user are called; known once the tables of a system are made."""

    def run(self, members: Members, threads: int, take: Callable[[Done], None], look: Callable[[float], None]) -> None:
        """March all members; `take` gets packs that are done, `look` a few times a second the part that is done.

        Both are called by this thread. What `look` raises stops the run; what was reached goes to `take`.
        """
        self._waiting, self._threads = Queue(groups_of(members, self.dynamics), threads, self.own_tables), threads
        at_work = 0
        try:
            for _ in range(min(threads, self._waiting.packs)):
                pool().submit(self._work)
                at_work += 1
            told = time.perf_counter()
            while at_work:
                for what in self._news():
                    match what:
                        case None:
                            at_work -= 1
                        case Done():
                            take(what)
                        case Workplace():
                            at_work -= 1
                            pool().submit(self._work, what)
                            at_work += 1
                        case BaseException():
                            raise what
                if time.perf_counter() - told > 0.1:
                    look(min(1.0, sum(self._took.values()) / max(1, self.grid.steps * self._waiting.packs)))
                    told = time.perf_counter()
        except BaseException:
            self._stop.set()
            while at_work:
                for what in self._news():
                    if isinstance(what, Done):
                        with suppress(Exception):  # the first error is told
                            take(what)
                    at_work -= what is None or isinstance(what, Workplace)
            raise
        finally:
            self.into = None  # a thread that has ended may hold this run a moment longer, and is not to hold the rows

    def _news(self) -> Iterator[Done | Workplace | BaseException | None]:
        """What threads have to say, for 0.1 s at most: packs that are done, a thread that waits to be called back, an error,
        None where a thread has ended."""
        self._heard.wait(0.1)
        self._heard.clear()
        while self._ended:
            yield self._ended.popleft()

    def _work(self, place: Workplace | None = None) -> None:
        """What a thread does: march packs until none waits.

        No closure, which would know itself, and keep the rows of the batch alive until Python looks for circles."""
        began = time.perf_counter()
        try:
            while not self._stop.is_set():
                packs = self._waiting.next(self._most_packs())
                if packs is None:
                    break
                number, members = packs
                place = place or Workplace(members.trees[0], self)
                self._ended.append(self._march(members, number, place))
                if self.into is None:
                    # what is recorded elsewhere is to be taken at once, and must not pile up: the thread comes back when it is
                    full = len(self._ended) > self._threads
                    if full:
                        self._ended.append(place)
                    self._heard.set()
                    if full:
                        return
                if time.perf_counter() - began > TURN:  # other batches wait for the same threads
                    pool().submit(self._work, place)
                    return
        except BaseException as error:
            self._ended.append(error)
        self._ended.append(None)
        self._heard.set()

    def _most_packs(self) -> int:
        """How many packs are marched before anybody looks; one where its rows are taken at once, its end is a march of its own, or
        functions of the user may raise, of which the last to do so is known."""
        grid = self.grid
        apart = self.into is None or grid.rest or not grid.whole or self.calls
        return 1 if apart else max(1, self._count // grid.whole)

    def _rows(self, numbers: Array, width: int) -> Array:
        first = int(numbers[0])
        if self.into is not None and numbers[-1] == first + len(numbers) - 1:
            return self.into[first : first + len(numbers)]
        return np.empty((len(numbers), len(self.times), width))

    def _march(self, members: Members, number: int, place: Workplace) -> Done:
        """March the packs that `take` allows together, all steps of one after the other; `number` tells them apart."""
        grid, packs = self.grid, members.packs
        place.take(members)
        rows = self._rows(members.numbers, place.room.data.shape[1] - 1)
        failed = np.full((packs, LANES, 2), NEVER, dtype=np.int64)
        sound = np.zeros((packs, LANES), dtype=np.int64)
        # what a function raises at the start is asked for before one raises on the way
        reasons = self._why(members, place, sound) if self.calls else {}
        done, row = 0, 0
        while True:
            count = grid.whole if packs > 1 else min(self._count, grid.whole - done)
            # the last slice tells the end, too
            end = grid.t_end if done + count == grid.whole and grid.whole and not grid.rest else np.nan
            piece = Piece(grid.t0, grid.dt, done, done + count, grid.every, 0, end)
            began = time.perf_counter()
            row = self._cross(piece, place, members, done == 0, sound, failed, rows, row)
            took = time.perf_counter() - began
            done += count
            self._took[number] = packs * done
            fits = int(packs * count * min(8.0, SLICE / max(took, 1e-6)))
            self._count = max(1, fits, self._count if took < SLICE else 0)
            if done == grid.whole or self._stop.is_set():
                break
        whole, between = done == grid.whole, None
        if whole and grid.rest:  # of one pack, see `_most_packs`
            y = place.y.data[place.problem.n :, 0]
            between = np.concatenate([place.problem.base.data[:, 0], y])[:, : len(members.numbers)].T.copy()
        if whole and (grid.rest or not grid.whole):
            before, late = failed.reshape(-1, 2), np.full((packs * LANES, 2), NEVER, dtype=np.int64)
            late[Failures(before).step != NEVER] = grid.whole
            t, last = grid.t0 + grid.whole * grid.dt, 1 if grid.rest else 0
            piece = Piece(t, grid.rest, 0, last, 1 if grid.keeps_rest else 0, grid.whole, grid.t_end)
            row = self._cross(piece, place, members, False, sound, late.reshape(failed.shape), rows, row)
            done += last
            new = Failures(late).step == 0
            before[new] = late[new] + [grid.whole, 0]
        rows[:, row:] = np.nan
        self._took[number] = packs * grid.steps
        if not (self.calls or sound.all()):
            reasons = self._why(members, place, sound)
        failures = self._failures(members, rows, failed.reshape(-1, 2), reasons, whole)
        return Done(members.numbers, rows, failures, done, between)

    def _cross(
        self, piece: Piece, place: Workplace, members: Members, anew: bool, sound: Array, failed: Array, rows: Array, row: int
    ) -> int:  # fmt: skip
        """See `march_packs`."""
        march: Any = march_packs
        reached: int = march(
            place.problem, *self.scheme, *piece, *place.tables, anew, members.q, members.v, self.z, place.sure, sound, failed, rows, row
        )  # fmt: skip
        return reached

    def _why(self, members: Members, place: Workplace, sound: Array) -> dict[int, str]:
        """Why members cannot start, of packs in which not all surely can: joints that move no inertia, or an acceleration
        that is not finite."""
        grid, reasons = self.grid, dict[int, str]()
        nothing = Piece(grid.t0, grid.dt, 0, 0, 0, 0, np.nan)
        for p in np.flatnonzero(~sound.all(axis=1)).tolist():
            pack, failed = members.part(slice(p * LANES, (p + 1) * LANES)), np.empty((1, LANES, 2), dtype=np.int64)
            self._cross(nothing, place, pack, True, sound[p : p + 1], failed, np.empty((0, 0, 0)), 0)
            for s, tree in enumerate(pack.trees):
                if sound[p, s]:
                    continue
                weak = weak_freedom(system_of(place.problem, s))
                if weak is not None:
                    try:
                        tree.refuse_singular(*weak)
                    except SingularError as error:
                        reasons[p * LANES + s] = str(error)
                        continue
                lost = np.flatnonzero(~np.isfinite(place.K.data[0, :, s]))
                if len(lost):
                    where, _, _ = freedom_name(tree, int(lost[0]))
                    reasons[p * LANES + s] = (
                        f"the motion is not finite at t = {grid.t0:g} s{where}; {self._raised(tree, grid.t0)}"
                    )
        return reasons

    def _failures(
        self, members: Members, rows: Array, failed: Array, reasons: dict[int, str], ended: bool
    ) -> dict[int, tuple[str, float]]:
        """Why members failed and when [s]; their rows from then on become NaN."""
        grid = self.grid
        failures: dict[int, tuple[str, float]] = {}
        if not reasons and (Failures(failed).step == NEVER).all() and (not ended or np.isfinite(rows[:, -1]).all()):
            return failures
        for s, (member, tree) in enumerate(zip(members.numbers.tolist(), members.trees, strict=True)):
            if s in reasons:
                rows[s] = np.nan
                failures[member] = reasons[s], grid.t0
                continue
            step, component = failed[s].tolist()
            if step == NEVER:
                if not ended or np.isfinite(rows[s, -1]).all():
                    continue
                # the last state is finite, its acceleration is not
                states = rows.shape[2] - len(self.z)
                component, t = int(np.flatnonzero(~np.isfinite(rows[s, -1]))[0]) - states, grid.t_end
                rows[s, -1] = np.nan
            else:
                kept = min(step, grid.whole) // grid.every + 1 if step < grid.whole or grid.keeps_rest else grid.kept
                if not np.isfinite(rows[s, kept - 1]).all():
                    kept -= 1
                rows[s, kept:] = np.nan
                t = grid.t0 + step * grid.dt
            where, _, _ = freedom_name(tree, component)
            failures[member] = f"the motion is no longer finite at t = {t:g} s{where}; {self._raised(tree, t)}", t
        return failures

    def _raised(self, tree: Tree, t: float) -> str:
        """What functions of the user raised, or what to look at."""
        for force in tree.system.forces.values():
            calls = force.callbacks()
            if calls:
                error = failure(force, t, calls)
                if error.__cause__ is not None:
                    return str(error)
        return f"reduce dt = {self.method.dt:g} s, {ADVICE}"


def sure_pivot(problem: TreeProblem) -> Any:
    """What a pivot must exceed, () or (LANES,), to be an inertia beyond doubt; ∞ where nothing says so."""
    if problem.coupling is not None:
        return np.inf
    body = problem.model.body  # of all members, or with lanes behind
    moments = body.I.I.numbers[1:, [0, 3, 5]].sum(axis=1)  # xx, yy, zz
    arms = body.X_PJ.p.numbers[1:]
    return SURE * (moments + body.I.m.numbers[1:] * (arms * arms).sum(axis=1)).max(axis=0, initial=0.0)


def grid_of(dt: float, t0: float, t_end: float, every: int) -> Grid:
    """The steps of dt [s] of a run, as `nx.simulate` takes them."""
    whole = int(np.floor((t_end - t0) / dt + 1e-9))
    rest = t_end - t0 - whole * dt
    return Grid(t0, t_end, dt, whole, rest if rest > 1e-9 * dt else 0.0, every)

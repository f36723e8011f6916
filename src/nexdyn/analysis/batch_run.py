"""A batch in lanes: LANES members march together, packs of them on all cores.

A member is computed by the same instructions on the same numbers whoever its neighbours are, so that its bits depend
neither on the size of the batch nor on the number of threads. Members whose tables have one pattern share a pack.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from nexdyn.analysis.problem import build_problem, freedom_name, weak_freedom
from nexdyn.errors import InputError, SingularError
from nexdyn.forces.kinds import APPLIED, PLANE_CONTACT
from nexdyn.forces.tables import ForceTables
from nexdyn.integrate.methods import FixedStep, SemiImplicitEuler
from nexdyn.integrate.tableaus import EULER
from nexdyn.model.callbacks import failure
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector, SharedTable
from nexdyn.tree import tables
from nexdyn.tree.lane_entries import shared_model
from nexdyn.tree.lane_march import COMPONENT, EXPLICIT, NEVER, SEMI_IMPLICIT, STEP, march_and_keep
from nexdyn.tree.lane_memory import aligned, lane_zeros
from nexdyn.tree.motion import TreeProblem
from nexdyn.tree.threads import pool
from nexdyn.tree.tree import Tree

SLICE = 0.05
"""Seconds that the compiled loop runs between two looks at whether to stop."""
ROOM = 2**13
"""Numbers of a lane that one slice records at most."""
LENGTH = 6
"""Among the data of a contact: of a capsule, 0 of a sphere, which touches once."""
TURN = 0.2
"""Seconds after which a thread of the pool, a pack done, goes behind what else waits for it."""
SURE = 1e-10
"""A pivot above this part of the largest inertia is one."""

Array = np.ndarray


class Member(NamedTuple):
    """A member that can start: its number, tree, state and efforts (rows, nv)."""

    number: int
    tree: Tree
    q: Array
    v: Array
    inputs: Array


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


class Done(NamedTuple):
    """A pack that was marched: rows (members, rows, nq + 2 nv), NaN where there are none, and why members failed."""

    members: list[Member]
    rows: Array
    failures: dict[int, tuple[str, float]]
    steps: int
    """Steps that were taken; fewer than all where it was stopped."""


# --- packs ------------------------------------------------------------------------------------------------------------


def stack(values: list[Any]) -> Any:
    """A nest of named tuples from one of each system: floats become lanes, all else is the first's."""
    first = values[0]
    if isinstance(first, ForceTables):
        lanes = {name: stack([getattr(value, name) for value in values]) for name in ("frames", "data")}
        return first._replace(**lanes)
    if isinstance(first, tuple):
        return type(first)(*(stack([value[k] for value in values]) for k in range(len(first))))
    if isinstance(first, np.ndarray) and first.dtype == float:
        return aligned((LaneVector if first.ndim == 1 else LaneTable).of(np.array(values)))
    return first


def with_shared_model(problem: TreeProblem, tree: Tree) -> TreeProblem:
    """A stacked problem whose lanes read one model: a third less memory runs through the cache than with one each."""
    return problem._replace(model=shared_model(tree.compiled.model))


def system_of(value: Any, s: int) -> Any:
    """The nest of lane s, of plain arrays."""
    if isinstance(value, LaneVector):
        return value.data[:, 0, s].copy()
    if isinstance(value, LaneTable):
        return value.data[:, :, s].copy()
    if isinstance(value, SharedTable):
        return value.data
    if isinstance(value, tuple):
        return type(value)(*(system_of(item, s) for item in tuple.__iter__(value)))
    return value


def pattern(problem: TreeProblem) -> bytes:
    """What members of a pack have in common: all that is no float, and where the data of forces stand."""
    forces = [] if problem.forces is None else [force_pattern(problem.forces)]
    return b"|".join([problem.model.topology.tobytes(), *forces])


def force_pattern(forces: ForceTables) -> bytes:
    """The same of forces."""
    index, data = forces.index, forces.data
    parts = [index.tobytes()]
    for row in index[index[:, 0] == APPLIED]:
        k, lengths = int(row[3]) + 1, []
        for _ in range(6):
            lengths.append(data[k + 1])
            k += 2 + int(data[k + 1])
        parts.append(np.array(lengths).tobytes())
    parts.append((data[index[index[:, 0] == PLANE_CONTACT, 3] + LENGTH] != 0.0).tobytes())
    return b"|".join(parts)


def packs_of(members: list[Member], dynamics: Any) -> Iterator[list[Member]]:
    """Members with one pattern, LANES at a time."""
    trees = {id(member.tree): member for member in members}
    if len(trees) == 1:
        groups = [members]
    else:
        by_pattern: dict[bytes, list[Member]] = {}
        for member in members:
            key = pattern(build_problem(member.tree, member.q, dynamics))
            by_pattern.setdefault(key, []).append(member)
        groups = list(by_pattern.values())
    for group in groups:
        for first in range(0, len(group), LANES):
            yield group[first : first + LANES]


# --- the march --------------------------------------------------------------------------------------------------------


class Workplace:
    """What one thread marches its packs in, one after another: tables of lanes, kept while packs are of one tree."""

    def __init__(self, tree: Tree, run: LaneRun) -> None:
        n, width = tree.nv, 1 + tree.nq + 2 * tree.nv
        self.run = run
        self.y, self.stage = (LaneVector(lane_zeros((2 * n, 1, LANES)), 0) for _ in range(2))
        self.K = LaneTable(lane_zeros((len(run.scheme[1]), 2 * n, LANES)), 0)
        self.room = LaneTable(lane_zeros((max(1, min(run.grid.kept + 1, ROOM // width)), width, LANES)), 0)
        self._tree: Tree | None = None
        self._inputs: list[Array] = []

    def take(self, pack: list[Member]) -> TreeProblem:
        """The problem of a pack at its start; lanes that are left over do as the last member."""
        filled = [*pack, *[pack[-1]] * (LANES - len(pack))]
        first = pack[0].tree
        alike = all(member.tree is first for member in pack)
        if not alike or first is not self._tree:
            if alike:
                self.problem = stack([build_problem(first, pack[0].q, self.run.dynamics)] * LANES)
            else:
                self.problem = stack([build_problem(member.tree, member.q, self.run.dynamics) for member in filled])
            if not self.run.own_tables:
                self.problem = with_shared_model(self.problem, first)
            self.sure = sure_pivot(self.problem)
            self._tree = first if alike else None
        n = self.problem.n
        self.problem.base.data[:, 0] = np.array([member.q for member in filled]).T
        self.y.data[:n] = 0.0
        self.y.data[n:, 0] = np.array([member.v for member in filled]).T
        inputs = [member.inputs for member in filled]
        if len(self._inputs) == 0 or any(a is not b for a, b in zip(inputs, self._inputs, strict=True)):
            self.inputs, self._inputs = aligned(LaneTable.of(np.array(inputs))), inputs
        return self.problem


class LaneRun:
    """Marches packs of members by a method of constant step over one grid of times."""

    def __init__(self, method: FixedStep, dynamics: Any, grid: Grid, own_tables: bool, into: Array | None) -> None:
        """own_tables: members have trees of their own. Which code runs hangs on that alone, not on how many there are.

        into (all members, rows, nq + 2 nv): packs of neighbours record there, others into rows of their own.
        """
        self.method, self.dynamics, self.grid, self.own_tables = method, dynamics, grid, own_tables
        self.into, self.times = into, grid.times
        tableau = getattr(method, "tableau", EULER)
        self.scheme = (
            tableau.A,
            tableau.b,
            tableau.c,
            SEMI_IMPLICIT if isinstance(method, SemiImplicitEuler) else EXPLICIT,
        )
        self._stop = threading.Event()
        self._took: dict[int, int] = {}
        self._count = 16  # steps of a slice
        self._lock = threading.Lock()

    def run(
        self, members: list[Member], threads: int, take: Callable[[Done], None], look: Callable[[float], None]
    ) -> None:
        """March all members; `take` gets each pack that is done, `look` a few times a second the part that is done.

        Both are called by this thread. What `look` raises stops the run; what was reached goes to `take`.
        """
        packs = -(-len(members) // LANES)
        waiting = enumerate(packs_of(members, self.dynamics))
        ended: deque[Done | Workplace | BaseException | None] = deque()
        heard = threading.Event()

        def work(place: Workplace | None = None) -> None:
            began = time.perf_counter()
            try:
                while not self._stop.is_set():
                    with self._lock:
                        number, pack = next(waiting, (-1, []))
                    if not pack:
                        break
                    place = place or Workplace(pack[0].tree, self)
                    ended.append(self._march(pack, number, place))
                    if self.into is None:
                        # what is recorded elsewhere is to be taken at once, and must not pile up: the thread comes back when it is
                        heard.set()
                        if len(ended) > threads:
                            ended.append(place)
                            return
                    if time.perf_counter() - began > TURN:  # other batches wait for the same threads
                        pool().submit(work, place)
                        return
            except BaseException as error:
                ended.append(error)
            ended.append(None)
            heard.set()

        def tell() -> None:
            look(min(1.0, sum(self._took.values()) / max(1, self.grid.steps * packs)))

        at_work = 0

        def hear(error_too: bool) -> None:
            nonlocal at_work
            heard.wait(0.1)
            heard.clear()
            while ended:
                match ended.popleft():
                    case None:
                        at_work -= 1
                    case Done() as done:
                        take(done)
                    case Workplace() as place if self._stop.is_set():
                        at_work -= 1
                    case Workplace() as place:
                        pool().submit(work, place)
                    case BaseException() as error if error_too:
                        raise error

        try:
            for _ in range(min(threads, packs)):
                pool().submit(work)
                at_work += 1
            told = time.perf_counter()
            while at_work:
                hear(error_too=True)
                if time.perf_counter() - told > 0.1:
                    tell()
                    told = time.perf_counter()
        except BaseException:
            self._stop.set()
            while at_work:
                with suppress(Exception):  # the first error is told
                    hear(error_too=False)
            raise

    def _rows(self, pack: list[Member], width: int) -> Array:
        first = pack[0].number
        if self.into is not None and pack[-1].number == first + len(pack) - 1:  # numbers rise
            return self.into[first : first + len(pack)]
        return np.empty((len(pack), len(self.times), width))

    def _march(self, pack: list[Member], number: int, place: Workplace) -> Done:
        grid, n = self.grid, pack[0].tree.nv
        problem = place.take(pack)
        y, stage, K, inputs, room = place.y, place.stage, place.K, place.inputs, place.room
        rows = self._rows(pack, room.data.shape[1] - 1)
        reasons = self._start(problem, pack, place, rows)
        failed = np.full((LANES, 2), NEVER, dtype=np.int64)
        done, count, row = 0, self._count, 0
        while done < grid.whole and not self._stop.is_set():
            count = min(count, grid.whole - done)
            # the last slice tells the end, too
            end = grid.t_end if done + count == grid.whole and not grid.rest else np.nan
            began = time.perf_counter()
            row = march_and_keep(
                problem, *self.scheme, grid.t0, grid.dt, done, done + count, grid.every, y, stage, K, n, inputs, 0, end, failed,
                room, rows, row,
            )  # fmt: skip
            took = time.perf_counter() - began
            done += count
            self._took[number] = done
            count = self._count = max(1, int(count * min(8.0, SLICE / max(took, 1e-6))))
        whole = done == grid.whole and not self._stop.is_set()
        if whole and (grid.rest or not grid.whole):
            late = np.full((LANES, 2), NEVER, dtype=np.int64)
            late[failed[:, STEP] != NEVER] = grid.whole
            every, t = 1 if grid.keeps_rest else 0, grid.t0 + grid.whole * grid.dt
            row = march_and_keep(
                problem, *self.scheme, t, grid.rest, 0, 1 if grid.rest else 0, every, y, stage, K, n, inputs, grid.whole,
                grid.t_end, late, room, rows, row,
            )  # fmt: skip
            done += 1 if grid.rest else 0
            new = late[:, STEP] == 0
            failed[new] = late[new] + [grid.whole, 0]
        rows[:, row:] = np.nan
        self._took[number] = grid.steps
        return Done(pack, rows, self._failures(pack, rows, failed, reasons, whole), done)

    def _start(self, problem: TreeProblem, pack: list[Member], place: Workplace, rows: Array) -> dict[int, str]:
        """Why members cannot start: joints that move no inertia, or an acceleration that is not finite."""
        grid, K = self.grid, place.K
        march_and_keep(
            problem, *self.scheme, grid.t0, grid.dt, 0, 0, grid.every, place.y, place.stage, K, problem.n, place.inputs, 1,
            grid.t0, np.full((LANES, 2), NEVER, dtype=np.int64), place.room, rows, 0,
        )  # fmt: skip
        reasons: dict[int, str] = {}
        sound, finite = surely_sound(problem, place.sure), np.isfinite(K.data[0]).all(axis=0)
        if sound.all() and finite.all():
            return reasons
        for s, member in enumerate(pack):
            if not sound[s]:
                weak = weak_freedom(system_of(problem, s))
                if weak is not None:
                    try:
                        member.tree.refuse_singular(*weak)
                    except SingularError as error:
                        reasons[s] = str(error)
                        continue
            if not finite[s]:
                where, _, _ = freedom_name(member.tree, int(np.flatnonzero(~np.isfinite(K.data[0, :, s]))[0]))
                reasons[s] = f"the motion is not finite at t = {grid.t0:g} s{where}; {self._raised(member, grid.t0)}"
        return reasons

    def _failures(
        self, pack: list[Member], rows: Array, failed: Array, reasons: dict[int, str], ended: bool
    ) -> dict[int, tuple[str, float]]:
        """Why members failed and when [s]; their rows from then on become NaN."""
        grid = self.grid
        failures: dict[int, tuple[str, float]] = {}
        if not reasons and (failed[:, STEP] == NEVER).all() and (not ended or np.isfinite(rows[:, -1]).all()):
            return failures
        for s, member in enumerate(pack):
            if s in reasons:
                rows[s] = np.nan
                failures[member.number] = reasons[s], grid.t0
                continue
            step, component = int(failed[s, STEP]), int(failed[s, COMPONENT])
            if step == NEVER:
                if not ended or np.isfinite(rows[s, -1]).all():
                    continue
                # the last state is finite, its acceleration is not
                component, t = int(np.flatnonzero(~np.isfinite(rows[s, -1]))[0]) - rows.shape[2], grid.t_end
                rows[s, -1] = np.nan
            else:
                kept = min(step, grid.whole) // grid.every + 1 if step < grid.whole or grid.keeps_rest else grid.kept
                if not np.isfinite(rows[s, kept - 1]).all():
                    kept -= 1
                rows[s, kept:] = np.nan
                t = grid.t0 + step * grid.dt
            where, _, _ = freedom_name(member.tree, component)
            failures[member.number] = (
                f"the motion is no longer finite at t = {t:g} s{where}; {self._raised(member, t)}", t,
            )  # fmt: skip
        return failures

    def _raised(self, member: Member, t: float) -> str:
        """What functions of the user raised, or what to look at."""
        for force in member.tree.system.forces.values():
            calls = force.callbacks()
            if calls:
                error = failure(force, t, calls)
                if error.__cause__ is not None:
                    return str(error)
        return f"reduce dt = {self.method.dt:g} s, check masses, stiffness and damping"


def sure_pivot(problem: TreeProblem) -> Any:
    """What a pivot must exceed, () or (LANES,), to be an inertia beyond doubt; ∞ where nothing says so."""
    if problem.factorisation is not None or problem.coupling is not None:
        return np.inf
    body = problem.model.body.data[1:]  # (nb, columns), or with lanes behind
    moments = body[:, tables.INERTIA + np.array([4, 7, 9])].sum(axis=1)
    arms = body[:, tables.POSE + 9 : tables.POSE + 12]
    return SURE * (moments + body[:, tables.INERTIA] * (arms * arms).sum(axis=1)).max(axis=0, initial=0.0)


def surely_sound(problem: TreeProblem, sure: Any) -> Array:
    """Whose pivots (LANES,) are inertias beyond doubt, so that nobody need look closer."""
    with np.errstate(divide="ignore"):
        pivots = 1.0 / problem.work.freedom.data[: problem.n, tables.D_]
    # an infinite pivot is none
    sound: Array = ((pivots > sure) & (pivots > 0.0) & (pivots < np.inf)).all(axis=0)
    return sound


def grid_of(method: FixedStep, t0: float, t_end: float, every: int) -> Grid:
    """The steps of a run, as `nx.simulate` takes them."""
    dt = method.dt
    whole = int(np.floor((t_end - t0) / dt + 1e-9))
    rest = t_end - t0 - whole * dt
    return Grid(t0, t_end, dt, whole, rest if rest > 1e-9 * dt else 0.0, every)


def member_of(index: int, tree: Tree, q: Any, v: Any, inputs: Any) -> Member:
    """A member with inputs that are finite; InputError for others."""
    if not np.isfinite(inputs).all():
        row, j = (int(k) for k in np.argwhere(~np.isfinite(inputs))[0])
        raise InputError(f"inputs[{row}, {j}] is {inputs[row, j]}; all must be finite")
    return Member(index, tree, q, v, inputs)

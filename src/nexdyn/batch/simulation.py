"""`nx.simulate(system, batch=…)`: many systems in one run.

In minimal coordinates with a constant step the members march in lanes (``lanes``), under HHT with a constant step too
(``bodies``); under every other method they run one after another, each as `nx.simulate` runs it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.notices import DIVERGES, Notice, degrees_notices, gaps_of_tree, tell, tell_of_members
from nexdyn.assembly.start_states import described_states, start_states
from nexdyn.assembly.stopwatch import Stopwatch
from nexdyn.batch.alone import Look, in_turn, on_threads, runs_beside_others
from nexdyn.batch.between import Between, off_grid
from nexdyn.batch.bodies import (
    FINISHED,
    STOPPED,
    BodyLanes,
    Pack,
    fits_lanes,
    marches_in_lanes,
    pattern,
)
from nexdyn.batch.lanes import ADVICE, Done, LaneRun, Members, grid_of
from nexdyn.batch.members import Batch, Places, Read
from nexdyn.batch.start_notices import notices_of_members
from nexdyn.compiler.tiers import served
from nexdyn.errors import InputError, NexDynError, SolveError, UnknownNameError, is_one_of, warn
from nexdyn.forces import ContactForce
from nexdyn.forces.contact_law import is_nothing
from nexdyn.forces.kinds import CONTACT
from nexdyn.forces.pages import IN_LANES
from nexdyn.forces.states import state_labels
from nexdyn.integrate.methods import HHT, FixedStep, Method
from nexdyn.model.force import Force
from nexdyn.model.system import System
from nexdyn.model.topology import spanning_forest
from nexdyn.results.batch import BatchRecording, BatchResult, Rows
from nexdyn.results.batch_store import Store, StoredResults
from nexdyn.results.quantities import labels_of
from nexdyn.results.recording import Recording
from nexdyn.results.result import Result
from nexdyn.simulation.choice import default_method
from nexdyn.simulation.continuing import begun, inherited
from nexdyn.simulation.interrupt import interrupts_wait
from nexdyn.simulation.march import Progress
from nexdyn.simulation.marches.bodies import BodySimulation
from nexdyn.simulation.marches.tree_start import state_before, tree_start
from nexdyn.simulation.needs import needs_rows
from nexdyn.simulation.span import checked_end, checked_times
from nexdyn.simulation.steps import MOST_STEPS
from nexdyn.simulation.users import Afresh, UserStates
from nexdyn.simulation.watched import has_events
from nexdyn.spatial.lanes import LANES
from nexdyn.tree.threads import cores
from nexdyn.tree.tree import Tree
from nexdyn.tree.wound import wound_across

Runs = Callable[..., Result]


@small_on_one_thread
def simulate_batch(
    system: System,
    t_end: float,
    method: Method | None,
    batch: Batch | Mapping[str, Any],
    alone: Runs,
    *,
    threads: int | None,
    store: Any,
    progress: Progress | None,
    **options: Any,
) -> BatchResult:
    """See `nx.simulate`; `alone(system, t_end, method, …)` runs one member by itself."""
    if threads is not None and (not isinstance(threads, int) or isinstance(threads, bool) or threads < 1):
        raise InputError(f"threads is {threads!r}; a whole number, 1 or more, is needed")
    for name in ("q0", "v0"):
        if options.get(name) is not None:
            raise InputError(
                f"{name} is given together with batch; put it into the batch, where one entry serves all members"
            )
    run = _BatchRun(system, t_end, method, Batch.of(batch), store, progress, options)
    workers = min(threads or cores(), cores())
    if run.in_lanes:
        return run.in_packs(alone, workers)
    return run.one_by_one(alone, workers)


def keeps_apart(system: System, method: Method, dynamics: str) -> str:
    """What keeps members from marching together, "" for nothing: they do with a constant step in minimal coordinates, without loops
    and events, and with forces that lanes know."""
    if not isinstance(method, FixedStep):
        return repr(method)
    if not is_one_of(dynamics, ("aba", "crba")):
        return f"dynamics={dynamics!r}"
    if needs_rows(system):
        rows = [*system.drivers.values(), *system.couplings.values()]
        return str(rows[0]) if rows else f"a closed loop of {system.name!r}"
    if has_events(system):
        return str(next(iter(system.events.values()), "a joint stop that strikes by impulses"))
    unknown = [
        force
        for force in system.forces.values()
        if force.code not in IN_LANES
        or force.varies
        or (force.states(system.values) and force.code != CONTACT)
        or _own_law(force)
    ]
    if UserStates(system).told():
        return "a function with a state of its own"
    wound = wound_across(system, spanning_forest(system))
    return str(unknown[0]) if unknown else f"torsion spring {wound[0]!r}, which counts turns" if wound else ""


OF_STICKING = ("friction", "static_friction", "friction_speed")
"""Attributes of contacts that tell whether these stick, and have states."""


def states_differ(system: System, batch: Batch) -> bool:
    """Whether forces of some members have other states than those of the system: a contact whose friction is the number 0 has none."""
    named = batch.parameters if isinstance(batch.parameters, Mapping) else {}  # all else is refused where it is read
    given = {
        name: list(values)
        for name, values in named.items()
        if name.rpartition(".")[2] in OF_STICKING and isinstance(values, Collection) and len(values)
    }
    expected, seen = state_labels(system), set[tuple[bool, ...]]()
    for m in range(max(map(len, given.values()), default=0)):
        own = {name: values[m % len(values)] for name, values in given.items()}
        kind = tuple(map(is_nothing, own.values()))
        if kind not in seen:
            seen.add(kind)
            with suppress(NexDynError):  # told of the member when it starts
                if state_labels(system.with_parameters(own)) != expected:
                    return True
    return False


def events_differ(system: System, batch: Batch) -> bool:
    """Whether events may happen at other times, or do other things, in other members. Those at a given time that change the same do not."""
    named = [str(name) for name in batch.parameters] if isinstance(batch.parameters, Mapping) else []
    alike = all(
        event.time is not None
        and event.action is None
        and not event.depends_on
        and not any(name.startswith(f"{event.name}.") for name in named)
        for event in system.events.values()
    )
    return has_events(system) and not (alike and len(system.events))


def _own_law(force: Force) -> bool:
    """Whether it is a contact with a normal force of the user's."""
    return isinstance(force, ContactForce) and force.normal_force is not None


class Starts(NamedTuple):
    """q (members, nq) and v (members, nv) at first, and of which members all is finite."""

    q: np.ndarray
    v: np.ndarray
    sound: np.ndarray


class _BatchRun:
    def __init__(
        self, system: System, t_end: float, method: Method | None, batch: Batch, store: Any, progress: Progress | None,
        options: dict[str, Any],
    ) -> None:  # fmt: skip
        self.system, self.options, self.progress = system, options, progress
        self.dynamics = options.get("dynamics", "aba")
        self.method = method or default_method(system, options.get("loops"), self.dynamics)
        bodies = method is None and self.method.coordinates == "bodies"
        aside = options.get("output_times") is not None  # between the steps of all
        apart = "output_times" if aside else keeps_apart(system, self.method, self.dynamics)
        self.options = options = {**options, "initial": off_grid(options.get("initial"))}
        self.first, self.initial = begun(system, options["initial"])
        """The system as events of the runs before have left it, and what to start from."""
        self.z = described_states(self.first)
        """States of forces at the start (nz,)."""
        if not apart and store is not None and len(self.z):
            apart = "store"
        if not apart and states_differ(self.first, batch):
            apart = "a friction that is 0 of some members alone"
        self.in_lanes = not apart
        self.t0 = _start_time(self.initial)
        self.t_end = checked_end(t_end, self.t0)
        asked = checked_times(options.get("output_times"), self.t0, self.t_end)
        self.store = store
        steps = None
        if self.in_lanes:
            assert isinstance(self.method, FixedStep)
            every = options.get("output_every", 1)
            if not isinstance(every, int) or isinstance(every, bool) or every < 1:
                raise InputError(f"output_every is {every!r}; a whole number of steps, 1 or more, is needed")
            if not (self.t_end - self.t0) / self.method.dt < MOST_STEPS:
                raise InputError(f"t_end = {self.t_end:g} s takes more than {MOST_STEPS:.0e} steps; choose a longer dt")
            self.grid = grid_of(self.method.dt, self.t0, self.t_end, every)
            steps = self.grid.steps
        closed = not self.in_lanes and (bodies or needs_rows(system))
        self.tree = None if closed else Tree(self.first)
        self.read = Read(
            batch, Places.of_joints(system) if self.tree is None else Places.of_tree(self.tree), steps, apart
        )
        self._refuse_changed_twice()
        self.times = np.unique([*asked, self.t_end]) if len(asked) else None
        """When all members record; None where that is known from one."""
        if self.in_lanes:
            self._begin_lanes()
        elif self.times is None:
            self._choose_times(batch)
        self.failures: dict[int, tuple[str, float]] = {}
        self.afresh = Afresh(self.first)
        self.notices: dict[int, list[Notice]] = {}
        """What is said of the starts of members that march together."""
        self._part, self._interrupted = 0.0, False

    def _choose_times(self, batch: Batch) -> None:
        """When members record that have events at times of their own, behind which their steps differ: at the steps from the start."""
        dt, every = getattr(self.method, "dt", None), self.options.get("output_every", 1)
        if dt is None or not events_differ(self.first, batch) or not isinstance(every, int) or every < 1:
            return
        if (self.t_end - self.t0) / dt < MOST_STEPS:
            self.times = grid_of(dt, self.t0, self.t_end, every).times
            self.options = {**self.options, "output_times": self.times}

    def _refuse_changed_twice(self) -> None:
        """InputError for a parameter in which members differ and that an event of a run before has changed."""
        for name in inherited(self.initial).get("parameters", {}):
            if name in self.read.parameter_names:
                raise InputError(
                    f"parameter {name!r} is in the batch, but an event of the run to go on from has changed it; start from q0 "
                    f"and v0 in place of initial, or leave {name!r} out"
                )

    # --- in lanes ---------------------------------------------------------------------------------------------------

    def _begin_lanes(self) -> None:
        """Refuse what no member can go on from, and go on with the states of functions of the user's."""
        assert self.tree is not None
        self.z = start_states(self.z, self.initial)
        if not isinstance(self.initial, Result):
            return
        tree_start(self.tree, self.initial, None, None, {})
        recording = self.initial.recording
        if recording.restart is not None and recording.restart.t == recording.t[-1]:
            UserStates(self.first).load(recording.restart.notes.get("users", {}))

    def in_packs(self, alone: Runs, threads: int) -> BatchResult:
        """The run in lanes."""
        assert self.tree is not None
        assert isinstance(self.method, FixedStep)
        tree, grid, count = self.tree, self.grid, self.read.count
        members, trees = self._members()
        width = tree.nq + 2 * tree.nv + len(self.z)
        if self.store is None:
            rows: Rows = np.empty((count, len(grid.times), width))
        else:
            rows = Store(
                self.store, labels_of(tree), self.system.name, count, grid.times, self.read.parameter_columns(),
                repr(self.method),
            )  # fmt: skip
        steps = 0

        marched = np.zeros(count, dtype=bool)
        between = Between(
            self.method, self.dynamics, grid, tree.nq, tree.nv, [label for label, _ in state_labels(self.first)], rows
        )

        def take(done: Done) -> None:
            nonlocal steps
            marched[done.numbers] = True
            if not self.read.has_inputs:  # which act no longer where a member goes on
                between.take(done)
            self.failures |= done.failures
            steps = max(steps, done.steps)
            if done.rows.base is not rows:
                rows[done.numbers.tolist()] = done.rows

        run = LaneRun(
            self.method, self.dynamics, grid, self.read.has_parameters, self.z,
            rows if isinstance(rows, np.ndarray) else None,
        )  # fmt: skip
        watch = Stopwatch()
        status, message = "finished", ""
        with interrupts_wait() as check:

            def look(part: float) -> None:
                if self.progress is not None:
                    self.progress(grid.t0 + part * (grid.t_end - grid.t0), grid.t_end)
                check()

            try:
                run.run(members, threads, take, look)
                look(1.0)
            except KeyboardInterrupt:
                status, message = "interrupted", "interrupted before all members had come to the end"
                warn(f"{message}; the result holds what was reached")
        self._ask_functions(alone)
        self.afresh.end()
        if isinstance(rows, np.ndarray):
            rows[~marched] = np.nan
        changed = inherited(self.initial)
        recording = BatchRecording(
            grid.times, rows, tree.nq, tree.nv, repr(self.method), steps, status, message, watch.seconds,
            {"kernels": served()}
            | ({"driven": True} if self.read.has_inputs else {}) | ({"changed": changed} if changed else {}) | self._warnings()
            | ({"thinned": True, "unseen": True} if self.options.get("output_every", 1) > 1 else {}),
            between,
        )  # fmt: skip
        result = BatchResult(self.first, recording, trees, self._told(), self.read.parameter_columns())
        if isinstance(rows, Store):
            rows.finish(recording, result.failures)
        return result

    def _ask_functions(self, alone: Runs) -> None:
        """What functions of the user raised in members that failed. Of those that march together only the last to raise is known
        in a step, so each of the others runs once more, by itself."""
        if self.read.has_inputs or not any(force.callbacks() for force in self.system.forces.values()):
            return
        for m, (cause, t) in self.failures.items():
            if cause.endswith(ADVICE):
                own, states = self._member(m)
                try:
                    alone(own, self.t_end, self.method, **{**self.options, **states})
                except SolveError as error:
                    self.failures[m] = str(error), t if error.time is None else error.time

    def _members(self) -> tuple[Members, dict[int, Tree] | Tree]:
        """The members that can start, and the trees of all."""
        tree, read = self.tree, self.read
        assert tree is not None
        inputs = np.zeros((1, 1, tree.nv)) if read.inputs is None else read.inputs
        trees: dict[int, Tree] = {}
        together = None if read.has_parameters else self._starts(tree)
        q, v = (together.q, together.v) if together else (np.empty((read.count, n)) for n in (tree.nq, tree.nv))
        sound = together.sound if together else np.zeros(read.count, dtype=bool)
        for m in np.flatnonzero(~sound).tolist():
            try:
                own = trees[m] = tree.with_parameters(read.parameters(m)) if read.has_parameters else tree
                q0, v0 = read.start(m, "q0"), read.start(m, "v0")
                q[m], v[m] = self._start(m, own, q0, v0)
                refuse_infinite(inputs[m % len(inputs)])
                sound[m] = True
            except UnknownNameError:
                raise  # of all members
            except NexDynError as error:
                self.failures[m] = str(error), self.t0
        self._tell_starts(trees if read.has_parameters else tree, q, sound)
        numbers = np.flatnonzero(sound)
        if len(numbers) < read.count:
            q, v, inputs = q[sound], v[sound], inputs if len(inputs) == 1 else inputs[sound]
        own_trees = [trees[m] for m in numbers.tolist()] if read.has_parameters else [tree] * len(numbers)
        return Members(numbers, own_trees, q, v, inputs), trees if read.has_parameters else tree

    def _starts(self, tree: Tree) -> Starts | None:
        """Where members of one tree start, at once; None where one alone must say what is wrong, has quaternions, or starts by a joint
        that another leads."""
        read = self.read
        if read.names_followers:
            return None
        if any(place.q.stop - place.q.start > place.v.stop - place.v.start for place in tree.coordinates.values()):
            return None
        gaps: dict[str, tuple[float, float]] = {}
        _, q, v = state_before(tree, self.initial, read.start(0, "q0"), gaps)
        if gaps:
            together = gaps_of_tree(gaps)
            if self._on_gap == "error":
                tell(together, self._on_gap, None)
            self.notices = {m: list(together) for m in range(read.count)}
        q, v = read.starts("q0", q), read.starts("v0", v)
        sound = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
        if read.has_inputs:
            sound &= np.isfinite(np.asarray(read.inputs)).all(axis=(1, 2))
        return Starts(q, v, np.asarray(sound))

    def _start(self, m: int, tree: Tree, q0: Any, v0: Any) -> tuple[np.ndarray, np.ndarray]:
        """Where a member starts, as a run alone does."""
        gaps: dict[str, tuple[float, float]] = {}
        _, q, v = tree_start(tree, self.initial, q0, v0, gaps)
        if gaps:
            self.notices[m] = gaps_of_tree(gaps)
        return q, v

    @property
    def _on_gap(self) -> str:
        return str(self.options.get("on_gap", "warn"))

    def _tell_starts(self, trees: Mapping[int, Tree] | Tree, q: np.ndarray, sound: np.ndarray) -> None:
        """Say what is odd about the starts q (members, nq), as a run alone does; members that are refused for it are no longer `sound`."""
        starts = None if self.initial is not None else lambda m: self.read.start(m, "q0")
        found = notices_of_members(trees, self.method, q, np.flatnonzero(sound), starts)
        sound_ones = np.flatnonzero(sound).tolist()
        every = {m: [*self.notices.get(m, []), *found.get(m, [])] for m in sound_ones}
        diverging = [[notice for notice in told if notice.kind == DIVERGES] for told in every.values()]
        if diverging and all(diverging) and self._on_gap != "accept":
            tell(diverging[0], "warn", None)
        self.notices = {m: x for m, x in every.items() if x}
        for m, why in tell_of_members(self.notices, self._on_gap, self.read.count).items():
            self.failures[m] = why, self.t0
            sound[m] = False
            del self.notices[m]

    def _warnings(self) -> dict[str, Any]:
        """What was said of the starts, as a part of a recording's settings."""
        told = [notice._asdict() | {"member": m} for m, found in self.notices.items() for notice in found]
        return {"warnings": told} if told else {}

    # --- one by one -------------------------------------------------------------------------------------------------

    def one_by_one(self, alone: Runs, threads: int) -> BatchResult:
        """Every member by itself, by the method as it is; what can march together does so first."""
        read, watch = self.read, Stopwatch()
        columns, method = read.parameter_columns(), repr(self.method)
        results: MutableMapping[int, Result] = {}
        if self.store is not None:
            results = StoredResults(self.store, self._left_by_events, read.count, columns, method, self.times)
        status, message = "finished", ""
        if marches_in_lanes(self.system, self.method, self.options):
            self._bodies_in_lanes(threads, results)
        if not self._interrupted:
            rest = [m for m in range(read.count) if m not in results]
            self._rest(rest, alone, threads, results)
            self.afresh.end()
        if self._interrupted:
            status, message = "interrupted", "interrupted before all members had come to the end"
        none = np.zeros(1)
        run = Recording(
            none, none, none, none, method, status=status, message=message,
            wall_time=watch.seconds,
        )  # fmt: skip
        if isinstance(results, dict):
            results = dict(sorted(results.items()))
        result = BatchResult.of_results(self.first, results, read.count, self._told(), columns, run, self.times)
        if isinstance(results, StoredResults):
            results.finish(result.recording, result.failures)
        return result

    def _rest(self, members: list[int], alone: Runs, threads: int, results: MutableMapping[int, Result]) -> None:
        """Results of members that run one by one."""
        done, beside = self.read.count - len(members), False

        def tell(more: float) -> None:
            self._tell((done + more) / self.read.count)

        def run(m: int, look: Look) -> Result | None:
            def progress(t: float, end: float) -> None:
                look((t - self.t0) / max(end - self.t0, 1e-300))

            nonlocal beside
            try:
                own, states = self._member(m)
                self.afresh.begin()
                try:
                    return alone(own, self.t_end, self.method, **{**self.options, **states, "progress": progress})
                finally:
                    beside = beside or (m == members[0] and runs_beside_others(own))
            except UnknownNameError:
                raise
            except SolveError as error:
                self.failures[m] = str(error), self.t0 if error.time is None else error.time
                return error.result
            except NexDynError as error:
                self.failures[m] = str(error), self.t0
                return None

        # the first by itself: it compiles the kernels
        self._interrupted = in_turn(members[:1], run, tell, results)
        if len(members) > 1 and not self._interrupted:
            done += 1
            march = on_threads if threads > 1 and beside else in_turn
            self._interrupted = march(members[1:], run, tell, results, threads)

    def _member(self, m: int) -> tuple[System, dict[str, Any]]:
        """The system of member m, and where it starts."""
        own = self.system.with_parameters(self.read.parameters(m)) if self.read.has_parameters else self.system
        return own, {name: self.read.start(m, name) for name in ("q0", "v0")}

    def _left_by_events(self, m: int) -> System:
        """The system of member m as events of the runs before have left it: that of its result."""
        return begun(self._member(m)[0], self.initial)[0]

    def _bodies_in_lanes(self, threads: int, results: MutableMapping[int, Result]) -> None:
        """Results of the members that march together; one that is missing is to run alone, and to say why."""
        assert isinstance(self.method, HHT)
        options = {name: self.options[name] for name in ("initial", "output_every") if name in self.options}
        march = BodyLanes(self.method, self.t_end, threads)
        begun = 0

        def packs() -> Iterator[Pack]:
            nonlocal begun
            waiting: dict[bytes, Pack] = {}
            for m in range(self.read.count):
                begun = m + 1
                try:
                    own, states = self._member(m)
                    run = BodySimulation(own, self.method, **options, **states)  # type: ignore[arg-type]
                    if not fits_lanes(run, self.t_end):
                        continue
                    run.tell_start(self._on_gap)
                    if self.initial is None and run.warnings is not None:
                        run.warnings += tell(degrees_notices(own, states["q0"]), self._on_gap, None)
                except NexDynError:
                    continue
                key = pattern(run)
                pack = waiting.setdefault(key, Pack([], []))
                pack.numbers.append(m)
                pack.runs.append(run)
                if len(pack.runs) == LANES:
                    yield waiting.pop(key)
            yield from waiting.values()

        def take(pack: Pack, became: list[int]) -> None:
            for m, run, what in zip(pack.numbers, pack.runs, became, strict=True):
                if what == FINISHED:
                    found = self._ended(m, run)
                    if found is not None:
                        results[m] = found
                elif what == STOPPED:
                    results[m] = run.result("interrupted", f"interrupted at t = {run.t:g} s of {self.t_end:g} s")

        try:
            with interrupts_wait() as check:

                def look() -> None:
                    self._tell(begun / self.read.count)
                    check()

                march.run(packs(), take, look)
        except KeyboardInterrupt:
            self._interrupted = True
            warn(
                "interrupted before all members had come to the end; the result holds what was reached",
            )

    def _ended(self, m: int, run: BodySimulation) -> Result | None:
        """The result of a member that has marched with others. Its recorded states are judged as those of a run alone: one that has left
        its constraints has failed, and the others go on."""
        try:
            return run.run(self.t_end)
        except SolveError as error:
            self.failures[m] = str(error), self.t0 if error.time is None else error.time
            return error.result

    def _tell(self, part: float) -> None:
        """Progress, which does not go back where members of a pack run again alone."""
        self._part = max(self._part, part)
        if self.progress is not None:
            self.progress(self.t0 + self._part * (self.t_end - self.t0), self.t_end)

    def _told(self) -> dict[int, tuple[str, float]]:
        return dict(sorted(self.failures.items()))


def refuse_infinite(inputs: np.ndarray) -> None:
    """InputError where efforts (rows, nv) are not all finite."""
    if not np.isfinite(inputs).all():
        row, j = (int(k) for k in np.argwhere(~np.isfinite(inputs))[0])
        raise InputError(f"inputs[{row}, {j}] is {inputs[row, j]}; all must be finite")


def _start_time(initial: Any) -> float:
    """When a run from `initial` begins [s]."""
    if isinstance(initial, Result):
        return float(initial.recording.t[-1])
    return 0.0 if initial is None else float(initial.t)

"""A batch under HHT with a constant step: members whose mechanisms share one pattern march LANES at a time.

Each member is assembled alone and is a `BodySimulation`; of the steps all but a shorter last one are taken together, and
given back to it. What cannot march so runs alone, and so does a member that failed, which then says why.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.motion import hht_lanes
from nexdyn.absolute.motion.elements import JointDofs
from nexdyn.absolute.motion.newton import STALE
from nexdyn.absolute.motion.recorded import Record
from nexdyn.batch.lane_tables import force_pattern, stack, system_of
from nexdyn.constraints.tables import Rolls
from nexdyn.forces.pages import IN_ALL_LANES
from nexdyn.integrate.methods import HHT, Method
from nexdyn.model.system import System
from nexdyn.simulation.marches.bodies import BodySimulation
from nexdyn.simulation.steps import MOST_STEPS, SLICE
from nexdyn.simulation.watched import has_events
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector
from nexdyn.tree.lanes.memory import lane_zeros
from nexdyn.tree.threads import pool

ROOM = 2**13
"""Numbers of a lane that one slice records at most."""


def marches_in_lanes(system: System, method: Method | None, options: dict[str, Any]) -> bool:
    """Whether members may march together: HHT with a constant step and blocks, forces that are known, nothing of a user's
    own, no events, outputs every so many steps."""
    return (
        isinstance(method, HHT)
        and method.dt is not None
        and method.solver == "blocks"
        and options.get("output_times") is None
        and options.get("loops") is None
        and not has_events(system)
        and all(force.code in IN_ALL_LANES and not force.callbacks() for force in system.forces.values())
    )


def fits_lanes(run: BodySimulation, t_end: float) -> bool:
    """Whether the rows of a member are those of joints, and its drivers no functions of the user's."""
    assert run.method.dt is not None
    return (
        not _numbers_of_rows(run)
        and not run.driver_functions
        and not len(run.z_start)
        and (t_end - run.t) / run.method.dt < MOST_STEPS
    )


def _numbers_of_rows(run: BodySimulation) -> int:
    """How many numbers of curves, surfaces, disks and user functions the rows have."""
    data = run.tables.constraints.data
    return len(data.numbers if isinstance(data, Rolls) else data)


def pattern(run: BodySimulation) -> bytes:
    """What members of a pack have in common: all that is no number of a lane."""
    t, acts = run.tables, run.acts
    arrays = (
        t.links, t.slots, t.drivers, t.functions, t.rows, t.slips, t.diagonal, t.constraints.terms, t.plan.pivots,
        t.plan.edges, t.plan.updates, t.angles, t.expected, t.rotors, acts.joints, acts.places,
        acts.of_joint, acts.of_force, JointDofs(acts.freedoms).friction != 0.0,
        np.array([run.t]),
    )  # fmt: skip
    return b"|".join([*(x.tobytes() for x in arrays), force_pattern(acts.forces)])


class Pack(NamedTuple):
    """Up to LANES members, by their numbers."""

    numbers: list[int]
    runs: list[BodySimulation]


FINISHED, FAILED, STOPPED = range(3)


class BodyLanes:
    """Marches packs of members until t_end [s]."""

    def __init__(self, method: HHT, t_end: float, threads: int) -> None:
        self.method, self.t_end, self.threads = method, t_end, threads
        self._stop, self._compiled = threading.Event(), threading.Event()

    def run(self, packs: Iterator[Pack], take: Callable[[Pack, list[int]], None], look: Callable[[], None]) -> None:
        """March all packs; `take` gets each with what became of its members: FINISHED, FAILED or STOPPED on the way. What
        `look` raises stops the run."""
        running: dict[Future[list[int]], Pack] = {}

        def finish(done: set[Future[list[int]]]) -> None:
            for future in done:
                take(running.pop(future), future.result())

        try:
            for pack in packs:
                running[pool().submit(self._march, pack)] = pack
                # the first pack runs alone until its kernels are compiled
                while not self._compiled.wait(0.1) and not any(future.done() for future in running):
                    look()
                while len(running) >= self.threads:
                    finish(wait(running, timeout=0.1, return_when=FIRST_COMPLETED).done)
                    look()
            while running:
                finish(wait(running, timeout=0.1, return_when=FIRST_COMPLETED).done)
                look()
        except BaseException:
            self._stop.set()
            finish(set(running))
            raise

    def _march(self, pack: Pack) -> list[int]:
        """The whole steps of a pack, given back to its members; what became of each."""
        assert self.method.dt is not None
        dt, runs = self.method.dt, pack.runs
        first, every = runs[0], runs[0].output_every
        steps = math.floor((self.t_end - first.t) / dt + 1e-9)
        lanes = Stacked(runs)
        t0, done, count = first.t, 0, 16
        kept: list[np.ndarray] = []
        room = LaneTable(
            lane_zeros((max(1, min(ROOM // first.numbers, steps // every + 1)), first.numbers, LANES)), 0
        )  # fmt: skip
        while done < steps and not self._stop.is_set() and not (lanes.failed[: len(runs)] >= 0).all():
            count = min(count, steps - done)
            began = time.perf_counter()
            reached, rows = hht_lanes.march_lanes(
                *lanes.problem, t0, dt, done, done + count, every, self.method.alpha, *lanes.control, room,
            )  # fmt: skip
            took = time.perf_counter() - began
            self._compiled.set()
            done = reached
            kept.append(room.data[:rows].copy())
            count = max(1, int(count * min(8.0, SLICE / max(took, 1e-6))))
        self._compiled.set()
        rows = np.concatenate(kept) if kept else np.empty((0, first.numbers, LANES))
        if done == steps and len(rows):
            rows[-1, 0] = np.minimum(rows[-1, 0], self.t_end)  # which steps, counted from their start, miss by rounding
        lanes.give_back(rows, done, min(t0 + done * dt, self.t_end))
        ended = FINISHED if done == steps else STOPPED
        return [FAILED if failed >= 0 else ended for failed in lanes.failed[: len(runs)]]


class Stacked:
    """The tables, states and memories of members, stacked."""

    def __init__(self, runs: list[BodySimulation]) -> None:
        self.runs = runs
        filled = [*runs, *[runs[-1]] * (LANES - len(runs))]
        tables = stack([run.tables for run in filled])._replace(functions=runs[0].tables.functions, outside=None)
        tables = tables._replace(constraints=tables.constraints._replace(data=None))
        self.state, self.acts = stack([run.state for run in filled]), stack([run.acts for run in filled])
        fresh = self.state._replace(
            upper=LaneVector(lane_zeros(self.state.upper.data.shape), 0),
            lower=LaneVector(lane_zeros(self.state.lower.data.shape), 0),
        )
        # what is recorded has its matrix where new ones are made: between steps it is free
        own = ("v1", "d1", "lam0", "lam1", "twists", "near")
        told = fresh._replace(**{name: stack([getattr(run.state, name) for run in filled]) for name in own})
        numbers = stack([run.record.numbers for run in filled])
        self.problem = (
            tables,
            self.acts,
            self.state,
            fresh,
            Record(tables, told, numbers, runs[0].record.loops, runs[0].record.lengths),
        )
        self.memory = np.array([run.newton_memory for run in filled])
        self.failed = np.full(LANES, hht_lanes.NEVER, dtype=np.int64)
        numbers = LaneVector(lane_zeros((hht_lanes.Numbers.columns, 1, LANES)), 0)
        lanes: Any = hht_lanes.Numbers(numbers)
        lanes.length, lanes.least = np.array([run.tables.length for run in filled]), np.inf
        self.control = self.memory, np.zeros(LANES, dtype=np.int64), self.failed, numbers

    def give_back(self, rows: np.ndarray, steps: int, t: float) -> None:
        """The rows (n, numbers, LANES), and the state after `steps` at t, to the members that did not fail."""
        least: Any = hht_lanes.Numbers(self.control[-1]).least
        for s, run in enumerate(self.runs):
            if self.failed[s] < 0:
                for mine, lane in ((run.state, self.state), (run.acts, self.acts)):
                    for x, y in zip(mine, lane, strict=True):
                        if isinstance(y, LaneTable | LaneVector):
                            x[...] = system_of(y, s)
                run.comes_close = run.comes_close or bool(least[s] < STALE)
                run.adopt_march(rows[:, :, s].copy(), self.memory[s], steps, t)

"""Many runs at once on all cores, by the clock on the wall: `nx.simulate(batch=…)` beside `mujoco.rollout`.

Damped hinge chains of 6 and 30 links by RK4 at 1 ms, every step recorded, starts of their own, hundreds and thousands at
once. Whole calls on both sides, arrays for the states included; MuJoCo with one thread a core. Then all cores beside one,
of NexDyn alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.hinge_chain import DT, mujoco_chain, nexdyn_chain
from benchmarks.lanes import check
from benchmarks.measure import Effort, Report, compared
from nexdyn.spatial.lanes import LANES
from nexdyn.tree.threads import cores

SIZES = ((6, 256), (30, 64), (6, 2048), (30, 512))
"""Links of a chain, and how many: a call of some 20 ms on two cores, and eight times as many members."""
STEPS, THOUSANDS = 500, 10_000
AT_LEAST = 12.0 if LANES == 8 else 6.0


def run(effort: Effort) -> Report:
    report = Report("batch", f"many runs at once on {cores()} cores, wall time a step and run")
    for links, members in SIZES:
        compare(report, links, 2 * LANES if effort.smoke else members, 10 if effort.smoke else STEPS, effort)
    report.notes.append(
        "Whole calls. NexDyn records t, q, v and dv/dt of every step, `mujoco.rollout` time, q and v; both allocate."
    )
    return report


def alternate_by_wall(rivals: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds on the wall of each rival, one value a round; the order turns round."""
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for work in rivals.values():
        work()
    for turn in range(rounds):
        for name in list(rivals)[:: 1 if turn % 2 == 0 else -1]:
            began = time.perf_counter()
            rivals[name]()
            times[name].append(time.perf_counter() - began)
    return times


def compare(report: Report, links: int, members: int, steps: int, effort: Effort) -> None:
    from mujoco import MjData, rollout

    system, method = nexdyn_chain(links), nx.RungeKutta4(DT)
    model, data, start = mujoco_chain(links)
    starts = np.repeat(start[None], members, axis=0)
    starts[:, 1 : 1 + links] += 0.3 * np.random.default_rng(2).normal(size=(members, links))
    batch = nx.Batch(q0=starts[:, 1 : 1 + links])
    datas = [data, *(MjData(model) for _ in range(cores() - 1))]

    def simulate(threads: int | None = None) -> nx.BatchResult:
        return nx.simulate(system, steps * DT, method, batch=batch, threads=threads)

    def mujoco() -> Any:
        return rollout.rollout([model] * members, datas, starts, nstep=steps)[0]

    check(f"chains of {links} links", simulate().recording.rows[:, -1, :links], mujoco()[:, -1, 1 : 1 + links])
    rounds = 2 if effort.smoke else effort.rounds if members * links < THOUSANDS else effort.rounds // 3
    scale = 1e6 / (steps * members)
    times = alternate_by_wall({"batch": simulate, "mujoco.rollout": mujoco}, rounds)
    report.rows.append(
        compared(
            f"{members} chains of {links}, {cores()} cores", "µs/step", scale, times, "batch", "mujoco.rollout", AT_LEAST
        )
    )  # fmt: skip
    if cores() > 1:
        both: dict[str, Callable[[], Any]] = {"all cores": simulate, "one core": lambda: simulate(1)}
        times = alternate_by_wall(both, rounds)
        report.rows.append(
            compared(
                f"{members} chains of {links}, {cores()} cores beside one", "µs/step", scale, times, "all cores", "one core",
                0.9 * cores(),
            )
        )  # fmt: skip

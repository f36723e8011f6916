"""Cost linear in the bodies: time and memory of one body in trees of a hundred to a hundred thousand.

Time is that of the compiled algorithms alone; from Python the call would weigh on the small trees and flatter the law.
The tables and the scratch of a tree beyond some ten thousand bodies no longer fit the processor's caches: what is
left of the law there is what memory gives.
"""

from __future__ import annotations

import statistics
import tracemalloc

import numpy as np
from numba import njit

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, alternate, quartiles
from benchmarks.models import nexdyn_system, random_tree
from nexdyn.kernel import FLOATING_POINT
from nexdyn.spatial.table import PoseRows
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.kinematics import forward_kinematics
from nexdyn.tree.core.rnea import inverse_dynamics

SHAPES = {"chain": 1, "tree, parent among the last 4": 4, "tree, parent among all": None}
SIZES = (100, 1_000, 10_000, 100_000)
SMOKE_SIZES = (100, 200)
MOST = 2.5


def _aba(repeat, model, work, poses, q, v, x, out):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        articulated_bodies(model, q, v, x, None, work, out)


def _rnea(repeat, model, work, poses, q, v, x, out):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        inverse_dynamics(model, q, v, x, work, out)


def _fk(repeat, model, work, poses, q, v, x, out):  # type: ignore[no-untyped-def]
    X_W = PoseRows(poses, 0)
    for _ in range(repeat):
        forward_kinematics(model, q, X_W)


ALGORITHMS = {
    name: njit(fastmath=FLOATING_POINT, error_model="numpy")(loop)
    for name, loop in {"ABA": _aba, "RNEA": _rnea, "forward kinematics": _fk}.items()
}


def run(effort: Effort) -> Report:
    sizes = SMOKE_SIZES if effort.smoke else SIZES
    report = Report("linear", f"time and memory of one body, {sizes[0]:,} to {sizes[-1]:,} bodies, one core")
    for shape, among in SHAPES.items():
        tell_time(report, shape, among, sizes, effort)
    report.notes.append(
        "Time: ns a body at 10², 10³, 10⁴, 10⁵ bodies; the ratio is the last to the first. Memory: bytes a body of "
        "the model's tables and the scratch, and of all that a Tree holds."
    )
    return report


def tell_time(report: Report, shape: str, among: int | None, sizes: tuple[int, ...], effort: Effort) -> None:
    rng = np.random.default_rng(3)
    states, tables, held = {}, {}, {}
    for n in sizes:
        system = nexdyn_system(random_tree(n, rng, among))
        tracemalloc.start()
        tree = nx.Tree(system)
        held[n] = tracemalloc.get_traced_memory()[0] / n
        tracemalloc.stop()
        poses = np.zeros((n + 1, 12))
        poses[0, [0, 4, 8]] = 1.0
        # slow and short of upright: a long random chain whirls no faster than a short one
        states[n] = (tree.compiled.model, tree.work, poses, *rng.normal(size=(3, n)) / np.sqrt(n), np.zeros(n))
        tables[n] = sum(x.nbytes for x in (*tree.compiled.model, *tree.work)) / n
    for name, loop in ALGORITHMS.items():
        times = alternate({str(n): lambda repeat, n=n, loop=loop: loop(repeat, *states[n]) for n in sizes}, effort)
        each = [statistics.median(times[str(n)]) / n * 1e9 for n in sizes]
        ratios = [
            last / first * sizes[0] / sizes[-1]
            for first, last in zip(times[str(sizes[0])], times[str(sizes[-1])], strict=True)
        ]
        ratio = statistics.median(ratios)
        report.rows.append(
            Row(
                f"{name}, {shape}",
                "ns",
                each,
                ratio=ratio,
                spread=quartiles(ratios),
                target=f"≤ {MOST}×",
                met=ratio <= MOST,
            )
        )
    for what, bytes_of in (("tables and scratch", tables), ("a Tree", held)):
        each = [bytes_of[n] for n in sizes]
        ratio = each[-1] / each[0]
        report.rows.append(
            Row(f"memory of {what}, {shape}", "B", each, ratio=ratio, target=f"≤ {MOST}×", met=ratio <= MOST)
        )

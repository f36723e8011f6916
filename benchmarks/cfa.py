"""The constraint force algorithm beside ABA, RNEA, CRBA and absolute coordinates, on the same trees in one run.

Accelerations: its serial form beside ABA. Accelerations and every joint's constraint force: beside ABA followed
by RNEA. Compiled loops on one core; the rounds over threads are timed by the clock on the
wall. `study` is the cost study of the paper's section 4.2 over degrees of freedom, which `benchmarks.cfa_figures` draws.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, alternate, compared, figure, quartiles
from benchmarks.models import nexdyn_system, random_tree
from nexdyn.kernel import FLOATING_POINT
from nexdyn.tree.cfa.cfa import bias_forces, constraint_forces, refine
from nexdyn.tree.cfa.entries import put_constraint_wrenches
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.crba import factor, mass_matrix, solve_factored
from nexdyn.tree.core.rnea import inverse_dynamics

SHAPES = {"chain": 1, "tree": 4, "wide tree": None}
SIZES = (100, 100_000)
SMOKE_SIZES = (20, 60)
STUDY = (5, 10, 20, 50, 100, 200, 500, 1000)
MOST_CRBA, MOST_ABSOLUTE = 500, 1000
AGREE = 1e-8

compiled = njit(fastmath=FLOATING_POINT, error_model="numpy", _nrt=False)


@compiled
def aba(repeat, model, cfa, work, q, v, tau, out, wrench):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        articulated_bodies(model, q, v, tau, None, work, out)


@compiled
def aba_rnea(repeat, model, cfa, work, q, v, tau, out, wrench):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        articulated_bodies(model, q, v, tau, None, work, out)
        inverse_dynamics(model, q, v, out, work, tau)


@compiled
def cfa(repeat, model, cfa, work, q, v, tau, out, wrench):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        bias_forces(model, cfa, q, v, None, work)
        constraint_forces(model, cfa, q, tau, False, work, out)


@compiled
def cfa_forces(repeat, model, cfa, work, q, v, tau, out, wrench):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        bias_forces(model, cfa, q, v, None, work)
        constraint_forces(model, cfa, q, tau, False, work, out)
        put_constraint_wrenches(model, cfa, wrench)


@compiled
def cfa_refined(repeat, model, cfa, work, q, v, tau, out, wrench):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        bias_forces(model, cfa, q, v, None, work)
        constraint_forces(model, cfa, q, tau, True, work, out)
        refine(model, cfa, tau, work, out)
        put_constraint_wrenches(model, cfa, wrench)


@compiled
def crba(repeat, model, above, M, work, q, v, tau, zero, h, out):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        inverse_dynamics(model, q, v, zero, work, h)
        for j in range(len(out)):
            for k in range(len(out)):
                M[j, k] = 0.0
        mass_matrix(model, q, work, M)
        factor(M, above)
        for j in range(len(out)):
            out[j] = tau[j] - h[j]
        solve_factored(M, above, out)


LOOPS: dict[str, Any] = {
    "ABA": aba,
    "ABA and RNEA": aba_rnea,
    "CFA": cfa,
    "CFA with forces": cfa_forces,
    "CFA refined": cfa_refined,
}


def prepared(n: int, among: int | None, seed: int = 3) -> tuple[nx.Tree, tuple[Any, ...]]:
    """A random tree of n joints about z, and what the loops take."""
    rng = np.random.default_rng(seed)
    tree = nx.Tree(nexdyn_system(random_tree(n, rng, among)))
    q, v, tau = rng.normal(size=(3, n))
    v /= np.sqrt(n)  # slow and short of upright: a long random chain whirls no faster than a short one
    return tree, (tree.compiled.model, tree.constraint_tables, tree.work, q, v, tau, np.zeros(n), np.zeros((n, 6)))


def work_of(loop: Any, arguments: tuple[Any, ...]) -> Callable[[int], Any]:
    return lambda repeat: loop(repeat, *arguments)


def run(effort: Effort) -> Report:
    report = Report("cfa", "constraint force algorithm: accelerations, and every joint's force, ns a body")
    sizes = SMOKE_SIZES if effort.smoke else SIZES
    for shape, among in SHAPES.items():
        compare(report, shape, among, sizes, effort)
    threads(report, 50 if effort.smoke else 20_000)
    report.notes.append(
        "ns a body, one core. With forces: and the wrench of every joint in its own frame; refined: after one step of refinement, "
        "as `Tree.cfa` gives them. "
        "Odd–even rounds by the clock on the wall, the others processor time."
    )
    return report


def compare(report: Report, shape: str, among: int | None, sizes: tuple[int, ...], effort: Effort) -> None:
    times = {}
    for n in sizes:
        tree, arguments = prepared(n, among)
        tau = arguments[5].copy()
        expected = tree.aba(arguments[3], arguments[4], tau)
        found, _ = tree.cfa(arguments[3], arguments[4], tau)
        error = float(np.abs(found - expected).max() / np.abs(expected).max())
        # beyond some thousand bodies the accelerations of a chain themselves hang on rounding
        if n <= 1000 and not error < AGREE:
            raise SystemExit(f"CFA differs from ABA by {error:.1e} on a {shape} of {n}; nothing was measured")
        times[n] = alternate({name: work_of(loop, arguments) for name, loop in LOOPS.items()}, effort)
        for ours, rival, target in (
            ("CFA", "ABA", 2.5), ("CFA with forces", "ABA and RNEA", 1.8), ("CFA refined", "ABA and RNEA", np.nan),
        ):  # fmt: skip
            row = compared(f"{ours}, {shape} of {n:,}", "ns", 1e9 / n, times[n], ours, rival, 1.0)
            assert row.ratio is not None and row.spread is not None
            row.ratio, row.spread = 1 / row.ratio, (1 / row.spread[1], 1 / row.spread[0])
            row.target, row.met = (f"≤ {target}×", row.ratio <= target) if target == target else ("", None)
            report.rows.append(row)
    small, large = sizes[0], sizes[-1]
    for ours in ("CFA", "CFA with forces"):
        pairs = zip(times[large][ours], times[small][ours], strict=True)
        ratios = sorted(a / b * small / large for a, b in pairs)
        each = [statistics.median(times[n][ours]) * 1e9 / n for n in sizes]
        ratio = statistics.median(ratios)
        report.rows.append(
            Row(f"{ours}, {shape}, {small:,} to {large:,}", "ns", each, ratio=ratio, spread=quartiles(ratios),
                target="≤ 2.5×", met=ratio <= 2.5)
        )  # fmt: skip


def threads(report: Report, n: int) -> None:
    """The rounds on one core and on all, beside the serial form, on a chain; by the clock on the wall."""
    tree, arguments = prepared(n, 1)
    state = arguments[3:6]
    best: dict[str, float] = {}
    for _ in range(3):
        for solver in ("serial", "odd-even", "parallel"):
            began = time.perf_counter()
            tree.cfa(*state, solver=solver, refinements=0)
            best[solver] = min(best.get(solver, np.inf), time.perf_counter() - began)
    for solver in ("odd-even", "parallel"):
        report.rows.append(
            Row(f"{solver} rounds, chain of {n:,}", "ns", best[solver] / n * 1e9, best["serial"] / n * 1e9, "serial CFA",
                best[solver] / best["serial"])
        )  # fmt: skip


# --- the cost study -----------------------------------------------------------------------------------------------


def study(effort: Effort, sizes: tuple[int, ...] = STUDY) -> dict[str, dict[str, dict[int, float]]]:
    """Seconds of one evaluation by shape, algorithm and degrees of freedom; medians of turns that alternate."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for shape, among in (("chain", 1), ("tree", 4)):
        rows: dict[str, dict[int, float]] = {}
        for n in sizes:
            tree, arguments = prepared(n, among)
            rivals: dict[str, Callable[[int], Any]] = {
                name: work_of(loop, arguments) for name, loop in LOOPS.items() if name != "ABA and RNEA"
            }
            state = tuple(x.copy() for x in arguments[3:6])
            rivals["CFA, odd–even rounds"] = lambda repeat, tree=tree, state=state: [
                tree.cfa(*state, solver="odd-even", refinements=0) for _ in range(repeat)
            ]
            rivals["CFA, rounds on threads"] = lambda repeat, tree=tree, state=state: [
                tree.cfa(*state, solver="parallel", refinements=0) for _ in range(repeat)
            ]
            if n <= MOST_CRBA:
                model, _, work, q, v, tau, *_ = arguments
                given = (model, tree.compiled.above, np.zeros((n, n)), work, q, v, tau.copy(), *np.zeros((3, n)))
                rivals["CRBA and factorisation"] = work_of(crba, given)
            if n <= MOST_ABSOLUTE:
                rivals["absolute coordinates"] = absolute(tree, state[0], state[1])
            for name, times in alternate(rivals, effort).items():
                rows.setdefault(name, {})[n] = statistics.median(times)
            print(shape, n, {name: f"{1e6 * row[n]:.4g} µs" for name, row in rows.items() if n in row}, flush=True)
        found[shape] = rows
    return found


def absolute(tree: nx.Tree, q: np.ndarray, v: np.ndarray) -> Callable[[int], Any]:
    """Accelerations in absolute coordinates: M, Cq, γ, and the KKT system by SuperLU, as `nx.assemble` finds them."""
    from nexdyn.absolute.model.initial import accelerations
    from nexdyn.absolute.model.model import absolute_model
    from nexdyn.spatial.rotations import quaternion

    model = absolute_model(tree.system)
    R, p = tree.pose(q)
    w, u = tree.velocity(q, v)
    place, speed = np.zeros((model.nb + 1, 7)), np.zeros((model.nb + 1, 6))
    place[0, 0] = 1.0
    place[1:, :4], place[1:, 4:] = quaternion(R), p
    speed[1:, :3], speed[1:, 3:] = np.einsum("nji,nj->ni", R, w), u
    kept, force = np.ones(model.nc, dtype=bool), np.zeros(6 * model.nb)
    force.reshape(-1, 6)[:, 5] = -9.81

    def work(repeat: int) -> None:
        for _ in range(repeat):
            accelerations(model, place, force, kept, model.gamma(place, speed))

    return work


def study_table(found: dict[str, dict[str, dict[int, float]]]) -> str:
    """The study as Markdown tables, µs an evaluation."""
    lines = []
    for shape, rows in found.items():
        sizes = sorted({n for row in rows.values() for n in row})
        lines += [
            f"| {shape}, degrees of freedom | " + " | ".join(f"{n:,}" for n in sizes) + " |",
            "|---" * (len(sizes) + 1) + "|",
        ]
        for name, row in rows.items():
            lines.append(f"| {name} | " + " | ".join(figure(1e6 * row[n]) if n in row else "" for n in sizes) + " |")
        lines.append("")
    return "\n".join(lines)

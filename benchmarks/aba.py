"""Forward dynamics by the articulated-body algorithm, beside Pinocchio.

In a compiled loop: the same formulas that NexDyn's kernels call, beside Pinocchio's C++ headers compiled on this
machine with -O3 -march=native; and beside Pinocchio's Python face less the cost of its call, which is measured on a
model without joints. From Python: one call on arrays on either side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

import nexdyn as nx
from benchmarks.measure import Effort, Report, alternate, compared
from benchmarks.models import RandomTree, nexdyn_system, pinocchio_model, random_tree
from nexdyn.kernel import FLOATING_POINT
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.tables import new_work

AGREE = 1e-10
CASES = {"7-joint chain": (7, 1), "30-joint tree": (30, 4)}


@njit(fastmath=FLOATING_POINT, error_model="numpy")
def aba_loop(repeat, model, work, q, v, tau, a):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        articulated_bodies(model, q, v, tau, None, work, a)


def run(effort: Effort) -> Report:
    report = Report("aba", "accelerations by the articulated-body algorithm, one state, one core")
    for what, (n, among) in CASES.items():
        model = random_tree(n, np.random.default_rng(7), among)
        compare(report, what, model, effort)
    report.notes.append(
        "C++: Pinocchio's own headers with -O3 -march=native. Python less call: pin.aba from Python less the time "
        "of the same call on a model without joints."
    )
    return report


def compare(report: Report, what: str, model: RandomTree, effort: Effort) -> None:
    import pinocchio as pin

    rng = np.random.default_rng(1)
    q, v, tau = rng.normal(size=(3, model.n))
    tree = nx.Tree(nexdyn_system(model))
    peer = pinocchio_model(model)
    data = peer.createData()
    empty = pin.Model()
    empty_data, nothing = empty.createData(), np.zeros(0)

    expected = pin.aba(peer, data, q, v, tau).copy()
    check("tree.aba", tree.aba(q, v, tau), expected)
    tables, work, a = tree.compiled.model, new_work(tree.nb, tree.nv), np.zeros(model.n)
    aba_loop(1, tables, work, q, v, tau, a)
    check("the compiled loop", a, expected)

    def from_python(repeat: int) -> None:
        for _ in range(repeat):
            tree.aba(q, v, tau)

    def pin_from_python(repeat: int) -> None:
        for _ in range(repeat):
            pin.aba(peer, data, q, v, tau)

    def pin_call_alone(repeat: int) -> None:
        for _ in range(repeat):
            pin.aba(empty, empty_data, nothing, nothing, nothing)

    def compiled(repeat: int) -> None:
        aba_loop(repeat, tables, work, q, v, tau, a)

    rivals: dict[str, Callable[[int], Any]] = {
        "compiled": compiled, "python": from_python, "pin.aba": pin_from_python, "call": pin_call_alone,
    }  # fmt: skip
    cpp = pinocchio_in_cpp(report, model, q, v, tau, expected, effort)
    if cpp:
        rivals["pinocchio C++"] = cpp
    times = alternate(rivals, effort)
    times["pin.aba less its call"] = [t - call for t, call in zip(times["pin.aba"], times["call"], strict=True)]
    if cpp:
        report.rows.append(compared(f"{what}, compiled loop", "µs", 1e6, times, "compiled", "pinocchio C++", 1.5))
    report.rows.append(compared(f"{what}, compiled loop", "µs", 1e6, times, "compiled", "pin.aba less its call", 1.5))
    report.rows.append(compared(f"{what}, from Python", "µs", 1e6, times, "python", "pin.aba", 1.5))


def check(what: str, found: np.ndarray, expected: np.ndarray) -> None:
    """Rivals that do not agree are not compared."""
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not error < AGREE:
        raise SystemExit(f"{what} differs from the peer by {error:.1e}; nothing was measured")


def pinocchio_in_cpp(report: Report, model: RandomTree, q: Any, v: Any, tau: Any, expected: Any, effort: Effort) -> Any:
    """Pinocchio's C++ as work to repeat; None, and a note that says why, where it cannot be built."""
    from benchmarks import pinocchio_cpp

    library, reason = pinocchio_cpp.load(build=not effort.smoke)
    if library is None:
        note = f"No C++ row: {reason}."
        if note not in report.notes:
            report.notes.append(note)
        return None
    work, a = pinocchio_cpp.aba(library, model, q, v, tau)
    work(1)
    check("Pinocchio's C++", a, expected)
    return work

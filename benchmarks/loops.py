"""Loops in minimal coordinates: what closing two of them costs a tree of thirty joints.

The tree: six branches of five hinges in space. Two pairs of branches meet at their tips in a hinge each, five rows a loop.
Both times are of compiled loops over the algorithms alone: articulated bodies of the open tree, and the closed mechanism's
accelerations and multipliers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, alternate, quartiles
from nexdyn.kernel import FLOATING_POINT
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.loops.motion import closed_accelerations

MOST = 2.0


def _open(repeat, model, work, q, v, tau, a):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        articulated_bodies(model, q, v, tau, None, work, a)


def _closed(repeat, model, work, loops, q, v, tau, a):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        closed_accelerations(model, work, loops, 0.0, q, v, tau, None, a)


_OPTIONS = {"fastmath": FLOATING_POINT, "error_model": "numpy", "_nrt": False}


def branches(loops: int = 2) -> nx.System:
    """Six branches of five hinges; tips of neighbours hinged together."""
    rng = np.random.default_rng(7)
    system = nx.System("branches")
    tips = []
    for b in range(6):
        parent, at = system.ground, np.array((b, 0.0, 0.0))
        for k in range(5):
            step = rng.normal(size=3)
            link = system.add_body(f"link{b}{k}", mass=1.0, inertia=(0.1, 0.12, 0.15), position=at + step / 2)
            system.add_joint(nx.Revolute(f"hinge{b}{k}", parent, link, at=at, axis=rng.normal(size=3)))
            parent, at = link, at + step
        tips.append(parent)
    for n in range(loops):
        at = rng.normal(size=3)
        system.add_joint(nx.Revolute(f"closing{n}", tips[2 * n], tips[2 * n + 1], at=at, axis=rng.normal(size=3)))
    return system


def run(effort: Effort) -> Report:
    report = Report("loops", "accelerations of a tree of 30 hinges, two loops of 5 rows closed")
    closed = nx.ClosedTree(branches())
    q, v, tau = closed.tree.described(), np.zeros(closed.nv), np.zeros(closed.nv)
    a = np.zeros(closed.nv)
    opened, shut = (njit(**_OPTIONS)(loop) for loop in (_open, _closed))
    rivals = {
        "open": lambda repeat: opened(repeat, closed._model, closed._work, q, v, tau, a),
        "closed": lambda repeat: shut(repeat, closed._model, closed._work, closed._loops, q, v, tau, a),
    }
    times = alternate(rivals, effort)
    ratios = sorted(x / y for x, y in zip(times["closed"], times["open"], strict=True))
    middle = float(np.median(ratios))
    report.rows.append(
        Row(
            f"closed, {len(closed.rows)} rows", "µs", float(np.median(times["closed"])) * 1e6,
            float(np.median(times["open"])) * 1e6, "open tree", middle, quartiles(ratios), f"≤ {MOST}×", middle <= MOST,
        )
    )  # fmt: skip
    return report

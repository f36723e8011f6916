"""Batches of states in lanes: LANES states of one tree at once, on all cores where there is enough to do.

Whatever the size of the batch, a state is computed by the same instructions: its results do not depend on its neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.kernel import formula, shared
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector, SharedTable
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.crba import mass_matrix
from nexdyn.tree.core.rnea import inverse_dynamics
from nexdyn.tree.core.tables import TreeModel, TreeWork, new_work
from nexdyn.tree.lanes.memory import aligned, lane_zeros
from nexdyn.tree.threads import in_parts

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree

ENOUGH = 20_000
"""Bodies times states from which threads are worth their start."""


class LaneScratch(NamedTuple):
    """Scratch of one thread: that of the tree, and vectors q (nq), v, x, y (nv) and M (nv, nv)."""

    work: TreeWork
    q: Any
    v: Any
    x: Any
    y: Any
    M: Any


@formula
def gather(rows, first, stop, out):
    """out ← rows first … of a batch (N, n); lanes past `stop` repeat the last one."""
    for s in range(LANES):
        row = min(first + s, stop - 1)
        for j in range(rows.shape[1]):
            out.data[j, 0, s] = rows[row, j]


@formula
def scatter(x, first, stop, rows):
    """rows first … stop − 1 of a batch (N, n) ← x."""
    for s in range(min(LANES, stop - first)):
        for j in range(rows.shape[1]):
            rows[first + s, j] = x.data[j, 0, s]


@shared
def aba_in_lanes(model, scratch, first, stop, q, v, tau, qdd):
    """q̈ (N, nv) of states first … stop − 1."""
    for k in range(first, stop, LANES):
        gather(q, k, stop, scratch.q)
        gather(v, k, stop, scratch.v)
        gather(tau, k, stop, scratch.x)
        articulated_bodies(model, scratch.q, scratch.v, scratch.x, None, scratch.work, scratch.y)
        scatter(scratch.y, k, stop, qdd)


@shared
def rnea_in_lanes(model, scratch, first, stop, q, v, qdd, tau):
    """τ (N, nv) of states first … stop − 1."""
    for k in range(first, stop, LANES):
        gather(q, k, stop, scratch.q)
        gather(v, k, stop, scratch.v)
        gather(qdd, k, stop, scratch.x)
        inverse_dynamics(model, scratch.q, scratch.v, scratch.x, scratch.work, scratch.y)
        scatter(scratch.y, k, stop, tau)


@shared
def crba_in_lanes(model, scratch, first, stop, q, M):
    """M (N, nv, nv), zeroed by the caller, of states first … stop − 1; scratch.M is zero at first."""
    n = M.shape[1]
    for k in range(first, stop, LANES):
        gather(q, k, stop, scratch.q)
        mass_matrix(model, scratch.q, scratch.work, scratch.M)
        for s in range(min(LANES, stop - k)):
            for i in range(n):
                for j in range(i + 1):
                    M[k + s, i, j] = scratch.M.data[i, j, s]
                    M[k + s, j, i] = M[k + s, i, j]


def shared_model(model: TreeModel) -> TreeModel:
    """The tables of a tree as all lanes see them."""
    topology, body, freedom = model
    return TreeModel(topology, SharedTable(body, 0), SharedTable(freedom, 0))


def new_scratch(nb: int, nq: int, nv: int) -> LaneScratch:
    """Scratch for a tree of nb bodies."""
    work = TreeWork(*(aligned(LaneTable.of(x)) for x in new_work(nb, nv)))
    q, v, x, y = (LaneVector(lane_zeros((n, 1, LANES)), 0) for n in (nq, nv, nv, nv))
    return LaneScratch(work, q, v, x, y, LaneTable(lane_zeros((nv, nv, LANES)), 0))


class Lanes:
    """The tables and the scratch of a tree for its batches."""

    def __init__(self, tree: Tree) -> None:
        c = tree.compiled
        self._sizes = len(c.model.topology) - 1, c.nq, c.nv
        self._model = shared_model(c.model)
        self._spare: list[LaneScratch] = []

    def run(self, kernel: Any, *arrays: np.ndarray) -> None:
        """`kernel` on all states of the arrays (N, …)."""

        def work(first: int, stop: int) -> None:
            try:
                scratch = self._spare.pop()
            except IndexError:
                scratch = new_scratch(*self._sizes)
            kernel(self._model, scratch, first, stop, *arrays)
            self._spare.append(scratch)

        count = len(arrays[0])
        in_parts(work, count, LANES if count * (self._sizes[0] + 1) > ENOUGH else count)

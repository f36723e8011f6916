"""The rounds one after another, each shared out over threads that meet after it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.tree.cfa.blocks import bias_and_columns, blocks_of_joints, change_bias, control_forces
from nexdyn.tree.cfa.cfa import MOST_PAID, PAID
from nexdyn.tree.cfa.chains import Chains, rounds
from nexdyn.tree.cfa.nodes import solve_nodes
from nexdyn.tree.cfa.rounds import end, end_chains, end_round, fill_rows, forces_of_joints, prepare_round, take_round
from nexdyn.tree.cfa.tables import ConstraintTables
from nexdyn.tree.threads import cores

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree

Phase = tuple[Callable[..., Any], tuple[Any, ...], int]
"""A kernel, its arguments, and of how many rows, which are shared out: kernel(*arguments, first, last)."""


def by_rounds(
    tree: Tree,
    cfa: ConstraintTables,
    q: Any,
    v: Any,
    tau: Any,
    refinements: int,
    a: Any,
    wrench: Any,
    threads: int | None,
) -> tuple[int, int]:
    """The algorithm over states (N, …) on so many threads. Returns the first state without a solution and its link (0: not
    finite), or −1, 0."""
    chains, address = tree.chains, tree.address
    work, count, lends = phases(tree, cfa, chains), threads or cores(), bool(cfa.lends[0])
    for s in range(len(q)):
        bias_and_columns(address, cfa, chains, q[s], v[s])
        a[s], again, left = 0.0, 0, lends
        while again <= refinements or left:
            if again > MOST_PAID + refinements:
                return s, 1
            if again:
                change_bias(address, cfa, a[s])
            control_forces(address, cfa, chains, tau[s], a[s])
            run(work, count)
            bad = end(address, cfa, chains, a[s], wrench[s])
            if bad != 0:
                return s, max(bad, 0)
            # what bodies borrow is paid back, as in ``cfa.pay_back``
            left = lends and (again == 0 or np.abs(a[s] - cfa.before).max() > PAID * np.abs(a[s]).max())
            again += 1
    return -1, 0


def phases(tree: Tree, cfa: ConstraintTables, chains: Chains) -> list[Phase]:
    """What is done one after the other, each over all joints, rows or nodes."""
    joints, rows = tree.nb, len(chains.joint)
    work: list[Phase] = [(blocks_of_joints, (tree.address, cfa, chains), joints), (fill_rows, (chains,), rows)]
    for k in range(rounds(chains)):
        work += [(kernel, (chains, 1 << k), rows) for kernel in (prepare_round, take_round, end_round)]
    work += [(end_chains, (chains,), rows), (solve_nodes, (cfa, chains), 1)]
    return [*work, (forces_of_joints, (tree.address, cfa, chains), joints)]


def run(work: list[Phase], threads: int) -> None:
    """Every phase on so many threads, which meet after each.

    The threads are made for the call and end with it: none is left that a forked process would wait for in vain.
    """
    if threads <= 1:
        for kernel_of, arguments, rows in work:
            kernel_of(*arguments, 0, rows)
        return
    together, failed = threading.Barrier(threads), []

    def take(t: int) -> None:
        try:
            for kernel_of, arguments, rows in work:
                first, last = rows * t // threads, rows * (t + 1) // threads
                if first < last:
                    kernel_of(*arguments, first, last)
                together.wait()
        except BaseException as error:  # told to who waits, in the thread that called
            failed.append(error)
            together.abort()

    others = [threading.Thread(target=take, args=(t,), daemon=True) for t in range(1, threads)]
    for thread in others:
        thread.start()
    take(0)
    for thread in others:
        thread.join()
    if failed:
        raise next((e for e in failed if not isinstance(e, threading.BrokenBarrierError)), failed[0])

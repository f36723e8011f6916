"""Threads for kernels without Python's lock: one pool a process, no more threads than cores."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

NAME = "nexdyn-batch"


def cores() -> int:
    """Cores that this process may use: those of its affinity, fewer where NUMBA_NUM_THREADS or OMP_NUM_THREADS says so."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        told = os.environ.get(name, "")
        if told.isdigit() and int(told) > 0:
            available = min(available, int(told))
    return available


def pool() -> ThreadPoolExecutor:
    """The threads of all batches of this process, however many batches run."""
    return _pool_of(os.getpid())


@cache
def _pool_of(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix=NAME)


def in_parts(work: Callable[[int, int], object], count: int, grain: int) -> None:
    """work(first, stop) for parts of range(count), each a multiple of `grain` but the last, one part a core.

    A thread of the pool does all of it: who waits for the pool must not stand in it.
    """
    parts = 1 if threading.current_thread().name.startswith(NAME) else cores()
    size = -(-count // (parts * grain)) * grain
    waiting = [pool().submit(work, first, min(first + size, count)) for first in range(size, count, size)]
    try:
        work(0, min(size, count))
    finally:
        for future in waiting:
            future.result()

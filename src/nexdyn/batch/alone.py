"""Members of a batch that run one by one, each by the method as it is, on several threads.

The compiled march of a member leaves Python's lock, so that threads share the cores; assembling does not. Where a system calls
Python functions of the user's, or acts at events, one thread takes all members in turn: such functions may keep
what they are told, and must see one run after another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, MutableMapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait

from nexdyn.model.system import System
from nexdyn.model.time_kernels import time_callbacks
from nexdyn.results.result import Result
from nexdyn.simulation.interrupt import interrupts_wait
from nexdyn.simulation.watched import has_events
from nexdyn.tree.threads import pool

Look = Callable[[float], None]
"""Told the part of a member that is done; raises KeyboardInterrupt where the run is to stop."""
RunOne = Callable[[int, Look], Result | None]
"""The result of a member, None where there is none."""
Results = MutableMapping[int, Result]
"""Where results go, by member, in the thread that asks for them."""


def runs_beside_others(system: System) -> bool:
    """Whether members of a system, which has run once, may run at the same time: it calls no function of the user's."""
    followed = (function for driver in system.drivers.values() for function in driver.functions(system.values))
    return not (
        has_events(system)
        or any(force.callbacks() for force in system.forces.values())
        or any(joint.callbacks() for joint in system.joints.values())
        or any(time_callbacks(function) for function in followed)
    )


def in_turn(
    members: Sequence[int], run: RunOne, tell: Callable[[float], None], results: Results, threads: int = 1
) -> bool:
    """Results of members that run in this thread; whether they were interrupted. tell: the number of members done."""
    for done, m in enumerate(members):
        result = run(m, lambda part, done=done: tell(done + part))  # type: ignore[misc]
        if result is not None:
            results[m] = result
            if result.status == "interrupted":
                return True
    return False


def on_threads(
    members: Sequence[int], run: RunOne, tell: Callable[[float], None], results: Results, threads: int
) -> bool:
    """The same on `threads` threads."""
    parts = dict.fromkeys(members, 0.0)
    running: dict[Future[Result | None], int] = {}
    stop = threading.Event()

    def one(m: int) -> Result | None:
        def look(part: float) -> None:
            parts[m] = part
            if stop.is_set():
                raise KeyboardInterrupt

        return None if stop.is_set() else run(m, look)

    def finish(timeout: float | None) -> None:
        for future in wait(running, timeout=timeout, return_when=FIRST_COMPLETED).done:
            m = running.pop(future)
            result, parts[m] = future.result(), 1.0
            if result is not None:
                results[m] = result

    try:
        with interrupts_wait() as check:

            def look() -> None:
                finish(0.1)
                tell(sum(parts.values()))
                check()

            for m in members:
                running[pool().submit(one, m)] = m
                while len(running) >= threads:
                    look()
            while running:
                look()
    except KeyboardInterrupt:
        stop.set()
        while running:
            finish(None)
        return True
    except BaseException:
        stop.set()
        wait(running)
        raise
    return False

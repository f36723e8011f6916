"""Members of a batch in lanes that have ended between two steps: as runs alone do they go on from the last whole step, on one grid.

A batch itself begins its grid where it starts: members with other parameters differ from there on alone, and all record at the same times.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from nexdyn.batch.lanes import Done, Grid
from nexdyn.integrate.methods import FixedStep
from nexdyn.results.batch import Rows
from nexdyn.results.restart import Restart
from nexdyn.results.result import Result

Array = np.ndarray


def off_grid(initial: Any) -> Any:
    """What a batch starts from: of a result that ended between two steps the end alone."""
    if not isinstance(initial, Result) or (restart := initial.recording.restart) is None:
        return initial
    arrays = {name: x for name, x in restart.arrays.items() if not name.startswith("grid.")}
    end = copy.copy(initial)
    end.recording = replace(initial.recording, restart=replace(restart, arrays=arrays))
    return end


class Between(Mapping[int, Restart]):
    """The restart of each member, as `simulation.marches.tree` has it for a tree. rows (members, samples, nq + 2 nv + nz)."""

    def __init__(
        self, method: FixedStep, dynamics: str, grid: Grid, nq: int, nv: int, states: list[str], rows: Rows
    ) -> None:
        self._grid, self._nq, self._nv, self._rows = grid, nq, nv, rows
        self._notes = {
            "states": states,
            "run": {
                "method": {"name": method.name, **asdict(method)},
                "output_every": grid.every,
                "dynamics": dynamics,
            },
        }
        self._there: dict[int, Array] = {}

    def take(self, done: Done) -> None:
        """Keep where the last whole step has left members."""
        if done.between is not None:
            self._there |= dict(zip(done.numbers.tolist(), done.between, strict=True))

    def __len__(self) -> int:
        return len(self._there)

    def __iter__(self) -> Iterator[int]:
        return iter(self._there)

    def __getitem__(self, member: int) -> Restart:
        there, end, grid = self._there[member], np.asarray(self._rows[member])[-1], self._grid
        nq, nv = self._nq, self._nv
        v_and_z = np.r_[nq : nq + nv, nq + 2 * nv : len(end)]
        t = grid.t0 + grid.whole * grid.dt
        # accelerations are found anew where the next step begins
        now = np.concatenate([there[: nq + nv], np.zeros(nv), there[nq + nv :]])
        arrays = self._memory(grid.t_end, end[:nq], end[v_and_z], end, grid.steps, (t, 1, grid.rest))
        before = self._memory(t, there[:nq], there[nq:], now, grid.whole, (grid.t0, grid.whole, grid.dt))
        arrays |= {f"grid.{name}": x for name, x in before.items()}
        return Restart("tree", grid.t_end, arrays, notes=self._notes)

    def _memory(
        self, t: float, q: Array, v_and_z: Array, row: Array, steps: int, counted: tuple[float, int, float]
    ) -> dict[str, Any]:
        """What a march in minimal coordinates remembers after so many steps: where they are counted from, how many, how far apart."""
        numbers = dict(
            zip(("t", "_steps", "_from", "_behind", "_apart", "_dt"), (t, steps, *counted, 0.0), strict=True)
        )
        return {
            "position": q.copy(), "motion": np.concatenate([np.zeros(self._nv), v_and_z]), "now": np.concatenate([[t], row])[None],
            **{name: np.array([float(x)]) for name, x in numbers.items()},
        }  # fmt: skip

"""The states of forces at the start of a run: as described, or as a result left them."""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.tables import ForceTables
from nexdyn.results.result import Result


def start_states(forces: ForceTables | None, initial: Any) -> np.ndarray:
    """z (nz,) to start from: those of the last sample of `initial` where it has them, which must fit."""
    described = np.zeros(0) if forces is None else forces.z.copy()
    if not isinstance(initial, Result):
        return described
    recorded = initial.recording.z
    if not recorded.size:
        return described
    if recorded.shape[1] != len(described):
        raise InputError(
            f"initial has {recorded.shape[1]} states of forces, the model has {len(described)}; "
            "go on with the same forces, or start from q0 and v0"
        )
    last: np.ndarray = recorded[-1].copy()
    return last

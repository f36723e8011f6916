"""The states of forces that a run starts from."""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.assembly.report import AssemblyReport
from nexdyn.errors import InputError
from nexdyn.model.system import System
from nexdyn.results.result import Result


def described_states(system: System) -> np.ndarray:
    """z (nz,) as described."""
    return np.array([x for force in system.forces.values() for _, _, x in force.states(system.values)])


def start_states(described: np.ndarray, initial: Any) -> np.ndarray:
    """z (nz,) to start from: those of the last sample of `initial`, or of its equilibrium, which must fit; or as described."""
    described = described.copy()
    if isinstance(initial, AssemblyReport) and initial.states is not None:
        recorded = initial.states[None]
    elif isinstance(initial, Result):
        recorded = initial.recording.z
    else:
        return described
    if not recorded.size:
        return described
    if recorded.shape[1] != len(described):
        raise InputError(
            f"initial has {recorded.shape[1]} states of forces, the model has {len(described)}; "
            "go on with the same forces, or start from q0 and v0"
        )
    last: np.ndarray = recorded[-1].copy()
    return last

"""The states of forces beside a motion: where a run starts from them, which move by themselves, and how along a given motion.

ż = f(t, q, v, z)      of filters, integrals and bristles; what a digital controller holds jumps at its samples instead
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.elements import freedom_at_end
from nexdyn.analysis.report import AssemblyReport
from nexdyn.errors import InputError
from nexdyn.forces import JointFriction
from nexdyn.forces.actuator import INTEGRAL, K_I, LAG, LAGGED, MOST, SAMPLE, Actuator
from nexdyn.forces.states import sample_forces, state_labels
from nexdyn.forces.tables import COORDINATE, FREEDOM, STATES, ForceTables
from nexdyn.kernel import kernel
from nexdyn.model.callbacks import failure
from nexdyn.model.force import Force
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


PARTS = 20
"""Steps between two samples of a motion along which states are integrated."""


class _Along(NamedTuple):
    """Forces, and as in ``absolute.elements`` the step, the one before, and the states at their starts."""

    forces: Any
    step: Any
    began: Any


@kernel
def march_along(acts, t, q, v, at, rate, out):  # type: ignore[no-untyped-def]
    """Fill out (N, nz) with the states at t (N,), from those that stand at t[0]; q (N, nq), v (N, nv) by freedom; at, rate:
    those of the first. Returns the sample and the force that failed, or −1, −1."""
    tables, index = acts.forces, acts.forces.index
    sample_forces(tables, t[0], at, rate, tables.z, 0)
    for m in range(len(tables.z)):
        acts.began[m, 0] = out[0, m] = tables.z[m]
    for i in range(1, len(t)):
        h = t[i] - t[i - 1]
        for part in range(1, PARTS + 1):
            s = part / PARTS
            now = t[i - 1] + s * h
            acts.step[0] = h / PARTS
            for e in range(len(index)):
                if index[e, STATES] > 0:
                    c, j = index[e, COORDINATE], index[e, FREEDOM]
                    # Hermite's cubic
                    d = q[i, c] - q[i - 1, c]
                    curved = (1.0 - s) * (h * v[i - 1, j] - d) - s * (h * v[i, j] - d)
                    at[c] = q[i - 1, c] + s * d + s * (1.0 - s) * curved
                    bend = (1.0 - 2.0 * s) * curved - s * (1.0 - s) * (h * v[i - 1, j] + h * v[i, j] - 2.0 * d)
                    rate[j] = (d + bend) / h
                    status, _ = freedom_at_end(acts, e, now, at[c], rate[j])
                    if status != 0:
                        return i, e
            acts.step[1] = acts.step[0]
            if sample_forces(tables, now, at, rate, tables.z, 0) > 0:
                acts.step[1] = 0.0
            for m in range(len(tables.z)):
                acts.began[m, 1] = acts.began[m, 0]
                acts.began[m, 0] = tables.z[m]
        for m in range(len(tables.z)):
            out[i, m] = tables.z[m]
    return -1, -1


def states_along(system: System, forces: ForceTables, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """States (N, nz) at t (N,) along coordinates q (N, nq) and velocities v (N, nv) as `forces` number them, from those described on.
    SolveError where a force fails."""
    out = np.zeros((len(t), len(forces.z)))
    own = forces._replace(z=forces.z.copy(), rate=np.zeros(len(forces.z)))
    acts = _Along(own, np.zeros(2), np.zeros((len(forces.z), 2)))
    failed, e = march_along(acts, *(np.ascontiguousarray(x) for x in (t, q, v)), q[0].copy(), v[0].copy(), out)  # type: ignore[call-arg]
    if failed >= 0:
        force = list(system.forces.values())[e]
        raise failure(force, float(t[failed]), force.callbacks())
    return out


class OwnState(NamedTuple):
    """A state of a force that moves by itself: its place in z, "servo.integral", its unit, and what of it is little."""

    place: int
    label: str
    unit: str
    little: float


def with_states(system: System) -> list[tuple[Force, int]]:
    """The forces that have states, and the first of each in z."""
    found, first = [], 0
    for force in system.forces.values():
        count = len(force.states(system.values))
        if count:
            found.append((force, first))
        first += count
    return found


def own_states(system: System) -> list[OwnState]:
    """States of forces that move by themselves. InputError for a digital controller, whose output jumps."""
    labels, found = state_labels(system), []
    for force, first in with_states(system):
        if force.is_off:
            continue
        numbers = force.data_in(system)
        if isinstance(force, Actuator):
            if numbers[SAMPLE]:
                raise InputError(
                    f"{force} is sampled every {numbers[SAMPLE]:g} s, and nx.linearize is of continuous time; take it without "
                    f"sample_time, with a time_constant of half of it for the delay"
                )
            most = numbers[MOST] if numbers[MOST] > 0.0 else 1.0
            if numbers[K_I]:
                found.append(OwnState(first + INTEGRAL, labels[first + INTEGRAL][0], "", most / numbers[K_I]))
            if numbers[LAG]:
                found.append(OwnState(first + LAGGED, labels[first + LAGGED][0], "", most))
        elif isinstance(force, JointFriction):
            sliding, _, _, stiffness, _, _, elastic = numbers
            found.append(OwnState(first, labels[first][0], "", max(elastic, 0.1) * sliding / stiffness))
    return found

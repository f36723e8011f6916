"""Efforts of the forces in joints as a motion has them, computed from the recorded states."""

from __future__ import annotations

import numpy as np

from nexdyn.forces.states import set_states
from nexdyn.forces.tables import NO_DOF, ForceEntries, force_tables
from nexdyn.forces.verbs import freedom_element
from nexdyn.kernel import kernel
from nexdyn.model.system import System


@kernel
def observe_efforts(tables, t, q, v, z, out):
    """Fill out (N, nf) with the efforts; q (N, nq), v (N, nv) of all joints, z (N, nz)."""
    entries = ForceEntries(tables.index)
    for s in range(len(t)):
        set_states(tables, z, s)
        column = 0
        for e in range(len(entries)):
            force = entries[e]
            if force.dof != NO_DOF:
                _, out[s, column] = freedom_element(tables, e, t[s], q[s, force.coordinate], v[s, force.dof])
                column += 1


def effort_labels(system: System) -> list[tuple[str, str]]:
    """Name and unit of each force in a joint."""
    return [
        (name, {"rad": "N m", "m": "N"}[system.joint(force.joint_name).velocity_labels[force.__dict__["freedom"]][1]])
        for name, force in system.forces.items()
        if force.joint_name is not None
    ]


def efforts(
    system: System, places: dict[str, tuple[int, int]], t: np.ndarray, q: np.ndarray, v: np.ndarray, z: np.ndarray
) -> np.ndarray:
    """(N, forces in joints) [N, N m]; `places` of each joint its first column in q and in v."""
    tables = force_tables(system, lambda body: (0, np.eye(3), np.zeros(3)), places.__getitem__)
    out = np.empty((len(t), len(effort_labels(system))))
    rows = z if z.size else np.zeros((len(t), len(tables.z)))
    if out.size:
        observe_efforts(tables, *(np.ascontiguousarray(x) for x in (t, q, v, rows)), out)  # type: ignore[call-arg]
    return out

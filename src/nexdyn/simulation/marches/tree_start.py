"""Where a tree starts, alone or as a member of a batch: what runs before have left, then q0 and v0, which change parts of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.assembly.report import AssemblyReport
from nexdyn.errors import InputError, counted
from nexdyn.results.recording import BodyRecording
from nexdyn.results.result import Result
from nexdyn.simulation.continuing import bodies_at_end, joints_at_end, keep_signs, kept_coordinates, last_sample
from nexdyn.tree.described import described_coordinates
from nexdyn.tree.states import unit_quaternions, vector
from nexdyn.tree.tree import Tree

State = tuple[float, np.ndarray, np.ndarray]
"""t [s], q (nq,), v (nv,)."""


def tree_start(tree: Tree, initial: Any, q0: Any, v0: Any, gaps: dict[str, tuple[float, float]]) -> State:
    """The start of a run of `tree` from `initial`, as ``continuing.begun`` gives it. gaps: as for `described_coordinates`."""
    for given, what, n in ((q0, "q0", tree.nq), (v0, "v0", tree.nv)):
        vector(tree, given, what, np.zeros(n))  # refuses unknown joints and wrong numbers before values are compared
    t, q, v = state_before(tree, initial, q0, gaps)
    if initial is None and isinstance(v0, Mapping):
        tree.told_starts("v0", v0)
    return t, unit_quaternions(tree, vector(tree, q0, "q0", q)), vector(tree, v0, "v0", v)


def state_before(tree: Tree, initial: Any, q0: Any, gaps: dict[str, tuple[float, float]]) -> State:
    """The state to start from where q0 and v0 say nothing."""
    if initial is None:
        given = () if q0 is None else q0 if isinstance(q0, Mapping) else tuple(tree.coordinates)
        return 0.0, described_coordinates(tree, given, gaps), tree.initial_velocity()
    if isinstance(initial, AssemblyReport):
        from nexdyn.assembly.start_velocity import tree_state

        if initial.model.system is not tree.system:
            raise InputError("initial is the report of another system")
        return initial.t, *tree_state(tree, initial.model, initial.q, initial.v, initial.t)
    recorded = initial.recording
    t = float(recorded.t[-1])
    if isinstance(recorded, BodyRecording):
        return t, *_from_bodies(tree, initial)
    if recorded.q.shape[1] != tree.nq or recorded.v.shape[1] != tree.nv:
        raise InputError(
            f"initial has {counted(recorded.q.shape[1], 'coordinate')} and {counted(recorded.v.shape[1], 'velocity')}; "
            f"{tree.system.name!r} has {tree.nq} and {tree.nv}"
        )
    if initial.tree is not None and initial.tree.joint_names != tree.joint_names:
        raise InputError(
            f"initial is a result of another mechanism, with the joints {', '.join(initial.tree.joint_names[:8])}; "
            f"the model has {', '.join(tree.joint_names[:8])}"
        )
    return t, recorded.q[-1].copy(), recorded.v[-1].copy()


def _from_bodies(tree: Tree, initial: Result) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at the end of a run in absolute coordinates, angles counted as they were."""
    from nexdyn.absolute.model.model import absolute_model
    from nexdyn.assembly.start_velocity import tree_state

    model = absolute_model(tree.system)
    q, v = tree_state(tree, model, *bodies_at_end(initial, model))
    for name, coordinate in joints_at_end(initial, tree.system).items():
        if name in tree.coordinates:
            q[tree.coordinates[name].q] = coordinate
    last = last_sample(initial)
    for name, velocity in kept_coordinates(last.system, tree.system, last.observed, -1)[1].items():
        v[tree.coordinates[name].v] = velocity
    return keep_signs(q, tree, initial), v

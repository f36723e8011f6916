"""Tables of several systems as tables of lanes, and what systems must have in common to share them."""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.forces.contact_data import PointData
from nexdyn.forces.kinds import APPLIED, CONTACT
from nexdyn.forces.tables import ForceEntries, ForceTables
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector, SharedTable
from nexdyn.tree.lanes.entries import shared_model
from nexdyn.tree.lanes.memory import lane_zeros
from nexdyn.tree.motion import TreeProblem
from nexdyn.tree.tree import Tree

Array = np.ndarray
OF_STATES = ("z", "rate", "bound", "inside", "inner")
"""Tables of the states of forces."""


def stack(values: list[Any], made: dict[tuple[int, ...], Any] | None = None) -> Any:
    """A nest of named tuples from one of each system: floats become lanes, all else is the first's.

    What is one array in two places, in every system, stays one; `made` remembers."""
    first, made = values[0], {} if made is None else made
    if isinstance(first, ForceTables):
        own = ("frames", "data", *(OF_STATES if len(first.z) else ()))
        return first._replace(**{name: stack([getattr(value, name) for value in values], made) for name in own})
    if isinstance(first, tuple):
        return type(first)(*(stack([value[k] for value in values], made) for k in range(len(first))))
    if isinstance(first, np.ndarray) and first.dtype == float:
        known = tuple(map(id, values))
        if known not in made:
            made[known] = lanes_of(values)
        return made[known]
    return first


def lanes_of(values: list[Array]) -> LaneVector | LaneTable:
    """One vector or table of each system in lanes."""
    first = values[0]
    shape = first.shape if first.ndim > 1 else (len(first), 1)
    lanes = lane_zeros((*shape, LANES))
    if all(value is first for value in values):
        lanes[:] = first.reshape(*shape, 1)
    else:
        for s, value in enumerate(values):
            lanes[..., s] = value.reshape(shape)
    return LaneVector(lanes, 0) if first.ndim == 1 else LaneTable(lanes, 0)


def with_shared_model(problem: TreeProblem, tree: Tree) -> TreeProblem:
    """A stacked problem whose lanes read one model: a third less memory runs through the cache than with one each."""
    return problem._replace(model=shared_model(tree.compiled.model))


def system_of(value: Any, s: int) -> Any:
    """The nest of lane s, of plain arrays."""
    if isinstance(value, LaneVector):
        return value.data[:, 0, s].copy()
    if isinstance(value, LaneTable):
        return value.data[:, :, s].copy()
    if isinstance(value, SharedTable):
        return value.data
    if isinstance(value, tuple):
        return type(value)(*(system_of(item, s) for item in tuple.__iter__(value)))
    return value


def pattern(problem: TreeProblem) -> bytes:
    """What members of a pack have in common: all that is no float, and where the data of forces stand."""
    forces = [] if problem.forces is None else [force_pattern(problem.forces)]
    return b"|".join([problem.model.topology.table.tobytes(), *forces])


def force_pattern(forces: ForceTables) -> bytes:
    """The same of forces."""
    index, data = forces.index, forces.data
    parts = [index.tobytes()]
    entries = ForceEntries(index)
    for first in entries.first[entries.kind == APPLIED].tolist():
        k, lengths = first + 1, []
        for _ in range(6):
            lengths.append(data[k + 1])
            k += 2 + int(data[k + 1])
        parts.append(np.array(lengths).tobytes())
    contacts, places = entries.first[entries.kind == CONTACT], PointData.fields
    parts += [(data[contacts + places["half"].first] != 0.0).tobytes(), data[contacts + places["side"].first].tobytes()]
    return b"|".join(parts)

"""How forces cross into a kernel: three tables, one row a force, and the states that forces have.

    index   int64   (nf, 11)  `ForceEntry`: kind, bodies, where its data and its states stand
    frames  float64 (nf, 24)  X_LA (12), X_LB (12): the force's frames in the kernels' frames of those bodies
    data    float64 (…)       what each force's page says, record after record
    z, rate float64 (nz,)     states of the forces and their rates (``states``): not frozen, what changes in a run
    bound   float64 (nz,)     of friction that sticks in a contact what y may be (``sticking``); of other states nothing
    inside, inner (nz,)       the same within their bounds, and their rates there
    acting, watched, skin, unsettled     which forces may act (``nearby``)
    room                      scratch and meshes of contacts over areas (``mesh_overlap``)

A force in a joint has its degree of freedom and coordinate (rows of v and q) and no bodies; the others have `NO_DOF`.

A formulation says where bodies and degrees of freedom are; body 0 is the world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.forces.contact_data import OVERLAP, PointData
from nexdyn.forces.kinds import CONTACT, SURFACE
from nexdyn.forces.mesh_overlap import Room
from nexdyn.forces.mesh_search import MeshPair
from nexdyn.forces.mesh_solid import NO_MESH, Solid
from nexdyn.forces.mesh_tables import meshes_of
from nexdyn.forces.overlap import UNBOUNDED
from nexdyn.kernel import formula
from nexdyn.model.once import unchanged
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Pose
from nexdyn.spatial.table import PoseRows
from nexdyn.variants import leaves_out

if TYPE_CHECKING:
    from nexdyn.model.force import Force
    from nexdyn.model.system import System

MOST_STATES = 12
"""States of a user's force, at most: what its call has room for."""
NO_DOF = -1
FEW, SKIN, SOON = 32, 0.3, 3.0
"""Contacts below which all are on the list of what may act; s as a part of what surfaces reach (``nearby``); and by how much s is larger
of those between whose bodies matrices have blocks."""
UNSETTLED = 2.0
"""Steps after which z, and z at the start of the step before, are 0 of what is off the list."""

Place = Callable[[str], tuple[int, np.ndarray, np.ndarray]]
"""Of a body's name: its number in the kernels, and R_LB (3, 3), p_LB (3,) [m] of its frame in the kernels' frame L."""
Freedom = Callable[[str], tuple[int, int]]
"""Of a joint's name: its first coordinate and its first degree of freedom."""


class ForceEntry(Record):
    """A row of the table of forces: its data are `count` numbers from `first` on, its states `states` of z from `state` on; `varying`:
    where its functions of time stand among the data, or 0 (``contact_functions``)."""

    kind: int
    body_a: int
    body_b: int
    first: int
    count: int
    dof: int
    coordinate: int
    state: int
    states: int
    off: int
    varying: int


class Watched(Record):
    """What is known of a body that is watched (``nearby``): where it was, and ρ."""

    before: Pose
    arm: float


class Unknown(Record):
    """Of a state of a user's force: what is left, ż where slopes are taken, c, Δz (``user_states``)."""

    residual: float
    sloped: float
    given: float
    change: float


ForceEntries, WatchedBodies, Unknowns = rows_of(ForceEntry), rows_of(Watched), rows_of(Unknown)


class Newton(NamedTuple):
    """Scratch of users' forces with states: the matrix (12, 12), ∂ż/∂z (12, 12) as last taken, the first NaN where not at all, and
    `unknowns` (12, 4)."""

    matrix: Any
    slopes: Any
    unknowns: Any


class ForceTables(NamedTuple):
    """The frozen tables of all forces of a system; row e is the e-th of `system.forces`."""

    index: Any
    frames: Any
    data: Any
    z: Any = np.zeros(0)
    rate: Any = np.zeros(0)
    winding: Any = np.zeros(0, dtype=np.int64)
    """(nw,) torsion springs whose angle is a state, behind those of z; their rates lie behind those of `rate`."""
    bound: Any = np.zeros(0)
    inside: Any = np.zeros(0)
    inner: Any = np.zeros(0)
    newton: Newton = Newton(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, Unknown.columns)))
    acting: Any = np.zeros(1, dtype=np.int64)
    """(nf + 1,) the forces that may act, and how many they are (``nearby``)."""
    watched: Any = np.zeros((0, Watched.columns))
    skin: Any = np.zeros(1)
    unsettled: Any = np.zeros(1)
    room: Any = None
    """Scratch and meshes of surfaces in contact; None where there are none: then nothing of them is compiled."""


def force_tables(system: System, place: Place, freedom: Freedom) -> ForceTables:
    """The tables of the forces of `system`, which must outlive them: it keeps the user functions."""
    with unchanged():
        return _force_tables(system, place, freedom)


def _force_tables(system: System, place: Place, freedom: Freedom) -> ForceTables:
    values, forces = system.values, list(system.forces.values())
    of: dict[str, list[int]] = {name: [0] * len(forces) for name in ForceEntry.fields}
    of["dof"] = [NO_DOF] * len(forces)
    frames = np.tile([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (len(forces), 2))
    placed: dict[str, tuple[int, np.ndarray, np.ndarray, bool]] = {}
    data: list[float] = []
    start: list[float] = []
    for e, force in enumerate(forces):
        numbers = force.data_in(system)
        functions = force.varying(system)
        of["kind"][e], of["first"][e], of["count"][e] = force.code, len(data), len(numbers) + len(functions)
        data += numbers
        if functions:
            of["varying"][e] = len(data)
            data += functions
        states = force.states(values)
        of["state"][e], of["states"][e], of["off"][e] = len(start), len(states), force.is_off
        start += [initial for _, _, initial in states]
        if force.joint_name is not None:
            first_q, first_v = freedom(force.joint_name)
            offset = force.__dict__["freedom"]
            of["coordinate"][e], of["dof"][e] = first_q + offset, first_v + offset
        for side, frame in enumerate(force.frames(system)):
            if (at := placed.get(frame.body)) is None:
                body, R_LB, p_LB = place(frame.body)
                at = placed[frame.body] = (body, R_LB, p_LB, bool((R_LB == np.eye(3)).all()))
            body, R_LB, p_LB, same = at
            of["body_b" if side else "body_a"][e] = body
            R_BF, p_BF = (frame.R_BF, frame.p_BF) if same else (R_LB @ frame.R_BF, R_LB @ frame.p_BF)
            X = frames[e, 12 * side : 12 * side + 12]
            X[:9], X[9:] = R_BF.ravel(), p_LB + p_BF
    numbers_of_all = np.array(data)
    index = np.array([*of.values()], dtype=np.int64).T.copy()
    acting, watched, skin = watching(index, frames, numbers_of_all)
    return ForceTables(
        index,
        frames,
        numbers_of_all,
        np.array(start),
        np.zeros(len(start)),
        bound=np.zeros(len(start)),
        inside=np.zeros(len(start)),
        inner=np.zeros(len(start)),
        newton=Newton(*(np.zeros((MOST_STATES, m)) for m in (MOST_STATES, MOST_STATES, Unknown.columns))),
        acting=acting,
        watched=watched,
        skin=skin,
        unsettled=np.full(1, UNSETTLED),
        room=room_of(forces, values, index, numbers_of_all),
    )


def watching(index: np.ndarray, frames: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`acting`, with all forces on it, `watched`, nothing seen yet, and `skin` (``nearby``)."""
    entries, acting = ForceEntries(index), np.append(np.arange(len(index)), len(index))
    touching, nothing = np.flatnonzero(np.isin(entries.kind, (CONTACT, SURFACE))), np.zeros((0, Watched.columns))
    if len(touching) < FEW:
        return acting, nothing, np.zeros(1)
    bodies = entries.body_a[touching], entries.body_b[touching]
    watched = np.full((max(map(np.max, bodies)) + 1, Watched.columns), np.nan)
    farthest = WatchedBodies(watched).arm
    farthest[:] = 0.0
    for side, place in zip(bodies, (slice(9, 12), slice(21, 24)), strict=True):
        np.maximum.at(farthest, side, np.linalg.norm(frames[touching, place], axis=1))
    reach = data[entries.first[touching] + PointData.fields["far"].first]
    arms = np.linalg.norm(frames[touching, 9:12], axis=1)
    sizes = np.maximum(reach, arms)[reach < UNBOUNDED]  # a corner reaches no farther than itself
    if not (len(sizes) and np.median(sizes) > 0.0):
        return acting, nothing, np.zeros(1)
    return acting, watched, np.array([SKIN * float(np.median(sizes))])


def may_touch(forces: Iterable[Force]) -> np.ndarray:
    """(nf,) bool: which forces are contacts that are not always on the list of what may act (``nearby``)."""
    touching = np.array([force.code in (CONTACT, SURFACE) for force in forces], dtype=bool)
    return touching & (touching.sum() >= FEW)


def forget_nearby(tables: ForceTables) -> None:
    """The list of what may act is made anew: states of forces have been put from outside, and what friction of a contact off it holds has
    to let go."""
    forget_seen(tables.watched)
    tables.unsettled[0] = UNSETTLED


def forget_seen(watched: np.ndarray) -> None:
    """Of `Watched` bodies, that they were seen: the list is made anew."""
    before = Watched.fields["before"]
    watched[:, before.first : before.first + before.columns] = np.nan


def nearby_in(tables: ForceTables) -> dict[str, np.ndarray]:
    """The list of what may act as it stands, which says when the next is made; {} where all are on it always."""
    return {"acting": tables.acting, "watched": tables.watched} if len(tables.watched) else {}


def room_of(forces: Sequence[Force], values: Mapping[str, float], index: np.ndarray, data: np.ndarray) -> Room | None:
    """The scratch of contacts over areas, with the meshes of all and what these keep, whose numbers go into their data; None where there
    are none, of either, and kernels leave it out (``variants``)."""
    rows = max((force.room(values) for force in forces), default=0)
    if leaves_out(not rows):
        return None
    solids: list[Solid] = []
    contacts: list[tuple[int, int]] = []
    for e, force in enumerate(forces):
        numbers = [NO_MESH, NO_MESH]
        for side, solid in enumerate(force.meshes(values)):
            if solid is not None:
                at = next((n for n, known in enumerate(solids) if known is solid), len(solids))
                solids += [solid] if at == len(solids) else []
                numbers[side] = at
        if numbers != [NO_MESH, NO_MESH]:
            pair = MeshPair(data, ForceEntries(index)[e].first + OVERLAP)
            pair.mesh_a, pair.mesh_b, pair.kept = *numbers, len(contacts)
            contacts.append((numbers[0], numbers[1]))
    return Room(np.zeros((rows, 4)), None if leaves_out(not solids) else meshes_of(solids, contacts))


def bodies_of(tables: ForceTables) -> np.ndarray:
    """The bodies A and B of all forces, (nf, 2)."""
    entries = ForceEntries(tables.index)
    return np.column_stack([entries.body_a, entries.body_b])


@formula
def frames_a(tables):
    """X_LA[e]."""
    return PoseRows(tables.frames, 0)


@formula
def frames_b(tables):
    """X_LB[e]."""
    return PoseRows(tables.frames, 12)

"""From constraint tables and masses to the tables of the incremental potential."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from nexdyn.constraints.kinds import ANGLE
from nexdyn.constraints.tables import ConstraintTables, Terms, row_units
from nexdyn.constraints.turns import Angles
from nexdyn.forces.tables import ForceTables, Watched, WatchedBodies, watching
from nexdyn.linalg.plan import Plan, elimination_plan, locate
from nexdyn.model.functions import Function
from nexdyn.model.time_kernels import time_row
from nexdyn.potential.tables import (
    COUPLED,
    HINGE,
    NONE,
    ROWS,
    ContactTables,
    Coupled,
    CoupledRows,
    Group,
    Groups,
    Holding,
    Island,
    LoadTables,
    PotentialModel,
    PotentialState,
    PotentialWork,
    Run,
    SpringTables,
)
from nexdyn.spatial.borrowed import borrowed
from nexdyn.spatial.rotations import cross_product, rotation_matrix
from nexdyn.variants import leaves_out

THIN = 1e-2
"""Part of the other two below which a principal moment makes a body a rod."""
ROUNDED = 1e-13
NO_ANGLES = np.zeros((0, 3), dtype=np.int64), np.zeros((0, 24))


def potential_model(
    mass: np.ndarray, gravity: np.ndarray, tables: ConstraintTables, hinges: Sequence[int],
    functions: Sequence[Function], length: float, springs: Springs, loads: Loads, contacts: Contacts,
    angles: tuple[np.ndarray, np.ndarray] = NO_ANGLES, repeats: bool = False, blocks: tuple[np.ndarray, np.ndarray] | None = None,
) -> PotentialModel:  # fmt: skip
    """The model. mass (nb + 1, 10): m, m c, inertia about the body's origin; hinges: the pairs that are revolute joints; angles:
    those that are counted (``constraints.turns``), and their frames; repeats: whether rows repeat others; blocks: which springs and
    which loads the Hessian has blocks for, all by default."""
    nb = len(mass) - 1
    com = centres(mass)
    central = central_masses(mass)
    numbers: list[float] = []
    starts = []
    for function in functions:
        starts.append(len(numbers))
        numbers += time_row(function)

    found = _group(tables, set(hinges), starts)
    of_springs, of_loads = springs.coordinates.pairs, loads.index[:, 2:4]
    if blocks is not None:
        of_springs, of_loads = of_springs[blocks[0]], of_loads[blocks[1]]
    spring_pairs = [[i for i in pair if i] for pair in of_springs.tolist()]
    load_pairs = [[i for i in pair if i] for pair in of_loads.tolist()]
    edges = [
        pair for bodies in [*found.bodies, *spring_pairs, *load_pairs] for pair in itertools.combinations(bodies, 2)
    ]
    joined = np.array(edges, dtype=np.int64).reshape(-1, 2)
    plan = elimination_plan(np.full(nb, 6), joined - 1)
    island = islands(nb, joined)
    diagonal = np.append(NONE, _place(plan, np.arange(1, nb + 1), np.arange(1, nb + 1))[:, 0])

    groups = np.array(found.groups, dtype=np.int64).reshape(-1, Group.columns)
    of = Groups(groups)
    inside = np.flatnonzero((of.kind != COUPLED) & (of.body_a > 0) & (of.body_b > 0))
    places = _place(plan, of.body_a[inside], of.body_b[inside])
    reach = _reach(tables, com, length)
    of.place[inside], of.turned[inside] = places[:, 0], places[:, 1] == 1
    slot_body = np.array([0] * len(found.row_of) + found.slot_body, dtype=np.int64)
    parts, links = _coupled(tables, plan, groups, found, slot_body)
    energies = _springs(springs, plan, com, length)
    return PotentialModel(
        central, rods(central), np.array(gravity, dtype=float), about_centres(tables, com), groups, parts, links, slot_body,
        np.array(found.row_of, dtype=np.int64), np.array(found.driven, dtype=np.int64), np.array(numbers),
        energies, _loads(loads, plan, com, np.zeros(0) if energies is None else energies.data), _contacts(contacts), plan, diagonal,
        borrowed(mass, inertias(central), length, tables.pairs, close=True), float(length), reach,
        _units(tables, groups, found.row_of, reach), repeats, island,
        np.array([island[bodies[0]] for bodies in found.bodies], dtype=np.int64),
        *angles, _expected(tables, angles[0]),
    )  # fmt: skip


def islands(nb: int, joined: np.ndarray) -> np.ndarray:
    """Of each body (nb + 1,) the island that pairs `joined` (n, 2) of bodies make of them, numbered from 0; −1 of the ground."""
    links = sp.coo_matrix((np.ones(len(joined)), (joined[:, 0] - 1, joined[:, 1] - 1)), shape=(nb, nb))
    return np.append(NONE, connected_components(links, directed=False)[1]).astype(np.int64)


def _expected(tables: ConstraintTables, angles: np.ndarray) -> np.ndarray:
    """The angles that rows look for."""
    terms = Terms(tables.terms)
    return np.flatnonzero(np.isin(Angles(angles).near, terms.near[terms.primitive == ANGLE]))


def _units(tables: ConstraintTables, groups: np.ndarray, row_of: Sequence[int], reach: float) -> np.ndarray:
    """What makes numbers of the rows (nr,); those of a hinge are three lengths, then three products of directions."""
    out = np.append(row_units(tables, reach), 1.0)[row_of]
    of = Groups(groups)
    for first in of.first[of.kind == HINGE]:
        out[first : first + 3] = 1.0 / reach
    return out


def _reach(tables: ConstraintTables, com: np.ndarray, length: float) -> float:
    """The longest arm from a centre of mass to a joint."""
    frames = about_centres(tables, com).frames
    arms = [
        np.linalg.norm(frames[tables.pairs[:, side] > 0, 12 * side + 9 : 12 * side + 12], axis=1) for side in (0, 1)
    ]
    longest = float(np.concatenate(arms).max(initial=0.0))
    return longest if longest > 0.0 else float(length)


class Springs(NamedTuple):
    """Springs as they are described: law, first datum and data as ``springs`` says, the coordinates of one term each, near
    what angles start."""

    law: np.ndarray
    first: np.ndarray
    data: list[float]
    coordinates: ConstraintTables
    near: np.ndarray
    own: np.ndarray
    """(nz,) where in the data the states of forces are."""
    skin: np.ndarray
    """(n,) of ``tables.SpringTables``."""
    ends: dict[str, int]
    """Where in the data the two ends of each stop of a joint are."""
    of: list[tuple[str, str] | None]
    """Name and coordinate of the joint, or the torsion spring, that each is the coordinate of."""


class Loads(NamedTuple):
    """Loads as they are described: kind, element, bodies a and b (n, 4), the tables that elements are in, and `held` of
    ``tables.LoadTables`` (n,)."""

    index: np.ndarray  # type: ignore[assignment]
    tables: ForceTables
    held: np.ndarray


class Contacts(NamedTuple):
    """Points of contact as they are described: rows (n, 3) of the index, data, `varying` and `source` of ``tables.ContactTables``."""

    points: np.ndarray
    data: np.ndarray
    varying: np.ndarray
    source: np.ndarray


def about_centres(tables: ConstraintTables, com: np.ndarray) -> ConstraintTables:
    """The tables with frames from the centres of mass."""
    frames = tables.frames.copy()
    frames[:, 9:12] -= com[tables.pairs[:, 0]]
    frames[:, 21:24] -= com[tables.pairs[:, 1]]
    return tables._replace(frames=frames)


def _springs(springs: Springs, plan: Plan, com: np.ndarray, length: float) -> SpringTables | None:
    n = len(springs.law)
    if leaves_out(n == 0 and not springs.data):
        return None
    index = _with_places(plan, np.column_stack([springs.law, springs.first, springs.coordinates.pairs]))
    coordinates = about_centres(springs.coordinates, com)
    return SpringTables(
        index, np.array(springs.data), coordinates, np.ones((n, 7)), springs.near.copy(),
        np.zeros((n, 3)), np.zeros((n, 16)), np.zeros((n, 2)), np.zeros(n), springs.own,
        1.0 / row_units(springs.coordinates, length), springs.skin, _all(n), *_watching(coordinates, springs.skin, len(com)),
    )  # fmt: skip


def _all(n: int) -> np.ndarray:
    """A list of n, with all on it."""
    return np.append(np.arange(n), n)


def _watching(coordinates: ConstraintTables, skin: np.ndarray, bodies: int) -> tuple[np.ndarray, np.ndarray]:
    """`watched`, nothing seen yet, and `slack` of ``nearby``."""
    often = np.flatnonzero(skin)
    watched = np.full((bodies if len(often) else 0, Watched.columns), np.nan)
    farthest = WatchedBodies(watched).arm
    farthest[:] = 0.0
    for side in (0, 1) if len(often) else ():
        place = slice(12 * side + 9, 12 * side + 12)
        np.maximum.at(
            farthest, coordinates.pairs[often, side], np.linalg.norm(coordinates.frames[often, place], axis=1)
        )
    return watched, np.array([np.median(skin[often]) if len(often) else 0.0])


def _loads(loads: Loads, plan: Plan, com: np.ndarray, states: np.ndarray) -> LoadTables | None:
    n = len(loads.index)
    if leaves_out(n == 0):
        return None
    frames = loads.tables.frames.copy()
    for _, element, a, b in loads.index.tolist():
        frames[element, 9:12] -= com[a]
        frames[element, 21:24] -= com[b]
    t, of_element = loads.tables, np.full(len(frames), NONE)
    of_element[loads.index[:, 1]] = np.arange(n)
    acting, watched, skin = watching(t.index, frames, t.data)
    return LoadTables(
        _with_places(plan, loads.index),
        t._replace(frames=frames, acting=acting, watched=watched, skin=skin),
        of_element,
        np.zeros((len(com), 12)),
        np.zeros((n, 18)),
        np.zeros((n, 12)),
        np.zeros((n, 12)),
        np.zeros((24, 6)),
        loads.held,
        states,
    )


def _contacts(contacts: Contacts) -> ContactTables | None:
    n = len(contacts.points)
    if leaves_out(n == 0):
        return None
    return ContactTables(
        contacts.points,
        _all(n),
        contacts.data,
        np.zeros(n),
        np.ones((n, Holding.columns)),
        np.zeros((2 * n, 16)),
        np.zeros((n, 2)),
        np.zeros(1),
        np.zeros((n, 3)),
        contacts.varying,
        contacts.source,
    )


def _with_places(plan: Plan, index: np.ndarray) -> np.ndarray:
    """Rows that end in bodies a and b, with the place of their block and whether it is turned."""
    out = np.column_stack([index, np.full(len(index), NONE), np.zeros(len(index), dtype=np.int64)]).astype(np.int64)
    inside = np.flatnonzero((index[:, 2] > 0) & (index[:, 3] > 0))
    places = _place(plan, index[inside, 2], index[inside, 3])
    out[inside, 4], out[inside, 5] = places[:, 0], places[:, 1] == 1
    return out


def inertias(central: np.ndarray) -> np.ndarray:
    """(nb + 1, 3, 3) about the centres of mass."""
    return central[:, [1, 2, 3, 2, 4, 5, 3, 5, 6]].reshape(-1, 3, 3)


def rods(central: np.ndarray) -> np.ndarray:
    """J, e and I_r (nb + 1, 10) of bodies, m and I (nb + 1, 7); 0, 0 and I where a body is not thin."""
    out = np.hstack([np.zeros((len(central), 4)), central[:, 1:]])
    moments, axes = np.linalg.eigh(inertias(central))
    moments[abs(moments) < ROUNDED * moments[:, 2:]] = 0.0
    for i in np.flatnonzero(moments[:, 0] < THIN * moments[:, 1]):
        e, a, b = axes[i].T
        J, uneven = 0.5 * (moments[i, 1] + moments[i, 2]), 0.5 * (moments[i, 1] - moments[i, 2])
        uneven = 0.0 if abs(uneven) < ROUNDED * J else uneven
        rest = moments[i, 0] * np.outer(e, e) + uneven * (np.outer(a, a) - np.outer(b, b))
        out[i] = [J, *e, *rest[np.triu_indices(3)]]
    return out


def _place(plan: Plan, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Where the blocks of bodies i and j lie: place, step of i, step of j."""
    out = np.empty((len(i), 3), dtype=np.int64)
    locate(plan, np.ascontiguousarray(i) - 1, np.ascontiguousarray(j) - 1, out)
    return out


def centres(mass: np.ndarray) -> np.ndarray:
    """Centres of mass in the bodies' frames, (nb + 1, 3)."""
    m = mass[:, :1]
    return np.where(m > 0.0, mass[:, 1:4] / np.where(m > 0.0, m, 1.0), 0.0)


def central_masses(mass: np.ndarray) -> np.ndarray:
    """(nb + 1, 7): m, and the inertia about the centre of mass (xx, xy, xz, yy, yz, zz)."""
    m, c, out = mass[:, 0], centres(mass), np.empty((len(mass), 7))
    i, j = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2])
    steiner = (c * c).sum(axis=1)[:, None] * (i == j) - c[:, i] * c[:, j]
    out[:, 0], out[:, 1:] = m, mass[:, 4:] - m[:, None] * steiner
    return out


class _Groups:
    """Rows as they come together: what is looked at at once, and the moving bodies of each."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.bodies: list[list[int]] = []
        self.row_of: list[int] = []
        self.driven: list[int] = []
        self.slot_body: list[int] = []
        self.terms: list[tuple[int, int]] = []
        """Group and term of the terms of coupled rows."""


def _group(tables: ConstraintTables, hinges: set[int], starts: list[int]) -> _Groups:
    found = _Groups()
    last = NONE
    for q, (first, count, driver) in enumerate(tables.rows.tolist()):
        pairs = list(dict.fromkeys(Terms(tables.terms).pair[first : first + count].tolist()))
        if pairs[0] in hinges and len(pairs) == 1 and driver < 0:
            if pairs[0] != last:
                found.groups.append(
                    [HINGE, pairs[0], len(found.row_of), 6, *tables.pairs[pairs[0]].tolist(), NONE, 0, 0]
                )
                found.row_of += [NONE] * 6
                found.driven += [NONE] * 6
            last = pairs[0]
            continue
        if len(pairs) > 1:
            found.groups.append([COUPLED, len(found.terms), len(found.row_of), 1, 0, 0, 0, 0, count])
            found.terms += [(len(found.groups) - 1, e) for e in range(first, first + count)]
        elif pairs[0] == last and Group(found.groups[-1]).kind == ROWS:
            Group(found.groups[-1]).count += 1
        else:
            found.groups.append([ROWS, pairs[0], len(found.row_of), 1, *tables.pairs[pairs[0]].tolist(), NONE, 0, 0])
        last = pairs[0] if len(pairs) == 1 else NONE
        found.row_of.append(q)
        found.driven.append(starts[driver] if driver >= 0 else NONE)
    for row in found.groups:
        if Group(row).kind == COUPLED:
            group = Coupled(row)
            terms = [e for _, e in found.terms[group.part : group.part + group.parts]]
            bodies = sorted({i for e in terms for i in tables.pairs[Terms(tables.terms)[e].pair].tolist() if i})
            group.slot, group.slots = len(found.row_of) + len(found.slot_body), len(bodies)
            found.slot_body += bodies
            found.bodies.append(bodies)
        else:
            found.bodies.append([i for i in (Group(row).body_a, Group(row).body_b) if i])
    return found


def _coupled(
    tables: ConstraintTables, plan: Plan, groups: np.ndarray, found: _Groups, slot_body: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Parts and links of the coupled rows; their groups take where the links are."""
    parts: list[tuple[int, int, int, int, int]] = []
    links: list[tuple[int, int, int]] = []
    for g in np.flatnonzero(Groups(groups).kind == COUPLED):
        group = CoupledRows(groups)[g]
        slots = range(group.slot, group.slot + group.slots)
        slot_of = {int(slot_body[k]): k for k in slots}
        group.link = len(links)
        for k, l in itertools.combinations_with_replacement(slots, 2):
            place, step, _ = _place(plan, slot_body[[k]], slot_body[[l]])[0].tolist()
            links.append((l, k, place) if step == 1 and k != l else (k, l, place))
        group.links = len(links) - group.link
        for _, e in found.terms[group.part : group.part + group.parts]:
            a, b = tables.pairs[Terms(tables.terms)[e].pair].tolist()
            place, turned = NONE, 0
            if a and b:
                place, step, _ = _place(plan, np.array([a]), np.array([b]))[0].tolist()
                turned = int(step == 1)
            parts.append((e, slot_of.get(a, NONE), slot_of.get(b, NONE), place, turned))
    return np.array(parts, dtype=np.int64).reshape(-1, 5), np.array(links, dtype=np.int64).reshape(-1, 3)


def with_blocks(model: PotentialModel, other: PotentialModel) -> PotentialModel:
    """The model with the blocks of another of the same mechanism, and with what its springs, loads and contacts have gone through."""
    springs, loads = model.springs, model.loads
    return other._replace(
        springs=None if springs is None else springs._replace(index=other.springs.index),
        loads=None if loads is None else loads._replace(index=other.loads.index),
        contacts=model.contacts,
    )


def new_state(
    model: PotentialModel, mass: np.ndarray, q: np.ndarray, v: np.ndarray, near: np.ndarray
) -> PotentialState:
    """At poses q (nb + 1, 7) and velocities v (nb + 1, 6) of the bodies' origins; `mass` as for the model."""
    n, nr, c = len(q), len(model.row_of), centres(mass)
    R = rotation_matrix(q[:, :4])
    arm = np.einsum("nij,nj->ni", R, c)
    at, moving = q.copy(), v.copy()
    at[:, 4:] += arm
    moving[:, 3:] += cross_product(np.einsum("nij,nj->ni", R, v[:, :3]), arm)
    zeros = [np.zeros((n, 6)) for _ in range(5)]
    run = np.zeros(Run.columns)
    Run(run).stiffness = Run(run).whole = 1.0
    return PotentialState(at, moving, zeros[0], np.zeros(nr), np.ones(nr), run, near.copy(), *zeros[1:], np.zeros(nr))


def new_work(model: PotentialModel, state: PotentialState) -> PotentialWork:
    """Scratch for `model`, with the ground where it is."""
    n, nr = len(state.q), len(model.row_of)
    base = np.tile([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (n, 1))
    x, start, free, rod, past, force = (np.zeros((n, 6)) for _ in range(6))
    return PotentialWork(
        base, base.copy(), base[:, :9].copy(), x, start, free, rod, past, force, model.plan.new_vector(),
        model.plan.new_vector(), np.zeros(nr), state.near.copy(), state.near.copy(), np.zeros((len(model.slot_body), 16)),
        np.zeros((model.island.max(initial=0) + 1, Island.columns)), np.append(1.0, np.zeros(n - 1)),
        np.zeros(nr), np.zeros(nr), model.plan.new_blocks(), model.plan.new_work(),
    )  # fmt: skip

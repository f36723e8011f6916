"""A system in absolute coordinates as its motion crosses into kernels: bodies about their centres of mass.

The reference point of a body is its centre of mass, so that its mass matrix diag(J, m 1) never changes:

    J ω̇ + ω × J ω = n,   m v̇ = f            ω, n in the body's axes, v, f in the world's

A constraint node is what joins the same bodies, up to six rows. A link is a pair of frames seen from one node: its terms
are evaluated together, from one look at the pair.

    body    float64 (nb + 1, 7)   `Mass`
    spare   float64 (nb + 1, 2)   `Spare`
    links   int64 (nl, 13)        `Link`
    slots   int64 (ns, 2)         `Slot`
    offset  float64 (ng, 8)       what is subtracted from each row of a node
    drivers int64 (nd, 3)         `Driven`
    rows    int64 (nk, 3)         `KeptRow`
    slips   int64 (n, 2)          `Slip` of each term of a velocity row
    diagonal int64 (n,)           place of the diagonal block of each node; bodies come first, then constraints
    closing int64 (ng,)           1 where the rows of a node may come to depend on others: in loops, and of other kinds than joints'
    angles  int64 (na, 3)         each angle that is counted; angle_frames (na, 24) their frames, see ``constraints.turns``
    expected int64 (n,)           the angles among them that rows have
    parts   int64 (np + 1, 2)     `PartStart`, see ``equations.solved_here``; one part where there are loops
    watched float64 (ng, 8)       where rows are left out, what `equations.independence` looks at; (0, 8) elsewhere
    rotors  int64 (nr, 12)        of each armature its `armature.Rotor` and the places of its blocks
    others  int64 (no, 3)         `Other`: the blocks that no link has, of fill, and those that springs join

Arrays of the state have rows of 8 numbers: of body i, row i; of a constraint node, its multipliers or residual.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.model.armature import Places, RotorsOfJoints
from nexdyn.absolute.model.blocks import components
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.constraints.kinds import ANGLE, DISTANCE
from nexdyn.constraints.tables import ConstraintTables, Terms
from nexdyn.constraints.turns import Angles
from nexdyn.linalg.plan import LARGEST, Edges, Pivots, Plan, elimination_plan, locate, upper_places
from nexdyn.linalg.rows import WIDTH
from nexdyn.model.time_kernels import time_row
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Sym3
from nexdyn.spatial.borrowed import borrowed

FILLS_A, FILLS_B, FILLS_NODE = 1, 2, 4
PART = 24
"""Links of a part: what they and their pivots read and write stays in the first caches."""


class Mass(Record):
    """Mass and inertia of a body about its centre of mass, in its axes."""

    m: float
    J: Sym3


class Spare(Record):
    """Inertia and mass that the iteration matrix takes where a body has next to none (``spatial.borrowed``)."""

    J: float
    m: float


class Link(Record):
    """Two bodies, the pair and the constraint node; of the block of the node with each body its place, the step from row to row and the
    place in the upper ones; which blocks the link is the first to fill; its slots."""

    a: int
    b: int
    pair: int
    node: int
    place_a: int
    row_a: int
    place_b: int
    row_b: int
    fills: int
    first: int
    count: int
    upper_a: int
    upper_b: int


class Slot(Record):
    """A term of a link, and the row of the node that it is in."""

    term: int
    row: int


class Driven(Record):
    """A driven row, and where its function of time begins in `functions`."""

    node: int
    row: int
    function: int


class KeptRow(Record):
    """A row of the model that is kept: its node, its row there, its number in the model."""

    node: int
    row: int
    number: int


class Slip(Record):
    """A term of a velocity row."""

    link: int
    slot: int


class PartStart(Record):
    """Where a part begins: its first link and its first pivot."""

    link: int
    pivot: int


class Other(Record):
    """A block that no link has: its place, its numbers, its place in the upper ones."""

    place: int
    numbers: int
    upper: int


class BlockPlaces(Record):
    """Where the blocks of two bodies lie, as `block_places` finds them."""

    places: Places


Masses, Spares, Links, Slots, DrivenRows = rows_of(Mass), rows_of(Spare), rows_of(Link), rows_of(Slot), rows_of(Driven)
KeptRows, Slips, Parts, Others, PlacesOfBlocks = (
    rows_of(KeptRow), rows_of(Slip), rows_of(PartStart), rows_of(Other), rows_of(BlockPlaces),
)  # fmt: skip


class MotionTables(NamedTuple):
    """The frozen tables of a motion in absolute coordinates."""

    body: Any
    gravity: Any
    links: Any
    slots: Any
    constraints: Any
    offset: Any
    drivers: Any
    functions: Any
    rows: Any
    slips: Any
    diagonal: Any
    closing: Any
    watched: Any
    parts: Any
    others: Any
    spare: Any
    rotors: Any
    armature: Any
    """(nr, 1): inertia of each rotor."""
    plan: Any
    angles: Any
    angle_frames: Any
    expected: Any
    length: float
    """The size of the mechanism [m], beside which displacements are judged."""
    outside: float = 0.0
    """Address of what solves linear systems in place of our elimination, see ``outside``."""


class MotionState(NamedTuple):
    """What changes: at the step's start (0) and end (1) poses q, velocities v, their rates d, pseudo-accelerations a."""

    q0: Any
    q1: Any
    v0: Any
    v1: Any
    d0: Any
    d1: Any
    a0: Any
    a1: Any
    turn: Any
    """(nb + 1, 8): increments (θ, δ) of the step; otherwise scratch."""
    moved: Any
    """(nb + 1, 8): θ of the bodies since the start of the step; under HHT the same array as `turn`."""
    da: Any
    dda: Any
    """(nb + 1, 8): first and second backward difference of a."""
    lam0: Any
    lam1: Any
    dlam: Any
    ddlam: Any
    """Those of λ."""
    poses: Any
    twists: Any
    """(nb + 1, 6): angular velocity and velocity of the centre of mass, world axes."""
    C: Any
    """(ng, 8) constraint residual."""
    x: Any
    """(n, 8) right-hand sides and solutions."""
    near: Any
    """(nk,) what angles and the like are looked for near."""
    counted: Any
    """(nk,) where they were at the start of the step."""
    upper: Any
    lower: Any
    """The iteration matrix, see ``linalg.lu``."""
    work: Any
    most: Any
    """(4, 8) scratch of largest numbers; the last row stays 0."""


def motion_tables(
    model: AbsoluteModel, kept: np.ndarray, length: float, stiff: np.ndarray | None = None, blocks: np.ndarray | None = None, *,
    close: bool = False,
) -> MotionTables:  # fmt: skip
    """The tables of `model` with the rows `kept` (nc,) bool; `stiff` (n, 2): pairs of bodies that springs join; `blocks` (n,) bool: which
    of them the matrix has a block for, all by default; close: whether iterations must end close to the solution, see `borrowed`."""
    nb, t = model.nb, model.tables
    m = model.mass[:, 0]
    com = model.mass[:, 1:4] / np.where(m > 0.0, m, 1.0)[:, None]
    body = np.zeros((nb + 1, 7))
    body[:, 0] = m
    # J about the centre of mass: I − m (c·c 1 − c cᵀ)
    full = model.mass[:, [4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(-1, 3, 3)
    full = full - m[:, None, None] * (
        np.einsum("ni,ni->n", com, com)[:, None, None] * np.eye(3) - np.einsum("ni,nj->nij", com, com)
    )
    body[:, 1:] = full.reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]]
    frames = t.frames.copy()
    for side in (0, 1):
        frames[:, 12 * side + 9 : 12 * side + 12] -= com[t.pairs[:, side]]
    constraints = ConstraintTables(*t)._replace(frames=frames)

    nodes = _nodes(model, kept)
    sizes = [6] * nb + [len(rows) for rows, _ in nodes]
    links: list[tuple[int, ...]] = []
    slots: list[tuple[int, int]] = []
    slips: list[tuple[int, int]] = []
    edges: list[tuple[int, int]] = []
    offset = np.zeros((len(nodes), WIDTH))
    place_of_row = np.full((model.nc, 2), -1, dtype=np.int64)
    # lists: a number of an array costs ten times that of a list
    terms_of, pair_of_term = t.rows[:, :2].tolist(), t.terms[:, 0].tolist()
    bodies_of_pair, positional = t.pairs[:, :2].tolist(), model.positional.tolist()
    for g, (rows, pairs) in enumerate(nodes):
        place_of_row[rows, 0], place_of_row[rows, 1] = g, range(len(rows))
        offset[g, : len(rows)] = t.offset[rows]
        for k in pairs:
            first = len(slots)
            for c, r in enumerate(rows):
                begin, count = terms_of[r]
                for e in range(begin, begin + count):
                    if pair_of_term[e] == k:
                        if not positional[r]:
                            slips.append((len(links), len(slots)))
                        slots.append((e, c))
            a, b = bodies_of_pair[k]
            links.append((a, b, k, g, -1, 0, -1, 0, 0, first, len(slots) - first, -1, -1))
            edges += [(nb + g, x - 1) for x in (a, b) if x > 0]
    rotors = model.rotors
    of_rotors = RotorsOfJoints(rotors.joints)
    joined = np.stack([of_rotors.parent, of_rotors.child], axis=1)
    coupled = joined if stiff is None else np.concatenate([stiff if blocks is None else stiff[blocks], joined])
    stiff = joined if stiff is None else np.concatenate([stiff, joined])
    edges += [(a - 1, b - 1) for a, b in coupled.tolist() if a > 0 and b > 0]
    n = len(sizes)
    carried = _carried(body, nodes, bodies_of_pair, stiff)
    plan = elimination_plan(np.array(sizes, dtype=np.int64), edges, np.arange(n) >= nb, carried)
    table = np.array(links, dtype=np.int64).reshape(-1, Link.columns)
    linked = Links(table)
    for who, place, step, upper in (
        (linked.a, linked.place_a, linked.row_a, linked.upper_a),
        (linked.b, linked.place_b, linked.row_b, linked.upper_b),
    ):
        moving = who > 0
        node, i = nb + linked.node[moving], who[moving] - 1
        found = np.empty((len(i), 3), dtype=np.int64)
        locate(plan, node, i, found)
        place[moving], step[moving] = found[:, 0], found[:, 1]
        upper[moving] = upper_places(plan, node, i, found[:, 0])
    places = np.stack([linked.place_a, linked.place_b], axis=1).reshape(-1)
    taken, first_of = np.unique(places, return_index=True)
    new = (np.isin(np.arange(len(places)), first_of) & (places >= 0)).reshape(-1, 2)
    of_node = np.isin(np.arange(len(table)), np.unique(linked.node, return_index=True)[1])
    linked.fills[:] = FILLS_A * new[:, 0] + FILLS_B * new[:, 1] + FILLS_NODE * of_node
    parts = np.array([[0, 0], [len(table), n]])
    if links and not slips and len(links) == len(nodes) and (Pivots(plan.pivots).count <= 1).all():
        table, parts = _parts(table, plan, nb)
    diagonal = np.empty((n, 3), dtype=np.int64)
    locate(plan, np.arange(n), np.arange(n), diagonal)
    functions: list[float] = []
    drivers = []
    for driver in model.drivers:
        if place_of_row[driver.row, 0] >= 0:
            drivers.append((*place_of_row[driver.row], len(functions)))
            functions += time_row(driver.function)
    return MotionTables(
        body, np.ascontiguousarray(model.system.gravity), table, np.array(slots, dtype=np.int64).reshape(-1, 2),
        constraints, offset, np.array(drivers, dtype=np.int64).reshape(-1, 3), np.array(functions),
        np.column_stack([place_of_row[kept], np.flatnonzero(kept)]), np.array(slips, dtype=np.int64).reshape(-1, 2),
        np.ascontiguousarray(diagonal[:, 0]), _closing(model, nodes),
        np.zeros((0, WIDTH)), parts, _others(plan, taken),
        borrowed(model.mass, full, length, t.pairs, [b + 1 for b, _, _ in carried], close=close),
        np.concatenate([rotors.joints, block_places(diagonal[:, 0], plan, joined)], axis=1), rotors.inertia,
        plan, model.angles.index, model.angles.frames, _expected(model, kept), length,
    )  # fmt: skip


def block_places(diagonal: np.ndarray, plan: Plan, pairs: np.ndarray) -> np.ndarray:
    """`Places` for each pair of bodies (a, b), int64 (n, 6)."""
    out = np.full((len(pairs), BlockPlaces.columns), -1, dtype=np.int64)
    a, b = np.ascontiguousarray(pairs.T)
    of_a, of_b = a > 0, (b > 0) & (b != a)
    both = of_a & of_b
    out[of_a, 0], out[of_b, 1] = diagonal[a[of_a] - 1], diagonal[b[of_b] - 1]
    i, j = a[both] - 1, b[both] - 1
    found = np.empty((len(i), 3), dtype=np.int64)
    locate(plan, i, j, found)
    out[both, 2:5], out[both, 5] = found, upper_places(plan, i, j, found[:, 0])
    return out


def _expected(model: AbsoluteModel, kept: np.ndarray) -> np.ndarray:
    """The angles that terms of kept rows look for."""
    t = model.tables
    of_term = np.repeat(np.asarray(kept, dtype=bool), t.rows[:, 1])
    terms = Terms(t.terms)
    places = terms.near[of_term & (terms.primitive == ANGLE)]
    return np.flatnonzero(np.isin(Angles(model.angles.index).near, places))


def _carried(body: np.ndarray, nodes: Any, bodies_of_pair: Any, stiff: np.ndarray) -> list[tuple[int, int, int]]:
    """Nodes of each body without mass that six rows hold to another alone, as a robot's frames are: the body, the rows, the other."""
    empty: np.ndarray = ~np.any(body, axis=1)
    empty[stiff[(stiff > 0).all(axis=1)].reshape(-1)] = False
    if not empty[1:].any():
        return []
    held_by: dict[int, list[tuple[int, set[int]]]] = {}
    for g, (_, pairs) in enumerate(nodes):
        bodies = {b for k in pairs for b in bodies_of_pair[k]}
        for b in bodies:
            held_by.setdefault(b, []).append((g, bodies - {b}))
    found = []
    for b in np.flatnonzero(empty[1:]) + 1:
        (g, others), *more = held_by.get(int(b), [(0, set())])
        other = next(iter(others), 0)
        if not more and len(others) == 1 and other > 0 and not empty[other] and len(nodes[g][0]) == LARGEST:
            found.append((int(b) - 1, len(body) - 1 + g, other - 1))
    return found


def _closing(model: AbsoluteModel, nodes: list[tuple[list[int], list[int]]]) -> np.ndarray:
    """Whether the rows of each node may come to depend on others. Those of a joint's directions and displacements do not
    where there is no loop."""
    first, bodies_of_pair = model.nb + 1, model.tables.pairs[:, :2].tolist()
    edges = [
        (first + g, x) for g, (_, pairs) in enumerate(nodes) for x in {b for k in pairs for b in bodies_of_pair[k]}
    ]
    out = np.zeros(len(nodes), dtype=np.int64)
    of_node = np.array([g for g, _ in edges], dtype=np.int64) - first
    for loop in components(np.array(edges, dtype=np.int64).reshape(-1, 2), first + len(nodes)):
        out[of_node[loop]] = 1
    begin, count = model.tables.rows[:, 0], model.tables.rows[:, 1]
    plain = Terms(model.tables.terms).primitive < DISTANCE
    of_row = np.array([plain[b : b + n].all() for b, n in zip(begin.tolist(), count.tolist(), strict=True)], dtype=bool)
    for g, (rows, pairs) in enumerate(nodes):
        if len(pairs) > 1 or not of_row[rows].all():
            out[g] = 1
    return out


def _parts(table: np.ndarray, plan: Plan, nb: int) -> tuple[np.ndarray, np.ndarray]:
    """The links in the order in which the elimination wants them, and the parts of both: links of a part and of those before
    are all that its pivots have."""
    wanted, links = np.full(len(table), len(plan.pivots)), Links(table)
    for body in (links.a, links.b):
        moving = body > 0
        wanted[moving] = np.minimum(wanted[moving], plan.position[body[moving] - 1])
    wanted = np.minimum(wanted, plan.position[nb + links.node])
    order = np.argsort(wanted, kind="stable")
    first = np.arange(0, len(table), PART)
    begin = np.append(wanted[order][first], len(plan.pivots))
    begin[0] = 0
    return table[order], np.stack([np.append(first, len(table)), begin], axis=1)


def _others(plan: Plan, taken: np.ndarray) -> np.ndarray:
    """Place, numbers and upper place of each block beside the diagonal that is not among the places `taken`."""
    pivots, places = Pivots(plan.pivots), Edges(plan.edges).place
    of_edge = np.repeat(np.arange(len(pivots)), pivots.count)
    table = np.stack([places, WIDTH * pivots.unknowns[of_edge], places - pivots.shift[of_edge]], axis=1)
    return np.ascontiguousarray(table[~np.isin(places, taken)])


def centres(model: AbsoluteModel) -> np.ndarray:
    """Centre of mass of each body in its axes (nb + 1, 3)."""
    m = model.mass[:, :1]
    return model.mass[:, 1:4] / np.where(m > 0.0, m, 1.0)


def _nodes(model: AbsoluteModel, kept: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """(rows, pairs) of each constraint node: kept rows of the same bodies, six at most."""
    t = model.tables
    terms_of, pair_of_term, bodies_of_pair = t.rows[:, :2].tolist(), t.terms[:, 0].tolist(), t.pairs[:, :2].tolist()
    found: list[tuple[list[int], list[int]]] = []
    open_node: dict[tuple[int, ...], int] = {}
    for r in np.flatnonzero(kept).tolist():
        first, count = terms_of[r]
        pairs = list(dict.fromkeys(pair_of_term[first : first + count]))
        bodies = tuple(sorted({x for k in pairs for x in bodies_of_pair[k] if x > 0}))
        g = open_node.get(bodies, -1)
        if g < 0 or len(found[g][0]) == LARGEST:
            g = open_node[bodies] = len(found)
            found.append(([], []))
        found[g][0].append(r)
        found[g][1].extend(k for k in pairs if k not in found[g][1])
    return found


def new_state(tables: MotionTables, near: np.ndarray | None = None) -> MotionState:
    """A state of zeros with scratch; angles and the like are at `near`."""
    n, plan = len(tables.body), tables.plan
    rows = [np.zeros((n, WIDTH)) for _ in range(11)]
    for q in rows[:2]:
        q[:, 0] = 1.0
    lam = [np.zeros(tables.offset.shape) for _ in range(5)]
    poses = np.zeros((n, 12))
    poses[:, [0, 4, 8]] = 1.0
    given = np.zeros(1) if near is None or not len(near) else near.copy()
    return MotionState(  # type: ignore[call-arg]
        *rows[:9], rows[8], *rows[9:], lam[0], lam[1], lam[2], lam[3], poses, np.zeros((n, 6)), lam[4], plan.new_vector(), given,
        given.copy(), plan.new_upper(), plan.new_blocks(), plan.new_work(), np.zeros((4, WIDTH)),
    )  # fmt: skip

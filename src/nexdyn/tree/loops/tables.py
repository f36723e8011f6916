"""The tables of constraint rows on a tree: which rows there are, in which groups, on which paths.

Rows are those of joints that were cut, of couplings and mimic joints, and of drivers, in this order; groups with higher
priorities come first, as do rows of higher priority in a group.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from nexdyn.constraint_rows import Row, RowBuilder, coordinate, driven_rows
from nexdyn.constraints.kinds import ANGLE, DISTANCE, LENGTHS, VELOCITIES
from nexdyn.constraints.tables import ConstraintTables, RowsOfTerms, Terms, row_units
from nexdyn.errors import InputError
from nexdyn.joints.kinds import REGISTERED
from nexdyn.model.callbacks import Callback
from nexdyn.model.coupling import MEDIUM, Coupled, Law
from nexdyn.model.functions import Function
from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.model.time_kernels import time_callbacks, time_row
from nexdyn.records import Record, rows_of
from nexdyn.spatial.lanes import LANES
from nexdyn.spatial.rotations import quaternion
from nexdyn.tree.core.compile import Compiled, joint_class
from nexdyn.tree.loops.loops import (
    Angle,
    Ball,
    Couple,
    End,
    Group,
    LoopTables,
    OnPath,
    Own,
    OwnEffort,
    RowPlace,
    Shared,
    Slot,
)  # fmt: skip

Array = np.ndarray


class OwnCoordinate(NamedTuple):
    """A coordinate of a joint that was cut."""

    joint: str
    freedom: int


class OfDriver(NamedTuple):
    """A row of a driver: its function of time, and those that it follows besides."""

    driver: str
    function: Function
    followed: tuple[Function, ...]


class Rows(NamedTuple):
    """What was compiled: the rows by name, the tables, the rows of the drivers, and the places of what they measure.

    near: place in `LoopTables.near` of (joint, equation). own: the coordinates of cut joints, in the order of the tables;
    balls: the ball and free joints among those with efforts. child_first (nt,): whether the child of the joint that a term
    is of comes first in its pair.
    """

    rows: list[Row]
    tables: LoopTables
    driven: list[OfDriver]
    callbacks: tuple[Callback, ...]
    near: dict[tuple[str, str], int]
    own: list[OwnCoordinate]
    balls: list[Joint]
    child_first: Array

    @property
    def beyond(self) -> int:
        """How many coordinates, and velocities, states of the tree are longer by."""
        return len(self.own) + sum(joint.nv for joint in self.balls)

    @property
    def lengths(self) -> list[bool]:
        """Whether each row is a length [m] (or, at velocity level, m/s); else it is an angle or a product of directions."""
        t = self.tables.tables
        return np.isin(Terms(t.terms).primitive[RowsOfTerms(t.rows).first], LENGTHS).tolist()


def loop_tables(
    system: System,
    c: Compiled,
    cut: Sequence[str],
    drivers: bool = True,
    dropped: Collection[str] = (),
    silent: Collection[str] = (),
    spare: int = 0,
) -> Rows:
    """The rows on the tree `c` of `system`, but those named in `dropped` ("hinge.DX"); `spare` of them redundant. Those named in `silent`
    are zero.

    drivers: whether its drivers act. Raises InputError for a cut joint whose efforts a tree cannot carry.
    """
    builder = _builder(system)
    joints = dict.fromkeys(cut)
    for joint in system.joints.values():
        if joint.name in joints:
            builder.add_joint(joint)
        else:
            builder.add_pair(joint.parent.name, joint.child.name, _frame(joint, system))
    _add_couplings(system, builder)
    driven = _add_drivers(system, builder) if drivers else []
    own, measures, numbers = _own_coordinates(system, builder, cut)
    balls = [joint for joint in map(system.joint, cut) if _turns(joint) and _acting(system, joint)]
    numbers += [row for joint in balls for row in _numbers(system, joint)]
    given = builder.tables()
    for r, row in enumerate(builder.rows):
        if str(row) in silent:
            given.scale[_terms(given, r)] = given.offset[r] = 0.0
    priority: dict[tuple[str, str | None], int] = {}
    for row in builder.rows:
        priority[_owner(row)] = max(row.priority, priority.get(_owner(row), 0))
    kept = [r for r in range(len(builder.rows)) if str(builder.rows[r]) not in dropped]
    first_of: dict[tuple[str, str | None], int] = {}
    for r in kept:
        first_of.setdefault(_owner(builder.rows[r]), r)

    def key(r: int) -> tuple[int, int, int, int]:
        row = builder.rows[r]
        return -priority[_owner(row)], first_of[_owner(row)], -row.priority, r

    order = sorted(kept, key=key)
    rows = [builder.rows[r]._replace(index=i) for i, r in enumerate(order)]
    on_links, of_link = _on_links(system, c, given, order)
    used = sorted(
        {int(Terms(given.terms)[e].pair) for r in order for e in _terms(given, r)} | {int(m[0]) for m in measures}
    )
    # held from here on: the rows below have their addresses
    callbacks = tuple(c for _, f, followed in driven for function in (f, *followed) for c in time_callbacks(function))
    data: list[float] = []
    at = []
    for _, function, _ in driven:
        at.append(len(data))
        data += time_row(function)
    near = builder.near_start()
    arrays = _group_tables(c, rows, on_links)
    groups, paths = rows_of(Group)(arrays["groups"]), rows_of(OnPath)(arrays["path"])
    m, ng, length = len(rows), len(groups), _size(c, on_links)
    places, longest = int(paths.nv.sum()), int(groups.links.max(initial=0))
    loops = LoopTables(
        tables=on_links, **arrays, needed=_needed(c, [int(i) for k in used for i in of_link[k]]),
        outward=_outward(c, paths.link), velocity_level=_velocity_level(on_links), units=row_units(on_links, length),
        speed_units=_speed_units(c, length),
        functions=np.array([*data, 0.0]), driver_at=np.array(at, dtype=np.int64),
        own=_own_table(c, cut, own, measures), balls=_ball_table(c, cut, balls, builder, len(own)),
        efforts=np.array(numbers).reshape(-1, OwnEffort.columns), near=near,
        angles=_angles(system, c, on_links, [e for r in order for e in _terms(given, r)] + [m[1] for m in measures], builder),
        spun=np.zeros(len(near) + 1), s=np.zeros((max(places, 1), 1, LANES)),
        carried=np.zeros((max(longest, 1), 6, LANES)), gradient=np.zeros((1, 12, LANES)), A=np.zeros((m, m)),
        of_rows=np.zeros((max(ng, 1), 4, LANES)), mu=np.zeros(m), change=np.zeros(c.nv), damping=np.zeros(5),
        spare=np.array([float(spare), 0.0]), left_out=np.zeros(m), chosen=np.zeros((m, m) if spare else (0, 0)),
        largest=np.zeros(m), dependence=np.array([np.inf, 0.0, 0.0]), lent=np.zeros((0, 2)),
    )  # fmt: skip
    return Rows(rows, loops, driven, callbacks, dict(builder.near), own, balls, _child_first(system, builder, given))


def _builder(system: System) -> RowBuilder:
    number_of = {name: i for i, name in enumerate(["ground", *system.bodies])}
    q = np.zeros((len(number_of), 7))
    q[:, 0] = 1.0
    for i, body in enumerate(system.bodies.values(), start=1):
        R, p = body.pose(system.values)
        q[i] = [*quaternion(R), *p]
    return RowBuilder(system, number_of, q)


def _frame(joint: Joint, system: System) -> Array:
    R_AJ, p_AJ, R_BJ, p_BJ = joint.frames(system.values)
    return np.concatenate([R_AJ.ravel(), p_AJ, R_BJ.ravel(), p_BJ])


def _add_couplings(system: System, builder: RowBuilder) -> None:
    values = system.values
    for coupling in system.couplings.values():
        row = Row("", coupling.equation, coupling.priority, 0, None, coupling.name)
        builder.add_coupling(row, coupling.law(values))
    for joint in system.joints.values():
        mimic = joint.resolved(values).mimic if joint.mimic is not None else None
        if mimic is not None:
            law = Law((Coupled(joint.name, 0, 1.0), Coupled(mimic.joint, 0, -mimic.multiplier)), mimic.offset)
            builder.add_coupling(Row(joint.name, "Mimic", MEDIUM, 0, None, joint.name), law)


def _add_drivers(system: System, builder: RowBuilder) -> list[OfDriver]:
    driven: list[OfDriver] = []
    for driver in system.drivers.values():
        rows = driven_rows(builder, driver)
        pair = builder.add_pair(rows[0].what.a, rows[0].what.b, rows[0].what.frame)
        for what, function, followed, data in rows:
            near = builder.near_of((what.joint or driver.name, what.equation)) if what.primitive == ANGLE else -1
            row = Row(what.joint, what.equation, driver.priority, 0, driver.name)
            builder.add_row(row, [(pair, what.primitive, near, 1.0)], what.offset, len(driven), data)
            driven.append(OfDriver(driver.name, function, followed))
    return driven


def uncuttable(system: System, joints: Collection[str]) -> list[str]:
    """Those of `joints` with armature, and registered ones in which something acts: they must stay whole."""
    found = [system.joints[name] for name in joints if system.joints[name].nv]
    held = [joint for joint in found if joint.code == REGISTERED and _acting(system, joint)]
    return [joint.name for joint in found if joint in held or joint.resolved(system.values).armature.any()]


def _turns(joint: Joint) -> bool:
    """Whether its coordinates are no numbers one by one."""
    return len(joint.coordinates) != joint.nv


def _acting(system: System, joint: Joint) -> bool:
    """Whether something acts along its degrees of freedom."""
    found = joint.resolved(system.values)
    forced = any(joint.name in force.joints() for force in system.forces.values())
    return forced or bool(found.stiffness.any() or found.damping.any() or found.friction.any())


def _numbers(system: System, joint: Joint) -> list[list[float]]:
    """Of each degree of freedom its stiffness, rest, damping, friction and friction speed."""
    found = joint.resolved(system.values)
    rest = found.rest if np.size(found.rest) == joint.nv else np.zeros(joint.nv)
    each = zip(found.stiffness, rest, found.damping, found.friction, found.friction_speed, strict=True)
    return [[float(x) for x in numbers] for numbers in each]


def _own_coordinates(
    system: System, builder: RowBuilder, cut: Sequence[str]
) -> tuple[list[OwnCoordinate], list[tuple[int, int]], list[list[float]]]:
    """The coordinates of cut joints that are numbers: (pair, term) that measures each, and its stiffness, rest, damping and
    friction. InputError for armature, which only a joint of the tree has.
    """
    wrong = uncuttable(system, cut)
    if wrong:
        raise InputError(
            f"joint {wrong[0]!r} ({system.joints[wrong[0]].kind}) would be cut open, and only joints of the spanning tree "
            f"have armature, or efforts where they are registered; cut another joint of its loop: "
            f"nx.Loops(cut=[…]), or simulate it in absolute coordinates: method=nx.HHT()"
        )
    own, measures, numbers = [], [], []
    for joint in map(system.joint, cut):
        if not joint.nv or _turns(joint):
            continue
        numbers += _numbers(system, joint)
        for freedom in range(joint.nv):
            what = coordinate(joint, freedom, system.values)
            pair = builder.pair_of_joint[joint.name]
            if what.a != joint.parent.name:
                pair = builder.add_pair(what.a, what.b, what.frame)
            near = builder.near_of((joint.name, what.equation)) if what.primitive == ANGLE else -1
            measures.append((pair, len(builder.terms)))
            builder.terms.append((pair, what.primitive, -1, near))
            builder.scale.append(1.0)
            own.append(OwnCoordinate(joint.name, freedom))
    return own, measures, numbers


def _own_table(c: Compiled, cut: Sequence[str], own: list[OwnCoordinate], measures: list[tuple[int, int]]) -> Array:
    """Coordinates of cut joints stand behind those of the tree."""
    number = {name: n for n, name in enumerate(cut)}
    rows = [(*measures[n], c.nq + n, c.nv + n, number[joint]) for n, (joint, _) in enumerate(own)]
    return np.array(rows, dtype=np.int64).reshape(-1, Own.columns)


def _ball_table(c: Compiled, cut: Sequence[str], balls: list[Joint], builder: RowBuilder, own: int) -> Array:
    """Ball and free joints that were cut, behind the coordinates that are numbers."""
    rows, first = [], own
    for joint in balls:
        rows.append((builder.pair_of_joint[joint.name], c.nv + first, joint.nv, list(cut).index(joint.name), first))
        first += joint.nv
    return np.array(rows, dtype=np.int64).reshape(-1, Ball.columns)


def _angles(system: System, c: Compiled, given: ConstraintTables, terms: list[int], builder: RowBuilder) -> Array:
    """Of each angle among `terms` its place in near, a term that measures it, and its place in q or −1."""
    arcs = {arc.name: a for a, arc in enumerate(c.forest.arcs)}
    columns = {}
    for (name, equation), place in builder.near.items():
        joint = system.joints.get(name)
        if joint is not None and name in arcs and joint.nq == joint.nv and equation in joint.coordinates:
            columns[place] = int(c.first_q[arcs[name]]) + joint.coordinates.index(equation)
    found = {int(Terms(given.terms)[e].near): e for e in reversed(terms) if Terms(given.terms)[e].primitive == ANGLE}
    rows = [(place, e, columns.get(place, -1)) for place, e in sorted(found.items())]
    return np.array(rows, dtype=np.int64).reshape(-1, Angle.columns)


def _child_first(system: System, builder: RowBuilder, given: ConstraintTables) -> Array:
    """Whether the child of the joint whose row or coordinate a term is comes first in its pair."""
    found = np.zeros(len(given.terms), dtype=np.bool_)
    children = {(builder.number_of[j.child.name], builder.number_of[j.parent.name]) for j in system.joints.values()}
    joints = len(system.joints)
    for e, pair in enumerate(Terms(given.terms).pair.tolist()):
        found[e] = pair >= joints and tuple(given.pairs[pair].tolist()) in children
    return found


def _owner(row: Row) -> tuple[str, str | None]:
    """Rows of one owner go together; a mimic joint's row is not one of the joint's own."""
    return ("coupling", row.coupling) if row.coupling is not None else row.owner


def _terms(given: ConstraintTables, r: int) -> range:
    row = RowsOfTerms(given.rows)[r]
    return range(int(row.first), int(row.first + row.count))


def _on_links(system: System, c: Compiled, given: ConstraintTables, order: list[int]) -> tuple[ConstraintTables, Array]:
    """The tables with links in place of bodies, rows in their new order."""
    link, R_LB, p_LB = [0], [np.eye(3)], [np.zeros(3)]
    arcs = {arc.child.name: a for a, arc in enumerate(c.forest.arcs)}
    for name in system.bodies:
        a = arcs[name]
        link.append(int(c.link[a]))
        R_LB.append(c.R_LB[a])
        p_LB.append(c.p_LB[a])
    frames = given.frames.reshape(-1, 2, 12).copy()
    for k, pair in enumerate(given.pairs.tolist()):
        for side, body in enumerate(pair):
            R, p = R_LB[body], p_LB[body]
            frames[k, side, 9:] = p + R @ frames[k, side, 9:]
            frames[k, side, :9] = (R @ frames[k, side, :9].reshape(3, 3)).ravel()
    pairs = np.array(link, dtype=np.int64)[given.pairs].reshape(-1, 2)
    tables_ = ConstraintTables(
        pairs, frames.reshape(-1, 24), given.terms, given.scale, given.rows[order].reshape(-1, 3), given.offset[order],
        given.data, given.ends,
    )  # fmt: skip
    return tables_, pairs


def _group_tables(c: Compiled, rows: list[Row], given: ConstraintTables) -> dict[str, Array]:
    """Groups, ends, slots, paths, and which degrees of freedom groups share."""
    parts: list[list[int]] = []
    for r, row in enumerate(rows):
        if parts and len(parts[-1]) < LANES and _owner(rows[parts[-1][0]]) == _owner(row):
            parts[-1].append(r)
        else:
            parts.append([r])
    groups: list[tuple[int, ...]] = []
    ends: list[tuple[int, ...]] = []
    slots: list[tuple[int, int]] = []
    path: list[tuple[int, ...]] = []
    row_of: list[tuple[int, int]] = []
    freedoms: list[dict[int, int]] = []  # of each group: place in s of every freedom on its path
    place = 0
    for g, part in enumerate(parts):
        by_pair: dict[int, list[tuple[int, int]]] = {}
        for lane, r in enumerate(part):
            row_of.append((g, lane))
            for e in _terms(given, r):
                by_pair.setdefault(int(Terms(given.terms)[e].pair), []).append((e, lane))
        links = _ancestors(c, {int(i) for k in by_pair for i in given.pairs[k]})
        links.reverse()  # outermost first: a parent has a smaller number
        where = {i: n for n, i in enumerate(links)}
        groups.append((part[0], len(part), len(ends), len(by_pair), len(path), len(links)))
        for k, terms in by_pair.items():
            a, b = (int(i) for i in given.pairs[k])
            plain = all(Terms(given.terms)[e].primitive < DISTANCE for e, _ in terms)
            ends.append((k, a, b, where.get(a, -1), where.get(b, -1), len(slots), len(terms), int(plain)))
            slots += terms
        own: dict[int, int] = {}
        for i in links:
            link = c.model.topology[i]
            parent, first, count = int(link.parent), int(link.iv), int(link.nv)
            path.append((i, where.get(parent, -1), place, first, count))
            own |= {first + m: place + m for m in range(count)}
            place += count
        freedoms.append(own)
    couples: list[tuple[int, ...]] = []
    shared: list[tuple[int, int, int]] = []
    first_in_A = np.arange(len(rows), dtype=np.int64)
    on_freedom: dict[int, list[int]] = {}
    for g, own in enumerate(freedoms):
        others = {h for j in own for h in on_freedom.get(j, ())}
        for h in [*sorted(others), g]:
            both = [j for j in own if j in freedoms[h]]
            couples.append((g, h, len(shared), len(both)))
            shared += [(own[j], freedoms[h][j], j) for j in both]
        lowest = min([*others, g])
        for r in parts[g]:
            first_in_A[r] = groups[lowest][0]
        for j in own:
            on_freedom.setdefault(j, []).append(g)

    def table(x: Sequence[tuple[int, ...]], record: type[Record]) -> Array:
        return np.array(x, dtype=np.int64).reshape(-1, record.columns)

    return {
        "groups": table(groups, Group), "ends": table(ends, End), "slots": table(slots, Slot), "row_of": table(row_of, RowPlace),
        "path": table(path, OnPath), "couples": table(couples, Couple), "shared": table(shared, Shared), "first_in_A": first_in_A,
    }  # fmt: skip


def _ancestors(c: Compiled, links: Collection[int]) -> list[int]:
    """The links and all that they hang on, without the world, inner ones first."""
    found = set()
    for i in links:
        while i > 0 and i not in found:
            found.add(i)
            i = int(c.model.topology.parent[i])
    return sorted(found)


def _needed(c: Compiled, links: Collection[int]) -> Array:
    return np.array(_ancestors(c, links), dtype=np.int64)


def _outward(c: Compiled, links: Array) -> Array:
    """Links of the trees in which some path lies."""
    parent, on_path = c.model.topology.parent, set(links.tolist())
    touched = np.zeros(len(parent), dtype=bool)
    for i in range(1, len(parent)):
        touched[i] = i in on_path or touched[parent[i]]
    return np.flatnonzero(touched).astype(np.int64)


def _velocity_level(given: ConstraintTables) -> Array:
    """Whether the rows are velocities, without a C."""
    return np.isin(Terms(given.terms).primitive[RowsOfTerms(given.rows).first], VELOCITIES)


def _size(c: Compiled, given: ConstraintTables) -> float:
    """The length of the mechanism [m]: the longest arm of its joints; 1 where there is none."""
    arms = [c.model.body.X_PJ.p.numbers[1:], given.frames[:, 9:12], given.frames[:, 21:24]]
    return max(float(np.linalg.norm(x, axis=1).max(initial=0.0)) for x in arms) or 1.0


def _speed_units(c: Compiled, length: float) -> Array:
    """Of each velocity of the tree: 1 where it turns, 1/length where it slides."""
    units = np.ones(c.nv)
    for arc, first in zip(c.forest.arcs, c.first_v, strict=True):
        for k, (way, _, _) in enumerate(joint_class(arc.joint).directions):
            units[first + k] = 1.0 if way == "turn" else 1.0 / length
    return units

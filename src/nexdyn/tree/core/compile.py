"""From a system to the tables of a tree.

A body's frame in the kernels, its link frame L, is the child-side frame of its joint, so that the joint's axis is z at
the origin. Bodies that fixed joints weld are one link, unless each body is wanted (then a fixed joint is a joint of no
freedom, and the wrench that it carries can be told).

    X_LB = X_BJ⁻¹ for a body that moves,   X_LB = X_LP X_PJ X_BJ⁻¹ for one that is welded to P
    X_PJ of the tables = X_LP X_PJ as described, what rounding tilts z taken off;   inertia of a link = Σ inertia of its
    bodies moved to L
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import ref

import numpy as np

from nexdyn.errors import InputError
from nexdyn.joints.fixed import Fixed
from nexdyn.joints.free import Free
from nexdyn.joints.kinds import FIXED, OF_ANY, OF_PACKAGE, REGISTERED, REVERSED
from nexdyn.model.joint import Joint, ResolvedJoint
from nexdyn.model.system import System
from nexdyn.model.topology import Forest, spanning_forest
from nexdyn.records import Rows
from nexdyn.spatial.split_moments import split_moments
from nexdyn.tree.core import tables
from nexdyn.tree.core.tables import Bodies, Body, Dof, Dofs, Rigid, Rigids, TreeModel

EPS = float(np.finfo(float).eps)
_KNOWN: dict[int, tuple[ref[System], tuple[int, int], Compiled]] = {}
"""Trees of systems by their identity; what a system holds is fixed (`Element`), and nothing writes into the tables."""


@dataclass(frozen=True)
class Compiled:
    """A tree in tables, and what connects it to names.

    `joint` and `body` data are in the order of the forest's arcs, links in the order of the tables (row 0 the world).
    """

    model: TreeModel
    forest: Forest
    link: np.ndarray
    """Link of each arc's body, (arcs,)."""
    R_LB: np.ndarray
    """Rotation of each body in its link, (arcs, 3, 3)."""
    p_LB: np.ndarray
    """Place of each body's origin in its link [m], (arcs, 3)."""
    arc_of_link: np.ndarray
    """The arc whose joint carries each link, (nb + 1,); −1 for the world."""
    first_q: np.ndarray
    first_v: np.ndarray
    """First coordinate and velocity of each arc's joint, (arcs,)."""
    above: np.ndarray
    """The next degree of freedom towards the root of each, (nv,); −1 at the root."""
    nq: int
    nv: int


def joint_code(joint: Joint | None) -> Any:
    """The number of an arc's joint, by which kernels of trees know it."""
    if joint is not None and joint.is_turned and not joint.about_z:
        return OF_ANY(joint.code + REVERSED)
    return joint_class(joint).code


def joint_class(joint: Joint | None) -> type[Joint]:
    """The class of an arc's joint; a floating root has a free joint."""
    return Free if joint is None else type(joint)


def known_tree(system: System) -> Compiled:
    """`compile_tree` along the spanning forest of `system`: as it was made before, where nothing has been added since."""
    key, size = id(system), (len(system.bodies), len(system.joints))
    known = _KNOWN.get(key)
    if known is None or known[0]() is not system or known[1] != size:
        gone = ref(system, lambda _: _KNOWN.pop(key, None))
        known = _KNOWN[key] = gone, size, compile_tree(system, spanning_forest(system))
    return known[2]


def compile_tree(system: System, forest: Forest, merge_fixed: bool = True) -> Compiled:
    """The tables of `system`; with `merge_fixed` welded bodies are one link, without, every body is a link."""
    arcs = forest.arcs
    n = len(arcs)
    values = system.values
    kinds = [joint_class(arc.joint) for arc in arcs]
    welded = np.array([merge_fixed and kind is Fixed for kind in kinds], dtype=bool)
    first_q, first_v, nq, nv = _coordinates(kinds)

    R_PJ, p_PJ, R_BJ, p_BJ = _frames(system, forest)
    parent = np.array([arc.parent for arc in arcs], dtype=np.int64)

    # X_LB = X_BJ⁻¹ where a body moves; along welds outward from the parent
    R_LB = np.swapaxes(R_BJ, 1, 2).copy()
    p_LB = -np.einsum("nij,nj->ni", R_LB, p_BJ)
    link = np.zeros(n, dtype=np.int64)
    links = 0
    for a in range(n):
        if welded[a]:
            p = parent[a]
            R_LP, p_LP = (R_LB[p], p_LB[p]) if p >= 0 else (np.eye(3), np.zeros(3))
            R_LJ, p_LJ = R_LP @ R_PJ[a], p_LP + R_LP @ p_PJ[a]
            p_LB[a] = p_LJ + R_LJ @ p_LB[a]
            R_LB[a] = R_LJ @ R_LB[a]
            link[a] = int(link[p]) if p >= 0 else 0
        else:
            links += 1
            link[a] = links

    # X_PJ of the tables: from the parent's link
    on_body = parent >= 0
    R_LP = np.where(on_body[:, None, None], R_LB[parent], np.eye(3))
    p_LP = np.where(on_body[:, None], p_LB[parent], 0.0)
    p_LJ = p_LP + np.einsum("nij,nj->ni", R_LP, p_PJ)
    R_LJ = R_LP @ R_PJ

    moving = np.flatnonzero(~welded)
    codes = [joint_code(arc.joint) for arc in arcs]
    own = any(codes[a] >= REGISTERED for a in moving)
    topology = Bodies(np.zeros((links + 1, Body.columns), dtype=OF_ANY if own else OF_PACKAGE))
    topology.table[0] = (-1, FIXED, nq, nv, 0, tables.NO_EFFORT, 0, nv)
    topology.parent[1:] = np.where(on_body, link[parent], 0)[moving]
    topology.kind[1:] = [codes[a] for a in moving]
    topology.iq[1:], topology.iv[1:] = first_q[moving], first_v[moving]
    topology.nv[1:] = [kinds[a].nv for a in moving]
    topology.end[1:] = topology.iv[1:] + topology.nv[1:]
    for i, p in enumerate(reversed(topology.parent[1:].tolist())):
        topology.end[p] = max(topology.end[p], topology.end[links - i])
    topology.flags[:] = _shares(topology.parent)
    topology.flags[1:] += tables.TURNS_Z * _turned_about_z(R_LJ, kinds)[moving]
    body = Rigids(np.zeros((links + 1, Rigid.columns)))
    body.X_PJ.R.numbers[1:] = R_LJ[moving].reshape(-1, 9)
    body.X_PJ.p.numbers[1:] = p_LJ[moving]
    np.add.at(body.I.numbers, link, _link_inertias(system, forest, R_LB, p_LB))
    body.split.numbers[:] = split_moments(body.I.I.numbers)
    body.table[0] = 0.0
    body.table[0, :3] = system.gravity
    freedom = Dofs(np.zeros((max(nv, 1), Dof.columns)))
    freedom.friction_speed[:] = 1.0
    for a in moving.tolist():
        joint = arcs[a].joint
        if joint is not None:
            numbers = joint.resolved(values)
            _refuse_free_spring(joint, numbers)
            _fill_dofs(Dofs(freedom.table[first_v[a] : first_v[a] + kinds[a].nv]), numbers)
            topology.efforts[link[a]] = _efforts(numbers)
            body.pitch[link[a]] = joint.own_number(values)

    arc_of_link = np.full(links + 1, -1, dtype=np.int64)
    arc_of_link[1:] = moving
    above = _freedoms_above(topology, nv)
    model = TreeModel(topology.table, body.table, freedom.table)
    return Compiled(model, forest, link, R_LB, p_LB, arc_of_link, first_q, first_v, above, nq, nv)


def _shares(parent: np.ndarray) -> np.ndarray:
    """What each body does with the stack of shares; the world takes none."""
    n = len(parent)
    shares, body = np.zeros(n, dtype=np.int64), np.arange(n)
    last = np.zeros(n, dtype=np.int64)
    last[parent[1:]] = body[1:]
    shares[(np.bincount(parent[1:], minlength=n) > 1) & (body > 0)] = tables.POPS
    later = (parent > 0) & (parent != body - 1)
    shares[later] += np.where(last[parent[later]] == body[later], tables.PUSHES, tables.ADDS)
    return shares


def _coordinates(kinds: list[type[Joint]]) -> tuple[np.ndarray, np.ndarray, int, int]:
    """First q and v of each arc, and how many there are."""
    first_q, first_v = np.zeros((2, len(kinds)), dtype=np.int64)
    nq = nv = 0
    for a, kind in enumerate(kinds):
        first_q[a], first_v[a] = nq, nv
        nq, nv = nq + kind.nq, nv + kind.nv
    return first_q, first_v, nq, nv


def _frames(system: System, forest: Forest) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X_PJ and X_BJ of every arc's joint; a floating root is carried by the world's frame, at its own."""
    n = len(forest.arcs)
    R_PJ, R_BJ = np.tile(np.eye(3), (2, n, 1, 1))
    p_PJ, p_BJ = np.zeros((2, n, 3))
    values = system.values
    for a, arc in enumerate(forest.arcs):
        if arc.joint is not None:
            R_PJ[a], p_PJ[a], R_BJ[a], p_BJ[a] = arc.joint.tree_frames(values)
    return R_PJ, p_PJ, R_BJ, p_BJ


def _turned_about_z(R: np.ndarray, kinds: list[type[Joint]]) -> np.ndarray:
    """Which joints turn their child about the parent's z alone, (arcs,); of those, R loses what rounding left elsewhere."""
    about_z = np.array([kind.about_z for kind in kinds], dtype=bool)
    found = about_z & (np.abs(R[:, :, 2] - [0.0, 0.0, 1.0]).max(axis=1) < 8 * EPS)
    c, s = R[found, 0, 0] + R[found, 1, 1], R[found, 1, 0] - R[found, 0, 1]
    r = np.hypot(c, s)
    R[found] = np.eye(3)
    R[found, 0, 0], R[found, 1, 1], R[found, 1, 0], R[found, 0, 1] = c / r, c / r, s / r, -s / r
    return found


def _link_inertias(system: System, forest: Forest, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(m, h, I) of every body about its link's origin in link axes, (arcs, 10)."""
    n = len(forest.arcs)
    mass, com, about_com = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
    values = system.values
    for a, arc in enumerate(forest.arcs):
        mass[a], com[a], about_com[a], _, _ = arc.child.resolved(values)
    c = p + np.einsum("nij,nj->ni", R, com)
    I = R @ about_com @ np.swapaxes(R, 1, 2)
    # Steiner: I + m (cᵀc 1 − c cᵀ)
    I += mass[:, None, None] * (np.einsum("ni,ni->n", c, c)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :])
    out = np.empty((n, 10))
    out[:, 0], out[:, 1:4] = mass, mass[:, None] * c
    out[:, 4], out[:, 5], out[:, 6] = I[:, 0, 0], I[:, 0, 1], I[:, 0, 2]
    out[:, 7], out[:, 8], out[:, 9] = I[:, 1, 1], I[:, 1, 2], I[:, 2, 2]
    return out


def _fill_dofs(rows: Rows[Dof], joint: ResolvedJoint) -> None:
    for name in ("armature", "damping", "stiffness", "rest", "friction", "friction_speed"):
        getattr(rows, name)[:] = getattr(joint, name)


def _efforts(joint: ResolvedJoint) -> int:
    """Which efforts act in a joint by itself."""
    if joint.friction.any():
        return tables.FRICTIONAL
    return tables.LINEAR if joint.damping.any() or joint.stiffness.any() else tables.NO_EFFORT


def _refuse_free_spring(joint: Joint, numbers: ResolvedJoint) -> None:
    if joint.kind == Free.kind and numbers.stiffness.any():
        raise InputError(f"{joint} is free and takes no stiffness; put a Bushing between the two bodies instead")


def _freedoms_above(topology: Rows[Body], nv: int) -> np.ndarray:
    """The next degree of freedom towards the root; within a joint the one before."""
    above = np.full(nv, -1, dtype=np.int64)
    last = np.full(len(topology), -1, dtype=np.int64)  # last freedom at or above each link
    for i in range(1, len(topology)):
        body = topology[i]
        carried = last[body.parent]
        for j in range(body.iv, body.iv + body.nv):
            above[j], carried = carried, j
        last[i] = carried
    return above

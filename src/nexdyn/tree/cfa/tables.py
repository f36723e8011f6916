"""The tables of the constraint force algorithm: what a tree's frozen numbers make constant, and its scratch.

along  float64 (nb + 1, 5)   Wᵀ (Λ + P̂ᵀ Λ_p P̂) h of a joint about z, for refinement
X      (slots, 12)           of a joint that is not plainly about z: X;
W, Y, S  (slots, 6, 6)       its columns of W, of Λ_p P̂ W, factors;
u      (slots, 24)           its Ĥ F_T, φ, F_T/D of armatured degrees of freedom, and room
before (nv,)                 the q̈ that RNEA holds

What stands in a table is what one pass reads or writes of a body, in whole lines of the cache: outward from the motion to
`turn`, inward to `factor`, outward to `result`. A joint about z has no pose here: it is R_PJ turned by the angle. Bodies
come depth first, so the rows of `spare` are those of the bodies of several children on one path from the root.

A body without mass, or without inertia about an axis, has no I⁻¹. It borrows `LENT` of the inertia that bodies near it have, for I⁻¹
alone: RNEA knows nothing of it. What that makes of q̈ refinement takes back, all but some `LENT` of it in every step.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.joints.kinds import REVOLUTE
from nexdyn.records import Record, holds_records, rows_of
from nexdyn.spatial.algebra import Force, Motion, Vec3
from nexdyn.spatial.mobility import Coupling5, Factor5, Five, InverseInertia, Mobility
from nexdyn.spatial.rotations import skew
from nexdyn.tree.core import tables
from nexdyn.tree.core.tables import TreeModel
from nexdyn.tree.lanes.memory import lane_zeros

ABOUT_Z_FIRST, ABOUT_Z_BRANCH, ANY = range(3)
"""Ways: a joint about z that is the first to go of its parent's; one that is not; any other joint."""

NEAR_ZERO = 1e-10
"""A mass below this part of the heaviest body's, or a moment of inertia below this part of what the body's mass has about its
joints, counts as none: I⁻¹ would lose more than ten digits."""
LENT = 1e-6
"""The part of a neighbour's inertia that a body borrows which has none."""
LEAST_PIVOT = 32 * float(np.finfo(float).eps)
"""A pivot below this part of its diagonal entry of A is what rounding left: A counts as not positive definite."""


class Place(Record):
    """Where a body stands: its parent, way of elimination, slot, columns of W, whether it is its parent's first to go, first v, row in
    `spare` if several children hang on it, whether none does."""

    parent: int
    way: int
    slot: int
    nw: int
    fresh: int
    iv: int
    branches: int
    leaf: int


class Fixed(Record):
    """I⁻¹ of a body; Λ_p P̂ at its joint's frame in the parent, without the turn of a joint about z: constant I_p⁻¹ P̂ where the joint is
    the parent's first to go, else filled in when its turn comes; I_p⁻¹ there; least pivots."""

    inverse: InverseInertia
    Y: Coupling5
    seen: InverseInertia
    least: Five
    spare: Vec3


class Turn(Record):
    """Cosine and sine of a joint about z; wrench of RNEA(q, v, 0)."""

    cos: float
    sin: float
    F: Force


class Factored(Record):
    """Of a joint about z, once eliminated: cosine, sine, F_T, φ, factors."""

    cos: float
    sin: float
    torque: float
    phi: Five
    L: Factor5
    spare: float


class Found(Record):
    """F_i and acceleration V̇."""

    F: Force
    A: Motion


class Running(Record):
    """Of a body of several children, while they come and go: Λ and β so far; the rest of the forces on it; its V and A."""

    M: Mobility
    beta: Motion
    net: Force
    V: Motion
    A: Motion


class Eliminated(Record):
    """Of a slot: Λ_i and Λ_p when its joint was eliminated."""

    M: Mobility
    M_p: Mobility


Places, FixedRows = rows_of(Place), rows_of(Fixed)


@holds_records
class ConstraintTables(NamedTuple):
    """What the kernels of the algorithm see beside the tree's own tables."""

    index: Annotated[Any, Place]
    body: Annotated[Any, Fixed]
    turn: Annotated[Any, Turn]
    factor: Annotated[Any, Factored]
    result: Annotated[Any, Found]
    along: Any
    spare: Annotated[Any, Running]
    X: Any
    W: Any
    Y: Any
    S: Any
    M: Annotated[Any, Eliminated]
    u: Any
    least: Any  # (6,), least pivots of the joint at hand
    W_p: Any  # (6, 6), W in the parent of the joint at hand
    late: Any  # the joints whose parents have later children
    before: Any  # (nv,)
    lends: Any  # (1,), whether a body borrows inertia
    lost: Any  # (1,), the link at which A was found not positive definite; 0: none


def _triangle(S: np.ndarray) -> np.ndarray:
    """(xx, xy, xz, yy, yz, zz) of symmetric (…, 3, 3)."""
    return S[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]


class Inverse(NamedTuple):
    """(1/m, c, J⁻¹) (nb + 1, 10) and I⁻¹ (nb + 1, 6, 6) of every link, 0 for the world; and which of them (nb + 1,) borrow inertia."""

    packed: np.ndarray
    full: np.ndarray
    borrows: np.ndarray


def inverse_inertias(model: TreeModel, names: list[str], lending: bool = True) -> Inverse:
    """The inverse inertias of all links, those that have none with what they borrow; without `lending` an InputError names them."""
    rows, parent = model.body.I.numbers, model.topology.parent
    n = len(rows)
    m, h = rows[:, 0].copy(), rows[:, 1:4]
    I = np.empty((n, 3, 3))
    I[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]] = rows[:, 4:]
    I[:, [1, 2, 2], [0, 0, 1]] = rows[:, [5, 6, 8]]
    m_safe = np.where(m > 0.0, m, 1.0)
    c = h / m_safe[:, None]
    # about the centre of mass: J = I + m [c]×[c]×
    J = I + m[:, None, None] * (skew(c) @ skew(c))
    J = 0.5 * (J + np.swapaxes(J, 1, 2))
    arms = np.einsum("ni,ni->n", c, c)
    at = model.body.X_PJ.p.numbers[1:] - c[parent[1:]]
    np.maximum.at(arms, parent[1:], np.einsum("ni,ni->n", at, at))
    reference = np.trace(J, axis1=1, axis2=2) + m * arms
    least = np.linalg.eigvalsh(J)[:, 0]
    weak = ~((m > NEAR_ZERO * m.max(initial=0.0)) & (least > NEAR_ZERO * reference))
    weak[0] = False
    if weak.any():
        if not lending or weak[1:].all():
            _refuse([names[i - 1] for i in np.flatnonzero(weak)], int(np.flatnonzero(weak)[0]), m, least)
        near = _nearest_with_inertia(parent, weak)
        m_safe = np.where(weak, m + LENT * m[near], m_safe)
        J[weak] += (LENT * np.maximum(reference[near], m[near] * arms)[weak])[:, None, None] * np.eye(3)
    J[0], m_safe[0] = np.eye(3), 1.0
    Ji = np.linalg.inv(J)
    Ji = 0.5 * (Ji + np.swapaxes(Ji, 1, 2))
    packed = np.concatenate([1.0 / m_safe[:, None], c, _triangle(Ji)], axis=1)
    M = np.empty((n, 6, 6))
    cx = skew(c)
    # ω = J⁻¹ (n − c × f),  v = f/m + c × ω
    M[:, :3, :3], M[:, :3, 3:] = Ji, -Ji @ cx
    M[:, 3:, :3] = cx @ Ji
    M[:, 3:, 3:] = -cx @ Ji @ cx + np.eye(3) / m_safe[:, None, None]
    packed[0], M[0] = 0.0, 0.0
    return Inverse(packed, M, weak)


def _nearest_with_inertia(parent: np.ndarray, weak: np.ndarray) -> np.ndarray:
    """Of each link one near it in the tree that has inertia, itself if it has; parents come before children, the world lends nothing."""
    near = np.where(weak, -1, np.arange(len(parent)))
    near[0] = -1
    while True:
        before = near.copy()
        for i in range(1, len(parent)):
            p = int(parent[i])
            if p > 0 and near[i] < 0:
                near[i] = before[p]
            if p > 0 and near[p] < 0:
                near[p] = before[i]
        if (near == before).all():  # what is left are trees of their own
            return np.where(near < 0, near.max(), near)


def _refuse(names: list[str], first: int, m: np.ndarray, least: np.ndarray) -> None:
    shown = ", ".join(repr(name) for name in names[:5]) + (f", … ({len(names)} in all)" if len(names) > 5 else "")
    raise InputError(
        f"the constraint force algorithm inverts the inertia of every body, and that of {shown} is zero or nearly "
        f"(mass {m[first]:.3g} kg, least moment {least[first]:.3g} kg m² about the centre of mass of {names[0]!r}); "
        f"weld such a body to its neighbour with a Fixed joint, give it mass and inertia, or use dynamics 'aba'"
    )


def levels_of_branching(topology: Any) -> np.ndarray:
    """How many bodies of several children stand on the path from the root to such a body, itself included; 0 of others."""
    parent, branches = topology.parent.tolist(), (topology.flags & tables.POPS != 0).tolist()
    level, above = np.zeros(len(parent), dtype=np.int64), [0] * len(parent)
    for i in range(1, len(parent)):
        above[i] = above[parent[i]] + branches[i]
        level[i] = above[i] if branches[i] else 0
    return level


def constraint_tables(model: TreeModel, names: list[str]) -> ConstraintTables:
    """The tables of a tree whose links carry the bodies `names`."""
    topology = model.topology
    n = len(topology)
    parent = topology.parent
    packed, M, borrows = inverse_inertias(model, names)
    body = FixedRows(lane_zeros((n, Fixed.columns)))
    index = Places(np.zeros((n, Place.columns), dtype=np.int32))
    body.inverse.numbers[:] = packed
    # the wrench of a joint in the parent's frame: P̂ = [R, [p]× R; 0, R]
    R, p = model.body.X_PJ.R.numbers[1:].reshape(-1, 3, 3), model.body.X_PJ.p.numbers[1:]
    P = np.zeros((n, 6, 6))
    P[1:, :3, :3], P[1:, :3, 3:], P[1:, 3:, 3:] = R, skew(p) @ R, R
    Y = M[np.maximum(parent, 0)] @ P
    Ji = M[parent[1:], :3, :3]
    body.seen.w[1:] = packed[parent[1:], 0]
    body.seen.c.numbers[1:] = np.einsum("nji,nj->ni", R, packed[parent[1:], 1:4] - p)
    body.seen.J.numbers[1:] = _triangle(np.swapaxes(R, 1, 2) @ Ji @ R)
    body.Y.numbers[:, :30] = Y[:, :, [0, 1, 3, 4, 5]].reshape(n, 30)
    body.Y.y.numbers[:] = Y[:, :, 2]
    # the diagonal of A_i (31) for a joint about z, at most, however it is turned
    own, seen = np.einsum("nkk->nk", M), np.einsum("nij,nik,nkj->nj", P, M[np.maximum(parent, 0)], P)
    most = np.stack(
        [own[:, 0] + own[:, 1], own[:, 0] + own[:, 1], own[:, 3] + own[:, 4], own[:, 3] + own[:, 4], own[:, 5]]
    )
    body.least.numbers[:] = LEAST_PIVOT * (most.T + seen[:, [0, 1, 3, 4, 5]])

    index.parent[:], index.iv[:] = parent, topology.iv
    index.branches[:] = levels_of_branching(topology)
    index.leaf[:] = np.bincount(np.maximum(parent, 0), minlength=n) == 0
    stiff = np.zeros(n, dtype=np.int64)  # freedoms with armature carry a force that is unknown, too
    rotor = np.concatenate([[0], np.cumsum(model.freedom.armature > 0.0)])
    first, count = topology.iv[1:], topology.nv[1:]
    stiff[1:] = rotor[first + count] - rotor[first]
    about_z = (topology.kind == REVOLUTE) & (stiff == 0)
    index.nw[:] = 6 - topology.nv + stiff
    # children are eliminated last first: the first to go finds its parent as it is
    last = np.zeros(n, dtype=np.int64)
    last[parent[1:]] = np.arange(1, n)
    fresh = (parent <= 0) | (last[np.maximum(parent, 0)] == np.arange(n))
    index.fresh[:] = fresh
    index.way[:] = np.where(about_z, np.where(fresh, ABOUT_Z_FIRST, ABOUT_Z_BRANCH), ANY)
    any_kind = (index.way == ANY) & (parent >= 0)
    slots = int(any_kind.sum())
    index.slot[any_kind] = np.arange(slots)
    W, Y, S = np.zeros((3, slots, 6, 6))
    return ConstraintTables(
        index.table, body.table, lane_zeros((n, Turn.columns)), lane_zeros((n, Factored.columns)), lane_zeros((n, Found.columns)),
        np.zeros((n, 5)), np.zeros((1 + int(index.branches.max()), Running.columns)), np.zeros((slots, 12)), W, Y, S,
        np.zeros((slots, Eliminated.columns)), np.zeros((slots, 24)), np.zeros(6), np.zeros((6, 6)),
        np.flatnonzero(~fresh), np.zeros(len(model.freedom)), np.array([int(borrows.any())]),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip

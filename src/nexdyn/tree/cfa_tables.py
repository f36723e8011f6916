"""The tables of the constraint force algorithm: what a tree's frozen numbers make constant, and its scratch.

index  int32   (nb + 1, 8)   parent, way of elimination, slot, columns of W, whether it is its parent's first to go, first v,
                             row in `spare` if several children hang on it, whether none does
body   float64 (nb + 1, 64)  I⁻¹ of the body as (1/m, c, J⁻¹) (10); Λ_p P̂ at the joint's frame in the parent, without the
                             turn of a joint about z (36): constant I_p⁻¹ P̂ where the joint is the parent's first to go, else
                             filled in when its turn comes; I_p⁻¹ as (1/m, c, J⁻¹) there (10); least pivots (5); −
turn   float64 (nb + 1, 8)   cosine and sine of a joint about z; wrench of RNEA(q, v, 0) (6)
factor float64 (nb + 1, 24)  of a joint about z, once eliminated: cosine, sine, F_T, φ (5), factors (15), −
result float64 (nb + 1, 12)  F_i (6), acceleration V̇ (6)
along  float64 (nb + 1, 5)   Wᵀ (Λ + P̂ᵀ Λ_p P̂) h of a joint about z, for refinement
spare  float64 (levels, 45)  of a body of several children, while they come and go: Λ (21) and β (6) so far; the rest of the
                             forces on it (6); its V and A (12)
X      (slots, 12)           of a joint that is not plainly about z: X;
W, Y, S  (slots, 6, 6)       its columns of W, of Λ_p P̂ W, factors;
M      (slots, 42)           Λ_i and Λ_p when it was eliminated
u      (slots, 24)           its Ĥ F_T, φ, F_T/D of armatured freedoms, and room
before (nv,)                 the q̈ that RNEA holds

What stands in a table is what one pass reads or writes of a body, in whole lines of the cache: outward from the motion to
`turn`, inward to `factor`, outward to `result`. A joint about z has no pose here: it is R_PJ turned by the angle. Bodies
come depth first, so the rows of `spare` are those of the bodies of several children on one path from the root.

A body without mass, or without inertia about an axis, has no I⁻¹. It borrows `LENT` of the inertia that bodies near it have, for I⁻¹
alone: RNEA knows nothing of it. What that makes of q̈ refinement takes back, all but some `LENT` of it in every step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.joints.kinds import REVOLUTE
from nexdyn.tree import tables
from nexdyn.tree.lane_memory import lane_zeros
from nexdyn.tree.tables import TreeModel

PARENT, WAY, SLOT, COLUMNS, FRESH, IV, BRANCHES, LEAF = range(8)
INDEX_COLUMNS = 8
ABOUT_Z_FIRST, ABOUT_Z_BRANCH, ANY = range(3)
"""Ways: a joint about z that is the first to go of its parent's; one that is not; any other joint."""

INVERSE_, COUPLING_, SEEN_, LEAST_ = 0, 10, 46, 56
BODY_COLUMNS = 64
COS_, SIN_, BIAS_ = 0, 1, 2
TURN_COLUMNS = 8
TORQUE_, PHI_, FACTOR_ = 2, 3, 8
FACTOR_COLUMNS = 24
FORCE_, ACCELERATION_ = 0, 6
RESULT_COLUMNS = 12
RUNNING_, BETA_, NET_, VELOCITY_, BIAS_ACCELERATION_ = 0, 21, 27, 33, 39
SPARE_COLUMNS = 45

NEAR_ZERO = 1e-10
"""A mass below this part of the heaviest body's, or a moment of inertia below this part of what the body's mass has about its
joints, counts as none: I⁻¹ would lose more than ten digits."""
LENT = 1e-6
"""The part of a neighbour's inertia that a body borrows which has none."""
LEAST_PIVOT = 32 * float(np.finfo(float).eps)
"""A pivot below this part of its diagonal entry of A is what rounding left: A counts as not positive definite."""


class ConstraintTables(NamedTuple):
    """What the kernels of the algorithm see beside the tree's own tables."""

    index: Any
    body: Any
    turn: Any
    factor: Any
    result: Any
    along: Any
    spare: Any
    X: Any
    W: Any
    Y: Any
    S: Any
    M: Any
    u: Any
    least: Any  # (6,), least pivots of the joint at hand
    W_p: Any  # (6, 6), W in the parent of the joint at hand
    late: Any  # the joints whose parents have later children
    before: Any  # (nv,)
    lends: Any  # (1,), whether a body borrows inertia
    lost: Any  # (1,), the link at which A was found not positive definite; 0: none


def skew(p: np.ndarray) -> np.ndarray:
    """[p]× (…, 3, 3)."""
    out = np.zeros((*p.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -p[..., 2], p[..., 1], -p[..., 0]
    return out - np.swapaxes(out, -1, -2)


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
    rows = model.body[:, tables.INERTIA : tables.INERTIA + 10]
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
    at = model.body[1:, tables.POSE + 9 : tables.POSE + 12] - c[model.topology[1:, tables.PARENT]]
    np.maximum.at(arms, model.topology[1:, tables.PARENT], np.einsum("ni,ni->n", at, at))
    reference = np.trace(J, axis1=1, axis2=2) + m * arms
    least = np.linalg.eigvalsh(J)[:, 0]
    weak = ~((m > NEAR_ZERO * m.max(initial=0.0)) & (least > NEAR_ZERO * reference))
    weak[0] = False
    if weak.any():
        if not lending or weak[1:].all():
            _refuse([names[i - 1] for i in np.flatnonzero(weak)], int(np.flatnonzero(weak)[0]), m, least)
        near = _nearest_with_inertia(model.topology[:, tables.PARENT], weak)
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


def levels_of_branching(topology: np.ndarray) -> np.ndarray:
    """How many bodies of several children stand on the path from the root to such a body, itself included; 0 of others."""
    parent, branches = topology[:, tables.PARENT].tolist(), (topology[:, tables.FLAGS] & tables.POPS != 0).tolist()
    level, above = np.zeros(len(parent), dtype=np.int64), [0] * len(parent)
    for i in range(1, len(parent)):
        above[i] = above[parent[i]] + branches[i]
        level[i] = above[i] if branches[i] else 0
    return level


def constraint_tables(model: TreeModel, names: list[str]) -> ConstraintTables:
    """The tables of a tree whose links carry the bodies `names`."""
    topology = model.topology
    n = len(topology)
    parent = topology[:, tables.PARENT]
    packed, M, borrows = inverse_inertias(model, names)
    body, index = lane_zeros((n, BODY_COLUMNS)), np.zeros((n, INDEX_COLUMNS), dtype=np.int32)
    body[:, INVERSE_ : INVERSE_ + 10] = packed
    # the wrench of a joint in the parent's frame: P̂ = [R, [p]× R; 0, R]
    R = model.body[1:, tables.POSE : tables.POSE + 9].reshape(-1, 3, 3)
    p = model.body[1:, tables.POSE + 9 : tables.POSE + 12]
    P = np.zeros((n, 6, 6))
    P[1:, :3, :3], P[1:, :3, 3:], P[1:, 3:, 3:] = R, skew(p) @ R, R
    Y = M[np.maximum(parent, 0)] @ P
    Ji = M[parent[1:], :3, :3]
    body[1:, SEEN_] = packed[parent[1:], 0]
    body[1:, SEEN_ + 1 : SEEN_ + 4] = np.einsum("nji,nj->ni", R, packed[parent[1:], 1:4] - p)
    body[1:, SEEN_ + 4 : SEEN_ + 10] = _triangle(np.swapaxes(R, 1, 2) @ Ji @ R)
    body[:, COUPLING_ : COUPLING_ + 30] = Y[:, :, [0, 1, 3, 4, 5]].reshape(n, 30)
    body[:, COUPLING_ + 30 : COUPLING_ + 36] = Y[:, :, 2]
    # the diagonal of A_i (31) for a joint about z, at most, however it is turned
    own, seen = np.einsum("nkk->nk", M), np.einsum("nij,nik,nkj->nj", P, M[np.maximum(parent, 0)], P)
    most = np.stack(
        [own[:, 0] + own[:, 1], own[:, 0] + own[:, 1], own[:, 3] + own[:, 4], own[:, 3] + own[:, 4], own[:, 5]]
    )
    body[:, LEAST_ : LEAST_ + 5] = LEAST_PIVOT * (most.T + seen[:, [0, 1, 3, 4, 5]])

    index[:, PARENT], index[:, IV] = parent, topology[:, tables.IV]
    index[:, BRANCHES] = levels_of_branching(topology)
    index[:, LEAF] = np.bincount(np.maximum(parent, 0), minlength=n) == 0
    stiff = np.zeros(n, dtype=np.int64)  # freedoms with armature carry a force that is unknown, too
    rotor = np.concatenate([[0], np.cumsum(model.freedom[:, tables.ARMATURE] > 0.0)])
    first, count = topology[1:, tables.IV], topology[1:, tables.NV]
    stiff[1:] = rotor[first + count] - rotor[first]
    about_z = (topology[:, tables.KIND] == REVOLUTE) & (stiff == 0)
    index[:, COLUMNS] = 6 - topology[:, tables.NV] + stiff
    # children are eliminated last first: the first to go finds its parent as it is
    last = np.zeros(n, dtype=np.int64)
    last[parent[1:]] = np.arange(1, n)
    index[:, FRESH] = (parent <= 0) | (last[np.maximum(parent, 0)] == np.arange(n))
    index[:, WAY] = np.where(about_z, np.where(index[:, FRESH] == 1, ABOUT_Z_FIRST, ABOUT_Z_BRANCH), ANY)
    any_kind = (index[:, WAY] == ANY) & (parent >= 0)
    slots = int(any_kind.sum())
    index[any_kind, SLOT] = np.arange(slots)
    W, Y, S = np.zeros((3, slots, 6, 6))
    return ConstraintTables(
        index, body, lane_zeros((n, TURN_COLUMNS)), lane_zeros((n, FACTOR_COLUMNS)), lane_zeros((n, RESULT_COLUMNS)),
        np.zeros((n, 5)), np.zeros((1 + int(index[:, BRANCHES].max()), SPARE_COLUMNS)), np.zeros((slots, 12)), W, Y, S,
        np.zeros((slots, 42)), np.zeros((slots, 24)), np.zeros(6), np.zeros((6, 6)),
        np.flatnonzero(index[:, FRESH] == 0), np.zeros(len(model.freedom)), np.array([int(borrows.any())]),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip

"""The motions that the constraints leave, told as motions of joints.

In a block with loops, tree coordinates with J ẏ = 0 move its bodies; seen in the joints, a motion is the velocity of
every joint's frame B against its frame A, (ω, v) in A. The motions are combined so that each turns or moves one joint
by 1 and the joints chosen for the others not at all. A joint in no loop moves as it likes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from nexdyn.absolute.model import stress
from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.absolute.model.redundancy import RANK_TOLERANCE, Block, Redundancy
from nexdyn.joints.general import GeneralJoint
from nexdyn.joints.revolute_prismatic import RevolutePrismatic
from nexdyn.model.joint import WAYS, Joint
from nexdyn.spatial.rotations import rotation_matrix

LARGEST = 3000
"""Tree coordinates of a block up to which its motions are told."""
SMALLEST = 1e-6
"""A part of a motion below this is none."""
_BLOCKED = {"DX": 3, "DY": 4, "DZ": 5}


class Motion(NamedTuple):
    """One degree of freedom: `joint` moves in a `way`, by 1 rad or 1 m; `with_it` moves {joint: {way: rate}} along.

    Where a body is held by no joint, `joint` is the body and `way` "is free to move" as a whole; `dof` is then more
    than 1, as it is where a way is no single one.
    """

    joint: str
    way: str
    with_it: dict[str, dict[str, float]]
    dof: int = 1

    def __str__(self) -> str:
        if self.dof > 1:
            return f"{self.joint} {self.way} ({self.dof} degrees of freedom)"
        parts = [f"{name} {way} {rate:+.4g}" for name, ways in self.with_it.items() for way, rate in ways.items()]
        more = [f"… ({len(parts) - 6} more)"] if len(parts) > 7 else []
        parts = parts[:6] + more if more else parts
        return f"{self.joint} {self.way}" + (f"; with it {', '.join(parts)}" if parts else "")


def remaining_motions(model: AbsoluteModel, redundancy: Redundancy, q: np.ndarray) -> list[Motion]:
    """The degrees of freedom at q, as many as nv − rank; those of very large blocks are left out."""
    found: list[Motion] = []
    in_loops: set[int] = set()
    for block in redundancy.blocks:
        if _is_slot(model, block):
            continue
        in_loops.update(block.shape.elements)
        found += _of_block(model, block, q)
    for k, (name, joint) in enumerate(model.system.joints.items()):
        if k not in in_loops and not joint.is_off:
            found += [Motion(name, way, {}, freedoms) for way, freedoms in free_ways(joint)]
    return found + _unheld(model)


def _is_slot(model: AbsoluteModel, block: Block) -> bool:
    """Whether a block is the two pairs of one turn and slide in a row, which closes no loop."""
    first, *more = block.shape.elements
    joints = list(model.system.joints.values())
    return (
        first < len(joints)
        and isinstance(joints[first], RevolutePrismatic)
        and len(more) == 1
        and more[0] >= len(joints)
    )


def free_ways(joint: Joint) -> list[tuple[str, int]]:
    """How a joint in no loop moves: way, and in how many degrees of freedom."""
    rows = [equation for equation, _ in joint.rows]
    if joint.ways:
        return [*joint.ways]
    if isinstance(joint, GeneralJoint):
        return [
            (way, 1)
            for way, direction in zip(WAYS, ("rx", "ry", "rz", "x", "y", "z"), strict=True)
            if direction in joint.free
        ]
    turned = sum(row.startswith("Dot") for row in rows)
    blocked = {_BLOCKED[row] for row in rows if row in _BLOCKED}
    turns = {0: WAYS[:3], 1: (WAYS[0], WAYS[2]), 2: (WAYS[2],), 3: ()}[turned]
    return [(way, 1) for way in (*turns, *(WAYS[i] for i in (3, 4, 5) if i not in blocked))]


def _of_block(model: AbsoluteModel, block: Block, q: np.ndarray) -> list[Motion]:
    tree, shape, L = block.tree, block.shape, block.length
    if tree is None or tree.count > LARGEST or tree.count == 0:
        return []
    if block.J.size:
        Q, R, _ = scipy.linalg.qr(block.J.T, pivoting=True, check_finite=False)
        pivots = np.abs(np.diagonal(R))
        y = Q[:, int((pivots > RANK_TOLERANCE * max(1.0, pivots.max(initial=0.0))).sum()) :]
    else:
        y = np.eye(tree.count)
    if not y.shape[1]:
        return []
    V = np.zeros((len(shape.bodies), 6, y.shape[1]))
    stress.body_motions(shape.parent, tree.column, tree.rank, tree.Q, tree.T, np.ascontiguousarray(y), V)
    joints = [k for k in shape.elements if k < len(model.system.joints)]
    if not joints:  # drivers alone hold its bodies
        held = ", ".join(repr(model.bodies[i]) for i in shape.bodies if i)
        return [Motion(held, "moves as its drivers let it", {}, y.shape[1])]
    rates = _joint_rates(model, q, np.array(joints), shape.bodies, V, L)
    chosen = np.zeros(y.shape[1], dtype=np.int64)
    flat = rates.reshape(-1, y.shape[1])
    off = np.array([joint.is_off for joint in model.system.joints.values()], dtype=bool)[joints]
    order = np.lexsort(
        (np.repeat(off, 6), ~(np.abs(flat) > SMALLEST).any(axis=1))
    )  # what is off tells nothing but what no other tells
    count = stress.independent_rows(flat, order, 1e-5 * np.abs(flat).max(), chosen)
    if count < y.shape[1]:
        return []
    basis = (flat @ np.linalg.inv(flat[chosen])).reshape(len(joints), 6, -1)
    names = list(model.system.joints)
    unit = np.array([1.0, 1.0, 1.0, L, L, L])
    motions = []
    for n, place in enumerate(chosen.tolist()):
        of, way = place // 6, place % 6
        with_it: dict[str, dict[str, float]] = {}
        for i, w in zip(*np.nonzero(np.abs(basis[:, :, n]) > SMALLEST), strict=True):
            if (i, w) != (of, way) and not off[i]:
                ways = with_it.setdefault(names[joints[i]], {})
                ways[WAYS[w]] = float(basis[i, w, n] * unit[w] / unit[way])
        motions.append(Motion(names[joints[of]], WAYS[way], with_it))
    return motions


def _joint_rates(
    model: AbsoluteModel, q: np.ndarray, joints: np.ndarray, bodies: np.ndarray, V: np.ndarray, L: float
) -> np.ndarray:
    """(ω, v / L) (joints, 6, motions) of each joint's frame B against A, in A, for V in the bodies' way, v in L."""
    place = np.zeros(len(model.bodies), dtype=int)
    place[bodies] = np.arange(len(bodies))
    a, b = model.tables.pairs[joints].T
    frames = model.tables.frames[joints]
    R_a, R_b = rotation_matrix(q[a, :4]), rotation_matrix(q[b, :4])
    R_A = R_a @ frames[:, :9].reshape(-1, 3, 3)
    p_B = q[b, 4:] + np.einsum("kij,kj->ki", R_b, frames[:, 21:])
    w = [np.einsum("kij,kjn->kin", R, V[place[i], :3]) for R, i in ((R_a, a), (R_b, b))]
    v = [
        V[place[i], 3:] + np.cross(w_i, ((p_B - q[i, 4:]) / L)[:, :, None], axis=1)
        for w_i, i in zip(w, (a, b), strict=True)
    ]
    relative = [np.einsum("kji,kjn->kin", R_A, x[1] - x[0]) for x in (w, v)]
    return np.concatenate(relative, axis=1)


def _unheld(model: AbsoluteModel) -> list[Motion]:
    """Groups of bodies that no joint connects with the ground."""
    root = np.arange(len(model.bodies))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    off = [k for k, joint in enumerate(model.system.joints.values()) if joint.is_off]
    for a, b in np.delete(model.tables.pairs, off, axis=0).tolist():
        root[find(b)] = find(a)
    of_ground = find(0)
    groups: dict[int, list[str]] = {}
    for i in range(1, len(model.bodies)):
        r = find(i)
        if r != of_ground:
            groups.setdefault(r, []).append(model.bodies[i])
    return [
        Motion(
            ", ".join(repr(name) for name in names[:3]) + (", …" if len(names) > 3 else ""), "is free to move", {}, 6
        )
        for names in groups.values()
    ]

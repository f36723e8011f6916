"""Armature in absolute coordinates: the inertia I_a of a rotor that turns, or slides, with one degree of freedom of a joint alone.

The velocity of a degree of freedom is a row on the velocities of its two bodies. With the axis e of frame A or B (``Joint.directions``),

    turn    q̇ = e · w,   w = ω_b − ω_a                                        B = (−e, 0, e, 0)
    slide   q̇ = e · u,   u = v_b + ω_b × r_b − v_a − ω_a × r_a                B = (−r_a × e, −e, r_b × e, e)

r_a, r_b lead from the bodies' reference points to the origin of B. e turns with its body, ė = ω_e × e, and

    q̈ = B V̇ + Ḃ V,     Ḃ V = ė · w,     or   ė · u + e · (ω_b × (ω_b × r_b) − ω_a × (v_b + ω_b × r_b − v_a))

From T = ½ I_a q̇² follows what the bodies feel,

    M ← M + Bᵀ I_a B,     Q ← Q − Bᵀ I_a Ḃ V

It joins the blocks of the two bodies. An elimination from the leaves to the root fills that block and no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from nexdyn.absolute.model.frames import pair_of
from nexdyn.errors import InputError
from nexdyn.joints.kinds import REGISTERED
from nexdyn.kernel import kernel
from nexdyn.model.system import System
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import T, Vec3, column, cross
from nexdyn.spatial.lanes import zero
from nexdyn.spatial.rotations import cross_product, rotation_matrix
from nexdyn.spatial.table import MotionRows, PoseRows


class Places(NamedTuple):
    """Of two bodies the places of the blocks (a, a), (b, b), (a, b) or −1, the steps of the last in a and in b, and its place in the upper
    ones."""

    aa: int
    bb: int
    ab: int
    step_a: int
    step_b: int
    upper: int


class Rotor(Record):
    """Of an armature: the pair, its bodies, whether it slides, whether the axis is one of B, and which."""

    pair: int
    parent: int
    child: int
    slides: int
    of_child: int
    axis: int


class PlacedRotor(Record):
    """The same, with the places of its blocks."""

    pair: int
    parent: int
    child: int
    slides: int
    of_child: int
    axis: int
    places: Places


RotorsOfJoints, PlacedRotors = rows_of(Rotor), rows_of(PlacedRotor)


class Rotors(NamedTuple):
    """joints int64 (n, 6), each a `Rotor`; inertia (n, 1)."""

    joints: np.ndarray
    inertia: np.ndarray


def rotors_of(system: System, body_index: Mapping[str, int]) -> Rotors:
    """The armatures of the joints of `system`."""
    rows, inertia = [], []
    for k, joint in enumerate(system.joints.values()):
        if not joint.nv or not joint.tree or (isinstance(joint.armature, float | int) and joint.armature == 0.0):
            continue
        ends = (body_index[joint.parent.name], body_index[joint.child.name])
        own = joint.resolved(system.values).armature
        if joint.code == REGISTERED and own.any():
            raise InputError(
                f"{joint}, {joint.kind}, is a registered joint with armature, which constraint equations do not support; on a tree "
                f"RungeKutta4 and DormandPrince do, or give the armature to a body"
            )
        for (way, side, axis), I_a in zip(joint.directions, own.tolist(), strict=True):
            if I_a > 0.0:
                rows.append((k, *ends, way == "slide", side == "B", axis))
                inertia.append(I_a)
    return Rotors(np.array(rows, dtype=np.int64).reshape(-1, 6), np.array(inertia, dtype=float).reshape(-1, 1))


# --- of a pose, for analyses --------------------------------------------------------------------------------------


def rotor_rows(
    rotors: Rotors, frames: np.ndarray, q: np.ndarray, v: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """B (n, 2, 6) for the velocities (ω in the body, v in the world) of parent and child, and Ḃ V (n,), 0 without v.

    frames (np, 24), q (nb + 1, 7), v (nb + 1, 6) about the bodies' origins, as in ``constraints.tables``."""
    index = RotorsOfJoints(rotors.joints)
    a, b, slides, of_child = index.parent, index.child, index.slides[:, None] > 0, index.of_child[:, None] > 0
    R_a, R_b = rotation_matrix(q[a, :4]), rotation_matrix(q[b, :4])
    frame, n = frames[index.pair], np.arange(len(index))
    axis_a, axis_b = frame[:, :9].reshape(-1, 3, 3), frame[:, 12:21].reshape(-1, 3, 3)
    e = np.where(of_child, _turned(R_b, axis_b[n, :, index.axis]), _turned(R_a, axis_a[n, :, index.axis]))
    r_b = _turned(R_b, frame[:, 21:])
    r_a = q[b, 4:] + r_b - q[a, 4:]
    B = np.zeros((len(index), 2, 6))
    for side, R, r, sign in ((0, R_a, r_a, -1.0), (1, R_b, r_b, 1.0)):
        B[:, side, :3] = sign * np.einsum("nji,nj->ni", R, np.where(slides, cross_product(r, e), e))
        B[:, side, 3:] = np.where(slides, sign * e, 0.0)
    if v is None:
        return B, np.zeros(len(index))
    w_a, w_b = _turned(R_a, v[a, :3]), _turned(R_b, v[b, :3])
    going = v[b, 3:] + cross_product(w_b, r_b) - v[a, 3:]
    e_rate = cross_product(np.where(of_child, w_b, w_a), e)
    relative = np.where(slides, going - cross_product(w_a, r_a), w_b - w_a)
    bent = np.where(slides, cross_product(w_b, cross_product(w_b, r_b)) - cross_product(w_a, going), 0.0)
    return B, np.einsum("ni,ni->n", e_rate, relative) + np.einsum("ni,ni->n", e, bent)


def efforts_of_rotors(
    rotors: Rotors, frames: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray | None = None
) -> np.ndarray:
    """−Σ Bᵀ I_a (B a + Ḃ V) on the bodies (nb + 1, 6), without `a` (nb + 1, 6) of what the velocities ask alone."""
    B, rate = rotor_rows(rotors, frames, q, v)
    index = RotorsOfJoints(rotors.joints)
    bodies = np.stack([index.parent, index.child], axis=1)
    if a is not None:
        rate = rate + np.einsum("nsi,nsi->n", B, a[bodies])
    out = np.zeros((len(q), 6))
    np.subtract.at(out, bodies, (rotors.inertia[:, 0] * rate)[:, None, None] * B)
    return out


def inertia_of_rotors(rotors: Rotors, frames: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries of Σ Bᵀ I_a B: values, rows and columns, of a matrix (6 nb, 6 nb) without the ground."""
    B, _ = rotor_rows(rotors, frames, q)
    n, index = len(B), RotorsOfJoints(rotors.joints)
    column = 6 * (np.stack([index.parent, index.child], axis=1)[:, :, None] - 1) + np.arange(6)
    B, column = B.reshape(n, 12), column.reshape(n, 12)
    values = rotors.inertia[:, :, None] * B[:, :, None] * B[:, None, :]
    i, j = np.broadcast_to(column[:, :, None], values.shape), np.broadcast_to(column[:, None, :], values.shape)
    kept = (i >= 0) & (j >= 0)
    return values[kept], i[kept], j[kept]


def _turned(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("nij,nj->ni", R, x)


# --- along a motion -----------------------------------------------------------------------------------------------


@kernel
def of_rotors(tables, s, scale, assemble):
    """x ← x − Bᵀ I_a q̈ of the rotors at q1, v1, v̇ = d1, and scale Bᵀ I_a B into the blocks of their bodies."""
    X, V, d, rotors = PoseRows(s.poses, 0), MotionRows(s.twists, 0), s.d1, PlacedRotors(tables.rotors)
    for n in range(len(rotors)):
        rotor = rotors[n]
        a, b, I_a = rotor.parent, rotor.child, tables.armature[n, 0]
        pair = pair_of(tables, X, rotor.pair, a, b)
        R_a, R_b, w_a, w_b = X[a].R, X[b].R, V[a].w, V[b].w
        of_child = rotor.of_child > 0
        e = column(pair.R_B, rotor.axis) if of_child else column(pair.R_A, rotor.axis)
        # q̈ = B V̇ + Ḃ V
        alpha_a = R_a @ Vec3(d[a, 0], d[a, 1], d[a, 2])
        alpha_b = R_b @ Vec3(d[b, 0], d[b, 1], d[b, 2])
        e_rate = cross(w_b if of_child else w_a, e)
        if rotor.slides > 0:
            r_a, r_b = pair.s_A + pair.d, pair.s_B
            going = V[b].v + cross(w_b, r_b) - V[a].v
            u_rate = Vec3(d[b, 3] - d[a, 3], d[b, 4] - d[a, 4], d[b, 5] - d[a, 5])
            u_rate = (
                u_rate + cross(alpha_b, r_b) + cross(w_b, cross(w_b, r_b)) - cross(alpha_a, r_a) - cross(w_a, going)
            )
            q_dd = e @ u_rate + e_rate @ (going - cross(w_a, r_a))
            n_a, n_b, f = T(R_a) @ cross(e, r_a), T(R_b) @ cross(r_b, e), e
        else:
            q_dd = e @ (alpha_b - alpha_a) + e_rate @ (w_b - w_a)
            n_a, n_b, f = -(T(R_a) @ e), T(R_b) @ e, zero(I_a) * e
        effort = -(I_a * q_dd)
        B_a, B_b = (n_a.x, n_a.y, n_a.z, -f.x, -f.y, -f.z), (n_b.x, n_b.y, n_b.z, f.x, f.y, f.z)
        # x ← x − Bᵀ I_a q̈;   M ← M + Bᵀ I_a B
        if a > 0:
            for i in range(6):
                s.x[a - 1, i] += effort * B_a[i]
        if b > 0:
            for i in range(6):
                s.x[b - 1, i] += effort * B_b[i]
        if assemble:
            inertia = scale * I_a
            at = rotor.places
            add_block(s.lower, at.aa, 8, 1, inertia, B_a, B_a)
            add_block(s.lower, at.bb, 8, 1, inertia, B_b, B_b)
            add_block(s.lower, at.ab, at.step_a, at.step_b, inertia, B_a, B_b)
            add_block(s.upper, at.upper, at.step_a, at.step_b, inertia, B_a, B_b)


@kernel
def add_block(blocks, o, step_i, step_j, c, x, y):
    """c x yᵀ into the block at o, if there is one."""
    if o >= 0:
        for i in range(6):
            for j in range(6):
                blocks[o + i * step_i + j * step_j] += c * x[i] * y[j]

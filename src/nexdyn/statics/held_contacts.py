"""Contacts at rest whose friction is not unique in the same pose: it depends on how the bodies were put down.

    0 = τ + Cqᵀ λ + Σ (N f_n + T f_t)          of all bodies; N, T: wrenches of unit forces at each contact point that presses
    δ(λ, f_n, f_t) of the null space of (Cqᵀ, N, T) with δf_t ≠ 0: other friction carries the same loads

T has columns of points that stick: what slides on a surface that runs has its friction from the law. Normal forces are unique, as the law
gives them from the depths; they take part, because depths give way.

A point that holds as much as it can, with the friction f_t, may hold less, but no more: of its δf_t

    f̂ · δf_t ≤ −`INWARD` |δf_t × n · f̂|,   f̂ = f_t/|f_t|

and whether there is such a δ with δf_t ≠ 0 is a linear program for each column. (A ladder against a wall whose friction is at its limit
above stands with less of it as well; a block that holds as much as it can at all of its corners has one friction.)
"""

from __future__ import annotations

import math

import numpy as np

from nexdyn.assembly.assemble import mechanism_length
from nexdyn.assembly.report import AssemblyReport
from nexdyn.forces import ContactForce
from nexdyn.forces.contact import Seen
from nexdyn.forces.kinds import SURFACE
from nexdyn.spatial.rotations import rotation_matrix

LARGEST = 200
"""Bodies up to which it is looked for."""
INDEPENDENT = 1e-9
"""The part of the largest singular value from which one is not 0."""
FREE = 1e-8
"""The square of the part of a unit force from which it lies in the null space."""
INWARD = 1e-6
"""By how much friction that is at its limit falls, as a part of what it turns by."""


def contacts_not_unique(report: AssemblyReport) -> list[str]:
    """The contacts, or contact forces that were added by themselves, whose friction is not unique in the pose at hand. Of systems of more
    than `LARGEST` bodies none: it is not looked for."""
    model, system = report.model, report.model.system
    if model.nb > LARGEST or not any(isinstance(force, ContactForce) for force in system.forces.values()):
        return []
    length = mechanism_length(model)
    q, columns, owners, tangential = report.q, list[np.ndarray](), list[str](), list[bool]()
    full: list[tuple[int, int]] = []  # the columns along and across friction that is at its limit
    R, first = rotation_matrix(q[:, :4]), 0
    for force in system.forces.values():
        count = len(force.states(system.values))
        own = np.zeros(0) if report.states is None else report.states[first : first + count]
        first += count
        if not isinstance(force, ContactForce) or force.is_off:
            continue
        bodies, at = [], []
        for frame in force.frames(system):
            i = model.body_index[frame.body]
            bodies.append(i)
            at.append(np.concatenate([(R[i] @ frame.R_BF).ravel(), q[i, 4:] + R[i] @ frame.p_BF, np.zeros(6)])[None])
        for row in map(Seen, force.motion_table(force.data_in(system), at[0], at[1], own[None])[0]):
            if not row.normal_force > 0.0:
                continue
            n, p, f_t = np.array(row.normal), np.array(row.point), np.array(row.force)
            f_t -= (f_t @ n) * n
            units = [(np.zeros(3), n, False)]
            if row.sticks == 1.0:
                units += [(np.zeros(3), u, True) for u in np.linalg.svd(n[None])[2][1:]]
                units += [(n * length, np.zeros(3), True)] if force.code == SURFACE and row.area > 0.0 else []
            elif force.sticks and f_t.any() and not np.array(row.sliding).any():
                along = f_t / np.linalg.norm(f_t)
                units += [(np.zeros(3), along, True), (np.zeros(3), np.cross(n, along), True)]
                full.append((len(columns) + 1, len(columns) + 2))
            for moment, f, along in units:
                column = np.zeros((model.nb + 1, 6))
                for sign, i in zip((1.0, -1.0), bodies, strict=True):
                    column[i, :3] += sign * (R[i].T @ (moment + np.cross(p - q[i, 4:], f)))
                    column[i, 3:] += sign * f
                columns.append(column[1:].ravel())
                owners.append(force.part_of or force.name)
                tangential.append(along)
    if not any(tangential):
        return []
    # moments count by the mechanism's length
    scale = np.tile([1.0 / length] * 3 + [1.0] * 3, model.nb)
    rows = np.asarray(model.jacobian(q, report.t, model.near(q, report.t)) @ np.eye(model.nv)).T * scale[:, None]
    sizes = np.linalg.norm(rows, axis=0)
    whole = np.column_stack([rows / np.where(sizes > 0.0, sizes, 1.0), np.column_stack(columns) * scale[:, None]])
    _, s, Vt = np.linalg.svd(whole, full_matrices=False)
    rank = int((s > INDEPENDENT * s[0]).sum())
    bound = Vt[:rank, rows.shape[1] :]
    free = 1.0 - np.einsum("rc,rc->c", bound, bound) > FREE
    if full and free.any():
        free &= _within_limits(Vt[:rank], rows.shape[1], full, free)
    found = {owner: None for owner, along, moves in zip(owners, tangential, free, strict=True) if along and moves}
    return list(found)


def _within_limits(bound: np.ndarray, first: int, full: list[tuple[int, int]], free: np.ndarray) -> np.ndarray:
    """Which of the contacts' columns, from `first` on, that are `free` stay so where friction at its limit may fall alone. bound: an
    orthonormal basis (r, columns) of what is determined."""
    from scipy.optimize import linprog

    n = bound.shape[1]
    inward = np.zeros((2 * len(full), n))
    for k, (along, across) in enumerate(full):
        for i, sign in enumerate((1.0, -1.0)):
            inward[2 * k + i, [first + along, first + across]] = 1.0, sign * INWARD
    found = np.zeros(len(free), dtype=bool)
    for c in np.flatnonzero(free):
        for sign in (1.0, -1.0):
            aim = np.zeros(n)
            aim[first + c] = sign
            least = linprog(aim, inward, np.zeros(len(inward)), bound, np.zeros(len(bound)), bounds=(-1.0, 1.0))
            found[c] |= least.status == 0 and -least.fun > math.sqrt(FREE)
    return found

"""Contacts at rest whose friction is not unique in the same pose: it depends on how the bodies were put down.

    0 = τ + Cqᵀ λ + Σ (N f_n + T f_t)          of all bodies; N, T: wrenches of unit forces at each contact point that presses
    δ(λ, f_n, f_t) of the null space of (Cqᵀ, N, T) with δf_t ≠ 0: other friction carries the same loads

T has columns of points that stick alone: what slides has its friction from the law. Normal forces are unique, as the law gives them from
the depths; they take part, because depths give way.
"""

from __future__ import annotations

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
"""Where the point, the normal and whether it sticks stand in what is recorded of a contact."""


def contacts_not_unique(report: AssemblyReport) -> list[str]:
    """The contacts, or contact forces that were added by themselves, whose friction is not unique in the pose at hand. Of systems of more
    than `LARGEST` bodies none: it is not looked for."""
    model, system = report.model, report.model.system
    if model.nb > LARGEST or not any(isinstance(force, ContactForce) for force in system.forces.values()):
        return []
    length = mechanism_length(model)
    q, columns, owners, tangential = report.q, list[np.ndarray](), list[str](), list[bool]()
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
            n, p = np.array(row.normal), np.array(row.point)
            across = np.linalg.svd(n[None])[2][1:]
            units = [(np.zeros(3), n, False)]
            if row.sticks == 1.0:
                units += [(np.zeros(3), u, True) for u in across]
                units += [(n * length, np.zeros(3), True)] if force.code == SURFACE and row.area > 0.0 else []
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
    bound = Vt[: int((s > INDEPENDENT * s[0]).sum()), rows.shape[1] :]
    free = 1.0 - np.einsum("rc,rc->c", bound, bound) > FREE
    found = {owner: None for owner, along, moves in zip(owners, tangential, free, strict=True) if along and moves}
    return list(found)

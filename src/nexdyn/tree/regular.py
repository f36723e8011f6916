"""Whether a spanning tree has inertia in every freedom, before anything is compiled for it.

    M = Σ_b J_bᵀ I_b J_b      J_b: the velocities of body b for those of the joints on its path from the root

at the pose as described. A rod between two ball joints, a massless carrier, a point mass on a hinge through it: which joint
of a loop is cut decides whether the tree that is left carries them by something that has inertia.
"""

from __future__ import annotations

import numpy as np

from nexdyn.model.body import ResolvedBody
from nexdyn.model.system import System
from nexdyn.model.topology import Forest
from nexdyn.spatial.rotations import cross_product, skew

THIN = 1e-9
"""A moment of inertia below this part of a body's largest, or of what its mass has at the joints, is none."""
WEAK = 1e-12
"""Smallest eigenvalue of M, its diagonal scaled to 1, from which on a tree is regular."""
PART = 0.1
"""A joint takes part in a motion without inertia by more than this."""


def weak_joints(system: System, forest: Forest) -> list[str]:
    """The joints of a tree that can move without moving inertia; [] where each degree of freedom moves some."""
    values = system.values
    if not any(_thin(system, name) for name in system.bodies):
        return []
    columns: list[np.ndarray] = []  # (ω, velocity of what is at the world's origin), of each freedom
    owners: list[str] = []
    paths: list[list[int]] = []
    inertias: list[np.ndarray] = []
    for arc in forest.arcs:  # parents first
        body = arc.child.resolved(values)
        turns, slides, p_J = list(np.eye(3)), list(np.eye(3)), body.p
        if arc.joint is not None:
            frames = arc.joint.frames(values)
            R = {
                "A": arc.joint.parent.pose(values)[0] @ frames.R_AJ,
                "B": arc.joint.child.pose(values)[0] @ frames.R_BJ,
            }
            axes = [(kind, R[side][:, axis]) for kind, side, axis in arc.joint.directions]
            turns, slides = [e for kind, e in axes if kind == "turn"], [e for kind, e in axes if kind != "turn"]
            p_J = body.p + body.R @ arc.joint.tree_frames(values).p_BJ
        first = len(columns)
        columns += [np.concatenate([e, cross_product(p_J, e)]) for e in turns]
        columns += [np.concatenate([np.zeros(3), e]) for e in slides]
        owners += [arc.name] * (len(columns) - first)
        paths.append([*(paths[arc.parent] if arc.parent >= 0 else []), *range(first, len(columns))])
        inertias.append(_at_origin(body))
    H = np.array(columns).reshape(-1, 6)
    M = np.zeros((len(H), len(H)))
    for path, I in zip(paths, inertias, strict=True):
        M[np.ix_(path, path)] += H[path] @ I @ H[path].T
    for arc in forest.arcs:
        if arc.joint is not None and arc.joint.nv:
            own = [j for j, name in enumerate(owners) if name == arc.name]
            M[own, own] += float(arc.joint.resolved(values).armature.min())
    if not M.size:
        return []
    scale = np.sqrt(np.maximum(M.diagonal(), THIN * M.diagonal().max() or 1.0))
    found, vectors = np.linalg.eigh(M / scale[:, None] / scale)
    weak = np.abs(vectors[:, found < WEAK]).max(axis=1, initial=0.0) > PART
    return [
        name for name in dict.fromkeys(owners) if any(w for w, owner in zip(weak, owners, strict=True) if owner == name)
    ]


def _thin(system: System, name: str) -> bool:
    """Whether a body has no mass, or next to no inertia about an axis."""
    body = system.bodies[name].resolved(system.values)
    moments = np.linalg.eigvalsh(body.inertia)
    return bool(body.mass == 0.0 or moments[0] <= THIN * max(float(moments[-1]), 1e-300))


def _at_origin(body: ResolvedBody) -> np.ndarray:
    """The inertia (6, 6) of a body about the world's origin, in world axes, for (ω, v)."""
    c = skew(body.p + body.R @ body.com)
    I = np.zeros((6, 6))
    I[:3, :3] = body.R @ body.inertia @ body.R.T - body.mass * c @ c
    I[:3, 3:], I[3:, :3], I[3:, 3:] = body.mass * c, -body.mass * c, body.mass * np.eye(3)
    return I

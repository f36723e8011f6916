"""Joints that mimic others: the tree's own coordinates from the independent ones.

    q_tree = G q + g₀,   v_tree = G v,   τ = Gᵀ τ_tree,   M = Gᵀ M_tree G

Every row of G has one entry, so G is a column index and a factor a row. A mimic of a mimic is followed to its root.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.model.system import System
from nexdyn.tree.compile import Compiled


@dataclass(frozen=True)
class Coupling:
    """G and g₀ for positions and velocities."""

    q_column: np.ndarray
    q_factor: np.ndarray
    q_offset: np.ndarray
    v_column: np.ndarray
    v_factor: np.ndarray
    nq: int
    nv: int

    def full_q(self, q: np.ndarray) -> np.ndarray:
        """Coordinates (…, nq) of the tree from the independent ones."""
        return q[..., self.q_column] * self.q_factor + self.q_offset

    def full_v(self, v: np.ndarray) -> np.ndarray:
        """Velocities or accelerations (…, nv) of the tree."""
        return v[..., self.v_column] * self.v_factor

    def reduced(self, tau: np.ndarray) -> np.ndarray:
        """Gᵀ τ for the last axis of `tau`."""
        out = np.zeros((*tau.shape[:-1], self.nv))
        np.add.at(out, (..., self.v_column), tau * self.v_factor)  # type: ignore[arg-type]
        return out

    def matrix(self) -> np.ndarray:
        """G, (nv of the tree, nv)."""
        G = np.zeros((len(self.v_column), self.nv))
        G[np.arange(len(self.v_column)), self.v_column] = self.v_factor
        return G


def find_coupling(system: System, compiled: Compiled) -> Coupling | None:
    """The coupling of a system's mimic joints; None without any. InputError for an unknown or circular mimic."""
    arcs = compiled.forest.arcs
    place = {arc.name: a for a, arc in enumerate(arcs) if arc.joint is not None}
    followers = {arc.name: a for a, arc in enumerate(arcs) if arc.joint is not None and arc.joint.mimic is not None}
    if not followers:
        return None
    values = system.values
    q_column, v_column = np.arange(compiled.nq), np.arange(compiled.nv)
    q_factor, q_offset, v_factor = np.ones(compiled.nq), np.zeros(compiled.nq), np.ones(compiled.nv)
    for name in followers:
        factor, offset, root, seen = 1.0, 0.0, name, [name]
        while root in followers:
            joint = system.joint(root)
            mimic = joint.resolved(values).mimic
            assert mimic is not None
            if mimic.joint not in place:
                raise InputError(f"joint {root!r} mimics: {unknown('joint', mimic.joint, place)}")
            # q = f (m q' + o) + offset
            factor, offset, root = factor * mimic.multiplier, factor * mimic.offset + offset, mimic.joint
            if root in seen:
                raise InputError(f"joints mimic each other in a circle: {' → '.join([*seen, root])}")
            seen.append(root)
        if system.joint(root).nv != 1:
            raise InputError(
                f"joint {name!r} mimics {root!r}, a joint of {system.joint(root).nv} freedoms; one is needed"
            )
        a, b = place[name], place[root]
        k, j = compiled.first_q[a], compiled.first_v[a]
        q_column[k], q_factor[k], q_offset[k] = compiled.first_q[b], factor, offset
        v_column[j], v_factor[j] = compiled.first_v[b], factor
    return _renumbered(q_column, q_factor, q_offset, v_column, v_factor)


def _renumbered(
    q_column: np.ndarray, q_factor: np.ndarray, q_offset: np.ndarray, v_column: np.ndarray, v_factor: np.ndarray
) -> Coupling:
    """Columns counted among the independent coordinates."""
    q_kept, q_new = np.unique(q_column, return_inverse=True)
    v_kept, v_new = np.unique(v_column, return_inverse=True)
    return Coupling(q_new, q_factor, q_offset, v_new, v_factor, len(q_kept), len(v_kept))

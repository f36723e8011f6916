"""Torsion springs whose turns minimal coordinates do not count: those across a joint that turns by a quaternion.

A pose tells the angle θ of a spring, from x of A to x of B about z of A, within half a turn. Where θ passes that, it jumps by 2 π, and
from there on the spring acts as if it were unwound by a turn.
"""

from __future__ import annotations

import numpy as np

from nexdyn.forces.torsion_spring import TorsionSpring
from nexdyn.tree.compile import joint_class
from nexdyn.tree.tree import Tree

CLEAR = 0.2
"""x of B nearer to z of A than this has no angle to speak of."""


def lost_turn(tree: Tree, t: np.ndarray, q: np.ndarray) -> tuple[str, str, float] | None:
    """(spring, joint, time) of the first torsion spring that passes half a turn across a joint whose turns are not counted, as far as
    the samples t (N,), q (N, nq) show; None where none does."""
    if len(t) < 2:
        return None
    found = []
    for spring in tree.system.forces.values():
        if isinstance(spring, TorsionSpring) and (joint := _uncounted(tree, spring)):
            c, s = _direction(tree, spring, q)
            clear = np.hypot(c, s) > CLEAR
            jumps = np.flatnonzero((np.abs(np.diff(np.arctan2(s, c))) > np.pi) & clear[1:] & clear[:-1])
            found += [(spring.name, joint, float(t[jumps[0] + 1]))] if len(jumps) else []
    return min(found, key=lambda one: one[2], default=None)


def _uncounted(tree: Tree, spring: TorsionSpring) -> str:
    """A joint between the ends of a spring that turns by a quaternion; "" where there is none."""
    forest = tree.compiled.forest
    place = {arc.child.name: i for i, arc in enumerate(forest.arcs)}

    def inward(body: str) -> set[int]:
        i, passed = place.get(body, -1), set()
        while i >= 0:
            passed.add(i)
            i = forest.arcs[i].parent
        return passed

    A, B = spring.frames(tree.system)
    between = sorted(inward(A.body) ^ inward(B.body))
    return next((forest.arcs[i].name for i in between if (kind := joint_class(forest.arcs[i].joint)).nq > kind.nv), "")


def _direction(tree: Tree, spring: TorsionSpring, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """c, s (N,): x of B along x and y of A."""
    R_A, R_B = (
        end.R_BF if end.body == "ground" else tree.pose(q, end.body)[0] @ end.R_BF for end in spring.frames(tree.system)
    )
    x = np.einsum("...ji,...j->...i", R_A, R_B[..., :, 0])
    return x[..., 0], x[..., 1]

"""Torsion springs whose turns no coordinate counts: those across a ball or a floating body, whose coordinates are quaternions.

The pose tells the angle θ of a spring, from x of A to x of B about z of A, but for whole turns. Across joints that count turns it is near
the sum of theirs (``forces.torsion_spring``). Across the others it is a state of the motion beside z,

    θ̇ = g · ω        in the stages of a step, however many turns it takes; after it, θ of the pose near that

and of a motion that is given θ goes on from sample to sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nexdyn.forces import torsion_spring
from nexdyn.forces.states import count
from nexdyn.forces.tables import ForceEntries, ForceTables, frames_a, frames_b
from nexdyn.forces.torsion_spring import NO_PATH, TorsionSpring, Twist
from nexdyn.kernel import formula
from nexdyn.model.system import System
from nexdyn.model.topology import Forest
from nexdyn.spatial.turns import TURN
from nexdyn.tree.core.compile import joint_class
from nexdyn.tree.core.kinematics import kinematics, world_poses

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree


def wound_across(system: System, forest: Forest) -> list[str]:
    """The torsion springs between whose ends a joint turns by a quaternion, or a body floats."""
    springs = [force for force in system.forces.values() if isinstance(force, TorsionSpring)]
    if not springs:
        return []
    place = {arc.child.name: i for i, arc in enumerate(forest.arcs)}
    uncounted = {i for i, arc in enumerate(forest.arcs) if (kind := joint_class(arc.joint)).nq > kind.nv}

    def inward(body: str) -> set[int]:
        i, passed = place.get(body, -1), set()
        while i >= 0:
            passed.add(i)
            i = forest.arcs[i].parent
        return passed

    ends = {spring.name: [frame.body for frame in spring.frames(system)] for spring in springs}
    return [name for name, (a, b) in ends.items() if (inward(a) ^ inward(b)) & uncounted]


def counted(system: System, forces: ForceTables, forest: Forest) -> ForceTables:
    """The tables with the angles of `wound_across` as states."""
    across = [list(system.forces).index(name) for name in wound_across(system, forest)]
    if not across:
        return forces
    for e in across:
        Twist(forces.data, ForceEntries(forces.index)[e].first).path = NO_PATH
    return forces._replace(winding=np.array(across, dtype=np.int64), rate=np.zeros(len(forces.z) + len(across)))


def angles_along(tree: Tree, q: np.ndarray, reference: np.ndarray | None = None) -> np.ndarray:
    """The angles (N, nw) of the springs `wound_across` at the poses q (N, nq): at first near the reference (nw,), by default the rest
    angles within half a turn, then from sample to sample."""
    names = wound_across(tree.system, tree.compiled.forest)
    out = np.zeros((len(q), len(names)))
    for i, name in enumerate(names):
        spring = tree.system.forces[name]
        assert isinstance(spring, TorsionSpring)
        R_A, R_B = (
            end.R_BF if end.body == "ground" else tree.pose(q, end.body)[0] @ end.R_BF
            for end in spring.frames(tree.system)
        )
        x = np.einsum("...ji,...j->...i", R_A, R_B[..., :, 0])
        first = spring.first_angle(tree.system.values) if reference is None else reference[i]
        angle = np.unwrap(np.broadcast_to(np.arctan2(x[..., 1], x[..., 0]), (len(q),)))
        out[:, i] = angle + TURN * np.round((first - angle[:1]) / TURN)
    return out


@formula
def count_turns(model, work, q, v, y, first, forces):
    """The angles behind the states in y[first:] ← those of the pose, near them."""
    X_W, X_LA, X_LB = work.spare.X_W, frames_a(forces), frames_b(forces)
    kinematics(model, q, v, work)
    world_poses(model, work, X_W)
    for i in range(len(forces.winding)):
        e, place = forces.winding[i], first + count(forces) + i
        force = ForceEntries(forces.index)[e]
        A, B = X_W[force.body_a] @ X_LA[e], X_W[force.body_b] @ X_LB[e]
        y[place] = torsion_spring.angle_near(A, B, y[place])

"""Torsion springs whose turns no coordinates tell: those across a ball or a floating body, whose coordinates are quaternions, and those
across joints that turn the axes of each other.

The pose tells the angle θ of a spring, from x of A to x of B about z of A, but for whole turns. Across joints about parallel axes it is
near the sum of theirs (``forces.torsion_spring``). Across the others it is a state of the motion next to z,

    θ̇ = g · ω        in the stages of a step, however many turns it takes; after it, θ of the pose near that

and of a motion that is given θ goes on from sample to sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nexdyn.forces import torsion_spring
from nexdyn.forces.states import count
from nexdyn.forces.tables import ForceEntries, ForceTables, frames_a, frames_b
from nexdyn.forces.torsion_spring import NO_PATH, TorsionSpring, Twist, Winding, turn_each_other, windings
from nexdyn.kernel import formula
from nexdyn.model.system import System
from nexdyn.model.topology import Forest
from nexdyn.spatial.turns import TURN
from nexdyn.tree.core.compile import joint_class
from nexdyn.tree.core.kinematics import kinematics, world_poses

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree


PART = TURN / 16.0
"""How far a coordinate goes between poses whose angles go on from one to the next."""


def wound_across(system: System, forest: Forest) -> list[str]:
    """The torsion springs whose turns coordinates do not tell: those `across_quaternions`, and those along whose path joints turn the
    axes of each other."""
    across, paths = across_quaternions(system, forest), _paths(system, forest)
    return [name for name, path in paths.items() if name in across or turn_each_other(path)]


def across_quaternions(system: System, forest: Forest) -> set[str]:
    """The torsion springs between whose ends a joint turns by a quaternion, or a body floats."""
    place = {arc.child.name: i for i, arc in enumerate(forest.arcs)}
    uncounted = {i for i, arc in enumerate(forest.arcs) if (kind := joint_class(arc.joint)).nq > kind.nv}

    def inward(body: str) -> set[int]:
        i, passed = place.get(body, -1), set()
        while i >= 0:
            passed.add(i)
            i = forest.arcs[i].parent
        return passed

    found = set()
    for force in system.forces.values():
        if isinstance(force, TorsionSpring):
            a, b = (frame.body for frame in force.frames(system))
            if (inward(a) ^ inward(b)) & uncounted:
                found.add(force.name)
    return found


def counted(system: System, forces: ForceTables, forest: Forest) -> ForceTables:
    """The tables with the angles of `wound_across` as states."""
    across = [list(system.forces).index(name) for name in wound_across(system, forest)]
    if not across:
        return forces
    for e in across:
        Twist(forces.data, ForceEntries(forces.index)[e].first).path = NO_PATH
    return forces._replace(winding=np.array(across, dtype=np.int64), rate=np.zeros(len(forces.z) + len(across)))


def angles_along(tree: Tree, q: np.ndarray, reference: np.ndarray | None = None) -> np.ndarray:
    """The angles (N, nw) of the springs `wound_across` at the poses q (N, nq): at first near the reference (nw,), by default as
    `described_angles`, then from sample to sample, between which coordinates of joints change evenly."""
    names = wound_across(tree.system, tree.compiled.forest)
    out = np.zeros((len(q), len(names)))
    if not len(q):
        return out
    first = described_angles(tree, q[0]) if reference is None else reference
    for i, name in enumerate(names):
        spring = tree.system.forces[name]
        assert isinstance(spring, TorsionSpring)
        fine, own = _finer(q, _columns(tree, name))
        R_A, R_B = (
            end.R_BF if end.body == "ground" else tree.pose(fine, end.body)[0] @ end.R_BF
            for end in spring.frames(tree.system)
        )
        x = np.einsum("...ji,...j->...i", R_A, R_B[..., :, 0])
        angle = np.unwrap(np.broadcast_to(np.arctan2(x[..., 1], x[..., 0]), (len(fine),)))
        out[:, i] = (angle + TURN * np.round((first[i] - angle[:1]) / TURN))[own]
    return out


def described_angles(tree: Tree, q: np.ndarray) -> np.ndarray:
    """The angles (nw,) near which the springs `wound_across` begin at the pose q (nq,): the turns of the joints between their ends, with
    the signs that they have as described, from the rest angles within half a turn on."""
    system, full = tree.system, tree.full_of(q)[0]
    paths = _paths(system, tree.compiled.forest)
    places = {arc.name: int(tree.compiled.first_q[i]) for i, arc in enumerate(tree.compiled.forest.arcs)}
    out = []
    for name in wound_across(system, tree.compiled.forest):
        spring = system.forces[name]
        assert isinstance(spring, TorsionSpring)
        turned = sum(x.sign * float(full[places[x.joint] + x.freedom]) for x in paths[name])
        out.append(spring.first_angle(system.values) + turned)
    return np.array(out)


def _columns(tree: Tree, spring: str) -> list[int]:
    """Where in q (nq,) the coordinates on the path of a spring are."""
    coupling = tree.coupling
    places = {arc.name: int(tree.compiled.first_q[i]) for i, arc in enumerate(tree.compiled.forest.arcs)}
    full = [places[x.joint] + x.freedom for x in _paths(tree.system, tree.compiled.forest)[spring]]
    return full if coupling is None else coupling.q_column[full].tolist()


def _paths(system: System, forest: Forest) -> dict[str, list[Winding]]:
    return windings(system, [arc.name for arc in forest.arcs if arc.joint is not None and arc.name in system.joints])


def _finer(q: np.ndarray, columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The poses q (N, nq) with others between them, where coordinates in `columns` change by more than a part of a turn; and where those
    of q are among them."""
    if len(q) < 2 or not columns:
        return q, np.arange(len(q))
    change = np.abs(np.diff(q[:, columns], axis=0)).max(axis=1)
    counts = np.maximum(1, np.ceil(change / PART)).astype(np.int64)
    own = np.concatenate([[0], np.cumsum(counts)])
    fine = np.repeat(q, np.concatenate([[1], counts]), axis=0)  # bodies beyond the path stay where they are next
    at = np.arange(own[-1] + 1)
    for c in columns:
        fine[:, c] = np.interp(at, own, q[:, c])
    return fine, own


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

"""What couplings and mimic joints ask of other joints once some are given coordinates, and the pose that has these.

A joint that closes no loop is put where its coordinate says, and carries along what hangs on it, as a spanning tree does: no other
joint moves. Joints within loops stay for the closing to move.

    Σ c_i q_i = offset with all q_i known but one: that one follows;   R′ = R_T R, p′ = R_T p + p_T of all bodies beyond a joint
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from nexdyn.assembly.loads import joint_state, with_turns
from nexdyn.assembly.start_pose import beyond, pose_of
from nexdyn.assembly.start_velocity import floating_bodies
from nexdyn.assembly.walk import from_body_to_body
from nexdyn.model.coupling import Coupled, Law
from nexdyn.model.joint import Joint, is_angle
from nexdyn.model.system import System
from nexdyn.spatial.poses import compose, inverse
from nexdyn.spatial.rotations import quaternion, rotation_matrix

if TYPE_CHECKING:
    from nexdyn.absolute.model.model import AbsoluteModel

Place = tuple[str, int]
"""A joint, and which of its coordinates."""

THERE = 1e-14
"""Least change of a coordinate for which bodies are moved, of a length as a part of the mechanism's."""


def following(system: System, given: Mapping[str, np.ndarray]) -> dict[Place, float]:
    """Coordinates that follow from those that joints are `given`; of what is given, none."""
    if not given:
        return {}
    known = {(name, m): float(x) for name, values in given.items() for m, x in enumerate(values)}
    laws, found, more = list(_laws(system)), dict[Place, float](), True
    while more:
        more = False
        for law in laws:
            unknown = [term for term in law.terms if (term.joint, term.freedom) not in known]
            if len(unknown) == 1 and unknown[0].coefficient != 0.0:
                (last,), place = unknown, (unknown[0].joint, unknown[0].freedom)
                rest = sum(x.coefficient * known[x.joint, x.freedom] for x in law.terms if x is not last)
                known[place] = found[place] = (law.offset - rest) / last.coefficient
                more = True
    return found


def asked_angles(system: System, asked: Collection[str]) -> set[tuple[str, str]]:
    """The coordinates, by joint and name, of joints that are `asked` for some, and of those that follow them."""
    joints = system.joints
    given = {name: np.zeros(len(joints[name].coordinates)) for name in asked if name in joints}
    places = [(name, m) for name, x in given.items() for m in range(len(x))] + list(following(system, given))
    return {(name, joints[name].coordinates[m]) for name, m in places}


def with_following(model: AbsoluteModel, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Coordinates that joints are `given`, and of joints that follow them all, the others as the model's start has them."""
    joints, out = model.system.joints, dict(given)
    start = dict(zip(model.followed, model.near_start.tolist(), strict=True))
    for (name, m), x in following(model.system, given).items():
        if name not in out:
            out[name] = np.array([start.get((name, equation), 0.0) for equation in joints[name].coordinates])
        out[name] = np.where(np.arange(len(out[name])) == m, x, out[name])
    return out


def put_joints(
    model: AbsoluteModel, start: np.ndarray, given: Mapping[str, np.ndarray], fixed: Collection[str], length: float
) -> np.ndarray:
    """The pose `start` (nb + 1, 7) with joints at the coordinates `given`, and those that follow them: of those that close no loop.
    fixed: bodies that stay; length: of the mechanism [m]."""
    wanted = {name: dict(enumerate(x)) for name, x in given.items()}
    for (name, m), x in following(model.system, given).items():
        wanted.setdefault(name, {})[m] = x
    if not wanted:
        return start
    still, out = np.zeros((len(start), 6)), start.copy()
    moves = {name: (np.eye(3), np.zeros(3)) for name in ("ground", *model.system.bodies)}
    for joint, outward, closes in _outward(model.system, fixed):
        near, far = (joint.parent.name, joint.child.name) if outward else (joint.child.name, joint.parent.name)
        moves[far] = moves[near]
        if joint.name in wanted and not closes and len(joint.coordinates) == joint.nq:
            now = joint_state(model, joint, start, still)[0]
            own = now.copy()
            for m, x in wanted[joint.name].items():
                own[m] = x
            if any(_differs(joint, m, own[m] - now[m], length) for m in range(joint.nq)):
                a = pose_of(start[model.body_index[near]])
                there = compose(*moves[near], *beyond(joint, own, model.system.values, a, outward))
                moves[far] = compose(*there, *inverse(*pose_of(start[model.body_index[far]])))
    for name, (R, p) in moves.items():
        if (R != np.eye(3)).any() or p.any():
            i = model.body_index[name]
            R_new, p_new = compose(R, p, *pose_of(start[i]))
            out[i] = [*quaternion(R_new), *p_new]
    return out


def carried(model: AbsoluteModel, start: np.ndarray, bodies: Mapping[str, np.ndarray]) -> np.ndarray:
    """`start` with floating bodies where they are wanted, and as one with each what joints join to it."""
    out = start.copy()
    for name, x in bodies.items():
        i = model.body_index[name]
        R = rotation_matrix(x[:4]) @ rotation_matrix(start[i, :4]).T
        for k in _joined(model, i):
            turned = R @ rotation_matrix(start[k, :4])
            out[k] = [*quaternion(turned), *(x[4:] + R @ (start[k, 4:] - start[i, 4:]))]
        out[i] = x
    return out


def _joined(model: AbsoluteModel, i: int) -> set[int]:
    """Body i and those that joints join to it, but for the ground."""
    found, edge = {i}, [i]
    pairs = [
        (model.body_index[joint.parent.name], model.body_index[joint.child.name])
        for joint in model.system.joints.values()
    ]
    while edge:
        k = edge.pop()
        more = {b for a, b in pairs if a == k} | {a for a, b in pairs if b == k}
        edge += list(more - found - {0})
        found |= more - {0}
    return found


def put_followers(
    model: AbsoluteModel, start: np.ndarray, closed: np.ndarray, given: Mapping[str, np.ndarray],
    fixed: Collection[str], t: float, length: float,
) -> np.ndarray:  # fmt: skip
    """The pose `closed` (nb + 1, 7), into which loops have moved from `start`, with joints that follow those of the loops where they
    are asked to be, and others that close no loop where they were; the same array where nothing follows joints of loops."""
    if closed is start or next(_laws(model.system), None) is None:
        return closed
    turned = dict(zip(model.followed, model.counted(closed, model.near(closed, t)).tolist(), strict=True))
    still, joints = np.zeros((len(start), 6)), model.system.joints

    def coordinates(names: Collection[str], pose: np.ndarray) -> dict[str, np.ndarray]:
        found = {name: joint_state(model, joints[name], pose, still)[0] for name in names}
        return {name: with_turns(joints[name], x, turned) for name, x in found.items()}

    measured = {name for name, joint in joints.items() if joint.tree and len(joint.coordinates) == joint.nq > 0}
    alone = measured & {joint.name for joint, _, closes in _outward(model.system, fixed) if not closes}
    known = {**coordinates(measured - alone, closed), **given}
    led = {name for name, _ in following(model.system, known)} - {name for name, _ in following(model.system, given)}
    if not led & alone:
        return closed
    return put_joints(model, closed, {**coordinates(alone - led, start), **known}, fixed, length)


def _differs(joint: Joint, m: int, change: float, length: float) -> bool:
    """Whether a change of a coordinate moves bodies: whole turns of an angle do not."""
    if not is_angle(joint.coordinates[m]):
        return abs(change) > THERE * length
    if not joint.advances:
        change -= 2.0 * np.pi * np.round(change / (2.0 * np.pi))
    return abs(change) > THERE


def _laws(system: System) -> Iterator[Law]:
    """What mimic joints and couplings hold."""
    values = system.values
    for joint in system.joints.values():
        mimic = joint.resolved(values).mimic if joint.mimic is not None else None
        if mimic is not None:
            yield Law((Coupled(joint.name, 0, 1.0), Coupled(mimic.joint, 0, -mimic.multiplier)), mimic.offset)
    for coupling in system.couplings.values():
        yield coupling.law(values)


def _outward(system: System, fixed: Collection[str]) -> list[tuple[Joint, bool, bool]]:
    """Joints from body to body, as `from_body_to_body` goes, each with whether its child follows, and whether it is part of a loop."""
    walked = list(from_body_to_body(system, fixed, floating_bodies(system)))
    before: dict[str, str] = {}
    order = []
    for joint, outward in walked:
        near, far = (joint.parent.name, joint.child.name) if outward else (joint.child.name, joint.parent.name)
        before[far] = near
        order.append(far)
    depth: dict[str, int] = {}
    for name in order:
        depth[name] = depth.get(before[name], 0) + 1
    covers = dict.fromkeys(order, 0)  # how many of the other joints close a loop over the joint to a body
    taken = {joint.name for joint, _ in walked}
    for joint in system.joints.values():
        if joint.name in taken:
            continue
        a, b = joint.parent.name, joint.child.name
        while a != b and (a in before or b in before):
            if depth.get(a, 0) >= depth.get(b, 0):
                covers[a] += 1
                a = before[a]
            else:
                covers[b] += 1
                b = before[b]
    return [(*walk, covers[far] > 0) for walk, far in zip(walked, order, strict=True)]

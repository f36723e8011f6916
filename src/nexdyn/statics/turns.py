"""Angles of torsion springs along a motion that is given, whole turns among them.

A run counts turns and records them. For any other motion they follow from the rates at both ends of each interval,

    θ_k − θ_(k−1) = the turn that the poses allow nearest to  h (θ̇_(k−1) + θ̇_k)/2

which is refused by name where that is not clear: by less than a quarter of a turn, if θ̇ between the samples lies between those of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.errors import SolveError
from nexdyn.forces.torsion_spring import TINY, TURNS, TorsionSpring, windings
from nexdyn.model.joint import is_angle
from nexdyn.model.system import System
from nexdyn.results.recording import Recording
from nexdyn.results.result import Result
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.spatial.turns import TURN
from nexdyn.tree.tree import Tree
from nexdyn.tree.wound import across_quaternions, angles_along, described_angles, wound_across

Array = np.ndarray
Turning = Callable[[str], tuple[Array, Array]]
"""Of a body its rotations (N, 3, 3) and angular velocities (N, 3), in the world, along a motion."""
UNCLEAR = 0.25 * TURN


def angles_through(spring: TorsionSpring, system: System, t: Array, of_body: Turning, turned: float = 0.0) -> Array:
    """The angles (N,) of a torsion spring along a motion that nothing has counted, at first near its rest angle within half a turn, and
    what joints between its ends have `turned`."""
    (A, R_A, w_A), (B, R_B, w_B) = (
        (end.body, R @ end.R_BF, w) for end in spring.frames(system) for R, w in [of_body(end.body)]
    )
    x = np.einsum("nji,nj->ni", R_A, R_B[..., :, 0])
    angle, flat = np.arctan2(x[:, 1], x[:, 0]), x[:, 0] ** 2 + x[:, 1] ** 2
    w = np.einsum("nji,nj->ni", R_A, w_B - w_A)
    away = np.where(flat < TINY, 0.0, x[:, 2] / np.maximum(flat, TINY))
    rate = np.where(flat < TINY, 0.0, w[:, 2] - away * (x[:, 0] * w[:, 0] + x[:, 1] * w[:, 1]))
    h = np.diff(t)
    told, least = 0.5 * h * (rate[1:] + rate[:-1]), np.diff(angle)
    way = least + TURN * np.round((told - least) / TURN)
    unclear = (np.abs(way - told) > UNCLEAR) | (0.5 * h * np.abs(np.diff(rate)) > UNCLEAR)
    if unclear.any():
        k = int(unclear.argmax())
        raise SolveError(
            f"turns of torsion spring {spring.name!r} cannot be counted from t = {t[k]:g} s to {t[k + 1]:g} s: what its ends, "
            f"{A!r} and {B!r}, do between is not told by samples so far apart; give more samples, or a result whose run counted them",
            time=float(t[k + 1]), where=spring.name,
        )  # fmt: skip
    first = spring.first_angle(system.values) + turned
    start = angle[0] + TURN * np.round((first - angle[0]) / TURN)
    return start + np.concatenate([[0.0], np.cumsum(way)])


def recorded_angles(motion: Result | None, spring: TorsionSpring, system: System) -> Array | None:
    """The angles (N,) of a torsion spring that the run of a result has counted; None where it has not."""
    if motion is None or not motion.recording.followed.size:
        return None
    own, label = motion.system.forces.get(spring.name), f"{spring.name} {TURNS}"
    counters = list(motion.observed.labels.dims["counter"])
    if label not in counters or not isinstance(own, TorsionSpring):
        return None
    if [end.body for end in own.frames(motion.system)] != [end.body for end in spring.frames(system)]:
        return None
    return motion.recording.followed[:, counters.index(label)]


# --- trees ----------------------------------------------------------------------------------------------------------


def angles_on_tree(tree: Tree, recording: Recording, motion: Result | None) -> Array:
    """The angles (N, nw) of the springs that no coordinate counts (``tree.wound``) along a motion of a tree, a result's or not."""
    system, n = tree.system, len(recording.t)

    def of_body(body: str) -> tuple[Array, Array]:
        if body == "ground":
            return np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
        frame = f"body:{body}"
        return tree.pose(recording.q, frame)[0], tree.velocity(recording.q, recording.v, frame)[0]

    forest = tree.compiled.forest
    names, by_rates = wound_across(system, forest), across_quaternions(system, forest)
    out = angles_along(tree, recording.q)  # as the coordinates go
    first = described_angles(tree, recording.q[0])
    for i, name in enumerate(names):
        spring = system.forces[name]
        assert isinstance(spring, TorsionSpring)
        known = recorded_angles(motion, spring, system)
        if known is not None:
            out[:, i] = known
        elif name in by_rates:
            turned = float(first[i]) - spring.first_angle(system.values)
            out[:, i] = angles_through(spring, system, recording.t, of_body, turned)
    return out


# --- bodies ---------------------------------------------------------------------------------------------------------

Known = Mapping[tuple[str, str], Array]
"""What is known of what is counted (N,): by joint or torsion spring, and coordinate."""


def known_of(motion: Result, system: System) -> dict[tuple[str, str], Array]:
    """The angles that a result tells, of joints and torsion springs of `system`, and parameters of points on curves and surfaces."""
    found: dict[tuple[str, str], Array] = {}
    followed = motion.recording.followed
    counters = list(motion.observed.labels.dims["counter"]) if followed.size else []
    for name in motion.system.joints.keys() & system.joints.keys():
        joint = motion.system.joints[name]
        own = f"{name} "
        found |= {(name, of[len(own) :]): followed[:, k] for k, of in enumerate(counters) if of.startswith(own)}
        if joint.nv and joint.tree:
            for m, what in enumerate(joint.coordinates):
                if is_angle(what):
                    found[name, what] = motion.observed.of_joint("joint_position", name)[:, m]
    for spring in system.forces.values():
        if isinstance(spring, TorsionSpring):
            known = recorded_angles(motion, spring, system)
            if known is not None:
                found[spring.name, TURNS] = known
    return found


def angles_of_bodies(model: AbsoluteModel, t: Array, q: Array, v: Array, known: Known) -> Array:
    """What is counted (N, nk) along a motion of bodies, q (N, nb + 1, 7), v (N, nb + 1, 6), in the order of `AbsoluteModel.near`: as it is
    known, of springs by the rates where neither they nor the joints on their paths are; NaN of what goes on from sample to sample."""
    system, turns = model.system, np.full((len(t), len(model.followed)), np.nan)

    def of_body(body: str) -> tuple[Array, Array]:
        i = model.body_index[body]
        R = rotation_matrix(q[:, i, :4])
        return R, np.einsum("nij,nj->ni", R, v[:, i, :3])

    for k, of in enumerate(model.followed):
        if of in known:
            turns[:, k] = known[of]
    for k, path in _paths_of(model).items():
        spring = system.forces[model.followed[k][0]]
        assert isinstance(spring, TorsionSpring)
        if (spring.name, TURNS) in known:
            continue
        if path is None or any(of not in known for of, _ in path):
            turns[:, k] = angles_through(spring, system, t, of_body)
        else:
            turns[:, k] = spring.first_angle(system.values)
            for of, sign in path:
                turns[:, k] += sign * known[of]
    return counted_on(model, q, t, turns)


def _paths_of(model: AbsoluteModel) -> dict[int, list[tuple[tuple[str, str], float]] | None]:
    """Of each torsion spring, by its place in `near`, the angles of joints that wind it up, and their signs; None across a ball."""
    system, found = model.system, {}
    counting = [joint for joint in system.joints.values() if joint.tree and joint.nq == joint.nv]
    paths = windings(system, [joint.name for joint in counting]) if model.wound else {}
    for k, _ in model.wound:
        name = model.followed[k][0]
        a, b = (end.body for end in system.forces[name].frames(system))
        reached, row = {a}, [a]
        for body in row:
            for joint in counting:
                ends = {joint.parent.name, joint.child.name}
                if body in ends and not ends <= reached:
                    row += ends - reached
                    reached |= ends
        path = [((x.joint, system.joints[x.joint].coordinates[x.freedom]), x.sign) for x in paths[name]]
        found[k] = path if b in reached else None
    return found


def counted_on(model: AbsoluteModel, q: Array, t: Array, told: Array) -> Array:
    """What is counted (N, nk) near what is `told`, or where that is NaN near what it was at the sample before."""
    out = np.empty_like(told)
    near = model.near(q[0], float(t[0]))
    for k, row in enumerate(told):
        near = out[k] = model.counted(q[k], np.where(np.isfinite(row), row, near))
    return out


def as_recorded(system: System, model: AbsoluteModel, turns: Array, known: Known) -> Array:
    """The counters of a recording of the bodies of `system`; none (0, 0) where parameters of points on curves or surfaces are not known."""
    places = {of: k for k, of in enumerate(model.followed)}
    order = absolute_model(system).followed
    if any(of not in places or not (is_counted(of[1]) or of in known) for of in order):
        return np.zeros((0, 0))
    return turns[:, [places[of] for of in order]].copy()


def is_counted(what: str) -> bool:
    """Whether a counter is an angle."""
    return is_angle(what) or what == TURNS

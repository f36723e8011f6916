"""Names of what a linearization speaks of: its states with their units, inputs and outputs.

`steer`, `steer.rate`; of a floating body `base.rx` … `base.pz`, `base.wx` … `base.vz`; drivers that are inputs `motor`,
`motor.rate`; states of forces `servo.integral`, `servo.lagged`, `dry.deflection`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nexdyn.assembly.loads import joint_state
from nexdyn.errors import unknown
from nexdyn.results.quantities import velocity_labels
from nexdyn.spatial.rotations import cross_product, rotation_matrix
from nexdyn.statics.reduced import ReducedSystem
from nexdyn.tree.tree import Tree

COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")
_POSITIONS = {"wx": "rx", "wy": "ry", "wz": "rz", "vx": "px", "vy": "py", "vz": "pz"}


def freedoms(tree: Tree) -> list[tuple[str, str, str]]:
    """(position, velocity, unit of the position) of every degree of freedom of the tree."""
    found = []
    for joint in tree.joint_names:
        labels = velocity_labels(tree, joint)
        kind = tree.system.joints[joint].kind if joint in tree.system.joints else "free"
        for label, unit in labels:
            last = label.rpartition(".")[2]
            if kind in ("free", "spherical"):
                found.append((f"{label[: -len(last)]}{_POSITIONS[last]}", label, unit))
            else:
                found.append((label, f"{label}.rate", unit))
    return found


def state_names(reduced: ReducedSystem) -> list[str]:
    """Names of z, u and s: "steer", "steer.rate"; of a floating body "base.rx", "base.px", "base.wx", "base.vx"; "servo.integral"."""
    names = freedoms(reduced.tree)
    rates = [f"{name}.rate" for name in reduced.led]
    own = [state.label for state in reduced.own]
    return [names[i][0] for i in reduced.z] + [*reduced.led] + [names[i][1] for i in reduced.u] + rates + own


def state_units(reduced: ReducedSystem) -> list[str]:
    """Units of the same."""
    names = freedoms(reduced.tree)
    row_of = {driver.name: driver.row for driver in reduced.model.drivers}
    led = ["m" if reduced.model.row_is_length[row_of[name]] else "rad" for name in reduced.led]
    rates = [names[i][2] + "/s" for i in reduced.u] + [f"{unit}/s" for unit in led]
    return [names[i][2] for i in reduced.z] + led + rates + [state.unit for state in reduced.own]


def input_effort(reduced: ReducedSystem, name: str) -> np.ndarray:
    """The effort (nv,) of an input of 1."""
    model, system, tree = reduced.model, reduced.model.system, reduced.tree
    efforts: dict[str, tuple[Any, int]] = {}
    for joint in system.joints.values():
        if joint.nv:
            for k, (label, _) in enumerate(velocity_labels(tree, joint.name)):
                efforts[label] = (joint, k)
    floating = [
        label for joint in tree.joint_names if joint not in system.joints for label, _ in velocity_labels(tree, joint)
    ]
    bodies = {f"{body}.{part}": (body, i) for body in system.bodies for i, part in enumerate(COMPONENTS)}
    poses, T = reduced.bodies(reduced.q0), reduced.transmission(reduced.q0)
    if name in efforts:
        joint, k = efforts[name]
        if joint.name in tree.coordinates:
            e = np.zeros(tree.nv)
            e[tree.coordinates[joint.name].v.start + k] = 1.0
            return e
        V = np.zeros((model.nb + 1, 6))
        out = np.zeros(tree.nv)
        for j in range(tree.nv):
            V[1:] = T[:, j].reshape(-1, 6)
            out[j] = joint_state(model, joint, poses, V)[1][k]
        return out
    if name in bodies:
        body, i = bodies[name]
        b = model.body_index[body] - 1
        wrench = np.zeros((model.nb, 6))
        if i < 3:
            wrench[b, 3 + i] = 1.0
        else:
            wrench[b, :3] = rotation_matrix(poses[b + 1, :4])[i - 3]
        return np.asarray(T.T @ wrench.reshape(-1))
    raise unknown("input", name, [*efforts, *system.drivers, *bodies, *floating][:200], plural="inputs")


def output_of(reduced: ReducedSystem, name: str) -> tuple[list[str], Callable[[Any], np.ndarray]]:
    """Names of the components of an output, and its value at a motion."""
    system = reduced.model.system
    found = freedoms(reduced.tree)
    positions = {position: i for i, (position, _, _) in enumerate(found)}
    velocities = {velocity: i for i, (_, velocity, _) in enumerate(found)}
    own = {state.label: state.place for state in reduced.own}
    if name in positions:
        i = positions[name]
        return [name], lambda motion: reduced.deviation(motion)[i]
    if name in velocities:
        i = velocities[name]
        return [name], lambda motion: reduced.seen(motion)[i]
    if name in own:
        place = own[name]
        return [name], lambda motion: motion.forces[place] - reduced.forces0[place]
    whole, _, axis = name.rpartition(".")
    measure = system.measures.get(name) or system.measures.get(whole)
    if measure is None or (measure.name != name and axis not in measure.axes):
        raise unknown("output", name, [*positions, *velocities, *own, *system.measures], plural="outputs")
    axes = measure.axes or ("",)
    chosen = slice(None) if measure.name == name else slice(axes.index(axis), axes.index(axis) + 1)

    def value(motion: Any) -> np.ndarray:
        frames = [_frame(reduced, motion, frame) for frame in (measure.a, measure.b)]
        return np.atleast_1d(measure.evaluate(*frames[0], *frames[1]))[chosen]

    labels = [f"{measure.name}.{part}" if part else measure.name for part in axes]
    return labels[chosen], value


def _frame(reduced: ReducedSystem, motion: Any, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R, p and (ω, v) of a body or marker in the world."""
    body, R_BF, p_BF = reduced.model.system.frame(name)
    if body.is_ground:
        return R_BF, p_BF, np.zeros(6)
    i = reduced.model.body_index[body.name]
    pose, V = reduced.bodies(motion.q)[i], reduced.body_velocities(motion.q, motion.v)[i]
    R = rotation_matrix(pose[:4])
    w, arm = R @ V[:3], R @ p_BF
    return R @ R_BF, pose[4:] + arm, np.concatenate([w, V[3:] + cross_product(w, arm)])

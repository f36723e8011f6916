"""A description of ours from the parameters of Exudyn's kinematic trees.

link i on link p:  a joint at jointOffsets[i] in p, turned by jointTransformations[i]; coordinates of all joints in one node
torque of a joint  jointForceVector + kp (target − q) − kd (q̇ − rate), where gains are given
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from nexdyn.errors import InputError
from nexdyn.forces import JointForce, PositionActuator
from nexdyn.joints import Prismatic, Revolute
from nexdyn.model.system import System

KINDS = {"Revolute": Revolute, "Prismatic": Prismatic}


def tree_of(name: str, items: Mapping[str, list[Any]], only: int | None = None) -> System:
    """The kinematic trees of a model in one system, each joint "axis TREE LINK"."""
    trees = [(i, o) for i, o in enumerate(items["objects"]) if o["objectType"] == "KinematicTree" and only in (None, i)]
    system = System(name, gravity=tuple(trees[0][1]["gravity"]))
    for number, tree in trees:
        if tuple(tree["gravity"]) != tuple(trees[0][1]["gravity"]):
            raise InputError("two kinematic trees with different gravity have no counterpart in one system")
        add_tree(system, number, tree, items["nodes"][tree["nodeNumber"]])
    return system


def add_tree(system: System, number: int, tree: Any, node: Any) -> None:
    """One tree, in the pose where all joints are at 0."""
    poses: list[tuple[np.ndarray, np.ndarray]] = []
    for i, kind in enumerate(tree["jointTypes"]):
        parent = tree["linkParents"][i]
        R, p = (np.eye(3), np.array(tree["baseOffset"])) if parent < 0 else poses[parent]
        p = p + R @ np.array(tree["jointOffsets"][i])
        R = R @ np.array(tree["jointTransformations"][i])
        poses.append((R, p))
        x, y, z, w = Rotation.from_matrix(R).as_quat()
        body = f"link {number} {i}"
        system.add_body(
            body, mass=tree["linkMasses"][i], inertia=np.array(tree["linkInertiasCOM"][i]), com=tuple(tree["linkCOMs"][i]),
            position=tuple(p), orientation=(w, x, y, z), strict=False,
        )  # fmt: skip
        k = "XYZ".index(kind[-1])
        joint = f"axis {number} {i}"
        system.add_joint(
            KINDS[kind[:-1]](joint, "ground" if parent < 0 else f"link {number} {parent}", body, at=tuple(p),
                             axis=tuple(R[:, k]), reference=tuple(R[:, (k + 1) % 3]),
                             q0=node["referenceCoordinates"][i] + node["initialCoordinates"][i], v0=node["initialCoordinates_t"][i])
        )  # fmt: skip
        if tree["jointForceVector"]:
            system.add_force(JointForce(f"force {number} {i}", joint, tree["jointForceVector"][i]))
        if tree["jointPControlVector"]:
            target, rate = (
                tree[key][i] if tree[key] else 0.0 for key in ("jointPositionOffsetVector", "jointVelocityOffsetVector")
            )
            if rate:
                raise InputError("a joint that is controlled towards a velocity has no counterpart")
            system.add_force(
                PositionActuator(f"control {number} {i}", joint, kp=tree["jointPControlVector"][i],
                                 kd=tree["jointDControlVector"][i], target=target)
            )  # fmt: skip

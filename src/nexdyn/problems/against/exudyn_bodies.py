"""Bodies of ours from the parameters of Exudyn's items, and the markers on them. Joints and forces: `exudyn_items`.

    point mass   keeps its orientation: a Cartesian joint, whose body has an inertia that nothing feels
    inertia      Exudyn's is about the origin of the body; ours about the centre of mass: I − m (|c|² 1 − c cᵀ)

A marker is a point of a body with the body's axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from nexdyn.joints import (
    Cartesian,
    Fixed,
    Free,
    Planar,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
)
from nexdyn.model.driver import Driver
from nexdyn.model.system import System
from nexdyn.problems.against.exudyn_poses import (
    STILL,
    Item,
    Pose,
    pose_of,
)

GROUND = "ground"
UNFELT = 0.01
"""Inertia over mass of a point mass, whose Cartesian joint keeps it from turning."""


class Bodies:
    """Describes a model item by item. left_out: objects to skip; loose: joints whose rate follows from the others."""

    def __init__(
        self,
        name: str,
        items: Mapping[str, list[Item]],
        left_out: frozenset[int] = frozenset(),
        loose: frozenset[int] = frozenset(),
    ) -> None:
        self.system = System(name, gravity=(0, 0, 0))
        self.items = items
        self.objects = [(i, o) for i, o in enumerate(items["objects"]) if i not in left_out]
        self.bodies = {
            i: f"{o['objectType']} {i}" for i, o in self.objects if "physicsMass" in o or "physicsInertia" in o
        }
        self.poses = {i: pose_of(items["nodes"][items["objects"][i]["nodeNumber"]]) for i in self.bodies
                      if "1D" not in items["objects"][i]["objectType"]}  # fmt: skip
        self.loose = loose
        self.held: set[int] = set()
        self.driven: dict[int, set[int]] = {}
        self.drivers: list[Driver] = []
        self.cubic: list[tuple[int, int, float, float]] = []
        self.between: dict[frozenset[int | None], str] = {}

    def body_of(self, marker: int) -> tuple[int | None, np.ndarray]:
        """The object that a marker is on, None for the ground, and its point in the body's axes (of the world on the ground)."""
        m = self.items["markers"][marker]
        if "bodyNumber" in m:
            number, point = m["bodyNumber"], np.array(m.get("localPosition", np.zeros(3)), float)
            item = self.items["objects"][number]
            if item["objectType"] == "Ground":
                R, p = np.array(item["referenceRotation"]), np.array(item["referencePosition"])
                return None, p + R @ point
            if m["markerType"] == "BodyMass":
                point = np.append(item.get("physicsCenterOfMass", np.zeros(3)), np.zeros(3))[:3]
            return number, point
        node = m.get("nodeNumber")
        if node is None:
            return None, np.zeros(3)
        for number in self.bodies:
            if self.items["objects"][number]["nodeNumber"] == node:
                return number, np.zeros(3)
        return None, np.array(self.items["nodes"][node]["referenceCoordinates"][:3], float)

    def ground_axes(self, marker: int) -> np.ndarray:
        """Axes of the body that a marker is on, in the frame that joints count from."""
        m = self.items["markers"][marker]
        item = self.items["objects"][m["bodyNumber"]] if "bodyNumber" in m else {}
        return np.array(item["referenceRotation"]) if item.get("objectType") == "Ground" else np.eye(3)

    def name_of(self, number: int | None) -> str:
        """The body's name in our description."""
        return GROUND if number is None else self.bodies[number]

    def pose(self, number: int | None) -> Pose:
        """The initial pose of a body."""
        return STILL if number is None else self.poses[number]

    def add_body(self, number: int, item: Item) -> None:
        """A body at its initial pose."""
        kind = item["objectType"]
        if "1D" in kind:
            self.add_one_dimensional(number, item)
            return
        pose, mass = self.poses[number], item["physicsMass"]
        w = Rotation.from_matrix(pose.R).as_quat()
        quaternion = (w[3], w[0], w[1], w[2])
        if kind.startswith("MassPoint"):
            inertia, com = np.eye(3) * mass * UNFELT, np.zeros(3)
        else:
            com = np.append(item["physicsCenterOfMass"], 0.0)[:3]
            given = item["physicsInertia"]
            if np.ndim(given) == 0:
                inertia = np.eye(3) * (given - mass * com @ com)
            else:
                xx, yy, zz, yz, xz, xy = given
                about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
                inertia = about - mass * (com @ com * np.eye(3) - np.outer(com, com))
        options: dict[str, Any] = {"com": tuple(com)} if np.any(com) else {}
        self.system.add_body(
            self.bodies[number],
            mass=mass,
            inertia=inertia,
            position=tuple(pose.p),
            orientation=quaternion,
            strict=False,
            **options,
        )

    def add_one_dimensional(self, number: int, item: Item) -> None:
        """A mass that slides, or an inertia that turns, along x of its reference."""
        turns = item["objectType"] == "RotationalMass1D"
        size = item["physicsInertia" if turns else "physicsMass"]
        node = self.items["nodes"][item["nodeNumber"]]
        R = np.array(item["referenceRotation"])
        axis, x = (R[:, 2], R[:, 0]) if turns else (R[:, 0], R[:, 1])
        self.system.add_body(
            self.bodies[number], mass=size, inertia=(size, size, size), position=tuple(item["referencePosition"])
        )
        kind = Revolute if turns else Prismatic
        q0 = node["referenceCoordinates"][0] + node["initialCoordinates"][0]
        self.system.add_joint(
            kind(f"axis {number}", GROUND, self.bodies[number], at=tuple(item["referencePosition"]), axis=tuple(axis),
                 reference=tuple(x), q0=q0, v0=node["initialVelocities"][0])
        )  # fmt: skip
        self.held.add(number)

    def release(self, number: int) -> None:
        """The joint to the ground of a body that no joint of a tree holds."""
        item, pose = self.items["objects"][number], self.poses[number]
        name, kind = self.bodies[number], item["objectType"]
        locks = self.driven.get(number, set())
        if kind.startswith("MassPoint"):
            free = [k for k in range(3) if k not in locks]
            if len(free) == 1:
                axis, x = np.eye(3)[free[0]], np.eye(3)[(free[0] + 1) % 3]
                joint: Any = Prismatic(f"free {number}", GROUND, name, at=tuple(pose.p), axis=tuple(axis),
                                       reference=tuple(x), v0=pose.v[free[0]])  # fmt: skip
            else:
                joint = Cartesian(f"free {number}", GROUND, name, at=tuple(pose.p), v0=tuple(pose.v))
                for k in locks:
                    self.system.add_joint(
                        PointOnPlane(
                            f"lock {number} {k}", GROUND, name, anchor_a=tuple(pose.p), axis_a=tuple(np.eye(3)[k])
                        )
                    )
        elif kind == "RigidBody2D":
            joint = Planar(f"free {number}", GROUND, name, at=tuple(pose.p), axis=(0, 0, 1), reference=(1, 0, 0),
                           v0=(pose.v[0], pose.v[1], pose.omega[2]))  # fmt: skip
        elif locks == {0, 1, 2}:
            joint = Spherical(f"free {number}", GROUND, name, at=tuple(pose.p), axis=tuple(pose.R[:, 2]),
                              reference=tuple(pose.R[:, 0]), v0=tuple(pose.R.T @ pose.omega))  # fmt: skip
        elif locks == {0, 1, 2, 3, 4, 5}:
            joint = Fixed(f"free {number}", GROUND, name, at=tuple(pose.p))
        else:
            v = np.concatenate([pose.R.T @ pose.omega, pose.R.T @ pose.v])
            joint = Free(f"free {number}", GROUND, name, v0=tuple(v))
            for k in locks:
                self.system.add_joint(
                    PointOnPlane(f"lock {number} {k}", GROUND, name, anchor_a=tuple(pose.p), axis_a=tuple(np.eye(3)[k]))
                )
        self.system.add_joint(joint)

    def frames(self, item: Item) -> tuple[int | None, int | None, dict[str, Any], Callable[[int], tuple[float, float]]]:
        """Bodies A and B of a joint, its frames by axis, and the rates about and along axis k of marker 0."""
        a, b = item["markerNumbers"]
        (A, p), (B, q) = self.body_of(a), self.body_of(b)
        R0 = self.ground_axes(a) @ np.array(item.get("rotationMarker0", np.eye(3)))
        R1 = self.ground_axes(b) @ np.array(item.get("rotationMarker1", np.eye(3)))
        pose_a, pose_b = self.pose(A), self.pose(B)
        turn, slide = pose_b.omega - pose_a.omega, pose_b.at(q)[1] - pose_a.at(p)[1]

        def rates(k: int) -> tuple[float, float]:
            axis = pose_a.R @ R0[:, k]
            return float(axis @ turn), float(axis @ slide)

        return A, B, {"R0": R0, "R1": R1, "p": p, "q": q}, rates

    def reference(self, body: int) -> np.ndarray:
        """Where a body's coordinates count from."""
        q = self.items["nodes"][self.items["objects"][body]["nodeNumber"]]["referenceCoordinates"]
        return np.append(q, np.zeros(3))[:3] if len(q) > 2 else np.append(q[:2], 0.0)

"""A description of ours from the parameters of Exudyn's items: bodies at their initial pose, joints by their two frames.

    pose         reference + initial coordinates of the node; Euler parameters, Tait–Bryan angles R = Rx Ry Rz, or a rotation vector
    ω            from the rates of these: 2 G(p) ṗ of Euler parameters, their own Jacobian of angles
    joint rates  of the described motion: what the axis of a joint feels of (ω_B − ω_A, v_B − v_A) at the joint's point
    point mass   keeps its orientation: a Cartesian joint, whose body has an inertia that nothing feels

A marker is a point of a body with the body's axes. Joints lock axes of marker 0, turned by rotationMarker0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy.spatial.transform import Rotation

from nexdyn.errors import InputError
from nexdyn.forces import AppliedForce, Bushing, JointForce, PointSpring, PositionActuator, UserForce, UserJointForce
from nexdyn.joints import (
    Cartesian,
    Cylindrical,
    Fixed,
    Free,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rod,
    RollingDisk,
    Spherical,
    Universal,
)
from nexdyn.model.driver import Driver
from nexdyn.model.system import System

Item = Mapping[str, Any]
GROUND = "ground"
OVER_TIME = {
    "symbolicUserFunctionTest": "sin(20*pi*t)",
    "springDamperUserFunctionTest": "sin(2*pi*(0.5*sqrt(4000/1.6)/(2*pi)/50*t)*t)",
}
"""What the user functions of loads multiply them by."""
UNFELT = 0.01
"""Inertia over mass of a point mass, whose Cartesian joint keeps it from turning."""


@dataclass
class Pose:
    """A frame: R (3, 3), p (3,), and its velocity in the world: omega, v (3,)."""

    R: np.ndarray
    p: np.ndarray
    omega: np.ndarray
    v: np.ndarray

    def at(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity of a point of the frame."""
        r = self.R @ point
        return self.p + r, self.v + np.cross(self.omega, r)


STILL = Pose(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


def pose_of(node: Item) -> Pose:
    """The initial pose and velocity of a node."""
    q = np.add(node["referenceCoordinates"], node.get("initialCoordinates", 0.0))
    v = np.array(node.get("initialVelocities", np.zeros(len(q))), float)
    kind = node["nodeType"]
    if kind in ("Point", "PointGround"):
        return Pose(np.eye(3), q, np.zeros(3), v)
    if kind == "Point2D":
        return Pose(np.eye(3), np.append(q, 0), np.zeros(3), np.append(v, 0))
    if kind == "RigidBody2D":
        R = Rotation.from_euler("z", q[2]).as_matrix()
        return Pose(R, np.append(q[:2], 0), np.array([0, 0, v[2]]), np.append(v[:2], 0))
    rotation, rate = q[3:], v[3:]
    if kind == "RigidBodyEP":
        w, x, y, z = rotation / np.linalg.norm(rotation)
        R = Rotation.from_quat([x, y, z, w]).as_matrix()
        G = 2 * np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
        return Pose(R, q[:3], G @ rate, v[:3])
    if kind == "RigidBodyRxyz":
        a, b, _ = rotation
        Rx, Ry = Rotation.from_euler("x", a).as_matrix(), Rotation.from_euler("y", b).as_matrix()
        R = Rotation.from_euler("XYZ", rotation).as_matrix()
        axes = np.column_stack([[1, 0, 0], Rx[:, 1], (Rx @ Ry)[:, 2]])
        return Pose(R, q[:3], axes @ rate, v[:3])
    if kind == "RigidBodyRotVecLG":
        R = Rotation.from_rotvec(rotation).as_matrix()
        return Pose(R, q[:3], R @ rate, v[:3])
    raise InputError(f"node of type {kind!r} has no counterpart")


def attraction(strength: float) -> Any:
    """Force on A: G m_A m_B (p_B − p_A)/|p_B − p_A|³."""

    def function(_t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        d = B[:3] - A[:3]
        out[:3] = 0.0
        out[3:] = strength / np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2) ** 3 * d

    return njit(function)


def along_the_world(K: np.ndarray, D: np.ndarray, offset: np.ndarray) -> Any:
    """Force on A: K (p_B − p_A − offset) + D (v_B − v_A), axis by axis of the world."""

    def function(_t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        out[:3] = 0.0
        out[3:] = K * (B[:3] - A[:3] - offset) + D * (B[15:18] - A[15:18])

    return njit(function)


def power_spring(k: float, d: float, exponent: float, length: float) -> Any:
    """Force on A: (d δ̇ + k sign(δ) |δ|^exponent) along the connection, δ its elongation."""

    def function(_t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        r, v = B[:3] - A[:3], B[15:18] - A[15:18]
        L = np.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2)
        delta = L - length
        rate = (r[0] * v[0] + r[1] * v[1] + r[2] * v[2]) / L
        out[:3] = 0.0
        out[3:] = (d * rate + k * np.sign(delta) * np.abs(delta) ** exponent) / L * r

    return njit(function)


def cubic_spring(k: float, d: float) -> Any:
    """Effort −(k u/10 + k u³ + d u̇) of a coordinate."""

    def function(_t: float, u: float, v: float) -> float:
        return -(0.1 * k * u + k * u**3 + d * v)

    return njit(function)


class Builder:
    """Describes a model item by item. left_out: objects to skip; loose: joints whose rate follows from the others."""

    def __init__(self, name: str, items: Mapping[str, list[Item]], left_out: frozenset[int] = frozenset(), loose: frozenset[int] = frozenset()) -> None:
        self.system = System(name, gravity=(0, 0, 0))
        self.items = items
        self.objects = [(i, o) for i, o in enumerate(items["objects"]) if i not in left_out]
        self.bodies = {i: f"{o['objectType']} {i}" for i, o in self.objects if "physicsMass" in o or "physicsInertia" in o}
        self.poses = {i: pose_of(items["nodes"][items["objects"][i]["nodeNumber"]]) for i in self.bodies
                      if "1D" not in items["objects"][i]["objectType"]}  # fmt: skip
        self.loose = loose
        self.held: set[int] = set()
        self.driven: dict[int, set[int]] = {}
        self.drivers: list[Driver] = []
        self.cubic: list[tuple[int, int, float, float]] = []
        self.between: dict[frozenset[int | None], str] = {}

    # --- markers

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

    # --- items

    def build(self) -> System:
        """The whole description."""
        for number, item in self.objects:
            if number in self.bodies:
                self.add_body(number, item)
        for number, item in self.objects:
            add: Callable[[int, Item], None] | None = getattr(self, f"add_{item['objectType']}", None)
            if add is not None:
                add(number, item)
            elif number not in self.bodies and item["objectType"] != "Ground":
                raise InputError(f"object of type {item['objectType']!r} has no counterpart")
        for number in self.bodies:
            if number not in self.held:
                self.release(number)
        for driver in self.drivers:
            self.system.add_driver(driver)
        for body, k, stiffness, damping in self.cubic:
            law = cubic_spring(stiffness, damping)
            self.system.add_force(UserJointForce(f"cubic {body} {k}", f"free {body}", law, freedom=k))
        for k, load in enumerate(self.items["loads"]):
            getattr(self, f"load_{load['loadType']}")(k, load)
        return self.system

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
            self.bodies[number], mass=mass, inertia=inertia, position=tuple(pose.p), orientation=quaternion, strict=False, **options
        )

    def add_one_dimensional(self, number: int, item: Item) -> None:
        """A mass that slides, or an inertia that turns, along x of its reference."""
        turns = item["objectType"] == "RotationalMass1D"
        size = item["physicsInertia" if turns else "physicsMass"]
        node = self.items["nodes"][item["nodeNumber"]]
        R = np.array(item["referenceRotation"])
        axis, x = (R[:, 2], R[:, 0]) if turns else (R[:, 0], R[:, 1])
        self.system.add_body(self.bodies[number], mass=size, inertia=(size, size, size), position=tuple(item["referencePosition"]))
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
                    self.system.add_joint(PointOnPlane(f"lock {number} {k}", GROUND, name, anchor_a=tuple(pose.p), axis_a=tuple(np.eye(3)[k])))
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
                self.system.add_joint(PointOnPlane(f"lock {number} {k}", GROUND, name, anchor_a=tuple(pose.p), axis_a=tuple(np.eye(3)[k])))
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

    def hold(self, number: int, kind: Any, A: int | None, B: int | None, f: dict[str, Any], k: int, **options: Any) -> None:
        """A joint about or along axis k of marker 0, with the ground or the earlier body as its parent."""
        x = (k + 1) % 3
        ends = [(self.name_of(A), f["p"], f["R0"]), (self.name_of(B), f["q"], f["R1"])]
        if B is None:
            ends.reverse()  # the ground is the parent; of a joint with one coordinate the rate stays, as axis and motion both turn round
        (parent, p, Rp), (child, q, Rq) = ends
        if number in self.loose:
            options.pop("v0", None)
        frames = {"anchor_a": tuple(p), "anchor_b": tuple(q)}
        if kind is not Spherical:
            frames |= {"axis_a": tuple(Rp[:, k]), "reference_a": tuple(Rp[:, x]), "axis_b": tuple(Rq[:, k]), "reference_b": tuple(Rq[:, x])}
        self.system.add_joint(kind(f"joint {number}", parent, child, **frames, **options))
        self.between[frozenset((A, B))] = f"joint {number}"
        self.held |= {i for i in (A, B) if i is not None}

    def add_JointGeneric(self, number: int, item: Item) -> None:
        """The joint that leaves what the locked axes of marker 0 leave."""
        slides, turns = item["constrainedAxes"][:3], item["constrainedAxes"][3:]
        A, B, f, rates = self.frames(item)
        free_slides, free_turns = [k for k in range(3) if not slides[k]], [k for k in range(3) if not turns[k]]
        if not free_slides and len(free_turns) == 3:
            self.add_JointSpherical(number, item)
        elif not free_slides and not free_turns:
            self.hold(number, Fixed, A, B, f, 2)
        elif not free_slides and len(free_turns) == 1:
            self.hold(number, Revolute, A, B, f, free_turns[0], v0=rates(free_turns[0])[0])
        elif len(free_slides) == 1 and not free_turns:
            self.hold(number, Prismatic, A, B, f, free_slides[0], v0=rates(free_slides[0])[1])
        elif free_slides == free_turns and len(free_turns) == 1:
            self.hold(number, Cylindrical, A, B, f, free_turns[0], v0=rates(free_turns[0]))
        elif len(free_slides) == 1 and len(free_turns) == 3:
            self.add_point_on_line(number, A, B, f, free_slides[0])
        elif not free_slides and free_turns == [0, 1]:
            self.add_cross(number, A, B, f)
        else:
            raise InputError(f"a joint that locks {item['constrainedAxes']} has no counterpart")

    def add_cross(self, number: int, A: int | None, B: int | None, f: dict[str, Any]) -> None:
        """A universal joint: x of marker 0 and y of marker 1 stay at right angles."""
        frames = {"axis_a": f["R0"][:, 0], "reference_a": f["R0"][:, 1], "axis_b": f["R1"][:, 0], "reference_b": f["R1"][:, 1]}
        self.system.add_joint(
            Universal(f"joint {number}", self.name_of(A), self.name_of(B), anchor_a=tuple(f["p"]), anchor_b=tuple(f["q"]),
                      **{key: tuple(axis) for key, axis in frames.items()})
        )  # fmt: skip
        self.held |= {i for i in (A, B) if i is not None}

    def add_point_on_line(self, number: int, A: int | None, B: int | None, f: dict[str, Any], k: int) -> None:
        """A ball that slides along axis k of marker 0."""
        self.system.add_joint(
            PointOnLine(f"joint {number}", self.name_of(A), self.name_of(B), anchor_a=tuple(f["p"]),
                        axis_a=tuple(f["R0"][:, k]), anchor_b=tuple(f["q"]))
        )  # fmt: skip

    def add_JointSpherical(self, number: int, item: Item) -> None:
        """A ball; its rates are those of B in the axes of B."""
        A, B, f, _ = self.frames(item)
        left = [k for k in range(3) if not item["constrainedAxes"][k]]
        if len(left) == 1:
            self.add_point_on_line(number, A, B, f, left[0])
            return
        if A is None or B is None:
            pose = self.pose(B if A is None else A)
            rate = pose.R.T @ pose.omega
        else:
            rate = self.pose(B).R.T @ (self.pose(B).omega - self.pose(A).omega)
        if B is None:
            A, B, f = None, A, {"R0": f["R1"], "R1": f["R0"], "p": f["q"], "q": f["p"]}
        self.hold(number, Spherical, A, B, f, 2, v0=tuple(rate))

    def add_JointRevoluteZ(self, number: int, item: Item) -> None:
        """A hinge about z of marker 0."""
        A, B, f, rates = self.frames(item)
        self.hold(number, Revolute, A, B, f, 2, v0=rates(2)[0])

    add_JointRevolute2D = add_JointRevoluteZ

    def add_JointPrismatic2D(self, number: int, item: Item) -> None:
        """A slide along an axis of marker 0 in the plane; the turn is locked."""
        x0 = np.append(item["axisMarker0"], 0.0)[:3]
        y1 = np.append(item["normalMarker1"], 0.0)[:3]
        if not item["constrainRotation"]:
            raise InputError("a slide that turns has no counterpart")
        z = np.array([0.0, 0.0, 1.0])
        frames = {"rotationMarker0": np.column_stack([x0, np.cross(z, x0), z]), "rotationMarker1": np.column_stack([np.cross(y1, z), y1, z])}
        self.add_JointPrismaticX(number, {**item, **frames})

    def add_JointPrismaticX(self, number: int, item: Item) -> None:
        """A slide along x of marker 0."""
        A, B, f, rates = self.frames(item)
        self.hold(number, Prismatic, A, B, f, 0, v0=rates(0)[1])

    def add_JointRollingDisc(self, number: int, item: Item) -> None:
        """A disk that rolls on a plane of the ground."""
        A, B, f, _ = self.frames(item)
        self.system.add_joint(
            RollingDisk(f"joint {number}", self.name_of(A), self.name_of(B), radius=item["discRadius"], anchor_a=tuple(f["p"]),
                        axis_a=tuple(item["planeNormal"]), anchor_b=tuple(f["q"]), axis_b=tuple(item["discAxis"]))
        )  # fmt: skip

    def add_ConnectorDistance(self, number: int, item: Item) -> None:
        """A rod without mass."""
        A, B, f, _ = self.frames(item)
        self.system.add_joint(Rod(f"rod {number}", self.name_of(A), self.name_of(B), length=item["distance"],
                                  anchor_a=tuple(f["p"]), anchor_b=tuple(f["q"])))  # fmt: skip

    def add_ConnectorCoordinate(self, number: int, item: Item) -> None:
        """A coordinate of a node that stays where it is."""
        ends = [(self.body_of(m)[0], self.items["markers"][m]["coordinate"]) for m in item["markerNumbers"]]
        bodies = [(body, k) for body, k in ends if body is not None]
        if len(bodies) == 1 and item["offsetUserFunction"] and self.system.name == "ObjectConnectorCoordinate":
            body, k = bodies[0]
            self.drivers.append(Driver(f"drive {number}", f"free {body}", f"={item['offset']!r}*0.5*(1-cos(0.5*3.141592653589793*t))", freedom=k))
            return
        if len(bodies) != 1 or item["offset"] or item["velocityLevel"]:
            raise InputError("a constraint between two coordinates has no counterpart")
        self.driven.setdefault(bodies[0][0], set()).add(bodies[0][1])

    # --- forces

    def add_ConnectorSpringDamper(self, number: int, item: Item) -> None:
        """A spring and damper between two points; with a user function, the one of symbolicUserFunctionTest."""
        A, B, f, _ = self.frames(item)
        if item["springForceUserFunction"]:
            law = power_spring(item["stiffness"], 10 * item["damping"], 1.2, item["referenceLength"])
            self.system.add_force(UserForce(f"spring {number}", self.name_of(A), self.name_of(B), function=law,
                                            anchor_a=tuple(f["p"]), anchor_b=tuple(f["q"])))  # fmt: skip
            return
        self.system.add_force(
            PointSpring(f"spring {number}", self.name_of(A), self.name_of(B), anchor_a=tuple(f["p"]), anchor_b=tuple(f["q"]),
                        stiffness=item["stiffness"], damping=item["damping"], length=item["referenceLength"])
        )  # fmt: skip

    def add_ConnectorCartesianSpringDamper(self, number: int, item: Item) -> None:
        """Springs and dampers along the axes of the world, which are those of the ground or of a point mass."""
        A, B, f, _ = self.frames(item)
        self.cartesian(number, (A, f["p"]), (B, f["q"]), *(np.array(item[key], float) for key in ("stiffness", "damping", "offset")))

    def cartesian(self, number: int, a: Any, b: Any, K: np.ndarray, D: np.ndarray, offset: np.ndarray) -> None:
        """K (p_B − p_A − offset) in the axes of the end that does not turn."""
        if a[0] is not None and not self.items["objects"][a[0]]["objectType"].startswith("MassPoint"):
            a, b, offset = b, a, -offset
        if a[0] is not None and not self.items["objects"][a[0]]["objectType"].startswith("MassPoint"):
            self.system.add_force(
                UserForce(f"spring {number}", self.name_of(a[0]), self.name_of(b[0]), anchor_a=tuple(a[1]), anchor_b=tuple(b[1]),
                          function=along_the_world(K, D, offset))
            )  # fmt: skip
            return
        self.system.add_force(
            Bushing(f"spring {number}", self.name_of(a[0]), self.name_of(b[0]), anchor_a=tuple(a[1] + offset), anchor_b=tuple(b[1]),
                    stiffness=(0, 0, 0, *K), damping=(0, 0, 0, *D))
        )  # fmt: skip

    def add_ConnectorRigidBodySpringDamper(self, number: int, item: Item) -> None:
        """Springs and dampers in six directions of marker 0."""
        A, B, f, _ = self.frames(item)
        order = [3, 4, 5, 0, 1, 2]
        K, D = (np.array(item[key])[np.ix_(order, order)] for key in ("stiffness", "damping"))
        self.system.add_force(Bushing(f"bushing {number}", self.name_of(A), self.name_of(B), stiffness=K, damping=D,
                                      anchor_a=tuple(f["p"]), anchor_b=tuple(f["q"])))  # fmt: skip

    def add_ConnectorGravity(self, number: int, item: Item) -> None:
        """Newton's attraction of two points."""
        A, B, f, _ = self.frames(item)
        strength = item["gravitationalConstant"] * item["mass0"] * item["mass1"]
        self.system.add_force(UserForce(f"gravity {number}", self.name_of(A), self.name_of(B), function=attraction(strength),
                                        anchor_a=tuple(f["p"]), anchor_b=tuple(f["q"])))  # fmt: skip

    def add_ConnectorTorsionalSpringDamper(self, number: int, item: Item) -> None:
        """A spring and damper in the hinge between the same two bodies."""
        self.add_to_joint(number, item)

    add_ConnectorLinearSpringDamper = add_ConnectorTorsionalSpringDamper

    def add_to_joint(self, number: int, item: Item) -> None:
        """A spring and damper in the joint of one coordinate between the same two bodies."""
        joint = self.between[frozenset(self.body_of(m)[0] for m in item["markerNumbers"])]
        self.system.add_force(PositionActuator(f"spring {number}", joint, kp=item["stiffness"], kd=item["damping"]))

    def add_ConnectorCoordinateSpringDamper(self, number: int, item: Item) -> None:
        """A spring and damper between a coordinate and the ground, or two coordinates along one axis of the world."""
        ends = [(self.body_of(m)[0], self.items["markers"][m]["coordinate"]) for m in item["markerNumbers"]]
        bodies = [body for body, _ in ends if body is not None]
        if "1D" in self.items["objects"][bodies[0]]["objectType"]:
            if len(bodies) != 1:
                raise InputError("a spring between two masses in one dimension has no counterpart")
            self.system.add_force(
                PositionActuator(f"spring {number}", f"axis {bodies[0]}", kp=item["stiffness"], kd=item["damping"])
            )
            return
        if item["springForceUserFunction"]:
            self.cubic.append((bodies[0], next(k for body, k in ends if body is not None), item["stiffness"], item["damping"]))
            return
        along = np.eye(3)[next(k for body, k in ends if body is not None)]
        (A, _), (B, _) = (self.body_of(m) for m in item["markerNumbers"])
        references = [np.zeros(3) if body is None else self.reference(body) for body in (A, B)]
        offset = references[1] - references[0] + item["offset"] * along
        self.cartesian(number, (A, np.zeros(3)), (B, np.zeros(3)), item["stiffness"] * along, item["damping"] * along, offset)

    def reference(self, body: int) -> np.ndarray:
        """Where a body's coordinates count from."""
        q = self.items["nodes"][self.items["objects"][body]["nodeNumber"]]["referenceCoordinates"]
        return np.append(q, np.zeros(3))[:3] if len(q) > 2 else np.append(q[:2], 0.0)

    # --- loads

    def load_MassProportional(self, k: int, load: Item) -> None:
        """Weight, at the centre of mass."""
        body, com = self.body_of(load["markerNumber"])
        if body is None:
            return
        weight = np.array(load["loadVector"]) * self.items["objects"][body]["physicsMass"]
        self.system.add_force(AppliedForce(f"load {k}", self.bodies[body], tuple(weight), anchor=tuple(com)))

    def load_ForceVector(self, k: int, load: Item) -> None:
        """A force at a marker."""
        body, point = self.body_of(load["markerNumber"])
        frame = "body" if load["bodyFixed"] else "world"
        force = tuple(self.timed(load, "loadVectorUserFunction", x) for x in load["loadVector"])
        self.system.add_force(AppliedForce(f"load {k}", self.name_of(body), force, expressed_in=frame, anchor=tuple(point)))

    def load_TorqueVector(self, k: int, load: Item) -> None:
        """A torque on the body of a marker."""
        body, _ = self.body_of(load["markerNumber"])
        if body is None:
            return
        frame = "body" if load["bodyFixed"] else "world"
        self.system.add_force(AppliedForce(f"load {k}", self.bodies[body], torque=tuple(load["loadVector"]), expressed_in=frame))

    def load_Coordinate(self, k: int, load: Item) -> None:
        """A force along a coordinate of a node."""
        marker = self.items["markers"][load["markerNumber"]]
        body, _ = self.body_of(load["markerNumber"])
        if body is None:
            return
        if "1D" in self.items["objects"][body]["objectType"]:
            self.system.add_force(JointForce(f"load {k}", f"axis {body}", load["load"]))
            return
        force: list[Any] = [0.0, 0.0, 0.0]
        force[marker["coordinate"]] = self.timed(load, "loadUserFunction", load["load"])
        self.system.add_force(AppliedForce(f"load {k}", self.bodies[body], tuple(force)))

    def timed(self, load: Item, key: str, size: float) -> Any:
        """A load, over time where the model gives a user function: that function, in our words."""
        if not load[key]:
            return size
        name = self.system.name
        if name not in OVER_TIME:
            raise InputError(f"the user function of a load in {name} has no counterpart")
        return f"={size!r}*{OVER_TIME[name]}" if size else 0.0

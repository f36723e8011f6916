"""A description of ours from the parameters of Exudyn's items: bodies at their initial pose, joints by their two frames.

    joint rates  of the described motion: what the axis of a joint feels of (ω_B − ω_A, v_B − v_A) at the joint's point
    point mass   keeps its orientation: a Cartesian joint, whose body has an inertia that nothing feels

A marker is a point of a body with the body's axes. Joints lock axes of marker 0, turned by rotationMarker0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces import AppliedForce, Bushing, JointForce, PointSpring, PositionActuator, UserForce, UserJointForce
from nexdyn.joints import (
    Cylindrical,
    Fixed,
    PointOnLine,
    Prismatic,
    Revolute,
    Rod,
    RollingDisk,
    Spherical,
    Universal,
)
from nexdyn.model.driver import Driver
from nexdyn.model.system import System
from nexdyn.problems.against.exudyn_bodies import Bodies
from nexdyn.problems.against.exudyn_poses import (
    Item,
    along_the_world,
    attraction,
    cubic_spring,
    power_spring,
)

OVER_TIME = {
    "symbolicUserFunctionTest": "sin(20*pi*t)",
    "springDamperUserFunctionTest": "sin(2*pi*(0.5*sqrt(4000/1.6)/(2*pi)/50*t)*t)",
}
"""What the user functions of loads multiply them by."""


class Builder(Bodies):
    """Describes a model item by item: bodies, then joints and forces, then what holds bodies that nothing holds, then loads."""

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

    def hold(
        self, number: int, kind: Any, A: int | None, B: int | None, f: dict[str, Any], k: int, **options: Any
    ) -> None:
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
            frames |= {
                "axis_a": tuple(Rp[:, k]),
                "reference_a": tuple(Rp[:, x]),
                "axis_b": tuple(Rq[:, k]),
                "reference_b": tuple(Rq[:, x]),
            }
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
        axes = {
            "axis_a": f["R0"][:, 0],
            "reference_a": f["R0"][:, 1],
            "axis_b": f["R1"][:, 0],
            "reference_b": f["R1"][:, 1],
        }
        frames: dict[str, Any] = {key: tuple(axis) for key, axis in axes.items()}
        self.system.add_joint(
            Universal(f"joint {number}", self.name_of(A), self.name_of(B), anchor_a=tuple(f["p"]), anchor_b=tuple(f["q"]),
                      **frames)
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
        frames = {
            "rotationMarker0": np.column_stack([x0, np.cross(z, x0), z]),
            "rotationMarker1": np.column_stack([np.cross(y1, z), y1, z]),
        }
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
            self.drivers.append(
                Driver(
                    f"drive {number}",
                    f"free {body}",
                    f"={item['offset']!r}*0.5*(1-cos(0.5*3.141592653589793*t))",
                    freedom=k,
                )
            )
            return
        if len(bodies) != 1 or item["offset"] or item["velocityLevel"]:
            raise InputError("a constraint between two coordinates has no counterpart")
        self.driven.setdefault(bodies[0][0], set()).add(bodies[0][1])

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
        self.cartesian(
            number,
            (A, f["p"]),
            (B, f["q"]),
            *(np.array(item[key], float) for key in ("stiffness", "damping", "offset")),
        )

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
            self.cubic.append(
                (bodies[0], next(k for body, k in ends if body is not None), item["stiffness"], item["damping"])
            )
            return
        along = np.eye(3)[next(k for body, k in ends if body is not None)]
        (A, _), (B, _) = (self.body_of(m) for m in item["markerNumbers"])
        references = [np.zeros(3) if body is None else self.reference(body) for body in (A, B)]
        offset = references[1] - references[0] + item["offset"] * along
        self.cartesian(
            number, (A, np.zeros(3)), (B, np.zeros(3)), item["stiffness"] * along, item["damping"] * along, offset
        )

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
        self.system.add_force(
            AppliedForce(f"load {k}", self.name_of(body), force, expressed_in=frame, anchor=tuple(point))
        )

    def load_TorqueVector(self, k: int, load: Item) -> None:
        """A torque on the body of a marker."""
        body, _ = self.body_of(load["markerNumber"])
        if body is None:
            return
        frame = "body" if load["bodyFixed"] else "world"
        self.system.add_force(
            AppliedForce(f"load {k}", self.bodies[body], torque=tuple(load["loadVector"]), expressed_in=frame)
        )

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

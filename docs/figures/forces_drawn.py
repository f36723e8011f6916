"""Every force, in a motion that it makes."""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from stages import AXIS, CHILD, add_child, ball, dots, plate, stage

import nexdyn as nx


def pair(name: str, joint: str = "prismatic", q0: float = 0.25) -> tuple[nx.System, nx.Body]:
    """A bar on a slide or a hinge, for a force to move."""
    system, stand = stage(name)
    child = add_child(system, at=(0, 0, 0.1))
    cls = {"prismatic": nx.Prismatic, "revolute": nx.Revolute}[joint]
    system.add_joint(cls("joint", stand, child, at=(0, 0, 0.1), axis=(0, 0, 1), q0=q0))
    return system, child


def applied_force() -> nx.System:
    system, child = pair("applied_force", "revolute", -0.8)
    system.add_force(nx.AppliedForce("force", child, force=(0, 1.2, 0), at=(0.4, 0, 0.1)))
    return system


def joint_force() -> nx.System:
    system, _ = pair("joint_force", "revolute", -0.8)
    system.add_force(nx.JointForce("force", "joint", "=0.6*sin(2*pi*t)"))
    return system


def point_spring() -> nx.System:
    system, child = pair("point_spring")
    system.add_force(nx.PointSpring("force", child, "stand", anchor_b=(0, 0, -0.2), stiffness=20.0, length=0.3))
    return system


def torsion_spring() -> nx.System:
    system, child = pair("torsion_spring", "revolute", 1.2)
    system.add_force(nx.TorsionSpring("force", "stand", child, stiffness=0.6))
    return system


def bushing() -> nx.System:
    system, _ = stage("bushing")
    child = add_child(system, at=(0.12, 0.1, 0.25))
    system.add_force(
        nx.Bushing("force", "stand", child, anchor_a=(0, 0, 0), anchor_b=(0, 0, 0), stiffness=(0.3, 0.3, 0.3, 15, 15, 15),
                   damping=(0.01, 0.01, 0.01, 0.5, 0.5, 0.5))
    )  # fmt: skip
    return system


def force_table() -> nx.System:
    system, child = pair("force_table")
    system.add_force(
        nx.ForceTable("force", child, "stand", anchor_b=(0, 0, -0.2), deflections=(-0.3, 0.0, 0.3), forces=(-4.0, 0.0, 8.0),
                      rest=0.3)
    )  # fmt: skip
    return system


def point_gravity() -> nx.System:
    system, stand = plate("point_gravity", 0.9)
    child = ball(system, (0.4, -0.1, -0.14))
    system.add_joint(nx.Planar("plane", stand, child, at=(0.4, -0.1, -0.14), v0=(0.0, 1.0, 0.0)))
    system.add_force(nx.PointGravity("force", child, mu=0.5, at=(0, 0, -0.14)))
    return system


@numba.njit
def pulled_back(t: float, x: np.ndarray, out: np.ndarray) -> None:
    """To the axis, the more the farther from it."""
    out[0], out[1] = -14.0 * x[0], -14.0 * x[1]


def gravity_field() -> nx.System:
    system, stand = plate("gravity_field", 0.9)
    child = ball(system, (0.4, -0.1, -0.14))
    system.add_joint(nx.Planar("plane", stand, child, at=(0.4, -0.1, -0.14), v0=(0.0, 1.0, 0.0)))
    system.add_force(nx.GravityField("force", child, function=pulled_back))
    return system


@numba.njit
def whirl(t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """To the axis, and round it."""
    out[:] = 0.0
    out[3], out[4] = -14.0 * A[0] - 3.0 * A[1], -14.0 * A[1] + 3.0 * A[0]


def user_force() -> nx.System:
    system, stand = plate("user_force", 0.9)
    child = ball(system, (0.4, -0.1, -0.14))
    system.add_joint(nx.Planar("plane", stand, child, at=(0.4, -0.1, -0.14), v0=(0.0, 1.0, 0.0)))
    system.add_force(nx.UserForce("force", child, "stand", function=whirl))
    return system


@numba.njit
def winding(t: float, q: float, v: float) -> float:
    """A spring that hardens, and air."""
    return -0.3 * q**3 - 0.02 * v


def user_joint_force() -> nx.System:
    system, _ = pair("user_joint_force", "revolute", -1.4)
    system.add_force(nx.UserJointForce("force", "joint", winding))
    return system


def aimed(name: str, angle: float, q0: float = -1.0) -> nx.System:
    """A bar on a hinge, and a row of dots where it is to go."""
    row = np.linspace(0.25, 0.5, 6)
    system, stand = stage(name, shown=dots(np.stack([row * np.cos(angle), row * np.sin(angle), 0 * row + 0.2], axis=1)))
    child = add_child(system, at=(0, 0, 0.1))
    system.add_joint(nx.Revolute("joint", stand, child, at=(0, 0, 0.1), axis=(0, 0, 1), reference=(1, 0, 0), q0=q0))
    return system


def position_actuator() -> nx.System:
    system = aimed("position_actuator", 0.9)
    system.add_force(nx.PositionActuator("force", "joint", kp=5.0, kd=1.0, target=0.9))
    return system


def velocity_actuator() -> nx.System:
    system, _ = pair("velocity_actuator", "revolute", -1.0)
    system.add_force(nx.VelocityActuator("force", "joint", kv=2.0, target=4.0))
    return system


def torque_actuator() -> nx.System:
    system, _ = pair("torque_actuator", "revolute", -1.0)
    system.add_force(nx.TorqueActuator("force", "joint", target="=2*cos(2*pi*t)", effort_limit=1.2))
    return system


@numba.njit
def bang(t: float, q: float, v: float) -> float:
    """Full effort forth, then back, as time-optimal control has it."""
    return 1.0 if q + v * abs(v) * 0.05 < 0.9 else -1.0


def controller() -> nx.System:
    system = aimed("controller", 0.9)
    system.add_force(nx.Controller("force", "joint", function=bang, sample_time=0.02))
    return system


def joint_stop() -> nx.System:
    system, stand = stage("joint_stop", shown=[nx.Box((0.05, 0.05, 0.3), position=(0.3, 0.12, -0.05), color=AXIS)])
    child = add_child(system, at=(0, 0, 0))
    system.add_joint(
        nx.Revolute("joint", stand, child, at=(0, 0, 0), axis=(0, 0, 1), q0=-1.2, v0=5.0, limits=(-2.0, 0.0))
    )
    system.add_force(nx.JointStop("force", "joint", stiffness=500.0, restitution=0.6, impact_speed=5.0))
    return system


def joint_friction() -> nx.System:
    system, _ = pair("joint_friction", "revolute", -1.2)
    system.add_force(nx.JointFriction("force", "joint", sliding=0.6, static=0.7, stiffness=300.0, damping=3.0))
    system.add_force(nx.JointForce("motor", "joint", nx.StepChange(0.25, 2.0, 0.0)))
    return system


def plane_contact() -> nx.System:
    system, _ = plate("plane_contact")
    child = system.add_body(
        "child", mass=1.0, inertia=(0.004, 0.004, 0.004), position=(-0.4, -0.1, 0.25),
        shapes=[nx.Sphere(0.1, color=CHILD), nx.Cylinder(radius=0.025, length=0.22, color=(0.95, 0.95, 0.95, 1.0))],
    )  # fmt: skip
    system.add_joint(nx.Free("flight", system.ground, child, v0=(0, 0, 0, 1.1, 0, 0)))
    system.add_force(
        nx.PlaneContact("force", child, "stand", radius=0.1, anchor_b=(0, 0, -0.2), stiffness=2e4, restitution=0.8,
                        impact_speed=2.5, friction=0.4)
    )  # fmt: skip
    return system


def sphere_contact() -> nx.System:
    system, _ = plate("sphere_contact")
    for name, centre, v in (("child", (-0.4, -0.08, 0.0), 1.6), ("other", (0.1, 0.0, 0.0), 0.0)):
        system.add_body(
            name, mass=1.0, inertia=(0.004, 0.004, 0.004), position=centre,
            shapes=[nx.Sphere(0.1, color=CHILD if name == "child" else (0.95, 0.95, 0.95, 1.0))],
        )  # fmt: skip
        slide = nx.Planar(f"slide {name}", system.ground, name, axis=(0, 0, 1), v0=(v, 0, 0))
        system.add_joint(slide)
    system.add_force(
        nx.SphereContact("force", "child", "other", radius_a=0.1, radius_b=0.1, stiffness=1e5, restitution=0.9,
                         impact_speed=1.6, friction=0.2)
    )  # fmt: skip
    return system


FORCES: dict[str, Callable[[], nx.System]] = {
    make.__name__: make
    for make in (
        applied_force, joint_force, point_spring, torsion_spring, bushing, force_table, user_force, user_joint_force,
        position_actuator, velocity_actuator, torque_actuator, controller, joint_stop, joint_friction, plane_contact,
        sphere_contact, point_gravity, gravity_field,
    )
}  # fmt: skip

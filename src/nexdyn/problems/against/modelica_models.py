"""Examples of Modelica's MultiBody library and of ModelicaTest, described with `modelica_parts`; what acts on no signal is left out.

Starts are those of the examples: angles and lengths that the examples leave to the solver are computed here from the geometry.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nexdyn.problems.against.modelica_parts import EYE, Frame, G, Parts, Vector, turned

MODELS: dict[str, tuple[str, Callable[[], Parts]]] = {}
"""By path in the library: title and description."""
LOOPS: set[str] = set()
"""Those with closed loops."""
ELEMENTARY = "Modelica/Mechanics/MultiBody/Examples/Elementary"
CONSTRAINTS = "Modelica/Mechanics/MultiBody/Examples/Constraints"
EXAMPLE_LOOPS = "Modelica/Mechanics/MultiBody/Examples/Loops"
EFFECTS = "Modelica/Mechanics/MultiBody/Examples/Rotational3DEffects"
TEST = "ModelicaTest/MultiBody"
TEN_DEGREES = 0.174532925199433
QUARTER = np.pi / 4


def model(path: str, title: str, loop: bool = False) -> Callable[[Callable[[], Parts]], Callable[[], Parts]]:
    """Register a description by its path."""

    def register(build: Callable[[], Parts]) -> Callable[[], Parts]:
        MODELS[path] = (title, build)
        if loop:
            LOOPS.add(path)
        return build

    return register


# --- Examples.Elementary --------------------------------------------------------------------------------------------


@model(f"{ELEMENTARY}/Pendulum", "pendulum with a damper")
def pendulum() -> Parts:
    m = Parts("Pendulum")
    m.body(m.revolute("rev", m.world, damping=0.1), 1.0, (0.5, 0, 0))
    return m


def double(phi1: float = 0.0, phi2: float = 0.0) -> Parts:
    """Two boxes on hinges about z, the first damped."""
    m = Parts("DoublePendulum")
    tip = m.box(m.revolute("revolute1", m.world, phi=phi1, damping=0.1), (0.5, 0, 0), 0.06)
    m.box(m.revolute("revolute2", tip, phi=phi2), (0.5, 0, 0), 0.06)
    return m


@model(f"{ELEMENTARY}/DoublePendulum", "double pendulum")
def double_pendulum() -> Parts:
    return double()


def tip_angles() -> np.ndarray:
    """Angles (2,) that put the tip at (0.7, 0.3) m."""
    # |tip|² = 2 a² (1 + cos φ₂),  a = 0.5;  φ₁ = arg(tip) − φ₂/2
    phi2 = float(np.arccos((0.7**2 + 0.3**2) / 0.5 - 1))
    return np.array([np.arctan2(0.3, 0.7) - phi2 / 2, phi2])


@model(f"{ELEMENTARY}/DoublePendulumInitTip", "double pendulum that starts from the place of its tip")
def double_pendulum_from_tip() -> Parts:
    return double(*tip_angles().tolist())


@model(f"{ELEMENTARY}/ForceAndTorque", "force and torque in turned axes")
def force_and_torque() -> Parts:
    m = Parts("ForceAndTorque")
    body = m.revolute("revolute2", m.revolute("revolute1", m.fixed(m.world, (0, -0.5, 0))), n=(0, 1, 0))
    R = turned((0, 0, 1), 30)
    m.load("load", m.cylinder(body, (1, 0, 0)), R @ (0, 1000, 0), R @ (-100, 100, 0))
    return m


def between_springs(name: str, r: Vector, angles: Vector, torque: Vector = (0, 0, 0), watched: str = "body") -> Parts:
    """A free body on two springs of no length."""
    m = Parts(name)
    body = m.free("link", r, angles=angles)
    m.body(body, 1.0, (0.2, 0, 0), (1, 1, 1))
    m.spring("spring1", m.world, body, 20.0)
    m.spring("spring2", m.fixed(m.world, (0.8, 0, 0)), m.fixed(body, (0.4, 0, 0)), 20.0)
    if any(torque):
        m.load("load", body, torque=torque, within="body")
    m.watch(watched, body)
    return m


@model(f"{ELEMENTARY}/FreeBody", "free body on two springs")
def free_body() -> Parts:
    return between_springs("FreeBody", (0.2, -0.5, 0.1), (TEN_DEGREES,) * 3)


@model(f"{TEST}/Frames/AngularVelocity", "free body on two springs under a torque in its axes")
def angular_velocity() -> Parts:
    return between_springs("AngularVelocity", (0.2, -0.5, 0.1), (TEN_DEGREES,) * 3, (10.0, 0, 0))


@model(f"{TEST}/Parts/BodyShape", "free body on two springs, its motion as a joint's")
def body_shape() -> Parts:
    return between_springs("BodyShape", (0.2, -0.5, 0.1), (0, 0, 0), watched="freeMotion")


def spring_constant(name: str) -> Parts:
    """A bar that a spring holds still: c δ · 1 m = m g · 0.5 m, δ = 0.1 m."""
    m = Parts(name)
    body = m.revolute("rev", m.world, damping=0.1)
    m.body(body, 1.0, (0.5, 0, 0))
    m.spring("spring", m.fixed(m.world, (1, 0.2, 0)), m.fixed(body, (1, 0, 0)), 0.5 * G / 0.1, 0.1)
    return m


@model(f"{ELEMENTARY}/InitSpringConstant", "bar in equilibrium on a spring")
def init_spring_constant() -> Parts:
    return spring_constant("InitSpringConstant")


@model(f"{TEST}/Joints/RevoluteInitialization", "bar in equilibrium on a spring")
def revolute_initialization() -> Parts:
    return spring_constant("RevoluteInitialization")


@model(f"{ELEMENTARY}/PendulumWithSpringDamper", "sliding pendulum on a spring and damper")
def pendulum_with_spring_damper() -> Parts:
    m = Parts("PendulumWithSpringDamper")
    bar = m.fixed(m.world, (0.3, 0, 0))
    body = m.prismatic("prismatic", m.revolute("revolute", bar), s=0.5)
    m.body(body, 1.0, inertia=(1, 1, 1))
    m.spring("spring1", bar, body, 20.0, 0.2, 1.0)
    return m


@model(f"{ELEMENTARY}/SpringDamperSystem", "free body and slide on springs")
def spring_damper_system() -> Parts:
    m = Parts("SpringDamperSystem")
    bar1, bar2 = m.fixed(m.world, (0.3, 0, 0)), m.fixed(m.world, (0.6, 0, 0))
    body1 = m.free("link", (0.3, -0.2, 0), w=(0, 0, 0.03490658503988659))
    m.body(body1, 1.0, (0, -0.2, 0), (0.1, 0.1, 0.1))
    body2 = m.body(m.prismatic("p2", bar2, (0, -1, 0), 0.1), 1.0)
    m.spring("spring1", bar1, body1, 30.0, 0.1, 2.0)
    m.spring("spring2", bar2, body2, 30.0, 0.1)
    m.watch("body1", body1)
    return m


@model(f"{ELEMENTARY}/SpringMassSystem", "two slides on springs")
def spring_mass_system() -> Parts:
    m = Parts("SpringMassSystem")
    bars = (m.fixed(m.world, (0.3, 0, 0)), m.fixed(m.world, (0.6, 0, 0)))
    for i, bar in enumerate(bars, 1):
        m.spring(f"spring{i}", bar, m.body(m.prismatic(f"p{i}", bar, (0, -1, 0), 0.1), 1.0), 30.0, 0.1)
    return m


# --- Examples.Constraints -------------------------------------------------------------------------------------------

ANGLES = ((1, 0, 0), 10.0), ((0, 1, 0), 55.0), ((0, 0, 1), 68.0)


def tilted(m: Parts) -> Frame:
    """The frame of the examples of constraints."""
    R = EYE
    for n, angle in ANGLES:
        R = R @ turned(n, angle)
    return m.fixed(m.world, (0.2, -0.3, 0.2), R)


def pulled(name: str, hold: Callable[[Parts, Frame], Frame], end: Vector = (0.4, 0, 0)) -> Parts:
    """A body on a joint at the tilted frame, on a spring of no length."""
    m = Parts(name)
    body = hold(m, tilted(m))
    m.body(body, 1.0, (0.2, 0, 0), (1, 1, 1))
    m.spring("spring", m.fixed(m.world, (0.8, 0, 0.3)), m.fixed(body, end), 20.0)
    m.watch("bodyOfConstraint", body)
    return m


@model(f"{CONSTRAINTS}/RevoluteConstraint", "hinge in tilted axes")
def revolute_constraint() -> Parts:
    m = pulled("RevoluteConstraint", lambda m, a: m.revolute("joint", a, (0, 1, 0)))
    m.signals["freeMotionScalarInit.angle_2"] = m.signals["joint.phi"]
    return m


@model(f"{CONSTRAINTS}/SphericalConstraint", "ball in tilted axes")
def spherical_constraint() -> Parts:
    return pulled("SphericalConstraint", lambda m, a: m.spherical("joint", a))


@model(f"{CONSTRAINTS}/UniversalConstraint", "universal joint in tilted axes")
def universal_constraint() -> Parts:
    return pulled("UniversalConstraint", lambda m, a: m.universal("joint", a, (0, 0, 1), (1, 0, 0)), (0.5, 0.15, 0.2))


@model(f"{CONSTRAINTS}/PrismaticConstraint", "two slides in a row in tilted axes")
def prismatic_constraint() -> Parts:
    return pulled(
        "PrismaticConstraint",
        lambda m, a: m.prismatic("jointPrismatic_y", m.prismatic("jointPrismatic_x", a), (0, 1, 0)),
    )


# --- ModelicaTest: joints -------------------------------------------------------------------------------------------


def joint_alone(name: str, hold: Callable[[Parts], Frame], r_CM: Vector = (0, 0, 0), watched: str = "body") -> Parts:
    """A body of 1 kg on one joint."""
    m = Parts(name)
    body = m.body(hold(m), 1.0, r_CM)
    m.watch(watched, body)
    return m


@model(f"{TEST}/Joints/Revolute", "hinge through the centre")
def revolute() -> Parts:
    return joint_alone("Revolute", lambda m: m.revolute("revolute", m.world, phi=QUARTER))


@model(f"{TEST}/Joints/Prismatic", "slide along x = y")
def prismatic() -> Parts:
    return joint_alone("Prismatic", lambda m: m.prismatic("prismatic", m.world, (1, 1, 0), 0.3))


@model(f"{TEST}/Joints/PrismaticInit", "slide in equilibrium on a spring")
def prismatic_init() -> Parts:
    # slide along n = (1, −1)/√2 from 0.3 m; spring from (√0.045, 0): c (L − 0.1) = m g, as both stand at 45° to the force
    m = Parts("PrismaticInit")
    top = m.fixed(m.world, (np.sqrt(0.045), 0, 0))
    body = m.body(m.prismatic("prismatic", m.world, (1, -1, 0), 0.3), 1.0)
    length = np.sqrt(0.045)
    m.spring("spring", top, body, G / (length - 0.1), 0.1)
    return m


@model(f"{TEST}/Joints/Cylindrical", "cylindrical joint across gravity")
def cylindrical() -> Parts:
    return joint_alone("Cylindrical", lambda m: m.cylindrical("cylindrical", m.world, (0, 0, 1), QUARTER, 0.3))


@model(f"{TEST}/Joints/Universal", "universal joint")
def universal() -> Parts:
    return joint_alone(
        "Universal",
        lambda m: m.universal("universal", m.world, (0, 0, 1), (0, 1, 0), (np.pi / 2, QUARTER)),
        (0.5, 0, 0),
    )


@model(f"{TEST}/Joints/CheckConstaintTorqueUniversalJoint", "universal joint under a torque")
def universal_under_torque() -> Parts:
    m = Parts("CheckConstaintTorqueUniversalJoint")
    body = m.universal("universal", m.world)
    m.cylinder(body, (1, 0, 0))
    m.load("torque", body, torque=(2, 3, 4))
    return m


@model(f"{TEST}/Joints/Planar", "planar joint in a vertical plane's rest")
def planar() -> Parts:
    return joint_alone("Planar", lambda m: m.planar("planar", m.world, (0, 1, 0), (0, 0, 1), (0.5, 0.5), QUARTER))


@model(f"{TEST}/Joints/Spherical", "ball through the centre")
def spherical() -> Parts:
    return joint_alone("Spherical", lambda m: m.spherical("spherical", m.world, (QUARTER,) * 3))


@model(f"{TEST}/Joints/FreeMotion", "falling body")
def free_motion() -> Parts:
    return joint_alone(
        "FreeMotion", lambda m: m.free("link", (0.5, 0.4, 0), angles=(QUARTER,) * 3), watched="freeMotion"
    )


def falling(name: str) -> Parts:
    """A falling body by the names of its scalar coordinates."""
    return joint_alone(
        name, lambda m: m.free("link", (0.5, 0.4, 0), angles=(QUARTER,) * 3), watched="freeMotionScalarInit"
    )


@model(f"{TEST}/Joints/FreeMotionScalarInit", "falling body, angles as states")
def free_motion_scalar() -> Parts:
    return falling("FreeMotionScalarInit")


@model(f"{TEST}/Joints/FreeMotionScalarInit2", "falling body, angular velocity as states")
def free_motion_scalar2() -> Parts:
    return falling("FreeMotionScalarInit2")


@model(f"{TEST}/Joints/FreeMotionScalarInit5", "falling body, two halves of a joint")
def free_motion_scalar5() -> Parts:
    return joint_alone(
        "FreeMotionScalarInit5",
        lambda m: m.free("link", (0.5, 0.4, 0), angles=(QUARTER,) * 3),
        watched="freeMotionScalarInit1",
    )


@model(f"{TEST}/Joints/Revolute2", "hinges in a row with a damper, and one that turns freely")
def revolute2() -> Parts:
    m = Parts("Revolute2")
    m.body(m.revolute("revolute", m.world, phi=QUARTER, w=2.0), 1.0, inertia=(0.1, 0.1, 0.1))
    return m


# --- ModelicaTest: parts --------------------------------------------------------------------------------------------


@model(f"{TEST}/Parts/PointMass", "point mass on a hinge")
def point_mass() -> Parts:
    m = Parts("PointMass")
    m.body(m.revolute("rev", m.world), 5.0, (1, 0, 0), (0, 0, 0))
    return m


@model(f"{TEST}/SphericalDoublePendulum", "two boxes on balls")
def spherical_double_pendulum() -> Parts:
    m = Parts("SphericalDoublePendulum")
    first = m.spherical("Spherical5", m.world, w_rel_a=(0.05235987755982989, 0.03490658503988659, 0.0174532925199433))
    second = m.spherical("Spherical6", m.box(first, (0.4, 0, -0.3), 0.06))
    m.box(second, (0.3, -0.4, 0), 0.06)
    m.watch("boxBody5", first)
    m.watch("boxBody6", second)
    return m


@model(f"{EFFECTS}/GyroscopicEffects", "spinning cylinder on a ball")
def gyroscopic_effects() -> Parts:
    m = Parts("GyroscopicEffects")
    arm = m.spherical("spherical1", m.world)
    end = m.fixed(m.cylinder(arm, (0.25, 0, 0), 0.05), R=turned((0, 1, 0), 45))
    rotor = m.fixed(m.revolute("revolute", end, (1, 0, 0), w=10.0), (-0.1, 0, 0))
    m.cylinder(rotor, (0.2, 0, 0), 0.1)
    m.watch("bodyCylinder2", rotor)
    m.watch("bodyCylinder3", arm)
    return m


@model(f"{TEST}/Parts/Rotor1D/Rotor1D_1", "spinning cylinder on a ball, slower")
def rotor() -> Parts:
    m = Parts("Rotor1D_1")
    arm = m.spherical("spherical1", m.world)
    end = m.fixed(m.cylinder(arm, (0.25, 0, 0), 0.05), R=turned((0, 1, 0), 45))
    turning = m.fixed(m.revolute("revolute", end, (1, 0, 0), w=8.726646259971648), (-0.1, 0, 0))
    m.cylinder(turning, (0.2, 0, 0), 0.1)
    m.watch("bodyCylinder2", turning)
    return m

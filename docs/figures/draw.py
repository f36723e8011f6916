"""The pictures of the modelling guide, drawn by NexDyn itself: `python docs/figures/draw.py [NAME …]` writes them beside this file
(all, or those named: revolute, rod, point_spring, functions).

Every joint, force, coupling and driver at three moments of a motion that it allows or makes; every function of time over time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
import numpy as np

import nexdyn as nx
from nexdyn.results.atomic import written
from nexdyn.view.motion import Motion
from nexdyn.view.stills import Shot, Studio

HERE = Path(__file__).parent
STAND, CHILD, AXIS = (0.72, 0.72, 0.75, 1.0), (0.12, 0.42, 0.75, 1.0), (0.13, 0.6, 0.3, 1.0)
TILTED = (1.0, 0.0, -0.4)


def stage(name: str, gravity: bool = False, shown: Iterable[nx.Shape] = ()) -> tuple[nx.System, nx.Body]:
    """A stand that is welded to the ground, with a green rod along the joint's axis z, and what else is to be seen on it."""
    system = nx.System(name, gravity=(0, 0, -9.81 if gravity else 0))
    stand = system.add_body(
        "stand", mass=1.0, inertia=(0.1, 0.1, 0.1),
        shapes=[
            nx.Box((0.5, 0.5, 0.06), position=(0, 0, -0.23), color=STAND),
            nx.Cylinder(radius=0.012, length=0.9, position=(0, 0, 0.1), color=AXIS),
            *shown,
        ],
    )  # fmt: skip
    system.add_joint(nx.Fixed("weld", system.ground, stand))
    return system, stand


def add_child(
    system: nx.System, at: Any = (0, 0, 0), size: Any = (0.5, 0.14, 0.14), shift: Any = (0.18, 0, 0)
) -> nx.Body:
    """A blue bar with a white end, so that its turning shows."""
    end = np.asarray(shift) + np.array([size[0] / 2 - 0.04, 0, 0])
    return system.add_body(
        "child", mass=1.0, inertia=(0.02, 0.03, 0.03), position=at,
        shapes=[
            nx.Box((size[0] - 0.08, size[1], size[2]), position=shift - np.array([0.04, 0, 0]), color=CHILD),
            nx.Box((0.08, size[1], size[2]), position=end, color=(0.95, 0.95, 0.95, 1.0)),
        ],
    )  # fmt: skip


# --- joints ---------------------------------------------------------------------------------------------------------

FREEDOMS: dict[str, tuple[type[nx.Joint], Any, dict[str, Any]]] = {
    "fixed": (nx.Fixed, (), {}),
    "revolute": (nx.Revolute, (1.6,), {}),
    "prismatic": (nx.Prismatic, (0.4,), {}),
    "helical": (nx.Helical, (3.0,), {"pitch": 0.12}),
    "cylindrical": (nx.Cylindrical, (1.6, 0.3), {}),
    "universal": (nx.Universal, (0.9, 0.7), {}),
    "planar": (nx.Planar, (0.3, 0.3, 1.2), {}),
    "cartesian": (nx.Cartesian, (0.3, 0.25, 0.35), {}),
    "spherical": (nx.Spherical, (0.7, 0.6, 1.0), {}),
    "free": (nx.Free, (0.8, 0.5, 0.9, 0.3, 0.2, 0.3), {}),
}  # fmt: skip


def with_freedoms(kind: str) -> nx.Result:
    """A joint with coordinates, moving in all its freedoms at once."""
    cls, v0, options = FREEDOMS[kind]
    system, stand = stage(kind)
    child = add_child(system)
    parent = system.ground if kind == "free" else stand
    start = {"v0": v0} if v0 else {}
    system.add_joint(cls("joint", parent, child, **({} if kind == "free" else {"at": (0, 0, 0)}), **options, **start))
    return nx.simulate(system, 1.0, nx.RungeKutta4(1e-2))


def ball(system: nx.System, at: Any) -> nx.Body:
    """A small body that shows where its point is."""
    return system.add_body(
        "child", mass=1.0, inertia=(0.01, 0.01, 0.01), position=at,
        shapes=[nx.Sphere(0.06, color=CHILD), nx.Box((0.2, 0.05, 0.05), position=(0.1, 0, 0), color=CHILD)],
    )  # fmt: skip


def dots(points: Any, radius: float = 0.012) -> list[nx.Shape]:
    """A curve or a surface as what is strewn on it."""
    return [nx.Sphere(radius, position=p, color=AXIS) for p in points]


def point_on_line() -> nx.System:
    system, stand = stage("point_on_line")
    child = ball(system, (0, 0, 0.4))
    system.add_joint(nx.PointOnLine("joint", stand, child, at=(0, 0, 0.4), axis=(0, 0, 1)))
    system.add_force(nx.AppliedForce("push", child, force=(0, 0, -0.9), torque=(0.01, 0.02, 0.02)))
    return system


def point_on_plane() -> nx.System:
    system, stand = stage("point_on_plane")
    child = ball(system, (-0.2, -0.1, -0.14))
    system.add_joint(nx.PointOnPlane("joint", stand, child, at=(-0.2, -0.1, -0.14), axis=(0, 0, 1)))
    system.add_force(nx.AppliedForce("push", child, force=(0.8, 0.4, -1.0), torque=(0.0, 0.01, 0.03)))
    return system


def parallel() -> nx.System:
    system, stand = stage("parallel")
    child = add_child(system, at=(-0.2, -0.2, 0.1))
    system.add_joint(nx.Parallel("joint", stand, child, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_force(nx.AppliedForce("push", child, force=(0.6, 0.5, 0.4), torque=(0, 0, 0.08)))
    return system


def perpendicular() -> nx.System:
    system, stand = stage("perpendicular")
    child = add_child(system, at=(-0.1, -0.2, 0.15))
    system.add_joint(nx.Perpendicular("joint", stand, child, axis_a=(0, 0, 1), axis_b=(1, 0, 0)))
    system.add_force(nx.AppliedForce("push", child, force=(0.5, 0.4, 0.3), torque=(0.06, 0, 0.08)))
    return system


def rod() -> nx.System:
    system, stand = stage("rod", gravity=True, shown=dots([(0, 0, 0.5)], 0.04))
    child = ball(system, (0.35, 0.0, 0.5))
    system.add_joint(nx.Rod("joint", stand, child, anchor_a=(0, 0, 0.5), anchor_b=(0, 0, 0)))
    return system


def point_on_curve() -> nx.System:
    s = np.linspace(0, 4 * np.pi, 120)
    system, stand = stage(
        "point_on_curve", True, dots(np.stack([0.3 * np.cos(s), 0.3 * np.sin(s), 0.4 - 0.05 * s], axis=1))
    )
    child = ball(system, (0.3, 0, 0.4))
    helix = nx.ExpressionCurve("=0.3*cos(s)", "=0.3*sin(s)", "=0.4-0.05*s", start=0, end="=4*pi")
    system.add_joint(nx.PointOnCurve("joint", stand, child, curve=helix))
    return system


def point_on_surface() -> nx.System:
    system, stand = stage("point_on_surface", True, [nx.Sphere(0.3, color=(0.8, 0.86, 0.8, 1.0))])
    child = ball(system, (0.3, 0.0, 0.2))
    system.add_joint(nx.PointOnSurface("joint", stand, child, surface=nx.SphereSurface(0.36)))
    return system


def user_constraint() -> nx.System:
    def wave(t: float, x: np.ndarray, R: np.ndarray) -> float:
        return float(x[2] - 0.1 * np.cos(6.0 * x[0]))

    wavy = [(x, y, 0.1 * np.cos(6.0 * x) - 0.06) for x in np.linspace(-0.2, 0.6, 33) for y in (-0.2, -0.1, 0.0)]
    system, stand = stage("user_constraint", True, dots(wavy))
    child = ball(system, (0.1, -0.1, 0.1 * np.cos(0.6)))
    system.add_joint(nx.UserConstraint("joint", stand, child, wave))
    return system


def plate(name: str, side: float = 1.2) -> tuple[nx.System, nx.Body]:
    """A stand with a wide plate, whose top is the plane z = -0.2, to roll and slide on."""
    return stage(name, gravity=True, shown=[nx.Box((side, side, 0.06), position=(0, 0, -0.23), color=STAND)])


def rolling_disk() -> nx.System:
    system, stand = plate("rolling_disk")
    lying = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)  # the axle is y
    child = system.add_body(
        "child", mass=1.0, inertia=(0.006, 0.011, 0.006), position=(-0.35, -0.2, -0.02),
        shapes=[nx.Cylinder(radius=0.18, length=0.04, orientation=lying, color=CHILD),
                nx.Box((0.3, 0.045, 0.05), color=(0.95, 0.95, 0.95, 1.0))],
    )  # fmt: skip
    system.add_joint(nx.Free("ride", system.ground, child, v0=(0, 4.0, 0.9, 0.72, 0, 0)))
    system.add_joint(nx.RollingDisk("joint", stand, child, radius=0.18, anchor_a=(0, 0, -0.2), axis_b=(0, 1, 0)))
    return system


def rolling_sphere() -> nx.System:
    system, stand = plate("rolling_sphere")
    child = system.add_body(
        "child", mass=1.0, inertia=(0.006, 0.006, 0.006), position=(-0.35, -0.2, -0.05),
        shapes=[nx.Sphere(0.15, color=CHILD), nx.Cylinder(radius=0.03, length=0.32, color=(0.95, 0.95, 0.95, 1.0))],
    )  # fmt: skip
    system.add_joint(nx.Free("ride", system.ground, child, v0=(-2.0, 4.0, 0, 0.6, 0.3, 0)))
    system.add_joint(nx.RollingSphere("joint", stand, child, radius=0.15, anchor_a=(0, 0, -0.2)))
    return system


def knife_edge() -> nx.System:
    system, stand = plate("knife_edge")
    child = system.add_body(
        "child", mass=1.0, inertia=(0.02, 0.02, 0.02), position=(-0.35, -0.25, -0.12),
        shapes=[nx.Box((0.4, 0.03, 0.16), color=CHILD), nx.Box((0.06, 0.04, 0.16), position=(0.18, 0, 0), color=AXIS)],
    )  # fmt: skip
    system.add_joint(nx.Planar("ice", stand, child, at=(-0.35, -0.25, -0.12), v0=(0.8, 0, 1.6)))
    system.add_joint(nx.KnifeEdge("joint", stand, child, axis_b=(0, 1, 0)))
    return system


CONSTRAINTS: dict[str, Callable[[], nx.System]] = {
    make.__name__: make
    for make in (
        point_on_line, point_on_plane, parallel, perpendicular, rod, point_on_curve, point_on_surface, user_constraint,
        rolling_disk, rolling_sphere, knife_edge,
    )
}  # fmt: skip

SLIDING = {"rolling_disk", "rolling_sphere", "knife_edge"}
"""Those that hold velocities."""

# --- forces ---------------------------------------------------------------------------------------------------------


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


FORCES: dict[str, Callable[[], nx.System]] = {
    make.__name__: make
    for make in (
        applied_force, joint_force, point_spring, torsion_spring, bushing, force_table, user_force, user_joint_force,
        position_actuator, velocity_actuator, torque_actuator, controller, joint_stop, joint_friction, plane_contact,
    )
}  # fmt: skip

# --- couplings and drivers ------------------------------------------------------------------------------------------


def wheel(system: nx.System, stand: nx.Body, name: str, x: float, radius: float, v0: float = 0.0) -> None:
    """A wheel with a white spoke, on a hinge about z."""
    body = system.add_body(
        name, mass=1.0, inertia=(0.01, 0.01, 0.02), position=(x, 0, 0.05),
        shapes=[nx.Cylinder(radius=radius, length=0.05, color=CHILD),
                nx.Box((2 * radius, 0.03, 0.06), color=(0.95, 0.95, 0.95, 1.0))],
    )  # fmt: skip
    system.add_joint(nx.Revolute(name, stand, body, at=(x, 0, 0.05), axis=(0, 0, 1), v0=v0))


def gear() -> nx.System:
    system, stand = stage("gear")
    wheel(system, stand, "pinion", 0.0, 0.1, 3.0)
    wheel(system, stand, "wheel", 0.3, 0.2)
    system.add_coupling(nx.Gear("coupling", "pinion", "wheel", ratio=-2.0))
    return system


def slide(system: nx.System, stand: nx.Body, name: str, y: float, v0: float = 0.0) -> None:
    """A bar on a slide along x."""
    bar = system.add_body(
        name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=(-0.2, y, 0.05),
        shapes=[nx.Box((0.36, 0.06, 0.06), color=CHILD),
                nx.Box((0.06, 0.065, 0.065), position=(0.15, 0, 0), color=(0.95, 0.95, 0.95, 1.0))],
    )  # fmt: skip
    system.add_joint(nx.Prismatic(name, stand, bar, at=(-0.2, y, 0.05), axis=(1, 0, 0), v0=v0))


def rack_and_pinion() -> nx.System:
    system, stand = stage("rack_and_pinion")
    wheel(system, stand, "pinion", 0.0, 0.15, 2.5)
    slide(system, stand, "rack", -0.18)
    system.add_coupling(nx.RackAndPinion("coupling", "pinion", "rack", radius=0.15))
    return system


def coupling() -> nx.System:
    system, stand = stage("coupling")
    slide(system, stand, "a", -0.12, 0.25)
    slide(system, stand, "b", 0.12)
    system.add_coupling(nx.Coupling("coupling", {"a": 2.0, "b": -1.0}))
    return system


def driver() -> nx.System:
    system = aimed("driver", 1.0)
    system.add_driver(nx.Driver("driver", "joint", nx.Step5(0.1, -1.0, 0.9, 1.0)))
    return system


def point_driver() -> nx.System:
    heights = [(0.5, 0.0, z) for z in np.linspace(-0.15, 0.35, 9)]
    system, stand = stage("point_driver", True, dots(heights))
    child = add_child(system)
    system.add_joint(nx.Revolute("joint", stand, child, at=(0, 0, 0), axis=(0, -1, 0)))
    tip = system.add_marker(nx.Marker("tip", child, (0.43, 0, 0)))
    system.add_driver(nx.PointDriver("driver", tip, "z", "=0.12-0.22*cos(pi*t)"))
    return system


DRIVEN: dict[str, tuple[str, Callable[[], nx.System]]] = {
    "gear": ("coupling", gear), "rack_and_pinion": ("coupling", rack_and_pinion), "coupling": ("coupling", coupling),
    "driver": ("driver", driver), "point_driver": ("driver", point_driver),
}  # fmt: skip

# --- drawing --------------------------------------------------------------------------------------------------------


def strip(result: nx.Result, path: Path) -> None:
    """Three moments side by side, as PNG."""
    from PIL import Image

    motion = Motion.of(result)
    studio = Studio(motion, Shot(size=(220, 180), azimuth=-55.0, elevation=22.0, clock=False))
    times = motion.start + (motion.end - motion.start) * np.array([0.0, 0.5, 1.0])
    picture = np.concatenate([studio.picture(float(t)) for t in times], axis=1)
    small = Image.fromarray(picture).quantize(64)  # a few kilobytes each
    with written(path) as temporary:
        small.save(temporary, format="PNG", optimize=True)


FUNCTIONS = {
    "Constant(1.5)": nx.Constant(1.5),
    "Linear(1.0, -0.5)": nx.Linear(1.0, -0.5),
    "Polynomial([0, 2, -1])": nx.Polynomial([0.0, 2.0, -1.0]),
    "Harmonic(1.0, 2*pi)": nx.Harmonic(1.0, 2 * np.pi),
    "Step5(0.5, 0, 1.5, 1)": nx.Step5(0.5, 0.0, 1.5, 1.0),
    "StepChange(1.0, 0, 1)": nx.StepChange(1.0, 0.0, 1.0),
    "Table([0, .5, 1, 2], [0, 1, .2, .8])": nx.Table([0.0, 0.5, 1.0, 2.0], [0.0, 1.0, 0.2, 0.8], kind="cubic"),
    '"=sin(3*t)*exp(-t)"': nx.TimeExpression("=sin(3*t)*exp(-t)"),
}


def drivers(path: Path) -> None:
    """The functions of time side by side, as SVG."""
    from nexdyn.view.charts import Line, Panel
    from nexdyn.view.plots import draw, save, styled

    t = np.linspace(0.0, 2.0, 201)
    shown = []
    for name, function in FUNCTIONS.items():
        values = np.array([function.value(x) for x in t])
        shown.append(Panel(name, "t [s]", "", [Line(name, t, values)], over_time=False))
    with styled():
        save(draw(shown, "functions of time"), path)


def comparison(path: Path) -> None:
    """What `nexdyn compare double-pendulum --plot` draws."""
    from nexdyn.cli.compare import suitable

    system = nx.load("double-pendulum")
    nx.compare(system, suitable(system), 1.0).plot(path)


def main() -> None:
    """Draw all, or what the command line names."""
    named = set(sys.argv[1:])
    for kind in FREEDOMS:
        if not named or kind in named:
            strip(with_freedoms(kind), HERE / f"joint-{kind}.png")
    for kind, make in CONSTRAINTS.items():
        if not named or kind in named:
            method = nx.RungeKutta4(5e-3) if kind in SLIDING else nx.HHT(dt=2e-2)
            t = {"user_constraint": 0.3, "point_on_curve": 1.6, "point_on_surface": 0.4, "rod": 0.6}.get(kind, 1.0)
            strip(nx.simulate(make(), t, method), HERE / f"joint-{kind}.png")
    for kind, make in FORCES.items():
        if not named or kind in named:
            t = {
                "position_actuator": 1.0,
                "joint_stop": 0.4,
                "joint_friction": 0.8,
                "plane_contact": 0.8,
                "velocity_actuator": 0.4,
            }.get(kind, 0.5)
            strip(nx.simulate(make(), t, nx.RungeKutta4(5e-4), output_every=20), HERE / f"force-{kind}.png")
    for kind, (sort, make) in DRIVEN.items():
        if not named or kind in named:
            strip(nx.simulate(make(), 1.0, nx.RungeKutta4(1e-2)), HERE / f"{sort}-{kind}.png")
    for name, draw in (("functions", drivers), ("compare", comparison)):
        if not named or name in named:
            draw(HERE / f"{name}.svg")


if __name__ == "__main__":
    main()

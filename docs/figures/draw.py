"""The pictures of the modelling guide, drawn by NexDyn itself: `python docs/figures/draw.py [NAME …]` writes them beside this file
(all, or those named: revolute, rod, point_spring, functions).

Every joint and every force at three moments of a motion that it allows or makes; every driver function over time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

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


CONSTRAINTS: dict[str, Callable[[], nx.System]] = {
    make.__name__: make
    for make in (point_on_line, point_on_plane, parallel, perpendicular, rod, point_on_curve, point_on_surface, user_constraint)
}  # fmt: skip


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


FORCES: dict[str, Callable[[], nx.System]] = {
    make.__name__: make for make in (applied_force, joint_force, point_spring, torsion_spring, bushing, force_table)
}

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
            t = {"user_constraint": 0.3, "point_on_curve": 1.6, "point_on_surface": 0.4, "rod": 0.6}.get(kind, 1.0)
            strip(nx.simulate(make(), t, nx.HHT(dt=2e-2)), HERE / f"joint-{kind}.png")
    for kind, make in FORCES.items():
        if not named or kind in named:
            strip(nx.simulate(make(), 0.5, nx.RungeKutta4(1e-2)), HERE / f"force-{kind}.png")
    for name, draw in (("functions", drivers), ("compare", comparison)):
        if not named or name in named:
            draw(HERE / f"{name}.svg")


if __name__ == "__main__":
    main()

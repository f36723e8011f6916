"""The pictures of the modelling guide, drawn by NexDyn itself: `python docs/figures/draw.py [NAME …]` writes them beside this file
(all, or those named: revolute, rod, point_spring, functions, plotting).

Demos for the first page (landing). Every joint, force, coupling and driver at three moments of a motion that it allows or makes; every
function of time over time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from driven_drawn import DRIVEN
from forces_drawn import FORCES
from joints_drawn import CONSTRAINTS, FREEDOMS, SLIDING, with_freedoms

import nexdyn as nx
from nexdyn.results.atomic import written
from nexdyn.view.motion import Motion
from nexdyn.view.shot import Shot
from nexdyn.view.studio import Studio

HERE = Path(__file__).parent


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


def plotted(path: Path) -> None:
    """The plot of the guide to plotting: energy and joint coordinates of the demo that `nexdyn run hinge-chain` runs."""
    result = nx.simulate(nx.load("hinge-chain"), t_end=3.0, method=nx.RungeKutta4(dt=1e-3), output_every=10)
    result.plot(path=path)


def comparison(path: Path) -> None:
    """What `nexdyn compare double-pendulum --plot` draws."""
    from nexdyn.cli.compare import suitable

    system = nx.load("double-pendulum")
    nx.compare(system, suitable(system), 1.0).plot(path)


LANDING = {"four-bar": (-90.0, 80.0), "stewart": (-55.0, 22.0), "bicycle": (-60.0, 18.0)}
"""Demos on the first page, and from where they are seen [deg]."""


def landing(path: Path) -> None:
    """Three demos side by side, as PNG."""
    from PIL import Image

    pictures = []
    for name, (azimuth, elevation) in LANDING.items():
        motion = Motion.of(nx.simulate(nx.load(name), 0.5))
        studio = Studio(motion, Shot(size=(300, 240), azimuth=azimuth, elevation=elevation, clock=False))
        pictures.append(studio.picture(motion.start + 0.6 * (motion.end - motion.start)))
    small = Image.fromarray(np.concatenate(pictures, axis=1)).quantize(64)
    with written(path) as temporary:
        small.save(temporary, format="PNG", optimize=True)


def main() -> None:
    """Draw all, or what the command line names."""
    named = set(sys.argv[1:])
    for kind in FREEDOMS:
        if not named or kind in named:
            strip(with_freedoms(kind), HERE / f"joint-{kind}.png")
    for kind, make in CONSTRAINTS.items():
        if not named or kind in named:
            method = nx.RungeKutta4(5e-3) if kind in SLIDING else nx.HHT(dt=2e-2)
            t = {
                "user_constraint": 0.3,
                "point_on_curve": 1.6,
                "point_on_surface": 0.4,
                "rod": 0.6,
                "revolute_spherical": 0.5,
                "revolute_prismatic": 0.3,
                "general": 0.4,
            }.get(kind, 1.0)
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
    for name, draw in (("functions", drivers), ("compare", comparison), ("plotting", plotted)):
        if not named or name in named:
            draw(HERE / f"{name}.svg")
    if not named or "landing" in named:
        landing(HERE / "landing.png")


if __name__ == "__main__":
    main()

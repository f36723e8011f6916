"""Our curves over those of other programs: `python docs/figures/peers.py` writes `peers-SUITE.svg` next to this file.

Lines are our tightest runs, dots the kept samples of the peer. `peers-chaos.svg` and `peers-steps.svg` show why two references differ.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("svg")
import matplotlib.pyplot as plt

from nexdyn.problems.against import dymola, modelica_models
from nexdyn.problems.against.case import Case, Scene, unit_of
from nexdyn.problems.against.verify import SUITES

HERE = Path(__file__).parent
SAMPLES = 301
STYLE = {
    "svg.hashsalt": "nexdyn",
    "font.size": 8,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "lines.linewidth": 0.9,
    "lines.markersize": 3,
}
SHOWN = {
    "adams": (
        ("Revolute_Case02", "reaction torque"),
        ("Universal_Case03", "angular velocity"),
        ("Spherical_Case01", "reaction force"),
        ("RevSpherical_Case02", "velocity"),
        ("TranSpringCB_Case04", "acceleration"),
        ("RotSpring_Case02", "angular acceleration"),
    ),
    "dymola": (
        ("DoublePendulum", "revolute2 angular velocity"),
        ("GyroscopicEffects", "bodyCylinder2 own angular velocity"),
        ("SpringDamperSystem", "body1 velocity"),
        ("UniversalConstraint", "joint second angle"),
        ("Test.WorldForceAndTorque", "Revolute6 angular velocity"),
        ("Fourbar1", "j1 angular velocity"),
    ),
    "exudyn": (
        ("bricardMechanism", "RigidBody 9 velocity"),
        ("rollingCoinTest", "RigidBody 0 angular velocity"),
        ("kinematicTreeTest", "tree 0 rates"),
        ("sphericalJointTest", "RigidBody 7 angular velocity"),
        ("heavyTop", "RigidBody 1 angular velocity"),
        ("compareFullModifiedNewton", "RigidBody2D 1 velocity"),
    ),
    "recurdyn": (
        ("double_pendulum", "link1 acceleration"),
        ("double_pendulum", "link2 velocity"),
        ("double_pendulum", "link2 position"),
    ),
}


def over_each_other(ax: Any, case: Case, quantity: str) -> None:
    """One quantity of a case; components that stay at zero in both are left out."""
    reference = case.read(None)
    t = np.linspace(reference.t[0], reference.t[-1], SAMPLES)
    ours, theirs = case.tightest(t)[quantity], reference.curves[quantity]
    for k in np.flatnonzero(np.abs(theirs).max(axis=0) > 1e-6 * np.abs(theirs).max()):
        (line,) = ax.plot(t, ours[:, k])
        ax.plot(reference.t, theirs[:, k], ".", color=line.get_color())
    if case.until < t[-1]:
        ax.axvline(case.until, color="0.5", linestyle=":")
    ax.set_title(case.name, fontsize=8)
    ax.set(xlabel="t [s]", ylabel=fill(f"{quantity} [{unit_of(quantity)}]", 28))


def suite(name: str) -> None:
    """The figure of a suite."""
    shown = SHOWN[name]
    rows = len(shown) // 3
    figure, axes = plt.subplots(rows, 3, figsize=(10, 2.7 * rows), layout="constrained")
    for ax, (case, quantity) in zip(axes.flat, shown, strict=True):
        over_each_other(ax, SUITES[name][case], quantity)
    save(figure, f"peers-{name}")


def apart(deviation: np.ndarray) -> Scene:
    """DoublePendulumInitTip from other angles."""
    angles = modelica_models.tip_angles() + deviation
    return Scene(lambda: modelica_models.double(*angles.tolist()).system(), ())


def chaos() -> None:
    """DoublePendulumInitTip: the distance from Dymola, and how a deviation of Dymola's change of energy grows."""
    case, quantity = SUITES["dymola"]["DoublePendulumInitTip"], "revolute2 angular velocity"
    reference = case.read(None)
    tight = case.tightest(reference.t)[quantity]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3), layout="constrained")
    over_each_other(left, case, quantity)
    right.semilogy(reference.t, np.abs(reference.curves[quantity] - tight), ".-", label="from Dymola")
    for joint in (0, 1):
        found = case.curves(apart(np.eye(2)[joint] * dymola.ENERGY), case.tight, reference.t)[quantity]
        label = f"ours, revolute{joint + 1} starts {dymola.ENERGY:g} rad further"
        right.semilogy(reference.t, np.abs(found - tight), label=label)
    right.axvline(case.until, color="0.5", linestyle=":")
    right.axhline(case.limit * np.abs(reference.curves[quantity]).max(), color="0.5", linestyle="--", label="limit")
    right.set(xlabel="t [s]", ylabel="difference in angular\nvelocity [rad/s]", ylim=(1e-7, None))
    right.legend(fontsize=7)
    save(figure, "peers-chaos")


def steps() -> None:
    """connectorGravityTest: the angle by which each satellite is ahead of its circle, of Exudyn and of our tightest run."""
    case = SUITES["exudyn"]["connectorGravityTest"]
    reference = case.read(None)
    ours = case.tightest(reference.t)
    figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
    for number, radius in ((2, 2e5), (4, 4e5), (6, 8e5), (8, 10e5)):
        period = 2 * np.pi * np.sqrt(radius**3 / (6.6743e-11 * 1e20))
        for curves, style in ((reference.curves, ".-"), (ours, "--")):
            x, y = curves[f"MassPoint {number} position"][:, :2].T
            off = np.angle(np.exp(1j * (np.arctan2(y, x) - 2 * np.pi * reference.t / period)))
            label = f"{period / 1000:.0f} steps per revolution" if style == ".-" else None
            color = ax.get_lines()[-1].get_color() if style == "--" else None
            ax.semilogy(reference.t[1:], np.abs(off[1:]), style, color=color, label=label)
    title = "connectorGravityTest: Exudyn (dots), NexDyn (dashed)"
    ax.set(xlabel="t [s]", ylabel="angle from the circle [rad]", title=title)
    figure.legend(loc="outside right upper", fontsize=7)
    save(figure, "peers-steps")


def save(figure: Any, name: str) -> None:
    figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
    print(HERE / f"{name}.svg")


def main() -> None:
    """All figures."""
    plt.rcParams.update(STYLE)
    for name in SHOWN:
        suite(name)
    chaos()
    steps()


if __name__ == "__main__":
    main()

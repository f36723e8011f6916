"""Parts that others hold or lead: `python docs/figures/held.py` writes `held.svg` next to this file.

Cam: by what the height of its roller differs from the closed form. Pin: its way in a hole with a clearance. Gripper: how fast two balls
slip, 5 % within what the fingers hold and beyond. Robots: how far their centres of mass move in the minute for which they stand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("svg")
import matplotlib.pyplot as plt
from peers import STYLE

import nexdyn as nx
from nexdyn.problems import contact_machines, impacts, standing

HERE = Path(__file__).parent
STEPS = {"-": nx.DormandPrince(rtol=1e-9, atol=1e-12), "--": nx.HHT(rtol=1e-8), ":": nx.ImplicitEuler(2e-5, bdf2=True)}


def roller(ax: Any) -> None:
    """Height − closed form, of a cam that turns 50 rad/s."""
    t = np.linspace(0.0, 0.1, 101)
    exact = np.array([contact_machines.rolled(x)[0] for x in t])
    for style, method in STEPS.items():
        result = nx.simulate(contact_machines.roller(), t[-1], method, output_times=t)
        off = result.position("round follower").values[:, 2] - exact
        ax.plot(t[1:], 1e9 * off[1:], style, label=method.name)
    ax.set(title="cam: roller − closed form", xlabel="t [s]", ylabel="height [nm]")
    ax.legend(fontsize=6)


def hole(ax: Any) -> None:
    """The way of the pin's middle, and how far it may go."""
    t = np.linspace(0.0, 0.1, 2001)
    result = nx.simulate(impacts.hole(), t[-1], nx.HHT(rtol=1e-6), output_times=t)
    x, y = impacts.within(result)[:, :2].T
    ax.plot(x, y, label="middle of the pin")
    known = np.array([values[:2] for values in impacts.HOLE.reference.values()])
    ax.plot(*known.T, "k.", label="recomputed")
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    clearance = 1e3 * impacts.CLEARANCE
    ax.plot(clearance * np.cos(turn), clearance * np.sin(turn), "k:", label="clearance")
    ax.set(title="pin in a hole, 0.1 s", xlabel="x [mm]", ylabel="y [mm]", aspect="equal", xlim=(-1.1, 3.0))
    ax.legend(fontsize=6, loc="upper right")


def gripper(ax: Any) -> None:
    """How fast two balls slip down between fingers that lift them."""
    t, known = np.linspace(0.0, 0.6, 121), contact_machines.GRIPPER.reference
    result = nx.simulate(contact_machines.gripper(), t[-1], nx.HHT(rtol=1e-7), output_times=t)
    for hand, word in (("holds", "within"), ("slips", "beyond")):
        slip = result.velocity(f"{hand} palm").values[:, 2] - result.velocity(f"{hand} ball").values[:, 2]
        ax.plot(t, slip, label=f"5 % {word}")
    begins = float(np.interp(min(known), t, slip))
    ax.plot(list(known), [begins + values[1] for values in known.values()], "k.", label="5 % of g + a, from 0.3 s on")
    ax.set(title="gripper: two balls", xlabel="t [s]", ylabel="slip [m/s]")
    ax.legend(fontsize=6)


def robots(ax: Any) -> None:
    """How far centres of mass move, from `nx.equilibrium` on."""
    t = np.linspace(0.0, 60.0, 121)
    for problem in standing.ROBOTS:
        system = problem.build()
        rest = nx.equilibrium(system)
        for method, style in ((nx.HHT(rtol=1e-4), "-"), (nx.ImplicitEuler(0.01, bdf2=True), "--")):
            result = nx.simulate(system, t[-1], method, initial=rest, output_times=t)
            drift = problem.observe(result)[:, 0]
            ax.semilogy(t[1:], 1e6 * np.maximum(drift[1:], 1e-18), style, label=f"{problem.name}, {method.name}")
    ax.axhline(1.0, color="k", linestyle=":", label="allowed")
    ax.set(title="robots that stand for a minute", xlabel="t [s]", ylabel="centre of mass [µm]")
    ax.legend(fontsize=6)


def main() -> None:
    """Draw all."""
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(2, 2, figsize=(7.0, 5.2), layout="constrained")
        for ax, draw in zip(axes.flat, (roller, hole, gripper, robots), strict=True):
            draw(ax)
        figure.savefig(HERE / "held.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

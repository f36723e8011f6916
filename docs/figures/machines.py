"""Machines whose parts touch: `python docs/figures/machines.py` writes `machines.svg` next to this file.

Gears: how far the driven gear of a pair with involute teeth lags behind a steady turn, with flanks of 12 and of 24 points. Cams: how high a
flat follower is over its cam, 5 % below the speed of lift-off and above. Bearing: how fast the balls go round while the race spins them up.
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
from nexdyn.problems import contact_machines, transmissions

HERE = Path(__file__).parent


def ripple(ax: Any) -> None:
    """Two teeth, after half of one while the start dies down."""
    teeth = np.linspace(0.5, 2.5, 257)
    t = teeth * transmissions.PERIOD
    for points, style in ((12, "--"), (24, "-")):
        result = nx.simulate(transmissions.gears(points=points), t[-1], nx.DormandPrince(rtol=1e-6), output_times=t)
        lag = transmissions.turned(result) + transmissions.RATE * t
        ax.plot(teeth, 1e6 * (lag - lag.mean()), style, label=f"{points} points a flank")
    ax.set(title="gears: ripple of the driven one", xlabel="teeth, t z ω/2π", ylabel="angle − mean [µrad]")
    ax.legend(fontsize=6)


def lift_off(ax: Any) -> None:
    """How high two faces are over their cams, and free flight."""
    t = np.linspace(0.04, 0.1, 121)
    result = nx.simulate(contact_machines.flat(), t[-1], nx.HHT(rtol=1e-7), output_times=t)
    heights = contact_machines.heights(result, "slow", "quick")
    for height, rate, name in zip(
        heights.T, (contact_machines.SLOW, contact_machines.QUICK), ("below", "above"), strict=True
    ):
        gap = height - 1e3 * (contact_machines.DISC - contact_machines.OFF * np.cos(rate * t))
        ax.plot(t, gap, label=f"5 % {name} lift-off")
    flight = t[(t > contact_machines.LEAVES) & (heights[:, 1] > 0)][::4]
    cam = contact_machines.DISC - contact_machines.OFF * np.cos(contact_machines.QUICK * flight)
    over = np.array([contact_machines.flies(x) for x in flight]) - cam
    ax.plot(flight[over >= 0], 1e3 * over[over >= 0], "k.", label="free flight")
    ax.set(title="cams: flat followers", xlabel="t [s]", ylabel="over the cam [mm]")
    ax.legend(fontsize=6)


def cage(ax: Any) -> None:
    """The balls spin up, and roll."""
    t = np.linspace(0.0, 1.5e-3, 151)
    for method, style in ((nx.DormandPrince(rtol=1e-8), "-"), (nx.HHT(rtol=1e-7), "--")):
        result = nx.simulate(contact_machines.bearing(), t[-1], method, output_times=t)
        ax.plot(1e3 * t, contact_machines.cage(result)[:, 0], style, label=method.name)
    ax.axhline(contact_machines.CAGE, color="k", linestyle=":", label="½ ω (1 − d/D)")
    ax.set(title="bearing: speed of the cage", xlabel="t [ms]", ylabel="speed [rad/s]")
    ax.legend(fontsize=6)


def main() -> None:
    """Draw all."""
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(1, 3, figsize=(7.6, 2.5), layout="constrained")
        for ax, draw in zip(axes.flat, (ripple, lift_off, cage), strict=True):
            draw(ax)
        figure.savefig(HERE / "machines.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

"""Contact next to its known answers: `python docs/figures/contacts.py` writes `contacts.svg` next to this file.

Geneva drive: the angle of the wheel, and what it is off by at three stiffnesses, and as a mesh. Tall block on a slope: one that is 5 % too
narrow tips as a rigid pendulum. Dominoes: speed of the wave from each to the next. Arch: how its crown sinks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("svg")
import matplotlib.pyplot as plt
from peers import STYLE

import nexdyn as nx
from nexdyn.problems import arch, areas, dominoes, slopes, transmissions
from nexdyn.problems.recast import meshed

HERE = Path(__file__).parent
BDF2 = nx.ImplicitEuler(2e-4, bdf2=True)


def geneva(ax: Any) -> None:
    """What the angle of the wheel is off by."""
    t = np.linspace(0.03, 0.29, 131)
    exact = np.array([transmissions.indexed(x) for x in t])
    built: dict[str, Callable[[], nx.System]] = {
        f"{hard:.0e} N/m": lambda hard=hard: transmissions.geneva(hard)  # type: ignore[misc]
        for hard in (1.25e6, 5e6, 2e7)
    }
    built["meshes, 1e12 N/m³"] = lambda: meshed(areas.GENEVA.build())
    for name, build in built.items():
        result = nx.simulate(build(), 0.29, BDF2, output_times=t)
        ax.semilogy(t, np.abs(transmissions.turned(result)[-len(t) :] - exact), label=name)
    ax.set(title="Geneva drive: angle − closed form", xlabel="t [s]", ylabel="error [rad]")
    ax.legend(fontsize=6)


def tipping(ax: Any) -> None:
    """How tall blocks lean, as points and as meshes, with the rigid pendulum."""
    t = np.linspace(0.0, 0.5, 51)
    for name, build in (("corners", slopes.tipping), ("meshes", lambda: meshed(areas.TIPPING.build()))):
        result = nx.simulate(build(), 0.5, nx.HHT(rtol=1e-6), output_times=t)
        (line,) = ax.plot(t, slopes.lean(result, "narrow")[-len(t) :], label=f"5 % too narrow, {name}")
        ax.plot(t, slopes.lean(result, "wide")[-len(t) :], "--", color=line.get_color(), label=f"5 % wider, {name}")
    known = slopes.TIPPING.reference
    ax.plot(list(known), [values[0] for values in known.values()], "k.", label="rigid pendulum")
    ax.set(title="tall blocks on a slope", xlabel="t [s]", ylabel="lean [rad]")
    ax.legend(fontsize=6)


def wave(ax: Any) -> None:
    """Speed of the wave at a step and half of it."""
    strikes = np.arange(2, dominoes.COUNT)
    for dt, mark in ((4e-4, "o"), (2e-4, "x")):
        result = nx.simulate(dominoes.row(dominoes.COUNT), dominoes.UNTIL, nx.HHT(dt=dt))
        ax.plot(strikes, dominoes.speeds(result, dominoes.COUNT), mark, label=f"HHT, dt = {dt:g} s")
    ax.plot(strikes, dominoes.WAVE, "k.", label="rigid row")
    ax.set(title="dominoes: speed of the wave", xlabel="domino", ylabel="speed [m/s]")
    ax.legend(fontsize=6)


def crown(ax: Any) -> None:
    """How the crowns of two arches sink."""
    t = np.linspace(0.0, arch.UNTIL, 36)
    for name, ratio in ((f"{arch.THICK} of the radius", arch.THICK), (f"{arch.THIN}", arch.THIN)):
        result = nx.simulate(arch.arch(ratio), arch.UNTIL, nx.ImplicitEuler(1e-3, bdf2=True), output_times=t)
        ax.semilogy(t[1:], 1e3 * np.abs(arch.sinks(result)[-len(t) + 1 :, 0]), label=name)
    ax.set(title="arches of 25 stones, least thickness 0.107", xlabel="t [s]", ylabel="crown sinks [mm]")
    ax.legend(fontsize=6)


def main() -> None:
    """Draw all."""
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(2, 2, figsize=(7.0, 5.2), layout="constrained")
        for ax, draw in zip(axes.flat, (geneva, tipping, wave, crown), strict=True):
            draw(ax)
        figure.savefig(HERE / "contacts.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

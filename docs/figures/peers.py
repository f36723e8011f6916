"""Our curves over those of other programs: `python docs/figures/peers.py` writes `peers.svg` next to this file.

Lines are our tightest runs, dots the kept samples of the peer.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("svg")
import matplotlib.pyplot as plt

from nexdyn.problems.against.verify import SUITES

HERE = Path(__file__).parent
SHOWN = (
    ("adams", "Revolute_Case01", "velocity"),
    ("dymola", "DoublePendulum", "revolute2 angular velocity"),
    ("exudyn", "bricardMechanism", "RigidBody 9 velocity"),
    ("recurdyn", "double_pendulum", "link2 velocity"),
)


def main() -> None:
    """Four cases side by side."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
    for ax, (suite, name, quantity) in zip(axes.flat, SHOWN, strict=True):
        case = SUITES[suite][name]
        reference = case.read(None)
        t = np.linspace(reference.t[0], reference.t[-1], 301)
        ax.plot(t, case.tightest(t)[quantity], linewidth=1)
        ax.set_prop_cycle(None)
        ax.plot(reference.t, reference.curves[quantity], ".", markersize=4)
        ax.set(title=f"{suite}: {name}, {quantity}", xlabel="t [s]")
        ax.title.set_fontsize(9)
    figure.savefig(HERE / "peers.svg")


if __name__ == "__main__":
    main()

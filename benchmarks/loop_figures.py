"""The figure of docs/closed_trees.md: `python -m benchmarks.loop_figures [FOLDER]`.

Left: a four-bar whose loop starts open by a centimetre, under Baumgarte's stabilisation with β = 10/s. Right: |C| of the demo four-bar
over 20 s of RK4 at 10 ms, without stabilisation, with Baumgarte's, with projection.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import nexdyn as nx
from benchmarks.cfa_figures import FOLDER, plotting, save

REGIMES = {"under, α = 2/s": 2.0, "critical, α = 10/s": 10.0, "over, α = 25/s": 25.0}
BETA = 10.0


def violation(alpha: float, t_end: float = 1.5, dt: float = 2e-3) -> tuple[np.ndarray, np.ndarray]:
    """(t, C along x) from rest, the loop open by turning the crank a little."""
    closed = nx.ClosedTree(nx.load("four-bar"))
    q, v, tau = closed.tree.described(), np.zeros(closed.nv), np.zeros(closed.nv)
    q[closed.tree.coordinates["A"].q] += 0.01
    seen = []
    for _ in range(round(t_end / dt)):
        seen.append(closed.residual(q)[0])
        a = closed.dynamics(q, v, tau, alpha=alpha, beta=BETA).a
        half = v + 0.5 * dt * a
        a = closed.dynamics(q + 0.5 * dt * v, half, tau, alpha=alpha, beta=BETA).a
        q, v = q + dt * half, v + dt * a
    return dt * np.arange(len(seen)), np.array(seen)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    figure, (left, right) = plotting().subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for name, alpha in REGIMES.items():
        t, C = violation(alpha)
        left.plot(t, 1e3 * C, label=name)
    left.set(xlabel="t [s]", ylabel="C [mm]", title=f"Baumgarte, β = {BETA:g}/s")
    left.legend(fontsize=8)
    for name, how in (
        ("none", None),
        ("Baumgarte, six times the rate of motion", "baumgarte"),
        ("projection", "projection"),
    ):
        result = nx.simulate(nx.load("four-bar"), 20.0, nx.RungeKutta4(0.01), loops=nx.Loops(how), output_every=10)
        right.semilogy(result.recording.t[1:], np.maximum(result.recording.violation[1:], 1e-17), label=name)
    right.set(xlabel="t [s]", ylabel="|C|, in parts of the mechanism", title="RK4, dt = 10 ms", ylim=(1e-18, 1e3))
    right.legend(fontsize=8, loc="upper right")
    save(figure, folder, "loop-stabilisation")


if __name__ == "__main__":
    main()

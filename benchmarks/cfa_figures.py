"""The figures of docs/constraint_force.md: `python -m benchmarks.cfa_figures [FOLDER] [cost] [accuracy] [robot]`.

Cost of the algorithms over degrees of freedom, error on straight chains over their length, and the space robot: its motion
and the force in its arm, and how far they are from those of ABA.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks import cfa, cfa_accuracy
from benchmarks.measure import Effort
from nexdyn.spatial.rotations import euler_zyx, rotation_matrix

FOLDER = Path(__file__).parents[1] / "docs" / "figures"
EFFORT = Effort(rounds=9, turn=0.005)
MARKS = "osv^<>DP"


def plotting() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "nexdyn", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "lines.linewidth": 1.2}
    )
    from matplotlib import pyplot

    return pyplot


def save(figure: Any, folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    print(folder / f"{name}.svg")


def cost(folder: Path) -> None:
    found = cfa.study(EFFORT)
    figure, axes = plotting().subplots(1, 2, figsize=(9, 4.5), sharey=True, layout="constrained")
    for ax, (shape, rows) in zip(axes, found.items(), strict=True):
        for (name, row), mark in zip(rows.items(), MARKS, strict=True):
            ax.loglog(list(row), [1e6 * t for t in row.values()], marker=mark, markersize=3, label=name)
        ax.set(title=shape, xlabel="degrees of freedom")
    axes[0].set_ylabel("processor time of an evaluation [µs]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7)
    save(figure, folder, "cfa-cost")
    print(cfa.study_table(found))


def accuracy(folder: Path) -> None:
    found = cfa_accuracy.study()
    figure, axes = plotting().subplots(1, 2, figsize=(9, 4.5), sharey=True, layout="constrained")
    for ax, what in zip(axes, ("acceleration", "force"), strict=True):
        names = [key for key in found[0] if key.endswith(what)]
        for name, mark in zip(names, "osv^D", strict=False):
            rows = [row for row in found if name in row]
            ax.loglog([row["n"] for row in rows], [row[name] for row in rows], marker=mark, markersize=3,
                      label=name.removesuffix(f", {what}"))  # fmt: skip
        n = np.array([row["n"] for row in found])
        ax.loglog(n, [100 * row["ε cond(A)"] for row in found], "k--", linewidth=0.8, label="100 ε cond(A)")
        ax.loglog(n, 1e-16 * n.astype(float) ** 4, "k:", linewidth=0.8, label="n⁴")
        ax.set(title=f"{what}s", xlabel="bodies of the chain", ylim=(1e-17, 1e3))
    axes[0].set_ylabel("largest error beside the largest entry")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7)
    save(figure, folder, "cfa-accuracy")


def robot(folder: Path) -> None:
    system = nx.load("space-robot")
    run = {
        dynamics: nx.simulate(system, 10.0, nx.RungeKutta4(1e-3), dynamics=dynamics, output_every=10)
        for dynamics in ("cfa", "aba")
    }
    t = run["cfa"].recording.t
    joints = [name for name in run["cfa"].tree.joint_names if name.startswith("J1")]
    attitude, angles, force = {}, {}, {}
    for name, result in run.items():
        tree, kept = result.tree, result.recording
        base = kept.q[:, tree.coordinates["base"].q]
        euler = euler_zyx(rotation_matrix(base[:, :4]))
        attitude[name] = np.degrees(np.stack([euler.roll, euler.pitch, euler.yaw], axis=1))
        angles[name] = np.degrees(np.stack([kept.q[:, tree.coordinates[j].q.start] for j in joints], axis=1))
        # the second way to the forces is RNEA's wrench
        tau = tree.rnea(kept.q, kept.v, kept.a)
        if name == "cfa":
            force[name] = tree.cfa(kept.q, kept.v, tau)[1]["J11"]
        else:
            force[name] = tree.joint_wrenches(kept.q, kept.v, kept.a)["J11"].copy()
            force[name][:, 2] = 0.0
    plt = plotting()
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, layout="constrained")
    axes[0, 0].plot(t, attitude["cfa"], label=["roll", "pitch", "yaw"])
    axes[0, 0].set_ylabel("attitude of the base [°]")
    axes[0, 1].plot(t, angles["cfa"], label=joints)
    axes[0, 1].set_ylabel("angles of arm 1 [°]")
    axes[1, 0].plot(t, force["cfa"][:, 3:], label=["x", "y", "z"])
    axes[1, 0].set(ylabel="constraint force on L11 [N]", xlabel="t [s]")
    axes[1, 1].plot(t, force["cfa"][:, :2], label=["x", "y"])
    axes[1, 1].set(ylabel="constraint moment on L11 [N m]", xlabel="t [s]")
    for ax in axes.flat:
        ax.legend(fontsize=7, ncols=2)
    save(figure, folder, "space-robot")
    figure, axes = plt.subplots(1, 4, figsize=(11, 3), sharex=True, layout="constrained")
    differ = {name: kept["cfa"] - kept["aba"] for name, kept in (("q0", attitude), ("q", angles), ("f", force))}
    panels = (
        ("attitude of the base [°]", differ["q0"], ["roll", "pitch", "yaw"]),
        ("angles of arm 1 [°]", differ["q"], joints),
        ("constraint force on L11 [N]", differ["f"][:, 3:], ["x", "y", "z"]),
        ("constraint moment on L11 [N m]", differ["f"][:, :2], ["x", "y"]),
    )
    for ax, (what, difference, names) in zip(axes, panels, strict=True):
        ax.plot(t, difference, linewidth=0.7, label=names)
        ax.set(ylabel=what, xlabel="t [s]")
        ax.legend(fontsize=6, ncols=2)
    figure.suptitle("CFA less ABA, and its forces less those of RNEA", fontsize=9)
    save(figure, folder, "space-robot-errors")


def main() -> None:
    given = sys.argv[1:]
    draw = {"cost": cost, "accuracy": accuracy, "robot": robot}
    folder = next((Path(x) for x in given if x not in draw), FOLDER)
    for name, page in draw.items():
        if not set(given) & set(draw) or name in given:
            page(folder)


if __name__ == "__main__":
    main()

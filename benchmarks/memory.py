"""Resident memory: what importing takes, and a tree of many bodies, in NexDyn, Pinocchio and MuJoCo.

Each figure is a process of its own, from /proc/self/status: resident memory after the import less that of Python alone; and
what building the model adds to it, ready for its first state, descriptions that may be dropped dropped. Trees have parents
drawn among all bodies, so that they are some 25 joints deep. Pinocchio's data hold matrices nv × nv and tensors nv × nv × nv
whatever the tree, more than 20 GB for 10³ joints: with its data it is weighed at 10² joints, above that its model alone.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Effort, Report, Row
from benchmarks.models import RandomTree, nexdyn_system, pinocchio_model, random_tree

SIZES, FEW = (100, 10_000, 100_000), 100
ENOUGH = 60  # seconds of processor time that one process may take
COLD = ("info hinge-chain", "run hinge-chain", "check four-bar", "run four-bar", "compare double-pendulum")
"""Commands that are weighed with all that they compile."""
STATUS = Path("/proc/self/status")
PEERS = {"nexdyn": "NexDyn", "pinocchio": "Pinocchio", "mujoco": "MuJoCo"}


def run(effort: Effort) -> Report:
    report = Report("memory", "resident memory of a process")
    if not STATUS.exists():
        report.notes.append("Not measured: this system has no /proc/self/status.")
        return report
    alone = weigh("nothing", 0)["held"]
    imports = {peer: weigh(peer, 0) for peer in PEERS}
    for peer, name in PEERS.items():
        tell(report, f"import of {name}", imports[peer], alone)
    for n in (FEW,) if effort.smoke else SIZES:
        for peer, name in PEERS.items():
            what = "model alone" if peer == "pinocchio" and n > FEW else "model, ready to run"
            tell(report, f"{n:,} bodies in {name}, {what}", weigh(peer, n), 0.0)
    for command in COLD[:1] if effort.smoke else COLD:
        report.rows.append(Row(f"nexdyn {command}, cache empty, at most", "MB", peak(command)))
    report.notes.append(
        "MB. Import: beyond Python alone. Models: beyond the import; NexDyn's with the System it is described by, MuJoCo's "
        "MjModel and MjData, Pinocchio's Model and, at the smaller size, Data."
    )
    return report


def tell(report: Report, what: str, found: dict[str, Any], less: float) -> None:
    if "missing" in found:
        report.notes.append(f"No {what}: {found['missing']}.")
    else:
        report.rows.append(Row(what, "MB", found["held"] - less))


def peak(command: str) -> float:
    """The most that a command holds [MB] whose kernels are not compiled yet: of its only child a process knows it."""
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=2);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    line = [sys.executable, "-c", program, sys.executable, "-m", "nexdyn", *command.split()]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NEXDYN_CACHE_DIR": f"{folder}/kernels"}
        done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout) * (1 if sys.platform == "darwin" else 1024) / 1e6


def weigh(peer: str, n: int) -> dict[str, Any]:
    """What a process of its own holds [MB], or why it does not."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.memory", peer, str(n)]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGXCPU:
        return {"missing": f"not done after {ENOUGH} s of processor time"}
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return {"missing": said[-1] if said else f"the process ended with {done.returncode}"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# --- in a process of its own ------------------------------------------------------------------------------------------


def resident() -> float:
    """Resident memory of this process [MB]."""
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines["VmRSS"].split()[0]) / 1024


def hold(peer: str, n: int) -> float:
    """MB that `peer` holds: after its import for n = 0, else what a tree of n bodies adds."""
    if n == 0:
        if peer != "nothing":
            importlib.import_module({"nexdyn": "nexdyn.tree.tree"}.get(peer, peer))
        return resident()
    tree = random_tree(n, np.random.default_rng(3), None)
    build = {"nexdyn": of_nexdyn, "pinocchio": of_pinocchio, "mujoco": of_mujoco}[peer]
    build(random_tree(3, np.random.default_rng(3), None))  # what the first model loads and compiles
    before = resident()
    held = build(tree)
    gc.collect()
    after = resident()
    del held
    return after - before


def of_nexdyn(tree: RandomTree) -> Any:
    import nexdyn as nx

    made = nx.Tree(nexdyn_system(tree))
    made.aba(np.zeros(made.nq), np.zeros(made.nv), np.zeros(made.nv))
    return made


def of_pinocchio(tree: RandomTree) -> Any:
    model = pinocchio_model(tree)
    return model, model.createData() if tree.n <= FEW else None


def of_mujoco(tree: RandomTree) -> Any:
    import mujoco

    model = mujoco.MjModel.from_xml_string(mujoco_text(tree))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def mujoco_text(tree: RandomTree) -> str:
    """As many bodies and hinges in the same tree; of what a model weighs, their numbers are no part."""
    parts, open_bodies = [], []
    for i in range(tree.n):
        while open_bodies and open_bodies[-1] != tree.parent[i]:
            open_bodies.pop()
            parts.append("</body>")
        x, y, z = tree.p[i]
        parts.append(f'<body pos="{x} {y} {z}"><joint type="hinge" axis="0 0 1"/>')
        parts.append('<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>')
        open_bodies.append(i)
    return f"<mujoco><worldbody>{''.join(parts)}{'</body>' * len(open_bodies)}</worldbody></mujoco>"


if __name__ == "__main__":
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (ENOUGH, ENOUGH + 1))
    print(json.dumps({"held": hold(sys.argv[1], int(sys.argv[2]))}))

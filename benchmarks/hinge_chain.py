"""A damped hinge chain by RK4 at 1 ms, steps a second, beside MuJoCo's rollout.

The chain of the demo `hinge-chain` with 6 and 100 links, from horizontal. MuJoCo does nothing here that it need not:
no contacts, constraints, geometry, sensors, energies or actuators; one thread. Both record every step: MuJoCo time, q, v
into an array that is given, NexDyn t, q, v, a likewise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, alternate, compared
from nexdyn.integrate.fixed import march
from nexdyn.simulation.problem import build_problem
from nexdyn.spatial.solids import capsule

MASS, LENGTH, RADIUS, DAMPING, DT = 1.0, 0.4, 0.05, 0.5, 1e-3
TARGETS = {6: 3.0, 100: 5.0}
STEPS = 1000
"""Steps of one run, a second of motion; then both start anew."""
AGREE = 1e-7


def run(effort: Effort) -> Report:
    report = Report("hinge_chain", "steps of a damped hinge chain by RK4 at 1 ms, every step recorded, one core")
    for links, at_least in TARGETS.items():
        compare(report, links, at_least, effort)
    report.notes.append(
        "Time loop: NexDyn's compiled loop and `mujoco.rollout`, each into arrays that are there. Whole call: "
        f"`nx.simulate` of {STEPS} steps, with building the tree and the result, beside `mujoco.rollout` that allocates."
    )
    return report


def compare(report: Report, links: int, at_least: float, effort: Effort) -> None:
    from mujoco import rollout

    steps = 20 if effort.smoke else STEPS
    system = nexdyn_chain(links)
    model, data, start = mujoco_chain(links)
    recorded = np.empty((1, steps, len(start)))
    simulated = nx.simulate(system, steps * DT, nx.RungeKutta4(DT)).recording
    rollout.rollout(model, data, start[None], nstep=steps, state=recorded)
    for what, found, expected in (
        ("q", simulated.q[-1], recorded[0, -1, 1 : 1 + links]),
        ("v", simulated.v[-1], recorded[0, -1, 1 + links :]),
    ):
        error = float(np.abs(found - expected).max())
        if not error < AGREE:
            raise SystemExit(f"{what} of {links} links differs from MuJoCo by {error:.1e}; nothing was measured")

    loop = time_loop(system, steps)

    def whole(repeat: int) -> None:
        for _ in range(repeat):
            nx.simulate(system, steps * DT, nx.RungeKutta4(DT))

    def mujoco_loop(repeat: int) -> None:
        for _ in range(repeat):
            rollout.rollout([model], [data], start[None], nstep=steps, state=recorded, skip_checks=True)

    def mujoco_whole(repeat: int) -> None:
        for _ in range(repeat):
            rollout.rollout(model, data, start[None], nstep=steps)

    times = alternate({"loop": loop, "whole": whole, "rollout": mujoco_loop, "rollout whole": mujoco_whole}, effort)
    for what, ours, rival in (("time loop", "loop", "rollout"), ("whole call", "whole", "rollout whole")):
        row = compared(f"{links} links, {what}", "µs/step", 1e6 / steps, times, ours, rival, at_least)
        row.rival = "mujoco.rollout"
        report.rows.append(row)


def time_loop(system: nx.System, steps: int) -> Any:
    """Work that runs the compiled time loop from the start into an array that is there."""
    tree = nx.Tree(system)
    q0, n = tree.described(), tree.nv
    problem = build_problem(tree, q0, "aba")
    tableau = nx.RungeKutta4(DT).tableau
    y, stage = np.zeros((2, 2 * n))
    most = np.full(2 * n, np.finfo(float).max)
    K, out = np.zeros((len(tableau.b), 2 * n)), np.empty((steps + 1, 1 + tree.nq + 2 * n))

    def work(repeat: int) -> None:
        for _ in range(repeat):
            problem.base[:], y[:] = q0, 0.0
            march(
                problem, tableau.A, tableau.b, tableau.c, False, 0.0, DT, 0, steps, 1, y, most, stage, K, n, out,
            )  # fmt: skip

    return work


def nexdyn_chain(links: int) -> nx.System:
    system = nx.System(f"chain of {links}", gravity=(0, 0, -9.81))
    parent = system.ground
    inertia = capsule(MASS, RADIUS, LENGTH)
    for i in range(links):
        link = system.add_body(f"link{i}", mass=MASS, inertia=inertia, position=(0, 0, -(i + 0.5) * LENGTH))
        hinge = nx.Revolute(
            f"hinge{i}", parent, link, at=(0, 0, -i * LENGTH), axis=(1, 0, 0), damping=DAMPING,
            q0=np.pi / 2 if i == 0 else 0.0,
        )  # fmt: skip
        system.add_joint(hinge)
        parent = link
    return system


def mujoco_chain(links: int) -> tuple[Any, Any, np.ndarray]:
    """Model, data and start (time, qpos, qvel); as little work as MuJoCo can be asked for."""
    import mujoco

    across, along = capsule(MASS, RADIUS, LENGTH)[[0, 2], [0, 2]]
    link = (
        f'<body pos="0 0 {{}}"><joint type="hinge" axis="1 0 0" damping="{DAMPING}"/>'
        f'<inertial pos="0 0 {-LENGTH / 2}" mass="{MASS}" diaginertia="{across} {across} {along}"/>'
    )
    bodies = "".join(link.format(0.0 if i == 0 else -LENGTH) for i in range(links)) + "</body>" * links
    off = " ".join(
        f'{name}="disable"' for name in ("constraint", "contact", "limit", "equality", "frictionloss", "sensor")
    )
    xml = (
        f'<mujoco><option timestep="{DT}" integrator="RK4" gravity="0 0 -9.81"><flag {off} actuation="disable"/></option>'
        f"<worldbody>{bodies}</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[0] = np.pi / 2
    start = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    return model, data, start

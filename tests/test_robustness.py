"""Random mechanisms obey the laws of mechanics, and nothing listens beyond this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import mechanisms
import numpy as np
import pytest
import systems

import nexdyn as nx
from nexdyn.joints import JOINTS
from nexdyn.view.server import LOOPBACK, free_port

RATE = int(os.environ.get("NEXDYN_RANDOM", "2"))
"""Random mechanisms a test; NEXDYN_RANDOM=1000 for a long run."""
STEPS = int(os.environ.get("NEXDYN_STEPS", "1000000"))
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


# --- random mechanisms ----------------------------------------------------------------------------------------------


def springs(system: nx.System, rng: np.random.Generator) -> None:
    """Forces that keep the energy: springs between random bodies, away from their natural length."""
    names = [*system.bodies, "ground"]
    for k in range(2):
        a, b = rng.choice(len(names), 2, replace=False)
        system.add_force(
            nx.PointSpring(f"spring{k}", names[a], names[b], anchor_a=rng.normal(size=3), anchor_b=rng.normal(size=3),
                           stiffness=rng.uniform(1, 5), length=0.3)
        )  # fmt: skip


def energy_drift(result: nx.Result) -> float:
    """Largest change of the total energy, beside the kinetic and potential energy that went to and fro."""
    energy = {name: result.observed.energies[f"{name}_energy"] for name in ("kinetic", "total")}
    exchanged = max(float(np.ptp(energy["kinetic"])), 1e-3)
    return float(np.ptp(energy["total"])) / exchanged


def random_tree(rng: np.random.Generator, bodies: int) -> nx.System:
    """Joints of all kinds where the bodies are as described, each on one of the bodies before it."""
    system = nx.System("random tree", gravity=3.0 * rng.normal(size=3))
    before = [system.ground]
    for i, kind in enumerate(rng.choice(systems.MOVING, bodies)):
        child = system.add_body(f"b{i}", **systems.solid(rng), **systems.somewhere(rng))
        parent = system.ground if kind == "free" else before[rng.integers(len(before))]
        pitch = {"pitch": rng.uniform(0.1, 0.5)} if kind == "helical" else {}
        place = {"at": rng.normal(size=3), "axis": systems.unit(rng, 3), "reference": systems.unit(rng, 3)}
        system.add_joint(JOINTS[str(kind)](f"j{i}", parent, child, **place, **pitch))
        before.append(child)
    return system


@pytest.mark.parametrize("seed", range(max(1, RATE // 2)))
def test_random_trees_keep_their_energy_and_move_alike_in_both_coordinates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system = random_tree(rng, 4)
    springs(system, rng)
    tree = nx.Tree(system)
    v0 = 0.5 * rng.normal(size=tree.nv)
    start = {name: v0[place.v] for name, place in tree.coordinates.items()}
    precise = nx.simulate(system, 0.2, nx.DormandPrince(rtol=1e-11, atol=1e-12), v0=v0)
    assert energy_drift(precise) < 1e-7
    bodies = nx.simulate(system, 0.2, nx.Projection(rtol=1e-9, atol=1e-11), v0=start)
    assert bodies.recording.violation.max() < 1e-9
    for name in system.bodies:
        p = precise.position(name)[-1].values
        np.testing.assert_allclose(bodies.position(name)[-1], p, atol=1e-6 * (1.0 + np.abs(p).max()))


@pytest.mark.parametrize("seed", range(RATE))
def test_random_loops_assemble_close_and_keep_their_energy(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    system, _ = mechanisms.random_loops(rng, bodies=5, loops=2, turn=0.0, shift=0.0)
    springs(system, rng)
    report = nx.assemble(system)
    result = nx.simulate(system, 0.05, nx.HHT(alpha=0.0, dt=5e-4), initial=report)
    assert result.recording.violation.max() < 1e-9
    assert energy_drift(result) < 1e-3


@pytest.mark.parametrize("seed", range(RATE))
def test_redundant_additions_change_no_motion(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    plain = mechanisms.random_loops(np.random.default_rng(200 + seed), bodies=4, loops=1, turn=0.0, shift=0.0)[0]
    more = mechanisms.random_loops(np.random.default_rng(200 + seed), bodies=4, loops=1, turn=0.0, shift=0.0)[0]
    twins = rng.choice(list(plain.joints), 2, replace=False)
    for name in twins:  # the same joint again: all its rows depend on others
        joint = plain.joints[name]
        frames = joint.frames(plain.values)
        sides = {
            "anchor_a": frames.p_AJ, "axis_a": frames.R_AJ[:, 2], "reference_a": frames.R_AJ[:, 0],
            "anchor_b": frames.p_BJ, "axis_b": frames.R_BJ[:, 2], "reference_b": frames.R_BJ[:, 0],
        }  # fmt: skip
        more.add_joint(type(joint)(f"{name} again", joint.parent.name, joint.child.name, **sides))
    reports = [nx.assemble(system) for system in (plain, more)]
    assert reports[0].redundancy.dof == reports[1].redundancy.dof
    rows = [report.redundancy.constraints for report in reports]
    assert len(reports[1].redundancy.redundant) - len(reports[0].redundancy.redundant) == rows[1] - rows[0]
    results = [nx.simulate(s, 0.05, nx.HHT(dt=1e-3), initial=r) for s, r in zip((plain, more), reports, strict=True)]
    for name in plain.bodies:
        np.testing.assert_allclose(results[0].position(name)[-1], results[1].position(name)[-1], atol=1e-8)


# --- nothing open beyond this machine -------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's /proc")
def test_the_viewer_listens_on_the_loopback_alone() -> None:
    before = listening()
    with nx.Viewer(nx.load("double-pendulum"), port=free_port(LOOPBACK, 19400)):
        opened = listening() - before
    assert opened and all(address == "0100007F" for address, _ in opened)


def listening() -> set[tuple[str, str]]:
    """Address and port of the sockets on which this process listens."""
    own = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            own.add(os.readlink(entry))
        except OSError:
            continue
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in own:
                found.add(tuple(cells[1].split(":")))
    return found

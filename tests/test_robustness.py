"""Random mechanisms obey the laws of mechanics; killed, cut off and repeated, NexDyn leaves nothing broken and varies in nothing."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import mechanisms
import numpy as np
import pytest
import systems

import nexdyn as nx
from nexdyn.analysis.simulate import simulation_of
from nexdyn.joints import JOINTS
from nexdyn.problems.double_pendulum import double_pendulum
from nexdyn.view.server import LOOPBACK, free_port

RATE = int(os.environ.get("NEXDYN_RANDOM", "2"))
"""Random mechanisms a test; NEXDYN_RANDOM=1000 for a long run."""
STEPS = int(os.environ.get("NEXDYN_STEPS", "100000"))
"""Steps of a long run; NEXDYN_STEPS=1000000 for as many."""
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
    system, _ = mechanisms.random_loops(
        rng,
        bodies=6,
        loops=2,
        turn=0.0,
        shift=0.0,
        kinds=mechanisms.EVERY_KIND,
        closers=rng.permutation(mechanisms.CLOSERS),
    )
    springs(system, rng)
    report = nx.assemble(system)
    result = nx.simulate(system, 0.05, nx.HHT(alpha=0.0, dt=5e-4), initial=report)
    assert result.recording.violation.max() < 1e-9
    assert energy_drift(result) < 1e-3


def forces(system: nx.System, rng: np.random.Generator) -> None:
    """One of each force between two bodies, with dampers, and friction and damping in every joint."""
    names = list(system.bodies)

    def pair() -> tuple[str, str]:
        a, b = rng.choice(len(names), 2, replace=False)
        return names[a], names[b]

    def points() -> dict[str, np.ndarray]:
        return {"anchor_a": rng.normal(size=3), "anchor_b": rng.normal(size=3)}

    system.add_force(nx.PointSpring("spring", *pair(), **points(), stiffness=3.0, damping=0.4, length=0.3))
    system.add_force(nx.TorsionSpring("torsion", *pair(), stiffness=0.5, damping=0.2))
    system.add_force(nx.Bushing("bushing", *pair(), **points(), stiffness=(2, 3, 4, 0.5, 0.6, 0.7), damping=(0.3,) * 6))
    table = {"deflections": (-1.0, 0.0, 2.0), "forces": (-2.0, 0.0, 5.0)}
    system.add_force(nx.ForceTable("table", *pair(), **points(), **table, rest=0.5))


@pytest.mark.parametrize("seed", range(RATE))
def test_forces_between_bodies_keep_the_momentum_of_what_floats_and_dampers_take_energy(seed: int) -> None:
    rng = np.random.default_rng(300 + seed)
    system = nx.System("afloat", gravity=(0, 0, 0))
    solids = {f"b{i}": systems.solid(rng) for i in range(4)}
    before = [system.add_body("b0", **solids["b0"], **systems.somewhere(rng))]
    system.add_joint(nx.Free("j0", system.ground, before[0]))
    for i, kind in enumerate(rng.choice([kind for kind in systems.MOVING if kind != "free"], 3), 1):
        before.append(system.add_body(f"b{i}", **solids[f"b{i}"], **systems.somewhere(rng)))
        pitch = {"pitch": 0.3} if kind == "helical" else {}
        place = {"at": rng.normal(size=3), "axis": systems.unit(rng, 3), "reference": systems.unit(rng, 3)}
        system.add_joint(JOINTS[str(kind)](f"j{i}", before[rng.integers(i)], before[i], **place, **pitch, damping=0.3))
    forces(system, rng)
    v0 = rng.normal(size=nx.Tree(system).nv)
    result = nx.simulate(system, 0.3, nx.DormandPrince(rtol=1e-11, atol=1e-12), v0=v0)
    linear, angular = 0.0, 0.0
    for name, solid in solids.items():
        m, com, I = solid["mass"], solid["com"], solid["inertia"]
        R, w = result.rotation(name).values, result.angular_velocity(name).values
        arm = R @ com
        p, v = result.position(name).values + arm, result.velocity(name).values + np.cross(w, arm)
        linear = linear + m * v
        angular = angular + np.cross(p, m * v) + np.einsum("nij,jk,nlk,nl->ni", R, I, R, w)
    for momentum in (np.asarray(linear), np.asarray(angular)):
        np.testing.assert_allclose(
            momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-7 * (1 + np.abs(momentum).max())
        )
    lost = np.diff(result.observed.energies["total_energy"])
    assert (lost < 1e-9).all() and lost.sum() < -1e-3


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


# --- the same again -------------------------------------------------------------------------------------------------

PRINTS_BITS = """
    import hashlib, sys, nexdyn as nx
    for name, method in (
        ("hinge-chain", nx.RungeKutta4(1e-3)), ("double-pendulum", nx.DormandPrince()), ("four-bar", nx.HHT(dt=1e-3)),
        ("implicit-euler", None),
    ):
        method = method or nx.ImplicitEuler(1e-2, mu=1000, updates=10)
        r = nx.simulate(nx.load(name), 0.2, method).recording
        bits = b"".join(x.tobytes() for x in (r.t, *((r.q, r.v, r.a) if hasattr(r, "q") else (r.position, r.velocity))))
        print(name, hashlib.sha256(bits).hexdigest())
"""


def test_the_same_scene_gives_the_same_bits_in_other_processes_and_with_other_threads() -> None:
    def bits(threads: str) -> str:
        environment = {**os.environ, "NUMBA_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        code = textwrap.dedent(PRINTS_BITS)
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    first = bits("1")
    assert first.count("\n") == 4 and bits("1") == first
    assert bits("2") == first


# --- killed, full, locked -------------------------------------------------------------------------------------------

SAVES = """
    import sys, nexdyn as nx
    result = nx.open_result(sys.argv[1])
    print("ready", flush=True)
    while True:
        result.save("run.nc"); result.to_csv("run.csv"); nx.save_scene(result.system, "scene.yaml")
"""


@posix
def test_a_process_that_is_killed_while_it_saves_leaves_whole_files(tmp_path: Path) -> None:
    rng = random.Random(5)
    system = nx.load("hinge-chain")
    nx.simulate(system, 0.5, nx.RungeKutta4(1e-3)).save(tmp_path / "source.nc")
    folder = tmp_path / "out"
    folder.mkdir()
    for _ in range(4):
        line = [sys.executable, "-c", textwrap.dedent(SAVES), str(tmp_path / "source.nc")]
        with subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE) as run:
            assert run.stdout is not None and run.stdout.readline() == b"ready\n"
            while not (folder / "scene.yaml").exists():  # all three have been written once
                time.sleep(0.01)
            time.sleep(0.3 * rng.random())
            run.kill()
        assert len(nx.open_result(folder / "run.nc").recording.t) == 501
        assert (folder / "run.csv").read_text(encoding="utf-8").count("\n") >= 502
        assert nx.load(folder / "scene.yaml").name == system.name


@posix
def test_a_run_that_is_killed_leaves_what_it_had_written(tmp_path: Path) -> None:
    rng = random.Random(7)
    command = "-m nexdyn run double-pendulum --t-end 1e6 --output-every 100 --save-every 0.05 --out run.nc"
    line, path = [sys.executable, *command.split()], tmp_path / "run.nc"
    for _ in range(3):
        with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            before = path.stat().st_mtime_ns if path.exists() else 0
            while not path.exists() or path.stat().st_mtime_ns == before:
                time.sleep(0.01)
                assert run.poll() is None
            time.sleep(0.5 * rng.random())
            run.kill()
        result = nx.open_result(path)
        assert result.status == "interrupted" and "as the run went on" in result.message
        assert np.isfinite(result.recording.q).all() and (np.diff(result.recording.t) > 0.0).all()


@posix
def test_a_full_disk_leaves_pages_pictures_and_scenes_as_they_were(tmp_path: Path) -> None:
    """The limit on the size of files stands for the full disk."""
    code = """
        import resource, nexdyn as nx
        result = nx.simulate(nx.load("double-pendulum"), 0.1)
        whole = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        for name, save in (
            ("run.html", lambda path: nx.record(result, path)), ("run.png", lambda path: result.plot(path=path)),
            ("run.svg", lambda path: result.plot(path=path)), ("still.png", lambda path: nx.save_still(result, path)),
            ("run.gif", lambda path: nx.save_video(result, path)), ("scene.yaml", lambda path: nx.save_scene(result.system, path)),
        ):
            open(name, "w").write("old")
            save("trial-" + name)  # what is imported on the way may write files of its own
            for room in (0, 100):
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
                try:
                    save(name)
                except nx.FileError as error:
                    assert name in str(error) and "cannot be written" in str(error), error
                else:
                    raise AssertionError(name)
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, whole)
                assert open(name).read() == "old", name
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")]


# --- nothing open beyond this machine -------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's /proc")
def test_the_viewer_listens_on_the_loopback_alone() -> None:
    before = listening()
    with nx.Viewer(nx.load("double-pendulum"), port=free_port(LOOPBACK, 19400)):
        opened = listening() - before
    assert opened and all(address == "0100007F" for address, _ in opened)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's /proc")
def test_a_sweep_in_two_processes_listens_on_nothing() -> None:
    before, seen = listening(), []

    def look(done: int, total: int) -> None:
        own = os.getpid()
        children = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and parent_of(p) == own]
        seen.append((len(children), set().union(listening(), *map(listening, children)) - before))

    system = double_pendulum()
    axes = {"link1.mass": [1.0, 2.0, 3.0, 4.0]}
    nx.sweep(
        system, axes, measure="final position.link1.x", jobs=2, t_end=0.01, method=nx.RungeKutta4(1e-3), progress=look
    )
    assert max(count for count, _ in seen) >= 2  # the workers were there
    assert all(address == "0100007F" for _, opened in seen for address, _ in opened)


def parent_of(process: Path) -> int:
    """The process that started one."""
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0


def listening(process: int | str = "self") -> set[tuple[str, str]]:
    """Address and port of the sockets on which a process listens."""
    own = set()
    try:
        entries = list(Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return set()
    for entry in entries:
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


# --- long runs ------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "method", "drift"),
    [(double_pendulum, nx.RungeKutta4(1e-4), 1e-6), (mechanisms.four_bar, nx.HHT(dt=1e-4), 1e-4)],
    ids=["chain", "closed loops"],
)
def test_a_million_steps_need_no_more_memory_than_a_few(make: Any, method: Any, drift: float) -> None:
    simulation = simulation_of(make(), method, output_every=1000)
    simulation.run(2000 * method.dt)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = simulation.run(STEPS * method.dt)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert abs(result.recording.steps - STEPS) <= 1 and abs(len(result.recording.t) - (STEPS // 1000 + 1)) <= 1
    assert grown < 64 * 1024  # KiB: a thousand samples, not a million
    assert energy_drift(result) < drift
    if hasattr(result.recording, "violation"):
        assert result.recording.violation.max() < 1e-9

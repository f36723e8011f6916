"""Killed, cut off, repeated and run for very long, NexDyn leaves nothing broken, varies in nothing and grows in nothing."""

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

import nexdyn as nx
from nexdyn.problems.double_pendulum import double_pendulum
from nexdyn.simulation.choice import simulation_of
from nexdyn.view.server import LOOPBACK, free_port

STEPS = 1_000_000
"""Steps of a long run."""
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


# --- the same again -------------------------------------------------------------------------------------------------

PRINTS_BITS = """
    import hashlib, sys, nexdyn as nx

    def tell(name, *arrays):
        print(name, hashlib.sha256(b"".join(x.tobytes() for x in arrays)).hexdigest())

    for name, method in (
        ("hinge-chain", nx.RungeKutta4(1e-3)), ("double-pendulum", nx.DormandPrince()), ("four-bar", nx.HHT(dt=1e-3)),
        ("four-bar", nx.RungeKutta4(1e-3)), ("implicit-euler", nx.ImplicitEuler(1e-2, mu=1000, updates=10)),
    ):
        r = nx.simulate(nx.load(name), 0.2, method).recording
        tell(name, r.t, *((r.q, r.v, r.a) if hasattr(r, "q") else (r.position, r.velocity)))
    starts = {"v0": {"hinge1": [0.1 * k for k in range(20)]}}
    chain = nx.load("hinge-chain")
    tell("batch", nx.simulate(chain, 0.05, nx.RungeKutta4(1e-3), batch=starts, threads=int(sys.argv[1])).recording.rows)
    tree = nx.Tree(chain)
    q = [0.3 * k for k in range(tree.nq)]
    tell("forces", tree.cfa(q, q, q, solver="parallel", threads=int(sys.argv[1]))[0])
"""


def test_the_same_scene_gives_the_same_bits_in_other_processes_and_with_other_threads() -> None:
    def bits(threads: str) -> str:
        environment = {**os.environ, "NUMBA_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        code = textwrap.dedent(PRINTS_BITS)
        line = [sys.executable, "-c", code, threads]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    first = bits("1")
    assert first.count("\n") == 7 and bits("1") == first
    assert bits("2") == first


# --- killed, full, locked -------------------------------------------------------------------------------------------

SAVES = """
    import os, random, signal, sys, nexdyn as nx

    result = nx.open_result(sys.argv[1])

    def save():
        result.save("run.nc"); result.to_csv("run.csv"); nx.save_scene(result.system, "scene.yaml")

    def lines_of(stop):
        # lines run while saving; at that many the process is killed
        seen = 0
        def count(frame, event, _):
            nonlocal seen
            if event == "line":
                seen += 1
                if seen == stop:
                    os.kill(os.getpid(), signal.SIGKILL)
            return count
        sys.settrace(count)
        save()
        sys.settrace(None)
        return seen

    save()
    total, rng, died = lines_of(-1), random.Random(5), 0
    for k in range(int(sys.argv[2])):
        child = os.fork()
        if child == 0:
            lines_of(rng.randrange(1, total))
            os._exit(0)
        rng.random()  # a child's draw is not its parent's
        died += os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        rng.seed(k)
        assert len(nx.open_result("run.nc").recording.t) == 501, k
        assert open("run.csv", encoding="utf-8").read().count("\\n") >= 502, k
        assert nx.load("scene.yaml").name == result.system.name, k
    print(total, died)
"""


@posix
def test_a_process_that_is_killed_while_it_saves_leaves_whole_files(tmp_path: Path) -> None:
    """Killed at random lines of what saves, so that no moment is left out for being short."""
    nx.simulate(nx.load("hinge-chain"), 0.5, nx.RungeKutta4(1e-3)).save(tmp_path / "source.nc")
    line = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SAVES), str(tmp_path / "source.nc"), "12"]
    run = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    total, died = map(int, run.stdout.split())
    assert total > 1000 and died >= 10  # caches may save lines the second time


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
@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3)], ids=lambda m: m.name)
def test_a_run_that_is_killed_goes_on_from_its_file_to_where_a_whole_one_ends(method: Any, tmp_path: Path) -> None:
    """To the bit: the file holds the state of the last save, on a step."""
    options = f"--method {method.name} --dt 1e-3 --t-end 1e6 --output-every 100 --save-every 0.05 --out run.nc"
    command = f"-m nexdyn run double-pendulum {options}"
    line, path = [sys.executable, *command.split()], tmp_path / "run.nc"
    with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        first = None
        while first is None or path.stat().st_mtime_ns == first:  # killed behind its second save
            if path.exists():
                first = first or path.stat().st_mtime_ns
            time.sleep(0.01)
            assert run.poll() is None
        run.kill()
    killed = nx.open_result(path)
    assert killed.status == "interrupted"
    t_end = float(killed.t[-1]) + 0.5
    rest = nx.simulate(killed.system, t_end, method, initial=killed, output_every=100)
    whole = nx.simulate(nx.load("double-pendulum"), t_end, method, output_every=100)
    assert float(rest.t[0]) == float(killed.t[-1]) > 0.0
    assert float(rest.t[-1]) == float(whole.t[-1])
    for joint in whole.system.joints:
        for what in ("joint_position", "joint_velocity"):
            at_end, as_killed, of_whole = (x.observed.of_joint(what, joint) for x in (rest, killed, whole))
            assert np.array_equal(at_end[-1], of_whole[-1]), (joint, what)
            n = len(killed.t) - 1  # the last is that of the save, between two samples
            assert n > 0
            np.testing.assert_allclose(as_killed[:n], of_whole[:n], rtol=0, atol=1e-12 * np.abs(of_whole).max())


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


def chain(links: int = 8) -> nx.System:
    """Links on hinges that turn about x and y by turns, without damping."""
    system = nx.System("chain", gravity=(0, 0, -9.81))
    before = system.ground
    for i in range(links):
        link = system.add_body(f"link{i}", mass=1.0, inertia=(0.02, 0.02, 0.001), position=(0, 0, -0.4 * (i + 0.5)))
        axis = ((1, 0, 0), (0, 1, 0))[i % 2]
        start = 0.3 if i < 2 else 0.0
        system.add_joint(nx.Revolute(f"hinge{i}", before, link, at=(0, 0, -0.4 * i), axis=axis, q0=start))
        before = link
    return system


def energy_drift(result: nx.Result) -> float:
    """Largest change of the total energy, beside the kinetic energy that came and went."""
    energy = {name: result.observed.energies[f"{name}_energy"] for name in ("kinetic", "total")}
    return float(np.ptp(energy["total"]) / np.ptp(energy["kinetic"]))


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "method", "drift"),
    [
        (chain, nx.RungeKutta4(1e-3), 1e-8),
        (chain, nx.HHT(dt=1e-4), 1e-6),
        (mechanisms.four_bar, nx.RungeKutta4(1e-4), 1e-10),
        (mechanisms.four_bar, nx.HHT(dt=1e-4), 1e-5),
    ],
    ids=["chain, minimal coordinates", "chain, absolute", "loop, minimal coordinates", "loop, absolute"],
)
def test_a_million_steps_need_no_more_memory_than_a_few(make: Any, method: Any, drift: float) -> None:
    simulation = simulation_of(make(), method, output_every=1000)
    simulation.run(2000 * method.dt)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = simulation.run(STEPS * method.dt)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert abs(result.recording.steps - STEPS) <= 1 and abs(len(result.recording.t) - (STEPS // 1000 + 1)) <= 1
    assert grown < 32 * 1024  # KiB: a thousand samples; a million would be 300 MB and more
    assert energy_drift(result) < drift
    if hasattr(result.recording, "violation"):
        assert result.recording.violation.max() < 1e-9

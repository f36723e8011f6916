"""The command line as a process: what it imports, Ctrl-C, terminals, pipes, streams that are closed or full."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nexdyn as nx

NEXDYN = [sys.executable, "-m", "nexdyn"]
ENDLESS = [*NEXDYN, "run", "hinge-chain", "--t-end", "1e6", "--output-every", "1000"]
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and terminals")


def call(*arguments: str, cwd: Path, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run nexdyn to its end."""
    return subprocess.run([*NEXDYN, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, **settings)  # type: ignore[call-overload]


def hear_signals() -> None:
    """In the child: Ctrl-C works even where the tests run in the background, which ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys; from nexdyn.cli import main; main(['--help']); main(['run', '--help']);"
        "print('heavy:', [m for m in ('numba', 'numpy', 'scipy', 'xarray', 'h5py') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    program = "import sys, nexdyn; print([m for m in ('numba', 'scipy', 'xarray', 'rich', 'yaml') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n"


def test_a_pipe_gets_neither_colours_nor_progress(tmp_path: Path) -> None:
    done = call("run", "double-pendulum", "--t-end", "0.01", cwd=tmp_path)
    assert done.returncode == 0 and "double-pendulum.nc" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr and "━" not in done.stderr


MEMORY_OF_A_COMMAND = 400e6
"""Bytes that a command takes at most, what it compiles included; `run four-bar` is one that compiles most."""
IN_A_CHILD = """
import json, resource, subprocess, sys
run = subprocess.run(sys.argv[1:], capture_output=True, text=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps([run.returncode, run.stdout, run.stderr, peak * (1 if sys.platform == "darwin" else 1024)]))
"""
"""Of a command that is its only child a process knows the peak."""


@pytest.mark.slow
@posix
def test_the_first_run_says_that_it_compiles_and_json_stays_pure_and_takes_little_memory(tmp_path: Path) -> None:
    line = [sys.executable, "-c", IN_A_CHILD, *NEXDYN, "run", "four-bar", "--json"]
    peaks, code, out, err, fresh = list[float](), 1, "", "", dict(os.environ)
    while len(peaks) < 2 and not (
        peaks and peaks[-1] < MEMORY_OF_A_COMMAND
    ):  # once more: other processes delay the freeing of memory
        fresh = {**os.environ, "NEXDYN_CACHE_DIR": str(tmp_path / f"kernels{len(peaks)}")}
        done = subprocess.run(line, cwd=tmp_path, env=fresh, capture_output=True, text=True, timeout=600, check=True)
        code, out, err, peak = json.loads(done.stdout)
        peaks.append(peak)
    assert code == 0 and peaks[-1] < MEMORY_OF_A_COMMAND, peaks
    first = subprocess.CompletedProcess(line, code, out, err)
    assert json.loads(first.stdout)["status"] == "finished"
    assert first.stderr.count("compiling") == 1 and "kept for later runs" in first.stderr
    assert re.search(r"compiled \d+ functions in \d+ s, which times of runs leave out", first.stderr)
    assert json.loads(first.stdout)["wall_time"] < 1.0
    assert call("run", "four-bar", "--json", cwd=tmp_path, env=fresh).stderr == ""


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_ctrl_c_keeps_what_is_done(tmp_path: Path, number: signal.Signals) -> None:
    screen, terminal = os.openpty()
    run = subprocess.Popen(
        ENDLESS, cwd=tmp_path, stdout=subprocess.PIPE, stderr=terminal, stdin=terminal, preexec_fn=hear_signals
    )
    os.close(terminal)
    shown = read_until(screen, b"of 1e+06 s")
    assert b"%" in shown and b"left" in shown
    for _ in range(3):  # the first pictures of the bar may be of the start
        read_until(screen, b"of 1e+06 s")
    run.send_signal(number)
    rest = read_until(screen, b"is in hinge-chain.nc")
    out, _ = run.communicate(timeout=120)
    os.close(screen)
    assert run.returncode == 130
    assert b"interrupted at t = " in rest and b"interrupted" in out
    assert [path.name for path in tmp_path.iterdir()] == ["hinge-chain.nc"]
    result = nx.open_result(tmp_path / "hinge-chain.nc")
    assert result.status == "interrupted" and 0.0 < result.recording.t[-1] < 1e6


def read_until(screen: int, text: bytes, limit: float = 300.0) -> bytes:
    """What appears on a terminal until `text` does, its words on whichever lines a narrow one puts them."""
    shown, end = b"", time.monotonic() + limit
    while text not in b" ".join(shown.split()) and time.monotonic() < end:
        try:
            shown += os.read(screen, 65536)
        except OSError:  # the other side is closed
            break
    words = b" ".join(shown.split())
    assert text in words, shown[-2000:]
    return words


CAUGHT_WITHIN_EXEC = """
import sys
from nexdyn.cli import door

def interrupted(*_):
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return 0

door._answered = interrupted
sys.exit(door.main(["view"]))
"""


@posix
def test_ctrl_c_while_python_makes_a_class_leaves_the_exit_code(tmp_path: Path) -> None:
    """CPython would kill itself at the end of `python -m nexdyn`."""
    (tmp_path / "caught.py").write_text(CAUGHT_WITHIN_EXEC)
    done = subprocess.run([sys.executable, "-m", "caught"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@posix
@pytest.mark.parametrize(
    ("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)], ids=["colours", "NO_COLOR"]
)
def test_errors_on_a_terminal_are_coloured_unless_unwanted(
    tmp_path: Path, variables: dict[str, str], coloured: bool
) -> None:
    screen, terminal = os.openpty()
    environment = {key: x for key, x in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color"} | variables
    done = subprocess.run([*NEXDYN, "run", "nothing"], cwd=tmp_path, env=environment, stderr=terminal, timeout=60)
    os.close(terminal)
    shown = read_until(screen, b"hinge-chain")
    os.close(screen)
    assert done.returncode == 2 and b"error:" in shown and (b"\x1b[1;31m" in shown) == coloured


@posix
def test_a_reader_that_leaves_is_no_error_to_complain_of(tmp_path: Path) -> None:
    for command in ("info hinge-chain", "demos --json", "run --help"):
        line = [*NEXDYN, *command.split()]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as done:
            done.stdout.close()  # type: ignore[union-attr]
            assert done.stderr.read() == b""  # type: ignore[union-attr]
            assert done.wait(60) == 141


@posix
def test_closed_streams_do_not_stop_a_run(tmp_path: Path) -> None:
    command = f"{sys.executable} -m nexdyn run double-pendulum --t-end 0.01 >&- 2>&-"
    assert subprocess.run(command, shell=True, cwd=tmp_path, timeout=300).returncode == 0
    assert nx.open_result(tmp_path / "double-pendulum.nc").status == "finished"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["demos", "demos --json"])
def test_a_full_disk_under_stdout_is_an_error(tmp_path: Path, command: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*NEXDYN, *command.split()], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, timeout=60
        )
    assert done.returncode == 1 and done.stderr.startswith("error: stdout") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_utf_8_gets_plain_substitutes(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "Größe.yaml").write_text("name: Größe ≤ 2\nbodies: {körper: {mass: 1, inertia: [1, 1, 1]}}", "utf-8")
    done = subprocess.run(
        [*NEXDYN, "info", "Größe.yaml"], cwd=tmp_path, capture_output=True, timeout=60,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    text = done.stdout.decode(encoding)
    assert done.returncode == 0 and "ground -> " in text and "<= 2" in text
    assert ("körper" if encoding == "latin-1" else "k\\xf6rper") in text


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs Linux's /proc, where not even root makes files")
def test_a_folder_in_which_nobody_can_write_is_noticed_before_the_run(tmp_path: Path) -> None:
    done = call("run", "hinge-chain", "--out", "/proc/run.nc", cwd=tmp_path)
    assert (
        done.returncode == 2 and "folder '/proc' cannot be written to" in done.stderr and not list(tmp_path.iterdir())
    )


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_noticed_before_the_run(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    done = call("run", "hinge-chain", cwd=tmp_path)
    tmp_path.chmod(0o700)
    assert done.returncode == 2 and "cannot be written to" in done.stderr and not list(tmp_path.iterdir())

"""`nexdyn view` and `run --view`: the address and signals, as processes; recordings and bad input, in this one."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import pytest
from test_cli_process import NEXDYN, hear_signals, posix

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.cli.codes import NO_SOLUTION
from nexdyn.cli.live import Live, write
from nexdyn.view.server import LOOPBACK, free_port

LIMIT = 240.0
"""Seconds after which what should have come has not."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("view") / "run.nc"
    nx.simulate(nx.load("hinge-chain"), t_end=0.5, method=nx.RungeKutta4(1e-3), output_every=10).save(path)
    return path


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiles what runs of the double pendulum need, so that a process does not."""
    out = tmp_path_factory.mktemp("compiles") / "other.nc"
    assert main(["run", "double-pendulum", "--t-end", "0.2", "--quiet", "--out", str(out)]) == 0


Told = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def view(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Told:
    """Calls `nexdyn view` in an empty folder, to its end: what does not serve a page needs no process of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEXDYN_DEBUG", "")

    def call_here(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = main(["view", *arguments])
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return call_here


@contextmanager
def started(*arguments: str, cwd: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, object]]]:
    """A command that serves a page, and what it said as JSON."""
    port = str(free_port(LOOPBACK, 19_100))
    line = [*NEXDYN, *arguments, "--no-browser", "--json", "--port", port]
    with subprocess.Popen(
        line, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals
    ) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            if arguments[0] == "run":  # whose JSON is the summary at the end
                yield process, {"address": re.search(r"http://\S+", process.stderr.readline())[0]}  # type: ignore[index]
            else:
                yield process, summary(process)
        finally:
            if process.poll() is None:
                process.kill()


def summary(process: subprocess.Popen[str]) -> dict[str, object]:
    """The next JSON object that a command says."""
    assert process.stdout is not None and process.stderr is not None
    said = ""
    while not said.endswith("\n}\n"):
        said += process.stdout.readline() or pytest.fail(process.stderr.read())
    found: dict[str, object] = json.loads(said)
    return found


def answers(address: object) -> bool:
    try:
        with urllib.request.urlopen(str(address), timeout=LIMIT) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@posix
def test_view_serves_a_result_until_ctrl_c(run: Path) -> None:
    with started("view", str(run), cwd=run.parent) as (process, said):
        assert said["name"] == "hinge chain" and answers(said["address"])
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0
        assert not answers(said["address"])


@posix
@pytest.mark.usefixtures("compiled")
def test_view_simulates_a_model_and_plays_it(tmp_path: Path) -> None:
    with started("view", "double-pendulum", "--t-end", "0.2", cwd=tmp_path) as (process, said):
        assert answers(said["address"])
        assert process.stderr is not None
        while "simulated until t = 0.2 s; the page shows what was reached" not in (line := process.stderr.readline()):
            assert line, "it ended"
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0
    assert list(tmp_path.iterdir()) == []  # looking writes nothing


@posix
def test_view_shows_closed_loops_as_they_stand(tmp_path: Path) -> None:
    with started("view", "four-bar", "--still", cwd=tmp_path) as (process, said):
        assert answers(said["address"])
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0


@posix
def test_a_page_that_runs_leaves_its_motion_and_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXDYN_ONE_FOR_ALL", "1")
    line = ["view", "double-pendulum", "--live", "--out", "a.nc", "--hands", "done.json"]
    with started(*line, cwd=tmp_path) as (process, said):
        ray = "grab?ray=1.5,-5,0,0,10,0&t=0"
        with urllib.request.urlopen(f"{said['address']}ask/{ray}", timeout=LIMIT) as reply:
            assert json.loads(reply.read())["name"] == "rod2"
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0
    assert nx.open_result(tmp_path / "a.nc").system.forces["hand 1"].body == "rod2"
    done = json.loads((tmp_path / "done.json").read_text(encoding="utf-8"))
    assert next(entry for entry in done["log"] if "grab" in entry)["grab"] == "rod2"


def test_what_was_done_is_replayed(view: Told, tmp_path: Path) -> None:
    system = nx.load("double-pendulum")
    session = nx.Session(system, nx.RungeKutta4(1e-3))
    session.grab("rod2")
    session.pull((0.5, 0.5, 1.0))
    for _ in range(5):
        session.advance(0.02)
    write(session, Live(live=True, hands=tmp_path / "done.json"))
    done = view("double-pendulum", "--replay", "done.json", "--png", "end.png", "--size", "64x48")
    assert (done.returncode, (tmp_path / "end.png").exists()) == (0, True)
    for more, said in (
        (["--set", "gravity=0,0,-1.62"], "with other numbers (--set)"),
        (["--dt", "2e-3"], "was done by"),
    ):
        done = view("double-pendulum", "--replay", "done.json", "--png", "end.png", *more)
        assert done.returncode == 2 and said in done.stderr
    for text, said in (("{", "is no file that --hands wrote"), ('{"log": 1}', "is no file that --hands wrote")):
        (tmp_path / "done.json").write_text(text)
        done = view("double-pendulum", "--replay", "done.json", "--png", "end.png")
        assert done.returncode == 2 and said in done.stderr and "done.json" in done.stderr


@posix
@pytest.mark.usefixtures("compiled")
def test_run_with_view_writes_its_result_and_stays(tmp_path: Path) -> None:
    with started("run", "double-pendulum", "--t-end", "0.2", "--view", cwd=tmp_path) as (process, said):
        assert summary(process)["status"] == "finished"
        assert answers(said["address"]) and process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0
    assert nx.open_result(tmp_path / "double-pendulum.nc").status == "finished"


def test_html_writes_one_file_and_serves_nothing(run: Path, view: Told, tmp_path: Path) -> None:
    done = view(str(run), "--html", "out.html", "--show", "trails", "--follow", "link6")
    assert (done.returncode, done.stderr) == (0, "") and "out.html" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]
    assert "<title>hinge chain</title>" in (tmp_path / "out.html").read_text(encoding="utf-8")


def newer(run: Path, path: Path) -> None:
    path.write_bytes(run.read_bytes())
    with h5py.File(path, "r+") as file:
        file.attrs["nexdyn_schema"] = 99


def cut_short(run: Path, path: Path) -> None:
    path.write_bytes(run.read_bytes()[:2000])


@pytest.mark.parametrize("command", [["view"], ["view", "--live"], ["run", "--view", "--quiet"]])
def test_of_what_cannot_be_assembled_the_error_comes_alone(
    command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No address before it, and no page that ends at once."""
    monkeypatch.chdir(tmp_path)
    body = "{mass: 1, inertia: [1, 1, 1], position: "
    (tmp_path / "open.yaml").write_text(
        f"name: open\nbodies:\n  a: {body}[0, 0, 0]}}\n  b: {body}[1, 0, 0]}}\njoints:\n"
        "  j1: {type: revolute, parent: ground, child: a, at: [0, 0, 0], axis: [0, 1, 0]}\n"
        "  j2: {type: revolute, parent: a, child: b, at: [0.5, 0, 0], axis: [0, 1, 0]}\n"
        "  j3: {type: rod, parent: ground, child: b, length: 9.0, anchor_a: [3, 0, 0], anchor_b: [0.5, 0, 0]}\n"
    )
    code = main([*command, "open.yaml", "--no-browser", "--port", str(free_port(LOOPBACK, 19_300))])
    out, err = capfd.readouterr()
    assert code == NO_SOLUTION and out == ""
    lines = [line for line in err.splitlines() if line.strip()]
    assert lines[-1].startswith("error: system 'open' cannot be assembled: joint 'j1' stays open") and "http" not in err
    assert not any(line.startswith("error") for line in lines[:-1])


def test_a_pose_is_one_file_too(view: Told, tmp_path: Path) -> None:
    done = view("four-bar", "--still", "--html", "out.html")
    assert done.returncode == 0 and done.stdout.startswith("four-bar: out.html ("), done.stderr
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert '"moves":false' in text and "<p>a pose</p>" in text


def test_results_that_cannot_be_read_are_refused(run: Path, view: Told, tmp_path: Path) -> None:
    for damage, message in ((newer, "layout 99"), (cut_short, "damaged or cut short")):
        bad = tmp_path / f"{damage.__name__}.nc"
        damage(run, bad)
        done = view(bad.name, "--no-browser")
        assert done.returncode == 2 and bad.name in done.stderr and message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.nc"], "no such file"),
        (["hinge-chian"], "hinge-chain"),
        (["hinge-chain", "--port", "99999"], "port is 99999"),
        (["hinge-chain", "--speed", "2"], "--speed is of a recording; add --html out.html"),
        (["hinge-chain", "--html", "out.mp4"], "must end in .html"),
        (["hinge-chain", "--html", "out.html", "--still", "--speed", "2"], "--speed is of a motion"),
        (["hinge-chain", "--live", "--still"], "--live is a page that runs"),
        (["hinge-chain", "--out", "a.nc"], "--out is what a page that runs leaves; add --live"),
        (["hinge-chain", "--live", "--out", "a.csv"], "must end in .nc"),
        (["hinge-chain", "--live", "--t-end", "3"], "--t-end is of a run that ends by itself"),
        (["hinge-chain", "--live", "--replay", "a.json"], "leave --live and --still out"),
        (["hinge-chain", "--replay", "missing.json"], "missing.json"),
        (["RUN", "--html", "out.html", "--follow", "link66"], "did you mean 'link6'"),
        (["RUN", "--html", "out.html", "--show", "ghosts"], "no layer 'ghosts'; layers: shapes"),
        (["RUN", "--html", "nowhere/out.html"], "there is no folder 'nowhere'"),
    ],
)
def test_bad_input_ends_with_2_and_says_why(
    run: Path, view: Told, tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = view(*[str(run) if part == "RUN" else part for part in arguments], "--no-browser")
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("ghost", "named"),
    [
        ("other.nc", "only the ghost has bodies rod1, rod2"),
        ("hinge-chain", "a result (.nc) is needed"),
        ("missing.nc", "no such file"),
    ],
)
def test_a_ghost_that_does_not_fit_is_refused(run: Path, view: Told, tmp_path: Path, ghost: str, named: str) -> None:
    if ghost == "other.nc":
        nx.simulate(nx.load("double-pendulum"), t_end=0.1, method=nx.RungeKutta4(1e-3)).save(tmp_path / ghost)
    done = view(str(run), ghost, "--no-browser")
    assert done.returncode == 2 and done.stdout == "" and named in " ".join(done.stderr.split())


def test_a_ghost_and_a_language_are_options_of_the_page(run: Path, tmp_path: Path) -> None:
    with started("view", str(run), str(run), "--language", "zh", cwd=tmp_path) as (process, told):
        with urllib.request.urlopen(str(told["address"])) as page:
            assert b'<html lang="zh">' in page.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0


def test_a_ghost_and_a_language_are_of_recordings_not_of_pictures(run: Path, view: Told, tmp_path: Path) -> None:
    done = view(str(run), str(run), "--html", "both.html", "--language", "zh")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert '"ghosts":["/motion/ghost0"' in text and '<html lang="zh">' in text
    done = view(str(run), str(run), "--png", "both.png")
    assert done.returncode == 2 and "on the page and in recordings" in " ".join(done.stderr.split())

"""A session at a terminal, as people see it: tmux shows what stands on the screen after every key."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminals import NEXDYN, Terminal

import nexdyn as nx
from nexdyn.view.server import LOOPBACK, free_port

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

ENDLESS = "run hinge-chain --t-end 1e6 --output-every 1000"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    opened.close()


def test_a_run_shows_a_bar_and_ctrl_c_leaves_a_clean_screen_and_a_result(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type(f"nexdyn {ENDLESS}; echo code=$?")
    first = terminal.wait_for(r"hinge-chain .*━.* +\d+% t = +\d+(\.\d+)? of 1e\+06 s \d+:\d\d:\d\d left")
    reached = re.findall(r"t = +([\d.]+) of", first)[-1]
    shown = terminal.wait_for(rf"t = +(?!{re.escape(reached)} )[\d.]+ of 1e\+06 s")  # the bar moves, and stays one line
    assert float(re.findall(r"t = +([\d.]+) of", shown)[-1]) > float(reached)
    assert shown.count("━") and sum("of 1e+06 s" in line for line in shown.split("\n")) == 1
    terminal.press("C-c")
    shown = terminal.wait_for(r"^code=130$")
    assert "^C" in shown or "interrupted" in shown
    assert "━" not in shown and "Traceback" not in shown  # the bar is gone
    assert re.search(r"note: interrupted at t = [\d.]+ s of 1e\+06 s; what was reached is in hinge-chain\.nc", shown)
    assert re.search(r"hinge chain: interrupted at t = ", shown) and "written  hinge-chain.nc" in shown
    assert terminal.tmux("display-message", "-p", "#{cursor_flag}").strip() == "1"
    assert nx.open_result(tmp_path / "hinge-chain.nc").status == "interrupted"
    assert [path.name for path in tmp_path.iterdir()] == ["hinge-chain.nc"]


def test_view_of_a_model_simulates_behind_a_bar_and_serves_the_page(terminal: Terminal) -> None:
    port = free_port(LOOPBACK, 19_600)
    terminal.type(f"nexdyn view hinge-chain --no-browser --port {port}; echo code=$?")
    shown = terminal.wait_for(r"the page shows what was reached")
    assert re.search(rf"http://127\.0\.0\.1:{port}/\S+/", shown)
    terminal.press("C-c")
    shown = terminal.wait_for(r"code=\d+")
    assert "code=0" in shown and "Traceback" not in shown


def test_errors_are_a_line_that_says_what_was_meant(terminal: Terminal) -> None:
    terminal.type("nexdyn run hinge-chian; echo code=$?")
    shown = terminal.wait_for(r"^code=2$")
    assert "error: no demo or file 'hinge-chian'; did you mean 'hinge-chain'?" in shown
    for k, (line, meant) in enumerate(
        (
            ("runn hinge-chain", 'Did you mean "run"?'),
            ("run hinge-chain --metod rk4", "Did you mean --method?"),
            ("run hinge-chain --method rk5", 'Did you mean "rk4"?'),
            ("run hinge-chain --set l=1", "did you mean 'L'?"),
            ("plot nothing.nc", "nothing.nc: no such file"),
            ("hinge-chain", "Did you mean: nexdyn run hinge-chain"),
            ("convert hinge-chain chain.urd", "TARGET chain.urd must end in .yaml or .yml or .urdf"),
        )
    ):
        terminal.type(f"clear; nexdyn {line}; echo code{k}=$?")  # a mark of its own: the last one may still stand there
        shown = terminal.wait_for(rf"^code{k}=2$")
        assert meant in " ".join(shown.split()) and "Traceback" not in shown


@pytest.mark.parametrize(("variables", "colours"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_are_on_where_they_are_wanted(tmp_path: Path, variables: dict[str, str], colours: bool) -> None:
    terminal = Terminal(tmp_path)
    try:
        prefix = " ".join(f"{key}={x}" for key, x in variables.items())
        terminal.type(
            f"{prefix} {NEXDYN} run nothing; {prefix} {NEXDYN} run --help; {prefix} {NEXDYN} info hinge-chain; echo code=$?"
        )
        terminal.wait_for(r"^code=0$")
        shown = terminal.screen(with_colors=True)
        error = next(line for line in shown.split("\n") if "error:" in line and "no demo" in line)
        assert ("\x1b[31m" in error or "\x1b[1;31m" in error) == colours
        assert bool(re.search(r"\x1b\[(\d+;)*(3[0-7]|9[0-7])m", shown)) == colours
    finally:
        terminal.close()


def test_help_fits_the_screen_and_teaches_by_example(terminal: Terminal) -> None:
    terminal.type("clear; nexdyn --help | head -60; echo code=$?")
    shown = terminal.wait_for(r"^code=0$")
    for command in ("run", "plot", "check", "info", "convert", "demos", "completion"):
        assert re.search(rf"^│ {command} +\w", shown, re.MULTILINE), command
    assert all(len(line) <= 100 for line in shown.split("\n"))


def test_bash_completes_commands_options_and_demos(terminal: Terminal) -> None:
    terminal.type(f"clear; source <({NEXDYN} completion bash); echo sourced")
    terminal.wait_for(r"^sourced\n\$ ?$")
    for typed, completed in (
        ("nexdyn conv", "nexdyn convert"),
        ("nexdyn run hin", "nexdyn run hinge-chain"),
        ("nexdyn run x --dyn", "nexdyn run x --dynamics"),
        ("nexdyn run x --method dopr", "nexdyn run x --method dopri5"),
    ):
        terminal.tmux("send-keys", "-l", typed)
        terminal.press("Tab")
        terminal.wait_for(rf"^\$ {re.escape(completed)} ?$")
        terminal.press("C-u")


@pytest.mark.slow
def test_a_newcomers_first_ten_commands_end_without_a_warning() -> None:
    """With what they compile where it is not there yet; the three minutes are those after `pip install .`, which compiles."""
    script = Path(__file__).resolve().parents[1] / "scripts" / "first_commands"
    done = subprocess.run(
        [sys.executable, script, "--limit", "900"], capture_output=True, text=True, timeout=1000, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^ *[\d.]+ s  (?:nexdyn|python) ", done.stdout, re.MULTILINE)) == 10

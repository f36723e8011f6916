"""Every command of README and of the pages of help, typed at a terminal: each ends as it should, fits the screen, and leaves no traceback.

In one run every second command, half of them at 80 columns in colour and half at 200 without; in the next the others. All with --long.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminals import Terminal
from turns import TURN, is_in_turn

import nexdyn as nx
from nexdyn import cli
from nexdyn.view.server import LOOPBACK, free_port

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.timeout(2400),
]

ROOT = Path(__file__).resolve().parents[1]


def commands() -> list[str]:
    """The commands as they are printed, without their remarks."""
    pages = [ROOT.joinpath("README.md").read_text(encoding="utf-8")]
    for module in pkgutil.iter_modules(cli.__path__):
        pages.append(getattr(importlib.import_module(f"nexdyn.cli.{module.name}"), "EXAMPLES", ""))
    pages.append(cli_help())
    found = re.findall(r"^(?:  )?(nexdyn .*?)(?:  .*)?$", "\n".join(pages), re.MULTILINE)
    return [*dict.fromkeys(found)]


def cli_help() -> str:
    """The examples of `nexdyn --help`."""
    text = Path(cli.__path__[0], "app.py").read_text(encoding="utf-8")
    return text[text.index("Examples") :]


NOT_TYPED = {
    r"nexdyn sweep .*--cluster": "test_sweep has a cluster of its own",
    r"nexdyn verify( --all| --json)?$": "minutes; test_verify runs all problems",
    r"nexdyn verify A03 top": "as before",
    r"nexdyn verify sliding --forms": "as before; test_verify_forms",
    r"nexdyn verify --against": "as before; test_against",
    r"nexdyn warm($| --into)": "a minute and more; test_shipped_kernels",
}
"""Commands that are not typed here, and why."""
ALSO = ("nexdyn verify top", "nexdyn verify top --all", "nexdyn verify top --json", "nexdyn check broken-four-bar")
"""Commands that are typed as well."""
EXITS = {"nexdyn check broken-four-bar": 3, "nexdyn linearize run.nc": 2}  # which still moves at its end
FIRST = {"nexdyn view four-bar --replay done.json": "nexdyn view four-bar --live --hands done.json"}
"""What leaves a file that another one reads."""
SERVES = re.compile(r"nexdyn (view (?!.*--(html|png|gif|mp4))|edit |.*--view)")
WARNINGS = re.compile(r"^warning:.*", re.MULTILINE)
SCENE = """\
gravity: [0, -9.81, 0]
parameters: {L: 0.5}
bodies:
  rod: {mass: 1.0, inertia: [0.1, 0.01, 0.1], position: [0, "=-L", 0], shapes: [{type: capsule, radius: 0.02, length: 0.5}]}
  wheel: {mass: 0.1, inertia: [0.01, 0.01, 0.01], position: [1, 0, 0]}
joints:
  motor: {type: revolute, parent: ground, child: rod, at: [0, 0, 0], axis: [0, 0, 1], damping: 0.1}
  axle: {type: revolute, parent: ground, child: wheel, axis: [0, 0, 1], damping: 0.1, stiffness: 0.5}
markers: {end: {body: rod, position: [0, "=-L", 0]}}
measures: {tip: {type: point_position, of: end}}
simulation: {t_end: 0.2}
"""
CHAIN = """\
bodies: {{{bodies}}}
joints: {{{joints}}}
"""
STUDY = """\
model: hinge-chain
parameters: {L: [0.3, 0.4]}
measure: {tip: final tip_position.z}
t_end: 0.1
"""
ROBOT = """\
<robot name="arm"><link name="base"><inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
</link><link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
  <inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 0.2"/><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="elbow" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint></robot>
"""


def prepare(folder: Path) -> None:
    """The files that commands name."""
    n = 10
    bodies = ", ".join(f"b{i}: {{mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, {-0.2 * i}]}}" for i in range(n))
    parents = ["ground", *(f"b{i}" for i in range(n))]
    joints = ", ".join(
        f"j{i}: {{type: revolute, parent: {parents[i]}, child: b{i}, at: [0, 0, {0.1 - 0.2 * i}], axis: [0, 1, 0]}}"
        for i in range(n)
    )
    texts = {
        "scene.yaml": SCENE,
        "arm.yaml": SCENE,
        "chain.yaml": CHAIN.format(bodies=bodies, joints=joints),
        "study.yaml": STUDY,
        "robot.urdf": ROBOT,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "runs").mkdir()
    for name, model in (
        ("run", "hinge-chain"),
        ("other", "hinge-chain"),
        ("hinge-chain", "hinge-chain"),
        ("robot", "robot.urdf"),
        ("a", "scene.yaml"),
    ):
        path = folder / model
        nx.simulate(nx.load(str(path) if path.exists() else model), 0.2, nx.RungeKutta4(1e-3)).save(
            folder / f"{name}.nc"
        )


TYPED = [*ALSO, *(line for line in commands() if not any(re.match(pattern, line) for pattern in NOT_TYPED))]
CASES = [
    pytest.param(
        80 if (k // 2 + TURN // 2) % 2 == 0 else 200, line, id=line, marks=[] if is_in_turn(k) else [pytest.mark.long]
    )
    for k, line in enumerate(TYPED)
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    prepare(folder)
    return folder


@pytest.fixture(scope="module")
def terminals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Terminal]]:
    """A terminal of each width."""
    found = {columns: opened(columns, tmp_path_factory.mktemp(f"columns{columns}")) for columns in (80, 200)}
    yield found
    for terminal in found.values():
        terminal.close()


def opened(columns: int, folder: Path) -> Terminal:
    """A terminal in a folder of its own, which is its home."""
    for place in (".zfunc", ".config/fish/completions"):  # which these shells read
        (folder / place).mkdir(parents=True, exist_ok=True)
    return Terminal(folder, columns, HOME=str(folder), **{"NO_COLOR": "1"} if columns == 200 else {})


def typed(terminal: Terminal, line: str, mark: str) -> tuple[int, str]:
    """The exit code of a command, and the screen behind it."""
    if shutil.which("jq") is None:
        line = re.sub(r" \| jq \S+", " | tail -3", line)
    if not SERVES.match(line):
        terminal.type(f"clear; {line}; echo {mark}=$?")
    else:
        port = free_port(LOOPBACK, 21_000 + os.getpid() % 1000)
        terminal.type(f"clear; {re.sub(' --port [0-9]+| --no-browser', '', line)} --no-browser --port {port}")
        terminal.wait_for(rf"127\.0\.0\.1:{port}", limit=400.0)
        terminal.press("C-c")
        terminal.wait_for(r"\$ ?$", limit=120.0)
        terminal.type(f"echo {mark}=$?")  # a shell leaves out what stands behind a command that Ctrl-C ends
    screen = terminal.wait_for(rf"{mark}=\d+$", limit=600.0)
    code = re.search(rf"{mark}=(\d+)$", screen, re.MULTILINE)
    assert code is not None
    return int(code[1]), screen


@pytest.mark.parametrize(("columns", "line"), CASES)
def test_a_command_ends_as_it_should_and_fits_the_screen(
    terminals: dict[int, Terminal], files: Path, tmp_path: Path, columns: int, line: str
) -> None:
    terminal = terminals[columns]
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)  # what another command has written does not count
    terminal.type(f"cd {tmp_path}")
    try:
        tries = 3 if line in FIRST else 0
        while tries and not (tmp_path / line.split()[-1]).exists():  # Ctrl-C may come before there is anything to write
            typed(terminal, FIRST[line], f"first{tries}of{TYPED.index(line)}")
            tries -= 1
        code, screen = typed(terminal, line, f"code{TYPED.index(line)}")
    except AssertionError:  # what still runs must not get what the next command types
        terminal.close()
        terminals[columns] = opened(columns, terminal.folder)
        raise
    assert code == EXITS.get(line, 0) or (code == 130 and SERVES.match(line)), screen  # 130: while it was simulated
    assert "Traceback" not in screen
    assert not WARNINGS.findall(screen)
    wide = [row for row in screen.split("\n") if len(row) > columns and not row.startswith("$ ")]
    assert not wide or "--json" in line
    if columns == 200:
        assert not re.findall(r"\x1b\[(?:\d+;)*(?:3[0-8]|9[0-7])[;m].{0,20}", terminal.screen(with_colors=True))


def test_each_page_of_help_has_commands_here() -> None:
    assert len(TYPED) > 70
    assert {line.split()[1] for line in TYPED} >= {
        "run",
        "view",
        "edit",
        "check",
        "info",
        "plot",
        "linearize",
        "verify",
    }
    for pattern in NOT_TYPED:
        assert any(re.match(pattern, line) for line in commands()), f"no command is like {pattern}"

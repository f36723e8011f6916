"""What newcomers see at a terminal: pages of help, errors and answers, at 80 and 200 columns (`compare` at 100), in colour and without.

`tests/screens/NAME.COLUMNS.txt` holds each screen. Numbers of answers depend on the machine and stand there as `#`.
NEXDYN_WRITE_SCREENS=1 writes them anew: look at them then.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from terminals import Terminal

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.timeout(1500),
]

SCREENS = Path(__file__).with_name("screens")
COMMANDS = (
    "check", "compare", "completion", "convert", "demos", "edit", "equilibrium", "info", "linearize", "plot", "run", "sweep", "verify",
    "view", "warm",
)  # fmt: skip
LINES = {
    "nexdyn": "--help",
    **{f"{name} help": f"{name} --help" for name in COMMANDS},
    "demos": "demos",
    "info": "info hinge-chain",
    "convert": "convert hinge-chain chain.urdf",
    "convert back": "convert chain.urdf chain.yaml",
    "no command": "rum hinge-chain",
    "no model": "run hinge-chian",
    "no option": "run hinge-chain --tend 2",
    "no value": "run hinge-chain --t-end soon",
    "no parameter": "info hinge-chain --set Lenght=2",
}
"""Names of screens, and what is typed behind `nexdyn`: nothing in them depends on the machine."""
ANSWERS = {
    "run": "run hinge-chain --t-end 0.2",
    "check": "check four-bar",
    "compare": "compare hinge-chain rk4 dopri5 euler --t-end 0.1",
    "equilibrium": "equilibrium hinge-chain",
    "linearize": "linearize hinge-chain --rest --set start=0.5",  # from the side both equilibria are as near
    "plot": "plot hinge-chain.nc",
    "plot of": "plot hinge-chain.nc reaction --of hinge1 --out reaction.png",
    "run robot": "run robot.urdf --t-end 0.2",
    "run json": "run scene.yaml --t-end 0.2 --json",
    "sweep": "sweep study.yaml --jobs 1",
    "warm check": "warm --check",
}
"""Names of screens with numbers, in the order in which they are typed."""
STUDY = """\
model: hinge-chain
parameters: {L: [0.3, 0.4]}
measure: {tip: final tip_position.z}
t_end: 0.1
"""
SCENE = """\
gravity: [0, -9.81, 0]
bodies: {rod: {mass: 1.0, inertia: [0.1, 0.01, 0.1], position: [0, -0.5, 0]}}
joints: {hinge: {type: revolute, parent: ground, child: rod, at: [0, 0, 0], axis: [0, 0, 1], q0: 1.0}}
"""
ROBOT = """\
<robot name="arm"><link name="base"/><link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
  <inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint></robot>
"""
WIDTHS: dict[int, tuple[dict[str, str], list[str]]] = {
    80: ({}, [*LINES, *ANSWERS]),
    100: ({}, ["compare"]),
    200: ({"NO_COLOR": "1"}, [*LINES, *ANSWERS]),
}
"""Columns of a terminal: variables of its shell, and the screens."""
SHOWN = [(columns, name) for columns, (_, names) in WIDTHS.items() for name in names]
every_screen = pytest.mark.parametrize(("columns", "name"), SHOWN, ids=[f"{name} at {n} columns" for n, name in SHOWN])
NUMBER = r"(?<![\w.])[-−+]?\d+(\.\d+)?(e[+-]?\d+)?"


def plain(screen: str) -> str:
    """The text alone, with the code at the end and without the prompt behind it."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", screen).replace("\x0f", "")
    text = re.sub(r"^code \d+: ", "code ", text, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.split("\n")).removesuffix("$").strip() + "\n"


def masked(text: str) -> str:
    """The text of an answer: numbers that names do not hold are `#`, whatever room they take.

    What had to be compiled, and for which processor, is left out."""
    head, _, code = text.rpartition("code ")
    head = re.sub(r"^note: compil.*\n", "", head, flags=re.MULTILINE)
    head = re.sub(r'^( *"kernels": )".*"', r'\1"…"', head, flags=re.MULTILINE)
    head = re.sub(NUMBER, "#", head)
    head = re.sub(r"^ {8,}(?=#)", "", head, flags=re.MULTILINE)  # a head of numbers stands where their widest ends
    return re.sub(r"(?<=\S) {2,}", "  ", head) + "code " + code


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], str]:
    """Every screen as it was, by width and name."""
    found = {}
    for columns, (variables, names) in WIDTHS.items():
        folder = tmp_path_factory.mktemp("screens")
        for file, text in (("study.yaml", STUDY), ("scene.yaml", SCENE), ("robot.urdf", ROBOT)):
            (folder / file).write_text(text)
        terminal = Terminal(folder, columns, **variables)
        try:
            for k, name in enumerate(names):
                own = (
                    "NEXDYN_CACHE_DIR=kernels " if name == "warm check" else ""
                )  # a folder that says nothing of this machine
                terminal.type(f"clear; {own}nexdyn {(LINES | ANSWERS)[name]}; echo code {k}: $?")
                terminal.wait_for(rf"^code {k}: \d$", limit=500.0)
                found[columns, name] = terminal.screen(with_colors=True)
        finally:
            terminal.close()
    return found


@every_screen
def test_a_screen_is_as_it_was_when_it_was_looked_at(
    shown: dict[tuple[int, str], str], columns: int, name: str
) -> None:
    kept = SCREENS / f"{name.replace(' ', '-')}.{columns}.txt"
    now = plain(shown[columns, name])
    if name in ANSWERS:
        now = masked(now)
    if os.environ.get("NEXDYN_WRITE_SCREENS"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(now, encoding="utf-8")
    assert now == kept.read_text(encoding="utf-8")


@every_screen
def test_a_screen_fits_its_terminal_and_is_coloured_only_where_that_is_wanted(
    shown: dict[tuple[int, str], str], columns: int, name: str
) -> None:
    screen = shown[columns, name]
    assert max(map(len, plain(screen).split("\n"))) <= columns
    if columns == 200:
        found = re.findall(r"\x1b\[(?:\d+;)*(?:3[0-8]|9[0-7])[;m].{0,20}", screen)
        assert not found, "NO_COLOR is set"
    elif "help" in name:
        assert "\x1b[" in screen


@every_screen
def test_words_of_a_screen_stay_whole(shown: dict[tuple[int, str], str], columns: int, name: str) -> None:
    """Each line begins with words that stand, at 200 columns, somewhere whole."""
    if name not in ANSWERS and name != "info":
        return
    whole = set(re.findall(r"[^\W\d_]{3,}", plain(shown[200, name])))
    assert set(re.findall(r"[^\W\d_]{3,}", re.sub(r"^note:.*\n", "", plain(shown[columns, name])))) <= whole


def test_every_command_has_its_page_of_help_here(shown: dict[tuple[int, str], str]) -> None:
    box = plain(shown[80, "nexdyn"])
    listed = set(re.findall(r"^│ ([a-z]+) ", box, re.MULTILINE))
    assert listed == set(COMMANDS)


def test_numbers_are_masked_and_names_are_not() -> None:
    text = "note: compiling what\nhinge1  -4.3e-15 J at 0.2 s, RungeKutta4(dt=0.001)   33.6*\n  v (0, -1, 2)\ncode 0\n"
    assert masked(text) == "hinge1  # J at # s, RungeKutta4(dt=#)  #*\n  v (#, #, #)\ncode 0\n"

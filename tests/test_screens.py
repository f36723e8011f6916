"""What newcomers see at a terminal: pages of help, and commands that compile nothing, at 80 and 200 columns, in colour and without.

`tests/screens/NAME.COLUMNS.txt` holds each screen: nothing in them depends on the machine. NEXDYN_WRITE_SCREENS=1 writes them anew: look
at them then.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminals import Terminal

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.timeout(600),
]

SCREENS = Path(__file__).with_name("screens")
COMMANDS = (
    "check", "compare", "completion", "convert", "demos", "edit", "equilibrium", "info", "linearize", "plot", "run", "sweep", "verify", "view",
    "warm",
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
"""Names of screens, and what is typed behind `nexdyn`."""


def plain(screen: str) -> str:
    """The text alone, with the code at the end and without the prompt behind it."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", screen).replace("\x0f", "")
    text = re.sub(r"^code \d+: ", "code ", text, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.split("\n")).removesuffix("$").strip() + "\n"


@pytest.fixture(
    scope="module", params=[(80, {}), (200, {"NO_COLOR": "1"})], ids=["80 columns", "200 columns, no colour"]
)
def shown(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, tuple[str, int]]]:
    """Every screen, as it was, and its width."""
    columns, variables = request.param
    terminal = Terminal(tmp_path_factory.mktemp("screens"), columns, **variables)
    found = {}
    try:
        for k, (name, line) in enumerate(LINES.items()):
            terminal.type(f"clear; nexdyn {line}; echo code {k}: $?")
            terminal.wait_for(rf"^code {k}: \d$")
            found[name] = terminal.screen(with_colors=True), columns
    finally:
        terminal.close()
    yield found


@pytest.mark.parametrize("name", LINES)
def test_a_screen_is_as_it_was_when_it_was_looked_at(shown: dict[str, tuple[str, int]], name: str) -> None:
    screen, columns = shown[name]
    kept = SCREENS / f"{name.replace(' ', '-')}.{columns}.txt"
    now = plain(screen)
    if os.environ.get("NEXDYN_WRITE_SCREENS"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(now, encoding="utf-8")
    assert now == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LINES)
def test_a_screen_fits_its_terminal_and_is_coloured_only_where_that_is_wanted(
    shown: dict[str, tuple[str, int]], name: str
) -> None:
    screen, columns = shown[name]
    assert max(map(len, plain(screen).split("\n"))) <= columns
    if columns == 200:
        found = re.findall(r"\x1b\[(?:\d+;)*(?:3[0-8]|9[0-7])[;m].{0,20}", screen)
        assert not found, "NO_COLOR is set"
    elif "help" in name:
        assert "\x1b[" in screen


def test_every_command_has_its_page_of_help_here(shown: dict[str, tuple[str, int]]) -> None:
    box = plain(shown["nexdyn"][0])
    listed = set(re.findall(r"^│ ([a-z]+) ", box, re.MULTILINE))
    assert listed == set(COMMANDS)

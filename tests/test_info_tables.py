"""Tables of `nexdyn info`: words stay whole at every width, and what does not fit side by side stands in lines."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from nexdyn.cli.info import table

HEADS = ["joint", "kind", "parent → child", "q", "limits>"]
ROWS = [
    ["left_front_shoulder_rotation", "revolute", "torso_of_the_robot → left_front_upper_leg", "0 … 3", "(-1.5, 1.5)"],
    ["slide", "point_position", "ground → cart", "4", ""],
]
WORDS = {word for row in ROWS for cell in row for word in cell.split()} | {"joint", "kind", "parent", "limits"}


def lines(width: int, rows: list[list[str]] = ROWS) -> list[str]:
    screen = io.StringIO()
    Console(file=screen, width=width, highlight=False, markup=False).print(table(HEADS, rows, width), soft_wrap=False)
    return screen.getvalue().split("\n")


@pytest.mark.parametrize("width", [30, 60, 70, 80, 90, 100, 120, 200])
def test_words_stay_whole_and_lines_fit(width: int) -> None:
    found = lines(width)
    words = {word for line in found for word in line.split()}
    assert words >= WORDS - ({"joint"} if width < 90 else set())
    assert max(map(len, found)) <= max(width, max(map(len, WORDS)))


def test_with_room_a_row_is_a_line_and_without_it_a_block() -> None:
    assert len([line for line in lines(200) if line]) == 1 + len(ROWS)
    assert lines(60)[0].strip() == ROWS[0][0] and lines(60)[1].split() == ["kind", "revolute"]

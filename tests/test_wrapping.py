"""What is printed on a terminal breaks between words, and nowhere else."""

from __future__ import annotations

import pytest

from nexdyn.cli.terminal import wrapped

TEXT = """\
redundant rows
    hinge 3 is redundant beside hinge 1, hinge 2 and the driver of the crank: any of them may be left out
short"""


@pytest.mark.parametrize("width", [30, 40, 80])
def test_lines_break_between_words_and_keep_their_indentation(width: int) -> None:
    lines = wrapped(TEXT, width).split("\n")
    assert all(len(line) <= width for line in lines)
    assert " ".join(wrapped(TEXT, width).split()) == " ".join(TEXT.split())
    assert all(line.startswith("      ") for line in lines[2:-1])


def test_an_address_stays_whole_and_a_pipe_is_not_wrapped() -> None:
    address = "http://127.0.0.1:8080/" + "a" * 60
    assert address in wrapped(f"open {address} in a browser", 40).split("\n")[1]
    assert wrapped(TEXT, None) == TEXT

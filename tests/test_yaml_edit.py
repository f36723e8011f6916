"""Numbers put into the text of a scene, which stays as it is else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexdyn.errors import FileError
from nexdyn.io.yaml_edit import with_numbers
from nexdyn.io.yaml_positions import read_yaml

SCENE = """\
# a clock
joints:
  hinge:            # at the top
    type: revolute
    axis: [0, 1, 0] # across

  pin: {type: revolute, q0: =alpha}  # by the parameter
  slide: {}
  rail:
    q0:
      - 0.5
    type: prismatic   # along x
"""


def test_what_is_there_gives_way_and_what_is_missing_is_added() -> None:
    text = with_numbers(
        SCENE,
        {
            ("joints", name, "q0"): value
            for name, value in (("hinge", 0.25), ("pin", -1.5), ("slide", 1e-3), ("rail", 2.0))
        },
    )
    assert (
        text
        == """\
# a clock
joints:
  hinge:            # at the top
    q0: 0.25
    type: revolute
    axis: [0, 1, 0] # across

  pin: {type: revolute, q0: -1.5}  # by the parameter
  slide: {q0: 0.001}
  rail:
    q0:
      2.0
    type: prismatic   # along x
"""
    )


def test_json_stays_json() -> None:
    text = json.dumps({"joints": {"a": {"type": "revolute"}, "b": {}}}, indent=2)
    changed = with_numbers(text, {("joints", "a", "q0"): 0.1, ("joints", "b", "q0"): 1 / 3})
    assert json.loads(changed) == {"joints": {"a": {"type": "revolute", "q0": 0.1}, "b": {"q0": 0.333333333333}}}


def test_windows_ends_of_lines_and_what_is_not_ascii_stay() -> None:
    text = "name: Uhr é\r\njoints:\r\n  hinge: {q0: 1}\r\n"
    assert with_numbers(text, {("joints", "hinge", "q0"): 2.0}) == text.replace("q0: 1", "q0: 2.0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("joints: {}\n", "no joints.hinge to put q0 into"),
        ("joints:\n  hinge:\n", "no joints.hinge to put q0 into"),
        ("joints:\n  other: &a {q0: 1}\n  hinge: *a\n", "without other changes"),
    ],
)
def test_what_cannot_be_put_in_is_told(text: str, words: str) -> None:
    with pytest.raises(FileError, match=words):
        with_numbers(text, {("joints", "hinge", "q0"): 2.0})


NAMES = st.from_regex(r"[a-z][a-z0-9]{0,4}", fullmatch=True).filter(lambda name: name not in ("null", "true", "false"))


@given(
    st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(-9, 9), max_size=3), min_size=1, max_size=4),
    st.floats(-10.0, 10.0), st.data(),
)  # fmt: skip
def test_the_text_says_what_was_asked_for_and_else_what_it_said(
    joints: dict[str, dict[str, int]], value: float, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(joints)))
    lines = ["joints:"]
    for joint, attributes in joints.items():
        if attributes and data.draw(st.booleans()):
            lines += [f"  {joint}:", *(f"    {key}: {number}  # {key}" for key, number in attributes.items())]
        else:
            lines.append(f"  {joint}: {{{', '.join(f'{key}: {number}' for key, number in attributes.items())}}}")
    text = with_numbers("\n".join(lines), {("joints", name, "q0"): value})
    expected = {joint: dict(attributes) for joint, attributes in joints.items()}
    expected[name]["q0"] = float(f"{value:.12g}")  # type: ignore[assignment]
    assert read_yaml(text).data == {"joints": expected} and text.count("#") == "\n".join(lines).count("#")

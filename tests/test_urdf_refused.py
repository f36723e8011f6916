"""What a URDF is refused for, with file, line, element and reason; whatever the file, nothing else is ever raised."""

from __future__ import annotations

import os
import random
import re
import time
import warnings
from pathlib import Path

import pytest
from test_urdf import EVERYTHING, MASS, pair, robot, single

from nexdyn.errors import FileError, NexDynError, NexDynWarning
from nexdyn.io import urdf_xml
from nexdyn.io.urdf import load_urdf, read_urdf_text

LIMIT = '<limit lower="0" upper="1"/>'
PARENTS = '<parent link="a"/><child link="b"/>'


def joints(*rows: str) -> str:
    """Links a to d, and joints "name kind parent child content…"."""
    made = []
    for row in rows:
        name, kind, parent, child, *rest = row.split(" ", 4)
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        made.append(f'<joint name="{name}" type="{kind}">{ends}{"".join(rest)}</joint>')
    return robot("".join(f'<link name="{name}">{MASS}</link>' for name in "abcd"), "\n".join(made))


BOMB = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
) + ']><robot name="&i;"><link name="a"/></robot>'  # fmt: skip

J, INERTIAL = "joint 'j'", "link 'a' <inertial>"


def massive(mass: str) -> str:
    """One link of this mass."""
    return single(MASS.replace('"1"', f'"{mass}"', 1))


REFUSED = {
    # documents
    "nothing": ("", 1, "", "no element found"),
    "text": ("robot: arm", 1, "", "not well-formed XML: syntax error"),
    "open element": ('<robot name="r"><link name="a">', 1, "", "not well-formed"),
    "mismatched": ('<robot name="r">\n<link name="a"></lonk></robot>', 2, "", "mismatched tag"),
    "entity bomb": (BOMB, 1, "", "remove <!DOCTYPE"),
    "external entity": ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot name="r"/>', 1, "", "remove <!DOCTYPE"),
    "undefined entity": ('<robot name="r"><link name="&who;"/></robot>', 1, "", "undefined entity"),
    "deep": ("<a>" * 201 + "</a>" * 201, 1, "", "deeper than 200"),
    "another format": ('<mujoco model="m"/>', 1, "<mujoco>", "whose root element is <robot>"),
    "empty robot": ('<robot name="r"/>', 1, "robot 'r'", "has no <link>"),
    "xacro": ('<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arm/></robot>', 1, "", "xacro robot.urdf.xacro"),
    "xacro unbound": ('<robot name="r">\n<xacro:arm/></robot>', 2, "", "unbound prefix; this is a xacro source"),
    "xacro value": (single('<inertial><mass value="${m}"/></inertial>'), 2, f"{INERTIAL}<mass>", "xacro source"),
    # links
    "link without name": (robot("<link/>"), 2, "<link>", 'name is missing; it reads like <link name="arm">'),
    "link with blank name": (robot('<link name=" "/>'), 2, "link ' '", "name is empty"),
    "link of two lines": (robot('<link name="a&#10;b"/>'), 2, r"link 'a\nb'", "cannot name a body"),
    "duplicate link": (robot('<link name="a"/>\n<link name="a"/>'), 3, "link 'a'", "exists already, on line 2"),
    "no mass": (single("<inertial/>"), 2, INERTIAL, '<mass> is missing; it reads like <mass value="1.0"/>'),
    "no tensor": (single('<inertial><mass value="1"/></inertial>'), 2, INERTIAL, "<inertia> is missing"),
    "incomplete tensor": (single(MASS.replace('iyz="0"', "")), 2, f"{INERTIAL}<inertia>", "iyz is missing"),
    "two inertials": (single(f"{MASS}\n{MASS}"), 3, INERTIAL, "given twice here (first on line 2)"),
    "mass as a word": (massive("heavy"), 2, f"{INERTIAL}<mass>", "'heavy' is not a number"),
    "mass nan": (massive("nan"), 2, f"{INERTIAL}<mass>", "'nan' is not a number; it must be"),
    "mass inf": (massive("-inf"), 2, f"{INERTIAL}<mass>", "'-inf' is not a number; it must"),
    "mass absurd": (massive("1e51"), 2, f"{INERTIAL}<mass>", "beyond 1e+50"),
    "mass 1_0": (massive("1_0"), 2, f"{INERTIAL}<mass>", "'1_0' is not a number"),
    "two masses": (massive("1 2"), 2, f"{INERTIAL}<mass>", "has 2 numbers, 1 is needed"),
    "negative box": (
        single('<visual><geometry><box size="1 -1 1"/></geometry></visual>'),
        2,
        "link 'a' <visual><geometry><box>",
        "must be greater than 0",
    ),
    "no geometry": (single("<visual/>"), 2, "link 'a' <visual>", "<geometry> is missing"),
    "endless name": (
        single(f'<visual><geometry><mesh filename="{"x" * 9999}"/></geometry></visual>'),
        2,
        "link 'a' <visual><geometry><mesh>",
        "9999 characters, at most 4096",
    ),
    "colour": (
        robot('<material name="m">\n<color rgba="1 0 0"/></material><link name="a"/>'),
        3,
        "material 'm' <color>",
        "rgba='1 0 0' has 3 numbers, 4 are needed",
    ),
    # joints
    "joint without name": (pair("").replace(' name="j"', ""), 4, "<joint>", "name is missing"),
    "joint without type": (pair("").replace(' type="revolute"', ""), 4, J, "type is missing; it reads like type="),
    "joint type": (pair("", "revolut"), 4, J, "no joint type 'revolut'; did you mean 'revolute'? joint types: fixed"),
    "duplicate joint": (joints("j fixed a b", "j fixed a c"), 4, J, "exists already, on line 3"),
    "no parent": (pair("").replace('<parent link="a"/>', ""), 4, J, "<parent> is missing"),
    "no child link": (pair("").replace('<child link="b"/>', "<child/>"), 4, f"{J} <child>", "link is missing"),
    "unknown parent": (
        joints("j fixed a b", "k fixed arm c"),
        4,
        "joint 'k' <parent>",
        "no link 'arm'; did you mean 'a'? links: a, b",
    ),
    "self": (joints("j fixed a a"), 3, J, "joins link 'a' to itself"),
    "two parents": (
        joints("j fixed a c", "k fixed b c"),
        4,
        "joint 'k'",
        "link 'c' is the child of joint 'j' (line 3) already",
    ),
    "two roots": (joints("j fixed a b"), 2, "link 'c'", "3 links are no joint's child: 'a', 'c', 'd'"),
    "circle": (joints("j fixed a b", "k fixed b a", "l fixed c d"), 3, J, "in a circle: 'b', 'a'; loops are not part"),
    "all in a circle": (joints("j fixed a b", "k fixed b c", "l fixed c d", "m fixed d a"), 3, J, "in a circle"),
    "axis 0": (pair(f'{LIMIT}\n<axis xyz="0 0 0"/>'), 5, f"{J} <axis>", 'length 0; give a direction, like xyz="0 0 1"'),
    "axis with commas": (
        pair(f'{LIMIT}<axis xyz="0,1,0"/>'),
        4,
        f"{J} <axis>",
        "xyz='0,1,0' has 1 number, 3 are needed, like xyz=\"0.1 0.1 0.1\"; spaces separate numbers, not commas",
    ),
    "axis of two": (pair(f'{LIMIT}<axis xyz="0 1"/>'), 4, f"{J} <axis>", "xyz='0 1' has 2 numbers, 3 are needed"),
    "origin": (pair(f'{LIMIT}<origin xyz="0 0 1m"/>'), 4, f"{J} <origin>", "'1m' is not a number"),
    "limits reversed": (pair('<limit lower="2" upper="1"/>'), 4, f"{J} <limit>", "lower=2.0 is above upper=1.0"),
    "negative effort": (
        pair('<limit lower="0" upper="1" effort="-1"/>'),
        4,
        f"{J} <limit>",
        "effort=-1.0 must be at least 0",
    ),
    "negative damping": (
        pair(f'{LIMIT}<dynamics damping="-1"/>'),
        4,
        f"{J} <dynamics>",
        "damping=-1.0 must be at least 0",
    ),
    "mimic of nobody": (pair(f'{LIMIT}<mimic joint="i"/>'), 4, f"{J} <mimic>", "no joint 'i'; joints: j; mimic=False"),
    "mimic of itself": (pair(f'{LIMIT}<mimic joint="j"/>'), 4, f"{J} <mimic>", "follow each other in a circle"),
    "mimic in a circle": (
        joints(
            f'j revolute a b {LIMIT}<mimic joint="l"/>',
            f'k revolute b c {LIMIT}<mimic joint="j"/>',
            f'l revolute c d {LIMIT}<mimic joint="k"/>',
        ),
        3,
        f"{J} <mimic>",
        "in a circle: 'j' follows 'l' follows 'k'",
    ),
    "mimic of a fixed joint": (
        joints("j fixed a b", f'k revolute b c {LIMIT}<mimic joint="j"/>', "l fixed c d"),
        4,
        "joint 'k' <mimic>",
        "joint 'j' is fixed; a joint of one degree of freedom",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_file_is_refused_with_line_element_and_reason(case: str) -> None:
    text, line, element, reason = REFUSED[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NexDynWarning)
        with pytest.raises(FileError, match=re.escape(reason)) as caught:
            read_urdf_text(text, file="bad.urdf")
    error = caught.value
    assert (error.file, error.line, error.element or "") == ("bad.urdf", line, element)
    assert str(error).startswith(f"bad.urdf:{line}:{error.column}: ") and len(str(error)) < 600


def test_too_many_elements_and_bytes_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(urdf_xml, "MAX_ELEMENTS", 10)
    with pytest.raises(FileError, match="more than 10 elements"):
        load_urdf(EVERYTHING)
    monkeypatch.setattr(urdf_xml, "MAX_BYTES", 1000)
    for read in (lambda: load_urdf(EVERYTHING), lambda: read_urdf_text(EVERYTHING.read_text(encoding="utf-8"))):
        with pytest.raises(FileError, match="larger than"):
            read()


def test_the_limits_are_those_of_the_documentation() -> None:
    assert (urdf_xml.MAX_BYTES, urdf_xml.MAX_ELEMENTS, urdf_xml.MAX_DEPTH) == (64 * 2**20, 10**6, 200)


@pytest.mark.parametrize("encoding", ["klingon", "gbk", "utf-32", "utf-7", "idna", "hex", "undefined", "rot13"])
def test_an_encoding_that_is_no_encoding_of_xml_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?><robot name="r"><link name="ä"/></robot>'.encode())
    with pytest.raises(FileError, match=r"r\.urdf"):
        load_urdf(path)


@pytest.mark.parametrize("name", ["gone.urdf", "", "a\0b.urdf", "x" * 5000])
def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError):
        load_urdf(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.urdf")
    with pytest.raises(FileError, match="not a file"):
        load_urdf(tmp_path / "pipe.urdf")


def test_names_as_long_as_the_file_make_no_long_message_and_no_long_wait() -> None:
    names = [f"{i:05d}" + "x" * 4000 for i in range(500)]
    text = robot(
        "".join(f'<link name="{name}"/>' for name in names), '<joint name="j" type="fixed"><parent link="y"/></joint>'
    )
    started = time.perf_counter()
    with pytest.raises(FileError) as caught:
        read_urdf_text(text)
    assert len(str(caught.value)) < 600 and time.perf_counter() - started < 5.0


def test_a_long_chain_is_read_without_recursion() -> None:
    n = 3000
    links = "".join(f'<link name="l{i}">{MASS}</link>' for i in range(n))
    chain = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'{f"""<mimic joint="j{i + 1}"/>""" if i < n - 2 else ""}</joint>'
        for i in range(n - 1)
    )
    assert read_urdf_text(robot(links, chain)).joint("j0").mimic.joint == f"j{n - 2}"


# ── mutations ───────────────────────────────────────────────────────────────────────────────────────────────────────

FUZZ = int(os.environ.get("NEXDYN_FUZZ", "0"))
"""Files a test in a long run; NEXDYN_FUZZ=100000."""
_EVIL = """nan|-inf|1e400|0 0 0|1 2|a|base|arm|ground|world|=1|=L|=__import__('os')|${x}|%s|{|é|💣|\u202e|&lt;|&#x1;
../../../x.stl|/etc/passwd|package://|package:///|file://|://|x.stl
revolute|planar|floating|fixed|shoulder|knuckle1|knuckle3"""
EVIL = ["", " ", "x" * 5000, *re.split(r"[|\n]", _EVIL)]
NUMBERS = ["0", "-1", "1", "2", "1e50", "-1e50", "1e-320", "-1e-30", "1e-9", "1e8", "3.14159", "1e49", "1e-50"]


def mutated(text: str, rng: random.Random) -> str:
    """The text with one to three small accidents or attacks."""
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice((0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6))
        tags = list(re.finditer(r"<[^>]*>", text))
        if kind == 0:  # a value
            found = list(re.finditer(r'="([^"]*)"', text))
            if found:
                spot = rng.choice(found)
                value = spot.group(1)
                number = r"-?[\d.]+(e-?\d+)?"
                new = re.sub(number, lambda _: rng.choice(NUMBERS), value) if rng.random() < 0.6 else rng.choice(EVIL)
                text = text[: spot.start(1)] + new + text[spot.end(1) :]
        elif kind == 1:  # an attribute less
            found = list(re.finditer(r' \w+="[^"]*"', text))
            if found:
                spot = rng.choice(found)
                text = text[: spot.start()] + text[spot.end() :]
        elif kind == 2 and tags:  # a tag less
            spot = rng.choice(tags)
            text = text[: spot.start()] + text[spot.end() :]
        elif kind == 3 and tags:  # a tag twice, elsewhere
            spot, place = rng.choice(tags), rng.choice(tags)
            text = text[: place.start()] + spot.group() + text[place.start() :]
        elif kind == 4:  # a line less, twice or elsewhere
            lines = text.splitlines(keepends=True)
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i:i] = [] if rng.random() < 0.3 else [lines[j]]
            del lines[j]
            text = "".join(lines)
        elif kind == 5:  # a character
            i = rng.randrange(len(text))
            text = (
                text[:i]
                + chr(rng.choice([0, 9, 34, 38, 60, 62, 127, 0xFFFF, 0x1F4A3, rng.randrange(1, 0xD800)]))
                + text[i + 1 :]
            )
        else:  # a cut
            i = rng.randrange(len(text))
            text = text[:i] + (text[i + rng.randrange(1, 40) :] if rng.random() < 0.7 else "")
        if not text:
            return text
    return text


@pytest.mark.parametrize("seed", range(max(8, FUZZ // 150)))
def test_mutated_files_raise_nothing_but_errors_of_nexdyn(seed: int) -> None:
    rng = random.Random(seed)
    original = EVERYTHING.read_text(encoding="utf-8")
    loaded = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NexDynWarning)
        for _ in range(150):
            text = mutated(original, rng)
            options = {"base": rng.choice(["fixed", "free"]), "mimic": rng.random() < 0.7, "strict": rng.random() < 0.3}
            try:
                system = read_urdf_text(text, **options)  # type: ignore[arg-type]
                system.check()
                loaded += 1
            except FileError as error:
                refused += 1
                assert "\n" not in str(error)
    assert loaded > 5 and refused > 15  # of 150; among a thousand seeds some are unlucky


@pytest.mark.parametrize("seed", range(max(4, FUZZ // 100)))
def test_mutated_bytes_raise_nothing_but_errors_of_nexdyn(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    original = EVERYTHING.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NexDynWarning)
        for i in range(100):
            data = bytearray(original)
            for _ in range(rng.randint(1, 5)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path = tmp_path / f"{i}.urdf"
            path.write_bytes(data)
            try:
                load_urdf(path)
            except NexDynError as error:
                assert isinstance(error, FileError)

"""Scene files: what they say, what is wrong with them and where, and that they read back."""

from __future__ import annotations

import json
import math
import re
import time
from pathlib import Path
from typing import Any

import pytest

from nexdyn.describe import to_dict
from nexdyn.errors import FileError, InputError, NexDynWarning
from nexdyn.integrate.methods import METHODS, PAIRS, RungeKutta4
from nexdyn.io import yaml_positions
from nexdyn.io.scene import Scene, dump_scene, load_scene, read_scene, read_scene_text, save_scene
from nexdyn.io.yaml_positions import read_yaml
from nexdyn.model.shapes import Mesh
from nexdyn.model.system import System

ROOT = Path(__file__).parents[1]

GOOD = """\
name: crane
parameters: {L: 2.0}
bodies:
  boom: {mass: 3.0, inertia: [1, 1, 1], position: [0, 0, =L]}
  load: {mass: 1.0}
joints:
  pivot: {type: revolute, parent: ground, child: boom, axis: [1, 0, 0]}
  rope: {type: spherical, parent: boom, child: load}
"""


def refusal(text: str) -> FileError:
    with pytest.raises(FileError) as caught:
        read_scene_text(text, "s.yaml")
    return caught.value


def lines_of(error: FileError) -> list[str]:
    """The errors of a file, one each."""
    head, *rest = str(error).split("\n")
    if not rest:
        return [head]
    assert re.fullmatch(r"s\.yaml: \d+ errors", head)
    return [line.removeprefix("  ") for line in rest]


# --- YAML 1.2 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3), ("1e3", 1e3), (".5", 0.5), ("5.", 5.0), ("-1.5E+2", -150.0), ("+3", 3), ("012", 12),
        ("0o14", 12), ("0x1F", 31), (".inf", math.inf), ("-.INF", -math.inf), ("+.Inf", math.inf),
        ("", None), ("~", None), ("null", None), ("true", True), ("FALSE", False),
        ("on", "on"), ("yes", "yes"), ("No", "No"), ("1_000", "1_000"), ("2024-01-01", "2024-01-01"),
        ("12:30", "12:30"),
        ("'1e-3'", "1e-3"), ('"true"', "true"), ("1e", "1e"), ("inf", "inf"), ("nan", "nan"), (".", "."), ("-", None),
        ("0b11", "0b11"), ("=2*L", "=2*L"), ("=2 * sin(t)", "=2 * sin(t)"), ("é 漢 😀", "é 漢 😀"),
    ],
)  # fmt: skip
def test_scalars_mean_what_the_core_schema_of_yaml_1_2_says(text: str, value: Any) -> None:
    if text == "-":
        value = [None]
    got = read_yaml(f"{{x: {text}}}" if text and text != "-" else f"x:\n  {text}").data["x"]
    assert (got, type(got)) == (value, type(value))


def test_not_a_number_is_one() -> None:
    assert math.isnan(read_yaml("x: .NaN").data["x"])


def test_integers_of_any_length_cost_nothing() -> None:
    assert read_yaml("9" * 1_000_000).data == math.inf
    assert read_yaml("0x" + "f" * 1_000_000).data == "0x" + "f" * 1_000_000


def test_keys_are_text() -> None:
    assert read_yaml("{1: a, on: b, null: c, 1e3: d, '': e}").data == dict(
        zip(["1", "on", "null", "1e3", ""], "abcde", strict=True)
    )


def test_json_is_a_scene() -> None:
    data = to_dict(read_scene_text(GOOD).system)
    assert to_dict(read_scene_text(json.dumps(data, indent=1)).system) == data
    assert to_dict(read_scene_text(json.dumps(data, separators=(",", ":"))).system) == data


def test_every_key_and_value_knows_its_line_and_column() -> None:
    positions = read_yaml("a: 1\nb:\n  c: [x, {d: y}]\n", positions=True).positions
    assert positions.keys == {("a",): (1, 1), ("b",): (2, 1), ("b", "c"): (3, 3), ("b", "c", 1, "d"): (3, 11)}
    assert positions.values[("b", "c", 0)] == (3, 7)
    assert positions.values[("b", "c", 1, "d")] == (3, 14)


def test_the_pure_python_parser_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = [read_yaml(GOOD, positions=True)]
    monkeypatch.delattr("yaml.CBaseLoader", raising=False)
    assert readings == [read_yaml(GOOD, positions=True)]
    assert (
        str(refusal(GOOD.replace("3.0", "@")))
        == "s.yaml:4:16: no valid YAML: '@' cannot start a value; put the text in quotes"
    )


def test_an_alias_repeats_a_value() -> None:
    text = GOOD.replace("inertia: [1, 1, 1]", "inertia: &unit [1, 1, 1]").replace(
        "mass: 1.0", "mass: 1.0, inertia: *unit"
    )
    assert read_scene_text(text).system.body("load").inertia == (1, 1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x [*x]", "1:8: the alias *x has no anchor"),
        ("a: &x [1]\nb: &y [*x, *x]", "2:8: the alias *x stands in an anchored value; aliases cannot be nested"),
        ("a: *b", "1:4: the alias *b has no anchor &b before it"),
        ("a: &x [" + "0," * 1000 + "]\nb: [" + "*x," * 1000 + "]", "aliases stand for more than 100000 values"),
        ("a: {[1]: 2}", "1:5: a list or mapping cannot be a key"),
        ("a: &k 1\n*k : 2", "2:1: the alias *k cannot be a key"),
        ("&k a: 1", "1:1: an anchor cannot stand at a key"),
        ("a: 1\n---\nb: 2", "2:1: a second document starts here"),
        ("a:\n\tb: 1", "2:1: no valid YAML: a tab cannot indent; use spaces"),
        ("a: @b", "1:4: no valid YAML: '@' cannot start a value; put the text in quotes"),
        ("a: [1, 2\nb: 3", "no valid YAML: .* while parsing a flow sequence, which starts on line 1"),
        ("a: 'b", "no valid YAML: found unexpected end of stream"),
        ("a: b: c", "1:5: no valid YAML: mapping values are not allowed"),
        ("[" * 101, "1:101: nested deeper than 100 levels"),
        ("".join(" " * i + "a:\n" for i in range(200)), "nested deeper than 100 levels"),
        ("a: \x07", "1:4: the character U\\+0007 cannot stand in YAML"),
        ("a: 1\nb: \ud800", "2:4: the character U\\+D800 cannot stand in YAML"),
        ("%YAML 3.0\n---\na: 1", "1:1: no valid YAML: found incompatible YAML document"),
    ],
)  # fmt: skip
def test_text_that_is_no_yaml_or_a_trap_is_refused_where_it_stands(text: str, message: str) -> None:
    with pytest.raises(FileError, match=f"^t.yaml:.*{message.replace('*', '[*]') if '.*' not in message else message}"):
        read_yaml(text, "t.yaml")


def test_a_million_brackets_are_refused_at_once() -> None:
    began = time.perf_counter()
    for text in ("[" * 10**6, "{a: " * 10**6, "- " * 10**6, "&a [" * 10**6):
        refusal(text)
    assert time.perf_counter() - began < 5.0


def test_a_billion_laughs_are_refused() -> None:
    levels = ["l0: &l0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    levels += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 10)]
    assert "aliases cannot be nested" in str(refusal("\n".join(levels)))


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system ['true']", "!custom {}", "!!binary aGk=", "!!float 1"]
)
def test_tags_are_refused(tag: str) -> None:
    error = refusal(f"{GOOD}description: {tag}\n")
    assert error.line == 9
    assert "the tag !" in str(error)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(b"name: x\ndescription: caf\xe9\n")
    with pytest.raises(FileError, match=r"s\.yaml:2: byte 0xe9 is not UTF-8; save the file as UTF-8"):
        read_scene(path)
    path.write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(FileError, match="not UTF-8"):
        read_scene(path)
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert read_scene(path).system.name == "crane"


def test_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_positions, "MAX_BYTES", 1000)
    with pytest.raises(FileError, match="larger than"):
        read_scene_text("#" * 1001)


# --- what is wrong, and where ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("mass: 3.0", "mas: 3.0", "4:10", "unknown key 'mas' in body 'boom'; did you mean 'mass'? valid: mass, "),
        ("mass: 3.0", 'mass: "1e-3"', "4:16", "mass of body 'boom' is the text '1e-3'; write the number 1e-3"),
        ("mass: 3.0", "mass: -3", "4:16", "body 'boom': mass -3 kg is negative; it must be 0 or more"),
        ("mass: 3.0", "mass: .nan", "4:16", "mass of body 'boom' is nan"),
        ("[1, 1, 1]", "[1, 1, 3]", "4:3", "body 'boom': principal moments (1, 1, 3) kg m²: 1 + 1 < 3"),
        ("[1, 1, 1]", "[1, on, 1]", "4:34", "inertia of body 'boom'[1] is the text 'on'"),
        ("=L", "=2*M", "4:58", "position of body 'boom'[2] = 2.0*M: no parameter 'M'; parameters: L"),
        ("L: 2.0", "L: two", "2:17", "parameter 'L' is the text 'two'"),
        ("child: boom", "child: bom", "7:50", "joint 'pivot': no body 'bom'; did you mean 'boom'? bodies: boom, load"),
        ("[1, 0, 0]", "[0, 0, 0]", "7:62", "axis of joint 'pivot' is (0, 0, 0), of length 0"),
        ("revolute", "revolut", "7:17", "joint 'pivot': no joint type 'revolut'; did you mean 'revolute'?"),
        ("type: revolute, ", "", "7:3", "joint 'pivot' has no type; valid: fixed, revolute"),
        ("child: boom, ", "", "7:3", "revolute joint 'pivot' lacks child; it needs parent, child"),
        ("child: load", "child: boom", "8:35", "joint 'rope' joins body 'boom' to itself"),
        ("  load: {", "  boom: {}\n  load: {", "5:3", "'boom' is given twice here (first on line 4); "),
        ("{mass: 1.0}", "{mass: 1,5}", "5:18", "a comma separates entries: write numbers with a point, like 1.5"),
        ("{mass: 1.0}", "{mass:1.0}", "5:10", "unknown key 'mass:1.0' in body 'load'; did you mean 'mass'?"),
        ("{mass: 1.0}", "1.0", "5:3", "body 'load' is 1.0; a mapping of its attributes is needed"),
        ("bodies:", "bodys:", "3:1", "unknown key 'bodys' in a scene; did you mean 'bodies'?"),
        ("name: crane", "name: 5", "1:7", "5 cannot name a system"),
        ("name: crane", "gravity: [0, 0]", "1:10", "gravity has 2 components; 3 are needed"),
        ("name: crane", "gravity: [0, 0, x]", "1:17", "gravity[2] is the text 'x'"),
        ("name: crane", "description: [1]", "1:14", "description is a list; text is needed"),
    ],
)  # fmt: skip
def test_an_error_names_the_place_and_says_what_would_be_valid(old: str, new: str, place: str, message: str) -> None:
    (line,) = lines_of(refusal(GOOD.replace(old, new, 1)))
    assert line.startswith(f"s.yaml:{place}: ")
    assert message in line


@pytest.mark.parametrize(
    ("section", "column", "message"),
    [
        ("t_end: 0", 21, "simulation: t_end is 0; it must be finite and greater than 0"),
        ("t_end: '1'", 21, "t_end is the text '1'; write the number 1 without quotes"),
        ("method: {type: rk4, dt: 0}", 38, "dt of RungeKutta4 is 0; it must be finite"),
        ("method: {type: rk4, dt: '1e-3'}", 38, "dt of method rk4 is the text '1e-3'; write"),
        ("method: rk4", 22, "method lacks dt; it needs dt"),
        ("method: {type: rk5}", 29, "no method 'rk5'; did you mean 'rk4'? methods: rk4"),
        ("output_every: 0.5", 28, "output_every is 0.5; a whole number of steps"),
        ("dynamics: abb", 24, "no dynamics 'abb'; did you mean 'aba'? valid: aba, crba, cfa"),
        ("tend: 1", 14, "unknown key 'tend' in simulation; did you mean 't_end'?"),
        ("q0: {pivo: 1}", 25, "no joint 'pivo'; did you mean 'pivot'?"),
        ("q0: {rope: [1, 1, 0, 0]}", 25, "q0 of joint 'rope' is (1, 1, 0, 0) with norm 1.41"),
        ("v0: {rope: [1, 1]}", 25, "v0 of joint 'rope' has 2 components; 3 are needed"),
    ],
)
def test_errors_of_the_simulation_section_are_found(section: str, column: int, message: str) -> None:
    (line,) = lines_of(refusal(GOOD.replace("name: crane", f"simulation: {{{section}}}")))
    assert line.startswith(f"s.yaml:1:{column}: ")
    assert message in line


def test_all_errors_of_a_file_are_reported_together_in_the_order_of_its_lines() -> None:
    text = GOOD.replace("mass: 1.0", "mass: -1").replace("L: 2.0", "L: two").replace("parent: ground", "parent: grund")
    error = refusal(text + "forces: {push: {type: push}}\nname: again\n")
    assert [line.split(":")[1] for line in lines_of(error)] == ["2", "5", "7", "9", "10"]
    assert (error.file, error.line, error.column, error.element) == ("s.yaml", 2, 17, None)


CONTACTS = """
bodies:
  ball: {mass: 1.0, inertia: [1, 1, 1], shapes: [{type: sphere, radius: 0.1}]}
  cube: {mass: 1.0, inertia: [1, 1, 1], shapes: [{type: box, size: [0.1, 0.1, 0.1]}]}
contacts:
  one: {a: ball, stiffness: -1.0}
  two: {a: "*_foot", stiffness: 1.0}
  three: {a: ball, b: cube, material_a: steal, material_b: steel}
  four: {a: cube, b: cube, stiffness: 1.0}
  five: {a: cube, stiffness: 1.0, friction: -0.3}
  six: {a: cube, stifness: 1.0}
  seven: {a: ball, b: cube, stiffness: 1.0, foundation_a: 1.0}
  fine: {a: ball, stiffness: 1.0}
"""


def test_each_contact_that_is_wrong_is_reported() -> None:
    told = lines_of(refusal(CONTACTS))
    assert [line.split(":")[1] for line in told] == ["6", "7", "8", "9", "10", "11", "12"]
    said = (
        "'one' is -1",
        "'two': '*_foot'",
        "'steal'",
        "'four' are the same body",
        "'five' is -0.3",
        "'stifness'",
        "'seven' has a",
    )
    assert all(words in line for words, line in zip(said, told, strict=True))


def test_contacts_that_a_body_is_missing_for_are_no_errors_of_their_own() -> None:
    """What fails only since something before it has failed is passed over."""
    text = CONTACTS.replace("mass: 1.0, inertia: [1, 1, 1], shapes: [{type: sphere", "mass: -1, shapes: [{type: sphere")
    assert [line.split(":")[1] for line in lines_of(refusal(text))] == ["3", "11"]


def test_an_error_carries_file_line_column_and_element() -> None:
    error = refusal(GOOD.replace("axis: [1, 0, 0]", "axis: [0, 0, 0]"))
    assert (error.file, error.line, error.column, error.element) == ("s.yaml", 7, 62, "joint 'pivot'")


def test_very_many_errors_end() -> None:
    bodies = "".join(f"  b{i}: {{mas: 1}}\n" for i in range(5000))
    error = refusal(f"bodies:\n{bodies}")
    assert len(lines_of(error)) == 51
    assert lines_of(error)[-1] == "… the first 50 errors; there may be more"


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "null"])
def test_an_empty_scene_says_what_it_needs(text: str) -> None:
    assert str(refusal(text)).endswith(": the scene is empty; it needs bodies, like {bodies: {ball: {mass: 1.0}}}")


@pytest.mark.parametrize("text", ["[]", "5", "text", "- bodies"])
def test_a_scene_that_is_no_mapping_is_refused(text: str) -> None:
    assert "a mapping with name, gravity, parameters, bodies" in str(refusal(text))


def test_missing_meshes_are_a_warning_and_paths_start_at_the_scene(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("bodies: {b: {shapes: [{type: mesh, path: meshes/a.stl}]}}")
    with pytest.warns(NexDynWarning, match="s.yaml: no mesh .*a.stl"):
        (shape,) = load_scene(path).body("b").shapes
    assert isinstance(shape, Mesh)
    assert Path(shape.path) == tmp_path / "meshes" / "a.stl"
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.stl").touch()
    load_scene(path)


# --- simulation -----------------------------------------------------------------------------------------------------


def test_the_simulation_section_is_the_arguments_of_simulate() -> None:
    section = """
parameters: {h: 1e-3}
bodies: {a: {mass: 1}, b: {mass: 1}, free: {mass: 1}}
joints:
  hinge: {type: revolute, parent: ground, child: a}
  ball: {type: spherical, parent: a, child: b}
simulation:
  t_end: =1000*h
  method: {type: rk4, dt: =h}
  output_every: 5
  dynamics: crba
  q0: {hinge: 0.5, ball: [1, 0, 0, 0], free: [1, 0, 0, 0, 0, 0, =h]}
  v0: {ball: [1, 2, 3]}
"""
    assert read_scene_text(section).simulation == {
        "t_end": 1.0,
        "method": RungeKutta4(1e-3),
        "output_every": 5,
        "dynamics": "crba",
        "q0": {"hinge": [0.5], "ball": [1.0, 0.0, 0.0, 0.0], "free": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-3]},
        "v0": {"ball": [1.0, 2.0, 3.0]},
    }


def test_a_scene_without_a_simulation_has_none() -> None:
    assert read_scene_text(GOOD).simulation == {}
    assert read_scene_text(GOOD + "simulation:\n").simulation == {}


@pytest.mark.parametrize("kind", METHODS)
def test_every_method_reads_back(kind: str) -> None:
    cls: Any = METHODS[kind]
    method = cls(rtol=1e-6, dt_max=0.1) if kind in PAIRS else cls(dt=2e-3)
    system = read_scene_text(GOOD).system
    simulation = {"t_end": 1e-7, "method": method, "output_times": (0.0, 1e-8)}
    expected = {"t_end": 1e-7, "method": method, "output_times": [0.0, 1e-8]}
    assert read_scene_text(dump_scene(system, simulation)).simulation == expected


# --- writing --------------------------------------------------------------------------------------------------------


def test_a_written_scene_is_for_reading() -> None:
    scene = read_scene_text(GOOD)
    assert dump_scene(scene.system, {"t_end": 1e-5, "method": RungeKutta4(1e-3)}, "a crane: it lifts") == (
        """\
description: "a crane: it lifts"
name: crane
gravity: [0.0, 0.0, -9.81]

parameters:
  L: 2.0

bodies:
  boom:
    mass: 3.0
    inertia: [1, 1, 1]
    position: [0, 0, =L]
  load:
    mass: 1.0

joints:
  pivot:
    type: revolute
    parent: ground
    child: boom
    axis: [1, 0, 0]
  rope:
    type: spherical
    parent: boom
    child: load

simulation:
  t_end: 1.0e-05
  method: {type: rk4, dt: 0.001}
"""
    )


NAMES = [
    "plain", "two words", "on", "No", "null", "1", "1e3", ".5", "-", "- a", "a: b", "a #b", "#", "[x]", "{", "'", '"',
    "a,b", "*x", "&x", "!x", "%", "@", "é", "漢字", "😀", "a\u00a0b", "x" * 3000, " lead", "trail ", "~", "?", "? a",
    "a/b",
    "\\", "<<", "---", "...", "true", "0x1", "é: ñ", "|", ">", "a\u3000b",
]  # fmt: skip


def test_any_name_reads_back() -> None:
    system = System("on: off")
    names = []
    for name in NAMES:
        try:
            system.add_body(name, mass=1.0)
        except InputError:  # not printable
            continue
        names.append(name)
    assert len(names) > 35
    again = read_scene_text(dump_scene(system, {"q0": {name: [1, 0, 0, 0, 0, 0, 0] for name in names}}))
    assert list(again.system.bodies) == names
    assert list(again.simulation["q0"]) == names
    assert again.system.name == "on: off"


@pytest.mark.parametrize("text", ["two\nlines", "tab\tnul\0bell\a", "\x85\u2028\ufeff\ufffe", "a\\x41\"'", "line \n"])
def test_any_description_reads_back(text: str) -> None:
    assert read_scene_text(dump_scene(System("s"), description=text)).description == text


def test_half_a_character_cannot_be_written() -> None:
    with pytest.raises(InputError, match="U\\+D800"):
        dump_scene(System("s"), description="\ud800")


@pytest.mark.parametrize("x", [1e-5, 1e22, -0.0, 5e-324, 1.7976931348623157e308, 0.1, 1e16, 123456789.123456789])
def test_floats_read_back_to_the_last_bit_and_carry_a_point(x: float) -> None:
    system = System("s")
    system.parameter("x", x)
    text = dump_scene(system)
    assert re.search(r"  x: -?\d+\.\d+", text)
    assert str(read_scene_text(text).system.values["x"]) == str(x)


def test_long_lists_are_wrapped() -> None:
    system = System("s")
    system.add_body("b", mass=1.0)
    times = [float(i) for i in range(500)]
    table = {"type": "table", "times": times, "values": times}
    data = to_dict(system) | {"forces": {"f": {"type": "applied", "body": "b", "force": [0, 0, table]}}}
    text = dump_scene(read_scene_text(json.dumps(data)).system)
    assert max(map(len, text.splitlines())) <= 120
    assert to_dict(read_scene_text(text).system)["forces"] == data["forces"]


def test_a_scene_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    scene = read_scene_text(GOOD)
    save_scene(scene.system, path)
    assert to_dict(load_scene(path)) == to_dict(scene.system)
    before = path.read_text()
    with pytest.raises(InputError):
        save_scene(scene.system, path, description="\ud800")
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.yaml"]
    with pytest.raises(FileError, match="cannot be written"):
        save_scene(scene.system, tmp_path / "nowhere" / "s.yaml")
    with pytest.raises(InputError, match=r"a scene ends in \.yaml or \.yml"):
        save_scene(scene.system, tmp_path / "s.txt")


def test_ten_thousand_bodies_are_read_within_seconds() -> None:
    n = 10_000
    bodies = "".join(
        f"  b{i}: {{mass: 1.0, inertia: [0.1, 0.2, 0.3], position: [0.0, 0.0, {-i}.0]}}\n" for i in range(n)
    )
    joints = "".join(
        f"  j{i}: {{type: revolute, parent: {f'b{i - 1}' if i else 'ground'}, child: b{i}, axis: [1, 0, 0]}}\n"
        for i in range(n)
    )
    began = time.perf_counter()
    scene = read_scene_text(f"bodies:\n{bodies}joints:\n{joints}")
    assert len(scene.system.joints) == n
    assert time.perf_counter() - began < 30.0  # 2 s on a quiet machine; this only catches a quadratic algorithm


# --- documentation --------------------------------------------------------------------------------------------------


def documented_scene() -> Scene:
    page = (ROOT / "docs" / "scene.md").read_text(encoding="utf-8")
    block = re.search(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert block is not None
    return read_scene_text(block[1], "docs/scene.md")


def test_the_scene_of_the_documentation_reads() -> None:
    scene = documented_scene()
    assert all(len(getattr(scene.system, kind)) for kind in ("bodies", "joints", "forces", "markers", "measures"))
    assert to_dict(read_scene_text(dump_scene(*scene[:3])).system) == to_dict(scene.system)


def test_the_page_names_every_type() -> None:
    from nexdyn.describe import FUNCTIONS, SECTIONS, SHAPES

    page = (ROOT / "docs" / "scene.md").read_text(encoding="utf-8")
    types = [*SHAPES, *FUNCTIONS, *METHODS]
    for _, classes in SECTIONS.values():
        types += classes if isinstance(classes, dict) else []
    assert [name for name in types if f"`{name}`" not in page] == []


# --- where it is seen from ----------------------------------------------------------------------------------------------


def test_a_view_is_read_and_written_again() -> None:
    scene = read_scene_text(GOOD + "view: {eye: [4, -6, =1 + 1], target: [0, 0, 1]}\n")
    assert scene.view == {"eye": (4.0, -6.0, 2.0), "target": (0.0, 0.0, 1.0)}
    assert read_scene_text(dump_scene(scene.system, view=scene.view)).view == scene.view
    assert read_scene_text(GOOD).view == {}


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ("7", "a mapping of eye and target is needed"),
        ("{eye: [1, 2, 3]}", "target of the view"),
        ("{eye: [1, 2], target: [0, 0, 0]}", "eye of the view"),
        ("{eye: [1, 2, .nan], target: [0, 0, 0]}", "nan"),
        ("{eye: [1, 2, 3], target: [1, 2, 3]}", "one looks from one point at another"),
        ("{eyes: [1, 2, 3], target: [1, 2, 3]}", "did you mean 'eye'"),
    ],
)
def test_a_view_that_is_none_is_told_with_its_line(view: str, said: str) -> None:
    with pytest.raises(FileError, match=said) as caught:
        read_scene_text(GOOD + f"view: {view}\n")
    assert f":{GOOD.count(chr(10)) + 1}:" in str(caught.value)

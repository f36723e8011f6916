"""Every code block of README and docs runs: Python in one program a page, commands in one folder a page, scenes, JSON, errors."""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import re
import shlex
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.cli.terminal import wrapped
from nexdyn.forces import FORCES
from nexdyn.io.scene import dump_scene, read_scene_text
from nexdyn.joints import JOINTS
from nexdyn.model.coupling import COUPLINGS
from nexdyn.model.driver import DRIVERS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "README.zh.md", *sorted((ROOT / "docs").glob("*.md"))]

LANGUAGES = {"python", "{code-cell}", "bash", "sh", "yaml", "json", "text"}
"""Of code blocks; each has a test. Other fences are directives of the documentation."""
DIRECTIVES = {"{eval-rst}", "{include}", "{image}", "{toctree}", "{code-block}", "{gallery}"}
WIDEST = 88
"""Columns of a block of code that a page shows without a bar to scroll."""
SCROLLS = {"verification.md": "the table of `nexdyn verify`"}
"""Pages with text blocks that are wider, and why."""

SCENE = """
gravity: [0, -9.81, 0]
parameters: {L: 0.5}
bodies: {link: {mass: 1.0, inertia: [0.1, 0.01, 0.1], position: [0, =-L, 0]}}
joints: {motor: {type: revolute, parent: ground, child: link, at: [0, 0, 0], axis: [0, 0, 1], damping: 0.5}}
markers: {end: {body: link, position: [0, =-L, 0]}}
measures: {tip: {type: point_position, of: end}}
"""
BASE = """<inertial><mass value="5"/>
  <inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>"""
ROBOT = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
    <inertia ixx="0.03" iyy="0.03" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
    <inertia ixx="0.015" iyy="0.015" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.4"/><geometry><sphere radius="0.03"/></geometry></collision></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""


def examples(page: Path) -> list[str]:
    """The page's ```python blocks, each preceded by empty lines so that an error names the page's own line."""
    text = page.read_text(encoding="utf-8")
    blocks = re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return ["\n" * text[: block.start(1)].count("\n") + block.group(1) for block in blocks]


@pytest.mark.parametrize("page", [p for p in PAGES if examples(p)], ids=lambda page: page.name)
def test_examples_run_as_printed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "robot.urdf").write_text(ROBOT)  # what pages call robot.urdf
    monkeypatch.chdir(tmp_path)
    program: dict[str, object] = {"__name__": page.stem}
    for example in examples(page):
        exec(compile(example, str(page), "exec"), program)


def test_the_chinese_readme_is_the_twin_of_the_english_one() -> None:
    english, chinese = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md"))

    def commands(text: str) -> list[str]:
        return [line.split("#")[0].strip() for line in re.findall(r"^nexdyn .*", text, re.MULTILINE)]

    def code(text: str) -> list[list[str]]:
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        return [re.sub(r"#.*", "", block).split() for block in blocks]

    assert commands(english) == commands(chinese) and len(commands(english)) > 8
    assert code(english) == code(chinese)


def test_the_chinese_readme_says_as_much_as_the_english_one() -> None:
    """Headings, points of lists, rows of the layout and links, one for one."""
    counts = []
    for name in ("README.md", "README.zh.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        links = sorted(
            link.replace(".zh.md", ".md")
            for link in re.findall(r"\]\(([^)]+)\)", prose)
            if not link.startswith("README")
        )
        counts.append(
            (len(re.findall(r"^#", prose, re.MULTILINE)), len(re.findall(r"^- ", prose, re.MULTILINE)), links)
        )
    assert counts[0] == counts[1]


def test_every_public_name_and_each_of_its_methods_is_in_the_reference() -> None:
    """The page shows the public names of the packages that it lists, with the members that have a docstring."""
    listed = set(re.findall(r"^\.\. public-names:: (\w+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE))
    silent = []
    for name in nx.__all__:
        thing = getattr(nx, name)
        home = thing.__name__ if inspect.ismodule(thing) else thing.__module__
        assert home.split(".")[1] in listed, name
        members = vars(thing) if inspect.isclass(thing) else {}
        of_a_class = {
            key: x for key, x in members.items() if not (key.startswith("_") or inspect.ismemberdescriptor(x))
        }
        public = [key for key, x in of_a_class.items() if callable(x) or hasattr(x, "__get__")]
        silent += [f"{name}.{key}" for key in public if not inspect.getdoc(getattr(thing, key))]
        silent += [] if inspect.getdoc(thing) else [name]
    assert not silent


def without_d(tmp_path: Path) -> str:
    """The demo four-bar, its hinge D deleted, as the page has the reader do."""
    path = tmp_path / "mine.yaml"
    nx.save_scene(nx.load("four-bar"), path)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"^  D:.*\n(?:    .*\n)*", "", text, flags=re.MULTILINE), encoding="utf-8")
    return str(path)


def test_what_check_says_of_real_mistakes_is_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "assembly.md").read_text(encoding="utf-8").partition("## On real mistakes")[2]
    shown = re.findall(r"^```text\n(.*?)\n```", page, re.MULTILINE | re.DOTALL)
    assert len(shown) == 3
    for text, model, code in zip(shown, ("door", "broken-four-bar", without_d(tmp_path)), (0, 3, 0), strict=True):
        assert main(["check", model]) == code
        assert wrapped(capsys.readouterr().out, WIDEST).startswith(text)


@pytest.mark.parametrize("peer", ["mujoco", "pydrake", "exudyn"])
def test_what_other_tools_compute_of_the_same_model_is_what_nexdyn_does(
    peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # Exudyn writes a file
    page = (ROOT / "docs" / "coming_from.md").read_text(encoding="utf-8")
    here: dict[str, Any] = {}
    exec(examples(ROOT / "docs" / "coming_from.md")[0], here)
    assert f"{float(here['angle']):.4f} rad" in page
    shown = re.findall(r"^```\{code-block\} python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (program,) = [block for block in shown if re.search(rf"^(import|from) {peer}\b", block, re.MULTILINE)]
    pytest.importorskip(peer, reason="an extra: pip install nexdyn[bench], and drake")
    there: dict[str, Any] = {}
    exec(program, there)
    assert float(there["angle"]) == pytest.approx(float(here["angle"]), abs=2e-4)


def turned(axis: str, degrees: float) -> np.ndarray:
    """The rotation matrix about x or z."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]] if axis == "x" else [[c, -s, 0], [s, c, 0], [0, 0, 1]])


def test_the_same_model_in_adams_and_simscape_has_the_same_motion() -> None:
    """The numbers of their blocks, read as their documentation says: 3-1-3 angles, z of a marker or frame the axis of a hinge."""
    page = (ROOT / "docs" / "coming_from.md").read_text(encoding="utf-8")
    data, script = (
        text
        for text in re.findall(r"^```\{code-block\} (?:text|matlab)\n(.*?)^```", page, re.M | re.S)
        if "+X" in text or "PART" in text
    )

    def of(statement: str, name: str) -> np.ndarray:
        (line,) = re.findall(rf"^{statement},(.*(?:\n,.*)*)", data, re.MULTILINE)
        found = re.search(rf"{name} = ([-\d.ED, ]+?)(?:, [A-Z]+ =|$)", line, re.MULTILINE)
        return np.array([float(x.strip().rstrip("D")) for x in found[1].split(",")] if found else [0.0, 0.0, 0.0])

    def euler(statement: str) -> np.ndarray:
        a, b, c = of(statement, "REULER")
        return turned("z", a) @ turned("x", b) @ turned("z", c)

    def option(name: str) -> np.ndarray:
        (found,) = re.findall(rf"'{name}', '\[?([-\d.e ]+)\]?'", script)
        return np.array([float(x) for x in found.split()])

    rod, marker = euler("PART/2"), of("MARKER/3", "QP")
    adams = nx.System("adams", gravity=(0, 0, *map(float, re.findall(r"KGRAV = (\S+)", data))))
    adams.add_body(
        "rod", mass=float(of("PART/2", "MASS")[0]), inertia=tuple(of("PART/2", "IP")), com=tuple(of("MARKER/2", "QP"))
    )
    ground = euler("MARKER/1")
    start = np.arctan2(*((ground.T @ rod @ euler("MARKER/3"))[[1, 0], 0]))
    (rate,) = map(float, re.findall(r"FUNCTION = -([\d.]+)\*WZ\(3, 1\)", data))
    adams.add_joint(
        nx.Revolute("hinge", "ground", "rod", at=tuple(marker), axis=tuple(ground[:, 2]), damping=rate, q0=float(start))
    )

    (angle,) = option("RotationAngle")
    frame = turned("x", float(angle))  # +X in the script
    simscape = nx.System("simscape", gravity=tuple(option("GravityVector")))
    moments = frame @ np.diag(option("MomentsOfInertia")) @ frame.T
    simscape.add_body("rod", mass=float(option("Mass")[0]), inertia=moments, com=tuple(frame @ option("CenterOfMass")))
    simscape.add_joint(
        nx.Revolute(
            "hinge", "ground", "rod", at=(0, 0, 0), axis=tuple(frame[:, 2]), damping=float(option("DampingCoefficient")[0]),
            q0=float(np.radians(option("PositionTargetValue")[0])),
        )
    )  # fmt: skip
    for system in (adams, simscape):
        angle = float(nx.simulate(system, 2.0).joint_position("hinge")[-1])
        assert f"at {angle:.4f} rad" in page, system.name


# --- all blocks -----------------------------------------------------------------------------------------------------


def blocks(page: Path, *languages: str) -> list[str]:
    """The page's blocks in these languages."""
    found = re.finditer(r"^```(\S+)[^\n]*\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [block[2] for block in found if block[1] in languages]


def test_no_block_is_in_a_language_that_no_test_runs() -> None:
    for page in PAGES:
        fences = re.findall(r"^```(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        opening = [fence.split(" ")[0] for fence in fences[::2]]
        assert set(opening) <= LANGUAGES | DIRECTIVES, page.name
        assert not any(fences[1::2]), page.name


def width(line: str) -> int:
    """Columns of a line; Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def test_no_block_of_code_is_wider_than_the_page() -> None:
    for page in (*PAGES, ROOT / "CONTRIBUTING.md"):
        found = re.findall(r"^```([^\n]*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for kind, text in found:
            if kind.startswith(("{eval-rst}", "{image}", "{include}")) or (kind == "text" and page.name in SCROLLS):
                continue
            wide = [line for line in text.splitlines() if width(line) > WIDEST]
            assert not wide, page.name


SPEED = re.compile(
    r"\d\s?(µs|ns)\b|\(\d[\d.]*×\)|[\d.]+ times as (long|fast as (?!the motion))"
    r"|\d %? ?(faster|slower)|\b(takes?|took) [\d.]+ (s|ms|minutes)\b"
)
"""How much time something takes, or how many times as long as something else."""


def test_figures_of_speed_stand_on_the_performance_page_alone() -> None:
    assert SPEED.search("a step takes 2 ms") and SPEED.search("| 0.43 µs (8.6×) |")
    assert SPEED.search((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"))
    for page in PAGES:
        if page.name != "performance.md":
            found = [m.group() for m in SPEED.finditer(page.read_text(encoding="utf-8"))]
            assert not found, page.name


# --- commands -------------------------------------------------------------------------------------------------------

ELSEWHERE = {
    r"nexdyn view (?!.*--(html|png|gif|mp4))": "waits for a reader; test_view_cli opens pages",
    r"nexdyn .*--view": "as before",
    r"nexdyn edit ": "waits for an editor; test_edit saves files",
    r"nexdyn verify": "test_verify runs all problems",
    r"nexdyn sweep .*--cluster": "test_sweep has a cluster of its own",
    r"nexdyn view .*--mp4": "test_stills writes videos",
    r"nexdyn warm .*--tiers": "of processors that this one need not be; test_tiers",
    r"(pip|source|dask) ": "not ours",
}
"""Lines that do not run here, and why."""
EXITS = {"nexdyn check broken-four-bar": 3}


def command_lines(page: Path) -> list[str]:
    """Lines of the page's shell blocks, without remarks, variables before them and what they are piped into."""
    lines = [line for block in blocks(page, "bash", "sh") for line in block.splitlines()]
    cut = (re.split(r" +#| \| | > |^#", re.sub(r"^([A-Z_]+=\S+ )+", "", line))[0].strip() for line in lines)
    return [line for line in cut if line]


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize("page", [p for p in PAGES if command_lines(p)], ids=lambda page: page.name)
def test_commands_run_as_printed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("robot.urdf").write_text(ROBOT.replace('<link name="base"/>', f'<link name="base">{BASE}</link>'))
    Path("scene.yaml").write_text(SCENE)
    Path("study.yaml").write_text(blocks(ROOT / "docs" / "sweeps.md", "yaml")[0])
    Path("runs").mkdir()
    monkeypatch.setattr("nexdyn.cli.warm.COMMANDS", ("info robot.urdf",))  # test_shipped_kernels runs all of them
    for name in ("run.nc", "other.nc"):
        nx.simulate(nx.load("hinge-chain"), 0.2, nx.RungeKutta4(1e-3), output_every=10).save(name)
    for line in command_lines(page):
        if any(re.match(pattern, line) for pattern in ELSEWHERE):
            continue
        first, *words = shlex.split(line)
        if first in ("python", "pytest"):
            files = [word for word in words if word.endswith(".py")]
            modules = [word.replace(".", "/") for word in words if word.startswith("benchmarks")]
            assert files or modules, line
            for name in (*files, *modules):
                path = ROOT / name
                assert path.exists() or path.with_suffix(".py").exists(), line
            continue
        assert first == "nexdyn", line
        assert main(words) == EXITS.get(line, 0), line


# --- scenes, errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "yaml")], ids=lambda page: page.name)
def test_scenes_are_read_as_printed_and_run(page: Path) -> None:
    if page.name == "sweeps.md":
        return  # a study, which the commands of the page run
    for text in blocks(page, "yaml"):
        if "bodies:" not in text:  # parts of a scene: put into the demo that the page names
            sections = dict(re.findall(r"^(\w+):\n((?:  .*\n)+)", text, re.MULTILINE))
            assert "".join(f"{name}:\n{lines}" for name, lines in sections.items()) == text
            demo = dump_scene(nx.load("bouncing-ball"))
            for name in sections:
                demo = re.sub(rf"^{name}:.*\n(?:[ #].*\n|\n)*", "", demo, flags=re.MULTILINE)
            text = demo + "\n" + text
        scene = read_scene_text(text, page.name)
        result = nx.simulate(scene.system, 1.2)
        assert result.status == "finished" and (not scene.system.events or result.events)


def test_an_error_as_an_object_is_what_the_page_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (shown,) = blocks(ROOT / "docs" / "command_line.md", "json")
    assert main(["run", "hinge-chian", "--json"]) == 2
    expected, told = json.loads(shown), json.loads(capsys.readouterr().out)
    assert expected.keys() == told.keys() and expected["error"].keys() <= told["error"].keys()
    message = expected["error"].pop("message").removesuffix(" …")
    assert told["error"].pop("message").startswith(message)
    assert {name: told["error"][name] for name in expected["error"]} == expected["error"]


def test_errors_of_a_scene_are_what_the_page_shows() -> None:
    page = ROOT / "docs" / "scene.md"
    head, *shown = next(text for text in blocks(page, "text") if text.startswith("crane.yaml")).splitlines()
    (scene, *_) = blocks(page, "yaml")
    broken = scene.replace("    mass: 300.0\n", "    mas: 300.0\n").replace("child: mast", "child: mats")
    with pytest.raises(nx.FileError) as error:
        read_scene_text(broken, "crane.yaml")
    told = str(error.value).splitlines()
    assert told[0] == head and len(told) == len(shown) + 1
    for line, expected in zip(told[1:], shown, strict=True):
        assert line.startswith(expected.removesuffix("…")) and (line == expected or expected.endswith("…"))


def test_the_motions_that_the_page_shows_are_those_of_its_mechanism() -> None:
    (shown,) = [text for text in blocks(ROOT / "docs" / "assembly.md", "text") if text.startswith("free:")]
    motion = nx.assemble(nx.load("four-bar")).redundancy.motions[0]
    assert str(motion) in " ".join(shown.split())


def test_every_joint_force_coupling_and_driver_is_drawn() -> None:
    page = (ROOT / "docs" / "modelling.md").read_text(encoding="utf-8")
    drawn = set(re.findall(r"!\[(\w+)(?: joint)?\]\((figures/\w+-\w+\.png)\)", page))
    assert all((ROOT / "docs" / path).stat().st_size > 1000 for _, path in drawn)
    families = (*JOINTS.values(), *FORCES.values(), *COUPLINGS.values(), *DRIVERS.values())
    assert {cls.__name__ for cls in families} == {name for name, _ in drawn}


# --- tutorials, gallery -----------------------------------------------------------------------------------------------


def test_tutorials_follow_each_other() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.search(r":caption: Tutorials\n\n(.*?)\n```", index, re.DOTALL)
    assert listed is not None
    pages = listed[1].split("\n")
    assert pages == ["getting_started", "assembly", "robot_arm", "ball_box_slope", "calibration", "batches"]
    for page, following in itertools.pairwise(pages):
        last = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").rstrip().rpartition("\n\n")[2]
        assert last.startswith(f"Next: {{doc}}`{following}`"), page


@pytest.mark.parametrize(("name", "count"), [("robot_arm", 3), ("ball_box_slope", 9)])
def test_numbers_that_a_tutorial_prints_are_those_next_to_them(
    name: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / f"{name}.md"
    program: dict[str, object] = {"__name__": page.stem}
    for example in examples(page):
        exec(compile(example, str(page), "exec"), program)
    said = capsys.readouterr().out.split("\n")
    shown = re.findall(r"^print\(.*\)  # ([^,[\n]*)(?:, .*)?$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(shown) == count and [line for line in said if line in shown] == shown


def test_the_chinese_tutorial_is_the_twin_of_the_english_one() -> None:
    english, chinese = ROOT / "docs" / "getting_started.md", ROOT / "docs" / "getting_started.zh.md"

    def code(page: Path) -> list[list[str]]:
        return [re.sub(r"#.*", "", block).split() for block in blocks(page, "python", "{code-cell}", "bash")]

    def headings(page: Path) -> int:
        return len(re.findall(r"^#+ ", re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S), re.M))

    assert code(english) == code(chinese) and len(code(english)) > 5
    assert headings(english) == headings(chinese)
    assert re.findall(r"^\| `(\S+)`", english.read_text("utf-8"), re.M) == re.findall(
        r"^\| `(\S+)`", chinese.read_text("utf-8"), re.M
    )


def test_every_picture_has_a_page_that_shows_it_and_a_script_that_draws_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_extensions"))
    gallery = importlib.import_module("gallery")
    pages, scripts = gallery.shown_on(), {name: gallery.script_of(name) for name in gallery.pictures()}
    assert set(scripts) == set(pages) and len(scripts) > 60
    for name, script in scripts.items():
        assert script is not None, name
        assert any(word in script.read_text(encoding="utf-8") for word in ("savefig", "save(", "plot(", "def ")), name

"""Every Python example in README and docs runs as printed; the examples of one page run in order, in one program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nexdyn as nx
from nexdyn.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "README.zh.md", *sorted((ROOT / "docs").glob("*.md"))]

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
        assert capsys.readouterr().out.startswith(text)

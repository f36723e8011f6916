"""What is declared agrees with what is there: dependencies, version, licence, README's first block."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# distribution → what it is imported as, where the names differ
IMPORTED_AS = {"pyyaml": {"yaml"}}
OPTIONAL = {
    "mujoco",
    "matplotlib",
    "PIL",
    "imageio_ffmpeg",
    "joblib",
    "distributed",
    "zarr",
    "websockets",
}  # imported where it is used, with an error that names the extra


def distribution(requirement: str) -> str:
    return re.split(r"[ <>=!~;\[]", requirement)[0]


def imported_by_the_package() -> set[str]:
    """Top-level names that the package's sources import, itself and the standard library left out."""
    names: set[str] = set()
    for path in (ROOT / "src" / "nexdyn").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - sys.stdlib_module_names - {"nexdyn"}


def test_every_import_is_a_declared_dependency() -> None:
    declared: set[str] = set()
    for requirement in PROJECT["dependencies"]:
        name = distribution(requirement)
        declared |= IMPORTED_AS.get(name, {name})
    assert imported_by_the_package() <= declared | OPTIONAL


def test_the_extra_all_holds_every_other_extra() -> None:
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(re.findall(r"\w+", everything)) == {"nexdyn", *extras} - {"all"}


def test_the_changelog_opens_with_the_version() -> None:
    heading = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading is not None
    assert heading.group(1) == PROJECT["version"]


def test_readme_opens_with_the_two_commands() -> None:
    block = re.search(r"^```\w*\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None
    commands = [line for line in block.group(1).splitlines() if line and not line.startswith("#")]
    assert commands == ["pip install . && nexdyn run hinge-chain", 'pip install -e ".[test]" && pytest']


def test_the_citation_is_of_this_version_and_licence() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (str(citation["version"]), citation["license"]) == (PROJECT["version"], PROJECT["license"])


def test_what_runs_before_a_commit_and_a_push_is_what_the_check_runs() -> None:
    script = (ROOT / "scripts" / "check").read_text(encoding="utf-8")
    checks = {name.strip("'"): line for name, line in re.findall(r"^ *check ('[^']+'|\w+) (.+)$", script, re.MULTILINE)}
    checks["tests"] = "pytest"
    assert re.search(r"^ +pytest ", script, re.MULTILINE)
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = {hook["name"]: hook["entry"] for repo in config["repos"] for hook in repo["hooks"]}
    assert hooks == checks and len(hooks) == 8


def test_files_that_contributing_names_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|docs|tests|scripts|\.ci)/[\w./]+)", text))
    assert len(named) > 20
    for name in named:
        if "NAME" not in name:
            assert (ROOT / name).exists(), name
    for name in re.findall(r"`((?:joints|forces|absolute|tree|results|view|batch)/\w+\.py)", text):
        assert (ROOT / "src" / "nexdyn" / name).exists(), name


def test_the_changelog_has_its_three_groups_and_no_figures_of_speed() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for version in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        groups = re.findall(r"^### (.+)$", version, re.MULTILINE)
        assert groups == [name for name in ("Added", "Changed", "Fixed") if name in groups]
    speed = r"\d ?(µs|ns)\b|\d \w+ of processor time|\btakes? [\d.]+ (s|ms)\b|ready after|\d (MB )?before\)"
    assert not re.findall(speed, text)

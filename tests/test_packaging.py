"""What is declared agrees with what is there: dependencies, version, licence, README's first block."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# distribution → what it is imported as, where the names differ; llvmlite and h5py come with numba and h5netcdf's need
IMPORTED_AS = {"pyyaml": {"yaml"}, "numba": {"numba", "llvmlite"}}
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

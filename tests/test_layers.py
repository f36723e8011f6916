"""The floors of the package: the check in pyproject.toml refuses what it must, and `import nexdyn` stays light."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def floors() -> list[list[str]]:
    """The floors as pyproject.toml lists them, top first; optional ones included."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = config["tool"]["importlinter"]["contracts"]
    return [line.replace("(", "").replace(")", "").replace(":", "|").split(" | ") for line in contract["layers"]]


@pytest.fixture
def miniature(tmp_path: Path) -> Path:
    """A package with every floor of nexdyn and no imports, beside nexdyn's own pyproject.toml."""
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text(encoding="utf-8"), encoding="utf-8")
    package = tmp_path / "nexdyn"
    for name in [name for floor in floors() for name in floor]:
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
    (package / "__init__.py").touch()
    return package


def layers_are_kept(package: Path) -> bool:
    """What `lint-imports` says; anything but a verdict on the one contract is a failure of the test."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    run = subprocess.run(command, cwd=package.parent, capture_output=True, text=True, check=False)
    kept, broken = "1 kept, 0 broken" in run.stdout, "0 kept, 1 broken" in run.stdout
    assert kept != broken, run.stdout + run.stderr
    assert kept == (run.returncode == 0)
    return kept


def test_downward_imports_are_accepted(miniature: Path) -> None:
    (miniature / "cli" / "__init__.py").write_text("from nexdyn.statics import x\nfrom nexdyn import errors\n")
    (miniature / "tree" / "aba.py").write_text("import nexdyn.spatial\nimport nexdyn.kernel\n")
    assert layers_are_kept(miniature)


@pytest.mark.parametrize(
    ("importer", "line"),
    [
        ("spatial/algebra.py", "from nexdyn.tree import aba"),
        ("model/system.py", "from nexdyn import joints"),
        ("kernel/__init__.py", "import nexdyn.spatial"),
        ("errors/__init__.py", "import nexdyn.model"),
        ("forces/spring.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from nexdyn.tree import aba"),
        ("tree/aba.py", "def f():\n    from nexdyn.cli import main"),
    ],
)
def test_upward_imports_are_refused(miniature: Path, importer: str, line: str) -> None:
    (miniature / importer).write_text(line + "\n")
    assert not layers_are_kept(miniature)


@pytest.mark.parametrize(("importer", "sibling"), [("io", "studies"), ("joints", "forces"), ("spatial", "integrate")])
def test_siblings_never_meet(miniature: Path, importer: str, sibling: str) -> None:
    (miniature / importer / "page.py").write_text(f"import nexdyn.{sibling}\n")
    assert not layers_are_kept(miniature)


def test_a_module_without_a_floor_is_refused(miniature: Path) -> None:
    (miniature / "helpers.py").touch()
    assert not layers_are_kept(miniature)


def test_import_nexdyn_loads_no_heavy_library() -> None:
    heavy = {"numba", "scipy", "xarray", "pandas", "h5py", "pydantic", "yaml", "rich", "cyclopts"}
    code = f"import sys, nexdyn; print(*sorted({heavy!r} & {{name.partition('.')[0] for name in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_a_run_of_a_tree_loads_no_absolute_coordinates() -> None:
    """Nor what they bring; that is a sixth of the time of a short run."""
    code = (
        "import sys, nexdyn as nx; nx.simulate(nx.load('hinge-chain'), 0.01, nx.RungeKutta4(1e-3)).joint_position; "
        "print(*sorted(m for m in sys.modules if m.startswith(('nexdyn.absolute', 'nexdyn.statics', 'scipy.sparse.linalg', 'xarray'))))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []

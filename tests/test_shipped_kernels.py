"""Kernels that come with the package, and `nexdyn warm`, which makes them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from test_kernel_cache import CHANGED, FORMULA, Place

from nexdyn import kernel_folders
from nexdyn.cli import main, warm


@pytest.fixture
def shipped(tmp_path: Path) -> Place:
    """A copy of the package with the kernel of a program in it, as a wheel brings it, and an empty cache."""
    place = Place(tmp_path)
    program = place.package / "program.py"  # a kernel of the package
    shutil.move(place.program, program)
    place.program = program
    assert place.run()["misses"] == 1
    shutil.move(place.kernels, place.package / "kernels")
    made = {"versions": kernel_folders.versions(), "commands": []}
    (place.package / "kernels" / kernel_folders.MADE).write_text(json.dumps(made))
    return place


def test_what_came_with_the_package_is_not_compiled_and_not_copied(shipped: Place) -> None:
    said = shipped.run()
    assert (said["hits"], said["misses"], said["q"]) == (1, 0, [0.0, 0.0, 1.0, 0.0])
    assert shipped.files() == {}


def test_it_serves_where_nothing_can_be_written(shipped: Place) -> None:
    """An installation that is read alone, and a user without a home."""
    before = {path: path.stat().st_mtime_ns for path in (shipped.package / "kernels").rglob("*")}
    said = shipped.run(NEXDYN_CACHE_DIR="/proc/nowhere")
    assert (said["hits"], said["misses"]) == (1, 0)
    assert {path: path.stat().st_mtime_ns for path in (shipped.package / "kernels").rglob("*")} == before


def test_what_it_lacks_is_compiled_into_the_cache_of_the_user(shipped: Place) -> None:
    shipped.edit("spatial/algebra.py", FORMULA, CHANGED)
    for hits in (0, 1):
        said = shipped.run()
        assert (said["hits"], said["misses"], said["q"]) == (hits, 1 - hits, [0.0, 0.0, 2.0, 0.0])


def test_a_damaged_kernel_of_the_package_counts_as_none(shipped: Place) -> None:
    for path in (shipped.package / "kernels").rglob("*.nbc"):
        path.write_bytes(path.read_bytes()[:-100])
    for hits in (0, 1):
        said = shipped.run()
        assert (said["hits"], said["misses"], said["q"]) == (hits, 1 - hits, [0.0, 0.0, 1.0, 0.0])


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("NEXDYN_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    assert kernel_folders.cache_folder.__wrapped__() is None


def test_kernels_for_other_versions_are_told_by_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_folders, "SHIPPED", tmp_path)
    assert kernel_folders.other_versions() == ""  # none came
    (tmp_path / kernel_folders.MADE).write_text(json.dumps({"versions": kernel_folders.versions() | {"NumPy": "1.0"}}))
    assert kernel_folders.other_versions() == f"made for NumPy 1.0, here {kernel_folders.versions()['NumPy']}"
    (tmp_path / kernel_folders.MADE).write_text(json.dumps({"versions": kernel_folders.versions()}))
    kernel_folders.shipped_folder.cache_clear()
    assert kernel_folders.other_versions() == "made from other sources"
    (tmp_path / kernel_folders.source_hash()).mkdir()
    kernel_folders.shipped_folder.cache_clear()
    assert kernel_folders.other_versions() == ""
    kernel_folders.shipped_folder.cache_clear()


NEVER_READ = """
import pickle
from pathlib import Path

class Trap:
    def __reduce__(self):
        return Path.write_text, (Path(MARK), "it was unpickled")

for path in Path(FOLDER).rglob("*.nb?"):
    path.write_bytes(pickle.dumps(Trap()))
"""


@pytest.mark.parametrize("shared", [True, False], ids=["its own folder", "a folder of other sources"])
def test_what_was_made_for_other_sources_or_versions_is_never_unpickled(shipped: Place, shared: bool) -> None:
    """A kernel file is a pickle, which may do anything as it is read."""
    (folder,) = (path for path in (shipped.package / "kernels").iterdir() if path.is_dir() and any(path.rglob("*.nbc")))
    mark = shipped.root / "mark"
    trap = NEVER_READ.replace("MARK", repr(str(mark))).replace("FOLDER", repr(str(folder)))
    exec(compile(trap, "trap", "exec"), {"__name__": "trap"})
    assert list(folder.rglob("*.nbc"))
    if not shared:
        folder.rename(folder.with_name("0" * 24))
    said = shipped.run()
    assert (said["hits"], said["misses"], said["q"]) == (0, 1, [0.0, 0.0, 1.0, 0.0])
    assert mark.exists() == shared, "the trap is one, and is read where the name of its folder says that it fits"


NOBODY = 65534
AS_ANOTHER_USER = """
import os
os.setgroups([])
os.setgid(NOBODY)
os.setuid(NOBODY)
try:
    open(os.path.join(os.path.dirname(nexdyn.__file__), "probe"), "w")
    raise SystemExit("the folder can be written")
except PermissionError:
    pass
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may become another user")
def test_another_user_without_a_home_runs_what_root_installed(shipped: Place) -> None:
    """No HOME, no folder that can be written, and files that only root may write: nothing is compiled."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "lib"
        shutil.copytree(shipped.root / "lib", place)
        os.chmod(folder, 0o755)
        program = shipped.program.read_text()
        at = "@kernel\n"
        assert program.count(at) == 1
        file = place / "nexdyn" / "program.py"  # the source decides about the kernel: it stays, and is run in parts
        assert file.read_text() == program
        runs = f"""
import json, numpy, numba, nexdyn.kernel, nexdyn.spatial.algebra, nexdyn.spatial.table
numba.njit(lambda x: x + 1.0)(1.0)
{AS_ANOTHER_USER.replace("NOBODY", str(NOBODY))}
exec(compile(open({str(file)!r}).read(), {str(file)!r}, "exec"), {{"__name__": "nexdyn.program"}})
"""
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(place), "NEXDYN_QUIET": "1"}
        done = subprocess.run(
            [sys.executable, "-c", runs], env=environment, capture_output=True, text=True, cwd="/", check=False
        )
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout)
    assert (said["hits"], said["misses"], said["q"]) == (1, 0, [0.0, 0.0, 1.0, 0.0])


# --- nexdyn warm ------------------------------------------------------------------------------------------------------


def test_warm_says_what_is_ready_and_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warm, "COMMANDS", ("demos", "info robot.urdf"))
    assert main(["warm", "--into", str(tmp_path), "--jobs", "2"]) == 0
    assert capsys.readouterr().out.startswith("2 of 2 commands are ready, after ")
    made = json.loads((tmp_path / kernel_folders.MADE).read_text())
    assert made == {"versions": kernel_folders.versions(), "commands": ["demos", "info robot.urdf"], "tiers": []}
    assert main(["warm", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["commands"] == ["demos", "info robot.urdf"] and said["left_out"] == []
    assert Path(said["folder"]) == kernel_folders.cache_root()


@pytest.mark.parametrize("line", warm.COMMANDS)
def test_every_command_that_is_made_ready_runs(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not warm._runs_here(line):
        pytest.skip("what it needs is not installed")
    for name, text in warm.FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 0


def test_warm_stops_at_its_limit_and_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warm, "COMMANDS", ("run hinge-chain", "demos"))
    assert main(["warm", "--into", str(tmp_path), "--jobs", "1", "--limit", "0.01"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("0 of 2 commands are ready") and "  not yet: nexdyn run hinge-chain\n" in said


def test_warm_names_a_command_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warm, "COMMANDS", ("run nothing-there", "demos"))
    assert main(["warm", "--into", str(tmp_path)]) == 3
    said = capsys.readouterr()
    assert said.out.startswith("1 of 2 commands are ready") and "nexdyn run nothing-there ended with 2" in said.err
    assert json.loads((tmp_path / kernel_folders.MADE).read_text())["commands"] == ["demos"]  # the others stay
    assert main(["warm", "--jobs", "-1"]) == 2


def test_commands_whose_extra_is_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert [line for line in warm.COMMANDS if not warm._runs_here(line)] == ["view hinge-chain --html page.html"]


def test_warm_checks_what_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_folders, "SHIPPED", tmp_path / "none")
    assert main(["warm", "--check"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("cache    ") and "package  none came with it" in said
    monkeypatch.setattr(kernel_folders, "SHIPPED", tmp_path)
    made = {"versions": kernel_folders.versions() | {"Numba": "0.1"}, "commands": ["run hinge-chain"]}
    (tmp_path / kernel_folders.MADE).write_text(json.dumps(made))
    assert main(["warm", "--check"]) == 0
    assert "of no use here: made for Numba 0.1, here " in capsys.readouterr().out
    assert main(["warm", "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["package"]["commands"] == ["run hinge-chain"]

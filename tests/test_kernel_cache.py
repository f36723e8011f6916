"""The kernel cache: later processes hit it, and no change anywhere in the package ever runs a stale kernel."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from turns import in_turns

import nexdyn
from nexdyn import kernel_folders, numba_parts
from nexdyn.compiler import caches

PACKAGE = Path(nexdyn.__file__).parent
FORMULA = "return (1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z)) * q"
CHANGED = FORMULA.replace("(1.0 /", "(2.000 /")

PROGRAM = """
import json
import numpy as np
import nexdyn
from nexdyn.kernel import kernel
from nexdyn.spatial.algebra import Quat, normalized
from nexdyn.spatial.table import QuatRows

@kernel
def unit(table):
    rows = QuatRows(table, 0)
    for i in range(len(table)):
        rows[i] = normalized(rows[i])

q = np.array([[0.0, 0.0, 4.0, 0.0]])
unit(q)
hits, misses = (sum(x.values()) for x in (unit.stats.cache_hits, unit.stats.cache_misses))
print(json.dumps({"q": q[0].tolist(), "hits": hits, "misses": misses, "file": nexdyn.__file__}))
"""


class Place:
    """A copy of the package, a program that uses it, and a folder for its kernels."""

    def __init__(self, root: Path) -> None:
        self.root, self.package, self.kernels = root, root / "lib" / "nexdyn", root / "kernels"
        # byte code comes along, with the times of its sources: each process would else compile the package before it runs
        shutil.copytree(PACKAGE, self.package, ignore=shutil.ignore_patterns("kernels", "*.nbi", "*.nbc"))
        self.program = root / "program.py"
        self.program.write_text(PROGRAM)

    def run(self, program: Path | None = None, **environment: str) -> Any:
        """What the program prints, run in a process of its own."""
        env = {**os.environ, "PYTHONPATH": str(self.root / "lib"), "NEXDYN_CACHE_DIR": str(self.kernels), **environment}
        env = {name: value for name, value in env.items() if value}
        done = subprocess.run([sys.executable, program or self.program], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        said = json.loads(done.stdout)
        if isinstance(said, dict):
            assert Path(said["file"]).is_relative_to(self.root)
        return said

    def edit(self, file: str, old: str, new: str) -> None:
        """Change a source file of the copy and give it back the time it had."""
        path = self.package / file
        times, text = path.stat(), path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert path.stat().st_mtime_ns == times.st_mtime_ns

    def files(self) -> dict[str, int]:
        return {str(path.relative_to(self.kernels)): path.stat().st_mtime_ns for path in self.kernels.rglob("*.nb?")}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_later_process_takes_its_kernels_from_the_cache(place: Place) -> None:
    first = place.run()
    assert (first["hits"], first["misses"]) == (0, 1)
    written = place.files()
    assert {Path(name).suffix for name in written} == {".nbc"}
    second = place.run()
    assert (second["hits"], second["misses"]) == (1, 0)
    assert second["q"] == first["q"] == [0.0, 0.0, 1.0, 0.0]
    assert place.files() == written


def test_a_callee_that_changes_in_another_file_is_never_run_as_it_was(place: Place) -> None:
    place.run()
    place.edit("spatial/algebra.py", FORMULA, CHANGED)
    changed = place.run()
    assert changed["q"] == [0.0, 0.0, 2.0, 0.0]
    assert changed["misses"] == 1
    place.edit("spatial/algebra.py", CHANGED, FORMULA)  # back again: the first kernel is still there
    restored = place.run()
    assert restored["q"] == [0.0, 0.0, 1.0, 0.0]
    assert restored["hits"] == 1


def test_what_is_compiled_while_sources_change_is_not_kept(place: Place) -> None:
    edit = f"from pathlib import Path\nPath({str(place.package / 'describe.py')!r}).open('a').write('# more')\nq = np"
    place.program.write_text(PROGRAM.replace("q = np", edit, 1))
    assert place.run()["q"] == [0.0, 0.0, 1.0, 0.0]
    assert place.files() == {}


def test_a_kernel_outside_the_package_is_compiled_anew_when_its_file_changes(place: Place) -> None:
    place.run()
    place.program.write_text(PROGRAM.replace("import json\n", "import json  # no line moves\n"))
    assert place.run()["misses"] == 1


def test_kernels_alike_in_file_name_line_and_code_are_told_apart_by_their_folders(place: Place) -> None:
    page = """
from nexdyn.kernel import formula, kernel
@formula
def g(x):
    return {factor} * x
@kernel
def f(x):
    return g(x)
"""
    for folder, factor in (("one", 2.0), ("other", 3.0)):
        (place.package / folder).mkdir()
        (place.package / folder / "page.py").write_text(page.format(factor=factor))
        program = "import json\nfrom nexdyn.{}.page import f\nprint(json.dumps([f(1.0), len(f.stats.cache_hits)]))\n"
        (place.root / f"{folder}.py").write_text(program.format(folder))
    for hits in (0, 1):
        assert place.run(place.root / "one.py") == [2.0, hits]
        assert place.run(place.root / "other.py") == [3.0, hits]


EDITED = {
    "spatial/algebra.py": {"integrate", "tree", "absolute", "simulation"},
    "model/system.py": {"integrate", "tree", "absolute", "simulation"},
    "geometry/box.py": {"integrate", "tree", "absolute", "simulation"},
    "tree/core/aba.py": {"integrate", "tree", "simulation"},
    "absolute/motion/hht.py": {"integrate", "absolute", "simulation"},
    "results/result.py": {"simulation"},
    "cli/progress.py": {"simulation"},
    "errors.py": set[str](),
}
"""Of each source file, the floors whose kernels it can be part of."""


def test_an_edit_compiles_the_kernels_anew_that_it_can_be_part_of_and_no_others(place: Place) -> None:
    floors = ("integrate", "tree", "absolute", "simulation")
    page = "from nexdyn.kernel import kernel\n@kernel\ndef f(x):\n    return 2.0 * x\n"
    for floor in floors:
        (place.package / floor / "one_more.py").write_text(page)
    imports = "".join(f"from nexdyn.{floor}.one_more import f as {floor}\n" for floor in floors)
    calls = ", ".join(f"'{floor}': [{floor}(1.0), len({floor}.stats.cache_misses)]" for floor in floors)
    place.program.write_text(f"import json\n{imports}print(json.dumps({{'file': '{place.package}', **{{{calls}}}}}))\n")
    place.run()
    for (
        edited,
        compiled_again,
    ) in EDITED.items():  # one after the other, each with what the ones before left in the cache
        place.edit(edited, "from __future__", "# edited\nfrom __future__")
        said = place.run()
        assert {floor for floor in floors if said[floor] == [2.0, 1]} == compiled_again, edited
        assert all(said[floor] == [2.0, 0] for floor in floors if floor not in compiled_again), edited


def test_floors_above_the_formulations_hold_no_formulas_for_the_floors_below() -> None:
    """What `UPPER` says: there a kernel may be, in view a formula of view's kernels, never a meaning of a verb."""
    for name in kernel_folders.UPPER:
        place = PACKAGE / name
        for path in [place] if place.is_file() else place.rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"@(overloaded|defines)|\bgeneric\(", text), path
            assert name == "view" or not re.search(r"@(formula|inlined)", text), path


def test_no_kernel_reads_what_words_errors() -> None:
    """What `WORDS` says: no function that is compiled has a name that its module takes from there."""
    words = {f"nexdyn.{name.removesuffix('.py')}" for name in kernel_folders.WORDS}
    compiled = 0
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        taken = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module in words
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and re.search(
                r"\b(kernel|formula|inlined|overloaded|defines)\b", " ".join(map(ast.unparse, node.decorator_list))
            ):
                compiled += 1
                named = {name.id for part in node.body for name in ast.walk(part) if isinstance(name, ast.Name)}
                assert not named & taken, f"{path}: {node.name}"
    assert compiled > 1000


def test_settings_of_numba_that_change_code_have_kernels_of_their_own(place: Place) -> None:
    place.run()
    assert place.run(NUMBA_BOUNDSCHECK="1")["misses"] == 1
    assert place.run()["hits"] == place.run(NUMBA_BOUNDSCHECK="1")["hits"] == 1


def test_another_processor_has_kernels_of_its_own(place: Place) -> None:
    place.run()
    assert place.run(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="-avx512f")["misses"] == 1
    assert place.run()["hits"] == 1


def test_an_upgrade_of_what_generates_code_or_of_the_system_starts_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    hash_of = kernel_folders.source_hash.__wrapped__
    now = hash_of()
    assert now == hash_of()
    changes: list[tuple[Any, str, Any]] = [
        (numba_parts.numba, "__version__", "0.0"),
        (numba_parts.llvmlite, "__version__", "0.0"),
        (kernel_folders.numpy, "__version__", "0.0"),
        (sys, "version_info", (4, 0, 0)),
        (sys, "abiflags", "t"),
        (sys, "implementation", SimpleNamespace(cache_tag="pypy-311")),
        (sys, "platform", "plan9"),
        (kernel_folders.platform, "machine", lambda: "mips"),
        (kernel_folders.platform, "libc_ver", lambda: ("musl", "1.2")),
        (numba_parts, "is_plain", lambda: True),
    ]
    for of, name, value in changes:
        with monkeypatch.context() as patch:
            patch.setattr(of, name, value, raising=False)
            assert hash_of() != now, name


def test_a_patch_release_of_python_keeps_its_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    hash_of = kernel_folders.source_hash.__wrapped__
    now, (major, minor, patch, *rest) = hash_of(), sys.version_info
    monkeypatch.setattr(sys, "version", f"{major}.{minor}.{patch + 1} (main, built by another compiler)")
    monkeypatch.setattr(sys, "version_info", (major, minor, patch + 1, *rest))
    assert hash_of() == now


def test_the_hash_sees_contents_and_names_of_all_sources_and_nothing_else(tmp_path: Path) -> None:
    hash_of = kernel_folders.source_hash.__wrapped__
    (tmp_path / "deep").mkdir()
    page = tmp_path / "deep" / "page.py"
    page.write_text("a = 1\n")
    first = hash_of(tmp_path)
    os.utime(page, (0, 0))
    (tmp_path / "notes.txt").write_text("no source")
    assert hash_of(tmp_path) == first
    page.write_text("a = 2\n")
    assert hash_of(tmp_path) != first
    page.write_text("a = 1\n")
    page.rename(tmp_path / "deep" / "leaf.py")
    assert hash_of(tmp_path) != first
    (tmp_path / "deep" / "leaf.py").rename(page)
    (tmp_path / "more.py").write_text("")
    assert hash_of(tmp_path) != first


NAMES = """
import json, os, sys
from nexdyn.kernel import formula

def name_of(f):
    f.get_call_template((), {})
    (made,) = f.overloads.values()
    return made.fndesc.mangled_name

names = [name_of(formula(lambda: 1.0))]
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, name_of(formula(lambda: 2.0)).encode())
    os._exit(0)
names += [name_of(formula(lambda: 3.0)), os.read(read, 1000).decode()]
print(json.dumps(names))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_formulas_alike_in_name_are_told_apart_across_processes(place: Place) -> None:
    """Bitcode of one process is linked in another: symbols must not meet there."""
    program = place.root / "names.py"
    program.write_text(NAMES)
    names = [name for _ in range(2) for name in place.run(program)]
    assert len(set(names)) == 6, names


def test_without_a_folder_to_write_in_kernels_work_and_leave_nothing(place: Place) -> None:
    occupied = place.root / "occupied"
    occupied.write_text("a file where the folder would be")
    for _ in range(2):
        said = place.run(NEXDYN_CACHE_DIR=str(occupied / "kernels"))
        assert (said["q"], said["hits"]) == ([0.0, 0.0, 1.0, 0.0], 0)


def test_the_cache_is_where_the_variable_says_and_else_in_the_users_cache(place: Place) -> None:
    home = place.root / "home"
    home.mkdir()
    elsewhere = {"HOME": str(home), "XDG_CACHE_HOME": "", "LOCALAPPDATA": str(home), "USERPROFILE": str(home)}
    place.run(**elsewhere)
    assert place.files()
    assert not list(home.rglob("*.nbc"))
    shutil.rmtree(place.kernels)
    place.run(NEXDYN_CACHE_DIR="", **elsewhere)
    assert len(list(home.rglob("program.unit-*.nbc"))) == 2  # bitcode and machine code
    assert not place.kernels.exists()


def test_damaged_files_of_the_cache_count_as_none_and_are_written_again(place: Place) -> None:
    place.run()
    for damage in (b"", b"rubbish", b"\x80\x05rubbish"):
        damaged = list(place.kernels.rglob("*.nbc"))
        for path in damaged:
            path.write_bytes(damage)
        said = place.run()
        assert (said["q"], said["hits"]) == ([0.0, 0.0, 1.0, 0.0], 0)
        assert damaged and all(path.read_bytes() != damage for path in damaged if path.exists())
        assert len(list(place.kernels.rglob("program.unit-*.nbc"))) == 2
    assert place.run()["hits"] == 1


def test_signatures_saved_while_another_is_are_both_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a file of its own, whatever other processes save meanwhile; what is of another state is not found."""
    one, other = (caches.Files(str(tmp_path), "kernel", "stamp") for _ in range(2))
    write = one._save_data

    def late(name: str, data: Any) -> None:
        other.save(("other",), "its code")
        write(name, data)

    monkeypatch.setattr(one, "_save_data", late)
    one.save(("one",), "my code")
    assert (other.load(("one",)), one.load(("other",)), one.load(("third",))) == ("my code", "its code", None)
    assert caches.Files(str(tmp_path), "kernel", "other stamp").load(("one",)) is None
    assert len(list(tmp_path.iterdir())) == 2


def test_of_old_caches_the_youngest_stay_and_the_others_go(place: Place) -> None:
    place.kernels.mkdir()
    for age in range(kernel_folders.KEPT_CACHES + 3):
        old = place.kernels / f"old{age}"
        old.mkdir()
        (old / "kernel.nbc").write_bytes(b"0")
        os.utime(old, (1e9 - age, 1e9 - age))
    (place.kernels / "a file").write_text("no cache")
    place.run()
    left = {path.name for path in place.kernels.iterdir()}
    new = 2  # of the program's kernel, and of the formulas that it calls: each is kept as long as its own sources stay
    assert {name for name in left if name.startswith("old")} == {
        f"old{age}" for age in range(kernel_folders.KEPT_CACHES + 1 - new)
    }
    assert "a file" in left
    assert len(left - {kernel_folders.PARTS}) == kernel_folders.KEPT_CACHES + 2


WARM = """
import sys
import nexdyn as nx
from nexdyn.assembly.stopwatch import compiling_told
names = []
with compiling_told(lambda name, count, seconds: names.append(name)):
    system = nx.System("warm")
    system.add_body("ball", mass=1.0, inertia=(0.1, 0.2, 0.3), collision=[nx.Sphere(0.1)], position=(0, 0, 0.2))
    system.add_body("box", mass=1.0, inertia=(0.1, 0.2, 0.3), collision=[nx.Box((0.2, 0.2, 0.2))], position=(0, 1.0, 0.2))
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 1.0))
    system.add_joint(nx.Free("flies", "ground", "ball"))
    system.add_joint(nx.Free("falls", "ground", "box"))
    system.add_joint(nx.Revolute("hinge", "ground", "arm", at=(0, 0, 1.0), axis=(0, 1, 0), damping=0.1))
    system.add_force(nx.JointFriction("rubs", "hinge", sliding=0.1, stiffness=100.0))
    system.add_contact(nx.Contact("point", "ball", friction=0.4, stiffness=1e5))
    system.add_contact(nx.Contact("area", "box", friction=0.4, foundation_b=1e6))
    result = nx.simulate(system, 0.01, METHOD)
    result.contacts("point"), result.contacts("area"), result.energy(), result.force("rubs"), result.reaction("hinge"), result.summary()
print(*names)
"""
"""A program that tells what it compiled: of what has states, whose tables have types of their own."""
METHODS_OF_WARM = {"hht": "nx.HHT()", "implicit": "nx.ImplicitEuler(1e-3)", "rk4": "nx.RungeKutta4(1e-3)"}


@pytest.mark.slow
@pytest.mark.parametrize("method", in_turns(METHODS_OF_WARM, of=3))
def test_a_second_process_compiles_nothing(method: str) -> None:
    program = WARM.replace("METHOD", METHODS_OF_WARM[method])
    line = [sys.executable, "-c", program]
    subprocess.run(line, check=True, capture_output=True, text=True, timeout=600)
    again = subprocess.run(line, check=True, capture_output=True, text=True, timeout=600)
    assert again.stdout.split() == []

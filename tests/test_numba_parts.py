"""The parts of Numba and llvmlite that nobody promises: one file imports them, a table names them, and each that is missing is told."""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import formulations
import pytest
from test_kernel_cache import Place

from nexdyn import numba_parts
from nexdyn.cli import main

ROOT = Path(__file__).resolve().parents[1]
HERE = "nexdyn.numba_parts"
BUILT_ON_IT = "nexdyn.compiler"
SHARED = {"_replace", "_fields"}
"""Of every named tuple."""


@pytest.fixture(scope="module")
def gauges() -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("gauges", ROOT / "scripts" / "gauges.py")
    assert spec is not None and spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules["gauges"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["gauges"]


MEMBERS = [
    (part, member[0])
    for part in (*numba_parts.LOW, *numba_parts.PRIVATE)
    for member in numba_parts._MEMBER.finditer(part.members)
]
NAMES = {member.removeprefix("self.").partition("(")[0] for _, member in MEMBERS}
NAMES |= {part.where.partition(":")[2] for part in (*numba_parts.LOW, *numba_parts.PRIVATE)}


# --- quarantine -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(gauges: Any) -> Any:
    return gauges.modules()


def test_one_file_imports_the_insides_of_numba_and_llvmlite(gauges: Any, found: Any) -> None:
    named = {name: module for name, module in found.items() if re.search("numba|llvmlite", module.text)}
    deep = {name: gauges.deep_imports(module) for name, module in named.items()}
    assert {name for name, lines in deep.items() if lines} == {HERE}, deep


def test_nobody_but_the_compiler_touches_a_private_name_of_theirs(gauges: Any, found: Any) -> None:
    private = {name for name in NAMES if name.startswith("_")} - SHARED
    for name, module in found.items():
        if "numba" in module.text and name != HERE and not name.startswith(BUILT_ON_IT):
            touched = [(line, x) for line, x in gauges.foreign_privates(module) if x.rpartition(".")[2] in private]
            assert touched == [], name


def test_the_table_has_all_private_names_that_the_compiler_touches(gauges: Any, found: Any) -> None:
    modules = [module for name, module in found.items() if name.startswith(BUILT_ON_IT)]
    own = {name for module in modules for name in _own_names(module.tree)}
    touched = {
        (module.name, line, name)
        for module in modules
        for line, name in gauges.private_names(module)
        if name not in own | NAMES
    }
    assert touched == set()


def test_the_table_has_all_that_others_take_of_the_low_level_api(gauges: Any, found: Any) -> None:
    """`cgutils.pack_array`, `ir.Constant`, `context.make_tuple`: what is not listed would be missed in the middle of compiling."""
    takers = {name: module for name, module in found.items() if f"from {HERE} import" in module.text}
    assert len(takers) > 3
    missed = {
        (name, node.attr)
        for name, module in takers.items()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("cgutils", "ir", "context", "ctx")
        and not (node.value.id == "context" and name.startswith(BUILT_ON_IT))
        and node.attr not in NAMES
    }
    assert missed == set()


def _own_names(tree: ast.Module) -> set[str]:
    """Private names that a module gives: its functions and classes, class attributes, and what methods set on `self` and read back.

    What a class has of Numba's stands in the table, and so is none of its own."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            own.add(node.attr)
    return own


def test_imports_of_insides_are_told_from_public_ones(gauges: Any, tmp_path: Path) -> None:
    text = (
        "import numba\nfrom numba import types, carray\nfrom numba.extending import overload\nimport numba.types\n"
        "from numba.core import cgutils\nfrom numba import core\nimport llvmlite\nfrom llvmlite import ir\n"
        "from numba.np.arrayobj import make_array\nimport importlib\nimportlib.import_module('numba.core.codegen')\n"
        "class A:\n    _b = 1\n    def _c(self):\n        return self._d.e\n"
    )
    (tmp_path / "m.py").write_text(text)
    module = gauges.modules(tmp_path)["m"]
    assert [line for line, _ in gauges.deep_imports(module)] == [5, 6, 7, 8, 9, 11]
    assert sorted(gauges.private_names(module)) == [(13, "_b"), (14, "_c"), (15, "_d")]


# --- the contract -----------------------------------------------------------------------------------------------------


def test_all_parts_are_there() -> None:
    assert numba_parts.absent(numba_parts.LOW) == numba_parts.absent(numba_parts.PRIVATE) == []


def test_the_check_takes_milliseconds() -> None:
    def took() -> float:
        numba_parts._codes.cache_clear()
        began = time.thread_time()
        numba_parts.absent(numba_parts.LOW), numba_parts.absent(numba_parts.PRIVATE)
        return time.thread_time() - began

    assert min(took() for _ in range(5)) < 5e-3


def _owner(part: Any) -> Any:
    module, _, name = part.where.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


def _without(monkeypatch: pytest.MonkeyPatch, part: Any, member: str) -> None:
    """Take a member away, wherever it comes from."""
    owner, name = _owner(part), member.removeprefix("self.").partition("(")[0]
    places = owner.__mro__ if isinstance(owner, type) else (owner,)
    for place in places:
        if name in vars(place) and place is not object:
            monkeypatch.delattr(place, name)
    codes = numba_parts._codes
    monkeypatch.setattr(numba_parts, "_codes", lambda cls: [code for code in codes(cls) if name not in code.co_names])


IMMUTABLE = {"__eq__(other)", "__hash__()"}  # object has them, too


@pytest.mark.parametrize(("part", "member"), MEMBERS, ids=[f"{part.where}.{member}" for part, member in MEMBERS])
def test_each_part_that_is_missing_is_named(part: Any, member: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = next(parts for parts in (numba_parts.LOW, numba_parts.PRIVATE) if part in parts)
    named = f"{part.where.replace(':', '.')}.{member.removeprefix('self.')}"
    gc.disable()  # what is taken away may be what frees
    try:
        with monkeypatch.context() as patch:
            if member not in IMMUTABLE:
                _without(patch, part, member)
                assert named in numba_parts.absent(table)
        if member.endswith(")") and "*" not in member:
            with monkeypatch.context() as patch:
                patch.setattr(_owner(part), member.partition("(")[0], lambda a, b, c, d, e, f, g, h, i, j: None)
                assert named in numba_parts.absent(table)
    finally:
        gc.enable()
    assert numba_parts.absent(table) == []


@pytest.mark.parametrize("where", sorted({part.where for part in numba_parts.PRIVATE}))
def test_a_class_or_module_that_is_missing_is_named(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, _, name = where.partition(":")
    with monkeypatch.context() as patch:
        if name:
            patch.delattr(importlib.import_module(module), name)
        else:
            patch.setitem(sys.modules, module, None)  # its import fails
        assert where.replace(":", ".") in numba_parts.absent(numba_parts.PRIVATE)


def test_another_order_of_an_arrays_values_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba_parts, "ARRAY", numba_parts.ARRAY[::-1])
    (named,) = numba_parts.absent(numba_parts.PRIVATE)
    assert named.startswith("numba.core.datamodel.models.ArrayModel with strides, shape")


# --- without private parts --------------------------------------------------------------------------------------------

HARMED = """
import sys, warnings
from llvmlite.binding import newpassmanagers
del newpassmanagers.NewPassManager
said = []
warnings.showwarning = lambda message, *_: said.append(str(message))
"""
PLAIN_PROGRAM = """
import json
import nexdyn
from nexdyn import numba_parts
from nexdyn.kernel import kernel, formula, outlined
@kernel
@outlined
def twice(x):
    return 2.0 * x
@kernel
def f(x):
    return twice(x) + 1.0
entries = f(1.0), f(2), twice(3.0)
misses = sum(sum(g.stats.cache_misses.values()) for g in (f, twice))
print(json.dumps({"file": nexdyn.__file__, "plain": numba_parts.is_plain(), "found": entries, "misses": misses, "said": said}))
"""


def test_where_a_part_is_missing_kernels_compile_by_public_means_and_that_is_told_once(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.program.write_text(HARMED + PLAIN_PROGRAM)
    first, second = place.run(), place.run()
    assert first["plain"] and first["found"] == second["found"] == [3.0, 5.0, 6.0]
    assert (first["misses"], second["misses"]) == (4, 0)
    (told,) = first["said"]
    assert "llvmlite.binding.newpassmanagers.NewPassManager" in told and "nexdyn warm --check" in told
    assert second["said"] == []
    place.edit("spatial/algebra.py", "from __future__", "# edited\nfrom __future__")
    assert place.run()["misses"] == 4, "a callee in another file may have changed"


def test_public_means_are_used_where_they_are_asked_for_and_that_is_not_told(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.program.write_text("said = []\n" + PLAIN_PROGRAM)
    ordinary = place.run()
    plain = place.run(NEXDYN_PLAIN_NUMBA="1")
    assert (ordinary["plain"], plain["plain"]) == (False, True)
    assert plain["found"] == ordinary["found"] and plain["misses"] == 4 and plain["said"] == []


def test_without_the_low_level_extension_api_an_error_names_what_is_missing(tmp_path: Path) -> None:
    program = "from numba.core import cgutils\ndel cgutils.pack_array\nimport nexdyn.kernel\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError: NexDyn cannot run with Numba" in done.stderr
    assert "they lack numba.core.cgutils.pack_array(builder,values)" in done.stderr


def test_warm_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm", "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["compiler"] == {"plain": False, "missing": []}
    monkeypatch.setattr(numba_parts, "missing", lambda: ("numba.a.b", "numba.c.d()"))
    monkeypatch.setattr(numba_parts, "is_plain", lambda: True)
    assert main(["warm", "--check"]) == 0
    said = capsys.readouterr().out
    assert "compiler Numba alone" in said and "numba.a.b" in said and "numba.c.d()" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [x if x == "tree" else pytest.param(x, marks=pytest.mark.long) for x in formulations.RUNS]
)
def test_a_formulation_gives_the_same_numbers_by_public_means(name: str) -> None:
    """Compiled whole each takes one or two minutes, so one of them runs always, the others with --long."""
    program = Path(__file__).with_name("formulations.py")
    env = os.environ | {"NEXDYN_PLAIN_NUMBA": "1"}
    env.pop("NEXDYN_ONE_FOR_ALL", None)  # of what its system has
    done = subprocess.run([sys.executable, program, name], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    expected = formulations.RUNS[name]()
    assert json.loads(done.stdout)[name] == pytest.approx(expected, rel=1e-9, abs=1e-11)

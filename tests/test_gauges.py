"""The gauges of the source count what they say: `scripts/circles` and `scripts/house`, on modules made up here."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


@pytest.fixture(scope="module")
def gauges() -> Any:
    spec = importlib.util.spec_from_file_location("gauges", SCRIPTS / "gauges.py")
    assert spec is not None and spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules["gauges"] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["gauges"]


@pytest.fixture
def house(gauges: Any, tmp_path: Path) -> Any:
    """What the gauges read of files given as {name: text}."""

    def read(files: dict[str, str]) -> dict[str, Any]:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        found: dict[str, Any] = gauges.modules(tmp_path)
        return found

    return read


def test_lazy_and_relative_imports_close_circles_and_those_for_type_checkers_do_not(gauges: Any, house: Any) -> None:
    found = house({
        "p/__init__.py": "", "p/a.py": "from p import b\n", "p/b.py": "from .c import x\n",
        "p/c.py": "def f():\n    from p.a import y\n",
        "p/d.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import e\n", "p/e.py": "import p.d\n",
    })  # fmt: skip
    edges = gauges.imports(found)
    assert gauges.circles(edges) == [["p.a", "p.b", "p.c"]]
    assert [(edge.importer, edge.imported) for edge in edges if edge.lazy] == [("p.c", "p.a")]


def test_imports_by_name_are_counted_where_they_name_a_module_of_the_package(gauges: Any, house: Any) -> None:
    found = house({
        "nexdyn/__init__.py": "import importlib\nimportlib.import_module('nexdyn.a')\n",
        "nexdyn/a.py": "from importlib import import_module\ndef f(x):\n    import_module(f'nexdyn.b.{x}')\n    import_module('json')\n",
        "nexdyn/b/__init__.py": "from nexdyn import a\n",
        "nexdyn/b/table.py": "from importlib import import_module\nimport_module('nexdyn.b.pages')\n",
        "nexdyn/b/pages.py": "from nexdyn.b import table\n",
    })  # fmt: skip
    edges = gauges.imports(found)
    assert [(edge.importer, edge.imported) for edge in gauges.by_name(edges)] == [("nexdyn.a", "nexdyn.b")]
    assert gauges.circles(edges) == [["nexdyn.b.pages", "nexdyn.b.table"]]


def test_code_is_what_is_no_comment_docstring_or_blank_line(house: Any) -> None:
    text = '"""What\nit is."""\n\nimport os\n\n# why\ndef f(x):\n    """Its\n    value."""\n    return """a\nb"""\n'
    module = house({"m.py": text})["m"]
    assert module.code == {4, 7, 10, 11} and module.importing == {4} and module.functions == [("f", 5)]


def test_subscripts_count_that_name_a_whole_number_of_some_module(gauges: Any, house: Any) -> None:
    found = house({
        "places.py": "KIND, PARENT = range(2)\nFIRST: int = 3\nLAST = FIRST + 2\nSIZE = 0.5\nTABLE = {}\n",
        "use.py": "from places import *\nfrom places import FIRST, KIND, LAST, PARENT as UP, SIZE\n"
        "x[i, UP]\nx[FIRST:LAST]\nx[i]\nx[SIZE]\nTABLE[KIND + 1]\nf(KIND)\nx[y[LAST]]\nx[:, [KIND, UP]]\n",
        "other.py": "from use import KIND\nx[PARENT]\nx[KIND]\n",
    })  # fmt: skip
    names = gauges.offsets(found)
    assert names == {
        "places": {"KIND", "PARENT", "FIRST", "LAST"}, "use": {"KIND", "UP", "FIRST", "LAST"}, "other": {"KIND"},
    }  # fmt: skip
    assert gauges.named_subscripts(found["use"], names["use"]) == [3, 4, 7, 9, 10]
    assert gauges.named_subscripts(found["other"], names["other"]) == [3]


def test_how_many_and_how_wide_are_no_places(gauges: Any, house: Any) -> None:
    text = (
        "MOST, WIDTH, KIND, FAILED = range(4)\nx[:MOST]\nx[-MOST:]\nx[a == KIND]\nx[f(KIND)]\nx[k + WIDTH * i]\n"
        "x[k + WIDTH]\nx[status - FAILED]\nx[x[KIND] == MOST]\n"
    )
    found = house({"m.py": text})
    assert gauges.named_subscripts(found["m"], gauges.offsets(found)["m"]) == [9]


def test_private_attributes_of_others_count_and_own_ones_do_not(gauges: Any, house: Any) -> None:
    text = (
        "class A:\n    def f(self, o):\n        self._a = o._b\n        super()._c()\n        self.x._d = o.__class__\n"
    )
    module = house({"m.py": text})["m"]
    assert gauges.foreign_privates(module) == [(3, "o._b"), (5, "self.x._d")]
    text = "class A:\n    def f(self, o):\n        self._a, self.b = 1, o._a\n        return o.x._replace(y=1), o._f\n"
    assert gauges.foreign_privates(house({"m.py": text})["m"]) == [
        (4, "o._f")
    ]  # friends of its own module, and NamedTuples


def test_reflection_and_kinds_are_found_by_name(gauges: Any, house: Any) -> None:
    text = "hasattr(x, 'a')\nvars(x)\nvars(y)\nPOINT_SPRING = 1\n# PointSpring\nPointSpring()\nf('point_spring')\npoint_springs\n"
    found = house({"m.py": text})
    assert gauges.reflections(found["m"]) == {"hasattr": 1, "vars": 2}
    assert gauges.naming(found, "point_spring") == gauges.naming(found, "PointSpring") == {"m": [4, 6, 7]}


def test_the_package_has_no_more_circles_than_it_had() -> None:
    told = subprocess.run([sys.executable, SCRIPTS / "circles"], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_table_of_the_house_has_a_line_for_each_room() -> None:
    told = subprocess.run([sys.executable, SCRIPTS / "house"], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    rooms = {line.split()[0] for line in told.stdout.splitlines() if line.strip()}
    assert {"tree", "absolute", "all"} <= rooms and "code without imports" in told.stdout


def test_the_house_has_no_more_offsets_and_private_attributes_of_others_than_it_had(gauges: Any) -> None:
    """Subscripts that name a column, and attributes that belong to a class of another module: of the page's parts, of the compiler, which
    builds on Numba's, and of all others."""
    found = gauges.modules()
    names = gauges.offsets(found)
    subscripts = sum(len(gauges.named_subscripts(module, names[name])) for name, module in found.items())
    privates = {"view": 0, "compiler": 0, "others": 0}
    for name, module in found.items():
        room = name.split(".")[1] if name.count(".") else ""
        privates[room if room in privates else "others"] += len(gauges.foreign_privates(module))
    assert subscripts <= 14
    assert privates["others"] <= 6 and privates["compiler"] <= 31 and privates["view"] <= 4, privates

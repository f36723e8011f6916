"""Formulas that stay calls: compiled to machine code once, kept on disk, loaded beside every entry that calls them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from test_kernel_cache import Place

from nexdyn import kernel_folders

PAGE = """
from nexdyn.kernel import formula, kernel, outlined

@formula
def small(x):
    return 2.0 * x

scope = {}
exec("def written(x):\\n    return x + 1.0\\n", scope)  # at run time, as the table of shapes is
written = formula(scope["written"])

@outlined
def inner(x):
    return written(small(x))

@outlined
def outer(x, many):
    total = 0.0
    for i in range(many):
        total += inner(x + i)
    return total

@kernel
def one(x):
    return outer(x, 3)

@kernel
def other(x):
    return outer(x, 2) + inner(x)
"""

PROGRAM = """
import json, sys
import nexdyn
from nexdyn.compiler import machine_code
made, compile_part = [], machine_code._made
def counted(generator, name, parts):
    found = compile_part(generator, name, parts)
    made.extend([name] if found else [])
    return found
machine_code._made = counted
from nexdyn.linalg.one_more import one, other
said = {"one": one(1.0)} | ({"other": other(1.0)} if "other" in sys.argv else {})
misses = sum(sum(f.stats.cache_misses.values()) for f in (one, other))
print(json.dumps(said | {"made": made, "misses": misses, "file": nexdyn.__file__}))
"""

ONE, OTHER = 3.0 + 5.0 + 7.0, 3.0 + 5.0 + 3.0


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    (place.package / "linalg" / "one_more.py").write_text(PAGE)
    place.program.write_text(PROGRAM)
    (place.root / "both.py").write_text(PROGRAM.replace('if "other" in sys.argv', "if True"))
    return place


def parts(place: Place, kind: str = "part") -> list[Path]:
    return sorted((place.kernels / "parts").glob(f"*.{kind}"))


def test_a_part_is_compiled_once_for_all_entries_and_processes(place: Place) -> None:
    first = place.run()
    assert first["one"] == ONE and first["misses"] == 1
    assert [name in part for name, part in zip(("outer", "inner"), first["made"], strict=True)] == [True, True]
    assert len(parts(place)) == 2
    second = place.run(place.root / "both.py")
    assert (second["one"], second["other"]) == (ONE, OTHER)
    assert second["made"] == [] and second["misses"] == 1  # `other` alone, of the same parts
    third = place.run(place.root / "both.py")
    assert (third["one"], third["other"], third["made"], third["misses"]) == (ONE, OTHER, [], 0)


@pytest.mark.parametrize("harm", ["gone", "cut", "changed", "empty"])
def test_an_entry_whose_parts_are_lost_or_damaged_is_compiled_anew(place: Place, harm: str) -> None:
    place.run()
    for part in parts(place):
        content = part.read_bytes()
        if harm == "gone":
            part.unlink()
        else:
            part.write_bytes({"cut": content[:-9], "changed": content[:-9] + bytes(9), "empty": b""}[harm])
    again = place.run()
    assert again["one"] == ONE and len(again["made"]) == 2 and again["misses"] == 1
    assert place.run()["misses"] == 0


@pytest.mark.parametrize("harm", ["gone", "cut", "changed", "empty"])
def test_what_calls_a_part_whose_bitcode_is_lost_or_damaged_compiles_it_anew(place: Place, harm: str) -> None:
    place.run()
    kept = parts(place, "bitcode")
    assert len({part.read_bytes() for part in kept}) == len(kept) >= 2, "each is kept once, whichever formulas call it"
    for part in kept:
        content = part.read_bytes()
        if harm == "gone":
            part.unlink()
        else:
            part.write_bytes({"cut": content[:-9], "changed": content[:-9] + bytes(9), "empty": b""}[harm])
    both = place.run(place.root / "both.py")
    assert (both["one"], both["other"], both["misses"]) == (ONE, OTHER, 1)
    again = place.run(place.root / "both.py")
    assert (again["one"], again["other"], again["misses"], again["made"]) == (ONE, OTHER, 0, [])


def test_a_part_whose_own_part_is_lost_is_not_loaded_without_it(place: Place) -> None:
    place.run()
    for lost in parts(place):
        content = lost.read_bytes()
        lost.unlink()
        assert place.run()["one"] == ONE
        lost.write_bytes(content)


def test_parts_serve_whatever_else_has_changed_in_the_sources(place: Place) -> None:
    """Entries of floors that an edit does not reach stay, and so do their parts."""
    (place.package / "tree" / "one_more.py").write_text(
        "from nexdyn.kernel import kernel\nfrom nexdyn.linalg.one_more import outer\n@kernel\ndef one(x):\n    return outer(x, 3)\n"
    )
    place.program.write_text(
        PROGRAM.replace(
            "from nexdyn.linalg.one_more import one, other", "from nexdyn.tree.one_more import one\nother = one"
        )
    )
    place.run()
    place.edit("absolute/motion/hht.py", "from __future__", "# edited\nfrom __future__")
    again = place.run()
    assert (again["one"], again["misses"], again["made"]) == (ONE, 0, [])


def test_without_a_folder_that_can_be_written_parts_are_compiled_and_not_kept(place: Place) -> None:
    place.kernels.write_text("a file where the folder should be")
    said = place.run(HOME=str(place.kernels))
    assert said["one"] == ONE and len(said["made"]) == 2 and place.kernels.is_file()


def test_parts_that_no_cache_uses_any_more_go_with_the_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXDYN_CACHE_DIR", str(tmp_path))
    folders: Any = kernel_folders.cache_folder.__wrapped__
    (tmp_path / kernel_folders.PARTS).mkdir()
    now = time.time()
    for age in range(kernel_folders.KEPT_CACHES + 3):
        (tmp_path / f"old{age}").mkdir()
        os.utime(tmp_path / f"old{age}", (now - 60 * age, now - 60 * age))
    for age in (0, kernel_folders.KEPT_CACHES - 2, kernel_folders.KEPT_CACHES + 2):
        part = tmp_path / kernel_folders.PARTS / f"{age}.part"
        part.touch()
        os.utime(part, (now - 60 * age, now - 60 * age))
    folders()
    left = {path.name for path in tmp_path.iterdir()}
    assert kernel_folders.PARTS in left and f"old{kernel_folders.KEPT_CACHES + 2}" not in left
    assert {path.stem for path in (tmp_path / kernel_folders.PARTS).iterdir()} == {
        "0",
        str(kernel_folders.KEPT_CACHES - 2),
    }

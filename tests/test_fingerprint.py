"""Fingerprints: what differs has others, what is the same has the same, and what cannot be told apart says so."""

from __future__ import annotations

import dataclasses
import functools
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nexdyn.simulation.fingerprint import OpaqueError, fingerprint_of, held_by


def made(k: float) -> Any:
    """A function with a constant."""
    space: dict[str, Any] = {}
    exec(f"def f(x):\n    return {k} * x", space)
    return space["f"]


def wrapping(k: float) -> Any:
    return functools.wraps(np.sum)(made(k))


def wrapping_in_a_class(k: float) -> Any:
    """An object whose class has the name of a package's module."""
    return dataclasses.make_dataclass("Point", ["x"], namespace={"f": made(k), "__module__": "types"})(1.0)


def of_a_shadow(k: float) -> Any:
    """A function of a user's module that has the name of one of Python's."""
    module = types.ModuleType("telnetlib")
    module.__file__ = str(Path(__file__).with_name("telnetlib.py"))
    exec(f"def f(x):\n    return {k} * x", module.__dict__)
    sys.modules["telnetlib"] = module
    return module.f


def masked(*mask: int) -> Any:
    return np.ma.array([1.0, 2.0], mask=mask)


class Labelled(np.ndarray):
    """An array with an attribute of its own."""

    label: str

    @classmethod
    def of(cls, label: str) -> Labelled:
        found = np.ones(2).view(cls)
        found.label = label
        return found


def fields(*names: str, offsets: tuple[int, int] = (0, 8), fill: int = 0) -> np.ndarray:
    """Zeros, and what is between them."""
    dtype = np.dtype({"names": names, "formats": ["f8", "i1"], "offsets": offsets, "itemsize": 24})
    x = np.frombuffer(bytes([fill]) * 48, dtype=dtype).copy()
    for name in names:
        x[name] = 0
    return x


OTHERS: dict[str, tuple[Any, Any]] = {
    "mask": (lambda: masked(0, 1), lambda: masked(1, 0)),
    "no mask": (lambda: masked(0, 0), lambda: np.array([1.0, 2.0])),
    "what is filled in": (
        lambda: np.ma.array([1.0], mask=[1], fill_value=1.0),
        lambda: np.ma.array([1.0], mask=[1], fill_value=2.0),
    ),
    "attribute of an array": (lambda: Labelled.of("a"), lambda: Labelled.of("b")),
    "class of an array": (lambda: Labelled.of("a"), lambda: np.ones(2)),
    "names of fields": (lambda: fields("a", "b"), lambda: fields("b", "a")),
    "names in one row": (lambda: fields("a", "b")[0], lambda: fields("b", "a")[0]),
    "metadata of a dtype": (
        lambda: np.zeros(1, np.dtype("f8", metadata={"unit": "m"})),
        lambda: np.zeros(1, np.dtype("f8", metadata={"unit": "mm"})),
    ),
    "function that wraps one of a package": (lambda: wrapping(1.0), lambda: wrapping(2.0)),
    "function of a module with the name of one of Python's": (lambda: of_a_shadow(1.0), lambda: of_a_shadow(2.0)),
    "class with the name of one of Python's": (lambda: wrapping_in_a_class(1.0), lambda: wrapping_in_a_class(2.0)),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_differs_has_other_fingerprints_and_the_same_the_same(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "telnetlib", raising=False)
    one, other = OTHERS[what]
    first = fingerprint_of(one())
    assert fingerprint_of(one()) == first
    assert fingerprint_of(other()) != first
    assert fingerprint_of([one()]) == fingerprint_of([one()]) != fingerprint_of([other()])
    sys.modules.pop("telnetlib", None)


def test_what_lies_between_fields_has_no_meaning() -> None:
    assert fingerprint_of(fields("a", "b", fill=1)) == fingerprint_of(fields("a", "b", fill=2))
    assert fingerprint_of(fields("a", "b")) == fingerprint_of(fields("a", "b", offsets=(8, 16)))


def test_what_is_installed_counts_by_its_name() -> None:
    """Not by its code, which its version tells."""
    for x in (np.linalg.norm, np.poly1d, np.sin, np.sum, functools.partial, types.SimpleNamespace, Path, dict):
        assert fingerprint_of(x) == fingerprint_of(x)


def test_a_universal_function_of_the_users_cannot_be_told_apart() -> None:
    with pytest.raises(OpaqueError, match="cannot be told apart"):
        fingerprint_of(np.frompyfunc(lambda x: 2.0 * x, 1, 1))


def test_what_a_function_that_wraps_one_of_a_package_holds_is_seen_to_change() -> None:
    held = {"k": [1.0]}
    space: dict[str, Any] = {"held": held}
    exec("def f(x):\n    return held['k'][0] * x", space)
    f = functools.wraps(np.sum)(space["f"])
    before = held_by([f], lambda x: False)[0]
    held["k"].append(2.0)
    assert held_by([f], lambda x: False)[0] != before


def test_fingerprints_are_the_same_in_another_process() -> None:
    names = [name for name in OTHERS if not name.startswith("function of a module")]
    told = "\n".join(fingerprint_of(OTHERS[name][0]()) for name in names)
    code = f"from test_fingerprint import *; print('\\n'.join(fingerprint_of(OTHERS[name][0]()) for name in {names!r}))"
    path = [str(Path(__file__).parent), *sys.path]
    found = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}; {code}"], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert found.stdout.strip() == told

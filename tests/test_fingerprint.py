"""Fingerprints: what differs has others, what is the same has the same, and what cannot be told apart says so."""

from __future__ import annotations

import array
import collections
import contextvars
import ctypes
import dataclasses
import enum
import functools
import io
import itertools
import queue
import random
import subprocess
import sys
import tempfile
import types
import weakref
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


def own(kind: type, k: float, *contents: Any, **more: Any) -> Any:
    """An object of a class made of `kind`, with an attribute."""
    found = type("Own", (kind,), {"__module__": __name__, **more})(*contents)
    found.k = k
    return found


def slotted(k: float) -> Any:
    class Slotted:
        __slots__ = ("__k",)

        def __init__(self) -> None:
            self.__k = k

    return Slotted()


def masked_attributes(k: float) -> Any:
    class Masked:
        def __init__(self) -> None:
            self.k = k

        @property
        def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
            return {}

    return Masked()


def in_context(k: float) -> Any:
    return contextvars.ContextVar("in_context", default=k)


def by_itself(make: Any) -> tuple[Any, Any]:
    return lambda: make(1.0), lambda: make(2.0)


def with_method(kind: type, name: str, k: float) -> Any:
    return type("Own", (kind,), {"__module__": __name__, name: lambda self, *given: k})()


def referred(make: Any, k: float) -> Any:
    KEPT.append(own(collections.OrderedDict, k))
    return make(KEPT[-1])


def moved(k: float) -> Any:
    """An ordered dict whose order is another than that of its items as a dict."""
    found = collections.OrderedDict(a=1, b=2)
    if k == 2.0:
        found.move_to_end("a")
    return found


def drawing(k: float) -> Any:
    random.seed(k)
    return lambda: random.random()


def drawing_of_numpy(k: float) -> Any:
    np.random.seed(int(k))  # noqa: NPY002
    return lambda: np.random.rand()  # noqa: NPY002


def written(kind: Any, text: Any) -> Any:
    found = kind()
    found.write(text)
    return found


KEPT: list[Any] = []
KINDS: dict[str, Any] = {
    **{
        f"attribute of a {kind.__name__}": lambda k, kind=kind: own(kind, k)
        for kind in (dict, list, tuple, set, frozenset, str, int, float, complex, bytes, bytearray)
    },
    **{
        f"attribute of a {kind.__name__}": lambda k, kind=kind: own(kind, k)
        for kind in (collections.deque, collections.defaultdict, collections.Counter, collections.UserDict)
    },
    **{
        f"method of a {kind.__name__}": lambda k, kind=kind, name=name: with_method(kind, name, k)
        for kind, name in (
            (dict, "__missing__"),
            (collections.UserDict, "__missing__"),
            (list, "__getitem__"),
            (tuple, "scale"),
            (set, "size"),
            (str, "upper"),
            (collections.deque, "pop"),
            (float, "__add__"),
        )
    },
    "items of a deque with an attribute": lambda k: own(collections.deque, 1.0, [k]),
    "items of a dict with an attribute": lambda k: own(dict, 1.0, {"a": k}),
    "default of a dict": lambda k: collections.defaultdict(lambda: k),
    "order": moved,
    "attribute of a partial": lambda k: own(functools.partial, k, made(1.0)),
    "named tuple": lambda k: collections.namedtuple("Own", "x", defaults=[k])(1.0),
    "random numbers": lambda k: random.Random(k),
    "method of random numbers": lambda k: random.Random(k).random,
    "random, the module": drawing,
    "numpy.random, the module": drawing_of_numpy,
    "map": lambda k: map(float, [k]),
    "iterator": lambda k: iter([1.0, k]),
    "StringIO": lambda k: written(io.StringIO, str(k)),
    "BytesIO": lambda k: written(io.BytesIO, str(k).encode()),
    "memory": lambda k: memoryview(str(k).encode()),
    "array": lambda k: array.array("d", [k]),
    "reference": lambda k: referred(weakref.ref, k),
    "proxy": lambda k: referred(weakref.proxy, k),
    "context": in_context,
    "view of a dict": lambda k: types.MappingProxyType({"a": k}),
    "slot": slotted,
    "attribute that is masked": masked_attributes,
    "method of an enumeration": lambda k: enum.Enum("Own", {"A": 1}, type=type("Mixin", (), {"f": made(k)})).A,  # type: ignore[attr-defined]
    "metaclass": lambda k: type("Kind", (type,), {"k": k})("Of", (), {"__module__": __name__}),
    "structure of C": lambda k: type("One", (ctypes.Structure,), {"_fields_": [("x", ctypes.c_double)]})(k),
    "large number": lambda k: 10**5000 + int(k),
}
"""Of each kind one with a number."""
OTHERS: dict[str, tuple[Any, Any]] = {
    **{kind: by_itself(make) for kind, make in KINDS.items()},
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


def test_what_cannot_be_looked_into_is_named() -> None:
    class Stubborn:
        def __repr__(self) -> str:
            raise RuntimeError

        def __reduce__(self) -> Any:
            raise RuntimeError

    with tempfile.TemporaryFile() as file:
        for x in (file, queue.SimpleQueue(), (x for x in "ab")):
            with pytest.raises(OpaqueError, match=type(x).__name__):
                fingerprint_of({"x": [x]})
    assert fingerprint_of(Stubborn()) == fingerprint_of(Stubborn())
    deep: Any = None
    for _ in range(2000):
        deep = [deep]
    with pytest.raises(OpaqueError):
        fingerprint_of(deep)


def test_iterators_that_count_are_told_apart_or_named() -> None:
    """Of some, newer versions of Python tell no state."""
    for make in (itertools.count, lambda k: itertools.cycle([k, 1])):
        try:
            assert fingerprint_of(make(1)) == fingerprint_of(make(1)) != fingerprint_of(make(2))
        except OpaqueError as error:
            assert "itertools" in str(error) or "count(1)" in str(error)


def test_a_local_name_is_not_the_module_of_that_name() -> None:
    def draw(random: Any) -> float:
        return float(random.random())

    before = fingerprint_of(draw)
    random.random()
    assert fingerprint_of(draw) == before


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

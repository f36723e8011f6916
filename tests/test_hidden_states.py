"""A state is found wherever a function keeps it, of every kind of object; what cannot be looked into counts as one; constants do not."""

from __future__ import annotations

import array
import collections
import contextvars
import ctypes
import dataclasses
import enum
import fractions
import functools
import io
import itertools
import math
import operator
import os
import pathlib
import queue
import random
import re
import sys
import tempfile
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from continuing_lab import END, FIXED, HALF, controlled, state

import nexdyn as nx
from nexdyn.simulation.fingerprint import held_by
from nexdyn.simulation.users import tells_state

pytestmark = pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")


class OwnDict(dict[str, Any]):
    n = 0


class OwnList(list[float]):
    n = 0


class OwnSet(set[float]):
    n = 0


class OwnText(str):
    n = 0


class OwnNumber(float):
    n = 0


class OwnDeque(collections.deque[int]):
    n = 0


class Mangled:
    """Its one slot has another name than it is given."""

    __slots__ = ("__n",)

    def __init__(self) -> None:
        self.__n = 0

    @property
    def n(self) -> int:
        return self.__n

    @n.setter
    def n(self, n: int) -> None:
        self.__n = n


class Masked:
    """Gives no attributes to those who ask."""

    def __init__(self) -> None:
        self.n = 0

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return {}


class LocalCount(threading.local):
    n = 0


class Plain:
    n = 0


class Caller(dict[str, int]):
    """Counts in its items, and has an attribute."""

    def __init__(self) -> None:
        super().__init__(n=0)
        self.unit = "N"

    def __call__(self, t: float, q: float, v: float) -> float:
        self["n"] += 1
        return 0.1 * self["n"]


def counting_in(kept: Any) -> Any:
    """A function that counts in an attribute."""

    def control(t: float, q: float, v: float) -> float:
        kept.n += 1
        return 0.1 * kept.n

    return control


def counting_at(kept: Any, *place: Any) -> Any:
    """A function that counts in an item of items."""

    def control(t: float, q: float, v: float) -> float:
        at = functools.reduce(operator.getitem, place[:-1], kept)
        at[place[-1]] += 1
        return 0.1 * at[place[-1]]

    return control


def drawing(draw: Callable[[], Any]) -> Any:
    return lambda t, q, v: 0.1 * draw()


def through(numbers: Iterator[float]) -> Any:
    return lambda t, q, v: 0.1 * next(numbers)


def in_a_long_list() -> Any:
    kept: list[Any] = [0.0] * 5000
    kept[2500] = {"n": 0}
    return counting_at(kept, 2500, "n")


def deep_down() -> Any:
    kept: dict[str, Any] = {"n": 0}
    bottom = kept
    for _ in range(300):
        kept = {"above": kept, "more": []}

    def control(t: float, q: float, v: float) -> float:
        assert kept
        bottom["n"] += 1
        return 0.1 * float(bottom["n"])

    return control


def swapping() -> Any:
    """Two items of a large array change places: their sum stays."""
    table = np.arange(300_000.0)

    def control(t: float, q: float, v: float) -> float:
        table[7], table[9] = table[9], table[7]
        return float(table[7])

    return control


OPENED: list[Any] = []


@pytest.fixture(autouse=True)
def closes() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def opened(file: Any) -> Any:
    OPENED.append(file)
    return file


def writing(kept: Any, text: Any) -> Any:
    def control(t: float, q: float, v: float) -> float:
        kept.write(text)
        return 0.1 * kept.tell()

    return control


def in_context() -> Any:
    kept = contextvars.ContextVar("kept", default=0)

    def control(t: float, q: float, v: float) -> float:
        kept.set(kept.get() + 1)
        return 0.1 * kept.get()

    return control


REFERRED: list[Any] = []


def referred(make: Callable[[Any], Any]) -> Any:
    REFERRED.append(Plain())
    kept = make(REFERRED[-1])

    def control(t: float, q: float, v: float) -> float:
        found = kept() if isinstance(kept, weakref.ref) else kept
        found.n += 1
        return 0.1 * float(found.n)

    return control


def in_a_view() -> Any:
    return counting_at(memoryview(bytearray(8)).cast("b"), 0)


def in_a_generator_of_equal_values() -> Any:
    def numbers() -> Iterator[float]:
        for x in [1.0] * 10_000:  # the place is the loop's alone
            yield x + 1.0

    return through(numbers())


def of_the_module() -> Any:
    random.seed(1)
    return lambda t, q, v: random.random()


def imported_there() -> Any:
    random.seed(1)

    def control(t: float, q: float, v: float) -> float:
        from random import gauss

        return gauss(0.0, 1.0)

    return control


def of_numpy() -> Any:
    np.random.seed(1)  # noqa: NPY002
    return lambda t, q, v: float(np.random.rand())  # noqa: NPY002


def on_a_module_of_python() -> Any:
    sys.own_count = 0  # type: ignore[attr-defined]

    def control(t: float, q: float, v: float) -> float:
        sys.own_count += 1  # type: ignore[attr-defined]
        return 0.1 * sys.own_count  # type: ignore[attr-defined, no-any-return]

    return control


def reordering() -> Any:
    kept = {"a": 1, "b": 2}

    def control(t: float, q: float, v: float) -> float:
        first = next(iter(kept))
        kept[first] = kept.pop(first)
        return float(kept[first])

    return control


def signalling() -> Any:
    armed = threading.Event()

    def control(t: float, q: float, v: float) -> float:
        armed.set()
        return float(armed.is_set())

    return control


def of_a_metaclass() -> Any:
    kind = type("Kind", (type,), {"n": 0})
    cls = kind("Of", (), {})

    def control(t: float, q: float, v: float) -> float:
        type(cls).n += 1  # type: ignore[attr-defined]
        return 0.1 * cls.n  # type: ignore[attr-defined, no-any-return]

    return control


class Gains(enum.Enum):
    LOW = 1.0


def on_an_enumeration() -> Any:
    Gains.LOW.n = 0  # type: ignore[attr-defined]
    return lambda t, q, v: counting_in(Gains.LOW)(t, q, v)


SILENT: dict[str, Callable[[], Any]] = {
    "attribute of a dict": lambda: counting_in(OwnDict()),
    "attribute of a list": lambda: counting_in(OwnList()),
    "attribute of a set": lambda: counting_in(OwnSet()),
    "attribute of a text": lambda: counting_in(OwnText("x")),
    "attribute of a number": lambda: counting_in(OwnNumber(1.0)),
    "attribute of a deque": lambda: counting_in(OwnDeque()),
    "item of a deque with an attribute": lambda: counting_at(OwnDeque([0]), 0),
    "item of an object that is called": Caller,
    "slot": lambda: counting_in(Mangled()),
    "attribute that is masked": lambda: counting_in(Masked()),
    "namespace": lambda: counting_in(types.SimpleNamespace(n=0)),
    "local to a thread": lambda: counting_in(LocalCount()),
    "count": lambda: through(itertools.count()),
    "cycle": lambda: through(itertools.cycle([1.0, 2.0, 3.0, 7.0, 5.0])),
    "map": lambda: through(map(float, itertools.count())),
    "zip": lambda: (lambda pairs: lambda t, q, v: 0.1 * next(pairs)[0])(zip(itertools.count(), itertools.count())),
    "iterator of a dict": lambda: through(iter({float(k): k for k in range(1000)})),
    "generator of equal values": in_a_generator_of_equal_values,
    "random numbers": lambda: drawing(random.Random(1).random),
    "an object of random numbers": lambda: (lambda rng: lambda t, q, v: rng.random())(random.Random(1)),
    "method of random numbers in a partial": lambda: functools.partial(
        lambda draw, *now: draw(), random.Random(1).random
    ),
    "random, the module": of_the_module,
    "random, imported there": imported_there,
    "numpy.random, the module": of_numpy,
    "StringIO": lambda: writing(io.StringIO(), "x"),
    "BytesIO": lambda: writing(io.BytesIO(), b"x"),
    "file": lambda: writing(opened(tempfile.TemporaryFile()), b"x"),  # noqa: SIM115
    "queue": lambda: (lambda kept: lambda t, q, v: 0.1 * (kept.put(1) or kept.qsize()))(queue.Queue()),
    "array": lambda: counting_at(array.array("d", [0.0]), 0),
    "bytes": lambda: counting_at(bytearray(1), 0),
    "memory": in_a_view,
    "ctypes": lambda: counting_at((ctypes.c_int * 1)(), 0),
    "context": in_context,
    "reference": lambda: referred(weakref.ref),
    "proxy": lambda: referred(weakref.proxy),
    "attribute of a module of Python": on_a_module_of_python,
    "long list": in_a_long_list,
    "many objects": lambda: counting_at({k: [k] for k in range(6000)}, 5999, 0),
    "deep down": deep_down,
    "large array": swapping,
    "order of a dict": reordering,
    "event of threads": signalling,
    "metaclass": of_a_metaclass,
    "member of an enumeration": on_an_enumeration,
    "default dict": lambda: counting_at(collections.defaultdict(int), "n"),
    "counter": lambda: counting_at(collections.Counter(), "n"),
    "user dict": lambda: counting_at(collections.UserDict(n=0), "n"),
    "chain of dicts": lambda: counting_at(collections.ChainMap({"n": 0}), "n"),
}
"""Controllers whose state is of a kind."""


@pytest.mark.parametrize("kind", SILENT)
def test_a_state_of_every_kind_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    half = nx.simulate(controlled(SILENT[kind]()), HALF, FIXED["rk4"])
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        with pytest.raises(nx.InputError, match=r"force 'count' \(function\) had a state of its own.*had changed"):
            nx.simulate(controlled(SILENT[kind]()), END, FIXED["rk4"], initial=initial)


def in_a_pipe() -> tuple[Any, str]:
    out, into = os.pipe()
    os.close(into)
    return opened(os.fdopen(out, "rb")), "BufferedReader"


def in_a_coroutine() -> tuple[Any, str]:
    async def wait() -> None:
        pass

    return opened(wait()), "coroutine"


OPAQUE: dict[str, Callable[[], tuple[Any, str]]] = {
    "pipe": in_a_pipe,
    "coroutine": in_a_coroutine,
    "simple queue": lambda: (queue.SimpleQueue(), "SimpleQueue"),
    "scandir": lambda: (opened(os.scandir(".")), "ScandirIterator"),
}


@pytest.mark.parametrize("kind", OPAQUE)
def test_what_cannot_be_looked_into_may_be_a_state(kind: str, tmp_path: Path) -> None:
    kept, name = OPAQUE[kind]()

    def control(t: float, q: float, v: float) -> float:
        return 0.5 * (kept is not None)

    half = nx.simulate(controlled(control), HALF, FIXED["rk4"])
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        with pytest.raises(
            nx.InputError,
            match=rf"force 'count' \(function\) may have had a state.*variable 'kept' .*{name}.*save_state",
        ):
            nx.simulate(controlled(control), END, FIXED["rk4"], initial=initial)


def test_what_cannot_be_looked_into_goes_on_where_the_function_tells_its_state() -> None:
    class Reading:
        def __init__(self) -> None:
            self.kept = queue.SimpleQueue[int]()

        def __call__(self, t: float, q: float, v: float) -> float:
            self.kept.put(1)
            return 0.1 * self.kept.qsize()

        def save_state(self) -> int:
            return self.kept.qsize()

        def load_state(self, state: int) -> None:
            self.kept = queue.SimpleQueue()
            for _ in range(state):
                self.kept.put(1)

    whole = state(nx.simulate(controlled(Reading()), END, FIXED["rk4"]))
    half = nx.simulate(controlled(Reading()), HALF, FIXED["rk4"])
    np.testing.assert_array_equal(state(nx.simulate(controlled(Reading()), END, FIXED["rk4"], initial=half)), whole)


class Pair(NamedTuple):
    p: float
    d: float


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: float


def chained(n: int) -> Any:
    found: Any = None
    for k in range(n):
        found = {"above": found, "n": [k, {}]}
    return found


CONSTANTS: dict[str, Any] = {
    "named tuple": Pair(1.0, 2.0),
    "enumeration": enum.Enum("Mode", ["A", "B"]).A,  # type: ignore[attr-defined]
    "frozen": Frozen(1.0),
    "path": pathlib.PurePosixPath("a/b"),
    "pattern": re.compile("a+"),
    "fraction": fractions.Fraction(1, 3),
    "function of C": math.sin,
    "universal function": np.sin,
    "vectorized": np.vectorize(math.sin),
    "cached": functools.lru_cache(lambda x: x),
    "getter": operator.itemgetter(0),
    "slice": slice(1, 2),
    "module": math,
    "class": Frozen,
    "sentinel": object(),
    "lock": threading.Lock(),
    "stream": sys.__stderr__,
    "function of a library": ctypes.pythonapi.Py_GetVersion,
    "reference": weakref.ref(Pair),
    "view of a dict": types.MappingProxyType({"a": 1}),
    "dtype": np.dtype("f8"),
    "polynomial": np.polynomial.Polynomial([1.0, 2.0]),
    "unused random numbers": np.random.default_rng(1),
    "alias": list[int],
    "structure of C": type("One", (ctypes.Structure,), {"_fields_": [("x", ctypes.c_int)]})(1),
    "huge number": 10**5000,
    "not a number": [math.nan, {}],
    "chain": chained(300),
}


@pytest.mark.parametrize("kind", CONSTANTS)
def test_constants_are_no_state(kind: str) -> None:
    kept = CONSTANTS[kind]

    def control(t: float, q: float, v: float) -> float:
        assert kept is CONSTANTS[kind]
        return -2.0 * q

    before = held_by([control], tells_state)
    assert not before.unknown
    if kind != "huge number":
        repr(kept)
    assert held_by([control], tells_state).parts == before.parts


def test_what_is_named_as_a_module_and_is_none_is_no_state() -> None:
    """A generator of the user's that is named `random`, as the module."""

    class Telling:
        def __init__(self) -> None:
            self.rng = np.random.default_rng(1)

        def __call__(self, t: float, q: float, v: float) -> float:
            random = self.rng
            return float(random.random())

        def save_state(self) -> Any:
            return {"state": str(self.rng.bit_generator.state["state"]["state"])}

        def load_state(self, state: Any) -> None:
            self.rng.bit_generator.state = self.rng.bit_generator.state | {
                "state": self.rng.bit_generator.state["state"] | {"state": int(state["state"])}
            }

    def control(random: Any, t: float, q: float, v: float) -> float:
        return -q + 0.0 * (random.random() > 2.0)

    class One:
        def random(self) -> float:
            return 0.5

    kept = functools.partial(control, One())
    before = held_by([kept], tells_state).parts
    random.random()
    assert held_by([kept], tells_state).parts == before
    half = nx.simulate(controlled(Telling()), HALF, FIXED["rk4"])
    np.random.rand()  # noqa: NPY002
    random.random()
    whole = state(nx.simulate(controlled(Telling()), END, FIXED["rk4"]))
    rest = state(nx.simulate(controlled(Telling()), END, FIXED["rk4"], initial=half))
    np.testing.assert_array_equal(rest, whole)

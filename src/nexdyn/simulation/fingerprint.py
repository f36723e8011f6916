"""Fingerprints: whether two studies, systems or functions are the same, in this process or another.

    value → canonical bytes → SHA-256

All that a result may depend on goes in: numbers to their last bit; of functions the byte code, constants, the names that they
use, defaults, closures, attributes, and the functions and values of their module that they name; of objects their class and
attributes, and what classes made of C keep in addition (``contents``); of meshes what is in their files. What is installed (the
standard library, packages) counts by name and version; what only has a name of that kind, as a function that wraps one of a package,
does not. What cannot be distinguished from another of its kind raises `OpaqueError`: equality of two studies is then unknown.

The same walk, over what functions hold (``held_by``), tells whether a function has changed what it holds: a counter in its closure,
a list in a default, a global of its module. There each object is walked once, up to `MOST_HELD` of them. What cannot be looked into
(some files, iterators, objects of packages in C) is named, as it may be a state.
"""

from __future__ import annotations

import builtins
import collections
import contextvars
import copyreg
import dis
import functools
import gc
import hashlib
import importlib.util
import io
import itertools
import logging
import os
import sys
import sysconfig
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from nexdyn.assembly.report import AssemblyReport
from nexdyn.model.callbacks import Callback
from nexdyn.model.element import Element
from nexdyn.model.expressions import Expression
from nexdyn.model.functions import Function
from nexdyn.model.shapes import Mesh
from nexdyn.model.system import System
from nexdyn.results.mesh_files import content_of
from nexdyn.results.result import Result
from nexdyn.simulation.contents import (
    C_FIELD,
    C_FUNCTION,
    WEAK_REFERENCES,
    attributes,
    followed,
    is_made_of_c,
    is_standard_stream,
    items_of,
    place_in_file,
    plain_kind,
    referent,
    tells_pickle,
)

MOST_DEPTH = 200
MOST_HELD, HELD_DEPTH = 200_000, 30
"""Objects that are walked of what functions hold; how deep, from where on they wait until what is above them is done."""
_BUILT_IN = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType, np.ufunc)
_IMMUTABLE = 1 << 8
"""The flag of classes that nobody can change, Python's and those of modules written in C."""
_OF_C = (types.MemberDescriptorType, types.GetSetDescriptorType, C_FIELD)
_OF_GLOBALS = ("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "STORE_NAME")
"""What instructions that name globals are called."""
_OF_CLASSES = frozenset(
    [
        "__module__",
        "__qualname__",
        "__doc__",
        "__dict__",
        "__weakref__",
        "__slots__",
        "__annotations__",
        "__firstlineno__",
        "__static_attributes__",
        "__dataclass_fields__",
        "__abstractmethods__",
        "_abc_impl",
    ]
)
"""What Python adds to classes, and nothing depends on."""


class OpaqueError(TypeError):
    """Something whose value cannot be determined, and why."""


def fingerprint_of(value: Any) -> str:
    """The fingerprint of a value, the same in every process. `OpaqueError` where it cannot be determined."""
    return _Teller().digest(value).hex()


def is_installed(module: str | None) -> bool:
    """Whether a module comes with Python or with a package, rather than from the user."""
    if module is None:
        return False
    top, file = module.partition(".")[0], getattr(sys.modules.get(module), "__file__", None)
    if top in sys.builtin_module_names or top == "nexdyn":
        return top != "__main__"
    if top in sys.stdlib_module_names and file is None:  # not imported, or of no file
        return top != "__main__"
    return _is_in_places(file)


def _is_installed_function(f: types.FunctionType) -> bool:
    """Whether a function comes with Python or with a package, and holds nothing else. ``functools.wraps`` gives the name of its module to
    what is another's, but not the globals of that."""
    return not f.__closure__ and is_installed(f.__module__) and is_installed(f.__globals__.get("__name__"))


def _is_installed_class(cls: type) -> bool:
    """The same of a class: one that is made of C, or found in its module by its name. Others may have the name of any module, as those that
    ``dataclasses.make_dataclass`` makes."""
    if cls.__module__ != builtins.__name__ and not is_installed(cls.__module__):
        return False
    if cls.__flags__ & _IMMUTABLE:
        return True
    found: Any = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is cls


def _is_installed_ufunc(f: np.ufunc) -> bool:
    """Whether a universal function is found in a package by its name; ``numpy.frompyfunc`` makes others of the user's functions."""
    return any(getattr(sys.modules.get(place), f.__name__, None) is f for place in ("numpy", "scipy.special"))


@functools.cache
def _places() -> frozenset[str]:
    return frozenset(os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib"))


@functools.lru_cache(4096)
def _is_in_places(path: str | None) -> bool:
    """Whether a file is one of Python's or of a package."""
    if path is None:
        return False
    places = _places()
    return any(os.path.realpath(path).startswith(place + os.sep) for place in places)


def _own_module(name: str) -> types.ModuleType | None:
    """A module of the user's that a function imports; None of one that is installed, or not to be found."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is None or is_installed(name) or _is_in_places(spec.origin):
            return None
        return importlib.import_module(name)
    except (ImportError, ValueError):
        return None


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty yet
        return None


def _in_context(x: contextvars.ContextVar[Any]) -> list[Any]:
    try:
        return [x.get()]
    except LookupError:  # nothing yet
        return []


def _functions_of(value: Any) -> Any:
    """What an attribute of a class computes by."""
    if isinstance(value, property):
        return [value.fget, value.fset]
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    return value.func if isinstance(value, functools.cached_property) else value


def _version(module: str) -> str:
    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))


class _Teller:
    """Canonical bytes of values; `_on_way` holds what is being digested, so that a cycle ends. Classes that name nothing of what is on the
    way to them are digested once."""

    def __init__(self) -> None:
        self._on_way: dict[int, int] = {}
        self._kept: list[Any] = []
        self._classes: dict[int, bytes] = {}
        self._highest = MOST_DEPTH  # on the way, of what has been met again

    def digest(self, value: Any) -> bytes:
        if id(value) in self._on_way:
            self._highest = min(self._highest, self._on_way[id(value)])
            return b"again %d" % (len(self._on_way) - self._on_way[id(value)])
        is_class = isinstance(value, type)
        if is_class and id(value) in self._classes:
            return self._classes[id(value)]
        if len(self._on_way) > MOST_DEPTH:
            raise OpaqueError(f"{_shown(value)} is nested too deeply")
        place, before, self._highest = len(self._on_way), self._highest, MOST_DEPTH
        self._on_way[id(value)] = place
        self._kept.append(value)  # so that no other object takes its place, and its id
        try:
            told = self._told(value)
        except OpaqueError:
            raise
        except Exception as error:
            raise OpaqueError(f"{_shown(value)} cannot be looked into: {error or type(error).__name__}") from error
        finally:
            del self._on_way[id(value)]
        if is_class and self._highest >= place:
            self._classes[id(value)] = told
        self._highest = min(before, self._highest)
        return told

    def _of(self, kind: str, *parts: Any) -> bytes:
        """The digest of something by its parts: bytes as they are, text, or values."""
        found = hashlib.sha256(kind.encode())
        for part in parts:
            told = part if isinstance(part, bytes) else self.digest(part)
            found.update(len(told).to_bytes(8, "little") + told)
        return found.digest()

    def _told(self, x: Any) -> bytes:
        if x is None or x is Ellipsis:
            return self._of(type(x).__name__, repr(x).encode())
        if issubclass(type(x), WEAK_REFERENCES):
            return self._of("weak", type(x), referent(x), attributes(x) if isinstance(x, weakref.ref) else {})
        if isinstance(x, np.ndarray | np.generic):
            return self._of_numbers(x)
        if isinstance(x, Enum):
            more = () if _is_installed_class(type(x)) else (type(x), attributes(x))
            return self._of("enum", type(x).__qualname__, x.name, x.value, *more)
        if kind := plain_kind(x):
            told = self._of_plain_kind(x, kind)
            return told if type(x) is kind else self._of("made of it", type(x), told, attributes(x))
        if isinstance(x, types.MappingProxyType):
            return self._of("view", dict(x))
        if type(x).__module__.startswith("numba.typed"):
            return self._of("typed", type(x), list(x.items() if isinstance(x, Mapping) else x))
        if isinstance(x, Mapping):
            return self._of_mapping(x)
        if isinstance(x, contextvars.ContextVar):
            return self._of("in context", x.name, _in_context(x))
        if isinstance(x, memoryview):
            return self._of("memory", x.format, x.shape, x.tobytes())
        if isinstance(x, types.CellType):
            return self._of("cell", _content(x))
        if is_standard_stream(x):
            return self._of("stream", x.name)
        if isinstance(x, PurePath):
            return self._of("path", type(x), str(x))
        if isinstance(x, System):
            return self._of_system(x)
        if isinstance(x, Result):
            recorded = {key: value for key, value in vars(x.recording).items() if key != "wall_time"}
            return self._of("result", x.system, recorded, x.lost_forces)
        if isinstance(x, Mesh):
            return self._of("mesh", attributes(x), content_of(x.path))
        if isinstance(x, AssemblyReport):
            return self._of("report", x.model.system, x.t, x.q, x.v, x.states)
        if isinstance(x, Callback):
            return self._of("callback", self.digest(x.function), x.shape.name)
        if isinstance(x, Expression):
            return self._of("expression", self.digest(x.__reduce__()[1]))
        return self._of_code(x) if callable(x) or isinstance(x, types.CodeType) else self._of_object(x)

    def _of_plain_kind(self, x: Any, kind: type) -> bytes:
        """The contents of what is one of Python's numbers, texts or containers, or made of it."""
        items = items_of(x, kind)
        if kind is dict:
            pairs = [self.digest(key) + self.digest(item) for key, item in items]
            return self._of("mapping", *(pairs if self._is_in_order(x) else sorted(pairs)))
        if kind in (set, frozenset):
            return self._of("set", *sorted(self.digest(item) for item in items))
        if kind in (list, tuple):
            return self._of(kind.__name__, *(self.digest(item) for item in items))
        if kind is float:
            return self._of("float", float.hex(x).encode())
        return self._of(kind.__name__, items if isinstance(items, bytes) else items.encode("utf-8", "surrogatepass"))

    def _is_in_order(self, x: Any) -> bool:
        """Whether the order counts that a mapping has its items in."""
        return isinstance(x, collections.OrderedDict)

    def _of_mapping(self, x: Mapping[Any, Any]) -> bytes:
        """Another mapping than a dict: what it gives, and what it may give by."""
        pairs = sorted(self.digest(key) + self.digest(item) for key, item in x.items())
        if type(x).__module__.partition(".")[0] == "nexdyn":
            return self._of("mapping", *pairs)
        return self._of("mapping", *pairs, type(x), attributes(x))

    def _of_numbers(self, x: np.ndarray | np.generic) -> bytes:
        """An array, and what its class adds: the mask of one that has a mask, attributes."""
        numbers = np.asarray(x)
        if isinstance(x, np.generic) or type(x) is np.ndarray:
            return self._of_array(numbers)
        if isinstance(x, np.ma.MaskedArray):
            plain = vars(np.ma.array(0.0))
            own = {name: value for name, value in attributes(x).items() if name not in plain}
            return self._of("masked", type(x), self._of_array(numbers), np.ma.getmaskarray(x), x.fill_value, own)
        return self._of("kind of array", type(x), self._of_array(numbers), attributes(x))

    def _of_array(self, x: np.ndarray) -> bytes:
        told = (x.dtype.str, str(x.shape), dict(x.dtype.metadata or {}))
        if x.dtype.names is not None:  # field by field: what lies between them has no meaning
            return self._of("fields", *told, x.dtype.names, *(self._of_array(x[name]) for name in x.dtype.names))
        if x.dtype.hasobject:
            return self._of("objects", *told, x.tolist())
        return self._of("array", *told, np.ascontiguousarray(x).tobytes())

    # --- systems ----------------------------------------------------------------------------------------------------

    def _of_system(self, system: System) -> bytes:
        parts = [self.digest(dict(system.parameters)), self.digest(system.given_gravity)]
        for kind, elements in sorted(system.elements.items()):
            parts.append(self._of(kind, *(self._of_element(element) for element in elements.values())))
        return self._of("system", *parts)

    def _of_element(self, element: Element) -> bytes:
        """An element by its attributes; the elements that it names, by name."""
        told = {
            name: f"element {value.name}" if isinstance(value, Element) else value
            for name, value in vars(element).items()
            if not name.startswith("_") or name in ("_off", "_held")
        }
        told["_off"] = bool(getattr(element, "is_off", False))
        return self._of("element", self.digest(type(element)), told)

    # --- functions and classes --------------------------------------------------------------------------------------

    def _of_code(self, f: Any) -> bytes:
        if isinstance(f, types.CodeType):
            consts = [self.digest(x) for x in f.co_consts]
            return self._of(
                "code", f.co_code, f.co_names, f.co_freevars, f.co_varnames, f.co_argcount, f.co_flags, *consts
            )
        if isinstance(f, functools.partial):
            return self._of("partial", f.func, f.args, f.keywords, vars(f))
        if isinstance(f, types.MethodType):
            return self._of("method", f.__func__, f.__self__)
        if isinstance(f, np.ufunc) and not _is_installed_ufunc(f):
            raise OpaqueError(f"{_shown(f)} cannot be told apart from another of its name")
        if isinstance(f, _BUILT_IN):
            owner = getattr(f, "__self__", None)
            bound = owner is not None and not isinstance(owner, types.ModuleType | type)
            name = f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', getattr(f, '__name__', ''))}"
            return self._of("built in", name, owner if bound else None)
        if _is_compiled(f):
            options = {k: v for k, v in getattr(f, "targetoptions", {}).items() if isinstance(v, bool | int | str)}
            return self._of("compiled", f.py_func, options)
        if isinstance(f, type):
            return self._of_class(f)
        if isinstance(f, types.FunctionType):
            return self._of_function(f)
        return self._of_object(f)

    def _of_function(self, f: types.FunctionType) -> bytes:
        if _is_installed_function(f):
            return self._of("installed", f"{f.__module__}.{f.__qualname__}", _version(f.__module__))
        cells = []
        for cell in f.__closure__ or ():
            try:
                cells.append(self.digest(cell.cell_contents))
            except ValueError:  # empty yet
                cells.append(b"empty")
        own = {key: value for key, value in vars(f).items() if not key.startswith("_nexdyn")}
        return self._of("function", f.__code__, f.__defaults__, f.__kwdefaults__, own, self._globals_of(f), *cells)

    def _globals_of(self, f: types.FunctionType) -> dict[str, Any]:
        """What a function, and those inside it, name of their module, and of modules of the user's that they reach from there or import."""
        names: set[str] = set()
        used: set[str] = set()
        imports: set[str] = set()
        codes = [f.__code__]
        while codes:
            code = codes.pop()
            names.update(code.co_names)
            for x in dis.get_instructions(code):
                if x.opname == "IMPORT_NAME":
                    imports.add(x.argval)
                elif x.opname in _OF_GLOBALS:
                    used.add(x.argval)
            codes += [x for x in code.co_consts if isinstance(x, types.CodeType)]
        modules = {f"import {name}": _own_module(name) for name in sorted(imports)}
        cells = [_content(cell) for cell in f.__closure__ or ()]
        modules |= {f"cell {k}": x for k, x in enumerate(cells) if isinstance(x, types.ModuleType)}
        found = {name: f.__globals__[name] for name in sorted(used) if name in f.__globals__}
        every = {
            name: [x, self._named_of(x, names)] if isinstance(x, types.ModuleType) else x
            for name, x in (found | modules).items()
        }
        named: dict[str, Mapping[str, Any]] = {"global": found, "import": sys.modules}
        named["cell"] = dict(zip(f.__code__.co_freevars, cells, strict=True))
        for kind, name, chain in followed(f.__code__):
            place = named.get(kind, {}).get(name)
            if isinstance(place, types.ModuleType) and (hidden := self._hidden_in(place, chain)):
                every[".".join([name, *chain])] = list(hidden)
        return every

    def _hidden_in(self, module: types.ModuleType, chain: list[str]) -> tuple[Any, ...]:
        """What is behind a name of an installed module, followed by attributes: the object whose method it is, as those of ``random``."""
        found: Any = module
        for name in chain:
            if not isinstance(found, types.ModuleType) or not is_installed(found.__name__):
                return ()
            found = vars(found).get(name)
        owner = None if isinstance(found, type) else getattr(found, "__self__", None)
        return () if isinstance(owner, types.ModuleType | type | None) else (owner,)

    def _named_of(self, module: types.ModuleType, names: set[str], above: tuple[Any, ...] = ()) -> dict[str, Any]:
        """What of a module of the user's, and of its modules, has one of these names."""
        if is_installed(module.__name__) or module in above:
            return {}
        return {
            name: self._named_of(x, names, (*above, module)) if isinstance(x, types.ModuleType) else x
            for name, x in sorted(vars(module).items())
            if name in names
        }

    def _of_class(self, cls: type) -> bytes:
        name = f"{cls.__module__}.{cls.__qualname__}"
        if _is_installed_class(cls):
            return self._of("class", name, _version(cls.__module__))
        told = {
            key: _functions_of(value)
            for key, value in vars(cls).items()
            if key not in _OF_CLASSES and not isinstance(value, _OF_C)
        }
        above = [*cls.__bases__, *([] if type(cls) is type or _is_installed_class(type(cls)) else [type(cls)])]
        return self._of("class", name, told, *(self.digest(kind) for kind in above))

    # --- other objects ----------------------------------------------------------------------------------------------

    def _of_object(self, x: Any) -> bytes:
        if isinstance(x, types.ModuleType):
            return self._of("module", x.__name__, _version(x.__name__))
        state: dict[str, Any] = attributes(x)
        kind: Any = type(x)
        if kind.__module__.partition(".")[0] == "nexdyn":  # what is private there is made from what is not
            return self._of("object", kind, {key: value for key, value in state.items() if not key.startswith("_")})
        made_of_c = is_made_of_c(kind) and not isinstance(x, threading.local)
        if made_of_c or kind is object or (tells_pickle(kind) and _is_installed_class(kind)):
            try:
                made = self._of_pickle(x)
            except Exception:
                if made_of_c or kind is object:
                    raise
            else:
                own = state if made_of_c else {}
                return self._of("made", made, own)
        return self._of("object", kind, state)

    def _of_pickle(self, x: Any) -> bytes:
        """An object by what it is made of for ``pickle``."""
        unknown = f"{_shown(x)} cannot be told apart from another {type(x).__name__}"
        try:
            with warnings.catch_warnings(action="ignore"):
                reduce = copyreg.dispatch_table.get(type(x))
                made = x.__reduce_ex__(2) if reduce is None else reduce(x)
        except Exception as error:
            raise OpaqueError(unknown) from error
        parts = made if isinstance(made, tuple) else (made,)
        if parts[0] is copyreg.__newobj__ and not any(parts[1][1:]) and not any(parts[2:]):  # type: ignore[attr-defined]
            if type(x).__module__ != builtins.__name__ and type(x) is not object:
                return self._of("object", type(x))
            raise OpaqueError(unknown)
        items = [None if part is None else list(part) for part in parts[3:5]]
        return self._of("made", *parts[:3], *items)


def _shown(x: Any) -> str:
    try:
        text = repr(x)
    except Exception:  # the user's
        text = f"an object of {type(x).__name__}"
    return text if len(text) < 80 else f"{text[:77]}…"


# --- what functions hold ----------------------------------------------------------------------------------------------


class Held(NamedTuple):
    """What functions hold."""

    parts: dict[str, str]
    """The fingerprint of each part, by what it is in words."""
    tellers: list[Any]
    """The objects that tell their own state, in the order of the walk; of these nothing else is looked at."""
    unknown: dict[str, str]
    """By part, what there cannot be looked into."""


def held_by(functions: Iterable[Any], tells: Callable[[Any], bool]) -> Held:
    """What functions hold; `tells` says of what that it tells its own state."""
    walk = _HeldTeller(tells)
    found = Held({}, walk.tellers, {})
    for f in functions:
        for what, value in walk.parts(f):
            found.parts[what] = found.parts.get(what, "") + walk.whole(value)
            if walk.unknown:
                found.unknown.setdefault(what, walk.unknown[0])
                walk.unknown.clear()
    return found


_ATOMS = frozenset([type(None), bool, int, float, complex, str, bytes])
_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Thread)
_NO_STATE = (*_LOCKS, logging.Logger, logging.Handler, logging.LoggerAdapter, C_FUNCTION)
"""Classes whose objects change without a meaning for the motion."""


class _HeldTeller(_Teller):
    """The same of what functions hold, to be compared before and after a run in one process: it ends, whatever is reached."""

    def __init__(self, tells: Callable[[Any], bool]) -> None:
        super().__init__()
        self._tells = tells
        self.tellers: list[Any] = []
        self.unknown: list[str] = []
        """What of the part that is walked cannot be looked into."""
        self._seen: dict[int, int] = {}
        self._waiting: list[Any] = []

    def whole(self, value: Any) -> str:
        """The fingerprint of a part, what lies deep in it too."""
        told = [self.digest(value)]
        while self._waiting:
            told.append(self._now(self._waiting.pop(0)))
        return hashlib.sha256(b"".join(told)).hexdigest()

    def digest(self, value: Any) -> bytes:
        if type(value) in _ATOMS:
            return self._told(value)
        if id(value) in self._seen:
            return b"seen %d" % self._seen[id(value)]
        if len(self._seen) >= MOST_HELD:
            self.unknown.append(f"more than {MOST_HELD} objects")
            return self._of("beyond", type(value).__qualname__)
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        if self._tells(value):
            self.tellers.append(value)
            return self._of("tells", type(value).__qualname__)
        if len(self._on_way) >= HELD_DEPTH:
            self._waiting.append(value)
            return b"later %d" % self._seen[id(value)]
        return self._now(value)

    def _now(self, value: Any) -> bytes:
        self._on_way[id(value)] = len(self._on_way)
        try:
            return self._told(value)
        except Exception:  # of what cannot be looked into
            self.unknown.append(_shown_kind(value))
            return self._of("unknown", type(value).__qualname__)
        finally:
            del self._on_way[id(value)]

    def _told(self, x: Any) -> bytes:
        if type(x) is object:
            return self._of("object")
        if isinstance(x, types.GeneratorType):
            return self._of_generator(x)
        if issubclass(type(x), WEAK_REFERENCES):
            return super()._told(x)
        top = type(x).__module__.partition(".")[0]
        ours = top == "nexdyn" and not isinstance(x, Function)  # systems, trees and their scratch
        if ours or isinstance(x, _NO_STATE) or _is_compiled(x) or is_standard_stream(x):
            return self._of("without state", type(x).__qualname__)
        if isinstance(x, io.IOBase) and not isinstance(x, io.StringIO | io.BytesIO):
            return self._of("file", place_in_file(x))
        return super()._told(x)

    def _of_plain_kind(self, x: Any, kind: type) -> bytes:
        if kind in (list, tuple, dict):  # all at once where they are plain
            items = items_of(x, kind)
            if _ATOMS.issuperset(map(type, itertools.chain.from_iterable(items) if kind is dict else items)):
                return self._of(kind.__name__, repr(items).encode("utf-8", "surrogatepass"))
        return super()._of_plain_kind(x, kind)

    def _is_in_order(self, x: Any) -> bool:
        return True

    def _of_mapping(self, x: Mapping[Any, Any]) -> bytes:
        """Another's, which may compute what it gives."""
        return self._of_object(x)

    def _of_generator(self, x: types.GeneratorType[Any, Any, Any]) -> bytes:
        """Where it is, and all that it has there, iterators of its loops too."""
        frame = x.gi_frame
        if frame is None:
            return self._of("generator at its end", x.gi_code)
        held = [y for y in gc.get_referents(x) if not isinstance(y, types.FrameType | types.ModuleType)]
        return self._of(
            "generator", x.gi_code, [frame.f_lasti, dict(frame.f_locals), [y for y in held if y is not frame.f_globals]]
        )

    def _hidden_in(self, module: types.ModuleType, chain: list[str]) -> tuple[Any, ...]:
        """Plain values too, which functions may have put there."""
        found = vars(module).get(chain[0]) if is_installed(module.__name__) else None
        if type(found) in _ATOMS and found is not None and not chain[0].startswith("__"):
            return (found,)
        return super()._hidden_in(module, chain)

    def parts(self, f: Any) -> Iterator[tuple[str, Any]]:
        """What a function holds, and in words where."""
        if _is_compiled(f):  # what it names is frozen
            return
        if self._tells(f):
            yield "it", f
        elif isinstance(f, functools.partial):
            yield from ((f"argument {k + 1} of its partial", x) for k, x in enumerate(f.args))
            yield from ((f"argument {name!r} of its partial", x) for name, x in f.keywords.items())
            yield from ((f"attribute {name!r}", x) for name, x in vars(f).items())
            yield from self.parts(f.func)
        elif isinstance(f, types.MethodType):
            yield from self._of_owner(f.__self__)
            yield from self.parts(f.__func__)
        elif isinstance(f, types.FunctionType):
            self._seen.setdefault(id(f), len(self._seen))  # where it names itself
            yield from self._of_plain(f)
        elif isinstance(f, _BUILT_IN):
            owner = getattr(f, "__self__", None)
            if not isinstance(owner, types.ModuleType | type | None):
                yield from self._of_owner(owner)
        else:
            yield from self._of_owner(f)

    def _of_owner(self, owner: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(owner, types.ModuleType):
            return
        kind = owner if isinstance(owner, type) else type(owner)
        if self._tells(owner):
            yield "it", owner
            return
        if not _is_fixed(kind):
            yield f"class {kind.__name__}", kind
        if not isinstance(owner, type):
            state = attributes(owner)
            yield from ((f"attribute {name!r} of {kind.__name__}", x) for name, x in state.items())
            if not state or is_made_of_c(kind):
                yield f"an object of {kind.__name__}", owner

    def _of_plain(self, f: types.FunctionType) -> Iterator[tuple[str, Any]]:
        if _is_installed_function(f):
            return
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            yield f"variable {name!r}", _content(cell)
        if is_installed(f.__module__) and is_installed(f.__globals__.get("__name__")):
            return
        names = f.__code__.co_varnames[: f.__code__.co_argcount]
        defaults = f.__defaults__ or ()
        for name, x in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            yield f"default of {name!r}", x
        yield from ((f"default of {name!r}", x) for name, x in (f.__kwdefaults__ or {}).items())
        yield from ((f"attribute {name!r}", x) for name, x in vars(f).items() if not name.startswith("_nexdyn"))
        yield from ((f"global {name!r}", x) for name, x in self._globals_of(f).items() if not _is_fixed(x))


def _is_fixed(x: Any) -> bool:
    """Whether it is a module, a class or a function of Python or of a package, which hold nothing of the user's."""
    if isinstance(x, list) and len(x) == 2 and isinstance(x[0], types.ModuleType):  # a module, and what is named of it
        return not x[1]
    if isinstance(x, types.FunctionType):
        return _is_installed_function(x)
    if isinstance(x, type):
        return _is_installed_class(x)
    if isinstance(x, _BUILT_IN):
        return isinstance(getattr(x, "__self__", None), types.ModuleType | type | None)
    return x is None or isinstance(x, types.ModuleType)


def _is_compiled(x: Any) -> bool:
    """Whether it is a function that Numba has compiled."""
    return type(x).__module__.partition(".")[0] == "numba" and hasattr(x, "py_func")


def _shown_kind(x: Any) -> str:
    name = getattr(type(x), "__qualname__", "object")
    module = type(x).__module__
    return f"an object of {name if module in ('builtins', '_io') else f'{module}.{name}'}"

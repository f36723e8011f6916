"""Fingerprints: whether two studies, systems or functions are the same, in this process or another.

    value → canonical bytes → SHA-256

All that a result may depend on goes in: numbers to their last bit; of functions the byte code, constants, the names that they
use, defaults, closures, attributes, and the functions and values of their module that they name; of objects their class and
attributes; of meshes what is in their files. What is installed (the standard library, packages) counts by name and version; what
only has a name of that kind, as a function that wraps one of a package, does not. What cannot be distinguished from another of its
kind raises `OpaqueError`: equality of two studies is then unknown.

The same walk, over what functions hold (``held_by``), tells whether a function has changed what it holds: a counter in its closure,
a list in a default, a global of its module. There each object is walked once, up to `MOST_HELD` of them, and what cannot be told
apart counts by its type.
"""

from __future__ import annotations

import builtins
import copyreg
import dis
import functools
import hashlib
import importlib.util
import os
import sys
import sysconfig
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

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

MOST_DEPTH = 200
MOST_HELD, HELD_DEPTH, LONG = 5000, 60, 1000
"""Objects that are walked of what functions hold, and how deep; items of a list from which on it is looked at as one array."""
MOST_BYTES, SAMPLED = 1_000_000, 4096
"""Bytes of an array from which on a sum and so many of its items stand for it."""
_BUILT_IN = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType, np.ufunc)
_IMMUTABLE = 1 << 8
"""The flag of classes that nobody can change, Python's and those of modules written in C."""
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


def _functions_of(value: Any) -> Any:
    """What an attribute of a class computes by."""
    if isinstance(value, property):
        return [value.fget, value.fset]
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    return value.func if isinstance(value, functools.cached_property) else value


def _version(module: str) -> str:
    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))


def _attributes(x: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots too."""
    state = dict(getattr(x, "__dict__", {}))
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(x, name) and name not in ("__dict__", "__weakref__"):
                state[name] = getattr(x, name)
    return state


class _Teller:
    """Canonical bytes of values; `_on_way` holds what is being digested, so that a cycle ends."""

    def __init__(self) -> None:
        self._on_way: dict[int, int] = {}
        self._kept: list[Any] = []

    def digest(self, value: Any) -> bytes:
        if id(value) in self._on_way:
            return b"again %d" % (len(self._on_way) - self._on_way[id(value)])
        if len(self._on_way) > MOST_DEPTH:
            raise OpaqueError(f"{_shown(value)} is nested too deeply")
        self._on_way[id(value)] = len(self._on_way)
        self._kept.append(value)  # so that no other object takes its place, and its id
        try:
            return self._told(value)
        finally:
            del self._on_way[id(value)]

    def _of(self, kind: str, *parts: Any) -> bytes:
        """The digest of something by its parts: bytes as they are, text, or values."""
        found = hashlib.sha256(kind.encode())
        for part in parts:
            told = part if isinstance(part, bytes) else self.digest(part)
            found.update(len(told).to_bytes(8, "little") + told)
        return found.digest()

    def _told(self, x: Any) -> bytes:
        if x is None or x is Ellipsis or (isinstance(x, bool | int | str | complex) and not isinstance(x, Enum)):
            return self._of(type(x).__name__, repr(x).encode("utf-8", "surrogatepass"))
        if type(x) is float:
            return self._of("float", x.hex().encode())
        if isinstance(x, bytes | bytearray):
            return self._of("bytes", bytes(x))
        if isinstance(x, Enum):
            return self._of("enum", type(x).__qualname__, x.name, x.value)
        if isinstance(x, np.ndarray | np.generic):
            return self._of_numbers(x)
        if isinstance(x, tuple | list):
            return self._of(type(x).__name__, *(self.digest(item) for item in x))
        if isinstance(x, set | frozenset):
            return self._of("set", *sorted(self.digest(item) for item in x))
        if isinstance(x, Mapping):
            return self._of("mapping", *sorted(self.digest(key) + self.digest(item) for key, item in x.items()))
        if isinstance(x, System):
            return self._of_system(x)
        if isinstance(x, Result):
            told = {key: value for key, value in vars(x.recording).items() if key != "wall_time"}
            return self._of("result", x.system, told, x.lost_forces)
        if isinstance(x, Mesh):
            return self._of("mesh", _attributes(x), content_of(x.path))
        if isinstance(x, AssemblyReport):
            return self._of("report", x.model.system, x.t, x.q, x.v, x.states)
        if isinstance(x, Callback):
            return self._of("callback", self.digest(x.function), x.shape.name)
        if isinstance(x, Expression):
            return self._of("expression", self.digest(x.__reduce__()[1]))
        return self._of_code(x) if callable(x) or isinstance(x, types.CodeType) else self._of_object(x)

    def _of_numbers(self, x: np.ndarray | np.generic) -> bytes:
        """An array, and what its class adds: the mask of one that has a mask, attributes."""
        numbers = np.asarray(x)
        if isinstance(x, np.generic) or type(x) is np.ndarray:
            return self._of_array(numbers)
        if isinstance(x, np.ma.MaskedArray):
            plain = vars(np.ma.array(0.0))
            own = {name: value for name, value in _attributes(x).items() if name not in plain}
            return self._of("masked", type(x), self._of_array(numbers), np.ma.getmaskarray(x), x.fill_value, own)
        return self._of("kind of array", type(x), self._of_array(numbers), _attributes(x))

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
            return self._of("partial", f.func, f.args, f.keywords)
        if isinstance(f, types.MethodType):
            return self._of("method", f.__func__, f.__self__)
        if isinstance(f, np.ufunc) and not _is_installed_ufunc(f):
            raise OpaqueError(f"{_shown(f)} cannot be told apart from another of its name")
        if isinstance(f, _BUILT_IN):
            owner = getattr(f, "__self__", None)
            bound = owner is not None and not isinstance(owner, types.ModuleType | type)
            name = f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', getattr(f, '__name__', ''))}"
            return self._of("built in", name, owner if bound else None)
        if hasattr(f, "py_func"):  # a function that Numba has compiled
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
        attributes = {key: value for key, value in vars(f).items() if not key.startswith("_nexdyn")}
        return self._of(
            "function", f.__code__, f.__defaults__, f.__kwdefaults__, attributes, self._globals_of(f), *cells
        )

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
        return {
            name: [x, self._named_of(x, names)] if isinstance(x, types.ModuleType) else x
            for name, x in (found | modules).items()
        }

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
            if key not in _OF_CLASSES and not isinstance(value, types.MemberDescriptorType | types.GetSetDescriptorType)
        }
        return self._of("class", name, told, *(self.digest(base) for base in cls.__bases__))

    # --- other objects ----------------------------------------------------------------------------------------------

    def _of_object(self, x: Any) -> bytes:
        if isinstance(x, types.ModuleType):
            return self._of("module", x.__name__, _version(x.__name__))
        ours = type(x).__module__.partition(".")[0] == "nexdyn"
        if hasattr(x, "__dict__") or getattr(type(x), "__slots__", None):
            state = _attributes(x)
            if ours:  # what is private there is made from what is not
                state = {key: value for key, value in state.items() if not key.startswith("_")}
            reduced_by: Any = type(x).__reduce__
            if state or ours or reduced_by is object.__reduce__:
                return self._of("object", type(x), state)
        try:
            made = x.__reduce_ex__(2)
        except Exception as error:
            raise OpaqueError(f"{_shown(x)} cannot be told apart from another {type(x).__name__}") from error
        parts = made if isinstance(made, tuple) else (made,)
        if parts[0] is copyreg.__newobj__ and not any(parts[1][1:]) and not any(parts[2:]):  # type: ignore[attr-defined]
            if type(x).__module__ != builtins.__name__ and type(x) is not object:
                return self._of("object", type(x))
            raise OpaqueError(f"{_shown(x)} cannot be told apart from another {type(x).__name__}")
        return self._of("made", *(list(part) if hasattr(part, "__next__") else part for part in parts))


def _shown(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 80 else f"{text[:77]}…"


# --- what functions hold ----------------------------------------------------------------------------------------------


def held_by(functions: Iterable[Any], tells: Callable[[Any], bool]) -> tuple[dict[str, str], list[Any]]:
    """The fingerprint of each part of what functions hold, by what it is in words; and the objects among it that `tells` takes for such
    that tell their own state, in the order of the walk, of which nothing else is looked at."""
    walk = _HeldTeller(tells)
    parts: dict[str, str] = {}
    for f in functions:
        for what, value in walk.parts(f):
            parts[what] = parts.get(what, "") + walk.digest(value).hex()
    return parts, walk.tellers


_ATOMS = (type(None), bool, int, float, complex, str, bytes)
_NO_STATE = ("threading", "_thread", "logging", "_io", "io")
"""Modules of classes whose objects change without a meaning for the motion, or cannot be looked into."""


class _HeldTeller(_Teller):
    """The same of what functions hold, to be compared before and after a run in one process: it ends, whatever is reached."""

    def __init__(self, tells: Callable[[Any], bool]) -> None:
        super().__init__()
        self._tells = tells
        self.tellers: list[Any] = []
        self._seen: dict[int, int] = {}

    def digest(self, value: Any) -> bytes:
        if type(value) in _ATOMS:
            return self._told(value)
        if id(value) in self._seen:
            return b"seen %d" % self._seen[id(value)]
        if len(self._seen) >= MOST_HELD or len(self._on_way) >= HELD_DEPTH:
            return self._of("beyond", type(value).__qualname__)
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        if self._tells(value):
            self.tellers.append(value)
            return self._of("tells", type(value).__qualname__)
        self._on_way[id(value)] = len(self._on_way)
        try:
            return self._told(value)
        except Exception:  # of an object of the user's that cannot be looked into
            return self._of("opaque", type(value).__qualname__)
        finally:
            del self._on_way[id(value)]

    def _of_array(self, x: np.ndarray) -> bytes:
        if x.nbytes < MOST_BYTES or x.dtype.hasobject or x.dtype.names is not None:
            return super()._of_array(x)
        flat = np.ascontiguousarray(x).reshape(-1)
        words = flat.view(np.uint8)[: flat.nbytes // 8 * 8].view(np.uint64)
        some = flat[:: max(1, len(flat) // SAMPLED)].tobytes()
        return self._of(
            "array", x.dtype.str, str(x.shape), str(int(words.sum(dtype=np.uint64))), some, flat[-1:].tobytes()
        )

    def _told(self, x: Any) -> bytes:
        if isinstance(x, list | tuple) and len(x) > LONG:
            if all(type(item) in (float, int, bool) for item in x):
                return self._of(type(x).__name__, self._of_array(np.array(x, dtype=float)))
            return self._of(type(x).__name__, str(len(x)), *(self.digest(item) for item in (*x[:LONG], *x[-LONG:])))
        if isinstance(x, Mapping) and not isinstance(x, dict):  # another's, which may compute what it gives
            return self._of_object(x)
        if isinstance(x, types.GeneratorType):
            frame = x.gi_frame
            return self._of("generator", x.gi_code, None if frame is None else [frame.f_lasti, dict(frame.f_locals)])
        module = type(x).__module__
        ours = module.partition(".")[0] == "nexdyn" and not isinstance(x, Function)  # systems, trees and their scratch
        if ours or module in _NO_STATE or hasattr(x, "py_func"):
            return self._of("without state", type(x).__qualname__)
        if module == "itertools":
            with warnings.catch_warnings(action="ignore"):
                return super()._told(x)
        return super()._told(x)

    def parts(self, f: Any) -> Iterator[tuple[str, Any]]:
        """What a function holds, and in words where."""
        if hasattr(f, "py_func"):  # compiled: what it names is frozen
            return
        if self._tells(f):
            yield "it", f
        elif isinstance(f, functools.partial):
            yield from ((f"argument {k + 1} of its partial", x) for k, x in enumerate(f.args))
            yield from ((f"argument {name!r} of its partial", x) for name, x in f.keywords.items())
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
            if state := _attributes(owner):
                yield from ((f"attribute {name!r} of {kind.__name__}", x) for name, x in state.items())
            else:
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
    return x is None or isinstance(x, types.ModuleType) or (isinstance(x, _BUILT_IN) and not hasattr(x, "py_func"))

"""Formulas and entries as Numba's dispatchers: what is compiled when, for which types, into what, and kept where."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import secrets
from pathlib import Path
from typing import Any

from nexdyn import kernel_folders
from nexdyn.compiler import compile_time
from nexdyn.compiler.caches import BitcodeCache, Cache
from nexdyn.compiler.codegen import ToBitcode, ToMachineCode, ToOutlined
from nexdyn.compiler.options import NUMBERS, Copied, allocates
from nexdyn.numba_parts import CPUDispatcher, bytecode, overload, types

_INSIDE: Any = {"no_cfunc_wrapper": True, "_nrt": False}  # no entry point for C, no counting of references
_INLINED: Any = {**_INSIDE, "forceinline": True}
_OVERLOADED: Any = {**_INLINED, "pipeline_class": ToBitcode}


def _number_anew() -> None:
    """Numba tells functions of one name apart by a number that every process counts from one. Bitcode of another
    process must not meet its number here under another function (`_`, `<lambda>`): the linker would keep one of them."""
    bytecode.FunctionIdentity._unique_ids = itertools.count(secrets.randbits(56))


_number_anew()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_anew)


class Formula(CPUDispatcher):
    """A compiled function that other compiled functions call; Python's calls go to an entry, made when one comes.

    Compiled once for all values of an argument, where Numba would for `True` and again for `False`."""

    kept = False
    """Whether its bitcode is kept on disk."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        kws = {name: types.unliteral(a) for name, a in kws.items()}
        return super().get_call_template([types.unliteral(a) for a in args], kws)

    def compile(self, sig: Any) -> Any:
        if self.kept and not isinstance(getattr(self, "_cache", None), Cache):
            self._cache = BitcodeCache(self.py_func)
        with compile_time.ours():
            return super().compile(sig)

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres  # kept from the dispatcher's table of entry points

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        return self._entry

    @functools.cached_property
    def _entry(self) -> Any:
        return Entry(self)


class Entry(CPUDispatcher):
    """Where Python enters a formula: the one function that becomes machine code, with all that it calls.

    A kernel that calls this one links the formula behind it."""

    def __init__(self, inner: Formula, **options: Any) -> None:
        self.inner = inner
        targetoptions = {"nopython": True, **_options(inner.py_func), **options}
        super().__init__(inner.py_func, locals={}, targetoptions=targetoptions, pipeline_class=ToMachineCode)
        compiler_of_self: Any = self._compiler  # type: ignore[attr-defined]
        compiler_of_self._get_implementation = lambda args, kws: _call_of(inner)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.inner.get_overload(sig)

    def compile(self, sig: Any) -> Any:
        with compile_time.ours():
            pointer = super().compile(sig)
        made: Any
        for made in self.overloads.values():
            made.library.__dict__.pop("object_code", None)  # which is on disk by now, and in the engine
        return pointer


@functools.cache
def _in_package(name: str) -> bool:
    """Whether a file is a page of ours, whose functions mean what the sources say as they are now; then their hash is taken."""
    file = Path(name).resolve()
    if not (file.is_relative_to(kernel_folders.PACKAGE) and file.is_file() and kernel_folders.is_kept()):
        return False
    kernel_folders.source_hash(None, kernel_folders.not_part_of(file))
    return True


def _call_of(inner: Formula) -> Any:
    """A function of the same arguments that calls `inner`, and does nothing else."""
    f = inner.py_func
    names = ", ".join(f.__code__.co_varnames[: f.__code__.co_argcount])
    scope: dict[str, Any] = {"__name__": f.__module__, "inner": inner}
    exec(f"def entry({names}):\n    return inner({names})", scope)
    entry = scope["entry"]
    entry.__name__, entry.__qualname__ = f.__name__, f.__qualname__
    return entry


def _options(f: Any) -> dict[str, Any]:
    return {**NUMBERS, **_INSIDE, "_nrt": allocates(f)}


_WAYS: dict[Copied, tuple[type[ToBitcode], dict[str, Any]]] = {
    Copied.MAYBE: (ToBitcode, {}),
    Copied.ALWAYS: (ToBitcode, _INLINED),
    Copied.NEVER: (ToOutlined, {"forceinline": False}),
}


def _tell_signature(f: Any) -> None:
    """The signature of a function whose arguments are all by place and without a default: Numba asks for it twice, and to make it
    of annotations takes a tenth of a start."""
    code = f.__code__
    plain = not (
        f.__defaults__ or code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    )
    if plain and not hasattr(f, "__wrapped__"):
        names = code.co_varnames[: code.co_argcount]
        arguments = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        f.__signature__ = inspect.Signature(arguments, __validate_parameters__=False)


def formula(f: Any, copied: Copied) -> Any:
    """A function that compiled ones call."""
    _tell_signature(f)
    pipeline, more = _WAYS[copied]
    options = {"nopython": True, "no_cpython_wrapper": True, **_options(f), **more}
    made = Formula(f, locals={}, targetoptions=options, pipeline_class=pipeline)
    made.kept = f.__closure__ is None and _in_package(f.__code__.co_filename)
    return made


def entry(f: Any, **options: Any) -> Any:
    """A function that Python calls, of `f` or of a formula; its machine code is kept on disk."""
    inner: Any = f if isinstance(f, Formula) else formula(f, Copied.MAYBE)
    made: Any = Entry(inner, **options)
    source = inner.py_func
    if kernel_folders.is_kept() and Path(source.__code__.co_filename).is_file():
        inner._cache, made._cache, inner.kept = BitcodeCache(source), Cache(source), True
    return made


def overloaded(f: Any) -> Any:
    """What the decorated function returns for the types of the compiler is compiled into the functions that call `f`."""
    return overload(f, strict=False, jit_options=_OVERLOADED)

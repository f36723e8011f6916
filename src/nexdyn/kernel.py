"""The decorators of compiled code, and the cache that never runs a stale kernel.

`@kernel`  an entry that Python or many callers reach: compiled once per signature and cached on disk.
`@shared`  a kernel during which Python's other threads run.
`@formula` a small function that kernels call: compiled into its callers and cached with them.
`@inlined` a formula that is always copied into its callers; `@outlined` one that never is.
`@allocating` below either: it makes arrays, of its own or at an address; no other may.
`@overloaded(f)` gives `f` a meaning for types of the compiler, as `numba.extending.overload`.

Numba keys its cache by the file that holds a function; a callee changed in another file would leave the old machine
code in use. Here the key is a hash of every source file that a kernel can be made of: `kernel_folders`.

Formulas and kernels become bitcode, inlined and simplified, and kept on disk, so that another process, or another kernel with the
same formulas, compiles less. What Python calls is an entry: a function of the same arguments that calls the formula behind it,
optimised with all below it and turned into machine code, once; a kernel that calls a kernel links its bitcode. Each is compiled
once for all values of an argument. That took the first run of a four-bar under HHT from 75 to 50 s of processor time; what
`codegen` and `compile_time` leave out took another fifth.

Tables and scratch come from outside, so nothing in a kernel need count references. Counting them (atomically, for every
array of every tuple that a call passes) took two thirds of the time of a six-link chain. Where code that is not
`allocating` calls np.zeros and the like, Numba says "only accept returning of array passed into the function".

Relaxed floating point: `contract` allows fused multiply-add, `nsz` drops x + 0. Neither can hide a NaN or an infinity.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import secrets
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import bytecode, caching, compiler, types
from numba.core.registry import CPUDispatcher
from numba.extending import overload

from nexdyn import compile_time, kernel_folders, machine_code
from nexdyn.codegen import BitcodeLibrary, ToBitcode, ToMachineCode, ToOutlined

F = TypeVar("F", bound=Callable[..., Any])

FLOATING_POINT = {"contract", "nsz"}
_CONFIG: Any = numba.config
_INSIDE: Any = {"no_cfunc_wrapper": True, "_nrt": False}  # no entry point for C, no counting of references
_INLINED: Any = {**_INSIDE, "forceinline": True}
_OPTIONS: dict[str, Any] = {"fastmath": FLOATING_POINT, "error_model": "numpy", **_INSIDE}


class _Locator(caching._CacheLocator):
    """Where the code of a function lies: named by file and line, stamped with the hash of all that it is made of."""

    def __init__(self, file: Path, line: int) -> None:
        self._file, self._line, self._without = file, line, kernel_folders.not_part_of(file)

    def get_cache_path(self) -> str:
        return str(kernel_folders.cache_folder(self._without) or kernel_folders.SHIPPED)

    def get_source_stamp(self) -> str:
        if self._file.is_relative_to(kernel_folders.PACKAGE):
            return kernel_folders.source_hash(None, self._without)
        return kernel_folders.hash_of(self._file, kernel_folders.source_hash())

    def get_disambiguator(self) -> str:
        """What Numba's own name of the entry leaves out: the line, and the folder, which is the same in every copy of
        the package, so that copies share what they have compiled."""
        place = machine_code.page_of(str(self._file)) or self._file
        return f"{self._line}-{zlib.crc32(str(place).encode()):08x}"

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        return cls(Path(py_file).resolve(), py_func.__code__.co_firstlineno) if kernel_folders.is_kept() else None


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012

    def check_cachable(self, made: Any) -> bool:
        """Addresses of this process mean nothing to another."""
        return not made.library.has_dynamic_globals and made.library.kept

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """None where a part is kept no longer."""
        (name, kind, (code, names, needs)), *others = payload
        if not machine_code.load(target_context.codegen(), needs):
            return None
        return super().rebuild(target_context, ((name, kind, (code, names)), *others))


class _Files(caching.IndexDataCacheFile):
    """A file for each signature, named by it.

    Numba numbers the files of a function, and keeps in an index which signature each is of. Of two processes that save at once one
    would overwrite the file of the other, and its index: later ones would find the code of another signature there, or none.
    """

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._name(key), (self._version, self._source_stamp, key, data))

    def load(self, key: Any) -> Any:
        try:
            version, stamp, known, data = self._load_data(self._name(key))
        except OSError:
            return None
        return data if (version, stamp, known) == (self._version, self._source_stamp, key) else None

    def flush(self) -> None:
        """A file that cannot be read is written again."""

    def _name(self, key: Any) -> str:
        return str(self._data_name(int(hashlib.sha256(repr(key).encode()).hexdigest()[:16], 16)))


class _Cache(caching.FunctionCache):
    """A cache that never stops the work: a damaged file counts as none, a full disk keeps nothing.

    Nor does it keep what was compiled while the sources changed, which is of neither state.
    """

    _impl_class = _CacheImpl

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super()._load_overload(sig, target_context)
        return self._came_with_package(sig, target_context) if found is None else found

    def _came_with_package(self, sig: Any, target_context: Any) -> Any:
        locator = self._impl.locator
        folder = kernel_folders.shipped_folder(locator._without)
        if folder is None:
            return None
        shipped = _Files(str(folder), self._impl.filename_base, locator.get_source_stamp())
        data = shipped.load(self._index_key(sig, target_context.codegen()))
        return None if data is None else self._impl.rebuild(target_context, data)

    def save_overload(self, sig: Any, data: Any) -> None:
        without = self._impl.locator._without
        if kernel_folders.cache_folder(without) is None:
            return
        with contextlib.suppress(OSError):
            if kernel_folders.unchanged(without, int(time.monotonic())):
                super().save_overload(sig, data)


def _number_anew() -> None:
    """Numba tells functions of one name apart by a number that every process counts from one. Bitcode of another
    process must not meet its number here under another function (`_`, `<lambda>`): the linker would keep one of them."""
    bytecode.FunctionIdentity._unique_ids = itertools.count(secrets.randbits(56))


_number_anew()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_anew)


_OVERLOADED: Any = {**_INLINED, "pipeline_class": ToBitcode}


class _BitcodeLocator(_Locator):
    """Where the bitcode of a function lies: beside its machine code."""

    def get_disambiguator(self) -> str:
        return super().get_disambiguator() + "-inner"


class _BitcodeCacheImpl(_CacheImpl):
    _locator_classes = [_BitcodeLocator]  # noqa: RUF012

    def reduce(self, data: Any) -> Any:
        """As Numba does, but without a search for environments, which only what Python calls has."""
        library, descriptor = data.library.serialize_using_object_code(), data.fndesc
        descriptor.typemap = descriptor.calltypes = None
        return (
            library, descriptor, data.environment, data.signature, data.objectmode, data.lifted, "", data.reload_init, (),
        )  # fmt: skip

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, _, (bitcode, parts)), fndesc, env, signature, objectmode, lifted, annotation, reload_init, envs = payload
        library = BitcodeLibrary.read(target_context.codegen(), name, bitcode, parts)
        result: Any = compiler.CompileResult
        return result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=env,
            entry_point=target_context.get_executable(library, fndesc, env),
            fndesc=fndesc,
            type_annotation=annotation,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            typing_error=None,
            call_helper=None,
            metadata=None,
            reload_init=reload_init,
            referenced_envs=envs,
        )


class _BitcodeCache(_Cache):
    _impl_class = _BitcodeCacheImpl


class _Formula(CPUDispatcher):
    """A compiled function that other compiled functions call; Python's calls go to an entry, made when one comes.

    Compiled once for all values of an argument, where Numba would for `True` and again for `False`."""

    kept = False
    """Whether its bitcode is kept on disk."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        kws = {name: types.unliteral(a) for name, a in kws.items()}
        return super().get_call_template([types.unliteral(a) for a in args], kws)

    def compile(self, sig: Any) -> Any:
        if self.kept and not isinstance(getattr(self, "_cache", None), _Cache):
            self._cache = _BitcodeCache(self.py_func)
        with compile_time.ours():
            return super().compile(sig)

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres  # kept from the dispatcher's table of entry points

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        return self._entry

    @functools.cached_property
    def _entry(self) -> Any:
        return _Entry(self)


class _Entry(CPUDispatcher):
    """Where Python enters a formula: the one function that becomes machine code, with all that it calls.

    A kernel that calls this one links the formula behind it."""

    def __init__(self, inner: _Formula, **options: Any) -> None:
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


def _call_of(inner: _Formula) -> Any:
    """A function of the same arguments that calls `inner`, and does nothing else."""
    f = inner.py_func
    names = ", ".join(f.__code__.co_varnames[: f.__code__.co_argcount])
    scope: dict[str, Any] = {"__name__": f.__module__, "inner": inner}
    exec(f"def entry({names}):\n    return inner({names})", scope)
    entry = scope["entry"]
    entry.__name__, entry.__qualname__ = f.__name__, f.__qualname__
    return entry


def formula(f: F) -> F:
    """Compile `f` into the kernels that call it."""
    return _formula(f)


def inlined(f: F) -> F:
    """A formula that is never left a call: one that runs for every body with more arguments than registers hold."""
    return _formula(f, **_INLINED)


def outlined(f: F) -> F:
    """A formula that always stays a call: long and seldom run, and reached from many places.

    What an inlined function calls Numba inlines, too, all the way down; here that ends."""
    return _formula(f, ToOutlined, forceinline=False)


def allocating(f: F) -> F:
    """`f` makes arrays: `@kernel` or `@formula` above it leave it what that needs.

    A formula must not return an array that it made: nobody would free it.
    """
    f.__dict__["allocating"] = True
    return f


def _options(f: Any) -> dict[str, Any]:
    return {**_OPTIONS, "_nrt": "allocating" in f.__dict__}


def _formula(f: F, pipeline: type[ToBitcode] = ToBitcode, **options: Any) -> F:
    if _CONFIG.DISABLE_JIT:
        return f
    options = {"nopython": True, "no_cpython_wrapper": True, **_options(f), **options}
    made: Any = _Formula(f, locals={}, targetoptions=options, pipeline_class=pipeline)
    made.kept = f.__closure__ is None and _in_package(f.__code__.co_filename)
    return made


def kernel(f: F) -> F:
    """Compile `f` once per signature and keep the machine code on disk."""
    return _kernel(f)


def shared(f: F) -> F:
    """A kernel without Python's lock: several threads run it at once, each on rows of its own."""
    return _kernel(f, nogil=True)


def _kernel(f: F, **options: Any) -> F:
    if _CONFIG.DISABLE_JIT:
        return f
    inner: Any = f if isinstance(f, _Formula) else _formula(f)
    entry: Any = _Entry(inner, **options)
    source = inner.py_func
    if kernel_folders.is_kept() and Path(source.__code__.co_filename).is_file():
        inner._cache, entry._cache, inner.kept = _BitcodeCache(source), _Cache(source), True
    return entry


def compiled_for(f: Any, *arguments: Any) -> Any:
    """Kernel `f` compiled for the types of `arguments` and no others, which give TypeError; None where interpreted."""
    if _CONFIG.DISABLE_JIT:
        return None
    f(*arguments)
    f.disable_compile()
    return f


def overloaded(f: Any) -> Any:
    """What the decorated function returns for the types of the compiler is compiled into the kernels that call `f`."""
    return overload(f, strict=False, jit_options=_OVERLOADED)

"""The two decorators of compiled code, and the cache that never runs a stale kernel.

`@kernel`  an entry that Python or many callers reach: compiled once per signature and cached on disk.
`@formula` a small function that kernels call: compiled into its callers and cached with them.
`@overloaded(f)` gives `f` a meaning for types of the compiler, as `numba.extending.overload`.

Numba keys its cache by the file that holds a function; a callee changed in another file would leave the old machine
code in use. Here the key is a hash of every source file of the package (and of the versions that generate code), so
that an edit or an upgrade anywhere starts afresh. `NEXDYN_CACHE_DIR` moves the cache.

Formulas carry no entry points for Python and C: building, parsing and optimising those took half of the time that
kernels take to compile.

Relaxed floating point: `contract` allows fused multiply-add, `nsz` drops x + 0. Neither can hide a NaN or an infinity.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
from numba import njit
from numba.core import caching
from numba.core.registry import CPUDispatcher
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])

FLOATING_POINT = {"contract", "nsz"}
_NO_C_WRAPPER = {"no_cfunc_wrapper": True}
_OPTIONS: dict[str, Any] = {"fastmath": FLOATING_POINT, "error_model": "numpy", **_NO_C_WRAPPER}
KEPT_CACHES = 4  # caches of other sources that stay, the youngest first


@functools.cache
def source_hash(root: Path | None = None) -> str:
    """Hash of all Python sources below `root` (the package), and of the versions of Numba and LLVM."""
    root = root or Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {sys.version}".encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:24]


def cache_root() -> Path:
    """The folder that holds one cache per state of the sources."""
    if chosen := os.environ.get("NEXDYN_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "nexdyn"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "nexdyn" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nexdyn"


@functools.cache
def cache_folder() -> Path | None:
    """The folder for the sources as they are now; None where no folder can be written (then nothing is cached)."""
    folder = cache_root() / source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe{os.getpid()}"
        probe.touch()
        probe.unlink()
        others = [other for other in folder.parent.iterdir() if other.is_dir() and other != folder]
        for stale in sorted(others, key=lambda other: -other.stat().st_mtime)[KEPT_CACHES:]:
            shutil.rmtree(stale, ignore_errors=True)
    except OSError:
        return None
    return folder


def compiled_before() -> bool:
    """Whether this state of the sources has left kernels in the cache."""
    folder = cache_folder()
    return folder is not None and any(folder.glob("*.nbi"))


class _Locator(caching._CacheLocator):
    def __init__(self, line: int) -> None:
        self._line = line

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return source_hash()

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        return cls(py_func.__code__.co_firstlineno) if cache_folder() else None


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]


class _Cache(caching.FunctionCache):
    _impl_class = _CacheImpl


class _Formula(CPUDispatcher):
    """A compiled function that other compiled functions call; Python's calls go to a twin, compiled when one comes."""

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres  # kept from the dispatcher's table of entry points

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        return self._for_python

    @functools.cached_property
    def _for_python(self) -> Any:
        return njit(**_OPTIONS)(self.py_func)


def formula(f: F) -> F:
    """Compile `f` into the kernels that call it."""
    if numba.config.DISABLE_JIT:
        return f
    options = {"nopython": True, "no_cpython_wrapper": True, **_OPTIONS}
    return _Formula(f, locals={}, targetoptions=options)  # type: ignore[return-value]


def kernel(f: F) -> F:
    """Compile `f` once per signature and keep the machine code on disk."""
    dispatcher = njit(**_OPTIONS)(f)
    if not numba.config.DISABLE_JIT and cache_folder() is not None:
        dispatcher._cache = _Cache(f)
    return dispatcher  # type: ignore[no-any-return]


def overloaded(f: Any) -> Callable[[F], F]:
    """What the decorated function returns for the types of the compiler is compiled where kernels call `f`."""
    return overload(f, strict=False, jit_options=_NO_C_WRAPPER)  # type: ignore[no-any-return]

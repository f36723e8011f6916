"""Formulas and entries by Numba's public `njit` alone, where a part of `numba_parts.PRIVATE` is missing.

Each kernel is compiled whole, with all that it calls, and each process types anew what is not on disk: the first start is slower,
and so are kernels, which count references. Results are the same to rounding.

Numba's cache does not see that a callee in another file has changed: kernels are kept in the folder of the hash of all sources that
they can be made of, as always (`kernel_folders`). And it tells functions of one name apart by a number that each process counts from
one; of two functions with one name and number the linker would keep one. So what kernels call has a name of its own in each process.
Nor is it made for two processes that save at once: of two signatures of a kernel, one might be found under the other. So one process
at a time takes kernels from the folder and saves them there; those beside it compile for themselves. A full disk or a damaged file
is Numba's own error here.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numba
from numba.extending import is_jitted, overload

from nexdyn import kernel_folders, numba_parts
from nexdyn.compiler.options import NUMBERS, Copied
from nexdyn.errors import warn

_CONFIG: Any = numba.config
warnings.filterwarnings(
    "ignore", "Cannot cache compiled function", numba_parts.NumbaWarning
)  # one with addresses in it


def formula(f: Any, copied: Copied) -> Any:
    """A function that compiled ones call; LLVM decides what it copies."""
    made: Any = numba.njit(**NUMBERS)(_named_apart(f))
    made.py_func = f  # for those who look at it; it is compiled under the name of its own
    return made


def entry(f: Any, **options: Any) -> Any:
    """A function that Python calls, of `f` or of a formula; its machine code is kept on disk."""
    f = f.py_func if is_jitted(f) else f
    if f.__closure__ is not None or not Path(f.__code__.co_filename).is_file():
        return numba.njit(**NUMBERS, **options)(f)
    with _kept_in_folder_of(Path(f.__code__.co_filename).resolve()) as kept:
        return numba.njit(**NUMBERS, **options, cache=kept)(f)


def overloaded(f: Any) -> Any:
    """What the decorated function returns for the types of the compiler is compiled into the functions that call `f`."""

    def register(meaning: Any) -> Any:
        @functools.wraps(meaning)
        def named(*kinds: Any, **named_kinds: Any) -> Any:
            found = meaning(*kinds, **named_kinds)
            return None if found is None else _named_apart(found)

        overload(f, strict=False, jit_options=cast("Any", NUMBERS))(named)
        return meaning

    return register


def _named_apart(f: Any) -> Any:
    """A copy of `f` under a name that no other function of any process has."""
    copy = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    copy.__kwdefaults__, copy.__module__, copy.__doc__ = f.__kwdefaults__, f.__module__, f.__doc__
    copy.__dict__.update(f.__dict__)
    copy.__qualname__ = f"{f.__qualname__}_{secrets.token_hex(8)}"
    return copy


@functools.cache
def _is_first_in(folder: Path) -> bool:
    """Whether this process has a folder of kernels to itself, until it ends. Children that it forks share it."""
    try:
        import fcntl

        lock = os.open(folder / "plain.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


@contextlib.contextmanager
def _kept_in_folder_of(file: Path) -> Iterator[bool]:
    """Whether kernels of a file are kept, in its folder, which is Numba's as long as this lasts."""
    folder, others = kernel_folders.cache_folder(kernel_folders.not_part_of(file)), _CONFIG.CACHE_DIR
    _CONFIG.CACHE_DIR = str(folder or others)
    try:
        yield folder is not None and _is_first_in(folder)
    finally:
        _CONFIG.CACHE_DIR = others


def _tell() -> None:
    """Say what is missing, once for each state of sources and versions."""
    folder = kernel_folders.cache_folder(kernel_folders.LOWER)
    mark = None if folder is None else folder / "plain.txt"
    if numba_parts.wants_plain() or (mark is not None and mark.exists()):
        return
    if mark is not None:
        with contextlib.suppress(OSError):
            mark.write_text("\n".join(numba_parts.missing()) + "\n", encoding="utf-8")
    named = ", ".join(numba_parts.missing()[:3]) + (", …" if len(numba_parts.missing()) > 3 else "")
    warn(
        f"Numba {numba.__version__} lacks {named}, which NexDyn's compiler builds on: kernels are compiled by Numba alone, "
        "slower to start, with the same results; nexdyn warm --check names all that is missing"
    )


_tell()

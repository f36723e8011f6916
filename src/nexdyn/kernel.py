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
`compiler` leaves out of Numba's work took another fifth.

Tables and scratch come from outside, so nothing in a kernel need count references. Counting them (atomically, for every
array of every tuple that a call passes) took two thirds of the time of a six-link chain. Where code that is not
`allocating` calls np.zeros and the like, Numba says "only accept returning of array passed into the function".

Both need parts of Numba that its documentation does not promise: `numba_parts` has the list. Where one is missing, as another version
of Numba may have it, `compiler.plain` does the same by public means: slower, and right.

Relaxed floating point: `contract` allows fused multiply-add, `nsz` drops x + 0. Neither can hide a NaN or an infinity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from nexdyn import numba_parts
from nexdyn.compiler.options import FLOATING_POINT as FLOATING_POINT
from nexdyn.compiler.options import Copied

if numba_parts.is_plain():
    from nexdyn.compiler import plain as compiler
else:
    from nexdyn.compiler import dispatchers as compiler  # type: ignore[no-redef]

F = TypeVar("F", bound=Callable[..., Any])
_CONFIG: Any = numba.config


def formula(f: F) -> F:
    """Compile `f` into the kernels that call it."""
    return _formula(f, Copied.MAYBE)


def inlined(f: F) -> F:
    """A formula that is never left a call: one that runs for every body with more arguments than registers hold."""
    return _formula(f, Copied.ALWAYS)


def outlined(f: F) -> F:
    """A formula that always stays a call: long and seldom run, and reached from many places.

    What an inlined function calls Numba inlines, too, all the way down; here that ends."""
    return _formula(f, Copied.NEVER)


def allocating(f: F) -> F:
    """`f` makes arrays: `@kernel` or `@formula` above it leave it what that needs.

    A formula must not return an array that it made: nobody would free it.
    """
    f.__dict__["allocating"] = True
    return f


def _formula(f: Any, copied: Copied) -> Any:
    return f if _CONFIG.DISABLE_JIT else compiler.formula(f, copied)


def kernel(f: F) -> F:
    """Compile `f` once per signature and keep the machine code on disk."""
    return _kernel(f)


def shared(f: F) -> F:
    """A kernel without Python's lock: several threads run it at once, each on rows of its own."""
    return _kernel(f, nogil=True)


def _kernel(f: Any, **options: Any) -> Any:
    return f if _CONFIG.DISABLE_JIT else compiler.entry(f, **options)


def compiled_for(f: Any, *arguments: Any) -> Any:
    """Kernel `f` compiled for the types of `arguments` and no others, which give TypeError; None where interpreted."""
    if _CONFIG.DISABLE_JIT:
        return None
    f(*arguments)
    f.disable_compile()
    return f


def overloaded(f: Any) -> Any:
    """What the decorated function returns for the types of the compiler is compiled into the kernels that call `f`."""
    return compiler.overloaded(f)

"""Functions of a page as C functions: `int32 f(double t, const double *given, double *out)`, 0 where it is done.

A page's function takes by name what it needs of what is given (`Offer`), and the numbers of the page. Around it stands a function of
arrays, written here as text and compiled by Numba; where it raises, the interpreter repeats it and keeps why, as of all functions of users
(``model.callbacks``).
"""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.extending import is_jitted

from nexdyn.errors import InputError
from nexdyn.numba_parts import NumbaError
from nexdyn.spatial.algebra import Force, Mat3, Motion, Pose, Vec3

_C = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)
_CONFIG: Any = numba.config
_INSIDE: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Compiled code alone calls them."""
SCOPE = {"Force": Force, "Mat3": Mat3, "Motion": Motion, "Pose": Pose, "Vec3": Vec3, "np": np}


class Offer(NamedTuple):
    """What a function is offered: by name its expression among the numbers `s`, how many numbers these are without those of the page, and
    how many numbers it gives."""

    arguments: Mapping[str, str]
    given: int
    out: int
    put: str
    """The lines that call it as CALL and fill `out`."""


def vector(k: int) -> str:
    """The vector that stands in s from k on, as text."""
    return f"Vec3(s[{k}], s[{k + 1}], s[{k + 2}])"


def matrix(k: int) -> str:
    return f"Mat3({', '.join(f's[{k + i}]' for i in range(9))})"


def pose(k: int) -> str:
    return f"Pose({matrix(k)}, {vector(k + 9)})"


def motion(k: int) -> str:
    return f"Motion({vector(k)}, {vector(k + 3)})"


def put_vector(a: str, k: str) -> str:
    return f"out[{k}], out[{k} + 1], out[{k} + 2] = {a}.x, {a}.y, {a}.z"


class PageFunction:
    """A function of a page as a C function. `address` is valid as long as this object lives."""

    def __init__(self, what: str, body: Any, plain: Any, given: int, out: int) -> None:
        self.what, self.given, self.out = what, given, out
        self._plain = plain
        self._failures: dict[int, BaseException] = {}
        self._interpreted = _C(self._call)
        if _CONFIG.DISABLE_JIT:
            self.address = float(ctypes.cast(self._interpreted, ctypes.c_void_p).value or 0)
            return
        self._machine_code = _compiled(what, body, given, out, self._interpreted)
        self.address = float(self._machine_code.address)

    def __str__(self) -> str:
        return self.what

    def __call__(self, t: float, given: Sequence[float] | np.ndarray) -> np.ndarray:
        """What it gives; what it raises is raised."""
        s, out = np.zeros(self.given), np.zeros(self.out)
        s[: len(given)] = given
        if _C(int(self.address))(t, s.ctypes.data, out.ctypes.data):
            raise self.take_failure() or RuntimeError(f"{self.what} failed")
        return out

    def take_failure(self) -> BaseException | None:
        """What it raised last in this thread, and forget it."""
        return self._failures.pop(threading.get_ident(), None)

    @property
    def failed(self) -> bool:
        """Whether it has raised in this thread since the last `take_failure`."""
        return threading.get_ident() in self._failures

    def _call(self, t: float, given: int, out: int) -> int:
        try:
            self._plain(t, _numbers_at(given, self.given), _numbers_at(out, self.out))
        except BaseException as error:  # KeyboardInterrupt too: it is raised again once the kernel has stopped
            self._failures[threading.get_ident()] = error
            return 1
        return 0


def _numbers_at(address: int, n: int) -> np.ndarray:
    """The n numbers that stand there; where there is room for fewer, the function must not touch the others."""
    return np.ctypeslib.as_array((ctypes.c_double * n).from_address(address))


def _compiled(what: str, body: Any, given: int, out: int, interpreted: Any) -> Any:
    def called(t: Any, s: Any, result: Any) -> Any:
        try:
            body(t, numba.carray(s, given, np.float64), numba.carray(result, out, np.float64))
        except Exception:
            return interpreted(t, s, result)
        return 0

    try:
        return numba.cfunc(types.int32(types.float64, types.voidptr, types.voidptr))(called)
    except NumbaError as error:
        reason = "\n".join(str(error).strip().splitlines()[:12])
        raise InputError(f"{what} cannot be compiled by Numba: {reason}") from error


def plain_of(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function as Python has it."""
    found: Callable[..., Any] = getattr(f, "py_func", f)
    return found


def jitted(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function as Numba has it."""
    found: Callable[..., Any] = f if is_jitted(f) or _CONFIG.DISABLE_JIT else numba.njit(**_INSIDE)(f)
    return found


def check_arguments(what: str, f: Any, offered: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """The names of its arguments; InputError for one that is not given."""
    names = list(inspect.signature(plain_of(f)).parameters)
    for name in names:
        if name not in offered and name not in numbers:
            own = f"; numbers of the page: {', '.join(numbers)}" if numbers else "; the page has no numbers of its own"
            raise InputError(f"{what} takes {name}; given are {', '.join(offered)}{own}")
    return names


def page_function(
    what: str,
    called: Mapping[str, Callable[..., Any]],
    offer: Offer,
    numbers: Sequence[str],
    room: int,
    helpers: str = "",
) -> PageFunction:
    """The C function of `offer.put`, in which CALL(name) is a call of the function `name` among `called`.

    room: numbers of a page there is room for, behind those that are given. helpers: text of functions before it."""
    given = dict(offer.arguments) | {name: f"s[{offer.given + i}]" for i, name in enumerate(numbers)}
    put = offer.put
    for name, f in called.items():
        arguments = check_arguments(f"{name} of {what}", f, list(offer.arguments), numbers)
        put = put.replace(f"CALL({name})", f"{name}({', '.join(given[argument] for argument in arguments)})")
    text = f"def body(t, s, out):\n{put}"

    def made(turned: Callable[[Any], Any]) -> Any:
        scope: dict[str, Any] = SCOPE | {name: turned(f) for name, f in called.items()}
        exec(text, scope)
        return turned(scope["body"])

    main = f"{next(iter(called))} of {what}"
    return PageFunction(main, made(jitted), made(plain_of), offer.given + room, offer.out)

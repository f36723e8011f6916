"""User functions as kernels call them: by the address of a C function.

    int32 f(double t, const double *state, double *out)        0: done, 1: it raised

One machine code of the kernels serves every user function. A Numba-compiled function is called from a small C function
compiled around it, at full speed. Any other callable goes through ctypes into the interpreter, slower; NexDynWarning
says so, once per process. What the function is given and gives depends on its shape:

    shape       state                 the function
    TIME        –                     f(t) → y
    JOINT       q, v                  f(t, q, v) → y
    BODIES      A (18), B (18)        f(t, A, B, out), fills out (6) and returns nothing
    FIELD       x (3)                 f(t, x, out), fills out (3) and returns nothing
    with k states of its own:
    JOINT       q, v, z (k)           f(t, q, v, z, rate) → y, fills rate (k), behind y
    BODIES      A, B, z (k)           f(t, A, B, z, out, rate), fills out (6) and rate (k), behind out
    PENETRATION δ, δ̇                  f(δ, δ̇) → y
    CURVE       –                     f(s) → x, y, z;  s in place of the time
    PARAMETRIC  u, w                  f(u, w) → x, y, z;  first derivatives 6 numbers, second 9
    IMPLICIT    x, y, z               f(x, y, z) → F;  gradient 3 numbers, second derivatives 6
    POSE        x (3), R (9)          f(t, x, R) → C;  derivatives f(t, x, R, out) fill out (7), (7, 7)

A function that raises makes the kernel stop; the exception is kept here until :meth:`Callback.take_failure`.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic, is_jitted

from nexdyn.errors import InputError, SolveError, warn
from nexdyn.kernel import overloaded
from nexdyn.model.element import Element
from nexdyn.numba_parts import NumbaError, cgutils, ir


class Shape(NamedTuple):
    """What a user function is given and gives."""

    name: str
    arguments: str
    state: int
    out: int


TIME = Shape("time", "(t)", 0, 1)
JOINT = Shape("joint", "(t, q, v)", 2, 1)
BODIES = Shape("bodies", "(t, A, B, out)", 36, 6)
FIELD = Shape("field", "(t, x, out)", 3, 3)
JOINT_STATES = Shape("joint with states", "(t, q, v, z, rate)", 2, 1)
BODIES_STATES = Shape("bodies with states", "(t, A, B, z, out, rate)", 36, 6)
"""Their `state` and `out` grow by the number of states: `with_states`."""
PENETRATION = Shape("penetration", "(depth, rate)", 2, 1)
CURVE = Shape("curve", "(s)", 0, 3)
PARAMETRIC = Shape("parametric", "(u, w)", 2, 3)
PARAMETRIC_FIRST, PARAMETRIC_SECOND = PARAMETRIC._replace(out=6), PARAMETRIC._replace(out=9)
IMPLICIT = Shape("implicit", "(x, y, z)", 3, 1)
IMPLICIT_GRADIENT, IMPLICIT_HESSIAN = IMPLICIT._replace(out=3), IMPLICIT._replace(out=6)
POSE = Shape("pose", "(t, x, R)", 12, 1)
POSE_GRADIENT = Shape("derivatives of a pose", "(t, x, R, out)", 12, 7)
POSE_HESSIAN = POSE_GRADIENT._replace(out=49)

C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)
_DOUBLES = types.Array(types.float64, 1, "C")
_MATRIX = types.Array(types.float64, 2, "C")
_FILLS = {
    BODIES: (types.float64, _DOUBLES, _DOUBLES, _DOUBLES),
    FIELD: (types.float64, _DOUBLES, _DOUBLES),
    POSE_GRADIENT: (types.float64, _DOUBLES, _MATRIX, _DOUBLES),
    POSE_HESSIAN: (types.float64, _DOUBLES, _MATRIX, _MATRIX),
}
"""Of shapes whose functions fill `out`, and so return nothing; those of others return numbers."""
_MADE: WeakValueDictionary[tuple[int, Shape], Callback] = WeakValueDictionary()
_said_that_python_is_slow = False


def with_states(shape: Shape, count: int) -> Shape:
    """The shape of a function of BODIES or JOINT with so many states of its own; the same for 0."""
    if count == 0:
        return shape
    grown = BODIES_STATES if shape == BODIES else JOINT_STATES
    return grown._replace(state=grown.state + count, out=grown.out + count)


def _states(shape: Shape) -> int:
    """How many states a function of this shape has."""
    stateless = {BODIES_STATES.name: BODIES_STATES, JOINT_STATES.name: JOINT_STATES}.get(shape.name, shape)
    return shape.out - stateless.out if stateless is not shape else 0


class Callback:
    """A user function as a C function. `address` is valid as long as this object lives: whoever keeps it, keeps this.

    address: float64, in which an address (below 2⁵³) is exact, so that it can lie in a table among other numbers.
    compiled: whether it runs without the interpreter.
    """

    def __init__(self, function: Callable[..., Any], shape: Shape) -> None:
        self.function, self.shape = function, shape
        self.compiled = is_jitted(function)
        self._failures: dict[int, BaseException] = {}
        self._interpreted = C_FUNCTION(self._call)
        if self.compiled:
            self._machine_code = _compiled(function, shape, self._interpreted)
            address = self._machine_code.address
        else:
            _say_that_python_is_slow(self)
            address = ctypes.cast(self._interpreted, ctypes.c_void_p).value or 0
        self.address = float(address)
        if int(self.address) != address:
            raise InputError(f"{self} lies at {address:#x}, which a float64 cannot hold")

    def __str__(self) -> str:
        return f"user function {getattr(self.function, '__name__', repr(self.function))!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return callback_of, (self.function, self.shape)

    def take_failure(self) -> BaseException | None:
        """What the function raised last in this thread, and forget it."""
        return self._failures.pop(threading.get_ident(), None)

    @property
    def failed(self) -> bool:
        """Whether the function has raised in this thread since the last `take_failure`."""
        return threading.get_ident() in self._failures

    def _call(self, t: float, state: int, out: int) -> int:
        """The C function in Python. Also called for a compiled function that raised, to learn what."""
        try:
            result = self._result(t, state)
            ctypes.memmove(out, result.ctypes.data, result.nbytes)
        except BaseException as error:  # KeyboardInterrupt too: it is raised again once the kernel has stopped
            self._failures[threading.get_ident()] = error
            return 1
        return 0

    def _result(self, t: float, state: int) -> np.ndarray:
        f, shape = self.function, self.shape
        given = np.frombuffer(ctypes.string_at(state, 8 * shape.state))
        if shape == TIME:
            return np.array([float(f(t))])
        if shape == JOINT:
            return np.array([float(f(t, float(given[0]), float(given[1])))])
        if shape.name == JOINT_STATES.name:
            out = np.zeros(shape.out)
            out[0] = float(f(t, float(given[0]), float(given[1]), given[2:], out[1:]))
            return out
        if shape not in _FILLS and shape.name != BODIES_STATES.name:
            if shape == POSE:
                return np.array([float(f(t, given[:3], given[3:].reshape(3, 3)))])
            result = f(t) if shape == CURVE else f(*given.tolist())
            return np.array(result, dtype=float).reshape(shape.out)
        out = np.zeros(shape.out)
        if shape == BODIES:
            returned = f(t, given[:18], given[18:], out)
        elif shape == FIELD:
            returned = f(t, given, out)
        elif shape.name == BODIES_STATES.name:
            returned = f(t, given[:18], given[18:36], given[36:], out[:6], out[6:])
        else:
            returned = f(t, given[:3], given[3:].reshape(3, 3), out.reshape(7, 7) if shape.out == 49 else out)
        if returned is not None:
            raise TypeError(f"it returned {returned!r}; it must fill out and return nothing")
        return out


def callback_of(function: Callable[..., Any], shape: Shape) -> Callback:
    """The callback of a function; one for all that use it. InputError if it cannot be compiled."""
    key = (id(function), shape)  # the callback keeps its function, so the id stays its own
    found = _MADE.get(key)
    if found is None:
        found = _MADE[key] = Callback(function, shape)
        if found.compiled:  # the function keeps it, for the next system that uses it
            function.__dict__.setdefault("_nexdyn_callbacks", []).append(found)
    return found


def failure(element: Element, time: float, callbacks: Iterable[Callback] = ()) -> SolveError:
    """The error for an element that gave no finite value at `time` [s]: what its functions raised, if they did.

    An interruption (Ctrl-C) inside a user function is raised as it is.
    """
    raised = [error for callback in callbacks if (error := callback.take_failure()) is not None]
    for error in raised:
        if not isinstance(error, Exception):
            raise error
    if not raised and (told := element.failing_at(time)):
        return SolveError(f"{element} {told}", time=time, where=element.name)
    reason = f"raised {type(raised[0]).__name__}: {raised[0]}" if raised else element.not_finite
    failed = SolveError(f"{element} {reason} at t = {time:g} s", time=time, where=element.name)
    failed.__cause__ = raised[0] if raised else None
    return failed


def _say_that_python_is_slow(callback: Callback) -> None:
    global _said_that_python_is_slow
    if not _said_that_python_is_slow:
        _said_that_python_is_slow = True
        warn(
            f"{callback} is plain Python: every evaluation leaves the compiled loop for it and takes microseconds; "
            "with @numba.njit in front it runs at full speed",
        )


def _compiled(function: Any, shape: Shape, interpreted: Any) -> Any:
    """The C function that calls a Numba-compiled one; where that raises, the interpreter repeats it and keeps why."""

    def of_time(t, state, out):
        result = numba.carray(out, 1, np.float64)
        try:
            result[0] = function(t)
        except Exception:
            return interpreted(t, state, out)
        return 0

    def of_joint(t, state, out):
        given, result = numba.carray(state, 2, np.float64), numba.carray(out, 1, np.float64)
        try:
            result[0] = function(t, given[0], given[1])
        except Exception:
            return interpreted(t, state, out)
        return 0

    def of_bodies(t, state, out):
        given, result = numba.carray(state, 36, np.float64), numba.carray(out, 6, np.float64)
        result[:] = 0.0
        try:
            function(t, given[:18], given[18:], result)
        except Exception:
            return interpreted(t, state, out)
        return 0

    def of_field(t, state, out):
        given, result = numba.carray(state, 3, np.float64), numba.carray(out, 3, np.float64)
        result[:] = 0.0
        try:
            function(t, given, result)
        except Exception:
            return interpreted(t, state, out)
        return 0

    given_size, out_size, own = shape.state, shape.out, _states(shape)

    def of_joint_and_states(t, state, out):
        given, result = numba.carray(state, given_size, np.float64), numba.carray(out, out_size, np.float64)
        result[:] = 0.0
        try:
            result[0] = function(t, given[0], given[1], given[2 : 2 + own], result[1 : 1 + own])
        except Exception:
            return interpreted(t, state, out)
        return 0

    def of_bodies_and_states(t, state, out):
        given, result = numba.carray(state, given_size, np.float64), numba.carray(out, out_size, np.float64)
        result[:] = 0.0
        try:
            function(t, given[:18], given[18:36], given[36 : 36 + own], result[:6], result[6 : 6 + own])
        except Exception:
            return interpreted(t, state, out)
        return 0

    def of_pose(t, state, out):
        given, result = numba.carray(state, 12, np.float64), numba.carray(out, 1, np.float64)
        try:
            result[0] = function(t, given[:3], given[3:].reshape(3, 3))
        except Exception:
            return interpreted(t, state, out)
        return 0

    def of_pose_gradient(t, state, out):
        given, result = numba.carray(state, 12, np.float64), numba.carray(out, 7, np.float64)
        result[:] = 0.0
        try:
            function(t, given[:3], given[3:].reshape(3, 3), result)
        except Exception:
            return interpreted(t, state, out)
        return 0

    def of_pose_hessian(t, state, out):
        given, result = numba.carray(state, 12, np.float64), numba.carray(out, 49, np.float64)
        result[:] = 0.0
        try:
            function(t, given[:3], given[3:].reshape(3, 3), result.reshape(7, 7))
        except Exception:
            return interpreted(t, state, out)
        return 0

    wrapper = {
        TIME: of_time, JOINT: of_joint, BODIES: of_bodies, FIELD: of_field, POSE: of_pose, POSE_GRADIENT: of_pose_gradient,
        POSE_HESSIAN: of_pose_hessian, with_states(JOINT, own): of_joint_and_states if own else of_joint,
        with_states(BODIES, own): of_bodies_and_states if own else of_bodies,
    }.get(shape) or _of_numbers(function, shape, interpreted)  # fmt: skip
    name = getattr(function, "__name__", "?")
    try:
        machine_code = numba.cfunc(types.int32(types.float64, types.voidptr, types.voidptr))(wrapper)
    except NumbaError as error:
        reason = str(error).strip().splitlines()
        raise InputError(
            f"user function {name!r} cannot be compiled for {name}{shape.arguments}: " + "\n".join(reason[:12])
        ) from error
    filled = (types.float64, *[_DOUBLES] * 5) if shape.name == BODIES_STATES.name else _FILLS.get(shape)
    returned = [made.return_type for made in function.nopython_signatures if made.args == filled]
    if returned and returned[0] != types.none:
        raise InputError(f"user function {name!r} returns {returned[0]}; it must fill out and return nothing")
    return machine_code


def _of_numbers(function: Any, shape: Shape, interpreted: Any) -> Callable[..., int]:
    """The wrapper of a function of one, two or three numbers that gives one, three, six or nine."""
    given, n = shape.state, shape.out

    @numba.njit
    def called(t, state):
        if given == 0:
            return function(t)
        x = numba.carray(state, given, np.float64)
        if given == 2:
            return function(x[0], x[1])
        return function(x[0], x[1], x[2])

    def of_one(t, state, out):
        try:
            numba.carray(out, 1, np.float64)[0] = called(t, state)
        except Exception:
            return interpreted(t, state, out)
        return 0

    def of_several(t, state, out):
        result = numba.carray(out, n, np.float64)
        try:
            y = called(t, state)
            if len(y) != n:
                return interpreted(t, state, out)
            result[0], result[1], result[2] = y[0], y[1], y[2]
            if n > 3:
                result[3], result[4], result[5] = y[3], y[4], y[5]
            if n > 6:
                result[6], result[7], result[8] = y[6], y[7], y[8]
        except Exception:
            return interpreted(t, state, out)
        return 0

    return of_one if n == 1 else of_several


# --- the call, in kernels ----------------------------------------------------------------------------------------


def call(address, t, state, out):
    """Status and `out` of the C function at `address`; `state` and `out` are (nested) tuples of floats."""
    c_function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(int(address))
    given, given_out = np.array(_flat(state)), np.array(_flat(out))
    status = c_function(t, given.ctypes.data, given_out.ctypes.data)
    return status, tuple(given_out.tolist())


def stored(address: Any) -> Any:
    """The float64 that is stored at an address."""
    return ctypes.c_double.from_address(int(address)).value


def _flat(x: Any) -> list[float]:
    return [leaf for item in x for leaf in _flat(item)] if isinstance(x, tuple) else [float(x)]


@intrinsic
def _call(context: Any, address: Any, t: Any, state: Any, out: Any) -> Any:
    """`state` lies on the stack as it is: tuples of float64 nested in tuples are float64 side by side."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        double, integer = ir.DoubleType(), ir.IntType(32)
        pointer = double.as_pointer()
        given, result = (cgutils.alloca_once_value(builder, value) for value in args[2:])
        kind = ir.FunctionType(integer, [double, pointer, pointer])
        number = builder.fptosi(args[0], ir.IntType(64))
        f = builder.inttoptr(number, kind.as_pointer())
        status = builder.call(f, [args[1], builder.bitcast(given, pointer), builder.bitcast(result, pointer)])
        status = builder.sext(status, ir.IntType(64))
        return context.make_tuple(builder, sig.return_type, [status, builder.load(result)])

    return types.Tuple((types.int64, out))(types.float64, types.float64, state, out), codegen


@overloaded(call)
def _typed_call(address, t, state, out):
    return lambda address, t, state, out: _call(address, t, state, out)  # type: ignore[call-arg]


@intrinsic
def _stored(context: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = builder.fptosi(args[0], ir.IntType(64))
        return builder.load(builder.inttoptr(number, ir.DoubleType().as_pointer()))

    return types.float64(types.float64), codegen


@overloaded(stored)
def _typed_stored(address):
    return lambda address: _stored(address)  # type: ignore[call-arg]

"""Calls with wrong arguments raise an InputError that names the argument and what would be valid, not Python's TypeError.

A class of the public face, or one whose instances it returns, has the type `CheckedCalls`; a function is a `checked_call`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from nexdyn.errors import InputError, unknown

F = TypeVar("F", bound=Callable[..., Any])

MEANT = {
    "location": ("position", "at"), "pos": ("position", "at"), "point": ("at", "position"), "origin": ("position", "at"),
    "center_of_mass": ("com",), "cm": ("com",), "I": ("inertia",), "rotation": ("orientation",), "quaternion": ("orientation",),
    "body_a": ("a", "parent"), "body_b": ("b", "child"), "body1": ("a", "parent"), "body2": ("b", "child"), "k": ("stiffness",),
    "d": ("damping",), "c": ("damping",), "rest_length": ("length",), "free_length": ("length",), "l0": ("length",),
    "step": ("dt",), "timestep": ("dt",), "time_step": ("dt",), "step_size": ("dt",), "stepsize": ("dt",), "h": ("dt",),
    "tol": ("rtol", "tolerance"), "tolerance": ("rtol",), "solver": ("method",),
    "t": ("t_end",), "tspan": ("t_end",), "duration": ("t_end",), "initial_position": ("q0",), "initial_velocity": ("v0",),
    "range": ("limits",), "frictionloss": ("friction",),
}  # fmt: skip
"""What other tools call an argument."""
ELSEWHERE = {
    "dt": "the step belongs to the method, like nx.RungeKutta4(dt=1e-3)",
    "rtol": "the tolerance belongs to the method, like nx.DormandPrince(rtol=1e-8)",
    "atol": "the tolerance belongs to the method, like nx.DormandPrince(atol=1e-10)",
    "gravity": "gravity belongs to the system, like nx.System(gravity=(0, 0, -9.81))",
}
"""Where an argument stands that is not one here."""


@functools.cache
def _is_of_systems(kind: Any) -> bool:
    return any(cls.__module__ == "nexdyn.model.system" and cls.__name__ == "System" for cls in kind.__mro__)


def _is_system(x: Any) -> bool:
    kind: Any = type(x)
    return _is_of_systems(kind)


NEEDED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "System": (_is_system, "a System is needed, like the one that nx.load returns"),
    "Progress | None": (lambda x: x is None or callable(x), "a function is needed, or None"),
}
"""By the annotation of an argument: what it must be, and what is said where it is not."""


@functools.cache
def _needing(function: Callable[..., Any]) -> tuple[tuple[int, str, Callable[[Any], bool], str], ...]:
    """Place and name of the arguments that are looked at, whether what is given will do, and what is said otherwise."""
    inner = inspect.unwrap(function)
    names = inner.__code__.co_varnames[: inner.__code__.co_argcount + inner.__code__.co_kwonlyargcount]
    return tuple(
        (place, name, *NEEDED[inner.__annotations__[name]])
        for place, name in enumerate(names)
        if inner.__annotations__.get(name) in NEEDED
    )


def _other(
    function: Callable[..., Any], arguments: tuple[Any, ...], given: Mapping[str, Any], at: int
) -> InputError | None:
    """The error for an argument that is something else than what its annotation says; `arguments` are those of `function` from `at` on."""
    for place, name, will_do, needed in _needing(function):
        if at <= place < at + len(arguments):
            x = arguments[place - at]
        elif name in given:
            x = given[name]
        else:
            continue
        if not will_do(x):
            return InputError(f"{name} is {x!r}; {needed}")
    return None


def signature_of(cls: type) -> inspect.Signature:
    """How `cls` is called. Where its constructor takes **options, they are the arguments of the next one in line."""
    found: dict[str, inspect.Parameter] = {}
    for constructor in (vars(c)["__init__"] for c in cls.__mro__ if "__init__" in vars(c)):
        parameters = list(inspect.signature(constructor).parameters.values())[1:]
        more = any(p.kind is p.VAR_KEYWORD for p in parameters)
        for p in parameters:
            if p.kind is not p.VAR_KEYWORD and p.name not in found:
                found[p.name] = p.replace(kind=p.KEYWORD_ONLY) if found and constructor is not cls.__init__ else p  # type: ignore[misc]
        if not more:
            break
    return inspect.Signature(sorted(found.values(), key=lambda p: p.kind))


def fault(
    name: str, signature: inspect.Signature, arguments: tuple[Any, ...], given: Mapping[str, Any]
) -> InputError | None:
    """Why what has the `signature` cannot be called so; None where it can."""
    parameters = signature.parameters
    try:
        signature.bind(*arguments, **given)
    except TypeError as error:
        for wrong in given:
            if wrong not in parameters:
                return unknown_argument(name, wrong, list(parameters))
        takes = f"its arguments are {', '.join(parameters)}" if parameters else "it takes no arguments"
        return InputError(f"{name}: {error}; {takes}")
    return None


def unknown_argument(name: str, wrong: str, valid: list[str]) -> InputError:
    """The error for an argument `wrong` of what is called `name`, where others are `valid`."""
    meant = (wrong, *MEANT.get(wrong, ()))
    near = next((known for known in meant if known in valid), None)
    if near is not None:
        return InputError(f"{name} has no argument {wrong!r}; did you mean {near!r}? arguments: {', '.join(valid)}")
    for known in meant:
        if known in ELSEWHERE:
            return InputError(f"{name} has no argument {wrong!r}; {ELSEWHERE[known]}")
    return InputError(f"{name} has {unknown('argument', wrong, valid)}")


class CheckedCalls(type):
    """The type of classes of the public face: their instances are made, and their public methods called, with checked arguments.

    Methods of a user's own subclasses stay as they are: they may be compiled.
    """

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        if namespace.get("__module__", "").startswith("nexdyn."):
            namespace = {
                key: value if key.startswith("_") else checked_method(value) for key, value in namespace.items()
            }
        return super().__new__(mcls, name, bases, namespace, **options)

    @property
    def __signature__(cls) -> inspect.Signature:
        """How `cls` is called, for `help` and editors, which would show `__call__` of this type."""
        return signature_of(cls)

    def __call__(cls, *arguments: Any, **given: Any) -> Any:
        made = cls.__init__  # type: ignore[misc]
        if inspect.isfunction(made) and (other := _other(made, arguments, given, 1)) is not None:
            raise fault(cls.__name__, signature_of(cls), arguments, given) or other
        try:
            return super().__call__(*arguments, **given)
        except TypeError:
            error = fault(cls.__name__, signature_of(cls), arguments, given)
            if error is not None:
                raise error from None
            raise


def checked_method(value: Any) -> Any:
    """A method of a class, its arguments checked where Python refuses them; anything else as it is."""
    if isinstance(value, classmethod | staticmethod):
        inner, kind = value.__func__, type(value)
        return kind(_checked(inner, kind is classmethod)) if inspect.isfunction(inner) else value
    return _checked(value, True) if inspect.isfunction(value) else value


def _checked(function: Any, bound: bool) -> Any:
    """`function` of a class; bound: whether it takes the instance, or the class, first."""

    def fault_of(arguments: tuple[Any, ...], given: Mapping[str, Any]) -> InputError | None:
        signature, own = inspect.signature(function), arguments
        of = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
        if bound:
            signature = signature.replace(parameters=list(signature.parameters.values())[1:])
            own = arguments[1:]
            if arguments:
                of = (arguments[0] if inspect.isclass(arguments[0]) else type(arguments[0])).__name__
        return fault(f"{of}.{function.__name__}", signature, own, given)

    return _calling(function, fault_of)


def checked_call(function: F) -> F:
    """`function` of the public face, its arguments checked where Python refuses them, or where `NEEDED` says what they must be."""
    return _calling(function, lambda a, given: fault(f"nx.{function.__name__}", inspect.signature(function), a, given))


def _calling(function: F, fault_of: Callable[[tuple[Any, ...], Mapping[str, Any]], InputError | None]) -> F:
    @functools.wraps(function)
    def called(*arguments: Any, **given: Any) -> Any:
        try:
            return function(*arguments, **given)
        except TypeError:
            error = fault_of(arguments, given)
            if error is not None:
                raise error from None
            raise

    @functools.wraps(function)
    def looked_at(*arguments: Any, **given: Any) -> Any:
        if (other := _other(function, arguments, given, 0)) is not None:
            raise fault_of(arguments, given) or other
        return called(*arguments, **given)

    return looked_at if _needing(function) else called  # type: ignore[return-value]

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
    "step": ("dt",), "timestep": ("dt",), "h": ("dt",), "tol": ("rtol",), "tolerance": ("rtol",), "solver": ("method",),
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
    if wrong in ELSEWHERE:
        return InputError(f"{name} has no argument {wrong!r}; {ELSEWHERE[wrong]}")
    near = next((known for known in MEANT.get(wrong, ()) if known in valid), None)
    if near is not None:
        return InputError(f"{name} has no argument {wrong!r}; did you mean {near!r}? arguments: {', '.join(valid)}")
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

    @functools.wraps(function)
    def called(*arguments: Any, **given: Any) -> Any:
        try:
            return function(*arguments, **given)
        except TypeError:
            signature, own = inspect.signature(function), arguments
            of = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
            if bound:
                signature = signature.replace(parameters=list(signature.parameters.values())[1:])
                own = arguments[1:]
                if arguments:
                    of = (arguments[0] if inspect.isclass(arguments[0]) else type(arguments[0])).__name__
            error = fault(f"{of}.{function.__name__}", signature, own, given)
            if error is not None:
                raise error from None
            raise

    return called


def checked_call(function: F) -> F:
    """`function` of the public face, its arguments checked where Python refuses them."""

    @functools.wraps(function)
    def called(*arguments: Any, **given: Any) -> Any:
        try:
            return function(*arguments, **given)
        except TypeError:
            error = fault(f"nx.{function.__name__}", inspect.signature(function), arguments, given)
            if error is not None:
                raise error from None
            raise

    return called  # type: ignore[return-value]

"""Calls with wrong arguments raise an InputError that names the argument and what would be valid, not Python's TypeError."""

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
                return _unknown_argument(name, wrong, list(parameters))
        return InputError(f"{name}: {error}; its arguments are {', '.join(parameters)}")
    return None


def _unknown_argument(name: str, wrong: str, valid: list[str]) -> InputError:
    if wrong in ELSEWHERE:
        return InputError(f"{name} has no argument {wrong!r}; {ELSEWHERE[wrong]}")
    near = next((known for known in MEANT.get(wrong, ()) if known in valid), None)
    if near is not None:
        return InputError(f"{name} has no argument {wrong!r}; did you mean {near!r}? arguments: {', '.join(valid)}")
    return InputError(f"{name} has {unknown('argument', wrong, valid)}")


class CheckedCalls(type):
    """The type of classes whose instances are made with checked arguments."""

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


def checked_call(function: F) -> F:
    """`function` of the public face, or a method of a class of it, its arguments checked where Python refuses them."""
    outer = function.__qualname__.split(".")[-2:-1]
    of_class = outer[0] if outer and outer[0] != "<locals>" else ""

    @functools.wraps(function)
    def called(*arguments: Any, **given: Any) -> Any:
        try:
            return function(*arguments, **given)
        except TypeError:
            signature = inspect.signature(function)
            if of_class:  # without self
                signature = signature.replace(parameters=list(signature.parameters.values())[1:])
            error = fault(f"{of_class or 'nx'}.{function.__name__}", signature, arguments[bool(of_class) :], given)
            if error is not None:
                raise error from None
            raise

    return called  # type: ignore[return-value]

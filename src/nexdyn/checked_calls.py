"""Calls with wrong arguments raise an InputError that names the argument and what would be valid, not Python's TypeError.

A class of the public face, or one whose instances it returns, has the type `CheckedCalls`; a function is a `checked_call`.
Attributes that such an instance lacks raise Python's AttributeError, which says what may have been meant.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from nexdyn.errors import InputError, nearest, unknown
from nexdyn.synonyms import meant, plain

F = TypeVar("F", bound=Callable[..., Any])

MEANT = {
    "location": ("position", "at"), "pos": ("position", "at"), "point": ("at", "position"), "origin": ("position", "at"),
    "center_of_mass": ("com",), "cm": ("com",), "I": ("inertia",), "rotation": ("orientation",), "quaternion": ("orientation",),
    "body_a": ("a", "parent"), "body_b": ("b", "child"), "body1": ("a", "parent"), "body2": ("b", "child"), "k": ("stiffness",),
    "d": ("damping",), "c": ("damping",), "rest_length": ("length",), "free_length": ("length",), "l0": ("length",),
    "step": ("dt",), "timestep": ("dt",), "time_step": ("dt",), "step_size": ("dt",), "stepsize": ("dt",), "h": ("dt",),
    "tol": ("rtol", "tolerance"), "tolerance": ("rtol",), "solver": ("method",),
    "t": ("t_end",), "tspan": ("t_end",), "duration": ("t_end",), "initial_position": ("q0",), "initial_velocity": ("v0",),
    "range": ("limits",), "frictionloss": ("friction",), "g": ("gravity",),
    "t_final": ("t_end",), "tf": ("t_end",), "tend": ("t_end",), "T": ("t_end",), "time": ("t_end",), "end_time": ("t_end",),
    "t_eval": ("output_times",), "times": ("output_times",), "saveat": ("output_times",), "every": ("output_every",),
    "initial": ("q0",), "x0": ("initial", "q0"), "y0": ("initial", "q0"), "guess": ("q0",), "integrator": ("method",),
}  # fmt: skip
"""What other tools call an argument."""
ELSEWHERE = {
    "dt": "the step belongs to the method, like nx.RungeKutta4(dt=1e-3)",
    "rtol": "the tolerance belongs to the method, like nx.DormandPrince(rtol=1e-8)",
    "atol": "the tolerance belongs to the method, like nx.DormandPrince(atol=1e-10)",
    "gravity": "gravity belongs to the system, like nx.System(gravity=(0, 0, -9.81))",
    "controller": "a controller belongs to the system, like system.add_force(nx.Controller(…))",
    "forces": "forces belong to the system, like system.add_force(nx.AppliedForce(…))",
    "t_span": "a run starts at 0, or where the result given as `initial` ends; t_end is its end",
    "n_steps": "the steps belong to the method, like nx.RungeKutta4(dt=1e-3)",
    "steps": "the steps belong to the method, like nx.RungeKutta4(dt=1e-3)",
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
    return InputError(f"{name} has {unknown('argument', wrong, valid, cutoff=0.5 if len(wrong) < 4 else 0.6)}")


WAYS = {
    "System": {
        "add": "add_body, add_joint, add_force and others add what their names say", "setgravity": "nx.System(gravity=…) sets gravity",
        "getbody": "bodies['NAME'] is a body", "getjoint": "joints['NAME'] is a joint", "addlink": "add_body adds a body",
        "addrigidbody": "add_body adds a body", "addconstraint": "add_joint adds a joint", "addgear": "add_coupling adds a gear",
        "q0": "joints['NAME'].q0 is where a joint starts", "urdf": "nx.save_urdf(system, path) writes a URDF",
        "save": "nx.save_scene(system, path) writes a scene", "tree": "nx.Tree(system) has the algorithms on arrays",
        "dof": "nx.Tree(system).nv counts degrees of freedom", "dofs": "nx.Tree(system).nv counts degrees of freedom",
        "plot": "nx.view(system) shows it; the result of nx.simulate(system, t_end) has plot()",
    },
    "Result": {
        "q": "joint_position() is q", "qpos": "joint_position() is q", "v": "joint_velocity() is v", "qvel": "joint_velocity() is v",
        "qd": "joint_velocity() is v", "qdd": "joint_acceleration() is its derivative", "a": "joint_acceleration() is it",
        "y": "joint_position() and joint_velocity() are q and v", "x": "position('BODY') is a place", "time": "t are the times",
        "times": "t are the times", "success": "status says how the run ended", "todataframe": "to_csv(path) writes a table; "
        "position('BODY').to_pandas() makes one", "topandas": "position('BODY').to_pandas() makes a table of one quantity",
        "toxarray": "to_dataset() is an xarray.Dataset", "dataset": "to_dataset() is an xarray.Dataset",
        "reactions": "reaction('JOINT') is a reaction", "positions": "position('BODY') is a place", "animate": "nx.view(result) plays it, "
        "nx.save_video(result, path) writes a video", "tonetcdf": "save(path) writes netCDF",
    },
    "Tree": {
        "massmatrix": "crba(q) is the mass matrix", "m": "crba(q) is the mass matrix", "inversedynamics": "rnea(q, v, a) gives the efforts",
        "id": "rnea(q, v, a) gives the efforts", "fd": "aba(q, v, tau) gives the accelerations", "forwardkinematics": "pose(q) is it",
        "fk": "pose(q) is it", "dof": "nv counts degrees of freedom", "joints": "joint_names are names; system.joints are the joints",
        "bodies": "body_names are names; system.bodies are the bodies",
    },
    "Simulation": {
        "simulate": "run(t_end) simulates; nx.simulate(system, t_end) does it in one call", "integrate": "run(t_end) simulates",
        "results": "result() is what was recorded",
    },
    "AssemblyReport": {
        "ok": "gaps are what stays open; nx.assemble raises an AssemblyError where joints do not close",
        "success": "gaps are what stays open; nx.assemble raises an AssemblyError where joints do not close",
        "redundant": "redundancy says which constraint equations are redundant", "dof": "redundancy counts degrees of freedom",
        "pose": "position and orientation are the pose of a body", "reactions": "reaction is the reaction of a joint",
    },
    "Equilibrium": {
        "pose": "position and orientation are the pose of a body", "q": "joint('NAME') is its coordinate",
        "stable": "stability says whether it is stable", "success": "nx.equilibrium raises a SolveError where there is none",
    },
}  # fmt: skip
"""What instances of a class lack under a name of other tools, as `plain` writes it, and what serves."""
ITEMS = {
    "System": "bodies['NAME'], joints['NAME'], forces['NAME'] and others are its elements",
    "Result": "position('BODY'), joint_position('JOINT'), reaction('JOINT') and others are its arrays; t are the times",
}
"""Classes whose instances look as if they had items, and what serves."""
SETTING = {
    "System": {
        "gravity": "give it as nx.System(gravity=…); system.with_parameters({'gravity': …}) makes a changed system",
    }
}
"""Attributes of a class that cannot be set though one may want to, and what serves."""


class MissingAttributeError(AttributeError):
    """An attribute that an instance lacks. The message is made when it is read: most are caught by `hasattr` and the like."""

    def __init__(self, owner: Any, name: str) -> None:
        super().__init__(name=name, obj=None)  # for Python would add the same hint again
        self.owner = owner

    def __str__(self) -> str:
        way = None if str(self.name).startswith("_") else way_to(self.owner, str(self.name))
        return f"{type(self.owner).__name__!r} object has no attribute {self.name!r}" + (f"; {way}" if way else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return AttributeError, (str(self),)


def way_to(owner: Any, name: str) -> str | None:
    """What serves where `owner` has no attribute `name`: a way of its class, a name like it, a function, an element."""
    for cls in type(owner).__mro__:
        if way := WAYS.get(cls.__name__, {}).get(plain(name)):
            return way
    own = [known for known in dir(owner) if not known.startswith("_")]
    if near := next((known for known in MEANT.get(name, ()) if known in own), None) or nearest(name, own, cutoff=0.75):
        return f"did you mean {near!r}?"
    package = sys.modules["nexdyn"]
    functions = [known for known in package.__all__ if known.islower()]
    if {"System", "Result"} & {cls.__name__ for cls in type(owner).__mro__} and (
        name in functions or meant(name, functions)
    ):
        found = nearest(name, functions)
        return f"nx.{found} is a function: nx.{found}({type(owner).__name__.lower()}, …)"
    if name.startswith("add_") and (kind := meant(name.removeprefix("add_"), package.__all__)):
        bases = [base.__name__.lower() for base in getattr(package, kind).__mro__]
        if adds := next((f"add_{base}" for base in bases if f"add_{base}" in own), None):
            return f"{adds}(nx.{kind}(…)) adds one"
    if _is_system(owner):
        for kind in ("bodies", "joints", "forces", "drivers", "markers", "measures", "parameters"):
            if name in getattr(owner, kind):
                return f"{kind}[{name!r}] is it"
    near = next((known for known in own if len(known) > 3 and known in name), None)
    return f"did you mean {near!r}?" if near else None


def _missing(self: Any, name: str) -> Any:
    """`__getattr__` of classes of the public face."""
    if inspect.getattr_static(type(self), name, None) is not None:  # a property or a slot that raises: its own error
        return object.__getattribute__(self, name)
    raise MissingAttributeError(self, name)


def _no_item(self: Any, key: Any) -> Any:
    """`__getitem__` of classes of `ITEMS`."""
    serves = next(ITEMS[cls.__name__] for cls in type(self).__mro__ if cls.__name__ in ITEMS)
    raise InputError(f"a {type(self).__name__} has no item {key!r}; {serves}")


def _set(self: Any, name: str, value: Any) -> None:
    """`__setattr__` of classes of `SETTING`."""
    ways = next(SETTING[cls.__name__] for cls in type(self).__mro__ if cls.__name__ in SETTING)
    if name in ways:
        raise InputError(f"{name} of a {type(self).__name__} cannot be set; {ways[name]}")
    object.__setattr__(self, name, value)


class CheckedCalls(type):
    """The type of classes of the public face: their instances are made, and their public methods called, with checked arguments,
    and attributes that they lack are reported with what may have been meant.

    Methods of a user's own subclasses stay as they are: they may be compiled.
    """

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        if namespace.get("__module__", "").startswith("nexdyn."):
            namespace = {
                key: value if key.startswith("_") else checked_method(value) for key, value in namespace.items()
            }
            if not any("__getattr__" in vars(cls) for base in bases for cls in base.__mro__):
                namespace.setdefault("__getattr__", _missing)
            if name in ITEMS:
                namespace |= {"__getitem__": _no_item, "__iter__": None}
            if name in SETTING:
                namespace["__setattr__"] = _set
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

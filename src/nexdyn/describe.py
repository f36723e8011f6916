"""A System as plain data, and back: what a scene file says and what a result file carries along.

    name: text                              gravity: [x, y, z]
    parameters: {NAME: quantity}            bodies, markers, contacts, gravities: {NAME: {attribute: value}}
    joints, couplings, drivers, forces, measures: {NAME: {type: KIND, attribute: value}}

A section holds its elements by name, in order; the attributes are the arguments of the element's class, read from its
signature, so that a new joint, force or measure needs no line here. Attributes that equal their default are left out.
A value is null, true or false, a number, text, a list of values, or {type: KIND, field: value} for a shape (in
`shapes` and `collision`), a `curve`, a `surface` and a function of time; `mimic` is {joint: NAME, ...}, `priority` may be
{EQUATION: number}, `terms` of a coupling {JOINT: coefficient}, `material_a` and
`material_b` of a contact {name: …, young: …, poisson: …}. Expressions are text that starts with "=".

    from_dict(to_dict(system)) describes the same system.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from nexdyn.checked_calls import MEANT, signature_of
from nexdyn.errors import InputError, UnknownNameError, unknown, warn
from nexdyn.forces import FORCES, Contact, Gravity
from nexdyn.joints import JOINTS
from nexdyn.model.body import Body
from nexdyn.model.coupling import COUPLINGS
from nexdyn.model.curves import Curve
from nexdyn.model.driver import DRIVERS
from nexdyn.model.element import Element
from nexdyn.model.event import Event
from nexdyn.model.expressions import Expression, as_expression
from nexdyn.model.functions import Function
from nexdyn.model.joint import Joint, Mimic
from nexdyn.model.marker import Marker
from nexdyn.model.materials import Material
from nexdyn.model.measure import MEASURES
from nexdyn.model.parameters import evaluate, frozen
from nexdyn.model.shapes import Shape
from nexdyn.model.surfaces import Surface
from nexdyn.model.system import System

Path = tuple[str | int, ...]
"""Where in the data: section, name of the element, attribute, index, ..."""

OnError = Callable[[Path, InputError], None]


class Argument(NamedTuple):
    """An argument of a class: its default (`inspect.Parameter.empty` where it must be given) and its annotation."""

    default: Any
    annotation: Any

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


_ARGUMENTS: dict[type, dict[str, Argument]] = {}


def arguments(cls: type) -> Mapping[str, Argument]:
    """The arguments that make an object of `cls`, the name of an element left out; **options are those of its base."""
    if cls in _ARGUMENTS:
        return _ARGUMENTS[cls]
    found = _ARGUMENTS[cls] = {
        p.name: Argument(frozen(p.default), p.annotation)
        for p in signature_of(cls).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    if issubclass(cls, Element):
        found.pop("name", None)
    return found


def _takes_python(cls: type) -> bool:
    """Whether an object of `cls` needs a Python function, which no data can hold."""
    return any(argument.required and "Callable" in str(argument.annotation) for argument in arguments(cls).values())


_PYTHON_ONLY: set[str] = set()
"""Types that take Python functions, which data cannot hold."""


def _writable(classes: Mapping[str, type]) -> dict[str, type]:
    """The classes of a family that data can describe; the others are remembered."""
    _PYTHON_ONLY.update(kind for kind, cls in classes.items() if _takes_python(cls))
    return {kind: cls for kind, cls in classes.items() if kind not in _PYTHON_ONLY}


def _family(base: type) -> dict[str, type]:
    """The public classes beside `base` that derive from it, by their names in data: StepChange is step_change."""
    found: dict[str, type] = {}
    for name, cls in vars(sys.modules[base.__module__]).items():
        if inspect.isclass(cls) and issubclass(cls, base) and cls is not base and name[0] != "_":
            found[re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()] = cls
    return _writable(found)


SHAPES = _family(Shape)
FUNCTIONS = _family(Function)
CURVES, SURFACES = _family(Curve), _family(Surface)
SECTIONS: dict[str, tuple[str, Mapping[str, type] | type]] = {
    "bodies": ("body", Body),
    "joints": ("joint", _writable(JOINTS)),
    "couplings": ("coupling", COUPLINGS),
    "markers": ("marker", Marker),
    "drivers": ("driver", DRIVERS),
    "measures": ("measure", MEASURES),
    "forces": ("force", _writable(FORCES)),
    "contacts": ("contact", Contact),
    "gravities": ("gravity", Gravity),
    "events": ("event", Event),
}
"""Section: kind of element, and its class or its classes by type. Later sections refer to earlier ones."""

KEYS = ("name", "gravity", "parameters", *SECTIONS)
_KINDS = [kind for kind, _ in SECTIONS.values()]
_ALL = "*"
"""In place of a name: every element of a kind failed."""

_OBJECTS: dict[Any, str] = {
    cls: kind for kind, cls in (*SHAPES.items(), *FUNCTIONS.items(), *CURVES.items(), *SURFACES.items())
}
_STORED_AS = {"of": "b", "seen_from": "a"}
"""Arguments of measures that are kept under another name."""
_CHECKED_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "text"),
    "str | None": ((str, type(None)), "text"),
    "bool": (bool, "true or false"),
}
"""What the annotation of an argument says about values that a constructor takes on trust."""


# --- a system to data -----------------------------------------------------------------------------------------------


def to_dict(system: System, *, lossy: bool = False) -> dict[str, Any]:
    """The system as plain data (dict, list, str, float, int, bool, None), expressions as "=…" text.

    Ready for JSON, where an infinite limit becomes Infinity, which Python's reader takes back.

    Raises InputError for a force that is a Python function, or an element of a class of your own. With `lossy` such
    joints, drivers, forces, measures and contacts are left out, and events that name them, with a NexDynWarning that names all, and numbers
    stand for what is too long.
    """
    values = system.values if lossy else None
    data: dict[str, Any] = {"name": system.name, "gravity": _plain(system.given_gravity, "gravity", values)}
    parameters = {name: _plain(p.value, f"parameter {name!r}", values) for name, p in system.parameters.items()}
    if parameters:
        data["parameters"] = parameters
    left_out: list[str] = []
    unnamed: set[str] = set()
    for section, (kind, classes) in SECTIONS.items():
        described: dict[str, Any] = {}
        for name, element in getattr(system, section).items():
            if kind == "force" and element.part_of is not None:
                continue
            try:
                if kind == "event" and (lacks := unnamed & _named_by(element)):
                    raise InputError(f"{element} names {', '.join(sorted(lacks))}, which cannot be written")
                described[name] = _described(element, classes, values)
            except InputError:
                if not lossy or kind not in ("joint", "driver", "force", "measure", "contact", "gravity", "event"):
                    raise
                left_out.append(str(element))
                unnamed |= {name} if kind in ("joint", "force", "measure", "contact", "gravity") else set()
        if described:
            data[section] = described
    for joint in system.joints.values():
        if str(joint) in left_out and system.contacts:
            _keep_apart(data, joint)
    if left_out:
        warn(
            f"the description of {system.name!r} leaves out what is written in Python: {', '.join(left_out)}",
        )
    return data


def _named_by(event: Event) -> set[str]:
    """The names of joints, forces, contacts and measures that an event has."""
    given = [event.measure, event.joint, event.contact]
    switched = [name for part in (event.off, event.on) if part for name in ([part] if isinstance(part, str) else part)]
    return {str(name) for name in (*given, *switched) if name is not None}


def _keep_apart(data: dict[str, Any], joint: Joint) -> None:
    """Say in the description that the bodies of a joint which it leaves out do not touch: patterns of contacts would choose them."""
    for body, other in ((joint.child, joint.parent), (joint.parent, joint.child)):
        if not body.is_ground and not (other.is_ground and joint.kind != "fixed"):
            described = data["bodies"][body.name]
            described["no_collision"] = [*described.get("no_collision", ()), other.name]
            return


def _described(
    element: Element, classes: Mapping[str, type] | type, values: Mapping[str, float] | None
) -> dict[str, Any]:
    """The attributes of an element that differ from their defaults."""
    cls = type(element)
    data: dict[str, Any] = {}
    if isinstance(classes, Mapping):
        kind = getattr(cls, "kind", "")
        if classes.get(kind) is not cls:
            raise InputError(f"{element} is a {cls.__name__}, which cannot be written; {', '.join(classes)} can")
        data["type"] = kind
    for name, argument in arguments(cls).items():
        value = getattr(element, name if hasattr(element, name) else _STORED_AS.get(name, name))
        if isinstance(value, Element):
            value = value.name
        if argument.required or not _same(value, argument.default):
            data[name] = _plain(value, f"{name} of {element}", values)
    return data


def _plain(value: Any, what: str, values: Mapping[str, float] | None) -> Any:
    """A value of an attribute as plain data; with parameter `values`, an expression may become a number."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [_plain(item, what, values) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item, f"{key} in {what}", values) for key, item in value.items()}
    if isinstance(value, Expression):
        text = f"={value}"
        try:
            as_expression(text)
        except InputError as error:
            if values is not None and not value.has_time:
                return evaluate(value, values)
            raise InputError(f"{what} cannot be written: {error}") from None
        return text
    if type(value) in _OBJECTS or isinstance(value, Mimic | Material):
        given = ((item.name, getattr(value, item.name)) for item in fields(value))
        defaults = arguments(type(value))
        data = {
            name: _plain(x, f"{name} in {what}", values) for name, x in given if not _same(x, defaults[name].default)
        }
        if isinstance(value, Material) and isinstance(value.friction, tuple):
            data["friction"] = {name: _plain(x, f"friction in {what}", values) for name, x in value.friction}
        return data if isinstance(value, Mimic | Material) else {"type": _OBJECTS[type(value)], **data}
    raise InputError(f"{what} is a {type(value).__name__}, which cannot be written; numbers, texts, expressions can")


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, bool) is isinstance(default, bool) and bool(value == default))


# --- data to a system -----------------------------------------------------------------------------------------------


def from_dict(data: Mapping[str, Any], on_error: OnError | None = None) -> System:
    """The system that plain data describes, built and checked as from Python.

    on_error: called as ``on_error(path, error)`` for everything that is wrong; what can be built is built, and what
        only fails because something before it failed is passed over. None: the first InputError is raised.
    """
    return Builder(on_error).system(data)


CHOSEN_FROM = ("body", "joint", "marker")
"""Kinds of elements without which contacts and gravities may choose others by their patterns, or none."""


class Builder:
    """One run of `from_dict`: what failed so far, and where errors go."""

    def __init__(self, on_error: OnError | None) -> None:
        self.on_error = on_error
        self.failed: set[tuple[str, str]] = set()
        """(kind, repr of the name) of what could not be built."""

    def report(self, path: Path, error: InputError) -> None:
        if self.on_error is None:
            raise error
        self.on_error(path, error)

    def system(self, data: Mapping[str, Any], what: str = "a description", more_keys: tuple[str, ...] = ()) -> System:
        """The system; `more_keys` are valid too, and belong to the caller."""
        if not isinstance(data, Mapping):
            raise InputError(f"{what} is {shown(data)}; a mapping with {', '.join(KEYS)} is needed")
        if not self.check_keys((), data, (*KEYS, *more_keys), what):
            misnamed = (name for key in data if key not in KEYS for name in _keys(data[key]))
            self.failed |= {(kind, repr(name)) for name in misnamed for kind in ("parameter", *_KINDS)}
        system = self.empty_system(data)
        for name, value in self.section(data, "parameters"):
            self.attempt(("parameters", name), {}, "parameter", name, functools.partial(system.parameter, name, value))
        if "gravity" in data:
            system = self.with_gravity(system, data["gravity"])
        for section, (kind, classes) in SECTIONS.items():
            add = getattr(system, f"add_{kind}")
            for name, given in self.section(data, section):
                path = (section, name)
                built = self.arguments_of(path, kind, name, given, classes)
                if built is None:
                    self.failed.add((kind, repr(name)))
                    continue
                self.attempt(path, given or {}, kind, name, functools.partial(_add, add, name, *built))
        self.check_whole(system)
        return system

    def empty_system(self, data: Mapping[str, Any]) -> System:
        try:
            return System(data.get("name", "system"))
        except InputError as error:
            self.report(("name",), error)
            return System()

    def with_gravity(self, system: System, gravity: Any) -> System:
        try:
            return system.with_parameters({"gravity": gravity})
        except InputError as error:
            if not self.is_consequence(error):
                self.report(place_of(error, {"gravity": gravity}) or ("gravity",), error)
            return system

    def check_whole(self, system: System) -> None:
        try:
            system.check()
        except InputError as error:
            if not self.is_consequence(error):
                joint = next((name for name in system.joints if str(error).startswith(f"joint {name!r}")), None)
                body = next((name for name in system.bodies if str(error).startswith(f"body {name!r}")), None)
                at: Path = ("joints",) if joint is None else ("joints", joint, "mimic")
                self.report(at if body is None else ("bodies", body, "no_collision"), error)

    # --- the parts ----------------------------------------------------------------------------------------------

    def section(self, data: Mapping[str, Any], section: str) -> Iterator[tuple[str, Any]]:
        """Name and value of everything in a section."""
        content = data.get(section)
        if content is None:
            return
        if not isinstance(content, Mapping):
            self.failed.add((SECTIONS[section][0] if section in SECTIONS else "parameter", _ALL))
            self.report(
                (section,), InputError(f"{section} is {shown(content)}; a mapping by name, like {{NAME: …}}, is needed")
            )
            return
        yield from content.items()

    def attempt(self, path: Path, given: Mapping[str, Any], kind: str, name: str, build: Callable[[], object]) -> None:
        """Build and add; what is refused is reported where it stands."""
        try:
            _refusing(f"{kind} {name!r}", build)
        except InputError as error:
            chosen_from = kind in ("contact", "gravity") and any(what in CHOSEN_FROM for what, _ in self.failed)
            if not self.is_consequence(error) and not chosen_from:
                self.report(path + place_of(error, given), error)
            self.failed.add((kind, repr(name)))

    def is_consequence(self, error: InputError) -> bool:
        """Whether an error is about a name whose element failed before."""
        if not self.failed or not isinstance(error, UnknownNameError):
            return False
        missing = _missing(error)
        return missing is not None and any(
            (kind, name) in self.failed for kind in missing[0] for name in (missing[1], _ALL)
        )

    def arguments_of(
        self, path: Path, kind: str, name: str, given: Any, classes: Mapping[str, type] | type
    ) -> tuple[type, dict[str, Any]] | None:
        """The class of an element and its arguments, or None where something was reported."""
        what = f"{kind} {name!r}"
        if given is not None and not isinstance(given, Mapping):
            self.report(path, InputError(f"{what} is {shown(given)}; a mapping of its attributes is needed"))
            return None
        return self.object_of(path, what, dict(given or {}), classes, f"{kind} type")

    def object_of(
        self, path: Path, what: str, given: dict[str, Any], classes: Mapping[str, type] | type, type_of: str
    ) -> tuple[type, dict[str, Any]] | None:
        """The class that `type` says and its arguments, or None where something was reported."""
        if isinstance(classes, Mapping):
            if "type" not in given:
                self.report(path, InputError(f"{what} has no type; valid: {', '.join(classes)}"))
                return None
            kind = given.pop("type")
            if isinstance(kind, str) and kind in _PYTHON_ONLY:
                message = f"{what}: type {kind} is written in Python, which no file holds; add it to the loaded system"
                self.report((*path, "type"), InputError(message))
                return None
            if not isinstance(kind, str) or kind not in classes:
                self.report((*path, "type"), _within(what, _unknown_type(type_of, kind, classes)))
                return None
            cls = classes[kind]
            what = f"{kind} {what}" if type_of.startswith("joint") else what
        else:
            cls = classes
        known = arguments(cls)
        fine = self.check_keys(path, given, known, what)
        missing = [key for key, argument in known.items() if argument.required and key not in given]
        if missing:
            keys = ", ".join(missing)
            needed = ", ".join(key for key, argument in known.items() if argument.required)
            self.report(path, InputError(f"{what} lacks {keys}; it needs {needed}"))
            fine = False
        values: dict[str, Any] = {}
        for key, value in given.items():
            if key in known:
                fine &= self.check_type((*path, key), what, key, value, known[key])
                values[key], good = self.value((*path, key), key, value)
                fine &= good
        return (cls, values) if fine else None

    def value(self, path: Path, key: str, value: Any) -> tuple[Any, bool]:
        """A value with objects in place of mappings, and whether all was well."""
        if isinstance(value, list | tuple):
            for item in value:
                if isinstance(item, list | tuple | Mapping):
                    break
            else:
                return value, True
            items = [self.value((*path, i), key, item) for i, item in enumerate(value)]
            return [item for item, _ in items], all(good for _, good in items)
        if not isinstance(value, Mapping):
            return value, True
        if key in ("priority", "terms", "parameters") or (key == "friction" and "type" not in value):
            return dict(value), True
        if key == "mimic":
            built = self.object_of(path, "mimic", dict(value), Mimic, "")
        elif key in ("shapes", "collision"):
            built = self.object_of(path, f"the {value.get('type', 'shape')}", dict(value), SHAPES, "shape type")
        elif key in ("material_a", "material_b"):
            built = self.object_of(path, "the material", dict(value), Material, "")
        elif key in ("curve", "surface"):
            classes = CURVES if key == "curve" else SURFACES
            built = self.object_of(path, f"the {key}", dict(value), classes, f"{key} type")
        else:
            label = f"the function {value['type']}" if isinstance(value.get("type"), str) else f"the function in {key}"
            built = self.object_of(path, label, dict(value), FUNCTIONS, "function type")
        if built is None:
            return None, False
        cls, values = built
        try:
            return _refusing(key, functools.partial(cls, **values)), True
        except InputError as error:
            self.report(path + place_of(error, value), error)
            return None, False

    def check_keys(self, path: Path, given: Mapping[str, Any], known: Any, what: str) -> bool:
        """Report keys that mean nothing."""
        fine = True
        for key in given:
            if key not in known:
                self.report((*path, key), unknown_key(key, what, known))
                fine = False
        return fine

    def check_type(self, path: Path, what: str, key: str, value: Any, argument: Argument) -> bool:
        """Report text, true and false that are something else."""
        types, needed = _CHECKED_TYPES.get(argument.annotation, (object, ""))
        if isinstance(value, types):
            return True
        hint = f"; write '{shown(value)}' in quotes" if needed == "text" and not isinstance(value, list | dict) else ""
        self.report(path, InputError(f"{key} of {what} is {shown(value)}; {needed} is needed{hint}"))
        return False


def _refusing(what: str, build: Callable[[], Any]) -> Any:
    """What `build` makes; values that its code trips over are bad input, whatever it raises."""
    try:
        return build()
    except InputError:
        raise
    except (TypeError, ValueError, ArithmeticError, AttributeError, LookupError) as error:
        raise InputError(f"{what} cannot be made of these values: {error}") from error


def _add(add: Callable[[Any], object], name: str, cls: type, values: dict[str, Any]) -> None:
    add(cls(name, **values))


# --- messages -------------------------------------------------------------------------------------------------------

_MISSING = re.compile(r"\bno (marker or body|force or contact|\w+) ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_WORDS = re.compile(r"(?<![\w'\"])\w+(?![\w'\"])")
_INDEX = re.compile(r"\[(\d+)\]")


def unknown_key(key: object, what: str, known: Any) -> InputError:
    """The error for a key that `what` does not have, with the nearest one and the list of them."""
    meant = MEANT.get(key, ()) if isinstance(key, str) else ()
    near = next((name for name in meant if name in known), None)
    if near is not None:
        return InputError(f"unknown key {key!r} in {what}; did you mean {near!r}? valid: {', '.join(known)}")
    if "method" in known and {key, *meant} & {"dt", "rtol", "atol"}:
        name = next(name for name in (key, *meant) if name in ("dt", "rtol", "atol"))
        example = {"dt": "rk4, dt: 1.0e-3", "rtol": "dopri5, rtol: 1.0e-8", "atol": "dopri5, atol: 1.0e-10"}[name]
        return InputError(f"unknown key {key!r} in {what}; it belongs to the method: write method: {{type: {example}}}")
    text = str(unknown("key", key, known, plural="valid"))
    text = text.replace(f"no key {key!r}", f"unknown key {key!r} in {what}", 1)
    if isinstance(key, str) and ":" in key and key.partition(":")[0] in known:
        text += f"; write {key.replace(':', ': ', 1)!r}, with a space after the colon"
    return InputError(text)


def _unknown_type(type_of: str, kind: object, classes: Iterable[str]) -> InputError:
    """The error for a type that there is not; of a joint or a force it may be a page of one's own."""
    error = unknown(type_of, kind, classes)
    own = (
        "; a page of your own is registered first: nx.register(page)" if type_of in ("joint type", "force type") else ""
    )
    return type(error)(f"{error}{own}")


def _within(what: str, error: InputError) -> InputError:
    return type(error)(f"{what}: {error}")


def _missing(error: InputError) -> tuple[list[str], str] | None:
    """The kinds and the quoted name that an error says is missing."""
    match = _MISSING.search(str(error))
    return None if match is None else (match[1].split(" or "), match[2])


def place_of(error: InputError, given: Mapping[str, Any]) -> Path:
    """Where among the attributes `given` an error is: at the name it misses, or at the first attribute it names."""
    missing = _missing(error)
    if missing is not None:
        name = missing[1][1:-1]
        for path, value in _leaves(given):
            if isinstance(value, str) and (
                value.rpartition(":")[2] == name or (value[:1] == "=" and name in re.findall(r"\w+", value))
            ):
                return path
    keys: dict[str, tuple[Path, Any]] = {}
    for path, value in _mappings(given):
        for key in value:
            keys.setdefault(key, ((*path, key), value[key]))
    for word in _WORDS.finditer(str(error)):
        if word[0] in keys:
            path, value = keys[word[0]]
            index = _INDEX.search(str(error), word.end())
            if index and isinstance(value, list | tuple) and int(index[1]) < len(value):
                return (*path, int(index[1]))
            return path
    return ()


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Path and value of everything that is neither list nor mapping."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    if not isinstance(value, Mapping | list | tuple):
        yield path, value
    for key, item in items:
        yield from _leaves(item, (*path, key))


def _keys(value: Any) -> Iterable[str]:
    return value if isinstance(value, Mapping) else ()


def _mappings(value: Any, path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The mapping itself and those inside it, with their paths."""
    if isinstance(value, Mapping):
        yield path, value
        for key, item in value.items():
            yield from _mappings(item, (*path, key))
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from _mappings(item, (*path, i))


def shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = "empty" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"

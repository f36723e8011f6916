"""What body, joint, force, marker and measure share: a name, attributes that hold quantities, and a check.

An element may be changed until it is added to a system; there it is checked and fixed, and
``system.with_parameters({"link1.mass": 3.0})`` makes a changed system instead.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from nexdyn.checked_calls import CheckedCalls, unknown_argument
from nexdyn.errors import InputError, UnknownNameError, unknown
from nexdyn.model.parameters import floats, frozen, has_nan, names_in, number

_NONE: frozenset[str] = frozenset()
_PLAIN = {float, int, str, bool, type(None)}


class Element(metaclass=CheckedCalls):
    """Base of all that a system holds by name.

    Subclasses set public attributes in __init__ (lists and arrays become tuples), name in `structural` those that
    `with_parameters` must not touch, and override `check(values)`, which raises InputError naming the element.
    """

    kind_of_element: ClassVar[str] = "element"
    structural: ClassVar[frozenset[str]] = frozenset({"name"})
    name: str
    not_finite: ClassVar[str] = "gives a value that is not finite"
    """What it does, in words, where what kernels compute of it is not finite."""
    _owner: str | None = None
    _names: frozenset[str] = _NONE

    def __init__(self, name: str) -> None:
        self.__dict__["name"] = checked_name(name, self.kind_of_element)

    def __setattr__(self, attribute: str, value: Any) -> None:
        if self._owner is not None and not attribute.startswith("_"):
            raise InputError(
                f"{self} is part of system {self._owner!r} and fixed there; "
                f"system.with_parameters({{'{self.name}.{attribute}': …}}) makes a changed system"
            )
        self.__dict__[attribute] = frozen(value)

    @property
    def owner(self) -> str | None:
        """The name of the system that it is part of, which fixes it."""
        return self._owner

    def belong_to(self, owner: str | None) -> None:
        """Be part of a system; of none again, where it was not taken."""
        self._owner = owner

    @property
    def depends_on(self) -> frozenset[str]:
        """The parameters that it uses, as `note_parameters` found them."""
        return self._names

    def note_parameters(self, values: Mapping[str, float]) -> None:
        """See which parameters it uses; errors as of `parameter_names`."""
        self._names = self.parameter_names(values)

    def _store(self, **attributes: Any) -> None:
        """Set attributes, as one by one."""
        mine = self.__dict__
        for attribute, value in attributes.items():
            mine[attribute] = value if type(value) in _PLAIN else frozen(value)

    def __str__(self) -> str:
        return f"{self.kind_of_element} {self.name!r}"

    def check(self, values: Mapping[str, float]) -> None:
        """Raise InputError, naming this element, if it is not valid under the parameter `values`."""

    def failing_at(self, time: float) -> str:
        """What of it is not valid at `time` [s] or soon after, in words that go on from its name; "" where that is not known."""
        return ""

    def settable(self) -> list[str]:
        """The attributes that `with_parameters` may change."""
        return [name for name in self.__dict__ if name[0] != "_" and name not in self.structural]

    def parameter_names(self, values: Mapping[str, float]) -> frozenset[str]:
        """The parameters that this element uses; NaN or an expression with an unknown name raises InputError."""
        names = _NONE
        for attribute, value in self.__dict__.items():
            if value is None or (type(value) is float and value == value) or _is_plain(value):
                continue
            if has_nan(value):
                raise InputError(f"{attribute} of {self} is nan; a number is needed")
            try:
                found = names_in(value)
            except InputError as error:
                raise InputError(f"{attribute} of {self}: {error}") from None
            if found:
                for name in sorted(found.difference(values)):
                    raise UnknownNameError(f"{attribute} of {self}: {unknown('parameter', name, values)}")
                names |= found
        return names

    def number_of(self, attribute: str, values: Mapping[str, float]) -> float:
        """An attribute as a finite float; InputError names it and the element."""
        x = self.__dict__[attribute]
        if type(x) is float and -math.inf < x < math.inf:
            return x
        return number(x, values, f"{attribute} of {self}")

    def floats_of(self, attribute: str, n: int, values: Mapping[str, float]) -> tuple[float, ...]:
        """An attribute as `n` finite floats; InputError names it, the component and the element."""
        x = self.__dict__[attribute]
        if type(x) is tuple and len(x) == n:
            for item in x:
                if type(item) is not float or not -math.inf < item < math.inf:
                    break
            else:
                return x
        return floats(x, n, values, f"{attribute} of {self}")

    def copied(self, **changes: Any) -> Self:
        """A free copy with other attribute values; not checked yet. InputError for an attribute that there is none of."""
        own = [name for name in self.__dict__ if name[0] != "_"]
        for name in changes:
            if name[0] != "_" and name not in own:
                raise unknown_argument(f"{type(self).__name__}.copied", name, own)
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _owner=None)
        twin.__dict__.update({name: frozen(value) for name, value in changes.items()})
        return twin


def _is_plain(value: Any) -> bool:
    """Whether a value is quickly seen to hold neither a NaN nor an expression."""
    kind = type(value)
    if kind is tuple:
        return all(type(item) is float and item == item for item in value)
    if kind is str:
        return bool(value[:1] != "=")
    return isinstance(value, Element) or (kind in _PLAIN and value == value)


def checked_name(name: object, kind: str) -> str:
    """A name: text that is not blank and can be printed in one line; letters with accents in their composed form (NFC), so
    that names which look alike are the same."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or name[0] == "=":
        raise InputError(f"{name!r} cannot name a {kind}; a name is text in one line, not blank, not starting with =")
    return composed(name)


def composed(name: str) -> str:
    """A name in Unicode's composed form (NFC)."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def name_of(element: Element | str) -> str:
    """The name of an element given by itself or by its name."""
    if isinstance(element, Element):
        return element.name
    if isinstance(element, str):
        return composed(element)
    raise InputError(f"{element!r} is neither an element of the system nor the name of one")

"""What one element makes many forces of: contacts between bodies, gravity on bodies, all that names and patterns choose."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar

from nexdyn.errors import InputError, unknown
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force
from nexdyn.model.joint import Joint

if TYPE_CHECKING:
    from nexdyn.model.system import System


class Group(Element):
    """Base of elements that consist of forces, which are chosen anew with every body, joint and marker that is added and that it names."""

    choosers: ClassVar[tuple[str, ...]] = ()
    """The attributes that are names of bodies and patterns."""

    def concerns(self, added: Element) -> bool:
        """Whether what it consists of may be another with what is added: a body or a marker by its name, a joint by its two bodies."""
        if isinstance(added, Joint):
            return self._may_choose(name_of(added.parent)) and self._may_choose(name_of(added.child))
        return added.kind_of_element in ("body", "marker") and self._may_choose(added.name)

    def _may_choose(self, body: str) -> bool:
        """Whether one of its names or patterns is that of a body."""
        for attribute in self.choosers:
            given = self.__dict__[attribute]
            for pattern in (given,) if isinstance(given, str) else given:
                if body == pattern or fnmatchcase(body, pattern):
                    return True
        return False

    def members(self, system: System) -> list[Force]:
        """The forces that it consists of."""
        raise NotImplementedError

    def _names_and_patterns(self, what: str, given: Any) -> str | tuple[str, ...]:
        """Names and patterns; one alone as it is."""
        if isinstance(given, str | Element):
            return name_of(given)
        several = tuple(name_of(x) for x in given) if isinstance(given, Sequence) else ()
        if not several:
            raise InputError(
                f"{what} of {self} is {given!r}; a body, its name, a pattern like '*_foot', or several are needed"
            )
        return several

    def _matched(self, system: System, what: str, names: Sequence[str]) -> tuple[set[str], list[str]]:
        """Of `names` of bodies, those given in full, and all that are chosen: patterns choose none but bodies of the system."""
        given = self.__dict__[what]
        named, found = set(), dict[str, None]()
        for pattern in (given,) if isinstance(given, str) else given:
            if pattern in names:
                named.add(pattern)
                found[pattern] = None
                continue
            matches = [name for name in system.bodies if fnmatchcase(name, pattern)]
            if not matches:
                if set(pattern) & set("*?["):
                    told = f"{', '.join(names[:8])}{', …' if len(names) > 8 else ''}"
                    raise InputError(f"{what} of {self}: {pattern!r} matches no body; bodies: {told}")
                raise type(error := unknown("body", pattern, names))(f"{what} of {self}: {error}")
            found |= dict.fromkeys(matches)
        return named, list(found)

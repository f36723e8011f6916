"""Pairs of bodies chosen by names and patterns, for elements that act between many bodies."""

from __future__ import annotations

from collections.abc import Container
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar

from nexdyn.errors import InputError
from nexdyn.model.body import Body
from nexdyn.model.group import Group

if TYPE_CHECKING:
    from nexdyn.model.system import System


class BetweenBodies(Group):
    """Forces between pairs of a body of `a` and a body of `b`.

    a, b: a body or its name, 'ground' among them, or a pattern of names ("*_foot"), which the ground matches never, or several of these.
    Each pair counts once. Pairs
    that a joint joins are left out, with the ground only where it is Fixed, and those that `no_collision` of one of them names; not
    so where both bodies are named in full.
    """

    kind_of_element = "contact"
    structural: ClassVar[frozenset[str]] = frozenset({"name", "a", "b"})
    choosers = ("a", "b")
    a: Any
    b: Any

    def __init__(self, name: str, a: Any, b: Any) -> None:
        super().__init__(name)
        self._store(a=self._names_and_patterns("a", a), b=self._names_and_patterns("b", b))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.a!r}, {self.b!r})"

    def pairs(self, system: System) -> list[tuple[Body, Body]]:
        """The pairs of bodies. UnknownNameError for a name, InputError for a pattern, that matches no body, and for no pair."""
        (named_a, chosen_a), (named_b, chosen_b) = self._chosen(system, "a"), self._chosen(system, "b")
        apart, seen, pairs = kept_apart(system), set(), []
        for a in chosen_a:
            for b in chosen_b:
                pair = frozenset((a, b))
                if a == b or pair in seen:
                    continue
                seen.add(pair)
                named = (a in named_a and b in named_b) or (a in named_b and b in named_a)
                if named or pair not in apart:
                    pairs.append((system.body(a), system.body(b)))
        if pairs:
            return pairs
        if not seen:
            raise InputError(f"a and b of {self} are the same body, {chosen_a[0]!r}; two are needed")
        raise InputError(
            f"{self} chooses no pair of bodies: joints or no_collision keep apart all that its patterns match; "
            "name both bodies in full for a pair of them"
        )

    def _chosen(self, system: System, side: str) -> tuple[set[str], list[str]]:
        """Names given in full, and all that are chosen, of one side."""
        return self._matched(system, side, ["ground", *system.bodies])


def kept_apart(system: System, named: Container[frozenset[str]] = ()) -> set[frozenset[str]]:
    """Pairs of bodies that are not tested for contact: that a joint, but no clamp, joins unless they are `named`, one with the ground only
    where it is Fixed, and that `no_collision` of one of them names."""
    pairs = {
        frozenset((joint.parent.name, joint.child.name))
        for joint in system.joints.values()
        if not joint.switchable and (joint.kind == "fixed" or not (joint.parent.is_ground or joint.child.is_ground))
    }
    pairs = {pair for pair in pairs if pair not in named}
    for body in system.bodies.values():
        for pattern in body.no_collision:
            pairs |= {
                frozenset((body.name, other))
                for other in ("ground", *system.bodies)
                if other != body.name and fnmatchcase(other, pattern)
            }
    return pairs

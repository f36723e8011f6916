"""The graph of a system as a forest of bodies: who hangs on whom, and in which order coordinates come.

Every body has one parent joint; a body without one is a root and floats (an implicit free joint to ground). Bodies and
their coordinates come depth first, children in the order in which they were added, floating roots before those on the
ground: so a parent's data is still near when its children need it, at 10⁵ bodies too. A mechanism that is described
branch by branch keeps its order.
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.errors import InputError
from nexdyn.model.body import Body
from nexdyn.model.joint import Joint
from nexdyn.model.system import System


class Arc(NamedTuple):
    """A body and the joint that carries it; `joint` is None for a floating root."""

    joint: Joint | None
    parent: int
    """Index of the parent among the arcs of the forest; −1 for ground."""
    child: Body
    name: str
    """The joint's name; that of an implicit free joint is its body's, or "BODY (free)" where a joint has that name."""


class Forest(NamedTuple):
    """Arcs depth first."""

    arcs: list[Arc]


def spanning_forest(system: System) -> Forest:
    """The forest of a system without loops.

    Raises InputError naming the joint that closes a loop or is a constraint only, or the body that two joints carry.
    """
    carriers: dict[str, Joint] = {}
    twice: tuple[Joint, Joint] | None = None
    for joint in system.joints.values():
        if not joint.tree:
            raise InputError(
                f"{joint} ({joint.kind}) is a constraint only, which minimal coordinates do not carry; absolute "
                f"coordinates do: nx.assemble"
            )
        name = joint.child.name
        if name in carriers:
            twice = twice or (carriers[name], joint)
        else:
            carriers[name] = joint
    _refuse_loops(system)
    if twice is not None:
        first, second = twice
        raise InputError(
            f"body {first.child.name!r} is the child of joints {first.name!r} and {second.name!r}; a body hangs on one "
            f"joint: swap parent and child of one of them"
        )

    children: dict[str, list[Body]] = {}
    for joint in system.joints.values():
        children.setdefault(joint.parent.name, []).append(joint.child)
    roots = [body for body in system.bodies.values() if body.name not in carriers]

    arcs: list[Arc] = []
    stack = [(body, -1) for body in reversed(roots + children.get("ground", []))]
    while stack:
        body, parent = stack.pop()
        stack += [(child, len(arcs)) for child in reversed(children.get(body.name, []))]
        carrier = carriers.get(body.name)
        free = body.name if body.name not in system.joints else f"{body.name} (free)"
        arcs.append(Arc(carrier, parent, body, carrier.name if carrier is not None else free))
    return Forest(arcs)


def _refuse_loops(system: System) -> None:
    """InputError at the first joint whose two bodies are connected already, with the bodies of the loop."""
    leader = {name: name for name in ["ground", *system.bodies]}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    neighbours: dict[str, list[str]] = {}
    for joint in system.joints.values():
        a, b = joint.parent.name, joint.child.name
        root_a, root_b = find(a), find(b)
        if root_a == root_b:
            path = " – ".join(_path(neighbours, a, b))
            raise InputError(
                f"joint {joint.name!r} closes the loop {path}; minimal coordinates carry trees only: "
                f"remove a joint of the loop (closed loops are not supported yet)"
            )
        leader[root_a] = root_b
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)


def _path(neighbours: dict[str, list[str]], a: str, b: str) -> list[str]:
    """Bodies from a to b."""
    came: dict[str, str] = {a: a}
    queue = [a]
    for name in queue:
        for other in neighbours.get(name, []):
            if other not in came:
                came[other] = name
                queue.append(other)
    path = [b]
    while path[-1] != a:
        path.append(came[path[-1]])
    return path[::-1]

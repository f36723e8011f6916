"""The graph of a system as a forest of bodies: who hangs on whom, and in which order coordinates come.

Every body has one parent joint; a body without one is a root and floats (an implicit free joint to ground). Bodies and
their coordinates come depth first, children in the order in which they were added, floating roots before those on the
ground: so a parent's data is still near when its children need it, at 10⁵ bodies too. A mechanism that is described
branch by branch keeps its order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Arcs depth first, and the joints that close loops: cut, or constraints only."""

    arcs: list[Arc]
    cuts: tuple[Joint, ...] = ()


def spanning_forest(system: System) -> Forest:
    """The forest of a system without loops.

    Raises InputError naming the joint that closes a loop or is a constraint only, or the body that two joints carry.
    """
    carriers: dict[str, Joint] = {}
    twice: tuple[Joint, Joint] | None = None
    for joint in system.joints.values():
        if not joint.tree:
            raise InputError(
                f"{joint} ({joint.kind}) is a constraint only, which minimal coordinates do not support; absolute "
                f"coordinates do: nx.assemble"
            )
        name = joint.carried.name
        if name in carriers:
            twice = twice or (carriers[name], joint)
        else:
            carriers[name] = joint
    _refuse_loops(system)
    if twice is not None:
        raise _carried_twice(*twice)
    return Forest(_depth_first(system, carriers))


def open_forest(system: System, cut: Sequence[str] | None = None) -> Forest:
    """The spanning forest of a system whose loops are cut open; without loops it is the system itself.

    cut: joints at which loops are opened. None: breadth first from the ground, a body hangs on the first joint that
    reaches it, so that the paths to a cut joint are about equally long.

    Of two joints that carry one body the later one is cut, also where they close no loop: what hangs on its other side
    then floats.

    Raises InputError for a choice of cuts that leaves a loop closed or opens none.
    """
    joints = list(system.joints.values())
    chosen = None if cut is None else {system.joint(name).name for name in cut}
    carriers = _carriers(system, [j for j in joints if j.tree and not (chosen and j.name in chosen)])
    cuts = tuple(joint for joint in joints if carriers.get(joint.carried.name) is not joint)
    closing = _closing(system, cuts)
    for joint in cuts:
        if chosen is not None and joint.tree and joint.name not in closing:
            first = carriers.get(joint.carried.name)
            if first is None:
                raise _opens_nothing(system, joint, [j for j in cuts if j.tree and j.name not in chosen], carriers)
            raise _carried_twice(first, joint)
        if chosen is not None and joint.tree and joint.name not in chosen:
            raise InputError(f"joint {joint.name!r} still closes a loop; cut it too, or another joint of its loop")
    return Forest(_depth_first(system, carriers), cuts)


def _opens_nothing(system: System, joint: Joint, others: list[Joint], carriers: Mapping[str, Joint]) -> InputError:
    """Why the body of a joint that is to be cut would hang on nothing: it is on no loop that is still closed, or joints on the
    other way round its loop point towards it; `others`: joints that would be cut without having been chosen."""
    if not others or joint.name not in _closing(system, (joint,)):
        return InputError(f"cutting joint {joint.name!r} opens no loop; leave it in the tree")
    end = others[0]
    carrier = carriers.get(end.carried.name)
    there = f"hangs on {carrier.name!r}" if carrier is not None else "starts a tree of its own"
    return InputError(
        f"cutting joint {joint.name!r} leaves body {joint.carried.name!r} hanging on nothing: the other way round the loop ends at "
        f"joint {end.name!r}, whose child {end.carried.name!r} {there}; swap parents and "
        f"children on that way, or cut another joint of the loop"
    )


def _carried_twice(first: Joint, second: Joint) -> InputError:
    return InputError(
        f"body {first.carried.name!r} is the child of joints {first.name!r} and {second.name!r}; a body hangs on one "
        f"joint: swap parent and child of one of them"
    )


def _depth_first(system: System, carriers: Mapping[str, Joint]) -> list[Arc]:
    children: dict[str, list[Body]] = {}
    for joint in system.joints.values():
        if carriers.get(joint.carried.name) is joint:
            children.setdefault(joint.carrier.name, []).append(joint.carried)
    roots = [body for body in system.bodies.values() if body.name not in carriers]
    arcs: list[Arc] = []
    stack = [(body, -1) for body in reversed(roots + children.get("ground", []))]
    while stack:
        body, parent = stack.pop()
        stack += [(child, len(arcs)) for child in reversed(children.get(body.name, []))]
        carrier = carriers.get(body.name)
        free = body.name if body.name not in system.joints else f"{body.name} (free)"
        arcs.append(Arc(carrier, parent, body, carrier.name if carrier is not None else free))
    return arcs


def _carriers(system: System, joints: list[Joint]) -> dict[str, Joint]:
    """The joint on which each body hangs, breadth first from the ground; bodies that none reaches start groups of their own."""
    outward: dict[str, list[Joint]] = {}
    carried = set()
    for joint in joints:
        outward.setdefault(joint.carrier.name, []).append(joint)
        carried.add(joint.carried.name)
    carriers: dict[str, Joint] = {}
    reached = {"ground"}
    roots = [name for name in system.bodies if name not in carried]
    for start in ("ground", *roots, *system.bodies):
        if start in reached and start != "ground":
            continue
        reached.add(start)
        queue = [start]
        for name in queue:
            for joint in outward.get(name, ()):
                if joint.carried.name not in reached:
                    reached.add(joint.carried.name)
                    carriers[joint.carried.name] = joint
                    queue.append(joint.carried.name)
    return carriers


class Connected:
    """Which bodies are connected, the ground among them, as joints are added one after another (union–find)."""

    def __init__(self, system: System) -> None:
        self._leader = {name: name for name in ["ground", *system.bodies]}

    def join(self, joint: Joint) -> bool:
        """Connect the bodies of a joint; whether they were not yet connected."""
        a, b = self._find(joint.parent.name), self._find(joint.child.name)
        self._leader[a] = b
        return a != b

    def _find(self, name: str) -> str:
        leader = self._leader
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name


def _closing(system: System, cuts: tuple[Joint, ...]) -> set[str]:
    """Those of `cuts` whose two bodies are connected without them."""
    left, connected = {joint.name for joint in cuts}, Connected(system)
    for joint in system.joints.values():
        if joint.name not in left:
            connected.join(joint)
    return {joint.name for joint in cuts if not connected.join(joint)}


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
                f"joint {joint.name!r} closes the loop {path}; a tree has none: "
                f"remove a joint of the loop, or take nx.ClosedTree, which cuts it open (nx.simulate supports loops as they are)"
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

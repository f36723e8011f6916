"""From body to body along joints, either way: where a body is the child of several joints, no spanning tree reaches them all."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.model.topology import Connected


def is_forest(system: System) -> bool:
    """Whether the joints of a system make no loops and each body hangs on one, whatever couplings and drivers it has."""
    return _hang_on_one(system) and without_loops(system)


def has_loose_ends(system: System) -> bool:
    """Whether a body is the child of several joints, which make no loop."""
    return not _hang_on_one(system) and without_loops(system)


def without_loops(system: System) -> bool:
    """Whether the joints of a system make no loops, and none is a constraint only."""
    connected = Connected(system)
    return all(joint.tree and connected.join(joint) for joint in system.joints.values())


def _hang_on_one(system: System) -> bool:
    children = [joint.carried.name for joint in system.joints.values()]
    return len(set(children)) == len(children)


def from_body_to_body(
    system: System, floating: Collection[str] = (), rather: Collection[str] = ()
) -> Iterator[tuple[Joint, bool]]:
    """Joints that reach a body, each with whether its child follows from its parent, else its parent from its child: from the ground,
    from bodies `floating`, which follow from none, and from one body of what is not joined to them, one of `rather` if there is."""
    joints_at: dict[str, list[Joint]] = {}
    for joint in system.joints.values():
        for body in (joint.parent.name, joint.child.name):
            joints_at.setdefault(body, []).append(joint)
    first = dict.fromkeys(("ground", *floating))
    reached = set(first)
    for root in (*first, *rather, *system.bodies):
        queue = [root] if root in first or root not in reached else []
        reached.add(root)
        for name in queue:
            for joint in joints_at.get(name, ()):
                outward = joint.parent.name == name
                other = joint.child.name if outward else joint.parent.name
                if other not in reached:
                    reached.add(other)
                    queue.append(other)
                    yield joint, outward

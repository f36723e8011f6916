"""What a system needs of a march, told from its description alone."""

from __future__ import annotations

from nexdyn.model.system import System


def needs_bodies(system: System, couplings: bool = True) -> bool:
    """Whether a system has what a tree alone does not carry: closed loops, drivers, joints that only constrain, couplings."""
    if system.drivers or (couplings and system.couplings):
        return True
    leader = {name: name for name in ["ground", *system.bodies]}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for joint in system.joints.values():
        a, b = find(joint.parent.name), find(joint.child.name)
        if not joint.tree or a == b:
            return True
        leader[a] = b
    children = [joint.child.name for joint in system.joints.values()]
    return len(set(children)) < len(children)

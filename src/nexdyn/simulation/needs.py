"""What a system needs of a march, told from its description alone."""

from __future__ import annotations

from nexdyn.model.system import System
from nexdyn.model.topology import Connected


def needs_bodies(system: System, couplings: bool = True) -> bool:
    """Whether a system has what a tree alone does not carry: closed loops, drivers, joints that only constrain, couplings."""
    if system.drivers or (couplings and system.couplings):
        return True
    connected = Connected(system)
    for joint in system.joints.values():
        if not joint.tree or not connected.join(joint):
            return True
    children = [joint.child.name for joint in system.joints.values()]
    return len(set(children)) < len(children)


def needs_rows(system: System) -> bool:
    """Whether a tree carries a system with constraint rows only: closed loops, drivers, joints that only constrain, and
    couplings of other than two joints of one degree of freedom each."""
    uncoupled = needs_bodies(system, couplings=False)
    return uncoupled or any(
        len(coupling.joints()) != 2 or any(system.joint(name).nv != 1 for name in coupling.joints())
        for coupling in system.couplings.values()
    )

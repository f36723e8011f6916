"""What is odd about the starts of members that march together: as a run alone says it (``assembly.notices``), of many at a glance.

Members of one tree are looked at together first: the numbers of joints with one freedom beside their limits, penetrations by one compiled
pass over all. Those that may be odd are then looked at one by one. The longest step that a contact bears is computed of each system, in the
pose of its member; of more than `MOST_JUDGED` members of as many, evenly chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nexdyn.assembly.notices import (
    MOVED,
    Notice,
    degrees_notices,
    described_notices,
    looked_at,
    notices_of_pose,
    pose_of,
)
from nexdyn.model.once import unchanged
from nexdyn.model.system import System
from nexdyn.results.contacts import contacts_of
from nexdyn.results.recording import Recording
from nexdyn.results.result import Result
from nexdyn.tree.tree import Tree

MOST_JUDGED = 64
"""Members of which the longest step is computed."""
TURN = 2.0 * np.pi


def notices_of_members(
    trees: Mapping[int, Tree] | Tree,
    method: Any,
    q: np.ndarray,
    members: np.ndarray,
    given: Callable[[int], Any] | None,
) -> dict[int, list[Notice]]:
    """{member: what is odd about its start} of `members` (k,), which start at q (all members, nq). trees: of each member, or of all.
    given: the q0 of a member, None where a run goes on from another."""
    one = trees if isinstance(trees, Tree) else None
    found: dict[int, list[Notice]] = {}
    if not len(members):
        return found
    judged = set(members[np.unique(np.linspace(0, len(members) - 1, MOST_JUDGED).astype(int))].tolist())
    odd = None if one is None else _maybe_odd(one, q[members])
    angles = given is not None and (one is None or _turns_given(one.system, q[members]))
    described = described_notices(one.system) if one is not None else []
    for k, m in enumerate(members.tolist()):
        tree = trees[m] if not isinstance(trees, Tree) else trees
        system = tree.system
        notices = [*(described if one is not None else described_notices(system))]
        if looked_at(system) and (odd is None or odd[k] or m in judged):
            with unchanged():
                notices += notices_of_pose(system, method, pose_of(tree.body_names, *tree.pose(q[m])), m in judged)
        if angles and given is not None:
            notices += degrees_notices(system, given(m))
        if notices:
            found[m] = notices
    return found


def _turns_given(system: System, q: np.ndarray) -> bool:
    """Whether any coordinate is beyond a turn, as one in degrees would be."""
    described = any(joint.q0 is not None for joint in system.joints.values())
    return bool(described or (np.abs(q) > TURN).any())


def _maybe_odd(tree: Tree, q: np.ndarray) -> np.ndarray:
    """Which of the starts q (k, nq) of one tree may be outside limits, or pressed in."""
    system, odd = tree.system, np.zeros(len(q), dtype=bool)
    for name, joint in system.joints.items():
        if joint.limits is None or not joint.nv:
            continue
        if joint.nv != 1 or joint.nq != 1 or name not in tree.coordinates:
            odd[:] = True
            continue
        limits = joint.resolved(system.values)
        turning = joint.directions[0][0] == "turn" and not joint.advances
        x = q[:, tree.coordinates[name].q]
        if turning:
            x = np.remainder(x + np.pi, TURN) - np.pi + TURN * np.arange(-1, 2)
        odd |= np.maximum(limits.lower[0] - x, x - limits.upper[0]).min(axis=1) > 0.5 * MOVED
    if any(not contact.is_off for contact in contacts_of(system)):
        none = np.zeros((len(q), tree.nv))
        seen = Result(system, Recording(np.zeros(len(q)), q, none, none), tree=tree).observed
        odd |= (seen.take("penetration") > 0.0).any(axis=1)
    return odd

"""Where the bodies of a system stand at the start, and the coordinates that pose it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from nexdyn.errors import InputError, NexDynError, SolveError, warn
from nexdyn.model.system import System
from nexdyn.simulation.quiet import quiet
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.dials import Dial, dials


def start_pose(system: System) -> tuple[np.ndarray, np.ndarray] | None:
    """R (nb, 3, 3) and p (nb, 3) [m] in the order of `system.bodies`, as a run would start; with closed loops as assembled.

    None where neither is found: then the described pose is all there is.
    """
    from nexdyn.tree.described import described_coordinates
    from nexdyn.tree.tree import Tree

    try:
        tree = Tree(system)
    except (InputError, SolveError):
        return _assembled(system)
    with quiet():
        R, p = tree.pose(described_coordinates(tree))
    order = [tree.body_names.index(name) for name in system.bodies]
    return R[order], p[order]


def _assembled(system: System) -> tuple[np.ndarray, np.ndarray] | None:
    from nexdyn.assembly.assemble import assemble

    try:
        with quiet():
            report = assemble(system)
    except NexDynError as error:
        warn(f"it cannot be assembled, shown as described: {error}")
        return None
    q = np.array([report.orientation(name) for name in system.bodies])
    return rotation_matrix(q), np.array([report.position(name) for name in system.bodies])


class Poser:
    """Poses a system by the coordinates of its joints. Loops stay closed: a joint is led to where it is asked for, the others follow."""

    def __init__(self, system: System) -> None:
        """InputError where the system has no minimal coordinates."""
        from nexdyn.tree.loops.closed import ClosedTree
        from nexdyn.tree.tree import Tree

        self._closed: ClosedTree | None = None
        try:
            self.tree = Tree(system)
        except (InputError, SolveError):
            self._closed = ClosedTree(system)
            self.tree = self._closed.tree
        self._order = [self.tree.body_names.index(name) for name in system.bodies]
        self._q: np.ndarray | None = None

    @property
    def follows(self) -> bool:
        """Whether joints follow when one is moved."""
        return self._closed is not None

    def start(self) -> np.ndarray:
        """The described coordinates (nq,); of loops, before they are closed."""
        from nexdyn.tree.described import described_coordinates

        with quiet():
            return np.asarray(described_coordinates(self.tree))

    def to(self, q: np.ndarray) -> np.ndarray:
        """The coordinates (nq,), with unit quaternions and loops closed. SolveError where they cannot be closed near them."""
        return np.asarray(self.tree.normalized(q) if self._closed is None else self._closed.close(q))

    def move(self, label: str, value: float) -> np.ndarray:
        """Coordinates (nq,) with one dial there, from the last ones. SolveError where loops do not let it, which changes nothing."""
        dial = next(dial for dial in self.dials if dial.label == label)
        place = self.tree.coordinates[dial.joint].q
        if self._closed is not None:
            with quiet():  # of gaps as described, which are closed
                if self._q is None:
                    self._q = np.asarray(self._closed.close())
                there = dial.put(self._q[place], value)
                q = np.asarray(self._closed.close({dial.joint: there if len(there) > 1 else value}))
            if (
                not min(np.abs(q[place] - there).max(), np.abs(q[place] + there).max() if len(there) == 4 else np.inf)
                < 1e-6
            ):
                # where a loop is stretched it may close beside what was asked for
                raise SolveError(
                    f"joint {dial.joint!r} cannot be put to {value:.6g} {dial.unit}: its loop does not reach so far"
                )
            self._q = q
        else:
            q = self.start() if self._q is None else self._q.copy()
            q[place] = dial.put(q[place], value)
            self._q = self.to(q)
        return self._q

    def of_joint(self, joint: str, q: np.ndarray) -> np.ndarray:
        """The coordinates of one joint, of all those q (nq,)."""
        return q[self.tree.coordinates[joint].q]

    def poses(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R (nb, 3, 3) and p (nb, 3) [m] in the order of `system.bodies`."""
        R, p = self.tree.pose(q)
        return R[self._order], p[self._order]

    @cached_property
    def dials(self) -> list[Dial]:
        """What sliders move: the numbers of all joints, as described."""
        q, system = self.start(), self.tree.system
        return [
            dial
            for name, place in self.tree.coordinates.items()
            if name in system.joints
            for dial in dials(system.joints[name], system.values, q[place.q])
        ]


def poser_of(system: System) -> Poser | None:
    """What poses a system; None where nothing can."""
    try:
        return Poser(system)
    except NexDynError:
        return None

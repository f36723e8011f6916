"""A motion recorded on a spanning tree that rows close: the same questions as of any tree, and of the joints that were cut.

The states are those of the tree, and the multipliers of the rows that the run kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nexdyn.errors import SolveError
from nexdyn.results.observed import BLOCK_BYTES, KEPT_BYTES, NUMBERS, Observed, continued
from nexdyn.results.quantities import Labels, labels_of
from nexdyn.results.recording import Recording
from nexdyn.spatial.rotations import quaternion
from nexdyn.tree.loop_observe import LoopObservation, LoopObserver
from nexdyn.tree.observe import Observation
from nexdyn.tree.tree import Tree


@dataclass
class LoopRecording(Recording):
    """States of the spanning tree as in `Recording`; multipliers (N, m) of the rows that were kept; `violation` (N,) is the
    largest |C|, lengths in parts of the mechanism's size. settings["cut"] and settings["redundant"] name the joints that
    were cut and the rows that were left out."""

    multipliers: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    violation: np.ndarray = field(default_factory=lambda: np.zeros(0))


class ObservedLoops(Observed):
    """As `Observed`, of a tree that rows close."""

    recording: LoopRecording

    def __init__(
        self, tree: Tree, recording: LoopRecording, lost: Sequence[str] = (),
        stored: Mapping[str, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(tree, recording, lost, stored)
        self.cut = list(recording.settings["cut"])
        self.observer = LoopObserver(
            tree.system, tree, self.cut, recording.settings.get("dropped", recording.settings["redundant"])
        )

    @cached_property
    def labels(self) -> Labels:
        found = labels_of(self.tree)
        rows = self.observer.rows
        dims = found.dims | {"joint": [*found.dims["joint"], *self.cut], "row": [str(row) for row in rows.rows]}
        units = found.units | {"multiplier": ["N" if length else "N m" for length in rows.lengths]}
        return Labels(dims, units)

    @cached_property
    def _joint_columns(self) -> np.ndarray:
        arcs = self.tree.unmerged.forest.arcs
        of_tree = np.flatnonzero([arc.joint is not None for arc in arcs])
        return np.concatenate([of_tree, len(arcs) + np.arange(len(self.cut))]).astype(np.int64)

    def knows(self, name: str) -> bool:
        return name == "multiplier" or super().knows(name)

    def blocks(self, with_forces: bool) -> Iterator[tuple[slice, Observation]]:
        r, n = self.recording, len(self.recording.t)
        if self._kept is not None:
            yield slice(0, n), self._kept
            return
        row = 8 * NUMBERS * max(1, len(self.tree.body_names) + len(self.cut))
        small = n * row <= KEPT_BYTES
        size = n if small else max(1, BLOCK_BYTES // row)
        for start in range(0, n, max(size, 1)):
            rows = slice(start, min(start + size, n))
            motion = (r.t[rows], r.q[rows], r.v[rows], r.a[rows], r.multipliers[rows], r.z[rows] if r.z.size else None)
            try:
                seen = self.observer.observe(*motion)
                self._kept = seen if small else None
            except SolveError:
                if with_forces:
                    raise
                seen = self.observer.observe(*motion, with_forces=False)
            yield rows, seen

    def _extract(self, name: str, rows: slice, seen: Observation, index: object) -> np.ndarray:
        if name == "multiplier":
            return self.recording.multipliers[rows]
        return super()._extract(name, rows, seen, index)

    def of_joint(self, name: str, joint: str) -> np.ndarray:
        if joint not in self.cut:
            return super().of_joint(name, joint)
        found: list[np.ndarray] = []
        before: np.ndarray | None = None
        for _, seen in self.blocks(with_forces=False):
            assert isinstance(seen, LoopObservation)
            columns = [n for n, own in enumerate(self.observer.rows.own) if own.joint == joint]
            if columns or self.tree.system.joints[joint].kind != "spherical":
                part = {"joint_position": seen.own_q, "joint_velocity": seen.own_v, "joint_acceleration": seen.own_a}
                found.append(part[name][:, columns])
                continue
            x = self._spherical(name, joint, seen)
            if name == "joint_position":
                x = continued(x, before)
                before = x[-1]
            found.append(x)
        return np.concatenate(found)

    def _spherical(self, name: str, joint: str, seen: Observation) -> np.ndarray:
        """Quaternion, velocity or acceleration of a spherical joint that was cut, from its two bodies."""
        element, place = self.tree.system.joints[joint], {n: i for i, n in enumerate(self.tree.body_names)}
        R_AJ, _, R_BJ, _ = element.frames(self.tree.system.values)
        n = len(seen.position)

        def of(body: str, x: np.ndarray, still: np.ndarray) -> np.ndarray:
            return x[:, place[body]] if body in place else np.broadcast_to(still, (n, *still.shape))

        a, b = element.parent.name, element.child.name
        R_A, R_B = of(a, seen.R, np.eye(3)) @ R_AJ, of(b, seen.R, np.eye(3)) @ R_BJ
        if name == "joint_position":
            return quaternion(np.swapaxes(R_A, 1, 2) @ R_B)
        w = of(b, seen.angular_velocity, np.zeros(3)) - of(a, seen.angular_velocity, np.zeros(3))
        v = np.einsum("nji,nj->ni", R_B, w)
        if name == "joint_velocity":
            return v
        dw = of(b, seen.angular_acceleration, np.zeros(3)) - of(a, seen.angular_acceleration, np.zeros(3))
        turning = np.einsum("nji,nj->ni", R_B, of(b, seen.angular_velocity, np.zeros(3)))
        return np.einsum("nji,nj->ni", R_B, dw) - np.cross(turning, v)

"""A motion recorded on a spanning tree that rows close: the same questions as of any tree, and of the joints that were cut.

The states are those of the tree, and the multipliers of the rows that the run kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.results.observed import BLOCK_BYTES, KEPT_BYTES, NUMBERS, Observed
from nexdyn.results.quantities import Labels, labels_of, spring_counters
from nexdyn.results.recording import LoopRecording
from nexdyn.results.segments import segments
from nexdyn.results.signs import body_quaternions, has_quaternion, joint_quaternions
from nexdyn.spatial.rotations import cross_product, quaternion
from nexdyn.tree.loops.closed import spanning_tree
from nexdyn.tree.loops.observe import LoopObservation, LoopObserver
from nexdyn.tree.observe import Observation
from nexdyn.tree.tree import Tree


class ObservedLoops(Observed):
    """As `Observed`, of a tree that rows close."""

    recording: LoopRecording
    signs_are_recorded = True

    def __init__(
        self, tree: Tree, recording: LoopRecording, lost: Sequence[str] = (),
        stored: Mapping[str, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(tree, recording, lost, stored)
        self.cut = list(recording.settings["cut"])
        self.observer = self._observer(tree)

    def _observer(self, tree: Tree) -> LoopObserver:
        settings = self.recording.settings
        return LoopObserver(tree.system, tree, self.cut, settings.get("dropped", settings["redundant"]))

    @cached_property
    def labels(self) -> Labels:
        found = labels_of(self.tree)
        rows = self.observer.rows
        followed = [*rows.near, *spring_counters(self.tree)] if self.recording.followed.size else []
        dims = found.dims | {
            "joint": [*found.dims["joint"], *self.cut], "row": [str(row) for row in rows.rows],
        }  # fmt: skip
        units = found.units | {"multiplier": ["N" if length else "N m" for length in rows.lengths]}
        return Labels(dims, units).with_counters(followed)

    @cached_property
    def _joint_columns(self) -> np.ndarray:
        arcs = self.tree.unmerged.forest.arcs
        of_tree = np.flatnonzero([arc.joint is not None for arc in arcs])
        return np.concatenate([of_tree, len(arcs) + np.arange(len(self.cut))]).astype(np.int64)

    def knows(self, name: str) -> bool:
        return name == "multiplier" or super().knows(name)

    def blocks(self, with_forces: bool) -> Iterator[tuple[slice, Observation]]:
        r, n = self.recording, len(self.recording.t)
        if kept := self._at_hand(with_forces):
            yield slice(0, n), kept
            return
        row = 8 * NUMBERS * max(1, len(self.tree.body_names) + len(self.cut))
        parts = [
            (
                first,
                last,
                self.observer if system is self.tree.system else self._observer(spanning_tree(system, self.cut)),
            )
            for first, last, system in segments(self.tree.system, r)
        ]
        small = n * row <= KEPT_BYTES and len(parts) == 1
        size = n if small else max(1, BLOCK_BYTES // row)
        for observer, rows in (
            (observer, slice(start, min(start + size, last)))
            for first, last, observer in parts
            for start in range(first, last, max(size, 1))
        ):
            motion = (r.t[rows], r.q[rows], r.v[rows], r.a[rows], r.multipliers[rows], r.z[rows] if r.z.size else None)
            counters = len(observer.rows.near)
            followed, angles = r.followed[rows, :counters] if r.followed.size else None, self.angles[rows]
            whole = partial(observer.observe, *motion, followed=followed, angles=angles)
            forceless = partial(observer.observe, *motion, with_forces=False, followed=followed)
            yield rows, self._look(with_forces, small, whole, forceless)

    def _extract(self, name: str, rows: slice, seen: Observation, index: Any) -> np.ndarray:
        if name == "multiplier":
            return self.recording.multipliers[rows]
        if name == "orientation":
            return np.asarray(self._orientations(rows)[:, index])
        return super()._extract(name, rows, seen, index)

    def of_joint(self, name: str, joint: str) -> np.ndarray:
        if joint not in self.cut:
            return super().of_joint(name, joint)
        columns = [n for n, own in enumerate(self.observer.rows.own) if own.joint == joint]
        turns = has_quaternion(self.tree.system.joints[joint])
        found: list[np.ndarray] = []
        for rows, seen in self.blocks(with_forces=False):
            assert isinstance(seen, LoopObservation)
            if turns:
                found += [
                    self._turning(name, system.joints[joint], system, seen, rows, part)
                    for part, system in self._parts(rows)
                ]
                continue
            of = {"joint_position": seen.own_q, "joint_velocity": seen.own_v, "joint_acceleration": seen.own_a}
            found.append(of[name][:, columns])
        return np.concatenate(found)

    def _described(self, system: System) -> tuple[Tree, AbsoluteModel]:
        """The tree of the system as events left it, and its bodies as described."""
        if system is self.tree.system:
            return self.tree, self._bodies_as_described
        return spanning_tree(system, self.cut), absolute_model(system)

    @cached_property
    def _bodies_as_described(self) -> AbsoluteModel:
        return absolute_model(self.tree.system)

    def _orientations(self, rows: slice) -> np.ndarray:
        """Quaternions (n, nb, 4) of the bodies."""
        found = []
        for part, system in self._parts(rows):
            tree, model = self._described(system)
            q = body_quaternions(tree, model, self.recording.q[rows][part])
            found.append(q[:, [model.body_index[body] for body in self.tree.body_names]])
        return np.concatenate(found)

    def _turning(
        self, name: str, element: Joint, system: System, seen: Observation, rows: slice, part: slice
    ) -> np.ndarray:
        """Coordinates, velocity or acceleration of a spherical or free joint that was cut, from its two bodies: at `part` of `rows`.

        v = R_Bᵀ (ω_b − ω_a, ṗ_B − ṗ_a at B);  its rate with R_B turning at ω_b
        """
        place = {n: i for i, n in enumerate(self.tree.body_names)}
        R_AJ, p_AJ, R_BJ, p_BJ = element.frames(system.values)
        n, still, moves = part.stop - part.start, np.zeros(3), element.kind == "free"

        def of(body: str, x: np.ndarray, still: np.ndarray = still) -> np.ndarray:
            return x[part, place[body]] if body in place else np.broadcast_to(still, (n, *still.shape))

        a, b = element.parent.name, element.child.name
        R_a, R_b = (of(body, seen.R, np.eye(3)) for body in (a, b))
        R_A, R_B = R_a @ R_AJ, R_b @ R_BJ
        s_B, r = R_b @ p_BJ, of(b, seen.position) + R_b @ p_BJ - of(a, seen.position)

        def seen_from_B(x: np.ndarray) -> np.ndarray:
            return np.einsum("nji,nj->ni", R_B, x)

        if name == "joint_position":
            turn = quaternion(np.swapaxes(R_A, 1, 2) @ R_B)
            tree, model = self._described(system)
            sign = joint_quaternions(element, model, body_quaternions(tree, model, self.recording.q[rows][part]))
            over = element.name in self.recording.settings.get("turned over", ())
            turn[((turn * sign).sum(axis=1) < 0.0) != over] *= -1.0
            return np.hstack([turn, np.einsum("nji,nj->ni", R_A, r - R_a @ p_AJ)]) if moves else turn
        w_a, w_b = of(a, seen.angular_velocity), of(b, seen.angular_velocity)
        u = of(b, seen.velocity) + cross_product(w_b, s_B) - of(a, seen.velocity)
        parts = [w_b - w_a, u - cross_product(w_a, r)] if moves else [w_b - w_a]
        v = [seen_from_B(x) for x in parts]
        if name == "joint_acceleration":
            e_a, e_b = of(a, seen.angular_acceleration), of(b, seen.angular_acceleration)
            rise = (
                of(b, seen.acceleration)
                + cross_product(e_b, s_B)
                + cross_product(w_b, cross_product(w_b, s_B))
                - of(a, seen.acceleration)
            )
            rates = [e_b - e_a, rise - cross_product(e_a, r) - cross_product(w_a, u)]
            v = [seen_from_B(x) - cross_product(seen_from_B(w_b), y) for x, y in zip(rates, v, strict=False)]
        return np.hstack(v)

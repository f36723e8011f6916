"""A motion recorded in absolute coordinates: the same questions as of a tree's, the same answers.

The states are poses, velocities and accelerations of all bodies and the multipliers of all constraint rows. Joint
coordinates follow from them; in closed loops they depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.absolute.motion.observe import BodyMotion, JointObservation
from nexdyn.errors import SolveError, unknown
from nexdyn.forces.states import state_labels
from nexdyn.forces.torsion_spring import TURNS
from nexdyn.results.contacts import contact_labels
from nexdyn.results.efforts import effort_labels
from nexdyn.results.observed import MANY_FORCES, Observed
from nexdyn.results.quantities import (
    COMPONENTS,
    RECORDED,
    Labels,
    coordinate_labels,
    velocity_labels,
)
from nexdyn.results.recording import BodyRecording
from nexdyn.results.segments import segments
from nexdyn.results.signs import has_quaternion, joint_quaternions
from nexdyn.spatial.rotations import cross_product, normalized, rotation_matrix
from nexdyn.tree.observe import Observation


class ObservedBodies(Observed):
    """As `Observed`, of a motion in absolute coordinates."""

    recording: BodyRecording
    signs_are_recorded = True

    def __init__(
        self, motion: BodyMotion, recording: BodyRecording, lost: Sequence[str] = (),
        stored: Mapping[str, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(motion, recording, lost, stored)  # type: ignore[arg-type]
        self.motion = motion
        self._seen: dict[bool, JointObservation] = {}
        self._whole: dict[bool, Observation] = {}
        """What is told of joints, and of all samples: with forces, and without."""

    @cached_property
    def labels(self) -> Labels:
        system, names = self.motion.system, self.motion.joint_names
        coordinates = [label for name in names for label in coordinate_labels(self.tree, name)]
        freedoms = [label for name in names for label in velocity_labels(self.tree, name)]
        outputs = [
            (f"{measure.name}.{axis}" if axis else measure.name, measure.unit)
            for measure in system.measures.values()
            for axis in measure.axes or ("",)
        ]
        wrench, rows = list(COMPONENTS.values()), self.motion.model.rows
        followed = self.motion.model.followed if self.recording.followed.size else ()
        dims = {
            "body": self.motion.body_names, "joint": list(system.joints), "axis": ["x", "y", "z"],
            "body_axis": ["x", "y", "z"], "quaternion": ["w", "x", "y", "z"], "component": list(COMPONENTS),
            "coordinate": [label for label, _ in coordinates], "freedom": [label for label, _ in freedoms],
            "output": [label for label, _ in outputs], "row": [str(row) for row in rows],
            "contact": contact_labels(system), "state": [label for label, _ in state_labels(system)],
            "actuator": [label for label, _ in effort_labels(system)],
        }  # fmt: skip
        lengths = self.motion.model.row_is_length
        units = {
            "joint_position": [unit for _, unit in coordinates],
            "joint_velocity": [f"{unit}/s" for _, unit in freedoms],
            "joint_acceleration": [f"{unit}/s^2" for _, unit in freedoms],
            "reaction": wrench, "transmitted": wrench, "measure": [unit for _, unit in outputs],
            "multiplier": ["N" if length else "N m" for length in lengths], "force_state": [unit for _, unit in state_labels(system)],
            "effort": [unit for _, unit in effort_labels(system)],
        }  # fmt: skip
        return Labels(dims, units).with_counters(followed)

    @cached_property
    def _joint_columns(self) -> np.ndarray:
        return np.arange(len(self.motion.system.joints))

    def knows(self, name: str) -> bool:
        if name == "followed":
            return super().knows(name)
        return name != "transmitted" or not self.lost or name in self.stored

    def blocks(self, with_forces: bool) -> Iterator[tuple[slice, Observation]]:
        """All samples at once."""
        with_forces = self._with_forces(with_forces)
        found = self._whole.get(True, self._whole.get(with_forces))
        if found is None:
            parts = segments(self.motion.system, self.recording)
            if len(parts) == 1:
                found = self._observation(with_forces)
            else:
                seen = [self._part(*part)._observation(with_forces) for part in parts]
                arrays = zip(*(vars(one).values() for one in seen), strict=True)
                found = Observation(*(np.concatenate(same) for same in arrays))
            self._whole[with_forces] = found
        yield slice(0, len(self.recording.t)), found

    def _part(self, first: int, last: int, system: Any) -> ObservedBodies:
        """Samples first … last − 1, of a system that events have changed."""
        r, rows = self.recording, slice(first, last)
        part = replace(
            r,
            t=r.t[rows],
            q=r.q[rows],
            v=r.v[rows],
            a=r.a[rows],
            multipliers=r.multipliers[rows],
            settings={},
            z=r.z[rows] if r.z.size else r.z,
            followed=r.followed[rows] if r.followed.size else r.followed,
        )
        return ObservedBodies(self.motion if system is self.motion.system else body_motion(system), part)

    def joints_seen(self, with_forces: bool = True) -> JointObservation:
        """What is told of joints, at each sample of the system as events had left it. SolveError where a force fails, with forces."""
        with_forces = self._with_forces(with_forces)
        found = self._seen.get(True, self._seen.get(with_forces))
        if found is None:
            parts = [self._part(*part) for part in segments(self.motion.system, self.recording)]
            seen = [part._joints_of_part(with_forces) for part in parts]
            found = seen[0]
            if len(parts) > 1:
                arrays = zip(*(vars(one).values() for one in seen), strict=True)
                found = JointObservation(*(np.concatenate(same) for same in arrays))
            self._seen[with_forces] = found
        return found

    def _with_forces(self, asked: bool) -> bool:
        """Whether forces are looked at: where they are asked for, and where they are few and do not fail, so that who asks for them next
        finds them."""
        if asked or len(self.motion.system.forces) >= MANY_FORCES:
            return asked
        try:
            self.joints_seen()
        except SolveError:
            return False
        return True

    def _joints_of_part(self, with_forces: bool) -> JointObservation:
        """What is told of joints of one system."""
        r = self.recording
        states = (r.t, r.q, r.v, r.a, r.multipliers, r.z if r.z.size else None)
        return self._signed(self.motion.observe(*states, with_forces=with_forces, followed=r.followed))

    def _signed(self, seen: JointObservation) -> JointObservation:
        """Quaternions of joints with the signs that those of their bodies give them (``signs``)."""
        model, recorded, first = self.motion.model, self.recording.q[..., :4], 0
        bodies: np.ndarray | None = None
        for joint in self.motion.joints:
            if has_quaternion(joint):
                if bodies is None:
                    ground = np.broadcast_to(model.q[0, :4], (len(recorded), 1, 4))
                    bodies = np.concatenate([ground, recorded], axis=1)
                own = seen.q[:, first : first + 4]
                own[(joint_quaternions(joint, model, bodies) * own).sum(axis=1) < 0.0] *= -1.0
            first += joint.nq
        return seen

    def _observation(self, with_forces: bool) -> Observation:
        r, model = self.recording, self.motion.model
        R = rotation_matrix(r.q[..., :4])
        w, w_dot = (np.einsum("...ij,...j->...i", R, x[..., :3]) for x in (r.v, r.a))
        seen = self.joints_seen(with_forces)
        m, h = model.mass[1:, 0], model.mass[1:, 1:4]
        I = model.mass[1:, [4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(-1, 3, 3)
        u = np.einsum("...ji,...j->...i", R, r.v[..., 3:])  # of the origin, in the body's axes
        w_b = r.v[..., :3]
        kinetic = (
            0.5 * np.einsum("sni,nij,snj->s", w_b, I, w_b)
            + 0.5 * np.einsum("n,sni,sni->s", m, u, u)
            + np.einsum("sni,sni->s", u, cross_product(w_b, np.broadcast_to(h, w_b.shape)))
            + 0.5 * seen.v**2 @ self.motion.armature
        )
        weighed = m[:, None] * r.q[..., 4:] + np.einsum("snij,nj->sni", R, h)
        gravitational = -np.einsum("sni,i->s", weighed, self.motion.system.gravity)
        return Observation(
            R, r.q[..., 4:], w, r.v[..., 3:], w_dot, r.a[..., 3:], seen.wrench, seen.reaction, kinetic, gravitational,
            seen.elastic,
        )  # fmt: skip

    def _as_described(self, rows: slice, wrenches: np.ndarray, seen: Observation) -> np.ndarray:
        return wrenches

    def _state(self, name: str) -> np.ndarray:
        if name in ("force_state", "followed"):
            return super()._state(name)
        seen = self.joints_seen(with_forces=False)
        return {"joint_position": seen.q, "joint_velocity": seen.v, "joint_acceleration": seen.a}[name]

    def _extract(self, name: str, rows: slice, seen: Observation, index: Any) -> np.ndarray:
        if name == "multiplier":
            return self.recording.multipliers[rows]
        if name == "effort":
            return self._efforts()[rows]
        if name == "orientation":
            return normalized(self.recording.q[rows][:, index, :4])
        if name in RECORDED:
            return self._state(name)[rows]
        if name == "transmitted" and self.lost:
            return self.stored[name][rows][:, index]
        lost, self.lost = self.lost, ()
        try:
            return super()._extract(name, rows, seen, index)
        finally:
            self.lost = lost

    def angle_of(self, spring: str) -> np.ndarray:
        model, r = self.motion.model, self.recording
        k, found = model.followed.index((spring, TURNS)), np.empty(len(r.t))
        near: np.ndarray | None = None
        for s, t in enumerate(r.t.tolist()):
            q = np.concatenate([model.q[:1], r.q[s]])
            near = model.counted(q, model.near(q, t) if near is None else near)
            found[s] = near[k]
        return found

    def of_joint(self, name: str, joint: str) -> np.ndarray:
        """Positions, velocities or accelerations of one joint at all samples."""
        first = 0
        for found in self.motion.joints:
            count = found.nq if name == "joint_position" else found.nv
            if found.name == joint:
                return self._state(name)[:, first : first + count].copy()
            first += count
        raise unknown("joint", joint, self.motion.joint_names)


def body_motion(system: Any, model: AbsoluteModel | None = None) -> BodyMotion:
    """The motion of the bodies of `system`."""
    return BodyMotion(system, absolute_model(system) if model is None else model)

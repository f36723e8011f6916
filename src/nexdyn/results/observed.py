"""A recorded motion observed block by block, so that neither many bodies nor many samples fill the memory.

An observation takes samples × bodies × 36 numbers. One that is small is kept; a large one is made again, a block of
samples at a time, whenever something of it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError, SolveError, unknown
from nexdyn.forces.states import state_labels
from nexdyn.model.body import Body
from nexdyn.model.measure import Measure
from nexdyn.model.system import System
from nexdyn.results.contacts import COLUMNS, OF_FRICTION, contact_table, contacts_of
from nexdyn.results.efforts import effort_labels, efforts
from nexdyn.results.quantities import (
    ENERGIES,
    OF_JOINTS,
    QUANTITIES,
    RECORDED,
    Labels,
    labels_of,
    labels_of_joint,
    spring_counters,
)
from nexdyn.results.recording import Recording
from nexdyn.results.segments import segments
from nexdyn.results.signs import continued
from nexdyn.spatial.rotations import cross_product, quaternion, quaternion_multiply
from nexdyn.tree.core.compile import joint_class
from nexdyn.tree.observe import Observation, observe_motion
from nexdyn.tree.tree import Tree
from nexdyn.tree.wound import angles_along

MANY_FORCES = 50
"""From this many forces on, quantities that do not depend on forces are computed without them."""
NUMBERS = 36
"""Numbers that an observation holds a body and sample: a pose, and four spatial vectors."""
KEPT_BYTES = 128 * 2**20
"""An observation up to this size is kept."""
BLOCK_BYTES = 64 * 2**20
"""A larger one is made in blocks of this size."""
FORCE_FIRST = [3, 4, 5, 0, 1, 2]
FORCELESS = QUANTITIES.keys() - {*OF_JOINTS, "elastic_energy", "total_energy"}
"""Quantities that forces do not enter, the motion given."""

_FIELDS = {name: name for name in ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration")}
_FIELDS |= {"rotation": "R", "reaction": "reaction", "transmitted": "wrench"}
_FIELDS |= {"kinetic_energy": "kinetic", "gravitational_energy": "gravitational", "elastic_energy": "elastic"}

Tables = Iterator[tuple[slice, dict[str, np.ndarray]]]
FrameOf = tuple[int, np.ndarray, np.ndarray]


class Peaks(NamedTuple):
    """Largest |force| [N] and |moment| [N m] of each joint's reaction (nj,), and when [s]."""

    force: np.ndarray
    force_time: np.ndarray
    moment: np.ndarray
    moment_time: np.ndarray

    def beside(self, other: Peaks) -> Peaks:
        """The larger of each, the earlier of equals."""
        columns: list[np.ndarray] = []
        for size, time, size_of, time_of in ((*self[:2], *other[:2]), (*self[2:], *other[2:])):
            larger = (size_of > size) | ((size_of == size) & (time_of < time))
            columns += [np.where(larger, size_of, size), np.where(larger, time_of, time)]
        return Peaks(*columns)

    def told(self, joints: Sequence[str]) -> dict[str, list[float]]:
        """By joint, as a recording's settings keep them."""
        return {name: [float(column[k]) for column in self] for k, name in enumerate(joints)}


def kept_peaks(told: Mapping[str, Sequence[float]], joints: Sequence[str]) -> Peaks:
    """What `Peaks.told` told; a joint that it does not name has none."""
    rows = [told.get(name, (-1.0, np.nan, -1.0, np.nan)) for name in joints]
    return Peaks(*np.array(rows, dtype=float).reshape(-1, 4).T)


class Observed:
    """The motion in `recording` of `tree`, as arrays laid out as `QUANTITIES` says.

    lost: names of forces that acted in the run and are not in the tree's system (a file cannot hold Python).
    stored: quantities of joints that a file brought along, for then they cannot be computed again.
    """

    signs_are_recorded = False
    """Whether quaternions of bodies are recorded, with signs that change smoothly from step to step."""

    def __init__(
        self, tree: Tree, recording: Recording, lost: Sequence[str] = (), stored: Mapping[str, np.ndarray] | None = None
    ) -> None:
        self.tree, self.recording, self.lost = tree, recording, tuple(lost)
        self.stored = dict(stored or {})
        self._kept: dict[bool, Observation] = {}  # with forces, and without

    @cached_property
    def labels(self) -> Labels:
        """The labels of all axes."""
        found = labels_of(self.tree)
        return found.with_counters(spring_counters(self.tree)) if self.recording.followed.size else found

    @cached_property
    def _joint_columns(self) -> np.ndarray:
        """Where among the bodies those are that a joint carries."""
        return np.flatnonzero([arc.joint is not None for arc in self.tree.unmerged.forest.arcs])

    def knows(self, name: str) -> bool:
        """Whether a quantity can be told: those of joints need every force that acted."""
        if name == "multiplier":
            return False  # of constraint rows, which a tree has not
        if name == "followed":
            return bool(self.labels.dims["counter"])
        if name in OF_FRICTION and self.lost and any(contact.sticks for contact in contacts_of(self.tree.system)):
            return False
        return name not in OF_JOINTS or not self.lost or name in self.stored

    def require(self, name: str) -> None:
        """InputError where a quantity cannot be told."""
        if not self.knows(name):
            if name == "multiplier":
                raise InputError(
                    "a tree has no constraint rows; nx.HHT and the methods of absolute coordinates record theirs"
                )
            if name == "followed":
                raise InputError("nothing was counted in this run: it has no angles but those of its coordinates")
            if name in OF_FRICTION:
                raise InputError(
                    f"the {name} cannot be told: friction of contacts sticks, and the file has lost its states with "
                    f"{_listed(self.lost)}; simulate again"
                )
            raise InputError(
                f"the {name} of joints cannot be told: the file holds neither {_listed(self.lost)}, which acted in the "
                f"run, nor the {name}; save with full=True, or simulate again"
            )

    @cached_property
    def angles(self) -> np.ndarray:
        """The angles (N, nw) of torsion springs that are states, as counted, or going on from sample to sample."""
        r, count = self.recording, len(spring_counters(self.tree))
        if r.followed.size:
            return r.followed[:, r.followed.shape[1] - count :]
        out, size = (
            np.zeros((len(r.t), count)),
            max(1, BLOCK_BYTES // (8 * NUMBERS * max(1, len(self.tree.body_names)))),
        )
        for first in range(0, len(r.t) if count else 0, size):
            before = out[first - 1] if first else None
            out[first : first + size] = angles_along(self.tree, r.q[first : first + size], before)
        return out

    def angle_of(self, spring: str) -> np.ndarray | None:
        """The angle (N,) of a torsion spring where the run has recorded none, going on from sample to sample; None where the coordinates
        of joints tell it."""
        across = [name for name, _ in spring_counters(self.tree)]
        return self.angles[:, across.index(spring)] if spring in across else None

    # --- blocks -------------------------------------------------------------------------------------------------

    def blocks(self, with_forces: bool) -> Iterator[tuple[slice, Observation]]:
        """All samples in order: their rows, and what is seen of them.

        SolveError where a force fails at a sample, unless it can be seen without forces.
        """
        r, n = self.recording, len(self.recording.t)
        if kept := self._at_hand(with_forces):
            yield slice(0, n), kept
            return
        row = 8 * NUMBERS * max(1, len(self.tree.body_names))
        parts = [
            (first, last, self.tree if system is self.tree.system else Tree(system))
            for first, last, system in segments(self.tree.system, r)
        ]
        small = n * row <= KEPT_BYTES and len(parts) == 1
        size = n if small else max(1, BLOCK_BYTES // row)
        for tree, rows in (
            (tree, slice(start, min(start + size, last)))
            for first, last, tree in parts
            for start in range(first, last, max(size, 1))
        ):
            motion = (tree, r.t[rows], r.q[rows], r.v[rows], r.a[rows])
            z = r.z[rows] if r.z.size else None
            whole = partial(observe_motion, *motion, z=z, angles=self.angles[rows])
            forceless = partial(observe_motion, *motion, with_forces=False)
            yield rows, self._look(with_forces, small, whole, forceless)

    def _at_hand(self, with_forces: bool) -> Observation | None:
        """An observation that is kept: one with forces serves all who ask."""
        return self._kept.get(True, None if with_forces else self._kept.get(False))

    def _look(
        self, with_forces: bool, keep: bool, whole: Callable[[], Observation], forceless: Callable[[], Observation]
    ) -> Observation:
        """Samples with the applied forces where these are requested, or are few and do not fail: the next request then finds them."""
        if with_forces or len(self.tree.system.forces) < MANY_FORCES:
            try:
                seen = whole()
            except SolveError:
                if with_forces:
                    raise
            else:
                if keep:
                    self._kept[True] = seen
                return seen
        seen = forceless()
        if keep:
            self._kept[False] = seen
        return seen

    def tables(self, names: Sequence[str], index: Any = slice(None)) -> Tables:
        """Rows and the quantities `names` of those rows, of the bodies or joints at `index`."""
        for name in names:
            self.require(name)
        r = self.recording
        if set(names) <= set(RECORDED):
            yield slice(0, len(r.t)), {name: self._state(name) for name in names}
            return
        before: np.ndarray | None = None
        for rows, seen in self.blocks(not FORCELESS.issuperset(names)):
            found = {name: self._extract(name, rows, seen, index) for name in names}
            if "orientation" in found and not self.signs_are_recorded:
                found["orientation"] = continued(found["orientation"], before)
                before = found["orientation"][-1].copy()
            yield rows, found

    def take(self, name: str, index: Any = slice(None)) -> np.ndarray:
        """A quantity at all samples, as a new array."""
        return self.collect([name], index)[name]

    def collect(self, names: Sequence[str], index: Any = slice(None)) -> dict[str, np.ndarray]:
        """Quantities at all samples, as new arrays."""
        n = len(self.recording.t)
        out: dict[str, np.ndarray] = {}
        for rows, found in self.tables(names, index):
            for name, values in found.items():
                if name not in out:
                    out[name] = np.empty((n, *values.shape[1:]))
                out[name][rows] = values
        return out

    def _state(self, name: str) -> np.ndarray:
        r = self.recording
        if name == "force_state":
            return r.z if r.z.size else np.empty((len(r.t), 0))
        if name == "followed":
            return r.followed if r.followed.size else np.empty((len(r.t), 0))
        return {"joint_position": r.q, "joint_velocity": r.v, "joint_acceleration": r.a}[name]

    def _extract(self, name: str, rows: slice, seen: Observation, index: Any) -> np.ndarray:
        if name in RECORDED:
            return self._state(name)[rows]
        if name == "total_energy":
            return seen.kinetic + seen.gravitational + seen.elastic
        if name == "measure":
            return self._measures(rows, seen)
        if name == "effort":
            return self._efforts()[rows]
        if name in COLUMNS:
            return self._contacts(rows, seen)[..., COLUMNS[name]]
        if name == "orientation":
            return quaternion(seen.R[:, index])
        if name in ENERGIES:
            return np.asarray(getattr(seen, _FIELDS[name]))
        if name in OF_JOINTS:
            if self.lost:
                return self.stored[name][rows][:, index]
            found = np.asarray(getattr(seen, _FIELDS[name]))[..., FORCE_FIRST]
            return self._as_described(rows, found, seen)[:, self._joint_columns[index]]
        return np.asarray(getattr(seen, _FIELDS[name]))[:, index]

    def _parts(self, rows: slice) -> Iterator[tuple[slice, System]]:
        """Of samples `rows` those that belong to one system, counted from their first, with that system."""
        for first, last, system in segments(self.tree.system, self.recording):
            part = slice(max(first - rows.start, 0), max(min(last, rows.stop) - rows.start, 0))
            if part.start < part.stop:
                yield part, system

    def _as_described(self, rows: slice, wrenches: np.ndarray, seen: Observation) -> np.ndarray:
        """Those (N, joints, 6) that a tree tells of joints described from a body to the ground, as described."""
        joints, bodies, of_tree = self.labels.dims["joint"], self.labels.dims["body"], len(self.tree.body_names)
        for part, system in self._parts(rows):
            for j, name in enumerate(joints):
                joint = system.joints.get(name)
                k = self._joint_columns[j]
                if joint is not None and joint.is_turned and k < of_tree:
                    b = list(bodies).index(joint.carried.name)
                    own, R, p = wrenches[part, k], seen.R[part, b], seen.position[part, b]
                    told = joint.wrench_as_described(own[:, :3], own[:, 3:], R, p, system.values)
                    wrenches[part, k] = np.concatenate(told, axis=-1)
        return wrenches

    def of_joint(self, name: str, joint: str) -> np.ndarray:
        """Positions, velocities or accelerations of one joint at all samples; of a mimic joint those it takes."""
        c, x = self.tree.compiled, self._state(name)
        arcs = {arc.name: a for a, arc in enumerate(c.forest.arcs)}
        if joint not in arcs:
            raise unknown("joint", joint, self.tree.joint_names)
        kind = joint_class(c.forest.arcs[arcs[joint]].joint)
        first, count = (c.first_q, kind.nq) if name == "joint_position" else (c.first_v, kind.nv)
        columns = slice(int(first[arcs[joint]]), int(first[arcs[joint]]) + count)
        if self.tree.coupling is None:
            return x[:, columns].copy()
        found = np.empty((len(x), count))
        for part, system in self._parts(slice(0, len(x))):
            coupling = (self.tree if system is self.tree.system else Tree(system)).coupling
            assert coupling is not None  # events change numbers, not which joints are coupled
            if name == "joint_position":
                led = x[part, coupling.q_column[columns]] * coupling.q_factor[columns] + coupling.q_offset[columns]
            else:
                led = x[part, coupling.v_column[columns]] * coupling.v_factor[columns]
            found[part] = led
        return found

    def joint_columns(self, name: str, joint: str) -> list[tuple[str, np.ndarray, str]]:
        """Label, values (N,) and unit of each coordinate, velocity or acceleration of a joint. InputError where it has none."""
        values = self.of_joint(name, joint)
        return [(label, values[:, k], unit) for k, (label, unit) in enumerate(labels_of_joint(self.tree, name, joint))]

    # --- frames and measures ----------------------------------------------------------------------------------------

    def measured(self, name: str) -> np.ndarray:
        """A measure (N,) at all samples, (N, axes) where it is a vector."""
        axes = self.tree.system.measures[name].axes
        labels = [f"{name}.{axis}" for axis in axes] or [name]
        first = self.labels.dims["output"].index(labels[0])
        values = self.take("measure")[:, first : first + len(labels)].copy()
        return values if axes else values[:, 0]

    def at_frame(self, name: str, frame: str) -> np.ndarray:
        """A quantity of bodies for a body or marker, or for "ground", at all samples."""
        n = len(self.recording.t)
        parts = [(part, system.frame(frame)) for part, system in self._parts(slice(0, n))]
        _, (body, R, p) = parts[0]
        if all(np.array_equal(R, R_BF) and np.array_equal(p, p_BF) for _, (_, R_BF, p_BF) in parts[1:]):
            return self._at_frame(name, body, R, p)
        return np.concatenate([self._at_frame(name, body, R, p)[part] for part, (_, R, p) in parts])

    def _at_frame(self, name: str, body: Body, R_BF: np.ndarray, p_BF: np.ndarray) -> np.ndarray:
        """The same for a frame that stays in its body."""
        if body.is_ground:
            n = len(self.recording.t)
            fixed = {"rotation": R_BF, "position": p_BF, "orientation": quaternion(R_BF)}.get(name, np.zeros(3))
            return np.tile(fixed, (n, *[1] * fixed.ndim))
        i = self.tree.body_names.index(body.name)
        moved, turned = bool(p_BF.any()), bool((R_BF != np.eye(3)).any())
        if name == "orientation" and turned:
            return quaternion_multiply(self.take("orientation", i), quaternion(R_BF))
        if name == "rotation" and turned:
            return self.take("rotation", i) @ R_BF
        if not moved or name not in ("position", "velocity", "acceleration"):
            return self.take(name, i)
        found = self.collect(["rotation", "angular_velocity", "angular_acceleration", name], i)
        r, w = found["rotation"] @ p_BF, found["angular_velocity"]
        if name == "position":
            return found[name] + r
        if name == "velocity":
            return found[name] + cross_product(w, r)
        return found[name] + cross_product(found["angular_acceleration"], r) + cross_product(w, cross_product(w, r))

    def _measured(self, system: System) -> list[tuple[Measure, FrameOf, FrameOf]]:
        """Each measure with its two frames: body (−1 for ground), R_BF, p_BF."""
        place = {name: i for i, name in enumerate(self.tree.body_names)} | {"ground": -1}
        found = []
        for measure in system.measures.values():
            (A, R_A, p_A), (B, R_B, p_B) = system.frame(measure.a), system.frame(measure.b)
            found.append((measure, (place[A.name], R_A, p_A), (place[B.name], R_B, p_B)))
        return found

    def _measures(self, rows: slice, seen: Observation) -> np.ndarray:
        """All measures side by side (n, outputs)."""
        n = len(seen.kinetic)
        parts = []
        for part, system in self._parts(rows):
            columns = [
                measure.evaluate(*_frame(seen, *a), *_frame(seen, *b)).reshape(n, -1)[part]
                for measure, a, b in self._measured(system)
            ]
            parts.append(np.concatenate(columns, axis=1) if columns else np.empty((part.stop - part.start, 0)))
        return np.concatenate(parts) if parts else np.empty((0, 0))

    def _places(self) -> dict[str, tuple[int, int]]:
        """Of each joint its first column among those of `of_joint` side by side, in q and in v."""
        places, q, v = {}, 0, 0
        for name in self._moving:
            kind = joint_class(self.tree.system.joints[name])
            places[name] = (q, v)
            q, v = q + kind.nq, v + kind.nv
        return places

    @cached_property
    def _moving(self) -> list[str]:
        """The joints that forces act in."""
        acting = (force.joint_name for force in self.tree.system.forces.values())
        return list(dict.fromkeys(name for name in acting if name is not None))

    def _efforts(self) -> np.ndarray:
        """Efforts of the forces in joints (N, forces)."""
        system, r = self.tree.system, self.recording
        if not effort_labels(system):
            return np.empty((len(r.t), 0))
        q, v = (
            np.concatenate([self.of_joint(what, name) for name in self._moving], axis=1)
            for what in ("joint_position", "joint_velocity")
        )
        z = r.z if r.z.size else np.empty((len(r.t), 0))
        parts = [efforts(part, self._places(), r.t[a:b], q[a:b], v[a:b], z[a:b]) for a, b, part in segments(system, r)]
        return np.concatenate(parts)

    def _contacts(self, rows: slice, seen: Observation) -> np.ndarray:
        """The columns of ``forces.contact`` for all contact points, (n, points, 21)."""
        place, n = {name: i for i, name in enumerate(self.tree.body_names)} | {"ground": -1}, len(seen.kinetic)
        parts = []
        t = self.recording.t[rows]
        z = self.recording.z[rows] if self.recording.z.size else np.zeros((n, len(state_labels(self.tree.system))))
        for first, last, system in segments(self.tree.system, self.recording):
            part = slice(max(first - rows.start, 0), max(min(last - rows.start, n), 0))
            if part.start < part.stop:
                parts.append(contact_table(system, t, z, lambda body, R, p: _frame(seen, place[body], R, p))[part])
        return np.concatenate(parts)

    # --- what one look at everything tells ----------------------------------------------------------------------

    @cached_property
    def energies(self) -> dict[str, np.ndarray]:
        """Energies [J] (N,) by name."""
        return self._scan[0]

    @cached_property
    def peaks(self) -> Peaks:
        """The peaks of the joints' reactions, at all steps where the run kept those. InputError where those cannot be told."""
        self.require("reaction")
        found = self._scan[1]
        assert found is not None
        kept = self.recording.settings.get("peaks")
        return found if kept is None else found.beside(kept_peaks(kept, self.labels.dims["joint"]))

    @property
    def peaks_of(self) -> str:
        """What the peaks are of: "steps", all of them, or "samples", where the run left states out and did not look at them."""
        settings = self.recording.settings
        unseen = settings.get("unseen") or (settings.get("thinned") and "peaks" not in settings)
        return "samples" if unseen else "steps"

    @cached_property
    def _scan(self) -> tuple[dict[str, np.ndarray], Peaks | None]:
        names = [*ENERGIES, *(["reaction"] if self.knows("reaction") else [])]
        r, nj = self.recording, len(self._joint_columns)
        energies = {name: np.empty(len(r.t)) for name in ENERGIES}
        best, when = np.full((2, nj), -1.0), np.full((2, nj), np.nan)
        for rows, found in self.tables(names):
            for name in ENERGIES:
                energies[name][rows] = found[name]
            if "reaction" in found:
                wrench = found["reaction"]
                for side, part in enumerate((wrench[..., :3], wrench[..., 3:])):
                    size = np.linalg.norm(part, axis=-1)
                    k = size.argmax(axis=0)
                    peak = size[k, np.arange(nj)]
                    better = ~(peak <= best[side])
                    best[side][better], when[side][better] = peak[better], r.t[rows][k[better]]
        peaks = Peaks(best[0], when[0], best[1], when[1]) if "reaction" in names else None
        return energies, peaks


def _frame(seen: Observation, i: int, R_BF: np.ndarray, p_BF: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R_WF, p_WF and V of a frame of body i (−1: ground)."""
    if i < 0:
        return R_BF, p_BF, np.zeros(6)
    R, w = seen.R[:, i], seen.angular_velocity[:, i]
    r = R @ p_BF
    return R @ R_BF, seen.position[:, i] + r, np.concatenate([w, seen.velocity[:, i] + cross_product(w, r)], axis=-1)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
    return f"the force{'s' if len(names) > 1 else ''} {shown}"

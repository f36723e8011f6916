"""The report of an assembly: data first, text second."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.constraint_rows import tied_joints
from nexdyn.errors import InputError, counted, unknown
from nexdyn.shown import drawn
from nexdyn.spatial.rotations import rotation_matrix

if TYPE_CHECKING:
    from nexdyn.absolute.model.mobility import Motion
    from nexdyn.absolute.model.model import AbsoluteModel
    from nexdyn.assembly.notices import Notice
    from nexdyn.model.system import System

UNIQUE = 1e-9
"""A component that no self-stress changes by more than this, relative to the stress, is unique."""


class JointGap(NamedTuple):
    """How far a joint is from closed: distance [m], misalignment [rad]; or a driver or coupling (`kind`) from its value.

    rows: the equations that are not fulfilled."""

    joint: str
    distance: float
    angle: float
    kind: str = "joint"
    rows: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{self.distance:.3g} m"] if self.distance > 1e-9 else []
        parts += [f"{np.degrees(self.angle):.3g}°"] if self.angle > 1e-9 else []
        if self.kind == "driver" and self.joint.startswith("q0 of "):
            what = f"q0 of joint {self.joint[6:]!r} is missed by"
        else:
            what = f"{self.kind} {self.joint!r} " + ("stays open by" if self.kind == "joint" else "is missed by")
        return f"{what} {' and '.join(parts)}"


@dataclass(frozen=True)
class RedundantRow:
    """A constraint row that repeats others.

    depends_on: {"joint.equation": coefficient} of the kept rows whose sum it is; alternatives: rows that could be dropped
    instead; conflict: by how much it contradicts them in (position, velocity, acceleration); structural: it is redundant
    at all poses of the mechanism (True), only in this pose (False), or cannot be told because nothing moves (None).
    """

    joint: str
    equation: str
    direction: str
    priority: int
    depends_on: dict[str, float]
    alternatives: list[str]
    conflict: tuple[float, float, float]
    consistent: bool
    structural: bool | None

    def __str__(self) -> str:
        return f"{self.joint}.{self.equation}"


@dataclass(frozen=True, repr=False)
class RedundancyReport:
    """Redundant rows and what they leave.

    dof = 6 · bodies − independent rows; grubler counts all rows as independent. rank_gap: by what factor the last pivot that
    was counted exceeds the first that was not, the least over the blocks with loops. motions: the degrees of freedom as
    motions of joints (none are told of blocks with more than thousands). shaky: the joints of blocks whose degrees of freedom
    exist to first order only: to second order they are rigid.
    """

    redundant: list[RedundantRow]
    constraints: int
    independent: int
    grubler: int
    dof: int
    rank_gap: float
    joints: int
    loops: int
    motions: list[Motion] = field(default_factory=list)
    shaky: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        redundant = f"{len(self.redundant)} of {self.constraints} constraints redundant"
        return f"RedundancyReport({counted(self.dof, 'degree of freedom')}, {redundant})"


class Reaction(NamedTuple):
    """Wrench of a joint on its child, at the joint's point, in the parent-side joint frame.

    force [N], moment [N m]: the rows dropped carry nothing; `unique` (6 bool: force, moment) tells which components every
    choice has in common; least_force, least_moment: the choice of minimum norm.
    """

    force: np.ndarray
    moment: np.ndarray
    unique: np.ndarray
    least_force: np.ndarray
    least_moment: np.ndarray


class WithPose:
    """What has a pose in which a run may start at rest."""

    def at_rest(self, system: System) -> AssemblyReport:
        """The report of `system` at rest in that pose. InputError for another mechanism."""
        raise NotImplementedError


class WithReport:
    """What has a report to start from, as an equilibrium has."""

    report: AssemblyReport


@dataclass(repr=False)
class AssemblyReport(metaclass=CheckedCalls):
    """The outcome of `nx.assemble`; `print(report)` is the whole of it in words."""

    model: AbsoluteModel
    redundancy: RedundancyReport
    q: np.ndarray
    iterations: int = 0
    length: float = 1.0
    t: float = 0.0
    v: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))
    a: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))
    multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    stresses: Any = None
    states: np.ndarray | None = None
    """States (nz,) of forces, where they are others than described: those of `nx.equilibrium`."""
    gaps: list[JointGap] = field(default_factory=list)
    flipped: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    """The joints that are open in the reference configuration and were closed by moving bodies."""
    pivot_ratio: float = 1.0
    fallback: str = ""

    def _body(self, name: str) -> int:
        if name not in self.model.body_index:
            raise unknown("body", name, self.model.bodies, plural="bodies")
        return self.model.body_index[name]

    def position(self, body: str) -> np.ndarray:
        """Origin of a body in the world (3,) [m]."""
        return self.q[self._body(body), 4:].copy()

    def orientation(self, body: str) -> np.ndarray:
        """Unit quaternion (w, x, y, z) of a body."""
        return self.q[self._body(body), :4].copy()

    def velocity(self, body: str) -> np.ndarray:
        """Velocity of a body's origin in the world (3,) [m/s]."""
        return self.v[self._body(body), 3:].copy()

    def angular_velocity(self, body: str) -> np.ndarray:
        """Angular velocity of a body in world axes (3,) [rad/s]."""
        i = self._body(body)
        return rotation_matrix(self.q[i, :4]) @ self.v[i, :3]

    def acceleration(self, body: str) -> np.ndarray:
        """Acceleration of a body's origin in the world (3,) [m/s²]."""
        return self.a[self._body(body), 3:].copy()

    def angular_acceleration(self, body: str) -> np.ndarray:
        """Angular acceleration of a body in world axes (3,) [rad/s²]."""
        i = self._body(body)
        return rotation_matrix(self.q[i, :4]) @ self.a[i, :3]

    @cached_property
    def _gradients(self) -> np.ndarray:
        return self.model.term_jacobian(self.q, self.t)

    @cached_property
    def least_multipliers(self) -> np.ndarray:
        """The multipliers (nc,) of least norm that give the same motion; `multipliers` are 0 in the rows dropped."""
        from nexdyn.absolute.model.initial import minimum_norm

        return minimum_norm(self.multipliers, self.stresses)

    def reaction(self, joint: str) -> Reaction:
        """The reaction of a joint; see :class:`Reaction`."""
        from nexdyn.absolute.model.configuration import row_units
        from nexdyn.absolute.model.initial import joint_wrench

        self._require_joint(joint)
        model = self.model
        own = model.rows_of_joint.get(joint, [])

        def wrench(lam: np.ndarray) -> np.ndarray:
            return joint_wrench(model, self.q, joint, lam, self._gradients)

        dropped_zero, least = wrench(self.multipliers[own]), wrench(self.least_multipliers[own])
        unique = np.ones(6, dtype=bool)
        stresses = self.stresses[own]
        if stresses.nnz:
            stressed = wrench(stresses.toarray())
            stressed[:3] /= self.length
            scaled = self.stresses.multiply(1.0 / row_units(model, self.length)[:, None])
            most = abs(scaled.tocsr()).max(axis=0).toarray().ravel()
            unique = (np.abs(stressed) < UNIQUE * most / self.length).all(axis=1)
        return Reaction(
            dropped_zero[3:], dropped_zero[:3], np.concatenate([unique[3:], unique[:3]]), least[3:], least[:3]
        )

    def transmitted(self, joint: str) -> tuple[np.ndarray, np.ndarray]:
        """(force [N], moment [N m]) of the whole of a joint on its child: reaction, drivers, couplings, its springs and its motors, less
        what these give to its armature."""
        from nexdyn.absolute.model.initial import at_joint, rows_wrench
        from nexdyn.assembly.loads import effort_on_child, rotors_on_child

        self._require_joint(joint)
        found = self.reaction(joint)
        model = self.model
        on_child = effort_on_child(model, self.q, self.v, joint, self.t, self.states)
        on_child = on_child + rotors_on_child(model, self.q, self.v, self.a, joint)
        extra = at_joint(model, self.q, joint, on_child)
        beyond = [
            row.index
            for row in model.rows
            if (row.driver and row.joint == joint) or joint in tied_joints(model.system, row)
        ]
        extra = extra + rows_wrench(model, self.q, joint, beyond, self.multipliers[beyond], self._gradients)
        return found.force + extra[3:], found.moment + extra[:3]

    def effort(self, name: str) -> float:
        """What a driver takes [N, N m], along its coordinate, to do what it asks; of a coupling, its multiplier with the
        opposite sign: coordinate i of it feels c_i times as much. The torques of a driver of a whole orientation are "turn.x",
        "turn.y", "turn.z"."""
        efforts = self.efforts()
        if name not in efforts:
            raise unknown("driver or coupling", name, efforts)
        return efforts[name]

    def efforts(self) -> dict[str, float]:
        """The efforts of all drivers and couplings, by name."""
        named = [(row.driver or row.coupling, row.component, row.index) for row in self.model.rows]
        return {f"{name}.{part}" if part else name: -float(self.multipliers[r]) for name, part, r in named if name}

    def _require_joint(self, joint: str) -> None:
        if joint not in self.model.system.joints:
            raise unknown("joint", joint, self.model.system.joints)
        if self.multipliers.size == 0 and self.model.nc:
            raise InputError("the report has no reactions: the system was not assembled")

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data (for JSON)."""
        found, model = self.redundancy, self.model
        data: dict[str, Any] = {
            "system": model.system.name,
            "bodies": model.nb,
            "warnings": list(self.warnings),
            "gaps": [gap._asdict() for gap in self.gaps],
            "flipped": list(self.flipped),
        }
        if found is not None:
            data["redundancy"] = {
                "constraints": found.constraints,
                "independent": found.independent,
                "grubler": found.grubler,
                "dof": found.dof,
                "loops": found.loops,
                "rank_gap": found.rank_gap if np.isfinite(found.rank_gap) else None,
                "motions": [motion._asdict() for motion in found.motions],
                "redundant": [dict(vars(row), conflict=list(row.conflict)) for row in found.redundant],
            }
        if self.a.size:
            data["state"] = {
                name: {
                    "position": self.position(name).tolist(),
                    "orientation": self.orientation(name).tolist(),
                    "velocity": self.velocity(name).tolist(),
                    "angular_velocity": self.angular_velocity(name).tolist(),
                    "acceleration": self.acceleration(name).tolist(),
                    "angular_acceleration": self.angular_acceleration(name).tolist(),
                }
                for name in model.bodies[1:]
            }
            data["reactions"] = {
                name: {key: np.asarray(value).tolist() for key, value in self.reaction(name)._asdict().items()}
                for name in model.system.joints
            }
            data["efforts"] = self.efforts()
        return data

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        html: str = drawn("report", self)
        return html

    def __repr__(self) -> str:
        return f"AssemblyReport({self.model.system.name!r}: t = {self.t:g} s, {self.redundancy!r})"

    def __str__(self) -> str:
        from nexdyn.assembly.report_text import report_text

        return report_text(self)

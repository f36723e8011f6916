"""The report of an assembly: data first, text second."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.model import AbsoluteModel
from nexdyn.absolute.motion import joint_wrench, minimum_norm
from nexdyn.errors import InputError, unknown
from nexdyn.spatial.rotations import rotation_matrix

UNIQUE = 1e-9
"""A component that no self-stress changes by more than this, relative to the stress, is unique."""


class JointGap(NamedTuple):
    """How far a joint is from closed: distance [m], misalignment [rad]; `driver`: it is a driver that is not followed."""

    joint: str
    distance: float
    angle: float
    driver: bool = False

    def __str__(self) -> str:
        parts = [f"{self.distance:.3g} m"] if self.distance > 1e-9 else []
        parts += [f"{np.degrees(self.angle):.3g}°"] if self.angle > 1e-9 else []
        what = f"driver {self.joint!r} is missed by" if self.driver else f"joint {self.joint!r} stays open by"
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


@dataclass(frozen=True)
class RedundancyReport:
    """Redundant rows and what they leave: dof = 6 · bodies − independent rows; grubler counts all rows as independent."""

    redundant: list[RedundantRow]
    constraints: int
    independent: int
    grubler: int
    dof: int
    rank_gap: float
    joints: int
    loops: int


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


@dataclass
class AssemblyReport:
    """The outcome of `nx.assemble`; `print(report)` is the whole of it in words."""

    model: AbsoluteModel
    redundancy: RedundancyReport
    q: np.ndarray
    iterations: int = 0
    length: float = 1.0
    v: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))
    a: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))
    multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    stresses: Any = None
    gaps: list[JointGap] = field(default_factory=list)
    flipped: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    pivot_ratio: float = 1.0

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

    def reaction(self, joint: str) -> Reaction:
        """The reaction of a joint; see :class:`Reaction`."""
        joints = list(self.model.system.joints)
        if joint not in joints:
            raise unknown("joint", joint, joints)
        if self.multipliers.size == 0 and self.model.nc:
            raise InputError("the report has no reactions: the system was not assembled")
        k = joints.index(joint)
        J = self.model.term_jacobian(self.q)
        dropped_zero = joint_wrench(self.model, self.q, k, self.multipliers, J)
        least = joint_wrench(self.model, self.q, k, minimum_norm(self.multipliers, self.stresses), J)
        unique = np.ones(6, dtype=bool)
        if self.stresses is not None and self.stresses.shape[1]:
            own = self.model.rows_of_joint.get(joint, [])
            stressed = joint_wrench(self.model, self.q, k, self.stresses.toarray(), J)
            scale = np.array([1.0 / self.length] * 3 + [1.0] * 3)[:, None] if own else 1.0
            unique = (np.abs(stressed * scale) < UNIQUE * max(1.0, np.abs(stressed * scale).max())).all(axis=1)
        return Reaction(
            dropped_zero[3:], dropped_zero[:3], np.concatenate([unique[3:], unique[:3]]), least[3:], least[:3]
        )

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
        return data

    def __str__(self) -> str:
        from nexdyn.analysis.report_text import report_text

        return report_text(self)

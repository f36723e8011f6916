"""Pinocchio as an oracle, spoken to in NexDyn's coordinates.

    q_pin = f(q),   v_pin = B(q) v,   a_pin = B a + Ḃ v,   tau = Bᵀ tau_pin,   M = Bᵀ M_pin B

B holds what the two see differently. A mimic joint is a row of its leader's column: pin's model is built without mimic.
The velocity of a planar joint is in the child's axes in pin, in the parent's here. A free joint has the linear part
first.
Quaternions are (x, y, z, w) and follow the position in pin; continuous and planar angles are (cos, sin).

Of URDF's planar joints, those with <axis xyz="0 0 1"/> can be compared: pin takes any axis for z.
`joint_names` is `nx.Tree(system).joint_names`. A welded root link is in pin's `total_mass`, but in nothing that moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from nexdyn.spatial.rotations import rotation_about, rotation_matrix


def moving_joints(system: Any) -> list[str]:
    """The joints that have coordinates of their own, in the order of the system."""
    return [name for name, joint in system.joints.items() if joint.nv and joint.mimic is None]


def forward_kinematics(system: Any, joint_names: list[str], q: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """X_WC = X_WP X_PJ X_J(q) X_CJ⁻¹ of every body, by the formulas of the joints and nothing else."""
    coordinates, k = {}, 0
    for name in joint_names:
        coordinates[name] = q[k : k + system.joint(name).nq]
        k += system.joint(name).nq
    poses = {"ground": (np.eye(3), np.zeros(3))}
    for name, joint in system.joints.items():
        own = coordinates.get(name, np.zeros(0))
        if joint.mimic is not None:
            own = joint.mimic.multiplier * coordinates[joint.mimic.joint] + joint.mimic.offset
        R, p = {
            "fixed": lambda q: (np.eye(3), np.zeros(3)),
            "revolute": lambda q: (rotation_about((0, 0, 1), q[0]), np.zeros(3)),
            "prismatic": lambda q: (np.eye(3), np.array((0, 0, q[0]))),
            "planar": lambda q: (rotation_about((0, 0, 1), q[2]), np.array((q[0], q[1], 0))),
            "free": lambda q: (rotation_matrix(q[:4]), q[4:]),
        }[joint.kind](own)
        R_AJ, p_AJ, R_BJ, p_BJ = joint.frames({})
        R_WP, p_WP = poses[joint.parent.name]
        R_WC = R_WP @ R_AJ @ R @ R_BJ.T
        poses[joint.child.name] = R_WC, p_WP + R_WP @ (p_AJ + R_AJ @ p) - R_WC @ p_BJ
    return poses


def composite_inertia(
    system: Any, poses: dict[str, tuple[np.ndarray, np.ndarray]]
) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass (3,) and inertia (3, 3) about it in world axes, of all bodies in these poses."""
    parts = []
    for name, body in system.bodies.items():
        (R, p), numbers = poses[name], body.resolved({})
        parts.append((numbers.mass, p + R @ numbers.com, R @ numbers.inertia @ R.T))
    mass = sum(m for m, _, _ in parts)
    com = sum(m * c for m, c, _ in parts) / mass
    # Σ I + m (|d|² 1 − d dᵀ), d from the common centre of mass
    inertia = sum(I + m * (d @ d * np.eye(3) - np.outer(d, d)) for m, c, I in parts for d in [c - com])
    return mass, com, inertia


class PinOracle:
    """The robot of a URDF file (or text) in Pinocchio; q, v, a, tau are NexDyn's, one state at a time."""

    def __init__(
        self, urdf: Path | str, system: Any, joint_names: Sequence[str] | None = None, base: str = "fixed"
    ) -> None:
        build = pin.buildModelFromXML if isinstance(urdf, str) else pin.buildModelFromUrdf
        source = urdf if isinstance(urdf, str) else str(urdf)
        self.model = build(source, pin.JointModelFreeFlyer()) if base == "free" else build(source)
        self.data = self.model.createData()
        self.joint_names = list(moving_joints(system) if joint_names is None else joint_names)
        joints = {name: system.joint(name) for name in self.joint_names}
        self.start: dict[str, tuple[int, int]] = {}
        self.nq = self.nv = 0
        for name, joint in joints.items():
            self.start[name] = (self.nq, self.nv)
            self.nq, self.nv = self.nq + joint.nq, self.nv + joint.nv

        self._kinds = {name: joint.kind for name, joint in joints.items()}
        self._rows: list[
            tuple[Any, str, float, float]
        ] = []  # pin's joint, the joint here that drives it, factor, offset
        for i in range(1, self.model.njoints):
            name, factor, offset = self.model.names[i], 1.0, 0.0
            mimic = system.joint(name).mimic
            if mimic is not None:
                name, factor, offset = mimic.joint, float(mimic.multiplier), float(mimic.offset)
            self._rows.append((self.model.joints[i], name, factor, offset))
        if {name for _, name, _, _ in self._rows} != set(self.joint_names):
            raise ValueError(f"pin moves {sorted(self.model.names)[1:]}, here {self.joint_names} move")

    def random_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q (nq,), v, a, tau (nv,); angles and lengths up to 1, quaternions of any attitude."""
        q = rng.uniform(-1.0, 1.0, self.nq)
        for name, (k, _) in self.start.items():
            if self._kinds[name] == "free":
                q[k : k + 4] = rng.normal(size=4)
                q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        v, a, tau = rng.uniform(-1.0, 1.0, (3, self.nv))
        return q, v, a, tau

    def neutral(self) -> np.ndarray:
        """The q of the described pose, (nq,)."""
        q = np.zeros(self.nq)
        for name, (k, _) in self.start.items():
            if self._kinds[name] == "free":
                q[k] = 1.0
        return q

    # ── the map ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def q_pin(self, q: np.ndarray) -> np.ndarray:
        """f(q)."""
        out = np.empty(self.model.nq)
        for joint, name, factor, offset in self._rows:
            k, i, kind = self.start[name][0], joint.idx_q, self._kinds[name]
            if kind == "free":
                w, x, y, z, *p = q[k : k + 7]
                out[i : i + 7] = (*p, x, y, z, w)
            elif kind == "planar":
                out[i : i + 4] = (q[k], q[k + 1], np.cos(q[k + 2]), np.sin(q[k + 2]))
            elif joint.nq == 2:
                angle = factor * q[k] + offset
                out[i : i + 2] = (np.cos(angle), np.sin(angle))
            else:
                out[i] = factor * q[k] + offset
        return out

    def B(self, q: np.ndarray) -> np.ndarray:
        """v_pin = B v, (nv_pin, nv)."""
        B = np.zeros((self.model.nv, self.nv))
        for joint, name, factor, _ in self._rows:
            (k, j), i, kind = self.start[name], joint.idx_v, self._kinds[name]
            if kind == "free":
                B[i : i + 3, j + 3 : j + 6] = B[i + 3 : i + 6, j : j + 3] = np.eye(3)
            elif kind == "planar":
                c, s = np.cos(q[k + 2]), np.sin(q[k + 2])
                B[i : i + 3, j : j + 3] = ((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0))
            else:
                B[i, j] = factor
        return B

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Ḃ v, (nv_pin,)."""
        out = np.zeros(self.model.nv)
        for joint, name, _, _ in self._rows:
            (k, j), i = self.start[name], joint.idx_v
            if self._kinds[name] == "planar":
                c, s = np.cos(q[k + 2]), np.sin(q[k + 2])
                x, y, w = v[j : j + 3]
                out[i : i + 2] = w * (-s * x + c * y), w * (-c * x - s * y)
        return out

    # ── the algorithms ──────────────────────────────────────────────────────────────────────────────────────────────

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """tau (nv,)."""
        B = self.B(q)
        return B.T @ pin.rnea(self.model, self.data, self.q_pin(q), B @ v, B @ a + self.bias(q, v))

    def crba(self, q: np.ndarray) -> np.ndarray:
        """M (nv, nv)."""
        B = self.B(q)
        M = np.triu(pin.crba(self.model, self.data, self.q_pin(q)))
        return B.T @ (M + np.triu(M, 1).T) @ B

    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """a (nv,): pin's ABA, or M⁻¹ (tau − h) where mimic joints make B no square."""
        B = self.B(q)
        if B.shape[0] != B.shape[1]:
            return np.linalg.solve(self.crba(q), tau - self.rnea(q, v, np.zeros(self.nv)))
        a = pin.aba(self.model, self.data, self.q_pin(q), B @ v, np.linalg.solve(B.T, tau))
        return np.linalg.solve(B, a - self.bias(q, v))

    def place(self, q: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
        """R_WL (3, 3) and p_WL (3,) of a link."""
        pin.framesForwardKinematics(self.model, self.data, self.q_pin(q))
        X = self.data.oMf[self.model.getFrameId(link, pin.BODY)]
        return X.rotation.copy(), X.translation.copy()

    def composite_inertia(self, q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, centre of mass (3,) and inertia (3, 3) about it in world axes, of all that pin moves."""
        pin.ccrba(self.model, self.data, self.q_pin(q), np.zeros(self.model.nv))
        return (
            self.data.Ig.mass,
            pin.centerOfMass(self.model, self.data, self.q_pin(q)).copy(),
            self.data.Ig.inertia.copy(),
        )

    def total_mass(self) -> float:
        """The mass of all links [kg], that of a welded root included."""
        return float(pin.computeTotalMass(self.model) + self.model.inertias[0].mass)

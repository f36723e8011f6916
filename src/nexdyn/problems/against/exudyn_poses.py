"""Initial poses and velocities of Exudyn's nodes, and force laws that its models give as functions.

pose  reference + initial coordinates; Euler parameters, Tait–Bryan angles R = Rx Ry Rz, or a rotation vector
ω     from the rates of these: 2 G(p) ṗ of Euler parameters, their own Jacobian of angles
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy.spatial.transform import Rotation

from nexdyn.errors import InputError

Item = Mapping[str, Any]


@dataclass
class Pose:
    """A frame: R (3, 3), p (3,), and its velocity in the world: omega, v (3,)."""

    R: np.ndarray
    p: np.ndarray
    omega: np.ndarray
    v: np.ndarray

    def at(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity of a point of the frame."""
        r = self.R @ point
        return self.p + r, self.v + np.cross(self.omega, r)


STILL = Pose(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


def pose_of(node: Item) -> Pose:
    """The initial pose and velocity of a node."""
    q = np.add(node["referenceCoordinates"], node.get("initialCoordinates", 0.0))
    v = np.array(node.get("initialVelocities", np.zeros(len(q))), float)
    kind = node["nodeType"]
    if kind in ("Point", "PointGround"):
        return Pose(np.eye(3), q, np.zeros(3), v)
    if kind == "Point2D":
        return Pose(np.eye(3), np.append(q, 0), np.zeros(3), np.append(v, 0))
    if kind == "RigidBody2D":
        R = Rotation.from_euler("z", q[2]).as_matrix()
        return Pose(R, np.append(q[:2], 0), np.array([0, 0, v[2]]), np.append(v[:2], 0))
    rotation, rate = q[3:], v[3:]
    if kind == "RigidBodyEP":
        w, x, y, z = rotation / np.linalg.norm(rotation)
        R = Rotation.from_quat([x, y, z, w]).as_matrix()
        G = 2 * np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
        return Pose(R, q[:3], G @ rate, v[:3])
    if kind == "RigidBodyRxyz":
        a, b, _ = rotation
        Rx, Ry = Rotation.from_euler("x", a).as_matrix(), Rotation.from_euler("y", b).as_matrix()
        R = Rotation.from_euler("XYZ", rotation).as_matrix()
        axes = np.column_stack([[1, 0, 0], Rx[:, 1], (Rx @ Ry)[:, 2]])
        return Pose(R, q[:3], axes @ rate, v[:3])
    if kind == "RigidBodyRotVecLG":
        R = Rotation.from_rotvec(rotation).as_matrix()
        return Pose(R, q[:3], R @ rate, v[:3])
    raise InputError(f"node of type {kind!r} has no counterpart")


def attraction(strength: float) -> Any:
    """Force on A: G m_A m_B (p_B − p_A)/|p_B − p_A|³."""

    def function(_t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        d = B[:3] - A[:3]
        out[:3] = 0.0
        out[3:] = strength / np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2) ** 3 * d

    return njit(function)


def along_the_world(K: np.ndarray, D: np.ndarray, offset: np.ndarray) -> Any:
    """Force on A: K (p_B − p_A − offset) + D (v_B − v_A), axis by axis of the world."""

    def function(_t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        out[:3] = 0.0
        out[3:] = K * (B[:3] - A[:3] - offset) + D * (B[15:18] - A[15:18])

    return njit(function)


def power_spring(k: float, d: float, exponent: float, length: float) -> Any:
    """Force on A: (d δ̇ + k sign(δ) |δ|^exponent) along the connection, δ its elongation."""

    def function(_t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        r, v = B[:3] - A[:3], B[15:18] - A[15:18]
        L = np.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2)
        delta = L - length
        rate = (r[0] * v[0] + r[1] * v[1] + r[2] * v[2]) / L
        out[:3] = 0.0
        out[3:] = (d * rate + k * np.sign(delta) * np.abs(delta) ** exponent) / L * r

    return njit(function)


def cubic_spring(k: float, d: float) -> Any:
    """Effort −(k u/10 + k u³ + d u̇) of a coordinate."""

    def function(_t: float, u: float, v: float) -> float:
        return -(0.1 * k * u + k * u**3 + d * v)

    return njit(function)

"""Shapes, poses and an independent proof of distances, for the tests of geometry. NumPy only, no code of the package's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

Description = tuple[str, dict[str, Any]]
KINDS = ("sphere", "capsule", "box", "cylinder", "cone", "ellipsoid", "hull")
CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def random_shape(kind: str, rng: np.random.Generator, corners: int = 12) -> Description:
    """A shape with sizes from 0.2 to 2 m."""

    def length() -> float:
        return float(10.0 ** rng.uniform(-0.7, 0.3))

    if kind == "sphere":
        return kind, {"radius": length()}
    if kind == "box":
        return kind, {"size": (length(), length(), length())}
    if kind == "ellipsoid":
        return kind, {"semi_axes": (length(), length(), length())}
    if kind == "hull":
        return kind, {"points": 0.5 * rng.normal(size=(corners, 3))}
    return kind, {"radius": length(), "length": length()}


def random_poses(count: int, rng: np.random.Generator, spread: float = 0.8) -> np.ndarray:
    """(count, 12): rotation row by row, position."""
    turns = Rotation.from_quat(rng.normal(size=(count, 4))).as_matrix().reshape(count, 9)
    return np.hstack([turns, spread * rng.normal(size=(count, 3))])


def width(shape: Description, n: np.ndarray) -> np.ndarray:
    """The support function h(n) = max n·x of n (…, 3), by its textbook formula."""
    kind, s = shape
    x, y, z = n[..., 0], n[..., 1], n[..., 2]
    across, length = np.hypot(x, y), np.linalg.norm(n, axis=-1)
    if kind == "sphere":
        return np.asarray(s["radius"] * length)
    if kind == "capsule":
        return np.asarray(s["radius"] * length + 0.5 * s["length"] * abs(z))
    if kind == "box":
        return np.asarray(0.5 * (abs(n) @ np.array(s["size"])))
    if kind == "cylinder":
        return np.asarray(s["radius"] * across + 0.5 * s["length"] * abs(z))
    if kind == "cone":
        return np.asarray(np.maximum(0.5 * s["length"] * z, s["radius"] * across - 0.5 * s["length"] * z))
    if kind == "ellipsoid":
        return np.asarray(np.linalg.norm(n * np.array(s["semi_axes"]), axis=-1))
    return np.asarray((n @ np.asarray(s["points"]).T).max(axis=-1))


def outside(shape: Description, x: np.ndarray) -> float:
    """How far x (3,) violates the inequalities of the shape."""
    kind, s = shape
    rho = np.hypot(x[0], x[1])
    if kind == "sphere":
        return float(np.linalg.norm(x) - s["radius"])
    if kind == "capsule":
        z = np.clip(x[2], -0.5 * s["length"], 0.5 * s["length"])
        return float(np.linalg.norm(x - [0, 0, z]) - s["radius"])
    if kind == "box":
        return float((abs(x) - 0.5 * np.array(s["size"])).max())
    if kind == "cylinder":
        return float(max(rho - s["radius"], abs(x[2]) - 0.5 * s["length"]))
    if kind == "cone":
        r, h = s["radius"], 0.5 * s["length"]
        return float(max(-h - x[2], (2 * h * rho + r * (x[2] - h)) / np.hypot(2 * h, r)))
    if kind == "ellipsoid":
        return float((np.linalg.norm(x / np.array(s["semi_axes"])) - 1.0) * min(s["semi_axes"]))
    from scipy.spatial import ConvexHull

    equations = ConvexHull(s["points"]).equations
    return float((equations[:, :3] @ x + equations[:, 3]).max())


def size(shape: Description) -> float:
    """Half the extent of the shape, the largest of the six."""
    axes = np.vstack([np.eye(3), -np.eye(3)])
    return float(width(shape, axes).max())


def slab(a: Description, b: Description, pose_a: np.ndarray, pose_b: np.ndarray, n: np.ndarray) -> np.ndarray:
    """σ(n) = −h_A(n) − h_B(−n) of normals n (…, 3) in the world: no pair is farther apart, nor parted sooner, than max σ."""
    R, Q = pose_a[:9].reshape(3, 3), pose_b[:9].reshape(3, 3)
    return np.asarray(n @ (pose_b[9:] - pose_a[9:]) - width(a, n @ R) - width(b, -n @ Q))


def local(pose: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A point of the world in the frame of a pose."""
    return np.asarray(pose[:9].reshape(3, 3).T @ (x - pose[9:]))


def violation(
    a: Description, b: Description, pose_a: np.ndarray, pose_b: np.ndarray, answer: np.ndarray
) -> tuple[float, float]:
    """(length, angle) by which an answer (d, n, a, b, …) breaks the conditions of a shortest way, over the size."""
    d, n, p, q = answer[0], answer[1:4], answer[4:7], answer[7:10]
    scale = size(a) + size(b) + np.linalg.norm(pose_b[9:] - pose_a[9:])
    lengths = [
        np.linalg.norm(q - p - d * n),
        abs(d - slab(a, b, pose_a, pose_b, n)),
        outside(a, local(pose_a, p)),
        outside(b, local(pose_b, q)),
    ]
    return max(lengths) / scale, abs(np.linalg.norm(n) - 1.0)


def deepest_by_brute_force(x: np.ndarray, y: np.ndarray) -> float:
    """max σ(n) of overlapping polytopes with vertices x, y (k, 3), over all face normals and products of edges."""
    from scipy.spatial import ConvexHull

    normals, edges = [], []
    for points in (x, y):
        hull = ConvexHull(points)
        normals.append(hull.equations[:, :3])
        corners = points[hull.simplices]
        edges.append(
            np.vstack([corners[:, 0] - corners[:, 1], corners[:, 1] - corners[:, 2], corners[:, 2] - corners[:, 0]])
        )
    crossed = np.cross(edges[0][:, None], edges[1][None]).reshape(-1, 3)
    every = np.vstack([*normals, crossed])
    lengths = np.linalg.norm(every, axis=1)
    every = every[lengths > 1e-9] / lengths[lengths > 1e-9, None]
    every = np.vstack([every, -every])
    return float(((every @ y.T).min(axis=1) - (every @ x.T).max(axis=1)).max())

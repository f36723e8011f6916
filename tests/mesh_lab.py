"""Meshes, and their distances by brute force, for the tests of geometry. NumPy only, no code of the package's."""

from __future__ import annotations

import numpy as np

Raw = tuple[np.ndarray, np.ndarray]
FACES = np.array([
    (0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5),
])  # fmt: skip


def box(size: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Raw:
    """Corners numbered by the bits of their signs: 1 is +x, 2 is +y, 4 is +z."""
    bits = np.arange(8)
    corners = np.column_stack([(bits >> k & 1) - 0.5 for k in range(3)]) * size
    return corners, FACES


def split(mesh: Raw) -> Raw:
    """Every triangle as four."""
    x, t = mesh
    ends = np.sort(np.stack([t, np.roll(t, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    once, of = np.unique(ends, axis=0, return_inverse=True)
    a, b, c = t.T
    f, g, h = (len(x) + of.reshape(-1, 3)).T
    halved = np.vstack([x, 0.5 * (x[once[:, 0]] + x[once[:, 1]])])
    return halved, np.vstack([np.column_stack(q) for q in ((a, f, h), (f, b, g), (h, g, c), (f, g, h))])


def ball(radius: float = 1.0, times: int = 2) -> Raw:
    """A sphere from an octahedron, split."""
    x = np.vstack([np.eye(3), -np.eye(3)])
    t = np.array([(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)])
    for _ in range(times):
        x, t = split((x, t))
        x = x / np.linalg.norm(x, axis=1)[:, None]
    return radius * x, t


def bumpy(rng: np.random.Generator, times: int = 1, depth: float = 0.4) -> Raw:
    """A star-shaped body that is not convex."""
    x, t = ball(1.0, times)
    return x * rng.uniform(1.0 - depth, 1.0, size=(len(x), 1)), t


def gear(teeth: int, per: int, radius: float = 0.05, tooth: float = 0.0045, width: float = 0.02) -> Raw:
    """A toothed disc about z: 4 · teeth · per triangles."""
    n = teeth * per
    angle = 2.0 * np.pi / n * np.arange(n)
    rho = radius + tooth * np.clip(1.6 * np.cos(teeth * angle), -1.0, 1.0)
    ring = np.column_stack([rho * np.cos(angle), rho * np.sin(angle), np.full(n, -0.5 * width)])
    x = np.vstack([ring, ring + np.array([0.0, 0.0, width]), [[0.0, 0.0, -0.5 * width], [0.0, 0.0, 0.5 * width]]])
    i = np.arange(n)
    j, low, high = (i + 1) % n, np.full(n, 2 * n), np.full(n, 2 * n + 1)
    rows = ((i, j, n + j), (i, n + j, n + i), (j, i, low), (n + i, n + j, high))
    return x, np.vstack([np.column_stack(row) for row in rows])


def placed(mesh: Raw, pose: np.ndarray) -> np.ndarray:
    """The triangles (nt, 3, 3) in the world."""
    x, t = mesh
    return np.asarray((x @ pose[:9].reshape(3, 3).T + pose[9:])[t])


def point_to_triangles(x: np.ndarray, tri: np.ndarray) -> np.ndarray:
    """Distances (n, m) of points (n, 3) from triangles (m, 3, 3): to the plane where the foot is inside, else to the edges."""
    a, b, c = (tri[None, :, k] for k in range(3))
    p = x[:, None]
    n = np.cross(b - a, c - a)
    n = n / np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-300)
    inside = np.ones(p.shape[:1] + tri.shape[:1], dtype=bool)
    least = np.full(inside.shape, np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(v - u, p - u) * n).sum(axis=-1) >= 0.0
        s = ((p - u) * (v - u)).sum(axis=-1) / np.maximum(((v - u) ** 2).sum(axis=-1), 1e-300)
        least = np.minimum(least, np.linalg.norm(p - u - np.clip(s, 0.0, 1.0)[..., None] * (v - u), axis=-1))
    return np.where(inside, abs(((p - a) * n).sum(axis=-1)), least)


def winding(x: np.ndarray, tri: np.ndarray) -> np.ndarray:
    """How often a closed surface goes around points x (n, 3): the solid angle over 4π (van Oosterom and Strackee 1983)."""
    a, b, c = (tri[None, :, k] - x[:, None] for k in range(3))
    u, v, w = (np.linalg.norm(y, axis=-1) for y in (a, b, c))
    above = (a * np.cross(b, c)).sum(axis=-1)
    below = u * v * w + (a * b).sum(axis=-1) * w + (b * c).sum(axis=-1) * u + (c * a).sum(axis=-1) * v
    return np.asarray(2.0 * np.arctan2(above, below).sum(axis=1) / (4.0 * np.pi))


def signed(x: np.ndarray, tri: np.ndarray) -> np.ndarray:
    """Distances (n,) of points from a closed surface, negative inside."""
    d = point_to_triangles(x, tri).min(axis=1)
    return np.where(winding(x, tri) > 0.5, -d, d)


def edges(mesh: Raw, pose: np.ndarray) -> np.ndarray:
    """The edges (ne, 2, 3) in the world, each once."""
    x, t = mesh
    ends = np.unique(np.sort(np.stack([t, np.roll(t, -1, axis=1)], axis=2).reshape(-1, 2), axis=1), axis=0)
    return np.asarray((x @ pose[:9].reshape(3, 3).T + pose[9:])[ends])


def segment_distances(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Least distances (n, m) of segments (n, 2, 3) and (m, 2, 3): inside both, else at an end."""
    p, e = one[:, None, 0], one[:, None, 1] - one[:, None, 0]
    q, f = two[None, :, 0], two[None, :, 1] - two[None, :, 0]
    w, N = q - p, np.cross(e, f)
    NN = np.maximum((N * N).sum(axis=-1), 1e-300)
    crossed = NN > 1e-24 * (e**2).sum(axis=-1) * (f**2).sum(axis=-1)  # parallel ones are nearest at an end
    s, t = (N * np.cross(w, f)).sum(axis=-1) / NN, (N * np.cross(w, e)).sum(axis=-1) / NN
    both = crossed & (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    least = np.where(both, abs((w * N).sum(axis=-1)) / np.sqrt(NN), np.inf)
    for base, way, other, along in ((q, f, p, e), (p, e, q, f)):
        for end in (0.0, 1.0):
            at = base + end * way
            r = np.clip(((at - other) * along).sum(axis=-1) / (along**2).sum(axis=-1), 0.0, 1.0)
            least = np.minimum(least, np.linalg.norm(at - other - r[..., None] * along, axis=-1))
    return least


def apart_by_brute_force(a: Raw, b: Raw, X: np.ndarray, Y: np.ndarray) -> float:
    """The least distance of surfaces that do not cross: corners to triangles, edges to edges."""
    P, Q = placed(a, X), placed(b, Y)
    return float(
        min(
            point_to_triangles(P.reshape(-1, 3), Q).min(),
            point_to_triangles(Q.reshape(-1, 3), P).min(),
            segment_distances(edges(a, X), edges(b, Y)).min(),
        )
    )


def depth_by_brute_force(a: Raw, b: Raw, X: np.ndarray, Y: np.ndarray, parts: int) -> float:
    """The greatest depth of points on the edges of one inside the other, `parts` to an edge; −∞ where none is inside."""
    deepest = -np.inf
    for one, at, other, of in ((a, X, b, Y), (b, Y, a, X)):
        ends, s = edges(one, at), np.linspace(0.0, 1.0, parts + 1)[:, None]
        x = (ends[:, None, 0] * (1.0 - s) + ends[:, None, 1] * s).reshape(-1, 3)
        deepest = max(deepest, float(-signed(x, placed(other, of)).min()))
    return deepest


def poses(positions: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
    """(n, 12) at positions (n, 3), turned by chance where `rng` is given."""
    from scipy.spatial.transform import Rotation

    n = len(positions)
    R = np.tile(np.eye(3).ravel(), (n, 1))
    if rng is not None:
        R = Rotation.from_quat(rng.normal(size=(n, 4))).as_matrix().reshape(n, 9)
    return np.hstack([R, positions])

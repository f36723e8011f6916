"""Distances of triangle meshes, compared with Coal's: two toothed gears of 764, 3,056 and 12,224 triangles, in random turns.

Both search from nothing (cold): Coal with bounding volumes OBBRSS, called from Python, whose call is 1.6 µs. Then ours in a motion with the
pairs of triangles that may be nearest kept from pose to pose, ours of gears that overlap, and the building of hierarchies and
distance fields.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measure import Effort, Report, Row, Work, alternate, compared
from nexdyn.geometry.field import field
from nexdyn.geometry.mesh import Surface, mesh, tables_of
from nexdyn.geometry.mesh_distance import BY_POSE, mesh_distances, mesh_work
from nexdyn.geometry.mesh_kept import MovingMeshes
from nexdyn.geometry.narrow import ANSWER

POSES = 40
TURN = 2e-4
"""Angle [rad] from pose to pose of a motion: 2 rad/s in steps of 0.1 ms."""


def run(effort: Effort) -> Report:
    report = Report("meshes", "signed distance, witness points and normal of two gears as triangle meshes")
    try:
        import coal
    except ImportError:
        coal = None
        report.notes.append("coal is not installed: pip install coal")
    rng = np.random.default_rng(1)
    x, t = gear(19, 10, 1)
    for level in range(3):
        made = mesh(x, t)
        one, count = made.surface, len(t)
        angles = rng.uniform(0.0, 2.0 * np.pi, (POSES, 2))
        X, Y = turned(angles[:, 0], 0.0), turned(angles[:, 1], 0.113)
        mine = {"nexdyn": queries(one, X, Y, keep=False)}
        if coal is not None:
            mine["coal"] = coals(coal, x, t, X, Y)
        times = per_pose(alternate(mine, effort))
        what = f"gears of {count} triangles, apart, cold"
        if coal is None:
            report.rows.append(Row(what, "µs", 1e6 * float(np.median(times["nexdyn"]))))
        else:
            report.rows.append(compared(what, "µs", 1e6, times, "nexdyn", "coal", 1.0 / 1.5))
        motion = TURN * np.arange(POSES)
        P, Q = turned(motion, 0.0), turned(-motion, 0.113)
        deep = turned(angles[:, 1], 0.104)
        others = {
            "in motion, nearest triangles tried first": queries(one, P, Q, keep=True),
            "in motion, candidates kept": kept(one, P, Q),
            "in motion, teeth 1.5 mm apart, candidates kept": kept(one, P, turned(-motion, 0.104)),
            "overlapping by 0.25 mm in motion, candidates kept": kept(one, P, turned(-motion, 0.1)),
            "overlapping by 0.25 mm in motion, cold": queries(one, P, turned(-motion, 0.1), keep=False),
            "overlapping": queries(one, X, deep, keep=False),
        }
        for name, values in per_pose(alternate(others, effort)).items():
            took = 1e6 * float(np.median(values))
            target, met = ("≤ 100", took <= 100.0) if level == 1 and "kept" in name else ("", None)
            report.rows.append(Row(f"gears of {count} triangles, {name}", "µs", took, target=target, met=met))
        building: dict[str, Work] = {"hierarchy and normals": lambda n, v=x, f=t: [tables_of(v, f) for _ in range(n)]}
        if level == 2:
            building["distance field"] = lambda n, m=made: [field(m) for _ in range(n)]
        for name, values in alternate(building, effort).items():
            took = 1e3 * float(np.median(values))
            target, met = ("≤ 5,000", took <= 5000.0) if name == "distance field" else ("", None)
            report.rows.append(Row(f"{name} of {count} triangles", "ms", took, target=target, met=met))
        if level == 2:
            of = field(made)
            megabytes = sum(x.nbytes for x in (of.tables.coefficients, of.tables.hints, *made.surface.tables)) / 1e6
            what = f"distance field of {count} triangles"
            report.rows.append(Row(f"{what}: memory", "MB", megabytes, target="≤ 100", met=megabytes <= 100.0))
            report.rows.append(Row(f"{what}: error near the surface, in spacings", "1", of.error / of.spacing))
        x, t = split(x, t)
    return report


def per_pose(times: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: [value / POSES for value in values] for name, values in times.items()}


def gear(teeth: int, per: int, more: int) -> tuple[np.ndarray, np.ndarray]:
    """A toothed disc of 100 mm about z, 20 mm wide; its outline has teeth · per + more corners."""
    n = teeth * per + more
    angle = 2.0 * np.pi / n * np.arange(n)
    rho = 0.05 + 0.0045 * np.clip(1.6 * np.cos(teeth * angle), -1.0, 1.0)
    ring = np.column_stack([rho * np.cos(angle), rho * np.sin(angle), np.full(n, -0.01)])
    x = np.vstack([ring, ring + np.array([0.0, 0.0, 0.02]), [[0.0, 0.0, -0.01], [0.0, 0.0, 0.01]]])
    i = np.arange(n)
    j, low, high = (i + 1) % n, np.full(n, 2 * n), np.full(n, 2 * n + 1)
    rows = ((i, j, n + j), (i, n + j, n + i), (j, i, low), (n + i, n + j, high))
    return x, np.vstack([np.column_stack(row) for row in rows])


def split(x: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every triangle as four."""
    ends = np.sort(np.stack([t, np.roll(t, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    once, of = np.unique(ends, axis=0, return_inverse=True)
    a, b, c = t.T
    f, g, h = (len(x) + of.reshape(-1, 3)).T
    halved = np.vstack([x, 0.5 * (x[once[:, 0]] + x[once[:, 1]])])
    return halved, np.vstack([np.column_stack(q) for q in ((a, f, h), (f, b, g), (h, g, c), (f, g, h))])


def turned(angle: np.ndarray, at: float) -> np.ndarray:
    """Poses (n, 12) turned about z, at x [m]; those away from the origin 3 mm up."""
    X = np.zeros((len(angle), 12))
    X[:, 0], X[:, 1], X[:, 3], X[:, 4], X[:, 8] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle), 1.0
    X[:, 9], X[:, 11] = at, 0.003 if at else 0.0
    return X


def queries(one: Surface, X: np.ndarray, Y: np.ndarray, keep: bool) -> Work:
    """Work that answers all poses: each from nothing, or (keep) from the triangles of the one before."""
    answers, status, scratch = np.zeros((1, ANSWER)), np.zeros(1, dtype=int), mesh_work()
    near, margins = np.full((1, 2), -1), np.zeros(2)
    mesh_distances(one.tables, one.tables, margins, BY_POSE, X[:1], Y[:1], scratch, answers, near, status)

    def answer(count: int) -> None:
        for _ in range(count):
            for k in range(POSES):
                if not keep:
                    near[:] = -1
                mesh_distances(
                    one.tables, one.tables, margins, BY_POSE, X[k : k + 1], Y[k : k + 1], scratch, answers, near, status
                )

    return answer


def kept(one: Surface, X: np.ndarray, Y: np.ndarray) -> Work:
    """Work that answers a motion, there and back, with the candidates of the pose before."""
    moving = MovingMeshes(one, one)

    def answer(count: int) -> None:
        for k in range(count):
            moving.distances(*((X, Y) if k % 2 == 0 else (X[::-1].copy(), Y[::-1].copy())))

    return answer


def coals(coal: Any, x: np.ndarray, t: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Work:
    """The same by Coal."""
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(t), len(x))
    vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    vertices.extend(list(x))
    triangles.extend([coal.Triangle(*map(int, row)) for row in t])
    model.addSubModel(vertices, triangles)
    model.endModel()
    placed = [tuple(coal.Transform3s(T[:9].reshape(3, 3), T[9:]) for T in pair) for pair in zip(X, Y, strict=True)]
    request, result = coal.DistanceRequest(), coal.DistanceResult()

    def answer(count: int) -> None:
        for _ in range(count):
            for P, Q in placed:
                result.clear()
                coal.distance(model, P, model, Q, request, result)

    return answer

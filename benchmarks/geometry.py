"""Distances of convex shapes, compared with Coal's.

The same pairs in the same random poses. Ours run in one compiled call of all pairs;
Coal's C++ is called from Python pair by pair, and its time is given as it is and less the cost of a call, which is that of
two spheres. Both sides find distance, witness points and normal; Coal with its default tolerances (1e-6), ours to 1e-13 of
the size.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.measure import Effort, Report, Row, Work, alternate, compared
from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.narrow import ANSWER, distances, work

PAIRS = 200
SHAPES: dict[str, dict[str, Any]] = {
    "sphere": {"radius": 0.5},
    "capsule": {"radius": 0.2, "length": 1.0},
    "box": {"size": (1.0, 0.6, 0.4)},
    "cylinder": {"radius": 0.3, "length": 1.0},
    "cone": {"radius": 0.4, "length": 1.0},
    "ellipsoid": {"semi_axes": (0.6, 0.4, 0.3)},
}
CLOSED = (("sphere", "sphere"), ("sphere", "box"), ("sphere", "cylinder"), ("capsule", "capsule"))
ITERATED = (
    ("box", "box"),
    ("box", "cylinder"),
    ("capsule", "box"),
    ("cylinder", "cone"),
    ("ellipsoid", "ellipsoid"),
    ("hull", "hull"),
)


def run(effort: Effort) -> Report:
    report = Report("geometry", "signed distance, witness points and normal of two convex shapes")
    try:
        import coal
    except ImportError:
        report.notes.append("coal is not installed: pip install coal")
        return report
    rng = np.random.default_rng(1)
    points = rng.normal(size=(32, 3))
    shapes = {**SHAPES, "hull": {"points": 0.5 * points / np.linalg.norm(points, axis=1)[:, None]}}
    began = time.process_time()
    warm, _ = ours("sphere", "sphere", shapes, *poses(1.0, 1, rng))
    warm(1)
    report.notes.append(
        f"The first call took {time.process_time() - began:.1f} s of processor time; it compiles where no cache has the kernel."
    )
    call = []
    for pairs, spread, where in ((CLOSED, 1.0, ""), (ITERATED, 1.2, ", apart"), (ITERATED, 0.15, ", overlapping")):
        for a, b in pairs:
            X, Y = poses(spread, PAIRS, rng)
            mine, d = ours(a, b, shapes, X, Y)
            mine(1)
            if where:
                kept = d[:, 0] > 0.0 if where == ", apart" else d[:, 0] < 0.0
                X, Y = X[kept], Y[kept]
                mine, d = ours(a, b, shapes, X, Y)
            theirs = coals(coal, a, b, shapes, X, Y)
            times = alternate({"nexdyn": mine, "coal": theirs}, effort)
            times = {name: [t / len(X) for t in values] for name, values in times.items()}
            if (a, b) == ("sphere", "sphere"):
                call = times["coal"]
            at_least = 5.0 if not where else 1.0
            report.rows.append(compared(f"{a}–{b}{where}", "µs", 1e6, times, "nexdyn", "coal", at_least))
            if where:
                inside = max(0.0, float(np.median(times["coal"]) - np.median(call))) * 1e6
                report.rows.append(Row(f"{a}–{b}{where}: Coal less the cost of a call", "µs", inside))
    return report


def poses(spread: float, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two poses of `count` pairs, (count, 12) each."""
    made = []
    for _ in range(2):
        R, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
        R *= np.linalg.det(R)[:, None, None]
        made.append(np.hstack([R.reshape(count, 9), spread * rng.normal(size=(count, 3))]))
    return made[0], made[1]


def ours(a: str, b: str, shapes: dict[str, Any], X: np.ndarray, Y: np.ndarray) -> tuple[Work, np.ndarray]:
    """Work that answers all pairs, each from no guess; and where the answers are."""
    catalogue = Catalogue()
    pairs = np.tile([catalogue.add(a, **shapes[a]), catalogue.add(b, **shapes[b])], (len(X), 1))
    tables, scratch = catalogue.tables(), work()
    answers, status = np.zeros((len(X), ANSWER)), np.zeros(len(X), dtype=int)

    def answer(count: int) -> None:
        for _ in range(count):
            answers[:, 1:4] = 0.0
            distances(tables, pairs, X, Y, scratch, answers, status)

    return answer, answers


def coals(coal: Any, a: str, b: str, shapes: dict[str, Any], X: np.ndarray, Y: np.ndarray) -> Work:
    """The same by Coal."""

    def shape(name: str) -> Any:
        s = shapes[name]
        if name == "hull":
            points = coal.StdVec_Vec3s()
            points.extend(list(s["points"]))
            return coal.Convex.convexHull(points, True, "")
        made = {"sphere": coal.Sphere, "capsule": coal.Capsule, "box": coal.Box, "cylinder": coal.Cylinder}
        made.update({"cone": coal.Cone, "ellipsoid": coal.Ellipsoid})
        return made[name](*np.hstack([np.ravel(x) for x in s.values()]))

    first, second = shape(a), shape(b)
    placed = [tuple(coal.Transform3s(T[:9].reshape(3, 3), T[9:]) for T in pair) for pair in zip(X, Y, strict=True)]
    request, result, distance = coal.DistanceRequest(), coal.DistanceResult(), coal.distance

    def answer(count: int) -> None:
        for _ in range(count):
            for P, Q in placed:
                result.clear()
                distance(first, P, second, Q, request, result)

    return answer

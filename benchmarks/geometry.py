"""Distances of convex shapes, compared with Coal's.

The same pairs in the same random poses. Ours run in one compiled call of all pairs;
Coal's C++ is called from Python pair by pair, and its time is given as it is and less the cost of a call, which is that of
two spheres. Both sides find distance, witness points and normal; Coal with its default tolerances (1e-6), ours to 1e-13 of
the size. How far Coal's witness points are off is printed with it, and its time at tolerances of 1e-12, its most exact: at smaller ones
some of its answers are no numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.measure import Effort, Report, Row, Work, alternate, compared
from nexdyn.geometry.broad import Crowd
from nexdyn.geometry.kinds import Catalogue
from nexdyn.geometry.lane_pairs import lane_distances
from nexdyn.geometry.narrow import ANSWER, distances, work
from nexdyn.spatial.lanes import LANES

PAIRS = 200
DEFAULT, MOST_EXACT = 1e-6, 1e-12
"""Tolerances of Coal."""
SHAPES: dict[str, dict[str, Any]] = {
    "sphere": {"radius": 0.5},
    "capsule": {"radius": 0.2, "length": 1.0},
    "box": {"size": (1.0, 0.6, 0.4)},
    "cylinder": {"radius": 0.3, "length": 1.0},
    "cone": {"radius": 0.4, "length": 1.0},
    "ellipsoid": {"semi_axes": (0.6, 0.4, 0.3)},
}
CLOSED = (("sphere", "sphere"), ("sphere", "box"), ("sphere", "cylinder"), ("capsule", "capsule"))
CORNERS = (("box", "box"), ("capsule", "box"), ("sphere", "hull"), ("box", "hull"), ("hull", "hull"))
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
    crowds(report, effort)
    lanes(report, effort)
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
            mine(1)
            theirs, off = coals(coal, a, b, shapes, X, Y, DEFAULT)
            times = alternate({"nexdyn": mine, "coal": theirs}, effort)
            times = {name: [t / len(X) for t in values] for name, values in times.items()}
            if (a, b) == ("sphere", "sphere"):
                call = times["coal"]
            at_least = 5.0 if not where else 1.0
            report.rows.append(compared(f"{a}–{b}{where}", "µs", 1e6, times, "nexdyn", "coal", at_least))
            if where:
                mine_took = float(np.median(times["nexdyn"])) * 1e6
                inside = max(0.0, float(np.median(times["coal"]) - np.median(call))) * 1e6
                what, ratio = f"{a}–{b}{where}, against Coal less the cost of a call", inside / mine_took
                report.rows.append(Row(what, "µs", mine_took, inside, "coal", ratio, target="≥ 1×", met=ratio >= 1.0))
            if where == ", apart":
                exact, still = coals(coal, a, b, shapes, X, Y, MOST_EXACT)
                took = float(np.median(alternate({"coal": exact}, effort)["coal"])) / len(X) - float(np.median(call))
                report.rows += [
                    Row(f"{a}–{b}{where}: Coal's points are off by up to", "µm", 1e6 * off(d)),
                    Row(
                        f"{a}–{b}{where}: Coal at tolerances of 1e-12, less the cost of a call",
                        "µs",
                        max(0.0, took * 1e6),
                    ),
                    Row(f"{a}–{b}{where}: Coal's points are off by up to then", "µm", 1e6 * still(d)),
                    Row(f"{a}–{b}{where}: our error, as proven, at most", "µm", 1e6 * float(d[:, 10].max())),
                ]
    return report


def crowds(report: Report, effort: Effort) -> None:
    """The broad phase of heaps of spheres, and broad and narrow phase of 100 boxes in a pile, moving all the while."""
    rng = np.random.default_rng(2)
    few, many = (heap("sphere", {"radius": 0.5}, n, rng) for n in (100, 10_000))
    works = {"100": moving(*few, again=False), "10,000": moving(*many, again=False)}
    works.update({"100 anew": moving(*few, again=True), "10,000 anew": moving(*many, again=True)})
    took = {
        name: float(np.median(values)) / (100 if name.startswith("100") else 10_000) * 1e6
        for name, values in alternate(works, effort).items()
    }
    report.rows += [Row(f"heap of {name} spheres, broad phase, a body", "µs", value) for name, value in took.items()]
    for how in ("", " anew"):
        growth = took[f"10,000{how}"] / took[f"100{how}"]
        what = f"heap of 10,000 spheres{how} over that of 100, a body"
        report.rows.append(Row(what, "times", growth, target="≤ 1.5", met=growth <= 1.5))
    for turn, how in ((0.0, ""), (0.03, ", turned by 0.03 rad")):
        crowd, X = heap("box", {"size": (1.0, 1.0, 1.0)}, 100, rng)
        X[:, :9] = Rotation.from_rotvec(turn * rng.normal(size=(100, 3))).as_matrix().reshape(100, 9)
        micro, pairs = pile(crowd, X, effort)
        what = f"pile of 100 boxes{how}, {pairs} pairs, broad and narrow phase"
        report.rows.append(Row(what, "µs", micro, target="≤ 150", met=micro <= 150.0))


def pile(crowd: Crowd, X: np.ndarray, effort: Effort) -> tuple[float, int]:
    """Microseconds that broad and narrow phase take, and of how many pairs, from the last answers on."""

    def answer(count: int) -> None:
        for _ in range(count):
            crowd.distances(X)

    answer(1)
    return float(np.median(alternate({"pile": answer}, effort)["pile"])) * 1e6, len(crowd.near(X))


def lanes(report: Report, effort: Effort) -> None:
    """Closed forms, boxes and hulls in scalars and in SIMD lanes: the same pairs in the same poses, boxes and hulls apart."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(32, 3))
    shapes = {**SHAPES, "hull": {"points": 0.5 * points / np.linalg.norm(points, axis=1)[:, None]}}
    for a, b in (*CLOSED, *CORNERS):
        catalogue = Catalogue()
        pairs = np.tile([catalogue.add(a, **shapes[a]), catalogue.add(b, **shapes[b])], (PAIRS, 1))
        X, Y = poses(1.0, PAIRS * LANES, rng)
        if (a, b) in CORNERS:
            Y[:, 9:] += 1.5 * np.sign(Y[:, 9:] - X[:, 9:])
        tables, scratch = catalogue.tables(), work()
        one, status = np.zeros((PAIRS * LANES, ANSWER)), np.zeros(PAIRS * LANES, dtype=int)
        packs = [np.ascontiguousarray(np.swapaxes(T.reshape(PAIRS, LANES, 12), 1, 2)) for T in (X, Y)]
        many, told = np.zeros((PAIRS, ANSWER, LANES)), np.zeros((PAIRS, LANES), dtype=int)
        every = np.repeat(pairs, LANES, axis=0)
        works: dict[str, Work] = {
            "scalars": lambda n, p=every, x=X, y=Y, t=tables, w=scratch, o=one, s=status: [
                distances(t, p, x, y, w, o, s) for _ in range(n)
            ],
            "lanes": lambda n, p=pairs, x=packs[0], y=packs[1], t=tables, w=scratch, o=many, s=told: [
                lane_distances(t, p, x, y, w, o, s) for _ in range(n)
            ],
        }
        for name, values in alternate(works, effort).items():
            took = float(np.median(values)) / (PAIRS * LANES) * 1e9
            report.rows.append(Row(f"{a}–{b}, {name}, a pose", "ns", took))


def heap(name: str, sizes: dict[str, Any], count: int, rng: np.random.Generator) -> tuple[Crowd, np.ndarray]:
    """Shapes 1 m across in a cube, on a grid of 1 m that is out of true by 0.02 m."""
    catalogue = Catalogue()
    shape, side = catalogue.add(name, **sizes), round(count ** (1 / 3) + 0.49)
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3)[:count]
    X = np.zeros((count, 12))
    X[:, [0, 4, 8]], X[:, 9:] = 1.0, grid + rng.uniform(-0.02, 0.02, (count, 3))
    return Crowd(catalogue.tables(), np.full(count, shape), margin=0.05), X


def moving(crowd: Crowd, X: np.ndarray, again: bool) -> Work:
    """Work that asks for the pairs: while all move less than the margin, or (again) ever farther than it."""
    step = 0.12 if again else 0.0

    def answer(count: int) -> None:
        Y = X.copy()
        for k in range(count):
            Y[:, 9] = X[:, 9] + step * (k % 2 + 1) + (0.0 if again else 0.01 * (k % 2))
            crowd.near(Y)

    return answer


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


def coals(
    coal: Any, a: str, b: str, shapes: dict[str, Any], X: np.ndarray, Y: np.ndarray, tolerance: float
) -> tuple[Work, Callable[[np.ndarray], float]]:
    """The same by Coal; and how far its witness points are from those of answers, at most [m]."""

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
    request.gjk_tolerance = request.epa_tolerance = tolerance

    def answer(count: int) -> None:
        for _ in range(count):
            for P, Q in placed:
                result.clear()
                distance(first, P, second, Q, request, result)

    def off(answers: np.ndarray) -> float:
        most = 0.0
        for (P, Q), ours in zip(placed, answers, strict=True):
            result.clear()
            distance(first, P, second, Q, request, result)
            points = np.hstack([result.getNearestPoint1(), result.getNearestPoint2()])
            most = max(most, float(np.abs(points - ours[4:10]).max()))
        return most

    return answer, off

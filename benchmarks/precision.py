"""Work and precision beside Exudyn on A02 to A05: the wall time that each needs for the same error.

Every mechanism is built in both and must come to the published values. Each rival runs with whatever serves it best: of every
setting in its list, step by step, the error and the time are measured, and the least time for an error counts (its lower
envelope, interpolated in logarithms). Solving alone is timed, nothing is recorded on the way; models are built before.

Exudyn (its fast module, without checks of ranges): generalized-α of index 3 with a spectral radius of 0.9 and the trapezoidal rule of
index 2, modified Newton, one thread, dense or sparse factors; planar bodies where the motion is planar, otherwise Euler
parameters or rotation vectors on the Lie group; no redundant rows. NexDyn: HHT with constant and adaptive steps, and
projected Dormand–Prince of index 1 where the mechanism passes no singular pose; its bodies are spatial always.

The error is the largest over the times of the reference, in the units of the reference.
"""

from __future__ import annotations

import itertools
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row
from nexdyn.simulation.choice import simulation_of

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import published

AT_LEAST = 5.0
LONGEST = 5.0
"""Seconds of a run after which a curve goes on to no finer setting."""
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "precision.svg"


@dataclass
class Curve:
    """What one setting reached: errors and seconds, one a step size."""

    name: str
    points: list[tuple[float, float]] = field(default_factory=list)


@dataclass
class Problem:
    """A mechanism for both, its reference {time: values}, and what each tries."""

    name: str
    system: Callable[[], nx.System]
    reference: dict[float, tuple[float, ...]]
    observe: Callable[[nx.Result], np.ndarray]
    """(times, values) of a result at the times of the reference."""
    rival: Callable[[Any], Any]
    """Builds the mechanism from a setting; returns mbs and a function that reads the values now."""
    steps: tuple[float, ...]
    rtols: tuple[float, ...]
    smooth: bool = True
    nodes: tuple[str, ...] = ("planar",)


def run(effort: Effort) -> Report:
    report = Report("precision", "time for the same error on A02 to A05, one core")
    problems = [four_bars(), andrews(), bricard(), governor()]
    curves: dict[str, tuple[list[Curve], list[Curve]]] = {}
    for problem in problems:
        if effort.smoke:
            problem.steps, problem.rtols = problem.steps[:1], problem.rtols[:1]
            problem.reference = dict(list(problem.reference.items())[:1])
        ours, theirs = our_curves(problem, effort), their_curves(problem, effort)
        curves[problem.name] = ours, theirs
        if not effort.smoke:
            rows(report, problem.name, ours, theirs)
    report.notes += [
        f"{name}: " + "; ".join(f"{c.name} {' '.join(f'{e:.1e}/{1e3 * t:.3g}ms' for e, t in c.points)}" for c in both)
        for name, (ours, theirs) in curves.items()
        for both in (ours, theirs)
    ]
    if not effort.smoke:
        draw(curves)
    return report


# --- measuring ----------------------------------------------------------------------------------------------------


def least(work: Callable[[], Callable[[], Any]], effort: Effort) -> float:
    """The least processor time of the prepared work [s]; more repetitions where it is short."""
    best, spent, n = math.inf, 0.0, 0
    while n < 1 or (spent < 8 * effort.turn and n < 15):
        job = work()
        began = time.process_time()
        job()
        took = time.process_time() - began
        best, spent, n = min(best, took), spent + took, n + 1
    return best


def our_curves(problem: Problem, effort: Effort) -> list[Curve]:
    settings: dict[str, list[nx.Method]] = {
        "HHT": [nx.HHT(alpha=-0.05, dt=dt) for dt in problem.steps],
        "HHT, adaptive": [nx.HHT(alpha=-0.05, rtol=(10 * rtol) ** (2 / 3)) for rtol in problem.rtols],
    }
    if problem.smooth:
        settings["projected Dormand–Prince"] = [
            nx.Projection(rtol=10 * rtol, atol=rtol) for rtol in problem.rtols if rtol < 1e-6
        ]
    times, wanted = list(problem.reference), np.array(list(problem.reference.values()))
    found = []
    for name, methods in settings.items():
        curve = Curve(name)
        for method in methods:
            system = problem.system()

            def prepared(system: nx.System = system, method: nx.Method = method) -> Callable[[], Any]:
                simulation = simulation_of(system, method, output_every=2**40)
                return lambda: simulation.run(times[-1])

            try:
                result = nx.simulate(system, times[-1], method, output_times=times)
                error = float(np.abs(problem.observe(result) - wanted).max())
                if not curve.points:
                    prepared()()  # compiled, which is not measured
                curve.points.append((error, least(prepared, effort)))
            except nx.SolveError:
                continue  # too long a step
            if curve.points[-1][1] > LONGEST:
                break
        found.append(curve)
    return found


def their_curves(problem: Problem, effort: Effort) -> list[Curve]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import exudyn as exu

    times, wanted = list(problem.reference), np.array(list(problem.reference.values()))

    def error_of(solver: str, scheme: str, node: str, dt: float) -> float:
        mbs, read = problem.rival(node)
        values = []
        for t0, t in zip([0.0, *times[:-1]], times, strict=True):
            if t0 > 0.0:
                mbs.systemData.SetSystemState(mbs.systemData.GetSystemState(), exu.ConfigurationType.Initial)
            if not solve(exu, mbs, exudyn_settings(exu, solver, scheme, t0, t, dt), scheme):
                return math.inf
            values.append(read())
        error = float(np.abs(np.array(values) - wanted).max())
        return error if math.isfinite(error) else math.inf

    def time_of(solver: str, scheme: str, node: str, dt: float) -> float:
        settings = exudyn_settings(exu, solver, scheme, 0.0, times[-1], dt)

        def prepared() -> Callable[[], Any]:
            mbs, _ = problem.rival(node)
            return lambda: solve(exu, mbs, settings, scheme)

        return least(prepared, effort)

    found = []
    for node in problem.nodes:
        for scheme in ("radius 0.9", "trapezoidal, index 2"):
            curve = Curve(f"Exudyn, {scheme}, {node}")
            middle = problem.steps[len(problem.steps) // 2]
            faster = min(("EXUdense", "EigenSparse"), key=lambda x: time_of(x, scheme, node, middle))
            for dt in problem.steps:
                error = error_of(faster, scheme, node, dt)
                if error < 1.0:
                    curve.points.append((error, time_of(faster, scheme, node, dt)))
                    if curve.points[-1][1] > LONGEST:
                        break
            found.append(curve)
    return found


def exudyn_settings(exu: Any, solver: str, scheme: str, t0: float, t: float, dt: float) -> Any:
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.startTime, integration.endTime = t0, t
    integration.numberOfSteps = max(1, round((t - t0) / dt))
    integration.verboseMode = 0
    integration.newton.useModifiedNewton = True
    integration.adaptiveStep = False
    if scheme.startswith("radius"):
        integration.generalizedAlpha.spectralRadius = float(scheme.split()[1])
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 1e9
    settings.linearSolverType = getattr(exu.LinearSolverType, solver)
    settings.parallel.numberOfThreads = 1
    return settings


def solve(exu: Any, mbs: Any, settings: Any, scheme: str) -> bool:
    kind = exu.DynamicSolverType
    try:
        return bool(
            mbs.SolveDynamic(
                settings,
                solverType=kind.GeneralizedAlpha if scheme.startswith("radius") else kind.TrapezoidalIndex2,
                showHints=False,
                showCausingItems=False,
            )
        )
    except Exception:
        return False  # Exudyn's exceptions have no class of their own


# --- comparing ----------------------------------------------------------------------------------------------------


def envelope(curves: list[Curve], error: float) -> float:
    """Least seconds in which one of the curves comes to `error`, interpolated in logarithms; ∞ where none does."""
    best = math.inf
    for curve in curves:
        # a longer run with a larger error is no point of the curve
        points: list[tuple[float, float]] = []
        for e, t in sorted(curve.points, key=lambda p: p[1]):
            if not points or e < points[-1][0]:
                points.append((e, t))
        for (e0, t0), (e1, t1) in itertools.pairwise(points):
            if e1 <= error <= e0:
                part = math.log(e0 / error) / math.log(e0 / e1)
                best = min(best, t0 * (t1 / t0) ** part)
        if points and points[0][0] <= error:
            best = min(best, points[0][1])
    return best


def rows(report: Report, name: str, ours: list[Curve], theirs: list[Curve]) -> None:
    """A line for every power of ten that both reach."""
    ratios = []
    for exponent in range(-2, -10, -1):
        error = 10.0**exponent
        mine, other = envelope(ours, error), envelope(theirs, error)
        if math.isfinite(mine) and math.isfinite(other):
            ratios.append(other / mine)
            met = ratios[-1] >= AT_LEAST
            report.rows.append(
                Row(
                    f"{name}, error 1e{exponent}",
                    "ms",
                    1e3 * mine,
                    1e3 * other,
                    "exudyn",
                    ratios[-1],
                    None,
                    f"≥ {AT_LEAST:g}×",
                    met,
                )
            )
    if ratios:
        median = statistics.median(ratios)
        report.rows.append(Row(f"{name}, median", "", median, ratio=median, target="≥ 5×", met=median >= AT_LEAST))


def draw(curves: dict[str, tuple[list[Curve], list[Curve]]]) -> None:
    """The figure of the documentation."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "precision"
    figure, axes = plt.subplots(2, 2, figsize=(10, 9), constrained_layout=True)
    for axis, (name, (ours, theirs)) in zip(axes.flat, curves.items(), strict=True):
        for group, colours in (
            (ours, ("#0b6", "#085", "#5c3")),
            (theirs, ("#c33", "#e72", "#a3a", "#933", "#b62", "#737")),
        ):
            for curve, colour in zip(group, colours, strict=False):
                if curve.points:
                    e, t = zip(*sorted(curve.points, key=lambda p: p[1]), strict=True)
                    axis.loglog(e, [1e3 * x for x in t], "o-", ms=3, lw=1, color=colour, label=curve.name)
        axis.set(title=name, xlabel="error", ylabel="processor time [ms]")
        axis.invert_xaxis()
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)


# --- the mechanisms -----------------------------------------------------------------------------------------------


def container() -> Any:
    import exudyn as exu

    return exu.SystemContainer().AddSystem()


def inertia_of(mass: float, tensor: Any, com: Any = (0, 0, 0)) -> Any:
    from exudyn.utilities import RigidBodyInertia

    J = np.diag(tensor) if np.ndim(tensor) == 1 else np.asarray(tensor)
    c = np.asarray(com, dtype=float)
    about_origin = J + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return RigidBodyInertia(mass=mass, inertiaTensor=about_origin, com=list(com))


def planar_hinge(mbs: Any, a: Any, b: Any, at: Any, places: dict[Any, tuple[np.ndarray, float]]) -> None:
    """Two rows; `places`: position and angle of each body but the ground."""
    from exudyn.itemInterface import MarkerBodyRigid, ObjectJointRevolute2D

    markers = []
    for body in (a, b):
        p, angle = places.get(body, (np.zeros(3), 0.0))
        c, s, d = math.cos(angle), math.sin(angle), np.asarray(at, dtype=float) - p
        local = [c * d[0] + s * d[1], c * d[1] - s * d[0], 0.0]
        markers.append(mbs.AddMarker(MarkerBodyRigid(bodyNumber=body, localPosition=local)))
    mbs.AddObject(ObjectJointRevolute2D(markerNumbers=markers))


def node_type(node: str) -> Any:
    import exudyn as exu

    return {
        "Euler parameters": exu.NodeType.RotationEulerParameters,
        "rotation vectors": exu.NodeType.RotationRotationVector,
        "planar": exu.NodeType.RotationEulerParameters,
    }[node]


def four_bars() -> Problem:
    def rival(node: str) -> Any:
        import exudyn as exu

        mbs = container()
        ground, inertia, g = mbs.CreateGround(), inertia_of(1.0, (1 / 12,) * 3), [0, -9.81, 0]

        places: dict[Any, tuple[np.ndarray, float]] = {}

        def body(p: Any, v: Any, w: float) -> Any:
            number = mbs.CreateRigidBody(
                inertia=inertia,
                referencePosition=p,
                initialVelocity=v,
                initialAngularVelocity=[0, 0, w],
                gravity=g,
                create2D=True,
            )
            places[number] = np.array(p, dtype=float), 0.0
            return number

        def hinge(a: Any, b: Any, p: Any) -> None:
            planar_hinge(mbs, a, b, p, places)

        standing = [body([i, 0.5, 0], [0.5, 0, 0], -1.0) for i in range(3)]
        lying = [body([i + 0.5, 1, 0], [1.0, 0, 0], 0.0) for i in range(2)]
        for i in range(3):
            hinge(ground, standing[i], [i, 0, 0])
        for i in range(2):
            hinge(standing[i], lying[i], [i, 1, 0])
            hinge(lying[i], standing[i + 1], [i + 1, 1, 0])
        mbs.Assemble()
        kind = exu.OutputVariableType.Position
        return mbs, lambda: np.array(mbs.GetObjectOutputBody(standing[0], kind, [0, 0.5, 0]))[:2]

    return Problem(
        "A02, two four-bars through their singular pose", published.four_bars,
        {float(t): x[:2] for t, x in published.A02.items()}, lambda r: r.position("B0").values[:, :2], rival,
        (1e-2, 5e-3, 2e-3, 1e-3, 5e-4), (1e-4, 1e-5, 1e-6, 1e-7, 1e-8), smooth=False,
    )  # fmt: skip


def andrews() -> Problem:
    def rival(node: str) -> Any:
        import exudyn as exu

        mbs, system = container(), published.andrews()
        ground = mbs.CreateGround()
        number: dict[str, Any] = {"ground": ground}
        places: dict[Any, tuple[np.ndarray, float]] = {}
        for name, body in system.bodies.items():
            q = np.asarray(body.orientation)
            angle = 2.0 * math.atan2(q[3], q[0])
            R = np.array([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]])
            # bodies about their centres of mass
            com = np.asarray(body.com, dtype=float)
            p = np.asarray(body.position) + R @ com
            number[name] = mbs.CreateRigidBody(
                inertia=inertia_of(body.mass, np.asarray(body.inertia)), referencePosition=list(p), referenceRotationMatrix=R,
                create2D=True,
            )  # fmt: skip
            places[number[name]] = p, angle
        for joint in system.joints.values():
            planar_hinge(mbs, number[joint.parent.name], number[joint.child.name], joint.at, places)
        mbs.CreateTorque(bodyNumber=number["K1"], loadVector=[0, 0, 0.033])
        K3, D = system.bodies["K3"], np.array((0.02, -0.018, 0.0))
        mbs.CreateSpringDamper(
            bodyNumbers=[ground, number["K3"]], localPosition0=[0.014, 0.072, 0], localPosition1=list(D - np.asarray(K3.com)),
            referenceLength=0.07785, stiffness=4530.0, show=False,
        )  # fmt: skip
        mbs.Assemble()

        def read() -> np.ndarray:
            w = {}
            for name in system.bodies:
                R = np.reshape(mbs.GetObjectOutputBody(number[name], exu.OutputVariableType.RotationMatrix), (3, 3))
                w[name] = math.atan2(R[1, 0], R[0, 0])
            return angles_of(w)

        return mbs, read

    return Problem(
        "A03, Andrews' mechanism", published.andrews, {0.03: tuple(published.ANDREWS_END.values())},
        lambda r: np.array([list(published.andrews_angles(r).values())]), rival,
        (2e-5, 1e-5, 5e-6, 2e-6, 1e-6), (1e-6, 1e-7, 1e-8, 1e-9, 1e-10),
    )  # fmt: skip


def angles_of(w: dict[str, float]) -> np.ndarray:
    found = {
        "beta": w["K1"], "theta": w["K2"] - w["K1"], "gamma": w["K3"], "phi": w["K4"] - w["K5"], "delta": w["K5"],
        "omega": w["K6"] - w["K7"], "epsilon": w["K7"],
    }  # fmt: skip
    turns = 2.0 * math.pi
    return np.array(
        [found[key] + turns * round((end - found[key]) / turns) for key, end in published.ANDREWS_END.items()]
    )


def bricard() -> Problem:
    def rival(node: str) -> Any:
        import exudyn as exu

        mbs, system = container(), published.bricard()
        number: dict[str, Any] = {"ground": mbs.CreateGround()}
        for name, body in system.bodies.items():
            number[name] = mbs.CreateRigidBody(
                inertia=inertia_of(1.0, np.asarray(body.inertia)), referencePosition=list(map(float, body.position)),
                gravity=[0, -9.81, 0], nodeType=node_type(node),
            )  # fmt: skip
        for joint in system.joints.values():
            bodies = [number[joint.parent.name], number[joint.child.name]]
            at, axis = list(map(float, joint.at)), np.asarray(joint.axis, dtype=float)
            if joint.name != "P6":
                mbs.CreateRevoluteJoint(bodyNumbers=bodies, position=at, axis=list(axis), show=False)
                continue
            # one row less: that about z, of a frame whose x is the axis
            mbs.CreateGenericJoint(
                bodyNumbers=bodies,
                position=at,
                rotationMatrixAxes=np.eye(3),
                constrainedAxes=[1, 1, 1, 0, 1, 0],
                show=False,
            )
        mbs.Assemble()
        kind = exu.OutputVariableType.Position
        local = list(published.bricard().markers["P3"].position)
        return mbs, lambda: np.array(mbs.GetObjectOutputBody(number["rod1"], kind, local))

    times = [t for t in published.A04 if t <= 2]
    return Problem(
        "A04, Bricard's mechanism", published.bricard, {float(t): published.A04[t] for t in times},
        lambda r: r.position("P3").values, rival, (2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4),
        (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9), nodes=("Euler parameters", "rotation vectors"),
    )  # fmt: skip


def governor() -> Problem:
    def rival(node: str) -> Any:
        import exudyn as exu

        from nexdyn.spatial.rotations import rotation_matrix

        mbs, system = container(), published.governor()
        number: dict[str, Any] = {"ground": mbs.CreateGround()}
        spin = np.array((0.0, 0.0, 2.0 * math.pi))
        for name, body in system.bodies.items():
            p, R = np.asarray(body.position, dtype=float), rotation_matrix(np.asarray(body.orientation, dtype=float))
            number[name] = mbs.CreateRigidBody(
                inertia=inertia_of(body.mass, np.asarray(body.inertia)), referencePosition=list(p), referenceRotationMatrix=R,
                initialVelocity=list(np.cross(spin, p)), initialAngularVelocity=list(spin), gravity=[0, 0, -9.81],
                nodeType=node_type(node),
            )  # fmt: skip
        for joint in system.joints.values():
            bodies = [number[joint.parent.name], number[joint.child.name]]
            at, axis = list(map(float, joint.at)), list(map(float, joint.axis))
            make = mbs.CreatePrismaticJoint if joint.name == "guide" else mbs.CreateRevoluteJoint
            make(bodyNumbers=bodies, position=at, axis=axis, show=False)
        for force in system.forces.values():
            a, b = force.frames(system)
            mbs.CreateSpringDamper(
                bodyNumbers=[number[a.body], number[b.body]], localPosition0=list(map(float, force.anchor_a)),
                localPosition1=list(map(float, force.anchor_b)), referenceLength=0.5, stiffness=8e5, damping=4e4, show=False,
            )  # fmt: skip
        mbs.Assemble()
        kind = exu.OutputVariableType.Position
        return mbs, lambda: np.array(mbs.GetObjectOutputBody(number["slider"], kind, [0, 0, 0]))[2:]

    times = [t for t in published.A05 if t <= 1]
    return Problem(
        "A05, stiff governor", published.governor, {float(t): published.A05[t][:1] for t in times},
        lambda r: r.position("slider").values[:, 2:], rival, (1e-2, 5e-3, 2e-3, 1e-3, 5e-4),
        (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9), smooth=False, nodes=("Euler parameters", "rotation vectors"),
    )  # fmt: skip

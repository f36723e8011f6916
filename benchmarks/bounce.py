"""Balls and boxes that bounce on a floor without friction or loss, and balls that roll down a slope, compared with Exudyn and Drake: time
at equal error.

n balls of 1 kg and 5 cm, or level boxes of 1 kg and 10 cm, fall from heights between 0.1 and 0.4 m on a half-space, where a force k δ
pushes them up, k = 1e5 N/m, of a box a quarter of it at each lower corner. All engines look for contact between the bodies, too, of boxes
NexDyn over areas; the others have small spheres for the corners of a box. Of a body that falls from the height h,

    v = √(2 g h),   ω = √(k/m),   in contact   δ = (v/ω) sin ωτ + (g/ω²)(1 − cos ωτ),   until δ = 0 again, with −v

is known to the last digit, and so is the height at the end, after 1 s. Each engine takes the loosest of its settings with which all heights
are right to 0.1 mm, and with the next tighter one, too; settings go in steps of about a fifth of the cost. Runs alternate, with what each
engine needs to set them up, and the error of each is told. NexDyn: DormandPrince by rtol. Exudyn: RK44 by the step, fast module, its
general contact of spheres, and of two triangles as the floor. Drake: a continuous plant with point contact, half-space and spheres, its
RungeKutta3 by accuracy.

Down a slope of 0.35 rad, with friction 0.4 and k = 1e7 N/m, balls roll from rest, pressed in by what they weigh:

    x = ½ a t²,   a = g sin φ/(1 + I/(m s²)),   s = R − m g cos φ/k

All ways are to be right to 1 mm after 1 s. Friction that sticks in NexDyn; the others know none, and let the ball creep by F/(μ N) of the
speed below which friction falls: 1 mm/s, of which a fourth is crept. NexDyn: HHT by rtol. Exudyn: RK44, and generalised α as well, by the
step. Drake: RungeKutta3 by accuracy, and the discrete plant (SAP) by its step.
"""

from __future__ import annotations

import functools
import math
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, alternate, quartiles
from nexdyn.simulation.choice import simulation_of

RADIUS, G, END = 0.05, 9.81, 1.0
FOOT = 2e-2
"""Radius of the spheres that stand for the lower corners of a box [m]: twice as large as they are pressed in."""
BALLS, BOXES, ROLLING = "balls", "boxes", "rolling balls"
RADII: dict[str, tuple[float, list[tuple[float, float, float]]]] = {
    BALLS: (RADIUS, [(0.0, 0.0, 0.0)]),
    BOXES: (FOOT, [(x, y, FOOT - RADIUS) for x in (-RADIUS, RADIUS) for y in (-RADIUS, RADIUS)]),
}
RADII[ROLLING] = RADII[BALLS]
"""Of the spheres that touch the floor in other engines, and where they are in a body; its force is shared among them."""


SLOPE = 0.35
"""Angle [rad]."""


class Scene(NamedTuple):
    """What is the same for all engines."""

    title: str
    gravity: tuple[float, float, float]
    """[m/s²]"""
    stiffness: float
    """Of a body on the floor [N/m]."""
    friction: float
    creep: float
    """Speed below which friction that knows no sticking falls [m/s]."""
    allowed: float
    """Error [m]."""


FALLS = Scene("bounce for 1 s", (0.0, 0.0, -G), 1e5, 0.0, 1e-3, 1e-4)
DOWN = Scene("for 1 s", (G * math.sin(SLOPE), 0.0, -G * math.cos(SLOPE)), 1e7, 0.4, 1e-3, 1e-3)


def scene_of(what: str) -> Scene:
    return DOWN if what == ROLLING else FALLS


def inertia_of(what: str) -> float:
    """About each axis through the middle, of 1 kg [kg m²]."""
    return (2.0 / 3.0 if what == BOXES else 0.4) * RADIUS**2


def heights(what: str, n: int) -> np.ndarray:
    """Of the lowest points above the floor at the start [m], (n,)."""
    if what == ROLLING:
        return np.full(n, DOWN.gravity[2] / DOWN.stiffness)
    return 0.1 + 0.3 * np.arange(n) / n


def places(what: str, n: int) -> np.ndarray:
    """Of the centres at the start (n, 3)."""
    side = math.ceil(math.sqrt(n))
    i = np.arange(n)
    return np.column_stack([0.3 * (i % side), 0.3 * (i // side), RADIUS + heights(what, n)])


def seen(what: str, n: int, centres: Any) -> np.ndarray:
    """Of centres (n, 3) at the end, what is compared [m]: heights of the lowest points, or ways."""
    moved = np.asarray(centres) - places(what, n)
    return moved[:, 0] if what == ROLLING else moved[:, 2] + heights(what, n)


def exact(what: str, n: int) -> np.ndarray:
    """The same in closed form (n,)."""
    if what == ROLLING:
        s = RADIUS + float(heights(what, 1)[0])
        return np.full(n, 0.5 * DOWN.gravity[0] / (1.0 + inertia_of(what) / s**2) * END**2)
    w, found = math.sqrt(FALLS.stiffness), []
    for h in heights(what, n).tolist():
        v = math.sqrt(2.0 * G * h)
        pressed = (2.0 * math.pi - 2.0 * math.atan2(v / w, G / w**2)) / w  # δ = A sin ωτ + B (1 − cos ωτ) is 0 again
        t = (END + v / G) % (2.0 * v / G + pressed) - 2.0 * v / G  # since the last touch; before it: it flies
        if t < 0.0:
            t += 2.0 * v / G
            found.append(v * t - 0.5 * G * t * t)
        else:
            found.append(-(v / w * math.sin(w * t) + G / w**2 * (1.0 - math.cos(w * t))))
    return np.array(found)


def ours(what: str, n: int) -> Any:
    """By rtol, a run that returns what is compared (n,)."""
    scene, I = scene_of(what), inertia_of(what)
    system = nx.System("bounce", gravity=scene.gravity)
    shape = nx.Box((2.0 * RADIUS,) * 3) if what == BOXES else nx.Sphere(RADIUS)
    for i, x in enumerate(places(what, n)):
        system.add_body(f"body{i}", mass=1.0, inertia=(I, I, I), position=x, shapes=[shape])
        system.add_joint(nx.Free(f"free{i}", "ground", f"body{i}"))
    each = scene.stiffness / len(RADII[what][1])
    among: dict[str, Any] = {"foundation_a": 1e7} if what == BOXES else {"stiffness": scene.stiffness, "exponent": 1.0}
    system.add_contact(nx.Contact("floor", "body*", "ground", stiffness=each, exponent=1.0, friction=scene.friction))
    system.add_contact(nx.Contact("among", "body*", "body*", **among, friction=scene.friction))

    def run(rtol: float) -> np.ndarray:
        method: nx.Method = nx.HHT(rtol=rtol) if what == ROLLING else nx.DormandPrince(rtol=rtol)
        simulation: Any = simulation_of(system, method)
        last = simulation.run(END, output_times=[END])
        return seen(what, n, last.position().values[-1])

    return run


def exudyn(what: str, n: int, implicit: bool = False) -> Any:
    """By the step, explicit or by generalised α."""
    import exudyn as exu
    import exudyn.utilities as eu

    (radius, feet), I, scene = RADII[what], inertia_of(what), scene_of(what)
    stiffness = 2.0 * scene.stiffness / len(feet)

    def run(dt: float) -> np.ndarray:
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        contact = mbs.AddGeneralContact()
        contact.verboseMode = 0
        contact.SetFrictionPairings(np.full((1, 1), scene.friction))
        contact.SetFrictionProportionalZone(scene.creep)
        at, side = places(what, n), math.ceil(math.sqrt(n))
        cells = max(2, side)
        contact.SetSearchTreeCellSize(numberOfCells=[cells, cells, 2])
        contact.SetSearchTreeBox(pMin=np.array([-0.2, -0.2, -0.2]), pMax=np.array([0.3 * side, 0.3 * side, 1.0]))
        wide = 0.3 * side + 1.0
        corners = [[-1.0, -1.0, 0.0], [wide, -1.0, 0.0], [wide, wide, 0.0], [-1.0, wide, 0.0]]
        ground = mbs.AddObject(eu.ObjectGround())
        floor = mbs.AddMarker(eu.MarkerBodyRigid(bodyNumber=ground))
        contact.AddTrianglesRigidBodyBased(
            rigidBodyMarkerIndex=floor, contactStiffness=stiffness, contactDamping=0.0, frictionMaterialIndex=0,
            pointList=corners, triangleList=[[0, 1, 2], [0, 2, 3]],
        )  # fmt: skip
        inertia, nodes = eu.RigidBodyInertia(mass=1.0, inertiaTensor=I * np.eye(3)), []
        for x in at:
            made = mbs.CreateRigidBody(
                inertia=inertia, referencePosition=x.tolist(), gravity=list(scene.gravity),
                nodeType=exu.NodeType.RotationRotationVector, returnDict=True,
            )  # fmt: skip
            for foot in feet:
                place = eu.MarkerBodyRigid(bodyNumber=made["bodyNumber"], localPosition=foot)
                contact.AddSphereWithMarker(
                    mbs.AddMarker(place),
                    radius=radius,
                    contactStiffness=stiffness,
                    contactDamping=0.0,
                    frictionMaterialIndex=0,
                )
            nodes.append(made["nodeNumber"])
        mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = round(END / dt), END
        settings.timeIntegration.verboseMode = 0
        settings.solutionSettings.writeSolutionToFile = False
        settings.timeIntegration.explicitIntegration.computeEndOfStepAccelerations = False
        if implicit:
            settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
        kind = exu.DynamicSolverType.GeneralizedAlpha if implicit else exu.DynamicSolverType.RK44
        try:
            mbs.SolveDynamic(settings, solverType=kind)
        except Exception:  # its Newton's iteration has failed
            return np.full(n, np.nan)
        return seen(what, n, [mbs.GetNodeOutput(k, exu.OutputVariableType.Position) for k in nodes])

    return run


def drake(what: str, n: int, discrete: bool = False) -> Any:
    """By the accuracy, or discrete, by the step."""
    from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction
    from pydrake.multibody.tree import SpatialInertia, UnitInertia
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
    from pydrake.systems.framework import DiagramBuilder

    (radius, feet), I, scene = RADII[what], inertia_of(what), scene_of(what)

    def material() -> Any:
        found = ProximityProperties()
        AddContactMaterial(
            dissipation=0.0, point_stiffness=2.0 * scene.stiffness / len(feet),
            friction=CoulombFriction(scene.friction, scene.friction), properties=found,
        )  # fmt: skip
        return found

    def made(step: float) -> Any:
        builder = DiagramBuilder()
        plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=step)
        plant.set_contact_model(ContactModel.kPoint)
        plant.mutable_gravity_field().set_gravity_vector(list(scene.gravity))
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "floor", material())
        bodies = []
        for i in range(n):
            body = plant.AddRigidBody(f"body{i}", SpatialInertia(1.0, np.zeros(3), UnitInertia(I, I, I)))
            for k, foot in enumerate(feet):
                at = RigidTransform(np.array(foot))
                plant.RegisterCollisionGeometry(body, at, Sphere(radius), f"body{i}.{k}", material())
            bodies.append(body)
        plant.Finalize()
        if not step:
            plant.set_stiction_tolerance(scene.creep)
        return builder.Build(), plant, bodies

    kept = None if discrete else made(0.0)

    def run(setting: float) -> np.ndarray:
        diagram, plant, bodies = kept or made(setting)
        simulator = Simulator(diagram)
        context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        for body, x in zip(bodies, places(what, n), strict=True):
            plant.SetFreeBodyPose(context, body, RigidTransform(x))
        if not discrete:
            ResetIntegratorFromFlags(simulator, "runge_kutta3", 0.1)
            simulator.get_mutable_integrator().set_target_accuracy(setting)
        simulator.AdvanceTo(END)
        return seen(what, n, [plant.EvalBodyPoseInWorld(context, body).translation() for body in bodies])

    return run


SETTINGS: dict[str, tuple[Any, list[float]]] = {
    "NexDyn": (ours, [10.0 ** (-0.25 * k) for k in range(16, 41)]),
    "Exudyn": (exudyn, [5e-4 / 2 ** (0.25 * k) for k in range(24)]),
    "Drake": (drake, [10.0 ** (-0.25 * k) for k in range(10, 37)]),
}
"""Engines, and their settings from loose to tight."""
OF_ROLLING: dict[str, tuple[Any, list[float]]] = {
    "NexDyn": (ours, [10.0 ** (-0.25 * k) for k in range(8, 41)]),
    "Exudyn": SETTINGS["Exudyn"],
    "Exudyn, generalised α": (functools.partial(exudyn, implicit=True), [2e-2 / 2 ** (0.25 * k) for k in range(40)]),
    "Drake": SETTINGS["Drake"],
    "Drake, discrete": (functools.partial(drake, discrete=True), [2e-2 / 2 ** (0.25 * k) for k in range(40)]),
}
"""The same of balls that roll."""


def installed(engine: str) -> bool:
    return engine == "NexDyn" or find_spec("exudyn" if engine.startswith("Exudyn") else "pydrake") is not None


def bounce(report: Report, what: str, n: int, effort: Effort) -> None:
    """Rows of n balls or boxes."""
    known, work, told, scene = exact(what, n), {}, {}, scene_of(what)
    for engine, (make, ladder) in (OF_ROLLING if what == ROLLING else SETTINGS).items():
        if not installed(engine):
            report.notes.append(f"{engine} is not installed, and left out")
            continue
        run = make(what, n)
        setting, error, right = 0.0, 0.0, 0
        for tighter in ladder:
            missed = float(np.abs(run(tighter) - known).max())
            if not missed <= scene.allowed:
                right = 0
                continue
            if right == 0:
                setting, error = tighter, missed
            right += 1
            if right == 2:
                break
        else:
            report.notes.append(
                f"{n} {what}, {engine}: no setting down to {ladder[-1]:g} is right to {scene.allowed:g} m"
            )
            continue
        told[engine] = f"{engine} {setting:.2g}: {1e6 * error:.2g} µm"
        work[engine] = lambda repeat, run=run, setting=setting: [run(setting) for _ in range(repeat)]
    times = alternate(work, effort)
    for rival in [name for name in times if name != "NexDyn"]:
        ratios = sorted(theirs / mine for theirs, mine in zip(times[rival], times["NexDyn"], strict=True))
        row = Row(
            f"{n} {what} {scene.title}",
            "ms",
            1e3 * float(np.median(times["NexDyn"])),
            1e3 * float(np.median(times[rival])),
            rival,
        )
        row.ratio, row.spread = float(np.median(ratios)), quartiles(ratios)
        report.rows.append(row)
    report.notes.append(f"{n} {what}, settings and largest error: {'; '.join(told.values())}")

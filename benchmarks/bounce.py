"""Balls and boxes that bounce on a floor without friction or loss, compared with Exudyn and Drake: time at equal error.

n balls of 1 kg and 5 cm, or level boxes of 1 kg and 10 cm, fall from heights between 0.1 and 0.4 m on a half-space, where a force k δ
pushes them up, k = 1e5 N/m, of a box a quarter of it at each lower corner. All engines look for contact between the bodies, too, of boxes
NexDyn over areas; the others have small spheres for the corners of a box. Of a body that falls from the height h,

    v = √(2 g h),   ω = √(k/m),   in contact   δ = (v/ω) sin ωτ + (g/ω²)(1 − cos ωτ),   until δ = 0 again, with −v

is known to the last digit, and so is the height at the end, after 1 s. Each engine takes the loosest of its settings with which all heights
are right to 0.1 mm, and with the next tighter one, too; settings go in steps of about a fifth of the cost. Runs alternate, with what each
engine needs to set them up, and the error of each is told. NexDyn: DormandPrince by rtol. Exudyn: RK44 by the step, fast module, its
general contact of spheres, and of two triangles as the floor. Drake: a continuous plant with point contact, half-space and spheres, its
RungeKutta3 by accuracy.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, alternate, quartiles
from nexdyn.simulation.choice import simulation_of

RADIUS, STIFFNESS, G, END, ALLOWED = 0.05, 1e5, 9.81, 1.0, 1e-4


FOOT = 2e-2
"""Radius of the spheres that stand for the lower corners of a box [m]: twice as large as they are pressed in."""
BALLS, BOXES = "balls", "boxes"
RADII: dict[str, tuple[float, list[tuple[float, float, float]]]] = {
    BALLS: (RADIUS, [(0.0, 0.0, 0.0)]),
    BOXES: (FOOT, [(x, y, FOOT - RADIUS) for x in (-RADIUS, RADIUS) for y in (-RADIUS, RADIUS)]),
}
"""Of the spheres that touch the floor in other engines, and where they are in a body; its force is shared among them."""


def inertia_of(what: str) -> float:
    """About each axis through the middle, of 1 kg [kg m²]."""
    return (0.4 if what == BALLS else 2.0 / 3.0) * RADIUS**2


def heights(n: int) -> np.ndarray:
    """Of the lowest points above the floor [m], (n,)."""
    return 0.1 + 0.3 * np.arange(n) / n


def places(n: int) -> np.ndarray:
    """Of the centres at the start (n, 3)."""
    side = math.ceil(math.sqrt(n))
    i = np.arange(n)
    return np.column_stack([0.3 * (i % side), 0.3 * (i // side), RADIUS + heights(n)])


def exact(n: int) -> np.ndarray:
    """Heights of the lowest points at the end [m], (n,)."""
    w = math.sqrt(STIFFNESS)
    found = []
    for h in heights(n).tolist():
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
    """By rtol, a run that returns the heights (n,)."""
    system, I = nx.System("bounce", gravity=(0.0, 0.0, -G)), inertia_of(what)
    shape = nx.Sphere(RADIUS) if what == BALLS else nx.Box((2.0 * RADIUS,) * 3)
    for i, x in enumerate(places(n)):
        system.add_body(f"body{i}", mass=1.0, inertia=(I, I, I), position=x, shapes=[shape])
        system.add_joint(nx.Free(f"free{i}", "ground", f"body{i}"))
    each = STIFFNESS / len(RADII[what][1])
    among: dict[str, Any] = {"stiffness": STIFFNESS, "exponent": 1.0} if what == BALLS else {"foundation_a": 1e7}
    system.add_contact(nx.Contact("floor", "body*", "ground", stiffness=each, exponent=1.0))
    system.add_contact(nx.Contact("among", "body*", "body*", **among))

    def run(rtol: float) -> np.ndarray:
        simulation: Any = simulation_of(system, nx.DormandPrince(rtol=rtol))
        last = simulation.run(END, output_times=[END])
        return np.asarray(last.position().values[-1, :, 2]) - RADIUS

    return run


def exudyn(what: str, n: int) -> Any:
    """By the step."""
    import exudyn as exu
    import exudyn.utilities as eu

    (radius, feet), I = RADII[what], inertia_of(what)
    stiffness = 2.0 * STIFFNESS / len(feet)

    def run(dt: float) -> np.ndarray:
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        contact = mbs.AddGeneralContact()
        contact.verboseMode = 0
        contact.SetFrictionPairings(np.zeros((1, 1)))
        at, side = places(n), math.ceil(math.sqrt(n))
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
                inertia=inertia, referencePosition=x.tolist(), gravity=[0.0, 0.0, -G],
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
        mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
        return np.array([mbs.GetNodeOutput(k, exu.OutputVariableType.Position)[2] for k in nodes]) - RADIUS

    return run


def drake(what: str, n: int) -> Any:
    """By the accuracy."""
    from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction
    from pydrake.multibody.tree import SpatialInertia, UnitInertia
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
    from pydrake.systems.framework import DiagramBuilder

    (radius, feet), I = RADII[what], inertia_of(what)
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
    plant.set_contact_model(ContactModel.kPoint)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -G])

    def material() -> Any:
        found = ProximityProperties()
        AddContactMaterial(
            dissipation=0.0,
            point_stiffness=2.0 * STIFFNESS / len(feet),
            friction=CoulombFriction(0.0, 0.0),
            properties=found,
        )
        return found

    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "floor", material())
    bodies = []
    for i in range(n):
        body = plant.AddRigidBody(f"body{i}", SpatialInertia(1.0, np.zeros(3), UnitInertia(I, I, I)))
        for k, foot in enumerate(feet):
            plant.RegisterCollisionGeometry(
                body, RigidTransform(np.array(foot)), Sphere(radius), f"body{i}.{k}", material()
            )
        bodies.append(body)
    plant.Finalize()
    diagram = builder.Build()

    def run(accuracy: float) -> np.ndarray:
        simulator = Simulator(diagram)
        context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        for body, x in zip(bodies, places(n), strict=True):
            plant.SetFreeBodyPose(context, body, RigidTransform(x))
        ResetIntegratorFromFlags(simulator, "runge_kutta3", 0.1)
        simulator.get_mutable_integrator().set_target_accuracy(accuracy)
        simulator.AdvanceTo(END)
        return np.array([plant.EvalBodyPoseInWorld(context, body).translation()[2] for body in bodies]) - RADIUS

    return run


SETTINGS = {
    "NexDyn": (ours, [10.0 ** (-0.25 * k) for k in range(16, 41)]),
    "Exudyn": (exudyn, [5e-4 / 2 ** (0.25 * k) for k in range(24)]),
    "Drake": (drake, [10.0 ** (-0.25 * k) for k in range(10, 37)]),
}
"""Engines, and their settings from loose to tight."""


def installed(engine: str) -> bool:
    return engine == "NexDyn" or find_spec({"Exudyn": "exudyn", "Drake": "pydrake"}[engine]) is not None


def bounce(report: Report, what: str, n: int, effort: Effort) -> None:
    """Rows of n balls or boxes."""
    known, work, told = exact(n), {}, {}
    for engine, (make, ladder) in SETTINGS.items():
        if not installed(engine):
            report.notes.append(f"{engine} is not installed, and left out")
            continue
        run = make(what, n)
        setting, error, right = 0.0, 0.0, 0
        for tighter in ladder:
            missed = float(np.abs(run(tighter) - known).max())
            if missed > ALLOWED:
                right = 0
                continue
            if right == 0:
                setting, error = tighter, missed
            right += 1
            if right == 2:
                break
        else:
            report.notes.append(f"{n} {what}, {engine}: no setting down to {ladder[-1]:g} is right to {ALLOWED:g} m")
            continue
        told[engine] = f"{engine} {setting:.2g}: {1e6 * error:.2g} µm"
        work[engine] = lambda repeat, run=run, setting=setting: [run(setting) for _ in range(repeat)]
    times = alternate(work, effort)
    for rival in [name for name in times if name != "NexDyn"]:
        ratios = sorted(theirs / mine for theirs, mine in zip(times[rival], times["NexDyn"], strict=True))
        row = Row(
            f"{n} {what} bounce for 1 s",
            "ms",
            1e3 * float(np.median(times["NexDyn"])),
            1e3 * float(np.median(times[rival])),
            rival,
        )
        row.ratio, row.spread = float(np.median(ratios)), quartiles(ratios)
        report.rows.append(row)
    report.notes.append(f"{n} {what}, settings and largest error: {'; '.join(told.values())}")

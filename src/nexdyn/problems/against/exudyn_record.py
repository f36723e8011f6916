"""Run one of Exudyn's own test models in Exudyn and record the motion of its bodies and the parameters of its items.

    python exudyn_record.py MODELS MODEL REFINEMENT OUT        a process of its own: MODEL is executed as it stands

Sensors are added to all bodies before the model is assembled; its first dynamic solution is recorded, with REFINEMENT times as many
steps as it asks for. OUT (JSON) holds t, curves, items, solver and the value by which the model judges itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

SAMPLES = 40
BODIES = ("RigidBody", "RigidBody2D", "MassPoint", "MassPoint2D")
ONE_DIMENSIONAL = ("Mass1D", "RotationalMass1D", "KinematicTree")


def plain(value: Any) -> Any:
    """As JSON has it; indices as numbers, functions as their names, without what only the viewer needs."""
    import numpy as np

    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if not k.startswith("V")}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.floating | np.integer):
        return value.item()
    if isinstance(value, int | float | str | bool) or value is None:
        return value
    if hasattr(value, "GetPythonObject"):
        return plain(value.GetPythonObject())
    if hasattr(value, "GetIndex"):
        return int(value.GetIndex())
    return getattr(value, "__name__", None) or str(value).rpartition(".")[2]


def items_of(mbs: Any) -> dict[str, list[Any]]:
    """The parameters of all items."""
    system = mbs.systemData
    kinds = {
        "nodes": (system.NumberOfNodes(), mbs.GetNode),
        "objects": (system.NumberOfObjects(), mbs.GetObject),
        "markers": (system.NumberOfMarkers(), mbs.GetMarker),
        "loads": (system.NumberOfLoads(), mbs.GetLoad),
    }
    return {kind: [plain(get(i)) for i in range(count)] for kind, (count, get) in kinds.items()}


def main(models: str, model: str, refinement: int, out: Path) -> None:
    """Run a model and write what was recorded."""
    sys.path[0] = models  # in place of the folder of this script
    import importlib

    import numpy as np

    exu: Any = importlib.import_module("exudyn")
    interface: Any = importlib.import_module("exudyn.itemInterface")
    SensorBody, SensorNode = interface.SensorBody, interface.SensorNode

    sys.argv = [model]
    exudynTestGlobals: Any = importlib.import_module("modelUnitTests").exudynTestGlobals

    exudynTestGlobals.useGraphics, exudynTestGlobals.performTests = False, True
    exudynTestGlobals.testResult = exudynTestGlobals.testError = None
    record: dict[str, Any] = {}
    sensors: dict[str, Any] = {}
    kind_of = exu.OutputVariableType
    assemble, solve = exu.MainSystem.Assemble, exu.MainSystem.SolveDynamic

    def assembling(mbs: Any, *args: Any, **options: Any) -> Any:
        sensors.clear()
        record["items"] = items_of(mbs)
        for i, item in enumerate(record["items"]["objects"]):
            kind = item["objectType"]
            if kind in BODIES:
                for quantity in ("Position", "Velocity", "AngularVelocity")[: 3 if kind.startswith("Rigid") else 2]:
                    sensor: Any = SensorBody(
                        bodyNumber=i, storeInternal=True, outputVariableType=getattr(kind_of, quantity)
                    )
                    sensors[f"{i} {quantity}"] = mbs.AddSensor(sensor)
            elif kind in ONE_DIMENSIONAL:
                for quantity in ("Coordinates", "Coordinates_t"):
                    node = item["nodeNumber"]
                    sensor = SensorNode(
                        nodeNumber=node, storeInternal=True, outputVariableType=getattr(kind_of, quantity)
                    )
                    sensors[f"{i} {quantity}"] = mbs.AddSensor(sensor)
        return assemble(mbs, *args, **options)

    def prepare(settings: Any, kind: Any = "GeneralizedAlpha") -> None:
        if "solver" in record:
            return
        integration = settings.timeIntegration
        record["solver"] = {"end": integration.endTime, "steps": int(integration.numberOfSteps), "type": plain(kind)}
        every = max(1, int(integration.numberOfSteps) // SAMPLES)
        step = (integration.endTime - integration.startTime) / int(integration.numberOfSteps)
        settings.solutionSettings.sensorsWritePeriod = every * step
        integration.numberOfSteps = int(integration.numberOfSteps) * refinement

    def keep(mbs: Any) -> None:
        if "t" in record:
            return
        curves = {name: np.asarray(mbs.GetSensorStoredData(sensor)) for name, sensor in sensors.items()}
        record["t"] = next(iter(curves.values()))[:, 0].tolist()
        record["curves"] = {name: values[:, 1:].tolist() for name, values in curves.items()}

    def solving(mbs: Any, simulationSettings: Any = None, *args: Any, **options: Any) -> Any:
        settings = exu.SimulationSettings() if simulationSettings is None else simulationSettings
        prepare(settings, args[0] if args else options.get("solverType", "GeneralizedAlpha"))
        found = solve(mbs, settings, *args, **options)
        keep(mbs)
        return found

    solver_kind = exu.MainSolverImplicitSecondOrder
    solve_system = solver_kind.SolveSystem

    def solving_system(solver: Any, mbs: Any, settings: Any, *args: Any) -> Any:
        prepare(settings)
        found = solve_system(solver, mbs, settings, *args)
        keep(mbs)
        return found

    exu.MainSystem.Assemble, exu.MainSystem.SolveDynamic = assembling, solving
    solver_kind.SolveSystem = solving_system
    exu.SolveDynamic = lambda mbs, *args, **options: mbs.SolveDynamic(*args, **options)
    path = os.path.join(models, model)
    with contextlib.redirect_stdout(io.StringIO()), open(path, encoding="utf-8") as source:
        code = compile(source.read(), model, "exec")
        try:
            exec(code, {"__name__": "__main__", "__file__": path})  # the peer's own model, as it stands
        except Exception as failure:
            record["failure"] = repr(failure)
    record["result"], record["error"] = plain(exudynTestGlobals.testResult), plain(exudynTestGlobals.testError)
    record["version"] = exu.config.Version() if hasattr(exu, "config") else exu.GetVersionString()
    out.write_text(json.dumps(record), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))

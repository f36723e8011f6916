"""Examples of Modelica's MultiBody library and of ModelicaTest with Dymola's results.

The examples are those of github.com/modelica/ModelicaStandardLibrary, version 4.0.0, in gravity of 9.80665 m/s²; the results are in the
branch v4.0.0 of github.com/modelica/MAP-LIB_ReferenceResults, which names Dymola 2020x, Dassl and a tolerance of 1e-6 where the
example asks for none. Some 50 samples are kept in `data/dymola` of those signals that the description here has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from nexdyn.errors import InputError
from nexdyn.problems.against import modelica_forces, modelica_models
from nexdyn.problems.against.case import Case, Reference, Scene
from nexdyn.problems.against.formulations import LIMIT, closed, free, rk4
from nexdyn.problems.against.kept import kept, sampled
from nexdyn.problems.against.modelica_energy import energy_drift
from nexdyn.problems.against.modelica_parts import Parts, Signal
from nexdyn.problems.problem import Run

MODELS, LOOPS = modelica_forces.MODELS, modelica_models.LOOPS

SOURCE = "Dymola 2020x; github.com/modelica/MAP-LIB_ReferenceResults, branch v4.0.0"
CLONE = "git clone --depth 1 --branch v4.0.0 https://github.com/modelica/MAP-LIB_ReferenceResults"
DT = 5e-4
STEPS = {
    "DoublePendulumInitTip": DT / 2,
    "ForceAndTorque": DT / 8,
    "Test.SphericalDoublePendulum": DT / 4,
    "GyroscopicEffects": DT / 4,
    "Test.Rotor1D_1": DT / 4,
    "Test.Force": DT / 4,
    "Test.ForcesAndTorques": DT / 16,
    "Test.FrameForces": DT / 2,
    "Test.WorldForces": DT / 2,
    "Test.WorldForceAndTorque": DT / 16,
}
"""Steps of methods of order 2 where the motion is fast: halved until the tightest run is within LIMIT."""

ENERGY = 1e-5
"""Change of energy of Dymola's `DoublePendulumInitTip` after 2 s, less what its damper takes, over its largest kinetic energy."""
UNTIL = {"DoublePendulumInitTip": 3.2, "Test.JointUSR": 0.6}
"""Times [s] to which curves are compared. DoublePendulumInitTip is chaotic: until a deviation of ENERGY at the start has grown to LIMIT.
JointUSR has the slide's coordinate as its state, which is singular at dead centres: three of them change Dymola's energy by 5e-4.
"""

AS_WRITTEN = {"Fourbar1": modelica_forces.fourbar1_as_written}
"""Descriptions with the example's own joints, whose carriers have no mass."""


def name_of(path: str) -> str:
    """The case's name: the example's, with its library where both have one of the same name."""
    return Path(path).name if path.startswith("Modelica/") else f"Test.{Path(path).name}"


def signals_of(header: list[str], signals: dict[str, Signal]) -> dict[str, list[int]]:
    """Columns of each quantity: those of vectors as r_0[1] or r_rel_a_1, in their order."""
    columns: dict[str, list[int]] = {}
    for k, name in enumerate(header[1:], 1):
        base = re.sub(r"(\[\d\]|(?<=_a)_[123]|(?<=_b)_[123])$", "", name)
        for key in (name, base):
            if key in signals:
                columns.setdefault(signals[key][0], []).append(k)
                break
    return columns


def copied(path: str, build: Callable[[], Parts], folder: Path) -> Reference:
    """The curves in a copy of the results, with the drift of their energy. Raises InputError where the file is not below the folder."""
    file = folder / path / f"{Path(path).name}.csv"
    if not file.is_file():
        raise InputError(f"no {file.relative_to(folder)} below {str(folder)!r}; get Dymola's results with `{CLONE}`")
    with file.open(encoding="utf-8") as lines:
        header = [word.strip().strip('"') for word in re.findall(r'"[^"]*"|[^,]+', lines.readline().strip())]
        table = np.loadtxt(lines, delimiter=",", ndmin=2)
    parts = build()
    columns = signals_of(header, parts.signals)
    curves, t = {quantity: table[:, k] for quantity, k in columns.items()}, table[:, 0]
    every, some = sampled(t, len(t)), sampled(t)
    drift = energy_drift(parts, t[every], {quantity: values[every] for quantity, values in curves.items()})
    return Reference(t[some], {quantity: values[some] for quantity, values in curves.items()}, drift)


def reference(path: str, build: Callable[[], Parts], folder: Path | None) -> Reference:
    """The curves, kept or in a copy."""
    return kept("dymola", name_of(path)) if folder is None else copied(path, build, folder)


REFUSED = ("Test.PointMass", "Test.SpringDamperParallel")
"""Examples with links without inertia that the constraint force algorithm refuses by name."""


def runs_of(path: str) -> tuple[Run, ...]:
    """The formulations that support an example."""
    dt = STEPS.get(name_of(path), DT)
    runs = (*(closed if path in LOOPS else free)(dt), *rk4(dt))
    refused = name_of(path) in REFUSED
    return tuple(run for run in runs if not (refused and "constraint forces" in run.formulation))


def case_of(path: str) -> Case:
    """A case of an example."""
    title, build = MODELS[path]
    runs = runs_of(path)
    scenes = [Scene(lambda: build().system(), runs)]
    if name_of(path) in AS_WRITTEN:
        written = AS_WRITTEN[name_of(path)]
        own = tuple(replace(run, formulation=f"{run.formulation}, as written") for run in runs)
        scenes.append(Scene(lambda: written().system(), own))
    observe = partial(lambda parts, result: parts().observe(result), lru_cache(build))
    read, until = partial(reference, path, build), UNTIL.get(name_of(path), np.inf)
    return Case(name_of(path), title, f"{SOURCE}, {path}", read, tuple(scenes), observe, LIMIT, runs[0], until)


CASES = {name_of(path): case_of(path) for path in MODELS}

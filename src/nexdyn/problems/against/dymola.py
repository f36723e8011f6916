"""Examples of Modelica's MultiBody library and of ModelicaTest with Dymola's results.

The examples are those of github.com/modelica/ModelicaStandardLibrary, version 4.0.0, in gravity of 9.80665 m/s²; the results are in the
branch v4.0.0 of github.com/modelica/MAP-LIB_ReferenceResults, which names Dymola 2020x, Dassl and a tolerance of 1e-6 where the
example asks for none. Some 50 samples are kept in `data/dymola` of those signals that the description here has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from nexdyn.errors import InputError
from nexdyn.problems.against import modelica_forces, modelica_models
from nexdyn.problems.against.case import Case, Reference, Scene
from nexdyn.problems.against.formulations import LIMIT, closed, free, rk4
from nexdyn.problems.against.kept import kept, sampled
from nexdyn.problems.against.modelica_parts import Parts, Signal
from nexdyn.problems.problem import Run

MODELS, LOOPS = modelica_forces.MODELS, modelica_models.LOOPS

SOURCE = "Dymola 2020x; github.com/modelica/MAP-LIB_ReferenceResults, branch v4.0.0"
CLONE = "git clone --depth 1 --branch v4.0.0 https://github.com/modelica/MAP-LIB_ReferenceResults"
DT = 5e-4
MASSLESS = {
    "PrismaticConstraint",
    "SpringDamperParallel",
    "PendulumWithSpringDamper",
    "PointMass",
    "DoublePendulumInitTip",
}
"""Some link has no mass, or none about an axis."""


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
    """The curves in a copy of the results. Raises InputError where the file is not below the folder."""
    file = folder / path / f"{Path(path).name}.csv"
    if not file.is_file():
        raise InputError(f"no {file.relative_to(folder)} below {str(folder)!r}; get Dymola's results with `{CLONE}`")
    with file.open(encoding="utf-8") as lines:
        header = [word.strip().strip('"') for word in re.findall(r'"[^"]*"|[^,]+', lines.readline().strip())]
        table = np.loadtxt(lines, delimiter=",", ndmin=2)
    chosen = sampled(table[:, 0])
    table = table[chosen]
    curves = {quantity: table[:, columns] for quantity, columns in signals_of(header, build().signals).items()}
    return Reference(table[:, 0], curves)


def reference(path: str, build: Callable[[], Parts], folder: Path | None) -> Reference:
    """The curves, kept or in a copy."""
    return kept("dymola", name_of(path)) if folder is None else copied(path, build, folder)


def runs_of(path: str) -> tuple[Run, ...]:
    """The formulations that support an example."""
    runs = (*(closed if path in LOOPS else free)(DT), *rk4(DT))
    massless = Path(path).name in MASSLESS
    return tuple(run for run in runs if not (massless and "constraint forces" in run.formulation))


def case_of(path: str) -> Case:
    """A case of an example."""
    title, build = MODELS[path]
    runs = runs_of(path)
    scene = Scene(lambda: build().system(), runs)
    observe = partial(lambda parts, result: parts().observe(result), lru_cache(build))
    read = partial(reference, path, build)
    return Case(name_of(path), title, f"{SOURCE}, {path}", read, (scene,), observe, LIMIT, runs[0])


CASES = {name_of(path): case_of(path) for path in MODELS}

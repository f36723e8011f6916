"""Exudyn itself, where it is installed: its own test models, run from a copy of its repository."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nexdyn.errors import InputError, NexDynError
from nexdyn.problems.against import exudyn_record
from nexdyn.problems.against.case import Curves, Reference, scaled

CLONE = "git clone --depth 1 https://github.com/jgerstmayr/EXUDYN"
MODELS = Path("main", "pythonDev", "TestModels")
INSTALL = "pip install exudyn==1.11.0"
NAMES = {"Position": "position", "Velocity": "velocity", "AngularVelocity": "angular velocity"}
SECONDS = 300.0
REFINED = 64
"""Of an error of order two in the step, this leaves 1/4096."""


def reference(file: str, folder: Path, left_out: frozenset[int] = frozenset()) -> Reference:
    """What Exudyn computes of a model, and its own error by steps 1/64 as long.

    Raises InputError where Exudyn is not installed or the folder has no such model.
    """
    whole, finer = (recorded(file, folder, refinement) for refinement in (1, REFINED))
    return reference_of(without(whole, left_out), without(finer, left_out))


def recorded(file: str, folder: Path, refinement: int, python: str = sys.executable) -> Mapping[str, Any]:
    """What `exudyn_record` writes of a model, in a process of its own."""
    models = folder / MODELS
    if not (models / file).is_file():
        raise InputError(f"no {MODELS / file} below {str(folder)!r}; get Exudyn's models with `{CLONE}`")
    if python == sys.executable and importlib.util.find_spec("exudyn") is None:
        raise InputError(
            f"Exudyn is not installed: `{INSTALL}`, or leave out --curves to compare with the curves that are kept"
        )
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch, "record.json")
        words = [python, "-W", "ignore", exudyn_record.__file__, str(models.resolve()), file, str(refinement), str(out)]
        done = subprocess.run(words, cwd=scratch, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode or not out.is_file():
            raise NexDynError(f"Exudyn does not run {file}: {done.stderr.strip().splitlines()[-1:]}")
        found: Mapping[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    if "t" not in found:
        raise NexDynError(
            f"Exudyn does not run {file}: {found.get('failure', 'nothing was recorded')}; with another version: `{INSTALL}`"
        )
    return found


def reference_of(whole: Mapping[str, Any], fine: Mapping[str, Any]) -> Reference:
    """The curves at whole steps, and the error that finer ones show."""
    t = np.array(whole["t"])
    curves = curves_of(whole)
    finer = curves_of(fine)
    same = [int(np.abs(np.array(fine["t"]) - x).argmin()) for x in t]
    own = {name: scaled(name, finer[name][same], x, x) for name, x in curves.items()}
    return Reference(t, curves, max(own.values(), default=np.nan), scaled_alike=True, own_errors=own)


def without(record: Mapping[str, Any], objects: frozenset[int]) -> dict[str, Any]:
    """A record without the curves of some objects."""
    return {**record, "curves": {key: x for key, x in record["curves"].items() if int(key.split()[0]) not in objects}}


def curves_of(record: Mapping[str, Any]) -> Curves:
    """The recorded curves by our names."""
    objects = record["items"]["objects"]
    curves = {}
    for key, values in record["curves"].items():
        number, kind = key.split()
        item = objects[int(number)]["objectType"]
        x = np.array(values)
        if kind in NAMES:
            curves[f"{item} {number} {NAMES[kind]}"] = x
        elif item == "KinematicTree":
            curves[f"tree {number} {'rates' if kind.endswith('_t') else 'coordinates'}"] = x
        else:
            names = (
                ("angle", "angular velocity") if item == "RotationalMass1D" else ("slide position", "slide velocity")
            )
            start = 0.0 if kind.endswith("_t") else reference_coordinate(record, objects[int(number)])
            curves[f"axis {number} {names[kind.endswith('_t')]}"] = x + start
    return curves


def reference_coordinate(record: Mapping[str, Any], item: Mapping[str, Any]) -> float:
    """Where the coordinate of a mass in one dimension counts from."""
    return float(record["items"]["nodes"][item["nodeNumber"]]["referenceCoordinates"][0])

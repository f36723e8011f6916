"""CSV: one row a sample, one column a number, whose name carries its unit.

    time [s],joint_position.hinge1 [rad],position.link2.x [m], …

Numbers are written with the digits that read back to the same double.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.results.atomic import PathLike, file_path, written
from nexdyn.results.observed import Observed
from nexdyn.results.quantities import ENERGIES, QUANTITIES, Labels

SUFFIXES = (".csv",)
ROWS = 1000
"""Rows that are text in memory at a time."""
GROUPS = {"energy": ENERGIES, "measures": ("measure",)}
"""Names for several quantities at once, and the plural of one."""


def write_csv(observed: Observed, path: PathLike, what: str | Sequence[str]) -> None:
    """Write the quantities `what`; see `Result.to_csv`."""
    target = file_path(path, SUFFIXES, "a CSV file")
    names = _names(what)
    for name in names:
        observed.require(name)
    with written(target) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["time [s]", *(column for name in names for column in column_names(observed.labels, name))])
        for rows, found in observed.tables(names):
            t = observed.recording.t[rows]
            parts = [t[:, None], *(found[name].reshape(len(t), -1) for name in names)]
            for start in range(0, len(t), ROWS):
                block = np.concatenate([part[start : start + ROWS] for part in parts], axis=1)
                writer.writerows(map(repr, row) for row in block.tolist())


def column_names(labels: Labels, name: str) -> list[str]:
    """The columns of a quantity, last axis fastest: "reaction.hinge1.fx [N]"."""
    quantity = QUANTITIES[name]
    if not quantity.dims:
        return [f"{name} [{quantity.units}]"]
    *outer, last = (labels.dims[dim] for dim in quantity.dims)
    units = [quantity.units] * len(last) if quantity.units else labels.units[name]
    return [
        f"{'.'.join([name, *before, label])} [{unit}]"
        for before in itertools.product(*outer)
        for label, unit in zip(last, units, strict=True)
    ]


def _names(what: str | Sequence[str]) -> list[str]:
    given = [what] if isinstance(what, str) else list(what)
    valid = [*GROUPS, *QUANTITIES]
    names: list[str] = []
    for name in given:
        if name not in valid:
            raise unknown("quantity", name, valid)
        names += [n for n in GROUPS.get(name, (name,)) if n not in names]
    if not names:
        raise InputError(f"what is empty; name some of {', '.join(valid)}")
    return names

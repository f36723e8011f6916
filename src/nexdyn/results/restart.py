"""All of a run's state at its end, from which the method goes on as if it had never stopped.

What is recorded tells the motion; a method remembers more: the turns that it has counted, multipliers and accelerations of its own,
the steps before, the factors of a matrix, states of forces and the steps before them, what its next step is to be.

    kind         what such a memory fits: the family of the method and what of it the memory depends on
    t            when it was taken [s]
    arrays       name → numbers, as a simulation names them
    constants    numbers that the memory depends on, of masses, frames and forces: where they are others it is of another mechanism
    notes        what is no number, as JSON has it
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nexdyn.errors import FileError

WHOLE = "i"
"""Kind of the numbers that are integers."""
LIST = "list."
"""What names of arrays begin with whose lengths change from step to step."""
SAME = 1e-12
"""Part of their size by which constants of the same mechanism may differ, described anew."""


@dataclass
class Restart:
    """See the module."""

    kind: str
    t: float
    arrays: dict[str, np.ndarray]
    constants: np.ndarray = field(default_factory=lambda: np.zeros(0))
    notes: dict[str, Any] = field(default_factory=dict)

    def fits(self, kind: str, arrays: dict[str, np.ndarray], constants: np.ndarray) -> bool:
        """Whether it can be gone on from by a simulation with such a kind, memory and constants."""
        return (
            self.kind == kind
            and all(
                name in self.arrays and (name.startswith(LIST) or self.arrays[name].shape == x.shape)
                for name, x in arrays.items()
            )
            and self.constants.shape == constants.shape
            and np.allclose(self.constants, constants, rtol=SAME, atol=0.0, equal_nan=True)
        )

    def packed(self) -> tuple[np.ndarray, str]:
        """All numbers in a row, and as JSON what they are of."""
        named = {**self.arrays, "constants": self.constants}
        layout = [[name, list(x.shape), x.dtype.kind] for name, x in named.items()]
        said = {"kind": self.kind, "t": self.t, "notes": self.notes, "layout": layout}
        return np.concatenate([np.zeros(0), *(x.astype(float).ravel() for x in named.values())]), json.dumps(said)


def unpacked(numbers: np.ndarray, text: str, file: str) -> Restart:
    """What `packed` gave; FileError naming the file where the two do not fit."""
    try:
        said = json.loads(text)
        named, at = {}, 0
        for name, shape, kind in said["layout"]:
            size = int(np.prod(shape, dtype=int))
            x = numbers[at : at + size].reshape(shape)
            named[str(name)] = x.astype(np.int64) if kind == WHOLE else x.copy()
            at += size
        if at != len(numbers):
            raise ValueError(f"{len(numbers)} numbers are there, {at} are told of")
        return Restart(str(said["kind"]), float(said["t"]), named, named.pop("constants"), dict(said["notes"]))
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"does not fit what it says of itself: {error}", file=file, element="restart") from error

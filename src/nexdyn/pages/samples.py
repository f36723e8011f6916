"""Numbers and coordinates to look at a page with."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np


def sampled(cls: Any, rng: np.random.Generator) -> list[float]:
    """Values of the numbers of a page to look at it with: those of its `sample`, defaults, or between 0.5 and 1.5."""
    found = []
    for name, default in cls._numbers.items():
        value = cls.sample.get(name, default)
        found.append(rng.uniform(0.5, 1.5) if value is inspect.Parameter.empty else float(value))
    return found


def sampled_q(cls: Any, rng: np.random.Generator) -> np.ndarray:
    """Coordinates (nq,) of a joint, within its `ranges`."""
    return np.array([rng.uniform(low, high) for low, high in cls.ranges])

"""Memory of lanes that starts where a line of the cache does.

A pack of 8 doubles is a line of 64 bytes. NumPy's arrays start at any 16th byte, where every load and store of a pack
would touch two lines: ABA in lanes takes a fifth longer so, RNEA a third.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nexdyn.compiler.options import LINE


def lane_zeros(shape: tuple[int, ...]) -> np.ndarray:
    """Zeros (…, LANES) from the start of a line on."""
    size = 8 * math.prod(shape)
    room = np.zeros(size + LINE, dtype=np.uint8)
    first = -room.__array_interface__["data"][0] % LINE
    return room[first : first + size].view(float).reshape(shape)


def aligned(value: Any) -> Any:
    """A nest of tuples with its arrays of floats copied into such memory."""
    if isinstance(value, tuple):
        parts = [aligned(part) for part in tuple.__iter__(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, np.ndarray) and value.dtype == float:
        copy = lane_zeros(value.shape)
        copy[:] = value
        return copy
    return value

"""What arrows and colours of a motion that goes on are scaled by: the sizes that have occurred so far, the last of them.

Of each moment the largest size counts, where something acts. A scale that nine in ten moments do not exceed lets a rare impact
pass by; what is at rest again is told as large as in a recording of the same.
"""

from __future__ import annotations

from collections import deque

import numpy as np

MOST = 1800
"""Moments that count: at 30 a second those of one minute."""


class Seen:
    """Sizes so far."""

    def __init__(self) -> None:
        self._sizes: deque[float] = deque(maxlen=MOST)

    def add(self, sizes: np.ndarray) -> None:
        """Another moment, at which things act that are so large."""
        size = float(np.max(sizes, initial=0.0))
        if 0.0 < size < np.inf:
            self._sizes.append(size)

    def exceeded_by(self, share: float) -> float:
        """What so many of the moments exceed, 0 the largest; 0 where nothing has acted."""
        return float(np.quantile(np.array(self._sizes), 1.0 - share)) if self._sizes else 0.0

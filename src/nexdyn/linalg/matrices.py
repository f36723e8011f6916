"""Matrices that are arrays, or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

Matrix = Any
"""An array, or a sparse matrix in rows."""


def dense(A: Matrix) -> np.ndarray:
    """A as an array."""
    return A if isinstance(A, np.ndarray) else np.asarray(A.toarray())

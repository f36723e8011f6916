"""Moments of inertia, split so that turning them takes 30 products instead of 45.

S = σ₁ e₁ e₁ᵀ + λ e₂ e₂ᵀ + σ₃ e₃ e₃ᵀ,  σ₁ ≤ λ ≤ σ₃:   S = λ 1 + a aᵀ − b bᵀ,  a = √(σ₃ − λ) e₃,  b = √(λ − σ₁) e₁
R S Rᵀ = λ 1 + (R a)(R a)ᵀ − (R b)(R b)ᵀ
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Sym3, Vec3


class SplitMoments(NamedTuple):
    """λ, a, b."""

    middle: float
    a: Vec3
    b: Vec3


def split_moments(S: np.ndarray) -> np.ndarray:
    """(λ, a, b) (…, 7) of symmetric S = (xx, xy, xz, yy, yz, zz) (…, 6)."""
    moments, axes = np.linalg.eigh(S[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(*S.shape[:-1], 3, 3))
    low, middle, high = (moments[..., i : i + 1] for i in range(3))
    return np.concatenate(
        [middle, np.sqrt(high - middle) * axes[..., 2], np.sqrt(middle - low) * axes[..., 0]], axis=-1
    )


@formula
def plus_turned_moments(A, R, S):
    """A + R S Rᵀ."""
    a, b, m = R @ S.a, R @ S.b, S.middle
    return Sym3(
        (A.xx + m) + a.x * a.x - b.x * b.x, A.xy + a.x * a.y - b.x * b.y, A.xz + a.x * a.z - b.x * b.z,
        (A.yy + m) + a.y * a.y - b.y * b.y, A.yz + a.y * a.z - b.y * b.z, (A.zz + m) + a.z * a.z - b.z * b.z,
    )  # fmt: skip

"""Initial configuration: the pose nearest to the described one that satisfies the constraints.

    min ½ (q − q₀)ᵀ W (q − q₀)   subject to   C(q) = 0

    1. feasible pose: damped Gauss–Newton on all rows, Δ = −W⁻¹Cqᵀ (Cq W⁻¹Cqᵀ + ε)⁻¹ C, which dependent rows do not
       disturb; where it stalls, load increments C(q) = (1 − α) C(q₀) with α from 0 to 1
    2. nearest pose: Newton on the KKT conditions with the rows that are kept,

        [ W + Σ μ C_qq   Cqᵀ ] [Δq]      [ W (q − q₀) + Cqᵀ μ ]
        [ Cq             0   ] [Δμ]  = − [ C(q)               ]

q − q₀ of a rotation is its rotation vector φ = log(q₀⁻¹ q); the gradient of ½ φᵀ w φ is Jᵣ⁻ᵀ(φ) w φ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nexdyn.absolute.model.kkt import Solver, factor_kkt
from nexdyn.absolute.model.model import AbsoluteModel, scaled_rows
from nexdyn.constraints import tables as constraint_tables
from nexdyn.spatial.rotations import (
    log_quaternion,
    quaternion,
    quaternion_conjugate,
    quaternion_multiply,
    right_jacobian_inverse,
    rotation_matrix,
)

EPS_Q = 1e-10
"""A step or a residual below this, in rad and in parts of the mechanism's size, ends an iteration."""
MAX_ITERATIONS = 25
DAMPING = 1e-9
LEAST_GAP_STEPS = 100
LARGEST_TURN = 0.5
"""Longest rotation of a body in one iteration [rad]; the step is shortened to it."""


@dataclass
class Configuration:
    """The assembled pose: q (nb + 1, 7), the iterations it took, and the largest |C| left."""

    q: np.ndarray
    iterations: int
    residual: float
    converged: bool


def difference(q: np.ndarray, q0: np.ndarray) -> np.ndarray:
    """(φ, p − p₀) of every body, (nb, 6)."""
    turn = quaternion_multiply(quaternion_conjugate(q0[1:, :4]), q[1:, :4])
    return np.concatenate([log_quaternion(turn), q[1:, 4:] - q0[1:, 4:]], axis=1)


def row_units(model: AbsoluteModel, length: float) -> np.ndarray:
    """What makes numbers of the rows, (nc,): 1/L where they are lengths, 1 where they are products of directions."""
    return constraint_tables.row_units(model.tables, length)


def position_units(model: AbsoluteModel, length: float) -> np.ndarray:
    """The same, and 0 for velocity rows, of which a pose knows nothing."""
    return np.where(model.positional, row_units(model, length), 0.0)


def limited(step: np.ndarray, length: float) -> np.ndarray:
    """The step, shortened so that no body turns by more than LARGEST_TURN or moves by more than L."""
    parts = step.reshape(-1, 6)
    turn = np.linalg.norm(parts[:, :3], axis=1).max(initial=0.0)
    shift = np.linalg.norm(parts[:, 3:], axis=1).max(initial=0.0) / length
    return step / max(1.0, turn / LARGEST_TURN, shift)


def feasible_pose(
    model: AbsoluteModel, q0: np.ndarray, W: np.ndarray, length: float, increments: int = 1,
    iterations: int = MAX_ITERATIONS, t: float = 0.0, solver: Solver = "lu", tolerance: float = EPS_Q,
) -> Configuration:  # fmt: skip
    """Step 1, on all rows."""
    units = position_units(model, length)
    q, count = q0, 0
    softest = (W.reshape(-1, 6) * [1.0, 1.0, 1.0, length**2, length**2, length**2]).min()
    C0 = model.residual(q0, t)
    weight = model.diagonal(W)
    for k in range(1, increments + 1):
        target = (1.0 - k / increments) * C0
        best = np.inf
        for _ in range(iterations):
            C = model.residual(q, t) - target
            size = np.abs(C * units).max(initial=0.0)
            if size < tolerance or (size > 0.9999 * best and size < 1e-7):
                break
            best = min(best, size)
            Cq = scaled_rows(model.jacobian(q, t), units)
            kkt = factor_kkt(weight, Cq, DAMPING * max(1.0, 1.0 / softest), solver)
            step, _ = kkt.solve(np.zeros(model.nv), -units * C, refine=0)
            q = model.moved(q, limited(step, length))
            count += 1
    C = model.residual(q, t)
    residual = float(np.abs(C * units).max(initial=0.0))
    return Configuration(q, count, residual, residual < 1e-8)


def least_gap_pose(
    model: AbsoluteModel, q: np.ndarray, W: np.ndarray, length: float, t: float = 0.0, solver: Solver = "lu"
) -> Configuration:
    """The pose near q in which Σ C² is least, where no pose closes: Levenberg–Marquardt.

    Δ = −W⁻¹Cqᵀ (Cq W⁻¹Cqᵀ + ε)⁻¹ C with ε lowered after a step that lowers the sum and raised after one that does not.
    """
    units = position_units(model, length)
    weight, epsilon = model.diagonal(W), 1e-2
    C = units * model.residual(q, t)
    for _ in range(LEAST_GAP_STEPS):
        Cq = scaled_rows(model.jacobian(q, t), units)
        while True:
            step, _ = factor_kkt(weight, Cq, epsilon, solver).solve(np.zeros(model.nv), -C, refine=0)
            there = model.moved(q, limited(step, length))
            C_there = units * model.residual(there, t)
            if C_there @ C_there < C @ C or epsilon > 1e8:
                break
            epsilon *= 10.0
        gained = C @ C - C_there @ C_there
        if not gained > 1e-14 * (C @ C):
            break
        q, C, epsilon = there, C_there, max(0.2 * epsilon, 1e-9)
    return Configuration(q, 0, float(np.abs(C).max(initial=0.0)), False)


def nearest_pose(
    model: AbsoluteModel, q: np.ndarray, q0: np.ndarray, kept: np.ndarray, W: np.ndarray, length: float,
    iterations: int = MAX_ITERATIONS, t: float = 0.0, solver: Solver = "lu", tolerance: float = EPS_Q,
) -> Configuration:  # fmt: skip
    """Step 2, from a feasible pose q, on the rows kept."""
    units = position_units(model, length)
    mu, kept = np.zeros(model.nc), kept & model.positional
    count = 0
    while count < iterations:
        count += 1
        Cq = scaled_rows(model.jacobian(q, t), units)[kept]
        C = (units * model.residual(q, t))[kept]
        away = difference(q, q0)
        J = right_jacobian_inverse(away[:, :3])
        w = W.reshape(-1, 6)
        gradient = np.concatenate([np.einsum("nji,nj->ni", J, w[:, :3] * away[:, :3]), w[:, 3:] * away[:, 3:]], axis=1)
        blocks = np.zeros((model.nb, 6, 6))
        blocks[:, :3, :3] = np.einsum("nki,nk,nkj->nij", J, w[:, :3], J)
        blocks[:, 3:, 3:] = w[:, 3:, None] * np.eye(3)
        H = model.block_diagonal(blocks)
        kkt = factor_kkt(H + model.curvature(q, units * mu, t) if np.any(mu) else H, Cq, solver=solver)
        step, dmu = kkt.solve(-(gradient.reshape(-1) + Cq.T @ mu[kept]), -C)
        q = model.moved(q, limited(step, length))
        mu[kept] += dmu
        if np.abs(step.reshape(-1, 6) / ([1.0] * 3 + [length] * 3)).max(initial=0.0) < tolerance:
            break
    residual = float(np.abs(units * model.residual(q, t)).max(initial=0.0))
    return Configuration(q, count, residual, residual < 1e-9)


def aligned_pose(model: AbsoluteModel, q0: np.ndarray) -> np.ndarray:
    """A start in which the frames of the joints of a spanning tree coincide: no direction is met 180° round there."""
    neighbours: dict[int, list[tuple[int, int]]] = {}
    for k, (a, b) in enumerate(model.tables.pairs[: len(model.system.joints)].tolist()):  # without those of drivers
        neighbours.setdefault(a, []).append((b, k))
        neighbours.setdefault(b, []).append((a, k))
    q = q0.copy()
    seen: set[int] = set()
    for root in range(len(model.bodies)):
        if root in seen:
            continue
        seen.add(root)
        queue = [root]
        for body in queue:
            for other, k in neighbours.get(body, []):
                if other in seen:
                    continue
                seen.add(other)
                queue.append(other)
                frame = model.tables.frames[k].reshape(2, 12)
                mine, theirs = frame if body == model.tables.pairs[k, 0] else frame[::-1]
                R = rotation_matrix(q[body, :4])
                R_J, p_J = R @ mine[:9].reshape(3, 3), q[body, 4:] + R @ mine[9:]
                R_other = R_J @ theirs[:9].reshape(3, 3).T
                q[other, :4], q[other, 4:] = quaternion(R_other), p_J - R_other @ theirs[9:]
    return q

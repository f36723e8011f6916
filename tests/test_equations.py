"""Equations on request, and the text's four-bar by Lagrange's equations in redundant coordinates."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
import systems
from numpy.testing import assert_allclose

import nexdyn as nx


@pytest.mark.parametrize("seed", range(3))
def test_the_power_of_what_is_applied_beyond_gravity_is_the_rate_of_kinetic_energy(seed: int) -> None:
    """vᵀ(τ − G) = dT/dt, and Ṁ − 2C is skew, by differences along the motion."""
    rng = np.random.default_rng(seed)
    tree = nx.Tree(
        systems.random_system(seed, ["revolute", "universal", "prismatic", "spherical", "planar", "revolute"])
    )
    q, v, tau = tree.random(rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    M, C, G = tree.equations(q, v)
    a = np.linalg.solve(M, tau - C @ v - G)
    assert_allclose(a, tree.aba(q, v, tau), atol=1e-8 * max(1.0, np.abs(a).max()))
    h = 1e-5

    def along(s: float) -> Any:
        return tree.integrate(q, s * v + 0.5 * s * s * a), v + s * a

    energies = [float(tree.kinetic_energy(*along(s))) for s in (-h, h)]
    power = float(v @ (tau - G))
    assert (energies[1] - energies[0]) / (2 * h) == pytest.approx(power, rel=1e-5, abs=1e-5)
    M_dot = (tree.crba(along(h)[0]) - tree.crba(along(-h)[0])) / (2 * h)
    skew = M_dot - 2 * C
    assert_allclose(skew, -skew.T, atol=1e-5 * max(1.0, np.abs(C).max()))


def lagrange_four_bar(
    theta: np.ndarray, omega: np.ndarray, ground: np.ndarray, L: np.ndarray, m: float, I: float, g: float
) -> Any:
    """(angular accelerations, λ) of three bars with absolute angles θ and the closure Σ L (cos θ, sin θ) = ground.

    T = ½ Σ (I ω_i² + m |v_i|²), the middle of bar i at Σ_{k<i} L_k e_k + ½ L_i e_i;  V = m g Σ y_i.
    """
    # the middle of bar i: p_i = Σ_k a_ik e(θ_k)
    a = np.array([[0.5 * L[0], 0, 0], [L[0], 0.5 * L[1], 0], [L[0], L[1], 0.5 * L[2]]])
    s, c = np.sin(theta), np.cos(theta)
    M = I * np.eye(3)
    for j in range(3):
        for k in range(3):
            M[j, k] += m * (a[:, j] @ a[:, k]) * np.cos(theta[j] - theta[k])
    # d/dt ∂T/∂ω_j − ∂T/∂θ_j beside M ω̇: Σ_k m (a_j · a_k) sin(θ_j − θ_k) ω_k²
    h = np.array(
        [sum(m * (a[:, j] @ a[:, k]) * np.sin(theta[j] - theta[k]) * omega[k] ** 2 for k in range(3)) for j in range(3)]
    )
    G = m * g * a.sum(axis=0) * c
    J = np.array([-L * s, L * c])
    gamma = np.array([L * c, L * s]) @ omega**2
    K = np.block([[M, J.T], [J, np.zeros((2, 2))]])
    x = np.linalg.solve(K, np.concatenate([-h - G, gamma]))
    assert_allclose([L @ c, L @ s], ground, atol=1e-9)
    return x[:3], x[3:]


@pytest.mark.parametrize("angle", [-0.4, 0.0, 0.3])
def test_the_four_bar_of_the_text_in_absolute_angles_moves_as_the_closed_tree(angle: float) -> None:
    closed = nx.ClosedTree(mechanisms.four_bar())
    points = np.array([(0, 0), (0, 1), (1.5, 1.4), (2, 0)], float)
    d = np.diff(points, axis=0)
    L, start = np.linalg.norm(d, axis=1), np.arctan2(d[:, 1], d[:, 0])
    q = closed.close({"A": angle})
    v = np.zeros(3)
    v[closed.tree.coordinates["A"].v] = 1.3
    v = closed.consistent_velocity(q, v, lock=["A"])
    a, lam = closed.dynamics(q, v, np.zeros(3))
    R, _ = closed.tree.pose(q)
    order = [closed.tree.body_names.index(name) for name in ("crank", "coupler", "rocker")]
    turned = np.arctan2(R[order, 1, 0], R[order, 0, 0])
    omega = closed.tree.velocity(q, v)[0][order, 2]
    h = 1e-6  # ω̇ of the bars from the tree's motion
    rates = [closed.tree.velocity(closed.tree.integrate(q, s * v), v + s * a)[0][order, 2] for s in (-h, h)]
    inertia = mechanisms.INERTIA[2]
    expected, forces = lagrange_four_bar(start + turned, omega, points[3], L, 1.0, inertia, 9.81)
    assert_allclose((rates[1] - rates[0]) / (2 * h), expected, atol=1e-6)
    # the multipliers of the vector loop are the force of the hinge at its end
    report = nx.assemble(mechanisms.four_bar(), q0={"A": angle}, v0={"A": 1.3})
    assert_allclose(report.reaction("D").force[:2], -forces, atol=1e-7)
    assert_allclose(lam, [*closed.joint_wrench("C", q, lam)[3:5] * [-1, -1], 0, 0, 0], atol=1e-9)

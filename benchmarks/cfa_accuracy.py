"""How the error of the constraint force algorithm grows on straight chains, beside that of ABA.

n equal rods hinged end to end about axes across the chain, with gravity along no axis and random torques. The reference is
the articulated-body algorithm and the Newton–Euler recursion in extended precision (64 bits of mantissa), on the same
numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nexdyn as nx

SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
Extended = np.longdouble


def straight_chain(n: int) -> nx.System:
    """n rods of 1 m and 1 kg along x, hinged about y."""
    system = nx.System("straight chain", gravity=(1, 2, -9.81))
    parent = system.ground
    for i in range(n):
        link = system.add_body(f"l{i}", mass=1.0, inertia=(0.01, 1 / 12, 1 / 12), position=(i + 0.5, 0, 0))
        system.add_joint(nx.Revolute(f"h{i}", parent, link, at=(i, 0, 0), axis=(0, 1, 0)))
        parent = link
    return system


def reference(tree: nx.Tree, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q̈ (n,) at q = 0, at rest, and the constraint wrench (n, 6) of each joint, computed with 64 bits."""
    model = tree.compiled.model
    n = len(model.topology) - 1
    poses, inertias = (column.numbers.astype(Extended) for column in (model.body.X_PJ, model.body.I))

    def skew(a: Any) -> Any:
        o = Extended(0)
        return np.array([[o, -a[2], a[1]], [a[2], o, -a[0]], [-a[1], a[0], o]])

    P, I = [np.zeros((6, 6), Extended)], [np.zeros((6, 6), Extended)]
    for i in range(1, n + 1):
        R, p = poses[i, :9].reshape(3, 3), poses[i, 9:]
        X = np.zeros((6, 6), Extended)
        X[:3, :3], X[:3, 3:], X[3:, 3:] = R, skew(p) @ R, R
        m, h, t = inertias[i, 0], inertias[i, 1:4], inertias[i, 4:]
        J = np.zeros((6, 6), Extended)
        J[:3, :3] = [[t[0], t[1], t[2]], [t[1], t[3], t[4]], [t[2], t[4], t[5]]]
        J[:3, 3:], J[3:, :3], J[3:, 3:] = skew(h), -skew(h), m * np.eye(3, dtype=Extended)
        P.append(X)
        I.append(J)
    # articulated bodies, the column of H being e_z
    IA = [x.copy() for x in I]
    pA = [np.zeros(6, Extended) for _ in I]
    U, d, u = ([None] * (n + 1) for _ in range(3))
    for i in range(n, 0, -1):
        U[i], d[i], u[i] = IA[i][:, 2], IA[i][2, 2], Extended(tau[i - 1]) - pA[i][2]
        Ia, pa = IA[i] - np.outer(U[i], U[i]) / d[i], pA[i] + U[i] * (u[i] / d[i])
        IA[i - 1] = IA[i - 1] + P[i] @ Ia @ P[i].T
        pA[i - 1] = pA[i - 1] + P[i] @ pa
    a = np.zeros((n + 1, 6), Extended)
    a[0, 3:] = -poses[0, :3]
    qdd = np.zeros(n, Extended)
    for i in range(1, n + 1):
        a[i] = P[i].T @ a[i - 1]
        qdd[i - 1] = (u[i] - U[i] @ a[i]) / d[i]
        a[i, 2] += qdd[i - 1]
    F = np.zeros((n + 2, 6), Extended)
    for i in range(n, 0, -1):
        F[i] = I[i] @ a[i] + (P[i + 1] @ F[i + 1] if i < n else 0)
    across = F[1 : n + 1].copy()
    across[:, 2] = 0
    return qdd, across  # q = 0: the two frames of a joint coincide


def errors(n: int) -> dict[str, float]:
    """Largest error of q̈ and of the forces, each beside its largest entry, and ε cond(A)."""
    tree = nx.Tree(straight_chain(n))
    rest, tau = np.zeros(n), np.random.default_rng(n).normal(size=n)
    expected, forces = reference(tree, tau)

    def off(x: Any, y: Any) -> float:
        return float(np.abs(x - y).max() / np.abs(y).max())

    aba = tree.aba(rest, rest, tau)
    wrenches = np.stack(list(tree.joint_wrenches(rest, rest, aba).values()))
    wrenches[:, 2] = 0.0
    found = {"n": float(n), "ABA, acceleration": off(aba, expected), "ABA and RNEA, force": off(wrenches, forces)}
    for name, solver, refinements in (
        ("CFA", "serial", 0), ("CFA, refined", "serial", 1), ("odd–even", "odd-even", 0), ("odd–even, refined", "odd-even", 1),
    ):  # fmt: skip
        try:
            a, force = tree.cfa(rest, rest, tau, solver=solver, refinements=refinements)
        except nx.SingularError:
            continue
        found[f"{name}, acceleration"], found[f"{name}, force"] = off(a, expected), off(force.array, forces)
    found["ε cond(A)"] = float(np.finfo(float).eps * tree.constraint_condition(rest))
    return found


def study(sizes: tuple[int, ...] = SIZES) -> list[dict[str, float]]:
    found = []
    for n in sizes:
        found.append(errors(n))
        print({key: f"{x:.2g}" for key, x in found[-1].items()}, flush=True)
    return found

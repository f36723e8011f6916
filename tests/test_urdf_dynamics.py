"""RNEA, CRBA and ABA of the robots of example-robot-data against Pinocchio, mimic joints and floating base included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pin_oracle import PinOracle
from test_urdf_robots import LOADED, quietly

from nexdyn.errors import SingularError
from nexdyn.tree.tree import Tree

MASSLESS = {"romeo.urdf": ("LHand", "RHand"), "romeo_laas_small.urdf": ("l_gripper_joint", "r_gripper_joint")}
"""Robots whose hands move no mass, and the joints that do: no acceleration exists."""

every_loaded_robot = pytest.mark.parametrize("path", LOADED, ids=lambda path: path.name)


def relative(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(x - y).max() / max(1e-300, np.abs(y).max())) if x.size else 0.0


def refined(M: np.ndarray, right: np.ndarray) -> np.ndarray:
    """M⁻¹ right, refined in extended precision."""
    M_long, x = M.astype(np.longdouble), np.zeros(len(right), dtype=np.longdouble)
    for _ in range(20):
        x += np.linalg.solve(M, (right - M_long @ x).astype(float))
    return x.astype(float)


@pytest.mark.parametrize("base", ["fixed", "free"])
@every_loaded_robot
def test_dynamics_agree_with_pinocchio(path: Path, base: str) -> None:
    system = quietly(path, base=base)
    tree = Tree(system)
    oracle = PinOracle(path, system, tree.joint_names, base=base)
    rng = np.random.default_rng(len(path.name))
    for _ in range(3):
        q, v, a, tau = oracle.random_state(rng)
        assert relative(tree.rnea(q, v, a), oracle.rnea(q, v, a)) < 1e-10
        assert relative(tree.crba(q), oracle.crba(q)) < 1e-10
        if path.name in MASSLESS:
            with pytest.raises(SingularError) as caught:
                tree.aba(q, v, tau)
            assert caught.value.where in MASSLESS[path.name]
        elif tree.nv:
            exact = refined(tree.crba(q), tau - tree.bias(q, v))
            assert relative(tree.aba(q, v, tau), exact) < 1e-10
            # on icub, whose mass matrix has a condition of 1e8, it is pin that misses 1e-10
            assert relative(tree.aba(q, v, tau), oracle.aba(q, v, tau)) < 1e-10 + relative(oracle.aba(q, v, tau), exact)


def test_freed_mimic_joints_agree_with_pinocchio() -> None:
    for path in LOADED:
        system = quietly(path)
        if all(joint.mimic is None for joint in system.joints.values()):
            continue
        free = quietly(path, mimic=False)
        tree = Tree(free)
        assert tree.nv > Tree(system).nv
        oracle = PinOracle(path, free, tree.joint_names)
        q, v, a, _ = oracle.random_state(np.random.default_rng(0))
        assert relative(tree.rnea(q, v, a), oracle.rnea(q, v, a)) < 1e-10
        assert relative(tree.crba(q), oracle.crba(q)) < 1e-10

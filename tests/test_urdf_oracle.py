"""The oracle itself: the map between Pinocchio's coordinates and ours is the one that its page states."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest
from pin_oracle import PinOracle
from test_urdf import EVERYTHING
from test_urdf_robots import ROBOTS

from nexdyn.errors import NexDynWarning
from nexdyn.io.urdf import load_urdf


@pytest.fixture(params=["fixed", "free"])
def oracle(request: pytest.FixtureRequest) -> PinOracle:
    with pytest.warns(NexDynWarning, match="slide"):
        system = load_urdf(EVERYTHING, base=request.param)
    return PinOracle(EVERYTHING, system, base=request.param)


def moved(oracle: PinOracle, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    """q after the time h at the constant velocity v; free joints by pin's exponential."""
    out = q + 0.0
    for name, (k, j) in oracle.start.items():
        if oracle._kinds[name] == "free":
            X = pin.XYZQUATToSE3(np.array((*q[k + 4 : k + 7], *q[k + 1 : k + 4], q[k])))
            p, x = np.split(pin.SE3ToXYZQUAT(X * pin.exp6(pin.Motion(h * v[j + 3 : j + 6], h * v[j : j + 3]))), [3])
            out[k : k + 7] = (x[3], *x[:3], *p)
        else:
            n = 3 if oracle._kinds[name] == "planar" else 1
            out[k : k + n] = q[k : k + n] + h * v[j : j + n]
    return out


def test_velocity_in_pin_is_b_times_ours(oracle: PinOracle, rng: np.random.Generator) -> None:
    q, v, _, _ = oracle.random_state(rng)
    h = 1e-6
    before, after = (oracle.q_pin(moved(oracle, q, v, s * h)) for s in (-1, 1))
    np.testing.assert_allclose(pin.difference(oracle.model, before, after) / (2 * h), oracle.B(q) @ v, atol=1e-8)


def test_bias_is_the_rate_of_b(oracle: PinOracle, rng: np.random.Generator) -> None:
    q, v, _, _ = oracle.random_state(rng)
    h = 1e-6
    rate = (oracle.B(moved(oracle, q, v, h)) - oracle.B(moved(oracle, q, v, -h))) @ v / (2 * h)
    np.testing.assert_allclose(oracle.bias(q, v), rate, atol=1e-8)


def test_forward_dynamics_undoes_inverse_dynamics(oracle: PinOracle, rng: np.random.Generator) -> None:
    q, v, a, _ = oracle.random_state(rng)
    tau = oracle.rnea(q, v, a)
    np.testing.assert_allclose(oracle.aba(q, v, tau), a, atol=1e-9)
    np.testing.assert_allclose(oracle.crba(q) @ a + oracle.rnea(q, v, 0 * a), tau, atol=1e-11)


@pytest.mark.parametrize("name", ["panda.urdf", "baxter.urdf", "pr2.urdf", "tiago_pro.urdf"])
def test_mimic_joints_projected_here_are_those_that_pinocchio_knows(name: str, rng: np.random.Generator) -> None:
    path = next(path for path in ROBOTS if path.name == name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NexDynWarning)
        system = load_urdf(path)
    oracle = PinOracle(path, system)
    native = pin.buildModelFromUrdf(str(path), mimic=True)
    data = native.createData()
    q, v, a, _ = oracle.random_state(rng)
    order, q_native = [], np.empty(native.nq)
    for i in range(1, native.njoints):
        joint = native.joints[i]
        if native.names[i] in oracle.start:
            k, j = oracle.start[native.names[i]]
            q_native[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(q[k]), np.sin(q[k])) if joint.nq == 2 else q[k]
            order.append((joint.idx_v, j))
    permutation = [j for _, j in sorted(order)]
    tau = pin.rnea(native, data, q_native, v[permutation], a[permutation])
    np.testing.assert_allclose(oracle.rnea(q, v, a)[permutation], tau, rtol=1e-10, atol=1e-10)

"""Bushings by Tait–Bryan angles: the angles, motions in closed form, energy, and what happens where they are singular."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from forces_lab import Bench, at, symmetric
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import nexdyn as nx

I = (0.2, 0.3, 0.5)
K = (2.0, 3.0, 5.0)
METHODS = [nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3, alpha=0.0), nx.Projection(dt=1e-3), nx.ImplicitEuler(1e-3, bdf2=True)]


def floating(stiffness: Any = (*K, 40.0, 50.0, 60.0), **start: Any) -> nx.System:
    """A body in the air on a bushing at its centre."""
    system = nx.System("floating", gravity=(0, 0, 0))
    system.add_body("body", mass=1.0, inertia=I)
    system.add_joint(nx.Free("free", system.ground, "body", **start))
    system.add_force(nx.Bushing("mount", system.ground, "body", stiffness=stiffness, angles="xyz"))
    return system


def turned(axis: int, angle: float) -> tuple[float, ...]:
    q = np.zeros(7)
    q[0], q[1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
    return tuple(q)


def test_the_angles_are_those_about_x_then_y_then_z(rng: np.random.Generator) -> None:
    k = np.array(symmetric(rng, 1.0))
    bench = Bench(nx.Bushing("f", "a", "b", stiffness=k, angles="xyz"))
    for _ in range(20):
        angles, p = rng.uniform(-1, 1, 3) * (3.1, 1.45, 3.1), rng.normal(size=3)
        motion = at(p, Rotation.from_euler("XYZ", angles).as_matrix())
        x = np.array([*angles, *p])
        assert bench.energy(motion) == pytest.approx(0.5 * x @ k @ x, rel=1e-12)


def test_a_torque_conjugate_to_the_angles_is_no_torque_of_small_angles() -> None:
    """Stiffness about x alone, B turned by 0.5 about x and then by 1 about y: α̇ = ω_x − tan β (ω_z cos α − ω_y sin α)."""
    bench = Bench(nx.Bushing("f", "a", "b", stiffness=(2.0, 0, 0, 0, 0, 0), angles="xyz"))
    n = bench.forces(at(R_b=Rotation.from_euler("XYZ", (0.5, 1.0, 0.0)).as_matrix()))[1, :3]
    assert_allclose(n, -1.0 * np.array([1.0, np.tan(1.0) * np.sin(0.5), -np.tan(1.0) * np.cos(0.5)]), rtol=1e-12)


def test_damping_takes_the_rates_of_the_angles(rng: np.random.Generator) -> None:
    bench = Bench(nx.Bushing("f", "a", "b", damping=(1.0, 2.0, 3.0, 0, 0, 0), angles="xyz"))
    angles, rates, h = np.array([0.4, 0.9, -1.1]), rng.normal(size=3), 1e-5
    R, ahead = (Rotation.from_euler("XYZ", angles + s * h * rates) for s in (0.0, 1.0))
    motion = at(R_b=R.as_matrix(), w_b=(ahead * R.inv()).as_rotvec() / h)
    assert bench.power(motion) == pytest.approx(-rates @ (np.array([1.0, 2.0, 3.0]) * rates), rel=1e-4)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_a_large_swing_about_one_axis_is_a_cosine_under_every_formulation(method: Any) -> None:
    """β̈ = −k β/I about the second axis, of 80°, while x and z rest."""
    result = nx.simulate(floating(q0=turned(1, 1.396)), 1.0, method, output_every=50)
    t, q = result.t, result.joint_position("free").values
    beta = 2.0 * np.arctan2(q[:, 2], q[:, 0])
    exact = 1.396 * np.cos(np.sqrt(K[1] / I[1]) * t)
    assert_allclose(beta, exact, atol=1e-9 if "Runge" in type(method).__name__ else 3e-5)


def test_formulations_agree_on_a_tumbling_body_whose_energy_is_kept() -> None:
    system = floating(v0=(1.5, 1.8, -2.2, 0.5, 0.3, -0.2), stiffness=np.diag([*K, 40.0, 50.0, 60.0]) + 0.5)
    found = [nx.simulate(system, 2.0, method, output_every=100) for method in METHODS]
    energy = found[0].energy().total.values
    assert np.ptp(energy) < 1e-9 * energy[0]
    q = found[0].joint_position("free").values
    assert np.abs(2.0 * np.arccos(np.abs(q[:, 0]))).max() > 0.8
    for other in found[1:]:
        assert_allclose(other.joint_position("free").values, q, atol=5e-5)


def test_a_run_that_comes_to_where_the_angles_are_singular_stops_and_names_the_bushing() -> None:
    system = floating(v0=(0.0, 6.0, 0.0, 0.0, 0.0, 0.0))
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.ImplicitEuler(1e-3)):
        with pytest.raises(nx.SolveError, match=r"force 'mount' is turned to within 5° of ±90° about its second axis"):
            nx.simulate(system, 1.0, method)
    assert Bench(nx.Bushing("f", "a", "b", stiffness=(1.0,) * 6, angles="xyz")).attempt(
        at(R_b=Rotation.from_euler("XYZ", (0.3, np.pi / 2, 0.2)).as_matrix())
    )[0]


def test_vibration_about_a_turned_pose_has_the_frequencies_of_the_axes() -> None:
    modes = nx.linearize(floating())
    found = np.sort(np.abs(np.linalg.eigvals(modes.A).imag))[::2]
    assert_allclose(found, np.sort(np.sqrt([*np.array(K) / I, 40.0, 50.0, 60.0])), rtol=1e-6)


def test_angles_that_are_none_are_refused_and_random_motions_have_finite_forces(rng: np.random.Generator) -> None:
    system = nx.System("one")
    system.add_body("body", mass=1.0, inertia=I)
    with pytest.raises(nx.InputError, match="angles of force 'f'"):
        system.add_force(nx.Bushing("f", "ground", "body", stiffness=(1.0,) * 6, angles="zyx"))
    bench = Bench(nx.Bushing("f", "a", "b", stiffness=(1.0,) * 6, damping=(1.0,) * 6, angles="xyz"))
    for _ in range(50):
        beta = rng.uniform(-np.pi / 2, np.pi / 2)
        status, F = bench.attempt(at(R_b=Rotation.from_euler("XYZ", (rng.normal(), beta, rng.normal())).as_matrix()))
        assert status == (abs(beta) > np.radians(85.0))
        assert status or np.isfinite(F).all()

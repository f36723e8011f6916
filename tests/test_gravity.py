"""Gravity of point masses and of fields: ellipses of Kepler's, two bodies about each other, a field of the user's."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import nexdyn as nx

MU, A, E = 2.0, 1.0, 0.6
"""μ [m³/s²], semi-major axis [m] and eccentricity."""
N = np.sqrt(MU / A**3)


def kepler(t: np.ndarray) -> np.ndarray:
    """Place in the plane of the orbit from the pericentre on, (N, 2)."""
    anomaly = np.array([brentq(lambda x, m=m: x - E * np.sin(x) - m, m - 1.0, m + 1.0, xtol=1e-14) for m in N * t])
    return A * np.column_stack([np.cos(anomaly) - E, np.sqrt(1.0 - E * E) * np.sin(anomaly)])


def satellite(**centre: Any) -> nx.System:
    """A body whose centre of mass is not its origin; it does not turn."""
    system = nx.System("orbit", gravity=(0, 0, 0))
    start = (1, 0, 0, 0, A * (1.0 - E) - 0.1, 0.2, 0.0)
    speed = N * A * np.sqrt((1.0 + E) / (1.0 - E))
    system.add_body("moon", mass=3.0, inertia=(1, 2, 3), com=(0.1, -0.2, 0.0))
    system.add_joint(nx.Free("free", system.ground, "moon", q0=start, v0=(0, 0, 0, 0, speed, 0)))
    system.add_force(nx.PointGravity("pull", "moon", mu=MU, **centre))
    return system


def place(result: Any, body: str = "moon", arm: Any = (0.1, -0.2)) -> np.ndarray:
    return np.asarray(result.position(body).values)[:, :2] + arm


@pytest.mark.parametrize(
    ("method", "most"),
    [(nx.RungeKutta4(1e-3), 2e-9), (nx.DormandPrince(rtol=1e-11, atol=1e-13), 1e-9), (nx.Projection(dt=1e-3), 2e-9)],
    ids=lambda x: getattr(x, "name", ""),
)
def test_an_orbit_is_an_ellipse_in_the_time_of_keplers_equation(method: Any, most: float) -> None:
    result = nx.simulate(satellite(), 2.0 * np.pi / N, method, output_every=100)
    assert_allclose(place(result), kepler(result.t), atol=most)
    energy = result.energy().total.values
    assert_allclose(energy, -3.0 * MU / (2.0 * A), rtol=1e-8)
    assert_allclose(result.force("pull").energy.values, -3.0 * MU / np.linalg.norm(kepler(result.t), axis=1), rtol=1e-7)


def test_implicit_methods_have_their_orders_on_an_orbit() -> None:
    for make, rate in ((lambda dt: nx.HHT(dt=dt, alpha=0.0), 3.5), (lambda dt: nx.ImplicitEuler(dt, bdf2=True), 3.2)):
        errors = []
        for dt in (4e-3, 2e-3, 1e-3):
            result = nx.simulate(satellite(), 1.0, make(dt), output_every=10**6)
            errors.append(np.abs(place(result)[-1] - kepler(result.t)[-1]).max())
        assert errors[0] > rate * errors[1] and errors[1] > rate * errors[2], errors
        assert errors[2] < 1e-3


def test_two_bodies_go_round_their_centre_of_mass_and_keep_momentum() -> None:
    system = nx.System("pair", gravity=(0, 0, 0))
    m, speed = np.array([1.0, 3.0]), 1.0
    for i, name in enumerate(("small", "large")):
        x, v = (0.75, 0.75 * speed) if i == 0 else (-0.25, -0.25 * speed)
        system.add_body(name, mass=m[i], inertia=(1, 1, 1))
        system.add_joint(
            nx.Free(f"free {name}", system.ground, name, q0=(1, 0, 0, 0, x, 0, 0), v0=(0, 0, 0, 0, v, 0.5))
        )
    G = speed**2 / m.sum()  # ω² d³ = G (m₁ + m₂), d = 1
    system.add_force(nx.PointGravity("pull", "small", "large", mu=G * m[1]))
    result = nx.simulate(system, 4.0, nx.RungeKutta4(1e-3), output_every=100)
    t = result.t
    circle = np.column_stack([np.cos(t), np.sin(t), np.zeros_like(t)])
    drift = np.outer(t, (0.0, 0.0, 0.5))
    assert_allclose(result.position("small").values, 0.75 * circle + drift, atol=1e-9)
    assert_allclose(result.position("large").values, -0.25 * circle + drift, atol=1e-9)
    assert np.ptp(result.energy().total.values) < 1e-10


def test_a_centre_is_a_point_of_the_world_a_marker_or_the_centre_of_mass_of_a_body() -> None:
    moved = nx.simulate(satellite(at=(5.0, 0.0, 0.0)), 0.1, nx.RungeKutta4(1e-3)).force("pull").force
    assert moved.sel(end="moon", axis="x").values[0] == pytest.approx(3.0 * MU / 4.6**2)
    system = nx.System("bodies", gravity=(0, 0, 0))
    for name, com in (("a", (0, 0, 0)), ("b", (0.5, 0, 0))):
        system.add_body(name, mass=1.0, inertia=(1, 1, 1), com=com, position=(0, 0, 0) if name == "a" else (1, 0, 0))
    system.add_marker("edge", "b", position=(1.0, 0, 0))
    assert [nx.PointGravity("f", "a", c, mu=1.0).frames(system)[1].p_BF[0] for c in ("b", "edge", "ground")] == [
        0.5,
        1.0,
        0.0,
    ]


def test_a_field_of_the_user_pulls_each_body_at_its_centre_of_mass() -> None:
    @numba.njit
    def trap(t: float, x: np.ndarray, out: np.ndarray) -> None:
        for i in range(3):
            out[i] = -4.0 * (x[i] - 0.1 * t)

    system = nx.System("trap", gravity=(0, 0, 0))
    system.add_body("bead", mass=2.5, inertia=(1, 1, 1), com=(0.3, 0, 0))
    system.add_joint(nx.Free("free", system.ground, "bead"))
    system.add_force(nx.GravityField("trap", "bead", function=trap))
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=5e-4, alpha=0.0)):
        result = nx.simulate(system, 1.0, method, output_every=100)
        x = result.position("bead").values[:, 0] + 0.3
        exact = 0.1 * result.t + 0.3 * np.cos(2.0 * result.t) - 0.05 * np.sin(2.0 * result.t)
        assert_allclose(x, exact, atol=1e-9 if isinstance(method, nx.RungeKutta4) else 1e-6)
        assert np.abs(result.joint_velocity("free").values[:, :3]).max() < 1e-12


def test_what_has_no_meaning_is_refused_and_a_fall_into_the_centre_stops() -> None:
    system = satellite()
    for force, message in (
        (nx.PointGravity("g", "ground", mu=1.0), "body of force 'g' is 'ground'; a body that moves is needed"),
        (nx.PointGravity("g", "moon", "moon", mu=1.0), "force 'g' acts from body 'moon' on itself"),
        (nx.PointGravity("g", "moon", mu=-1.0), "mu of force 'g' is -1 m³/s²; it must be 0 or more"),
        (nx.PointGravity("g", "mon", mu=1.0), "force 'g': no body 'mon'"),
    ):
        with pytest.raises(nx.InputError, match=message):
            system.add_force(force)
    with pytest.raises(nx.InputError, match=r"function of force 'g' is 3; a function \(t, x, out\) is needed"):
        nx.GravityField("g", "moon", function=3)
    fall = nx.System("fall", gravity=(0, 0, 0))
    fall.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    fall.add_joint(nx.Free("free", fall.ground, "stone"))
    fall.add_force(nx.PointGravity("pull", "stone", mu=1.0))
    with pytest.raises(nx.SolveError, match="force 'pull' has its body where its centre is"):
        nx.simulate(fall, 1.0, nx.RungeKutta4(1e-3))

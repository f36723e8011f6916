"""Linearizations where friction that sticks slides: it turns to the sliding velocity over the way that its spring gives, and then is
f_t = −μ(|v|) f_n v/|v|."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import nexdyn as nx

MU, M, G = 0.3, 2.0, 10.0
BELT = np.array([0.5, 0.2])
STIFF = np.array([400.0, 300.0])


def on_a_belt(stiffness: float = 1e4, exponent: float = 1.0, **law: Any) -> nx.System:
    """A block of 2 kg on springs, over a belt that slides under it."""
    system = nx.System("belt", gravity=(0.0, 0.0, -G))
    depth = (M * G / stiffness) ** (1.0 / exponent)
    at = (0.0, 0.0, 0.05 - depth)
    system.add_body("block", mass=M, inertia=(1.0, 1.0, 1.0), position=at, collision=[nx.Sphere(0.05)])
    system.add_joint(nx.Cartesian("slide", "ground", "block", stiffness=(*STIFF, 0.0)))
    surface = {"stiffness": stiffness, "exponent": exponent, "surface_velocity_b": (*BELT, 0.0)}
    system.add_contact(nx.Contact("floor", "block", "ground", **{"friction": MU, **surface, **law}))
    return system


def expected(mu: float, slope: float, of_speed: float = 0.0) -> np.ndarray:
    """A of the block: μ, the slope of the normal force [N/m], dμ/d|v|."""
    speed, e = np.linalg.norm(BELT), BELT / np.linalg.norm(BELT)
    A = np.zeros((6, 6))
    A[:3, 3:] = np.eye(3)
    A[3:5, :2] = -np.diag(STIFF) / M
    A[3:5, 2] = -mu * slope / M * e
    A[3:5, 3:5] = -G * (mu / speed * (np.eye(2) - np.outer(e, e)) + of_speed * np.outer(e, e))
    A[5, 2] = -slope / M
    return A


def settled(found: nx.Linearization, states: int) -> np.ndarray:
    """A of the first states, where springs lie along the sliding velocity: A₁₁ − A₁₂ A₂₂⁻¹ A₂₁."""
    A, n = found.A, states
    return np.asarray(A[:n, :n] - A[:n, n:] @ np.linalg.solve(A[n:, n:], A[n:, :n]))


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_friction_of_what_slides_follows_the_sliding_velocity_and_the_normal_force(exponent: float) -> None:
    system = on_a_belt(1e4 if exponent == 1.0 else 1e5, exponent)
    rest = nx.equilibrium(system)
    found = nx.linearize(system, rest)
    slope = exponent * M * G / (M * G / (1e4 if exponent == 1.0 else 1e5)) ** (1.0 / exponent)
    assert found.states[:6] == [f"slide.{x}{rate}" for rate in ("", ".rate") for x in "xyz"]
    assert len(found.states) == 9
    assert settled(found, 6) == pytest.approx(expected(MU, slope), rel=1e-7, abs=1e-5)
    lowest = nx.linearize(system, rest, modes=3).eigenvalues
    assert np.abs(lowest[:, None] - found.eigenvalues).min(axis=1).max() < 1e-7 * np.abs(found.eigenvalues).max()


def test_friction_that_falls_with_speed_feeds_what_hangs_on_springs() -> None:
    static, stribeck, speed = 0.5, 0.4, float(np.linalg.norm(BELT))
    system = on_a_belt(static_friction=static, stribeck_speed=stribeck)
    bell = (static - MU) * np.exp(-((speed / stribeck) ** 2))
    found = nx.linearize(system, nx.equilibrium(system))
    falls = -2.0 * speed / stribeck**2 * bell
    assert settled(found, 6) == pytest.approx(expected(MU + bell, 1e4, falls), rel=1e-7, abs=1e-5)
    assert not found.stable


def test_it_is_what_a_run_does_that_is_pushed_a_little() -> None:
    system = on_a_belt()
    rest = nx.equilibrium(system)
    found = nx.linearize(system, rest)
    q0 = np.array([rest.report.position("block")[i] for i in range(3)]) - system.body("block").position
    start, times = np.array([2e-5, -3e-5, 0.0]), np.linspace(0.0, 0.4, 41)
    run = nx.simulate(
        system,
        0.4,
        nx.RungeKutta4(2e-4),
        initial=rest.report,
        q0={"slide": q0 + start},
        output_times=times,
        on_gap="error",
    )
    moved = run.joint_position("slide").values - q0
    linear = np.array([(expm(found.A * t) @ np.concatenate([start, np.zeros(6)]))[:3] for t in times])
    assert np.abs(moved - linear).max() < 2e-3 * np.abs(start).max()


def test_in_a_loop_it_is_that_of_friction_with_a_small_speed() -> None:
    """The block also turns a crank by a rod, which closes a loop."""

    def looped(**law: Any) -> nx.System:
        system = on_a_belt(**law)
        system.add_body("crank", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(1.0, 0.0, 0.05))
        system.add_joint(nx.Revolute("pin", "ground", "crank", at=(1.0, 0.0, 0.05), axis=(0, 0, 1), stiffness=2.0))
        system.add_joint(nx.Rod("rod", "block", "crank", anchor_a=(0.0, 0.0, 0.0), anchor_b=(0.0, 0.2, 0.0)))
        return system

    sticks, regular = looped(), looped(friction_speed=1e-6)
    found, other = (nx.linearize(system, nx.equilibrium(system)) for system in (sticks, regular))
    n = len(other.states)
    assert found.states[:n] == other.states
    assert settled(found, n) == pytest.approx(other.A, rel=1e-6, abs=1e-6 * np.abs(other.A).max())
    lowest = nx.linearize(sticks, nx.equilibrium(sticks), modes=2).eigenvalues
    assert np.abs(lowest[:, None] - found.eigenvalues).min(axis=1).max() < 1e-7 * np.abs(found.eigenvalues).max()


def test_over_an_area_it_resists_turning_with_the_arm_of_its_pressure() -> None:
    """∂τ/∂ω = −μ f_n r²/|v|, r² = 8/9 of the mean square distance from the centre (``forces.sticking``)."""
    a, b, depth, k, inertia = 0.2, 0.1, 1e-6, 1e9, 0.02
    system = nx.System("slab", gravity=(0.0, 0.0, 0.0))
    box = [nx.Box((a, b, 0.1))]
    system.add_body("slab", mass=M, inertia=(inertia,) * 3, position=(0.0, 0.0, 0.05 - depth), collision=box)
    system.add_joint(nx.Planar("plate", "ground", "slab", axis=(0, 0, 1), stiffness=(*STIFF, 50.0)))
    system.add_contact(nx.Contact("floor", "slab", foundation_b=k, friction=MU, surface_velocity_b=(*BELT, 0.0)))
    found = nx.linearize(system, nx.equilibrium(system))
    turning = [k for k, name in enumerate(found.states) if name.endswith("rate")]
    f_n, speed, e = k * a * b * depth, np.linalg.norm(BELT), BELT / np.linalg.norm(BELT)
    damping = -settled(found, 6)[np.ix_(turning, turning)]
    square = 8.0 / 9.0 * (a * a + b * b) / 12.0
    sliding = MU * f_n / speed / M * (np.eye(2) - np.outer(e, e))
    assert np.sort(np.linalg.eigvals(damping).real) == pytest.approx(
        np.sort([MU * f_n / speed * square / inertia, *np.linalg.eigvalsh(sliding)]), rel=1e-4, abs=1e-6
    )


def test_a_block_that_slides_down_a_slope_at_constant_speed_is_linearized_as_given() -> None:
    phi, k, v = np.arctan(MU), 1e4, 0.8
    system = nx.System("slope", gravity=(G * np.sin(phi), 0.0, -G * np.cos(phi)))
    N = M * G * np.cos(phi)
    at = (0.0, 0.0, 0.05 - N / k)
    system.add_body("block", mass=M, inertia=(1.0, 1.0, 1.0), position=at, collision=[nx.Sphere(0.05)])
    system.add_joint(nx.Cartesian("slide", "ground", "block"))
    system.add_contact(nx.Contact("floor", "block", stiffness=k, exponent=1.0, friction=MU))
    found = nx.linearize(system, v0={"slide": (v, 0.0, 0.0)})
    assert found.ignored == ["slide.x", "slide.y"]
    A = np.zeros((4, 4))
    A[0, 3], A[1, 0], A[3, 0], A[2, 2] = 1.0, MU * k / M, -k / M, -MU * N / M / v
    assert settled(found, 4) == pytest.approx(A, rel=1e-7, abs=1e-5)


def pushed(force: float) -> tuple[nx.System, nx.AssemblyReport]:
    """A block that a force pushes along the floor, held by friction."""
    k = 1e4
    system = nx.System("pushed", gravity=(0.0, 0.0, -G))
    at = (0.0, 0.0, 0.05 - M * G / k)
    system.add_body("block", mass=M, inertia=(1.0, 1.0, 1.0), position=at, collision=[nx.Sphere(0.05)])
    system.add_joint(nx.Cartesian("slide", "ground", "block"))
    system.add_contact(nx.Contact("floor", "block", stiffness=k, exponent=1.0, friction=MU))
    system.add_force(nx.AppliedForce("push", "block", force=(force, 0.0, 0.0)))
    report = nx.assemble(system)
    report.states = np.array([force / np.sqrt(0.82 * k), 0.0, 0.0])
    return system, report


@pytest.mark.parametrize("options", [{}, {"modes": 2}], ids=["dense", "sparse"])
def test_where_it_may_as_well_stick_as_slide_the_pair_is_named(options: dict[str, Any]) -> None:
    system, report = pushed(MU * M * G)
    with pytest.raises(
        nx.InputError, match="contact 'floor' between 'block' and 'ground' holds as much as friction can"
    ):
        nx.linearize(system, report, **options)
    system, report = pushed(0.99 * MU * M * G)
    found: Any = nx.linearize(system, report, **options)
    assert len(found.eigenvalues) > 0


def test_what_sticks_has_its_tangential_stiffness() -> None:
    system, report = pushed(0.5 * MU * M * G)
    found = nx.linearize(system, report)
    damping = 0.3 * 2.0 * np.sqrt(M * 0.82e4)
    s = np.sort_complex(np.roots([M, damping, 0.82e4]))
    for x in s:
        assert np.abs(found.eigenvalues - x).min() < 1e-6 * abs(x)


@pytest.mark.parametrize("law", [{"foundation_b": 1e7}, {"stiffness": 1e5, "exponent": 1.0}], ids=["area", "corners"])
def test_what_sticks_has_one_slope_however_near_it_is_to_its_cone(law: dict[str, float]) -> None:
    """A crate that is pushed along the floor: steps of the differences that would make it slide count for nothing, and nothing is said
    of two slopes."""
    mass, mu, found = 2.0, 0.4, []
    for part in (0.0, 0.5, 0.9, 0.99):
        system = nx.System("pushed")
        system.add_body("crate", mass=mass, inertia=(0.02,) * 3, shapes=[nx.Box((0.3, 0.2, 0.2))], position=(0, 0, 0.1))
        system.add_joint(nx.Free("free", "ground", "crate"))
        system.add_contact(nx.Contact("floor", "crate", friction=mu, damping=5.0, **law))
        push = (part * mu * mass * 9.81, 0.0, 0.0)
        system.add_force(nx.AppliedForce("push", "crate", force=push, anchor=(0, 0, -0.1)))
        values = nx.linearize(system, nx.equilibrium(system)).eigenvalues
        found.append(np.sort_complex(values[np.abs(values) > 1e-3]))
    for others in found[1:]:
        np.testing.assert_allclose(others, found[0], rtol=1e-4)

"""nx.linearize about the end of a run: the state there, whatever recorded it, and the system as events have left it."""

from __future__ import annotations

import numpy as np
import pytest

import nexdyn as nx

METHODS = {"rk4": nx.RungeKutta4(1e-3), "hht": nx.HHT(dt=1e-3), "implicit-euler": nx.ImplicitEuler(1e-3, bdf2=True)}
every_method = pytest.mark.parametrize("name", METHODS)


def eigenvalues(system: nx.System, name: str, t_end: float = 0.8) -> np.ndarray:
    result = nx.simulate(system, t_end, METHODS[name])
    return np.sort_complex(np.linalg.eigvals(nx.linearize(system, result, frozen=True).A))


@every_method
def test_turns_of_a_joint_count(name: str) -> None:
    system = nx.System("table", gravity=(0, 0, 0))
    system.add_body("rotor", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("hinge", "ground", "rotor", axis=(0, 0, 1), v0=10.0))  # 8 rad: past one turn
    table = nx.ForceTable(
        "law", joint="hinge", deflections=(-1, 7, 7.5, 9), forces=(0, 0, 0, 6), interpolation="linear"
    )
    system.add_force(table)
    found = eigenvalues(system, name, 0.79)
    np.testing.assert_allclose(found, [-2.0j, 2.0j], atol=1e-5)  # slope 4 N m/rad between 7.5 and 9 rad


@every_method
def test_floating_bodies_are_where_they_are(name: str) -> None:
    """Two masses on a spring as it is after 0.8 s: k (1 − l/r) across, k along."""
    system = nx.System("pair", gravity=(0, 0, 0))
    for body, x in (("left", -0.5), ("right", 0.5)):
        system.add_body(body, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 0))
    system.add_force(nx.PointSpring("spring", "left", "right", stiffness=5.0, length=0.2))
    result = nx.simulate(system, 0.8, METHODS[name])
    r = float(np.linalg.norm(result.position("right").values[-1] - result.position("left").values[-1]))
    assert r < 0.9  # 1 m as described
    found = np.linalg.eigvals(nx.linearize(system, result, frozen=True).A)
    for stiffness in (5.0, 5.0 * (1.0 - 0.2 / r)):
        assert np.abs(found**2 + 2.0 * stiffness).min() < 1e-4


@every_method
def test_what_events_have_changed_counts(name: str) -> None:
    system = nx.System("clock", gravity=(0, 0, 0))
    system.parameter("k", 3.0)
    system.add_body("wheel", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("hinge", "ground", "wheel", axis=(0, 0, 1), v0=1.0, stiffness="=k"))
    system.add_force(nx.TorsionSpring("spring", "wheel", "ground", stiffness=7.0))
    system.add_event(nx.Event("change", time=0.05, off="spring", parameters={"k": 4.0}))
    np.testing.assert_allclose(eigenvalues(system, name, 0.1), [-2.0j, 2.0j], atol=1e-6)


@every_method
def test_free_joints_in_loops_are_where_they_are(name: str) -> None:
    """A ball that hangs on a rod, on a free joint: once around a cone it is what it was at the start."""
    system = nx.System("cone", gravity=(0, 0, -9.81))
    system.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.6, 0, -0.8))
    rate = np.sqrt(9.81 / 0.8)
    system.add_joint(nx.Free("free", "ground", "ball", at=(0.6, 0, -0.8), v0=(0, 0, 0, 0, 0.6 * rate, 0)))
    system.add_joint(nx.Rod("rod", "ground", "ball", anchor_a=(0, 0, 0), anchor_b=(0, 0, 0)))
    at_start = np.sort_complex(np.linalg.eigvals(nx.linearize(system, nx.assemble(system), frozen=True).A))
    found = eigenvalues(system, name, 2.0 * np.pi / rate)
    swinging = [
        np.sort(np.abs(one))[-4:] for one in (found, at_start)
    ]  # the others are 0: turns about the vertical, spin
    np.testing.assert_allclose(*swinging, atol=0.05)
    assert swinging[1].min() > 2.0

"""Bodies all of whose points are one, in metres, in micrometres and in megametres: nothing about them is 1 m.

Their size is how far they may slide, or their radius of inertia. The sizes of all other mechanisms are distances of points (test_units.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from units_lab import Units, in_units

import nexdyn as nx

SI = Units()
OTHERS = {
    "µm": Units(length=1e6),
    "nm, mg": Units(mass=1e6, length=1e9),
    "Mm": Units(length=1e-6),
    "km, t, min": Units(1e-3, 1e-3, 1 / 60),
}
METHODS = [
    nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.Projection(dt=1e-3), nx.Baumgarte(dt=1e-3), nx.Partitioning(dt=1e-3),
    nx.ImplicitEuler(1e-3, bdf2=True),
]  # fmt: skip
SPAN = 0.3


def one(joint: Any, *forces: Any) -> nx.System:
    system = nx.System("one")
    system.add_body("b", mass=2.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(joint)
    for force in forces:
        system.add_force(force)
    return system


def slider() -> nx.System:
    curve = {"deflections": (-2.0, -1.0, 0.0, 1.0, 2.0), "forces": (-90.0, -20.0, 0.0, 20.0, 90.0)}
    return one(nx.Prismatic("g", "ground", "b", q0=0.5, limits=(-3.0, 3.0)), nx.ForceTable("f", joint="g", **curve))


def screw() -> nx.System:
    of = nx.PositionActuator("p", "g", target=2.0, kp=9.0)
    return one(nx.Helical("g", "ground", "b", axis=(0, 0, 1), pitch=0.2, q0=0.5), of)


def wheel() -> nx.System:
    """As small as a watch's."""
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("b", mass=1e-4, inertia=(1e-10, 1e-10, 1e-10))
    system.add_joint(nx.Revolute("g", "ground", "b", axis=(0, 0, 1)))
    system.add_force(nx.JointForce("f", "g", 1e-10))
    return system


def hung() -> nx.System:
    hold = nx.Bushing("f", "ground", "b", stiffness=(5.0, 6.0, 7.0, 100.0, 200.0, 300.0), damping=(0.1,) * 6)
    return one(nx.Free("g", "ground", "b"), hold)


MADE = [slider, screw, wheel, hung]


def state(system: nx.System, units: Units, method: Any) -> np.ndarray:
    """Place and velocities at the end, in SI."""
    run = nx.simulate(
        in_units(system, units), SPAN * units.time, replace(method, dt=method.dt * units.time), output_every=10**6
    )
    numbers = (
        run.position("b") / units.length,
        run.velocity("b") / units.length * units.time,
        run.angular_velocity("b") * units.time,
    )
    return np.concatenate([x.values[-1] for x in numbers])


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name + " bdf2" * getattr(method, "bdf2", False))
@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_they_move_alike_under_every_method(make: Callable[[], nx.System], method: Any) -> None:
    expected = state(make(), SI, method)
    assert np.abs(expected).max() > 0.1
    for units in OTHERS.values():
        np.testing.assert_allclose(state(make(), units, method), expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize(
    "make", [slider, screw, hung, lambda: nx.load("bouncing-ball")], ids=["slider", "screw", "hung", "stop"]
)
def test_they_rest_and_swing_alike(make: Callable[[], nx.System]) -> None:
    found = []
    for units in (SI, *OTHERS.values()):
        system = in_units(make(), units)
        rest = nx.equilibrium(system)
        whole, few = (nx.linearize(system, at=rest, **options) for options in ({}, {"modes": 1}))
        rates = np.abs(np.concatenate([whole.eigenvalues, few.eigenvalues])) * units.time
        found.append([*rest.report.q[1, 4:] / units.length, *np.sort(rates)])
    np.testing.assert_allclose(found[1:], np.broadcast_to(found[0], np.shape(found[1:])), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("units", OTHERS.values(), ids=OTHERS)
def test_they_reach_alike(units: Units) -> None:
    system = in_units(slider(), units)
    system.add_marker("tip", "b")
    posture = nx.inverse_kinematics(system, {"tip": (0, 0, 0.7 * units.length)})
    assert posture.reached
    assert posture.joints["g"][0] == pytest.approx(0.7 * units.length, rel=1e-9)

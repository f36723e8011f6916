"""Contacts over areas that are struck hard: a tower that falls onto its side, with constant and adaptive steps, and what it comes to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import nexdyn as nx

G, M = 9.81, 1.0
A, B, C = 0.05, 0.1, 0.2
"""Edges of the tower [m]."""
K = 1e8
"""Foundation of the floor [N/m³]."""


def tower(beyond: float = 0.02, yaw: float = 0.0, foundation: float = K, v0: Any = (0.0,) * 6, **law: Any) -> nx.System:
    """It leans over its lower edge by `beyond` [rad] more than it can stand, towards an axis turned by `yaw`."""
    tilt = math.atan2(A, C) + beyond
    x = -0.5 * A * math.cos(tilt) + 0.5 * C * math.sin(tilt)
    z = 0.5 * A * math.sin(tilt) + 0.5 * C * math.cos(tilt) - 1e-6
    c, s, p, q = math.cos(0.5 * tilt), math.sin(0.5 * tilt), math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    system = nx.System("tower")
    inertia = (M / 12.0 * (B * B + C * C), M / 12.0 * (A * A + C * C), M / 12.0 * (A * A + B * B))
    system.add_body("tower", mass=M, inertia=inertia, shapes=[nx.Box((A, B, C))])
    place = (p * c, -q * s, p * s, q * c, x * math.cos(yaw), x * math.sin(yaw), z)
    system.add_joint(nx.Free("free", "ground", "tower", q0=place, v0=v0))
    law = {"damping": 30.0, "friction": 0.5, **law}
    system.add_contact(nx.Contact("floor", "tower", foundation_b=foundation, **law))
    return system


METHODS: dict[str, tuple[Any, float]] = {
    "hht": (nx.HHT(rtol=1e-6), 1e-5),
    "hht 1e-3": (nx.HHT(dt=1e-3), 2e-2),
    "hht 5e-4": (nx.HHT(dt=5e-4), 1e-2),
    "hht 1e-4": (nx.HHT(dt=1e-4), 1e-3),
    "euler 1e-3": (nx.ImplicitEuler(1e-3), 2e-2),
    "euler 5e-4": (nx.ImplicitEuler(5e-4), 1e-2),
    "euler 1e-4": (nx.ImplicitEuler(1e-4), 5e-3),
    "bdf2 1e-3": (nx.ImplicitEuler(1e-3, bdf2=True), 2e-2),
    "bdf2 5e-4": (nx.ImplicitEuler(5e-4, bdf2=True), 1e-2),
}
"""And how near to the place of the explicit method the tower comes to lie [m]: it slides as it strikes."""


@pytest.fixture(scope="module")
def explicit() -> Any:
    return nx.simulate(tower(), 1.5, nx.RungeKutta4(2e-5), output_times=np.linspace(0.0, 1.5, 16))


@pytest.mark.parametrize("name", METHODS)
def test_a_tower_falls_onto_its_side_and_rests(name: str, explicit: Any) -> None:
    """m g = k δ A C at rest; before it strikes, all fall alike."""
    method, near = METHODS[name]
    result = nx.simulate(tower(), 1.5, method, output_times=np.linspace(0.0, 1.5, 16))
    at, right = result.position("tower").values, explicit.position("tower").values
    assert np.abs(at[:5] - right[:5]).max() < 2e-3
    assert np.abs(at[-1, :2] - right[-1, :2]).max() < near
    assert at[-1, 2] == pytest.approx(0.5 * A - M * G / (K * B * C), abs=1e-9)
    assert abs(at[:, 1]).max() < 1e-9
    contact = result.contacts("floor").isel(time=-1, contact=0)
    assert contact.normal.item() == pytest.approx(M * G, rel=1e-6)
    assert contact.area.item() == pytest.approx(B * C, rel=2e-4)  # and the sides, which reach in
    energy = result.energy()["total"].values
    assert np.diff(energy).max() < 1e-5 and energy[0] - energy[-1] > 0.5


STRUCK: dict[str, dict[str, Any]] = {
    "weak damping": {"beyond": 0.2813, "yaw": 1.6685, "damping": 1.66, "foundation": 2.26e8, "friction": 0.774},
    "strong damping": {"beyond": 0.1005, "yaw": 0.2783, "damping": 202.0, "foundation": 2.6e7, "friction": 0.276},
    "soft": {"beyond": 0.1924, "yaw": 1.1295, "damping": 78.6, "foundation": 9.7e6, "friction": 0.49},
    "thrown": {"beyond": 0.2826, "yaw": 1.1271, "damping": 41.7, "foundation": 2.26e7, "friction": 0.92, "v0": (1, -0.5, 0.8, 0.2, 0.1, 0)},
    "regularised": {"beyond": 0.1338, "yaw": 0.6098, "damping": 3.0, "foundation": 3.3e8, "friction": 0.42, "friction_speed": 1e-3},
    "rough": {"beyond": 0.1045, "yaw": 2.381, "damping": 5.0, "foundation": 9.7e7, "friction": 0.84, "friction_speed": 1e-3},
}  # fmt: skip


@pytest.mark.parametrize("dt", [2e-3, 1e-3, 5e-4])
@pytest.mark.parametrize("kind", ["hht", "euler", "bdf2"])
def test_constant_steps_go_through_strikes_of_all_kinds(kind: str, dt: float) -> None:
    method = nx.HHT(dt=dt) if kind == "hht" else nx.ImplicitEuler(dt, bdf2=kind == "bdf2")
    for name, given in STRUCK.items():
        result = nx.simulate(tower(**given), 1.5, method, output_times=[1.5])
        least = 0.5 * A - 3.0 * M * G / (given["foundation"] * B * C)  # what is weakly damped still sways
        assert least < result.position("tower").values[-1, 2] < 0.5 * math.hypot(A, B, C), name

"""Area and pressure that results tell of points by Hertz's law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

import nexdyn as nx

STEEL = {"material_a": "steel", "material_b": "steel"}


def modulus() -> float:
    """E* of steel on steel."""
    steel = nx.materials()["steel"]
    return float(steel.young) / (2.0 * (1.0 - float(steel.poisson) ** 2))


def pressed(shape: nx.Shape | None, height: float, **law: Any) -> Any:
    """What a ball of 10 mm does that starts pressed into another shape, or the ground."""
    system = nx.System("pressed", gravity=(0, 0, 0))
    system.add_body("ball", mass=0.03, inertia=(1e-6,) * 3, position=(0, 0, height), collision=[nx.Sphere(0.01)])
    system.add_joint(nx.Prismatic("guide", "ground", "ball", axis=(0, 0, 1)))
    other = "ground"
    if shape is not None:
        system.add_body("base", mass=1.0, inertia=(1, 1, 1), collision=[shape])
        system.add_joint(nx.Fixed("weld", "ground", "base"))
        other = "base"
    system.add_contact(nx.Contact("press", "ball", other, **law))
    simulation = nx.Simulation(system, nx.RungeKutta4(1e-7))
    simulation.tell_start("accept")
    return simulation.result().contacts("press").isel(time=0, contact=0)


@pytest.mark.parametrize(("shape", "R"), [(None, 0.01), (nx.Sphere(0.03), 0.0075)], ids=["plane", "sphere"])
@pytest.mark.filterwarnings("ignore:contact .* starts .* deep")
def test_of_spheres_the_radius_squared_is_the_depth_times_that_of_the_curvature(
    shape: nx.Shape | None, R: float
) -> None:
    depth, Es = 2e-6, modulus()
    seen = pressed(shape, 0.01 + (0.0 if shape is None else 0.03) - depth, friction=0.0, **STEEL)
    force = 4.0 / 3.0 * Es * math.sqrt(R) * depth**1.5
    assert seen.normal.item() == pytest.approx(force, rel=1e-8)
    assert seen.area.item() == pytest.approx(math.pi * R * depth, rel=1e-8)
    assert seen.pressure.item() == pytest.approx(3.0 * force / (2.0 * math.pi * R * depth), rel=1e-8)
    assert seen.pressure.item() == pytest.approx(2.0 * Es * math.sqrt(R * depth) / (math.pi * R), rel=1e-8)
    assert (seen.area.attrs["units"], seen.pressure.attrs["units"]) == ("m^2", "Pa")
    assert "Hertz" in seen.area.attrs["long_name"] and "Hertz" in seen.pressure.attrs["long_name"]


@pytest.mark.filterwarnings("ignore:contact .* starts .* deep")
def test_on_a_cylinder_it_is_an_ellipse() -> None:
    """B/A = ((a/b)² E − K)/(K − E), δ = p₀ b K/E*, p₀ = 3 F/(2 π a b) (Johnson, 4.2)."""
    depth, r, R, Es = 2e-6, 0.01, 0.02, modulus()
    turned = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
    cylinder = nx.Cylinder(R, 0.2, orientation=turned)
    seen = pressed(cylinder, r + R - depth, friction=0.0, **STEEL)

    def off(m: float) -> float:  # e² = m
        K, E = ellipk(m), ellipe(m)
        return float((E / (1.0 - m) - K) / (K - E) - (1.0 / r + 1.0 / R) * r)

    m = brentq(off, 1e-6, 0.999, xtol=1e-15)
    semi = math.sqrt(seen.area.item() / math.pi)  # √(a b)
    b = semi * (1.0 - m) ** 0.25
    assert seen.pressure.item() == pytest.approx(1.5 * seen.normal.item() / seen.area.item(), rel=1e-12)
    assert seen.penetration.item() == pytest.approx(seen.pressure.item() * b * ellipk(m) / Es, rel=1e-6)


@pytest.mark.parametrize("law", [{"stiffness": 1e6, "exponent": 1.0}, {"stiffness": 1e8, "exponent": 2.0}])
@pytest.mark.filterwarnings("ignore:contact .* starts .* deep")
def test_other_laws_have_neither(law: dict[str, Any]) -> None:
    seen = pressed(None, 0.01 - 1e-5, **law)
    assert seen.normal.item() > 0.0
    assert seen.area.item() == seen.pressure.item() == 0.0


def test_apart_there_is_neither() -> None:
    seen = pressed(nx.Sphere(0.03), 0.05, friction=0.0, **STEEL)
    assert seen.area.item() == seen.pressure.item() == 0.0


def test_a_rolling_ball_has_that_of_its_depth_at_every_time() -> None:
    system = nx.System("ball")
    system.add_body("ball", mass=1.0, inertia=(4e-3,) * 3, position=(0, 0, 0.1), shapes=[nx.Sphere(0.1)])
    system.add_joint(nx.Free("free", "ground", "ball"))
    system.add_contact(nx.Contact("lane", "ball", stiffness=1e6, damping=5.0))
    seen = nx.simulate(system, 0.1, nx.HHT(dt=1e-3)).contacts("lane")
    depth = np.maximum(seen.penetration.values, 0.0)
    assert seen.area.values == pytest.approx(math.pi * 0.1 * np.where(seen.normal.values > 0.0, depth, 0.0))
    assert seen.pressure.values * seen.area.values == pytest.approx(1.5 * seen.normal.values)

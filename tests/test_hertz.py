"""Hertz's law between surfaces by their radii of curvature: published tables, limits, and contacts that take its numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import nexdyn as nx

STEEL = nx.materials()["steel"]
MODULUS = float(STEEL.young) / (2.0 * (1.0 - float(STEEL.poisson) ** 2))
"""E* of steel on steel."""
HARRIS = {
    0.1075: (1.0760, 0.9318, 0.9974), 0.3204: (1.2623, 0.8114, 0.9761), 0.5916: (1.6440, 0.6687, 0.9077), 0.7332: (2.011, 0.5881, 0.8394),
    0.83495: (2.494, 0.5186, 0.7602), 0.90999: (3.233, 0.4499, 0.6636), 0.95738: (4.395, 0.3830, 0.5551), 0.983797: (6.448, 0.3150, 0.4352),
    0.990902: (8.062, 0.2814, 0.3745),
}  # fmt: skip
"""F(ρ) = (B − A)/(A + B): a*, b*, δ* (Harris, Rolling Bearing Analysis, table 6.1)."""
WHITTEMORE = {30: (2.731, 0.493), 45: (1.926, 0.604), 60: (1.486, 0.717), 75: (1.202, 0.846), 85: (1.061, 0.944)}
"""θ = arccos (B − A)/(A + B) in degrees: m and n (Timoshenko and Goodier, Theory of Elasticity, article 142)."""


def of_difference(difference: float) -> nx.HertzPoint:
    """A surface of the relative curvatures 100 (1 ± F) 1/m on a plane."""
    return nx.hertz("steel", "steel", radii_a=(0.01 / (1.0 + difference), 0.01 / (1.0 - difference)))


@pytest.mark.parametrize("difference", HARRIS)
def test_ellipse_and_depth_are_those_of_the_table_of_bearings(difference: float) -> None:
    """a = a* (3 Q/(2 Σρ E*))^⅓, δ = δ* (3 Q/(2 Σρ E*))^⅔ Σρ/2, Σρ = 2 (A + B)."""
    force, total = 250.0, 200.0
    unit = (1.5 * force / (total * MODULUS)) ** (1.0 / 3.0)
    touch, (a, b, depth) = of_difference(difference), HARRIS[difference]
    np.testing.assert_allclose(touch.semi_axes(force), (a * unit, b * unit), rtol=3e-4)
    assert touch.depth(force) == pytest.approx(depth * unit**2 * 0.5 * total, rel=2e-4)
    assert touch.pressure(force) == pytest.approx(1.5 * force / (math.pi * a * b * unit**2), rel=5e-4)
    assert touch.stiffness * touch.depth(force) ** 1.5 == pytest.approx(force, rel=1e-12)


@pytest.mark.parametrize("degrees", WHITTEMORE)
def test_ellipse_is_that_of_the_table_of_timoshenko(degrees: int) -> None:
    """a = m (3 P/(4 E* (A + B)))^⅓"""
    force = 1000.0
    unit = (0.75 * force / (100.0 * MODULUS)) ** (1.0 / 3.0)
    found = of_difference(math.cos(math.radians(degrees))).semi_axes(force)
    np.testing.assert_allclose(np.array(found) / unit, WHITTEMORE[degrees], rtol=1.5e-3)


def test_equal_cylinders_that_cross_at_a_right_angle_are_a_ball_on_a_plane() -> None:
    R, long = 0.02, math.inf
    crossed = nx.hertz("steel", "glass", radii_a=(R, long), radii_b=(R, long), angle=0.5 * math.pi)
    ball = nx.hertz("steel", "glass", radii_a=R)
    assert crossed.stiffness == pytest.approx(ball.stiffness, rel=1e-12)
    assert crossed.law == pytest.approx(ball.law)
    steel, glass = nx.materials()["steel"], nx.materials()["glass"]
    E = 1.0 / sum((1.0 - float(m.poisson) ** 2) / float(m.young) for m in (steel, glass))
    assert ball.stiffness == pytest.approx(4.0 / 3.0 * E * math.sqrt(R), rel=1e-12)
    a, b = ball.semi_axes(100.0)
    assert a == b == pytest.approx(math.sqrt(R * ball.depth(100.0)), rel=1e-12)


def test_the_angle_of_principal_directions_counts_twice_and_sides_may_change_places() -> None:
    """Cylinders that cross at θ: A and B are (1 ± cos θ)/(2 R)."""
    R, theta = 0.01, 0.4
    crossed = nx.hertz("steel", "steel", radii_a=(R, math.inf), radii_b=(R, math.inf), angle=theta)
    apart = math.cos(theta)
    known = nx.hertz("steel", "steel", radii_a=(R / (1.0 + apart), R / (1.0 - apart)))
    assert crossed.stiffness == pytest.approx(known.stiffness, rel=1e-12)
    for angle in (-theta, math.pi - theta):
        other = nx.hertz("steel", "steel", radii_a=(R, math.inf), radii_b=(R, math.inf), angle=angle)
        assert other.stiffness == pytest.approx(crossed.stiffness, rel=1e-12)
    one, other = (0.01, 0.05), (0.3, -0.5)
    there = nx.hertz("steel", "glass", radii_a=one, radii_b=other, angle=0.3)
    back = nx.hertz("glass", "steel", radii_a=other, radii_b=one, angle=0.3)
    assert back.law == pytest.approx(there.law, rel=1e-12)
    turned = nx.hertz("steel", "glass", radii_a=one[::-1], radii_b=other, angle=0.3 + 0.5 * math.pi)
    assert turned.law == pytest.approx(there.law, rel=1e-12)


def test_a_ball_on_a_cylinder_is_what_contacts_make_of_it() -> None:
    r, R = 0.01, 0.02
    system = nx.System("rig")
    system.add_body("ball", mass=0.03, inertia=(1e-6,) * 3, position=(0, 0, r + R), collision=[nx.Sphere(r)])
    system.add_body(
        "shaft", mass=1.0, inertia=(1, 1, 1), collision=[nx.Cylinder(R, 0.2, orientation=(0.5**0.5, 0.5**0.5, 0, 0))]
    )
    system.add_contact(nx.Contact("on", "ball", "shaft", material_a="steel", material_b="steel", friction=0.0))
    (force,) = system.forces.values()
    touch = nx.hertz("steel", "steel", radii_a=r, radii_b=(R, math.inf))
    assert force.stiffness == pytest.approx(touch.stiffness, rel=1e-9)
    assert force.friction_stiffness == pytest.approx(touch.friction_stiffness, rel=1e-12)


def test_a_line_has_the_strip_and_the_pressure_of_hertz_and_gives_by_johnsons_logarithm() -> None:
    L, R, force = 0.02, 0.01, 5e3
    line = nx.hertz_line("steel", "steel", length=L, force=force, radius_a=R, radius_b=R)
    half, pressure = line.half_width(force), line.pressure(force)
    assert pressure == pytest.approx(2.0 * force / (math.pi * half * L), rel=1e-12)
    assert half == pytest.approx(math.sqrt(2.0 * force * R / (math.pi * L * MODULUS)), rel=1e-12)
    depth = force / (math.pi * L * MODULUS) * (2.0 * math.log(4.0 * R / half) - 1.0)
    assert line.depth(force) == pytest.approx(depth, rel=1e-12)


@pytest.mark.parametrize("radius_b", [0.025, -0.035, math.inf])
def test_a_roller_gives_as_palmgren_measured(radius_b: float) -> None:
    """δ = 3.84e-5 Q^0.9/L^0.8 mm of steel, Q in N and L in mm (Palmgren, Grundlagen der Wälzlagertechnik, 1964), whatever the radii."""
    for force, length in ((1e3, 0.01), (1e4, 0.03)):
        line = nx.hertz_line(
            "steel", "steel", length=length, force=force, radius_a=0.005, radius_b=radius_b, thickness=0.02
        )
        assert line.depth(force) == pytest.approx(3.84e-8 * force**0.9 / (1e3 * length) ** 0.8, rel=0.2)
        assert line.exponent == pytest.approx(1.0 / 0.9, rel=0.03)


def test_the_law_of_a_line_has_the_depth_and_the_slope_at_its_load_and_little_less_about_it() -> None:
    line = nx.hertz_line("steel", "glass", length=0.02, force=1e3, radius_a=0.01, radius_b=0.03)

    def law(force: float) -> float:
        return float((force / line.stiffness) ** (1.0 / line.exponent))

    assert law(1e3) == pytest.approx(line.depth(1e3), rel=1e-12)
    slopes = [(f(1e3 + 0.1) - f(1e3 - 0.1)) / 0.2 for f in (law, line.depth)]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-7)
    for force in (1e2, 3e3):
        assert law(force) == pytest.approx(line.depth(force), rel=0.03)


def test_the_longer_an_ellipse_the_nearer_it_is_to_the_line() -> None:
    """The largest pressure of long ellipses, with that of a line whose load per length is that in the middle, 3 f/(4 a)."""
    for crown in (1e2, 1e4):
        force, R = 100.0, 0.01
        touch = nx.hertz("steel", "steel", radii_a=(R, R * crown))
        a, b = touch.semi_axes(force)
        line = nx.hertz_line("steel", "steel", length=4.0 * a / 3.0, force=force, radius_a=R, thickness=1.0)
        assert touch.pressure(force) == pytest.approx(line.pressure(force), rel=2.0 * (b / a) ** 1.5)


def rests(**law: Any) -> nx.Result:
    system = nx.System("rests")
    system.add_body("ball", mass=20.0, inertia=(0.1,) * 3, position=(0, 0, 0.01))
    system.add_joint(nx.Prismatic("up", "ground", "ball", axis=(0, 0, 1)))
    system.add_force(nx.PlaneContact("on", "ball", radius=0.01, friction=0.0, **law))
    return nx.simulate(system, 0.0, nx.RungeKutta4(1e-7), initial=nx.equilibrium(system).report)


@pytest.mark.parametrize("kind", ["point", "line"])
def test_a_contact_takes_its_numbers_and_rests_at_its_depth(kind: str) -> None:
    if kind == "point":
        touch: Any = nx.hertz("steel", "glass", radii_a=(0.01, 0.05))
    else:
        touch = nx.hertz_line("steel", "glass", length=0.03, force=20.0 * 9.81, radius_a=0.01, thickness=0.05)
    seen = rests(**touch.law).contacts("on").isel(time=0)
    assert seen.penetration.item() == pytest.approx(touch.depth(20.0 * 9.81), rel=1e-6)
    assert touch.depth(0.0) == touch.pressure(0.0) == 0.0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"radii_a": (0.01, math.inf)}, "hertz_line"),
        ({"radii_a": (0.01, math.inf), "radii_b": (0.02, math.inf)}, "both must be greater than 0"),
        ({"radii_a": 0.01, "radii_b": -0.009}, "foundation"),
        ({"radii_a": 0.0}, "radii_a is 0.0"),
        ({"radii_a": (0.01, math.nan)}, "radii_a is nan"),
        ({"radii_a": (0.01, 0.02, 0.03)}, "one radius or two"),
        ({"radii_a": 0.01, "angle": math.inf}, "angle is inf"),
    ],
)
def test_radii_that_touch_at_no_point_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(nx.InputError, match=told):
        nx.hertz("steel", "steel", **given)


def test_lines_and_loads_that_are_not_valid_are_refused() -> None:
    right: dict[str, Any] = {"length": 0.1, "force": 100.0, "radius_a": 0.01, "radius_b": 0.02}
    for wrong, told in (
        ({"length": 0.0}, "length is 0.0"),
        ({"force": -1.0}, "force is -1.0"),
        ({"radius_b": -0.01}, "relative curvature 0 1/m"),
        ({"radius_b": math.inf}, "give thickness"),
        ({"radius_b": math.inf, "thickness": 0.0}, "thickness is 0.0"),
        ({"radius_a": math.nan}, "radius_a is nan"),
        ({"force": 1e12}, "as wide as the bodies"),
    ):
        with pytest.raises(nx.InputError, match=told):
            nx.hertz_line("steel", "steel", **{**right, **wrong})
    with pytest.raises(nx.InputError, match=r"force is -1\.0 N"):
        nx.hertz("steel", "steel", radii_a=0.01).depth(-1.0)
    with pytest.raises(nx.InputError, match="no material 'stel'; did you mean 'steel'"):
        nx.hertz("stel", "steel", radii_a=0.01)

"""Contact between bodies, by names, in the matrix: of the hand with the ground, and with the arm."""

from __future__ import annotations

from typing import Any

import numba
from matrix_skeleton import ARM, HAND_BODY, NAMES, Element, Together, about, closed, hung, skeleton, turning

import nexdyn as nx

STICKS = "is the element 'contact over areas'"
ROLLS = "is the element 'contact that rolls at points'"
SOFT = nx.Material("foam", young=200.0, poisson=0.3, friction=0.4)
RUBBER = nx.Material("rubber", young=900.0, poisson=0.45, friction=0.9)


@numba.njit
def pressing(depth: float, rate: float) -> float:
    return 25.0 * depth + 300.0 * depth * depth + 1.5 * rate * depth


def touching(carrier: str, given: dict[str, Any]) -> nx.System:
    """Spheres about arm and hand; a box about the hand where there are foundations."""
    given = about(carrier, given)
    areas = "foundation_a" in given or "foundation_b" in given
    turned: Any = {"orientation": (0.7, 0.1, 0.1, 0.7)}
    arm = {**ARM, "collision": [nx.Box((0.3, 0.4, 0.3), **turned) if areas else nx.Sphere(0.35)]}
    hand = {**HAND_BODY, "collision": [nx.Box((0.4, 0.3, 0.5), **turned) if areas else nx.Sphere(0.3)]}
    system = hung(skeleton(carrier, hand, of_arm=arm), moving=0.7)
    system.add_contact(nx.Contact("acting", given.pop("a", turning(carrier)), given.pop("b", "ground"), **given))
    return closed(system, carrier)


def with_shapes(carrier: str, given: dict[str, Any], of_arm: nx.Shape, of_hand: nx.Shape) -> nx.System:
    """A contact of the shapes of arm and hand."""
    given = about(carrier, given)
    of_hands = {**HAND_BODY, "collision": [of_hand]}
    system = hung(skeleton(carrier, of_hands, of_arm={**ARM, "collision": [of_arm]}), moving=0.7)
    system.add_contact(nx.Contact("acting", given.pop("a", turning(carrier)), given.pop("b", "ground"), **given))
    return closed(system, carrier)


def round_touching(carrier: str, given: dict[str, Any]) -> nx.System:
    """Spheres about arm and hand."""
    return with_shapes(carrier, given, nx.Sphere(0.35), nx.Sphere(0.3))


def uneven(x: float, y: float, z: float, **placed: Any) -> nx.HeightField:
    """Of triangles, as large as a box, with a hollow on top."""
    heights = tuple(tuple(0.5 * z - (0.1 * z if i == j == 1 else 0.0) for j in range(3)) for i in range(3))
    return nx.HeightField(heights, (x, y), bottom=-0.5 * z, **placed)


def meshes_touching(carrier: str, given: dict[str, Any]) -> nx.System:
    """Solids of triangles about arm and hand."""
    turned = {"orientation": (0.7, 0.1, 0.1, 0.7)}
    return with_shapes(carrier, given, uneven(0.3, 0.4, 0.3, **turned), uneven(0.4, 0.3, 0.5, **turned))


def rolling(carrier: str, given: dict[str, Any]) -> nx.System:
    """Round solids about arm and hand."""
    return with_shapes(carrier, given, nx.Capsule(0.12, 0.1), nx.Cylinder(0.2, 0.48))


CONTACTS = (
    Element(
        "contact at points",
        nx.Contact,
        {
            "a": "hand",
            "b": "ground",
            "stiffness": 60.0,
            "exponent": 1.5,
            "damping": 0.5,
            "friction": 0.4,
            "friction_speed": 0.05,
        },
        {
            "a": "arm",
            "b": "arm",
            "stiffness": 120.0,
            "exponent": 1.2,
            "damping": 2.0,
            "friction": 0.1,
            "friction_speed": 0.5,
            "restitution": Together(damping=0.0, restitution=0.2, impact_speed=0.5),
            "impact_speed": Together(damping=0.0, restitution=0.2, impact_speed=0.1),
            "normal_force": Together(stiffness=None, exponent=1.5, damping=0.0, normal_force=pressing),
            "material_a": Together(stiffness=None, material_a=RUBBER, material_b=SOFT),
            "material_b": Together(stiffness=None, material_a=SOFT, material_b=SOFT),
            "surface_velocity_a": (0.8, -0.5, 0.3),
            "surface_velocity_b": (1.0, 0.3, 0.0),
            "friction_across": Together(friction_across=0.1, friction_direction_b=(0.2, 1.0, 0.3)),
            "friction_direction_a": Together(friction_across=1.2, friction_direction_a=(1.0, 0.3, -0.2)),
            "friction_direction_b": Together(friction_across=1.2, friction_direction_b=(0.7, -0.6, 0.1)),
        },
        touching,
        {
            "name": NAMES,
            "static_friction": STICKS,
            "stribeck_speed": STICKS,
            "friction_stiffness": STICKS,
            "friction_damping": STICKS,
            "foundation_a": STICKS,
            "foundation_b": STICKS,
            "rolling_resistance": ROLLS,
            "turning_resistance": ROLLS,
        },
    ),
    Element(
        "contact over areas",
        nx.Contact,
        {
            "foundation_a": 4000.0,
            "foundation_b": 6000.0,
            "damping": 0.5,
            "friction": 2.0,
            "static_friction": 3.0,
            "stribeck_speed": 0.3,
            "friction_stiffness": 1.0,
            "friction_damping": 0.1,
        },
        {
            "foundation_a": 1500.0,
            "foundation_b": 20000.0,
            "damping": 3.0,
            "friction": Together(friction=0.1, static_friction=0.3, friction_stiffness=4.0),
            "static_friction": Together(friction=0.1, static_friction=0.4, friction_stiffness=4.0),
            "stribeck_speed": Together(friction=0.1, static_friction=0.4, friction_stiffness=4.0, stribeck_speed=2.0),
            "friction_stiffness": 0.3,
            "friction_damping": 1.0,
            "friction_speed": Together(static_friction=None, friction=0.4, friction_speed=0.2),
            "b": "arm",
            "surface_velocity_a": (0.8, -0.5, 0.3),
            "surface_velocity_b": (1.0, 0.3, 0.0),
            "friction_across": Together(friction_across=0.6, friction_direction_b=(0.2, 1.0, 0.3)),
            "friction_direction_a": Together(friction_across=5.0, friction_direction_a=(1.0, 0.3, -0.2)),
            "friction_direction_b": Together(friction_across=5.0, friction_direction_b=(0.7, -0.6, 0.1)),
            "rolling_resistance": 0.15,
            "turning_resistance": 0.15,
        },
        touching,
        part_of="contact at points",
    ),
    Element(
        "contact at points with functions of time",
        nx.Contact,
        {
            "a": "hand",
            "b": "ground",
            "stiffness": 60.0,
            "exponent": 1.5,
            "damping": 0.5,
            "friction": "=0.4+0.1*t",
            "friction_speed": 0.05,
        },
        {
            "friction": "=0.1+0.3*t",
            "surface_velocity_a": ("=0.8+t", -0.5, "=0.3*cos(t)"),
            "surface_velocity_b": ("=1+3*t", 0.3, 0.0),
            "friction_across": Together(friction_across="=0.1+0.2*t", friction_direction_b=(0.2, 1.0, 0.3)),
        },
        touching,
        part_of="contact at points",
    ),
    Element(
        "contact over areas with functions of time",
        nx.Contact,
        {
            "foundation_a": 4000.0,
            "foundation_b": 6000.0,
            "damping": 0.5,
            "friction": "=2+0.1*t",
            "static_friction": "=3-0.1*t",
            "stribeck_speed": 0.3,
            "friction_stiffness": 1.0,
            "friction_damping": 0.1,
        },
        {
            "friction": Together(friction="=0.1+0.2*t", static_friction="=0.3+0.2*t", friction_stiffness=4.0),
            "static_friction": Together(friction="=0.1+0.2*t", static_friction="=0.5+0.2*t", friction_stiffness=4.0),
            "surface_velocity_b": ("=1+3*t", 0.3, 0.0),
            "rolling_resistance": "=0.15+0.2*t",
            "turning_resistance": "=0.15+0.2*t",
        },
        touching,
        part_of="contact at points",
    ),
    Element(
        "contact of spheres over areas",
        nx.Contact,
        {
            "foundation_a": 400.0,
            "foundation_b": 600.0,
            "damping": 0.5,
            "friction": 2.0,
        },
        {
            "foundation_a": 150.0,
            "foundation_b": 2000.0,
            "damping": 3.0,
            "friction": Together(friction=1.0, friction_stiffness=4.0),
            "b": "arm",
            "surface_velocity_a": (0.8, -0.5, 0.3),
            "surface_velocity_b": (1.0, 0.3, 0.0),
            "friction_across": Together(friction_across=0.6, friction_direction_b=(0.2, 1.0, 0.3)),
            "friction_direction_a": Together(friction_across=5.0, friction_direction_a=(1.0, 0.3, -0.2)),
            "friction_direction_b": Together(friction_across=5.0, friction_direction_b=(0.7, -0.6, 0.1)),
            "rolling_resistance": 0.15,
            "turning_resistance": 0.15,
        },
        round_touching,
        part_of="contact at points",
    ),
    Element(
        "contact of meshes over areas",
        nx.Contact,
        {
            "foundation_a": 4000.0,
            "foundation_b": 6000.0,
            "damping": 0.5,
            "friction": 2.0,
        },
        {
            "foundation_a": 1500.0,
            "foundation_b": 20000.0,
            "damping": 3.0,
            "friction": Together(friction=1.0, friction_stiffness=4.0),
            "b": "arm",
            "surface_velocity_a": (0.8, -0.5, 0.3),
            "surface_velocity_b": (0.7, 0.4, 0.0),
            "friction_across": Together(friction_across=0.6, friction_direction_b=(0.2, 1.0, 0.3)),
            "friction_direction_a": Together(friction_across=5.0, friction_direction_a=(1.0, 0.3, -0.2)),
            "friction_direction_b": Together(friction_across=5.0, friction_direction_b=(0.7, -0.6, 0.1)),
            "rolling_resistance": 0.15,
            "turning_resistance": 0.15,
        },
        meshes_touching,
        part_of="contact at points",
    ),
    Element(
        "contact of round solids over areas",
        nx.Contact,
        {
            "foundation_a": 4000.0,
            "foundation_b": 6000.0,
            "damping": 0.5,
            "friction": 2.0,
        },
        {
            "foundation_a": 1500.0,
            "foundation_b": 20000.0,
            "damping": 3.0,
            "friction": Together(friction=1.0, friction_stiffness=4.0),
            "a": "arm",
            "friction_across": Together(friction_across=0.6, friction_direction_b=(0.2, 1.0, 0.3)),
            "friction_direction_a": Together(friction_across=5.0, friction_direction_a=(1.0, 0.3, -0.2)),
            "friction_direction_b": Together(friction_across=5.0, friction_direction_b=(0.7, -0.6, 0.1)),
            "rolling_resistance": 0.15,
            "turning_resistance": 0.15,
        },
        rolling,
        part_of="contact at points",
    ),
    Element(
        "contact that rolls at points",
        nx.Contact,
        {
            "stiffness": 60.0,
            "exponent": 1.0,
            "damping": 0.5,
            "friction": 2.0,
            "rolling_resistance": 0.05,
            "turning_resistance": 0.1,
        },
        {
            "stiffness": 120.0,
            "friction": Together(friction=1.0, friction_stiffness=4.0),
            "b": Together(b="arm", rolling_resistance=0.5, turning_resistance=0.5),
            "rolling_resistance": 0.4,
            "turning_resistance": 0.3,
        },
        round_touching,
        part_of="contact at points",
    ),
)

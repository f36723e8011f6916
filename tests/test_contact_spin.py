"""Friction that sticks between bodies that spin against each other about the normal: what it holds turns as both do on average, so that the
order of their names, and what a floor is made of, make no difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx

END = 0.12
METHODS = (
    nx.DormandPrince(rtol=1e-10),
    nx.Projection(rtol=1e-9),
    nx.HHT(rtol=1e-8),
    nx.HHT(dt=5e-6),
    nx.ImplicitEuler(1e-5),
    nx.ImplicitEuler(1e-5, bdf2=True),
)


def balls(swapped: bool, **law: Any) -> nx.System:
    """Two balls without weight that a spring pulls together, and that roll along each other and spin."""
    system = nx.System("two balls", gravity=(0, 0, 0))
    names = ("upper", "lower")
    for k, name in enumerate(names):
        system.add_body(
            name, mass=1.0 + k, inertia=(4e-3, 5e-3, 6e-3), position=(0, 0, 0.2 * (1 - k)), shapes=nx.Sphere(0.1)
        )
    system.add_joint(nx.Free("a", "ground", "upper", v0=(0.3, 0.0, -0.2, 0.0, 2.0, 12.0)))
    system.add_joint(nx.Free("b", "ground", "lower", v0=(0.0, 0.1, 0.0, 1.0, 0.0, -4.0)))
    system.add_force(nx.PointSpring("pull", *names, stiffness=1000.0, length=0.18))
    system.add_contact(nx.Contact("touch", *(names[::-1] if swapped else names), **law))
    return system


def ends(system: nx.System, method: Any, bodies: tuple[str, ...]) -> np.ndarray:
    """Position and rotation of the bodies at the end."""
    result = nx.simulate(system, END, method)
    told = [x for b in bodies for x in (result.position(b).values[-1], 0.1 * result.rotation(b).values[-1].ravel())]
    return np.concatenate(told)


LAWS: dict[str, dict[str, Any]] = {
    "at a point": {"stiffness": 1e5, "exponent": 1.5, "friction": 0.8},
    "over an area": {"foundation_a": 4e7, "friction": 0.8},
    "resists rolling": {"stiffness": 1e5, "friction": 0.8, "rolling_resistance": 2e-3, "turning_resistance": 1e-3},
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_order_of_two_balls_that_spin_makes_no_difference(law: str, method: Any) -> None:
    given = LAWS[law]
    other = {name.replace("_a", "_b") if name == "foundation_a" else name: x for name, x in given.items()}
    one = ends(balls(False, **given), method, ("upper", "lower"))
    swapped = ends(balls(True, **other), method, ("upper", "lower"))
    assert np.abs(one - swapped).max() < 1e-7
    frictionless = ends(balls(False, **(given | {"friction": 1e-6})), METHODS[0], ("upper", "lower"))
    assert np.abs(one - frictionless).max() > 1e-4


def test_all_methods_have_the_same_motion() -> None:
    """To what their steps leave: of ImplicitEuler in proportion to these, of BDF2, too, where a strike slides."""
    exact = ends(balls(False, **LAWS["at a point"]), METHODS[0], ("upper", "lower"))

    def off(method: Any) -> float:
        return float(np.abs(ends(balls(False, **LAWS["at a point"]), method, ("upper", "lower")) - exact).max())

    for method in METHODS[1:4]:
        assert off(method) < 1e-7, method
    for bdf2, most in ((False, 1.2e-3), (True, 7e-6)):
        one, two = (off(nx.ImplicitEuler(dt, bdf2=bdf2)) for dt in (1e-5, 5e-6))
        assert one < most and 1.8 < one / two < 2.3, (bdf2, one, two)


TUMBLING = {"foundation_a": 4e6, "foundation_b": 3.5e6, "friction": 0.9, "rolling_resistance": 6e-3}


def box(floor: str, swapped: bool) -> nx.System:
    """A box that falls on a corner, spins and tumbles, on the ground, or on a large box."""
    system = nx.System("tumbling box")
    brick = nx.Box((0.15, 0.16, 0.19))
    placed = {"position": (0.0, 0.0, 0.13), "orientation": (0.8, 0.4, 0.4, 0.2)}
    system.add_body("box", mass=1.4, inertia=(4e-3, 5e-3, 6e-3), shapes=brick, **placed)
    system.add_joint(nx.Free("free", "ground", "box", v0=(0.6, -0.4, -0.5, 1.0, -2.0, 9.0)))
    on = "ground"
    if floor != "ground":
        on = system.add_body("table", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1), shapes=nx.Box((9, 9, 2))).name
        system.add_joint(nx.Fixed("held", "ground", "table"))
    pair = (on, "box") if swapped else ("box", on)
    law = TUMBLING
    if swapped:
        law = TUMBLING | {"foundation_a": TUMBLING["foundation_b"], "foundation_b": TUMBLING["foundation_a"]}
    system.add_contact(nx.Contact("floor", *pair, **law))
    return system


@pytest.mark.parametrize("method", [METHODS[0], METHODS[2]], ids=str)
def test_the_order_of_a_box_and_its_floor_makes_no_difference_and_what_the_floor_is(method: Any) -> None:
    one, *others = [
        ends(box(floor, swapped), method, ("box",)) for floor in ("ground", "table") for swapped in (False, True)
    ]
    for other in others:
        assert np.abs(one - other).max() < 1e-7

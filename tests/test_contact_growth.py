"""Explicit steps that are too long for a contact end in an error that says so, and those that are short enough do not."""

from __future__ import annotations

from typing import Any

import pytest

import nexdyn as nx
from nexdyn.simulation.growth import is_watched

EXPLICIT = {
    "rk4": nx.RungeKutta4, "semi-implicit": nx.SemiImplicitEuler, "baumgarte": nx.Baumgarte, "projection": nx.Projection,
}  # fmt: skip


def falling(shape: nx.Shape, **law: Any) -> nx.System:
    """A body that falls on the ground."""
    system = nx.System("falling")
    system.add_body("stone", mass=0.1, inertia=(1e-4,) * 3, shapes=[shape], position=(0, 0, 0.2))
    system.add_joint(nx.Free("free", "ground", "stone"))
    system.add_contact(nx.Contact("floor", "stone", **{"damping": 1.0, **law}))
    return system


LAWS: dict[str, tuple[nx.Shape, dict[str, Any]]] = {
    "sphere": (nx.Sphere(0.05), {"stiffness": 1e9}),
    "linear": (nx.Sphere(0.05), {"stiffness": 1e8, "exponent": 1.0, "friction": 0.3}),
    "area": (nx.Box((0.1, 0.1, 0.1)), {"foundation_b": 1e10}),
}


@pytest.mark.parametrize("method", EXPLICIT)
@pytest.mark.parametrize("law", LAWS)
def test_a_step_too_long_is_named(law: str, method: str) -> None:
    shape, given = LAWS[law]
    with pytest.raises(
        nx.SolveError, match=r"the energy has grown by .*too long for a contact.*floor stone ground"
    ) as told:
        nx.simulate(falling(shape, **given), 0.5, EXPLICIT[method](dt=1e-3))
    assert "s at most, pressed in by" in str(told.value)
    assert told.value.result is not None
    assert told.value.result.status == "failed"


@pytest.mark.parametrize("method", EXPLICIT)
@pytest.mark.parametrize("law", LAWS)
def test_steps_that_are_short_enough_run(law: str, method: str) -> None:
    shape, given = LAWS[law]
    soft = {key: 1e-3 * value if "stiffness" in key or "foundation" in key else value for key, value in given.items()}
    result = nx.simulate(falling(shape, **soft), 0.5, EXPLICIT[method](dt=2e-5), output_every=100)
    assert result.status == "finished"
    assert result.contacts("floor").normal.values.max() > 0.0


def test_what_gives_energy_is_not_watched() -> None:
    short = nx.RungeKutta4(dt=1e-3)
    system = falling(nx.Sphere(0.05), stiffness=1e5)
    assert is_watched(system, short)
    assert not is_watched(system, nx.HHT(dt=1e-3))
    assert not is_watched(system, nx.DormandPrince())
    system.add_force(nx.PointSpring("spring", "stone", "ground", stiffness=1.0, anchor_b=(0, 0, 1.0)))
    assert is_watched(system, short)
    belt = falling(nx.Sphere(0.05), stiffness=1e5, friction=0.3, surface_velocity_b=(1.0, 0.0, 0.0))
    assert not is_watched(belt, short)
    system.add_force(nx.AppliedForce("push", "stone", force=(1.0, 0.0, 0.0)))
    assert not is_watched(system, short)

"""Explicit steps that are too long for a contact end in an error that says so, and those that are short enough do not."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
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
    said = nullcontext() if law == "area" else pytest.warns(nx.NexDynWarning, match="too long for contact 'floor'")
    with (
        said,
        pytest.raises(
            nx.SolveError, match=r"the energy has grown by .*too long for a contact.*floor stone ground"
        ) as told,
    ):
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


@pytest.mark.parametrize(("method", "limit"), [(nx.RungeKutta4, 2.78), (nx.SemiImplicitEuler, 2.0)])
def test_the_longest_step_is_told_before_a_run(method: Any, limit: float) -> None:
    """c √(m/k) of a ball on a linear law without friction; with friction that sticks it is that along the surface, where the ball turns,
    too: 1/m + r²/I is what yields."""
    k, m, I, r = 1e5, 0.1, 1e-4, 0.05
    for friction, square in ((0.0, k / m), (0.5, 0.82 * k * (1.0 / m + r * r / I))):
        most = limit / np.sqrt(square)
        long = nx.Simulation(falling(nx.Sphere(r), stiffness=k, exponent=1.0, friction=friction), method(1.02 * most))
        with pytest.warns(nx.NexDynWarning, match="too long for contact 'floor': by its stiffness and the masses"):
            (told,) = long.run(0.01).warnings
        assert (told["kind"], told["where"], told["units"]) == ("step", "floor", "s")
        assert told["value"] == pytest.approx(most, rel=1e-3)
        short = falling(nx.Sphere(r), stiffness=k, exponent=1.0, friction=friction)
        assert not nx.simulate(short, 0.01, method(0.98 * most)).warnings


def test_by_hertz_it_is_that_of_the_weight_at_rest() -> None:
    """k δ^1.5 = m g."""
    k, m = 1e7, 0.1
    depth = (m * 9.81 / k) ** (2.0 / 3.0)
    most = 2.0 / np.sqrt(1.5 * k * np.sqrt(depth) / m)
    with pytest.warns(nx.NexDynWarning):
        result = nx.simulate(falling(nx.Sphere(0.05), stiffness=k), 1e-3, nx.SemiImplicitEuler(1.5 * most))
    assert result.warnings[0]["value"] == pytest.approx(most, rel=0.01)
    # a body in a joint gets no notice
    held = falling(nx.Sphere(0.05), stiffness=k)
    held.add_body("other", mass=1.0, inertia=(1, 1, 1))
    held.add_joint(nx.Spherical("ball", "stone", "other"))
    assert not nx.simulate(held, 1e-3, nx.SemiImplicitEuler(1.5 * most)).warnings
    # and of steps that the method chooses
    assert not nx.simulate(falling(nx.Sphere(0.05), stiffness=k), 1e-3, nx.DormandPrince()).warnings

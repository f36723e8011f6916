"""Explicit steps that are too long for a contact end in an error that says so, and those that are short enough do not."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.assembly.contact_steps import fastest
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
    # what hangs on a ball joint below the centre of a stone takes part as far as it yields itself
    held = falling(nx.Sphere(0.05), stiffness=k)
    held.add_body("other", mass=1.0, inertia=(1, 1, 1))
    held.add_joint(nx.Spherical("ball", "stone", "other"))
    with pytest.warns(nx.NexDynWarning):
        joined = nx.simulate(held, 1e-3, nx.SemiImplicitEuler(4.0 * most)).warnings[0]
    assert most < joined["value"] < 4.0 * most
    # and of steps that the method chooses
    assert not nx.simulate(falling(nx.Sphere(0.05), stiffness=k), 1e-3, nx.DormandPrince()).warnings


def on_a_slide(armature: float = 0.0) -> nx.System:
    """A foot of 0.3 kg under a leg of 2 kg that slides up and down, over a floor of 1e5 N/m; both are one by a joint that does not give."""
    system = nx.System("leg")
    leg = system.add_body("leg", mass=2.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, 1.0))
    foot = system.add_body(
        "foot", mass=0.3, inertia=(1.0, 1.0, 1.0), position=(0, 0, 0.06), collision=[nx.Sphere(0.05)]
    )
    system.add_joint(nx.Prismatic("slide", "ground", leg, axis=(0, 0, 1), armature=armature))
    system.add_joint(nx.Fixed("ankle", leg, foot))
    system.add_contact(nx.Contact("floor", foot, "ground", stiffness=1e5, exponent=1.0))
    return system


@pytest.mark.parametrize("armature", [0.0, 1.7])
def test_bodies_in_joints_yield_as_their_joints_let_them(armature: float) -> None:
    most = 2.0 / np.sqrt(1e5 / (2.3 + armature))
    with pytest.warns(nx.NexDynWarning, match="too long for contact 'floor'"):
        (told,) = nx.Simulation(on_a_slide(armature), nx.SemiImplicitEuler(1.01 * most)).run(0.01).warnings
    assert told["value"] == pytest.approx(most, rel=1e-9)
    assert not nx.simulate(on_a_slide(armature), 0.01, nx.SemiImplicitEuler(0.99 * most)).warnings


def test_it_is_the_longest_that_keeps_what_rocks_on_a_hinge_in_bounds() -> None:
    """A bar of 1 m whose end rests on the floor yields with l²/I; loops, and equations that repeat others, count as they are."""
    system = nx.System("bar")
    bar = system.add_body("bar", mass=3.0, inertia=(0.1, 0.25, 0.25), position=(0.5, 0, 0.05))
    tip = system.add_body(
        "tip", mass=1e-3, inertia=(1e-6, 1e-6, 1e-6), position=(1.0, 0, 0.05), collision=[nx.Sphere(0.05)]
    )
    for name, y in (("left", 0.1), ("right", -0.1)):  # one hinge, twice: five equations repeat others
        system.add_joint(nx.Revolute(name, "ground", bar, at=(0, y, 0.05), axis=(0, 1, 0)))
    system.add_joint(nx.Fixed("weld", bar, tip))
    system.add_contact(nx.Contact("floor", tip, "ground", stiffness=1e5, exponent=1.0))
    inertia = 0.25 + 3.0 * 0.25 + 1e-3 + 1e-6
    most = 2.78 / np.sqrt(1e5 / inertia)
    places = {"ground": np.zeros(3), "bar": np.array([0.5, 0, 0.05]), "tip": np.array([1.0, 0, 0.05])}
    fast, name = fastest(system, lambda body: (np.eye(3), places[body]))
    assert name == "floor"
    assert 2.78 / fast == pytest.approx(most, rel=1e-9)

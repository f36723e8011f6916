"""The heat of contacts: `result.energy(dissipated=True)` is compared with known answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sticking_lab import ball, box

import nexdyn as nx

G, MU = 9.81, 0.4
METHODS: dict[str, Any] = {
    "rk4": nx.RungeKutta4(1e-4), "hht": nx.HHT(rtol=1e-5), "hht dt": nx.HHT(dt=2e-4), "projection": nx.Projection(rtol=1e-7),
    "dopri": nx.DormandPrince(rtol=1e-7, atol=1e-9), "euler": nx.ImplicitEuler(2e-5), "bdf2": nx.ImplicitEuler(1e-4, bdf2=True),
}  # fmt: skip
AREA: dict[str, Any] = {"foundation_b": 1e8, "damping": 20.0}


@pytest.mark.parametrize("name", METHODS)
def test_a_block_that_slides_to_rest_loses_what_it_had(name: str) -> None:
    """½ m v², each contact a part of it, with nothing that grows back."""
    result = nx.simulate(box(MU, v0=(0, 0, 0, 1.0, 0, 0)), 0.5, METHODS[name])
    energy = result.energy(dissipated=True)
    heat = energy.dissipated
    assert heat.dims == ("time", "contact") and heat.attrs["units"] == "J"
    assert list(heat.contact.values) == [f"corner{i}" for i in range(4)]
    total = heat.sum("contact").values
    assert total[0] == 0.0 and total[-1] == pytest.approx(1.0, rel=1e-3)
    assert_allclose(energy.total.values + total, energy.total.values[0], rtol=0, atol=2e-3)
    assert np.diff(total).min() > -1e-5


@pytest.mark.parametrize("law", [{"stiffness": 1e5}, AREA], ids=["point", "area"])
def test_damping_of_a_bounce_is_what_the_bounce_lost(law: dict[str, Any]) -> None:
    if "stiffness" in law:
        system = ball(height=0.1, damping=0.3, **law)
    else:
        system = nx.System("ball", gravity=(0.0, 0.0, -G))
        system.add_body("ball", mass=2.0, inertia=(0.01,) * 3, position=(0, 0, 0.2), collision=[nx.Sphere(0.1)])
        system.add_joint(nx.Free("free", "ground", "ball"))
        system.add_contact(nx.Contact("floor", "ball", **{**law, "damping": 0.3}))
    result = nx.simulate(system, 0.4, nx.RungeKutta4(2e-5))
    energy = result.energy(dissipated=True)
    total = energy.dissipated.sum("contact").values
    assert total[-1] > 0.1 * 2.0 * G * 0.1
    assert_allclose(energy.total.values + total, energy.total.values[0], rtol=0, atol=2e-5 * 2.0 * G * 0.1)


def test_its_error_falls_with_the_square_of_the_step() -> None:
    off = []
    for dt in (4e-5, 2e-5, 1e-5):
        result = nx.simulate(ball(height=0.02, stiffness=1e5, damping=0.3), 0.1, nx.RungeKutta4(dt))
        energy = result.energy(dissipated=True)
        whole = energy.total.values + energy.dissipated.sum("contact").values
        off.append(np.abs(whole - whole[0]).max())
    assert np.log2(off[0] / off[-1]) / 2.0 > 1.8


def test_a_belt_heats_what_it_carries_by_as_much_as_it_gives() -> None:
    """Of what the drive gives, m v², half moves the block and half is heat."""
    result = nx.simulate(box(MU, surface_velocity_b=(1.0, 0.0, 0.0)), 0.5, nx.RungeKutta4(1e-4))
    energy = result.energy(dissipated=True)
    assert energy.kinetic.values[-1] == pytest.approx(1.0, rel=1e-3)
    assert energy.dissipated.sum("contact").values[-1] == pytest.approx(1.0, rel=2e-3)


def test_it_goes_on_across_events_and_of_what_is_switched_off_nothing_comes() -> None:
    system = box(MU, v0=(0, 0, 0, 1.0, 0, 0))
    system.add_event(
        nx.Event("later", time=0.1, parameters={"corner0.friction": 0.2, "corner1.friction": 0.2}, once=True)
    )
    result = nx.simulate(system, 0.5, nx.HHT(rtol=1e-5))
    heat = result.energy(dissipated=True).dissipated
    assert heat.sum("contact").values[-1] == pytest.approx(1.0, rel=2e-3)
    # two corners with half the friction of the others, and nearly their load
    late = heat.sel(time=slice(0.12, 0.2)).values
    assert (late[-1] - late[0])[:2].sum() == pytest.approx(0.5 * (late[-1] - late[0])[2:].sum(), rel=0.3)
    system = box(MU, v0=(0, 0, 0, 1.0, 0, 0))
    system.add_event(nx.Event("off", time=0.1, off=[f"corner{i}" for i in range(4)]))
    heat = nx.simulate(system, 0.2, nx.RungeKutta4(1e-4)).energy(dissipated=True).dissipated
    late = heat.sel(time=slice(0.1005, 0.2)).values
    assert np.array_equal(late, np.broadcast_to(late[:1], late.shape)) and late.sum() > 0.0


@pytest.mark.parametrize("up", [1.0, -1.0])
def test_what_a_surface_has_along_its_normal_does_nothing(up: float) -> None:
    """Of a ball at rest on a box whose surface 'runs' up or down."""
    heats = []
    for velocity in ((0.0, 0.0, 0.0), (0.0, 0.0, up)):
        system = nx.System("table", gravity=(0.0, 0.0, -G))
        system.add_body("ball", mass=1.0, inertia=(4e-3,) * 3, position=(0, 0, 0.1), collision=[nx.Sphere(0.1)])
        system.add_joint(nx.Free("free", "ground", "ball"))
        system.add_body("table", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -0.1), collision=[nx.Box((2, 2, 0.2))])
        system.add_joint(nx.Fixed("stands", "ground", "table"))
        law = {"stiffness": 1e6, "damping": 5.0, "friction": 0.3, "surface_velocity_b": velocity}
        system.add_contact(nx.Contact("on", "ball", "table", **law))
        heats.append(nx.simulate(system, 0.1, nx.RungeKutta4(1e-4)).energy(dissipated=True).dissipated.values)
    assert_allclose(heats[0], heats[1], rtol=0, atol=1e-12)


def test_a_result_without_all_steps_is_refused() -> None:
    system = box(MU, v0=(0, 0, 0, 1.0, 0, 0))
    for thin in ({"output_every": 10}, {"output_times": [0.0, 0.1]}, {"output_times": np.linspace(0.0, 0.1, 1500)}):
        result = nx.simulate(system, 0.1, nx.RungeKutta4(1e-4), **thin)
        with pytest.raises(nx.InputError, match="summed over the steps, and this result holds"):
            result.energy(dissipated=True)
    assert "dissipated" not in result.energy()


def test_without_contacts_it_is_empty() -> None:
    system = nx.System("alone")
    system.add_body("b", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Free("f", "ground", "b"))
    assert nx.simulate(system, 0.1, nx.HHT(dt=1e-2)).energy(dissipated=True).dissipated.shape[1] == 0

"""nx.ImplicitEuler on stops and planes: energies whose derivatives they are, any step, orders, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems
from potential_lab import Bench
from test_potential_energies import agrees, pair

import nexdyn as nx
from nexdyn.forces.joint_stop import effort
from nexdyn.potential.contact import take_pressure
from nexdyn.potential.penetration import both_ends

G = 9.81


def hammer_and_ball(stiffness: float, damping: float, friction: float, exponent: float = 1.5) -> nx.System:
    """A hammer that falls on the stop of its guide, and a ball that is thrown along the ground, both 20 mm above."""
    system = nx.System("strikes", gravity=(0, 0, -G))
    law = {"stiffness": stiffness, "damping": damping, "exponent": exponent}
    system.add_body("hammer", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0.02))
    system.add_joint(nx.Prismatic("guide", "ground", "hammer", at=(1, 0, 0.02), axis=(0, 0, 1), v0=-3.0))
    system.add_force(nx.JointStop("stop", "guide", lower=-0.02, **law))
    system.add_body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), position=(0, 0, 0.12))
    system.add_joint(nx.Free("free", "ground", "ball", v0=(0, 0, 0, 1, 0, -3)))
    rubs = {"friction": friction, "friction_speed": 1e-3}  # a law without kinks, of which orders show
    system.add_force(nx.PlaneContact("floor", "ball", radius=0.1, **rubs, **law))
    return system


# --- energies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.2])
def test_the_force_of_a_stop_is_the_derivative_of_its_energy_dissipation_and_letting_go_included(
    exponent: float,
) -> None:
    dt, data = 0.05, np.array([40.0, exponent, 0.7, -0.1, 0.1])
    step = 1e-6
    for past in (-0.3, -0.05, 0.0, 0.25):
        for c in np.linspace(-0.8, 0.8, 81) + 3e-4:
            _, slope, curve = both_ends(data, 0, c, past, dt)
            (E_1, slope_1, _), (E_0, slope_0, _) = (both_ends(data, 0, c + s, past, dt) for s in (step, -step))
            assert slope == pytest.approx(-dt * dt * effort(data, 0, c, (c - past) / dt), rel=1e-12, abs=1e-15)
            assert slope == pytest.approx((E_1 - E_0) / (2 * step), rel=1e-6, abs=1e-8)
            assert curve == pytest.approx((slope_1 - slope_0) / (2 * step), rel=1e-5, abs=1e-6)
            assert curve >= 0.0  # convex, so that Newton's method with a line search finds the minimum


def test_of_a_stop_in_a_joint_and_of_the_height_of_a_contact(rng: np.random.Generator) -> None:
    system, (a, b) = pair(rng)
    system.add_joint(nx.Cylindrical("hinge", a, b, **systems.placed(rng)))
    system.add_force(nx.JointStop("stop", "hinge", stiffness=40.0, exponent=2.2, lower=-0.1, upper=0.1, damping=0.7))
    system.add_force(
        nx.PlaneContact(
            "touch", b, a, stiffness=4.0, exponent=2.2, damping=0.3, radius=20.0, length=0.6, axis=(1, 2, 3),
            normal=(0.3, 0.2, 1), anchor_a=(0.1, 0.2, 0.3), anchor_b=(0.3, 0.1, 0), friction=0.5,
        )
    )  # fmt: skip
    bench = Bench(system)
    assert len(bench.model.springs.index) == 3  # a capsule has two ends
    bench.model.springs.state[:, :2] = [[0.2], [5.0], [5.0]]
    agrees(bench, rng, 1e-6)
    assert (bench.model.springs.value[:, 1] != 0.0).all()


def test_of_friction_and_its_force_is_that_of_the_law(rng: np.random.Generator) -> None:
    system, (a, b) = pair(rng)
    contact = nx.PlaneContact(
        "touch", b, a, stiffness=40.0, radius=20.0, normal=(0.3, 0.2, 1), anchor_a=(0.1, 0.2, 0.3), friction=0.5,
        friction_speed=0.7,
    )  # fmt: skip
    system.add_force(contact)
    bench = Bench(system)
    bench.state.v[1:] = rng.normal(size=bench.state.v[1:].shape)
    bench.begin()
    x = 0.3 * rng.normal(size=(2, 6))
    bench.energy(x)
    without = bench.gradient(x)
    assert take_pressure(bench.model, bench.model.contacts, bench.dt, bench.work, False)
    f_n, u = bench.model.contacts.pressure[0], bench.model.contacts.slip[0, 0]
    assert f_n == pytest.approx(40.0 * (20.0 - bench.model.springs.value[0, 0]) ** 1.5, rel=1e-12)
    friction = (bench.gradient(x) - without) / bench.dt**2
    size = 0.5 * f_n * u / np.hypot(u, 0.7)
    assert np.linalg.norm(friction[9:]) == pytest.approx(size, rel=1e-9)  # on b, translation
    np.testing.assert_allclose(friction[3:6], -friction[9:], rtol=0, atol=1e-9 * size)
    for near in (x, x + 0.1 * rng.normal(size=x.shape)):
        g, H = bench.differences(near)
        assert np.abs(bench.gradient(near) - g).max() < 1e-6 * np.abs(g).max()
        assert np.abs(bench.hessian(near) - H).max() < 1e-6 * np.abs(H).max()


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [1e-3, 1e-2, 0.1, 0.5])
@pytest.mark.parametrize(("stiffness", "damping"), [(1e5, 0.0), (1e5, 100.0), (1e7, 5.0), (1e9, 100.0)])
def test_strikes_rub_and_let_go_at_any_step(dt: float, stiffness: float, damping: float) -> None:
    for friction in (0.1, 2.0):
        run = nx.simulate(hammer_and_ball(stiffness, damping, friction), 40 * dt, nx.ImplicitEuler(dt))
        total = run.energy()["total"].values
        assert (np.diff(total) < 1e-9 * total[0]).all()
        deepest = run.position("hammer").sel(axis="z").values.min()
        assert (
            deepest > -1.1 * (2.5 * 4.7 / stiffness) ** 0.4
        )  # where the springs alone would stop it: ½ m v² = k δ²·⁵/2.5


@pytest.mark.parametrize("fixed", [{}, {"mu": 1e5, "updates": 5}], ids=["adaptive", "published"])
def test_a_strike_and_a_throw_converge_to_the_motion_in_minimal_coordinates(fixed: dict[str, Any]) -> None:
    system = hammer_and_ball(1e4, 2.0, 0.3)
    exact = nx.simulate(system, 0.1, nx.DormandPrince(rtol=1e-11, atol=1e-12), output_every=10**9)
    e = []
    for dt in (2e-4, 1e-4):
        found = nx.simulate(system, 0.1, nx.ImplicitEuler(dt, **fixed), output_every=10**9)
        e.append(np.abs(found.velocity().values[-1] - exact.velocity().values[-1]).max())
    assert e[1] < 0.02 and 1.8 < e[0] / e[1] < 2.2


@pytest.mark.parametrize("dt", [1e-3, 1e-2, 0.1, 0.5])
@pytest.mark.parametrize(("stiffness", "damping"), [(1e5, 0.0), (1e5, 100.0), (1e7, 5.0), (1e9, 100.0)])
def test_bdf2_strikes_at_any_step_without_going_deeper_or_flying_higher(
    dt: float, stiffness: float, damping: float
) -> None:
    for friction in (0.1, 2.0):
        run = nx.simulate(hammer_and_ball(stiffness, damping, friction), 40 * dt, nx.ImplicitEuler(dt, bdf2=True))
        total = run.energy()["total"].values
        assert (total < (1.0 + 1e-9) * total[0]).all() and np.diff(total).max() < 0.02 * total[0]
        deepest = run.position("hammer").sel(axis="z").values.min()
        assert deepest > -1.1 * (2.5 * 4.7 / stiffness) ** 0.4


def test_bdf2_keeps_its_order_through_a_strike_and_a_throw() -> None:
    system = hammer_and_ball(1e4, 2.0, 0.3)
    exact = nx.simulate(system, 0.1, nx.DormandPrince(rtol=1e-11, atol=1e-12), output_every=10**9)
    e = []
    for dt in (2.5e-4, 6.25e-5):
        found = nx.simulate(system, 0.1, nx.ImplicitEuler(dt, bdf2=True), output_every=10**9)
        e.append(np.abs(found.velocity().values[-1] - exact.velocity().values[-1]).max())
    assert e[1] < 5e-6 and e[0] / e[1] > 12.0


def test_a_block_rests_on_an_incline_and_slides_as_the_law_says_at_a_long_step() -> None:
    phi, v_f = np.arctan(0.3), 1e-3
    for friction in (0.2, 0.6):
        system = nx.System("incline", gravity=(0, -G * np.sin(phi), -G * np.cos(phi)))
        system.add_body("block", mass=2.0, inertia=(0.1, 0.1, 0.1))
        system.add_joint(nx.Cartesian("way", "ground", "block"))
        system.add_force(
            nx.PlaneContact("floor", "block", stiffness=1e6, damping=50.0, friction=friction, friction_speed=v_f)
        )
        run = nx.simulate(system, 2.0, nx.ImplicitEuler(0.05))
        v = -run.velocity("block").sel(axis="y").values[-1]
        if friction > 0.3:
            assert v == pytest.approx(v_f * 0.3 / np.sqrt(friction**2 - 0.3**2), rel=1e-6)
        else:
            assert v == pytest.approx(2.0 * G * (np.sin(phi) - friction * np.cos(phi)), rel=2e-2)


# --- events ---------------------------------------------------------------------------------------------------------


def test_an_event_is_located_in_a_run() -> None:
    system = hammer_and_ball(1e5, 0.0, 0.0)
    system.add_event(nx.Event("under", joint="guide", value=-0.01))
    run = nx.simulate(system, 0.05, nx.ImplicitEuler(1e-3))
    (first, *_) = run.events
    s = run.joint_position("guide").interp(time=first["time"]).values.item() if first else np.nan
    assert first["name"] == "under" and s == pytest.approx(-0.01, abs=1e-6)

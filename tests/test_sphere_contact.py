"""Contact of spheres with spheres, from outside and in a hollow: momentum, Newton's cradle, sockets with clearance, every method."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sticking_lab import STEPS, G

import nexdyn as nx

EVERY = pytest.mark.parametrize("method", STEPS.values(), ids=STEPS.keys())
SOME = pytest.mark.parametrize("method", [STEPS[name] for name in ("rk4", "hht", "bdf2")], ids=("rk4", "hht", "bdf2"))
M, R = 0.5, 0.05


def balls(*placed: tuple[Any, Any], gravity: Any = (0, 0, 0), mass: float = M, radius: float = R) -> nx.System:
    """Solid balls of centre and velocity (ω, v)."""
    system = nx.System("balls", gravity=gravity)
    J = 0.4 * mass * radius * radius
    for i, (centre, v0) in enumerate(placed):
        system.add_body(f"ball{i}", mass=mass, inertia=(J, J, J), position=centre)
        system.add_joint(nx.Free(f"free{i}", "ground", f"ball{i}", v0=v0))
    return system


def touch(system: nx.System, a: str, b: str, **law: Any) -> None:
    """A contact of two of them."""
    given = {"stiffness": 1e6, "radius_a": R, "radius_b": R} | law
    system.add_force(nx.SphereContact(f"{a} {b}", a, b, **given))


def momenta(result: nx.Result, mass: float = M, radius: float = R) -> np.ndarray:
    """Momentum and angular momentum about the origin of all balls, (N, 6)."""
    total = np.zeros((len(result.t), 6))
    for name in (body for body in result.system.bodies if body != "ground"):
        p, v, w = (getattr(result, what)(name).values for what in ("position", "velocity", "angular_velocity"))
        total[:, :3] += mass * v
        total[:, 3:] += mass * np.cross(p, v) + 0.4 * mass * radius * radius * w
    return total


KEPT = {
    "rk4": 1e-8, "semi-implicit": 2e-2, "dopri": 1e-8, "bs32": 1e-8, "dop853": 1e-8,
    "hht": 1e-5, "hht dt": 1e-5, "baumgarte": 1e-8, "projection": 1e-8,
    "partitioning": 1e-8, "euler": 1e-3, "bdf2": 1e-4,
}  # fmt: skip
"""Part of the momentum that methods may lose with the steps of the lab: coordinates of free bodies turn with them."""


@pytest.mark.parametrize("name", STEPS)
def test_two_balls_that_strike_askew_keep_momentum_and_spin_up_together(name: str) -> None:
    """Free impact with friction: what one loses the other gains, about any point."""
    system = balls(((-0.06, 0, 0), (0, 0, 20.0, 1.0, 0.1, 0)), ((0.06, 0.02, 0), (3.0, 0, 0, -1.0, 0, 0.05)))
    touch(system, "ball0", "ball1", friction=0.4, damping=0.3)
    result = nx.simulate(system, 0.06, STEPS[name], output_times=np.linspace(0.0, 0.06, 7))
    found = momenta(result)
    assert np.abs(found - found[0]).max() < KEPT[name] * M
    v = result.velocity("ball0").values
    assert abs(v[-1, 0] - v[0, 0]) > 1.0  # they did strike
    spun = result.angular_velocity("ball1").values
    assert np.abs(spun[-1] - spun[0]).max() > 1.0


def test_momentum_is_kept_to_rounding_where_steps_are_short() -> None:
    system = balls(((-0.06, 0, 0), (0, 0, 20.0, 1.0, 0.1, 0)), ((0.06, 0.02, 0), (3.0, 0, 0, -1.0, 0, 0.05)))
    touch(system, "ball0", "ball1", friction=0.4, damping=0.3)
    found = momenta(nx.simulate(system, 0.06, nx.RungeKutta4(1e-5), output_times=np.linspace(0.0, 0.06, 7)))
    assert np.abs(found - found[0]).max() < 1e-10 * M


@EVERY
def test_the_order_of_the_bodies_makes_no_difference(method: Any) -> None:
    ends = []
    for swapped in (False, True):
        system = balls(((-0.06, 0, 0), (0, 0, 20.0, 1.0, 0.1, 0)), ((0.06, 0.02, 0), (3.0, 0, 0, -1.0, 0, 0.05)))
        a, b = ("ball1", "ball0") if swapped else ("ball0", "ball1")
        touch(system, a, b, friction=0.4, damping=0.3)
        ends.append(nx.simulate(system, 0.06, method, output_times=[0.0, 0.06]).velocity("ball0").values[-1])
    # y is told in the axes of one or the other, which turn by 0.03 rad while they touch
    assert np.abs(ends[1] - ends[0]).max() < 2e-3


@pytest.mark.parametrize("restitution", [1.0, 0.7])
def test_a_head_on_bounce_leaves_the_coefficient_of_restitution(restitution: float) -> None:
    system = balls(((-0.06, 0, 0), (0, 0, 0, 1.0, 0, 0)), ((0.06, 0, 0), (0, 0, 0, -0.4, 0, 0)))
    touch(system, "ball0", "ball1", restitution=restitution, impact_speed=1.4)
    result = nx.simulate(system, 0.06, nx.DormandPrince(rtol=1e-10, atol=1e-12), output_times=[0.0, 0.06])
    v = [result.velocity(f"ball{i}").values[-1, 0] for i in range(2)]
    assert v[1] - v[0] == pytest.approx(1.4 * restitution, rel=1e-6)
    assert v[0] + v[1] == pytest.approx(0.6, rel=1e-12)


CRADLE = {3: (-0.07095, 0.07640, 0.99455), 5: (-0.07109, -0.03027, -0.01446, 0.12704, 0.98878)}
"""v/v₀ of balls that touch, one in, by Hertz's law, at any stiffness."""


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("stiffness", [1e6, 1e8])
def test_newtons_cradle(count: int, stiffness: float) -> None:
    placed = [((2.0 * R * i, 0, 0), (0, 0, 0, 1.0 if i == 0 else 0.0, 0, 0)) for i in range(count)]
    system = balls(*placed)
    for i in range(count - 1):
        touch(system, f"ball{i}", f"ball{i + 1}", stiffness=stiffness)
    result = nx.simulate(system, 0.03, nx.DormandPrince(rtol=1e-10, atol=1e-13), output_times=[0.0, 0.03])
    v = [float(result.velocity(f"ball{i}").values[-1, 0]) for i in range(count)]
    assert v == pytest.approx(CRADLE[count], abs=2e-5)


def test_with_gaps_one_in_is_one_out() -> None:
    placed = [((2.02 * R * i, 0, 0), (0, 0, 0, 1.0 if i < 2 else 0.0, 0, 0)) for i in range(5)]
    system = balls(*placed)
    for i in range(4):
        touch(system, f"ball{i}", f"ball{i + 1}", stiffness=1e9)
    result = nx.simulate(system, 0.05, nx.DormandPrince(rtol=1e-9, atol=1e-12), output_times=[0.0, 0.05])
    v = [float(result.velocity(f"ball{i}").values[-1, 0]) for i in range(5)]
    assert v == pytest.approx([0.0, 0.0, 0.0, 1.0, 1.0], abs=1e-6)


@EVERY
def test_a_pin_stays_in_its_hole_and_invents_no_energy(method: Any) -> None:
    """A pendulum hangs on a ball of 49.5 mm in a hollow of 50 mm, half a millimetre of clearance, and rubs there."""
    hollow, clearance = 0.05, 5e-4
    system = nx.System("loose pendulum", gravity=(0, 0, -G))
    system.add_body("bob", mass=1.0, inertia=(0.01, 0.01, 0.002), position=(0.3, 0, -clearance))
    system.add_joint(nx.Free("free", "ground", "bob"))
    law = {"stiffness": 1e6, "exponent": 1.0, "damping": 5.0, "friction": 0.2}
    pin = nx.SphereContact(
        "pin", "bob", "ground", radius_a=hollow - clearance, radius_b=hollow, hollow=True, anchor_a=(-0.3, 0, 0), **law
    )
    system.add_force(pin)
    result = nx.simulate(system, 0.5, method, output_times=np.linspace(0.0, 0.5, 501))
    R_WB, p = result.rotation("bob").values, result.position("bob").values
    centre = p + R_WB @ np.array([-0.3, 0.0, 0.0])
    assert np.linalg.norm(centre, axis=1).max() < clearance + 2e-4  # pressed in by its impacts
    energy = result.energy().total.values
    assert energy[-1] < energy[0] and (energy - np.minimum.accumulate(energy)).max() < 0.02 * (energy[0] - energy[-1])
    touch = result.contacts("pin")
    assert (touch.tangential.values <= 0.2 * touch.normal.values * (1 + 1e-9) + 1e-9).all()


@SOME
def test_a_ball_stands_on_top_of_a_ball_that_holds_it(method: Any) -> None:
    """Guided upright, pushed along by less than friction: what sticks holds, also where the lower ball turns with it."""
    system = nx.System("stack", gravity=(0, 0, -G))
    J = 0.4 * M * R * R
    system.add_body("lower", mass=M, inertia=(J, J, J))
    system.add_joint(nx.Revolute("spin", "ground", "lower", axis=(0, 0, 1)))
    system.add_driver(nx.Driver("turn", "spin", "=2*t"))
    depth = M * G / 1e6
    system.add_body("upper", mass=M, inertia=(J, J, J), position=(0, 0, 2 * R - depth))
    system.add_joint(nx.Cylindrical("guide", "ground", "upper", axis=(0, 0, 1), at=(0, 0, 0)))
    touch(system, "upper", "lower", friction=0.4, exponent=1.0, damping=20.0)
    result = nx.simulate(system, 1.0, method, output_times=[0.0, 0.5, 1.0])
    assert result.position("upper").values[-1] == pytest.approx([0, 0, 2 * R - depth], abs=1e-6)


def test_a_ball_rolls_in_a_bowl_as_a_pendulum_does() -> None:
    """Small swings without slip: ω² = g/(7/5 (r_B − r_A))."""
    bowl = 0.5
    system = balls(((0.02, 0, -math.sqrt((bowl - R) ** 2 - 0.02**2)), None), gravity=(0, 0, -G))
    J, reach = 0.4 * M * R * R, bowl - R
    system.add_force(
        nx.SphereContact(
            "roll", "ball0", "ground", radius_a=R, radius_b=bowl, hollow=True, stiffness=1e6, exponent=1.0,
            damping=20.0, friction=0.5,
        )
    )  # fmt: skip
    period = 2.0 * math.pi * math.sqrt((1.0 + J / (M * R * R)) * reach / G)
    t = np.linspace(0.0, 3.0 * period, 601)
    x = nx.simulate(system, 3.0 * period, nx.HHT(rtol=1e-6), output_times=t).position("ball0").values[:, 0]
    assert x[-1] == pytest.approx(0.02, rel=0.02)
    assert x[100] == pytest.approx(-0.02, rel=0.02)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"radius_b": 0.0}, "radius_b of force 'ball0 ball1' is 0; it must be greater than 0"),
        ({"radius_a": -1.0}, "radius_a of force 'ball0 ball1' is -1; it must be 0 or more"),
        ({"hollow": True}, "radius_a of force 'ball0 ball1' is 0.05, and its hollow has radius_b 0.05; radius_a must be less"),
        ({"hollow": 1}, "hollow of force 'ball0 ball1' is 1; True or False is valid"),
    ],
)  # fmt: skip
def test_what_is_not_valid_is_refused_by_name(given: dict[str, Any], message: str) -> None:
    system = balls(((-0.06, 0, 0), None), ((0.06, 0, 0), None))
    with pytest.raises(nx.InputError, match=message):
        touch(system, "ball0", "ball1", **given)


def test_balls_that_start_pressed_in_are_told() -> None:
    system = balls(((-0.04, 0, 0), None), ((0.05, 0, 0), None), gravity=(0, 0, -G))
    touch(system, "ball0", "ball1")
    with pytest.warns(nx.NexDynWarning, match="contact 'ball0 ball1' starts 0.01 m deep"):
        nx.simulate(system, 1e-4, nx.RungeKutta4(1e-5))

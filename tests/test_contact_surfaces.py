"""nx.Contact over areas, in motion: what stands and slides, stacks, turning, energy, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.cli.info import _contact
from nexdyn.describe import from_dict, to_dict

G, EDGE, HEIGHT, K = 9.81, 0.1, 0.04, 1e7
METHODS: dict[str, tuple[Any, dict[str, Any]]] = {
    "hht": (nx.HHT(), {}),
    "hht dt": (nx.HHT(dt=1e-3), {"output_every": 100}),
    "rk4": (nx.RungeKutta4(1e-4), {"output_every": 1000}),
    "implicit-euler": (nx.ImplicitEuler(1e-3), {"output_every": 100}),
    "bdf2": (nx.ImplicitEuler(1e-3, bdf2=True), {"output_every": 100}),
}


def brick(system: nx.System, name: str, at: Any, mass: float = 1.0, **given: Any) -> None:
    system.add_body(name, mass=mass, position=at, shapes=[nx.Box((EDGE, EDGE, HEIGHT))], **given)


def slope(part: float, mu: float = 0.5, swapped: bool = False, **law: Any) -> nx.System:
    """A flat box where it rests on a plane that leans so that tan φ is `part` of μ."""
    phi = math.atan(part * mu)
    system = nx.System("slope", gravity=(G * math.sin(phi), 0.0, -G * math.cos(phi)))
    brick(system, "box", (0.0, 0.0, 0.5 * HEIGHT - G * math.cos(phi) / (K * EDGE**2)))
    system.add_joint(nx.Free("free", "ground", "box"))
    sides = ("ground", "box") if swapped else ("box", "ground")
    layer = {"foundation_a" if swapped else "foundation_b": K}
    system.add_contact(nx.Contact("c", *sides, **layer, friction=mu, **{"damping": 300.0, **law}))
    return system


@pytest.mark.parametrize("method", METHODS)
def test_a_box_stands_just_below_its_cone(method: str) -> None:
    chosen, options = METHODS[method]
    result = nx.simulate(slope(0.95), 4.0, chosen, **options)
    x, t = result.position("box").values, result.t.values
    settled = x[t >= 2.0]
    assert np.abs(settled - settled[-1]).max() < 5e-8
    assert np.abs(x[-1, 0]) < 1e-3
    contact = result.contacts("c").isel(time=-1, contact=0)
    assert contact.sticks == 1.0
    assert contact.normal.item() == pytest.approx(G * math.cos(math.atan(0.475)), rel=1e-6)
    assert contact.tangential.item() == pytest.approx(G * math.sin(math.atan(0.475)), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_box_slides_above_its_cone(method: str) -> None:
    chosen, options = METHODS[method]
    result = nx.simulate(slope(1.2), 2.0, chosen, **options)
    t, v = result.t.values, result.velocity("box").values[:, 0]
    k = int(np.searchsorted(t, 0.5))
    phi = math.atan(0.6)
    assert (v[-1] - v[k]) / (t[-1] - t[k]) == pytest.approx(G * (math.sin(phi) - 0.5 * math.cos(phi)), rel=1e-3)


def test_bodies_change_places_and_friction_is_regularised() -> None:
    ends = []
    for swapped in (False, True):
        result = nx.simulate(slope(0.95, swapped=swapped, friction_speed=1e-3), 1.0, nx.HHT(dt=2e-4))
        assert not result.force_state().size
        ends.append(result.position("box").values[-1])
    assert ends[1] == pytest.approx(ends[0], abs=1e-10)
    # v_f tan φ/√(μ² − tan² φ)
    result = nx.simulate(slope(0.95, friction_speed=1e-3), 1.0, nx.HHT(dt=2e-4))
    assert result.velocity("box").values[-1, 0] == pytest.approx(1e-3 * 0.95 / math.sqrt(1.0 - 0.95**2), rel=2e-2)


def test_what_spins_is_held_by_the_moment_of_its_area() -> None:
    """α = μ m g r/I with r = 2√2/3 of the radius of gyration of a square, a/√6; then it stands, turned."""
    mu, spin = 0.3, 2.0
    system = nx.System("top")
    brick(system, "box", (0.0, 0.0, 0.5 * HEIGHT - G / (K * EDGE**2)))
    system.add_joint(nx.Free("free", "ground", "box", v0=(0.0, 0.0, spin, 0.0, 0.0, 0.0)))
    system.add_contact(nx.Contact("c", "box", foundation_b=K, friction=mu, damping=300.0))
    result = nx.simulate(system, 0.3, nx.HHT())
    I = EDGE**2 / 6.0
    alpha = mu * G * (2.0 * math.sqrt(2.0) / 3.0) * EDGE / math.sqrt(6.0) / I
    w, t = result.angular_velocity("box").values[:, 2], result.t.values
    k = int(np.searchsorted(t, 0.5 * spin / alpha))
    assert (spin - w[k]) / t[k] == pytest.approx(alpha, rel=1e-2)
    assert abs(w[-1]) < 1e-8
    moment = result.contacts("c").moment.values[k, 0]
    assert moment[2] == pytest.approx(-alpha * I, rel=1e-2)


def test_what_slides_while_it_spins_is_held_by_less_against_each() -> None:
    system = nx.System("puck")
    brick(system, "box", (0.0, 0.0, 0.5 * HEIGHT - G / (K * EDGE**2)))
    system.add_joint(nx.Free("free", "ground", "box", v0=(0.0, 0.0, 20.0, 0.3, 0.0, 0.0)))
    system.add_contact(nx.Contact("c", "box", foundation_b=K, friction=0.3, damping=300.0))
    contact = nx.simulate(system, 0.02, nx.HHT()).contacts("c").isel(time=-1, contact=0)
    r = (2.0 * math.sqrt(2.0) / 3.0) * EDGE / math.sqrt(6.0)
    most = 0.3 * contact.normal.item()
    assert 0.05 * most < contact.tangential.item() < 0.6 * most
    assert math.hypot(contact.tangential.item(), abs(contact.moment.values[2]) / r) == pytest.approx(most, rel=1e-2)


def stack(n: int) -> nx.System:
    system = nx.System("stack")
    for i in range(n):
        brick(system, f"b{i}", (0.01 * i, 0.0, HEIGHT * (i + 0.5)))
        system.add_joint(nx.Free(f"free{i}", "ground", f"b{i}"))
    law: dict[str, Any] = {"damping": 300.0, "friction": 0.5}
    system.add_contact(nx.Contact("floor", "b0", foundation_b=K, **law))
    system.add_contact(nx.Contact("between", "b*", "b*", foundation_a=2 * K, foundation_b=2 * K, **law))
    return system


@pytest.mark.parametrize("method", ["hht", "implicit-euler", "rk4"])
def test_a_stack_stands_where_its_equilibrium_is(method: str) -> None:
    chosen, options = METHODS[method]
    system = stack(3)
    rest = nx.equilibrium(system)
    result = nx.simulate(system, 1.5, chosen, **options)
    for i in range(3):
        at, found = rest.report.q[i + 1, 4:], result.position(f"b{i}").values[-1]
        assert found[2] == pytest.approx(at[2], abs=1e-6)
    assert result.contact_load("ground").force.values[-1] == pytest.approx((0.0, 0.0, -3.0 * G), abs=1e-4)
    told = result.touches("between")
    assert {(touch["a"], touch["b"]) for touch in told} == {("b0", "b1"), ("b1", "b2")}
    assert abs(result.velocity().values[-1]).max() < 1e-5


def test_a_stack_starts_at_rest_in_its_equilibrium() -> None:
    system = stack(2)
    rest = nx.equilibrium(system)
    result = nx.simulate(system, 0.5, nx.HHT(), initial=rest.report)
    assert abs(result.velocity().values).max() < 1e-7


def test_a_box_bounces_and_keeps_its_energy() -> None:
    system = nx.System("drop")
    brick(system, "box", (0.0, 0.0, 0.5 * HEIGHT + 0.01))
    system.add_joint(nx.Free("free", "ground", "box", v0=(0.1, 0.2, 0.0, 0.0, 0.0, 0.0)))
    system.add_contact(nx.Contact("c", "box", foundation_b=K))
    result = nx.simulate(system, 0.3, nx.HHT(alpha=0.0, rtol=1e-8))
    energy = result.energy()
    total = energy.total.values
    assert np.ptp(total) < 1e-4 * (total[0] + G * 0.5 * HEIGHT)
    assert result.contacts("c").normal.values.max() > 20.0
    # it lifts off again
    assert result.contacts("c").normal.values[-1, 0] == 0.0 or result.velocity("box").values[:, 2].max() > 0.2


def test_a_box_tips_where_the_slope_is_steeper_than_it_is_wide() -> None:
    """A cube tips where tan φ > 1, with enough friction: from its rest at 0.9 never, at 1.1 over its lower edge."""
    turned = []
    for steep in (0.9, 1.1):
        phi = math.atan(steep)
        system = nx.System("tips", gravity=(G * math.sin(phi), 0.0, -G * math.cos(phi)))
        system.add_body("box", mass=1.0, position=(0.0, 0.0, 0.5 * EDGE), shapes=[nx.Box((EDGE, EDGE, EDGE))])
        system.add_joint(nx.Free("free", "ground", "box"))
        system.add_contact(nx.Contact("c", "box", foundation_b=1e8, friction=2.0, damping=100.0))
        rest = nx.equilibrium(system).report if steep < 1.0 else None
        result = nx.simulate(system, 0.6, nx.HHT(), initial=rest)
        q = result.orientation("box").values[:, 2]
        turned.append(abs(q - q[0]).max())
    assert turned[0] < 1e-6
    assert turned[1] > 0.3


def cards(part: float, theta: float = 0.25, thick: float = 0.004, height: float = 0.2) -> nx.System:
    """Two cards that lean against each other at θ from the vertical, the friction of the floor `part` of what they need: about the
    lower corner of a card, its weight against the push at the top, μ = (x_com − x_low)/z_top (½ tan θ of thin ones)."""
    places, needed = [], 0.0
    for side in (-1, 1):
        c, s = math.cos(theta), -side * math.sin(theta)
        R = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        corners = {(x, z): R @ (0.5 * x * thick, 0.0, 0.5 * z * height) for x in (-1, 1) for z in (-1, 1)}
        low, top = min(corners.values(), key=lambda x: x[2]), corners[-side, 1]
        places.append((-top[0], 0.0, -low[2]))
        needed = abs(low[0]) / (top[2] - low[2])
    system = nx.System("cards")
    for side, at in zip((-1, 1), places, strict=True):
        turn = (math.cos(0.5 * theta), 0.0, -side * math.sin(0.5 * theta), 0.0)
        card = nx.Box((thick, 0.1, height))
        system.add_body("left" if side < 0 else "right", mass=0.1, position=at, orientation=turn, shapes=[card])
    law: dict[str, Any] = {"damping": 50.0}
    system.add_contact(nx.Contact("floor", ["left", "right"], foundation_b=1e9, friction=part * needed, **law))
    system.add_contact(nx.Contact("top", "left", "right", foundation_a=2e9, foundation_b=2e9, friction=0.9, **law))
    return system


@pytest.mark.parametrize(("part", "stands"), [(1.05, True), (0.95, False)])
def test_two_cards_lean_against_each_other(part: float, stands: bool) -> None:
    result = nx.simulate(cards(part), 1.0, nx.HHT())
    fallen = 1.0 - result.position("left").values[-1, 2] / result.position("left").values[0, 2]
    assert (fallen < 0.01) == stands
    assert stands or fallen > 0.1


# --- what is described ----------------------------------------------------------------------------------------------


def test_a_scene_has_foundations() -> None:
    system = slope(0.5)
    told = to_dict(system)
    assert told["contacts"]["c"]["foundation_b"] == K
    again = from_dict(told)
    assert again.contact("c").foundation_b == K
    assert [f.name for f in again.forces.values()] == ["c box ground"]
    assert to_dict(again) == told


def test_a_foundation_is_a_parameter_like_others() -> None:
    system = slope(0.5)
    (force,) = system.with_parameters({"c.foundation_b": 2e6}).forces.values()
    assert force.data({})[0] == 2e6


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "stiffness": ({"stiffness": 1e5, "foundation_b": K}, "has a foundation, over areas, and stiffness, of points"),
    "material": ({"material_a": "steel", "foundation_b": K}, "has a material of one side; give material_b as well"),
    "exponent": ({"exponent": 1.2, "foundation_b": K}, "the pressure of a foundation is linear"),
    "negative": ({"foundation_b": -1.0}, "foundation_b of .* is -1; it must be greater than 0"),
    "nothing": ({}, "has no stiffness; give one, or material_a and material_b, or foundation_a or foundation_b"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_laws_are_named(case: str) -> None:
    system = nx.System("wrong")
    brick(system, "box", (0.0, 0.0, 0.1))
    given, said = WRONG[case]
    with pytest.raises(nx.InputError, match=said):
        system.add_contact(nx.Contact("c", "box", **given))


def test_two_half_spaces_are_refused() -> None:
    system = nx.System("walls")
    system.add_body("wall", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[nx.HalfSpace()])
    with pytest.raises(nx.InputError, match="have no end, and touch always; one must have another shape"):
        system.add_contact(nx.Contact("d", "wall", foundation_b=K))


def test_info_tells_of_areas() -> None:
    found = _contact(stack(2), "between")
    assert (found["of"], found["unit"], found["points"], found["stiffness"]) == ("area", "N/m^3", 1, [K])

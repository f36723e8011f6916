"""What resists rolling and turning in contacts: by how much, until when it sticks, under every method."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.cli.door import main
from nexdyn.describe import from_dict, to_dict
from nexdyn.forces.contact_data import OVERLAP, POINT_DATA

G, R, M = 9.81, 0.1, 1.0
ARM = 0.002
"""Rolling resistance [m]."""
SPIN = 0.001
"""Turning resistance [m]."""
METHODS: dict[str, Any] = {
    "rk4": nx.RungeKutta4(1e-4),
    "hht": nx.HHT(),
    "hht dt": nx.HHT(dt=1e-3),
    "projection": nx.Projection(rtol=1e-8),
    "baumgarte": nx.Baumgarte(dt=1e-4),
    "euler": nx.ImplicitEuler(1e-3),
    "bdf2": nx.ImplicitEuler(1e-3, bdf2=True),
}
POINT: dict[str, Any] = {"stiffness": 1e6, "damping": 5.0}
AREA: dict[str, Any] = {"foundation_b": 1e9}
DEEP = {"stiffness": (M * G / 1e6) ** (2.0 / 3.0), "foundation_b": math.sqrt(M * G / (math.pi * R * 1e9))}
"""How deep a ball is pressed in at rest, on a half-space at a point and over an area, nearly [m]."""
SOLID = 0.4


def ball(
    slope: float = 0.0, v0: Any = None, shape: nx.Shape | None = None, swapped: bool = False, **law: Any
) -> nx.System:
    """A solid ball at rest in the ground, which leans along x, or rolling there."""
    system = nx.System("ball", gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)))
    given = {"friction": 0.5, **(law if "stiffness" in law or "foundation_b" in law else {**POINT, **law})}
    depth = next(deep for name, deep in DEEP.items() if name in given)
    J = SOLID * M * R * R
    system.add_body("ball", mass=M, inertia=(J, J, J), position=(0, 0, R - depth), collision=[shape or nx.Sphere(R)])
    system.add_joint(nx.Free("free", "ground", "ball", v0=v0))
    system.add_contact(nx.Contact("on", *(("ground", "ball") if swapped else ("ball",)), **given))
    return system


def rolling(v: float) -> tuple[float, ...]:
    """v0 of a ball that rolls along x."""
    return (0.0, v / R, 0.0, v, 0.0, 0.0)


def test_the_numbers_of_what_resists_stand_between_those_of_points_and_of_areas() -> None:
    force = next(iter(ball(rolling_resistance=ARM, turning_resistance=SPIN).forces.values()))
    assert_allclose(force.data({})[POINT_DATA:OVERLAP], [ARM, SPIN, 1.0])
    # a ball of the ground: l² = I/m = 0.4 r², the arms have the ratio of the resistances, and c is the larger one
    system = ball(rolling_resistance=ARM, turning_resistance=SPIN)
    longer = math.sqrt(SOLID) * R / ARM
    (force,) = system.forces.values()
    assert_allclose(force.data_in(system)[POINT_DATA:OVERLAP], [longer * ARM, longer * SPIN, 1.0 / longer], rtol=1e-12)


@pytest.mark.parametrize("law", [POINT, AREA], ids=["point", "area"])
@pytest.mark.parametrize("name", METHODS)
def test_a_ball_rolls_out_and_stands(name: str, law: dict[str, Any]) -> None:
    """(m r² + I) v̇/r = −c_r m g, with the height of the centre for r where the torque of friction acts."""
    v = 0.1
    result = nx.simulate(ball(v0=rolling(v), rolling_resistance=ARM, **law), 1.5, METHODS[name])
    t, x = result.t.values, result.position("ball").values[:, 0]
    h = R - next(deep for key, deep in DEEP.items() if key in law)
    slower = ARM * G / h / (1.0 + SOLID * R * R / h**2)
    stops = v / slower
    assert stops < 1.2
    before = t < 0.9 * stops
    assert_allclose(x[before], v * t[before] - 0.5 * slower * t[before] ** 2, rtol=0, atol=0.02 * v * stops)
    after = t > stops + 0.4
    assert after.sum() > 3
    assert np.abs(x[after] - x[-1]).max() < 1e-6
    assert x[-1] == pytest.approx(0.5 * v * stops, rel=0.03)


@pytest.mark.parametrize("name", ["hht", "hht dt", "rk4", "euler", "bdf2"])
def test_a_ball_stays_on_a_slope_up_to_its_arm_beside_its_radius(name: str) -> None:
    """5 % below tan φ = c_r/h it does not creep; 5 % above it rolls."""
    most = ARM / (R - DEEP["stiffness"])
    stays = nx.simulate(ball(math.atan(0.95 * most), rolling_resistance=ARM), 3.0, METHODS[name], output_every=10)
    t, x = stays.t.values, stays.position("ball").values[:, 0]
    assert np.abs(x[t > 2.0] - x[-1]).max() < 5e-8 and abs(x[-1]) < 1e-3
    slope = math.atan(1.05 * most)
    goes = nx.simulate(ball(slope, rolling_resistance=ARM), 1.0, METHODS[name])
    a = G * (math.sin(slope) - most * math.cos(slope)) / (1.0 + SOLID)
    v, t = goes.velocity("ball").values[:, 0], goes.t.values
    late = t > 0.5
    assert np.polyfit(t[late], v[late], 1)[0] == pytest.approx(a, rel=0.05)


@pytest.mark.parametrize("name", ["hht", "hht dt", "rk4", "euler", "bdf2"])
def test_a_ball_that_spins_is_held_by_the_turning_resistance_alone(name: str) -> None:
    """I ω̇ = −c_t m g about the vertical, and then it stands."""
    w = 2.0
    result = nx.simulate(ball(v0=(0, 0, w, 0, 0, 0), turning_resistance=SPIN), 1.2, METHODS[name])
    t, spin = result.t.values, result.angular_velocity("ball").values[:, 2]
    slower = SPIN * M * G / (SOLID * M * R * R)
    stops = w / slower
    before = t < 0.95 * stops
    assert_allclose(spin[before], w - slower * t[before], rtol=0, atol=0.01 * w)
    assert np.abs(spin[t > stops + 0.3]).max() < 1e-4
    # and a ball that has none spins for ever
    free = nx.simulate(ball(v0=(0, 0, w, 0, 0, 0)), 0.5, METHODS[name])
    assert free.angular_velocity("ball").values[-1, 2] == pytest.approx(w, abs=1e-9)


ROUND: dict[str, nx.Shape] = {
    "cylinder": nx.Cylinder(R, 0.1, orientation=(math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)),
    "capsule": nx.Capsule(R, 0.1, orientation=(math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)),
}


@pytest.mark.parametrize("shape", ROUND)
def test_wheels_over_areas_roll_out(shape: str) -> None:
    """And with the sides in the other order."""
    ends = []
    for swapped in (False, True):
        law = {"foundation_a" if swapped else "foundation_b": 1e9}
        system = nx.System("wheel", gravity=(0.0, 0.0, -G))
        J = 0.5 * M * R * R
        system.add_body("wheel", mass=M, inertia=(J, J, J), position=(0, 0, R - 2e-6), collision=[ROUND[shape]])
        system.add_joint(nx.Free("free", "ground", "wheel", v0=rolling(0.1)))
        sides = ("ground", "wheel") if swapped else ("wheel",)
        system.add_contact(nx.Contact("on", *sides, friction=0.5, rolling_resistance=ARM, **law))
        result = nx.simulate(system, 1.5, nx.HHT(dt=1e-3))
        ends.append(result.position("wheel").values[:, 0])
    stops = 0.1 / (ARM * G / R / 1.5)
    for x in ends:
        assert x[-1] == pytest.approx(0.05 * stops, rel=0.02)
        assert abs(x[-1] - x[-100]) < 1e-7
    assert_allclose(ends[0], ends[1], rtol=0, atol=1e-7)


@pytest.mark.parametrize("law", [POINT, AREA], ids=["point", "area"])
def test_balls_do_not_know_which_is_first(law: dict[str, Any]) -> None:
    """Two balls that strike and spin, with all that friction has, a and b changed."""
    given = {"friction": 0.4, "rolling_resistance": ARM, "turning_resistance": SPIN, "friction_across": 0.2}
    given |= {"foundation_a" if name == "foundation_b" else name: x for name, x in law.items()}
    given |= {"foundation_b": given["foundation_a"]} if "foundation_a" in given else {}
    ends = []
    for order in ("pq", "qp"):
        system = nx.System("balls", gravity=(0.0, 0.0, 0.0))
        J = SOLID * M * R * R
        for name, x, w in (("p", 0.0, 2.0), ("q", 2.0 * R + 1e-5, -1.0)):
            system.add_body(name, mass=M, inertia=(J, J, J), position=(x, 0, 0), collision=[nx.Sphere(R)])
            system.add_joint(nx.Free(f"f{name}", "ground", name, v0=(w, 0.5, w, 0.1 * w, 0.1 * w, 0.0)))
        along = {"friction_direction_a" if order == "pq" else "friction_direction_b": (0.0, 1.0, 0.5)}
        system.add_contact(nx.Contact("on", order[0], order[1], **given, **along))
        result = nx.simulate(system, 5e-3, nx.HHT(dt=2e-5))
        assert result.contacts("on").normal.values.max() > 1.0
        ends.append(
            np.concatenate([getattr(result, x)(b).values[-1] for x in ("velocity", "angular_velocity") for b in "pq"])
        )
    # what friction holds turns with b: between two bodies that turn by less than a hundredth of a turn it is nearly the same
    assert_allclose(ends[0], ends[1], rtol=0, atol=2e-3)


def test_two_balls_that_meet_alike_stay_alike() -> None:
    """By symmetry neither is pushed aside."""
    system = nx.System("balls", gravity=(0.0, 0.0, 0.0))
    J = SOLID * M * R * R
    for name, x, w in (("p", 0.0, 2.0), ("q", 2.0 * R + 1e-5, -2.0)):
        system.add_body(name, mass=M, inertia=(J, J, J), position=(x, 0, 0), collision=[nx.Sphere(R)])
        system.add_joint(nx.Free(f"f{name}", "ground", name, v0=(0.0, 0.0, w, 0.1 * w, 0.0, 0.0)))
    system.add_contact(nx.Contact("on", "p", "q", friction=0.3, rolling_resistance=ARM, **POINT))
    result = nx.simulate(system, 5e-3, nx.HHT(dt=2e-5))
    p, q = (result.angular_velocity(name).values[-1] for name in "pq")
    assert_allclose(p, -q, rtol=0, atol=1e-12)
    assert np.abs(result.velocity("p").values[:, 1:]).max() < 1e-12


@pytest.mark.parametrize("name", ["hht dt", "rk4", "euler"])
def test_a_large_resistance_lets_nothing_roll(name: str) -> None:
    """A hundred metres, or a part of a number's last place: it slides, or rolls as without."""
    held = nx.simulate(ball(v0=rolling(0.3), rolling_resistance=100.0), 0.2, METHODS[name])
    w = held.angular_velocity("ball").values[:, 1]
    assert abs(w[-1]) < 0.05 * w[0]
    free = nx.simulate(ball(v0=rolling(0.3), rolling_resistance=1e-320), 0.2, METHODS[name])
    assert free.velocity("ball").values[-1, 0] == pytest.approx(0.3, rel=2e-3)  # it rolls on a radius less its depth


def test_an_event_may_change_it_but_not_make_it() -> None:
    system = ball(v0=rolling(0.3), rolling_resistance=ARM)
    system.add_event(nx.Event("sand", time=0.1, parameters={"on.rolling_resistance": 10.0 * ARM}))
    slower = nx.simulate(system, 0.2, nx.HHT(dt=1e-3)).velocity("ball").values[:, 0]
    assert slower[50] - slower[90] < 0.2 * (slower[110] - slower[150])
    for begins, ends in ((ARM, 0.0), (0.0, ARM)):
        system = ball(v0=rolling(0.3), rolling_resistance=begins)
        system.add_event(nx.Event("sand", time=0.1, parameters={"on.rolling_resistance": ends}))
        with pytest.raises(
            nx.InputError, match="event 'sand' makes friction or resistance of force 'on ball ground' begin or end"
        ):
            nx.simulate(system, 0.2, nx.HHT(dt=1e-3))


def test_what_bears_a_massless_foot_counts() -> None:
    """A ball that a Fixed joint holds to a body has what resists it by the mass of both."""
    system = nx.System("foot", gravity=(0.0, 0.0, -G))
    system.add_body("leg", mass=M, inertia=(0.01, 0.01, 0.01), position=(0, 0, 0.3))
    system.add_body("foot", position=(0, 0, R), collision=[nx.Sphere(R)])
    system.add_joint(nx.Free("free", "ground", "leg"))
    system.add_joint(nx.Fixed("ankle", "leg", "foot"))
    system.add_contact(nx.Contact("on", "foot", friction=0.5, rolling_resistance=ARM, **POINT))
    (force,) = system.forces.values()
    assert_allclose(force.data_in(system)[POINT_DATA:OVERLAP], [0.1, 0.0, ARM / 0.1], rtol=1e-12)


def test_both_ends_of_a_capsule_and_balls_on_balls_roll() -> None:
    """A capsule that lies rolls out as a wheel does; of two balls between plates the resistance of each contact counts."""
    system = nx.System("capsule", gravity=(0.0, 0.0, -G))
    J = 0.4 * M * R * R
    lying = nx.Capsule(R, 0.2, orientation=(math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))
    system.add_body("can", mass=M, inertia=(J, J, J), position=(0, 0, R - 3e-4), collision=[lying])
    system.add_joint(nx.Free("free", "ground", "can", v0=rolling(0.1)))
    system.add_contact(nx.Contact("on", "can", friction=0.5, rolling_resistance=ARM, **POINT))
    assert sorted(system.forces) == ["on can ground end 1", "on can ground end 2"]
    result = nx.simulate(system, 1.5, nx.HHT(dt=1e-3))
    stops = 0.1 / (ARM * G / R / 1.4)
    assert result.position("can").values[-1, 0] == pytest.approx(0.05 * stops, rel=0.03)

    stack = nx.System("balls", gravity=(0.0, 0.0, -G))
    for i, z in enumerate((R, 3.0 * R)):
        stack.add_body(
            f"b{i}", mass=M, inertia=(J, J, J), position=(0, 0, z - 4e-4 * (i + 1)), collision=[nx.Sphere(R)]
        )
        stack.add_joint(nx.Free(f"f{i}", "ground", f"b{i}", v0=(0, 0, 1.0 * i, 0, 0, 0)))
    stack.add_contact(nx.Contact("on", "b*", ("ground", "b*"), friction=0.5, turning_resistance=SPIN, **POINT))
    spin = nx.simulate(stack, 0.3, nx.HHT(dt=1e-3))
    # the upper is held by its weight, the lower driven by it and held by twice as much: it stays
    assert spin.angular_velocity("b1").values[-1, 2] == pytest.approx(1.0 - 0.3 * SPIN * M * G / J, abs=0.03)
    assert abs(spin.angular_velocity("b0").values[-1, 2]) < 1e-3


@pytest.mark.parametrize("law", [POINT, AREA], ids=["point", "area"])
def test_a_ball_on_a_slope_is_an_equilibrium_up_to_its_arm(law: dict[str, Any]) -> None:
    most = ARM / R
    system = ball(math.atan(0.9 * most), rolling_resistance=ARM, turning_resistance=SPIN, **law)
    rest = nx.equilibrium(system)
    assert rest.stability == "stable"
    result = nx.simulate(system, 0.5, nx.HHT(dt=1e-3), initial=rest.report)
    assert np.abs(result.velocity("ball").values).max() < 1e-6
    with pytest.raises(nx.SolveError, match="no equilibrium"):
        nx.equilibrium(ball(math.atan(1.1 * most), rolling_resistance=ARM, turning_resistance=SPIN, **law))


def test_it_sways_in_what_resists_as_linearize_says() -> None:
    """A ball at rest sways with the frequency of the eigenvalue."""
    system = ball(rolling_resistance=ARM, turning_resistance=SPIN)
    rest = nx.equilibrium(system)
    linear = nx.linearize(system, at=rest)
    roots = linear.eigenvalues
    sways = roots[(np.abs(roots.imag) > 10.0) & (roots.real > -40.0)]
    slow = sways[np.argmin(np.abs(sways.imag))]
    result = nx.simulate(system, 0.5, nx.HHT(rtol=1e-6), initial=rest.report, v0={"free": rolling(1e-5)})
    t, x = result.t.values, result.position("ball").values[:, 0]
    x = x - x[-1]
    crossings = t[1:][(x[:-1] < 0.0) & (x[1:] >= 0.0)]
    assert len(crossings) > 3
    assert 2.0 * math.pi / np.diff(crossings)[:3].mean() == pytest.approx(abs(slow.imag), rel=0.02)


@pytest.mark.parametrize("name", ["hht", "rk4", "euler", "bdf2"])
def test_a_run_cut_in_two_is_one_run(name: str, tmp_path: Path) -> None:
    system = ball(v0=(0.0, 1.0, 2.0, 0.1, 0.0, 0.0), rolling_resistance=ARM, turning_resistance=SPIN)
    whole = nx.simulate(system, 0.4, METHODS[name])
    half = nx.simulate(system, 0.2, METHODS[name])
    half.save(tmp_path / "half.nc")
    rest = nx.simulate(system, 0.4, METHODS[name], initial=nx.open_result(tmp_path / "half.nc"))
    assert len(whole.force_state()) and whole.force_state().shape[-1] == 8
    within = 2e-7 if name == "hht" else 1e-9  # its steps end where the first half does: another error of theirs
    for what in ("position", "velocity"):
        assert_allclose(
            getattr(rest, what)("ball").values[-1], getattr(whole, what)("ball").values[-1], rtol=0, atol=within
        )
    assert_allclose(rest.force_state().values[-1], whole.force_state().values[-1], rtol=0, atol=max(within, 1e-7))


def test_it_makes_no_energy() -> None:
    """Of a ball that rolls, spins and slides, what it holds and what moves only becomes less."""
    result = nx.simulate(
        ball(v0=(3.0, 1.0, 20.0, 0.4, -0.2, 0.0), rolling_resistance=ARM, turning_resistance=SPIN, **AREA),
        1.0,
        nx.RungeKutta4(5e-5),
    )
    energy = result.energy().total.values
    assert np.diff(energy).max() < 1e-9 * energy[0]
    assert energy[-1] < 0.8 * energy[0]


def test_scenes_and_parameters_know_it() -> None:
    system = ball(rolling_resistance=ARM, turning_resistance=SPIN)
    again = from_dict(to_dict(system)).contact("on")
    assert (again.rolling_resistance, again.turning_resistance) == (ARM, SPIN)
    one = system.with_parameters({"on.rolling_resistance": 3.0 * ARM})
    (force,) = one.forces.values()
    assert force.data({})[POINT_DATA] == 3.0 * ARM


def test_a_moment_of_contact_is_what_it_resists_by() -> None:
    result = nx.simulate(ball(v0=rolling(0.3), rolling_resistance=ARM), 0.3, nx.HHT(dt=1e-3))
    told = result.contacts("on")
    moment = told.moment.values[-1, 0]
    assert_allclose(moment, (0.0, -ARM * told.normal.values[-1, 0], 0.0), rtol=0, atol=1e-7)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "negative": ({"rolling_resistance": -1e-3}, "rolling_resistance of .* is -0.001; it must be 0 or more"),
    "not a number": ({"turning_resistance": "much"}, "turning_resistance"),
    "regularised": (
        {"rolling_resistance": ARM, "friction_speed": 1e-3},
        "resists rolling or turning, .* and has a friction_speed",
    ),
    "corners": ({"rolling_resistance": ARM, "shape": nx.Box((0.2, 0.2, 0.2))}, "do not on corners"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_valid_is_refused_by_name(name: str) -> None:
    given, message = REFUSED[name]
    with pytest.raises(nx.InputError, match=message):
        nx.simulate(ball(**given), 0.1, nx.HHT(dt=1e-3))


def test_info_tells_directions_resistances_and_surfaces_that_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = nx.System("ball")
    system.add_body("ball", mass=1.0, position=(0.0, 0.0, 0.1), shapes=[nx.Sphere(0.1)])
    system.add_joint(nx.Free("free", "ground", "ball"))
    system.parameter("arm", 0.002)
    system.add_contact(
        nx.Contact(
            "floor",
            "ball",
            "ground",
            stiffness=1e5,
            exponent=1.5,
            friction=0.5,
            friction_across=0.2,
            friction_direction_b=(1, 0, 0),
            rolling_resistance="=arm",
            turning_resistance=0.001,
            surface_velocity_b=(0.3, 0, 0),
        )
    )
    path = tmp_path / "ball.yaml"
    nx.save_scene(system, path)
    assert main(["info", str(path)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "contact floor: 1 point, ball and ground; k = 100000 N/m^1.5, μ = 0.5 along the direction (1, 0, 0) of b, 0.2 across, "
        "sticks with 0.82 of the stiffness; against rolling 0.002 m; against turning 0.001 m; the surface of b runs"
    ) in told

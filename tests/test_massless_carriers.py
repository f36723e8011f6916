"""Bodies without mass between joints: the mass matrix must be definite only on what the constraints leave free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nexdyn as nx

G = (0.0, 0.0, -9.81)


def universal_of_two_hinges(tilt: float = 0.0) -> nx.System:
    """A rod on two hinges that cross; the cross has no mass. With the second axis tilted, rounding would decide on a pivot."""
    system = nx.System("cross", gravity=G)
    cross = system.add_body("cross", mass=0.0, inertia=(0, 0, 0))
    rod = system.add_body("rod", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("a", system.ground, cross, at=(0, 0, 0), axis=(0, 1, 0), v0=0.5))
    system.add_joint(nx.Revolute("b", cross, rod, at=(0, 0, 0), axis=(np.sin(tilt), 0, np.cos(tilt)), v0=1.0))
    return system


def pendulum_on_a_slider() -> nx.System:
    """The slider has no mass, but moves the pendulum."""
    system = nx.System("slider", gravity=G)
    slider = system.add_body("slider", mass=0.0, inertia=(0, 0, 0))
    rod = system.add_body("rod", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Prismatic("a", system.ground, slider, at=(0, 0, 0), axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("b", slider, rod, at=(0, 0, 0), axis=(0, 1, 0), v0=1.0))
    return system


def four_bar_with_a_massless_coupler() -> nx.System:
    system = nx.System("four-bar", gravity=G)
    crank = system.add_body("crank", mass=1.0, inertia=(0.02, 0.02, 0.001), position=(0, 0, 0.25))
    coupler = system.add_body("coupler", mass=0.0, inertia=(0, 0, 0), position=(0.6, 0, 0.75))
    rocker = system.add_body("rod", mass=1.0, inertia=(0.08, 0.08, 0.001), position=(1.2, 0, 0.5))
    for name, a, b, at in (
        ("A", system.ground, crank, (0, 0, 0)), ("B", crank, coupler, (0, 0, 0.5)),
        ("C", coupler, rocker, (1.2, 0, 1.0)), ("D", system.ground, rocker, (1.2, 0, 0)),
    ):  # fmt: skip
        system.add_joint(nx.Revolute(name, a, b, at=at, axis=(0, 1, 0), v0=2.0 if name == "A" else None))
    return system


def link_on_a_hinge_and_a_ball() -> nx.System:
    """A body hangs on a bar without mass, which a hinge holds to the ground and a ball to the body."""
    system = nx.System("link", gravity=G)
    bar = system.add_body("bar", mass=0.0, inertia=(0, 0, 0), position=(0.5, 0, 0))
    rod = system.add_body("rod", mass=1.0, inertia=(0.02, 0.05, 0.06), position=(1.2, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Spherical("ball", bar, rod, at=(1, 0, 0)))
    return system


def ball_of_three_hinges() -> nx.System:
    """As Modelica's models have them: three hinges one after the other, without a mass between them."""
    system = nx.System("gimbals", gravity=G)
    outer = system.add_body("outer", mass=0.0, inertia=(0, 0, 0))
    inner = system.add_body("inner", mass=0.0, inertia=(0, 0, 0))
    rod = system.add_body("rod", mass=1.0, inertia=(0.02, 0.1, 0.12), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("x", system.ground, outer, at=(0, 0, 0), axis=(1, 0, 0), v0=0.3))
    system.add_joint(nx.Revolute("y", outer, inner, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("z", inner, rod, at=(0, 0, 0), axis=(0, 0, 1), v0=1.0))
    return system


SYSTEMS: dict[str, Callable[[], nx.System]] = {
    "universal": universal_of_two_hinges, "tilted": lambda: universal_of_two_hinges(0.4), "slider": pendulum_on_a_slider,
    "four-bar": four_bar_with_a_massless_coupler, "link": link_on_a_hinge_and_a_ball, "gimbals": ball_of_three_hinges,
}  # fmt: skip
T = 0.5


def reaction(result: nx.Result, joint: str) -> np.ndarray:
    return np.asarray(result.reaction(joint).values[-1])


@pytest.fixture(scope="module", params=SYSTEMS)
def exact(request: pytest.FixtureRequest) -> tuple[nx.System, np.ndarray, dict[str, np.ndarray]]:
    """A system, where the tree's RungeKutta4 leaves the rod, and the reactions there."""
    system = SYSTEMS[request.param]()
    result = nx.simulate(system, T, nx.RungeKutta4(dt=5e-4))
    return system, result.position("rod").values[-1], {j: reaction(result, j) for j in system.joints}


@pytest.mark.parametrize(
    "method",
    [nx.Projection(dt=1e-3), nx.Projection(rtol=1e-10), nx.Baumgarte(rtol=1e-10), nx.Partitioning(dt=2e-4)],
    ids=repr,
)
def test_explicit_methods_in_absolute_coordinates_carry_them_as_trees_do(exact: Any, method: Any) -> None:
    system, end, reactions = exact
    result = nx.simulate(system, T, method)
    np.testing.assert_allclose(result.position("rod").values[-1], end, atol=1e-8)
    for joint, force in reactions.items():
        np.testing.assert_allclose(reaction(result, joint), force, atol=1e-6 * 9.81)


@pytest.mark.parametrize(
    ("method", "order"),
    [(nx.HHT, 2.0), (lambda dt: nx.ImplicitEuler(dt, bdf2=True), 2.0), (nx.ImplicitEuler, 1.0)],
    ids=["hht", "bdf2", "implicit-euler"],
)
def test_implicit_methods_keep_their_order_with_them(exact: Any, method: Any, order: float) -> None:
    system, end, _ = exact
    errors = []
    for dt in (2e-3, 1e-3):
        made = method(dt=dt)
        errors.append(np.abs(nx.simulate(system, T, made, output_every=1000).position("rod").values[-1] - end).max())
    assert errors[1] < 2e-2
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_hht_keeps_its_tolerance_with_them(exact: Any) -> None:
    system, end, reactions = exact
    result = nx.simulate(system, T, nx.HHT(rtol=1e-8))
    np.testing.assert_allclose(result.position("rod").values[-1], end, atol=1e-7)
    for joint, force in reactions.items():
        np.testing.assert_allclose(reaction(result, joint), force, atol=1e-5 * 9.81)


def test_where_a_loop_is_cut_a_massless_coupler_moves_alike_or_the_cut_that_serves_is_named() -> None:
    system = four_bar_with_a_massless_coupler()
    usual = nx.simulate(system, T, nx.Projection(dt=1e-3)).position("rod").values[-1]
    result = nx.simulate(system, T, nx.RungeKutta4(dt=1e-3), loops=nx.Loops(cut="D"))
    np.testing.assert_allclose(result.position("rod").values[-1], usual, atol=1e-8)
    with pytest.raises(
        nx.SingularError, match=r"'B' moves no inertia.*cut open at C: cut others, like nx.Loops\(cut=\('D',\)\)"
    ):
        nx.simulate(system, T, nx.RungeKutta4(dt=1e-3), loops=nx.Loops(cut="C"))


HINGES = (
    ("j1", "ground", "crank", (0, 0, 0), (1, 0, 0)), ("j3", "crank", "outer", (0, 0.5, 0.1), (1, 0, 0)),
    ("j4", "outer", "inner", (0, 0.5, 0.1), (0, 1, 0)), ("j5", "inner", "rod", (0, 0.5, 0.1), (0, 0, 1)),
    ("rev1", "rod", "cross", (1, 0.2, 0), (0, 0, 1)), ("rev", "cross", "slide", (1, 0.2, 0), (0, 1, 0)),
    ("j2", "slide", "ground", (1, 0, 0), (1, 0, 0)),
)  # fmt: skip


def fourbar1(cut: int) -> nx.System:
    """Modelica's Fourbar1 with its own joints: children are those of a tree in which one joint is cut open."""
    system = nx.System("Fourbar1", gravity=(0, -9.80665, 0))
    for name, mass, moment, at in (
        ("crank", 7.7, 0.17, (0, 0.25, 0.05)), ("rod", 15.8, 1.45, (0.5, 0.35, 0.05)), ("slide", 3.0, 0.01, (1, 0.1, 0)),
        ("outer", 0.0, 0.0, (0, 0.5, 0.1)), ("inner", 0.0, 0.0, (0, 0.5, 0.1)), ("cross", 0.0, 0.0, (1, 0.2, 0)),
    ):  # fmt: skip
        system.add_body(name, mass=mass, inertia=(moment, moment, moment), position=at)
    for k, (name, a, b, at, axis) in enumerate(HINGES):
        kind = nx.Prismatic if name == "j2" else nx.Revolute
        a, b = (b, a) if k > cut or name == "j2" else (a, b)
        system.add_joint(kind(name, a, b, at=at, axis=axis, v0=5.0 if name == "j1" else None))
    return system


@pytest.mark.parametrize("cut", range(len(HINGES)), ids=[name for name, *_ in HINGES])
def test_a_loop_of_seven_joints_moves_alike_under_every_cut_that_leaves_no_massless_end(cut: int) -> None:
    exact = nx.simulate(fourbar1(cut), T, nx.Projection(rtol=1e-11, atol=1e-13)).position("slide").values[-1]
    name, *bodies = HINGES[cut][:3]
    if {"outer", "inner", "cross"} & set(bodies):
        with pytest.raises(nx.SingularError, match=f"moves no inertia.*cut open at {name}"):
            nx.simulate(fourbar1(cut), T, nx.RungeKutta4(dt=1e-3), loops=nx.Loops(cut=name))
    else:
        result = nx.simulate(fourbar1(cut), T, nx.RungeKutta4(dt=1e-3), loops=nx.Loops(cut=name))
        np.testing.assert_allclose(result.position("slide").values[-1], exact, atol=1e-8)


METHODS = [
    nx.RungeKutta4(1e-3), nx.DormandPrince(), nx.HHT(), nx.HHT(dt=1e-3), nx.Projection(1e-3), nx.Baumgarte(1e-3),
    nx.Partitioning(1e-3), nx.ImplicitEuler(1e-3), nx.ImplicitEuler(1e-3, bdf2=True),
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=lambda m: repr(m).split(", dt_max")[0])
def test_a_body_without_mass_that_moves_alone_is_refused_by_name_at_the_start(method: Any) -> None:
    system = four_bar_with_a_massless_coupler()
    ghost = system.add_body("ghost", mass=0.0, inertia=(0, 0, 0))
    system.add_joint(nx.Prismatic("rail", system.ground, ghost, at=(0, 0, 0), axis=(1, 0, 0)))
    with pytest.raises(
        nx.SingularError, match=r"joint 'rail' moves no inertia|neither mass nor joints hold ghost$"
    ) as error:
        nx.simulate(system, T, method)
    assert "coupler" not in str(error.value)  # which a loop holds


@pytest.mark.parametrize("mass", [0.0, 1e-6])
@pytest.mark.parametrize("method", METHODS[1:], ids=lambda m: repr(m).split(", dt_max")[0])
def test_a_point_carrier_between_driven_joints_follows_its_drivers(method: Any, mass: float) -> None:
    system = nx.System("carrier", gravity=G)
    carrier = system.add_body("carrier", mass=mass, inertia=(0, 0, 0))
    load = system.add_body("load", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    system.add_joint(nx.Universal("turret", system.ground, carrier, at=(0, 0, 0), axis=(1, 0, 0), reference=(0, 1, 0)))
    system.add_joint(nx.Prismatic("arm", carrier, load, at=(0, 0, -1), axis=(0, 0, -1), stiffness=400.0))
    system.add_driver(nx.Driver("pan", "turret", "=0.8*t**2", freedom=0))
    system.add_driver(nx.Driver("tilt", "turret", "=0.6*t**2", freedom=1))
    result = nx.simulate(system, T, method)
    angles = result.joint_position("turret").values[-1]
    np.testing.assert_allclose(angles, [0.8 * T**2, 0.6 * T**2], atol=1e-6)


@pytest.mark.parametrize("method", [nx.HHT(dt=5e-4), nx.ImplicitEuler(5e-4, bdf2=True)], ids=lambda method: method.name)
def test_point_masses_alone_on_a_massless_carrier_move_as_in_minimal_coordinates(method: Any) -> None:
    """No body has rotational inertia from which the carrier could borrow."""
    system = nx.System("cross and slide", gravity=(0.0, -9.81, 0.0))
    system.add_body("cross", mass=0.0, inertia=(0.0, 0.0, 0.0))
    system.add_body("point", mass=5.0, inertia=(0.0, 0.0, 0.0), position=(0.1, 0.0, 0.0))
    system.add_joint(
        nx.Universal("u", "ground", "cross", at=(0, 0, 0), axis=(1, 0, 0), reference=(0, 1, 0), q0=(0.0, 0.7))
    )
    system.add_joint(nx.Prismatic("p", "cross", "point", at=(0, 0, 0), axis=(1, 0, 0)))
    system.add_force(nx.PointSpring("k", "ground", "point", stiffness=100.0, length=0.2))
    exact = nx.simulate(system, 0.3, nx.DormandPrince(1e-10)).position("point").values[-1]
    np.testing.assert_allclose(nx.simulate(system, 0.3, method).position("point").values[-1], exact, atol=2e-5)

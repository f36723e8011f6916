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


LINKS = {
    "coupler": (nx.Revolute, nx.Revolute, nx.Revolute, nx.Revolute), "bar": (nx.Revolute, nx.Revolute, nx.Spherical, nx.Universal),
}  # fmt: skip


def closed_by_a_link(kind: str, cut: int) -> nx.System:
    """A four-bar whose coupler has no mass: held by two hinges, or, a revolute–spherical link, by a hinge and a ball. Children are those
    of a tree in which one joint is cut open."""
    system = nx.System(kind, gravity=(0, -9.81, 0))
    for name, mass, moment, at in (
        ("crank", 1, 0.02, (0, 0.25, 0)),
        ("link", 0, 0, (0.6, 0.75, 0)),
        ("slide", 1, 0.08, (1.2, 0.5, 0)),
    ):
        system.add_body(name, mass=mass, inertia=(moment, moment, moment), position=at)
    ways = (
        ("A", "ground", "crank", (0, 0, 0)), ("B", "crank", "link", (0, 0.5, 0)), ("C", "link", "slide", (1.2, 1, 0)),
        ("D", "slide", "ground", (1.2, 0, 0)),
    )  # fmt: skip
    for k, ((name, a, b, at), joint) in enumerate(zip(ways, LINKS[kind], strict=True)):
        a, b = (b, a) if k > cut or name == "D" else (a, b)
        about = {} if joint is nx.Spherical else {"axis": (0, 0, 1)}
        about |= {"reference": (1, 0, 0)} if joint is nx.Universal else {}
        system.add_joint(joint(name, a, b, at=at, **about, v0=2.0 if name == "A" else None))
    return system


LOOPS: dict[str, Callable[[int], nx.System]] = {
    **{f"Fourbar1-{hinge[0]}": fourbar1 for hinge in HINGES},
    **{f"{kind}-{cut}": lambda cut, kind=kind: closed_by_a_link(kind, cut) for kind in LINKS for cut in "ABCD"},
}  # fmt: skip


@pytest.fixture(scope="module", params=LOOPS)
def cut_open(request: pytest.FixtureRequest) -> tuple[nx.System, str, np.ndarray, dict[str, np.ndarray]]:
    """A loop, the joint to cut, where absolute coordinates, which cut nothing, leave the slide, and the reactions there."""
    kind, name = request.param.split("-")
    cut = [hinge[0] for hinge in HINGES].index(name) if kind == "Fourbar1" else "ABCD".index(name)
    system = LOOPS[request.param](cut)
    whole = nx.simulate(system, T, nx.Projection(rtol=1e-11, atol=1e-13))
    forces = (
        {} if whole.recording.settings["coordinates"] != "bodies" else {j: reaction(whole, j) for j in system.joints}
    )
    return system, name, whole.position("slide").values[-1], forces


@pytest.mark.parametrize("stabilise", ["projection", "baumgarte"])
@pytest.mark.parametrize("method", [nx.RungeKutta4(5e-4), nx.DormandPrince(rtol=1e-10)], ids=lambda method: method.name)
def test_loops_with_massless_bodies_move_alike_under_every_cut(cut_open: Any, method: Any, stabilise: str) -> None:
    """Also where the tree that is left moves no inertia in some freedom."""
    system, cut, end, forces = cut_open
    result = nx.simulate(system, T, method, loops=nx.Loops(cut=cut, stabilise=stabilise))
    np.testing.assert_allclose(result.position("slide").values[-1], end, atol=1e-8)
    assert result.recording.settings["cut"] == [cut]
    for joint in forces if not result.recording.settings["redundant"] else ():  # else they are not unique
        np.testing.assert_allclose(reaction(result, joint), forces[joint], atol=1e-6 * 200.0)


UNCUT = {
    "Fourbar1": lambda: fourbar1(6),
    "bar": lambda: closed_by_a_link("bar", 3),
    "coupler": lambda: closed_by_a_link("coupler", 3),
}


@pytest.mark.parametrize("kind", UNCUT)
@pytest.mark.parametrize(
    ("method", "within"),
    [
        (nx.Projection(dt=5e-4), 1e-8), (nx.Baumgarte(rtol=1e-10), 1e-8), (nx.Partitioning(dt=2e-4), 1e-8), (nx.HHT(rtol=1e-8), 1e-7),
        (nx.ImplicitEuler(2e-4, bdf2=True), 2e-5), (nx.ImplicitEuler(2e-4), 1e-2),
    ],
    ids=lambda x: repr(x).split(", atol")[0],
)  # fmt: skip
def test_loops_with_massless_bodies_move_alike_under_every_method(kind: str, method: Any, within: float) -> None:
    """Explicit methods to 1e-8; HHT to its tolerance, implicit Euler and BDF2 to their order."""
    end = nx.simulate(UNCUT[kind](), T, nx.Projection(rtol=1e-11, atol=1e-13)).position("slide").values[-1]
    result = nx.simulate(UNCUT[kind](), T, method)
    np.testing.assert_allclose(result.position("slide").values[-1], end, atol=within)


@pytest.mark.parametrize("method", [nx.ExplicitEuler, nx.SemiImplicitEuler], ids=lambda method: method.__name__)
def test_methods_of_first_order_keep_it_where_a_massless_body_ends_the_tree(method: Any) -> None:
    end = nx.simulate(closed_by_a_link("bar", 2), T, nx.Projection(rtol=1e-11)).position("slide").values[-1]
    loops, errors = nx.Loops(cut="C"), []
    for dt in (1e-3, 5e-4):
        found = nx.simulate(closed_by_a_link("bar", 2), T, method(dt), loops=loops).position("slide").values[-1]
        errors.append(np.abs(found - end).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.15)


def test_energy_holds_where_freedoms_borrow_inertia() -> None:
    """Nothing of what is borrowed stays in the motion, nor in what is told of it."""
    result = nx.simulate(closed_by_a_link("bar", 2), 2.0, nx.DormandPrince(rtol=1e-11), loops=nx.Loops(cut="C"))
    assert result.energy_drift < 1e-8


@pytest.mark.parametrize("cut", [1, 2, 3], ids=["B", "C", "D"])
def test_closed_dynamics_pay_back_what_freedoms_borrow(cut: int) -> None:
    """The acceleration of the crank is that of `assemble`, in absolute coordinates."""
    system = closed_by_a_link("bar", cut)
    report, closed = nx.assemble(system), nx.ClosedTree(system, ["ABCD"[cut]])
    q = closed.tree.described()
    v = np.zeros(closed.nv)
    v[closed.tree.coordinates["A"].v] = 2.0
    v = closed.consistent_velocity(q, v, lock=["A"])
    crank = closed.tree.coordinates["A"].v
    np.testing.assert_allclose(v[crank], 2.0, atol=1e-9)
    a = closed.dynamics(q, v, np.zeros(closed.nv)).a
    np.testing.assert_allclose(a[crank], report.a[1, 2], rtol=1e-9)


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
        nx.SingularError,
        match=r"joint 'rail' moves no inertia.*; without mass or inertia: 'ghost'|neither mass nor joints hold ghost$",
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


def beside(system: nx.System, mass: float) -> nx.System:
    """The same, and a heavy pendulum far away that nothing connects with it."""
    system.add_body("far", mass=mass, inertia=(mass,) * 3, position=(10.0, 0.0, -1.0))
    system.add_joint(nx.Revolute("far", "ground", "far", at=(10.0, 0.0, 0.0), axis=(0, 1, 0)))
    return system


@pytest.mark.parametrize("cut", ["C", "D"])
def test_what_a_cut_tree_borrows_does_not_depend_on_what_else_moves(cut: str) -> None:
    loops, method = nx.Loops(cut=cut), nx.RungeKutta4(1e-3)
    alone = nx.simulate(four_bar_with_a_massless_coupler(), 0.5, method, loops=loops).joint_position("A").values
    for mass in (1e3, 1e7):
        heavy = beside(four_bar_with_a_massless_coupler(), mass)
        found = nx.simulate(heavy, 0.5, method, loops=loops).joint_position("A").values
        np.testing.assert_allclose(found, alone, rtol=0, atol=1e-9)


@pytest.mark.parametrize("mass", [1e-6, 1e-3, 10.0, 1e7])
def test_a_massless_coupler_beside_a_body_of_any_mass_moves_alike_under_every_method(mass: float) -> None:
    """On a slider that is much lighter, or heavier, than crank and rocker: what the coupler borrows is a part of what is next to it."""
    system = nx.System("four-bar on a slider", gravity=G)
    base = system.add_body("base", mass=mass, inertia=(mass,) * 3)
    system.add_joint(nx.Prismatic("slides", system.ground, base, axis=(1, 0, 0)))
    crank = system.add_body("crank", mass=1.0, inertia=(0.02, 0.02, 0.001), position=(0, 0, 0.25))
    coupler = system.add_body("coupler", mass=0.0, inertia=(0, 0, 0), position=(0.6, 0, 0.75))
    rocker = system.add_body("rod", mass=1.0, inertia=(0.08, 0.08, 0.001), position=(1.2, 0, 0.5))
    for name, a, b, at in (
        ("A", base, crank, (0, 0, 0)), ("B", crank, coupler, (0, 0, 0.5)),
        ("C", coupler, rocker, (1.2, 0, 1.0)), ("D", base, rocker, (1.2, 0, 0)),
    ):  # fmt: skip
        system.add_joint(nx.Revolute(name, a, b, at=at, axis=(0, 1, 0), v0=2.0 if name == "A" else None))

    def turned(method: Any, **options: Any) -> float:
        return float(nx.simulate(system, 0.3, method, **options).joint_position("A").values[-1])

    exact = turned(nx.RungeKutta4(2e-4), loops=nx.Loops(cut="D"))
    assert abs(exact) > 0.9
    for method, within in (
        (nx.HHT(rtol=1e-9), 1e-8), (nx.HHT(), 5e-6), (nx.HHT(dt=1e-4), 1e-6), (nx.Projection(rtol=1e-9), 1e-8),
        (nx.ImplicitEuler(2e-4, bdf2=True), 5e-6),
    ):  # fmt: skip
        assert turned(method) == pytest.approx(exact, abs=within), method
    assert turned(nx.RungeKutta4(2e-4), loops=nx.Loops(cut="C")) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: repr(m).split(", dt_max")[0])
def test_a_massless_body_that_two_clamps_alone_hold_moves_with_its_carrier(method: Any) -> None:
    system = nx.System("shim", gravity=G)
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.5))
    system.add_joint(nx.Revolute("hinge", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0), v0=1.0))
    alone = nx.simulate(system, 0.2, nx.RungeKutta4(1e-3)).joint_position("hinge").values[-1]
    system.add_body("shim", mass=0.0, inertia=(0, 0, 0), position=(0, 0, -1.0))
    for name, x in (("a", 0.0), ("b", 0.1)):
        system.add_joint(nx.Clamp(name, "arm", "shim", at=(x, 0, -1.0)))
    found = nx.simulate(system, 0.2, method).joint_position("hinge").values[-1]
    within = 5e-4 if method == nx.ImplicitEuler(1e-3) else 5e-6
    assert found == pytest.approx(alone, abs=within)


OF_MASS = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
"""A driven body moves as it is driven, whatever its mass."""


@pytest.mark.parametrize(
    "method",
    [nx.RungeKutta4(1e-3), nx.DormandPrince(), nx.HHT(), nx.Projection(1e-3), nx.ImplicitEuler(1e-3, bdf2=True)],
    ids=lambda m: m.name,
)
def test_a_driven_massless_mechanism_beside_a_mass_that_springs_alone_join(method: Any) -> None:
    """No neighbour of the crank and the rod has mass: what they borrow is a part of what is elsewhere. At 0.275 s the load's acceleration
    is 0, and with it all accelerations that what is paid back could be compared with."""
    system = nx.System("driven", gravity=G)
    crank = system.add_body("crank", mass=0.0, inertia=(0, 0, 0), position=(0, 0, 0.1))
    rod = system.add_body("rod", mass=0.0, inertia=(0, 0, 0), position=(0, 0, 0.3))
    load = system.add_body("load", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.3, 0, 0.4))
    system.add_joint(nx.Revolute("A", system.ground, crank, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("B", crank, rod, at=(0, 0, 0.2), axis=(0, 1, 0)))
    system.add_joint(nx.Prismatic("hangs", system.ground, load, at=(0.3, 0, 0.4), axis=(0, 0, 1)))
    system.add_force(nx.PointSpring("spring", rod, load, stiffness=50.0, damping=1.0, length=0.2, anchor_a=(0, 0, 0.1)))
    system.add_driver(nx.Driver("first", "A", "=0.5*t"))
    system.add_driver(nx.Driver("second", "B", "=-0.3*t"))
    z = nx.simulate(system, 0.3, method).position("load").values[-1, 2]
    heavier = system.with_parameters({f"{body}.{what}": x for body in ("crank", "rod") for what, x in OF_MASS.items()})
    exact = nx.simulate(heavier, 0.3, nx.RungeKutta4(1e-3)).position("load").values[-1, 2]
    assert z == pytest.approx(exact, abs=1e-5)

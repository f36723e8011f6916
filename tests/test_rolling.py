"""Nonholonomic rows: their derivatives, published and closed-form motions in both formulations, what is refused."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from systems import solid, somewhere, unit

import nexdyn as nx
from nexdyn.absolute.model.model import absolute_model
from nexdyn.errors import AssemblyError, InputError

G = 9.81


@numba.njit
def blade(t: float, x: Any, R: Any, out: Any) -> None:
    """The slip along y of B, in A's axes, and a belt that runs."""
    out[0], out[1], out[2] = R[0, 1], R[1, 1], R[2, 1]
    out[3] = 0.3 * x[2]
    out[6] = 0.2 * np.sin(t) * x[0]


KINDS: dict[str, Any] = {
    "rolling_disk": lambda a, b, **sides: nx.RollingDisk("joint", a, b, radius=0.7, tube=0.1, **sides),
    "rolling_sphere": lambda a, b, **sides: nx.RollingSphere(
        "joint", a, b, radius=0.7, **{k: v for k, v in sides.items() if k != "axis_b"}
    ),
    "knife_edge": lambda a, b, **sides: nx.KnifeEdge("joint", a, b, **sides),
    "velocity_constraint": lambda a, b, **sides: nx.VelocityConstraint("joint", a, b, blade, **sides),
}


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_rows_are_those_of_what_they_say(kind: str, rng: np.random.Generator) -> None:
    system = nx.System("pair")
    a, b = (system.add_body(name, **solid(rng), **somewhere(rng)) for name in "ab")
    sides = {f"anchor_{s}": rng.normal(size=3) for s in "ab"} | {f"axis_{s}": unit(rng, 3) for s in "ab"}
    system.add_joint(KINDS[kind](a, b, **sides))
    model = absolute_model(system)
    t, h = 0.4, 1e-4
    v, acceleration = (np.concatenate([np.zeros((1, 6)), rng.normal(size=(2, 6))]) for _ in range(2))
    near = model.near(model.q, t)

    def rate(s: float) -> np.ndarray:
        """A v + b after s, moving with v and its rate."""
        q = model.moved(model.q, s * (v[1:] + 0.5 * s * acceleration[1:]).reshape(-1))
        w = v[1:] + s * acceleration[1:]
        return model.jacobian(q, t + s, near.copy()) @ w.reshape(-1) - model.nu(t + s, q)

    expected = model.jacobian(model.q, t) @ acceleration[1:].reshape(-1) - model.gamma(model.q, v, t)
    differenced = (8 * (rate(h) - rate(-h)) - (rate(2 * h) - rate(-2 * h))) / (12 * h)
    assert np.allclose(differenced, expected, rtol=1e-7, atol=1e-7)
    for r in np.flatnonzero(model.positional):
        ahead, behind = (model.residual(model.moved(model.q, s * v[1:].reshape(-1)), t)[r] for s in (h, -h))
        assert (ahead - behind) / (2 * h) == pytest.approx(rate(0.0)[r], abs=1e-6)


COIN = {"x": 2.0049470e-3, "y": 2.5969231e-3, "lean": 12.55510700, "normal": 9.83551981}


def seen(result: nx.Result) -> np.ndarray:
    """Contact, lean in degrees and normal force at the end."""
    end = result.rolling("contact").isel(time=-1)
    return np.array([*end.point.values[:2], np.degrees(float(end.lean)), float(end.normal)])


def test_the_rolling_coin_in_minimal_coordinates_has_the_published_values() -> None:
    result = nx.simulate(nx.load("rolling-coin"), 0.5, nx.DormandPrince(rtol=1e-10, atol=1e-12))
    assert seen(result) == pytest.approx(list(COIN.values()), rel=3e-8)
    (end,) = result.summary()["rolling_end"]
    assert end["joint"] == "contact" and end["normal"] == pytest.approx(COIN["normal"], rel=1e-8)
    assert result.energy_drift < 1e-8


def test_the_rolling_coin_in_absolute_coordinates_converges_to_them_at_second_order() -> None:
    runs = [seen(nx.simulate(nx.load("rolling-coin"), 0.5, nx.HHT(dt=dt))) for dt in (4e-4, 2e-4, 1e-4)]
    wanted = np.array(list(COIN.values()))
    first, second = np.abs(runs[0] - runs[1]), np.abs(runs[1] - runs[2])
    assert (3.4 < first / second).all() and (first / second < 4.6).all()
    assert (4 * runs[2] - runs[1]) / 3 == pytest.approx(wanted, rel=2e-6)


def skate(slope: float, spin: float) -> nx.System:
    system = nx.System("skate", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    body = system.add_body("skate", mass=2.0, inertia=(0.1, 0.2, 0.3))
    system.add_joint(nx.Planar("ice", system.ground, body, v0=(0, 0, spin)))
    system.add_joint(nx.KnifeEdge("blade", system.ground, body, axis_b=(0, 1, 0)))
    return system


@pytest.mark.parametrize("method", [nx.HHT(dt=5e-4), nx.DormandPrince(rtol=1e-10, atol=1e-12)], ids=["bodies", "tree"])
def test_a_skate_on_a_slope_goes_across_it(method: Any) -> None:
    # x = g sin α / (2 ω²) sin² ω t,  y = g sin α / (2 ω²) (ω t − ½ sin 2 ω t): a cycloid that loses no height for good
    slope, spin, t = 0.3, 2.0, 1.7
    end = nx.simulate(skate(slope, spin), t, method).position("skate").values[-1]
    size = G * np.sin(slope) / (2 * spin**2)
    exact = [size * np.sin(spin * t) ** 2, size * (spin * t - 0.5 * np.sin(2 * spin * t)), 0.0]
    assert end == pytest.approx(exact, abs=1e-6)


def test_a_ball_on_a_turntable_goes_round_with_two_sevenths_of_its_speed() -> None:
    omega, r = 3.0, 0.1
    system = nx.System("turntable", gravity=(0, 0, -G))
    table = system.add_body("table", mass=5.0, inertia=(1, 1, 1))
    ball = system.add_body("ball", mass=1.0, inertia=[0.4 * r**2] * 3, position=(0.5, 0, r))
    system.add_joint(nx.Revolute("axle", system.ground, table, at=(0, 0, 0)))
    # v + ω × (−r z) is the table's velocity there, (0, 1.5, 0)
    system.add_joint(nx.Free("free", system.ground, ball, v0=(9, 2, 1, 0.2, 0.6, 0)))
    system.add_joint(nx.RollingSphere("roll", table, ball, radius=r))
    system.add_driver(nx.Driver("turn", "axle", nx.Linear(0.0, omega)))
    t = 2.0
    result = nx.simulate(system, t, nx.DormandPrince(rtol=1e-10, atol=1e-12))
    p, v = result.position("ball").values, result.velocity("ball").values
    # v̇ = (2/7) ω × v: circles about a point that stays
    turn = 2 / 7 * omega * t
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    assert v[-1, :2] == pytest.approx(R @ v[0, :2], abs=1e-7)
    assert p[-1, 2] == pytest.approx(r, abs=1e-10)
    assert float(result.rolling("roll").normal[-1]) == pytest.approx(G, rel=1e-8)


def test_a_cart_drives_as_its_wheels_turn_and_names_the_row_too_many() -> None:
    system = nx.load("cart")
    report = nx.assemble(system)
    (row,) = report.redundancy.redundant
    assert str(row) == "right-tyre.Sideways" and "left-tyre.Sideways" in row.depends_on
    assert row.consistent and row.structural and report.redundancy.dof == 2
    result = nx.simulate(system, 2.0, nx.RungeKutta4(2e-3))
    left, right = (result.joint_position(f"{side}-hub").values for side in ("left", "right"))
    R, p = result.rotation("chassis").values, result.position("chassis").values
    heading = np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    assert heading == pytest.approx(0.1 * (right - left) / 0.4, abs=1e-7)
    axle = p - np.einsum("nij,j->ni", R, [0.1, 0, 0])
    speed = np.gradient(axle[:, :2], result.t.values, axis=0)
    along = 0.05 * np.gradient(left + right, result.t.values)
    assert speed[1:-1, 0] == pytest.approx(along[1:-1] * np.cos(heading[1:-1]), abs=2e-5)
    assert np.abs(speed[1:-1] @ np.ones(2)).max() > 0.1  # it has moved


@pytest.mark.slow
def test_the_bicycle_agrees_in_both_formulations() -> None:
    system = nx.load("bicycle")
    tree = nx.simulate(system, 1.0, nx.DormandPrince(rtol=1e-9, atol=1e-11))
    bodies = [nx.simulate(system, 1.0, nx.HHT(dt=dt)) for dt in (1e-3, 5e-4)]
    for what in ("position", "velocity"):
        exact = getattr(tree, what)("frame").values[-1]
        one, two = (getattr(run, what)("frame").values[-1] for run in bodies)
        assert (4 * two - one) / 3 == pytest.approx(exact, abs=1e-6)
    force = tree.rolling("front-tyre").force.values[-1]
    one, two = (run.rolling("front-tyre").force.values[-1] for run in bodies)
    assert (4 * two - one) / 3 == pytest.approx(force, abs=1e-3)
    assert abs(tree.position("frame").values[-1, 1]) > 1e-3  # the push has acted


# --- Frobenius --------------------------------------------------------------------------------------------------------


def planar(*joints: Any) -> nx.System:
    system = nx.System("plane", gravity=(0, 0, -G))
    body = system.add_body("b", mass=1.0, inertia=(1, 1, 1), position=(0.3, 0.2, 0))
    system.add_joint(nx.Planar("flat", system.ground, body, at=(0, 0, 0)))
    for joint in joints:
        system.add_joint(joint(system.ground, body))
    return system


def edge(a: Any, b: Any) -> nx.Joint:
    return nx.KnifeEdge("edge", a, b, axis_b=(0, 1, 0))


@numba.njit
def circle(t: float, x: Any, R: Any, out: Any) -> None:
    """d/dt of x² + y² times a function that hides it."""
    out[0], out[1] = 2 * x[0] * np.exp(x[1] + R[0, 0]), 2 * x[1] * np.exp(x[1] + R[0, 0])


@numba.njit
def turning(t: float, x: Any, R: Any, out: Any) -> None:
    out[5], out[6] = 1.0, -0.3


def rail(a: Any, b: Any) -> nx.Joint:
    return nx.VelocityConstraint("rail", a, b, circle)


def turn(a: Any, b: Any) -> nx.Joint:
    return nx.VelocityConstraint("turn", a, b, turning, unit="rad/s")


@pytest.mark.parametrize(
    ("joints", "rows", "found"),
    [
        ((edge,), 1, []),
        ((rail,), 1, [{"rail.Velocity": 1.0}]),
        ((edge, turn), 2, [{"turn.Turning": 1.0}]),
        ((edge, rail), 2, [{"edge.Edge": 1.0}, {"rail.Velocity": 1.0}]),  # two rows leave one motion: a curve
        ((), 0, []),
    ],
    ids=["knife edge", "circle in disguise", "edge and turning", "pair", "none"],
)
def test_integrable_rows_are_told(joints: Any, rows: int, found: list[dict[str, float]]) -> None:
    answer = nx.integrable(planar(*joints))
    assert len(answer.rows) == rows
    assert [set(c) for c in answer.combinations] == [set(c) for c in found]
    assert answer.holonomic is (len(found) == rows)


def test_a_cart_knows_its_heading_from_its_wheels() -> None:
    answer = nx.integrable(nx.load("cart"))
    (combination,) = answer.combinations
    assert combination["left-tyre.Forward"] == pytest.approx(-combination["right-tyre.Forward"])
    assert set(combination) == {"left-tyre.Forward", "right-tyre.Forward"} and not answer.holonomic
    assert "1 of 3" in str(answer)


def test_a_coin_holds_no_position_by_rolling() -> None:
    answer = nx.integrable(nx.load("rolling-coin"))
    assert answer.rows == ["contact.Forward", "contact.Sideways"] and answer.combinations == []


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [nx.ImplicitEuler(1e-3), nx.Partitioning(1e-3)], ids=["potential", "partitioning"])
def test_methods_that_carry_no_velocity_rows_say_so(method: Any) -> None:
    with pytest.raises(InputError, match=r"'blade' is nonholonomic, which nx\.\w+\(\) does not carry; nx\.HHT"):
        nx.simulate(skate(0.1, 1.0), 0.1, method)


def test_a_start_that_slips_is_refused_by_name() -> None:
    system = nx.load("rolling-coin")
    with pytest.raises(AssemblyError, match=r"'ride' cannot have its v0"):
        nx.assemble(system, v0={"ride": (0, 0, 1, 0.5, 0.5, 0)})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 0.0}, r"radius of .*'disk'.* is 0\.0; it must be greater than 0"),
        ({"radius": 1.0, "tube": -0.1}, r"tube of .*'disk'.* it must be 0 or more"),
        ({"radius": 1.0, "at": (0, 0, 0)}, r"'disk'.* takes no at"),
    ],
)
def test_disks_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    system = nx.System("bad")
    body = system.add_body("b", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(InputError, match=message):
        system.add_joint(nx.RollingDisk("disk", system.ground, body, **options))
        system.check()


def test_a_disk_that_lies_flat_is_refused_where_described() -> None:
    system = nx.System("flat")
    body = system.add_body("b", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.RollingDisk("disk", system.ground, body, radius=0.1))
    with pytest.raises(InputError, match=r"'disk'.* lies flat on its plane"):
        nx.assemble(system)


def test_a_velocity_row_needs_a_function_and_a_unit() -> None:
    system = planar()
    with pytest.raises(InputError, match=r"function of .* is 3; a function \(t, x, R, out\) is needed"):
        nx.VelocityConstraint("own", "ground", "b", 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"unit of .* is 'm'; m/s and rad/s are valid"):
        system.add_joint(nx.VelocityConstraint("own", "ground", "b", blade, unit="m"))
        system.check()

"""Gravity of point masses and of fields: ellipses of Kepler's, two bodies about each other, a field of the user's."""

from __future__ import annotations

import json
from typing import Any

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.describe import from_dict, to_dict
from nexdyn.view.acting import parts
from nexdyn.view.touch_controls import switches
from nexdyn.view.words import Words

MU, A, E = 2.0, 1.0, 0.6
"""μ [m³/s²], semi-major axis [m] and eccentricity."""
N = np.sqrt(MU / A**3)


def kepler(t: np.ndarray) -> np.ndarray:
    """Place in the plane of the orbit from the pericentre on, (N, 2)."""
    anomaly = np.array([brentq(lambda x, m=m: x - E * np.sin(x) - m, m - 1.0, m + 1.0, xtol=1e-14) for m in N * t])
    return A * np.column_stack([np.cos(anomaly) - E, np.sqrt(1.0 - E * E) * np.sin(anomaly)])


def satellite(**centre: Any) -> nx.System:
    """A body whose centre of mass is not its origin; it does not turn."""
    system = nx.System("orbit", gravity=(0, 0, 0))
    start = (1, 0, 0, 0, A * (1.0 - E) - 0.1, 0.2, 0.0)
    speed = N * A * np.sqrt((1.0 + E) / (1.0 - E))
    system.add_body("moon", mass=3.0, inertia=(1, 2, 3), com=(0.1, -0.2, 0.0))
    system.add_joint(nx.Free("free", system.ground, "moon", q0=start, v0=(0, 0, 0, 0, speed, 0)))
    system.add_force(nx.PointGravity("pull", "moon", mu=MU, **centre))
    return system


def place(result: Any, body: str = "moon", arm: Any = (0.1, -0.2)) -> np.ndarray:
    return np.asarray(result.position(body).values)[:, :2] + arm


@pytest.mark.parametrize(
    ("method", "most"),
    [(nx.RungeKutta4(1e-3), 2e-9), (nx.DormandPrince(rtol=1e-11, atol=1e-13), 1e-9), (nx.Projection(dt=1e-3), 2e-9)],
    ids=lambda x: getattr(x, "name", ""),
)
def test_an_orbit_is_an_ellipse_in_the_time_of_keplers_equation(method: Any, most: float) -> None:
    result = nx.simulate(satellite(), 2.0 * np.pi / N, method, output_every=100)
    assert_allclose(place(result), kepler(result.t), atol=most)
    energy = result.energy().total.values
    assert_allclose(energy, -3.0 * MU / (2.0 * A), rtol=1e-8)
    assert_allclose(result.force("pull").energy.values, -3.0 * MU / np.linalg.norm(kepler(result.t), axis=1), rtol=1e-7)


def test_implicit_methods_have_their_orders_on_an_orbit() -> None:
    for make, rate in ((lambda dt: nx.HHT(dt=dt, alpha=0.0), 3.5), (lambda dt: nx.ImplicitEuler(dt, bdf2=True), 3.2)):
        errors = []
        for dt in (4e-3, 2e-3, 1e-3):
            result = nx.simulate(satellite(), 1.0, make(dt), output_every=10**6)
            errors.append(np.abs(place(result)[-1] - kepler(result.t)[-1]).max())
        assert errors[0] > rate * errors[1] and errors[1] > rate * errors[2], errors
        assert errors[2] < 1e-3


def test_two_bodies_go_round_their_centre_of_mass_and_keep_momentum() -> None:
    system = nx.System("pair", gravity=(0, 0, 0))
    m, speed = np.array([1.0, 3.0]), 1.0
    for i, name in enumerate(("small", "large")):
        x, v = (0.75, 0.75 * speed) if i == 0 else (-0.25, -0.25 * speed)
        system.add_body(name, mass=m[i], inertia=(1, 1, 1))
        system.add_joint(
            nx.Free(f"free {name}", system.ground, name, q0=(1, 0, 0, 0, x, 0, 0), v0=(0, 0, 0, 0, v, 0.5))
        )
    G = speed**2 / m.sum()  # ω² d³ = G (m₁ + m₂), d = 1
    system.add_force(nx.PointGravity("pull", "small", "large", mu=G * m[1]))
    result = nx.simulate(system, 4.0, nx.RungeKutta4(1e-3), output_every=100)
    t = result.t
    circle = np.column_stack([np.cos(t), np.sin(t), np.zeros_like(t)])
    drift = np.outer(t, (0.0, 0.0, 0.5))
    assert_allclose(result.position("small").values, 0.75 * circle + drift, atol=1e-9)
    assert_allclose(result.position("large").values, -0.25 * circle + drift, atol=1e-9)
    assert np.ptp(result.energy().total.values) < 1e-10


def test_a_centre_is_a_point_of_the_world_a_marker_or_the_centre_of_mass_of_a_body() -> None:
    moved = nx.simulate(satellite(at=(5.0, 0.0, 0.0)), 0.1, nx.RungeKutta4(1e-3)).force("pull").force
    assert moved.sel(end="moon", axis="x").values[0] == pytest.approx(3.0 * MU / 4.6**2)
    system = nx.System("bodies", gravity=(0, 0, 0))
    for name, com in (("a", (0, 0, 0)), ("b", (0.5, 0, 0))):
        system.add_body(name, mass=1.0, inertia=(1, 1, 1), com=com, position=(0, 0, 0) if name == "a" else (1, 0, 0))
    system.add_marker("edge", "b", position=(1.0, 0, 0))
    assert [nx.PointGravity("f", "a", c, mu=1.0).frames(system)[1].p_BF[0] for c in ("b", "edge", "ground")] == [
        0.5,
        1.0,
        0.0,
    ]


def test_a_field_of_the_user_pulls_each_body_at_its_centre_of_mass() -> None:
    @numba.njit
    def trap(t: float, x: np.ndarray, out: np.ndarray) -> None:
        for i in range(3):
            out[i] = -4.0 * (x[i] - 0.1 * t)

    system = nx.System("trap", gravity=(0, 0, 0))
    system.add_body("bead", mass=2.5, inertia=(1, 1, 1), com=(0.3, 0, 0))
    system.add_joint(nx.Free("free", system.ground, "bead"))
    system.add_force(nx.GravityField("trap", "bead", function=trap))
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=5e-4, alpha=0.0)):
        result = nx.simulate(system, 1.0, method, output_every=100)
        x = result.position("bead").values[:, 0] + 0.3
        exact = 0.1 * result.t + 0.3 * np.cos(2.0 * result.t) - 0.05 * np.sin(2.0 * result.t)
        assert_allclose(x, exact, atol=1e-9 if isinstance(method, nx.RungeKutta4) else 1e-6)
        assert np.abs(result.joint_velocity("free").values[:, :3]).max() < 1e-12


def test_what_has_no_meaning_is_refused_and_a_fall_into_the_centre_stops() -> None:
    system = satellite()
    for force, message in (
        (nx.PointGravity("g", "ground", mu=1.0), "body of force 'g' is 'ground'; a body that moves is needed"),
        (nx.PointGravity("g", "moon", "moon", mu=1.0), "force 'g' acts from body 'moon' on itself"),
        (nx.PointGravity("g", "moon", mu=-1.0), "mu of force 'g' is -1 m³/s²; it must be 0 or more"),
        (nx.PointGravity("g", "mon", mu=1.0), "force 'g': no body 'mon'"),
    ):
        with pytest.raises(nx.InputError, match=message):
            system.add_force(force)
    with pytest.raises(nx.InputError, match=r"function of force 'g' is 3; a function \(t, x, out\) is needed"):
        nx.GravityField("g", "moon", function=3)
    fall = nx.System("fall", gravity=(0, 0, 0))
    fall.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    fall.add_joint(nx.Free("free", fall.ground, "stone"))
    fall.add_force(nx.PointGravity("pull", "stone", mu=1.0))
    with pytest.raises(nx.SolveError, match="force 'pull' has its body where its centre is"):
        nx.simulate(fall, 1.0, nx.RungeKutta4(1e-3))


# --- on many bodies -----------------------------------------------------------------------------------------------------


def probes(count: int = 3) -> nx.System:
    """Bodies at rest along x, in space, without gravity yet."""
    system = nx.System("probes", gravity=(0, 0, 0))
    system.parameter("mu", 4.0)
    for i in range(count):
        system.add_body(f"probe{i}", mass=1.0 + i, inertia=(1, 2, 3), com=(0.1, 0.0, 0.0), position=(2.0 + i, 0, 0))
    return system


def told(system: nx.System) -> list[tuple[str, str]]:
    return [(name, type(force).__name__) for name, force in system.forces.items()]


@pytest.mark.parametrize(
    "method",
    [nx.RungeKutta4(1e-2), nx.HHT(dt=1e-2), nx.ImplicitEuler(1e-2), nx.Projection(1e-2)],
    ids=lambda method: method.name,
)
def test_gravity_on_all_bodies_is_a_point_gravity_on_each(method: Any) -> None:
    together, apart = probes(), probes()
    together.add_gravity(nx.Gravity("sun", mu="=mu"))
    for i in range(3):
        apart.add_force(nx.PointGravity(f"pull {i}", f"probe{i}", mu="=mu"))
    one, other = (nx.simulate(system, 0.3, method) for system in (together, apart))
    for i in range(3):
        np.testing.assert_array_equal(one.position(f"probe{i}").values, other.position(f"probe{i}").values)
        assert one.position(f"probe{i}").values[-1, 0] < 2.0 + i - 1e-3
    assert_allclose(one.force("sun probe1").force.values[0, 0], (-2.0 * 4.0 / 3.1**2, 0.0, 0.0), rtol=1e-12)


def test_bodies_that_are_added_later_count_and_parameters_act() -> None:
    system = probes(1)
    system.add_gravity(nx.Gravity("sun", mu="=mu"))
    system.add_body("probe1", mass=1.0, inertia=(1, 1, 1), position=(5, 0, 0))
    system.add_gravity(nx.Gravity("pull", "probe*", centre="probe0", mu=0.5))
    system.add_body("hub", position=(0, 3, 0))
    assert told(system) == [(name, "PointGravity") for name in ("sun probe0", "sun probe1", "pull probe1")]
    changed = system.with_parameters({"mu": 9.0, "pull.mu": "=mu/3", "hub.mass": 2.0})
    assert [force.data_in(changed)[0] for force in changed.forces.values()] == [9.0, 9.0, 18.0, 3.0]
    assert [name for name, _ in told(changed)] == ["sun probe0", "sun probe1", "sun hub", "pull probe1"]
    assert [force.data_in(system)[0] for force in system.forces.values()] == [4.0, 4.0, 0.5]


def test_a_mass_that_an_event_makes_0_stays_a_body_that_is_pulled() -> None:
    system = nx.System("fading", gravity=(0, 0, 0))
    system.parameter("m", 1.0)
    a = system.add_body("a", mass=1.0, inertia=(1, 1, 1), position=(2, 0, 0))
    b = system.add_body("b", mass="=m", inertia=(0, 0, 0), position=(2, 1, 0))
    system.add_joint(nx.Free("f", "ground", a))
    system.add_joint(nx.Fixed("on", a, b))
    system.add_gravity(nx.Gravity("g", mu=1.0))
    system.add_event(nx.Event("fades", time=0.05, parameters={"m": 0.0}))
    result = nx.simulate(system, 0.1, nx.RungeKutta4(1e-2))
    pull = np.linalg.norm(result.force("g b").force.values[:, 0], axis=1)
    assert pull[0] == pytest.approx(1.0 / 5.0, rel=1e-9) and pull[-1] == 0.0


def test_what_one_kind_of_gravity_has_not_is_no_parameter_of_it() -> None:
    system = probes()
    system.add_gravity(nx.Gravity("field", function=lambda t, x: (0.0, 0.0, -1.0)))
    system.add_gravity(nx.Gravity("sun", mu=1.0))
    with pytest.raises(nx.InputError, match="gravity 'field' has both mu and function"):
        system.with_parameters({"field.mu": 3.0})
    with pytest.raises(nx.InputError, match="gravity 'sun' has neither mu nor function"):
        system.with_parameters({"sun.mu": None})


def test_a_field_of_the_user_acts_on_all_that_a_pattern_matches() -> None:
    @numba.njit
    def field(t: float, x: Any, out: Any) -> None:
        out[0], out[1], out[2] = -x[0], 0.0, 0.0

    system = probes()
    system.add_body("rock", mass=1.0, inertia=(1, 1, 1), position=(9, 0, 0))
    system.add_gravity(nx.Gravity("field", "probe*", function=field))
    assert told(system) == [(f"field probe{i}", "GravityField") for i in range(3)]
    result = nx.simulate(system, 1.0, nx.RungeKutta4(1e-3))
    for i in range(3):
        assert_allclose(result.position(f"probe{i}").values[-1, 0] + 0.1, (2.1 + i) * np.cos(1.0), atol=1e-9)
    np.testing.assert_array_equal(result.position("rock").values[-1], (9, 0, 0))


SPACE = """
name: space
gravity: [0, 0, 0]
parameters: {mu: 4}
bodies:
  probe1: {mass: 1, inertia: [1, 1, 1], position: [2, 0, 0]}
  probe2: {mass: 1, inertia: [1, 1, 1], position: [3, 0, 0]}
  moon: {mass: 7, inertia: [1, 1, 1], position: [9, 0, 0]}
gravities:
  sun: {mu: =mu}
  pull: {bodies: probe*, centre: moon, mu: 0.5}
events:
  away: {time: 0.25, off: sun}
"""


def test_scenes_files_and_copies_hold_it(tmp_path: Any) -> None:
    (tmp_path / "space.yaml").write_text(SPACE)
    system = nx.load(tmp_path / "space.yaml")
    names = ["sun probe1", "sun probe2", "sun moon", "pull probe1", "pull probe2"]
    assert list(system.forces) == names
    assert to_dict(system)["gravities"] == {
        "sun": {"mu": "=mu"},
        "pull": {"bodies": "probe*", "centre": "moon", "mu": 0.5},
    }
    again = from_dict(to_dict(system))
    assert list(again.forces) == names
    result = nx.simulate(again, 0.5, nx.RungeKutta4(1e-2))
    result.save(tmp_path / "run.nc")
    kept = nx.Result.load(tmp_path / "run.nc")
    assert list(kept.system.gravities) == ["sun", "pull"]
    assert_allclose(kept.force("sun probe1").force.values, result.force("sun probe1").force.values)
    pulled = result.force("sun probe1").force.values[:, 0, 0]
    assert pulled[0] < -0.9 and pulled[-1] == 0.0  # the event has switched all of it off
    assert not result.force("sun moon").force.values[-1].any()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: nx.Gravity("g", "prob", mu=1.0), "bodies of gravity 'g': no body 'prob'; did you mean 'probe"),
        (lambda: nx.Gravity("g", "rock*", mu=1.0), r"bodies of gravity 'g': 'rock\*' matches no body; bodies: probe0"),
        (lambda: nx.Gravity("g", "ground", mu=1.0), "bodies of gravity 'g': no body 'ground'"),
        (lambda: nx.Gravity("g", []), "bodies of gravity 'g' is .*; a body, its name, a pattern like"),
        (lambda: nx.Gravity("g"), "gravity 'g' has neither mu nor function"),
        (lambda: nx.Gravity("g", mu=1.0, function=print), "gravity 'g' has both mu and function"),
        (lambda: nx.Gravity("g", function="x"), r"function of gravity 'g' is 'x'; a function \(t, x, out\) is needed"),
        (lambda: nx.Gravity("g", function=print, at=(0, 0, 1)), "has a function, and so no centre, anchor or at"),
        (lambda: nx.Gravity("g", "probe0", centre="probe0", mu=1.0), "body and centre must be different bodies"),
        (lambda: nx.Gravity("g", "probe[0]", centre="probe0", mu=1.0), "gravity 'g' chooses no body: those that"),
        (lambda: nx.Gravity("g", mu=-1.0), "mu of gravity 'g' is -1 m³/s²; it must be 0 or more"),
        (lambda: nx.Gravity("g", mu=1.0, centre="sun"), "gravity 'g': no marker or body 'sun'"),
        (lambda: nx.Gravity("spring", mu=1.0), "force 'spring' exists already; a force and a gravity need"),
        (lambda: nx.PointGravity("g", "probe0", mu=1.0), "is no gravity; add_force takes it"),
    ],
)
def test_what_gravity_cannot_mean_is_refused(make: Any, says: str) -> None:
    system = probes()
    system.add_force(nx.PointSpring("spring", "probe0", "ground", stiffness=1.0))
    with pytest.raises(nx.InputError, match=says):
        system.add_gravity(make())
    assert not system.gravities
    assert list(system.forces) == ["spring"]


def test_forces_of_gravity_are_named_by_what_they_are_part_of() -> None:
    system = probes()
    system.add_gravity(nx.Gravity("sun", mu=1.0))
    with pytest.raises(nx.InputError, match=r"'sun probe0.mu': gravity 'sun' sets what .*; write 'sun.mu'"):
        system.with_parameters({"sun probe0.mu": 2.0})
    with pytest.raises(nx.InputError, match="gravity 'sun' exists already; a force and a gravity need different"):
        system.add_force(nx.PointSpring("sun", "probe0", "ground", stiffness=1.0))
    result = nx.simulate(system, 0.1, nx.RungeKutta4(1e-2))
    with pytest.raises(
        nx.InputError, match="gravity 'sun' is 3 forces, one for each body that it pulls: name one of them, 'sun"
    ):
        result.force("sun")


def test_a_file_says_of_a_field_that_it_lacks_it(tmp_path: Any) -> None:
    def field(t: float, x: Any, out: Any) -> None:
        out[0], out[1], out[2] = -x[0], 0.0, 0.0

    system = probes()
    system.add_gravity(nx.Gravity("field", function=field))
    result = nx.simulate(system, 0.1, nx.RungeKutta4(1e-2))
    with pytest.warns(nx.NexDynWarning, match="leaves out what is written in Python: gravity 'field'"):
        result.save(tmp_path / "run.nc")
    with pytest.warns(nx.NexDynWarning, match="was run with 'field': Python, which no file holds"):
        kept = nx.Result.load(tmp_path / "run.nc")
    assert not kept.system.gravities
    np.testing.assert_array_equal(kept.position("probe1").values, result.position("probe1").values)


def test_what_a_scene_consists_of_names_it_and_the_bodies_that_it_pulls(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "space.yaml").write_text(SPACE)
    assert main(["info", str(tmp_path / "space.yaml")]) == 0
    told = capsys.readouterr().out
    assert "gravity sun (point_gravity) on probe1, probe2, moon" in told
    assert "gravity pull (point_gravity) on probe1, probe2" in told
    assert main(["info", str(tmp_path / "space.yaml"), "--json"]) == 0
    assert [x["bodies"] for x in json.loads(capsys.readouterr().out)["gravities"]] == [
        ["probe1", "probe2", "moon"],
        ["probe1", "probe2"],
    ]


def test_the_tree_of_the_model_and_the_switches_have_it() -> None:
    system = probes()
    system.add_gravity(nx.Gravity("sun", mu=1.0))
    assert "sun" in switches(system)
    assert "Gravity" in parts(system, Words("en")) and "sun" in parts(system, Words("en"))

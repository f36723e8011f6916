"""What each force does, as results tell it: Newton's third and second law, the balance of energy, and agreement of all methods, over the
whole registry of forces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matrix_elements import ELEMENTS
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.forces import FORCES

METHODS = {"rk4": nx.RungeKutta4(1e-3), "hht": nx.HHT(dt=1e-3), "implicit-euler": nx.ImplicitEuler(1e-3)}
OF_FORCES = {name: element for name, element in ELEMENTS.items() if element.cls in FORCES.values()}
T_END = {"force joint_stop": 0.12}
"""A stop is met after 82 ms; all else acts from the first."""


def told(system: nx.System, name: str, method: Any, t_end: float) -> tuple[nx.Result, Any]:
    result = nx.simulate(system, t_end, method, output_every=10)
    return result, result.force(name)


def test_every_force_of_the_registry_is_here() -> None:
    assert {element.cls for element in OF_FORCES.values()} == set(FORCES.values())


@pytest.mark.parametrize("name", OF_FORCES)
def test_ends_balance_bodies_move_as_told_and_methods_agree(name: str) -> None:
    element = OF_FORCES[name]
    system = element.system("open")
    force = next(force for force in system.forces.values() if isinstance(force, element.cls))
    found = {}
    for key, method in METHODS.items():
        if key == "implicit-euler" and name.endswith("with states"):
            with pytest.raises(nx.InputError, match="states of its own"):
                told(system, force.name, method, 0.05)
            continue
        result, of = told(system, force.name, method, T_END.get(name, 0.05))
        found[key] = np.concatenate([of.force.values.ravel(), of.moment.values.ravel()])
        f, n, p = of.force.values, of.moment.values, of.point.values
        size = max(np.abs(f).max(), np.abs(n).max())
        if f.shape[1] == 2:  # Newton's third law, about the world's origin
            assert_allclose(f.sum(axis=1), 0.0, atol=1e-12 * size)
            assert_allclose((n + np.cross(p, f)).sum(axis=1), 0.0, atol=1e-11 * size)
        if force.joint_name is None:
            for body in [body for body in of.end.values if body != "ground"]:
                assert_moves_as_told(result, str(body), 1e-9 if key == "rk4" else 1e-6 if key == "hht" else 2e-2)
        else:
            along = result.effort(force.name).values
            assert_allclose(
                np.hypot(*(np.linalg.norm(x[:, 1], axis=1) for x in (f, n))), np.abs(along), rtol=1e-9, atol=1e-12
            )
    size = np.abs(found["rk4"]).max()
    assert size > 0.0
    assert_allclose(found["hht"], found["rk4"], atol=5e-3 * size)  # drives that lag by 10 ms
    assert_allclose(found.get("implicit-euler", found["rk4"]), found["rk4"], atol=5e-2 * size)


def assert_moves_as_told(result: nx.Result, name: str, tolerance: float) -> None:
    """m (a_C − g) = what forces between bodies and joints (with all that acts in them) put on the body."""
    system = result.system
    body = system.bodies[name]
    mass, com = float(body.resolved(system.values).mass), np.asarray(body.resolved(system.values).com)
    R, w, w_dot = (
        getattr(result, what)(name).values for what in ("rotation", "angular_velocity", "angular_acceleration")
    )
    r = R @ com
    a = result.acceleration(name).values + np.cross(w_dot, r) + np.cross(w, np.cross(w, r))
    left = mass * (a - np.asarray(system.gravity))
    right = np.zeros_like(left)
    for force in system.forces.values():
        if force.joint_name is None:
            of = result.force(force.name)
            for k, end in enumerate(of.end.values):
                right += (end == name) * of.force.values[:, k]
    for joint in system.joints.values():
        if name in (joint.parent.name, joint.child.name):
            right += result.transmitted(joint.name, on=name, frame="world").values[:, :3]
    assert_allclose(left, right, atol=tolerance * max(np.abs(right).max(), mass * 9.81))


def thrown(stiffness: Any = 200.0) -> nx.System:
    """A body in the air on a spring, a bushing and a force of the user's, pushed by a force that turns with it."""
    system = nx.System("thrown", gravity=(0, 0, -9.81))
    system.parameter("k", 200.0)
    system.add_body("body", mass=2.0, inertia=(0.1, 0.2, 0.15), com=(0.05, 0.0, 0.0), position=(1, 0, 0))
    system.add_joint(nx.Free("flight", "ground", "body", v0=(1.0, 2.0, 0.5, 0.3, 0.0, 0.1)))
    system.add_marker("corner", "body", position=(0.1, 0.2, 0.0), orientation=(0.6, 0.0, 0.8, 0.0))
    system.add_force(
        nx.PointSpring("spring", "ground", "body", anchor_b=(0, 0.1, 0), stiffness=stiffness, damping=3.0, length=0.7)
    )
    system.add_force(nx.TorsionSpring("wound", "ground", "body", stiffness=0.4, damping=0.05, rest=8.0))
    system.add_force(nx.AppliedForce("jet", "body", force=(0, 0, "=5*cos(20*t)"), at=(1.1, 0, 0), expressed_in="body"))
    return system


@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-4), nx.HHT(dt=2e-4)], ids=["rk4", "hht"])
def test_the_power_of_all_forces_is_what_the_energy_of_the_motion_gains(method: Any) -> None:
    result = nx.simulate(thrown(), 0.5, method)
    t, energy = result.t.values, result.energy()
    gained = (energy["kinetic"] + energy["gravitational"]).values
    forces = {name: result.force(name) for name in result.system.forces}
    power = sum(of.power.values for of in forces.values())
    work = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(t) * (power[1:] + power[:-1]))])
    assert_allclose(work, gained - gained[0], atol=2e-5 * np.abs(gained - gained[0]).max())
    stored = sum(of.energy.values for of in forces.values())
    assert_allclose(stored, energy["elastic"].values, atol=1e-9 * stored.max())
    assert (forces["jet"].energy.values == 0.0).all()
    assert forces["jet"].end.values.tolist() == ["body"]


def test_components_are_in_the_axes_asked_for() -> None:
    result = nx.simulate(thrown(), 0.1, output_every=10)
    world = result.force("spring")
    for frame, reference in (("corner", "corner"), (result.system.bodies["body"], "body")):
        there = result.force("spring", frame=frame)
        R = result.rotation(reference).values
        for what in ("force", "moment"):
            assert_allclose(there[what].values, np.einsum("tji,tej->tei", R, world[what].values), atol=1e-12)
        assert_allclose(there.point.values, world.point.values, atol=0.0)


def test_a_force_that_is_switched_off_does_nothing_and_parameters_act() -> None:
    system = thrown(stiffness="=k")
    system.add_event(nx.Event("softer", time=0.03, parameters={"k": 20.0}))
    system.add_event(nx.Event("loose", time=0.06, off="spring"))
    result = nx.simulate(system, 0.1)
    t, of = result.t.values, result.force("spring")
    size = np.linalg.norm(of.force.values[:, 0], axis=1)
    assert (size[t > 0.0601] == 0.0).all() and (of.power.values[t > 0.0601] == 0.0).all()
    before, after = size[t < 0.03][-1], size[(t > 0.0301) & (t < 0.06)][0]
    assert 0.05 < after / before < 0.6


def test_turns_of_a_torsion_spring_count_under_every_method(tmp_path: Path) -> None:
    """k (θ − θ₀) at three turns, also of a file."""
    system = nx.System("rotor", gravity=(0, 0, 0))
    system.add_body("rotor", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("axle", "ground", "rotor", axis=(0, 0, 1), v0=40.0))
    system.add_force(nx.TorsionSpring("spring", "ground", "rotor", stiffness=0.01))
    for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3), nx.ImplicitEuler(1e-3)):
        result = nx.simulate(system, 0.5, method, output_every=100)
        result.save(tmp_path / "rotor.nc")
        for told in (result, nx.open_result(tmp_path / "rotor.nc")):
            angle = told.joint_position("axle").values
            assert angle[-1] > 6 * np.pi
            assert_allclose(told.force("spring").moment.values[:, 1, 2], -0.01 * angle, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("follows", ["mimic", "gear", "mimic, welded"])
def test_turns_of_a_torsion_spring_count_through_followers_and_welds(follows: str, tmp_path: Path) -> None:
    """A joint that follows another winds the spring up as one with a coordinate of its own does, and so does one behind a weld."""
    system = nx.System("followed", gravity=(0, 0, 0))
    for name, x in (("leader", 1.0), ("follower", 0.0)):
        system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0.0, 0.0))
    system.add_joint(nx.Revolute("L", "ground", "leader", at=(1, 0, 0), axis=(0, 0, 1), v0=5.0))
    mimic = {} if follows == "gear" else {"mimic": nx.Mimic("L", 2.0)}
    system.add_joint(nx.Revolute("F", "ground", "follower", axis=(0, 0, 1), **mimic))
    end = "follower"
    if follows == "gear":
        system.add_coupling(nx.Gear("gear", "F", "L", ratio=2.0))
    if "welded" in follows:
        end = "plate"
        system.add_body(end, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.1))
        system.add_joint(nx.Fixed("weld", "follower", end))
    system.add_force(nx.TorsionSpring("spring", "ground", end, stiffness=0.02))
    results = [nx.simulate(system, 1.0, method) for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3))]
    results[0].save(tmp_path / "followed.nc")
    batch = nx.simulate(system, 1.0, nx.RungeKutta4(1e-3), batch={"parameters": {"spring.stiffness": [0.02, 0.02]}})
    for result in (*results, nx.open_result(tmp_path / "followed.nc"), batch.member(1)):
        angle, told = result.joint_position("F").values, result.force("spring")
        assert angle[-1] > 8.0
        assert_allclose(told.moment.values[:, 1, 2], -0.02 * angle, rtol=1e-9, atol=1e-12)
        assert_allclose(told.energy.values, 0.01 * angle**2, rtol=1e-9, atol=1e-12)
        assert_allclose(told.energy.values, result.energy()["elastic"].values, rtol=1e-9, atol=1e-12)


def test_names_that_are_no_force_are_told_what_is() -> None:
    result = nx.simulate(thrown(), 0.01)
    with pytest.raises(nx.UnknownNameError, match="no force 'sprin'; did you mean 'spring'"):
        result.force("sprin")
    with pytest.raises(nx.InputError, match=r"force\('spring'\) tells what it does"):
        result.effort("spring")
    with pytest.raises(nx.UnknownNameError, match="no frame 'nowhere'"):
        result.force("spring", frame="nowhere")


def test_a_contact_of_several_places_names_its_forces() -> None:
    system = nx.System("box")
    system.add_body("box", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.2), shapes=[nx.Box((0.4, 0.4, 0.4))])
    system.add_contact(nx.Contact("feet", "box", stiffness=1e4, friction=0.3))
    result = nx.simulate(system, 1e-3, nx.RungeKutta4(1e-4))
    with pytest.raises(
        nx.InputError, match=r"contact 'feet' is 8 forces.*'feet box ground corner 1'.*result\.contacts\('feet'\)"
    ):
        result.force("feet")
    assert result.force("feet box ground corner 1").force.sizes["end"] == 2

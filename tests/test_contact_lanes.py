"""Friction that sticks in SIMD lanes: members of a batch with contacts at points move as they would alone, with their springs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nexdyn as nx

G, DT, LEAN = 9.81, 2e-4, 0.35
METHODS = {"rk4": nx.RungeKutta4(DT), "euler": nx.ExplicitEuler(0.1 * DT), "semi-implicit": nx.SemiImplicitEuler(DT)}
FRICTIONS = [0.0, 0.2, 0.35, 0.36, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2]
"""More members than lanes; the slope is held from 0.365 on."""
STIFF: dict[str, Any] = {"stiffness": 1e6, "exponent": 1.0, "damping": 20.0}


def slope() -> nx.System:
    """A block on a slope, at rest; its friction is a parameter."""
    system = nx.System("slope", gravity=(G * math.sin(LEAN), 0.0, -G * math.cos(LEAN)))
    system.parameter("mu", 0.5)
    place = (0.0, 0.0, 0.05 - G * math.cos(LEAN) / 4e6)
    system.add_body("block", mass=1.0, inertia=(0.01,) * 3, position=place, collision=[nx.Box((0.3, 0.3, 0.1))])
    system.add_joint(nx.Free("free", "ground", "block"))
    system.add_contact(nx.Contact("on", "block", friction="=mu", **STIFF))
    return system


def thrown() -> nx.System:
    """All that touches at points in lanes, each with a spring of friction: corners, both ends of a capsule, balls on each other and in a
    hollow; on a belt, with a direction, with static friction."""
    system = nx.System("thrown")
    system.parameter("mu", 0.5)
    law: dict[str, Any] = {"stiffness": 1e5, "damping": 1.0, "friction": "=mu"}
    shapes: dict[str, tuple[nx.Shape, tuple[float, float, float]]] = {
        "crate": (nx.Box((0.2, 0.2, 0.2)), (0.0, 0.0, 0.1)),
        "pill": (nx.Capsule(0.05, 0.2, orientation=(math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)), (1.0, 0.0, 0.05)),
        "low": (nx.Sphere(0.1), (2.0, 0.0, 0.1)),
        "high": (nx.Sphere(0.1), (2.02, 0.0, 0.2989)),
        "bead": (nx.Sphere(0.05), (3.0, 0.0, 0.05)),
    }
    for i, (name, (shape, place)) in enumerate(shapes.items()):
        system.add_body(name, mass=1.0, inertia=(4e-3, 5e-3, 6e-3), position=place, collision=[shape])
        v0 = (0.3 * i, -0.2, 0.1, 0.3, 0.1 * i, 0.0)
        system.add_joint(nx.Free(f"{name} free", "ground", name, v0=v0))
    belt = {"surface_velocity_b": (0.3, 0.1, 0.0), "static_friction": "=1.2*mu"}
    system.add_contact(nx.Contact("crate on", "crate", "ground", **law, **belt))
    grain = {"friction_across": 0.1, "friction_direction_b": (1.0, 0.0, 0.0)}
    system.add_contact(nx.Contact("pill on", "pill", "ground", **law, **grain))
    system.add_contact(nx.Contact("low on", "low", "ground", **law))
    system.add_contact(nx.Contact("balls", "high", "low", **law))
    hollow = {"radius_a": 0.05, "radius_b": 0.5, "hollow": True, "at_b": (3.0, 0.0, 0.5)}
    system.add_force(nx.SphereContact("bowl", "bead", "ground", **hollow, **law))
    return system


def together(system: nx.System, t_end: float, method: Any, frictions: list[float], **options: Any) -> nx.BatchResult:
    result = nx.simulate(system, t_end, method, batch={"parameters": {"mu": frictions}}, **options)
    assert isinstance(result, nx.BatchResult) and not result.failures
    return result


@pytest.mark.parametrize("name", METHODS)
def test_members_move_as_they_would_alone(name: str) -> None:
    method, system, frictions = METHODS[name], thrown(), [0.1, 0.9, 0.4]
    t_end = 400 * method.dt
    found = together(system, t_end, method, frictions)
    assert found.recording.nq > 0  # in lanes
    for k, mu in enumerate(frictions):
        alone = nx.simulate(system.with_parameters({"mu": mu}), t_end, method)
        mine, own = found.member(k), alone.recording
        for one, other in zip("qvz", (own.q, own.v, own.z), strict=True):
            assert_allclose(getattr(mine.recording, one), other, rtol=1e-9, atol=1e-9, err_msg=f"{one} of {mu}")
        assert np.sum(np.abs(own.z).max(axis=0).reshape(-1, 3).max(axis=1) > 1e-6) >= 7  # springs that were stretched
        for what in ("sticks", "tangential", "normal"):
            assert_allclose(mine.contacts()[what].values, alone.contacts()[what].values, rtol=1e-6, atol=1e-5)


def test_what_is_below_the_cone_stands_and_what_is_above_slides() -> None:
    found = together(slope(), 1.0, METHODS["rk4"], FRICTIONS)
    x, v = found.position("block").values[..., 0], found.velocity("block").values[..., 0]
    for k, mu in enumerate(FRICTIONS):
        if mu > math.tan(LEAN):
            assert abs(x[k, -1] - x[k, len(x[k]) // 2]) < 5e-8, mu
        else:  # it has gained a millimetre a second more while its springs gave
            assert v[k, -1] == pytest.approx(G * (math.sin(LEAN) - mu * math.cos(LEAN)), abs=1.5e-3), mu
    assert found.member(9).contacts("on").sticks.values[-1].sum() == 4.0  # of eight corners


def test_a_member_has_the_same_bits_in_any_batch() -> None:
    many = together(slope(), 0.02, METHODS["rk4"], FRICTIONS)
    few = together(slope(), 0.02, METHODS["rk4"], FRICTIONS[7:])
    for k in range(3):
        assert_array_equal(few.member(k).recording.q, many.member(7 + k).recording.q)
        assert_array_equal(few.member(k).recording.z, many.member(7 + k).recording.z)


def test_members_go_on_with_the_springs_of_the_run_before() -> None:
    """And a run goes on from a member."""
    first = nx.simulate(slope(), 0.05, METHODS["rk4"])
    assert np.abs(first.recording.z[-1]).max() > 1e-4
    on = together(first.system, 0.1, METHODS["rk4"], [0.5] * 2, initial=first)
    whole = nx.simulate(slope(), 0.1, METHODS["rk4"])
    assert_allclose(on.member(1).recording.q[-1], whole.recording.q[-1], rtol=0, atol=1e-12)
    half = on.member(0)
    further = nx.simulate(half.system, 0.12, METHODS["rk4"], initial=half)
    expected = nx.simulate(slope(), 0.12, METHODS["rk4"])
    assert_allclose(further.recording.q[-1], expected.recording.q[-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("given", [0.0, 0.5])
def test_members_with_and_without_friction_keep_their_own_states(given: float) -> None:
    system, values = slope().with_parameters({"on.friction": given}), [0.0, 0.5]
    result = nx.simulate(system, 0.02, METHODS["rk4"], batch={"parameters": {"on.friction": values}})
    assert not result.failures
    for k, mu in enumerate(values):
        alone = nx.simulate(system.with_parameters({"on.friction": mu}), 0.02, METHODS["rk4"])
        assert result.member(k).recording.z.shape == alone.recording.z.shape
        assert_allclose(result.member(k).recording.q[-1], alone.recording.q[-1], rtol=0, atol=1e-12)


def test_a_member_that_blows_up_leaves_the_others_alone() -> None:
    system = slope()
    system.parameter("k", 1e6)
    system.add_force(nx.PointSpring("wild", "block", "ground", stiffness="=k", length=0.01, at_b=(0.0, 0.0, 1.0)))
    result = nx.simulate(system, 0.02, METHODS["rk4"], batch={"parameters": {"k": [0.0, 1e300, 0.0]}})
    assert list(result.failures) == [1] and "no longer finite" in result.failures[1]
    assert_array_equal(result.member(0).recording.z, result.member(2).recording.z)


def test_a_batch_in_a_file_runs_its_members_one_by_one_with_their_states(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    stored = together(slope(), 0.01, METHODS["rk4"], [0.5, 0.6], store=tmp_path / "runs.zarr")
    lanes = together(slope(), 0.01, METHODS["rk4"], [0.5, 0.6])
    assert_allclose(stored.member(1).recording.z, lanes.member(1).recording.z, rtol=0, atol=1e-12)

"""Coefficients of contacts that are functions of time, at points and over areas, against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.describe import from_dict, to_dict
from nexdyn.forces.contact_data import OVERLAP
from nexdyn.forces.contact_functions import vary
from nexdyn.forces.tables import ForceEntries, force_tables

G, V0, CART, SHOE = 9.81, 2.0, 0.5, 1.0
POINT: dict[str, Any] = {"stiffness": 1e6, "exponent": 1.0, "damping": 1.0}
AREA: dict[str, Any] = {"foundation_b": 2.5e7, "damping": 1.0}
LAWS = pytest.mark.parametrize("law", [POINT, AREA], ids=["point", "area"])
METHODS = {
    "rk4": (nx.RungeKutta4(5e-4), 1e-9),
    "hht": (nx.HHT(dt=1e-3), 2e-5),
    "implicit-euler": (nx.ImplicitEuler(2e-4), 1e-4),
}
"""The error of the speed [m/s] of each."""
WETTING = "=0.2+0.1*t"


def sled(law: dict[str, Any], v0: float = V0, **given: Any) -> nx.System:
    """A shoe that rests on the ground under a cart, which slides."""
    system = nx.System("sled", gravity=(0.0, 0.0, -G))
    system.parameter("growth", 0.05)
    depth = SHOE * G / 1e6
    system.add_body("cart", mass=CART, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, 0.5))
    shape: nx.Shape = nx.Sphere(0.1) if "stiffness" in law else nx.Box((0.2, 0.2, 0.2))
    system.add_body("shoe", mass=SHOE, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, 0.1 - depth), collision=[shape])
    system.add_joint(nx.Prismatic("rail", "ground", "cart", axis=(1.0, 0.0, 0.0), v0=v0))
    system.add_joint(nx.Prismatic("lift", "cart", "shoe", axis=(0.0, 0.0, 1.0)))
    system.add_contact(nx.Contact("rub", "shoe", **{**law, **given}))
    return system


def slowed(t: np.ndarray) -> np.ndarray:
    """The speed under WETTING friction: m g ∫ μ dt is what the shoe takes."""
    return V0 - SHOE * G / (CART + SHOE) * (0.2 * t + 0.05 * t**2)


@LAWS
@pytest.mark.parametrize("name", METHODS)
def test_friction_that_grows_slows_by_its_integral(name: str, law: dict[str, Any]) -> None:
    method, tolerance = METHODS[name]
    result = nx.simulate(sled(law, friction=WETTING), 0.5, method)
    t = result.t.values
    assert_allclose(result.velocity("cart").values[:, 0], slowed(t), atol=tolerance)
    seen = result.contacts("rub")
    assert_allclose(seen["tangential"].values[1:, 0], (0.2 + 0.1 * t[1:]) * SHOE * G, rtol=1e-3)
    force = result.force("rub shoe ground")
    assert_allclose(force["force"].values[1:, 0, 0], -(0.2 + 0.1 * t[1:]) * SHOE * G, rtol=1e-3)


@pytest.mark.parametrize("name", METHODS)
def test_what_sticks_on_a_belt_goes_as_the_belt_does(name: str) -> None:
    """A belt that starts softly: acceleration at most 0.3 m/s², friction holds 0.8 g · 2/3."""
    starts = nx.Step5(0.0, 0.0, 0.4, 0.05)
    result = nx.simulate(sled(POINT, 0.0, friction=0.8, surface_velocity_b=(starts, 0.0, 0.0)), 0.5, METHODS[name][0])
    t = result.t.values
    seen = result.contacts("rub")
    assert seen["sticks"].values[1:].all()
    assert_allclose(result.velocity("cart").values[:, 0], starts.value(t), atol=2e-4)
    assert_allclose(seen["sliding"].values[:, 0, 0], result.velocity("cart").values[:, 0] - starts.value(t), atol=1e-9)


def test_what_is_lost_to_friction_is_told_as_heat() -> None:
    result = nx.simulate(sled(POINT, friction=WETTING), 0.5, METHODS["rk4"][0])
    lost = 0.5 * (CART + SHOE) * (V0**2 - float(slowed(np.array(0.5))) ** 2)
    assert_allclose(float(result.energy(dissipated=True)["dissipated"].values[-1, 0]), lost, rtol=1e-5)


@LAWS
@pytest.mark.parametrize("name", ["rk4", "implicit-euler"])
def test_a_coefficient_that_becomes_negative_is_named_with_its_time(name: str, law: dict[str, Any]) -> None:
    with pytest.raises(
        nx.SolveError, match=r"rub shoe ground' has friction -\S+ at t = 0\.2\S* s; it must be 0 or more"
    ):
        nx.simulate(sled(law, friction="=0.2-t"), 0.5, METHODS[name][0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"friction": 0.3, "static_friction": "=0.4-t"},
            "static_friction 0.29\\S*, less than friction, 0.3, at t = 0.1",
        ),
        (
            {"friction": 0.3, "surface_velocity_b": (0.0, 0.0, "=t")},
            "surface_velocity_b with \\S+ m/s along the normal",
        ),
        ({"friction": "=sqrt(0.2-t)"}, "friction without a value.*at t = 0.2"),
    ],
)
def test_what_is_not_valid_in_a_run_is_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(nx.SolveError, match=message):
        nx.simulate(sled(POINT, **given), 0.5, METHODS["rk4"][0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"friction": "=t-0.1"}, "friction of contact 'rub' is -0.1; it must be 0 or more"),
        ({"friction": "=1/t"}, "friction of contact 'rub'.*no finite value at t = 0"),
        ({"friction": 0.3, "static_friction": nx.Linear(0.1, 1.0)}, "static_friction of contact 'rub' is 0.1, less"),
        ({"friction": 0.3, "friction_stiffness": "=t"}, "friction_stiffness of contact 'rub' = t depends on the time"),
        ({"surface_velocity_a": ("=t", 0.0, 0.0)}, "no friction"),
    ],
)
def test_what_is_not_valid_at_the_start_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        _ = sled(POINT, **given).forces


def test_functions_take_parameters_and_python() -> None:
    system = sled(POINT, friction="=0.2+growth*t")
    for twin in (system.with_parameters({"growth": 0.1}), sled(POINT, friction=lambda t: 0.2 + 0.1 * t)):
        result = nx.simulate(twin, 0.5, METHODS["rk4"][0])
        assert_allclose(result.velocity("cart").values[:, 0], slowed(result.t.values), atol=1e-9)


def test_a_scene_keeps_them() -> None:
    given = {
        "friction": nx.Table((0.0, 1.0), (0.2, 0.3)),
        "static_friction": "=0.4+0.1*t",
        "surface_velocity_b": (nx.Harmonic(0.1, 2.0), 0.0, "=0"),
        "rolling_resistance": "=0.001*t",
    }
    data = to_dict(sled(POINT, **given))
    assert data["contacts"]["rub"]["friction"]["type"] == "table"
    again = from_dict(data)
    assert to_dict(again) == data
    assert again.contacts["rub"].friction == given["friction"]


def test_resistances_keep_their_arms() -> None:
    """l_r = l c_r/c, l_t = l c_t/c and c/l at every time are those of a contact with these numbers."""
    later = 0.4
    moving = sled(POINT, friction=0.5, rolling_resistance="=0.01*t", turning_resistance="=0.03-0.05*t")
    fixed = sled(POINT, friction=0.5, rolling_resistance=0.01 * later, turning_resistance=0.03 - 0.05 * later)
    found = []
    for system in (moving, fixed):
        tables = force_tables(system, lambda body: (0, np.eye(3), np.zeros(3)), lambda joint: (0, 0))
        vary(tables, later)
        k = int(ForceEntries(tables.index)[0].first)
        found.append(tables.data[k : k + OVERLAP])
    assert_allclose(*found, rtol=1e-14)


def test_equilibrium_takes_them_at_its_time() -> None:
    """What a force pushes stands where friction holds it: below the cone at t = 2, not at t = 0."""
    system = sled(POINT, 0.0, friction="=0.05+0.2*t")
    system.add_force(nx.AppliedForce("push", "cart", (0.2 * SHOE * G, 0.0, 0.0)))
    rest = nx.equilibrium(system, t=2.0)
    assert abs(rest.position("cart")[0]) < 1e-4
    with pytest.raises(nx.SolveError):
        nx.equilibrium(system, t=0.0)


def test_a_batch_runs_such_members_by_themselves() -> None:
    system = sled(POINT, friction=WETTING, friction_speed=0.01)
    batch = nx.simulate(system, 0.05, nx.RungeKutta4(5e-4), batch={"parameters": {"rub.stiffness": [1e6, 1.1e6]}})
    one = nx.simulate(system, 0.05, nx.RungeKutta4(5e-4))
    stiff = nx.simulate(system.with_parameters({"rub.stiffness": 1.1e6}), 0.05, nx.RungeKutta4(5e-4))
    for m, alone in enumerate((one, stiff)):
        assert_allclose(batch.velocity("cart").values[m], alone.velocity("cart").values, rtol=0.0, atol=0.0)

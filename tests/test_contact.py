"""Contact with planes: restitution, rolling and sliding in closed form, in every formulation; what results tell of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import nexdyn as nx
from nexdyn.forces.contact_law import damping_number

G, M, R = 9.81, 2.0, 0.1
J = 0.4 * M * R * R
ALL = {"tree": nx.RungeKutta4(1e-4), "hht": nx.HHT(dt=5e-4), "potential": nx.ImplicitEuler(5e-4)}


def ball(height: float = 0.0, gravity: Any = (0.0, 0.0, -G), free: Any = None, **contact: Any) -> nx.System:
    """A ball whose lowest point is `height` above the ground."""
    system = nx.System("ball", gravity=gravity)
    system.add_body("ball", mass=M, inertia=(J, J, J), position=(0.0, 0.0, R + height))
    system.add_joint(nx.Free("base", system.ground, "ball", v0=free))
    system.add_force(nx.PlaneContact("touch", "ball", radius=R, **contact))
    return system


@pytest.mark.parametrize("restitution", [0.9, 0.5, 0.2])
def test_the_damping_number_leaves_the_restitution_that_is_asked_for(restitution: float) -> None:
    d = damping_number(restitution)
    assert (1.0 + d) * np.exp(-d) == pytest.approx((1.0 - restitution * d) * np.exp(restitution * d), rel=1e-12)
    assert damping_number(1.0) == 0.0


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.2])
@pytest.mark.parametrize("restitution", [1.0, 0.6])
def test_a_bounce_without_gravity_leaves_the_coefficient_of_restitution(exponent: float, restitution: float) -> None:
    v = 1.3
    system = ball(
        0.001, (0, 0, 0), (0, 0, 0, 0, 0, -v), stiffness=1e6, exponent=exponent, restitution=restitution, impact_speed=v
    )
    result = nx.simulate(system, 0.1, nx.DormandPrince(rtol=1e-10, atol=1e-12))
    after = result.velocity("ball").sel(axis="z").values[-1]
    assert after == pytest.approx(restitution * v, rel=1e-6)
    contact = result.contacts("touch")
    assert float(contact.normal.min()) >= 0.0
    assert float(contact.normal.max()) > 0.0


def test_the_work_of_the_contact_is_what_the_energy_loses() -> None:
    system = ball(0.02, stiffness=1e5, damping=0.4, friction=0.6, friction_speed=0.05, free=(0, 8.0, 0, 0.3, 0.1, 0))
    result = nx.simulate(
        system, 0.25, nx.DormandPrince(rtol=1e-10, atol=1e-12), output_times=np.linspace(0, 0.25, 20001)
    )
    c, E = result.contacts("touch"), result.energy().total.values
    p, w = c.point.values, result.angular_velocity("ball").values
    v = result.velocity("ball").values + np.cross(w, p - result.position("ball").values)
    # power of the force less that of its elastic part, k δᵉ δ̇
    elastic = 1e5 * np.maximum(c.penetration.values, 0.0) ** 1.5 * v[:, 2]
    power = np.einsum("ni,ni->n", c.force.values, v) - elastic
    t = result.t.values
    work = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(t) * (power[1:] + power[:-1]))])
    assert E[0] - E[-1] > 0.1  # it does lose
    assert np.abs(E - E[0] - work).max() < 1e-4 * (E[0] - E[-1])
    assert (np.diff(work) <= 1e-12).all()


@pytest.mark.parametrize("method", ALL.values(), ids=ALL.keys())
def test_a_resting_ball_presses_with_its_weight_at_the_depth_of_the_law(method: Any) -> None:
    k = 1e5
    system = ball(0.0, stiffness=k, damping=20.0)
    result = nx.simulate(system, 1.0, method)
    contact = result.contacts("touch").isel(time=-1)
    assert float(contact.normal) == pytest.approx(M * G, rel=1e-5)
    assert float(contact.penetration) == pytest.approx((M * G / k) ** (2 / 3), rel=1e-5)
    assert contact.point.values == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("method", ALL.values(), ids=ALL.keys())
def test_a_ball_thrown_along_the_ground_ends_rolling_with_five_sevenths_of_its_speed(method: Any) -> None:
    depth = (M * G / 1e6) ** (2 / 3)
    system = ball(-depth, stiffness=1e6, damping=5.0, friction=0.3, friction_speed=1e-3, free=(0, 0, 0, 1.4, 0, 0))
    result = nx.simulate(system, 0.4, method)
    v = result.velocity("ball").sel(axis="x").values[-1]
    w = result.angular_velocity("ball").sel(axis="y").values[-1]
    h = R - depth  # where the force acts, on the plane
    assert v == pytest.approx(1.4 / (1.0 + J / (M * h * h)), rel=1e-4)
    assert h * w == pytest.approx(v, rel=1e-4)
    assert v == pytest.approx(5 / 7 * 1.4, rel=5e-3)
    sliding = result.contacts("touch").sel(time=slice(0.0, 0.05))  # slip ends at 2 v/(7 μ g) = 0.136 s
    assert float(sliding.tangential.mean()) == pytest.approx(0.3 * M * G, rel=2e-3)


def test_a_capsule_lies_on_two_points_that_share_its_weight_unevenly_by_its_centre_of_mass() -> None:
    system = nx.System("log")
    system.add_body("log", mass=M, inertia=(0.1, 0.1, 0.01), position=(0, 0, R), com=(0.1, 0.0, 0.0))
    system.add_joint(nx.Free("base", system.ground, "log"))
    system.add_force(
        nx.PlaneContact("lie", "log", radius=R, length=0.8, axis=(1, 0, 0), stiffness=1e5, damping=20.0, exponent=1.0)
    )
    result = nx.simulate(system, 2.0, nx.RungeKutta4(2e-4), output_every=100)
    contact = result.contacts("lie").isel(time=-1)
    assert list(contact.contact.values) == ["lie.1", "lie.2"]
    # lever arms 0.3 and 0.5 about the centre of mass
    assert contact.normal.values == pytest.approx([M * G * 5 / 8, M * G * 3 / 8], rel=1e-3)
    assert float(contact.normal.sum()) == pytest.approx(M * G, rel=1e-5)


@pytest.mark.parametrize("friction_speed", [0.05, 0.01])
def test_a_box_on_a_slope_creeps_as_its_regularised_friction_says(friction_speed: float) -> None:
    phi, mu = np.radians(10.0), 0.5
    system = nx.System("slope", gravity=(G * np.sin(phi), 0.0, -G * np.cos(phi)))
    system.add_body("box", mass=M, inertia=(0.02, 0.02, 0.02), position=(0, 0, 0.1))
    system.add_joint(nx.Free("base", system.ground, "box"))
    law = {"stiffness": 1e6, "exponent": 1.0, "damping": 20.0, "friction": mu, "friction_speed": friction_speed}
    for i, (x, y) in enumerate(((-0.1, -0.1), (-0.1, 0.1), (0.1, 0.1), (0.1, -0.1))):
        system.add_force(nx.PlaneContact(f"corner{i}", "box", anchor_a=(x, y, -0.1), **law))
    v = nx.simulate(system, 0.4, nx.RungeKutta4(2e-4), output_every=1000).velocity("box").values[-1]
    assert v[0] == pytest.approx(friction_speed * np.tan(phi) / np.sqrt(mu**2 - np.tan(phi) ** 2), rel=1e-5)
    assert abs(v[1:]).max() < 1e-8


@pytest.mark.parametrize("method", [nx.HHT(rtol=2e-3), nx.ImplicitEuler(0.01)], ids=lambda m: m.name)
def test_a_box_whose_friction_grows_within_a_hundred_nanometres_a_second_stays_on_a_slope_and_slides_off_a_steeper_one(
    method: Any,
) -> None:
    """Of 10° and 35°, friction 0.5: it lands, creeps as its law says, a metre in a year, and gains no energy; or slides as Coulomb's."""
    mu, v_f = 0.5, 1e-7
    for phi, stays in ((math.radians(10.0), True), (math.radians(35.0), False)):
        system = nx.System("slope", gravity=(G * math.sin(phi), 0.0, -G * math.cos(phi)))
        system.add_body("box", mass=M, inertia=(0.02, 0.02, 0.02), position=(0, 0, 0.1))
        system.add_joint(nx.Free("base", system.ground, "box"))
        law = {"stiffness": 1e6, "damping": 20.0, "friction": mu, "friction_speed": v_f}
        for i, (x, y) in enumerate(((-0.15, -0.1), (-0.15, 0.1), (0.15, 0.1), (0.15, -0.1))):
            system.add_force(nx.PlaneContact(f"corner{i}", "box", anchor_a=(x, y, -0.1), **law))
        result = nx.simulate(system, 4.0, method)
        t, x = result.t.values, result.position("box").values[:, 0]
        k = int(np.searchsorted(t, 2.0))
        energy = result.energy().total.values
        if stays:
            creep = (x[-1] - x[k]) / (t[-1] - t[k])
            assert abs(creep) < 1e-7, creep
            assert creep == pytest.approx(v_f * math.tan(phi) / math.sqrt(mu**2 - math.tan(phi) ** 2), rel=0.2)
            assert np.abs(x - x[k]).max() < 1e-4
            assert np.diff(energy).max() < 1e-6 * M * G * 0.1
        else:
            v = result.velocity("box").values
            assert (v[-1, 0] - v[k, 0]) / (t[-1] - t[k]) == pytest.approx(
                G * (math.sin(phi) - mu * math.cos(phi)), rel=1e-3
            )


def test_a_moving_plane_carries_the_reaction() -> None:
    system = nx.System("lift")
    system.add_body("table", mass=5.0, inertia=(1, 1, 1))
    system.add_body("ball", mass=M, inertia=(J, J, J), position=(0.3, 0, R + 0.05))
    system.add_joint(nx.Prismatic("lift", system.ground, "table", axis=(0, 0, 1), stiffness=1e5, damping=600.0))
    system.add_joint(nx.Free("base", system.ground, "ball"))
    system.add_force(nx.PlaneContact("touch", "ball", "table", radius=R, at_b=(0, 0, 0.05), stiffness=1e6, damping=3.0))
    result = nx.simulate(system, 1.5, nx.RungeKutta4(1e-4), output_every=100)
    q = result.joint_position("lift").values[-1]
    assert q == pytest.approx(-(M + 5.0) * G / 1e5, rel=1e-3)
    # the ball presses beside the axis: the joint takes the moment
    assert abs(result.reaction("lift").sel(component="mx").values[-1]) < 1e-9
    assert result.reaction("lift").sel(component="my").values[-1] == pytest.approx(-0.3 * M * G, rel=1e-3)


def test_contacts_are_told_in_files_and_labels(tmp_path: Path) -> None:
    system = ball(0.0, stiffness=1e5, damping=20.0)
    result = nx.simulate(system, 0.05, nx.RungeKutta4(1e-3))
    result.save(tmp_path / "run.nc")
    again = nx.open_result(tmp_path / "run.nc")
    xr.testing.assert_allclose(again.contacts(), result.contacts())
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as file:
        assert file["contact_force"].dims == ("time", "contact", "axis")
    result.to_csv(tmp_path / "contacts.csv", ["contact_normal", "penetration"])
    assert "contact_normal.touch [N]" in (tmp_path / "contacts.csv").read_text().splitlines()[0]
    with pytest.raises(nx.UnknownNameError, match="touch"):
        result.contacts("toch")


def test_a_system_without_contacts_has_none() -> None:
    system = nx.System("free")
    system.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    result = nx.simulate(system, 0.01)
    assert result.contacts().sizes["contact"] == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stiffness": 0.0}, "stiffness of force 'touch' is 0"),
        ({"stiffness": 1.0, "restitution": -0.1, "impact_speed": 1.0}, "restitution of force 'touch' is -0.1"),
        ({"stiffness": 1.0, "restitution": 1.1, "impact_speed": 1.0}, "at most 1"),
        ({"stiffness": 1.0, "restitution": 0.5}, "together with impact_speed"),
        ({"stiffness": 1.0, "restitution": 0.5, "impact_speed": 0.0}, "impact_speed of force 'touch' is 0"),
        ({"stiffness": 1.0, "restitution": 0.5, "impact_speed": 1.0, "damping": 1.0}, "takes damping, or restitution"),
        ({"stiffness": 1.0, "friction": -1.0}, "friction of force 'touch' is -1"),
        ({"stiffness": 1.0, "friction_speed": 0.0}, "friction_speed of force 'touch' is 0"),
        ({"stiffness": 1.0, "exponent": 0.5}, "exponent of force 'touch' is 0.5"),
        ({"stiffness": 1.0, "normal": (0, 0, 0)}, "normal of force 'touch'"),
    ],
)
def test_a_wrong_contact_is_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        ball(**wrong)


SCENE = """
bodies:
  ball: {mass: 2.0, inertia: [0.008, 0.008, 0.008], position: [0, 0, 0.1]}
joints:
  base: {type: free, parent: ground, child: ball}
forces:
  touch: {type: plane_contact, a: ball, radius: 0.1, stiffness: 1.0e+5, damping: 20}
simulation: {t_end: 0.5, method: {type: rk4, dt: 1e-3}}
"""


def test_a_scene_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "ball.yaml").write_text(SCENE)
    system = nx.load(tmp_path / "ball.yaml")
    result = nx.simulate(system, 0.5, nx.RungeKutta4(1e-3))
    direct = nx.simulate(ball(0.0, stiffness=1e5, damping=20.0), 0.5, nx.RungeKutta4(1e-3))
    assert np.array_equal(result.contacts("touch").normal.values, direct.contacts("touch").normal.values)

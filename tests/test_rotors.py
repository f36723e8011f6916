"""Rotors on carriers: gyroscopic moment, precession, momentum, gears."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.describe import from_dict, to_dict

J, MASS = 0.02, 1.5


def test_a_turning_carrier_bears_the_gyroscopic_moment() -> None:
    """Spin ω about x, carrier Ω about z: L̇ = J ω Ω about y, and the hinge bears that alone."""
    system = nx.System("gyro", gravity=(0, 0, 0))
    system.add_body("carrier", mass=1.0, inertia=(0.1, 0.2, 0.3))
    system.add_joint(nx.Revolute("turn", system.ground, "carrier", at=(0, 0, 0), v0=3.0))
    hinge = nx.add_rotor(system, "rotor", "carrier", mass=MASS, inertia=J, axis=(1, 0, 0), speed=200.0)
    report = nx.assemble(system)
    moment = hinge.frames({}).R_AJ @ report.reaction("rotor").moment
    np.testing.assert_allclose(moment, (0, J * 200.0 * 3.0, 0), atol=1e-10)
    np.testing.assert_allclose(report.reaction("turn").moment, (0, J * 200.0 * 3.0, 0), atol=1e-10)
    assert system.body("rotor").inertia == (J / 2, J / 2, J)


@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.HHT(rtol=1e-8)], ids=lambda m: m.name)
def test_a_gyroscope_precesses_with_m_g_l_over_its_moment_of_momentum(method: Any) -> None:
    """With a horizontal axis that holds for every speed: the arm stays level and turns by Ω = m g l / (J ω)."""
    g, arm, spin = 9.81, 0.2, 100.0
    rate = MASS * g * arm / (J * spin)
    system = nx.System("gyroscope", gravity=(0, 0, -g))
    system.add_body("arm", mass=0.0, inertia=(0, 0, 0))
    system.add_joint(
        nx.Universal("stand", "ground", "arm", at=(0, 0, 0), axis=(0, 0, 1), reference=(0, 1, 0), v0=(rate, 0))
    )
    nx.add_rotor(
        system, "rotor", "arm", mass=MASS, inertia=J, transverse=0.013, at=(arm, 0, 0), axis=(1, 0, 0), speed=spin
    )
    result = nx.simulate(system, 0.5, method)
    angle = rate * 0.5
    np.testing.assert_allclose(
        result.position("rotor").values[-1], (arm * np.cos(angle), arm * np.sin(angle), 0), atol=1e-7
    )


def momentum(result: nx.Result, of: dict[str, tuple[float, np.ndarray]]) -> np.ndarray:
    """Moment of momentum about the origin (N, 3) of bodies {name: (mass, inertia about its origin, which is its centre)}."""
    total = 0.0
    for name, (mass, inertia) in of.items():
        R, w = result.rotation(name).values, result.angular_velocity(name).values
        p, v = result.position(name).values, result.velocity(name).values
        total = total + np.einsum("nij,jk,nlk,nl->ni", R, inertia, R, w) + mass * np.cross(p, v)
    return np.asarray(total)


def satellite() -> nx.System:
    """A body in space with a wheel that a motor turns, and a wheel across it that a bevel gear turns along."""
    system = nx.System("satellite", gravity=(0, 0, 0))
    system.add_body("hub", mass=20.0, inertia=(1.0, 1.4, 1.9))
    system.add_joint(nx.Free("free", system.ground, "hub", v0=(0.3, -0.2, 0.5, 0, 0, 0)))
    wheel = nx.add_rotor(system, "wheel", "hub", mass=2.0, inertia=0.05, at=(0.3, 0, 0), axis=(1, 0, 0), speed=5.0)
    nx.add_rotor(
        system, "bevel", "hub", mass=1.0, inertia=0.02, at=(0, 0.2, 0.1), axis=(0, 1, 1), geared_to=wheel, ratio=-2.5
    )
    system.add_force(nx.JointForce("motor", "wheel", "=0.4*cos(3*t)"))
    return system


def test_a_satellite_with_reaction_wheels_keeps_its_momentum() -> None:
    result = nx.simulate(satellite(), 1.0, nx.RungeKutta4(1e-3), output_every=100)
    R = Rotation.from_quat(result.system.body("bevel").orientation, scalar_first=True).as_matrix()
    np.testing.assert_allclose(R[:, 2], np.array([0, 1, 1]) / np.sqrt(2), atol=1e-15)
    of = {
        "hub": (20.0, np.diag([1.0, 1.4, 1.9])), "wheel": (2.0, np.diag([0.025, 0.025, 0.05])),
        "bevel": (1.0, np.diag([0.01, 0.01, 0.02])),
    }  # fmt: skip
    L = momentum(result, of)
    assert np.abs(L[0]).max() > 0.3
    np.testing.assert_allclose(L - L[0], 0.0, atol=1e-12)
    turned = result.joint_position("bevel").values - result.joint_position("bevel").values[0]
    np.testing.assert_allclose(turned, -2.5 * result.joint_position("wheel").values, atol=1e-12)
    assert np.abs(np.diff(result.angular_velocity("hub").values, axis=0)).max() > 1e-3  # the wheels turn it


def test_a_geared_rotor_reflects_n_squared_times_its_inertia_and_turns_its_carrier_back() -> None:
    """Carrier φ, link φ + q, rotor φ + n q about one axis; T drives the link: M (φ̈, q̈) = (0, T)."""
    n, platform, link, torque = 30.0, 2.0, 0.8, 5.0
    system = nx.System("geared", gravity=(0, 0, 0))
    for name, moment in (("platform", platform), ("link", link)):
        system.add_body(name, mass=1.0, inertia=(moment, moment, moment))
    system.add_joint(nx.Revolute("base", system.ground, "platform", at=(0, 0, 0)))
    hinge = system.add_joint(nx.Revolute("hinge", "platform", "link", at=(0, 0, 0)))
    nx.add_rotor(system, "rotor", "platform", mass=0.3, inertia=1e-3, geared_to=hinge, ratio=n)
    system.add_force(nx.JointForce("motor", "hinge", torque))
    report, small = nx.assemble(system), 1e-3
    M = np.array([[platform + link + small, link + n * small], [link + n * small, link + n**2 * small]])
    base, own = np.linalg.solve(M, [0.0, torque])
    np.testing.assert_allclose(report.angular_acceleration("platform"), (0, 0, base), atol=1e-12)
    np.testing.assert_allclose(report.angular_acceleration("link"), (0, 0, base + own), atol=1e-12)
    np.testing.assert_allclose(report.angular_acceleration("rotor"), (0, 0, base + n * own), atol=1e-11)
    # the gear's effort is the torque that speeds the rotor up
    assert abs(report.effort("rotor")) == pytest.approx(small * (base + n * own), rel=1e-10)
    held = system.with_parameters({"platform.inertia": (1e9, 1e9, 1e9)})
    assert nx.assemble(held).angular_acceleration("link")[2] == pytest.approx(torque / (link + n**2 * small), rel=1e-6)


def test_a_rotor_is_described_by_its_body_joint_and_gear() -> None:
    system = satellite()
    again = from_dict(to_dict(system))
    assert to_dict(again) == to_dict(system)
    assert list(again.bodies) == ["hub", "wheel", "bevel"] and list(again.couplings) == ["bevel"]
    assert again.coupling("bevel").joint_b == "wheel"


def test_a_rotor_takes_parameters() -> None:
    system = nx.System("parameters")
    system.parameter("J", 0.1)
    system.add_body("carrier", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 2))
    nx.add_rotor(system, "rotor", "carrier", mass="=10*J", inertia="=J", speed="=2*J", damping="=J")
    changed = system.with_parameters({"J": 0.4})
    np.testing.assert_allclose(changed.body("rotor").resolved(changed.values).inertia, np.diag([0.2, 0.2, 0.4]))
    np.testing.assert_allclose(changed.joint("rotor").resolved(changed.values).v0, 0.8)
    np.testing.assert_allclose(changed.body("rotor").pose({})[1], (0, 0, 2))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mass": 0.0}, r"mass of rotor 'rotor' is 0.0; it must be greater than 0"),
        ({"inertia": -1.0}, r"inertia of rotor 'rotor' is -1.0"),
        ({"transverse": 0.001}, r"body 'rotor': principal moments"),
        ({"axis": (0, "=L", 1)}, r"axis of rotor 'rotor' has parameters"),
        ({"axis": (0, 0, 0)}, r"axis of rotor 'rotor' is .* of length 0"),
        ({"ratio": 2.0}, r"rotor 'rotor': a gear needs geared_to, a joint, and ratio"),
        ({"geared_to": "turn"}, r"a gear needs geared_to, a joint, and ratio"),
        ({"geared_to": "turn", "ratio": 0.0}, r"ratio of rotor 'rotor' is 0"),
        ({"geared_to": "trn", "ratio": 2.0}, r"no joint 'trn'; did you mean 'turn'"),
        ({"carrier": "crrier"}, r"no body 'crrier'; did you mean 'carrier'"),
        ({"name": "carrier"}, r"a body or a joint 'carrier' exists already"),
        ({"dampng": 1.0}, r"dampng"),
    ],
)
def test_a_rotor_that_means_nothing_is_refused_and_leaves_nothing_behind(given: dict[str, Any], message: str) -> None:
    system = nx.System("wrong")
    system.add_body("carrier", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("turn", system.ground, "carrier"))
    with pytest.raises(nx.InputError, match=message):
        nx.add_rotor(system, **{"name": "rotor", "carrier": "carrier", "mass": 1.0, "inertia": 0.1, **given})
    assert list(system.bodies) == ["carrier"] and list(system.joints) == ["turn"] and not system.couplings


def test_a_rotor_goes_with_a_carrier_whose_place_is_a_parameter() -> None:
    system = nx.System("satellite", gravity=(0, 0, 0))
    system.parameter("L", 2.0)
    system.add_body("carrier", mass=5.0, inertia=(1, 1, 1), position=("=L", 0, 0))
    nx.add_rotor(system, "rotor", "carrier", mass=1.0, inertia=0.1)
    moved = system.with_parameters({"L": 5.0})
    for name in ("carrier", "rotor"):
        assert moved.bodies[name].pose(moved.values)[1][0] == 5.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"v0": 1.0}, "takes no v0"), ({"inertia": None}, "inertia of rotor 'rotor' is None"),
        ({"geared_to": "turn", "ratio": 2.0, "mimic": nx.Mimic("turn", 3.0)}, "geared to 'turn', and has a mimic"),
    ],
)  # fmt: skip
def test_what_a_rotor_does_not_take_is_named(given: dict[str, Any], message: str) -> None:
    system = nx.System("s")
    system.add_body("carrier", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("turn", "ground", "carrier"))
    with pytest.raises(nx.InputError, match=message):
        nx.add_rotor(system, "rotor", "carrier", **{"mass": 1.0, "inertia": 0.1, **given})
    assert "rotor" not in system.bodies

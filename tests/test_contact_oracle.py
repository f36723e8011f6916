"""Contact beside MuJoCo. Its contacts are soft constraints, not Hunt and Crossley's springs: what is compared are weights,
the flight before the impact, and where Coulomb's friction leads, which do not depend on how a contact gives way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx

mujoco = pytest.importorskip("mujoco", reason="an extra: pip install nexdyn[bench]")

G, M, R = 9.81, 2.0, 0.1
HEAD = """<mujoco><option timestep="2e-4" integrator="RK4" cone="elliptic" impratio="100" gravity="0 0 -9.81"/>
<default><geom solref="0.002 1" friction="0.3 0 0" condim="3"/></default><worldbody><geom type="plane" size="9 9 1"/>"""
FEET = {"left": (-0.3, 0.4, -0.2), "right": (-0.3, -0.5, -0.2), "front": (0.6, 0.1, -0.2)}


def marched(xml: str, t_end: float, velocity: Any = None) -> tuple[Any, Any]:
    """MuJoCo's model and data at the end."""
    model = mujoco.MjModel.from_xml_string(f"{HEAD}{xml}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    if velocity is not None:
        data.qvel[:] = velocity
    for _ in range(round(t_end / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return model, data


def test_the_feet_of_a_tripod_share_its_weight_as_in_mujoco() -> None:
    inertia = "0.2 0.3 0.4"
    feet = "".join(
        f'<geom name="{n}" type="sphere" size="0.05" mass="0" pos="{x} {y} {z}"/>' for n, (x, y, z) in FEET.items()
    )
    body = (
        f'<body pos="0 0 0.25"><freejoint/><inertial pos="0.1 0.05 0" mass="{M}" diaginertia="{inertia}"/>{feet}</body>'
    )
    model, data = marched(body, 1.0)
    expected = dict.fromkeys(FEET, 0.0)
    for i in range(data.ncon):
        wrench = np.zeros(6)
        mujoco.mj_contactForce(model, data, i, wrench)
        foot = next(model.geom(g).name for g in data.contact[i].geom if model.geom(g).name)
        expected[foot] += wrench[0]

    system = nx.System("tripod")
    system.add_body(
        "top", mass=M, inertia=[float(x) for x in inertia.split()], position=(0, 0, 0.25), com=(0.1, 0.05, 0)
    )
    system.add_joint(nx.Free("base", system.ground, "top"))
    for name, at in FEET.items():
        contact = nx.PlaneContact(
            name, "top", radius=0.05, anchor_a=at, stiffness=1e6, damping=50.0, friction=0.3, exponent=1.0
        )
        system.add_force(contact)
    normal = nx.simulate(system, 1.0, nx.HHT(dt=2e-3), output_every=500).contacts().normal.isel(time=-1)
    found = {name: float(normal.sel(contact=name)) for name in FEET}
    assert sum(found.values()) == pytest.approx(M * G, rel=1e-6)
    for name in FEET:
        assert found[name] == pytest.approx(expected[name], rel=2e-3)


def test_a_ball_flies_slides_and_rolls_as_in_mujoco() -> None:
    """Thrown with spin it flies alike to rounding; thrown along the ground it slides with μ g, then rolls with 5/7 of its speed."""
    J = 0.4 * M * R * R
    ball = f'<body pos="0 0 {{z}}"><freejoint/><geom type="sphere" size="{R}" mass="{M}"/></body>'

    def ours(z: float, v0: Any, t_end: float) -> nx.Result:
        system = nx.System("ball")
        system.add_body("ball", mass=M, inertia=(J, J, J), position=(0, 0, z))
        system.add_joint(nx.Free("base", system.ground, "ball", v0=v0))
        contact = nx.PlaneContact(
            "touch", "ball", radius=R, stiffness=1e8, damping=5.0, friction=0.3, friction_speed=1e-3
        )
        system.add_force(contact)
        return nx.simulate(system, t_end, nx.RungeKutta4(1e-4), output_every=10**6)

    _, data = marched(ball.format(z=1.0), 0.3, (1.0, 0.2, 0.5, 3.0, -4.0, 5.0))
    flight = ours(1.0, (3.0, -4.0, 5.0, 1.0, 0.2, 0.5), 0.3)
    assert_allclose(flight.position("ball").values[-1], data.qpos[:3], atol=1e-10)
    assert_allclose(np.abs(flight.orientation("ball").values[-1] @ data.qpos[3:]), 1.0, atol=1e-10)
    depth = (M * G / 1e8) ** (2 / 3)
    for t_end in (0.1, 0.4):  # slip ends at 2 v/(7 μ g) = 0.136 s
        _, data = marched(ball.format(z=R), t_end, (1.4, 0, 0, 0, 0, 0))
        ground = ours(R - depth, (0, 0, 0, 1.4, 0, 0), t_end)
        assert float(ground.position("ball").values[-1, 0]) == pytest.approx(data.qpos[0], abs=1e-3)
        assert float(ground.velocity("ball").values[-1, 0]) == pytest.approx(data.qvel[0], rel=4e-3)
        assert float(ground.angular_velocity("ball").values[-1, 1]) == pytest.approx(
            data.qvel[4], rel=1.5e-2
        )  # its ball still shivers

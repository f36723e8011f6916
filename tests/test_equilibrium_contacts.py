"""Bodies at rest in contact: whose friction is unique, and parts in fixtures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.statics.held_contacts import _within_limits

LAW: dict[str, Any] = {"stiffness": 1e5, "exponent": 1.0, "damping": 10.0}


def box_on_the_floor(**law: Any) -> nx.System:
    system = nx.System("box")
    system.add_body("box", mass=2.0, inertia=(0.02, 0.02, 0.02), position=(0, 0, 0.1), shapes=[nx.Box((0.3, 0.2, 0.2))])
    system.add_contact(nx.Contact("feet", "box", **law))
    return system


@pytest.mark.parametrize("law", [LAW, {"foundation_b": 1e7}], ids=["corners", "area"])
def test_friction_of_a_box_on_the_floor(law: dict[str, Any]) -> None:
    """Four corners may push against each other; one area has one friction, and what is smooth has none."""
    rest = nx.equilibrium(box_on_the_floor(friction=0.5, **law))
    assert rest.contacts_not_unique == (["feet"] if law is LAW else [])
    assert ("Friction is not unique" in str(rest)) == (law is LAW)
    assert nx.equilibrium(box_on_the_floor(friction=0.0, **law)).contacts_not_unique == []


def test_the_walls_of_a_groove_may_squeeze_a_ball() -> None:
    system = nx.System("groove")
    system.add_body("ball", mass=1.0, inertia=(0.004,) * 3, shapes=[nx.Sphere(0.1)])
    for name, side in (("left", 1.0), ("right", -1.0)):
        plane = {"normal": (side, 0.0, 1.0), "anchor_b": (0.0, 0.0, 0.0)}
        system.add_force(nx.PlaneContact(name, "ball", radius=0.1, friction=0.8, **plane, **LAW))
    high = nx.equilibrium(system, q0={"ball": (1, 0, 0, 0, 0, 0, 0.1 * np.sqrt(2.0) - 1e-5)})
    assert high.contacts_not_unique == ["left", "right"]


@pytest.mark.parametrize("part", [0.6, 0.98])
def test_a_ladder_stands_with_more_or_less_friction_at_either_end(part: float) -> None:
    """Against a wall it stands up to an angle of 2 μ/(1 − μ²) from it. Four forces and three equations: friction at the wall, which is at
    its limit as it was let down, may be less. Of a smooth wall there is one answer, but that of a joint which keeps it in its plane."""
    mu, length, r = 0.4, 2.0, 0.01
    lean = part * math.atan(2.0 * mu / (1.0 - mu * mu))
    for wall, names in ((mu, ["foot", "head"]), (0.0, ["foot"])):
        system = nx.System("ladder")
        turned = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
        system.add_body("wall", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[nx.HalfSpace(orientation=turned)])
        system.add_joint(nx.Fixed("stands", "ground", "wall"))
        system.add_body(
            "ladder", mass=5.0, inertia=(1.7, 1.7, 0.01), orientation=(math.cos(0.5 * lean), 0.0, -math.sin(0.5 * lean), 0.0),
            position=(0.5 * length * math.sin(lean) + r, 0.0, 0.5 * length * math.cos(lean) + r), collision=[nx.Capsule(r, length)],
        )  # fmt: skip
        system.add_joint(nx.Planar("plane", "ground", "ladder", axis=(0, 1, 0), reference=(1, 0, 0)))
        law = {"stiffness": 1e7, "exponent": 1.0, "damping": 5.0}
        system.add_contact(nx.Contact("foot", "ladder", friction=1.0 if wall == 0.0 else mu, **law))
        system.add_contact(nx.Contact("head", "ladder", "wall", friction=wall, **law))
        rest = nx.equilibrium(system)
        assert rest.stability == "stable"
        assert rest.contacts_not_unique == names


def test_friction_that_is_full_everywhere_is_unique() -> None:
    """Two points that bear a load together along x, each with as much as it can: neither may bear more, so that neither can bear less."""
    together = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]) / math.sqrt(2.0)
    free = np.ones(4, dtype=bool)
    one_only = _within_limits(together, 0, [(0, 1)], free)
    assert one_only.tolist() == [True, True, True, True]
    assert not _within_limits(together, 0, [(0, 1), (2, 3)], free).any()


def test_a_ball_on_the_floor_has_unique_friction() -> None:
    system = nx.System("ball")
    system.add_body("ball", mass=1.0, inertia=(0.004,) * 3, position=(0, 0, 0.1), shapes=[nx.Sphere(0.1)])
    system.add_contact(nx.Contact("touch", "ball", friction=0.5, **LAW))
    assert nx.equilibrium(system).contacts_not_unique == []


def test_a_part_rests_in_its_fixture() -> None:
    """A block on a floor, against two walls it is pushed into: the forces are those of statics, frictionless and so unique."""
    system = nx.System("fixture")
    size = (0.3, 0.2, 0.1)
    block = [nx.Box(size)]
    system.add_body("block", mass=4.0, inertia=(0.02, 0.03, 0.04), position=(0.15, 0.1, 0.05), shapes=block)
    for name, normal in (("floor", (0, 0, 1)), ("x wall", (1, 0, 0)), ("y wall", (0, 1, 0))):
        for i, corner in enumerate(np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T * size):
            if corner @ np.array(normal) < 0.0:
                at = {"anchor_a": tuple(corner), "normal": normal, "friction": 0.0}
                system.add_force(nx.PlaneContact(f"{name} {i}", "block", **at, **LAW))
    system.add_force(nx.AppliedForce("clamp", "block", force=(-30.0, -20.0, 0.0)))
    rest = nx.equilibrium(system)
    assert rest.stability == "stable"
    p = rest.position("block")
    # each wall presses with four corners
    np.testing.assert_allclose(p - (0.15, 0.1, 0.05), (-30.0 / 4e5, -20.0 / 4e5, -4.0 * 9.81 / 4e5), rtol=1e-3)
    assert rest.contacts_not_unique == []


@pytest.mark.parametrize("stiffness", [1e8, 1e11, 1e13])
@pytest.mark.parametrize(
    "friction", [{"friction": 0.5}, {"friction": 0.05}, {"friction": 0.5, "friction_speed": 1e-3}], ids=str
)
@pytest.mark.parametrize("more", [{}, {"turning_resistance": 1e-3}], ids=["point", "turns"])
def test_a_ball_that_is_pressed_in_by_nanometres_rests(
    stiffness: float, friction: dict[str, float], more: dict[str, float]
) -> None:
    """Up and down it sways with √(3/2 g/δ), along the floor with the root of that stiffness's part ρ and of 1/m + R²/J."""
    if more and "friction_speed" in friction:
        return  # what resists turning sticks
    m, R, J, g = 1.0, 0.1, 4e-3, 9.81
    system = nx.System("ball")
    system.add_body("ball", mass=m, inertia=(J,) * 3, position=(0, 0, R), shapes=[nx.Sphere(R)])
    system.add_joint(nx.Free("free", "ground", "ball"))
    system.add_contact(nx.Contact("floor", "ball", stiffness=stiffness, **friction, **more))
    depth = (m * g / stiffness) ** (2.0 / 3.0)
    known = [math.sqrt(1.5 * g / depth)]
    if "friction_speed" not in friction:
        known += 2 * [known[0] * math.sqrt(0.82 * (1.0 + m * R * R / J))]
    known += (
        [known[0] * math.sqrt(0.82)] if more else []
    )  # its springs sway as fast about the normal as along the floor
    rest = nx.equilibrium(system)
    assert rest.position("ball")[2] == pytest.approx(R - depth, rel=1e-12)
    rates = 2.0 * np.pi * np.sort(np.asarray(rest.frequencies))
    swaying = rates[rates > 0.01 * known[0]]
    assert len(swaying) == len(known)
    for rate in known:
        assert np.abs(swaying / rate - 1.0).min() < 2e-3


def ball_on_the_floor(soft: float = 0.0) -> nx.System:
    """A ball that sticks to the floor; soft [N/m]: of springs that hold it, and seven more like it on springs alone."""
    system = nx.System("ball")
    ball: dict[str, Any] = {"mass": 1.0, "inertia": (0.004, 0.004, 0.004), "shapes": [nx.Sphere(0.1)]}
    system.add_body("ball", **ball, position=(0, 0, 0.1))
    system.add_contact(nx.Contact("feet", "ball", friction=0.5, **LAW))
    for k in range(7 if soft else 0):
        system.add_body(f"bead {k}", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(1.0 + k, 0, 2))
        system.add_joint(nx.Prismatic(f"wire {k}", "ground", f"bead {k}", axis=(1, 0, 0), stiffness=soft * (k + 1)))
    return system


@pytest.mark.parametrize("modes", [2, 3, 4, 5, 6])
def test_soft_motions_do_not_spoil_the_stiff_ones_that_are_told_beside_them(modes: int) -> None:
    """A ball that sticks rolls and spins freely, and swings on its contact: ω² = k_n/m, and k_t (1/m + r²/I) twice."""
    dense = nx.equilibrium(ball_on_the_floor()).squares
    found = nx.equilibrium(ball_on_the_floor(), modes=modes).squares
    assert dense is not None and found is not None
    np.testing.assert_allclose(found, dense[:modes], rtol=1e-7, atol=1e-6)
    assert dense[3] == pytest.approx(1e5, rel=1e-6) and dense[4] == pytest.approx(dense[5], rel=1e-6)


def test_a_few_modes_of_many_are_those_of_all() -> None:
    dense = nx.equilibrium(ball_on_the_floor(soft=1e-3)).squares
    found = nx.equilibrium(ball_on_the_floor(soft=1e-3), modes=5).squares
    assert dense is not None and found is not None
    np.testing.assert_allclose(found, dense[:5], rtol=1e-6, atol=1e-9)


DEEP = 1e-4


@pytest.mark.parametrize(
    ("law", "pushes"),
    [
        (LAW, 4 * 1e5 * DEEP),
        ({"stiffness": 1e9, "exponent": 1.5}, 4 * 1e9 * DEEP**1.5),
        ({"foundation_b": 1e7}, 1e7 * 0.3 * 0.2 * DEEP),
    ],
    ids=["corners", "hertz", "area"],
)
def test_a_box_that_is_assembled_in_the_floor_is_pushed_out(law: dict[str, Any], pushes: float) -> None:
    """With the acceleration that its depth gives; where it rests it has none, and a run from there stays."""
    system = box_on_the_floor(friction=0.5, **law)
    report = nx.assemble(system, q0={"box": (1, 0, 0, 0, 0, 0, 0.1 - DEEP)})
    assert report.a[1] == pytest.approx([0, 0, 0, 0, 0, pushes / 2.0 - 9.81], abs=1e-6)
    rest = nx.equilibrium(system)
    again = nx.assemble(system, initial=rest)
    assert np.abs(again.a[1]).max() < 1e-6
    assert again.q[1] == pytest.approx(rest.report.q[1], abs=1e-12)
    stays = nx.simulate(system, 0.05, nx.HHT(rtol=1e-6), initial=rest)
    assert np.ptp(stays.position("box").values, axis=0) == pytest.approx([0, 0, 0], abs=1e-9)

"""The general joint: every subset of the six directions, and those that make up a joint with a name of its own."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from systems import solid, somewhere

import nexdyn as nx
from nexdyn.absolute.model.model import absolute_model
from nexdyn.spatial.rotations import quaternion

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
SUBSETS = [free for n in range(6) for free in combinations(DIRECTIONS, n)]
ORDERED = [free for n in range(6) for free in permutations(DIRECTIONS, n)
           if [d for d in DIRECTIONS if len(d) == 1 and d in free] == list(free[: sum(len(d) == 1 for d in free)])]  # fmt: skip


def joined(rng: np.random.Generator, free: tuple[str, ...]) -> nx.System:
    """Two bodies anywhere, joined by frames anywhere in them."""
    system = nx.System("pair")
    a, b = (system.add_body(name, **solid(rng), **somewhere(rng)) for name in "ab")
    sides: dict[str, Any] = {
        f"{what}_{s}": rng.normal(size=3) for s in "ab" for what in ("anchor", "axis", "reference")
    }
    system.add_joint(nx.GeneralJoint("joint", a, b, free=free, **sides))
    return system


def moved(system: nx.System, free: tuple[str, ...], x: np.ndarray) -> np.ndarray:
    """q (3, 7) with coordinates x of the joint: translations in axes of A, then rotations in the order of `free`."""
    model, frames = absolute_model(system), system.joint("joint").frames({})
    q = model.q.copy()
    R, d = np.eye(3), np.zeros(3)
    for direction, value in zip(free, x, strict=True):
        if len(direction) == 1:
            d["xyz".index(direction)] = value
        else:
            R = R @ Rotation.from_rotvec(value * np.eye(3)["xyz".index(direction[1])]).as_matrix()
    R_A = Rotation.from_quat(q[1, :4], scalar_first=True).as_matrix() @ frames.R_AJ
    p_A = q[1, 4:] + Rotation.from_quat(q[1, :4], scalar_first=True).as_matrix() @ frames.p_AJ
    R_b = R_A @ R @ frames.R_BJ.T
    q[2, :4], q[2, 4:] = quaternion(R_b[None])[0], p_A + R_A @ d - R_b @ frames.p_BJ
    return q


@pytest.mark.parametrize("free", ORDERED, ids=lambda free: "-".join(free) or "none")
def test_rows_vanish_wherever_the_free_directions_lead_and_coordinates_say_how_far(
    free: tuple[str, ...], rng: np.random.Generator
) -> None:
    system = joined(rng, free)
    x = rng.uniform(-3.0, 3.0, size=len(free))
    count = len(system.joint("joint").coordinates)
    assert count == (len(free) if sum(len(d) == 2 for d in free) < 3 else len(free) - 3)
    for m in range(count):
        system.add_driver(nx.Driver(f"d{m}", "joint", float(x[m]), freedom=m))
    model = absolute_model(system)
    q = moved(system, free, x)
    C = model.residual(q, 0.0)
    np.testing.assert_allclose(C, 0.0, atol=1e-12)
    assert len(C) == 6 - len(free) + count


@pytest.mark.parametrize("free", SUBSETS, ids=lambda free: "-".join(free) or "none")
def test_the_degrees_of_freedom_are_those_that_are_free(free: tuple[str, ...], rng: np.random.Generator) -> None:
    system = nx.System("one")
    body = system.add_body("body", **solid(rng), position=(0.3, -0.2, 0.4))
    system.add_joint(nx.GeneralJoint("joint", system.ground, body, free=free, at=(0.1, 0.2, 0.3), axis=(1, 2, 3)))
    found = nx.assemble(system).redundancy
    assert found.dof == len(free) and not found.redundant
    assert sorted(motion.way for motion in found.motions) == sorted(
        f"turns about {d[1]}" if len(d) == 2 else f"slides along {d}" for d in free
    )


def test_what_is_free_may_be_changed_until_the_joint_is_added() -> None:
    joint = nx.GeneralJoint("j", "ground", "a", free=("x",))
    joint.free = ("y", "rz")
    assert [row for row, _ in joint.rows] == ["DX", "DZ", "DotZX", "DotZY"]
    assert joint.coordinates == ("DY", "Angle") or joint.coordinates == ("DY", "AngleZX")
    joint.free = "qq"
    system = nx.System("late")
    system.add_body("a", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(nx.InputError, match="direction 'qq'"):
        system.add_joint(joint)


ALIKE: dict[str, tuple[Any, tuple[str, ...], tuple[int, ...], dict[int, str]]] = {
    "Cylindrical": (nx.Cylindrical, ("z", "rz"), (1, 0), {0: "=0.1*sin(5*t)"}),
    "Planar": (nx.Planar, ("x", "y", "rz"), (0, 1, 2), {1: "=0.2*sin(4*t)"}),
    "Universal": (nx.Universal, ("rz", "rx"), (0, 1), {0: "=t+t**2", 1: "=0.6*sin(6*t)"}),
}
"""A joint with a name of its own, the directions that it leaves free, its freedom of each, and the motion of those that are driven; others
are sprung."""
SPRUNG = {"x": (150.0, 0.0), "rz": (3.0, 0.1)}
"""Stiffness and damping. A slide's damping is left out: a bushing's and a joint's differ by O(dt) under ImplicitEuler, of order 1."""


def swinging(name: str, general: bool) -> nx.System:
    """A hand on a swinging arm, by a joint with a driver, and springs and dampers in what it leaves free."""
    cls, free, freedom, driven = ALIKE[name]
    sprung = [m for m in range(len(free)) if m not in driven]
    system = nx.System(name, gravity=(0.5, -9.81, 1.0))
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.1, 0.0, 0.4))
    system.add_body("hand", mass=0.7, inertia=(0.05, 0.03, 0.04), position=(0.3, 0.2, 0.8), com=(0.1, 0.05, -0.02))
    system.add_joint(nx.Revolute("shoulder", "ground", "arm", at=(0, 0, 0), axis=(1, 0.2, 0)))
    place: dict[str, Any] = {"at": (0.2, 0.1, 0.7), "reference": (1, 0, 0)}
    if general:
        system.add_joint(nx.GeneralJoint("joint", "arm", "hand", free=free, **place))
        for side in ("arm", "hand"):
            system.add_marker(f"in {side}", side, at=place["at"])
        if sprung:
            diagonal = [[SPRUNG[d][k] if d in [free[m] for m in sprung] else 0.0 for d in TURNS_FIRST] for k in (0, 1)]
            system.add_force(nx.Bushing("spring", "in arm", "in hand", stiffness=diagonal[0], damping=diagonal[1]))
    else:
        own = [
            [SPRUNG[free[freedom.index(n)]][k] if freedom.index(n) in sprung else 0.0 for n in range(len(free))]
            for k in (0, 1)
        ]
        system.add_joint(cls("joint", "arm", "hand", stiffness=own[0], damping=own[1], **place))
    for m, law in driven.items():
        system.add_driver(nx.Driver(f"drive {m}", "joint", law, freedom=m if general else freedom[m]))
    return system


TURNS_FIRST = ("rx", "ry", "rz", "x", "y", "z")


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize(
    ("method", "within"),
    [(nx.RungeKutta4(1e-3), 1e-9), (nx.HHT(dt=1e-3), 1e-9), (nx.ImplicitEuler(1e-3), 1e-9)],
    ids=lambda x: repr(x).split("(")[0],
)  # fmt: skip
def test_driven_and_sprung_it_moves_as_the_joint_that_leaves_the_same_directions_free(
    name: str, method: Any, within: float
) -> None:
    named, general = (nx.simulate(swinging(name, general), 0.3, method) for general in (False, True))
    for body in ("arm", "hand"):
        np.testing.assert_allclose(general.position(body).values, named.position(body).values, atol=within)
        np.testing.assert_allclose(general.rotation(body).values, named.rotation(body).values, atol=within)
    for m in ALIKE[name][3]:
        efforts = [result.effort(f"drive {m}").values[1:] for result in (general, named)]
        np.testing.assert_allclose(efforts[0], efforts[1], atol=2e3 * within)
    assert np.abs(named.position("hand").values[-1] - named.position("hand").values[0]).max() > 0.05

"""Every pair of shapes, over areas and at points: which body is named first makes no difference, and none is passed over that touches."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from turns import in_turns

import nexdyn as nx

SHAPES: dict[str, nx.Shape] = {
    "half-space": nx.HalfSpace(),
    "sphere": nx.Sphere(0.1),
    "capsule": nx.Capsule(0.06, 0.16),
    "box": nx.Box((0.24, 0.2, 0.16)),
    "cylinder": nx.Cylinder(0.1, 0.18),
    "cone": nx.Cone(0.1, 0.2),
    "ellipsoid": nx.Ellipsoid((0.1, 0.12, 0.08)),
    "hull": nx.Hull([(0.1, 0.1, 0.1), (0.1, -0.1, -0.1), (-0.1, 0.1, -0.1), (-0.1, -0.1, 0.1), (0.0, 0.0, -0.14)]),
}
PAIRS = [(a, b) for a, b in itertools.combinations_with_replacement(SHAPES, 2) if (a, b) != ("half-space",) * 2]
AT_POINTS = {("half-space", x) for x in ("sphere", "capsule", "box", "hull", "cylinder", "ellipsoid")} | {
    x for x in PAIRS if "sphere" in x or "capsule" in x
}
"""The pairs that touch at points."""
ROUND = ("sphere", "capsule", "cylinder", "cone", "ellipsoid")
LAWS: dict[str, dict[str, Any]] = {
    "areas": {"foundation_a": 3e8, "foundation_b": 2e8},
    "areas, one rigid": {"foundation_b": 2e8},
    "points": {"stiffness": 1e6, "exponent": 1.5},
}
DEEP = 2e-3
"""How far the bodies are moved into each other [m]."""
OTHER = {"a": "b", "b": "a"}


def scene(one: str, other: str, law: dict[str, Any], swapped: bool, at: np.ndarray | None = None) -> nx.System:
    """Two bodies that are pressed into each other a little, and turn and move against each other."""
    rng = np.random.default_rng(sum(map(ord, one + other)))
    system = nx.System("pair", gravity=(0.0, 0.0, 0.0))
    turned = rng.normal(size=(2, 4))
    turned /= np.linalg.norm(turned, axis=1)[:, None]
    if one == "half-space":
        turned[0] = (1.0, 0.0, 0.0, 0.0)
    away = rng.normal(size=3) * [0.1, 0.1, 1.0]
    place = away / np.linalg.norm(away) if at is None else at
    bodies = []
    for name, kind, q, moved in zip("pq", (one, other), turned, (0.0, 1.0), strict=True):
        system.add_body(
            name,
            mass=1.0 + moved,
            inertia=(0.004, 0.005, 0.006),
            position=moved * place,
            orientation=q,
            collision=[SHAPES[kind]],
        )
        v = rng.normal(size=6) * [1.0, 1.0, 1.0, 0.1, 0.1, 0.1]
        system.add_joint(nx.Free(f"free {name}", "ground", name, v0=v))
        bodies.append(name)
    found = nx.distance(system.body("p"), system.body("q"))
    if abs(found.distance + DEEP) > 0.1 * DEEP:
        return scene(one, other, law, swapped, place - (found.distance + DEEP) * found.normal)
    given = {**law, "damping": 2.0, "friction": 0.3}
    if swapped:
        given = {key[:-1] + OTHER[key[-1]] if key[:-1].endswith("_") else key: x for key, x in given.items()}
    system.add_contact(nx.Contact("on", *(bodies[::-1] if swapped else bodies), **given))
    return system


def told(system: nx.System) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the world's origin on body p at the start (6,), and the motion of both bodies after some steps."""
    found = nx.simulate(system, 40e-5, nx.SemiImplicitEuler(8e-5))
    points = found.contacts("on").isel(time=0)
    force = points.force.sum("contact").values
    moment = (np.cross(points.point.values, points.force.values) + points.moment.values).sum(axis=0)
    sign = 1.0 if points.a.values[0] == "p" else -1.0
    motion = [x.isel(time=-1).values.ravel() for x in (found.position(), found.velocity(), found.angular_velocity())]
    return sign * np.concatenate([force, moment]), np.concatenate(motion)


@pytest.mark.filterwarnings("ignore:contact .* starts:nexdyn.NexDynWarning")
@pytest.mark.parametrize(
    ("pair", "law", "friction"), in_turns(itertools.product(PAIRS, LAWS, ({}, {"friction_speed": 1e-3})), of=3)
)
def test_bodies_may_be_named_in_either_order(pair: tuple[str, str], law: str, friction: dict[str, Any]) -> None:
    """To rounding; what friction holds turns with `b`, so that bodies that stick while they spin differ by what they turn in the run."""
    given = LAWS[law] | friction
    if law == "points" and pair not in AT_POINTS:
        for swapped in (False, True):
            with pytest.raises(
                nx.InputError, match="is not supported; spheres, capsules, boxes, hulls, ellipsoids and cylinders touch"
            ):
                told(scene(*pair, given, swapped))
        return
    first, second = (told(scene(*pair, given, swapped)) for swapped in (False, True))
    assert np.abs(first[0][:3]).max() > 0.1
    assert_allclose(second[0], first[0], rtol=1e-9, atol=1e-9 * np.abs(first[0]).max())
    assert_allclose(second[1], first[1], rtol=1e-9, atol=1e-9 if friction else 2e-6)


@pytest.mark.filterwarnings("ignore:contact .* starts:nexdyn.NexDynWarning")
@pytest.mark.parametrize(("pair", "law"), in_turns(itertools.product(PAIRS, ("areas", "points"))))
def test_what_is_passed_over_does_not_touch(pair: tuple[str, str], law: str) -> None:
    """A step gives the impulse of the force that a result tells, which looks at all pairs; of bodies in many places, near and far."""
    if law == "points" and pair not in AT_POINTS:
        return
    rng, dt = np.random.default_rng(5), 1e-8
    system = nx.System("near", gravity=(0.0, 0.0, 0.0))
    facets = (
        law == "areas" and pair[0] in ROUND and pair[1] in ROUND
    )  # thousands: those that lie deep in each other take seconds
    places = [("p", pair[0], np.zeros(3), (1.0, 0.0, 0.0, 0.0))]
    for k in range(6 if facets else 12):
        away, q = rng.normal(size=3), rng.normal(size=4)
        away *= rng.uniform(0.17, 0.28) / np.linalg.norm(away)
        away[2] += 0.1 if pair[0] == "half-space" else 0.0
        q /= np.linalg.norm(q)
        if facets:
            found = nx.distance(SHAPES[pair[0]], replace(SHAPES[pair[1]], position=away, orientation=q))
            away -= (found.distance - rng.uniform(-0.004, 0.004)) * found.normal
        places.append((f"q{k}", pair[1], away, q))
    for name, kind, at, turned in places:
        system.add_body(
            name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=at, orientation=turned, collision=[SHAPES[kind]]
        )
        system.add_joint(nx.Fixed("held", "ground", name) if name == "p" else nx.Free(f"free {name}", "ground", name))
    system.add_contact(nx.Contact("on", "q*", "p", **LAWS[law]))
    found = nx.simulate(system, dt, nx.SemiImplicitEuler(dt))
    points = found.contacts("on").isel(time=0)
    touching = 0
    for name, *_ in places[1:]:
        force = sum(
            (1.0 if a == name else -1.0) * f
            for a, b, f in zip(points.a.values, points.b.values, points.force.values, strict=True)
            if name in (a, b)
        )
        touching += bool(np.any(force))
        v = found.velocity(name).values[-1]
        assert_allclose(v, dt * force, rtol=1e-6, atol=1e-6 * dt * np.abs(force).max())
    assert 0 < touching < len(places) - 1

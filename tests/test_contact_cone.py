"""Friction never exceeds μ f_n, whatever touches and whatever the method; forces are continuous where bodies touch and part."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_lab import Bench, motion
from scipy.optimize import bisect
from scipy.spatial.transform import Rotation
from test_contact_meshes import angle_iron
from turns import in_turns

import nexdyn as nx
from nexdyn.forces.ball_contact import BallContact
from nexdyn.forces.mesh_contact import MeshContact
from nexdyn.forces.round_contact import RoundContact
from nexdyn.forces.surface_contact import SurfaceContact
from nexdyn.problems import recast

G, M, MU, HALF = 9.81, 1.0, 0.4, 0.05
METHODS: dict[str, Any] = {
    "rk4": nx.RungeKutta4(1e-4), "projection": nx.Projection(dt=1e-4), "hht": nx.HHT(rtol=1e-5), "hht dt": nx.HHT(dt=2e-4),
    "bdf2": nx.ImplicitEuler(5e-4, bdf2=True), "euler": nx.ImplicitEuler(5e-4),
}  # fmt: skip
SIZE = (0.2, 0.2, 2.0 * HALF)
LAWS: dict[str, dict[str, Any]] = {
    "corners": {"stiffness": 1e5, "exponent": 1.0}, "box": {"foundation_b": 1e7}, "mesh": {"foundation_b": 1e7},
    "disc": {"foundation_b": 1e7}, "directed": {"foundation_b": 1e7, "friction_across": 0.2, "friction_direction_b": (1, 0, 0)},
}  # fmt: skip


def pulled(kind: str) -> nx.System:
    """A block that falls by 1 mm on the ground and is pulled beside its middle, to all sides, once a second by more than friction bears."""
    system = nx.System("pulled", gravity=(0.0, 0.0, -G))
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    shapes: dict[str, nx.Shape] = {
        "mesh": recast.mesh_of(corners * SIZE, recast.triangles_about(corners)), "disc": nx.Cylinder(0.1, 2.0 * HALF)
    }  # fmt: skip
    shape = shapes.get(kind, nx.Box(SIZE))
    inertia = (0.004, 0.004, 0.0067)
    system.add_body("block", mass=M, inertia=inertia, position=(0.0, 0.0, HALF + 1e-3), collision=[shape])
    system.add_joint(nx.Free("free", "ground", "block"))
    turns = 2.0 * math.pi
    size = f"{0.65 * MU * M * G!r}*(1 - cos({turns!r}*t))"
    force = (f"={size}*cos({turns!r}*t)", f"={size}*sin({turns!r}*t)", 0)
    system.add_force(nx.AppliedForce("pull", "block", force=force, anchor=(0.05, 0.03, -HALF)))
    below = "ground"
    if kind == "mesh":
        plate = np.array((2.0, 2.0, 0.2)) * corners - (0.0, 0.0, 0.1)
        system.add_body(
            "plate", mass=1.0, inertia=(1, 1, 1), collision=[recast.mesh_of(plate, recast.triangles_about(corners))]
        )
        system.add_joint(nx.Fixed("stands", "ground", "plate"))
        below = "plate"
    system.add_contact(nx.Contact("floor", "block", below, damping=5.0, friction=MU, **LAWS[kind]))
    return system


@pytest.mark.parametrize(("kind", "name"), in_turns(((kind, name) for kind in LAWS for name in METHODS), of=3))
def test_friction_stays_within_its_cone_while_a_block_sticks_slips_and_turns(kind: str, name: str) -> None:
    """At all times that are recorded; and the forces that are recorded are those that act: with the pull they change the momentum."""
    result = nx.simulate(pulled(kind), 1.0, METHODS[name], output_times=np.linspace(0.0, 1.0, 1001))
    floor = result.contacts("floor")
    normal, along, deep = (floor[x].values for x in ("normal", "tangential", "penetration"))
    assert (normal >= 0.0).all() and (along <= MU * normal * (1.0 + 1e-9)).all()
    assert (normal[deep < 0.0] == 0.0).all() and (deep < 0.0).any()
    bears, sticks = normal > 0.0, floor.sticks.values == 1.0
    assert (bears & sticks).mean() > 0.1 and (bears & ~sticks).mean() > 0.1
    w, _, _, z = result.orientation("block").values[-1]
    assert abs(2.0 * math.atan2(z, w)) > 0.02
    t, force = result.t.values, floor.force.values.sum(axis=1)
    if kind == "directed":  # an ellipse
        assert (np.hypot(force[:, 0] / MU, force[:, 1] / 0.2) <= normal[:, 0] * (1.0 + 1e-6)).all()
    pull = 0.65 * MU * M * G * (1.0 - np.cos(2.0 * np.pi * t))
    force[:, 0] += pull * np.cos(2.0 * np.pi * t)
    force[:, 1] += pull * np.sin(2.0 * np.pi * t)
    force[:, 2] -= M * G
    late = t >= 0.2  # when it has come to rest after its fall
    v = M * result.velocity("block").values[late]
    gained = 0.5e-3 * (force[late][1:] + force[late][:-1]).cumsum(axis=0)
    assert np.abs(v[1:] - v[0] - gained).max() < 2e-3 * MU * M * G


# --- touch and release ----------------------------------------------------------------------------------------------

K, STEPS = 3e6, (400, 1600)
FLOOR, FLAT = nx.HalfSpace(), {"damping": 1.0, "friction": 0.5, "friction_speed": 0.05}
CASES = (
    "box",
    "mesh",
    "mesh on mesh",
    "cylinder",
    "disc",
    "cone",
    "capsule",
    "ellipsoid",
    "egg at a point",
    "ball",
    "ball on a box",
)


def bench(case: str, place: Path) -> Bench:
    """What touches, a moving and b fixed."""
    over: dict[str, Any] = {"foundation_b": K, **FLAT}
    solids: dict[str, nx.Shape] = {
        "cylinder": nx.Cylinder(0.1, 0.3), "disc": nx.Cylinder(0.2, 0.02), "cone": nx.Cone(0.1, 0.25), "capsule": nx.Capsule(0.1, 0.2),
        "ellipsoid": nx.Ellipsoid((0.1, 0.2, 0.15)),
    }  # fmt: skip
    match case:
        case "box":
            return Bench(SurfaceContact("c", "a", "b", solid_a=nx.Box((0.3, 0.2, 0.1)), solid_b=FLOOR, **over))
        case "mesh":
            return Bench(MeshContact("c", "a", "b", solid_a=angle_iron(place / "iron.obj"), solid_b=FLOOR, **over))
        case "mesh on mesh":
            iron, corners = angle_iron(place / "iron.obj"), np.array([(0.1, 0.08, 0.06)])
            signs = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
            block = recast.mesh_of(signs * corners, recast.triangles_about(signs))
            return Bench(MeshContact("c", "a", "b", solid_a=block, solid_b=iron, foundation_a=K, **over))
        case "egg at a point":
            return Bench(
                RoundContact(
                    "c", "a", "b", solid_a=solids["ellipsoid"], solid_b=FLOOR, stiffness=1e6, hertz=1.0, **FLAT
                )
            )
        case "ball":
            return Bench(BallContact("c", "a", "b", radius=0.1, solid=FLOOR, **over))
        case "ball on a box":
            flat = nx.Box((0.5, 0.4, 0.2), position=(0.0, 0.0, -0.1))
            return Bench(BallContact("c", "a", "b", radius=0.1, solid=flat, stiffness=1e6, **FLAT))
    return Bench(RoundContact("c", "a", "b", solid_a=solids[case], solid_b=FLOOR, **over))


def path(n: int, low: float, up: np.ndarray, first: Rotation, at: np.ndarray) -> np.ndarray:
    """Motions (n + 1, 18) in 0.2 s down to `low` above `at` along `up`, and up again, turning and moving aside, with their velocities."""
    t = np.linspace(-0.1, 0.1, n + 1)[:, None]
    w, aside = np.array([0.7, -0.4, 1.1]), np.array([0.05, 0.03, 0.0])
    aside = aside - (aside @ up) * up
    R = (Rotation.from_rotvec(w * t) * first).as_matrix().reshape(n + 1, 9)
    p = (low + 9.0 * t**2) * up + aside * t + at
    v = 18.0 * t * up + aside
    return np.hstack([R, p, np.tile(w, (n + 1, 1)), v])


@pytest.mark.parametrize("case", CASES)
def test_forces_are_continuous_where_bodies_touch_and_part(case: str, tmp_path: Path) -> None:
    """From apart to pressed and apart again: of what jumps, the largest step would be the same with steps of a quarter."""
    made, up, first = bench(case, tmp_path), np.array([0.0, 0.0, 1.0]), Rotation.from_rotvec((0.3, 0.2, 0.1))
    at = np.zeros(3)
    if case == "mesh on mesh":  # onto the foot of the L, from inside, apart from its leg
        up, at, first = np.array([0.0, 1.0, 0.0]), np.array([0.04, 0.0, 0.0]), Rotation.from_rotvec((0.1, 0.05, 0.2))
    B = motion((0.0, 0.0, 0.0))[None]

    def touches(height: float) -> float:
        row = path(2, height, up, first, at)[1:2]
        return float(made.seen(row, B)[0, 6] > 0.0) - 0.5

    low = bisect(touches, 0.0, 0.5, xtol=1e-9) - 0.01
    largest = []
    for n in STEPS:
        A = path(n, low, up, first, at)
        F = made.wrenches(A, np.repeat(B, n + 1, axis=0))[:, :6]
        assert (F[[0, -1]] == 0.0).all() and (np.linalg.norm(F, axis=1) > 0.0).mean() > 0.1
        push = F[:, 3:] @ up
        assert push.min() >= -1e-12 * push.max()
        largest.append(np.abs(np.diff(F, axis=0)).max(axis=0))
    big = largest[0] > 1e-3 * largest[0].max()
    assert (largest[1][big] < 0.3 * largest[0][big]).all(), largest

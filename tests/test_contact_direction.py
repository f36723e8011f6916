"""Friction with a direction: another coefficient across than along it, in every kind of contact, under every method."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contact_lab import Bench, at_random
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import nexdyn as nx
from nexdyn.describe import from_dict, to_dict
from nexdyn.forces.ball_contact import BallContact
from nexdyn.forces.mesh_contact import MeshContact
from nexdyn.forces.round_contact import RoundContact
from nexdyn.forces.surface_contact import SurfaceContact

G, MU, ACROSS = 9.81, 0.4, 0.1
METHODS: dict[str, Any] = {
    "rk4": nx.RungeKutta4(1e-4),
    "hht": nx.HHT(),
    "hht dt": nx.HHT(dt=1e-3),
    "projection": nx.Projection(rtol=1e-8),
    "euler": nx.ImplicitEuler(1e-3),
    "bdf2": nx.ImplicitEuler(1e-3, bdf2=True),
}
FIRST = {"euler"}
"""Methods of first order."""
POINTS: dict[str, Any] = {"stiffness": 1e6, "exponent": 1.0, "damping": 20.0}
AREAS: dict[str, Any] = {"foundation_b": 1e8, "damping": 20.0}
KINDS = {"points": POINTS, "areas": AREAS}


def block(
    v0: Any = (0.0, 0.0),
    slope: float = 0.0,
    azimuth: float = 0.0,
    shape: nx.Shape | None = None,
    swapped: bool = False,
    **law: Any,
) -> nx.System:
    """A flat block on the ground, pulled as on a slope in the direction `azimuth`; friction goes along the x axis of the ground."""
    pull = G * math.sin(slope)
    system = nx.System("block", gravity=(pull * math.cos(azimuth), pull * math.sin(azimuth), -G * math.cos(slope)))
    given = {"friction": MU, "friction_across": ACROSS, "friction_direction_b": (3.0, 0.0, 0.0)} | law
    depth = G * math.cos(slope) / (4e6 if "stiffness" in given else 0.09 * 1e8)
    system.add_body(
        "block",
        mass=1.0,
        inertia=(0.1, 0.1, 0.1),
        position=(0, 0, 0.02 - depth),
        collision=[shape or nx.Box((0.3, 0.3, 0.04))],
    )
    system.add_joint(nx.Free("free", "ground", "block", v0=(0, 0, 0, *v0, 0)))
    if swapped:
        other = {"a": "b", "b": "a"}
        given = {x[:-1] + other[x[-1]] if x.endswith(("_a", "_b")) else x: value for x, value in given.items()}
    system.add_contact(nx.Contact("on", *(("ground", "block") if swapped else ("block",)), **given))
    return system


def slid(v0: tuple[float, float], t: float) -> np.ndarray:
    """Where a rigid block that slides from v0 comes to."""

    def motion(t: float, y: np.ndarray) -> np.ndarray:
        S = np.array([1.0, ACROSS / MU])
        glide = S * y[2:]
        return np.concatenate([y[2:], -MU * G * S * glide / np.linalg.norm(glide)])

    found = solve_ivp(motion, (0.0, t), [0.0, 0.0, *v0], rtol=1e-10, atol=1e-12)
    return np.asarray(found.y[:2, -1])


# --- the law ----------------------------------------------------------------------------------------------------------

BRICK, FLOOR = nx.Box((0.3, 0.2, 0.1), position=(0.02, 0.0, 0.01), orientation=(0.8, 0.0, 0.6, 0.0)), nx.HalfSpace()
SOLIDS: dict[str, Any] = {
    "box and floor": lambda **law: SurfaceContact("c", "a", "b", solid_a=BRICK, solid_b=FLOOR, foundation_a=3e6, **law),
    "boxes": lambda **law: SurfaceContact(
        "c", "a", "b", solid_a=BRICK, solid_b=nx.Box((0.2, 0.2, 0.2)), foundation_a=3e6, foundation_b=1e6, **law
    ),
    "meshes": lambda **law: MeshContact(
        "c", "a", "b", solid_a=BRICK, solid_b=nx.HeightField(((0.1, 0.05), (0.1, 0.1)), (0.2, 0.2), bottom=-0.1),
        foundation_a=3e6, foundation_b=1e6, **law
    ),
    "cylinder and floor": lambda **law: RoundContact(
        "c", "a", "b", solid_a=nx.Cylinder(0.1, 0.2), solid_b=FLOOR, foundation_b=3e6, **law
    ),
    "ball at a point": lambda **law: BallContact("c", "a", "b", radius=0.1, solid=BRICK, stiffness=1e5, **law),
    "ball over an area": lambda **law: BallContact("c", "a", "b", radius=0.1, solid=BRICK, foundation_b=3e6, **law),
}  # fmt: skip
RUBS: dict[str, Any] = {"friction": 0.5, "friction_speed": 0.1}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(31)


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("name", SOLIDS)
def test_friction_across_is_the_ellipse_of_its_law(name: str, side: str, rng: np.random.Generator) -> None:
    """Of what moves without turning: f_t = −μ f_n S² v_t/√(|S v_t|² + v_f²) where one plane is touched; it takes energy everywhere."""
    e, ratio = np.array([0.3, -0.5, 0.7]), 0.3
    force = SOLIDS[name](**RUBS, friction_across=ratio * RUBS["friction"], **{f"friction_direction_{side}": 5.0 * e})
    A, B = at_random(rng, 80, 0.08, 0.5), at_random(rng, 80, 0.02, 0.5)
    rows = A if side == "a" else B
    seen = Bench(force).seen(A, B)
    touching = seen[:, 6] > 0.0
    assert touching.sum() > 8
    power = (seen[:, :3] * (A[:, 15:] - B[:, 15:])).sum(axis=1)[touching]
    normal = (seen[:, 6, None] * seen[:, 9:12] * (A[:, 15:] - B[:, 15:])).sum(axis=1)[touching]
    assert (power - normal <= 1e-9 * np.abs(power).max()).all()
    if name in ("boxes", "meshes"):
        return
    for row, turned in zip(seen[touching], rows[touching], strict=True):
        n, v, f_n = row[9:12], row[12:15], row[6]
        of_side = force.placed({})["ab".index(side)].R  # the rows are motions of the force's frames
        along = turned[:9].reshape(3, 3) @ of_side.T @ (e / np.linalg.norm(e))
        along -= (n @ along) * n
        S = ratio * np.eye(3) + (1.0 - ratio) * np.outer(along, along)
        f_t = -RUBS["friction"] * f_n * S @ S @ v / math.hypot(np.linalg.norm(S @ v), RUBS["friction_speed"])
        assert_allclose(row[:3], f_n * n + f_t, rtol=0, atol=1e-9 * f_n)


@pytest.mark.parametrize("name", SOLIDS)
def test_one_coefficient_needs_no_direction(name: str, rng: np.random.Generator) -> None:
    A, B = at_random(rng, 60, 0.08, 0.5, 2.0), at_random(rng, 60, 0.02, 0.5, 2.0)
    plain = Bench(SOLIDS[name](**RUBS)).wrenches(A, B)
    given = Bench(SOLIDS[name](**RUBS, friction_across=RUBS["friction"], friction_direction_b=(1, 2, 3))).wrenches(A, B)
    assert np.array_equal(plain, given) and np.abs(plain).max() > 0.0


# --- a block ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METHODS)
def test_a_block_slides_as_the_ellipse_says(name: str, kind: str) -> None:
    """From 45 degrees to the direction it turns towards the slippery side."""
    result = nx.simulate(block((1.0, 1.0), **KINDS[kind]), 0.3, METHODS[name])
    expected = slid((1.0, 1.0), 0.3)
    assert_allclose(result.position("block").values[-1, :2], expected, rtol=0, atol=1e-3 if name in FIRST else 2e-4)
    assert result.energy_drift is None or not result.contacts("on").sticks.values[-1].any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["hht", "hht dt", "euler", "bdf2"])
def test_it_holds_within_the_ellipse_and_slides_beyond(name: str, kind: str) -> None:
    """5 % below and above, for a pull of 30 degrees to the direction."""
    azimuth = math.radians(60.0)
    most = 1.0 / math.hypot(math.cos(azimuth) / MU, math.sin(azimuth) / ACROSS)
    held = nx.simulate(block((0.0, 0.0), math.atan(0.95 * most), azimuth, **KINDS[kind]), 2.0, METHODS[name])
    x = held.position("block").values
    assert np.abs(x[held.t.values > 1.0, :2] - x[-1, :2]).max() < 1e-8
    slope = math.atan(1.05 * most)
    free = nx.simulate(block((0.0, 0.0), slope, azimuth, **KINDS[kind]), 0.5, METHODS[name])
    assert np.linalg.norm(free.velocity("block").values[-1, :2]) > 0.02
    assert not free.contacts("on").sticks.values[-1].any()


@pytest.mark.parametrize("kind", KINDS)
def test_equilibrium_holds_it_where_a_run_does(kind: str) -> None:
    """Along its direction up to μ, across up to the other."""
    for azimuth, most in ((0.0, MU), (0.5 * math.pi, ACROSS)):
        rest = nx.equilibrium(block((0.0, 0.0), math.atan(0.9 * most), azimuth, **KINDS[kind]))
        assert rest.stability != "unstable"
    with pytest.raises(nx.SolveError):
        nx.equilibrium(block((0.0, 0.0), math.atan(1.1 * ACROSS), 0.5 * math.pi, **KINDS[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_the_direction_goes_with_its_body_and_sides_change_places(kind: str) -> None:
    """Of a block turned by 90 degrees about its normal, whose own x is the direction."""
    s = math.sqrt(0.5)
    result = {}
    for name, given in {
        "of the ground": {"friction_direction_b": (0.0, 1.0, 0.0)},
        "of the block": {"friction_direction_a": (1.0, 0.0, 0.0), "friction_direction_b": None},
    }.items():
        for swapped in (False, True):
            result[name, swapped] = block((1.0, 0.5), swapped=swapped, **KINDS[kind], **given)
    turned = {}
    for key, system in result.items():
        found = nx.simulate(system, 0.2, nx.HHT(), q0={"free": (s, 0.0, 0.0, s, 0.0, 0.0, 0.02 - 1e-6)})
        turned[key] = found.position("block").values[-1, :2]
    first, *others = turned.values()
    for other in others:
        assert_allclose(other, first, rtol=0, atol=1e-5)


def test_scenes_parameters_and_batches_know_it() -> None:
    contact = nx.Contact(
        "on", "block", **POINTS, friction=MU, friction_across="=slippery", friction_direction_b=(1, 0, 0)
    )
    again = from_dict(to_dict(block((1.0, 1.0), **POINTS))).contact("on")
    assert (again.friction_across, again.friction_direction_b) == (ACROSS, (3.0, 0.0, 0.0))
    fresh = nx.System("block", gravity=(0, 0, -G))
    fresh.parameter("slippery", 0.1)
    fresh.add_body(
        "block", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.02), collision=[nx.Box((0.3, 0.3, 0.04))]
    )
    fresh.add_joint(nx.Free("free", "ground", "block", v0=(0, 0, 0, 1, 1, 0)))
    fresh.add_contact(contact)
    batch = nx.simulate(fresh, 0.2, nx.SemiImplicitEuler(1e-4), batch={"parameters": {"slippery": [0.1, 0.3]}})
    for i, x in enumerate((0.1, 0.3)):
        alone = nx.simulate(fresh.with_parameters({"slippery": x}), 0.2, nx.SemiImplicitEuler(1e-4))
        assert_allclose(batch.position("block").values[i, -1], alone.position("block").values[-1], rtol=0, atol=1e-9)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no direction": ({"friction_direction_b": None}, "has friction_across, and no direction"),
    "two directions": ({"friction_direction_a": (1, 0, 0)}, "friction_direction_a and friction_direction_b"),
    "no coefficient": ({"friction_across": None}, "has a friction_direction_b, and no friction_across"),
    "no friction": ({"friction": 0.0}, "has friction_across, and no friction along"),
    "negative": ({"friction_across": -0.1}, "friction_across of .* is -0.1; it must be 0 or more"),
    "no vector": ({"friction_direction_b": (0, 0, 0)}, "friction_direction_b of .* has no direction"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_valid_is_refused_by_name(name: str) -> None:
    given, message = REFUSED[name]
    with pytest.raises(nx.InputError, match=message):
        nx.simulate(block(**POINTS, **given), 0.1, nx.HHT(dt=1e-3))

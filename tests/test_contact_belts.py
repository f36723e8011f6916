"""Surfaces that run along their own bodies: conveyor belts, crawlers and rollers, under every method, in every kind of contact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contact_lab import Bench as SolidBench
from contact_lab import at_random
from forces_lab import RUNNING, Bench, Motion
from numpy.testing import assert_allclose
from sticking_lab import STEPS, box

import nexdyn as nx
from nexdyn.describe import from_dict, to_dict
from nexdyn.forces.ball_contact import BallContact
from nexdyn.forces.contact_data import PointData
from nexdyn.forces.mesh_contact import MeshContact
from nexdyn.forces.surface_contact import SurfaceContact

G, MU, SPEED = 9.81, 0.4, 1.0
REACHED = SPEED / (MU * G)
"""When what is put on a belt has its speed [s]."""
ALONG = {"surface_velocity_b": (SPEED, 0.0, 0.0)}
LAW: dict[str, Any] = {"damping": 50.0, "friction": MU}
POINTS: dict[str, Any] = {"stiffness": 1e6, "exponent": 1.0}
AREAS: dict[str, Any] = {"foundation_b": 1e8}
SOLID = 0.4
"""Inertia of a solid ball, as a part of m r²."""


def travelled(t: float) -> float:
    """How far the block has come, put on the belt at rest."""
    return 0.5 * MU * G * min(t, REACHED) ** 2 + SPEED * max(0.0, t - REACHED)


def conveyor(
    load: nx.Shape, height: float, swapped: bool = False, velocity: Any = (SPEED, 0.0, 0.0), **law: Any
) -> nx.System:
    """A load at rest on a belt that stands, whose surface runs."""
    system = nx.System("conveyor", gravity=(0.0, 0.0, -G))
    inertia = 0.4 * 0.1**2
    system.add_body("load", mass=1.0, inertia=(inertia,) * 3, position=(0.0, 0.0, height), collision=[load])
    system.add_joint(nx.Free("free", "ground", "load"))
    system.add_body(
        "belt", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, -0.1), collision=[nx.Box((4.0, 1.0, 0.2))]
    )
    system.add_joint(nx.Fixed("stands", "ground", "belt"))
    given = {**LAW, **law, "surface_velocity_b": velocity}
    if swapped:
        other = {"a": "b", "b": "a"}
        given = {
            key[:-1] + other[key[-1]] if key.endswith(("_a", "_b")) else key: value for key, value in given.items()
        }
    system.add_contact(nx.Contact("on", *(("belt", "load") if swapped else ("load", "belt")), **given))
    return system


def plate(velocity: Any = (SPEED, 0.0, 0.0), **law: Any) -> nx.System:
    """A box of corners on the ground, which runs."""
    system = nx.System("plate", gravity=(0.0, 0.0, -G))
    system.add_body("load", mass=1.0, position=(0.0, 0.0, 0.05 - G / 4e6), shapes=[nx.Box((0.3, 0.3, 0.1))])
    system.add_joint(nx.Free("free", "ground", "load"))
    system.add_contact(nx.Contact("on", "load", **{**POINTS, **LAW, "surface_velocity_b": velocity, **law}))
    return system


# --- the law --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", RUNNING.values(), ids=RUNNING.keys())
def test_a_surface_that_runs_rubs_as_a_body_that_moves_does(make: Any, rng: np.random.Generator) -> None:
    """Without damping, which sees the velocities of bodies alone: with it, what presses is the same as where nothing runs."""
    running = make()
    bench = Bench(running.copied(damping=0.0))
    still = Bench(running.copied(damping=0.0, surface_velocity_a=(0.0,) * 3, surface_velocity_b=(0.0,) * 3))
    own = PointData(running.data({}))
    u = np.array([own.runs_a, own.runs_b])
    assert np.abs(u).max(axis=1).min() > 0.3
    pressed = 0
    for _ in range(50):
        motion = Motion.random(rng)
        moved = motion._replace(v=motion.v + np.einsum("nij,nj->ni", motion.R, u))
        F, expected = bench.forces(motion), still.forces(moved)
        assert_allclose(F, expected, rtol=0, atol=1e-12 * np.abs(expected).max(initial=1.0))
        pressed += bool(np.abs(F).max() > 0.0 and np.abs(F - still.forces(motion)).max() > 1e-3 * np.abs(F).max())
    assert pressed > 5


BRICK, FLOOR = nx.Box((0.3, 0.2, 0.1), position=(0.02, 0.0, 0.01), orientation=(0.8, 0.0, 0.6, 0.0)), nx.HalfSpace()
U_A, U_B = (0.3, -0.2, 0.5), (0.6, 0.1, 0.0)
RUBBING: dict[str, Any] = {"friction": 0.5, "friction_speed": 0.1, "surface_velocity_a": U_A, "surface_velocity_b": U_B}
SOLIDS: dict[str, Any] = {
    "box and floor": lambda **law: SurfaceContact("c", "a", "b", solid_a=BRICK, solid_b=FLOOR, foundation_a=3e6, **law),
    "boxes": lambda **law: SurfaceContact(
        "c", "a", "b", solid_a=BRICK, solid_b=nx.Box((0.2, 0.2, 0.2)), foundation_a=3e6, foundation_b=1e6, **law
    ),
    "meshes": lambda **law: MeshContact(
        "c", "a", "b", solid_a=BRICK, solid_b=nx.HeightField(((0.1, 0.05), (0.1, 0.1)), (0.2, 0.2), bottom=-0.1),
        foundation_a=3e6, foundation_b=1e6, **law
    ),
    "ball at a point": lambda **law: BallContact("c", "a", "b", radius=0.1, solid=BRICK, stiffness=1e5, **law),
    "ball over an area": lambda **law: BallContact("c", "a", "b", radius=0.1, solid=BRICK, foundation_b=3e6, **law),
}  # fmt: skip


@pytest.mark.parametrize("name", SOLIDS)
def test_so_does_that_of_a_solid(name: str, rng: np.random.Generator) -> None:
    """And what presses, and how, is the same, damped or not."""
    running = SOLIDS[name](**RUBBING)
    still = SOLIDS[name](**{**RUBBING, "surface_velocity_a": (0.0,) * 3, "surface_velocity_b": (0.0,) * 3})
    own = PointData(running.data({}))
    u = np.array([own.runs_a, own.runs_b])
    A, B = at_random(rng, 60, 0.08, 0.5, 1.0), at_random(rng, 60, 0.02, 0.5, 1.0)
    moved = []
    for rows, of_side in zip((A, B), u, strict=True):
        other = rows.copy()
        other[:, 15:18] += rows[:, :9].reshape(-1, 3, 3) @ of_side
        moved.append(other)
    F, expected = SolidBench(running).wrenches(A, B), SolidBench(still).wrenches(*moved)
    size = np.abs(expected).max()
    assert_allclose(F, expected, rtol=0, atol=1e-12 * size)
    assert (np.abs(F - SolidBench(still).wrenches(A, B)).max(axis=1) > 1e-3 * size).sum() > 5
    damped, bare = (SolidBench(x.copied(damping=2.0)).seen(A, B) for x in (running, still))
    assert np.array_equal(damped[:, [6, 8, 9, 10, 11, 16, 17]], bare[:, [6, 8, 9, 10, 11, 16, 17]])
    touching = damped[:, 6] > 0.0
    assert touching.sum() > 10
    slip = damped[touching, 12:15]
    assert np.abs((slip * damped[touching, 9:12]).sum(axis=1)).max() < 1e-12
    assert np.abs(slip - bare[touching, 12:15]).max() > 0.1


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


# --- a block ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STEPS)
def test_a_block_has_the_speed_of_the_belt_after_v_over_mu_g(name: str) -> None:
    """Then friction that sticks carries it without slip."""
    method = STEPS[name]
    dt = getattr(method, "dt", None)
    result = nx.simulate(box(MU, **ALONG), 0.5, method, output_every=round(0.05 / dt) if dt else 1)
    t, x, v = result.t.values, result.position("box").values[:, 0], result.velocity("box").values[:, 0]
    before, after = t < REACHED - 1e-2, t > REACHED + 5e-2
    assert before.sum() > 3 and after.sum() > 2
    assert_allclose(v[before], MU * G * t[before], rtol=0, atol=5e-3)
    assert_allclose(v[after], SPEED, rtol=0, atol=1e-5)
    assert_allclose(x[after], [travelled(s) for s in t[after]], rtol=0, atol=1.5e-3)
    told = result.contacts()
    assert (told.sticks.values[before & (t > 0.01)] == 0.0).all() and (told.sticks.values[after] == 1.0).all()
    assert np.abs(told.sliding.values[after]).max() < 1e-5
    assert_allclose(told.sliding.values[before, :, 0], (v[before] - SPEED)[:, None] * np.ones(4), rtol=0, atol=1e-2)


def test_it_comes_there_as_the_closed_form_says() -> None:
    result = nx.simulate(box(MU, **ALONG), 0.5, nx.HHT(), output_times=[0.0, 0.1, 0.2, 0.5])
    assert_allclose(result.position("box").values[1:, 0], [travelled(t) for t in (0.1, 0.2, 0.5)], rtol=0, atol=5e-6)
    # the force on the belt drives it: what it does is v F
    assert result.contacts().tangential.values[1].sum() == pytest.approx(2.0 * MU * G, rel=1e-6)


@pytest.mark.parametrize(
    "method", [nx.HHT(), nx.RungeKutta4(1e-4), nx.ImplicitEuler(1e-3)], ids=["hht", "rk4", "euler"]
)
def test_friction_that_is_regularised_carries_it_with_its_creep_alone(method: Any) -> None:
    result = nx.simulate(box(MU, friction_speed=1e-3, **ALONG), 0.5, method)
    t, v = result.t.values, result.velocity("box").values[:, 0]
    assert not result.force_state().size
    assert v[-1] == pytest.approx(SPEED, abs=1e-6)
    assert result.position("box").values[-1, 0] == pytest.approx(travelled(t[-1]), abs=2e-3)
    assert not result.contacts().sticks.values.any()


LOADS: dict[str, Any] = {
    "box over an area": (nx.Box((0.3, 0.3, 0.1)), 0.05 - G / (1e8 * 0.09), AREAS, 1.0),
    "mesh over an area": (
        nx.HeightField(((0.05, 0.05), (0.05, 0.03)), (0.3, 0.3), bottom=-0.05), 0.05 - G / (1e8 * 0.09), AREAS, 1.0,
    ),
    "ball over an area": (nx.Sphere(0.1), 0.1 - 1e-4, AREAS, SOLID / (1.0 + SOLID)),
    "ball at a point": (nx.Sphere(0.1), 0.1 - 1e-6, POINTS, SOLID / (1.0 + SOLID)),
}  # fmt: skip
"""What is put on the belt, how high, how it touches, and which part of the belt's speed it comes to: a ball rolls, with 2/7."""


@pytest.mark.parametrize("name", LOADS)
@pytest.mark.parametrize("friction_speed", [None, 1e-3], ids=["sticks", "regularised"])
def test_whatever_touches_is_carried_whichever_side_is_named_first(name: str, friction_speed: float | None) -> None:
    load, height, law, part = LOADS[name]
    for method in (nx.HHT(), nx.ImplicitEuler(1e-3)):
        ends = []
        for swapped in (False, True):
            system = conveyor(load, height, swapped, friction_speed=friction_speed, **law)
            result = nx.simulate(system, 0.5, method, output_times=[0.0, 0.05, 0.5])
            ends.append(result.velocity("load").values[:, 0])
            if friction_speed is None:
                assert result.contacts("on").sticks.values[-1].all()
        assert_allclose(ends[1], ends[0], rtol=0, atol=1e-9)
        assert ends[0][1] == pytest.approx(0.05 * MU * G, abs=2e-3)
        # a ball rolls on less than its radius by what it gives, 0.6 mm over an area
        assert ends[0][2] == pytest.approx(part * SPEED, abs=3e-3)


def test_a_ball_of_the_half_space_over_an_area_rolls_too() -> None:
    system = nx.System("ball", gravity=(0.0, 0.0, -G))
    system.add_body("load", mass=1.0, position=(0.0, 0.0, 0.1 - 1e-5), shapes=[nx.Sphere(0.1)])
    system.add_joint(nx.Free("free", "ground", "load"))
    system.add_contact(
        nx.Contact("on", "ground", "load", foundation_a=1e9, surface_velocity_a=(0.0, -SPEED, 0.0), **LAW)
    )
    result = nx.simulate(system, 0.3, nx.HHT())
    assert_allclose(result.velocity("load").values[-1], (0.0, -2.0 / 7.0 * SPEED, 0.0), rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("axis", "part"), [((0.0, 1.0, 0.0), 1.0 / 3.0), ((1.0, 0.0, 0.0), 1.0)], ids=["across", "along"]
)
def test_a_capsule_rolls_across_the_belt_and_is_carried_along_it(axis: Any, part: float) -> None:
    """With I = ½ m r² about its axis: v I/(I + m r²)."""
    for method in (nx.HHT(), nx.ImplicitEuler(1e-3)):
        system = nx.System("capsule", gravity=(0.0, 0.0, -G))
        moments = [0.5 * 0.1**2 if x else 0.02 for x in axis]
        system.add_body("load", mass=1.0, inertia=moments, position=(0.0, 0.0, 0.1 - 2e-6))
        system.add_joint(nx.Free("free", "ground", "load"))
        touch = nx.PlaneContact("on", "load", radius=0.1, length=0.4, axis=axis, **POINTS, **LAW, **ALONG)
        system.add_force(touch)
        result = nx.simulate(system, 0.5, method)
        assert result.velocity("load").values[-1, 0] == pytest.approx(part * SPEED, abs=1e-3)
        assert result.contacts("on").sticks.values[-1].all()


def test_a_crawler_goes_where_it_points() -> None:
    """Its own surface runs, in its own axes, backwards."""
    q = np.array([math.cos(0.3), 0.0, 0.0, math.sin(0.3)])
    system = nx.System("crawler", gravity=(0.0, 0.0, -G))
    system.add_body("load", mass=1.0, position=(0, 0, 0.05), orientation=q, shapes=[nx.Box((0.3, 0.3, 0.1))])
    system.add_joint(nx.Free("free", "ground", "load"))
    system.add_contact(nx.Contact("on", "load", **POINTS, **LAW, surface_velocity_a=(-SPEED, 0.0, 0.0)))
    ahead = SPEED * np.array([math.cos(0.6), math.sin(0.6), 0.0])
    for method in (nx.HHT(), nx.ImplicitEuler(1e-3)):
        assert_allclose(nx.simulate(system, 0.5, method).velocity("load").values[-1], ahead, rtol=0, atol=1e-5)


def test_a_belt_that_leans_and_moves_carries_up_and_along() -> None:
    """tan φ < μ; in the end the load has R_B u and the velocity of the belt's body."""
    phi, along = 0.2, 0.3
    q = (math.cos(0.5 * phi), 0.0, -math.sin(0.5 * phi), 0.0)
    up = np.array([math.cos(phi), 0.0, math.sin(phi)])
    over = np.array([-math.sin(phi), 0.0, math.cos(phi)])
    for law, load in ((POINTS, 0.05), (AREAS, 0.05)):
        system = nx.System("slope", gravity=(0.0, 0.0, -G))
        system.add_body("load", mass=1.0, position=load * over, orientation=q, shapes=[nx.Box((0.3, 0.3, 0.1))])
        system.add_joint(nx.Free("free", "ground", "load"))
        system.add_body("belt", mass=1.0, inertia=(1.0,) * 3, orientation=q, collision=[nx.HalfSpace()])
        system.add_joint(nx.Prismatic("runs", "ground", "belt", axis=(0, 1, 0)))
        system.add_driver(nx.Driver("drive", "runs", f"={along}*t"))
        system.add_contact(nx.Contact("on", "load", "belt", **law, **LAW, **ALONG))
        for method in (nx.HHT(), nx.ImplicitEuler(1e-3)):
            result = nx.simulate(system, 1.0, method)
            assert_allclose(result.velocity("load").values[-1], SPEED * up + (0.0, along, 0.0), rtol=0, atol=1e-4)


def test_only_the_part_along_each_face_counts() -> None:
    """A load beside the end of the belt is pushed by what the belt's box pushes, not by its velocity, which has no part there."""
    velocity = {"surface_velocity_b": (0.0, 0.0, 2.0), "friction": 0.5, "friction_speed": 0.1}
    solids = {"solid_a": nx.Box((0.1, 0.1, 0.1)), "solid_b": nx.Box((0.2, 0.2, 0.2))}
    bench = SolidBench(SurfaceContact("c", "a", "b", foundation_a=3e6, **solids, **velocity))
    over = np.concatenate([np.eye(3).ravel(), (0.0, 0.0, 0.14), np.zeros(6)])[None]
    beside = np.concatenate([np.eye(3).ravel(), (0.14, 0.0, 0.0), np.zeros(6)])[None]
    stands = np.concatenate([np.eye(3).ravel(), np.zeros(9)])[None]
    assert bench.seen(over, stands)[0, 6] > 10.0
    assert bench.seen(over, stands)[0, 7] < 1e-12
    assert bench.seen(beside, stands)[0, 7] > 0.4 * bench.seen(beside, stands)[0, 6]


# --- with all else ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rk4", "hht dt", "euler", "bdf2"])
@pytest.mark.parametrize("law", [POINTS, AREAS], ids=["points", "areas"])
def test_a_run_goes_on_as_one(name: str, law: dict[str, Any]) -> None:
    system = conveyor(nx.Box((0.3, 0.3, 0.1)), 0.05 - 1e-6, **law) if law is AREAS else plate()
    times = [0.0, 0.1, 0.2, 0.4]
    whole = nx.simulate(system, 0.4, STEPS[name], output_times=times)
    half = nx.simulate(system, 0.2, STEPS[name], output_times=times[:3])
    rest = nx.simulate(system, 0.4, STEPS[name], initial=half, output_times=times[2:])
    for of in ("position", "velocity"):
        assert_allclose(getattr(rest, of)("load").values[-1], getattr(whole, of)("load").values[-1], rtol=0, atol=1e-9)


def test_scenes_have_it_with_parameters(tmp_path: Any) -> None:
    written = nx.System("scene", gravity=(0.0, 0.0, -G))
    written.parameter("v", SPEED)
    written.add_body("load", mass=1.0, position=(0.0, 0.0, 0.05), shapes=[nx.Box((0.3, 0.3, 0.1))])
    written.add_joint(nx.Free("free", "ground", "load"))
    written.add_contact(nx.Contact("on", "load", **POINTS, **LAW, surface_velocity_b=("=v", "=-0.5*v", 0.0)))
    at = {"anchor_a": (0.0, 0.0, -0.05), "surface_velocity_a": (0.1, 0.2, "=v")}
    written.add_force(nx.PlaneContact("belt", "load", **POINTS, friction="=v", **at))
    again = from_dict(to_dict(written))
    file = tmp_path / "scene.yaml"
    nx.save_scene(written, file)
    for other in (again, nx.load(file)):
        faster = other.with_parameters({"v": 2.0})
        assert PointData(faster.forces["on load ground corner 1"].data(faster.values)).runs_b == (2.0, -1.0, 0.0)
        assert PointData(faster.forces["belt"].data(faster.values)).runs_a == pytest.approx((0.1, 0.2, 2.0))
        assert other.contact("on").__dict__ == {**written.contact("on").__dict__, "_owner": other.contact("on")._owner}


def test_batches_have_belts_of_many_speeds_in_lanes() -> None:
    system, speeds = plate(friction_speed=0.05), [0.0, 0.5, 1.0, 2.0]
    velocities = {"on.surface_velocity_b": [(v, 0.0, 0.0) for v in speeds]}
    method = nx.RungeKutta4(2e-4)
    together = nx.simulate(system, 0.3, method, batch={"parameters": velocities})
    for k, v in enumerate(speeds):
        alone = nx.simulate(system.with_parameters({"on.surface_velocity_b": (v, 0.0, 0.0)}), 0.3, method)
        assert_allclose(together.velocity("load").values[k, -1], alone.velocity("load").values[-1], rtol=0, atol=1e-9)
        assert alone.velocity("load").values[-1, 0] == pytest.approx(min(v, 0.3 * MU * G), abs=1e-2)


def test_an_event_watches_how_it_slides_on_the_belt() -> None:
    system = plate()
    system.add_event(nx.Event("carried", contact="on", of="velocity", value=1e-3, direction="falling", stop=True))
    result = nx.simulate(system, 1.0, nx.HHT())
    assert result.events[0]["time"] == pytest.approx(REACHED, abs=2e-3)
    # what the belt's drive gives is no drift of energy
    assert result.summary()["energy_drift"] is None and result.summary()["not_conservative"] == ["contact 'on'"]


def tied(friction_speed: float | None, law: dict[str, Any]) -> nx.System:
    """A block on a belt, held by a spring."""
    system = nx.System("tied", gravity=(0.0, 0.0, -G))
    system.add_body("load", mass=1.0, position=(0.0, 0.0, 0.05), shapes=[nx.Box((0.3, 0.3, 0.1))])
    system.add_joint(nx.Free("free", "ground", "load"))
    system.add_force(
        nx.PointSpring(
            "tie", "ground", "load", stiffness=100.0, length=1.0, anchor_a=(-1.0, 0, 0), anchor_b=(0, 0, -0.05)
        )
    )
    system.add_contact(nx.Contact("on", "load", friction_speed=friction_speed, **law, **LAW, **ALONG))
    return system


@pytest.mark.parametrize("law", [{**POINTS, "stiffness": 1e5}, {"foundation_a": 1e7}], ids=["points", "areas"])
def test_what_a_spring_holds_on_a_belt_rests_where_it_takes_mu_m_g(law: dict[str, Any]) -> None:
    """And a run from there stays there. It swings with √(k/m), whether it sticks or not: what slides has no stiffness."""
    for friction_speed in (None, 1e-4):
        system = tied(friction_speed, law)
        rest = nx.equilibrium(system)
        assert rest.position("load")[0] == pytest.approx(MU * G / 100.0, rel=1e-4)
        assert rest.stability == "neutral"  # it may turn about the vertical
        result = nx.simulate(system, 0.3, nx.HHT(), initial=rest.report)
        assert np.abs(result.position("load").values - rest.position("load")).max() < 1e-9
        modes = nx.linearize(system, rest).modes
        slowest = min(mode.natural_frequency for mode in modes if mode.eigenvalue.imag > 1.0)
        assert 2.0 * math.pi * slowest == pytest.approx(10.0, rel=1e-3)
        assert nx.linearize(system, rest, modes=4).modes
        if friction_speed is None:
            with pytest.raises(nx.InputError, match="no equilibrium"):
                nx.linearize(system)


def test_what_nothing_holds_on_a_belt_has_no_equilibrium() -> None:
    with pytest.raises(nx.SolveError, match="no equilibrium"):
        nx.equilibrium(plate(), max_iterations=60)


# --- what is refused ----------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no friction": ({"friction": 0.0}, "has a surface_velocity_b, which acts by friction alone, and no friction"),
    "nor a static one": ({"friction": 0.0, "static_friction": 0.0}, "and no friction; give it one, or leave it out"),
    "two numbers": ({"surface_velocity_b": (1.0, 0.0)}, "surface_velocity_b of {} has 2 components"),
    "a number": ({"surface_velocity_a": 1.0}, "surface_velocity_a of {} is 1.0; 3 numbers are needed"),
    "off the plane": (
        {"surface_velocity_b": (1.0, 0.0, 1e-3)},
        "surface_velocity_b of {} has 0.001 m/s along the normal",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_nothing_or_has_no_meaning_is_refused_by_name(name: str) -> None:
    given, message = WRONG[name]
    law = {"friction": MU, **ALONG, **given}
    for whose, build in (("contact 'on'", plate), ("force 'corner0'", box)):
        with pytest.raises(nx.InputError) as told:
            build(**law)
        assert whose in str(told.value) and message.format(whose) in str(told.value)


def test_friction_of_a_parameter_may_be_nothing() -> None:
    system = nx.System("level")
    system.parameter("mu", 0.0)
    system.add_body("load", mass=1.0, inertia=(1.0,) * 3)
    system.add_joint(nx.Free("free", "ground", "load"))
    system.add_force(nx.PlaneContact("on", "load", stiffness=1e4, friction="=mu", **ALONG))
    assert PointData(system.force("on").data(system.values)).runs_b.x == SPEED


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("law", [POINTS, AREAS], ids=["points", "areas"])
def test_a_velocity_off_a_half_space_names_the_side_that_the_user_gave(swapped: bool, law: dict[str, Any]) -> None:
    system = nx.System("belt")
    turned = (math.cos(0.2), math.sin(0.2), 0.0, 0.0)
    system.add_body("belt", mass=1.0, inertia=(1.0,) * 3, collision=[nx.HalfSpace(orientation=turned)])
    system.add_joint(nx.Fixed("stands", "ground", "belt"))
    system.add_body("load", mass=1.0, inertia=(1.0,) * 3, collision=[nx.Sphere(0.1)])
    system.add_joint(nx.Free("free", "ground", "load"))
    sides, attribute = (("belt", "load"), "surface_velocity_a") if swapped else (("load", "belt"), "surface_velocity_b")
    with pytest.raises(
        nx.InputError, match=rf"^{attribute} of contact 'on' has 0.3894 m/s along the normal of its plane"
    ):
        system.add_contact(nx.Contact("on", *sides, **law, **LAW, **{attribute: (0.0, -1.0, 0.0)}))
    system.add_contact(nx.Contact("on", *sides, **law, **LAW, **{attribute: (1.0, math.cos(0.4), math.sin(0.4))}))

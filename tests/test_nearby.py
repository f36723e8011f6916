"""Many bodies that may touch: contacts of those far from each other are left out, and what is computed stays the same to the last bit."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from turns import in_turns

import nexdyn as nx
from nexdyn.assembly import contact_steps
from nexdyn.forces import tables
from nexdyn.forces.apart import apart_here
from nexdyn.forces.nearby import choose_here
from nexdyn.kernel import kernel
from nexdyn.model.once import once, unchanged
from nexdyn.potential import elements
from nexdyn.simulation.choice import simulation_of
from nexdyn.simulation.marches import bodies, potential
from nexdyn.spatial.table import PoseRows


def swarm(areas: bool, held: bool, count: int = 9) -> nx.System:
    """Balls and boxes that fall on a floor and fly into each other; `held`: some hang on pendulums, so that a plane and bodies turn."""
    rng = np.random.default_rng(7)
    system = nx.System("swarm")
    places = rng.permuted(np.stack(np.meshgrid(*3 * [np.arange(3.0)]), axis=-1).reshape(-1, 3), axis=0)
    for i in range(count):
        shape = nx.Sphere(0.08, position=(0.03, 0.0, 0.0)) if i % 2 or not areas else nx.Box((0.15, 0.12, 0.1))
        at = 0.35 * places[i] + np.array([0.0, 0.0, 0.1])
        v0 = [*rng.normal(0.0, 4.0, 3), *rng.normal(0.0, 2.0, 3)]
        system.add_body(f"b{i}", mass=1.0, inertia=(3e-3, 2e-3, 4e-3), position=at, shapes=[shape])
        if held and i % 3 == 0:
            top = at + np.array([0.0, 0.0, 0.3])
            system.add_joint(nx.Revolute(f"j{i}", "ground", f"b{i}", at=top, axis=(0, 1, 0), v0=3.0))
        else:
            system.add_joint(nx.Free(f"j{i}", "ground", f"b{i}", v0=v0))
    if held:
        wall = nx.HalfSpace(position=(0.0, 0.0, -0.5))
        system.add_body("plate", mass=5.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), collision=[wall])
        system.add_joint(nx.Revolute("turns", "ground", "plate", axis=(1, 0, 0), v0=0.4, stiffness=50.0))
    pressing: dict[str, Any] = {"foundation_a": 1e7, "foundation_b": 1e7} if areas else {"stiffness": 1e5}
    law = pressing | {"damping": 1.0, "friction": 0.4}
    system.add_contact(nx.Contact("floor", "b*", "plate" if held else "ground", **law))
    system.add_contact(nx.Contact("among", "b*", "b*", **law))
    return system


METHODS = [
    nx.RungeKutta4(2e-4), nx.SemiImplicitEuler(2e-4), nx.DormandPrince(rtol=1e-5), nx.HHT(dt=5e-4), nx.HHT(rtol=1e-3),
    nx.ImplicitEuler(5e-4), nx.ImplicitEuler(5e-4, bdf2=True), nx.Baumgarte(dt=2e-4), nx.Projection(rtol=1e-4),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "areas", "held"), in_turns(itertools.product(METHODS, (False, True), (False, True)))
)
def test_what_is_left_out_changes_no_bit(method: Any, areas: bool, held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    system = swarm(areas, held)
    assert len(system.forces) > tables.FEW
    times = np.linspace(0.0, 0.2, 41).tolist()
    found = []
    for few in (tables.FEW, 10**9):
        for place in (tables, elements):
            monkeypatch.setattr(place, "FEW", few)
        simulation: Any = simulation_of(system, method)
        found.append(simulation.run(times[-1], output_times=times))
        if isinstance(method, nx.ImplicitEuler) and not areas and few < 10**9:
            springs = simulation.memory()["list.springs"]
            assert springs[-1] < len(springs) - 1
        if isinstance(method, (nx.RungeKutta4, nx.SemiImplicitEuler)) and few < 10**9:
            simulation.march_by(1e-6, 20, 0, lambda: False)
            assert simulation._motion.forces.unsettled[0] == 0.0  # states of what is off the list are not looked at
    one, other = found
    # matrices have other blocks, in another order: their sums are rounded otherwise, and bodies that strike each other enlarge it
    exact = not isinstance(method, (nx.HHT, nx.ImplicitEuler))
    same: dict[str, Any] = {"rtol": 0.0, "atol": 0.0} if exact else {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(one.recording.q, other.recording.q, **same)
    np.testing.assert_allclose(one.recording.v, other.recording.v, **same)
    np.testing.assert_allclose(one.recording.z, other.recording.z, **same)
    np.testing.assert_allclose(one.energy().total.values, other.energy().total.values, **same)
    for name in ("floor", "among"):
        mine, theirs = one.contacts(name), other.contacts(name)
        np.testing.assert_allclose(mine.normal.values, theirs.normal.values, **same)
    assert one.contacts().normal.values.max() > 1.0  # something has touched


# --- blocks of the matrices -----------------------------------------------------------------------------------------


def crowd(areas: bool) -> nx.System:
    """Nine balls, or boxes and balls, far from each other, that springs draw together on a floor."""
    rng, system, size = np.random.default_rng(5), nx.System("crowd"), 0.1
    system.add_body("mast")
    system.add_joint(nx.Fixed("foot", "ground", "mast"))
    for i, (x, y) in enumerate(itertools.product((-0.5, 0.0, 0.5), repeat=2)):
        shape = nx.Box((2 * size, 1.8 * size, 2 * size)) if areas and i % 2 == 0 else nx.Sphere(size)
        at = (x + rng.normal(0.0, 0.02), y + rng.normal(0.0, 0.02), size)
        system.add_body(f"b{i}", mass=1.0, inertia=(4e-3, 4e-3, 4e-3), position=at, shapes=[shape])
        system.add_joint(nx.Free(f"j{i}", "ground", f"b{i}", v0=(*[0.0] * 3, -2.0 * x, -2.0 * y, 0.0)))
    pressing: dict[str, Any] = {"foundation_a": 1e6, "foundation_b": 1e6} if areas else {"stiffness": 1e4}
    law = pressing | {"damping": 3.0, "friction": 0.3}
    system.add_contact(nx.Contact("floor", "b*", "ground", **law))
    system.add_contact(nx.Contact("among", "b*", "b*", **law))
    for i in range(9):
        system.add_force(nx.PointSpring(f"s{i}", f"b{i}", "mast", stiffness=30.0, damping=3.0, length=0.0))
    return system


WITH_BLOCKS = [nx.HHT(dt=5e-4), nx.HHT(rtol=1e-3), nx.ImplicitEuler(5e-4), nx.ImplicitEuler(5e-4, bdf2=True)]


@pytest.mark.parametrize(("method", "areas"), in_turns(itertools.product(WITH_BLOCKS, (False, True))))
def test_matrices_have_blocks_of_bodies_that_are_near_each_other(
    method: Any, areas: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, times = crowd(areas), np.linspace(0.0, 0.3, 31).tolist()
    chosen, found = [], []
    for soon in (tables.SOON, 1e9):
        for march in (bodies, potential):
            monkeypatch.setattr(march, "SOON", soon)
        simulation: Any = simulation_of(system, method)
        before = simulation.memory()["list.coupled"].sum()
        found.append(simulation.run(times[-1], output_times=times))
        chosen.append((before, simulation.memory()["list.coupled"].sum()))
    (start, end), (all_, still) = chosen
    assert start < end < all_ == still  # not of all, and of more when they have come together
    one, other = found
    assert (one.contacts("among").normal.values > 1.0).any(axis=0).sum() >= 8
    # how Newton's iteration ends differs by less than the step's own error
    np.testing.assert_allclose(one.recording.q, other.recording.q, rtol=0.0, atol=1e-7 if method.dt else 1e-4)


@pytest.mark.parametrize(
    ("method", "areas", "cut"),
    in_turns(
        itertools.product([*WITH_BLOCKS, nx.Baumgarte(dt=2e-4), nx.Projection(rtol=1e-6)], (False, True), (0.2, 0.2003))
    ),
)
def test_a_run_cut_in_two_keeps_its_blocks(method: Any, areas: bool, cut: float, tmp_path: Path) -> None:
    system, times = crowd(areas), np.linspace(0.0, 0.3, 31).tolist()
    times[20] = cut
    simulation: Any = simulation_of(system, method)
    simulation.run(cut, output_times=times[1:21])
    first = nx.simulate(system, cut, method, output_times=times[1:21])
    first.save(tmp_path / "first.nc")
    whole = simulation.run(times[-1], output_times=times[21:])
    for start in (first, nx.Result.load(tmp_path / "first.nc")):
        second = nx.simulate(system, times[-1], method, initial=start, output_times=times[20:])
        np.testing.assert_array_equal(second.recording.q[-10:], whole.recording.q[-10:])
        np.testing.assert_array_equal(second.recording.z[-10:], whole.recording.z[-10:])


@kernel
def left_out_though_near(forces, poses, off):  # type: ignore[no-untyped-def]
    """How many contacts are off the list and not apart; off[0] ← how many are off it."""
    X, wrong, n = PoseRows(poses, 0), 0, 0
    choose_here(forces, X)
    for e in range(len(forces.index)):
        if n < forces.acting[len(forces.index)] and forces.acting[n] == e:
            n += 1
        else:
            off[0] += 1
            if not apart_here(forces, e, X[forces.index[e, 1]], X[forces.index[e, 2]]):
                wrong += 1
    return wrong


@pytest.mark.parametrize("held", [False, True])
def test_what_is_left_out_is_apart_wherever_bodies_go(held: bool, rng: np.random.Generator) -> None:
    system = swarm(True, held)
    names = {"ground": 0, **{name: i + 1 for i, name in enumerate(system.bodies)}}
    forces = tables.force_tables(system, lambda body: (names[body], np.eye(3), np.zeros(3)), lambda joint: (0, 0))
    p, q, off = rng.uniform(-0.5, 0.5, (len(names), 3)), rng.normal(size=(len(names), 4)), np.zeros(1, dtype=np.int64)
    made = 0
    for step in range(400):
        size = 0.3 if step % 50 == 0 else 0.004
        p += rng.normal(0.0, size, p.shape)
        q += rng.normal(0.0, 2.0 * size, q.shape)
        poses = np.zeros((len(names), 12))
        for i in range(len(names)):
            poses[i, :9] = nx_rotation(q[i]).ravel()
            poses[i, 9:] = p[i]
        poses[0] = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
        before = forces.watched.copy()
        assert left_out_though_near(forces, poses, off) == 0
        made += not np.array_equal(before, forces.watched)
    assert off[0] > 400 and 8 <= made < 350  # it leaves contacts out, and is made anew sometimes, not always


def nx_rotation(q: np.ndarray) -> np.ndarray:
    from nexdyn.spatial.rotations import rotation_matrix

    return np.asarray(rotation_matrix(q / np.linalg.norm(q)))


def test_a_pose_that_is_no_number_leaves_nothing_out() -> None:
    system = swarm(False, False)
    names = {"ground": 0, **{name: i + 1 for i, name in enumerate(system.bodies)}}
    forces = tables.force_tables(system, lambda body: (names[body], np.eye(3), np.zeros(3)), lambda joint: (0, 0))
    poses, off = np.full((len(names), 12), np.nan), np.zeros(1, dtype=np.int64)
    left_out_though_near(forces, poses, off)
    assert off[0] == 0 and forces.acting[-1] == len(forces.index)


def test_few_contacts_are_all_on_the_list() -> None:
    system = swarm(False, False, count=4)
    assert len(system.forces) < tables.FEW
    forces = tables.force_tables(system, lambda body: (0, np.eye(3), np.zeros(3)), lambda joint: (0, 0))
    assert forces.acting.tolist() == [*range(len(system.forces)), len(system.forces)] and len(forces.watched) == 0


# --- what is found once ---------------------------------------------------------------------------------------------


def test_once_is_once_while_nothing_changes() -> None:
    calls: list[int] = []

    def compute() -> int:
        calls.append(1)
        return len(calls)

    assert [once("x", compute), once("x", compute)] == [1, 2]
    with unchanged():
        assert [once("x", compute), once("x", compute), once("y", compute)] == [3, 3, 4]
        with unchanged():
            assert once("x", compute) == 3
        assert once("x", compute) == 3
        one, other = [1], [1]
        assert once("x", compute, one) == 5 and once("x", compute, other) == 6 and once("x", compute, one) == 5
    assert once("x", compute) == 7


def test_of_what_raised_nothing_is_kept() -> None:
    def fails() -> int:
        raise ValueError("nothing")

    with unchanged():
        with pytest.raises(ValueError, match="nothing"):
            once("x", fails)
        assert once("x", lambda: 1) == 1


def test_contacts_have_the_numbers_that_each_alone_has() -> None:
    system = swarm(True, True).with_parameters({})
    with unchanged():
        together = [force.data_in(system) for force in system.forces.values()]
    assert together == [force.data_in(system) for force in system.forces.values()]


def test_of_many_contacts_the_nearest_tell_the_longest_step(monkeypatch: pytest.MonkeyPatch) -> None:
    system = swarm(False, False)
    pose = {name: body.pose(system.values) for name, body in system.bodies.items()}
    pose["ground"] = (np.eye(3), np.zeros(3))
    looked: list[str] = []
    square_of = contact_steps.square_of

    def watched(force: Any, *more: Any) -> contact_steps.Squares:
        looked.append(force.name)
        return square_of(force, *more)

    monkeypatch.setattr(contact_steps, "square_of", watched)
    whole, _ = contact_steps.fastest(system, pose.__getitem__)
    assert len(looked) == len(system.forces)
    looked.clear()
    monkeypatch.setattr(contact_steps, "MOST_APART", 12)
    told, _ = contact_steps.fastest(system, pose.__getitem__)
    assert len(looked) == 12
    assert 0.5 * whole.omega < told.omega <= whole.omega


# --- states that are put from outside -------------------------------------------------------------------------------


def ball_and_dust(v: float = 0.5) -> nx.System:
    """A ball that slides on the floor, with friction that sticks, beside so many points that a list is kept."""
    system = nx.System("ball and dust", gravity=(0.0, 0.0, -10.0))
    system.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, 0.099))
    system.add_body("dust", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, 1.0))
    system.add_joint(nx.Free("f", "ground", "ball", v0=(0.0, 0.0, 0.0, v, 0.0, 0.0)))
    system.add_joint(nx.Free("g", "ground", "dust"))
    law: dict[str, Any] = {"stiffness": 1e4, "exponent": 1.0}
    system.add_force(nx.PlaneContact("big", "ball", radius=0.1, damping=1.0, friction=0.5, **law))
    for k in range(35):
        system.add_force(nx.PlaneContact(f"dust{k}", "dust", radius=1e-2, anchor_a=(0.01 * k, 0.0, 0.0), **law))
    return system


STEPS = [nx.HHT(dt=1e-3), nx.HHT(rtol=1e-4), nx.RungeKutta4(1e-3), nx.Projection(1e-3), nx.ImplicitEuler(1e-3)]


@pytest.mark.parametrize("height", [0.008, 0.214])
@pytest.mark.parametrize("method", STEPS, ids=str)
def test_what_an_event_lifts_lets_go(method: Any, height: float, monkeypatch: pytest.MonkeyPatch) -> None:
    def lift(state: Any) -> None:
        q, v = np.array(state.position["f"]), np.array(state.velocity["f"])
        q[-1], v[:] = height, 0.0
        v[-1] = -8.0
        state.position["f"], state.velocity["f"] = q, v

    found = []
    for few in (tables.FEW, 10**9):
        monkeypatch.setattr(tables, "FEW", few)
        system = ball_and_dust()
        system.add_event(nx.Event("lift", time=0.0105, action=lift))
        found.append(nx.simulate(system, 16e-3, method))
    np.testing.assert_array_equal(found[0].position().values, found[1].position().values)
    np.testing.assert_array_equal(found[0].velocity().values, found[1].velocity().values)


@pytest.mark.parametrize("method", STEPS, ids=str)
def test_a_step_that_is_taken_back_forgets_what_was_near(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    times = [1e-3, 1.9e-3, 2e-3, 2.7e-3, 3e-3, 4e-3, 5.5e-3, 8e-3]
    found = []
    for few in (tables.FEW, 10**9):
        monkeypatch.setattr(tables, "FEW", few)
        system = ball_and_dust(20.0)
        system.add_force(nx.AppliedForce("up", "ball", force=(0.0, 0.0, 2e4)))
        found.append(nx.simulate(system, times[-1], method, output_times=times))
    np.testing.assert_array_equal(found[0].position().values, found[1].position().values)
    np.testing.assert_array_equal(found[0].recording.z, found[1].recording.z)


def test_corners_are_left_out_too() -> None:
    system = nx.System("boxes")
    for i in range(6):
        system.add_body(
            f"b{i}", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0.5 * i, 0, 5.0), shapes=[nx.Box((0.1, 0.1, 0.1))]
        )
        system.add_joint(nx.Free(f"f{i}", "ground", f"b{i}"))
    system.add_contact(nx.Contact("on", "b*", stiffness=1e5, friction=0.3))
    names = {"ground": 0, **{name: i + 1 for i, name in enumerate(system.bodies)}}
    forces = tables.force_tables(system, lambda body: (names[body], np.eye(3), np.zeros(3)), lambda joint: (0, 0))
    poses = np.zeros((len(names), 12))
    poses[:, [0, 4, 8]] = 1.0
    poses[1:, 9:] = [body.pose({})[1] for body in system.bodies.values()]
    off = np.zeros(1, dtype=np.int64)
    assert left_out_though_near(forces, poses, off) == 0
    assert off[0] == len(forces.index) == 48 and forces.skin[0] == pytest.approx(tables.SKIN * 0.05 * np.sqrt(3.0))


@dataclass
class Ramp:
    """A function of time without a hash."""

    slope: float

    def __call__(self, t: float) -> float:
        return 0.2 + self.slope * t


def test_coefficients_without_a_hash_are_taken_as_others_are() -> None:
    system = swarm(False, False)
    assert Ramp.__hash__ is None
    system.add_contact(nx.Contact("more", "b*", stiffness=1e5, friction=Ramp(0.1)))
    assert "more b0 ground" in system.forces


def test_a_contact_that_fails_while_pairs_are_chosen_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    system = swarm(False, False)
    before = list(system.forces)

    def fails(*_: Any) -> Any:
        raise RuntimeError("of its own")

    monkeypatch.setattr(nx.Contact, "members", fails)
    with pytest.raises(RuntimeError, match="of its own"):
        system.add_contact(nx.Contact("more", "b*", stiffness=1e5, friction=0.1))
    assert list(system.contacts) == ["floor", "among"] and list(system.forces) == before

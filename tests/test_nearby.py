"""Many bodies that may touch: contacts of those far from each other are left out, and what is computed stays the same to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.assembly import contact_steps
from nexdyn.forces import tables
from nexdyn.forces.apart import apart_here
from nexdyn.forces.nearby import choose_here
from nexdyn.kernel import kernel
from nexdyn.model.once import once, unchanged
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
]  # fmt: skip


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("areas", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_what_is_left_out_changes_no_bit(method: Any, areas: bool, held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    system = swarm(areas, held)
    assert len(system.forces) > tables.FEW
    times = np.linspace(0.0, 0.2, 41).tolist()
    found = []
    for few in (tables.FEW, 10**9):
        monkeypatch.setattr(tables, "FEW", few)
        found.append(nx.simulate(system, t_end=times[-1], method=method, output_times=times))
    one, other = found
    np.testing.assert_array_equal(one.recording.q, other.recording.q)
    np.testing.assert_array_equal(one.recording.v, other.recording.v)
    np.testing.assert_array_equal(one.recording.z, other.recording.z)
    np.testing.assert_array_equal(one.energy().total.values, other.energy().total.values)
    for name in ("floor", "among"):
        mine, theirs = one.contacts(name), other.contacts(name)
        np.testing.assert_array_equal(mine.normal.values, theirs.normal.values)
    assert one.contacts().normal.values.max() > 1.0  # something has touched


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

    def watched(force: Any, *more: Any) -> float:
        looked.append(force.name)
        return square_of(force, *more)

    monkeypatch.setattr(contact_steps, "square_of", watched)
    whole = contact_steps.fastest(system, pose.__getitem__)
    assert len(looked) == len(system.forces)
    looked.clear()
    monkeypatch.setattr(contact_steps, "MOST_APART", 12)
    fast, _ = contact_steps.fastest(system, pose.__getitem__)
    assert len(looked) == 12
    assert 0.5 * whole[0] < fast <= whole[0]

"""The triangles that a contact of solids keeps change nothing but the time it takes: not one bit, whatever was kept before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from contact_lab import Bench, motion
from numpy.testing import assert_array_equal
from scipy.spatial.transform import Rotation
from test_contact_meshes import FLOOR, K, angle_iron, ball, gear, meshes

import nexdyn as nx
from nexdyn.forces import mesh_tables
from nexdyn.forces.mesh_tables import KeptLists

LAW = {"damping": 20.0, "friction": 0.4, "friction_speed": 0.02}
SMALL, LARGE = 1e-8, 3e-3
"""Steps of a motion, as parts of the sizes of the solids."""


def forget(bench: Bench) -> None:
    """Nothing is kept."""
    kept = bench.tables.room.meshes.kept
    own = KeptLists(kept.numbers)
    kept.count[:], own.last[:], own.known[:], own.reach[:] = 0, 0.0, 0.0, -1.0


def alone(bench: Bench, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Forces at each pose, with nothing kept from another."""
    found = []
    for a, b in zip(A, B, strict=True):
        forget(bench)
        found.append(bench.wrenches(a[None], b[None])[0])
    return np.array(found)


def wander(rng: np.random.Generator, start: np.ndarray, centre: np.ndarray, size: float, n: int) -> np.ndarray:
    """A motion about a centre by steps of all sizes, that comes back, jumps away, and stands still."""
    rows, row = [], start.copy()
    scale = size * SMALL
    for i in range(n):
        if i % 40 == 0:  # on from the start, by other steps
            row, scale = start.copy(), size * np.exp(rng.uniform(np.log(SMALL), np.log(LARGE)))
        turn = Rotation.from_rotvec(scale / size * rng.normal(size=3)).as_matrix()
        x = rng.normal(size=3) if rng.uniform() < 0.5 else np.zeros(3)
        row = row.copy()
        row[:9] = (turn @ row[:9].reshape(3, 3)).ravel()
        row[9:12] = centre + turn @ (row[9:12] - centre) + scale * x
        rows.append(row)
        if i % 40 == 30:
            far = row.copy()
            far[9:12] += size * rng.normal(size=3)
            rows += [far, row, row]
    return np.array(rows)


def pairs(place: Path) -> dict[str, tuple[Bench, np.ndarray, np.ndarray, np.ndarray, float]]:
    """Solids, where they press on each other, about which point, and their size."""
    iron = angle_iron(place / "iron.obj")
    upright = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    one, _ = gear(place / "one.obj", 20, 2e-3, 0.0)
    other, _ = gear(place / "other.obj", 20, 2e-3, np.pi + np.pi / 20)
    still = motion((0, 0, 0), None, (0.1, -0.2, 0.3), (0.02, 0.01, -0.03))
    tooth = motion((0.04, 0, 0), Rotation.from_rotvec((0, 0, -2e-3)).as_matrix(), (0, 0, -3.0), (0, 0.01, 0))
    return {
        "irons": (
            meshes(iron, iron, K, 2.0 * K, **LAW), motion((0.0597, 0.0596, 0.01), Rotation.from_euler("z", 0.1, degrees=True).as_matrix()),
            still, np.zeros(3), 0.2,
        ),
        "an iron on a floor": (
            meshes(iron, FLOOR, K, None, **LAW), motion((0, 0, 0.099), upright), still, np.zeros(3), 0.2
        ),
        "a floor under a ball": (
            meshes(FLOOR, ball(place / "ball.obj"), K, K, **LAW), still, motion((0, 0, 0.98)), np.zeros(3), 2.0
        ),
        "gears": (meshes(one, other, 1e13, 1e13, damping=10.0), still, tooth, np.array((0.02, 0.0, 0.0)), 0.04),
        "a box on an iron": (
            meshes(nx.Box((0.06, 0.06, 0.1)), iron, None, K, **LAW), motion((-0.0103, -0.0105, 0.0)), still, np.zeros(3), 0.2
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["irons", "an iron on a floor", "a floor under a ball", "gears", "a box on an iron"])
def test_forces_are_the_same_to_the_last_bit_whatever_is_kept(
    name: str, rng: np.random.Generator, tmp_path: Path
) -> None:
    bench, a, b, centre, size = pairs(tmp_path)[name]
    A = wander(rng, a, centre, size, 800)
    B = np.repeat(b[None], len(A), axis=0)
    kept, found, uses = bench.tables.room.meshes.kept, [], 0
    for i in range(len(A)):
        found.append(bench.wrenches(A[i : i + 1], B[i : i + 1])[0])
        uses += int(kept.count[0, 1] > 1)
    expected = alone(bench, A, B)
    assert_array_equal(found, expected)
    assert uses > 100
    assert (expected[:, 3:6] != 0.0).any(axis=1).sum() > 50
    # nor does the order of poses change anything
    order = rng.permutation(len(A))
    assert_array_equal(bench.wrenches(A[order], B[order]), expected[order])


def test_a_list_that_is_too_long_is_looked_at_part_by_part(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, a, b, centre, size = pairs(tmp_path)["gears"]
    A = wander(rng, a, centre, size, 80)
    B = np.repeat(b[None], len(A), axis=0)
    monkeypatch.setattr(mesh_tables, "MOST_KEPT", 5)
    short, *_ = pairs(tmp_path)["gears"]
    assert short.tables.room.meshes.kept.first[-1] == 5
    assert_array_equal(short.wrenches(A, B), bench.wrenches(A, B))


def test_a_pose_that_is_not_finite_leaves_nothing_behind(tmp_path: Path) -> None:
    bench, a, b, _, _ = pairs(tmp_path)["irons"]
    expected = alone(bench, a[None], b[None])[0]
    for bad in (np.nan, np.inf):
        for first, last in ((0, 9), (9, 12), (9, 10)):
            broken = a.copy()
            broken[first:last] = bad
            with np.errstate(invalid="ignore"):  # where nothing is compiled
                found = bench.wrenches(np.array([a, broken, a]), np.array([b] * 3))
                forget(bench)
                after = bench.wrenches(np.array([broken, a]), np.array([b] * 2))[1]
            assert_array_equal([found[0], found[2], after], [expected] * 3)


def test_contacts_keep_their_own_triangles(tmp_path: Path) -> None:
    """Two blocks in one place on an iron that do not feel each other: each moves as it does alone."""
    iron, runs = angle_iron(tmp_path / "iron.obj"), []
    sizes = {"one": (0.03, 0.04, 0.05), "other": (0.05, 0.04, 0.02)}
    for blocks in (["one"], ["other"], ["one", "other"]):
        system = nx.System("yard")
        system.add_body("iron", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[iron])
        system.add_joint(nx.Fixed("held", "ground", "iron"))
        for name in blocks:
            block = nx.Box(sizes[name])
            system.add_body(name, mass=0.5, inertia=(1e-3, 1e-3, 1e-3), position=(0, -0.0201, 0), collision=[block])
            system.add_joint(nx.Free(f"base_{name}", "ground", name, v0=(0, 0, 0, 0.1, -0.1, 0.02)))
            system.add_contact(nx.Contact(f"on_{name}", name, "iron", foundation_a=K, foundation_b=K, friction=0.3))
        runs.append(nx.simulate(system, 0.02, nx.SemiImplicitEuler(1e-4)))
    for name, run in zip(sizes, runs[:2], strict=True):
        assert run.contacts(f"on_{name}").normal.max() > 0.0
        assert_array_equal(run.position(name).values, runs[2].position(name).values)

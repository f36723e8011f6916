"""Which rows are redundant: counts known for mechanisms, and the greedy rule against brute force."""

from __future__ import annotations

from collections.abc import Callable

import mechanisms
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.absolute.model.blocks import components
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.absolute.model.redundancy import find_redundancy

KNOWN: list[tuple[str, Callable[[], nx.System], int, int]] = [
    ("four-bar", mechanisms.four_bar, 20, 3),
    ("four-bar in millimetres", lambda: mechanisms.four_bar(1e-3), 20, 3),
    ("four-bar in kilometres", lambda: mechanisms.four_bar(1e3), 20, 3),
    ("Bricard", mechanisms.bricard, 30, 1),
    ("A02", mechanisms.n_four_bar, 35, 6),
    ("A02 flat", lambda: mechanisms.n_four_bar(flat=True), 35, 8),
    ("door", mechanisms.door, 10, 5),
    ("askew door", lambda: mechanisms.door(0.1), 10, 4),
    ("three cranks", mechanisms.three_cranks, 30, 7),
    ("table", mechanisms.table, 12, 6),
    ("written twice", mechanisms.written_twice, 10, 5),
]
known = pytest.mark.parametrize(("make", "rows", "redundant"), [k[1:] for k in KNOWN], ids=[k[0] for k in KNOWN])


def greedy(model: AbsoluteModel, J: np.ndarray, length: float) -> set[int]:
    """Rows dropped by adding rows in the order (priority descending, index) and looking at the rank, the slow way."""
    scaled = J * np.tile([1, 1, 1, length, length, length], model.nb)
    size = np.linalg.norm(scaled, axis=1, keepdims=True)
    scaled /= np.where(size > 1e-12, size, 1.0)  # two terms of a coupling may cancel
    kept: list[int] = []
    for r in sorted(range(model.nc), key=lambda r: (-model.rows[r].priority, r)):
        if np.linalg.matrix_rank(scaled[[*kept, r]], tol=1e-9) > len(kept):
            kept.append(r)
    return set(range(model.nc)) - set(kept)


@known
def test_redundant_rows_are_counted(make: Callable[[], nx.System], rows: int, redundant: int) -> None:
    model = absolute_model(make())
    assert model.nc == rows
    assert len(find_redundancy(model, model.q).dropped) == redundant


@known
def test_the_rows_dropped_are_those_of_the_greedy_rule(
    make: Callable[[], nx.System], rows: int, redundant: int
) -> None:
    model = absolute_model(make())
    found = find_redundancy(model, model.q)
    length = max(block.length for block in found.blocks)
    assert {d.row for d in found.dropped} == greedy(model, model.jacobian(model.q), length)


@known
def test_a_dropped_row_is_the_stated_sum_of_kept_rows(make: Callable[[], nx.System], rows: int, redundant: int) -> None:
    model = absolute_model(make())
    found = find_redundancy(model, model.q)
    J = model.jacobian(model.q)
    for dropped in found.dropped:
        assert found.kept[list(dropped.depends_on)].all()
        total = sum(c * J[r] for r, c in dropped.depends_on.items())
        np.testing.assert_allclose(total, J[dropped.row], atol=1e-9 * max(1.0, np.abs(J).max()))


def test_any_alternative_could_be_dropped_instead() -> None:
    model = absolute_model(mechanisms.four_bar())
    found = find_redundancy(model, model.q)
    J = model.jacobian(model.q)
    for dropped in found.dropped:
        for other in dropped.rows.tolist():
            kept = found.kept.copy()
            kept[dropped.row], kept[other] = True, False
            assert np.linalg.matrix_rank(J[kept]) == found.rank


def test_a_higher_priority_is_kept_instead() -> None:
    system = mechanisms.four_bar()
    raised = nx.System("raised")
    for body in system.bodies.values():
        raised.add_body(body.name, mass=1.0, inertia=(1, 1, 1), position=body.position)
    for joint in system.joints.values():
        raised.add_joint(
            nx.Revolute(joint.name, joint.parent.name, joint.child.name, at=joint.at, axis=joint.axis,
                        priority=2 if joint.name == "D" else None)
        )  # fmt: skip
    model = absolute_model(raised)
    dropped = {model.rows[d.row].joint for d in find_redundancy(model, model.q).dropped}
    assert "D" not in dropped


def test_random_graphs_of_joints_follow_the_greedy_rule(rng: np.random.Generator) -> None:
    kinds = [nx.Revolute, nx.Prismatic, nx.Spherical, nx.Universal, nx.Cylindrical, nx.Planar, nx.Fixed]
    for _ in range(40):
        n = int(rng.integers(3, 7))
        system = nx.System("random")
        bodies = [system.ground]
        for i in range(n):
            q = rng.normal(size=4)
            bodies.append(
                system.add_body(
                    f"b{i}", mass=1.0, inertia=(1, 1, 1), position=rng.normal(size=3), orientation=q / np.linalg.norm(q)
                )
            )
        edges = [(int(rng.integers(0, i + 1)), i + 1) for i in range(n)]
        edges += [tuple(sorted(rng.choice(n + 1, 2, replace=False))) for _ in range(3)]
        axis = rng.normal(size=3)
        for k, (a, b) in enumerate(edges):
            kind = kinds[int(rng.integers(len(kinds)))]
            # parallel axes and points in a plane make redundancies
            system.add_joint(kind(f"j{k}", bodies[a], bodies[b], at=rng.integers(-1, 2, 3).astype(float), axis=axis))
        single = [name for name, joint in system.joints.items() if joint.kind in ("revolute", "prismatic")]
        for k in range(min(2, len(single) // 2)):
            one, other = rng.choice(single, 2, replace=False)
            system.add_coupling(nx.Coupling(f"c{k}", {one: 1.0, other: float(rng.integers(-2, 3) or 1)}))
        model = absolute_model(system)
        found = find_redundancy(model, model.q)
        length = max((block.length for block in found.blocks), default=1.0)
        J = model.jacobian(model.q)
        expected = greedy(model, J, length)
        assert len(found.dropped) == len(expected)
        assert {d.row for d in found.dropped} == expected


def test_a_gear_between_two_cranks_closes_a_loop_and_a_second_one_is_redundant() -> None:
    system = nx.System("gears")
    for name, x in (("left", 0), ("right", 1)):
        system.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 0))
        system.add_joint(nx.Revolute(f"{name} shaft", system.ground, name, axis=(0, 0, 1)))
    system.add_coupling(nx.Gear("mesh", "left shaft", "right shaft", ratio=-2.0))
    model = absolute_model(system)
    assert find_redundancy(model, model.q).rank == 11
    system.add_coupling(nx.Gear("again", "left shaft", "right shaft", ratio=-2.0))
    model = absolute_model(system)
    (dropped,) = find_redundancy(model, model.q).dropped
    assert str(model.rows[dropped.row]) == "coupling 'again'"
    assert {str(model.rows[r]): pytest.approx(c) for r, c in dropped.depends_on.items()} == {"coupling 'mesh'": 1.0}
    found = nx.assemble(system).redundancy
    assert found.redundant[0].joint == "again" and found.redundant[0].structural
    (motion,) = found.motions
    assert motion.joint == "left shaft" and list(motion.with_it) == ["right shaft"]


def test_only_loops_are_looked_at() -> None:
    pairs = np.array([(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (4, 5)])
    assert components(pairs, 6) == [[5, 6], [1, 2, 3]]


def test_a_tree_of_many_bodies_has_no_loops() -> None:
    n = 20000
    pairs = np.array([(i // 2, i + 1) for i in range(n)])
    assert components(pairs, n + 1) == []


def platform(feet: list[float], heads: list[float], height: float = 1.0) -> nx.System:
    """A plate in the xz plane on links between hinges, from (foot, 0) to (head, height)."""
    system = nx.System("platform")
    system.add_body("plate", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, height))
    for k, (foot, head) in enumerate(zip(feet, heads, strict=True)):
        link = system.add_body(
            f"link{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5 * (foot + head), 0.0, 0.5 * height)
        )
        for name, a, b, at in (
            (f"A{k}", "ground", link, (foot, 0.0, 0.0)),
            (f"B{k}", link, "plate", (head, 0.0, height)),
        ):
            system.add_joint(nx.Revolute(name, a, b, at=at, axis=(0.0, 1.0, 0.0)))
    return system


@pytest.mark.parametrize(
    ("feet", "heads", "dof", "shaky"),
    [
        ([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], 1, False),  # parallel and equal: a mechanism
        ([-1.0, 0.0, 1.0], [-0.5, 0.0, 0.5], 1, True),  # their lines meet in one point: shaky
        ([-1.0, 0.1, 1.0], [-0.5, 0.3, 0.5], 0, False),  # a truss
    ],
)
def test_a_structure_that_is_shaky_is_told_from_a_mechanism(
    feet: list[float], heads: list[float], dof: int, shaky: bool
) -> None:
    """Three links hold a plate unless their lines meet or are parallel; only equal parallel ones let it move for good."""
    report = nx.assemble(platform(feet, heads))
    assert report.redundancy.dof == dof
    assert bool(report.redundancy.shaky) is shaky
    assert any("SHAKY: A0, B0" in warning for warning in report.warnings) is shaky


def test_two_bars_in_line_are_shaky_and_bent_ones_a_truss() -> None:
    for bend, dof in ((0.0, 1), (0.3, 0)):
        system = nx.System("two bars")
        for name, x in (("a", 0.5), ("b", 1.5)):
            system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0.0, 0.5 * bend))
        for name, a, b, at in (
            ("A", "ground", "a", (0, 0, 0)),
            ("B", "a", "b", (1, 0, bend)),
            ("C", "ground", "b", (2, 0, 0)),
        ):
            system.add_joint(nx.Revolute(name, a, b, at=at, axis=(0.0, 1.0, 0.0)))
        report = nx.assemble(system)
        assert report.redundancy.dof == dof
        assert report.redundancy.shaky == (["A", "B", "C"] if dof else [])


@pytest.mark.parametrize("demo", ["four-bar", "bennett", "bricard", "sarrus", "slider-crank", "five-bar", "andrews"])
def test_mechanisms_are_not_called_shaky(demo: str) -> None:
    assert nx.assemble(nx.load(demo)).redundancy.shaky == []

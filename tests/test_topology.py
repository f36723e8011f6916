"""The graph of a system as a forest: which joint carries which body, in which order bodies and coordinates come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems
from turns import in_turns

from nexdyn.errors import InputError
from nexdyn.joints import JOINTS, Fixed, Free, Prismatic, Revolute, Spherical
from nexdyn.model.curves import SplineCurve
from nexdyn.model.surfaces import PlaneSurface
from nexdyn.model.system import System
from nexdyn.model.topology import Forest, spanning_forest
from nexdyn.tree.tree import Tree

INERTIA = (1.0, 1.0, 1.0)


def graph(edges: str, bodies: str = "") -> System:
    """A system of hinges "a>b c>d" named ab, cd, in this order; bodies in the given order first. 0 is ground."""
    system = System("graph")
    pairs = [edge.split(">") for edge in edges.split()]
    for name in [*bodies, *(end for pair in pairs for end in pair)]:
        if name != "0" and name not in system.bodies:
            system.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
    for parent, child in pairs:
        system.add_joint(Revolute(parent + child, "ground" if parent == "0" else parent, child))
    return system


def order(forest: Forest) -> str:
    return "".join(arc.child.name for arc in forest.arcs)


def coordinates(forest: Forest) -> list[str]:
    return [arc.name for arc in forest.arcs]


def test_bodies_come_depth_first_children_in_the_order_they_were_added() -> None:
    assert order(spanning_forest(graph("0>a a>b a>c b>d c>e 0>f", bodies="abcdef"))) == "abdcef"
    assert order(spanning_forest(graph("0>a a>c a>b", bodies="abc"))) == "acb"


def test_every_parent_stands_before_its_children() -> None:
    for system in systems.descriptions().values():
        forest = spanning_forest(system)
        assert sorted(arc.child.name for arc in forest.arcs) == sorted(system.bodies)
        for a, arc in enumerate(forest.arcs):
            assert -1 <= arc.parent < a
            if arc.joint is not None:
                assert arc.joint.carried is arc.child
                above = system.ground if arc.parent < 0 else forest.arcs[arc.parent].child
                assert arc.joint.carrier is above


def test_a_mechanism_described_branch_by_branch_keeps_its_order() -> None:
    for edges in ("0>a a>b b>c 0>d d>e", "0>a a>b b>c b>d a>e 0>f"):
        system = graph(edges)
        assert coordinates(spanning_forest(system)) == list(system.joints)
        assert Tree(system).joint_names == list(system.joints)


def test_coordinates_come_depth_first_and_children_in_the_order_of_their_joints() -> None:
    assert coordinates(spanning_forest(graph("0>a a>b 0>c b>d c>e"))) == ["0a", "ab", "bd", "0c", "ce"]
    assert coordinates(spanning_forest(graph("b>c a>b 0>a 0>d"))) == ["0a", "ab", "bc", "0d"]


def test_a_body_without_a_joint_is_a_floating_root_whose_coordinates_come_first() -> None:
    system = graph("0>a x>b b>c", bodies="ax")
    forest = spanning_forest(system)
    assert coordinates(forest) == ["x", "xb", "bc", "0a"]
    floating = next(arc for arc in forest.arcs if arc.child.name == "x")
    assert (floating.joint, floating.parent) == (None, -1)
    tree = Tree(system)
    assert tree.joint_names == ["x", "xb", "bc", "0a"]
    assert (tree.nq, tree.nv) == (10, 9)
    assert tree.coordinates["x"] == (slice(0, 7), slice(0, 6))


def test_a_floating_body_is_a_free_joint_at_its_own_frame() -> None:
    rng = np.random.default_rng(1)
    place, solid = systems.somewhere(rng), systems.solid(rng)
    implicit, explicit = System("implicit"), System("explicit")
    implicit.add_body("body", **solid, **place)
    explicit.add_body("body", **solid, **place)
    # the same coordinates: a free joint between the world's frame and the body's
    ends = {"anchor_a": (0, 0, 0), "axis_a": (0, 0, 1), "reference_a": (1, 0, 0)}
    ends |= {"anchor_b": (0, 0, 0), "axis_b": (0, 0, 1), "reference_b": (1, 0, 0)}
    explicit.add_joint(Free("free", "ground", "body", **ends))
    one, other = Tree(implicit), Tree(explicit)
    q, v, _, tau = systems.state(one, 2)
    np.testing.assert_allclose(one.aba(q, v, tau), other.aba(q, v, tau), rtol=1e-13)
    np.testing.assert_allclose(one.described()[4:], place["position"])


def test_a_floating_body_with_the_name_of_a_joint_keeps_its_own_coordinates() -> None:
    system = System("names")
    for name in ("torso", "arm"):
        system.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.add_joint(Revolute("torso", "torso", "arm"))
    tree = Tree(system)
    assert len(tree.joint_names) == 2
    assert tree.coordinates["torso"].v == slice(6, 7)
    assert sorted((place.v.start, place.v.stop) for place in tree.coordinates.values()) == [(0, 6), (6, 7)]


@pytest.mark.parametrize(
    ("edges", "joint", "loop"),
    [
        ("0>a a>b b>c 0>c", "0c", "ground – a – b – c"),
        ("0>a a>b c>b 0>c", "0c", "ground – a – b – c"),
        ("0>a a>b b>c c>d d>e e>b", "eb", "b – c – d – e"),
        ("a>b b>c c>a", "ca", "a – b – c"),
        ("0>a a>b b>a", "ba", "a – b"),
        ("a>b c>b c>a", "ca", "a – b – c"),
    ],
)
def test_a_loop_is_refused_with_its_joint_and_its_bodies(edges: str, joint: str, loop: str) -> None:
    with pytest.raises(InputError) as caught:
        spanning_forest(graph(edges))
    message = str(caught.value)
    assert f"joint {joint!r} closes the loop" in message
    path = message.split("loop ")[1].split(";")[0].split(" – ")
    around = loop.split(" – ")
    start = around.index(path[0])
    turned = around[start:] + around[:start]
    assert path in (turned, [turned[0], *reversed(turned[1:])])
    assert "remove a joint of the loop" in message


def test_two_joints_between_the_same_bodies_are_a_loop() -> None:
    system = graph("0>a a>b")
    system.add_joint(Prismatic("second", "a", "b"))
    with pytest.raises(InputError, match="joint 'second' closes the loop a – b"):
        Tree(system)


def test_a_body_on_two_joints_of_different_trees_is_refused_with_both() -> None:
    # no loop: ground>a>c and the floating b>c meet in c
    with pytest.raises(InputError, match=r"body 'c' is the child of joints 'ac' and 'bc'.*swap parent and child"):
        spanning_forest(graph("0>a a>c b>c"))


@pytest.mark.parametrize("kind", [kind for kind, cls in JOINTS.items() if not cls.tree])
def test_a_joint_that_is_a_constraint_only_is_refused_by_name(kind: str) -> None:
    system = graph("0>a")
    system.add_body("b", mass=1.0, inertia=INERTIA, position=(1, 0, 0))
    given: dict[str, Any] = {
        "point_on_curve": {"curve": SplineCurve(((0, 0, 0), (1, 0, 0), (2, 1, 0)))},
        "point_on_surface": {"surface": PlaneSurface()},
        "user_constraint": {"function": lambda t, x, R: x[0]},
        "velocity_constraint": {"function": lambda t, x, R, out: None},
        "rolling_disk": {"radius": 0.1},
        "rolling_sphere": {"radius": 0.1},
        "general": {"free": "x"},
        "clamp": {},
        "revolute_prismatic": {},
        "revolute_spherical": {},
    }
    across = {"axis_a": (1, 0, 0), "axis_b": (0, 1, 0)}
    system.add_joint(JOINTS[kind]("only", "a", "b", **given.get(kind, across)))
    with pytest.raises(InputError, match=r"'only'.*constraint only"):
        Tree(system)


def test_a_system_without_bodies_is_a_tree_without_freedoms() -> None:
    tree = Tree(System("empty"))
    assert (tree.nq, tree.nv, tree.nb, tree.joint_names) == (0, 0, 0, [])
    none = np.zeros(0)
    assert tree.aba(none, none, none).shape == (0,)
    assert tree.crba(none).shape == (0, 0)
    assert tree.kinetic_energy(none, none) == 0.0


def test_bodies_welded_to_ground_do_not_move_and_add_no_link() -> None:
    system = graph("0>a")
    system.add_body("base", mass=5.0, position=(1, 2, 3))
    system.add_joint(Fixed("weld", "ground", "base"))
    system.add_body("tip", mass=1.0, inertia=(1, 1, 1), position=(1, 2, 4))
    system.add_joint(Revolute("tip", "base", "tip"))
    tree = Tree(system)
    assert tree.nb == 2
    assert tree.mass == 2.0
    q, *_ = systems.state(tree, 1)
    np.testing.assert_array_equal(tree.pose(q, "base")[1], (1, 2, 3))
    assert not tree.jacobian(q, "base").any()


# --- large ------------------------------------------------------------------------------------------------------------


def large(n: int, shape: str) -> System:
    """n bodies in a chain, a star, a random tree, or a chain whose joints were added from the tip."""
    rng = np.random.default_rng(n)
    system = System(shape)
    names = [f"b{i}" for i in range(n)]
    for name in names:
        system.add_body(name, mass=1.0, inertia=INERTIA)
    parents = {
        "random": [-1, *(rng.random(n - 1) * np.arange(1, n)).astype(int)],
        "star": [-1] * n,
    }.get(shape, list(range(-1, n - 1)))
    kinds: list[Any] = [Revolute, Prismatic, Spherical]
    for i in reversed(range(n)) if shape == "reversed chain" else range(n):
        parent = "ground" if parents[i] < 0 else names[parents[i]]
        system.add_joint(kinds[i % 3](f"j{i}", parent, names[i]))
    return system


@pytest.mark.parametrize("shape", ["chain", "reversed chain", "star", "random"])
def test_a_thousand_bodies_of_any_shape_obey_the_laws(shape: str) -> None:
    tree = Tree(large(1000, shape))
    q, v, a, _ = systems.state(tree, 1)
    scale = 1e-3  # of velocities: a chain of a thousand would whirl
    found = tree.aba(q, scale * v, tree.rnea(q, scale * v, a))
    np.testing.assert_allclose(found, a, rtol=0.0, atol=1e-6)
    assert len(tree.joint_names) == 1000
    expected = [f"j{i}" for i in range(1000)]
    assert sorted(tree.joint_names) == sorted(expected)


@pytest.mark.slow
@pytest.mark.parametrize("shape", in_turns(["chain", "random"]))
def test_a_hundred_thousand_bodies_are_one_tree_and_its_tables_grow_with_bodies_only(shape: str) -> None:
    tree = Tree(large(100_000, shape))
    assert tree.nb == 100_000
    c = tree.compiled
    assert all(c.model.topology.parent[1:] < np.arange(1, 100_001))
    # no table of n × n, nor of depth × n: what is kept is so many numbers a body
    arrays = [*c.model, *tree.work, c.link, c.R_LB, c.p_LB, c.arc_of_link, c.first_q, c.first_v, c.above]
    assert sum(x.nbytes for x in arrays) < 3000 * tree.nb
    q, v, a, _ = systems.state(tree, 1)
    tau = tree.rnea(q, 0.0 * v, a)
    found = tree.aba(q, 0.0 * v, tau)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(tree.rnea(q, 0.0 * v, found), tau, rtol=0.0, atol=1e-9 * np.abs(tau).max())

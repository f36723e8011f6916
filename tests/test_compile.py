"""From a description to tables: link frames, merged inertias, coordinates, and what each freedom carries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems

from nexdyn.errors import InputError
from nexdyn.joints import JOINTS, kinds
from nexdyn.model.system import System
from nexdyn.model.topology import spanning_forest
from nexdyn.spatial.poses import compose, inverse, spatial_inertia, transform_inertia
from nexdyn.tree.core import tables
from nexdyn.tree.core.compile import Compiled, compile_tree
from nexdyn.tree.tree import Tree

on_all = pytest.mark.parametrize("name", systems.NAMES)


def link_of(c: Compiled) -> dict[str, tuple[int, systems.Frame]]:
    """Link of each body and its pose X_LB in it."""
    return {arc.child.name: (int(c.link[a]), (c.R_LB[a], c.p_LB[a])) for a, arc in enumerate(c.forest.arcs)}


def inertia_of(row: np.ndarray) -> np.ndarray:
    """6 × 6 inertia of a row (m, h, I) of the body table."""
    m, h, (xx, xy, xz, yy, yz, zz) = row[0], row[1:4], row[4:10]
    c = h / m if m else h
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return spatial_inertia(m, c, I - m * (c @ c * np.eye(3) - np.outer(c, c)))


@on_all
def test_a_links_inertia_is_that_of_its_bodies_moved_to_it(name: str) -> None:
    tree = systems.trees()[name]
    c = tree.compiled
    expected = np.zeros((tree.nb + 1, 6, 6))
    for body, (link, X_LB) in link_of(c).items():
        expected[link] += transform_inertia(*X_LB, spatial_inertia(*tree.system.body(body).resolved({})[:3]))
    for link in range(1, tree.nb + 1):
        found = inertia_of(c.model.body.I.numbers[link])
        np.testing.assert_allclose(found, expected[link], rtol=0.0, atol=1e-12)


@on_all
def test_the_axis_of_a_moving_joint_is_z_of_its_link_through_the_links_origin(name: str) -> None:
    # the link's frame is the child-side frame of the joint: X_LB = X_BJ⁻¹
    tree = systems.trees()[name]
    places = link_of(tree.compiled)
    for joint in tree.system.joints.values():
        if joint.nv:
            _, _, R_BJ, p_BJ = joint.frames({})
            R, p = compose(*places[joint.child.name][1], R_BJ, p_BJ)
            np.testing.assert_allclose(R, np.eye(3), atol=1e-14)
            np.testing.assert_allclose(p, 0.0, atol=1e-14)


@on_all
def test_joint_frames_of_the_tables_are_those_described_seen_from_the_parents_link(name: str) -> None:
    tree = systems.trees()[name]
    c, places = tree.compiled, link_of(tree.compiled)
    for joint in tree.system.joints.values():
        R_PJ, p_PJ, *_ = joint.frames({})
        parent, X_LP = (0, (np.eye(3), np.zeros(3))) if joint.parent.is_ground else places[joint.parent.name]
        link = places[joint.child.name][0]
        R, p = compose(*X_LP, R_PJ, p_PJ)
        if joint.nv:
            assert c.model.topology[link].parent == parent
            row = c.model.body.X_PJ.numbers[link]
            np.testing.assert_allclose(row, [*R.ravel(), *p], atol=1e-13)
        else:
            assert link == parent
            _, _, R_BJ, p_BJ = joint.frames({})
            R_LB, p_LB = compose(R, p, *inverse(R_BJ, p_BJ))
            np.testing.assert_allclose(places[joint.child.name][1][0], R_LB, atol=1e-13)
            np.testing.assert_allclose(places[joint.child.name][1][1], p_LB, atol=1e-13)


@on_all
def test_unmerged_every_body_is_a_link_of_its_own(name: str) -> None:
    tree = systems.trees()[name]
    merged, whole = tree.compiled, tree.unmerged
    assert len(whole.arc_of_link) - 1 == len(tree.system.bodies)
    np.testing.assert_array_equal(whole.link, np.arange(1, len(tree.system.bodies) + 1))
    assert (whole.nq, whole.nv) == (merged.nq, merged.nv)
    np.testing.assert_array_equal(whole.first_v, merged.first_v)
    np.testing.assert_array_equal(whole.above, merged.above)
    np.testing.assert_array_equal(whole.model.freedom.table, merged.model.freedom.table)


@on_all
def test_parents_stand_before_their_children_and_row_0_is_the_world(name: str) -> None:
    tree = systems.trees()[name]
    for c in (tree.compiled, tree.unmerged):
        topology, body = c.model.topology, c.model.body.table
        world = topology[0]
        assert (world.parent, world.kind, world.iq, world.iv) == (-1, kinds.FIXED, c.nq, c.nv)
        assert (world.nv, world.efforts) == (0, tables.NO_EFFORT)
        children = np.bincount(topology.parent[1:], minlength=len(topology))
        np.testing.assert_array_equal(topology.flags[1:] & tables.POPS != 0, children[1:] > 1)
        assert (topology.parent[1:] < np.arange(1, len(topology))).all()
        # the degrees of freedom of a subtree are those from its root's first to its end
        for i in range(1, len(topology)):
            below = {i}
            for k in range(i + 1, len(topology)):
                below |= {k} if topology[k].parent in below else set()
            own = sorted({j for k in below for j in range(topology[k].iv, topology[k].iv + topology[k].nv)})
            assert own == list(range(topology[i].iv, topology[i].end))
        assert (topology.parent[1:] >= 0).all()
        np.testing.assert_array_equal(body[0, :3], tree.system.gravity)
        assert not body[0, 3:].any()


@on_all
def test_the_freedoms_of_all_joints_are_0_to_nv_each_once(name: str) -> None:
    c = systems.trees()[name].compiled
    rows = [c.model.topology[i] for i in range(1, len(c.model.topology))]
    taken = [j for row in rows for j in range(row.iv, row.iv + row.nv)]
    assert sorted(taken) == list(range(c.nv))
    counts = {cls.code: (cls.nq, cls.nv) for cls in map(JOINTS.get, systems.KINDS)}
    q = [k for row in rows for k in range(row.iq, row.iq + counts[row.kind][0])]
    assert sorted(q) == list(range(c.nq))
    assert all(row.nv == counts[row.kind][1] for row in rows)


@on_all
def test_above_each_freedom_is_the_next_one_towards_the_root(name: str) -> None:
    c = systems.trees()[name].compiled
    topology = c.model.topology
    for i in range(1, len(topology)):
        first, count, at = topology[i].iv, topology[i].nv, topology[i].parent
        while at > 0 and topology[at].nv == 0:
            at = topology[at].parent
        up = -1 if at <= 0 else topology[at].iv + topology[at].nv - 1
        for j in range(first, first + count):
            assert c.above[j] == (j - 1 if j > first else up)


def hinge(**options: Any) -> System:
    system = System("hinge")
    system.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    system.add_body("leaf", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(JOINTS["spherical"]("ball", "ground", "ball", **options))
    system.add_joint(JOINTS["helical"]("screw", "ball", "leaf", pitch=0.25))
    return system


def test_data_of_a_joint_stand_in_the_rows_of_its_freedoms() -> None:
    system = hinge(
        damping=(1, 2, 3), stiffness=4.0, rest=(0.1, 0.2, 0.3), armature=(5, 6, 7), friction=8.0, friction_speed=9.0
    )
    model = Tree(system).compiled.model
    np.testing.assert_array_equal(model.freedom.damping[:3], (1, 2, 3))
    np.testing.assert_array_equal(model.freedom.stiffness[:3], (4, 4, 4))
    np.testing.assert_array_equal(model.freedom.rest[:3], (0.1, 0.2, 0.3))
    np.testing.assert_array_equal(model.freedom.armature[:3], (5, 6, 7))
    np.testing.assert_array_equal(model.freedom.friction[:3], (8, 8, 8))
    np.testing.assert_array_equal(model.freedom.friction_speed[:3], (9, 9, 9))
    assert not model.freedom.table[3, :5].any()
    assert model.body[2].pitch == 0.25


@pytest.mark.parametrize(
    ("options", "efforts"),
    [
        ({}, tables.NO_EFFORT),
        ({"armature": 1.0, "rest": 1.0}, tables.NO_EFFORT),
        ({"damping": (0, 0, 1)}, tables.LINEAR),
        ({"stiffness": -1.0}, tables.LINEAR),
        ({"friction": (0, 1, 0)}, tables.FRICTIONAL),
    ],
)
def test_a_joint_says_which_efforts_act_in_it(options: dict[str, Any], efforts: int) -> None:
    assert Tree(hinge(**options)).compiled.model.topology[1].efforts == efforts


def test_a_free_joint_takes_no_stiffness() -> None:
    system = System("free")
    system.add_body("body", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(JOINTS["free"]("free", "ground", "body", stiffness=1.0))
    with pytest.raises(InputError, match="'free' is free and takes no stiffness; put a Bushing"):
        Tree(system)


def test_parameters_are_read_when_the_tables_are_made() -> None:
    system = System("parameters", gravity=("=-g", 0, 0))
    for name, value in (("g", 3.0), ("L", 2.0), ("m", 5.0), ("h", 0.125), ("k", 7.0)):
        system.parameter(name, value)
    system.add_body("body", mass="=m", inertia=("=m*L**2", 10.0, 10.0 + 1e-9), com=(0, 0, "=L/2"))
    system.add_joint(
        JOINTS["helical"]("screw", "ground", "body", at=("=L", 0, 0), pitch="=h", stiffness="=k", armature="=m")
    )
    model = Tree(system.with_parameters({"L": 1.0})).compiled.model
    assert model.body.table[0, 0] == -3.0
    assert model.body[1].I.m == 5.0
    assert model.body[1].pitch == 0.125
    np.testing.assert_allclose(model.body[1].X_PJ.p, (1.0, 0.0, 0.0))
    assert (model.freedom[0].stiffness, model.freedom[0].armature) == (7.0, 5.0)


@on_all
def test_a_tree_with_other_values_is_the_tree_of_the_system_with_these_values(name: str) -> None:
    tree = systems.trees()[name]
    body = next(iter(tree.system.bodies))
    changes = {f"body:{body}.mass": 3.5, "gravity": (0.0, 1.0, 2.0)}
    found, expected = tree.with_parameters(changes), Tree(tree.system.with_parameters(changes))
    assert found.joint_names == expected.joint_names == tree.joint_names
    for one, other in zip(found.compiled.model, expected.compiled.model, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.mass != tree.mass or tree.compiled.link[0] == 0


def test_a_system_is_compiled_once_until_something_is_added() -> None:
    system = systems.descriptions()["arm"].with_parameters({})
    first, second = Tree(system), Tree(system)
    assert second.compiled is first.compiled
    assert not np.shares_memory(first.work.body.table, second.work.body.table)
    other = system.with_parameters({"gravity": (0.0, 0.0, -1.0)})
    assert Tree(other).compiled is not first.compiled and Tree(other).compiled.model.body.table[0, 2] == -1.0
    ball = system.add_body("ball", mass=2.0)
    third = Tree(system)
    assert (third.nv, third.mass) == (first.nv + 6, pytest.approx(first.mass + 2.0))
    system.add_joint(JOINTS["prismatic"]("rail", system.ground, ball))
    assert Tree(system).nv == first.nv + 1


def test_systems_that_their_classes_call_equal_have_trees_of_their_own() -> None:
    class Named(System):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named) and self.name == other.name

    one, other = Named("robot"), Named("robot")
    for system, mass in ((one, 1.0), (other, 2.0)):
        system.add_body("body", mass=mass, inertia=(1, 1, 1))
    assert one == other and (Tree(one).mass, Tree(other).mass) == (1.0, 2.0)


def test_tables_are_made_anew_for_every_tree() -> None:
    system = systems.descriptions()["arm"]
    forest = spanning_forest(system)
    first, second = compile_tree(system, forest), compile_tree(system, forest)
    for one, other in zip(first.model, second.model, strict=True):
        np.testing.assert_array_equal(one, other)
        assert not np.shares_memory(one, other)

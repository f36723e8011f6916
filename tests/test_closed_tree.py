"""Loops in minimal coordinates: poses that close, accelerations and reactions against absolute coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mechanisms
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.absolute.model.initial import accelerations, joint_wrench, self_stresses
from nexdyn.absolute.model.model import absolute_model
from nexdyn.absolute.model.redundancy import find_redundancy
from nexdyn.errors import InputError, SolveError
from nexdyn.model.topology import open_forest
from nexdyn.spatial.rotations import quaternion
from nexdyn.tree.observe import observe_motion
from nexdyn.tree.regular import weak_joints


def slider_crank() -> nx.System:
    system = nx.System("slider-crank", gravity=(0, -9.81, 0))
    crank = mechanisms.rod(system, "crank", (0, 0, 0), (0.3, 0.4, 0))
    rod = mechanisms.rod(system, "rod", (0.3, 0.4, 0), (1.5, 0, 0))
    slider = system.add_body("slider", mass=2.0, inertia=(1, 1, 1), position=(1.5, 0, 0))
    system.add_joint(nx.Revolute("main", system.ground, crank, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("crank pin", crank, rod, at=(0.3, 0.4, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("gudgeon pin", rod, slider, at=(1.5, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Prismatic("bore", system.ground, slider, axis=(1, 0, 0)))
    return system


def five_bar() -> nx.System:
    system = nx.System("five-bar", gravity=(0, -9.81, 0))
    P = [(0, 0, 0), (-0.3, 0.8, 0), (0.6, 1.4, 0), (1.4, 0.7, 0), (1, 0, 0)]
    bars = [mechanisms.rod(system, f"bar{i}", P[i], P[i + 1]) for i in range(4)]
    for i, (a, b) in enumerate(((system.ground, bars[0]), (bars[0], bars[1]), (bars[2], bars[1]), (bars[3], bars[2]))):
        system.add_joint(nx.Revolute(f"pin{i}", a, b, at=P[i], axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("pin4", system.ground, bars[3], at=P[4], axis=(0, 0, 1)))
    return system


def stewart_platform() -> nx.System:
    """Six legs, universal at the ground and spherical at the plate, each with a cylindrical joint as its prismatic one."""
    system = nx.System("Stewart platform")
    plate = system.add_body("plate", mass=20.0, inertia=(2, 2, 3), position=(0, 0, 1.2))
    for i in range(6):
        foot_angle, head_angle = (
            np.pi / 3 * (i // 2 * 2) + (-0.2, 0.2)[i % 2],
            np.pi / 3 * ((i + 1) // 2 * 2) - np.pi / 3,
        )
        head_angle += (-0.2, 0.2)[(i + 1) % 2]
        foot = np.array([1.2 * np.cos(foot_angle), 1.2 * np.sin(foot_angle), 0])
        head = np.array([0.6 * np.cos(head_angle), 0.6 * np.sin(head_angle), 1.2])
        along = (head - foot) / np.linalg.norm(head - foot)
        lower = mechanisms.rod(system, f"lower{i}", foot, foot + 0.4 * along)
        upper = mechanisms.rod(system, f"upper{i}", head - 0.4 * along, head)
        across = np.cross(along, (0.3, 0.2, 1.0))
        system.add_joint(
            nx.Universal(f"foot{i}", system.ground, lower, at=foot, axis=across, reference=np.cross(along, across))
        )
        system.add_joint(nx.Prismatic(f"leg{i}", lower, upper, at=foot + 0.4 * along, axis=along, stiffness=0.0))
        system.add_joint(nx.Spherical(f"head{i}", upper, plate, at=head))
    return system


def two_arms() -> nx.System:
    """Two arms that hold each other, each tied to the ground by a rod: the rods share no freedom, the hold shares all."""
    rng = np.random.default_rng(3)
    system = nx.System("two arms", gravity=(0, -9.81, 0))
    tips = []
    for name, x in (("a", 0.0), ("b", 3.0)):
        parent, at = system.ground, np.array((x, 0.0, 0.0))
        for k in range(4):
            step = np.array((0.4 if name == "a" else -0.4, 0.6 - 0.4 * k, 0.2 * k))
            link = mechanisms.rod(system, f"{name}{k}", at, at + step)
            system.add_joint(nx.Revolute(f"{name} hinge{k}", parent, link, at=at, axis=rng.normal(size=3)))
            parent, at = link, at + step
        tips.append(parent)
    system.add_joint(nx.Spherical("hold", *tips, at=(1.5, 0.0, 1.2), priority=5))
    for name, x in (("a", 0.0), ("b", 3.0)):
        system.add_joint(nx.Rod(f"rod {name}", system.ground, f"{name}1", anchor_a=(x, -1.0, 0.5)))
    return system


MECHANISMS: dict[str, Callable[[], nx.System]] = {
    "four-bar": mechanisms.four_bar, "slider-crank": slider_crank, "five-bar": five_bar, "Bricard": mechanisms.bricard,
    "A02": mechanisms.n_four_bar, "three cranks": mechanisms.three_cranks, "Stewart": stewart_platform,
    "two arms": two_arms,
}  # fmt: skip
each = pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)


def moving(closed: nx.ClosedTree, rng: np.random.Generator, far: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """A closed pose beside the described one, and a velocity that the loops allow."""
    q = closed.tree.integrate(closed.tree.described(), far * rng.uniform(-1, 1, closed.nv))
    q = closed.close(q)
    return q, closed.consistent_velocity(q, rng.normal(size=closed.nv))


@each
@pytest.mark.parametrize("seed", range(3))
def test_accelerations_and_reactions_are_those_of_absolute_coordinates(make: Any, seed: int) -> None:
    closed = nx.ClosedTree(make())
    q, v = moving(closed, np.random.default_rng(seed))
    a, lam = closed.dynamics(q, v, np.zeros(closed.nv))
    seen = observe_motion(closed.tree, np.zeros(1), q[None], v[None], a[None], with_forces=False)

    model = absolute_model(closed.system)
    place = [model.body_index[name] for name in closed.tree.body_names]
    X, V = model.q.copy(), model.v.copy()
    X[place, :4], X[place, 4:] = quaternion(seen.R[0]), seen.position[0]
    V[place, :3] = np.einsum("nji,nj->ni", seen.R[0], seen.angular_velocity[0])
    V[place, 3:] = seen.velocity[0]
    assert np.abs(model.residual(X)).max() < 1e-8
    assert np.abs(model.jacobian(X) @ V[1:].reshape(-1)).max() < 1e-8
    redundancy = find_redundancy(model, X)
    A, multipliers, _ = accelerations(model, X, model.applied(X, V), redundancy.kept, model.gamma(X, V))
    size = max(1.0, np.abs(A).max())
    assert_allclose(seen.acceleration[0], A[place, 3:], atol=1e-7 * size)
    in_body = np.einsum("nji,nj->ni", seen.R[0], seen.angular_acceleration[0])
    assert_allclose(in_body, A[place, :3], atol=1e-7 * size)

    J, stresses = model.term_jacobian(X), self_stresses(model, redundancy)
    for joint in closed.cut_joints:
        own = model.rows_of_joint[joint]
        expected, found = joint_wrench(model, X, joint, multipliers[own], J), closed.joint_wrench(joint, q, lam)
        free = np.abs(joint_wrench(model, X, joint, stresses[own].toarray(), J)).max(axis=1, initial=0.0)
        unique = free < 1e-9
        assert_allclose(found[unique], expected[unique], atol=1e-6 * size)


@each
def test_a_pose_beside_is_closed_and_a_closed_one_stays(make: Any) -> None:
    closed = nx.ClosedTree(make())
    rng = np.random.default_rng(0)
    q, v = moving(closed, rng)
    assert np.abs(closed.residual(q)).max() < 1e-9
    assert_allclose(closed.close(q), q, atol=1e-12)
    assert np.abs(closed.jacobian(q) @ v).max() < 1e-9


@pytest.mark.parametrize("angle", [-0.5, 0.4])
def test_a_locked_joint_keeps_its_coordinate(angle: float) -> None:
    closed = nx.ClosedTree(mechanisms.four_bar())
    q = closed.tree.described()
    place = closed.tree.coordinates["A"].q.start
    q[place] = angle
    q = closed.close(q, lock=["A"])
    assert q[place] == pytest.approx(angle, abs=1e-10)
    report = nx.assemble(mechanisms.four_bar(), q0={"A": angle})
    for name, p in zip(closed.tree.body_names, closed.tree.pose(q)[1], strict=True):
        assert_allclose(p, report.position(name), atol=1e-8)
    v = np.zeros(3)
    v[closed.tree.coordinates["A"].v] = 1.0
    v = closed.consistent_velocity(q, v, lock="A")
    assert v[closed.tree.coordinates["A"].v] == pytest.approx(1.0, abs=1e-9)


def test_a_step_at_a_time_a_mechanism_stays_on_its_branch() -> None:
    """A four-bar is led round by its crank, each pose from the last: no pose jumps to the other branch."""
    closed = nx.ClosedTree(mechanisms.four_bar())
    q = closed.tree.described()
    place = closed.tree.coordinates["A"].q.start
    for _ in range(60):
        before = q.copy()
        q = q.copy()
        q[place] += 0.03
        q = closed.close(q, lock=["A"])
        assert np.abs(q - before).max() < 0.2


def test_another_cut_gives_the_same_motion() -> None:
    expected = None
    for cut in ("A", "B", "C", "D"):
        system = mechanisms.four_bar()
        if cut in ("A", "B"):
            said = f"cutting joint '{cut}' leaves body .* joint 'C', whose child 'rocker' hangs on 'D'"
            with pytest.raises(InputError, match=said):
                nx.ClosedTree(system, cut=[cut])
            continue
        closed = nx.ClosedTree(system, cut=[cut])
        assert closed.cut_joints == [cut]
        a, _ = closed.dynamics(closed.tree.described(), np.zeros(3), np.zeros(3))
        crank = a[closed.tree.coordinates["A"].v]
        expected = crank if expected is None else expected
        assert_allclose(crank, expected, rtol=1e-10)


def test_constraints_only_close_a_tree_too() -> None:
    system = nx.System("pendulum with a rod", gravity=(0, -9.81, 0))
    bob = system.add_body("bob", mass=1.5, inertia=(0.1, 0.1, 0.1), position=(0.6, -0.8, 0))
    system.add_joint(nx.Planar("plane", system.ground, bob, axis=(0, 0, 1)))
    system.add_joint(nx.Rod("rod", system.ground, bob, anchor_a=(0, 0, 0)))
    closed = nx.ClosedTree(system)
    assert closed.cut_joints == ["rod"]
    a, lam = closed.dynamics(closed.tree.described(), np.zeros(3), np.zeros(3))
    assert_allclose(a[:2], 9.81 * 0.6 * np.array((-0.8, -0.6)), atol=1e-9)  # along the circle
    assert_allclose(np.abs(lam), [1.5 * 9.81 * 0.8], rtol=1e-9)  # the bob's weight along the rod


def test_baumgarte_pulls_an_open_loop_shut() -> None:
    closed = nx.ClosedTree(mechanisms.four_bar())
    q = closed.tree.described() + np.array((0.01, 0, 0))
    C = closed.residual(q)
    a, _ = closed.dynamics(q, np.zeros(3), np.zeros(3), alpha=5.0)
    open_a, _ = closed.dynamics(q, np.zeros(3), np.zeros(3))
    J = closed.jacobian(q)
    # C̈ = Cq a at rest: −β² C with, 0 without
    assert_allclose((J @ a)[:2], -25.0 * C[:2], atol=1e-9)
    assert_allclose((J @ open_a)[:2], 0.0, atol=1e-9)


def test_the_law_of_power_holds_without_friction() -> None:
    """Rows do no work: with C closed, λᵀ Cq v = 0, and the energy of a swinging five-bar stays over small steps."""
    closed = nx.ClosedTree(five_bar())
    q, v = moving(closed, np.random.default_rng(2))
    _, lam = closed.dynamics(q, v, np.zeros(closed.nv))
    assert abs(lam @ (closed.jacobian(q) @ v)) < 1e-8
    tree, dt = closed.tree, 1e-3
    energies = []
    for _ in range(200):
        energies.append(float(tree.kinetic_energy(q, v) + tree.potential_energy(q)))
        a, _ = closed.dynamics(q, v, np.zeros(closed.nv))
        middle_q, middle_v = tree.integrate(q, 0.5 * dt * v), v + 0.5 * dt * a
        a, _ = closed.dynamics(middle_q, middle_v, np.zeros(closed.nv))
        q, v = closed.close(tree.integrate(q, dt * middle_v)), v + dt * a
        v = closed.consistent_velocity(q, v)
    assert np.ptp(energies) < 1e-4 * np.abs(energies).max()


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: nx.ClosedTree(mechanisms.four_bar(), cut=["E"]), InputError, "no joint 'E'"),
        (lambda: nx.ClosedTree(mechanisms.four_bar(), cut=[]), InputError, "joint '[A-D]' still closes a loop"),
        (lambda: nx.ClosedTree(mechanisms.four_bar()).close([0, 0]), InputError, r"q has shape \(2,\); \(3,\)"),
        (lambda: nx.ClosedTree(mechanisms.four_bar()).close([0, np.nan, 0]), InputError, "q is .*finite"),
        (lambda: nx.ClosedTree(mechanisms.four_bar()).close([0, 0, 0], lock=["C"]), InputError, "'C'"),
        (lambda: nx.ClosedTree(mechanisms.four_bar()).joint_wrench("A", np.zeros(3), np.zeros(5)), InputError, "'A' is not cut"),
        (lambda: nx.ClosedTree(nx.load("broken-four-bar")).close(np.zeros(3)), SolveError, "joint '[A-D]' stays open by"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(build: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build()


def test_a_driver_is_a_row_that_holds_its_joint() -> None:
    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("motor", "A", "=0.1 + 0.5*t"))
    closed = nx.ClosedTree(system)
    q = closed.close(closed.tree.described(), t=0.2)
    place = closed.tree.coordinates["A"]
    assert q[place.q] == pytest.approx(0.2, abs=1e-9)
    v = closed.consistent_velocity(q, np.zeros(3), t=0.2)
    assert v[place.v] == pytest.approx(0.5, abs=1e-9)
    a, lam = closed.dynamics(q, v, np.zeros(3), t=0.2)
    assert a[place.v] == pytest.approx(0.0, abs=1e-9)
    # what the motor takes is what the open mechanism would need at that joint to move like this
    (motor,) = [row.index for row in closed.rows if row.driver == "motor"]
    undriven = nx.ClosedTree(mechanisms.four_bar())
    tau = np.zeros(3)
    tau[place.v] = -lam[motor]
    assert_allclose(undriven.dynamics(q, v, tau).a, a, atol=1e-8)


def geared_four_bar(*with_armature: str) -> nx.System:
    system = mechanisms.four_bar()
    changed = nx.System("four-bar", gravity=(0, -9.81, 0))
    for body in system.bodies.values():
        changed.add_body(body.name, mass=1.0, inertia=mechanisms.INERTIA, position=body.position)
    for name, a, b, at in (("A", "ground", "crank", (0, 0, 0)), ("B", "crank", "coupler", (0, 1, 0)),
                           ("C", "coupler", "rocker", (1.5, 1.4, 0)), ("D", "ground", "rocker", (2, 0, 0))):  # fmt: skip
        armature = 0.1 if name in with_armature else 0.0
        changed.add_joint(nx.Revolute(name, a, b, at=at, axis=(0, 0, 1), armature=armature))
    return changed


def test_a_joint_that_must_not_be_cut_is_left_whole_where_another_can_be() -> None:
    assert nx.ClosedTree(geared_four_bar()).cut_joints == ["C"]
    assert nx.ClosedTree(geared_four_bar("C")).cut_joints == ["D"]
    assert nx.ClosedTree(geared_four_bar("A", "D")).cut_joints == ["C"]
    refused = r"joint '[CD]' .* would be cut open, and only joints of the spanning tree have armature"
    with pytest.raises(InputError, match=refused):
        nx.ClosedTree(geared_four_bar("C", "D"))
    with pytest.raises(InputError, match=refused):
        nx.ClosedTree(geared_four_bar("C"), cut=["C"])


def test_a_joint_is_led_to_its_coordinate_on_the_same_branch() -> None:
    """Asked to turn by 2 rad at once the crank takes its coupler along; a single Newton step would jump."""
    closed = nx.ClosedTree(mechanisms.four_bar())
    start = closed.tree.described()
    place = closed.tree.coordinates["A"].q
    q = closed.close({"A": 1.2})
    by_steps = start
    for angle in np.linspace(0.0, 1.2, 61)[1:]:
        by_steps = by_steps.copy()
        by_steps[place] = angle
        by_steps = nx.ClosedTree.close(closed, by_steps, lock=["A"])
    assert_allclose(q, by_steps, atol=1e-8)
    assert np.abs(closed.residual(q)).max() < 1e-9
    with pytest.raises(InputError, match="no moving joint 'C'"):
        closed.close({"C": 0.1})


def carried() -> nx.System:
    """A loop whose massless carrier hangs on a ball joint and lets a block slide: cut at either, the carrier moves nothing."""
    system = nx.System("carrier")
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    system.add_body("block", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.0, 0.0, -1.0))
    system.add_body("carrier", position=(1.0, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", "ground", "arm", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add_joint(nx.Revolute("pivot", "ground", "block", at=(1.5, 0.0, -1.0), axis=(0.0, 1.0, 0.0)))
    system.add_joint(nx.Spherical("ball", "arm", "carrier", at=(1.0, 0.0, 0.0)))
    system.add_joint(nx.Prismatic("slide", "carrier", "block", at=(1.0, 0.0, -1.0), axis=(0.0, 0.0, 1.0)))
    return system


def test_the_cut_is_chosen_so_that_every_freedom_moves_inertia() -> None:
    assert weak_joints(carried(), open_forest(carried())) == ["ball"]
    assert weak_joints(carried(), open_forest(carried(), ["pivot"])) == []
    system = carried()
    assert nx.ClosedTree(system).cut_joints == ["pivot"]
    chosen = nx.simulate(system, 0.2, nx.RungeKutta4(1e-3))
    asked = nx.simulate(system, 0.2, nx.RungeKutta4(1e-3), loops=nx.Loops(cut="pivot"))
    np.testing.assert_array_equal(chosen.position("block"), asked.position("block"))
    assert nx.ClosedTree(system).borrowing == []
    assert nx.ClosedTree(system, ["slide"]).borrowing == ["ball"]
    other = nx.simulate(system, 0.2, nx.RungeKutta4(1e-3), loops=nx.Loops(cut="slide"))
    np.testing.assert_allclose(chosen.position("block"), other.position("block"), atol=1e-9)


def test_trees_of_bodies_with_inertia_are_regular_and_thin_rods_between_balls_are_not() -> None:
    for demo in ("four-bar", "stewart", "bennett"):
        system = nx.load(demo)
        assert weak_joints(system, open_forest(system)) == []
    rod = nx.System("rod")
    rod.add_body("rod", mass=1.0, inertia=(0.0, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    rod.add_joint(nx.Spherical("ball", "ground", "rod", at=(0.0, 0.0, 0.0)))
    assert weak_joints(rod, open_forest(rod)) == ["ball"]
    hinged = nx.System("rod")
    hinged.add_body("rod", mass=1.0, inertia=(0.0, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    hinged.add_joint(
        nx.Universal("cardan", "ground", "rod", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), reference=(0.0, 0.0, 1.0))
    )
    assert weak_joints(hinged, open_forest(hinged)) == []

"""Armature acts alike under every formulation: an inertia that turns or slides with one freedom of a joint alone."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
import systems
from matrix_elements import ELEMENTS
from matrix_observed import everything
from random_systems import Draft
from tree_lab import agree
from turns import in_turns

import nexdyn as nx
from nexdyn.joints import JOINTS
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.statics.reduced import ReducedSystem
from nexdyn.tree.observe import observe_motion

ABSOLUTE = [nx.Projection(dt=1e-3), nx.Baumgarte(dt=1e-3), nx.Partitioning(dt=1e-3), nx.HHT(dt=1e-3), nx.HHT(rtol=5e-6)]


def named(what: Any) -> str:
    """Of a method its name."""
    return f"{what:g}" if isinstance(what, float) else repr(what).split(", dt_max")[0]


def geared() -> nx.System:
    """Pinion and wheel, q_p = −3 q_w, 1 N m on the wheel; the pinion carries a rotor."""
    system = nx.System("gears", gravity=(0, 0, 0))
    for name, armature in (("p", 0.5), ("w", 0.0)):
        body = system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
        system.add_joint(nx.Revolute(name, system.ground, body, at=(0, 0, 0), axis=(0, 0, 1), armature=armature))
    system.add_coupling(nx.Gear("t", "p", "w", ratio=-3.0))
    system.add_force(nx.JointForce("m", "w", 1.0))
    return system


@pytest.mark.parametrize(
    ("method", "error"),
    [(nx.ImplicitEuler(1e-3, bdf2=False), 2e-3), (nx.ImplicitEuler(1e-3, bdf2=True), 1e-5), (nx.Projection(rtol=1e-8), 1e-8),
     (nx.Baumgarte(rtol=1e-8), 1e-6), (nx.Partitioning(rtol=1e-8), 1e-8), (nx.SemiImplicitEuler(1e-4), 1e-3)],
    ids=lambda x: named(x),
)  # fmt: skip
def test_a_geared_rotor_turns_as_far_as_it_must_under_the_other_methods(method: Any, error: float) -> None:
    result = nx.simulate(geared(), 1.0, method)
    assert result.joint_position("w")[-1] == pytest.approx(0.5 / (0.1 + 9 * 0.6), rel=error)


@pytest.mark.parametrize("method", [*ABSOLUTE, nx.RungeKutta4(dt=1e-3)], ids=named)
def test_a_geared_rotor_counts_with_the_square_of_its_ratio(method: Any) -> None:
    acceleration = 1.0 / (0.1 + 9 * 0.6)
    result = nx.simulate(geared(), 1.0, method)
    assert result.joint_position("w")[-1] == pytest.approx(0.5 * acceleration, rel=1e-10)
    for sample in (0, -1):
        assert float(result.joint_acceleration("w")[sample]) == pytest.approx(acceleration, rel=1e-7)
    assert result.energy().kinetic[-1] == pytest.approx(0.5 * acceleration, rel=1e-9)  # the work of 1 N m
    assert nx.assemble(geared()).a[2, 2] == pytest.approx(acceleration, rel=1e-12)


def test_the_potential_counts_it_in_its_energy_and_its_first_acceleration() -> None:
    system = geared().with_parameters({"m.effort": 0.0})
    result = nx.simulate(system, 0.2, nx.ImplicitEuler(dt=1e-3), v0={"w": 1.0})
    assert result.energy().kinetic[0] == pytest.approx(0.5 * (0.1 + 9 * 0.6), rel=1e-12)
    assert result.energy_drift < 1e-6
    driven = nx.simulate(geared(), 2e-3, nx.ImplicitEuler(dt=1e-3))
    assert driven.joint_acceleration("w")[0] == pytest.approx(1.0 / (0.1 + 9 * 0.6), rel=1e-9)


@pytest.mark.parametrize(
    "method", [*ABSOLUTE, nx.RungeKutta4(dt=1e-3), nx.ImplicitEuler(dt=1e-3)], ids=lambda method: named(method)
)
def test_a_driver_of_a_joint_with_armature_moves_body_and_rotor(method: Any) -> None:
    """φ = t³: the motor gives (J + a) 6 t, the bearing only the J 6 t that reach the body, the stand the other way."""
    system = nx.System("driven", gravity=(0, 0, 0))
    body = system.add_body("p", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Revolute("p", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1), armature=0.5))
    system.add_driver(nx.Driver("motor", "p", "=t**3"))
    result = nx.simulate(system, 0.5, method)
    expected = 6.0 * result.t.values * (0.1 + 0.5)
    first_order = isinstance(method, nx.ImplicitEuler)
    allowed = 6.0 * 0.6 * 2e-3 if first_order else 1e-5  # of the acceleration of one step in 500
    np.testing.assert_allclose(result.effort("motor").values[2:], expected[2:], rtol=0, atol=allowed)
    np.testing.assert_allclose(result.transmitted("p").values[2:, 5], expected[2:] / 6.0, rtol=0, atol=allowed)


# --- trees ----------------------------------------------------------------------------------------------------------


def rotors_everywhere(seed: int = 1) -> nx.System:
    """A branching tree with every joint that moves, an armature of its own on each freedom, fast from the start."""
    rng = np.random.default_rng(seed)
    draft = Draft(rng)
    for kind in rng.permutation(systems.MOVING):
        nv = JOINTS[str(kind)].nv
        draft.attach(str(kind), armature=tuple(rng.uniform(0.2, 1.0, nv)), v0=tuple(rng.normal(size=nv)))
    return draft.system


@pytest.mark.parametrize("kind", systems.MOVING)
def test_the_directions_of_a_joint_are_its_freedoms(kind: str) -> None:
    assert len(JOINTS[kind].directions) == JOINTS[kind].nv


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_mass_matrix_and_the_accelerations_are_those_of_the_tree(seed: int) -> None:
    system = rotors_everywhere(seed)
    tree, report = nx.Tree(system), nx.assemble(system)
    q, v = tree.described(), np.concatenate([np.ravel(system.joint(name).v0) for name in tree.joint_names])
    V = report.v[1:].ravel()
    agree(0.5 * V @ report.model.mass_matrix(report.q) @ V, tree.kinetic_energy(q, v), 1e-12)
    start = nx.simulate(system, 1e-6, nx.RungeKutta4(dt=1e-6))
    a = np.array([np.concatenate([start.angular_acceleration(b)[0], start.acceleration(b)[0]]) for b in system.bodies])
    for k, (R, found) in enumerate(zip(rotation_matrix(report.q[1:, :4]), report.a[1:], strict=True)):
        agree(np.concatenate([R @ found[:3], found[3:]]), a[k], 1e-8)


@pytest.fixture(scope="module")
def reference() -> Any:
    return nx.simulate(rotors_everywhere(), 0.2, nx.DormandPrince(rtol=1e-12, atol=1e-13))


@pytest.mark.parametrize(
    ("method", "apart"),
    [(nx.Projection(dt=1e-3), 1e-8), (nx.Baumgarte(dt=1e-3), 1e-4), (nx.Partitioning(dt=1e-3), 1e-8), (nx.HHT(rtol=5e-6), 1e-5)],
    ids=named,
)  # fmt: skip
def test_trees_of_every_joint_move_as_in_minimal_coordinates(reference: Any, method: Any, apart: float) -> None:
    system = rotors_everywhere()
    result = nx.simulate(system, 0.2, method)
    for body in system.bodies:
        agree(result.position(body)[-1], reference.position(body)[-1], apart)
    agree(result.energy().kinetic[-1], reference.energy().kinetic[-1], 10 * apart)
    for joint in system.joints:
        agree(result.joint_velocity(joint)[-1], reference.joint_velocity(joint)[-1], 10 * apart)
        agree(result.reaction(joint)[0], reference.reaction(joint)[0], 1e-6)
        agree(result.transmitted(joint)[0], reference.transmitted(joint)[0], 1e-6)


def test_what_a_joint_transmits_at_the_start_is_told_alike_by_the_assembly(reference: Any) -> None:
    """What speeds a rotor up does not reach the child."""
    report = nx.assemble(reference.system)
    for joint in reference.system.joints:
        agree(np.concatenate(report.transmitted(joint)), reference.transmitted(joint)[0], 1e-8)


def test_hht_has_order_2_with_it(reference: Any) -> None:
    system = rotors_everywhere()

    def error(dt: float) -> float:
        result = nx.simulate(system, 0.2, nx.HHT(dt=dt))
        return max(float(np.abs(result.position(b)[-1] - reference.position(b)[-1]).max()) for b in system.bodies)

    assert error(2e-3) / error(1e-3) == pytest.approx(4.0, rel=0.15)


# --- loops ----------------------------------------------------------------------------------------------------------


def loop(*joints: str) -> nx.System:
    """A four-bar, a rotor of its own in each of `joints`."""
    own = {f"{name}.armature": 0.3 + 0.1 * k for k, name in enumerate(joints)}
    return mechanisms.four_bar().with_parameters(own)


@pytest.mark.parametrize("method", ABSOLUTE, ids=named)
def test_loops_move_as_with_a_cut_and_keep_their_energy_whichever_joint_has_it(method: Any) -> None:
    apart = 1e-5 if isinstance(method, nx.HHT) else 1e-6
    names = list(mechanisms.four_bar().joints)
    on_tree = loop(*names[:2])
    expected = nx.simulate(on_tree, 0.5, nx.RungeKutta4(dt=5e-4)).joint_position(names[0])[-1]
    assert abs(float(nx.simulate(on_tree, 0.5, method).joint_position(names[0])[-1] - expected)) < apart
    assert abs(float(nx.simulate(loop(), 0.5, method).joint_position(names[0])[-1] - expected)) > 0.01
    assert nx.simulate(loop(*names), 0.5, method).energy_drift < apart


@pytest.mark.parametrize("joint", ["A", "B", "C", "D"])
def test_modes_are_the_same_dense_and_sparse_whichever_joint_has_it(joint: str) -> None:
    system = mechanisms.four_bar().with_parameters({f"{joint}.armature": 0.5, "A.stiffness": 400.0})
    at = nx.equilibrium(system)
    dense, sparse = nx.linearize(system, at), nx.linearize(system, at, modes=1)
    light = system.with_parameters({f"{joint}.armature": 0.0})
    without = nx.linearize(light, nx.equilibrium(light), modes=1)
    assert sparse.modes[0].frequency == pytest.approx(dense.modes[0].frequency, rel=1e-7)
    assert sparse.modes[0].frequency < 0.95 * without.modes[0].frequency


@pytest.mark.parametrize("joint", ["A", "B", "C", "D"])
def test_what_is_linearized_accelerates_as_the_moving_mechanism_does(joint: str) -> None:
    report = nx.assemble(mechanisms.four_bar().with_parameters({f"{joint}.armature": 0.5}), v0={"A": 3.0})
    reduced = ReducedSystem(report)
    motion = reduced.motion(np.zeros(reduced.size))
    seen = observe_motion(reduced.tree, np.zeros(1), motion.q[None], motion.v[None], motion.a[None], with_forces=False)
    for k, body in enumerate(reduced.tree.body_names):
        np.testing.assert_allclose(seen.acceleration[0, k], report.acceleration(body), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            seen.angular_acceleration[0, k], report.angular_acceleration(body), rtol=1e-9, atol=1e-9
        )


def test_lanes_march_as_each_member_alone() -> None:
    system, method = loop("A", "B", "C", "D"), nx.HHT(dt=2e-3)
    armatures = np.linspace(0.1, 2.0, 9)
    batch = nx.simulate(system, 0.1, method, batch={"parameters": {"A.armature": armatures}})
    for k in (0, 8):
        alone = nx.simulate(system.with_parameters({"A.armature": armatures[k]}), 0.1, method)
        agree(batch.member(k).joint_position("A"), alone.joint_position("A"), 1e-12)


# --- in steps that differ from the one before --------------------------------------------------------------------------


def with_armature(kind: str, carrier: str) -> nx.System:
    element = ELEMENTS[f"joint {kind}"]
    return element.system(carrier, element.change("armature"))


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")  # of velocities that constraints change
@pytest.mark.parametrize(
    ("kind", "carrier", "bdf2", "rest"),
    in_turns(
        (kind, carrier, bdf2, rest)
        for kind, cls in JOINTS.items()
        if cls.tree and cls.nv
        for carrier in ELEMENTS[f"joint {kind}"].carriers
        for bdf2 in (False, True)
        for rest in (0.0, 0.05)
    ),
)
def test_first_steps_of_the_potential_tell_accelerations_and_reactions(
    kind: str, carrier: str, bdf2: bool, rest: float
) -> None:
    """The error is of first order in the step, in a first step and by BDF2 in a second one; also behind a much shorter last step."""
    steps, miss = 2 if bdf2 else 1, []
    for h in (1e-3, 2.5e-4):
        system, end = with_armature(kind, carrier), (steps + rest) * h
        found, wanted = (
            everything(nx.simulate(system, end, method, output_times=[end]))
            for method in (nx.ImplicitEuler(h, bdf2=bdf2), nx.RungeKutta4(h / 8))
        )
        parts = ("velocity", "acceleration", "reactions")
        miss.append(
            [np.linalg.norm(found[x][-1] - wanted[x][-1]) / max(1.0, np.linalg.norm(wanted[x][-1])) for x in parts]
        )
    assert all(fine < max(0.45 * coarse, 5e-6) for coarse, fine in zip(*miss, strict=True)), miss

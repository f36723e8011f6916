"""`nx.assemble`: closed poses, consistent velocities and accelerations, reactions, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import mechanisms
import numpy as np
import pytest
from matrix_elements import ELEMENTS, ROUND
from systems import KINDS, random_system

import nexdyn as nx
from nexdyn.assembly.assemble import assemble
from nexdyn.assembly.report import AssemblyReport
from nexdyn.errors import AssemblyError, InputError
from nexdyn.integrate.methods import METHODS
from nexdyn.joints import JOINTS
from nexdyn.spatial.rotations import quaternion


def residuals(report: AssemblyReport) -> tuple[float, float, float]:
    model = report.model
    J = model.jacobian(report.q)
    return (
        float(np.abs(model.residual(report.q)).max()),
        float(np.abs(J @ report.v[1:].reshape(-1)).max()),
        float(np.abs(J @ report.a[1:].reshape(-1) - model.gamma(report.q, report.v)).max()),
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_four_bar_described_beside_its_place_is_closed(seed: int) -> None:
    report = assemble(mechanisms.open_four_bar(np.random.default_rng(seed)))
    assert max(residuals(report)) < 1e-9
    assert report.redundancy.dof == 1 and len(report.redundancy.redundant) == 3
    assert all(row.consistent and row.structural for row in report.redundancy.redundant)


def test_the_pose_found_is_the_nearest_one() -> None:
    report = assemble(mechanisms.open_four_bar(np.random.default_rng(0)))
    from nexdyn.absolute.model.configuration import difference

    # at the nearest pose the displacement is normal to the motion that is left
    away = difference(report.q, report.model.q).reshape(-1)
    away = away / np.tile([1, 1, 1, report.length**2, report.length**2, report.length**2], report.model.nb)
    free = np.linalg.svd(report.model.jacobian(report.q))[2][report.redundancy.independent :]
    assert np.abs(free @ away).max() < 1e-8


def test_a_coupler_too_short_is_refused_with_the_gap() -> None:
    with pytest.raises(AssemblyError, match=r"cannot be assembled: joint '[A-D]' stays open by 0\.\d+ m") as caught:
        assemble(mechanisms.open_four_bar(np.random.default_rng(0), coupler=1.0, base=4.0))
    assert caught.value.report.gaps


def test_a_hinge_that_cannot_meet_is_refused_by_name() -> None:
    with pytest.raises(AssemblyError, match=r"'(upper|lower)' stays open by 0\.0\d+ m"):
        assemble(mechanisms.crooked_door())


def test_a_door_with_an_askew_axis_is_locked() -> None:
    report = assemble(mechanisms.door(askew=0.1))
    assert report.redundancy.dof == 0
    assert any("LOCKED" in warning for warning in report.warnings)
    assert all(row.structural is None for row in report.redundancy.redundant)


def test_rows_redundant_only_in_the_flat_pose_are_told_apart() -> None:
    report = assemble(mechanisms.n_four_bar(flat=True))
    by_name = {str(row): row.structural for row in report.redundancy.redundant}
    assert len(by_name) == 8 and sum(structural is False for structural in by_name.values()) == 2


def test_reactions_of_a_table_are_unique_only_in_their_sum() -> None:
    report = assemble(mechanisms.table())
    reactions = [report.reaction(f"leg{i}") for i in range(4)]
    assert not any(r.unique[:3].any() for r in reactions)
    for choice in ("force", "least_force"):
        total = sum(getattr(r, choice) for r in reactions)
        np.testing.assert_allclose(total, (0, 0, 8 * 9.81), atol=1e-9)


def test_a_bead_on_a_rod_is_held_by_the_normal_force() -> None:
    # a mass that turns on a massless arm of 0.5 m at 3 rad/s: λ is m g cos θ + m ω² r along the arm
    system = nx.System("bead", gravity=(0, 0, -9.81))
    bead = system.add_body("bead", mass=2.0, inertia=(0, 0, 0), position=(0, 0, -0.5))
    system.add_joint(nx.Revolute("pivot", system.ground, bead, at=(0, 0, 0), axis=(0, 1, 0)))
    with pytest.raises(nx.NexDynError):
        assemble(nx.System("empty").with_parameters({"x": 1}))
    report = assemble(system)
    np.testing.assert_allclose(report.reaction("pivot").force @ report.reaction("pivot").force, (2 * 9.81) ** 2)


def described_at(tree: nx.Tree, q: np.ndarray) -> nx.System:
    """The system of a tree, described in the pose q by anchors and axes in the bodies' frames."""
    system = nx.System("described", gravity=tree.system.gravity)
    R, p = tree.pose(q)
    for i, name in enumerate(tree.body_names):
        body = tree.system.bodies[name]
        system.add_body(
            name, mass=body.mass, inertia=body.inertia, com=body.com, position=p[i], orientation=quaternion(R[i])
        )
    for name, joint in tree.system.joints.items():
        frames = joint.frames({})
        sides = {
            "anchor_a": frames.p_AJ, "axis_a": frames.R_AJ[:, 2], "reference_a": frames.R_AJ[:, 0],
            "anchor_b": frames.p_BJ, "axis_b": frames.R_BJ[:, 2], "reference_b": frames.R_BJ[:, 0],
        }  # fmt: skip
        extra = {"pitch": joint.pitch} if joint.kind == "helical" else {}
        system.add_joint(type(joint)(name, joint.parent.name, joint.child.name, **sides, **extra))
    return system


@pytest.mark.parametrize("seed", range(6))
def test_trees_agree_with_minimal_coordinates_at_random_poses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = nx.Tree(random_system(seed, list(rng.permutation(KINDS)), floating=seed % 2))
    system = described_at(whole, whole.random(rng))
    tree, report = nx.Tree(system), assemble(system)
    assert report.iterations == 0 and report.redundancy.redundant == []
    q, rest = tree.described(), np.zeros(tree.nv)
    a = tree.aba(q, rest, rest)
    wrenches = tree.joint_wrenches(q, rest, a)
    for name in tree.body_names:
        expected = tree.jacobian(q, name) @ a
        np.testing.assert_allclose(report.angular_acceleration(name), expected[:3], atol=1e-8)
        np.testing.assert_allclose(report.acceleration(name), expected[3:], atol=1e-8)
    for name in system.joints:
        reaction = report.reaction(name)
        assert reaction.unique.all()
        np.testing.assert_allclose(np.concatenate([reaction.moment, reaction.force]), wrenches[name], atol=1e-7)


@pytest.mark.parametrize("make", [mechanisms.four_bar, mechanisms.bricard, mechanisms.door, mechanisms.table])
def test_the_report_reads_and_is_json(make: Callable[[], nx.System]) -> None:
    report = assemble(make())
    text = str(report)
    assert "of freedom" in text and "redundant" in text
    data = json.loads(json.dumps(report.to_dict()))
    assert data["redundancy"]["dof"] == report.redundancy.dof


def test_bad_weights_and_locks_are_named() -> None:
    with pytest.raises(InputError, match="did you mean 'crank'"):
        assemble(mechanisms.four_bar(), weights={"crnk": 1.0})
    with pytest.raises(InputError, match="weight of body 'crank'"):
        assemble(mechanisms.four_bar(), weights={"crank": -1.0})
    with pytest.raises(InputError, match="no body 'cranks'"):
        assemble(mechanisms.four_bar(), locks=("cranks",))


@pytest.mark.parametrize("seed", range(8))
def test_no_joint_is_assembled_180_degrees_round(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = nx.Tree(random_system(seed, list(rng.permutation(KINDS))))
    # described far from closed: every body turned any way
    report = assemble(whole.system)
    assert report.flipped == [] and max(residuals(report)) < 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_trees_agree_with_minimal_coordinates_at_random_velocities_under_forces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = nx.Tree(random_system(seed, list(rng.permutation(KINDS))))
    bare = described_at(whole, whole.random(rng))
    system = nx.System("loaded", gravity=bare.gravity)
    for body in bare.bodies.values():
        system.add_body(
            body.name, mass=body.mass, inertia=body.inertia, com=body.com, position=body.position,
            orientation=body.orientation,
        )  # fmt: skip
    for joint in bare.joints.values():
        sides = {
            f"{key}_{side}": getattr(joint, f"{key}_{side}") for key in ("anchor", "axis", "reference") for side in "ab"
        }
        extra = {"pitch": joint.pitch} if joint.kind == "helical" else {}
        if joint.nv:
            extra |= {"v0": rng.normal(size=joint.nv), "damping": 0.3}
            extra |= {} if joint.kind == "free" else {"stiffness": 2.0}
        system.add_joint(type(joint)(joint.name, joint.parent.name, joint.child.name, **sides, **extra))
    names = list(system.bodies)
    system.add_force(nx.PointSpring("spring", names[0], names[-1], stiffness=5.0, damping=0.5, length=0.1))
    system.add_force(nx.AppliedForce("push", names[2], force=(1, 2, 3), torque=(0.1, 0.2, 0.3)))
    report = assemble(system)
    simulation = nx.Simulation(system)
    tree = simulation.tree
    q, v, a = simulation.q, simulation.v, simulation.a
    np.testing.assert_allclose(v, tree.initial_velocity())
    for name in tree.body_names:
        w, u = tree.velocity(q, v, name)
        np.testing.assert_allclose(report.angular_velocity(name), w, atol=1e-8)
        np.testing.assert_allclose(report.velocity(name), u, atol=1e-8)
        expected = tree.jacobian(q, name) @ a + tree.jacobian_rate(q, v, name) @ v
        scale = 1e-8 * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(report.angular_acceleration(name), expected[:3], atol=scale)
        np.testing.assert_allclose(report.acceleration(name), expected[3:], atol=scale)
    result = simulation.result()
    for name in system.joints:
        reaction, expected = report.reaction(name), result.reaction(name).values[-1]
        scale = 1e-7 * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(np.concatenate([reaction.force, reaction.moment]), expected, atol=scale)


@pytest.mark.parametrize("seed", range(4))
def test_joints_without_a_velocity_stand_still_in_every_formulation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = nx.Tree(random_system(seed, list(rng.permutation(KINDS)), floating=seed % 2))
    system = described_at(whole, whole.random(rng))
    moving = [joint.name for joint in system.joints.values() if joint.nv]
    v0 = {name: rng.normal(size=system.joint(name).nv) for name in moving[:: 2 + seed]}
    report, tree = assemble(system, v0=v0), nx.Tree(system)
    v = np.zeros(tree.nv)
    for name, rates in v0.items():
        v[tree.coordinates[name].v] = rates
    for name in tree.body_names:
        w, u = tree.velocity(tree.described(), v, name)
        np.testing.assert_allclose(report.angular_velocity(name), w, atol=1e-8)
        np.testing.assert_allclose(report.velocity(name), u, atol=1e-8)


def test_a_body_that_floats_off_a_moving_one_starts_with_it_in_every_formulation() -> None:
    system = nx.System("moon", gravity=(0, 0, 0))
    for name, x in (("arm", 0.5), ("moon", 1.5)):
        system.add_body(name, mass=1.0, inertia=(1.0, 2.0, 3.0), position=(x, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", system.ground, "arm", at=(0, 0, 0), axis=(0, 0, 1), v0=2.0))
    system.add_joint(nx.Free("off", "arm", "moon"))
    apart = {
        method.name: nx.simulate(system, 0.2, method).position("moon").values[-1]
        for method in (nx.RungeKutta4(1e-3), nx.HHT(alpha=0.0, dt=1e-3))
    }
    np.testing.assert_allclose(apart["rk4"], (1.5, 0.6, 0.0), atol=1e-9)  # 2 rad/s at 1.5 m for 0.2 s, straight on
    np.testing.assert_allclose(apart["hht"], apart["rk4"], atol=1e-6)


def test_the_gaps_of_bars_too_short_add_up_to_what_is_missing() -> None:
    """Bars 1, 1 and √(0.25² + 0.7²)·2 between pivots 4 m apart: stretched out, what is missing is shared by four joints."""
    with pytest.raises(AssemblyError, match=r"0\.513 m in all") as caught:
        assemble(nx.load("broken-four-bar"))
    gaps = caught.value.report.gaps
    assert {gap.joint for gap in gaps} == {"A", "B", "C", "D"} and all(gap.kind == "joint" and gap.rows for gap in gaps)
    missing = 4 - 1 - 1 - 2 * np.hypot(0.25, 0.7)
    np.testing.assert_allclose([gap.distance for gap in gaps], missing / 4, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"tolerance": "small"}, "tolerance is 'small'"),
        ({"max_iterations": 0}, "max_iterations is 0"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5"),
    ],
)
def test_iterations_that_mean_nothing_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        assemble(mechanisms.four_bar(), **options)


def test_a_looser_tolerance_takes_fewer_iterations() -> None:
    def closed(**options: float) -> AssemblyReport:
        return assemble(mechanisms.open_four_bar(np.random.default_rng(1)), **options)

    tight, loose = closed(), closed(tolerance=1e-5)
    assert loose.iterations < tight.iterations
    assert max(residuals(tight)) < 1e-9


def test_andrews_mechanism_starts_as_published() -> None:
    """A03 of the published problems: β̈ and Θ̈, all other accelerations 0; the force of K1's hinge chain on K2 at E."""
    report = assemble(nx.load("andrews"))
    alpha = {name: report.angular_acceleration(name)[2] for name in ("K1", "K2", "K3", "K4", "K5", "K6", "K7")}
    assert alpha["K1"] == pytest.approx(14222.4439199541, rel=1e-10)
    assert alpha["K2"] - alpha["K1"] == pytest.approx(-10666.8329399656, rel=1e-10)
    np.testing.assert_allclose([alpha[f"K{i}"] for i in range(3, 8)], 0.0, atol=1e-8)
    at_E = [report.reaction(joint) for joint in ("E3", "E4", "E6")]
    assert all(reaction.unique[:2].all() for reaction in at_E)
    on_K2 = -sum(reaction.force for reaction in at_E)
    np.testing.assert_allclose(on_K2[:2], (-98.5668703962411, 6.12268834425567), rtol=1e-10)
    assert report.redundancy.dof == 1 and len(report.redundancy.redundant) == 9


def test_a_velocity_that_the_constraints_refuse_is_told_with_the_one_that_they_give() -> None:
    system = nx.System("driven", gravity=(0, 0, 0))
    body = system.add_body("body", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Revolute("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1), v0=5.0))
    system.add_driver(nx.Driver("drive", "hinge", nx.Linear(0.0, 7.0)))
    with pytest.raises(nx.AssemblyError, match="'hinge' cannot have its v0, 5: the constraints give it 7"):
        assemble(system)


@pytest.mark.parametrize("carrier", ["rod", "ring"])
@pytest.mark.parametrize("kind", [kind for kind, cls in JOINTS.items() if cls.tree and cls.nv and kind not in ROUND])
def test_every_coordinate_of_q0_is_kept_where_a_loop_closes(kind: str, carrier: str) -> None:
    """Of joints of several coordinates, too: in a report and at the start of runs."""
    q0 = (0.1, 0.05, -0.07)[: JOINTS[kind].nv]
    system = ELEMENTS[f"joint {kind}"].system(carrier, {"q0": q0, "v0": None})
    runs = [nx.simulate(system, 2e-3, method) for method in (nx.RungeKutta4(1e-3), nx.HHT(dt=1e-3))]
    runs.append(nx.simulate(system, 2e-3, nx.RungeKutta4(1e-3), initial=assemble(system)))
    for run in runs:
        np.testing.assert_allclose(np.atleast_1d(run.joint_position("tested").values[0]), q0, rtol=0, atol=1e-9)


EVERY = [
    nx.RungeKutta4(1e-3), nx.ExplicitEuler(1e-3), nx.SemiImplicitEuler(1e-3), nx.DormandPrince(),
    nx.BogackiShampine32(), nx.DOP853(), nx.HHT(dt=1e-3), nx.HHT(),
    nx.Projection(dt=1e-3), nx.Projection(), nx.Baumgarte(dt=1e-3), nx.Baumgarte(), nx.Partitioning(dt=1e-3), nx.Partitioning(),
    nx.ImplicitEuler(1e-3), nx.ImplicitEuler(1e-3, bdf2=True),
]  # fmt: skip


def led(v0: float | None) -> nx.System:
    system = nx.System("led")
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0), v0=v0))
    system.add_driver(nx.Driver("motor", "hinge", "=7*t"))
    return system


@pytest.mark.parametrize("method", EVERY, ids=repr)
def test_a_run_by_every_method_says_what_a_driver_gives_beside_v0(method: Any) -> None:
    assert {method.name for method in EVERY} == set(METHODS)
    says = "joint 'hinge' cannot have its v0, 3: the constraints give it 7 without it"
    with pytest.raises(nx.AssemblyError, match=says):
        nx.simulate(led(3.0), 0.01, method)
    with pytest.raises(nx.AssemblyError, match=says):
        nx.simulate(led(None), 0.01, method, v0={"hinge": 3.0})
    batch = nx.simulate(led(None), 0.002, method, batch={"v0": {"hinge": [7.0, 3.0]}}, output_times=[0.001, 0.002])
    assert list(batch.failures) == [1]
    assert says in batch.failures[1]

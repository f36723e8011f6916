"""What `nx.assemble` can be asked for: given coordinates and velocities, a time, motions, efforts, solvers, loads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mechanisms
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nexdyn as nx
from nexdyn.absolute.model.configuration import row_units
from nexdyn.absolute.model.kkt import KKT
from nexdyn.absolute.model.mobility import WAYS
from nexdyn.absolute.model.redundancy import Redundancy
from nexdyn.assembly import closing
from nexdyn.assembly.loads import joint_state
from nexdyn.assembly.report import AssemblyReport
from nexdyn.errors import AssemblyError, InputError, SingularError


def angle(report: AssemblyReport, joint: str) -> float:
    model = report.model
    return float(joint_state(model, model.system.joints[joint], report.q, report.v)[0][0])


# --- motions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "dof"),
    [
        (mechanisms.four_bar, 1), (mechanisms.bricard, 1), (mechanisms.door, 1), (mechanisms.table, 0),
        (mechanisms.three_cranks, 1), (mechanisms.n_four_bar, 1), (lambda: mechanisms.n_four_bar(flat=True), 3),
    ],
)  # fmt: skip
def test_there_are_as_many_motions_as_degrees_of_freedom(make: Callable[[], nx.System], dof: int) -> None:
    found = nx.assemble(make()).redundancy
    assert found.dof == dof and len(found.motions) == dof


def test_a_motion_tells_how_the_joints_move_together() -> None:
    step = 1e-5
    (motion,) = nx.assemble(mechanisms.four_bar()).redundancy.motions
    there, back = (nx.assemble(mechanisms.four_bar(), q0={"A": sign * step}) for sign in (1, -1))
    assert (motion.joint, motion.way) == ("A", WAYS[2])
    for joint, ways in motion.with_it.items():
        rate = (angle(there, joint) - angle(back, joint)) / (2 * step)
        assert ways == {WAYS[2]: pytest.approx(rate, rel=1e-8)}


def test_lengths_in_motions_are_metres() -> None:
    """A slider-crank at a right angle: the slider moves by the crank's radius a radian, at any scale."""
    for scale in (1e-3, 1.0, 1e3):
        system = nx.System("slider-crank")
        crank = mechanisms.rod(system, "crank", (0, 0, 0), (0, scale, 0))
        rod = mechanisms.rod(system, "rod", (0, scale, 0), (2 * scale, 0, 0))
        slider = system.add_body("slider", mass=1.0, inertia=(1, 1, 1), position=(2 * scale, 0, 0))
        system.add_joint(nx.Revolute("main", system.ground, crank, at=(0, 0, 0), axis=(0, 0, 1)))
        system.add_joint(nx.Revolute("crank pin", crank, rod, at=(0, scale, 0), axis=(0, 0, 1)))
        system.add_joint(nx.Revolute("gudgeon pin", rod, slider, at=(2 * scale, 0, 0), axis=(0, 0, 1)))
        system.add_joint(nx.Prismatic("bore", system.ground, slider, axis=(1, 0, 0)))
        (motion,) = nx.assemble(system).redundancy.motions
        assert motion.joint == "main" and motion.with_it["bore"] == {WAYS[5]: pytest.approx(-scale)}


def test_what_hangs_on_no_loop_moves_as_its_joints_do() -> None:
    system = mechanisms.four_bar()
    tool = system.add_body("tool", mass=1.0, inertia=(1, 1, 1), position=(1.5, 1.4, 1))
    system.add_joint(nx.Cylindrical("chuck", "rocker", tool, axis=(0, 0, 1)))
    system.add_body("loose", mass=1.0, inertia=(1, 1, 1))
    found = nx.assemble(system).redundancy
    assert found.dof == 1 + 2 + 6 == sum(motion.dof for motion in found.motions)
    assert [str(motion) for motion in found.motions[1:]] == [
        "chuck turns about z", "chuck slides along z", "'loose' is free to move (6 degrees of freedom)",
    ]  # fmt: skip


# --- given coordinates and velocities -------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [-1.2, 0.3, 1.9])
def test_a_given_angle_is_kept_where_a_loop_closes(wanted: float) -> None:
    report = nx.assemble(mechanisms.four_bar(), q0={"A": wanted})
    assert angle(report, "A") == pytest.approx(wanted, abs=1e-9)
    assert np.abs(report.model.residual(report.q)).max() < 1e-9


def test_q0_and_v0_of_joints_count_as_given() -> None:
    def pendulum(**options: Any) -> nx.System:
        system = nx.System("pendulum", gravity=(0, 0, -9.81))
        first = system.add_body("first", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
        second = system.add_body("second", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -2))
        system.add_joint(nx.Spherical("ball", system.ground, first, at=(0, 0, 0), **options))
        system.add_joint(nx.Revolute("hinge", first, second, at=(0, 0, -1.5), axis=(0, 1, 0), q0=0.4, v0=-0.7))
        return system

    turned = (np.cos(0.5), np.sin(0.5), 0, 0)
    system = pendulum(q0=turned, v0=(0.1, 0.2, 0.3))
    report = nx.assemble(system)
    tree = nx.Tree(system)
    R, p = tree.pose(tree.described())
    for name, position in zip(tree.body_names, p, strict=True):
        assert_allclose(report.position(name), position, atol=1e-12)
    del R
    assert_allclose(
        joint_state(report.model, system.joints["ball"], report.q, report.v)[1], (0.1, 0.2, 0.3), atol=1e-12
    )
    assert joint_state(report.model, system.joints["hinge"], report.q, report.v)[1] == pytest.approx([-0.7])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"q0": {"A": 0.1, "B": 0.5}}, AssemblyError, "check what q0 of A asks for, what q0 of B asks for, lengths"),
        ({"q0": {"E": 0.1}}, InputError, "no joint 'E'"),
        ({"q0": {"A": (0.1, 0.2)}}, InputError, "q0 of joint 'A' has 2 numbers; 1"),
        ({"q0": {"A": np.nan}}, InputError, "q0 of joint 'A'"),
        ({"v0": {"A": 1.0, "B": 1.0}}, AssemblyError, "joint '[AB]' cannot have its v0"),
        ({"t": np.inf}, InputError, "t is inf"),
        ({"solver": "cholesky"}, InputError, "solver 'cholesky' is none of lu, qr, iterative"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        nx.assemble(mechanisms.four_bar(), **options)


def test_drivers_and_forces_are_taken_at_the_time_given() -> None:
    system = mechanisms.four_bar()
    system.add_driver(nx.Driver("motor", "A", "=0.2 + 0.5*t - t**2"))
    system.add_force(nx.AppliedForce("wind", "rocker", force=("=3*t", 0, 0)))
    report = nx.assemble(system, t=0.3)
    assert angle(report, "A") == pytest.approx(0.2 + 0.15 - 0.09)
    assert_allclose(report.angular_velocity("crank"), (0, 0, 0.5 - 0.6), atol=1e-10)
    assert_allclose(report.angular_acceleration("crank"), (0, 0, -2), atol=1e-9)
    still = nx.System("still", gravity=(0, 0, 0))
    body = still.add_body("body", mass=2.0, inertia=(1, 1, 1))
    still.add_joint(nx.Prismatic("rail", still.ground, body, axis=(1, 0, 0)))
    still.add_force(nx.AppliedForce("wind", body, force=("=3*t", 0, 0)))
    assert_allclose(nx.assemble(still, t=4.0).acceleration("body"), (6, 0, 0))


# --- weights and limits ---------------------------------------------------------------------------------------------


def two_with_a_gap() -> nx.System:
    """Two bodies whose ball joint is 0.1 m open along x."""
    system = nx.System("gap", gravity=(0, 0, 0))
    a = system.add_body("a", mass=1.0, inertia=(1, 1, 1))
    b = system.add_body("b", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    system.add_joint(nx.Spherical("ball", a, b, anchor_a=(0.6, 0, 0), anchor_b=(-0.5, 0, 0)))
    return system


@pytest.mark.parametrize(
    ("weights", "moved"), [(None, 0.05), ({"b": 3.0}, 0.075), ({"a": (1, 1, 1, 1e8, 1, 1)}, 0.0), ({"b": 1e8}, 0.1)]
)
def test_what_weighs_more_moves_less(weights: Any, moved: float) -> None:
    report = nx.assemble(two_with_a_gap(), weights=weights)
    assert_allclose(report.position("a"), (-moved, 0, 0), atol=1e-7)
    assert_allclose(report.position("b"), (1.1 - moved, 0, 0), atol=1e-7)


def test_a_locked_body_stays() -> None:
    assert_allclose(nx.assemble(two_with_a_gap(), locks=["b"]).position("b"), (1, 0, 0), atol=1e-7)


def test_velocities_change_by_their_own_weights() -> None:
    """A driver parts two sliders at 1 m/s: w_a v_a = −w_b v_b."""
    system = nx.System("sliders", gravity=(0, 0, 0))
    a = system.add_body("a", mass=1.0, inertia=(1, 1, 1))
    b = system.add_body("b", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("rail", system.ground, a, axis=(1, 0, 0)))
    system.add_joint(nx.Prismatic("slide", a, b, axis=(1, 0, 0)))
    system.add_driver(nx.Driver("part", "slide", "=t"))
    assert_allclose(nx.assemble(system).velocity("a"), (-0.5, 0, 0), atol=1e-12)
    report = nx.assemble(system, velocity_weights={"a": 3.0})
    assert_allclose((report.velocity("a")[0], report.velocity("b")[0]), (-0.25, 0.75), atol=1e-12)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"translation_limit": 1e-4}, r"body '\w+' moves by .* m when assembled, more than the limit 0\.0001 m"),
        ({"rotation_limit": 1e-6}, r"body '\w+' moves by .* rad when assembled, more than the limit 1e-06 rad"),
    ],
)
def test_a_body_that_moves_beyond_its_limit_is_named(limit: dict[str, float], message: str) -> None:
    system = mechanisms.open_four_bar(np.random.default_rng(0))
    with pytest.raises(AssemblyError, match=message) as caught:
        nx.assemble(system, **limit)
    assert caught.value.report.q.shape == (4, 7)
    assert nx.assemble(system, translation_limit=1.0, rotation_limit=1.0).redundancy.dof == 1


# --- loops ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_random_loops_are_assembled_from_perturbed_poses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system, _ = mechanisms.random_loops(rng, int(rng.integers(3, 9)), int(rng.integers(1, 3)), turn=0.2, shift=0.1)
    report = nx.assemble(system)
    model = report.model
    J = model.jacobian(report.q)
    assert np.abs(model.residual(report.q)).max() < 1e-9
    assert np.abs(J @ report.v[1:].reshape(-1)).max() < 1e-9
    assert np.abs(J @ report.a[1:].reshape(-1) - model.gamma(report.q, report.v)).max() < 1e-8
    assert not report.flipped
    # and the dropped rows close with the others
    assert all(row.consistent for row in report.redundancy.redundant)


def test_a_mechanism_in_another_unit_drops_the_same_rows() -> None:
    def found(scale: float) -> list[tuple[str, dict[str, float]]]:
        report = nx.assemble(mechanisms.n_four_bar() if scale == 1.0 else scaled(scale))
        return [(str(row), row.depends_on) for row in report.redundancy.redundant]

    def scaled(scale: float) -> nx.System:
        system, original = nx.System("A02", gravity=(0, -9.81 * scale, 0)), mechanisms.n_four_bar()
        for body in original.bodies.values():
            inertia = scale**2 * np.array(mechanisms.INERTIA)
            system.add_body(body.name, mass=1.0, inertia=inertia, position=scale * np.array(body.position))
        for joint in original.joints.values():
            at = scale * np.array(joint.at)
            system.add_joint(nx.Revolute(joint.name, joint.parent.name, joint.child.name, at=at, axis=joint.axis))
        return system

    metres = found(1.0)
    for scale in (1e-3, 1e3):
        other = found(scale)
        assert [row for row, _ in other] == [row for row, _ in metres]
        for (_, ours), (_, theirs) in zip(metres, other, strict=True):
            assert ours.keys() == theirs.keys()


# --- efforts --------------------------------------------------------------------------------------------------------


def test_what_a_driven_joint_transmits_is_the_wrench_of_inverse_dynamics(rng: np.random.Generator) -> None:
    """Reaction, motor, spring and damper of every joint together are RNEA's wrenches."""

    def arm(driven: bool) -> nx.System:
        system = nx.System("arm", gravity=(0, 0, -9.81))
        upper = system.add_body("upper", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.3, 0, 0))
        lower = system.add_body("lower", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.8, 0.1, 0))
        springs = {"stiffness": 4.0, "damping": 0.5}
        system.add_joint(nx.Revolute("shoulder", system.ground, upper, at=(0, 0, 0), axis=(0, 1, 0.2), v0=0.8))
        system.add_joint(nx.Revolute("elbow", upper, lower, at=(0.6, 0, 0), axis=(1, 1, 0), q0=0.3, v0=-0.4, **springs))
        if driven:
            system.add_driver(nx.Driver("motor", "shoulder", nx.Polynomial((0.0, 0.8, 1.5))))
        return system

    report = nx.assemble(arm(driven=True))
    tree = nx.Tree(arm(driven=False))
    q, v = tree.described(), tree.initial_velocity()
    a = np.array(
        [
            report.angular_acceleration("upper") @ np.array((0, 1, 0.2)) / np.sqrt(1.04),
            joint_acceleration(report, "elbow"),
        ]
    )
    wrenches = tree.joint_wrenches(q, v, a)
    for joint in ("shoulder", "elbow"):
        force, moment = report.transmitted(joint)
        assert_allclose(np.concatenate([moment, force]), wrenches[joint], atol=1e-9)
    assert report.effort("motor") == pytest.approx(float(tree.rnea(q, v, a)[0]), rel=1e-10)
    with pytest.raises(InputError, match="no driver or coupling 'moter'"):
        report.effort("moter")


def joint_acceleration(report: AssemblyReport, joint: str) -> float:
    """θ̈ of a revolute joint from the accelerations of its bodies: z · (α_b − α_a) − z · (ω_a × ω_b)."""
    model = report.model
    k = model.pair_of_joint[joint]
    a, b = (model.bodies[i] for i in model.tables.pairs[k])
    from nexdyn.spatial.rotations import rotation_matrix

    z = rotation_matrix(report.orientation(a)) @ model.tables.frames[k, :9].reshape(3, 3)[:, 2]
    w_a, w_b = report.angular_velocity(a), report.angular_velocity(b)
    relative = report.angular_acceleration(b) - report.angular_acceleration(a) - np.cross(w_a, w_b)
    return float(z @ relative)


# --- linear systems -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [mechanisms.four_bar, mechanisms.bricard, mechanisms.three_cranks])
@pytest.mark.parametrize("solver", ["qr", "iterative"])
def test_solvers_agree(make: Callable[[], nx.System], solver: str) -> None:
    expected, found = nx.assemble(make()), nx.assemble(make(), solver=solver)
    assert_allclose(found.a, expected.a, atol=1e-9)
    assert_allclose(found.multipliers, expected.multipliers, atol=1e-8)


def test_solvers_agree_on_a_pose_to_be_found() -> None:
    systems = [mechanisms.open_four_bar(np.random.default_rng(3)) for _ in range(3)]
    reports = [
        nx.assemble(system, solver=solver) for system, solver in zip(systems, ("lu", "qr", "iterative"), strict=True)
    ]
    for other in reports[1:]:
        assert_allclose(other.q, reports[0].q, atol=1e-9)


def test_dependent_rows_are_solved_and_said_so() -> None:
    """Rows written twice make the matrix singular: consistent ones are regularised, and the motion is the same."""
    rng = np.random.default_rng(0)
    n = 8
    A = np.diag(rng.uniform(1, 2, n))
    Cq = rng.normal(size=(3, n))
    top, bottom = rng.normal(size=n), rng.normal(size=3)
    x, _ = KKT(A, Cq).solve(top, bottom)
    twice = KKT(A, np.concatenate([Cq, 2 * Cq]) + 1e-15, 1e-13)
    y, _ = twice.solve_surely(top, np.concatenate([bottom, 2 * bottom]))
    assert_allclose(y, x, atol=1e-7)
    least = KKT(A, np.concatenate([Cq, 2 * Cq]), solver="qr")
    y, lam = least.solve_surely(top, np.concatenate([bottom, 2 * bottom]))
    assert_allclose(y, x, atol=1e-10)
    assert_allclose(lam[3:], 2 * lam[:3], atol=1e-9)  # of least norm
    with pytest.raises(SingularError):
        KKT(A, np.concatenate([Cq, Cq]), 1e-13).solve_surely(top, np.concatenate([bottom, bottom + 1.0]))


def test_what_is_ill_conditioned_is_told_and_mere_units_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    row, other = rng.normal(size=(2, 6))
    masses = np.diag(10.0 ** rng.uniform(-12, 9, 6))
    assert KKT(masses, np.stack([row, other])).pivot_ratio > 1e-9
    assert KKT(np.eye(6), np.stack([row, row + 1e-15 * other])).pivot_ratio < 1e-14
    system = nx.System("dust that bears a rock", gravity=(0, 0, 0))
    parent: nx.Body = system.ground
    for name, mass in (("dust", 1e-12), ("rock", 1e9)):
        body = system.add_body(name, mass=mass, inertia=(mass,) * 3)
        system.add_joint(nx.Prismatic(f"{name} rail", parent, name, axis=(1, 0, 0)))
        parent = body
    assert not nx.assemble(system).warnings
    monkeypatch.setattr("nexdyn.assembly.assemble.ILL_CONDITIONED", 1e-8)
    assert any(warning.startswith("ill-conditioned") for warning in nx.assemble(system).warnings)


@pytest.mark.parametrize("seed", range(4))
def test_bodies_of_masses_far_apart_bear_one_another(seed: int) -> None:
    """A chain of eight bodies between 1 mg and 1000 t in any order, beside the same chain in minimal coordinates."""
    rng = np.random.default_rng(seed)
    system, place = nx.System("chain of dust and rock"), np.zeros(3)
    parent: nx.Body = system.ground
    axes = rng.normal(size=(8, 3))
    for i, axis in enumerate(axes):
        mass, before = 10.0 ** rng.uniform(-6, 6), place
        place = before + rng.normal(size=3)
        inertia = tuple(0.1 * mass * rng.uniform(0.8, 1.2, 3))
        body = system.add_body(f"body {i}", mass=mass, inertia=inertia, position=tuple(place))
        system.add_joint(nx.Revolute(f"hinge {i}", parent, body, at=tuple((before + place) / 2), axis=tuple(axis)))
        parent = body
    report, tree = nx.assemble(system), nx.Tree(system)
    turning = np.array([report.angular_acceleration(body) for body in system.bodies])
    found = (np.diff(turning, axis=0, prepend=np.zeros((1, 3))) * axes).sum(axis=1) / np.linalg.norm(axes, axis=1)
    expected = tree.forward_dynamics(np.zeros(8), np.zeros(8), np.zeros(8))
    assert not report.warnings
    assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_a_singular_system_falls_back_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A door whose ten rows are all kept, as if none were redundant: regularised, and the motion is the same."""
    expected = nx.assemble(mechanisms.door())
    monkeypatch.setattr(closing, "find_redundancy", lambda model, q, t=0.0: Redundancy(np.ones(model.nc, bool), [], []))
    found = nx.assemble(mechanisms.door())
    assert found.fallback in ("regularised", "minimum norm")
    assert any(f"the {found.fallback} solution" in warning for warning in found.warnings)
    assert_allclose(found.a, expected.a, atol=1e-6)
    force = found.reaction("lower").force + found.reaction("upper").force
    assert_allclose(force, expected.reaction("lower").force + expected.reaction("upper").force, atol=1e-5)


def test_a_massless_free_body_is_named() -> None:
    system = mechanisms.four_bar()
    system.add_body("ghost", mass=0.0, inertia=(0, 0, 0), position=(0, 0, 1))
    with pytest.raises(SingularError, match="not determined; neither mass nor joints hold ghost"):
        nx.assemble(system)


# --- loads that depend on what is sought ----------------------------------------------------------------------------


def test_added_mass_counts_as_mass() -> None:
    """A force −m_a a is more mass."""
    system = nx.System("diver", gravity=(0, 0, -9.81))
    body = system.add_body("body", mass=2.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("rail", system.ground, body, axis=(0, 0, 1)))
    report = nx.assemble(system, loads=lambda r: {"body": (-3.0 * r.acceleration("body"), (0, 0, 0))})
    assert_allclose(report.acceleration("body"), (0, 0, -9.81 * 2 / 5), rtol=1e-9)


def test_friction_depends_on_the_reaction() -> None:
    """A block pulled along a rail with friction μ |N|: m a = F − μ |N|, and the pull lifts."""
    m, mu, pull = 2.0, 0.3, np.array((12.0, 0, 5.0))
    system = nx.System("sledge", gravity=(0, 0, -9.81))
    block = system.add_body("block", mass=m, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("rail", system.ground, block, axis=(1, 0, 0), reference=(0, 0, 1)))
    system.add_force(nx.AppliedForce("pull", block, force=pull))

    def friction(report: AssemblyReport) -> dict[str, Any]:
        normal = np.linalg.norm(report.reaction("rail").force)
        return {"block": ((-mu * normal, 0, 0), (0, 0, 0))}

    report = nx.assemble(system, v0={"rail": 1.0}, loads=friction)
    normal = m * 9.81 - pull[2]
    assert_allclose(np.linalg.norm(report.reaction("rail").force), normal, rtol=1e-9)
    assert_allclose(report.acceleration("block"), ((pull[0] - mu * normal) / m, 0, 0), atol=1e-9)


@pytest.mark.parametrize(
    ("loads", "message"),
    [
        (lambda r: None, "loads returned None"),
        (lambda r: {"cranck": ((0, 0, 0), (0, 0, 0))}, "no body 'cranck'"),
        (lambda r: {"crank": (1, 2, 3)}, "loads on body 'crank'"),
        (lambda r: {"crank": ((np.nan, 0, 0), (0, 0, 0))}, "loads on body 'crank'"),
    ],
)
def test_loads_that_mean_nothing_are_refused(loads: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        nx.assemble(mechanisms.four_bar(), loads=loads)


def test_units_of_rows() -> None:
    model = nx.assemble(mechanisms.four_bar()).model
    units = row_units(model, 10.0)
    assert [units[r] for r in model.rows_of_joint["A"]] == [0.1, 0.1, 0.1, 1.0, 1.0]

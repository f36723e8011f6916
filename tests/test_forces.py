"""Laws of the forces between frames and in joints, and what each of them is; user functions have their own file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from forces_lab import CONSERVATIVE, DAMPED, PAIRS, Bench, Motion, X, Y, at, symmetric, two_bodies
from scipy.integrate import quad
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.spatial.transform import Rotation

from nexdyn.forces import AppliedForce, Bushing, ForceTable, JointForce, PointSpring, TorsionSpring
from nexdyn.forces.bushing import rotation_vector
from nexdyn.forces.joint import friction_effort, spherical_spring, spring_damper, spring_energy
from nexdyn.kernel import formula
from nexdyn.model.force import Force
from nexdyn.model.functions import Harmonic, Step5, Table
from nexdyn.spatial.algebra import Mat3, Quat, Vec3
from nexdyn.spatial.rotations import exp_quaternion, exp_rotation, log_quaternion, quaternion_multiply, rotation_about

# --- laws ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", CONSERVATIVE.values(), ids=CONSERVATIVE.keys())
def test_power_is_minus_the_rate_of_the_energy(make: Callable[[], Force], rng: np.random.Generator) -> None:
    bench = Bench(make())
    for _ in range(100):
        motion = Motion.random(rng)
        power = bench.power(motion)
        # an interval that a knot of the table or the wrap of an angle falls into says nothing about the law
        rates = [bench.energy_rate(motion, h) for h in (1e-3, 5e-4)]
        if abs(rates[0] - rates[1]) < 1e-7 * (1.0 + abs(power)):
            assert power == pytest.approx(-rates[1], rel=1e-6, abs=1e-6)


def test_almost_all_random_motions_count_in_that_law(rng: np.random.Generator) -> None:
    for make in CONSERVATIVE.values():
        bench = Bench(make())
        motions = [Motion.random(rng) for _ in range(50)]
        agree = [abs(bench.energy_rate(m, 1e-3) - bench.energy_rate(m, 5e-4)) < 1e-7 for m in motions]
        assert np.mean(agree) > 0.5


@pytest.mark.parametrize("make", DAMPED.values(), ids=DAMPED.keys())
def test_damping_takes_energy(make: Callable[[], Force], rng: np.random.Generator) -> None:
    bench = Bench(make())
    for _ in range(50):
        motion = Motion.random(rng)
        still = motion._replace(w=0.0 * motion.w, v=0.0 * motion.v)
        damping = bench.forces(motion) - bench.forces(still)
        assert np.sum(damping[:, :3] * motion.w) + np.sum(damping[:, 3:] * motion.v) < 0.0


@pytest.mark.parametrize("make", PAIRS.values(), ids=PAIRS.keys())
def test_action_is_reaction_in_force_and_moment_about_any_point(
    make: Callable[[], Force], rng: np.random.Generator
) -> None:
    bench = Bench(make())
    for _ in range(20):
        motion, point = Motion.random(rng), rng.normal(size=3)
        F = bench.forces(motion)
        moments = F[:, :3] + np.cross(motion.p - point, F[:, 3:])
        assert np.abs(F[:, 3:].sum(axis=0)).max() < 1e-12 * (1.0 + np.abs(F).max())
        assert np.abs(moments.sum(axis=0)).max() < 1e-12 * (1.0 + np.abs(F).max())


@pytest.mark.parametrize("make", PAIRS.values(), ids=PAIRS.keys())
def test_forces_turn_and_move_with_the_world(make: Callable[[], Force], rng: np.random.Generator) -> None:
    bench = Bench(make())
    motion, Q, shift = Motion.random(rng), exp_rotation(rng.normal(size=3)), rng.normal(size=3)
    moved = Motion(Q @ motion.R, motion.p @ Q.T + shift, motion.w @ Q.T, motion.v @ Q.T)
    F, G = bench.forces(motion), bench.forces(moved)
    assert np.allclose(G, np.hstack([F[:, :3] @ Q.T, F[:, 3:] @ Q.T]), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("force", "motion"),
    [
        (PointSpring("f", "a", "b", stiffness=7.0, length=0.6), at((0.0, 0.6, 0.0))),
        (TorsionSpring("f", "a", "b", stiffness=7.0, rest=0.5), at((1, 2, 3), rotation_about((0, 0, 1), 0.5))),
        (Bushing("f", "a", "b", stiffness=(1.0,) * 6, damping=(0.0,) * 6), at()),
        (ForceTable("f", "a", "b", deflections=(-1, 1), forces=(-5, 5), rest=2.0), at((0, 0, 2))),
    ],
)
def test_relaxed_springs_do_nothing_and_store_nothing(force: Force, motion: Motion) -> None:
    bench = Bench(force)
    assert np.abs(bench.forces(motion)).max() < 1e-15
    assert abs(bench.energy(motion)) < 1e-15


# --- the elements -------------------------------------------------------------------------------------------------


def test_a_stretched_point_spring_pulls_its_ends_together() -> None:
    bench = Bench(PointSpring("f", "a", "b", stiffness=10.0, damping=2.0, length=3.0, force=0.5))
    F = bench.forces(at((0.0, 0.0, 5.0), v_b=(1.0, 1.0, 4.0)))
    assert np.allclose(F, [[0, 0, 0, 0, 0, 28.5], [0, 0, 0, 0, 0, -28.5]])
    assert bench.energy(at((0.0, 0.0, 5.0))) == 0.5 * 10 * 2**2 + 0.5 * 2


def test_a_point_spring_of_length_zero_is_smooth_and_never_nan() -> None:
    bench = Bench(PointSpring("f", "a", "b", stiffness=10.0, damping=1.0))
    for x in (1e-9, 1e-3):
        F = bench.forces(at((x, 0.0, 0.0), v_b=(0.0, 1.0, 0.0)))
        assert F[0, 3:] == pytest.approx([10.0 * x, 0.0, 0.0], abs=2e-12)


@pytest.mark.parametrize("v", [(0.0, 1.0, 0.0), (1.0, -2.0, 3.0)])
def test_the_damper_of_a_point_spring_acts_while_its_ends_pass_each_other(v: tuple[float, float, float]) -> None:
    """Its force on the way through, along v, has one limit from both sides, d v: what is told where the ends meet."""
    bench = Bench(PointSpring("f", "a", "b", stiffness=10.0, damping=1.5))
    for x in (-1e-9, -1e-13, 0.0, 1e-13, 1e-9):
        F = bench.forces(at(tuple(x * c for c in v), v_b=v))
        assert F[:, 3:] == pytest.approx(np.array([v, np.negative(v)]) * 1.5, abs=1e-7)


def test_coincident_ends_of_a_loaded_spring_have_no_direction_and_no_force_but_the_damper_s() -> None:
    bench = Bench(PointSpring("f", "a", "b", stiffness=10.0, damping=1.0, length=0.5, force=3.0))
    assert bench.forces(at(v_b=(1.0, 2.0, 3.0)))[0, 3:] == pytest.approx([1.0, 2.0, 3.0])
    assert not bench.forces(at()).any()
    assert bench.energy(at()) == 0.5 * 10 * 0.25 - 3 * 0.5


@pytest.mark.parametrize(
    ("rest", "angle", "deflection"),
    [(0, 0.3, 0.3), (0, -3.0, -3.0), (3, -3.0, 2 * np.pi - 6), (-3, 3.0, 6 - 2 * np.pi), (0, 9.0, 9 - 2 * np.pi)],
)  # fmt: skip
def test_a_torsion_spring_sees_its_deflection_between_minus_and_plus_pi(
    rest: float, angle: float, deflection: float
) -> None:
    bench = Bench(TorsionSpring("f", "a", "b", stiffness=2.0, rest=rest, damping=0.5, torque=0.1))
    motion = at(R_b=rotation_about((0, 0, 1), angle), w_b=(1.0, 1.0, 3.0))
    F = bench.forces(motion)
    assert F[1] == pytest.approx([0, 0, -(2.0 * deflection + 1.5 + 0.1), 0, 0, 0], abs=1e-12)
    assert bench.energy(motion) == pytest.approx(deflection**2 + 0.1 * deflection)


def test_a_torsion_spring_whose_angle_is_undefined_does_nothing() -> None:
    bench = Bench(TorsionSpring("f", "a", "b", stiffness=2.0, damping=1.0, rest=1.0))
    F = bench.forces(at(R_b=rotation_about((0, 1, 0), -np.pi / 2), w_b=(1.0, 2.0, 3.0)))
    assert not F.any()


def test_a_bushing_is_its_matrices_for_small_displacements(rng: np.random.Generator) -> None:
    K, D = (np.array(symmetric(rng, 1.0)) for _ in range(2))
    bench = Bench(Bushing("f", "a", "b", stiffness=K, damping=D))
    x, v = 1e-7 * rng.normal(size=6), rng.normal(size=6)
    F = bench.forces(at(x[3:], exp_rotation(x[:3]), v[:3], v[3:]))
    assert np.allclose(F[1], -(K @ x) - D @ v, rtol=1e-6)
    six = Bench(Bushing("f", "a", "b", stiffness=(1, 2, 3, 4, 5, 6), damping=(0.0,) * 6))
    assert np.allclose(six.forces(at(x[3:], exp_rotation(x[:3])))[1], -np.arange(1, 7) * x, atol=1e-12)


def test_the_rotation_vector_of_a_bushing_is_exact_from_zero_to_half_a_turn(rng: np.random.Generator) -> None:
    log = formula(lambda R: rotation_vector(Mat3(*R)))
    for angle in (0.0, 1e-12, 1e-8, 1e-4, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-4, np.pi - 1e-8):
        for axis in (*np.eye(3), *-np.eye(3), *rng.normal(size=(10, 3))):
            R = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
            phi = np.array(log(tuple(R.as_matrix().ravel())))
            assert phi == pytest.approx(R.as_rotvec(), abs=3e-15 + 1e-15 * angle / (np.pi + 1e-7 - angle))
    for axis in np.vstack([np.eye(3), np.eye(3) + 1.0]):
        axis = axis / np.linalg.norm(axis)
        phi = np.array(log(tuple((2.0 * np.outer(axis, axis) - np.eye(3)).ravel())))
        assert np.abs(phi @ axis) == pytest.approx(np.pi)


@pytest.mark.parametrize("interpolation", ["linear", "monotone", "natural"])
@pytest.mark.parametrize("extrapolation", ["linear", "constant"])
def test_a_table_is_its_interpolant_inside_and_its_tangent_or_end_value_outside(
    interpolation: str, extrapolation: str
) -> None:
    bench = Bench(ForceTable("f", joint="slide", deflections=X, forces=Y, rest=0.3,
                             interpolation=interpolation, extrapolation=extrapolation))  # fmt: skip
    curve: Any = {
        "linear": lambda x: np.interp(x, X, Y),
        "monotone": PchipInterpolator(X, Y),
        "natural": CubicSpline(X, Y, bc_type="natural"),
    }[interpolation]
    h = 1e-6
    for x in (*X, *np.linspace(-1.0, 1.5, 57)):
        assert bench.in_joint(0.3 + x)[0] == pytest.approx(-curve(x), rel=1e-13, abs=1e-13)
    for end, inward in ((X[0], h), (X[-1], -h)):
        slope = (curve(end + inward) - curve(end)) / inward if extrapolation == "linear" else 0.0
        for beyond in (0.5, 3.0):
            x = end - np.sign(inward) * beyond
            assert bench.in_joint(0.3 + x)[0] == pytest.approx(-(curve(end) + slope * (x - end)), rel=1e-4)
    for x in (-3.0, -0.9, 0.0, 0.05, 1.2, 4.0):
        area = quad(lambda s: -bench.in_joint(0.3 + s)[0], 0.0, x, points=[p for p in X if min(0, x) < p < max(0, x)])
        assert bench.in_joint(0.3 + x)[1] == pytest.approx(area[0], rel=1e-12, abs=1e-12)


def test_a_monotone_table_does_not_overshoot() -> None:
    steps = {"deflections": (0, 1, 2, 3, 4), "forces": (0, 0, 1, 1, 1)}
    bench = Bench(ForceTable("f", joint="slide", **steps, interpolation="monotone"))
    efforts = np.array([bench.in_joint(q)[0] for q in np.linspace(0, 4, 101)])
    assert efforts.min() >= -1.0
    assert efforts.max() <= 0.0


def test_a_table_of_a_line_is_the_spring_of_its_slope(rng: np.random.Generator) -> None:
    line = {"deflections": (-0.1, 0.2, 0.3), "forces": (-0.7, 1.4, 2.1)}
    table = Bench(ForceTable("f", "a", "b", **line, rest=0.6, damping=3.0))
    spring = Bench(PointSpring("f", "a", "b", stiffness=7.0, damping=3.0, length=0.6))
    joint = Bench(ForceTable("f", joint="turn", **line, rest=0.6, damping=3.0))
    for _ in range(20):
        motion, (q, v) = Motion.random(rng), rng.normal(size=2)
        assert np.allclose(table.forces(motion), spring.forces(motion), rtol=1e-12, atol=1e-12)
        assert table.energy(motion) == pytest.approx(spring.energy(motion), rel=1e-12, abs=1e-13)
        assert joint.in_joint(q, v) == pytest.approx(
            (spring_damper(q, v, 7.0, 0.6, 3.0), spring_energy(q, 7.0, 0.6)), rel=1e-12, abs=1e-12
        )


def test_an_applied_force_stays_in_the_world_or_turns_with_the_body(rng: np.random.Generator) -> None:
    force, torque = (1.0, "=2*t", Harmonic(3.0, 0.25)), (Step5(0, 0, 1, 5), 0, Table((0, 1), (0, 7)))
    expected = np.array([[5.0, 0.0, 7.0], [1.0, 2.0, 3.0]])
    motion = Motion.random(rng)
    world = Bench(AppliedForce("f", "a", force, torque))
    body = Bench(AppliedForce("f", "a", force, torque, expressed_in="body"))
    assert np.allclose(world.forces(motion, t=1.0), [expected.ravel(), np.zeros(6)])
    assert np.allclose(body.forces(motion, t=1.0)[0], (expected @ motion.R[0].T).ravel())
    assert world.energy(motion) == 0.0


def test_forces_act_at_points_of_bodies_and_at_markers() -> None:
    system = two_bodies()
    R_WB = rotation_about((1, 0, 0), 0.3)
    system.add_body(
        "c", mass=1.0, position=(0, 0, 1), orientation=Rotation.from_matrix(R_WB).as_quat(scalar_first=True)
    )
    q = Rotation.from_rotvec((0, 0.2, 0)).as_quat(scalar_first=True)
    system.add_marker("tip", "c", position=(0, 0.5, 0), orientation=q)
    R_CM = Rotation.from_quat(q, scalar_first=True).as_matrix()
    for force, R, p in (
        (AppliedForce("1", "c", at=(0, 1, 1)), np.eye(3), R_WB.T @ [0, 1, 0]),
        (AppliedForce("2", "tip", anchor=(1, 0, 0)), R_CM, [0, 0.5, 0] + R_CM @ [1, 0, 0]),
        (PointSpring("3", "c", "ground", anchor_a=(1, 2, 3)), np.eye(3), [1, 2, 3]),
        (PointSpring("4", system.marker("tip"), system.ground, at_a=(0, 0, 1)), R_CM, [0, 0, 0]),
    ):
        frame = system.add_force(force).frames(system)[0]
        assert frame.body == "c"
        assert np.allclose(frame.R_BF, R)
        assert np.allclose(frame.p_BF, p)


def test_joint_spring_damper_and_friction_follow_their_formula(rng: np.random.Generator) -> None:
    h = 1e-6
    for q, v in rng.normal(size=(20, 2)):
        assert spring_damper(q, v, 7.0, 0.2, 0.3) == pytest.approx(-7.0 * (q - 0.2) - 0.3 * v)
        assert friction_effort(v, 1.5, 1e-3) == pytest.approx(-1.5 * np.tanh(v / 1e-3))
        rate = (spring_energy(q + h, 7.0, 0.2) - spring_energy(q - h, 7.0, 0.2)) / (2 * h)
        assert spring_damper(q, 0.0, 7.0, 0.2, 0.3) == pytest.approx(-rate, rel=1e-6, abs=1e-6)


def test_the_spring_of_a_spherical_joint_gives_back_its_energy(rng: np.random.Generator) -> None:
    K, rest, h = np.array([7.0, 3.0, 5.0]), np.array([0.2, -0.1, 0.4]), 1e-5
    for phi, w in 1.2 * rng.normal(size=(20, 2, 3)):
        q = [quaternion_multiply(exp_quaternion(phi), exp_quaternion(w * dt)) for dt in (-h, 0.0, h)]
        before, _, after = (0.5 * np.sum(K * (log_quaternion(x) - rest) ** 2) for x in q)
        torque = spherical_spring(Quat(*q[1]), Vec3(*K), Vec3(*rest))
        assert np.array(torque) @ w == pytest.approx(-(after - before) / (2 * h), rel=1e-6, abs=1e-6)


def test_a_joint_force_is_its_function_of_time() -> None:
    bench = Bench(JointForce("f", "turn", "=3*t**2"))
    assert bench.in_joint(0.1, 0.2, t=2.0) == (12.0, 0.0)
    assert Bench(JointForce("f", "free a", 4, freedom=5)).in_joint(0.0)[0] == 4.0

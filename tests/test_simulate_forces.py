"""Forces in motion: closed forms, energy that stays, work that is done, functions of the user, forces that fail."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
import systems as S  # noqa: N812
from scipy.integrate import cumulative_simpson

import nexdyn as nx
from nexdyn.tree.observe import Observation, observe_motion

METHOD = nx.DormandPrince(1e-10, 1e-12)


def on_rail(mass: float = 2.0, *, axis: Any = (0, 0, 1), gravity: Any = (0, 0, 0), **options: Any) -> nx.System:
    """A body on a slide through the origin."""
    system = nx.System("rail", gravity=gravity)
    body = system.add_body("body", mass=mass, inertia=(0.1, 0.2, 0.25))
    system.add_joint(nx.Prismatic("rail", system.ground, body, at=(0, 0, 0), axis=axis, **options))
    return system


def floating(mass: float = 2.0, inertia: Any = (0.1, 0.2, 0.25), **options: Any) -> nx.System:
    """A free body."""
    system = nx.System("floating", gravity=(0, 0, 0))
    system.add_body("body", mass=mass, inertia=inertia, **options)
    return system


def run(system: nx.System, t_end: float = 2.0, **options: Any) -> Any:
    times = np.linspace(0.0, t_end, 201)
    return nx.simulate(system, t_end, METHOD, output_times=times, **options).recording


def observed(system: nx.System, r: Any) -> Observation:
    return observe_motion(nx.Tree(system), r.t, r.q, r.v, r.a)


def energy(system: nx.System, r: Any) -> np.ndarray:
    seen = observed(system, r)
    return seen.kinetic + seen.gravitational + seen.elastic


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_mass_that_hangs_on_a_spring_swings_about_where_it_would_hang() -> None:
    m, k, g, rest = 2.0, 50.0, 9.81, 0.4
    system = on_rail(m, gravity=(0, 0, -g))
    system.add_force(nx.PointSpring("spring", "body", "ground", at_b=(0, 0, 1.0), stiffness=k, length=rest))
    r = run(system)
    hanging, omega = 1.0 - rest - m * g / k, math.sqrt(k / m)
    np.testing.assert_allclose(r.q[:, 0], hanging - hanging * np.cos(omega * r.t), atol=1e-8)


@pytest.mark.parametrize("of", ["joint", "spring"])
def test_damped_oscillator_decays_as_it_should(of: str) -> None:
    m, k, d, x0 = 2.0, 80.0, 3.0, 0.3
    if of == "joint":
        system = on_rail(m, stiffness=k, damping=d, rest=0.1, q0=0.1 + x0)
    else:
        system = on_rail(m, q0=0.1 + x0)
        system.add_force(nx.PointSpring("s", "ground", "body", at_a=(0, 0, -1), stiffness=k, damping=d, length=1.1))
    r = run(system)
    delta = d / (2 * m)
    omega = math.sqrt(k / m - delta**2)
    wave = np.cos(omega * r.t) + delta / omega * np.sin(omega * r.t)
    np.testing.assert_allclose(r.q[:, 0], 0.1 + x0 * np.exp(-delta * r.t) * wave, atol=1e-8)


def test_bushing_swings_in_each_of_its_six_directions_at_its_own_frequency() -> None:
    inertia, m, K = np.array([0.1, 0.2, 0.25]), 2.0, np.array([3.0, 5.0, 7.0, 200.0, 300.0, 400.0])
    for i in range(6):
        system = floating(m, inertia)
        system.add_force(nx.Bushing("bushing", "ground", "body", stiffness=tuple(K)))
        v0 = np.eye(6)[i] * 1.5
        r = run(system, v0=v0)
        omega = math.sqrt(K[i] / (inertia[i] if i < 3 else m))
        x = 2 * np.arctan2(r.q[:, 1 + i], r.q[:, 0]) if i < 3 else r.q[:, 1 + i]
        np.testing.assert_allclose(x, 1.5 / omega * np.sin(omega * r.t), atol=1e-8)


def test_torsion_spring_swings_a_hinge() -> None:
    system = nx.System("hinge", gravity=(0, 0, 0))
    disk = system.add_body("disk", mass=1.0, inertia=(0.1, 0.1, 0.2))
    system.add_joint(nx.Revolute("hinge", system.ground, disk, at=(0, 0, 0), q0=0.5))
    system.add_force(nx.TorsionSpring("spring", "ground", "disk", stiffness=8.0, rest=0.2, damping=0.1))
    r = run(system)
    delta = 0.1 / 0.4
    omega = math.sqrt(40.0 - delta**2)
    wave = np.exp(-delta * r.t) * (np.cos(omega * r.t) + delta / omega * np.sin(omega * r.t))
    np.testing.assert_allclose(r.q[:, 0], 0.2 + 0.3 * wave, atol=1e-8)


def test_friction_brings_a_slider_to_rest_after_the_way_of_coulomb() -> None:
    m, friction, v0 = 2.0, 3.0, 1.5
    system = on_rail(m, friction=friction, friction_speed=1e-4, v0=v0)
    r = nx.simulate(system, 2.0, nx.RungeKutta4(2e-5), output_every=100).recording
    stop = v0 * m / friction
    sliding = r.t < stop - 0.01
    np.testing.assert_allclose(r.v[sliding, 0], v0 - friction / m * r.t[sliding], atol=1e-9)
    assert np.abs(r.v[r.t > stop + 0.01, 0]).max() < 1e-6
    assert r.q[-1, 0] == pytest.approx(v0**2 * m / (2 * friction), abs=1e-4)


def test_friction_holds_a_body_on_a_slope_with_a_creep_below_its_speed() -> None:
    system = on_rail(2.0, axis=(1, 0, 0), gravity=(1.0, 0, -9.81), friction=3.0, friction_speed=1e-3)
    r = nx.simulate(system, 2.0, nx.RungeKutta4(1e-4), output_every=1000).recording
    assert r.v[-1, 0] == pytest.approx(1e-3 * math.atanh(2.0 / 3.0), rel=1e-6)  # 2 N of 3 N


def test_force_in_world_axes_accelerates_and_one_in_body_axes_turns_with_the_body() -> None:
    m, F, w = 2.0, 3.0, 4.0
    for axes in ("world", "body"):
        system = floating(m, (0.1, 0.1, 0.2))
        system.add_force(nx.AppliedForce("push", "body", force=(F, 0, 0), expressed_in=axes))
        r = run(system, v0=(0, 0, w, 0, 0, 0))
        if axes == "world":
            x, y = F / (2 * m) * r.t**2, 0.0 * r.t
        else:
            x = F / (m * w**2) * (1 - np.cos(w * r.t))
            y = F / (m * w**2) * (w * r.t - np.sin(w * r.t))
        np.testing.assert_allclose(r.q[:, 4:6], np.stack([x, y], axis=1), atol=1e-8)


def test_torque_in_body_axes_spins_the_body_up() -> None:
    system = floating(2.0, (0.1, 0.1, 0.2))
    system.add_force(nx.AppliedForce("motor", "body", torque=(0, 0, 0.5), expressed_in="body"))
    r = run(system)
    np.testing.assert_allclose(r.v[:, 2], 2.5 * r.t, atol=1e-9)
    np.testing.assert_allclose(
        r.q[:, :4].T, [np.cos(0.625 * r.t**2), 0 * r.t, 0 * r.t, np.sin(0.625 * r.t**2)], atol=1e-8
    )


def test_force_beside_the_centre_of_mass_turns_the_body() -> None:
    """A force at a point fixed in the body, in body axes: constant torque about z."""
    system = floating(2.0, (0.1, 0.1, 0.2))
    system.add_force(nx.AppliedForce("jet", "body", force=(0, 1.5, 0), anchor=(0.3, 0, 0), expressed_in="body"))
    np.testing.assert_allclose(run(system).v[:, 2], np.linspace(0, 2, 201) * 1.5 * 0.3 / 0.2, atol=1e-9)


F_OF_TIME = {
    "expression": ("=6*t", lambda t: t**3 / 2),
    "parameter": ("=2*slope*t", lambda t: t**3 / 2),
    "linear": (nx.Linear(0.0, 6.0), lambda t: t**3 / 2),
    "polynomial": (nx.Polynomial((0.0, 0.0, 12.0)), lambda t: t**4 / 2),
    "table": (
        nx.Table((0.0, 1.0, 2.0), (0.0, 6.0, 6.0)),
        lambda t: np.where(t < 1, t**3 / 2, 1.5 * t**2 - 1.5 * t + 0.5),
    ),
    "harmonic": (nx.Harmonic(6.0, 0.5), lambda t: 3.0 * (t / np.pi - np.sin(np.pi * t) / np.pi**2)),
    "smooth step": (nx.Step5(0.0, 0.0, 1e-9, 4.0), lambda t: t**2),
    "constant": (4.0, lambda t: t**2),
}


@pytest.mark.parametrize("name", list(F_OF_TIME))
def test_force_as_function_of_time_gives_its_double_integral(name: str) -> None:
    effort, exact = F_OF_TIME[name]
    for kind in ("joint force", "applied force"):
        system = on_rail(2.0)
        system.parameter("slope", 3.0)
        if kind == "joint force":
            system.add_force(nx.JointForce("force", "rail", effort))
        else:
            system.add_force(nx.AppliedForce("force", "body", force=(0, 0, effort)))
        r = run(system)
        np.testing.assert_allclose(r.q[:, 0], exact(r.t), atol=1e-8)


def test_harmonic_drive_at_resonance_grows_without_end() -> None:
    m, omega, F = 2.0, 5.0, 3.0
    system = on_rail(m, stiffness=m * omega**2)
    system.add_force(nx.JointForce("drive", "rail", nx.Harmonic(F, omega / (2 * math.pi))))
    r = run(system, 4.0)
    exact = F / (2 * m * omega**2) * (np.sin(omega * r.t) - omega * r.t * np.cos(omega * r.t))
    np.testing.assert_allclose(r.q[:, 0], exact, atol=1e-8)


def test_force_table_of_a_straight_line_is_a_spring() -> None:
    line = {"deflections": (-1.0, 0.0, 2.0), "forces": (-50.0, 0.0, 100.0)}
    spring = run(on_rail(2.0, stiffness=50.0, q0=0.3))
    for options in ({"joint": "rail"}, {"a": "ground", "b": "body", "at_a": (0, 0, -2), "rest": 2.0}):
        system = on_rail(2.0, q0=0.3)
        system.add_force(nx.ForceTable("table", **options, **line))
        r = run(system)
        np.testing.assert_allclose(r.q, spring.q, atol=1e-9)
        np.testing.assert_allclose(energy(system, r), 0.5 * 50.0 * 0.3**2, atol=1e-8)


# --- energy and work on random trees ----------------------------------------------------------------------------------


def sprung_tree(seed: int, damping: float) -> tuple[nx.System, dict[str, Any]]:
    """Every kind of joint, welds, a floating base; springs in the joints and of every kind between bodies."""
    system = S.random_system(seed, [*S.KINDS, "revolute", "fixed", "spherical"], roots=2, floating=1)
    rng = np.random.default_rng(seed)
    changes: dict[str, Any] = {}
    for joint in system.joints.values():
        if joint.nv and joint.kind != "free":
            changes[f"{joint.name}.stiffness"] = rng.uniform(1.0, 10.0, joint.nv)
            # about its rest a ball joint may turn by π and come back as −π: the energy is the same only about 0
            changes[f"{joint.name}.rest"] = 0.0 if joint.kind == "spherical" else rng.normal(size=joint.nv) * 0.2
        if joint.nv:
            changes[f"{joint.name}.damping"] = damping * rng.uniform(0.1, 1.0, joint.nv)
    system = system.with_parameters(changes)
    bodies = ["ground", *system.bodies]

    def pair() -> list[str]:
        return [str(name) for name in rng.choice(bodies, 2, replace=False)]

    for i in range(3):
        anchors = {f"anchor_{s}": rng.normal(size=3) for s in "ab"}
        spring = {"stiffness": rng.uniform(1, 10), "damping": damping, "length": 0.5, "force": 0.3}
        system.add_force(nx.PointSpring(f"spring{i}", *pair(), **anchors, **spring))
        L = np.kron(np.eye(2), np.ones((3, 3))) * rng.normal(size=(6, 6)) * 0.5
        system.add_force(
            nx.Bushing(f"bushing{i}", *pair(), stiffness=L @ L.T, damping=0.1 * damping * np.eye(6), **anchors)
        )
        curve = {"deflections": (0.0, 1.0, 2.0, 3.0), "forces": (0.0, 2.0, 3.0, 7.0), "interpolation": "monotone"}
        system.add_force(nx.ForceTable(f"table{i}", *pair(), **anchors, **curve, rest=0.2, damping=0.2 * damping))
    system.add_force(nx.ForceTable("in joint", joint="j1", deflections=(-9, 0, 9), forces=(-4, 0, 6), damping=damping))
    tree = nx.Tree(system)
    return system, {
        "q0": tree.normalized(tree.neutral() + 0.2 * rng.normal(size=tree.nq)),
        "v0": rng.normal(size=tree.nv),
    }


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_energy_stays_where_all_forces_are_conservative(seed: int) -> None:
    system, start = sprung_tree(seed, damping=0.0)
    r = run(system, 1.0, **start)
    E = energy(system, r)
    seen = observed(system, r)
    assert np.ptp(seen.kinetic) > 1.0  # it moves
    assert np.ptp(seen.elastic) > 1.0
    np.testing.assert_allclose(E, E[0], atol=1e-8 * np.abs([seen.kinetic, seen.elastic]).max())


@pytest.mark.parametrize("seed", [1, 2])
def test_energy_of_a_torsion_spring_stays(seed: int) -> None:
    system = S.random_system(seed, ["universal", "revolute", "spherical"])
    first, *_, last = system.bodies
    system.add_force(nx.TorsionSpring("twist", first, last, stiffness=5.0, torque=0.4))
    rng, tree = np.random.default_rng(seed), nx.Tree(system)
    r = run(system, 0.5, q0=tree.neutral(), v0=0.5 * rng.normal(size=tree.nv))
    E = energy(system, r)
    np.testing.assert_allclose(E, E[0], atol=1e-8)


def test_spring_in_a_ball_joint_conserves_energy_at_large_angles() -> None:
    system = nx.System("ball", gravity=(1.0, 2.0, -9.81))
    body = system.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0.2, 0.3))
    joint = {"stiffness": (3.0, 5.0, 8.0), "rest": (0.2, -0.1, 0.3)}
    system.add_joint(nx.Spherical("ball", system.ground, body, at=(0, 0, 0), v0=(1.0, 2.0, -3.0), **joint))
    r = run(system)
    phi = 2 * np.arctan2(np.linalg.norm(r.q[:, 1:], axis=1), r.q[:, 0])
    assert phi.max() > 1.0
    E = energy(system, r)
    np.testing.assert_allclose(E, E[0], atol=1e-8)


def lost(system: nx.System, r: Any) -> np.ndarray:
    """Power [W] that dampers in joints and along springs take, from their own definitions."""
    tree, P = nx.Tree(system), np.zeros(len(r.t))
    for name, place in tree.coordinates.items():
        if name in system.joints:
            P += (system.joints[name].resolved({}).damping * r.v[:, place.v] ** 2).sum(axis=1)
    for force in system.forces.values():
        if force.name == "in joint":
            P += force.damping * r.v[:, tree.coordinates["j1"].v.start] ** 2
            continue
        (R_A, p_A, w_A, v_A), (R_B, p_B, w_B, v_B) = (point_motion(tree, r, frame) for frame in force.frames(system))
        d, v = p_B - p_A, v_B - v_A
        if force.kind == "bushing":
            # ẋ by differences would do; here by its definition: φ̇ = J_l⁻¹(φ) ω,  ṗ = R_Aᵀ (v_B − v_A − ω_A × r)
            phi = nx.spatial.rotations.log_rotation(np.swapaxes(R_A, 1, 2) @ R_B)
            rate = nx.spatial.rotations.left_jacobian_inverse(phi) @ np.einsum("nji,nj->ni", R_A, w_B - w_A)[..., None]
            p_dot = np.einsum("nji,nj->ni", R_A, v - np.cross(w_A, d))
            P += force.damping[0][0] * ((rate[..., 0] ** 2).sum(axis=1) + (p_dot**2).sum(axis=1))
        else:
            L_dot = (d * v).sum(axis=1) / np.linalg.norm(d, axis=1)
            P += force.damping * L_dot**2
    return P


def point_motion(tree: nx.Tree, r: Any, frame: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """R, p, ω, v of a force's frame in the world."""
    if frame.body == "ground":
        zero = np.zeros((len(r.t), 3))
        return np.broadcast_to(frame.R_BF, (len(r.t), 3, 3)), zero + frame.p_BF, zero, zero
    R, p = tree.pose(r.q, frame.body)
    w, v = tree.velocity(r.q, r.v, frame.body)
    arm = np.einsum("nij,j->ni", R, frame.p_BF)
    return R @ frame.R_BF, p + arm, w, v + np.cross(w, arm)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_energy_falls_by_what_the_dampers_take(seed: int) -> None:
    system, start = sprung_tree(seed, damping=0.8)
    times = np.linspace(0.0, 1.0, 2001)
    r = nx.simulate(system, 1.0, METHOD, output_times=times, **start).recording
    E = energy(system, r)
    taken = cumulative_simpson(lost(system, r), x=r.t, initial=0.0)
    assert taken[-1] > 0.5
    np.testing.assert_allclose(E + taken, E[0], atol=1e-7 * max(1.0, np.ptp(E)))


def test_work_of_applied_forces_is_what_the_energy_gains() -> None:
    system = S.random_system(5, ["revolute", "spherical", "prismatic", "fixed"], roots=1)
    last = list(system.bodies)[-1]
    system.add_force(nx.AppliedForce("f", last, force=("=3*sin(5*t)", 1.0, "=t"), anchor=(0.1, 0.2, -0.3)))
    system.add_force(nx.AppliedForce("n", last, torque=(0.0, 0.3, "=cos(3*t)"), expressed_in="body"))
    system.add_force(nx.JointForce("j", "j0", "=2*exp(-t)"))
    tree = nx.Tree(system)
    times = np.linspace(0.0, 1.0, 2001)
    r = nx.simulate(system, 1.0, METHOD, output_times=times, q0=tree.neutral()).recording
    t, o = r.t, np.zeros_like(r.t)
    frame = system.force("f").frames(system)[0]
    R, _, w, v = point_motion(tree, r, frame)
    P = (np.stack([3 * np.sin(5 * t), o + 1.0, t], axis=1) * v).sum(axis=1)
    P += (np.einsum("nij,nj->ni", R, np.stack([o, o + 0.3, np.cos(3 * t)], axis=1)) * w).sum(axis=1)
    P += 2 * np.exp(-t) * r.v[:, tree.coordinates["j0"].v.start]
    E = energy(system, r)
    gained = cumulative_simpson(P, x=t, initial=0.0)
    assert np.abs(gained).max() > 0.1
    np.testing.assert_allclose(E - E[0], gained, atol=1e-8)


@pytest.mark.parametrize("dynamics", ["aba", "crba"])
def test_forces_act_the_same_under_both_dynamics(dynamics: Any) -> None:
    # up to 0.18 s: at 0.21 s a deflection jumps by a turn, and no method keeps its order there
    system, start = sprung_tree(2, damping=0.5)
    r = nx.simulate(system, 0.18, nx.RungeKutta4(2e-3), dynamics=dynamics, **start).recording
    reference = nx.simulate(system, 0.18, METHOD, output_times=r.t[:-1], **start).recording
    np.testing.assert_allclose(r.q, reference.q, atol=1e-8)
    np.testing.assert_allclose(r.a, reference.a, atol=1e-6)


# --- functions of the user --------------------------------------------------------------------------------------------


def drag(t, A, B, out):  # type: ignore[no-untyped-def]
    """Against the velocity, and a spring to where B is."""
    for i in range(3):
        out[3 + i] = -0.3 * A[15 + i] - 4.0 * (A[i] - B[i]) + 0.1 * math.sin(3.0 * t)
        out[i] = -0.02 * A[12 + i]


def motor(t, q, v):  # type: ignore[no-untyped-def]
    return 0.8 * math.sin(2.0 * t) - 0.5 * q - 0.05 * v


def with_user_forces(compiled: bool) -> nx.System:
    system = nx.System("user", gravity=(0, 0, -9.81))
    a = system.add_body("a", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.5, 0, 0))
    b = system.add_body("b", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(1.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, a, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_joint(nx.Spherical("ball", a, b, at=(1, 0, 0)))
    made = numba.njit if compiled else (lambda f: f)
    system.add_force(nx.UserForce("drag", "b", "ground", function=made(drag), anchor_a=(0.5, 0, 0), at_b=(1, 0, 1)))
    system.add_force(nx.UserJointForce("motor", "hinge", made(motor)))
    return system


@pytest.mark.filterwarnings("ignore:user function .* is plain Python")
@pytest.mark.parametrize("method", [nx.RungeKutta4(2e-3), nx.DormandPrince()])
def test_compiled_and_python_functions_give_the_same_bits(method: Any) -> None:
    slow, fast = (nx.simulate(with_user_forces(compiled), 0.5, method).recording for compiled in (False, True))
    assert np.array_equal(slow.t, fast.t)
    assert np.array_equal(slow.q, fast.q)
    assert np.array_equal(slow.a, fast.a)


@pytest.mark.filterwarnings("ignore:user function .* is plain Python")
def test_user_force_acts_on_both_bodies_so_that_momentum_stays() -> None:
    system = nx.System("pair", gravity=(0, 0, 0))
    system.add_body("a", mass=1.0, inertia=(0.1, 0.2, 0.15))
    system.add_body("b", mass=2.0, inertia=(0.1, 0.2, 0.15), position=(1, 0.2, 0))

    def pull(t: float, A: Any, B: Any, out: Any) -> None:
        out[:3] = (0.1, -0.2, 0.3)
        out[3:] = 3.0 * (B[:3] - A[:3]) + (0.0, 1.0, 0.0)

    system.add_force(nx.UserForce("pull", "a", "b", function=pull))
    r = run(system, 0.5)
    tree = nx.Tree(system)
    h = tree.centroidal_momentum(r.q, r.v)
    assert np.abs(r.v).max() > 0.5
    np.testing.assert_allclose(h, 0.0, atol=1e-9)


class GearError(Exception):
    pass


def failing(when: float, how: str) -> Any:
    def f(t: float, q: float, v: float) -> float:
        if t >= when:
            if how == "raise":
                raise GearError("no such gear")
            return math.nan if how == "nan" else math.inf
        return 0.0

    return f


def failing_between(when: float, how: str) -> Any:
    g = failing(when, how)

    def f(t: float, A: Any, B: Any, out: Any) -> None:
        out[5] = g(t, 0.0, 0.0)

    return f


@pytest.mark.filterwarnings("ignore:user function .* is plain Python")
@pytest.mark.parametrize("where", ["joint", "between"])
@pytest.mark.parametrize("how", ["raise", "nan", "inf"])
@pytest.mark.parametrize("method", [nx.RungeKutta4(1e-3), nx.DormandPrince()])
def test_user_force_that_fails_is_named_with_its_time_and_the_result_so_far_is_kept(
    where: str, how: str, method: Any
) -> None:
    system = on_rail(2.0, gravity=(0, 0, -9.81))
    system.add_force(nx.JointForce("innocent", "rail", 1.0))
    if where == "joint":
        system.add_force(nx.UserJointForce("gearbox", "rail", failing(0.25, how)))
    else:
        system.add_force(nx.UserForce("gearbox", "body", function=failing_between(0.25, how)))
    reason = "raised GearError: no such gear" if how == "raise" else "gives a value that is not finite"
    with pytest.raises(nx.SolveError, match=f"'gearbox'.* {reason} at t = 0") as caught:
        nx.simulate(system, 1.0, method)
    error = caught.value
    assert error.where == "gearbox"
    assert error.time >= 0.25  # the time at which it was asked
    if isinstance(method, nx.RungeKutta4):
        assert error.time == pytest.approx(0.25, abs=1e-12)
    assert isinstance(error.__cause__, GearError) == (how == "raise")
    r = error.result.recording
    assert r.status == "failed"
    assert r.message == str(error)
    assert np.isfinite(r.a).all()
    assert r.t[-1] < 0.25
    np.testing.assert_allclose(r.q[:, 0], -0.5 * (9.81 - 0.5) * r.t**2, atol=1e-9)


@pytest.mark.filterwarnings("ignore:user function .* is plain Python")
def test_user_force_that_fails_at_once_leaves_no_result() -> None:
    system = on_rail()
    system.add_force(nx.UserJointForce("gearbox", "rail", failing(0.0, "raise")))
    with pytest.raises(nx.SolveError, match=r"'gearbox'.* raised GearError: no such gear at t = 0 s") as caught:
        nx.simulate(system, 1.0)
    assert caught.value.result is None


def test_compiled_function_that_raises_says_why() -> None:
    @numba.njit
    def f(t, q, v):  # type: ignore[no-untyped-def]
        if t >= 0.25:
            raise ValueError("too late")
        return 0.0

    system = on_rail()
    system.add_force(nx.UserJointForce("gearbox", "rail", f))
    with pytest.raises(nx.SolveError, match=r"'gearbox'.* raised ValueError: too late at t = 0\.25 s"):
        nx.simulate(system, 1.0)


@pytest.mark.filterwarnings("ignore:user function .* is plain Python")
def test_interrupt_inside_a_user_function_keeps_the_result() -> None:
    def f(t: float, q: float, v: float) -> float:
        if t > 0.1:
            raise KeyboardInterrupt
        return 0.0

    system = on_rail()
    system.add_force(nx.UserJointForce("gearbox", "rail", f))
    with pytest.warns(nx.NexDynWarning, match="interrupted at t = 0.1"):
        result = nx.simulate(system, 1.0)
    assert result.recording.status == "interrupted"
    assert result.recording.t[-1] == pytest.approx(0.1, abs=2e-3)


def test_expression_that_leaves_its_domain_is_named_with_its_time() -> None:
    system = on_rail()
    system.add_force(nx.JointForce("root", "rail", "=sqrt(0.5 - t)"))
    with pytest.raises(nx.SolveError, match=r"'root' gives a value that is not finite at t = 0\.50") as caught:
        nx.simulate(system, 1.0)
    assert caught.value.where == "root"
    assert caught.value.result.recording.t[-1] == pytest.approx(0.5, abs=2e-3)


def test_spring_in_a_free_joint_is_refused_with_what_to_use_instead() -> None:
    system = nx.System("free")
    body = system.add_body("body", mass=1.0, inertia=(1, 1, 1))
    system.add_joint(nx.Free("free", system.ground, body, stiffness=1.0))
    with pytest.raises(nx.InputError, match="takes no stiffness; put a Bushing"):
        nx.simulate(system, 0.1)

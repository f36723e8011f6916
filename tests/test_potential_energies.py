"""Every energy of the incremental potential: its gradient and its Hessian are its derivatives, at large increments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems
from potential_lab import Bench

import nexdyn as nx
from nexdyn.forces.curve import curve_energy, curve_row, curve_value, curve_work
from nexdyn.joints import JOINTS

COUPLED = 0.4
WITH_NUMBERS = {
    "point_on_curve", "point_on_surface", "user", "user_constraint", "rolling_disk", "rolling_sphere", "knife_edge",
    "velocity_constraint",
}  # fmt: skip


def pair(rng: np.random.Generator, parent_moves: bool = True) -> tuple[nx.System, list[nx.Body]]:
    """Two bodies with centres of mass beside their origins, and ground."""
    system = nx.System("pair", gravity=(1.0, -9.81, 2.0))
    bodies = [system.add_body(name, **systems.somewhere(rng), **systems.solid(rng)) for name in ("a", "b")]
    return system, [bodies[0] if parent_moves else system.ground, bodies[1]]


def options(kind: str) -> dict[str, Any]:
    return {
        "helical": {"pitch": 0.3},
        "general": {"free": ("y", "rx")},
        "clamp": {"free": ("y", "rx")},
        "revolute_prismatic": {"slide": (1, 2, 3)},
    }.get(kind, {})


def agrees(bench: Bench, rng: np.random.Generator, tolerance: float = 1e-7) -> None:
    """E, its gradient and its Hessian at a random state, increments and multipliers."""
    bench.state.v[1:] = rng.normal(size=bench.state.v[1:].shape)
    bench.state.lam[:] = rng.normal(size=len(bench.state.lam))
    bench.state.mu[:] = rng.uniform(0.5, 2.0, size=len(bench.state.mu))
    bench.begin()
    x = 0.5 * rng.normal(size=bench.work.x[1:].shape)
    gradient, H = bench.gradient(x), bench.hessian(x)
    by_differences, H_by_differences = bench.differences(x)
    assert np.abs(gradient - by_differences).max() < tolerance * max(1.0, np.abs(gradient).max())
    assert np.abs(H - H_by_differences).max() < tolerance * max(1.0, np.abs(H).max())


def test_of_inertia_and_gravity(rng: np.random.Generator) -> None:
    system, _ = pair(rng)
    bench = Bench(system)
    agrees(bench, rng)
    x = rng.normal(size=(2, 6))
    expected = np.zeros((12, 12))
    for i in (0, 1):
        m, *I = bench.model.mass[1 + i]
        expected[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.array(I)[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3)
        expected[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = m * np.eye(3)
    assert np.abs(bench.hessian(x) - expected).max() < 1e-14


@pytest.mark.parametrize("parent_moves", [True, False])
@pytest.mark.parametrize("kind", [kind for kind in JOINTS if JOINTS[kind].rows and kind not in WITH_NUMBERS])
def test_of_the_constraints_of(kind: str, parent_moves: bool, rng: np.random.Generator) -> None:
    system, (parent, child) = pair(rng, parent_moves)
    frames = {f"anchor_{s}": rng.normal(size=3) for s in "ab"}
    if kind != "rod":
        frames |= {f"axis_{s}": systems.unit(rng, 3) for s in ("a" if kind == "revolute_spherical" else "ab")}
    system.add_joint(JOINTS[kind]("joint", parent, child, **frames, **options(kind)))
    agrees(Bench(system), rng)


def test_of_a_gear_between_two_joints(rng: np.random.Generator) -> None:
    system, (a, b) = pair(rng)
    system.add_joint(nx.Revolute("first", system.ground, a, **systems.placed(rng)))
    system.add_joint(nx.Revolute("second", a, b, **systems.placed(rng)))
    system.add_coupling(nx.Gear("gear", "first", "second", ratio=COUPLED))
    bench = Bench(system)
    assert (bench.model.groups[:, 0] == 2).sum() == 1
    agrees(bench, rng)


def test_of_a_driven_joint(rng: np.random.Generator) -> None:
    system, (a, b) = pair(rng)
    system.add_joint(nx.Revolute("hinge", a, b, **systems.placed(rng)))
    system.add_driver(nx.Driver("motor", "hinge", nx.Linear(0.2, 1.5)))
    agrees(Bench(system), rng)


def springs(system: nx.System, a: nx.Body, b: nx.Body, rng: np.random.Generator) -> dict[str, object]:
    anchors = {"anchor_a": rng.normal(size=3), "anchor_b": rng.normal(size=3)}
    table = {"deflections": (-3.0, -1.0, 0.5, 3.0), "forces": (-40.0, -10.0, 8.0, 90.0), "interpolation": "natural"}
    return {
        "point spring": nx.PointSpring("s", a, b, stiffness=50.0, damping=3.0, length=0.7, force=4.0, **anchors),
        "torsion spring": nx.TorsionSpring("s", a, b, stiffness=20.0, damping=2.0, rest=0.3, torque=1.5),
        "force table": nx.ForceTable("s", a, b, damping=2.0, rest=1.0, **table, **anchors),
        "joint table": nx.ForceTable("s", joint="hinge", damping=2.0, **table),
        "joint force": nx.JointForce("s", "hinge", nx.Harmonic(3.0, 2.0)),
    }


@pytest.mark.parametrize("name", ["point spring", "torsion spring", "force table", "joint table", "joint force"])
def test_of_a(name: str, rng: np.random.Generator) -> None:
    system, (a, b) = pair(rng)
    system.add_joint(nx.Cylindrical("hinge", a, b, **systems.placed(rng)))
    system.add_force(springs(system, a, b, rng)[name])
    bench = Bench(system)
    assert len(bench.model.springs.index) == 1
    bench.model.springs.state[:, :2] = 0.1 * rng.normal(size=2)
    agrees(bench, rng, 2e-6)  # U'' of a table has corners, differences cross them


@pytest.mark.parametrize(
    "kind", ["revolute", "prismatic", "cylindrical", "helical", "universal", "planar", "cartesian"]
)
def test_of_spring_damper_friction_and_armature_in(kind: str, rng: np.random.Generator) -> None:
    system, (a, b) = pair(rng)
    own = {"stiffness": 30.0, "damping": 2.0, "friction": 1.5, "friction_speed": 0.5, "armature": 0.7, "rest": 0.2}
    system.add_joint(JOINTS[kind]("joint", a, b, **systems.placed(rng), **options(kind), **own))
    bench = Bench(system)
    assert len(bench.model.springs.index) == JOINTS[kind].nv
    bench.model.springs.state[:, :2] = 0.1 * rng.normal(size=(JOINTS[kind].nv, 2))
    agrees(bench, rng)


def loads(a: nx.Body, b: nx.Body, rng: np.random.Generator) -> dict[str, object]:
    K = np.diag([20.0, 30.0, 10.0, 200.0, 150.0, 100.0])
    anchors = {"anchor_a": rng.normal(size=3), "anchor_b": rng.normal(size=3)}
    return {
        "applied": nx.AppliedForce("f", b, force=(1.0, 2.0, 3.0), torque=(0.5, 0.0, -1.0), anchor=(0.1, 0.2, 0.3)),
        "follower": nx.AppliedForce("f", b, force=(1.0, 2.0, 3.0), expressed_in="body", anchor=(0.1, 0.2, 0.3)),
        "bushing": nx.Bushing("f", a, b, stiffness=K.tolist(), damping=(0.1 * K).tolist(), **anchors),
    }


@pytest.mark.parametrize("name", ["applied", "follower", "bushing"])
def test_the_hessian_of_loads_is_the_symmetric_part_of_what_their_forces_change(
    name: str, rng: np.random.Generator
) -> None:
    system, (a, b) = pair(rng)
    system.add_force(loads(a, b, rng)[name])
    bench = Bench(system)
    bench.begin()
    x = 0.3 * rng.normal(size=(2, 6))
    H = bench.hessian(x)
    _, rate = bench.differences(x)
    assert np.abs(H - 0.5 * (rate + rate.T)).max() < 1e-5 * max(1.0, np.abs(H).max())


def test_the_work_of_a_linear_load_is_exact(rng: np.random.Generator) -> None:
    """A bushing without rotation is linear: its E is that of its potential, and of Rayleigh's."""
    system = nx.System("ball", gravity=(1.0, -9.81, 2.0))
    b = system.add_body("b", mass=1.3, inertia=(0.1, 0.2, 0.25), position=rng.normal(size=3))
    system.add_force(
        nx.Bushing("f", system.ground, b, stiffness=(0, 0, 0, 200.0, 150.0, 100.0), damping=(0, 0, 0, 5, 6, 7))
    )
    bench = Bench(system)
    bench.begin()
    x = np.zeros((1, 6))
    free = bench.energy(x)
    x[0, 3:] = rng.normal(size=3)
    E = bench.energy(x) - free
    dt, p = bench.dt, bench.absolute.q[1, 4:]
    K, D = np.array([200.0, 150.0, 100.0]), np.array([5.0, 6.0, 7.0])
    spring = 0.5 * (K * ((p + x[0, 3:]) ** 2 - p**2)).sum() * dt**2
    damper = 0.5 * (D * x[0, 3:] ** 2).sum() * dt
    m, v = bench.model.mass[1, 0], bench.state.v[1, 3:]
    inertia = 0.5 * m * ((x[0, 3:] - dt * v) ** 2 - (dt * v) ** 2).sum() - dt**2 * m * system.gravity @ x[0, 3:]
    assert E == pytest.approx(spring + damper + inertia, rel=1e-12)


def test_without_curvature_the_hessian_is_positive_definite(rng: np.random.Generator) -> None:
    system, (a, b) = pair(rng)
    system.add_joint(nx.Universal("joint", a, b, **systems.placed(rng), stiffness=-40.0))
    system.add_force(nx.PointSpring("s", a, b, stiffness=100.0, length=50.0))  # pushes hard: its curvature is negative
    bench = Bench(system)
    bench.state.lam[:] = 100.0 * rng.normal(size=len(bench.state.lam))
    bench.begin()
    x = 0.5 * rng.normal(size=(2, 6))
    assert np.linalg.eigvalsh(bench.hessian(x)).min() < 0.0
    assert np.linalg.eigvalsh(bench.hessian(x, curved=False)).min() > 0.0


def test_of_bodies_thin_about_an_axis(rng: np.random.Generator) -> None:
    """J |u − û|² and what remains, of inertias askew in the body."""
    system = nx.System("thin", gravity=(1.0, -9.81, 2.0))
    for name in "ab":
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        I = Q @ np.diag([1e-3, 0.8, 0.8004]) @ Q.T
        system.add_body(name, mass=1.3, inertia=I, **systems.somewhere(rng))
    bench = Bench(system)
    assert (bench.model.rods[1:, 0] > 0.7).all() and not bench.model.spare.any()
    agrees(bench, rng)


@pytest.mark.parametrize("interpolation", ["linear", "monotone", "natural"])
def test_the_work_of_a_table_is_the_change_of_its_energy_to_the_digits_of_a_short_way(
    interpolation: str, rng: np.random.Generator
) -> None:
    x, F = np.array([-1.0, -0.3, 0.2, 1.0]), np.array([-2.0, -0.5, 0.1, 3.0])
    data = np.array([0.0, *curve_row(x, F, interpolation, "linear")])
    for a, b in rng.uniform(-1.5, 1.5, size=(200, 2)):
        change = curve_energy(data, 1, b) - curve_energy(data, 1, a)
        assert curve_work(data, 1, a, b) == pytest.approx(change, rel=1e-12, abs=1e-14)
        short = a + 1e-9 * (b - a)
        mean = 0.5 * (curve_value(data, 1, a) + curve_value(data, 1, short))
        assert curve_work(data, 1, a, short) == pytest.approx(mean * (short - a), rel=1e-12)

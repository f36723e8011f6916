"""The iteration matrix of HHT beside differences of its residual, what it is good for, and who may solve with it."""

from __future__ import annotations

import numpy as np
import published
import pytest

import nexdyn as nx
from nexdyn import variants
from nexdyn.absolute.motion import hht
from nexdyn.absolute.motion.elements import Acting, Idle
from nexdyn.absolute.motion.equations import residual
from nexdyn.linalg.lu import factor, solve
from nexdyn.linalg.plan import Pivots, elimination_plan
from nexdyn.linalg.solvers import Pattern, unknowns
from nexdyn.simulation.marches.bodies import BodySimulation

ALPHA = -0.1


def spinning_pair() -> nx.System:
    """Two bodies on ball and screw joints with springs, dampers and fast spins."""
    system = nx.System("spinning pair", gravity=(1, 2, -9.81))
    a = system.add_body("a", mass=2.0, inertia=(0.3, 0.5, 0.4), position=(0.5, 0.1, 0), com=(0.1, 0, 0.05))
    b = system.add_body("b", mass=1.0, inertia=(0.2, 0.1, 0.15), position=(1.2, 0, 0.3))
    system.add_joint(nx.Spherical("ball", system.ground, a, at=(0, 0, 0), v0=(3.0, -5.0, 8.0), damping=0.1))
    system.add_joint(
        nx.Cylindrical("slide", a, b, at=(1, 0, 0), axis=(0.2, 1, 0), v0=(4.0, 0.5), stiffness=5.0, damping=0.3)
    )
    system.add_force(nx.PointSpring("spring", "ground", b, anchor_a=(2, 0, 1), stiffness=50.0, damping=1.0, length=0.3))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("make", [published.heavy_top, published.four_bars, spinning_pair])
def test_the_iteration_matrix_is_the_derivative_of_the_residual(make) -> None:
    """Gyroscopic terms, curvature of the increments, stiffness of constraint forces: to rounding of the differences, but for
    what one body's motion does to another through a joint (small as β h² λ), and springs' symmetrised stiffness."""
    simulation = BodySimulation(make(), nx.HHT(alpha=ALPHA, dt=1e-3))
    simulation.run(0.02)
    tables, acts, s = simulation.tables, simulation.acts, simulation.state
    h, beta, gamma, scale = 2e-3, 0.25 * (1 - ALPHA) ** 2, 0.5 - ALPHA, 1 / (1 + ALPHA)
    nb, places = len(s.q1) - 1, unknowns(tables.plan)
    a, lam = s.a0.copy(), s.lam0.copy()

    def found(x: np.ndarray, assemble: bool = False) -> np.ndarray:
        whole = np.zeros_like(s.x)
        whole.reshape(-1)[places] = x
        s.a1[1:], s.lam1[:] = a[1:] + whole[:nb], lam + whole[nb:]
        hht.new_motion(s, h, ALPHA, False, tables.length)
        residual(tables, acts, s, simulation.t + h, scale, gamma * h, beta * h * h, assemble)
        return -s.x.reshape(-1)[places].copy()

    n = len(places)
    found(np.zeros(n), True)
    matrix = Pattern(tables.plan).matrix(s.upper, s.lower).toarray()
    step = 1e-3 * max(1.0, float(np.abs(a).max()))
    expected = np.array([found(step * e) - found(-step * e) for e in np.eye(n)]).T / (2 * step)
    size = np.zeros(len(s.x), dtype=int)
    pivots = Pivots(tables.plan.pivots)
    size[pivots.node] = pivots.unknowns
    node = np.repeat(np.arange(len(s.x)), size)
    coupled = (node[:, None] != node) & (node[:, None] < nb) & (node < nb)
    scale_of = np.abs(expected).max()
    off = np.abs(matrix - expected)
    assert off[~coupled].max() < 2e-5 * scale_of
    assert off[coupled].max(initial=0.0) < 1e-3 * scale_of
    if make is published.heavy_top:  # what of it is gyroscopic
        assert np.abs(matrix - matrix.T)[:3, :3].max() > 0.1 * matrix[0, 0]


@pytest.mark.parametrize(("dt", "most"), [(2e-3, 3.0), (5e-3, 6.0)])
def test_a_fast_top_converges_at_long_steps(dt: float, most: float) -> None:
    """0.3 and 0.75 rad of spin a step: a symmetric matrix takes 12 iterations for the first and fails at the second."""
    result = nx.simulate(published.heavy_top(), 0.1, nx.HHT(dt=dt))
    effort = result.recording.settings
    assert effort["iterations"] < most * result.recording.steps, effort
    assert result.recording.violation.max() < 1e-9


def test_matrices_without_symmetry_are_solved() -> None:
    rng = np.random.default_rng(4)
    for sizes, edges in (
        ([6, 6, 5, 5, 3], [(0, 3), (1, 3), (1, 2), (2, 0), (4, 0), (4, 1)]),
        ([1, 2, 3, 4, 5, 6], [(i, j) for i in range(6) for j in range(i)]),
    ):
        plan = elimination_plan(sizes, edges)
        pattern, places = Pattern(plan), unknowns(plan)
        n = len(places)
        upper, lower = plan.new_upper(), plan.new_blocks()
        (_, _, at), (_, _, at_) = pattern._parts
        upper[at], lower[at_] = rng.normal(size=len(at)), rng.normal(size=len(at_))
        diagonal = [a for r, c, a in zip(*pattern._parts[1], strict=True) if r == c]
        lower[diagonal] += 3.0 * n
        A = pattern.matrix(upper, lower).toarray()
        assert np.abs(A - A.T).max() > 1.0
        x, b = rng.normal(size=n), plan.new_vector()
        b.reshape(-1)[places] = A @ x
        assert factor(plan, upper, lower, plan.new_work()) == -1
        solve(plan, upper, lower, b)
        np.testing.assert_allclose(b.reshape(-1)[places], x, rtol=0, atol=1e-13)


@pytest.mark.parametrize("make", [published.four_bars, published.bricard, spinning_pair])
def test_all_linear_solvers_give_the_same_motion(make) -> None:
    results = [nx.simulate(make(), 0.1, nx.HHT(dt=2e-3, solver=solver)) for solver in ("blocks", "lu", "iterative")]
    for other in results[1:]:
        for what in ("position", "velocity"):
            for body in results[0].system.bodies:
                found, expected = getattr(other, what)(body).values, getattr(results[0], what)(body).values
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
        assert other.recording.violation.max() < 1e-9


def test_a_body_takes_less_than_five_kilobytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, state and workspace of a march along a chain of hinges."""
    monkeypatch.setattr(variants, "one_for_all", False)
    links = 60
    system = nx.System("chain", gravity=(0, 0, -9.81))
    parent = system.ground
    for i in range(links):
        link = system.add_body(f"link{i}", mass=1.0, inertia=(1, 1, 1), position=(i + 0.5, 0, 0))
        system.add_joint(nx.Revolute(f"hinge{i}", parent, link, at=(i, 0, 0), axis=(0, 1, 0)))
        parent = link
    march = BodySimulation(system, nx.HHT(dt=1e-3))
    parts = (march.state, march.tables, march.tables.constraints, march.tables.plan, march.acts, march.acts.forces)
    arrays = {id(x): x for part in parts for x in part if isinstance(x, np.ndarray)}
    assert 1000 < sum(x.nbytes for x in arrays.values()) / links < 5000


def test_where_nothing_acts_no_force_is_compiled_and_the_motion_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "one_for_all", False)

    def ends(kind: type[Acting]) -> np.ndarray:
        simulation = BodySimulation(published.four_bars(), nx.HHT(dt=1e-3))
        assert type(simulation.acts) is Idle
        simulation.acts = kind(*simulation.acts)
        simulation.run(0.2)
        return simulation.state.q0.copy()

    assert np.array_equal(ends(Idle), ends(Acting))
    assert type(BodySimulation(spinning_pair(), nx.HHT(dt=1e-3)).acts) is Acting


def test_parts_of_a_tree_and_the_whole_give_the_same_correction() -> None:
    """Chains longer than a part, branched, with bodies that hang on nothing; the reference solves with SuperLU."""
    rng = np.random.default_rng(5)
    system = nx.System("branches", gravity=(0.0, 0.0, -9.81))
    bodies = [system.ground]
    for i in range(70):
        link = system.add_body(
            f"link{i}", mass=1.0 + rng.random(), inertia=(0.1, 0.2, 0.15), position=rng.normal(size=3)
        )
        if i % 9 != 4:
            parent = bodies[-1] if i % 3 else bodies[rng.integers(len(bodies))]
            system.add_joint(nx.Revolute(f"hinge{i}", parent, link, at=rng.normal(size=3), axis=rng.normal(size=3)))
        bodies.append(link)
    parts, whole = (BodySimulation(system, nx.HHT(dt=2e-3, solver=solver)) for solver in ("blocks", "lu"))
    assert len(parts.tables.parts) > 3 and parts.tables.parts[-1].tolist() == [62, 132]
    found, expected = parts.run(0.02), whole.run(0.02)
    for body in system.bodies:
        np.testing.assert_allclose(found.position(body).values, expected.position(body).values, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.velocity(body).values, expected.velocity(body).values, rtol=0, atol=1e-9)

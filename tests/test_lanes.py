"""Lanes: every formula of the tree runs on packs of 8 systems and gives what it gives for each system alone.

One source: each kernel below is compiled for plain arrays and for lanes. No lane's value decides about another's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems

from nexdyn.integrate import problem as integration
from nexdyn.joints.kinds import FREE, SPHERICAL
from nexdyn.joints.verbs import (
    chart_rate,
    chart_step,
    child_pose,
    column_rate,
    constraint_columns,
    joint_bias,
    motion_columns,
)
from nexdyn.kernel import kernel
from nexdyn.simulation.problem import build_problem
from nexdyn.spatial import lanes
from nexdyn.spatial.algebra import (
    Mat3,
    Pose,
    Quat,
    Vec3,
    exp_quaternion,
    left_jacobian_times,
    log_quaternion,
    normalized,
    right_jacobian_inverse_times,
)
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector, SharedTable, atan2, cos, if_less, sin, sqrt, tanh, zero
from nexdyn.spatial.split_moments import split_moments
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows, QuatRows, Vec3Rows
from nexdyn.tree.core import tables
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.coriolis import coriolis_matrix
from nexdyn.tree.core.crba import composite_inertias, factor, mass_matrix, solve_factored, unit_columns
from nexdyn.tree.core.energy import gravity_energy, kinetic_energy, momentum, momentum_matrix, subtree_jacobian
from nexdyn.tree.core.jacobian import frame_jacobian
from nexdyn.tree.core.kinematics import kinematics, world_poses
from nexdyn.tree.core.rnea import inverse_dynamics
from nexdyn.tree.core.tables import Bodies, Rigids, TreeModel, TreeWork
from nexdyn.tree.loads import joint_efforts, joint_energy

ROWS = 12  # of the arguments of `functions`; len() of a table of lanes is not its rows


@kernel
def dynamics(topology, body, freedom, work_b, work_s, work_f, work_c, work_r, q, v, x, qdd, tau, poses):
    """q̈ of τ = x by ABA, τ of q̈ = x by RNEA, world poses."""
    model, work = TreeModel(topology, body, freedom), TreeWork(work_b, work_s, work_f, work_c, work_r)
    articulated_bodies(model, q, v, x, None, work, qdd)
    inverse_dynamics(model, q, v, x, work, tau)
    X_W, X_out = work.spare.X_W, PoseRows(poses, 0)
    world_poses(model, work, X_W)
    for i in range(1, len(topology)):
        X_out[i] = X_W[i]


@kernel
def mass(topology, body, freedom, work_b, work_s, work_f, work_c, work_r, q, v, above, M, factored, x, A, J_com, out):
    """M, its factors, M⁻¹ x, the momentum matrix, the Jacobian of a subtree's centre of mass, momentum and energies."""
    model, work = TreeModel(topology, body, freedom), TreeWork(work_b, work_s, work_f, work_c, work_r)
    kinematics(model, q, v, work)
    unit_columns(model, work)
    X_W = work.spare.X_W
    world_poses(model, work, X_W)
    mass_matrix(model, q, work, M)
    mass_matrix(model, q, work, factored)
    factor(factored, above)
    solve_factored(factored, above, x)
    composite_inertias(model, work)
    o = zero(body[0, 0])
    about = Vec3(o + 0.1, o + 0.2, o + 0.3)
    momentum_matrix(model, work, X_W, about, A)
    subtree_jacobian(model, work, X_W, 2, J_com)
    h = momentum(model, work, X_W, about)
    out[0], out[1], out[2], out[3], out[4], out[5] = h.n.x, h.n.y, h.n.z, h.f.x, h.f.y, h.f.z
    out[6], out[7] = kinetic_energy(model, v, work), gravity_energy(model, X_W)


@kernel
def rates(topology, body, freedom, work_b, work_s, work_f, work_c, work_r, q, v, C, J, J_dot, reference):
    """C, and the Jacobian and its rate of a frame of the last body."""
    model, work = TreeModel(topology, body, freedom), TreeWork(work_b, work_s, work_f, work_c, work_r)
    kinematics(model, q, v, work)
    unit_columns(model, work)
    X_W = work.spare.X_W
    world_poses(model, work, X_W)
    coriolis_matrix(model, q, v, work, X_W, C)
    o = zero(body[0, 0])
    e = o + 1.0
    X_bF = Pose(Mat3(o, o, e, e, o, o, o, e, o), Vec3(o + 0.3, o - 0.2, o + 0.1))
    frame_jacobian(model, q, v, work, X_W, len(topology) - 1, X_bF, reference, J, J_dot)


@kernel
def joints(topology, body, q, v, xi, poses, H, W, biases, columns, rate, stepped):
    """All verbs of all joints, each by itself."""
    o = zero(body[0, 0])
    e = o + 1.0
    X_PJ = Pose(Mat3(e, o, o, o, e, o, o, o, e), Vec3(o, o, o))
    X, h, bias, column = PoseRows(poses, 0), MotionRows(H, 0), MotionRows(biases, 0), MotionRows(columns, 0)
    bodies, rigids = Bodies(topology), Rigids(body)
    for i in range(1, len(bodies)):
        kind, k, j, n, pitch = bodies[i].kind, bodies[i].iq, bodies[i].iv, bodies[i].nv, rigids[i].pitch
        X[i] = child_pose(kind, X_PJ, pitch, q, k)
        motion_columns(kind, pitch, q, k, h, j)
        constraint_columns(kind, pitch, q, k, ForceRows(W, 6 * i))
        bias[i] = joint_bias(kind, pitch, q, k, v, j, o)
        for m in range(j, j + n):
            column[m] = column_rate(kind, pitch, q, k, v, j, m - j, h[m])
        if kind in (SPHERICAL, FREE):
            chart_rate(kind, q, k, xi, v, j, rate)
            chart_step(kind, q, k, xi, j, stepped)


@kernel
def efforts(topology, body, freedom, q, v, tau, out):
    """Springs, dampers and friction of the joints, and the springs' energy."""
    model = TreeModel(topology, body, freedom)
    joint_efforts(model, q, v, tau)
    out[0] = joint_energy(model, q)


@kernel
def functions(x, y, out, quaternions, vectors):
    """The functions of a scalar, and those of rotations, on both sides of where they turn to series."""
    Q, V = QuatRows(quaternions, 0), Vec3Rows(vectors, 0)
    for i in range(ROWS):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = sin(x[i]), cos(x[i]), sqrt(x[i] * x[i]), tanh(x[i])
        out[i, 4], out[i, 5], out[i, 6] = atan2(x[i], y[i]), if_less(x[i], y[i], x[i], 2.0), zero(x[i]) - 1.0
        out[i, 7] = if_less(x[i], 0.5, 1.0, y[i]) / (1.0 + x[i] * x[i]) - -y[i]
        phi, a = Vec3(x[i], 0.5 * y[i], 0.1 * x[i]), Vec3(y[i], x[i], zero(x[i]))
        Q[i] = exp_quaternion(phi)
        V[3 * i] = log_quaternion(normalized(Quat(y[i], x[i], 0.2 * x[i], y[i])))
        V[3 * i + 1] = right_jacobian_inverse_times(phi, a)
        V[3 * i + 2] = left_jacobian_times(phi, a)


@kernel
def motion(problem, t, y, K, out, scales):
    """ẏ, the record of a sample, the magnitudes of its errors, and the chart about the new position."""
    integration.rates_aside(problem, t, y, K, 1)
    integration.rates_aside(problem, t, y, K, 0)
    integration.record(problem, t, y, K, out, 0)
    integration.scale(problem, y, scales, problem.n)
    integration.recentre(problem, y, K, 0)


# --- both ways --------------------------------------------------------------------------------------------------------


class Numbers:
    """Inputs and outputs (8, …) of a kernel, for one system or for all lanes."""

    def __init__(self, *arrays: Any) -> None:
        self.arrays = [np.array(x, dtype=float) if np.asarray(x).dtype == float else x for x in arrays]

    def alone(self, s: int) -> list[Any]:
        return [x[s].copy() if _of_lanes(x) else x for x in self.arrays]

    def packed(self) -> list[Any]:
        return [(LaneVector if x.ndim == 2 else LaneTable).of(x) if _of_lanes(x) else x for x in self.arrays]


def _of_lanes(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == float and x.shape[:1] == (LANES,) and x.ndim > 1


def zeros(*shape: int) -> np.ndarray:
    return np.zeros((LANES, *shape))


def compare(kernel: Any, given: Numbers, outputs: list[int], tolerance: float = 1e-12) -> None:
    """The outputs of lanes are those of each system alone, to `tolerance` of the largest entry."""
    packed = given.packed()
    kernel(*packed)
    for s in range(LANES):
        alone = given.alone(s)
        kernel(*alone)
        for n in outputs:
            found, expected = packed[n].systems()[s], alone[n]
            assert np.isfinite(expected).all()
            assert np.abs(expected).max() > 0.0
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale, err_msg=f"{n} of {s}")


class Pack:
    """As many systems as there are lanes, of one shape: a random tree over all joints, in poses, masses and places of its own each."""

    def __init__(self) -> None:
        tree = systems.trees()["every joint"]
        rng = np.random.default_rng(5)
        model, work = tree.compiled.model, tables.new_work(tree.nb, tree.nv)
        self.tree, self.nb, self.nv = tree, tree.nb, tree.nv
        self.topology, self.above = model.topology.table, tree.compiled.above
        self.body = np.repeat(model.body.table[None], LANES, axis=0)
        parts, moves = rng.uniform(0.5, 2.0, (LANES, tree.nb, 1)), rng.normal(size=(LANES, tree.nb, 3))
        for body, part, move in zip(map(Rigids, self.body), parts, moves, strict=True):
            body.I.numbers[1:] *= part
            body.split.numbers[1:] = split_moments(body.I.I.numbers[1:])
            body.X_PJ.p.numbers[1:] += 0.1 * move
        self.body[:, 0, :3] = rng.normal(size=(LANES, 3))
        self.freedom = np.repeat(model.freedom.table[None], LANES, axis=0)
        self.freedom += rng.uniform(0.0, 0.1, self.freedom.shape)
        self.work = [np.repeat(x[None], LANES, axis=0) for x in work]
        self.q, self.v, self.a, self.x = systems.state(tree, 6, LANES)
        self.q[LANES // 2] = tree.neutral()  # where quaternions and charts turn to series

    @property
    def model(self) -> list[Any]:
        return [self.topology, self.body, self.freedom, *self.work, self.q, self.v]


@pytest.fixture(scope="module")
def pack() -> Pack:
    return Pack()


def test_forward_and_inverse_dynamics_and_poses_on_lanes_are_those_of_each_system(pack: Pack) -> None:
    n = pack.nv
    compare(dynamics, Numbers(*pack.model, pack.x, zeros(n), zeros(n), zeros(pack.nb + 1, 12)), [11, 12, 13])


def test_lanes_may_share_one_model(pack: Pack) -> None:
    n = pack.nv
    shared = [SharedTable(pack.body[0], 0), SharedTable(pack.freedom[0], 0)]
    states = Numbers(*pack.model[3:], pack.x, zeros(n), zeros(n), zeros(pack.nb + 1, 12)).packed()
    dynamics(pack.topology, *shared, *states)
    for s in range(LANES):
        alone = Numbers(*pack.model[3:], pack.x, zeros(n), zeros(n), zeros(pack.nb + 1, 12)).alone(s)
        dynamics(pack.topology, pack.body[0], pack.freedom[0], *alone)
        for k in (8, 9, 10):
            scale = max(1.0, np.abs(alone[k]).max())
            np.testing.assert_allclose(states[k].systems()[s], alone[k], rtol=0.0, atol=1e-12 * scale)


def test_mass_matrices_momenta_and_energies_on_lanes_are_those_of_each_system(pack: Pack) -> None:
    n = pack.nv
    tables = [pack.above, zeros(n, n), zeros(n, n), pack.x, zeros(6, n), zeros(3, n), zeros(8)]
    compare(mass, Numbers(*pack.model, *tables), [11, 12, 13, 14, 15, 16])


@pytest.mark.parametrize("reference", [0, 1, 2])
def test_coriolis_matrices_and_jacobians_on_lanes_are_those_of_each_system(pack: Pack, reference: int) -> None:
    n = pack.nv
    compare(rates, Numbers(*pack.model, zeros(n, n), zeros(6, n), zeros(6, n), reference), [10, 11, 12])


def test_verbs_of_every_joint_on_lanes_are_those_of_each_system(pack: Pack) -> None:
    n, nb = pack.nv, pack.nb
    xi = 1.5 * pack.a
    xi[2] = 0.0
    outputs = [zeros(nb + 1, 12), zeros(n, 6), zeros(6, 6 * (nb + 1)), zeros(nb + 1, 6), zeros(n, 6), zeros(n)]
    given = Numbers(pack.topology, pack.body, pack.q, pack.v, xi, *outputs, np.zeros_like(pack.q))
    assert {*Bodies(pack.topology).kind[1:].tolist()} == set(range(1, 10))
    compare(joints, given, [5, 6, 7, 8, 9, 10, 11])


def test_efforts_of_joints_on_lanes_are_those_of_each_system(pack: Pack) -> None:
    topology = pack.topology.copy()
    Bodies(topology).efforts[1:] = tables.FRICTIONAL
    freedom = pack.freedom + np.random.default_rng(7).uniform(0.5, 1.0, pack.freedom.shape)
    given = Numbers(topology, pack.body, freedom, pack.q, pack.v, zeros(pack.nv), zeros(1))
    compare(efforts, given, [5, 6])


def on_lanes(value: Any) -> Any:
    """Every vector and table of floats in a nest of named tuples, repeated in 8 lanes."""
    if isinstance(value, tuple):
        return type(value)(*map(on_lanes, value))
    if isinstance(value, np.ndarray) and value.dtype == float:
        return (LaneVector if value.ndim == 1 else LaneTable).of(np.repeat(value[None], LANES, axis=0))
    return value


@pytest.mark.parametrize(("name", "dynamics"), [("forest", "aba"), ("mimic", "crba")])
def test_motion_on_lanes_is_that_of_each_system(name: str, dynamics: Any) -> None:
    tree = systems.trees()[name]
    q, v, xi, u = systems.state(tree, 10, LANES)
    n, t = tree.nv, 0.25
    y, K, out, scales = (
        np.concatenate([0.3 * xi, v], axis=1),
        zeros(2, 2 * n),
        zeros(1, 1 + tree.nq + 2 * n),
        zeros(2 * n),
    )
    problem = build_problem(tree, q[0], dynamics)
    together = on_lanes(problem)._replace(base=LaneVector.of(q), u=LaneVector.of(u))
    packed = Numbers(y, K, out, scales).packed()
    motion(together, t, *packed)
    for s in range(LANES):
        alone = build_problem(tree, q[s], dynamics)._replace(u=u[s])
        arrays = Numbers(y, K, out, scales).alone(s)
        motion(alone, t, *arrays)
        pairs = [*zip(packed, arrays, strict=True), (together.base, alone.base)]
        for found, expected in pairs:
            atol = 1e-12 * max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found.systems()[s], expected, rtol=0.0, atol=atol)


def test_functions_on_lanes_are_those_of_each_scalar() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, LANES, ROWS)) * 10.0 ** -np.arange(ROWS)
    x[0], y[1] = 0.0, np.abs(y[1])
    x[2] = y[2]
    compare(functions, Numbers(x, y, zeros(ROWS, 8), zeros(ROWS, 4), zeros(3 * ROWS, 3)), [2, 3, 4])


def test_a_lane_that_is_not_a_number_does_not_disturb_the_others(pack: Pack) -> None:
    n = pack.nv

    def run(spoiled: bool) -> list[np.ndarray]:
        given = Numbers(*pack.model, pack.x, zeros(n), zeros(n), zeros(pack.nb + 1, 12))
        if spoiled:
            given.arrays[8][1], given.arrays[9][1], given.arrays[10][LANES - 2] = np.nan, np.inf, np.nan
        packed = given.packed()
        dynamics(*packed)
        return [packed[k].systems() for k in (11, 12, 13)]

    others = [s for s in range(LANES) if s not in (1, LANES - 2)]
    for sound, spoiled in zip(run(False), run(True), strict=True):
        np.testing.assert_array_equal(spoiled[others], sound[others])
        assert np.isnan(spoiled[1]).any()


def test_a_lane_that_is_not_a_number_stays_one_through_selections() -> None:
    x, y = np.full((LANES, ROWS), 0.7), np.full((LANES, ROWS), 0.3)
    x[-1] = np.nan
    packed = Numbers(x, y, zeros(ROWS, 8), zeros(ROWS, 4), zeros(3 * ROWS, 3)).packed()
    functions(*packed)
    for table in packed[3:]:
        assert np.isnan(table.systems()[-1]).any(axis=-1).all()
        assert np.isfinite(table.systems()[:-1]).all()


def test_tables_of_lanes_give_back_what_they_were_made_of() -> None:
    rng = np.random.default_rng(9)
    table, vector = rng.normal(size=(LANES, 5, 3)), rng.normal(size=(LANES, 7))
    np.testing.assert_array_equal(LaneTable.of(table).systems(), table)
    np.testing.assert_array_equal(LaneVector.of(vector).systems(), vector)
    np.testing.assert_array_equal(LaneTable.of(table[0]).systems(), np.repeat(table[:1], LANES, axis=0))


def test_functions_of_lanes_are_those_of_math_on_floats() -> None:
    assert lanes.zero(3.0) == 0.0
    for name in ("sin", "cos", "tanh"):
        assert getattr(lanes, name)(0.3) == pytest.approx(getattr(np, name)(0.3), rel=1e-15)
    assert lanes.sqrt(2.0) == np.sqrt(2.0)
    assert lanes.atan2(1.0, -2.0) == pytest.approx(np.arctan2(1.0, -2.0))
    assert (lanes.if_less(1.0, 2.0, 3.0, 4.0), lanes.if_less(2.0, 2.0, 3.0, 4.0)) == (3.0, 4.0)

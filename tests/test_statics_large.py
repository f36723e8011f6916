"""Sparse statics: nx.equilibrium and nx.linearize with `modes` equal the dense ones, and carry thousands of bodies."""

from __future__ import annotations

import json
import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.special import jn_zeros

import nexdyn as nx
from nexdyn.absolute.model.kkt import factor_kkt
from nexdyn.absolute.model.redundancy import find_redundancy
from nexdyn.assembly.loads import Loads
from nexdyn.cli import main
from nexdyn.statics.load_derivatives import LoadGraph
from nexdyn.statics.saddle_matrix import SaddleGraph

G = 9.81


def chain(
    n: int, angle: float = -math.pi / 2, stiffness: float = 0.0, damping: float = 0.0, gravity: float = G
) -> nx.System:  # fmt: skip
    """10 m of n thin rods, 1 kg/m, hung on one end, as a straight line at an angle from the horizontal."""
    system = nx.System("chain", gravity=(0, -gravity, 0))
    parent, l = system.ground, 10.0 / n
    along = np.array([math.cos(angle), math.sin(angle), 0.0])
    for i in range(n):
        rod = system.add_body(f"rod{i}", mass=l, inertia=(l**3 / 12,) * 3, position=(i + 0.5) * l * along)
        where = {"at": i * l * along, "axis": (0, 0, 1), "stiffness": stiffness, "damping": damping}
        system.add_joint(nx.Revolute(f"pin{i}", parent, rod, **where))
        parent = rod
    return system


def garland(n: int, span: float) -> nx.System:
    """n rods of 1 m between two pivots at one height, described as chevrons, closed by a last pin."""
    system = nx.System("garland", gravity=(0, -G, 0))
    parent, end = system.ground, np.zeros(3)
    for i in range(n):
        angle = -1.2 if i < n // 2 else 1.1
        way = np.array([math.cos(angle), math.sin(angle), 0.0])
        turned = (math.cos(angle / 2), 0, 0, math.sin(angle / 2))
        rod = system.add_body(
            f"rod{i}", mass=1.0, inertia=(1e-3, 1 / 12, 1 / 12), position=end + way / 2, orientation=turned
        )
        anchor = (0, 0, 0) if i == 0 else (0.5, 0, 0)
        system.add_joint(
            nx.Revolute(
                f"pin{i}", parent, rod, anchor_a=anchor, anchor_b=(-0.5, 0, 0), axis_a=(0, 0, 1), axis_b=(0, 0, 1)
            )
        )
        parent, end = rod, end + way
    z = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    system.add_joint(nx.Revolute("last", system.ground, parent, anchor_a=(span, 0, 0), anchor_b=(0.5, 0, 0), **z))
    return system


def hung_platform() -> nx.System:
    """A free body on springs with a ball joint, a bushing, a slide and a servo: forces of all shapes."""
    system = nx.System("platform", gravity=(0, 0, -G))
    base = system.add_body("base", mass=3.0, inertia=(0.3, 0.2, 0.25), position=(0, 0, 1.0))
    for k, (x, y) in enumerate(((1, 1), (-1, 1), (0, -1))):
        at = {"at_a": (x, y, 3.0), "at_b": (0.2 * x, 0.2 * y, 0)}
        system.add_force(
            nx.PointSpring(f"rope{k}", system.ground, base, stiffness=100.0 + 10 * k, damping=0.5, length=1.0, **at)
        )
    system.add_body("arm", mass=0.5, inertia=(0.02, 0.03, 0.02), position=(0, 0, 0.5))
    system.add_joint(nx.Spherical("ball", base, "arm", at=(0, 0, 0.9), damping=0.01, stiffness=0.5))
    system.add_body("slider", mass=0.2, inertia=(0.001,) * 3, position=(0.1, 0, 0.5))
    system.add_joint(nx.Prismatic("slide", "arm", "slider", at=(0.1, 0, 0.5), axis=(1, 0, 0)))
    system.add_force(nx.PositionActuator("servo", "slide", kp=30.0, kd=2.0, ki=15.0, target=0.05, time_constant=0.02))
    system.add_body("load", mass=0.1, inertia=(1e-4,) * 3, position=(0, 0, 1.2))
    stiff = {"stiffness": (300.0, 200.0, 250.0, 2.0, 3.0, 1.0), "damping": (1.0, 1.0, 1.0, 0.01, 0.01, 0.01)}
    system.add_force(nx.Bushing("mount", base, "load", at_a=(0, 0, 1.1), at_b=(0, 0, 1.1), **stiff))
    system.add_measure(nx.PointPosition("tip", "slider"))
    return system


def trolley() -> nx.System:
    """A crane whose trolley is driven."""
    system = nx.System("crane", gravity=(0, 0, -G))
    system.add_body("trolley", mass=5.0, inertia=(1, 1, 1))
    system.add_body("load", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -2.0))
    system.add_joint(nx.Prismatic("rail", system.ground, "trolley", at=(0, 0, 0), axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("rope", "trolley", "load", at=(0, 0, 0), axis=(0, 1, 0), damping=0.2))
    system.add_driver(nx.Driver("motor", "rail", 0.0))
    return system


def lowest(values: np.ndarray, count: int) -> np.ndarray:
    """Of pairs one, the lowest first."""
    upper = values[values.imag >= -1e-9]
    return np.sort_complex(np.abs(upper[np.argsort(np.abs(upper))][:count]))


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [-30.0, -3.0, 0.1, 8.0, 60.0])
def test_pivots_tell_the_negative_eigenvalues_on_the_constraints(shift: float) -> None:
    model = nx.assemble(garland(6, 4.0)).model
    report = nx.assemble(garland(6, 4.0))
    kept = find_redundancy(model, report.q).kept
    graph = SaddleGraph(model, kept, sp.csr_matrix((model.nb, model.nb), dtype=bool))
    random = np.random.default_rng(3)
    blocks = [x + x.T for x in random.standard_normal((model.nb, 6, 6)) * 5.0]
    A = sp.csr_matrix(sp.block_diag(blocks) + shift * sp.identity(model.nv))
    C = sp.csr_matrix(model.jacobian(report.q))[graph.rows]
    T = scipy.linalg.null_space(C.toarray())
    found = graph.factored(A, C)
    assert found.negative == int((np.linalg.eigvalsh(T.T @ A @ T) < 0.0).sum())
    b = random.standard_normal(model.nv)
    x, lam = found.solve(b)
    scale = max(1.0, np.abs(x).max()) * 50.0
    assert np.abs(A @ x + C.T @ lam - b).max() < 1e-10 * scale and np.abs(C @ x).max() < 1e-11 * scale


def test_bodies_moved_at_once_have_the_derivatives_of_bodies_moved_alone() -> None:
    system = hung_platform()
    report = nx.assemble(system)
    model, loads = report.model, Loads(report.model)
    state = list(range(len(loads.described)))[:2]
    still, z0 = np.zeros((model.nb + 1, 6)), loads.described.copy()
    found = LoadGraph(loads, state, [1.0] * len(state), 1.0).derivatives(report.q, still, 0.0, z0, 1.0)
    h = 1e-5
    for matrix, moved in (
        (found.Q_x, lambda e: (model.moved(report.q, e), still)),
        (found.Q_v, lambda e: (report.q, np.concatenate([np.zeros((1, 6)), e.reshape(-1, 6)]))),
    ):
        alone = np.array(
            [(loads(*moved(h * e), 0.0, z0) - loads(*moved(-h * e), 0.0, z0)) / (2 * h) for e in np.eye(model.nv)]
        ).T
        np.testing.assert_allclose(matrix.toarray(), alone, rtol=0, atol=3e-7 * np.abs(alone).max())
    for k, place in enumerate(state):
        step = np.eye(len(z0))[place] * h
        alone = (loads(report.q, still, 0.0, z0 + step) - loads(report.q, still, 0.0, z0 - step)) / (2 * h)
        np.testing.assert_allclose(found.Q_s.toarray()[:, k], alone, rtol=0, atol=1e-9 * max(1.0, np.abs(alone).max()))


# --- the same as with dense matrices ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "system",
    [chain(20, 0.3), chain(30, 1.2, stiffness=3.0), garland(8, 6.0), hung_platform(), trolley()],
    ids=["chain", "stiff chain", "garland", "platform", "crane"],
)
def test_a_sparse_equilibrium_is_the_dense_one(system: nx.System) -> None:
    dense, sparse = nx.equilibrium(system), nx.equilibrium(system, modes=4)
    assert (sparse.stability, sparse.dof) == (dense.stability, dense.dof)
    same = np.sign(np.sum(sparse.report.q[:, :4] * dense.report.q[:, :4], axis=1))  # q and −q are one turn
    np.testing.assert_allclose(same[:, None] * sparse.report.q[:, :4], dense.report.q[:, :4], rtol=0, atol=1e-7)
    np.testing.assert_allclose(sparse.report.q[:, 4:], dense.report.q[:, 4:], rtol=0, atol=1e-7)
    n = min(4, dense.dof)
    size = np.abs(dense.stiffness[:n]).max()
    np.testing.assert_allclose(sparse.stiffness, dense.stiffness[:n], rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(sparse.squares, dense.squares[:n], rtol=1e-6, atol=1e-7 * np.abs(dense.squares).max())
    for joint in system.joints:
        np.testing.assert_allclose(sparse.reaction(joint).force, dense.reaction(joint).force, rtol=0, atol=1e-6 * 100)


def test_unstable_and_follower_loads_are_told_sparsely_too() -> None:
    upright = nx.equilibrium(chain(5, math.pi / 2), modes=3)
    assert upright.stability == "unstable" and (upright.squares < 0.0).all()
    np.testing.assert_allclose(upright.squares, nx.equilibrium(chain(5, math.pi / 2)).squares[:3], rtol=1e-6)
    for force, expected in ((0.05, "stable"), (5.0, "unstable")):
        column = chain(3, math.pi / 2, stiffness=1.0, gravity=0.0)
        column.add_force(nx.AppliedForce("push", "rod2", (0, -force, 0), expressed_in="body", anchor=(0, 10 / 6, 0)))
        dense, sparse = nx.equilibrium(column, nearest=True), nx.equilibrium(column, nearest=True, modes=3)
        assert dense.stability == sparse.stability == expected
        np.testing.assert_allclose(np.sort_complex(sparse.squares), np.sort_complex(dense.squares), rtol=1e-6)


CASES = {
    "chain": (chain(12, stiffness=2.0, damping=0.01), ["pin0", "rod3.fx"], ["pin5", "pin5.rate"], 6),
    "garland": (garland(8, 6.0), ["pin0", "rod3.fy"], ["pin2"], 5),
    "platform": (
        hung_platform(),
        ["ball.wx", "arm.my", "slide"],
        ["base.px", "base.vx", "ball.rx", "servo.integral", "tip"],
        8,
    ),
    "crane": (trolley(), ["motor", "rope"], ["rope", "rope.rate", "rail"], 2),
}


@pytest.mark.parametrize("case", CASES)
def test_a_sparse_linearization_has_the_modes_and_the_response_of_the_dense_one(case: str) -> None:
    system, inputs, outputs, count = CASES[case]
    at = nx.equilibrium(system)
    dense = nx.linearize(system, at, inputs=inputs, outputs=outputs)
    sparse = nx.linearize(system, at, inputs=inputs, outputs=outputs, modes=count)
    expected = lowest(dense.eigenvalues, count)
    assert dense.outputs == sparse.outputs and len(sparse.modes) == count
    np.testing.assert_allclose(lowest(sparse.eigenvalues, count), expected, rtol=1e-9, atol=1e-6)
    frequencies = [0.1, 0.7, 3.0]
    response = dense.response(frequencies)
    np.testing.assert_allclose(sparse.response(frequencies), response, rtol=0, atol=1e-8 * np.abs(response).max())
    for mode in sparse.modes:
        mine = [other for other in dense.modes if abs(other.eigenvalue - mode.eigenvalue) < 1e-6]
        if len(mine) == 1 and abs(mode.eigenvalue) > 1e-3:
            full = np.array([[mode.shape[name], part] for name, part in mine[0].shape.items()])
            scale = (
                full[:, 0] @ full[:, 1].conj() / (full[:, 1] @ full[:, 1].conj())
            )  # dense shapes have fewer coordinates
            np.testing.assert_allclose(full[:, 0], scale * full[:, 1], atol=1e-6)


def test_rolling_wheels_at_rest_have_their_modes_sparsely() -> None:
    bicycle = nx.load("bicycle").with_parameters({"speed": 0.0})
    dense = nx.linearize(bicycle, ignore=True)
    sparse = nx.linearize(bicycle, modes=12)
    known = dense.eigenvalues[np.abs(dense.eigenvalues) > 1e-3]
    for value in known[known.imag >= 0.0]:  # 3.13, 5.53 and their opposites
        assert np.abs(sparse.eigenvalues - value).min() < 1e-7


def test_a_blade_that_turns_with_its_load_has_the_modes_of_the_dense_linearization() -> None:
    """What a knife edge exerts turns with its body, and has no potential: K is not symmetric."""
    system = nx.System("blade", gravity=(1.0, -2.0, -9.81))
    system.add_body("blade", mass=0.8, inertia=(0.03, 0.025, 0.02), com=(0.04, -0.03, 0.05))
    stiff, damp = (np.diag(x).tolist() for x in ([3.0, 2.5, 2.0, 30.0, 40.0, 50.0], [0.1, 0.1, 0.1, 1.0, 1.0, 1.0]))
    system.add_force(nx.Bushing("held", "ground", "blade", stiffness=stiff, damping=damp))
    system.add_joint(nx.KnifeEdge("edge", "ground", "blade", axis_b=(0.1, 1.0, 0.2), anchor_b=(-0.2, 0.1, 0.0)))
    rest = nx.equilibrium(system)
    dense = nx.linearize(system, rest).eigenvalues
    dense = dense[dense.imag >= 0.0]
    found = nx.linearize(system, rest, modes=5).eigenvalues
    assert np.abs(found[:, None] - dense).min(axis=1).max() < 1e-7 * np.abs(dense).max()


def test_a_driven_trolley_swings_as_in_closed_form() -> None:
    lin = nx.linearize(trolley(), inputs=["motor"], outputs=["rope"], modes=1)
    f = np.array([0.05, 0.3, 2.0])
    w = 2 * math.pi * f
    # (I + m l²) θ̈ + d θ̇ + m g l θ = m l u about +y, from the acceleration u of the trolley
    expected = 2.0 * 2.0 / (2.0 * G * 2.0 - (0.1 + 8.0) * w**2 + 0.2j * w)
    np.testing.assert_allclose(np.abs(lin.response(f)[:, 0, 0]), np.abs(expected), rtol=1e-9)


# --- thousands of bodies ------------------------------------------------------------------------------------------------


def test_two_thousand_rods_hang_and_swing_as_a_rope() -> None:
    """ω_k = ½ z_k √(g/L), z_k the zeros of J₀, but for the rods' size squared."""
    system = chain(2000, -0.9, stiffness=1e-3)
    found = nx.equilibrium(system)
    assert found.stability == "stable" and found.dof == 2000 and len(found.squares) == 12
    np.testing.assert_allclose(found.reaction("pin0").force, (0, 10 * G, 0), atol=1e-6)
    exact = 0.5 * jn_zeros(0, 6) * math.sqrt(G / 10.0)
    np.testing.assert_allclose(np.sqrt(found.squares[:6]), exact, rtol=5e-5)
    lin = nx.linearize(system, at=found, inputs=["rod1999.fx"], outputs=["pin0"], modes=6)
    np.testing.assert_allclose(lin.eigenvalues.imag, np.sqrt(found.squares[:6]), rtol=1e-6)
    assert lin.response(1e-4)[0, 0, 0] == pytest.approx(
        1.0 / (10.0 * G), rel=2e-2
    )  # the slope at the top for a force at the end
    played = lin.motion(1, periods=1, samples=6, amplitude=0.05)
    away = [played.joint_position(f"pin{k}").values - found.joint(f"pin{k}") for k in (0, 1000, 1999)]
    shown = float(np.abs(away).max())
    assert shown == pytest.approx(0.05, rel=1e-2)


def test_factors_of_a_large_system_take_memory_as_its_entries_are() -> None:
    """A row of 6,000 bodies, each joined to the next by three rows: as a full matrix 2.6 GB, once."""
    n = 6000
    A = sp.identity(6 * n, format="csr")
    ahead = np.arange(3 * (n - 1))
    columns = 6 * (ahead // 3) + ahead % 3
    Cq = sp.csr_matrix(
        (np.tile([1.0, -1.0], len(ahead)), (np.repeat(ahead, 2), np.column_stack([columns, columns + 6]).ravel())),
        shape=(len(ahead), 6 * n),
    )
    tracemalloc.start()
    factor_kkt(A, Cq)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6


# --- what cannot be -----------------------------------------------------------------------------------------------------


def test_full_matrices_of_a_large_system_are_refused_and_what_there_is_instead_is_said() -> None:
    with pytest.raises(nx.InputError, match=r"301 bodies are more than their 300; ask for the lowest modes, modes=10"):
        nx.linearize(chain(301))


def test_bad_requests_for_modes_are_named() -> None:
    system = chain(3)
    for bad in (0, -1, 2.5, True):
        with pytest.raises(nx.InputError, match="modes is"):
            nx.linearize(system, modes=bad)  # type: ignore[call-overload]
        with pytest.raises(nx.InputError, match="modes is"):
            nx.equilibrium(system, modes=bad)  # type: ignore[arg-type]
    with pytest.raises(nx.InputError, match="leave out ignore and frozen"):
        nx.linearize(system, modes=2, frozen=True)
    with pytest.raises(nx.InputError, match="moves, and modes are of a pose at rest"):
        nx.linearize(system, modes=2, v0={"pin0": 1.0})
    with pytest.raises(nx.InputError, match=r"no equilibrium: body 'rod\d' has an acceleration"):
        nx.linearize(chain(3, 0.2), modes=2)
    with pytest.raises(nx.InputError, match="did you mean"):
        nx.linearize(system, modes=2, inputs=["pin9"])
    with pytest.raises(nx.InputError, match="does not exist; there are 2"):
        nx.linearize(system, modes=2).motion(5)
    with pytest.raises(nx.InputError, match="frequencies in Hz"):
        nx.linearize(system, modes=2, inputs=["pin0"]).response([math.nan])


def test_a_large_system_that_nothing_holds_is_named() -> None:
    system = chain(120)
    system.add_body("lost", mass=1.0, inertia=(1, 1, 1), position=(3, 0, 0))
    with pytest.raises(nx.SolveError, match=r"no equilibrium: .*body 'lost'"):
        nx.equilibrium(system)


def test_the_command_line_tells_the_lowest_modes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "rope.yaml"
    nx.save_scene(chain(40, stiffness=0.1), scene)
    assert main(["linearize", str(scene), "--rest", "--modes", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["eigenvalues"]) == 3 and told["dof"] == 40
    exact = nx.linearize(chain(40, stiffness=0.1), modes=3).eigenvalues
    np.testing.assert_allclose([x[1] for x in told["eigenvalues"]], exact.imag, rtol=1e-9)


def test_modes_on_several_massless_bodies_are_right_or_the_bodies_are_named() -> None:
    system = nx.System("light")
    ends = ["ground", "m0", "m1", "tip"]
    for k, name in enumerate(ends[1:]):
        heavy = {"mass": 1.0, "inertia": (0.02, 0.03, 0.025)} if name == "tip" else {"mass": 0.0, "inertia": (0, 0, 0)}
        system.add_body(name, **heavy, position=(k + 0.5, 0, -0.2))  # type: ignore[arg-type]
        axis = (0, 0, 1) if k == 1 else (0, 1, 0)
        system.add_joint(nx.Revolute(f"j{k}", ends[k], name, at=(k, 0, 0), axis=axis, stiffness=50.0 * (k + 1)))
    rest = nx.equilibrium(system)
    with pytest.raises(nx.SolveError, match=r"do not converge; bodies without mass \(m0, m1\) carry others"):
        nx.linearize(system, rest, modes=1)

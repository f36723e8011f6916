"""Derivatives of forward and inverse dynamics, beside Pinocchio's.

One state in a compiled loop, and eight systems at once in lanes (time per system), beside Pinocchio's C++ headers compiled
on this machine with -O3 -march=native; and beside its Python face less the cost of a call, measured on a model without
joints. Both sides give ∂/∂q, ∂/∂v and M⁻¹ or M.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit

import nexdyn as nx
from benchmarks import pinocchio_cpp
from benchmarks.measure import Effort, Report, alternate, compared
from benchmarks.models import nexdyn_system, pinocchio_model, random_tree
from nexdyn.kernel import FLOATING_POINT
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector, SharedTable
from nexdyn.tree.core.aba import articulated_bodies
from nexdyn.tree.core.tables import TreeModel, new_work
from nexdyn.tree.derivatives.derivatives import inverse_derivatives
from nexdyn.tree.derivatives.entries import forward_derivatives, forward_derivatives_alone, padded
from nexdyn.tree.lanes.memory import aligned

AGREE = 1e-9
CASES = {"7-joint chain": (7, 1), "30-joint chain": (30, 1), "30-joint tree": (30, 4)}
Array = np.ndarray


class Alone(NamedTuple):
    """What a loop over one state works on."""

    model: Any
    above: Array
    ends: Array
    work: Any
    scratch: Any
    q: Array
    v: Array
    x: Array
    a: Array
    M: Array
    matrices: Array
    packs: Any
    columns: int
    dq: Array
    dv: Array


class Lanes(NamedTuple):
    """What a loop over eight systems works on."""

    model: Any
    above: Array
    ends: Array
    work: Any
    scratch: Any
    q: Any
    v: Any
    x: Any
    a: Any
    M: Any
    dq: Any
    dv: Any
    dx: Any
    matrices: Array


@njit(fastmath=FLOATING_POINT, error_model="numpy")
def aba_alone(repeat, g):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        articulated_bodies(g.model, g.q, g.v, g.x, None, g.work, g.a)
        forward_derivatives_alone(
            g.model, g.above, g.ends, g.q, g.v, g.a, g.work, g.scratch, g.M, g.matrices, g.packs, g.columns
        )


@njit(fastmath=FLOATING_POINT, error_model="numpy")
def aba_lanes(repeat, g):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        g.matrices[:] = 0.0
        articulated_bodies(g.model, g.q, g.v, g.x, None, g.work, g.a)
        forward_derivatives(g.model, g.above, g.ends, g.q, g.v, g.a, g.work, g.scratch, g.M, g.dq, g.dv, g.dx)


@njit(fastmath=FLOATING_POINT, error_model="numpy")
def rnea_alone(repeat, g):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        inverse_derivatives(g.model, g.above, g.q, g.v, g.x, g.work, g.scratch, g.dq, g.dv, g.M)


@njit(fastmath=FLOATING_POINT, error_model="numpy")
def rnea_lanes(repeat, g):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        inverse_derivatives(g.model, g.above, g.q, g.v, g.x, g.work, g.scratch, g.dq, g.dv, g.dx)


LOOPS = {"aba": (aba_alone, aba_lanes), "rnea": (rnea_alone, rnea_lanes)}


def run(effort: Effort) -> Report:
    report = Report(
        "derivatives", "derivatives of forward and inverse dynamics by q, v, and τ or a, one core, per system"
    )
    library, reason = pinocchio_cpp.load(build=not effort.smoke)
    if library is None:
        report.notes.append(f"No C++ rows: {reason}.")
    for what, (n, among) in CASES.items():
        model = random_tree(n, np.random.default_rng(7), among)
        for name in LOOPS:
            cpp = None if library is None else partial(pinocchio_cpp.derivatives, library, name, model)
            compare(report, f"a {what}", nx.Tree(nexdyn_system(model)), pinocchio_model(model), name, cpp, effort)
    humanoid = talos()
    for name in LOOPS if humanoid else ():
        compare(report, "a humanoid (Talos, 32 joints, base held)", *humanoid, name, None, effort)
    report.notes.append(
        f"Lanes: {LANES} systems at once, each with a state of its own. C++: Pinocchio's own headers with -O3 "
        f"-march=native. Python less call: from Python less the time of the same call on a model without joints."
    )
    return report


def talos() -> tuple[nx.Tree, Any] | tuple[()]:
    """Talos of example-robot-data here and in Pinocchio, its base held; () where there is none."""
    import pinocchio as pin

    files = importlib.metadata.files("example-robot-data") or []
    path = next((str(f.locate()) for f in files if f.name == "talos_reduced.urdf"), None)
    if path is None:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nx.NexDynWarning)
        tree = nx.Tree(nx.load(path))
    return tree, pin.buildModelFromUrdf(path)


def compare(report: Report, what: str, tree: nx.Tree, peer: Any, name: str, cpp: Any, effort: Effort) -> None:
    """Rows of one mechanism of one-freedom joints. cpp: Pinocchio's C++ at a state, where there is one."""
    import pinocchio as pin

    rng = np.random.default_rng(1)
    n = tree.nv
    q, v, x = rng.normal(size=(3, LANES, n))
    empty = pin.Model()
    data, empty_data, nothing = peer.createData(), empty.createData(), np.zeros(0)
    call = pin.computeABADerivatives if name == "aba" else pin.computeRNEADerivatives

    at = np.array(
        [peer.joints[peer.getJointId(joint)].idx_v for joint in tree.joint_names]
    )  # the order of joints there
    theirs = np.empty((3, LANES, n))
    theirs[..., at] = q, v, x

    def expected(s: int) -> list[Array]:
        call(peer, data, *theirs[:, s])
        found = [data.ddq_dq, data.ddq_dv, data.Minv] if name == "aba" else [data.dtau_dq, data.dtau_dv, data.M]
        found = [*found[:2], np.triu(found[2]) + np.triu(found[2], 1).T]
        return [matrix[np.ix_(at, at)] for matrix in found]

    alone, lanes = given_alone(tree, q[0], v[0], x[0]), given_lanes(tree, q, v, x)
    of_one, of_eight = LOOPS[name]
    of_one(1, alone)
    of_eight(1, lanes)
    w = padded(n)
    side_by_side = [alone.matrices[:, k * w :] for k in range(3)]
    agree("one state", side_by_side if name == "aba" else [alone.dq, alone.dv, alone.M], expected(0))
    for s in range(LANES):
        agree("lanes", [table.systems()[s] for table in (lanes.dq, lanes.dv, lanes.dx)], expected(s))

    q_0, v_0, x_0 = theirs[:, 0]

    def pin_from_python(repeat: int) -> None:
        for _ in range(repeat):
            call(peer, data, q_0, v_0, x_0)

    def pin_call_alone(repeat: int) -> None:
        for _ in range(repeat):
            call(empty, empty_data, nothing, nothing, nothing)

    rivals: dict[str, Callable[[int], Any]] = {
        "alone": lambda repeat: of_one(repeat, alone), "lanes": lambda repeat: of_eight(repeat, lanes),
        "pin": pin_from_python, "call": pin_call_alone,
    }  # fmt: skip
    if cpp is not None:
        work, out = cpp(q[0], v[0], x[0])
        work(1)
        found = [out[0].T, out[1].T, np.triu(out[2].T) + np.triu(out[2].T, 1).T]
        agree("Pinocchio's C++", found, expected(0))
        rivals["C++"] = work
    times = alternate(rivals, effort)
    times["lanes"] = [t / LANES for t in times["lanes"]]
    times["pin less its call"] = [t - c for t, c in zip(times["pin"], times["call"], strict=True)]
    for rival in ["C++", "pin less its call"][cpp is None :]:
        label = f"{name.upper()} of {what}"
        report.rows.append(compared(f"{label}, in lanes", "µs", 1e6, times, "lanes", rival, 3.0))
        report.rows.append(compared(f"{label}, one state", "µs", 1e6, times, "alone", rival, 1.0))


def given_alone(tree: nx.Tree, q: Array, v: Array, x: Array) -> Alone:
    d, n = tree.differentiator, tree.nv
    scratch, M, matrices, packs, columns = d.alone
    M[:] = 0.0  # left by another benchmark of the tree
    return Alone(
        tree.compiled.model, d.above, d.ends, new_work(tree.nb, n), scratch, q, v, x, np.zeros(n), M, matrices, packs, columns,
        np.zeros((n, n)), np.zeros((n, n)),
    )  # fmt: skip


def given_lanes(tree: nx.Tree, q: Array, v: Array, x: Array) -> Lanes:
    d, model = tree.differentiator, tree.compiled.model
    work, scratch, _, matrices = d.lanes
    matrices[:] = 0.0
    topology, body, freedom = model
    shared = TreeModel(topology, SharedTable(body, 0), SharedTable(freedom, 0))
    dq, dv, dx, M = (LaneTable(matrix, 0) for matrix in matrices)
    return Lanes(
        shared, d.above, d.ends, work, scratch, *(aligned(LaneVector.of(y)) for y in (q, v, x, np.zeros_like(x))), M, dq, dv, dx,
        matrices,
    )  # fmt: skip


def agree(what: str, found: list[Array], expected: list[Array]) -> None:
    """Rivals that do not agree are not compared."""
    for mine, theirs in zip(found, expected, strict=True):
        error = float(np.abs(mine[:, : len(theirs)] - theirs).max() / np.abs(theirs).max())
        if not error < AGREE:
            raise SystemExit(f"{what} differs from the peer by {error:.1e}; nothing was measured")

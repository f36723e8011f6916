"""The compiled problem of a tree in motion, and its names."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np

from nexdyn.joints.kinds import FREE, REGISTERED, REVERSED, SPHERICAL
from nexdyn.joints.verbs import turns
from nexdyn.tree.cfa.solve import tables_for
from nexdyn.tree.cfa.tables import ConstraintTables
from nexdyn.tree.core import tables
from nexdyn.tree.elements import tables_of
from nexdyn.tree.motion import CouplingTables, Factorisation, Run, TreeProblem
from nexdyn.tree.tree import Tree

ROUNDING = 1e-14
"""Part of a link's moments of inertia below which a pivot is what rounding left."""


def build_problem(
    tree: Tree, q: np.ndarray, dynamics: Literal["aba", "crba", "cfa"], with_forces: bool = True, counting: bool = False
) -> TreeProblem:
    """Tables and scratch of their own for the motion of `tree` from `q`; with the forces of its system, or without. counting: with the
    angles of torsion springs that are states."""
    c, coupling = tree.compiled, tree.coupling
    work = tables.new_work(len(c.model.topology) - 1, c.nv)
    joints = [
        (_code(tree, name), place.q.start, place.v.start, place.v.stop - place.v.start)
        for name, place in tree.coordinates.items()
    ]
    coupled = None
    if coupling is not None:
        coupled = CouplingTables(
            coupling.q_column, coupling.q_factor, coupling.q_offset, coupling.v_column, coupling.v_factor,
            np.zeros(c.nq), np.zeros(c.nv),
        )  # fmt: skip
    factorisation: Factorisation | ConstraintTables | None = None
    if dynamics == "cfa":
        factorisation = tables_for(tree)
    elif dynamics == "crba" or coupling is not None:
        M_tree = np.zeros((c.nv, c.nv))
        M = M_tree if coupling is None else np.zeros((tree.nv, tree.nv))
        above = c.above if coupling is None else np.arange(-1, tree.nv - 1)
        factorisation = Factorisation(above, M_tree, M, np.zeros(c.nv), np.zeros(c.nv))
    n = tree.nv
    return TreeProblem(
        model=c.model, work=work, joints=_rows(joints), runs=_rows(_runs(joints)), n=n, base=q.copy(),
        q=np.zeros(tree.nq), v=np.zeros(n), a=np.zeros(n), tau=np.zeros(c.nv), u=np.zeros(n), rate=np.zeros(n),
        forces=tables_of(tree.system, c, counting) if with_forces else None, coupling=coupled, factorisation=factorisation,
    )  # fmt: skip


def _rows(joints: list[tuple[int, int, int, int]]) -> np.ndarray:
    return np.array(joints, dtype=np.int64).reshape(-1, Run.columns)


def _runs(joints: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Neighbours without quaternions, whose coordinates lie side by side, as one."""
    runs: list[tuple[int, int, int, int]] = []
    for kind, q, v, freedoms in joints:
        before = runs[-1] if runs else (FREE, 0, 0, 0)
        if not {kind, before[0]} & {SPHERICAL, FREE} and (before[1] + before[3], before[2] + before[3]) == (q, v):
            runs[-1] = (*before[:3], before[3] + freedoms)
        else:
            runs.append((kind, q, v, freedoms))
    return runs


def _code(tree: Tree, joint: str) -> int:
    return type(tree.system.joints[joint]).code if joint in tree.system.joints else FREE


@functools.cache
def _turning() -> np.ndarray:
    """(6, kinds): whether degree of freedom m of a joint of a kind is an angle or a rotation."""
    in_python = getattr(turns, "py_func", turns)  # called here, a formula would be compiled by itself
    return np.array([[bool(in_python(kind, m)) for kind in range(REGISTERED + 1)] for m in range(6)])


def weak_freedom(problem: TreeProblem) -> tuple[int, float] | None:
    """The degree of freedom whose pivot in the last evaluation is no inertia, and that pivot; None where all are sound.

    A pivot must be above 0, and that of a turn above what rounding leaves of its link's moments of inertia about the
    joint: a thin rod on a ball joint has none about its own axis. Of several the outermost, which spoils the others.
    """
    if isinstance(problem.factorisation, ConstraintTables):
        return None  # bodies without inertia have been refused
    n, order = problem.n, np.arange(problem.n)
    least = np.zeros(n)
    if problem.factorisation is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            pivots = 1.0 / problem.work.freedom.r[:n]
    else:
        pivots = problem.factorisation.M.diagonal()[:n]
    if problem.coupling is None:
        topology, body = problem.model.topology, problem.model.body
        moments = body.I.I.numbers[:, [0, 3, 5]].sum(axis=1)  # xx, yy, zz
        arms = body.X_PJ.p.numbers  # a mass on the axis is beside it by their rounding
        moments = ROUNDING * (moments + ROUNDING * body.I.m * (arms * arms).sum(axis=1))
        for m in range(6):
            links = 1 + np.flatnonzero(topology.nv[1:] > m)
            freedoms = topology.iv[links] + m
            least[freedoms] = moments[links] * _turning()[m, topology.kind[links] % REVERSED]
            if problem.factorisation is None:
                order[freedoms] = 6 * links + m
    weak = np.flatnonzero(~(pivots > least))
    if not len(weak):
        return None
    j = int(weak[np.argmax(order[weak])])
    return j, float(pivots[j])


def freedom_name(tree: Tree, component: int) -> tuple[str, str, str]:
    """(text, joint, body) of a component of the state (ξ, v)."""
    j = component % max(tree.nv, 1)
    for name, place in tree.coordinates.items():
        if place.v.start <= j < place.v.stop:
            body = tree.carried_body(name).name
            return f" in joint {name!r} (body {body!r})", name, body
    return "", "", ""

"""The constraint force algorithm behind `Tree.cfa`: solvers, joints' wrenches by name, errors that say what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nexdyn.errors import InputError, SingularError, counted, is_one_of, unknown
from nexdyn.joints.kinds import REGISTERED
from nexdyn.tree.cfa.entries import constraint_force_algorithm
from nexdyn.tree.cfa.tables import ConstraintTables, constraint_tables

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree

Array = np.ndarray
Solver = Literal["serial", "odd-even", "parallel"]
SOLVERS = ("serial", "odd-even", "parallel")


class JointForces(Mapping[str, Array]):
    """Constraint wrench (…, 6), moment first, of each joint on its child, by the joint's name.

    At the joint's point in its parent-side frame [N m, N]. `array` (…, joints, 6) holds those of the moving joints in the
    order of `Tree.joint_names`. What a Fixed joint carries is found when it is asked for.
    """

    def __init__(self, tree: Tree, array: Array, motion: tuple[Array, Array, Array]) -> None:
        self.array = array
        self._tree, self._motion = tree, motion
        self._row, self._names = tree.link_of_joint, tree.arc_names
        self._fixed: dict[str, Array] | None = None

    def __getitem__(self, joint: str) -> Array:
        if joint in self._row:
            return self.array[..., self._row[joint], :]
        if joint not in self._names:
            raise unknown("joint", joint, self._names)
        if self._fixed is None:
            self._fixed = self._tree.joint_wrenches(*self._motion)
        return self._fixed[joint]

    def __contains__(self, joint: object) -> bool:
        return joint in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"JointForces of {counted(len(self), 'joint')}: {', '.join(self._names[:6])}{', …' if len(self) > 6 else ''}"


def tables_for(tree: Tree) -> ConstraintTables:
    """Fresh tables of the algorithm for a tree. InputError for mimic joints and couplings, and where no body has inertia."""
    if tree.coupling is not None:
        mimics = [f"joint {j.name!r} mimics another" for j in tree.system.joints.values() if j.mimic is not None]
        ties = [f"coupling {name!r} ties joints" for name in tree.system.couplings]
        raise InputError(
            f"{[*mimics, *ties][0]}: distant joints with one degree of freedom, which the constraint force algorithm does not take; "
            f"use dynamics 'aba'{', or load the robot with mimic=False' if mimics else ''}"
        )
    _refuse_oblique(tree)
    return constraint_tables(tree.compiled.model, tree.link_names)


def solve(
    tree: Tree, q: Any, v: Any, tau: Any, solver: str, threads: int | None, refinements: int
) -> tuple[Array, JointForces]:
    """See `Tree.cfa`."""
    if not is_one_of(solver, SOLVERS):
        raise unknown("solver", solver, SOLVERS)
    if not isinstance(refinements, int) or refinements < 0:
        raise InputError(f"refinements is {refinements!r}; a whole number, 0 or more, is needed")
    given = tree.constraint_tables
    shape, (q, v, tau) = tree.batch(("q", q, tree.nq), ("v", v, tree.nv), ("tau", tau, tree.nv))
    a, wrench = np.empty((len(q), tree.nv)), np.empty((len(q), tree.nb, 6))
    if solver == "serial":
        bad, link = constraint_force_algorithm(tree.address, given, q, v, tau, refinements, a, wrench)
    else:
        from nexdyn.tree.cfa.threads import by_rounds

        count = threads if solver == "parallel" else 1
        bad, link = by_rounds(tree, given, q, v, tau, refinements, a, wrench, count)
    if bad >= 0:
        refuse(tree, q[bad], link)
    a = a.reshape(*shape, tree.nv)
    motion = (q.reshape(*shape, tree.nq), v.reshape(*shape, tree.nv), a)
    return a, JointForces(tree, wrench.reshape(*shape, tree.nb, 6), motion)


def refuse(tree: Tree, q: Array, link: int, *, time: float | None = None, result: Any = None) -> None:
    """Raise the error of a state without a solution: at the link whose block of A has lost its sign, or 0 where the numbers
    are not finite."""
    if link == 0:
        raise SingularError("the accelerations are not finite; check velocities and efforts")
    if tree.constraint_tables.lends[0]:
        raise SingularError(
            "the constraint force algorithm does not find how bodies without inertia move here; use dynamics 'aba', or give them mass and "
            "inertia",
            time=time, result=result,
        )  # fmt: skip
    from nexdyn.tree.cfa.text import condition_number

    joint = tree.compiled.forest.arcs[tree.compiled.arc_of_link[link]].name
    condition = condition_number(tree, q)
    told = f"is {condition:.1e}" if condition < 1e300 else "is beyond 1e16"
    raise SingularError(
        f"the matrix A of the constraint forces is no longer positive definite at joint {joint!r}: its condition number "
        f"{told}, too much for double precision; use dynamics 'aba'",
        time=time, where=joint, result=result,
    )  # fmt: skip


def _refuse_oblique(tree: Tree) -> None:
    """InputError for a joint whose columns of H are not at right angles, as the algorithm takes them to be: a registered one, or one that
    turns and slides and is described to the ground."""
    for arc in tree.compiled.forest.arcs:
        joint: Any = arc.joint
        if (
            joint is not None
            and joint.is_turned
            and not joint.about_z
            and len({way for way, *_ in joint.directions}) > 1
        ):
            raise InputError(
                f"{joint} is {joint.kind} and described to the ground, so that its columns of H are not at right angles, which the "
                f"constraint force algorithm does not support; make the ground its parent, or take dynamics 'aba'"
            )
        if joint is not None and joint.code == REGISTERED and not joint.functions().square:
            raise InputError(
                f"{joint}, {joint.kind}, is a registered joint whose columns of H are not at right angles, which the constraint force "
                f"algorithm does not support; take dynamics 'aba'"
            )

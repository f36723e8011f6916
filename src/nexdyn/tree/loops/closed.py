"""`nx.ClosedTree`: a mechanism with loops in minimal coordinates, its spanning tree closed by the joints that were cut."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.constraint_rows import Row
from nexdyn.errors import InputError, SolveError, counted, unknown
from nexdyn.joints.kinds import FREE
from nexdyn.joints.verbs import turns
from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.model.topology import Forest, open_forest
from nexdyn.tree.core import tables
from nexdyn.tree.core.tables import Dofs
from nexdyn.tree.loops.loops import POSITIONS, VELOCITIES
from nexdyn.tree.loops.motion import closed_dynamics, correction
from nexdyn.tree.loops.observe import cut_reactions
from nexdyn.tree.loops.tables import loop_tables, uncuttable
from nexdyn.tree.regular import weak_joints
from nexdyn.tree.states import unit_quaternions, vector
from nexdyn.tree.tree import Tree

_turns = getattr(turns, "py_func", turns)  # called here, a formula would be compiled by itself
Array = np.ndarray
MOST_CHOICES = 64
"""Spanning trees that are looked at to find one whose cut joints can be cut."""
CLOSED = 1e-10
"""A pose with residuals below this, in units of the mechanism's size, is closed."""
MAX_ITERATIONS = 50
LARGEST_STEP = 0.5
"""Most that a coordinate changes in one iteration, in rad and in parts of the mechanism's size."""
FOLLOWED = 0.1
"""Most by which a coordinate that is asked for moves from one pose to the next."""
NOTHING = 1e-20
"""Square of a row, beside the largest, that is rounding."""
RIGID, BORROWED = 1e12, 1e-4
"""Armature of a joint that is locked, and of one that borrows it, over the largest inertia of the mechanism."""


class Closure(NamedTuple):
    """Acceleration a (nv,), and the multipliers λ (m,) of the rows of the joints that were cut."""

    a: Array
    lam: Array


class ClosedTree(metaclass=CheckedCalls):
    """A system with loops in minimal coordinates: M a + h + Cqᵀλ = τ, Cq a = γ on a spanning tree.

    cut: names of the joints to cut open; by default a spanning tree is chosen breadth first from the ground, and joints
    that are constraints only are always cut. `cut_joints` says which they are; `tree` is the open tree, whose order of
    coordinates holds here too. Couplings, mimic joints and drivers are rows beside those of the cut joints: `rows`.

    The multipliers of rows that depend on earlier ones (higher priority first) are 0. Raises InputError for a choice of cuts that
    leaves a loop closed or opens none, and for a cut joint with armature.
    """

    def __init__(
        self,
        system: System,
        cut: Sequence[str] | None = None,
        *,
        drivers: bool = True,
    ) -> None:
        self.system = system
        self._forest = _forest(system, cut)
        self.tree = Tree(system, self._forest, coupled=False)
        self.cut_joints = [joint.name for joint in self._forest.cuts]
        self._drivers = drivers
        self._take_rows((), (), 0)

    def without(self, dropped: Collection[str], silent: Collection[str] = (), spare: int = 0) -> ClosedTree:
        """The same tree without the rows `dropped`, with those of `silent` 0, and `spare` of the rest redundant."""
        other = copy(self)
        other._take_rows(dropped, silent, spare)
        return other

    def _take_rows(self, dropped: Collection[str], silent: Collection[str], spare: int) -> None:
        self.dropped = tuple(dropped)
        """Rows that are left out, as "hinge.DX"."""
        self.compiled_rows = loop_tables(
            self.system, self.tree.compiled, self.cut_joints, self._drivers, self.dropped, silent, spare
        )
        self.rows: list[Row] = self.compiled_rows.rows
        c = self.tree.compiled
        self._model, self._work = c.model, tables.new_work(len(c.model.topology) - 1, c.nv)
        self._loops = self.compiled_rows.tables
        self.borrowing = weak_joints(self.system, self._forest) if self.rows else []
        """Joints that move no inertia in the open tree, and borrow some."""
        if self.borrowing:
            self._model, b = self._with_armature(self.borrowing, BORROWED, self._moved_with)
            self._loops = self._loops._replace(lent=np.column_stack([b, np.zeros(c.nv)]))
            self.compiled_rows = self.compiled_rows._replace(tables=self._loops)
        self._scratch = np.zeros(c.nv)
        self._last: Array | None = None

    def __repr__(self) -> str:
        cut = ", ".join(self.cut_joints) or "none"
        return f"ClosedTree({self.system.name!r}: nv = {self.nv}, {counted(len(self.rows), 'row')}, cut: {cut})"

    @property
    def nq(self) -> int:
        """Number of coordinates of the open tree."""
        return self.tree.nq

    @property
    def nv(self) -> int:
        """Number of velocities of the open tree."""
        return self.tree.nv

    def residual(self, q: Any, t: float = 0.0) -> Array:
        """C(q, t) (m,) of the rows of the cut joints, in m and rad."""
        q = self._one("q", q, self.nq)
        self._correct(self._model, t, q, np.zeros(self.nv), POSITIONS)
        return self._row_values(POSITIONS)

    def jacobian(self, q: Any, t: float = 0.0) -> Array:
        """Cq (m, nv)."""
        q = self._one("q", q, self.nq)
        columns = np.zeros((len(self.rows), self.nv))
        v = np.zeros(self.nv)
        self._correct(self._model, t, q, v, VELOCITIES)
        still = self._row_values(VELOCITIES)
        for j in range(self.nv):
            v[:] = 0.0
            v[j] = 1.0
            self._correct(self._model, t, q, v, VELOCITIES)
            columns[:, j] = self._row_values(VELOCITIES) - still
        return columns

    def dynamics(
        self, q: Any, v: Any, tau: Any, t: float = 0.0, alpha: float = 0.0, beta: float | None = None
    ) -> Closure:
        """a and λ at q, v under the efforts tau, gravity and nothing else.

        alpha, beta [1/s]: of Baumgarte's stabilisation C̈ + 2 α Ċ + β² C = 0, β = α where it is not given.
        """
        q, v, tau = self._one("q", q, self.nq), self._one("v", v, self.nv), self._one("tau", tau, self.nv)
        self._loops.damping[:2] = alpha, alpha if beta is None else beta
        a = np.zeros(self.nv)
        closed_dynamics(self._model, self._work, self._loops, t, q, v, tau, None, a)
        if not np.isfinite(a).all():
            raise InputError(f"the accelerations of {self.system.name!r} are not finite; check masses and inertias")
        return Closure(a, self._loops.mu.copy())

    def close(self, q: Any = None, lock: Sequence[str] = (), t: float = 0.0) -> Array:
        """A closed pose (nq,) on the branch of the last one.

        q: an array (nq,), from which the nearest closed pose is sought (as the kinetic energy of the move measures it); or
        {joint: coordinate(s)} that are asked for: those joints are led there from the last closed pose (the described one
        at first) a little at a time, the others follow. None: the last pose, closed at time t.
        lock: joints that keep their coordinates; by default those that a mapping names.

        SolveError where no step closes it, with the row that stays open.
        """
        if q is not None and not isinstance(q, Mapping):
            self._last = self._closed(self._one("q", q, self.nq), lock, t)
            return self._last.copy()
        start = self._closed(self.tree.described(), (), t) if self._last is None else self._last
        if q is None:
            self._last = self._closed(start, lock, t)
            return self._last.copy()
        lock = (*q, *((lock,) if isinstance(lock, str) else lock)) if lock else tuple(q)
        goal = unit_quaternions(self.tree, vector(self.tree, q, "q", start))
        towards, steps = self._led(start, goal)
        start = np.where(self._numbers, start, goal)  # rotations at once
        for _ in range(steps):
            start = self._closed(start + np.where(self._numbers, towards / steps, 0.0), lock, t)
        self._last = start
        return start.copy()

    def _closed(self, q: Array, lock: Sequence[str], t: float) -> Array:
        model = self._model if not lock else self._locked(lock)
        still, units = np.zeros(self.nv), self._loops.units
        for _ in range(MAX_ITERATIONS):
            self._correct(model, t, q, still, POSITIONS)
            C = np.abs(self._row_values(POSITIONS) * units)
            if C.max(initial=0.0) < CLOSED:
                return q
            step = -self._loops.change
            largest = float(np.abs(step * self._loops.speed_units).max(initial=0.0))
            if not np.isfinite(largest) or largest < 1e-14:
                break
            q = self.tree.integrate(q, step * min(1.0, LARGEST_STEP / largest))
        C = np.abs(self.residual(q, t) * units)
        worst = self.rows[int(C.argmax())]
        locked = f" with {', '.join(map(repr, (lock,) if isinstance(lock, str) else lock))} locked" if lock else ""
        kind, name = worst.owner
        raise SolveError(
            f"{kind} {name!r} stays open by {C.max():.3g} in {worst.equation}{locked}; lock fewer joints, start nearer to "
            f"the closed pose, or check lengths with nx.assemble",
            where=name,
        )

    def consistent_velocity(self, q: Any, v: Any, lock: Sequence[str] = (), t: float = 0.0) -> Array:
        """The velocity (nv,) nearest to v that the loops allow; joints that are locked keep theirs."""
        q, v = self._one("q", q, self.nq), self._one("v", v, self.nv)
        model = self._model if not lock else self._locked(lock)
        self._correct(model, t, q, v, VELOCITIES)
        return v - self._loops.change

    def joint_wrench(self, joint: str, q: Any, lam: Any, t: float = 0.0) -> Array:
        """(moment, force) (6,) of a cut joint on its child, at its point in the parent-side frame, for multipliers lam (m,)."""
        if joint not in self.cut_joints:
            raise InputError(f"joint {joint!r} is not cut; cut are {', '.join(self.cut_joints) or 'none'}")
        q, lam = self._one("q", q, self.nq), self._one("lam", lam, len(self.rows))
        self._correct(self._model, t, q, np.zeros(self.nv), POSITIONS)  # which leaves the poses behind
        k = list(self.system.joints).index(joint)
        own = np.array(
            [0 if row.joint == joint and row.owner[0] == "joint" and row.coupling is None else -1 for row in self.rows]
        )
        out = np.zeros((1, 6))
        cut_reactions(self._work, self._loops, np.array([k]), own, self.compiled_rows.child_first, t, lam, out)
        return out[0]

    # --- inside -----------------------------------------------------------------------------------------------------

    def _correct(self, model: Any, t: float, q: Array, v: Array, row: int) -> None:
        correction(model, self._work, self._loops, t, q, v, np.zeros(self.nv), self._scratch, row)

    def _one(self, what: str, x: Any, n: int) -> Array:
        out = np.ascontiguousarray(x, dtype=float)
        if out.shape != (n,):
            raise InputError(f"{what} has shape {out.shape}; ({n},) is needed")
        if not np.isfinite(out).all():
            raise InputError(f"{what} is {out}; it must be finite")
        return out

    @property
    def model(self) -> Any:
        """The tables of the tree, with the inertia that some joints borrow."""
        return self._model

    def _locked(self, lock: Sequence[str]) -> Any:
        """The tables with the degrees of freedom of some joints as good as rigid."""
        return self._with_armature((lock,) if isinstance(lock, str) else lock, RIGID, lambda _: self._largest)[0]

    @property
    def _largest(self) -> float:
        """The largest inertia of the system."""
        I = self._model.body.I
        mass = I.m[1:].max(initial=0.0)
        return float(np.abs(I.I.numbers[1:]).max(initial=0.0) + mass * self._size**2)

    def _moved_with(self, name: str) -> float:
        """The least inertia, about its farthest joint, of the bodies with some that lie next to the body a joint carries, or beyond bodies
        without; of others where there is none."""
        inertia, joined = self._inertia_about_farthest
        near = {self.tree.carried_body(name).name}
        found, left = [], near
        while left:
            found += [inertia[body] for body in left if inertia[body] > 0.0]
            left = {other for body in left if not inertia[body] > 0.0 for other in joined[body]} - near
            near |= left
        return min(found, default=self._largest)

    @cached_property
    def _inertia_about_farthest(self) -> tuple[dict[str, float], dict[str, set[str]]]:
        """Of each body its largest inertia about the farthest of its joints, and the bodies that joints connect with it."""
        system = self.system
        given = {name: body.resolved(system.values) for name, body in system.bodies.items()}
        arms, joined = dict.fromkeys(given, 0.0), {name: set[str]() for name in given}
        for joint in system.joints.values():
            frames, ends = joint.frames(system.values), (joint.parent.name, joint.child.name)
            for body, other, p in zip(ends, ends[::-1], (frames.p_AJ, frames.p_BJ), strict=True):
                if body in given:
                    arms[body] = max(arms[body], float(np.linalg.norm(p - given[body].com)))
                    joined[body] |= {other} & given.keys()
        return {
            name: float(np.abs(body.inertia).max()) + body.mass * arms[name] ** 2 for name, body in given.items()
        }, joined

    def _with_armature(
        self, joints: Sequence[str], part: float, inertia_of: Callable[[str], float]
    ) -> tuple[Any, Array]:
        """The tables with as much armature in the degrees of freedom of some joints, as a part of an inertia; and what each has more."""
        model = self._model
        freedom = Dofs(model.freedom.table.copy())
        units = self._loops.speed_units
        for name in joints:
            if name not in self.tree.coordinates:
                raise unknown("moving joint of the tree", name, self.tree.joint_names)
            at = self.tree.coordinates[name].v
            freedom.armature[at] = part * inertia_of(name) * units[at] ** 2
        return model._replace(freedom=freedom.table), freedom.armature - model.freedom.armature

    def _row_values(self, which: int) -> Array:
        row_of = self._loops.row_of
        return np.asarray(self._loops.of_rows[row_of.group, which, row_of.lane]).copy()

    def _led(self, q: Array, goal: Array) -> tuple[Array, int]:
        """What is missing from q to the goal, and in how many steps it is led there."""
        far = np.where(self._numbers, np.abs(goal - q) / self.sizes, 0.0)
        return goal - q, max(1, int(np.ceil(far.max(initial=0.0) / FOLLOWED)))

    def moving_rows(self, q: Array, t: float = 0.0) -> list[str]:
        """The rows that some motion of the tree changes at q: the others are fulfilled by the tree's own joints."""
        self._correct(self._model, t, q, np.zeros(self.nv), VELOCITIES)
        loops = self._loops
        size = np.zeros(len(self.rows))
        for r, (g, lane) in enumerate(loops.row_of.table.tolist()):
            group = loops.groups[g]
            for n in range(group.first_link, group.first_link + group.links):
                link = loops.path[n]
                size[r] += float((loops.s[link.place : link.place + link.nv, 0, lane] ** 2).sum())
        return [str(self.rows[r]) for r in np.flatnonzero(size > NOTHING * size.max(initial=0.0))]

    @cached_property
    def _size(self) -> float:
        """The length of the mechanism [m]: the longest way from one joint of the tree to the next."""
        points = self._model.body.X_PJ.p.numbers[1:]
        return float(np.linalg.norm(points, axis=1).max(initial=0.0)) or 1.0

    @cached_property
    def sizes(self) -> Array:
        """Beside what a change of each coordinate counts, (nq,): 1 for angles and quaternions, the mechanism's size [m]."""
        size, found = self._size, np.ones(self.nq)
        for name, place in self.tree.coordinates.items():
            code = type(self.system.joints[name]).code if name in self.system.joints else FREE
            first = place.q.start + (place.q.stop - place.q.start) - (place.v.stop - place.v.start)
            for m, k in enumerate(range(first, place.q.stop)):
                found[k] = 1.0 if _turns(code, m) else size
        return found

    @cached_property
    def _numbers(self) -> Array:
        """Which coordinates are numbers of their own, not parts of a pose with a quaternion, (nq,)."""
        found = np.ones(self.nq, dtype=bool)
        for place in self.tree.coordinates.values():
            found[place.q] = place.q.stop - place.q.start == place.v.stop - place.v.start
        return found


def _forest(system: System, cut: Sequence[str] | None) -> Forest:
    """The spanning forest; chosen so that, where it can be, joints that must not be cut are not, and each degree of freedom of the tree
    moves inertia."""
    forest = open_forest(system, cut)
    if cut is not None:
        return forest
    tried: set[frozenset[str]] = set()
    waiting, whole = [forest], None
    while waiting and len(tried) < MOST_CHOICES:
        choice = waiting.pop(0)
        cuts = [joint.name for joint in choice.cuts]
        wrong, weak = uncuttable(system, cuts), set(weak_joints(system, choice))
        if not wrong:
            whole = whole or choice
            if not weak:
                return choice
        names = frozenset(cuts)
        tried.add(names)
        carrier = {arc.child.name: arc.joint for arc in choice.arcs}
        loops = {name: _loop(system.joint(name), carrier) for name in cuts if system.joint(name).tree}
        exchanges = [(wrong[0], other) for other in loops.get(wrong[0], [])] if wrong else []
        for name, loop in loops.items():
            if not weak.isdisjoint(loop):
                exchanges += [(name, other) for other in sorted(loop, key=lambda other: other not in weak)]
        for name, other in exchanges:
            exchanged = (names - {name}) | {other}
            if exchanged not in tried:
                with suppress(InputError):  # where parent and child allow no such tree
                    waiting.append(open_forest(system, sorted(name for name in exchanged if system.joint(name).tree)))
    return whole or forest


def cut_advice(system: System, cut: Sequence[str]) -> str:
    """What to do where the tree that is left without the joints `cut` has a degree of freedom without inertia."""
    if not cut:
        return ""
    usual = _forest(system, None)
    others = tuple(joint.name for joint in usual.cuts)
    serves = set(others) != set(cut) and not weak_joints(system, usual)
    told = (
        f"cut others, like nx.Loops(cut={others!r})"
        if serves
        else "use nx.HHT() or nx.Projection(dt), which cut nothing"
    )
    return f"; the loops are cut open at {', '.join(cut)}: {told}"


def _loop(joint: Joint, carrier: Mapping[str, Joint | None]) -> list[str]:
    """The joints of the tree in the loop that a joint which was cut closes."""
    paths: list[list[str]] = []
    for body in (joint.parent.name, joint.child.name):
        path: list[str] = []
        while (above := carrier.get(body)) is not None:
            path.append(above.name)
            body = above.carrier.name
        paths.append(path)
    return [name for name in paths[0] + paths[1] if (name in paths[0]) != (name in paths[1])]


def spanning_tree(system: System, cut: Sequence[str]) -> Tree:
    """The open tree that is left of `system` without the joints `cut`."""
    return Tree(system, open_forest(system, cut), coupled=False)

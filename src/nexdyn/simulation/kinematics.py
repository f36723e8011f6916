"""`nx.kinematics`: a mechanism whose drivers leave it no freedom, over time, without integrating.

    C(q, t) = 0,   Cq v = ν,   Cq a = γ          Cq square and regular: q, v and a follow from the time alone
    M a + h + Cqᵀ λ = τ                          inverse dynamics: the effort of a driver is −λ of its row

Each pose is sought from the one before, led along its velocity in steps so small that it stays on its branch.

States of forces do not move the mechanism: the motion comes first, with as many poses between as let a cubic follow it, then
the states along it, then reactions and efforts with these.

Turns of torsion springs across balls and floating bodies are counted from pose to pose, θ near the one before and h θ̇, in steps
in which they are known: the spring, its ends and what drivers say turn by less than a quarter of a turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nexdyn.assembly.assemble import assemble, mechanism_length
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.force_states import states_along, turning_forces
from nexdyn.constraints.tables import LEFT
from nexdyn.errors import InputError, SolveError, counted
from nexdyn.forces.tables import ForceEntries
from nexdyn.integrate.fixed import first_not_finite, sample
from nexdyn.integrate.methods import Loops
from nexdyn.integrate.problem import FORCE_FAILED, NOT_FINITE, OK
from nexdyn.model.callbacks import failure
from nexdyn.model.driver import Driver, OrientationDriver, PointDriver
from nexdyn.model.joint import is_angle
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.simulation.marches.bodies import refuse_velocity_rows
from nexdyn.simulation.marches.loops import ClosedSystem, closed_system
from nexdyn.simulation.orientations import impossible_orientation
from nexdyn.simulation.problem import weak_freedom
from nexdyn.tree.loops.motion import lead
from nexdyn.tree.wound import angles_along, wound_across

LED = 0.2
"""Most that an angle [rad], or a length in parts of the mechanism's size, changes from one pose to the next."""
SPUN = 1.0
"""Most that a torsion spring across a ball, its ends against each other, and what drivers say turn [rad] from one pose to the next."""
LOOKS = 5
"""At how many times of a step it is looked at what drivers say."""
HALVINGS = 24
"""How often a step is halved before the mechanism counts as locked."""
FOLLOWED, NOTHING = 1e-8, 1e-12
"""What a cubic through the poses may miss of a coordinate half-way, in parts of its way between them, and as it is."""
PARTINGS = 12
"""How often the time between two poses is halved for that."""
_not_finite = getattr(first_not_finite, "py_func", first_not_finite)


@small_on_one_thread
def kinematics(system: System, output_times: Any, *, loops: Loops | None = None) -> Result:
    """The motion of a fully driven mechanism at `output_times` [s]: positions, velocities, accelerations and, by inverse dynamics,
    reactions and `result.effort(driver)`, what each driver takes.

    output_times: increasing; the mechanism is assembled at the first of them, near the reference configuration, and states of forces
        (integrals, lags, samples, bristles) are integrated from there, from their initial values. loops: which joints are cut
        (`cut` alone counts).

    Raises InputError for a mechanism that is not fully driven, with the motions that remain, for one that is over-driven, with
    the drivers or joints that conflict, for a nonholonomic joint, whose pose depends on the way there, and for events, which happen in
    runs alone; SolveError with the time where it locks, or where turns of a torsion spring cannot be counted.
    """
    at = _times(output_times)
    if system.events:
        event = next(iter(system.events.values()))
        raise InputError(
            f"{event} of system {system.name!r} happens in runs alone: nx.kinematics goes from time to time and looks for no "
            f"events; leave events out, or integrate it with nx.simulate"
        )
    report = assemble(system, t=float(at[0]))
    found = report.redundancy
    if found.dof > 0:
        free = "; ".join(str(motion) for motion in found.motions[:5]) or counted(found.dof, "degree of freedom")
        raise InputError(
            f"system {system.name!r} is not fully driven: {counted(found.dof, 'motion')} "
            f"remain{'s' if found.dof == 1 else ''} ({free}); add a driver for each, or integrate it with nx.simulate"
        )
    refuse_velocity_rows(
        report.model, "nx.kinematics", "its pose depends on the way there; integrate it with nx.simulate"
    )
    cut = loops.cut if loops is not None else None
    return _Led(system, closed_system(system, Loops(cut=cut), report, None, None)).result(at)


class _Pose(NamedTuple):
    """Where a mechanism stands: the chart's base, y = (ξ, v, z) and ẏ, what angles are near, and their rates."""

    t: float
    base: np.ndarray
    y: np.ndarray
    K: np.ndarray
    near: np.ndarray
    spun: np.ndarray


class _Moved(NamedTuple):
    """Time, coordinates and velocities, with those of joints that were cut."""

    t: float
    q: np.ndarray
    v: np.ndarray


class _Led:
    """A mechanism led from pose to pose."""

    def __init__(self, system: System, closed: ClosedSystem) -> None:
        self.system, self.closed, self.tree = system, closed, closed.closed.tree
        self.problem = closed.problem(1, counting=True)
        forces = self.problem.tree.forces
        n, nz = self.tree.nv, 0 if forces is None else len(forces.z)
        self.n, self.nz = n, nz
        self.t, q, v = closed.start
        self.wound = wound_across(system, self.tree.compiled.forest)
        size = 2 * n + nz + len(self.wound)
        self.angles = slice(2 * n + nz, size)
        """Where in y the angles of the springs are that no coordinate counts."""
        self.y, self.K = np.zeros(size), np.zeros((1, size))
        self.y[n : 2 * n] = v
        self.y[self.angles] = angles_along(self.tree, q[None])[0]
        self.row = np.zeros((1, 1 + self.tree.nq + size + closed.extra))
        self.sizes = closed.closed.sizes
        self.said = _said(system, mechanism_length(closed.model)) if self.wound else []
        if nz:
            self.y[2 * n : 2 * n + nz] = forces.z
            entries = ForceEntries(forces.index)
            moved = (entries.states > 0) & ~turning_forces(system)
            self.columns = entries.coordinate[moved], entries.dof[moved]

    def result(self, times: np.ndarray) -> Result:
        if self.nz:
            rows = self._rows_with_states(times)
        else:
            self._sample(first=True)
            rows = [self.row.copy()]
            for t in times[1:].tolist():
                self._to(t, HALVINGS)
                self._sample()
                rows.append(self.row.copy())
        out = np.concatenate(rows)
        t, q, v, a, extra = np.split(out, np.cumsum([1, self.tree.nq, self.n, self.n]), axis=1)
        recording = self.closed.recording(
            t[:, 0].copy(), q.copy(), v.copy(), a.copy(), extra,
            winding=len(self.wound), method="kinematics", steps=len(times), settings={"driven": True},
        )  # fmt: skip
        return Result(self.system, recording, tree=self.tree)

    def _rows_with_states(self, times: np.ndarray) -> list[np.ndarray]:
        """The motion, the states along it, and the rows at `times` with both."""
        forces = self.problem.tree.forces
        z = forces.z.copy()
        self._check(lead(self.problem, self.t, 0.0, 1, self.y, self.K), first=True)
        motion, poses, at = [self._moved()], [self._pose()], [0]
        for t in times[1:].tolist():
            self._follow(t, motion, PARTINGS)
            poses.append(self._pose())
            at.append(len(motion) - 1)
        t, q, v = (np.array(x) for x in zip(*motion, strict=True))
        states = states_along(self.system, forces._replace(z=z), t, q, v)
        rows = []
        for pose, own in zip(poses, states[at], strict=True):
            self._stand(pose)
            self.y[2 * self.n : 2 * self.n + self.nz] = own
            self._sample()
            rows.append(self.row.copy())
        return rows

    def _follow(self, t: float, motion: list[_Moved], partings: int) -> None:
        """On to time t, by poses through which a cubic follows the coordinates of forces with states."""
        start, first = self._pose(), motion[-1]
        self._to(0.5 * (self.t + t), HALVINGS)
        half = self._moved()
        self._to(t, HALVINGS)
        last = self._moved()
        c, j = self.columns
        way, h = last.q[c] - first.q[c], last.t - first.t
        cubic = 0.5 * (first.q[c] + last.q[c]) + 0.125 * h * (first.v[j] - last.v[j])
        allowed = FOLLOWED * (np.abs(way) + h * (np.abs(first.v[j]) + np.abs(last.v[j]))) + NOTHING
        if not partings or bool((np.abs(cubic - half.q[c]) <= allowed).all()):
            motion += [half, last]
            return
        self._stand(start)
        self._follow(half.t, motion, partings - 1)
        self._follow(t, motion, partings - 1)

    def _pose(self) -> _Pose:
        loops = self.problem.loops
        return _Pose(self.t, *(x.copy() for x in (self.problem.tree.base, self.y, self.K, loops.near, loops.spun)))

    def _stand(self, pose: _Pose) -> None:
        """Back to a pose."""
        self.t = pose.t
        loops = self.problem.loops
        self.problem.tree.base[:], loops.near[:], loops.spun[:] = pose.base, pose.near, pose.spun
        self.y[:], self.K[:] = pose.y, pose.K

    def _moved(self) -> _Moved:
        return _Moved(self.t, self.problem.tree.q.copy(), self.problem.tree.v.copy())

    def _to(self, t: float, halvings: int) -> None:
        """On to time t, at once or by way of the time half-way."""
        start = self._pose()
        self.y[self.angles] += (t - self.t) * self.K[0, self.angles]
        status = lead(self.problem, self.t, t - self.t, 1, self.y, self.K)
        if status >= FORCE_FAILED:
            force = list(self.system.forces.values())[status - FORCE_FAILED]
            raise failure(force, t, force.callbacks())
        moved = np.abs(self.problem.tree.base - start.base) / self.sizes
        uncounted = ""
        if status == OK and _not_finite(self.K[0], 2 * self.n) < 0 and moved.max(initial=0.0) <= LED:
            uncounted = self._uncounted(start, t, look=halvings > 0)
            if not uncounted:
                self.t = t
                return
        self.closed.raise_failure(t, None)
        if not halvings and uncounted:
            a, b = self.system.forces[uncounted].frames(self.system)
            raise SolveError(
                f"turns of torsion spring {uncounted!r} cannot be counted at t = {self.t:g} s, however short the steps: there x of its "
                f"second frame, on {b.body!r}, comes along z of its first, on {a.body!r}, and the angle between them jumps",
                time=self.t, where=uncounted,
            )  # fmt: skip
        if not halvings and status == LEFT:
            joint, what = self.closed.left_end()
            raise SolveError(f"joint {joint!r} {what}, at t = {t:g} s", time=t, where=joint)
        if not halvings:
            message, joint = self.closed.open_row(t, 0.0)
            if wrong := impossible_orientation(self.closed.system, t, t - self.t):
                raise SolveError(wrong, time=self.t)
            raise SolveError(
                f"the mechanism locks at t = {self.t:g} s: {message.split(';')[0]}; a driver asks for more than the joints "
                f"allow, or passes a dead centre",
                time=self.t,
                where=joint,
            )
        self._stand(start)
        half = 0.5 * (self.t + t)
        self._to(half, halvings - 1)
        self._to(t, halvings - 1)

    def _uncounted(self, start: _Pose, t: float, look: bool) -> str:
        """The torsion spring whose turns from a pose to the present one, at time t, are not known; "" where all are. look: also at what
        drivers say, which may leave out a turn at once in the shortest step, as an angle within ±π does."""
        if not self.wound:
            return ""
        h = t - start.t
        way = self.y[self.angles] - start.y[self.angles]
        rates = np.array([start.K[0, self.angles], self.K[0, self.angles]])
        told = (np.abs(h * rates) <= SPUN).all(axis=0) & (np.abs(way - h * rates.mean(axis=0)) <= SPUN)
        jumps = look and any(said(start.t, t) > SPUN for said in self.said)
        nq = self.tree.nq
        poses = [(start.base[:nq], start.y), (self.problem.tree.base[:nq], self.y)]
        for name, known in zip(self.wound, told.tolist(), strict=True):
            a, b = (frame.body for frame in self.system.forces[name].frames(self.system))
            for q, y in poses:
                w_a, w_b = (
                    np.zeros(3)
                    if body == "ground"
                    else self.tree.velocity(q, y[self.n : 2 * self.n], f"body:{body}")[0]
                    for body in (a, b)
                )
                known = known and h * float(np.linalg.norm(w_b - w_a)) <= SPUN
            if jumps or not known:
                return name
        return ""

    def _sample(self, first: bool = False) -> None:
        status, _ = sample(self.problem, self.t, self.y, self.K, self.n, self.row)
        self._check(status, first)

    def _check(self, status: int, first: bool = False) -> None:
        """The error of a pose whose accelerations fail, if they do."""
        if first and status in (OK, NOT_FINITE):
            weak = weak_freedom(self.problem.tree)
            if weak is not None:
                self.tree.refuse_singular(*weak)
        if status >= FORCE_FAILED:
            force = list(self.system.forces.values())[status - FORCE_FAILED]
            raise failure(force, self.t, force.callbacks())
        if status != OK:
            self.closed.raise_failure(self.t, None)
            raise SolveError(
                f"the accelerations are not finite at t = {self.t:g} s; the mechanism locks there", time=self.t
            )


def _said(system: System, length: float) -> list[Callable[[float, float], float]]:
    """Of each driver how far what it says goes between two times, in radians, or in parts of a length."""

    def way(driver: Driver) -> Callable[[float, float], float]:
        functions = driver.functions(system.values)
        unit, whole = 1.0, isinstance(driver, OrientationDriver) and driver.given == "quaternion"
        if isinstance(driver, PointDriver):
            unit = length
        elif not isinstance(driver, OrientationDriver):
            joint = system.joint(driver.joint)
            unit = 1.0 if is_angle(joint.coordinates[driver.freedom]) else length

        def between(t0: float, t1: float) -> float:
            x = np.array([[f.value(t) for f in functions] for t in np.linspace(t0, t1, LOOKS).tolist()], dtype=float)
            if whole:
                x *= 2.0 / np.linalg.norm(x, axis=1, keepdims=True)
            return float(np.abs(np.diff(x, axis=0)).sum()) / unit

        return between

    return [way(driver) for driver in system.drivers.values()]


def _times(times: Any) -> np.ndarray:
    try:
        at = np.atleast_1d(np.asarray(times, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"output_times is {times!r}; times in seconds are needed") from None
    if at.ndim != 1 or not at.size or not np.isfinite(at).all() or not (np.diff(at) > 0.0).all():
        raise InputError(f"output_times is {times!r}; finite times that increase are needed")
    return at

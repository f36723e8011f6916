"""What analyses say that compute no motion of their own, as laws that runs in minimal coordinates bear out.

    equilibrium           a run that starts where the system rests has no acceleration, and the reactions of rest
    linearize             a small force f t on the hand moves what is measured by  y = C x,  ẋ = A x + B f t
    linearize, sparse     the lowest eigenvalues are among those of A
    inverse dynamics      a motion under the system's own forces takes no other effort, and has the reactions of the run
    kinematics            a mechanism that drivers lead moves as in a run: all that a run tells, with the efforts of its drivers
    sensitivity           derivatives of a run by the attribute (by gravity, where it is no number) are differences of two runs over h,
                          of measures, of energies and of reactions

Each law returns the part of what there is by which it is missed. Runs obey every attribute, as the other cells show, so an analysis that
ignores one misses.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.linalg
from matrix_observed import Observed, everything, observed, part, reported
from matrix_skeleton import HAND

import nexdyn as nx
from nexdyn.errors import AssemblyError, InputError, NexDynError, SolveError
from nexdyn.results.quantities import ENERGIES
from nexdyn.studies.outputs import scalar, series, with_values

PUSH, SECONDS = (0.018, 0.015, 0.012), 0.1
"""How fast a push of the hand grows from 0 [N/s], and how long a motion lasts [s]."""
LED = 0.03
"""How long a mechanism is led [s]."""
FRAMES = {
    "first": ("hand", (0.3, 0.1, 0.0)),
    "second": ("hand", (0.0, 0.2, 0.3)),
    "third": ("hand", (0.1, -0.2, 0.2)),
    "fourth": ("arm", (0.1, 0.2, 0.1)),
    "fifth": ("arm", (0.0, -0.1, 0.3)),
    "sixth": ("end", (0.2, 0.0, 0.1)),
    "seventh": ("end", (-0.1, 0.2, 0.0)),
}
"""Points that drivers lead: enough to hold the hand, and an arm that hangs in a ball."""
LEAST = 1e-3
"""Below this a group has no size of its own, in SI units."""
RK4 = nx.RungeKutta4(1e-3)
AROUND = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}
"""Weights of a derivative of fourth order."""


class Probe:
    """A system with a push of its hand, and what several laws ask of it. by: what to differentiate by, the first that may be changed."""

    def __init__(self, make: Callable[[], nx.System], by: tuple[str, ...] = ("gravity[2]",)) -> None:
        self.make, self.by = make, by

    def fresh(self) -> nx.System:
        """The system anew."""
        system = self.make()
        system.add_force(nx.AppliedForce("push", "hand", force=[f"={x}*t" for x in PUSH]))
        system.add_measure(nx.PointPosition("seen", "hand"))
        return system

    @functools.cached_property
    def system(self) -> nx.System:
        return self.fresh()

    @functools.cached_property
    def held(self) -> nx.System:
        """The system with a soft bushing between hand and ground, so that it has somewhere to rest."""
        system = self.fresh()
        stiff, damp = (np.diag(x).tolist() for x in ([3.0, 2.5, 2.0, 30.0, 40.0, 50.0], [0.1, 0.1, 0.1, 1.0, 1.0, 1.0]))
        support = nx.Bushing("held", "ground", "hand", at_a=HAND, at_b=HAND, stiffness=stiff, damping=damp)
        system.add_force(support)
        return system

    @functools.cached_property
    def rest(self) -> nx.Equilibrium:
        return nx.equilibrium(self.held)

    @functools.cached_property
    def linear(self) -> nx.Linearization:
        inputs = ["hand.fx", "hand.fy", "hand.fz"]
        return nx.linearize(self.held, self.rest, inputs=inputs, outputs=list(self.held.measures))


def started(system: nx.System, **options: object) -> Observed:
    """All groups at the start of a run."""
    return observed(nx.simulate(system, 1e-4, nx.RungeKutta4(1e-4), **options), 0)


def apart(found: Observed, wanted: Observed) -> float:
    """By which part of its size the worst group of `found` misses what is wanted of it."""
    return max(
        float(np.linalg.norm(x - wanted[group]) / max(np.linalg.norm(wanted[group]), LEAST)) / part(group)
        for group, x in found.items()
    )


def along(result: nx.Result, rows: Sequence[int]) -> Observed:
    """All groups at some samples, one after another."""
    return {group: values[list(rows)].ravel() for group, values in everything(result).items()}


def measured(result: nx.Result, row: int = -1) -> np.ndarray:
    """All measures at one sample."""
    return np.concatenate([result.measure(name).values[row].ravel() for name in result.system.measures])


# --- at rest --------------------------------------------------------------------------------------------------------


def rest_stays(probe: Probe) -> float:
    """Acceleration at rest, as a part of that where the system is described; or by what the run misses the reactions of rest."""
    report = probe.rest.report
    at_rest, moving = started(probe.held, initial=report), started(probe.held)
    left = np.linalg.norm(at_rest["acceleration"]) / np.linalg.norm(moving["acceleration"])
    told = {group: x for group, x in reported(report).items() if group not in ("velocity", "acceleration")}
    return max(float(left), apart(told, at_rest))


def push_answers(probe: Probe) -> float:
    """Of what the push does, the part that the linearization about rest misses; in a shorter time where it is much, as forces that change
    with the time by themselves move the hand away from rest. What A or B misses does not go with the time."""
    return min(missed_until(1e-3, (pushed_for(part * SECONDS, probe) for part in (1.0, 0.4, 0.16))))


def missed_until(enough: float, missed: Iterator[float]) -> Iterator[float]:
    for x in missed:
        yield x
        if x < enough:
            return


def pushed_for(seconds: float, probe: Probe) -> float:
    lin = probe.linear
    n = len(lin.A)
    whole = np.zeros((n + 2, n + 2))  # of x, t and 1
    whole[:n, :n], whole[:n, n], whole[n, n + 1] = lin.A, lin.B @ PUSH, 1.0
    said = lin.C @ scipy.linalg.expm(seconds * whole)[:n, n + 1]
    pushed = measured(nx.simulate(probe.held, seconds, RK4, initial=probe.rest.report))
    idle = probe.held.with_parameters({"push.force": (0.0, 0.0, 0.0)})
    moved = pushed - measured(nx.simulate(idle, seconds, RK4, initial=nx.equilibrium(idle).report))
    return float(np.linalg.norm(said - moved) / np.linalg.norm(moved))


def lowest_are_eigenvalues(probe: Probe) -> float:
    """How far the eigenvalues of sparse matrices are from those of the dense ones, as a part of the largest of them, beyond the error that
    the dense ones tell."""
    held = sum(
        len(force.states(probe.held.values)) for force in probe.held.forces.values()
    )  # what sticks has eigenvalues of 0
    some, dense = nx.linearize(probe.held, probe.rest, modes=4 + held).eigenvalues, probe.linear
    told = dense.error if dense.error < 1e-3 * np.abs(dense.A).max() else 0.0  # no licence to say nothing
    off = float(np.abs(some[:, None] - dense.eigenvalues).min(axis=1).max())
    return max(0.0, off - told) / float(np.abs(some).max())


# --- efforts --------------------------------------------------------------------------------------------------------


def motion_takes_no_effort(probe: Probe) -> float:
    """Largest effort that a motion takes besides the forces that made it, as a part of the largest reaction; or what it misses of the
    run itself."""
    result = nx.simulate(probe.system, SECONDS, RK4)
    reactions = max(np.abs(result.reaction(joint).values).max() for joint in probe.system.joints)
    found = efforts(probe.system, result)
    return max(
        float(np.abs(found.tau).max() / reactions),
        apart(*(along(one, (0, len(result.t) // 2, -1)) for one in (found.motion, result))),
    )


def efforts(system: nx.System, result: nx.Result) -> nx.Efforts:
    """What the motion takes; with loops of the first joints that can give it."""
    refused: Exception | None = None
    joints = [name for name, joint in system.joints.items() if joint.nv]
    for count in (0, 1, 2, 3):
        for actuators in itertools.combinations(joints, count):
            try:
                return nx.inverse_dynamics(system, result, actuators=actuators)
            except (InputError, SolveError) as error:
                refused = error
    assert refused is not None
    raise refused


def led_as_it_runs(probe: Probe) -> float:
    """Of all that is told of a led mechanism, the part by which a run differs."""
    system = led(probe)
    rows = range(0, round(LED / RK4.dt) + 1, 10)
    told = nx.kinematics(system, np.array(rows) * RK4.dt)
    return apart(along(told, range(len(rows))), along(nx.simulate(system, LED, RK4), rows))


def led(probe: Probe) -> nx.System:
    """The system with drivers of coordinates and points, from how it starts, until nothing moves by itself."""
    chosen: list[Lead] = []

    def moved_by(drivers: list[Lead]) -> nx.System:
        system = probe.fresh()
        for frame, (body, place) in FRAMES.items():
            if body not in system.bodies:
                continue
            system.add_marker(frame, body, position=place)
            system.add_measure(nx.PointPosition(f"of {frame}", frame))
            system.add_measure(nx.PointVelocity(f"rate of {frame}", frame))
        for driver in drivers:
            system.add_driver(driver())
        return system

    dof = nx.assemble(moved_by([])).redundancy.dof
    for _ in range(2):  # anew behind the first: a tree with a driver starts as loops do, where anchors do not meet
        for candidate in candidates(moved_by(chosen)):
            if dof == 0:
                break
            left = remaining(moved_by, [*chosen, candidate], dof)
            if left < dof:
                chosen.append(candidate)
                dof = left
                if len(chosen) == 1:
                    break
    return moved_by(chosen)


def remaining(moved_by: Callable[[list[Lead]], nx.System], leads: list[Lead], dof: int) -> int:
    """The degrees of freedom that drivers leave, of as many as there are without the last one."""
    names = [lead().name for lead in leads]
    if len(set(names)) < len(names):
        return dof
    try:
        report = nx.assemble(moved_by(leads))
        efforts = report.efforts()
        return int(report.redundancy.dof) if max(abs(efforts[name]) for name in names) < LARGE else dof
    except AssemblyError:  # it is led already
        return dof
    except InputError as error:
        if "over-driven" in str(error):
            return dof
        raise


def candidates(system: nx.System) -> Iterator[Lead]:
    """Drivers of joints' coordinates and of points of the hand along the parabolas on which the system starts."""
    step = 1e-4
    at = nx.simulate(system, step, nx.RungeKutta4(step))
    for name, joint in system.joints.items():
        if joint.nv and joint.nq == joint.nv:
            q, v = (x(name).values.reshape(len(at.t), -1) for x in (at.joint_position, at.joint_velocity))
            for m in range(joint.nv):
                law = parabola(q[0, m], v[0, m], (v[1, m] - v[0, m]) / step)
                yield lambda name=name, m=m, law=law: nx.Driver(f"lead {name} {m}", name, law, freedom=m)
    for frame in (frame for frame in FRAMES if frame in system.markers):
        p, v = at.measure(f"of {frame}").values, at.measure(f"rate of {frame}").values
        for i, axis in enumerate("xyz"):
            law = parabola(p[0, i], v[0, i], (v[1, i] - v[0, i]) / step)
            yield lambda frame=frame, axis=axis, law=law: nx.PointDriver(f"lead {frame} {axis}", frame, axis, law)


ROUNDED = 1e-15
LARGE = 50.0
"""Next to singular poses drivers that lead take more than this [N, N m]."""
Lead = Callable[[], Any]
"""Makes a driver."""


def parabola(x: float, v: float, a: float) -> str:
    return f"={x!s}+({v!s})*t+({0.5 * a!s})*t**2"


# --- derivatives ----------------------------------------------------------------------------------------------------


def attribute_counts(probe: Probe) -> float:
    """Of the derivative of the measures at the last time, the part that runs with other values deny."""
    by = next((path for path in probe.by if may_change(probe.system, path)), probe.by[-1])
    value = scalar(probe.system, by)
    said = nx.sensitivity(probe.system, SECONDS, by, method=RK4)
    asked = texts(said.result)
    last = said.of(asked["measures"][0]).time.values[-1]
    h = 2e-4 * (abs(value) or 1.0)

    def end(k: int) -> Observed:
        result = nx.simulate(with_values(probe.system, {by: value + k * h}), SECONDS, RK4, output_times=[last])
        row = int(np.searchsorted(result.recording.t, last))
        return {group: np.array([series(result, x).values[row] for x in names]) for group, names in asked.items()}

    ends = {k: end(k) for k in AROUND}
    missed = []
    for group, names in asked.items():
        derivatives = [said.of(text) for text in names]
        found, error = (np.concatenate(x) for x in zip(*((x.values[-1], x.error) for x in derivatives), strict=True))
        wanted = sum(weight * ends[k][group] for k, weight in AROUND.items()) / h
        size = max(float(np.linalg.norm(wanted)), 1e-9)
        # where forces have knees; no licence to say nothing
        error = error if np.linalg.norm(error) < 0.25 * size else 0.0 * error
        error = error + ROUNDED * np.abs(ends[1][group]) / h  # what rounding makes of wanted
        missed.append(float(np.linalg.norm(np.maximum(np.abs(found - wanted) - error, 0.0)) / size / part(group)))
    return max(missed)


def may_change(system: nx.System, path: str) -> bool:
    """Whether it is a number of which some more and some less is described too: a part of a unit quaternion, or a moment of a thin body,
    is not."""
    try:
        value = scalar(system, path)
        for more in (-0.005, 0.005):
            nx.assemble(with_values(system, {path: value + more * (abs(value) or 1.0)}))
    except NexDynError:
        return False
    return True


def texts(result: nx.Result) -> dict[str, list[str]]:
    """What sensitivities are asked for, by group: the measures' components, the energies and the reactions."""
    system, measures = result.system, []
    for name, measure in system.measures.items():
        measures += [f"{name}.{axis}" for axis in measure.axes] or [name]
    reactions = [f"reaction.{joint}.{x}" for joint in system.joints for x in ("fx", "fy", "fz", "mx", "my", "mz")]
    return {"measures": measures, "energies": list(ENERGIES), "reactions": reactions}

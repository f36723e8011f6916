"""What analyses say that compute no motion of their own, as laws that runs in minimal coordinates bear out.

    equilibrium           a run that starts where the system rests has no acceleration
    linearize             a small force f t on the hand moves what is measured by  y = C x,  ẋ = A x + B f t
    linearize, sparse     the lowest eigenvalues are among those of A
    inverse dynamics      a motion under the system's own forces takes no other effort
    kinematics            a mechanism that drivers lead moves as in a run, and its drivers take the efforts of that run
    sensitivity           derivatives of a run by the attribute (by gravity, where it is no number) are differences of two runs over h

Each law returns the part of what there is by which it is missed. Runs obey every attribute, as the other cells show, so an analysis that
ignores one misses.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.linalg
from matrix_skeleton import HAND

import nexdyn as nx
from nexdyn.errors import AssemblyError, InputError, SolveError, UnknownNameError
from nexdyn.studies.outputs import scalar, with_values

PUSH, SECONDS = (0.018, 0.015, 0.012), 0.1
"""How fast a push of the hand grows from 0 [N/s], and how long a motion lasts [s]."""
LED = 0.03
"""How long a mechanism is led [s]."""
RK4 = nx.RungeKutta4(1e-3)
AROUND = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}
"""Weights of a derivative of fourth order."""


class Probe:
    """A system with a push of its hand, and what several laws ask of it. by: what to differentiate by, the first that is a number."""

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


def first_accelerations(system: nx.System, **options: object) -> np.ndarray:
    """Of all bodies (6 nb,), with a metre for a radian."""
    result = nx.simulate(system, 1e-4, nx.RungeKutta4(1e-4), **options)
    rates = [getattr(result, x)(b).values[0] for x in ("acceleration", "angular_acceleration") for b in system.bodies]
    return np.concatenate(rates)


def measured(result: nx.Result, row: int = -1) -> np.ndarray:
    """All measures at one sample."""
    return np.concatenate([result.measure(name).values[row].ravel() for name in result.system.measures])


# --- at rest --------------------------------------------------------------------------------------------------------


def rest_stays(probe: Probe) -> float:
    """Acceleration at rest, as a part of that where the system is described."""
    at_rest = first_accelerations(probe.held, initial=probe.rest.report)
    return float(np.linalg.norm(at_rest) / np.linalg.norm(first_accelerations(probe.held)))


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
    """How far the eigenvalues of sparse matrices are from those of the dense ones, as a part of the largest of them."""
    some = nx.linearize(probe.held, probe.rest, modes=4).eigenvalues
    return float(np.abs(some[:, None] - probe.linear.eigenvalues).min(axis=1).max() / np.abs(some).max())


# --- efforts --------------------------------------------------------------------------------------------------------


def motion_takes_no_effort(probe: Probe) -> float:
    """Largest effort that a motion takes besides the forces that made it, as a part of the largest reaction."""
    result = nx.simulate(probe.system, SECONDS, RK4)
    reactions = max(np.abs(result.reaction(joint).values).max() for joint in probe.system.joints)
    return float(np.abs(efforts(probe.system, result).tau).max() / reactions)


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
    """Of accelerations, measures and the drivers' efforts in a led mechanism, the part by which a run differs."""
    system = led(probe)
    result = nx.simulate(system, LED, RK4)
    told = nx.kinematics(system, result.t[::10])
    missed = []
    for what, names in (
        ("acceleration", system.bodies),
        ("angular_acceleration", system.bodies),
        ("measure", system.measures),
        ("effort", system.drivers),
    ):
        run = np.concatenate([getattr(result, what)(name).values[::10].ravel() for name in names])
        other = np.concatenate([getattr(told, what)(name).values.ravel() for name in names])
        missed.append(np.linalg.norm(other - run) / np.linalg.norm(run))
    return float(max(missed))


def led(probe: Probe) -> nx.System:
    """The system with drivers of coordinates and points, from how it starts, until nothing moves by itself."""
    chosen: list[Callable[[], Any]] = []

    def moved_by(drivers: list[Callable[[], Any]]) -> nx.System:
        system = probe.fresh()
        for frame in ("first", "second"):
            system.add_marker(frame, "hand", position=(0.3, 0.1, 0.0) if frame == "first" else (0.0, 0.2, 0.3))
            system.add_measure(nx.PointPosition(f"of {frame}", frame))
            system.add_measure(nx.PointVelocity(f"rate of {frame}", frame))
        for driver in drivers:
            system.add_driver(driver())
        return system

    system = moved_by(chosen)
    dof = nx.assemble(system).redundancy.dof
    for candidate in candidates(system):
        if dof == 0:
            break
        try:
            left = nx.assemble(moved_by([*chosen, candidate])).redundancy.dof
        except AssemblyError:  # it is led already
            continue
        if left < dof:
            dof = left
            chosen.append(candidate)
    return moved_by(chosen)


def candidates(system: nx.System) -> Iterator[Callable[[], Any]]:
    """Drivers of joints' coordinates and of points of the hand along the parabolas on which the system starts."""
    step = 1e-4
    at = nx.simulate(system, step, nx.RungeKutta4(step))
    for name, joint in system.joints.items():
        if joint.nv and joint.nq == joint.nv:
            q, v = (x(name).values.reshape(len(at.t), -1) for x in (at.joint_position, at.joint_velocity))
            for m in range(joint.nv):
                law = parabola(q[0, m], v[0, m], (v[1, m] - v[0, m]) / step)
                yield lambda name=name, m=m, law=law: nx.Driver(f"lead {name} {m}", name, law, freedom=m)
    for frame in ("first", "second"):
        p, v = at.measure(f"of {frame}").values, at.measure(f"rate of {frame}").values
        for i, axis in enumerate("xyz"):
            law = parabola(p[0, i], v[0, i], (v[1, i] - v[0, i]) / step)
            yield lambda frame=frame, axis=axis, law=law: nx.PointDriver(f"lead {frame} {axis}", frame, axis, law)


def parabola(x: float, v: float, a: float) -> str:
    return f"={x!s}+({v!s})*t+({0.5 * a!s})*t**2"


# --- derivatives ----------------------------------------------------------------------------------------------------


def attribute_counts(probe: Probe) -> float:
    """Of the derivative of the measures at the last time, the part that runs with other values deny."""
    by = next(path for path in probe.by if is_number(probe.system, path))
    value = scalar(probe.system, by)
    said = nx.sensitivity(probe.system, SECONDS, by, method=RK4)
    derivatives = [said.of(text) for text in texts(said.result)]
    found, last = np.concatenate([x.values[-1] for x in derivatives]), derivatives[0].time.values[-1]
    told = np.concatenate([x.error for x in derivatives])
    h = 2e-4 * (abs(value) or 1.0)

    def end(k: int) -> np.ndarray:
        result = nx.simulate(with_values(probe.system, {by: value + k * h}), SECONDS, RK4, output_times=[last])
        return measured(result, int(np.searchsorted(result.recording.t, last)))

    ends = {k: end(k) for k in AROUND}
    wanted = sum(weight * ends[k] for k, weight in AROUND.items()) / h
    size = max(float(np.linalg.norm(wanted)), 1e-9)
    told = (
        told if np.linalg.norm(told) < 0.25 * size else 0.0 * told
    )  # where forces have knees; no licence to say nothing
    return float(np.linalg.norm(np.maximum(np.abs(found - wanted) - told, 0.0)) / size)


def is_number(system: nx.System, path: str) -> bool:
    try:
        scalar(system, path)
    except (InputError, UnknownNameError):
        return False
    return True


def texts(result: nx.Result) -> list[str]:
    """The measures' components, in the order of `measured`."""
    found = []
    for name, measure in result.system.measures.items():
        found += [f"{name}.{axis}" for axis in measure.axes] or [name]
    return found

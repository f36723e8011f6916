"""`nx.linearize`: a mechanism to first order about an equilibrium or a steady motion, on the manifold of its constraints.

    ẋ = A x + B u,   y = C x + D u        x = (z, u, s): independent coordinates and velocities, and states of forces
                                          (``analysis.reduced``)

by central differences of sixth order over h and h/2, extrapolated; `error` is what the two differ by. About a steady motion
the coordinates that nothing depends on (where a vehicle is, where it heads, how far its wheels have turned) are ignored:
they are the largest subspace N of coordinates with

    A_uz N = 0,   A_zz N ⊂ N                 (unobservable from u̇ and the outputs)

and what remains is the quotient by it. Modes are the eigenvectors of A; λ = −ζ ω ± i ω √(1 − ζ²).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.model import absolute_model
from nexdyn.assembly.assemble import Start, assemble
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.force_states import touching_contact
from nexdyn.assembly.given import given_choice, given_names
from nexdyn.assembly.report import AssemblyReport
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, SolveError, counted, warn
from nexdyn.forces.states import state_labels
from nexdyn.model.system import System
from nexdyn.results.ending import bodies_at_end, joints_at_end
from nexdyn.results.result import Result
from nexdyn.results.segments import last_system
from nexdyn.statics.differences import NOTHING, SHORTER, SHORTEST, STEPS, derivative, two_slopes
from nexdyn.statics.equilibrium import Equilibrium
from nexdyn.statics.linear_names import input_effort, output_of, state_names, state_units
from nexdyn.statics.modes import Mode, in_order, played
from nexdyn.statics.reduced import ReducedSystem
from nexdyn.statics.sparse_linearize import Pencil, SparseLinearization

LARGEST = 1800
"""Most numbers of poses: matrices are dense, and every entry takes ten evaluations."""
STEADY = 1e-6
"""Largest acceleration that counts as none, relative to gravity's, or without it to those of the mechanism's own motion."""
STILL = 1e-9
"""Largest speed that counts as none, relative to that of the mechanism's own motion."""
IGNORABLE = 1e-7
"""Singular values below this part of the largest are zeros, where ignorable coordinates are looked for."""
SAME = 1e-5
"""Most by which two linearizations of a steady motion may differ, relative to their largest entry."""
AHEAD = 0.7
"""How far ahead a steady motion is looked at again, in rad or lengths of its fastest part."""


@dataclass(repr=False)
class Linearization(metaclass=CheckedCalls):
    """ẋ = A x + B u, y = C x + D u. `states`, `inputs`, `outputs` name the rows and columns; `ignored` the coordinates that
    nothing depends on; `error` estimates that of A, B, C. Position states are counted from the reference as it moves on."""

    system: System
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    ignored: list[str]
    error: float
    reduced: ReducedSystem
    A_full: np.ndarray
    """With the coordinates that are ignored; `full_states` names its rows, `keep` those that remain, Π takes it to them."""
    full_states: list[str]
    keep: np.ndarray
    Pi: np.ndarray
    rate: float
    """How fast the mechanism moves by itself [1/s], which is the scale of eigenvalues."""

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.A), 'state')}, {counted(len(self.inputs), 'input')}, {counted(len(self.outputs), 'output')}"
        return f"Linearization({self.system.name!r}: {sizes})"

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of A [1/s], those of largest real part first."""
        return in_order(scipy.linalg.eigvals(self.A))

    @property
    def modes(self) -> list[Mode]:
        """Modes, those of largest real part first; of a pair of conjugates the one with positive frequency."""
        values, vectors = scipy.linalg.eig(self.A)
        order = np.lexsort((-values.imag, -_rounded(values.real, np.abs(values).max(initial=0.0))))
        places = set(self.full_states[: self.reduced.nz])
        positions = [name in places for name in self.states]
        found, fastest = [], float(np.abs(values).max(initial=0.0))
        for k in order.tolist():
            if values[k].imag < -1e-12 * fastest:
                continue
            x = vectors[:, k]
            parts = np.where(positions, np.abs(x), 0.0)
            largest = (
                int(parts.argmax()) if parts.max(initial=0.0) > 1e-9 * np.abs(x).max() else int(np.abs(x).argmax())
            )
            lam = complex(values[k])
            lam = complex(lam.real, 0.0) if abs(lam.imag) <= 1e-12 * fastest else lam
            found.append(Mode(lam, dict(zip(self.states, (x / x[largest]).tolist(), strict=True))))
        return found

    @property
    def stable(self) -> bool:
        """Whether no eigenvalue has a positive real part, beyond what its error explains."""
        values = self.eigenvalues
        return bool(values.real.max(initial=-np.inf) <= 1e-7 * max(self.rate, float(np.abs(values).max(initial=0.0))))

    def motion(
        self, mode: int | Mode = 0, *, amplitude: float = 0.1, periods: float = 3.0, samples: int = 40
    ) -> Result:
        """The motion of a mode as a Result, for `nx.view`, about the reference as it moves on.

        mode: its place in `modes`. amplitude: largest coordinate [rad, m]. periods: how many, or time constants where it
        does not oscillate; an oscillation keeps its size, other modes die or grow. samples: a period.
        """
        modes = self.modes
        if isinstance(mode, int) and not -len(modes) <= mode < len(modes):
            raise InputError(f"mode {mode} does not exist; there are {len(modes)}, from 0")
        chosen = modes[mode] if isinstance(mode, int) else mode
        return played(self, chosen, float(amplitude), float(periods), int(samples))

    def response(self, frequencies: Any) -> np.ndarray:
        """C (iω − A)⁻¹ B + D (frequencies, outputs, inputs) at frequencies [Hz]: amplitudes of outputs for inputs of 1."""
        at = np.atleast_1d(np.asarray(frequencies, dtype=float))
        if at.ndim != 1 or not np.isfinite(at).all():
            raise InputError(f"frequencies is {frequencies!r}; frequencies in Hz are needed")
        found = []
        for f in at.tolist():
            try:
                found.append(
                    self.C @ np.linalg.solve(2j * np.pi * f * np.eye(len(self.A)) - self.A, self.B.astype(complex))
                    + self.D
                )
            except np.linalg.LinAlgError:
                raise InputError(f"the response at {f:g} Hz has no end: that is a mode without damping") from None
        return np.array(found)

    def at_another(self, reduced: ReducedSystem) -> np.ndarray:
        """A of the same system under other parameters, in the same coordinates. InputError where that is not steady."""
        rate = _own_rate(reduced)
        off, where = _unsteady(reduced, rate)
        if off > 1.0:
            raise InputError(f"{self.system.name!r} is not steady under other parameters: {where}")
        units, sizes = _units(reduced, rate)
        J, _ = derivative(lambda x: reduced.motion(x).rate, reduced.size, units, columns=self.keep, sizes=sizes)
        return np.asarray(self.Pi @ J)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; complex numbers are [real, imaginary]."""
        return {
            "system": self.system.name,
            "states": self.states, "inputs": self.inputs, "outputs": self.outputs, "ignored": self.ignored,
            "A": self.A.tolist(), "B": self.B.tolist(), "C": self.C.tolist(), "D": self.D.tolist(),
            "eigenvalues": [[float(x.real), float(x.imag)] for x in self.eigenvalues],
            "stable": self.stable,
            "modes": [
                {
                    "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag], "frequency": mode.frequency,
                    "natural_frequency": mode.natural_frequency, "damping_ratio": mode.damping_ratio,
                    "shape": {name: [x.real, x.imag] for name, x in mode.shape.items()},
                }
                for mode in self.modes
            ],
            "error": self.error,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.system.name}: {counted(len(self.states), 'state')}, {'stable' if self.stable else 'unstable'}"]
        lines += [f"  {mode}" for mode in self.modes]
        if self.ignored:
            lines.append(f"  ignored: {', '.join(self.ignored)}")
        lines.append(f"  error of the matrices about {self.error:.1e}")
        return "\n".join(lines)


@overload
def linearize(
    system: System, at: AssemblyReport | Equilibrium | Result | None = None, *, inputs: Sequence[str] = (),
    outputs: Sequence[str] | None = None, t: float = 0.0, q0: Any = None, v0: Any = None, ignore: bool | None = None,
    frozen: bool = False, modes: None = None,
) -> Linearization: ...  # fmt: skip
@overload
def linearize(
    system: System, at: AssemblyReport | Equilibrium | Result | None = None, *, inputs: Sequence[str] = (),
    outputs: Sequence[str] | None = None, t: float = 0.0, q0: Any = None, v0: Any = None, ignore: bool | None = None,
    frozen: bool = False, modes: int,
) -> SparseLinearization: ...  # fmt: skip
@small_on_one_thread
def linearize(
    system: System,
    at: AssemblyReport | Equilibrium | Result | None = None,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] | None = None,
    t: float = 0.0,
    q0: Any = None,
    v0: Any = None,
    ignore: bool | None = None,
    frozen: bool = False,
    modes: int | None = None,
) -> Linearization | SparseLinearization:
    """Linearize `system` about an equilibrium or a steady motion.

    at: the report of `nx.assemble`, an equilibrium, or a Result, whose last state is taken; by default the system as
        described, with q0, v0 as for `nx.assemble`, at time t.
    inputs: joints whose effort is an input, by the names of their velocities ("hinge", "base.wx"); a component of the
        wrench on a body at its origin in the world ("body.fx" … "body.mz"); or drivers, whose acceleration beyond their
        function is then the input, and what they have moved and how fast two states more ("motor", "motor.rate").
    outputs: names of states, of other coordinates or velocities of joints, or of measures ("tip", "tip.x"); by default the
        states.
    ignore: whether coordinates that nothing depends on are left out; by default where the reference moves.
    frozen: also about a state that is neither: the deviations from the motion through it, as if they knew no time.
    modes: how many of the lowest modes are wanted: a SparseLinearization, of a pose at rest, for systems of any size; without it
        the matrices are dense, for systems of up to 300 bodies.

    States of forces (integrals, lags, bristles) are states of it, so that a plant with its controller has both's eigenvalues.
    Raises InputError for a state that is neither equilibrium nor steady motion, with the acceleration that is left, and
    for a digital controller.
    """
    inputs, frozen = given_names(inputs, "inputs"), given_choice(frozen, "frozen")
    outputs = None if outputs is None else given_names(outputs, "outputs")
    ignore = None if ignore is None else given_choice(ignore, "ignore")
    if modes is None and 6 * len(system.bodies) > LARGEST:
        raise InputError(
            f"A, B, C, D are dense: {len(system.bodies)} bodies are more than their {LARGEST // 6}; ask for the lowest modes, "
            f"modes=10 (--modes 10), which come with sparse matrices and the response to inputs"
        )
    for name in inputs:
        if (driver := system.drivers.get(name)) is not None and len(rows := driver.functions(system.values)) > 1:
            raise InputError(
                f"{driver} follows {counted(len(rows), 'function')}; an input has one: drive one angle, or a joint's coordinate"
            )
    report = _report(system, at, t, q0, v0)
    system = report.model.system
    if modes is not None:
        return _lowest(system, report, inputs, outputs, modes, ignore, frozen)
    first: UnsteadyError | None = None
    for in_world in (False, True):
        reduced = ReducedSystem(report, in_world, led=[name for name in inputs if name in system.drivers])
        moving = reduced.speed() > STILL * _own_rate(reduced)
        try:
            return _about(system, reduced, moving, inputs, outputs, ignore, frozen)
        except UnsteadyError as error:
            first = first or error
            if not moving:
                break
    assert first is not None
    raise first


def _lowest(
    system: System, report: AssemblyReport, inputs: Sequence[str], outputs: Sequence[str] | None, modes: int,
    ignore: bool | None, frozen: bool,
) -> SparseLinearization:  # fmt: skip
    """See `linearize`, with `modes`."""
    if type(modes) is not int or modes < 1:
        raise InputError(f"modes is {modes!r}; a whole number, 1 or more, is needed")
    if ignore or frozen:
        raise InputError("modes are of a pose at rest, with all coordinates; leave out ignore and frozen, or modes")
    pencil = Pencil(report, inputs, outputs)
    if np.abs(pencil.velocities).max(initial=0.0) > STILL * pencil.rate:
        raise InputError(
            f"{system.name!r} moves, and modes are of a pose at rest; leave out v0 and modes (up to {LARGEST // 6} bodies)"
        )
    a = np.abs(pencil.accelerations)
    gravity = float(np.linalg.norm(system.gravity)) / pencil.length
    if a.max(initial=0.0) > STEADY * (gravity or pencil.rate**2):
        i, c = np.unravel_index(int(a.argmax()), a.shape)
        raise UnsteadyError(
            f"the state of {system.name!r} is no equilibrium: body {report.model.bodies[1 + i]!r} has an acceleration of "
            f"{abs(pencil.a[1 + i, c]):.3g}; {_where_it_rests(system, report.t)}"
        )
    for state, changes in zip(pencil.own, pencil.own_rate.tolist(), strict=True):
        if abs(changes) > STEADY * pencil.rate * state.little:
            raise UnsteadyError(
                f"the state of {system.name!r} is no equilibrium: {state.label} changes by {changes:.3g} a second; "
                f"{_where_it_rests(system, report.t)}"
            )
    if pencil.at_limit and 6 * len(system.bodies) <= LARGEST:
        reduced = ReducedSystem(report)
        units, sizes = _units(reduced, pencil.rate)
        if two_slopes(lambda x: reduced.motion(x).rate, units, sizes):
            raise InputError(pencil.at_limit)
    return pencil.linearization(modes)


def _where_it_rests(system: System, t: float) -> str:
    """What to do about a state at t that is no equilibrium."""
    for driver in system.drivers.values():
        if any(f.derivative(t) != 0.0 or f.second_derivative(t) != 0.0 for f in driver.functions(system.values)):
            return (
                f"{driver} moves at t = {t:g} s, and nx.equilibrium holds it where it is then; give it a number instead of a function, "
                f"or a time at which it stands"
            )
    return "nx.equilibrium finds one"


class UnsteadyError(InputError):
    """A state that is neither equilibrium nor steady motion in the coordinates at hand."""


def _about(
    system: System, reduced: ReducedSystem, moving: bool, inputs: Sequence[str], outputs: Sequence[str] | None,
    ignore: bool | None, frozen: bool,
) -> Linearization:  # fmt: skip
    """The linearization about the reference of `reduced`. UnsteadyError where it is not steady."""
    names = state_names(reduced)
    wanted = list(outputs) if outputs is not None else []
    C_rows = [output_of(reduced, name) for name in wanted]
    entries = [reduced.led.index(name) if name in reduced.led else input_effort(reduced, name) for name in inputs]
    rate = _own_rate(reduced)
    off, where = _unsteady(reduced, rate)
    if off > 1.0 and not frozen:
        what = "steady motion" if moving else "equilibrium"
        advice = "give it one, by q0, v0 or at" if moving else _where_it_rests(system, reduced.t)
        raise UnsteadyError(
            f"the state of {system.name!r} is no {what}: {where}; {advice}, or take frozen=True for the deviations from the "
            f"motion through it"
        )

    def f(x: np.ndarray) -> np.ndarray:
        motion = reduced.motion(x)
        return np.concatenate([motion.rate, *(np.atleast_1d(row(motion)) for _, row in C_rows)])

    n, nz = reduced.size, reduced.nz
    units, sizes = _units(reduced, rate)
    m = sum(len(labels) for labels, _ in C_rows)
    J, error = derivative(f, n, units, sizes=np.concatenate([sizes, np.zeros(m)]))
    A, C = J[:n], J[n:]
    for i, j, behind, ahead in two_slopes(lambda x: reduced.motion(x).rate, units, sizes)[:1]:
        poses = reduced.bodies(reduced.q0)
        if contact := touching_contact(system, reduced.model.body_index, poses, SHORTEST * reduced.length):
            raise InputError(
                f"{contact} just touches where {system.name!r} is: the rate of {names[i]} has two slopes over {names[j]}, {behind:.4g} "
                f"behind and {ahead:.4g} ahead; press it in, as nx.equilibrium does, or lift it"
            )
        if reduced.at_limit:
            raise InputError(reduced.at_limit)
        warn(
            f"the rate of {names[i]} has two slopes over {names[j]} where {system.name!r} is, {behind:.4g} behind and {ahead:.4g} "
            f"ahead, and A has their mean: a force stands at a limit there, like friction that has slipped or a stop that just touches"
        )
    still = reduced.motion(np.zeros(n)).rate
    x0 = np.zeros(n)
    B = np.array([_response(reduced, x0, still, effort) for effort in entries]).reshape(len(entries), n).T
    out_names = [label for labels, _ in C_rows for label in labels]
    N = np.zeros((nz, 0))
    if moving if ignore is None else ignore:
        seen = C * units / np.maximum(np.abs(C * units).max(axis=1, initial=0.0, keepdims=True), NOTHING)
        N = _ignorable(A * units / units[:, None], rate * seen, nz)
    keep, Pi = _quotient(N, nz, n)
    Pi = units[keep][:, None] * Pi / units
    reduced_A = Pi @ A[:, keep]
    if moving and not frozen:
        _check_steady(system, reduced, keep, Pi, reduced_A, rate)
    states = [names[i] for i in keep]
    if outputs is None:
        C, out_names = np.eye(len(keep)), list(states)
    else:
        C = C[:, keep]
    dropped = [names[i] for i in range(n) if i not in set(keep.tolist())]
    return Linearization(
        system, reduced_A, Pi @ B, C, np.zeros((len(C), len(entries))), states, list(inputs), out_names, dropped, error,
        reduced, A, names, keep, Pi, rate,
    )  # fmt: skip


# --- the reference ------------------------------------------------------------------------------------------------------


def _report(system: System, at: Any, t: float, q0: Any, v0: Any) -> AssemblyReport:
    if at is None:
        return assemble(system, t=t, q0=q0, v0=v0)
    if q0 is not None or v0 is not None:
        raise InputError("q0 and v0 are for the reference configuration; leave them out where `at` is given")
    if isinstance(at, Equilibrium):
        at = at.report
    if isinstance(at, AssemblyReport):
        if at.model.system is not system:
            raise InputError("at is the report of another system")
        return at
    if not isinstance(at, Result):
        raise InputError(f"at is {at!r:.80}; the report of nx.assemble, an Equilibrium, or a Result, is needed")
    recorded = at.recording
    system = last_system(system, recorded)
    start = Start(*bodies_at_end(at, absolute_model(system)), joints_at_end(at, system))
    report = assemble(system, t=float(recorded.t[-1]), initial=start)
    if recorded.z.size:
        count = len(state_labels(system))
        if recorded.z.shape[1] != count:
            raise InputError(f"at has {recorded.z.shape[1]} states of forces; {system.name!r} has {count}")
        report.states = recorded.z[-1].copy()
    return report


def _unsteady(reduced: ReducedSystem, own_rate: float) -> tuple[float, str]:
    """The largest acceleration relative to what counts as none, a part of gravity's or of the fastest motion's, and where it is."""
    rate = reduced.motion(np.zeros(reduced.size)).rate[reduced.nz :]
    if not len(rate):
        return 0.0, ""
    _, sizes = _units(reduced, own_rate)
    gravity = float(np.linalg.norm(reduced.model.system.gravity)) / reduced.length
    off = np.abs(rate) / sizes[reduced.nz :]
    moving = len(off) - len(reduced.own)
    off[:moving] *= own_rate**2 / (gravity or own_rate**2)
    k = int(off.argmax())
    return float(off[k]) / STEADY, f"{state_names(reduced)[reduced.nz + k]} changes by {rate[k]:.3g} a second"


def _check_steady(
    system: System, here: ReducedSystem, keep: np.ndarray, Pi: np.ndarray, A: np.ndarray, rate: float
) -> None:
    """UnsteadyError where the mechanism further along the reference is another."""
    ahead = here.ahead(AHEAD / here.speed())
    off, where = _unsteady(ahead, rate)
    if off <= 10.0:
        n = here.size
        units, sizes = _units(ahead, rate)
        J, _ = derivative(
            lambda x: ahead.motion(x).rate, n, units, STEPS[1:2], columns=keep, sizes=sizes, shorten=False
        )
        there, kept = Pi @ J, units[keep]
        change, size = (float(np.abs(M * kept / kept[:, None]).max(initial=0.0)) for M in (there - A, A))
        if change <= SAME * max(rate, size):
            return
        where = f"its linearization changes by {np.abs(there - A).max(initial=0.0):.3g} as it goes on"
    raise UnsteadyError(
        f"the state of {system.name!r} is no steady motion: {where}; take frozen=True for the deviations from the motion through "
        f"it, as if they knew no time"
    )


def _units(reduced: ReducedSystem, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Of the states, and of their rates, what counts as 1 where the mechanism has `rate` [1/s]."""
    found = state_units(reduced)
    units = np.where([unit.startswith("m") for unit in found], reduced.length, 1.0)
    units *= np.where([unit in ("m/s", "rad/s") for unit in found], rate, 1.0)
    units[len(units) - len(reduced.own) :] = [state.little for state in reduced.own]
    return units, rate * units


def _own_rate(reduced: ReducedSystem) -> float:
    """How fast the mechanism moves by itself [1/s]: the root of gravity over its length, of its largest stiffness over inertia, or the
    speed of the reference; 1 where there is none."""
    gravity = float(np.linalg.norm(reduced.model.system.gravity)) / reduced.length
    units, _ = _units(reduced, 1.0)
    stiffest, n, nz = 0.0, reduced.size, reduced.nz
    for j in range(nz):
        e = np.zeros(n)
        e[j] = units[j]
        of_velocities = _slope(reduced, e)[nz : n - len(reduced.own)] / units[nz : n - len(reduced.own)]
        stiffest = max(stiffest, float(np.abs(of_velocities).max(initial=0.0)))
    return max(gravity, stiffest, reduced.speed() ** 2) ** 0.5 or 1.0


def _slope(reduced: ReducedSystem, e: np.ndarray) -> np.ndarray:
    """ẋ per step along e, roughly; a shorter step where the mechanism cannot go that far."""
    step = STEPS[1]
    while True:
        try:
            return (reduced.motion(step * e).rate - reduced.motion(-step * e).rate) / (2.0 * step)
        except SolveError:
            if SHORTER * step < SHORTEST:
                raise
            step *= SHORTER


def _rounded(x: np.ndarray, size: float) -> np.ndarray:
    """x to nine digits relative to `size`."""
    return np.round(x / (size or 1.0), 9)


def _response(reduced: ReducedSystem, x0: np.ndarray, still: np.ndarray, effort: np.ndarray | int) -> np.ndarray:
    """ẋ for an effort of 1, or an acceleration of 1 of the driver of that number, in which it is linear."""
    if isinstance(effort, int):
        return reduced.motion(x0, drive=np.eye(len(reduced.led))[effort]).rate - still
    size = float(np.abs(effort).max()) or 1.0
    return (reduced.motion(x0, effort / size).rate - still) * size


# --- ignorable coordinates ----------------------------------------------------------------------------------------------


def _ignorable(A: np.ndarray, C: np.ndarray, nz: int) -> np.ndarray:
    """N (nz, k)."""
    A_zz, seen = A[:nz, :nz], np.concatenate([A[nz:, :nz], C[:, :nz]])
    N = np.eye(nz)
    size = max(float(np.abs(seen).max(initial=0.0)), float(np.abs(A_zz).max(initial=0.0)), 1e-300)
    while True:
        rows = np.concatenate([seen @ N, (np.eye(nz) - N @ N.T) @ (A_zz @ N)])
        _, s, Vt = scipy.linalg.svd(rows, full_matrices=True)
        rank = int((s > IGNORABLE * size).sum())
        if rank == 0 or N.shape[1] == 0:
            return N
        N = N @ Vt[rank:].T


def _quotient(N: np.ndarray, nz: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of the states that remain, and Π (kept, n) that takes states to them modulo N."""
    if not N.shape[1]:
        return np.arange(n), np.eye(n)
    _, _, order = scipy.linalg.qr(N.T, mode="economic", pivoting=True)
    gone = np.sort(order[: N.shape[1]])
    stay = np.setdiff1d(np.arange(nz), gone)
    keep = np.concatenate([stay, np.arange(nz, n)])
    Pi = np.zeros((len(keep), n))
    Pi[np.arange(len(keep)), keep] = 1.0
    mixed = N[stay] @ np.linalg.inv(N[gone])
    mixed[np.abs(mixed) < 1e-9] = 0.0
    Pi[: len(stay), gone] = -mixed
    return keep, Pi

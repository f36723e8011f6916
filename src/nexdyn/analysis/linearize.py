"""`nx.linearize`: a mechanism to first order about an equilibrium or a steady motion, on the manifold of its constraints.

    ẋ = A x + B u,   y = C x + D u        x = (z, u̇…): independent coordinates and velocities (``analysis.reduced``)

by central differences of sixth order over h and h/2, extrapolated; `error` is what the two differ by. About a steady motion
the coordinates that nothing depends on (where a vehicle is, where it heads, how far its wheels have turned) are ignored:
they are the largest subspace N of coordinates with

    A_uz N = 0,   A_zz N ⊂ N                 (unobservable from u̇ and the outputs)

and what remains is the quotient by it. Modes are the eigenvectors of A; λ = −ζ ω ± i ω √(1 − ζ²).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize

from nexdyn.absolute.motion import accelerations
from nexdyn.absolute.observe import BodyMotion
from nexdyn.analysis.absolute_loads import generalized_forces, joint_state
from nexdyn.analysis.assemble import assemble
from nexdyn.analysis.reduced import ReducedSystem
from nexdyn.analysis.report import AssemblyReport
from nexdyn.errors import InputError, unknown
from nexdyn.forces.states import refuse_states
from nexdyn.model.system import System
from nexdyn.results.bodies import BodyRecording
from nexdyn.results.quantities import FREEDOMS, joint_labels
from nexdyn.results.result import Result
from nexdyn.spatial.rotations import rotation_matrix

STEPS = (1e-2, 2.5e-3, 6e-4)
"""Steps of the differences, in rad and lengths of the mechanism, the largest first."""
GOOD = 1e-10
"""An error estimate below this part of the largest entry is good enough."""
LARGEST = 1800
"""Most numbers of poses: matrices are dense, and every entry takes ten evaluations."""
STEADY = 1e-6
"""Largest acceleration [m/s², rad/s²] that counts as none, beside 1 and that of gravity."""
IGNORABLE = 1e-7
"""Singular values below this part of the largest are zeros, where ignorable coordinates are looked for."""
SAME = 1e-5
"""Most by which two linearizations of a steady motion may differ, beside their largest entry."""
AHEAD = 0.7
"""How far ahead a steady motion is looked at again, in rad or lengths of its fastest part."""
NEUTRAL = 1e-5
"""Eigenvalues below this part of the largest count as 0, where limits of stability are looked for."""
UNDAMPED = 1e-9
"""Damping ratio below which an oscillation counts as undamped there."""
COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True)
class Mode:
    """An eigenvalue [1/s] and its shape: {state: complex}, the largest position, or else the largest part, being 1."""

    eigenvalue: complex
    shape: dict[str, complex]

    @property
    def frequency(self) -> float:
        """Frequency of the oscillation [Hz]; 0 where there is none."""
        return abs(self.eigenvalue.imag) / (2.0 * math.pi)

    @property
    def natural_frequency(self) -> float:
        """|λ| / 2π [Hz]."""
        return abs(self.eigenvalue) / (2.0 * math.pi)

    @property
    def damping_ratio(self) -> float:
        """ζ = −Re λ / |λ|; 0 for λ = 0."""
        return -self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue != 0.0 else 0.0

    def __str__(self) -> str:
        lam = self.eigenvalue
        parts = sorted(self.shape.items(), key=lambda item: -abs(item[1]))[:4]
        shape = ", ".join(f"{name} {abs(x):.3g}∠{math.degrees(math.atan2(x.imag, x.real)):.0f}°" for name, x in parts)
        what = f"{lam.real:+.6g} ± {abs(lam.imag):.6g}i" if lam.imag else f"{lam.real:+.6g}"
        more = f"  {self.frequency:.4g} Hz, ζ = {self.damping_ratio:.4g}" if lam.imag else ""
        return f"{what}{more}  ({shape})"


@dataclass
class Linearization:
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

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of A [1/s], those of largest real part first."""
        return _sorted(scipy.linalg.eigvals(self.A))

    @property
    def modes(self) -> list[Mode]:
        """Modes, those of largest real part first; of a pair of conjugates the one with positive frequency."""
        values, vectors = scipy.linalg.eig(self.A)
        order = np.lexsort((-values.imag, -np.round(values.real, 9)))
        positions = [not name.endswith(RATES) for name in self.states]
        found = []
        for k in order.tolist():
            if values[k].imag < -1e-12 * max(1.0, abs(values[k])):
                continue
            x = vectors[:, k]
            parts = np.where(positions, np.abs(x), 0.0)
            largest = (
                int(parts.argmax()) if parts.max(initial=0.0) > 1e-9 * np.abs(x).max() else int(np.abs(x).argmax())
            )
            lam = complex(values[k])
            lam = complex(lam.real, 0.0) if abs(lam.imag) < 1e-12 * max(1.0, abs(lam)) else lam
            found.append(Mode(lam, dict(zip(self.states, (x / x[largest]).tolist(), strict=True))))
        return found

    @property
    def stable(self) -> bool:
        """Whether no eigenvalue has a positive real part, beyond what its error explains."""
        return bool(self.eigenvalues.real.max(initial=-np.inf) < 1e-7 * max(1.0, np.abs(self.A).max(initial=0.0)))

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
        return _played(self, chosen, float(amplitude), float(periods), int(samples))

    def at_another(self, reduced: ReducedSystem) -> np.ndarray:
        """A of the same system under other parameters, in the same coordinates. InputError where that is not steady."""
        off, where = _unsteady(reduced)
        if off > 1.0:
            raise InputError(f"{self.system.name!r} is not steady under other parameters: {where}")
        J, _ = derivative(lambda x: reduced.motion(x).rate, reduced.size, _units(reduced), columns=self.keep)
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
        lines = [f"{self.system.name}: {len(self.states)} states, {'stable' if self.stable else 'unstable'}"]
        lines += [f"  {mode}" for mode in self.modes]
        if self.ignored:
            lines.append(f"  ignored: {', '.join(self.ignored)}")
        lines.append(f"  error of the matrices about {self.error:.1e}")
        return "\n".join(lines)


RATES = (".rate", ".wx", ".wy", ".wz", ".vx", ".vy", ".vz")


def linearize(
    system: System,
    at: AssemblyReport | Result | None = None,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] | None = None,
    *,
    t: float = 0.0,
    q0: Any = None,
    v0: Any = None,
    ignore: bool | None = None,
    frozen: bool = False,
) -> Linearization:
    """Linearize `system` about an equilibrium or a steady motion.

    at: the report of `nx.assemble` or a Result, whose last state is taken; by default the system as described, with q0, v0
        as for `nx.assemble`, at time t.
    inputs: joints whose effort is an input, by the names of their velocities ("hinge", "base.wx"); a component of the
        wrench on a body at its origin in the world ("body.fx" … "body.mz"); or drivers, whose acceleration beyond their
        function is then the input, and what they have moved and how fast two states more ("motor", "motor.rate").
    outputs: names of states, of other coordinates or velocities of joints, or of measures ("tip", "tip.x"); by default the
        states.
    ignore: whether coordinates that nothing depends on are left out; by default where the reference moves.
    frozen: also about a state that is neither: the deviations from the motion through it, as if they knew no time.

    Raises InputError for a state that is neither equilibrium nor steady motion, with the acceleration that is left.
    """
    if not isinstance(system, System):
        raise InputError(f"system is {system!r}; a System is needed, like the one that nx.load returns")
    if 6 * len(system.bodies) > LARGEST:
        raise InputError(f"linearize is dense: {len(system.bodies)} bodies are more than its {LARGEST // 6}")
    refuse_states(system, "nx.linearize", "leave it out, and join it to A and B")
    report = _report(system, at, t, q0, v0)
    first: InputError | None = None
    for in_world in (False, True):
        reduced = ReducedSystem(report, in_world, led=[name for name in inputs if name in system.drivers])
        moving = bool(np.abs(reduced.v0).max(initial=0.0) > 1e-9)
        try:
            return _about(system, reduced, moving, inputs, outputs, ignore, frozen)
        except UnsteadyError as error:
            first = first or InputError(str(error))
            if not moving:
                break
    assert first is not None
    raise first


class UnsteadyError(InputError):
    """A state that is neither equilibrium nor steady motion in the coordinates at hand."""


def _about(
    system: System, reduced: ReducedSystem, moving: bool, inputs: Sequence[str], outputs: Sequence[str] | None,
    ignore: bool | None, frozen: bool,
) -> Linearization:  # fmt: skip
    """The linearization about the reference of `reduced`. UnsteadyError where it is not steady."""
    names = state_names(reduced)
    wanted = list(outputs) if outputs is not None else []
    C_rows = [_output(reduced, name) for name in wanted]
    entries = [reduced.led.index(name) if name in reduced.led else _input(reduced, name) for name in inputs]
    off, where = _unsteady(reduced)
    if off > 1.0 and not frozen:
        what = "steady motion" if moving else "equilibrium"
        advice = "give it one, by q0, v0 or at" if moving else "nx.equilibrium finds one"
        raise UnsteadyError(
            f"the state of {system.name!r} is no {what}: {where}; {advice}, or take frozen=True for the deviations from the "
            f"motion through it"
        )

    def f(x: np.ndarray) -> np.ndarray:
        motion = reduced.motion(x)
        return np.concatenate([motion.rate, *(np.atleast_1d(row(motion)) for _, row in C_rows)])

    n, nz = reduced.size, reduced.nz
    J, error = derivative(f, n, _units(reduced))
    A, C = J[:n], J[n:]
    still = reduced.motion(np.zeros(n)).rate
    x0 = np.zeros(n)
    B = np.array([_response(reduced, x0, still, effort) for effort in entries]).reshape(-1, n).T
    out_names = [label for labels, _ in C_rows for label in labels]
    N = np.zeros((nz, 0))
    if moving if ignore is None else ignore:
        N = _ignorable(A, C, nz)
    keep, Pi = _quotient(N, nz, n)
    reduced_A = Pi @ A[:, keep]
    if moving and not frozen:
        _check_steady(system, reduced, keep, Pi, reduced_A)
    states = [names[i] for i in keep]
    if outputs is None:
        C, out_names = np.eye(len(keep)), list(states)
    else:
        C = C[:, keep]
    dropped = [names[i] for i in range(n) if i not in set(keep.tolist())]
    return Linearization(
        system, reduced_A, Pi @ B, C, np.zeros((len(C), len(entries))), states, list(inputs), out_names, dropped, error,
        reduced, A, names, keep, Pi,
    )  # fmt: skip


# --- the reference ------------------------------------------------------------------------------------------------------


def _report(system: System, at: Any, t: float, q0: Any, v0: Any) -> AssemblyReport:
    if at is None:
        return assemble(system, t=t, q0=q0, v0=v0)
    if q0 is not None or v0 is not None:
        raise InputError("q0 and v0 are for the system as described; leave them out where `at` is given")
    if isinstance(at, AssemblyReport):
        if at.model.system is not system:
            raise InputError("at is the report of another system")
        return at
    if not isinstance(at, Result):
        raise InputError(f"at is {at!r}; the report of nx.assemble, or a Result, is needed")
    recorded = at.recording
    if isinstance(recorded, BodyRecording):
        report = assemble(system, t=float(recorded.t[-1]))
        if recorded.q.shape[1] != report.model.nb:
            raise InputError(f"at has {recorded.q.shape[1]} bodies; {system.name!r} has {report.model.nb}")
        report.q[1:], report.v[1:] = recorded.q[-1], recorded.v[-1]
        return report
    places = at.tree.coordinates
    return assemble(
        system, t=float(recorded.t[-1]),
        q0={name: recorded.q[-1, place.q] for name, place in places.items() if name in system.joints},
        v0={name: recorded.v[-1, place.v] for name, place in places.items() if name in system.joints},
    )  # fmt: skip


def _unsteady(reduced: ReducedSystem) -> tuple[float, str]:
    """The largest acceleration beside what counts as none, and where it is."""
    rate = reduced.motion(np.zeros(reduced.size)).rate[reduced.nz :]
    if not len(rate):
        return 0.0, ""
    k = int(np.abs(rate).argmax())
    name = state_names(reduced)[reduced.nz + k]
    limit = STEADY * max(1.0, float(np.linalg.norm(reduced.model.system.gravity)))
    return float(abs(rate[k])) / limit, f"{name} changes by {rate[k]:.3g} a second"


def _check_steady(system: System, here: ReducedSystem, keep: np.ndarray, Pi: np.ndarray, A: np.ndarray) -> None:
    """UnsteadyError where the mechanism further along the reference is another."""
    ahead = here.ahead(AHEAD / max(1.0, float(np.abs(here.v0).max())))
    off, where = _unsteady(ahead)
    if off <= 10.0:
        n = here.size
        J, _ = derivative(lambda x: ahead.motion(x).rate, n, _units(ahead), STEPS[1:2], keep)
        there = Pi @ J
        change = float(np.abs(there - A).max(initial=0.0))
        if change <= SAME * max(1.0, float(np.abs(A).max(initial=0.0))):
            return
        where = f"its linearization changes by {change:.3g} as it goes on"
    raise UnsteadyError(
        f"the state of {system.name!r} is no steady motion: {where}; take frozen=True for the deviations from the motion through "
        f"it, as if they knew no time"
    )


# --- differences --------------------------------------------------------------------------------------------------------


def derivative(
    f: Callable[[np.ndarray], np.ndarray], n: int, units: np.ndarray, steps: Sequence[float] = STEPS,
    columns: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """(∂f/∂x at 0, estimate of its error), all columns or some: central differences of sixth order over h and h/2,
    extrapolated."""
    found, worst = [], 0.0
    for j in range(n) if columns is None else columns.tolist():
        e = np.zeros(n)
        e[j] = units[j]
        best, best_error = None, np.inf
        for h in steps:
            d = {k: f(k * h * e) - f(-k * h * e) for k in (0.5, 1.0, 1.5, 2.0, 3.0)}
            wide = (45.0 * d[1.0] - 9.0 * d[2.0] + d[3.0]) / (60.0 * h)
            narrow = (45.0 * d[0.5] - 9.0 * d[1.0] + d[1.5]) / (30.0 * h)
            error = float(np.abs(wide - narrow).max(initial=0.0)) / 63.0
            if error < best_error:
                best, best_error = (64.0 * narrow - wide) / 63.0, error
            if error <= GOOD * max(1.0, float(np.abs(narrow).max(initial=0.0))):
                break
        assert best is not None
        found.append(best / units[j])
        worst = max(worst, best_error / units[j])
    return (np.array(found).T if found else np.zeros((len(f(np.zeros(n))), 0))), worst


def _units(reduced: ReducedSystem) -> np.ndarray:
    lengths = np.array([unit.startswith("m") for unit in state_units(reduced)])
    return np.where(lengths, reduced.length, 1.0)


def _response(reduced: ReducedSystem, x0: np.ndarray, still: np.ndarray, effort: np.ndarray | int) -> np.ndarray:
    """ẋ for an effort of 1, or an acceleration of 1 of the driver of that number, in which it is linear."""
    if isinstance(effort, int):
        return reduced.motion(x0, drive=np.eye(len(reduced.led))[effort]).rate - still
    size = max(1.0, float(np.abs(effort).max()))
    return (reduced.motion(x0, effort / size).rate - still) * size


# --- names --------------------------------------------------------------------------------------------------------------


_POSITIONS = {"wx": "rx", "wy": "ry", "wz": "rz", "vx": "px", "vy": "py", "vz": "pz"}


def _freedoms(reduced: ReducedSystem) -> list[tuple[str, str, str]]:
    """(position, velocity, unit of the position) of every freedom of the tree."""
    found = []
    for joint in reduced.tree.joint_names:
        labels = joint_labels(reduced.tree, joint, FREEDOMS)
        kind = reduced.tree.system.joints[joint].kind if joint in reduced.tree.system.joints else "free"
        for label, unit in labels:
            last = label.rpartition(".")[2]
            if kind in ("free", "spherical"):
                found.append((f"{label[: -len(last)]}{_POSITIONS[last]}", label, unit))
            else:
                found.append((label, f"{label}.rate", unit))
    return found


def state_names(reduced: ReducedSystem) -> list[str]:
    """Names of z and u: "steer", "steer.rate"; of a floating body "base.rx", "base.px", "base.wx", "base.vx"."""
    names = _freedoms(reduced)
    rates = [f"{name}.rate" for name in reduced.led]
    return [names[i][0] for i in reduced.z] + [*reduced.led] + [names[i][1] for i in reduced.u] + rates


def state_units(reduced: ReducedSystem) -> list[str]:
    """Units of the same."""
    names = _freedoms(reduced)
    row_of = {driver.name: driver.row for driver in reduced.model.drivers}
    led = ["m" if reduced.model.row_is_length[row_of[name]] else "rad" for name in reduced.led]
    rates = [names[i][2] + "/s" for i in reduced.u] + [f"{unit}/s" for unit in led]
    return [names[i][2] for i in reduced.z] + led + rates


def _input(reduced: ReducedSystem, name: str) -> np.ndarray:
    """The effort (nv,) of an input of 1."""
    model, system, tree = reduced.model, reduced.model.system, reduced.tree
    efforts: dict[str, tuple[Any, int]] = {}
    for joint in system.joints.values():
        if joint.nv:
            for k, (label, _) in enumerate(joint_labels(tree, joint.name, FREEDOMS)):
                efforts[label] = (joint, k)
    floating = [
        label
        for joint in tree.joint_names
        if joint not in system.joints
        for label, _ in joint_labels(tree, joint, FREEDOMS)
    ]
    bodies = {f"{body}.{part}": (body, i) for body in system.bodies for i, part in enumerate(COMPONENTS)}
    poses, T = reduced.bodies(reduced.q0), reduced.transmission(reduced.q0)
    if name in efforts:
        joint, k = efforts[name]
        if joint.name in tree.coordinates:
            e = np.zeros(tree.nv)
            e[tree.coordinates[joint.name].v.start + k] = 1.0
            return e
        V = np.zeros((model.nb + 1, 6))
        out = np.zeros(tree.nv)
        for j in range(tree.nv):
            V[1:] = T[:, j].reshape(-1, 6)
            out[j] = joint_state(model, joint, poses, V)[1][k]
        return out
    if name in bodies:
        body, i = bodies[name]
        b = model.body_index[body] - 1
        wrench = np.zeros((model.nb, 6))
        if i < 3:
            wrench[b, 3 + i] = 1.0
        else:
            wrench[b, :3] = rotation_matrix(poses[b + 1, :4])[i - 3]
        return np.asarray(T.T @ wrench.reshape(-1))
    raise unknown("input", name, [*efforts, *system.drivers, *bodies, *floating][:200], plural="inputs")


def _output(reduced: ReducedSystem, name: str) -> tuple[list[str], Callable[[Any], np.ndarray]]:
    """Names of the components of an output, and its value at a motion."""
    system = reduced.model.system
    freedoms = _freedoms(reduced)
    positions = {position: i for i, (position, _, _) in enumerate(freedoms)}
    velocities = {velocity: i for i, (_, velocity, _) in enumerate(freedoms)}
    if name in positions:
        i = positions[name]
        return [name], lambda motion: reduced.deviation(motion)[i]
    if name in velocities:
        i = velocities[name]
        return [name], lambda motion: reduced.seen(motion)[i]
    whole, _, axis = name.rpartition(".")
    measure = system.measures.get(name) or system.measures.get(whole)
    if measure is None or (measure.name != name and axis not in measure.axes):
        raise unknown("output", name, [*positions, *velocities, *system.measures], plural="outputs")
    axes = measure.axes or ("",)
    chosen = slice(None) if measure.name == name else slice(axes.index(axis), axes.index(axis) + 1)

    def value(motion: Any) -> np.ndarray:
        frames = [_frame(reduced, motion, frame) for frame in (measure.a, measure.b)]
        return np.atleast_1d(measure.evaluate(*frames[0], *frames[1]))[chosen]

    labels = [f"{measure.name}.{part}" if part else measure.name for part in axes]
    return labels[chosen], value


def _frame(reduced: ReducedSystem, motion: Any, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R, p and (ω, v) of a body or marker in the world."""
    body, R_BF, p_BF = reduced.model.system.frame(name)
    if body.is_ground:
        return R_BF, p_BF, np.zeros(6)
    i = reduced.model.body_index[body.name]
    pose, V = reduced.bodies(motion.q)[i], reduced.body_velocities(motion.q, motion.v)[i]
    R = rotation_matrix(pose[:4])
    w, arm = R @ V[:3], R @ p_BF
    return R @ R_BF, pose[4:] + arm, np.concatenate([w, V[3:] + np.cross(w, arm)])


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


def _sorted(values: np.ndarray) -> np.ndarray:
    return values[np.lexsort((-values.imag, -np.round(values.real, 9)))]


# --- the motion of a mode -------------------------------------------------------------------------------------------------


def _played(lin: Linearization, mode: Mode, amplitude: float, periods: float, samples: int) -> Result:
    if not (amplitude > 0.0 and periods > 0.0 and samples >= 2):
        raise InputError("amplitude and periods must be greater than 0, samples 2 or more")
    reduced, lam = lin.reduced, mode.eigenvalue
    full = np.zeros(reduced.size, dtype=complex)
    if abs(lam) > 1e-9:
        values, vectors = scipy.linalg.eig(lin.A_full)
        full = vectors[:, int(np.abs(values - lam).argmin())]
    else:
        full[[lin.full_states.index(name) for name in lin.states]] = list(mode.shape.values())
    nz = reduced.nz
    shown = [i for i, name in enumerate(lin.full_states[:nz]) if name in lin.states] or list(range(nz))
    largest = shown[int(np.abs(full[shown]).argmax())] if nz else 0
    full = amplitude * full / (full[largest] if abs(full[largest]) > 1e-12 else np.abs(full).max())
    if lam.imag:
        end, rate = periods * 2.0 * math.pi / abs(lam.imag), 1j * lam.imag
    else:
        end, rate = periods / max(abs(lam.real), 1e-9) if lam.real else periods, complex(min(lam.real, 0.0))
        full = full * (1.0 if lam.real <= 0.0 else math.exp(-1.0))
    t = np.linspace(0.0, end, max(2, round(samples * periods) + 1))
    model = reduced.model
    q, v, a = (np.zeros((len(t), model.nb, k)) for k in (7, 6, 6))
    lam_rows = np.zeros((len(t), model.nc))
    kept = np.zeros(model.nc, dtype=bool)
    kept[reduced.kept_rows] = True
    for k, time in enumerate(t.tolist()):
        along = reduced.ahead(time) if np.abs(reduced.v0).max(initial=0.0) > 1e-9 else reduced
        motion = along.motion((full * np.exp(rate * time)).real)
        poses, V = along.bodies(motion.q), along.body_velocities(motion.q, motion.v)
        gamma = model.gamma(poses, V, reduced.t)
        acceleration, lam_rows[k], _ = accelerations(
            model, poses, generalized_forces(model, poses, V, reduced.t), kept, gamma, t=reduced.t
        )
        q[k], v[k], a[k] = poses[1:], V[1:], acceleration[1:]
    recording = BodyRecording(
        t, q, v, a, method=f"mode {lam:.6g} of nx.linearize", steps=0, settings={"coordinates": "bodies"},
        multipliers=lam_rows, violation=np.zeros(len(t)),
    )  # fmt: skip
    return Result(lin.system, recording, tree=BodyMotion(lin.system, model))  # type: ignore[arg-type]


# --- limits of stability --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StabilityLimit:
    """A value of the parameter at which an eigenvalue crosses the imaginary axis, and whether the mode gets stable above."""

    value: float
    eigenvalue: complex
    gets_stable: bool

    def __str__(self) -> str:
        kind = (
            f"oscillation of {abs(self.eigenvalue.imag) / (2.0 * math.pi):.4g} Hz"
            if self.eigenvalue.imag
            else "real mode"
        )
        return f"{self.value:.12g}: {kind} gets {'stable' if self.gets_stable else 'unstable'}"


@dataclass
class StabilitySweep:
    """Eigenvalues (values, n) over a parameter, and where they cross the imaginary axis."""

    parameter: str
    values: np.ndarray
    eigenvalues: np.ndarray
    limits: list[StabilityLimit]

    def __str__(self) -> str:
        lines = [f"{self.parameter} from {self.values[0]:g} to {self.values[-1]:g}:"]
        for x, row in zip(self.values, self.eigenvalues, strict=True):
            parts = [f"{y.real:+.5g}" + (f" ± {y.imag:.5g}i" if y.imag > 1e-9 else "") for y in row if y.imag > -1e-9]
            lines.append(f"  {x:10.6g}  {'  '.join(parts)}")
        return "\n".join([*lines, *(f"  at {limit}" for limit in self.limits)])

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "parameter": self.parameter, "values": self.values.tolist(),
            "eigenvalues": [[[float(x.real), float(x.imag)] for x in row] for row in self.eigenvalues],
            "limits": [
                {"value": x.value, "eigenvalue": [x.eigenvalue.real, x.eigenvalue.imag], "gets_stable": x.gets_stable}
                for x in self.limits
            ],
        }  # fmt: skip


def stability(system: System, parameter: str, values: Sequence[float], **options: Any) -> StabilitySweep:
    """Linearize `system` over `values` of a parameter and find where modes get stable or unstable, to rounding.

    values: increasing; a crossing and its return between two of them are not seen. options: as for `nx.linearize`, without
    `at`. Eigenvalues that are 0 throughout, of directions in which other steady motions lie, like another speed, do not count.
    """
    if parameter not in system.parameters:
        raise unknown("parameter", parameter, list(system.parameters))
    at = np.asarray(list(values), dtype=float)
    if len(at) < 2 or not (np.diff(at) > 0.0).all() or not np.isfinite(at).all():
        raise InputError(f"values of {parameter!r} must be two or more that increase")
    first = linearize(system.with_parameters({parameter: float(at[0])}), **({"ignore": True} | options))
    options = {name: options[name] for name in ("t", "q0", "v0") if name in options}

    def matrix(x: float) -> np.ndarray:
        report = assemble(system.with_parameters({parameter: float(x)}), **options)
        return first.at_another(ReducedSystem(report, like=first.reduced))

    found = [first.A, *(matrix(x) for x in at[1:].tolist())]
    zeros = min(_zeros(scipy.linalg.eigvals(A)) for A in found)
    limits: list[StabilityLimit] = []
    for k in range(len(at) - 1):
        limits += _crossings(matrix, float(at[k]), float(at[k + 1]), found[k], found[k + 1], zeros)
    return StabilitySweep(parameter, at, np.array([_sorted(scipy.linalg.eigvals(A)) for A in found]), limits)


def _zeros(values: np.ndarray) -> int:
    """How many eigenvalues are 0 but for rounding, which a double one is to its root."""
    return int((np.abs(values) < NEUTRAL * max(1.0, float(np.abs(values).max(initial=0.0)))).sum())


def _unstable(values: np.ndarray) -> int:
    return int((values.real > NEUTRAL * max(1.0, float(np.abs(values).max(initial=0.0)))).sum())


def _crossings(
    matrix: Callable[[float], np.ndarray], a: float, b: float, A: np.ndarray, B: np.ndarray, zeros: int
) -> list[StabilityLimit]:
    """Between a and b. Of det(λ − A) = λ^zeros (… + c λ⁰), c changes its sign where a real mode crosses."""
    found = []
    start, end = scipy.linalg.eigvals(A), scipy.linalg.eigvals(B)

    def last(A: np.ndarray) -> float:
        return float(np.real(np.poly(A)[len(A) - zeros]))

    if last(A) * last(B) < 0.0:
        x = scipy.optimize.brentq(lambda x: last(matrix(x)), a, b, xtol=1e-13, rtol=1e-14)
        found.append(StabilityLimit(float(x), 0.0 + 0.0j, _unstable(end) < _unstable(start)))
    pairs = [values[values.imag > NEUTRAL] for values in (start, end)]
    if len(pairs[0]) == len(pairs[1]):
        cost = np.abs(pairs[0][:, None] - pairs[1][None, :])
        for i, j in zip(*scipy.optimize.linear_sum_assignment(cost), strict=True):
            one, other = complex(pairs[0][i]), complex(pairs[1][j])
            clear = min(abs(one.real) / abs(one), abs(other.real) / abs(other)) > UNDAMPED
            if clear and one.real * other.real < 0.0:
                found.append(_crossing_of_pair(matrix, a, b, one, other))
    return sorted(found, key=lambda limit: limit.value)


def _crossing_of_pair(
    matrix: Callable[[float], np.ndarray], a: float, b: float, one: complex, other: complex
) -> StabilityLimit:
    def nearest(x: float) -> complex:
        guess = one + (other - one) * (x - a) / (b - a)
        values = scipy.linalg.eigvals(matrix(x))
        values = values[values.imag > 0.0]
        return complex(values[int(np.abs(values - guess).argmin())])

    x = scipy.optimize.brentq(lambda x: nearest(x).real, a, b, xtol=1e-13, rtol=1e-14)
    return StabilityLimit(float(x), complex(0.0, nearest(x).imag), one.real > 0.0)

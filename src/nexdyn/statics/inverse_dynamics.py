"""`nx.inverse_dynamics`: what drives must do for a recorded motion, and the reactions of the joints in it.

    tree    τ = M a + h − (all that acts by itself)                                    in every degree of freedom
    loops   Cqᵀ λ + Sᵀ σ = Q − M a,   τ = −σ                                            S: coordinates that are driven

Rates of a table come from polynomials through each sample's neighbours: with x(s) the motion from sample k on, q_k ∘ x,
by its rotation vector where it turns,

    x(s) ≈ Σ cₙ sⁿ, n = 0 … 4, least squares over `window` samples around t_k;   q_k ← q_k ∘ c₀,  v = c₁,  a = 2 c₂

five samples: through all of them, of fourth order within the motion; more: noise is smoothed (Savitzky, Golay 1964). At the
ends the window stands beside the sample. A `Result` keeps the rates that it was recorded with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.assembly.assemble import assemble
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.force_states import states_along
from nexdyn.assembly.loads import Loads
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, SolveError, counted, unknown
from nexdyn.forces.states import state_labels
from nexdyn.forces.tables import ForceTables
from nexdyn.joints.free import Free
from nexdyn.joints.spherical import Spherical
from nexdyn.linalg.matrices import dense
from nexdyn.model.driver import Driver
from nexdyn.model.joint import is_angle
from nexdyn.model.system import System
from nexdyn.results.recording import BodyRecording, Recording
from nexdyn.results.result import Result
from nexdyn.results.segments import segments
from nexdyn.spatial.rotations import (
    cross_product,
    exp_quaternion,
    log_quaternion,
    quaternion,
    quaternion_conjugate,
    quaternion_multiply,
    rotation_matrix,
)
from nexdyn.statics.inverse_kinematics import follow
from nexdyn.statics.turns import angles_of_bodies, angles_on_tree, as_recorded, known_of
from nexdyn.tree.demand import demanded_efforts
from nexdyn.tree.tree import Tree

if TYPE_CHECKING:
    import xarray as xr

Array = np.ndarray
DEGREE = 4
UNBALANCED = 1e-7
"""What may be left of Q − M a, relative to the largest load, when joints and drives have taken their part."""
DEPENDENT = 1e-9


@dataclass(frozen=True, repr=False)
class Efforts(metaclass=CheckedCalls):
    """The outcome of `nx.inverse_dynamics`.

    t (N,) [s]; q, v, a: the motion as it was taken, in coordinates of the tree (N, nq), (N, nv), or of bodies; tau (N, n)
    [N m, N] by degree of freedom; dof_names: "joint" or "joint.i" of each column. motion: the motion as a Result, with reactions.
    """

    system: System
    t: Array
    tau: Array
    dof_names: list[str]
    motion: Result

    def __repr__(self) -> str:
        return (
            f"Efforts({self.system.name!r}: {counted(len(self.dof_names), 'effort')} at {counted(len(self.t), 'time')})"
        )

    @property
    def q(self) -> Array:
        """Coordinates of the tree (N, nq), or poses of bodies (N, nb, 7)."""
        return self.motion.recording.q

    @property
    def v(self) -> Array:
        """Velocities (N, nv), or (N, nb, 6)."""
        return self.motion.recording.v

    @property
    def a(self) -> Array:
        """Accelerations (N, nv), or (N, nb, 6)."""
        return self.motion.recording.a

    @cached_property
    def _columns(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for i, label in enumerate(self.dof_names):
            name = label if label in self.system.joints or label in self.system.bodies else label.rpartition(".")[0]
            found.setdefault(name, []).append(i)
        return found

    def effort(self, joint: str) -> Array:
        """What the drive of a joint must give (N,) [N m, N], or (N, degrees of freedom) where it has several."""
        if joint not in self._columns:
            raise unknown("driven joint", joint, self._columns)
        tau = self.tau[:, self._columns[joint]]
        return tau[:, 0].copy() if tau.shape[1] == 1 else tau.copy()

    def reaction(self, joint: str | None = None) -> xr.DataArray:
        """Force and moment of a joint on its child, constraint part, as of a Result."""
        return self.motion.reaction(joint)


@small_on_one_thread
def inverse_dynamics(
    system: System,
    motion: Any,
    t: Any = None,
    *,
    actuators: Sequence[str] = (),
    window: int = DEGREE + 1,
) -> Efforts:
    """The efforts and reactions that a motion of `system` requires in addition to its applied forces.

    motion: a Result, whose rates are kept, and what events changed where it is a run of `system` itself; or a table of
        coordinates: (N, nq) in the order of `nx.Tree(system).joint_names`, or {joint: (N,) or (N, nq)}, other joints standing
        where they are described. With loops, coordinates of `actuators`.
    t: times (N,) [s] of a table, increasing, in any steps.
    actuators: joints that drive a mechanism with loops, as many coordinates as it has degrees of freedom; by default those
        of the table. On a tree every degree of freedom is told.
    window: samples, odd, by which rates of a table are found; more than 5 smooth.

    States of forces (integrals, lags, samples, bristles) go along with the motion, from those described on; a Result that
    has recorded them keeps its own. Drivers of the system are not for inverse dynamics: the motion says what they would.
    Turns of torsion springs are those that the run of a Result has counted; for a table they follow from its rates.
    Raises InputError; SolveError where joints and actuators cannot balance the motion, a loop cannot follow the table, or samples are too
    far apart to count turns of a spring.
    """
    if type(window) is not int or window < DEGREE + 1 or window % 2 == 0:
        raise InputError(f"window is {window!r}; an odd whole number of samples, {DEGREE + 1} or more, is needed")
    if system.drivers:
        raise InputError(
            f"driver {next(iter(system.drivers))!r} moves the system by itself; leave drivers out and give their motion"
        )
    tree = _tree(system)
    if isinstance(motion, Result):
        if motion.system is not system and list(motion.system.joints) != list(system.joints):
            raise InputError("the motion is the result of another system")
        parts = segments(system, motion.recording) if motion.system is system else None
        if tree is not None and not isinstance(motion.recording, BodyRecording):
            return _on_tree(tree, motion.recording, _recorded_states(system, motion), parts, motion)
        return _closed(system, _recorded(motion, system), actuators, _recorded_states(system, motion), parts)
    times = _times(t)
    if tree is not None:
        if isinstance(motion, Mapping):
            motion = _table(tree, motion, len(times))
        return _on_tree(tree, _rates(tree, times, motion, window))
    if not isinstance(motion, Mapping) or not motion:
        raise InputError(
            "with loops the motion is {joint: coordinates (N,)} of the joints that are driven, or a Result"
        )
    return _closed(system, _followed(system, times, motion, window), actuators or list(motion))


def _tree(system: System) -> Tree | None:
    """The tree of a system without loops."""
    try:
        return Tree(system)
    except InputError:
        return None


def _times(t: Any) -> Array:
    try:
        times = np.asarray(t, dtype=float)
    except (TypeError, ValueError):
        times = np.zeros(0)
    if times.ndim != 1 or len(times) < DEGREE + 1 or not np.isfinite(times).all() or not (np.diff(times) > 0.0).all():
        raise InputError(f"t must be {DEGREE + 1} or more finite times [s] that increase")
    return times


# --- rates ----------------------------------------------------------------------------------------------------------


def windows(t: Array, window: int) -> tuple[Array, Array]:
    """Samples (N, w) around each, and weights (3, N, w): of the value, the first and the second derivative there."""
    n = len(t)
    w = min(window, n)
    first = np.clip(np.arange(n) - w // 2, 0, n - w)
    index = first[:, None] + np.arange(w)
    s = t[index] - t[:, None]
    scale = np.abs(s).max(axis=1)
    powers = (s / scale[:, None])[..., None] ** np.arange(min(DEGREE, w - 1) + 1)
    inverse = np.linalg.pinv(powers)  # (N, degree + 1, w)
    return index, np.stack([inverse[:, 0], inverse[:, 1] / scale[:, None], 2.0 * inverse[:, 2] / scale[:, None] ** 2])


def _rates(tree: Tree, t: Array, motion: Any, window: int) -> Recording:
    """A table of coordinates with its rates."""
    _, (q,) = tree.batch(("motion", motion, tree.nq))
    if len(q) != len(t):
        raise InputError(f"the motion has {counted(len(q), 'sample')} and t has {len(t)}")
    q = tree.normalized(q)
    index, weights = windows(t, window)
    out, v, a = q.copy(), np.zeros((len(t), tree.nv)), np.zeros((len(t), tree.nv))
    for name, place in tree.coordinates.items():
        own, kind = q[:, place.q], type(tree.system.joints[name]) if name in tree.system.joints else Free
        if kind in (Spherical, Free):
            turn, w, w_dot = _turning(own[:, :4], index, weights)
            out[:, place.q.start : place.q.start + 4] = turn
            v[:, place.v.start : place.v.start + 3], a[:, place.v.start : place.v.start + 3] = w, w_dot
            if kind is Free:
                p, u, u_dot = (np.einsum("nw,nwi->ni", k, own[index, 4:]) for k in weights)
                R = rotation_matrix(turn)
                shift = np.einsum("nji,nj->ni", R, u)  # a free joint's velocity is in the body's axes, which turn
                out[:, place.q.start + 4 : place.q.stop] = p
                v[:, place.v.start + 3 : place.v.stop] = shift
                a[:, place.v.start + 3 : place.v.stop] = np.einsum("nji,nj->ni", R, u_dot) - cross_product(w, shift)
            continue
        out[:, place.q], v[:, place.v], a[:, place.v] = (np.einsum("nw,nwi->ni", k, own[index]) for k in weights)
    return Recording(t, out, v, a, method=f"recorded, rates over {window} samples")


def _turning(q: Array, index: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Quaternions (N, 4), ω and ω̇ (N, 3) in turning axes, of a table of quaternions."""
    away = log_quaternion(quaternion_multiply(quaternion_conjugate(q)[:, None], q[index]))  # (N, w, 3)
    value, first, second = (np.einsum("nw,nwi->ni", k, away) for k in weights)
    # at the sample φ = c₀ is next to nothing: ω = J_r(φ) φ̇ ≈ φ̇ − ½ φ × φ̇,  ω̇ ≈ φ̈ − ½ φ × φ̈
    return (
        quaternion_multiply(q, exp_quaternion(value)),
        first - 0.5 * cross_product(value, first),
        second - 0.5 * cross_product(value, second),
    )


def _table(tree: Tree, motion: Mapping[str, Any], n: int) -> Array:
    """Coordinates by joint as an array (N, nq); other joints stand where they are described."""
    q = np.tile(tree.described(), (n, 1))
    for name, values in motion.items():
        if name not in tree.coordinates:
            raise unknown("joint", name, tree.coordinates)
        place = tree.coordinates[name].q
        x = np.asarray(values, dtype=float).reshape(len(np.atleast_1d(values)), -1)
        if x.shape != (n, place.stop - place.start):
            raise InputError(f"motion of joint {name!r} has shape {x.shape}; {(n, place.stop - place.start)} is needed")
        q[:, place] = x
    return q


# --- trees ----------------------------------------------------------------------------------------------------------


Parts = Sequence[tuple[int, int, System]]
"""First sample, sample after the last, and the system that events had made of the one given: `results.segments`."""


def _on_tree(
    tree: Tree, motion: Recording, z: Array | None = None, parts: Parts | None = None, run: Result | None = None
) -> Efforts:
    """z, parts, run: of a result, whose turns are those that its run has counted."""
    taus, states, angles = [], [], angles_on_tree(tree, motion, run)
    for first, end, system in parts or [(0, len(motion.t), tree.system)]:
        rows = slice(first, end)

        def along(
            forces: ForceTables, t: Array, q: Array, v: Array, system: System = system, rows: slice = rows
        ) -> Array:
            return states_along(system, forces, t, q, v) if z is None else z[rows]

        here = tree if system is tree.system else Tree(system)
        t, q, v, a = (x[rows] for x in (motion.t, motion.q, motion.v, motion.a))
        found = demanded_efforts(here, t, q, v, a, along, angles[rows])
        taus.append(found[0])
        states.append(found[1])
    tau = np.concatenate(taus)
    motion = replace(motion, z=np.concatenate(states))
    if type(motion) is Recording:
        motion = replace(motion, followed=angles if angles.size else np.zeros((0, 0)))
    labels = []
    for name, place in tree.coordinates.items():
        n = place.v.stop - place.v.start
        labels += [name] if n == 1 else [f"{name}.{i}" for i in range(n)]
    return Efforts(tree.system, motion.t, tau, labels, Result(tree.system, motion, tree=tree))


def _recorded_states(system: System, motion: Result) -> Array | None:
    """States of forces (N, nz) that a result has recorded; None where it has others."""
    z = motion.recording.z
    return z if z.size and z.shape[1] == len(state_labels(system)) else None


# --- loops ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bodies:
    """A motion of bodies: t (N,); q (N, nb + 1, 7), v, a (N, nb + 1, 6) of bodies in absolute coordinates; what is known of angles that
    are counted, (N,) each; what happened."""

    t: Array
    q: Array
    v: Array
    a: Array
    known: Mapping[tuple[str, str], Array]
    events: Sequence[Mapping[str, Any]] = ()


def _recorded(motion: Result, system: System) -> _Bodies:
    """The bodies of a result, whatever its coordinates."""
    names = list(motion.system.bodies)
    n = len(motion.recording.t)
    q, v, a = np.zeros((n, len(names) + 1, 7)), *np.zeros((2, n, len(names) + 1, 6))
    q[:, 0, 0] = 1.0
    for i, name in enumerate(names, start=1):
        of = partial(motion.observed.at_frame, frame=name)
        R = of("rotation")
        q[:, i, :4], q[:, i, 4:] = quaternion(R), of("position")
        v[:, i, :3] = np.einsum("nji,nj->ni", R, of("angular_velocity"))
        a[:, i, :3] = np.einsum("nji,nj->ni", R, of("angular_acceleration"))
        v[:, i, 3:], a[:, i, 3:] = of("velocity"), of("acceleration")
    return _Bodies(motion.recording.t, q, v, a, known_of(motion, system), motion.events)


def _followed(system: System, t: Array, motion: Mapping[str, Any], window: int) -> _Bodies:
    """The bodies that follow from a table of driven coordinates."""
    named, columns = [], []
    for name, values in motion.items():
        count = len(system.joint(name).coordinates)
        x = np.asarray(values, dtype=float).reshape(len(np.atleast_1d(values)), -1)
        if x.shape != (len(t), count) or not np.isfinite(x).all():
            raise InputError(
                f"motion of joint {name!r} has shape {x.shape}; {(len(t), count)} finite numbers are needed"
            )
        named += [(name, m) for m in range(count)]
        columns.append(x)
    x = np.concatenate(columns, axis=1)
    index, weights = windows(t, window)
    x, x_dot, x_ddot = (np.einsum("nw,nwi->ni", k, x[index]) for k in weights)
    model = _driven(system, named)
    own = model.nc - len(named)
    first = {name: x[0, [i for i, (n, _) in enumerate(named) if n == name]] for name in motion}
    q = assemble(system, q0=first).q
    near = model.near(q)
    for driver, value in zip(model.drivers[len(model.drivers) - len(named) :], x[0], strict=True):
        if driver.near >= 0:
            near[driver.near] = value
    qs, vs, accelerations = [], [], []
    for k in range(len(t)):
        there = follow(model, q, near, x[k], own)
        if there is None:
            raise SolveError(
                f"the loops cannot follow the motion at t = {t[k]:g} s; check it, or give more samples",
                time=float(t[k]),
            )
        q, near = there
        Cq = dense(model.jacobian(q, 0.0, near))
        nu = model.nu(0.0, q)
        nu[own:] += x_dot[k]
        v = np.zeros((model.nb + 1, 6))
        v[1:] = scipy.linalg.lstsq(Cq, nu, cond=DEPENDENT)[0].reshape(-1, 6)
        gamma = model.gamma(q, v, 0.0, near)
        gamma[own:] += x_ddot[k]
        a = np.zeros((model.nb + 1, 6))
        a[1:] = scipy.linalg.lstsq(Cq, gamma, cond=DEPENDENT)[0].reshape(-1, 6)
        qs.append(q)
        vs.append(v)
        accelerations.append(a)
    places = [(name, system.joint(name).coordinates[m]) for name, m in named]
    known = {of: x[:, i] for i, of in enumerate(places) if is_angle(of[1])}
    return _Bodies(t, np.array(qs), np.array(vs), np.array(accelerations), known)


def _driven(system: System, named: Sequence[tuple[str, int]]) -> AbsoluteModel:
    """The model with a row for each coordinate (joint, freedom) that is driven, after all others."""
    return absolute_model(system, held=[Driver(f"{name}.{m}", name, 0.0, freedom=m) for name, m in named])


def _closed(
    system: System, motion: _Bodies, actuators: Sequence[str], z: Array | None = None, parts: Parts | None = None
) -> Efforts:
    """Efforts of the actuators and multipliers of all rows; z (N, nz): states of forces, by default those along the motion."""
    named = [(name, m) for name in actuators for m in range(len(system.joint(name).coordinates))]
    for name in actuators:
        if not len(system.joint(name).coordinates):
            raise InputError(f"{system.joint(name)} has no coordinate that an actuator drives")
    if not named:
        raise InputError("with loops, or a motion of bodies, actuators are needed: the joints that drive the mechanism")
    model = _driven(system, named)
    own = model.nc - len(named)
    tau, lam = np.zeros((len(motion.t), len(named))), np.zeros((len(motion.t), own))
    _check_actuated(model, motion, own)
    loads = Loads(model)
    each = {first: here for first, _, here in parts or ()}
    turns = angles_of_bodies(model, motion.t, motion.q, motion.v, motion.known)
    if loads.tables is not None and len(loads.tables.z) and z is None:
        joint_q, joint_v = loads.along(motion.q, motion.v, turns)
        z = states_along(system, loads.tables, motion.t, joint_q, joint_v)
    for k, t in enumerate(motion.t.tolist()):
        q, v = motion.q[k], motion.v[k]
        if each.get(k, system) is not system:
            model = _driven(each[k], named)
            loads = Loads(model)
        loads.near = turns[k].copy()
        Q = loads(q, v, t, None if z is None else z[k])
        missing = Q - np.asarray(model.mass_matrix(q) @ motion.a[k, 1:].reshape(-1))
        Cq = dense(model.jacobian(q, t))
        found = scipy.linalg.lstsq(Cq.T, missing, cond=DEPENDENT)[0]
        left = np.abs(missing - Cq.T @ found)
        if left.max() > UNBALANCED * max(float(np.abs(Q).max()), float(np.abs(missing).max()), 1e-300):
            body = model.bodies[1 + int(left.argmax()) // 6]
            raise SolveError(
                f"joints and actuators do not balance the motion at t = {t:g} s: {left.max():.3g} is left on body {body!r}; "
                f"name the actuators that drive it, or check that the motion is one of this system",
                time=t, where=body,
            )  # fmt: skip
        lam[k], tau[k] = found[:own], -found[own:]
    recording = BodyRecording(
        motion.t, motion.q[:, 1:].copy(), motion.v[:, 1:].copy(), motion.a[:, 1:].copy(), method="recorded",
        settings={"coordinates": "bodies"} | ({"events": list(motion.events)} if each else {}),
        multipliers=lam, violation=np.zeros(len(motion.t)),
        z=np.zeros((0, 0)) if z is None else z, followed=as_recorded(system, model, turns, motion.known),
    )  # fmt: skip
    several = {name for name, m in named if m}
    labels = [f"{name}.{m}" if name in several else name for name, m in named]
    return Efforts(system, motion.t, tau, labels, Result(system, recording))


def _check_actuated(model: AbsoluteModel, motion: _Bodies, own: int) -> None:
    """InputError for actuators that repeat each other or what the joints hold."""
    Cq = dense(model.jacobian(motion.q[0], float(motion.t[0])))

    def rank(A: Array) -> int:
        size = np.linalg.svd(A, compute_uv=False)
        return int((size > DEPENDENT * size.max(initial=0.0)).sum())

    joints, both = rank(Cq[:own]), rank(Cq)
    if both - joints < len(Cq) - own:
        raise InputError(
            f"{len(Cq) - own} actuated coordinates move {both - joints} degrees of freedom of "
            f"{model.nv - joints}: their efforts are not determined; name fewer actuators"
        )

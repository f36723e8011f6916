"""The motion that a mechanism has left, in as many numbers as it has: the state x = (z, u) about a reference.

The coordinates are those of a spanning tree, ξ about the reference pose: R₀ exp θ, p₀ + d of a free joint, angles and
lengths of others. Position rows C = 0 leave some of them independent, z; all rows, A v + b = 0, leave velocities u:

    C(ξ) = 0  →  ξ_d(z);      A(ξ) v + b = 0  →  v_d(z, u);
    [ M  Jᵀ ] [v̇]   [ τ − h         ]
    [ J  0  ] [λ] = [ γ − Cq Ṫ v    ]        J = Cq T,  velocities of the bodies T v

M and h hold the armature I_a of the tree's joints; that of a cut joint, whose velocity is B T v, joins them with Tᵀ Bᵀ I_a B T and
Tᵀ Bᵀ I_a (Ḃ T v + B Ṫ v).

    ż = (ξ̇ − ξ̇ of the reference)_i,   u̇ = v̇_i

A driver that is an input is led by its acceleration: its motion is f + δ, C − δ = 0 of its row, ν + δ̇, γ + δ̈, and δ and δ̇ go with
the state, x = (z, δ, u, δ̇). States s of forces, as far as they move by themselves, come last, x = (z, δ, u, δ̇, s), with ṡ = f(t, q, v, s).

The reference moves on with its velocity v₀, and ξ counts from where it is: θ̇ = Jᵣ⁻¹(θ) (ω − exp(−θ) ω₀), ḋ = R v − R₀ v₀.
About a steady motion, seen in coordinates that it does not change, this is a system without time. A body that spins about
its axis of symmetry is not steady in its own axes, but in axes exp φ that deviate with it and do not spin: R = exp φ R₀(t),
velocities u = R₀ω, R₀v are counted in these axes, φ̇ = Jᵣ⁻¹(φ) (u − u₀), u̇ = R₀ (ω̇ + ω₀ × ω), likewise for v.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.armature import Rotors, RotorsOfJoints, rotor_rows
from nexdyn.absolute.model.configuration import row_units
from nexdyn.assembly.assemble import mechanism_length
from nexdyn.assembly.force_states import OwnState, own_states, slipping_contacts
from nexdyn.assembly.loads import Loads, SlippingLoads
from nexdyn.assembly.report import AssemblyReport
from nexdyn.assembly.start_velocity import tree_state
from nexdyn.errors import SolveError
from nexdyn.joints.free import Free
from nexdyn.model.topology import open_forest
from nexdyn.spatial.rotations import (
    cross_product,
    exp_quaternion,
    quaternion,
    quaternion_multiply,
    right_jacobian_inverse,
    rotation_matrix,
)
from nexdyn.tree.observe import observe_motion
from nexdyn.tree.tree import Tree

DEPENDENT = 1e-9
"""A row whose part across those before is below this, of its own size, depends on them."""
BASE = 1e-3
"""How much less a coordinate of a floating body counts where independent ones are chosen."""
CLOSED, MOST = 1e-14, 40


class Motion(NamedTuple):
    """What is known at a state: q (nq,), ξ, v, v̇ (nv,), ẋ = (ż, u̇, ṡ), and the states (nz,) of forces."""

    q: np.ndarray
    xi: np.ndarray
    v: np.ndarray
    a: np.ndarray
    rate: np.ndarray
    forces: np.ndarray


class ReducedSystem:
    """The dynamics ẋ = f(x) of a system about the state of an assembly report; see the module.

    in_world: whether floating bodies are seen in axes that do not spin with them. z, u: which coordinates and velocities of the tree are
    independent; chosen by pivoting, or as in `like`. led: names of drivers that are inputs.
    """

    led: tuple[str, ...]
    own: list[OwnState]
    """States of forces that move by themselves, in the order of s."""
    at_limit: str
    """Of a contact whose friction holds as much as it can and does not slide that it has two slopes; "" where there is none."""
    z: np.ndarray
    u: np.ndarray
    _position_rows: np.ndarray
    _velocity_rows: np.ndarray
    _z_dependent: np.ndarray
    _u_dependent: np.ndarray

    def __init__(
        self, report: AssemblyReport, in_world: bool = False, like: ReducedSystem | None = None,
        led: Sequence[str] = (),
    ) -> None:  # fmt: skip
        model = self.model = report.model
        system = model.system
        self.led = tuple(led) if like is None else like.led
        row_of = {driver.name: driver.row for driver in model.drivers}
        self._led_rows = np.array([row_of[name] for name in self.led], dtype=int)
        self.t, self.in_world = report.t, in_world
        forest = open_forest(system)
        self.tree = Tree(system, forest)
        cut = [list(system.joints).index(joint.name) for joint in forest.cuts]
        of_cut = np.isin(RotorsOfJoints(model.rotors.joints).pair, cut)
        self._cut_rotors = Rotors(model.rotors.joints[of_cut], model.rotors.inertia[of_cut])
        self._body = np.array([model.body_index[name] for name in self.tree.body_names], dtype=int)
        self.q0, self.v0 = tree_state(self.tree, model, report.q, report.v, report.t)
        kinds = {name: system.joints[name].kind if name in system.joints else "free" for name in self.tree.joint_names}
        self._balls = [
            (place.q.start, place.v.start, kinds[name] == "free")
            for name, place in self.tree.coordinates.items()
            if kinds[name] in ("free", "spherical")
        ]
        self._near = model.near(report.q, self.t)
        loads = Loads(model)
        states = loads.described if report.states is None else report.states.copy()
        bound = loads.bound(report.q, report.v, report.t, states)
        sliding, self.at_limit = slipping_contacts(system, states, bound, loads.rate, report.states is None)
        self.own = own_states(system, bound)
        self._loads = SlippingLoads(model, sliding, report.q, report.v, report.t, states)
        self.forces0 = self._loads.settled
        self._own = np.array([state.place for state in self.own], dtype=int)
        n = self.tree.nv
        self.start_chart()
        self.length = mechanism_length(model)
        if like is not None:
            self.in_world, self.z, self.u = like.in_world, like.z, like.u
            self._position_rows, self._velocity_rows = like._position_rows, like._velocity_rows
            self._z_dependent, self._u_dependent = like._z_dependent, like._u_dependent
            return
        T = self.transmission(self.q0)
        rows, bodies = row_units(model, self.length), np.tile([1.0] * 3 + [1.0 / self.length] * 3, model.nb)
        J_v = rows[:, None] * self._rows_at(self.bodies(self.q0), T)
        J = J_v * self.coordinate_units
        J_xi = J_v @ np.linalg.inv(self._chart(self.q0, np.zeros(n))) * self.coordinate_units
        size = float(np.abs(bodies[:, None] * T * self.coordinate_units).max(initial=1.0))
        first, slips = np.flatnonzero(model.positional), np.flatnonzero(~model.positional)
        self._position_rows = first[_independent(J[first], np.zeros((0, n)), size)]
        self._velocity_rows = np.concatenate(
            [self._position_rows, slips[_independent(J[slips], J[self._position_rows], size)]]
        )
        weight = np.ones(n)
        for _, j, free in self._balls:
            weight[j : j + (6 if free else 3)] = 1.0 / BASE
        self._z_dependent = _pivots(J_xi[self._position_rows] * weight)
        self._u_dependent = _pivots(J[self._velocity_rows] * weight)
        self.z = np.setdiff1d(np.arange(n), self._z_dependent)
        self.u = np.setdiff1d(np.arange(n), self._u_dependent)

    @property
    def size(self) -> int:
        """Numbers of the state."""
        return len(self.z) + len(self.u) + 2 * len(self.led) + len(self.own)

    @property
    def nz(self) -> int:
        """How many of them are positions, z and δ."""
        return len(self.z) + len(self.led)

    def speed(self) -> float:
        """The largest velocity of the reference [1/s], lengths relative to that of the mechanism."""
        return float(np.abs(self.v0 / self.coordinate_units).max(initial=0.0))

    @cached_property
    def coordinate_units(self) -> np.ndarray:
        """Of each velocity of the tree what counts as 1: 1 rad, or the length of the mechanism."""
        units = np.ones(self.tree.nv)
        for name, place in self.tree.coordinates.items():
            joint = self.model.system.joints.get(name)
            ways = [way for way, _, _ in (Free if joint is None else joint).directions]
            units[place.v] = [1.0 if way == "turn" else self.length for way in ways]
        return units

    def start_chart(self) -> None:
        """Count ξ from q0."""
        self._turn0 = {k: rotation_matrix(self.q0[k : k + 4]) for k, _, _ in self._balls}

    @property
    def kept_rows(self) -> np.ndarray:
        """Rows of the model that are independent, those of the tree's own joints among them."""
        J = np.asarray(self.model.jacobian(self.bodies(self.q0), self.t, self._near.copy()) @ np.eye(self.model.nv))
        J = row_units(self.model, self.length)[:, None] * J * np.tile([1.0] * 3 + [self.length] * 3, self.model.nb)
        order = np.argsort(~self.model.positional, kind="stable")
        return np.sort(order[_independent(J[order], np.zeros((0, J.shape[1])), float(np.abs(J).max(initial=0.0)))])

    def ahead(self, time: float) -> ReducedSystem:
        """The same after the reference has moved on for `time` [s]."""
        other = copy.copy(self)
        other.q0 = self.tree.integrate(self.q0, time * self.v0)
        other.v0 = self.v0.copy()
        if self.in_world:
            for k, j, free in self._balls:
                if free:
                    R, w = self._turn0[k], self.v0[j : j + 3]
                    other.q0[k : k + 4] = quaternion_multiply(self.q0[k : k + 4], exp_quaternion(time * w))
                    other.q0[k + 4 : k + 7] = self.q0[k + 4 : k + 7] + time * (R @ self.v0[j + 3 : j + 6])
                    turned = rotation_matrix(other.q0[k : k + 4])
                    other.v0[j + 3 : j + 6] = turned.T @ (R @ self.v0[j + 3 : j + 6])
        other.start_chart()
        other._near = self.model.near(other.bodies(other.q0), self.t)
        return other

    def deviation(self, motion: Motion) -> np.ndarray:
        """ξ (nv,) of a motion."""
        return motion.xi

    def seen(self, motion: Motion) -> np.ndarray:
        """Velocities (nv,) of a motion as they are counted, from those of the reference."""
        return self._seen(motion.v) - self._seen(self.v0)

    # --- charts -----------------------------------------------------------------------------------------------------

    def pose(self, xi: np.ndarray) -> np.ndarray:
        """q (nq,) = q0 ∘ ξ."""
        q = self.q0.copy()
        plain = np.ones(self.tree.nv, dtype=bool)
        for k, j, free in self._balls:
            turn = exp_quaternion(xi[j : j + 3])
            about = self.q0[k : k + 4]
            q[k : k + 4] = quaternion_multiply(turn, about) if self._world(free) else quaternion_multiply(about, turn)
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
            if free:
                q[k + 4 : k + 7] += xi[j + 3 : j + 6]
            plain[j : j + (6 if free else 3)] = False
        q[self._plain_q] += xi[plain]
        return q

    @property
    def _plain_q(self) -> np.ndarray:
        plain = np.ones(self.tree.nq, dtype=bool)
        for k, _, free in self._balls:
            plain[k : k + (7 if free else 4)] = False
        return plain

    def _world(self, free: bool) -> bool:
        return self.in_world and free

    def _chart(self, q: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """S (nv, nv): ξ̇ = S v, without what the reference moves."""
        S = np.eye(self.tree.nv)
        for k, j, free in self._balls:
            R, phi = rotation_matrix(q[k : k + 4]), xi[j : j + 3]
            world = self._world(free)
            S[j : j + 3, j : j + 3] = right_jacobian_inverse(phi) @ (self._turn0[k] if world else np.eye(3))
            if free:
                S[j + 3 : j + 6, j + 3 : j + 6] = R
        return S

    def _rate(self, q: np.ndarray, v: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """ξ̇ (nv,)."""
        rate = v - self.v0
        for k, j, free in self._balls:
            phi, R, R0 = xi[j : j + 3], rotation_matrix(q[k : k + 4]), self._turn0[k]
            w, w0 = v[j : j + 3], self.v0[j : j + 3]
            if self._world(free):
                rate[j : j + 3] = right_jacobian_inverse(phi) @ (R0 @ (w - w0))
            else:
                rate[j : j + 3] = right_jacobian_inverse(phi) @ (w - R.T @ (R0 @ w0))
            if free:
                rate[j + 3 : j + 6] = R @ v[j + 3 : j + 6] - R0 @ self.v0[j + 3 : j + 6]
        return rate

    def _seen(self, v: np.ndarray) -> np.ndarray:
        """Velocities as they are counted, u = R₀ω, R₀v of bodies that are seen so."""
        out = v.copy()
        for k, j, free in self._balls:
            if self._world(free):
                out[j : j + 3], out[j + 3 : j + 6] = self._turn0[k] @ v[j : j + 3], self._turn0[k] @ v[j + 3 : j + 6]
        return out

    def _turns(self) -> np.ndarray:
        """B (nv, nv): v = B (velocities as they are counted)."""
        B = np.eye(self.tree.nv)
        for k, j, free in self._balls:
            if self._world(free):
                B[j : j + 3, j : j + 3] = B[j + 3 : j + 6, j + 3 : j + 6] = self._turn0[k].T
        return B

    # --- the tree among the bodies ----------------------------------------------------------------------------------

    def bodies(self, q: np.ndarray) -> np.ndarray:
        """Poses (nb + 1, 7) of the bodies."""
        R, p = self.tree.pose(q)
        out = self.model.q.copy()
        out[self._body, :4], out[self._body, 4:] = quaternion(R), p
        return out

    def body_velocities(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Velocities (…, nb + 1, 6) of the bodies, ω in their axes, for v (…, nv)."""
        R, _ = self.tree.pose(q)
        w, u = self.tree.velocity(np.broadcast_to(q, (*v.shape[:-1], len(q))), v)
        out = np.zeros((*v.shape[:-1], self.model.nb + 1, 6))
        out[..., self._body, :3] = np.einsum("nji,...nj->...ni", R, w)
        out[..., self._body, 3:] = u
        return out

    def transmission(self, q: np.ndarray) -> np.ndarray:
        """T (6 nb, nv)."""
        n = self.tree.nv
        return self.body_velocities(q, np.eye(n))[:, 1:].reshape(n, -1).T

    def _rows_at(self, poses: np.ndarray, T: np.ndarray) -> np.ndarray:
        """J = Cq T (nc, nv) of all rows; those that the tree fulfils are 0."""
        Cq = self.model.jacobian(poses, self.t, self._near.copy())
        return np.asarray(Cq @ T)

    # --- the state --------------------------------------------------------------------------------------------------

    def closed(self, z: np.ndarray, led: np.ndarray) -> np.ndarray:
        """ξ (nv,) whose independent part is z; the dependent part closes C = 0, drivers moved on by `led`."""
        xi = np.zeros(self.tree.nv)
        xi[self.z] = z
        rows, free = self._position_rows, self._z_dependent
        if not len(rows):
            return xi
        before = np.inf
        for _ in range(MOST):
            q = self.pose(xi)
            poses = self.bodies(q)
            C = self.model.residual(poses, self.t, self._near.copy())
            C[self._led_rows] -= led
            C = C[rows]
            J = self._rows_at(poses, self.transmission(q))[rows] @ np.linalg.inv(self._chart(q, xi))
            step = np.linalg.solve(J[:, free], C)
            xi[free] -= step
            size = float(np.abs(step / self.coordinate_units[free]).max())
            if size < CLOSED or (size < 1e-11 and size >= before):
                return xi
            before = size
        raise SolveError(
            f"the constraints of {self.model.system.name!r} do not close near the state it is linearized at"
        )

    def motion(self, x: np.ndarray, effort: np.ndarray | None = None, drive: np.ndarray | None = None) -> Motion:
        """The motion at x = (z, δ, u, δ̇, s), u and s counted from those of the reference; effort (nv,): added to τ; drive: δ̈."""
        model, tree, t = self.model, self.tree, self.t
        z, led, u, led_rate, own = np.split(x, np.cumsum([len(self.z), len(self.led), len(self.u), len(self.led)]))
        forces = self.forces0.copy()
        forces[self._own] += own
        led_acceleration = np.zeros(len(self.led)) if drive is None else drive
        xi = self.closed(z, led)
        q = self.pose(xi)
        poses, T = self.bodies(q), self.transmission(q)
        near = self._near.copy()
        J_all = self._rows_at(poses, T)
        nu = model.nu(t, poses)
        nu[self._led_rows] += led_rate
        J, nu = J_all[self._velocity_rows], nu[self._velocity_rows]
        B = self._turns()
        seen = np.zeros(tree.nv)
        seen[self.u] = self._seen(self.v0)[self.u] + u
        if len(J):
            JB = J @ B
            seen[self._u_dependent] = np.linalg.solve(JB[:, self._u_dependent], nu - JB @ seen)
        v = B @ seen
        V = self.body_velocities(q, v)
        force = self._loads(poses, V, t, forces) - model.applied(poses, V)
        own_rate = self._loads.rate[self._own].copy()
        tau = T.T @ force - tree.bias(q, v)
        if effort is not None:
            tau = tau + effort
        a = self._accelerated(q, v, V, poses, T, near, tau, J, led_acceleration)
        rate = self._rate(q, v, xi)
        a_seen = a.copy()
        for k, j, free in self._balls:
            if self._world(free):
                R0, w0 = self._turn0[k], self.v0[j : j + 3]
                for part in (slice(j, j + 3), slice(j + 3, j + 6)):
                    a_seen[part] = R0 @ (a[part] + cross_product(w0, v[part]))
        rate = np.concatenate([rate[self.z], led_rate, a_seen[self.u], led_acceleration, own_rate])
        return Motion(q, xi, v, a, rate, forces)

    def _accelerated(
        self, q: np.ndarray, v: np.ndarray, V: np.ndarray, poses: np.ndarray, T: np.ndarray, near: np.ndarray,
        tau: np.ndarray, J: np.ndarray, drive: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        tree, n, m = self.tree, self.tree.nv, len(J)
        matrix = np.zeros((n + m, n + m))
        matrix[:n, :n], matrix[n:, :n], matrix[:n, n:] = tree.crba(q), J, J.T
        right = np.concatenate([tau, np.zeros(m)])
        cut = self._cut_rotors  # without rows where the cut joint is a free one
        if m or len(cut.inertia):
            seen = observe_motion(tree, np.array([self.t]), q[None], v[None], np.zeros((1, n)), with_forces=False)
            drift = np.zeros((self.model.nb + 1, 6))
            drift[self._body, :3] = np.einsum("nji,nj->ni", seen.R[0], seen.angular_acceleration[0])
            drift[self._body, 3:] = seen.acceleration[0]
        if m:
            Cq = self.model.jacobian(poses, self.t, near)
            gamma = self.model.gamma(poses, V, self.t, near) - np.asarray(Cq @ drift[1:].reshape(-1))
            gamma[self._led_rows] += drive
            right[n:] = gamma[self._velocity_rows]
        if len(cut.inertia):
            B, rate = rotor_rows(cut, self.model.tables.frames, poses, V)
            joints = RotorsOfJoints(cut.joints)
            ends = np.stack([joints.parent, joints.child], axis=1)
            whole = np.zeros((len(B), self.model.nb + 1, 6))
            np.add.at(whole, (np.arange(len(B))[:, None], ends), B)
            BT = whole[:, 1:].reshape(len(B), -1) @ T
            matrix[:n, :n] += BT.T @ (cut.inertia * BT)
            right[:n] -= BT.T @ (cut.inertia[:, 0] * (rate + np.einsum("nij,nij->n", B, drift[ends])))
        return np.asarray(np.linalg.solve(matrix, right)[:n])


def _independent(J: np.ndarray, before: np.ndarray, size: float) -> np.ndarray:
    """Rows of J, in their order, that are independent of those before them and of the rows `before`; entries relative to `size`
    that rounding leaves are zeros."""
    basis = list(scipy.linalg.orth(before.T).T) if len(before) else []
    found = []
    for i, row in enumerate(J):
        rest = row
        for _ in range(2):
            for e in basis:
                rest = rest - (e @ rest) * e
        if np.linalg.norm(rest) > DEPENDENT * max(size, float(np.linalg.norm(row))):
            basis.append(rest / np.linalg.norm(rest))
            found.append(i)
    return np.array(found, dtype=int)


def _pivots(J: np.ndarray) -> np.ndarray:
    """As many columns as there are rows, by pivoting."""
    if not len(J):
        return np.zeros(0, dtype=int)
    _, _, order = scipy.linalg.qr(J, mode="economic", pivoting=True)
    return np.sort(order[: len(J)])

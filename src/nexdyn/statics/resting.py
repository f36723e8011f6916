"""Forces with states of their own, at rest: what they hold while nothing moves, ż = 0 and nothing left to sample.

lag, sampling           τ = sat u, the held u = u: as if there were neither
integral of q           ẋ = e + (sat u − u)/k_p = 0:  e = 0, with whatever effort within the limit that takes, a constraint;
                        or u beyond the limit and e not 0:  τ = ±τ_max,  k_i x = ±τ_max − (f + k_d ṙ)
integral of q̇, to 0     x + q does not change: x = x₀ − (q − q₀), a spring about where it starts
states of the user's    ż(z) = 0, by Newton's iteration (``forces.user_states``)
bristle of friction     z = z₀ + (q − q₀), within ±F_s/σ₀: it holds up to F_s, from where it starts
friction of a contact   y = y₀ + √σ s, no longer than μ_s f_n/√σ: so too. s is how far the place of A that is at the contact has
                        gone along the surfaces from where it was, or where on the way it began to press, where B has been carried
                        along (``forces.sticking``), one step of the search after the other: what it goes along the normal, or rolls, is no
                        part of it.
                        What resists rolling and turning counts how far A has turned against B since it began to press.
                        Where a surface runs, it slides for ever: y is as long as it may be, along the sliding velocity
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, sin, sqrt

import numpy as np

from nexdyn.absolute.model.model import AbsoluteModel
from nexdyn.assembly.force_states import with_states
from nexdyn.assembly.loads import Loads, element_loads
from nexdyn.errors import InputError
from nexdyn.forces import ContactForce, JointFriction
from nexdyn.forces.actuator import POSITION, VELOCITY, Actuator, Drive, DriveStates
from nexdyn.forces.contact import across, beyond_reach, end, gripped, meet, points_of, put_state
from nexdyn.forces.contact_data import PointData
from nexdyn.forces.contact_functions import vary
from nexdyn.forces.foundations import RESISTANCES, Foundations
from nexdyn.forces.joint_friction import Bristle
from nexdyn.forces.kinds import SURFACE
from nexdyn.forces.sticking import Slip, bound, laid, shortened
from nexdyn.forces.surface_contact import ONE, holding, press, put_slip, resists, scaled, slip_state
from nexdyn.forces.tables import NO_DOF, ForceEntries, ForceTables, Unknowns, bodies_of, frames_a, frames_b
from nexdyn.forces.user import Stated
from nexdyn.forces.user_states import Between, InJoint, solve_states
from nexdyn.kernel import kernel
from nexdyn.model.callbacks import failure
from nexdyn.model.system import System
from nexdyn.spatial.algebra import Motion, Pose, Quat, T, Vec3, norm, rotation, vector_at
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.spatial.table import PoseRows

COUNTED = 1.0
"""The most [rad] by which rolling is counted from one step of a search to the next."""
PART = 0.1
"""Of what contacts give, how far differences go."""
ROUNDED = 1e-12
"""The part of the speed of a surface that runs which rounding may leave along another."""
PRESSED = 1e3
"""An integral that asks for so many times the limit of its actuator is at it, wherever the joint stands."""


@dataclass
class Integral:
    """A position actuator with an integral, at rest: its target r, what it gives at r without its integral, its gains and limit
    (∞ for none); `sign` ±1 where it is at that limit."""

    force: Actuator
    place: int
    target: float
    without: float
    k_i: float
    k_p: float
    most: float
    sign: float = 0.0


def integrals(system: System, t: float) -> list[Integral]:
    """The position actuators of `system` that have an integral. InputError for what knows no rest."""
    found = []
    for force, first in with_states(system):
        if force.is_off or force.joint_name is None:
            continue
        joint = system.joint(force.joint_name)
        drive = Drive(force.data_in(system))
        law, k_i = (int(drive.law), drive.k_i) if isinstance(force, Actuator) else (-1, 0.0)
        travels = isinstance(force, JointFriction) or (law == VELOCITY and k_i != 0.0)
        if travels and joint.kind in ("spherical", "free"):
            raise InputError(
                f"{force} is in {joint}, {joint.kind}, whose turns are no coordinate: how far it has gone is not told by its "
                f"pose; leave it out for nx.equilibrium, or let nx.simulate come to rest"
            )
        if not isinstance(force, Actuator) or not k_i:
            continue
        target, feedforward = force.functions_of_time(system.values)
        r, r_dot = float(target.value(t)), float(target.derivative(t))
        if law == VELOCITY and r != 0.0:
            raise InputError(
                f"{force} asks for a velocity of {r:g}, which is no rest; switch it off, or set its target to 0"
            )
        if law == POSITION:
            without = float(feedforward.value(t)) + drive.k_d * r_dot
            most = drive.most if drive.most > 0.0 else np.inf
            place = first + DriveStates.fields["integral"].first
            found.append(Integral(force, place, r, without, k_i, drive.k_p, most))
    return found


@kernel
def put_frames(tables, poses, out_a, out_b):
    """Poses (nf, 12) in the world of the frames A and B of all forces, the bodies at `poses` (nb + 1, 12)."""
    X, X_LA, X_LB, A, B = PoseRows(poses, 0), frames_a(tables), frames_b(tables), PoseRows(out_a, 0), PoseRows(out_b, 0)
    for e in range(len(tables.index)):
        force = ForceEntries(tables.index)[e]
        A[e], B[e] = X[force.body_a] @ X_LA[e], X[force.body_b] @ X_LB[e]


def frames_at(tables: ForceTables, poses: np.ndarray) -> np.ndarray:
    """The same, (2, nf, 12)."""
    out = np.zeros((2, len(tables.index), 12))
    put_frames(tables, poses, out[0], out[1])
    return out


@kernel
def gone_from(A0, B0, A, B, p):
    """How far the place of A that is at p now is from where B would have carried it."""
    was = A0.R @ (T(A.R) @ (p - A.p)) + A0.p
    return p - (B.R @ (T(B0.R) @ (was - B0.p)) + B.p)


@kernel
def runs(data, k, v):
    """Whether surfaces slide with v where bodies rest, by more than rounding."""
    own = PointData(data, k)
    return norm(v) > ROUNDED * (norm(own.runs_a) + norm(own.runs_b))


@kernel
def rest_of_contacts(tables, contacts, before_a, before_b, now_a, now_b, described):
    """y of contacts (n, 2): force, first state. The frames A and B of all forces were at `before` and are at `now`."""
    A0, B0, A, B = PoseRows(before_a, 0), PoseRows(before_b, 0), PoseRows(now_a, 0), PoseRows(now_b, 0)
    o, data = Vec3(0.0, 0.0, 0.0), tables.data
    still = Motion(o, o)
    for n in range(len(contacts)):
        e, s = contacts[n, 0], contacts[n, 1]
        k = ForceEntries(tables.index)[e].first
        for i in range(points_of(data, k)):
            m = meet(data, k, end(data, k, A[e], 1.0 - 2.0 * i), A[e], still, B[e], still)
            gone, R_t = gone_from(A0[e], B0[e], A[e], B[e], m.p), T(B[e].R)
            g, j = gripped(data, k, m), s + 3 * i
            if runs(data, k, m.glide):
                y = (bound(g) / norm(m.glide)) * m.glide
            else:
                y = laid(B[e].R @ vector_at(described, j), m.n) + g.root * across(m.rub, gone - (m.n @ gone) * m.n)
            put_state(tables.z, j, R_t @ shortened(y, bound(g)))


@kernel
def rest_of_surfaces(tables, contacts, before_a, before_b, began_a, began_b, now_a, now_b, described):
    """The same of surfaces: A has also turned about their normal, and rolled from where it `began` to press."""
    A0, B0, A, B = PoseRows(before_a, 0), PoseRows(before_b, 0), PoseRows(now_a, 0), PoseRows(now_b, 0)
    A1, B1 = PoseRows(began_a, 0), PoseRows(began_b, 0)
    o = Vec3(0.0, 0.0, 0.0)
    still, nothing = Motion(o, o), Slip(o, 0.0)
    for n in range(len(contacts)):
        e, j = contacts[n, 0], contacts[n, 1]
        k = ForceEntries(tables.index)[e].first
        y, rolled = nothing, nothing
        s, about = press(tables.data, k, A[e], still, B[e], still, tables.room, False)
        if s.pressure > 0.0:
            h = holding(tables.data, k, s, about, A[e], still, B[e], still)
            gone, R_t = gone_from(A0[e], B0[e], A[e], B[e], h.p), T(B[e].R)
            if resists(tables, e):
                angle, (rolls, turns) = turned_by(A1[e], B1[e], A[e], B[e]), h.arms
                start = slip_state(described, j + ONE)
                kept = laid(Slip(B[e].R @ start.along, start.about), h.n)
                rolled = kept + h.grip.root * Slip(rolls * (angle - (h.n @ angle) * h.n), turns * (h.n @ angle))
                rolled = shortened(Slip(R_t @ rolled.along, rolled.about), bound(h.resistance))
            turned = turned_about(h.n, A0[e], B0[e], A[e], B[e])
            start = slip_state(described, j)
            kept = laid(Slip(B[e].R @ start.along, start.about), h.n)
            y = kept + h.grip.root * Slip(scaled(h, gone - (h.n @ gone) * h.n), h.r * turned)
            if runs(tables.data, k, h.v.along):
                y = (bound(h.grip) / norm(h.v)) * h.v
            y = shortened(Slip(R_t @ y.along, y.about), bound(h.grip))
        put_slip(tables.z, j, y)
        if resists(tables, e):
            put_slip(tables.z, j + ONE, rolled)


@kernel
def rest_of_users(tables, own, t, now_a, now_b, joint_q):
    """z of users' forces `own` (n,) with ż = 0; the force that has none, or −1."""
    A, B, o = PoseRows(now_a, 0), PoseRows(now_b, 0), Vec3(0.0, 0.0, 0.0)
    still = Motion(o, o)
    for n in range(len(own)):
        e = own[n]
        force = ForceEntries(tables.index)[e]
        for i in range(force.states):
            Unknowns(tables.newton.unknowns)[i].given = 0.0
        if force.dof == NO_DOF:
            found = solve_states(tables, e, t, Between(A[e], still, B[e], still), 0.0, -1.0)
        else:
            found = solve_states(tables, e, t, InJoint(joint_q[force.coordinate], 0.0), 0.0, -1.0)
        if not found:
            return e
    return -1


@kernel
def turned_by(A0, B0, A, B):
    """The rotation vector [rad] by which A has turned from where B would have carried it, of half a turn at most."""
    R = A.R @ T(B.R @ (T(B0.R) @ A0.R))
    x, y, z = 0.5 * (R.zy - R.yz), 0.5 * (R.xz - R.zx), 0.5 * (R.yx - R.xy)
    sine = sqrt(x * x + y * y + z * z)
    part = atan2(sine, 0.5 * (R.xx + R.yy + R.zz - 1.0)) / sine if sine > 0.0 else 1.0
    return Vec3(part * x, part * y, part * z)


@kernel
def turned_about(n, A0, B0, A, B):
    """The angle [rad] by which A has turned about n, from where B would have carried it."""
    R = A.R @ T(B.R @ (T(B0.R) @ A0.R))
    sine = n @ Vec3(R.zy - R.yz, R.xz - R.zx, R.yx - R.xy)
    return atan2(sine, R.xx + R.yy + R.zz - n @ (R @ n))


@kernel
def follow_one(A, B, p, n, gone, turned):
    """Where A was against B as it is, if it has gone along the surfaces and turned about their normal n at p by so much, and nothing else:
    what it has gone along the normal, or has rolled, is no slip, however much of it there was."""
    half = 0.5 * turned
    R = rotation(Quat(cos(half), -sin(half) * n.x, -sin(half) * n.y, -sin(half) * n.z))
    return Pose(R @ A.R, p + R @ (A.p - p) - (gone - (n @ gone) * n))


@kernel
def follow_contacts(tables, contacts, before_a, before_b, began_a, began_b, now_a, now_b):
    """Count the contacts (n, 2) of spheres along their surfaces from the poses `before`, one step after the other: what they do along the
    normal, or roll, is no slip; what is apart begins anew where it is. The normal of a plane stays where it is."""
    A0, B0, A, B = PoseRows(before_a, 0), PoseRows(before_b, 0), PoseRows(now_a, 0), PoseRows(now_b, 0)
    o, data = Vec3(0.0, 0.0, 0.0), tables.data
    still = Motion(o, o)
    for i in range(len(contacts)):
        e = contacts[i, 0]
        k = ForceEntries(tables.index)[e].first
        if PointData(data, k).side != 0.0:
            m = meet(data, k, end(data, k, A[e], 1.0), A[e], still, B[e], still)
            if m.f_n > 0.0:
                gone = gone_from(A0[e], B0[e], A[e], B[e], m.p)
                A0[e], B0[e] = follow_one(A[e], B[e], m.p, m.n, gone, 0.0), B[e]
            else:
                A0[e], B0[e] = A[e], B[e]


@kernel
def follow_surfaces(tables, contacts, before_a, before_b, began_a, began_b, now_a, now_b):
    """The same of surfaces, whose rolling also begins anew where they are apart. Of what rolls far the direction counts: what resists it is
    at its bound long before."""
    A0, B0, A, B = PoseRows(before_a, 0), PoseRows(before_b, 0), PoseRows(now_a, 0), PoseRows(now_b, 0)
    A1, B1 = PoseRows(began_a, 0), PoseRows(began_b, 0)
    o = Vec3(0.0, 0.0, 0.0)
    still = Motion(o, o)
    for i in range(len(contacts)):
        e = contacts[i, 0]
        k = ForceEntries(tables.index)[e].first
        s, about = press(tables.data, k, A[e], still, B[e], still, tables.room, False)
        if s.pressure > 0.0:
            h = holding(tables.data, k, s, about, A[e], still, B[e], still)
            gone, turned = gone_from(A0[e], B0[e], A[e], B[e], h.p), turned_about(h.n, A0[e], B0[e], A[e], B[e])
            A0[e], B0[e] = follow_one(A[e], B[e], h.p, h.n, gone, turned), B[e]
            angle = turned_by(A1[e], B1[e], A[e], B[e])
            if norm(angle) > COUNTED:
                half = 0.5 * COUNTED
                u = (sin(half) / norm(angle)) * angle
                A1[e], B1[e] = Pose(rotation(Quat(cos(half), -u.x, -u.y, -u.z)) @ A[e].R, A[e].p), B[e]
        else:
            A0[e], B0[e], A1[e], B1[e] = A[e], B[e], A[e], B[e]


def _runs(contact: PointData) -> bool:
    """Whether one of its surfaces runs."""
    return any(contact.runs_a) or any(contact.runs_b)


class RestingLoads(Loads):
    """What acts at rest, the states of forces following from the pose as the page says; `start` (nb + 1, 7): the pose from which
    bristles and integrals of velocity are counted."""

    def __init__(self, model: AbsoluteModel, start: np.ndarray, t: float) -> None:
        super().__init__(model)
        self._t, self._still = t, np.zeros((model.nb + 1, 6))
        self._from: np.ndarray | None = None
        self._joint_q = np.zeros(0)
        self._travels: list[tuple[int, int, float, float]] = []
        """State, coordinate, what of the way it takes, most."""
        self._contacts: list[tuple[int, int]] = []
        self._surfaces: list[tuple[int, int]] = []
        """Contacts that stick, at points and over areas, and the first of their states."""
        self._placed: np.ndarray | None = None
        """Poses of the frames A and B of all forces from which slip is counted, then those from which rolling is, (4, nf, 12)."""
        self._actuators: list[tuple[int, int]] = []
        self._own: list[int] = []
        """Users' forces with states."""
        tables = self.tables
        values = model.system.values
        self._passable = [
            (e, force, extent)
            for e, force in enumerate(model.system.forces.values())
            if isinstance(force, ContactForce)
            and not force.is_off
            and (extent := force.extent(values)).thinner < np.inf
        ]
        """Contacts between shapes that something can come out of behind."""
        self._touching = [
            (e, force)
            for e, force in enumerate(model.system.forces.values())
            if isinstance(force, ContactForce) and not force.is_off
        ]
        if tables is not None:
            vary(tables, t)
        self.runs = tables is not None and any(
            isinstance(force, ContactForce) and not force.is_off and _runs(PointData(tables.data, k))
            for force, k in zip(model.system.forces.values(), ForceEntries(tables.index).first.tolist(), strict=True)
        )
        """Whether surfaces run: their friction has no potential that could be least."""
        if tables is None or not len(tables.z):
            return
        for e, force in enumerate(model.system.forces.values()):
            if force.is_off or not force.states(model.system.values):
                continue
            entry = ForceEntries(tables.index)[e]
            k, s, c = int(entry.first), int(entry.state), int(entry.coordinate)
            if isinstance(force, Stated):
                self._own.append(e)
            elif isinstance(force, JointFriction):
                bristle = Bristle(tables.data, k)
                self._travels.append((s, c, 1.0, bristle.static / bristle.stiffness))
            elif isinstance(force, ContactForce):
                (self._surfaces if force.code == SURFACE else self._contacts).append((e, s))
            elif isinstance(force, Actuator):
                self._actuators.append((e, s))
                drive = Drive(tables.data, k)
                drive.lag = drive.sample = 0.0
                if int(drive.law) == VELOCITY and drive.k_i:
                    self._travels.append((s + DriveStates.fields["integral"].first, c, -1.0, np.inf))
        self(start, self._still, t)

    def settle(self, joint_q: np.ndarray, poses: np.ndarray) -> None:
        self._joint_q = joint_q
        if self._contacts or self._surfaces:
            self._stretch(poses)
        if self._own:
            self._relax(joint_q, poses)
        if self._from is None:
            self._from = joint_q.copy()
        if self.tables is None:
            return
        for s, c, sign, most in self._travels:
            way = joint_q[c] - self._from[c]
            self.tables.z[s] = np.clip(self.described[s] + sign * way, -most, most)

    def _relax(self, joint_q: np.ndarray, poses: np.ndarray) -> None:
        """z of users' forces, whose rates are 0; InputError where there is none."""
        assert self.tables is not None
        placed = frames_at(self.tables, poses)
        without = rest_of_users(self.tables, np.array(self._own), self._t, placed[0], placed[1], joint_q)
        if without >= 0:
            force = list(self.model.system.forces.values())[without]
            if any(callback.failed for callback in force.callbacks()):
                raise failure(force, self._t, force.callbacks())
            raise InputError(
                f"{force} has no states of rest: no rates of 0 were found for its states at the pose at hand; let nx.simulate come to rest"
            )

    def _stretch(self, poses: np.ndarray) -> None:
        """y of the contacts that stick, the bodies at `poses` (nb + 1, 12)."""
        assert self.tables is not None
        placed = frames_at(self.tables, poses)
        if self._placed is None:
            self._placed = np.concatenate([placed, placed])
        slip, rolling = self._placed[:2], self._placed[2:]
        if self._contacts:
            rest_of_contacts(
                self.tables, np.array(self._contacts), slip[0], slip[1], placed[0], placed[1], self.described
            )
        if self._surfaces:
            surfaces = np.array(self._surfaces)
            rest_of_surfaces(
                self.tables, surfaces, slip[0], slip[1], rolling[0], rolling[1], placed[0], placed[1], self.described
            )

    def follow(self, q: np.ndarray) -> None:
        """Begin the slip of contacts that stick, and are apart at the pose q, there; see `follow_surfaces`."""
        if not self._contacts and not self._surfaces:
            return
        assert self.tables is not None and self._placed is not None
        placed = frames_at(self.tables, self._poses(q))
        for follow, contacts in ((follow_contacts, self._contacts), (follow_surfaces, self._surfaces)):
            if contacts:
                follow(self.tables, np.array(contacts), *self._placed, *placed)

    @staticmethod
    def _poses(q: np.ndarray) -> np.ndarray:
        """(nb + 1, 12) of the bodies at q."""
        return np.concatenate([rotation_matrix(q[:, :4]).reshape(-1, 9), q[:, 4:]], axis=1)

    def travel(self, q: np.ndarray, length: float) -> float:
        """How far bodies may go at q [lengths, rad] within what contacts give, by a tenth of it: by their depth until they part, by less
        until what sticks slips, or what resists rolling rolls. inf where none presses."""
        if not self._touching:
            return np.inf
        assert self.tables is not None
        placed, least, values = frames_at(self.tables, self._poses(q)), np.inf, self.model.system.values
        for e, force in self._touching:
            A, B = placed[0, e], placed[1, e]
            if beyond_reach(force.numbers(values), A, B) > 0.0:
                continue
            depth, _ = force.pressed(values, A, B)
            if depth > 0.0:
                law = force.law(values)
                gives = [depth / length]
                if force.sticks and law.static_friction > 0.0:
                    gives.append(law.static_friction / law.friction_stiffness * depth / length)
                if isinstance(force, Foundations) and (arm := force.arm(self.model.system)) > 0.0:
                    resisted = max(force.number_of(x, values) for x in RESISTANCES)
                    gives += [depth / law.friction_stiffness * resisted / (arm * arm)] if resisted > 0.0 else []
                least = min(least, PART * min(gives))
        return least

    def unpassed(self, q: np.ndarray, move: np.ndarray) -> float:
        """What part of the move (nb, 6), θ and δ of each body, goes through none of the shapes that touch: two come nearer by what they are
        apart, and half of how far they may be in each other."""
        if not self._passable:
            return 1.0
        assert self.tables is not None
        poses = self._poses(q)
        placed, part, values = frames_at(self.tables, poses), 1.0, self.model.system.values
        bodies = bodies_of(self.tables)
        turns, shifts = (np.concatenate([[0.0], np.linalg.norm(x, axis=1)]) for x in (move[:, :3], move[:, 3:]))
        for e, force, extent in self._passable:
            nearer = 0.0
            for side, reach in ((0, extent.a), (1, extent.b)):
                i = bodies[e, side]
                arm = float(np.linalg.norm(placed[side, e, 9:] - poses[i, 9:])) + reach
                nearer += float(shifts[i]) + (float(turns[i]) * arm if i else 0.0)
            if nearer > 0.0:
                depth, _ = force.pressed(values, placed[0, e], placed[1, e])
                part = min(part, (max(-depth, 0.0) + 0.5 * extent.thinner) / nearer)
        return part

    def coordinate(self, integral: Integral) -> float:
        """Where the joint of an integral stood at the last call."""
        assert self.tables is not None
        e = list(self.model.system.forces).index(integral.force.name)
        return float(self._joint_q[ForceEntries(self.tables.index)[e].coordinate])

    def states(self, q: np.ndarray) -> np.ndarray | None:
        """z (nz,) at rest in the pose q; None without any."""
        tables = self.tables
        if tables is None or not len(tables.z):
            return None
        self(q, self._still, self._t)
        z = tables.z.copy()
        unlimited = tables.data.copy()
        for e, _ in self._actuators:
            drive = Drive(unlimited, ForceEntries(tables.index)[e].first)
            drive.most = drive.fastest = 0.0
        for e, s in self._actuators:
            own = DriveStates(z, s)
            own.lagged, own.held = (self._effort(e, data) for data in (tables.data, unlimited))
        return z

    def _effort(self, e: int, data: np.ndarray) -> float:
        assert self.tables is not None
        efforts = np.zeros(int(self.first_v[-1]))
        one = self.tables._replace(index=self.tables.index[[e]], data=data)
        still = np.zeros_like(efforts)
        element_loads(
            one, self._t, np.zeros((1, 12)), np.zeros((1, 6)), self._joint_q, still, np.zeros((1, 6)), efforts
        )
        return float(efforts[ForceEntries(self.tables.index)[e].dof])

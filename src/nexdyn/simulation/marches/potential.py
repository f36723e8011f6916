"""A mechanism in motion by the incremental potential: starts from `assemble`, marches compiled, records bodies.

The six rows of a revolute joint say their multipliers in world axes; what is recorded are those of the joint's own rows,
which act with the same wrench −Cqᵀ λ:

    (DX, DY, DZ) = R_Aᵀ λ_d,   DotZX = −λ_n · y_B,   DotZY = λ_n · x_B
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from nexdyn.absolute.model.choice import stresses_here
from nexdyn.absolute.model.configuration import row_units
from nexdyn.assembly.assemble import mechanism_length
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.closing import Closing, joint_gaps
from nexdyn.assembly.loads import Loads
from nexdyn.assembly.redundant import kept_rows
from nexdyn.assembly.report import AssemblyReport, WithReport
from nexdyn.assembly.start_states import described_states, start_states
from nexdyn.constraints.tables import LEFT
from nexdyn.constraints.turns import UNCOUNTED
from nexdyn.errors import InputError, SingularError, SolveError
from nexdyn.forces.joint_stop import Stop
from nexdyn.forces.nearby import soon_near
from nexdyn.forces.surface_contact import ONE
from nexdyn.forces.tables import SOON, ForceEntries, forget_seen, may_touch, nearby_in
from nexdyn.integrate.methods import ImplicitEuler
from nexdyn.model.callbacks import failure
from nexdyn.model.system import System
from nexdyn.model.time_kernels import time_callbacks
from nexdyn.potential import solve, step
from nexdyn.potential.compile import centres, new_state, new_work, potential_model, with_blocks
from nexdyn.potential.elements import springs_and_loads
from nexdyn.potential.minimum import SINGULAR
from nexdyn.potential.own_states import OF_ACTUATOR, OF_BRISTLE
from nexdyn.potential.tables import (
    BRISTLE,
    CONTROLLED,
    HINGE,
    LAW,
    OF_CONTACT,
    OF_ONE,
    Groups,
    LoadEntries,
    PointEntries,
    PotentialModel,
    Run,
    SpringEntries,
    ThinBodies,
)
from nexdyn.results.result import Result
from nexdyn.simulation.continuing import of_fields
from nexdyn.simulation.march import Look, March, Memory
from nexdyn.simulation.marches.bodies import SHORT, BodySimulation, refuse_velocity_rows
from nexdyn.simulation.marches.uneven import settled, without_stress
from nexdyn.simulation.orientations import impossible_orientation
from nexdyn.simulation.steps import Leg
from nexdyn.spatial.rotations import cross_product, quaternion, rotation_matrix
from nexdyn.statics.inverse_kinematics import Posture

OF_HESSIAN = ("gradient", "step", "islands", "blocks", "scratch")
"""What of the scratch belongs to the elimination."""
STATED = {CONTROLLED: OF_ACTUATOR, BRISTLE: OF_BRISTLE}
"""Laws of springs with states of their own, and how many."""
EVEN_EULER, EVEN_BDF2 = 2, 4
"""How many steps alike make accelerations of the method's own order along what constraints hold: see ``uneven``."""
STIFFNESS = 1e10
"""μ to begin with, as a multiple of the masses that rows move."""


class PotentialSimulation(BodySimulation):
    """A mechanism in motion by the incremental potential. Arguments as for `nx.simulate`."""

    method: ImplicitEuler
    comes_close = True  # no matrix of a step shows how independent the constraints are

    @small_on_one_thread
    def __init__(
        self,
        system: System,
        method: ImplicitEuler,
        *,
        initial: Result | AssemblyReport | WithReport | Posture | None = None,
        q0: Any = None,
        v0: Any = None,
        output_every: int = 1,
    ) -> None:
        if not system.bodies:
            raise InputError(f"system {system.name!r} has no bodies that move; add one with a mass")
        system, initial = self.begin_march(system, initial, output_every)
        self.system, self.method = system, method
        self.t = 0.0
        self.report, (q, v, a, lam) = self._start(initial, q0, v0)
        model = self.model = self.report.model
        refuse_velocity_rows(model, "nx.ImplicitEuler()")
        self.kept = np.ones(model.nc, dtype=bool)  # rows that repeat others do no harm
        self._alone = kept_rows(self.report)
        self._repeats = bool((model.acting & ~self._alone).any())
        hinges = [k for k, joint in enumerate(system.joints.values()) if joint.kind == "revolute"]
        springs, loads, contacts = springs_and_loads(system, model.body_index)
        self._model_with = partial(
            potential_model, model.mass, system.gravity, model.tables, hinges, [driver.function for driver in model.drivers],
            mechanism_length(model), springs, loads, contacts, model.angles, self._repeats,
        )  # fmt: skip
        touching = may_touch(system.forces.values())
        self._touching = np.append(
            springs.skin > 0.0, np.append(touching, False)[np.minimum(loads.index[:, 1], len(touching))]
        )
        self._coupled, self._springs = ~self._touching, len(springs.skin)
        self._tables = self._new_tables()
        self.driver_functions = [c for row in model.drivers for f in row.functions for c in time_callbacks(f)]
        near = self._start_near(q, initial, q0)
        self._motion = new_state(self._tables, model.mass, q, v, near)
        place_of = {name: k for k, name in enumerate(model.followed)}
        for e, of in enumerate(springs.of):
            if of in place_of:
                self._tables.springs.near[e] = near[place_of[of]]
        self._work = new_work(self._tables, self._motion)
        self._centres = centres(model.mass)
        self._ends = {
            name: (place, np.array(springs.data[place : place + 2], dtype=float))
            for name, place in springs.ends.items()
        }
        groups = self._tables.groups
        self._hinges = Groups(groups[Groups(groups).kind == HINGE])
        self._own = np.zeros(0, dtype=np.int64) if self._tables.springs is None else self._tables.springs.own
        self._put_states(start_states(described_states(system), initial))
        self._check_samples()
        self._nz = len(self._own)
        self._width = 2 + 19 * model.nb + len(self._tables.row_of) + len(near) + self._nz + 2
        self._newton = 0
        # the step that velocities and accelerations are differences over, and the time since
        self._over, self._since = method.dt, 0.0
        self._begin(q, v, a, lam)
        if self._touching.any():
            self._couple()
        self._go_on(initial, q0, v0)

    def _new_tables(self) -> PotentialModel:
        """The tables of the model, bodies that may touch in one block."""
        return self._model_with(blocks=self._blocks())

    def independent_rows(self) -> np.ndarray:
        return self._alone

    @property
    def may_leave(self) -> bool:  # type: ignore[override]
        return not self.method.adaptive

    def closer(self) -> str:
        if self.method.adaptive:
            return "take a shorter dt"
        return f"mu = {self.method.mu:g} and {self.method.updates} updates are too little: leave both to the run, or take a shorter dt"

    # --- between two legs of a run ----------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return f"incremental potential {self.method.adaptive}"

    def live(self) -> Mapping[str, np.ndarray]:
        found = dict(of_fields("motion", self._motion))
        if (springs := self._tables.springs) is not None:
            found |= {"springs.state": springs.state, "springs.near": springs.near}
            entries = SpringEntries(springs.index)
            for e, (law, first) in enumerate(zip(entries.law.tolist(), entries.first.tolist(), strict=True)):
                if law in STATED:
                    at = first + LAW  # behind damper, friction, armature: z, z of the step, z before
                    found[f"springs.{e}"] = springs.data[at : at + 3 * STATED[law]]
        if (contacts := self._tables.contacts) is not None and springs is not None:
            for n, place in enumerate(PointEntries(contacts.index).state.tolist()):
                if place >= 0:
                    found[f"contacts.{n}"] = springs.data[place : place + OF_CONTACT]
        if (loads := self._tables.loads) is not None:
            found["loads.rates"] = loads.rates
            for e in np.flatnonzero(loads.held >= 0).tolist():
                element = LoadEntries(loads.index)[e].element
                held, states = loads.held[e], ForceEntries(loads.forces.index)[element].states
                found[f"loads.{e}"] = loads.states[held : held + OF_ONE * (states // ONE)]
        return found | {"held": self._held}

    def numbers_kept(self) -> tuple[str, ...]:
        return (*March.numbers_kept(self), "_newton", "_over", "_since")

    def constants(self) -> np.ndarray:
        numbers = (self.system.gravity, self._tables.mass, self.model.tables.frames, self.model.tables.offset)
        return np.concatenate([np.ravel(x) for x in numbers])

    def lists(self) -> Mapping[str, np.ndarray]:
        if not self._touching.any():
            return {}
        springs, points, loads = self._tables.springs, self._tables.contacts, self._tables.loads
        found = {"coupled": self._coupled.astype(float), **({} if loads is None else nearby_in(loads.forces))}
        if springs is not None and points is not None and len(springs.watched):
            found |= {"springs": springs.acting, "points": points.acting, "watched by springs": springs.watched}
        return found

    def put_lists(self, lists: Mapping[str, np.ndarray]) -> None:
        if lists and ((lists["coupled"] > 0.5) != self._coupled).any():
            self._couple_those(lists["coupled"] > 0.5)
        for name, x in self.lists().items():
            if name in lists and name != "coupled":
                x[:] = lists[name]

    def memory(self) -> Memory:
        return March.memory(self)

    def recall(self, memory: Memory) -> None:
        March.recall(self, memory)

    # --- blocks of the Hessian --------------------------------------------------------------------------------------

    def _blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """Which springs, and which loads, the Hessian has blocks for."""
        return self._coupled[: self._springs], self._coupled[self._springs :]

    def _couple_those(self, coupled: np.ndarray) -> None:
        """A Hessian with blocks for these springs and loads."""
        self._coupled = coupled
        self._tables = with_blocks(self._tables, self._new_tables())
        fresh = new_work(self._tables, self._motion)
        self._work = self._work._replace(**{name: getattr(fresh, name) for name in OF_HESSIAN})

    def _couple(self, *tried: np.ndarray) -> bool:
        """A Hessian with blocks of the bodies that may touch soon, here and where they were `tried`, poses (nb + 1, 7) of centres of mass;
        whether it had none of some."""
        wanted = np.logical_or.reduce([self._soon(q) for q in (self._motion.q, *tried)])
        lacked = bool((wanted & ~self._coupled).any())
        self._couple_those(wanted)
        return lacked

    def _soon(self, q: np.ndarray) -> np.ndarray:
        """Which springs, and which loads behind them, may act soon where the bodies are at q."""
        springs, loads = self._tables.springs, self._tables.loads
        near = [np.zeros(0, dtype=bool)]
        if springs is not None:
            often = np.flatnonzero(springs.skin)
            end = springs.data[SpringEntries(springs.index).first[often] + LAW + Stop.fields["lower"].first]
            near.append(springs.skin == 0.0)
            near[-1][often] = self._distances(often, q) < end + SOON * springs.skin[often]
        if loads is not None:
            forces = loads.forces
            soon, poses = np.ones(len(forces.index), dtype=bool), np.zeros((len(q), 12))
            if len(forces.watched):
                poses[:, :9], poses[:, 9:] = rotation_matrix(q[:, :4]).reshape(-1, 9), q[:, 4:7]
                soon_near(forces, poses, SOON * forces.skin[0], soon)
                if forces.acting[-1] < len(soon):
                    soon[forces.acting[: forces.acting[-1]]] = True
            near.append(soon[LoadEntries(loads.index).element])
        return np.concatenate(near)

    def _distances(self, springs: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Of springs in the distance of two points how far these are from each other."""
        tables = self._tables.springs.coordinates
        bodies, frames = tables.pairs[springs], tables.frames[springs]
        R, p = rotation_matrix(q[:, :4]), q[:, 4:]
        a, b = (
            p[bodies[:, k]] + np.einsum("nij,nj->ni", R[bodies[:, k]], frames[:, 12 * k + 9 : 12 * k + 12])
            for k in (0, 1)
        )
        return np.asarray(np.linalg.norm(b - a, axis=1))

    def forget_counters(self) -> None:
        self._newton = 0

    def _begin(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, lam: np.ndarray) -> None:
        """Coordinates of springs, penalties, and what to expect of the first step; the first row."""
        tables, state, c, dt = self._tables, self._motion, self._centres, self.method.dt
        R, w = rotation_matrix(q[:, :4]), v[:, :3]
        state.a[:] = a
        state.a[:, 3:] += np.einsum("nij,nj->ni", R, cross_product(a[:, :3], c) + cross_product(w, cross_product(w, c)))
        run = Run(state.run)
        run.told, run.whole, run.even = (
            1.0,
            dt,
            0.0 if v.any() else EVEN_BDF2,
        )  # what rests has rested in steps of any length
        step.start_springs(tables, state, self._work, self.t)
        if self.method.adaptive:
            step.choose_stiffness(tables, state, self._work, self.t, STIFFNESS)
        else:
            state.mu[:] = self.method.mu
        raw = self._raw_multipliers(R, self._unstressed(q, self.t, state.near, lam))
        states = np.column_stack([state.q, state.v, state.a])[1:].ravel()
        first = np.concatenate([[self.t, 0.0], states, raw, state.near, self.force_states, [1.0, np.inf]])
        self._rows.append(self._converted(first[None]))
        if self.method.adaptive:
            state.lam[:] = dt * dt * raw
            I = tables.mass[:, [1, 2, 3, 2, 4, 5, 3, 5, 6]].reshape(-1, 3, 3)
            torque = np.einsum("nij,nj->ni", I, a[:, :3]) + cross_product(w, np.einsum("nij,nj->ni", I, w))
            for i in range(1, len(I)):
                thin = tables.rods[i, 0] > 0.0
                state.off[i, :3] = dt * dt * (a[i, :3] if thin else np.linalg.lstsq(I[i], torque[i], rcond=None)[0])
            state.off[1:, 3:] = dt * dt * state.a[1:, 3:]

    def let_stop_act(self, name: str, acts: bool) -> None:
        """Whether the compliant part of a joint's stop acts; else it has no ends."""
        if name in self._ends:
            place, ends = self._ends[name]
            self._tables.springs.data[place : place + 2] = ends if acts else (-np.inf, np.inf)

    # --- states of forces -------------------------------------------------------------------------------------------

    @property
    def force_states(self) -> np.ndarray:
        """States (nz,) of the forces as they stand; those that are off keep theirs."""
        springs = self._tables.springs
        return np.zeros(0) if springs is None else np.where(self._own >= 0, springs.data[self._own], self._held)

    @property
    def next_sample(self) -> float:
        return self.t if self._sampled else np.inf  # samples are taken where steps begin

    def go_on_from(self, old: March) -> None:
        March.go_on_from(self, old)
        assert isinstance(old, PotentialSimulation)
        if len(old.force_states) == len(self.force_states):
            self.set_force_states(old.force_states)

    def set_force_states(self, z: np.ndarray) -> None:
        """Go on with states (nz,) of the forces."""
        self._put_states(z)
        if self._rows and len(z):
            self._rows[-1][-1, -len(z) :] = z

    def _put_states(self, z: np.ndarray) -> None:
        springs, acting = self._tables.springs, self._own >= 0
        self._held = np.asarray(z, dtype=float).copy()
        if springs is not None:
            springs.data[self._own[acting]] = z[acting]
            forget_seen(springs.watched)  # friction off the list is released

    def _check_samples(self) -> None:
        self._sampled = False
        for force in self.system.forces.values():
            every = getattr(force, "sample_of", lambda _: 0.0)(self.system.values)
            steps = every / self.method.dt
            self._sampled |= bool(every) and not force.is_off
            if every and not force.is_off and (round(steps) < 1 or abs(steps - round(steps)) > 1e-6 * steps):
                raise InputError(
                    f"{force} is sampled every {every:g} s, and ImplicitEuler samples where its steps begin; choose a dt of which "
                    f"that is a multiple, not {self.method.dt:g} s"
                )

    # --- rows -------------------------------------------------------------------------------------------------------

    def _raw_multipliers(self, R: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Multipliers as the potential has them from those of the model's rows."""
        out = np.zeros(len(self._tables.row_of))
        own = self._tables.row_of >= 0
        out[own] = lam[self._tables.row_of[own]]
        if len(self._hinges):
            rows, R_A, R_B = self._hinge_frames(R)
            first = self._hinges.first[:, None] + np.arange(3)
            out[first] = np.einsum("nij,nj->ni", R_A, lam[rows[:, :3]])
            out[first + 3] = lam[rows[:, 4]][:, None] * R_B[..., 0] - lam[rows[:, 3]][:, None] * R_B[..., 1]
        return out

    def _hinge_frames(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of the model (n, 5) of the hinges, and the rotations of their frames where the bodies are turned by R."""
        t = self.model.tables
        pairs = self._hinges.pair
        first = self._first_row[pairs]
        R_A = R[..., t.pairs[pairs, 0], :, :] @ t.frames[pairs, :9].reshape(-1, 3, 3)
        R_B = R[..., t.pairs[pairs, 1], :, :] @ t.frames[pairs, 12:21].reshape(-1, 3, 3)
        return first[:, None] + np.arange(5), R_A, R_B

    @cached_property
    def _first_row(self) -> np.ndarray:
        """The first row of each pair."""
        t = self.model.tables
        first = np.full(len(t.pairs), len(t.rows), dtype=np.int64)
        np.minimum.at(first, t.terms[t.rows[:, 0], 0], np.arange(len(t.rows)))
        return first

    def _converted(self, out: np.ndarray) -> np.ndarray:
        """Recorded rows with the multipliers of the model's rows."""
        first, end = 2 + 19 * self.model.nb, out.shape[1] - 2
        states, raw, near, own_states, how = np.split(
            out, [first, first + len(self._tables.row_of), end - self._nz, end], axis=1
        )
        told, alike = how.T
        off = self._own < 0
        own_states[:, off] = self._held[off]
        lam = np.zeros((len(out), self.model.nc))
        own = self._tables.row_of >= 0
        lam[:, self._tables.row_of[own]] = raw[:, own]
        if len(self._hinges):
            q = states[:, 2:].reshape(len(out), -1, 19)[..., :4]
            ground = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(out), 1, 4))
            rows, R_A, R_B = self._hinge_frames(rotation_matrix(np.concatenate([ground, q], axis=1)))
            places = self._hinges.first[:, None] + np.arange(3)
            lam[:, rows[:, :3]] = np.einsum("snji,snj->sni", R_A, raw[:, places])
            lam[:, rows[:, 3]] = -np.einsum("snj,snj->sn", R_B[..., 1], raw[:, places + 3])
            lam[:, rows[:, 4]] = np.einsum("snj,snj->sn", R_B[..., 0], raw[:, places + 3])
        for row in np.flatnonzero(alike < (EVEN_BDF2 if self.method.bdf2 else EVEN_EULER)):
            self._settle(states[row], lam[row], near[row], told[row])
        return np.concatenate([states, lam, near, own_states], axis=1)

    def _settle(self, state: np.ndarray, lam: np.ndarray, near: np.ndarray, told: float) -> None:
        """Write into a row's velocities, accelerations and multipliers those of ``uneven``."""
        model, c = self.model, self._centres
        thin = ThinBodies(self._tables.rods)
        axes = np.where(thin.J[:, None] > 0.0, thin.e, 0.0)
        bodies = np.zeros((model.nb + 1, 19))
        bodies[0, 0], bodies[1:] = 1.0, state[2:].reshape(-1, 19)
        q, v, a = bodies[:, :7].copy(), bodies[:, 7:13].copy(), bodies[:, 13:].copy()
        R, w = rotation_matrix(q[:, :4]), v[:, :3]
        q[:, 4:] -= np.einsum("nij,nj->ni", R, c)
        v[:, 3:] -= np.einsum("nij,nj->ni", R, cross_product(w, c))
        a[:, 3:] -= np.einsum("nij,nj->ni", R, cross_product(a[:, :3], c) + cross_product(w, cross_product(w, c)))
        t = float(state[0])
        v, a, lam[:] = settled(model, q, v, a, lam, t, near, self._alone, self._over, told, c, axes)
        lam[:] = self._unstressed(q, t, near, lam)
        w = v[:, :3]
        v[:, 3:] += np.einsum("nij,nj->ni", R, cross_product(w, c))
        a[:, 3:] += np.einsum("nij,nj->ni", R, cross_product(a[:, :3], c) + cross_product(w, cross_product(w, c)))
        bodies[:, 7:13], bodies[:, 13:] = v, a
        state[2:] = bodies[1:].reshape(-1)

    def _unstressed(self, q: np.ndarray, t: float, near: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Multipliers λ (nc,) of the model's rows without what puts no force on the bodies, at q (nb + 1, 7) of their origins."""
        if not (self._repeats and self.method.adaptive):
            return lam
        mu, own = np.ones(self.model.nc), self._tables.row_of >= 0
        mu[self._tables.row_of[own]] = self._motion.mu[own]
        rows = self._first_row[self._hinges.pair][:, None] + np.arange(5)
        mu[rows] = self._motion.mu[self._hinges.first[:, None] + [0, 1, 2, 3, 4]]
        stresses = stresses_here(self.model, q, t, near.copy(), self._alone)
        return without_stress(stresses, np.where(mu > 0.0, mu, 1.0), lam)

    @property
    def effort(self) -> dict[str, int]:
        """Newton steps so far."""
        return {"iterations": self._newton}

    def march_by(self, dt: float, steps: int, every: int, look: Look) -> None:
        self._change_step(dt)
        state, time, whole = self._motion, steps * dt, self.method.dt
        usual = whole if self._over >= SHORT * whole else self._over  # output as dense as that is no sliver
        short = self._since + time < SHORT * usual
        if not short:
            self._over, self._since = dt, 0.0
        v, a, lam, off = (x.copy() for x in (state.v, state.a, state.lam, state.off))
        run = Run(state.run)
        told = float(run.told)
        self.march_steps(dt, steps, every, look)
        if short:  # differences over next to no time are rounding
            state.v[:], state.a[:], state.lam[:], state.off[:] = v + time * a, a, lam, off
            run.told = told
            self._since += time

    def leg(self, t0: float, dt: float, done: int, until: int, every: int, room: np.ndarray) -> Leg:
        status, reached, rows, self._where, self._gap, newton = step.march(
            self._tables,
            self._motion,
            self._work,
            t0,
            dt,
            done,
            until,
            every,
            self.method.updates,
            self.method.bdf2,
            room,
        )
        self._newton += newton
        return Leg(status, reached, rows)

    def _keep(self, rows: np.ndarray) -> None:
        if len(rows):
            super()._keep(self._converted(rows))

    def after_leg(self, leg: Leg, t0: float, dt: float, taken: int) -> int:
        if leg.status == solve.APART:
            self._couple()
        elif (
            leg.status in (solve.NOT_CONVERGED, solve.NOT_CLOSED)
            and self._touching.any()
            and self._couple(self._tried())
        ):
            if self.method.adaptive:
                self._motion.lam[:] = self._motion.lam_before
        elif leg.status != solve.OK:
            self._stop(leg.status, self._where, self._gap, dt)
        return 0

    @property
    def _near(self) -> np.ndarray:
        return np.asarray(self._motion.near)

    def _change_step(self, dt: float) -> None:
        """Multipliers and expectations for another step; BDF2 starts again."""
        state = self._motion
        run = Run(state.run)
        last, h = float(run.dt) or float(run.whole), float(run.whole)
        if abs(dt - last) > 1e-12 * last:
            state.lam[:] *= (dt / h) ** 2
            state.off[:] *= (dt / h) ** 2
            run.dt, run.whole, run.straight, run.even = 0.0, dt, 0.0, 0.0
            step.change_step(self._tables, state, self._work)

    def _row(self) -> np.ndarray:
        room = np.empty((1, self._width))
        step.sample(self._tables, self._motion, self.t, room)
        return self._converted(room)

    def _stop(self, status: int, where: int, gap: float, dt: float) -> None:
        """Raise the error of a status, with what was recorded."""
        if status == LEFT:
            self._leave()
        t = self.t + dt
        name: str | None = None
        if status == solve.LOAD_FAILED:
            force = list(self.system.forces.values())[where]
            raise self.ended(failure(force, t, force.callbacks()))
        self._name_failure(t)
        wrong = impossible_orientation(self.system, t, dt)
        if status == SINGULAR and not wrong:
            name = self.model.bodies[where]
            message = f"the energy of body {name!r} has no minimum at t = {t:g} s; check its mass and inertia"
            raise self.ended(SingularError(message, time=t, where=name))
        if wrong:
            message = wrong
        elif status == solve.NOT_CLOSED:
            name, gaps = self._open_joints()
            stiffer = "" if self.method.adaptive else "raise mu or updates, "
            message = (
                f"no penalty closes the joints at t = {t:g} s: {gaps}; {stiffer}check drivers and lengths, or run nx.assemble "
                f"near it"
            )
        elif status == UNCOUNTED:
            message = (
                f"the turns of the joints cannot be counted at t = {t:g} s: bodies turn too far in a step, about several axes; "
                f"reduce dt = {dt:g} s"
            )
        elif status == solve.NOT_FINITE:
            message = f"the motion is no longer finite at t = {t:g} s; check masses, stiffness and damping, or reduce dt = {dt:g} s"
        else:
            message = f"the minimum is not reached at t = {t:g} s, |C| = {gap:.2g}; reduce dt = {dt:g} s"
        raise self.ended(SolveError(message, time=t, where=name))

    def _tried(self) -> np.ndarray:
        """The pose (nb + 1, 7) that was tried last, of the centres of mass; that at the start of the step where it is not finite."""
        q, poses, base = self._motion.q.copy(), self._work.pose, self._work.base
        if np.isfinite(poses).all():
            q[1:, :4] = quaternion(poses[1:, :9].reshape(-1, 3, 3))
            q[1:, 4:] = base[1:, 9:] + poses[1:, 9:]
        return q

    def _trial(self) -> np.ndarray:
        """The same of the bodies' origins."""
        q = self._tried()
        q[1:, 4:] -= np.einsum("nij,nj->ni", rotation_matrix(q[1:, :4]), self._centres[1:])
        return q

    def _name_failure(self, t: float) -> None:
        """SolveError for the joint or force of the user's whose function is not finite at the last pose, with what was recorded."""
        try:
            for force in self.system.forces.values():
                for callback in force.callbacks():  # what it raised in a trial that was taken back
                    callback.take_failure()
            q = self._trial()
            self.model.residual(q, t, self._work.near.copy())
            Loads(self.model)(q, np.array(self._motion.v), t)
        except SolveError as error:
            self.ended(error)
            raise

    def _open_joints(self) -> tuple[str | None, str]:
        """The joint that is open widest, and the widest gaps in words."""
        q = self._trial()
        t, length = self.t + self.method.dt, mechanism_length(self.model)
        gaps = joint_gaps(self.model, q, Closing(np.ones(self.model.nv), length, t))
        if gaps:
            return gaps[0].joint, "; ".join(str(gap) for gap in gaps[:5])
        # all but closed: a singular pose, from which they come no nearer
        C = np.abs(self.model.residual(q, t, self._work.near.copy())) * row_units(self.model, length)
        kind, name = self.model.rows[int(C.argmax())].owner
        return name, f"{kind} {name!r} by {C.max():.2g} of the mechanism's size, in a singular pose"

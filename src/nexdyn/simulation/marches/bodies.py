"""A mechanism in motion in absolute coordinates: starts from `assemble`, marches compiled, records bodies.

The march moves the centres of mass; what is recorded are the bodies' origins:

    p = p_C − R c,   v = v_C − R (ω × c),   a = a_C − R (α × c + ω × (ω × c))
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.choice import carried, choose_rows, left_out, row_shares, stresses_here, watched_rows
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.absolute.motion import hht, index1, newton, step_control
from nexdyn.absolute.motion.elements import acting, acting_joints, joined, sample_here, start_coordinates, stiff_pairs
from nexdyn.absolute.motion.force_states import Steps, states_begin
from nexdyn.absolute.motion.observe import BodyMotion
from nexdyn.absolute.motion.outside import FACTOR, Outside
from nexdyn.absolute.motion.recorded import new_record, record
from nexdyn.absolute.motion.tables import block_places, centres, motion_tables, new_state
from nexdyn.absolute.motion.turns import UNCOUNTED
from nexdyn.assembly.assemble import Start, assemble, mechanism_length, mechanism_size, named_coordinates
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.followers import asked_angles
from nexdyn.assembly.notices import Notice, gaps_of_tree, kept_notices
from nexdyn.assembly.redundant import kept_rows
from nexdyn.assembly.report import AssemblyReport, WithReport
from nexdyn.assembly.start_states import described_states, start_states
from nexdyn.constraints.tables import LEFT
from nexdyn.errors import InputError, SolveError
from nexdyn.forces.actuator import DriveStates
from nexdyn.forces.contact_functions import vary
from nexdyn.forces.kinds import TORSION_SPRING
from nexdyn.forces.nearby import soon_near
from nexdyn.forces.states import is_sampled
from nexdyn.forces.tables import SOON, ForceEntries, bodies_of, forget_nearby, may_touch, nearby_in
from nexdyn.forces.torsion_spring import TURNS
from nexdyn.integrate.methods import HHT
from nexdyn.integrate.problem import FORCE_FAILED
from nexdyn.linalg.matrices import dense
from nexdyn.model.callbacks import failure
from nexdyn.model.parameters import number
from nexdyn.model.system import System
from nexdyn.model.time_kernels import time_callbacks
from nexdyn.results.recording import BodyRecording
from nexdyn.results.restart import LIST
from nexdyn.results.result import Result
from nexdyn.results.signs import with_signs_of
from nexdyn.simulation.bristles import sticking_advice
from nexdyn.simulation.continuing import (
    bodies_at_end,
    is_opened,
    joints_at_end,
    kept_coordinates,
    last_sample,
    of_fields,
    quaternions_at_start,
    reassembled,
)
from nexdyn.simulation.impulses import with_rows
from nexdyn.simulation.independence import NEARLY, independence_here
from nexdyn.simulation.kept import Keeper, Poses, ground_first
from nexdyn.simulation.march import ROUNDED, Look, March, Memory
from nexdyn.simulation.needs import needs_rows
from nexdyn.simulation.orientations import impossible_orientation
from nexdyn.simulation.run import Runs
from nexdyn.simulation.steps import Leg, Pace, unseen
from nexdyn.simulation.wound import known_angles
from nexdyn.spatial.rotations import cross_product, rotation_matrix
from nexdyn.statics.inverse_kinematics import Posture
from nexdyn.tree.described import described_coordinates
from nexdyn.tree.states import vector
from nexdyn.tree.tree import Tree

# called here, a formula would be compiled by itself
first_step = getattr(step_control.first_step, "py_func", step_control.first_step)
NO_WAY = 1e-9
"""Part of a motion of unit size that is none."""
SHORT = 1e-3
"""Part of the step below which accelerations of HHT are rounding, divided by h²: they are found anew from the state. Those of implicit
Euler, differences of velocities, stay as they were before such a step."""
UNEVEN = 0.5
"""Part of the constant step below which they are found anew as well."""
LEAST_PART = 1.0 / 64.0
"""Part of the constant step down to which one is halved that Newton's iteration does not solve, where bodies touch."""


UNSOLVED = (hht.STALLED, hht.SINGULAR, hht.STEP_TOO_SMALL)
OF_BLOCKS = ("upper", "lower")
OF_ELIMINATION = ("x", *OF_BLOCKS, "work")
OF_ROWS = ("lam0", "lam1", "dlam", "ddlam", "C", *OF_ELIMINATION)
"""What of a state belongs to the blocks of the matrix, to its elimination, and to the kept rows."""


CONFIRMED = 1e-2
"""Part of the best independence of kept rows up to which those of the pose, which no step has turned, are dependent, too."""


class KeptOutside(Outside):
    """A solver whose factors can be made again, of the matrix that the memory of a march holds."""

    def factor_again(self) -> bool:
        """Whether that went well."""
        return self._call(FACTOR, 0, 0) == 0


class BodySimulation(Runs):
    """A mechanism in motion in absolute coordinates. Arguments as for `nx.simulate`; `report` is that of its assembly."""

    _close = False
    """Whether iterations must end close to the solution (``spatial.borrowed``)."""
    _every = 0
    """Of the states of the leg at hand every so many-th is kept; 0: none."""
    _independent = 0.0
    """The best independence of kept rows so far."""
    _damping: np.ndarray | None = None
    """Of Baumgarte's stabilisation, where the method has it."""

    @small_on_one_thread
    def __init__(
        self,
        system: System,
        method: HHT,
        *,
        initial: Result | AssemblyReport | WithReport | Posture | None = None,
        q0: Any = None,
        v0: Any = None,
        output_every: int = 1,
    ) -> None:
        system, initial = self.begin_march(system, initial, output_every)
        self.system, self.method = system, method
        self.t = 0.0
        self.report, state = self._start(initial, q0, v0)
        model = self.model = self.report.model
        self.kept = rows_to_keep(self.report, initial)
        self._watches = getattr(method, "solver", "blocks") == "blocks"
        self._touching = may_touch(system.forces.values()) & self._watches
        self._stiff = stiff_pairs(model, self._touching)
        self.tables = motion_tables(model, self.kept, mechanism_length(model), self._stiff, close=self._close)
        self.state = new_state(self.tables, self._start_near(state[0], initial, q0))
        self.acts = acting(model, self.tables)
        self._coupled = ~self._touching
        self._may_choose = left_out(model, self.kept) and self._watches
        self.choices = 0
        """How often the kept rows have been chosen anew."""
        self._outside: KeptOutside | None = None
        solver = method.solver if isinstance(method, HHT) and method.solver != "blocks" else None
        self.record, self._told_outside = new_record(self.tables, self.state, solver)
        if solver is not None:
            self._outside = KeptOutside(solver, self.tables, self.state)
            self.tables = self.tables._replace(outside=self._outside.address)
        self.driver_functions = [c for row in model.drivers for f in row.functions for c in time_callbacks(f)]
        start_coordinates(acting_joints(model), self.acts, system.values, self.state.counted)
        self._centres = centres(model)
        self._set(*state)
        if self._touching.any():
            self._couple()
        if self._watches:
            self._watch()
        self.z_start = start_states(described_states(system), initial)
        self.acts.forces.z[:] = self.z_start
        self._nz = len(self.z_start)
        self._width = 2 + 19 * model.nb + model.nc + len(self.state.counted) + len(self.z_start)
        self.newton_memory = hht.memory_at_start(self.tables, self.state)
        if isinstance(method, HHT) and method.dt is None and mechanism_size(model) == 0.0 and self._translates():
            hht.without_size(self.tables, self.newton_memory, self.state.q0)
        self._control_numbers = np.zeros(step_control.Control.columns)
        # assemble counts springs within half a turn of their q = 0, or of their rest angle
        counted, first = self.state.counted, model.near_start
        wound = [abs(counted[k] - first[k]) for k, _ in model.wound]
        self._beyond = max(np.abs(self.acts.q).max(initial=0.0), *wound, 0.0) > math.pi
        if (len(self.z_start) or self._beyond) and isinstance(method, HHT):
            s = self.state
            s.q1[:], s.v1[:] = s.q0, s.v0
            index1.place_bodies(s, 1)
            sample_here(self.tables, s, self.acts, self.t)
            self._restart(first=True)
        self._start_march()
        if type(self) is BodySimulation:
            self._go_on(initial, q0, v0)

    def _go_on(self, initial: Any, q0: Any, v0: Any) -> None:
        """From all of the state of a run's end, and record it."""
        if self.go_on(initial, q0 is not None or v0 is not None, self._opened):
            self._rows.clear()
            self._sample()

    @property
    def _remembered(self) -> newton.Memory:
        return newton.Memory(self.newton_memory)

    @property
    def _control(self) -> step_control.Control:
        return step_control.Control(self._control_numbers)

    # --- between two legs of a run ----------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return f"hht {self.method.alpha}"

    def live(self) -> Mapping[str, np.ndarray]:
        """All but scratch; what forces have is told of by their states and the angles that are counted."""
        acts, scratch = self.acts, ("work", "x", "most", *(OF_BLOCKS if self._touching.any() else ()))
        return {
            **dict(of_fields("state", self.state, scratch)),
            **{f"acts.{name}": getattr(acts, name) for name in ("q", "step", "began", "judged", "slopes")},
            "forces.z": acts.forces.z, "forces.rate": acts.forces.rate, "memory": self.newton_memory, "control": self._control_numbers,
            "watched": self.tables.watched,
        }  # fmt: skip

    def constants(self) -> np.ndarray:
        """Masses, frames, and the numbers of what acts where no function of the user's is among them."""
        model, acts = self.model, self.acts
        by_numbers = [not force.callbacks() for force in self.system.forces.values()]
        entries = ForceEntries(acts.forces.index)
        numbers = acts.forces.data.copy()
        vary(acts.forces._replace(data=numbers), 0.0)
        own = [
            numbers[force.first : force.first + force.count]
            for force, known in zip(map(entries.__getitem__, range(len(entries))), by_numbers, strict=True)
            if known and force.kind != TORSION_SPRING
        ]
        return np.concatenate(
            [np.ravel(self.system.gravity), model.mass.ravel(), model.tables.frames.ravel(), model.tables.offset,
             acts.freedoms.ravel(), entries.off.astype(float), *own]
        )  # fmt: skip

    def lists(self) -> Mapping[str, np.ndarray]:
        if not self._touching.any():
            return {}
        s = self.state
        of_blocks = {name: getattr(s, name) for name in OF_BLOCKS}
        return {"coupled": self._coupled.astype(float), **of_blocks, **nearby_in(self.acts.forces)}

    def put_lists(self, lists: Mapping[str, np.ndarray]) -> None:
        forget_nearby(self.acts.forces)
        for name, x in self.lists().items():
            if name in lists and name != "coupled":
                x[:] = lists[name]

    def memory(self) -> Memory:
        return super().memory() | {"kept": self.kept.astype(float)}

    def recall(self, memory: Memory) -> None:
        kept, coupled = memory["kept"] > 0.5, memory.get(LIST + "coupled", self._coupled) > 0.5
        if (kept != self.kept).any() or (coupled != self._coupled).any():
            self._coupled = coupled
            self._keep_rows(kept)
        super().recall(memory)
        if self._outside is not None and self._remembered.made_for > 0.0 and not self._outside.factor_again():
            self._remembered.made_for = 0.0

    def numbers_kept(self) -> tuple[str, ...]:
        return (*super().numbers_kept(), "choices", "_independent")

    def notes(self) -> dict[str, Any]:
        return {"kept": self.kept.tolist()}

    def forget_counters(self) -> None:
        self._remembered.iterations = self._remembered.factorisations = self._control.rejected = 0.0
        self.choices = 0

    def history(self) -> str:
        return "the steps before"

    def _translates(self) -> bool:
        """Whether a body can leave its place, where all points of the mechanism are one."""
        J = self.model.jacobian(self.report.q, self.t)[self.kept]
        ways = scipy.linalg.null_space(dense(J))
        return bool((np.abs(ways.reshape(self.model.nb, 6, -1)[:, 3:]) > NO_WAY).any())

    def _start_march(self) -> None:
        """Start the march from the state, and record it."""
        room = np.zeros((1, self._width))
        status = hht.start(self.acts, self.state, self.record, self.t, room)
        states_begin(self.acts)
        room[0, self._width - len(self.z_start) :] = self.acts.forces.z
        if status != hht.OK:
            self._fail(status, self.t, first=True)
        self._rows.append(room)
        self._relax()

    def set_force_states(self, z: np.ndarray) -> None:
        """Start again with states (nz,) of the forces."""
        self._grid = None
        self.acts.forces.z[:] = z
        forget_nearby(self.acts.forces)
        self._restart()
        self._rows.clear()
        self._start_march()

    # --- states of forces -------------------------------------------------------------------------------------------

    def _restart(self, first: bool = False) -> None:
        """Accelerations and multipliers of the present state, in which efforts have jumped, for those to go on from."""
        s = self.state
        self._accelerate(0.0, first)
        s.d0[:], s.a0[:], s.a1[:], s.lam0[:] = s.d1, s.d1, s.d1, s.lam1
        newton.forget(self.newton_memory)
        states_begin(self.acts)

    def _accelerate(self, step: float, first: bool = False) -> None:
        """d1, λ1 of the present motion, under forces whose states are `step` [s] on."""
        s, none = self.state, np.zeros((1, 1))
        Steps(self.acts.step).h = step
        problem = index1.BodyProblem(
            self.tables, self.acts, s, index1.BAUMGARTE, np.zeros(5), np.zeros(0, dtype=np.int64), none, np.zeros((0, 0)),
            np.zeros((1, 2)), np.zeros(2), np.zeros(1), self.tables.length, none, np.zeros(2),
        )  # fmt: skip
        s.moved[:, :3] = 0.0
        status = index1.accelerate(problem, self.t)
        Steps(self.acts.step).h = 0.0
        if status != hht.OK:
            self._fail(status if status >= FORCE_FAILED else hht.SINGULAR, self.t, first=first)

    def _relax(self) -> None:
        """The march starts from accelerations under states that are a step on. Newmark's formula holds those of the first instant for
        half a step, and a bristle or lag that is far faster would drive the motion off; what slow ones change is of order h²."""
        s, z, method, control = self.state, self.acts.forces.z, self.method, self._control
        if not isinstance(method, HHT) or not self.acts.forces.rate.any():
            return
        if method.dt is None and control.h == 0.0:
            length = self.tables.length
            a = max(np.abs(s.d0[1:, :3]).max(), np.abs(s.d0[1:, 3:6]).max() / length)
            control.h = min(method.dt_max, first_step(a, self.tables.gravity, length, method.step_tolerance))
        kept = [(x, x.copy()) for x in (z, s.d1, s.lam1)]
        self._accelerate(method.dt or float(control.h))
        s.d0[:], s.a0[:], s.a1[:], s.lam0[:] = s.d1, s.d1, s.d1, s.lam1
        for x, was in kept:
            x[:] = was

    def _take_samples(self) -> None:
        """Take the samples that are due; the state stands for what holds after them."""
        if sample_here(self.tables, self.state, self.acts, self.t) > 0:
            self._restart()
            self._relax()
            if self._rows and self._rows[-1][-1, 0] >= self.t:
                self._rows[-1] = self._rows[-1][:-1]
                if not len(self._rows[-1]):
                    self._rows.pop()
                self._sample()

    # --- the start --------------------------------------------------------------------------------------------------

    def _start(
        self, initial: Any, q0: Any, v0: Any
    ) -> tuple[AssemblyReport, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """The report of the assembly, and q, v, a (nb + 1, …), λ (nc,) to start from."""
        self._as_described, self._opened = not isinstance(initial, Result), False
        q0, v0 = named_coordinates(self.system, q0, "q0"), named_coordinates(self.system, v0, "v0")
        start: Start | AssemblyReport | None = None
        if isinstance(initial, AssemblyReport):
            if initial.model.system is not self.system:
                raise InputError("initial is the report of another system")
            report = initial
            self.t = report.t
            if q0 is not None or v0 is not None:
                start = report
        elif isinstance(initial, Result):
            self.t = float(initial.recording.t[-1])
            last = last_sample(initial)
            kept_q, kept_v = kept_coordinates(last.system, self.system, last.observed, -1)
            self._opened = bool(kept_q) or is_opened(initial, self.system)
            q0, v0 = kept_q | dict(q0 or {}) or None, kept_v | dict(v0 or {}) or None
            start = Start(*bodies_at_end(initial, absolute_model(self.system)), joints_at_end(initial, self.system))
        if start is not None or initial is None:
            report = assemble(self.system, t=self.t, q0=q0, v0=v0, initial=start)
        if initial is None and (
            report.notices or self.system.couplings or any(j.mimic for j in self.system.joints.values())
        ):
            report = self._as_tree(report, q0, v0)
        q = report.q.copy()
        q[:, :4] = with_signs_of(quaternions_at_start(self.system, initial, q0), report.model, q[:, :4])
        return report, (q, report.v, report.a, report.multipliers)

    def _as_tree(
        self, report: AssemblyReport, q0: Mapping[str, Any] | None, v0: Mapping[str, Any] | None
    ) -> AssemblyReport:
        """A mechanism that a tree carries starts where minimal coordinates start it: gaps are closed, and couplings followed, by
        moving the child, not all bodies by as little as can be."""
        system = self.system
        if needs_rows(system):
            return report
        tree, gaps = Tree(system), dict[str, tuple[float, float]]()
        asked = {
            name: np.array([number(i, system.values, name) for i in np.atleast_1d(np.asarray(x, dtype=object))])
            for name, x in (q0 or {}).items()
        }
        q = vector(tree, asked, "q0", described_coordinates(tree, asked, gaps))
        own = {name: q[place.q] for name, place in tree.coordinates.items() if name in system.joints}
        report = assemble(system, t=self.t, q0={**own, **(q0 or {})}, v0=v0)
        report.notices = gaps_of_tree(gaps)
        return report

    def _start_near(self, q: np.ndarray, initial: Any, q0: Any) -> np.ndarray:
        """The angles at the start (nk,), counted as in the run that is gone on from."""
        model = self.report.model
        asked = named_coordinates(self.system, q0, "q0") or {}
        if isinstance(initial, Result):
            recorded = initial.recording
            counted = recorded.followed  # without rows where nothing is counted
            if isinstance(recorded, BodyRecording) and counted.size and counted.shape[1:] == model.near_start.shape:
                near, anew = counted[-1].copy(), asked_angles(self.system, asked)
                for k, of in enumerate(model.followed):
                    if of in anew:
                        near[k] = model.near_start[k]
                for k, path in model.wound:
                    near[k] += sum(sign * (near[place] - counted[-1, place]) for place, sign in path)
                return model.counted(q, near)
            near, known = model.near(q, self.t), known_angles(initial)
            for k, of in enumerate(model.followed):
                near[k] = known.get(" ".join(of), near[k]) if of[1] == TURNS else near[k]
            return model.counted(q, near)
        return model.counted(q, model.near(q, self.t))

    def _set(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, lam: np.ndarray) -> None:
        """The state from origins q (nb + 1, 7), v, a (nb + 1, 6) and multipliers of all rows."""
        s, c, R = self.state, self._centres, rotation_matrix(q[:, :4])
        w, w_dot = v[:, :3], a[:, :3]
        s.q0[:, :7] = q
        s.q0[:, 4:7] += np.einsum("nij,nj->ni", R, c)
        s.v0[:, :6], s.d0[:, :6] = v, a
        s.v0[:, 3:6] += np.einsum("nij,nj->ni", R, cross_product(w, c))
        s.d0[:, 3:6] += np.einsum("nij,nj->ni", R, cross_product(w_dot, c) + cross_product(w, cross_product(w, c)))
        if lam[~self.kept].any():  # of a run that kept other rows
            stresses = stresses_here(self.model, q, self.t, s.counted, self.kept)
            lam = lam if stresses is None else carried(stresses, self.kept, lam)
        s.lam0[tuple(self.tables.rows[:, :2].T)] = lam[self.kept]

    # --- the kept rows ----------------------------------------------------------------------------------------------

    @property
    def _pose(self) -> np.ndarray:
        """Origins q (nb + 1, 7) at the start of the step."""
        return self._origins(self.state.q0)

    def _origins(self, centres: np.ndarray) -> np.ndarray:
        """Poses (nb + 1, 7) of the bodies from those of their centres of mass (nb + 1, …)."""
        q = centres[:, :7].copy()
        q[:, 4:] -= np.einsum("nij,nj->ni", rotation_matrix(q[:, :4]), self._centres)
        return q

    def _watch(self) -> None:
        """Have the march watch how independent the kept rows are."""
        shares = row_shares(self.model, self.tables, self._pose, self.t, self.state.counted)
        self.tables = self.tables._replace(watched=watched_rows(self.tables, self.kept, self.model, shares))

    def _tell_singular(self, independence: float, best: float) -> None:
        """Warn, once, where kept rows are next to dependent and no others are less so: a singular pose is near."""
        self._independent, self.comes_close = max(self._independent, best), True
        if not independence < NEARLY * self._independent:
            return
        here = independence_here(self.model, self.tables, self.kept, self._pose, self.t, self.state.counted)
        if here < CONFIRMED * self._independent:
            self.tell_singular(self.t)

    def _choose_rows(self) -> bool:
        """Keep other rows where they are more independent in the present pose; whether they are others now."""
        if not self._may_choose:
            return False
        model, s, q = self.model, self.state, self._pose
        shares = row_shares(model, self.tables, q, self.t, s.counted)
        stresses = stresses_here(model, q, self.t, s.counted, self.kept)
        kept = None if stresses is None else choose_rows(model, stresses, self.kept, shares)
        if stresses is None or kept is None:
            return False
        old, before = self.tables, self.kept
        self._keep_rows(kept)
        tables, new = self.tables, self.state
        for x, y in ((s.lam0, new.lam0), (s.lam1, new.lam1), (s.dlam, new.dlam), (s.ddlam, new.ddlam)):
            lam = np.zeros(model.nc)
            lam[before] = x[tuple(old.rows[:, :2].T)]
            y[tuple(tables.rows[:, :2].T)] = carried(stresses, kept, lam)[kept]
        self.choices += 1
        return True

    def _keep_rows(self, kept: np.ndarray) -> None:
        """Go on with other rows (nc,) bool."""
        self._lay_out(kept)

    def _lay_out(self, kept: np.ndarray) -> None:
        """Tables for other rows (nc,) bool; what of the state belongs to rows is zero."""
        model, old, s = self.model, self.tables, self.state
        shares = row_shares(model, old, self._pose, self.t, s.counted)
        stiff = np.concatenate([self._stiff, bodies_of(self.acts.forces)[self._touching]])
        blocks = np.append(np.ones(len(self._stiff), dtype=bool), self._coupled[self._touching])
        tables = motion_tables(model, kept, old.length, stiff, blocks, close=self._close)
        tables = tables._replace(watched=watched_rows(tables, kept, model, shares), armature=old.armature)
        new = new_state(tables, s.near)
        self.state = s._replace(**{name: getattr(new, name) for name in OF_ROWS})
        self.acts = self.acts._replace(
            of_joint=block_places(tables.diagonal, tables.plan, joined(self.acts.joints)),
            of_force=block_places(tables.diagonal, tables.plan, bodies_of(self.acts.forces)),
        )
        self.tables, self.kept = tables, kept
        self.record, _ = new_record(tables, self.state)

    def _couple(self) -> bool:
        """Tables whose matrix has blocks of the bodies that may touch soon; whether it had none of some. What of the state belongs to
        blocks alone is zero."""
        s, forces = self.state, self.acts.forces
        near = np.ones(len(forces.index), dtype=bool)
        if len(forces.watched):
            s.q1[:] = s.q0
            index1.place_bodies(s, 1)
            soon_near(forces, s.poses, SOON * forces.skin[0], near)
            if forces.acting[-1] < len(near):
                near[forces.acting[: forces.acting[-1]]] = True
        lacked, self._coupled = bool((near & ~self._coupled).any()), near
        self._lay_out(self.kept)
        of_rows = {name: getattr(s, name) for name in OF_ROWS if name not in OF_ELIMINATION}
        self.state = self.state._replace(**of_rows)
        self.record, _ = new_record(self.tables, self.state)
        return lacked

    def _lacks_blocks(self) -> bool:
        """Whether bodies that may touch in the step at hand have no block."""
        listed = self.acts.forces.acting
        return bool(self._touching.any()) and not self._coupled[listed[: listed[-1]]].all()

    def _goes_on(self, status: int) -> bool:
        """Whether the march may go on after a status, which it does with its memory but for the matrix: rows that have become
        dependent are chosen anew, also where steps fail for it, and so are the blocks of bodies that touch."""
        if status == hht.APART or (status in UNSOLVED and self._lacks_blocks()):
            self._remembered.made_for = 0.0
            if self._couple() or status == hht.APART:
                return True
        if status not in (hht.DEPENDENT, *UNSOLVED):
            return False
        s, memory = self.state, self._remembered
        now, best = float(memory.independence), float(memory.best_independence)
        chosen = self._choose_rows()
        if status == hht.DEPENDENT:
            self._tell_singular(best if chosen else now, best)
        if chosen:
            s = self.state
            s.q1[:], s.v1[:], s.d1[:] = s.q0, s.v0, s.d0
            memory.made_for = memory.independence = 0.0
        memory.best_independence = memory.independence
        return chosen or status == hht.DEPENDENT

    # --- motion -----------------------------------------------------------------------------------------------------

    def start_rows(self, keep_start: bool) -> None:
        if not keep_start and not self._begun:
            self._rows.clear()

    def go_to(self, t_end: float, times: np.ndarray, look: Look) -> None:
        if self.method.dt is not None:
            self.go_by(self.method.dt, t_end, times, look)
        else:
            self._run_adaptive(t_end, times, look)

    def present(self) -> np.ndarray:
        return self._rows[-1][-1:].copy() if self._rows else self._row()

    def closed_at_start(self) -> tuple[list[Notice], AssemblyReport | None]:
        return self.report.notices if self._as_described else [], self.report

    def _result(self, rows: np.ndarray, status: str = "finished", message: str = "") -> Result:
        nb = self.model.nb
        states = rows[:, 2 : 2 + 19 * nb].reshape(len(rows), nb, 19)
        q, v, a = states[..., :7].copy(), states[..., 7:13].copy(), states[..., 13:].copy()
        c, R, w, w_dot = self._centres[1:], rotation_matrix(q[..., :4]), v[..., :3], a[..., :3]
        q[..., 4:] -= np.einsum("snij,nj->sni", R, c)
        v[..., 3:] -= np.einsum("snij,snj->sni", R, cross_product(w, c))
        a[..., 3:] -= np.einsum("snij,snj->sni", R, cross_product(w_dot, c) + cross_product(w, cross_product(w, c)))
        nc, places = self.model.nc, len(self.model.near_start)
        multipliers, followed, z = np.split(
            rows[:, 2 + 19 * nb :], [nc, rows.shape[1] - 2 - 19 * nb - self._nz], axis=1
        )
        recording = BodyRecording(
            rows[:, 0].copy(), q, v, a, method=repr(self.method), steps=self._steps, status=status, message=message,
            wall_time=self._wall, settings={"coordinates": "bodies", **self.effort, **kept_notices(self.warnings)},
            multipliers=multipliers.copy(), violation=rows[:, 1].copy(), z=z.copy(), followed=followed[:, :places].copy(),
        )  # fmt: skip
        return Result(self.system, recording, tree=BodyMotion(self.system, self.model))  # type: ignore[arg-type]

    # --- constraints ------------------------------------------------------------------------------------------------

    def keeper(self) -> Keeper | None:
        if not self.model.nc:
            return None
        if self._keeper is None or self._keeper.model is not self.model:
            return Keeper(self.model, self.method, self._damping)
        return self._keeper

    def violation(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 1]

    def independent_rows(self) -> np.ndarray:
        return self.kept

    def poses(self, rows: np.ndarray) -> Poses:
        seen = self._result(rows).recording
        assert isinstance(seen, BodyRecording)
        rest = [1.0, *[0.0] * 6]
        return Poses(seen.t, ground_first(seen.q, rest), ground_first(seen.v, 0.0), seen.followed)

    # --- events -----------------------------------------------------------------------------------------------------

    def let_stop_act(self, name: str, acts: bool) -> None:
        ForceEntries(self.acts.forces.index)[list(self.system.forces).index(name)].off = not acts

    def anew(
        self, system: System, t: float, observed: Any, position: Mapping[str, Any] | None,
        velocity: Mapping[str, Any] | None,
    ) -> BodySimulation:  # fmt: skip
        q, v = kept_coordinates(self.system, system, observed, 0)
        report = reassembled(system, t, observed, q | dict(position or {}) or None, v | dict(velocity or {}) or None)
        return type(self)(system, self.method, initial=report, output_every=self.output_every)

    def go_on_from(self, old: March) -> None:
        super().go_on_from(old)
        assert isinstance(old, BodySimulation)
        mine, its = self._remembered, old._remembered
        mine.iterations, mine.factorisations = its.iterations, its.factorisations
        z = old.acts.forces.z
        if len(z) == len(self.acts.forces.z) > 0:
            self.set_force_states(z)

    def body_state(self, row: np.ndarray, body: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        seen = self._result(row).recording
        assert isinstance(seen, BodyRecording)
        i = self.model.body_index[body] - 1
        q, v = seen.q[0, i], seen.v[0, i]
        R = rotation_matrix(q[:4])
        return R, q[4:], R @ v[:3], v[3:]

    def after_impact(self, observed: Any, joint: str, freedom: int, restitution: float) -> dict[str, np.ndarray]:
        return with_rows(self.system, self.t, observed, joint, freedom, restitution)

    @property
    def numbers(self) -> int:
        """Numbers of a recorded state."""
        return self._width

    @property
    def effort(self) -> dict[str, int]:
        """Newton iterations, matrices factored, steps rejected and choices of other rows so far."""
        memory = self._remembered
        return {
            "iterations": int(memory.iterations),
            "factorisations": int(memory.factorisations),
            "rejected": int(self._control.rejected),
            "choices": self.choices,
        }

    # --- inside -----------------------------------------------------------------------------------------------------

    def march_by(self, dt: float, steps: int, every: int, look: Look) -> None:
        if self.next_sample <= self.t + 1e-9 * dt:  # gone on from between a step and the sample at its end
            self._take_samples()
        t0, k = self.count_steps(dt, every)
        until = self._behind = k + steps
        while k < until:
            due = self.next_sample
            whole = until if due == math.inf else min(until, math.floor((due - t0) / dt + 1e-9))
            if whole > k:
                self._march_grid(t0, dt, k, whole, every, look)
                k = whole
                if due <= self.t + 1e-9 * dt:
                    self._take_samples()
                continue
            # a sample within the step divides it; the next one starts from accelerations of its own, see `_march_grid`
            end = t0 + (k + 1) * dt
            while self.t < end - 1e-9 * dt:
                due = self.next_sample
                h = (end if due > end - 1e-9 * dt else due) - self.t
                self._march_grid(self.t, h, 0, 1, 0, look)
                self._restart()
                self._relax()
                if due <= self.t + 1e-9 * dt:
                    self._take_samples()
            k += 1
            self._steps -= 1
            self.t = end
            if every and k % every == 0:
                self._sample()

    def adopt_march(self, rows: np.ndarray, memory: np.ndarray, steps: int, t: float) -> None:
        """Take over what another march has done with a copy of the state: its rows and memory, after `steps` at t."""
        self.newton_memory[:] = memory
        self._steps += steps
        self.t = t
        if len(rows):
            self._rows.append(rows)

    @property
    def next_sample(self) -> float:
        forces = self.acts.forces
        return min((float(forces.z[at]) for at in self._due), default=math.inf)

    @cached_property
    def _due(self) -> list[int]:
        """Where in z the times of the next samples stand. In Python: called from here, a formula would compile anew in every process."""
        if not len(self.z_start):
            return []
        forces, sampled = self.acts.forces, getattr(is_sampled, "py_func", is_sampled)
        first, place = ForceEntries(forces.index).state, DriveStates.fields["next"].first
        return [int(first[e]) + place for e in range(len(first)) if sampled(forces, e)]

    def _march_grid(self, t0: float, dt: float, first: int, until: int, every: int, look: Look) -> None:
        """Steps `first` … `until` − 1 from t0.

        What velocities miss along the constraints, a step h' leaves in its accelerations, over h'. A longer step behind it would take
        (h/h')² times as much into its velocities; and so would a shorter one behind a single step, whose change of accelerations
        nothing has told from v̈ yet. Then they are found anew from the state."""
        memory = self._remembered
        if memory.h_before == 0.0 < memory.h_last and abs(dt - memory.h_last) > ROUNDED * dt:
            self._restart()
            self._relax()
        self.march_from(t0, dt, first, until, every, look)
        if dt < UNEVEN * self.method.dt:
            self._restart()
            self._relax()

    def leg(self, t0: float, dt: float, done: int, until: int, every: int, room: np.ndarray) -> Leg:
        self._every = every
        return Leg(
            *hht.march_fixed(
                self.tables, self.acts, self.state, self.record, t0, dt, done, until, every, self.method.alpha, self.newton_memory,
                room,
            )
        )  # fmt: skip

    def after_leg(self, leg: Leg, t0: float, dt: float, taken: int) -> int:
        if leg.status == hht.OK or self._goes_on(leg.status):
            return 0
        if leg.status == hht.STALLED and self._touches and dt > LEAST_PART * self.method.dt * (1.0 + ROUNDED):
            self._take_halves(leg.done, t0, dt)
            return 1
        self._fail(leg.status, self.t + dt, dt)
        return 0

    def _take_halves(self, k: int, t0: float, dt: float) -> None:
        """Step k from t0, which is not solved, as two of half its length, each of which is halved again where it is not solved: what
        begins to touch, to stick or to slide within a step leaves Newton's iteration no tangent that leads to its end."""
        every, steps = self._every, self._steps
        for _ in range(2):
            self._march_grid(self.t, 0.5 * dt, 0, 1, 0, unseen)
        self._steps, self.t = steps + 1, t0 + (k + 1) * dt
        if every and (k + 1) % every == 0:
            self._sample()

    @cached_property
    def _touches(self) -> bool:
        """Whether bodies may touch."""
        return any(force.touches for force in self.system.forces.values())

    def _run_adaptive(self, t_end: float, times: np.ndarray, look: Look) -> None:
        m, control = self.method, self._control
        room = self.room(len(times) + 1 if len(times) else 0)
        control.t, control.output = self.t, 0.0
        every = 0 if len(times) else self.output_every
        short = t_end - self.t < SHORT * control.h
        pace = Pace(50, least=10)
        while control.t < t_end:
            spent, steps = self._remembered.iterations, control.steps
            pace.begin()
            status, rows = hht.march_adaptive(
                self.tables, self.acts, self.state, self.record, self._control_numbers, m.step_tolerance, m.dt_min, min(m.dt_max, 1e300),
                min(t_end, self.next_sample), self.until_look(pace.size), every, times, m.alpha, self.newton_memory, room,
            )  # fmt: skip
            pace.end()
            self.note_done(self._remembered.iterations - spent)
            self.t = float(control.t)
            self._steps += int(control.steps - steps)
            self._keep(room[:rows])
            of_step = control.error == hht.FAILED  # not of a row
            if (
                status != hht.OK
                and not self._goes_on(status)
                and not (of_step and self.may_be_shorter(status, float(control.h)))
            ):
                self._fail(status, self.t, float(control.h))
            if self.t >= self.next_sample and self.t < t_end:
                self._take_samples()
            look()
            pace.adapt(self._remembered.iterations - spent)
        if short:
            self._restart()
            self._relax()

    @property
    def _near(self) -> np.ndarray:
        """Where angles and points on curves are (nk,)."""
        return self.state.near

    def _leave(self) -> None:
        """SolveError for a point that has left the ends of its curve or surface; the state there is recorded."""
        joint, what = self.model.beyond_ends(self.model.q, self.t, self._near)[0]
        if self._rows and abs(self._rows[-1][-1, 0] - self.t) <= 8.0 * math.ulp(
            self.t
        ):  # recorded, but for rounding of the time
            self.t = float(self._rows[-1][-1, 0])
        self._sample()
        raise self.ended(SolveError(f"joint {joint!r} {what}, at t = {self.t:g} s", time=self.t, where=joint))

    def _sample(self) -> None:
        """The present state, where it is not recorded."""
        if not self._rows or self._rows[-1][-1, 0] < self.t:
            self._rows.append(self._row())

    def _row(self) -> np.ndarray:
        """The row (1, width) of the present state."""
        room = np.empty((1, self._width))
        status = record(self.acts, self.state, self.record, self.t, self._remembered.h_last, room, 0)
        if status > hht.OK:
            self._fail(status, self.t)
        room[0, self._width - len(self.z_start) :] = self.acts.forces.z
        return room

    def _fail(self, status: int, t: float, dt: float = 0.0, first: bool = False) -> None:
        """Raise the error of a status at time t, with what was recorded."""
        if status == LEFT:
            self._leave()
        for outside in (self._outside, self._told_outside):
            if outside is not None and outside.failure is not None:
                raise outside.failure
        recorded = bool(self._rows) and not first
        if status >= FORCE_FAILED:
            force = list(self.system.forces.values())[status - FORCE_FAILED]
            raise self.ended(failure(force, t, force.callbacks()), recorded)
        users: list[tuple[Any, Any]] = [(joint, joint.callbacks()) for joint in self.system.joints.values()]
        users += [
            (self.system.driver(row.name), time_callbacks(f)) for row in self.model.drivers for f in row.functions
        ]
        for user, callbacks in users:
            if any(callback.failed for callback in callbacks):
                raise self.ended(failure(user, t, callbacks), recorded)
        where, size, joint = self._worst(t)
        at = f", |C| = {size:.2g} at {where}" if where else ""
        locked = (
            f"; driver {self.model.drivers[0].name!r} may ask for more than the joints allow: the mechanism locks there"
            if self.model.drivers
            else ""
        )
        if wrong := impossible_orientation(self.system, t, dt):
            message = wrong
        elif status == UNCOUNTED:
            message = (
                f"the turns of the joints cannot be counted at t = {t:g} s: bodies turn too far in a step, about several axes; "
                f"{f'reduce dt = {dt:g} s' if self.method.dt is not None else 'limit dt_max'}"
            )
        elif status == hht.SINGULAR:
            message = f"the equations of motion are singular at t = {t:g} s{at}; check masses and redundant joints"
        elif status == hht.STEP_TOO_SMALL:
            message = (
                f"the step fell to {dt:.3g} s at t = {t:g} s and the error still exceeds rtol = {self.method.rtol:g}{at}"
                f"{locked}; loosen rtol, or look for a stiff, jumping or unbounded force"
            )
        else:
            advice = (
                f"reduce dt = {self.method.dt:g} s" if self.method.dt is not None else "loosen rtol, or limit dt_max"
            )
            if self.method.alpha == 0.0 and self._steps > 1000:
                advice = "give alpha = -0.01, since with alpha = 0 nothing damps what rounding does to multipliers"
            message = (
                f"Newton's iteration does not converge at t = {t:g} s{at}{locked}; {advice}, or run nx.assemble near it"
                f"{sticking_advice(self.system) if self.method.dt is not None else ''}"
            )
        raise self.ended(SolveError(message, time=t, where=joint), recorded)

    def _worst(self, t: float) -> tuple[str, float, str | None]:
        """The kept row that the end of the step tried last misses most, at t, in words, by how much, and its joint; that of the start of
        the step where its end is no number."""
        if not self.kept.any():
            return "", 0.0, None
        s = self.state
        q = self._origins(s.q1 if np.isfinite(s.q1).all() else s.q0)
        C = np.where(self.kept, np.abs(self.model.residual(q, t, s.near.copy())), 0.0)
        r = int(C.argmax())
        row = self.model.rows[r]
        name = f"joint {row.joint!r} ({row.equation})" if row.driver is None and row.joint else str(row)
        return name, float(C[r]), row.joint


def rows_to_keep(report: AssemblyReport, initial: Any) -> np.ndarray:
    """Rows (nc,) of the run; a run that goes on keeps those of the one before."""
    restart = initial.recording.restart if isinstance(initial, Result) else None
    if restart is not None and len(before := restart.notes.get("kept", ())) == report.model.nc > 0:
        return np.array(before, dtype=bool)
    return kept_rows(report)


CARRY_VELOCITY_ROWS = "nx.HHT(), nx.Baumgarte() and nx.Projection() do"


def refuse_velocity_rows(model: AbsoluteModel, method: str, instead: str = CARRY_VELOCITY_ROWS) -> None:
    """InputError naming a joint that holds velocities only, where a method does not carry such rows."""
    for row in model.rows:
        if not model.positional[row.index]:
            raise InputError(f"joint {row.joint!r} is nonholonomic, which {method} does not carry; {instead}")

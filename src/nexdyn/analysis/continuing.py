"""A run is one run: what a simulation keeps between two legs of it, in memory, in a result and in its file.

    memory()         all that a simulation's steps change, as named arrays
    recall(memory)   back to it, bit by bit: an event goes back to before it, a second run goes on from the first
    restart()        the same for a result: with what does not change but must fit, and with what events and users' functions keep
    go_on(initial)   from a result, where its restart fits; otherwise a simulation starts from the result's last sample

Functions of the user's may keep a state, too: an object with `save_state()` and `load_state(state)` is asked for it; one whose
attributes change in a run and that has neither is refused where another simulation is to go on from its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.model import AbsoluteModel
from nexdyn.analysis.inverse_kinematics import Posture
from nexdyn.analysis.notices import Notice
from nexdyn.analysis.users import UserStates
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, warn
from nexdyn.forces.states import state_labels
from nexdyn.integrate.methods import METHODS, Loops
from nexdyn.model.system import System
from nexdyn.results.restart import Restart
from nexdyn.results.result import Result
from nexdyn.results.segments import changes, last_system
from nexdyn.spatial.rotations import rotation_matrix

Memory = dict[str, np.ndarray]
"""Named copies of arrays."""
NONE = np.zeros(0)


class WatchedState(NamedTuple):
    """Of an event, or an end of a joint stop (0, 1): the side of zero it was on, whether it is done, whether the stop presses."""

    name: str
    end: int
    side: float
    done: bool
    acting: bool


class March(metaclass=CheckedCalls):
    """What all simulations share: the state between legs of a run, and the result of what was recorded."""

    system: System
    method: Any
    t: float
    output_every: int
    _rows: list[np.ndarray]
    _steps: int
    _wall: float
    _first: System
    """The system at the start; events may have changed it."""
    _inherited: dict[str, Any]
    """What events of runs before this one have changed."""
    _users: UserStates
    _begun = False
    """Whether it has run: then all that is recorded is kept."""
    _happened: list[dict[str, Any]]
    """The events so far."""
    warnings: list[Notice] | None = None
    """What was said of the start; None before it was."""
    _watched: list[WatchedState] | None = None
    """How events stood at the end of the last leg."""

    def begin_march(self, system: System, initial: Any) -> tuple[System, Any]:
        """Before all else: the system as events of the runs before have left it, and what to start from, of a posture its report."""
        if isinstance(initial, Posture):
            initial = initial.at_rest(system)
        self._inherited = changes(initial.recording) if isinstance(initial, Result) else {}
        self._first = last_system(system, initial.recording) if isinstance(initial, Result) else system
        self._happened, self._rows = [], []
        self._steps, self._wall = 0, 0.0
        self._users = UserStates(self._first)
        return self._first, initial

    # --- between two legs -------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """What a memory must be of to be recalled here."""
        raise NotImplementedError

    def live(self) -> Mapping[str, np.ndarray]:
        """The arrays that steps change, themselves."""
        raise NotImplementedError

    def numbers_kept(self) -> tuple[str, ...]:
        """Attributes that are numbers and that steps change."""
        return ("t", "_steps")

    def constants(self) -> np.ndarray:
        """Numbers that do not change, but that a memory depends on."""
        return NONE

    def memory(self) -> Memory:
        """All that steps change."""
        found = {name: x.copy() for name, x in self.live().items()}
        return found | {name: np.array([float(getattr(self, name))]) for name in self.numbers_kept()}

    def recall(self, memory: Memory) -> None:
        """Back to a memory of this simulation, or of one alike."""
        for name, x in self.live().items():
            x[...] = memory[name]
        for name in self.numbers_kept():
            value = float(memory[name][0])
            setattr(self, name, int(value) if isinstance(getattr(self, name), int) else value)

    def snapshot(self) -> Snapshot:
        """The present state, to go back to."""
        return Snapshot(self)

    # --- results ----------------------------------------------------------------------------------------------------

    def told(self, result: Result) -> Result:
        """The result of all legs, with what the next one goes on from."""
        recording = result.recording
        if self._inherited:
            recording.settings["changed"] = self._inherited
        if self._happened:
            recording.settings["events"] = [dict(one) for one in self._happened]
        if self.system is not self._first:
            result = Result(self._first, recording)
        if recording.status != "failed" and recording.t[-1] == self.t:
            recording.restart = self.restart()
        return result

    def restart(self) -> Restart:
        """The state at the end of what was recorded."""
        notes = self.notes() | {"states": [label for label, _ in state_labels(self.system)], "run": self.how()}
        if self._watched is not None:
            notes["events"] = [list(one) for one in self._watched]
        if users := self._users.saved():
            notes["users"] = users
        return Restart(self.kind, self.t, self.memory(), self.constants(), notes)

    def go_on(self, initial: Any, changed: bool) -> bool:
        """From the restart of a result, where it fits and the state is not `changed` otherwise; whether it was."""
        if not isinstance(initial, Result):
            return False
        restart = initial.recording.restart
        if restart is None or restart.t != initial.recording.t[-1]:
            self._say_unknown(initial)
            return False
        if not changed and "events" in restart.notes:
            self._watched = [WatchedState(*one) for one in restart.notes["events"]]
        self._users.load(restart.notes.get("users", {}))
        steps = self._steps
        if changed or not restart.fits(self.kind, self.memory(), self.constants()):
            return False
        self.recall(restart.arrays)
        self._steps = steps
        self.forget_counters()
        return True

    def how(self) -> dict[str, Any]:
        """The arguments of the run, as JSON has them; see `arguments`."""
        return {"method": {"name": self.method.name, **asdict(self.method)}, "output_every": self.output_every}

    def notes(self) -> dict[str, Any]:
        """What the memory needs that is no number of it, as JSON has it."""
        return {}

    def forget_counters(self) -> None:
        """Count effort from here on."""

    def _say_unknown(self, initial: Result) -> None:
        """NexDynWarning for what a file without a restart does not tell."""
        unknown = self.history() if initial.recording.method == repr(self.method) else ""
        if len(state_labels(self.system)) and not initial.recording.z.size:
            unknown = f"{unknown} and " * bool(unknown) + "the states of its forces, which start as described"
        if unknown:
            warn(
                f"the result to go on from does not hold {unknown}: it was written by an older NexDyn, or is one of a batch"
            )

    def history(self) -> str:
        """What the method remembers beside the state that is recorded, in words; "" for nothing."""
        return ""

    def go_on_from(self, old: March) -> None:
        """As the simulation in place of which this one has been made within a run."""
        self._steps, self._wall = old._steps, old._wall
        self._first, self._inherited, self._users, self.warnings = old._first, old._inherited, old._users, old.warnings

    # --- legs with events -------------------------------------------------------------------------------------------

    def become(self, other: March) -> None:
        """Go on as another simulation of the same class, with which events have replaced this one."""
        if other is not self:
            self.__dict__ = dict(other.__dict__)


class Snapshot:
    """The present state of a simulation, to go back to."""

    def __init__(self, sim: Any) -> None:
        self.sim = sim
        self.memory: Memory = sim.memory()
        self.users = sim._users.told()
        self.rows = list(sim._rows)

    @property
    def t(self) -> float:
        """When it was taken [s]."""
        return float(self.memory["t"][0])

    def restore(self) -> None:
        """Back to it; what was measured of the machine's time stays."""
        self.sim.recall(self.memory)
        self.sim._users.load(self.users)
        self.sim._rows = list(self.rows)


def arguments(restart: Restart) -> dict[str, Any]:
    """What a run was given beside its start, as arguments of `nx.simulate`, to go on in the same way."""
    found = dict(restart.notes.get("run", {}))
    method = dict(found.pop("method", {}))
    if method:
        found["method"] = METHODS[method.pop("name")](**method)
    if loops := found.pop("loops", None):
        found["loops"] = Loops(**loops)
    return found


def of_fields(prefix: str, record: Any, without: tuple[str, ...] = ()) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of a named tuple, as "prefix.field"."""
    for name, x in zip(record._fields, record, strict=True):
        if isinstance(x, np.ndarray) and x.dtype != bool and name not in without:
            yield f"{prefix}.{name}", x


def last_sample(initial: Result) -> Result:
    """The last sample of a result alone, of the system that events have left."""
    r = initial.recording
    of_samples = ("t", "q", "v", "a", "z", "followed", "multipliers", "violation")
    last = {name: x[-1:] for name in of_samples if (x := getattr(r, name, None)) is not None and x.size}
    settings = {key: x for key, x in r.settings.items() if key not in ("events", "changed")}
    system = last_system(initial.system, r)
    tree = initial._tree if system is initial.system else None
    return Result(
        system, replace(r, **last, settings=settings, restart=None), tree, lost_forces=initial.lost_forces,
        stored={key: x[-1:] for key, x in (initial._stored or {}).items()},
    )  # fmt: skip


def bodies_at_end(initial: Result, model: AbsoluteModel) -> tuple[np.ndarray, np.ndarray]:
    """Poses (nb + 1, 7) and velocities (nb + 1, 6) of the bodies of `model` at the end of a result. InputError where it lacks one."""
    return seen_bodies(last_sample(initial).observed, model)


def seen_bodies(seen: Any, model: AbsoluteModel) -> tuple[np.ndarray, np.ndarray]:
    """The same at the last sample that is observed."""
    names = list(seen.labels.dims["body"])
    if sorted(names) != sorted(model.bodies[1:]):
        raise InputError(
            f"initial is a result of another mechanism, with the bodies {', '.join(names[:8])}; "
            f"{model.system.name!r} has {', '.join(model.bodies[1:9])}"
        )
    place = [model.body_index[name] for name in names]
    found = {key: x[-1] for key, x in seen.collect(("orientation", "position", "angular_velocity", "velocity")).items()}
    q, v = model.q.copy(), np.zeros_like(model.v)
    q[place, :4], q[place, 4:] = found["orientation"], found["position"]
    v[place, :3] = np.einsum("nji,nj->ni", rotation_matrix(q[place, :4]), found["angular_velocity"])
    v[place, 3:] = found["velocity"]
    return q, v


def joints_at_end(initial: Result, system: System) -> dict[str, np.ndarray]:
    """Coordinates at the end of a result of the joints of `system` that have any, angles counted as they were."""
    seen = last_sample(initial).observed
    return {
        name: seen.of_joint("joint_position", name)[-1]
        for name, joint in system.joints.items()
        if name in initial.system.joints and joint.nv and joint.tree and len(joint.coordinates) == joint.nq
    }

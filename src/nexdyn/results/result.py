"""`Result`: what a run recorded, by name, with units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError, UnknownNameError, counted, unknown, warn
from nexdyn.model.element import Element
from nexdyn.model.system import System
from nexdyn.results.atomic import PathLike
from nexdyn.results.recording import Recording
from nexdyn.shown import drawn

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from nexdyn.results.arrays import PeakTable
    from nexdyn.results.error_estimate import ErrorEstimate
    from nexdyn.results.observed import Observed
    from nexdyn.tree.tree import Tree


class Result(metaclass=CheckedCalls):
    """The motion of a system as a run recorded it. `nx.simulate` returns one; `nx.open_result` reads one.

    Everything is computed when asked, and comes as a labelled array (xarray.DataArray) with `units` and `long_name`,
    a copy of your own. The first axis is time. A body may be a marker too, or "ground"; without a name, all bodies or
    joints come at once. Names that nothing carries give UnknownNameError with the nearest name.

    `system` is the system; `recording` the bare arrays t (N,), q (N, nq), v, a (N, nv) in the order of `nx.Tree`.
    """

    def __init__(
        self,
        system: System,
        recording: Recording,
        tree: Tree | None = None,
        *,
        lost_forces: Sequence[str] = (),
        stored: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.system, self.recording = system, recording
        self.lost_forces = tuple(lost_forces)
        """Forces that acted in the run and that the file it was read from could not hold."""
        self.error_estimate: ErrorEstimate | None = None
        """What `nx.simulate(…, error_estimate=True)` measured; not kept in files."""
        self._tree, self._stored = tree, stored

    def __repr__(self) -> str:
        r = self.recording
        span = f"t = {r.t[0]:g} … {r.t[-1]:g} s, {counted(len(r.t), 'sample')}"
        return f"Result({self.system.name!r}: {span}, {r.method}, {r.status})"

    def of_samples(self, recording: Recording, samples: slice, system: System | None = None) -> Result:
        """Some of its samples as a result of their own: a `recording` of them, and the `system` that moves in them, by default its own."""
        return Result(
            system or self.system, recording, self._tree if system in (None, self.system) else None, lost_forces=self.lost_forces,
            stored={key: x[samples] for key, x in (self._stored or {}).items()},
        )  # fmt: skip

    def _repr_html_(self) -> str:
        html: str = drawn("result", self)
        return html

    # --- the run ----------------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """ "finished", "interrupted" or "failed"."""
        return self.recording.status

    @property
    def message(self) -> str:
        """Why it did not finish; "" where it did."""
        return self.recording.message

    @property
    def t(self) -> xr.DataArray:
        """Time of the samples (time,) [s]."""
        import xarray as xr

        t = self.recording.t
        attributes = {"units": "s", "long_name": "time"}
        return xr.DataArray(t.copy(), {"time": t.copy()}, ["time"], name="t", attrs=attributes)

    @property
    def tree(self) -> Tree:
        """The tree in whose coordinates the motion was recorded. InputError for one in absolute coordinates."""
        tree = self.observed.tree
        if not hasattr(tree, "compiled"):
            raise InputError("the motion was recorded in absolute coordinates: it has bodies and joints, and no tree")
        return tree

    @cached_property
    def observed(self) -> Observed:
        """The motion as plain arrays, block by block."""
        from nexdyn.results.recording import BodyRecording, LoopRecording

        if isinstance(self.recording, LoopRecording):
            from nexdyn.results.loops import ObservedLoops
            from nexdyn.tree.loops.closed import spanning_tree

            tree = self._tree or spanning_tree(self.system, self.recording.settings["cut"])
            return ObservedLoops(tree, self.recording, self.lost_forces, self._stored)
        if isinstance(self.recording, BodyRecording):
            from nexdyn.results.bodies import ObservedBodies, body_motion

            motion: Any = self._tree or body_motion(self.system)
            return ObservedBodies(motion, self.recording, self.lost_forces, self._stored)
        from nexdyn.results.observed import Observed
        from nexdyn.tree.tree import Tree

        return Observed(self._tree or Tree(self.system), self.recording, self.lost_forces, self._stored)

    def multiplier(self) -> xr.DataArray:
        """Multipliers (time, row) of the constraint rows of a run in absolute coordinates or with closed loops, labelled
        "hinge.DX"."""
        from nexdyn.results.arrays import labelled

        self.observed.require("multiplier")
        return labelled(self.observed, "multiplier", self.observed.take("multiplier"))

    def effort(self, name: str | None = None) -> xr.DataArray:
        """Effort (time,) [N, N m] of a force in a joint; without `name` of all of them (time, actuator).

        Of a driver what it takes, along its coordinate, to do what it asks, of one of a whole orientation the torque (time, axis) in the
        axes of its frame; of a coupling, its multiplier with the opposite sign.
        """
        import xarray as xr

        if name is None or name in self.observed.labels.dims["actuator"]:
            from nexdyn.results.arrays import one_of

            return one_of(self.observed, "effort", name)
        if name in self.system.forces:
            raise InputError(
                f"{self.system.forces[name]} acts between bodies, not in a joint; force({name!r}) tells what it does"
            )
        self.observed.require("multiplier")
        labels = self.observed.labels
        rows = {
            **{f"driver {n!r}": n for n in self.system.drivers},
            **{f"coupling {n!r}": n for n in self.system.couplings},
        }
        found = {rows[row]: k for k, row in enumerate(labels.dims["row"]) if row in rows}
        whole = {n: [f"driver {n!r} ({i})" for i in "xyz"] for n in self.system.drivers}
        if name in whole and all(row in labels.dims["row"] for row in whole[name]):
            places = [labels.dims["row"].index(row) for row in whole[name]]
            attributes = {"units": labels.units["multiplier"][places[0]], "long_name": f"torque of {name}"}
            torque, coordinates = (
                -self.observed.take("multiplier")[:, places],
                {"time": self.recording.t.copy(), "axis": list("xyz")},
            )
            return xr.DataArray(torque, coordinates, ["time", "axis"], name="effort", attrs=attributes)
        if name not in found:
            raise unknown("driver or coupling", name, found)
        t, k = self.recording.t, found[name]
        attributes = {"units": labels.units["multiplier"][k], "long_name": f"effort of {name}"}
        lam = self.observed.take("multiplier")[:, k]
        return xr.DataArray(-lam, {"time": t.copy()}, ["time"], name="effort", attrs=attributes)

    def force(self, name: str, *, frame: Element | str = "world") -> xr.Dataset:
        """What a force of the system does along the motion, from its law and the recorded states, under every method.

        A dataset: `force` and `moment` (time, end, axis) [N, N m] on the bodies at its ends, the moments about `point`
        (time, end, axis) [m], where it acts, in the world; `power` (time) [W] of both ends together; `energy` (time) [J] that it
        stores. A force in a joint acts at the joint's point, on parent and child.

        frame: whose axes components are in: "world", a body or a marker. UnknownNameError for a name that is no force;
        InputError where a file does not hold the force, a function of Python's.
        """
        from nexdyn.results.forces import force_along

        return force_along(self.observed, self.system, _name_of(name, "force"), frame)

    # --- joints -----------------------------------------------------------------------------------------------------

    def joint_position(self, joint: str | None = None) -> xr.DataArray:
        """Coordinates q (time, coordinate) [rad, m, 1] in the order of `nx.Tree(system)`, labelled "hinge", "base.qw".

        Of one joint its own; a joint with one coordinate has no axis but time. The joint may be one that mimics
        another, or a floating body.
        """
        return self._of_joint("joint_position", joint)

    def joint_velocity(self, joint: str | None = None) -> xr.DataArray:
        """Velocities v (time, freedom) [rad/s, m/s], as `joint_position`; those of a free joint are in body axes."""
        return self._of_joint("joint_velocity", joint)

    def joint_acceleration(self, joint: str | None = None) -> xr.DataArray:
        """dv/dt (time, freedom) [rad/s², m/s²], as `joint_velocity`."""
        return self._of_joint("joint_acceleration", joint)

    def reaction(
        self,
        joint: str | None = None,
        *,
        on: Element | str | None = None,
        at: Any = None,
        frame: Element | str | None = None,
    ) -> xr.DataArray:
        """Force and moment of the joint on one of its bodies (time, component fx fy fz mx my mz) [N, N m], constraint part.

        on: the joint's child or parent; without it the child. at: the point that the moment is about: a body or marker (its origin),
        or three numbers [m] in the frame of the body that the wrench acts on; without it the joint's point, the origin of its frame
        on the parent. frame: whose axes components are in: "world", a body or a marker; without it those of the joint's frame.

        What acts along the joint's own degrees of freedom (springs, dampers, friction, drives) is left out; `transmitted` has it.
        Without `joint`, of all joints (time, joint, component), each on its child, at its point and in its axes.
        InputError for names that are not, and for a body that the joint does not act on.
        """
        return self._of_wrench("reaction", joint, on, at, frame)

    def transmitted(
        self,
        joint: str | None = None,
        *,
        on: Element | str | None = None,
        at: Any = None,
        frame: Element | str | None = None,
    ) -> xr.DataArray:
        """The whole force and moment of the joint on one of its bodies, otherwise as `reaction`."""
        return self._of_wrench("transmitted", joint, on, at, frame)

    def peaks(self) -> PeakTable:
        """Largest force [N] and moment [N m] of each joint's reaction, and when [s], over all steps. A run that leaves states out
        (`output_every`, `output_times`) looks at them all with `peaks=True` alone; else the peaks are those of the samples, which a
        NexDynWarning says, and `attrs["of"]`: "steps" or "samples". Between steps nothing is looked at: DOP853 takes long ones, which
        its dt_max shortens.

        A Dataset over `joint` with `force`, `force_time`, `moment`, `moment_time` that prints as a table;
        ``peaks().sortby("force", ascending=False)`` begins with the largest.
        """
        from nexdyn.results.arrays import peaks

        if self.observed.peaks_of == "samples":
            r = self.recording
            warn(
                f"these are the peaks of {counted(len(r.t), 'recorded sample')} alone, of {counted(r.steps, 'step')}; "
                "nx.simulate(…, peaks=True) looks at every step"
            )
        return peaks(self.observed)

    # --- bodies -----------------------------------------------------------------------------------------------------

    def position(self, body: str | None = None) -> xr.DataArray:
        """Origin of a body or marker in the world (time, axis) [m]; without `body` of all bodies (time, body, axis)."""
        return self._of_body("position", body)

    def orientation(self, body: str | None = None) -> xr.DataArray:
        """Unit quaternion (time, quaternion w x y z) of a body or marker in the world, without jumps of sign."""
        return self._of_body("orientation", body)

    def rotation(self, body: str | None = None) -> xr.DataArray:
        """Rotation matrix (time, axis, body_axis); its columns are the axes of a body or marker in the world."""
        return self._of_body("rotation", body)

    def velocity(self, body: str | None = None) -> xr.DataArray:
        """Velocity (time, axis) [m/s] of the origin of a body or marker, in world axes."""
        return self._of_body("velocity", body)

    def angular_velocity(self, body: str | None = None) -> xr.DataArray:
        """Angular velocity (time, axis) [rad/s] of a body, in world axes."""
        return self._of_body("angular_velocity", body)

    def acceleration(self, body: str | None = None) -> xr.DataArray:
        """Acceleration (time, axis) [m/s²] of the origin of a body or marker, in world axes."""
        return self._of_body("acceleration", body)

    def angular_acceleration(self, body: str | None = None) -> xr.DataArray:
        """Angular acceleration (time, axis) [rad/s²] of a body, in world axes."""
        return self._of_body("angular_acceleration", body)

    # --- energy and measures ----------------------------------------------------------------------------------------

    def energy(self, *, dissipated: bool = False) -> xr.Dataset:
        """`kinetic`, `gravitational` (0 at the world's origin), `elastic` and `total` energy (time) [J].

        dissipated: whether to add `dissipated` (time, contact) [J], what each contact has turned into heat since the first sample, by
            damping and friction; with surfaces that run, also what their drives have given. It is a sum over the steps by the trapezoidal
            rule; InputError where the result does not hold all steps.
        """
        from nexdyn.results.arrays import energy

        found = energy(self.observed)
        if dissipated:
            from nexdyn.results.dissipation import dissipated as of_contacts

            found["dissipated"] = of_contacts(self.observed, self.system)
        return found

    @property
    def energy_drift(self) -> float:
        """max |E − E₀| over the samples, relative to the energy that moved: max(max T, max |U − U₀|).

        What the integration added or lost, if nothing else does work: see `not_conservative`.
        """
        from nexdyn.results.table import energy_drift

        return energy_drift(self.observed)

    @property
    def not_conservative(self) -> list[str]:
        """What does work in the run other than gravity and springs, in words; empty where the energy should stay."""
        from nexdyn.results.table import not_conservative

        driven = ["efforts given to Simulation.step"] if self.recording.settings.get("driven") else []
        return not_conservative(self.system) + [f"force {name!r}" for name in self.lost_forces] + driven

    def measure(self, name: str) -> xr.DataArray:
        """The measure `name` of the system: (time), or (time, axis) for a vector, in its own unit."""
        from nexdyn.results.arrays import measure

        name = _name_of(name, "measure")
        self.system.measure(name)
        return measure(self.observed, name)

    def measures(self) -> dict[str, xr.DataArray]:
        """All measures of the system by name."""
        return {name: self.measure(name) for name in self.system.measures}

    # --- events -----------------------------------------------------------------------------------------------------

    @property
    def events(self) -> list[dict[str, Any]]:
        """What happened: a dict an event with `time` [s] and `name`, in order; `impulse` where a joint stop was struck, `impulses` of
        clamps that began to hold, {clamp: {"force": [N s], "moment": [N m s]}} on the child at the clamp's point in the world, `change`
        where parameters were changed, or forces or clamps switched."""
        return [dict(one) for one in self.recording.settings.get("events", [])]

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What was said of the start, and on the way: `kind` "gap", "limit", "start", "contact", "drawn", "shared", "step", "unstable",
        "degrees", "violation", "singular", "energy", "state", "event" or "file", `where`, `value` in `units`, `angle` [rad], `text`."""
        return [dict(one) for one in self.recording.settings.get("warnings", [])]

    # --- forces -----------------------------------------------------------------------------------------------------

    def force_state(self, label: str | None = None) -> xr.DataArray:
        """States (time, state) of forces that have any, labelled "servo.integral", "servo.held"; or one of them (time)."""
        from nexdyn.results.arrays import one_of

        return one_of(self.observed, "force_state", label)

    # --- contacts ---------------------------------------------------------------------------------------------------

    def contacts(self, name: str | None = None) -> xr.Dataset:
        """What every contact did: a Dataset over time and `contact`, its points, or of the contact or force called `name`.

        `force` (time, contact, axis) on body `a` and `point` where it acts, both in the world; `normal` and `tangential` [N], the
        sizes of its two parts; `penetration` [m], below 0 where the surfaces are apart; `direction`, the normal from `b` to `a`;
        `sliding` [m/s], the velocity of `a` against `b` along the surfaces, with what these run by; `sticks`, 1 or 0; `area` [m²] and
        largest `pressure` [Pa], of surfaces, and of points with exponent 1.5 by Hertz from depth and normal force (0 of other points);
        `moment` [N m] on `a` at the point, of surfaces. The coordinates `of`, `a` and `b` tell the contact and the bodies of each point. A
        capsule "foot" has two contact points, "foot.1" and "foot.2".

        Raises UnknownNameError for a name that no contact has.
        """
        from nexdyn.results.arrays import contacts

        return contacts(self.observed, name)

    def contact_load(self, body: str) -> xr.Dataset:
        """What all contacts together do to a body ('ground' is one): a Dataset of `force` (time, axis) [N] and `moment` [N m] about the
        body's origin, world axes. UnknownNameError for a body that is none."""
        from nexdyn.results.arrays import contact_load

        return contact_load(self.observed, body)

    def touches(self, name: str | None = None) -> list[dict[str, Any]]:
        """Who touched whom, and when, by the samples; in all contacts, or in the contact or force called `name`.

        A dict for each time that two bodies touched, in order: `contact`, `a`, `b`, `begin` and `end`, the first and the last sample
        [s] that bear, and `peak`, the largest sum of the normal forces [N]. UnknownNameError for a name that no contact has.
        """
        from nexdyn.results.contacts import columns_of, contact_points, touches_of

        points = contact_points(self.system)
        chosen = list(range(len(points))) if name is None else columns_of(self.system, name)
        normal = self.observed.take("contact_normal")[:, chosen]
        return touches_of([points[k] for k in chosen], self.recording.t, normal)

    def rolling(self, joint: str) -> xr.Dataset:
        """What a RollingDisk or RollingSphere did: a Dataset over time.

        `point` (time, axis) of contact [m] and `force` there on the child [N], both in the world; `normal` and `tangential`
        [N], the sizes of its two parts; `lean` [rad], the angle of the axle with the plane, 0 upright.
        """
        from nexdyn.results.rolling import rolling_dataset

        return rolling_dataset(self, joint)

    # --- all of it --------------------------------------------------------------------------------------------------

    def to_dataset(self, full: bool = True) -> xr.Dataset:
        """One Dataset with all that a file holds (see `save`)."""
        from nexdyn.results.arrays import dataset
        from nexdyn.results.file import attributes, kept_quantities

        return dataset(self.observed, kept_quantities(self, full), attributes(self))

    def summary(self, peaks: int = 10) -> dict[str, Any]:
        """The run in numbers, as JSON has them: status, steps, times, energies, the `peaks` largest reactions.

        `energy_drift` is None where something other than gravity and springs does work (`not_conservative` says what).
        """
        from nexdyn.results.table import summary

        return summary(self, peaks)

    def summary_text(self, peaks: int = 10) -> str:
        """The summary as a few lines to print."""
        from nexdyn.results.table import summary_text

        return summary_text(self.summary(peaks))

    # --- looking at it ----------------------------------------------------------------------------------------------

    def plot(
        self, *what: str, of: Sequence[str] | str = (), path: PathLike | None = None, title: str | None = None
    ) -> Figure:
        """A matplotlib Figure, with axes in units; written to `path` (.png, .svg, .pdf) if one is given.

        what: "energy", "joint_position", "joint_velocity", "joint_acceleration", "position", "velocity",
            "acceleration", "angular_velocity", "angular_acceleration", "reaction", "transmitted", "measures", "phase"
            (v over q); energy and joint coordinates where nothing is named.
        of: the joints, bodies, markers or measures that are meant; all of them otherwise, and of more than ten in one
            panel those that move most, which the panel says.

        Raises UnknownNameError with the nearest name; InputError where matplotlib (nexdyn[view]) is missing.
        """
        figure: Figure = drawn("plot", self, *what, of=of, path=path, title=title)
        return figure

    # --- files ------------------------------------------------------------------------------------------------------

    def save(self, path: PathLike, full: bool = True) -> None:
        """Write a netCDF-4 file (.nc or .nc4), whole or not at all: a failure leaves an old file as it was.

        full: with poses, velocities, accelerations, reactions, energies, measures and peaks, for other tools to read;
        otherwise the states only, from which `nx.open_result` computes all that.

        Raises InputError for another suffix, FileError naming the file where it cannot be written. Forces that are
        Python functions are left out of the system's description, with a NexDynWarning.
        """
        from nexdyn.results.file import write_result

        write_result(self, path, full)

    @classmethod
    def load(cls, path: PathLike) -> Result:
        """The same as `nx.open_result`."""
        from nexdyn.results.file import read_result

        return cls(**read_result(path)._asdict())

    def to_csv(
        self, path: PathLike, what: str | Sequence[str] = ("joint_position", "joint_velocity", "joint_acceleration")
    ) -> None:
        """Write a table (.csv), whole or not at all: a row a sample, a column a number, headed "reaction.hinge.fx [N]".

        what: quantities by the names of the methods above: "position", "reaction", "energy", "measures", … Numbers keep
        all their digits. Errors as for `save`.
        """
        from nexdyn.results.csv_file import write_csv

        write_csv(self.observed, path, what)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _of_joint(self, name: str, joint: str | None) -> xr.DataArray:
        from nexdyn.results.arrays import labelled, of_joint
        from nexdyn.results.quantities import labels_of_joint

        observed = self.observed
        if joint is None:
            return labelled(observed, name, observed.take(name))
        joint = _name_of(joint, "joint")
        try:
            values = observed.of_joint(name, joint)
        except UnknownNameError as error:
            raise self._known_as_another(joint, "joint") or error from None
        return of_joint(observed, name, values, labels_of_joint(observed.tree, name, joint))

    def _of_wrench(self, name: str, joint: str | None, on: Any, at: Any, frame: Any) -> xr.DataArray:
        from nexdyn.results.arrays import labelled
        from nexdyn.results.wrenches import wrench_on

        observed, asked = self.observed, any(x is not None for x in (on, at, frame))
        if joint is None:
            if asked:
                raise InputError(f"on, at and frame belong to one joint: {name}('hinge', frame='world')")
            return labelled(observed, name, observed.take(name))
        joint, joints = _name_of(joint, "joint"), observed.labels.dims["joint"]
        if joint not in joints:
            raise self._known_as_another(joint, "joint") or unknown("joint", joint, joints)
        wrench = observed.take(name, joints.index(joint))
        if not asked:
            return labelled(observed, name, wrench, {"joint": joint})
        wrench, told = wrench_on(observed, self.system, joint, wrench, on, at, frame)
        found = labelled(observed, name, wrench, {"joint": joint})
        found.attrs["long_name"] = f"{name} {told}"
        return found

    def _of_body(self, name: str, body: str | None) -> xr.DataArray:
        from nexdyn.results.arrays import labelled

        observed = self.observed
        if body is None:
            return labelled(observed, name, observed.take(name))
        body = _name_of(body, "body or marker")
        try:
            values = observed.at_frame(name, body)
        except UnknownNameError as error:
            raise self._known_as_another(body, "body or marker") or error from None
        return labelled(observed, name, values, {"body": body})

    def _known_as_another(self, name: Any, wanted: str) -> UnknownNameError | None:
        """The error for a name of something else than what is `wanted`: where that is found. None for a name of nothing."""
        of = {
            "joint": (self.system.joints, "joint_position({0!r}) and reaction({0!r}) are of it"),
            "body": (self.system.bodies, "position({0!r}) and velocity({0!r}) are of it"),
            "force": (self.system.forces, "force({0!r}) is of it"),
            "measure": (self.system.measures, "measure({0!r}) is its value"),
        }
        for kind, (there, way) in of.items():
            if isinstance(name, str) and name in there and kind not in wanted:
                return UnknownNameError(f"{name!r} is a {kind}, not a {wanted}; {way.format(name)}")
        return None


def _name_of(given: Any, kind: str) -> str:
    """The name of an element, which may be given itself; InputError for what is no name."""
    name = getattr(given, "name", given)
    if not isinstance(name, str):
        raise InputError(f"{given!r} is no name; that of one {kind} is needed")
    return name


@checked_call
def open_result(path: PathLike) -> Result:
    """The `Result` in a file that `Result.save` wrote; it can be read, asked and gone on from.

    All but the states is computed again when asked. Forces that are Python functions are not in a file: then the
    reactions are those that the file holds, and a NexDynWarning names the forces.

    Raises FileError where the file is missing, is no result, is cut short, or is of a newer NexDyn.
    """
    return Result.load(path)

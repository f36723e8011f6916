"""`BatchResult`: what the members of a batch did, by name, with units and a first axis `member`.

What a member has no value for is NaN: all of one that could not start, the rest of one that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, SolveError, counted
from nexdyn.model.system import System
from nexdyn.results.atomic import PathLike
from nexdyn.results.recording import Recording, without_events
from nexdyn.results.restart import Restart
from nexdyn.results.result import Result

if TYPE_CHECKING:
    import xarray as xr

    from nexdyn.tree.tree import Tree

Failures = Mapping[int, tuple[str, float]]
"""Why members failed, and when [s]."""


class Rows(Protocol):
    """States (members, samples, nq + 2 nv + nz), in memory or in a file."""

    def __getitem__(self, index: Any, /) -> Any: ...

    def __setitem__(self, index: Any, value: Any, /) -> None: ...


@dataclass
class BatchRecording:
    """States of all members at t (samples,) [s]: rows (members, samples, nq + 2 nv + nz) hold q, v, dv/dt and the states of forces."""

    t: np.ndarray
    rows: Rows
    nq: int
    nv: int
    method: str = ""
    steps: int = 0
    status: str = "finished"
    message: str = ""
    wall_time: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    restarts: Mapping[int, Restart] = field(default_factory=dict)
    """Of members that go on from more than their last state."""


class BatchResult(metaclass=CheckedCalls):
    """The motion of all members of a batch, as `nx.simulate(system, batch=…)` recorded it.

    `members` is their number, `failures` {member: cause}, `failure_times` {member: when [s]}; `status` is "finished" also
    where members failed. `member(3)` is the `Result` of one. The other methods are those of `Result` with a first axis
    `member`, on which parameters that vary stand as coordinates.
    """

    def __init__(
        self,
        system: System,
        recording: BatchRecording,
        trees: Mapping[int, Tree] | Tree,
        failures: Failures,
        parameters: Mapping[str, np.ndarray],
    ) -> None:
        self.system, self.recording = system, recording
        self._trees = trees
        self._results: Mapping[int, Result] | None = None
        self._keep(failures, parameters)
        self.members = int(getattr(recording.rows, "shape")[0])  # noqa: B009
        """How many there are."""

    @classmethod
    def of_results(
        cls, system: System, results: Mapping[int, Result], members: int, failures: Failures,
        parameters: Mapping[str, np.ndarray], run: Recording, times: np.ndarray | None = None,
    ) -> BatchResult:  # fmt: skip
        """Of members that ran one by one, at the `times` that all were asked for, by default those that all recorded; what events recorded
        beside them its members keep. InputError where these differ."""
        stored = getattr(results, "head", None)  # of results in a file, which are not read for this
        heads: dict[int, Recording] = {m: results[m].recording if stored is None else stored(m) for m in results}
        if times is None:
            times = _shared_times(
                {m: head for m, head in heads.items() if m not in failures and head.status == "finished"}
            )
        if times is None:
            times = max((head.t for head in heads.values()), key=len, default=np.zeros(1))
        self = cls.__new__(cls)
        self.system, self.members, self._trees, self._results = system, members, {}, results
        self.recording = BatchRecording(
            times, np.empty((0, 0, 0)), 0, 0, run.method,
            max((head.steps for head in heads.values()), default=0), run.status, run.message, run.wall_time,
        )  # fmt: skip
        self._keep(failures, parameters)
        return self

    def _keep(self, failures: Failures, parameters: Mapping[str, np.ndarray]) -> None:
        self.failures = {m: cause for m, (cause, _) in failures.items()}
        self.failure_times = {m: t for m, (_, t) in failures.items()}
        self.parameters = dict(parameters)

    def __repr__(self) -> str:
        r = self.recording
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"BatchResult({self.system.name!r}: {counted(self.members, 'member')}{failed}, t = {r.t[0]:g} … {r.t[-1]:g} s, "
            f"{counted(len(r.t), 'sample')}, {r.method}, {r.status})"
        )

    def __len__(self) -> int:
        return self.members

    # --- the run ----------------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """ "finished", or "interrupted" before all members had come to the end."""
        return self.recording.status

    @property
    def message(self) -> str:
        """Why it did not finish; "" where it did."""
        return self.recording.message

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What was said of the starts and runs of members, as `Result.warnings`, each with its `member`."""
        if self._results is None:
            return [dict(one) for one in self.recording.settings.get("warnings", [])]
        stored = getattr(self._results, "head", None)
        return [
            {**one, "member": m}
            for m in sorted(self._results)
            for one in (self._results[m].recording if stored is None else stored(m)).settings.get("warnings", [])
        ]

    @property
    def t(self) -> xr.DataArray:
        """Time of the samples (time,) [s]."""
        import xarray as xr

        t = self.recording.t
        return xr.DataArray(t.copy(), {"time": t.copy()}, ["time"], name="t", attrs={"units": "s", "long_name": "time"})

    def member(self, index: int) -> Result:
        """The result of one member, up to where it failed if it did.

        InputError for a number that no member has; SolveError, with the cause, for one that could not start.
        """
        if not isinstance(index, int | np.integer) or isinstance(index, bool) or not 0 <= index < self.members:
            raise InputError(f"no member {index!r}; there are members 0 to {self.members - 1}")
        index = int(index)
        if self._results is not None:
            if index not in self._results:
                raise SolveError(self._cause(index), time=self.failure_times.get(index))
            return self._results[index]
        r = self.recording
        rows = np.asarray(r.rows[index])
        kept = self._kept(index, rows)
        if kept == 0:
            raise SolveError(self._cause(index), time=self.failure_times.get(index))
        q, v, a, z = np.split(rows[:kept], [r.nq, r.nq + r.nv, r.nq + 2 * r.nv], axis=1)
        cause = self.failures.get(index)
        status, message = (r.status, r.message) if cause is None else ("failed", cause)
        settings = {key: x for key, x in r.settings.items() if key != "warnings"}
        if mine := [one for one in r.settings.get("warnings", []) if one["member"] == index]:
            settings["warnings"] = [{key: x for key, x in one.items() if key != "member"} for one in mine]
        recording = Recording(
            r.t[:kept].copy(), q, v, a, r.method, r.steps, status, message, r.wall_time / self.members, settings,
            z=z if z.shape[1] else np.zeros((0, 0)), restart=r.restarts.get(index) if status == "finished" else None,
        )  # fmt: skip
        tree = self._trees[index] if isinstance(self._trees, Mapping) else self._trees
        return Result(tree.system, recording, tree=tree)

    def _kept(self, index: int, rows: np.ndarray) -> int:
        """Samples of a member before it failed, or was interrupted."""
        if index not in self.failures and self.recording.status == "finished":
            return len(rows)
        return int(np.isfinite(rows).all(axis=1).sum())

    def _cause(self, index: int) -> str:
        return f"member {index}: {self.failures.get(index, self.message or 'it did not start')}"

    # --- joints -----------------------------------------------------------------------------------------------------

    def joint_position(self, joint: str | None = None) -> xr.DataArray:
        """Coordinates q (member, time, coordinate) [rad, m, 1], as `Result.joint_position`."""
        return self._of_all("joint_position", joint)

    def joint_velocity(self, joint: str | None = None) -> xr.DataArray:
        """Velocities v (member, time, freedom) [rad/s, m/s], as `Result.joint_velocity`."""
        return self._of_all("joint_velocity", joint)

    def joint_acceleration(self, joint: str | None = None) -> xr.DataArray:
        """dv/dt (member, time, freedom) [rad/s², m/s²], as `Result.joint_acceleration`."""
        return self._of_all("joint_acceleration", joint)

    def reaction(self, joint: str | None = None) -> xr.DataArray:
        """Force and moment of the joint on its child (member, time, component) [N, N m], as `Result.reaction`."""
        return self._of_all("reaction", joint)

    def transmitted(self, joint: str | None = None) -> xr.DataArray:
        """The whole force and moment of the joint on its child, otherwise as `reaction`."""
        return self._of_all("transmitted", joint)

    # --- bodies -----------------------------------------------------------------------------------------------------

    def position(self, body: str | None = None) -> xr.DataArray:
        """Origin of a body or marker in the world (member, time, axis) [m], as `Result.position`."""
        return self._of_all("position", body)

    def orientation(self, body: str | None = None) -> xr.DataArray:
        """Unit quaternion (member, time, quaternion), as `Result.orientation`."""
        return self._of_all("orientation", body)

    def rotation(self, body: str | None = None) -> xr.DataArray:
        """Rotation matrix (member, time, axis, body_axis), as `Result.rotation`."""
        return self._of_all("rotation", body)

    def velocity(self, body: str | None = None) -> xr.DataArray:
        """Velocity (member, time, axis) [m/s], as `Result.velocity`."""
        return self._of_all("velocity", body)

    def angular_velocity(self, body: str | None = None) -> xr.DataArray:
        """Angular velocity (member, time, axis) [rad/s], as `Result.angular_velocity`."""
        return self._of_all("angular_velocity", body)

    def acceleration(self, body: str | None = None) -> xr.DataArray:
        """Acceleration (member, time, axis) [m/s²], as `Result.acceleration`."""
        return self._of_all("acceleration", body)

    def angular_acceleration(self, body: str | None = None) -> xr.DataArray:
        """Angular acceleration (member, time, axis) [rad/s²], as `Result.angular_acceleration`."""
        return self._of_all("angular_acceleration", body)

    # --- energy and measures ----------------------------------------------------------------------------------------

    def energy(self) -> xr.Dataset:
        """`kinetic`, `gravitational`, `elastic` and `total` energy (member, time) [J]."""
        return self._of_all("energy")

    def measure(self, name: str) -> xr.DataArray:
        """The measure `name` (member, time[, axis]), in its own unit."""
        return self._of_all("measure", name)

    # --- all of it --------------------------------------------------------------------------------------------------

    def to_dataset(self) -> xr.Dataset:
        """The states of all members, with `failure` (member,): why each failed, "" where it did not."""
        import xarray as xr

        names = ("joint_position", "joint_velocity", "joint_acceleration")
        out = xr.Dataset({name: getattr(self, name)().drop_vars("units", errors="ignore") for name in names})
        causes = np.array([self.failures.get(m, "") for m in range(self.members)], dtype=str)
        out["failure"] = ("member", causes, {"long_name": "why the member failed"})
        r = self.recording
        out.attrs = {"title": self.system.name, "method": r.method, "status": r.status, "message": r.message,
                     "steps": r.steps, "wall_time": r.wall_time, "kernels": r.settings.get("kernels", "")}  # fmt: skip
        return out

    def save(self, path: PathLike) -> None:
        """Write `to_dataset` as a netCDF-4 file (.nc, .nc4), whole or not at all. Errors as for `Result.save`."""
        from nexdyn.results.batch_store import save_batch

        save_batch(self, path)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _of_all(self, what: str, *names: Any) -> Any:
        """The quantity of every member, stacked."""
        import xarray as xr

        found: dict[int, Any] = {}
        for m in range(self.members):
            try:
                result = self.member(m)
            except SolveError:
                continue
            found[m] = getattr(result, what)(*names)
        if not found:
            raise SolveError(f"no member of {self.system.name!r} started; the first: {self._cause(0)}")
        whole = max(found.values(), key=lambda x: x.sizes["time"])
        if isinstance(whole, xr.Dataset):
            parts = {name: self._stacked({m: x[name] for m, x in found.items()}, whole[name]) for name in whole}
            return xr.Dataset(parts)
        return self._stacked(found, whole)

    def _stacked(self, found: Mapping[int, xr.DataArray], like: xr.DataArray) -> xr.DataArray:
        import xarray as xr

        t = self.recording.t
        values = np.full((self.members, len(t), *like.shape[1:]), np.nan)
        for m, array in found.items():
            own = array["time"].values
            if len(own) <= len(t) and np.array_equal(own, t[: len(own)]):
                values[m, : len(own)] = array.values
            else:
                _, mine, theirs = np.intersect1d(t, own, return_indices=True)
                values[m, mine] = array.values[theirs]
        coords: dict[Any, Any] = {name: c for name, c in like.coords.items() if name != "time"}
        coords |= {"time": ("time", t.copy(), {"units": "s", "long_name": "time"}), "member": np.arange(self.members)}
        coords |= {name: ("member", column) for name, column in self.parameters.items() if name not in like.dims}
        return xr.DataArray(values, coords, ["member", *like.dims], name=like.name, attrs=like.attrs)


def _shared_times(heads: Mapping[int, Recording]) -> np.ndarray | None:
    """The times that members recorded alike; None without members. InputError where one has others that no event of its own made."""
    if not heads:
        return None
    first, *others = heads
    times = heads[first].t
    for m in others:
        if not np.array_equal(heads[m].t, times):
            times = np.intersect1d(times, heads[m].t)
    for m, head in heads.items():
        if len(head.t) > len(times) and np.isin(np.setdiff1d(head.t, times), without_events(head)).any():
            other = others[0] if m == first else m
            raise InputError(
                f"members {first} and {other} were recorded at different times, as {head.method} chooses its steps; "
                "give output_times, or a constant step"
            )
    return times

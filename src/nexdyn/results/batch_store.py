"""Batches in files: a zarr group that grows while the batch runs, and a netCDF file of one that is done.

    joint_position (member, time, coordinate), joint_velocity, joint_acceleration (member, time, freedom), time [s],
    parameters that vary (member), failure (member): as `BatchResult.to_dataset`; xarray.open_zarr reads it

A member that has not been written is NaN, so that what an interrupted run leaves can be read. Of members that ran one by one
the group `recordings` holds in one of its own what each recorded, from which all else is computed again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import FileError, InputError
from nexdyn.results.atomic import PathLike, file_path, written
from nexdyn.results.file import SUFFIXES
from nexdyn.results.quantities import QUANTITIES, Labels
from nexdyn.results.recording import Recording, without_events
from nexdyn.results.restart import Restart, unpacked
from nexdyn.spatial.lanes import LANES

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.results.batch import BatchRecording, BatchResult
    from nexdyn.results.result import Result

STATES = {"joint_position": "coordinate", "joint_velocity": "freedom", "joint_acceleration": "freedom"}
CHUNK = 2**17
"""Numbers of a chunk, about."""


def zarr_for(path: Any) -> Any:
    """The package that writes a group at `path`, where none may be yet."""
    try:
        import zarr
    except ImportError:
        raise InputError("store writes zarr, which is not installed: pip install 'nexdyn[batch]'") from None
    if not isinstance(path, str | Path):
        raise InputError(f"store is {path!r}; the path of a folder like 'runs.zarr' is needed")
    place = Path(path)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise FileError("it exists already; choose another name, or remove it", file=str(path))
    return zarr


class Store:
    """Rows of a batch in a zarr group; written by members, read by member. FileError where it cannot be made."""

    def __init__(
        self, path: Any, labels: Labels, title: str, members: int, times: np.ndarray, parameters: Mapping[str, np.ndarray],
        method: str,
    ) -> None:  # fmt: skip
        zarr = zarr_for(path)
        sizes = [len(labels.dims[dim]) for dim in STATES.values()]
        self.shape = members, len(times), sum(sizes)
        self._cuts = np.cumsum(sizes)[:2]
        try:
            group = zarr.open_group(str(path), mode="w", zarr_format=3)
            self._arrays = []
            for (name, dim), size in zip(STATES.items(), sizes, strict=True):
                rows = max(1, min(len(times), CHUNK // (LANES * max(size, 1))))
                array = group.create_array(
                    name, shape=(members, len(times), size), chunks=(min(LANES, members), rows, max(size, 1)),
                    dtype="float64", fill_value=float("nan"), dimension_names=("member", "time", dim),
                    attributes={"long_name": QUANTITIES[name].long_name, "units": labels.unit(name)},
                )  # fmt: skip
                self._arrays.append(array)
            self._put(group, "time", times, ("time",), {"units": "s", "long_name": "time"})
            self._put(group, "member", np.arange(members), ("member",), {})
            for dim in ("coordinate", "freedom"):
                names = [str(name) for name in labels.dims[dim]]
                group.attrs[f"{dim}_names"] = names
            for name, column in parameters.items():
                self._put(group, name, column, ("member",), {})
            group.attrs.update({"title": title, "method": method, "status": "running"})
        except (OSError, ValueError) as error:
            raise FileError(f"the zarr group cannot be written: {error}", file=str(path)) from error
        self.group = group

    @staticmethod
    def _put(group: Any, name: str, values: np.ndarray, dims: tuple[str, ...], attributes: dict[str, Any]) -> None:
        array = group.create_array(
            name, shape=values.shape, dtype=values.dtype, dimension_names=dims, attributes=attributes,
            chunks=_whole(values),
        )  # fmt: skip
        array[...] = values

    def __setitem__(self, members: list[int], rows: np.ndarray) -> None:
        for array, part in zip(self._arrays, np.split(rows, self._cuts, axis=2), strict=True):
            if members == list(range(members[0], members[0] + len(members))):
                array[members[0] : members[0] + len(members)] = part
            else:
                array.oindex[np.array(members)] = part

    def __getitem__(self, member: int) -> np.ndarray:
        return np.concatenate([np.asarray(array[member]) for array in self._arrays], axis=1)

    def finish(self, recording: BatchRecording, failures: Mapping[int, str]) -> None:
        """Say how the run ended, and why members failed."""
        self.group.attrs.update({
            "status": recording.status, "message": recording.message, "steps": recording.steps,
            "wall_time": recording.wall_time, "failures": json.dumps({str(m): cause for m, cause in failures.items()}),
            "warnings": json.dumps(recording.settings.get("warnings", []), default=_plain),
            "kernels": recording.settings.get("kernels", ""),
        })  # fmt: skip


class StoredResults(MutableMapping[int, "Result"]):
    """Results of members that run one by one, in a zarr group: each is written when it is put here, and read when asked for.

    system_of(m) is the system of member m. At which `times` all are recorded is given, or the first that comes to its end says it; what
    fails before waits for it.
    """

    def __init__(
        self,
        path: Any,
        system_of: Callable[[int], System],
        members: int,
        parameters: Mapping[str, np.ndarray],
        method: str,
        times: np.ndarray | None = None,
    ) -> None:
        zarr_for(path)
        self._path, self._system_of, self._members = path, system_of, members
        self._parameters, self._method, self._given = parameters, method, times
        self._store: Store | None = None
        self._waiting: dict[int, Result] = {}
        self._heads: dict[int, Recording] = {}

    def head(self, member: int) -> Recording:
        """What a member recorded, times alone."""
        return self._heads[member]

    def __setitem__(self, member: int, result: Result) -> None:
        r = result.recording
        none = np.zeros((0, 0))
        self._heads[member] = Recording(
            r.t, none, none, none, r.method, r.steps, r.status, r.message, settings=r.settings
        )
        self._waiting[member] = result
        if self._store is None and (r.status == "finished" or self._given is not None):
            self._begin(result)
        if self._store is not None:
            self._write()

    def __getitem__(self, member: int) -> Result:
        from nexdyn.results.recording import BodyRecording, LoopRecording
        from nexdyn.results.result import Result

        if member in self._waiting:
            return self._waiting[member]
        if member not in self._heads:
            raise KeyError(member)
        assert self._store is not None
        group = self._store.group[f"recordings/{member}"]
        kinds: dict[str, Any] = {kind.__name__: kind for kind in (Recording, BodyRecording, LoopRecording)}
        told = json.loads(group.attrs["run"])
        arrays = {name: np.asarray(array[...]) for name, array in group.arrays()}
        if "restart" in group:
            kept = group["restart"]
            told["restart"] = unpacked(np.asarray(kept["numbers"][...]), str(kept.attrs["layout"]), str(self._path))
        return Result(self._system_of(member), kinds[str(group.attrs["kind"])](**arrays, **told))

    def __delitem__(self, member: int) -> None:
        del self._heads[member]
        self._waiting.pop(member, None)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._heads))

    def __len__(self) -> int:
        return len(self._heads)

    def finish(self, recording: BatchRecording, failures: Mapping[int, str]) -> None:
        """The same as `Store.finish`."""
        if self._store is None and self._waiting:
            self._begin(max(self._waiting.values(), key=lambda result: len(result.recording.t)))
            self._write()
        if self._store is not None:
            self._store.finish(recording, failures)

    def _begin(self, like: Result) -> None:
        self._times = without_events(like.recording) if self._given is None else self._given
        self._store = Store(
            self._path, like.observed.labels, like.system.name, self._members, self._times, self._parameters, self._method,
        )  # fmt: skip

    def _write(self) -> None:
        """What waits, at the times of all; what it recorded at its own with it."""
        assert self._store is not None
        for member, result in self._waiting.items():
            r, rows = result.recording, np.full((1, *self._store.shape[1:]), np.nan)
            _, mine, own = np.intersect1d(self._times, r.t, return_indices=True)
            parts = [getattr(result, name)().values[own].reshape(len(own), -1) for name in STATES]
            rows[0, mine] = np.concatenate(parts, axis=1)
            self._store[[member]] = rows
            group = self._store.group.create_group(f"recordings/{member}")
            told = {}
            for name, value in vars(r).items():
                if isinstance(value, np.ndarray):
                    _put(group, name, value)
                elif not isinstance(value, Restart):
                    told[name] = value
            if r.restart is not None:
                numbers, layout = r.restart.packed()
                _put(group.create_group("restart"), "numbers", numbers)
                group["restart"].attrs["layout"] = layout
            group.attrs.update({"kind": type(r).__name__, "run": json.dumps(told, default=_plain)})
        self._waiting.clear()


def _put(group: Any, name: str, value: np.ndarray) -> None:
    """An array of a group, in one chunk."""
    array = group.create_array(name, shape=value.shape, dtype=value.dtype, chunks=_whole(value))
    if value.size:
        array[...] = value


def _plain(x: Any) -> Any:
    """NumPy's numbers and arrays as JSON has them."""
    return x.tolist() if hasattr(x, "tolist") else str(x)


def _whole(values: np.ndarray) -> tuple[int, ...]:
    return tuple(max(1, n) for n in values.shape)


def save_batch(result: BatchResult, path: PathLike) -> None:
    """See `BatchResult.save`."""
    target = file_path(path, SUFFIXES, "a result file")
    dataset = result.to_dataset()
    with written(target) as temporary:
        dataset.to_netcdf(temporary, engine="h5netcdf")

"""Batches in files: a zarr group that grows while the batch runs, and a netCDF file of one that is done.

    joint_position (member, time, coordinate), joint_velocity, joint_acceleration (member, time, freedom), time [s],
    parameters that vary (member), failure (member): as `BatchResult.to_dataset`; xarray.open_zarr reads it

A member that has not been written is NaN, so that what an interrupted run leaves can be read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import FileError, InputError
from nexdyn.results.atomic import PathLike, file_path, written
from nexdyn.results.file import SUFFIXES
from nexdyn.results.quantities import QUANTITIES, labels_of
from nexdyn.spatial.lanes import LANES

if TYPE_CHECKING:
    from nexdyn.results.batch import BatchRecording, BatchResult
    from nexdyn.tree.tree import Tree

STATES = {"joint_position": "coordinate", "joint_velocity": "freedom", "joint_acceleration": "freedom"}
CHUNK = 2**17
"""Numbers of a chunk, about."""


class Store:
    """Rows of a batch in a zarr group; written by members, read by member. FileError where it cannot be made."""

    def __init__(
        self, path: Any, tree: Tree, members: int, times: np.ndarray, parameters: Mapping[str, np.ndarray], method: str
    ) -> None:
        try:
            import zarr
        except ImportError:
            raise InputError("store writes zarr, which is not installed: pip install 'nexdyn[batch]'") from None
        if not isinstance(path, str | Path):
            raise InputError(f"store is {path!r}; the path of a folder like 'runs.zarr' is needed")
        self.path = Path(path)
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise FileError("it exists already; choose another name, or remove it", file=str(path))
        labels = labels_of(tree)
        sizes = tree.nq, tree.nv, tree.nv
        self.shape = members, len(times), sum(sizes)
        self._cuts = np.cumsum(sizes)[:2]
        try:
            group = zarr.open_group(str(self.path), mode="w", zarr_format=3)
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
            group.attrs.update({"title": tree.system.name, "method": method, "status": "running"})
        except (OSError, ValueError) as error:
            raise FileError(f"the zarr group cannot be written: {error}", file=str(path)) from error
        self._group = group

    @staticmethod
    def _put(group: Any, name: str, values: np.ndarray, dims: tuple[str, ...], attributes: dict[str, Any]) -> None:
        array = group.create_array(
            name, shape=values.shape, dtype=values.dtype, dimension_names=dims, attributes=attributes,
            chunks=tuple(max(1, n) for n in values.shape),
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
        self._group.attrs.update({
            "status": recording.status, "message": recording.message, "steps": recording.steps,
            "wall_time": recording.wall_time, "failures": json.dumps({str(m): cause for m, cause in failures.items()}),
        })  # fmt: skip


def save_batch(result: BatchResult, path: PathLike) -> None:
    """See `BatchResult.save`."""
    target = file_path(path, SUFFIXES, "a result file")
    dataset = result.to_dataset()
    with written(target) as temporary:
        dataset.to_netcdf(temporary, engine="h5netcdf")

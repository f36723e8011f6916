"""`nx.sweep`: one system with many values of its parameters, over processes of this machine or a Dask cluster.

Members are simulated one by one in worker processes, each on one thread: kernels are compiled once, by the first member, which
runs here, and read from the cache by the others. Finished members are kept in a folder, each in a file that is there whole
or not at all; a sweep that was stopped goes on with those that are missing.
"""

from __future__ import annotations

import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.checked_calls import checked_call
from nexdyn.errors import FileError, InputError, NexDynWarning, SolveError
from nexdyn.front import simulate
from nexdyn.integrate.methods import Method, positive
from nexdyn.model.system import System
from nexdyn.results.atomic import written
from nexdyn.results.file import nexdyn_version
from nexdyn.simulation.fingerprint import OpaqueError, fingerprint_of
from nexdyn.simulation.users import left_as_they_were
from nexdyn.studies.outputs import check_figure, check_names, figure, with_values
from nexdyn.studies.sweep_design import Design, make_design

if TYPE_CHECKING:
    import xarray as xr

Progress = Callable[[int, int], None]
ANSWER = 5.0
"""Seconds in which a scheduler must answer."""
NO_WORKER = 60.0
"""Seconds that a member waits for a worker on a cluster that has lost all of them."""
LIVES = 3
"""How often a pool of processes may break before members run one a pool, so that the one that breaks it is found."""


class Member(NamedTuple):
    """What became of a member: the numbers of its measures and their units, or why there are none."""

    number: int
    values: dict[str, Any]
    units: dict[str, str]
    cause: str


class Study(NamedTuple):
    """What every worker needs."""

    system: System
    measures: dict[str, Any]
    t_end: float
    options: dict[str, Any]


Piece = list[tuple[int, dict[str, Any]]]
"""Members that go to a worker together: index, and values by parameter."""


@checked_call
def sweep(
    system: System,
    parameters: Mapping[str, Any],
    *,
    measure: Any,
    t_end: float,
    design: str = "grid",
    samples: int | None = None,
    seed: int = 0,
    method: Method | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> xr.Dataset:
    """Simulate `system` with many values of `parameters` and return what `measure` tells of each run, as one Dataset.

    parameters: {path: values} with paths like "L", "link1.mass", "link1.com[0]"; for draws {path: (low, high)} or a distribution.
    measure: "max reaction.hinge1.fx", "final position.link2.x", "energy_drift", …; a function of a Result that gives a number,
        an array or a DataArray; or {name: one of these}, or a list of texts.
    design: "grid", "list", "latin-hypercube" or "monte-carlo", the last two with `samples` and a `seed`.
    jobs: processes on this machine, one a core by default; 1 runs here. cluster: address of a Dask scheduler instead.
    folder: where finished members are kept; a sweep of the same study goes on from what is there.
    progress: called with (members done, members in all). Other options as for `nx.simulate`.

    A grid has an axis a parameter, the others an axis `member`. `status` is "finished" or "failed", `cause` says why. A member
    that fails does not stop the rest. An interrupt (Ctrl-C) keeps what the folder holds. Raises InputError for bad input and
    UnknownNameError for an unknown parameter before anything runs.
    """
    plan = make_design(parameters, design, samples, seed)
    measures = _measures(measure)
    with_values(system, plan.values(0))  # names that are unknown are told before anything runs
    for asked in measures.values():
        if isinstance(asked, str):
            check_names(system, asked)
    if jobs is not None and (type(jobs) is not int or jobs < 1):
        raise InputError(f"jobs is {jobs!r}; a whole number of processes, 1 or more, is needed")
    if jobs is not None and cluster is not None:
        raise InputError("jobs are processes of this machine; leave them out where a cluster is named")
    study = Study(system, measures, positive(t_end, "t_end"), {"method": method, **options})
    kept = Kept(Path(folder), study, plan) if folder is not None else None
    done = kept.read() if kept else {}
    total = len(plan.members)

    def take(member: Member) -> None:
        done[member.number] = member
        if kept:
            kept.write(member)
        if progress is not None:
            progress(len(done), total)

    with _workers(cluster) as client:
        missing = [i for i in range(total) if i not in done]
        if progress is not None:
            progress(len(done), total)
        if client is not None:
            _on_cluster(study, plan, missing, client, take)
        elif missing:
            take(run_member(study, missing[0], plan.values(missing[0])))  # compiles what is not compiled yet
            if jobs == 1 or len(missing) < 3:
                for i in missing[1:]:
                    take(run_member(study, i, plan.values(i)))
            else:
                _over_processes(study, plan, missing[1:], jobs or os.cpu_count() or 1, take)
    return _labelled(study, plan, [done[i] for i in range(total)])


# --- one member -----------------------------------------------------------------------------------------------------


def run_member(study: Study, i: int, values: Mapping[str, Any]) -> Member:
    """Simulate member i and measure it. What goes wrong with it is its `cause`; an interrupt is raised."""
    try:
        with warnings.catch_warnings(), left_as_they_were(study.system):
            warnings.simplefilter("ignore", NexDynWarning)
            result = simulate(with_values(study.system, values), study.t_end, **study.options)
        if result.status == "interrupted":
            raise KeyboardInterrupt
        found = {
            name: figure(result, measure) if isinstance(measure, str) else _of_function(name, measure(result))
            for name, measure in study.measures.items()
        }
    except (Exception, SystemExit) as error:
        return Member(i, {}, {}, f"{type(error).__name__}: {error}")
    return Member(i, {name: x for name, (x, _) in found.items()}, {name: unit for name, (_, unit) in found.items()}, "")


def run_members(study: Study, piece: Piece) -> list[Member]:
    """Several members one after another, in a worker: on one thread."""
    import numba

    if numba.get_num_threads() > 1:
        numba.set_num_threads(1)
    return [run_member(study, i, values) for i, values in piece]


def _of_function(name: str, value: Any) -> tuple[Any, str]:
    """What a user's function gave: a number, or an array with its labels, as plain data. InputError where it gave nothing."""
    if value is None:
        raise InputError(f"measure {name!r} returned None; a number, an array or a DataArray is needed")
    unit = str(value.attrs.get("units", "")) if hasattr(value, "attrs") else ""
    if hasattr(value, "dims") and value.ndim:
        labels = {str(dim): value[dim].to_numpy().tolist() for dim in value.dims if dim in value.coords}
        return {"dims": [str(dim) for dim in value.dims], "labels": labels, "values": value.to_numpy().tolist()}, unit
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        return float(array), unit
    return {"dims": [], "labels": {}, "values": array.tolist()}, unit


# --- many -----------------------------------------------------------------------------------------------------------


@contextmanager
def _workers(cluster: str | None) -> Iterator[Any]:
    """A client of the cluster's scheduler; None without a cluster. InputError where none answers."""
    if cluster is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError("a cluster needs Dask: pip install 'nexdyn[dask]'") from None
    if "://" not in cluster:
        raise InputError(f"cluster is {cluster!r}; the address of a Dask scheduler is needed, like tcp://host:8786")
    try:
        client = Client(cluster, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {cluster} within {ANSWER:g} s ({type(error).__name__}); start one with "
            f"`dask scheduler`, and workers with `dask worker {cluster} --nthreads 1`"
        ) from None
    try:
        yield client
    finally:
        client.close()


def _over_processes(study: Study, plan: Design, missing: list[int], jobs: int, take: Callable[[Member], None]) -> None:
    """Run members over processes of this machine; a pool that breaks is made anew for what is left."""
    try:
        from joblib import Parallel, delayed, parallel_config
        from joblib.externals.loky.process_executor import TerminatedWorkerError
    except ImportError:
        raise InputError("several processes need joblib: pip install 'nexdyn[sweep]', or say jobs=1") from None

    left = set(missing)
    broken = 0
    while left:
        pieces = _pieces(plan, sorted(left), jobs)
        if broken >= LIVES:  # one member at a time, so that the one that breaks the pool is found
            pieces = [pieces[0][:1]]
        try:
            with parallel_config("loky", n_jobs=max(2, jobs), inner_max_num_threads=1):
                tasks = (delayed(run_members)(study, piece) for piece in pieces)
                for members in Parallel(return_as="generator_unordered")(tasks):
                    for member in members:
                        left.discard(member.number)
                        take(member)
        except TerminatedWorkerError:
            broken += 1
            if broken > LIVES:
                i = pieces[0][0][0]
                left.discard(i)
                take(Member(i, {}, {}, "its process died: killed, out of memory, or a crash in a function of the user"))


def _on_cluster(study: Study, plan: Design, missing: list[int], client: Any, take: Callable[[Member], None]) -> None:
    """Run members on a cluster's workers; what a lost worker had is run by another."""
    from distributed import KilledWorker, as_completed

    pieces = _pieces(plan, missing, max(1, sum(client.nthreads().values())))
    futures = {client.submit(run_members, study, piece, pure=False): piece for piece in pieces}
    with client.as_current():
        finished = as_completed(futures)
    suspects: list[tuple[int, dict[str, Any]]] = []
    try:
        for future in finished:
            try:
                members = future.result()
            except KilledWorker:  # one of these killed its worker, or was near one that did
                suspects += futures[future]
                continue
            for member in members:
                take(member)
        for one in sorted(suspects, key=lambda one: one[0]):  # alone on the cluster, who kills its worker is the one
            future = client.submit(run_members, study, [one], pure=False)
            try:
                take(_waited_for(future, client)[0])
            except KilledWorker as error:
                take(Member(one[0], {}, {}, f"its worker died: {error}"))
            future.release()
    except (OSError, CancelledError) as error:
        raise SolveError(
            f"the scheduler of the cluster was lost ({type(error).__name__}); a folder keeps what is done"
        ) from None


def _waited_for(future: Any, client: Any) -> list[Member]:
    """What became of a piece. SolveError where no worker is left to run it."""
    alone = 0.0
    while alone < NO_WORKER:
        began = time.monotonic()
        try:
            members: list[Member] = future.result(timeout=1.0)
            return members
        except TimeoutError:
            alone = 0.0 if client.nthreads() else alone + time.monotonic() - began
    raise SolveError(f"no worker is left on the cluster, for {NO_WORKER:g} s; a folder keeps what is done")


def _pieces(plan: Design, members: list[int], workers: int) -> list[Piece]:
    """Pieces of work: some eight a worker, so that all end together, of 64 members at most."""
    size = max(1, min(64, math.ceil(len(members) / (8 * workers))))
    return [[(i, plan.values(i)) for i in members[k : k + size]] for k in range(0, len(members), size)]


# --- kept on disk ---------------------------------------------------------------------------------------------------


class Kept:
    """The folder of a study: `study.json` tells which, `members/000012.json` what became of a member."""

    def __init__(self, folder: Path, study: Study, plan: Design) -> None:
        self.members = folder / "members"
        said = folder / "study.json"
        mark: dict[str, Any] = {"format": 2, "fingerprint": None, "members": len(plan.members)}
        unknown_value = ""
        try:
            mark["fingerprint"] = fingerprint(study, plan)
        except OpaqueError as error:
            unknown_value = str(error)
        try:
            self.members.mkdir(parents=True, exist_ok=True)
            found = json.loads(said.read_text()) if said.exists() else None
        except (OSError, ValueError) as error:
            raise FileError(f"cannot be used: {getattr(error, 'strerror', None) or error}", file=str(folder)) from error
        if found is not None and unknown_value:
            raise InputError(
                f"folder {str(folder)!r} holds a study already, and whether it is this one cannot be said: {unknown_value}; "
                f"name another folder, or give the study plain numbers, functions and objects"
            )
        if found is not None and found != mark:
            raise InputError(
                f"folder {str(folder)!r} holds another study ({found.get('members', '?')} members); name another folder, or "
                f"delete it"
            )
        if found is None:
            with written(said) as place:
                place.write_text(json.dumps(mark))

    def read(self) -> dict[int, Member]:
        """The members that are there. A file that is damaged counts as none."""
        found = {}
        for path in self.members.glob("*.json"):
            try:
                member = Member(*json.loads(path.read_text()))
            except (OSError, ValueError, TypeError):
                continue
            found[member.number] = member
        return found

    def write(self, member: Member) -> None:
        """Keep a member, whole or not at all."""
        with written(self.members / f"{member.number:06d}.json") as place:
            place.write_text(json.dumps(member))


def fingerprint(study: Study, plan: Design) -> str:
    """A hash of all that decides about the results of a study, the same in every process. `OpaqueError` where that cannot be told."""
    return fingerprint_of(
        [
            plan.kind,
            plan.names,
            plan.members,
            study.t_end,
            study.options,
            study.measures,
            study.system,
            nexdyn_version(),
        ]
    )


# --- measures and labels --------------------------------------------------------------------------------------------


def _measures(measure: Any) -> dict[str, Any]:
    """The measures by name."""
    if isinstance(measure, str) or callable(measure):
        measure = [measure]
    if isinstance(measure, Mapping):
        found = {str(name): m for name, m in measure.items()}
    elif isinstance(measure, Sequence):
        found = {(m if isinstance(m, str) else getattr(m, "__name__", "measure").strip("<>")): m for m in measure}
        if len(found) < len(measure):
            raise InputError("two measures have the same name; name them in a mapping {name: measure}")
    else:
        found = {}
    if not found:
        raise InputError(
            f"measure is {measure!r}; text like 'max reaction.hinge1.fx' or a function of a Result is needed"
        )
    for name, m in found.items():
        if name in ("status", "cause", "member"):
            raise InputError(f"a measure cannot be called {name!r}; the dataset has one")
        if not callable(m):
            check_figure(m)
    return found


def _labelled(study: Study, plan: Design, members: list[Member]) -> xr.Dataset:
    """All members as one Dataset."""
    import xarray as xr

    coords: dict[str, Any]
    if plan.kind == "grid":
        dims, coords = list(plan.names), {name: _labels(values) for name, values in plan.axes.items()}
    else:
        dims, coords = ["member"], {"member": np.arange(len(members))}
        coords |= {name: ("member", _labels(values)) for name, values in plan.axes.items()}
    causes = [member.cause for member in members]
    arrays: dict[str, Any] = {}
    for name in study.measures:
        found = [_as_array(member.values[name]) if name in member.values else None for member in members]
        first = next((x for x in found if x is not None), None)
        shape = first.values.shape if first is not None else ()
        block = np.full((len(members), *shape), math.nan)
        for i, x in enumerate(found):
            if x is not None and x.values.shape == shape:
                block[i] = x.values
            elif x is not None:
                causes[i] = f"measure {name!r} has shape {x.values.shape}; that of the members before it is {shape}"
        inner = (first.dims if first is not None else []) or [f"{name}_{k}" for k in range(len(shape))]
        coords |= {
            dim: label for dim, label in (first.labels if first is not None else {}).items() if dim not in coords
        }
        unit = next((member.units[name] for member in members if name in member.units), "")
        arrays[name] = ([*dims, *inner], block.reshape((*plan.shape, *shape)), {"units": unit})
    status = np.array(["failed" if cause else "finished" for cause in causes])
    arrays["status"] = dims, status.reshape(plan.shape)
    arrays["cause"] = dims, np.array(causes, dtype=str).reshape(plan.shape)
    failed = int((status == "failed").sum())
    attributes = {"system": study.system.name, "t_end": study.t_end, "design": plan.kind, "failed": failed}
    return xr.Dataset(arrays, coords, attributes)


class _Array(NamedTuple):
    """What a measure gave, with its axes and their labels."""

    values: np.ndarray
    dims: list[str]
    labels: dict[str, list[Any]]


def _as_array(value: Any) -> _Array:
    if isinstance(value, dict):
        return _Array(np.asarray(value["values"], dtype=float), value["dims"], value["labels"])
    return _Array(np.asarray(value, dtype=float), [], {})


def _labels(values: Sequence[Any]) -> list[Any]:
    """Values as labels of an axis: numbers as they are, all else as text."""
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)
    return [float(x) if numbers else str(x) for x in values]

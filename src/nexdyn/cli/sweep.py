"""`nexdyn sweep`: many runs of one model with other parameters, as a study file says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from nexdyn.cli import terminal
from nexdyn.cli.codes import DONE
from nexdyn.cli.files import check_writable
from nexdyn.cli.model import read
from nexdyn.cli.options import OUTPUT, SAYING_PLAINLY, Reading, Saying, flag, option
from nexdyn.cli.prepare import T_END, choose_method
from nexdyn.cli.progress import compilation_announced, progress_bar
from nexdyn.cli.run import Motion
from nexdyn.cli.units import whole
from nexdyn.errors import FileError, InputError, SolveError, unknown

if TYPE_CHECKING:
    import xarray as xr

NAME = "sweep"
EXAMPLES = """\
Examples:
  nexdyn sweep study.yaml                            all cores; writes study.nc
  nexdyn sweep study.yaml --jobs 4 --out a.nc        four processes
  nexdyn sweep study.yaml --cluster tcp://host:8786  workers of a Dask cluster
  nexdyn sweep study.yaml --json | jq .failed

A study, here a grid of 12 runs:
  model: hinge-chain            # scene, robot, demo; from the study's folder
  t_end: 2                      # also method, dt, rtol, dynamics as in run
  parameters:
    L: [0.4, 0.5, 0.6]
    hinge1.damping: [0, 0.01, 0.1, 1]
  measure:
    - peak reaction.hinge1.fz   # or max, min, mean, rms, range, initial
    - final position.link6.z
    - energy_drift

Draws instead of a grid:
  design: latin-hypercube       # or monte-carlo, or list: values side by side
  samples: 200
  seed: 1
  parameters:
    L: [0.4, 0.6]               # uniform
    hinge1.damping: {loguniform: [0.001, 1]}
    link1.mass: {normal: [1.0, 0.05]}

Finished runs are kept in study.sweep/: the same command goes on after a stop.
Exit codes: 0 all finished, 2 bad input, 3 some failed (the file says which and
why), 130 Ctrl-C."""

WORK = Group("Execution", sort_key=2)
KEYS = (
    "model",
    "set",
    "t_end",
    "method",
    "dt",
    "rtol",
    "atol",
    "dynamics",
    "design",
    "samples",
    "seed",
    "parameters",
    "measure",
)
NEEDED = ("model", "parameters", "measure")


def command(
    name: Annotated[Path, Parameter(name="STUDY", help="A study (.yaml).")],
    /,
    *,
    out: Annotated[Path | None, option("The dataset, netCDF; default STUDY.nc in the current folder.", WORK)] = None,
    folder: Annotated[Path | None, option("Where finished runs are kept; default STUDY.sweep here.", WORK)] = None,
    jobs: Annotated[
        int | None, option("Processes on this machine; default: one per core.", WORK, converter=whole)
    ] = None,
    cluster: Annotated[str | None, option("Address of a Dask scheduler, like tcp://host:8786.", WORK)] = None,
    quiet: Annotated[bool, flag("No progress bar and no summary.", group=OUTPUT)] = False,
    saying: Saying = SAYING_PLAINLY,
) -> int:
    """Run a model with many values of its parameters, and write what was measured of each run."""
    from nexdyn.studies.sweep import sweep

    study = read_study(name)
    target, kept = out or Path(f"{name.stem}.nc"), folder or Path(f"{name.stem}.sweep")
    check_writable("--out", target, (".nc", ".nc4"), {"the study": name})
    model = read(
        _beside(name, study["model"]),
        Reading(set=tuple(f"{key}={value}" for key, value in study.get("set", {}).items())),
    )
    chosen = {key: study[key] for key in ("t_end", "method", "dt", "rtol", "atol", "dynamics") if key in study}
    motion = Motion(**chosen)
    progress = (0, 0)
    try:
        with progress_bar(name.stem, show=not quiet) as bar, compilation_announced(bar):

            def count(done: int, total: int) -> None:
                nonlocal progress
                progress = done, total
                bar.count(done, total)

            data = sweep(
                model.system,
                study["parameters"],
                measure=study["measure"],
                t_end=motion.t_end or model.simulation.get("t_end", T_END),
                design=study.get("design", "grid"),
                samples=study.get("samples"),
                seed=study.get("seed", 0),
                method=choose_method(model.simulation.get("method"), motion, model.system),
                jobs=jobs,
                cluster=cluster,
                folder=kept,
                progress=count,
                **({"dynamics": motion.dynamics} if motion.dynamics else {}),
            )
    except (KeyboardInterrupt, SolveError):
        terminal.note(f"{progress[0]} of {progress[1]} runs are kept in {kept}; the same command goes on")
        raise
    write(data, target)
    failed = int(data.attrs["failed"])
    _say(data, target, quiet, saying)
    if failed:
        first = next(x for x in data["cause"].to_numpy().ravel().tolist() if x)
        raise SolveError(
            f"{failed} of {data['status'].size} runs failed; the first: {first}. {target} says of each why"
        )
    return DONE


def read_study(path: Path) -> dict[str, Any]:
    """The study in a file. FileError where it is none."""
    from nexdyn.integrate.methods import METHODS
    from nexdyn.io.loader import SCENE_SUFFIXES
    from nexdyn.io.scene import all_errors
    from nexdyn.io.yaml_positions import read_yaml
    from nexdyn.results.near_files import meant

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileError(f"no such file{meant(path, SCENE_SUFFIXES)}", file=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=str(path)) from error
    data, problems, _ = read_yaml(text, str(path))
    if problems:
        (line, column), message = problems[0]
        raise FileError(message, file=str(path), line=line, column=column)
    if not isinstance(data, dict):
        raise FileError("is no study; one has model, parameters and measure, see nexdyn sweep --help", file=str(path))
    if "bodies" in data and "model" not in data:
        raise FileError(
            f"is a scene; a study names it, like model: {path.name}, and has parameters and measure", file=str(path)
        )
    wrong: list[tuple[tuple[str | int, ...], InputError]] = [
        ((str(key),), unknown("key", key, KEYS, plural="keys")) for key in data if key not in KEYS
    ]
    needed = "model, parameters and measure are needed"
    wrong += [((), InputError(f"has no {key!r}; {needed}")) for key in NEEDED if key not in data]
    if data.get("method", "rk4") not in METHODS:
        wrong.append((("method",), unknown("method", data["method"], METHODS)))
    if not isinstance(data.get("set", {}), dict):
        message = f"set is {data['set']!r}; names and values are needed, like set: {{L: 0.5}}"
        wrong.append((("set",), InputError(message)))
    if wrong:
        raise all_errors(wrong, (), text, str(path))
    return data


def _beside(study: Path, model: Any) -> str:
    """The model that a study names: a file beside it, or what the name means elsewhere."""
    near = study.parent / str(model)
    return str(near) if near.is_file() else str(model)


def write(data: xr.Dataset, target: Path) -> None:
    """The dataset as a netCDF file, whole or not at all."""
    from nexdyn.results.atomic import written

    with written(target) as place:
        data.to_netcdf(place, engine="h5netcdf")


def _say(data: xr.Dataset, target: Path, quiet: bool, saying: Saying) -> None:
    """How many finished, the range of each measure, and where it is."""
    total, failed = data["status"].size, int(data.attrs["failed"])
    measures = {str(name): data[name] for name in data.data_vars if name not in ("status", "cause")}
    ranges = {
        name: {"min": float(x.min()), "max": float(x.max()), "mean": float(x.mean()), "units": x.attrs["units"]}
        for name, x in measures.items()
        if failed < total
    }
    if saying.json:
        terminal.say_json({"runs": total, "failed": failed, "measures": ranges, "files_written": [str(target)]})
    elif not quiet:
        lines = [f"{total - failed} of {total} runs finished"]
        lines += [f"  {name}  {x['min']:.6g} … {x['max']:.6g} {x['units']}" for name, x in ranges.items()]
        terminal.say("\n".join([*lines, f"  written  {target}"]))

"""`nexdyn run`: simulate a model, write its result, say how it went."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from nexdyn.cli import terminal
from nexdyn.cli.codes import DONE, INTERRUPTED
from nexdyn.cli.files import check_writable
from nexdyn.cli.method_names import NAMES, PAIRS
from nexdyn.cli.model import read
from nexdyn.cli.options import OUTPUT, READING_PLAINLY, SAYING_PLAINLY, Reading, Saying, flag, option
from nexdyn.cli.page import PAGE, PAGE_PLAINLY, Page, open_page
from nexdyn.cli.prepare import Prepared, prepare
from nexdyn.cli.progress import Bar, compilation_announced, progress_bar
from nexdyn.cli.units import seconds, whole
from nexdyn.errors import FileError, InputError, SolveError

if TYPE_CHECKING:
    from nexdyn.results.result import Result
    from nexdyn.simulation.run import Runs

NAME = "run"
EXAMPLES = """\
Examples:
  nexdyn run hinge-chain                    a demo; writes hinge-chain.nc here
  nexdyn run robot.urdf --t-end 2           a robot with a fixed base
  nexdyn run robot.urdf --base free         one that falls freely
  nexdyn run robot.urdf --q0 elbow=pi/4     from another pose
  nexdyn run hinge-chain --set L=0.3 --set hinge1.damping=0
  nexdyn run double-pendulum --method dopri5 --rtol 1e-10
  nexdyn run four-bar                       closed loops run by hht
  nexdyn run four-bar --method rk4          or in minimal coordinates
  nexdyn run four-bar --method rk4 --cut D --stabilise baumgarte
  nexdyn run double-pendulum --method implicit-euler --dt 0.01 --updates 10
  nexdyn run scene.yaml --dt 1e-4 --output-every 100
  nexdyn run scene.yaml --out runs/a.nc --csv runs/a.csv
  nexdyn run a.nc --t-end 20 --out b.nc     go on from the end of a result
  nexdyn run scene.yaml --save-every 10     killed, it loses ten seconds
  nexdyn run scene.yaml --json | jq .energy_drift
  nexdyn run hinge-chain --view             watch it in the browser

Ctrl-C ends a run early and keeps what is done. Exit codes: 0 done, 2 bad input,
3 no solution (what was reached is kept), 130 Ctrl-C."""

MOTION = Group("Simulation", sort_key=2)
FILES = Group("Files", sort_key=3)

Number = float | None
Names = tuple[str, ...]
if TYPE_CHECKING:
    MethodName = str
else:
    MethodName = Literal[NAMES]


@Parameter(name="*")
@dataclass(frozen=True)
class Motion:
    """Duration, method and start; None stands for the scene's value, or the default."""

    t_end: Annotated[
        Number, option("Simulated time at the end [s]; default: the scene's, else 1.", MOTION, converter=seconds)
    ] = None
    method: Annotated[
        MethodName | None,
        option(
            f"Time integration; default: the scene's, else rk4, or hht where there are closed loops. {PAIRS} and hht choose their step.",
            MOTION,
        ),
    ] = None
    dt: Annotated[
        Number,
        option(
            "Step of rk4, euler, semi-implicit, implicit-euler [s]; default: the scene's, else 0.001. With hht, a constant step.",
            MOTION,
            converter=seconds,
        ),
    ] = None
    mu: Annotated[Number, option("Fixed penalty of implicit-euler; default: chosen from the masses.", MOTION)] = None
    updates: Annotated[
        int | None,
        option("Multiplier updates per step of implicit-euler; default: as many as needed.", MOTION, converter=whole),
    ] = None
    bdf2: Annotated[bool, flag("implicit-euler of order 2: BDF2, which uses the two previous steps.", group=MOTION)] = (
        False
    )
    rtol: Annotated[Number, option(f"Relative tolerance of {PAIRS} and hht.", MOTION)] = None
    atol: Annotated[Number, option(f"Absolute tolerance of {PAIRS}.", MOTION)] = None
    dynamics: Annotated[
        Literal["aba", "crba", "cfa"] | None,
        option(
            "Articulated bodies, the mass matrix with a branch-sparse factorisation, or constraint forces; default aba.",
            MOTION,
        ),
    ] = None
    stabilise: Annotated[
        Literal["projection", "baumgarte", "none"] | None,
        option(f"How rk4, euler, semi-implicit, {PAIRS} keep loops and drivers closed; default projection.", MOTION),
    ] = None
    cut: Annotated[Names, option("A joint at which they cut a loop; default: chosen. May be repeated.", MOTION)] = ()
    q0: Annotated[
        Names, option("Start of a joint: hinge1=pi/2, or base=1,0,0,0,0,0,0.5. May be repeated.", MOTION)
    ] = ()
    v0: Annotated[Names, option("Initial velocity of a joint. May be repeated.", MOTION)] = ()
    start: Annotated[Path | None, option("Start from the last state of a result (.nc).", MOTION, name="--from")] = None
    on_gap: Annotated[
        Literal["warn", "error", "accept"],
        option(
            "Joints that are open in the reference configuration: closed with a warning, or refused; accept also runs explicit steps "
            "that are too long for a contact.",
            MOTION,
        ),
    ] = "warn"
    output_every: Annotated[
        int | None,
        option("Steps from one recorded state to the next; default: the scene's, else 1.", FILES, converter=whole),
    ] = None


MOTION_PLAINLY = Motion()


@Parameter(name="*")
@dataclass(frozen=True)
class Files:
    """Where the result goes."""

    out: Annotated[Path | None, option("The result, netCDF; default NAME.nc in the current folder.", FILES)] = None
    csv: Annotated[Path | None, option("Also write a table, CSV.", FILES)] = None
    save_every: Annotated[
        float,
        option(
            "Interval [s] at which a long run saves its result, so that a killed run keeps it; default 60.",
            FILES,
            converter=seconds,
        ),
    ] = 60.0


def command(
    name: Annotated[
        str, Parameter(name="MODEL", help="A scene (.yaml), a robot (.urdf), a demo, or a result (.nc) to go on from.")
    ],
    /,
    *,
    reading: Reading = READING_PLAINLY,
    motion: Motion = MOTION_PLAINLY,
    files: Files = Files(),
    view: Annotated[bool, flag("Watch it in the browser, and play it there when it is done.", group=PAGE)] = False,
    page: Page = PAGE_PLAINLY,
    quiet: Annotated[bool, flag("No progress bar and no summary.", group=OUTPUT)] = False,
    saying: Saying = SAYING_PLAINLY,
) -> int:
    """Simulate a model, write its result, and print a summary."""
    page.check(view, "add --view")
    viewer = None
    with terminal.CtrlC() as ctrl_c:
        model = read(name, reading)
        out = files.out or Path(f"{model.name}.nc")
        keep = {"the model": Path(name), "the result that the run starts from": motion.start}
        if out.suffix.lower() == ".csv":
            raise InputError(f"--out {out} is the result, netCDF; --csv {out} writes a table as well")
        check_writable("--out", out, (".nc", ".nc4"), keep)
        if files.csv:
            check_writable("--csv", files.csv, (".csv",), keep)
        with ExitStack() as during:
            bar = during.enter_context(progress_bar(model.name, show=not quiet))
            if not quiet:
                during.enter_context(compilation_announced(bar))
            bar.stage("preparing")
            prepared = prepare(model, motion)
            viewer = open_page(prepared.simulation, page, None) if view else None
            watched: list[Callable[[float, float], None]] = [Keeper(prepared.simulation, out, files.save_every)]
            watched += [viewer.follow(prepared.simulation)] if viewer else []
            result, failure = moved(prepared, ctrl_c, bar, watched)
            if result is not None:
                bar.stage("writing the result")
                ctrl_c.pressed = False  # to lose it takes two more
                result.save(out)
                if files.csv:
                    result.to_csv(files.csv)
                summary = result.summary()
    written = [str(path) for path in (out, files.csv) if path]
    if viewer is not None and result is not None:
        viewer.show(result)
    if failure is not None:
        if viewer is not None:
            with suppress(KeyboardInterrupt):  # Ctrl-C ends the page
                terminal.note(f"{failure}; the page shows what was reached")
                viewer.wait()
        if result is not None:
            failure.add_note(f"What was reached until t = {result.recording.t[-1]:g} s is in {' and '.join(written)}.")
            failure.__dict__["files_written"] = written
        raise failure
    if viewer is None:
        _say(summary, written, quiet, saying)
    else:
        with suppress(KeyboardInterrupt):  # Ctrl-C ends the page
            _say(summary, written, quiet, saying)
            sys.stdout.flush()
            viewer.wait()
    return DONE if summary["status"] == "finished" else INTERRUPTED


class Keeper:
    """Called as a run goes on, it writes what is done every so many seconds, in at most a twentieth of the time."""

    def __init__(self, simulation: Runs, path: Path, every: float) -> None:
        self._simulation, self._path, self._every = simulation, path, every
        self._due = time.monotonic() + every

    def __call__(self, t: float, t_end: float) -> None:
        began = time.monotonic()
        if began < self._due or not 0.0 < t < t_end:
            return
        try:
            self._simulation.result("interrupted", f"written at t = {t:g} s, as the run went on").save(self._path)
        except FileError as error:
            terminal.note(f"{error}; the run goes on")
            self._due = math.inf
            return
        took = time.monotonic() - began
        self._due = began + took + max(self._every, 20.0 * took)


def moved(
    run: Prepared, ctrl_c: terminal.CtrlC, bar: Bar, watched: Sequence[Callable[[float, float], None]] = ()
) -> tuple[Result | None, SolveError | None]:
    """Simulate; what was reached comes back with the error that stopped it, if one did. `watched` are called as it goes."""
    simulation, t_end, output_times = run
    t_start = simulation.t

    def progress(t: float, _: float) -> None:
        bar.at(t, t_start, t_end)
        for watch in watched:
            watch(t, t_end)
        ctrl_c.gentle = True
        if ctrl_c.pressed and t < t_end:
            raise KeyboardInterrupt  # which the simulation turns into a result that is interrupted

    try:
        result = simulation.run(t_end, output_times=output_times, progress=progress, peaks=True)
    except SolveError as error:
        return error.result, error
    if result.status == "interrupted" and result.recording.steps == 0:
        raise KeyboardInterrupt("interrupted before the first step; nothing was written")
    return result, None


def _say(summary: dict[str, Any], written: list[str], quiet: bool, saying: Saying) -> None:
    """The summary, and where the result is."""
    from nexdyn.results.table import summary_text

    files = " and ".join(written)
    if summary["status"] == "interrupted":
        terminal.note(f"{summary['message']}; what was reached is in {files}")
    if saying.json:
        terminal.say_json(summary | {"files_written": written})
    elif not quiet:
        terminal.say(f"{summary_text(summary)}\n  written  {files}")

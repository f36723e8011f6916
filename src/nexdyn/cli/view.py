"""`nexdyn view`: a model or a result in the browser, or as one HTML file."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from nexdyn.cli import terminal
from nexdyn.cli.codes import DONE
from nexdyn.cli.files import check_writable
from nexdyn.cli.live import LIVE_PLAINLY, Live, session_of, write
from nexdyn.cli.looks import LOOKS_PLAINLY, Looks
from nexdyn.cli.model import Model, read
from nexdyn.cli.options import READING_PLAINLY, SAYING_PLAINLY, Reading, Saying, flag, option
from nexdyn.cli.page import PAGE_PLAINLY, Page, open_page, serve
from nexdyn.cli.pictures import PICTURES_PLAINLY, Pictures, write_pictures
from nexdyn.cli.prepare import Prepared, prepare, started
from nexdyn.cli.progress import compilation_announced, progress_bar
from nexdyn.cli.run import MOTION_PLAINLY, Motion, moved
from nexdyn.cli.write import write_numbers
from nexdyn.errors import InputError, NexDynError, SingularError, SolveError

if TYPE_CHECKING:
    from nexdyn.results.result import Result
    from nexdyn.view.server import Served
    from nexdyn.view.viewer import Viewer

NAME = "view"
EXAMPLES = """\
Examples:
  nexdyn view hinge-chain                  simulate a demo and play it
  nexdyn view robot.urdf                   a robot on its base, no motors
  nexdyn view robot.urdf --still           its pose, a slider for every joint
  nexdyn view robot.urdf --live            it runs: drag it, change it, undo
  nexdyn view four-bar --live --hands done.json
  nexdyn view four-bar --replay done.json  the same again, to the last bit
  nexdyn view run.nc                       play a result
  nexdyn view run.nc other.nc              two results, and their difference
  nexdyn view run.nc --language zh         Chinese labels
  nexdyn view run.nc --html out.html       one HTML file that opens anywhere
  nexdyn view run.nc other.nc --html out.html
  nexdyn view run.nc --html out.html --speed 0.1 --show trails
  nexdyn view run.nc --opacity 0.3 --show "reaction forces"
  nexdyn view run.nc --section y=0.1 --png inside.png
  nexdyn view run.nc --png end.png         a still; --time 1.0: another moment
  nexdyn view run.nc --gif run.gif --speed 0.5
  nexdyn view robot.urdf --still --png robot.png --azimuth 60
  nexdyn view robot.urdf --still --html robot.html  its pose, to look at
  nexdyn view run.nc --port 9000 --no-browser

On a machine reached by ssh the command that forwards the address is printed.
Esc or End on the page, or Ctrl-C, ends. A tab may be closed and reopened."""

RECORDING = Group("A recording instead of a page", sort_key=5)
T_END = 5.0
"""Simulated time [s] of a model that says none."""


def command(
    name: Annotated[str, Parameter(name="MODEL", help="A scene (.yaml), a robot (.urdf), a demo, or a result (.nc).")],
    ghost: Annotated[
        str | None,
        Parameter(
            name="GHOST", help="Another result (.nc) of the same bodies and joints, laid over it.", show_default=False
        ),
    ] = None,
    /,
    *,
    still: Annotated[bool, flag("Do not simulate: the pose alone, with a slider for every joint.")] = False,
    html: Annotated[
        Path | None, option("Write one HTML file that plays without server and network.", RECORDING)
    ] = None,
    speed: Annotated[float | None, option("Speed of the recording: times real time.", RECORDING)] = None,
    live: Live = LIVE_PLAINLY,
    looks: Looks = LOOKS_PLAINLY,
    reading: Reading = READING_PLAINLY,
    motion: Motion = MOTION_PLAINLY,
    page: Page = PAGE_PLAINLY,
    pictures: Pictures = PICTURES_PLAINLY,
    saying: Saying = SAYING_PLAINLY,
) -> int:
    """Look at a model or a result in the browser; or write a recording or pictures of it."""
    writes = html is not None or bool(pictures.wanted)
    if not writes and speed is not None:
        raise InputError("--speed is of a recording; add --html out.html, or use the page's buttons")
    page.check(not writes, "leave --html, --png, --gif and --mp4 out", language=True)
    looks.check()
    if ghost is not None:
        _check_ghost(ghost, bool(pictures.wanted), still)
    pictures.check(Path(name), still)
    live.check(name, writes, still, ghost)
    if html is not None:
        check_writable("--html", html, (".html", ".htm"), {"the model": Path(name)})
    if still and html is not None and speed is not None:
        raise InputError("--speed is of a motion; leave it out, or run the model: --still is one pose")
    model = read(name, reading)
    what: Any = None
    served: Served | None = None
    over = None if ghost is None else _ghost(ghost, model)
    with ExitStack() as open_pages, terminal.CtrlC() as ctrl_c:
        if live.asked:
            what = session_of(model, motion, live)
            what = what if live.live else what.result()
        elif not still and model.result is not None and not _goes_on(motion):
            what = model.result
        elif not still:
            options = started(model, motion)  # wrong options are told before a page is opened
            first = writes or not _closes(model, options)  # and so is a mechanism that does not close
            what = prepared(model, motion, writes) if first else None
            served = None if writes else serve(model.system.name, page, saying)
            try:
                what = what if first else prepared(model, motion, writes)
            except BaseException:
                if served is not None:
                    served.stop()
                raise
        if writes:
            return _record(model, what, html, speed, looks, pictures, ctrl_c, saying, over, page.language)
        failure = None
        with suppress(KeyboardInterrupt):  # Ctrl-C ends the page
            viewer = open_page(_shown(model, what), page, saying, over, model.view, served)
            open_pages.callback(viewer.close)
            looks.put(viewer)
            if live.live:
                _offer_writing(viewer, model, Path(name), reading)
            if isinstance(what, Prepared):
                result, failure = run_on_page(model, what, ctrl_c, viewer)
                ctrl_c.pressed = ctrl_c.gentle = False
                if result is not None:
                    viewer.show(result)
                    terminal.note(f"{failure or reached(result)}; the page shows what was reached")
            viewer.wait()
        if live.live:
            write(what, live)
    if failure is not None:
        raise failure
    return DONE


def _offer_writing(viewer: Viewer, model: Model, file: Path, reading: Reading) -> None:
    """Buttons that write what the page has come to into a scene; not where options have changed what it says."""
    from nexdyn.view.editing import Editing

    if file.suffix in (".yaml", ".yml") and file.is_file() and not reading.set:
        Editing(viewer, partial(write_numbers, file), model.system, model.simulation)
        viewer.show_controls()


def _check_ghost(ghost: str, pictured: bool, still: bool) -> None:
    if pictured or still:
        raise InputError(
            f"{ghost} can be laid over a motion on the page and in recordings; leave it, or --png, --gif, --mp4, --still, out"
        )
    if Path(ghost).suffix != ".nc":
        raise InputError(f"GHOST is {ghost!r}; a result (.nc) is needed, as nexdyn run MODEL --out run.nc writes one")


def _ghost(ghost: str, model: Model) -> Result:
    from nexdyn.results.result import open_result
    from nexdyn.view.ghost import check_same

    result = open_result(ghost)
    check_same(model.system, result.system)
    return result


def _goes_on(motion: Motion) -> bool:
    return motion.t_end is not None


def prepared(model: Model, motion: Motion, writes: bool) -> Prepared | None:
    """The simulation of a model; None, with a note, for one that cannot be simulated but can be looked at."""
    if motion.t_end is None and "t_end" not in model.simulation and model.result is None:
        motion = replace(motion, t_end=T_END)
    try:
        with compilation_announced():
            return prepare(model, motion)
    except (InputError, SingularError) as error:
        if writes or motion != replace(MOTION_PLAINLY, t_end=motion.t_end) or not _closed_or_weak(error):
            raise
        terminal.note(f"{error}; shown as it stands")
        return None


def _closes(model: Model, options: dict[str, Any]) -> bool:
    """Whether the mechanism can be put together at the start: then its page may open while the run is prepared."""
    from nexdyn.assembly.assemble import assemble
    from nexdyn.simulation.needs import needs_bodies
    from nexdyn.simulation.quiet import quiet

    if not needs_bodies(model.system):
        return True
    if options["initial"] is not None:
        return False
    with suppress(NexDynError), quiet(), compilation_announced():
        return not assemble(model.system, q0=options["q0"]).gaps
    return False


def _closed_or_weak(error: Exception) -> bool:
    """Whether it is the mechanism that cannot move in minimal coordinates, and not an option that is wrong."""
    return isinstance(error, SingularError) or "minimal coordinates" in str(error)


def _shown(model: Model, what: Any) -> Any:
    return model.system if what is None else what.simulation if isinstance(what, Prepared) else what


def run_on_page(
    model: Model, run: Prepared, ctrl_c: terminal.CtrlC, viewer: Any
) -> tuple[Result | None, SolveError | None]:
    with ExitStack() as during:
        bar = during.enter_context(progress_bar(model.name, show=True))
        during.enter_context(compilation_announced(bar))
        return moved(run, ctrl_c, bar, [] if viewer is None else [viewer.follow(run.simulation)])


def reached(result: Result) -> str:
    return result.message or f"simulated until t = {result.recording.t[-1]:g} s"


def _record(
    model: Model,
    what: Any,
    html: Path | None,
    speed: float | None,
    looks: Looks,
    pictures: Pictures,
    ctrl_c: terminal.CtrlC,
    saying: Saying,
    over: Result | None = None,
    language: str = "en",
) -> int:
    """Write the recording and the pictures of a result, of a run until then, or of a model as it stands."""
    result, failure = run_on_page(model, what, ctrl_c, None) if isinstance(what, Prepared) else (what, None)
    written: list[str] = []
    if result is not None or what is None:
        ctrl_c.pressed = ctrl_c.gentle = False
        if html is not None:
            from nexdyn.view.recording import record
            from nexdyn.view.stage import SHOWN_AT_FIRST

            record(
                model.system if result is None else result,
                html,
                speed=speed,
                layers=SHOWN_AT_FIRST | set(looks.show),
                follow=looks.follow,
                ghost=over,
                language=language,
                **looks.of_pictures,
            )
            written.append(str(html))
        written += write_pictures(result or model.system, pictures, speed=speed or 1.0, looks=looks)
    if failure is not None:
        failure.add_note(f"What was reached is in {' and '.join(written)}.")
        raise failure
    if saying.json:
        terminal.say_json({"name": model.system.name, "files_written": written})
    for path in () if saying.json else written:
        terminal.say(f"{model.system.name}: {path} ({Path(path).stat().st_size / 2**20:.1f} MiB)")
    return DONE

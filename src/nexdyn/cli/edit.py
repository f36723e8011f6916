"""`nexdyn edit`: a scene in the browser next to your own editor; each save is read, checked, assembled, shown and run."""

from __future__ import annotations

import functools
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from nexdyn.cli import terminal
from nexdyn.cli.codes import DONE
from nexdyn.cli.model import Model, read
from nexdyn.cli.options import READING_PLAINLY, Reading, flag
from nexdyn.cli.page import PAGE_PLAINLY, Page, open_page
from nexdyn.cli.prepare import Prepared
from nexdyn.cli.progress import compilation_announced, progress_bar
from nexdyn.cli.run import MOTION_PLAINLY, Motion, moved
from nexdyn.cli.view import prepared, reached
from nexdyn.cli.write import write_numbers
from nexdyn.errors import InputError, NexDynError

if TYPE_CHECKING:
    from nexdyn.view.editing import Editing
    from nexdyn.view.viewer import Viewer

NAME = "edit"
EXAMPLES = """\
Examples:
  nexdyn edit scene.yaml                the page next to your own editor
  nexdyn edit robot.urdf --still        poses only, a slider for every joint
  nexdyn edit scene.yaml --t-end 3      each save runs for 3 s
  nexdyn edit scene.yaml --set L=0.5    with another parameter

A file that cannot be read leaves the last one that could on the page, with the
error above it. A save during a run cancels that run. Ctrl-C ends."""

EVERY = 0.05
"""Seconds between looks at the file."""
SETTLED = 0.05
"""Seconds for which a file must stay as it is: an editor may be writing it."""


class Watch:
    """Whether a file has changed. One that is gone, as while an editor puts another in its place, has not."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen = self._state()

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def differs(self) -> bool:
        """Whether the file is another than the one that was last taken up."""
        return (now := self._state()) is not None and now != self._seen

    def take_up(self) -> None:
        """Take the file as it is, once it is whole."""
        now = self._state()
        while True:
            time.sleep(SETTLED)
            before, now = now, self._state()
            if now is not None and now == before:
                self._seen = now
                return


def command(
    name: Annotated[str, Parameter(name="FILE", help="A scene (.yaml) or a robot (.urdf) of yours.")],
    /,
    *,
    still: Annotated[bool, flag("Do not run it: the pose alone, with a slider for every joint.")] = False,
    reading: Reading = READING_PLAINLY,
    motion: Motion = MOTION_PLAINLY,
    page: Page = PAGE_PLAINLY,
) -> int:
    """Edit a scene: the page shows each save at once, what changed, what is wrong, and the new run over the previous one."""
    file = Path(name)
    if file.suffix == ".nc":
        raise InputError(f"{name} is a result; nexdyn view shows it, and edit is for scenes (.yaml) and robots (.urdf)")
    if not file.is_file():
        read(name, reading)  # raises the error that names the nearest file
        raise InputError(f"{name} is no file of yours; nexdyn convert {name} scene.yaml makes a copy to edit")
    watch = Watch(file)
    with ExitStack() as open_pages, terminal.CtrlC() as ctrl_c, suppress(KeyboardInterrupt):
        from nexdyn.view.editing import Editing

        first = read(name, reading)
        viewer = open_page(first.system, page, None, seen=first.view)
        open_pages.callback(viewer.close)
        editing = Editing(viewer, functools.partial(write_numbers, file) if file.suffix != ".urdf" else None)
        model: Model | None = first
        while not viewer.ended:
            if model is not None:
                _show(model, editing, viewer, None if still else motion, watch, ctrl_c)
                model = None
            elif watch.differs():
                watch.take_up()
                model = _read(name, reading, editing)
            else:
                time.sleep(EVERY)
    return DONE


def _read(name: str, reading: Reading, editing: Editing) -> Model | None:
    """What the file says; None where it cannot be read, which the page and the terminal tell."""
    try:
        return read(name, reading)
    except NexDynError as error:
        editing.refuse(error)
        terminal.note(str(error))
        return None


def _show(
    model: Model, editing: Editing, viewer: Viewer, motion: Motion | None, watch: Watch, ctrl_c: terminal.CtrlC
) -> None:
    """Put what the file says on the page, and run it unless `motion` is None."""
    from nexdyn.assembly.assemble import assemble

    try:
        with compilation_announced():
            report: Any = assemble(model.system)
    except NexDynError as error:
        report = error
    for line in editing.show(model.system, report, model.simulation):
        terminal.note(line)
    if isinstance(report, NexDynError):
        terminal.note(str(report))
    elif motion is not None:
        _run(model, editing, viewer, motion, watch, ctrl_c)


def _run(model: Model, editing: Editing, viewer: Viewer, motion: Motion, watch: Watch, ctrl_c: terminal.CtrlC) -> None:
    try:
        run = prepared(model, motion, False)
    except NexDynError as error:
        editing.refuse(error)
        terminal.note(str(error))
        return
    if not isinstance(run, Prepared):
        return
    overtaken = False

    def give_way(t: float, t_end: float) -> None:
        nonlocal overtaken
        if viewer.ended or watch.differs():
            overtaken = True
            raise KeyboardInterrupt

    with progress_bar(model.name, show=True) as bar, compilation_announced(bar):
        try:
            result, failure = moved(run, ctrl_c, bar, [viewer.follow(run.simulation), give_way])
        except KeyboardInterrupt:
            if not overtaken:
                raise
            result = failure = None
        ctrl_c.pressed = ctrl_c.gentle = False
    if result is not None and not overtaken:
        editing.ran(result, failure)
        terminal.note(f"{failure or reached(result)}; the page shows what was reached")

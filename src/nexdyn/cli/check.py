"""`nexdyn check`: whether a mechanism is well posed, and what it does at its start."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from nexdyn.cli import terminal
from nexdyn.cli.model import read
from nexdyn.cli.options import READING_PLAINLY, SAYING_PLAINLY, Reading, Saying
from nexdyn.cli.progress import compilation_announced
from nexdyn.errors import AssemblyError

NAME = "check"
EXAMPLES = """\
Examples:
  nexdyn check four-bar                 redundancy, pose, reactions of a demo
  nexdyn check scene.yaml --set L=0.3   with another parameter
  nexdyn check robot.urdf --base free   a robot whose base floats
  nexdyn check arm.yaml --collisions    which bodies overlap, and how deep
  nexdyn check scene.yaml --json        for a program; exit code 3: open"""


def command(
    name: Annotated[str, Parameter(name="MODEL", help="A scene (.yaml), a robot (.urdf), a demo, or a result (.nc).")],
    /,
    *,
    collisions: Annotated[
        bool, Parameter(negative="", help="List the bodies that overlap in the assembled pose, by their shapes.")
    ] = False,
    reading: Reading = READING_PLAINLY,
    saying: Saying = SAYING_PLAINLY,
) -> None:
    """Check a mechanism: redundant constraints, assembled pose, velocities, accelerations and reactions."""
    from nexdyn.assembly.assemble import assemble
    from nexdyn.statics.interferences import interferences

    model = read(name, reading)
    try:
        with compilation_announced():
            report = assemble(model.system)
            found = interferences(report) if collisions else None
    except AssemblyError as error:
        if not saying.json:
            terminal.say(str(error.report))
        raise
    if saying.json:
        terminal.say_json(report.to_dict() | ({} if found is None else {"collisions": found.to_dict()}))
        return
    terminal.say(str(report))
    if found is not None:
        terminal.say(f"\ncollisions\n{found}")

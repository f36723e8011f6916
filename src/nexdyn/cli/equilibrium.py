"""`nexdyn equilibrium`: where a mechanism rests, and whether it stays."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from nexdyn.cli import terminal
from nexdyn.cli.model import read
from nexdyn.cli.options import READING_PLAINLY, SAYING_PLAINLY, Reading, Saying
from nexdyn.cli.progress import compilation_announced
from nexdyn.cli.units import seconds

NAME = "equilibrium"
EXAMPLES = """\
Examples:
  nexdyn equilibrium four-bar              where a demo comes to rest
  nexdyn equilibrium scene.yaml --t 2      its drivers held as they are at 2 s
  nexdyn equilibrium scene.yaml --nearest  the nearest, stable or not
  nexdyn equilibrium scene.yaml --json     for a program; exit code 3: none"""


def command(
    name: Annotated[str, Parameter(name="MODEL", help="A scene (.yaml), a robot (.urdf), a demo, or a result (.nc).")],
    /,
    *,
    t: Annotated[float, Parameter(help="Time [s] at which drivers and forces are evaluated.", converter=seconds)] = 0.0,
    nearest: Annotated[bool, Parameter(help="The nearest equilibrium, stable or not.", negative="")] = False,
    reading: Reading = READING_PLAINLY,
    saying: Saying = SAYING_PLAINLY,
) -> None:
    """Static equilibrium of a mechanism: pose, reactions, stability and frequencies."""
    from nexdyn.statics.equilibrium import equilibrium

    model = read(name, reading)
    with compilation_announced():
        found = equilibrium(model.system, t=t, nearest=nearest)
    if saying.json:
        terminal.say_json(found.to_dict())
    else:
        terminal.say(str(found))

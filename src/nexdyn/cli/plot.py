"""`nexdyn plot`: figures of a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from nexdyn.cli import terminal
from nexdyn.cli.files import check_writable
from nexdyn.cli.options import SAYING_PLAINLY, Saying, option
from nexdyn.cli.saved import saved_result

NAME = "plot"
EXAMPLES = """\
Examples:
  nexdyn plot run.nc                          energy, joint coordinates: run.png
  nexdyn plot run.nc reaction --of hinge1     force and moment of one joint
  nexdyn plot run.nc position --of link6      of a body
  nexdyn plot run.nc phase --out phase.svg    velocities over coordinates
  nexdyn plot run.nc energy reaction phase --of hinge1 --of hinge2 --out a.pdf

What can be plotted:
  energy
  joint_position, joint_velocity, joint_acceleration, phase
  position, velocity, acceleration, angular_velocity, angular_acceleration
  reaction, transmitted
  measures"""

DRAWING = Group("Plot", sort_key=1)


def command(
    name: Annotated[str, Parameter(name="RESULT", help="A result (.nc) that `nexdyn run` wrote.")],
    /,
    *what: Annotated[str, Parameter(name="WHAT", help="What to plot; default: energy joint_position.")],
    of: Annotated[
        tuple[str, ...],
        option("A joint, body, marker or measure; default: all. May be repeated.", DRAWING),
    ] = (),
    out: Annotated[
        Path | None,
        option("PNG, SVG or PDF by its suffix; default NAME.png here.", DRAWING),
    ] = None,
    saying: Saying = SAYING_PLAINLY,
) -> None:
    """Plot energy, joint coordinates, positions, reactions or phase portraits of a result."""
    from nexdyn.view.plots import SUFFIXES

    target = out or Path(f"{Path(name).stem}.png")
    check_writable("--out", target, SUFFIXES, {"the result": Path(name)})
    saved_result(name, "plot").plot(*what, of=of, path=target)
    if saying.json:
        terminal.say_json({"files_written": [str(target)]})
    else:
        terminal.say(f"written  {target}")

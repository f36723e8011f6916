"""The commands of `nexdyn` and what their help says."""

from __future__ import annotations

from cyclopts import App

from nexdyn import __version__
from nexdyn.cli import (
    check,
    compare,
    completion,
    convert,
    demos,
    edit,
    equilibrium,
    info,
    linearize,
    plot,
    run,
    sweep,
    verify,
    view,
    warm,
)

EXAMPLES = """\
Examples:
  nexdyn run hinge-chain             simulate a demo, write hinge-chain.nc
  nexdyn run robot.urdf --t-end 2    a robot with a fixed base
  nexdyn run scene.yaml --set L=0.5  a scene with another parameter
  nexdyn view hinge-chain            simulate it and play it in the browser
  nexdyn edit scene.yaml             the same, anew at each save of the file
  nexdyn plot hinge-chain.nc         energy and joint coordinates, as PNG
  nexdyn check four-bar              redundancy, assembled pose, reactions
  nexdyn equilibrium four-bar        where it rests, and whether it stays
  nexdyn sweep study.yaml            many runs with other parameters
  nexdyn linearize bicycle           eigenvalues and modes of a mechanism
  nexdyn compare double-pendulum     several methods compared
  nexdyn info robot.urdf             its bodies, joints and masses
  nexdyn convert robot.urdf a.yaml   a robot as a scene, and back
  nexdyn demos                       the models that come with NexDyn
  nexdyn verify                      published problems and their values
  nexdyn warm                        compile what first commands need, once
  nexdyn run --help                  more examples, and all options"""

app = App(
    name="nexdyn",
    help="Assemble and simulate multibody systems: scenes (.yaml) and robots (.urdf).",
    help_epilogue=EXAMPLES,
    help_format="plaintext",
    version=f"nexdyn {__version__}",
    version_format="plaintext",
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
for page in (
    run,
    view,
    edit,
    plot,
    check,
    sweep,
    equilibrium,
    linearize,
    compare,
    info,
    convert,
    demos,
    verify,
    completion,
    warm,
):
    command = completion.command_for(app) if page is completion else page.command
    app.command(command, help_epilogue=page.EXAMPLES, name=page.NAME)

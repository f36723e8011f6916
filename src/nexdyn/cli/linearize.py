"""`nexdyn linearize`: eigenvalues, modes and matrices of a mechanism about an equilibrium or a steady motion."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from cyclopts import Group, Parameter

from nexdyn.cli import terminal
from nexdyn.cli.model import read
from nexdyn.cli.options import READING_PLAINLY, SAYING_PLAINLY, Reading, Saying, flag, option
from nexdyn.cli.page import PAGE, PAGE_PLAINLY, Page, open_page
from nexdyn.cli.progress import compilation_announced
from nexdyn.cli.units import whole
from nexdyn.errors import InputError, unknown

NAME = "linearize"
EXAMPLES = """\
Examples:
  nexdyn linearize bicycle --speed 5 --json    its eigenvalues at 5 m/s
  nexdyn linearize bicycle --sweep speed=1:10:10   where it becomes stable
  nexdyn linearize scene.yaml --input motor --output tip.x
  nexdyn linearize scene.yaml --rest           about the nearest equilibrium
  nexdyn linearize scene.yaml --set L=0.3      with another parameter
  nexdyn linearize chain.yaml --rest --modes 8  the lowest modes, of any size
  nexdyn linearize run.nc                      about the last state of a run
  nexdyn linearize bicycle --view --mode 2     watch a mode in the browser

Exit codes: 0 done, 2 bad input or a state that is neither equilibrium nor
steady motion."""

WHAT = Group("Linearization", sort_key=2)


def command(
    name: Annotated[
        str,
        Parameter(name="MODEL", help="A scene (.yaml), a robot (.urdf), a demo, or a result (.nc): its last state."),
    ],
    /,
    *,
    reading: Reading = READING_PLAINLY,
    speed: Annotated[float | None, option("Value of the parameter `speed` of the model.", WHAT)] = None,
    input_: Annotated[
        tuple[str, ...],
        option("A joint whose effort is an input, or body.fx … body.mz. May be repeated.", WHAT, name="--input"),
    ] = (),
    output: Annotated[
        tuple[str, ...], option("A state, a coordinate or a measure; default: the states. May be repeated.", WHAT)
    ] = (),
    sweep: Annotated[
        str | None, option("PARAMETER=FROM:TO:COUNT: where modes become stable or unstable between.", WHAT)
    ] = None,
    frozen: Annotated[
        bool, flag("Also about a state that is neither equilibrium nor steady motion.", group=WHAT)
    ] = False,
    rest: Annotated[bool, flag("About the equilibrium nearest to the reference configuration.", group=WHAT)] = False,
    modes: Annotated[
        int | None,
        option(
            "The lowest N modes alone, by sparse matrices: for systems of any size, at rest.", WHAT, converter=whole
        ),
    ] = None,
    view: Annotated[bool, flag("Play a mode in the browser.", group=PAGE)] = False,
    mode: Annotated[int | None, option("Which mode is played, from 0, the default.", PAGE, converter=whole)] = None,
    page: Page = PAGE_PLAINLY,
    saying: Saying = SAYING_PLAINLY,
) -> None:
    """Linearize a mechanism about an equilibrium or a steady motion: eigenvalues, modes, A, B, C, D."""
    from nexdyn.statics.equilibrium import equilibrium
    from nexdyn.statics.linearize import Linearization, UnsteadyError, linearize
    from nexdyn.statics.sparse_linearize import SparseLinearization
    from nexdyn.statics.stability import stability

    if mode is not None and not view:
        raise InputError("--mode is of a mode that is played; add --view")
    page.check(view, "add --view")
    if sweep is not None:
        idle = {"input": input_, "output": output, "frozen": frozen, "modes": modes is not None, "view": view}
        for option_name, given in idle.items():
            if given:
                raise InputError(f"--sweep looks where modes become stable or unstable; leave --{option_name} out")
    if speed is not None:
        reading = replace(reading, set=(*reading.set, f"speed={speed!r}"))
    model = read(name, reading)
    if sweep is not None:
        if model.result is not None:
            raise InputError("--sweep is for a model, not for a result")
        parameter, values = _values(sweep, list(model.system.parameters))
        with compilation_announced():
            swept = stability(model.system, parameter, values, rest=rest)
        if saying.json:
            terminal.say_json(swept.to_dict())
        else:
            terminal.say(str(swept))
        return
    if rest and model.result is not None:
        raise InputError("--rest is for a model, not for a result")
    only: Any = {} if modes is None else {"modes": modes}
    try:
        with compilation_announced():
            at = equilibrium(model.system, nearest=True) if rest else model.result
            found: Linearization | SparseLinearization
            found = linearize(model.system, at, inputs=input_, outputs=output or None, frozen=frozen, **only)
    except UnsteadyError as error:
        said = str(error).replace("nx.equilibrium finds one", "--rest finds one").replace("frozen=True", "--frozen")
        raise InputError(said) from None
    if view:
        viewer = open_page(found.motion(mode or 0), page, saying if not saying.json else None)
        if not saying.json:
            terminal.say(str(found))
        viewer.wait()
    elif saying.json:
        terminal.say_json(found.to_dict())
    else:
        terminal.say(str(found))


def _values(given: str, parameters: list[str]) -> tuple[str, list[float]]:
    """The parameter and the values that PARAMETER=FROM:TO:COUNT means."""
    parameter, _, numbers = given.partition("=")
    parts = numbers.split(":")
    try:
        start, end, count = float(parts[0]), float(parts[1]), int(parts[2])
    except (ValueError, IndexError):
        start, end, count = 0.0, 0.0, 0
    if len(parts) != 3 or count < 2 or not start < end:
        raise InputError(f"--sweep {given!r} is not understood; write PARAMETER=FROM:TO:COUNT, like speed=1:10:10")
    if parameter not in parameters:
        raise unknown("parameter", parameter, parameters)
    step = (end - start) / (count - 1)
    return parameter, [start + k * step for k in range(count)]

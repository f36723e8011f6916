"""`nexdyn compare`: one model under several methods, by how much they differ and where they part."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import fields
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from nexdyn.checked_calls import unknown_argument
from nexdyn.cli import terminal
from nexdyn.cli.codes import DONE
from nexdyn.cli.files import check_writable
from nexdyn.cli.method_names import NAMES
from nexdyn.cli.model import read
from nexdyn.cli.options import READING_PLAINLY, SAYING_PLAINLY, Reading, Saying, flag, option
from nexdyn.cli.progress import compilation_announced
from nexdyn.cli.units import in_seconds, seconds
from nexdyn.errors import InputError, unknown

if TYPE_CHECKING:
    from nexdyn.integrate.methods import Method
    from nexdyn.model.system import System

NAME = "compare"
_ASKED = "A method is a name, or name:option=value,option=value with the options of its class:"
METHODS = fill(f"{_ASKED} {' '.join(NAMES)}", 78, break_on_hyphens=False)
EXAMPLES = f"""\
Examples:
  nexdyn compare double-pendulum                  a method of each formulation
  nexdyn compare four-bar projection hht:dt=1e-3  differences are from the first
  nexdyn compare hinge-chain dopri5:rtol=1e-12 rk4:dt=1e-2 --plot d.png
  nexdyn compare hinge-chain --agree              at what step each agrees

{METHODS}"""

COMPARING = Group("Comparison", sort_key=2)
T_END = 1.0


def command(
    name: Annotated[str, Parameter(name="MODEL", help="A scene (.yaml), a robot (.urdf), a demo, or a result (.nc).")],
    /,
    *methods: Annotated[str, Parameter(name="METHOD", help="Methods; the first is what others are compared with.")],
    t_end: Annotated[
        float | None, option("Simulated time [s]; default: the scene's, else 1.", COMPARING, converter=seconds)
    ] = None,
    tolerance: Annotated[
        float,
        option("Largest distance of bodies, relative to the mechanism's size, or in rad; default 1e-6.", COMPARING),
    ] = 1e-6,
    agree: Annotated[bool, flag("Refine the other methods until they agree with the first.", group=COMPARING)] = False,
    plot: Annotated[Path | None, option("Differences over time: PNG, SVG or PDF.", COMPARING)] = None,
    reading: Reading = READING_PLAINLY,
    saying: Saying = SAYING_PLAINLY,
) -> int:
    """Run a model under several methods; say how far they differ, when and where they part, and at what step they agree."""
    if plot is not None:
        from nexdyn.view.plots import SUFFIXES

        check_writable("--plot", plot, SUFFIXES, {"the model": Path(name)})
    model = read(name, reading)
    scene = model.simulation
    chosen = [method_of(text) for text in methods] if methods else suitable(model.system)
    start = {key: scene[key] for key in ("q0", "v0") if scene.get(key)}
    end = t_end if t_end is not None else float(scene.get("t_end", T_END))
    with ExitStack() as during:
        during.enter_context(compilation_announced())
        from nexdyn.studies.agreement import agreement
        from nexdyn.studies.compare import compare

        found = compare(model.system, chosen, end, **start)
        agreed = agreement(model.system, chosen, end, tolerance=tolerance, **start) if agree else []
    if plot is not None:
        found.plot(plot)
    written = [str(plot)] if plot is not None else []
    if saying.json:
        terminal.say_json(found.to_dict() | {"agreement": [one.to_dict() for one in agreed], "files_written": written})
        return DONE
    terminal.say(found.text(tolerance, terminal.columns()))
    for one in agreed:
        terminal.say(str(one))
    for path in written:
        terminal.say(f"written  {path}")
    return DONE


def suitable(system: System) -> list[Method]:
    """One of each formulation that supports a system, the most precise first."""
    from nexdyn.integrate.methods import HHT, OF_TREES, Baumgarte, ImplicitEuler, Projection
    from nexdyn.integrate.pairs.dormand_prince import DormandPrince
    from nexdyn.simulation.choice import simulation_of
    from nexdyn.simulation.needs import needs_bodies

    precise: Method = Projection(rtol=1e-10, atol=1e-12)
    bodies: list[Method] = [Baumgarte(), HHT(dt=1e-3), ImplicitEuler(1e-3, bdf2=True)]
    tree: list[Method] = [OF_TREES]
    first = [precise, *tree] if needs_bodies(system) else [DormandPrince(rtol=1e-12, atol=1e-13), *tree, precise]
    carried = []
    for method in (*first, *bodies):
        with suppress(InputError):
            simulation_of(system, method)
            carried.append(method)
    return carried


def method_of(text: str) -> Method:
    """The method that a word of the command line means: name, or name:option=value,option=value."""
    from nexdyn.integrate.methods import METHODS, FixedStep, ImplicitEuler

    name, _, given = text.partition(":")
    if name not in METHODS:
        raise unknown("method", name, list(METHODS))
    cls = METHODS[name]
    known = {field.name: field.type for field in fields(cls)}  # type: ignore[arg-type]
    options: dict[str, Any] = {"dt": 1e-3} if issubclass(cls, FixedStep | ImplicitEuler) else {}
    for part in given.split(",") if given else ():
        key, equals, value = part.partition("=")
        if not equals or not value:
            raise InputError(f"{part!r} of method {text!r} is not option=value; options of {name}: {', '.join(known)}")
        if key not in known:
            raise unknown_argument(f"method {name}", key, list(known))
        options[key] = value if known[key] == "str" else _value(key, value, text)
    return cls(**options)


def _value(key: str, text: str, whole: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return in_seconds(text) if key.startswith("dt") else float(text)
    except ValueError:
        raise InputError(
            f"{text!r} in {whole!r} is no number; like rk4:dt=1e-3 or rk4:dt=1ms, dopri5:rtol=1e-8"
        ) from None

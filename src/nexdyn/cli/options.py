"""Options that several commands take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

READING = Group("Model", sort_key=1)
OUTPUT = Group("Output", sort_key=9)


def flag(help: str, **settings: Any) -> Parameter:
    """An option without a value."""
    return Parameter(help=help, negative="", show_default=False, **settings)


def option(help: str, group: Group, **settings: Any) -> Parameter:
    """An option with a value."""
    return Parameter(help=help, group=group, negative="", show_default=False, **settings)


@Parameter(name="*")
@dataclass(frozen=True)
class Saying:
    """How a command answers."""

    json: Annotated[bool, flag("One JSON object on stdout and nothing else there.", group=OUTPUT)] = False
    debug: Annotated[bool, flag("Show the traceback of an error (also NEXDYN_DEBUG=1).", group=OUTPUT)] = False


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """How a model file is read."""

    set: Annotated[
        tuple[str, ...],
        option(
            "Another value for a parameter (L=0.5), an attribute (link1.mass=2, hinge1.limits=-1,1) or gravity "
            "(gravity=0,0,-1.62). May be repeated.",
            READING,
        ),
    ] = ()
    base: Annotated[
        Literal["fixed", "free"], option("Base of a URDF: fixed to the ground, or floating; default fixed.", READING)
    ] = "fixed"
    no_mimic: Annotated[bool, flag("Free the joints of a URDF that mimic another.", group=READING)] = False
    contacts: Annotated[
        str,
        option(
            "Collision shapes of a URDF that touch the ground: stiffness=2e5,damping=1,friction=0.8,links=*_foot (or foundation=1e7).",
            READING,
        ),
    ] = ""
    srdf: Annotated[str, option("An SRDF: pairs of links of a URDF that are not tested for collisions.", READING)] = ""
    strict: Annotated[bool, flag("Refuse unphysical inertias in a URDF instead of warning.", group=READING)] = False


SAYING_PLAINLY, READING_PLAINLY = Saying(), Reading()

"""The simulation of a system: which method runs it where none is given, and which march takes a method's steps.

Marches are imported when they are chosen: each brings a formulation of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

from nexdyn.errors import InputError, is_one_of
from nexdyn.integrate.methods import HHT, OF_TREES, ImplicitEuler, IndexOne, Loops, Method, method_of
from nexdyn.model.once import unchanged
from nexdyn.model.system import System
from nexdyn.simulation.needs import needs_bodies

if TYPE_CHECKING:
    from nexdyn.simulation.run import Runs


def default_method(system: System, loops: Loops | None = None, dynamics: str = "aba") -> Method:
    """HHT() where a system has what a tree alone does not carry, unless `loops` or `dynamics` ask for minimal coordinates; else
    that of trees."""
    bodies = loops is None and is_one_of(dynamics, ("aba",)) and needs_bodies(system)
    return HHT() if bodies else OF_TREES


def march_of(method: Method) -> type[Runs]:
    """The march of a method: three move bodies, all other methods move the coordinates of a tree."""
    if isinstance(method, HHT):
        from nexdyn.simulation.marches.bodies import BodySimulation

        return BodySimulation
    if isinstance(method, IndexOne):
        from nexdyn.simulation.marches.index1 import IndexOneSimulation

        return IndexOneSimulation
    if isinstance(method, ImplicitEuler):
        from nexdyn.simulation.marches.potential import PotentialSimulation

        return PotentialSimulation
    from nexdyn.simulation.marches.tree import Simulation

    return Simulation


def simulation_of(
    system: System,
    method: Method | str | None = None,
    *,
    dynamics: Literal["aba", "crba", "cfa"] = "aba",
    loops: Loops | None = None,
    on_gap: str = "warn",
    **options: Any,
) -> Runs:
    """The simulation for a method, or for a system; arguments as for `nx.simulate`."""
    from nexdyn.assembly.notices import degrees_notices, tell

    # what a run goes on from may change parameters on the way
    with unchanged() if options.get("initial") is None else nullcontext():
        simulation = _simulation_of(system, method, dynamics, loops, options)
        simulation.tell_start(on_gap)
    if options.get("initial") is None and simulation.warnings is not None:
        simulation.warnings += tell(degrees_notices(system, options.get("q0")), on_gap, None)
    return simulation


def _simulation_of(
    system: System, method: Method | str | None, dynamics: Any, loops: Loops | None, options: Mapping[str, Any]
) -> Runs:
    method = method_of(method) or default_method(system, loops, dynamics)
    march: Any = march_of(method)
    if method.coordinates == "tree":
        made: Runs = march(system, method, dynamics=dynamics, loops=loops, **options)
        return made
    for name, given in (("loops", loops), ("dynamics", None if is_one_of(dynamics, ("aba",)) else dynamics)):
        if given is not None:
            raise InputError(f"{name}={given!r} is for minimal coordinates; {method!r} moves bodies: leave {name} out")
    made = march(system, method, **options)
    return made

"""The simulation of a system: which method runs it where none is given, and which march takes a method's steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from nexdyn.assembly.notices import degrees_notices, tell
from nexdyn.errors import InputError
from nexdyn.integrate.methods import HHT, ImplicitEuler, IndexOne, Loops, Method, RungeKutta4, method_of
from nexdyn.model.system import System
from nexdyn.simulation.marches.bodies import BodySimulation, needs_bodies
from nexdyn.simulation.marches.index1 import IndexOneSimulation
from nexdyn.simulation.marches.potential import PotentialSimulation
from nexdyn.simulation.marches.tree import Simulation
from nexdyn.simulation.run import Runs

OF_BODIES: dict[type[Method], type[BodySimulation]] = {
    HHT: BodySimulation,
    IndexOne: IndexOneSimulation,
    ImplicitEuler: PotentialSimulation,
}
"""The marches that move bodies, by the class of their methods; all other methods move the coordinates of a tree."""


def default_method(system: System, loops: Loops | None = None, dynamics: str = "aba") -> Method:
    """HHT() where a system has what a tree alone does not carry, unless `loops` or `dynamics` ask for minimal coordinates; else
    RungeKutta4(1e-3)."""
    bodies = loops is None and dynamics == "aba" and needs_bodies(system)
    return HHT() if bodies else RungeKutta4(1e-3)


def march_of(method: Method) -> type[Runs]:
    """The march of a method."""
    return next((march for cls, march in OF_BODIES.items() if isinstance(method, cls)), Simulation)


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
    simulation = _simulation_of(system, method, dynamics, loops, options)
    simulation.tell_start(on_gap)
    if options.get("initial") is None and simulation.warnings is not None:
        simulation.warnings += tell(degrees_notices(system, options.get("q0")), on_gap, None)
    return simulation


def _simulation_of(
    system: System, method: Method | str | None, dynamics: Any, loops: Loops | None, options: Mapping[str, Any]
) -> Runs:
    if not isinstance(system, System):
        raise InputError(f"system is {system!r}; a System is needed, like the one that nx.load returns")
    method = method_of(method) or default_method(system, loops, dynamics)
    march: Any = march_of(method)
    if method.coordinates == "tree":
        made: Runs = march(system, method, dynamics=dynamics, loops=loops, **options)
        return made
    for name, given in (("loops", loops), ("dynamics", None if dynamics == "aba" else dynamics)):
        if given is not None:
            raise InputError(f"{name}={given!r} is for minimal coordinates; {method!r} moves bodies: leave {name} out")
    made = march(system, method, **options)
    return made

"""Which method runs a system for which none is given, and which march takes a method's steps."""

from __future__ import annotations

from nexdyn.integrate.methods import HHT, ImplicitEuler, IndexOne, Loops, Method, RungeKutta4
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

"""Problems of contact in other forms, so that no special case of a pair of shapes carries one alone: `nexdyn verify --forms`.

    NAME/swapped          the sides of contacts exchanged, bodies and joints the other way round: the same answers, within the same errors;
                          of the pin in a hole, a ring that moves about a pin
    NAME/areas            with elastic foundations in place of stiffnesses (``areas``)
    NAME/meshes           over areas, and all that touches is a closed mesh (``recast``)
    NAME/meshes-swapped   both
    NAME/steps            HHT-α of constant steps, order 2, and implicit Euler without BDF2, order 1
    NAME/coordinates      minimal coordinates by the mass matrix and by the constraint force algorithm, index 1 by Baumgarte's
                          stabilisation and by partitioned coordinates

What is round has facets: it rolls and strikes a little otherwise, by errors that fall with the sag of the facets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nexdyn.integrate.methods import HHT, Baumgarte, EmbeddedPair, ImplicitEuler, Partitioning, Projection
from nexdyn.model.system import System
from nexdyn.problems import impacts
from nexdyn.problems.areas import AREAS
from nexdyn.problems.contacts import CONTACTS
from nexdyn.problems.problem import Problem, Run
from nexdyn.problems.recast import meshed, swapped


@dataclass(frozen=True)
class Facets:
    """Of a problem as meshes: tolerance, if facets ask for another one; until [s]: of explicit methods, whose steps are short; how fine
    the meshes are."""

    tolerance: float | None = None
    until: float | None = None
    made: Mapping[str, Any] = field(default_factory=dict)


MESHES: Mapping[str, Facets] = {
    "sliding": Facets(), "standing": Facets(until=2.0), "belt": Facets(), "cone": Facets(), "groove": Facets(), "below": Facets(),
    "shaken": Facets(), "tipping": Facets(), "conveyor": Facets(), "wheel": Facets(1.05e-3), "rolling": Facets(), "bowling": Facets(),
    "skidding": Facets(), "bounce": Facets(2e-3), "spheres": Facets(1e-3), "gaps": Facets(), "floating": Facets(1e-6),
    "hole": Facets(until=0.02), "bearing": Facets(until=0.02),
    "gripper": Facets(),
    "roller": Facets(until=0.004), "flat": Facets(until=0.05), "geneva": Facets(until=0.12),
    "gears": Facets(), "cards": Facets(until=0.1), "loaded-cards": Facets(until=0.1),
    "arch": Facets(), "thin-arch": Facets(),
    "quadruped": Facets(until=1.0), "humanoid": Facets(until=1.0), "dominoes": Facets(),
}  # fmt: skip
"""The problems whose bodies may all be meshes."""
WITHOUT: Mapping[str, str] = {
    "cradle": "the speeds of balls that touch depend on the power of the depth, and facets have none",
    "five": "the speeds of balls that touch depend on the power of the depth, and facets have none",
    "hertz": "the law of Hertz is at points",
    "rod": "the end is a point, and what it does depends on the law there",
    "tippe-top": "friction over an area resists its spin; facets shake a top that spins on them",
    "smooth-top": "facets shake a top that spins on them",
}
"""Why the others have none."""
DISCS = frozenset({"roller", "flat", "geneva", "hole", "bearing"})
"""Problems of cylinders and rings, which touch each other as meshes alone."""


@dataclass(frozen=True)
class Steps:
    """Of methods of constant steps: tolerance of HHT-α and of implicit Euler, if their errors at these steps ask for another one; their
    steps [s], if not half of BDF2's and the same. hht: whether HHT-α runs."""

    hht_tolerance: float | None = None
    euler_tolerance: float | None = None
    hht_dt: float | None = None
    euler_dt: float | None = None
    hht: bool = True


STEPS: Mapping[str, Steps] = {
    "standing": Steps(hht_dt=1e-4), "conveyor": Steps(euler_tolerance=5e-4), "bounce": Steps(euler_tolerance=1.5e-2),
    "cradle": Steps(euler_tolerance=1e-2), "spheres": Steps(euler_tolerance=2e-2), "gaps": Steps(euler_tolerance=5e-2),
    "five": Steps(euler_tolerance=1.2e-2), "hole": Steps(euler_tolerance=3e-2, euler_dt=2e-7), "rod": Steps(euler_tolerance=5e-3),
    "tippe-top": Steps(euler_tolerance=5e-2, euler_dt=5e-6), "smooth-top": Steps(euler_tolerance=5e-3),
    "cards": Steps(hht_dt=5e-5), "loaded-cards": Steps(euler_tolerance=5e-3), "arch": Steps(hht=False),
    "thin-arch": Steps(hht_dt=2e-4), "dominoes": Steps(hht_dt=1e-4),
}  # fmt: skip
"""HHT-α of constant steps wants steps of 20 µs for the joints of an arch, which take up the load at once."""


def _steps(problem: Problem) -> tuple[Run, ...]:
    """Runs of constant steps, by the step and the tolerance of the problem's own."""
    given = STEPS.get(problem.name, Steps())
    own = next(run for run in problem.runs if isinstance(run.method, ImplicitEuler))
    assert isinstance(own.method, ImplicitEuler)
    tightest = min(run.tolerance for run in problem.runs)
    hht = Run("absolute coordinates, index 3, HHT-α of constant steps", HHT(dt=given.hht_dt or 0.5 * own.method.dt),
              given.hht_tolerance or tightest, until=own.until)  # fmt: skip
    euler = Run("potential, implicit Euler of order 1", ImplicitEuler(given.euler_dt or own.method.dt),
                given.euler_tolerance or own.tolerance, until=own.until)  # fmt: skip
    return (hht, euler) if given.hht else (euler,)


DRIVEN = frozenset({"belt", "shaken", "roller", "flat", "bearing", "gripper", "gears", "geneva"})
"""Problems with drivers, which in minimal coordinates are equations of a loop: these are solved with ABA alone."""


def _coordinates(problem: Problem) -> tuple[Run, ...]:
    """The explicit run of the problem in the other coordinates that support it, with the tolerance of its own."""
    found = []
    for run in problem.runs:
        method, tolerance, until = run.method, run.tolerance, run.until
        if not isinstance(method, EmbeddedPair):
            continue
        if run.formulation == "minimal coordinates, ABA" and problem.name not in DRIVEN:
            found.append(Run("minimal coordinates, CRBA", method, tolerance, "crba", until))
            found.append(Run("minimal coordinates, constraint forces", method, tolerance, "cfa", until))
        rtol, atol = method.rtol, method.atol
        for name, index1 in (
            ("baumgarte", Baumgarte(rtol=rtol, atol=atol)),
            ("partitioning", Partitioning(rtol=rtol, atol=atol)),
        ):
            found.append(Run(f"absolute coordinates, index 1, {name}", index1, tolerance, until=until))
    return tuple(found)


def _then(
    problem: Problem, form: str, change: Callable[[System], System], runs: tuple[Run, ...] | None = None
) -> Problem:
    """A problem whose system is changed after it is built."""
    return replace(problem, name=form, build=lambda: change(problem.build()), runs=runs or problem.runs)


def _runs(problem: Problem, facets: Facets) -> tuple[Run, ...]:
    found = []
    for run in problem.runs:
        explicit = isinstance(run.method, EmbeddedPair | Projection)
        until = run.until if facets.until is None or not explicit else min(run.until, facets.until)
        found.append(replace(run, tolerance=max(run.tolerance, facets.tolerance or 0.0), until=until))
    return tuple(found)


def forms_of(problem: Problem) -> list[Problem]:
    """The forms of a problem of contact."""
    name = problem.name
    other = (lambda: impacts.hole(swapped=True)) if name == "hole" else (lambda: swapped(problem.build()))
    found = [replace(problem, name=f"{name}/swapped", build=other)]
    if name in AREAS and name not in DISCS:
        found.append(replace(AREAS[name], name=f"{name}/areas"))
    if name in MESHES:
        facets, over = MESHES[name], AREAS.get(name, problem)
        runs = _runs(over, facets)
        found.append(_then(over, f"{name}/meshes", lambda system: meshed(system, **facets.made), runs))
        found.append(_then(over, f"{name}/meshes-swapped", lambda system: swapped(meshed(system, **facets.made)), runs))
    found.append(replace(problem, name=f"{name}/coordinates", runs=_coordinates(problem)))
    return [*found, replace(problem, name=f"{name}/steps", runs=_steps(problem))]


FORMS: Mapping[str, Problem] = {form.name: form for problem in CONTACTS for form in forms_of(problem)}

"""Every way to compute a motion, for the matrix of attributes × ways.

    WAYS["hht"].motion(system)     what the way says of the system: poses, velocities and accelerations of all bodies after 0.1 s, and
                                   the accelerations at the start

Each way has a tolerance: by how much of a change it may miss what the reference computes of that change.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matrix_laws import (
    RK4,
    Probe,
    attribute_counts,
    led_as_it_runs,
    lowest_are_eigenvalues,
    measured,
    motion_takes_no_effort,
    push_answers,
    rest_stays,
)

import nexdyn as nx
from nexdyn.assembly.assemble import Start

T_END = 0.1
"""Seconds that each run lasts."""
Observed = dict[str, np.ndarray]
Motion = Callable[[nx.System], Observed]
GROUPS = ("pose", "velocity", "acceleration", "first acceleration", "measures", "first measures")


def seen(result: nx.Result) -> Observed:
    """Poses, velocities, accelerations of the bodies at the end, and their accelerations at the start; measures at both."""
    bodies = list(result.system.bodies)

    def at(row: int, *what: str) -> np.ndarray:
        return np.concatenate([getattr(result, x)(body).values[row].ravel() for x in what for body in bodies])

    stops = any(event.stop for event in result.system.events.values())
    assert stops or math.isclose(float(result.t[-1]), T_END, rel_tol=1e-9), "the run ends before its time"
    told = {"measures": measured(result), "first measures": measured(result, 0)} if result.system.measures else {}
    return told | {
        "pose": at(-1, "position", "rotation"),
        "velocity": at(-1, "velocity", "angular_velocity"),
        "acceleration": at(-1, "acceleration", "angular_acceleration"),
        "first acceleration": at(0, "acceleration", "angular_acceleration"),
    }


@dataclass(frozen=True)
class Way:
    """A way to compute a motion, or an analysis whose law runs bear out.

    motion, or law: what is computed, or by which part the law is missed. tolerance: part of a change, or of what the law is about, by
    which it may be missed. carriers: where it applies. finer: the motion in smaller steps, asked where the first one misses: what a
    step over a kink misses goes with the step, and an attribute that is ignored stays ignored. without: elements, by how their names
    start, that have no cells here. given: attributes that elements have here instead of their own."""

    name: str
    motion: Motion | None
    tolerance: float
    carriers: tuple[str, ...] = ("open", "rod", "ring")
    groups: tuple[str, ...] = GROUPS
    law: Callable[[Probe], float] | None = None
    finer: Motion | None = None
    without: tuple[str, ...] = ()
    given: tuple[tuple[str, Any], ...] = ()

    def takes(self, element: str, carrier: str) -> bool:
        """Whether an element in a carrier has cells here."""
        return carrier in self.carriers and not element.startswith(self.without)


def analysis(name: str, law: Callable[[Probe], float], tolerance: float, **options: Any) -> Way:
    return Way(name, None, tolerance, law=law, **options)


def run(method: nx.IndexOne | Any, **options: Any) -> Motion:
    return lambda system: seen(nx.simulate(system, T_END, method, **options))


def assembled(system: nx.System) -> Observed:
    """From where a run in minimal coordinates starts: `assemble` alone moves all bodies where anchors do not meet, and a tree the child."""
    first = nx.simulate(system, 1e-4, nx.RungeKutta4(1e-4))
    q, v = np.zeros((len(system.bodies) + 1, 7)), np.zeros((len(system.bodies) + 1, 6))
    q[0, 0] = 1.0
    for i, body in enumerate(system.bodies, start=1):
        q[i, :4], q[i, 4:] = first.orientation(body).values[0], first.position(body).values[0]
        v[i, :3] = first.rotation(body).values[0].T @ first.angular_velocity(body).values[0]
        v[i, 3:] = first.velocity(body).values[0]
    near = (
        {joint: np.atleast_1d(first.joint_position(joint).values[0]) for joint in nx.Tree(system).joint_names}
        if not _looped(system)
        else {}
    )
    report = nx.assemble(system, start=Start(q, v, near))
    rates = [getattr(report, what)(body) for what in ("acceleration", "angular_acceleration") for body in system.bodies]
    return {"first acceleration": np.concatenate(rates)}


def batch(method: Any, members: int = 9) -> Motion:
    """The first of nine members, so that a pack of lanes is full and another is not; or of some that run side by side."""

    def motion(system: nx.System) -> Observed:
        nv = nx.Tree(system).nv if not _looped(system) else None
        given: dict[str, Any] = {"parameters": {"gravity": np.tile(system.gravity, (members, 1))}}
        if nv is not None and isinstance(method, nx.RungeKutta4 | nx.SemiImplicitEuler):
            given["inputs"] = np.zeros((members, nv))
        results = nx.simulate(system, T_END, method, batch=given)
        return seen(results.member(0))

    return motion


def _looped(system: nx.System) -> bool:
    from nexdyn.simulation.marches.loops import needs_rows

    return needs_rows(system)


def cut(joint: str, method: Any) -> Motion:
    return run(method, loops=nx.Loops(cut=joint))


def in_two_parts(method: Any) -> Motion:
    """Half of the run, saved, loaded, and gone on with."""

    def motion(system: nx.System) -> Observed:
        first = nx.simulate(system, T_END / 2, method)
        if first.t[-1] < T_END / 2:  # an event ended it
            return seen(first)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "half.nc"
            first.save(path)
            half = nx.Result.load(path)
        second = nx.simulate(system, T_END, method, initial=half)
        start = {"first acceleration": seen_first(first)}
        return {**seen(second), **start} | ({"first measures": measured(first, 0)} if system.measures else {})

    return motion


def seen_first(result: nx.Result) -> np.ndarray:
    bodies = list(result.system.bodies)
    return np.concatenate(
        [getattr(result, x)(body).values[0] for x in ("acceleration", "angular_acceleration") for body in bodies]
    )


def from_scene(system: nx.System) -> Observed:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.yaml"
        nx.save_scene(system, path)
        return REFERENCE.motion(nx.load(path))


KINKED = 2e-3
"""Where a law has a kink or a jump, a step that goes over it misses so much; orders are measured elsewhere, on smooth laws."""

AT_REST = ("driver", "event")
"""Statics holds a driver where it is, and a run moves it: tests of equilibria have them. Nothing happens at rest."""
UNMOVED = ("measure",)
"""Has no part in what moves, or rests."""
FREE_TO_CUT = (("armature", 0.0),)
"""Only joints of the spanning tree have armature: a joint that has one is not cut."""

REFERENCE = Way("reference", run(nx.RungeKutta4(1e-4)), 0.0)
"""Minimal coordinates; what the other formulations say is independent of it, and of one another."""

DOPRI, SEMI = nx.DormandPrince(1e-9, 1e-11), nx.SemiImplicitEuler(2e-4)

WAYS: dict[str, Way] = {
    way.name: way
    for way in (
        Way("rk4", run(RK4), KINKED, finer=run(nx.RungeKutta4(2e-4))),
        Way("dormand-prince", run(DOPRI), KINKED),
        Way("euler", run(nx.ExplicitEuler(2e-4)), 0.05, finer=run(nx.ExplicitEuler(2e-5))),
        Way("semi-implicit", run(SEMI), 0.05, finer=run(nx.SemiImplicitEuler(2e-5))),
        Way("rk4 crba", run(nx.RungeKutta4(1e-3), dynamics="crba"), KINKED, ("open",)),
        Way("rk4 cfa", run(nx.RungeKutta4(1e-3), dynamics="cfa"), KINKED, ("open",)),
        Way("rk4 baumgarte", run(nx.RungeKutta4(1e-3), loops=nx.Loops("baumgarte")), 5e-3, ("rod", "ring")),
        Way("rk4 cut shoulder", cut("shoulder", RK4), KINKED, ("ring",)),
        Way("rk4 cut tested", cut("tested", RK4), KINKED, ("ring",), given=FREE_TO_CUT),
        Way("rk4 cut closing", cut("closing", RK4), KINKED, ("ring",)),
        Way("dormand-prince cut tested", cut("tested", DOPRI), KINKED, ("ring",), given=FREE_TO_CUT),
        Way("dormand-prince cut closing", cut("closing", DOPRI), KINKED, ("ring",)),
        Way("semi-implicit cut tested", cut("tested", SEMI), 0.05, ("ring",), given=FREE_TO_CUT),
        Way("semi-implicit cut closing", cut("closing", SEMI), 0.05, ("ring",)),
        Way("hht dt", run(nx.HHT(dt=5e-4)), 0.02),
        Way("hht", run(nx.HHT(rtol=2e-5)), 0.02),
        Way("baumgarte dt", run(nx.Baumgarte(dt=1e-3)), 5e-3),
        Way("baumgarte", run(nx.Baumgarte(rtol=1e-9)), 5e-3),
        Way("projection dt", run(nx.Projection(dt=1e-3)), KINKED, finer=run(nx.Projection(dt=2e-4))),
        Way("projection", run(nx.Projection(rtol=1e-9)), KINKED),
        Way("partitioning", run(nx.Partitioning(rtol=1e-9)), KINKED),
        Way("implicit-euler", run(nx.ImplicitEuler(5e-4)), 0.1, finer=run(nx.ImplicitEuler(5e-5))),
        Way("bdf2", run(nx.ImplicitEuler(5e-4, bdf2=True)), 0.05),
        Way("lanes rk4", batch(nx.RungeKutta4(1e-3)), KINKED, finer=batch(nx.RungeKutta4(2e-4))),
        Way("lanes hht", batch(nx.HHT(dt=5e-4)), 0.02),
        Way("restart rk4", in_two_parts(nx.RungeKutta4(1e-3)), KINKED, finer=in_two_parts(nx.RungeKutta4(2e-4))),
        Way("restart hht", in_two_parts(nx.HHT(dt=5e-4)), 0.02),
        Way("scene", from_scene, 1e-8),
        Way("assemble", assembled, 1e-6, groups=("first acceleration",), without=("event", *UNMOVED)),
        Way("side by side", batch(DOPRI, 2), KINKED),
        analysis("equilibrium", rest_stays, 1e-6, without=(*AT_REST, *UNMOVED)),
        analysis("inverse dynamics", motion_takes_no_effort, 1e-6, carriers=("open", "rod"), without=UNMOVED),
        analysis("linearize", push_answers, 1e-3, carriers=("open", "rod"), without=AT_REST),
        analysis(
            "linearize modes", lowest_are_eigenvalues, 1e-6, carriers=("open", "rod"), without=(*AT_REST, *UNMOVED)
        ),
        analysis("kinematics", led_as_it_runs, 1e-5, carriers=("open", "rod")),
        analysis("sensitivity", attribute_counts, 1e-3, carriers=("open", "rod")),
    )
}

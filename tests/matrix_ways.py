"""Every way to compute a motion, for the matrix of attributes × ways.

    WAYS["hht"].motion(system)     what the way says of the system after 0.1 s and at the start, in the groups of `matrix_observed`

Each way has a tolerance: by how much of a change it may miss what the reference computes of that change.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matrix_laws import (
    RK4,
    Probe,
    attribute_counts,
    led_as_it_runs,
    lowest_are_eigenvalues,
    motion_takes_no_effort,
    push_answers,
    rest_stays,
)
from matrix_observed import FIRST, GROUPS, KEPT, Observed, everything, reported
from matrix_own import registered

import nexdyn as nx
from nexdyn.assembly.assemble import Start
from nexdyn.joints import JOINTS

T_END = 0.1
"""Seconds that each run lasts."""
Motion = Callable[[nx.System], Observed]


def seen(result: nx.Result, start: nx.Result | None = None) -> Observed:
    """All groups at the end and at the start; start: the result that has the start, where it is another one."""
    stops = any(event.stop for event in result.system.events.values())
    assert stops or math.isclose(float(result.t[-1]), T_END, rel_tol=1e-9), "the run ends before its time"
    told = everything(result)
    begun = told if start is None else everything(start)
    return {group: x[-1] for group, x in told.items()} | {FIRST + group: x[0] for group, x in begun.items()}


CARRIERS = {"open": "on a tree", "rod": "on a loop that a constraint closes", "ring": "on a loop of joints"}


@dataclass(frozen=True)
class Way:
    """A way to compute a motion, or an analysis whose law runs bear out.

    motion, or law: what is computed, or by which part the law is missed. tolerance: part of a change, or of what the law is about, by
    which it may be missed. untold: the groups that it does not tell, or that its law is not about, with the reason. carriers: where it
    applies. finer: the motion in smaller steps, asked where the first one misses: what a step over a kink misses goes with the step, and
    an attribute that is ignored stays ignored. without: elements, by how their names start, that have no cells here, with the reason.
    given: how the name of an element starts, an attribute, and the value that it has here instead of its own. alone: elements, by how
    their names start, that have cells here; all where none is named. others: why the others have none."""

    name: str
    motion: Motion | None
    tolerance: float
    carriers: tuple[str, ...] = ("open", "rod", "ring")
    untold: Mapping[str, str] = field(default_factory=dict)
    law: Callable[[Probe], float] | None = None
    finer: Motion | None = None
    without: Mapping[str, str] = field(default_factory=dict)
    given: tuple[tuple[str, str, Any], ...] = ()
    alone: tuple[str, ...] = ()
    others: str = ""

    def takes(self, element: str, carrier: str) -> bool:
        """Whether an element in a carrier has cells here."""
        here = not element.startswith(tuple(self.without)) and (not self.alone or element.startswith(self.alone))
        return carrier in self.carriers and here

    def left_out(self, element: str, carriers: Iterable[str]) -> str:
        """Why an element that stands in some carriers has no cells here; "" where it has."""
        if any(self.takes(element, carrier) for carrier in carriers):
            return ""
        for start, why in self.without.items():
            if element.startswith(start):
                return why
        if self.alone and not element.startswith(self.alone):
            return self.others
        return f"tried {' and '.join(CARRIERS[name] for name in self.carriers)}, where this element does not stand"


def analysis(
    name: str, law: Callable[[Probe], float], tolerance: float, untold: Mapping[str, str], **options: Any
) -> Way:
    return Way(name, None, tolerance, law=law, untold=untold, **options)


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
    report = nx.assemble(system, initial=Start(q, v, near))
    return {FIRST + group: x for group, x in reported(report).items()}


def batch(method: Any, members: int = 9) -> Motion:
    """The first of nine members, so that a pack of lanes is full and another is not; or of some that run side by side."""

    def motion(system: nx.System) -> Observed:
        nv = nx.Tree(system).nv if not _looped(system) else None
        given: dict[str, Any] = {"parameters": {"gravity": np.tile(system.gravity, (members, 1))}}
        if nv is not None and isinstance(method, nx.RungeKutta4 | nx.SemiImplicitEuler):
            given["inputs"] = np.zeros((members, nv))
        try:
            results = nx.simulate(system, T_END, method, batch=given)
        except nx.NexDynError as error:  # test_batch.py has which elements do not take inputs
            if not str(error).startswith("inputs of a batch"):
                raise
            results = nx.simulate(system, T_END, method, batch={"parameters": given["parameters"]})
        return seen(results.member(0))

    return motion


def _looped(system: nx.System) -> bool:
    from nexdyn.simulation.needs import needs_rows

    return needs_rows(system)


def cut(joint: str, method: Any) -> Motion:
    return run(method, loops=nx.Loops(cut=joint))


def in_two_parts(method: Any, full: bool = False) -> Motion:
    """Half of the run, saved with all quantities or without, loaded, and gone on with."""

    def motion(system: nx.System) -> Observed:
        first = nx.simulate(system, T_END / 2, method)
        if first.t[-1] < T_END / 2:  # an event ended it
            return seen(first)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "half.nc"
            with registered(system):
                first.save(path, full=full)
                half = nx.Result.load(path)
        whole = not half.lost_forces and list(half.system.joints) == list(system.joints)  # functions are not in files
        return seen(nx.simulate(system, T_END, method, initial=half), half if whole else first)

    return motion


def from_scene(system: nx.System) -> Observed:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.yaml"
        with registered(system):
            nx.save_scene(system, path)
            return REFERENCE.motion(nx.load(path))


KINKED = 2e-3
"""Where a law has a kink or a jump, a step that goes over it misses so much; orders are measured elsewhere, on smooth laws."""

AT_REST = {
    "driver": "statics holds a driver where it is, and a run moves it; `tests/test_rest_with_drivers.py` has them",
    "event": "nothing happens at rest",
}
UNMOVED = {"measure": "a measure has no part in what moves, or rests"}
NO_SPEED = (("force velocity_actuator", "target", 0.0),)
"""What asks for a velocity has no rest."""
CONSTRAINTS = tuple(f"joint {kind}" for kind, cls in JOINTS.items() if not cls.tree)
HANGING = {
    **dict.fromkeys(CONSTRAINTS, "a loop that a constraint closes has no joint to cut but 'closing'"),
    **dict.fromkeys(
        ("coupling", "mimic", "driver", "event", "body without mass"),
        "with the joint cut that is tested, the hand would hang on nothing",
    ),
}
FREE_TO_CUT = (("joint", "armature", 0.0),)
"""Only joints of the spanning tree have armature: a joint that has one is not cut."""

BY_A_RUN = ("actuators", "forces", "powers", "energies", "measures")
OF_THE_START = {
    **dict.fromkeys(KEPT, "only the start is computed"),
    **{FIRST + group: "a report does not have them; a run from it does" for group in BY_A_RUN},
}
"""What assembly does not tell."""

REST = {**OF_THE_START, "first velocity": "zero at rest"}
"""What an equilibrium does not tell, or not as a law of its own."""

MEASURES_ALONE = {group: "a linearization has states and measures" for group in GROUPS if group != "measures"}
EIGENVALUES = dict.fromkeys(GROUPS, "its eigenvalues are compared with those of the dense linearization")
OF_THE_LAST = {
    group: "derivatives of measures, energies and reactions at the end are compared"
    for group in GROUPS
    if group not in ("measures", "energies", "reactions")
}
"""What the laws of other analyses are not about."""
REFERENCE = Way("reference", run(nx.RungeKutta4(1e-4)), 0.0)
"""Minimal coordinates; what the other formulations say is independent of it, and of one another."""

IMPLICIT, FINER = nx.ImplicitEuler(5e-4), nx.ImplicitEuler(5e-5)
BDF2, FINER_BDF2 = nx.ImplicitEuler(5e-4, bdf2=True), nx.ImplicitEuler(1e-4, bdf2=True)
CUT_IN_TWO = ("open", "rod")
"""Loops of joints restart under the ways that have all carriers."""
CLOSED = ("rod", "ring")
"""Where constraints hold that a method of index 1 keeps on, or chooses coordinates by."""
DOPRI = nx.DormandPrince(1e-9, 1e-11)
BY_PAIR = ("joint spherical", "force joint_friction", "driver joint", "event")
PAIR = "a pair is data for the loop of 'dormand-prince'; its own cells are of charts, bounds of states, rows and dense output"
SEMI, FINER_SEMI = nx.SemiImplicitEuler(2e-4), nx.SemiImplicitEuler(2e-5)
EULER, FINER_EULER = nx.ExplicitEuler(2e-4), nx.ExplicitEuler(2e-5)

WAYS: dict[str, Way] = {
    way.name: way
    for way in (
        Way("rk4", run(RK4), KINKED, finer=run(nx.RungeKutta4(2e-4))),
        Way("dormand-prince", run(DOPRI), KINKED),
        Way("bs32", run(nx.BogackiShampine32(1e-7, 1e-9)), KINKED, ("open",), alone=BY_PAIR, others=PAIR),
        Way("dop853", run(nx.DOP853(1e-9, 1e-11)), KINKED, ("open",), alone=BY_PAIR, others=PAIR),
        Way("euler", run(EULER), 0.05, finer=run(FINER_EULER)),
        Way("semi-implicit", run(SEMI), 0.05, finer=run(FINER_SEMI)),
        Way("rk4 crba", run(nx.RungeKutta4(1e-3), dynamics="crba"), KINKED, ("open",)),
        Way("rk4 cfa", run(nx.RungeKutta4(1e-3), dynamics="cfa"), KINKED, ("open",)),
        Way("rk4 baumgarte", run(nx.RungeKutta4(1e-3), loops=nx.Loops("baumgarte")), 5e-3, CLOSED),
        Way("dormand-prince baumgarte", run(DOPRI, loops=nx.Loops("baumgarte")), 5e-3, ("rod",)),
        Way(
            "semi-implicit baumgarte",
            run(SEMI, loops=nx.Loops("baumgarte")),
            0.05,
            ("rod",),
            finer=run(FINER_SEMI, loops=nx.Loops("baumgarte")),
            without={
                "event": "the stabilising terms change accelerations by some thousandths, and the event by hundredths"
            },
        ),
        Way("rk4 cut tested", cut("tested", RK4), KINKED, ("ring",), given=FREE_TO_CUT, without=HANGING),
        Way("rk4 cut closing", cut("closing", RK4), KINKED, ("ring",)),
        Way("dormand-prince cut tested", cut("tested", DOPRI), KINKED, ("ring",), given=FREE_TO_CUT, without=HANGING),
        Way("dormand-prince cut closing", cut("closing", DOPRI), KINKED, ("ring",)),
        Way("semi-implicit cut tested", cut("tested", SEMI), 0.05, ("ring",), given=FREE_TO_CUT, without=HANGING),
        Way("semi-implicit cut closing", cut("closing", SEMI), 0.05, ("ring",)),
        Way("euler cut closing", cut("closing", EULER), 0.05, ("ring",)),
        Way("hht dt", run(nx.HHT(dt=5e-4)), 0.02),
        Way("hht", run(nx.HHT(rtol=2e-5)), 0.02, finer=run(nx.HHT(rtol=2e-6))),
        Way("hht dt lu", run(nx.HHT(dt=5e-4, solver="lu")), 0.02, ("rod",)),
        Way("hht dt iterative", run(nx.HHT(dt=5e-4, solver="iterative")), 0.02, ("rod",)),
        Way("baumgarte dt", run(nx.Baumgarte(dt=1e-3)), 5e-3),
        Way("baumgarte", run(nx.Baumgarte(rtol=1e-9)), 5e-3),
        Way("projection dt", run(nx.Projection(dt=1e-3)), KINKED, finer=run(nx.Projection(dt=2e-4))),
        Way("projection", run(nx.Projection(rtol=1e-9)), KINKED),
        Way("partitioning dt", run(nx.Partitioning(dt=1e-3)), KINKED, finer=run(nx.Partitioning(dt=2e-4))),
        Way("partitioning", run(nx.Partitioning(rtol=1e-9)), KINKED),
        Way("implicit-euler", run(IMPLICIT), 0.1, finer=run(FINER)),
        Way("bdf2", run(BDF2), 0.05, finer=run(FINER_BDF2)),
        Way("lanes rk4", batch(nx.RungeKutta4(1e-3)), KINKED, finer=batch(nx.RungeKutta4(2e-4))),
        Way("lanes semi-implicit", batch(SEMI), 0.05, ("open", "rod"), finer=batch(FINER_SEMI)),
        Way("lanes hht", batch(nx.HHT(dt=5e-4)), 0.02),
        Way(
            "restart rk4",
            in_two_parts(nx.RungeKutta4(1e-3), full=True),
            KINKED,
            finer=in_two_parts(nx.RungeKutta4(2e-4), full=True),
        ),
        Way("restart dormand-prince", in_two_parts(DOPRI), KINKED, CUT_IN_TWO),
        Way("restart euler", in_two_parts(EULER), 0.05, ("open",), finer=in_two_parts(FINER_EULER)),
        Way("restart semi-implicit", in_two_parts(SEMI), 0.05, ("open",), finer=in_two_parts(FINER_SEMI)),
        Way("restart hht dt", in_two_parts(nx.HHT(dt=5e-4), full=True), 0.02),
        Way("restart hht", in_two_parts(nx.HHT(rtol=2e-5)), 0.02, CUT_IN_TWO),
        Way("restart baumgarte", in_two_parts(nx.Baumgarte(dt=1e-3)), 5e-3, CLOSED),
        Way("restart projection", in_two_parts(nx.Projection(rtol=1e-9)), KINKED, CLOSED),
        Way("restart partitioning", in_two_parts(nx.Partitioning(rtol=1e-9)), KINKED, CLOSED),
        Way("restart implicit-euler", in_two_parts(IMPLICIT), 0.1, CUT_IN_TWO, finer=in_two_parts(FINER)),
        Way("restart bdf2", in_two_parts(BDF2), 0.05, CUT_IN_TWO, finer=in_two_parts(FINER_BDF2)),
        Way("scene", from_scene, 1e-8),
        Way(
            "assemble",
            assembled,
            1e-6,
            untold=OF_THE_START,
            without={"event": "nothing happens at the start"} | UNMOVED,
        ),
        Way("side by side", batch(DOPRI, 2), KINKED),
        analysis("equilibrium", rest_stays, 1e-6, REST, without=AT_REST | UNMOVED, given=NO_SPEED),
        analysis("inverse dynamics", motion_takes_no_effort, 1e-6, {}, without=UNMOVED),
        analysis("linearize", push_answers, 1e-3, MEASURES_ALONE, without=AT_REST, given=NO_SPEED),
        analysis(
            "linearize modes",
            lowest_are_eigenvalues,
            1e-5,
            EIGENVALUES,
            without=AT_REST | UNMOVED,
            given=NO_SPEED,
        ),
        analysis("kinematics", led_as_it_runs, 1e-5, {}),
        analysis("sensitivity", attribute_counts, 1e-3, OF_THE_LAST),
    )
}

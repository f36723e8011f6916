"""The runs of the snapshot: every way to compute a motion, over small systems with every element of the package.

    CASES["four-bar / rk4 baumgarte"].run()     a Result, or a BatchResult

Runs last some 100 steps. Systems are few and small, so that they share kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import regular_problems
from matrix_elements import ELEMENTS, Element

import nexdyn as nx
from nexdyn.integrate.pairs.pair import EmbeddedPair

T_END = 0.1
"""Seconds that most runs last."""
DT = 1e-3
DAMPING = 20.0
"""α and β [1/s] of Baumgarte's stabilisation, said in every case: its default is no part of the snapshot."""
HALF = 0.5
"""Of a run's time, where it is split in two."""


@dataclass(frozen=True)
class Case:
    """A run: a system, a method and options. split: in two halves, the second from the end of the first."""

    name: str
    system: Callable[[], nx.System]
    method: Any
    t_end: float = T_END
    options: dict[str, Any] = field(default_factory=dict)
    split: bool = False

    @property
    def rtol(self) -> float | None:
        """The tolerance by which the method chooses its steps; None where they are constant."""
        adaptive = isinstance(self.method, EmbeddedPair) or getattr(self.method, "dt", 1.0) is None
        return self.method.rtol if adaptive else None

    def run(self) -> nx.Result | nx.BatchResult:
        system = self.system()
        if not self.split:
            return nx.simulate(system, self.t_end, self.method, **self.options)
        half = nx.simulate(system, HALF * self.t_end, self.method, **self.options)
        return nx.simulate(system, self.t_end, self.method, initial=half, **self.options)


FIXED: dict[str, Any] = {
    "rk4": nx.RungeKutta4(DT),
    "euler": nx.ExplicitEuler(DT),
    "semi-implicit": nx.SemiImplicitEuler(DT),
    "hht dt": nx.HHT(dt=DT),
    "implicit-euler": nx.ImplicitEuler(DT),
    "bdf2": nx.ImplicitEuler(DT, bdf2=True),
    "baumgarte dt": nx.Baumgarte(dt=DT, alpha=DAMPING, beta=DAMPING),
    "projection dt": nx.Projection(dt=DT),
    "partitioning dt": nx.Partitioning(dt=DT),
}
ADAPTIVE: dict[str, Any] = {
    "dormand-prince": nx.DormandPrince(1e-8, 1e-10),
    "hht": nx.HHT(rtol=1e-5),
    "baumgarte": nx.Baumgarte(rtol=1e-7, alpha=DAMPING, beta=DAMPING),
    "projection": nx.Projection(rtol=1e-7),
    "partitioning": nx.Partitioning(rtol=1e-7),
}
METHODS = FIXED | ADAPTIVE
PAIRS = {"pair bs32": nx.BogackiShampine32(1e-6, 1e-8), "pair dop853": nx.DOP853(1e-9, 1e-11)}
"""Further embedded pairs, which share Dormand–Prince's kernel."""
TREE = ("rk4", "euler", "semi-implicit", "dormand-prince")
ONE_OF_EACH = ("rk4", "dormand-prince", "hht dt", "hht", "projection dt", "implicit-euler")
"""A method of each formulation, with constant and with adaptive steps."""
IN_TURN = [name for name in METHODS if name not in ("rk4", "hht dt")]


def demo(name: str) -> Callable[[], nx.System]:
    return lambda: nx.load(name)


# --- systems with events --------------------------------------------------------------------------------------------


def ball(*forces: Any, events: Any = (), limits: tuple[float, float] = (0.0, 2.0)) -> nx.System:
    """A ball on a vertical guide, 20 mm above its lower limit."""
    system = nx.System("ball", gravity=(0, 0, -9.81))
    system.add_body("ball", mass=2.0, inertia=(1, 1, 1))
    system.add_joint(nx.Prismatic("slide", system.ground, "ball", axis=(0, 0, 1), q0=0.02, v0=-0.2, limits=limits))
    for force in forces:
        system.add_force(force)
    for event in events:
        system.add_event(event)
    return system


def turn_back(state: Any) -> None:
    state.velocity["slide"] = [0.5]


def push() -> nx.JointForce:
    return nx.JointForce("push", "slide", 10.0)


EVENTS: dict[str, Callable[[], nx.System]] = {
    "crossing": lambda: ball(events=[nx.Event("down", joint="slide", direction="falling")]),
    "stop": lambda: ball(events=[nx.Event("down", joint="slide", stop=True)]),
    "switch": lambda: ball(push(), events=[nx.Event("off", time=0.02, off="push"), nx.Event("on", time=0.06, on="push")]),
    "change": lambda: ball(push(), events=[nx.Event("weaker", time=0.03, parameters={"push.effort": 4.0}, once=True)]),
    "action": lambda: ball(events=[nx.Event("back", joint="slide", direction="falling", action=turn_back)]),
    "impact": lambda: ball(nx.JointStop("floor", "slide", stiffness=1e7, restitution=0.7)),
}  # fmt: skip


def sampled() -> nx.System:
    """Two links with a sampled controller, a lagging drive, dry friction and a spring that winds up."""
    system = nx.System("arm", gravity=(0, -9.81, 0))
    system.add_body("upper", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.5, 0, 0))
    system.add_body("lower", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(1.05, 0, 0))
    system.add_joint(nx.Revolute("h1", "ground", "upper", axis=(0, 0, 1), at=(0, 0, 0), damping=0.1, stiffness=2.0))
    system.add_joint(nx.Revolute("h2", "upper", "lower", axis=(0, 0, 1), at=(1, 0, 0), v0=60.0))
    system.add_force(nx.PositionActuator("servo", "h1", target=0.3, kp=40.0, ki=3.0, kd=4.0, sample_time=4 * DT))
    system.add_force(nx.TorqueActuator("drive", "h2", target=nx.Harmonic(3.0, 2.0), time_constant=0.03))
    system.add_force(nx.JointFriction("dry", "h1", sliding=0.4, static=0.5, stiffness=20.0, damping=0.1))
    system.add_force(nx.TorsionSpring("wound", "upper", "lower", stiffness=0.2))
    return system


# --- the cases ------------------------------------------------------------------------------------------------------


APART = ("parameter", "marker", "measure", "event")
"""Kinds of elements that move nothing by themselves, or have cases of their own."""


def has_cases(element: Element) -> bool:
    """Whether an element has cases: also not another form of one that has."""
    return not element.part_of and element.name.split()[0] not in APART


def _of_elements() -> Iterator[Case]:
    """Every element in minimal and absolute coordinates, and under one of the other methods in turn; its loops, too."""
    for i, element in enumerate(element for element in ELEMENTS.values() if has_cases(element)):
        for carrier in element.carriers[:2]:
            names = ("rk4", "hht dt", IN_TURN[i % len(IN_TURN)]) if carrier == element.carriers[0] else ("rk4",)
            for name in names:
                yield Case(
                    f"{element.name} {carrier} / {name}",
                    lambda e=element, c=carrier: e.system(c),  # type: ignore[misc]
                    METHODS[name],
                    T_END if name not in FIXED else 50 * DT,
                )


def _of_methods() -> Iterator[Case]:
    """Every method with its options, on a tree and on loops."""
    for name in METHODS:
        for system in ("double-pendulum", "four-bar"):
            yield Case(f"{system} / {name}", demo(system), METHODS[name])
    for name in TREE:
        for dynamics in ("crba", "cfa"):
            yield Case(
                f"hinge-chain / {name} {dynamics}",
                demo("hinge-chain"),
                METHODS[name],
                options={"dynamics": dynamics},
            )
        loops = nx.Loops("baumgarte", alpha=DAMPING, beta=DAMPING)
        yield Case(f"four-bar / {name} stabilised", demo("four-bar"), METHODS[name], options={"loops": loops})
    yield Case("four-bar / rk4 cut", demo("four-bar"), METHODS["rk4"], options={"loops": nx.Loops(cut="C")})
    yield Case("double-pendulum / hht alpha", demo("double-pendulum"), nx.HHT(dt=DT, alpha=0.0))
    yield Case("four-bar / hht lu", demo("four-bar"), nx.HHT(dt=DT, solver="lu"), 20 * DT)
    yield Case("four-bar / hht iterative", demo("four-bar"), nx.HHT(dt=DT, solver="iterative"), 20 * DT)
    yield Case(
        "double-pendulum / implicit-euler fixed", demo("double-pendulum"), nx.ImplicitEuler(DT, mu=1e3, updates=10)
    )
    for name in ("rk4", "dormand-prince", "hht dt", "hht", "implicit-euler"):
        yield Case(f"sampled / {name}", sampled, METHODS[name])


def _of_problems() -> Iterator[Case]:
    """Mechanisms of the demos and of the laws of accuracy, as their users run them."""
    for name in ("bricard", "bennett", "slider-crank", "stewart", "sarrus", "rolling-coin", "space-robot", "andrews"):
        t_end = 5e-3 if name == "andrews" else T_END
        yield Case(f"{name} / hht", demo(name), ADAPTIVE["hht"], t_end)
    for name, (make, _) in regular_problems.PROBLEMS.items():
        yield Case(f"{name} / default", make, None, 0.5 * T_END)
    for name in ("hinge-chain", "space-robot", "cart"):
        yield Case(f"{name} / dormand-prince", demo(name), ADAPTIVE["dormand-prince"])


def _of_options() -> Iterator[Case]:
    """Outputs, batches, runs that go on, events."""
    times = np.linspace(0.0, T_END, 8)[1:-1]
    for name in ONE_OF_EACH:
        if name in ADAPTIVE:
            yield Case(
                f"double-pendulum / {name} at times",
                demo("double-pendulum"),
                METHODS[name],
                options={"output_times": times},
            )
        yield Case(
            f"double-pendulum / {name} every seventh",
            demo("double-pendulum"),
            METHODS[name],
            options={"output_every": 7},
        )
        for system in ("double-pendulum", "four-bar"):
            yield Case(f"{system} / {name} in two parts", demo(system), METHODS[name], split=True)
        heavier = {"parameters": {"gravity": np.outer(np.linspace(0.5, 1.5, 9), (0.0, -9.81, 0.0))}}
        members = {"batch": heavier} | ({"output_times": times[:1]} if name in ADAPTIVE else {})
        yield Case(f"double-pendulum / {name} batch", demo("double-pendulum"), METHODS[name], 20 * DT, members)
    for name, pair in PAIRS.items():
        for system in ("double-pendulum", "four-bar"):
            yield Case(f"{system} / {name}", demo(system), pair)
        yield Case(f"double-pendulum / {name} at times", demo("double-pendulum"), pair, options={"output_times": times})
    for name in ("rk4", "hht dt"):
        yield Case(f"four-bar / {name} batch", demo("four-bar"), METHODS[name], 20 * DT, {"batch": heavier})
    for name in ("rk4", "dormand-prince", "hht dt", "implicit-euler"):
        for event, make in EVENTS.items():
            yield Case(f"event {event} / {name}", make, METHODS[name])


CASES: dict[str, Case] = {
    case.name: case for part in (_of_elements, _of_methods, _of_problems, _of_options) for case in part()
}
assert len(CASES) == sum(1 for part in (_of_elements, _of_methods, _of_problems, _of_options) for _ in part())
assert math.isclose(HALF * T_END / DT, round(HALF * T_END / DT)), "halves end on a step"
IN_CI = [
    *(f"{system} / {name}" for name in ("rk4", "dormand-prince", "hht dt", "hht") for system in ("double-pendulum", "four-bar")),
    *(f"double-pendulum / {name} {way}" for name in ("rk4", "hht dt") for way in ("every seventh", "in two parts", "batch")),
    *(f"event {event} / {name}" for name in ("rk4", "hht dt") for event in EVENTS),
    "double-pendulum / implicit-euler",
    "double-pendulum / projection dt",
]  # fmt: skip
"""Those that run with the tests: kernels that most other tests use, too."""

"""Orders of the methods of constant step, and slopes of the adaptive ones, measured on ten problems: `scripts/orders` prints the table.

order   log₂ e(dt)/e(dt/2),            e the largest error of a body's place at the end, in lengths of the mechanism and rad,
slope   of log e over log rtol,         against DormandPrince(rtol=1e-13)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mechanisms
import numpy as np
import regular_problems

import nexdyn as nx

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "orders.md"
G = (0.0, 0.0, -9.81)


def thin_rod() -> nx.System:
    """A rod without inertia about its own axis, on a ball joint."""
    system = nx.System("thin rod", gravity=G)
    rod = system.add_body("rod", mass=1.0, inertia=(1 / 12, 1 / 12, 0.0), position=(0, 0, -0.5))
    system.add_joint(
        nx.Universal(
            "ball", "ground", rod, at=(0, 0, 0), axis=(1, 0, 0), reference=(0, 1, 0), q0=(0.6, 0.2), v0=(0.0, 2.0)
        )
    )
    return system


def stiff() -> nx.System:
    """A pendulum whose hinge is a bushing of 1e5 N/m."""
    system = nx.System("stiff", gravity=G)
    bob = system.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Planar("plane", "ground", bob, at=(0.5, 0, 0), axis=(0, 1, 0)))
    system.add_force(
        nx.PointSpring(
            "stay", "ground", bob, at_a=(0, 0, 0), anchor_b=(0, 0, 0), stiffness=3e3, damping=60.0, length=0.5
        )
    )
    return system


def lagging() -> nx.System:
    """An arm that a motor with a lag of 50 ms drives to a target."""
    system = nx.System("lagging", gravity=G)
    arm = system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.3, 0, 0))
    system.add_joint(nx.Revolute("axle", "ground", arm, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_force(nx.PositionActuator("motor", "axle", target=0.5, kp=40.0, kd=4.0, time_constant=0.05))
    return system


class Problem(NamedTuple):
    """A mechanism, the time that it runs [s], and a step with which methods of order 2 and 4 are in their order."""

    what: str
    make: Callable[[], nx.System]
    t_end: float
    dt: float


PROBLEMS = {
    "pendulum": Problem("smooth", regular_problems.pendulum, 0.5, 1 / 128),
    "small double pendulum": Problem("smooth, two bodies", regular_problems.small_double_pendulum, 0.5, 1 / 128),
    "plate": Problem("spins and wobbles", regular_problems.plate, 0.5, 1 / 64),
    "spherical pendulum": Problem("in space", regular_problems.spherical_pendulum, 0.5, 1 / 128),
    "cart-pole": Problem("slides and turns", regular_problems.cart_pole, 0.5, 1 / 128),
    "four-bar": Problem("a loop, redundant in the plane", lambda: nx.load("four-bar"), 0.5, 1 / 128),
    "Hooke joint": Problem("a loop in space, redundant", lambda: mechanisms.hooke(0.7, 2), 0.5, 1 / 128),
    "carousel": Problem("a driver", regular_problems.carousel, 0.5, 1 / 128),
    "thin rod": Problem("no inertia about an axis", thin_rod, 0.5, 1 / 128),
    "stiff stay": Problem("a stiff spring", stiff, 0.25, 1 / 1024),
    "lagging motor": Problem("a force with states", lagging, 0.5, 1 / 128),
}
FIXED: dict[str, tuple[float, Callable[[float], dict[str, Any]]]] = {
    "RungeKutta4": (4.0, lambda dt: {"method": nx.RungeKutta4(dt)}),
    "RungeKutta4, Baumgarte": (4.0, lambda dt: {"method": nx.RungeKutta4(dt), "loops": nx.Loops("baumgarte")}),
    "SemiImplicitEuler": (1.0, lambda dt: {"method": nx.SemiImplicitEuler(dt / 8)}),
    "ExplicitEuler": (1.0, lambda dt: {"method": nx.ExplicitEuler(dt / 8)}),
    "HHT": (2.0, lambda dt: {"method": nx.HHT(dt=dt)}),
    "Baumgarte": (4.0, lambda dt: {"method": nx.Baumgarte(dt)}),
    "Projection": (4.0, lambda dt: {"method": nx.Projection(dt)}),
    "Partitioning": (4.0, lambda dt: {"method": nx.Partitioning(dt)}),
    "ImplicitEuler": (1.0, lambda dt: {"method": nx.ImplicitEuler(dt / 8)}),
    "ImplicitEuler, bdf2": (2.0, lambda dt: {"method": nx.ImplicitEuler(dt, bdf2=True)}),
}
"""Of each method of constant step its order, and how it is run."""
ADAPTIVE: dict[str, Callable[[float], dict[str, Any]]] = {
    "DormandPrince": lambda r: {"method": nx.DormandPrince(rtol=r, atol=r)},
    "HHT": lambda r: {"method": nx.HHT(rtol=r)},
    "Projection": lambda r: {"method": nx.Projection(rtol=r, atol=r)},
    "Baumgarte": lambda r: {"method": nx.Baumgarte(rtol=r, atol=r)},
    "Partitioning": lambda r: {"method": nx.Partitioning(rtol=r, atol=r)},
}
RTOLS = {"HHT": np.logspace(-4, -7, 4)}
"""At which the slope is measured; of the others from 1e-5 to 1e-9."""
LONGER = 4
"""So much longer runs tell the slope: with few steps the last, which the end cuts short, decides."""


def place(problem: Problem, **how: Any) -> tuple[np.ndarray, np.ndarray]:
    """Positions (nb, 3) and rotations (nb, 3, 3) at the end."""
    result = nx.simulate(problem.make(), problem.t_end, output_every=10**9, **how)
    return result.position().values[-1], result.rotation().values[-1]


def apart(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> float:
    return float(max(np.abs(a[0] - b[0]).max(), np.abs(a[1] - b[1]).max()))


@functools.cache
def exact(name: str, longer: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Of a run with a tolerance of 1e-13 in minimal coordinates."""
    problem = PROBLEMS[name]
    return place(problem._replace(t_end=longer * problem.t_end), method=nx.DormandPrince(rtol=1e-13, atol=1e-15))


def order(name: str, method: str) -> tuple[float, float]:
    """The order measured, and the error of the shorter step."""
    problem, how = PROBLEMS[name], FIXED[method][1]
    errors = [apart(place(problem, **how(problem.dt / k)), exact(name)) for k in (1, 2)]
    return math.log2(errors[0] / errors[1]), errors[1]


def slope(name: str, method: str) -> tuple[float, float]:
    """The slope measured, by a line through the errors at tolerances a decade apart, and the error at the tightest."""
    rtols = RTOLS.get(method, np.logspace(-5, -9, 5))
    longer = PROBLEMS[name]._replace(t_end=LONGER * PROBLEMS[name].t_end)
    errors = [apart(place(longer, **ADAPTIVE[method](float(r))), exact(name, LONGER)) for r in rtols]
    return float(np.polyfit(np.log(rtols), np.log(errors), 1)[0]), errors[-1]


def page() -> str:
    """The page of the docs, measured anew."""
    orders = {method: {name: order(name, method) for name in PROBLEMS} for method in FIXED}
    slopes = {method: {name: slope(name, method) for name in PROBLEMS} for method in ADAPTIVE}
    problems = "\n".join(f"| {name} | {problem.what} |" for name, problem in PROBLEMS.items())
    return f"""# Orders and tolerances

What a method promises is its order: halve the step, and the error of RK4 falls sixteenfold. Here it is measured on every
problem under every method, in the last place of all bodies, against a run of `DormandPrince` at a tolerance of 1e-13.
`scripts/orders --write` measures anew and writes this page; `tests/test_orders.py` holds orders to 0.15 and slopes to 0.8.

| problem | |
|---|---|
{problems}

## Constant steps

The order measured, and in parentheses the error at the shorter step: {1e3 / 256:.0f} ms; {1e3 / 2048:.1f} ms for the stiff stay and 8 ms
for the plate; an eighth of it for methods of order 1.

{_table(orders)}

## Adaptive steps

The slope of the error over the tolerance (1: a tenth of the tolerance, a tenth of the error), from 1e-5 to 1e-9, of HHT from
1e-4 to 1e-7, over {LONGER} times the time; in parentheses the error at the tightest.

{_table(slopes)}
"""


def _table(found: dict[str, dict[str, tuple[float, float]]]) -> str:
    head = f"| | {' | '.join(found)} |\n|---|{'---|' * len(found)}"
    rows = [
        f"| {name} | {' | '.join(f'{x:.2f} ({e:.0e})' for x, e in (column[name] for column in found.values()))} |"
        for name in PROBLEMS
    ]
    return "\n".join([head, *rows])

"""Orders of the methods of constant step, and slopes of the adaptive ones, measured on ten problems: `scripts/orders` prints the table.

order   log₂ e(dt)/e(dt/2),            e the largest error of a body's place at the end [m or rad],
slope   of log e over log rtol,        e the largest such error at ten times, and that of a reaction as a part of the largest,
                                       against DOP853(rtol=1e-14)
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
    """A pendulum on a spring of 3e3 N/m, 1.4 rad/s against 55 rad/s."""
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
    "BogackiShampine32": lambda r: {"method": nx.BogackiShampine32(rtol=r, atol=r)},
    "DOP853": lambda r: {"method": nx.DOP853(rtol=r, atol=r)},
    "HHT": lambda r: {"method": nx.HHT(rtol=r)},
    "Projection": lambda r: {"method": nx.Projection(rtol=r, atol=r)},
    "Baumgarte": lambda r: {"method": nx.Baumgarte(rtol=r, atol=r)},
    "Partitioning": lambda r: {"method": nx.Partitioning(rtol=r, atol=r)},
}
RTOLS = {
    "HHT": np.logspace(-4, -8, 5),
    "BogackiShampine32": np.logspace(-6, -10, 5),
    "DOP853": np.logspace(-7, -11, 5),
}
"""At which the slope is measured, over four decades; of the others from 1e-5 to 1e-9."""
EARLIER = {("stiff stay", "DOP853"): np.logspace(-5, -9, 5)}
"""Where rounding decides below: the error is 1e-13 at 1e-10."""
MINIMAL = ("DormandPrince", "BogackiShampine32", "DOP853")
"""Those in minimal coordinates."""
LONGER, LONGER_STILL = 4, {"DOP853": 16}
"""So much longer runs tell the slope: with few steps the last, which the end cuts short, decides. Those of DOP853 are long."""
TIMES = 10
"""At which errors are looked at there: that of one time may pass through zero as the tolerance falls."""
NO_REACTIONS = ("plate", "stiff stay")
"""Whose joints are free where something acts."""
NOT_UNIQUE = "Hooke joint"
"""Reactions in redundant rows of a loop in space depend on which rows are kept; in minimal coordinates they are of least norm."""
BAND = (0.85, 1.15)
"""Of slopes, but for …"""
STEEPER: dict[tuple[str, str], float] = {
    ("four-bar", method): 1.5 for method in ("DormandPrince", "DOP853", "Projection", "Baumgarte")
}
"""… those of a mechanism that falls from rest next to an unstable pose, which magnifies the errors of its first, slow steps:
those of the loosest tolerance are a few long ones. From 1e-6 to 1e-10 the slopes are 1.10, 1.13 and 1.22."""


def place(problem: Problem, **how: Any) -> tuple[np.ndarray, np.ndarray]:
    """Positions (nb, 3) and rotations (nb, 3, 3) at the end."""
    result = nx.simulate(problem.make(), problem.t_end, output_every=10**9, **how)
    return result.position().values[-1], result.rotation().values[-1]


def apart(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> float:
    return float(max(np.abs(a[0] - b[0]).max(), np.abs(a[1] - b[1]).max()))


@functools.cache
def exact(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Of a run with a tolerance of 1e-13 in minimal coordinates."""
    return place(PROBLEMS[name], method=nx.DormandPrince(rtol=1e-13, atol=1e-15))


def order(name: str, method: str) -> tuple[float, float]:
    """The order measured, and the error of the shorter step."""
    problem, how = PROBLEMS[name], FIXED[method][1]
    errors = [apart(place(problem, **how(problem.dt / k)), exact(name)) for k in (1, 2)]
    return math.log2(errors[0] / errors[1]), errors[1]


class Seen(NamedTuple):
    """At `TIMES` times: positions (n, nb, 3), rotations (n, nb, 3, 3), and reactions (n, nj, 6)."""

    p: np.ndarray
    R: np.ndarray
    reactions: np.ndarray


def seen(name: str, longer: int, **how: Any) -> Seen:
    """What a run so many times as long shows."""
    problem = PROBLEMS[name]
    system, t_end = problem.make(), longer * problem.t_end
    times = [t_end * k / TIMES for k in range(1, TIMES + 1)]
    result = nx.simulate(system, t_end, output_times=times, **how)
    reactions = np.stack([result.reaction(joint).values for joint in system.joints], axis=1)
    return Seen(*(x[-TIMES:] for x in (result.position().values, result.rotation().values, reactions)))


@functools.cache
def exactly(name: str, longer: int) -> Seen:
    return seen(name, longer, method=nx.DOP853(rtol=1e-14, atol=1e-16))


class Slopes(NamedTuple):
    """The slope of places and that of reactions (NaN where there are none), each by a line through the errors at tolerances a
    decade apart, with the error at the tightest."""

    place: float
    error: float
    reaction: float
    reaction_error: float


@functools.cache
def slopes(name: str, method: str) -> Slopes:
    rtols = EARLIER.get((name, method), RTOLS.get(method, np.logspace(-5, -9, 5)))
    longer = LONGER_STILL.get(method, LONGER)
    exact, runs = exactly(name, longer), [seen(name, longer, **ADAPTIVE[method](float(r))) for r in rtols]
    places = [apart((run.p, run.R), (exact.p, exact.R)) for run in runs]
    of_place = float(np.polyfit(np.log(rtols), np.log(places), 1)[0])
    if name in NO_REACTIONS or (name == NOT_UNIQUE and method not in MINIMAL):
        return Slopes(of_place, places[-1], math.nan, math.nan)
    largest = np.abs(exact.reactions).max()
    reactions = [float(np.abs(run.reactions - exact.reactions).max() / largest) for run in runs]
    of_reaction = float(np.polyfit(np.log(rtols), np.log(reactions), 1)[0])
    return Slopes(of_place, places[-1], of_reaction, reactions[-1])


def page() -> str:
    """The page of the docs, measured anew."""
    orders = {method: {name: order(name, method) for name in PROBLEMS} for method in FIXED}
    found = {method: {name: slopes(name, method) for name in PROBLEMS} for method in ADAPTIVE}
    places = {method: {name: one[:2] for name, one in column.items()} for method, column in found.items()}
    reactions = {method: {name: one[2:] for name, one in column.items()} for method, column in found.items()}
    problems = "\n".join(f"| {name} | {problem.what} |" for name, problem in PROBLEMS.items())
    return f"""# Orders and tolerances

What a method promises is its order: halve the step, and the error of RK4 falls sixteenfold. Here it is measured on every
problem under every method, in the last place of all bodies, against a run of `DormandPrince` at a tolerance of 1e-13, or of
`DOP853` at 1e-14.
`scripts/orders --write` measures anew and writes this page; `tests/test_orders.py` holds orders to 0.15 and slopes to
{BAND[0]} … {BAND[1]}.

| problem | |
|---|---|
{problems}

## Constant steps

The order measured, and in parentheses the error at the shorter step: {1e3 / 256:.0f} ms; {1e3 / 2048:.1f} ms for the stiff stay and 8 ms
for the plate; an eighth of it for methods of order 1.

{_table(orders)}

## Adaptive steps

The slope of the error over the tolerance (1: a tenth of the tolerance, a tenth of the error), from 1e-5 to 1e-9, of HHT
from 1e-4 to 1e-8, of BogackiShampine32 from 1e-6 to 1e-10, of DOP853 from 1e-7 to 1e-11 (of the stiff stay from 1e-5), over {LONGER}
times the time, of DOP853 over {LONGER_STILL["DOP853"]} times; in parentheses the error at the tightest. The error is the largest at {TIMES}
times.

{_table(places)}

The four-bar falls from rest next to an unstable pose, which magnifies the errors of its first, slow steps, and those of 1e-5 are
few and long: its slopes are above 1.

The same of reactions: the largest error of a component at those times, as a part of the largest reaction.

{_table(reactions)}

Plate and stiff stay have none. Those of redundant constraints of the Hooke joint depend, in absolute coordinates, on which
constraint equations are kept, and change with them; in minimal coordinates they are of least norm.
"""


def _table(found: dict[str, dict[str, tuple[float, float]]]) -> str:
    head = f"| | {' | '.join(found)} |\n|---|{'---|' * len(found)}"
    rows = [
        f"| {name} | {' | '.join('' if math.isnan(x) else f'{x:.2f} ({e:.0e})' for x, e in (c[name] for c in found.values()))} |"
        for name in PROBLEMS
        if not all(math.isnan(column[name][0]) for column in found.values())
    ]
    return "\n".join([head, *rows])


Told = dict[tuple[str, str], tuple[float, float]]
"""(problem, method) → a slope and an error."""


@functools.cache
def printed() -> tuple[Told, Told, Told]:
    """What the page says of constant steps, of adaptive ones, and of reactions under these."""
    tables: list[Told] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| |"):
            tables.append({})
            methods = cells[1:]
        elif tables and cells[0] in PROBLEMS:
            for method, cell in zip(methods, cells[1:], strict=True):
                if cell:
                    slope, error = cell.rstrip(")").split(" (")
                    tables[-1][cells[0], method] = (float(slope), float(error))
    orders, places, reactions = (table for table in tables if table)
    return orders, places, reactions


def unlike(name: str, told: Told, found: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """Methods of which the page says another slope, by 0.03, or another error, by half, than was found: what rounding of other
    machines and the digits that are printed leave."""
    printed = {method: one for (problem, method), one in told.items() if problem == name}
    assert set(printed) == {method for method, one in found.items() if not math.isnan(one[0])}
    return {
        method: (one, found[method])
        for method, one in printed.items()
        if abs(one[0] - found[method][0]) > 0.03 or not 0.5 < one[1] / found[method][1] < 1.5
    }

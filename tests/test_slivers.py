"""A run that ends next to no time behind a step is as exact as at the step: velocities, accelerations and reactions are no rounding.

What differences over the last step tell is wrong by the rounding of a position, divided by that step and by its square.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest
from matrix_elements import ELEMENTS
from matrix_observed import everything

import nexdyn as nx

DT, STEPS = 1e-3, 50
SLIVERS = (2e-12, 1e-10, 1e-8, 8e-7)
"""How much later a run ends [s]."""
FIXED: dict[str, Callable[[], nx.Method]] = {
    "rk4": lambda: nx.RungeKutta4(DT),
    "semi-implicit": lambda: nx.SemiImplicitEuler(DT),
    "hht": lambda: nx.HHT(dt=DT),
    "baumgarte": lambda: nx.Baumgarte(DT),
    "projection": lambda: nx.Projection(DT),
    "partitioning": lambda: nx.Partitioning(DT),
    "implicit-euler": lambda: nx.ImplicitEuler(DT),
    "bdf2": lambda: nx.ImplicitEuler(DT, bdf2=True),
}
FACTOR, LEAST = 2.0, 1e-6
"""How much more an end may be wrong than that at the step, and what counts for nothing."""


def ends(result: nx.Result) -> dict[str, np.ndarray]:
    return {group: x[-1] for group, x in everything(result).items()}


@functools.cache
def true_end(name: str, late: float) -> dict[str, np.ndarray]:
    return ends(nx.simulate(nx.load(name), STEPS * DT + late, nx.DormandPrince(1e-11, 1e-12)))


def misses(name: str, way: str, late: float, *times: float) -> dict[str, float]:
    """Of each group the largest difference at the end, as part of its size."""
    options = {"output_times": [*times, STEPS * DT + late]} if times else {}
    found = ends(nx.simulate(nx.load(name), STEPS * DT + late, FIXED[way](), **options))
    true = true_end(name, late)
    return {group: float(np.abs(found[group] - x).max() / max(1.0, np.abs(x).max())) for group, x in true.items()}


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "stewart"])
@pytest.mark.parametrize("way", FIXED)
def test_what_a_run_tells_behind_a_step_is_as_exact_as_at_it(way: str, name: str) -> None:
    at_step = misses(name, way, 0.0)
    for late in SLIVERS:
        for times in ((), (0.02 + late,)):
            for group, miss in misses(name, way, late, *times).items():
                assert miss <= FACTOR * max(at_step.values()) + LEAST, (group, late, times)


@pytest.mark.parametrize("way", FIXED)
def test_so_is_what_follows_an_event_between_steps(way: str) -> None:
    """As one at a step: there BDF2 begins again."""
    true, allowed = true_end("double-pendulum", 0.0), 0.0
    for late in (0.0, 3e-11, 3e-9, 3e-7):
        system = nx.load("double-pendulum")
        system.parameter("unused", 1.0)
        system.add_event(nx.Event("look", time=0.02 - late, parameters={"unused": 2.0}))
        found = ends(nx.simulate(system, STEPS * DT, FIXED[way]()))
        miss = {group: float(np.abs(found[group] - x).max() / max(1.0, np.abs(x).max())) for group, x in true.items()}
        allowed = allowed or FACTOR * max(miss.values()) + LEAST
        assert max(miss.values()) <= allowed, (late, miss)


@pytest.mark.parametrize("part", [0.01, 0.4])
@pytest.mark.parametrize("way", ["hht", "bdf2"])
def test_ends_between_steps_are_of_the_order_of_the_method(way: str, part: float) -> None:
    """Velocities and accelerations, too: of BDF2 a step of another length is one of implicit Euler."""
    found = []
    for dt in (2e-3, 1e-3, 5e-4):
        method = nx.HHT(dt=dt) if way == "hht" else nx.ImplicitEuler(dt, bdf2=True)
        t_end = (round(0.05 / dt) + part) * dt
        true = ends(nx.simulate(nx.load("double-pendulum"), t_end, nx.DormandPrince(1e-11, 1e-12)))
        at_end = ends(nx.simulate(nx.load("double-pendulum"), t_end, method))
        found.append({x: float(np.abs(at_end[x] - true[x]).max()) for x in ("pose", "velocity", "acceleration")})
    for x, coarse in found[0].items():
        assert coarse / found[2][x] > 2.0 ** (2 * 1.7), (x, found)


@pytest.mark.parametrize("carrier", ["open", "rod", "ring"])
@pytest.mark.parametrize("way", FIXED)
def test_an_event_is_found_at_one_time_by_any_tolerance(way: str, carrier: str) -> None:
    """It is closed in on by steps that are as short as its tolerance."""
    times = []
    for tolerance in (1e-9, 1e-11, 1e-12, 1e-13):
        system = ELEMENTS["event"].system(carrier, {"tolerance": tolerance})
        times.append(float(nx.simulate(system, 0.01, FIXED[way]()).events[-1]["time"]))
    assert 0.004 < min(times) and max(times) - min(times) < 1e-9, times

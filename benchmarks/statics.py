"""Large statics: where chains of thin rods rest, and their lowest modes, by sparse matrices.

A rope of 10 m of n rods on hinges, 1 kg/m. `nx.equilibrium` starts with it straight, 33° from the vertical; `nx.linearize(modes=6)`
where it hangs, whose modes tend to ω = ½ z √(g/L), z the zeros of J₀, with 1/n². And a garland between two pivots, closed by its last
pin, from a parabola. Time on the processor, without description and compiling; a rod of the
largest beside the smallest.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import jn_zeros

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, clock

G, LENGTH, MODES = 9.81, 10.0, 6
SIZES, SMOKE_SIZES = (500, 2_000, 8_000), (120, 160)
MOST = 2.5
"""Time a body and step at the largest size over that at the smallest."""


def run(effort: Effort) -> Report:
    report = Report("statics", "nx.equilibrium and the lowest modes by nx.linearize of large systems")
    sizes = SMOKE_SIZES if effort.smoke else SIZES
    nx.equilibrium(rope(SMOKE_SIZES[0], 33.0), modes=MODES)  # compiles what is to compile
    nx.linearize(rope(SMOKE_SIZES[0], 0.0), modes=MODES)
    each, steps = [], []
    for n in sizes:
        system = rope(n, 33.0)
        began = clock()
        found = nx.equilibrium(system, modes=MODES)
        took = clock() - began
        steps.append(found.iterations)
        each.append(took / n / max(1, found.iterations) * 1e3)
        x = found.position(f"rod{n - 1}")
        if not np.hypot(x[0], x[1] + LENGTH * (1.0 - 0.5 / n)) < 1e-6:
            raise RuntimeError(f"a rope of {n} rods was said to rest with its last rod at {x}")
    told = f"{sizes[0]:,} to {sizes[-1]:,}"
    ratio = each[-1] / each[0]
    report.rows.append(
        Row(
            f"rest of ropes of {told} rods, a rod and step",
            "ms",
            each,
            ratio=ratio,
            target=f"≤ {MOST}×",
            met=ratio <= MOST,
        )
    )
    each = []
    for n in sizes:
        system = rope(n, 0.0)
        began = clock()
        modes = nx.linearize(system, modes=MODES)
        each.append((clock() - began) / n * 1e3)
        exact = 0.5 * jn_zeros(0, MODES) * math.sqrt(G / LENGTH)
        off = np.abs(np.sort(np.abs(modes.eigenvalues.imag)) / exact - 1.0).max()
        if not off < 50.0 / n**2:
            raise RuntimeError(f"the modes of a rope of {n} rods miss those of the rope by {off:.1e}")
    ratio = each[-1] / each[0]
    report.rows.append(
        Row(
            f"{MODES} lowest modes of ropes of {told} rods, a rod",
            "ms",
            each,
            ratio=ratio,
            target=f"≤ {MOST}×",
            met=ratio <= MOST,
        )
    )
    n = sizes[0]
    system = garland(n)
    began = clock()
    found = nx.equilibrium(system, modes=MODES)
    report.rows.append(Row(f"rest of a garland of {n:,} rods, {found.iterations} steps", "s", clock() - began))
    report.notes.append(
        f"Steps to rest from 33°: {', '.join(map(str, steps))}. The modes were compared with those of the rope."
    )
    return report


def rope(n: int, degrees: float) -> nx.System:
    system = nx.System("rope", gravity=(0, -G, 0))
    parent, l = system.ground, LENGTH / n
    along = np.array([math.sin(math.radians(degrees)), -math.cos(math.radians(degrees)), 0.0])
    for i in range(n):
        rod = system.add_body(f"rod{i}", mass=l, inertia=(l**3 / 12,) * 3, position=(i + 0.5) * l * along)
        system.add_joint(nx.Revolute(f"pin{i}", parent, rod, at=i * l * along, axis=(0, 0, 1)))
        parent = rod
    return system


def garland(n: int) -> nx.System:
    """n rods between two pivots 8 m apart, described along a parabola with a sag of 2 m; 1 kg/m."""
    system = nx.System("garland", gravity=(0, -G, 0))
    x = np.linspace(0.0, 1.0, n + 1)
    points = np.stack([8.0 * x, -8.0 * x * (1.0 - x), 0.0 * x], axis=1)
    parent = system.ground
    for i in range(n):
        l = float(np.linalg.norm(points[i + 1] - points[i]))
        rod = system.add_body(f"rod{i}", mass=l, inertia=(l**3 / 12,) * 3, position=(points[i] + points[i + 1]) / 2)
        system.add_joint(nx.Revolute(f"pin{i}", parent, rod, at=points[i], axis=(0, 0, 1)))
        parent = rod
    system.add_joint(nx.Revolute(f"pin{n}", system.ground, parent, at=points[n], axis=(0, 0, 1)))
    return system

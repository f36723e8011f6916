"""How long `nx.assemble` takes, all four analyses, from the description to the reactions.

Mechanisms: a planar four-bar; a chain, of 10³ to 10⁵ bodies, whose time a body must not grow; 10⁴ bodies, most of them in a chain,
with a hundred four-bars beside it; and 10⁴ in a random walk that is closed by a hundred chords with ball joints, one block.
Time on the processor, with the kernels warm.
"""

from __future__ import annotations

import statistics

import numpy as np

import nexdyn as nx
from benchmarks.measure import Effort, Report, Row, alternate, clock

SIZES = (1_000, 10_000, 100_000)
SMOKE_SIZES = (100, 200)
MOST = 2.5
"""Time a body at the largest size over that at the smallest."""


def run(effort: Effort) -> Report:
    report = Report("assembly", "nx.assemble: redundancy, configuration, velocity, acceleration, reactions")
    four_bar = with_four_bars(3, 1)
    once = alternate({"four-bar": lambda repeat: [nx.assemble(four_bar) for _ in range(repeat)]}, effort)["four-bar"]
    median = statistics.median(once) * 1e3
    report.rows.append(Row("four-bar", "ms", median, target="≤ 5 ms", met=median <= 5.0))
    sizes = SMOKE_SIZES if effort.smoke else SIZES
    each = [seconds(chain(n)) / n * 1e6 for n in sizes]
    ratio = each[-1] / each[0]
    report.rows.append(
        Row(
            f"chain of {sizes[0]:,} to {sizes[-1]:,}, a body",
            "µs",
            each,
            ratio=ratio,
            target=f"≤ {MOST}×",
            met=ratio <= MOST,
        )
    )
    bodies, few = (200, 3) if effort.smoke else (10_000, 100)
    for what, system in (
        (f"{bodies:,} bodies, {few} four-bars", with_four_bars(bodies, few)),
        (f"{bodies:,} bodies, {few} chords in one block", with_chords(bodies, few)),
    ):
        took = seconds(system)
        report.rows.append(Row(what, "s", took, target="≤ 10 s", met=took <= 10.0))
    report.notes.append("Large systems are assembled once to warm up and once to be measured.")
    return report


def seconds(system: nx.System) -> float:
    nx.assemble(system)
    began = clock()
    nx.assemble(system)
    return clock() - began


def chain(n: int) -> nx.System:
    system = nx.System("chain")
    previous = system.ground
    for i in range(n):
        link = system.add_body(f"link{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i + 0.5, 0, 0))
        system.add_joint(nx.Revolute(f"hinge{i}", previous, link, at=(i, 0, 0), axis=(0, 1, 0)))
        previous = link
    return system


def with_four_bars(n: int, count: int) -> nx.System:
    system = chain(n - 3 * count)
    for k in range(count):
        points = np.array([(0, 0, 10.0 * k), (0, 1, 10.0 * k), (1.5, 1.4, 10.0 * k), (2, 0, 10.0 * k)])
        bars = [
            system.add_body(f"bar{k}.{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(points[i] + points[i + 1]) / 2)
            for i in range(3)
        ]
        sides = [(system.ground, bars[0]), (bars[0], bars[1]), (bars[1], bars[2]), (system.ground, bars[2])]
        for i, (parent, child) in enumerate(sides):
            system.add_joint(nx.Revolute(f"pin{k}.{i}", parent, child, at=points[i], axis=(0, 0, 1)))
    return system


def with_chords(n: int, count: int) -> nx.System:
    rng = np.random.default_rng(1)
    system = nx.System("random walk")
    points = np.cumsum(rng.normal(size=(n + 1, 3)), axis=0)
    previous = system.ground
    for i in range(n):
        link = system.add_body(f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(points[i] + points[i + 1]) / 2)
        system.add_joint(nx.Revolute(f"j{i}", previous, link, at=points[i], axis=rng.normal(size=3)))
        previous = link
    for k in range(count):
        a, b = sorted(rng.choice(n, 2, replace=False))
        system.add_joint(nx.Spherical(f"chord{k}", f"b{a}", f"b{b}", at=(points[a] + points[b]) / 2))
    return system

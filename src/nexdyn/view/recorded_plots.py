"""What a recording plots: the panels of every kind and name that the menus of its page offer, as those of the live page do (plotting.py).

A curve is told by where it lies among the numbers of the file (numbers.py), so that what is plotted and told is kept once. What is at
other times than these, the difference from a ghost, brings its own.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import NexDynError
from nexdyn.view.charts import Panel, one_by_one, panels
from nexdyn.view.ghost import differences
from nexdyn.view.motion import Motion
from nexdyn.view.numbers import MANY, Numbers
from nexdyn.view.panels import COLORS, telling
from nexdyn.view.plot_words import in_words
from nexdyn.view.plotting import ALL, MOST_NAMES, OF_SELECTED, PLOTTED

if TYPE_CHECKING:
    from nexdyn.results.result import Result
    from nexdyn.view.words import Words

KEPT = ("joint_position", "joint_velocity", "reaction", "measures")
"""Kinds of which all is plotted at first, beside the energies."""


def recorded_plots(motion: Motion, ghost: Motion | None, words: Words, numbers: Numbers) -> dict[str, Any]:
    """What the page is told: `first`, the plots that always stand there; `kinds` of the menu, each with its word and its panels by name, ""
    those of all; `kept` at first; what *Plot it* plots of a body or joint.

    A panel is its title, the labels of its axes, and its curves: label, first number, and how far it is from sample to sample.
    """
    result = motion.result if motion.moves else None
    kinds: dict[str, Any] = {}
    first: list[dict[str, Any]] = []

    def told(panel: Panel) -> dict[str, Any]:
        panel = in_words(panel, words)
        curves = [[line.label, *numbers.curve(line.y)] for line in panel.lines]
        return {"title": panel.title, "x": panel.x, "y": panel.y, "curves": curves}

    if result is not None:
        first += [told(panel) for panel in _quietly(result, "energy")]
        for kind in PLOTTED:
            found = {"": _quietly(result, kind), **_named(result, kind, len(motion.bodies) <= MANY)}
            if of := {name: [told(panel) for panel in each] for name, each in found.items() if each}:
                kinds[kind] = [words(kind), of]
    if ghost is not None and (apart := differences(motion, ghost)) is not None:
        first.append(_with_times(in_words(apart, words)))
    return {
        "first": first, "kinds": kinds, "kept": [[kind, ""] for kind in KEPT if kind in kinds], "colors": list(COLORS), "all": words(ALL),
        "selected": OF_SELECTED,
    }  # fmt: skip


def _quietly(result: Result, kind: str) -> list[Panel]:
    try:
        return panels(result, [kind])
    except NexDynError:  # nothing of this kind
        return []


def _named(result: Result, kind: str, all_of_it: bool) -> dict[str, list[Panel]]:
    """By name; of very many bodies the positions alone, which are among the numbers anyway."""
    found: dict[str, list[Panel]] = {}
    with contextlib.suppress(NexDynError):
        found = one_by_one(result, kind) if all_of_it or kind == "position" else {}
    return dict(list(found.items())[:MOST_NAMES])


def _with_times(panel: Panel) -> dict[str, Any]:
    rows = telling(np.column_stack([line.y for line in panel.lines]))
    curves = [[line.label, _short(line.y[rows])] for line in panel.lines]
    return {"title": panel.title, "x": panel.x, "y": panel.y, "t": panel.lines[0].x[rows].tolist(), "curves": curves}


def _short(values: np.ndarray) -> list[float | None]:
    """Numbers of seven digits; null for what is none."""
    return [float(f"{x:.7g}") if math.isfinite(x) else None for x in values.tolist()]

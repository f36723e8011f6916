"""The members of a sweep: which values every parameter takes.

    grid              every value of each with every value of the others; the first parameter varies slowest
    list              the values side by side, as many of each
    latin-hypercube   `samples` points, each parameter's range cut into so many equal parts of which each is met once
    monte-carlo       `samples` independent points

The last two draw from distributions: a pair (low, high), {"uniform": (low, high)}, {"normal": (mean, standard deviation)},
{"lognormal": (median, standard deviation of the logarithm)}, {"loguniform": (low, high)}, or a frozen distribution of scipy.
McKay, Beckman & Conover, Technometrics 21 (1979), for Latin hypercubes (scipy.stats.qmc).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nexdyn.errors import InputError, unknown

DESIGNS = ("grid", "list", "latin-hypercube", "monte-carlo")
MOST = 10_000_000


@dataclass(frozen=True)
class Design:
    """`members[i]` are the values of the parameters `names` of member i; `shape` is that of the grid, or (members,)."""

    kind: str
    names: tuple[str, ...]
    axes: dict[str, tuple[Any, ...]]
    members: list[tuple[Any, ...]]
    shape: tuple[int, ...]

    def values(self, i: int) -> dict[str, Any]:
        """The values of member i by name."""
        return dict(zip(self.names, self.members[i], strict=True))


def make_design(parameters: Any, design: str, samples: int | None, seed: int) -> Design:
    """The design. InputError for ragged lists, zero members, unknown designs and distributions."""
    if design not in DESIGNS:
        raise unknown("design", design, DESIGNS)
    if not isinstance(parameters, Mapping) or not parameters:
        raise InputError(f"parameters are {parameters!r}; a mapping like {{'link1.mass': [1.0, 2.0]}} is needed")
    names = tuple(str(name) for name in parameters)
    if design in ("grid", "list"):
        if samples is not None:
            raise InputError(
                f"samples is for latin-hypercube and monte-carlo; a {design} has the members that its values make"
            )
        axes = {str(name): _listed(name, values) for name, values in parameters.items()}
        sizes = {name: len(values) for name, values in axes.items()}
        if design == "list":
            if len(set(sizes.values())) > 1:
                told = ", ".join(f"{name} {size}" for name, size in sizes.items())
                raise InputError(f"a list takes as many values of each parameter; there are {told}")
            members = list(zip(*axes.values(), strict=True))
            return Design(design, names, axes, members, (len(members),))
        count = math.prod(sizes.values())
        if count > MOST:
            raise InputError(f"the grid has {count:.3g} members; {MOST:.0e} at most")
        return Design(design, names, axes, list(itertools.product(*axes.values())), tuple(sizes.values()))
    return _drawn(parameters, names, design, samples, seed)


def _listed(name: Any, values: Any) -> tuple[Any, ...]:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise InputError(f"values of {name!r} are {values!r}; a list is needed, like [1.0, 2.0]")
    if not len(values):
        raise InputError(f"{name!r} has no values, so the sweep has no members; give one or more")
    return tuple(tuple(x) if isinstance(x, list) else x for x in values)


def _drawn(parameters: Mapping[Any, Any], names: tuple[str, ...], design: str, samples: Any, seed: Any) -> Design:
    from scipy.stats import qmc

    if type(samples) is not int or not 1 <= samples <= MOST:
        raise InputError(f"samples is {samples!r}; a whole number, 1 or more, is needed for {design}")
    if type(seed) is not int or seed < 0:
        raise InputError(f"seed is {seed!r}; a whole number, 0 or more, is needed")
    distributions = [_distribution(name, given) for name, given in parameters.items()]
    rng = np.random.default_rng(seed)
    if design == "latin-hypercube":
        points = qmc.LatinHypercube(len(names), rng=rng).random(samples)
    else:
        points = rng.random((samples, len(names)))
    columns = [distribution.ppf(points[:, k]) for k, distribution in enumerate(distributions)]
    members = [tuple(float(column[i]) for column in columns) for i in range(samples)]
    axes = {name: tuple(member[k] for member in members) for k, name in enumerate(names)}
    return Design(design, names, axes, members, (samples,))


def _distribution(name: Any, given: Any) -> Any:
    from scipy import stats

    if hasattr(given, "ppf"):
        return given
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2:
        given = {"uniform": given}
    known = ("uniform", "normal", "lognormal", "loguniform")
    if not isinstance(given, Mapping) or len(given) != 1:
        raise InputError(f"{name!r} is {given!r}; (low, high) is needed, or one of {', '.join(known)} with two numbers")
    ((kind, pair),) = given.items()
    if kind not in known:
        raise unknown("distribution", kind, known)
    try:
        a, b = (float(x) for x in pair)
    except (TypeError, ValueError):
        raise InputError(f"{kind} of {name!r} is {pair!r}; two numbers are needed") from None
    if kind in ("uniform", "loguniform"):
        if not (math.isfinite(a) and math.isfinite(b) and a < b and (kind == "uniform" or a > 0.0)):
            above = ", above 0" if kind == "loguniform" else ""
            raise InputError(f"{kind} of {name!r} is ({a:g}, {b:g}); the first must be below the second{above}")
        return stats.uniform(a, b - a) if kind == "uniform" else stats.loguniform(a, b)
    if not (math.isfinite(a) and math.isfinite(b) and b > 0.0 and (kind == "normal" or a > 0.0)):
        too = ", the first too" if kind == "lognormal" else ""
        raise InputError(f"{kind} of {name!r} is ({a:g}, {b:g}); the second must be above 0{too}")
    return stats.norm(a, b) if kind == "normal" else stats.lognorm(b, scale=a)

"""What a force can do in kernels, said on its own page: a record that every formulation reads.

    wrenches   forces on A and on B, each at its frame's origin, in world axes; of a force between frames
    effort     of a force in a degree of freedom of a joint
    energy     what it stores, or STORES_NOTHING
    slopes     K += β h² K + γ h D in closed form without a branch, of a force between frames: of the force on B, at its origin, by the
               motion of B against A, world axes, symmetric; CONSTANT where it does not depend on motion; BY_DIFFERENCES of its wrenches; or
               OF_ITS_STEP where what it holds at the end of a step is part of them (``absolute.force_stiffness``)
    lanes      where SIMD lanes support it: NO_LANES, TREE_LANES (explicit methods), or ALL_LANES (HHT's, too, which need slopes in closed
               form)

A function takes by their names what it needs of the arguments that formulations give (`BETWEEN`, `IN_FREEDOM`, `SLOPES`):
``wrench(data, k, X_WA, X_WB)``. A record of the page says what its data are, in the order of the class's ``data``: ``spring =
Spring(data, k)``, then ``spring.stiffness``; in lanes, too. A page that leaves something out, or asks for what is not given, is named
when the package is imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nexdyn.by_kind import names_of
from nexdyn.kernel import formula, overloaded
from nexdyn.spatial.algebra import Force, Vec3
from nexdyn.spatial.lanes import pack, zero

NO_LANES, TREE_LANES, ALL_LANES = range(3)
STORES_NOTHING = None
CONSTANT, BY_DIFFERENCES, OF_ITS_STEP = "constant", "by differences", "of its step"
BETWEEN = ("tables", "e", "t", "data", "k", "X_WA", "V_A", "X_WB", "V_B", "x")
"""What is given of a force between frames: its tables, number and time; its data, which begin at k; poses and velocities of its frames;
and a number of theirs, by which one system and lanes are told apart."""
IN_FREEDOM = ("tables", "e", "t", "data", "k", "q", "v", "x")
"""The same of a force in a degree of freedom of a joint, with its coordinate and velocity."""
SLOPES = ("data", "k", "X_WA", "V_A", "X_WB", "V_B", "gh", "bh2", "K")
"""What is given for slopes: γ h, β h², and K (6, 6)."""
AT_REST = {"t", "v", "V_A", "V_B"}
"""What an energy does not depend on."""


class Between(NamedTuple):
    """The page of a force between frames; `kind` is its number."""

    kind: int
    name: str
    wrenches: Callable[..., Any]
    energy: Callable[..., Any] | None
    slopes: Callable[..., Any] | str
    lanes: int


class InFreedom(NamedTuple):
    """The page of a force in a degree of freedom of a joint."""

    kind: int
    name: str
    effort: Callable[..., Any]
    energy: Callable[..., Any] | None
    lanes: int


def keep(array, i, x):
    """array[i] = x; lanes keep nothing in an array of floats."""
    array[i] = x


@overloaded(keep)
def _keep(array, i, x):
    if x is pack and hasattr(array, "dtype"):
        return lambda array, i, x: None
    return keep


def check_lanes(pages: Sequence[Between]) -> None:
    """TypeError for a page that goes in all lanes, and has no slopes in closed form."""
    for page in pages:
        if page.lanes == ALL_LANES and page.slopes != CONSTANT and not callable(page.slopes):
            raise TypeError(
                f"the page of {page.name} is for all lanes, and its slopes are {page.slopes}; a function is needed"
            )


@formula
def add_outer(K, c, w, v):
    """K ← K + c g gᵀ, g = (w, v)."""
    g = (w.x, w.y, w.z, v.x, v.y, v.z)
    for i in range(6):
        for j in range(6):
            K[i, j] += c * g[i] * g[j]


@formula
def nowhere(x):
    """No forces, in each lane."""
    o = zero(x) + math.nan
    return Force(Vec3(o, o, o), Vec3(o, o, o)), Force(Vec3(o, o, o), Vec3(o, o, o))


@formula
def no_number(x):
    """No number, in each lane."""
    return zero(x) + math.nan


def alone(f: Callable[..., Any], otherwise: Callable[..., Any]) -> Any:
    """`f` of one system; in lanes, which do not support it, ``otherwise(x)``."""
    names = names_of(f)
    given = ", ".join(dict.fromkeys((*names, "x")))
    call, name = f"f({', '.join(names)})", f"{getattr(f, '__name__', 'f')}_alone"
    lines = [
        f"def {name}({given}): return {call}",
        f"def compiled({given}):",
        "    if x is pack:",
        f"        return lambda {given}: otherwise(x)",
        f"    return lambda {given}: {call}",
    ]
    scope: dict[str, Any] = {"__name__": f.__module__, "f": f, "otherwise": otherwise, "pack": pack}
    exec("\n".join(lines), scope)
    overloaded(scope[name])(scope["compiled"])
    return scope[name]

"""Initial states: arrays in the order of the tree's coordinates, or values by joint name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError, counted, unknown
from nexdyn.integrate.given import given_numbers
from nexdyn.spatial.rotations import check_unit_quaternion
from nexdyn.tree.tree import Tree


def vector(tree: Tree, given: Any, what: str, default: np.ndarray) -> np.ndarray:
    """`given` as an array like `default`: None keeps it, a mapping {joint: numbers} changes parts of it.

    Raises InputError naming `what` for a wrong shape, an unknown joint or a number that is not finite.
    """
    if given is None:
        return default
    if isinstance(given, Mapping):
        out, coupling = default.copy(), tree.coupling
        if coupling is not None and what in ("q0", "v0") and given.keys() & coupling.follows.keys():
            tied = {*coupling.follows, *coupling.leaders.values()} & given.keys()
            own = {name: _numbers(given[name], 1, f"{what} of joint {name!r}") for name in tied}
            given = {**{name: x for name, x in given.items() if name not in tied}, **coupling.led(own, what)}
        for name, numbers in given.items():
            if name not in tree.coordinates:
                raise InputError(f"{what}: {unknown('moving joint', name, tree.joint_names)}")
            place = tree.coordinates[name]
            part = place.q if len(default) == tree.nq and what.startswith("q") else place.v
            out[part] = _numbers(numbers, part.stop - part.start, f"{what} of joint {name!r}")
        return out
    return _numbers(given, len(default), what)


def unit_quaternions(tree: Tree, q: np.ndarray) -> np.ndarray:
    """`q` (nq,) with the rounding of its quaternions removed; InputError names a joint whose quaternion is not unit."""
    q = q.copy()
    for name, place in tree.coordinates.items():
        if place.q.stop - place.q.start > place.v.stop - place.v.start:
            four = slice(place.q.start, place.q.start + 4)
            q[four] = check_unit_quaternion(q[four], f"q0 of joint {name!r}")
    return q


def _numbers(given: Any, n: int, what: str) -> np.ndarray:
    try:
        x = np.atleast_1d(given_numbers(given))
    except (TypeError, ValueError):
        raise InputError(f"{what} is {given!r}; {n} numbers are needed") from None
    if x.shape != (n,):
        has = counted(len(x), "number") if x.ndim == 1 else f"shape {x.shape}"
        order = "" if "joint" in what else ", in the order of Tree.joint_names"
        raise InputError(f"{what} has {has}; {counted(n, 'number')} {'is' if n == 1 else 'are'} needed{order}")
    if not np.isfinite(x).all():
        raise InputError(f"{what} is {x}; it must be finite")
    return x

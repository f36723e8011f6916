"""Coefficients of a contact that are functions of time: what they are at t goes among its data before it acts.

    μ(t), μ_s(t), μ_⊥(t), c_r(t), c_t(t), u_A(t), u_B(t)
    ρ = μ_⊥/μ,   l_r = l c_r/c,   l_t = l c_t/c,   c = max(c_r, c_t)        as in ``contact`` and ``surface_contact``; l = c where l is 0

No coefficient may be negative, nor μ_s less than μ, nor may u leave a plane that it runs in.

Rows stand behind the data of the contact: l, whether μ_s and μ_⊥ are given, whether there are c_r and c_t, the normals of A and B in the
axes of `a` and `b` (0 of what is no plane), the axes of A and B there, then the eleven functions (``time_kernels``) in the order above.
Lanes have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.forces import sticking
from nexdyn.forces.contact import ACROSS, RUNS_A, RUNS_B, STICK
from nexdyn.forces.contact_law import ALONG, ROUNDING
from nexdyn.forces.foundations import RESISTS
from nexdyn.forces.tables import FIRST, VARYING
from nexdyn.kernel import formula, kernel, outlined, overloaded
from nexdyn.model.time_kernels import next_row, one_time_value
from nexdyn.spatial.lanes import pack

ARM, STATIC, OF_ACROSS, OF_AREA, NORMALS, AXES, FUNCTIONS = 0, 1, 2, 3, 4, 10, 28
"""Where they stand, from the place of the contact in the table on."""
LEFT = 1e-300
"""A speed that is none."""


@formula
def put_run(data, k, f, side, x, y, z):
    """u (x, y, z) in the axes of `a` (side 0) or `b` (1) among the data; whether it lies in the plane of that side."""
    n, R, to = f + NORMALS + 3 * side, f + AXES + 9 * side, k + (RUNS_A if side == 0 else RUNS_B)
    for j in range(3):
        data[to + j] = x * data[R + j] + y * data[R + 3 + j] + z * data[R + 6 + j]
    off, size = x * data[n] + y * data[n + 1] + z * data[n + 2], np.sqrt(x * x + y * y + z * z)
    return abs(off) <= ALONG * size + LEFT


@outlined
def renew(data, k, f, t):
    """The coefficients at t of the contact whose data begin at k and whose functions stand at f; whether all are valid."""
    i = f + FUNCTIONS
    mu = one_time_value(data, i, t)
    i = next_row(data, i)
    static = one_time_value(data, i, t) if data[f + STATIC] != 0.0 else mu
    i = next_row(data, i)
    across = one_time_value(data, i, t)
    i = next_row(data, i)
    rolls = one_time_value(data, i, t)
    i = next_row(data, i)
    turns = one_time_value(data, i, t)
    valid = mu >= 0.0 and static >= (1.0 - ROUNDING) * mu and across >= 0.0 and rolls >= 0.0 and turns >= 0.0
    data[k + 3] = data[k + STICK + sticking.FRICTION] = mu
    data[k + STICK + sticking.STATIC] = static
    if data[f + OF_ACROSS] != 0.0:
        valid = valid and mu > 0.0
        data[k + ACROSS] = across / mu if mu > 0.0 else 1.0
    if data[f + OF_AREA] != 0.0:
        l, most = data[f + ARM], max(rolls, turns)
        part = l / most if l > 0.0 and most > 0.0 else 1.0
        data[k + RESISTS], data[k + RESISTS + 1] = part * rolls, part * turns
        data[k + RESISTS + 2] = 1.0 / part if most > 0.0 else 0.0
    for side in range(2):
        i = next_row(data, i)
        x = one_time_value(data, i, t)
        i = next_row(data, i)
        y = one_time_value(data, i, t)
        i = next_row(data, i)
        z = one_time_value(data, i, t)
        along = put_run(data, k, f, side, x, y, z)
        valid = valid and along
    return 1 if valid else 0


@formula
def renewed_here(tables, e, t):
    """The same of one system."""
    f = tables.index[e, VARYING]
    if f == 0:
        return True
    return renew(tables.data, tables.index[e, FIRST], f, t) != 0


def renewed(tables: Any, e: Any, t: Any, x: Any) -> Any:
    """The data of force e at t, where its coefficients are functions of time; whether they are valid. The numbers of bodies are like x."""
    return True if isinstance(x, np.ndarray) else renewed_here(tables, e, t)


@overloaded(renewed)
def _renewed(tables, e, t, x):
    if x is pack:
        return lambda tables, e, t, x: True
    return lambda tables, e, t, x: renewed_here(tables, e, t)


@kernel
def renew_all(tables, t):
    """The data of all contacts at t."""
    for e in range(len(tables.index)):
        renewed_here(tables, e, t)


@kernel
def renew_one(data, k, f, t):
    """The data of one contact at t."""
    renew(data, k, f, t)


def vary(tables: Any, t: float) -> None:
    """The data at t of the contacts in tables of forces whose coefficients are functions of time."""
    if (tables.index[:, VARYING] > 0).any():
        renew_all(tables, t)

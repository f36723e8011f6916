"""Coefficients of a contact that are functions of time: what they are at t goes among its data before it acts.

    μ(t), μ_s(t), μ_⊥(t), c_r(t), c_t(t), u_A(t), u_B(t)
    ρ = μ_⊥/μ,   l_r = l c_r/c,   l_t = l c_t/c,   c = max(c_r, c_t)        as in ``contact`` and ``surface_contact``; l = c where l is 0

No coefficient may be negative, nor μ_s less than μ, nor may u leave a plane that it runs in.

`Varying` stands behind the data of the contact, then the eleven functions (``time_kernels``) in the order above. Lanes have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.forces.contact_data import POINT_DATA, Friction, PointData, Resistance
from nexdyn.forces.contact_law import ALONG, ROUNDING
from nexdyn.forces.tables import ForceEntries
from nexdyn.kernel import formula, kernel, outlined, overloaded
from nexdyn.model.time_kernels import next_row, one_time_value
from nexdyn.records import Record
from nexdyn.spatial.algebra import Mat3, T, Vec3
from nexdyn.spatial.lanes import pack


class Varying(Record):
    """l, whether μ_s and μ_⊥ are given, whether there are c_r and c_t, the normals of A and B in the axes of `a` and `b` (0 of what is no
    plane), the axes of A and B there."""

    arm: float
    static: float
    across: float
    area: float
    normal_a: Vec3
    normal_b: Vec3
    R_A: Mat3
    R_B: Mat3


FUNCTIONS = Varying.columns
LEFT = 1e-300
"""A speed that is none."""


@formula
def put_run(data, k, f, side, u):
    """u in the axes of `a` (side 0) or `b` (1) among the data; whether it lies in the plane of that side."""
    own, varying = PointData(data, k), Varying(data, f)
    if side == 0:
        own.runs_a, n = T(varying.R_A) @ u, varying.normal_a
    else:
        own.runs_b, n = T(varying.R_B) @ u, varying.normal_b
    return abs(u @ n) <= ALONG * np.sqrt(u @ u) + LEFT


@outlined
def renew(data, k, f, t):
    """The coefficients at t of the contact whose data begin at k and whose functions stand at f; whether all are valid."""
    own, varying, i = PointData(data, k), Varying(data, f), f + FUNCTIONS
    mu = one_time_value(data, i, t)
    i = next_row(data, i)
    static = one_time_value(data, i, t) if varying.static != 0.0 else mu
    i = next_row(data, i)
    across = one_time_value(data, i, t)
    i = next_row(data, i)
    rolls = one_time_value(data, i, t)
    i = next_row(data, i)
    turns = one_time_value(data, i, t)
    valid = mu >= 0.0 and static >= (1.0 - ROUNDING) * mu and across >= 0.0 and rolls >= 0.0 and turns >= 0.0
    held, own.mu = own.friction, mu
    own.friction = Friction(mu, static, held.stribeck, held.ratio, held.damping)
    if varying.across != 0.0:
        valid = valid and mu > 0.0
        own.ratio = across / mu if mu > 0.0 else 1.0
    if varying.area != 0.0:
        l, most, resistance = varying.arm, max(rolls, turns), Resistance(data, k + POINT_DATA)
        part = l / most if l > 0.0 and most > 0.0 else 1.0
        resistance.rolls, resistance.turns = part * rolls, part * turns
        resistance.part = 1.0 / part if most > 0.0 else 0.0
    for side in range(2):
        i = next_row(data, i)
        x = one_time_value(data, i, t)
        i = next_row(data, i)
        y = one_time_value(data, i, t)
        i = next_row(data, i)
        z = one_time_value(data, i, t)
        along = put_run(data, k, f, side, Vec3(x, y, z))
        valid = valid and along
    return 1 if valid else 0


@formula
def renewed_here(tables, e, t):
    """The same of one system."""
    force = ForceEntries(tables.index)[e]
    if force.varying == 0:
        return True
    return renew(tables.data, force.first, force.varying, t) != 0


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
    if (ForceEntries(tables.index).varying > 0).any():
        renew_all(tables, t)

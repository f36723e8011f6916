"""Point on a curve: the two rows that keep the point x of B on the curve c(s) of A, with s eliminated.

s is that of the curve's point nearest to x, on the branch that the motion is on (found from the last s by descent):

    c′ · r = 0,   r = x − c(s)
    C₁ = e₁ · r (Normal),   C₂ = e₂ · r (Binormal),   t = c′/|c′|,  e₁ = k × t/|k × t|,  e₂ = t × e₁

with a constant direction k of A that the curve nowhere comes near to: of a plane curve its normal, so that C₂ is the
distance from the plane and C₁ that from the curve in it. As c′ · r stays 0,

    D ds = c′ · dx,   D = c′ · c′ − c″ · r,   dr = dx − c′ ds
    dC = e · dx + (e′ · r) ds                    ∇C = e + (e′ · r) c′/D
    D d²s = c′ · d²x − c′ · c″ ds ds' + c″ · (dr ds' + dr' ds) + (c‴ · r) ds ds'
    d²C = e · (d²x − c″ ds ds') + e′ · (dr ds' + dr' ds) + (e″ · r) ds ds' + (e′ · r) d²s

On the curve, where r = 0, what has c‴ vanishes; beside it c‴ is that of the spline, or a difference of c″. The unit
vectors follow from m = k × c′ and m = c′ by e = m/μ, e′ = (m′ − μ′ e)/μ, e″ = (m″ − 2 μ′ e′ − μ″ e)/μ.

At D = 0 the point is in the curve's centre of curvature, where no point of the curve is the nearest.
"""

from __future__ import annotations

import math

import numpy as np

from nexdyn.constraints import point
from nexdyn.errors import InputError
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.model import curves
from nexdyn.model.callbacks import call
from nexdyn.model.curves import HEAD
from nexdyn.model.time_kernels import interval, next_row, time_jet
from nexdyn.records import Record
from nexdyn.spatial.algebra import Vec3, cross, vector_at

SPLINE, EXPRESSION, USER = curves.SPLINE, curves.EXPRESSION, curves.USER
STEPS = 60
"""Most steps of the descent to the nearest point."""
SAMPLES = 400
"""Points of the curve among which the first nearest one is looked for."""
STEEPEST = 0.02
"""Least angle [rad] between a curve and its direction k."""


class Curve(Record):
    """What every curve has before its own numbers: its code, its range, whether it is closed, and k."""

    code: float
    start: float
    end: float
    closed: float
    across: Vec3


# --- the curve --------------------------------------------------------------------------------------------------------


@formula
def jet(data, k, s):
    """c, c′, c″ at s of the curve at k; beyond its ends straight on."""
    curve = Curve(data, k)
    start, end = curve.start, curve.end
    if curve.closed != 0.0:
        return inside(data, k, s - (end - start) * math.floor((s - start) / (end - start)))
    held = min(max(s, start), end)
    c, dc, ddc = inside(data, k, held)
    if held == s:
        return c, dc, ddc
    return c + (s - held) * dc, dc, Vec3(0.0, 0.0, 0.0)


@formula
def inside(data, k, s):
    curve = Curve(data, k)
    code = int(curve.code)
    if code == SPLINE:
        return spline_jet(data, k + HEAD, s)
    if code == EXPRESSION:
        i = k + HEAD
        x = time_jet(data, i, s)
        i = next_row(data, i)
        y = time_jet(data, i, s)
        z = time_jet(data, next_row(data, i), s)
        return Vec3(x[0], y[0], z[0]), Vec3(x[1], y[1], z[1]), Vec3(x[2], y[2], z[2])
    return user_jet(data, k + HEAD, s, (curve.end - curve.start) / 6.0)


@formula
def spline_jet(data, i, s):
    """c = c0 + c1 x + c2 x² + c3 x³ with x from the piece's start; n, the n parameters and the pieces from i on."""
    n = int(data[i])
    j = min(interval(data, i + 1, n, s), n - 2)
    x, m = s - data[i + 1 + j], i + 1 + n + 12 * j
    c0, c1, c2, c3 = (
        vector_at(data, m),
        vector_at(data, m + 3),
        vector_at(data, m + 6),
        vector_at(data, m + 9),
    )
    return (
        c0 + x * (c1 + x * (c2 + x * c3)),
        c1 + x * (2.0 * c2 + (3.0 * x) * c3),
        2.0 * c2 + (6.0 * x) * c3,
    )


@formula
def user_point(address, s):
    nan = math.nan
    status, out = call(address, s, (s,), (nan, nan, nan))
    return Vec3(out[0], out[1], out[2]) if status == 0 else Vec3(nan, nan, nan)


@formula
def user_jet(data, i, s, size):
    """c, c′, c″ of the functions at data[i], data[i + 1], data[i + 2]; a missing one by central differences of order 4."""
    f, df, ddf = data[i], data[i + 1], data[i + 2]
    c = user_point(f, s)
    dc = user_point(df, s) if df != 0.0 else user_slope(f, s, 2e-4 * size)
    if ddf != 0.0:
        return c, dc, user_point(ddf, s)
    if df != 0.0:
        return c, dc, user_slope(df, s, 2e-4 * size)
    h = 5e-4 * size
    near, far = user_point(f, s + h) + user_point(f, s - h), user_point(f, s + 2.0 * h) + user_point(f, s - 2.0 * h)
    return c, dc, (1.0 / (12.0 * h * h)) * (16.0 * near - far - 30.0 * c)


@formula
def user_slope(f, s, h):
    near, far = user_point(f, s + h) - user_point(f, s - h), user_point(f, s + 2.0 * h) - user_point(f, s - 2.0 * h)
    return (1.0 / (12.0 * h)) * (8.0 * near - far)


@formula
def third(data, k, s):
    """c‴."""
    curve = Curve(data, k)
    start, end = curve.start, curve.end
    if curve.closed != 0.0:
        s = s - (end - start) * math.floor((s - start) / (end - start))
    elif s < start or s > end:
        return Vec3(0.0, 0.0, 0.0)
    i = k + HEAD
    if int(curve.code) == SPLINE:
        n = int(data[i])
        j = min(interval(data, i + 1, n, s), n - 2)
        return 6.0 * vector_at(data, i + 1 + n + 12 * j + 9)
    known = int(curve.code) == EXPRESSION or data[i + 2] != 0.0 or data[i + 1] != 0.0
    h = (1e-5 if known else 1e-4) * (end - start)
    _, _, ahead = inside(data, k, s + h)
    _, _, behind = inside(data, k, s - h)
    return (0.5 / h) * (ahead - behind)


@formula
def squared_distance(data, k, x, s):
    r = x - jet(data, k, s)[0]
    return r @ r


@formula
def nearest(data, k, x, s):
    """s of the nearest point to x, by Newton's steps downhill on ½ |x − c|² from s."""
    curve = Curve(data, k)
    longest = 0.1 * (curve.end - curve.start)
    for _ in range(STEPS):
        c, dc, ddc = jet(data, k, s)
        r = x - c
        g, straight = dc @ dc, dc @ r
        D = g - ddc @ r
        step = straight / (D if D > 0.1 * g else g)
        step = min(max(step, -longest), longest)
        if abs(step) <= 4e-16 * (abs(s) + longest) or not abs(step) < math.inf:
            return s + step
        # halved until it is no way up; what rounding leaves is none
        for _ in range(30):
            if not squared_distance(data, k, x, s + step) > (r @ r) * (1.0 + 1e-14):
                break
            step *= 0.5
        s += step
        if abs(step) <= 1e-9 * longest and D > 0.1 * g:
            c, dc, ddc = jet(data, k, s)
            r = x - c
            return s + (dc @ r) / (dc @ dc - ddc @ r)
    return s


# --- the rows ---------------------------------------------------------------------------------------------------------


@formula
def unit_jet(m, dm, ddm):
    """e, e′, e″ of m/|m|."""
    over = 1.0 / math.sqrt(m @ m)
    e = over * m
    rise = e @ dm
    de = over * (dm - rise * e)
    rise_ = de @ dm + e @ ddm
    return e, de, over * (ddm - (2.0 * rise) * de - rise_ * e)


@formula
def normal_jet(data, k, binormal, dc, ddc, dddc):
    """e, e′, e″ of the row's direction."""
    across = Curve(data, k).across
    e, de, dde = unit_jet(cross(across, dc), cross(across, ddc), cross(across, dddc))
    if not binormal:
        return e, de, dde
    t, dt, ddt = unit_jet(dc, ddc, dddc)
    return cross(t, e), cross(dt, e) + cross(t, de), cross(ddt, e) + 2.0 * cross(dt, de) + cross(t, dde)


@outlined
def value(data, k, binormal, pair, near, place):
    """C; near[place] is s, and takes the new one."""
    x = point.place(pair)
    s = nearest(data, k, x, near[place])
    near[place] = s
    c, dc, ddc = jet(data, k, s)
    e, _, _ = normal_jet(data, k, binormal, dc, ddc, ddc)
    return e @ (x - c)


@outlined
def gradient(data, k, binormal, pair, s):
    x = point.place(pair)
    s = nearest(data, k, x, s)
    c, dc, ddc = jet(data, k, s)
    e, de, _ = normal_jet(data, k, binormal, dc, ddc, ddc)
    r = x - c
    return point.gradient(pair, e + ((de @ r) / (dc @ dc - ddc @ r)) * dc)


@outlined
def second(data, k, binormal, pair, s, V, V_):
    x = point.place(pair)
    s = nearest(data, k, x, s)
    c, dc, ddc = jet(data, k, s)
    dddc = third(data, k, s)
    e, de, dde = normal_jet(data, k, binormal, dc, ddc, dddc)
    r = x - c
    D = dc @ dc - ddc @ r
    dx, dx_, ddx = point.rate(pair, V), point.rate(pair, V_), point.second_rate(pair, V, V_)
    ds, ds_ = (dc @ dx) / D, (dc @ dx_) / D
    turning = ds_ * (dx - ds * dc) + ds * (dx_ - ds_ * dc)
    dds = (dc @ ddx - (dc @ ddc) * ds * ds_ + ddc @ turning + (dddc @ r) * ds * ds_) / D
    return e @ (ddx - (ds * ds_) * ddc) + de @ turning + (dde @ r) * ds * ds_ + (de @ r) * dds


# --- once a model -----------------------------------------------------------------------------------------------------


@kernel
def tangents(data, k, parameters, c, t):
    """Points c (n, 3) and tangents t (n, 3) at the parameters (n,)."""
    for i in range(len(parameters)):
        p, dp, _ = jet(data, k, parameters[i])
        over = 1.0 / math.sqrt(dp @ dp)
        c[i, 0], c[i, 1], c[i, 2] = p.x, p.y, p.z
        t[i, 0], t[i, 1], t[i, 2] = over * dp.x, over * dp.y, over * dp.z


@kernel
def settle(data, k, x, s):
    """s of the nearest point to x (3,) from s, and its distance."""
    p = Vec3(x[0], x[1], x[2])
    s = nearest(data, k, p, s)
    return s, math.sqrt(squared_distance(data, k, p, s))


def prepared(data: np.ndarray, k: int, x: np.ndarray, what: str) -> float:
    """Give the curve at k its direction k; s of its point nearest to x (3,). InputError where it is no curve."""
    curve = Curve(data, k)
    s = np.linspace(curve.start, curve.end, SAMPLES)
    c, t = np.empty((SAMPLES, 3)), np.empty((SAMPLES, 3))
    tangents(data, k, s, c, t)
    bad = ~(np.isfinite(c).all(axis=1) & np.isfinite(t).all(axis=1))
    if bad.any():
        raise InputError(f"the curve of {what} has no point or no direction at s = {s[bad][0]:g}")
    curve.across = Vec3(*_across(t, what))
    order = np.argsort(np.linalg.norm(c - x, axis=1))[:5]
    found = [settle(data, k, x, float(s[i])) for i in order]
    return min(found, key=lambda pair: pair[1])[0]


def ranges(data: np.ndarray, k: int) -> list[tuple[str, float, float]]:
    """(letter, start, end) of the parameter where the curve at k is open."""
    curve = Curve(data, k)
    return [] if curve.closed else [("s", float(curve.start), float(curve.end))]


def _across(t: np.ndarray, what: str) -> np.ndarray:
    """The direction that is farthest from all tangents; of a plane curve its normal."""
    i = np.arange(200)
    z = 1.0 - (i + 0.5) / 200
    turn = np.pi * (1.0 + math.sqrt(5.0)) * i
    spread = np.stack([np.sqrt(1.0 - z**2) * np.cos(turn), np.sqrt(1.0 - z**2) * np.sin(turn), z], axis=1)
    axes = np.linalg.svd(t, full_matrices=False)[2][::-1]
    candidates = np.concatenate([axes, spread])
    farthest = np.abs(candidates @ t.T).max(axis=1)
    best = int(np.argmin(np.where(farthest < farthest.min() + 1e-9, 0.0, farthest)))
    if farthest[best] > math.cos(STEEPEST):
        raise InputError(f"the curve of {what} turns through all directions of space; keep the point on parts of it")
    k = candidates[best]
    return np.array(k * np.sign(k[np.argmax(np.abs(k))]))

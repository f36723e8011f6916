"""A curve through points, with its integral: what a force-deflection table is in a kernel.

    F(x) = c₀ + s (c₁ + s (c₂ + s c₃)),   s = x − x_ref                    on each piece
    U(x) = ∫₀ˣ F = U_ref + s (c₀ + s (c₁/2 + s (c₂/3 + s c₃/4)))

Data: n, the n breakpoints, and for each of the n + 1 pieces x_ref, c₀, c₁, c₂, c₃, U_ref; the first and the last piece
extrapolate. A float finds its piece by bisection; in lanes every piece is tried and the one that fits is selected.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nexdyn.kernel import formula, overloaded
from nexdyn.model.time_kernels import interval
from nexdyn.spatial.lanes import common, if_less, pack, zero

PIECE = 6


class Piece(NamedTuple):
    """One polynomial of a curve."""

    x: float
    c0: float
    c1: float
    c2: float
    c3: float
    U: float


def curve_row(x: np.ndarray, F: np.ndarray, interpolation: str, extrapolation: str) -> list[float]:
    """The data of the curve through the points (x, F), (n,) each, x increasing.

    interpolation: "linear", "monotone" (PCHIP: no overshoot, C¹), "natural" (cubic spline, C²).
    extrapolation: "linear" goes on with the slope at the end, "constant" with the value.
    """
    inner = _pieces(x, F, interpolation)
    first, last = inner[0].copy(), inner[-1]
    h = x[-1] - x[-2]
    end = np.array([F[-1], last[1] + h * (2.0 * last[2] + h * 3.0 * last[3]), 0.0, 0.0])
    first[2:] = 0.0
    if extrapolation == "constant":
        first[1] = end[1] = 0.0
    c = np.vstack([first, inner, end])
    ref = np.concatenate([x[:1], x])
    # integral from x[0] to each x_ref; then so that U(0) = 0
    steps = np.diff(x)
    areas = steps * (inner[:, 0] + steps * (inner[:, 1] / 2 + steps * (inner[:, 2] / 3 + steps * inner[:, 3] / 4)))
    U = np.concatenate([[0.0, 0.0], np.cumsum(areas)])
    pieces = np.column_stack([ref, c, U])
    piece = pieces[np.searchsorted(x, 0.0, side="right")]
    s = -piece[0]
    pieces[:, 5] -= piece[5] + s * (piece[1] + s * (piece[2] / 2 + s * (piece[3] / 3 + s * piece[4] / 4)))
    return [float(len(x)), *x.tolist(), *pieces.ravel().tolist()]


def _pieces(x: np.ndarray, F: np.ndarray, interpolation: str) -> np.ndarray:
    """c₀ … c₃ of the n − 1 pieces between the points, (n − 1, 4)."""
    if interpolation == "linear" or len(x) == 2:
        slope = np.diff(F) / np.diff(x)
        return np.column_stack([F[:-1], slope, 0.0 * slope, 0.0 * slope])
    from scipy.interpolate import CubicSpline, PchipInterpolator

    spline = PchipInterpolator(x, F) if interpolation == "monotone" else CubicSpline(x, F, bc_type="natural")
    return np.ascontiguousarray(spline.c[::-1].T)


@formula
def piece_at(data, i):
    return Piece(data[i], data[i + 1], data[i + 2], data[i + 3], data[i + 4], data[i + 5])


def piece_of(data, k, x):
    """The piece that x lies in."""
    n = int(data[k])
    # 0 left of the first breakpoint, n right of the last
    j = 0 if x < data[k + 1] else interval(data, k + 1, n, x) + 1
    return piece_at(data, k + 1 + n + PIECE * j)


@overloaded(piece_of)
def _piece_of(data, k, x):
    if x is not pack:
        return piece_of

    def selected(data, k, x):
        n, o = int(common(data, k)), zero(x)
        first = k + 1 + n
        p = piece_at(data, first)
        found = Piece(o + p.x, o + p.c0, o + p.c1, o + p.c2, o + p.c3, o + p.U)
        for j in range(n):
            b, p = data[k + 1 + j], piece_at(data, first + PIECE * (j + 1))
            found = Piece(
                if_less(x, b, found.x, p.x), if_less(x, b, found.c0, p.c0), if_less(x, b, found.c1, p.c1),
                if_less(x, b, found.c2, p.c2), if_less(x, b, found.c3, p.c3), if_less(x, b, found.U, p.U),
            )  # fmt: skip
        return found

    return selected


@formula
def curve_value(data, k, x):
    """F(x)."""
    p = piece_of(data, k, x)
    s = x - p.x
    return p.c0 + s * (p.c1 + s * (p.c2 + s * p.c3))


@formula
def curve_slope(data, k, x):
    """F′(x); at a corner that to its right."""
    p = piece_of(data, k, x)
    s = x - p.x
    return p.c1 + s * (2.0 * p.c2 + 3.0 * (s * p.c3))


@formula
def piece_work(p, a, b):
    """∫ F from a to b of one piece, by Simpson's rule, which is exact for cubics and small where b − a is."""
    s, r = a - p.x, b - p.x
    m = 0.5 * (s + r)
    F = p.c0 + s * (p.c1 + s * (p.c2 + s * p.c3))
    F = F + 4.0 * (p.c0 + m * (p.c1 + m * (p.c2 + m * p.c3)))
    F = F + (p.c0 + r * (p.c1 + r * (p.c2 + r * p.c3)))
    return (b - a) * F / 6.0


@formula
def curve_work(data, k, a, b):
    """∫ F from a to b, floats, to the digits of F and of b − a, which U(b) − U(a) loses."""
    n = int(data[k])
    first = k + 1 + n
    i = 0 if a < data[k + 1] else interval(data, k + 1, n, a) + 1
    j = 0 if b < data[k + 1] else interval(data, k + 1, n, b) + 1
    work = 0.0
    while i != j:
        # to the breakpoint between this piece and the next on the way
        end = data[k + 1 + i] if i < j else data[k + i]
        work += piece_work(piece_at(data, first + PIECE * i), a, end)
        a = end
        i += 1 if i < j else -1
    return work + piece_work(piece_at(data, first + PIECE * j), a, b)


@formula
def curve_energy(data, k, x):
    """U(x) = ∫₀ˣ F."""
    p = piece_of(data, k, x)
    s = x - p.x
    return p.U + s * (p.c0 + s * (p.c1 / 2.0 + s * (p.c2 / 3.0 + s * p.c3 / 4.0)))

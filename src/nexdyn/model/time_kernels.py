"""Functions of time in kernels: value, first and second derivative of a row in a flat table.

    data[k] = code, data[k + 1] = n, then the n floats of ``functions``;   the next row starts at k + 2 + n

`time_value` is what forces call; `time_jet` carries (u, u̇, ü) through every operation, as ``jets`` does:

    f(u)˙ = f′ u̇,   f(u)¨ = f″ u̇² + f′ ü

A user function is called by its address (``callbacks``); derivatives that it does not give are central differences.
Where a function has no value, or a user function raises, the result is NaN: the caller looks at it. The time is one
float, also where the rest runs in lanes. A table of lanes holds a function for each system; its rows are equally long.
"""

from __future__ import annotations

import math

import numpy as np

from nexdyn.generic import is_instance
from nexdyn.kernel import allocating, formula, overloaded
from nexdyn.model import functions
from nexdyn.model.callbacks import TIME, Callback, call, callback_of
from nexdyn.model.expressions import OPCODES
from nexdyn.model.functions import Function, UserFunction
from nexdyn.spatial.lanes import LANES, LaneVector, OneLane, common, with_lane, zero

CONSTANT, LINEAR, HARMONIC, POLYNOMIAL, STEP5, STEP_CHANGE, TABLE_LINEAR, TABLE_CUBIC, TIME_EXPRESSION, USER = (
    functions.CONSTANT, functions.LINEAR, functions.HARMONIC, functions.POLYNOMIAL, functions.STEP5,
    functions.STEP_CHANGE, functions.TABLE_LINEAR, functions.TABLE_CUBIC, functions.TIME_EXPRESSION, functions.USER,
)  # fmt: skip
CONST, TIME_, ADD, SUB, MUL, DIV, POW, ATAN2, MIN, MAX = (
    OPCODES[op] for op in ("const", "time", "+", "-", "*", "/", "**", "atan2", "min", "max")
)
NEG, SIN, COS, TAN, ASIN, ACOS, ATAN, TANH, SQRT, EXP, LOG, ABS = (
    OPCODES[op]
    for op in ("neg", "sin", "cos", "tan", "asin", "acos", "atan", "tanh", "sqrt", "exp", "log", "abs")
)  # fmt: skip


def time_callbacks(function: Function) -> tuple[Callback, ...]:
    """The callbacks of a user function: f, and df, ddf where it has them. They must outlive the rows that name them."""
    if not isinstance(function, UserFunction):
        return ()
    return tuple(callback_of(f, TIME) for f in (function.f, function.df, function.ddf) if f is not None)


def time_row(function: Function) -> list[float]:
    """The row of a function whose parameters are resolved."""
    code, numbers = function.row()
    if isinstance(function, UserFunction):
        given = (function.f, function.df, function.ddf)
        numbers = [0.0 if f is None else callback_of(f, TIME).address for f in given]
    return [float(code), float(len(numbers)), *numbers]


@formula
def next_row(data, k):
    """Where the row after that at k starts."""
    return k + 2 + int(common(data, k + 1))


def time_value(data, k, t):
    """y(t) of the row at k; a pack where `data` is of lanes."""
    return time_values(data, k, t) if isinstance(data, LaneVector) else one_time_value(data, k, t)


@overloaded(time_value)
def _time_value(data, k, t):
    if is_instance(data, LaneVector):
        return lambda data, k, t: time_values(data, k, t)
    return lambda data, k, t: one_time_value(data, k, t)


@formula
def time_values(data, k, t):
    """y(t) of every lane's own row at k, one lane after another but for constants."""
    same = True
    for s in range(LANES):
        same = same and int(data.data[k, 0, s]) == CONSTANT
    if same:
        return data[k + 2]
    y = zero(data[k])
    for s in range(LANES):
        y = with_lane(y, s, one_time_value(OneLane(data.data, s), k, t))
    return y


@formula
def one_time_value(data, k, t):
    """y(t) of the row at k."""
    code, i = int(data[k]), k + 2
    if code == CONSTANT:
        return data[i]
    if code == TIME_EXPRESSION:
        return tape_value(data, i, int(data[k + 1]), t)
    if code == USER:
        return user_value(data[i], t)
    return closed_jet(code, data, i, int(data[k + 1]), t)[0]


@formula
def time_jet(data, k, t):
    """y, ẏ, ÿ at t of the row at k; at a corner ẏ from the right, at a jump the derivatives beside it."""
    code, i, n = int(data[k]), k + 2, int(data[k + 1])
    if code == CONSTANT:
        return data[i], 0.0, 0.0
    if code == TIME_EXPRESSION:
        return tape_jet(data, i, n, t)
    if code == USER:
        return user_jet(data, i, t)
    return closed_jet(code, data, i, n, t)


# --- what has a formula -------------------------------------------------------------------------------------------


@formula
def closed_jet(code, data, i, n, t):
    """y, ẏ, ÿ of a row whose n floats start at i."""
    if code == LINEAR:
        # y = offset + slope t
        return data[i] + data[i + 1] * t, data[i + 1], 0.0
    if code == HARMONIC:
        # y = y0 + A sin(ω t + φ)
        A, omega = data[i], 2.0 * math.pi * data[i + 1]
        angle = omega * t + data[i + 2]
        wave = A * math.sin(angle)
        return data[i + 3] + wave, A * omega * math.cos(angle), -omega * omega * wave
    if code == POLYNOMIAL:
        # Horner's scheme for p, p′, p″/2
        y, dy, half = 0.0, 0.0, 0.0
        for m in range(n - 1, -1, -1):
            half = half * t + dy
            dy = dy * t + y
            y = y * t + data[i + m]
        return y, dy, 2.0 * half
    if code == STEP5:
        # y = y0 + (y1 − y0)(10 s³ − 15 s⁴ + 6 s⁵)
        T, rise = data[i + 2] - data[i], data[i + 3] - data[i + 1]
        s = min(max((t - data[i]) / T, 0.0), 1.0)
        r = 1.0 - s
        return (
            data[i + 1] + rise * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s),
            rise * 30.0 * s * s * r * r / T,
            rise * 60.0 * s * r * (r - s) / (T * T),
        )
    if code == STEP_CHANGE:
        return (data[i + 1] if t < data[i] else data[i + 2]), 0.0, 0.0
    return table_jet(code, data, i + 1, int(data[i]), t)


@formula
def interval(data, first, n, x):
    """j of the interval [x_j, x_j+1) of n increasing numbers that x lies in; 0 below all, n − 1 from the last on."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if data[first + middle] <= x:
            low = middle
        else:
            high = middle
    return low


@formula
def table_jet(code, data, i, n, t):
    """Interpolation between n times at i, which the values or the coefficients follow; held outside."""
    start, end, after = data[i], data[i + n - 1], i + n
    # beyond the end a cubic table holds what its last piece has there
    j = min(interval(data, i, n, t), n - 2)
    x = min(max(t, start), end) - data[i + j]
    if code == TABLE_LINEAR:
        slope = (data[after + j + 1] - data[after + j]) / (data[i + j + 1] - data[i + j])
        y, dy, ddy = data[after + j] + slope * x, slope, 0.0
    else:
        c = after + 4 * j
        y = data[c] + x * (data[c + 1] + x * (data[c + 2] + x * data[c + 3]))
        dy = data[c + 1] + x * (2.0 * data[c + 2] + x * 3.0 * data[c + 3])
        ddy = 2.0 * data[c + 2] + 6.0 * data[c + 3] * x
    if t < start or t > end:
        return y, 0.0, 0.0
    return y, dy, ddy


# --- user functions -----------------------------------------------------------------------------------------------


@formula
def user_value(address, t):
    """f(t) of the callback at `address`; NaN where it fails."""
    status, out = call(address, t, (t,), (math.nan,))
    return out[0] if status == 0 else math.nan


@formula
def user_jet(data, i, t):
    """f, f′, f″ of the callbacks at data[i], data[i + 1], data[i + 2]; a missing one by central differences."""
    f, df, ddf = data[i], data[i + 1], data[i + 2]
    y = user_value(f, t)
    if df != 0.0:
        dy = user_value(df, t)
    else:
        h = 6e-6 * max(1.0, abs(t))
        dy = (user_value(f, t + h) - user_value(f, t - h)) / (2.0 * h)
    if ddf != 0.0:
        ddy = user_value(ddf, t)
    else:
        h = 1.2e-4 * max(1.0, abs(t))
        ddy = (user_value(f, t + h) - 2.0 * y + user_value(f, t - h)) / (h * h)
    return y, dy, ddy


# --- expressions: a postfix tape on a stack -----------------------------------------------------------------------


@formula
@allocating
def tape_value(data, i, n, t):
    """The value of the tape of n floats (opcode, operand, opcode, …) at i."""
    y = np.empty(n // 2)
    top = -1
    for m in range(i, i + n, 2):
        op = int(data[m])
        if op <= TIME_:
            top += 1
            y[top] = t if op == TIME_ else data[m + 1]
        elif op < NEG:
            top -= 1
            y[top] = binary(op, y[top], y[top + 1])
        else:
            y[top] = unary(op, y[top])
    return y[0]


@formula
def binary(op, u, v):
    if op == ADD:
        return u + v
    if op == SUB:
        return u - v
    if op == MUL:
        return u * v
    if op == DIV:
        return u / v
    if op == POW:
        return u**v
    if op == ATAN2:
        return math.atan2(u, v)
    if op == MIN:
        return u if u <= v else v
    return u if u >= v else v


@formula
def unary(op, u):
    if op == NEG:
        return -u
    if op == SIN:
        return math.sin(u)
    if op == COS:
        return math.cos(u)
    if op == TAN:
        return math.tan(u)
    if op == ASIN:
        return math.asin(u)
    if op == ACOS:
        return math.acos(u)
    if op == ATAN:
        return math.atan(u)
    if op == TANH:
        return math.tanh(u)
    if op == SQRT:
        return math.sqrt(u)
    if op == EXP:
        return math.exp(u)
    if op == LOG:
        return math.log(u)
    return abs(u)


@formula
@allocating
def tape_jet(data, i, n, t):
    """y, ẏ, ÿ of the tape: a stack of (u, u̇, ü, whether u depends on the time).

    What does not depend on the time has derivatives 0, also where f′ is infinite (the root of a constant 0).
    """
    u = np.zeros((n // 2, 4))
    top = -1
    for m in range(i, i + n, 2):
        op = int(data[m])
        if op <= TIME_:
            top += 1
            moves = op == TIME_
            u[top, 0], u[top, 1], u[top, 2] = (t, 1.0, 0.0) if moves else (data[m + 1], 0.0, 0.0)
            u[top, 3] = 1.0 if moves else 0.0
        elif op < NEG:
            top -= 1
            binary_jet(op, u[top], u[top + 1])
        else:
            unary_jet(op, u[top])
    return u[0, 0], u[0, 1], u[0, 2]


@formula
def binary_jet(op, u, v):
    """u becomes u op v."""
    u0, u1, u2, v0, v1, v2 = u[0], u[1], u[2], v[0], v[1], v[2]
    u_moves, v_moves = u[3] != 0.0, v[3] != 0.0
    u[3] = 1.0 if u_moves or v_moves else 0.0
    u[0] = binary(op, u0, v0)
    if u[3] == 0.0:
        return
    if op == ADD:
        u[1], u[2] = u1 + v1, u2 + v2
    elif op == SUB:
        u[1], u[2] = u1 - v1, u2 - v2
    elif op == MUL:
        u[1], u[2] = u1 * v0 + u0 * v1, u2 * v0 + 2.0 * u1 * v1 + u0 * v2
    elif op == DIV:
        # y = u/v:  ẏ v = u̇ − y v̇,  ÿ v = ü − 2 ẏ v̇ − y v̈
        u[1] = (u1 - u[0] * v1) / v0
        u[2] = (u2 - 2.0 * u[1] * v1 - u[0] * v2) / v0
    elif op == POW and not v_moves:
        # y = uⁿ:  f′ = n uⁿ⁻¹,  f″ = n (n − 1) uⁿ⁻²
        d = v0 * u0 ** (v0 - 1.0) if v0 != 0.0 else 0.0
        dd = v0 * (v0 - 1.0) * u0 ** (v0 - 2.0) if v0 != 0.0 and v0 != 1.0 else 0.0
        u[1], u[2] = d * u1, dd * u1 * u1 + d * u2
    elif op == POW:
        # y = exp(l),  l = v log u
        l1, l2 = 0.0, 0.0
        if u_moves:
            l1, l2 = u1 / u0, u2 / u0 - (u1 / u0) ** 2
        log = math.log(u0)
        d1, d2 = v1 * log + v0 * l1, v2 * log + 2.0 * v1 * l1 + v0 * l2
        u[1], u[2] = u[0] * d1, u[0] * (d2 + d1 * d1)
    elif op == ATAN2:
        # ẏ r² = u̇ v − u v̇,  r² = u² + v²
        r2 = u0 * u0 + v0 * v0
        u[1] = (u1 * v0 - u0 * v1) / r2
        u[2] = (u2 * v0 - u0 * v2 - 2.0 * u[1] * (u0 * u1 + v0 * v1)) / r2
    elif not (u0 <= v0 if op == MIN else u0 >= v0):
        u[1], u[2] = v1, v2


@formula
def unary_jet(op, u):
    """u becomes op u."""
    x = u[0]
    y = unary(op, x)
    u[0] = y
    if u[3] == 0.0:
        return
    if op == NEG:
        d, dd = -1.0, 0.0
    elif op == SIN:
        d, dd = math.cos(x), -y
    elif op == COS:
        d, dd = -math.sin(x), -y
    elif op == TAN:
        d = 1.0 + y * y
        dd = 2.0 * y * d
    elif op in (ASIN, ACOS):
        d = 1.0 / math.sqrt(1.0 - x * x)
        d = d if op == ASIN else -d
        dd = x * d * d * d
    elif op == ATAN:
        d = 1.0 / (1.0 + x * x)
        dd = -2.0 * x * d * d
    elif op == TANH:
        d = 1.0 - y * y
        dd = -2.0 * y * d
    elif op == SQRT:
        d = 0.5 / y
        dd = -0.25 / (y * y * y)
    elif op == EXP:
        d, dd = y, y
    elif op == LOG:
        d, dd = 1.0 / x, -1.0 / (x * x)
    else:
        d, dd = (1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0), 0.0
    # f(u)˙ = f′ u̇,  f(u)¨ = f″ u̇² + f′ ü
    u[1], u[2] = d * u[1], dd * u[1] * u[1] + d * u[2]

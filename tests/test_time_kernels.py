"""Functions of time in kernels are the functions of time of the description, value and derivatives."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nexdyn.errors import InputError
from nexdyn.kernel import kernel
from nexdyn.model import jets, time_kernels
from nexdyn.model.expressions import BINARY, UNARY, Expression, run_tape
from nexdyn.model.functions import (
    Constant,
    Function,
    Harmonic,
    Linear,
    Polynomial,
    Step5,
    StepChange,
    Table,
    TimeExpression,
    UserFunction,
    as_function,
)
from nexdyn.model.time_kernels import next_row, time_callbacks, time_row


@kernel
def value_and_jet(data, k, t):  # type: ignore[no-untyped-def]
    return time_kernels.time_value(data, k, t), time_kernels.time_jet(data, k, t)


def in_kernel(function: Function, t: float) -> tuple[float, float, float]:
    """y, ẏ, ÿ in the kernel; `time_value` says the same y."""
    y, jet = value_and_jet(np.array([0.0, *time_row(function)]), 1, t)
    np.testing.assert_equal(y, jet[0])
    return jet


def in_python(function: Function, t: float) -> list[float]:
    """y, ẏ, ÿ of the description; NaN where it refuses a value that is not finite."""
    found = []
    for derivative in (function.value, function.derivative, function.second_derivative):
        try:
            found.append(float(derivative(t)))
        except InputError:
            found.append(np.nan)
    return found


TIMES, VALUES = (0.0, 0.3, 0.5, 1.7, 2.0), (1.0, -2.0, 0.5, 4.0, 3.0)
FUNCTIONS = [
    Constant(3.0),
    Linear(1.0, -2.0),
    Harmonic(2.0, 0.7, 0.3, 1.0),
    Polynomial((1.0, -2.0, 0.5, 3.0, -1.0)),
    Polynomial((4.0,)),
    Step5(0.2, 1.0, 1.4, -3.0),
    StepChange(1.0, 2.0, 5.0),
    Table(TIMES, VALUES),
    Table(TIMES, VALUES, "cubic"),
    Table((0.0, 1.0), (2.0, 3.0)),
    TimeExpression("3*sin(2*pi*t) + exp(-t)/(1 + t**2)"),
    TimeExpression("sqrt(0) + 0**2 + log(2)*t"),
    TimeExpression("atan2(sin(2*t), cos(2*t) - 0.2) + (t - 3)**3 + (t + 1)**(t - 1)"),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f"{type(f).__name__} {f.code}")
def test_kernel_and_description_agree_in_value_and_both_derivatives(function: Function) -> None:
    for t in (*np.linspace(-0.5, 2.5, 61), *TIMES, 0.2, 1.4, 1.0):
        assert in_kernel(function, t) == pytest.approx(in_python(function, t), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f"{type(f).__name__} {f.code}")
def test_derivatives_are_those_of_the_value(function: Function) -> None:
    h = 1e-4
    breaks = np.array([*function.breaks(), np.inf])
    for t in np.linspace(-0.47, 2.53, 31):
        if np.abs(breaks - t).min() < 3 * h:
            continue
        before, (_, dy, ddy), after = (in_kernel(function, s) for s in (t - h, t, t + h))
        assert dy == pytest.approx((after[0] - before[0]) / (2 * h), rel=1e-5, abs=1e-6)
        assert ddy == pytest.approx((after[1] - before[1]) / (2 * h), rel=1e-5, abs=1e-5)


def test_a_long_table_finds_every_interval(rng: np.random.Generator) -> None:
    times = np.cumsum(rng.uniform(0.1, 1.0, 1000))
    function = Table(times, rng.normal(size=1000))
    data = np.array(time_row(function))
    for t in (*rng.uniform(0.0, times[-1] + 1.0, 300), *times[:50], *times[-50:]):
        assert time_kernels.time_value(data, 0, t) == pytest.approx(np.interp(t, times, function.values), abs=1e-12)


def test_rows_lie_one_after_the_other() -> None:
    rows = [time_row(function) for function in FUNCTIONS]
    data, k = np.array([x for row in rows for x in row]), 0
    for function in FUNCTIONS:
        assert value_and_jet(data, k, 0.7)[1] == in_kernel(function, 0.7)
        k = int(next_row(data, k))
    assert k == len(data)


# --- expressions ----------------------------------------------------------------------------------------------------

LEAVES = st.one_of(
    st.just((("time", None),)),
    st.floats(-3.0, 3.0).map(lambda x: (("const", float(np.round(x, 3))),)),
    st.sampled_from([0.0, 1.0, 2.0, -1.0, 0.5]).map(lambda x: (("const", x),)),
)
TAPES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(sorted(UNARY))).map(lambda x: (*x[0], (x[1], None))),
        st.tuples(inner, inner, st.sampled_from(sorted(BINARY))).map(lambda x: (*x[0], *x[1], (x[2], None))),
    ),
    max_leaves=8,
)


def is_delicate(tape: Any, t: float) -> bool:
    """Whether rounding or the sign of a zero, which kernels drop, decides: beyond 1e6, 1/0, 0**x, atan2(y, 0)."""
    seen = []

    def watched(op: str, f: Any) -> Any:
        def apply(*operands: Any) -> Any:
            result = f(*operands)
            signed = op in ("/", "**", "atan2") and any(u[0] == 0.0 for u in operands)
            seen.append(signed or np.abs(result[0]) > 1e6)
            return result

        return apply

    def load(op: str, operand: Any) -> Any:
        return (np.array([t]), 1.0, 0.0) if op == "time" else (np.float64(operand), 0.0, 0.0)

    tables = ({op: watched(op, f) for op, f in table.items()} for table in (jets.UNARY, jets.BINARY))
    with np.errstate(all="ignore"):
        run_tape(tape, *tables, load)
    return any(seen)


@given(tape=TAPES, t=st.floats(-2.0, 2.0).map(lambda x: float(np.round(x, 2))))
def test_a_random_expression_is_the_same_in_the_kernel(tape: Any, t: float) -> None:
    assume(not is_delicate(tape, t))
    function = TimeExpression(Expression(tape))
    compiled, described = in_kernel(function, t), in_python(function, t)
    # the description refuses what is not finite
    assert np.isfinite(compiled[0]) == np.isfinite(described[0])
    for a, b in zip(compiled, described, strict=True):
        if np.isfinite(a) and np.isfinite(b):
            assert a == pytest.approx(b, rel=1e-6, abs=1e-9)


# --- user functions -------------------------------------------------------------------------------------------------


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nexdyn.model.callbacks._said_that_python_is_slow", True)


def compiled(f: Any) -> Any:
    return numba.njit(f)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("decorate", [compiled, lambda f: f], ids=["compiled", "python"])
def test_a_user_function_gives_its_derivatives_or_their_differences(decorate: Any) -> None:
    def f(t: float) -> float:
        return t**3

    def df(t: float) -> float:
        return 3 * t**2

    def ddf(t: float) -> float:
        return 6 * t

    alone = as_function(decorate(f))
    complete = UserFunction(decorate(f), decorate(df), decorate(ddf))
    kept = [*time_callbacks(alone), *time_callbacks(complete)]
    assert len(kept) == 4
    for t in (-1.0, 0.0, 0.3, 20.0):
        assert in_kernel(complete, t) == pytest.approx((t**3, 3 * t**2, 6 * t), rel=1e-14)
        assert in_kernel(alone, t) == pytest.approx((t**3, 3 * t**2, 6 * t), rel=1e-6, abs=1e-6)
        assert in_kernel(alone, t) == pytest.approx(in_python(alone, t), rel=1e-6, abs=1e-6)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("decorate", [compiled, lambda f: f], ids=["compiled", "python"])
def test_a_user_function_that_raises_is_nan_and_its_exception_kept(decorate: Any) -> None:
    def late(t: float) -> float:
        if t > 1.0:
            raise ValueError("too late")
        return t

    function = as_function(decorate(late))
    (callback,) = time_callbacks(function)
    assert in_kernel(function, 0.5)[0] == 0.5
    assert callback.take_failure() is None
    assert np.isnan(in_kernel(function, 1.5)).all()
    assert str(callback.take_failure()) == "too late"
    assert callback.take_failure() is None

"""Functions of time: derivatives are those of the values, rows hold the whole function, bad data is refused."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from nexdyn.errors import InputError, SolveError, UnknownNameError
from nexdyn.model import functions
from nexdyn.model.expressions import BINARY, OPCODES, TIME, UNARY
from nexdyn.model.functions import (
    Constant,
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
from nexdyn.model.parameters import Parameter

F0 = Parameter("F0", 3.0)

SMOOTH = [
    Constant(2.0),
    Linear(1.0, -0.5),
    Harmonic(2.0, 0.7, 0.3, -1.0),
    Polynomial((1.0, -2.0, 0.5, 0.25)),
    Polynomial((4.0,)),
    Step5(-1.0, 2.0, 3.0, -1.0),
    Table((-2.0, 0.0, 1.0, 2.5, 4.0), (0.0, 1.0, -1.0, 0.5, 2.0), kind="cubic"),
    *(
        TimeExpression(text)
        for text in (
            "3*sin(2*pi*t)",
            "t**3 - 2*t**2 + t - 1",
            "(t**2 + 1)**0.5",
            "(2 + sin(t))**(1 + cos(t)/2)",
            "2**t",
            "exp(-0.3*t)*cos(5*t)/(2 + t**2)",
            "tan(t/4)",
            "asin(t/9) + acos(t/8) + atan(2*t)",
            "tanh(3*t) + sqrt(t + 5) + log(t + 4)",
            "atan2(sin(t), 2 + cos(t))",
            "abs(t - 20) + min(t, 30, t + 1) - max(-30, t)",
            "sqrt(0) + 0**0*t",
            "-(-t)",
            "1/(t + 10)",
        )
    ),
    UserFunction(math.sin, math.cos, lambda t: -math.sin(t)),
]


@pytest.mark.parametrize("f", SMOOTH, ids=str)
def test_derivatives_are_those_of_the_value(f, rng):
    t = rng.uniform(-1.9, 3.9, 40)
    h = 1e-5
    assert f.derivative(t) == pytest.approx((f.value(t + h) - f.value(t - h)) / (2 * h), rel=1e-6, abs=1e-8)
    assert f.second_derivative(t) == pytest.approx(
        (f.derivative(t + h) - f.derivative(t - h)) / (2 * h), rel=1e-6, abs=1e-7
    )


@pytest.mark.parametrize("f", SMOOTH, ids=str)
def test_functions_work_on_numbers_and_on_arrays_of_any_shape(f):
    t = np.linspace(-1.0, 3.0, 6).reshape(2, 3)
    for method in (f.value, f.derivative, f.second_derivative):
        assert method(t).shape == (2, 3)
        assert np.ndim(method(0.5)) == 0
        assert method(t[1, 2]) == method(t)[1, 2]


def evaluate_row(code, row, t):
    """What a kernel does with a row."""
    if code == functions.CONSTANT:
        return row[0]
    if code == functions.LINEAR:
        return row[0] + row[1] * t
    if code == functions.HARMONIC:
        return row[3] + row[0] * math.sin(2 * math.pi * row[1] * t + row[2])
    if code == functions.POLYNOMIAL:
        return sum(c * t**k for k, c in enumerate(row))
    if code == functions.STEP5:
        s = min(max((t - row[0]) / (row[2] - row[0]), 0.0), 1.0)
        return row[1] + (row[3] - row[1]) * (10 * s**3 - 15 * s**4 + 6 * s**5)
    if code == functions.STEP_CHANGE:
        return row[1] if t < row[0] else row[2]
    if code in (functions.TABLE_LINEAR, functions.TABLE_CUBIC):
        n = int(row[0])
        times, data = row[1 : n + 1], row[n + 1 :]
        t = min(max(t, times[0]), times[-1])
        k = max(i for i in range(n - 1) if times[i] <= t)
        if code == functions.TABLE_LINEAR:
            return data[k] + (data[k + 1] - data[k]) / (times[k + 1] - times[k]) * (t - times[k])
        return sum(c * (t - times[k]) ** i for i, c in enumerate(data[4 * k : 4 * k + 4]))
    assert code == functions.TIME_EXPRESSION
    stack = []
    names = {number: op for op, number in OPCODES.items()}
    for opcode, operand in zip(row[::2], row[1::2], strict=True):
        op = names[int(opcode)]
        if op in BINARY:
            b = stack.pop()
            stack.append(BINARY[op](stack.pop(), b))
        elif op in UNARY:
            stack.append(UNARY[op](stack.pop()))
        else:
            stack.append(t if op == "time" else operand)
    (y,) = stack
    return y


@pytest.mark.parametrize(
    "f", [*SMOOTH[:-1], StepChange(1.0, 2.0, 3.0), Table((0.0, 1.0, 3.0), (1.0, -1.0, 2.0))], ids=str
)
def test_a_row_holds_the_whole_function(f):
    code, row = f.row()
    assert all(type(x) is float for x in row)
    for t in np.linspace(-1.9, 3.9, 21):
        assert evaluate_row(code, row, t) == pytest.approx(f.value(t), rel=1e-12, abs=1e-12)


def test_a_harmonic_has_its_frequency_in_hertz():
    f = Harmonic(2.0, 0.25, phase=math.pi / 2, offset=1.0)
    assert f.value([0.0, 1.0, 2.0, 4.0]) == pytest.approx([3.0, 1.0, -1.0, 3.0])


def test_a_step_rests_at_both_ends():
    f = Step5(1.0, 2.0, 3.0, 6.0)
    assert f.value([0.0, 1.0, 2.0, 3.0, 9.0]).tolist() == [2.0, 2.0, 4.0, 6.0, 6.0]
    assert f.derivative([0.0, 1.0, 3.0, 9.0]).tolist() == [0.0] * 4
    assert f.second_derivative([0.0, 1.0, 3.0, 9.0]).tolist() == [0.0] * 4
    assert f.breaks() == (1.0, 3.0)


def test_a_jump_takes_its_new_value_at_its_time():
    f = StepChange(1.0, 2.0, 3.0)
    assert f.value([0.999, 1.0]).tolist() == [2.0, 3.0]
    assert f.breaks() == (1.0,)


def test_a_table_interpolates_and_holds_its_ends():
    f = Table([0.0, 1.0, 3.0], np.array([1.0, 3.0, -1.0]))
    assert f.value([-5.0, 0.0, 0.5, 1.0, 2.0, 3.0, 9.0]).tolist() == [1.0, 1.0, 2.0, 3.0, 1.0, -1.0, -1.0]
    assert f.derivative([-5.0, 0.5, 2.0, 9.0]).tolist() == [0.0, 2.0, -2.0, 0.0]
    assert f.breaks() == (0.0, 1.0, 3.0)


def test_a_cubic_table_is_the_spline_through_its_points(rng):
    times, values = np.cumsum(rng.uniform(0.1, 1.0, 12)), rng.normal(size=12)
    f, spline = Table(times, values, kind="cubic"), CubicSpline(times, values)
    t = rng.uniform(times[0], times[-1], 50)
    assert f.value(t) == pytest.approx(spline(t), abs=1e-12)
    assert f.derivative(t) == pytest.approx(spline(t, 1), abs=1e-11)
    assert f.second_derivative(t) == pytest.approx(spline(t, 2), abs=1e-10)
    assert f.value([times[0] - 1, times[-1] + 1]) == pytest.approx([values[0], values[-1]])


def test_user_functions_have_derivatives_by_differences():
    f = UserFunction(lambda t: math.sin(3 * t))
    t = np.linspace(-2, 5, 20)
    assert f.derivative(t) == pytest.approx(3 * np.cos(3 * t), abs=1e-8)
    assert f.second_derivative(t) == pytest.approx(-9 * np.sin(3 * t), abs=1e-5)
    assert f.row() == (functions.USER, [])


# --- parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        Constant(F0),
        Linear("=F0", 0.0),
        Harmonic(F0, 0.0, math.pi / 2),
        Polynomial(("=F0", 0.0)),
        Step5(0.0, 0.0, 1.0, F0),
        StepChange(0.0, 0.0, F0),
        Table((0.0, 1.0), (0.0, "=F0")),
        TimeExpression("F0 + 0*t"),
        TimeExpression(F0 + 0 * TIME),
    ],
    ids=lambda f: type(f).__name__,
)
def test_numbers_of_a_function_may_be_parameters(f):
    assert f.names == {"F0"}
    assert f.resolved({"F0": 4.0}).value(9.0) == pytest.approx(4.0)
    assert f.resolved({"F0": 4.0}).names == set()
    with pytest.raises(InputError, match="depends on F0; call resolved"):
        f.value(0.0)
    with pytest.raises(InputError, match="depends on F0; call resolved"):
        f.row()
    with pytest.raises(UnknownNameError, match="no parameter 'F0'"):
        f.resolved({"F1": 1.0})
    with pytest.raises(InputError, match="nan"):
        f.resolved({"F0": math.nan})


def test_a_parameter_that_breaks_a_function_is_refused_when_it_is_resolved():
    f = Step5(0.0, 0.0, "=T", 1.0)
    with pytest.raises(InputError, match="not after it starts"):
        f.resolved({"T": -1.0})


def test_whatever_says_a_function_becomes_one():
    assert as_function(2) == Constant(2.0)
    assert as_function("=2*F0").resolved({"F0": 1.5}) == Constant(3.0)
    assert as_function(F0).names == {"F0"}
    assert as_function("=3*sin(t)") == TimeExpression("3*sin(t)") == TimeExpression("=3*sin(t)")
    assert as_function(2 * TIME).value(2.0) == 4.0
    f = Linear(0.0, 1.0)
    assert as_function(f) is f
    assert as_function(math.cos).value(0.0) == 1.0


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant(math.nan), "constant of Constant is nan"),
        (lambda: Linear(0.0, "fast"), "slope of Linear is the text 'fast'"),
        (lambda: Harmonic(1.0, math.inf), "frequency of Harmonic is inf"),
        (lambda: Harmonic(1.0, "=t"), "depends on the time t"),
        (lambda: Polynomial(()), "coefficients of Polynomial are ()"),
        (lambda: Polynomial(3.0), "coefficients of Polynomial are 3.0"),
        (lambda: Step5(1.0, 0.0, 1.0, 2.0), "Step5 ends at t1 = 1 s, not after it starts at t0 = 1 s"),
        (lambda: Table((0.0, 1.0, 1.0), (1.0, 2.0, 3.0)), "times[2] = 1 follows times[1] = 1"),
        (lambda: Table((0.0, 1.0), (1.0, 2.0, 3.0)), "2 times and 3 values"),
        (lambda: Table((0.0,), (1.0,)), "2 or more"),
        (lambda: Table((0.0, math.nan), (1.0, 2.0)), "times[1] of Table is nan"),
        (lambda: Table((0.0, 1.0), (1.0, 2.0), kind="cubc"), "no kind of table 'cubc'; did you mean 'cubic'?"),
        (lambda: Table("abc", (1.0, 2.0)), "times of Table is 'abc'"),
        (lambda: TimeExpression("3*sine(t)"), "no function 'sine'; did you mean 'sin'?"),
        (lambda: TimeExpression("__import__('os')"), "no function '__import__'"),
        (lambda: TimeExpression(3.0), "text like '3*sin(2*pi*t)'"),
        (lambda: UserFunction(3.0), "f of UserFunction is 3.0; a function of t"),
        (lambda: as_function(None, "torque of force 'a'"), "torque of force 'a' is None"),
        (lambda: as_function("sin(t)", "torque of force 'a'"), "torque of force 'a' is the text 'sin(t)'"),
    ],
)
def test_what_makes_no_function_is_refused(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)


def test_a_function_without_a_value_says_where():
    with pytest.raises(InputError, match=r"'=1.0/\(t - 1.0\)' has no finite value at t = 1 s"):
        TimeExpression("1/(t-1)").value([0.0, 1.0])
    assert TimeExpression("sqrt(t)").value(0.0) == 0.0
    with pytest.raises(InputError, match="no finite derivative at t = 0 s"):
        TimeExpression("sqrt(t)").derivative(0.0)
    with pytest.raises(InputError, match="no finite value at t = -8 s"):
        TimeExpression("t**(1/3)").value(-8.0)


def test_a_user_function_that_fails_says_when_and_which():
    def pulse(t):
        return math.nan if t > 1 else 1 / t

    with pytest.raises(SolveError, match="user function 'pulse' returned nan at t = 2 s") as error:
        UserFunction(pulse).value([1.0, 2.0])
    assert error.value.time == 2.0
    with pytest.raises(SolveError, match=r"'pulse' raised ZeroDivisionError: .* at t = 0 s"):
        UserFunction(pulse).value(0.0)

"""Expressions and quantities: what they mean, and that text never does more than arithmetic."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nexdyn.errors import InputError, UnknownNameError
from nexdyn.model.expressions import OPCODES, TIME, Expression, maximum, minimum
from nexdyn.model.parameters import Parameter, bound, evaluate, frozen, number, parse_expression, vector
from nexdyn.model.system import System

VALUES = {"L": 2.0, "m": 3.0, "angle": 0.5}
L, m, angle = (Parameter(name, value) for name, value in VALUES.items())


# --- laws -----------------------------------------------------------------------------------------------------------

leaves = st.sampled_from([L, m, angle]) | st.floats(0.1, 9.0).map(lambda x: Expression((("const", x),)))


def _combined(children):
    def binary(draw):
        op, a, b = draw
        return Expression((*a.tape, *b.tape, (op, None)))

    def unary(draw):
        op, a = draw
        return Expression((*a.tape, (op, None)))

    return st.tuples(st.sampled_from(["+", "-", "*", "/", "**", "min", "max", "atan2"]), children, children).map(
        binary
    ) | st.tuples(st.sampled_from(["neg", "sin", "cos", "abs", "sqrt", "exp", "log", "tanh"]), children).map(unary)


expressions = st.recursive(leaves, _combined, max_leaves=12)


@given(expressions)
@settings(max_examples=300, deadline=None)
def test_the_text_of_an_expression_parses_back_to_its_tape(expression):
    assert parse_expression(str(expression)).tape == expression.tape


@given(expressions)
@settings(max_examples=300, deadline=None)
def test_an_expression_means_what_python_computes_from_its_text(expression):
    scope = {**VALUES, "__builtins__": {}, "abs": abs, "min": min, "max": max}
    scope |= {name: getattr(math, name) for name in ("sin", "cos", "sqrt", "exp", "log", "tanh", "atan2")}
    try:
        expected = eval(str(expression), scope)
    except (ArithmeticError, ValueError, TypeError):  # TypeError: Python's roots of negative numbers are complex
        expected = None
    if not isinstance(expected, float) or not math.isfinite(expected):
        with pytest.raises(InputError):
            evaluate(expression, VALUES)
    else:
        assert evaluate(expression, VALUES) == pytest.approx(expected, rel=1e-12)


def test_operators_and_numpy_functions_build_expressions():
    built = 2 * L + m / 4 - (L**2) * np.sin(angle) + np.sqrt(m) - abs(-L) + 1 / L - 2**m + np.arctan2(L, m)
    expected = 4.0 + 0.75 - 4 * math.sin(0.5) + math.sqrt(3) - 2 + 0.5 - 8 + math.atan2(2, 3)
    assert evaluate(built, VALUES) == pytest.approx(expected, rel=1e-15)
    assert built.names == {"L", "m", "angle"}
    assert evaluate(minimum(L, m) + maximum(L, "=2*m"), VALUES) == 8.0
    assert evaluate(np.float64(2.0) * L, VALUES) == 4.0
    assert evaluate((np.array([1.0, 2.0]) * L)[1], VALUES) == 4.0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*L", 4.0),
        ("-L**2", -4.0),
        ("(-L)**2", 4.0),
        ("2**-1", 0.5),
        ("2**3**2", 512.0),
        ("8 - 3 - 2", 3.0),
        ("8/4/2", 1.0),
        (" +L ", 2.0),
        ("cos(pi)*e", -math.e),
        ("min(L, m, 1)", 1.0),
        ("max(L, m, 1)", 3.0),
        ("1e-3", 1e-3),
        ("atan2(1, -1)", 3 * math.pi / 4),
    ],
)
def test_text_follows_the_rules_of_arithmetic(text, value):
    assert number("=" + text, VALUES) == pytest.approx(value, rel=1e-15)


def test_an_expression_cannot_be_changed_and_survives_pickling():
    with pytest.raises(InputError, match="cannot be changed"):
        L.value = 3.0
    for x in (2 * L, L, TIME, Parameter("b", "=2*L")):
        again = pickle.loads(pickle.dumps(x))
        assert again == x
        assert repr(again) == repr(x)
        assert hash(again) == hash(x)
    assert repr(2 * L) == "Expression('2.0*L')"
    assert repr(Parameter("b", 2 * L)) == "Parameter('b', '=2.0*L')"


def test_opcodes_are_distinct():
    assert len(set(OPCODES.values())) == len(OPCODES)


# --- text is not trusted --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__import__('os')", "no function '__import__'; functions: abs, "),
        ("__import__('os').system('true')", "no function"),
        ("().__class__.__bases__", "'().__class__.__bases__' is not allowed; valid are numbers, names"),
        ("L.value", "'L.value' is not allowed"),
        ("[x for x in (1, 2)]", "is not allowed"),
        ("lambda: 1", "is not allowed"),
        ("(y := 3)", "is not allowed"),
        ("'a'*3", "is not allowed"),
        ("True", "is not allowed"),
        ("1j", "is not allowed"),
        ("L if m else 2", "is not allowed"),
        ("L < m", "is not allowed"),
        ("f'{L}'", "is not allowed"),
        ("L[0]", "is not allowed"),
        ("L // m", "is not allowed"),
        ("L ^ 2", "write **"),
        ("sin", "sin is a function; write sin("),
        ("sinn(L)", "did you mean 'sin'?"),
        ("sin(L, m)", "sin takes one argument, not 2"),
        ("min(L)", "min takes two arguments or more"),
        ("atan2(L, m, 1)", "atan2 takes two arguments"),
        ("sin(x=L)", "plain arguments"),
        ("sin(*L)", "plain arguments"),
        ("2*", "is no expression"),
        ("", "is no expression"),
        ("L\x00", "is no expression"),
        ("1e999", "a finite number is needed"),
        ("9" * 400, "a finite number is needed"),
        ("t", "depends on the time t"),
        ("2*angel", "no parameter 'angel'; did you mean 'angle'?"),
    ],
)
def test_text_that_is_no_arithmetic_is_refused(text, message):
    with pytest.raises(InputError) as error:
        evaluate(parse_expression(text, VALUES), VALUES)
    assert message in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9**9",
        "9.0**9**9",
        "exp(exp(exp(9)))",
        "1/0",
        "sqrt(-1)",
        "log(0)",
        "(-8)**(1/3)",
        "asin(2)",
        "1e308*10",
        "1e308*10 - 1e308*10",
    ],
)
def test_an_expression_without_a_finite_value_is_refused_at_once(text):
    with pytest.raises(InputError, match=r"(?s)mass of body 'a'"):
        number("=" + text, {}, "mass of body 'a'")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 150 + "1" + ")" * 150,
        "-" * 3000 + "1",
        "(" * 1900 + ")" * 1900,
        "1" + "+1" * 1500,
        "sin(" * 500 + "1" + ")" * 500,
    ],
)
def test_deep_nesting_gives_an_error_or_a_value_but_no_crash(text):
    try:
        value = evaluate(parse_expression(text), {})
    except InputError as error:
        assert "deep" in str(error) or "too many nested" in str(error)
    else:
        assert value == 1.0


@given(st.text(alphabet="0123456789.eE+-*/() ,Lmt_sincopqrtxaw'[]^=#\\\n", max_size=40))
@settings(max_examples=500)
def test_any_text_is_a_finite_number_or_an_input_error(text):
    try:
        assert math.isfinite(number("=" + text, VALUES))
    except InputError as error:
        assert len(str(error)) < 500


def test_size_is_limited():
    with pytest.raises(InputError, match="characters is too long; 4000 at most"):
        parse_expression("1" * 4001)
    x = L
    with pytest.raises(InputError, match="too long; 10000 at most"):
        for _ in range(40):
            x = x + x


# --- quantities -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), L, "=L", "=2"])
def test_a_quantity_is_a_number_an_expression_or_text_with_an_equals_sign(x):
    result = number(x, VALUES)
    assert result == 2.0
    assert type(result) is float


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (math.nan, "mass of body 'a' is nan; a number is needed"),
        (math.inf, "mass of body 'a' is inf; a finite number is needed"),
        (np.float64("nan"), "a number is needed"),
        (10**400, "mass of body 'a' is too large"),
        ("1e-3", "mass of body 'a' is the text '1e-3'; write the number 1e-3 without quotes"),
        ("heavy", "mass of body 'a' is the text 'heavy'; write '=…' for an expression"),
        ("=2*k", "mass of body 'a' = 2.0*k: no parameter 'k'; parameters: L, m, angle"),
        ("=2*angel", "did you mean 'angle'?"),
        ("=2*t", "depends on the time t; only functions of time may"),
        (True, "mass of body 'a' is True; a number or an expression"),
        (None, "mass of body 'a' is None"),
        (1 + 2j, "a number or an expression"),
        ((1.0,), "a number or an expression"),
        ([1.0], "a number or an expression"),
    ],
)
def test_what_is_no_quantity_is_refused_by_name(x, message):
    with pytest.raises(InputError) as error:
        number(x, VALUES, "mass of body 'a'")
    assert message in str(error.value)


def test_a_vector_names_its_bad_component():
    assert vector([1, "=2*L", L], 3, VALUES).tolist() == [1.0, 4.0, 2.0]
    with pytest.raises(InputError, match=r"at of joint 'a'\[1\] is nan"):
        vector((0.0, math.nan, 0.0), 3, VALUES, "at of joint 'a'")
    with pytest.raises(InputError, match="at of joint 'a' has 2 components; 3 are needed"):
        vector((0.0, 1.0), 3, VALUES, "at of joint 'a'")
    with pytest.raises(InputError, match="3 numbers are needed"):
        vector("abc", 3, VALUES)
    with pytest.raises(InputError, match="3 numbers are needed"):
        vector(1.0, 3, VALUES)
    with pytest.raises(InputError, match="a number or an expression"):
        vector(np.zeros((3, 3)), 3, VALUES)


def test_a_bound_may_be_infinite_but_not_nan():
    assert bound(math.inf) == math.inf
    with pytest.raises(InputError, match="upper limit is nan"):
        bound(math.nan, None, "upper limit")


def test_frozen_values_are_plain_and_cannot_change():
    assert frozen([np.float64(1), [2, np.array([3.0, 4.0])]]) == (1.0, (2, (3.0, 4.0)))
    assert type(frozen(np.array([1, 2]))[0]) is int


@pytest.mark.parametrize("name", ["", "2L", "a-b", "lambda", "sin", "pi", "t", "gravity", None, 3, "a b", "a.b"])
def test_a_parameter_has_a_name_that_expressions_can_use(name):
    with pytest.raises(InputError, match="cannot name a parameter"):
        Parameter(name, 1.0)


def test_a_parameter_is_found_under_every_spelling_that_unicode_calls_the_same():
    micro_sign, greek_mu = "\u00b5", "\u03bc"
    assert Parameter(micro_sign, 1.0).name == greek_mu
    assert number(f"={micro_sign}", {greek_mu: 0.3}) == 0.3


def test_an_unknown_parameter_is_an_unknown_name():
    with pytest.raises(UnknownNameError):
        parse_expression("2*k", ["L"])
    assert parse_expression("2*k").names == {"k"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("=a" + ".b" * 500, "is not allowed"),
        ("=f" + "()" * 900, "no function"),
        ("=a" + "[0]" * 900, "is not allowed"),
        ("=" + "-" * 3000 + "1", "nested too deeply"),
        ("=" + "1**" * 900 + "1", "nested too deeply"),
    ],
)
def test_what_is_nested_deeply_is_refused_by_name_of_the_attribute(text: str, told: str) -> None:
    system = System("deep")
    system.parameter("a", 1.0)
    with pytest.raises(InputError, match=f"mass of body 'b': .*{told}"):
        system.add_body("b", mass=text)

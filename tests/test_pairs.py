"""Embedded pairs: each in the table has the orders that it claims, its numbers are those of its source, and every kind of run takes it."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from butcher import holds_up_to, order_of
from numpy.polynomial import Polynomial
from scipy.integrate._ivp import dop853_coefficients, rk

import nexdyn as nx
from nexdyn.cli.door import main
from nexdyn.integrate import adaptive, pairs
from nexdyn.integrate.methods import METHODS, PAIRS
from nexdyn.integrate.pairs.pair import EmbeddedPair, Pair

each = pytest.mark.parametrize("cls", PAIRS.values(), ids=list(PAIRS))
ADDED = {"bs32": nx.BogackiShampine32, "dop853": nx.DOP853}
added = pytest.mark.parametrize("cls", ADDED.values(), ids=list(ADDED))


# --- numbers ----------------------------------------------------------------------------------------------------------


@each
def test_steps_have_their_order_and_not_the_next(cls: type[EmbeddedPair]) -> None:
    """By the conditions of all rooted trees: 200 of them for order 8."""
    A, b, _, order = cls.pair.tableau
    assert order_of(A, b) == order == cls.pair.order


@each
def test_the_estimate_has_its_order(cls: type[EmbeddedPair]) -> None:
    """E of h^(p + 1) from an embedded method of order p; E²/E' of two."""
    A, b, _, _ = cls.pair.tableau
    orders = [order_of(A, b - e) for e in cls.pair.tables.E]
    assert orders[0] < cls.pair.order
    one, two = orders[0] + 1, orders[-1] + 1
    assert cls.pair.error_order + 1 == (one if len(orders) == 1 else 2 * one - two)


def dense_weights(pair: Pair) -> list[Polynomial]:
    """b_i(θ) of every row of K, as in `pair.py`."""
    tables, theta = pair.tables, Polynomial([0.0, 1.0])
    found = []
    for i in range(len(tables.A)):
        change = tables.b[i] if i < len(tables.b) else 0.0
        first = float(i == 0) - change
        second = change - float(i == tables.end) - first
        beyond = Polynomial([0.0])
        for k in range(len(tables.D) - 1, -1, -1):
            beyond = (theta if k % 2 else 1.0 - theta) * (tables.D[k, i] + beyond)
        found.append(theta * (change + (1.0 - theta) * (first + theta * (second + beyond))))
    return found


@each
@pytest.mark.parametrize("theta", [0.1, 1 / 3, 0.5, 0.77, 1.0])
def test_dense_output_has_its_order_everywhere_in_the_step(cls: type[EmbeddedPair], theta: float) -> None:
    at = np.array([weight(theta) for weight in dense_weights(cls.pair)])
    assert holds_up_to(cls.pair.dense_order, cls.pair.tables.A, at, theta)


@each
def test_dense_output_meets_the_steps_at_both_ends_with_its_slope(cls: type[EmbeddedPair]) -> None:
    tables, weights = cls.pair.tables, dense_weights(cls.pair)
    n, sizes = len(tables.A), np.array([np.abs(weight.coef).sum() for weight in weights])
    ends = {x: np.array([weight(x) for weight in weights]) for x in (0.0, 1.0)}
    slopes = {x: np.array([weight.deriv()(x) for weight in weights]) for x in (0.0, 1.0)}
    assert (np.abs(ends[1.0] - np.pad(tables.b, (0, n - len(tables.b)))) <= 1e-15 * (1.0 + sizes)).all()
    assert not ends[0.0].any()
    np.testing.assert_allclose(slopes[0.0], np.eye(n)[0], atol=1e-15)
    assert (np.abs(slopes[1.0] - np.eye(n)[tables.end]) <= 1e-14 * (1.0 + sizes)).all()


def test_dop853_has_the_numbers_of_scipy() -> None:
    theirs, ours = dop853_coefficients, nx.DOP853.pair.tables
    for mine, published in (
        (ours.A, theirs.A), (ours.b, theirs.B), (ours.c, theirs.C), (ours.E, np.array([theirs.E5, theirs.E3])[:, :12]), (ours.D, theirs.D),
    ):  # fmt: skip
        np.testing.assert_array_equal(mine, published)
    assert ours.end == theirs.N_STAGES == 12


@pytest.mark.parametrize(("cls", "theirs"), [(nx.DormandPrince, rk.RK45), (nx.BogackiShampine32, rk.RK23)])
def test_pairs_whose_last_stage_is_the_next_first_have_the_numbers_of_scipy(
    cls: type[EmbeddedPair], theirs: Any
) -> None:
    ours, s = cls.pair.tables, len(theirs.C)
    np.testing.assert_array_equal(ours.A[:s, : theirs.A.shape[1]], theirs.A)
    np.testing.assert_array_equal(ours.b[:s], theirs.B)
    np.testing.assert_array_equal(ours.c[:s], theirs.C)
    np.testing.assert_allclose(np.abs(ours.E[0]), np.abs(theirs.E), atol=1e-16)
    dense = np.array([np.pad(w.coef[1:], (0, 4))[: theirs.P.shape[1]] for w in dense_weights(cls.pair)])
    np.testing.assert_allclose(dense, theirs.P, atol=1e-14 * np.abs(theirs.P).max())


# --- a page that leaves something out ---------------------------------------------------------------------------------


@pytest.mark.parametrize("what", [field.name for field in fields(Pair) if field.default is None])
def test_a_pair_that_leaves_something_out_fails_by_name(what: str) -> None:
    with pytest.raises(TypeError, match=rf"the pair 'DOP853' leaves out {what}"):
        replace(nx.DOP853.pair, **{what: None})


PRINCE = nx.DormandPrince.pair
WRONG: dict[str, dict[str, Any]] = {
    "b does not sum to 1": {"b": [*PRINCE.b[:5], PRINCE.b[5] + 1e-6, 0.0], "last_is_next_first": False},
    "the last stage is the next step's first, and last_is_next_first says otherwise": {"last_is_next_first": False},
    "b · c is not 1/2": {
        "b": [0.2, *PRINCE.b[1:5], PRINCE.b[5] + PRINCE.b[0] - 0.2, 0.0],
        "last_is_next_first": False,
    },
    "error weights do not sum to 0": {"errors": [[1e-3, *PRINCE.errors[0][1:]]]},  # type: ignore[index]
    "dense weights do not sum to 0": {"dense": [[1.0]]},
    "c is not the sum of the rows": {"c": [0.0, 0.21, *PRINCE.c[2:]]},
    "rows, b and c have different numbers of stages": {"c": PRINCE.c[:-1]},
    "a row has coefficients beyond its 7 stages": {"errors": [{9: 1.0}]},
    "a stage depends on itself or on a later one": {"rows": [[0.1, 0.1], *PRINCE.rows[1:]]},
    "errors has neither one row nor two": {"errors": []},
    "an order is no whole number from 1 on": {"error_order": -1},
    "extra_rows and extra_c have different lengths": {"extra_c": [0.5]},
}


@pytest.mark.parametrize("said", WRONG)
def test_a_pair_whose_numbers_contradict_fails_by_name(said: str) -> None:
    with pytest.raises(TypeError, match=rf"the pair 'Dormand–Prince 5\(4\)' contradicts itself: {said}"):
        replace(PRINCE, **WRONG[said])


def test_a_stage_for_dense_output_that_depends_on_a_later_one_fails_by_name() -> None:
    pair = nx.DOP853.pair
    rows = [dict(row if isinstance(row, dict) else enumerate(row)) for row in pair.extra_rows]
    rows[0] |= {0: rows[0].get(0, 0.0) - 0.1, len(pair.b) + 2: 0.1}
    with pytest.raises(TypeError, match="contradicts itself: a stage depends on itself or on a later one"):
        replace(pair, extra_rows=rows)


def test_a_pair_without_the_stage_that_it_claims_fails_by_name() -> None:
    said = "'Bogacki–Shampine 3.2.' contradicts itself: the last stage is not the next step's first, and last_is_next_first says"
    with pytest.raises(TypeError, match=said):
        replace(nx.BogackiShampine32.pair, b=[7 / 24, 1 / 4, 1 / 3, 1 / 8])


def test_a_method_that_leaves_out_its_pair_fails_by_name() -> None:
    with pytest.raises(TypeError, match="the method Bare leaves out pair"):
        type("Bare", (EmbeddedPair,), {"name": "bare"})
    with pytest.raises(TypeError, match="the method Bare leaves out name"):
        type("Bare", (EmbeddedPair,), {"pair": PRINCE})


def test_nothing_but_the_table_knows_the_pairs() -> None:
    """Front door, marches, command line and messages find pairs by their base or in the table."""
    assert set(PAIRS) <= set(METHODS) and all(name == cls.name for name, cls in PAIRS.items())
    names = "|".join(cls for _, cls in pairs.PAGES.values())
    asked = re.compile(rf"is(?:instance|subclass)\([^()]*\b(?:{names})\b")
    pages = {path: path.read_text(encoding="utf-8") for path in Path(nx.__file__).parent.rglob("*.py")}
    assert len(pages) > 500
    assert not [path.name for path, text in pages.items() if asked.search(text)]


# --- runs -------------------------------------------------------------------------------------------------------------


def pendulum() -> nx.System:
    system = nx.System("pendulum", gravity=(0.0, 0.0, -9.81))
    rod = system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", "ground", rod, at=(0, 0, 0), axis=(0, 1, 0), v0=1.0))
    return system


def states(result: nx.Result) -> np.ndarray:
    r = result.recording
    return np.hstack([r.q, r.v, r.a])


TIMES = np.linspace(0.0, 2.0, 57)
LONGEST = {"dopri5": 0.05, "bs32": 0.05, "dop853": 0.4}


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    return states(nx.simulate(pendulum(), 2.0, nx.DOP853(1e-13, 1e-15), output_times=TIMES))


@each
def test_steps_and_dense_output_have_their_measured_order(cls: type[EmbeddedPair], exact: np.ndarray) -> None:
    """Of steps of one length, as tolerances do not bind; dense output of order p in each is of order p + 1 over them all."""
    errors, at_end = [], []
    for dt in (LONGEST[cls.name], LONGEST[cls.name] / 2, LONGEST[cls.name] / 4):
        result = nx.simulate(pendulum(), 2.0, cls(1e3, 1e9, dt_max=dt), output_times=TIMES)
        assert result.recording.steps == pytest.approx(2.0 / dt, abs=2)
        found = np.abs(states(result) - exact)
        errors.append(found.max())
        at_end.append(found[-1].max())
    dense = min(cls.pair.order, cls.pair.dense_order + 1)
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(dense, abs=0.5)
    assert np.log2(at_end[0] / at_end[2]) / 2 > cls.pair.order - 0.5


@each
def test_dense_output_at_the_end_of_a_step_is_that_step(cls: type[EmbeddedPair]) -> None:
    steps = nx.simulate(pendulum(), 2.0, cls(1e-7, 1e-9))
    dense = nx.simulate(pendulum(), 2.0, cls(1e-7, 1e-9), output_times=steps.t.values)
    np.testing.assert_array_equal(dense.t, steps.t)
    np.testing.assert_allclose(states(dense), states(steps), rtol=1e-13, atol=1e-13)


@pytest.fixture
def controls(monkeypatch: pytest.MonkeyPatch) -> list[adaptive.Control]:
    """The controls of the runs of a test."""
    begun, begin = list[adaptive.Control](), adaptive.begin

    def kept(*arguments: Any) -> tuple[adaptive.Control, np.ndarray]:
        control, numbers = begin(*arguments)
        begun.append(control)
        return control, numbers

    monkeypatch.setattr(adaptive, "begin", kept)
    return begun


@each
def test_stages_for_dense_output_alone_are_evaluated_only_where_an_output_falls(
    cls: type[EmbeddedPair], controls: list[adaptive.Control]
) -> None:
    for options in ({"output_every": 10**6}, {"output_times": [1.0]}, {"output_times": [1.0, 1.0 + 1e-9]}):
        nx.simulate(pendulum(), 2.0, cls(1e-6, 1e-8), **options)
    spent = [control.evaluations for control in controls]
    steps, rejected, extra = controls[0].steps, controls[0].rejected, len(cls.pair.extra_c)
    stages = len(cls.pair.b) - 1
    assert spent[0] == 1 + stages * (steps + rejected) + (0 if cls.pair.last_is_next_first else steps)
    assert (spent[1] - spent[0], spent[2] - spent[0]) == (extra + 1, extra + 2)


def closed() -> nx.System:
    return nx.load("four-bar")


def bodies(result: nx.Result) -> np.ndarray:
    return np.asarray(result.position().values[-1])


@pytest.fixture(scope="module")
def closed_exactly() -> np.ndarray:
    return bodies(nx.simulate(closed(), 1.0, nx.DormandPrince(1e-12, 1e-13), output_times=[0.5, 1.0]))


CLOSED: dict[str, Any] = {
    "projected": lambda cls: {"method": cls(1e-8, 1e-10)},
    "stabilised": lambda cls: {"method": cls(1e-8, 1e-10), "loops": nx.Loops("baumgarte")},
    "index 1 projected": lambda cls: {"method": nx.Projection(rtol=1e-8, atol=1e-10, pair=cls.name)},
    "index 1 stabilised": lambda cls: {"method": nx.Baumgarte(rtol=1e-8, atol=1e-10, pair=cls.name)},
    "index 1 partitioned": lambda cls: {"method": nx.Partitioning(rtol=1e-8, atol=1e-10, pair=cls.name)},
}


@pytest.mark.parametrize("how", CLOSED)
@added
def test_loops_close_under_every_pair(cls: type[EmbeddedPair], how: str, closed_exactly: np.ndarray) -> None:
    """With the reactions of the same run in small steps, at outputs inside steps and at their ends."""
    options = CLOSED[how](cls)
    result = nx.simulate(closed(), 1.0, output_times=[0.5, 1.0], **options)
    np.testing.assert_allclose(bodies(result), closed_exactly, atol=3e-7)
    steps = nx.simulate(closed(), 1.0, **options)
    joint = next(iter(steps.system.joints))
    dense = nx.simulate(closed(), 1.0, output_times=steps.t.values, **options)
    largest = np.abs(steps.reaction(joint).values).max()
    np.testing.assert_allclose(dense.reaction(joint).values, steps.reaction(joint).values, atol=1e-6 * largest)


def test_an_unknown_pair_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        nx.InputError, match=r"no pair of Projection 'rk23'; did you mean 'bs32'[?] pairs: dopri5, bs32, dop853"
    ):
        nx.Projection(pair="rk23")


def test_a_pair_and_a_step_are_not_given_together() -> None:
    with pytest.raises(nx.InputError, match="Projection has dt and pair; RK4 takes constant steps"):
        nx.Projection(dt=1e-3, pair="dop853")


def test_a_run_by_a_pair_of_the_user_is_looked_at_and_names_it_where_it_is_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = dataclass(frozen=True)(
        type("Own", (EmbeddedPair,), {"name": "own32", "pair": nx.BogackiShampine32.pair, "__annotations__": {}})
    )
    nx.simulate(pendulum(), 0.1, own(rtol=1e-4)).save(tmp_path / "own.nc")
    assert main(["info", str(tmp_path / "own.nc")]) == 0
    capsys.readouterr()
    assert main(["run", str(tmp_path / "own.nc"), "--t-end", "0.2"]) == 2
    assert "own32" in capsys.readouterr().err

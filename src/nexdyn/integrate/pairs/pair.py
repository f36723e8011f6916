"""What an embedded pair is: coefficients, error weights and dense weights as data, checked when they are made.

    K_i = f(t + c_i h, y + h Σ_j a_ij K_j),   y⁺ = y + h Σ b_i K_i                     Hairer, Nørsett & Wanner, Solving ODEs I, II.4

One vector e of error weights:    error = ‖h Σ e_i K_i‖,                    e = b − b̂
two, of a lower order as well:    error = E² / √(E² + 0.01 E'²),            E, E' the norms by e and by e'                     (II.10)

Dense output is Hermite's cubic through both ends of the step, plus terms that vanish there with their slopes, so that it is
continuous with its derivative whatever the weights are (II.6, as in the programs DOPRI5 and DOP853):

    y(t + θ h) = y + θ (Δ + (1−θ) (F₁ + θ (F₂ + (1−θ) (D₀ + θ (D₁ + (1−θ) (D₂ + θ D₃))))))
    Δ = y⁺ − y,   F₁ = h K_first − Δ,   F₂ = 2 Δ − h (K_first + K_last),   D_k = h Σ_i d_ki K_i

Rows of K: the stages 0 … s − 1; the end of the step, which is stage s − 1 where the last stage is the next step's first, and row s
elsewhere; extra stages of dense output, evaluated only where an output falls in the step; and a state between steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.integrate.given import given_number
from nexdyn.integrate.method import Method, positive
from nexdyn.integrate.tableaus import Tableau

Array = np.ndarray
Row = Sequence[float] | Mapping[int, float]
"""Coefficients from the first stage on, or by stage."""
ROUNDING = 1e-14
"""What sums of printed coefficients may miss."""
_LEFT_OUT: Any = None


class PairTables(NamedTuple):
    """A pair as kernels take it, n the rows of K but for the last."""

    A: Array
    """(n, n)"""
    b: Array
    """(s,)"""
    c: Array
    """(n,)"""
    E: Array
    """(1 or 2, s) error weights."""
    D: Array
    """(m, n) dense weights beyond Hermite's cubic."""
    end: int
    """The row of K of the end of the step."""
    error_order: float
    """p: the error of a step goes as h^p."""


@dataclass(frozen=True)
class Pair:
    """An embedded pair. TypeError that names it for what is left out or contradicts itself.

    order: of the step. error_order: of the estimate, p where the error of a step goes as h^(p + 1). dense_order: of the dense output.
    rows: a_ij of the stages after the first. errors: one or two rows of error weights. last_is_next_first: whether the last stage is
    evaluated at the end of the step. extra_rows, extra_c: of stages for dense output alone, over the rows of K. dense: weights d_k over
    the rows of K. source: where the numbers are printed.
    """

    name: str
    source: str = _LEFT_OUT
    order: int = _LEFT_OUT
    error_order: int = _LEFT_OUT
    dense_order: int = _LEFT_OUT
    rows: Sequence[Row] = _LEFT_OUT
    b: Sequence[float] = _LEFT_OUT
    c: Sequence[float] = _LEFT_OUT
    errors: Sequence[Row] = _LEFT_OUT
    dense: Sequence[Row] = _LEFT_OUT
    last_is_next_first: bool = _LEFT_OUT
    extra_rows: Sequence[Row] = ()
    extra_c: Sequence[float] = ()

    def __post_init__(self) -> None:
        left_out = [field.name for field in fields(self) if getattr(self, field.name) is None]
        if left_out:
            raise TypeError(f"the pair {self.name!r} leaves out {', '.join(left_out)}")
        s, orders = len(self.b), (self.order, self.error_order, self.dense_order)
        self._must(all(type(order) is int and order >= 1 for order in orders), "an order is no whole number from 1 on")
        self._must(len(self.c) == s == len(self.rows) + 1, "rows, b and c have different numbers of stages")
        self._must(len(self.extra_rows) == len(self.extra_c), "extra_rows and extra_c have different lengths")
        self._must(1 <= len(self.errors) <= 2, "errors has neither one row nor two")
        A, b, c, E, D, _, _ = self.tables
        size = float(np.abs(b).sum())
        self._must(abs(b.sum() - 1.0) < ROUNDING * size, "b does not sum to 1")
        one_step = np.array_equal(A[s - 1, :s], b) and c[s - 1] == 1.0
        self._must(
            one_step == self.last_is_next_first,
            f"the last stage is {'' if one_step else 'not '}the next step's first, and last_is_next_first says otherwise",
        )
        self._must(not np.triu(A).any(), "a stage depends on itself or on a later one")
        sums = np.abs(A.sum(axis=1) - c) <= ROUNDING * np.maximum(np.abs(A).sum(axis=1), 1.0)
        self._must(bool(np.all(sums)), "c is not the sum of the rows")
        self._must(abs(b @ c[:s] - 0.5) < ROUNDING * size, "b · c is not 1/2")
        for what, weights in (("error weights", E), ("dense weights", D)):
            vanish = np.abs(weights.sum(axis=1)) <= ROUNDING * np.abs(weights).sum(axis=1)
            self._must(bool(np.all(vanish)), f"{what} do not sum to 0")

    def _must(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise TypeError(f"the pair {self.name!r} contradicts itself: {otherwise}")

    @cached_property
    def tables(self) -> PairTables:
        """As kernels take it."""
        s = len(self.b)
        at_end: list[Row] = [] if self.last_is_next_first else [self.b]
        rows: list[Row] = [(), *self.rows, *at_end, *self.extra_rows]
        n = len(rows)
        c = [*self.c, *([1.0] if at_end else []), *self.extra_c]
        end = s - 1 + len(at_end)
        return PairTables(
            self._table(rows, n), np.array(self.b), np.array(c), self._table(self.errors, s), self._table(self.dense, n), end,
            float(self.error_order + 1),
        )  # fmt: skip

    def _table(self, rows: Sequence[Row], width: int) -> Array:
        table = np.zeros((len(rows), width))
        for i, row in enumerate(rows):
            by_stage = row if isinstance(row, Mapping) else dict(enumerate(row))
            self._must(all(0 <= j < width for j in by_stage), f"a row has coefficients beyond its {width} stages")
            for j, x in by_stage.items():
                table[i, j] = x
        return table

    @property
    def size(self) -> int:
        """Rows of K."""
        return len(self.tables.A) + 1

    @property
    def tableau(self) -> Tableau:
        """Its steps alone."""
        s = len(self.b)
        return Tableau(self.tables.A[:s, :s], self.tables.b, self.tables.c[:s], self.order)


@dataclass(frozen=True)
class EmbeddedPair(Method):
    """Base of explicit methods that choose each step by the error that an embedded pair estimates, with dense output.

    The local error of every component stays, in the root mean square, below atol + rtol · |component| (angles and
    rotations count as 1 rad). `dt_max` [s] bounds the step, `dt_min` [s] is where it gives up.
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    dt_max: float = math.inf
    dt_min: float = 1e-14

    pair: ClassVar[Pair]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for what, kind in (("name", str), ("pair", Pair)):
            if not isinstance(getattr(cls, what, None), kind):
                raise TypeError(f"the method {cls.__name__} leaves out {what}")

    def __post_init__(self) -> None:
        name = type(self).__name__
        for what in ("rtol", "atol", "dt_min"):
            object.__setattr__(self, what, positive(getattr(self, what), f"{what} of {name}"))
        if self.rtol < 1e-14:
            raise InputError(f"rtol of {name} is {self.rtol:g}; below 1e-14 rounding decides")
        if not given_number(self.dt_max, f"dt_max of {name}") > self.dt_min:
            raise InputError(
                f"dt_max of {name} is {self.dt_max}; a number greater than dt_min = {self.dt_min:g} is needed"
            )

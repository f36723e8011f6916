"""What `verify` found as lines of a table, one by one as they come."""

from __future__ import annotations

from collections.abc import Iterable

from nexdyn.problems.problem import Outcome, Problem, Value

HEAD = ("problem", "formulation", "quantity", "value", "reference", "error", "tolerance", "time [s]", "")


class Table:
    """Columns wide enough for some problems."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        found = list(problems)
        runs = [run.formulation for p in found for run in p.runs]
        of = [_quantity(p, name, t) for p in found for name in p.quantities for t in p.reference]
        numbers = [f"{x:.10f}" for p in found for values in p.reference.values() for x in values]
        columns = ([p.name for p in found], runs, of, numbers, numbers, ["0.0e-00"], ["0e-00"], ["000.00"], [""])
        self._widths = [max(len(text) for text in (head, *column)) for head, column in zip(HEAD, columns, strict=True)]

    @property
    def head(self) -> str:
        """The names of the columns."""
        return self._line(HEAD)

    def line(self, outcome: Outcome) -> str:
        """An outcome by its value that is nearest to its tolerance, or furthest beyond."""
        return self._line(_row(outcome, outcome.worst))

    def lines(self, outcome: Outcome) -> list[str]:
        """An outcome with all its values."""
        return [self._line(_row(outcome, value)) for value in outcome.values] or [self.line(outcome)]

    def _line(self, row: Iterable[str]) -> str:
        return "  ".join(text.ljust(width) for text, width in zip(row, self._widths, strict=True)).rstrip()


def _quantity(problem: Problem, name: str, t: float) -> str:
    return f"{name}({t:g} {problem.at}) [{problem.quantities[name]}]"


def _row(outcome: Outcome, value: Value | None) -> tuple[str, ...]:
    problem, wall = outcome.problem, f"{outcome.wall_time:.2f}"
    if value is None:
        return (problem.name, outcome.run.formulation, "", "", "", "", "", wall, f"FAILED: {outcome.failure}")
    return (
        problem.name, outcome.run.formulation, _quantity(problem, value.quantity, value.t), f"{value.value:.10f}",
        f"{value.reference:.10f}", f"{value.error:.1e}", f"{value.tolerance:.0e}", wall,
        "holds" if value.share <= 1.0 else "FAILS",
    )  # fmt: skip

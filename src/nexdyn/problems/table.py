"""What `verify` found as lines of a table, one by one as they come."""

from __future__ import annotations

from collections.abc import Iterable

from nexdyn.problems.problem import Outcome, Problem, Value

HEAD = ("problem", "formulation", "quantity", "value", "reference", "error", "tolerance", "time [s]", "")
NARROW_HEAD = ("quantity", "value", "reference", "error", "allowed")


class Table:
    """Columns wide enough for some problems; on two lines each where one is wider than `width`."""

    def __init__(self, problems: Iterable[Problem], width: int | None = None) -> None:
        found = list(problems)
        runs = [run.formulation for p in found for run in p.runs]
        of = [_quantity(p, name, t) for p in found for name in p.quantities for t in p.reference]
        values = [x for p in found for values in p.reference.values() for x in values]
        numbers = [f"{x:.10f}" for x in values]
        columns = ([p.name for p in found], runs, of, numbers, numbers, ["0.0e-00"], ["0e-00"], ["000.00"], [""])
        self._widths = _widths(HEAD, columns)
        self._narrow = width is not None and sum(self._widths) + 2 * len(HEAD) + len("holds") > width
        if self._narrow:
            short = [f"{x:.7g}" for x in values]
            self._widths = _widths(NARROW_HEAD, (of, short, short, ["0.0e-00"], ["0e-00"]))

    @property
    def head(self) -> str:
        """The names of the columns."""
        return f"problem  formulation\n  {self._line(NARROW_HEAD)}" if self._narrow else self._line(HEAD)

    def line(self, outcome: Outcome) -> str:
        """An outcome by its value that is nearest to its tolerance, or furthest beyond."""
        return self._row(outcome, outcome.worst)

    def lines(self, outcome: Outcome) -> list[str]:
        """An outcome with all its values."""
        return [self._row(outcome, value) for value in outcome.values] or [self.line(outcome)]

    def _row(self, outcome: Outcome, value: Value | None) -> str:
        problem, run, wall = outcome.problem, outcome.run.formulation, f"{outcome.wall_time:.2f}"
        ends = f"FAILED: {outcome.failure}" if value is None else "holds" if value.share <= 1.0 else "FAILS"
        digits = ".7g" if self._narrow else ".10f"
        told = ("",) * 5 if value is None else (
            _quantity(problem, value.quantity, value.t), format(value.value, digits), format(value.reference, digits),
            f"{value.error:.1e}", f"{value.tolerance:.0e}",
        )  # fmt: skip
        if self._narrow:
            first = f"{problem.name}  {run}  {wall} s  {ends}"
            return first if value is None else f"{first}\n  {self._line(told)}"
        return self._line((problem.name, run, *told, wall, ends))

    def _line(self, row: Iterable[str]) -> str:
        return "  ".join(text.ljust(width) for text, width in zip(row, self._widths, strict=True)).rstrip()


def _widths(head: Iterable[str], columns: Iterable[Iterable[str]]) -> list[int]:
    return [max(len(text) for text in (name, *column)) for name, column in zip(head, columns, strict=True)]


def _quantity(problem: Problem, name: str, t: float) -> str:
    return f"{name}({t:g} {problem.at}) [{problem.quantities[name]}]"

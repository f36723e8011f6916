"""Tables whose row i is one value type: `X[i]` reads it, `X[i] = …` writes it, compiled, interpreted and in lanes.

A value type takes consecutive columns of a plain table, so several live side by side in one row of a body:

    X, V = PoseRows(work, 0), MotionRows(work, 12)
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NamedTuple, get_type_hints

from numba.extending import overload

from nexdyn.kernel import formula
from nexdyn.spatial import algebra
from nexdyn.spatial.generic import is_instance


def _leaves(cls: Any, path: str = "") -> Iterator[str]:
    for name, kind in get_type_hints(cls).items():
        yield from _leaves(kind, f"{path}.{name}") if hasattr(kind, "_fields") else [f"{path}.{name}"]


def columns(cls: Any) -> int:
    """How many columns a value type takes."""
    return len(list(_leaves(cls)))


def _build(cls: Any, column: int) -> tuple[str, int]:
    parts = []
    for kind in get_type_hints(cls).values():
        if hasattr(kind, "_fields"):
            text, column = _build(kind, column)
        else:
            text, column = f"rows.table[i, rows.first + {column}]", column + 1
        parts.append(text)
    return f"{cls.__name__}({', '.join(parts)})", column


def _rows_of(cls: Any) -> Any:
    """The table type of value type `cls`; its columns start at `first`."""
    name = f"{cls.__name__}Rows"
    rows: Any = NamedTuple(name, [("table", Any), ("first", int)])  # type: ignore[misc]
    rows.__doc__ = f"Row i is one {cls.__name__}, in {columns(cls)} columns of `table` from column `first`."
    rows.__module__ = __name__
    read, _ = _build(cls, 0)
    write = "\n".join(f"    rows.table[i, rows.first + {k}] = value{leaf}" for k, leaf in enumerate(_leaves(cls)))
    space: dict[str, Any] = dict(vars(algebra))
    exec(f"def get(rows, i):\n    return {read}\ndef put(rows, i, value):\n{write}", space)

    @overload(operator.getitem, strict=False)
    def _get(rows_, i):  # type: ignore[no-untyped-def]
        return space["get"] if is_instance(rows_, rows) else None

    @overload(operator.setitem, strict=False)
    def _put(rows_, i, value):  # type: ignore[no-untyped-def]
        return space["put"] if is_instance(rows_, rows) else None

    rows.__getitem__, rows.__setitem__ = space["get"], space["put"]  # interpreted
    return rows


Vec3Rows = _rows_of(algebra.Vec3)
QuatRows = _rows_of(algebra.Quat)
PoseRows = _rows_of(algebra.Pose)
MotionRows = _rows_of(algebra.Motion)
ForceRows = _rows_of(algebra.Force)
RigidInertiaRows = _rows_of(algebra.RigidInertia)
ArticulatedInertiaRows = _rows_of(algebra.ArticulatedInertia)


@formula
def row(rows, i):  # type: ignore[no-untyped-def]
    """rows[i] for a literal i, which compiled code would take for an index into the tuple itself."""
    return rows[i]

"""A tree as one number, for calls whose crossing from Python would cost more than the work.

An array costs some 60 ns to cross, and a tree is five of them. A handle is the address of eight integers: rows of the
body tables and of the freedom tables, nq, and the addresses of topology, body, freedom and of the scratch of both. Who
holds a handle keeps what it points to: it is made and used inside `Tree` only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from nexdyn.kernel import formula
from nexdyn.tree.tables import (
    BODY_COLUMNS,
    BODY_WORK,
    FREEDOM_COLUMNS,
    FREEDOM_WORK,
    TOPOLOGY_COLUMNS,
    TreeModel,
    TreeWork,
)

FIELDS = 8


class Handle:
    """The eight integers and their address; keeps the tables alive. The tables are C-contiguous."""

    def __init__(self, model: TreeModel, work: TreeWork) -> None:
        self._kept = tables = (*model, *work)
        nq = int(model.topology[0, 2])
        sizes = [len(model.topology), len(model.freedom), nq]
        self._integers = np.array([*sizes, *(table.ctypes.data for table in tables)], dtype=np.int64)
        self.address = int(self._integers.ctypes.data)


def _pointer_to(kind: Any) -> Any:
    @intrinsic
    def pointer(context: Any, address: Any) -> Any:
        kind_of_pointer = types.CPointer(kind)

        def codegen(ctx: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], ctx.get_value_type(kind_of_pointer))

        return kind_of_pointer(types.int64), codegen

    return pointer


_integers_at, _floats_at = _pointer_to(types.int64), _pointer_to(types.float64)


@formula
def tables_at(address):  # type: ignore[no-untyped-def]
    """(model, scratch, nq, nv) of a handle."""
    h = carray(_integers_at(address), (FIELDS,))
    bodies, freedoms = h[0], h[1]
    model = TreeModel(
        carray(_integers_at(h[3]), (bodies, TOPOLOGY_COLUMNS)),
        carray(_floats_at(h[4]), (bodies, BODY_COLUMNS)),
        carray(_floats_at(h[5]), (freedoms, FREEDOM_COLUMNS)),
    )
    work = TreeWork(
        carray(_floats_at(h[6]), (bodies, BODY_WORK)), carray(_floats_at(h[7]), (freedoms, FREEDOM_WORK))
    )
    return model, work, h[2], model.topology[0, 3]

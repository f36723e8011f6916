"""A tree as one number, for calls whose crossing from Python would cost more than the work.

An array costs some 60 ns to cross, and a tree is eight of them. A handle is the address of integers: rows of the body
tables and of the degree of freedom tables, nq, nv, and the addresses of the tables of the model and of the scratch. Who holds a
handle keeps what it points to: it is made and used inside the tree package only. Interpreted, the number is looked up. It is
unsigned where the tree has registered or reversed joints, whose table of bodies is of ``kinds.OF_ANY``.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numba import carray, config, types
from numba.extending import intrinsic

from nexdyn.joints.kinds import OF_ANY
from nexdyn.kernel import allocating, formula
from nexdyn.tree.core.tables import Body, Columns, Dof, Moving, Outward, Reduced, Rigid, Share, TreeModel, TreeWork

FIELDS = 12
WIDTHS = tuple(record.columns for record in (Body, Rigid, Dof, Moving, Outward, Reduced, Columns, Share))
"""Columns of the tables, in the order of the addresses."""


class Handle:
    """The integers and their address; keeps the tables alive. The tables are C-contiguous."""

    def __init__(self, model: TreeModel, work: TreeWork) -> None:
        world = model.topology[0]
        self.tables = model, work, int(world.iq), int(world.iv)
        sizes = [len(model.topology), len(model.freedom), *self.tables[2:]]
        self._integers = np.array([*sizes, *(table.ctypes.data for table in (*model, *work))], dtype=np.int64)
        address = int(self._integers.ctypes.data)
        self.address: Any = np.uint64(address) if model.topology.table.dtype == OF_ANY else address
        _HANDLES[address] = self


_HANDLES: weakref.WeakValueDictionary[int, Handle] = weakref.WeakValueDictionary()


def _pointer_to(kind: Any) -> Any:
    @intrinsic
    def pointer(context: Any, address: Any) -> Any:
        kind_of_pointer = types.CPointer(kind)

        def codegen(ctx: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], ctx.get_value_type(kind_of_pointer))

        return kind_of_pointer(address), codegen

    return pointer


def _pointer_to_bodies(context: Any, handle: Any, address: Any) -> Any:
    kind_of_pointer = types.CPointer(types.int64 if handle.signed else types.int32)

    def codegen(ctx: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[1], ctx.get_value_type(kind_of_pointer))

    return kind_of_pointer(handle, address), codegen


_bodies_at: Any = intrinsic(_pointer_to_bodies)
"""Where the table of bodies of a handle begins, at an address."""


_integers_at, _floats_at = _pointer_to(types.int64), _pointer_to(types.float64)


@formula
@allocating
def _tables_at(address):
    h = carray(_integers_at(address), (FIELDS,))
    bodies, freedoms = h[0], h[1]
    model = TreeModel(
        carray(_bodies_at(address, h[4]), (bodies, WIDTHS[0])),
        carray(_floats_at(h[5]), (bodies, WIDTHS[1])),
        carray(_floats_at(h[6]), (freedoms, WIDTHS[2])),
    )
    work = TreeWork(
        carray(_floats_at(h[7]), (bodies, WIDTHS[3])),
        carray(_floats_at(h[8]), (bodies, WIDTHS[4])),
        carray(_floats_at(h[9]), (freedoms, WIDTHS[5])),
        carray(_floats_at(h[10]), (freedoms, WIDTHS[6])),
        carray(_floats_at(h[11]), (bodies // 2 + 1, WIDTHS[7])),
    )
    return model, work, h[2], h[3]


def _tables_of(address: int) -> Any:
    return _HANDLES[address].tables


tables_at = _tables_of if config.DISABLE_JIT else _tables_at  # type: ignore[attr-defined]
"""(model, scratch, nq, nv) of a handle."""

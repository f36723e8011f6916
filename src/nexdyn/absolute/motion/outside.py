"""Linear systems of a march solved outside the compiled loop, to compare with: SuperLU, or GMRES on an incomplete factorisation.

The loop calls a C function at an address that its tables carry, once with FACTOR and then with SOLVE; it sees the same blocks.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import scipy.sparse.linalg as spla

from nexdyn.absolute.motion.tables import MotionState, MotionTables
from nexdyn.errors import SingularError
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula
from nexdyn.linalg import lu
from nexdyn.linalg.solvers import Pattern, iterative, unknowns
from nexdyn.model.callbacks import C_FUNCTION, call

FACTOR, SOLVE = 0.0, 1.0


class Outside:
    """SuperLU ("lu") or GMRES ("iterative") on the iteration matrix of a state; valid while this object lives."""

    def __init__(self, solver: str, tables: MotionTables, state: MotionState) -> None:
        self._solver, self._state = solver, state
        self._pattern, self._places = Pattern(tables.plan), unknowns(tables.plan)
        self.failure: BaseException | None = None
        """What was raised inside, if anything was."""
        self._function = C_FUNCTION(self._call)
        self.address = float(ctypes.cast(self._function, ctypes.c_void_p).value or 0)

    def _call(self, what: float, given: int, out: int) -> int:
        try:
            if what == FACTOR:
                A = self._pattern.matrix(self._state.upper, self._state.lower)
                self._apply = spla.splu(A).solve if self._solver == "lu" else iterative(A)
            else:
                x = self._state.x.reshape(-1)
                x[self._places] = self._apply(np.ascontiguousarray(x[self._places]))
        except (RuntimeError, SingularError):
            return 1
        except BaseException as error:
            self.failure = error
            return 1
        return 0


factored = generic("factored", "Factor the iteration matrix where the address says; whether that went well.")
solved = generic("solved", "x ← A⁻¹ x by the same; NaN where that goes wrong.")


@formula
def factor(tables, s):
    """Factor the iteration matrix; whether that went well."""
    return factored(tables.outside, tables, s)


@formula
def solve(tables, s):
    """x ← A⁻¹ x; NaN where that goes wrong."""
    solved(tables.outside, tables, s)


@defines(factored)
def _(outside: None, tables: Any, s: Any) -> Any:
    return lu.factor(tables.plan, s.upper, s.lower, s.work) < 0


@defines(factored)
def _(outside: float, tables: Any, s: Any) -> Any:
    if outside != 0.0:
        status, _ = call(outside, FACTOR, (0.0,), (0.0,))
        return status == 0
    return lu.factor(tables.plan, s.upper, s.lower, s.work) < 0


@defines(solved)
def _(outside: None, tables: Any, s: Any) -> Any:
    lu.solve(tables.plan, s.upper, s.lower, s.x)


@defines(solved)
def _(outside: float, tables: Any, s: Any) -> Any:
    if outside != 0.0:
        status, _ = call(outside, SOLVE, (0.0,), (0.0,))
        if status != 0:
            s.x[:] = np.nan
    else:
        lu.solve(tables.plan, s.upper, s.lower, s.x)

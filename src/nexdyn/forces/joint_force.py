"""Joint force: an effort in one degree of freedom of a joint, as a function of time.

    τ = y(t)

Positive effort pushes the child along the positive degree of freedom. It is an input, not stored energy: U = 0. Data: the row
of y.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nexdyn.forces.applied import function_of_time
from nexdyn.forces.between import FreedomForce
from nexdyn.forces.kinds import JOINT_FORCE
from nexdyn.forces.page import ALL_LANES, STORES_NOTHING, InFreedom
from nexdyn.kernel import formula
from nexdyn.model.element import Element, name_of
from nexdyn.model.functions import Function
from nexdyn.model.time_kernels import time_callbacks, time_row, time_value
from nexdyn.spatial.lanes import zero


class JointForce(FreedomForce):
    """An effort [N, N m] in one degree of freedom of a joint, as a function of time.

    effort: a number, an expression, or a function of time (``nexdyn.model.functions``, "=10*sin(t)", a callable f(t)).
    freedom: which of the joint's degrees of freedom, from 0.
    """

    kind, code = "joint_force", JOINT_FORCE
    needs_coordinate = False
    effort: Any

    def __init__(self, name: str, joint: Element | str, effort: Any = 0.0, *, freedom: int = 0) -> None:
        super().__init__(name)
        self._store(joint=name_of(joint), effort=effort, freedom=freedom)

    def check(self, values: Mapping[str, float]) -> None:
        self._function(values)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """The row of the effort."""
        function = self._function(values)
        self._callbacks = time_callbacks(function)
        return time_row(function)

    def _function(self, values: Mapping[str, float]) -> Function:
        return function_of_time(self.effort, values, f"effort of {self}")


@formula
def effort(t, data, k, q):
    """τ = y(t)."""
    return zero(q) + time_value(data, k, t)


PAGE = InFreedom(JOINT_FORCE, "JointForce", effort, STORES_NOTHING, ALL_LANES)

"""What acts in a freedom of a joint: spring, damper, friction, and an effort given as a function of time.

    spring and damper    τ = −k (q − q₀) − d v          U = ½ k (q − q₀)²
    friction             τ = −c tanh(v/v_c)             Coulomb's ±c, regularised: −c v/v_c where |v| ≪ v_c
    joint force          τ = y(t)

Positive effort pushes the child along the positive freedom. A joint's own stiffness, rest, damping, friction and
friction speed are k, q₀, d, c and v_c here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nexdyn.forces.applied import resolved_function
from nexdyn.forces.between import check_freedom
from nexdyn.forces.kinds import JOINT_FORCE
from nexdyn.kernel import formula
from nexdyn.model.callbacks import Callback
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.model.functions import Function, as_function
from nexdyn.model.time_kernels import time_callbacks, time_row, time_value
from nexdyn.spatial.lanes import tanh, zero

if TYPE_CHECKING:
    from nexdyn.model.system import System


class JointForce(ForceElement):
    """An effort [N, N m] in one freedom of a joint, as a function of time.

    effort: a number, an expression, or a function of time (``nexdyn.model.functions``, "=10*sin(t)", a callable f(t)).
    freedom: which of the joint's freedoms, from 0.
    """

    kind, code = "joint_force", JOINT_FORCE
    joint: str
    effort: Any
    freedom: int

    def __init__(self, name: str, joint: Element | str, effort: Any = 0.0, *, freedom: int = 0) -> None:
        super().__init__(name)
        self._store(joint=name_of(joint), effort=effort, freedom=freedom)

    def __repr__(self) -> str:
        return f"JointForce({self.name!r}, in {self.joint!r})"

    def joints(self) -> tuple[str, ...]:
        return (self.joint,)

    def check_in(self, system: System) -> None:
        check_freedom(self, system, needs_coordinate=False)

    def check(self, values: Mapping[str, float]) -> None:
        resolved_function(self._function(), values, f"effort of {self}")

    def data(self, values: Mapping[str, float]) -> list[float]:
        """The row of the effort."""
        self.check(values)
        self._callbacks = time_callbacks(self._function())
        return time_row(self._function(), values)

    def callbacks(self) -> tuple[Callback, ...]:
        return self.__dict__.get("_callbacks", ())

    def _function(self) -> Function:
        return as_function(self.effort, f"effort of {self}")


@formula
def effort(t, data, k, q):  # type: ignore[no-untyped-def]
    """τ = y(t)."""
    return zero(q) + time_value(data, k, t)


@formula
def spring_damper_effort(q, v, damping, stiffness, rest):  # type: ignore[no-untyped-def]
    """τ = −k (q − q₀) − d v."""
    return -(stiffness * (q - rest)) - damping * v


@formula
def friction_effort(v, friction, friction_speed):  # type: ignore[no-untyped-def]
    """τ = −c tanh(v/v_c)."""
    return -(friction * tanh(v / friction_speed))


@formula
def joint_effort(q, v, damping, stiffness, rest, friction, friction_speed):  # type: ignore[no-untyped-def]
    """τ = −k (q − q₀) − d v − c tanh(v/v_c)."""
    return spring_damper_effort(q, v, damping, stiffness, rest) + friction_effort(v, friction, friction_speed)


@formula
def joint_energy(q, stiffness, rest):  # type: ignore[no-untyped-def]
    """U = ½ k (q − q₀)²."""
    x = q - rest
    return 0.5 * stiffness * x * x

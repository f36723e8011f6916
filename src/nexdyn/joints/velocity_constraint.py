"""A velocity row of your own: a linear function of the velocity of one frame in another stays 0.

Velocity = a_x · ẋ + a_θ · ω + b = 0,   x = R_Aᵀ (p_B − p_A),  R = R_Aᵀ R_B,  ω in B's axes      (``constraints.user_velocity``)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nexdyn.errors import InputError
from nexdyn.joints.sided import FunctionConstraint
from nexdyn.model.callbacks import POSE_GRADIENT, callback_of
from nexdyn.model.joint import Joint


class VelocityConstraint(FunctionConstraint):
    """Holds a · (ẋ, ω) + b = 0 of how a frame B on the child moves in a frame A on the parent. A constraint only.

    function(t, x, R, out): fills out (7,) with a_x, a_θ and b; time [s], x (3,) the origin of B in A [m], R (3, 3) the
    rotation of B in A; ẋ is the rate of x, ω the angular velocity of B in A in B's axes. The gradient of a UserConstraint
    is such a function. Made by ``numba.njit``, or plain Python.
    unit: "m/s" or "rad/s", what the row counts as where rows are compared. size [m], period [s]: over which the function
    changes, for the steps of differences. anchor_a, axis_a, reference_a, anchor_b, axis_b, reference_b: A and B, the bodies'
    own frames by default.
    """

    valid_units = ("m/s", "rad/s")
    kind = "velocity_constraint"
    ways = (("moves as its function lets it", 5),)
    structural = Joint.structural | {"function", "unit"}
    function: Callable[..., None]

    def __init__(
        self,
        name: str,
        parent: Any,
        child: Any,
        function: Callable[..., None],
        *,
        unit: str = "m/s",
        size: Any = 1.0,
        period: Any = 1.0,
        **options: Any,
    ) -> None:
        super().__init__(name, parent, child, **options)
        self._store(function=function, unit=unit, size=size, period=period)
        if not callable(function):
            raise InputError(f"function of {self} is {function!r}; a function {POSE_GRADIENT.arguments} is needed")

    @property
    def rows(self) -> tuple[tuple[str, int], ...]:  # type: ignore[override]
        """One row."""
        return (("Velocity" if self.unit == "m/s" else "Turning", 1),)

    def data(self, values: Mapping[str, float]) -> list[float]:
        try:
            callback = callback_of(self.function, POSE_GRADIENT)
        except InputError as error:
            raise InputError(f"{self}: {error}") from error
        self._callbacks = (callback,)
        return [callback.address, 0.0, 0.0, self.number_of("size", values), self.number_of("period", values)]

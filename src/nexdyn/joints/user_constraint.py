"""A constraint of your own: a function of the relative pose of two frames and of the time stays 0.

User = C(x, R, t) = 0,   x = R_Aᵀ (p_B − p_A),   R = R_Aᵀ R_B      (``constraints.user``)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nexdyn.errors import InputError
from nexdyn.joints.sided import FunctionConstraint
from nexdyn.model.callbacks import POSE, POSE_GRADIENT, POSE_HESSIAN, callback_of
from nexdyn.model.joint import Joint


class UserConstraint(FunctionConstraint):
    """Holds function(t, x, R) = 0 of a frame A on the parent and a frame B on the child. A constraint only.

    function(t, x, R) → C: time [s], x (3,) the origin of B in A [m], R (3, 3) the rotation of B in A.
    gradient(t, x, R, out): fills out (7,) with ∂C/∂x, ∂C/∂θ of R exp(θ), θ in B's axes, and ∂C/∂t.
    hessian(t, x, R, out): fills out (7, 7) with the second derivatives, those of θ of C(R exp(θ)) at θ = 0.
    What is not given is taken by central differences. Made by ``numba.njit``, or plain Python.
    unit: "m" or "rad", what C counts as where rows are compared. size [m], period [s]: over which C changes, for the
    steps of differences. anchor_a, axis_a, reference_a, anchor_b, axis_b, reference_b: A and B, the bodies' own frames
    by default.
    """

    valid_units = ("m", "rad")
    kind = "user_constraint"
    ways = (("moves as its function lets it", 5),)
    structural = Joint.structural | {"function", "gradient", "hessian", "unit"}
    function: Callable[..., float]
    gradient: Callable[..., None] | None
    hessian: Callable[..., None] | None

    def __init__(
        self,
        name: str,
        parent: Any,
        child: Any,
        function: Callable[..., float],
        *,
        gradient: Callable[..., None] | None = None,
        hessian: Callable[..., None] | None = None,
        unit: str = "m",
        size: Any = 1.0,
        period: Any = 1.0,
        **options: Any,
    ) -> None:
        super().__init__(name, parent, child, **options)
        self._store(function=function, gradient=gradient, hessian=hessian, unit=unit, size=size, period=period)
        for role in ("function", "gradient", "hessian"):
            given = self.__dict__[role]
            if not callable(given) and (given is not None or role == "function"):
                arguments = POSE.arguments if role == "function" else POSE_GRADIENT.arguments
                raise InputError(f"{role} of {self} is {given!r}; a function {arguments} is needed")

    @property
    def rows(self) -> tuple[tuple[str, int], ...]:  # type: ignore[override]
        """One row."""
        return (("User" if self.unit == "m" else "UserAngle", 1),)

    def data(self, values: Mapping[str, float]) -> list[float]:
        shapes = ((self.function, POSE), (self.gradient, POSE_GRADIENT), (self.hessian, POSE_HESSIAN))
        try:
            made = [None if f is None else callback_of(f, shape) for f, shape in shapes]
        except InputError as error:
            raise InputError(f"{self}: {error}") from error
        self._callbacks = tuple(callback for callback in made if callback is not None)
        addresses = [0.0 if callback is None else callback.address for callback in made]
        return [*addresses, self.number_of("size", values), self.number_of("period", values), 0.0, 0.0]

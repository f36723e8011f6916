"""Point on a curve: the child's point stays on a curve of the parent, wherever the child turns.

Normal = e₁ · r = 0,   Binormal = e₂ · r = 0,   r from the curve's nearest point to the child's (``constraints.curve``)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nexdyn.errors import InputError
from nexdyn.joints.sided import SidedJoint
from nexdyn.model.curves import Curve
from nexdyn.model.joint import TURNS, Joint


class PointOnCurve(SidedJoint):
    """Keeps `anchor_b` of the child (its origin by default) on `curve`. A constraint only, supported by absolute coordinates.

    curve: a SplineCurve, ExpressionCurve or UserCurve in the frame that `anchor_a`, `axis_a`, `reference_a` give on the
        parent (its own by default). An open curve goes on straight beyond its ends; a point that leaves it is reported.
    """

    kind = "point_on_curve"
    rows = (("Normal", 1), ("Binormal", 1))
    ways = (*TURNS, ("slides along its curve", 1))
    structural = Joint.structural | {"curve"}
    refused = ("at", "axis", "reference", "axis_b", "reference_b")
    followed = 1
    curve: Curve

    def __init__(self, name: str, parent: Any, child: Any, *, curve: Any, **options: Any) -> None:
        super().__init__(name, parent, child, **options)
        self._store(curve=curve)

    def data(self, values: Mapping[str, float]) -> list[float]:
        self._callbacks = self.curve.callbacks(values)
        return self.curve.row(values)

    def check_own(self, values: Mapping[str, float]) -> None:
        if not isinstance(self.curve, Curve):
            raise InputError(
                f"curve of {self} is {self.curve!r}; a SplineCurve, ExpressionCurve or UserCurve is needed"
            )
        try:
            self.curve.row(values)
        except InputError as error:
            raise type(error)(f"curve of {self}: {error}") from error

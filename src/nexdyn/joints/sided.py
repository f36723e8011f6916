"""What constraints between a point or frame on each side share: each side's frame is its own body's unless it says else.

X_PA from anchor_a, axis_a, reference_a;   X_CB from anchor_b, axis_b, reference_b
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.joint import Joint, JointFrames
from nexdyn.model.placement import frame


class SidedJoint(Joint):
    """Base of constraints whose two frames need not meet anywhere; a constraint only."""

    tree = False
    refused: ClassVar[tuple[str, ...]] = ("at", "axis", "reference")
    """Arguments of other joints that mean nothing here."""

    def frames(self, values: Mapping[str, float]) -> JointFrames:
        """The joint's frames, each from its own body."""
        return JointFrames(*self._side("_a", values), *self._side("_b", values))

    def _side(self, side: str, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        mine = self.__dict__
        p = np.zeros(3) if mine["anchor" + side] is None else np.array(self.floats_of("anchor" + side, 3, values))
        if mine["axis" + side] is None and mine["reference" + side] is None:
            return np.eye(3), p
        return frame(*self._axes(side, values)), p

    def check(self, values: Mapping[str, float]) -> None:
        for attribute in self.refused:
            if self.__dict__[attribute] is not None:
                raise InputError(f"{self} takes no {attribute}: give anchor_a on the parent, anchor_b on the child")
        super().check(values)


class FunctionConstraint(SidedJoint):
    """Base of constraints that a function of the user's says of two frames."""

    valid_units: ClassVar[tuple[str, str]]
    unit: str

    def check_own(self, values: Mapping[str, float]) -> None:
        if self.unit not in self.valid_units:
            raise InputError(f"unit of {self} is {self.unit!r}; {' and '.join(self.valid_units)} are valid")
        for attribute in ("size", "period"):
            if not self.number_of(attribute, values) > 0.0:
                raise InputError(f"{attribute} of {self} is {self.__dict__[attribute]}; it must be greater than 0")

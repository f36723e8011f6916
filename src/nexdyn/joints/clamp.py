"""Clamp: a general joint that events switch on and off in a run, as a gripper, a brake or a latch does.

    off   none of its rows acts:  C = 0,  Cq = 0
    on    all that are not free act. Where an event switches it on, its frame B is put where its frame A is at that moment, so that C = 0,
          and velocities jump to what all rows allow:   M (v⁺ − v) + Cqᵀ Λ = 0,   Cq v⁺ = ν,   with Λ the impulses (``simulation.impulses``)

Rows, and what `free` means, are those of ``general``. It has no coordinates of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from nexdyn.errors import InputError
from nexdyn.joints.general import GeneralJoint
from nexdyn.model.joint import JointFrames


class Clamp(GeneralJoint):
    """Holds two bodies together, in all directions but those in `free`, while it is on. Events switch it: ``nx.Event(…, on="grip")``,
    ``off="grip"``. A constraint only.

    on: whether it holds at the start. Then it holds the described pose, or closes the gap that its two sides leave; where an event switches
        it on, it holds the pose that its bodies have at that moment, wherever that is. Their velocities then jump as in an impact without
        rebound, all other constraints kept; `Result.events` has the impulse.
    free: the directions that it leaves free, as of a GeneralJoint; none by default. ("x", "y", "z", "rx", "ry") beside a hinge about z is a
        brake: it holds the angle alone, so that its moment is unique.
    at, axis, reference and those of the two sides are as of all joints.
    """

    kind = "clamp"
    coordinates: ClassVar[Any] = ()
    switchable = True
    structural = GeneralJoint.structural | {"on"}
    on: bool

    def __init__(
        self, name: str, parent: Any, child: Any, *, on: bool = True, free: Sequence[str] | str = (), **options: Any
    ) -> None:
        self._store(on=on)
        super().__init__(name, parent, child, free=free, **options)

    @property
    def is_off(self) -> bool:
        return bool(self.__dict__.get("_off", not self.on))

    def frames(self, values: Mapping[str, float]) -> JointFrames:
        """As of all joints; B where the event that switched it on has put it."""
        found = super().frames(values)
        if "_held" not in self.__dict__:
            return found
        held = np.array(self.__dict__["_held"])
        return JointFrames(found.R_AJ, found.p_AJ, held[:9].reshape(3, 3), held[9:])

    def check_own(self, values: Mapping[str, float]) -> None:
        super().check_own(values)
        if type(self.on) is not bool:
            raise InputError(f"on of {self} is {self.on!r}; True or False is needed")

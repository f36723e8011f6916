"""Drivers that fight: a self-stress with the row of a driver in it means that the driver is not free to drive.

Whether it is so must not depend on what the drivers say. Where they keep the pose from closing, the rows are looked at
in the pose that the joints alone allow.
"""

from __future__ import annotations

import numpy as np

from nexdyn.absolute.model.configuration import Configuration, feasible_pose
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.absolute.model.redundancy import Redundancy, find_redundancy
from nexdyn.errors import InputError


def refuse_overdriven(
    model: AbsoluteModel, redundancy: Redundancy, pose: Configuration, W: np.ndarray, length: float, t: float = 0.0
) -> None:
    """InputError naming the drivers of which one row depends on others, and the joints that have a part in it."""
    if not model.drivers:
        return
    if not pose.converged:
        alone = feasible_pose(absolute_model(model.system, drivers=False), model.q, W, length, t=t)
        if not alone.converged:
            return  # the joints do not close by themselves
        redundancy = find_redundancy(model, alone.q, t)
    for found in redundancy.dropped:
        rows = [model.rows[r] for r in sorted([found.row, *found.rows.tolist()])]
        drivers = list(dict.fromkeys(row.driver for row in rows if row.driver is not None))
        joints = list(dict.fromkeys(row.joint for row in rows if row.driver is None))
        if len(drivers) > 1:
            names = " and ".join(repr(name) for name in drivers)
            raise InputError(
                f"system {model.system.name!r} is over-driven: drivers {names} drive the same motion; keep one of them"
            )
        if drivers:
            more = ", …" if len(joints) > 5 else ""
            raise InputError(
                f"driver {drivers[0]!r} drives what the joints {', '.join(joints[:5])}{more} do not let move in this pose; "
                f"remove the driver, drive another joint, or start away from the dead centre"
            )

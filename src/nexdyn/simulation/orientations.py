"""Why a run stops where a driver of an orientation asks for what there is none of: a pitch beyond ±π/2, a quaternion of no length."""

from __future__ import annotations

from nexdyn.errors import NexDynError
from nexdyn.model.driver import orientation_wrong_at
from nexdyn.model.system import System


def impossible_orientation(system: System, t: float, dt: float) -> str:
    """What a driver of an orientation cannot do in a step of dt from or to t [s]; "" for nothing, or where its function has failed."""
    try:
        return orientation_wrong_at(system, t, dt) or orientation_wrong_at(system, t + dt)
    except NexDynError:
        return ""

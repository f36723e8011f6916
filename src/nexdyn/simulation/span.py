"""What a run is asked for: the time it ends at and the times it records, checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.integrate.given import NO_NUMBERS, given_numbers


def checked_end(t_end: object, now: float) -> float:
    """`t_end` [s] as a number that is finite and not before `now`."""
    try:
        if isinstance(t_end, NO_NUMBERS):
            raise TypeError
        end = float(t_end)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"t_end is {t_end!r}; a time in seconds is needed") from None
    except OverflowError:
        raise InputError("t_end is too large for a number; a time in seconds is needed") from None
    if not math.isfinite(end) or end < now:
        raise InputError(f"t_end is {end:g} s; it must be finite and not before the present time {now:g} s")
    return end


def checked_times(output_times: Any, now: float, t_end: float) -> np.ndarray:
    """`output_times` [s] as a row of numbers that increase from `now` to `t_end` at most; empty for None."""
    if output_times is None:
        return np.empty(0)
    try:
        times = np.atleast_1d(given_numbers(output_times))
    except (TypeError, ValueError):
        raise InputError(f"output_times is {output_times!r}; times in seconds are needed") from None
    if times.ndim != 1 or times.size == 0:
        raise InputError(f"output_times has shape {times.shape}; one time or more in a row is needed")
    if not (np.diff(times) > 0.0).all() or not (now <= times[0] and times[-1] <= t_end):
        raise InputError(f"output_times must increase strictly from {now:g} s or later to {t_end:g} s at most")
    return times

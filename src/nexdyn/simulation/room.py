"""Whether what a run is to record fits into the memory of the machine."""

from __future__ import annotations

import math
import os

from nexdyn.errors import InputError
from nexdyn.simulation.march import March


def refuse_too_much(march: March, t_end: float) -> None:
    """InputError where the samples of a run until t_end [s], by steps that are given, would be more than the memory of the machine."""
    if march.constant_step is None or not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return
    memory = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    samples = (t_end - march.t) / march.constant_step / march.output_every
    needed = 8.0 * march.numbers * samples
    if needed > memory:
        every = 10 ** math.ceil(math.log10(2.0 * needed / memory * march.output_every))
        raise InputError(
            f"to record {samples:.3g} times takes {1e-9 * needed:.3g} GB, and this machine has {1e-9 * memory:.3g}; record fewer, by "
            f"output_every={every} or output_times, or give a larger dt"
        )

"""Which kernels a mechanism gets: those of what it has, or those of the richest.

What a mechanism has not – forces, springs, loads, contacts, curves – is left out of what is compiled for it: the first run of a plain
one compiles less. A program that meets many unlike mechanisms compiles less where all of them share the kernels of the richest, which
pass over what is not there: `NEXDYN_ONE_FOR_ALL=1`.
"""

from __future__ import annotations

import os

one_for_all = os.environ.get("NEXDYN_ONE_FOR_ALL", "0") not in ("", "0")


def leaves_out(absent: object) -> bool:
    """Whether kernels are compiled without a part that is absent."""
    return bool(absent) and not one_for_all

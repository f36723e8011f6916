"""What both ways to compile a function are told."""

from __future__ import annotations

from enum import Enum
from typing import Any

FLOATING_POINT = {"contract", "nsz"}
"""`contract` allows fused multiply-add, `nsz` drops x + 0."""
NUMBERS: dict[str, Any] = {"fastmath": FLOATING_POINT, "error_model": "numpy"}
LINE = 64
"""Bytes of a line of the processor's cache."""


class Copied(Enum):
    """Whether a formula is copied into its callers."""

    MAYBE = "where LLVM thinks it pays"
    ALWAYS = "wherever it is called"
    NEVER = "nowhere"


def allocates(f: Any) -> bool:
    """Whether `f` says that it makes arrays."""
    return "allocating" in f.__dict__

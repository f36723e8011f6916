"""Tiers of processors: what kernels of a release are made for, and which of them serve on this processor.

A tier is the set of instructions that processors have in common since some year:

    x86-64-v4   AVX-512 in its F, BW, CD, DQ and VL parts    8 doubles in a register   servers since 2017, Zen 4
    x86-64-v3   AVX2, FMA and BMI                            4                         Haswell (2013), Zen
    arm64       ARMv8 with NEON                              2, of which lanes take 4

Kernels that a machine compiles for itself are of no tier: Numba uses all that its processor has, and names them by it. They are looked
for first. What is not among them is looked for in the package: as made for this very processor, which `pip install .` does, then as made
for the tiers that it runs, the best first. Calls from one kind to another are the same, since lanes of another width are another type.

Source of the levels of x86-64: System V ABI, AMD64 supplement, section 3.1.1.
"""

from __future__ import annotations

import functools
import platform
from typing import Any, NamedTuple

from nexdyn import kernel_folders
from nexdyn.numba_parts import llvm

Kind = tuple[str, str, str]
"""What code is made for, as Numba's code generator names it: the system, the processor, its instructions."""


class Tier(NamedTuple):
    """A tier as LLVM is told of it."""

    name: str
    processor: str
    instructions: tuple[str, ...]

    @property
    def features(self) -> str:
        """For LLVM; the longest registers are used, which it avoids by itself on processors of AVX-512."""
        wide = ("-prefer-256-bit",) if "avx512f" in self.instructions else ()
        return ",".join((*(f"+{name}" for name in self.instructions), *wide))

    @property
    def environment(self) -> dict[str, str]:
        """What a process is started with that compiles for the tier."""
        return {"NUMBA_CPU_NAME": self.processor, "NUMBA_CPU_FEATURES": self.features}


_V3 = (
    "avx", "avx2", "bmi", "bmi2", "cmov", "cx16", "cx8", "f16c", "fma", "fxsr", "lzcnt", "mmx", "movbe", "popcnt", "sahf", "sse", "sse2",
    "sse3", "sse4.1", "sse4.2", "ssse3", "xsave",
)  # fmt: skip
_X86 = (
    Tier("x86-64-v4", "x86-64-v4", (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
    Tier("x86-64-v3", "x86-64-v3", _V3),
)
_ARM = (Tier("arm64", "generic", ("fp-armv8", "neon")),)
TIERS = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}
"""By the name that the system gives the machine, in lower case, the best first."""


def of_machine() -> tuple[Tier, ...]:
    """The tiers that there are for a machine of this kind, the best first."""
    return TIERS.get(platform.machine().lower(), ())


@functools.cache
def that_run() -> tuple[Tier, ...]:
    """The tiers of which this processor has all instructions, the best first."""
    has = llvm.get_host_cpu_features()
    return tuple(tier for tier in of_machine() if all(has.get(name, False) for name in tier.instructions))


@functools.cache
def _shipped() -> tuple[Tier, ...]:
    made = kernel_folders.made_for().get("tiers", [])
    return tuple(tier for tier in that_run() if tier.name in made)


def kinds(generator: Any) -> tuple[Kind, ...]:
    """What code that came with the package may be made for, to serve here: the first that is found does."""
    own: Kind = generator.magic_tuple()
    return own, *((own[0], tier.processor, tier.features) for tier in _shipped())


_served: dict[str, None] = {}


def serves(kind: Kind) -> None:
    """Code of this kind is used in this process."""
    tier = next((tier.name for tier in of_machine() if kind[1:] == (tier.processor, tier.features)), None)
    _served[tier or kind[1]] = None


def served() -> str:
    """What the kernels of this process were made for: tiers, and the name of its processor where it compiled some for itself."""
    return ", ".join(_served) or str(llvm.get_host_cpu_name())

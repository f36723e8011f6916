"""What Numba is not asked twice: the answers are those that it gives."""

from __future__ import annotations

from typing import Any

import numba
from numba.core.compiler import Flags

import nexdyn.kernel  # noqa: F401  which leaves the timers of its own functions out


def flags(**given: Any) -> Any:
    made: Any = Flags()
    for name, value in given.items():
        setattr(made, name, value)
    return made


def test_flags_are_compared_as_by_name() -> None:
    default, explicit, other = flags(), flags(nrt=flags().nrt), flags(nrt=not flags().nrt)
    assert default == explicit and explicit == default and hash(default) == hash(explicit)
    assert default != other and other != explicit
    assert default.values() == explicit.values() != other.values()
    assert default != object()
    assert {default: 1}[explicit] == 1 and other not in {default: 1}


def test_functions_of_users_have_their_timers() -> None:
    @numba.njit
    def f(x):  # type: ignore[no-untyped-def]
        return 2.0 * x

    assert f(1.0) == 2.0
    (timers,) = (made["timers"] for made in f.get_metadata().values())
    assert {"compiler_lock", "llvm_lock"} <= set(timers)

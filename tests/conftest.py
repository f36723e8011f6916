"""What all tests share: a kernel cache of their own, reproducible random numbers, Hypothesis without deadlines."""

from __future__ import annotations

import os
import signal
import zlib

import numpy as np
import pytest
from hypothesis import settings

# A first example may compile a kernel: no deadline. In CI the examples are the same in every run.
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_configure(config: pytest.Config) -> None:
    """Keep kernels from run to run, away from the user's; `pytest --cache-clear` starts cold."""
    if "NEXDYN_CACHE_DIR" not in os.environ:
        os.environ["NEXDYN_CACHE_DIR"] = str(config.cache.mkdir("nexdyn-kernels"))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in what a shell runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name only."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))

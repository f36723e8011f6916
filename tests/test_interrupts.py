"""Ctrl-C where Python would lose it: in a callback from LLVM, and in one of another kind below the command line."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nexdyn.cli.terminal import CtrlC
from nexdyn.compiler.interrupts import signals_wait

COMPILES = """
import signal

from llvmlite.binding import executionengine

told, engine = [], executionengine.ExecutionEngine


def and_press(call):
    def press(self, data):
        told.append(call.__name__)
        if len(told) <= 3:
            signal.raise_signal(signal.SIGINT)
        return call(self, data)

    return press


executionengine._notify_c_hook = executionengine._ObjectCacheNotifyFunc(and_press(engine._raw_object_cache_notify))
executionengine._getbuffer_c_hook = executionengine._ObjectCacheGetBufferFunc(and_press(engine._raw_object_cache_getbuffer))

from nexdyn.kernel import kernel


@kernel
def double(x):
    return 2.0 * x


for _ in range(2):
    try:
        print(double(2.0))
        break
    except KeyboardInterrupt:
        print("interrupted")
"""


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_what_is_pressed_within_is_heard_at_the_end() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), signals_wait():
        press()
        done.append("all of it")
    assert done == ["all of it"]
    with pytest.raises(KeyboardInterrupt):
        press()


def test_compiling_is_stopped_by_what_comes_while_llvm_calls_back(tmp_path: Path) -> None:
    (tmp_path / "compiles.py").write_text(COMPILES)
    settings = {**os.environ, "NEXDYN_CACHE_DIR": str(tmp_path / "kernels")}
    for _ in range(2):  # compiled, then read from the disk
        done = subprocess.run(
            [sys.executable, "compiles.py"], cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=240
        )
        assert (done.stdout, done.stderr) == ("interrupted\n4.0\n", "")


def test_a_program_that_does_not_listen_is_not_asked() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals_wait():
            press()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_command_line_hears_what_a_callback_drops() -> None:
    callback = ctypes.CFUNCTYPE(None)(press)
    with pytest.raises(KeyboardInterrupt), CtrlC():
        callback()
        end = time.monotonic() + 10.0
        while time.monotonic() < end:
            time.sleep(0.01)
    with pytest.raises(KeyboardInterrupt):
        press()

"""What Python programs say while they compile: at a terminal and in a notebook, after two seconds, and nowhere else."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nexdyn import kernel_folders
from nexdyn.assembly import compile_notice
from nexdyn.assembly.compile_notice import CompileNotice
from nexdyn.assembly.stopwatch import compiling_told

PROGRAM = """
import nexdyn as nx
nx.simulate
from nexdyn.assembly import compile_notice
compile_notice.SILENT = compile_notice.EVERY = 0.0
from nexdyn.kernel import kernel

def twice(x):
    return x + x

twice.__module__ = "nexdyn.of_a_test"
kernel(twice)(1.0)
"""
FIRST = "nexdyn: compiling what has not run before, once; it is kept for later runs (NEXDYN_QUIET=1 leaves this out)"


def at_a_terminal(program: str, folder: Path, **variables: str) -> str:
    """What a program writes to stderr that is a terminal."""
    reader, writer = pty.openpty()
    file = folder / "program.py"
    file.write_text(program)
    with os.fdopen(reader, "rb", buffering=0) as said:
        process = subprocess.Popen(
            [sys.executable, str(file)], env=os.environ | {"NEXDYN_CACHE_DIR": str(folder / "kernels"), "COLUMNS": "120", **variables},
            stdout=subprocess.PIPE, stderr=writer,
        )  # fmt: skip
        os.close(writer)
        text = b""
        while True:
            try:
                part = said.read(4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        process.communicate()
    assert process.returncode == 0, text.decode()
    return text.decode().replace("\r\n", "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_at_a_terminal_a_program_says_that_it_compiles_and_leaves_one_line(tmp_path: Path) -> None:
    first, moving = at_a_terminal(PROGRAM, tmp_path).split("\n", 1)
    assert first == FIRST
    assert re.search(r"\rnexdyn: compiling of_a_test\.twice, after 0 other functions, for 0 s so far", moving)
    assert re.search(r"\r +\r$", moving), "the moving line is taken away"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_a_variable_leaves_it_out_and_pipes_get_nothing(tmp_path: Path) -> None:
    assert at_a_terminal(PROGRAM, tmp_path, NEXDYN_QUIET="1") == ""
    environment = os.environ | {"NEXDYN_CACHE_DIR": str(tmp_path / "others")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_functions_that_are_not_nexdyns_are_compiled_without_a_word(tmp_path: Path) -> None:
    assert at_a_terminal(PROGRAM.replace("nexdyn.of_a_test", "of_a_user"), tmp_path) == ""


# --- the words, on a clock of the test ------------------------------------------------------------------------------


class Screen(io.StringIO):
    """A terminal: what stands in its last line."""

    def isatty(self) -> bool:
        return super().isatty() or True  # ValueError where it is closed

    @property
    def last(self) -> str:
        return self.getvalue().split("\n")[-1].split("\r")[-1].rstrip()


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    made = Screen()
    monkeypatch.setattr(compile_notice, "sys", SimpleNamespace(stderr=made, modules={}))
    monkeypatch.delenv("NEXDYN_QUIET", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return made


def of(name: str, module: str = "nexdyn.absolute.march") -> Any:
    """The event of a function."""
    return SimpleNamespace(
        data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module, __name__=name))}
    )


def test_two_seconds_pass_in_silence_and_what_follows_is_counted(screen: Screen) -> None:
    now = [0.0]
    notice = CompileNotice(lambda: now[0])

    def at(t: float, what: str, event: Any) -> str:
        now[0] = t
        getattr(notice, f"on_{what}")(event)
        return screen.last

    assert at(0.0, "start", of("short")) == at(1.5, "end", of("short")) == ""
    assert at(100.0, "start", of("long")) == "", "time between functions is not of compiling"
    assert at(100.4, "start", of("inner")) == ""
    assert at(100.6, "end", of("inner")) == "nexdyn: compiling march.long, after 1 other function, for 2 s so far"
    assert at(100.7, "start", of("inner")).endswith("for 2 s so far"), "it moves twice a second at most"
    assert at(110.0, "end", of("inner")).endswith("for 12 s so far")
    assert at(111.0, "end", of("long")) == ""
    assert screen.getvalue().count("\n") == 1
    assert at(200.0, "start", of("next")) == "nexdyn: compiling march.next, after 2 other functions, for 12 s so far"


def test_kernels_of_other_versions_are_told_once_with_the_cure(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "made.json").write_text(json.dumps({"versions": kernel_folders.versions() | {"NumPy": "1.0"}}))
    monkeypatch.setattr(kernel_folders, "SHIPPED", tmp_path)
    monkeypatch.setattr(compile_notice, "SILENT", 0.0)
    now = [0.0]
    notice = CompileNotice(lambda: now[0])
    for name in ("first", "second"):
        notice.on_start(of(name))
        now[0] += 1.0
        notice.on_end(of(name))
    told = [line.rpartition("\r")[2] for line in screen.getvalue().split("\n")]
    assert told[0].startswith("nexdyn: compiling what has not run before, once; ")
    why = f"made for NumPy 1.0, here {kernel_folders.versions()['NumPy']}"
    assert (
        told[1] == f"nexdyn: kernels came with the package, but {why}; `nexdyn warm` compiles what first commands need"
    )
    assert len(told) == 3, "it stands once"
    monkeypatch.setenv("NEXDYN_QUIET", "1")
    CompileNotice(lambda: now[0]).on_start(of("third"))
    assert screen.getvalue().count("`nexdyn warm`") == 1


def test_who_has_words_of_their_own_is_left_alone(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_notice._is_wanted()
    with compiling_told(lambda *_: None):
        assert not compile_notice._is_wanted()
    with monkeypatch.context() as patch:
        patch.setitem(compile_notice.sys.modules, "nexdyn.cli.app", SimpleNamespace())
        assert not compile_notice._is_wanted()
    with monkeypatch.context() as patch:
        patch.setattr("multiprocessing.current_process", lambda: SimpleNamespace(name="LokyProcess-1"))
        assert not compile_notice._is_wanted()
    screen.close()
    assert not compile_notice._is_wanted()


def test_a_notebook_is_told_and_a_pipe_is_not(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe(io.StringIO): ...

    class OutStream(io.StringIO): ...

    OutStream.__module__ = "ipykernel.iostream"
    for stream, told in ((Pipe(), False), (OutStream(), True), (None, False)):
        monkeypatch.setattr(compile_notice.sys, "stderr", stream)
        assert compile_notice._is_wanted() == told


def test_a_terminal_that_is_gone_stops_nothing(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_: str) -> int:
        raise BrokenPipeError

    monkeypatch.setattr(screen, "write", gone)
    now = [0.0]
    notice = CompileNotice(lambda: now[0])
    notice.on_start(of("long"))
    now[0] = 5.0
    notice.on_start(of("inner"))
    notice.on_end(of("inner"))
    notice.on_end(of("long"))


def test_what_others_compile_may_lack_a_module_and_a_name(screen: Screen) -> None:
    notice = CompileNotice()
    scope: dict[str, Any] = {}
    exec("def f(x):\n    return x + 1", scope)
    function = scope["f"]
    function.__module__ = None
    for dispatcher in (SimpleNamespace(py_func=function), SimpleNamespace(), SimpleNamespace(py_func=object())):
        notice.on_start(SimpleNamespace(data={"dispatcher": dispatcher}))
        notice.on_end(SimpleNamespace(data={}))
    assert screen.getvalue() == ""

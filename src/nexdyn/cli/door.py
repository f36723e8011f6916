"""The door of the program: a command line goes in, an exit code comes out, and never a traceback.

With `--json`, what went wrong is {"error": {...}} on stdout; else it is one message on stderr.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nexdyn.cli import terminal
from nexdyn.cli.codes import BAD_INPUT, DONE, FAULT, INTERRUPTED, NO_READER, NO_SOLUTION
from nexdyn.errors import AssemblyError, NexDynError, SolveError, nearest

if TYPE_CHECKING:
    from cyclopts import CycloptsError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (`sys.argv` by default) and return its exit code, as `nexdyn.cli.codes` has them."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = given[: given.index("--")] if "--" in given else given
    debug = "--debug" in options or os.environ.get("NEXDYN_DEBUG", "") not in ("", "0")
    terminal.prepare_streams()
    code = DONE
    try:
        code = _answered(given, "--json" in options, debug)
        _forget_interrupts()
        sys.stdout.flush()
    except BrokenPipeError:
        _leave_stdout()
        return NO_READER
    except OSError as error:  # stdout is a file on a full disk
        if code != FAULT:  # or the command said so itself
            terminal.say_error(f"stdout cannot be written: {error.strerror or error}")
        _leave_stdout()
        return FAULT
    return code


def _answered(given: list[str], as_json: bool, debug: bool) -> int:
    """Run a command; whatever it raises becomes a message and an exit code."""
    from nexdyn.cli.app import app

    try:
        with warnings.catch_warnings():
            terminal.show_warnings()
            code = app(given)
            return code if isinstance(code, int) else DONE
    except SystemExit:  # rich, when nobody reads what it prints
        raise BrokenPipeError from None
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        failure = _failure(error, given)
        if debug:
            traceback.print_exception(error)
    if as_json:
        terminal.say_json({"error": {**failure.fields, "exit_code": failure.code}})
    else:
        terminal.say_error(failure.message)
    return failure.code


def _forget_interrupts() -> None:
    """Let the command end with its own exit code. Where Ctrl-C comes while Python makes a dataclass, which it does by `exec` of a text,
    CPython records an uncaught interrupt, and at the end of `python -m` kills itself by SIGINT; the next `exec` forgets that."""
    exec("")


def _leave_stdout() -> None:
    """Point stdout at nothing, so that Python does not complain when it flushes at exit."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


# --- what is said ---------------------------------------------------------------------------------------------------


class _Failure(NamedTuple):
    """An exit code, what people read, and what programs read."""

    code: int
    message: str
    fields: dict[str, Any]


def _failure(error: BaseException, given: list[str]) -> _Failure:
    from cyclopts import CycloptsError

    if isinstance(error, NexDynError):
        code = NO_SOLUTION if isinstance(error, SolveError) else BAD_INPUT
        message = "\n".join([str(error), *getattr(error, "__notes__", [])])
        places = ("file", "line", "column", "element", "time", "where", "files_written")
        found = {name: getattr(error, name, None) for name in places}
        fields: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
        if isinstance(error, AssemblyError):
            fields["report"] = error.report.to_dict()
        return _Failure(code, message, fields | {name: x for name, x in found.items() if x not in (None, "")})
    code = FAULT
    if isinstance(error, CycloptsError):
        code, kind, message = BAD_INPUT, "UsageError", _usage(error, given)
    elif isinstance(error, KeyboardInterrupt):
        code, kind, message = INTERRUPTED, "Interrupted", str(error) or "interrupted; nothing was written"
    elif isinstance(error, MemoryError):
        kind, message = "MemoryError", "not enough memory; a larger --output-every or an earlier --t-end records less"
    elif isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        kind, message = type(error).__name__, f"{place}{error.strerror or error}"
    else:
        first = (str(error).strip().splitlines() or [""])[0][:300]
        kind = type(error).__name__
        message = (
            f"NexDyn met something it did not expect: {kind}: {first}\n"
            "That is a fault of the program; --debug or NEXDYN_DEBUG=1 shows the traceback that a report needs."
        )
    return _Failure(code, message, {"type": kind, "message": message})


MEANT_COMMANDS = {
    "simulate": "run MODEL", "sim": "run MODEL", "show": "view MODEL", "animate": "view MODEL",
    "list": "demos", "ls": "demos", "examples": "demos", "models": "demos", "animation": "view MODEL", "gui": "view MODEL",
    "open": "view MODEL", "test": "verify", "benchmark": "verify", "statics": "equilibrium MODEL", "eigenvalues": "linearize MODEL",
    "modes": "linearize MODEL", "compile": "warm",
    "new": "convert DEMO my.yaml", "init": "convert DEMO my.yaml", "export": "convert MODEL TARGET",
    "help": "--help", "-v": "--version", "-V": "--version", "version": "--version",
}  # fmt: skip
"""What other programs call a command, and its name here."""
ENDS, SETS = ("run", "view", "edit", "compare"), ("check", "linearize", "equilibrium", "info", "convert")
MEANT_OPTIONS = {
    **dict.fromkeys(("--time", "--duration", "--end", "--end-time", "-t"), (ENDS, "--t-end 1s")),
    **dict.fromkeys(("--step", "--timestep", "--time-step", "--step-size", "-h"), (("run", "view", "edit"), "--dt 1ms")),
    **dict.fromkeys(("--output", "--save", "-o"), (("run", "view", "plot", "sweep"), "--out FILE")),
    **dict.fromkeys(("--param", "--parameter", "--parameters", "-p"), ((*ENDS, *SETS), "--set NAME=VALUE")),
    "--gravity": ((*ENDS, *SETS), "--set gravity=0,0,-9.81"),
    "--integrator": (("run", "view", "edit"), "--method rk4"),
    "--solver": (("run", "view", "edit"), "--method rk4"),
    "--q0": (SETS, "--set JOINT.q0=VALUE"),
    "--v0": (SETS, "--set JOINT.v0=VALUE"),
    **dict.fromkeys(("--initial", "--start", "--init"), (("run", "view", "edit"), "--q0 JOINT=VALUE")),
    **dict.fromkeys(("--tol", "--tolerance"), (("run", "view", "edit"), "--rtol 1e-8")),
    **dict.fromkeys(("--threads", "-j"), (("sweep",), "--jobs 4")),
}  # fmt: skip
"""Options by their names elsewhere: the commands that have them, and how they are written here."""


def _usage(error: CycloptsError, given: list[str]) -> str:
    """What is wrong with a command line, and what may have been meant."""
    from cyclopts import MissingArgumentError, UnknownCommandError, UnknownOptionError, UnusedCliTokensError

    command = error.command_chain[0] if error.command_chain else ""
    message = str(error)
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        message = f"{command} takes no further argument {error.unused_tokens[0]!r}."
    elif isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.argument.name
        message = f"{name} needs a value." if name.startswith("-") else f"{command} needs a {name}."
    elif isinstance(error, UnknownCommandError) and (model := _model_meant(given[0])):
        message = f"Unknown command {given[0]!r}. Did you mean: nexdyn run {' '.join([model, *given[1:]])}"
    elif isinstance(error, UnknownCommandError) and given[0] == "help" and given[1:2] and given[1] in _commands():
        message = f"Unknown command 'help'. Did you mean: nexdyn {given[1]} --help"
    elif isinstance(error, UnknownCommandError) and (known := _command_meant(given[0])):
        message = f"Unknown command {given[0]!r}. Did you mean: nexdyn {known}"
    elif isinstance(error, UnknownOptionError) and error.token is not None:
        commands, option = MEANT_OPTIONS.get(error.token.keyword or error.token.value, ((), ""))
        if command in commands:
            message = f"Unknown option: {error.token.keyword or error.token.value}. Did you mean {option}?"
    elif number := _NUMBER.match(message):
        kind = "number" if number["of"] == "float" else "whole number"
        message = f"Invalid value for {number['option']}: {number['given']!r} is no {kind}."
    elif (choice := _CHOICE.match(message)) is not None and "Did you mean" not in message:
        near = nearest(choice["given"], re.findall(r'"([^"]+)"', choice["valid"]))
        message += f' Did you mean "{near}"?' if near else ""
    return f"{message}\nExamples and options: {' '.join(['nexdyn', command]).strip()} --help"


def _commands() -> list[str]:
    from nexdyn.cli.app import app

    return [name for name in app if not name.startswith("-")]


def _command_meant(word: str) -> str | None:
    """What `nexdyn` takes in place of a word that is no command."""
    if word.startswith("--"):
        near = difflib.get_close_matches(word, ["--version", "--help"], n=1, cutoff=0.7)
        return near[0] if near else None
    return word.lower() if word.lower() in _commands() else MEANT_COMMANDS.get(word.lower(), MEANT_COMMANDS.get(word))


_NUMBER = re.compile(
    r'Invalid value for (?P<option>\S+): unable to convert "(?P<given>[^"]*)" into (?P<of>float|int)\.'
)
_CHOICE = re.compile(r'Invalid value "(?P<given>[^"]*)" for \S+ Choose from: (?P<valid>.*)', re.DOTALL)


def _model_meant(word: str) -> str | None:
    """What `run` takes that a word, which is no command, may mean."""
    from nexdyn.io.loader import SUFFIXES, demos

    if word.endswith((*SUFFIXES, ".nc")) or Path(word).is_file():
        return word
    near = difflib.get_close_matches(word, demos(), n=1, cutoff=0.7)
    return near[0] if near else None

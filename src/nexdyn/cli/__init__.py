"""The command line: `nexdyn run`, `demos`, `info`.

    door.py        errors and Ctrl-C become exit codes and messages
    app.py         the commands, one module each: run.py, demos.py, info.py
    terminal.py    stdout, stderr, colours, progress bar, Ctrl-C
    jsons.py       what `--json` prints;  assignments.py  what `--set NAME=VALUE` means

Nothing heavy (numba, scipy, xarray) is imported before a command needs it: `nexdyn --help` answers at once.
"""

from nexdyn.cli.door import main

__all__ = ["main"]

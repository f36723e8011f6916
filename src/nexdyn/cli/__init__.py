"""The command line: `nexdyn run`, `plot`, `check`, `demos`, `info`.

    door.py        a command line becomes an exit code (codes.py); errors become messages
    app.py         the commands, a page each: run.py, plot.py, check.py, …; options.py has the options they share
    model.py       the model that is named;  saved.py  the result;  assignments.py  what NAME=VALUE means
    prepare.py     the simulation that is asked for;  files.py  whether its result can be written
    terminal.py    stdout, stderr, colours, warnings, Ctrl-C;  progress.py  the bar;  jsons.py  what `--json` prints

Nothing heavy (numpy, numba, scipy, xarray) is imported before a command needs it: `nexdyn --help` answers at once.
"""

from nexdyn.cli.door import main

__all__ = ["main"]

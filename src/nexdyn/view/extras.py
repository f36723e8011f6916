"""Packages that only looking needs: they are in extras of nexdyn and are imported when something is looked at."""

from __future__ import annotations

import importlib
from typing import Any

from nexdyn.errors import InputError


def need(module: str, what: str, extra: str = "view") -> Any:
    """The package `module`. InputError that says what to install where it is missing; `what` needs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise InputError(f"{what} needs {error.name}: pip install 'nexdyn[{extra}]'") from None

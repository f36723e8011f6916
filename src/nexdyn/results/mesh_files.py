"""Files that a motion depends on: the meshes that bodies touch by.

A system holds the path of a mesh, and what it holds is read where bodies touch, also when a result is asked for contacts. So a run
notes what was in its files, by a hash; where a file has changed since, a run that goes on and a result that is opened say so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from nexdyn.model.once import unchanged
from nexdyn.model.shapes import Mesh
from nexdyn.model.system import System

FILES = "files"
"""Where the settings of a recording have what was in the files, by path."""


def content_of(path: str) -> str:
    """A hash of what a file holds; "" where it cannot be read."""
    try:
        stamp = os.stat(path)
        return _content(os.path.abspath(path), stamp.st_mtime_ns, stamp.st_size, stamp.st_ino)
    except OSError:
        return ""


@lru_cache(maxsize=256)
def _content(path: str, *_stamp: int) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def files_of(system: System) -> dict[str, str]:
    """What is in each file that the motion of a system depends on, by path: the meshes of bodies that contacts name."""
    meshes = {
        name: {shape.path for shape in body.colliding if isinstance(shape, Mesh)}
        for name, body in (("ground", system.ground), *system.bodies.items())
    }
    if not system.contacts or not any(meshes.values()):
        return {}
    with unchanged():
        touching = {
            body.name for contact in system.contacts.values() for pair in contact.pairs(system) for body in pair
        }
    paths = {path for name in touching for path in meshes.get(name, ())}
    return {path: content_of(path) for path in sorted(paths)}


def kept_files(files: Mapping[str, str]) -> dict[str, Any]:
    """They, as a part of a recording's settings."""
    return {FILES: dict(files)} if files else {}


def changed_files(settings: Mapping[str, Any], now: Mapping[str, str]) -> list[str]:
    """The files that hold something else now than when a motion was recorded with such settings."""
    then = settings.get(FILES, {})
    return [path for path, found in now.items() if then.get(path, found) != found]

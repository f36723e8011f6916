"""Meshes from files, read by trimesh: STL, OBJ, PLY, OFF, COLLADA.

What a file says of its own size is held against its length before a reader allocates by it, archives and XML with entities are
refused, and whatever a reader raises becomes an InputError that names the file. Lengths are in metres unless COLLADA says
otherwise or `unit` is given; `scale` comes on top.
"""

from __future__ import annotations

import importlib
import math
import re
import struct
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.geometry.mesh import Mesh, mesh
from nexdyn.geometry.self_crossing import MOST_CROSSINGS, self_crossings
from nexdyn.spatial.lengths import UNITS

SUFFIXES = ("stl", "obj", "ply", "off", "dae")
MOST_BYTES = 500_000_000
_HEAD = 65536


def read_mesh(path: str | Path, scale: float | Sequence[float] = 1.0, unit: str | None = None) -> Mesh:
    """The mesh of a file, all its parts as one. scale: a factor, or three along x, y, z; negative ones mirror. unit: of the file's lengths.

    Raises InputError for a file that is missing, of another kind, too long, damaged, or of no valid mesh (mesh.py)."""
    if unit is not None and unit not in UNITS:
        raise unknown("unit", unit, UNITS)
    try:
        factors = tuple(float(x) for x in np.broadcast_to(np.array(scale, dtype=float), (3,)))
    except (TypeError, ValueError):
        raise InputError(f"scale is {scale!r}; a number or three are needed") from None
    if not all(math.isfinite(x) and x != 0.0 for x in factors):
        raise InputError(f"scale is {scale}; factors other than 0 and finite are needed")
    place = Path(path)
    if not place.is_file():
        raise InputError(f"{path}: there is no such file")
    stamp = place.stat()
    return _read(str(path), factors, unit, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=64)
def _read(path: str, factors: tuple[float, ...], unit: str | None, _modified: int, length: int) -> Mesh:
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: {suffix or 'no suffix'} is no kind of mesh; valid: {', '.join(SUFFIXES)}")
    if length > MOST_BYTES:
        raise InputError(
            f"{path}: {length / 1e6:.0f} MB; at most {MOST_BYTES / 1e6:.0f} MB are read: simplify the mesh"
        )
    _check_head(path, suffix, length)
    vertices, triangles, stated = _parsed(path, suffix)
    metres = stated if unit is None else UNITS[unit]
    if math.prod(factors) < 0.0:  # a mirror turns the sense of every triangle
        triangles = triangles[:, ::-1]
    with np.errstate(over="ignore", invalid="ignore"):
        made = mesh(vertices * (metres * np.array(factors)), triangles, Path(path).name)
    found, where, whole = self_crossings(made)
    if not found:
        note = f"{made.name} may cross itself: too many of its triangles lie side by side to compare all pairs"
        return (
            made
            if whole
            else Mesh(made.vertices, made.triangles, made.closed, made.repairs, (*made.notes, note), made.name)
        )
    count = f"more than {found - 1}" if found >= MOST_CROSSINGS or not whole else str(found)
    at = ", ".join(f"{x:.4g}" for x in where)
    note = f"{made.name} crosses itself at {count} pairs of triangles, first at ({at}) m"
    return Mesh(made.vertices, made.triangles, made.closed, made.repairs, (*made.notes, note), made.name)


def _parsed(path: str, suffix: str) -> tuple[np.ndarray, np.ndarray, float]:
    """(vertices, triangles, metres of the unit it states)."""
    trimesh = _need("trimesh", path)
    if suffix == "dae":
        _need("collada", path)
    vertices, triangles, count, metres = [], [], 0, 1.0
    try:
        scene = trimesh.load_scene(path, file_type=suffix, process=False)
        for node in scene.graph.nodes_geometry:
            X, name = scene.graph[node]
            part = scene.geometry[name]
            if not isinstance(part, trimesh.Trimesh) or not len(part.faces):
                continue
            x, t = np.asarray(part.vertices) @ X[:3, :3].T + X[:3, 3], np.asarray(part.faces)
            vertices.append(x)
            triangles.append((t if np.linalg.det(X[:3, :3]) > 0.0 else t[:, ::-1]) + count)
            count += len(x)
            metres = _metres(part.metadata.get("units"))
    except Exception as error:  # whatever a damaged file makes a reader raise
        first = (str(error).splitlines() or [""])[0][:120]
        raise InputError(f"{path}: it cannot be read as {suffix.upper()}: {type(error).__name__} {first}") from None
    if not triangles:
        raise InputError(f"{path}: it holds no triangle")
    return np.vstack(vertices), np.vstack(triangles), metres


def _metres(said: Any) -> float:
    """Of the unit that a COLLADA file states, "0.01 * meters"."""
    text = str(said or "")
    try:
        found = float(text.partition("*")[0]) if text.endswith("* meters") else 1.0
    except ValueError:
        return 1.0
    return found if math.isfinite(found) and found > 0.0 else 1.0


def _check_head(path: str, suffix: str, length: int) -> None:
    """InputError where the head promises more than the file is long, or asks to be unpacked."""
    with open(path, "rb") as stream:
        head = stream.read(_HEAD)
    if not head.strip():
        raise InputError(f"{path}: it is empty")
    if head[:2] == b"PK" or unpacked_size(path) is not None:
        raise InputError(f"{path}: it is an archive; unpack it first")
    if suffix == "dae" and defines_entities(path):
        raise InputError(f"{path}: XML that defines entities is not read")
    promised = 0
    if suffix == "ply":
        promised = max((int(x) for x in re.findall(rb"element\s+\S+\s+(\d{1,30})", head)), default=0)
    elif suffix == "off":
        numbers = re.match(rb"\s*\w*OFF\s+(?:#[^\n]*\n\s*)*(\d{1,30})\s+(\d{1,30})", head)
        promised = max(map(int, numbers.groups())) if numbers else 0
    elif suffix == "stl" and len(head) >= 84 and not head.lstrip().startswith(b"solid"):
        (count,) = struct.unpack("<I", head[80:84])
        promised = 50 * count + 84
    if promised > length:
        raise InputError(f"{path}: its head promises more than its {length} bytes hold; it is cut off or damaged")


def unpacked_size(path: str) -> int | None:
    """How many bytes a zip archive holds unpacked; None of a file that is none. Whatever stands before it and whatever its suffix:
    readers of COLLADA look for the end of an archive, and unpack it."""
    if not zipfile.is_zipfile(path):
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError):  # damaged: nobody unpacks it
        return 0


def defines_entities(path: str) -> bool:
    """Whether XML, in any encoding of one or two bytes a letter, defines entities, by which a few lines become as much as one likes."""
    return b"<!ENTITY" in Path(path).read_bytes().replace(b"\0", b"")


def _need(module: str, path: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module:
            raise
        raise InputError(f"reading {path} needs {module}: pip install 'nexdyn[view]'") from None

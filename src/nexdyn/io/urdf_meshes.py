"""Where the mesh that a robot file names lies on this machine. Nothing is opened: a mesh is looked for, no more.

    package://NAME/rest     NAME is looked for in `package_dirs`, then from the robot file's directory upwards
    model://NAME/rest       the same
    rest, file://rest       relative to the robot file's directory
    /rest, file:///rest     absolute: taken only below one of `package_dirs`

A name may climb with `..` only as far as its package, for a relative one the directory above the robot file or the
nearest one above that holds a package.xml. What leads outside, or is no kind of mesh, becomes `unresolved:NAME`, which
no program opens by mistake.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PureWindowsPath
from urllib.parse import unquote

from nexdyn.results.atomic import PathLike

_UPWARDS = 8  # directories that the search climbs
_KINDS = (".3ds", ".dae", ".fbx", ".glb", ".gltf", ".mesh", ".msh", ".obj", ".off", ".ply", ".stl", ".wrl", ".x3d")


class MeshFinder:
    """Finds the meshes of one robot file; `directory` is where that file lies, None for a text."""

    def __init__(self, directory: Path | None, package_dirs: Iterable[PathLike] | PathLike = ()) -> None:
        given = [package_dirs] if isinstance(package_dirs, str | os.PathLike) else package_dirs
        self._given = [_absolute(Path(d)) for d in given]
        self._directory = None if directory is None else _absolute(directory)
        here = [] if self._directory is None else [self._directory, *self._directory.parents]
        self._above = [d for d in here[: _UPWARDS + 1] if d != d.parent]  # the file system's root is nobody's package
        self._packages: dict[str, Path | None] = {}
        self._found: dict[str, tuple[str, str]] = {}

    def find(self, name: str) -> tuple[str, str]:
        """The absolute path where it lies or was expected, and a complaint, which is empty if it does lie there."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> tuple[str, str]:
        scheme, separator, rest = name.strip().partition("://")
        scheme, rest = (scheme.lower(), rest) if separator else ("", name.strip())
        rest = rest.replace("\\", "/")
        unresolved = f"unresolved:{name}"
        if os.path.splitext(rest)[1].lower() not in _KINDS:
            return unresolved, "is not a kind of mesh that is known"
        if scheme in ("package", "model"):
            package, _, rest = rest.lstrip("/").partition("/")
            base = self._package(package)
            if base is None:
                return name, f"package {package!r} was not found"
            roots, target = [base], base / rest
        elif scheme in ("", "file"):
            target = Path(unquote(rest) if scheme else rest)
            if target.is_absolute() or PureWindowsPath(rest).drive:
                roots = self._given
            elif self._directory is None:
                return name, "the text has no directory to look in"
            else:
                roots, target = [*self._given, self._climbable()], self._directory / target
        else:
            return unresolved, f"{scheme}:// is not fetched"
        target = _absolute(target)
        if not any(target.is_relative_to(root) for root in roots):
            return unresolved, "leads outside the robot's directory (see package_dirs)"
        return str(target), "" if os.path.isfile(target) else "was not found"

    def _climbable(self) -> Path:
        """The directory that relative names may not leave."""
        for directory in self._above:
            if os.path.isfile(directory / "package.xml"):
                return directory
        return self._above[:2][-1] if self._above else _absolute(Path(os.sep))

    def _package(self, name: str) -> Path | None:
        if name not in self._packages:
            self._packages[name] = self._search(name)
        return self._packages[name]

    def _search(self, name: str) -> Path | None:
        if not name or name.startswith("."):
            return None
        for directory in [*self._given, *self._above]:
            for candidate in (directory, directory / name):
                if candidate.name == name and os.path.isdir(candidate):
                    return candidate
        return None


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # without following links: an installed package may link to its source

"""Convex parts of a closed mesh, by CoACD (Wei et al. 2022), which is an optional library."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from nexdyn.checked_calls import checked_call
from nexdyn.errors import InputError
from nexdyn.geometry.hull import surface
from nexdyn.geometry.mesh import Mesh, mesh
from nexdyn.geometry.mesh_file import read_mesh

MOST_CONCAVITY = 1.0


@checked_call
def convex_parts(of: Any, concavity: float = 0.05, most: int | None = None) -> list[Mesh]:
    """Convex meshes that together are about the closed mesh `of`: a Mesh of `nexdyn.geometry.mesh`, an `nx.Mesh`, or a file.

    concavity: how far the parts may be from convex before they are taken for such, 0.01 to 1 of the size: smaller gives more and closer
    parts. most: at most so many parts. The same mesh gives the same parts.

    Raises InputError for a mesh that is open, for arguments out of range, and where CoACD is not installed.
    """
    if isinstance(of, Mesh):
        given = of
    elif isinstance(of, str | Path):
        given = read_mesh(of)
    elif hasattr(of, "path") and hasattr(of, "scale"):
        given = read_mesh(of.path, of.scale, of.unit)
    else:
        raise InputError(f"{of!r:.80} is no mesh; a Mesh or the name of a mesh file is needed")
    if not given.closed:
        raise InputError(f"{given.name} has no convex parts: {'; '.join(given.notes)}")
    if not 0.01 <= concavity <= MOST_CONCAVITY:
        raise InputError(f"concavity is {concavity!r}; 0.01 to {MOST_CONCAVITY:g} is valid")
    if most is not None and not (isinstance(most, int) and most > 0):
        raise InputError(f"most is {most!r}; a whole number above 0, or None, is valid")
    try:
        coacd = importlib.import_module("coacd")
    except ModuleNotFoundError:
        raise InputError("convex_parts needs coacd: pip install coacd") from None
    coacd.set_log_level("error")
    found = coacd.run_coacd(
        coacd.Mesh(given.vertices, given.triangles), threshold=float(concavity), max_convex_hull=-1 if most is None else most,
        seed=0,
    )  # fmt: skip
    return [_convex(vertices, f"part {k} of {given.name}") for k, (vertices, _) in enumerate(found)]


def _convex(points: Any, name: str) -> Mesh:
    """The hull of points as a mesh."""
    corners = surface(points)[2]
    return mesh(corners.reshape(-1, 3), [[3 * k, 3 * k + 1, 3 * k + 2] for k in range(len(corners))], name)

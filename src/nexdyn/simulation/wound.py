"""Where the angles of torsion springs that are states of minimal coordinates (``tree.wound``) start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.forces.torsion_spring import TURNS
from nexdyn.results.result import Result
from nexdyn.tree.tree import Tree
from nexdyn.tree.wound import angles_along, wound_across


def known_angles(initial: Any) -> Mapping[str, float]:
    """The angles that a result has counted at its end, by label."""
    if not isinstance(initial, Result) or not initial.recording.followed.size:
        return {}
    return dict(zip(initial.observed.labels.dims["counter"], initial.recording.followed[-1].tolist(), strict=True))


def start_angles(tree: Tree, q: np.ndarray, initial: Any) -> np.ndarray:
    """The angles (nw,) at the pose q (nq,) of a start: counted on from `initial`, or as described."""
    first, known = angles_along(tree, q[None])[0], known_angles(initial)
    names = wound_across(tree.system, tree.compiled.forest)
    reference = [known.get(f"{name} {TURNS}", x) for name, x in zip(names, first, strict=True)]
    return angles_along(tree, q[None], np.array(reference))[0]

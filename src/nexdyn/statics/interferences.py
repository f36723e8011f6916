"""`nx.interferences`: which bodies of an assembled pose overlap, how deep, and what to move.

Boxes around all shapes leave out the pairs that are far (`geometry.broad`); the others are compared as by `nx.distance`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nexdyn.assembly.report import AssemblyReport
from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError
from nexdyn.forces.contact import ContactForce
from nexdyn.forces.mesh_solid import drawn_meshes
from nexdyn.geometry.broad import Crowd
from nexdyn.geometry.kinds import Catalogue
from nexdyn.model.between_bodies import kept_apart
from nexdyn.model.shapes import HalfSpace
from nexdyn.model.system import System
from nexdyn.statics.distance import Placed, Separation, carrier, of_shapes, separation
from nexdyn.statics.shape_queries import fault, in_box

TOUCHING = 1e-6
"""Part of the smaller body's size by which bodies that touch may overlap."""


@dataclass(frozen=True)
class Interference(metaclass=CheckedCalls):
    """Two bodies that overlap: their names, and how deep, where and along what (`Separation`)."""

    a: str
    b: str
    separation: Separation

    def __str__(self) -> str:
        found = self.separation
        along = ", ".join(f"{x:.3g}" for x in np.round(found.normal, 6) + 0.0)
        return f"'{self.a}' and '{self.b}' overlap by {-found.distance:.3g} m: move '{self.b}' by that along ({along})"


@dataclass(frozen=True)
class Interferences(metaclass=CheckedCalls):
    """The `pairs` of bodies that overlap in a pose, deepest first; in words, what shapes were `left_out` and why, and what meshes
    were taken from what is `drawn` of bodies without `collision`, with their number of triangles."""

    pairs: tuple[Interference, ...]
    left_out: tuple[str, ...]
    drawn: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Interference]:
        return iter(self.pairs)

    def __str__(self) -> str:
        told = [str(pair) for pair in self.pairs] or ["no bodies overlap"]
        more = [f"left out: {what}" for what in self.left_out] + [f"as drawn: {what}" for what in self.drawn]
        return "\n".join([*told, *more])

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "pairs": [
                {
                    "a": pair.a,
                    "b": pair.b,
                    "depth": -pair.separation.distance,
                    "normal": pair.separation.normal.tolist(),
                    "point": pair.separation.centre.tolist(),
                }
                for pair in self.pairs
            ],
            "left_out": list(self.left_out),
            "drawn": list(self.drawn),
        }


@checked_call
def interferences(at: AssemblyReport) -> Interferences:
    """The bodies that overlap in the pose of `nx.assemble`: pair, depth, and what to move which way.

    By their `collision` shapes, or `shapes` where that is None. Bodies that a joint joins are left out unless a contact names both;
    the ground counts as joined only where the joint is Fixed. So are pairs of which one's `no_collision` names the other. Meshes
    that cannot be read are left out, and named. What only touches does not overlap.

    Raises InputError for what `nx.assemble` did not return.
    """
    if not isinstance(at, AssemblyReport):
        raise InputError(f"at is {at!r:.80}; what nx.assemble returns is needed")
    system = at.model.system
    bodies = [system.ground, *system.bodies.values()]
    placed, left_out, drawn = [], [], []
    for body in bodies:
        known = of_shapes(body.colliding, system.values)
        wrong = [fault(shape) for shape in known.shapes]
        left_out += [f"{shape} of {body.name!r}: {why}" for shape, why in zip(known.shapes, wrong, strict=True) if why]
        drawn += [f"{shape} of {body.name!r}: {count} triangles" for shape, count in drawn_meshes(body, system.values)]
        kept = [k for k, why in enumerate(wrong) if not why]
        placed.append(Placed([known.shapes[k] for k in kept], known.R[kept], known.p[kept]))
    carriers = [carrier(body, "at", at) for body in bodies]
    catalogue, numbers, poses, owner = Catalogue(), [], [], []
    for i, (shapes, (X, _)) in enumerate(zip(placed, carriers, strict=True)):
        numbers += [in_box(catalogue, shape) for shape in shapes.shapes]
        poses.append(shapes.poses(X)[0])
        owner += [i] * len(shapes.shapes)
    if len(set(owner)) < 2:
        return Interferences((), tuple(left_out), tuple(drawn))
    space = np.array([isinstance(shape, HalfSpace) for shapes in placed for shape in shapes.shapes])
    crowd = Crowd(
        catalogue.tables(), numbers, body=owner, apart=_apart(system, [body.name for body in bodies]),
        group=np.where(space, 2, 1), mask=np.where(space, 1, 3),
    )  # fmt: skip
    near = crowd.near(np.concatenate(poses))
    sizes = _sizes(crowd.boxes, np.array(owner), len(bodies))
    found = []
    for i, j in sorted({(owner[k], owner[m]) for k, m in near.tolist()}):
        i, j = min(i, j), max(i, j)
        told = separation(placed[i], placed[j], carriers[i], carriers[j])
        if told.distance < -TOUCHING * min(sizes[i], sizes[j]):
            found.append(Interference(bodies[i].name, bodies[j].name, told))
    found.sort(key=lambda pair: pair.separation.distance)
    return Interferences(tuple(found), tuple(left_out), tuple(drawn))


def _apart(system: System, names: list[str]) -> list[tuple[int, int]]:
    """Pairs of bodies, by their places in `names`, that are not tested: that a joint joins, unless a contact names both, one with
    the ground only where it is Fixed; and those of which one's `no_collision` names the other."""
    place = {name: i for i, name in enumerate(names)}
    found = (force.frames(system) for force in system.forces.values() if isinstance(force, ContactForce))
    contacts = {frozenset(frame.body for frame in frames) for frames in found}
    apart = [[place[name] for name in pair] for pair in kept_apart(system, contacts)]
    return sorted((min(pair), max(pair)) for pair in apart)


def _sizes(boxes: np.ndarray, owner: np.ndarray, bodies: int) -> np.ndarray:
    """The largest width [m] of each body's boxes (n, 6): the least x, y, z, then the greatest; half-spaces do not count."""
    width = np.full(bodies, np.inf)
    low, high = boxes[:, :3], boxes[:, 3:]
    finite = np.isfinite(boxes).all(axis=1)
    for i in np.unique(owner[finite]):
        mine = finite & (owner == i)
        width[i] = float((high[mine].max(axis=0) - low[mine].min(axis=0)).max())
    return width

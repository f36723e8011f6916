"""How the constraints of a system in absolute coordinates cross into kernels. Body 0 is the ground; a velocity is (ω, v) a body.

    q      float64 (nb + 1, 7)   unit quaternion (w, x, y, z), position of the body's origin in the world
    v      float64 (nb + 1, 6)   ω in the body's axes, velocity of the origin in world axes
    mass   float64 (nb + 1, 10)  m, m c, inertia about the body's origin in its axes

    pairs  int64 (np, 2), frames float64 (np, 24)     `BodyPair`, `PairFrames`
    terms  int64 (nt, 4), scale float64 (nt,)         `Term`, and its coefficient
    rows   int64 (nr, 3), offset float64 (nr,)        `RowTerms`
    data   float64 (nd,) or Rolls                     numbers of curves, surfaces, disks and user functions; `Rolls` where
                                                      nothing but disks and spheres has any; None in SIMD lanes
    ends   float64 (ne, 3)                            `End` of each parameter of an open curve or surface

A row is C = Σ scale · primitive − offset − f(t): a joint's row has one term, a screw two; those of a gear are each about
the two bodies of its own joint.

    near   float64 (nk,)    what an angle, or the parameters of a curve or surface, are looked for near: the state of a
                            motion that `q` leaves open. Kernels take the new ones from `values`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nexdyn.constraints.kinds import LENGTHS
from nexdyn.kernel import formula
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Pose


class BodyPair(Record):
    """The two bodies of a pair."""

    a: int
    b: int


class PairFrames(Record):
    """Its frames, each in its body."""

    X_aA: Pose
    X_bB: Pose


class Term(Record):
    """A primitive of a pair; its first number in `data`, and its place in `near`, or −1."""

    pair: int
    primitive: int
    data: int
    near: int


class RowTerms(Record):
    """The terms of a row; its driver, or −1."""

    first: int
    count: int
    driver: int


class End(Record):
    """Of a parameter of an open curve or surface its place in `near` and its ends, with what rounding may pass them by."""

    near: float
    low: float
    high: float


class Asked(Record):
    """An angle that a coupling gives once the others in it are known: the row, and the angle's term."""

    row: int
    term: int


BodyPairs, FramesOfPairs, Terms = rows_of(BodyPair), rows_of(PairFrames), rows_of(Term)
RowsOfTerms, Ends, AskedAngles = rows_of(RowTerms), rows_of(End), rows_of(Asked)


class Rolls(NamedTuple):
    """Numbers of disks and spheres, or none. Kernels are compiled without the other pages, and once for both: rolling is a
    twentieth of a march."""

    numbers: Any


class ConstraintTables(NamedTuple):
    """The frozen tables of all rows."""

    pairs: Any
    frames: Any
    terms: Any
    scale: Any
    rows: Any
    offset: Any
    data: Any
    ends: Any


def row_units(tables: ConstraintTables, length: float) -> np.ndarray:
    """What makes numbers of the rows, (nc,): 1 over the most that a term changes by, where a length changes by `length` and others by 1."""
    reach = np.where(np.isin(Terms(tables.terms).primitive, LENGTHS), length, 1.0) * np.abs(tables.scale)
    rows, most = RowsOfTerms(tables.rows), reach.tolist()
    places = zip(rows.first.tolist(), rows.count.tolist(), strict=True)
    return np.array([1.0 / (max(most[first : first + count]) or 1.0) for first, count in places])


LEFT = 60
"""Status of a march: a point has left the ends of its curve or surface."""


@formula
def within_ends(tables, near):
    """Whether every point is within the ends of its curve or surface."""
    ends = Ends(tables.ends)
    for i in range(len(ends)):
        end = ends[i]
        if not (end.low <= near[int(end.near)] <= end.high):
            return False
    return True

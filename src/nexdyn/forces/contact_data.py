"""What a contact's page says of it among the data of forces: the records that stand one behind the other.

PointData     of every contact (``contact``)
Resistance    of one over an area (``surface_contact``), from POINT_DATA on
Parts         of its solids, from OVERLAP on: the head of the records of ``overlap``, ``ball``, ``capsule_press``, ``sunk`` and
              ``mesh_search``
"""

from __future__ import annotations

from typing import NamedTuple

from nexdyn.records import Record
from nexdyn.spatial.algebra import Vec3


class Friction(NamedTuple):
    """Of friction that sticks (``sticking``): μ, μ_s, v_s, ρ, 2 ζ √m."""

    mu: float
    static: float
    stribeck: float
    ratio: float
    damping: float


class Far(NamedTuple):
    """From where on surfaces are apart (``apart``): r (1e300 of what has no end), 0 or the side of the plane (1: B, −1: A), n in the axes
    of its frame, o."""

    reach: float
    side: float
    n: Vec3
    offset: float


class PointData(Record):
    """k (of a function its address), e, a, μ, v_f, r_A, ½ l; what sticks; ς (0 for a plane), r_B; u_A and u_B in the axes of A and B; ρ,
    and e in those of A or of B, 0 in the others; from where on they are apart."""

    stiffness: float
    exponent: float
    damping: float
    mu: float
    friction_speed: float
    radius: float
    half: float
    friction: Friction
    side: float
    other: float
    runs_a: Vec3
    runs_b: Vec3
    ratio: float
    along_a: Vec3
    along_b: Vec3
    far: Far


class Resistance(Record):
    """l_r, l_t and c/l of what resists rolling and turning."""

    rolls: float
    turns: float
    part: float


class Parts(Record):
    """w_A and w_B (``overlap``), and what tells the solids: the number of faces of A, or `OF_BALL`, `OF_MESH`, `OF_ROUND`,
    `OF_CAPSULE`."""

    a: float
    b: float
    form: float


POINT_DATA = PointData.columns
OVERLAP = POINT_DATA + Resistance.columns
OF_BALL, OF_MESH, OF_ROUND, OF_CAPSULE = 0.0, -1.0, -2.0, -3.0

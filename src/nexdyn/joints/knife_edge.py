"""Knife edge: a point of the child does not move along its axle. A blade, a skate, a wheel without side slip.

Edge = z_B · (v_B − v_A) = −sin θ ẋ + cos θ ẏ = 0: a velocity row, which no position fulfils (``constraints.rolling``)
"""

from __future__ import annotations

from collections.abc import Mapping

from nexdyn.joints.sided import SidedJoint


class KnifeEdge(SidedJoint):
    """Keeps `anchor_b` of the child from moving along `axis_b` (its origin and z by default), seen from the parent.

    It holds no height and no direction: beside it stands the joint that keeps the child in its plane. A constraint only.
    """

    kind = "knife_edge"
    rows = (("Edge", 1),)
    ways = (("moves, but not along its axle", 5),)

    def data(self, values: Mapping[str, float]) -> list[float]:
        return [0.0, 0.0]

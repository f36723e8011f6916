"""Value types of lanes, one system after another: what lane s is of them, and them with another in lane s."""

from __future__ import annotations

from typing import Any

from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Force, Mat3, Motion, Pose, Vec3
from nexdyn.spatial.lanes import LaneVector, lane, with_lane


def is_of_lanes(vector: Any) -> bool:
    """Whether a vector, met by the interpreter, is one of lanes."""
    return isinstance(vector, LaneVector)


@formula
def vector_of_lane(a, s):
    return Vec3(lane(a.x, s), lane(a.y, s), lane(a.z, s))


@formula
def pose_of_lane(X, s):
    R = X.R
    return Pose(
        Mat3(
            lane(R.xx, s), lane(R.xy, s), lane(R.xz, s), lane(R.yx, s), lane(R.yy, s), lane(R.yz, s), lane(R.zx, s),
            lane(R.zy, s), lane(R.zz, s),
        ),
        vector_of_lane(X.p, s),
    )  # fmt: skip


@formula
def motion_of_lane(V, s):
    return Motion(vector_of_lane(V.w, s), vector_of_lane(V.v, s))


@formula
def vector_with_lane(a, s, b):
    return Vec3(with_lane(a.x, s, b.x), with_lane(a.y, s, b.y), with_lane(a.z, s, b.z))


@formula
def pose_with_lane(X, s, Y):
    A, B = X.R, Y.R
    R = Mat3(
        with_lane(A.xx, s, B.xx), with_lane(A.xy, s, B.xy), with_lane(A.xz, s, B.xz), with_lane(A.yx, s, B.yx),
        with_lane(A.yy, s, B.yy), with_lane(A.yz, s, B.yz), with_lane(A.zx, s, B.zx), with_lane(A.zy, s, B.zy),
        with_lane(A.zz, s, B.zz),
    )  # fmt: skip
    return Pose(R, vector_with_lane(X.p, s, Y.p))


@formula
def motion_with_lane(V, s, U):
    return Motion(vector_with_lane(V.w, s, U.w), vector_with_lane(V.v, s, U.v))


@formula
def force_with_lane(F, s, G):
    return Force(vector_with_lane(F.n, s, G.n), vector_with_lane(F.f, s, G.f))

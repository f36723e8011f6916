"""Angles that are counted: poses know them but for whole turns, so they are states of the integration.

Within a step the two bodies of an angle turn by θ_a, θ_b about axes of their own. About z of A the angle has then moved by

    Δ = z_A · (R_b θ_b − R_a θ_a)

exactly where the axes are parallel, to second order in what the bodies turn across z_A elsewhere. Of the angles that a pose allows,
2 π apart, the one nearest to φ + Δ is meant, φ the angle at the start of the step: steps may turn by any number of turns. A step whose Δ
misses the angle by more than `UNSURE` is refused.

    angles   int64 (na, 3), frames float64 (na, 24)   `Angle`, and its frames A and B in bodies a and b
    expected int64 (n,)                               the angles that rows look for
    poses    (nb + 1, 12)                             R θ of a body is the same at both ends of a step
    moved    (nb + 1, …)                              θ of each body in its first three numbers
    counted  (nk,)                                    the angles at the start of the step, and what else is followed
    near     (nk,)                                    what they are looked for near at the present pose; after a look, where they are
"""

from __future__ import annotations

from nexdyn.constraints.tables import FramesOfPairs
from nexdyn.kernel import formula
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Vec3, column, z_column
from nexdyn.spatial.lanes import atan2, count, greater, sqrt, zero
from nexdyn.spatial.table import PoseRows
from nexdyn.spatial.turns import near as near_turn

SURE = 1.0
"""While no angle can have moved by more than this since it was counted [rad], its turns are known without a look."""
UNSURE = 2.0
"""What Δ may miss an angle by [rad]; at π the count could be either."""
UNCOUNTED = 61
"""Status of a march: a step is so long that turns cannot be counted."""


class Angle(Record):
    """A counted angle: its place in `near`, and its bodies."""

    near: int
    a: int
    b: int


Angles = rows_of(Angle)


@formula
def turned(poses, moved, a, b, z):
    """Δ about z [rad], in world axes."""
    X = PoseRows(poses, 0)
    w_a, w_b = Vec3(moved[a, 0], moved[a, 1], moved[a, 2]), Vec3(moved[b, 0], moved[b, 1], moved[b, 2])
    return z @ (X[b].R @ w_b - X[a].R @ w_a)


@formula
def expect_angles(angles, frames, expected, poses, moved, counted, near):
    """`near` of the angles in rows ← φ + Δ."""
    X, X_aA, rows = PoseRows(poses, 0), FramesOfPairs(frames).X_aA, Angles(angles)
    for n in range(len(expected)):
        i = expected[n]
        a, k = rows[i].a, rows[i].near
        near[k] = counted[k] + turned(poses, moved, a, rows[i].b, X[a].R @ z_column(X_aA[i].R))


@formula
def count_angles(angles, frames, poses, moved, counted, near):
    """`near` of all angles ← the angles at the present poses; returns what Δ misses them by at most."""
    X, both, rows = PoseRows(poses, 0), FramesOfPairs(frames), Angles(angles)
    X_aA, X_bB, most = both.X_aA, both.X_bB, zero(poses[0, 0])
    for i in range(len(rows)):
        a, b, k = rows[i].a, rows[i].b, rows[i].near
        R_A, x = X[a].R @ X_aA[i].R, X[b].R @ column(X_bB[i].R, 0)
        foreseen = counted[k] + turned(poses, moved, a, b, z_column(R_A))
        angle = near_turn(atan2(column(R_A, 1) @ x, column(R_A, 0) @ x), foreseen)
        near[k] = angle
        most = greater(most, abs(angle - foreseen))
    return most


@formula
def most_turned(moved):
    """The largest |θ| [rad]."""
    most = zero(moved[0, 0])
    for i in range(1, count(moved)):
        most = greater(most, moved[i, 0] * moved[i, 0] + moved[i, 1] * moved[i, 1] + moved[i, 2] * moved[i, 2])
    return sqrt(most)


@formula
def keep_angles(moved, counted, near):
    """The step has been taken: counted ← near, and nothing has moved since."""
    for k in range(count(near)):
        counted[k] = near[k]
    for i in range(count(moved)):
        moved[i, 0], moved[i, 1], moved[i, 2] = 0.0, 0.0, 0.0


@formula
def return_angles(counted, near):
    """A step begins, or begins anew: near ← counted."""
    for k in range(count(near)):
        near[k] = counted[k]

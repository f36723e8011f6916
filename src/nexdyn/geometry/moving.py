"""The earliest contact of two moving shapes, by conservative advancement (Mirtich 1996), along the normal of the moment.

Over a step, the origin p of a shape moves with a constant velocity v and the shape turns about it with a constant angular
velocity w, both in world axes. A point x = p + r of it, |r| ≤ ρ, has along a fixed direction n the speed

    n·(v + w × r) = n·v + r·(n × w) ≤ n·v + ρ |n × w|

So the slab between two shapes that is σ(n) wide now, n from a to b, closes no faster than

    μ = n·(v_a − v_b) + ρ_a |n × w_a| + ρ_b |n × w_b|          at any time of the step

A half-space has no ρ. Its plane turns, n with it, and the other shape's points, |x − p_a| ≤ |p_b − p_a| + ρ_b, come near it no faster than

    μ = |v_a − v_b| + ρ_b |w_b| + |n × w_a| (|p_b − p_a| + |v_a − v_b| left + ρ_b)        for all the time that is left

and nothing touches before σ/μ. What is advanced is that time; σ is the distance less the error that its proof leaves.
"""

from __future__ import annotations

import math

from nexdyn.geometry.narrow import FOUND, pair_distance
from nexdyn.geometry.solid import HALF_SPACE, solid_of
from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import Pose, Quat, Vec3, cross, norm, rotation
from nexdyn.spatial.lanes import sqrt
from nexdyn.spatial.table import MotionRows, PoseRows, Vec3Rows

TOUCH, APART, UNDECIDED, NO_ANSWER = 0, 1, 2, 3
MOST_ADVANCES = 500


@formula
def at_time(X, V, t):
    """The pose at time t."""
    speed = norm(V.w)
    half = 0.5 * speed * t
    f = math.sin(half) / speed if speed > 0.0 else 0.0
    return Pose(rotation(Quat(math.cos(half), f * V.w.x, f * V.w.y, f * V.w.z)) @ X.R, X.p + t * V.v)


@formula
def swing(s, n, w):
    """ρ |n × w|: the most that turning adds to the speed along n."""
    m = cross(n, w)
    square = m @ m
    return s.radius * sqrt(square) if square > 0.0 else 0.0


@formula
def onto_plane(n, X, V, Y, W, radius, left):
    """μ of a half-space in pose X with twist V and normal ±n, and a shape of ρ = `radius` in pose Y with twist W; n from the half-space."""
    turning = norm(cross(n, V.w))
    if turning == 0.0:
        return n @ (V.v - W.v) + radius * norm(cross(n, W.w))
    speed = norm(V.v - W.v)
    return speed + radius * norm(W.w) + turning * (norm(Y.p - X.p) + speed * left + radius)


@formula
def closing_speed(A, B, n, X, V, Y, W, left):
    """μ of shapes A and B in poses X, Y."""
    if A.kind == HALF_SPACE and B.kind != HALF_SPACE:
        return onto_plane(n, X, V, Y, W, B.radius, left)
    if B.kind == HALF_SPACE and A.kind != HALF_SPACE:
        return onto_plane(-n, Y, W, X, V, A.radius, left)
    return n @ (V.v - W.v) + swing(A, n, V.w) + swing(B, n, W.w)


@formula
def first_contact(tables, i, j, XA, VA, XB, VB, duration, tolerance, work):
    """(status, time, contact then) of shapes i and j; see `first_contacts`."""
    A, B = solid_of(tables.shapes, i), solid_of(tables.shapes, j)
    t, start, X, Y = 0.0, Vec3(0.0, 0.0, 0.0), XA, XB
    status, c = pair_distance(tables, i, j, XA, XB, work, start)
    for _ in range(MOST_ADVANCES):
        if status != FOUND:
            return NO_ANSWER, t, c
        if c.d <= tolerance:
            return TOUCH, t, c
        closing = closing_speed(A, B, c.n, X, VA, Y, VB, duration - t)
        free = c.d - c.error
        if closing * (duration - t) <= free:
            return APART, duration, c
        step = t + max(free, 0.0) / closing
        if not step > t:
            return UNDECIDED, t, c
        t = step
        X, Y = at_time(XA, VA, t), at_time(XB, VB, t)
        status, c = pair_distance(tables, i, j, X, Y, work, c.n)
    return UNDECIDED, t, c


@kernel
def first_contacts(
    tables, pairs, poses_a, twists_a, poses_b, twists_b, duration, tolerance, work, times, answers, status
):
    """When shapes of pairs (n, 2), in poses (n, 12) with twists (n, 6) = (w [rad/s], v [m/s]), first touch within `duration` [s].

    times (n,) [s] are never later than the true ones but for rounding. status (n,): TOUCH: at the time they are at most
    `tolerance` [m] apart; APART: they do not touch, and the time is the duration; UNDECIDED: they do not before the time, and
    more was not found; NO_ANSWER: as status 1 and 2 of `narrow.distances`. answers (n, ANSWER): the last ones found."""
    XA, VA, XB, VB = PoseRows(poses_a, 0), MotionRows(twists_a, 0), PoseRows(poses_b, 0), MotionRows(twists_b, 0)
    n, a, b = Vec3Rows(answers, 1), Vec3Rows(answers, 4), Vec3Rows(answers, 7)
    for k in range(len(pairs)):
        status[k], times[k], c = first_contact(
            tables, pairs[k, 0], pairs[k, 1], XA[k], VA[k], XB[k], VB[k], duration, tolerance, work
        )  # fmt: skip
        answers[k, 0], answers[k, 10] = c.d, c.error
        n[k], a[k], b[k] = c.n, c.a, c.b

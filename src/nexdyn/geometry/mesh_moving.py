"""The earliest contact of two moving triangle meshes, by conservative advancement (Mirtich 1996).

Meshes are not convex, so that no slab parts them; but no point moves faster than |v| + ρ |w|, and the distance closes no faster than

    μ = |v_a − v_b| + ρ_a |w_a| + ρ_b |w_b|,     ρ the farthest vertex from the frame's origin, and the margin

and from a half-space no faster than moving.py has it for a convex shape: only the hull of a mesh meets a plane. A surface that its
triangles are inscribed in lies up to `outside` beyond them, by which its distance is less,

in the motion of moving.py: constant velocity v of the origin, constant angular velocity w. Nothing touches before d/μ; what is
advanced is that time. The pairs of triangles that may be nearest are kept from step to step (mesh_kept.py).
"""

from __future__ import annotations

import numpy as np

from nexdyn.geometry.contact import Contact
from nexdyn.geometry.hierarchy import MOST_OPEN
from nexdyn.geometry.mesh import Surface
from nexdyn.geometry.mesh_distance import A_FIRST, BY_POSE, mesh_work, order_of
from nexdyn.geometry.mesh_half_space import lowest
from nexdyn.geometry.mesh_kept import in_order, kept_pairs
from nexdyn.geometry.moving import APART, MOST_ADVANCES, NO_ANSWER, TOUCH, UNDECIDED, at_time, onto_plane
from nexdyn.geometry.narrow import ANSWER, is_finite, pose_first, turned_round
from nexdyn.kernel import formula, kernel, outlined
from nexdyn.spatial.algebra import T, Vec3, norm, plus_turned
from nexdyn.spatial.table import MotionRows, PoseRows, Vec3Rows, row

SAFE = 1e-12
"""Part of the size by which a distance may be less than it was computed."""


@formula
def radius_of(mesh):
    """ρ without the margin: at most the centre's distance and the radius about it."""
    return norm(row(Vec3Rows(mesh.nodes, 0), 0)) + mesh.radius[0]


@formula
def either_way(A, B, X, Y, margins, first, work, kept):
    """The contact of A and B in the world; `first`: A is first in their order."""
    if first:
        return in_order(A, B, X, Y, margins[0], margins[1], work, kept)
    return turned_round(in_order(B, A, Y, X, margins[1], margins[0], work, kept))


@outlined
def advanced(A, B, XA, VA, XB, VB, margins, first, duration, tolerance, work, kept):
    """(status, time, contact then) of meshes A and B, A first in their order or not."""
    ra, rb, outside = radius_of(A) + margins[0], radius_of(B) + margins[1], margins[2]
    mu = norm(VA.v - VB.v) + ra * norm(VA.w) + rb * norm(VB.w)
    t, small = 0.0, SAFE * (ra + rb) + outside
    kept.state[0] = -1
    c = either_way(A, B, XA, XB, margins, first, work, kept)
    for _ in range(MOST_ADVANCES):
        if c.d <= tolerance + outside:
            return TOUCH, t, c
        free = max(c.d - small, 0.0)
        if mu * (duration - t) <= free:
            return APART, duration, c
        step = t + free / mu
        if not step > t:
            return UNDECIDED, t, c
        t = step
        c = either_way(A, B, at_time(XA, VA, t), at_time(XB, VB, t), margins, first, work, kept)
    return UNDECIDED, t, c


@kernel
def first_mesh_contacts(
    A, B, margins, order, poses_a, twists_a, poses_b, twists_b, duration, tolerance, work, kept, times, answers, status
):
    """As `moving.first_contacts`, of two meshes from poses (n, 12) with twists (n, 6) on."""
    XA, VA, XB, VB = PoseRows(poses_a, 0), MotionRows(twists_a, 0), PoseRows(poses_b, 0), MotionRows(twists_b, 0)
    n, a, b = Vec3Rows(answers, 1), Vec3Rows(answers, 4), Vec3Rows(answers, 7)
    for k in range(len(poses_a)):
        X, U, Y, V = XA[k], VA[k], XB[k], VB[k]
        times[k], status[k] = 0.0, NO_ANSWER
        answers[k, :] = 0.0
        speed = norm(U.v) + norm(U.w) + norm(V.v) + norm(V.w)
        if is_finite(X) and is_finite(Y) and speed < 1e300:
            first = order == A_FIRST or (order == BY_POSE and pose_first(X, Y))
            status[k], times[k], c = advanced(A, B, X, U, Y, V, margins, first, duration, tolerance, work, kept)
            answers[k, 0], answers[k, 10] = c.d, c.error
            n[k], a[k], b[k] = c.n, c.a, c.b


def surface_contacts(
    a: Surface, b: Surface, poses_a: np.ndarray, twists_a: np.ndarray, poses_b: np.ndarray, twists_b: np.ndarray,
    duration: float, tolerance: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """(times (n,) [s], answers (n, ANSWER), status (n,)) of two surfaces; see `moving.first_contacts`.

    Inscribed polyhedra (`Surface.outside`) count as touching where they are so much farther apart than `tolerance`."""
    n = len(poses_a)
    times, answers, status = np.zeros(n), np.zeros((n, ANSWER)), np.zeros(n, dtype=np.int64)
    first_mesh_contacts(
        a.tables, b.tables, np.array([a.margin, b.margin, a.outside + b.outside]), order_of(a, b), poses_a, twists_a, poses_b,
        twists_b, duration, tolerance, mesh_work(), kept_pairs(), times, answers, status,
    )  # fmt: skip
    return times, answers, status


@formula
def height_over(mesh, margin, X, Y, open):
    """The contact of the half-space in pose X and a mesh in pose Y: its lowest vertex."""
    n = Vec3(X.R.xz, X.R.yz, X.R.zz)
    b = plus_turned(Y.p, Y.R, lowest(mesh, T(Y.R) @ n, open)) - margin * n
    d = n @ (b - X.p)
    return Contact(d, n, b - d * n, b, 0.0)


@outlined
def onto_space(mesh, margins, XA, VA, XB, VB, duration, tolerance, open):
    """(status, time, contact then) of the half-space A and the mesh B."""
    radius, outside = radius_of(mesh) + margins[0] + margins[1], margins[1]
    t, small = 0.0, SAFE * (radius + norm(XB.p - XA.p)) + outside
    X, Y = XA, XB
    c = height_over(mesh, margins[0], X, Y, open)
    for _ in range(MOST_ADVANCES):
        if c.d <= tolerance + outside:
            return TOUCH, t, c
        free = max(c.d - small, 0.0)
        mu = onto_plane(c.n, X, VA, Y, VB, radius, duration - t)
        if mu * (duration - t) <= free:
            return APART, duration, c
        step = t + free / mu
        if not step > t:
            return UNDECIDED, t, c
        t = step
        X, Y = at_time(XA, VA, t), at_time(XB, VB, t)
        c = height_over(mesh, margins[0], X, Y, open)
    return UNDECIDED, t, c


@kernel
def first_space_contacts(
    mesh, margins, poses_a, twists_a, poses_b, twists_b, duration, tolerance, open, times, answers, status
):
    """As `moving.first_contacts`, of half-spaces and a mesh from poses (n, 12) with twists (n, 6) on."""
    XA, VA, XB, VB = PoseRows(poses_a, 0), MotionRows(twists_a, 0), PoseRows(poses_b, 0), MotionRows(twists_b, 0)
    n, a, b = Vec3Rows(answers, 1), Vec3Rows(answers, 4), Vec3Rows(answers, 7)
    for k in range(len(poses_a)):
        X, U, Y, V = XA[k], VA[k], XB[k], VB[k]
        times[k], status[k] = 0.0, NO_ANSWER
        answers[k, :] = 0.0
        speed = norm(U.v) + norm(U.w) + norm(V.v) + norm(V.w)
        if is_finite(X) and is_finite(Y) and speed < 1e300:
            status[k], times[k], c = onto_space(mesh, margins, X, U, Y, V, duration, tolerance, open)
            answers[k, 0], answers[k, 10] = c.d, c.error
            n[k], a[k], b[k] = c.n, c.a, c.b


def space_contacts(
    surface: Surface, poses_space: np.ndarray, twists_space: np.ndarray, poses: np.ndarray, twists: np.ndarray, duration: float,
    tolerance: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """(times (n,) [s], answers (n, ANSWER), status (n,)) of half-spaces, first, and a surface; see `surface_contacts`."""
    n = len(poses)
    times, answers, status = np.zeros(n), np.zeros((n, ANSWER)), np.zeros(n, dtype=np.int64)
    first_space_contacts(
        surface.tables, np.array([surface.margin, surface.outside]), poses_space, twists_space, poses, twists, duration, tolerance,
        np.zeros((MOST_OPEN, 1), dtype=np.int64), times, answers, status,
    )  # fmt: skip
    return times, answers, status

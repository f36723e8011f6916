"""What every joint can do, by its number, in the sense in which it is described; trees call these verbs through ``on_tree``.

    child_pose          X_PC(q) = X_PJ X_J(q)
    coordinates_of      q of a pose of B in A: what child_pose undoes
    motion_columns      the columns of H;   joint_bias  Ḣ q̇;   column_rate  one column of Ḣ
    effort_columns      the columns that efforts act along, for bodies that are not on a tree
    column_slope        one column of H by one coordinate;   bias_slope  Ḣ q̇ by one coordinate
    constraint_columns  the columns of W
    chart_rate          ξ̇ of the chart about a base point, for joints with quaternions (elsewhere ξ̇ = v)
    chart_step          q = q_base ∘ ξ

Revolute and prismatic joints, which most mechanisms are made of, have one constant column that is an axis without
content; the algorithms treat them apart, at no cost for what their axis leaves zero.
"""

from __future__ import annotations

from typing import Any

from nexdyn.joints import (
    JOINTS,
    cartesian,
    cylindrical,
    fixed,
    free,
    helical,
    kinds,
    planar,
    prismatic,
    registered,
    revolute,
    spherical,
    universal,
)
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import (
    Motion,
    Quat,
    Vec3,
    exp_quaternion,
    normalized,
    right_jacobian_inverse_times,
    rotation,
)
from nexdyn.spatial.lanes import zero

FIXED, REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL = (
    kinds.FIXED, kinds.REVOLUTE, kinds.PRISMATIC, kinds.HELICAL, kinds.CYLINDRICAL
)  # fmt: skip
UNIVERSAL, SPHERICAL, PLANAR, CARTESIAN, FREE = (
    kinds.UNIVERSAL, kinds.SPHERICAL, kinds.PLANAR, kinds.CARTESIAN, kinds.FREE
)  # fmt: skip


@formula
def other_pose(kind, X, pitch, q, k):
    if kind == FIXED:
        return X
    if kind == HELICAL:
        return helical.pose(X, q, k, pitch)
    if kind == CYLINDRICAL:
        return cylindrical.pose(X, q, k)
    if kind == UNIVERSAL:
        return universal.pose(X, q, k)
    if kind == SPHERICAL:
        return spherical.pose(X, q, k)
    if kind == PLANAR:
        return planar.pose(X, q, k)
    if kind == CARTESIAN:
        return cartesian.pose(X, q, k)
    if registered.is_registered(kind):
        return registered.pose(kind, X, pitch, q, k)
    return free.pose(X, q, k)


@formula
def child_pose(kind, X, pitch, q, k):
    """X_PC = X_PJ X_J(q); q of the joint starts at k."""
    if kind == REVOLUTE:
        return revolute.pose(X, q, k)
    if kind == PRISMATIC:
        return prismatic.pose(X, q, k)
    return other_pose(kind, X, pitch, q, k)


@formula
def coordinates_of(kind, pitch, R, p, q, k):
    """q, from k on, of the pose (R, p) of B in A, or of the nearest that the joint takes; angles are between −π and π."""
    if kind == REVOLUTE:
        revolute.coordinates_of(R, p, q, k)
    elif kind == PRISMATIC:
        prismatic.coordinates_of(R, p, q, k)
    elif kind == HELICAL:
        helical.coordinates_of(R, p, q, k)
    elif kind == CYLINDRICAL:
        cylindrical.coordinates_of(R, p, q, k)
    elif kind == UNIVERSAL:
        universal.coordinates_of(R, p, q, k)
    elif kind == SPHERICAL:
        spherical.coordinates_of(R, p, q, k)
    elif kind == PLANAR:
        planar.coordinates_of(R, p, q, k)
    elif kind == CARTESIAN:
        cartesian.coordinates_of(R, p, q, k)
    elif kind == FREE:
        free.coordinates_of(R, p, q, k)
    elif registered.is_registered(kind):
        registered.coordinates_of(kind, R, p, q, k, pitch)


@formula
def motion_columns(kind, pitch, q, k, H, j):
    """Columns of H in the child's frame, into rows j, j + 1, … of the table H."""
    if kind == REVOLUTE:
        revolute.motion_subspace(H, j)
    elif kind == PRISMATIC:
        prismatic.motion_subspace(H, j)
    elif kind == HELICAL:
        helical.motion_subspace(H, j, pitch)
    elif kind == CYLINDRICAL:
        cylindrical.motion_subspace(H, j)
    elif kind == UNIVERSAL:
        universal.motion_subspace(H, j, q, k)
    elif kind == SPHERICAL:
        spherical.motion_subspace(H, j)
    elif kind == PLANAR:
        planar.motion_subspace(H, j, q, k)
    elif kind == CARTESIAN:
        cartesian.motion_subspace(H, j)
    elif kind == FREE:
        free.motion_subspace(H, j)
    elif registered.is_registered(kind):
        registered.motion_subspace(kind, H, j, q, k, pitch)


@formula
def effort_columns(kind, pitch, q, k, H, j):
    """Columns along which efforts act, into rows j, j + 1, … of the table H: those of H, but of a registered joint G = (HᵀH)⁻¹ Hᵀ."""
    if registered.is_registered(kind):
        registered.dual_subspace(kind, H, j, q, k, pitch)
    else:
        motion_columns(kind, pitch, q, k, H, j)


@formula
def columns_turn(kind):
    """Whether columns of H depend on q."""
    return kind == UNIVERSAL or kind == PLANAR or registered.is_registered(kind)


@formula
def joint_bias(kind, pitch, q, k, v, j, o):
    """Ḣ q̇; `o` is a zero of the scalar's kind."""
    if kind == UNIVERSAL:
        return universal.bias(q, k, v, j)
    if kind == PLANAR:
        return planar.bias(q, k, v, j)
    if registered.is_registered(kind):
        return registered.motion(kind, registered.BIAS, pitch, q, k, v, j, 0, 0)
    return Motion(Vec3(o, o, o), Vec3(o, o, o))


@formula
def column_rate(kind, pitch, q, k, v, j, n, h):
    """Rate ḣ of column n (which is h) of H in the child's frame; q of the joint starts at k, v at j."""
    if kind == UNIVERSAL:
        return universal.column_rate(q, k, v, j, n)
    if kind == PLANAR:
        return planar.column_rate(v, j, h)
    if registered.is_registered(kind):
        return registered.motion(kind, registered.RATE, pitch, q, k, v, j, 0, n)
    o = zero(h.w.x)
    return Motion(Vec3(o, o, o), Vec3(o, o, o))


@formula
def column_slope(kind, pitch, q, k, m, n, h):
    """∂h/∂q_n of column m of H (which is h) in the child's frame, by coordinate n of the joint; q starts at k."""
    if kind == UNIVERSAL:
        return universal.column_slope(q, k, m, n)
    if kind == PLANAR:
        return planar.column_slope(m, n, h)
    if registered.is_registered(kind):
        return registered.motion(kind, registered.SLOPE, pitch, q, k, q, k, n, m)
    o = zero(h.w.x)
    return Motion(Vec3(o, o, o), Vec3(o, o, o))


@formula
def bias_slope(kind, pitch, q, k, v, j, n):
    """∂(Ḣ q̇)/∂q_n at constant q̇ in the child's frame, by coordinate n of the joint; q starts at k, v at j."""
    if kind == UNIVERSAL:
        return universal.bias_slope(q, k, v, j, n)
    if kind == PLANAR:
        return planar.bias_slope(q, k, v, j, n)
    if registered.is_registered(kind):
        return registered.motion(kind, registered.BENT, pitch, q, k, v, j, n, 0)
    o = zero(v[j])
    return Motion(Vec3(o, o, o), Vec3(o, o, o))


@formula
def constraint_columns(kind, pitch, q, k, W):
    """Columns of W in the child's frame, into rows 0, 1, … of the table W."""
    if kind == FIXED:
        fixed.constraint_subspace(W)
    elif kind == REVOLUTE:
        revolute.constraint_subspace(W)
    elif kind == PRISMATIC:
        prismatic.constraint_subspace(W)
    elif kind == HELICAL:
        helical.constraint_subspace(W, pitch)
    elif kind == CYLINDRICAL:
        cylindrical.constraint_subspace(W)
    elif kind == UNIVERSAL:
        universal.constraint_subspace(W, q, k)
    elif kind == SPHERICAL:
        spherical.constraint_subspace(W)
    elif kind == PLANAR:
        planar.constraint_subspace(W)
    elif kind == CARTESIAN:
        cartesian.constraint_subspace(W)
    elif registered.is_registered(kind):
        registered.constraint_subspace(kind, W, q, k, pitch)


def _made_from_pages() -> tuple[Any, Any]:
    """The formulas turns(kind, m): whether degree of freedom m of a joint is an angle or a rotation, as the directions on its page say; and
    freedoms(kind): how many there are."""
    lines = ["def turns(kind, m):"]
    for cls in JOINTS.values():
        turning = [f"m == {m}" for m, (way, *_) in enumerate(cls.directions) if way == "turn"]
        if cls.tree and turning:
            lines.append(f"    if kind == {cls.code}: return {' or '.join(turning)}")
    lines += ["    return False", "def freedoms(kind):"]
    lines += [f"    if kind == {cls.code}: return {cls.nv}" for cls in JOINTS.values() if cls.tree]
    scope: dict[str, Any] = {"__name__": __name__}
    exec("\n".join([*lines, "    return 0"]), scope)
    return formula(scope["turns"]), formula(scope["freedoms"])


turns, freedoms = _made_from_pages()


@formula
def chart_rate(kind, base, k, xi, v, j, out):
    """ξ̇ of a spherical or free joint at q = base ∘ ξ: φ̇ = Jᵣ⁻¹(φ) ω and, if free, ḋ = R v."""
    phi = Vec3(xi[j], xi[j + 1], xi[j + 2])
    rate = right_jacobian_inverse_times(phi, Vec3(v[j], v[j + 1], v[j + 2]))
    out[j], out[j + 1], out[j + 2] = rate.x, rate.y, rate.z
    if kind == FREE:
        q = Quat(base[k], base[k + 1], base[k + 2], base[k + 3]) @ exp_quaternion(phi)
        d = rotation(q) @ Vec3(v[j + 3], v[j + 4], v[j + 5])
        out[j + 3], out[j + 4], out[j + 5] = d.x, d.y, d.z


@formula
def chart_step(kind, base, k, xi, j, q):
    """q = base ∘ ξ of a spherical or free joint: base ⊗ exp(φ) and, if free, p + d."""
    turned = Quat(base[k], base[k + 1], base[k + 2], base[k + 3]) @ exp_quaternion(Vec3(xi[j], xi[j + 1], xi[j + 2]))
    turned = normalized(turned)
    q[k], q[k + 1], q[k + 2], q[k + 3] = turned.w, turned.x, turned.y, turned.z
    if kind == FREE:
        q[k + 4], q[k + 5], q[k + 6] = base[k + 4] + xi[j + 3], base[k + 5] + xi[j + 4], base[k + 6] + xi[j + 5]

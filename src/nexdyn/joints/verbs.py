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

import sys
from collections.abc import Sequence
from typing import Any

from nexdyn.by_kind import Page, by_kind
from nexdyn.joints import JOINTS, prismatic, registered, revolute
from nexdyn.joints.kinds import FREE, PRISMATIC, REVOLUTE
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import (
    Motion,
    Quat,
    Vec3,
    exp_quaternion,
    normalized,
    right_jacobian_inverse_times,
    rotation,
    vector_at,
)
from nexdyn.spatial.lanes import zero

PAGES = tuple(Page(cls.code, cls.__name__, vars(sys.modules[cls.__module__])) for cls in JOINTS.values() if cls.tree)


@formula
def none(o):
    """No motion; `o` is a zero of the scalar's kind."""
    return Motion(Vec3(o, o, o), Vec3(o, o, o))


def _verb(
    name: str, what: str, given: str, beyond: str = "", otherwise: str = "return", pages: Sequence[Page] = PAGES
) -> Any:
    """The formula `name`(kind, given): `what` on the joint's page; of registered joints the function `beyond`; else `otherwise`."""
    last = [f"if registered.is_registered(kind): return registered.{beyond}"] * bool(beyond) + [otherwise]
    return by_kind(name, what, given.split(", "), pages, last, registered=registered, none=none, zero=zero)


other_pose = _verb(
    "other_pose", "pose", "X, pitch, q, k", "pose(kind, X, pitch, q, k)", "return X",
    [page for page in PAGES if page.kind not in (REVOLUTE, PRISMATIC)],
)  # fmt: skip


@formula
def child_pose(kind, X, pitch, q, k):
    """X_PC = X_PJ X_J(q); q of the joint starts at k."""
    if kind == REVOLUTE:
        return revolute.pose(X, q, k)
    if kind == PRISMATIC:
        return prismatic.pose(X, q, k)
    return other_pose(kind, X, pitch, q, k)


coordinates_of = _verb(
    "coordinates_of", "coordinates_of", "pitch, R, p, q, k", "coordinates_of(kind, R, p, q, k, pitch)"
)
"""q, from k on, of the pose (R, p) of B in A, or of the nearest that the joint takes; angles are between −π and π."""
motion_columns = _verb(
    "motion_columns", "motion_subspace", "pitch, q, k, H, j", "motion_subspace(kind, H, j, q, k, pitch)"
)
"""Columns of H in the child's frame, into rows j, j + 1, … of the table H."""
constraint_columns = _verb(
    "constraint_columns", "constraint_subspace", "pitch, q, k, W", "constraint_subspace(kind, W, q, k, pitch)"
)
"""Columns of W in the child's frame, into rows 0, 1, … of the table W."""


@formula
def effort_columns(kind, pitch, q, k, H, j):
    """Columns along which efforts act, into rows j, j + 1, … of the table H: those of H, but of a registered joint G = (HᵀH)⁻¹ Hᵀ."""
    if registered.is_registered(kind):
        registered.dual_subspace(kind, H, j, q, k, pitch)
    else:
        motion_columns(kind, pitch, q, k, H, j)


def _moved(name: str, given: str, what: str, v: str, n: str, m: str, o: str) -> Any:
    """The verb `name` of joints whose columns depend on q; of registered ones `what`; of all others no motion, with zeros like `o`."""
    beyond = f"motion(kind, registered.{what}, pitch, q, k, {v}, {n}, {m})"
    return _verb(name, name.removeprefix("joint_"), given, beyond, f"return none({o})")


joint_bias = _moved("joint_bias", "pitch, q, k, v, j, o", "BIAS", "v, j", "0", "0", "o")
"""Ḣ q̇; `o` is a zero of the scalar's kind."""
column_rate = _moved("column_rate", "pitch, q, k, v, j, n, h", "RATE", "v, j", "0", "n", "zero(h.w.x)")
"""Rate ḣ of column n (which is h) of H in the child's frame; q of the joint starts at k, v at j."""
column_slope = _moved("column_slope", "pitch, q, k, m, n, h", "SLOPE", "q, k", "n", "m", "zero(h.w.x)")
"""∂h/∂q_n of column m of H (which is h) in the child's frame, by coordinate n of the joint; q starts at k."""
bias_slope = _moved("bias_slope", "pitch, q, k, v, j, n", "BENT", "v, j", "n", "0", "zero(v[j])")
"""∂(Ḣ q̇)/∂q_n at constant q̇ in the child's frame, by coordinate n of the joint; q starts at k, v at j."""


def _made_from_pages() -> tuple[Any, Any, Any]:
    """The formulas turns(kind, m): whether degree of freedom m of a joint is an angle or a rotation, as the directions on its page say;
    freedoms(kind): how many there are; and columns_turn(kind): whether columns of H depend on q."""
    lines = ["def turns(kind, m):"]
    for cls in JOINTS.values():
        turning = [f"m == {m}" for m, (way, *_) in enumerate(cls.directions) if way == "turn"]
        if cls.tree and turning:
            lines.append(f"    if kind == {cls.code}: return {' or '.join(turning)}")
    lines += ["    return False", "def freedoms(kind):"]
    lines += [f"    if kind == {cls.code}: return {cls.nv}" for cls in JOINTS.values() if cls.tree]
    turning = [f"kind == {page.kind}" for page in PAGES if page.column_rate is not None]
    lines += ["    return 0", "def columns_turn(kind):"]
    lines.append(f"    return {' or '.join(turning)} or registered.is_registered(kind)")
    scope: dict[str, Any] = {"__name__": __name__, "registered": registered}
    exec("\n".join(lines), scope)
    return formula(scope["turns"]), formula(scope["freedoms"]), formula(scope["columns_turn"])


turns, freedoms, columns_turn = _made_from_pages()


@formula
def chart_rate(kind, base, k, xi, v, j, out):
    """ξ̇ of a spherical or free joint at q = base ∘ ξ: φ̇ = Jᵣ⁻¹(φ) ω and, if free, ḋ = R v."""
    phi = vector_at(xi, j)
    rate = right_jacobian_inverse_times(phi, vector_at(v, j))
    out[j], out[j + 1], out[j + 2] = rate.x, rate.y, rate.z
    if kind == FREE:
        q = Quat(base[k], base[k + 1], base[k + 2], base[k + 3]) @ exp_quaternion(phi)
        d = rotation(q) @ Vec3(v[j + 3], v[j + 4], v[j + 5])
        out[j + 3], out[j + 4], out[j + 5] = d.x, d.y, d.z


@formula
def chart_step(kind, base, k, xi, j, q):
    """q = base ∘ ξ of a spherical or free joint: base ⊗ exp(φ) and, if free, p + d."""
    turned = Quat(base[k], base[k + 1], base[k + 2], base[k + 3]) @ exp_quaternion(vector_at(xi, j))
    turned = normalized(turned)
    q[k], q[k + 1], q[k + 2], q[k + 3] = turned.w, turned.x, turned.y, turned.z
    if kind == FREE:
        q[k + 4], q[k + 5], q[k + 6] = base[k + 4] + xi[j + 3], base[k + 5] + xi[j + 4], base[k + 6] + xi[j + 5]

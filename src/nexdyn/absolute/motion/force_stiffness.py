"""Stiffness and damping of force elements and joints' efforts, for the iteration matrix.

The derivative of an element between two frames is that of the wrench on B by the motion of B against A at the point of B,
K (6 × 6) symmetrised, with G (6 × 12) that motion for those of the bodies:

    β h² K + γ h D  →  Gᵀ (β h² K + γ h D) G

as the page of the force says (`slopes`): in closed form, by differences, or with what it holds at the end of the step.
"""

from __future__ import annotations

import math
from typing import Any

from nexdyn.absolute.motion.force_states import Steps, contact_step, element_at_end, surface_step
from nexdyn.absolute.motion.tables import PlacesOfBlocks
from nexdyn.forces import contact
from nexdyn.forces import kinds as force_kinds
from nexdyn.forces.contact_data import PointData
from nexdyn.forces.page import add_outer
from nexdyn.forces.pages import OF_NO_MOTION, slopes_of
from nexdyn.forces.sticking import laid, stiffness_across
from nexdyn.forces.surface_contact import NOT_BEGUN
from nexdyn.forces.surface_stiffness import SECANT, stiffness_over_area
from nexdyn.forces.tables import ForceEntries
from nexdyn.forces.verbs import force_element
from nexdyn.generic import defines, generic, is_instance
from nexdyn.kernel import formula, kernel, outlined, overloaded
from nexdyn.linalg.rows import WIDTH
from nexdyn.spatial.algebra import Motion, Pose, Vec3, axis, basis, cross, exp_quaternion, rotation
from nexdyn.spatial.lanes import LaneVector
from nexdyn.spatial.table import PoseRows

CONTACT, SURFACE = force_kinds.CONTACT, force_kinds.SURFACE
DIFFERENCE, PART_OF_STEP = 1e-7, 1e-3
"""Part of a unit by which coordinates are changed; and part of a unit in the step at hand, a part of which velocities are changed by."""


@formula
def difference_rate(gh):
    """What velocities are changed by a part of, in units a second: a thousandth of a unit in γ h; anything where slopes count nothing."""
    return PART_OF_STEP / gh if gh > 0.0 else 1.0


@formula
def element_stiffness(s, acts, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B):
    """Derivative of element e into the blocks."""
    tables, K = acts.forces, acts.K
    force = ForceEntries(tables.index)[e]
    kind, k, data = force.kind, force.first, tables.data
    if kind in OF_NO_MOTION:
        return
    a, b, symmetric = force.body_a, force.body_b, True
    clear(K, 6, 6)
    if not slopes_of(kind, data, k, X_A, V_A, X_B, V_B, gh, bh2, K):
        symmetric = other_stiffness(acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B, data)
    relative_motion(s, acts.G, a, b, X_B.p)
    places = PlacesOfBlocks(acts.of_force).places[e]
    if symmetric:
        add_stiffness(s, acts, places)
    else:
        add_without_symmetry(s, acts, places)


@formula
def stiffness_of_others(acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B):
    """K of force e; whether it is symmetric."""
    tables = acts.forces
    force = ForceEntries(tables.index)[e]
    k, data = force.first, tables.data
    if force.kind == CONTACT:
        for i in range(contact.points_of(data, k)):
            contact_stiffness(acts, e, k, K, gh, bh2, X_A, V_A, X_B, V_B, i)
    elif force.kind == SURFACE and Steps(acts.step).whole > 0.0:
        whole_stiffness(acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, difference_rate(gh))
    elif force.kind == SURFACE:
        surface_stiffness(tables.room, acts, e, k, K, (gh, bh2), (X_A, V_A, X_B, V_B))
    elif force.states > 0:
        whole_stiffness(acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, difference_rate(gh))
        for i in range(6):
            for j in range(i):
                K[i, j] = K[j, i] = 0.5 * (K[i, j] + K[j, i])
    else:
        numerical_stiffness(tables, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B, acts.length, difference_rate(gh))
    return force.kind != SURFACE or Steps(acts.step).whole == 0.0


@formula
def contact_stiffness(acts, e, k, K, gh, bh2, X_A, V_A, X_B, V_B, i):
    """K += β h² ∂f_n/∂δ + γ h ∂f_n/∂δ̇ along the normal, and friction by its secant: the tangent, small where it slips,
    would throw Newton's iteration from one direction of slip to the other."""
    tables = acts.forces
    force = ForceEntries(tables.index)[e]
    data = tables.data
    m = contact.meet(data, k, contact.end(data, k, X_A, 1.0 - 2.0 * i), X_A, V_A, X_B, V_B)
    if m.f_n <= 0.0:
        return
    deeper, faster = contact.slopes(data, k, m.depth, m.rate, m.f_n)
    r, normal = m.p - X_B.p, bh2 * deeper + gh * faster
    if force.states > 0:
        c, time = contact_step(acts, force.state + 3 * i)
        g = contact.gripped(data, k, m)
        across = gh * stiffness_across(g, laid(X_B.R @ c, m.n), m.glide, time, m.n, m.spin)
    else:
        # f_t = s v,  s = μ f_n / √(v² + v_f²)
        own = PointData(data, k)
        across = gh * own.mu * m.f_n / math.sqrt(m.glide @ m.glide + own.friction_speed * own.friction_speed)
    add_outer(K, normal, cross(r, m.n), m.n)
    one, two = basis(m.n)
    for j in range(2):
        u = contact.across(m.rub, one if j == 0 else two)
        add_outer(K, across, cross(r, u), u)


surface_stiffness = generic(
    "surface_stiffness", "K += the stiffness of an area; of systems without, whose `room` is None, nothing."
)


@defines(surface_stiffness)
def _(room: None, acts: Any, e: Any, k: Any, K: Any, weights: Any, motion: Any) -> Any:
    return None


@defines(surface_stiffness)
def _(room: Any, acts: Any, e: Any, k: Any, K: Any, weights: Any, motion: Any) -> Any:
    begun = NOT_BEGUN
    if ForceEntries(acts.forces.index)[e].states > 0:
        begun = surface_step(acts, e)
    stiffness_over_area(acts.forces, e, k, K, weights, motion, begun, SECANT)


@formula
def changed(X, V, x, turns, faster, step, change, gh, bh2):
    """(pose, velocity, −γ h or −β h² over the change): turned or moved by a step along x, or by a change of the velocity."""
    if faster:
        V = Motion(V.w + change * x, V.v) if turns else Motion(V.w, V.v + change * x)
        return X, V, -gh / change
    X = Pose(rotation(exp_quaternion(step * x)) @ X.R, X.p) if turns else Pose(X.R, X.p + step * x)
    return X, V, -bh2 / step


@formula
def add_column(K, c, n, f):
    """Column c of K += (n, f)."""
    K[0, c] += n.x
    K[1, c] += n.y
    K[2, c] += n.z
    K[3, c] += f.x
    K[4, c] += f.y
    K[5, c] += f.z


@kernel
@outlined
def numerical_stiffness(tables, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B, length, rate):
    """K ← β h² K + γ h D of element e by differences, symmetrised: of parts of 1 rad and of `length`, and `rate` times those a second."""
    clear(K, 6, 6)
    for c in range(6):
        x, step = axis(c % 3), DIFFERENCE * (1.0 if c < 3 else length)
        for faster in range(2):
            X, V, weight = changed(X_B, V_B, x, c < 3, faster == 1, step, rate * step, gh, bh2)
            _, _, F = force_element(tables, e, t, X_A, V_A, X, V)
            add_column(K, c, weight * (F.n - F_B.n), weight * (F.f - F_B.f))
    for i in range(6):
        for j in range(i):
            K[i, j] = K[j, i] = 0.5 * (K[i, j] + K[j, i])


@kernel
@outlined
def whole_stiffness(acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, rate):
    """K ← all of β h² K + γ h D of element e with its states at the end of the step, by differences, without symmetry: of friction
    over an area, too, what the normal force makes of it."""
    for c in range(6):
        x, step = axis(c % 3), DIFFERENCE * (1.0 if c < 3 else acts.length)
        for n in range(4):
            half = 0.5 * step if n % 2 == 0 else -0.5 * step
            X, V, weight = changed(X_B, V_B, x, c < 3, n > 1, half, rate * half, 0.5 * gh, 0.5 * bh2)
            _, _, F = element_at_end(acts, e, t, X_A, V_A, X, V)
            add_column(K, c, weight * F.n, weight * F.f)
    element_at_end(acts, e, t, X_A, V_A, X_B, V_B)


def other_stiffness(
    acts: Any, K: Any, e: Any, t: Any, gh: Any, bh2: Any, X_A: Any, V_A: Any, X_B: Any, V_B: Any, F_B: Any, data: Any
) -> bool:  # fmt: skip
    """K of force e where it has no closed form without branches; whether it is symmetric."""
    symmetric: bool = stiffness_of_others(acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B)
    return symmetric


@overloaded(other_stiffness)
def _(acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B, data):
    if is_instance(data, LaneVector):
        return lambda acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B, data: True
    return lambda acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B, data: stiffness_of_others(
        acts, K, e, t, gh, bh2, X_A, V_A, X_B, V_B, F_B
    )


@formula
def clear(table, rows, columns):
    for i in range(rows):
        for j in range(columns):
            table[i, j] = 0.0


@formula
def relative_motion(s, G, a, b, p):
    """G (6, 12): motion (ω, v), world axes, of b against a at the point p, for those of a and b in their coordinates."""
    X = PoseRows(s.poses, 0)
    clear(G, 6, 12)
    for side in range(2):
        i = a if side == 0 else b
        if i == 0:
            continue
        sign, o = (-1.0, 0) if side == 0 else (1.0, 6)
        R, r = X[i].R, p - X[i].p
        for c in range(3):
            w = Vec3(R.xx, R.yx, R.zx) if c == 0 else (Vec3(R.xy, R.yy, R.zy) if c == 1 else Vec3(R.xz, R.yz, R.zz))
            v = cross(w, r)
            G[0, o + c], G[1, o + c], G[2, o + c] = sign * w.x, sign * w.y, sign * w.z
            G[3, o + c], G[4, o + c], G[5, o + c] = sign * v.x, sign * v.y, sign * v.z
            G[3 + c, o + 3 + c] = sign


@formula
def of_coordinates(K, G, KG):
    """KG ← K G."""
    for i in range(6):
        for j in range(12):
            total = K[i, 0] * G[0, j]
            for m in range(1, 6):
                total += K[i, m] * G[m, j]
            KG[i, j] = total


@formula
def entry(G, KG, i, j):
    """Entry (i, j) of Gᵀ K G."""
    total = G[0, i] * KG[0, j]
    for m in range(1, 6):
        total += G[m, i] * KG[m, j]
    return total


@kernel
def add_without_symmetry(s, acts, places):
    """Gᵀ K G into the blocks at `places`, where K has no symmetry: diagonal blocks and those of `lower` lie transposed (``lu``)."""
    G, KG, turned = acts.G, acts.KG, places.step_a == 1
    of_coordinates(acts.K, G, KG)
    for i in range(6):
        for j in range(6):
            for part in range(2):
                at = places.aa if part == 0 else places.bb
                if at >= 0:
                    s.lower[at + WIDTH * j + i] += entry(G, KG, 6 * part + i, 6 * part + j)
            if places.ab >= 0:
                o = i * places.step_a + j * places.step_b
                of_a, of_b = entry(G, KG, i, 6 + j), entry(G, KG, 6 + j, i)
                s.lower[places.ab + o] += of_a if turned else of_b
                s.upper[places.upper + o] += of_b if turned else of_a


@kernel
def add_stiffness(s, acts, places):
    """Gᵀ K G into the blocks at `places`, K symmetric."""
    G, KG = acts.G, acts.KG
    of_coordinates(acts.K, G, KG)
    for part in range(3):
        o = places.aa if part == 0 else places.bb if part == 1 else places.ab
        if o < 0:
            continue
        first, second = (6, 6) if part == 1 else (0, 0 if part == 0 else 6)
        step_i, step_j = (places.step_a, places.step_b) if part == 2 else (8, 1)
        for i in range(6):
            for j in range(6):
                total = entry(G, KG, first + i, second + j)
                s.lower[o + i * step_i + j * step_j] += total
                if part == 2:
                    s.upper[places.upper + i * step_i + j * step_j] += total

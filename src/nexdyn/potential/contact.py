"""Friction of contacts with planes, whose normal force is that of a spring in the height of their points (``penetration``).

    u = J_t (x − x̃)/dt                  slip of the contact point along the plane, two components

where it sticks, by the spring of ``forces.sticking``, whose y is ỹ at the start (x̃ and dt as in ``step``)

    F = √σ ỹ + K u,   K = σ d̃ + d,   f_t = −F where |F| ≤ μ f_n, else −μ f_n F/|F|
    E = dt³/K · (½ |F|²   or   μ f_n |F| − ½ (μ f_n)²)
    gradient dt² J_tᵀ F s,   Hessian dt K s J_tᵀ (1 − F̂ F̂ᵀ where it slides) J_t,      s = min(1, μ f_n/|F|)
    y = ỹ + s √σ d̃ u, no longer than μ f_n/√σ

d̃ is dt; where y slid in the step before, it followed its bound and not u, so that ỹ is y and d̃ the whole step also under BDF2. What
is regularised has
    E = dt³ μ f_n (√(|u|² + v_f²) − v_f),   f_t = −μ f_n u/√(|u|² + v_f²)
    gradient dt² μ f_n J_tᵀ u/s,   Hessian dt μ f_n J_tᵀ (1/s − u uᵀ/s³) J_t,      s = √(|u|² + v_f²)

Coulomb's law has no energy, for f_n follows x. Every Newton step starts from the f_n, σ, μ and J_t of its own place (`take_pressure`)
and keeps them while it looks for less energy: E is then convex, its gradient where the step starts is the force of the law, and
what is found in the end is implicit in all of it. J_t is kept as its rows along the axes of the plane, or, where friction is
regularised, along the slip and across. From |u| ≫ v_f Newton's step can go far past u = 0, where friction turns about; after a step
that had to be shortened, `careful`, the Hessian is that of the parabola above E that touches it at u: 1 for 1 − F̂ F̂ᵀ, 1/s for
1/s − u uᵀ/s³.
"""

from __future__ import annotations

from typing import Any

from nexdyn.constraints.pair import column
from nexdyn.forces.sticking import LEAST, bound, grip, shortening
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula
from nexdyn.linalg.rows import WIDTH
from nexdyn.potential.pairs import pair_at, put_rows
from nexdyn.potential.tables import (
    CONTACT_SPRING,
    CONTACT_STATE,
    SPRING_A,
    SPRING_B,
    SPRING_DATA,
    SPRING_PLACE,
    SPRING_TURNED,
    ContactTables,
)
from nexdyn.spatial.algebra import T, cross
from nexdyn.spatial.table import ForceRows, Mat3Rows, MotionRows, PoseRows


@formula
def add_three(blocks, place, J, k, left, right, K_uu, K_uw, K_ww):  # type: ignore[no-untyped-def]
    """Add Jᵀ K J of the rows k and k + 1 of J, on the left their columns from `left` on, on the right from `right` on."""
    for i in range(6):
        l, m = J[k, left + i], J[k + 1, left + i]
        to_u, to_w = K_uu * l + K_uw * m, K_uw * l + K_ww * m
        for j in range(6):
            blocks[place + WIDTH * i + j] += to_u * J[k, right + j] + to_w * J[k + 1, right + j]


SLID, WHOLE = 6, 4
"""Behind y, ỹ and y before: whether it slid in the step before. Behind √σ, K, μ f_n and the bound: d̃ as a part of dt."""
take_pressure = generic(
    "take_pressure", "f_n and J_t of all contacts at the last evaluation; whether there are any, and E is another now."
)
begin_contacts = generic("begin_contacts", "ỹ of all contacts that stick; with BDF2 from two steps.")
finish_contacts = generic("finish_contacts", "y of all contacts that stick, at the end of a step of dt.")
add_contacts = generic("add_contacts", "Add the gradient of friction; returns E.")
add_contacts_hessian = generic("add_contacts_hessian", "Add its Hessian, which is positive semidefinite.")


@defines(take_pressure)
def _(model: Any, contacts: None, dt: Any, work: Any, careful: Any) -> Any:
    return False


@defines(take_pressure)
def _(model: Any, contacts: ContactTables, dt: Any, work: Any, careful: Any) -> Any:
    springs, J, data, pressure = model.springs, contacts.J, contacts.data, contacts.pressure
    contacts.careful[0] = 1.0 if careful else 0.0
    X0, X, A = PoseRows(work.base, 0), PoseRows(work.pose, 0), Mat3Rows(work.turning, 0)
    x, past = MotionRows(work.x, 0), MotionRows(work.past, 0)
    for n in range(len(contacts.index)):
        e = contacts.index[n, CONTACT_SPRING]
        a, b = springs.index[e, SPRING_A], springs.index[e, SPRING_B]
        pressure[n] = max(0.0, -springs.value[e, 1]) / (dt * dt)
        # A is the plane, z its normal; B's point lies c above its foot on the plane
        pair = pair_at(springs.coordinates, e, X0, X)
        normal, one, two = column(pair.R_A, 2), column(pair.R_A, 0), column(pair.R_A, 1)
        foot_B = pair.s_B - springs.value[e, 0] * normal
        foot_A = pair.s_A + pair.d - springs.value[e, 0] * normal
        V_a, V_b = A[a] @ (x[a].w - past[a].w), A[b] @ (x[b].w - past[b].w)
        moved = (x[b].v - past[b].v) + cross(V_b, foot_B) - (x[a].v - past[a].v) - cross(V_a, foot_A)
        u, w = one @ moved, two @ moved
        size = (u * u + w * w) ** 0.5
        sticks = contacts.index[n, CONTACT_STATE] >= 0
        along = (u / size) * one + (w / size) * two if size > 0.0 and not sticks else one
        across = cross(normal, along)
        put_rows(J, 2 * n, -(T(A[a]) @ cross(foot_A, along)), -along, T(A[b]) @ cross(foot_B, along), along)
        put_rows(J, 2 * n + 1, -(T(A[a]) @ cross(foot_A, across)), -across, T(A[b]) @ cross(foot_B, across), across)
        contacts.slip[n, 0], contacts.slip[n, 1], contacts.slip[n, 2] = size / dt, 0.0, data[5 * n + 1]
        if sticks:
            i = springs.index[e, SPRING_DATA] + 4
            depth, slope = springs.data[i + 3] - springs.value[e, 0], 0.0
            if depth > 0.0:
                slope = springs.data[i] * springs.data[i + 1] * depth ** (springs.data[i + 1] - 1.0)
            g = grip(data, 5 * n, slope, pressure[n], size / dt)
            row, step = contacts.grip[n], dt * contacts.grip[n, WHOLE]
            row[0], row[1], row[2], row[3] = g.root, g.root * g.root * step + g.damping, g.most, bound(g)
    return True


@defines(begin_contacts)
def _(springs: Any, contacts: None, second_order: Any) -> Any:
    return None


@defines(begin_contacts)
def _(springs: Any, contacts: ContactTables, second_order: Any) -> Any:
    z, third = springs.data, 1.0 / 3.0
    for n in range(len(contacts.index)):
        k = contacts.index[n, CONTACT_STATE]
        if k >= 0:
            goes_on = second_order and z[k + SLID] == 0.0
            for m in range(k, k + 2):
                z[m + 2] = third * (4.0 * z[m] - z[m + 4]) if goes_on else z[m]
            contacts.grip[n, WHOLE] = 1.5 if second_order and not goes_on else 1.0


@formula
def slip_of(model, contacts, work, n, dt):  # type: ignore[no-untyped-def]
    """u of contact point n."""
    e, k = contacts.index[n, CONTACT_SPRING], 2 * n
    a, b = model.springs.index[e, SPRING_A], model.springs.index[e, SPRING_B]
    J_a, J_b = ForceRows(contacts.J, 0), ForceRows(contacts.J, 8)
    x, past = MotionRows(work.x, 0), MotionRows(work.past, 0)
    d_a, d_b = x[a] - past[a], x[b] - past[b]
    return (J_a[k] @ d_a + J_b[k] @ d_b) / dt, (J_a[k + 1] @ d_a + J_b[k + 1] @ d_b) / dt


@defines(finish_contacts)
def _(model: Any, contacts: None, work: Any, dt: Any) -> Any:
    return None


@defines(finish_contacts)
def _(model: Any, contacts: ContactTables, work: Any, dt: Any) -> Any:
    z, grips = model.springs.data, contacts.grip
    for n in range(len(contacts.index)):
        k = contacts.index[n, CONTACT_STATE]
        if k >= 0:
            u, w = slip_of(model, contacts, work, n, dt)
            z[k + 4], z[k + 5] = z[k], z[k + 1]
            root, K = grips[n, 0], grips[n, 1]
            s = shortening(root * z[k + 2] + K * u, root * z[k + 3] + K * w, grips[n, 2])
            step = s * dt * grips[n, WHOLE] * root
            p, q = z[k + 2] + step * u, z[k + 3] + step * w
            z[k + SLID] = 0.0 if s == 1.0 and grips[n, 2] > 0.0 else 1.0
            s = shortening(p, q, grips[n, 3])
            z[k], z[k + 1] = s * p, s * q


@defines(add_contacts)
def _(model: Any, contacts: None, dt: Any, work: Any) -> Any:
    return 0.0


@defines(add_contacts)
def _(model: Any, contacts: ContactTables, dt: Any, work: Any) -> Any:
    springs, slip, data = model.springs, contacts.slip, contacts.data
    J_a, J_b, g = ForceRows(contacts.J, 0), ForceRows(contacts.J, 8), ForceRows(work.gradient, 0)
    E = 0.0
    for n in range(len(contacts.index)):
        e = contacts.index[n, CONTACT_SPRING]
        a, b = springs.index[e, SPRING_A], springs.index[e, SPRING_B]
        k = 2 * n
        u, w = slip_of(model, contacts, work, n, dt)
        z = contacts.index[n, CONTACT_STATE]
        if z >= 0:
            root, K, most = contacts.grip[n, 0], contacts.grip[n, 1], contacts.grip[n, 2]
            p, r = root * springs.data[z + 2] + K * u, root * springs.data[z + 3] + K * w
            s = (p * p + r * r) ** 0.5
            slip[n, 0], slip[n, 1], slip[n, 2] = u, w, s
            if K > LEAST:
                E += dt * dt * dt / K * (0.5 * s * s if s <= most else most * s - 0.5 * most * most)
            f = dt * dt * shortening(p, r, most)
            p, r = f * p, f * r
        else:
            v_f, f = data[5 * n + 1], data[5 * n] * contacts.pressure[n]
            s = (u * u + w * w + v_f * v_f) ** 0.5
            slip[n, 0], slip[n, 1], slip[n, 2] = u, w, s
            E += dt * dt * dt * f * (s - v_f)
            p, r = dt * dt * f * u / s, dt * dt * f * w / s
        if a != 0:
            g[a - 1] = g[a - 1] + (p * J_a[k] + r * J_a[k + 1])
        if b != 0:
            g[b - 1] = g[b - 1] + (p * J_b[k] + r * J_b[k + 1])
    return E


@defines(add_contacts_hessian)
def _(model: Any, contacts: None, dt: Any, work: Any) -> Any:
    return None


@defines(add_contacts_hessian)
def _(model: Any, contacts: ContactTables, dt: Any, work: Any) -> Any:
    springs, slip, data, J, blocks = model.springs, contacts.slip, contacts.data, contacts.J, work.blocks
    for n in range(len(contacts.index)):
        e = contacts.index[n, CONTACT_SPRING]
        u, w, s = slip[n, 0], slip[n, 1], slip[n, 2]
        z = contacts.index[n, CONTACT_STATE]
        if z >= 0:
            root, K, most = contacts.grip[n, 0], dt * contacts.grip[n, 1], contacts.grip[n, 2]
            K_uu, K_uw, K_ww = K, 0.0, K
            if s > most:
                K = K * most / s
                K_uu, K_ww = K, K
                if contacts.careful[0] == 0.0:
                    p = (root * springs.data[z + 2] + contacts.grip[n, 1] * u) / s
                    r = (root * springs.data[z + 3] + contacts.grip[n, 1] * w) / s
                    K_uu, K_uw, K_ww = K * r * r, -K * p * r, K * p * p
        else:
            # 1/s − u uᵀ/s³ = (v_f² + u⊥ u⊥ᵀ)/s³
            cube, v_f, f = s * s * s, data[5 * n + 1], dt * data[5 * n] * contacts.pressure[n]
            if contacts.careful[0] > 0.0:
                v_f, u, w = s, 0.0, 0.0
            K_uu, K_uw, K_ww = f * (v_f * v_f + w * w) / cube, -f * u * w / cube, f * (v_f * v_f + u * u) / cube
        place, turned = springs.index[e, SPRING_PLACE], springs.index[e, SPRING_TURNED]
        for side in range(2):
            body = springs.index[e, SPRING_A + side]
            if body != 0:
                add_three(blocks, model.diagonal[body], J, 2 * n, 8 * side, 8 * side, K_uu, K_uw, K_ww)
        if place >= 0:
            add_three(blocks, place, J, 2 * n, 8 * turned, 8 * (1 - turned), K_uu, K_uw, K_ww)

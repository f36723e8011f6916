"""Friction of contacts with planes, whose normal force is that of a spring in the height of their points (``penetration``).

    u = J_t (x − x̃)/dt                  slip of the contact point along the plane, two components
    E = dt³ μ f_n (√(|u|² + v_f²) − v_f),   f_t = −μ f_n u/√(|u|² + v_f²)
    gradient dt² μ f_n J_tᵀ u/s,   Hessian dt μ f_n J_tᵀ (1/s − u uᵀ/s³) J_t,      s = √(|u|² + v_f²)

Coulomb's law has no energy, for f_n follows x. Every Newton step starts from the f_n and J_t of its own place (`take_pressure`) and
keeps them while it looks for less energy: E is then convex, its gradient where the step starts is the force of the law, and
what is found in the end is implicit in all of it. J_t is kept as its rows along the slip and across. From |u| ≫ v_f Newton's step
can go far past u = 0, where friction turns about; after a step that had to be shortened, `careful`, the Hessian is that of the
parabola above E that touches it at u, with 1/s for 1/s − u uᵀ/s³.
"""

from __future__ import annotations

from typing import Any

from nexdyn.constraints.pair import column
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula
from nexdyn.linalg.rows import WIDTH
from nexdyn.potential.pairs import pair_at, put_rows
from nexdyn.potential.tables import (
    CONTACT_SPRING,
    SPRING_A,
    SPRING_B,
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


take_pressure = generic(
    "take_pressure", "f_n and J_t of all contacts at the last evaluation; whether there are any, and E is another now."
)
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
        along = (u / size) * one + (w / size) * two if size > 0.0 else one
        across = cross(normal, along)
        put_rows(J, 2 * n, -(T(A[a]) @ cross(foot_A, along)), -along, T(A[b]) @ cross(foot_B, along), along)
        put_rows(J, 2 * n + 1, -(T(A[a]) @ cross(foot_A, across)), -across, T(A[b]) @ cross(foot_B, across), across)
        contacts.slip[n, 0], contacts.slip[n, 1], contacts.slip[n, 2] = size / dt, 0.0, data[n, 1]
    return True


@defines(add_contacts)
def _(model: Any, contacts: None, dt: Any, work: Any) -> Any:
    return 0.0


@defines(add_contacts)
def _(model: Any, contacts: ContactTables, dt: Any, work: Any) -> Any:
    springs, slip, data = model.springs, contacts.slip, contacts.data
    J_a, J_b, g = ForceRows(contacts.J, 0), ForceRows(contacts.J, 8), ForceRows(work.gradient, 0)
    x, past = MotionRows(work.x, 0), MotionRows(work.past, 0)
    E = 0.0
    for n in range(len(contacts.index)):
        e = contacts.index[n, CONTACT_SPRING]
        a, b, f = springs.index[e, SPRING_A], springs.index[e, SPRING_B], data[n, 0] * contacts.pressure[n]
        d_a, d_b, k = x[a] - past[a], x[b] - past[b], 2 * n
        u = (J_a[k] @ d_a + J_b[k] @ d_b) / dt
        w = (J_a[k + 1] @ d_a + J_b[k + 1] @ d_b) / dt
        v_f = data[n, 1]
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
        u, w, s, f = slip[n, 0], slip[n, 1], slip[n, 2], dt * data[n, 0] * contacts.pressure[n]
        # 1/s − u uᵀ/s³ = (v_f² + u⊥ u⊥ᵀ)/s³
        cube, v_f = s * s * s, data[n, 1]
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

"""Friction of contacts, whose normal force is that of a spring in the height of a point above a plane, or in the distance of centres.

    u = J_t (x − x̃)/dt + u_r            S v_t, the sliding velocity of the contact point along the plane, two components; u_r of surfaces
                                        that run, and of bodies that turn together (``carried``); S is 1, or of ``forces.contact``

where it sticks, by the spring of ``forces.sticking``, whose y is ỹ at the start (x̃ and dt as in ``step``; M, w as there, d̃ for g)

    F = √σ (M ỹ + √σ d̃ (M − 1) u₀) + K u,   K = σ d̃ + d,   f_t = −F where |F| ≤ μ f_n, else −μ f_n F/|F|
    E = dt³/K · (½ |F|²   or   μ f_n |F| − ½ (μ f_n)²)
    gradient dt² J_tᵀ F s,   Hessian dt K s J_tᵀ (1 − F̂ F̂ᵀ where it slides) J_t,      s = min(1, μ f_n/|F|)
    y = M (ỹ + s √σ d̃ u), no longer than μ f_n/√σ

d̃ is dt; where y slid in the step before, it followed its bound and not u, so that ỹ is y and d̃ the whole step also under BDF2. What
is regularised has
    E = dt³ μ f_n (√(|u|² + v_f²) − v_f),   f_t = −μ f_n u/√(|u|² + v_f²)
    gradient dt² μ f_n J_tᵀ u/s,   Hessian dt μ f_n J_tᵀ (1/s − u uᵀ/s³) J_t,      s = √(|u|² + v_f²)

Coulomb's law has no energy, for f_n follows x. Every Newton step starts from the f_n, σ, μ, M, u₀ = u, u_r and J_t of its own place
(`take_pressure`) and keeps them while it looks for less energy: E is then convex, its gradient where the step starts is the force of the
law, and what is found in the end is implicit in all of it. Points whose f_n is 0 are passed over, and those that are not on the list
(``nearby``) not looked at. J_t is kept as its rows along two directions across the normal, or, where friction is regularised, along the
slip and across. From |u| ≫ v_f Newton's step can go far past u = 0, where friction turns about; after a step that had to be shortened,
`careful`, the Hessian is that of the parabola above E that touches it at u: 1 for 1 − F̂ F̂ᵀ, 1/s for 1/s − u uᵀ/s³.
"""

from __future__ import annotations

from typing import Any

from nexdyn.forces import contact
from nexdyn.forces.contact import Rub, across, along
from nexdyn.forces.contact_data import Friction, PointData
from nexdyn.forces.contact_functions import renew
from nexdyn.forces.joint_stop import Stop
from nexdyn.forces.sticking import LEAST, bound, grip, laid, shortened, shortening, turned
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula
from nexdyn.linalg.rows import WIDTH
from nexdyn.potential.carried import carried
from nexdyn.potential.pairs import pair_at, put_rows
from nexdyn.potential.tables import (
    LAW,
    RUBBING,
    ContactTables,
    Holdings,
    PointEntries,
    PointStates,
    Regularised,
    Rubbing,
    SpringEntries,
)
from nexdyn.spatial.algebra import T, Vec3, basis, column, cross
from nexdyn.spatial.table import ForceRows, Mat3Rows, MotionRows, PoseRows


@formula
def add_three(blocks, place, J, k, left, right, K_uu, K_uw, K_ww):
    """Add Jᵀ K J of the rows k and k + 1 of J, on the left their columns from `left` on, on the right from `right` on."""
    for i in range(6):
        l, m = J[k, left + i], J[k + 1, left + i]
        to_u, to_w = K_uu * l + K_uw * m, K_uw * l + K_ww * m
        for j in range(6):
            blocks[place + WIDTH * i + j] += to_u * J[k, right + j] + to_w * J[k + 1, right + j]


@formula
def place(model, contacts, work, n):
    """Of contact point n: normal, penetration, arms of p from the centres of the bodies a and b, and the axes of A, those of y, and of B.

    A is the plane, z its normal, or the centre of a sphere; B the centre of the sphere or the point that touches it."""
    springs, point = model.springs, PointEntries(contacts.index)[n]
    e = point.spring
    pair = pair_at(springs.coordinates, e, PoseRows(work.base, 0), PoseRows(work.pose, 0))
    stop = Stop(springs.data, SpringEntries(springs.index)[e].first + LAW)
    side, least, most, c = point.side, stop.lower, stop.upper, springs.value[e, 0]
    if side == 0:
        normal, depth, below = column(pair.R_A, 2), least - c, c
    else:
        # the end of the spring is r_A + r_B, or r_B − r_A of a hollow
        depth = least - c if side > 0 else c - most
        normal = (side / c if c > LEAST else 0.0) * pair.d
        below = Rubbing(contacts.data, RUBBING * n).radius - 0.5 * depth
    return normal, depth, pair.s_A + pair.d - below * normal, pair.s_B - below * normal, pair.R_A, pair.R_B


take_pressure = generic(
    "take_pressure", "f_n and J_t of all contacts at the last evaluation; whether there are any, and E is another now."
)
renew_contacts = generic(
    "renew_contacts", "Coefficients at t, where they are functions of time; the force one of which is not valid, or −1."
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
    A = Mat3Rows(work.turning, 0)
    x, past = MotionRows(work.x, 0), MotionRows(work.past, 0)
    for m in range(contacts.acting[len(contacts.index)]):
        n = contacts.acting[m]
        point, own = PointEntries(contacts.index)[n], Rubbing(data, RUBBING * n)
        e = point.spring
        spring = SpringEntries(springs.index)[e]
        a, b = spring.body_a, spring.body_b
        pressure[n] = abs(springs.value[e, 1]) / (dt * dt)
        if pressure[n] == 0.0:
            continue
        normal, depth, foot_A, foot_B, R_A, R_B = place(model, contacts, work, n)
        one, two = basis(normal)
        # of B against A: here A is B of ``forces.contact``
        run = R_B @ own.runs_b - R_A @ own.runs_a
        V_a, V_b = A[a] @ (x[a].w - past[a].w), A[b] @ (x[b].w - past[b].w)
        rub = along(Rub(run, own.ratio, R_A @ own.along_a + R_B @ own.along_b), normal)
        run = run + (1.0 / dt) * carried(work, a, b)
        moved = (x[b].v - past[b].v) + cross(V_b, foot_B) - (x[a].v - past[a].v) - cross(V_a, foot_A) + dt * run
        glide = across(rub, moved - (normal @ moved) * normal)
        u, w = one @ glide, two @ glide
        size = (u * u + w * w) ** 0.5
        k = point.state
        if k < 0 and size > 0.0:
            one = (u / size) * one + (w / size) * two
            two = cross(normal, one)
        plain_one, plain_two = one, two
        one, two = across(rub, one), across(rub, two)
        contacts.run[n, 0], contacts.run[n, 1] = one @ run, two @ run
        put_rows(J, 2 * n, -(T(A[a]) @ cross(foot_A, one)), -one, T(A[b]) @ cross(foot_B, one), one)
        put_rows(J, 2 * n + 1, -(T(A[a]) @ cross(foot_A, two)), -two, T(A[b]) @ cross(foot_B, two), two)
        contacts.slip[n, 0], contacts.slip[n, 1], contacts.slip[n, 2] = (
            size / dt,
            0.0,
            Regularised(data, RUBBING * n).speed,
        )
        if k >= 0:
            slope = contact.hold(Stop(springs.data, spring.first + LAW), depth, pressure[n])
            g, held = grip(own.friction, slope, pressure[n], size / dt), Holdings(contacts.grip)[n]
            step = dt * held.whole
            held.root, held.K, held.most, held.bound = g.root, g.root * g.root * step + g.damping, g.most, bound(g)
            held.angle = 0.5 * held.whole * (normal @ (V_b - V_a))
            # √σ (M ỹ + √σ d̃ (M − 1) u₀)
            y, stretch = laid(R_A @ PointStates(springs.data, k).now, normal), (g.root * held.whole) * glide
            pull = g.root * (turned(y + stretch, normal, held.angle) - stretch)
            held.pull_one, held.pull_two = plain_one @ pull, plain_two @ pull
    return True


@defines(renew_contacts)
def _(contacts: None, t: Any) -> Any:
    return -1


@defines(renew_contacts)
def _(contacts: ContactTables, t: Any) -> Any:
    data, source = contacts.data, contacts.source
    for i in range(len(contacts.varying)):
        n, k, f = contacts.varying[i, 0], contacts.varying[i, 1], contacts.varying[i, 2]
        if renew(source, k, f, t) == 0:
            return contacts.varying[i, 3]
        own, of = Rubbing(data, RUBBING * n), PointData(source, k)
        if PointEntries(contacts.index)[n].state >= 0:
            held = own.friction
            own.friction = Friction(of.mu, of.friction.static, held.stribeck, held.ratio, held.damping)
        else:
            Regularised(data, RUBBING * n).mu = of.mu
        # here A is B of ``forces.contact``
        own.runs_a, own.runs_b, own.ratio = of.runs_b, of.runs_a, of.ratio
    return -1


@defines(begin_contacts)
def _(springs: Any, contacts: None, second_order: Any) -> Any:
    return None


@defines(begin_contacts)
def _(springs: Any, contacts: ContactTables, second_order: Any) -> Any:
    z, third = springs.data, 1.0 / 3.0
    for m in range(contacts.acting[len(contacts.index)]):
        n = contacts.acting[m]
        k = PointEntries(contacts.index)[n].state
        if k >= 0:
            own = PointStates(z, k)
            goes_on = second_order and own.slid == 0.0
            own.now = third * (4.0 * own.y - own.before) if goes_on else own.y
            Holdings(contacts.grip)[n].whole = 1.5 if second_order and not goes_on else 1.0


@formula
def slip_of(model, contacts, work, n, dt):
    """u of contact point n."""
    spring, k = SpringEntries(model.springs.index)[PointEntries(contacts.index)[n].spring], 2 * n
    a, b = spring.body_a, spring.body_b
    J_a, J_b = ForceRows(contacts.J, 0), ForceRows(contacts.J, 8)
    x, past = MotionRows(work.x, 0), MotionRows(work.past, 0)
    d_a, d_b = x[a] - past[a], x[b] - past[b]
    run = contacts.run[n]
    return (J_a[k] @ d_a + J_b[k] @ d_b) / dt + run[0], (J_a[k + 1] @ d_a + J_b[k + 1] @ d_b) / dt + run[1]


@defines(finish_contacts)
def _(model: Any, contacts: None, work: Any, dt: Any) -> Any:
    return None


@defines(finish_contacts)
def _(model: Any, contacts: ContactTables, work: Any, dt: Any) -> Any:
    for m in range(contacts.acting[len(contacts.index)]):
        n = contacts.acting[m]
        k = PointEntries(contacts.index)[n].state
        if k >= 0:
            own, held = PointStates(model.springs.data, k), Holdings(contacts.grip)[n]
            if contacts.pressure[n] == 0.0:
                own.before, own.y, own.slid = own.y, Vec3(0.0, 0.0, 0.0), 1.0
                continue
            normal, _, _, _, R_A, _ = place(model, contacts, work, n)
            one, two = basis(normal)
            u, w = slip_of(model, contacts, work, n, dt)
            s = shortening(Vec3(held.pull_one + held.K * u, held.pull_two + held.K * w, 0.0), held.most)
            step = s * dt * held.whole * held.root
            y = turned(laid(R_A @ own.now, normal) + step * (u * one + w * two), normal, held.angle)
            own.before = own.y
            own.y = T(R_A) @ shortened(y, held.bound)
            own.slid = 0.0 if s == 1.0 and held.most > 0.0 else 1.0


@defines(add_contacts)
def _(model: Any, contacts: None, dt: Any, work: Any) -> Any:
    return 0.0


@defines(add_contacts)
def _(model: Any, contacts: ContactTables, dt: Any, work: Any) -> Any:
    springs, slip, data = model.springs, contacts.slip, contacts.data
    J_a, J_b, g = ForceRows(contacts.J, 0), ForceRows(contacts.J, 8), ForceRows(work.gradient, 0)
    E = 0.0
    for m in range(contacts.acting[len(contacts.index)]):
        n = contacts.acting[m]
        if contacts.pressure[n] == 0.0:
            continue
        point, held = PointEntries(contacts.index)[n], Holdings(contacts.grip)[n]
        spring, k = SpringEntries(springs.index)[point.spring], 2 * n
        a, b = spring.body_a, spring.body_b
        u, w = slip_of(model, contacts, work, n, dt)
        if point.state >= 0:
            K, most = held.K, held.most
            p, r = held.pull_one + K * u, held.pull_two + K * w
            s = (p * p + r * r) ** 0.5
            slip[n, 0], slip[n, 1], slip[n, 2] = u, w, s
            if K > LEAST:
                E += dt * dt * dt / K * (0.5 * s * s if s <= most else most * s - 0.5 * most * most)
            f = dt * dt * (1.0 if s <= most else most / s)
            p, r = f * p, f * r
        else:
            law = Regularised(data, RUBBING * n)
            v_f, f = law.speed, law.mu * contacts.pressure[n]
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
    for m in range(contacts.acting[len(contacts.index)]):
        n = contacts.acting[m]
        if contacts.pressure[n] == 0.0:
            continue
        point, held = PointEntries(contacts.index)[n], Holdings(contacts.grip)[n]
        spring = SpringEntries(springs.index)[point.spring]
        u, w, s = slip[n, 0], slip[n, 1], slip[n, 2]
        if point.state >= 0:
            K, most = dt * held.K, held.most
            K_uu, K_uw, K_ww = K, 0.0, K
            if s > most:
                K = K * most / s
                K_uu, K_ww = K, K
                if contacts.careful[0] == 0.0:
                    p = (held.pull_one + held.K * u) / s
                    r = (held.pull_two + held.K * w) / s
                    K_uu, K_uw, K_ww = K * r * r, -K * p * r, K * p * p
        else:
            # 1/s − u uᵀ/s³ = (v_f² + u⊥ u⊥ᵀ)/s³
            law = Regularised(data, RUBBING * n)
            cube, v_f, f = s * s * s, law.speed, dt * law.mu * contacts.pressure[n]
            if contacts.careful[0] > 0.0:
                v_f, u, w = s, 0.0, 0.0
            K_uu, K_uw, K_ww = f * (v_f * v_f + w * w) / cube, -f * u * w / cube, f * (v_f * v_f + u * u) / cube
        place, turned = spring.place, spring.turned
        for side in range(2):
            body = spring.body_a if side == 0 else spring.body_b
            if body != 0:
                add_three(blocks, model.diagonal[body], J, 2 * n, 8 * side, 8 * side, K_uu, K_uw, K_ww)
        if place >= 0:
            add_three(blocks, place, J, 2 * n, 8 * turned, 8 * (1 - turned), K_uu, K_uw, K_ww)

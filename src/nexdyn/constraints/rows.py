"""Values, Jacobian and second derivatives of all rows, term by term.

    velocity of a body in world axes: (R ω, v);  a gradient (g_w, g_v) in world axes is (Rᵀ g_w, g_v) for (ω, v)
    C = Σ scale · primitive − offset − f(t),   γ = −Σ scale (Γ(V, V) + 2 C_qt v + C_tt) + f̈,   ν = −Σ scale C_t + ḟ

Increments of a body are (θ, δ): R exp(θ), p + δ; the matrix of second derivatives is Γ of unit velocities.
"""

from __future__ import annotations

from nexdyn.constraints.pair import Pair, PairVelocity
from nexdyn.constraints.tables import AskedAngles, BodyPairs, FramesOfPairs, RowsOfTerms, Terms
from nexdyn.constraints.verbs import explicit_rate, explicit_second, gradient, second, value
from nexdyn.kernel import formula, kernel
from nexdyn.spatial.algebra import Quat, T, Vec3, rotation


@formula
def body_rotation(q, i):
    return rotation(Quat(q[i, 0], q[i, 1], q[i, 2], q[i, 3]))


@formula
def pair_at(tables, k, q):
    """The two frames of pair k in world axes, with the rotations of their bodies."""
    bodies, frames = BodyPairs(tables.pairs)[k], FramesOfPairs(tables.frames)[k]
    a, b, X_aA, X_bB = bodies.a, bodies.b, frames.X_aA, frames.X_bB
    R_a, R_b = body_rotation(q, a), body_rotation(q, b)
    s_A, s_B = R_a @ X_aA.p, R_b @ X_bB.p
    p_a, p_b = Vec3(q[a, 4], q[a, 5], q[a, 6]), Vec3(q[b, 4], q[b, 5], q[b, 6])
    return Pair(R_a @ X_aA.R, R_b @ X_bB.R, s_A, s_B, p_b + s_B - p_a - s_A), R_a, R_b


@kernel
def values(tables, t, q, near, C):
    """C (nr,) at time t without drivers; `near` takes its new values."""
    rows, terms = RowsOfTerms(tables.rows), Terms(tables.terms)
    for r in range(len(rows)):
        total = -tables.offset[r]
        for e in range(rows[r].first, rows[r].first + rows[r].count):
            pair, _, _ = pair_at(tables, terms[e].pair, q)
            total += tables.scale[e] * value(tables, e, t, pair, near)
        C[r] = total


@kernel
def follow(tables, t, q, order, near):
    """Angles near what the couplings `order` (`Asked`) ask of them: Σ scale · primitive = offset."""
    rows, terms, angles = RowsOfTerms(tables.rows), Terms(tables.terms), AskedAngles(order)
    for n in range(len(angles)):
        r, asked = angles[n].row, angles[n].term
        total = tables.offset[r]
        for e in range(rows[r].first, rows[r].first + rows[r].count):
            if e != asked:
                pair, _, _ = pair_at(tables, terms[e].pair, q)
                total -= tables.scale[e] * value(tables, e, t, pair, near)
        near[terms[asked].near] = total / tables.scale[asked]


@kernel
def jacobian(tables, t, q, near, J):
    """J (nt, 12): gradient of each term for (ω_a, v_a, ω_b, v_b), ω in the bodies' axes."""
    terms = Terms(tables.terms)
    for e in range(len(terms)):
        pair, R_a, R_b = pair_at(tables, terms[e].pair, q)
        g, s = gradient(tables, e, t, pair, near), tables.scale[e]
        w_a, w_b = T(R_a) @ g.w_a, T(R_b) @ g.w_b
        J[e, 0], J[e, 1], J[e, 2] = s * w_a.x, s * w_a.y, s * w_a.z
        J[e, 3], J[e, 4], J[e, 5] = s * g.v_a.x, s * g.v_a.y, s * g.v_a.z
        J[e, 6], J[e, 7], J[e, 8] = s * w_b.x, s * w_b.y, s * w_b.z
        J[e, 9], J[e, 10], J[e, 11] = s * g.v_b.x, s * g.v_b.y, s * g.v_b.z


@formula
def pair_velocity(tables, k, R_a, R_b, v):
    bodies = BodyPairs(tables.pairs)[k]
    a, b = bodies.a, bodies.b
    return PairVelocity(
        R_a @ Vec3(v[a, 0], v[a, 1], v[a, 2]), Vec3(v[a, 3], v[a, 4], v[a, 5]),
        R_b @ Vec3(v[b, 0], v[b, 1], v[b, 2]), Vec3(v[b, 3], v[b, 4], v[b, 5]),
    )  # fmt: skip


@kernel
def quadratic(tables, t, q, v, near, gamma):
    """γ (nr,) = −Σ scale (Γ(V, V) + 2 C_qt v + C_tt), without drivers."""
    rows, terms = RowsOfTerms(tables.rows), Terms(tables.terms)
    for r in range(len(rows)):
        total = 0.0
        for e in range(rows[r].first, rows[r].first + rows[r].count):
            k = terms[e].pair
            pair, R_a, R_b = pair_at(tables, k, q)
            V = pair_velocity(tables, k, R_a, R_b, v)
            total += tables.scale[e] * (second(tables, e, t, pair, near, V, V) + explicit_second(tables, e, t, pair, V))
        gamma[r] = -total


@kernel
def rates(tables, t, q, nu):
    """ν (nr,) = −Σ scale C_t, without drivers."""
    rows, terms = RowsOfTerms(tables.rows), Terms(tables.terms)
    for r in range(len(rows)):
        total = 0.0
        for e in range(rows[r].first, rows[r].first + rows[r].count):
            pair, _, _ = pair_at(tables, terms[e].pair, q)
            total += tables.scale[e] * explicit_rate(tables, e, t, pair)
        nu[r] = -total


@formula
def unit_velocity(R_a, R_b, i):
    """The velocity of the pair when component i of (ω_a, v_a, ω_b, v_b) is 1."""
    o = Vec3(0.0, 0.0, 0.0)
    e = Vec3(1.0 if i % 3 == 0 else 0.0, 1.0 if i % 3 == 1 else 0.0, 1.0 if i % 3 == 2 else 0.0)
    if i < 3:
        return PairVelocity(R_a @ e, o, o, o)
    if i < 6:
        return PairVelocity(o, e, o, o)
    if i < 9:
        return PairVelocity(o, o, R_b @ e, o)
    return PairVelocity(o, o, o, e)


@kernel
def curvature(tables, t, q, near, weight, H):
    """H (np, 12, 12), zeroed by the caller: Σ weight_r C_qq of the rows of each pair; weight (nr,)."""
    rows, terms = RowsOfTerms(tables.rows), Terms(tables.terms)
    for r in range(len(rows)):
        if weight[r] == 0.0:
            continue
        for e in range(rows[r].first, rows[r].first + rows[r].count):
            k = terms[e].pair
            pair, R_a, R_b = pair_at(tables, k, q)
            s = weight[r] * tables.scale[e]
            for i in range(12):
                V = unit_velocity(R_a, R_b, i)
                for j in range(i + 1):
                    h = s * second(tables, e, t, pair, near, V, unit_velocity(R_a, R_b, j))
                    H[k, i, j] += h
                    if i != j:
                        H[k, j, i] += h

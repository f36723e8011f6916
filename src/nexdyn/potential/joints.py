"""The energy of the constraints: an augmented Lagrangian, whose multipliers make C vanish.

    E = λᵀ C + ½ Σ μ C²,   y = λ + μ C
    gradient Jᵀ y,   Hessian Jᵀ μ J + Σ y C_qq                         J derivative of C for x, chart as in ``increments``

E is not scaled by dt². It is no potential but what enforces C = 0: multiplied by dt², a stiffness μ would count dt² μ beside
the mass, 0.1 kg for μ = 1000 and dt = 0.01 s, which holds no joint of 1 kg bodies. So λ is the joint's force × dt², and
the wrench of a joint is −Jᵀ λ/dt².

Jᵀ μ J is positive semidefinite; the curvature Σ y C_qq need not be and may be left out (`curved`). Rows that repeat what
others say add to E what those add and change no minimum.
"""

from __future__ import annotations

from nexdyn.constraints.kinds import DISTANCE, DOT
from nexdyn.constraints.rows import unit_velocity
from nexdyn.constraints.tables import BodyPairs, Terms
from nexdyn.constraints.verbs import gradient, second, value
from nexdyn.kernel import formula, inlined
from nexdyn.linalg.rows import WIDTH
from nexdyn.model.time_kernels import time_value
from nexdyn.potential import hinge
from nexdyn.potential.blocks import add_matrix, add_products, add_second_entry, add_upper
from nexdyn.potential.hinge import skew, spread
from nexdyn.potential.pairs import pair_at, put_rows
from nexdyn.potential.tables import COUPLED, HINGE, NONE, CoupledRows, Groups, Links, Parts
from nexdyn.spatial.algebra import Force, Mat3, Sym3, T, Vec3, axis, full, skew_times
from nexdyn.spatial.table import ForceRows, Mat3Rows, MotionRows, PoseRows

LAST_DOT = DISTANCE


@formula
def matrix_row(M, k):
    """Row k of M."""
    if k == 0:
        return Vec3(M.xx, M.xy, M.xz)
    if k == 1:
        return Vec3(M.yx, M.yy, M.yz)
    return Vec3(M.zx, M.zy, M.zz)


@formula
def hinge_rows(pair, A_a, A_b, r, C, J):
    """C and J of the six rows of a hinge from r on."""
    d, n = hinge.values(pair)
    C[r], C[r + 1], C[r + 2], C[r + 3], C[r + 4], C[r + 5] = d.x, d.y, d.z, n.x, n.y, n.z
    P = hinge.turn_columns(pair)
    d_a, d_b = skew_times(pair.s_A, A_a), skew_times(-pair.s_B, A_b)
    n_a, n_b = P @ A_a, T(P) @ A_b
    o = Vec3(0.0, 0.0, 0.0)
    for k in range(3):
        e = axis(k)
        put_rows(J, r + k, matrix_row(d_a, k), -e, matrix_row(d_b, k), e)
        put_rows(J, r + 3 + k, matrix_row(n_a, k), o, -matrix_row(n_b, k), o)


@formula
def table_row(model, pair, A_a, A_b, r, t, near, C, J):
    """C and J of a row of the constraint tables between one pair; returns its world covectors (n_a, f_a, n_b, f_b)."""
    tables, q = model.constraints, model.row_of[r]
    total, o = -tables.offset[q], Vec3(0.0, 0.0, 0.0)
    n_a, f_a, n_b, f_b = o, o, o, o
    if model.driven[r] != NONE:
        total -= time_value(model.functions, model.driven[r], t)
    for e in range(tables.rows[q, 0], tables.rows[q, 0] + tables.rows[q, 1]):
        s = tables.scale[e]
        total += s * value(tables, e, t, pair, near)
        g = gradient(tables, e, t, pair, near)
        n_a, f_a, n_b, f_b = n_a + s * g.w_a, f_a + s * g.v_a, n_b + s * g.w_b, f_b + s * g.v_b
    C[r] = total
    put_rows(J, r, T(A_a) @ n_a, f_a, T(A_b) @ n_b, f_b)
    return n_a, f_a, n_b, f_b


@formula
def coupled_row(model, i, X0, X, A, t, near, C, J):
    """C and J of a row between several pairs of bodies, group i: one slot of J (its first 8 columns) a body."""
    group, tables, parts = CoupledRows(model.groups)[i], model.constraints, Parts(model.parts)
    r = group.first
    q = model.row_of[r]
    total = -tables.offset[q]
    if model.driven[r] != NONE:
        total -= time_value(model.functions, model.driven[r], t)
    for k in range(group.slot, group.slot + group.slots):
        for c in range(WIDTH):
            J[k, c] = 0.0
    for n in range(group.part, group.part + group.parts):
        part = parts[n]
        e, s = part.term, tables.scale[part.term]
        pair = pair_at(tables, Terms(tables.terms)[e].pair, X0, X)
        total += s * value(tables, e, t, pair, near)
        g = gradient(tables, e, t, pair, near)
        bodies = BodyPairs(tables.pairs)[Terms(tables.terms)[e].pair]
        a, b = bodies.a, bodies.b
        if a != 0:
            add_row(J, part.slot_a, T(A[a]) @ (s * g.w_a), s * g.v_a)
        if b != 0:
            add_row(J, part.slot_b, T(A[b]) @ (s * g.w_b), s * g.v_b)
    C[r] = total


@formula
def add_row(J, k, w, v):
    """Add to slot k the derivative for (θ, δ) of its body."""
    J[k, 0] += w.x
    J[k, 1] += w.y
    J[k, 2] += w.z
    J[k, 3] += v.x
    J[k, 4] += v.y
    J[k, 5] += v.z


@formula
def add_coupled_covectors(model, i, X0, X, y, t, near, F):
    """y times the world covectors of the row of group i."""
    group, tables = CoupledRows(model.groups)[i], model.constraints
    for n in range(group.part, group.part + group.parts):
        e = Parts(model.parts)[n].term
        k, s = Terms(tables.terms)[e].pair, y * tables.scale[e]
        g = gradient(tables, e, t, pair_at(tables, k, X0, X), near)
        a, b = BodyPairs(tables.pairs)[k].a, BodyPairs(tables.pairs)[k].b
        F[a] = F[a] + Force(s * g.w_a, s * g.v_a)
        F[b] = F[b] + Force(s * g.w_b, s * g.v_b)


@formula
def add_coupled_hessian(model, i, X0, X, A, lam, weight, mu, t, work, curved):
    """μ Jᵀ J of the row of group i, and y C_qq of its terms where `curved`."""
    group, tables, J = CoupledRows(model.groups)[i], model.constraints, work.J
    r = group.first
    for n in range(group.link, group.link + group.links):
        link = Links(model.links)[n]
        k, l, place = link.row, link.column, link.place
        for c in range(6):
            for m in range(6):
                work.blocks[place + WIDTH * c + m] += mu[r] * J[k, c] * J[l, m]
    if curved:
        y = lam[r] + weight[r] * work.C[r]
        for n in range(group.part, group.part + group.parts):
            part = Parts(model.parts)[n]
            e = part.term
            k = Terms(tables.terms)[e].pair
            a, b = BodyPairs(tables.pairs)[k].a, BodyPairs(tables.pairs)[k].b
            pair, s = pair_at(tables, k, X0, X), y * tables.scale[e]
            add_second(
                model,
                work.blocks,
                a,
                b,
                part.place,
                part.turned,
                A[a],
                A[b],
                e,
                t,
                pair,
                work.near,
                s,
            )


@formula
def add_joints(model, lam, mu, t, work):
    """C, J and the covectors of all rows at work.pose; returns E and the sum of the sizes of its terms."""
    groups, tables = Groups(model.groups), model.constraints
    X0, X = PoseRows(work.base, 0), PoseRows(work.pose, 0)
    A, F = Mat3Rows(work.turning, 0), ForceRows(work.force, 0)
    C, J = work.C, work.J
    E = size = 0.0
    for i in range(len(groups)):
        group = groups[i]
        r, count = group.first, group.count
        if group.kind == COUPLED:
            coupled_row(model, i, X0, X, A, t, work.near, C, J)
            add_coupled_covectors(model, i, X0, X, lam[r] + mu[r] * C[r], t, work.near, F)
            penalty = 0.5 * mu[r] * C[r]
            E += (lam[r] + penalty) * C[r]
            size += (abs(lam[r]) + abs(penalty)) * (abs(C[r]) + 1.0 / model.units[r])
            continue
        a, b = group.body_a, group.body_b
        pair = pair_at(tables, group.pair, X0, X)
        A_a, A_b = A[a], A[b]
        if group.kind == HINGE:
            hinge_rows(pair, A_a, A_b, r, C, J)
            y = Vec3(lam[r] + mu[r] * C[r], lam[r + 1] + mu[r + 1] * C[r + 1], lam[r + 2] + mu[r + 2] * C[r + 2])
            z = Vec3(
                lam[r + 3] + mu[r + 3] * C[r + 3], lam[r + 4] + mu[r + 4] * C[r + 4], lam[r + 5] + mu[r + 5] * C[r + 5]
            )
            n_a, n_b = hinge.covectors(pair, y, z)
            F[a], F[b] = F[a] + Force(n_a, -y), F[b] + Force(n_b, y)
        else:
            for k in range(r, r + count):
                n_a, f_a, n_b, f_b = table_row(model, pair, A_a, A_b, k, t, work.near, C, J)
                s = lam[k] + mu[k] * C[k]
                F[a], F[b] = F[a] + Force(s * n_a, s * f_a), F[b] + Force(s * n_b, s * f_b)
        for k in range(r, r + count):
            penalty = 0.5 * mu[k] * C[k]
            E += (lam[k] + penalty) * C[k]
            size += (abs(lam[k]) + abs(penalty)) * (abs(C[k]) + 1.0 / model.units[k])
    return E, size


@formula
def matrix_of_dots(pair, W):
    """Σ W_ij u_i w_jᵀ of the axes u of A and w of B: R_A W R_Bᵀ."""
    return pair.R_A @ W @ T(pair.R_B)


@formula
def add_to_entry(W, i, j, s):
    """W with s added to its entry (i, j)."""
    u, w = axis(i), axis(j)
    return W + Mat3(
        s * u.x * w.x, s * u.x * w.y, s * u.x * w.z,
        s * u.y * w.x, s * u.y * w.y, s * u.y * w.z,
        s * u.z * w.x, s * u.z * w.y, s * u.z * w.z,
    )  # fmt: skip


@formula
def between(A, S, B):
    """Aᵀ S B."""
    return T(A) @ S @ B


@formula
def upper(M):
    """The symmetric part of M."""
    return Sym3(M.xx, 0.5 * (M.xy + M.yx), 0.5 * (M.xz + M.zx), M.yy, 0.5 * (M.yz + M.zy), M.zz)


@formula
def add_world(model, blocks, i, A_a, A_b, K_aa, K_ab, K_bb):
    """Add second derivatives for world rotations of the bodies of group i, Sym3, Mat3, Sym3."""
    group = Groups(model.groups)[i]
    a, b, place = group.body_a, group.body_b, group.place
    if a != 0:
        add_upper(blocks, model.diagonal[a], upper(between(A_a, full(K_aa), A_a)))
    if b != 0:
        add_upper(blocks, model.diagonal[b], upper(between(A_b, full(K_bb), A_b)))
    if place != NONE:
        M = between(A_a, K_ab, A_b)
        add_matrix(blocks, place, T(M) if group.turned == 1 else M)


@formula
def add_turn_shift(model, blocks, i, A_a, A_b, F, e, s_B):
    """Curvature of F · d for F fixed in A: e = d + s_A.

    K_aa = S(e, F),  K_ab = (F · s_B) 1 − s_B Fᵀ,  K_bb = S(s_B, F);  rotation of a with translations of a and b ∓[F]×
    """
    group = Groups(model.groups)[i]
    a, place = group.body_a, group.place
    k = F @ s_B
    K_ab = Mat3(
        k - s_B.x * F.x, -s_B.x * F.y, -s_B.x * F.z,
        -s_B.y * F.x, k - s_B.y * F.y, -s_B.y * F.z,
        -s_B.z * F.x, -s_B.z * F.y, k - s_B.z * F.z,
    )  # fmt: skip
    add_world(model, blocks, i, A_a, A_b, spread(e, F), K_ab, spread(s_B, F))
    if a != 0:
        M = T(A_a) @ skew(F)
        add_matrix(blocks, model.diagonal[a] + 3, T(A_a) @ skew(-F))
        if place != NONE:
            if group.turned == 1:
                add_matrix(blocks, place + 3 * WIDTH, T(M))
            else:
                add_matrix(blocks, place + 3, M)


@formula
def add_second(model, blocks, a, b, place, turned, A_a, A_b, e, t, pair, near, s):
    """s C_qq of term e between bodies a and b, whatever its primitive, entry by entry."""
    tables = model.constraints
    for i in range(12):
        V = unit_velocity(A_a, A_b, i)
        for j in range(i, 12):
            h = s * second(tables, e, t, pair, near, V, unit_velocity(A_a, A_b, j))
            add_second_entry(blocks, model.diagonal, a, b, place, turned, i, j, h)


@formula
def add_rows_curvature(model, i, pair, A_a, A_b, lam, mu, t, work):
    """Σ y C_qq of the rows of group i: displacements and direction products by their sums, others one by one."""
    group, tables, blocks = Groups(model.groups)[i], model.constraints, work.blocks
    f, W = Vec3(0.0, 0.0, 0.0), Mat3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    dots = False
    for r in range(group.first, group.first + group.count):
        y, q = lam[r] + mu[r] * work.C[r], model.row_of[r]
        for e in range(tables.rows[q, 0], tables.rows[q, 0] + tables.rows[q, 1]):
            kind, s = Terms(tables.terms)[e].primitive, y * tables.scale[e]
            if kind < DOT:
                f = f + s * axis(kind)
            elif kind < LAST_DOT:
                dots = True
                W = add_to_entry(W, (kind - DOT) // 3, (kind - DOT) % 3, s)
            else:
                a, b = group.body_a, group.body_b
                add_second(model, blocks, a, b, group.place, group.turned, A_a, A_b, e, t, pair, work.near, s)
    if f @ f > 0.0:
        add_turn_shift(model, blocks, i, A_a, A_b, pair.R_A @ f, pair.d + pair.s_A, pair.s_B)
    if dots:
        B = matrix_of_dots(pair, W)
        k = B.xx + B.yy + B.zz
        K = Sym3(B.xx - k, 0.5 * (B.xy + B.yx), 0.5 * (B.xz + B.zx), B.yy - k, 0.5 * (B.yz + B.zy), B.zz - k)
        K_ab = Mat3(k - B.xx, -B.yx, -B.zx, -B.xy, k - B.yy, -B.zy, -B.xz, -B.yz, k - B.zz)
        add_world(model, blocks, i, A_a, A_b, K, K_ab, K)


@formula
def add_joints_hessian(model, lam, weight, mu, t, work, curved):
    """Jᵀ μ J of all rows, and Σ y C_qq, y = λ + weight C, where `curved`."""
    groups, tables, J, C, blocks = Groups(model.groups), model.constraints, work.J, work.C, work.blocks
    X0, X, A = PoseRows(work.base, 0), PoseRows(work.pose, 0), Mat3Rows(work.turning, 0)
    for i in range(len(groups)):
        group = groups[i]
        if group.kind == COUPLED:
            add_coupled_hessian(model, i, X0, X, A, lam, weight, mu, t, work, curved)
            continue
        r, count = group.first, group.count
        for side in range(2):
            body = group.body_a if side == 0 else group.body_b
            if body != 0:
                add_products(blocks, model.diagonal[body], J, r, count, WIDTH * side, WIDTH * side, mu)
        if group.place != NONE:
            turned = group.turned
            add_products(blocks, group.place, J, r, count, WIDTH * turned, WIDTH * (1 - turned), mu)
        if not curved:
            continue
        pair = pair_at(tables, group.pair, X0, X)
        A_a, A_b = A[group.body_a], A[group.body_b]
        if group.kind == HINGE:
            y = Vec3(
                lam[r] + weight[r] * C[r], lam[r + 1] + weight[r + 1] * C[r + 1], lam[r + 2] + weight[r + 2] * C[r + 2]
            )
            z = Vec3(
                lam[r + 3] + weight[r + 3] * C[r + 3],
                lam[r + 4] + weight[r + 4] * C[r + 4],
                lam[r + 5] + weight[r + 5] * C[r + 5],
            )
            K_aa, K_ab, K_bb = hinge.curvatures(pair, y, z)
            add_world(model, blocks, i, A_a, A_b, K_aa, K_ab, K_bb)
        else:
            add_rows_curvature(model, i, pair, A_a, A_b, lam, weight, t, work)


@inlined
def along_row(model, i, r, J, d):
    """J d of row r, which is of group i; d (nb, 8)."""
    group, x, c = Groups(model.groups)[i], MotionRows(d, 0), 0.0
    J_a, J_b = ForceRows(J, 0), ForceRows(J, WIDTH)
    if group.kind == COUPLED:
        coupled = CoupledRows(model.groups)[i]
        for slot in range(coupled.slot, coupled.slot + coupled.slots):
            c += J_a[slot] @ x[model.slot_body[slot] - 1]
        return c
    a, b = group.body_a - 1, group.body_b - 1
    if a >= 0:
        c = J_a[r] @ x[a]
    if b >= 0:
        c += J_b[r] @ x[b]
    return c


@formula
def subtract_rows(model, y, J, out):
    """out (nb, 8) ← out − Jᵀ y, y (nr,)."""
    groups, x, J_a, J_b = Groups(model.groups), ForceRows(out, 0), ForceRows(J, 0), ForceRows(J, WIDTH)
    for i in range(len(groups)):
        group, coupled = groups[i], CoupledRows(model.groups)[i]
        for r in range(group.first, group.first + group.count):
            s = y[r]
            if group.kind == COUPLED:
                for slot in range(coupled.slot, coupled.slot + coupled.slots):
                    body = model.slot_body[slot] - 1
                    x[body] = x[body] - s * J_a[slot]
            else:
                a, b = group.body_a - 1, group.body_b - 1
                if a >= 0:
                    x[a] = x[a] - s * J_a[r]
                if b >= 0:
                    x[b] = x[b] - s * J_b[r]

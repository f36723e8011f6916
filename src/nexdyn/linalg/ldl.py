"""L D Lᵀ of a symmetric block matrix along its plan, definite or not, and solutions with it.

Of the pivot p with unknowns k and later neighbours i, j, the rows T_j = A_pj, in place (D diagonal, U its unit upper part):

    A_pp = Uᵀ D U;   T_j ← U⁻ᵀ T_j;   A_ij ← A_ij − T_iᵀ D⁻¹ T_j

Forward   z_p = D⁻¹ U⁻ᵀ b_p,   b_j ← b_j − T_jᵀ z_p;       backward   x_p = U⁻¹ (z_p − D⁻¹ Σ_j T_j x_j)

There is no search for pivots: the order of the plan keeps those of bodies positive and those of constraint rows negative
where the matrix is [[A, Bᵀ], [B, −ε]] with A positive definite. Only the upper part of a diagonal block is read.
"""

from __future__ import annotations

from nexdyn.kernel import formula, kernel
from nexdyn.linalg.plan import LIVE, Edges, Pivots
from nexdyn.linalg.rows import WIDTH, load, store, total

FINE = -1
TINY = 1e-300
"""A pivot below this is no pivot."""


@formula
def eliminate_inside(plan, blocks, p):
    """Uᵀ D U of the diagonal block, 1/D in its diagonal, and T_j ← U⁻ᵀ T_j; the sum of the signs of D, 0 on failure."""
    pivot, edges = Pivots(plan.pivots)[p], Edges(plan.edges)
    n, D, first, end = pivot.unknowns, pivot.diagonal, pivot.first, pivot.first + pivot.count
    fine = True
    for k in range(n):
        at = D + WIDTH * k
        d = blocks[at + k]
        if not (abs(d) > TINY):
            return 2
        if d * pivot.sign < 0.0:
            fine = False
        r = 1.0 / d
        row = load(blocks, at)
        for m in range(k + 1, n):
            l = blocks[at + m] * r
            store(blocks, D + WIDTH * m, load(blocks, D + WIDTH * m) - l * row)
            for e in range(first, end):
                T = edges[e].place
                store(blocks, T + WIDTH * m, load(blocks, T + WIDTH * m) - l * load(blocks, T + WIDTH * k))
        for m in range(k + 1, n):
            blocks[at + m] *= r
        blocks[at + k] = r
    return 0 if fine else 1


@formula
def subtract_product(blocks, S, rows, work, T, n):
    """S ← S − Wᵀ T, `rows` rows; W in `work` and T have n rows."""
    if n == 6:
        t0, t1, t2 = load(blocks, T), load(blocks, T + 8), load(blocks, T + 16)
        t3, t4, t5 = load(blocks, T + 24), load(blocks, T + 32), load(blocks, T + 40)
        for a in range(rows):
            x = load(blocks, S + WIDTH * a) - work[a] * t0
            y = work[a + 8] * t1
            x = x - work[a + 16] * t2
            y = y + work[a + 24] * t3
            x = x - work[a + 32] * t4
            y = y + work[a + 40] * t5
            store(blocks, S + WIDTH * a, x - y)
    elif n == 5:
        t0, t1, t2 = load(blocks, T), load(blocks, T + 8), load(blocks, T + 16)
        t3, t4 = load(blocks, T + 24), load(blocks, T + 32)
        for a in range(rows):
            x = load(blocks, S + WIDTH * a) - work[a] * t0
            y = work[a + 8] * t1
            x = x - work[a + 16] * t2
            y = y + work[a + 24] * t3
            x = x - work[a + 32] * t4
            store(blocks, S + WIDTH * a, x - y)
    else:
        for a in range(rows):
            x = load(blocks, S + WIDTH * a)
            for k in range(n):
                x = x - work[a + WIDTH * k] * load(blocks, T + WIDTH * k)
            store(blocks, S + WIDTH * a, x)


@formula
def is_nothing(blocks, T, n):
    """Whether all n rows at T are 0: of bodies that might touch, and do not."""
    i, end = T, T + WIDTH * n
    while i < end and blocks[i] == 0.0:
        i += 1
    return i == end


@formula
def live_edges(plan, blocks, first, end, n, work):
    """How many of a pivot's edges have a block that is not 0, and which, counted from its first, in `work`."""
    edges, live = Edges(plan.edges), 0
    for e in range(first, end):
        if not is_nothing(blocks, edges[e].place, n):
            work[LIVE + live] = e - first
            live += 1
    return live


@kernel
def factor(plan, blocks, work):
    """Factor `blocks` in place. Returns (wrong, failed): the first node with a pivot against its sign (a body's not
    positive), and the node at which a pivot vanished and the work stopped; −1 where there is none."""
    pivots, edges, updates = Pivots(plan.pivots), Edges(plan.edges), plan.updates
    wrong, u = FINE, 0
    for p in range(len(pivots)):
        pivot = pivots[p]
        status = eliminate_inside(plan, blocks, p)
        if status == 2:
            return wrong, pivot.node
        if status == 1 and wrong < 0:
            wrong = pivot.node
        n, D, first, end = pivot.unknowns, pivot.diagonal, pivot.first, pivot.first + pivot.count
        live, count = live_edges(plan, blocks, first, end, n, work), end - first
        for i in range(live):
            a = int(work[LIVE + i])
            T, u_a = edges[first + a].place, u + a * count - a * (a + 1) // 2
            for k in range(n):
                store(work, WIDTH * k, blocks[D + (WIDTH + 1) * k] * load(blocks, T + WIDTH * k))
            rows = pivots[plan.position[edges[first + a].other]].unknowns
            for j in range(i, live):
                b = int(work[LIVE + j])
                subtract_product(blocks, updates[u_a + b], rows, work, edges[first + b].place, n)
        u += count * (count + 1) // 2
    return wrong, FINE


@kernel
def solve(plan, blocks, x):
    """x (n, 8) ← A⁻¹ x with the factors in `blocks`; numbers of x beyond a node's unknowns are 0 and stay so."""
    pivots, edges, flat = Pivots(plan.pivots), Edges(plan.edges), x.reshape(-1)
    for p in range(len(pivots)):
        pivot = pivots[p]
        n, D, b = pivot.unknowns, pivot.diagonal, WIDTH * pivot.node
        for k in range(n):
            y = flat[b + k]
            for m in range(k + 1, n):
                flat[b + m] -= blocks[D + WIDTH * k + m] * y
            flat[b + k] = y * blocks[D + (WIDTH + 1) * k]
        for e in range(pivot.first, pivot.first + pivot.count):
            T, j = edges[e].place, WIDTH * edges[e].other
            b_j = load(flat, j)
            for k in range(n):
                b_j = b_j - flat[b + k] * load(blocks, T + WIDTH * k)
            store(flat, j, b_j)
    for p in range(len(pivots) - 1, -1, -1):
        pivot = pivots[p]
        n, D, b = pivot.unknowns, pivot.diagonal, WIDTH * pivot.node
        for e in range(pivot.first, pivot.first + pivot.count):
            T, x_j = edges[e].place, load(flat, WIDTH * edges[e].other)
            for k in range(n):
                flat[b + k] -= blocks[D + (WIDTH + 1) * k] * total(load(blocks, T + WIDTH * k) * x_j)
        for k in range(n - 2, -1, -1):
            y = flat[b + k]
            for m in range(k + 1, n):
                y -= blocks[D + WIDTH * k + m] * flat[b + m]
            flat[b + k] = y


@kernel
def multiply(plan, blocks, x, y):
    """y (n, 8) = A x with the blocks of A as they were before `factor`."""
    pivots, edges = Pivots(plan.pivots), Edges(plan.edges)
    y[:] = 0.0
    for p in range(len(pivots)):
        pivot = pivots[p]
        i, n, D = pivot.node, pivot.unknowns, pivot.diagonal
        for k in range(n):
            y[i, k] += blocks[D + (WIDTH + 1) * k] * x[i, k]
            for m in range(k + 1, n):
                y[i, k] += blocks[D + WIDTH * k + m] * x[i, m]
                y[i, m] += blocks[D + WIDTH * k + m] * x[i, k]
        for e in range(pivot.first, pivot.first + pivot.count):
            j, T = edges[e].other, edges[e].place
            for k in range(n):
                for m in range(WIDTH):
                    y[i, k] += blocks[T + WIDTH * k + m] * x[j, m]
                    y[j, m] += blocks[T + WIDTH * k + m] * x[i, k]


@kernel
def refine(plan, blocks, factors, b, x, r, rounds):
    """x ← x + F⁻¹ (b − A x), `rounds` times: takes a −ε that is in the factors only out of the solution. r is scratch."""
    for _ in range(rounds):
        multiply(plan, blocks, x, r)
        for i in range(len(x)):
            for k in range(WIDTH):
                r[i, k] = b[i, k] - r[i, k]
        solve(plan, factors, r)
        for i in range(len(x)):
            for k in range(WIDTH):
                x[i, k] += r[i, k]

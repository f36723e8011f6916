"""Block elimination of a matrix without symmetry along a plan, its pivots inverted, and solutions with it.

Of the pivot p with later neighbours i, j, upper blocks U_pj and lower blocks L_jp (U, L = A where the work starts):

    G_j = A_pp⁻¹ U_pj;   A_ij ← A_ij − L_ip G_j

Forward   z_p = A_pp⁻¹ b_p,   b_j ← b_j − L_jp z_p;       backward   x_p = z_p − Σ_j G_j x_j

A column of a block is a row of memory wherever it is multiplied by one number: `lower` holds the transposed diagonal
blocks, then their inverses, and L_jpᵀ, which is all that goes forward needs; `upper`, at the same places less those of the
diagonal, U_pj, then G_j, all that the way back needs. Each way reads its blocks one after another.

There is no search for pivots, as in ``ldl``: what keeps them is that the symmetric part of the matrix is
[[A, Bᵀ], [B, −ε]] with A positive definite.

Blocks may be tables of lanes: one plan, and a pack of several systems for every number. Then no pivot is looked at; what
a vanishing one leaves is not finite, in its lane.
"""

from __future__ import annotations

from typing import Any

from numba import types

from nexdyn.kernel import formula, kernel, overloaded
from nexdyn.linalg.ldl import FINE, TINY, is_nothing
from nexdyn.linalg.plan import LIVE, Edges, Pivots
from nexdyn.linalg.rows import WIDTH, ahead, flat, load, store, total
from nexdyn.packs import Pack

UNIT = 8 * WIDTH
"""Place of the unit matrix in the scratch."""
AHEAD = 64 * WIDTH
"""How far ahead of its use a row is asked for."""


def vanishes(d: Any) -> Any:
    """Whether d is no pivot; of packs nobody asks."""
    return not (abs(d) > TINY) if isinstance(d, float) else False


@overloaded(vanishes)
def _(d):
    return (lambda d: False) if isinstance(d, Pack) else (lambda d: not (abs(d) > TINY))


@formula
def invert(blocks, D, n, work):
    """A ← A⁻¹ in place by Gauss and Jordan, on [A 1]; whether all pivots are there."""
    for k in range(n):
        store(work, WIDTH * k, load(work, UNIT + WIDTH * k))
    for k in range(n):
        at = D + WIDTH * k
        d = blocks[at + k]
        if vanishes(d):
            return False
        r = 1.0 / d
        row, inverse = r * load(blocks, at), r * load(work, WIDTH * k)
        for m in range(n):
            o = D + WIDTH * m
            if m != k:
                l = blocks[o + k]
                store(blocks, o, load(blocks, o) - l * row)
                store(work, WIDTH * m, load(work, WIDTH * m) - l * inverse)
        store(blocks, at, row)
        store(work, WIDTH * k, inverse)
    for k in range(n):
        store(blocks, D + WIDTH * k, load(work, WIDTH * k))
    return True


def apply(inverses: Any, D: Any, blocks: Any, T: Any, n: Any, work: Any) -> None:
    """T ← A⁻¹ T, of n rows; A⁻¹ transposed at D."""
    apply_to_packs(inverses, D, blocks, T, n, work)


def update(target: Any, S: Any, rows: Any, left: Any, l: Any, right: Any, r: Any, n: Any) -> None:
    """S ← S − Wᵀ T, `rows` rows; W at l and T at r have n rows."""
    update_packs(target, S, rows, left, l, right, r, n)


def product(x: Any, b: Any, blocks: Any, T: Any, n: Any) -> Any:
    """Σ_k x_(b + k) (row k at T)."""
    return product_of_packs(x, b, blocks, T, n)


@overloaded(apply)
def _(inverses, D, blocks, T, n, work):
    if isinstance(blocks, types.Array):
        return lambda inverses, D, blocks, T, n, work: apply_to_rows(inverses, D, blocks, T, n)
    return lambda inverses, D, blocks, T, n, work: apply_to_packs(inverses, D, blocks, T, n, work)


@overloaded(update)
def _(target, S, rows, left, l, right, r, n):
    if isinstance(target, types.Array):
        return lambda target, S, rows, left, l, right, r, n: update_rows(target, S, rows, left, l, right, r, n)
    return lambda target, S, rows, left, l, right, r, n: update_packs(target, S, rows, left, l, right, r, n)


@overloaded(product)
def _(x, b, blocks, T, n):
    if isinstance(blocks, types.Array):
        return lambda x, b, blocks, T, n: product_of_rows(x, b, blocks, T, n)
    return lambda x, b, blocks, T, n: product_of_packs(x, b, blocks, T, n)


def live_edges(plan: Any, p: Any, upper: Any, lower: Any, work: Any) -> Any:
    """How many of pivot p's edges have blocks that are not 0; which of them in `work`."""
    return Pivots(plan.pivots)[p].count


def live_edge(work: Any, k: Any) -> Any:
    """The k-th of them, counted from the pivot's first edge."""
    return k


@overloaded(live_edges)
def _(plan, p, upper, lower, work):
    if isinstance(lower, types.Array):
        return lambda plan, p, upper, lower, work: live_in_rows(plan, p, upper, lower, work)
    return lambda plan, p, upper, lower, work: Pivots(plan.pivots)[p].count


@overloaded(live_edge)
def _(work, k):
    if isinstance(work, types.Array):
        return lambda work, k: int(work[LIVE + k])
    return lambda work, k: k


@formula
def live_in_rows(plan, p, upper, lower, work):
    pivot, edges, live = Pivots(plan.pivots)[p], Edges(plan.edges), 0
    n, shift = pivot.unknowns, pivot.shift
    for e in range(pivot.count):
        T = edges[pivot.first + e].place
        if not (is_nothing(lower, T, n) and is_nothing(upper, T - shift, n)):
            work[LIVE + live] = e
            live += 1
    return live


# --- of packs, of which registers hold few ------------------------------------------------------------------------------


@formula
def apply_to_packs(inverses, D, blocks, T, n, work):
    for k in range(n):
        store(work, WIDTH * k, load(blocks, T + WIDTH * k))
    for k in range(n):
        x = inverses[D + k] * load(work, 0)
        for m in range(1, n):
            x = x + inverses[D + WIDTH * m + k] * load(work, WIDTH * m)
        store(blocks, T + WIDTH * k, x)


@formula
def update_packs(target, S, rows, left, l, right, r, n):
    for a in range(rows):
        x = load(target, S + WIDTH * a)
        for k in range(n):
            x = x - left[l + a + WIDTH * k] * load(right, r + WIDTH * k)
        store(target, S + WIDTH * a, x)


@formula
def product_of_packs(x, b, blocks, T, n):
    y = x[b] * load(blocks, T)
    for k in range(1, n):
        y = y + x[b + k] * load(blocks, T + WIDTH * k)
    return y


# --- of rows in a register each -----------------------------------------------------------------------------------------


@formula
def apply_to_rows(inverses, D, blocks, T, n):
    if n == 6:
        t0, t1, t2 = load(blocks, T), load(blocks, T + 8), load(blocks, T + 16)
        t3, t4, t5 = load(blocks, T + 24), load(blocks, T + 32), load(blocks, T + 40)
        for k in range(6):
            x = inverses[D + k] * t0 + inverses[D + 8 + k] * t1
            y = inverses[D + 16 + k] * t2 + inverses[D + 24 + k] * t3
            x = x + inverses[D + 32 + k] * t4
            y = y + inverses[D + 40 + k] * t5
            store(blocks, T + WIDTH * k, x + y)
    elif n == 5:
        t0, t1, t2 = load(blocks, T), load(blocks, T + 8), load(blocks, T + 16)
        t3, t4 = load(blocks, T + 24), load(blocks, T + 32)
        for k in range(5):
            x = inverses[D + k] * t0 + inverses[D + 8 + k] * t1
            y = inverses[D + 16 + k] * t2 + inverses[D + 24 + k] * t3
            store(blocks, T + WIDTH * k, x + y + inverses[D + 32 + k] * t4)
    else:
        t0, t1, t2, t3 = load(blocks, T), load(blocks, T), load(blocks, T), load(blocks, T)
        if n > 1:
            t1 = load(blocks, T + 8)
        if n > 2:
            t2 = load(blocks, T + 16)
        if n > 3:
            t3 = load(blocks, T + 24)
        for k in range(n):
            x = inverses[D + k] * t0
            if n > 1:
                x = x + inverses[D + 8 + k] * t1
            if n > 2:
                x = x + inverses[D + 16 + k] * t2
            if n > 3:
                x = x + inverses[D + 24 + k] * t3
            store(blocks, T + WIDTH * k, x)


@formula
def update_rows(target, S, rows, left, l, right, r, n):
    if n == 6:
        t0, t1, t2 = load(right, r), load(right, r + 8), load(right, r + 16)
        t3, t4, t5 = load(right, r + 24), load(right, r + 32), load(right, r + 40)
        for a in range(rows):
            x = load(target, S + WIDTH * a) - left[l + a] * t0
            y = left[l + a + 8] * t1
            x = x - left[l + a + 16] * t2
            y = y + left[l + a + 24] * t3
            x = x - left[l + a + 32] * t4
            y = y + left[l + a + 40] * t5
            store(target, S + WIDTH * a, x - y)
    elif n == 5:
        t0, t1, t2 = load(right, r), load(right, r + 8), load(right, r + 16)
        t3, t4 = load(right, r + 24), load(right, r + 32)
        for a in range(rows):
            x = load(target, S + WIDTH * a) - left[l + a] * t0
            y = left[l + a + 8] * t1
            x = x - left[l + a + 16] * t2
            y = y + left[l + a + 24] * t3
            x = x - left[l + a + 32] * t4
            store(target, S + WIDTH * a, x - y)
    else:
        for a in range(rows):
            x = load(target, S + WIDTH * a)
            for k in range(n):
                x = x - left[l + a + WIDTH * k] * load(right, r + WIDTH * k)
            store(target, S + WIDTH * a, x)


@kernel
def factor(plan, upper, lower, work):
    """Eliminate in place. Returns the node at which a pivot vanished and the work stopped, or −1."""
    return factor_part(plan, upper, lower, work, 0, len(plan.pivots))


@kernel
def solve(plan, upper, lower, x):
    """x (n, 8) ← A⁻¹ x with the factors; numbers of x beyond a node's unknowns are 0 and stay so."""
    forward(plan, lower, x, 0, len(plan.pivots))
    backward(plan, upper, x)


@kernel
def factor_part(plan, upper, lower, work, p0, p1):
    """`factor`, of pivots p0 … p1 − 1."""
    pivots, edges, updates = Pivots(plan.pivots), Edges(plan.edges), plan.updates
    for p in range(p0, p1):
        pivot = pivots[p]
        n, D, shift, u = pivot.unknowns, pivot.diagonal, pivot.shift, pivot.updates
        if not invert(lower, D, n, work):
            return pivot.node
        first, count = pivot.first, pivot.count
        live = live_edges(plan, p, upper, lower, work)
        for k in range(live):
            apply(lower, D, upper, edges[first + live_edge(work, k)].place - shift, n, work)
        for k in range(live):
            a = live_edge(work, k)
            u_a = u + a * count - a * (a + 1) // 2
            edge = edges[first + a]
            later, T_i = pivots[plan.position[edge.other]], edge.place
            rows, shift_i = later.unknowns, later.shift
            # A_iiᵀ − G_iᵀ L_ipᵀ
            update(lower, updates[u_a + a], rows, upper, T_i - shift, lower, T_i, n)
            for m in range(k + 1, live):
                b = live_edge(work, m)
                T_j, S = edges[first + b].place, updates[u_a + b]
                update(upper, S - shift_i, rows, lower, T_i, upper, T_j - shift, n)
                update(lower, S, rows, upper, T_i - shift, lower, T_j, n)
    return FINE


@kernel
def forward(plan, lower, x, p0, p1):
    """The way forward, of pivots p0 … p1 − 1."""
    pivots, edges, y = Pivots(plan.pivots), Edges(plan.edges), flat(x)
    for p in range(p0, p1):
        pivot = pivots[p]
        n, D, b = pivot.unknowns, pivot.diagonal, WIDTH * pivot.node
        for k in range((1 + pivot.count) * n):
            ahead(lower, D + AHEAD + WIDTH * k)
        store(y, b, product(y, b, lower, D, n))
        for e in range(pivot.first, pivot.first + pivot.count):
            j = WIDTH * edges[e].other
            store(y, j, load(y, j) - product(y, b, lower, edges[e].place, n))


@kernel
def backward(plan, upper, x):
    """The way back."""
    pivots, edges, y = Pivots(plan.pivots), Edges(plan.edges), flat(x)
    for p in range(len(pivots) - 1, -1, -1):
        pivot = pivots[p]
        n, b, shift = pivot.unknowns, WIDTH * pivot.node, pivot.shift
        for e in range(pivot.first, pivot.first + pivot.count):
            T, x_j = edges[e].place - shift, load(y, WIDTH * edges[e].other)
            for k in range(n):
                ahead(upper, T - AHEAD + WIDTH * k)
                y[b + k] -= total(load(upper, T + WIDTH * k) * x_j)


@formula
def product_of_rows(y, b, blocks, T, n):
    if n == 6:
        x = y[b] * load(blocks, T) + y[b + 2] * load(blocks, T + 16)
        z = y[b + 1] * load(blocks, T + 8) + y[b + 3] * load(blocks, T + 24)
        return (x + y[b + 4] * load(blocks, T + 32)) + (z + y[b + 5] * load(blocks, T + 40))
    if n == 5:
        x = y[b] * load(blocks, T) + y[b + 2] * load(blocks, T + 16)
        z = y[b + 1] * load(blocks, T + 8) + y[b + 3] * load(blocks, T + 24)
        return (x + y[b + 4] * load(blocks, T + 32)) + z
    x = y[b] * load(blocks, T)
    for k in range(1, n):
        x = x + y[b + k] * load(blocks, T + WIDTH * k)
    return x

"""Stiffness of constraint forces: how Cqᵀ λ of a joint changes as one of its bodies moves.

Rows along an axis u of A, C = u · d, put f = Σ λ u on b at B; rows between directions, C = u · w, the couple n = Σ λ u × w on a:

    n_a = n + f × r,  f_a = −f,       n_b = s_B × f − n,  f_b = f        (r from a's origin to B, s_B from b's)

u and f turn with a, w with b. With P = Σ λ (w uᵀ − (u · w) 1) and small turns φ of a or b in world axes,

    dn_a = (Pᵀ + f rᵀ − (f · r) 1) φ_a − f × δ_a,   df_a = f × φ_a
    dn_b = (P + s_B fᵀ − (s_B · f) 1) φ_b

A body's moments are in its own axes, so that n × φ comes to dn. How they change as the other body moves would fill the
factors of a tree, whose bodies are joined by rows alone; it is left out, and so are rows of other kinds.
"""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.linalg.rows import WIDTH
from nexdyn.spatial.algebra import Mat3, T
from nexdyn.spatial.lanes import zero


@formula
def direction_stiffness(P, force, u, w):
    """P + λ (w uᵀ − (u · w) 1)."""
    return P + shifted_outer(force * w, u)


@formula
def shifted_outer(a, b):
    """a bᵀ − (a · b) 1."""
    c = a @ b
    return Mat3(
        a.x * b.x - c, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y - c, a.y * b.z, a.z * b.x, a.z * b.y, a.z * b.z - c
    )  # fmt: skip


@formula
def skew(n):
    """n × as a matrix."""
    o = zero(n.x)
    return Mat3(o, -n.z, n.y, n.z, o, -n.x, -n.y, n.x, o)


@formula
def add_transposed(blocks, o, c, K):
    """The 3 × 3 block at o, which lies transposed, with c K."""
    blocks[o] += c * K.xx
    blocks[o + 1] += c * K.yx
    blocks[o + 2] += c * K.zx
    blocks[o + WIDTH] += c * K.xy
    blocks[o + WIDTH + 1] += c * K.yy
    blocks[o + WIDTH + 2] += c * K.zy
    blocks[o + 2 * WIDTH] += c * K.xz
    blocks[o + 2 * WIDTH + 1] += c * K.yz
    blocks[o + 2 * WIDTH + 2] += c * K.zz


@formula
def stiffness_a(blocks, o, bh2, R_a, P, f, r, n):
    """β h² ∂(Cqᵀ λ) of body a into its diagonal block at o; R_a from the world, n the moment on a."""
    K = R_a @ (T(P) + shifted_outer(f, r) + skew(n)) @ T(R_a)
    F = skew(f) @ T(R_a)
    add_transposed(blocks, o, bh2, K)
    # ∂f_a/∂θ = [f]× R, rows 3 to 5; ∂n_a/∂δ its transpose
    add_transposed(blocks, o + 3, bh2, F)
    add_transposed(blocks, o + 3 * WIDTH, bh2, T(F))


@formula
def stiffness_b(blocks, o, bh2, R_b, P, f, s_B, n):
    """The same of body b."""
    add_transposed(blocks, o, bh2, R_b @ (P + shifted_outer(s_B, f) + skew(n)) @ T(R_b))

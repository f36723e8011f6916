"""The revolute joint with six rows: anchors coincide, axes are parallel, both in world axes.

    C = (d, n),   d = p_B − p_A,   n = u × w,   u = z_A,  w = z_B          (spec/double-pendulum-alm.md, 3.1)

    ḋ = −v_a + s_A × ω_a + v_b − s_B × ω_b
    ṅ = P ω_a − Pᵀ ω_b,   P = u wᵀ − (u · w) 1

Along u × w = 0 the rows of n are dependent, of rank 2 among 3. The energy of multipliers does not mind, and no axis has
to be chosen across the hinge. Second derivatives with the weights y of d and z of n:

    Σ y d̈:  K_aa = S(−s_A, y),  K_bb = S(s_B, y),            S(s, y) = ½ (s yᵀ + y sᵀ) − (s · y) 1
    Σ z n̈:  K_aa = S(u, w × z),  K_bb = S(w, z × u),  K_ab = [u]× [z]× [w]×
"""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Mat3, Sym3, cross, skew_times, z_column


@formula
def values(pair):
    """(d, n)."""
    return pair.d, cross(z_column(pair.R_A), z_column(pair.R_B))


@formula
def skew(a):
    """[a]×."""
    return Mat3(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)


@formula
def turn_columns(pair):
    """P."""
    u, w = z_column(pair.R_A), z_column(pair.R_B)
    s = u @ w
    return Mat3(
        u.x * w.x - s, u.x * w.y, u.x * w.z,
        u.y * w.x, u.y * w.y - s, u.y * w.z,
        u.z * w.x, u.z * w.y, u.z * w.z - s,
    )  # fmt: skip


@formula
def spread(s, y):
    """S(s, y) = ½ (s yᵀ + y sᵀ) − (s · y) 1."""
    d = s @ y
    return Sym3(
        s.x * y.x - d, 0.5 * (s.x * y.y + s.y * y.x), 0.5 * (s.x * y.z + s.z * y.x),
        s.y * y.y - d, 0.5 * (s.y * y.z + s.z * y.y),
        s.z * y.z - d,
    )  # fmt: skip


@formula
def covectors(pair, y, z):
    """Derivative of y · d + z · n for world rotations of a and of b; for translations it is −y and y."""
    u, w = z_column(pair.R_A), z_column(pair.R_B)
    n_a = cross(u, cross(w, z)) - cross(pair.s_A, y)
    n_b = cross(w, cross(z, u)) + cross(pair.s_B, y)
    return n_a, n_b


@formula
def curvatures(pair, y, z):
    """(K_aa, K_ab, K_bb) for world rotations; translations have none."""
    u, w = z_column(pair.R_A), z_column(pair.R_B)
    K_aa = spread(-pair.s_A, y) + spread(u, cross(w, z))
    K_bb = spread(pair.s_B, y) + spread(w, cross(z, u))
    return K_aa, skew_times(u, skew_times(z, skew(w))), K_bb

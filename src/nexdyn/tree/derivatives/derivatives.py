"""Derivatives of inverse and forward dynamics on the manifold of positions, in O(n d) for n degrees of freedom at depth d.

Turning freedom n of joint j by δ carries all that hangs on it along: X_j → X_j exp(h_n δ). All is expressed in world axes
about the origin of the tree's root body, so that quantities of a branch add up and only the branch's own size enters
their rounding. With p the parent of j, V_J = H v, and ∂_n h_m how column m of H changes with coordinate n, seen from a
body i that hangs on j (or is j):

    ∂V_i/∂q_n = η_n,    ∂A_i/∂q_n = β_n − V_i × η_n          ∂V_i/∂v_n = h_n,    ∂A_i/∂v_n = γ_n − V_i × h_n
    D_n = Σ v_m ∂_n h_m,   η_n = V_p × h_n + D_n,   γ_n = (V_p + V_j) × h_n + D_n + ḣ_n
    β_n = A_p × h_n + V_p × η_n + Σ a_m ∂_n h_m + V_j × D_n + ∂_n(Ḣ v)

The force F = I A + V ×* I V of a body then changes by I β_n + 2B η_n, where 2B x is the Coriolis wrench of its mass points
r, of velocities ṙ = v + ω × r, in a frame that turns at the angular part w of x:

    2B x = 2 ∫ (r × (w × ṙ), w × ṙ) dm = 2 (tr K w − K w, w × P),   K = ∫ ṙ rᵀ dm = v hᵀ + [ω]× S,   P = ∫ ṙ dm
    S = ∫ r rᵀ dm = ½ tr(Ī) 1 − Ī

twelve numbers that add up over a branch as inertias do. Hence, with I, B and F of the branch that hangs on a joint,
for a degree of freedom n of joint j, degrees of freedom m above it, and degrees of freedom l of j itself:

    ∂τ_m/∂q_n = h_mᵀ (I β_n + 2B η_n + h_n ×* F)     ∂τ_n/∂q_m = (I h_n)ᵀ β_m + (2Bᵀ h_n)ᵀ η_m
    ∂τ_l/∂q_n = h_lᵀ (I β_n + 2B η_n) + ∂_n h_lᵀ F
    ∂τ_m/∂v_n = h_mᵀ (I γ_n + 2B h_n)                ∂τ_n/∂v_m = (I h_n)ᵀ γ_m + (2Bᵀ h_n)ᵀ h_m        M_nm = (I h_n)ᵀ h_m

and of a = M⁻¹ (τ − h):  ∂a/∂τ = M⁻¹,  ∂a/∂q = −M⁻¹ ∂RNEA/∂q,  ∂a/∂v = −M⁻¹ ∂RNEA/∂v,  with M = Lᵀ D L of `crba`.

After Carpentier & Mansard (RSS 2018) and Singh, Russell & Wensing (IEEE RA-L 2022), whose joints have columns H that do not
turn in their child; a universal and a planar joint's do, and their velocities are the rates of their coordinates. External
wrenches are those in the scratch; they keep their components in their body's axes.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from nexdyn.joints.kinds import PRISMATIC, REVOLUTE
from nexdyn.joints.on_tree import (
    bias_slope,
    child_pose,
    column_rate,
    column_slope,
    columns_turn,
    joint_bias,
    motion_columns,
)
from nexdyn.kernel import formula, inlined
from nexdyn.records import Record, holds_records
from nexdyn.spatial.algebra import (
    ABOUT_Z,
    ALONG_Z,
    Force,
    Mat3,
    Motion,
    Pose,
    RigidInertia,
    Sym3,
    T,
    Vec3,
    cross,
    full,
    skew_times,
)
from nexdyn.spatial.lanes import zero
from nexdyn.tree.core.tables import world_acceleration

TOGETHER = 4
"""Columns, or packs of columns, that are solved for at once, so that their sums stay in registers."""


class Branch(Record):
    """Of a body X, V, A and, of what hangs on it, F, I, K, P."""

    X: Pose
    V: Motion
    A: Motion
    F: Force
    I: RigidInertia
    K: Mat3
    P: Vec3


class Turned(Record):
    """Of a degree of freedom h, angular η, β, γ, h in its body."""

    H: Motion
    eta: Vec3
    beta: Motion
    gamma: Motion
    H_local: Motion


@holds_records
class DerivativeWork(NamedTuple):
    """Scratch."""

    body: Annotated[Any, Branch]
    freedom: Annotated[Any, Turned]


def new_derivative_work(nb: int, nv: int) -> DerivativeWork:
    """Scratch for a tree of nb bodies and nv degrees of freedom: zeros, and the world's own pose in row 0."""
    work = DerivativeWork(np.zeros((nb + 1, Branch.columns)), np.zeros((max(nv, 1), Turned.columns)))
    work.body.X.R.numbers[0] = np.eye(3).ravel()
    return work


# --- outward --------------------------------------------------------------------------------------------------------


@inlined
def columns_of(model, i, q, X_i, H, H_local):
    """The columns h of joint i in common axes."""
    bodies = model.topology
    kind, k, j = bodies[i].kind, bodies[i].iq, bodies[i].iv
    if kind == REVOLUTE:
        H[j] = X_i @ ABOUT_Z
    elif kind == PRISMATIC:
        H[j] = X_i @ ALONG_Z
    else:
        motion_columns(kind, model.body[i].pitch, q, k, H_local, j)
        for n in range(j, j + bodies[i].nv):
            H[n] = X_i @ H_local[n]


@formula
def turning_columns(model, i, n, q, v, a, X_i, V_i, H_local):
    """D_n, Σ a_m ∂_n h_m + V_j × D_n + ∂_n(Ḣ v), and D_n + ḣ_n, where the columns of H turn in their child."""
    bodies, pitch = model.topology, model.body[i].pitch
    kind, k, j = bodies[i].kind, bodies[i].iq, bodies[i].iv
    o = zero(V_i.w.x)
    D = E = Motion(Vec3(o, o, o), Vec3(o, o, o))
    for m in range(j, j + bodies[i].nv):
        slope = X_i @ column_slope(kind, pitch, q, k, m - j, n - j, H_local, j)
        D, E = D + v[m] * slope, E + a[m] * slope
    slope = X_i @ bias_slope(kind, pitch, q, k, v, j, n - j, H_local)
    rate = X_i @ column_rate(kind, pitch, q, k, v, j, n - j, H_local)
    return D, E + cross(V_i, D) + slope, D + rate


@formula
def outward(model, q, v, a, work, scratch):
    """X, V, A, F, I, K, P of every body by itself; h, η, β, γ of every degree of freedom."""
    bodies, I_body, X_PJ = model.topology, model.body.I, model.body.X_PJ
    branch, turned, F_ext = scratch.body, scratch.freedom, work.body.external
    X, V, A, F, I, K, P = branch.X, branch.V, branch.A, branch.F, branch.I, branch.K, branch.P
    H, H_local, eta, beta, gamma = turned.H, turned.H_local, turned.eta, turned.beta, turned.gamma
    o = zero(model.body[0].pitch)
    nothing = Motion(Vec3(o, o, o), Vec3(o, o, o))
    V[0], A[0] = nothing, world_acceleration(model)
    for i in range(1, len(bodies)):
        kind, j, p = bodies[i].kind, bodies[i].iv, bodies[i].parent
        last, turning = j + bodies[i].nv, columns_turn(kind)
        # X_i in world axes about the root's origin
        X_i = child_pose(kind, X[p] @ X_PJ[i], model.body[i].pitch, q, bodies[i].iq)
        if p == 0:
            X_i = Pose(X_i.R, Vec3(o, o, o))
        columns_of(model, i, q, X_i, H, H_local)
        V_p, A_p = V[p], A[p]
        # V_i = V_p + H v,  A_i = A_p + H a + V_i × H v + Ḣ v
        V_J = A_J = nothing
        for n in range(j, last):
            V_J, A_J = V_J + v[n] * H[n], A_J + a[n] * H[n]
        V_i = V_p + V_J
        A_i = A_p + A_J + cross(V_i, V_J)
        if turning:
            A_i = A_i + X_i @ joint_bias(kind, model.body[i].pitch, q, bodies[i].iq, v, j, o)
        for n in range(j, last):
            # η = V_p × h + D,  β = A_p × h + V_p × η + …,  γ = (V_p + V_j) × h + D + ḣ
            eta_n, beta_n, gamma_n = cross(V_p, H[n]), cross(A_p, H[n]), cross(V_p + V_i, H[n])
            if turning:
                D, more_beta, more_gamma = turning_columns(model, i, n, q, v, a, X_i, V_i, H_local)
                eta_n, beta_n, gamma_n = eta_n + D, beta_n + more_beta, gamma_n + more_gamma
            eta[n], beta[n], gamma[n] = eta_n.w, beta_n + cross(V_p, eta_n), gamma_n
        # F = I A + V ×* I V − F_ext,  K = v hᵀ + [ω]× S
        I_i = X_i @ I_body[i]
        momentum = I_i @ V_i
        X[i], V[i], A[i], I[i] = X_i, V_i, A_i, I_i
        F[i] = I_i @ A_i + cross(V_i, momentum) - X_i @ F_ext[i]
        K[i], P[i] = outer(V_i.v, I_i.h) + skew_times(V_i.w, full(second_moments(I_i.I))), momentum.f


@formula
def outer(a, b):
    """a bᵀ."""
    return Mat3(a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x, a.z * b.y, a.z * b.z)


@formula
def second_moments(I):
    """S = ½ tr(Ī) 1 − Ī."""
    half = 0.5 * (I.xx + I.yy + I.zz)
    return Sym3(half - I.xx, -I.xy, -I.xz, half - I.yy, -I.yz, half - I.zz)


# --- inward ---------------------------------------------------------------------------------------------------------


@formula
def coriolis_wrench(K, P, w):
    """2B x of an x that turns at w: 2 (tr K w − K w, w × P)."""
    return Force(2.0 * ((K.xx + K.yy + K.zz) * w - K @ w), 2.0 * cross(w, P))


@formula
def coriolis_transposed(K, P, h):
    """The angular part, which is all, of 2Bᵀ h, h = (w, v): 2 (tr K w − Kᵀ w + P × v)."""
    return 2.0 * ((K.xx + K.yy + K.zz) * h.w - T(K) @ h.w + cross(P, h.v))


@formula
def inverse_derivatives(model, above, q, v, a, work, scratch, dq, dv, M):
    """∂τ/∂q, ∂τ/∂v and M (nv × nv, zeroed by the caller) of τ = RNEA(q, v, a); above[n] is the next degree of freedom inward."""
    outward(model, q, v, a, work, scratch)
    bodies, dofs, branch, turned = model.topology, model.freedom, scratch.body, scratch.freedom
    X, F, I, K, P = branch.X, branch.F, branch.I, branch.K, branch.P
    H, H_local, eta, beta, gamma = turned.H, turned.H_local, turned.eta, turned.beta, turned.gamma
    for i in range(len(bodies) - 1, 0, -1):
        kind, j, p = bodies[i].kind, bodies[i].iv, bodies[i].parent
        last = j + bodies[i].nv
        F_i, I_i, K_i, P_i = F[i], I[i], K[i], P[i]
        for n in range(j, last):
            h = H[n]
            # I h,  2Bᵀ h,  I β + 2B η,  I γ + 2B h
            y = I_i @ h
            z = coriolis_transposed(K_i, P_i, h)
            of_q = I_i @ beta[n] + coriolis_wrench(K_i, P_i, eta[n])
            of_v = I_i @ gamma[n] + coriolis_wrench(K_i, P_i, h.w)
            for m in range(j, last):
                dq[m, n], dv[m, n], M[m, n] = of_q @ H[m], of_v @ H[m], y @ H[m]
                if columns_turn(kind):
                    slope = column_slope(kind, model.body[i].pitch, q, bodies[i].iq, m - j, n - j, H_local, j)
                    dq[m, n] = dq[m, n] + F_i @ (X[i] @ slope)
            M[n, n] = M[n, n] + dofs[n].armature
            of_q = of_q + cross(h, F_i)
            m = above[j]
            while m >= 0:
                dq[m, n], dv[m, n] = of_q @ H[m], of_v @ H[m]
                dq[n, m], dv[n, m] = y @ beta[m] + z @ eta[m], y @ gamma[m] + z @ H[m].w
                M[n, m] = y @ H[m]
                M[m, n] = M[n, m]
                m = above[m]
        if p > 0:
            F[p], I[p], K[p], P[p] = F[p] + F_i, I[p] + I_i, K[p] + K_i, P[p] + P_i


# --- M⁻¹ ------------------------------------------------------------------------------------------------------------


@inlined
def solve_four(L, above, ends, low, high, rows, B, c):
    """B ← −M⁻¹ B with M = Lᵀ D L in columns c … c + 3, the first `rows` of it.

    Entries of these columns stand in rows low … high − 1 and in those above `low`. What hangs on degree of freedom i ends before
    ends[i]. An entry of B may be a pack of columns.
    """
    # Lᵀ Y = B, from the outermost row inward
    for i in range(high - 1, low - 1, -1):
        b_0, b_1, b_2, b_3 = B[i, c], B[i, c + 1], B[i, c + 2], B[i, c + 3]
        for k in range(i + 1, min(ends[i], high)):
            l = L[k, i]
            b_0, b_1 = b_0 - l * B[k, c], b_1 - l * B[k, c + 1]
            b_2, b_3 = b_2 - l * B[k, c + 2], b_3 - l * B[k, c + 3]
        B[i, c], B[i, c + 1], B[i, c + 2], B[i, c + 3] = b_0, b_1, b_2, b_3
    i = above[low]
    while i >= 0:
        b_0, b_1, b_2, b_3 = B[i, c], B[i, c + 1], B[i, c + 2], B[i, c + 3]
        for k in range(low, min(ends[i], high)):
            l = L[k, i]
            b_0, b_1 = b_0 - l * B[k, c], b_1 - l * B[k, c + 1]
            b_2, b_3 = b_2 - l * B[k, c + 2], b_3 - l * B[k, c + 3]
        k = above[low]
        while k > i:
            l = L[k, i]
            b_0, b_1 = b_0 - l * B[k, c], b_1 - l * B[k, c + 1]
            b_2, b_3 = b_2 - l * B[k, c + 2], b_3 - l * B[k, c + 3]
            k = above[k]
        B[i, c], B[i, c + 1], B[i, c + 2], B[i, c + 3] = b_0, b_1, b_2, b_3
        i = above[i]
    # D L X = −Y, outward
    for k in range(rows):
        r = -1.0 / L[k, k]
        b_0, b_1, b_2, b_3 = r * B[k, c], r * B[k, c + 1], r * B[k, c + 2], r * B[k, c + 3]
        i = above[k]
        while i >= 0:
            l = L[k, i]
            b_0, b_1 = b_0 - l * B[i, c], b_1 - l * B[i, c + 1]
            b_2, b_3 = b_2 - l * B[i, c + 2], b_3 - l * B[i, c + 3]
            i = above[i]
        B[k, c], B[k, c + 1], B[k, c + 2], B[k, c + 3] = b_0, b_1, b_2, b_3


@formula
def solve_related(L, above, ends, B):
    """B ← −M⁻¹ B where column c of B has entries for what carries degree of freedom c and what hangs on it."""
    n = len(above)
    for c in range(0, n, TOGETHER):
        high = 0
        for m in range(c, min(c + TOGETHER, n)):
            high = max(high, ends[m])
        solve_four(L, above, ends, c, high, n, B, c)


@formula
def inverse_of_mass(L, above, ends, B):
    """B = M⁻¹, from zeros; the half on one side of the diagonal is solved for."""
    n = len(above)
    for c in range(0, n, TOGETHER):
        last = min(c + TOGETHER, n)
        for m in range(c, last):
            B[m, m] = zero(L[m, m]) - 1.0
        solve_four(L, above, ends, c, last, last, B, c)
        for m in range(c, last):
            for k in range(m):
                B[m, k] = B[k, m]


@formula
def solve_all(L, above, ends, packs, columns):
    """B ← −M⁻¹ B of one system, eight columns of B a pack: a table of `columns` packs, a multiple of TOGETHER."""
    for c in range(0, columns, TOGETHER):
        solve_four(L, above, ends, 0, len(above), len(above), packs, c)

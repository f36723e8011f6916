"""The Coriolis matrix of Christoffel's symbols, C(q, v), for which Ṁ − 2C is skew-symmetric.

In the frame of each body i, with the columns J of its Jacobian and their apparent rates J̇ (Echeandia & Wensing 2021):

    C = Σ_i Jᵀ (I J̇ + B J),   B x = ½ (V ×* I x + I (V × x) + x ×* I V)

B is skew and B V = V ×* I V, hence C v is the velocity part of the bias and Ṁ − 2C = Σ (J̇ᵀ I J − Jᵀ I J̇) − 2 Jᵀ B J is
skew. Cost O(n d²) for depth d.
"""

from __future__ import annotations

from nexdyn.joints.on_tree import column_rate
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import cross, to_child


@formula
def coriolis_matrix(model, q, v, work, X_W, C):
    """C (nv × nv, zeroed by the caller) from H, V and the world poses."""
    bodies = model.topology
    I, V, H = model.body.I, work.body.V, work.columns.H
    J, J_dot = work.columns.J, work.columns.J_dot
    for i in range(1, len(bodies)):
        # columns of the ancestors in the frame of i, and their apparent rates
        a = i
        while a > 0:
            V_a = to_child(X_W[i], X_W[a] @ V[a]) - V[i]
            kind, k, first = bodies[a].kind, bodies[a].iq, bodies[a].iv
            for j in range(first, first + bodies[a].nv):
                J[j] = to_child(X_W[i], X_W[a] @ H[j])
                rate = X_W[a] @ column_rate(kind, model.body[a].pitch, q, k, v, first, j - first, H)
                J_dot[j] = cross(V_a, J[j]) + to_child(X_W[i], rate)
            a = bodies[a].parent
        # C_kj += J_kᵀ (I J̇_j + B J_j)
        a = i
        while a > 0:
            for j in range(bodies[a].iv, bodies[a].iv + bodies[a].nv):
                x = J[j]
                B_x = 0.5 * (cross(V[i], I[i] @ x) + I[i] @ cross(V[i], x) + cross(x, I[i] @ V[i]))
                F = I[i] @ J_dot[j] + B_x
                b = i
                while b > 0:
                    for k in range(bodies[b].iv, bodies[b].iv + bodies[b].nv):
                        C[k, j] = C[k, j] + F @ J[k]
                    b = bodies[b].parent
            a = bodies[a].parent

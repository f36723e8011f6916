"""Geometric Jacobians of a frame and their rates.

world           J_W: column j = X_Wi h_j, the twist of the frame's body in world axes, at the world's origin
world-aligned   the same at the frame's origin p: v = v_0 + ω × p
local           X_WF⁻¹ J_W

J̇_W = V_Wi × X_Wi h_j + X_Wi ḣ_j;   local: X_WF⁻¹ (J̇_W − V_W × J_W);   world-aligned: v̇_0 + ω̇ × p + ω × ṗ
"""

from __future__ import annotations

from nexdyn.joints.on_tree import column_rate
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Motion, cross, to_child

LOCAL, WORLD, WORLD_ALIGNED = range(3)


@formula
def _put(m, j, J):
    J[0, j], J[1, j], J[2, j] = m.w.x, m.w.y, m.w.z
    J[3, j], J[4, j], J[5, j] = m.v.x, m.v.y, m.v.z


@formula
def frame_jacobian(model, q, v, work, X_W, b, X_bF, reference, J, J_dot):
    """J and J̇ (6 × nv, zeroed by the caller) of the frame at pose X_bF in body b; from H, V and the world poses."""
    bodies = model.topology
    H, V = work.columns.H, work.body.V
    X_WF = X_W[b] @ X_bF
    V_W = X_W[b] @ V[b]
    p_dot = V_W.v + cross(V_W.w, X_WF.p)
    a = b
    while a > 0:
        V_Wa = X_W[a] @ V[a]
        kind, k, first = bodies[a].kind, bodies[a].iq, bodies[a].iv
        for j in range(first, first + bodies[a].nv):
            h = X_W[a] @ H[j]
            h_dot = cross(V_Wa, h) + X_W[a] @ column_rate(kind, model.body[a].pitch, q, k, v, first, j - first, H)
            if reference == LOCAL:
                _put(to_child(X_WF, h), j, J)
                _put(to_child(X_WF, h_dot - cross(V_W, h)), j, J_dot)
            elif reference == WORLD:
                _put(h, j, J)
                _put(h_dot, j, J_dot)
            else:
                _put(Motion(h.w, h.v + cross(h.w, X_WF.p)), j, J)
                _put(Motion(h_dot.w, h_dot.v + cross(h_dot.w, X_WF.p) + cross(h.w, p_dot)), j, J_dot)
        a = bodies[a].parent

"""Outward recursion of positions and velocities (Featherstone 2008, sections 4.4 and 5.3).

X_i = X_PJ X_J(q),   V_i = X_i⁻¹ V_p + H q̇,   c_i = V_i × H q̇ + Ḣ q̇
X_W i = X_W p X_i
"""

from __future__ import annotations

from nexdyn.joints.kinds import PRISMATIC, REVOLUTE
from nexdyn.joints.on_tree import child_pose, joint_bias, motion_columns
from nexdyn.kernel import formula, inlined
from nexdyn.spatial.algebra import ABOUT_Z, ALONG_Z, Motion, Vec3, cross, to_child
from nexdyn.spatial.lanes import zero


@inlined
def body_motion(model, i, q, v, X_PJ, V_parent, H):
    """X_i, V_i, c_i of body i from its parent's velocity; H gets the columns of a joint neither revolute nor prismatic."""
    body, pitch = model.topology[i], model.body[i].pitch
    kind, k, j = body.kind, body.iq, body.iv
    # X_i = X_PJ X_J(q),  V' = X_i⁻¹ V_p
    X_i = child_pose(kind, X_PJ, pitch, q, k)
    V_i = to_child(X_i, V_parent)
    # V_i = V' + H q̇,  c_i = V_i × H q̇ + Ḣ q̇
    if kind == REVOLUTE:
        V_J = v[j] * ABOUT_Z
        return X_i, V_i + V_J, cross(V_i, V_J)
    if kind == PRISMATIC:
        V_J = v[j] * ALONG_Z
        return X_i, V_i + V_J, cross(V_i, V_J)
    motion_columns(kind, pitch, q, k, H, j)
    o = zero(V_i.w.x)
    V_J = Motion(Vec3(o, o, o), Vec3(o, o, o))
    for n in range(j, j + body.nv):
        V_J = V_J + v[n] * H[n]
    return X_i, V_i + V_J, cross(V_i, V_J) + joint_bias(kind, pitch, q, k, v, j, o)


@formula
def kinematics(model, q, v, work):
    """X, V, c of every body and the columns H of joints that are neither revolute nor prismatic."""
    bodies, X_PJ, H = model.topology, model.body.X_PJ, work.columns.H
    moving = work.body
    X, V, c = moving.X, moving.V, moving.c
    for i in range(1, len(bodies)):
        X[i], V[i], c[i] = body_motion(model, i, q, v, X_PJ[i], V[bodies[i].parent], H)


@formula
def world_poses(model, work, X_W):
    """X_W[i] of every body from X; row 0 is the world's identity."""
    bodies, X = model.topology, work.body.X
    for i in range(1, len(bodies)):
        # X_Wi = X_Wp X_i
        X_W[i] = X_W[bodies[i].parent] @ X[i]


@formula
def forward_kinematics(model, q, X_W):
    """X_W[i] of every body from q alone: T_0n as the product of the transforms along the path from the root."""
    bodies, rigids = model.topology, model.body
    for i in range(1, len(bodies)):
        # X_Wi = X_Wp X_PJ X_J(q)
        body, rigid = bodies[i], rigids[i]
        X_W[i] = X_W[body.parent] @ child_pose(body.kind, rigid.X_PJ, rigid.pitch, q, body.iq)

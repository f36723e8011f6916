"""Joints that were cut: their coordinates beyond those of the tree, and their own springs, dampers, friction and motors.

A coordinate that is a number is a term q = C(X) of ``constraints`` with its gradient g: q̇ = g · V, and the effort τ is the
wrench τ g on the two links. Ball and free joints turn by a quaternion; with φ = log R_AB of their frames

    v = R_Bᵀ (ω_b − ω_a, ṗ_B − ṗ_a at B)                τ = spring(φ) − D v − friction         (n, f) = R_B τ on b at B, −(n, f) on a

Poses know angles but for whole turns. Of those that a pose allows, the one nearest to what is foreseen is meant: the coordinate itself
where the joint is in the tree, elsewhere φ + φ̇ (t − t₀) with φ, φ̇ as last measured, at t₀. So a step may turn by any number of turns, as
long as the rate changes by less than π/(t − t₀).
"""

from __future__ import annotations

from typing import Any

from nexdyn.constraints.tables import BodyPairs, Terms
from nexdyn.constraints.verbs import gradient, value
from nexdyn.forces.bushing import rotation_vector
from nexdyn.forces.joint import friction_effort, spherical_spring, spring_damper, spring_energy
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Force, T, Vec3, cross, exp_quaternion, vector_at
from nexdyn.tree.loops.loops import link_pair

measure_own = generic("measure_own", "Coordinates and velocities of joints that were cut, beyond those of the tree.")
act_own = generic("act_own", "The efforts in them as wrenches on the links.")


@defines(measure_own)
def _(model: Any, work: Any, loops: Any, t: float, q: Any, v: Any, forces: None) -> Any:
    return 0


@defines(measure_own)
def _(model: Any, work: Any, loops: Any, t: float, q: Any, v: Any, forces: Any) -> Any:
    measure_cut_joints(model, work, loops, t, q, v)
    return 0


@formula
def foresee_angles(loops, t, q):
    """near of the angles at time t."""
    angles, near, spun = loops.angles, loops.near, loops.spun
    h = t - spun[len(near)]
    spun[len(near)] = t
    for n in range(len(angles)):
        k, at = angles[n].near, angles[n].q
        if at >= 0:
            near[k] = q[at]
        else:
            # φ + φ̇ (t − t₀)
            near[k] += spun[k] * h


@formula
def count_angles(work, loops, t):
    """Angles and their rates, at the present poses and velocities of the links."""
    tables, angles, near, spun = loops.tables, loops.angles, loops.near, loops.spun
    X_W, V = work.spare.X_W, work.body.V
    for n in range(len(angles)):
        if angles[n].q < 0:
            e = angles[n].term
            k = Terms(tables.terms)[e].pair
            a, b = BodyPairs(tables.pairs)[k].a, BodyPairs(tables.pairs)[k].b
            pair = link_pair(tables, k, a, b, X_W)
            value(tables, e, t, pair, near)
            g = gradient(tables, e, t, pair, near)
            spun[angles[n].near] = g.w_a @ (X_W[a].R @ V[a].w) + g.w_b @ (X_W[b].R @ V[b].w)


@formula
def measure_cut_joints(model, work, loops, t, q, v):
    """q and v of cut joints from poses and velocities of the links; of ball and free joints v."""
    tables, own, near = loops.tables, loops.own, loops.near
    X_W, V = work.spare.X_W, work.body.V
    for n in range(len(own)):
        k, e = own[n].pair, own[n].term
        a, b = BodyPairs(tables.pairs)[k].a, BodyPairs(tables.pairs)[k].b
        R_a, R_b = X_W[a].R, X_W[b].R
        pair = link_pair(tables, k, a, b, X_W)
        q[own[n].q] = value(tables, e, t, pair, near)
        g = gradient(tables, e, t, pair, near)
        v[own[n].v] = (g.w_a @ (R_a @ V[a].w) + g.v_a @ (R_a @ V[a].v)) + (
            g.w_b @ (R_b @ V[b].w) + g.v_b @ (R_b @ V[b].v)
        )
    for n in range(len(loops.balls)):
        k, j = loops.balls[n].pair, loops.balls[n].v
        a, b = BodyPairs(tables.pairs)[k].a, BodyPairs(tables.pairs)[k].b
        R_a, R_b = X_W[a].R, X_W[b].R
        pair = link_pair(tables, k, a, b, X_W)
        w_a, w_b = R_a @ V[a].w, R_b @ V[b].w
        # v = R_Bᵀ (ω_b − ω_a, ṗ_B − ṗ_a at B)
        turn = T(pair.R_B) @ (w_b - w_a)
        v[j], v[j + 1], v[j + 2] = turn.x, turn.y, turn.z
        if loops.balls[n].nv == 6:
            at_B = R_b @ V[b].v + cross(w_b, pair.s_B) - R_a @ V[a].v - cross(w_a, pair.s_A + pair.d)
            move = T(pair.R_B) @ at_B
            v[j + 3], v[j + 4], v[j + 5] = move.x, move.y, move.z


@formula
def own_effort(loops, n, q, v):
    """Spring, damper and friction of a coordinate of a cut joint."""
    x, y, own = q[loops.own[n].q], v[loops.own[n].v], loops.efforts[n]
    effort = spring_damper(x, y, own.stiffness, own.rest, own.damping)
    return effort + friction_effort(y, own.friction, own.friction_speed)


@formula
def add_term_wrench(tables, work, k, e, t, near, size):
    """F_ext of the two links of pair k += size times the gradient of term e."""
    X_W, F = work.spare.X_W, work.body.external
    a, b = BodyPairs(tables.pairs)[k].a, BodyPairs(tables.pairs)[k].b
    g = gradient(tables, e, t, link_pair(tables, k, a, b, X_W), near)
    Rt_a, Rt_b = T(X_W[a].R), T(X_W[b].R)
    F[a] = F[a] + size * Force(Rt_a @ g.w_a, Rt_a @ g.v_a)
    F[b] = F[b] + size * Force(Rt_b @ g.w_b, Rt_b @ g.v_b)


@formula
def ball_pair(loops, n, X_W):
    """The frames of ball n."""
    k = loops.balls[n].pair
    return link_pair(loops.tables, k, BodyPairs(loops.tables.pairs)[k].a, BodyPairs(loops.tables.pairs)[k].b, X_W)


@formula
def ball_efforts(loops, n, pair, v, tau):
    """τ of ball n += its spring, dampers and friction."""
    efforts, i, j = loops.efforts, loops.balls[n].efforts, loops.balls[n].v
    for m in range(loops.balls[n].nv):
        tau[j + m] += friction_effort(v[j + m], efforts[i + m].friction, efforts[i + m].friction_speed)
        tau[j + m] -= efforts[i + m].damping * v[j + m]
    K = Vec3(efforts[i].stiffness, efforts[i + 1].stiffness, efforts[i + 2].stiffness)
    rest = Vec3(efforts[i].rest, efforts[i + 1].rest, efforts[i + 2].rest)
    torque = spherical_spring(exp_quaternion(rotation_vector(T(pair.R_A) @ pair.R_B)), K, rest)
    tau[j], tau[j + 1], tau[j + 2] = tau[j] + torque.x, tau[j + 1] + torque.y, tau[j + 2] + torque.z


@formula
def ball_energy(loops, n, pair):
    """½ (φ − φ₀)ᵀ K (φ − φ₀)."""
    phi, efforts, i = rotation_vector(T(pair.R_A) @ pair.R_B), loops.efforts, loops.balls[n].efforts
    U = spring_energy(phi.x, efforts[i].stiffness, efforts[i].rest)
    U += spring_energy(phi.y, efforts[i + 1].stiffness, efforts[i + 1].rest)
    return U + spring_energy(phi.z, efforts[i + 2].stiffness, efforts[i + 2].rest)


@formula
def ball_wrench(loops, n, pair, tau):
    """(n, f) = R_B τ on the child at B, in world axes."""
    j = loops.balls[n].v
    f = Vec3(0.0, 0.0, 0.0)
    if loops.balls[n].nv == 6:
        f = pair.R_B @ Vec3(tau[j + 3], tau[j + 4], tau[j + 5])
    return Force(pair.R_B @ vector_at(tau, j), f)


@formula
def add_ball_wrench(loops, work, n, pair, W):
    """F_ext of the two links of ball n, on which the wrench W at B and its opposite act."""
    X_W, F, k = work.spare.X_W, work.body.external, loops.balls[n].pair
    a, b = BodyPairs(loops.tables.pairs)[k].a, BodyPairs(loops.tables.pairs)[k].b
    Rt_a, Rt_b = T(X_W[a].R), T(X_W[b].R)
    F[a] = F[a] - Force(Rt_a @ (W.n + cross(pair.s_A + pair.d, W.f)), Rt_a @ W.f)
    F[b] = F[b] + Force(Rt_b @ (W.n + cross(pair.s_B, W.f)), Rt_b @ W.f)


@defines(act_own)
def _(work: Any, loops: Any, t: float, q: Any, v: Any, tau: Any, forces: None) -> Any:
    return 0


@defines(act_own)
def _(work: Any, loops: Any, t: float, q: Any, v: Any, tau: Any, forces: Any) -> Any:
    own = loops.own
    for n in range(len(own)):
        tau[own[n].v] += own_effort(loops, n, q, v)
        add_term_wrench(loops.tables, work, own[n].pair, own[n].term, t, loops.near, tau[own[n].v])
    for n in range(len(loops.balls)):
        pair = ball_pair(loops, n, work.spare.X_W)
        ball_efforts(loops, n, pair, v, tau)
        add_ball_wrench(loops, work, n, pair, ball_wrench(loops, n, pair, tau))
    return 0

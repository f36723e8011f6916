"""Energies, momentum, centres of mass.

T = ½ Σ Vᵀ I V + ½ Σ armature v²      (armature: an inertia that turns with one degree of freedom alone)
U = −Σ m g·c
h_G = Σ X_W (I V) moved to the centre of mass;   A_G its matrix: h_G = A_G v
centre of mass of a subtree and its Jacobian from composite inertias: m ċ = Σ_j f(X_W I^C h_j) v_j
"""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.spatial.algebra import Force, Vec3, cross, to_child
from nexdyn.spatial.lanes import zero
from nexdyn.tree.core.tables import gravity


@formula
def kinetic_energy(model, v, work):
    """T [J] from V of `kinematics`."""
    bodies, dofs = model.topology, model.freedom
    I, V = model.body.I, work.body.V
    twice = zero(model.body[0].pitch)
    for i in range(1, len(bodies)):
        twice = twice + (I[i] @ V[i]) @ V[i]
        for j in range(bodies[i].iv, bodies[i].iv + bodies[i].nv):
            twice = twice + dofs[j].armature * (v[j] * v[j])
    return 0.5 * twice


@formula
def gravity_energy(model, X_W):
    """U [J] = −Σ g · (m p + R h), zero at the world's origin."""
    I, g = model.body.I, gravity(model)
    U = zero(model.body[0].pitch)
    for i in range(1, len(model.topology)):
        U = U - g @ (I[i].m * X_W[i].p + X_W[i].R @ I[i].h)
    return U


@formula
def momentum_matrix(model, work, X_W, about, A):
    """A (6 × nv): momentum of the system in world axes about the point `about` for unit velocities; from I^C and H."""
    bodies = model.topology
    IC, H = work.spare.IC, work.columns.H
    for i in range(1, len(bodies)):
        for j in range(bodies[i].iv, bodies[i].iv + bodies[i].nv):
            F = X_W[i] @ (IC[i] @ H[j])
            n = F.n - cross(about, F.f)
            A[0, j], A[1, j], A[2, j] = n.x, n.y, n.z
            A[3, j], A[4, j], A[5, j] = F.f.x, F.f.y, F.f.z


@formula
def momentum(model, work, X_W, about):
    """Momentum (about `about`, world axes) of all bodies from V; without armatures, which belong to no body."""
    I, V = model.body.I, work.body.V
    o = zero(model.body[0].pitch)
    total = Force(Vec3(o, o, o), Vec3(o, o, o))
    for i in range(1, len(model.topology)):
        total = total + X_W[i] @ (I[i] @ V[i])
    return Force(total.n - cross(about, total.f), total.f)


@formula
def subtree_jacobian(model, work, X_W, b, J):
    """J (3 × nv, zeroed by the caller) of the centre of mass of the bodies from b outward; from I^C and H."""
    bodies = model.topology
    IC, H = work.spare.IC, work.columns.H
    m = IC[b].m
    # a freedom at or above b moves all of the subtree
    a = b
    while a > 0:
        for j in range(bodies[a].iv, bodies[a].iv + bodies[a].nv):
            f = (X_W[b] @ (IC[b] @ to_child(X_W[b], X_W[a] @ H[j]))).f
            J[0, j], J[1, j], J[2, j] = f.x / m, f.y / m, f.z / m
        a = bodies[a].parent
    # a freedom inside moves what hangs on it
    for i in range(b + 1, len(bodies)):
        a = bodies[i].parent
        while a > b:
            a = bodies[a].parent
        if a == b:
            for j in range(bodies[i].iv, bodies[i].iv + bodies[i].nv):
                f = (X_W[i] @ (IC[i] @ H[j])).f
                J[0, j], J[1, j], J[2, j] = f.x / m, f.y / m, f.z / m

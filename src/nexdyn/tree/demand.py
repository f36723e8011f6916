"""What a motion of a tree asks of its drives: inverse dynamics beside all that acts by itself.

τ = M a + h(q, v) − Jᵀ F(t, q, v) − (springs, dampers, friction of the joints, efforts of force elements in them)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nexdyn.forces.states import set_states
from nexdyn.forces.tables import ForceTables
from nexdyn.integrate.problem import FORCE_FAILED
from nexdyn.kernel import kernel
from nexdyn.model.callbacks import failure
from nexdyn.tree.core import tables
from nexdyn.tree.core.handle import Handle, tables_at
from nexdyn.tree.core.rnea import inverse_dynamics
from nexdyn.tree.elements import act, tables_of
from nexdyn.tree.loads import joint_efforts
from nexdyn.tree.tree import Tree

StatesAlong = Callable[[ForceTables, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@kernel
def demanded(handle, forces, t, q, v, a, z, own, tau):
    """tau (N, nv) of samples t (N,), q, v, a, and states z (N, nz) of forces; own (nv,) is scratch. Returns (status, sample)."""
    model, work, _, _ = tables_at(handle)
    for s in range(len(t)):
        joint_efforts(model, q[s], v[s], own)
        set_states(forces, z, s)
        status = act(model, work, t[s], q[s], v[s], own, forces)
        if status != 0:
            return status, s
        inverse_dynamics(model, q[s], v[s], a[s], work, tau[s])
        for j in range(len(own)):
            tau[s, j] -= own[j]
    return 0, len(t)


def demanded_efforts(
    tree: Tree, t: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray, states: StatesAlong, angles: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """tau (N, nv) [N m, N] of samples t (N,), q (N, nq), v, a (N, nv), and the states z (N, nz) of forces that go with them.

    states: of the tables of forces and t, q, v as these number them. angles (N, nw): of the springs that no coordinate counts
    (``tree.wound``). SolveError where a force fails."""
    c, coupling = tree.compiled, tree.coupling
    if coupling is not None:
        q, v, a = coupling.full_q(q), coupling.full_v(v), coupling.full_v(a)
    forces = tables_of(tree.system, c, counting=True)
    z = np.zeros((len(t), 0))
    if forces is not None and len(forces.z):
        z = states(forces, t, q, v)
    handle = Handle(c.model, tables.new_work(len(c.arc_of_link) - 1, c.nv))
    tau = np.zeros((len(t), c.nv))
    motion = (np.ascontiguousarray(x) for x in (t, q, v, a, np.hstack([z, angles])))
    status, failed = demanded(handle.address, forces, *motion, np.zeros(c.nv), tau)  # type: ignore[call-arg]
    if status >= FORCE_FAILED:
        element = list(tree.system.forces.values())[status - FORCE_FAILED]
        raise failure(element, float(t[failed]), element.callbacks())
    return (tau if coupling is None else coupling.reduced(tau)), z

"""`tree.rnea_derivatives` and `tree.aba_derivatives`: the kernels called, coupled joints reduced, errors named.

One state runs alone, a batch in lanes of eight, where every state gives the same bits whatever the size of the batch.

With independent coordinates, q_tree = G q + g₀:   ∂τ = Gᵀ ∂τ_tree G,   M = Gᵀ M_tree G.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import config

from nexdyn.errors import SingularError
from nexdyn.spatial.lanes import LANES, LaneTable
from nexdyn.tree.core import tables
from nexdyn.tree.derivatives import entries
from nexdyn.tree.derivatives.derivatives import TOGETHER, new_derivative_work
from nexdyn.tree.lanes.memory import aligned, lane_zeros

if TYPE_CHECKING:
    from nexdyn.tree.tree import Tree

Array = np.ndarray
INTERPRETED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]


def on_lanes(work: Any) -> Any:
    """Tables of scratch for one system as tables of lanes."""
    return type(work)(*(aligned(LaneTable.of(table)) for table in work))


class InverseDerivatives(NamedTuple):
    """Derivatives (…, nv, nv) of τ = RNEA(q, v, a): entry [i, j] is ∂τ_i by component j. `a` is the mass matrix M."""

    q: Array
    v: Array
    a: Array


class ForwardDerivatives(NamedTuple):
    """Derivatives (…, nv, nv) of a = ABA(q, v, τ): entry [i, j] is ∂a_i by component j. `tau` is M⁻¹."""

    q: Array
    v: Array
    tau: Array


class Differentiator:
    """Scratch of a tree's derivatives, made once."""

    def __init__(self, tree: Tree) -> None:
        c = tree.compiled
        self._nb, self.n = tree.nb, c.nv
        self.above = np.ascontiguousarray(c.above)
        # freedoms come depth first: what hangs on one follows it
        self.ends = np.arange(1, c.nv + 1)
        for k in range(c.nv - 1, -1, -1):
            if self.above[k] >= 0:
                self.ends[self.above[k]] = max(self.ends[self.above[k]], self.ends[k])
        self._sizes = c.nq, c.nv, c.nv, c.nv

    @cached_property
    def alone(self) -> tuple[Any, Array, Array, Any, int]:
        """Scratch for one state: of the derivatives, M, and three matrices side by side, which are so many packs too."""
        packs = 3 * -(-self.n // LANES)
        packs += -packs % TOGETHER
        matrices = lane_zeros((self.n, packs * LANES))
        scratch = new_derivative_work(self._nb, self.n), np.zeros((self.n, self.n)), matrices
        if INTERPRETED:
            return *scratch, matrices, packs * LANES
        return *scratch, LaneTable(matrices.reshape(self.n, packs, LANES), 0), packs

    @cached_property
    def lanes(self) -> tuple[Any, Any, Any, Array]:
        """Scratch for eight: of the tree, of the derivatives, states, and matrices."""
        work, scratch = on_lanes(tables.new_work(self._nb, self.n)), on_lanes(new_derivative_work(self._nb, self.n))
        states = tuple(lane_zeros((max(size, 1), 1, LANES)) for size in self._sizes)
        width = (
            -(-self.n // TOGETHER) * TOGETHER + 1
        )  # odd: rows a power of two apart would share few sets of the cache
        return work, scratch, states, lane_zeros((4, self.n, width, LANES))

    def inverse(self, handle: int, in_lanes: bool, q: Array, v: Array, a: Array) -> list[Array]:
        """∂τ/∂q, ∂τ/∂v, M (N, n, n)."""
        out = np.zeros((3, len(q), self.n, self.n))
        if in_lanes:
            work, scratch, states, matrices = self.lanes
            entries.inverse_lanes(handle, self.above, work, scratch, states, matrices, q, v, a, *out)
        else:
            entries.inverse_alone(handle, self.above, self.alone[0], q, v, a, *out)
        return list(out)

    def forward(self, handle: int, in_lanes: bool, q: Array, v: Array, tau: Array) -> tuple[Array, int]:
        """∂a/∂q, ∂a/∂v, M⁻¹ (3, N, n, n), and the first state whose acceleration is not finite, or −1."""
        out, a = np.empty((3, len(q), self.n, self.n)), np.empty((len(q), self.n))
        if in_lanes:
            work, scratch, states, matrices = self.lanes
            entries.forward_lanes(handle, self.above, self.ends, work, scratch, states, matrices, q, v, tau, a, *out)
            bad = ~np.isfinite(a).all(axis=1)
            return out, int(np.argmax(bad)) if bad.any() else -1
        return out, entries.forward_alone(handle, self.above, self.ends, *self.alone, q, v, tau, a, *out)


def _runs_in_lanes(shape: tuple[int, ...]) -> bool:
    return len(shape) > 0 and not INTERPRETED


def inverse_derivatives(tree: Tree, q: Any, v: Any, a: Any) -> InverseDerivatives:
    """See `Tree.rnea_derivatives`."""
    shape, (q, v, a) = tree.batch(("q", q, tree.nq), ("v", v, tree.nv), ("a", a, tree.nv))
    found = _inverse(tree, _runs_in_lanes(shape), q, v, a)
    return InverseDerivatives(*(x.reshape(*shape, tree.nv, tree.nv) for x in found))


def _inverse(tree: Tree, in_lanes: bool, q: Array, v: Array, a: Array) -> list[Array]:
    found = tree.differentiator.inverse(tree.address, in_lanes, *tree.full_of(q, v, a))
    if tree.coupling is None:
        return found
    G = tree.coupling.matrix()
    return [G.T @ x @ G for x in found]


def forward_derivatives(tree: Tree, q: Any, v: Any, tau: Any) -> ForwardDerivatives:
    """See `Tree.aba_derivatives`."""
    shape, (q, v, tau) = tree.batch(("q", q, tree.nq), ("v", v, tree.nv), ("tau", tau, tree.nv))
    n = tree.nv
    if tree.coupling is not None:
        a = tree.forward_dynamics(q, v, tau, dynamics="crba")
        dq, dv, M = _inverse(tree, _runs_in_lanes(shape), q, v, a)
        inverse = np.linalg.inv(M)
        out = np.stack([-(inverse @ dq), -(inverse @ dv), inverse])
    else:
        out, bad = tree.differentiator.forward(tree.address, _runs_in_lanes(shape), q, v, tau)
        if bad >= 0:
            tree.forward_dynamics(q[bad], v[bad], tau[bad], dynamics="crba")  # names the joint
            raise SingularError("the accelerations are not finite; check masses, velocities and efforts")
    return ForwardDerivatives(*(x.reshape(*shape, n, n) for x in out))

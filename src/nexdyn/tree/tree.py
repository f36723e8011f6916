"""`nx.Tree`: the algorithms of minimal coordinates on arrays."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, SingularError, counted, unknown
from nexdyn.joints.free import Free
from nexdyn.kernel import compiled_for
from nexdyn.model.body import Body
from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.model.topology import Arc, Forest
from nexdyn.spatial.rotations import cross_product
from nexdyn.tree.core import entries, tables
from nexdyn.tree.core.compile import Compiled, compile_tree, joint_class, joint_code, known_tree
from nexdyn.tree.core.coupling import Coupling, find_coupling
from nexdyn.tree.core.handle import Handle
from nexdyn.tree.core.jacobian import LOCAL, WORLD, WORLD_ALIGNED
from nexdyn.tree.lanes.entries import Lanes, aba_in_lanes, crba_in_lanes, rnea_in_lanes

if TYPE_CHECKING:
    from nexdyn.tree.cfa.chains import Chains
    from nexdyn.tree.cfa.solve import JointForces, Solver
    from nexdyn.tree.cfa.tables import ConstraintTables
    from nexdyn.tree.cfa.text import ConstraintMatrices
    from nexdyn.tree.derivatives.differentiate import Differentiator, ForwardDerivatives, InverseDerivatives

Array = np.ndarray
Reference = Literal["local", "world", "world_aligned"]
REFERENCES = {"local": LOCAL, "world": WORLD, "world_aligned": WORLD_ALIGNED}
SINGULAR = 1e-12
"""A pivot below this part of the largest entry of M on its freedom's diagonal counts as singular."""


class Coordinates(NamedTuple):
    """Where a joint's coordinates stand: q[q_slice], v[v_slice]."""

    q: slice
    v: slice


class Equations(NamedTuple):
    """M a + C v + G = τ in matrices: mass matrix, Coriolis matrix, and the generalized force that holds against gravity."""

    M: Array
    C: Array
    G: Array


class Tree(metaclass=CheckedCalls):
    """A system without loops in minimal coordinates; its algorithms work on arrays.

    `q` (…, nq), `v`, `a`, `tau` (…, nv) may carry leading batch dimensions, which broadcast. Units are those of each
    joint: m, rad, N, N m. The rigid mechanism with armature: springs, damping, friction and limits belong to forces and
    act in `nx.simulate`. A body without a joint floats on a free joint that carries its name.

    Raises InputError for a loop, a body that two joints carry, an unknown mimic, or a coupling that is not about two
    joints of one degree of freedom each.
    """

    def __init__(self, system: System, _forest: Forest | None = None, coupled: bool = True) -> None:
        self.system = system
        self._compiled = known_tree(system) if _forest is None else compile_tree(system, _forest)
        self._coupling = find_coupling(system, self._compiled) if coupled else None
        c = self._coupling or self._compiled
        self.nq, self.nv = c.nq, c.nv
        self.work = tables.new_work(self.nb, self._compiled.nv)
        self._held = Handle(self._compiled.model, self.work)
        self.address = self._held.address

    # --- names ------------------------------------------------------------------------------------------------------

    @property
    def nb(self) -> int:
        """Number of moving bodies as the kernels see them: bodies welded together count once."""
        return len(self._compiled.arc_of_link) - 1

    @cached_property
    def body_names(self) -> list[str]:
        """All bodies, depth first from the roots."""
        return [arc.child.name for arc in self._compiled.forest.arcs]

    @cached_property
    def joint_names(self) -> list[str]:
        """The moving joints in the order of q: depth first, children in the order in which their joints were added.

        A floating body's joint carries the body's name."""
        return list(self.coordinates)

    @cached_property
    def coordinates(self) -> Mapping[str, Coordinates]:
        """Where each moving joint's coordinates stand in q and v."""
        c, found = self._compiled, {}
        q_of = self._coupling.q_column if self._coupling else np.arange(c.nq)
        v_of = self._coupling.v_column if self._coupling else np.arange(c.nv)
        for a, arc in enumerate(c.forest.arcs):
            kind = joint_class(arc.joint)
            if kind.nv == 0 or (self._coupling is not None and arc.name in self._coupling.leaders):
                continue
            k, j = int(q_of[c.first_q[a]]), int(v_of[c.first_v[a]])
            found[arc.name] = Coordinates(slice(k, k + kind.nq), slice(j, j + kind.nv))
        return found

    def carried_body(self, joint: str) -> Body:
        """The body that a joint of `joint_names` carries."""
        return self._carried[joint]

    @cached_property
    def _carried(self) -> dict[str, Body]:
        return {arc.name: arc.child for arc in self._compiled.forest.arcs}

    def __repr__(self) -> str:
        return f"Tree({self.system.name!r}: {counted(len(self.body_names), 'body')}, nq = {self.nq}, nv = {self.nv})"

    def with_parameters(self, changes: Mapping[str, Any]) -> Tree:
        """The tree of the same mechanism with other values (see `System.with_parameters`); its graph is not built anew."""
        system = self.system.with_parameters(changes)
        joint_of = system.joints
        arcs = [
            Arc(arc.joint and joint_of[arc.joint.name], arc.parent, system.body(arc.child.name), arc.name)
            for arc in self._compiled.forest.arcs
        ]
        return Tree(system, Forest(arcs))

    # --- states -----------------------------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """q (nq,) where the frames of every joint coincide."""
        q = np.zeros(self.nq)
        for name, place in self.coordinates.items():
            if self._class_of(name).nq > self._class_of(name).nv:
                q[place.q.start] = 1.0
        return q

    def described(self) -> Array:
        """q (nq,) of the pose as described, or q0 of the joints that give one. NexDynWarning where a joint stays open."""
        from nexdyn.tree.described import described_coordinates

        return described_coordinates(self)

    def initial_velocity(self) -> Array:
        """v (nv,) from the v0 of the joints; 0 elsewhere. InputError where those of joints that follow each other do not agree."""
        v = np.zeros(self.nv)
        for name, x in self.told_starts("v0").items():
            v[self.coordinates[name].v] = x
        return v

    def told_starts(self, what: str, given: Container[str] = ()) -> dict[str, Array]:
        """The "q0" or "v0" that joints are described with, but for those `given`. What a follower has becomes a value of its leader.
        InputError where such values, and those of a mapping `given`, do not agree."""
        values = self.system.values
        told = {
            name: np.asarray(getattr(joint.resolved(values), what), dtype=float)
            for name, joint in self.system.joints.items()
            if joint.nv and getattr(joint, what) is not None and name not in given
        }
        if self._coupling is None:
            return {name: x for name, x in told.items() if name in self.coordinates}
        if isinstance(given, Mapping):
            tied = {*self._coupling.follows, *self._coupling.leaders.values()} & given.keys()
            self._coupling.led({**told, **{name: np.atleast_1d(given[name]) for name in tied}}, what)
        return {
            name: x
            for name, x in self._coupling.led(told, what).items()
            if name in self.coordinates and name not in given
        }

    def random(self, rng: np.random.Generator) -> Array:
        """A random q (nq,): angles and distances normal, quaternions uniform."""
        q = rng.normal(size=self.nq)
        return self.normalized(q)

    def normalized(self, q: Any) -> Array:
        """q with unit quaternions. InputError where one has length 0."""
        q = self._states("q", q, self.nq)[0].copy()
        for name, place in self.coordinates.items():
            if self._class_of(name).nq > self._class_of(name).nv:
                part = q[..., place.q.start : place.q.start + 4]
                norm = np.linalg.norm(part, axis=-1, keepdims=True)
                if not np.all(norm > 0.0):
                    raise InputError(f"q of joint {name!r} has a quaternion of length 0; no rotation is (1, 0, 0, 0)")
                part /= norm
        return q

    def integrate(self, q: Any, step: Any) -> Array:
        """q reached from q at the constant velocity `step` (…, nv) in unit time; quaternions stay unit, a free joint screws."""
        shape, (q, step) = self.batch(("q", q, self.nq), ("step", step, self.nv))
        out = np.empty((len(q), self._compiled.nq))
        c = self._coupling
        full_q, full_step = (c.full_q(q), c.full_v(step)) if c else (q, step)
        entries.retract(
            self._compiled.model.topology.table,
            np.ascontiguousarray(full_q),
            np.ascontiguousarray(full_step),
            np.empty(self._compiled.nv),
            out,
        )
        if c:
            reduced = np.empty((len(q), self.nq))
            own = (c.q_factor == 1.0) & (c.q_offset == 0.0)
            reduced[:, c.q_column[own]] = out[:, own]
            out = reduced
        return out.reshape(*shape, self.nq)

    # --- dynamics ---------------------------------------------------------------------------------------------------

    def aba(self, q: Any, v: Any, tau: Any) -> Array:
        """Accelerations (…, nv) by the articulated-body algorithm, O(n).

        Singular joints (that move no inertia) give SingularError. Featherstone 2008, table 7.1.
        """
        try:
            # straight to the kernel, which answers TypeError to all but contiguous float64 vectors
            kernel, address, nv = self._aba_one
            a = np.empty(nv)
            if kernel(address, q, v, tau, a) == 0:
                return a
        except TypeError:
            pass
        return self._aba_batch(q, v, tau)

    @cached_property
    def _aba_one(self) -> Any:
        """(kernel of one state, the tree's address, nv): all that a short call needs, at hand with one look-up.

        None, which no one can unpack, where there is no such kernel: with mimic joints, with registered ones, since it is compiled for one
        type of tables, and interpreted.
        """
        if self._coupling is not None or isinstance(self.address, np.uint64):
            return None
        kernel = compiled_for(entries.aba_one, self.address, self.neutral(), *np.zeros((3, self.nv)))
        return None if kernel is None else (kernel, self.address, self.nv)

    def _aba_batch(self, q: Any, v: Any, tau: Any) -> Array:
        if self._coupling is not None:
            return self.forward_dynamics(q, v, tau, dynamics="crba")
        shape, (q, v, tau) = self.batch(("q", q, self.nq), ("v", v, self.nv), ("tau", tau, self.nv))
        a = np.empty((len(q), self.nv))
        if shape:
            self._lanes.run(aba_in_lanes, q, v, tau, a)
            bad = -1 if np.isfinite(a).all() else int(np.argwhere(~np.isfinite(a))[0, 0])
        else:
            bad = entries.aba(self.address, q, v, tau, a)
        if bad >= 0:
            self.forward_dynamics(q[bad], v[bad], tau[bad], dynamics="crba")  # names the joint
            raise SingularError("the accelerations are not finite; check masses, velocities and efforts")
        return a.reshape(*shape, self.nv)

    def rnea(self, q: Any, v: Any, a: Any) -> Array:
        """Generalized forces (…, nv) that the motion takes, gravity included: τ = M a + h(q, v).

        Recursive Newton–Euler, O(n). Featherstone 2008, table 5.1.
        """
        shape, (q, v, a) = self.batch(("q", q, self.nq), ("v", v, self.nv), ("a", a, self.nv))
        q, v, a = self.full_of(q, v, a)
        tau = np.empty((len(q), self._compiled.nv))
        if shape:
            self._lanes.run(rnea_in_lanes, q, v, a, tau)
        else:
            entries.rnea(self.address, q, v, a, tau)
        return self._reduce(tau).reshape(*shape, self.nv)

    def crba(self, q: Any) -> Array:
        """Mass matrix (…, nv, nv) by the composite-rigid-body algorithm. Featherstone 2008, table 6.2."""
        shape, (q,) = self.batch(("q", q, self.nq))
        return self._mass(q, in_lanes=shape != ()).reshape(*shape, self.nv, self.nv)

    def forward_dynamics(self, q: Any, v: Any, tau: Any, dynamics: Literal["aba", "crba", "cfa"] = "aba") -> Array:
        """Accelerations (…, nv): "aba", "crba" with the branch-sparse factorisation M = LᵀDL (tables 6.2 to 6.4), or "cfa".

        SingularError names the joint whose pivot in D vanishes beside its entry of M.
        """
        if dynamics == "aba":
            return self.aba(q, v, tau)
        if dynamics == "cfa":
            return self.cfa(q, v, tau)[0]
        if dynamics != "crba":
            raise unknown("dynamics", dynamics, ("aba", "crba", "cfa"), plural="valid")
        shape, (q, v, tau) = self.batch(("q", q, self.nq), ("v", v, self.nv), ("tau", tau, self.nv))
        right = tau - self.rnea(q, v, np.zeros(self.nv)).reshape(tau.shape)
        M = self._mass(q)
        diagonal = np.einsum("njj->nj", M).copy()
        a, pivots = np.empty_like(right), np.empty_like(right)
        entries.factored_dynamics(M, self._above, np.ascontiguousarray(right), a, pivots)
        weak = ~(pivots > SINGULAR * diagonal)
        if weak.any():
            j = int(np.flatnonzero(weak.any(axis=0))[-1])  # eliminated first: what follows it is not a number
            self.refuse_singular(j, float(np.nanmin(pivots[:, j])))
        return a.reshape(*shape, self.nv)

    def cfa(
        self, q: Any, v: Any, tau: Any, solver: Solver = "serial", *, threads: int | None = None, refinements: int = 1
    ) -> tuple[Array, JointForces]:
        """(acceleration (…, nv), force) by the constraint force algorithm (Liu, Hu, Zhang 2016).

        force[joint] (…, 6) is the constraint wrench, moment first, of a joint on its child, at the joint's point in its
        parent-side frame: W (F_S + Wᵀ RNEA(q, v, 0)). `force.array` holds those of all moving joints.

        solver: "serial", block elimination in O(n); "odd-even", the paper's rounds along the chains and then the nodes;
            "parallel", the same rounds on `threads` threads, one a core by default.
        refinements: how often the equations are solved again for what rounding left of them.

        Bodies without mass or inertia take as many such steps as they need. InputError names a mimic joint. SingularError names the
        joint where A is no longer positive definite, with A's condition number. {doc}`constraint_force` says how accurate the forces are.
        """
        from nexdyn.tree.cfa.solve import solve

        return solve(self, q, v, tau, solver, threads, refinements)

    def constraint_matrices(self, q: Any) -> ConstraintMatrices:
        """P, H, W, I, A, B and C (…, rows, columns) of the constraint force algorithm in full, ordered as the paper does."""
        from nexdyn.tree.cfa.text import ConstraintMatrices, constraint_matrices

        shape, (q,) = self.batch(("q", q, self.nq))
        names, *parts = zip(*(constraint_matrices(self, one) for one in q), strict=True)
        return ConstraintMatrices(names[0], *(np.reshape(part, (*shape, *part[0].shape)) for part in parts))

    def constraint_condition(self, q: Any) -> Any:
        """Condition number (…,) of A = Wᵀ Pᵀ I⁻¹ P W: forces of `cfa` are off by some ε times it at most."""
        from nexdyn.tree.cfa.text import condition_number

        shape, (q,) = self.batch(("q", q, self.nq))
        return np.reshape([condition_number(self, one) for one in q], shape)[()]

    def rnea_derivatives(self, q: Any, v: Any, a: Any) -> InverseDerivatives:
        """(∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M) of τ = rnea(q, v, a), (…, nv, nv) each, analytic in O(n d) for depth d.

        Column j of ∂τ/∂q is the rate along degree of freedom j from q, as `integrate` goes, v and a held. A batch runs in lanes.
        Carpentier & Mansard 2018; Singh, Russell & Wensing 2022. {doc}`derivatives` has the equations.
        """
        from nexdyn.tree.derivatives.differentiate import inverse_derivatives

        return inverse_derivatives(self, q, v, a)

    def aba_derivatives(self, q: Any, v: Any, tau: Any) -> ForwardDerivatives:
        """(∂a/∂q, ∂a/∂v, ∂a/∂τ = M⁻¹) of a = aba(q, v, tau), (…, nv, nv) each, analytic.

        Positions as for `rnea_derivatives`. Singular joints give SingularError.
        """
        from nexdyn.tree.derivatives.differentiate import forward_derivatives

        return forward_derivatives(self, q, v, tau)

    def gravity(self, q: Any) -> Array:
        """The generalized force (…, nv) that holds the tree against gravity: G(q) = ∂U/∂q."""
        return self.rnea(q, np.zeros(self.nv), np.zeros(self.nv))

    def bias(self, q: Any, v: Any) -> Array:
        """h(q, v) (…, nv): Coriolis, centrifugal and gravity terms, M a + h = τ."""
        return self.rnea(q, v, np.zeros(self.nv))

    def coriolis(self, q: Any, v: Any) -> Array:
        """C(q, v) (…, nv, nv) of Christoffel's symbols: C v + G = h and Ṁ − 2C is skew-symmetric."""
        shape, (q, v) = self.batch(("q", q, self.nq), ("v", v, self.nv))
        q, v = self.full_of(q, v)
        n = self._compiled.nv
        C = np.zeros((len(q), n, n))
        entries.coriolis(self.address, q, v, self._poses(), C)
        if self._coupling:
            G = self._coupling.matrix()
            C = G.T @ C @ G
        return C.reshape(*shape, self.nv, self.nv)

    def equations(self, q: Any, v: Any) -> Equations:
        """M (…, nv, nv), C (…, nv, nv) of Christoffel's symbols and G (…, nv) of M a + C v + G = τ.

        C v holds the Coriolis and centrifugal forces, Ṁ − 2C is skew-symmetric, and vᵀ(τ − G) = dT/dt.
        """
        return Equations(self.crba(q), self.coriolis(q, v), self.gravity(q))

    # --- kinematics -------------------------------------------------------------------------------------------------

    def pose(self, q: Any, frame: str | None = None) -> tuple[Array, Array]:
        """Rotation and origin in the world of a body or marker: R_WF (…, 3, 3), p_WF (…, 3) [m].

        Without `frame`, of all bodies in the order of `body_names`: (…, bodies, 3, 3), (…, bodies, 3).
        """
        shape, (q,) = self.batch(("q", q, self.nq))
        (full,) = self.full_of(q)
        poses = self._poses(len(q))
        entries.link_poses(self.address, full, poses)
        R_W, p_W = poses[..., :9].reshape(len(q), self.nb + 1, 3, 3), poses[..., 9:]
        link, R_LF, p_LF = self._frames(frame)
        R = R_W[:, link] @ R_LF
        p = p_W[:, link] + np.einsum("...ij,...j->...i", R_W[:, link], p_LF)
        return R.reshape(*shape, *R.shape[1:]), p.reshape(*shape, *p.shape[1:])

    def velocity(self, q: Any, v: Any, frame: str | None = None) -> tuple[Array, Array]:
        """Angular velocity [rad/s] and velocity of the origin [m/s] of a frame in world axes, (…, 3) each.

        Without `frame`, of all bodies: (…, bodies, 3) each.
        """
        shape, (q, v) = self.batch(("q", q, self.nq), ("v", v, self.nv))
        R_W, _, w_L, v_L = self._link_motion(q, v)
        link, _, p_LF = self._frames(frame)
        w, u = w_L[:, link], v_L[:, link] + cross_product(w_L[:, link], p_LF)
        w, u = (np.einsum("...ij,...j->...i", R_W[:, link], x) for x in (w, u))
        return w.reshape(*shape, *w.shape[1:]), u.reshape(*shape, *u.shape[1:])

    def jacobian(self, q: Any, frame: str, reference: Reference = "world_aligned") -> Array:
        """Geometric Jacobian (…, 6, nv) of a body or marker, angular rows first: (ω; v) = J v.

        "world_aligned": velocity of the frame's origin in world axes; "local": in the frame's axes; "world": the twist
        at the world's origin.
        """
        return self._jacobians(q, np.zeros(self.nv), frame, reference)[0]

    def jacobian_rate(self, q: Any, v: Any, frame: str, reference: Reference = "world_aligned") -> Array:
        """dJ/dt (…, 6, nv) along v: the spatial acceleration of the frame is J a + J̇ v."""
        return self._jacobians(q, v, frame, reference)[1]

    # --- mass -------------------------------------------------------------------------------------------------------

    def kinetic_energy(self, q: Any, v: Any) -> Array:
        """T [J] (…,), armatures included."""
        shape, state = self._momentum(q, v)
        return state.energy[:, 0].reshape(shape)[()]

    def potential_energy(self, q: Any) -> Array:
        """Gravity's energy [J] (…,), zero for a centre of mass at the world's origin."""
        shape, state = self._momentum(q, np.zeros(self.nv))
        return state.energy[:, 1].reshape(shape)[()]

    def centroidal_momentum(self, q: Any, v: Any) -> Array:
        """(angular [N m s], linear [N s]) momentum about the centre of mass in world axes, (…, 6)."""
        shape, state = self._centroidal(q, v)
        return state.h.reshape(*shape, 6)

    def centroidal_momentum_matrix(self, q: Any) -> Array:
        """A (…, 6, nv) with momentum = A v."""
        shape, state = self._centroidal(q, np.zeros(self.nv))
        A = self._columns(state.A)
        return A.reshape(*shape, 6, self.nv)

    def center_of_mass(self, q: Any, subtree: str | None = None) -> Array:
        """Centre of mass (…, 3) [m] in the world, of all bodies or of a body's link and all that hangs on it.

        SingularError where that has no mass.
        """
        if subtree is None:
            shape, state = self._centroidal(q, np.zeros(self.nv))
            return state.com.reshape(*shape, 3)
        return self._subtree(q, subtree)[0]

    def center_of_mass_jacobian(self, q: Any, subtree: str | None = None) -> Array:
        """Jacobian (…, 3, nv) of the centre of mass: its velocity [m/s] = J v."""
        if subtree is None:
            return self.centroidal_momentum_matrix(q)[..., 3:, :] / self.mass
        return self._subtree(q, subtree)[1]

    @cached_property
    def mass(self) -> float:
        """Mass of all moving bodies [kg]."""
        return float(self._compiled.model.body.I.m[1:].sum())

    # --- joints -----------------------------------------------------------------------------------------------------

    def motion_subspace(self, joint: str, q: Any = None) -> Array:
        """H (…, 6, nv of the joint) in the child-side joint frame, angular rows first, at the tree's q (neutral)."""
        return self.subspaces(joint, q)[0]

    def constraint_subspace(self, joint: str, q: Any = None) -> Array:
        """W (…, 6, 6 − nv of the joint), WᵀH = 0, orthonormal columns, at the tree's q (neutral)."""
        return self.subspaces(joint, q)[1]

    def joint_wrenches(self, q: Any, v: Any, a: Any) -> dict[str, Array]:
        """The whole wrench (…, 6), moment first, that each joint puts on its child, fixed joints included.

        At the joint's point in the parent-side joint frame, while the tree moves with acceleration `a` under gravity. Of a joint that is
        described from a body to the ground the parent is the ground.
        """
        from nexdyn.tree.observe import joint_wrenches

        return joint_wrenches(self, q, v, a)

    # --- inside -----------------------------------------------------------------------------------------------------

    @cached_property
    def _lanes(self) -> Lanes:
        return Lanes(self)

    @cached_property
    def unmerged(self) -> Compiled:
        """The tables in which welded bodies are links of their own."""
        return compile_tree(self.system, self._compiled.forest, merge_fixed=False)

    @property
    def compiled(self) -> Compiled:
        """The tables in which welded bodies are one link."""
        return self._compiled

    @cached_property
    def constraint_tables(self) -> ConstraintTables:
        """Tables and scratch of the constraint force algorithm."""
        from nexdyn.tree.cfa.solve import tables_for

        return tables_for(self)

    @cached_property
    def differentiator(self) -> Differentiator:
        """Scratch of the derivatives."""
        from nexdyn.tree.derivatives.differentiate import Differentiator

        return Differentiator(self)

    @cached_property
    def chains(self) -> Chains:
        """Chains and nodes for the rounds of odd–even elimination."""
        from nexdyn.tree.cfa.chains import find_chains

        return find_chains(self.constraint_tables)

    @cached_property
    def link_names(self) -> list[str]:
        """The body that carries each link's joint, links in the order of the tables."""
        arcs = self._compiled.forest.arcs
        return [arcs[a].child.name for a in self._compiled.arc_of_link[1:].tolist()]

    @cached_property
    def link_of_joint(self) -> dict[str, int]:
        """The link that each moving joint carries, counted from 0."""
        arcs = self._compiled.forest.arcs
        return {arcs[a].name: i for i, a in enumerate(self._compiled.arc_of_link[1:].tolist())}

    @cached_property
    def arc_names(self) -> list[str]:
        """All joints in the order of the bodies that they carry; that of a floating body has the body's name."""
        return [arc.name for arc in self._compiled.forest.arcs]

    @property
    def coupling(self) -> Coupling | None:
        """How mimic and coupled joints follow; None without any."""
        return self._coupling

    @cached_property
    def _above(self) -> Array:
        """Freedoms towards the root; with mimic joints the matrix is full."""
        return self._compiled.above if self._coupling is None else np.arange(-1, self.nv - 1)

    def _class_of(self, joint: str) -> type[Joint]:
        return type(self.system.joints[joint]) if joint in self.system.joints else Free

    def _states(self, what: str, x: Any, n: int) -> tuple[Array, tuple[int, ...]]:
        """`x` as float64 (…, n) and its batch shape."""
        try:
            x = np.asarray(x, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{what} is {ragged(x) or repr(x)}; numbers of shape (…, {n}) are needed") from None
        if x.ndim == 0 or x.shape[-1] != n:
            raise InputError(f"{what} has shape {x.shape}; (…, {n}) is needed, in the order of joint_names")
        if not np.isfinite(x).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(x))[0])
            raise InputError(f"{what}{list(place)} is {x[place]}; all must be finite")
        return x, x.shape[:-1]

    def batch(self, *states: tuple[str, Any, int]) -> tuple[tuple[int, ...], list[Array]]:
        """States broadcast to one batch shape, flattened to (N, n), contiguous."""
        read = [self._states(*state) for state in states]
        try:
            shape = np.broadcast_shapes(*(s for _, s in read))
        except ValueError:
            given = ", ".join(f"{what} {x.shape}" for (what, _, _), (x, _) in zip(states, read, strict=True))
            raise InputError(
                f"batch dimensions do not fit together: {given}; the leading ones of each must be 1 or those of the others"
            ) from None
        count = math.prod(shape)
        if count == 0:
            given = ", ".join(f"{what} {x.shape}" for (what, _, _), (x, _) in zip(states, read, strict=True))
            raise InputError(f"a batch of no members: {given}; one state or more is needed")
        # copies, so that kernels see one type of array only: writable, in C order
        return shape, [
            np.array(np.broadcast_to(x, (*shape, x.shape[-1])).reshape(count, x.shape[-1]), order="C") for x, _ in read
        ]

    def full_of(self, q: Array, *v: Array) -> list[Array]:
        """The tree's own coordinates of independent ones."""
        c = self._coupling
        if c is None:
            return [q, *v]
        return [np.ascontiguousarray(x) for x in (c.full_q(q), *map(c.full_v, v))]

    def _reduce(self, tau: Array) -> Array:
        return tau if self._coupling is None else self._coupling.reduced(tau)

    def _columns(self, J: Array) -> Array:
        """J G: columns of the independent velocities."""
        return J if self._coupling is None else self._coupling.reduced(J)

    def _poses(self, *batch: int) -> Array:
        """World poses to be filled, the world's own in row 0."""
        poses = np.zeros((*batch, self.nb + 1, 12))
        poses[..., 0, [0, 4, 8]] = 1.0
        return poses

    def _mass(self, q: Array, in_lanes: bool = False) -> Array:
        (full,) = self.full_of(q)
        n = self._compiled.nv
        M = np.zeros((len(q), n, n))
        if in_lanes:
            self._lanes.run(crba_in_lanes, full, M)
        else:
            entries.crba(self.address, full, M)
        if self._coupling:
            G = self._coupling.matrix()
            M = np.ascontiguousarray(G.T @ M @ G)
        return M

    def _link_motion(self, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        q, v = self.full_of(q, v)
        poses, twists = self._poses(len(q)), np.zeros((len(q), self.nb + 1, 6))
        entries.link_motion(self.address, q, v, poses, twists)
        R = poses[..., :9].reshape(len(q), self.nb + 1, 3, 3)
        return R, poses[..., 9:], twists[..., :3], twists[..., 3:]

    def _frames(self, frame: str | None) -> tuple[Any, Array, Array]:
        """Link, R_LF and p_LF of a body or marker, or of all bodies."""
        c = self._compiled
        if frame is None:
            return c.link, c.R_LB, c.p_LB
        body, R_BF, p_BF = self.system.frame(frame)
        if body.is_ground:
            return 0, R_BF, p_BF
        a = self._arc_of_body[body.name]
        return c.link[a], c.R_LB[a] @ R_BF, c.p_LB[a] + c.R_LB[a] @ p_BF

    @cached_property
    def _arc_of_body(self) -> dict[str, int]:
        return {name: a for a, name in enumerate(self.body_names)}

    def _jacobians(self, q: Any, v: Any, frame: str, reference: str) -> tuple[Array, Array]:
        if reference not in REFERENCES:
            raise unknown("reference", reference, REFERENCES, plural="valid")
        shape, (q, v) = self.batch(("q", q, self.nq), ("v", v, self.nv))
        q, v = self.full_of(q, v)
        link, R, p = self._frames(frame)
        J, J_dot = np.zeros((2, len(q), 6, self._compiled.nv))
        X_bF = np.concatenate([R.ravel(), p])
        entries.jacobian(self.address, q, v, self._poses(), int(link), X_bF, REFERENCES[reference], J, J_dot)
        return tuple(self._columns(x).reshape(*shape, 6, self.nv) for x in (J, J_dot))  # type: ignore[return-value]

    def _momentum(self, q: Any, v: Any) -> tuple[tuple[int, ...], _Momentum]:
        shape, (q, v) = self.batch(("q", q, self.nq), ("v", v, self.nv))
        q, v = self.full_of(q, v)
        n = len(q)
        state = _Momentum(np.empty((n, 6)), np.zeros((n, 6, self._compiled.nv)), np.empty((n, 3)), np.empty((n, 2)))
        entries.momentum_and_energy(self.address, q, v, self._poses(), *state)
        return shape, state

    def _centroidal(self, q: Any, v: Any) -> tuple[tuple[int, ...], _Momentum]:
        """The same for what is about the centre of mass: SingularError without one."""
        if not self.mass > 0.0:
            raise SingularError(f"{self} has no mass that moves, so no centre of mass; give a body its mass")
        return self._momentum(q, v)

    def _subtree(self, q: Any, body: str) -> tuple[Array, Array]:
        shape, (q,) = self.batch(("q", q, self.nq))
        (q,) = self.full_of(q)
        link = int(self._frames(body)[0])
        com, mass, J = np.empty((len(q), 3)), np.empty(len(q)), np.zeros((len(q), 3, self._compiled.nv))
        entries.subtree(self.address, q, np.zeros((len(q), self._compiled.nv)), self._poses(), link, com, mass, J)
        if not mass[0] > 0.0:
            raise SingularError(f"the subtree of body {body!r} has no mass, so no centre of mass", where=body)
        return com.reshape(*shape, 3), self._columns(J).reshape(*shape, 3, self.nv)

    def subspaces(self, joint: str, q: Any) -> tuple[Array, Array]:
        """H and W of a joint: see `motion_subspace` and `constraint_subspace`."""
        c = self._compiled
        names = {arc.name: a for a, arc in enumerate(c.forest.arcs)}
        if joint not in names:
            raise unknown("joint", joint, names)
        a = names[joint]
        kind = joint_class(c.forest.arcs[a].joint)
        shape, (q,) = self.batch(("q", self.neutral() if q is None else q, self.nq))
        (full,) = self.full_of(q)
        own = np.ascontiguousarray(full[:, c.first_q[a] : c.first_q[a] + kind.nq])
        pitch = c.model.body[c.link[a]].pitch if kind.nv else 0.0
        H, W = np.zeros((len(q), kind.nv, 6)), np.zeros((len(q), 6 - kind.nv, 6))
        for n in range(len(q)):
            entries.joint_columns(joint_code(c.forest.arcs[a].joint), float(pitch), own[n], H[n], W[n])
        return tuple(np.swapaxes(x, 1, 2).copy().reshape(*shape, 6, x.shape[1]) for x in (H, W))  # type: ignore[return-value]

    def refuse_singular(self, j: int, pivot: float, advice: str = "") -> None:
        """Raise the SingularError of degree of freedom j, whose pivot in the factors of M is too small."""
        name = next(name for name, place in self.coordinates.items() if place.v.start <= j < place.v.stop)
        raise SingularError(
            f"joint {name!r} moves no inertia (pivot {pivot:.3g}); give the bodies that hang on it mass and inertia, "
            f"give the joint an armature, or weld it{advice}",
            where=name,
        )


def ragged(x: Any) -> str:
    """Which entries of a sequence differ in shape, in words; "" where none do."""
    try:
        shapes = [np.shape(entry) for entry in x]
    except (TypeError, ValueError):
        return ""
    other = next((k for k, shape in enumerate(shapes) if shape != shapes[0]), None)
    return "" if other is None else f"ragged: entry 0 has shape {shapes[0]}, entry {other} has {shapes[other]}"


class _Momentum(NamedTuple):
    h: Array
    A: Array
    com: Array
    energy: Array

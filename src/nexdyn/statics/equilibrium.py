"""`nx.equilibrium`: where a mechanism rests under its loads, the reactions there, and whether it stays.

    C(q, t) = 0,   Q(q) = Cqᵀ λ                       at rest, drivers held at t; Q of gravity, springs and all other forces

T spans the motions that C = 0 leaves, Cq T = 0; r is what the constraints do not bear of Q, and K the stiffness there, which for
loads with a potential is its second derivative on C = 0:

    r = Q − Cqᵀ λ,  Cq r = 0;   K = Tᵀ (−∂Q/∂x + Σ λ C_xx) T

``descent`` says how it is found with dense matrices, ``sparse_descent`` with sparse ones, for large systems.

Forces with states of their own have them at rest (``resting``). A position actuator with an integral holds its joint at its
target, with what that takes: first it is a driver, whose effort, where the actuator can give it, is what the integral holds; K then
takes the integrals as they stand.

Stable: all eigenvalues of K are above 0. Loads without a potential make K unsymmetric; then those of (Tᵀ M T)⁻¹ K must be
real and above 0, or it leaves without (divergence) or with oscillation (flutter). Where something damps, of up to LARGEST_DENSE bodies,
the roots s of (s² Tᵀ M T + s D + K) y = 0 tell instead: none may have a real part above 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.assembly.assemble import assemble, named_coordinates
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.loads import joint_state, with_turns
from nexdyn.assembly.report import AssemblyReport, Reaction, WithReport
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, SolveError, counted, unknown
from nexdyn.forces.states import state_labels
from nexdyn.model.driver import Driver
from nexdyn.model.system import System
from nexdyn.statics.descent import Search
from nexdyn.statics.held_contacts import contacts_not_unique
from nexdyn.statics.resting import PRESSED, Integral, RestingLoads, integrals
from nexdyn.statics.sparse_descent import SparseSearch

Array = np.ndarray
LARGEST_DENSE = 100
"""Most bodies for which matrices are dense, and all motions are told."""
SOFTEST = 12
"""How many motions are told of larger systems."""


@dataclass(frozen=True, repr=False)
class Equilibrium(WithReport, metaclass=CheckedCalls):
    """The outcome of `nx.equilibrium`; `print` shows it in words.

    report: of the assembly in equilibrium (poses, reactions, efforts of drivers), to start a run from. stability: "stable",
    "unstable", "neutral" (it rests anywhere along some motion) or "fixed" (nothing can move). dof: degrees of freedom.
    stiffness: eigenvalues of K [N m], the softest first; all, or of large systems as many as were asked for. squares: ω² [1/s²]
    of as many small undamped motions, the slowest first, complex where loads have no potential; None where bodies without
    mass leave it open. out_of_balance: what is left of r [N m]. first_to_move: the body that moves most along the softest
    motion, "" where nothing can.
    """

    report: AssemblyReport
    stability: str
    dof: int
    stiffness: Array
    squares: Array | None
    out_of_balance: float
    iterations: int
    first_to_move: str

    @property
    def frequencies(self) -> Array:
        """Of the small undamped motions that swing [Hz], the slowest first."""
        if self.squares is None:
            raise InputError("bodies without mass leave the frequencies open; give them mass")
        return np.sort(np.sqrt(self.squares[(self.squares.real > 0.0) & (self.squares.imag == 0.0)].real)) / (
            2 * math.pi
        )

    def position(self, body: str) -> Array:
        """Origin of a body in the world (3,) [m]."""
        return self.report.position(body)

    def orientation(self, body: str) -> Array:
        """Unit quaternion (w, x, y, z) of a body."""
        return self.report.orientation(body)

    def reaction(self, joint: str) -> Reaction:
        """The reaction of a joint, as of the report of `nx.assemble`."""
        return self.report.reaction(joint)

    def effort(self, driver: str) -> float:
        """What a driver takes to hold its joint [N, N m]."""
        return self.report.effort(driver)

    @property
    def states(self) -> dict[str, float]:
        """States of forces at rest: {"servo.integral": …}."""
        labels = [label for label, _ in state_labels(self.report.model.system)]
        return dict(
            zip(labels, np.zeros(0) if self.report.states is None else self.report.states.tolist(), strict=False)
        )

    @cached_property
    def contacts_not_unique(self) -> list[str]:
        """The contacts whose friction is not unique in this pose: it depends on how the bodies were put down (``held_contacts``). In
        systems of more than 200 bodies it is not looked for, and the list is empty."""
        return contacts_not_unique(self.report)

    def joint(self, name: str) -> Array:
        """The coordinates of a joint [rad, m]."""
        model = self.report.model
        if name not in model.system.joints:
            raise unknown("joint", name, model.system.joints)
        joint = model.system.joints[name]
        if not joint.tree:
            raise InputError(f"{joint} ({joint.kind}) is a constraint and has no coordinates")
        if not joint.nv:
            return np.zeros(0)
        q = self.report.q
        turned = dict(zip(model.followed, model.counted(q, model.near(q, self.report.t)).tolist(), strict=True))
        return with_turns(joint, joint_state(model, joint, q, np.zeros((model.nb + 1, 6)))[0], turned)

    def to_dict(self) -> dict[str, Any]:
        """As plain data (for JSON)."""
        model = self.report.model
        joints = [name for name, joint in model.system.joints.items() if joint.tree and joint.nv]
        squares = None if self.squares is None else [[float(x.real), float(x.imag)] for x in self.squares]
        return {
            "system": model.system.name,
            "t": self.report.t,
            "stability": self.stability,
            "dof": self.dof,
            "iterations": self.iterations,
            "out_of_balance": self.out_of_balance,
            "stiffness": self.stiffness.tolist(),
            "squares": squares,
            "first_to_move": self.first_to_move,
            "joints": {name: self.joint(name).tolist() for name in joints},
            "bodies": {
                name: {"position": self.position(name).tolist(), "orientation": self.orientation(name).tolist()}
                for name in model.bodies[1:]
            },
            "reactions": {
                name: {key: np.asarray(value).tolist() for key, value in self.reaction(name)._asdict().items()}
                for name in model.system.joints
            },
            "efforts": self.report.efforts(),
            "states": self.states,
            "contacts_not_unique": self.contacts_not_unique,
        }

    def __repr__(self) -> str:
        return f"Equilibrium({self.report.model.system.name!r}: {self.stability}, {counted(self.dof, 'degree of freedom')})"

    def __str__(self) -> str:
        model = self.report.model
        lines = [
            f"System {model.system.name!r} in equilibrium: {self.stability}, {counted(self.dof, 'degree of freedom')}, "
            f"{counted(self.iterations, 'iteration')}, {self.out_of_balance:.2g} N m out of balance"
        ]
        if self.stability in ("unstable", "neutral"):
            how = "leaves" if self.stability == "unstable" else "is free to move"
            lines.append(f"   body {self.first_to_move!r} {how} first")
        if self.squares is not None and len(self.frequencies):
            lines.append("   frequencies " + ", ".join(f"{f:.5g}" for f in self.frequencies[:12]) + " Hz")
        for name in model.bodies[1:31]:
            p, q = self.position(name), self.orientation(name)
            lines.append(f"   {name:<14} at {_words(p)} m, turned {_words(q)}")
        lines.append("   Reactions on the child, in the parent-side joint frame")
        for name in list(model.system.joints)[:30]:
            r = self.reaction(name)
            lines.append(f"   {name:<14} force {_words(r.force)} N   moment {_words(r.moment)} N m")
        lines += [f"   {name:<14} holds with {effort:.5g}" for name, effort in self.report.efforts().items()]
        if self.contacts_not_unique:
            told = ", ".join(map(repr, self.contacts_not_unique[:5])) + (
                ", …" if len(self.contacts_not_unique) > 5 else ""
            )
            lines.append(f"   Friction is not unique, and depends on how the bodies were put down: contact {told}")
        return "\n".join(lines)


@small_on_one_thread
def equilibrium(
    system: System,
    *,
    t: float = 0.0,
    q0: Any = None,
    nearest: bool = False,
    max_iterations: int = 200,
    modes: int | None = None,
) -> Equilibrium:
    """Where `system` rests, from the described pose or from a guess; trees and closed loops, with all forces. Turns are counted.

    t: time [s] at which drivers are held and forces are taken.
    q0: {joint: coordinate(s) [rad, m]} of the guess, or an array of all of a tree; by default those of the joints.
    nearest: take Newton's steps as they are, to the equilibrium nearest to the guess, stable or not. Otherwise it goes
        down, to one that is stable; a guess that is in equilibrium itself is returned as it is.
    max_iterations: most steps.
    modes: how many of the softest motions are told, by sparse matrices, for systems of any size; by default all motions of up to
        100 bodies, and 12 of larger systems.

    States of forces are those at rest (``resting``): integrals of position hold joints at their targets as far as they can, friction
    that sticks (in joints and contacts) holds from the guess on; friction that is regularised gives nothing at rest. Where a surface
    runs, the contact slides while bodies rest, and rubs; an equilibrium is then returned stable or not, like the nearest.

    Raises AssemblyError where the system cannot be assembled; SolveError where nothing is found, its `where` the body that goes
    farthest; InputError.
    """
    if type(max_iterations) is not int or max_iterations < 1:
        raise InputError(f"max_iterations is {max_iterations!r}; a whole number, 1 or more, is needed")
    if not system.bodies:
        raise InputError(f"system {system.name!r} has no bodies that move; add one")
    if modes is not None and (type(modes) is not int or modes < 1):
        raise InputError(f"modes is {modes!r}; a whole number, 1 or more, is needed")
    if modes is None and len(system.bodies) > LARGEST_DENSE:
        modes = SOFTEST
    holding = integrals(system, t)
    q0 = named_coordinates(system, q0, "q0")
    start = assemble(system, t=t, q0=q0)
    q, done = start.q, 0
    loads = RestingLoads(start.model, start.q, t)
    if holding:
        q, done = _held(start, q0, holding, loads, nearest, max_iterations, modes)
    return Equilibrium(*_search(start.model, q, t, loads, nearest or bool(holding), modes).run(max_iterations, done))


def _search(
    model: AbsoluteModel, q: Array, t: float, loads: RestingLoads, nearest: bool, modes: int | None
) -> Search:  # fmt: skip
    if modes is None:
        return Search(model, q, t, loads, nearest)
    return SparseSearch(model, q, t, loads, nearest, modes)


def _held(
    start: AssemblyReport, q0: Mapping[str, Any] | None, holding: list[Integral], loads: RestingLoads, nearest: bool,
    most: int, modes: int | None,
) -> tuple[Array, int]:  # fmt: skip
    """The pose where joints with integrals rest at their targets, or give way at their limits; the integrals into `loads`."""
    system, t = start.model.system, start.t
    q, done = start.q, 0
    guess = {**(q0 or {}), **_targets(start, holding)}
    for _ in range(len(holding) + 1):
        drivers = [
            Driver(each.force.name, str(each.force.joint_name), each.target, freedom=each.force.freedom)
            for each in holding
            if not each.sign
        ]
        model = absolute_model(system, held=drivers)
        acting = RestingLoads(model, start.q, t)
        for each in holding:
            x = (each.sign * PRESSED * each.most - each.without) / each.k_i if each.sign else 0.0
            acting.described[each.place] = loads.described[each.place] = x
        if drivers and not done:
            q = assemble(system, t=t, q0=guess).q
        search = _search(model, q, t, acting, nearest, modes)
        here, _, _, count = search.search(most)
        q, done = here.q, done + count
        rows = {driver.name: driver.row for driver in model.drivers}
        beyond = False
        for each in holding:
            if each.sign:
                continue
            effort = float(np.clip(each.without, -each.most, each.most) - here.lam[rows[each.force.name]])
            if abs(effort) > each.most * (1.0 + 1e-9):
                each.sign, beyond = math.copysign(1.0, effort), True
            loads.described[each.place] = (effort - each.without) / each.k_i
        if not beyond:
            break
    for each in holding:
        if each.sign:
            _check_pressed(each, acting.coordinate(each), t)
            loads.described[each.place] = (each.sign * each.most - each.without) / each.k_i
    return q, done


def _targets(start: AssemblyReport, holding: list[Integral]) -> dict[str, Array]:
    """The coordinates of joints with integrals, at their targets."""
    found: dict[str, Array] = {}
    still = np.zeros((start.model.nb + 1, 6))
    for each in holding:
        joint = start.model.system.joint(str(each.force.joint_name))
        found.setdefault(joint.name, joint_state(start.model, joint, start.q, still)[0])[each.force.freedom] = (
            each.target
        )
    return found


def _check_pressed(each: Integral, at: float, t: float) -> None:
    """SolveError for an actuator at its limit whose integral does not come to rest."""
    off = each.target - at
    if not each.k_p:
        raise SolveError(
            f"no equilibrium: {each.force} is at its limit of {each.most:g}, and its integral winds up without bound; give it a "
            f"larger effort_limit, or kp",
            time=t, where=each.force.name,
        )  # fmt: skip
    if off * each.sign < 0.0:
        raise SolveError(
            f"no equilibrium: at its limit of {each.most:g} {each.force} is driven past its target, below it falls short; "
            f"give it a larger effort_limit",
            time=t, where=each.force.name,
        )  # fmt: skip


def _words(x: Array) -> str:
    return "(" + ", ".join(f"{v:.5g}" for v in np.where(np.abs(x) < 1e-12, 0.0, x)) + ")"

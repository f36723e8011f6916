"""Forces of your own: a function of time and motion, called inside the compiled loop.

    between A and B   f(t, A, B, out):  F_A = (out[:3], out[3:]) in the world;  F_B balances it in force and moment
    in a joint        τ = f(t, q, v)
    with k states of their own, ż = rate:   f(t, A, B, z, out, rate);   τ = f(t, q, v, z, rate)

States go with the motion into the integrator, the result, a restart, ``nx.linearize`` and ``nx.equilibrium`` (which looks for ż = 0):
pressures of a cylinder, the current of a motor, a damper and a spring in series.

A function made by ``numba.njit`` runs at full speed; any other callable works too, slower (``callbacks``). Its energy
is not known: U = 0. It takes one system at a time: of lanes one after another; lanes carry no states.

Data: the address of the function, and about how large each state becomes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.between import FreedomForce, PairForce, check_points, reaction
from nexdyn.forces.kinds import USER, USER_JOINT
from nexdyn.forces.page import BY_DIFFERENCES, STORES_NOTHING, TREE_LANES, Between, InFreedom, alone, no_number, nowhere
from nexdyn.forces.tables import MOST_STATES, ForceEntries
from nexdyn.kernel import formula, overloaded
from nexdyn.model.callbacks import BODIES, JOINT, call, callback_of, with_states
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.model.parameters import floats, sequence
from nexdyn.spatial.algebra import Force, Vec3
from nexdyn.spatial.by_lane import force_with_lane, motion_of_lane, pose_of_lane
from nexdyn.spatial.lanes import LANES, common, lane, pack, with_lane, zero


class Stated(ForceElement):
    """Base of users' forces: the states of their own."""

    function: Callable[..., Any]
    initial_states: Any
    state_names: Any
    state_sizes: Any
    state_units: Any
    structural = ForceElement.structural | {"function", "state_names", "state_units"}
    shape = BODIES

    @property
    def _count(self) -> int:
        return len(self.initial_states)

    @property
    def not_finite(self) -> str:  # type: ignore[override]
        return super().not_finite + (", or has states whose rates determine none in its step," if self._count else "")

    def _store_states(
        self, function: Any, initial_states: Any, state_names: Any, state_sizes: Any, state_units: Any
    ) -> None:
        what = f"initial_states of {self}"
        initial = sequence(initial_states, what, "numbers")
        if len(initial) > MOST_STATES:
            raise InputError(f"{what} has {len(initial)} entries; a force has {MOST_STATES} states at most")
        names = None if state_names is None else sequence(state_names, f"state_names of {self}", "names")
        if names is not None:
            wrong = [name for name in names if not isinstance(name, str) or not name.strip()]
            if wrong or len(names) != len(initial) or len(set(names)) != len(names):
                raise InputError(
                    f"state_names of {self} is {names!r}; as many different names as initial_states has numbers, {len(initial)}, "
                    f"are needed"
                )
        units = None if state_units is None else sequence(state_units, f"state_units of {self}", "texts")
        if units is not None and (len(units) != len(initial) or not all(isinstance(unit, str) for unit in units)):
            raise InputError(
                f"state_units of {self} is {units!r}; a text for each of {len(initial)} initial_states is needed"
            )
        self._store(
            function=function, initial_states=initial, state_names=names, state_sizes=state_sizes, state_units=units
        )
        if not callable(function):
            arguments = with_states(self.shape, len(initial)).arguments
            raise InputError(f"function of {self} is {function!r}; a function {arguments} is needed")

    def _check_states(self, values: Mapping[str, float]) -> None:
        n = len(sequence(self.initial_states, f"initial_states of {self}", "numbers"))
        if n > MOST_STATES:
            raise InputError(f"initial_states of {self} has {n} entries; a force has {MOST_STATES} states at most")
        for attribute in ("state_names", "state_units"):
            given = self.__dict__[attribute]
            if given is not None and len(given) != n:
                raise InputError(f"{self} has {n} initial_states and {len(given)} {attribute}; as many are needed")
        self._sizes(values)
        self.states(values)

    def _sizes(self, values: Mapping[str, float]) -> tuple[float, ...]:
        what = f"state_sizes of {self}"
        if self.state_sizes is None:
            return (1.0,) * self._count
        sizes = floats(self.state_sizes, self._count, values, what)
        if not all(x > 0.0 for x in sizes):
            raise InputError(f"{what} is {sizes}; its numbers must be greater than 0")
        return sizes

    def states(self, values: Mapping[str, float]) -> list[tuple[str, str, float]]:
        n = self._count
        names = self.state_names or [f"state{i}" for i in range(n)]
        initial = floats(self.initial_states, n, values, f"initial_states of {self}")
        return list(zip(names, self.state_units or ("",) * n, initial, strict=True))

    def state_efforts(self, values: Mapping[str, float], unit: float) -> list[tuple[float, float, float]]:
        return [(0.0, 0.0, size) for size in self._sizes(values)]

    def data(self, values: Mapping[str, float]) -> list[float]:
        """The address, and the sizes of the states."""
        try:
            callback = callback_of(self.function, with_states(self.shape, self._count))
        except InputError as error:
            raise InputError(f"{self}: {error}") from error
        self._callbacks = (callback,)
        return [callback.address, *self._sizes(values)]


class UserForce(PairForce, Stated):
    """A force and torque that a function computes from the motion of the frames `a` and `b` (ground by default).

    function(t, A, B, out): t [s]; A, B (18,): position [m] (3), rotation matrix row by row (9), angular velocity
        [rad/s] (3) and velocity of the origin [m/s] (3), all in the world; it fills out (6,): torque [N m] and force
        [N] on `a` at the origin of A, in world axes, and returns nothing. Made by ``numba.njit``, or plain Python.
    anchor_a, anchor_b, at_a, at_b: where the origins of A and B are (:class:`PairForce`).
    initial_states: of states of its own, up to 12, ż = rate: then it is function(t, A, B, z, out, rate), and fills rate too.
    state_names: what results call them. state_units: their units in results ("A", "Pa"), which compute nothing. state_sizes: about how
        large each becomes (default: 1); `HHT` with a tolerance judges the error of a state by it, and takes differences over parts of it.
    """

    kind, code = "user", USER
    structural = Stated.structural

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str = "ground",
        *,
        function: Callable[..., Any],
        anchor_a: Any = None,
        anchor_b: Any = None,
        at_a: Any = None,
        at_b: Any = None,
        initial_states: Any = (),
        state_names: Any = None,
        state_sizes: Any = None,
        state_units: Any = None,
    ) -> None:
        super().__init__(name, a, b, anchor_a=anchor_a, anchor_b=anchor_b, at_a=at_a, at_b=at_b)
        self._store_states(function, initial_states, state_names, state_sizes, state_units)

    def check(self, values: Mapping[str, float]) -> None:
        check_points(self, ("_a", "_b"), values)
        self._check_states(values)


class UserJointForce(Stated, FreedomForce):
    """An effort [N, N m] in one degree of freedom of a joint that a function computes.

    function(t, q, v) → effort, from the time [s], the freedom's coordinate [m, rad] and velocity; made by
        ``numba.njit``, or plain Python.
    freedom: which of the joint's degrees of freedom, from 0.
    initial_states: of states of its own, up to 12, ż = rate: then it is function(t, q, v, z, rate) → effort, and fills rate (k,).
    state_names, state_units, state_sizes: as of :class:`UserForce`.
    """

    kind, code = "user_joint_force", USER_JOINT
    shape = JOINT

    def __init__(
        self, name: str, joint: Element | str, function: Callable[..., float], *, freedom: int = 0,
        initial_states: Any = (), state_names: Any = None, state_sizes: Any = None, state_units: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(name)
        self._store(joint=name_of(joint), freedom=freedom)
        self._store_states(function, initial_states, state_names, state_sizes, state_units)

    def check(self, values: Mapping[str, float]) -> None:
        """States alone depend on parameters; the function is compiled with the model."""
        self._check_states(values)


# --- in kernels -----------------------------------------------------------------------------------------------------


@formula
def state_at(tables, e, i):
    """State i of force e; 0 where it has none."""
    force = ForceEntries(tables.index)[e]
    return tables.z[force.state + i] if i < force.states else 0.0


@formula
def states_of(tables, e):
    """The states of force e, as many as a call has room for."""
    return (
        state_at(tables, e, 0), state_at(tables, e, 1), state_at(tables, e, 2), state_at(tables, e, 3), state_at(tables, e, 4),
        state_at(tables, e, 5), state_at(tables, e, 6), state_at(tables, e, 7), state_at(tables, e, 8), state_at(tables, e, 9),
        state_at(tables, e, 10), state_at(tables, e, 11),
    )  # fmt: skip


@formula
def put_rates(tables, e, status, out, first):
    """Rates of force e from out[first:]; 0, or NaN where one of them is not finite or the function fails."""
    force = ForceEntries(tables.index)[e]
    wrong = 0.0 if status == 0 else math.nan
    for i in range(force.states):
        tables.rate[force.state + i] = out[first + i] + wrong
        wrong += 0.0 * out[first + i]
    return wrong


@formula
def stated_wrench(tables, e, t, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B of a force with states, and the rates of these."""
    nan = math.nan
    A, B = (X_WA.p, X_WA.R, V_A.w, V_A.v), (X_WB.p, X_WB.R, V_B.w, V_B.v)
    status, out = call(
        tables.data[k], t, (A, B, states_of(tables, e)),
        (nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan),
    )  # fmt: skip
    wrong = put_rates(tables, e, status, out, 6)
    F_A = Force(Vec3(out[0] + wrong, out[1], out[2]), Vec3(out[3], out[4], out[5]))
    return F_A, reaction(F_A, X_WB.p - X_WA.p)


@formula
def stated_effort(tables, e, t, k, q, v):
    """τ of a force with states in a joint, and the rates of these."""
    nan = math.nan
    status, out = call(
        tables.data[k], t, (q, v, states_of(tables, e)),
        (nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan),
    )  # fmt: skip
    return out[0] + put_rates(tables, e, status, out, 1)


@formula
def one_wrench(t, address, X_WA, V_A, X_WB, V_B):
    """The force on A at its origin, in the world; NaN where the function fails."""
    nan = math.nan
    A, B = (X_WA.p, X_WA.R, V_A.w, V_A.v), (X_WB.p, X_WB.R, V_B.w, V_B.v)
    status, out = call(address, t, (A, B), (nan, nan, nan, nan, nan, nan))
    n, f = Vec3(out[0], out[1], out[2]), Vec3(out[3], out[4], out[5])
    if status != 0:
        n = Vec3(nan, nan, nan)
    return Force(n, f)


def force_on_a(t, address, X_WA, V_A, X_WB, V_B):
    """The force on A; of lanes one after another."""
    if isinstance(X_WA.p.x, np.ndarray):
        return forces_on_a(t, address, X_WA, V_A, X_WB, V_B)
    return one_wrench(t, address, X_WA, V_A, X_WB, V_B)


@overloaded(force_on_a)
def _force_on_a(t, address, X_WA, V_A, X_WB, V_B):
    if X_WA.types[1].dtype is pack:
        return lambda t, address, X_WA, V_A, X_WB, V_B: forces_on_a(t, address, X_WA, V_A, X_WB, V_B)
    return lambda t, address, X_WA, V_A, X_WB, V_B: one_wrench(t, address, X_WA, V_A, X_WB, V_B)


@formula
def forces_on_a(t, address, X_WA, V_A, X_WB, V_B):
    """The forces on A of all lanes."""
    o = zero(X_WA.p.x)
    F = Force(Vec3(o, o, o), Vec3(o, o, o))
    for s in range(LANES):
        F_s = one_wrench(
            t, address, pose_of_lane(X_WA, s), motion_of_lane(V_A, s), pose_of_lane(X_WB, s), motion_of_lane(V_B, s)
        )
        F = force_with_lane(F, s, F_s)
    return F


@formula
def wrench(t, data, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B, each at its origin, in the world; NaN where the function fails."""
    F_A = force_on_a(t, common(data, k), X_WA, V_A, X_WB, V_B)
    return F_A, reaction(F_A, X_WB.p - X_WA.p)


@formula
def one_effort(t, address, q, v):
    """τ = f(t, q, v); NaN where the function fails."""
    status, out = call(address, t, (q, v), (math.nan,))
    return out[0] if status == 0 else math.nan


@formula
def efforts_of_lanes(t, address, q, v):
    """τ of all lanes, one after another."""
    tau = zero(q)
    for s in range(LANES):
        tau = with_lane(tau, s, one_effort(t, address, lane(q, s), lane(v, s)))
    return tau


def joint_effort(t, data, k, q, v):
    """τ = f(t, q, v); NaN where the function fails."""
    efforts = efforts_of_lanes if isinstance(q, np.ndarray) else one_effort
    return efforts(t, common(data, k), q, v)


@overloaded(joint_effort)
def _joint_effort(t, data, k, q, v):
    if q is pack:
        return lambda t, data, k, q, v: efforts_of_lanes(t, common(data, k), q, v)
    return lambda t, data, k, q, v: one_effort(t, common(data, k), q, v)


stated_wrench_alone, stated_effort_alone = alone(stated_wrench, nowhere), alone(stated_effort, no_number)


@formula
def wrenches(tables, e, t, data, k, X_WA, V_A, X_WB, V_B, x):
    """Forces on A and on B, of a force with or without states."""
    if ForceEntries(tables.index)[e].states > 0:
        return stated_wrench_alone(tables, e, t, k, X_WA, V_A, X_WB, V_B, x)
    return wrench(t, data, k, X_WA, V_A, X_WB, V_B)


@formula
def effort(tables, e, t, data, k, q, v, x):
    """τ, of a force with or without states."""
    if ForceEntries(tables.index)[e].states > 0:
        return stated_effort_alone(tables, e, t, k, q, v, x)
    return joint_effort(t, data, k, q, v)


PAGE = Between(USER, "UserForce", wrenches, STORES_NOTHING, BY_DIFFERENCES, TREE_LANES)
JOINT_PAGE = InFreedom(USER_JOINT, "UserJointForce", effort, STORES_NOTHING, TREE_LANES)

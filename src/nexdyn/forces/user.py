"""Forces of your own: a function of time and motion, called inside the compiled loop.

    between A and B   f(t, A, B, out):  F_A = (out[:3], out[3:]) in the world;  F_B balances it in force and moment
    in a joint        τ = f(t, q, v)

A function made by ``numba.njit`` runs at full speed; any other callable works too, slower (``callbacks``). Its energy
is not known: U = 0. It takes one system at a time: of lanes one after another. Data: the address of the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.extending import overload

from nexdyn.errors import InputError
from nexdyn.forces.between import PairForce, check_freedom, check_points, reaction
from nexdyn.forces.kinds import USER, USER_JOINT
from nexdyn.kernel import formula
from nexdyn.model.callbacks import BODIES, JOINT, Callback, Shape, call, callback_of
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.spatial.algebra import Force, Mat3, Motion, Pose, Vec3
from nexdyn.spatial.lanes import LANES, common, lane, pack, with_lane, zero

if TYPE_CHECKING:
    from nexdyn.model.system import System


class UserForce(PairForce):
    """A force and torque that a function computes from the motion of the frames `a` and `b` (ground by default).

    function(t, A, B, out): t [s]; A, B (18,): position [m] (3), rotation matrix row by row (9), angular velocity
        [rad/s] (3) and velocity of the origin [m/s] (3), all in the world; it fills out (6,): torque [N m] and force
        [N] on `a` at the origin of A, in world axes, and returns nothing. Made by ``numba.njit``, or plain Python.
    anchor_a, anchor_b, at_a, at_b: where the origins of A and B are (:class:`PairForce`).
    """

    kind, code = "user", USER
    function: Callable[..., Any]
    structural = ForceElement.structural | {"function"}

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
    ) -> None:
        super().__init__(name, a, b, anchor_a=anchor_a, anchor_b=anchor_b, at_a=at_a, at_b=at_b)
        self._store(function=function)
        _check_callable(self, function, BODIES)

    def check(self, values: Mapping[str, float]) -> None:
        check_points(self, ("_a", "_b"), values)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """The address."""
        return _address(self, self.function, BODIES)

    def callbacks(self) -> tuple[Callback, ...]:
        return self.__dict__.get("_callbacks", ())


class UserJointForce(ForceElement):
    """An effort [N, N m] in one freedom of a joint that a function computes.

    function(t, q, v) → effort, from the time [s], the freedom's coordinate [m, rad] and velocity; made by
        ``numba.njit``, or plain Python.
    freedom: which of the joint's freedoms, from 0.
    """

    kind, code = "user_joint_force", USER_JOINT
    joint: str
    function: Callable[[float, float, float], float]
    freedom: int
    structural = ForceElement.structural | {"function"}

    def __init__(
        self, name: str, joint: Element | str, function: Callable[[float, float, float], float], *, freedom: int = 0
    ) -> None:
        super().__init__(name)
        self._store(joint=name_of(joint), function=function, freedom=freedom)
        _check_callable(self, function, JOINT)

    def __repr__(self) -> str:
        return f"UserJointForce({self.name!r}, in {self.joint!r})"

    def joints(self) -> tuple[str, ...]:
        return (self.joint,)

    def check_in(self, system: System) -> None:
        check_freedom(self, system, needs_coordinate=True)

    def check(self, values: Mapping[str, float]) -> None:
        """Nothing depends on parameters; the function is compiled with the model."""

    def data(self, values: Mapping[str, float]) -> list[float]:
        """The address."""
        return _address(self, self.function, JOINT)

    def callbacks(self) -> tuple[Callback, ...]:
        return self.__dict__.get("_callbacks", ())


def _check_callable(force: ForceElement, function: object, shape: Shape) -> None:
    if not callable(function):
        raise InputError(f"function of {force} is {function!r}; a function {shape.arguments} is needed")


def _address(force: ForceElement, function: Callable[..., Any], shape: Shape) -> list[float]:
    try:
        callback = callback_of(function, shape)
    except InputError as error:
        raise InputError(f"{force}: {error}") from error
    force._callbacks = (callback,)
    return [callback.address]


@formula
def one_wrench(t, address, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    """The force on A at its origin, in the world; NaN where the function fails."""
    nan = math.nan
    A, B = (X_WA.p, X_WA.R, V_A.w, V_A.v), (X_WB.p, X_WB.R, V_B.w, V_B.v)
    status, out = call(address, t, (A, B), (nan, nan, nan, nan, nan, nan))
    n, f = Vec3(out[0], out[1], out[2]), Vec3(out[3], out[4], out[5])
    if status != 0:
        n = Vec3(nan, nan, nan)
    return Force(n, f)


def force_on_a(t, address, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    """The force on A; of lanes one after another."""
    if isinstance(X_WA.p.x, np.ndarray):
        return forces_on_a(t, address, X_WA, V_A, X_WB, V_B)
    return one_wrench(t, address, X_WA, V_A, X_WB, V_B)


@overload(force_on_a, strict=False)
def _force_on_a(t, address, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    if X_WA.types[1].dtype is pack:
        return lambda t, address, X_WA, V_A, X_WB, V_B: forces_on_a(t, address, X_WA, V_A, X_WB, V_B)
    return lambda t, address, X_WA, V_A, X_WB, V_B: one_wrench(t, address, X_WA, V_A, X_WB, V_B)


@formula
def vector_of_lane(a, s):  # type: ignore[no-untyped-def]
    return Vec3(lane(a.x, s), lane(a.y, s), lane(a.z, s))


@formula
def pose_of_lane(X, s):  # type: ignore[no-untyped-def]
    R = X.R
    return Pose(
        Mat3(
            lane(R.xx, s), lane(R.xy, s), lane(R.xz, s), lane(R.yx, s), lane(R.yy, s), lane(R.yz, s), lane(R.zx, s),
            lane(R.zy, s), lane(R.zz, s),
        ),
        vector_of_lane(X.p, s),
    )  # fmt: skip


@formula
def motion_of_lane(V, s):  # type: ignore[no-untyped-def]
    return Motion(vector_of_lane(V.w, s), vector_of_lane(V.v, s))


@formula
def vector_with_lane(a, s, b):  # type: ignore[no-untyped-def]
    return Vec3(with_lane(a.x, s, b.x), with_lane(a.y, s, b.y), with_lane(a.z, s, b.z))


@formula
def forces_on_a(t, address, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    """The forces on A of all lanes."""
    o = zero(X_WA.p.x)
    F = Force(Vec3(o, o, o), Vec3(o, o, o))
    for s in range(LANES):
        F_s = one_wrench(
            t, address, pose_of_lane(X_WA, s), motion_of_lane(V_A, s), pose_of_lane(X_WB, s), motion_of_lane(V_B, s)
        )
        F = Force(vector_with_lane(F.n, s, F_s.n), vector_with_lane(F.f, s, F_s.f))
    return F


@formula
def wrench(t, data, k, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    """Forces on A and on B, each at its origin, in the world; NaN where the function fails."""
    F_A = force_on_a(t, common(data, k), X_WA, V_A, X_WB, V_B)
    return F_A, reaction(F_A, X_WB.p - X_WA.p)


@formula
def one_effort(t, address, q, v):  # type: ignore[no-untyped-def]
    """τ = f(t, q, v); NaN where the function fails."""
    status, out = call(address, t, (q, v), (math.nan,))
    return out[0] if status == 0 else math.nan


@formula
def efforts_of_lanes(t, address, q, v):  # type: ignore[no-untyped-def]
    """τ of all lanes, one after another."""
    tau = zero(q)
    for s in range(LANES):
        tau = with_lane(tau, s, one_effort(t, address, lane(q, s), lane(v, s)))
    return tau


def joint_effort(t, data, k, q, v):  # type: ignore[no-untyped-def]
    """τ = f(t, q, v); NaN where the function fails."""
    efforts = efforts_of_lanes if isinstance(q, np.ndarray) else one_effort
    return efforts(t, common(data, k), q, v)


@overload(joint_effort, strict=False)
def _joint_effort(t, data, k, q, v):  # type: ignore[no-untyped-def]
    if q is pack:
        return lambda t, data, k, q, v: efforts_of_lanes(t, common(data, k), q, v)
    return lambda t, data, k, q, v: one_effort(t, common(data, k), q, v)

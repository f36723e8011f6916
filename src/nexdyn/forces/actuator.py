"""Actuators in a degree of freedom of a joint: position, velocity and effort control, with saturation, lag, and sampling.

    e = r(t) − q,   ė = ṙ(t) − v                                          a position actuator; r(t) its target
    u = f(t) + k_p e + k_d ė + k_i x,   ẋ = e + (sat u − u)/k_p           x stops winding up where u is saturated
    e = 0,   ė = r(t) − v,   u = f(t) + k_d ė + k_i x,   ẋ = ė + (sat u − u)/k_d       a velocity actuator
    u = r(t)                                                              an effort actuator
    u = c(t, q, v)                                                        a controller: a function of the user's

    sat u = max(−τ_max, min(u, τ_max)) · s,   s = 1, and where u drives the motion on, u v > 0,
            s = (v_max − |v|)/(κ v_max) within [0, 1]                     no effort in the direction of motion above v_max
    T τ̇ = sat u − τ                                                       the lag of the drive; τ = sat u without
    sampled every Δ, from t = 0 on:   u_k = u(k Δ), held until (k + 1) Δ;   x_k+1 = x_k + Δ ẋ_k

Positive τ pushes the child along the positive degree of freedom. What the states x, τ, u_k and the next k Δ are at a time is part of the
state of the run: recorded, and gone on from. Effort comes from outside: U = 0.

Data: a `Drive`, then the row of r, that of f; of a controller the address of c in place of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nexdyn.errors import InputError
from nexdyn.forces.applied import function_of_time
from nexdyn.forces.between import FreedomForce, check_freedom, non_negative
from nexdyn.forces.kinds import ACTUATOR
from nexdyn.forces.page import NO_LANES, STORES_NOTHING, InFreedom, alone, no_number
from nexdyn.forces.tables import ForceEntries
from nexdyn.forces.user import joint_effort
from nexdyn.kernel import formula
from nexdyn.model.callbacks import JOINT, callback_of
from nexdyn.model.element import Element, name_of
from nexdyn.model.force import Force as ForceElement
from nexdyn.model.functions import Function
from nexdyn.model.time_kernels import next_row, time_callbacks, time_jet, time_row, time_value
from nexdyn.records import Record
from nexdyn.spatial.lanes import if_less, zero

if TYPE_CHECKING:
    from nexdyn.model.system import System

POSITION, VELOCITY, EFFORT, CONTROLLER = range(4)


class Drive(Record):
    """law, k_p, k_d, k_i, τ_max (≤ 0: none), v_max (≤ 0: none), κ, T (0: none), Δ (0: none)."""

    law: float
    k_p: float
    k_d: float
    k_i: float
    most: float
    fastest: float
    knee: float
    lag: float
    sample: float


class DriveStates(Record):
    """States of an actuator that has any: x, τ, the held u, and the next time at which it is sampled."""

    integral: float
    lagged: float
    held: float
    next: float


ROWS = Drive.columns


class Actuator(FreedomForce):
    """Base of the actuators in a joint: what they share.

    effort_limit [N, N m], velocity_limit [m/s, rad/s]: None for none. knee: part of the velocity limit over which the effort
        falls to 0 below it. time_constant [s]: lag of the drive, 0 for none. sample_time [s]: of a digital controller, whose
        output is held in between; None for a continuous one. freedom: which of the joint's degrees of freedom, from 0.
    """

    code = ACTUATOR
    law = EFFORT
    effort_limit: Any
    velocity_limit: Any
    knee: Any
    time_constant: Any
    sample_time: Any

    def __init__(
        self, name: str, joint: Element | str, *, effort_limit: Any = None, velocity_limit: Any = None, knee: Any = 0.1,
        time_constant: Any = 0.0, sample_time: Any = None, freedom: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(name)
        self._store(
            joint=name_of(joint), effort_limit=effort_limit, velocity_limit=velocity_limit, knee=knee,
            time_constant=time_constant, sample_time=sample_time, freedom=freedom,
        )  # fmt: skip

    def check_in(self, system: System) -> None:
        check_freedom(self, system, needs_coordinate=self.law in (POSITION, CONTROLLER))

    def check(self, values: Mapping[str, float]) -> None:
        self._numbers(values)
        self.functions_of_time(values)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """As the page says."""
        functions = self.functions_of_time(values)
        self._callbacks = tuple(callback for function in functions for callback in time_callbacks(function))
        return [*self._numbers(values), *(x for function in functions for x in time_row(function))]

    def working(self, values: Mapping[str, float]) -> str:
        return str(self)

    def states(self, values: Mapping[str, float]) -> list[tuple[str, str, float]]:
        drive = self.drive(values)
        if not drive.k_i and not drive.lag and not drive.sample:
            return []
        return [("integral", "", 0.0), ("lagged", "", 0.0), ("held", "", 0.0), ("next_sample", "s", 0.0)]

    def state_efforts(self, values: Mapping[str, float], unit: float) -> list[tuple[float, float, float]]:
        drive = self.drive(values)
        least, lag = self._effort_of(values, unit), drive.lag
        jumps = (0.0, 0.0, least)
        return [(drive.k_i, 0.0, least), (1.0 if lag > 0.0 else 0.0, lag, least), jumps, jumps]

    def _effort_of(self, values: Mapping[str, float], unit: float) -> float:
        """Effort that the law makes of a displacement by `unit`; what it makes of speeds would depend on the unit of time."""
        return self._gains(values)[0] * unit

    def sample_of(self, values: Mapping[str, float]) -> float:
        return float(self.drive(values).sample)

    def drive(self, values: Mapping[str, float]) -> Drive:
        """Its numbers by name."""
        return Drive(self._numbers(values))

    def _gains(self, values: Mapping[str, float]) -> tuple[float, float, float]:
        """k_p, k_d, k_i."""
        return 0.0, 0.0, 0.0

    def functions_of_time(self, values: Mapping[str, float]) -> list[Function]:
        """The target r and the feedforward f."""
        return [
            function_of_time(self.__dict__[attribute], values, f"{attribute} of {self}")
            for attribute in ("target", "feedforward")
        ]

    def _numbers(self, values: Mapping[str, float]) -> list[float]:
        limits = []
        for attribute in ("effort_limit", "velocity_limit"):
            x = 0.0 if self.__dict__[attribute] is None else self.number_of(attribute, values)
            if self.__dict__[attribute] is not None and not x > 0.0:
                raise InputError(f"{attribute} of {self} is {x:g}; it must be greater than 0, or None")
            limits.append(x)
        knee = self.number_of("knee", values)
        if not 0.0 < knee <= 1.0:
            raise InputError(f"knee of {self} is {knee:g}; it must be greater than 0 and at most 1")
        sample = 0.0 if self.sample_time is None else self.number_of("sample_time", values)
        if self.sample_time is not None and not sample > 0.0:
            raise InputError(f"sample_time of {self} is {sample:g} s; it must be greater than 0, or None")
        lag = non_negative(self, "time_constant", values)
        return [float(self.law), *self._gains(values), *limits, knee, lag, sample]


class PositionActuator(Actuator):
    """Drives a joint to a `target` position: u = feedforward + kp (r − q) + kd (ṙ − v) + ki ∫(r − q).

    target [m, rad], feedforward [N, N m]: numbers, expressions, or functions of time (``nexdyn.model.functions``,
        "=sin(t)", a callable f(t)). kp [N/m, N m/rad], kd [N s/m, N m s/rad], ki [N/m/s, N m/rad/s]: 0 or more.

    Limits, lag and sampling: :class:`Actuator`.
    """

    kind, law = "position_actuator", POSITION
    kp: Any
    kd: Any
    ki: Any
    target: Any
    feedforward: Any

    def __init__(
        self, name: str, joint: Element | str, *, kp: Any, kd: Any = 0.0, ki: Any = 0.0, target: Any = 0.0,
        feedforward: Any = 0.0, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(name, joint, **options)
        self._store(kp=kp, kd=kd, ki=ki, target=target, feedforward=feedforward)

    def _gains(self, values: Mapping[str, float]) -> tuple[float, float, float]:
        return tuple(non_negative(self, gain, values) for gain in ("kp", "kd", "ki"))  # type: ignore[return-value]


class VelocityActuator(Actuator):
    """Drives a joint at a `target` velocity: u = feedforward + kv (r − v) + ki ∫(r − v).

    target [m/s, rad/s], feedforward [N, N m]: numbers, expressions, or functions of time. kv [N s/m, N m s/rad],
        ki [N/m, N m/rad]: 0 or more. Limits, lag and sampling: :class:`Actuator`.
    """

    kind, law = "velocity_actuator", VELOCITY
    kv: Any
    ki: Any
    target: Any
    feedforward: Any

    def __init__(
        self, name: str, joint: Element | str, *, kv: Any, ki: Any = 0.0, target: Any = 0.0, feedforward: Any = 0.0,
        **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(name, joint, **options)
        self._store(kv=kv, ki=ki, target=target, feedforward=feedforward)

    def _gains(self, values: Mapping[str, float]) -> tuple[float, float, float]:
        return 0.0, non_negative(self, "kv", values), non_negative(self, "ki", values)

    def _effort_of(self, values: Mapping[str, float], unit: float) -> float:
        return self._gains(values)[2] * unit


class TorqueActuator(Actuator):
    """Gives a joint the effort that `target` asks for, within its limits: u = r(t).

    target [N, N m]: a number, an expression, or a function of time. Limits, lag and sampling: :class:`Actuator`.
    """

    kind, law = "torque_actuator", EFFORT
    target: Any

    def __init__(self, name: str, joint: Element | str, *, target: Any = 0.0, **options: Any) -> None:
        super().__init__(name, joint, **options)
        self._store(target=target)

    def functions_of_time(self, values: Mapping[str, float]) -> list[Function]:
        zero_of_time = function_of_time(0.0, values, "")
        return [function_of_time(self.target, values, f"target of {self}"), zero_of_time]


class Controller(Actuator):
    """A control law of your own: u = function(t, q, v), by default continuous, with `sample_time` a digital one.

    function(t, q, v) → effort, from the time [s], the freedom's coordinate [m, rad] and velocity; made by ``numba.njit``, or
        plain Python, which is called once a sample. Limits, lag and sampling: :class:`Actuator`.
    """

    kind, law = "controller", CONTROLLER
    function: Callable[[float, float, float], float]
    structural = ForceElement.structural | {"function"}

    def __init__(
        self, name: str, joint: Element | str, *, function: Callable[[float, float, float], float], **options: Any
    ) -> None:
        super().__init__(name, joint, **options)
        self._store(function=function)
        if not callable(function):
            raise InputError(f"function of {self} is {function!r}; a function (t, q, v) is needed")

    def functions_of_time(self, values: Mapping[str, float]) -> list[Function]:
        return []

    def _effort_of(self, values: Mapping[str, float], unit: float) -> float:
        if self.sample_time is not None:
            return 0.0
        try:
            change = abs(float(self.function(0.0, unit, 0.0)) - float(self.function(0.0, 0.0, 0.0)))
        except Exception:  # a law that fails is told with its time, where it is called in a run
            return 0.0
        return change if math.isfinite(change) else 0.0

    def data(self, values: Mapping[str, float]) -> list[float]:
        """As the page says."""
        try:
            callback = callback_of(self.function, JOINT)
        except InputError as error:
            raise InputError(f"{self}: {error}") from error
        self._callbacks = (callback,)
        return [*self._numbers(values), callback.address]


# --- in kernels -----------------------------------------------------------------------------------------------------


@formula
def clipped(x, most):
    """x within [−most, most]."""
    above = if_less(most, x, most, x)
    return if_less(above, -most, -most, above)


@formula
def saturated(drive, u, v):
    """sat u."""
    o = zero(u)
    most, fastest = drive.most, drive.fastest
    if most > 0.0:
        u = clipped(u, o + most)
    if fastest > 0.0:
        # s = (v_max − |v|)/(κ v_max) within [0, 1] where u v > 0
        speed = if_less(v, o, -v, v)
        s = (fastest - speed) / (drive.knee * fastest)
        s = if_less(s, o, o, if_less(s, 1.0, s, o + 1.0))
        u = if_less(o, u * v, s * u, u)
    return u


@formula
def command(t, data, k, q, v, x):
    """u, and what x integrates, ẋ."""
    o, drive = zero(q), Drive(data, k)
    law = drive.law
    if law == CONTROLLER:
        return o + joint_effort(t, data, k + ROWS, q, v), o
    r, dr, _ = time_jet(data, k + ROWS, t)
    f = time_value(data, next_row(data, k + ROWS), t)
    if law == EFFORT:
        return o + r, o
    position = law == POSITION
    e = r - q if position else r - v
    rate = dr - v if position else r - v
    u = f + drive.k_p * (r - q) + drive.k_d * rate + drive.k_i * x
    gain = drive.k_p if position else drive.k_d
    # ẋ = e + (sat u − u)/gain
    if gain > 0.0 and drive.k_i != 0.0:
        e = e + (saturated(drive, u, v) - u) / gain
    return u, e


@formula
def effort_and_rates(t, data, k, q, v, x, y, held):
    """Effort, ẋ, τ̇ from the states x, τ = y and the held u."""
    o, drive = zero(q), Drive(data, k)
    if drive.sample > 0.0:
        u, dx = o + held, o
    else:
        u, dx = command(t, data, k, q, v, x)
    u = saturated(drive, u, v)
    if drive.lag > 0.0:
        return o + y, dx, (u - y) / drive.lag
    return u, dx, o


@formula
def sampled(t, data, k, q, v, x):
    """x and u of the sample at t: u_k, x_k+1 = x_k + Δ ẋ_k."""
    u, dx = command(t, data, k, q, v, x)
    return x + Drive(data, k).sample * dx, u


@formula
def effort(tables, e, t, data, k, q, v):
    """τ, and the rates of its states."""
    force = ForceEntries(tables.index)[e]
    if force.states == 0:
        tau, _, _ = effort_and_rates(t, data, k, q, v, 0.0, 0.0, 0.0)
        return tau
    z, rate = DriveStates(tables.z, force.state), DriveStates(tables.rate, force.state)
    tau, rate.integral, rate.lagged = effort_and_rates(t, data, k, q, v, z.integral, z.lagged, z.held)
    return tau


PAGE = InFreedom(ACTUATOR, "Actuator", alone(effort, no_number), STORES_NOTHING, NO_LANES)

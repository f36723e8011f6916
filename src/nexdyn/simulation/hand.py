"""A hand that pulls a point of a body: a critically damped spring to where the hand is, weighed by the body's mass.

    F = k (x − p) − c v,   k = s m ω²,   c = 2 m ω √s,   ω = 2π f          x the hand, p and v the point and its velocity
    |F| ≤ k L/2                                                             L the length of the mechanism

A body that is free then follows the hand as fast as it can without swinging past it. s is the strength that is asked for.

F is told at times t_k, and reaches what was told at t_k at t_k+1; in between it is linear. So it is an input like an applied force,
a function of time that is known before the steps that it acts in: its table, kept, has the same effect again. What is told
late must not make the spring unstable. About a point at the end of a thin rod the mass is m/4, and with it

    4 c h/m < 1,   h = t_k+1 − t_k < 1/(8 ω √s)
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.applied import AppliedForce
from nexdyn.model.functions import Table
from nexdyn.model.system import System

FREQUENCY = 2.0
"""f [Hz] of a hand of strength 1."""
STRONGEST, WEAKEST = 100.0, 0.01


class Grip(NamedTuple):
    """What a hand holds: a body, the point p_B (3,) [m] in its frame, and the numbers of the spring."""

    body: str
    p_B: np.ndarray
    stiffness: float
    damping: float
    most: float
    """Largest force [N]."""
    apart: float
    """Largest time between two times at which the force is told [s]."""


def grip(system: System, body: str, p_B: Any, strength: float, length: float) -> Grip:
    """How a hand of some strength holds a point of a body. InputError for the ground, what is no point and no strength."""
    held = system.body(body)
    if held.is_ground:
        raise InputError("the ground cannot be pulled; a body can")
    p = np.asarray(p_B, dtype=float)
    if p.shape != (3,) or not np.isfinite(p).all():
        raise InputError(f"the point of {body!r} is {p_B!r}; three finite numbers [m] in the body's axes are needed")
    if isinstance(strength, bool) or not isinstance(strength, int | float) or not WEAKEST <= strength <= STRONGEST:
        raise InputError(f"strength is {strength!r}; a number from {WEAKEST:g} to {STRONGEST:g} is needed")
    mass = float(held.resolved(system.values).mass)
    if not mass > 0.0:
        masses = [float(other.resolved(system.values).mass) for other in system.bodies.values()]
        mass = sum(masses) / len(masses) or 1.0
    omega = 2.0 * math.pi * FREQUENCY
    stiffness, rate = strength * mass * omega**2, omega * math.sqrt(strength)
    return Grip(body, p, stiffness, 2.0 * mass * rate, 0.5 * stiffness * length, 1.0 / (8.0 * rate))


class Pull:
    """The force of one grip over time (:class:`Grip`), linear between the times at which it was told; none before and afterwards."""

    __slots__ = ("_functions", "forces", "grip", "name", "times")

    def __init__(self, name: str, grip: Grip, t: float) -> None:
        self.name, self.grip = name, grip
        self.times, self.forces = [t], [(0.0, 0.0, 0.0)]
        self._functions = tuple(self._component(i) for i in range(3))

    def _component(self, i: int) -> Callable[[float], float]:
        times, forces = self.times, self.forces

        def pull(t: float) -> float:
            k = bisect_right(times, t) - 1
            if k < 0 or k + 1 >= len(times):
                return forces[max(k, 0)][i]
            slope = (forces[k + 1][i] - forces[k][i]) / (times[k + 1] - times[k])
            return forces[k][i] + slope * (t - times[k])

        return pull

    def tell(self, t: float, force: np.ndarray) -> None:
        """The force (3,) [N] at t [s], later than what was told before."""
        self.times.append(t)
        self.forces.append((float(force[0]), float(force[1]), float(force[2])))

    def forget(self, count: int) -> None:
        """All but the first `count` that was told."""
        del self.times[count:], self.forces[count:]

    def acting(self) -> AppliedForce:
        """The force while it is pulled."""
        return AppliedForce(self.name, self.grip.body, force=self._functions, anchor=tuple(self.grip.p_B.tolist()))

    def recorded(self) -> AppliedForce:
        """The same force as plain data."""
        times, forces = list(self.times), list(self.forces)
        if len(times) == 1:
            times.append(math.nextafter(times[0], math.inf))
            forces.append(forces[0])
        components = tuple(Table(times, [force[i] for force in forces]) for i in range(3))
        return AppliedForce(self.name, self.grip.body, force=components, anchor=tuple(self.grip.p_B.tolist()))


def force_of(grip: Grip, target: np.ndarray, p: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, bool]:
    """F (3,) [N] from the hand, the point and its velocity, and whether it is as large as it may be."""
    force = grip.stiffness * (target - p) - grip.damping * v
    size = float(np.linalg.norm(force))
    if size > grip.most:
        return force * (grip.most / size), True
    return force, False

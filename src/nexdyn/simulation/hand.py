"""A hand that pulls a point of a body: a critically damped spring to where the hand is, weighed by the body's mass.

    F = k (x − p) − c v,   k = m ω²,   c = 2 m ω            x the hand, p and v the point and its velocity, m the body's mass
    ω = min(2π f √s, 1/(8 h))                                s the strength, h the step of the method
    |F| ≤ k L/2                                              L the length of the mechanism

A body that is free then follows the hand as fast as it can without swinging past it.

The force is computed at times t_k, applied with its value of t_k at t_k+1, and linear in between. So it is a function of time that is
known before the steps in which it acts, as an applied force is; its table gives the same motion again. The delay must not make the
spring unstable. A point at the end of a thin rod has the mass m/4, and with it

    4 c (t_k+1 − t_k)/m < 1,   t_k+1 − t_k < 1/(8 ω)
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
FARTHEST = 1e12
"""Coordinates of points [m] below which forces stay finite."""


class Grip(NamedTuple):
    """What a hand holds: a body, the point p_B (3,) [m] in its frame, and the numbers of the spring."""

    body: str
    p_B: np.ndarray
    stiffness: float
    damping: float
    most: float
    """Largest force [N]."""
    apart: float
    """Largest time between two computations of the force [s]."""


def vector(x: Any, what: str) -> np.ndarray:
    """Three finite numbers (3,); InputError names what they are of."""
    try:
        found = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (3,) or not np.abs(found).max(initial=0.0) < FARTHEST:
        raise InputError(f"{what} is {x!r}; three finite numbers [m] are needed")
    return found


def grip(system: System, body: str, p_B: Any, strength: float, length: float, step: float) -> Grip:
    """How a hand of some strength holds a point of a body, under a method of some step [s], 0 for none. InputError for the ground, what
    is no point and no strength."""
    held = system.body(body)
    if held.is_ground:
        raise InputError("the ground cannot be pulled; a body can")
    p = vector(p_B, f"the point of {body!r}, in its axes,")
    if isinstance(strength, bool) or not isinstance(strength, int | float) or not WEAKEST <= strength <= STRONGEST:
        raise InputError(f"strength is {strength!r}; a number from {WEAKEST:g} to {STRONGEST:g} is needed")
    mass = float(held.resolved(system.values).mass)
    if not mass > 0.0:
        masses = [float(other.resolved(system.values).mass) for other in system.bodies.values()]
        mass = sum(masses) / len(masses) or 1.0
    omega = 2.0 * math.pi * FREQUENCY * math.sqrt(strength)
    if step > 0.0:
        omega = min(omega, 1.0 / (8.0 * step))
    stiffness = mass * omega**2
    return Grip(body, p, stiffness, 2.0 * mass * omega, 0.5 * stiffness * length, 1.0 / (8.0 * omega))


class Pull:
    """The force of one grip over time (:class:`Grip`), linear between the times at which it was told; the last holds until the next is."""

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

    def at(self, t: float) -> np.ndarray:
        """The force (3,) [N] at t [s]."""
        return np.array([component(t) for component in self._functions])

    def forget(self, count: int) -> None:
        """All but the first `count` that was told."""
        del self.times[count:], self.forces[count:]

    def acting(self) -> AppliedForce:
        """The force while it is pulled."""
        return AppliedForce(self.name, self.grip.body, force=self._functions, anchor=tuple(self.grip.p_B.tolist()))

    def recorded(self) -> AppliedForce:
        """The same force as plain data; none after the last time."""
        times, forces = list(self.times), list(self.forces)
        if len(times) == 1 or any(forces[-1]):
            times.append(math.nextafter(times[-1], math.inf))
            forces.append((0.0, 0.0, 0.0))
        components = tuple(Table(times, [force[i] for force in forces]) for i in range(3))
        return AppliedForce(self.name, self.grip.body, force=components, anchor=tuple(self.grip.p_B.tolist()))


def force_of(grip: Grip, target: np.ndarray, p: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, bool]:
    """F (3,) [N] from the hand, the point and its velocity, and whether it is as large as it may be."""
    force = grip.stiffness * (target - p) - grip.damping * v
    size = float(np.linalg.norm(force))
    if size > grip.most:
        return force * (grip.most / size), True
    return force, False

"""What to do where an explicit step was too long for dry friction.

A bristle that slides follows  ż = v − |v| z / z_s,  z_s = F_c/σ₀,  with the rate |v|/z_s, and one that sticks swings with √(σ₀/m):
an explicit step dt is stable up to |v| dt ≈ c z_s, c = 2.78 for Runge–Kutta 4, 2 for Euler's methods (``forces.joint_friction``).

Longer ones need not end in numbers that overflow: they throw the joint to and fro. But they break a law of the bristle, |z| ≤ F_s/σ₀.
"""

from __future__ import annotations

import numpy as np

from nexdyn.errors import SolveError
from nexdyn.forces import ContactForce, JointFriction
from nexdyn.integrate.methods import RungeKutta4
from nexdyn.model.system import System

REAL_AXIS = {RungeKutta4.name: 2.78}
"""How far methods are stable along the negative real axis; 2 of those not here."""

BEYOND = 4.0
"""Times F_s/σ₀ that no stable step reaches: near their limit a bristle that turns over swings out to three times."""


def _bristles(system: System) -> list[tuple[int, JointFriction, list[float]]]:
    """The bristles of a system with their place in z and their data."""
    found, place = [], 0
    for force in system.forces.values():
        if isinstance(force, JointFriction):
            found.append((place, force, force.data(system.values)))
        place += len(force.states(system.values))
    return found


def bounds(system: System, size: int, nz: int) -> np.ndarray:
    """The largest |y| (size,) that explicit steps may reach, its last nz components the states of forces: that of bristles,
    of others what is finite."""
    most = np.full(size, np.finfo(float).max)
    for place, force, (_, static, _, stiffness, *_) in _bristles(system):
        if not force.is_off:
            most[size - nz + place] = BEYOND * static / stiffness
    return most


def refuse_bent(system: System, bad: int, z: np.ndarray, t: float, dt: float, method: str) -> None:
    """SolveError, without a result, where state `bad` of z (nz,) is a bristle's that steps dt [s] have bent beyond its bound."""
    for place, force, (_, static, _, stiffness, *_) in _bristles(system):
        if place == bad and np.isfinite(z[bad]):
            message = (
                f"the bristle of {force} is bent by {abs(z[place]):.3g} at t = {t:g} s, and cannot be by more than "
                f"static/stiffness = {static / stiffness:.3g}: steps are too long for it"
            )
            raise SolveError(message + bristle_advice(system, dt, method), time=t, where=force.name)


def bristle_advice(system: System, dt: float | None, method: str) -> str:
    """Of the stiffest bristle how long steps may be, to be appended to the message of a run that failed; "" without one.

    dt [s]: the explicit step that failed, None of an adaptive method.
    """
    found = [(numbers[0] / numbers[3], force) for _, force, numbers in _bristles(system)]
    if dt is None or not found:
        return ""
    give, force = min(found, key=lambda one: one[0])
    limit = REAL_AXIS.get(method, 2.0)
    return (
        f"; the bristle of {force} slides after sliding/stiffness = {give:.3g}, and an explicit step must stay below {limit:g} times "
        f"that over the joint's speed: reduce dt = {dt:g} s or its stiffness, or take HHT or DormandPrince"
    )


def sticking_advice(system: System) -> str:
    """What to try where Newton's iteration fails in a step of constant length, to be appended; "" where nothing sticks."""
    found = [
        force
        for force in system.forces.values()
        if not force.is_off and (isinstance(force, JointFriction) or (isinstance(force, ContactForce) and force.sticks))
    ]
    if not found:
        return ""
    return f"; {found[0]} may stick or break away within the step: take HHT() with steps of its own, or reduce its stiffness"


def with_advice(error: SolveError, system: System, dt: float | None, method: str) -> SolveError:
    """An error of a force with that advice behind it, where the force is a bristle."""
    advice = (
        bristle_advice(system, dt, method) if isinstance(system.forces.get(error.where or ""), JointFriction) else ""
    )
    if not advice:
        return error
    longer = SolveError(f"{error}{advice}", time=error.time, where=error.where, result=error.result)
    longer.__cause__ = error.__cause__
    return longer

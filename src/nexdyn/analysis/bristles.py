"""What to do where an explicit step was too long for dry friction.

A bristle that slides follows  ż = v − |v| z / z_s,  z_s = F_c/σ₀,  with the rate |v|/z_s, and one that sticks swings with √(σ₀/m):
an explicit step dt is stable up to |v| dt ≈ c z_s, c = 2.78 for Runge–Kutta 4, 2 for Euler's methods (``forces.joint_friction``).
"""

from __future__ import annotations

from nexdyn.errors import SolveError
from nexdyn.forces import JointFriction
from nexdyn.integrate.methods import RungeKutta4
from nexdyn.model.system import System

REAL_AXIS = {RungeKutta4.name: 2.78}
"""How far methods are stable along the negative real axis; 2 of those not here."""


def bristle_advice(system: System, dt: float | None, method: str) -> str:
    """Of the stiffest bristle how long steps may be, to be appended to the message of a run that failed; "" without one.

    dt [s]: the explicit step that failed, None of an adaptive method.
    """
    found = [
        (float(numbers[0] / numbers[3]), force)
        for force in system.forces.values()
        if isinstance(force, JointFriction)
        for numbers in (force.data(system.values),)
    ]
    if dt is None or not found:
        return ""
    give, force = min(found, key=lambda one: one[0])
    limit = REAL_AXIS.get(method, 2.0)
    return (
        f"; the bristle of {force} slides after sliding/stiffness = {give:.3g}, and an explicit step must stay below {limit:g} times "
        f"that over the joint's speed: reduce dt = {dt:g} s or its stiffness, or take HHT or DormandPrince"
    )


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

"""Energy that grows where nothing in the mechanism gives any: explicit steps too long for a contact, which throw bodies off.

    E(t) − E(0) > GROWN max(max T, max |U − U₀|)

An explicit step is stable in a contact of stiffness k' = df/dδ up to about c √(m/k'), c = 2.8 of Runge–Kutta 4 and 2 of Euler's methods,
m that of both bodies. A longer one ends in no number that overflows: a ball that falls by 0.1 m may rise by a kilometre.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nexdyn.assembly.contact_steps import constant_step, limit_of
from nexdyn.forces.contact import ContactForce
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.simulation.users import functions_of

if TYPE_CHECKING:
    from nexdyn.integrate.methods import Method

GROWN = 0.1
"""The part of the energy that moves by which it may grow."""
LOOKED_AT = 50
"""How many states are looked at."""


def is_watched(system: System, method: Method) -> bool:
    """Whether steps may be too long for a contact, and energy tells it: constant explicit steps, and nothing that gives energy."""
    explicit = constant_step(method) is not None
    touching = any(isinstance(force, ContactForce) and not force.is_off for force in system.forces.values())
    if not explicit or not touching or system.drivers or next(iter(functions_of(system)), None) is not None:
        return False
    return not any(force.gives(system.values) for force in system.forces.values() if not force.is_off)


def growth_of(seen: Result, whole: Result, method: Method) -> str:
    """What is to be said of a run, of which a few states are `seen`, whose energy has grown; "" where it has not."""
    E = seen.observed.energies
    T, total = E["kinetic_energy"], E["total_energy"]
    U = E["gravitational_energy"] + E["elastic_energy"]
    moved, grown = max(float(T[0]), float(np.abs(U - U[0]).max())), float(total.max() - total[0])
    if not grown > GROWN * moved:
        return ""
    when = float(seen.recording.t[int(np.argmax(total > total[0] + GROWN * moved))])
    dt = float(getattr(method, "dt", 0.0))
    return (
        f"the energy has grown by {grown:.3g} J, and nothing in the mechanism gives any: steps of dt = {dt:g} s are too long for a contact "
        f"(before t = {when:g} s){_stable(whole, method)}. Reduce dt or the stiffness, or take HHT or DormandPrince"
    )


def _stable(result: Result, method: Method) -> str:
    """Of the contact that was stiffest how long steps may be, as a clause; "" where no state shows one."""
    system, shortest, found = result.system, math.inf, ""
    limit = limit_of(method)
    for name, force in system.forces.items():
        if not isinstance(force, ContactForce) or force.is_off:
            continue
        seen = result.contacts(name)
        law, depth = force.law(system.values), float(seen.penetration.max())
        if not depth > 0.0:
            continue
        slope = law.stiffness * law.exponent * depth ** (law.exponent - 1.0)
        if "area" in seen and float(seen.area.max()) > 0.0:
            slope = law.stiffness * float(seen.area.max())
        bodies = [system.bodies.get(frame.body) for frame in force.frames(system)]
        inverse = sum(1.0 / m for b in bodies if b is not None and (m := b.resolved(system.values).mass) > 0.0)
        step = limit / math.sqrt(slope * inverse) if inverse > 0.0 else math.inf
        if step < shortest:
            shortest, found = step, f"; {force} takes {step:.2g} s at most, pressed in by {depth:.2g} m"
    return found

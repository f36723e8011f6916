"""Energy that grows where nothing in the mechanism gives any: constant steps too long for a contact, which throw bodies off.

    E(t) − E(0) > GROWN max(T(0), max |U − U₀|) + ROUNDED max |U|

An explicit step is stable in a contact of stiffness k' = df/dδ up to about c √(m/k'), c = 2.8 of Runge–Kutta 4 and 2 of Euler's methods,
m that of both bodies. A longer one ends in no number that overflows: a ball that falls by 0.1 m may rise by a kilometre: an error.

A step of HHT-α is stable at any length, but a strike lasts π √(m/k') and more: where it is passed in a step or two, what is left of it
when the bodies part is anything up to a multiple of what there was. With `STRIKE` steps in a strike 3 % of the energy may be gained. That
is a warning. Steps that are chosen follow strikes, and implicit Euler and BDF2 lose energy there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nexdyn.assembly.contact_steps import Pose, Yielding, constant_step, limit_of, square_of
from nexdyn.forces.contact import ContactForce
from nexdyn.integrate.methods import HHT
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.simulation.users import functions_of
from nexdyn.spatial.rotations import rotation_matrix

if TYPE_CHECKING:
    from nexdyn.integrate.methods import Method

GROWN = 0.1
"""The part of the energy that moves by which it may grow."""
ROUNDED = 1e-12
"""The part of the energy that may be rounding: of what rests nothing moves."""
LOOKED_AT = 50
"""How many states are looked at."""
STRIKE = 5
"""Steps of HHT-α that a strike takes."""


class Growth(NamedTuple):
    """Energy that has grown [J], and what is to be said of it."""

    energy: float
    text: str


def is_watched(system: System, method: Method) -> bool:
    """Whether steps may be too long for a contact, and energy tells it: constant steps, explicit or of HHT-α, and nothing that gives
    energy, nor events that change anything."""
    constant = constant_step(method) is not None or (isinstance(method, HHT) and method.dt is not None)
    touching = any(isinstance(force, ContactForce) and not force.is_off for force in system.forces.values())
    if not constant or not touching or system.drivers or next(iter(functions_of(system)), None) is not None:
        return False
    if any(event.off or event.on or event.parameters or event.action is not None for event in system.events.values()):
        return False
    return not any(force.gives(system.values) for force in system.forces.values() if not force.is_off)


def growth_of(seen: Result, whole: Result, method: Method) -> Growth | None:
    """What is to be said of a run, of which a few states are `seen`, whose energy has grown; None where it has not."""
    E = seen.observed.energies
    T, total = E["kinetic_energy"], E["total_energy"]
    U = E["gravitational_energy"] + E["elastic_energy"]
    moved, grown = max(float(T[0]), float(np.abs(U - U[0]).max())), float(total.max() - total[0])
    allowed = GROWN * moved + ROUNDED * float(np.abs(U).max())
    if not grown > allowed:
        return None
    when = float(seen.recording.t[int(np.argmax(total > total[0] + allowed))])
    dt = float(getattr(method, "dt", 0.0))
    if isinstance(method, HHT):
        advice = "Reduce dt, or take HHT without dt, whose steps follow strikes"
    else:
        advice = "Reduce dt or the stiffness, or take HHT or DormandPrince"
    text = (
        f"the energy has grown by {grown:.3g} J, and nothing in the mechanism gives any: steps of dt = {dt:g} s are too long for a contact "
        f"(before t = {when:g} s){_longest(whole, method)}. {advice}"
    )
    return Growth(grown, text)


def _longest(result: Result, method: Method) -> str:
    """Of the contact that was stiffest how long steps may be, as a clause; "" where no state shows one."""
    fastest, found = 0.0, ""
    size = max(float(np.abs(result.position(name).values[0]).max()) for name in result.system.bodies)
    for name, force in result.system.forces.items():
        if not isinstance(force, ContactForce) or force.is_off:
            continue
        depths = result.contacts(name).penetration.values
        k = int(depths.reshape(len(depths), -1).max(axis=1).argmax())
        depth = float(depths[k].max())
        if not depth > ROUNDED * size:
            continue
        fast = math.sqrt(square_of(force, result.system, Yielding(result.system, _pose_at(result, k))).told)
        if fast > fastest:
            step = (math.pi / STRIKE if isinstance(method, HHT) else limit_of(method)) / fast
            fastest, found = fast, f"; {force} takes {step:.2g} s at most, pressed in by {depth:.2g} m"
    return found


def _pose_at(result: Result, k: int) -> Pose:
    """Orientation (3, 3) and position (3,) [m] of each body in row k."""

    def pose(body: str) -> tuple[np.ndarray, np.ndarray]:
        if body == "ground":
            return np.eye(3), np.zeros(3)
        return rotation_matrix(result.orientation(body).values[k]), result.position(body).values[k]

    return pose

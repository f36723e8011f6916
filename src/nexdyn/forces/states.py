"""Forces with states of their own: where the states lie, and how they move with a run.

    ż = f(t, q, v, z)        explicit methods integrate z beside the motion, y = (ξ, v, z)
    z(k Δ) is sampled        a digital controller: its output is held until its next time, a state of rate 0
    |y| ≤ bound              of friction that sticks in a contact: laid and shortened behind every explicit step (``sticking``)
    θ̇ = g · ω                the angle of a torsion spring whose turns no coordinate counts: the reference of its own angle, behind z

Tables of forces hold `z` (nz,), which a formulation fills before the forces act, and `rate` (nz,), which they fill. An element
with states has `states` of them from `state` on (`ForceEntry`). In lanes only friction of contacts has states, each a pack.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nexdyn.forces import actuator, kinds
from nexdyn.forces.nearby import count as count_near
from nexdyn.forces.page import keep
from nexdyn.forces.tables import UNSETTLED, ForceEntries, ForceTables
from nexdyn.forces.torsion_spring import Twist, keep_reference
from nexdyn.generic import defines, generic
from nexdyn.kernel import formula, overloaded
from nexdyn.model.system import System

ACTUATOR, CONTACT, SURFACE = kinds.ACTUATOR, kinds.CONTACT, kinds.SURFACE
DUE = 1e-9
"""Part of the sample time by which a sample may come early: rounding of the step."""


def confine_one(y, K, i, j, z, inner, m):
    """y[j] = z[m] and K[i, j] = inner[m]; lanes whose tables are of one system have none of these."""
    y[j], K[i, j] = z[m], inner[m]


@overloaded(confine_one)
def _confine_one(y, K, i, j, z, inner, m):
    if hasattr(z, "dtype") and not hasattr(y, "dtype"):
        return lambda y, K, i, j, z, inner, m: None
    return confine_one


@formula
def of_contact(forces, e):
    """How many states of force e are the components of one vector that friction of a contact holds; 0 of no contact."""
    kind = ForceEntries(forces.index)[e].kind
    return 3 if kind == CONTACT else (4 if kind == SURFACE else 0)


@formula
def count(forces):
    """How many states the forces have; z itself may lie in lanes."""
    entries = ForceEntries(forces.index)
    if len(entries) == 0:
        return 0
    last = entries[len(entries) - 1]
    return last.state + last.states


@formula
def wound(forces, i):
    """The data of the i-th torsion spring whose angle is a state."""
    return Twist(forces.data, ForceEntries(forces.index)[forces.winding[i]].first)


stretches = generic("stretches", "Of how many stretches y consists whose states may differ from 0.")
stretch = generic("stretch", "The p-th of these: (first, end).")
look_at_all = generic("look_at_all", "States have been put from outside.")
look_at_less = generic("look_at_less", "A step is done: K of contacts off the list ← 0.")
put_states = generic("put_states", "z of the forces from y[first:].")
put_rates = generic("put_rates", "K[i, first:] = ż.")
record_states = generic("record_states", "out[r, first:] = z.")
set_states = generic("set_states", "z of the forces, and angles behind them, from row s of an array.")
scale_states = generic("scale_states", "s[first:] = |y[first:]|, of angles 1.")
confine_states = generic(
    "confine_states", "y[first:] of contacts as the forces have laid and shortened it, and their K[i, first:] for it."
)
next_sample = generic("next_sample", "When the next sample is due [s]; ∞ where nothing is sampled.")
sample_forces = generic(
    "sample_forces", "Take the samples that are due at t into z and y[first:]; how many there were."
)


def are_few(forces, y):
    """Whether states of forces on the list alone are looked at: those of the others are 0, as are their rates in K. In lanes all are."""
    return isinstance(y, np.ndarray) and forces.unsettled[0] <= 0.0


@overloaded(are_few)
def _are_few(forces, y):
    if not hasattr(y, "dtype"):
        return lambda forces, y: False
    return lambda forces, y: forces.unsettled[0] <= 0.0


@defines(stretches)
def _(forces: None, y: Any) -> Any:
    return 1


@defines(stretches)
def _(forces: ForceTables, y: Any) -> Any:
    return 2 + count_near(forces) if are_few(forces, y) else 1


@defines(stretch)
def _(forces: None, p: Any, first: Any, size: Any) -> Any:
    return 0, size


@defines(stretch)
def _(forces: ForceTables, p: Any, first: Any, size: Any) -> Any:
    if forces.unsettled[0] > 0.0:
        return 0, size
    if p == 0:
        return 0, first
    if p > count_near(forces):
        return first + count(forces), size
    force = ForceEntries(forces.index)[forces.acting[p - 1]]
    return first + force.state, first + force.state + force.states


@defines(look_at_all)
def _(forces: None) -> Any:
    return None


@defines(look_at_all)
def _(forces: ForceTables) -> Any:
    forces.unsettled[0] = UNSETTLED


@defines(look_at_less)
def _(forces: None, K: Any, first: Any) -> Any:
    return None


@defines(look_at_less)
def _(forces: ForceTables, K: Any, first: Any) -> Any:
    if len(forces.watched) == 0 or forces.unsettled[0] <= 0.0:
        return
    forces.unsettled[0] -= 1.0
    n = 0
    for e in range(len(forces.index)):
        if n < count_near(forces) and forces.acting[n] == e:
            n += 1
            continue
        force = ForceEntries(forces.index)[e]
        for i in range(len(K)):
            for m in range(first + force.state, first + force.state + force.states):
                K[i, m] = 0.0


@defines(put_states)
def _(forces: None, y: Any, first: Any) -> Any:
    return None


@defines(put_states)
def _(forces: ForceTables, y: Any, first: Any) -> Any:
    if are_few(forces, y):
        for n in range(count_near(forces)):
            force = ForceEntries(forces.index)[forces.acting[n]]
            for m in range(force.state, force.state + force.states):
                keep(forces.z, m, y[first + m])
    else:
        for m in range(count(forces)):
            keep(forces.z, m, y[first + m])
    for i in range(len(forces.winding)):
        keep_reference(forces.data, wound(forces, i), y[first + count(forces) + i])


@defines(put_rates)
def _(forces: None, K: Any, i: Any, first: Any) -> Any:
    return None


@defines(put_rates)
def _(forces: ForceTables, K: Any, i: Any, first: Any) -> Any:
    begin = 0
    if are_few(forces, K):
        begin = count(forces)
        for n in range(count_near(forces)):
            force = ForceEntries(forces.index)[forces.acting[n]]
            for m in range(force.state, force.state + force.states):
                K[i, first + m] = forces.rate[m]
    for m in range(begin, count(forces) + len(forces.winding)):
        K[i, first + m] = forces.rate[m]


@defines(record_states)
def _(forces: None, y: Any, first: Any, out: Any, r: Any, column: Any) -> Any:
    return None


@defines(record_states)
def _(forces: ForceTables, y: Any, first: Any, out: Any, r: Any, column: Any) -> Any:
    for m in range(count(forces) + len(forces.winding)):
        out[r, column + m] = y[first + m]


@defines(set_states)
def _(forces: None, z: Any, s: Any) -> Any:
    return None


@defines(set_states)
def _(forces: ForceTables, z: Any, s: Any) -> Any:
    for m in range(count(forces)):
        forces.z[m] = z[s, m]
    for i in range(len(forces.winding)):
        wound(forces, i).reference = z[s, count(forces) + i]


@defines(scale_states)
def _(forces: None, y: Any, s: Any, first: Any) -> Any:
    return None


@defines(scale_states)
def _(forces: ForceTables, y: Any, s: Any, first: Any) -> Any:
    for m in range(count(forces)):
        s[first + m] = abs(y[first + m])
    for e in range(len(forces.index)):
        force = ForceEntries(forces.index)[e]
        together = of_contact(forces, e)
        if together > 0:
            # components of one vector
            for m in range(first + force.state, first + force.state + force.states, together):
                whole = 0.0
                for i in range(m, m + together):
                    whole += s[i]
                for i in range(m, m + together):
                    s[i] = whole
    for i in range(len(forces.winding)):
        s[first + count(forces) + i] = 1.0


@defines(confine_states)
def _(forces: None, y: Any, K: Any, i: Any, first: Any) -> Any:
    return None


@defines(confine_states)
def _(forces: ForceTables, y: Any, K: Any, i: Any, first: Any) -> Any:
    few = are_few(forces, y)
    for n in range(count_near(forces) if few else len(forces.index)):
        e = forces.acting[n] if few else n
        force = ForceEntries(forces.index)[e]
        if of_contact(forces, e) > 0:
            for m in range(force.state, force.state + force.states):
                if force.off != 0:
                    forces.inside[m] = forces.inner[m] = 0.0
                confine_one(y, K, i, first + m, forces.inside, forces.inner, m)


@formula
def is_sampled(tables, e):
    """Whether element e is a digital controller."""
    force = ForceEntries(tables.index)[e]
    return force.states > 0 and force.kind == ACTUATOR and actuator.Drive(tables.data, force.first).sample > 0.0


@defines(next_sample)
def _(forces: None) -> Any:
    return np.inf


@defines(next_sample)
def _(forces: ForceTables) -> Any:
    when = np.inf
    for n in range(count_near(forces)):
        e = forces.acting[n]
        if is_sampled(forces, e):
            when = min(when, actuator.DriveStates(forces.z, ForceEntries(forces.index)[e].state).next)
    return when


@defines(sample_forces)
def _(forces: None, t: Any, q: Any, v: Any, y: Any, first: Any) -> Any:
    return 0


@defines(sample_forces)
def _(forces: ForceTables, t: Any, q: Any, v: Any, y: Any, first: Any) -> Any:
    entries, count = ForceEntries(forces.index), 0
    for n in range(count_near(forces)):
        e = forces.acting[n]
        if is_sampled(forces, e):
            force = entries[e]
            k, own = force.first, actuator.DriveStates(forces.z, force.state)
            every = actuator.Drive(forces.data, k).sample
            if own.next <= t + DUE * every:
                own.integral, own.held = actuator.sampled(
                    t, forces.data, k, q[force.coordinate], v[force.dof], own.integral
                )
                own.next = every * (np.floor(t / every + 1e-6) + 1.0)
                for m in range(force.state, force.state + force.states):
                    y[first + m] = forces.z[m]
                count += 1
    return count


def state_labels(system: System) -> list[tuple[str, str]]:
    """Label and unit of each state of the forces, in the order of z."""
    return [
        (f"{force.name}.{name}", unit)
        for force in system.forces.values()
        for name, unit, _ in force.states(system.values)
    ]

"""What contacts have turned into heat along a motion, from their laws and the recorded states.

    D(t) = −∫ P dt − ∫ f_t · (R_A u_A − R_B u_B) dt − (U(t) − U(0))

P: the power of a contact's forces on both bodies (``forces``), U what it stores; the second part is what drives surfaces that run, along
which friction f_t acts (``forces.contact``): it takes that and gives the bodies less. The integrals are sums by the trapezoidal rule over
the steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nexdyn.errors import InputError, counted
from nexdyn.forces.contact import ContactForce
from nexdyn.results.contacts import contact_points, contacts_of
from nexdyn.results.forces import body_motion, part_of
from nexdyn.results.segments import segments

if TYPE_CHECKING:
    import xarray as xr

    from nexdyn.model.system import System
    from nexdyn.results.observed import Observed

Array = np.ndarray
WIDTHS = (("contact_force", 3), ("contact_normal", 1), ("contact_direction", 3))
"""Quantities of contacts that tell what friction does, and how many numbers each has."""
MOST_STEPS = 0.9
"""The part of the steps that a result has that holds all of them: events take some back."""


def dissipated(observed: Observed, system: System) -> xr.DataArray:
    """(time, contact) [J] since the first sample, of each contact that was added. InputError where samples are not all steps."""
    import xarray as xr

    recording = observed.recording
    t, contacts = recording.t, contacts_of(system)
    if contacts and (recording.settings.get("thinned") or len(t) < MOST_STEPS * recording.steps):
        raise InputError(
            f"what contacts dissipate is summed over the steps, and this result holds {len(t)} of {counted(recording.steps, 'step')}; "
            "run with output_every=1, and without output_times"
        )
    owners = list(dict.fromkeys(contact.part_of or contact.name for contact in contacts))
    total = np.zeros((len(t), len(owners)))
    for contact in contacts:
        heat = np.zeros(len(t))
        for first, last, part in segments(system, recording):
            force = part.forces[contact.name]
            assert isinstance(force, ContactForce)
            found = part_of(observed, contact.name, first, last, part)
            power, stored = found[1][2] + _drive(observed, part, force, slice(first, last)), found[1][3]
            steps = np.diff(t[first:last])
            work = np.concatenate([[0.0], np.cumsum(0.5 * steps * (power[1:] + power[:-1]))])
            begun = heat[first - 1] if first else 0.0
            heat[first:last] = begun - work - (stored - stored[0])
        total[:, owners.index(contact.part_of or contact.name)] += heat
    attributes = {"units": "J", "long_name": "what contacts have turned into heat"}
    return xr.DataArray(
        total, {"time": t.copy(), "contact": owners}, ["time", "contact"], name="dissipated", attrs=attributes
    )


def _drive(observed: Observed, system: System, force: ContactForce, rows: slice) -> Array:
    """f_t · (R_A u_A − R_B u_B), (N,)."""
    t = observed.recording.t[rows]
    given, n = force.velocities_at(system.values, t), len(t)
    if not any(u.any() for u in given) or force.is_off:
        return np.zeros(n)
    columns = [k for k, point in enumerate(contact_points(system)) if point.force == force.name]
    found = observed.collect(["contact_force", "contact_normal", "contact_direction"])
    f, f_n, normal = (
        found[name].reshape(len(observed.recording.t), -1, width)[rows][:, columns] for name, width in WIDTHS
    )
    f_t, u = (f - f_n * normal).sum(axis=1), np.zeros((n, 3))
    for sign, velocity, frame, (R, _) in zip(
        (1.0, -1.0), given, force.frames(system), force.placed(system.values), strict=True
    ):
        X, _ = body_motion(observed, frame.body, rows)
        # the frames of a force are turned by R from the axes that velocities are given in
        u += sign * np.einsum("tij,tj->ti", X[:, :9].reshape(-1, 3, 3) @ (frame.R_BF @ R.T), velocity)
    return np.asarray((f_t * u).sum(axis=1))

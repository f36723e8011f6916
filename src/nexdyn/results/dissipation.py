"""What contacts have turned into heat along a motion, from their laws and the recorded states.

    D(t) = −∫ P dt − ∫ f · (R_A u_A − R_B u_B) dt − (U(t) − U(0))

P: the power of a contact's forces on both bodies (``forces``), U what it stores; the second part is what drives surfaces that run
(``forces.contact``): friction takes it and gives the bodies less. The integrals are sums by the trapezoidal rule over the steps, so that
D is of second order in these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.contact import ContactForce
from nexdyn.results.contacts import contacts_of
from nexdyn.results.forces import Part, body_motion, part_of
from nexdyn.results.segments import segments

if TYPE_CHECKING:
    import xarray as xr

    from nexdyn.model.system import System
    from nexdyn.results.observed import Observed

Array = np.ndarray
MOST_STEPS = 0.9
"""The part of the steps that a result has that holds all of them: events take some back."""


def dissipated(observed: Observed, system: System) -> xr.DataArray:
    """(time, contact) [J] since the first sample, of each contact that was added. InputError where samples are not all steps."""
    import xarray as xr

    recording = observed.recording
    t, contacts = recording.t, contacts_of(system)
    if contacts and (recording.settings.get("thinned") or len(t) < MOST_STEPS * recording.steps):
        raise InputError(
            f"what contacts dissipate is summed over the steps, and this result holds {len(t)} samples of {recording.steps} steps; "
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
            power, stored = found[1][2] + _drive(observed, part, force, found, slice(first, last)), found[1][3]
            steps = np.diff(t[first:last])
            work = np.concatenate([[0.0], np.cumsum(0.5 * steps * (power[1:] + power[:-1]))])
            begun = heat[first - 1] if first else 0.0
            heat[first:last] = begun - work - (stored - stored[0])
        total[:, owners.index(contact.part_of or contact.name)] += heat
    attributes = {"units": "J", "long_name": "what contacts have turned into heat"}
    return xr.DataArray(
        total, {"time": t.copy(), "contact": owners}, ["time", "contact"], name="dissipated", attrs=attributes
    )


def _drive(observed: Observed, system: System, force: ContactForce, found: Part, rows: slice) -> Array:
    """f · (R_A u_A − R_B u_B), (N,)."""
    given = [
        np.array(force._floats(attribute, 3, system.values))
        for attribute in ("surface_velocity_a", "surface_velocity_b")
    ]
    if not any(u.any() for u in given):
        return np.zeros(len(found[1][2]))
    f, u = found[1][1][:, 0, 1], np.zeros((len(found[1][2]), 3))
    for sign, velocity, frame, (R, _) in zip(
        (1.0, -1.0), given, force.frames(system), force.placed(system.values), strict=True
    ):
        X, _ = body_motion(observed, frame.body, rows)
        # the axes of `a` and `b` that velocities are given in are those of their bodies or markers
        u += sign * np.einsum("tij,j->ti", X[:, :9].reshape(-1, 3, 3), frame.R_BF @ R.T @ velocity)
    return np.asarray((f * u).sum(axis=1))

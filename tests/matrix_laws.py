"""What analyses say that compute no motion, as laws that runs in minimal coordinates bear out.

    equilibrium           a run that starts where the system rests has no acceleration
    inverse dynamics      a motion under the system's own forces takes no other effort

Each law returns the part of what there is by which it is missed. Runs obey every attribute, as the other cells show, so an analysis that
ignores one misses.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

import nexdyn as nx
from nexdyn.errors import InputError, SolveError

PUSH, SECONDS = (0.018, 0.015, 0.012), 0.1
"""How fast a push of the hand grows from 0 [N/s], and how long a motion lasts [s]."""


class Probe:
    """A system with a push of its hand, and what several laws ask of it."""

    def __init__(self, system: nx.System) -> None:
        self.system = system
        system.add_force(nx.AppliedForce("push", "hand", force=[f"={x}*t" for x in PUSH]))

    @functools.cached_property
    def rest(self) -> nx.Equilibrium:
        return nx.equilibrium(self.system)


def first_accelerations(system: nx.System, **options: object) -> np.ndarray:
    """Of all bodies (6 nb,), with a metre for a radian."""
    result = nx.simulate(system, 1e-4, nx.RungeKutta4(1e-4), **options)
    rates = [getattr(result, x)(b).values[0] for x in ("acceleration", "angular_acceleration") for b in system.bodies]
    return np.concatenate(rates)


def rest_stays(probe: Probe) -> float:
    """Acceleration at rest, as a part of that where the system is described."""
    at_rest = first_accelerations(probe.system, initial=probe.rest.report)
    return float(np.linalg.norm(at_rest) / np.linalg.norm(first_accelerations(probe.system)))


def motion_takes_no_effort(probe: Probe) -> float:
    """Largest effort that a motion takes besides the forces that made it, as a part of the largest reaction."""
    result = nx.simulate(probe.system, SECONDS, nx.RungeKutta4(1e-3))
    reactions = max(np.abs(result.reaction(joint).values).max() for joint in probe.system.joints)
    return float(np.abs(efforts(probe.system, result).tau).max() / reactions)


def efforts(system: nx.System, result: nx.Result) -> nx.Efforts:
    """What the motion takes; with loops of the first joints that can give it."""
    refused: Exception | None = None
    joints = [name for name, joint in system.joints.items() if joint.nv]
    for count in (0, 1, 2, 3):
        for actuators in itertools.combinations(joints, count):
            try:
                return nx.inverse_dynamics(system, result, actuators=actuators)
            except (InputError, SolveError) as error:
                refused = error
    assert refused is not None
    raise refused

"""How a result ends: its last sample, its bodies and joints there, and the system as events have left it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.results.segments import last_system
from nexdyn.results.signs import has_quaternion
from nexdyn.spatial.rotations import rotation_matrix

if TYPE_CHECKING:
    from nexdyn.absolute.model.model import AbsoluteModel


def last_sample(initial: Result) -> Result:
    """The last sample of a result alone, of the system that events have left."""
    return sample(initial, len(initial.recording.t) - 1)


def sample(initial: Result, k: int) -> Result:
    """The k-th sample of a result alone, of the system as events have left it until then."""
    r = initial.recording
    happened = [event for event in r.settings.get("events", []) if event["time"] < r.t[k]]
    r = replace(r, settings={**r.settings, "events": happened})
    of_samples = ("t", "q", "v", "a", "z", "followed", "multipliers", "violation")
    last = {name: x[k : k + 1] for name in of_samples if (x := getattr(r, name, None)) is not None and x.size}
    settings = {key: x for key, x in r.settings.items() if key not in ("events", "changed")}
    system = last_system(initial.system, r)
    return initial.of_samples(replace(r, **last, settings=settings, restart=None), slice(k, k + 1), system)


def bodies_at_end(initial: Result, model: AbsoluteModel) -> tuple[np.ndarray, np.ndarray]:
    """Poses (nb + 1, 7) and velocities (nb + 1, 6) of the bodies of `model` at the end of a result. InputError where it lacks one."""
    return seen_bodies(last_sample(initial).observed, model)


def seen_bodies(seen: Any, model: AbsoluteModel) -> tuple[np.ndarray, np.ndarray]:
    """The same at the last sample that is observed."""
    names = list(seen.labels.dims["body"])
    if sorted(names) != sorted(model.bodies[1:]):
        raise InputError(
            f"initial is a result of another mechanism, with the bodies {', '.join(names[:8])}; "
            f"{model.system.name!r} has {', '.join(model.bodies[1:9])}"
        )
    place = [model.body_index[name] for name in names]
    found = {key: x[-1] for key, x in seen.collect(("orientation", "position", "angular_velocity", "velocity")).items()}
    q, v = model.q.copy(), np.zeros_like(model.v)
    q[place, :4], q[place, 4:] = found["orientation"], found["position"]
    v[place, :3] = np.einsum("nji,nj->ni", rotation_matrix(q[place, :4]), found["angular_velocity"])
    v[place, 3:] = found["velocity"]
    return q, v


def joints_at_end(initial: Result, system: System) -> dict[str, np.ndarray]:
    """Coordinates at the end of a result of the joints of `system` that have any, angles counted as they were."""
    seen = last_sample(initial).observed
    return {
        name: seen.of_joint("joint_position", name)[-1]
        for name, joint in system.joints.items()
        if name in initial.system.joints and joint.nv and joint.tree and len(joint.coordinates) == joint.nq
    }


def quaternions_at_end(initial: Result, system: System) -> dict[str, np.ndarray]:
    """Coordinates at the end of a result of the ball and free joints of `system`."""
    seen = last_sample(initial).observed
    return {
        name: seen.of_joint("joint_position", name)[-1]
        for name, joint in system.joints.items()
        if name in initial.system.joints and has_quaternion(joint)
    }

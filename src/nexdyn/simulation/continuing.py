"""From the end of a result: its last sample, and how it was run.

Functions of the user's may keep a state, too: an object with `save_state()` and `load_state(state)` is asked for it; one whose
attributes change in a run and that has neither is refused where another simulation is to go on from its end (``users``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nexdyn.assembly.report import AssemblyReport, WithPose, WithReport
from nexdyn.errors import InputError
from nexdyn.integrate.methods import METHODS, Loops
from nexdyn.model.parameters import number
from nexdyn.model.system import System
from nexdyn.results.batch import BatchResult
from nexdyn.results.ending import bodies_at_end as bodies_at_end
from nexdyn.results.ending import joints_at_end as joints_at_end
from nexdyn.results.ending import last_sample as last_sample
from nexdyn.results.ending import quaternions_at_end as quaternions_at_end
from nexdyn.results.ending import sample as sample
from nexdyn.results.ending import seen_bodies as seen_bodies
from nexdyn.results.restart import Restart
from nexdyn.results.result import Result
from nexdyn.results.segments import changes, last_system
from nexdyn.results.signs import has_quaternion
from nexdyn.simulation.needs import needs_rows
from nexdyn.tree.tree import Tree

NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])
OPENED = 1e-9
"""Gap of the constraints, in radians and in units of the mechanism's size, that no rounding makes."""
OTHERWISE = 1e-9
"""Part of the largest acceleration by which those of the same mechanism, described anew, may differ."""


def arguments(restart: Restart) -> dict[str, Any]:
    """What a run was given beside its start, as arguments of `nx.simulate`, to go on in the same way."""
    found = dict(restart.notes.get("run", {}))
    method = dict(found.pop("method", {}))
    if method:
        made = METHODS.get(name := method.pop("name"))
        found["method"] = name if made is None else made(**method)  # one of the user's own is told where it is to go on
    if loops := found.pop("loops", None):
        found["loops"] = Loops(**loops)
    return found


def begun(system: System, initial: Any) -> tuple[System, Any]:
    """`system` as events of the runs before have left it, and what to start from: a result, a report, of a posture its report,
    or None. InputError for anything else."""
    if isinstance(initial, WithPose):
        initial = initial.at_rest(system)
    if isinstance(initial, WithReport):
        initial = initial.report
    if isinstance(initial, Result):
        return last_system(system, initial.recording), initial
    if isinstance(initial, BatchResult):
        raise InputError("initial is a BatchResult; give one of its members: initial=result.member(0)")
    if not (initial is None or isinstance(initial, AssemblyReport)):
        raise InputError(
            f"initial is a {type(initial).__name__}; a Result, like the one that simulate returns, the report of "
            f"nx.assemble or nx.equilibrium, or the posture of nx.inverse_kinematics is needed"
        )
    return system, initial


def inherited(initial: Any) -> dict[str, Any]:
    """What events of the runs before have changed, as ``segments.changes`` tells it."""
    return changes(initial.recording) if isinstance(initial, Result) else {}


def of_fields(prefix: str, record: Any, without: tuple[str, ...] = ()) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of a named tuple, as "prefix.field"."""
    for name, x in zip(record._fields, record, strict=True):
        if isinstance(x, np.ndarray) and x.dtype != bool and name not in without:
            yield f"{prefix}.{name}", x


def kept_coordinates(old: System, new: System, observed: Any, sample: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Coordinates and velocities by joint that a tree keeps where parameters change what they mean: where frames of its joints lie in
    their bodies, the pitch of a screw, the ratio of a coupling. Its bodies follow. Loops keep the poses of their bodies as far as they
    close: then there are none, nor where all bodies are where they were."""
    if old is new or needs_rows(new) or set(old.joints) != set(new.joints):
        return {}, {}
    trees = Tree(old), Tree(new)
    if list(trees[0].coordinates) != list(trees[1].coordinates):
        return {}, {}
    names = [name for name in trees[1].coordinates if name in new.joints]
    q, v = (
        {name: observed.of_joint(what, name)[sample] for name in names} for what in ("joint_position", "joint_velocity")
    )
    poses = [tree.pose(_with_coordinates(tree, q)) for tree in trees]
    if all(np.array_equal(x, y) for x, y in zip(*poses, strict=True)):
        return {}, {}
    return q, v


def _with_coordinates(tree: Tree, given: Mapping[str, np.ndarray]) -> np.ndarray:
    """Coordinates (nq,) of a tree: those `given` by joint; 0, or no turn, elsewhere."""
    q = np.zeros(tree.nq)
    for name, place in tree.coordinates.items():
        own = q[place.q]
        own[: 1 if len(own) in (4, 7) else 0] = 1.0
        if name in given:
            own[:] = given[name]
    return q


def is_opened(initial: Result, system: System) -> bool:
    """Whether the mechanism of a result, as it ended, closes where its bodies are, and `system` does not: its sizes are others."""
    from nexdyn.absolute.model.model import absolute_model
    from nexdyn.assembly.assemble import mechanism_length

    last = last_sample(initial)
    if last.system is system:
        return False
    joints, gaps = joints_at_end(initial, system), []
    for of in (last.system, system):
        model = absolute_model(of).started(joints)
        q, t = bodies_at_end(initial, model)[0], float(last.recording.t[0])
        gaps.append(
            np.abs(model.residual(q, t) / np.where(model.row_is_length, mechanism_length(model), 1.0)).max(initial=0.0)
        )
    return bool(gaps[1] > 2.0 * gaps[0] + OPENED)


def acts_otherwise(initial: Result, system: System) -> bool:
    """Whether `system` moves on otherwise from the end of a result than its mechanism would, as that ended."""
    last = last_sample(initial)
    if last.system is system:
        return False
    t = float(last.recording.t[0])
    one, other = (reassembled(of, t, last.observed, None, None).a for of in (last.system, system))
    return not np.allclose(one, other, rtol=0.0, atol=OTHERWISE * float(np.abs(one).max(initial=0.0)))


def keep_signs(q: np.ndarray, tree: Tree, initial: Result) -> np.ndarray:
    """Coordinates q (nq,) of `tree`, their quaternions with the signs that they have at the end of a result; changed in place."""
    for name, before in quaternions_at_end(initial, tree.system).items():
        if name in tree.coordinates:
            own = q[tree.coordinates[name].q][:4]
            own *= np.copysign(1.0, own @ before[:4])
    return q


def quaternions_at_start(system: System, initial: Any, q0: Any) -> dict[str, np.ndarray]:
    """Coordinates of ball and free joints, whose signs a run begins with: as asked, as in the run before, or as described."""
    turning = {name: joint for name, joint in system.joints.items() if has_quaternion(joint)}
    found = {}
    if isinstance(initial, Result):
        found = quaternions_at_end(initial, system)
    elif initial is None:
        for name, joint in turning.items():
            found[name] = NO_TURN if joint.q0 is None else np.asarray(joint.resolved(system.values).q0)
    for name, x in q0.items() if isinstance(q0, Mapping) else ():
        if name in turning:
            found[name] = np.array([number(i, system.values, name) for i in np.atleast_1d(np.asarray(x, dtype=object))])
    return found


def states_of(observed: Any) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Coordinates and velocities at the first sample, by joint."""
    tree = observed.tree
    names = list(tree.coordinates) if hasattr(tree, "coordinates") else [joint.name for joint in tree.joints]
    return tuple(  # type: ignore[return-value]
        {name: observed.of_joint(what, name)[0] for name in names} for what in ("joint_position", "joint_velocity")
    )


def reassembled(
    system: System, t: float, observed: Any, position: Mapping[str, Any] | None, velocity: Mapping[str, Any] | None
) -> AssemblyReport:
    """The assembly at t from the bodies that are `observed`, with other coordinates and velocities by joint."""
    from nexdyn.absolute.model.model import absolute_model
    from nexdyn.assembly.assemble import Start, assemble

    start = Start(*seen_bodies(observed, absolute_model(system)), states_of(observed)[0])
    return assemble(system, t=t, initial=start, q0=position, v0=velocity)

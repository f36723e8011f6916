"""`nx.assemble`: the four initial-condition analyses, in order, and the report.

    redundant constraints → initial configuration → initial velocity → initial acceleration and reactions

A system that cannot be assembled raises AssemblyError, which carries the report: which joints stay open, by how much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.model.configuration import EPS_Q, MAX_ITERATIONS, Configuration, difference, row_units
from nexdyn.absolute.model.driving import refuse_overdriven
from nexdyn.absolute.model.initial import accelerations, consistent_velocity, self_stresses, settled
from nexdyn.absolute.model.kkt import chosen_solver
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.absolute.model.redundancy import Redundancy, find_redundancy
from nexdyn.absolute.motion.tables import centres
from nexdyn.assembly.blas import small_on_one_thread
from nexdyn.assembly.closing import Closing, closed_pose, flipped_joints, joint_gaps
from nexdyn.assembly.followers import carried, put_followers, put_joints, with_following
from nexdyn.assembly.given import given_limit, given_mapping, given_names, given_time
from nexdyn.assembly.loads import generalized_forces, joint_state, velocity_rows
from nexdyn.assembly.notices import gaps_of, gaps_of_tree
from nexdyn.assembly.redundant import redundancy_report
from nexdyn.assembly.report import AssemblyReport, WithReport
from nexdyn.assembly.start_pose import pose_without_loops
from nexdyn.assembly.start_velocity import described_velocity, floating_bodies
from nexdyn.assembly.undetermined import undetermined_bodies
from nexdyn.assembly.walk import without_loops
from nexdyn.errors import AssemblyError, InputError, SingularError, unknown
from nexdyn.linalg.matrices import Matrix
from nexdyn.model.driver import Driver, orientation_wrong_at
from nexdyn.model.joint import Joint
from nexdyn.model.parameters import number
from nexdyn.model.system import System
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.tree.core.compile import joint_class
from nexdyn.tree.states import vector
from nexdyn.tree.tree import Tree

Loads = Callable[[AssemblyReport], Mapping[str, Any]]


class Start(NamedTuple):
    """A state to begin from: poses q (nb + 1, 7) and velocities v (nb + 1, 6) of the bodies as in a report, and what angles of joints
    are counted near, {joint: coordinates}."""

    q: np.ndarray
    v: np.ndarray
    near: Mapping[str, np.ndarray] = {}


EPS_V = 1e-10
"""Most by which velocities may miss a constraint, in units of the mechanism's size."""
AT_REST = 1e-14
"""Speeds [1/s, in units of the mechanism's size] that are rounding of 0, as where a clamp has stopped all."""
COINCIDENT = 1e-12
"""Distances of points, relative to that from the origin, that are rounding."""
HELD = 1e8
"""Weight of a body that is to stay where it is, relative to those of others."""
KEPT = 1e-6
"""Most by which a body may leave the pose that it is given, in rad and in units of the mechanism's size."""
ILL_CONDITIONED = 1e-14
"""Pivots of the equations of motion that span more than this are warned of."""


@small_on_one_thread
def assemble(
    system: System,
    *,
    t: float = 0.0,
    q0: Any = None,
    v0: Any = None,
    initial: Start | AssemblyReport | WithReport | None = None,
    weights: Mapping[str, Any] | None = None,
    velocity_weights: Mapping[str, Any] | None = None,
    locks: Sequence[str] = (),
    translation_limit: float | None = None,
    rotation_limit: float | None = None,
    loads: Loads | None = None,
    solver: str = "lu",
    tolerance: float = EPS_Q,
    max_iterations: int = MAX_ITERATIONS,
) -> AssemblyReport:
    """Analyse `system`: redundant rows, a consistent pose, velocity and acceleration, and every reaction.

    t: time [s] at which drivers and forces are taken.
    q0, v0: {joint: coordinate(s) [rad, m]}, {joint: velocity} that are kept exactly; by default those of the joints. A body that
        floats freely goes by its own name: quaternion and position; angular velocity and velocity in its axes. Or arrays of all
        coordinates and velocities of a tree, in the order of ``nx.Tree(system)``.
    initial: a state to begin from in place of the described one, a report among others, of which q0 and v0 change parts.
    weights: {body: weight or six weights (rotations, then translations)} by which its displacement counts; 1 by default.
    velocity_weights: the same for the change of its velocity.
    locks: bodies that keep their described pose. translation_limit [m], rotation_limit [rad]: how far a body may move.
    loads: forces that depend on accelerations or reactions: a function that is given the report so far, with those of the
        iteration, and returns {body: (force [N], moment [N m])} at the bodies' origins, in world axes.
    solver: of the linear systems, "lu", "qr" (least norm, dense) or "iterative".
    tolerance: of the pose, in rad and in parts of the mechanism's size; max_iterations: most steps of each Newton iteration.

    Raises AssemblyError (its `report` says which joints stay open and which rows conflict); InputError.
    """
    t = given_time(t)
    translation_limit, rotation_limit = (
        given_limit(limit, what)
        for limit, what in ((translation_limit, "translation_limit"), (rotation_limit, "rotation_limit"))
    )
    if not (isinstance(tolerance, int | float) and 0.0 < tolerance < 1e-3):
        raise InputError(f"tolerance is {tolerance!r}; a number above 0 and below 1e-3 is needed")
    if type(max_iterations) is not int or max_iterations < 1:
        raise InputError(f"max_iterations is {max_iterations!r}; a whole number, 1 or more, is needed")
    system.check()
    if wrong := orientation_wrong_at(system, float(t)):
        raise InputError(wrong)
    q0, v0 = named_coordinates(system, q0, "q0"), named_coordinates(system, v0, "v0")
    start = _begun(system, initial)
    model = described = absolute_model(system)
    length = mechanism_length(model)
    W = _weights(model, {} if weights is None else weights, locks, length)
    how = Closing(W, length, float(t), chosen_solver(solver), float(tolerance), max_iterations)
    targets = _targets(system, q0, "q0", described=start is None)
    before = initial.report if isinstance(initial, WithReport) else initial
    if isinstance(before, AssemblyReport):
        model = replace(model, near_start=before.model.near_start)
    model = model.started(start.near if start else {})
    model = model.started(with_following(model, targets.joints))
    tree_gaps: dict[str, tuple[float, float]] = {}
    redundancy, pose, held = _configuration(model, targets, start, how, given_names(locks, "locks"), tree_gaps)
    refuse_overdriven(model, redundancy, pose, how.W, length, how.t)
    report = AssemblyReport(model, redundancy=None, q=pose.q, iterations=pose.iterations, length=length, t=how.t)  # type: ignore[arg-type]
    _check_closed(report, pose, how, held)
    _check_kept(report, targets.bodies)
    if start is None:
        placed = not targets.none and _placed(model, targets)
        report.notices = gaps_of_tree(tree_gaps) if placed else gaps_of(described, pose.q, how)
    _check_limits(report, translation_limit, rotation_limit)

    W = how.W if velocity_weights is None else _weights(model, velocity_weights, (), length)
    wanted = _targets(system, v0, "v0", described=start is None)
    given, guess = _given_velocities(model, pose.q, wanted), _guessed_velocity(model, pose.q, targets, wanted, start)

    def velocity(given: Given | None) -> np.ndarray:
        nu = model.nu(how.t, pose.q)
        return consistent_velocity(model, pose.q, guess, redundancy.kept, nu, W, given, how.solver, how.t)

    report.v = velocity(given)
    _check_velocities(report, redundancy, given, lambda: velocity(None))
    gamma = model.gamma(pose.q, report.v, how.t)
    report.redundancy = redundancy_report(model, redundancy, pose.q, report.v, gamma, how)
    _accelerate(report, redundancy, gamma, loads, how)
    _warn(report)
    return report


def named_coordinates(system: System, given: Any, what: str) -> Mapping[str, Any] | None:
    """Coordinates (what: "q0") or velocities ("v0") by joint: a mapping as it is, an array in the order of the tree."""
    if given is None or isinstance(given, Mapping):
        return given
    tree = Tree(system)
    x = vector(tree, given, what, np.zeros(tree.nq if what == "q0" else tree.nv))
    return {
        name: x[place.q if what == "q0" else place.v]
        for name, place in tree.coordinates.items()
        if name in system.joints
    }


def _begun(system: System, initial: Start | AssemblyReport | WithReport | None) -> Start | None:
    """The state that is given to begin from."""
    if initial is None or isinstance(initial, Start):
        return initial
    if isinstance(initial, WithReport):
        initial = initial.report
    if not isinstance(initial, AssemblyReport):
        raise InputError(
            f"initial is a {type(initial).__name__}; the report of nx.assemble, or what nx.equilibrium returns, is needed"
        )
    if initial.model.system is not system:
        raise InputError(f"initial is the report of another system, {initial.model.system.name!r}")
    return Start(initial.q, initial.v)


def mechanism_length(model: AbsoluteModel) -> float:
    """The size of the mechanism [m]: the largest distance of a joint or body from their centre; where all coincide, how far they lie from
    the origin, may slide, or bodies reach by their radii of inertia; 1 where nothing of that is described."""
    return mechanism_size(model) or max(model.arm, _slides(model.system)) or 1.0


def _slides(system: System) -> float:
    """The largest displacement in the starts and limits of joints [m]."""
    most = 0.0
    for joint in system.joints.values():
        page = joint_class(joint)
        given = joint.resolved(system.values)
        for labels, numbers in (
            (page.coordinate_labels, (given.q0,)),
            (page.velocity_labels, (given.lower, given.upper)),
        ):
            along = [k for k, (_, unit) in enumerate(labels) if unit == "m"]
            for x in numbers:
                if x is not None and len(x) == len(labels):
                    most = max(most, float(np.abs(x[along][np.isfinite(x[along])]).max(initial=0.0)))
    return most


def mechanism_size(model: AbsoluteModel) -> float:
    """The size of the mechanism [m], as `mechanism_length`; 0 if all points coincide."""
    points = [model.q[1:, 4:]]
    for side in (0, 1):
        i = model.tables.pairs[:, side]
        points.append(
            model.q[i, 4:] + np.linalg.norm(model.tables.frames[:, 12 * side + 9 : 12 * side + 12], axis=1)[:, None]
        )
    spread = _spread(np.concatenate(points) if model.nb else np.zeros((1, 3)), model.arm)
    if spread == 0.0 and model.nb:  # a pendulum may be described by its point and a centre of mass beside it
        c = centres(model)[1:]
        spread = _spread(
            np.concatenate(
                [model.q[1:, 4:], model.q[1:, 4:] + np.einsum("nij,nj->ni", rotation_matrix(model.q[1:, :4]), c)]
            ),
            model.arm,
        )
    return spread


def _spread(cloud: np.ndarray, arm: float) -> float:
    """The largest distance of a point from the mean; 0 where it is rounding relative to the largest length described."""
    spread = float(np.linalg.norm(cloud - cloud.mean(axis=0), axis=1).max(initial=0.0))
    return spread if spread > COINCIDENT * max(arm, float(np.abs(cloud).max(initial=0.0))) else 0.0


# --- what is asked for ----------------------------------------------------------------------------------------------


def _weights(model: AbsoluteModel, weights: Mapping[str, Any], locks: Sequence[str], length: float) -> np.ndarray:
    """W (6 nb,): rotations count in rad, translations in L."""
    W = np.ones((model.nb, 6))
    for name, weight in given_mapping(weights, "weights", "body").items():
        if name not in model.system.bodies:
            raise unknown("body", name, model.system.bodies, plural="bodies")
        try:
            w = np.asarray(weight, dtype=float)
        except (TypeError, ValueError, OverflowError):
            w = np.zeros(0)
        if w.shape not in ((), (6,)) or not np.isfinite(w).all() or not (w > 0.0).all():
            raise InputError(
                f"weight of body {name!r} is {weight!r}; a positive number, or six (rotations, translations)"
            )
        W[model.body_index[name] - 1] = w
    for name in given_names(locks, "locks"):
        if name not in model.system.bodies:
            raise unknown("body", name, model.system.bodies, plural="bodies")
        W[model.body_index[name] - 1] *= HELD
    W[:, 3:] /= length**2
    return W.reshape(-1)


class Targets(NamedTuple):
    """The coordinates or velocities that joints are given, and bodies that float freely."""

    joints: dict[str, np.ndarray]
    bodies: dict[str, np.ndarray]

    @property
    def none(self) -> bool:
        return not self.joints and not self.bodies


def _targets(system: System, given: Mapping[str, Any] | None, what: str, described: bool = True) -> Targets:
    """What is given of q0 or v0; `described`: with what joints are given where they are described."""
    attribute = "nq" if what == "q0" else "nv"
    joints: dict[str, np.ndarray] = {}
    bodies: dict[str, np.ndarray] = {}
    for name, joint in system.joints.items():
        if described and getattr(joint, what) is not None and joint.nv:
            joints[name] = np.asarray(getattr(joint.resolved(system.values), what), dtype=float)
    floating = floating_bodies(system) if given and not given.keys() <= system.joints.keys() else ()
    for name, values in (given or {}).items():
        free = name not in system.joints and name in floating
        element = system.body(name) if free else system.joint(name)
        wanted = (7 if what == "q0" else 6) if free else getattr(element, attribute)
        x = np.array(
            [number(i, system.values, f"{what} of {element}") for i in np.atleast_1d(np.asarray(values, dtype=object))]
        )
        if not wanted or x.shape != (wanted,):
            raise InputError(f"{what} of {element} has {x.size} numbers; {wanted} are needed")
        if free:
            bodies[name] = _unit(x, element) if what == "q0" else x
        else:
            joints[name] = x
    return Targets(joints, bodies)


def _unit(q: np.ndarray, body: Any) -> np.ndarray:
    """A pose (7,) with a quaternion of length 1."""
    size = float(np.linalg.norm(q[:4]))
    if not size > 0.0:
        raise InputError(f"q0 of {body} begins with the quaternion {q[:4].tolist()}, which is no rotation")
    return np.concatenate([q[:4] / size, q[4:]])


def _configuration(
    model: AbsoluteModel, targets: Targets, begin: Start | None, how: Closing, locks: Sequence[str],
    tree_gaps: dict[str, tuple[float, float]],
) -> tuple[Redundancy, Configuration, AbsoluteModel]:  # fmt: skip
    """The assembled pose; where joints are given coordinates, they act as drivers that stand still, in the model returned.

    locks: bodies that stay.
    tree_gaps: where joints of a mechanism without loops are put that stay open beside those that are given coordinates."""
    start, fixed = model.q if begin is None else begin.q, [*targets.bodies, *locks]
    joints, asked = model.system.joints, targets.joints
    if targets.none:
        return *closed_pose(model, start, how), model
    measured = {name for name in asked if len(joints[name].coordinates) == joints[name].nq}
    if _placed(model, targets):
        given = {**targets.joints, **targets.bodies}
        start = pose_without_loops(model, given, None if begin is None else (begin.q, begin.v), tree_gaps)
        how = _held_still(model, how, list(targets.bodies))
        if measured != set(asked) and model.system.couplings:  # which are closed by the other joints
            how = _held_still(model, how, [joints[name].carried.name for name in asked if name not in measured])
    elif measured != set(asked):
        joint = joints[min(set(asked) - measured)]
        raise InputError(
            f"q0 of {joint} ({joint.kind}): in a mechanism with loops q0 is for joints whose coordinates are angles and "
            f"lengths; describe the pose of body {joint.child.name!r} instead"
        )
    else:
        start = put_joints(model, carried(model, start, targets.bodies), asked, fixed, mechanism_length(model))
        how = _held_still(model, how, list(targets.bodies))
    drivers = [
        Driver(f"q0 of {name}" + f".{i}" * (len(asked[name]) > 1), name, float(x), freedom=i)
        for name in asked if name in measured
        for i, x in enumerate(asked[name])
    ]  # fmt: skip
    held = _turned_as(model, absolute_model(model.system, held=drivers)) if drivers else model
    redundancy, pose = closed_pose(held, start, how)
    if pose.converged and not _placed(model, targets):
        again = put_followers(model, start, pose.q, asked, fixed, how.t, mechanism_length(model))
        found = None if again is pose.q else closed_pose(held, again, how)
        if found is not None and found[1].converged:
            redundancy, pose = found
    if held is model:
        return redundancy, pose, model
    if not pose.converged:
        return Redundancy(redundancy.kept[: model.nc], [], []), pose, held
    return find_redundancy(model, pose.q, how.t), pose, model


def _turned_as(model: AbsoluteModel, other: AbsoluteModel) -> AbsoluteModel:
    """The other model of the same system, with its angles counted near where those of `model` are."""
    known = dict(zip(model.followed, model.near_start.tolist(), strict=True))
    near = [known.get(of, x) for of, x in zip(other.followed, other.near_start.tolist(), strict=True)]
    return replace(other, near_start=np.array(near))


def _held_still(model: AbsoluteModel, how: Closing, bodies: Sequence[str]) -> Closing:
    """The same, where these bodies stay and others move."""
    W = how.W.reshape(-1, 6).copy()
    W[[model.body_index[name] - 1 for name in bodies]] *= HELD
    return replace(how, W=W.reshape(-1))


def _placed(model: AbsoluteModel, targets: Targets) -> bool:
    """Whether bodies are put where coordinates are given, joint by joint: where there are no loops; where couplings close some, for
    joints whose coordinates cannot be held, as free and spherical ones."""
    joints = model.system.joints
    if not model.loop_blocks and all(joint.tree for joint in joints.values()):
        return True
    return any(len(joints[name].coordinates) != joints[name].nq for name in targets.joints) and without_loops(
        model.system
    )


def _guessed_velocity(
    model: AbsoluteModel, q: np.ndarray, moved: Targets, wanted: Targets, begin: Start | None
) -> np.ndarray:
    """Velocities (nb + 1, 6) to begin from: as described along the spanning tree; or those of a start, in which joints keep
    theirs where others are given another coordinate or velocity."""
    if begin is None:
        return described_velocity(model, q, wanted.joints, wanted.bodies)
    if moved.none and wanted.none:
        return begin.v
    rates = {
        name: joint_state(model, joint, begin.q, begin.v)[1]
        for name, joint in model.system.joints.items()
        if joint.nv and joint.tree
    }
    floating = {}
    for name in floating_bodies(model.system):
        i = model.body_index[name]
        floating[name] = np.concatenate([begin.v[i, :3], rotation_matrix(begin.q[i, :4]).T @ begin.v[i, 3:]])
    return described_velocity(model, q, {**rates, **wanted.joints}, {**floating, **wanted.bodies})


Given = tuple[Matrix, np.ndarray, list[str]]
"""Velocities that joints are given: rows on the bodies' velocities, the values, and whose they are."""


def _given_velocities(model: AbsoluteModel, q: np.ndarray, targets: Targets) -> Given | None:
    """The velocities that joints are given, as rows on the bodies' velocities: H⁺ (V_child − V_parent) = v0; those of floating
    bodies, ω = ω0, Rᵀ v = v0; and whose."""
    if targets.none:
        return None
    rows, right, whose = [], [], []
    for name, values in targets.joints.items():
        joint: Joint = model.system.joints[name]
        a, b = model.body_index[joint.parent.name], model.body_index[joint.child.name]
        block = np.zeros((joint.nv, 6 * len(model.bodies)))
        for body, part in zip((a, b), velocity_rows(model, joint, q), strict=True):
            block[:, 6 * body : 6 * body + 6] += part
        rows.append(block[:, 6:])
        right.append(values)
        whose += [f"joint {name!r}"] * joint.nv
    for name, values in targets.bodies.items():
        i = model.body_index[name]
        block = np.zeros((6, 6 * len(model.bodies)))
        block[:3, 6 * i : 6 * i + 3] = np.eye(3)
        block[3:, 6 * i + 3 : 6 * i + 6] = rotation_matrix(q[i, :4]).T
        rows.append(block[:, 6:])
        right.append(values)
        whose += [f"body {name!r}"] * 6
    matrix = np.concatenate(rows)
    return model.as_matrix(matrix), np.concatenate(right), whose


# --- what comes out -------------------------------------------------------------------------------------------------


def _check_closed(report: AssemblyReport, pose: Configuration, how: Closing, held: AbsoluteModel) -> None:
    model = report.model
    report.gaps = joint_gaps(held, pose.q, how)
    report.flipped = flipped_joints(model, pose.q)
    if not pose.converged:
        shown = "; ".join(str(gap) for gap in report.gaps[:5]) or f"|C| = {pose.residual:.3g}"
        distances = [gap.distance for gap in report.gaps if gap.kind == "joint" and gap.distance > 0.0]
        if len(distances) > 1:
            shown += f" ({sum(distances):.3g} m in all)"
        asking = [driver.name if held is not model else f"driver {driver.name!r}" for driver in held.drivers]
        asking = [name if name.startswith(("q0", "driver")) else f"driver {name!r}" for name in dict.fromkeys(asking)]
        driven = "".join(f"what {name} asks for, " for name in asking[:3])
        raise AssemblyError(
            f"system {model.system.name!r} cannot be assembled: {shown}; check {driven}lengths, anchors and axes",
            report=report,
        )
    if report.flipped:
        raise AssemblyError(
            f"system {model.system.name!r} closes only with joint {report.flipped[0]!r} turned 180° round; "
            f"describe the pose nearer to the assembled one, or turn the axis of one side",
            report=report,
        )
    for name, what in model.beyond_ends(pose.q, how.t):
        raise AssemblyError(
            f"joint {name!r} {what}; describe the pose nearer to the assembled one, or make it longer", report=report
        )


def _check_kept(report: AssemblyReport, bodies: Mapping[str, np.ndarray]) -> None:
    """AssemblyError where joints move a floating body from the pose that it is given."""
    for name, wanted in bodies.items():
        i = report.model.body_index[name]
        off = difference(report.q[[0, i]], np.stack([report.q[0], wanted]))[0]
        turn, shift = float(np.linalg.norm(off[:3])), float(np.linalg.norm(off[3:]))
        turn = min(turn, abs(2.0 * math.pi - turn))  # a quaternion and its negative are one rotation
        if turn > KEPT or shift > KEPT * report.length:
            raise AssemblyError(
                f"body {name!r} cannot have its q0: the joints move it by {shift:.3g} m and {turn:.3g} rad; give q0 of fewer joints",
                report=report,
            )


def _check_limits(report: AssemblyReport, translation: float | None, rotation: float | None) -> None:
    away = difference(report.q, report.model.q)
    turns, shifts = np.linalg.norm(away[:, :3], axis=1), np.linalg.norm(away[:, 3:], axis=1)
    for values, limit, unit in ((shifts, translation, "m"), (turns, rotation, "rad")):
        if limit is not None and values.size and values.max() > limit:
            body = report.model.bodies[1 + int(values.argmax())]
            raise AssemblyError(
                f"body {body!r} moves by {values.max():.3g} {unit} when assembled, more than the limit {limit:g} {unit}; "
                f"check the described pose",
                report=report,
            )


def _check_velocities(
    report: AssemblyReport, redundancy: Redundancy, given: Given | None, without: Callable[[], np.ndarray]
) -> None:
    """AssemblyError where velocities miss a constraint that is kept, or given ones contradict them or each other.

    without: the velocities of the bodies that the constraints leave where none is given."""
    model = report.model
    v = report.v[1:].reshape(-1)
    nu, units = model.nu(report.t, report.q), row_units(model, report.length)
    missed = np.where(redundancy.kept, np.abs(model.jacobian(report.q, report.t) @ v - nu) * units, 0.0)
    speed = max(
        float(np.abs(report.v[1:, :3]).max(initial=0.0)),
        float(np.abs(report.v[1:, 3:]).max(initial=0.0)) / report.length,
        float(np.abs(nu * units).max(initial=0.0)),
        AT_REST,
    )
    if missed.size and given is None and missed.max() > EPS_V * speed:
        row = model.rows[int(missed.argmax())]
        raise AssemblyError(f"the velocities miss {row} by {missed.max():.3g}; try solver='qr'", report=report)
    if given is None:
        return
    off = np.abs(given[0] @ v - given[1])
    # relative to the speeds that make it up
    size = np.maximum(
        np.abs(given[1]), np.asarray(abs(given[0]) @ (speed * np.tile([1.0] * 3 + [report.length] * 3, model.nb)))
    )
    worst = int((off / np.where(size > 0.0, size, 1.0)).argmax())
    if off[worst] > 1e-8 * size[worst]:
        left = float((given[0] @ without()[1:].reshape(-1))[worst])
        raise AssemblyError(
            f"{given[2][worst]} cannot have its v0, {given[1][worst]:g}: the constraints give it "
            f"{left:.6g} without it; give the velocity of fewer joints",
            report=report,
        )


def _accelerate(
    report: AssemblyReport, redundancy: Redundancy, gamma: np.ndarray, loads: Loads | None, how: Closing
) -> None:
    model = report.model
    report.stresses = self_stresses(model, redundancy)
    force = generalized_forces(model, report.q, report.v, how.t)
    try:
        a, lam, kkt = accelerations(model, report.q, force, redundancy.kept, gamma, how.solver, how.t)
    except SingularError:
        free = undetermined_bodies(model, report.q, how.t, report.length)
        about = f"neither mass nor joints hold {', '.join(free[:5])}" if free else "check masses and inertias"
        raise SingularError(
            f"the accelerations of {model.system.name!r} are not determined; {about}", where=free[0] if free else None
        ) from None
    report.a, report.multipliers = a, lam
    report.pivot_ratio, report.fallback = kkt.pivot_ratio, kkt.fallback
    if loads is not None:

        def with_loads(a: np.ndarray, lam: np.ndarray) -> np.ndarray:
            report.a, report.multipliers = a, lam
            report.__dict__.pop("least_multipliers", None)
            return force + _of_loads(report, loads)

        report.a, report.multipliers, _ = settled(kkt, redundancy.kept, with_loads, gamma, a, lam)
        report.__dict__.pop("least_multipliers", None)


def _of_loads(report: AssemblyReport, loads: Loads) -> np.ndarray:
    """The generalized forces (6 nb,) of what the user's function returns."""
    Q = np.zeros((report.model.nb, 6))
    given = loads(report)
    if not isinstance(given, Mapping):
        raise InputError(f"loads returned {given!r}; {{body: (force, moment)}} is needed")
    for name, wrench in given.items():
        if name not in report.model.system.bodies:
            raise unknown("body", name, report.model.system.bodies, plural="bodies")
        x = np.asarray(wrench, dtype=float)
        if x.shape != (2, 3) or not np.isfinite(x).all():
            raise InputError(f"loads on body {name!r} are {wrench!r}; (force, moment) of three finite numbers each")
        i = report.model.body_index[name]
        Q[i - 1] += [*(rotation_matrix(report.q[i, :4]).T @ x[1]), *x[0]]
    return Q.reshape(-1)


def _warn(report: AssemblyReport) -> None:
    found = report.redundancy
    report.warnings += [notice.text for notice in report.notices]
    if found.dof == 0 and report.model.nb and not report.model.drivers:
        report.warnings.append("LOCKED: the mechanism has no degree of freedom left; nothing can move")
    if found.shaky:
        report.warnings.append(
            f"SHAKY: {', '.join(found.shaky[:8])}{' …' if len(found.shaky) > 8 else ''} can move in this pose to first order "
            f"only; to second order they are rigid, so that nothing moves there, and forces are as large as play allows"
        )
    for row in found.redundant:
        if not row.consistent:
            report.warnings.append(f"CONFLICT: {row} contradicts the rows that it depends on")
    if found.rank_gap < 1e3:
        report.warnings.append(
            f"the number of independent rows is not clear-cut: pivots differ by a factor of {found.rank_gap:.3g} only"
        )
    if report.fallback:
        report.warnings.append(f"nearly singular: accelerations and reactions are the {report.fallback} solution")
    elif report.pivot_ratio < ILL_CONDITIONED:
        report.warnings.append(f"ill-conditioned: the pivots of the equations of motion span {report.pivot_ratio:.1e}")

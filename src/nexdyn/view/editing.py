"""The page of a file while it is edited: what has changed, what is wrong with it, which constraints are redundant, the run before.

What cannot be read leaves the last system on the page that could; the error stands above it. A mechanism that cannot close is shown
as it is described. Joints with redundant rows bear a ball.
"""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError, NexDynError
from nexdyn.simulation.quiet import quiet
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.view.changes import changes
from nexdyn.view.ghost import same
from nexdyn.view.marks import MANY, on_children
from nexdyn.view.motion import Frame
from nexdyn.view.placing import linear
from nexdyn.view.surfaces import sphere
from nexdyn.view.touch_controls import is_off, switches
from nexdyn.view.viewer import Viewer, desk_of
from nexdyn.view.words import Words

if TYPE_CHECKING:
    from nexdyn.assembly.report import AssemblyReport
    from nexdyn.model.system import System
    from nexdyn.results.result import Result
    from nexdyn.simulation.session import Session

WRONG, REDUNDANT = (200, 30, 30), (225, 60, 40)
MOST_ROWS = 8
"""Redundant rows that are told one by one."""
SAME = 1e-7
"""By how much a state that is assembled anew may differ [rad, and parts of the mechanism's size]."""


class Editing:
    """Keeps the page of a viewer at what its file says.

    write: puts numbers into the file, by where they stand in it, which buttons then offer. system, simulation: what the file says at
    first, its arguments of `nx.simulate` among it; without them what is shown first.
    """

    def __init__(
        self,
        viewer: Viewer,
        write: Callable[[dict[tuple[str, ...], Any]], None] | None = None,
        system: System | None = None,
        simulation: Mapping[str, Any] | None = None,
    ) -> None:
        desk = self._desk = desk_of(viewer)
        self._write = write
        self._starts = _starts(simulation)
        desk.writes_state = None if write is None else self.write_state
        if write is not None:
            desk.controls.offer(
                "Write this pose into the file",
                "q0 of the joints whose sliders were moved",
                lambda _: self.write_pose(),
            )
            desk.controls.offer(
                "Write this camera into the file", "where this browser looks from", self._write_camera, of_joints=False
            )
        self._system = system
        self._run: Result | None = None
        self._lines: list[str] = []
        self._redundant: list[str] = []

    def show(
        self, system: System, report: AssemblyReport | NexDynError, simulation: Mapping[str, Any] | None = None
    ) -> list[str]:
        """Show what the file now says, as it was assembled, or with the error why it was not; returns what is new in words."""
        desk = self._desk
        self._starts = _starts(simulation)
        new = [] if self._system is None else changes(self._system, system, desk.words)
        self._system = system
        with quiet():  # that it cannot be assembled is told below
            desk.viewer.show(system)  # not within the lock: it may have to wait for what runs on the page
        with desk.lock:
            wrong = desk.words.error(report) if isinstance(report, NexDynError) else ""
            redundant = [] if isinstance(report, NexDynError) else redundancy_lines(report, desk.words)
            marked = [] if isinstance(report, NexDynError) else [row.joint for row in report.redundancy.redundant]
            self._redundant = [name for name in dict.fromkeys(marked) if name in system.joints]
            self._mark()
            self._lines = [_head(system, report, desk.words), *new, *redundant]
            self._tell(wrong)
        return new

    def refuse(self, error: Exception) -> None:
        """Tell why the file cannot be read; what was shown stays."""
        self._tell(self._desk.words.error(error))

    def ran(self, result: Result, failure: Exception | None) -> None:
        """Show a run of what is shown, over the one before where both are of the same bodies and joints."""
        desk, before = self._desk, self._run
        desk.viewer.show(result)
        with desk.lock:
            self._mark()
            desk.viewer.lay_over(before if before is not None and same(result.system, before.system) else None)
            if failure is not None:
                self._tell(desk.words.error(failure))
        self._run = result

    def write_pose(self) -> None:
        """Put the coordinates of the sliders that were moved into the file, also where its simulation says that joints start elsewhere;
        what stands against it is told."""
        moved = self._desk.controls.moved
        try:
            if moved and self._write is not None:
                numbers: dict[tuple[str, ...], Any] = {("joints", joint, "q0"): x for joint, x in moved.items()}
                numbers |= {("simulation", "q0", joint): x for joint, x in moved.items() if joint in self._starts["q0"]}
                self._write(numbers)
        except NexDynError as error:
            self.refuse(error)

    def _write_camera(self, client: Any) -> None:
        shift = np.array(self._desk.stage.shift)
        self.write_camera(np.array(client.camera.position) - shift, np.array(client.camera.look_at) - shift)

    def write_camera(self, eye: np.ndarray, target: np.ndarray) -> None:
        """Put into the file where one looks from, and at what (3,) [m]; what stands against it is told."""
        try:
            if self._write is not None:
                self._desk.viewer.look_from(eye, target)
                self._write({("view",): {"eye": [float(x) for x in eye], "target": [float(x) for x in target]}})
        except NexDynError as error:
            self.refuse(error)

    def write_state(self, session: Session) -> None:
        """Put the state of a running system into the file: coordinates and velocities of its joints and of bodies without one, parameters
        and attributes that were changed; in loops of as many joints as determine the others. InputError where these do not lead back to
        this state, and where something is switched otherwise than the file says, which a scene cannot tell."""
        if self._write is not None:
            now, described = session.system, self._system or session.first
            if other := [name for name in switches(now) if is_off(now, name) != is_off(described, name)]:
                raise InputError(
                    f"{', '.join(other)}: switched otherwise than in the file, which cannot tell it. Switch it back, or undo "
                    "that; then write the state"
                )
            self._write(numbers_of(session, self._starts))

    def _tell(self, wrong: str) -> None:
        parts = (
            [f'<p role="alert" style="color:rgb{WRONG};white-space:pre-wrap"><b>{html.escape(wrong)}</b></p>']
            if wrong
            else []
        )
        parts += [f"<p>{html.escape(line)}</p>" for line in self._lines]
        self._desk.controls.tell_of_file(f'<div class="nexdyn-said" role="status">{"".join(parts)}</div>')

    def _mark(self) -> None:
        stage, joints = self._desk.stage, self._redundant
        make: Any = lambda scene, f: RedundantJoints(scene, stage.system, joints, stage.row, f, stage.size)  # noqa: E731
        stage.carry("redundant", make if joints else None)


class RedundantJoints:
    """A ball at each of these joints."""

    def __init__(
        self, scene: Any, system: System, joints: list[str], row: dict[str, int], f: Frame, size: float
    ) -> None:
        self._marks = on_children(system, [system.joints[name] for name in joints], row)
        at, q = self._marks.at(f)
        ball = sphere((0.015 if len(joints) < MANY else 0.006) * size)
        self._marks.handle = scene.add_batched_meshes_simple(
            "/motion/redundant", ball.vertices, ball.faces, q, at, batched_colors=linear(np.array(REDUNDANT) / 255.0),
            lod="off", cast_shadow=False,
        )  # fmt: skip

    def show(self, _: float, f: Frame) -> None:
        """Put them where their joints are."""
        self._marks.show(f)

    def remove(self) -> None:
        """Take them away."""
        self._marks.handle.remove()


def _starts(simulation: Mapping[str, Any] | None) -> dict[str, frozenset[str]]:
    """The joints, and bodies without one, that a simulation gives a start, which is read in place of the joints' own."""
    return {key: frozenset((simulation or {}).get(key) or ()) for key in ("q0", "v0")}


def numbers_of(session: Session, starts: Mapping[str, frozenset[str]]) -> dict[tuple[str, ...], Any]:
    """Where what a session has changed stands in a scene, and the numbers now. starts: of which joints and bodies the scene's simulation
    says q0 and v0."""
    from nexdyn.assembly.start_velocity import floating_bodies
    from nexdyn.simulation.continuing import states_of
    from nexdyn.simulation.needs import needs_bodies

    system, section = session.system, {"force": "forces", "joint": "joints", "body": "bodies"}
    found: dict[tuple[str, ...], Any] = {}
    for path in session.changed:
        kind, _, rest = path.partition(":")
        if path in system.parameters:
            found["parameters", path] = float(system.values[path])
        elif path == "gravity":
            found["gravity",] = system.gravity.tolist()
        elif kind in section and rest:
            name, _, attribute = rest.rpartition(".")
            found[section[kind], name, attribute] = _now(system, kind, name, attribute)
    observed = session.latest().observed
    q, v = states_of(observed)
    told = [name for name, joint in system.joints.items() if joint.mimic is None and name in q and len(q[name])]
    children = {joint.carried.name for joint in system.joints.values()}
    floating = [name for name in floating_bodies(system) if name not in children and name not in system.joints]
    if needs_bodies(system):
        told = _leading(system, observed, told, floating, q, v, starts["q0"] | starts["v0"])
    for name in [*told, *floating]:
        for key, x in (("q0", q[name]), ("v0", v[name])):
            inside = name in floating or name in starts[key]
            found[("simulation", key, name) if inside else ("joints", name, key)] = _one_or_more(x)
    return found


def _leading(
    system: System, observed: Any, told: list[str], floating: list[str], q: dict[str, np.ndarray], v: dict[str, np.ndarray],
    started: frozenset[str],
) -> list[str]:  # fmt: skip
    """The joints whose coordinates are to be written where there is more than a tree. In loops as few as determine the state, with those
    that have some in the file, or all; where couplings or drivers stand on a tree all, or as few. Puts the states of bodies without joints
    into q and v. InputError where neither leads back to the state."""
    from nexdyn.absolute.model.model import absolute_model
    from nexdyn.absolute.model.redundancy import find_redundancy
    from nexdyn.assembly.assemble import assemble, mechanism_length
    from nexdyn.assembly.walk import is_forest
    from nexdyn.model.driver import Driver
    from nexdyn.simulation.continuing import seen_bodies

    model = absolute_model(system)
    at, rates = seen_bodies(observed, model)
    for name in floating:
        i = model.body_index[name]
        q[name], v[name] = at[i], np.concatenate([rates[i, :3], rotation_matrix(at[i, :4]).T @ rates[i, 3:]])
    joints, tree = system.joints, is_forest(system)
    measured = [name for name in told if len(joints[name].coordinates) == len(q[name])]
    others = [name for name in told if name not in measured]
    held = [
        Driver(f"{name} {i}", name, float(x), freedom=i, priority=0) for name in measured for i, x in enumerate(q[name])
    ]
    kept = find_redundancy(absolute_model(system, held=held), at).kept[
        model.nc :
    ]  # the rows of the joints themselves come first
    few = started | {driver.joint for driver, own in zip(held, kept, strict=True) if own}
    few |= {name for name in measured if joints[name].q0 is not None or joints[name].v0 is not None}
    leading = [name for name in measured if name in few]
    tries = [told, [*others, *leading]] if tree else [leading, measured]
    length, why = mechanism_length(model), "the pose that it leads to is another one"
    for names in tries:
        try:
            with quiet():
                given = [*names, *floating]
                again = assemble(system, q0={x: q[x] for x in given}, v0={x: v[x] for x in given})
        except NexDynError as error:
            why = str(error)
            continue
        side = np.where(
            np.sum(again.q[:, :4] * at[:, :4], axis=1) < 0.0, -1.0, 1.0
        )  # both quaternions are the same attitude
        reached = np.column_stack([side[:, None] * again.q[:, :4], again.q[:, 4:]])
        apart, faster = np.abs(reached - at), np.abs(again.v - rates)
        if (apart / np.array([1.0] * 4 + [length] * 3)).max() < SAME and faster.max() < SAME * max(
            1.0, np.abs(rates).max()
        ):
            return names
    if others and not tree:
        named = ", ".join(f"{joints[name]} ({joints[name].kind})" for name in others)
        why += f"; in loops q0 is for joints whose coordinates are angles and lengths, and not for {named}"
    raise InputError(
        f"q0 and v0 of the joints of {system.name!r} do not lead to this state from the pose that the file describes: {why}. Describe "
        "the bodies nearer to it; drivers begin anew at t = 0"
    )


def _now(system: System, kind: str, name: str, attribute: str) -> float:
    element: Any = {"force": system.forces, "joint": system.joints, "body": system.bodies}[kind][name]
    return float(getattr(element, attribute))


def _one_or_more(x: np.ndarray) -> float | list[float]:
    return float(x[0]) if len(x) == 1 else [float(one) for one in x]


def _head(system: System, report: AssemblyReport | NexDynError, w: Words) -> str:
    said = f"{time.strftime('%H:%M:%S')}  {w.count(len(system.bodies), 'body')}, {w.count(len(system.joints), 'joint')}"
    if isinstance(report, NexDynError):
        return said
    return f"{said}, {w.count(report.redundancy.dof, 'degree of freedom')}"


def redundancy_lines(report: AssemblyReport, words: Words | None = None) -> list[str]:
    """Each redundant row with what it depends on, and whether it contradicts it."""
    rows, w = report.redundancy.redundant, words or Words()
    lines = [
        w(
            "{} is redundant: it depends on {}"
            if row.consistent
            else "{} is redundant and contradicts the others: it depends on {}"
        ).format(row, ", ".join(row.depends_on))
        for row in rows[:MOST_ROWS]
    ]
    return lines if len(rows) <= MOST_ROWS else [*lines, w("and {} redundant rows more").format(len(rows) - MOST_ROWS)]

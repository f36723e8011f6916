"""The springs and loads of a system: which coordinates of which bodies have an energy, and what else acts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nexdyn.constraints.kinds import ANGLE, DISTANCE, DZ, NUMBER
from nexdyn.constraints.tables import ConstraintTables
from nexdyn.errors import InputError
from nexdyn.forces import kinds
from nexdyn.forces.contact_data import PointData
from nexdyn.forces.force_table import CURVE, Head
from nexdyn.forces.joint_stop import Stop
from nexdyn.forces.point_spring import Spring
from nexdyn.forces.surface_contact import ONE
from nexdyn.forces.tables import (
    FEW,
    SKIN,
    ForceEntries,
    ForceEntry,
    ForceTables,
    force_tables,
)
from nexdyn.forces.torsion_spring import TURNS, Twist
from nexdyn.model.joint import Joint
from nexdyn.model.system import System
from nexdyn.potential.compile import Contacts, Loads, Springs
from nexdyn.potential.tables import (
    ACTUATED,
    BALL,
    BRISTLE,
    CONTROLLED,
    EFFORT,
    ELEMENT,
    FLOATING,
    LINEAR,
    REGISTERED,
    STOP,
    SURFACE,
    TABLE,
    USER,
)

STATED = {kinds.ACTUATOR: CONTROLLED, kinds.JOINT_FRICTION: BRISTLE}
"""Those of forces with states of their own."""
LAWS = {
    kinds.JOINT_TABLE: TABLE, kinds.JOINT_FORCE: EFFORT, kinds.ACTUATOR: ACTUATED, kinds.JOINT_STOP: STOP,
    kinds.REGISTERED_JOINT: REGISTERED,
}  # fmt: skip
"""The laws of forces in joints; USER for others."""
NO_DAMPING = [0.0, 0.0, 1.0, 0.0]
"""d, f, v_f, J of an element without any."""
TURNED = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
"""Axes (x, y, z) → (z, y, −x): an angle about x becomes one about z, seen from the other side."""


class _Coordinates:
    """Scalar coordinates with an energy, as they come together."""

    def __init__(self) -> None:
        self.pairs: list[tuple[int, int]] = []
        self.frames: list[np.ndarray] = []
        self.primitives: list[int] = []
        self.laws: list[int] = []
        self.first: list[int] = []
        self.data: list[float] = []
        self.near: list[float] = []
        self.of: list[tuple[str, str] | None] = []
        self.own: list[int] = []
        self.skin: dict[int, float] = {}
        self.ends: dict[str, int] = {}

    def add(
        self, pair: tuple[int, int], frame: np.ndarray, primitive: int, law: int, data: list[float], near: float = 0.0,
        of: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        """An element: its two bodies, frames and coordinate; law and data; the value that an angle is near, and whose it is."""
        self.of.append(of)
        self.pairs.append(pair)
        self.frames.append(frame)
        self.primitives.append(primitive)
        self.laws.append(law)
        self.first.append(len(self.data))
        self.data += data
        self.near.append(near)

    def springs(self) -> Springs:
        """The tables."""
        n = len(self.pairs)
        terms = np.full((n, 4), -1, dtype=np.int64)
        terms[:, 0], terms[:, 1], terms[:, 3] = np.arange(n), self.primitives, np.arange(n)
        rows = np.column_stack([np.arange(n), np.ones(n, dtype=np.int64), np.full(n, -1)]).astype(np.int64)
        tables = ConstraintTables(
            np.array(self.pairs, dtype=np.int64).reshape(-1, 2), np.array(self.frames).reshape(-1, 24), terms,
            np.ones(n), rows, np.zeros(n), None, np.zeros((0, 3)),
        )  # fmt: skip
        law, first = np.array(self.laws, dtype=np.int64), np.array(self.first, dtype=np.int64)
        own, skin = np.array(self.own, dtype=np.int64), np.zeros(n)
        if len(self.skin) >= FEW:
            skin[list(self.skin)] = list(self.skin.values())
        return Springs(law, first, self.data, tables, np.array(self.near), own, skin, self.ends, self.of)


def springs_and_loads(system: System, number_of: Mapping[str, int]) -> tuple[Springs, Loads, Contacts]:
    """All that acts in `system` but gravity: springs (heights above planes among them), other loads, friction of contacts.

    number_of: of each body, "ground" among them. Raises InputError for an effort in a degree of freedom without a coordinate.
    """
    values, found = system.values, _Coordinates()
    tables = force_tables(system, lambda body: (number_of[body], np.eye(3), np.zeros(3)), lambda joint: (0, 0))
    index: list[tuple[int, int, int, int]] = []
    extra: list[tuple[int, tuple[int, int], np.ndarray, list[float]]] = []
    rubbing: list[tuple[int, int, int, list[float]]] = []
    varying: list[list[int]] = []
    held: dict[int, int] = {}
    for joint in system.joints.values():
        if joint.nv == 0:
            continue
        resolved = joint.resolved(values)
        active = [resolved.damping, resolved.stiffness, resolved.friction, resolved.armature]
        if not any(x.any() for x in active):
            continue
        if joint.kind in ("spherical", "free"):
            load = BALL if joint.kind == "spherical" else FLOATING
            elastic = [*resolved.stiffness, *resolved.rest] if load == BALL else []  # a free joint takes none
            numbers = [
                *elastic, *resolved.damping, *resolved.friction, *resolved.friction_speed, *resolved.armature,
            ]  # fmt: skip
            extra.append((load, _bodies(joint, number_of), _frame(joint, values), [float(x) for x in numbers]))
            continue
        for m in range(joint.nv):
            data = [
                resolved.damping[m], resolved.friction[m], resolved.friction_speed[m], resolved.armature[m],
                resolved.stiffness[m], resolved.rest[m], 0.0,
            ]  # fmt: skip
            if data[0] or data[1] or data[3] or data[4]:
                _add_freedom(found, joint, m, values, number_of, LINEAR, [float(x) for x in data])
    for e, force in enumerate(system.forces.values()):
        entry = ForceEntries(tables.index)[e]
        pair = int(entry.body_a), int(entry.body_b)
        states = [initial for _, _, initial in force.states(values)]
        if states and force.code in (kinds.USER, kinds.USER_JOINT) and not force.is_off:
            raise InputError(
                f"{force} has states of its own, which ImplicitEuler does not carry; take HHT, DormandPrince or RungeKutta4"
            )
        if force.is_off:
            found.own += [-1] * len(states)
            if states:  # what it is recorded with
                idle = [*NO_DAMPING, 0.0, 0.0, 0.0]
                if force.joint_name is None:
                    found.add(pair, tables.frames[e].copy(), DZ, LINEAR, idle)
                else:
                    joint, m = system.joint(force.joint_name), int(force.__dict__["freedom"])
                    _add_freedom(found, joint, m, values, number_of, LINEAR, idle)
            continue
        numbers = force.data_in(system)
        frame = tables.frames[e].copy()
        if force.joint_name is not None:
            joint, m = system.joint(force.joint_name), int(force.__dict__["freedom"])
            law = LAWS.get(force.code, USER)
            damping, own = _table(numbers) if law == TABLE else (NO_DAMPING, numbers)
            if states:
                law, own = STATED[force.code], [*states, *states, *states, *numbers]
                found.own += [len(found.data) + len(damping) + m for m in range(len(states))]
            if law == STOP:
                found.ends[force.name] = len(found.data) + len(damping) + Stop.fields["lower"].first
            _add_freedom(found, joint, m, values, number_of, law, [*damping, *own])
        elif force.code == kinds.POINT_SPRING:
            spring = Spring(numbers)
            data = [spring.damping, *NO_DAMPING[1:], spring.stiffness, spring.length, spring.force]
            found.add(pair, frame, DISTANCE, LINEAR, data)
        elif force.code == kinds.TORSION_SPRING:
            twist = Twist(numbers)
            data = [twist.damping, *NO_DAMPING[1:], twist.stiffness, twist.rest, twist.torque]
            found.add(pair, frame, ANGLE, LINEAR, data, twist.reference, (force.name, TURNS))
        elif force.code == kinds.FORCE_TABLE:
            damping, own = _table(numbers)
            found.add(pair, frame, DISTANCE, TABLE, [*damping, *own])
        elif force.code == kinds.SURFACE:
            held[len(index)] = len(found.data) if states else -1
            if states:
                for first in range(0, len(states), ONE):
                    found.own += [len(found.data) + m for m in range(ONE)]
                    found.data += [*3 * states[first : first + ONE], 0.0, 1.0]  # `AreaStates`
            index.append((SURFACE, e, *pair))
        elif force.code == kinds.CONTACT:
            first = len(rubbing)
            rubbing += _points(found, pair, frame, numbers, bool(states))
            varying += [[n, entry.first, entry.varying, e] for n in range(first, len(rubbing)) if entry.varying]
            found.own += [-1] * (len(states) - 3 * len(_sides(numbers))) if states else []
        else:
            index.append((ELEMENT, e, *pair))
    contacts = Contacts(
        np.array([row for *row, _ in rubbing], dtype=np.int64).reshape(-1, 3),
        np.array([x for *_, data in rubbing for x in data], dtype=float),
        np.array(varying, dtype=np.int64).reshape(-1, 4),
        tables.data.copy() if varying else np.zeros(0),
    )
    return found.springs(), _loads(tables, index, extra, held), contacts


def _table(numbers: list[float]) -> tuple[list[float], list[float]]:
    """The damper of a force table, and what else it has: where it is relaxed, and its curve."""
    head = Head(numbers)
    return [head.damping, *NO_DAMPING[1:]], [head.rest, *numbers[CURVE:]]


def _sides(numbers: list[float]) -> tuple[float, ...]:
    """Of the points of a contact, on which side of its centre they lie."""
    return (1.0, -1.0) if PointData(numbers).half else (1.0,)


def _points(
    found: _Coordinates, pair: tuple[int, int], frame: np.ndarray, numbers: list[float], sticks: bool
) -> list[tuple[int, int, int, list[float]]]:  # fmt: skip
    """A contact's points: the springs in their heights above its plane, or in the distance of its centres, which press where that is
    too short or, in a hollow, too long, with the states of friction that sticks behind their data. Of each the spring, the place of the
    states or −1, whether a plane or which side of a sphere, and the data of its friction, the radius and the velocities of surfaces."""
    own = PointData(numbers)
    side = int(own.side)
    least = own.radius + own.other if side >= 0 else -np.inf
    most = np.inf if side >= 0 else own.other - own.radius
    z = frame[:9].reshape(3, 3)[:, 2]
    out = []
    for end in _sides(numbers):
        point = np.concatenate([frame[12:24], frame[:9], frame[9:12] + end * own.half * z])
        law = [*NO_DAMPING, own.stiffness, own.exponent, own.damping, least, most]
        place = len(found.data) + len(law) if sticks else -1
        friction = own.friction if sticks else (own.mu, own.friction_speed, 0.0, 0.0, 0.0)
        rubbing = [*friction, own.radius, *own.runs_b, *own.runs_a, own.ratio, *own.along_b, *own.along_a]
        out.append((len(found.laws), place, side, rubbing))
        if side > 0 and all(pair):
            found.skin[len(found.laws)] = SKIN * least
        if sticks:
            found.own += [place, place + 1, place + 2]
            law += [*[0.0] * 9, 1.0]
        found.add(pair[::-1], point, DZ if side == 0 else DISTANCE, STOP, law)
    return out


def _loads(
    tables: ForceTables, index: list[tuple[int, int, int, int]],
    own: list[tuple[int, tuple[int, int], np.ndarray, list[float]]], held: Mapping[int, int],
) -> Loads:  # fmt: skip
    """The elements `index`, and what acts in ball and free joints after them in the same tables."""
    rows = np.zeros((len(own), ForceEntry.columns), dtype=np.int64)
    frames = np.zeros((len(own), tables.frames.shape[1]))
    data = [tables.data]
    size = len(tables.data)
    for n, (load, pair, frame, numbers) in enumerate(own):
        ForceEntry(rows[n]).first, frames[n] = size, frame
        data.append(np.array(numbers))
        size += len(numbers)
        index.append((load, len(tables.index) + n, *pair))
    merged = tables._replace(
        index=np.concatenate([tables.index, rows]), frames=np.concatenate([tables.frames, frames]),
        data=np.concatenate(data),
    )  # fmt: skip
    places = np.array([held.get(n, -1) for n in range(len(index))], dtype=np.int64)
    return Loads(np.array(index, dtype=np.int64).reshape(-1, 4), merged, places)


def _bodies(joint: Joint, number_of: Mapping[str, int]) -> tuple[int, int]:
    return number_of[joint.parent.name], number_of[joint.child.name]


def _frame(joint: Joint, values: Mapping[str, float]) -> np.ndarray:
    R_AJ, p_AJ, R_BJ, p_BJ = joint.frames(values)
    return np.concatenate([R_AJ.ravel(), p_AJ, R_BJ.ravel(), p_BJ])


def _add_freedom(
    found: _Coordinates, joint: Joint, m: int, values: Mapping[str, float], number_of: Mapping[str, int], law: int,
    data: list[float],
) -> None:  # fmt: skip
    """An element in degree of freedom m of a joint."""
    if m >= len(joint.coordinates):
        raise InputError(
            f"{joint}, {joint.kind}, has no coordinate for an effort in its degree of freedom {m}; use an AppliedForce or a UserForce"
        )
    equation, (a, b) = joint.coordinates[m], _bodies(joint, number_of)
    R_AJ, p_AJ, R_BJ, p_BJ = joint.frames(values)
    q0 = joint.resolved(values).q0
    near = float(q0[m]) if q0 is not None else 0.0
    if equation == "Tilt":
        frame = np.concatenate([(R_BJ @ TURNED).ravel(), p_BJ, (R_AJ @ TURNED).ravel(), p_AJ])
        found.add((b, a), frame, ANGLE, law, data, near, (joint.name, equation))
        return
    frame = np.concatenate([R_AJ.ravel(), p_AJ, R_BJ.ravel(), p_BJ])
    found.add((a, b), frame, NUMBER[equation], law, data, near, (joint.name, equation))

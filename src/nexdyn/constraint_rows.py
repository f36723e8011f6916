"""The constraint rows of a system: which primitives its joints, couplings and drivers set to which values.

`RowBuilder` collects them in the tables of ``constraints.tables``, for absolute coordinates (bodies as they are) and for
the loops of a tree (bodies as parts of links).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from nexdyn.constraints import curve, orientation, surface
from nexdyn.constraints.kinds import ANGLE, CONTACT, EDGE, NORMAL, NUMBER, OWN_ROWS, PITCH, SURFACE
from nexdyn.constraints.tables import ConstraintTables, Rolls, Terms
from nexdyn.errors import InputError
from nexdyn.joints.point_on_curve import PointOnCurve
from nexdyn.joints.point_on_surface import PointOnSurface
from nexdyn.joints.revolute_prismatic import RevolutePrismatic
from nexdyn.joints.rolling_disk import RollingDisk
from nexdyn.model.coupling import Law
from nexdyn.model.driver import COMPONENTS, Driver, OrientationDriver, PointDriver
from nexdyn.model.functions import Constant, Function
from nexdyn.model.joint import Joint, is_angle
from nexdyn.model.system import System
from nexdyn.spatial.rotations import cross_product, rotation_matrix
from nexdyn.variants import leaves_out

FLAT = 1e-6
"""Sine of the angle between a disk and its plane below which it lies on it."""


SLOT = {"SlotY": "DY", "SlotZ": "DZ"}
"""Rows of the pair of a slide, and their primitives."""
LONG = {"Angle": "AngleZX", "Tilt": "TiltXZ"}
"""Coordinates with short names."""
FOLLOWED = {"rotation_vector": orientation.VECTOR, "quaternion": orientation.QUATERNION, "angles": orientation.ANGLES}
ORIENT = ("OrientX", "OrientY", "OrientZ")
"""Rows of a driver of a whole orientation."""


class Row(NamedTuple):
    """One constraint equation of a joint, or of a driver: `direction` says which motion it forbids."""

    joint: str
    equation: str
    priority: int
    index: int  # type: ignore[assignment]
    """Its place among all rows (not the tuple's own `index`)."""
    driver: str | None = None
    """The driver whose row it is; `joint` is then the joint that it drives, or empty."""
    coupling: str | None = None
    """The coupling whose row it is, or the mimic joint; `joint` is then empty, or that joint."""

    @property
    def owner(self) -> tuple[str, str]:
        """(kind, name) of the joint, driver or coupling whose row it is."""
        if self.driver is not None:
            return "driver", self.driver
        return ("joint", self.joint) if self.joint else ("coupling", self.coupling or "")

    @property
    def component(self) -> str:
        """Which of three it is of a driver of a whole orientation, "x", "y" or "z"; else ""."""
        return self.equation[-1].lower() if self.equation in ORIENT else ""

    @property
    def direction(self) -> str:
        """In words: which relative motion of the joint the row forbids."""
        words = {"DX": "translation along x", "DY": "translation along y", "DZ": "translation along z"}
        if self.equation in words:
            return words[self.equation]
        if self.equation == "DotZZ":
            return "rotation about the common perpendicular of the two axes"
        if is_angle(self.equation) and len(self.equation) > 5:
            return f"rotation about {self.equation[-2].lower()}"
        if self.equation.startswith("Dot"):
            i, j = self.equation[3], self.equation[4]
            third = ({"X", "Y", "Z"} - {i, j}).pop() if i != j else i
            return f"rotation about {third.lower()}"
        words = {
            "Screw": "deviation from the screw's pitch", "Distance": "translation along the line of its two points",
            "Angle": "rotation about z", "Tilt": "rotation about x", "Gear": "deviation from the gear's ratio",
            "Rack": "deviation of the rack from its pinion", "Coupling": "deviation from the coupling",
            "Mimic": "deviation from the joint that it mimics", "Normal": "translation along the curve's normal",
            "Binormal": "translation along the curve's binormal", "Surface": "translation along the surface's normal",
            "User": "what the user's function forbids", "UserAngle": "what the user's function forbids",
            "Contact": "translation along the plane's normal", "Forward": "slip along the disk's way",
            "Sideways": "slip across the disk's way", "RollX": "slip along x", "RollY": "slip along y",
            "Edge": "slip along the axle", "Velocity": "what the user's function forbids",
            "Turning": "what the user's function forbids", "SlotY": "translation across the slide",
            "SlotZ": "translation across the slide", "Slide": "translation along the slide", "Yaw": "rotation about z",
            "Pitch": "rotation about y, turned by the yaw", "Roll": "rotation about x of the frame that is driven",
            **dict.fromkeys(OWN_ROWS[0], "what the joint's page locks"), **dict.fromkeys(OWN_ROWS[1], "what the joint's page locks"),
            **{f"Orient{i}": f"rotation about {i.lower()} of the frame that is driven" for i in "XYZ"},
        }  # fmt: skip
        return words.get(self.equation, self.equation)

    def __str__(self) -> str:
        if self.driver is not None:
            return f"driver {self.driver!r}{self.component and f' ({self.component})'}"
        if self.coupling is not None and not self.joint:
            return f"coupling {self.coupling!r}"
        return f"{self.joint}.{self.equation}"


def tied_joints(system: System, row: Row) -> tuple[str, ...]:
    """The joint that each term of a coupling's row is of, in their order; none of other rows."""
    if row.coupling is None:
        return ()
    if not row.joint:
        return system.couplings[row.coupling].joints()
    mimic = system.joints[row.joint].mimic
    return (row.joint, mimic.joint) if mimic is not None else ()


class RowBuilder:
    """Rows as they come together."""

    def __init__(self, system: System, number_of: dict[str, int], q: np.ndarray) -> None:
        self.system, self.values, self.number_of, self.q = system, system.values, number_of, q
        self.data: list[float] = []
        self.followed: dict[int, float] = {}
        self.rows: list[Row] = []
        self.near: dict[tuple[str, str], int] = {}
        self.pairs: list[tuple[int, int]] = []
        self.frames: list[np.ndarray] = []
        self.terms: list[tuple[int, int, int, int]] = []
        self.scale: list[float] = []
        self.table: list[tuple[int, int, int]] = []
        self.offset: list[float] = []
        self.pair_of_joint = {name: k for k, name in enumerate(system.joints)}
        self.slotted = [joint for joint in system.joints.values() if isinstance(joint, RevolutePrismatic)]
        """Joints with a second pair, child first, behind the pairs of all joints."""
        self.pair_of_slot = {joint.name: len(system.joints) + i for i, joint in enumerate(self.slotted)}
        self.couplings: list[int] = []

    def add_pair(self, a: str, b: str, frame: np.ndarray) -> int:
        self.pairs.append((self.number_of[a], self.number_of[b]))
        self.frames.append(frame)
        k = len(self.pairs) - 1
        if k + 1 == len(self.pair_of_joint):
            for joint in self.slotted:
                self.add_pair(joint.child.name, joint.parent.name, slot_frame(joint, self.values))
        return k

    def add_row(
        self,
        row: Row,
        terms: list[tuple[int, int, int, float]],
        offset: float = 0.0,
        driver: int = -1,
        data: int = -1,
    ) -> None:
        """A row of terms (pair, primitive, place in near, coefficient), and its numbers from `data` on."""
        self.table.append((len(self.terms), len(terms), driver))
        self.terms += [(pair, primitive, data, near) for pair, primitive, near, _ in terms]
        self.scale += [scale for _, _, _, scale in terms]
        self.offset.append(offset)
        self.rows.append(row._replace(index=len(self.rows)))

    def near_of(self, coordinate: tuple[str, str]) -> int:
        """The place in `near` of an angle of a joint, one for all rows that it is in."""
        return self.near.setdefault(coordinate, len(self.near))

    def add_joint(self, joint: Joint) -> None:
        R_AJ, p_AJ, R_BJ, p_BJ = joint.frames(self.values)
        frame = np.concatenate([R_AJ.ravel(), p_AJ, R_BJ.ravel(), p_BJ])
        pair = self.add_pair(joint.parent.name, joint.child.name, frame)
        data, place = self._numbers(joint, frame)
        acts = 0.0 if joint.is_off else 1.0
        for i, (equation, priority) in enumerate(joint.rows):
            at = self.pair_of_slot[joint.name] if equation in SLOT else pair
            terms = [
                (at, kind, self.near_of((joint.name, "Angle")) if kind == ANGLE else place, acts * scale)
                for kind, scale in _terms(joint, equation, self.values)
            ]
            row = Row(joint.name, equation, joint.row_priority(equation, priority), 0)
            own = data + i * joint.stride if data >= 0 else data
            self.add_row(row, terms, acts * joint.offset(equation, self.values), data=own)

    def _numbers(self, joint: Joint, frame: np.ndarray) -> tuple[int, int]:
        """Where the numbers of a joint's rows lie in `data`, and its parameters in `near`; −1 for none."""
        given = joint.data(self.values)
        if not given:
            return -1, -1
        first = len(self.data)
        parameters: tuple[float, ...] = ()
        if isinstance(joint, RollingDisk):
            self._refuse_flat(joint, frame)
        if isinstance(joint, PointOnCurve | PointOnSurface):
            a, b = (self.q[self.number_of[body.name]] for body in (joint.parent, joint.child))
            R_a = rotation_matrix(a[:4])
            d = b[4:] + rotation_matrix(b[:4]) @ frame[21:24] - a[4:] - R_a @ frame[9:12]
            x, row = frame[:9].reshape(3, 3).T @ (R_a.T @ d), np.array(given)
            try:
                if isinstance(joint, PointOnCurve):
                    parameters = (curve.prepared(row, 0, x, str(joint)),)
                else:
                    parameters = surface.prepared(row, 0, x, str(joint))
            except InputError as error:
                raised = [failed for callback in joint.callbacks() if (failed := callback.take_failure()) is not None]
                raise InputError(
                    f"{error}: it raised {type(raised[0]).__name__}: {raised[0]}" if raised else str(error)
                ) from error
            given = row.tolist()
        self.data += given
        places = [self.near_of((joint.name, f"parameter {i}")) for i in range(len(parameters))]
        self.followed.update(zip(places, parameters, strict=True))
        return first, places[0] if places else -1

    def _refuse_flat(self, joint: RollingDisk, frame: np.ndarray) -> None:
        """InputError for a disk that lies on its plane: it has no lowest point."""
        a, b = (self.q[self.number_of[body.name]] for body in (joint.parent, joint.child))
        n = rotation_matrix(a[:4]) @ frame[:9].reshape(3, 3)[:, 2]
        e = rotation_matrix(b[:4]) @ frame[12:21].reshape(3, 3)[:, 2]
        if np.linalg.norm(cross_product(n, e)) < FLAT:
            raise InputError(
                f"{joint} lies flat on its plane where described; its axle must lean, give axis_a and axis_b"
            )

    def near_start(self) -> np.ndarray:
        start = np.zeros(len(self.near))
        start[list(self.followed)] = list(self.followed.values())
        return start

    def add_coupling(self, row: Row, law: Law) -> None:
        terms = []
        for name, freedom, coefficient in law.terms:
            joint = self.system.joint(name)
            m = coordinate(joint, freedom, self.values)
            pair = self.pair_of_joint[name]
            if m.a != joint.parent.name or not np.array_equal(m.frame, self.frames[pair]):
                pair = self.add_pair(m.a, m.b, m.frame)
            near = self.near_of((name, m.equation)) if m.primitive == ANGLE else -1
            terms.append((pair, m.primitive, near, coefficient))
        self.couplings.append(len(self.rows))
        self.add_row(row, terms, law.offset)

    def asked(self, known: set[int]) -> np.ndarray:
        """(row, term) of each angle that a coupling gives once the others in it are known, in order.

        Of several that nothing gives, the last follows the others.
        """
        terms_of = {r: range(self.table[r][0], self.table[r][0] + self.table[r][1]) for r in self.couplings}
        angles = {r: [e for e in terms_of[r] if self.terms[e][3] >= 0] for r in self.couplings}
        rows_of: dict[int, list[int]] = {}
        for r in self.couplings:
            for e in angles[r]:
                rows_of.setdefault(self.terms[e][3], []).append(r)
        known = set(known)
        open_ = {r: [e for e in angles[r] if self.terms[e][3] not in known] for r in self.couplings}
        found = []

        def know(k: int) -> None:
            known.add(k)
            for r in rows_of.get(k, ()):
                open_[r] = [e for e in open_[r] if self.terms[e][3] != k]
                if len(open_[r]) == 1:
                    ready.append(r)

        ready = [r for r in self.couplings if len(open_[r]) == 1]
        for start in self.couplings:
            while open_[start] or ready:
                while ready:
                    r = ready.pop()
                    if open_[r]:
                        found.append((r, open_[r][0]))
                        know(self.terms[open_[r][0]][3])
                if open_[start]:
                    know(self.terms[open_[start][0]][3])
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def tables(self) -> ConstraintTables:
        return ConstraintTables(
            np.array(self.pairs, dtype=np.int64).reshape(-1, 2), np.array(self.frames).reshape(-1, 24),
            np.array(self.terms, dtype=np.int64).reshape(-1, 4), np.array(self.scale, dtype=float),
            np.array(self.table, dtype=np.int64).reshape(-1, 3), np.array(self.offset, dtype=float),
            self._numbers_of_rows(), np.array([end[2:5] for end in _open_ends(self.terms, self.data)]).reshape(-1, 3),
        )  # fmt: skip

    def _numbers_of_rows(self) -> np.ndarray | Rolls:
        alone = all(CONTACT <= kind <= EDGE for _, kind, data, _ in self.terms if data >= 0 and kind >= NORMAL)
        return Rolls(np.array(self.data)) if leaves_out(alone) else np.array(self.data)


def beyond_ends(tables: ConstraintTables, rows: Sequence[Row], near: np.ndarray) -> list[tuple[str, str]]:
    """(joint, what is wrong) of every point that has left the ends of its open curve or surface, with parameters `near`."""
    found = []
    for e, letter, place, low, high, start, end in _open_ends(tables.terms.tolist(), tables.data):
        x = float(near[place])
        if not low <= x <= high:
            (row,) = [r for r, (first, count, _) in enumerate(tables.rows.tolist()) if first <= e < first + count]
            what = f"has left its {'curve' if Terms(tables.terms)[e].primitive == NORMAL else 'surface'}: {letter} = {x:.6g}"
            found.append((rows[row].joint, f"{what} is not within {start:g} and {end:g}"))
    return found


def _open_ends(terms: Sequence[Sequence[int]], data: Any) -> Iterator[tuple[int, str, int, float, float, float, float]]:
    """Term, letter and place in `near` of each parameter that has ends, what rounding may pass them by to, and the ends."""
    for e, (_, kind, k, place) in enumerate(terms):
        ranges = curve.ranges(data, k) if kind == NORMAL else surface.ranges(data, k) if kind == SURFACE else []
        for i, (letter, start, end) in enumerate(ranges):
            if end < np.inf:
                slack = 1e-9 * (end - start)
                yield e, letter, place + i, start - slack, end + slack, start, end


class Measured(NamedTuple):
    """What is driven or coupled: a primitive between a frame of body `a` and one of body `b`, its offset, and its joint."""

    a: str
    b: str
    frame: np.ndarray
    primitive: int
    offset: float
    joint: str
    equation: str


class DrivenRow(NamedTuple):
    """A row of a driver: what it sets to a function of the time, which other functions its primitive follows, and where these lie."""

    what: Measured
    function: Function
    followed: tuple[Function, ...] = ()
    data: int = -1


def driven_rows(builder: RowBuilder, driver: Driver) -> list[DrivenRow]:
    """The rows of a driver: three of one of a whole orientation, one of all others."""
    system = builder.system
    if not isinstance(driver, OrientationDriver) or driver.given == "angle":
        return [DrivenRow(measured(system, driver), driver.resolved(system.values))]
    (a, R_A, p_A), (b, R_B, p_B) = system.frame(driver.seen_from), system.frame(driver.frame)
    frame, functions = np.concatenate([R_A.ravel(), p_A, R_B.ravel(), p_B]), driver.functions(system.values)
    data = len(builder.data)
    builder.data += [float(FOLLOWED[driver.given]), *driver.data(system.values)]
    return [
        DrivenRow(Measured(a.name, b.name, frame, NUMBER[row], 0.0, "", row), Constant(0.0), functions, data)
        for row in ORIENT
    ]


def measured(system: System, driver: Driver) -> Measured:
    if isinstance(driver, PointDriver):
        # C = e · (p − p₀) + e · p₀ − f with the point's place p₀ as described
        body, _, p_BF = system.frame(driver.point)
        R, p = body.pose(system.values)
        i, p0 = COMPONENTS.index(driver.component), p + R @ p_BF
        frame = np.concatenate([np.eye(3).ravel(), p0, R.T.ravel(), p_BF])
        return Measured("ground", body.name, frame, i, -float(p0[i]), "", ("DX", "DY", "DZ")[i])
    if isinstance(driver, OrientationDriver):
        (a, R_A, p_A), (b, R_B, p_B) = system.frame(driver.seen_from), system.frame(driver.frame)
        equation = str(driver.angle).capitalize()
        if equation == "Roll":
            frame = np.concatenate([(R_B @ turned("TiltXZ")).ravel(), p_B, (R_A @ turned("TiltXZ")).ravel(), p_A])
            return Measured(b.name, a.name, frame, ANGLE, 0.0, "", equation)
        frame = np.concatenate([R_A.ravel(), p_A, R_B.ravel(), p_B])
        return Measured(a.name, b.name, frame, PITCH if equation == "Pitch" else ANGLE, 0.0, "", equation)
    return coordinate(system.joint(driver.joint), driver.freedom, system.values)


def turned(equation: str) -> np.ndarray:
    """The axes (x, y, z) of both frames, as columns, in which an angle of a joint is one about z from x to x: (J, I × J, I) of AngleIJ;
    (I, I × J, −J) of TiltJI, seen from the child."""
    first, second = ("XYZ".index(letter) for letter in LONG.get(equation, equation)[-2:])
    e = np.eye(3)
    if equation.startswith("Angle"):
        return np.stack([e[second], cross_product(e[first], e[second]), e[first]], axis=1)
    return np.stack([e[second], cross_product(e[second], e[first]), -e[first]], axis=1)


def slot_frame(joint: RevolutePrismatic, values: dict[str, float]) -> np.ndarray:
    """The frames of the pair of a slide, child first: S on the child, that of the joint on the parent."""
    R_AJ, p_AJ, _, _ = joint.frames(values)
    R_BS, p_BS = joint.slot(values)
    return np.concatenate([R_BS.ravel(), p_BS, R_AJ.ravel(), p_AJ])


def coordinate(joint: Joint, freedom: int, values: dict[str, float]) -> Measured:
    """How a coordinate of a joint is measured."""
    equation = joint.coordinates[freedom]
    R_AJ, p_AJ, R_BJ, p_BJ = joint.frames(values)
    if isinstance(joint, RevolutePrismatic) and equation == "Slide":
        frame = slot_frame(joint, values)
        return Measured(joint.child.name, joint.parent.name, frame, NUMBER["DX"], 0.0, joint.name, equation)
    if is_angle(equation):
        C = turned(equation)
        if equation.startswith("Tilt"):
            frame = np.concatenate([(R_BJ @ C).ravel(), p_BJ, (R_AJ @ C).ravel(), p_AJ])
            return Measured(joint.child.name, joint.parent.name, frame, ANGLE, 0.0, joint.name, equation)
        frame = np.concatenate([(R_AJ @ C).ravel(), p_AJ, (R_BJ @ C).ravel(), p_BJ])
        return Measured(joint.parent.name, joint.child.name, frame, ANGLE, 0.0, joint.name, equation)
    frame = np.concatenate([R_AJ.ravel(), p_AJ, R_BJ.ravel(), p_BJ])
    return Measured(joint.parent.name, joint.child.name, frame, NUMBER[equation], 0.0, joint.name, equation)


def _terms(joint: Joint, equation: str, values: dict[str, float]) -> list[tuple[int, float]]:
    """(primitive, coefficient) of the terms of a row."""
    if equation == "Screw":
        return [(NUMBER["DZ"], 1.0), (NUMBER["Angle"], -joint.own_number(values))]
    return [(NUMBER[SLOT.get(equation, equation)], 1.0)]

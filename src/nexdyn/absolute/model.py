"""From a system to absolute coordinates: tables of rows, masses, the described state, and the names behind them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from nexdyn.constraints import rows as kernels
from nexdyn.constraints.kinds import ANGLE, NUMBER
from nexdyn.constraints.tables import ConstraintTables
from nexdyn.errors import InputError
from nexdyn.joints.helical import Helical
from nexdyn.model.driver import COMPONENTS, Driver, PointDriver
from nexdyn.model.functions import Function
from nexdyn.model.joint import Joint
from nexdyn.model.parameters import number
from nexdyn.model.system import System
from nexdyn.spatial.rotations import exp_quaternion, quaternion, quaternion_multiply, rotation_matrix


class Row(NamedTuple):
    """One constraint equation of a joint, or of a driver: `direction` says which motion it forbids."""

    joint: str
    equation: str
    priority: int
    index: int  # type: ignore[assignment]
    """Its place among all rows (not the tuple's own `index`)."""
    driver: str | None = None
    """The driver whose row it is; `joint` is then the joint that it drives, or empty."""

    @property
    def direction(self) -> str:
        """In words: which relative motion of the joint the row forbids."""
        words = {"DX": "translation along x", "DY": "translation along y", "DZ": "translation along z"}
        if self.equation in words:
            return words[self.equation]
        if self.equation == "DotZZ":
            return "rotation about the common perpendicular of the two axes"
        if self.equation.startswith("Dot"):
            i, j = self.equation[3], self.equation[4]
            third = ({"X", "Y", "Z"} - {i, j}).pop() if i != j else i
            return f"rotation about {third.lower()}"
        words = {
            "Screw": "advance beside the screw's pitch", "Distance": "translation along the line of its two points",
            "Angle": "rotation about z", "Tilt": "rotation about x",
        }  # fmt: skip
        return words.get(self.equation, self.equation)

    def __str__(self) -> str:
        return f"{self.joint}.{self.equation}" if self.driver is None else f"driver {self.driver!r}"


class DriverRow(NamedTuple):
    """The row of a driver, its function of time, and the terms that count an angle near the function's value."""

    name: str
    row: int
    function: Function
    angles: list[int]


@dataclass(frozen=True)
class AbsoluteModel:
    """A system in absolute coordinates. Arrays as in ``constraints.tables``; body 0 is the ground."""

    system: System
    bodies: list[str]
    rows: list[Row]
    tables: ConstraintTables
    mass: np.ndarray
    q: np.ndarray
    v: np.ndarray
    drivers: tuple[DriverRow, ...] = ()

    @property
    def nb(self) -> int:
        """Bodies besides the ground."""
        return len(self.bodies) - 1

    @property
    def nv(self) -> int:
        """Velocities: six a body."""
        return 6 * self.nb

    @property
    def nc(self) -> int:
        """Constraint rows."""
        return len(self.rows)

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Number of each body."""
        return {name: i for i, name in enumerate(self.bodies)}

    @cached_property
    def rows_of_joint(self) -> dict[str, list[int]]:
        """Indices of the rows of each joint."""
        found: dict[str, list[int]] = {}
        for row in self.rows:
            if row.driver is None:
                found.setdefault(row.joint, []).append(row.index)
        return found

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(row, column, kept) of the entries (nt, 12) of the term Jacobian."""
        term_row = np.repeat(np.arange(self.nc), self.tables.rows[:, 1])
        bodies = self.tables.pairs[self.tables.terms[:, 0]]
        column = 6 * (bodies[:, :, None] - 1) + np.arange(6)
        kept = np.broadcast_to((bodies > 0)[:, :, None], column.shape)
        return np.repeat(term_row, 12), column.reshape(-1), kept.reshape(-1).copy()

    # --- constraints ------------------------------------------------------------------------------------------------

    def residual(self, q: np.ndarray, t: float = 0.0) -> np.ndarray:
        """C(q, t) (nc,); a driven angle is counted near what its driver says, so that it may turn many times."""
        C = np.empty(self.nc)
        reference = np.zeros(len(self.tables.terms))
        said = [float(driver.function.value(t)) for driver in self.drivers]
        for driver, f in zip(self.drivers, said, strict=True):
            reference[driver.angles] = f
        kernels.values(self.tables, q, reference, C)
        for driver, f in zip(self.drivers, said, strict=True):
            C[driver.row] -= f
        return C

    def nu(self, t: float = 0.0) -> np.ndarray:
        """ν = ḟ (nc,): Cq v = ν."""
        nu = np.zeros(self.nc)
        for driver in self.drivers:
            nu[driver.row] = driver.function.derivative(t)
        return nu

    def term_jacobian(self, q: np.ndarray) -> np.ndarray:
        """Gradients of the terms (nt, 12)."""
        J = np.empty((len(self.tables.terms), 12))
        kernels.jacobian(self.tables, q, J)
        return J

    def jacobian(self, q: np.ndarray) -> sp.csr_matrix:
        """Cq (nc, 6 nb) for the velocities (ω in the body, v in the world) of each body."""
        row, column, kept = self._pattern
        J = self.term_jacobian(q).reshape(-1)
        return sp.csr_matrix((J[kept], (row[kept], column[kept])), shape=(self.nc, self.nv))

    def gamma(self, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> np.ndarray:
        """γ (nc,) = −Γ(v, v) + f̈: Cq a = γ."""
        gamma = np.empty(self.nc)
        kernels.quadratic(self.tables, q, v, gamma)
        for driver in self.drivers:
            gamma[driver.row] += driver.function.second_derivative(t)
        return gamma

    def curvature(self, q: np.ndarray, weight: np.ndarray) -> sp.csr_matrix:
        """Σ weight_r C_qq (6 nb, 6 nb) for increments R exp(θ), p + δ."""
        n = len(self.tables.pairs)
        H = np.zeros((n, 12, 12))
        kernels.curvature(self.tables, q, weight, H)
        column = (6 * (self.tables.pairs[:, :, None] - 1) + np.arange(6)).reshape(n, 12)
        i, j = np.broadcast_to(column[:, :, None], H.shape), np.broadcast_to(column[:, None, :], H.shape)
        kept = ((i >= 0) & (j >= 0)).reshape(-1)
        return sp.csr_matrix(
            (H.reshape(-1)[kept], (i.reshape(-1)[kept], j.reshape(-1)[kept])), shape=(self.nv, self.nv)
        )

    # --- bodies -----------------------------------------------------------------------------------------------------

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """q after increments (θ in the body, δ in the world) of every body, `step` (6 nb,)."""
        step = step.reshape(-1, 6)
        out = q.copy()
        out[1:, :4] = quaternion_multiply(q[1:, :4], exp_quaternion(step[:, :3]))
        out[1:, :4] /= np.linalg.norm(out[1:, :4], axis=1, keepdims=True)
        out[1:, 4:] += step[:, 3:]
        return out

    def mass_matrix(self, q: np.ndarray) -> sp.csr_matrix:
        """M (6 nb, 6 nb): [[I, m ĉ Rᵀ], [−m R ĉ, m 1]] a body, about its origin."""
        R = rotation_matrix(q[1:, :4])
        m, h, I = self.mass[1:, 0], self.mass[1:, 1:4], _full(self.mass[1:, 4:])
        blocks = np.zeros((self.nb, 6, 6))
        blocks[:, :3, :3] = I
        blocks[:, :3, 3:] = _skew(h) @ np.swapaxes(R, 1, 2)
        blocks[:, 3:, :3] = np.swapaxes(blocks[:, :3, 3:], 1, 2)
        blocks[:, 3:, 3:] = m[:, None, None] * np.eye(3)
        return sp.csr_matrix(sp.bsr_matrix((blocks, np.arange(self.nb), np.arange(self.nb + 1)), shape=(self.nv,) * 2))

    def applied(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """τ − h (6 nb,) of gravity and the gyroscopic terms, once: torque −ω × Iω + h × Rᵀg, force m g − R ω × (ω × h)."""
        R = rotation_matrix(q[1:, :4])
        m, h, I, w = self.mass[1:, 0], self.mass[1:, 1:4], _full(self.mass[1:, 4:]), v[1:, :3]
        g = self.system.gravity
        out = np.empty((self.nb, 6))
        out[:, :3] = np.cross(h, np.einsum("nji,j->ni", R, g)) - np.cross(w, np.einsum("nij,nj->ni", I, w))
        out[:, 3:] = m[:, None] * g - np.einsum("nij,nj->ni", R, np.cross(w, np.cross(w, h)))
        return out.reshape(-1)


def _skew(a: np.ndarray) -> np.ndarray:
    S = np.zeros((*a.shape[:-1], 3, 3))
    S[..., 0, 1], S[..., 0, 2], S[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    return S - np.swapaxes(S, -1, -2)


def _full(I: np.ndarray) -> np.ndarray:
    """3×3 of (xx, xy, xz, yy, yz, zz)."""
    return I[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)


def absolute_model(system: System, drivers: bool = True) -> AbsoluteModel:
    """The absolute coordinates of `system`, as described; `drivers`: whether its drivers act."""
    bodies = ["ground", *system.bodies]
    number_of = {name: i for i, name in enumerate(bodies)}
    values = system.values
    q, v, mass = np.zeros((len(bodies), 7)), np.zeros((len(bodies), 6)), np.zeros((len(bodies), 10))
    q[:, 0] = 1.0
    for i, body in enumerate(system.bodies.values(), start=1):
        resolved = body.resolved(values)
        q[i, :4], q[i, 4:] = quaternion(resolved.R), resolved.p
        c, m = resolved.com, resolved.mass
        I = resolved.inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
        mass[i, 0], mass[i, 1:4], mass[i, 4:] = m, m * c, I[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]

    rows: list[Row] = []
    pairs: list[tuple[int, int]] = []
    terms: list[tuple[int, int]] = []
    frames, scale, table, offset = [], [], [], []
    angles_of: dict[str, list[int]] = {}
    for joint in system.joints.values():
        R_AJ, p_AJ, R_BJ, p_BJ = joint.frames(values)
        pairs.append((number_of[joint.parent.name], number_of[joint.child.name]))
        frames.append(np.concatenate([R_AJ.ravel(), p_AJ, R_BJ.ravel(), p_BJ]))
        for equation, priority in joint.rows:
            parts = _terms(joint, equation, values)
            table.append((len(terms), len(parts), -1))
            offset.append(joint.offset(equation, values))
            terms += [(len(pairs) - 1, kind) for kind, _ in parts]
            scale += [s for _, s in parts]
            if any(kind == ANGLE for kind, _ in parts):
                first = len(terms) - len(parts)
                angles_of[joint.name] = [first + n for n, (kind, _) in enumerate(parts) if kind == ANGLE]
            rows.append(Row(joint.name, equation, joint.row_priority(equation, priority), len(rows)))
    driven: list[DriverRow] = []
    for driver in system.drivers.values() if drivers else ():
        # a pair of its own beside that of its joint, so that the joint's reaction is without what drives it
        measured = _measured(system, driver)
        pairs.append((number_of[measured.a], number_of[measured.b]))
        frames.append(measured.frame)
        angles = [len(terms)]
        if measured.primitive == ANGLE:
            angles += angles_of.get(measured.joint, [])
        driven.append(DriverRow(driver.name, len(rows), driver.resolved(values), angles))
        table.append((len(terms), 1, len(driven) - 1))
        offset.append(measured.offset)
        terms.append((len(pairs) - 1, measured.primitive))
        scale.append(1.0)
        rows.append(Row(measured.joint, measured.equation, driver.priority, len(rows), driver.name))
    tables = ConstraintTables(
        np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(frames).reshape(-1, 24),
        np.array(terms, dtype=np.int64).reshape(-1, 2), np.array(scale, dtype=float),
        np.array(table, dtype=np.int64).reshape(-1, 3), np.array(offset, dtype=float),
    )  # fmt: skip
    return AbsoluteModel(system, bodies, rows, tables, mass, q, v, tuple(driven))


class _Measured(NamedTuple):
    """What a driver drives: a primitive between a frame of body `a` and one of body `b`, its offset, and its joint."""

    a: str
    b: str
    frame: np.ndarray
    primitive: int
    offset: float
    joint: str
    equation: str


def _measured(system: System, driver: Driver) -> _Measured:
    if isinstance(driver, PointDriver):
        # C = e · (p − p₀) + e · p₀ − f with the point's place p₀ as described
        body, _, p_BF = system.frame(driver.point)
        R, p = body.pose(system.values)
        i, p0 = COMPONENTS.index(driver.component), p + R @ p_BF
        frame = np.concatenate([np.eye(3).ravel(), p0, R.T.ravel(), p_BF])
        return _Measured("ground", body.name, frame, i, -float(p0[i]), "", ("DX", "DY", "DZ")[i])
    joint = system.joint(driver.joint)
    equation = joint.coordinates[driver.freedom]
    R_AJ, p_AJ, R_BJ, p_BJ = joint.frames(system.values)
    if equation == "Tilt":
        # the angle about x of B from z_A to z_B: that about z of frames with (x, y, z) = (z, y, −x), seen from B
        turned = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
        frame = np.concatenate([(R_BJ @ turned).ravel(), p_BJ, (R_AJ @ turned).ravel(), p_AJ])
        return _Measured(joint.child.name, joint.parent.name, frame, ANGLE, 0.0, joint.name, equation)
    frame = np.concatenate([R_AJ.ravel(), p_AJ, R_BJ.ravel(), p_BJ])
    return _Measured(joint.parent.name, joint.child.name, frame, NUMBER[equation], 0.0, joint.name, equation)


def _terms(joint: Joint, equation: str, values: dict[str, float]) -> list[tuple[int, float]]:
    """(primitive, coefficient) of the terms of a row."""
    if equation == "Screw":
        if not isinstance(joint, Helical):
            raise InputError(f"{joint} has a screw row but no pitch")
        return [(NUMBER["DZ"], 1.0), (NUMBER["Angle"], -number(joint.pitch, values, f"pitch of {joint}"))]
    return [(NUMBER[equation], 1.0)]

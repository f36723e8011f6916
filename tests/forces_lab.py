"""Forces on the bench: two bodies in random motion, one force between them, the kernels that the formulations call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nexdyn.forces import AppliedForce, Bushing, ForceTable, PlaneContact, PointSpring, SphereContact, TorsionSpring
from nexdyn.forces.tables import ForceTables, force_tables
from nexdyn.forces.verbs import element_energy, force_element, freedom_element, freedom_energy
from nexdyn.joints import Free, Prismatic, Revolute
from nexdyn.kernel import kernel
from nexdyn.model.force import Force
from nexdyn.model.system import System
from nexdyn.spatial.rotations import exp_rotation
from nexdyn.spatial.table import ForceRows, MotionRows, PoseRows

Array = np.ndarray


@kernel
def act(tables, e, t, motion, out):  # type: ignore[no-untyped-def]
    """Forces of element e: rows of `motion` are (X, V) of A and B, rows of `out` the forces on them; the status."""
    X, V, F = PoseRows(motion, 0), MotionRows(motion, 12), ForceRows(out, 0)
    a, b = 0 * e, 0 * e + 1
    status, F[a], F[b] = force_element(tables, e, t, X[a], V[a], X[b], V[b])
    return status


@kernel
def stored(tables, e, motion, out):  # type: ignore[no-untyped-def]
    """Energy of element e."""
    X = PoseRows(motion, 0)
    a, b = 0 * e, 0 * e + 1
    out[0, 0] = element_energy(tables, e, X[a], X[b])


@kernel
def act_in_joint(tables, e, t, state, out):  # type: ignore[no-untyped-def]
    """Effort and energy of element e at (q, v), the first row of `state`; the status."""
    status, effort = freedom_element(tables, e, t, state[0, 0], state[0, 1])
    out[0, 0], out[0, 1] = effort, freedom_energy(tables, e, state[0, 0])
    return status


class Motion(NamedTuple):
    """Poses and velocities of two frames: R (2, 3, 3), p, w, v (2, 3), in the world."""

    R: Array
    p: Array
    w: Array
    v: Array

    @classmethod
    def random(cls, rng: np.random.Generator, size: float = 1.0) -> Motion:
        """Of any attitude but within 6° of where the Tait–Bryan angles of B in A are singular."""
        while True:
            found = cls(exp_rotation(2.0 * rng.normal(size=(2, 3))), *size * rng.normal(size=(3, 2, 3)))
            R = found.R[0].T @ found.R[1]
            if np.hypot(R[1, 2], R[2, 2]) > 0.105:
                return found

    def after(self, dt: float) -> Motion:
        """The motion that this one is at dt = 0, with constant w and v."""
        return self._replace(R=exp_rotation(self.w * dt) @ self.R, p=self.p + self.v * dt)

    def row(self) -> Array:
        return np.hstack([self.R.reshape(2, 9), self.p, self.w, self.v])


def two_bodies() -> System:
    """Bodies 'a' and 'b', free, in the described pose of the world; 'slider' and 'wheel' on joints of one freedom."""
    system = System("bench")
    for name in ("a", "b", "slider", "wheel"):
        system.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.add_joint(Free("free a", system.ground, "a"))
    system.add_joint(Free("free b", system.ground, "b"))
    system.add_joint(Prismatic("slide", system.ground, "slider"))
    system.add_joint(Revolute("turn", system.ground, "wheel"))
    return system


def tables_of(system: System) -> ForceTables:
    """Its forces, where bodies are numbered as they stand and freedoms as their joints do."""
    numbers = {"ground": 0} | {name: i + 1 for i, name in enumerate(system.bodies)}
    firsts = {"free a": (0, 0), "free b": (7, 6), "slide": (14, 12), "turn": (15, 13)}
    return force_tables(system, lambda name: (numbers[name], np.eye(3), np.zeros(3)), firsts.__getitem__)


class Bench:
    """One force among two bodies (or in a joint) of a system, as the kernels see it."""

    def __init__(self, force: Force, system: System | None = None) -> None:
        self.system = system or two_bodies()
        self.force = self.system.add_force(force)
        self.tables = tables_of(self.system)

    def forces(self, motion: Motion, t: float = 0.0) -> Array:
        """(n, f) on A and on B, (2, 6), from the motion of the force's frames."""
        status, out = self.attempt(motion, t)
        assert status == 0
        return out

    def attempt(self, motion: Motion, t: float = 0.0) -> tuple[int, Array]:
        out = np.zeros((2, 6))
        return act(self.tables, len(self.tables.index) - 1, t, motion.row(), out), out

    def energy(self, motion: Motion) -> float:
        out = np.zeros((1, 1))
        stored(self.tables, len(self.tables.index) - 1, motion.row(), out)
        return float(out[0, 0])

    def power(self, motion: Motion, t: float = 0.0) -> float:
        F = self.forces(motion, t)
        return float(np.sum(F[:, :3] * motion.w) + np.sum(F[:, 3:] * motion.v))

    def energy_rate(self, motion: Motion, h: float = 1e-3) -> float:
        """U̇ by differences of order 4."""
        U = [self.energy(motion.after(dt)) for dt in (-2 * h, -h, h, 2 * h)]
        return (U[0] - 8 * U[1] + 8 * U[2] - U[3]) / (12 * h)

    def in_joint(self, q: float, v: float = 0.0, t: float = 0.0) -> tuple[float, float]:
        """Effort and energy."""
        status, out = self.attempt_in_joint(q, v, t)
        assert status == 0
        return float(out[0]), float(out[1])

    def attempt_in_joint(self, q: float, v: float = 0.0, t: float = 0.0) -> tuple[int, Any]:
        out = np.zeros((1, 2))
        return act_in_joint(self.tables, len(self.tables.index) - 1, t, np.array([[q, v]]), out), out[0]


def at(p_b: Any = (0.0, 0.0, 0.0), R_b: Any = None, w_b: Any = (0.0, 0.0, 0.0), v_b: Any = (0.0, 0.0, 0.0)) -> Motion:
    """A at rest in the world's frame, B as given."""
    o = np.zeros(3)
    return Motion(
        np.array([np.eye(3), np.eye(3) if R_b is None else R_b]),
        *(np.array([o, np.asarray(x, dtype=float)]) for x in (p_b, w_b, v_b)),
    )


# --- one of each --------------------------------------------------------------------------------------------------

X = (-1.0, -0.4, 0.1, 0.7, 1.5)
Y = (-30.0, -3.0, 1.0, 5.0, 40.0)


def symmetric(rng: np.random.Generator, scale: float) -> Any:
    A = rng.normal(size=(6, 6))
    return (scale * (A @ A.T)).tolist()


def seeded() -> np.random.Generator:
    return np.random.default_rng(7)


def table(interpolation: str, extrapolation: str = "linear", **kw: Any) -> ForceTable:
    return ForceTable(
        "f", "a", "b", deflections=X, forces=Y, interpolation=interpolation, extrapolation=extrapolation, rest=2.0, **kw
    )


CONSERVATIVE: dict[str, Callable[[], Force]] = {
    "point spring": lambda: PointSpring("f", "a", "b", stiffness=7.0, length=0.6, force=1.3),
    "torsion spring": lambda: TorsionSpring("f", "a", "b", stiffness=7.0, rest=0.5, torque=1.3),
    "bushing": lambda: Bushing("f", "a", "b", stiffness=symmetric(seeded(), 10.0), damping=(0.0,) * 6),
    "bushing by angles": lambda: Bushing("f", "a", "b", stiffness=symmetric(seeded(), 10.0), angles="xyz"),
    "table, linear": lambda: table("linear"),
    "table, monotone": lambda: table("monotone"),
    "table, natural": lambda: table("natural", "constant"),
    "plane contact": lambda: PlaneContact("f", "a", "b", radius=9.0, length=1.0, stiffness=7.0),
    "sphere contact": lambda: SphereContact("f", "a", "b", radius_a=9.0, radius_b=8.0, stiffness=7.0),
    "contact in a hollow": lambda: SphereContact("f", "a", "b", radius_a=1.0, radius_b=1.1, hollow=True, stiffness=7.0),
}
DAMPED: dict[str, Callable[[], Force]] = {
    "point spring": lambda: PointSpring("f", "a", "b", stiffness=7.0, length=0.6, damping=3.0),
    "torsion spring": lambda: TorsionSpring("f", "a", "b", stiffness=7.0, damping=3.0),
    "bushing": lambda: Bushing("f", "a", "b", stiffness=(1.0,) * 6, damping=symmetric(seeded(), 1.0)),
    "bushing by angles": lambda: Bushing(
        "f", "a", "b", stiffness=(1.0,) * 6, damping=symmetric(seeded(), 1.0), angles="xyz"
    ),
    "table": lambda: table("linear", damping=3.0),
    "plane contact": lambda: PlaneContact(
        "f",
        "a",
        "b",
        radius=9.0,
        length=1.0,
        stiffness=7.0,
        damping=0.1,
        friction=0.4,
        friction_speed=1e-3,
        exponent=2.0,
    ),
}
RUNNING: dict[str, Callable[[], Force]] = {
    "plane contact whose surfaces run": lambda: PlaneContact(
        "f",
        "a",
        "b",
        radius=9.0,
        length=1.0,
        axis=(1.0, 2.0, 0.5),
        normal=(0.6, 0.0, 0.8),
        stiffness=7.0,
        damping=0.1,
        friction=0.4,
        friction_speed=1e-3,
        surface_velocity_a=(0.3, -0.2, 0.5),
        surface_velocity_b=(0.8, 0.1, -0.6),
        friction_across=0.1,
        friction_direction_a=(0.3, 1.0, -0.5),
    ),
    "sphere contact whose surfaces run": lambda: SphereContact(
        "f",
        "a",
        "b",
        radius_a=9.0,
        radius_b=8.0,
        stiffness=7.0,
        damping=0.1,
        friction=0.4,
        friction_speed=1e-3,
        surface_velocity_a=(0.3, -0.2, 0.5),
        surface_velocity_b=(0.8, 0.1, -0.6),
        friction_across=0.1,
        friction_direction_b=(0.3, 1.0, -0.5),
    ),
}
"""Their friction may drive."""
PAIRS = {f"{name}, conservative": make for name, make in CONSERVATIVE.items()} | DAMPED
IN_LANES = (
    PAIRS
    | RUNNING
    | {
        "applied, world": lambda: AppliedForce("f", "a", (1, "=t", 3), (4, 5, 6)),
        "applied, body": lambda: AppliedForce("f", "a", (1, "=t", 3), (4, 5, 6), expressed_in="body"),
        "long table": lambda: ForceTable(
            "f", "a", "b", deflections=np.linspace(0, 3, 40), forces=np.sin(np.arange(40.0))
        ),
    }
)

"""A force of contact alone: its energy and forces at given motions, without a system."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from nexdyn.forces.foundations import Foundations
from nexdyn.forces.surface_contact import surface_energy, surface_wrench
from nexdyn.forces.tables import ForceEntry, ForceTables, room_of
from nexdyn.kernel import kernel
from nexdyn.spatial.table import MotionRows, PoseRows


@kernel
def fill_energies(tables, A, B, out):  # type: ignore[no-untyped-def]
    X_A, X_B = PoseRows(A, 0), PoseRows(B, 0)
    for i in range(len(out)):
        out[i] = surface_energy(tables.room, tables, 0, 0, X_A[i], X_B[i])


@kernel
def fill_wrenches(tables, A, B, out):  # type: ignore[no-untyped-def]
    X_A, V_A, X_B, V_B = PoseRows(A, 0), MotionRows(A, 12), PoseRows(B, 0), MotionRows(B, 12)
    for i in range(len(out)):
        F, G = surface_wrench(tables.room, tables, 0, 0, (X_A[i], V_A[i], X_B[i], V_B[i]))
        row = out[i]
        row[0], row[1], row[2], row[3], row[4], row[5] = F.n.x, F.n.y, F.n.z, F.f.x, F.f.y, F.f.z
        row[6], row[7], row[8], row[9], row[10], row[11] = G.n.x, G.n.y, G.n.z, G.f.x, G.f.y, G.f.z


class Bench:
    """A contact over an area, or of a sphere; motions are rows (N, 18) of pose, angular velocity and velocity of its frames."""

    def __init__(self, contact: Foundations) -> None:
        self.contact, self.data = contact, contact.data({})
        self.tables = ForceTables(
            np.zeros((1, ForceEntry.columns), dtype=np.int64),
            np.zeros((1, 24)),
            np.array(self.data),
        )
        room = room_of([contact], {}, self.tables.index, self.tables.data)
        self.tables = self.tables._replace(room=room)

    def energies(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        out = np.zeros(len(A))
        fill_energies(self.tables, np.ascontiguousarray(A), np.ascontiguousarray(B), out)
        return out

    def wrenches(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """(N, 12): moment and force on a, then on b, each at its origin."""
        out = np.zeros((len(A), 12))
        fill_wrenches(self.tables, np.ascontiguousarray(A), np.ascontiguousarray(B), out)
        return out

    def seen(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """What is recorded, (N, 21)."""
        return self.contact.motion_table(self.data, A, B, np.zeros((len(A), 0)))[:, 0]


def motion(p: Any, R: np.ndarray | None = None, w: Any = (0, 0, 0), v: Any = (0, 0, 0)) -> np.ndarray:
    """A row of a motion."""
    return np.concatenate([(np.eye(3) if R is None else R).ravel(), p, w, v]).astype(float)


def at_random(
    rng: np.random.Generator, n: int, spread: float = 0.12, speed: float = 0.0, turning: float = 0.0
) -> np.ndarray:
    """Motions in all directions, (n, 18)."""
    R = Rotation.random(n, rng=rng).as_matrix()
    return np.array(
        [motion(spread * rng.normal(size=3), x, turning * rng.normal(size=3), speed * rng.normal(size=3)) for x in R]
    )

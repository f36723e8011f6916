"""A motion as it is shown: where every body is at any time, and what the joints transmit.

Between two samples a body's place is their mean by weight, and its attitude the same mean of the quaternions, made unit:

    p(t) = (1 − s) p_k + s p_{k+1},   q(t) ∝ (1 − s) q_k + s q_{k+1},   s = (t − t_k)/(t_{k+1} − t_k)

A wrench is that of the nearest sample. Of a very long motion of very many bodies only as many samples are kept as fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces.foundations import Foundations
from nexdyn.model.system import System
from nexdyn.results.contacts import contacts_of
from nexdyn.spatial.rotations import quaternion

if TYPE_CHECKING:
    from nexdyn.results.result import Result

MOST_BYTES = 256 * 2**20
"""Largest size of the poses and wrenches that are kept for showing."""
CONTACT_LENGTH = 0.3
"""Length of the arrow of a contact force that nine in ten do not exceed, of the size of the scene."""


class Frame(NamedTuple):
    """One moment: position (nb + 1, 3) [m] and quaternion (nb + 1, 4) of the bodies in the world, the ground last;
    wrench (nj, 6) of the joints' reactions (force [N], moment [N m], in the parent-side frame), or None;
    contact (nc, 6): where each contact acts [m] and its force on the body [N], in the world, or None;
    press (nc, 5): its normal, its area [m²] and its largest pressure [Pa], or None where none is over an area."""

    position: np.ndarray
    quaternion: np.ndarray
    wrench: np.ndarray | None
    contact: np.ndarray | None = None
    press: np.ndarray | None = None


@dataclass(frozen=True)
class Motion:
    """times (N,) [s]; bodies; position (N, nb, 3), quaternion (N, nb, 4); joints with wrench (N, nj, 6), or None;
    contact (N, nc, 6) and press (N, nc, 5), or None.

    result: what plots beside it are of; None for a pose alone. goes_on: whether it is a moment of a system that runs on.
    """

    system: System
    times: np.ndarray
    bodies: list[str]
    position: np.ndarray
    quaternion: np.ndarray
    joints: list[str] = field(default_factory=list)
    wrench: np.ndarray | None = None
    result: Result | None = None
    contact: np.ndarray | None = None
    press: np.ndarray | None = None
    goes_on: bool = False

    @classmethod
    def of(cls, result: Result) -> Motion:
        """The motion that a result holds."""
        observed = result.observed
        bodies, t = list(observed.labels.dims["body"]), result.recording.t
        joints = list(observed.labels.dims["joint"]) if observed.knows("reaction") else []
        touching = len(observed.labels.dims.get("contact", ()))
        contact = ["contact_point", "contact_force"] if touching and observed.knows("contact_force") else []
        at_points = [
            not (isinstance(force, Foundations) and force.over_area)
            for force in contacts_of(result.system) for _ in range(force.points)
        ]  # fmt: skip
        press = ["contact_direction", "contact_area", "contact_pressure"] if contact and not all(at_points) else []
        names = ["position", "orientation", *(["reaction"] if joints else []), *contact, *press]
        size = len(t) * (28 * len(bodies) + 24 * (len(joints) + touching) + (20 * touching if press else 0))
        stride = max(1, -(-size // MOST_BYTES))
        kept: dict[str, list[np.ndarray]] = {name: [] for name in names}
        for rows, found in observed.tables(names):
            first = -rows.start % stride
            for name, values in found.items():
                kept[name].append(values[first::stride].astype(np.float32))
        whole = {name: np.concatenate(parts) for name, parts in kept.items()}
        for name in press[1:]:
            whole[name][:, at_points] = 0.0  # by Hertz, pressures of another kind
        return cls(
            result.system, t[::stride].copy(), bodies, whole["position"], whole["orientation"], joints,
            whole.get("reaction"), result,
            np.concatenate([whole[name] for name in contact], axis=-1) if contact else None,
            np.concatenate([np.atleast_3d(whole[name]) for name in press], axis=-1) if press else None,
        )  # fmt: skip

    @classmethod
    def still(cls, system: System, poses: tuple[np.ndarray, np.ndarray] | None = None) -> Motion:
        """One pose: R (nb, 3, 3) and p (nb, 3) in the order of `system.bodies`; without `poses`, as described."""
        if poses is None:
            described = [body.pose(system.values) for body in system.bodies.values()]
            R, p = np.array([R for R, _ in described]).reshape(-1, 3, 3), np.array([p for _, p in described])
        else:
            R, p = poses
        q = quaternion(R) if len(R) else np.zeros((0, 4))
        position, attitude = p.reshape(1, -1, 3).astype(np.float32), q[None].astype(np.float32)
        return cls(system, np.zeros(1), list(system.bodies), position, attitude)

    @property
    def start(self) -> float:
        """Time of the first sample [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Time of the last sample [s]."""
        return float(self.times[-1])

    @property
    def moves(self) -> bool:
        """Whether there is more than one moment."""
        return len(self.times) > 1

    @property
    def moving(self) -> list[str]:
        """Names of the joints that have coordinates."""
        return [] if self.result is None else list(self.result.observed.tree.joint_names)

    def bracket(self, t: float) -> tuple[int, float]:
        """The sample k before `t` and the share s of the next one."""
        if not self.moves:
            return 0, 0.0
        k = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2))
        s = (t - self.times[k]) / (self.times[k + 1] - self.times[k])
        return k, float(np.clip(s, 0.0, 1.0))

    def at(self, t: float) -> Frame:
        """The moment `t` [s]; before the start the first sample, after the end the last."""
        k, s = self.bracket(t)
        m = k + 1 if s > 0.0 else k
        p = (1.0 - s) * self.position[k] + s * self.position[m]
        q = (1.0 - s) * self.quaternion[k] + s * self.quaternion[m]
        q /= np.linalg.norm(q, axis=-1, keepdims=True)
        nearest = m if s >= 0.5 else k
        wrench = None if self.wrench is None else self.wrench[nearest]
        contact = None if self.contact is None else self.contact[nearest]
        return Frame(
            np.concatenate([p, np.zeros((1, 3))]).astype(np.float32),
            np.concatenate([q, [[1.0, 0.0, 0.0, 0.0]]]).astype(np.float32),
            wrench,
            contact,
            None if self.press is None else self.press[nearest],
        )

    def contact_scale(self, size: float) -> float:
        """Length of an arrow a newton [m/N]: a contact force as large as nine in ten are is 0.3 of `size` [m]."""
        if self.contact is None:
            return 0.0
        forces = np.linalg.norm(self.contact[..., 3:], axis=-1)
        acting = forces[forces > 1e-9 * forces.max(initial=0.0)]
        return CONTACT_LENGTH * size / float(np.quantile(acting, 0.9)) if acting.size else 0.0

    @staticmethod
    def contact_arrows(f: Frame, scale: float, size: float) -> np.ndarray:
        """Ends (nc, 2, 3) of the arrows of the contacts that bear; an impact's arrow is as long as `size` [m] at most."""
        assert f.contact is not None
        point, arrow = f.contact[:, :3], f.contact[:, 3:] * np.float32(scale)
        length = np.linalg.norm(arrow, axis=1, keepdims=True)
        arrow = arrow * np.minimum(1.0, size / np.maximum(length, 1e-30))
        return np.asarray(np.stack([point, point + arrow], axis=1)[length[:, 0] > 1e-3 * size], dtype=np.float32)

    def body(self, name: str) -> int:
        """The row of a body in a frame; the ground's is the last."""
        return len(self.bodies) if name == "ground" else self.bodies.index(name)

    def path(self, point: tuple[int, np.ndarray], since: float, until: float, most: int) -> np.ndarray:
        """Where a point of a body went between two times: at most `most` positions (n, 3) [m]. point: row, p in it."""
        i, r = point
        first, last = np.searchsorted(self.times, (since, until))
        rows = np.arange(first, max(first, last), max(1, (last - first) // most))
        q, w = self.quaternion[rows, i, 1:], self.quaternion[rows, i, :1]
        u = np.cross(q, r)
        return np.asarray(self.position[rows, i] + r + 2.0 * (w * u + np.cross(q, u)), dtype=np.float32)


def motion_of(what: Any) -> Motion:
    """What is to be seen as a motion. InputError for something else."""
    from nexdyn.results.result import Result
    from nexdyn.view.poses import start_pose

    if isinstance(what, Motion):
        return what
    if isinstance(what, Result):
        return Motion.of(what)
    if isinstance(what, System):
        return Motion.still(what, start_pose(what))
    if isinstance(getattr(what, "system", None), System) and callable(getattr(what, "result", None)):
        return Motion.of(latest_of(what))
    raise InputError(f"{what!r} cannot be viewed; a Result, a System or a Simulation can")


def latest_of(simulation: Any) -> Result:
    """The last recorded state of a simulation alone."""

    if hasattr(simulation, "latest"):
        found: Result = simulation.latest()
        return found
    whole: Result = simulation.result()
    r, n = whole.recording, len(whole.recording.t)
    arrays: dict[str, Any] = {field.name: getattr(r, field.name) for field in fields(r)}
    last: dict[str, Any] = {name: x[-1:] for name, x in arrays.items() if isinstance(x, np.ndarray) and len(x) == n}
    return whole.of_samples(replace(r, **last), slice(n - 1, n))

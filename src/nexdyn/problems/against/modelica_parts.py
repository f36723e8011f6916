"""Parts of Modelica's MultiBody library as descriptions of ours: frames on links, and what joints and bodies hang on them.

A frame is a pose on a link: fixed parts move it on, joints begin a new link, bodies give their link mass. All coordinates at 0 is the
described pose; starts are q0 and v0 of the joints.

    box       m = ρ l w²,  I = m/12 diag(2 w², l² + w², l² + w²) about its middle, x along r;  w = l/20
    cylinder  m = ρ π l d²/4,  I = m diag(d²/8, (3 d²/4 + l²)/12, …);  d = l/20
    link      m = Σ m,  com = Σ m c / m,  I = Σ I + m (|d|² 1 − d dᵀ),  d = c − com
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from nexdyn.forces import AppliedForce, PointSpring
from nexdyn.joints import (
    Cylindrical,
    Free,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rod,
    Spherical,
    Universal,
)
from nexdyn.model.system import System
from nexdyn.problems.against.case import Curves
from nexdyn.results.result import Result

G = 9.80665
DENSITY = 7700.0
SLENDER = 20.0
SMALL = (0.001, 0.001, 0.001)
"""Inertia of a body that gives none."""
GROUND = "ground"
ROUNDING = 1e-12
EYE = np.eye(3)
Vector = Sequence[float] | np.ndarray
Signal = tuple[str, Callable[[Result], np.ndarray]]


@dataclass(frozen=True)
class Frame:
    """A pose on a link: p (3,), R (3, 3) in the link's axes, which are those of the world in the described pose but for its turn."""

    link: str
    p: np.ndarray
    R: np.ndarray


@dataclass
class Link:
    """A link in the described pose: p, R in the world, and the masses on it: (m, centre, inertia) in its axes."""

    p: np.ndarray
    R: np.ndarray
    masses: list[tuple[float, np.ndarray, np.ndarray]] = field(default_factory=list)

    def whole(self) -> tuple[float, np.ndarray, np.ndarray]:
        """m, com (3,) and inertia (3, 3) about it of all masses together."""
        m = sum(mass for mass, _, _ in self.masses)
        com = sum((mass * c for mass, c, _ in self.masses), np.zeros(3)) / m if m > 0 else np.zeros(3)
        inertia = np.zeros((3, 3))
        for mass, c, tensor in self.masses:
            d = c - com
            inertia += tensor + mass * (d @ d * EYE - np.outer(d, d))
        return m, com, inertia

    @property
    def massless(self) -> bool:
        """Whether it has no mass, or none about some axis."""
        _, _, inertia = self.whole()
        return bool(np.linalg.eigvalsh(inertia)[0] <= ROUNDING * np.trace(inertia))


def turned(n: Vector, degrees: float) -> np.ndarray:
    """Rotation about an axis by degrees."""
    axis = np.array(n, float) / np.linalg.norm(n)
    return np.asarray(Rotation.from_rotvec(np.deg2rad(degrees) * axis).as_matrix())


def cardan(angles: Vector) -> np.ndarray:
    """Turns about x, y and z of the turned axes in a row: Modelica's sequence {1, 2, 3} [rad]."""
    return np.asarray(Rotation.from_euler("XYZ", angles).as_matrix())


def across(n: np.ndarray) -> np.ndarray:
    """A direction at right angles to n."""
    x = np.cross(n, EYE[int(np.argmin(np.abs(n)))])
    return np.asarray(x / np.linalg.norm(x))


class Parts:
    """A mechanism that grows part by part; `system()` is its description."""

    def __init__(self, name: str, gravity: Vector = (0, -G, 0)) -> None:
        self._system = System(name, gravity=tuple(gravity))
        self.world = Frame(GROUND, np.zeros(3), EYE)
        self.links = {GROUND: Link(np.zeros(3), EYE)}
        self.later: list[Callable[[System], Any]] = []
        self.signals: dict[str, Signal] = {}
        self.springs: list[tuple[Frame, Frame, float, float, float]] = []
        self.dampers: dict[str, float] = {}
        self.loaded = self.closed = False

    # --- fixed parts and bodies

    def fixed(self, frame: Frame, r: Vector = (0, 0, 0), R: np.ndarray = EYE) -> Frame:
        """A frame further on, by r and then the turn R."""
        return Frame(frame.link, frame.p + frame.R @ np.array(r, float), frame.R @ R)

    def body(self, frame: Frame, m: float, r_CM: Vector = (0, 0, 0), inertia: Any = SMALL) -> Frame:
        """A body with its centre at r_CM; inertia about it, 3 or 3×3."""
        tensor = np.diag(inertia) if np.ndim(inertia) == 1 else np.array(inertia)
        centre = frame.p + frame.R @ np.array(r_CM, float)
        self.links[frame.link].masses.append((m, centre, frame.R @ tensor @ frame.R.T))
        return frame

    def box(self, frame: Frame, r: Vector, width: float | None = None, density: float = DENSITY) -> Frame:
        """A box from the frame to r; the frame at its end."""
        length = float(np.linalg.norm(r))
        w = length / SLENDER if width is None else width
        m = density * length * w * w
        self._slender(frame, r, m, m / 12 * 2 * w * w, m / 12 * (length**2 + w * w))
        return self.fixed(frame, r)

    def cylinder(self, frame: Frame, r: Vector, diameter: float | None = None, density: float = DENSITY) -> Frame:
        """A cylinder from the frame to r; the frame at its end."""
        length = float(np.linalg.norm(r))
        d = length / SLENDER if diameter is None else diameter
        m = density * np.pi * length * d * d / 4
        self._slender(frame, r, m, m * d * d / 8, m * (length**2 + 0.75 * d * d) / 12)
        return self.fixed(frame, r)

    def _slender(self, frame: Frame, r: Vector, m: float, along: float, over: float) -> None:
        e = np.array(r, float) / np.linalg.norm(r)
        self.body(frame, m, np.array(r, float) / 2, over * EYE + (along - over) * np.outer(e, e))

    # --- joints

    def _begin(self, name: str, frame: Frame) -> tuple[Frame, np.ndarray, np.ndarray]:
        """A new link at a frame; the frame on it, and its pose in the world."""
        parent = self.links[frame.link]
        p, R = parent.p + parent.R @ frame.p, parent.R @ frame.R
        self.links[name] = Link(p, R)
        return Frame(name, np.zeros(3), EYE), p, R

    def _joint(self, kind: Any, name: str, frame: Frame, axis: Vector, x: np.ndarray | None, **options: Any) -> Frame:
        child, p, R = self._begin(name, frame)
        n = np.array(axis, float) / np.linalg.norm(axis)
        reference = across(n) if x is None else x / np.linalg.norm(x)
        self.later.append(
            lambda system: system.add_joint(
                kind(name, frame.link, name, at=tuple(p), axis=tuple(R @ n), reference=tuple(R @ reference), **options)
            )
        )
        return child

    def _say(self, key: str, quantity: str, function: Callable[[Result], Any]) -> None:
        self.signals[key] = (quantity, lambda result: np.asarray(function(result)).reshape(len(result.t), -1))

    def _say_coordinates(self, name: str, columns: Sequence[tuple[int, str, str, str, str]]) -> None:
        def column(quantity: str, k: int) -> Callable[[Result], Any]:
            return lambda result: getattr(result, quantity)(name).values.reshape(len(result.t), -1)[:, k]

        for k, q, v, of_q, of_v in columns:
            self._say(f"{name}.{q}", f"{name} {of_q}", column("joint_position", k))
            self._say(f"{name}.{v}", f"{name} {of_v}", column("joint_velocity", k))

    def revolute(
        self, name: str, frame: Frame, n: Vector = (0, 0, 1), phi: float = 0.0, w: float | None = 0.0, **options: Any
    ) -> Frame:
        """A hinge about n."""
        if "damping" in options:
            self.dampers[name] = options["damping"]
        self._say_coordinates(name, [(0, "phi", "w", "angle", "angular velocity")])
        return self._joint(Revolute, name, frame, n, None, q0=phi, **({} if w is None else {"v0": w}), **options)

    def prismatic(
        self, name: str, frame: Frame, n: Vector = (1, 0, 0), s: float = 0.0, v: float | None = 0.0, **options: Any
    ) -> Frame:
        """A slide along n."""
        self._say_coordinates(name, [(0, "s", "v", "slide position", "slide velocity")])
        return self._joint(Prismatic, name, frame, n, None, q0=s, **({} if v is None else {"v0": v}), **options)

    def cylindrical(self, name: str, frame: Frame, n: Vector, phi: float, s: float) -> Frame:
        """A hinge about n that slides."""
        self._say_coordinates(
            name, [(0, "phi", "w", "angle", "angular velocity"), (1, "s", "v", "slide position", "slide velocity")]
        )
        return self._joint(Cylindrical, name, frame, n, None, q0=(phi, s))

    def universal(
        self,
        name: str,
        frame: Frame,
        n_a: Vector = (1, 0, 0),
        n_b: Vector = (0, 1, 0),
        phi: Vector = (0, 0),
        w: Vector | None = (0, 0),
    ) -> Frame:
        """A turn about n_a, then one about n_b."""
        self._say_coordinates(
            name,
            [
                (0, "phi_a", "w_a", "first angle", "first angular velocity"),
                (1, "phi_b", "w_b", "second angle", "second angular velocity"),
            ],
        )
        start = {} if w is None else {"v0": tuple(w)}
        return self._joint(Universal, name, frame, n_a, np.array(n_b, float), q0=tuple(phi), **start)

    def planar(self, name: str, frame: Frame, n: Vector, n_x: Vector, s: Vector, phi: float) -> Frame:
        """Slides across n, along n_x and n × n_x, and a turn about n."""
        self._say_coordinates(
            name,
            [
                (0, "s_x", "v_x", "x position", "x velocity"),
                (1, "s_y", "v_y", "y position", "y velocity"),
                (2, "phi", "w", "angle", "angular velocity"),
            ],
        )
        return self._joint(Planar, name, frame, n, np.array(n_x, float), q0=(*s, phi))

    def spherical(self, name: str, frame: Frame, angles: Vector = (0, 0, 0), w_rel_a: Vector = (0, 0, 0)) -> Frame:
        """A ball; w_rel_a is the angular velocity of frame_b in axes of frame_a."""
        R = cardan(angles)
        x, y, z, w = Rotation.from_matrix(R).as_quat()
        return self._joint(
            Spherical, name, frame, (0, 0, 1), EYE[0], q0=(w, x, y, z), v0=tuple(R.T @ np.array(w_rel_a, float))
        )

    def free(
        self, name: str, r: Vector = (0, 0, 0), v: Vector = (0, 0, 0), angles: Vector = (0, 0, 0), w: Vector = (0, 0, 0)
    ) -> Frame:
        """A link that nothing holds, at r with velocity v, turned by angles, with angular velocity w in the world."""
        R = cardan(angles)
        x, y, z, s = Rotation.from_matrix(R).as_quat()
        rates = (*(R.T @ np.array(w, float)), *(R.T @ np.array(v, float)))
        return self._joint(Free, name, self.world, (0, 0, 1), EYE[0], q0=(s, x, y, z, *r), v0=rates)

    def close(self, kind: Any, name: str, a: Frame, b: Frame, n: Vector = (0, 0, 1), x: Vector | None = None) -> None:
        """A joint that closes a loop between two frames; n and x in axes of both."""
        self.closed = True
        axis = np.array(n, float) / np.linalg.norm(n)
        reference = across(axis) if x is None else np.array(x, float) / np.linalg.norm(x)
        ends: dict[str, Any] = {"anchor_a": tuple(a.p), "anchor_b": tuple(b.p)}
        if kind is Rod or kind is Spherical:
            self.later.append(lambda system: system.add_joint(kind(name, a.link, b.link, **ends)))
            return
        if kind in (PointOnLine, PointOnPlane):
            ends["axis_a"] = tuple(a.R @ axis)
        else:
            ends |= {"axis_a": tuple(a.R @ axis), "reference_a": tuple(a.R @ reference)}
            ends |= {"axis_b": tuple(b.R @ axis), "reference_b": tuple(b.R @ reference)}
        self.later.append(lambda system: system.add_joint(kind(name, a.link, b.link, **ends)))

    def rod(self, name: str, a: Frame, b: Frame, length: float) -> None:
        """A distance between two frames."""
        self.closed = True
        self.later.append(
            lambda system: system.add_joint(
                Rod(name, a.link, b.link, length=length, anchor_a=tuple(a.p), anchor_b=tuple(b.p))
            )
        )

    # --- forces

    def spring(self, name: str, a: Frame, b: Frame, c: float = 0.0, length: float = 0.0, d: float = 0.0) -> None:
        """A spring and damper between two frames."""
        self.springs.append((a, b, c, length, d))
        self.later.append(
            lambda system: system.add_force(
                PointSpring(
                    name,
                    a.link,
                    b.link,
                    stiffness=c,
                    damping=d,
                    length=length,
                    anchor_a=tuple(a.p),
                    anchor_b=tuple(b.p),
                )
            )
        )

    def load(
        self, name: str, frame: Frame, force: Any = (0, 0, 0), torque: Any = (0, 0, 0), within: str = "world"
    ) -> None:
        """A force and torque on a frame, in axes of the world or of its link."""
        self.loaded = True
        self.later.append(
            lambda system: system.add_force(
                AppliedForce(name, frame.link, tuple(force), tuple(torque), expressed_in=within, anchor=tuple(frame.p))
            )
        )

    # --- what is compared

    @property
    def massless(self) -> bool:
        """Whether some link has no mass, or none about some axis."""
        return any(link.massless for name, link in self.links.items() if name != GROUND)

    def watch(self, name: str, frame: Frame) -> None:
        """Position and velocity of a frame in the world, its angular velocity in its own axes."""
        point = f"point of {name}"
        self.later.append(lambda system: system.add_marker(point, frame.link, position=tuple(frame.p)))

        def own(result: Result) -> np.ndarray:
            R = result.rotation(frame.link).values @ frame.R
            return np.einsum("nij,ni->nj", R, result.angular_velocity(frame.link).values)

        for r in ("r_0", "frame_a.r_0", "body.frame_a.r_0", "r_rel_a"):
            self._say(f"{name}.{r}", f"{name} position", lambda result: result.position(point).values)
        for v in ("v_0", "body.v_0", "v_rel_a"):
            self._say(f"{name}.{v}", f"{name} velocity", lambda result: result.velocity(point).values)
        for w in ("w_a", "body.w_a", "w_rel_b", "w_rel"):
            self._say(f"{name}.{w}", f"{name} own angular velocity", own)

    def alias(self, theirs: str, ours: str) -> None:
        """Another name of a signal."""
        self.signals[theirs] = self.signals[ours]

    def observe(self, result: Result) -> Curves:
        """All that can be compared."""
        return {quantity: function(result) for quantity, function in dict(self.signals.values()).items()}

    def system(self) -> System:
        """The description."""
        for name, link in self.links.items():
            if name == GROUND:
                continue
            m, com, inertia = link.whole()
            x, y, z, w = Rotation.from_matrix(link.R).as_quat()
            self._system.add_body(
                name,
                mass=m,
                inertia=inertia,
                com=tuple(com),
                position=tuple(link.p),
                orientation=(w, x, y, z),
                strict=False,
            )
        for add in self.later:
            add(self._system)
        return self._system

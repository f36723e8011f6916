"""The joint and spring cases of Project Chrono, with the curves that Adams computed.

One body of 1 kg in gravity of 9.80665 m/s² along −z, from rest, on a joint, a distance, a link or a spring to the ground, for 5 s.
Positions, velocities and accelerations are of the centre of mass, all in world axes; reactions are those on the ground, at the
joint's point on the ground. The parameters are those of the tests in `src/tests/unit_tests/joints` of github.com/projectchrono/chrono;
every tenth sample of the curves in `data/testing/joints` there is kept in `data/adams`; a copy of that repository can be read in its
place.

    E = ½ m |v|² + ½ ωᵀ I ω + m g z        constant in the cases without damper or drive
    own error = max |E(t) − E(0)| / max ½ (m |v|² + ωᵀ I ω)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from nexdyn.errors import InputError
from nexdyn.forces import PointSpring, UserForce, UserJointForce
from nexdyn.joints import Cylindrical, PointOnPlane, Prismatic, Revolute, Rod, Spherical, Universal
from nexdyn.model.driver import Driver
from nexdyn.model.system import System
from nexdyn.problems.against.case import Case, Curves, Reference, Scene
from nexdyn.problems.against.formulations import LIMIT, MINIMAL, closed, free, index1, order2, rk4
from nexdyn.problems.against.kept import kept
from nexdyn.problems.problem import Run
from nexdyn.results.result import Result
from nexdyn.spatial.rotations import rotation_matrix

G = 9.80665
CLONE = "git clone --depth 1 https://github.com/projectchrono/chrono"
EVERY = 10
"""Every which of the peer's samples, 10 ms apart, is compared."""
NAMES = {
    "Pos": "position", "Vel": "velocity", "Acc": "acceleration", "Quat": "orientation", "Avel": "angular velocity",
    "Aacc": "angular acceleration", "Rforce": "reaction force", "Rtorque": "reaction torque",
    "RforceP": "reaction force", "RtorqueP": "reaction torque", "RforceA": "drive force", "RtorqueA": "drive torque",
    "Rforce_Body1": "reaction force", "Rtorque_Body1": "reaction torque",
    "Rforce_Body2": "force on the body", "Rtorque_Body2": "torque on the body",
}  # fmt: skip
"""Ours, of the names of the peer's files."""
MASS = 1.0
ALONG_X = (0.04, 0.1, 0.1)
ALONG_Y = (0.1, 0.04, 0.1)
ALONG_Z = (0.1, 0.1, 0.04)
Vector = tuple[float, float, float]

# --- scenes ---------------------------------------------------------------------------------------------------------


def turned(axis: str, angle: float) -> np.ndarray:
    """The quaternion of a turn about x, y, z or about (1, −1, 0)/√2 ("d")."""
    n = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "d": (np.sqrt(0.5), -np.sqrt(0.5), 0)}[axis]
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array(n))])


UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def body_in(name: str, position: Any, orientation: np.ndarray, inertia: Vector) -> System:
    """The body alone."""
    system = System(name, gravity=(0, 0, -G))
    system.add_body("body", mass=MASS, inertia=inertia, position=tuple(position), orientation=tuple(orientation))
    return system


def on_joint(name: str, kind: type, at: Vector, q: np.ndarray, **options: Any) -> System:
    """The body on a joint about z of the frame q at a point; its centre is 2 m from there along x of that frame."""
    R = rotation_matrix(q)
    system = body_in(name, at + R @ (2, 0, 0), q, ALONG_X)
    joint = kind("joint", system.ground, "body", at=at, axis=tuple(R[:, 2]), reference=tuple(R[:, 0]), **options)
    system.add_joint(joint)
    return system


def on_cross(name: str, q: np.ndarray) -> System:
    """The body on a universal joint in the origin, x of the frame q kept by the ground and y by the body; it lies along −z."""
    R = rotation_matrix(q)
    system = body_in(name, R @ (0, 0, -2), q, ALONG_Z)
    cross = Universal("joint", system.ground, "body", at=(0, 0, 0), axis=tuple(R[:, 0]), reference=tuple(R[:, 1]))
    system.add_joint(cross)
    return system


def at_distance(name: str, ground: Vector, point: Vector, centre: Vector, q: np.ndarray) -> System:
    """A point of the body at a constant distance from one of the ground."""
    system = body_in(name, centre, q, ALONG_X)
    anchor = rotation_matrix(q).T @ (np.array(point) - centre)
    system.add_joint(Rod("joint", system.ground, "body", anchor_a=ground, anchor_b=tuple(anchor)))
    return system


def on_link(name: str, ground: Vector, axis: Vector, point: Vector, centre: Vector) -> System:
    """A point of the body at a constant distance from one of the ground, in a plane: a massless revolute-spherical link."""
    system = body_in(name, centre, UPRIGHT, ALONG_Y)
    anchor = tuple(np.array(point, float) - centre)
    system.add_joint(Rod("joint", system.ground, "body", anchor_a=ground, anchor_b=anchor))
    plane = PointOnPlane("plane", system.ground, "body", anchor_a=ground, axis_a=axis, anchor_b=anchor)
    system.add_joint(plane)
    return system


def on_massless_link(name: str, ground: Vector, axis: Vector, point: Vector, centre: Vector) -> System:
    """The same with the link as a body without mass, on a revolute joint and with the body on a spherical one."""
    system = body_in(name, centre, UPRIGHT, ALONG_Y)
    system.add_body("link", mass=0.0, inertia=(0, 0, 0), position=ground)
    system.add_joint(Revolute("joint", system.ground, "link", at=ground, axis=axis))
    system.add_joint(Spherical("ball", "link", "body", at=point))
    return system


def on_spring(
    name: str, ground: Vector, point: Vector, centre: Vector, q: np.ndarray, stiffness: float, damping: float
) -> System:
    """A point of the body on a spring-damper, relaxed at the start, whose other end is on the ground."""
    system = body_in(name, centre, q, ALONG_X)
    length = float(np.linalg.norm(np.subtract(point, ground)))
    system.add_force(
        PointSpring(
            "spring", "body", "ground", at_a=point, at_b=ground, stiffness=stiffness, damping=damping, length=length
        )
    )
    return system


def hard_spring(_t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """Force on A: −(50 δ + 10 |δ| δ + 5 δ̇) u with u = (p_A − p_B)/L and δ = L − 2 m."""
    d = A[:3] - B[:3]
    L = np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2)
    w = A[15:18] - B[15:18]
    rate = (d[0] * w[0] + d[1] * w[1] + d[2] * w[2]) / L
    delta = L - 2.0
    T = -(50.0 * delta + 10.0 * abs(delta) * delta + 5.0 * rate)
    out[:3] = 0.0
    out[3:] = T / L * d


def on_hard_spring(name: str, ground: Vector, point: Vector, centre: Vector, q: np.ndarray) -> System:
    """The same with a spring that grows stiffer: 50 N/m + 10 N/m² |δ| and 5 N s/m, relaxed at 2 m."""
    system = body_in(name, centre, q, ALONG_X)
    system.add_force(UserForce("spring", "body", "ground", at_a=point, at_b=ground, function=njit(hard_spring)))
    return system


def hard_torsion(_t: float, q: float, v: float) -> float:
    """−(50 + 10 |q|) q − 10 q̇."""
    return -(50.0 + 10.0 * abs(q)) * q - 10.0 * v


def on_torsion_spring(name: str, hard: bool) -> System:
    """The body on a hinge about y with a torsional spring and damper."""
    linear = {} if hard else {"stiffness": 200.0, "damping": 10.0}
    system = on_joint(name, Revolute, (0, 0, 0), turned("x", -np.pi / 2), **linear)
    if hard:
        system.add_force(UserJointForce("spring", "joint", function=njit(hard_torsion)))
    return system


def driven(name: str, q: np.ndarray, speed: float) -> System:
    """A plate on a prismatic joint along z of the frame q, driven at constant speed."""
    R = rotation_matrix(q)
    system = body_in(name, (0, 0, 0), q, (1, 1, 1))
    joint = Prismatic(
        "joint", system.ground, "body", at=(0, 0, 0), axis=tuple(R[:, 2]), reference=tuple(R[:, 0]), v0=speed
    )
    system.add_joint(joint)
    system.add_driver(Driver("drive", "joint", f"={speed}*t"))
    return system


# --- what is compared -----------------------------------------------------------------------------------------------


def motion(result: Result) -> dict[str, np.ndarray]:
    """The motion of the body's centre and axes."""
    return {
        "position": result.position("body").values,
        "velocity": result.velocity("body").values,
        "acceleration": result.acceleration("body").values,
        "orientation": result.orientation("body").values,
        "angular velocity": result.angular_velocity("body").values,
        "angular acceleration": result.angular_acceleration("body").values,
    }


def on_ground(result: Result, joint: str, whole: bool = False) -> np.ndarray:
    """Force and torque of a joint on the ground (2, N, 3), at its point there, in world axes."""
    wrench = (result.transmitted if whole else result.reaction)(joint).values
    R_AJ, _, _, _ = result.system.joint(joint).frames({})
    return np.array([-wrench[:, :3] @ R_AJ.T, -wrench[:, 3:] @ R_AJ.T])


def with_reaction(result: Result, whole: bool = False) -> Curves:
    """Motion and the joint's reaction on the ground."""
    force, torque = on_ground(result, "joint", whole)
    return {**motion(result), "reaction force": force, "reaction torque": torque}


def with_drive(result: Result) -> Curves:
    """Motion, the joint's reaction on the ground and what the drive does to the plate."""
    force, torque = on_ground(result, "joint")
    all_force, all_torque = on_ground(result, "joint", whole=True)
    own = {"drive force": force - all_force, "drive torque": torque - all_torque}
    return {**motion(result), "reaction force": force, "reaction torque": torque, **own}


def with_link(result: Result) -> Curves:
    """Motion, the link's reaction on the ground and on the body."""
    wrench = on_ground(result, "joint")
    if "plane" in result.system.joints:
        wrench = wrench + on_ground(result, "plane")
    force, torque = wrench
    on_body = {"force on the body": -force, "torque on the body": np.zeros_like(force)}
    return {**motion(result), "reaction force": force, "reaction torque": torque, **on_body}


def with_spring(result: Result) -> Curves:
    """Motion and the spring's force on the ground, by Newton's law of the body: m (g − a)."""
    found = motion(result)
    force = MASS * (np.array([0.0, 0.0, -G]) - found["acceleration"])
    return {**found, "reaction force": force, "reaction torque": np.zeros_like(force)}


def reference(name: str, inertia: Vector, conservative: bool, folder: Path | None) -> Reference:
    """The curves of a case, kept or in a copy of the peer's repository, and the drift of the peer's energy.

    Raises InputError where the files are not below the folder.
    """
    found = kept("adams", name) if folder is None else copied(name, folder)
    drift = energy_drift(found.curves, inertia) if conservative else np.nan
    return Reference(found.t, found.curves, drift)


def copied(name: str, folder: Path) -> Reference:
    """The curves of a case in a copy of the peer's repository. Raises InputError where the files are not below the folder."""
    found = {path.stem.rpartition("_ADAMS_")[2]: path for path in folder.rglob(f"{name}_ADAMS_*.txt")}
    if not found:
        raise InputError(f"no {name}_ADAMS_*.txt below {str(folder)!r}; get the curves of Adams with `{CLONE}`")
    columns = {key: np.loadtxt(path, skiprows=3)[::EVERY] for key, path in sorted(found.items()) if key in NAMES}
    curves = {NAMES[key]: values[:, 1:] for key, values in columns.items()}
    return Reference(next(iter(columns.values()))[:, 0], curves)


def energy_drift(curves: Curves, inertia: Vector) -> float:
    """Largest change of the energy over the largest kinetic energy; 0 where nothing moves."""
    R = rotation_matrix(curves["orientation"] / np.linalg.norm(curves["orientation"], axis=1)[:, None])
    omega = np.einsum("nij,ni->nj", R, curves["angular velocity"])
    kinetic = 0.5 * MASS * np.sum(curves["velocity"] ** 2, axis=1) + 0.5 * np.sum(np.array(inertia) * omega**2, axis=1)
    energy = kinetic + MASS * G * curves["position"][:, 2]
    largest = float(np.max(kinetic))
    return float(np.max(np.abs(energy - energy[0]))) / largest if largest > 0 else 0.0


# --- the cases ------------------------------------------------------------------------------------------------------

SOURCE = "Adams; github.com/projectchrono/chrono, data/testing/joints"


def case(
    name: str, title: str, scenes: Sequence[Scene], observe: Callable[[Result], Curves], inertia: Vector = ALONG_X,
    conservative: bool = True,
) -> Case:  # fmt: skip
    """A case with its name's curves."""
    tight = scenes[0].runs[0]
    source = f"{SOURCE}, {name}"
    return Case(
        name, title, source, partial(reference, name, inertia, conservative), tuple(scenes), observe, LIMIT, tight
    )


DOWN = turned("x", -np.pi / 2)
ASLANT = turned("x", -np.pi / 4)
O, P = (0.0, 0.0, 0.0), (1.0, 2.0, 3.0)


def of_trees(dt: float = 5e-4) -> tuple[Run, ...]:
    """All formulations of what is a tree, those of constant step with dt."""
    return (*free(dt), *rk4(dt))


def of_loops(dt: float = 5e-4) -> tuple[Run, ...]:
    """All formulations of what has a closed loop or a drive."""
    return (*closed(dt), *rk4(dt))


def jointed(name: str, title: str, kind: type, at: Vector, q: np.ndarray) -> Case:
    """The body on one joint of a tree."""
    return case(name, title, [Scene(partial(on_joint, name, kind, at, q), of_trees())], with_reaction)


def crossed(number: int, title: str, q: np.ndarray) -> Case:
    """The body on a universal joint."""
    name = f"Universal_Case0{number}"
    return case(name, title, [Scene(partial(on_cross, name, q), of_trees())], with_reaction, ALONG_Z)


def distant(number: int, title: str, *where: Any, dt: float = 5e-4) -> Case:
    """The body at a constant distance."""
    name = f"Distance_Case0{number}"
    return case(name, title, [Scene(partial(at_distance, name, *where), of_loops(dt))], with_reaction)


def linked(number: int, title: str, *where: Any) -> Case:
    """The body on a massless link."""
    name = f"RevSpherical_Case0{number}"
    dt = 2.5e-5
    of_a_body = (*MINIMAL[:2], *index1(), *order2(dt), *rk4(dt))
    scenes = [
        Scene(
            partial(on_massless_link, name, *where),
            tuple(replace(run, formulation=f"{run.formulation}, link as a body") for run in of_a_body),
        ),
        Scene(partial(on_link, name, *where), of_loops(dt)),
    ]
    return case(name, title, scenes, with_link, ALONG_Y)


def sprung(name: str, title: str, build: Callable[[], System], dt: float = 5e-4) -> Case:
    """The free body on a spring."""
    return case(name, title, [Scene(build, of_trees(dt))], with_spring, conservative=False)


def twisted(number: int, title: str, hard: bool) -> Case:
    """The body on a hinge with a torsional spring."""
    name = f"RotSpring_Case0{number}"
    scenes = [Scene(partial(on_torsion_spring, name, hard), of_trees())]
    return case(name, title, scenes, partial(with_reaction, whole=True), conservative=False)


def actuated(number: int, title: str, q: np.ndarray, speed: float) -> Case:
    """The plate that is driven."""
    name = f"LinActuator_Case0{number}"
    return case(
        name, title, [Scene(partial(driven, name, q, speed), of_loops())], with_drive, (1, 1, 1), conservative=False
    )


SIDE = ((1.0, 2.0, 3.0), (1.0, 4.0, 3.0), (-1.0, 4.0, 3.0), UPRIGHT)
LENGTHWAYS = (O, (0.0, 2.0, 0.0), (0.0, 4.0, 0.0), turned("z", -np.pi / 2))
STRAIGHT = (O, (0.0, 2.0, 0.0), (0.0, 2.0, 0.0), UPRIGHT)
FALLING = (O, O, O, UPRIGHT)

CASES = {
    c.name: c
    for c in (
        jointed("Revolute_Case01", "hinge about y", Revolute, O, DOWN),
        jointed("Revolute_Case02", "hinge along y = z", Revolute, P, ASLANT),
        jointed("Spherical_Case01", "ball in the origin", Spherical, O, UPRIGHT),
        jointed("Spherical_Case02", "ball, body tilted", Spherical, P, ASLANT),
        jointed("Cylindrical_Case01", "cylindrical joint, vertical", Cylindrical, O, UPRIGHT),
        jointed("Cylindrical_Case02", "cylindrical joint along y", Cylindrical, O, DOWN),
        jointed("Cylindrical_Case03", "cylindrical joint along y = z", Cylindrical, P, ASLANT),
        jointed("Prismatic_Case01", "slide, vertical", Prismatic, O, UPRIGHT),
        jointed("Prismatic_Case02", "slide along y = z", Prismatic, P, ASLANT),
        jointed("Prismatic_Case03", "slide along y", Prismatic, P, DOWN),
        crossed(1, "universal joint turned about x", turned("x", np.pi / 2)),
        crossed(2, "universal joint turned about y", turned("y", np.pi / 2)),
        crossed(3, "universal joint turned about x = −y", turned("d", np.pi / 2)),
        distant(1, "distance from the centre", *STRAIGHT),
        distant(2, "distance from a point off the centre", *SIDE, dt=5e-5),
        distant(3, "distance from the end", *LENGTHWAYS, dt=2.5e-4),
        linked(1, "link in the horizontal plane", O, (0.0, 0.0, 1.0), (2.0, 0.0, 0.0), (2.0, 2.0, 0.0)),
        linked(2, "link in a tilted plane", P, (0.0, 1.0, 1.0), (3.0, 2.0, 3.0), (3.0, 4.0, 3.0)),
        sprung("TranSpring_Case01", "spring of no length", partial(on_spring, "TranSpring_Case01", *FALLING, 10.0, 0.5)),
        sprung("TranSpring_Case02", "spring at the centre", partial(on_spring, "TranSpring_Case02", *STRAIGHT, 100.0, 5.0)),
        sprung("TranSpringCB_Case01", "spring of no length", partial(on_spring, "TranSpringCB_Case01", *FALLING, 10.0, 0.5)),
        sprung("TranSpringCB_Case02", "spring at the centre", partial(on_spring, "TranSpringCB_Case02", *STRAIGHT, 100.0, 5.0)),
        sprung("TranSpringCB_Case03", "stiffening spring off the centre", partial(on_hard_spring, "TranSpringCB_Case03", *SIDE), 2.5e-4),
        sprung("TranSpringCB_Case04", "stiffening spring at the end", partial(on_hard_spring, "TranSpringCB_Case04", *LENGTHWAYS)),
        twisted(1, "torsional spring", False),
        twisted(2, "stiffening torsional spring", True),
        actuated(1, "driven slide, vertical", UPRIGHT, 1.0),
        actuated(2, "driven slide along x = z", turned("y", np.pi / 4), 0.5),
    )
}  # fmt: skip

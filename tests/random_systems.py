"""Random mechanisms of everything that the package has, consistent by construction, and the power of what works in them.

    system_of(rng, kinds)      a tree of random joints; for each of `kinds` a body more that hangs on it and is held by that kind
    KINDS                      every joint, curve, surface, coupling, driver and force of the package, by name
    work(result)               ∫ Σ P dt of all that is no potential, from the poses and velocities alone, so that
                               T + V + U − ∫ Σ P dt is constant under every method

Who adds a joint, force, coupling, driver, curve or surface to the package adds a maker here, and for a force its power: the tests
compare these tables with the package's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
import systems
from scipy.integrate import cumulative_simpson
from scipy.spatial.transform import Rotation

import nexdyn as nx
from nexdyn.joints import JOINTS

TREE = [kind for kind, cls in JOINTS.items() if cls.tree]
ANGLES = ("revolute", "cylindrical", "helical")
LOOSE = ("free", "planar", "spherical", "cartesian", "free", "universal", "cylindrical")
"""Joints that leave a body freedom enough to be held by something else, too."""

# --- functions of the user's ----------------------------------------------------------------------------------------


@numba.njit
def wave(t: float, x: np.ndarray, R: np.ndarray) -> float:
    """A wavy floor, tilted as the child turns."""
    return x[2] - 0.2 * np.cos(2.0 * x[0]) + 0.1 * R[0, 1]


@numba.njit
def skew(t: float, x: np.ndarray, R: np.ndarray, out: np.ndarray) -> None:
    """ẋ₀ cos x₂ + ẋ₁ + ω_z/2 = 0: no function of the position has this rate."""
    out[:] = 0.0
    out[0], out[1], out[5] = np.cos(x[2]), 1.0, 0.5


@numba.njit
def helix(s: float) -> tuple[float, float, float]:
    return 0.6 * np.cos(s), 0.6 * np.sin(s), 0.2 * s


@numba.njit
def saddle(x: float, y: float, z: float) -> float:
    return z - 0.4 * x * y + 0.1 * x


@numba.njit
def hills(u: float, w: float) -> tuple[float, float, float]:
    return u, w, 0.3 * np.sin(u) * np.cos(w)


@numba.njit
def swirl(t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """A pull to B, a push across it that grows with time, and a torque against turning."""
    for i in range(3):
        out[3 + i] = 0.8 * (B[i] - A[i])
        out[i] = 0.2 * (B[12 + i] - A[12 + i])
    out[3] += 0.3 * t * (A[1] - B[1])


@numba.njit
def hollow(t: float, x: np.ndarray, out: np.ndarray) -> None:
    """A pull to the middle, and a push across it that grows with time."""
    for i in range(3):
        out[i] = -0.7 * x[i]
    out[0] += 0.3 * t * x[1]


@numba.njit
def stiffening(t: float, q: float, v: float) -> float:
    return -0.6 * q**3 - 0.1 * v + 0.2 * np.cos(5.0 * t)


@numba.njit
def sway(t: float) -> float:
    return 0.1 * np.sin(4.0 * t)


# --- what a mechanism is made of ------------------------------------------------------------------------------------

CURVES: dict[str, tuple[Callable[[], Any], tuple[float, float, float]]] = {
    "SplineCurve": (
        lambda: nx.SplineCurve(
            [(1, 0, 0), (0.3, 0.8, 0.2), (-0.8, 0.5, 0), (-0.7, -0.6, 0.3), (0.2, -0.9, 0)], closed=True
        ),
        (1, 0, 0),
    ),
    "ExpressionCurve": (lambda: nx.ExpressionCurve("=0.8*cos(s)", "=0.5*sin(s)", "=0.1*s", -4, 4), (0.8, 0, 0)),
    "UserCurve": (lambda: nx.UserCurve(helix, -9, 9), (0.6, 0, 0)),
}
SURFACES: dict[str, tuple[Callable[[], Any], tuple[float, float, float]]] = {
    "SphereSurface": (lambda: nx.SphereSurface(0.7), (0.42, 0.56, 0)),
    "CylinderSurface": (lambda: nx.CylinderSurface(0.5), (0.3, 0.4, -0.7)),
    "PlaneSurface": (lambda: nx.PlaneSurface(), (0.3, -0.2, 0)),
    "EllipsoidSurface": (lambda: nx.EllipsoidSurface((0.6, 1.0, 0.8)), (0, 1.0, 0)),
    "TorusSurface": (lambda: nx.TorusSurface(1.0, 0.3), (0, 1.0, 0.3)),
    "ImplicitSurface": (lambda: nx.ImplicitSurface(saddle), (0.5, 0.5, 0.05)),
    "ParametricSurface": (lambda: nx.ParametricSurface(hills, (-4, 4), (-4, 4)), (0, 0.4, 0)),
}
"""A curve or surface by its class, and a point of it."""

STARTS_AT_0: tuple[Callable[[], Any], ...] = (
    lambda: nx.Harmonic(0.1, 5.0), lambda: nx.Polynomial((0.0, 0.2, 0.3)), lambda: nx.Linear(0.0, 0.3), lambda: "=0.1*sin(6*t)",
    lambda: nx.Step5(0.0, 0.0, 0.3, 0.1), lambda: nx.Table((0.0, 0.1, 0.2, 0.5), (0.0, 0.02, 0.05, 0.1), kind="cubic"),
    lambda: nx.UserFunction(sway), lambda: nx.Constant(0.0),
)  # fmt: skip
"""Functions of time that are 0 at the start, where every joint is."""


def across(rng: np.random.Generator, z: np.ndarray) -> np.ndarray:
    """A random direction at right angles to z."""
    x = np.cross(z, rng.normal(size=3))
    return np.asarray(x / np.linalg.norm(x))


class Draft:
    """A system in the making: its bodies with their poses. Afloat, nothing but free joints is on the ground."""

    def __init__(self, rng: np.random.Generator, afloat: bool = False) -> None:
        self.rng, self.afloat = rng, afloat
        self.system = nx.System("random", gravity=(0, 0, 0) if afloat else 3.0 * rng.normal(size=3))
        self.poses = {"ground": (np.eye(3), np.zeros(3))}

    def name(self, what: str) -> str:
        """One that is not taken."""
        taken = (*self.system.joints, *self.system.forces, *self.system.couplings, *self.system.drivers, *self.poses)
        return next(name for k in range(1000) if (name := f"{what}{k}") not in taken)

    def other(self, *but: str) -> str:
        """A random body; the ground is one unless the system is afloat."""
        found = [name for name in self.poses if name not in but and not (self.afloat and name == "ground")]
        return str(self.rng.choice(found)) if found else "ground"

    def attach(self, kind: str, parent: str | None = None, **options: Any) -> tuple[str, str]:
        """One more body on a joint of this kind: its name, and that of the joint."""
        rng, child = self.rng, self.name("b")
        parent = "ground" if kind == "free" else parent or self.other()
        body = self.system.add_body(child, **systems.solid(rng), **systems.somewhere(rng))
        self.poses[child] = body.pose({})
        joint = self.name(f"{kind} ")
        options |= {"pitch": rng.uniform(0.1, 0.5)} if kind == "helical" else {}
        place = {"at": rng.normal(size=3), "axis": systems.unit(rng, 3), "reference": systems.unit(rng, 3)}
        self.system.add_joint(JOINTS[kind](joint, parent, child, **place, **options))
        return child, joint

    def sides(self, a: str, b: str, point: Any, z: Any, x: Any, z_b: Any = None) -> dict[str, np.ndarray]:
        """Anchors, axes and references of two bodies that meet in one frame of the world (about z_b on the side of b)."""
        given = {}
        for side, body in (("a", a), ("b", b)):
            R, p = self.poses[body]
            axis = z if side == "a" or z_b is None else z_b
            given |= {f"anchor_{side}": R.T @ (point - p), f"axis_{side}": R.T @ axis, f"reference_{side}": R.T @ x}
        return given

    def frame(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A point of the world, a direction, and one at right angles to it."""
        z = systems.unit(self.rng, 3)
        return self.rng.normal(size=3), z, across(self.rng, z)

    def loose(self, carriers: Sequence[str] = LOOSE) -> str:
        """One more body that moves freely enough to be held."""
        return self.attach("free" if self.afloat else str(self.rng.choice(carriers)))[0]

    def pair(self, carriers: Sequence[str] = LOOSE) -> tuple[str, str]:
        """A body on one of `carriers`, and another than itself: the other first."""
        child = self.loose(carriers)
        return self.other(child), child


# --- one of each kind -----------------------------------------------------------------------------------------------


def closer(kind: str) -> Callable[[Draft], None]:
    """A joint with coordinates that closes a loop."""

    def make(d: Draft) -> None:
        child, _ = d.attach("free")
        parent = d.other(child)
        pitch = {"pitch": 0.3} if kind == "helical" else {}
        point, z, x = d.frame()
        sides = d.sides(parent, child, point, z, x)
        if kind == "free":
            d.attach("free")
        else:
            d.system.add_joint(JOINTS[kind](d.name(f"closing {kind} "), parent, child, **sides, **pitch))

    return make


def holding(kind: str) -> Callable[[Draft], None]:
    """A constraint between bodies whose two sides share a point and an axis."""

    def make(d: Draft) -> None:
        a, b = d.pair(
            ("free", "spherical") if kind in ("parallel", "perpendicular") else ("free", "planar", "spherical")
        )
        point, z, x = d.frame()
        z_b = x if kind == "perpendicular" else None
        sides = d.sides(a, b, point, z, np.cross(z, x), z_b)
        if kind in ("rod", "revolute_spherical"):
            sides = {"anchor_a": d.rng.normal(size=3), "anchor_b": d.rng.normal(size=3)}
        sides |= {"free": ("y", "rz", "rx")} if kind in ("general", "clamp") else {}
        d.system.add_joint(JOINTS[kind](d.name(f"{kind} "), a, b, **sides))

    return make


def on(kind: str, what: str) -> Callable[[Draft], None]:
    """A point of a body on a curve or a surface of another."""

    def make(d: Draft) -> None:
        a, b = d.pair(("free", "planar", "spherical"))
        shape, c = (CURVES if kind == "curve" else SURFACES)[what]
        point, z, x = d.frame()
        at = point + np.stack([x, np.cross(z, x), z], axis=1) @ c
        (R_A, p_A), (R_B, p_B) = d.poses[a], d.poses[b]
        given = {"anchor_a": R_A.T @ (point - p_A), "axis_a": R_A.T @ z, "reference_a": R_A.T @ x}
        joint = nx.PointOnCurve if kind == "curve" else nx.PointOnSurface
        d.system.add_joint(joint(d.name(f"{what} "), a, b, **{kind: shape()}, **given, anchor_b=R_B.T @ (at - p_B)))

    return make


def user_constraint(d: Draft) -> None:
    a, b = d.pair()
    point, z, x = d.frame()
    sides = d.sides(a, b, point, z, x)  # R = 1
    x_B = np.array([0.3, -0.2, 0.2 * np.cos(0.6)])
    R_B = d.poses[b][0]
    R_WJ = np.stack([x, np.cross(z, x), z], axis=1)
    sides["anchor_b"] = sides["anchor_b"] + R_B.T @ R_WJ @ x_B
    d.system.add_joint(nx.UserConstraint(d.name("own row "), a, b, wave, **sides))


def velocity_constraint(d: Draft) -> None:
    a, b = d.pair()
    d.system.add_joint(nx.VelocityConstraint(d.name("own velocity "), a, b, skew))


def plane_under(d: Draft, a: str, b: str, foot: Any, n: Any) -> dict[str, Any]:
    """A plane of `a` through a point beside `foot`, with normal n."""
    R, p = d.poses[a]
    point = foot + 0.3 * across(d.rng, n)
    return {"anchor_a": R.T @ (point - p), "axis_a": R.T @ n}


def rolling_disk(d: Draft) -> None:
    child, _ = d.attach("free")
    parent = d.other(child)
    R, p = d.poses[child]
    radius, tube, n = 0.4, float(d.rng.choice((0.0, 0.05))), systems.unit(d.rng, 3)
    axle = across(d.rng, n) + 0.3 * n  # leaning
    axle /= np.linalg.norm(axle)
    height = radius * np.sqrt(1.0 - (n @ axle) ** 2) + tube
    plane = plane_under(d, parent, child, p - height * n, n)
    d.system.add_joint(
        nx.RollingDisk(d.name("coin "), parent, child, radius=radius, tube=tube, axis_b=R.T @ axle, **plane)
    )


def rolling_sphere(d: Draft) -> None:
    child, _ = d.attach("free")
    parent, n = d.other(child), systems.unit(d.rng, 3)
    plane = plane_under(d, parent, child, d.poses[child][1] - 0.3 * n, n)
    d.system.add_joint(nx.RollingSphere(d.name("marble "), parent, child, radius=0.3, **plane))


def knife_edge(d: Draft) -> None:
    child, _ = d.attach("free" if d.afloat else "planar")
    d.system.add_joint(nx.KnifeEdge(d.name("blade "), d.other(child), child, axis_b=systems.unit(d.rng, 3)))


def two_joints(d: Draft, *kinds: str) -> list[str]:
    """Joints on bodies of their own, that nothing else holds."""
    return [d.attach(kind)[1] for kind in kinds]


def sum_of(d: Draft) -> None:
    a, b, c = two_joints(d, "revolute", "planar", "universal")
    d.system.add_coupling(nx.Coupling(d.name("sum "), [(a, 0, 1.0), (b, 2, -0.5), (c, 1, 0.7)]))


def gear(d: Draft) -> None:
    a, b = two_joints(d, *d.rng.choice(ANGLES, 2))
    d.system.add_coupling(nx.Gear(d.name("gear "), a, b, ratio=-1.5))


def rack_and_pinion(d: Draft) -> None:
    pinion, rack = two_joints(d, "revolute", "prismatic")
    d.system.add_coupling(nx.RackAndPinion(d.name("rack "), pinion, rack, radius=0.3))


def driver(d: Draft) -> None:
    kind, freedom = (("revolute", 0), ("universal", 1), ("planar", 2), ("cylindrical", 1), ("cartesian", 0))[
        d.rng.integers(5)
    ]
    (joint,) = two_joints(d, kind)
    function = STARTS_AT_0[d.rng.integers(len(STARTS_AT_0))]()
    d.system.add_driver(nx.Driver(d.name("drive "), joint, function, freedom=freedom))


def point_driver(d: Draft) -> None:
    child, _ = d.attach(str(d.rng.choice(("free", "cartesian", "spherical"))))
    k = int(d.rng.integers(3))
    start = float(d.poses[child][1][k])
    d.system.add_driver(nx.PointDriver(d.name("lead "), child, "xyz"[k], nx.Harmonic(0.1, 5.0, offset=start)))


def orientation_driver(d: Draft) -> None:
    child, _ = d.attach(str(d.rng.choice(("free", "spherical"))))
    R = d.poses[child][0]
    angle = str(d.rng.choice(("yaw", "pitch", "roll") if abs(R[2, 0]) < 0.9 else ("yaw", "roll")))
    yaw, pitch, roll = np.arctan2(R[1, 0], R[0, 0]), -np.arcsin(R[2, 0]), np.arctan2(R[2, 1], R[2, 2])
    start = {"yaw": yaw, "pitch": pitch, "roll": roll}[angle]
    d.system.add_driver(nx.OrientationDriver(d.name("turn "), child, angle, nx.Harmonic(0.1, 5.0, offset=float(start))))


def ends(d: Draft) -> tuple[str, str, dict[str, Any]]:
    """Two bodies and a point of each."""
    a = d.loose()
    return a, d.other(a), {"anchor_a": d.rng.normal(size=3), "anchor_b": d.rng.normal(size=3)}


def between(cls: Any, **numbers: Any) -> Callable[[Draft], None]:
    """A force between points of two bodies."""

    def make(d: Draft) -> None:
        a, b, points = ends(d)
        points = {} if cls is nx.TorsionSpring else points
        d.system.add_force(cls(d.name(f"{cls.kind} "), a, b, **points, **numbers))

    return make


def force_table(d: Draft) -> None:
    curve = {"deflections": (-1.0, 0.0, 2.0), "forces": (-2.0, 0.0, 5.0), "damping": 0.2, "interpolation": "natural"}
    between(nx.ForceTable, rest=0.5, **curve)(d)
    (joint,) = two_joints(d, "revolute")
    d.system.add_force(nx.ForceTable(d.name("table in "), joint=joint, **curve))


def applied(d: Draft) -> None:
    body, rng = d.loose(), d.rng
    for axes in ("world", "body"):
        d.system.add_force(
            nx.AppliedForce(
                d.name("push "), body, ("=sin(9*t)", nx.Linear(0.5, 1.0), -0.4), (0.1, nx.Harmonic(0.2, 7.0), 0.0),
                expressed_in=axes, anchor=rng.normal(size=3),
            )
        )  # fmt: skip


def point_gravity(d: Draft) -> None:
    body = d.loose()
    centre = d.other(body)
    far = d.poses[body][1] + 2.0 * systems.unit(d.rng, 3)
    d.system.add_force(nx.PointGravity(d.name("gravity "), body, centre, mu=0.8, at=far))


def gravity_field(d: Draft) -> None:
    d.system.add_force(nx.GravityField(d.name("field "), d.loose(), function=hollow))


def plane_contact(d: Draft) -> None:
    """A capsule half in a plane, so that it is pushed and rubs from the start; their surfaces run."""
    child, _ = d.attach("free")
    R, p = d.poses[child]
    other = d.other(child)
    n = systems.unit(d.rng, 3)
    R_B, p_B = d.poses[other]
    along = across(d.rng, n)
    d.system.add_force(
        nx.PlaneContact(
            d.name("touch "), child, other, radius=0.2, length=0.3, axis=R.T @ along, normal=R_B.T @ n,
            anchor_b=R_B.T @ (p - 0.12 * n - p_B), stiffness=40.0, damping=0.5, friction=0.4, friction_speed=0.05,
            surface_velocity_a=(0.1, -0.3, 0.2), surface_velocity_b=R_B.T @ (0.2 * along),
            friction_across=0.15, friction_direction_a=(0.5, -0.3, 1.0),
        )
    )  # fmt: skip


def sphere_contact(d: Draft) -> None:
    """A sphere half in another, so that it is pushed and rubs from the start."""
    child, _ = d.attach("free")
    _, p = d.poses[child]
    other = d.other(child)
    R_B, p_B = d.poses[other]
    n = systems.unit(d.rng, 3)
    d.system.add_force(
        nx.SphereContact(
            d.name("touch "), child, other, radius_a=0.2, radius_b=0.3, anchor_b=R_B.T @ (p - 0.42 * n - p_B),
            stiffness=40.0, damping=0.5, friction=0.4, friction_speed=0.05, surface_velocity_b=(0.3, 0.1, -0.2),
            friction_across=0.6, friction_direction_b=(0.2, 0.9, 0.4),
        )
    )  # fmt: skip


def in_joint(make_force: Callable[[str, str], nx.Force], *kinds: str) -> Callable[[Draft], None]:
    """A force in a freedom of a joint that has a body of its own."""

    def make(d: Draft) -> None:
        (joint,) = two_joints(d, str(d.rng.choice(kinds or ("revolute", "prismatic", "helical"))))
        d.system.add_force(make_force(d.name("in "), joint))

    return make


DRIVES: dict[str, Callable[[Draft], None]] = {
    "joint_force": in_joint(lambda name, joint: nx.JointForce(name, joint, nx.StepChange(0.05, 0.4, -0.3))),
    "user_joint_force": in_joint(lambda name, joint: nx.UserJointForce(name, joint, stiffening)),
    "position_actuator": in_joint(
        lambda name, joint: nx.PositionActuator(
            name, joint, kp=3.0, kd=0.3, ki=1.0, target="=0.3*sin(5*t)", effort_limit=0.8
        )
    ),
    "velocity_actuator": in_joint(
        lambda name, joint: nx.VelocityActuator(name, joint, kv=0.8, ki=0.5, target=0.5, time_constant=0.03)
    ),
    "torque_actuator": in_joint(
        lambda name, joint: nx.TorqueActuator(name, joint, target="=0.5*cos(8*t)", effort_limit=0.4, velocity_limit=2.0)
    ),
    "controller": in_joint(lambda name, joint: nx.Controller(name, joint, function=stiffening, sample_time=0.01)),
    "joint_stop": in_joint(
        lambda name, joint: nx.JointStop(name, joint, lower=0.01, upper=2.0, stiffness=20.0, exponent=1.5, damping=0.3)
    ),
    "joint_friction": in_joint(
        lambda name, joint: nx.JointFriction(
            name, joint, sliding=0.3, static=0.4, stribeck_speed=0.2, stiffness=20.0, damping=0.3, viscous=0.05
        )
    ),
}
FORCES: dict[str, Callable[[Draft], None]] = {
    "applied": applied,
    "point_spring": between(nx.PointSpring, stiffness=3.0, damping=0.4, length=0.3),
    "torsion_spring": between(nx.TorsionSpring, stiffness=0.5, damping=0.2, rest=0.3),
    "bushing": between(nx.Bushing, stiffness=(2, 3, 4, 0.5, 0.6, 0.7), damping=(0.1, 0.2, 0.3, 0.3, 0.2, 0.1)),
    "force_table": force_table,
    "user": between(nx.UserForce, function=swirl),
    "point_gravity": point_gravity,
    "gravity_field": gravity_field,
    "plane_contact": plane_contact,
    "sphere_contact": sphere_contact,
    **DRIVES,
}
COUPLINGS = {"sum": sum_of, "gear": gear, "rack_and_pinion": rack_and_pinion}
DRIVERS = {"joint": driver, "point": point_driver, "orientation": orientation_driver}
CONSTRAINTS: dict[str, Callable[[Draft], None]] = {
    **{kind: holding(kind) for kind in (
        "point_on_line", "point_on_plane", "parallel", "perpendicular", "rod", "general", "clamp", "revolute_prismatic",
        "revolute_spherical",
    )},
    "user_constraint": user_constraint, "velocity_constraint": velocity_constraint, "rolling_disk": rolling_disk,
    "rolling_sphere": rolling_sphere, "knife_edge": knife_edge,
}  # fmt: skip
NONHOLONOMIC = ("velocity_constraint", "rolling_disk", "rolling_sphere", "knife_edge")
MAKERS: dict[str, Callable[[Draft], None]] = {
    **{f"joint {kind}": make for kind, make in CONSTRAINTS.items()},
    **{f"joint {kind}": closer(kind) for kind in TREE},
    **{f"curve {name}": on("curve", name) for name in CURVES},
    **{f"surface {name}": on("surface", name) for name in SURFACES},
    **{f"coupling {kind}": make for kind, make in COUPLINGS.items()},
    **{f"driver {kind}": make for kind, make in DRIVERS.items()},
    **{f"force {kind}": make for kind, make in FORCES.items()},
}
KINDS = tuple(MAKERS)
EXTERNAL = ("driver point", "driver orientation", "force applied", "force gravity_field")
"""What the world outside does to a system that is afloat."""


def system_of(rng: np.random.Generator, kinds: Sequence[str], afloat: bool = False) -> nx.System:
    """A mechanism with all of `kinds`, moving from the start."""
    draft = Draft(rng, afloat)
    for k, kind in enumerate(rng.choice([kind for kind in TREE if JOINTS[kind].nv], 3)):
        kind = "free" if afloat and k == 0 else str(kind)
        n = JOINTS[kind].nv
        options: dict[str, Any] = {"v0": tuple(0.5 * rng.normal(size=n))}
        options |= {} if kind in ("free", "spherical") else {"stiffness": 0.5, "friction": 0.05, "friction_speed": 0.1}
        if not (afloat and kind == "free"):  # which would be damped by the ground
            options |= {"damping": 0.1}
        draft.attach(kind, **options)
    for kind in kinds:
        MAKERS[kind](draft)
    return draft.system


def again(system: nx.System, name: str) -> nx.Joint:
    """A joint once more, under another name, by frames in its bodies: all its rows depend on others."""
    joint = system.joints[name]
    given = {
        key: value
        for key, value in vars(joint).items()
        if not key.startswith("_") and key not in ("name", "parent", "child")
    }
    if JOINTS[joint.kind].tree:
        frames = joint.frames(system.values)
        given = {
            "anchor_a": frames.p_AJ, "axis_a": frames.R_AJ[:, 2], "reference_a": frames.R_AJ[:, 0],
            "anchor_b": frames.p_BJ, "axis_b": frames.R_BJ[:, 2], "reference_b": frames.R_BJ[:, 0],
        }  # fmt: skip
        given |= {"pitch": vars(joint)["pitch"]} if joint.kind == "helical" else {}
    else:
        keep = (
            "length", "curve", "surface", "function", "unit", "size", "period", "radius", "tube", "free", "along", "slide",
        )  # fmt: skip
        given = {
            key: value
            for key, value in given.items()
            if value is not None and (key in keep or key.startswith(("anchor", "axis", "reference")))
        }
    return type(joint)(f"{name} again", joint.parent.name, joint.child.name, **given)


# --- the power of what is no potential ------------------------------------------------------------------------------


class Motion:
    """Frames of bodies over time: R (N, 3, 3), p, ω, v (N, 3), all in the world."""

    def __init__(self, result: nx.Result) -> None:
        self.result, self.system, self.t = result, result.system, result.recording.t
        self.seen = {
            name: tuple(
                getattr(result, what)(name).values for what in ("rotation", "position", "angular_velocity", "velocity")
            )
            for name in result.system.bodies
        }
        n = len(self.t)
        self.seen["ground"] = (np.tile(np.eye(3), (n, 1, 1)), *np.zeros((3, n, 3)))

    def frame(self, body: str, anchor: Any = None) -> tuple[np.ndarray, ...]:
        R, p, w, v = self.seen[body]
        r = R @ (np.zeros(3) if anchor is None else np.array(anchor, float))
        return R, p + r, w, v + np.cross(w, r)

    def rate(self, joint: str, freedom: int) -> np.ndarray:
        v = self.result.joint_velocity(joint).values
        return v if v.ndim == 1 else v[:, freedom]


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.sum(a * b, axis=-1))


def elongating(m: Motion, f: Any) -> np.ndarray:
    """L̇ between two points."""
    _, p, _, v = m.frame(f.a, f.anchor_a)
    _, q, _, u = m.frame(f.b, f.anchor_b)
    return dot(u - v, q - p) / np.linalg.norm(q - p, axis=-1)


def along_line(m: Motion, f: Any) -> np.ndarray:
    return np.asarray(-f.damping * elongating(m, f) ** 2)


def turning(m: Motion, f: Any) -> np.ndarray:
    """−d θ̇² of the angle from x of A to x of B about z of A."""
    R, _, w_a, _ = m.frame(f.a)
    S, _, w_b, _ = m.frame(f.b)
    x = np.einsum("nji,nj->ni", R, S[:, :, 0])
    rate = np.cross(np.einsum("nji,nj->ni", R, w_b - w_a), x)
    return np.asarray(-f.damping * ((x[:, 0] * rate[:, 1] - x[:, 1] * rate[:, 0]) / (x[:, 0] ** 2 + x[:, 1] ** 2)) ** 2)


def in_all_directions(m: Motion, f: Any) -> np.ndarray:
    """−ẋᵀ D ẋ of x = (φ, p) in the axes of A."""
    R, p, w_a, v = m.frame(f.a, f.anchor_a)
    S, q, w_b, u = m.frame(f.b, f.anchor_b)
    turn = Rotation.from_matrix(np.swapaxes(R, 1, 2) @ S).as_rotvec()
    w = np.einsum("nji,nj->ni", R, w_b - w_a)
    size = np.linalg.norm(turn, axis=-1)[:, None]
    cross = np.cross(turn, w)  # φ̇ = J_l⁻¹(φ) ω
    rate = w - 0.5 * cross + (1.0 / size**2 - 0.5 / size / np.tan(0.5 * size)) * np.cross(turn, cross)
    slide = np.einsum("nji,nj->ni", R, u - v - np.cross(w_a, q - p))
    return np.asarray(-(np.concatenate([rate, slide], axis=1) ** 2) @ np.array(f.damping))


def of_user(m: Motion, f: Any) -> np.ndarray:
    out, wrench = [], np.zeros(6)
    frames = [m.frame(f.a, f.anchor_a), m.frame(f.b, f.anchor_b)]
    for n, t in enumerate(m.t):
        A, B = (np.concatenate([p[n], R[n].ravel(), w[n], v[n]]) for R, p, w, v in frames)
        swirl(t, A, B, wrench)
        there = B[15:] + np.cross(B[12:15], A[:3] - B[:3])  # of B's matter where A is
        out.append(wrench[3:] @ (A[15:] - there) + wrench[:3] @ (A[12:15] - B[12:15]))
    return np.array(out)


def of_field(m: Motion, f: Any) -> np.ndarray:
    body = m.result.system.bodies[f.body].resolved({})
    _, p, _, v = m.frame(f.body, body.com)
    g = np.zeros((len(m.t), 3))
    for n, t in enumerate(m.t):
        hollow(t, p[n], g[n])
    return body.mass * dot(g, v)


def of_push(m: Motion, f: Any) -> np.ndarray:
    R, _, w, v = m.frame(f.body, f.anchor)
    t = m.t
    force = np.stack([np.sin(9 * t), 0.5 + t, np.full_like(t, -0.4)], axis=1)
    torque = np.stack([np.full_like(t, 0.1), 0.2 * np.sin(14.0 * np.pi * t), np.zeros_like(t)], axis=1)
    if f.expressed_in == "body":
        force, torque = (np.einsum("nij,nj->ni", R, x) for x in (force, torque))
    return dot(force, v) + dot(torque, w)


def of_contact(m: Motion, f: Any) -> np.ndarray:
    """f · (v_A − v_B) where it acts, less what is stored: U̇ = −k δᵉ n·v."""
    found = m.result.contacts(f.name)
    total = np.zeros(len(m.t))
    (_, p_A, w_A, v_A), (R_B, p_B, w_B, v_B) = m.frame(f.a, f.anchor_a), m.frame(f.b, f.anchor_b)
    n = len(m.t)
    force, points, depth = (
        found[x].values.reshape(n, f.points, *last)
        for x, last in (("force", (3,)), ("point", (3,)), ("penetration", ()))
    )
    apart = p_A - p_B
    normal = R_B @ np.array(f.normal) if f.kind == "plane_contact" else apart / np.linalg.norm(apart, axis=1)[:, None]
    for k in range(force.shape[1]):
        at = points[:, k]
        v = v_A + np.cross(w_A, at - p_A) - v_B - np.cross(w_B, at - p_B)
        stored = f.stiffness * np.maximum(depth[:, k], 0.0) ** f.exponent * -dot(normal, v)
        total += dot(force[:, k], v) + stored
    return total


def in_a_joint(m: Motion, f: Any) -> np.ndarray:
    return np.asarray(m.result.effort(f.name).values * m.rate(f.joint, f.freedom))


def of_table(m: Motion, f: Any) -> np.ndarray:
    return along_line(m, f) if f.joint is None else np.asarray(-f.damping * m.rate(f.joint, f.freedom) ** 2)


def of_stop(m: Motion, f: Any) -> np.ndarray:
    """τ v, less what is stored."""
    q, v = m.result.joint_position(f.joint).values, m.rate(f.joint, 0)
    low, high = np.maximum(f.lower - q, 0.0), np.maximum(q - f.upper, 0.0)
    return in_a_joint(m, f) + f.stiffness * (high**f.exponent - low**f.exponent) * v


POWER: dict[str, Callable[[Motion, Any], np.ndarray]] = {
    "applied": of_push, "point_spring": along_line, "torsion_spring": turning, "bushing": in_all_directions,
    "force_table": of_table, "user": of_user, "plane_contact": of_contact, "sphere_contact": of_contact,
    "joint_stop": of_stop, "point_gravity": lambda m, f: np.zeros(len(m.t)), "gravity_field": of_field,
    **{kind: in_a_joint for kind in DRIVES if kind != "joint_stop"},
}  # fmt: skip
JUMPS = ("joint_force", "controller")
"""Forces that jump at times."""


def work(result: nx.Result) -> tuple[np.ndarray, float]:
    """∫ Σ P dt (N,) [J] of what is no potential, and by how much the quadrature may miss where forces jump."""
    m = Motion(result)
    t, system = m.t, result.system
    power, missed = np.zeros(len(t)), 0.0
    for force in system.forces.values():
        one = POWER[force.kind](m, force)
        power += one
        if force.kind in JUMPS:
            missed += float(np.abs(np.diff(one)).sum() * np.diff(t).max())
    for joint in system.joints.values():
        if JOINTS[joint.kind].tree and JOINTS[joint.kind].nv:
            v = result.joint_velocity(joint.name).values.reshape(len(t), -1)
            own = joint.resolved(system.values)
            power -= ((own.damping * v + own.friction * np.tanh(v / own.friction_speed)) * v).sum(axis=1)
    for name, driver in system.drivers.items():
        rate = np.array([float(driver.resolved({}).derivative(x)) for x in t])
        power += result.effort(name).values * rate
    return np.asarray(cumulative_simpson(power, x=t, initial=0.0)), missed

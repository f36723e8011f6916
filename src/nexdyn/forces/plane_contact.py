"""Contact of a sphere, a capsule or a point with a plane: compliant, after Hunt and Crossley, with friction that sticks.

A: centre of the sphere or capsule, axis of the capsule along z.   B: a point of the plane, its outward normal n = z_B.
Each end c = p_A ± ½ l z_A of a capsule (once c = p_A where l = 0) is a sphere of radius r; a point is one of r = 0.

    h = n · (c − p_B),   δ = r − h,   p = c − h n        penetration, and where the force acts: the foot of c on the plane
    v = v_A(p) − v_B(p),   δ̇ = −n · v,   v_t = v + δ̇ n
    f_n = k δᵉ max(0, 1 + a δ̇)   where δ > 0, else 0                             (Hunt & Crossley, J. Appl. Mech. 42, 1975)
    f_t  a spring along the plane that yields at μ f_n                            (``sticking``, its y in the axes of the plane)
    f on A = f_n n + f_t at p,   its opposite on B;   U = k δᵉ⁺¹ / (e + 1) + ½ |y|²

With `friction_speed` v_f friction is regularised instead, without a spring: f_t = −μ f_n v_t / √(|v_t|² + v_f²). On an incline of
angle φ a body then creeps with v_f tan φ / √(μ² − tan² φ).

The force vanishes where the surfaces part, and never pulls. What of its power is not −U̇ is −k δᵉ a δ̇² and f_t · v_t of what slides.

What a bounce leaves of the speed v_i follows from m δ̈ = −k δᵉ (1 + a δ̇), whatever m, k and e: with d = a v_i and the
coefficient of restitution ε,

    (1 + d) exp(−d) = (1 − ε d) exp(ε d),       ε ≈ 1 − ⅔ d for small d,   ε → 1/d for large

so that `restitution` at an `impact_speed` gives a.
Data: k, e, a, μ, v_f, r, ½ l, then those of ``sticking``. States, where friction sticks: y of each point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.forces import sticking
from nexdyn.forces.between import PairForce, check_points, non_negative
from nexdyn.forces.kinds import PLANE_CONTACT
from nexdyn.forces.tables import STATE
from nexdyn.kernel import formula, kernel
from nexdyn.model.element import Element
from nexdyn.model.force import Frame
from nexdyn.model.placement import direction, frame
from nexdyn.spatial.algebra import Force, Vec3, cross
from nexdyn.spatial.lanes import common, if_less, power, sqrt, zero
from nexdyn.spatial.table import MotionRows, PoseRows

if TYPE_CHECKING:
    from nexdyn.model.system import System

CONTACT_COLUMNS = 9
"""What is told of a contact: force on A (3), point (3), normal force, tangential force, penetration; world axes."""


class PlaneContact(PairForce):
    """Contact of a sphere, capsule or point of body `a` with a plane of `b` (the ground by default).

    radius [m]: of the sphere or capsule; 0 for a point. length [m]: of a capsule, between the centres of its ends.
    anchor_a or at_a: its centre (default: the origin of `a`); axis: that of a capsule, in the axes of `a`.
    normal: of the plane, outward, in the axes of `b`; anchor_b or at_b: a point of the plane (default: the origin of `b`).
    stiffness [N/mᵉ] with `exponent` e (1.5 for spheres by Hertz, 1 to 3). damping [s/m]: a of Hunt and Crossley; or
        restitution, above 0 up to 1, at impact_speed [m/s].
    friction: Coulomb's coefficient of what slides. It sticks until it slides (:mod:`nexdyn.forces.sticking`), with
        static_friction: the coefficient at which it breaks away, no less (default: as friction); stribeck_speed [m/s]: over which
            one goes over into the other.
        friction_stiffness: of what gives along the plane before it slides, as a part of the stiffness along the normal at hand
            (0.82: Mindlin's for ν = 0.3). friction_damping: of that, as a part of what is critical for the masses of both bodies.
    friction_speed [m/s]: where given, friction does not stick: it is regularised below this speed, without states.
    """

    kind, code = "plane_contact", PLANE_CONTACT
    radius: Any
    length: Any
    axis: Any
    normal: Any
    stiffness: Any
    exponent: Any
    damping: Any
    restitution: Any
    impact_speed: Any
    friction: Any
    static_friction: Any
    stribeck_speed: Any
    friction_stiffness: Any
    friction_damping: Any
    friction_speed: Any

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str = "ground",
        *,
        stiffness: Any,
        radius: Any = 0.0,
        length: Any = 0.0,
        axis: Any = (0.0, 0.0, 1.0),
        normal: Any = (0.0, 0.0, 1.0),
        exponent: Any = 1.5,
        damping: Any = 0.0,
        restitution: Any = None,
        impact_speed: Any = None,
        friction: Any = 0.0,
        static_friction: Any = None,
        stribeck_speed: Any = 0.01,
        friction_stiffness: Any = 0.82,
        friction_damping: Any = 0.3,
        friction_speed: Any = None,
        anchor_a: Any = None,
        anchor_b: Any = None,
        at_a: Any = None,
        at_b: Any = None,
    ) -> None:
        super().__init__(name, a, b, anchor_a=anchor_a, anchor_b=anchor_b, at_a=at_a, at_b=at_b)
        self._store(
            stiffness=stiffness, radius=radius, length=length, axis=axis, normal=normal, exponent=exponent, damping=damping,
            restitution=restitution, impact_speed=impact_speed, friction=friction, static_friction=static_friction,
            stribeck_speed=stribeck_speed, friction_stiffness=friction_stiffness, friction_damping=friction_damping,
            friction_speed=friction_speed,
        )  # fmt: skip

    @property
    def points(self) -> int:
        """Contact points: 2 of a capsule, else 1. A length that is an expression makes a capsule."""
        return 1 if _is_nothing(self.length) else 2

    @property
    def sticks(self) -> bool:
        """Whether its friction sticks, with states of its own."""
        return self.friction_speed is None and not (_is_nothing(self.friction) and self.static_friction is None)

    def states(self, values: Mapping[str, float]) -> list[tuple[str, str, float]]:
        points = ("",) if self.points == 1 else ("1.", "2.")
        return [(f"{point}held_{axis}", "J^0.5", 0.0) for point in points for axis in "xy"] if self.sticks else []

    def frames(self, system: System) -> tuple[Frame, ...]:
        values = system.values
        A, B = super().frames(system)
        # the axes of `a` and `b` as given are those of the bodies or markers
        R_A = A.R_BF @ frame(direction(self.axis, values, f"axis of {self}"))
        R_B = B.R_BF @ frame(direction(self.normal, values, f"normal of {self}"))
        return A._replace(R_BF=R_A), B._replace(R_BF=R_B)

    def check(self, values: Mapping[str, float]) -> None:
        check_points(self, ("_a", "_b"), values)
        for attribute in ("axis", "normal"):
            direction(self.__dict__[attribute], values, f"{attribute} of {self}")
        self.data(values)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """k, e, a, μ, v_f, r, ½ l; μ, μ_s, v_s, ρ, 2 ζ √m of a reduced mass m of 1 kg."""
        stiffness, stribeck, part = (
            self._positive(x, values) for x in ("stiffness", "stribeck_speed", "friction_stiffness")
        )
        exponent = self._number("exponent", values)
        if not 1.0 <= exponent <= 3.0:
            raise InputError(f"exponent of {self} is {exponent:g}; 1 (linear) to 3 is valid, 1.5 for spheres (Hertz)")
        friction, radius, length, share = (
            non_negative(self, x, values) for x in ("friction", "radius", "length", "friction_damping")
        )
        static = friction if self.static_friction is None else self._number("static_friction", values)
        if self.friction_speed is None:
            speed = 0.0 if self.sticks else 1.0
        else:
            speed = self._positive("friction_speed", values)
            if self.static_friction is not None:
                raise InputError(
                    f"{self} has a static_friction, and a friction_speed, with which it does not stick; give one"
                )
        if static < friction:
            raise InputError(
                f"static_friction of {self} is {static:g}, less than friction, {friction:g}; it must be as much or more"
            )
        own = [stiffness, exponent, self._damping(values), friction, speed, radius, 0.5 * length]
        return [*own, friction, static, stribeck, part, 2.0 * share]

    def data_in(self, system: System) -> list[float]:
        data, values = self.data(system.values), system.values
        inverse = 0.0
        for side in self.frames(system):
            body = system.bodies.get(side.body)
            mass = 0.0 if body is None else body.resolved(values).mass
            inverse += 1.0 / mass if mass > 0.0 else 0.0
        data[-1] *= math.sqrt(1.0 / inverse) if inverse > 0.0 else 0.0
        return data

    def working(self, values: Mapping[str, float]) -> str:
        lossy = self._damping(values) > 0.0 or non_negative(self, "friction", values) > 0.0
        return str(self) if lossy else ""

    def _positive(self, attribute: str, values: Mapping[str, float]) -> float:
        x = self._number(attribute, values)
        if not x > 0.0:
            raise InputError(f"{attribute} of {self} is {x:g}; it must be greater than 0")
        return x

    def _damping(self, values: Mapping[str, float]) -> float:
        a = non_negative(self, "damping", values)
        if self.restitution is None and self.impact_speed is None:
            return a
        if self.restitution is None or self.impact_speed is None or a != 0.0:
            raise InputError(f"{self} takes damping, or restitution together with impact_speed")
        e = self._number("restitution", values)
        if not 0.0 < e <= 1.0:
            raise InputError(f"restitution of {self} is {e:g}; it must be greater than 0 and at most 1")
        return damping_number(e) / self._positive("impact_speed", values)


def _is_nothing(x: Any) -> bool:
    """Whether x is the number 0; an expression is not."""
    return isinstance(x, int | float) and x == 0.0


def damping_number(restitution: float) -> float:
    """d = a v_i of a coefficient of restitution ε in (0, 1]: (1 + d) exp(−d) = (1 − ε d) exp(ε d)."""
    if restitution == 1.0:
        return 0.0
    if restitution < 0.03:
        return 1.0 / restitution  # 1 − ε d = (1 + d) exp(−d − ε d) is below 1e-13
    from scipy.optimize import brentq

    def off(d: float) -> float:  # the logarithm of both sides, for ε d < 1
        return math.log1p(d) - d - math.log1p(-restitution * d) - restitution * d

    tiny = 1e-6 * (1.0 - restitution)
    return float(brentq(off, tiny, (1.0 - 1e-15) / restitution, xtol=1e-300, rtol=1e-14))


STICK = 7
"""Where the data of ``sticking`` begin."""


class Meeting(NamedTuple):
    """Where and how the surfaces meet: normal, point, penetration, normal force, velocity of A along the plane; world axes."""

    n: Vec3
    p: Vec3
    depth: float
    f_n: float
    v_t: Vec3


class Touch(NamedTuple):
    """A contact: force on A along the normal and in all (world), the point, penetration."""

    f_n: float
    f: Vec3
    p: Vec3
    depth: float


@formula
def meet(data, k, c, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    """The sphere about c and the plane."""
    o = zero(c.x)
    R = X_WB.R
    n = Vec3(R.xz, R.yz, R.zz)
    # h = n · (c − p_B),  δ = r − h,  p = c − h n
    h = n @ (c - X_WB.p)
    depth = data[k + 5] - h
    p = c - h * n
    # v = v_A(p) − v_B(p),  δ̇ = −n · v
    v = V_A.v + cross(V_A.w, p - X_WA.p) - V_B.v - cross(V_B.w, p - X_WB.p)
    rate = -(n @ v)
    # f_n = k δᵉ max(0, 1 + a δ̇)
    pressed = if_less(depth, o, o, depth)
    grip = 1.0 + data[k + 2] * rate
    f_n = data[k] * power(pressed, data[k + 1]) * if_less(grip, o, o, grip)
    return Meeting(n, p, depth, f_n, v + rate * n)


@formula
def touch(data, k, c, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    """The contact of the sphere about c with the plane, its friction regularised."""
    m = meet(data, k, c, X_WA, V_A, X_WB, V_B)
    # f_t = −μ f_n v_t / √(|v_t|² + v_f²)
    s = data[k + 3] * m.f_n / sqrt(m.v_t @ m.v_t + data[k + 4] * data[k + 4])
    return Touch(m.f_n, m.f_n * m.n - s * m.v_t, m.p, m.depth)


@formula
def along_plane(X_WB, v):  # type: ignore[no-untyped-def]
    """Both components of v in the plane's axes."""
    R = X_WB.R
    return R.xx * v.x + R.yx * v.y + R.zx * v.z, R.xy * v.x + R.yy * v.y + R.zy * v.z


@formula
def slope(data, k, depth):  # type: ignore[no-untyped-def]
    """d(k δᵉ)/dδ."""
    return data[k] * data[k + 1] * depth ** (data[k + 1] - 1.0) if depth > 0.0 else 0.0


@formula
def gripped(data, k, m, speed):  # type: ignore[no-untyped-def]
    """What friction holds where the surfaces meet so."""
    return sticking.grip(data, k + STICK, slope(data, k, m.depth), m.f_n, speed)


@formula
def sticking_touch(data, k, c, X_WA, V_A, X_WB, V_B, x, y):  # type: ignore[no-untyped-def]
    """The contact of the sphere about c with the plane where the spring of its friction is stretched to (x, y); what that holds, and ẏ."""
    m = meet(data, k, c, X_WA, V_A, X_WB, V_B)
    u, w = along_plane(X_WB, m.v_t)
    g = gripped(data, k, m, (u * u + w * w) ** 0.5)
    f_x, f_y, share = sticking.drag(g, x, y, u, w)
    R = X_WB.R
    f = m.f_n * m.n + f_x * Vec3(R.xx, R.yx, R.zx) + f_y * Vec3(R.xy, R.yy, R.zy)
    return Touch(m.f_n, f, m.p, m.depth), g, share * g.root * u, share * g.root * w


@formula
def about(t, p_A, p_B):  # type: ignore[no-untyped-def]
    """Forces on A and B of one contact, each at its origin."""
    return Force(cross(t.p - p_A, t.f), t.f), Force(-cross(t.p - p_B, t.f), -t.f)


@formula
def end(data, k, X_WA, side):  # type: ignore[no-untyped-def]
    """c = p_A ± ½ l z_A."""
    R = X_WA.R
    return X_WA.p + (side * data[k + 6]) * Vec3(R.xz, R.yz, R.zz)


@formula
def wrench(data, k, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    """Forces on A and on B, each at its origin, in the world; friction regularised."""
    F_A, F_B = about(touch(data, k, end(data, k, X_WA, 1.0), X_WA, V_A, X_WB, V_B), X_WA.p, X_WB.p)
    if common(data, k + 6) != 0.0:
        G_A, G_B = about(touch(data, k, end(data, k, X_WA, -1.0), X_WA, V_A, X_WB, V_B), X_WA.p, X_WB.p)
        F_A, F_B = F_A + G_A, F_B + G_B
    return F_A, F_B


@formula
def points_of(data, k):  # type: ignore[no-untyped-def]
    """1, of a capsule 2."""
    return 2 if data[k + 6] != 0.0 else 1


@formula
def sticking_wrench(tables, e, k, X_WA, V_A, X_WB, V_B):  # type: ignore[no-untyped-def]
    """The same where friction sticks; the rates of its states, and their bounds."""
    data, o = tables.data, Vec3(0.0, 0.0, 0.0)
    F_A, F_B = Force(o, o), Force(o, o)
    s = tables.index[e, STATE]
    for i in range(points_of(data, k)):
        c, j = end(data, k, X_WA, 1.0 - 2.0 * i), s + 2 * i
        t, g, tables.rate[j], tables.rate[j + 1] = sticking_touch(
            data, k, c, X_WA, V_A, X_WB, V_B, tables.z[j], tables.z[j + 1]
        )
        tables.bound[j] = tables.bound[j + 1] = sticking.bound(g)
        G_A, G_B = about(t, X_WA.p, X_WB.p)
        F_A, F_B = F_A + G_A, F_B + G_B
    return F_A, F_B


@formula
def stretch(tables, e, k, X_WA, V_A, X_WB, V_B, i, x, y, time):  # type: ignore[no-untyped-def]
    """y of contact point i at the end of a step into z, by c = (x, y) and g = `time` (``sticking``); returns √σ."""
    data, j = tables.data, tables.index[e, STATE] + 2 * i
    m = meet(data, k, end(data, k, X_WA, 1.0 - 2.0 * i), X_WA, V_A, X_WB, V_B)
    u, w = along_plane(X_WB, m.v_t)
    g = gripped(data, k, m, (u * u + w * w) ** 0.5)
    tables.z[j], tables.z[j + 1] = sticking.stretched(g, x, y, u, w, time)
    return g.root


@formula
def end_energy(data, k, c, X_WB):  # type: ignore[no-untyped-def]
    """k δᵉ⁺¹ / (e + 1)."""
    R, o = X_WB.R, zero(c.x)
    depth = data[k + 5] - Vec3(R.xz, R.yz, R.zz) @ (c - X_WB.p)
    pressed = if_less(depth, o, o, depth)
    e = data[k + 1] + 1.0
    return data[k] / e * power(pressed, e)


@formula
def energy(data, k, X_WA, X_WB):  # type: ignore[no-untyped-def]
    """U = Σ k δᵉ⁺¹ / (e + 1)."""
    U = end_energy(data, k, end(data, k, X_WA, 1.0), X_WB)
    if common(data, k + 6) != 0.0:
        U = U + end_energy(data, k, end(data, k, X_WA, -1.0), X_WB)
    return U


@formula
def held_energy(tables, e, k, X_WA, X_WB):  # type: ignore[no-untyped-def]
    """Σ ½ |y|², y no longer than its bound at rest."""
    data, R, U = tables.data, X_WB.R, 0.0
    for i in range(points_of(data, k)):
        j = tables.index[e, STATE] + 2 * i
        depth = data[k + 5] - Vec3(R.xz, R.yz, R.zz) @ (end(data, k, X_WA, 1.0 - 2.0 * i) - X_WB.p)
        if depth > 0.0:
            g = sticking.grip(data, k + STICK, slope(data, k, depth), data[k] * depth ** data[k + 1], 0.0)
            s = sticking.shortening(tables.z[j], tables.z[j + 1], sticking.bound(g))
            U += 0.5 * s * s * (tables.z[j] * tables.z[j] + tables.z[j + 1] * tables.z[j + 1])
    return U


@kernel
def observe_contacts(data, motion_a, motion_b, points, z, out):  # type: ignore[no-untyped-def]
    """Fill out (N, points, 9) from the motion (N, 18) of the frames A and B: pose (12), ω and velocity, world axes; z (N, 2 points)
    are the states of friction that sticks, (N, 0) where it does not."""
    X_A, V_A, X_B, V_B = (
        PoseRows(motion_a, 0),
        MotionRows(motion_a, 12),
        PoseRows(motion_b, 0),
        MotionRows(motion_b, 12),
    )
    for s in range(len(out)):
        for i in range(points):
            c = end(data, 0, X_A[s], 1.0 - 2.0 * i)
            if z.shape[1] > 0:
                t, _, _, _ = sticking_touch(data, 0, c, X_A[s], V_A[s], X_B[s], V_B[s], z[s, 2 * i], z[s, 2 * i + 1])
            else:
                t = touch(data, 0, c, X_A[s], V_A[s], X_B[s], V_B[s])
            R = X_B[s].R
            f_t = t.f - t.f_n * Vec3(R.xz, R.yz, R.zz)
            out[s, i, 0], out[s, i, 1], out[s, i, 2] = t.f.x, t.f.y, t.f.z
            out[s, i, 3], out[s, i, 4], out[s, i, 5] = t.p.x, t.p.y, t.p.z
            out[s, i, 6], out[s, i, 7], out[s, i, 8] = t.f_n, sqrt(f_t @ f_t), t.depth


def contact_motion(data: list[float], A: np.ndarray, B: np.ndarray, points: int, z: np.ndarray) -> np.ndarray:
    """Force on A (3), point (3), normal and tangential force, penetration of each contact point, (N, points, 9); z as above."""
    out = np.empty((len(A), points, CONTACT_COLUMNS))
    motion_a, motion_b, own = (np.ascontiguousarray(x) for x in (A, B, z))
    observe_contacts(np.array(data), motion_a, motion_b, points, own, out)
    return out

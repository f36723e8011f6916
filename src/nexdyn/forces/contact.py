"""Contact of two surfaces at points: compliant, after Hunt and Crossley, with friction that sticks or is regularised.

A: the surface of body a, a sphere about c, r_A its radius (0 for a point).   B: that of body b, a plane or a sphere.

    n        the normal, of unit length, from B to A        δ   the penetration        p   where the force acts
    plane    n = z_B,   h = n · (c − p_B),   δ = r_A − h,   p = c − h n: the foot of c on the plane
    sphere   d = c − p_B,   n = ς d/|d|,   δ = r_A + ς (r_B − |d|),   p = c − (r_A − ½ δ) n: midway
             ς = 1 where A is outside, −1 where it lies in the hollow of B

    v = v_A(p) − v_B(p),   δ̇ = −n · v
    v_t = (1 − n nᵀ)(v + R_A u_A − R_B u_B)          sliding velocity; u: of a surface that runs along its own body, as a belt does
    S = ρ 1 + (1 − ρ) e eᵀ                           of a coefficient ρ μ across the direction e, which is laid along the surfaces; else 1
    f_n = k δᵉ max(0, 1 + a δ̇)   where δ > 0, else 0                             (Hunt & Crossley, J. Appl. Mech. 42, 1975)
          or a function of δ and δ̇ of the user's (``own_law``)
    f_t = S f̂,   f̂ a spring along the surfaces that S v_t stretches and that yields at μ f_n                     (``sticking``)
    f on A = f_n n + f_t at p,   its opposite on B;   U = k δᵉ⁺¹ / (e + 1) + ½ |y|²

With `friction_speed` v_f friction is regularised instead, without a spring: f̂ = −μ f_n S v_t / √(|S v_t|² + v_f²). On an incline of
angle φ a body then creeps with v_f tan φ / √(μ² − tan² φ). S lets no power appear: f_t · v_t = f̂ · S v_t; the largest f_t make an ellipse,
of μ f_n along e and ρ μ f_n across.

The force vanishes where the surfaces part, and never pulls. What of its power is not −U̇ is −k δᵉ a δ̇² and f_t · v_t of what slides,
and what drives a surface that runs adds −f_t · (R_A u_A − R_B u_B).

What a bounce leaves of the speed v_i follows from m δ̈ = −k δᵉ (1 + a δ̇), whatever m, k and e: with d = a v_i and the
coefficient of restitution ε,

    (1 + d) exp(−d) = (1 − ε d) exp(ε d),       ε ≈ 1 − ⅔ d for small d,   ε → 1/d for large

so that `restitution` at an `impact_speed` gives a.
Data: `PointData`. Where l is not 0 there are two points, about c = p_A ± ½ l z_A, else one about p_A. States, where friction sticks: y of
each point, in the axes of B.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.forces import sticking
from nexdyn.forces.between import PairForce, check_points
from nexdyn.forces.contact_data import Far, PointData
from nexdyn.forces.contact_law import VELOCITIES, ContactLaw, check_along, is_of_time, wrong_at
from nexdyn.forces.kinds import CONTACT
from nexdyn.forces.overlap import UNBOUNDED
from nexdyn.forces.own_law import OWN, energy_of, force_of, hold_of, own_damping, own_slope, own_slope_at
from nexdyn.forces.page import OF_ITS_STEP, TREE_LANES, Between, alone, no_number, nowhere
from nexdyn.forces.point_spring import length_and_direction
from nexdyn.forces.tables import ForceEntries
from nexdyn.generic import is_instance
from nexdyn.kernel import formula, kernel, overloaded
from nexdyn.model.callbacks import Callback
from nexdyn.model.force import Frame
from nexdyn.model.once import once
from nexdyn.model.time_kernels import time_callbacks, time_row
from nexdyn.records import Record
from nexdyn.spatial.algebra import Force, T, Vec3, cross, norm, vector_at
from nexdyn.spatial.lanes import LaneVector, if_less, lane, pack, power, sqrt, zero
from nexdyn.spatial.table import MotionRows, PoseRows

if TYPE_CHECKING:
    from nexdyn.model.body import ResolvedBody
    from nexdyn.model.system import System

HELD = 1.0 - 1e-9
"""The part of μ f_n below which friction sticks."""


class Seen(Record):
    """What is recorded of a contact: force on A, point, normal force, tangential force, penetration, normal from B to A, velocity of A
    against B along the surfaces, 1 where it sticks, area, largest pressure and moment on A about the point, all 0 of a contact at a
    point; world axes."""

    force: Vec3
    point: Vec3
    normal_force: float
    tangential_force: float
    depth: float
    normal: Vec3
    sliding: Vec3
    sticks: float
    area: float
    pressure: float
    moment: Vec3


def seen_in(table: np.ndarray) -> Any:
    """A `Seen` whose fields are the columns of a table (…, 21) of contacts: views of it, (…)."""
    return Seen(np.moveaxis(table, -1, 0))


class Extent(NamedTuple):
    """How far [m] the other has to be in the thinner side to come out behind it, without end of a plane or a hollow; and how far A and B
    reach from the origins of their frames."""

    thinner: float
    a: float
    b: float


class Placed(NamedTuple):
    """Where a frame is in the axes of a side, about its point: R (3, 3) and p (3,) [m]."""

    R: np.ndarray = np.eye(3)
    p: np.ndarray = np.zeros(3)


UNMOVED = Placed()
OF_ITSELF = ("name", "a", "b")
"""Attributes of which the data of a contact tell nothing."""
"""How far what has no end reaches."""
AHEAD = tuple(np.geomspace(1e-9, 1.0, 91).tolist())
"""How far [s] a function of time is looked at ahead for what is not valid."""
ROUNDED = 1.0 + 1e-9
"""By what part of their reach surfaces are looked at that are apart."""


def mass_of(body: ResolvedBody) -> float:
    """m."""
    return body.mass


def mean_inertia_of(body: ResolvedBody) -> float:
    """⅓ tr I."""
    return float(np.trace(body.inertia)) / 3.0


def _of_side(system: System, side: str, of: Callable[[ResolvedBody], float]) -> float:
    """The sum of what `of` tells of a body and of all that Fixed joints hold to it; 0 where the ground is among them."""
    body, _, _ = system.frame(side)
    together = fixed_to(system, body.name)
    return 0.0 if "ground" in together else sum(of(system.bodies[name].resolved(system.values)) for name in together)


OF_POINTS = {
    count: [(f"{point}held_{axis}", "J^0.5", 0.0) for point in points for axis in "xyz"]
    for count, points in ((1, ("",)), (2, ("1.", "2.")))
}
"""States of one and of two points where friction sticks."""


class ContactForce(ContactLaw, PairForce):
    """A contact of two surfaces by the law of :class:`ContactLaw`."""

    code = CONTACT
    structural = PairForce.structural | {"normal_force"}
    touches = True
    over_surfaces = False
    """Whether its data have what resists rolling and turning."""

    @property
    def points(self) -> int:
        """Contact points: 2 of a capsule, else 1."""
        return 1

    def states(self, values: Mapping[str, float]) -> list[tuple[str, str, float]]:
        return OF_POINTS[self.points] if self.sticks else []

    def stiffness_unit(self, values: Mapping[str, float]) -> str:
        """The unit of its stiffness; "" where it has none."""
        return "" if self.normal_force is not None else f"N/m^{self.law(values).exponent:g}"

    def slope_at(self, values: Mapping[str, float], depth: float, load: float) -> float:
        """df_n/dδ [N/m] at a depth [m], or at that which carries a load [N] where this is deeper; at rest."""
        law = self.law(values)
        if self.normal_force is not None:
            return own_slope_at(self.normal_force, depth, load)
        depth = max(depth, (load / law.stiffness) ** (1.0 / law.exponent))
        if depth == 0.0 and law.exponent > 1.0:
            return 0.0
        return law.stiffness * law.exponent * depth ** (law.exponent - 1.0)

    def slope_in(self, values: Mapping[str, float], poses: list[np.ndarray], depth: float, load: float) -> float:
        """The same where it depends on how its frames A and B are turned, at the poses (12,)."""
        return self.slope_at(values, depth, load)

    def stiffnesses(self, values: Mapping[str, float]) -> list[float]:
        """Its stiffness, or the least and the greatest where it differs from place to place, in its `stiffness_unit`."""
        return [self.law(values).stiffness]

    def shape(self, values: Mapping[str, float]) -> tuple[float, float, float, float]:
        """r_A, ½ l, ς, r_B."""
        raise NotImplementedError

    def placed(self, values: Mapping[str, float]) -> tuple[Placed, Placed]:
        """Its frames A and B in the axes of `a` and `b`, at their points."""
        return UNMOVED, UNMOVED

    def normals(self, values: Mapping[str, float]) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Of the surfaces of `a` and `b`, in their axes, the normal (3,) of one that is a plane."""
        return None, None

    def frames(self, system: System) -> tuple[Frame, ...]:
        return once("frames", lambda: self._frames(system), self, system)

    def _frames(self, system: System) -> tuple[Frame, ...]:
        placed = self.placed(system.values)
        return tuple(
            F if side is UNMOVED else F._replace(R_BF=F.R_BF @ side.R, p_BF=F.p_BF + F.R_BF @ side.p)
            for F, side in zip(super().frames(system), placed, strict=True)
        )

    def surface_velocities(self, values: Mapping[str, float]) -> list[float]:
        """u_A and u_B in the axes of A and B. InputError for one that leaves its plane."""
        given = [self.floats_of(attribute, 3, values) for attribute in VELOCITIES]
        if not any(map(any, given)):
            return [0.0] * 6
        for attribute, n in zip(VELOCITIES, self.normals(values), strict=True):
            if n is not None:
                check_along(self, attribute, n, values)
        return [x for u, (R, _) in zip(given, self.placed(values), strict=True) for x in (np.array(u) @ R).tolist()]

    def directed(self, values: Mapping[str, float]) -> list[float]:
        """ρ, and e in the axes of A and of B, 0 in those it does not lie in."""
        ratio, directions = self.ratio_across(values)
        return [
            ratio,
            *(x for e, (R, _) in zip(directions, self.placed(values), strict=True) for x in (np.array(e) @ R).tolist()),
        ]

    def extent(self, values: Mapping[str, float]) -> Extent:
        """How far its surfaces reach."""
        radius, half, side, other = self.shape(values)
        thinner = min(x for x in (radius, other) if x > 0.0) if side > 0.0 else math.inf
        return Extent(thinner, half + radius, other)

    def far(self, values: Mapping[str, float]) -> list[float]:
        """From where on its surfaces are apart: the data of ``apart``."""
        reach = self.extent(values)
        for side, n, (R, _), other in zip(
            (-1.0, 1.0), self.normals(values), self.placed(values), (reach.b, reach.a), strict=True
        ):
            if n is not None:
                return [other * ROUNDED, side, *(n @ R).tolist(), 0.0]
        inside = self.shape(values)[2] < 0.0
        return [UNBOUNDED if inside else (reach.a + reach.b) * ROUNDED, 0.0, 0.0, 0.0, 0.0, 0.0]

    def data(self, values: Mapping[str, float]) -> list[float]:
        """k, e, a, μ, v_f, r_A, ½ l; μ, μ_s, v_s, ρ, 2 ζ √m of a reduced mass m of 1 kg; ς, r_B; u_A, u_B; ρ and e; of ``apart``."""
        k, e, a, v_f, *friction = self.law(values)
        if (own := self.own_callback()) is not None:
            k, e, self._own = own.address, OWN, own
        radius, half, side, other = self.shape(values)
        last = [side, other, *self.surface_velocities(values), *self.directed(values), *self.far(values)]
        return [k, e, a, friction[0], v_f, radius, half, *friction, *last]

    def numbers(self, values: Mapping[str, float]) -> list[float]:
        """Its `data`, which contacts of one law between shapes alike have in common: not to be written to."""
        if self.normal_force is not None:  # its data keep a function of its own alive
            return self.data(values)
        return once("numbers", lambda: self._numbers(values), self, values)

    def _numbers(self, values: Mapping[str, float]) -> list[float]:
        alike = tuple((name, x) for name, x in self.__dict__.items() if name[0] != "_" and name not in OF_ITSELF)
        return once((type(self), alike), lambda: self.data(values), values)

    def check(self, values: Mapping[str, float]) -> None:
        check_points(self, ("_a", "_b"), values)
        self.numbers(values)

    def data_in(self, system: System) -> list[float]:
        """Its `numbers` for the masses of its bodies: not to be written to, either."""
        numbers, root = self.numbers(system.values), math.sqrt(self.reduced(system, mass_of))
        return once(("for masses", root), lambda: self._for_masses(numbers, root), numbers)

    def _for_masses(self, numbers: list[float], root: float) -> list[float]:
        data = list(numbers)
        own = PointData(data)
        own.friction = own.friction._replace(damping=own.friction.damping * root)
        return data

    def varying(self, system: System) -> list[float]:
        """What ``contact_functions`` reads; [] where no coefficient is a function of time."""
        if not self.varies:
            return []
        values = system.values
        functions = self.functions(values)
        self._callbacks = tuple(callback for function in functions for callback in time_callbacks(function))
        normals = [x for n in self.normals(values) for x in (np.zeros(3) if n is None else n).tolist()]
        axes = [x for R, _ in self.placed(values) for x in R.ravel().tolist()]
        given = [self.static_friction is not None, self.friction_across is not None]
        self._watched = (tuple(functions), *given, tuple(normals))
        rows = [x for function in functions for x in time_row(function)]
        head = [self.arm(system), *map(float, given), float(self.over_surfaces)]
        return [*head, *normals, *axes, *rows]

    def arm(self, system: System) -> float:
        """l of what resists rolling [m]; 0 where there is none."""
        return 0.0

    def callbacks(self) -> tuple[Callback, ...]:
        own = self.__dict__.get("_own")
        return (*self.__dict__.get("_callbacks", ()), *(() if own is None else (own,)))

    def failing_at(self, time: float) -> str:
        functions, static, across, normals = self.__dict__.get("_watched", ((), False, False, ()))
        if functions:
            for ahead in (0.0, *AHEAD):  # the step at hand may end later
                told = wrong_at(functions, static, across, np.reshape(normals, (2, 3)), time + ahead)
                if told:
                    return told
        return ""

    def reduced(self, system: System, of: Callable[[ResolvedBody], float]) -> float:
        """1/(1/m_A + 1/m_B) of what `of` tells of both bodies, with all that Fixed joints hold to them; 0 where neither has any. The ground
        has no end of it."""
        inverse = 0.0
        for side in (self.a, self.b):
            m = once(("of one side", side, of), lambda side=side: _of_side(system, side, of), system)  # type: ignore[misc]
            inverse += 1.0 / m if m > 0.0 else 0.0
        return 1.0 / inverse if inverse > 0.0 else 0.0

    def pressed(self, values: Mapping[str, float], A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
        """The penetration [m] and normal force at rest [N], of the deeper of two points, the frames A and B at the poses (12,) in the
        world."""
        rows = np.array([A, B])
        still = np.concatenate([rows, np.zeros((2, 6))], axis=1)
        table = self.motion_table(self.numbers(values), still[:1], still[1:], np.zeros((1, 0)))
        seen = seen_in(table[0])
        deepest = int(seen.depth.argmax())
        return float(seen.depth[deepest]), float(seen.normal_force[deepest])

    def motion_table(self, data: list[float], A: np.ndarray, B: np.ndarray, z: np.ndarray) -> np.ndarray:
        """What is `Seen` of each contact point, (N, points, 21), from its data, the motion (N, 18) of the frames A and B (pose,
        ω and velocity, world axes) and the states z (N, nz) of friction that sticks, (N, 0) where it does not."""
        out = np.empty((len(A), self.points, Seen.columns))
        motion_a, motion_b, own = (np.ascontiguousarray(x) for x in (A, B, z))
        observe_contacts(np.array(data), motion_a, motion_b, self.points, own, out)
        return out

    def working(self, values: Mapping[str, float]) -> str:
        law = self.law(values)
        told = str(self) if self.part_of is None else f"contact {self.part_of!r}"
        works = self.normal_force is not None or law.damping > 0.0 or law.friction > 0.0 or is_of_time(self.friction)
        return told if works else ""

    def gives(self, values: Mapping[str, float]) -> bool:
        return self.normal_force is not None or any(is_of_time(x) or x != 0.0 for x in self.runs_by(values))

    def runs_by(self, values: Mapping[str, float]) -> list[Any]:
        """The components of both surface velocities, functions of time as they were given."""
        return [
            given if is_of_time(given) else x
            for attribute in VELOCITIES
            for given, x in zip(self.__dict__[attribute], self.floats_of(attribute, 3, values), strict=True)
        ]

    def velocities_at(self, values: Mapping[str, float], t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The surface velocities of `a` and `b` in their axes at the times t (N,), (N, 3)."""
        if not self.varies:
            of_a, of_b = (np.tile(self.floats_of(attribute, 3, values), (len(t), 1)) for attribute in VELOCITIES)
            return of_a, of_b
        columns = [function.value(t) for function in self.functions(values)[-6:]]
        return np.column_stack(columns[:3]), np.column_stack(columns[3:])


def beyond_reach(data: Sequence[float], A: np.ndarray, B: np.ndarray) -> float:
    """How much farther from each other surfaces are, by their data, than they reach [m], the frames A and B at the poses (12,): they are
    apart where it is greater than 0 (``apart``)."""
    far: Far = PointData(data).far
    d = A[9:] - B[9:]
    if far.side == 0.0:
        return math.sqrt(float(d @ d)) - far.reach
    R = (B if far.side > 0.0 else A)[:9].reshape(3, 3)
    return far.side * float(R @ np.array(far.n) @ d) - far.offset - far.reach


def fixed_to(system: System, body: str) -> set[str]:
    """The bodies, the ground among them, that are one with a body by Fixed joints, and itself."""
    return once(("fixed to", body), lambda: _fixed_to(system, body), system)


def _fixed_to(system: System, body: str) -> set[str]:
    found, left = {body}, [joint for joint in system.joints.values() if joint.kind == "fixed"]
    while near := [joint for joint in left if not found.isdisjoint((joint.parent.name, joint.child.name))]:
        found.update(name for joint in near for name in (joint.parent.name, joint.child.name))
        left = [joint for joint in left if joint not in near]
    return found


class Rub(NamedTuple):
    """How surfaces rub: R_A u_A − R_B u_B, ρ, and e, not yet laid along them; world axes."""

    u: Vec3
    ratio: float
    e: Vec3


class Meeting(NamedTuple):
    """Where and how the surfaces meet: normal, point, penetration, normal force, sliding velocity of A, S of it, how they rub, with e
    along them, the rate of the penetration, and w of ``sticking``; world axes."""

    n: Vec3
    p: Vec3
    depth: float
    f_n: float
    v_t: Vec3
    glide: Vec3
    rub: Rub
    rate: float
    spin: float


class Touch(NamedTuple):
    """A contact: force on A along the normal and in all (world), the point, penetration."""

    f_n: float
    f: Vec3
    p: Vec3
    depth: float


@formula
def near_sphere(data, k, c, p_B):
    """n, δ and how far p lies below c, of a sphere about p_B; n = 0 where the centres are one."""
    own = PointData(data, k)
    side = lane(own.side, 0)
    length, u = length_and_direction(p_B, c)
    depth = own.radius + side * (own.other - length)
    return side * u, depth, own.radius - 0.5 * depth


@formula
def near_plane(data, k, c, X_WB):
    """The same of the plane."""
    R = X_WB.R
    n = Vec3(R.xz, R.yz, R.zz)
    h = n @ (c - X_WB.p)
    return n, PointData(data, k).radius - h, h


@formula
def near(data, k, c, X_WB):
    """The same of the surface of B."""
    if lane(PointData(data, k).side, 0) == 0.0:
        return near_plane(data, k, c, X_WB)
    return near_sphere(data, k, c, X_WB.p)


@formula
def running(data, k, X_WA, X_WB):
    """How the surfaces rub."""
    own = PointData(data, k)
    u = X_WA.R @ own.runs_a - X_WB.R @ own.runs_b
    return Rub(u, own.ratio, X_WA.R @ own.along_a + X_WB.R @ own.along_b)


@formula
def along(rub, n):
    """The same on surfaces with the normal n, e laid along them."""
    return Rub(rub.u, rub.ratio, rub.e - (n @ rub.e) * n)


@formula
def across(rub, x):
    """S x of x along the surfaces, e laid along them."""
    return rub.ratio * x + ((1.0 - rub.ratio) * (rub.e @ x)) * rub.e


@formula
def pressing(data, k, pressed, rate):
    """f_n at the penetration `pressed`, 0 where there is none, and its rate."""
    own = PointData(data, k)
    if lane(own.exponent, 0) == OWN:
        return force_of(lane(own.stiffness, 0), pressed, rate)
    # f_n = k δᵉ max(0, 1 + a δ̇)
    o = zero(pressed)
    grip = 1.0 + own.damping * rate
    return own.stiffness * power(pressed, own.exponent) * if_less(grip, o, o, grip)


@formula
def meet(data, k, c, X_WA, V_A, X_WB, V_B):
    """The sphere about c and the surface of B."""
    o = zero(c.x)
    n, depth, below = near(data, k, c, X_WB)
    p = c - below * n
    # v = v_A(p) − v_B(p),  δ̇ = −n · v
    v = V_A.v + cross(V_A.w, p - X_WA.p) - V_B.v - cross(V_B.w, p - X_WB.p)
    rate = -(n @ v)
    f_n = pressing(data, k, if_less(depth, o, o, depth), rate)
    # v_t = (1 − n nᵀ)(v + R_A u_A − R_B u_B)
    rub = along(running(data, k, X_WA, X_WB), n)
    slip = v + rub.u
    v_t = slip - (n @ slip) * n
    return Meeting(n, p, depth, f_n, v_t, across(rub, v_t), rub, rate, 0.5 * (n @ (V_A.w - V_B.w)))


@formula
def touch(data, k, c, X_WA, V_A, X_WB, V_B):
    """The contact of the sphere about c, its friction regularised."""
    m, own = meet(data, k, c, X_WA, V_A, X_WB, V_B), PointData(data, k)
    # f̂ = −μ f_n S v_t / √(|S v_t|² + v_f²)
    s = own.mu * m.f_n / sqrt(m.glide @ m.glide + own.friction_speed * own.friction_speed)
    return Touch(m.f_n, m.f_n * m.n - s * across(m.rub, m.glide), m.p, m.depth)


@formula
def slope(law, depth):
    """d(k δᵉ)/dδ."""
    o = zero(depth)
    return if_less(o, depth, law.stiffness * law.exponent * power(if_less(depth, o, o, depth), law.exponent - 1.0), o)


@formula
def hold(law, depth, f_n):
    """What the stiffness of friction is a part of, at the normal force f_n: the slope; of a law of the user's f_n/δ where that is more."""
    if lane(law.exponent, 0) == OWN:
        return hold_of(lane(law.stiffness, 0), depth, f_n)
    return slope(law, depth)


@formula
def slopes(data, k, depth, rate, f_n):
    """∂f_n/∂δ and ∂f_n/∂δ̇ where f_n > 0."""
    own = PointData(data, k)
    if own.exponent == OWN:
        return own_slope(own.stiffness, depth, rate), own_damping(own.stiffness, depth, rate)
    return own.exponent * f_n / depth, own.damping * own.stiffness * depth**own.exponent


@formula
def gripped(data, k, m):
    """What friction holds where the surfaces meet so."""
    own = PointData(data, k)
    return sticking.grip(own.friction, hold(own, m.depth, m.f_n), m.f_n, sqrt(m.glide @ m.glide))


@formula
def sticking_touch(data, k, c, X_WA, V_A, X_WB, V_B, y):
    """The contact of the sphere about c where the spring of its friction is stretched to y (axes of B): also f̂, what that holds,
    y along the surfaces and within its bound, ẏ there, and ẏ."""
    m = meet(data, k, c, X_WA, V_A, X_WB, V_B)
    g, R_t = gripped(data, k, m), T(X_WB.R)
    n = R_t @ m.n
    f, y, inner, rate = sticking.drag(g, sticking.laid(y, n), R_t @ m.glide, n, m.spin)
    return Touch(m.f_n, m.f_n * m.n + across(m.rub, X_WB.R @ f), m.p, m.depth), f, g, y, inner, rate


@formula
def about(t, p_A, p_B):
    """Forces on A and B of one contact, each at its origin."""
    return Force(cross(t.p - p_A, t.f), t.f), Force(-cross(t.p - p_B, t.f), -t.f)


@formula
def end(data, k, X_WA, side):
    """c = p_A ± ½ l z_A."""
    R = X_WA.R
    return X_WA.p + (side * PointData(data, k).half) * Vec3(R.xz, R.yz, R.zz)


@formula
def wrench(data, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B, each at its origin, in the world; friction regularised."""
    F_A, F_B = about(touch(data, k, end(data, k, X_WA, 1.0), X_WA, V_A, X_WB, V_B), X_WA.p, X_WB.p)
    if lane(PointData(data, k).half, 0) != 0.0:
        G_A, G_B = about(touch(data, k, end(data, k, X_WA, -1.0), X_WA, V_A, X_WB, V_B), X_WA.p, X_WB.p)
        F_A, F_B = F_A + G_A, F_B + G_B
    return F_A, F_B


@formula
def points_of(data, k):
    """1, of a capsule 2."""
    return 2 if lane(PointData(data, k).half, 0) != 0.0 else 1


@formula
def put_state(array, j, y):
    """array[j:j + 3] = y."""
    array[j], array[j + 1], array[j + 2] = y.x, y.y, y.z


@formula
def sticking_wrench(tables, e, k, X_WA, V_A, X_WB, V_B):
    """The same where friction sticks; the rates of its states, their bounds, and both within these."""
    data, o = tables.data, zero(X_WA.p.x)
    nothing = Vec3(o, o, o)
    F_A, F_B = Force(nothing, nothing), Force(nothing, nothing)
    for i in range(points_of(data, k)):
        c, j = end(data, k, X_WA, 1.0 - 2.0 * i), ForceEntries(tables.index)[e].state + 3 * i
        t, _, g, y, inner, rate = sticking_touch(data, k, c, X_WA, V_A, X_WB, V_B, vector_at(tables.z, j))
        put_state(tables.inside, j, y)
        put_state(tables.inner, j, inner)
        put_state(tables.rate, j, rate)
        most = sticking.bound(g)
        put_state(tables.bound, j, Vec3(most, most, most))
        G_A, G_B = about(t, X_WA.p, X_WB.p)
        F_A, F_B = F_A + G_A, F_B + G_B
    return F_A, F_B


@formula
def stretch(tables, e, k, X_WA, V_A, X_WB, V_B, i, c, time):
    """y of contact point i at the end of a step into z, by c (axes of B) and g = `time` (``sticking``); returns √σ."""
    data, j = tables.data, ForceEntries(tables.index)[e].state + 3 * i
    m = meet(data, k, end(data, k, X_WA, 1.0 - 2.0 * i), X_WA, V_A, X_WB, V_B)
    g, R_t = gripped(data, k, m), T(X_WB.R)
    n = R_t @ m.n
    put_state(tables.z, j, sticking.stretched(g, sticking.laid(c, n), R_t @ m.glide, time, n, m.spin))
    return g.root


@formula
def end_energy(data, k, c, X_WB):
    """k δᵉ⁺¹ / (e + 1)."""
    o = zero(c.x)
    _, depth, _ = near(data, k, c, X_WB)
    pressed = if_less(depth, o, o, depth)
    own = PointData(data, k)
    if lane(own.exponent, 0) == OWN:
        return energy_of(lane(own.stiffness, 0), pressed)
    e = own.exponent + 1.0
    return own.stiffness / e * power(pressed, e)


@formula
def energy(data, k, X_WA, X_WB):
    """U = Σ k δᵉ⁺¹ / (e + 1)."""
    U = end_energy(data, k, end(data, k, X_WA, 1.0), X_WB)
    if lane(PointData(data, k).half, 0) != 0.0:
        U = U + end_energy(data, k, end(data, k, X_WA, -1.0), X_WB)
    return U


@formula
def held_energy(tables, e, k, X_WA, X_WB):
    """Σ ½ |y|², y no longer than its bound at rest."""
    data, U = tables.data, 0.0
    for i in range(points_of(data, k)):
        _, depth, _ = near(data, k, end(data, k, X_WA, 1.0 - 2.0 * i), X_WB)
        if depth > 0.0:
            f_n = pressing(data, k, depth, 0.0)
            own = PointData(data, k)
            g = sticking.grip(own.friction, hold(own, depth, f_n), f_n, 0.0)
            y = sticking.shortened(vector_at(tables.z, ForceEntries(tables.index)[e].state + 3 * i), sticking.bound(g))
            U += 0.5 * (y @ y)
    return U


@kernel
def observe_contacts(data, motion_a, motion_b, points, z, out):
    """Fill out (N, points, 21) from the motion (N, 18) of the frames A and B: pose (12), ω and velocity, world axes; z (N, 3 points)
    are the states of friction that sticks, (N, 0) where it does not."""
    X_A, V_A, X_B, V_B = (
        PoseRows(motion_a, 0),
        MotionRows(motion_a, 12),
        PoseRows(motion_b, 0),
        MotionRows(motion_b, 12),
    )
    for s in range(len(out)):
        for i in range(points):
            c, row = end(data, 0, X_A[s], 1.0 - 2.0 * i), Seen(out[s, i])
            m, sticks = meet(data, 0, c, X_A[s], V_A[s], X_B[s], V_B[s]), 0.0
            if z.shape[1] > 0:
                y = Vec3(z[s, 3 * i], z[s, 3 * i + 1], z[s, 3 * i + 2])
                t, f, g, _, _, _ = sticking_touch(data, 0, c, X_A[s], V_A[s], X_B[s], V_B[s], y)
                f_t = t.f - t.f_n * m.n
                sticks = 1.0 if t.f_n > 0.0 and norm(f) < HELD * g.most else 0.0
            else:
                t = touch(data, 0, c, X_A[s], V_A[s], X_B[s], V_B[s])
                f_t = t.f - t.f_n * m.n
            row.force, row.point, row.moment = t.f, t.p, Vec3(0.0, 0.0, 0.0)
            row.normal_force, row.tangential_force, row.depth = t.f_n, sqrt(f_t @ f_t), t.depth
            row.normal, row.sliding = m.n, m.v_t
            row.sticks, row.area, row.pressure = sticks, 0.0, 0.0


held_energy_alone = alone(held_energy, no_number)


def stuck(tables: Any, e: Any, k: Any, X_WA: Any, V_A: Any, X_WB: Any, V_B: Any, x: Any) -> Any:
    """`sticking_wrench`; in lanes only of tables whose states lie in lanes, too: of others it is not compiled."""
    if isinstance(x, np.ndarray) and not isinstance(tables.z, LaneVector):
        return nowhere(x)
    return sticking_wrench(tables, e, k, X_WA, V_A, X_WB, V_B)


@overloaded(stuck)
def _stuck(tables, e, k, X_WA, V_A, X_WB, V_B, x):
    if x is pack and not is_instance(tables[tables.fields.index("z")], LaneVector):
        return lambda tables, e, k, X_WA, V_A, X_WB, V_B, x: nowhere(x)
    return lambda tables, e, k, X_WA, V_A, X_WB, V_B, x: sticking_wrench(tables, e, k, X_WA, V_A, X_WB, V_B)


@formula
def wrenches(tables, e, data, k, X_WA, V_A, X_WB, V_B, x):
    """Forces on A and on B; friction that sticks has states."""
    if ForceEntries(tables.index)[e].states > 0:
        return stuck(tables, e, k, X_WA, V_A, X_WB, V_B, x)
    return wrench(data, k, X_WA, V_A, X_WB, V_B)


@formula
def whole_energy(tables, e, data, k, X_WA, X_WB, x):
    """U, with what friction that sticks stores."""
    U = energy(data, k, X_WA, X_WB)
    return U + held_energy_alone(tables, e, k, X_WA, X_WB, x) if ForceEntries(tables.index)[e].states > 0 else U


PAGE = Between(CONTACT, "contact at points", wrenches, whole_energy, OF_ITS_STEP, TREE_LANES)

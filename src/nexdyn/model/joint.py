"""Joints: which two bodies, where, with which axis, and the data that go with their degrees of freedom.

A joint has a frame A on its parent and a frame B on its child; q = 0 is where the two coincide; its axis is z of both.

    X_WA = X_WP X_PA,   X_WB = X_WC X_CB      (P parent, C child, as described)

`at`, `axis`, `reference` describe both frames at once in the world. With `anchor_a`, `axis_a`, `reference_a` in the
parent's frame and `anchor_b`, `axis_b`, `reference_b` in the child's, what one side leaves out is where the other side
has it in the described pose; x of B is x of A made perpendicular to z of B, so that q = 0 is the described pose, or as
near to it as the axes allow. Where the two sides do not meet, that is the gap that assembly closes or refuses.

A joint that is described body → ground is that for all who look at the two bodies, as constraints, forces, results and the viewer do. In a
tree the ground carries the body (`carrier`, `carried`): there its frames change places (`tree_frames`), and the child of the tree
moves along X_J(q)⁻¹ (``joints.on_tree``). Where the coordinates are turns about z and slides along z, the frames turn by π about
their x, too, and R_z(q)ᵀ is R_z′(q), −q e_z is q e_z′: such a joint is itself again. What a tree tells of wrenches is put as
described by `wrench_as_described`.

The kinds, with their motion, are in ``nexdyn.joints``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, counted, unknown
from nexdyn.model.body import Body
from nexdyn.model.element import Element, name_of
from nexdyn.model.parameters import bound, number, sequence
from nexdyn.model.placement import Triple, direction, frame, sine_between, unit_quaternion

if TYPE_CHECKING:
    from nexdyn.model.callbacks import Callback

Z = (0.0, 0.0, 1.0)
PARALLEL = 1e-8
"""Sine of the angle below which a reference counts as parallel to its axis."""

HALF_TURN = np.diag([1.0, -1.0, -1.0])
"""By π about x."""

_IN_CHILD_AXES = {"fixed", "spherical", "cartesian", "free"}
"""Kinds without a distinguished axis: their frame takes the child's axes unless an axis or a reference is given."""


def is_angle(coordinate: str) -> bool:
    """Whether a coordinate of joints is an angle [rad]; the others are lengths [m]."""
    return coordinate.startswith(("Angle", "Tilt"))


class JointFrames(NamedTuple):
    """Pose of the joint's frame on the parent in the parent, and of its frame on the child in the child."""

    R_AJ: np.ndarray
    p_AJ: np.ndarray
    R_BJ: np.ndarray
    p_BJ: np.ndarray


class ResolvedJoint(NamedTuple):
    """The numbers of a joint, one a degree of freedom (nv,): SI units of that degree of freedom (N, m or N m, rad); no limit is ±inf.

    `q0` (nq,) and `v0` (nv,) are None where not given.
    """

    damping: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    armature: np.ndarray
    friction: np.ndarray
    friction_speed: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    effort_limit: np.ndarray
    velocity_limit: np.ndarray
    q0: np.ndarray | None
    v0: np.ndarray | None
    mimic: Mimic | None


@dataclass(frozen=True)
class Mimic(metaclass=CheckedCalls):
    """q = multiplier · q of `joint` + offset, for joints of one degree of freedom."""

    joint: str
    multiplier: Any = 1.0
    offset: Any = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint", name_of(self.joint))


Label = tuple[str, str]
"""A name and a unit."""


WAYS = ("turns about x", "turns about y", "turns about z", "slides along x", "slides along y", "slides along z")
TURNS, SLIDES = (tuple((way, 1) for way in ways) for ways in (WAYS[:3], WAYS[3:]))
"""How a joint may move, with the degrees of freedom that it has so."""


class Step(NamedTuple):
    """A part of a joint's motion: a "turn" or "slide" about or along an axis (0, 1, 2), or any rotation by a "quaternion"."""

    what: str
    axis: int
    coordinate: int


class Joint(Element):
    """Base of all joints.

    Parameters
    ----------
    name: unique among the joints of a system.
    parent, child: two different bodies (or their names) of the system; one may be `system.ground`.
    at, axis, reference: point [m], axis z and direction x of the joint frame, in the world as described. Defaults: the
        child's origin, (0, 0, 1), any perpendicular; Fixed, Spherical, Cartesian and Free take the child's axes.
    anchor_a, axis_a, reference_a: the same in the parent's frame; anchor_b, axis_b, reference_b: in the child's.
    damping [N s/m, N m s/rad], stiffness [N/m, N m/rad] about `rest` [m, rad], armature [kg, kg m²], friction [N, N m]
        (Coulomb, regularised below `friction_speed` [m/s, rad/s]): a number for all degrees of freedom or one a degree of freedom.
    limits: (lower, upper) of q, or one pair a degree of freedom; None or ±inf where there is none.
    effort_limit [N, N m], velocity_limit [m/s, rad/s]: a number or one a degree of freedom; None for none.
    q0, v0: initial coordinates (nq) and velocities (nv).
    priority: which constraint rows to keep where joints are redundant; larger is kept first. A whole number, 0 or more,
        for all rows, or {equation: priority} for single ones, like {"DotZX": 2}.
    mimic: a Mimic, for joints of one degree of freedom.

    A subclass sets `kind`, `nq`, `nv`; attributes it adds are numbers, or it overrides `check_own`.
    """

    kind_of_element: ClassVar[str] = "joint"
    structural: ClassVar[frozenset[str]] = frozenset({"name", "parent", "child", "mimic", "priority"})
    kind: ClassVar[str] = "joint"
    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0
    code: ClassVar[int] = -1
    rows: ClassVar[tuple[tuple[str, int], ...]] = ()
    """The constraint rows in absolute coordinates: name of the primitive and default priority."""
    tree: ClassVar[bool] = True
    """Whether minimal coordinates support it; a joint that is a constraint only has no coordinates of its own."""
    coordinates: ClassVar[tuple[str, ...]] = ()
    """What a driver may drive, by freedom: the primitive that measures it. AngleIJ is the angle about axis I of the parent side from
    J of it to J of the child side, TiltJI that about J of the child side from I to I; Angle and Tilt are AngleZX and TiltXZ. Slide is a
    displacement along a direction of the child."""
    directions: ClassVar[tuple[tuple[str, str, int], ...]] = ()
    """The velocity of each freedom, seen from outside: a "turn" is e · (ω_b − ω_a), a "slide" e · u with u the velocity of the
    origin of frame B against the parent's body; e is the axis 0, 1, 2 of frame "A" or "B"."""

    coordinate_labels: ClassVar[tuple[Label, ...]] = ()
    """Name and unit of each coordinate in results; no name where there is only one."""
    velocity_labels: ClassVar[tuple[Label, ...]] = ()
    """Name of each velocity, and the unit of which it is so many per second; those of the coordinates unless the page says others."""
    steps: ClassVar[tuple[Step, ...]] = ()
    """Its motion from frame A to frame B as turns and slides one after the other: what, about or along which axis, by which coordinate."""
    advances: ClassVar[bool] = False
    """Whether a turn moves the child along, by `own_number` a radian, so that a whole turn is a place of its own."""
    urdf: ClassVar[str] = ""
    """The joint of URDF that is the same; "" where its steps in a row are."""
    ways: ClassVar[tuple[tuple[str, int], ...]] = ()
    """How it moves in no loop, in words and in how many degrees of freedom, where its rows do not tell."""
    about_z: ClassVar[bool] = False
    """Whether its coordinates are turns about z and slides along z alone."""
    switchable: ClassVar[bool] = False
    """Whether events switch it on and off."""
    stride: ClassVar[int] = 0
    """How many of the numbers of `data` each of its rows has for itself; 0 where all read the same."""
    followed: ClassVar[int] = 0
    """Parameters of its rows, as of a point on a curve, that are followed along a motion."""

    parent: Body
    child: Body
    at: Any
    axis: Any
    reference: Any
    anchor_a: Any
    axis_a: Any
    reference_a: Any
    anchor_b: Any
    axis_b: Any
    reference_b: Any
    damping: Any
    stiffness: Any
    rest: Any
    armature: Any
    friction: Any
    friction_speed: Any
    limits: Any
    effort_limit: Any
    velocity_limit: Any
    q0: Any
    v0: Any
    mimic: Mimic | None
    priority: int | Mapping[str, int] | None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "coordinate_labels" in cls.__dict__ and "velocity_labels" not in cls.__dict__:
            cls.velocity_labels = cls.coordinate_labels

    def __init__(
        self,
        name: str,
        parent: Body | str,
        child: Body | str,
        *,
        at: Any = None,
        axis: Any = None,
        reference: Any = None,
        anchor_a: Any = None,
        axis_a: Any = None,
        reference_a: Any = None,
        anchor_b: Any = None,
        axis_b: Any = None,
        reference_b: Any = None,
        damping: Any = 0.0,
        stiffness: Any = 0.0,
        rest: Any = 0.0,
        armature: Any = 0.0,
        friction: Any = 0.0,
        friction_speed: Any = 1e-3,
        limits: Any = None,
        effort_limit: Any = None,
        velocity_limit: Any = None,
        q0: Any = None,
        v0: Any = None,
        priority: int | Mapping[str, int] | None = None,
        mimic: Mimic | None = None,
    ) -> None:
        super().__init__(name)
        self._store(
            parent=parent,
            child=child,
            at=at,
            axis=axis,
            reference=reference,
            anchor_a=anchor_a,
            axis_a=axis_a,
            reference_a=reference_a,
            anchor_b=anchor_b,
            axis_b=axis_b,
            reference_b=reference_b,
            damping=damping,
            stiffness=stiffness,
            rest=rest,
            armature=armature,
            friction=friction,
            friction_speed=friction_speed,
            limits=limits,
            effort_limit=effort_limit,
            velocity_limit=velocity_limit,
            q0=q0,
            v0=v0,
            priority=dict(priority) if isinstance(priority, Mapping) else priority,
            mimic=mimic,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {name_of(self.parent)!r} → {name_of(self.child)!r})"

    @property
    def is_turned(self) -> bool:
        """Whether a tree carries it the other way: it is described from a body to the ground."""
        return self.tree and isinstance(self.child, Body) and self.child.is_ground

    @property
    def carrier(self) -> Body:
        """The body that carries the other in a tree: the parent, but the ground wherever it is."""
        return self.child if self.is_turned else self.parent

    @property
    def carried(self) -> Body:
        """The body that is carried in a tree."""
        return self.parent if self.is_turned else self.child

    def set_bodies(self, parent: Body, child: Body) -> None:
        """Its bodies, found in a system. InputError for one joined to itself."""
        if parent is child:
            raise InputError(f"{self} joins body {child.name!r} to itself; parent and child must differ")
        self.__dict__.update(parent=parent, child=child)

    # --- where --------------------------------------------------------------------------------------------------

    def tree_frames(self, values: Mapping[str, float]) -> JointFrames:
        """Of a tree: the frame on the body that carries, and that on the body that is carried."""
        f = self.frames(values)
        if not self.is_turned:
            return f
        turn = HALF_TURN if self.about_z else np.eye(3)
        return JointFrames(f.R_BJ @ turn, f.p_BJ, f.R_AJ @ turn, f.p_AJ)

    def frames(self, values: Mapping[str, float]) -> JointFrames:
        """The joint's two frames under the parameter `values`; needs the bodies, so the joint must be in a system."""
        parent, child = self.parent, self.child
        if not isinstance(parent, Body) or not isinstance(child, Body):
            raise InputError(f"{self} is in no system yet, its bodies are names; add it first")
        R_WP, p_WP = parent.pose(values)
        R_WC, p_WC = child.pose(values)
        if self.anchored:
            return self._two_sides(R_WP.T @ R_WC, R_WP.T @ (p_WC - p_WP), values)
        p_WJ = p_WC if self.at is None else np.array(self.floats_of("at", 3, values))
        as_child = self.axis is None and self.reference is None and self.kind in _IN_CHILD_AXES
        R_WJ = R_WC if as_child else frame(*self._axes("", values))
        return JointFrames(R_WP.T @ R_WJ, R_WP.T @ (p_WJ - p_WP), R_WC.T @ R_WJ, R_WC.T @ (p_WJ - p_WC))

    def _two_sides(self, R_PC: np.ndarray, p_PC: np.ndarray, values: Mapping[str, float]) -> JointFrames:
        """The frames from anchors, axes and references in the bodies; what one side lacks, the other side gives."""
        p_PA = None if self.anchor_a is None else np.array(self.floats_of("anchor_a", 3, values))
        p_CB = None if self.anchor_b is None else np.array(self.floats_of("anchor_b", 3, values))
        if p_PA is None:
            p_PA = p_PC if p_CB is None else p_PC + R_PC @ p_CB
        if p_CB is None:
            p_CB = R_PC.T @ (p_PA - p_PC)

        z_a, x_a = self._axes("_a", values)
        z_b, x_b = self._axes("_b", values)
        a_says = self.axis_a is not None or x_a is not None
        b_says = self.axis_b is not None or x_b is not None
        if not a_says and not b_says:
            if self.kind in _IN_CHILD_AXES:
                return JointFrames(R_PC, p_PA, np.eye(3), p_CB)
            a_says = self.anchor_a is not None
        if a_says and (x_a is not None or x_b is None):  # A has its own x, or both are free to take A's
            R_PA = frame(z_a, x_a)
            R_CB = R_PC.T @ R_PA
            if b_says:
                R_CB = frame(z_b, x_b) if x_b is not None else _with_z(R_CB, z_b)
            return JointFrames(R_PA, p_PA, R_CB, p_CB)
        R_CB = frame(z_b, x_b)
        R_PA = R_PC @ R_CB
        return JointFrames(_with_z(R_PA, z_a) if a_says else R_PA, p_PA, R_CB, p_CB)

    def wrench_as_described(
        self, force: np.ndarray, moment: np.ndarray, R: np.ndarray, p: np.ndarray, values: Mapping[str, float]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of a joint that is turned: force and moment (…, 3) that a tree tells, on the body at the point on the ground and in the axes
        there, as those on the ground, at the point on the body and in the axes there. R (…, 3, 3), p (…, 3): the pose of the body."""
        on_ground, f = self.tree_frames(values), self.frames(values)
        F, M = force @ on_ground.R_AJ.T, moment @ on_ground.R_AJ.T
        M = M + np.cross(on_ground.p_AJ - (p + R @ f.p_AJ), F)
        axes = R @ f.R_AJ
        return -np.einsum("...ji,...j->...i", axes, F), -np.einsum("...ji,...j->...i", axes, M)

    @property
    def anchored(self) -> bool:
        """Whether the frames are given in the bodies' own frames instead of the world."""
        mine = self.__dict__
        return any(mine[attribute] is not None for attribute in _IN_BODIES)

    def _axes(self, side: str, values: Mapping[str, float]) -> tuple[Triple, Triple | None]:
        """The unit axis and reference of a side ("", "_a" or "_b"); the axis defaults to z."""
        axis, reference = self.__dict__["axis" + side], self.__dict__["reference" + side]
        z = Z if axis is None else self._direction("axis" + side, values)
        if reference is None:
            return z, None
        x = self._direction("reference" + side, values)
        if sine_between(z, x) < PARALLEL:
            raise InputError(
                f"reference{side} of {self} is parallel to its axis; give the direction of x, across the axis"
            )
        return z, x

    def _direction(self, attribute: str, values: Mapping[str, float]) -> Triple:
        d = self.floats_of(attribute, 3, values)
        return d if d == Z else direction(d, values, f"{attribute} of {self}")

    # --- what ---------------------------------------------------------------------------------------------------

    def resolved(self, values: Mapping[str, float]) -> ResolvedJoint:
        """The joint's numbers under the parameter `values`."""
        lower, upper = self._limits(values)
        return ResolvedJoint(
            damping=np.array(self._each("damping", values)),
            stiffness=np.array(self._each("stiffness", values)),
            rest=np.array(self._each("rest", values)),
            armature=np.array(self._each("armature", values)),
            friction=np.array(self._each("friction", values)),
            friction_speed=np.array(self._each("friction_speed", values)),
            lower=np.array(lower),
            upper=np.array(upper),
            effort_limit=np.array(self._each("effort_limit", values)),
            velocity_limit=np.array(self._each("velocity_limit", values)),
            q0=None if self.q0 is None else np.array(self._initial("q0", self.nq, values)),
            v0=None if self.v0 is None else np.array(self._initial("v0", self.nv, values)),
            mimic=None if self.mimic is None else self._mimic(self.mimic, values),
        )

    def check(self, values: Mapping[str, float]) -> None:
        """Raise InputError, naming the joint, where a value is not valid under the parameter `values`."""
        mine = self.__dict__
        if not self.tree:
            self._refuse_freedoms()
        given = [attribute for attribute in _IN_BODIES if mine[attribute] is not None]
        if given and [attribute for attribute in ("at", "axis", "reference") if mine[attribute] is not None]:
            raise InputError(
                f"{self} mixes at, axis, reference (in the world) with {', '.join(given)} (in a body); use one kind"
            )
        for point in ("at", "anchor_a", "anchor_b"):
            if mine[point] is not None:
                self.floats_of(point, 3, values)
        for side in ("", "_a", "_b"):
            if mine["axis" + side] is not None or mine["reference" + side] is not None:
                self._axes(side, values)
        for attribute in _PER_FREEDOM:
            x = mine[attribute]
            if (type(x) is float and 0.0 <= x < math.inf) or (x is None and attribute.endswith("limit")):
                continue
            if min(self._each(attribute, values), default=0.0) < 0.0 and attribute not in ("stiffness", "rest"):
                raise InputError(f"{attribute} of {self} is {x}; it must be 0 or more")
        if not min(self._each("friction_speed", values), default=1.0) > 0.0:
            raise InputError(f"friction_speed of {self} is {self.friction_speed}; it must be greater than 0")
        if self.limits is not None:
            self._limits(values)
        for attribute, count in (("q0", self.nq), ("v0", self.nv)):
            if mine[attribute] is not None:
                self._initial(attribute, count, values)
        if self.mimic is not None:
            self._mimic(self.mimic, values)
        if self.priority is not None:
            self._check_priority()
        if len(mine) > len(_KNOWN):
            self.check_own(values)

    def check_own(self, values: Mapping[str, float]) -> None:
        """Raise InputError where an attribute that a subclass adds is not valid; numbers are expected."""
        for attribute in self.__dict__.keys() - _KNOWN:
            if attribute[0] != "_":
                self.number_of(attribute, values)

    def _check_priority(self) -> None:
        by_equation = self.priority if isinstance(self.priority, Mapping) else {"": self.priority}
        equations = [equation for equation, _ in self.rows]
        if not by_equation:
            raise InputError(
                f"priority of {self} is {{}}; a whole number, 0 or more, or {{equation: priority}} is needed"
            )
        for equation, priority in by_equation.items():
            row = f" of {equation}" if equation else ""
            if equation and equation not in equations:
                raise InputError(f"priority of {self}: {unknown('equation', equation, equations)}")
            if type(priority) is not int or priority < 0:
                raise InputError(f"priority{row} of {self} is {priority!r}; a whole number, 0 or more, is needed")

    def _refuse_freedoms(self) -> None:
        """A joint that is a constraint only takes nothing that belongs to coordinates."""
        for attribute in _OF_FREEDOMS:
            if self.__dict__[attribute] != _DEFAULTS[attribute]:
                raise InputError(
                    f"{self} is a constraint only, so it takes no {attribute}; add a PointSpring or a Bushing"
                )

    # --- as constraints -----------------------------------------------------------------------------------------

    def row_priority(self, equation: str, default: int) -> int:
        """The priority of one of its rows."""
        given = self.priority
        if isinstance(given, Mapping):
            return given.get(equation, default)
        return default if given is None else given

    def offset(self, equation: str, values: Mapping[str, float]) -> float:
        """What a row's primitive is to be, under the parameter `values`."""
        return 0.0

    @property
    def is_off(self) -> bool:
        """Whether its rows do not act, until an event switches it on."""
        return False

    def data(self, values: Mapping[str, float]) -> list[float]:
        """The numbers that its rows read in a kernel, under the parameter `values`."""
        return []

    def own_number(self, values: Mapping[str, float]) -> float:
        """The number beside its coordinates that its motion is told by: a screw's pitch, the block of a registered joint; 0 of others."""
        return 0.0

    def callbacks(self) -> tuple[Callback, ...]:
        """The user functions of its last `data`."""
        return self.__dict__.get("_callbacks", ())

    def _each(self, attribute: str, values: Mapping[str, float]) -> tuple[float, ...]:
        """One number a freedom, from a number for all or a sequence; a limit may be inf, and is where None."""
        x, n = self.__dict__[attribute], self.nv
        limit = attribute.endswith("limit")
        if type(x) is float and -math.inf < x < math.inf:
            return (x,) * n
        if x is None and limit:
            return (math.inf,) * n
        read, what = bound if limit else number, f"{attribute} of {self}"
        if not isinstance(x, tuple):
            x = read(x, values, what)
            return (x,) * n
        if len(x) != n:
            raise InputError(f"{what} has {len(x)} components; a {self.kind} joint takes one number for all or {n}")
        return tuple([read(item, values, f"{what}[{i}]") for i, item in enumerate(x)])

    def _limits(self, values: Mapping[str, float]) -> tuple[Triple, Triple]:
        """Lower and upper limits, one a degree of freedom."""
        n = self.nv
        if self.limits is None:
            return (-math.inf,) * n, (math.inf,) * n
        what = f"limits of {self}"
        pairs = sequence(self.limits, what, "(lower, upper), or one such pair a degree of freedom,")
        if not any(isinstance(pair, tuple) for pair in pairs):
            pairs = (pairs,) * n
        if len(pairs) != n:
            raise InputError(
                f"{what} has {len(pairs)} pairs; a {self.kind} joint takes (lower, upper) for all or {n} pairs"
            )
        limits = [self._limit(pair, values) for pair in pairs]
        return tuple([lower for lower, _ in limits]), tuple([upper for _, upper in limits])

    def _limit(self, pair: Any, values: Mapping[str, float]) -> tuple[float, float]:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(f"limits of {self}: {pair!r} is no pair (lower, upper)")
        lower = -math.inf if pair[0] is None else bound(pair[0], values, f"lower limit of {self}")
        upper = math.inf if pair[1] is None else bound(pair[1], values, f"upper limit of {self}")
        if lower > upper or lower == math.inf or upper == -math.inf:
            raise InputError(f"limits of {self} are reversed: lower {lower:g}, upper {upper:g}; give (lower, upper)")
        return lower, upper

    def _initial(self, attribute: str, count: int, values: Mapping[str, float]) -> tuple[float, ...]:
        """q0 or v0; where nq = nv + 1, q0 begins with a unit quaternion."""
        x = self.__dict__[attribute]
        if count == 1 and not isinstance(x, tuple):
            return (self.number_of(attribute, values),)
        initial = self.floats_of(attribute, count, values)
        if attribute == "q0" and self.nq == self.nv + 1:
            return (*unit_quaternion(initial[:4], values, f"q0 of {self}"), *initial[4:])
        return initial

    def _mimic(self, mimic: Mimic, values: Mapping[str, float]) -> Mimic:
        """The mimic with numbers."""
        if not isinstance(mimic, Mimic):
            raise InputError(f"mimic of {self} is {mimic!r}; write Mimic(joint, multiplier, offset)")
        if self.nv != 1:
            raise InputError(
                f"{self} has {counted(self.nv, 'degree of freedom')}; only a joint of one can mimic another"
            )
        if mimic.joint == self.name:
            raise InputError(f"{self} mimics itself; name another joint")
        multiplier = number(mimic.multiplier, values, f"mimic multiplier of {self}")
        return Mimic(mimic.joint, multiplier, number(mimic.offset, values, f"mimic offset of {self}"))


def _with_z(R: np.ndarray, z: Triple) -> np.ndarray:
    """The frame about `z` with the x of `R` made perpendicular to z (any perpendicular where they are parallel)."""
    x = tuple(R[:, 0].tolist())
    return frame(z, x if sine_between(z, x) >= PARALLEL else None)


_IN_BODIES = ("anchor_a", "axis_a", "reference_a", "anchor_b", "axis_b", "reference_b")
_PER_FREEDOM = ("damping", "stiffness", "rest", "armature", "friction", "effort_limit", "velocity_limit")
_OF_FREEDOMS = (
    "damping", "stiffness", "rest", "armature", "friction", "friction_speed", "effort_limit", "velocity_limit", "limits", "q0", "v0",
    "mimic",
)  # fmt: skip
_DEFAULTS = dict(Joint("known", "a", "b").__dict__)
_KNOWN = frozenset(_DEFAULTS)

"""The methods a user chooses: a method is data and a docstring."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, is_one_of, unknown
from nexdyn.integrate.given import given_number
from nexdyn.integrate.method import Method, positive, refuse_idle
from nexdyn.integrate.pairs import PAGES
from nexdyn.integrate.pairs.pair import EmbeddedPair
from nexdyn.integrate.stabilised import damping, refuse_growing
from nexdyn.integrate.tableaus import CLASSICAL_4, EULER, Tableau


@dataclass(frozen=True)
class FixedStep(Method):
    """Base of methods of constant step `dt` [s]."""

    dt: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "dt", positive(self.dt, f"dt of {type(self).__name__}"))


@dataclass(frozen=True)
class RungeKutta4(FixedStep):
    """The classical Runge–Kutta method of order 4, four evaluations a step of `dt` [s]."""

    name: ClassVar[str] = "rk4"
    tableau: ClassVar[Tableau] = CLASSICAL_4


@dataclass(frozen=True)
class ExplicitEuler(FixedStep):
    """Explicit Euler, order 1: q⁺ = q ∘ dt v, v⁺ = v + dt a(q, v). Gains energy; here to be compared with."""

    name: ClassVar[str] = "euler"
    tableau: ClassVar[Tableau] = EULER


@dataclass(frozen=True)
class SemiImplicitEuler(FixedStep):
    """Semi-implicit Euler, order 1, as game engines take it: v⁺ = v + dt a(q, v), q⁺ = q ∘ dt v⁺.

    Where the mass matrix is constant (a pendulum, masses on slides and springs) it is symplectic: energy stays in a band of width
    proportional to dt, for any number of steps. Where it depends on the pose, as in a double pendulum or a robot, it is not, and energy
    drifts.
    Where forces have states, as friction that sticks, these follow v⁺, and so does the pose, by how joints turn it half way through the
    step: it costs a second evaluation.
    """

    name: ClassVar[str] = "semi-implicit"


PAIRS: dict[str, type[EmbeddedPair]] = {
    name: getattr(import_module(f"nexdyn.integrate.pairs.{page}"), cls) for name, (page, cls) in PAGES.items()
}
"""Methods of embedded pairs by their names."""

LINEAR_SOLVERS = ("blocks", "lu", "iterative")


@dataclass(frozen=True)
class HHT(Method):
    """HHT-α of index 3 in absolute coordinates, for closed loops and drivers too; order 2, implicit.

    alpha: numerical damping, from −1/3 to 0 (none, with which rounding in the multipliers grows over tens of thousands of
    steps). dt [s]: a constant step; None chooses each by its error, between `dt_min` and `dt_max` [s], so that the error of the
    motion goes as `rtol` (angles in rad, lengths beside that of the mechanism): ten periods of what is regular have some ten to
    a thousand times as much; these three are refused beside dt. To measure it: ``nx.simulate(…, error_estimate=True)``.
    solver: of the linear systems, "blocks" (elimination along the graph of bodies and joints, in the compiled loop), "lu"
    (SuperLU) or "iterative" (GMRES on an incomplete factorisation); the last two are slow, to compare with.
    Negrut, Rampalli, Ottarsson & Sajdak, J. Comput. Nonlinear Dynam. 2 (2007).
    """

    alpha: float = -0.1
    dt: float | None = None
    rtol: float = 1e-6
    dt_max: float = math.inf
    dt_min: float = 1e-12
    solver: str = "blocks"

    name: ClassVar[str] = "hht"
    coordinates: ClassVar[str] = "bodies"
    idle: ClassVar[Mapping[str, tuple[str, ...]]] = {"dt": ("rtol", "dt_max", "dt_min")}

    def __post_init__(self) -> None:
        alpha = given_number(self.alpha, "alpha of HHT", "a number from -1/3 to 0 is needed")
        if not -1.0 / 3.0 - 1e-12 <= alpha <= 0.0:
            raise InputError(f"alpha of HHT is {alpha:g}; it must lie from -1/3 to 0")
        object.__setattr__(self, "alpha", alpha)
        if self.dt is not None:
            object.__setattr__(self, "dt", positive(self.dt, "dt of HHT"))
        for what in ("rtol", "dt_min"):
            object.__setattr__(self, what, positive(getattr(self, what), f"{what} of HHT"))
        if not is_one_of(self.solver, LINEAR_SOLVERS):
            raise InputError(f"solver of HHT is {self.solver!r}; it is none of {', '.join(LINEAR_SOLVERS)}")
        if self.rtol < 1e-10:
            raise InputError(f"rtol of HHT is {self.rtol:g}; below 1e-10 rounding decides")
        if not given_number(self.dt_max, "dt_max of HHT") > self.dt_min:
            raise InputError(
                f"dt_max of HHT is {self.dt_max}; a number greater than dt_min = {self.dt_min:g} is needed"
            )
        refuse_idle(
            self, "give dt for constant steps, or leave it out, and steps are chosen by rtol, dt_max and dt_min"
        )

    @property
    def step_tolerance(self) -> float:
        """Most that the positions of a step may err by: errors of steps go as h³, those of the motion as h², so as rtol."""
        return 0.1 * self.rtol**1.5


@dataclass(frozen=True)
class IndexOne(Method):
    """Base of explicit methods in absolute coordinates: RK4 with a constant `dt` [s], or where dt is None the embedded pair of the
    name `pair`, "dopri5" (Dormand–Prince) by default, with `rtol` and `atol`. These three are refused beside dt."""

    dt: float | None = None
    rtol: float = 1e-8
    atol: float = 1e-10
    pair: str | None = field(default=None, kw_only=True)

    coordinates: ClassVar[str] = "bodies"
    idle: ClassVar[Mapping[str, tuple[str, ...]]] = {"dt": ("rtol", "atol", "pair")}

    def __post_init__(self) -> None:
        name = type(self).__name__
        if self.dt is not None:
            object.__setattr__(self, "dt", positive(self.dt, f"dt of {name}"))
        for what in ("rtol", "atol"):
            object.__setattr__(self, what, positive(getattr(self, what), f"{what} of {name}"))
        refuse_idle(self, "RK4 takes constant steps, so give dt, or a pair, which chooses its steps by rtol and atol")
        if self.pair is None:
            return
        if not is_one_of(self.pair, PAIRS):
            raise unknown(f"pair of {name}", self.pair, PAIRS, plural="pairs")

    @property
    def integrator(self) -> RungeKutta4 | EmbeddedPair:
        """The Runge–Kutta method that takes the steps."""
        return (
            RungeKutta4(self.dt)
            if self.dt is not None
            else PAIRS[self.pair or "dopri5"](rtol=self.rtol, atol=self.atol)
        )


@dataclass(frozen=True)
class Baumgarte(IndexOne):
    """Index 1 with Baumgarte's stabilisation, C̈ + 2 α Ċ + β² C = 0.

    alpha, beta [1/s]: by default α = β, critical damping, six times as fast as the motion and at most 1/dt: a rate of the state
    alone, with which RK4 keeps its order. Values under which violations double within a hundred constant steps are refused by the
    run.
    Baumgarte, Comput. Methods Appl. Mech. Eng. 1 (1972).
    """

    alpha: float | None = None
    beta: float | None = None

    name: ClassVar[str] = "baumgarte"

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("alpha", "beta"):
            given = getattr(self, what)
            if given is not None and given_number(given, f"{what} of Baumgarte") != 0.0:
                object.__setattr__(self, what, positive(given, f"{what} of Baumgarte"))

    def damping(self, gravity: np.ndarray, length: float, has_velocity_rows: bool) -> np.ndarray:
        """As kernels take it (``integrate.stabilised``). InputError where violations grow under a constant step, of rows of
        velocities too where there are any."""
        at_most = math.inf
        if self.dt is not None:
            at_most = 1.0 / self.dt
            refuse_growing("Baumgarte", CLASSICAL_4, self.dt, (self.alpha, self.beta), at_most, has_velocity_rows)
        return damping(self.alpha, self.beta, gravity, length, at_most)


@dataclass(frozen=True)
class Projection(IndexOne):
    """Index 1 with positions and velocities projected to the constraints after every step, in the metric of the masses.

    Lubich, Impact Comput. Sci. Eng. 3 (1991).
    """

    name: ClassVar[str] = "projection"


@dataclass(frozen=True)
class Partitioning(IndexOne):
    """Coordinate partitioning: independent coordinates are integrated, the others follow from the constraints.

    The independent ones are chosen by pivoting, and anew where the choice no longer serves; matrices are dense.
    Wehage & Haug, J. Mech. Design 104 (1982).
    """

    name: ClassVar[str] = "partitioning"


@dataclass(frozen=True)
class ImplicitEuler(Method):
    """Implicit Euler as a minimum of the incremental potential, joints by an augmented Lagrangian; order 1, damps.

    dt [s]: the step. mu, updates: a fixed penalty (raw units of the constraint rows) and number of multiplier updates a
    step, as published (1000 and 10; what is left out of the two is that); without both the penalty fits the masses, and
    updates go on until |C| and what is left of the step are small. bdf2: the second-order formula in the same frame.
    """

    dt: float
    mu: float | None = None
    updates: int | None = None
    bdf2: bool = False

    name: ClassVar[str] = "implicit-euler"
    coordinates: ClassVar[str] = "bodies"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dt", positive(self.dt, "dt of ImplicitEuler"))
        if type(self.bdf2) is not bool:
            raise InputError(f"bdf2 of ImplicitEuler is {self.bdf2!r}; True or False is needed")
        updates: object = self.updates
        if isinstance(updates, float) and updates.is_integer():
            updates = int(updates)  # as a scene file has it
        if updates is not None and (type(updates) is not int or updates < 1):
            raise InputError(f"updates of ImplicitEuler is {updates!r}; a whole number, 1 or more, is needed")
        object.__setattr__(self, "updates", updates)
        if self.mu is not None:
            object.__setattr__(self, "mu", positive(self.mu, "mu of ImplicitEuler"))
        if self.adaptive:
            return
        object.__setattr__(self, "mu", 1000.0 if self.mu is None else self.mu)
        object.__setattr__(self, "updates", 10 if self.updates is None else self.updates)

    @property
    def adaptive(self) -> bool:
        """Whether penalty and updates are chosen by the run."""
        return self.mu is None and self.updates is None


STABILISATIONS = ("projection", "baumgarte")


@dataclass(frozen=True)
class Loops(metaclass=CheckedCalls):
    """How explicit methods in minimal coordinates keep closed loops, drivers and couplings: rows on a spanning tree.

    stabilise: "projection" of positions and velocities after every step, by the shortest way in the metric of the masses;
        "baumgarte", C̈ + 2 α Ċ + β² C = 0; or None: what the steps lose is lost (drift).
    alpha, beta [1/s]: of Baumgarte's stabilisation; by default α = β, critical damping, six times as fast as the motion and at
        most 1/dt; 1/(2 dt) under SemiImplicitEuler and ExplicitEuler, which have no stages to lose their order by. Values
        under which violations double within a hundred constant steps are refused by the run.
    cut: names of the joints to cut open; by default a spanning tree is chosen.
    """

    stabilise: str | None = "projection"
    alpha: float | None = None
    beta: float | None = None
    cut: Any = None

    def __post_init__(self) -> None:
        if self.stabilise is not None and not is_one_of(self.stabilise, STABILISATIONS):
            raise InputError(f"stabilise of Loops is {self.stabilise!r}; 'projection', 'baumgarte' or None are valid")
        for what in ("alpha", "beta"):
            given = getattr(self, what)
            if given is not None and self.stabilise != "baumgarte":
                raise InputError(f"{what} of Loops belongs to stabilise='baumgarte', not to {self.stabilise!r}")
            if given is not None and given_number(given, f"{what} of Loops") != 0.0:
                object.__setattr__(self, what, positive(given, f"{what} of Loops"))
        if self.cut is not None:
            given = [self.cut] if isinstance(self.cut, str) or not isinstance(self.cut, Iterable) else [*self.cut]
            names = [getattr(name, "name", name) for name in given]
            if any(not isinstance(name, str) for name in names):
                raise InputError(f"cut of Loops is {self.cut!r}; joints, or their names, are needed")
            object.__setattr__(self, "cut", tuple(names))

    def damping(self, method: Method | None, gravity: np.ndarray, length: float, has_velocity_rows: bool) -> np.ndarray:
        """As kernels take it (``integrate.stabilised``); zeros without Baumgarte's stabilisation. InputError where violations grow
        under a constant step, of rows of velocities too where there are any."""
        if self.stabilise != "baumgarte":
            return damping(0.0, 0.0, gravity, length, math.inf)
        given, at_most = (self.alpha, self.alpha if self.beta is None else self.beta), math.inf
        if isinstance(method, FixedStep):
            first_order = isinstance(method, ExplicitEuler | SemiImplicitEuler)
            tableau = None if isinstance(method, SemiImplicitEuler) else getattr(method, "tableau")  # noqa: B009
            at_most = (0.5 if first_order else 1.0) / method.dt
            refuse_growing("Loops", tableau, method.dt, given, at_most, has_velocity_rows)
            if first_order:
                given = (at_most if given[0] is None else given[0], at_most if given[1] is None else given[1])
        return damping(*given, gravity, length, at_most)


_CHOSEN: tuple[type[Method], ...] = (
    RungeKutta4,
    ExplicitEuler,
    SemiImplicitEuler,
    *PAIRS.values(),
    HHT,
    ImplicitEuler,
    Baumgarte,
    Projection,
    Partitioning,
)
METHODS = {cls.name: cls for cls in _CHOSEN}
OF_TREES = RungeKutta4(1e-3)
"""In minimal coordinates, where none is given."""


def method_of(given: object) -> Method | None:
    """The method that is given, also by its name, with its defaults and a step of 1 ms where one is needed.

    InputError for anything else."""
    if given is None or isinstance(given, Method):
        return given
    valid = ", ".join(f"nx.{cls.__name__}()" for cls in METHODS.values())
    if isinstance(given, str):
        cls = METHODS.get(given)
        if cls is None:
            raise unknown("method", given, METHODS)
        needs_step = issubclass(cls, FixedStep | ImplicitEuler)
        return cls(1e-3) if needs_step else cls()  # type: ignore[call-arg]
    if isinstance(given, type) and issubclass(given, Method):
        raise InputError(f"method is the class {given.__name__}; give one made of it, like nx.{given.__name__}()")
    raise InputError(f"method is {given!r}; one of {valid} is needed, or its name")


def called(method: Method) -> str:
    """A method by what differs from its defaults: HHT(dt=0.001)."""
    values = [(field, getattr(method, field.name)) for field in fields(method)]  # type: ignore[arg-type]
    given = [f"{field.name}={x!r}" for field, x in values if field.default is MISSING or x != field.default]
    return f"{type(method).__name__}({', '.join(given)})"

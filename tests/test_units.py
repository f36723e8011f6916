"""What a mechanism does depends on no unit: nothing is judged beside 1 m, 1 s or 1 kg.

Every element of the matrix in every carrier, described again in micrometres, nanograms and milliseconds, or in kilometres, tonnes and
hours, in turn, rounded to powers of two: no number changes but by a power of two, so that methods of a given step, and HHT with
steps of its own, find the same bits. What chooses steps by `atol`, which has units, differs by what its tolerances allow.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from matrix_elements import ELEMENTS
from matrix_turns import in_turn
from regular_problems import cart_pole
from turns import AMONG, in_turns
from units_lab import Units, apart, in_units, of_result

import nexdyn as nx
from nexdyn.integrate.methods import METHODS, PAIRS

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning"),  # gaps that carriers leave, and what methods say of dt
]

LIMITS = Path(__file__).resolve().parents[1] / "docs" / "limits.md"
SI = Units()
SMALL = Units(mass=2.0**40, length=2.0**20, time=2.0**10)
"""About ng, µm and ms."""
LARGE = Units(mass=2.0**-10, length=2.0**-10, time=2.0**-12)
"""About t, km and h."""
DECIMAL = {
    "mm, g, ms": Units(1e3, 1e3, 1e3), "km, t, min": Units(1e-3, 1e-3, 1 / 60), "µm, ng, ms": Units(1e12, 1e6, 1e3),
}  # fmt: skip
DT = 2.0**-10
STEPS = 100
RTOL = 1e-6
ALLOWED = 10 * RTOL
"""By what runs of chosen steps may differ; accelerations under stiff forces are wrong by more, then those in SI tell by how much."""
NEARLY = (0.5, 0.7, 1.0, 1.4, 2.0)
"""Tolerances in SI, beside RTOL, whose errors tell by how much a run may be wrong."""
FARTHER = 2.0
"""How much farther from the true motion than the worst of those a run in other units may be."""
STILL = {"angular_velocity": 1e-9, "angular_acceleration": 1e-9, "velocity": 1e-9, "torque": 1e-9, "force": 1e-9}
"""What is little of motions that are about 1 in SI: noise of rounding differs between runs whose steps do."""

WHOLE = [name for name, element in ELEMENTS.items() if not element.part_of]
"""Elements that are no variant of another; variants run with steps that are given."""

STIFF = {"force joint_friction", "force joint_stop"}
"""Elements of which runs of chosen steps differ by more than ten tolerances, as do those in SI by tolerances nearby."""

FIXED: dict[str, Callable[[float], dict[str, Any]]] = {
    "rk4": lambda dt: {"method": nx.RungeKutta4(dt)},
    "euler": lambda dt: {"method": nx.ExplicitEuler(dt)},
    "semi-implicit": lambda dt: {"method": nx.SemiImplicitEuler(dt)},
    "rk4, loops stabilised": lambda dt: {"method": nx.RungeKutta4(dt), "loops": nx.Loops("baumgarte")},
    "crba": lambda dt: {"method": nx.RungeKutta4(dt), "dynamics": "crba"},
    "cfa": lambda dt: {"method": nx.RungeKutta4(dt), "dynamics": "cfa"},
    "hht": lambda dt: {"method": nx.HHT(dt=dt)},
    "baumgarte": lambda dt: {"method": nx.Baumgarte(dt)},
    "projection": lambda dt: {"method": nx.Projection(dt)},
    "partitioning": lambda dt: {"method": nx.Partitioning(dt)},
    "implicit-euler": lambda dt: {"method": nx.ImplicitEuler(dt)},
    "bdf2": lambda dt: {"method": nx.ImplicitEuler(dt, bdf2=True)},
}
ADAPTIVE: dict[str, Callable[[float], nx.Method]] = {
    "dormand-prince": lambda rtol: nx.DormandPrince(rtol, 1e-13),
    "bogacki-shampine": lambda rtol: nx.BogackiShampine32(rtol, 1e-13),
    "dop853": lambda rtol: nx.DOP853(rtol, 1e-13),
    "hht": lambda rtol: nx.HHT(rtol=rtol),
    "baumgarte": lambda rtol: nx.Baumgarte(rtol=rtol, atol=1e-13),
    "projection": lambda rtol: nx.Projection(rtol=rtol, atol=1e-13),
    "partitioning": lambda rtol: nx.Partitioning(rtol=rtol, atol=1e-13),
}
ROUNDED = {
    ("joint helical", "cfa"), ("force plane_contact", ""), ("force plane_contact on a body", ""), ("force joint_stop", ""),
    ("force plane_contact that sticks", ""), ("force sphere_contact", ""), ("force sphere_contact on a body", ""),
    ("contact at points", ""), ("contact at points with functions of time", ""),
}  # fmt: skip
"""Where a number is rounded otherwise (under "": any way): inertias seen through a screw, and powers of a depth, x^1.5 by one in 2,000."""
BOUNDS = {
    "powers of a depth and inertias seen through a screw to": 1.2e-14,
    "under `ImplicitEuler` and BDF2 to": 4e-12,
    "explicit and index-1 methods to": 2e-11,
    "`ImplicitEuler` and BDF2 to": 2e-10,
    "accelerations and forces of `ImplicitEuler` to": 3e-8,
    "those of BDF2 to": 1e-7,
    "`HHT` to": 1e-8,
    "at a stop in a universal joint to": 8e-8,
    "with contact over areas `HHT` to": 1e-5,
    "accelerations of `ImplicitEuler` there to": 1.2e-7,
    "of BDF2 there to": 7e-7,
    "behind events all to": 3e-7,
    "`SemiImplicitEuler`, `ImplicitEuler` and BDF2 there to": 1e-4,
    "`ExplicitEuler` there to": 6e-4,
    "`nx.equilibrium` finds a rest to": 2e-8,
}
"""By what numbers in other units may differ, of their own size, in the words of the page of limits: some three times the worst that was
seen of all elements in all carriers by all ways. The first two are of units that are powers of two of SI; under all other methods and
of all other elements nothing differs there. A hundred steps of 1 ms."""
IMPLICIT = ("implicit-euler", "bdf2")
OF_DIFFERENCES = {"acceleration", "angular_acceleration", "force", "torque"}
"""What `ImplicitEuler` tells by velocities that are a step apart: rounding counts 1/DT times."""


def described(name: str, carrier: str) -> list[tuple[nx.System, Units]]:
    """The element in SI and in other units, small ones in one carrier and large ones in the next."""
    element = ELEMENTS[name]
    turn = (list(ELEMENTS).index(name) + element.carriers.index(carrier)) % 2
    return [(in_units(element.system(carrier), units), units) for units in (SI, (SMALL, LARGE)[turn])]


def found(run: Callable[[nx.System, Units], Any], systems: list[tuple[nx.System, Units]]) -> list[Any]:
    """What `run` gives in both; the kind of error where it refuses."""
    out = []
    for system, units in systems:
        try:
            out.append(run(system, units))
        except nx.NexDynError as error:
            out.append(type(error))
    return out


def check_same(where: str, seen: list[Any], allowed: Callable[[str], float], least: Any = None) -> None:
    """What was seen in SI is seen in other units: the same refusal, or numbers that differ by no more than is allowed of each."""
    here, *others = seen
    for other in others:
        if isinstance(here, type) or isinstance(other, type):
            assert here is other, f"{where}: {here} but {other} in other units"
            continue
        assert {x: y.shape for x, y in here.items()} == {x: y.shape for x, y in other.items()}, where
        off = {what: x for what, x in apart(here, other, least).items() if not x <= allowed(what)}
        assert not off, f"{where}: {off} apart in other units"


def test_every_method_runs_in_other_units_with_a_given_step_and_with_chosen_ones() -> None:
    """Each of those that take a step, and each of those that choose one."""
    fixed = {type(options(DT)["method"]).name for options in FIXED.values()}
    adaptive = {type(method(RTOL)).name for method in ADAPTIVE.values()}
    assert {x.name for x in (options(DT)["method"] for options in FIXED.values()) if getattr(x, "bdf2", False)}
    assert fixed == set(METHODS) - set(PAIRS)
    assert adaptive == {name for name, cls in METHODS.items() if "rtol" in cls.__dataclass_fields__}


def test_every_attribute_has_a_dimension() -> None:
    """One that has none raises KeyError."""
    for name, element in ELEMENTS.items():
        for carrier in element.carriers:
            assert len(described(name, carrier)) == 2


@pytest.mark.parametrize("name", in_turns(ELEMENTS, 3))
def test_runs_of_a_given_step_are_the_same_bits(name: str, request: pytest.FixtureRequest) -> None:
    for way, carrier in in_turn(name, FIXED, request.config.getoption("--long")):

        def run(system: nx.System, units: Units, options: Any = FIXED[way]) -> Any:
            dt = DT * units.time
            return of_result(nx.simulate(system, STEPS * dt, **options(dt)), units)

        rounding = 0.0
        if ROUNDED & {(name, way), (name, "")}:
            rounding = BOUNDS[
                "under `ImplicitEuler` and BDF2 to"
                if way in IMPLICIT
                else "powers of a depth and inertias seen through a screw to"
            ]
        differences = OF_DIFFERENCES if way in IMPLICIT else set()

        def allowed(what: str, most: float = rounding, by_step: set[str] = differences) -> float:
            return most / DT if what in by_step else most

        if systems := described(name, carrier):
            check_same(f"{name} in {carrier} by {way}", found(run, systems), allowed)


@pytest.mark.parametrize("name", WHOLE)
def test_runs_of_chosen_steps_differ_by_their_tolerance(name: str, request: pytest.FixtureRequest) -> None:
    """What `atol` chooses differs; under stiff forces and in stops by more than the tolerance, but no more than tolerances nearby do. In
    units by powers of two and, in turn, in one of the decimal ones."""
    decimal = list(DECIMAL.values())[(list(ELEMENTS).index(name) + AMONG) % len(DECIMAL)]
    for way, carrier in in_turn(name, ADAPTIVE, request.config.getoption("--long")):
        if not (systems := described(name, carrier)):
            continue
        if name not in STIFF:
            systems.append((in_units(ELEMENTS[name].system(carrier), decimal), decimal))

        def run(system: nx.System, units: Units, method: Any = ADAPTIVE[way], rtol: float = RTOL) -> Any:
            return of_result(nx.simulate(system, 0.1 * units.time, method(rtol)), units)

        where = f"{name} in {carrier} by {way}"
        seen = found(run, systems)
        if way == "hht":  # which has no atol: not one step differs
            exact = (name, "") not in ROUNDED
            check_same(where, seen[:2], lambda _, most=0.0 if exact else ALLOWED: most, STILL)
            check_same(f"{where} in decimal ones", [seen[0], *seen[2:]], lambda _: ALLOWED, STILL)
            continue
        if any(isinstance(x, type) for x in seen) or not any(
            y > ALLOWED for x in seen[1:] for y in apart(seen[0], x, STILL).values()
        ):
            check_same(where, seen, lambda _: ALLOWED, STILL)
            continue
        assert name in STIFF, (
            f"{where}: {[apart(seen[0], x, STILL) for x in seen[1:]]} apart in other units, more than {ALLOWED}"
        )
        in_si, _ = systems[0]
        true = run(in_si, SI, rtol=RTOL / 1000)
        here = [apart(true, run(in_si, SI, rtol=factor * RTOL), STILL) for factor in NEARLY]
        for x in seen[1:]:
            off = {
                what: (y, *(z[what] for z in here))
                for what, y in apart(true, x, STILL).items()
                if y > ALLOWED + FARTHER * max(z[what] for z in here)
            }
            assert not off, f"{where}: {off} from the true motion in other units, and in SI by tolerances nearby"


def test_of_few_elements_tolerances_nearby_tell_by_how_much_they_may_differ() -> None:
    """Their number may only fall."""
    assert set(WHOLE) > STIFF
    assert len(STIFF) <= 2


@pytest.mark.parametrize("way", ADAPTIVE)
def test_in_decimal_units_a_cart_with_a_pole_differs_by_ten_tolerances_at_most(way: str) -> None:
    """Smooth, in steps that are chosen, for a second; the worst differs by 2.5 tolerances."""
    for rtol in (1e-4, 1e-6, 1e-8):
        here, *others = (
            of_result(nx.simulate(in_units(cart_pole(), units), units.time, ADAPTIVE[way](rtol)), units)
            for units in (SI, *DECIMAL.values())
        )
        for units, other in zip(DECIMAL, others, strict=True):
            off = {what: x for what, x in apart(here, other, STILL).items() if not x <= 10.0 * rtol}
            assert not off, f"{way} at {rtol:g} in {units}: {off}"


def analyses() -> list[tuple[Callable[[nx.System, Units], Any], float]]:
    """What is computed besides motions, in SI, each with what it may differ by in other units. A system is brought to rest once."""

    def assembled(system: nx.System, units: Units) -> Any:
        report = nx.assemble(system)
        a = [getattr(report, x)(body) for x in ("acceleration", "angular_acceleration") for body in system.bodies]
        seen = {"a": np.concatenate(a[: len(a) // 2]) * units.time**2 / units.length}
        return seen | {"α": np.concatenate(a[len(a) // 2 :]) * units.time**2, "p": report.q[1:, 4:] / units.length}

    rest = functools.cache(nx.equilibrium)  # one for all analyses of a system

    def at_rest(system: nx.System, units: Units) -> Any:
        report = rest(system).report
        return {"p": report.q[1:, 4:] / units.length, "turned": report.q[1:, :4]}

    def of_modes(system: nx.System, units: Units, **options: Any) -> Any:
        values = nx.linearize(system, at=rest(system), **options).eigenvalues * units.time
        return {"eigenvalues": settled(values)}

    def lowest(system: nx.System, units: Units) -> Any:
        return of_modes(system, units, modes=4)

    return [(assembled, 1e-12), (at_rest, 1e-9), (of_modes, 1e-9), (lowest, 1e-9)]


@pytest.mark.parametrize("name", in_turns(WHOLE, 3))
def test_assembly_rest_and_modes_know_no_units(name: str) -> None:
    runs = analyses()
    for carrier in ELEMENTS[name].carriers:
        systems = described(name, carrier)
        for k, (analysis, tolerance) in enumerate(runs):
            if not systems or (k > 0 and carrier != ELEMENTS[name].carriers[-1]):
                continue
            where = f"{name} in {carrier}, {analysis.__name__}"
            check_same(where, found(analysis, systems), lambda _, most=tolerance: most)


def settled(values: np.ndarray) -> np.ndarray:
    """Eigenvalues in an order that rounding does not change; those of double zeros, roots of rounding, are 0."""
    most = np.abs(values).max(initial=0.0)
    values = np.where(np.abs(values) < 1e-5 * most, 0.0, values)
    return values[np.lexsort((np.round(values.real / (most or 1.0), 6), np.round(values.imag / (most or 1.0), 6)))]


NOTHING = {"angular_velocity": 2e-16, "angular_acceleration": 6e-15, "velocity": 1e-18, "torque": 1e-18, "force": 1e-18}
"""In SI, what rounding makes of nothing: three times the worst where nothing turns."""


def decimal_bound(name: str, way: str, what: str) -> float:
    """By what `what` may differ in decimal units, of its size."""
    bdf2, divided = way == "bdf2", way in IMPLICIT and what in OF_DIFFERENCES
    if name == "event":
        if way == "euler":
            return BOUNDS["`ExplicitEuler` there to"]
        first_order = way in ("semi-implicit", *IMPLICIT)
        return BOUNDS[
            "`SemiImplicitEuler`, `ImplicitEuler` and BDF2 there to" if first_order else "behind events all to"
        ]
    if "over areas" in name and way == "hht":
        return BOUNDS["with contact over areas `HHT` to"]
    if "over areas" in name and divided:
        return BOUNDS["of BDF2 there to" if bdf2 else "accelerations of `ImplicitEuler` there to"]
    if way == "hht":
        return BOUNDS["at a stop in a universal joint to" if name == AT_A_STOP else "`HHT` to"]
    if divided:
        return BOUNDS["those of BDF2 to" if bdf2 else "accelerations and forces of `ImplicitEuler` to"]
    return BOUNDS["`ImplicitEuler` and BDF2 to" if way in IMPLICIT else "explicit and index-1 methods to"]


AT_A_STOP = "force joint_stop in a universal joint"


def test_what_differs_in_other_units_is_named_in_the_limits_with_its_bound() -> None:
    (told,) = re.findall(r"\n- \*\*Other units\.\*\*(.*?)\n- ", LIMITS.read_text("utf-8"), re.S)
    told = " ".join(told.split())
    for words, bound in BOUNDS.items():
        assert f"{words} {plain(bound)}" in told, words
    seen = re.findall(r"\d+(?:\.\d+)?e-\d+", told.partition("Nothing")[0])
    assert set(map(float, seen)) == set(BOUNDS.values())
    assert all(
        plain(x) in told.partition("Nothing")[2] for x in (NOTHING["angular_velocity"], NOTHING["angular_acceleration"])
    )
    assert AT_A_STOP in ELEMENTS and {name for name, _ in ROUNDED} <= set(ELEMENTS)


def plain(x: float) -> str:
    """As the page writes it: 1e-8."""
    digits, power = f"{x:e}".split("e")
    return f"{float(digits):g}e{int(power)}"


@pytest.mark.parametrize("name", in_turns(WHOLE, 3))
def test_assembly_rest_and_modes_in_decimal_units_differ_by_rounding(name: str) -> None:
    """In one of three sets of units, in turn."""
    units = list(DECIMAL)[(list(ELEMENTS).index(name) + AMONG) % len(DECIMAL)]
    for carrier in ELEMENTS[name].carriers:
        system = ELEMENTS[name].system(carrier)
        systems = [(in_units(system, u), u) for u in (SI, DECIMAL[units])]
        for k, (analysis, tolerance) in enumerate(analyses()):
            if k > 0 and carrier != ELEMENTS[name].carriers[-1]:
                continue
            where = f"{name} in {carrier}, {analysis.__name__}, in {units}"
            most = BOUNDS["`nx.equilibrium` finds a rest to"] if analysis.__name__ == "at_rest" else tolerance
            check_same(
                where, found(analysis, systems), lambda _, most=most: most, {"α": 1e-3}
            )  # what turns less is rounded


@pytest.mark.parametrize("name", in_turns(ELEMENTS, 3))
def test_decimal_units_differ_by_rounding(name: str, request: pytest.FixtureRequest) -> None:
    """In one of three sets of units, in turn."""
    whole, place, dt = request.config.getoption("--long"), list(ELEMENTS).index(name) + AMONG, 1e-3
    for units in list(DECIMAL) if whole else [list(DECIMAL)[place % len(DECIMAL)]]:
        other = DECIMAL[units]
        ways = list(in_turn(name, FIXED, whole))
        for way, carrier in ways if whole else ways[place % 2 :: 2]:

            def run(system: nx.System, u: Units, options: Any = FIXED[way]) -> Any:
                return of_result(nx.simulate(in_units(system, u), 100 * dt * u.time, **options(dt * u.time)), u)

            system = ELEMENTS[name].system(carrier)
            seen = found(run, [(system, SI), (system, other)])

            def allowed(what: str, way: str = way) -> float:
                return decimal_bound(name, way, what)

            least = {what: x / allowed(what) for what, x in NOTHING.items()}
            check_same(f"{name} in {carrier} by {way} in {units}", seen, allowed, least)


def slide(units: Units) -> nx.System:
    """A carriage on a rail under every kind of force of a joint, which there are forces and lengths."""
    m, l, t = units
    force, speed = m * l / t**2, l / t
    system = nx.System("slide", gravity=(0.0, 0.0, -9.81 * l / t**2))
    system.add_body("carriage", mass=1.3 * m, inertia=(0.1 * m * l**2,) * 3, position=(0.2 * l, 0, 0))
    system.add_joint(
        nx.Prismatic(
            "rail", "ground", "carriage", axis=(1, 0, 0.2), friction=0.3 * force, friction_speed=0.01 * speed,
            damping=0.2 * force / speed, armature=0.4 * m, stiffness=3.0 * force / l, rest=0.1 * l,
        )
    )  # fmt: skip
    system.add_force(
        nx.PositionActuator(
            "servo", "rail", target=0.4 * l, kp=20.0 * force / l, kd=2.0 * force / speed, ki=5.0 * force / l / t,
            effort_limit=6.0 * force, time_constant=0.02 * t,
        )
    )  # fmt: skip
    system.add_force(
        nx.JointStop(
            "end", "rail", lower=-0.5 * l, upper=0.15 * l, stiffness=900.0 * force / l**1.5, exponent=1.5,
            damping=0.4 / speed,
        )
    )  # fmt: skip
    system.add_force(
        nx.JointFriction(
            "seal", "rail", sliding=0.2 * force, static=0.3 * force, stribeck_speed=0.01 * speed, viscous=0.1 * force / speed,
            stiffness=400.0 * force / l, damping=2.0 * force / speed,
        )
    )  # fmt: skip
    system.add_force(
        nx.ForceTable(
            "buffer", joint="rail", deflections=[-l, 0.0, l], forces=[-2 * force, 0.0, 5 * force], rest=0.05 * l
        )
    )
    return system


def pulled(units: Units) -> nx.System:
    """A ball on a string of the user's, in units of the user's."""
    m, l, t = units
    stiffness, drag = 30.0 * m / t**2, 0.2 * m / t

    @numba.njit
    def string(t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        for i in range(3):
            out[3 + i] = stiffness * (A[i] - B[i]) * (1.0 + ((A[i] - B[i]) / l) ** 2) + drag * A[15 + i]

    system = nx.System("pulled", gravity=(0.0, 0.0, -9.81 * l / t**2))
    system.add_body("ball", mass=0.7 * m, inertia=(0.02 * m * l**2,) * 3, position=(0.3 * l, 0.1 * l, 0.2 * l))
    system.add_joint(nx.Free("free", "ground", "ball"))
    system.add_force(nx.UserForce("string", "ball", "ground", function=string))
    return system


@pytest.mark.parametrize("build", [slide, pulled], ids=lambda build: str(build.__name__))
@pytest.mark.parametrize("way", FIXED)
def test_forces_in_sliding_joints_and_of_the_user_know_no_units(build: Callable[[Units], nx.System], way: str) -> None:
    """The user's own differences are of SI sizes, so that Newton's method ends elsewhere within its tolerance."""
    seen = []
    for units in (SI, SMALL, LARGE):
        dt = DT * units.time
        seen.append(of_result(nx.simulate(build(units), 200 * dt, **FIXED[way](dt)), units))
    for other in seen[1:]:
        off = {what: x for what, x in apart(seen[0], other, STILL).items() if not x <= 1e-9}
        assert not off, f"{way}: {off}"


@pytest.mark.parametrize("units", [SMALL, LARGE], ids=["small", "large"])
def test_limits_of_stability_know_no_units(units: Units) -> None:
    """An inverted pendulum on a spring whose stiffness is the parameter: m g l, in whatever units."""

    def pendulum(u: Units) -> nx.System:
        system = nx.System("inverted", gravity=(0, 0, -9.81 * u.length / u.time**2))
        system.parameter("k", 1.0)
        system.add_body(
            "rod", mass=2.0 * u.mass, inertia=(0.1 * u.mass * u.length**2,) * 3, position=(0, 0, 0.5 * u.length)
        )
        energy = u.mass * u.length**2 / u.time**2
        system.add_joint(
            nx.Revolute("hinge", "ground", "rod", at=(0, 0, 0), axis=(0, 1, 0), stiffness=f"=k*{energy!r}")
        )
        return system

    limits = [nx.stability(pendulum(u), "k", [2.0, 20.0]).limits for u in (SI, units)]
    assert [len(x) for x in limits] == [1, 1]
    for (limit,) in limits:
        assert limit.value == pytest.approx(2.0 * 9.81 * 0.5, rel=1e-8)
        assert limit.gets_stable

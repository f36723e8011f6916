"""A mechanism described in other units, attribute by attribute.

    other = in_units(system, Units(mass=2.0**20, length=2.0**-10, time=2.0**6))

In the new units one kilogram is `mass`, one metre `length` and one second `time`. Every attribute of every class has its dimension in
the tables below; one without fails `test_units.py`. Functions of the user's are given numbers in SI, and what they tell is scaled; their
states, and parameters, are taken as numbers without dimension. Functions and actions of events are refused.

    a quantity of dimension (a, b, c) is multiplied by  massᵃ lengthᵇ timeᶜ
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
import pages_lab

import nexdyn as nx
from nexdyn.model.element import Element
from nexdyn.model.expressions import Expression, parse_expression
from nexdyn.model.functions import Function, TimeExpression
from nexdyn.model.joint import Joint

Dimension = tuple[float, float, float]
NUMBER: Dimension = (0, 0, 0)
MASS: Dimension = (1, 0, 0)
LENGTH: Dimension = (0, 1, 0)
TIME: Dimension = (0, 0, 1)
ENERGY: Dimension = (1, 2, -2)


class Units(NamedTuple):
    """How many new units a kilogram, a metre and a second are."""

    mass: float = 1.0
    length: float = 1.0
    time: float = 1.0

    def factor(self, dimension: Dimension) -> float:
        m, l, t = dimension
        return float(self.mass**m * self.length**l * self.time**t)


def times(*dimensions: Dimension) -> Dimension:
    return tuple(sum(parts) for parts in zip(*dimensions, strict=True))  # type: ignore[return-value]


def per(a: Dimension, b: Dimension, power: float = 1) -> Dimension:
    return tuple(x - power * y for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


SPEED, FORCE = per(LENGTH, TIME), per(ENERGY, LENGTH)
RATE, TORQUE = per(NUMBER, TIME), ENERGY
ACCELERATION = per(SPEED, TIME)

# --- what a coordinate q makes of the attributes of its joint -------------------------------------------------------

OF_COORDINATE: dict[str, Callable[[Dimension], Dimension]] = {
    "damping": lambda q: times(per(ENERGY, q, 2), TIME),
    "stiffness": lambda q: per(ENERGY, q, 2),
    "rest": lambda q: q,
    "armature": lambda q: times(per(ENERGY, q, 2), TIME, TIME),
    "friction": lambda q: per(ENERGY, q),
    "friction_speed": lambda q: per(q, TIME),
    "limits": lambda q: q,
    "effort_limit": lambda q: per(ENERGY, q),
    "velocity_limit": lambda q: per(q, TIME),
    "v0": lambda q: per(q, TIME),
}
OF_JOINT: dict[str, Dimension] = {
    "at": LENGTH,
    "anchor_a": LENGTH,
    "anchor_b": LENGTH,
    "length": LENGTH,
    "along": LENGTH,
    "radius": LENGTH,
    "tube": LENGTH,
    "pitch": LENGTH,
    "size": LENGTH,
    "period": TIME,
}
BODY: dict[str, Dimension] = {
    "mass": MASS,
    "inertia": times(MASS, LENGTH, LENGTH),
    "position": LENGTH,
    "com": LENGTH,
    "shapes": LENGTH,
    "collision": LENGTH,
}
PLACES = dict.fromkeys(("anchor_a", "anchor_b", "at_a", "at_b"), LENGTH)
FORCES: dict[type, dict[str, Dimension]] = {
    nx.AppliedForce: {"force": FORCE, "torque": TORQUE, "at": LENGTH, "anchor": LENGTH},
    pages_lab.OwnSpring: {**PLACES, "stiffness": per(FORCE, LENGTH), "damping": per(FORCE, SPEED), "length": LENGTH},
    nx.PointSpring: {
        **PLACES,
        "stiffness": per(FORCE, LENGTH),
        "damping": per(FORCE, SPEED),
        "length": LENGTH,
        "force": FORCE,
    },
    nx.TorsionSpring: {
        **PLACES,
        "stiffness": TORQUE,
        "damping": times(TORQUE, TIME),
        "torque": TORQUE,
    },
    nx.Bushing: PLACES,
    nx.UserForce: PLACES,
    nx.GravityField: {},
    nx.PointGravity: {"mu": (0, 3, -2), "at": LENGTH, "anchor": LENGTH},
    nx.ForceTable: {**PLACES, "deflections": LENGTH, "forces": FORCE, "rest": LENGTH, "damping": per(FORCE, SPEED)},
    nx.PlaneContact: {
        **PLACES,
        "radius": LENGTH,
        "length": LENGTH,
        "damping": per(TIME, LENGTH),
        "impact_speed": SPEED,
        "stribeck_speed": SPEED,
        "friction_speed": SPEED,
        "surface_velocity_a": SPEED,
        "surface_velocity_b": SPEED,
    },
    nx.SphereContact: {
        **PLACES,
        "radius_a": LENGTH,
        "radius_b": LENGTH,
        "damping": per(TIME, LENGTH),
        "impact_speed": SPEED,
        "stribeck_speed": SPEED,
        "friction_speed": SPEED,
        "surface_velocity_a": SPEED,
        "surface_velocity_b": SPEED,
    },
}
IN_JOINTS: dict[type, dict[str, Callable[[Dimension], Dimension]]] = {
    nx.ForceTable: {
        "deflections": lambda q: q,
        "forces": lambda q: per(ENERGY, q),
        "rest": lambda q: q,
        "damping": OF_COORDINATE["damping"],
    },
    nx.JointForce: {"effort": lambda q: per(ENERGY, q)},
    pages_lab.Linear: {"k": OF_COORDINATE["stiffness"], "d": OF_COORDINATE["damping"]},
    nx.PositionActuator: {
        "kp": OF_COORDINATE["stiffness"],
        "kd": OF_COORDINATE["damping"],
        "ki": lambda q: per(OF_COORDINATE["stiffness"](q), TIME),
        "target": lambda q: q,
        "feedforward": lambda q: per(ENERGY, q),
    },
    nx.VelocityActuator: {
        "kv": OF_COORDINATE["damping"],
        "ki": OF_COORDINATE["stiffness"],
        "target": lambda q: per(q, TIME),
        "feedforward": lambda q: per(ENERGY, q),
    },
    nx.UserJointForce: {},
    nx.Controller: {},
    nx.TorqueActuator: {"target": lambda q: per(ENERGY, q)},
    nx.JointStop: {
        "lower": lambda q: q,
        "upper": lambda q: q,
        "damping": lambda q: per(TIME, q),
        "impact_speed": lambda q: per(q, TIME),
        "rest_speed": lambda q: per(q, TIME),
    },
    nx.JointFriction: {
        "sliding": lambda q: per(ENERGY, q),
        "static": lambda q: per(ENERGY, q),
        "stribeck_speed": lambda q: per(q, TIME),
        "viscous": OF_COORDINATE["damping"],
        "stiffness": OF_COORDINATE["stiffness"],
        "damping": OF_COORDINATE["damping"],
    },
}
DRIVE: dict[str, Callable[[Dimension], Dimension]] = {
    "effort_limit": lambda q: per(ENERGY, q),
    "velocity_limit": lambda q: per(q, TIME),
    "time_constant": lambda q: TIME,
    "sample_time": lambda q: TIME,
}
OF_FUNCTION: dict[type, dict[str, Dimension | None]] = {
    nx.Constant: {"constant": None},
    nx.Linear: {"offset": None, "slope": RATE},
    nx.Harmonic: {"amplitude": None, "frequency": RATE, "offset": None},
    nx.Step5: {"t0": TIME, "y0": None, "t1": TIME, "y1": None},
    nx.StepChange: {"time": TIME, "before": None, "after": None},
    nx.Table: {"times": TIME, "values": None},
}
"""Of each field of a function of time its dimension; None: that of the function's value."""
NUMBERS = {
    # names, choices and numbers without dimension
    "name", "parent", "child", "axis", "reference", "axis_a", "axis_b", "reference_a", "reference_b", "priority", "mimic",
    "orientation", "strict", "collision", "no_collision", "body", "expressed_in", "a", "b", "joint", "freedom",
    "interpolation", "extrapolation", "normal", "exponent", "friction", "knee", "restitution", "elastic", "curve", "surface", "unit",
    "joint_a", "joint_b", "ratio", "terms", "offset", "freedom_a", "freedom_b", "pinion", "rack", "function", "point", "component", "q0",
    "gradient", "hessian", "rest", "multiplier", "static_friction", "friction_stiffness", "friction_damping", "hollow",
    "friction_across", "friction_direction_a", "friction_direction_b", "angles", "law", "centre",
    "free", "on", "slide", "frame", "angle", "seen_from", "normal_force", "initial_states", "state_names", "state_sizes", "state_units",
}  # fmt: skip
SHAPES = (nx.Box, nx.Sphere, nx.Cylinder, nx.Capsule, nx.Cone, nx.Ellipsoid, nx.Hull, nx.HalfSpace, nx.HeightField)
"""What bodies are made of."""
OF_MEASURE: dict[type, Dimension] = {
    nx.PointPosition: LENGTH,
    nx.PointVelocity: SPEED,
    nx.Distance: LENGTH,
    nx.Angle: NUMBER,
    nx.Displacement: LENGTH,
    nx.Direction: NUMBER,
}
IN_MEASURES = {"name", "a", "b", "product", "component", "expressed_in"}
"""Names and choices of measures."""
IN_EVENTS = {
    "name",
    "measure",
    "component",
    "joint",
    "contact",
    "freedom",
    "of",
    "direction",
    "stop",
    "off",
    "on",
    "once",
}
"""Names and choices of events."""


# --- functions of the user's ----------------------------------------------------------------------------------------


def in_joint(f: Callable[..., float], q: Dimension, units: Units) -> Callable[..., float]:
    """An effort of (t, q, v), or of (t, q, v, z, rate)."""
    second, size, effort = units.time, units.factor(q), units.factor(per(ENERGY, q))

    def law(t: float, x: float, v: float, *states: Any) -> float:
        told = f(t / second, x / size, v / (size / second), *states)
        for rate in states[1:]:
            rate /= second
        return effort * told

    return law


def between(f: Callable[..., None], units: Units) -> Callable[..., None]:
    """A wrench of (t, A, B, out), or of (t, A, B, z, out, rate)."""
    second, metre = units.time, units.length
    of_frame = np.repeat([metre, 1.0, 1.0 / second, metre / second], [3, 9, 3, 3])
    of_wrench = np.repeat([units.factor(TORQUE), units.factor(FORCE)], 3)

    def law(t: float, A: np.ndarray, B: np.ndarray, *others: np.ndarray) -> None:
        f(t / second, A / of_frame, B / of_frame, *others)
        *states, out = others if len(others) == 1 else (others[0], others[2], others[1])
        out *= of_wrench
        for rate in states[1:]:
            rate /= second

    return law


def of_row(f: Callable[..., float], units: Units) -> Callable[..., float]:
    """What of (t, x, R) is 0, a length."""
    return lambda t, x, R: units.length * f(t / units.time, x / units.length, R)


def of_rates(f: Callable[..., None], units: Units) -> Callable[..., None]:
    """The coefficients, by (t, x, R, out), of a velocity that is 0: of ẋ, of ω, and the velocity that both make."""
    of_terms = np.repeat([1.0, units.length, units.length / units.time], [3, 3, 1])

    def law(t: float, x: np.ndarray, R: np.ndarray, out: np.ndarray) -> None:
        f(t / units.time, x / units.length, R, out)
        out *= of_terms

    return law


def of_place(f: Callable[..., None], units: Units) -> Callable[..., None]:
    """An acceleration of (t, x, out)."""

    def law(t: float, x: np.ndarray, out: np.ndarray) -> None:
        f(t / units.time, x / units.length, out)
        out *= units.factor(ACCELERATION)

    return law


def scaled(value: Any, dimension: Dimension, units: Units) -> Any:
    """A quantity: a number, an expression of the time, a function of it, a list of those, or None."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, SHAPES):
        sizes = {
            size: getattr(value, size)
            for size in ("size", "radius", "length", "semi_axes", "points", "position", "heights", "bottom")
            if hasattr(value, size)
        }
        return replace(value, **{size: scaled(x, dimension, units) for size, x in sizes.items()})
    if isinstance(value, tuple | list):
        return tuple(scaled(x, dimension, units) for x in value)
    if isinstance(value, str):
        value = parse_expression(value.removeprefix("="), time=True)
    if isinstance(value, Expression):
        expression = in_time(value, units.factor(dimension), units.time)
        return TimeExpression(expression) if value.has_time else expression
    if isinstance(value, TimeExpression):
        return TimeExpression(in_time(value.expression, units.factor(dimension), units.time))
    if isinstance(value, nx.Polynomial):
        return nx.Polynomial([c * units.factor(per(dimension, TIME, k)) for k, c in enumerate(value.coefficients)])
    if isinstance(value, Function):
        known = OF_FUNCTION[type(value)]
        change = {
            field: scaled(
                getattr(value, field),
                dimension if d is None else times(dimension, d) if d == RATE and field == "slope" else d,
                units,
            )
            for field, d in known.items()
        }
        return replace(value, **change)
    return value * units.factor(dimension)


def is_of_time(value: Any) -> bool:
    """Whether a number is a function of the time, which has a unit where the number has none."""
    return isinstance(value, Function) or (isinstance(value, str) and value.startswith("="))


def in_time(expression: Expression, factor: float, second: float) -> Expression:
    """The same function of the time in units of which `second` are a second, times `factor`."""
    tape: list[tuple[str, Any]] = []
    for step in expression.tape:
        tape.append(step)
        if step[0] == "time":
            tape += [("const", 1.0 / second), ("*", None)]
    return Expression((*tape, ("const", factor), ("*", None)))


def coordinates(joint: Joint) -> list[Dimension]:
    """The dimension of each coordinate of a joint."""
    return [NUMBER if way == "turn" else LENGTH for way, _, _ in joint.directions]


def joint_in(joint: Joint, units: Units) -> dict[str, Any]:
    change: dict[str, Any] = {}
    freedoms = coordinates(joint)
    for attribute, value in public(joint):
        if attribute in OF_COORDINATE and value is not None and freedoms:
            of = [OF_COORDINATE[attribute](q) for q in freedoms]
            if attribute == "limits":
                pairs = value if isinstance(value[0], tuple) else (value,) * len(freedoms)
                change[attribute] = tuple(scaled(pair, d, units) for pair, d in zip(pairs, of, strict=True))
            elif len(of) == 1:
                change[attribute] = scaled(value, of[0], units)
            else:
                each = value if isinstance(value, tuple) else (value,) * len(of)
                change[attribute] = tuple(scaled(x, d, units) for x, d in zip(each, of, strict=True))
        elif attribute == "q0" and value is not None:
            quaternion = 4 * (joint.nq > joint.nv)
            rest = freedoms[3:] if quaternion else freedoms
            each = value if isinstance(value, tuple) else (value,)
            change[attribute] = (
                *each[:quaternion], *(scaled(x, d, units) for x, d in zip(each[quaternion:], rest, strict=True)),
            )  # fmt: skip
        elif attribute in OF_JOINT:
            change[attribute] = scaled(value, OF_JOINT[attribute], units)
        elif attribute == "curve":
            s = value
            change[attribute] = replace(s, **{
                x: TimeExpression(in_time(getattr(s, x).expression, units.length, 1.0)) if isinstance(getattr(s, x), TimeExpression)
                else in_time(getattr(s, x), units.length, 1.0) for x in "xyz"
            }) if isinstance(s, nx.ExpressionCurve) else replace(s, points=scaled(s.points, LENGTH, units))  # fmt: skip
        elif attribute == "surface":
            change[attribute] = replace(
                value, **{f.name: scaled(getattr(value, f.name), LENGTH, units) for f in fields(value)}
            )
        elif attribute == "function":
            change[attribute] = (of_rates if isinstance(joint, nx.VelocityConstraint) else of_row)(value, units)
        elif attribute not in NUMBERS and attribute not in OF_COORDINATE:
            raise KeyError(f"{type(joint).__name__}.{attribute} has no dimension in tests/units_lab.py")
    return change


def force_in(force: Any, system: nx.System, units: Units) -> dict[str, Any]:
    change: dict[str, Any] = {}
    of: dict[str, Dimension] = {}
    if force.joint_name is not None:
        joint = system.joint(force.joint_name)
        q = coordinates(joint)[force.__dict__["freedom"]]
        of = {name: dimension(q) for name, dimension in (IN_JOINTS[type(force)] | DRIVE).items()}
        if isinstance(force, nx.JointStop):
            of["stiffness"] = per(per(ENERGY, q), q, force.exponent)
    else:
        of = dict(FORCES[type(force)])
        if isinstance(force, nx.PlaneContact | nx.SphereContact):
            of["stiffness"] = per(FORCE, LENGTH, force.exponent)
    for attribute, value in public(force):
        if attribute == "function":
            change[attribute] = (
                in_joint(value, q, units) if force.joint_name is not None
                else (of_place if isinstance(force, nx.GravityField) else between)(value, units)
            )  # fmt: skip
        elif isinstance(force, nx.Bushing) and attribute in ("stiffness", "damping"):
            scale = (TORQUE,) * 3 + (per(FORCE, LENGTH),) * 3
            turn = TIME if attribute == "damping" else NUMBER
            change[attribute] = tuple(scaled(x, times(d, turn), units) for x, d in zip(value, scale, strict=True))
        elif attribute in of:
            change[attribute] = scaled(value, of[attribute], units)
        elif is_of_time(value):
            change[attribute] = scaled(value, NUMBER, units)
        elif attribute not in NUMBERS and attribute not in PLACES:
            raise KeyError(f"{type(force).__name__}.{attribute} has no dimension in tests/units_lab.py")
    return change


def contact_in(contact: nx.Contact, units: Units) -> dict[str, Any]:
    of = {
        **{name: d for name, d in FORCES[nx.PlaneContact].items() if name not in PLACES},
        "stiffness": per(FORCE, LENGTH, contact.exponent),
        "foundation_a": per(FORCE, LENGTH, 3),
        "foundation_b": per(FORCE, LENGTH, 3),
        "rolling_resistance": LENGTH,
        "turning_resistance": LENGTH,
    }
    change: dict[str, Any] = {}
    for attribute, value in public(contact):
        if isinstance(value, nx.Material):
            young = scaled(value.young, per(FORCE, LENGTH, 2), units)
            change[attribute] = nx.Material(value.name, young=young, poisson=value.poisson, friction=value.friction)
        elif attribute in of:
            change[attribute] = scaled(value, of[attribute], units)
        elif is_of_time(value):
            change[attribute] = scaled(value, NUMBER, units)
        elif attribute not in NUMBERS and not (attribute in ("material_a", "material_b") and value is None):
            raise KeyError(f"Contact.{attribute} has no dimension in tests/units_lab.py")
    return change


def coupling_in(coupling: Any, system: nx.System, units: Units) -> dict[str, Any]:
    """A sum keeps the dimension of its first term."""
    if isinstance(coupling, nx.RackAndPinion):
        return {"radius": coupling.radius * units.length, "offset": coupling.offset * units.length}
    if isinstance(coupling, nx.Gear):
        a = coordinates(system.joint(coupling.joint_a))[coupling.freedom_a]
        b = coordinates(system.joint(coupling.joint_b))[coupling.freedom_b]
        return {
            "ratio": coupling.ratio * units.factor(per(a, b)),
            "offset": coupling.offset * units.factor(a),
        }
    of = [coordinates(system.joint(joint))[freedom] for joint, freedom, _ in coupling.terms]
    terms = tuple(
        (joint, freedom, c * units.factor(per(of[0], d)))
        for (joint, freedom, c), d in zip(coupling.terms, of, strict=True)
    )
    return {"terms": terms, "offset": coupling.offset * units.factor(of[0])}


def driver_in(driver: Any, system: nx.System, units: Units) -> dict[str, Any]:
    if isinstance(driver, nx.OrientationDriver):
        return (
            {driver.given: tuple(scaled(x, NUMBER, units) for x in vars(driver)[driver.given])}
            if driver.angle is None
            else {"function": scaled(driver.function, NUMBER, units)}
        )
    q = LENGTH
    if not isinstance(driver, nx.PointDriver):
        q = coordinates(system.joint(driver.joint))[driver.freedom]
    return {"function": scaled(driver.function, q, units)}


def event_in(event: nx.Event, system: nx.System, units: Units) -> dict[str, Any]:
    """Raises ValueError where a function of the user's watches or acts."""
    if event.function is not None or event.action is not None:
        raise ValueError(f"{event} is of the user's")
    unknown = {attribute for attribute, _ in public(event)} - IN_EVENTS - {
        "value", "time", "tolerance", "function", "action", "parameters",
    }  # fmt: skip
    if unknown:
        raise KeyError(f"Event.{unknown.pop()} has no dimension in tests/units_lab.py")
    signal = NUMBER
    if event.joint is not None:
        signal = coordinates(system.joint(event.joint))[event.freedom]
        signal = per(signal, TIME) if event.of == "velocity" else signal
    elif event.contact is not None:
        signal = per(LENGTH, TIME) if event.of == "velocity" else LENGTH
    elif event.measure is not None:
        signal = OF_MEASURE[type(system.measure(event.measure))]
    return {
        "value": scaled(event.value, signal, units),
        "time": scaled(event.time, TIME, units),
        "tolerance": scaled(event.tolerance, TIME, units),
    }


def public(element: Element) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in vars(element).items() if not name.startswith("_")]


def _name(body: Any) -> str:
    return str(getattr(body, "name", body))


REGISTRIES = (
    "bodies", "joints", "couplings", "markers", "measures", "drivers", "forces", "contacts", "gravities", "events",
)  # fmt: skip
"""All that a system consists of, but its parameters."""


def in_units(system: nx.System, units: Units) -> nx.System:
    """The system in other units. Raises ValueError for functions and actions of events."""
    other = nx.System(system.name, gravity=scaled(tuple(system.gravity), ACCELERATION, units))
    for name, value in system.values.items():
        other.parameter(name, value)
    for body in system.bodies.values():
        for attribute, _ in public(body):
            if attribute not in BODY and attribute not in NUMBERS:
                raise KeyError(f"Body.{attribute} has no dimension in tests/units_lab.py")
        other.add_body(body.copied(**{name: scaled(getattr(body, name), d, units) for name, d in BODY.items()}))
    for joint in system.joints.values():
        ends = {"parent": joint.parent.name, "child": joint.child.name}
        change = joint_in(joint, units)
        if joint.mimic is not None:
            a, b = coordinates(joint)[0], coordinates(system.joint(joint.mimic.joint))[0]
            change["mimic"] = nx.Mimic(
                joint.mimic.joint,
                multiplier=joint.mimic.multiplier * units.factor(per(a, b)),
                offset=joint.mimic.offset * units.factor(a),
            )
        other.add_joint(joint.copied(**ends, **change))
    for coupling in system.couplings.values():
        other.add_coupling(coupling.copied(**coupling_in(coupling, system, units)))
    for marker in system.markers.values():
        other.add_marker(marker.copied(body=_name(marker.body), position=scaled(marker.position, LENGTH, units)))
    for driver in system.drivers.values():
        other.add_driver(driver.copied(**driver_in(driver, system, units)))
    for force in system.forces.values():
        if force.part_of is not None:
            continue
        other.add_force(force.copied(**force_in(force, system, units)))
    for contact in system.contacts.values():
        other.add_contact(contact.copied(**contact_in(contact, units)))
    for gravity in system.gravities.values():
        dimensions = FORCES[nx.PointGravity]
        if unknown := {attribute for attribute, _ in public(gravity)} - {
            *dimensions,
            "name",
            "bodies",
            "centre",
            "function",
        }:
            raise KeyError(f"{unknown} of Gravity has no dimension in tests/units_lab.py")
        change = {name: scaled(getattr(gravity, name), d, units) for name, d in dimensions.items()}
        if gravity.function is not None:
            change["function"] = of_place(gravity.function, units)
        other.add_gravity(gravity.copied(**change))
    for measure in system.measures.values():
        unknown = {attribute for attribute, _ in public(measure)} - IN_MEASURES
        if unknown or type(measure) not in OF_MEASURE:
            raise KeyError(f"{type(measure).__name__} {unknown or ''} has no dimension in tests/units_lab.py")
        other.add_measure(measure.copied())
    for event in system.events.values():
        other.add_event(event.copied(**event_in(event, system, units)))
    for registry in REGISTRIES:
        assert list(getattr(other, registry)) == list(getattr(system, registry)), (
            f"{registry} are described in one of the units alone"
        )
    return other


# --- what is compared ----------------------------------------------------------------------------------------------

OF_BODIES: dict[str, Dimension] = {
    "position": LENGTH,
    "rotation": NUMBER,
    "velocity": SPEED,
    "angular_velocity": RATE,
    "acceleration": ACCELERATION,
    "angular_acceleration": per(RATE, TIME),
}
Seen = dict[str, np.ndarray]


def of_result(result: nx.Result, units: Units) -> Seen:
    """Motion of all bodies, reactions of all joints and measures at the end, and when events were, in SI; without labels, which cost
    more than the runs."""
    found = result.observed.collect([*OF_BODIES, "reaction", "total_energy", "measure"])
    seen = {what: found[what][-1].ravel() / units.factor(d) for what, d in OF_BODIES.items()}
    wrenches = found["reaction"][-1]
    seen["force"] = wrenches[:, :3].ravel() / units.factor(FORCE)
    seen["torque"] = wrenches[:, 3:].ravel() / units.factor(TORQUE)
    seen["energy"] = found["total_energy"][-1:] / units.factor(ENERGY)
    sizes = [units.factor(OF_MEASURE[type(m)]) for m in result.system.measures.values() for _ in m.axes or ("",)]
    seen["measures"] = found["measure"][-1] / np.array(sizes)
    seen["events"] = np.array([event["time"] for event in result.events]) / units.time
    return seen


def apart(one: Seen, other: Seen, least: Mapping[str, float] | None = None) -> dict[str, float]:
    """Of each quantity the largest difference, as part of its size, or of what is `least` of it; 0 is the same bits."""
    found = {}
    for what, x in one.items():
        size = max(float(np.abs(x).max(initial=0.0)), (least or {}).get(what, 0.0)) or 1.0
        off = float(np.abs(other[what] - x).max(initial=0.0)) / size
        found[what] = off if np.isfinite(other[what]).all() else math.inf
    return found

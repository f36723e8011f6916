"""Laws of descriptions: from_dict(to_dict(s)) is the same system, for every joint, force, measure, shape, function."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from nexdyn.describe import CURVES, FUNCTIONS, SECTIONS, SHAPES, SURFACES, from_dict, to_dict
from nexdyn.errors import InputError, NexDynWarning, UnknownNameError
from nexdyn.forces import FORCES, AppliedForce, Contact, Gravity, JointForce, PointSpring, UserForce
from nexdyn.joints import JOINTS, Helical, Revolute, UserConstraint, VelocityConstraint
from nexdyn.model import curves as c
from nexdyn.model import functions as f
from nexdyn.model import measure as m
from nexdyn.model import shapes as s
from nexdyn.model import surfaces as u
from nexdyn.model.body import Body
from nexdyn.model.coupling import COUPLINGS, Coupling, Gear, RackAndPinion
from nexdyn.model.driver import DRIVERS, Driver, OrientationDriver, PointDriver
from nexdyn.model.element import Element
from nexdyn.model.event import Event
from nexdyn.model.expressions import Expression, as_expression, minimum
from nexdyn.model.joint import Joint, Mimic
from nexdyn.model.materials import Material
from nexdyn.model.measure import MEASURES, Distance
from nexdyn.model.parameters import evaluate
from nexdyn.model.system import System

WRITTEN = {kind: cls for kind, cls in JOINTS.items() if cls not in (UserConstraint, VelocityConstraint)}

Random = np.random.Generator
TIMES = np.linspace(0.1, 1.9, 7)

# --- random systems -------------------------------------------------------------------------------------------------


def quaternion(rng: Random) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def quantity(rng: Random, system: System) -> Any:
    """A positive number, as a float, an expression or text."""
    x = float(rng.uniform(0.1, 2.0))
    L = system.parameters["L"]
    return [x, 1, np.float64(x), x * L**2 / 3, f"={x} + sin(L)**2", minimum(L, x), "=L"][rng.integers(7)]


def function(rng: Random, system: System) -> Any:
    """A function of time of a random kind, or what stands for one."""
    x, y, z = (quantity(rng, system) for _ in range(3))
    ways: list[Callable[[], Any]] = [
        lambda: x,
        lambda: "=2*sin(3*t)*L",
        lambda: f.Constant(x),
        lambda: f.Linear(x, y),
        lambda: f.Harmonic(x, y, phase=z),
        lambda: f.Polynomial([x, y, z]),
        lambda: f.Step5(0.5, x, 1.5, y),
        lambda: f.StepChange(1.0, x, y),
        lambda: f.Table([0.0, 1.0, 2.0, 2.5], [x, y, z, 1.0], kind=("linear", "cubic")[rng.integers(2)]),
        lambda: f.TimeExpression("exp(-t/L)*cos(2*pi*t)"),
    ]
    return ways[rng.integers(len(ways))]()


def shape(rng: Random, system: System) -> s.Shape:
    a, b = quantity(rng, system), quantity(rng, system)
    placed: dict[str, Any] = {"position": rng.normal(size=3), "orientation": quaternion(rng)}
    options = [{}, placed, {"color": (0.1, 0.2, 0.3), "name": "skin: a #1"}][rng.integers(3)]
    ways: list[Callable[[], s.Shape]] = [
        lambda: s.Box((a, b, 0.1), **options),
        lambda: s.Sphere(a, **options),
        lambda: s.Cylinder(a, b, **options),
        lambda: s.Capsule(a, b, **options),
        lambda: s.Cone(a, b, **options),
        lambda: s.Ellipsoid((a, b, 0.1), **options),
        lambda: s.Hull([(0.0, 0.0, 0.0), (a, 0.0, 0.0), (0.0, b, 0.0), rng.normal(size=3)], **options),
        lambda: s.HeightField([[0.1, a], [b, 0.0], [0.2, 0.1]], (1.0, 2.0), bottom=-3.0, **options),
        lambda: s.Mesh("meshes/link.stl", scale=(1.0, 2.0, 0.5), unit=(None, "mm")[rng.integers(2)], **options),
    ]
    return ways[rng.integers(len(ways))]()


def body(rng: Random, system: System, name: str) -> Body:
    mass, a = quantity(rng, system), float(rng.uniform(0.5, 1.0))
    tensor = a * np.eye(3) + 0.05 * (lambda A: A + A.T)(rng.uniform(size=(3, 3)))
    options: list[dict[str, Any]] = [
        {"mass": mass, "inertia": (a, a, a)},
        {"mass": mass, "inertia": (a, 1.1 * a, 1.2 * a, 0.01, 0.02, 0.0), "com": rng.normal(size=3)},
        {"mass": mass, "inertia": tensor, "shapes": [shape(rng, system) for _ in range(3)]},
        {"mass": 2.0, "shapes": s.Sphere(a, position=(0.0, 0.1, 0.0))},
        {"mass": mass, "com": (0.0, "=L", 1.0), "collision": (), "no_collision": "link*"},
        {"mass": mass, "inertia": tensor, "collision": [s.HalfSpace(position=rng.normal(size=3)), shape(rng, system)]},
        {},
    ]
    placed = {"position": [quantity(rng, system), 0, -1.0], "orientation": quaternion(rng)}
    return Body(name, **options[rng.integers(len(options))], **(placed if rng.random() < 0.8 else {}))


def joint(rng: Random, system: System, kind: str, parent: str, child: str) -> Joint:
    cls, own = JOINTS[kind], {"pitch": quantity(rng, system)} if kind == "helical" else {}
    per_freedom: dict[str, Any] = {
        "damping": quantity(rng, system),
        "stiffness": rng.uniform(size=cls.nv),
        "friction": 0.1,
        "friction_speed": 0.01,
        "armature": [quantity(rng, system) for _ in range(cls.nv)],
        "limits": [(-1.0, None)] * cls.nv,
        "effort_limit": np.inf,
        "priority": 3,
        "v0": rng.normal(size=cls.nv),
    }
    where: list[dict[str, Any]] = [
        {},
        {"at": rng.normal(size=3), "axis": rng.normal(size=3)},
        {"anchor_a": rng.normal(size=3), "axis_a": (1, 0, 0), "reference_a": (0, 0, 1), "anchor_b": (0.0, "=L", 0.0)},
        {"axis_b": rng.normal(size=3)},
    ]
    if not cls.tree:
        own = {"priority": {cls.rows[0][0]: 2}} if rng.random() < 0.5 else {"priority": 1}
        own |= {"length": quantity(rng, system)} if kind == "rod" else {}
        own |= {"free": [("rz",), ("z", "ry", "rx"), "y"][rng.integers(3)]} if kind in ("general", "clamp") else {}
        own |= {"on": bool(rng.integers(2))} if kind == "clamp" else {}
        own |= {"slide": rng.normal(size=3)} if kind == "revolute_prismatic" else {}
        where = [w for w in where if "at" not in w] if kind == "rod" else where
        if kind == "revolute_spherical":
            own |= {"length": "=20+L", "along": quantity(rng, system)}
            where = [{}, {"anchor_a": rng.normal(size=3), "axis_a": (1, 0, 0), "anchor_b": (0.0, "=L", 0.0)}]
        where = [{"axis_a": (1, 0, 0), "axis_b": rng.normal(size=3)}] if kind == "perpendicular" else where
        if kind in ("rolling_disk", "rolling_sphere", "knife_edge"):
            own |= {} if kind == "knife_edge" else {"radius": quantity(rng, system)}
            own |= {"tube": quantity(rng, system)} if kind == "rolling_disk" else {}
            where = [{}, {"anchor_a": rng.normal(size=3), "axis_a": (1, 0, 0), "anchor_b": (0.0, "=L", 0.0)}]
        if kind in ("point_on_curve", "point_on_surface"):
            own |= {"curve": curve(rng, system)} if kind == "point_on_curve" else {"surface": surface(rng, system)}
            where = [{}, {"anchor_a": rng.normal(size=3), "axis_a": (1, 0, 0), "anchor_b": (0.0, "=L", 0.0)}]
    some = {key: value for key, value in per_freedom.items() if cls.nv and rng.random() < 0.4}
    return cls(f"{kind} {child}", parent, child, **own, **some, **where[rng.integers(len(where))])


def curve(rng: Random, system: System) -> c.Curve:
    x = quantity(rng, system)
    ways: list[Callable[[], c.Curve]] = [
        lambda: c.SplineCurve([(0, 0, 0), (x, 1, 0), (0, "=-L", 1)], closed=True),
        lambda: c.SplineCurve(rng.normal(size=(4, 3))),
        lambda: c.ExpressionCurve("=L*cos(s)", "=sin(s)", x, 0, "=2*pi", closed=True),
        lambda: c.ExpressionCurve(f.Polynomial((0, 1.0, "=L")), 0.1, "=s", -1, "=L"),
    ]
    return ways[rng.integers(len(ways))]()


def surface(rng: Random, system: System) -> u.Surface:
    ways: list[Callable[[], u.Surface]] = [
        lambda: u.SphereSurface("=L"),
        lambda: u.CylinderSurface(0.3),
        lambda: u.PlaneSurface(),
        lambda: u.EllipsoidSurface((1.0, "=L", 0.4)),
        lambda: u.TorusSurface("=2*L", 0.1),
    ]
    return ways[rng.integers(len(ways))]()


def couplings(rng: Random, system: System) -> list[Any]:
    x = quantity(rng, system)
    return [
        Gear("gear", "revolute b1", "cylindrical b4", ratio="=-L", offset=x),
        RackAndPinion("rack", "revolute b1", "prismatic b2", radius=0.1),
        Coupling("sum", {"revolute b1": 1.0, ("cylindrical b4", 1): "=L", "helical b3": x}, offset=0.1, priority=2),
    ]


def forces(rng: Random, system: System) -> list[Any]:
    """One force of every kind and way, on bodies, markers and joints of the system."""
    x, y = quantity(rng, system), quantity(rng, system)
    points = {"anchor_a": rng.normal(size=3), "at_b": (0.0, "=L", 0.0)}
    table = {"deflections": [-1.0, 0.0, "=L"], "forces": (-3.0, 0.0, x)}
    options: dict[str, list[dict[str, Any]]] = {
        "applied": [
            {"body": "b1", "force": [function(rng, system) for _ in range(3)], "at": (0, 0, 1)},
            {"body": "m1", "torque": (function(rng, system), x, 0), "expressed_in": "body", "anchor": (1, 0, 0)},
        ],
        "joint_force": [
            {"joint": "revolute b1", "effort": function(rng, system)},
            {"joint": "free b9", "effort": x, "freedom": 4},
        ],
        "point_spring": [{"a": "b1", "b": "ground", "stiffness": x, "damping": y, "length": 0.1, "force": 1, **points}],
        "torsion_spring": [{"a": "m1", "b": "b2", "stiffness": x, "rest": 0.5}],
        "bushing": [
            {"a": "m1", "b": "ground", "stiffness": rng.uniform(size=6), "damping": 1e-3 * np.eye(6)},
            {"a": "b1", "b": "b2", "stiffness": (1, 2, 3, 4, 5, "=L"), "angles": "xyz"},
        ],
        "force_table": [
            {"a": "b1", "b": "b2", **table, "interpolation": "natural", **points},
            {"joint": "prismatic b2", **table, "extrapolation": "constant", "rest": 0.1, "damping": y},
        ],
        "plane_contact": [
            {"a": "b1", "stiffness": "=1e4*L", "radius": 0.1, "restitution": 0.5, "impact_speed": "=L", **points},
            {"a": "m1", "b": "b2", "stiffness": 1e5, "length": 0.2, "axis": (1, 0, 0), "normal": (0, 1, 1)},
            {"a": "b1", "stiffness": 1e5, "friction": 0.2, "surface_velocity_b": ("=L", 0.5, 0)},
            {
                "a": "b1",
                "stiffness": 1e5,
                "friction": 0.2,
                "friction_across": "=L",
                "friction_direction_b": (0, "=L", 1),
            },
        ],
        "sphere_contact": [
            {"a": "b1", "b": "ground", "stiffness": "=1e4*L", "radius_b": "=L", "friction": 0.3, **points},
            {
                "a": "m1",
                "b": "b2",
                "stiffness": 1e5,
                "radius_a": 0.1,
                "radius_b": 0.2,
                "hollow": True,
                "static_friction": 0.5,
                "surface_velocity_a": (0, x, "=-L"),
                "friction": 0.4,
                "friction_across": "=0.1*L",
                "friction_direction_a": (0, 1, "=-L"),
            },
        ],
        "position_actuator": [
            {"joint": "revolute b1", "kp": "=L", "kd": 2, "target": function(rng, system), "sample_time": 0.01},
        ],
        "velocity_actuator": [{"joint": "free b9", "kv": 3.0, "target": x, "freedom": 4, "effort_limit": "=2*L"}],
        "torque_actuator": [{"joint": "prismatic b2", "target": function(rng, system), "time_constant": 0.1}],
        "joint_stop": [{"joint": "prismatic b2", "stiffness": 1e4, "lower": "=-L", "upper": 3, "restitution": 0.4}],
        "joint_friction": [
            {"joint": "prismatic b2", "sliding": "=L", "static": 4.0, "stiffness": 1e4, "elastic": 0.5},
            {"joint": "prismatic b2", "sliding": 3.0, "stiffness": 1e4, "law": "lugre"},
        ],
        "point_gravity": [
            {"body": "b1", "mu": "=4*L", "at": (0, 0, "=-L")},
            {"body": "b2", "centre": "m1", "mu": 3.0, "anchor": (1, 0, 0)},
        ],
    }
    assert options.keys() == SECTIONS["forces"][1].keys(), "a new force wants an example here"
    return [FORCES[kind](f"{kind} {i}", **given) for kind, ways in options.items() for i, given in enumerate(ways)]


def drivers(rng: Random, system: System) -> list[Any]:
    return [
        Driver("motor", "revolute b1", function(rng, system)),
        Driver("slide", "cylindrical b4", quantity(rng, system), freedom=1, priority=5),
        PointDriver("crane", "m1", "z", function(rng, system)),
        OrientationDriver("roll", "m1", "roll", function(rng, system), seen_from="b2"),
        OrientationDriver("turn", "b2", rotation_vector=[function(rng, system), quantity(rng, system), "=sin(t)"]),
        OrientationDriver(
            "spin", "b2", quaternion=(1.0, function(rng, system), 0.0, quantity(rng, system)), priority=2
        ),
        OrientationDriver("pose", "b3", angles=["=t", "=3*t", function(rng, system)], seen_from="m1"),
    ]


def random_system(rng: Random) -> System:
    system = System("a random: system", gravity=(0, "=-g", rng.normal()))
    system.parameter("L", float(rng.uniform(0.5, 1.0)))
    system.parameter("g", 9.81)
    system.parameter("twice", "=2*L")
    previous = "ground"
    for i, kind in enumerate(WRITTEN):
        name = f"b{i}"
        system.add_body(body(rng, system, name))
        system.add_joint(joint(rng, system, kind, previous if rng.random() < 0.7 else "ground", name))
        previous = name
    system.add_body("follower", mass=1.0, collision=[s.Sphere("=L"), s.Capsule(0.1, "=L", name="side")])
    mimic = Mimic("revolute b1", multiplier="=-L", offset=quantity(rng, system))
    system.add_joint(Revolute("mimic", "b1", "follower", mimic=mimic))
    system.add_marker("m1", "b1", position=rng.normal(size=3), orientation=quaternion(rng))
    system.add_marker("m2", "b2", at=(0.0, "=L", 1.0))
    system.add_measure(m.PointPosition("p", "m1"))
    system.add_measure(m.PointVelocity("v", "b2", seen_from="m1"))
    system.add_measure(m.Distance("d", "m1", "ground"))
    system.add_measure(m.Angle("angle", "m1", "m2", "xy"))
    system.add_measure(m.Displacement("dz", "m1", "b2", "dz"))
    system.add_measure(m.Direction("zx", "m1", "m2", "zx"))
    for coupling in couplings(rng, system):
        system.add_coupling(coupling)
    for driver in drivers(rng, system):
        system.add_driver(driver)
    for force in forces(rng, system):
        system.add_force(force)
    material = Material("mine", quantity(rng, system), 0.3, friction=[None, "=L"][rng.integers(2)])
    system.add_gravity(Gravity("sun", mu="=3*L", at=(0, 0, "=-9*L")))
    system.add_gravity(Gravity("pull", ["b1", "b[2-3]"], anchor=("=L", 0, 0), mu=2.0))
    system.add_contact(
        Contact(
            "touches",
            ["follower"],
            material_a="steel",
            material_b=material,
            friction="=L",
            restitution=0.5,
            impact_speed="=L",
        )
    )
    system.add_contact(
        Contact(
            "rests",
            "f*",
            "ground",
            stiffness=quantity(rng, system),
            friction="=L",
            static_friction=5.0,
            surface_velocity_a=(0.1, 0, "=L"),
            surface_velocity_b=("=-L", quantity(rng, system), 0),
            friction_across=0.2,
            friction_direction_a=("=L", 1, 0),
            rolling_resistance=0.0,
        )
    )
    system.add_event(Event("lands", contact="rests", direction="falling", on="touches"))
    system.add_event(Event("end", time="=2*L", stop=True))
    system.add_event(Event("far", measure="p", component="y", value="=L", direction="rising", off="bushing 0"))
    system.add_event(Event("turned", joint="revolute b1", of="velocity", parameters={"L": 0.6}, once=True))
    system.check()
    return system


# --- what a system means --------------------------------------------------------------------------------------------


def meaning(value: Any, values: dict[str, float]) -> Any:
    """What a value says, however it is written: numbers, samples of functions, and names."""
    if isinstance(value, Element):
        return value.name
    if isinstance(value, tuple):
        return [meaning(item, values) for item in value]
    if isinstance(value, Expression) or (isinstance(value, str) and value.startswith("=")):
        expression = as_expression(value)
        if expression.has_time:
            return f.TimeExpression(expression).resolved(values).value(TIMES).tolist()
        return evaluate(expression, values)
    if isinstance(value, f.Function):
        return [type(value).__name__, value.resolved(values).value(TIMES).tolist()]
    if is_dataclass(value):
        return [type(value).__name__, {x.name: meaning(getattr(value, x.name), values) for x in fields(value)}]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def says(system: System) -> dict[str, Any]:
    """Everything that a system says, by section and name."""
    values = system.values
    told: dict[str, Any] = {"name": system.name, "gravity": system.gravity.tolist(), "values": values}
    for section in SECTIONS:
        told[section] = [
            (name, type(element), {k: meaning(v, values) for k, v in vars(element).items() if k[0] != "_"})
            for name, element in getattr(system, section).items()
        ]
    return told


# --- laws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_a_description_describes_the_same_system(seed: int) -> None:
    system = random_system(np.random.default_rng(seed))
    data = to_dict(system)
    again = from_dict(data)
    assert says(again) == says(system)
    assert to_dict(again) == data


@pytest.mark.parametrize("seed", range(3))
def test_a_description_survives_json(seed: int) -> None:
    data = to_dict(random_system(np.random.default_rng(seed)))
    assert json.loads(json.dumps(data)) == data


def test_parameters_still_act_after_a_round_trip(rng: Random) -> None:
    system = random_system(rng)
    changed = from_dict(to_dict(system)).with_parameters({"L": 0.77})
    assert says(changed) == says(system.with_parameters({"L": 0.77}))


def test_random_systems_hold_every_kind_of_everything() -> None:
    systems = [random_system(np.random.default_rng(seed)) for seed in range(30)]
    seen = {type(e) for system in systems for section in SECTIONS for e in getattr(system, section).values()}
    seen |= {type(shape) for system in systems for b in system.bodies.values() for shape in (*b.shapes, *b.colliding)}
    for system in systems:
        for force in system.forces.values():
            seen |= {type(x) for attribute in vars(force).values() for x in (attribute, *_items(attribute))}
    for system in systems:
        for element in system.joints.values():
            seen |= {type(vars(element).get(name)) for name in ("curve", "surface")}
    wanted = [*WRITTEN.values(), *COUPLINGS.values(), *CURVES.values(), *SURFACES.values()]
    wanted += [*DRIVERS.values(), *MEASURES.values(), *SHAPES.values(), *FUNCTIONS.values()]
    assert {cls.__name__ for cls in wanted if cls not in seen} == set()


def _items(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else ()


def test_only_what_differs_from_its_default_is_written() -> None:
    system = System("s")
    system.add_body("ball", mass=1)
    system.add_joint(Revolute("hinge", "ground", "ball", damping=0.0, axis=[0, 1, 0]))
    assert to_dict(system) == {
        "name": "s",
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"ball": {"mass": 1}},
        "joints": {"hinge": {"type": "revolute", "parent": "ground", "child": "ball", "axis": [0, 1, 0]}},
    }


# --- what cannot be written -----------------------------------------------------------------------------------------


def with_user_forces() -> System:
    system = System("s")
    system.add_body("ball", mass=1.0)
    system.add_joint(Revolute("hinge", "ground", "ball"))
    system.add_force(UserForce("wind", "ball", function=lambda t, A, B, out: None))
    system.add_force(AppliedForce("push", "ball", (0, 0, lambda t: t)))
    system.add_force(JointForce("motor", "hinge", f.UserFunction(lambda t: t)))
    system.add_force(PointSpring("rope", "ball", "ground", stiffness=1.0))
    return system


def test_a_python_function_cannot_be_written() -> None:
    with pytest.raises(InputError, match="force 'wind' is a UserForce, which cannot be written"):
        to_dict(with_user_forces())


def test_a_lossy_description_leaves_out_python_functions_and_says_so() -> None:
    with pytest.warns(NexDynWarning, match="'s' leaves out .*: force 'wind', force 'push', force 'motor'"):
        data = to_dict(with_user_forces(), lossy=True)
    assert list(from_dict(data).forces) == ["rope"]


def test_a_measure_of_ones_own_cannot_be_written() -> None:
    class Mine(Distance):
        kind = "mine"

    system = System("s")
    system.add_body("ball", mass=1.0)
    system.add_measure(Mine("gap", "ball", "ground"))
    with pytest.raises(InputError, match="measure 'gap' is a Mine"):
        to_dict(system)
    with pytest.warns(NexDynWarning, match="measure 'gap'"):
        assert "measures" not in to_dict(system, lossy=True)


def test_an_expression_too_long_for_text_is_refused_or_becomes_a_number() -> None:
    system = System("s")
    total = L = system.parameter("L", 0.25)
    for _ in range(999):
        total = total + L
    system.add_body("ball", mass=total)
    with pytest.raises(InputError, match=r"mass of body 'ball' cannot be written: .* nested too deeply"):
        to_dict(system)
    assert to_dict(system, lossy=True)["bodies"]["ball"] == {"mass": 250.0}


# --- errors ---------------------------------------------------------------------------------------------------------


def errors_of(data: Any) -> list[tuple[tuple[Any, ...], str]]:
    found: list[tuple[tuple[Any, ...], str]] = []
    from_dict(data, lambda path, error: found.append((path, str(error))))
    return found


def test_the_first_error_is_raised_where_nobody_collects() -> None:
    with pytest.raises(UnknownNameError, match="no body 'bal'; did you mean 'ball'"):
        from_dict({"bodies": {"ball": {}}, "joints": {"j": {"type": "free", "parent": "ground", "child": "bal"}}})


def test_every_error_is_reported_with_its_path() -> None:
    data = {
        "bodies": {
            "a": {"mass": -1.0},
            "b": {"mass": 1.0, "position": [0, "x", 0]},
            "c": {"mas": 1.0},
            "d": {"mass": 1.0, "shapes": [{"type": "sphere", "radius": 1.0}, {"type": "box", "size": [1, 1, -1]}]},
            "e": [1.0],
            "f": {"mass": 1.0, "strict": "no"},
        },
        "joints": {"j": {"type": "revolute", "parent": "ground"}, "k": {"parent": "ground"}},
        "extra": 1,
    }
    assert [path for path, _ in errors_of(data)] == [
        ("extra",),
        ("bodies", "a", "mass"),
        ("bodies", "b", "position", 1),
        ("bodies", "c", "mas"),
        ("bodies", "d", "shapes", 1, "size", 2),
        ("bodies", "e"),
        ("bodies", "f", "strict"),
        ("joints", "j"),
        ("joints", "k"),
    ]


def test_what_only_fails_because_something_before_it_failed_is_passed_over() -> None:
    data = {
        "parameters": {"L": "long", "half": "=L/2"},
        "gravity": [0, 0, "=-L"],
        "bodies": {"a": {"mass": "=half"}, "b": {"mass": 1.0, "com": [0, 0, "=L"]}, "ok": {"mass": 1.0}},
        "joints": {
            "j": {"type": "revolute", "parent": "ground", "child": "a"},
            "k": {"type": "revolute", "parent": "ground", "child": "ok", "mimic": {"joint": "j"}},
        },
        "markers": {"m": {"body": "b"}},
        "measures": {"d": {"type": "distance", "a": "m", "b": "ground"}},
        "forces": {"f": {"type": "joint_force", "joint": "j", "effort": 1.0}},
    }
    ((path, message),) = errors_of(data)
    assert path == ("parameters", "L")
    assert "parameter 'L' is the text 'long'" in message


def test_an_unknown_type_lists_the_valid_ones() -> None:
    ((path, message),) = errors_of({"forces": {"f": {"type": "point_sprin", "a": 1}}})
    assert path == ("forces", "f", "type")
    assert "no force type 'point_sprin'; did you mean 'point_spring'? force types: applied" in message


def test_a_missing_mimic_is_found() -> None:
    joints = {"j": {"type": "revolute", "parent": "ground", "child": "a", "mimic": {"joint": "k"}}}
    ((path, message),) = errors_of({"bodies": {"a": {}}, "joints": joints})
    assert path == ("joints", "j", "mimic")
    assert "no joint 'k'" in message


def test_values_that_a_constructor_trips_over_are_bad_input() -> None:
    for value in (5, 5.0, True, "x", [[[]]], {"type": []}, {}):
        assert errors_of({"bodies": {"a": {"mass": 1.0, "shapes": value}}}), value


def test_a_helical_joint_reads_its_own_arguments_and_those_of_every_joint() -> None:
    joints = {"j": {"type": "helical", "parent": "ground", "child": "a", "pitch": 0.1, "damping": 2.0}}
    joint = from_dict({"bodies": {"a": {}}, "joints": joints}).joint("j")
    assert isinstance(joint, Helical)
    assert (joint.pitch, joint.damping) == (0.1, 2.0)

"""Problems of contact over areas: those of contact at points with elastic foundations, so that all that touches may be a mesh, too.

What gives stands deeper or less deep, and is part of the answers:

    block     as deep as on its corners, k A = 4 σ; it tilts by M/(k A d²/12), d its length
    ball      m g cos φ = k π h² (R − h/3); the ground is hard, and it rolls on s = R − h, with
              a = g sin φ/(1 + I/(m s²)), from sliding with v₀/(1 + I/(m s²)), on a conveyor with v/(1 + m s²/I)
    impacts   the damping of a foundation multiplies its pressure, as that of a point its force: restitution is the same at any stiffness
    tall      a block on a slope presses on a strip at its lower edge alone, L = 3 (½ w − ½ h tan φ) wide: it leans by δ/L,
              2 m g cos φ = k L w_y δ; one that tips does so about the middle of its pressure, an error that goes with 1/√k
    cards     boxes that lean: they turn about their inner edges, and their weight is half of their thickness further out
    groove    one mesh in place of two walls, which is not convex
    discs     two that press on each other along a line, w long: F = k w 4/3 √(2 R) δ^1.5, 1/R = 1/R₁ + 1/R₂

Discs of cams and the pin of a Geneva drive are cylinders here. Damping of what rolls by presses more in front than behind: it is small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from nexdyn.forces.applied import AppliedForce
from nexdyn.forces.contact_group import Contact
from nexdyn.joints import Fixed, Planar, Revolute
from nexdyn.model.driver import Driver
from nexdyn.model.shapes import Box, Cylinder
from nexdyn.model.system import System
from nexdyn.problems import contact_machines as machines
from nexdyn.problems import contacts, dominoes, impacts, slopes, standing, transmissions
from nexdyn.problems.problem import Problem, Run, touching
from nexdyn.problems.recast import grooved, over_areas, tube, wheel
from nexdyn.results.result import Result

G, R = 9.81, 0.1
Values = Mapping[float, tuple[float, ...]]


def over(problem: Problem, foundations: Mapping[str, float], reference: Values | None = None, *, side: str = "b",
         bodies: Mapping[str, Mapping[str, Any]] | None = None, runs: tuple[Run, ...] | None = None,
         scale: tuple[float, ...] | None = None, **law: Any) -> Problem:  # fmt: skip
    """A problem with foundations [N/m³] in the contacts of these names, on the bodies of one side."""

    def build() -> System:
        return over_areas(problem.build(), foundations, bodies, side, **law)

    return replace(
        problem,
        build=build,
        reference=reference or problem.reference,
        runs=runs or problem.runs,
        scale=scale or problem.scale,
    )


def sunk(load: float, k: float, radius: float = R) -> float:
    """h of F = k π h² (R − h/3) [m]."""
    roots = np.roots([-k * math.pi / 3.0, k * math.pi * radius, 0.0, -load])
    return float(min(h.real for h in roots if h.real > 0.0))


def pressed(force: float, k: float, width: float, radius: float) -> float:
    """δ of F = k w 4/3 √(2 R) δ^1.5 [m]; 0 where nothing presses."""
    return (max(force, 0.0) / (k * width * 4.0 / 3.0 * math.sqrt(2.0 * radius))) ** (2.0 / 3.0)


# --- blocks ---------------------------------------------------------------------------------------------------------

FLAT = 4.0 * contacts.STIFF / 0.3**2
"""Of a block of 0.3 m × 0.3 m."""
LEANS = G * math.sin(contacts.GENTLE) / (4.0 * contacts.STIFF) * (1.0 / 0.82 + 0.05**2 * 12.0 / 0.3**2)
SLIDING = over(contacts.SLIDING, {"on": FLAT})
STANDING = over(contacts.STANDING, {"on": FLAT}, {2.0: (LEANS,), 20.0: (LEANS,)})
BELT = over(contacts.BELT, {"on": FLAT})
CONE = over(slopes.CONE, {"standing on": FLAT, "sliding on": FLAT})
BELOW = over(slopes.BELOW, {"block on": FLAT})
IN_GROOVE = 4.0 * slopes.STIFF / (slopes.LONG_BAR * slopes.BAR)


def _groove() -> System:
    cut = {"collision": [grooved(slopes.DEEP, 4.0 * slopes.LONG_BAR)]}
    return over_areas(
        slopes.groove(),
        {f"{name} in": IN_GROOVE for name in slopes.BESIDE},
        {f"{name} groove": cut for name in slopes.BESIDE},
    )


GROOVE = replace(slopes.GROOVE, build=_groove)
SHAKEN = over(slopes.SHAKEN, {"block on": FLAT})
UNDER = {
    name: 400.0 * slopes.STIFFER / (0.2 * width) for name, width in (("narrow", slopes.NARROW), ("wide", slopes.WIDE))
}
STRIP = 1.5 * (slopes.WIDE - slopes.TALL * math.tan(slopes.SLOPE))
"""Of the wide block, where it presses [m]."""
DEEP = 2.0 * G * math.cos(slopes.SLOPE) / (UNDER["wide"] * 0.2 * STRIP)
LEAN = DEEP / STRIP
TIPPING = over(
    slopes.TIPPING, {f"{name} on": k for name, k in UNDER.items()}, {t: (x, LEAN) for t, (x, _) in slopes.TIPPING.reference.items()},
    bodies={"narrow": {"position": (0.0, -0.3, 0.5 * slopes.TALL), "orientation": (1.0, 0.0, 0.0, 0.0)},
            "wide": {"position": (0.0, 0.3, 0.5 * slopes.TALL + 0.5 * LEAN * slopes.WIDE - DEEP),
                     "orientation": (math.cos(0.5 * LEAN), 0.0, math.sin(0.5 * LEAN), 0.0)}},
    runs=touching(1.5e-2, dt=2e-4, explicit=1e-6), scale=(1.0, 1e-5),
)  # fmt: skip

# --- balls ----------------------------------------------------------------------------------------------------------

SOFT = 1e7
"""Of balls that roll: they stand so deep that facets hardly count."""


def height(lean: float) -> float:
    """How high the middle of a ball of 1 kg is on a plane that leans [m]."""
    return R - sunk(G * math.cos(lean), SOFT)


def on_plane(problem: Problem, lean: float, reference: Values, tolerance: float) -> Problem:
    """A soft ball on a plane that leans, undamped."""
    bodies = {"ball": {"position": (0.0, 0.0, height(lean))}}
    return over(problem, {"on": SOFT}, reference, side="a", bodies=bodies, runs=touching(tolerance), damping=0.0)


DOWN = G * math.sin(contacts.FLAT) / (1.0 + 0.4 * (R / height(contacts.FLAT)) ** 2)
ROLLING = on_plane(contacts.ROLLING, contacts.FLAT, {t: (t * DOWN,) for t in (0.2, 0.5)}, 5e-4)
CAUGHT = 2.0 / (1.0 + 0.4 * (R / height(0.0)) ** 2)
BOWLING = on_plane(contacts.BOWLING, 0.0, {0.1: (2.0 - 0.1 * contacts.MU * G,), 0.2: (CAUGHT,), 0.4: (CAUGHT,)}, 5e-4)
LEVER = 2.5 * impacts.DRAG * height(impacts.STEEP) / R
SKIDDING = on_plane(
    impacts.SKIDDING,
    impacts.STEEP,
    {t: (t * (G * math.sin(impacts.STEEP) - impacts.DRAG), t * LEVER) for t in (0.2, 0.5)},
    3e-3,
)
AT_SPEED = contacts.RUNS / (1.0 + 2.5 * (height(0.0) / R) ** 2)
CONVEYOR = over(
    contacts.CONVEYOR, {"block on": FLAT, "ball on": SOFT},
    {t: (v, x, min(ball, AT_SPEED) if t < 0.1 else AT_SPEED) for t, (v, x, ball) in contacts.CONVEYOR.reference.items()},
    side="a", bodies={"ball": {"position": (0.0, 1.0, height(0.0))}}, runs=touching(1e-3), damping=0.0,
)  # fmt: skip
BOUNCE = over(contacts.BOUNCE, {"on": 1e9}, side="a")
SPHERES = over(impacts.SPHERES, {"touch": 1e9})
GAPS = over(impacts.GAPS, {"touch": 1e10})
GRIP = 1e9
HELD = sunk(machines.PRESS, GRIP, 0.05)
GRIPPER = over(
    machines.GRIPPER, {"holds grip": GRIP, "slips grip": GRIP},
    bodies={f"{hand} {name}": {"position": (side * (0.06 - HELD), y, 0.0)}
            for hand, y in (("holds", -0.3), ("slips", 0.3)) for name, side in (("left", -1.0), ("right", 1.0))},
)  # fmt: skip

# --- discs ----------------------------------------------------------------------------------------------------------

ALONG_Y = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
"""An orientation in which the axis of a cylinder is y."""
DISCS, FACES, BROAD = 2e11, 1e10, 0.02
"""Foundations of a roller and of a flat follower, and how broad both cams are."""


def roller_gives(force: float) -> float:
    """Of the disc and the roller."""
    return pressed(force, DISCS, BROAD, 1.0 / (1.0 / machines.DISC + 1.0 / machines.ROLL))


def face_gives(force: float) -> float:
    """Of the disc and the flat follower."""
    return pressed(force, FACES, BROAD, machines.DISC)


def disc(radius: float, length: float = BROAD) -> dict[str, Any]:
    """A cylinder in place of a ball."""
    return {"collision": (Cylinder(radius, length, orientation=ALONG_Y),)}


ROLLER = over(
    machines.ROLLER, {"round touch": DISCS}, {t: (1e3 * machines.rolled(t, roller_gives)[0],) for t in (0.004, 0.02, 0.05, 0.1)},
    bodies={"round cam": disc(machines.DISC),
            "round follower": {**disc(machines.ROLL, 1.5 * BROAD), "position": (0.0, 0.0, machines.rolled(0.0, roller_gives)[0])}},
    runs=touching(5e-5, dt=2e-5), damping=0.2,
)  # fmt: skip
PLACES = {"slow": (machines.SLOW, -0.1), "quick": (machines.QUICK, 0.1)}
FACED = over(
    machines.FACED, {f"{name} touch": FACES for name in PLACES},
    {0.05: tuple(1e3 * machines.rested(rate, 0.05, face_gives)[0] for rate, _ in PLACES.values()),
     0.085: (1e3 * machines.rested(machines.SLOW, 0.085, face_gives)[0], 1e3 * machines.flies(0.085))},
    bodies={f"{name} cam": disc(machines.DISC) for name in PLACES}
    | {f"{name} follower": {"position": (0.0, y, machines.rested(rate, 0.0, face_gives)[0])} for name, (rate, y) in PLACES.items()},
    runs=touching(1e-2, dt=1e-5), damping=0.2,
)  # fmt: skip
GENEVA = over(
    transmissions.GENEVA, {"slots": 1e12},
    bodies={"crank": {"collision": (Cylinder(transmissions.PIN, 1.5 * transmissions.THICK, position=(transmissions.CRANK, 0.0, 0.0)),)}},
    runs=touching(5e-5, dt=2e-4),
)  # fmt: skip

# --- in rings -------------------------------------------------------------------------------------------------------

WALL, LOOKED = 1e12, tuple(0.002 * i for i in range(1, 51))
"""Foundation of a pin in a hole [N/m³]; when it is looked whether it is inside [s]."""


def hole(around: int = 360) -> System:
    """The pin and the wall of its hole as meshes."""
    system = System("hole", gravity=(0.0, 0.0, 0.0))
    begins = (0.5 * impacts.CLEARANCE, 0.0, 0.0)
    system.add_body("pin", mass=0.1, inertia=(1e-5, 1e-5, 1e-5), position=begins, collision=[wheel(0.01, 0.03, around)])
    system.add_joint(Planar("plane", "ground", "pin", v0=(*impacts.FAST, 0.0)))
    system.add_body(
        "wall", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[tube(0.01 + impacts.CLEARANCE, 0.02, 0.02, around)]
    )
    system.add_joint(Fixed("stands", "ground", "wall"))
    system.add_contact(Contact("touch", "pin", "wall", foundation_a=WALL))
    return system


INTO = (
    5.0 / 4.0 * 0.1 * impacts.FAST[1] ** 2
    / (WALL * 0.02 * 4.0 / 3.0 * math.sqrt(2.0 / (1.0 / 0.01 - 1.0 / (0.01 + impacts.CLEARANCE))))
) ** 0.4  # fmt: skip
"""How deep a pin goes into the wall at most that strikes at 0.1 m/s, of ½ m v² = ∫ F dδ, and a little less askew [m]."""


def inside(result: Result) -> np.ndarray:
    """Energy [mJ] and moment of momentum [mg m²/s] of the pin, and whether it has been inside its hole (N, 3)."""
    found = impacts.within(result)
    out = np.hypot(found[:, 0], found[:, 1]) > 1e3 * (impacts.CLEARANCE + 1.5 * INTO)
    return np.column_stack([found[:, 2:], 1.0 - np.maximum.accumulate(out)])


HOLE = Problem(
    "hole", "pin in a hole with clearance, as meshes", "energy and moment of momentum stay", hole,
    {"energy": "mJ", "spin": "mg m²/s", "inside": "1"}, dict.fromkeys((0.02, 0.1), (0.5, 4.0, 1.0)), inside,
    touching(5e-4, dt=4e-6, explicit=1e-7, bdf2=5e-2), scale=(0.5, 4.0, 1.0), recorded=LOOKED,
)  # fmt: skip

TIGHT, RACES, LONG = 1e-5, 2e12, 0.01
"""Half of by how much balls are too large for their races [m], foundation of the balls [N/m³], their length [m]."""
OUTER = machines.RACE + 2.0 * (machines.BALL - TIGHT)


def ball_gives() -> tuple[float, float]:
    """How deep a ball is pressed at the inner race and the outer one [m]: F/w is the same but for what turns it out."""
    at = [1.0 / (1.0 / machines.BALL + 1.0 / machines.RACE), 1.0 / (1.0 / machines.BALL - 1.0 / OUTER)]
    out = (
        machines.WEIGHT
        * machines.AROUND
        * (0.5 * machines.SPEED * machines.RACE / (machines.RACE + machines.BALL)) ** 2
    )

    def force(depth: float, radius: float) -> float:
        return RACES * LONG * 4.0 / 3.0 * math.sqrt(2.0 * radius) * depth**1.5

    low, high = 0.0, 2.0 * TIGHT
    for _ in range(60):
        inner = 0.5 * (low + high)
        low, high = (inner, high) if force(inner, at[0]) + out < force(2.0 * TIGHT - inner, at[1]) else (low, inner)
    return inner, 2.0 * TIGHT - inner


INNER_GIVES, OUTER_GIVES = ball_gives()
ON = machines.RACE + machines.BALL - INNER_GIVES
"""Radius of the circle on which the balls go round [m]."""


def bearing(around: int = 360, count: int = machines.COUNT) -> System:
    """The bearing with rollers in place of balls, and races that are a disc and a ring; all are meshes."""
    system = System("bearing", gravity=(0.0, 0.0, 0.0))
    system.add_body("race", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), collision=[wheel(machines.RACE, 1.5 * LONG, around)])
    system.add_joint(Revolute("turns", "ground", "race", axis=(0, 0, 1)))
    system.add_driver(Driver("drive", "turns", f"={machines.SPEED}*t"))
    system.add_body(
        "housing", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[tube(OUTER, OUTER + 0.005, 1.5 * LONG, around)]
    )
    system.add_joint(Fixed("stands", "ground", "housing"))
    inertia = 0.4 * machines.WEIGHT * machines.BALL**2
    roller = wheel(machines.BALL, LONG, around // 2)
    for i in range(count):
        angle = 2.0 * math.pi * i / machines.COUNT
        place = (ON * math.cos(angle), ON * math.sin(angle), 0.0)
        system.add_body(
            f"ball{i}", mass=machines.WEIGHT, inertia=(inertia, inertia, inertia), position=place, collision=[roller]
        )
        system.add_joint(Planar(f"plane{i}", "ground", f"ball{i}"))
    system.add_contact(Contact("rolls", "ball*", ["race", "housing"], foundation_a=RACES, damping=0.01, friction=0.3))
    return system


CAGE = machines.SPEED * machines.RACE * (machines.BALL - OUTER_GIVES) / (2.0 * (machines.BALL - TIGHT)) / ON
"""Of balls that give and races that do not: they roll on R − δ."""
BEARING = Problem(
    "bearing", "ball bearing whose inner race turns, as meshes", "rolling at both races", bearing,
    {"cage": "rad/s", "spread": "rad/s"}, dict.fromkeys((0.02, 0.05), (CAGE, 0.0)), machines.cage,
    touching(2e-4, dt=5e-5), scale=(CAGE, CAGE), pressed=True,
)  # fmt: skip

# --- cards ----------------------------------------------------------------------------------------------------------

CARD, PAPER, STAND = 4e-3, 1e11, 1e12
"""Thickness of a card [m]; foundations of cards and of the floor [N/m³]."""


def needed(load: float) -> float:
    """Friction that holds cards which stand on their inner lower edges and touch along their inner upper ones: by the weight about the
    lower edge, against the push at the upper one."""
    s, c = math.sin(slopes.LEAN), math.cos(slopes.LEAN)
    return (0.5 * (slopes.LONG * s - CARD * c) + load * slopes.LONG * s) / ((1.0 + load) * slopes.LONG * c)


def cards(load: float = 0.0) -> System:
    """Two pairs of cards of 0.1 kg in a plane, which are boxes, on each of which a load presses [of their weight]."""
    system = System("cards")
    slopes.floor(system)
    s, c, length = math.sin(slopes.LEAN), math.cos(slopes.LEAN), slopes.LONG
    low: dict[str, Any] = {"foundation_a": PAPER, "damping": 50.0}
    across = 0.1 * (length**2 + CARD**2) / 12.0
    for pair, part in (("stands", 1.05), ("falls", 0.95)):
        for side, x in (("left", -1.0), ("right", 1.0)):
            name, turned = f"{pair} {side}", -0.5 * x * slopes.LEAN
            system.add_body(
                name, mass=0.1, inertia=(across, across, 1e-5), orientation=(math.cos(turned), 0.0, math.sin(turned), 0.0),
                position=(0.5 * x * (length * s + CARD * c), 0.0, 0.5 * (length * c + CARD * s)),
                collision=[Box((CARD, 0.1, length))],
            )  # fmt: skip
            system.add_joint(Planar(f"{name} plane", "ground", name, axis=(0, 1, 0), reference=(1, 0, 0)))
            system.add_contact(Contact(f"{name} on", name, "floor", friction=part * needed(load), **low))
            if load:
                head = (-0.5 * x * CARD, 0.0, 0.5 * length)
                system.add_force(AppliedForce(f"{name} load", name, force=(0.0, 0.0, -load * 0.1 * G), anchor=head))
        both: dict[str, Any] = {"foundation_a": 2.0 * STAND, "foundation_b": 2.0 * STAND, "damping": 50.0}
        system.add_contact(Contact(pair, f"{pair} left", f"{pair} right", friction=0.9, **both))
    return system


CARDS = replace(
    slopes.CARDS, build=cards, runs=touching(5e-3, dt=2e-4, explicit=1e-6), scale=(0.1, 1.0),
    reference={0.1: (0.4, 0.405498651901), 0.3: (0.4, 0.473143042842), 0.4: (0.4, 0.580560442164)},
)  # fmt: skip
LOADED = replace(
    slopes.LOADED, build=lambda: cards(1.0), runs=touching(1e-2, dt=2e-4, explicit=1e-6), scale=(0.1, 1.0),
    reference={0.1: (0.4, 0.420057438956), 0.2: (0.4, 0.528469322830), 0.3: (0.4, 1.018271561069)},
)  # fmt: skip

# --- robots and dominoes --------------------------------------------------------------------------------------------

QUADRUPED = over(standing.QUADRUPED, {"feet": 1e9}, side="a")
HUMANOID = over(standing.HUMANOID, {"feet": 2e8}, side="a")
DOMINOES = over(dominoes.DOMINOES, {"floor": 4.0 * dominoes.FLOOR / (dominoes.THICK * dominoes.WIDE)})

OVER_AREAS = (
    SLIDING, STANDING, BELT, CONE, GROOVE, BELOW, SHAKEN, TIPPING, ROLLING, BOWLING, SKIDDING, CONVEYOR, BOUNCE, SPHERES, GAPS, GRIPPER,
    ROLLER, FACED, GENEVA, HOLE, BEARING, CARDS, LOADED, QUADRUPED, HUMANOID, DOMINOES,
)  # fmt: skip
AREAS: Mapping[str, Problem] = {p.name: p for p in OVER_AREAS}
"""By the name of the problem at points that each belongs to."""

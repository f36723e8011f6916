"""Attributes two by two: systems in which every two of them stand together move alike under every formulation.

The cells of the matrix change one attribute at a time. Here the levels of all attributes are the factors of a covering array of
strength two (`covering.py`), so that what one attribute does to another shows in some row. The factors come from the registries: every
joint with coordinates and its attributes, forms of inertia, every force, driver, coupling and measure, contacts, parameters, markers,
events, trees, loops of joints, and every constraint without coordinates. Each row has a mechanism of its own, drawn at random
(`matrix_drawn.py`): no two of them have a body, a length or an axis in common. It runs under a method of each
formulation, and one more in turn, and is compared with minimal coordinates at a fine step (an eighth of the rows in a run, in turn; all
with --long):

    |x − x_ref| ≤ tolerance · max |x_ref(t) − x_ref(0)| + ROUNDING · max(1, |x_ref|)
        x: a group of `matrix_observed` at the end: poses, velocities, accelerations, reactions, efforts, forces, powers, energies, measures
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from covering import Row, Rule, keeps, pairs, rows
from matrix_drawn import SEED, TRIES, Drawn, conditions, drawn, in_world, is_regular, rng_of, yaw
from matrix_elements import ELEMENTS, ONE_EACH, ROUND, start_of
from matrix_observed import everything
from matrix_skeleton import HAND
from turns import TURN, in_turns

import nexdyn as nx
from nexdyn.forces import FORCES
from nexdyn.joints import JOINTS
from nexdyn.model.coupling import COUPLINGS
from nexdyn.model.driver import DRIVERS
from nexdyn.model.measure import MEASURES
from nexdyn.simulation.needs import needs_rows

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning"),  # contacts that start pressed in, plain functions
]

T_END = 0.1
METHODS: dict[str, tuple[nx.Method, float]] = {
    "dormand-prince": (nx.DormandPrince(1e-9, 1e-11), 4e-4),
    "hht": (nx.HHT(rtol=5e-6), 2e-3),
    "projection": (nx.Projection(rtol=1e-9), 4e-4),
    "baumgarte": (nx.Baumgarte(dt=2.5e-4), 1e-3),
    "partitioning": (nx.Partitioning(rtol=1e-9), 1e-3),  # friction that yields within its long steps
    "bdf2": (nx.ImplicitEuler(1.25e-4, bdf2=True), 8e-3),
}
"""With tolerances for forces that have kinks, and stops: a step over one misses its order. The worst row seen takes a third of them."""
IN_TURN: dict[str, tuple[nx.Method, dict[str, Any], float, float]] = {
    "hht, constant steps": (nx.HHT(dt=1e-4), {}, 1e-3, 1e-9),  # of first order where friction yields
    "implicit Euler": (nx.ImplicitEuler(4e-5), {}, 2e-3, 1e-9),
    "crba": (nx.RungeKutta4(1e-4), {"dynamics": "crba"}, 1e-7, 1e-9),
    "explicit Euler": (nx.ExplicitEuler(1e-4), {}, 2e-3, 1e-5),
    "cfa": (nx.RungeKutta4(1e-4), {"dynamics": "cfa"}, 1e-7, 1e-9),
    "semi-implicit Euler": (nx.SemiImplicitEuler(1e-4), {}, 2e-3, 1e-5),
}
"""One of them for each row: method, options, tolerance, and what is rounding, or how far loops drift by a method of first order. Methods
called Euler's, which are of first order, run again with half the step, and what both tell of a step of 0 is compared."""
ROUNDING = 1e-9
"""For quantities that stay constant, such as the angle between two bodies that only slide. Sizes in SI are about 1."""
REFERENCE = nx.RungeKutta4(1e-4)

CHANGE = 0.04
"""When the event of a row is [s]."""
HOLDS = {
    kind: len(ELEMENTS[f"joint {kind}"].system("open").joint("tested").rows)
    for kind, cls in JOINTS.items()
    if not cls.tree
}
"""Constraints without coordinates, and how many rows they have."""
NONHOLONOMIC = ("rolling_disk", "rolling_sphere", "knife_edge", "velocity_constraint")
"""Those that `Partitioning` and BDF2 refuse."""
IN_JOINTS = [kind for kind, cls in FORCES.items() if list(inspect.signature(cls).parameters)[1] == "joint"]
FACTORS: dict[str, tuple[Hashable, ...]] = {
    "joint": tuple(kind for kind, cls in JOINTS.items() if cls.tree and cls.nv),
    "carrier": ("open", "ring", *HOLDS),
    "shoulder": ("revolute", "universal", "spherical"),
    "inertia": ("tensor", "principal", "rod", "point"),
    "com": (False, True),
    "turned": (False, True),
    "coupling": ("none", "mimic", *COUPLINGS),
    "driver": ("none", *DRIVERS),
    "event": ("none", "parameter", "force", "measure"),
    "measure": ("none", *MEASURES),
    "contact": ("none", "at points", "over areas"),
    "parameters": (False, True),
    "marker": (False, True),
    **dict.fromkeys(("q0", "v0", *ONE_EACH), (False, True)),
    **{f"force {kind}": (False, True) for kind in FORCES},
}
NV = {kind: cls.nv for kind, cls in JOINTS.items()}
HELD = {"open": 0, "ring": 3, **HOLDS}
RULES: list[Rule] = [
    # at least one degree of freedom is left
    (
        ("joint", "carrier", "shoulder", "coupling", "driver"),
        lambda j, c, s, k, d: NV[s] + NV[j] - HELD[c] - (k != "none") - (d != "none") >= 1,
    ),
    (("carrier", "shoulder"), lambda c, s: HELD[c] < 3 or s == "spherical"),
    # a start of all its coordinates leaves the others what constraints, couplings and drivers hold
    (
        ("q0", "carrier", "shoulder", "coupling", "driver"),
        lambda q, c, s, k, d: not q or NV[s] - HELD[c] - (k != "none") - (d != "none") >= min(1, HELD[c]),
    ),
    (("q0", "driver"), lambda q, d: not q or d != "joint"),
    (("q0", "carrier", "joint"), lambda q, c, j: not q or c == "open" or j not in ROUND),
    # what turns by a quaternion has no angle to be sprung, coupled or driven
    *((("joint", x), lambda j, on: not (on and j in ROUND)) for x in ("stiffness", "rest")),
    (("joint", "coupling"), lambda j, k: j not in ROUND or k == "none"),
    (("joint", "driver"), lambda j, d: j not in ROUND or d != "joint"),
    *((("joint", "shoulder", f"force {x}"), lambda j, s, on: not (on and j in ROUND and s == "spherical")) for x in IN_JOINTS),
    # couplings of one angle each, on a tree
    (("coupling", "carrier", "shoulder"), lambda k, c, s: k == "none" or (c == "open" and s != "spherical")),
    (("coupling", "joint", "shoulder"), lambda k, j, s: k in ("none", "sum") or (NV[j] == 1 and s == "revolute")),
    (("coupling", "joint"), lambda k, j: k != "gear" or j != "prismatic"),
    (("coupling", "joint"), lambda k, j: k != "rack_and_pinion" or j == "prismatic"),
    (("coupling", "driver"), lambda k, d: k == "none" or d == "none"),
    # drivers leave a loop to move
    (("carrier", "driver", "joint"), lambda c, d, j: c == "open" or d == "none" or NV[j] > 1),
    # several start velocities at once do not fit a constraint
    (("v0", "carrier", "coupling", "driver"), lambda v, c, k, d: not v or (c == "open" and k == d == "none")),
    # what has no inertia about an axis does not turn freely about it
    (("inertia", "joint", "carrier"), lambda i, j, c: i in ("tensor", "principal") or (NV[j] < 3 and HELD[c] < 3)),
    (("inertia", "com"), lambda i, com: i != "point" or com),
    # the parameter or force that an event changes is there; a measure that an event waits for changes
    (("event", "force applied"), lambda e, on: e != "force" or on),
    (("event", "parameters"), lambda e, on: e not in ("parameter", "measure") or on),
    (("event", "measure"), lambda e, m: e != "measure" or m in ("point_position", "point_velocity", "distance")),
]  # fmt: skip
"""Which descriptions contradict themselves, or leave nothing that moves."""


@functools.cache
def mechanism(n: int) -> Drawn:
    """The first regular one that is drawn for row n."""
    row, rng = covered()[0][n], rng_of(n)
    for _ in range(TRIES):
        found = drawn(rng, str(row["inertia"]), bool(row["com"]), bool(row["turned"]), bool(row["v0"]))
        system = system_of(row, found)
        if is_regular(system) and (row["event"] != "measure" or passes(system)):
            return found
    raise AssertionError(f"no regular mechanism of {TRIES}: {row}")


def system_of(row: Row, of: Drawn) -> nx.System:
    system = nx.System("pairs", gravity=of.gravity)
    if row["parameters"]:
        system.parameter("k", 1.5)
    system.add_body("arm", **of.arm)
    contact = ELEMENTS.get(f"contact {row['contact']}")
    touching = [] if contact is None else contact.system("open").bodies["hand"].collision
    system.add_body("hand", **of.hand, collision=touching)
    if row["marker"]:
        system.add_marker("tip", "hand", position=(0.1, 0.05, 0.0))
    first = "ground"
    if of.third != "none":
        system.add_body("end", **of.end)
        first, *ends = ("end", "ground", "end") if of.third == "before" else ("ground", "hand", "end")
        system.add_joint(JOINTS[of.last_kind]("last", *ends, **of.last))
    shoulder: Any = JOINTS[str(row["shoulder"])]
    start = {"v0": (0.3,) * shoulder.nv} if row["v0"] else {}
    system.add_joint(shoulder("shoulder", first, "arm", **of.shoulder, **start))
    add_joint(system, row, of)
    add_carrier(system, str(row["carrier"]), of)
    if row["coupling"] == "sum":
        system.add_coupling(nx.Coupling("coupled", (("tested", 0, 1.0), ("shoulder", 0, 0.7))))
    if row["coupling"] == "gear":
        system.add_coupling(nx.Gear("coupled", "tested", "shoulder", ratio=-0.8))
    if row["coupling"] == "rack_and_pinion":
        system.add_coupling(nx.RackAndPinion("coupled", "shoulder", "tested", radius=0.3))
    add_driver(system, str(row["driver"]), str(row["carrier"]), of)
    add_measure(system, str(row["measure"]), "tip" if row["marker"] else "hand")
    if contact is not None:
        system.add_contact(
            nx.Contact("touching", "hand", "ground", **{k: v for k, v in contact.base.items() if k not in "ab"})
        )
    for kind in FORCES:
        if row[f"force {kind}"]:
            joint = "shoulder" if row["joint"] in ROUND else "tested"
            add_force(system, kind, joint, "tip" if row["marker"] else "hand")
    if row["event"] == "parameter":
        system.add_event(nx.Event("change", time=CHANGE, parameters={"k": 4.0}))
    if row["event"] == "force":
        system.add_event(nx.Event("change", time=CHANGE, off="force applied"))
    return system


def told_by(system: nx.System, t_end: float) -> np.ndarray:
    """The measure, or its first component, at the steps of the reference."""
    told = nx.simulate(system, t_end, REFERENCE).measure("told").values
    return np.asarray(told.reshape(len(told), -1)[:, 0])


def passes(system: nx.System) -> bool:
    """Whether the measure passes what it is at CHANGE, and not again within 10 ms: a long step does not see what comes back."""
    at, near = round(CHANGE / REFERENCE.dt), round(0.01 / REFERENCE.dt)
    told = told_by(system, CHANGE + 0.01)
    before, after = told[at - near : at] - told[at], told[at + 1 :] - told[at]
    return bool((before * after[0] < 0.0).all() and (after * after[0] > 0.0).all())


@functools.cache
def crossed(n: int) -> float:
    """What the measure of row n is at CHANGE where nothing waits for it."""
    return float(told_by(system_of(covered()[0][n], mechanism(n)), CHANGE)[-1])


def described(n: int) -> nx.System:
    """The system of row n. An event that waits for a measure waits for what it is at CHANGE without the event."""
    row = covered()[0][n]
    system = system_of(row, mechanism(n))
    if row["event"] == "measure":
        first = {"component": axes[0]} if len(axes := system.measures["told"].axes) > 1 else {}
        given: Any = {"measure": "told", "value": crossed(n), "direction": "both", "once": True, **first}
        system.add_event(nx.Event("change", parameters={"k": 4.0}, **given))
    return system


def add_carrier(system: nx.System, kind: str, of: Drawn) -> None:
    """What holds the hand, or a body behind it, to the ground besides."""
    if kind == "rod":
        system.add_joint(nx.Rod("closing", "ground", of.closes_at, **of.rod))
    elif kind == "ring":
        system.add_joint(nx.Cartesian("closing", "ground", of.closes_at, **of.ring))
    elif kind != "open":
        element = ELEMENTS[f"joint {kind}"]
        cls: Any = element.cls
        system.add_joint(cls("closing", "ground", "hand", **in_world(element.base, of.hand)))


def add_driver(system: nx.System, kind: str, carrier: str, of: Drawn) -> None:
    """A point is driven along what its constraint leaves: surfaces are nearly level, a blade looks along y."""
    if kind == "joint":
        system.add_driver(nx.Driver("drive", "tested", nx.Harmonic(0.1, 5.0)))
    if kind == "point":
        k = 0 if carrier == "knife_edge" else 1
        system.add_driver(nx.PointDriver("drive", "hand", "xyz"[k], nx.Harmonic(0.05, 5.0, offset=HAND[k])))
    if kind == "orientation":
        function = nx.Harmonic(0.1, 5.0, offset=yaw(of.hand["orientation"]))
        system.add_driver(nx.OrientationDriver("drive", "hand", angle="yaw", function=function))


def add_measure(system: nx.System, kind: str, hand: str) -> None:
    if kind != "none":
        given = dict(ELEMENTS[f"measure {kind}"].base) | {"a": hand}
        cls: Any = MEASURES[kind]
        system.add_measure(cls("told", given.pop("a"), given.pop("b"), **given))


def add_joint(system: nx.System, row: Row, of: Drawn) -> None:
    kind = str(row["joint"])
    given: dict[str, Any] = dict(of.tested)
    given |= {attribute: value for attribute, (value, _) in ONE_EACH.items() if row[attribute]}
    if row["q0"]:
        given["q0"] = start_of(JOINTS[kind])
    if row["v0"]:
        given["v0"] = (0.4,) * JOINTS[kind].nv
    if row["parameters"] and row["damping"]:
        given["damping"] = "=0.1*k"
    elif row["parameters"]:  # what an event changes must act
        system.add_force(nx.PointSpring("by parameter", "hand", "ground", stiffness="=2*k"))
    if kind == "helical":
        given["pitch"] = 0.2
    if row["coupling"] == "mimic":
        given["mimic"] = nx.Mimic("shoulder", multiplier=-0.8)
    system.add_joint(JOINTS[kind]("tested", "arm", "hand", **given))


def add_force(system: nx.System, kind: str, joint: str, hand: str) -> None:
    element = ELEMENTS[f"force {kind}"]
    given: dict[str, Any] = dict(element.base)
    name, cls = f"force {kind}", FORCES[kind]
    at_marker = hand != "hand"
    if kind in IN_JOINTS:
        system.add_force(cls(name, joint, **given))
    elif kind in ("point_gravity", "gravity_field"):
        system.add_force(cls(name, "hand", **given))
    elif kind == "applied":
        system.add_force(cls(name, hand, **{k: v for k, v in given.items() if not (at_marker and k == "anchor")}))
    else:
        ends = {k: v for k, v in given.items() if not (at_marker and k == "anchor_a")}
        system.add_force(cls(name, hand, "ground", **ends))


def ends(result: nx.Result) -> dict[str, tuple[np.ndarray, float, float]]:
    """All that a run tells, by group: at the end, the largest change along the run, and the largest size."""

    def most(x: np.ndarray) -> float:
        return float(np.linalg.norm(x, axis=1).max())

    return {group: (x[-1], most(x - x[0]), most(x)) for group, x in everything(result).items()}


@functools.cache
def covered() -> tuple[list[Row], set[Any]]:
    return rows(FACTORS, RULES)


def one_in_turn(n: int) -> dict[str, tuple[nx.Method, dict[str, Any], float, float]]:
    """The one of `IN_TURN` for row n in this run: the next that takes the row."""
    row, names = covered()[0][n], [*IN_TURN]
    if row["carrier"] != "open" or row["driver"] != "none" or needs_rows(described(n)):
        names.remove("crba")
    if row["carrier"] != "open" or row["driver"] != "none" or row["coupling"] != "none":
        names.remove("cfa")
    name = names[(n // 8 + TURN // 8) % len(names)]
    return {name: IN_TURN[name]}


def test_every_two_levels_stand_in_some_row_or_contradict_each_other() -> None:
    found, impossible = covered()
    seen = set().union(*map(pairs, found))
    assert all(keeps(row, RULES) for row in found)
    assert not seen & impossible
    levels = [len(levels) for levels in FACTORS.values()]
    assert len(seen) + len(impossible) == (sum(levels) ** 2 - sum(n * n for n in levels)) / 2
    assert len(impossible) < 0.06 * len(seen)


@pytest.mark.parametrize("n", in_turns(range(len(covered()[0])), 8))
def test_formulations_move_a_row_alike(n: int) -> None:
    row, of = covered()[0][n], mechanism(n)
    reference = ends(nx.simulate(described(n), T_END, REFERENCE))
    wrong = []
    ways = {name: (method, {}, tolerance, ROUNDING) for name, (method, tolerance) in METHODS.items()}
    for name, (method, options, tolerance, rounding) in (ways | one_in_turn(n)).items():
        if name in ("partitioning", "bdf2", "implicit Euler") and row["carrier"] in NONHOLONOMIC:
            continue
        found = {group: x for group, (x, *_) in ends(nx.simulate(described(n), T_END, method, **options)).items()}
        assert found.keys() == reference.keys()
        if name.endswith("Euler"):
            finer = ends(nx.simulate(described(n), T_END, dataclasses.replace(method, dt=0.5 * method.dt), **options))
            found = {group: 2.0 * finer[group][0] - x for group, x in found.items()}
        for group, (wanted, change, size) in reference.items():
            miss = float(np.linalg.norm(found[group] - wanted))
            if not miss <= tolerance * change + rounding * max(1.0, size):
                wrong.append(f"{group} under {name} by {miss / change:.1e}")
    assert not wrong, (
        f"{wrong} in row {n} of NEXDYN_PAIRS={SEED}, conditions {conditions(system_of(row, of))}: {row} on {of}"
    )

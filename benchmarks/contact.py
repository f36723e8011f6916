"""Piles of spheres and of boxes at rest in a bin, with `nx.Contact` and in MuJoCo: time per step and body.

n spheres of 1 kg and 5 cm, or boxes of 9 cm, fall into a bin of a floor and four walls and come to rest. Then steps are timed. NexDyn uses
Hunt and Crossley's damping with friction that sticks, μ = 0.3, of spheres k = 1e5 N/m^1.5 at points, of boxes foundations of 2e7 N/m³ on
each over areas, under HHT with 1 ms, ImplicitEuler with 2 ms, semi-implicit Euler with 0.1 ms; it goes through all pairs. MuJoCo uses
implicitfast with 2 ms and its own soft contacts, with elliptic cones of 0.3. The two solve different contact laws, so no ratio is a
target; the notes give the overlap and the speed of both at rest.

Then two toothed wheels as triangle meshes, one driven at 10 rad/s, the other braked by 5 N m, foundations of 1e12 N/m³ on each, without
friction, under semi-implicit Euler with 0.01 ms: time per step.

Then boxes in separate piles of four, one, ten and a hundred, by each method: what a pile costs a step where there are many (target: within
1.3 of one alone).
Last, balls and boxes that bounce, compared with Exudyn and Drake at equal error (``bounce``).
"""

from __future__ import annotations

import itertools
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.bounce import BALLS, BOXES, ROLLING, bounce
from benchmarks.measure import Effort, Report, Row, alternate, clock, quartiles
from benchmarks.meshes import gear, split
from nexdyn.simulation.choice import simulation_of

RADIUS, MASS, FRICTION = 0.05, 1.0, 0.3
SIZES = {"spheres": (10, 27, 100), "boxes": (10, 27, 100)}
EDGE = 0.09
"""Of a box [m]."""
TOWER = [np.array([0.0, 0.0, 0.5 * EDGE + EDGE * i]) for i in range(4)]
HEAP = [
    RADIUS * np.array(x)
    for x in ((0.0, 0.0, 1.0), (2.0, 0.0, 1.0), (1.0, 3.0**0.5, 1.0), (1.0, 3.0**-0.5, 1.0 + (8.0 / 3.0) ** 0.5))
]
"""Where the centres of four boxes, and of four spheres, of a pile are [m]."""
WHEEL, APART = (19, 10, 0), 0.1005
"""Teeth and corners of a toothed wheel, and how far two shafts are apart [m]."""
SETTLE = 3.0
"""How long the pile falls and comes to rest [s]."""
METHODS: dict[str, tuple[Any, int]] = {
    "HHT 1 ms": (nx.HHT(dt=1e-3), 50),
    "ImplicitEuler 2 ms": (nx.ImplicitEuler(2e-3), 50),
    "semi-implicit 0.1 ms": (nx.SemiImplicitEuler(1e-4), 200),
}
"""Methods, and steps that are timed at once."""
OF_PILES = {BALLS: 2000, BOXES: 200}
"""Steps of separate piles that are timed at once."""
HELD = 0.6
"""Their friction: three spheres bear a fourth from tan(½ asin √⅓) = 0.32 on."""
AT_REST = 1e-2
"""The largest speed of a pile that is at rest [m/s, rad/s]."""


def run(effort: Effort) -> Report:
    report = Report("contact", "piles of spheres and boxes at rest in a bin, µs a step and body, one core")
    for what, sizes in SIZES.items():
        for n in (4,) if effort.smoke else sizes:
            compare(report, what, n, 0.05 if effort.smoke else SETTLE, effort)
    for level in range(1 if effort.smoke else 3):
        wheels(report, level, effort)
    for what in (BOXES, BALLS):
        for name in METHODS:
            piles(report, what, name, effort)
    for what in (BALLS, BOXES, ROLLING):
        for n in (4,) if effort.smoke else (10, 100):
            bounce(report, what, n, effort)
    return report


def add_piled(system: nx.System, name: str, at: Any, ball: bool) -> None:
    """A ball or a box that moves freely."""
    I = 0.4 * MASS * RADIUS**2 if ball else MASS * EDGE**2 / 6.0
    shape = nx.Sphere(RADIUS) if ball else nx.Box((EDGE, EDGE, EDGE))
    system.add_body(name, mass=MASS, inertia=(I, I, I), position=at, shapes=[shape])
    system.add_joint(nx.Free(f"free {name}", "ground", name))


def law_of(balls: bool) -> dict[str, Any]:
    """How balls, or boxes, press and rub."""
    presses = {"stiffness": 1e5} if balls else {"foundation_a": 2e7, "foundation_b": 2e7}
    return {**presses, "damping": 2.0, "friction": FRICTION}


def piles(report: Report, what: str, by: str, effort: Effort) -> None:
    """Separate piles of four at rest by a method: what one costs a step, alone and among many, by the time that results tell, of steps
    alone. Boxes stand on each other, one sphere on three. Notes give set-up, and what a run costs besides its steps."""
    counts, repeats = ((1, 2), 1) if effort.smoke else ((1, 10, 100), 3)
    (method, _), balls = METHODS[by], what == BALLS
    law = law_of(balls) | {"friction": HELD}
    each, besides, ready = {}, {}, {}
    for count in counts:
        system = nx.System("piles")
        for p, i in itertools.product(range(count), range(4)):
            at = np.array([0.5 * (p % 10), 0.5 * (p // 10), 0.0]) + (HEAP if balls else TOWER)[i]
            add_piled(system, f"piled{p}.{i}", at, balls)
        began = clock()
        system.add_contact(nx.Contact("floor", "piled*", "ground", **law))
        system.add_contact(nx.Contact("piled", "piled*", "piled*", **law))
        simulation: Any = simulation_of(system, method)
        ready[count] = clock() - began
        end, k = (
            (0.02, 20) if effort.smoke else (0.4, OF_PILES[what])
        )  # of all counts in the same time: at first piles still settle
        before = simulation.run(end, output_times=[end]).recording.wall_time
        found = []
        for _ in range(repeats):
            end += k * method.dt
            began = clock()
            result = simulation.run(end, output_times=[end])
            wall = result.recording.wall_time
            found.append(((wall - before) / k, clock() - began - (wall - before)))
            before = wall
        if not effort.smoke and np.abs(result.recording.v[-1]).max() > AT_REST:
            raise RuntimeError(f"{count} piles of {what} are not at rest by {by}")
        each[count], besides[count] = (float(np.median(x)) for x in zip(*found, strict=True))
        each[count] *= 1e6 / count
    for count in counts[1:]:
        ratio = each[count] / each[counts[0]]
        row = Row(f"{count} piles of 4 {what}, {by}, a pile", "µs", each[count])
        row.target, row.met = f"≤ 1.3 times one alone: {ratio:.2f}", ratio <= 1.3
        report.rows.append(row)
    told = ", ".join(f"{count}: {besides[count]:.2f} s, after {ready[count]:.2f} s of set-up" for count in counts)
    report.notes.append(
        f"{what}, {by}: one pile alone {each[counts[0]]:.0f} µs a step; what a run of so many piles costs besides its steps: {told}"
    )


def wheels(report: Report, level: int, effort: Effort) -> None:
    """Two toothed wheels, whose triangles are halved twice for each level."""
    x, t = gear(*WHEEL)
    for _ in range(level):
        x, t = split(x, t)
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place) / f"{name}.obj" for name in ("one", "other")]
        for file in files:  # of an odd number of teeth, a gap of one faces a tooth of the other
            lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in x.tolist()]
            file.write_text("\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in t.tolist())]))
        system = nx.System("wheels", gravity=(0, 0, 0))
        for i, (file, at) in enumerate(zip(files, (0.0, APART), strict=True)):
            shape = nx.Mesh(str(file))
            system.add_body(f"wheel{i}", mass=1.0, inertia=(1e-3, 1e-3, 2e-3), position=(at, 0, 0), collision=[shape])
            turns = nx.Revolute(
                f"shaft{i}", "ground", f"wheel{i}", at=(at, 0, 0), axis=(0, 0, 1), v0=10.0 * (1 - 2 * i)
            )
            system.add_joint(turns)
        system.add_driver(nx.Driver("motor", "shaft0", "=10*t"))
        system.add_force(nx.JointForce("brake", "shaft1", 5.0))
        system.add_contact(nx.Contact("teeth", "wheel0", "wheel1", foundation_a=1e12, foundation_b=1e12, damping=10.0))
        simulation: Any = simulation_of(system, nx.SemiImplicitEuler(1e-5))
        end, k = (0.002, 20) if effort.smoke else (0.05, 500)
        last = simulation.run(end, output_times=[end])
        found = []
        for _ in range(1 if effort.smoke else 7):  # of steps alone: a run tells of all contacts at its end
            before, end = last.recording.wall_time, end + k * 1e-5
            last = simulation.run(end, output_times=[end])
            found.append((last.recording.wall_time - before) / k)
        told = last.contacts("teeth")
    row = Row(f"two wheels of {len(t)} triangles", "µs", 1e6 * float(np.median(found)))
    row.target, row.met = ("≤ 100", row.ours <= 100.0) if level == 1 else ("", None)
    report.rows.append(row)
    report.notes.append(
        f"wheels of {len(t)} triangles: {float(told.normal[-1, 0]):.3g} N, {1e6 * float(told.penetration[-1, 0]):.3g} µm"
    )


def compare(report: Report, what: str, n: int, settle: float, effort: Effort) -> None:
    peer = mujoco_pile(what, n, settle)
    work: dict[str, Any] = {"mujoco": peer.work}
    steps = {"mujoco": peer.STEPS}
    piles = {name: our_pile(what, n, method, count, settle) for name, (method, count) in METHODS.items()}
    for name, pile in piles.items():
        work[name], steps[name] = pile.work, pile.steps
    times = alternate(work, effort)
    each = {name: [1e6 * t / (steps[name] * n) for t in told] for name, told in times.items()}
    for name in piles:
        ratios = sorted(theirs / mine for theirs, mine in zip(each["mujoco"], each[name], strict=True))
        row = Row(
            f"{n} {what}, {name}", "µs", float(np.median(each[name])), float(np.median(each["mujoco"])), "mujoco 2 ms"
        )
        row.ratio, row.spread = float(np.median(ratios)), quartiles(ratios)
        report.rows.append(row)
    told = {**{name: pile.at_rest() for name, pile in piles.items()}, "MuJoCo": peer.at_rest()}
    report.notes.append(
        f"{n} {what}, deepest overlap and fastest body at rest: "
        + "; ".join(f"{name} {1e3 * deep:.2g} mm, {1e3 * fast:.2g} mm/s" for name, (deep, fast) in told.items())
    )


def places(n: int) -> tuple[np.ndarray, float]:
    """Where the bodies start (n, 3), on a grid that is not quite even, and half the width of the bin."""
    side = math.ceil(n ** (1.0 / 3.0))
    half = side * RADIUS * 1.1
    rng = np.random.default_rng(n)
    grid = np.array(list(itertools.product(range(side), repeat=3)), dtype=float)[:n, ::-1]
    at = (grid + 0.5) * 2.2 * RADIUS - np.array([half, half, 0.0])
    at[:, :2] += rng.uniform(-0.05, 0.05, (n, 2)) * RADIUS
    return at, half * 1.02


def walls(half: float) -> list[tuple[tuple[float, float, float], tuple[float, float, float, float]]]:
    """Position and orientation of the half-spaces of the bin; z of each points inward."""
    s = math.sqrt(0.5)
    return [
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)), ((-half, 0.0, 0.0), (s, 0.0, s, 0.0)), ((half, 0.0, 0.0), (s, 0.0, -s, 0.0)),
        ((0.0, -half, 0.0), (s, -s, 0.0, 0.0)), ((0.0, half, 0.0), (s, s, 0.0, 0.0)),
    ]  # fmt: skip


class our_pile:  # noqa: N801
    """NexDyn's, at rest."""

    def __init__(self, what: str, n: int, method: Any, steps: int, settle: float) -> None:
        system = nx.System("pile")
        at, half = places(n)
        inside = [nx.HalfSpace(position=p, orientation=q) for p, q in walls(half)]
        system.add_body("bin", mass=1.0, collision=inside)
        system.add_joint(nx.Fixed("held", "ground", "bin"))
        balls = what == "spheres"
        for i, x in enumerate(at):
            add_piled(system, f"ball{i}", x, balls)
        system.add_contact(nx.Contact("walls", "ball*", "bin", **law_of(balls)))
        system.add_contact(nx.Contact("balls", "ball*", "ball*", **law_of(balls)))
        self.steps, self.dt = steps, method.dt
        self.simulation: Any = simulation_of(system, method)
        self.last = self.simulation.run(settle, output_times=[settle])
        self.ends = settle

    def work(self, repeat: int) -> None:
        for _ in range(repeat):
            self.ends += self.steps * self.dt
            self.last = self.simulation.run(self.ends, output_times=[self.ends])

    def at_rest(self) -> tuple[float, float]:
        """Deepest overlap [m] and greatest speed [m/s] at the end."""
        deep = float(self.last.contacts().penetration.values[-1].max())
        return deep, float(np.linalg.norm(self.last.velocity().values[-1], axis=1).max())


class mujoco_pile:  # noqa: N801
    """MuJoCo's, at rest."""

    DT, STEPS = 2e-3, 50

    def __init__(self, what: str, n: int, settle: float) -> None:
        import mujoco

        at, half = places(n)
        planes = "".join(
            f'<geom type="plane" size="0 0 1" pos="{" ".join(map(str, p))}" quat="{" ".join(map(str, q))}"/>'
            for p, q in walls(half)
        )
        half_edge = 0.5 * EDGE
        shape = (
            f'"sphere" size="{RADIUS}"' if what == "spheres" else f'"box" size="{half_edge} {half_edge} {half_edge}"'
        )
        balls = "".join(
            f'<body pos="{" ".join(map(str, x))}"><freejoint/><geom type={shape} mass="{MASS}"/></body>' for x in at
        )
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{self.DT}" integrator="implicitfast" cone="elliptic"/>'
            f'<default><geom friction="{FRICTION} 0 0"/></default><worldbody>{planes}{balls}</worldbody></mujoco>'
        )
        self.data, self.step = mujoco.MjData(self.model), mujoco.mj_step
        self.step(self.model, self.data, nstep=round(settle / self.DT))

    def work(self, repeat: int) -> None:
        for _ in range(repeat):
            self.step(self.model, self.data, nstep=self.STEPS)

    def at_rest(self) -> tuple[float, float]:
        found = self.data
        deep = -min((found.contact[i].dist for i in range(found.ncon)), default=0.0)
        return float(deep), float(np.linalg.norm(found.qvel.reshape(-1, 6)[:, :3], axis=1).max())

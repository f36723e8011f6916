"""What tests of runs that go on have in common: methods, ways to go on, and systems."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import nexdyn as nx
from nexdyn.simulation.choice import simulation_of

DT = 2.0**-10
"""Times k DT are exact, so that the two halves of a run meet the same times as the whole."""
HALF, END = 0.125, 0.25
FIXED = {
    "rk4": nx.RungeKutta4(DT),
    "euler": nx.ExplicitEuler(DT),
    "semi-implicit": nx.SemiImplicitEuler(DT),
    "hht": nx.HHT(dt=DT),
    "baumgarte": nx.Baumgarte(dt=DT),
    "projection": nx.Projection(dt=DT),
    "partitioning": nx.Partitioning(dt=DT),
    "implicit-euler": nx.ImplicitEuler(DT),
    "bdf2": nx.ImplicitEuler(DT, bdf2=True),
}
ADAPTIVE = {
    "dopri5": (nx.DormandPrince(1e-10, 1e-12), 1e-7),
    "bs32": (nx.BogackiShampine32(1e-7, 1e-9), 1e-5),
    "dop853": (nx.DOP853(1e-10, 1e-12, dt_max=5 * DT), 1e-7),
    "hht": (nx.HHT(rtol=1e-4), 2e-3),
    "baumgarte": (nx.Baumgarte(rtol=1e-10, atol=1e-12), 1e-7),
    "projection": (nx.Projection(rtol=1e-10, atol=1e-12), 1e-7),
    "partitioning": (nx.Partitioning(rtol=1e-10, atol=1e-12), 1e-7),
}
"""Beside each, what two such runs differ by at most."""
ANEW = 3.0
"""Errors of a run, told by half the step, that one more start between steps may make."""
Way = Callable[..., nx.Result]


def in_memory(system: nx.System, method: Any, folder: Path, **how: Any) -> nx.Result:
    simulation = simulation_of(system, method, **how)
    simulation.run(HALF)
    return simulation.run(END)


def from_result(system: nx.System, method: Any, folder: Path, **how: Any) -> nx.Result:
    return nx.simulate(system, END, method, initial=nx.simulate(system, HALF, method, **how), **how)


def from_file(system: nx.System, method: Any, folder: Path, **how: Any) -> nx.Result:
    nx.simulate(system, HALF, method, **how).save(folder / "half.nc", full=False)
    half = nx.open_result(folder / "half.nc")
    return nx.simulate(half.system, END, method, initial=half, **how)


WAYS: list[Way] = [in_memory, from_result, from_file]


def state(result: nx.Result) -> np.ndarray:
    """All that is told of the end: bodies, joints counted over turns, states of forces."""
    seen = result.observed
    names = ["position", "velocity", "angular_velocity"]
    parts = [x[-1].ravel() for x in seen.collect(names).values()]
    parts += [
        result.rotation(body).values[-1].ravel() for body in result.system.bodies
    ]  # quaternions begin with another sign
    parts += [seen.of_joint("joint_position", name)[-1] for name, joint in result.system.joints.items() if joint.nv]
    return np.concatenate([*parts, result.recording.z[-1] if result.recording.z.size else np.zeros(0)])


def arm(*, events: Any = (), calm: bool = False, v0: float | None = None) -> nx.System:
    """Two links whose second turns twice in a run, with a sampled controller, a lagging drive, dry friction and springs that wind up."""
    system = nx.System("arm", gravity=(0, -9.81, 0))
    system.parameter("K", 2.0)
    system.add_body("upper", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0.5, 0, 0))
    system.add_body("lower", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(1.05, 0, 0))
    system.add_joint(nx.Revolute("h1", "ground", "upper", axis=(0, 0, 1), at=(0, 0, 0), damping=0.1, stiffness="=K"))
    system.add_joint(
        nx.Revolute("h2", "upper", "lower", axis=(0, 0, 1), at=(1, 0, 0), v0=v0 or (15.0 if calm else 60.0))
    )
    system.add_force(nx.PositionActuator("servo", "h1", target=0.3, kp=40.0, ki=3.0, kd=4.0, sample_time=4 * DT))
    system.add_force(nx.TorqueActuator("drive", "h2", target=nx.Harmonic(3.0, 2.0), time_constant=0.03))
    if not calm:
        system.add_force(nx.JointFriction("dry", "h1", sliding=0.4, static=0.5, stiffness=20.0, damping=0.1))
    system.add_force(nx.TorsionSpring("wound", "upper", "lower", stiffness=0.2))
    for event in events:
        system.add_event(event)
    return system


def four_bar() -> nx.System:
    """A closed loop in a plane, with redundant rows, driven by a spring."""
    system = nx.System("four-bar", gravity=(0, 0, -9.81))
    points: dict[str, Any] = {
        "crank": ((0, 0, 0), (0, 0, 1)),
        "coupler": ((0, 0, 1), (3, 0, 2)),
        "rocker": ((3, 0, 0), (3, 0, 2)),
    }
    for name, (a, b) in points.items():
        system.add_body(name, mass=1.0, inertia=(0.2, 0.3, 0.2), position=tuple((np.array(a) + b) / 2))
    system.add_joint(nx.Revolute("A", "ground", "crank", at=(0, 0, 0), axis=(0, 1, 0), v0=2.0))
    system.add_joint(nx.Revolute("B", "crank", "coupler", at=(0, 0, 1), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("C", "coupler", "rocker", at=(3, 0, 2), axis=(0, 1, 0)))
    system.add_joint(nx.Revolute("D", "ground", "rocker", at=(3, 0, 0), axis=(0, 1, 0)))
    system.add_force(nx.JointForce("push", "A", nx.Harmonic(2.0, 1.5)))
    return system


def hung() -> nx.System:
    """A plate on three rods without mass: a loop in which no angle is counted."""
    system = nx.System("hung", gravity=(0, 0, -9.81))
    system.add_body("plate", mass=1.0, inertia=(0.2, 0.3, 0.4))
    for k, (x, y) in enumerate(((1.0, 0.0), (-0.5, 0.8), (-0.5, -0.8))):
        system.add_joint(nx.Rod(f"rod{k}", "ground", "plate", anchor_a=(x + 0.3, y, 1.0), anchor_b=(x, y, 0.0)))
    return system


SYSTEMS = {"arm": arm, "four-bar": four_bar}


def turned_back(state: Any) -> None:
    state.velocity["h1"] = -2.0 * state.velocity["h1"]


class Counter:
    """A controller that counts its samples, silently."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, t: float, q: float, v: float) -> float:
        self.calls += 1
        return 0.1 * self.calls


class Telling(Counter):
    def save_state(self) -> dict[str, int]:
        return {"calls": self.calls}

    def load_state(self, state: dict[str, int]) -> None:
        self.calls = state["calls"]


def controlled(controller: Any) -> nx.System:
    system = nx.System("wheel", gravity=(0, 0, 0))
    system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_joint(nx.Revolute("axle", "ground", "wheel", axis=(0, 0, 1)))
    system.add_force(nx.Controller("count", "axle", function=controller, sample_time=4 * DT))
    return system

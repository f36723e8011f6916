"""One small run of each formulation, and what it gives: the same numbers whatever compiled it.

python formulations.py              runs all, prints {name: numbers} as JSON
python formulations.py tree lanes   runs these
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import nexdyn as nx

DT = 1e-3


def pendulum() -> nx.System:
    """Two links that hang from the ground."""
    system = nx.System("pendulum", gravity=(0, 0, -9.81))
    upper = system.add_body("upper", mass=1.0, inertia=(0.02, 0.02, 0.001), position=(0, 0, -0.25))
    lower = system.add_body("lower", mass=0.7, inertia=(0.02, 0.02, 0.001), position=(0, 0, -0.75))
    system.add_joint(nx.Revolute("hinge", system.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), damping=0.1, q0=1.0))
    system.add_joint(nx.Revolute("elbow", upper, lower, at=(0, 0, -0.5), axis=(0, 1, 0), q0=0.2))
    return system


def four_bar() -> nx.System:
    """A closed loop of four hinges, three of whose equations are redundant."""
    system = nx.System("four-bar", gravity=(0, -9.81, 0))
    crank = system.add_body("crank", mass=1.0, inertia=(0.08, 0.002, 0.08), position=(0, 0.5, 0))
    coupler = system.add_body("coupler", mass=1.5, inertia=(0.02, 0.3, 0.3), position=(0.75, 1.2, 0))
    rocker = system.add_body("rocker", mass=1.4, inertia=(0.2, 0.02, 0.2), position=(1.75, 0.7, 0))
    system.add_joint(nx.Revolute("A", system.ground, crank, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("B", crank, coupler, at=(0, 1, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("C", coupler, rocker, at=(1.5, 1.4, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("D", system.ground, rocker, at=(2, 0, 0), axis=(0, 0, 1)))
    return system


def tree() -> list[float]:
    """Minimal coordinates, by RK4; to a file and back, and what a command says of a demo."""
    result = nx.simulate(pendulum(), 0.05, nx.RungeKutta4(DT))
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder) / "run.nc")
        again = nx.open_result(Path(folder) / "run.nc")
        assert np.array_equal(again.position("lower").values, result.position("lower").values)
    said = subprocess.run(
        [sys.executable, "-m", "nexdyn", "info", "four-bar"], check=True, capture_output=True, text=True
    ).stdout
    assert "coupler" in said
    return [*result.position("lower").values[-1].tolist(), *result.velocity("lower").values[-1].tolist()]


def hht() -> list[float]:
    """Absolute coordinates, index 3, by HHT at a fixed step."""
    result = nx.simulate(four_bar(), 0.02, nx.HHT(dt=DT))
    return [*result.position("coupler").values[-1].tolist(), *result.reaction("A").values[-1].ravel().tolist()]


def index_one() -> list[float]:
    """Absolute coordinates, index 1."""
    result = nx.simulate(four_bar(), 0.02, nx.Projection(DT))
    return [*result.position("coupler").values[-1].tolist(), *result.reaction("A").values[-1].ravel().tolist()]


def implicit_euler() -> list[float]:
    """The incremental potential, at fixed multipliers."""
    result = nx.simulate(pendulum(), 0.02, nx.ImplicitEuler(DT, mu=1e6, updates=10))
    return result.position("lower").values[-1].tolist()


def lanes() -> list[float]:
    """Minimal coordinates, several members in one register."""
    batch = nx.Batch(q0={"hinge": np.linspace(-1.0, 1.0, 9)})
    result = nx.simulate(pendulum(), 0.02, nx.RungeKutta4(DT), batch=batch)
    assert not result.failures
    return result.joint_position("hinge").values[:, -1].tolist()


RUNS: dict[str, Callable[[], list[float]]] = {f.__name__: f for f in (tree, hht, index_one, implicit_euler, lanes)}


def main() -> None:
    wanted = sys.argv[1:] or list(RUNS)
    print(json.dumps({name: RUNS[name]() for name in wanted}))


if __name__ == "__main__":
    main()

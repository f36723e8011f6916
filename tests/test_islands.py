"""Islands of bodies under ImplicitEuler: each converges by itself, moves as if alone, and is solved again where a body strikes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.simulation.choice import simulation_of
from nexdyn.simulation.marches import potential

HEAP = [(0.0, 0.0, 1.0), (2.0, 0.0, 1.0), (1.0, 3.0**0.5, 1.0), (1.0, 3.0**-0.5, 1.0 + (8.0 / 3.0) ** 0.5)]
RADIUS = 0.1
SPHERES: dict[str, Any] = {"stiffness": 1e5}
BOXES: dict[str, Any] = {"foundation_a": 2e7, "foundation_b": 2e7}


def add_pile(system: nx.System, name: str, x: float, boxes: bool, drop: float) -> None:
    """Four spheres, or boxes, on the floor; the last one falls from `drop` above where it would rest."""
    for i in range(4):
        at = np.array([0.0, 0.0, 2.0 * i + 1.0]) if boxes else np.array(HEAP[i])
        position = RADIUS * at + (x, 0.0, drop if i == 3 else 0.0)
        shape: Any = nx.Box((2.0 * RADIUS,) * 3) if boxes else nx.Sphere(RADIUS)
        system.add_body(f"{name}{i}", mass=1.0, inertia=(4e-3,) * 3, position=position, shapes=[shape])
        system.add_joint(nx.Free(f"free {name}{i}", "ground", f"{name}{i}"))


def piles(names: str, boxes: bool) -> nx.System:
    """Those of four that are named; the others stand where they would."""
    system = nx.System("piles")
    for k, name in enumerate("abcd"):
        if name in names:
            add_pile(system, name, 1.0 * k, boxes, drop=0.01 * k)
    law: dict[str, Any] = {**(BOXES if boxes else SPHERES), "damping": 2.0, "friction": 0.5}
    system.add_contact(nx.Contact("floor", "*", "ground", **law))
    system.add_contact(nx.Contact("among", "*", "*", **law))
    return system


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")  # what rests is pressed in from the first step on
@pytest.mark.parametrize("boxes", [False, True])
def test_each_pile_moves_as_if_it_were_alone(boxes: bool) -> None:
    method = nx.ImplicitEuler(1e-3)  # by BDF2 an impact of one ends the multistep of all
    together = nx.simulate(piles("abcd", boxes), 0.06, method)
    for name in "ad":
        alone = nx.simulate(piles(name, boxes), 0.06, method)
        for i in range(4):
            for tell in ("position", "velocity", "orientation"):
                mine, wanted = (getattr(x, tell)(f"{name}{i}").values for x in (together, alone))
                np.testing.assert_allclose(mine, wanted, rtol=0.0, atol=1e-8)
    assert np.ptp(together.position("d3").values[:, 2]) > 0.01  # which falls


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
def test_islands_are_still_one_after_the_other() -> None:
    """At the end of a step all bodies of an island are still, or none is: the last to be found need not be."""
    simulation: Any = simulation_of(piles("abcd", boxes=False), nx.ImplicitEuler(1e-3))
    still = []
    for k in range(1, 60):
        simulation.run(1e-3 * k, output_times=[1e-3 * k])
        assert len(simulation._work.islands) >= 4
        still.append(simulation._work.still[1:13].reshape(3, 4).mean(axis=1))
    found = np.array(still)
    assert np.isin(found, (0.0, 1.0)).all()
    assert ((found == 1.0).any(axis=1) & (found == 0.0).any(axis=1)).sum() > 10


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize("bdf2", [False, True])
def test_what_is_struck_within_a_step_wakes(bdf2: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ball that comes from far and strikes a pile in one step, where the Hessian has no block of the two: as with all blocks."""
    found = []
    for soon in (potential.SOON, 1e9):
        monkeypatch.setattr(potential, "SOON", soon)
        system = piles("abcd", boxes=False)
        start = {"v0": (0.0, 0.0, 0.0, 25.0, 0.0, 0.0)}
        system.add_body(
            "ball", mass=2.0, inertia=(8e-3,) * 3, position=(-1.13, 0.0, RADIUS), shapes=[nx.Sphere(RADIUS)]
        )
        system.add_joint(nx.Free("flies", "ground", "ball", **start))
        law: dict[str, Any] = {**SPHERES, "damping": 2.0, "friction": 0.5}
        system.add_contact(nx.Contact("strikes", "ball", "[a-d]*", **law))
        found.append(nx.simulate(system, 0.06, nx.ImplicitEuler(1e-2, bdf2=bdf2)))
    one, other = found
    assert np.linalg.norm(one.velocity("a0").values[-1]) > 1.0
    for tell in ("position", "velocity"):
        np.testing.assert_allclose(getattr(one, tell)().values, getattr(other, tell)().values, rtol=1e-6, atol=1e-6)
